"""What to audit: the choices that define one audit, refused early when they make no sense."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from whatleaks.errors import UsageError, nearest

MODELS = ("lr", "network", "joint-network", "tree", "forest")
DEFAULT_HIDDEN = {"network": (8, 8), "joint-network": (600, 300, 100)}
DEFAULT_THREATS = {
    "lr": ("white-box", "black-box", "agnostic"),
    "network": ("white-box", "black-box"),
    "joint-network": ("white-box", "black-box"),
    "tree": ("white-box-tree",),
    "forest": ("white-box-forest",),
}
TREE_THREATS = {"white-box-tree": "tree", "white-box-forest": "forest"}
SCORE_THREATS = ("white-box", "black-box", "agnostic")


@dataclass(frozen=True)
class AuditSpec:
    """The identity of an audit: the same spec, table and code give the same numbers."""

    label: str
    passive: tuple[str, ...]
    model: str = "lr"
    threats: tuple[str, ...] = ()
    seeds: int = 3
    seed: int = 0
    targets: int = 300
    hidden: tuple[int, ...] = ()
    inversion_steps: int = 3000
    missing: str = "refuse"
    categories: str = "ordinal"
    scale_on: str = "training"
    drop: tuple[str, ...] = ()
    drop_constant: bool = False
    encode_text: bool = False
    bins: int | None = None
    defenses: bool = True
    isolated: bool = False
    show_values: bool = False

    def __post_init__(self) -> None:
        """Refuse what cannot be audited and fill in the threats that the model admits."""
        if self.model not in MODELS:
            raise UsageError(
                f"--model {self.model!r} is unknown: use one of {', '.join(MODELS)}."
                f"{nearest(self.model, MODELS)}"
            )
        for name, least in (("seed", 0), ("seeds", 1), ("targets", 10), ("inversion_steps", 1)):
            if getattr(self, name) < least:
                raise UsageError(
                    f"--{name.replace('_', '-')} must be at least {least}, got {getattr(self, name)}"
                )
        if self.hidden and self.model not in DEFAULT_HIDDEN:
            raise UsageError(
                f"--hidden has no meaning for --model {self.model}: use network or joint-network"
            )
        if any(size < 1 for size in self.hidden):
            raise UsageError(f"--hidden layers need at least 1 unit, got {self.hidden}")
        if not self.hidden:
            object.__setattr__(self, "hidden", DEFAULT_HIDDEN.get(self.model, ()))
        if not self.threats:
            object.__setattr__(self, "threats", DEFAULT_THREATS[self.model])
        object.__setattr__(self, "threats", tuple(dict.fromkeys(self.threats)))
        from whatleaks.threat.registry import threat_model

        for name in self.threats:
            threat_model(name)
        for name in self.threats:
            wanted = TREE_THREATS.get(name)
            if wanted is not None and wanted != self.model:
                raise UsageError(
                    f"--threat {name} looks at a joint {wanted}: use it with --model {wanted}"
                )
            if name in SCORE_THREATS and self.model in TREE_THREATS.values():
                raise UsageError(
                    f"--threat {name} looks at an additive model's scores: "
                    f"with --model {self.model} use --threat white-box-{self.model}"
                )
        if "agnostic" in self.threats and self.model != "lr":
            raise UsageError(
                "--threat agnostic solves a linear model's equations: use it with --model lr"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for audit.json."""
        return asdict(self)
