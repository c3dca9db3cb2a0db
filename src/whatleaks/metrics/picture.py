"""How like two pictures are: peak signal-to-noise ratio and structural similarity."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Floats

FINEST = 1e-10  # a squared error below this counts as none: PSNR 100
WINDOW = 7


def psnr(squared: Floats) -> Floats:
    """Return the ratio in dB for mean squared errors of pixels on a scale from 0 to 1."""
    found: Floats = -10.0 * np.log10(np.maximum(squared, FINEST))
    return found


def ssim(one: Floats, other: Floats) -> Floats:
    """Return the structural similarity of every pair (Wang et al. 2004), pixels from 0 to 1.

    Pictures are records x height x width x colours. Means, variances and covariance over
    windows of 7 x 7 pixels (narrower pictures: as wide as they are), averaged over all windows
    that lie inside.
    """
    from scipy.ndimage import uniform_filter

    window = min(WINDOW, *one.shape[1:3])
    size, inside = (1, window, window, 1), window * window
    fair = inside / max(inside - 1, 1)  # sample variances

    def mean(values: Floats) -> Floats:
        high, low = window // 2, (window - 1) // 2
        found: Floats = uniform_filter(values, size=size, mode="reflect")
        ends = found.shape[1] - low, found.shape[2] - low
        return found[:, high : ends[0], high : ends[1]]

    a, b = mean(one), mean(other)
    variances = fair * (mean(one**2) - a**2), fair * (mean(other**2) - b**2)
    together = fair * (mean(one * other) - a * b)
    c1, c2 = 0.01**2, 0.03**2
    top = (2 * a * b + c1) * (2 * together + c2)
    bottom = (a**2 + b**2 + c1) * (variances[0] + variances[1] + c2)
    alike: Floats = (top / bottom).mean(axis=(1, 2, 3))
    return alike
