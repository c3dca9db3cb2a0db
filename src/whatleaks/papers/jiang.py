"""Jiang, Zhou, Grossklags 2022: gradient-based inversion during prediction.

J16 (private set intersection does not reduce the attack) has no check: a scenario starts from
aligned rows, and how they were aligned is no part of what is released afterwards.
"""

from __future__ import annotations

from whatleaks.papers import (  # noqa: F401  # each registers the checks of its claims
    jiang_black_box,
    jiang_defenses,
    jiang_linear,
    jiang_networks,
)
