"""What to audit: the choices that define one audit, refused early when they make no sense."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from whatleaks.data.problems import DEFAULTS
from whatleaks.errors import UsageError, argument, nearest, whole

# What a first look is content with.
QUICK = {"seeds": 1, "more_seeds": 0, "targets": 150, "inversion_steps": 300}
# Where nobody says how many: with one more seed a t interval over seeds is 1.6 times as narrow.
SEEDS, MORE_SEEDS = 3, 1
LEAST = {"seed": 0, "seeds": 1, "more_seeds": 0, "targets": 10, "inversion_steps": 1, "known": 3}


@dataclass(frozen=True)
class AuditSpec:
    """The identity of an audit: the same spec, table and code give the same numbers.

    ``passive`` are the columns of all passive parties; where there are several, ``parties`` says
    whose is which. ``decimal``, ``thousands`` and ``na`` say how the table's words were read.
    ``more_seeds`` follow the ``seeds``: there nothing is defended or hijacked.
    """

    label: str
    passive: tuple[str, ...]
    model: str = "lr"
    threats: tuple[str, ...] = ()
    seeds: int = SEEDS
    more_seeds: int = 0
    seed: int = 0
    targets: int = 300
    known: int = 25  # people whom a partner knows, under threats of one who knows some
    hidden: tuple[int, ...] = ()
    inversion_steps: int = 3000
    missing: str = "refuse"
    categories: str = "ordinal"
    scale_on: str = "training"
    drop: tuple[str, ...] = ()
    drop_constant: bool = False
    encode_text: bool = False
    bins: int | None = None
    by: str = ""
    defenses: bool = True
    compare_defenses: bool = False  # more settings of each, and privacy against utility
    isolated: bool = False
    show_values: bool = False
    given: str = ""  # sha256 of a model that was trained elsewhere; ``model`` is its form then
    trained_on: str = ""  # the column that says which rows trained it
    quick: bool = False
    parties: tuple[tuple[str, ...], ...] = ()
    decimal: str | None = None
    thousands: str | None = None
    na: tuple[str, ...] = ()
    protect: str = ""  # "columns" or "label"; empty: what the threats are after, else columns

    def __post_init__(self) -> None:
        """Refuse what cannot be audited and fill in the threats that the model admits."""
        from whatleaks.auditor.plan import protected
        from whatleaks.trial.plan import forms, models

        for name, least in LEAST.items():
            object.__setattr__(self, name, whole(name, getattr(self, name), least))
        if self.quick:
            for name, most in QUICK.items():
                object.__setattr__(self, name, min(getattr(self, name), most))
        known = forms() if self.given else models()
        if self.model not in known:
            raise UsageError(
                f"{argument('model')} {self.model!r} is unknown: use one of {', '.join(known)}."
                f"{nearest(self.model, known)}"
            )
        if self.compare_defenses and not self.defenses:
            raise UsageError(
                f"{argument('compare_defenses')} has nothing to compare when no defense is tried"
            )
        if self.trained_on and not self.given:
            raise UsageError(
                f"{argument('trained_on')} belongs to a model that is given: others are trained here"
            )
        layers = getattr(known[self.model][1], "hidden", ())
        if self.hidden and not layers:
            raise UsageError(
                f"{argument('hidden')} has no meaning for {argument('model')} {self.model}: "
                "use network or joint-network"
            )
        object.__setattr__(self, "hidden", tuple(whole("hidden", size) for size in self.hidden))
        if any(size < 1 for size in self.hidden):
            raise UsageError(f"{argument('hidden')} layers need at least 1 unit, got {self.hidden}")
        if self.bins is not None:
            object.__setattr__(self, "bins", whole("bins", self.bins))
        if not self.hidden:
            object.__setattr__(self, "hidden", tuple(layers))
        protect, threats = protected(self.model, self.protect, self.threats)
        object.__setattr__(self, "protect", protect)
        object.__setattr__(self, "threats", threats)
        from whatleaks.auditor.plan import check_threats

        check_threats(self.model, self.threats)

    @property
    def every_seed(self) -> tuple[int, ...]:
        """All seeds, those without defenses last."""
        return tuple(range(self.seed, self.seed + self.seeds + self.more_seeds))

    @property
    def by_party(self) -> tuple[tuple[str, ...], ...]:
        """The columns of each passive party."""
        return self.parties or (self.passive,)

    def arguments(self) -> dict[str, Any]:
        """Return what decides how a table is read and prepared, as ``check_table`` takes it."""
        return {
            "label": self.label,
            "passive": self.parties or self.passive,
            **{name: getattr(self, name) for name in DEFAULTS},
        }

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for audit.json."""
        return asdict(self)
