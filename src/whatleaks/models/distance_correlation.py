"""Distance correlation of two sets of numbers, to be lowered by training (Szekely et al. 2007)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

LEAST = 1e-12  # below this a set of numbers does not vary: it correlates with nothing


def _centred(values: torch.Tensor) -> torch.Tensor:
    """Return the distances between all records, double-centred."""
    import torch

    squared = ((values[:, None, :] - values[None, :, :]) ** 2).sum(dim=2)
    distances = torch.sqrt(squared + LEAST)  # the root of 0 has no slope
    found: torch.Tensor = (
        distances - distances.mean(dim=0) - distances.mean(dim=1, keepdim=True) + distances.mean()
    )
    return found


def distance_correlation(one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
    """Return sqrt(dCov^2(one, two) / sqrt(dVar^2(one) dVar^2(two))): 0 independent, 1 alike."""
    import torch

    a, b = _centred(one), _centred(two)
    variances = (a * a).mean() * (b * b).mean()
    squared = (a * b).mean().clamp(min=LEAST) / torch.sqrt(variances.clamp(min=LEAST))
    return torch.sqrt(squared)
