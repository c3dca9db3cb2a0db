"""One party's configuration file: the plan that all share, and what is this party's own."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from whatleaks.codec import encode
from whatleaks.errors import SpecError, UsageError, argument, nearest
from whatleaks.federation.additive.settings import AdditiveSettings
from whatleaks.federation.boost.settings import SecureBoostSettings
from whatleaks.federation.horizontal.settings import HorizontalSettings
from whatleaks.federation.joint_network.settings import JointNetworkSettings
from whatleaks.federation.regression.prediction import STYLES
from whatleaks.federation.regression.settings import LINEAR, LOGISTIC, SecureLinearSettings
from whatleaks.federation.split.settings import SplitSettings
from whatleaks.federation.sshe.settings import SharedSettings
from whatleaks.federation.trees.settings import TreeSettings
from whatleaks.models.boosted_trees import BoostSettings
from whatleaks.models.torch_network import Layers
from whatleaks.wire.parties import (
    ACTIVE,
    ARBITER,
    CLIENT,
    COORDINATOR,
    HELPERS,
    PASSIVE,
    role_of,
)

ROLES = (ACTIVE, PASSIVE, ARBITER, COORDINATOR, CLIENT)
SECURE_BOOST, HORIZONTAL = "secure-boost", "horizontal"
ADDITIVE, JOINT_NETWORK, TREES, SPLIT = "additive", "joint-network", "trees", "split"
SHARED = "shared-regression"


@dataclass(frozen=True)
class ProtocolCard:
    """What a plan may say of one protocol: its roles, its settings, its ways of predicting."""

    roles: tuple[str, ...]
    settings: type[Any]
    predictions: tuple[str, ...] = ()
    two: bool = False  # parties, and no more


_SUMMED = (ACTIVE, PASSIVE, COORDINATOR)
PROTOCOLS: dict[str, ProtocolCard] = {
    LINEAR.name: ProtocolCard((ACTIVE, PASSIVE, ARBITER), SecureLinearSettings, STYLES),
    LOGISTIC.name: ProtocolCard((ACTIVE, PASSIVE, ARBITER), SecureLinearSettings, STYLES),
    SECURE_BOOST: ProtocolCard((ACTIVE, PASSIVE), SecureBoostSettings, ("walk",)),
    HORIZONTAL: ProtocolCard((CLIENT, ARBITER), HorizontalSettings),
    ADDITIVE: ProtocolCard(_SUMMED, AdditiveSettings, ("scores",)),
    JOINT_NETWORK: ProtocolCard(_SUMMED, JointNetworkSettings, ("scores",)),
    TREES: ProtocolCard(_SUMMED, TreeSettings, ("votes",)),
    SPLIT: ProtocolCard((ACTIVE, PASSIVE), SplitSettings, ("embeddings",)),
    SHARED: ProtocolCard((ACTIVE, PASSIVE), SharedSettings, two=True),
}
_PLAN = ("protocol", "settings", "parties", "prediction", "align", "strip", "ignore_case", "seed")
_OWN = ("keys", "table", "id", "target", "predict", "state", "seed")


def check_party(name: str) -> str:
    """Return the role in a party's name; a name that no party can have is refused."""
    role, (_, dash, number) = role_of(name), name.partition("-")
    alone = role in (ACTIVE, *HELPERS)
    if role not in ROLES or (dash and (alone or not number.isdigit())):
        raise SpecError(
            f"{name!r} is no party: use active, passive, passive-2, ..., arbiter, coordinator, "
            "client-1, ..."
        )
    return role


def check_protocol(protocol: str) -> None:
    """Refuse an unknown protocol."""
    if protocol not in PROTOCOLS:
        raise SpecError(
            f"unknown protocol {protocol!r}: use one of {', '.join(PROTOCOLS)}."
            f"{nearest(protocol, PROTOCOLS)}"
        )


