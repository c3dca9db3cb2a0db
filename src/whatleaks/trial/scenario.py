"""One trial, declared: a frozen record whose hash is the name of its result.

The only spec there is: an audit, a claim and a sweep file are lists of scenarios and a fold
over their outcomes. Fields are identity (they change the numbers and enter the hash) or
runtime (they do not). Every field says which it is; a new field without a class is an error,
not a silent choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

from whatleaks.data.holdings import MADE_UP
from whatleaks.errors import SpecError, nearest
from whatleaks.models.asked_otherwise import QUESTIONS
from whatleaks.trial.settings import Settings, Value

_IDENTITY = {"part": "identity"}
_RUNTIME = {"part": "runtime"}

# How a table is read and prepared. The papers scale on the whole set.
DATA: dict[str, Value] = {
    "label": "",  # the column to predict; empty: as the data set says
    # Or "numbers": numeric columns, a real target, as Li et al. use them; or "pictures": halves.
    "prepare": "table",
    "strangers": "",  # a set of pictures that the auxiliary records are drawn from instead
    "rows": 0,  # this many records of the set, drawn by the seed; 0: all
    "parser": "",  # named options of the data set's parser, such as "drop_duration,classes=5"
    "categories": "ordinal",
    "scale_on": "all",
    "training_fraction": 0.8,
    "drop": (),
    "missing": "refuse",
    "constant": "drop",
    "encode_text": False,
    "bins": 0,
    "trained_on": "",  # the column that says which rows trained a model that is given
    # How numbers are written where words hold them, in a table of the user's own.
    "decimal": "",
    "thousands": "",
    "na": (),
    # Of a file that is not UTF-8; of an Excel file with several.
    "encoding": "",
    "sheet": "",
    "by": "",  # a column whose groups are told apart when people are counted
}
# Beside the attacks: guesses that know nothing; what a regressor learns from the view; the same
# from the own columns alone; what the active party predicts without joining; every attack
# again with its messages exchanged between records.
REFERENCES = ("baselines", "limit", "alone", "joining", "control")


@dataclass(frozen=True)
class Scenario:
    """What to try. An empty name means that there is no such part."""

    kind: ClassVar[str] = "scenario"

    dataset: str = field(metadata=_IDENTITY)  # a data set's name, or the path of a file
    table: str = field(default="", metadata=_IDENTITY)  # keyed hash of a table of the user's own
    data: Settings = field(default=Settings(), metadata=_IDENTITY)
    # The passive parties' columns: by name for each party, or drawn: a share, or a number.
    passive: tuple[tuple[str, ...], ...] = field(default=(), metadata=_IDENTITY)
    share: float = field(default=0.0, metadata=_IDENTITY)
    unknown: int = field(default=0, metadata=_IDENTITY)
    parties: int = field(default=1, metadata=_IDENTITY)  # drawn columns are dealt to so many
    model: str = field(default="lr", metadata=_IDENTITY)
    model_options: Settings = field(default=Settings(), metadata=_IDENTITY)
    given: str = field(default="", metadata=_IDENTITY)  # sha256 of a model trained elsewhere
    threat: str = field(default="white-box", metadata=_IDENTITY)
    coalition: tuple[str, ...] = field(default=(), metadata=_IDENTITY)  # who joins the adversary
    auxiliary: float = field(default=0.1, metadata=_IDENTITY)  # records granted to one that trains
    known: int = field(default=25, metadata=_IDENTITY)  # people whom one that knows some knows
    known_from: str = field(default="", metadata=_IDENTITY)  # made up: the draw of their columns
    earlier: int = field(default=100, metadata=_IDENTITY)  # scores seen of others, where granted
    attacks: tuple[str, ...] = field(default=(), metadata=_IDENTITY)
    attack_options: Settings = field(default=Settings(), metadata=_IDENTITY)
    defense: str = field(default="", metadata=_IDENTITY)
    defense_options: Settings = field(default=Settings(), metadata=_IDENTITY)
    detector: str = field(default="", metadata=_IDENTITY)
    detector_options: Settings = field(default=Settings(), metadata=_IDENTITY)
    asks: int = field(default=1, metadata=_IDENTITY)  # how often every record is asked about
    # How often it is asked about again with another own part, where an adversary may choose that.
    questions: int = field(default=QUESTIONS, metadata=_IDENTITY)
    targets: int = field(default=0, metadata=_IDENTITY)  # 0: half of those that did not train
    part: float = field(default=0.0, metadata=_IDENTITY)  # attack this share of all records
    references: tuple[str, ...] = field(default=("baselines",), metadata=_IDENTITY)
    measures: tuple[str, ...] = field(default=(), metadata=_IDENTITY)
    seed: int = field(default=0, metadata=_IDENTITY)
    # Streams of all that follows the split are drawn below this name: an audit keeps its
    # federations apart.
    branch: str = field(default="", metadata=_IDENTITY)
    own: str = field(default="", metadata=_IDENTITY)  # hash of parts that were handed over
    # These change no number, but what a result says about itself.
    isolated: bool = field(default=False, metadata=_IDENTITY)
    shown: int = field(default=0, metadata=_IDENTITY)  # true values beside guesses, if asked for
    # Runtime: never part of the result's name.
    label: str = field(default="", metadata=_RUNTIME)
    profile: str = field(default="", metadata=_RUNTIME)

    def __post_init__(self) -> None:
        """Refuse values that no trial could mean; settings of the data that say nothing new go."""
        filled = self.data.filled(DATA, "data")
        said = {key: value for key, value in filled.items() if value != DATA[key]}
        object.__setattr__(self, "data", Settings(said))
        if not self.dataset:
            raise SpecError('a scenario needs data: add dataset = "..."')
        if not 0.0 <= self.share < 1.0:
            raise SpecError(f"share must lie between 0 and 1, got {self.share}: 0.3 is 30 %")
        given = [name for name in ("passive", "share", "unknown") if getattr(self, name)]
        if len(given) != 1:
            raise SpecError(
                "give one of passive, share or unknown: each names the passive party's part"
                + (f"; got {' and '.join(given)}" if given else "")
            )
        for name, least in (
            ("targets", 0),
            ("seed", 0),
            ("unknown", 0),
            ("parties", 1),
            ("known", 1),
            ("earlier", 1),
            ("asks", 1),
            ("questions", 1),
        ):
            if getattr(self, name) < least:
                raise SpecError(f"{name} must be at least {least}, got {getattr(self, name)}")
        if self.part and self.targets:
            raise SpecError("give targets or part, not both: each says how many are attacked")
        left = 1.0 - self.prepared("training_fraction")
        if not 0.0 <= self.part <= left + 1e-9:
            raise SpecError(
                f"part: {self.part:g} of the records is more than the {left:g} that training leaves"
            )
        if self.known_from not in ("", *MADE_UP):
            raise SpecError(
                f"known_from is empty (real people) or one of {', '.join(MADE_UP)}, got "
                f"{self.known_from!r}.{nearest(self.known_from, MADE_UP)}"
            )
        if not 0.0 < self.auxiliary < 1.0:
            raise SpecError(f"auxiliary must lie between 0 and 1, got {self.auxiliary}")
        if self.dataset and self.prepared("strangers") == self.dataset:
            raise SpecError(
                f"data.strangers names {self.dataset} itself: auxiliary pictures could be among those that train; name "
                "another set, or leave it out to draw others of this one"
            )
        for name in self.references:
            if name not in REFERENCES:
                raise SpecError(f"unknown reference {name!r}.{nearest(name, REFERENCES)}")

    def identity(self) -> dict[str, Any]:
        """Return the identity fields that were set, as plain JSON values.

        A field at its empty default is left out, so a new field leaves old names as they are.
        """
        return {
            name: _json(getattr(self, name))
            for name in parts("identity")
            if getattr(self, name) != _DEFAULTS[name]
        }

    def to_dict(self) -> dict[str, Any]:
        """Return what was set as plain JSON values; ``from_dict`` reads them back."""
        return {
            f.name: _json(getattr(self, f.name))
            for f in fields(self)
            if getattr(self, f.name) != _DEFAULTS[f.name]
        }

    def title(self) -> str:
        """Say on one line which trial this is: the label, or all that was set."""
        if self.label:
            return self.label
        told = []
        for name, value in self.identity().items():
            if isinstance(value, dict):
                told += [f"{key}={item}" for key, item in value.items()]
            else:
                told.append(f"{name}={value}")
        return " ".join(told)

    def prepared(self, key: str) -> Any:
        """Return a setting of the data, or its default."""
        return self.data.get(key, DATA[key])

    def training_key(self) -> str:
        """Name what is trained: scenarios with equal keys train once."""
        from whatleaks.trial.plan import training_key

        return training_key(self)

    def modules(self) -> tuple[str, ...]:
        """Name the modules whose sources stand behind the outcome."""
        from whatleaks.trial.plan import modules

        return modules(self)

    def check(self) -> None:
        """Refuse parts that do not exist or do not fit, before anything runs."""
        from whatleaks.trial.plan import plan

        plan(self)

    @classmethod
    def perform_group(
        cls, works: Sequence[Scenario], table: bytes | None
    ) -> Iterator[tuple[Any, bytes]]:
        """Run scenarios that share a training; yield each one's outcome and per-record scores."""
        from whatleaks.trial.trial import perform

        yield from perform(works, table)


