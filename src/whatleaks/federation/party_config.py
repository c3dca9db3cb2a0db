"""One party's configuration file: the plan that all share, and what is this party's own."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from whatleaks.codec import encode
from whatleaks.errors import SpecError, UsageError, nearest
from whatleaks.federation.regression_settings import (
    ACTIVE,
    ARBITER,
    LINEAR,
    LOGISTIC,
    PASSIVE,
    Link,
    SecureLinearSettings,
)
from whatleaks.federation.secure_prediction import check_style

ROLES = (ACTIVE, PASSIVE, ARBITER)
LINKS = {link.name: link for link in (LINEAR, LOGISTIC)}
_OWN = ("keys", "table", "id", "target", "predict", "state", "seed")


def role_of(name: str) -> str:
    """Return the role of a party's name: ``passive-2`` is passive."""
    role, dash, number = name.partition("-")
    if role not in ROLES or (dash and (role != PASSIVE or not number.isdigit())):
        raise SpecError(f"{name!r} is no party: use active, passive, passive-2, ..., arbiter")
    return role


@dataclass(frozen=True)
class Plan:
    """What all parties must agree on. Addresses are not part of the digest."""

    protocol: str
    settings: SecureLinearSettings
    addresses: Mapping[str, str]
    prediction: str | None = None

    def __post_init__(self) -> None:
        """Refuse plans without the three roles."""
        if self.protocol not in LINKS:
            raise SpecError(
                f"unknown protocol {self.protocol!r}: use one of {', '.join(LINKS)}."
                f"{nearest(self.protocol, LINKS)}"
            )
        roles = [role_of(name) for name in self.addresses]
        for role in ROLES:
            if role not in roles:
                raise SpecError(f"the plan has no {role} party: name its address in plan.parties")
        if self.prediction is not None:
            check_style(self.prediction)

    @property
    def link(self) -> Link:
        """The regression's link."""
        return LINKS[self.protocol]

    @property
    def passives(self) -> tuple[str, ...]:
        """The passive parties, in one order for all."""
        names = (name for name in self.addresses if role_of(name) == PASSIVE)
        return tuple(sorted(names, key=lambda name: int(name.partition("-")[2] or 1)))

    @property
    def digest(self) -> str:
        """A fingerprint of the plan."""
        identity = (
            self.protocol,
            asdict(self.settings),
            (ACTIVE, *self.passives, ARBITER),
            self.prediction,
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
        raise UsageError(f"--config: cannot read {path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"--config: {path} is not TOML: {error}") from None
    _known(raw, ("plan", "own"), path)
    plan, own = _table(raw, "plan", path), _table(raw, "own", path)
    _known(plan, ("protocol", "settings", "parties", "prediction"), path)
    _known(own, _OWN, path)
    chosen = plan.get("settings", {})
    _known(chosen, [f.name for f in fields(SecureLinearSettings)], path)
    addresses = _table(plan, "parties", path)
    if name not in addresses:
        raise UsageError(
            f"{path}: plan.parties has no {name!r}: add its address, or --name another"
        )
    for key, value in chosen.items():
        usual = getattr(SecureLinearSettings, key)
        wanted = int if usual is None else type(usual)
        if type(value) is not wanted and not (wanted is float and type(value) is int):
            raise SpecError(f"{path}: plan.settings.{key} must be {wanted.__name__}, got {value!r}")
    settings = SecureLinearSettings(**chosen)
    made = Plan(
        plan.get("protocol", LINEAR.name), settings, dict(addresses), plan.get("prediction")
    )
    needed = ["keys", "state"] + ([] if role_of(name) == ARBITER else ["table"])
    needed += ["target"] if role_of(name) == ACTIVE else []
    needed += ["predict"] if made.prediction and role_of(name) != ARBITER else []
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


def _table(raw: Mapping[str, Any], key: str, path: Path) -> dict[str, Any]:
    found = raw.get(key)
    if not isinstance(found, dict):
        raise UsageError(f"{path}: the table [{key}] is missing")
    return found


def _known(raw: Mapping[str, Any], keys: Any, path: Path) -> None:
    for key in raw:
        if key not in keys:
            raise UsageError(f"{path}: unknown key {key!r}.{nearest(key, keys)}")
