"""The federations that an audit can stage, and the threats that each one serves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from whatleaks.auditor import encrypted_unit, prediction_unit, tree_unit
from whatleaks.auditor.spec import AuditSpec
from whatleaks.auditor.units import UnitResult
from whatleaks.data.preparation import Prepared
from whatleaks.seeds import Streams

RunUnit = Callable[[Prepared, AuditSpec, int, Streams, Callable[[str], None]], UnitResult]


@dataclass(frozen=True)
class FederationCard:
    """A federation by name, its threats, and the function that runs one seed of it."""

    name: str
    threats: tuple[str, ...]
    run: RunUnit


FEDERATIONS: tuple[FederationCard, ...] = (
    FederationCard(
        prediction_unit.FEDERATION, prediction_unit.THREATS, prediction_unit.run_prediction
    ),
    FederationCard(encrypted_unit.FEDERATION, encrypted_unit.THREATS, encrypted_unit.run_encrypted),
    FederationCard(tree_unit.FEDERATION, tree_unit.THREATS, tree_unit.run_trees),
)