@dataclass(frozen=True)
class Plan:
    """What all parties must agree on. Addresses are not part of the digest.

    With ``align`` rows are put in one order by private set intersection before training;
    ``strip`` and ``ignore_case`` say how ids are compared. ``seed`` is for what all parties
    draw alike: which records a batch holds.
    """

    protocol: str
    settings: Any
    addresses: Mapping[str, str]
    prediction: str | None = None
    align: bool = False
    strip: bool = False
    ignore_case: bool = False
    seed: int = 0

    def __post_init__(self) -> None:
        """Refuse plans without the protocol's roles, or with others."""
        check_protocol(self.protocol)
        needed, ways = PROTOCOLS[self.protocol].roles, PROTOCOLS[self.protocol].predictions
        roles = [check_party(name) for name in self.addresses]
        for role in needed:
            if role not in roles:
                raise SpecError(f"the plan has no {role} party: name its address in plan.parties")
        for name in self.addresses:
            if role_of(name) not in needed:
                raise SpecError(
                    f"{self.protocol} has no {role_of(name)}: take {name!r} out of plan.parties"
                )
        if PROTOCOLS[self.protocol].two and len(roles) > 2:
            raise SpecError(f"{self.protocol} has two parties: take the others out of plan.parties")
        if self.seed < 0:
            raise SpecError(f"plan.seed is {self.seed}: use 0 or more")
        if self.protocol == HORIZONTAL:
            self._check_horizontal()
        elif self.prediction is not None and not ways:
            raise SpecError(f"{self.protocol} has no prediction: leave plan.prediction out")
        elif self.prediction is not None and self.prediction not in ways:
            raise SpecError(
                f"prediction is {self.prediction!r}: {self.protocol} has "
                f"{' and '.join(map(repr, ways))}.{nearest(self.prediction, ways)}"
            )

    def _check_horizontal(self) -> None:
        if len(self.clients) < 2:
            raise SpecError("a horizontal plan needs at least 2 clients: client-1, client-2, ...")
        if self.prediction is not None or self.align:
            raise SpecError(
                "a horizontal plan has neither prediction nor align: every client holds records "
                "and a model of its own"
            )
        if not isinstance(self.settings, HorizontalSettings) or self.settings.averaging != "shared":
            raise SpecError(
                'plan.settings.averaging must be "shared" between processes: for "encrypted" the '
                "clients would have to share a secret key, which leaves no process"
            )

    @property
    def passives(self) -> tuple[str, ...]:
        """The passive parties, in one order for all."""
        return self._numbered(PASSIVE)

    @property
    def clients(self) -> tuple[str, ...]:
        """The clients, in one order for all."""
        return self._numbered(CLIENT)

    def _numbered(self, role: str) -> tuple[str, ...]:
        names = (name for name in self.addresses if role_of(name) == role)
        return tuple(sorted(names, key=lambda name: int(name.partition("-")[2] or 1)))

    @property
    def digest(self) -> str:
        """A fingerprint of the plan."""
        identity = (
            self.protocol,
            asdict(self.settings),
            tuple(sorted(self.addresses)),
            self.prediction,
            (self.align, self.strip, self.ignore_case),
            self.seed,
        )
        return hashlib.sha256(encode(identity)).hexdigest()


@dataclass(frozen=True)
class PartyConfig:
    """Everything one party's process needs. Paths are relative to the configuration file."""

    name: str
    plan: Plan
    keys: Path
    state: Path
    table: Path | None
    id: str | None
    target: str | None
    predict: Path | None
    seed: int | None

    @property
    def role(self) -> str:
        """The party's role."""
        return role_of(self.name)


