"""The five papers, and the letters by which comments and claims cite them.

| letter | paper |
|---|---|
| U | Luo et al. 2021: feature inference from released scores |
| J | Jiang et al. 2022: gradient-based inversion of released scores |
| L | Li et al.: inverting encrypted regressions, thresholds of SecureBoost |
| A | Varasteh: inference without the target's score, schemes on parameters |
| Y | Yao et al. 2025: malicious active parties in split training |

"U Eq 8" is equation 8 of Luo et al., "A IV-B" section IV-B of Varasteh.
"""

from __future__ import annotations

LUO = "Luo, Wu, Xiao, Ooi 2021 (ICDE)"
JIANG = "Jiang, Zhou, Grossklags 2022 (PoPETs)"
LI = "Li, Bao, Xiang, Liu, Chen, Wang, Wang (secure FL)"
YAO = "Yao, Li, Gong, Hou, Pan 2025 (NDSS)"
VARASTEH = "Varasteh (agnostic inference)"
