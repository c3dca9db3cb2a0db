"""Yao, Li, Gong, Hou, Pan 2025: malicious reconstruction and its detectors.

Y04, Y05 and Y11 (CIFAR-10 and Tiny ImageNet with residual networks) have no check yet: one run
takes minutes on one core, and three seeds of eight attacks would not fit the standard profile.
"""

from __future__ import annotations

from whatleaks.papers import yao_attacks, yao_conditions, yao_defenses, yao_detectors

__all__ = ["yao_attacks", "yao_conditions", "yao_defenses", "yao_detectors"]
