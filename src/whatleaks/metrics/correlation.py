"""How closely each target feature goes with what the adversary sees (Luo et al., Eqs 16 and 17)."""

from __future__ import annotations

from whatleaks.arrays import Floats, sealed
from whatleaks.models.pearson import correlations


def own_correlation(own: Floats, target: Floats) -> Floats:
    """Return corr(x_adv, x_target,i) for every target feature i.

    Eq 16: the absolute Pearson correlation with each of the adversary's features, averaged
    over these. A feature that does not vary counts as 0.
    """
    return sealed(abs(correlations(own, target)).mean(axis=0))


def score_correlation(scores: Floats, target: Floats) -> Floats:
    """Return corr(v, x_target,i) for every target feature i.

    Eq 17: the absolute Pearson correlation with each class's score, averaged over classes.
    A feature that does not vary counts as 0.
    """
    return sealed(abs(correlations(scores, target)).mean(axis=0))
