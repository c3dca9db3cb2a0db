"""Yao, Li, Gong, Hou, Pan 2025: malicious reconstruction and its detectors."""

from __future__ import annotations

from whatleaks_lab.papers import yao_attacks, yao_conditions, yao_defenses, yao_detectors

__all__ = ["yao_attacks", "yao_conditions", "yao_defenses", "yao_detectors"]
