"""Jiang, Zhou, Grossklags 2022: gradient-based inversion during prediction."""

from __future__ import annotations

from whatleaks_lab.papers import (  # noqa: F401  # each registers the checks of its claims
    jiang_alignment,
    jiang_black_box,
    jiang_defenses,
    jiang_linear,
    jiang_networks,
)
