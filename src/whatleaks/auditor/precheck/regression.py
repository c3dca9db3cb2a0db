"""Precheck of encrypted regression with an arbiter (Li et al., section 4; both links alike).

The partner holds n columns, the asking party b. A batch has m records and comes back in every
epoch. Counts assume columns in general position: no column is a mixture of others.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from whatleaks.auditor.precheck.finding import (
    ASIDE,
    COSTS,
    EXACT,
    KNOWN,
    LENIENT,
    OPEN,
    PARTLY,
    Line,
)
from whatleaks.errors import UsageError, argument
from whatleaks.models.degrees_of_freedom import degrees_of_freedom, known_data_ratio

OPTIMISERS = ("sgd", "adam")
ARBITER_FREE = "train without an arbiter (sshe): no party sees its gradient in plain"
LARGER = "take a batch larger than a party's columns and have the arbiter refuse longer gradients"
SHUFFLED = "shuffle the batches in every epoch: it took most of it where it was measured"
FATE_SMALLEST = 10  # records in a batch of FATE's components


@dataclass(frozen=True)
class Regression:
    """``own`` columns ask about ``partner`` columns; ``known`` complete records are known.

    ``parties``: how many passive parties share the partner's columns out among them.
    """

    UNSAID: ClassVar[Mapping[str, str]] = {
        "records": "one batch is the table",
        "known": "none",
    }  # what a default of nothing means

    own: int
    partner: int
    batch: int
    epochs: int = 20
    records: int = 0  # 0: one batch is the table
    known: int = 0
    parties: int = 1
    optimiser: str = "sgd"
    shuffle: bool = False
    masked: bool = False
    queries: bool = True

    def __post_init__(self) -> None:
        """Refuse settings that no training has."""
        for name in ("own", "partner", "batch", "epochs", "parties"):
            if getattr(self, name) < 1:
                raise UsageError(f"{argument(name)} must be at least 1, got {getattr(self, name)}")
        if self.known < 0:
            raise UsageError(f"{argument('known')} must be 0 or more, got {self.known}")
        if self.records and self.records < self.batch:
            raise UsageError(
                f"{argument('records')} {self.records} is less than one batch of {self.batch}: "
                f"give all records of the table, or leave {argument('records')} out"
            )
        if self.parties > self.partner:
            raise UsageError(
                f"{argument('parties')} {self.parties} is more than the {self.partner} columns "
                "that they share"
            )
        if self.optimiser not in OPTIMISERS:
            raise UsageError(
                f"{argument('optimiser')} {self.optimiser!r} is unknown: use sgd or adam"
            )

    @property
    def rows(self) -> int:
        """How many records train."""
        return self.records or self.batch

    @property
    def batches(self) -> int:
        """How many batches an epoch has."""
        return -(-self.rows // self.batch)

    def assumes(self) -> tuple[str, ...]:
        """Say what the counts take for granted."""
        return (
            "columns in general position: no column of a batch is a mixture of others",
            "counts of equations, not of digits: late epochs resemble each other, so doubles may "
            "not reach what is determined; an audit under the threat encrypted measures it",
        )

    def lines(self) -> tuple[Line, ...]:
        """Go through the protocol: outputs, labels, Gram matrix, table, known records, collusion."""
        found = [self._outputs()]
        if self.optimiser == "sgd":
            found += [*self._tables(), self._subspace()]
        found += [self._labels(), self._weights(), self._colluding(), *self._engines()]
        return tuple(found)

    def _outputs(self) -> Line:
        """Count g = X_B^T d + alpha W_B: m unknown residuals, one equation for each own column."""
        columns = self.own
        whose = "the sum of the passive parties' z" if self.parties > 1 else "the partner's z"
        told = f"{whose} of every record in every epoch"
        source = "Li et al., section 4.1 (Eq 1)"
        if self.optimiser != "sgd":
            return Line(
                told, EXACT, self._undone(columns), source + ", behind a step of adam",
                stops=(ARBITER_FREE, f"let the arbiter refuse steps longer than {columns}"),
            )  # fmt: skip
        lacking = max(0, self.batch - columns)
        stops = (ARBITER_FREE, LARGER)
        if not lacking:
            return Line(
                told, EXACT, f"{columns} columns give {columns} equations for {self.batch} residuals",
                source, stops=stops,
            )  # fmt: skip
        return Line(
            told, EXACT,
            f"after padding: {columns} columns lack {lacking} equations for {self.batch} residuals, and "
            f"{lacking} random columns in its OWN table supply them; the partner sees nothing of it",
            source + ", fake features",
            stops=(ARBITER_FREE, f"let the arbiter refuse gradients longer than {columns}"),
        )  # fmt: skip

    def _undone(self, columns: int) -> str:
        """Count the columns that undo adam: one more than a batch has records decides every root."""
        lacking = max(0, self.batch + 1 - columns)
        padding = f", of which {lacking} are padding in its own table" if lacking else ""
        return (
            f"a number of {self.optimiser}'s step has at most two gradients behind it, and {self.batch + 1} "
            f"columns{padding} tell which: more equations than the {self.batch} residuals of a batch"
        )

    def _labels(self) -> Line:
        """Read the other direction: the passive party's own gradient is X_A^T d + alpha W_A."""
        width = self.partner // self.parties
        lacking = max(0, self.batch - width)
        told = "your label, read by the passive party from its own gradient"
        source = "Li et al., section 4.1 (Eq 1), the other way round"
        stops = (ARBITER_FREE, LARGER)
        if self.optimiser != "sgd":
            says = self._undone(width)
            return Line(told, EXACT, says, source + ", behind a step of adam", stops=stops)
        says = f"{width} columns, {self.batch} residuals"
        if lacking:
            says += f": {lacking} padding columns would do it"
        return Line(
            told,
            EXACT,
            says + "; the sign of a residual tells two classes apart",
            source,
            stops=stops,
        )

    def _tables(self) -> list[Line]:
        """Count what the quadratic equations leave open, if enough epochs determine them."""
        n, told = self.partner, "the Gram matrix of the partner's columns"
        source = "Li et al., Eq 3 (with its sign corrected)"
        if self.shuffle:
            return [
                Line(
                    told, ASIDE,
                    "batches differ in every epoch: no two steps share a batch, and Eq 3 does not apply",
                    source,
                )
            ]  # fmt: skip
        least = self._least_epochs()
        if self.epochs < least:
            lines = [
                Line(
                    told, OPEN,
                    f"{self.epochs} epochs on {self.batches} batches: {least} would determine it",
                    source, stops=(f"stop after {least - 1} epochs",),
                )
            ]  # fmt: skip
            return lines
        lines = [
            Line(
                told, EXACT, f"{self.epochs} epochs, {least} are enough", source,
                stops=("shuffle the batches in every epoch (ends Eq 3)", f"stop after {least - 1} epochs"),
            )
        ]  # fmt: skip
        free = degrees_of_freedom(self.rows, n, self.queries)
        theorem = "Theorem 2" if self.queries else "Theorem 1"
        told = f"all {self.rows} x {n} values of the partner"
        stops: tuple[str, ...] = (
            "shuffle the batches in every epoch (ends Eq 3)",
            f"stop after {least - 1} epochs",
        )
        if self.queries:
            stops += ("return scores only: without plain z at prediction it is Theorem 1",)
        source = f"Li et al., {theorem}"
        if not free:
            mirror = "; a mirror image may fit too" if n == 2 or not self.queries else ""
            lines.append(Line(told, EXACT, f"0 degrees of freedom{mirror}", source, stops=stops))
        else:
            ratio = known_data_ratio(free, self.rows, n)
            lines.append(
                Line(
                    told, KNOWN,
                    f"{free} degrees of freedom: so many values in the positions of Corollary 1, or "
                    f"{n} complete records, leave finitely many tables",
                    source, free, ratio, stops,
                )
            )  # fmt: skip
        return lines

    def _least_epochs(self) -> int:
        """Return the epochs that determine the Gram matrix.

        One batch: n independent residuals, so n + 1 epochs. Batches in turn: with c batches the
        c e - 1 steps must fix 2 n c unknowns but for the n that one S leaves open.
        """
        n, c = self.partner, self.batches
        return max(n + 1, -(-(2 * n * c - n + 1) // c)) if c > 1 else n + 1

    def _subspace(self) -> Line:
        """Count dimensions: z of e passes spans min(e, n) of them, known rows give coordinates."""
        n, rank = self.partner, min(self.epochs, self.partner)
        told = f"every column of the partner, from z over {self.epochs} passes and known records"
        source = "z = X_A W over passes: least squares on its left singular vectors"
        says = (
            f"the passes span {rank} of {n} dimensions; {rank} complete known records "
            f"({rank * n} values) place the others in them"
        )
        if rank < n:
            says += f"; {n - rank} dimensions stay unseen"
        if self.batches > 1 or self.shuffle:
            says += "; weights move between batches, so it is exact inside a batch and near beyond"
        stops = (ARBITER_FREE, "fewer epochs: each shows one dimension more", SHUFFLED)
        needed = max(0, rank - self.known) * n
        state = KNOWN if needed else EXACT
        if not needed and (rank < n or self.batches > 1 or self.shuffle):
            state = PARTLY
        ratio = known_data_ratio(needed, self.rows, n)
        return Line(told, state, says, source, needed, ratio, stops)

    def _weights(self) -> Line:
        """Plain z at prediction: one equation in the weights per answered record."""
        n = self.partner
        told = "the partner's weights, and then one equation per predicted record"
        source = "Li et al., section 4.1 (z_test = X_test W)"
        if not self.queries:
            return Line(told, OPEN, "no plain z at prediction", source)
        return Line(
            told, COSTS,
            f"{n} made-up records (one more where there is an intercept) or {n} known rows",
            source, stops=("return scores only, from the coordinator", "limit queries", "refuse made-up records"),
        )  # fmt: skip

    def _colluding(self) -> Line:
        """Count the arbiter's equations: every gradient g = X^T d + alpha W is linear in X and W_0.

        The arbiter knows all steps of the weights, so a column has N values and one first
        weight. The paper's difference of two gradients of one batch is the same system.
        Shuffling changes nothing in this count.
        """
        told = "all values of every passive party, if the arbiter joins the asking party"
        source = "Li et al., section 4.1, multi-party"
        if self.masked:
            return Line(told, OPEN, "masked gradients: the arbiter decrypts noise", source)
        steps, needed = self.epochs * self.batches, self.rows + 1
        state = EXACT if steps >= needed else OPEN
        says = f"{steps} steps, {needed} are needed"
        return Line(told, state, says, source, stops=("mask the gradients (mask_gradients)",))

    def _engines(self) -> list[Line]:
        """Name what other engines' own checks allow."""
        found = []
        n, m = self.partner, self.batch
        if m > n and self.epochs < n * m / (m - n) and self.epochs > 1:
            rank = min(self.epochs, n)
            found.append(
                Line(
                    "SecretFlow's bound on epochs", LENIENT,
                    f"it allows up to {n * m / (m - n):.1f} epochs here, and {self.epochs} of them span "
                    f"{rank} of {n} dimensions; on 569 records, 20 columns and batches of 32 it allowed "
                    "53.3, and 31 passes with 30 known records gave R2 0.996 of the rest",
                    "epochs < F B / (B - F), FlLogisticRegressionVertical 1.14",
                    stops=(f"stop well before {n} epochs",),
                )
            )  # fmt: skip
        if m >= FATE_SMALLEST and self.optimiser == "sgd":
            found.append(
                Line(
                    "FATE's smallest batch", LENIENT,
                    f"it asks for {FATE_SMALLEST} records, whatever the columns: batches of 10 gave z to "
                    "4.5e-7 with 11 columns, and a full batch of 200 to 1.8e-7 with 200 padding columns",
                    "coordinated LR and linear regression 2.2, component's batch size",
                    stops=(LARGER,),
                )
            )  # fmt: skip
        return found