def load_config(path: Path, name: str) -> PartyConfig:
    """Read a TOML file with the tables ``plan`` and ``own``; unknown keys are refused."""
    try:
        raw = tomllib.loads(path.read_text())
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not TOML: {error}") from None
    _known(raw, ("plan", "own"), path)
    plan, own = _table(raw, "plan", path), _table(raw, "own", path)
    _known(plan, _PLAN, path)
    _known(own, _OWN, path)
    addresses = _table(plan, "parties", path)
    if name not in addresses:
        raise UsageError(
            f"{path}: plan.parties has no {name!r}: add its address, or use another {argument('name')}"
        )
    for key in ("align", "strip", "ignore_case"):
        if type(plan.get(key, False)) is not bool:
            raise SpecError(f"{path}: plan.{key} must be true or false, got {plan[key]!r}")
    if type(plan.get("seed", 0)) is not int:
        raise SpecError(f"{path}: plan.seed must be a whole number, got {plan['seed']!r}")
    protocol = str(plan.get("protocol", LINEAR.name))
    made = Plan(
        protocol,
        _settings(protocol, plan.get("settings", {}), path),
        dict(addresses),
        plan.get("prediction"),
        plan.get("align", False),
        plan.get("strip", False),
        plan.get("ignore_case", False),
        plan.get("seed", 0),
    )
    holds = role_of(name) not in HELPERS
    needed = ["keys", "state"] + (["table"] if holds else [])
    needed += ["target"] if role_of(name) in (ACTIVE, CLIENT) else []
    if holds:
        needed += ["predict"] if made.prediction else []
        needed += ["id"] if made.align else []
    for key in needed:
        if key not in own:
            raise UsageError(f"{path}: own.{key} is missing: the {role_of(name)} party needs it")
    for key, value in own.items():
        if not isinstance(value, int if key == "seed" else str):
            raise UsageError(f"{path}: own.{key} has the wrong type: {value!r}")

    def file(key: str) -> Path | None:
        return path.parent / own[key] if key in own else None

    return PartyConfig(
        name,
        made,
        path.parent / own["keys"],
        path.parent / own["state"],
        file("table"),
        own.get("id"),
        own.get("target"),
        file("predict"),
        own.get("seed"),
    )


def _settings(protocol: str, chosen: dict[str, Any], path: Path) -> Any:
    """Read ``plan.settings`` for a protocol; those of boosting and of encryption lie side by side."""
    check_protocol(protocol)
    if protocol == SECURE_BOOST:
        boost = {f.name for f in fields(BoostSettings)}
        others = {f.name for f in fields(SecureBoostSettings)} - {"boost"}
        _known(chosen, sorted(boost | others), path)
        parts: dict[bool, dict[str, Any]] = {True: {}, False: {}}
        for key, value in chosen.items():
            owner = BoostSettings if key in boost else SecureBoostSettings
            parts[key in boost][key] = _read(key, value, owner, path)
        return SecureBoostSettings(BoostSettings(**parts[True]), **parts[False])
    made = PROTOCOLS[protocol].settings
    _known(chosen, [f.name for f in fields(made)], path)
    return made(**{key: _read(key, value, made, path) for key, value in chosen.items()})


def _read(key: str, value: Any, settings: type[Any], path: Path) -> Any:
    """Return a setting in the type that it has; widths of layers are written as a list."""
    usual = getattr(settings, key)
    if isinstance(usual, tuple | Layers):
        if not isinstance(value, list) or not all(type(width) is int for width in value):
            raise SpecError(f"{path}: plan.settings.{key} must list widths, got {value!r}")
        if isinstance(usual, tuple):
            return tuple(value)
        if not value:
            raise SpecError(f"{path}: plan.settings.{key} needs at least the output's width")
        return replace(usual, hidden=tuple(value[:-1]), output=value[-1])
    wanted = int if usual is None else type(usual)
    if type(value) is not wanted and not (wanted is float and type(value) is int):
        raise SpecError(f"{path}: plan.settings.{key} must be {wanted.__name__}, got {value!r}")
    return value


def _table(raw: Mapping[str, Any], key: str, path: Path) -> dict[str, Any]:
    found = raw.get(key)
    if not isinstance(found, dict):
        raise UsageError(f"{path}: the table [{key}] is missing")
    return found


def _known(raw: Mapping[str, Any], keys: Any, path: Path) -> None:
    for key in raw:
        if key not in keys:
            raise UsageError(f"{path}: unknown key {key!r}.{nearest(key, keys)}")