def parts(part: str) -> tuple[str, ...]:
    """Name the fields of one class, ``identity`` or ``runtime``; refuse an unclassified field."""
    for f in fields(Scenario):
        if f.metadata.get("part") not in ("identity", "runtime"):
            raise TypeError(f"Scenario.{f.name} is neither identity nor runtime: say which")
    return tuple(f.name for f in fields(Scenario) if f.metadata["part"] == part)


def from_dict(values: Mapping[str, Any], where: str = "scenario") -> Scenario:
    """Make a scenario from plain values; unknown keys are refused with the nearest name."""
    return _made({"dataset": ""}, values, where)


def replace_fields(scenario: Scenario, values: Mapping[str, Any], where: str) -> Scenario:
    """Return ``scenario`` with some fields set; tables of settings are merged, key by key.

    A dotted key such as ``attack_options.steps`` sets one setting.
    """
    held = {f.name: getattr(scenario, f.name) for f in fields(scenario)}
    return _made(held, values, where)


def _made(held: Mapping[str, Any], values: Mapping[str, Any], where: str) -> Scenario:
    changed = dict(held)
    for key, value in values.items():
        name, _, setting = key.partition(".")
        checked = _checked(name, {setting: value} if setting else value, where)
        if isinstance(checked, Settings):
            checked = changed.get(name, Settings()).merged(checked)
        changed[name] = checked
    try:
        return Scenario(**changed)
    except SpecError as error:
        raise SpecError(f"{where}: {error}") from None


