"""One party's columns in SecureBoost: bins, candidate splits, and the splits it owns."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, sealed_bools, sealed_ints
from whatleaks.models.boosted_trees import BoostSettings, drawn
from whatleaks.models.candidate_splits import candidates, fit_bins
from whatleaks.models.shared_trees import OwnedSplits


class Columns:
    """One party's columns, cut into bins, and the splits that it has come to own."""

    def __init__(self, x: Floats, settings: BoostSettings, rng: np.random.Generator) -> None:
        self._settings = settings
        self._rng = rng
        self.bins = fit_bins(x, settings.max_bin)
        self._codes = self.bins.codes(x)
        self._owned: list[tuple[int, int, bool]] = []
        self.begin_tree()

    def begin_tree(self) -> None:
        """Draw the columns of the next tree."""
        columns = drawn(len(self.bins.cuts), self._settings.colsample_bytree, self._rng)
        self.given = candidates(self.bins, columns)
        self.seen = self.given.seen(self._codes, self.bins)

    def split(self, slot: Ints, pick: Ints) -> Bools:
        """Own the candidates picked for the level's nodes (-1: not mine); route the records.

        Records of other nodes are reported as not left.
        """
        mine = pick[pick >= 0]
        if not mine.size:
            return np.zeros(len(slot), dtype=np.bool_)
        given = self.given
        self._owned += zip(
            given.column[mine].tolist(),
            given.bin[mine].tolist(),
            given.missing_left[mine].tolist(),
            strict=True,
        )
        at = pick[slot]
        here = (slot >= 0) & (at >= 0)
        return here & given.left(self._codes, self.bins, np.where(here, at, 0))

    def owned(self) -> OwnedSplits:
        """Return the splits owned so far."""
        table = np.array(self._owned, dtype=np.int64).reshape(-1, 3)
        return OwnedSplits(
            sealed_ints(table[:, 0]),
            sealed_ints(table[:, 1]),
            self.bins.thresholds(table[:, 0], table[:, 1]),
            sealed_bools(table[:, 2]),
        )
