"""What a given model is: its form, and the model itself over the audit's columns."""

from __future__ import annotations

from dataclasses import dataclass

from whatleaks.models.adapters.given import Core


@dataclass(frozen=True)
class GivenSettings:
    """``model`` is put in by the trial, once the table is encoded."""

    form: str
    model: Core | None = None
