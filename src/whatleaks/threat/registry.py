"""All named threat models."""

from __future__ import annotations

from typing import Any

from whatleaks.errors import UsageError, nearest
from whatleaks.threat.encrypted import ENCRYPTED
from whatleaks.threat.model import ThreatModel
from whatleaks.threat.prediction import AGNOSTIC, BLACK_BOX, WHITE_BOX
from whatleaks.threat.trees import WHITE_BOX_FOREST, WHITE_BOX_TREE

THREATS: dict[str, ThreatModel[Any]] = {
    threat.name: threat
    for threat in (WHITE_BOX, BLACK_BOX, AGNOSTIC, ENCRYPTED, WHITE_BOX_TREE, WHITE_BOX_FOREST)
}


def threat_model(name: str) -> ThreatModel[Any]:
    """Return a threat model by name; an unknown name is refused with the nearest one."""
    if name not in THREATS:
        raise UsageError(
            f"unknown threat {name!r}.{nearest(name, THREATS)} `whatleaks threats` lists them"
        )
    return THREATS[name]