_DEFAULTS: dict[str, Any] = {"dataset": "", **{f.name: f.default for f in fields(Scenario)[1:]}}


def _checked(name: str, value: Any, where: str) -> Any:
    """Check one field's name and type."""
    if name not in _DEFAULTS:
        raise SpecError(f"{where}: unknown key {name!r}.{nearest(name, _DEFAULTS)}")
    default = _DEFAULTS[name]
    if isinstance(default, Settings):
        if not isinstance(value, Mapping):
            raise SpecError(f"{where}: {name} must be a table of settings, got {value!r}")
        return Settings(value, f"{where}: {name}")
    if name == "passive":
        return _columns(value, where)
    if isinstance(default, tuple):
        value = [value] if isinstance(value, str) else value  # one name needs no brackets
        if not isinstance(value, list | tuple) or not all(isinstance(v, str) for v in value):
            raise SpecError(f"{where}: {name} must be a list of names, got {value!r}")
        return tuple(value)
    if isinstance(default, float) and type(value) is int:
        return float(value)
    if type(value) is not type(default):
        kinds = {str: "a text in quotes", int: "a whole number", float: "a number"}
        kind = kinds.get(type(default), "true or false")
        raise SpecError(f"{where}: {name} must be {kind}, got {value!r}")
    return value


def _columns(value: Any, where: str) -> tuple[tuple[str, ...], ...]:
    """Read the passive parties' columns: a list of names, or one such list for each party."""
    if isinstance(value, list | tuple) and all(isinstance(v, str) for v in value):
        return (tuple(value),) if value else ()
    if isinstance(value, list | tuple) and all(
        isinstance(v, list | tuple) and v and all(isinstance(w, str) for w in v) for v in value
    ):
        return tuple(tuple(v) for v in value)
    raise SpecError(f"{where}: passive must be a list of column names, got {value!r}")


def _json(value: Any) -> Any:
    if isinstance(value, Settings):
        return {key: _json(item) for key, item in value.items()}
    return [_json(item) for item in value] if isinstance(value, tuple) else value


def seeded(scenario: Scenario, seeds: Sequence[int]) -> list[Scenario]:
    """Repeat a scenario with other seeds."""
    return [replace(scenario, seed=seed) for seed in seeds]
