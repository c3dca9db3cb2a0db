"""What a protocol's own messages determine, counted at some sizes: no data, no training.

Each function is a protocol, its arguments are the sizes and its lines the counts. Columns are in
general position: none is a mixture of others. A count says nothing of digits: an audit does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, NoReturn

from whatleaks.errors import UsageError, argument, nearest, positive, whole
from whatleaks.models.bits_rule import ROOM, simple_rule
from whatleaks.models.degrees_of_freedom import degrees_of_freedom, horizontal_freedom
from whatleaks.models.grids import Grid, Grids, free
from whatleaks.models.precision import Precision, decimals
from whatleaks.models.threshold_queries import queries_per_node

EXACT = "exact"  # as many independent equations as unknowns, with nothing known
PADDED = "exact after padding"  # random columns in the asker's own table supply the rest
KNOWN = "needs known values"  # so many values of the partner's own table decide the rest
PARTLY = "in part"  # some of it follows, or several tables fit
OPEN = "not determined"  # fewer equations than unknowns, whatever is computed
ASIDE = "theorem does not apply"  # says nothing about other ways
COSTS = "costs queries"  # follows from answers that somebody has to give

DOUBLES = 17  # digits of a score that is not rounded
ARBITER_FREE = "train without an arbiter: no party sees its gradient in plain"
LARGER = "take a batch larger than a party's columns; the arbiter refuses longer gradients"
SHUFFLED = "shuffle the batches in every epoch"


@dataclass
class Line:
    """``has`` of the ``needs`` that determine ``what``; ``known``: values to know first."""

    what: str
    has: int
    needs: int
    unit: str
    source: str
    ends: Sequence[str] = ()
    known: int = 0
    so: str = ""

    def __post_init__(self) -> None:
        """Conclude from the counts."""
        by_counts = EXACT if self.has >= self.needs else OPEN
        self.so = self.so or (KNOWN if self.known else by_counts)


def refuse(name: str, says: str) -> NoReturn:
    """Refuse an argument in one line."""
    raise UsageError(f"{argument(name)} {says}")


def regression(
    own: int,
    partner: int,
    batch: int,
    epochs: int = 20,
    records: int = 0,
    known: int = 0,
    parties: int = 1,
    optimiser: str = "sgd",
    shuffle: bool = False,
    masked: bool = False,
    queries: bool = True,
) -> Iterator[Line]:
    """Count what encrypted regression tells the holder of ``own`` columns (Li et al., section 4)."""
    rows, n = records or batch, partner
    if rows < batch:
        refuse("records", f"{rows} is less than one batch of {batch}: give all of them, or none")
    if parties > n:
        refuse("parties", f"{parties} is more than the {n} columns that they share")
    if optimiser not in ("sgd", "adam"):
        refuse("optimiser", f"{optimiser!r} is unknown: use sgd or adam")
    batches, adam = -(-rows // batch), optimiser == "adam"
    whose = "the sum of the passive parties' z" if parties > 1 else "the partner's z"
    told = f"{whose} of every record in every epoch"
    yield _gradient(told, own, batch, adam, "section 4.1 (Eq 1)")
    if not adam:
        yield from _gram(n, rows, batches, epochs, shuffle, queries)
        # z of e passes spans min(e, n) dimensions, and known records place the others in them.
        rank, told = min(epochs, n), f"every column of the partner, from z over {epochs} passes"
        needed = max(0, rank - known) * n
        moving = rank < n or batches > 1 or shuffle  # weights move between batches
        so = KNOWN if needed else PARTLY if moving else EXACT
        source = "z = X_A W over passes: least squares on its left singular vectors"
        ends = [ARBITER_FREE, "fewer epochs: each shows one dimension more", SHUFFLED]
        yield Line(told, rank, n, "dimensions, a known record each", source, ends, needed, so)
    told = "your label, read by the passive party from its own gradient"
    source = "section 4.1 (Eq 1), the other way round"
    yield _gradient(told, n // parties, batch, adam, source)
    told = "the partner's weights, and then one equation per predicted record"
    unit, source = "known or made-up records", "Li et al., section 4.1 (z_test = X_test W)"
    ends = ["return scores only", "limit queries", "refuse made-up records"]
    yield Line(told, 0, n, unit, source, ends, so=COSTS if queries else OPEN)
    # g = X^T d + alpha W is linear in X and W_0: a column has N values and one first weight.
    told = "all values of every passive party, if the arbiter joins the asking party"
    read, source = 0 if masked else epochs * batches, "Li et al., section 4.1, multi-party"
    ends = ["mask the gradients (mask_gradients)"]
    yield Line(told, read, rows + 1, "gradients that the arbiter reads", source, ends)


def _gradient(what: str, columns: int, batch: int, adam: bool, source: str) -> Line:
    """Count g = X^T d + alpha W: an equation a column; one more says which gradient adam had."""
    padded = columns < batch + adam
    shorter = f"let the arbiter refuse gradients longer than {columns}"
    source = f"Li et al., {source}{', behind a step of adam' * adam}"
    ends, so = (ARBITER_FREE, shorter if padded else LARGER), PADDED if padded else EXACT
    return Line(what, columns, batch + adam, "columns, an equation each", source, ends, so=so)


def _gram(n: int, rows: int, c: int, epochs: int, shuffle: bool, queries: bool) -> Iterator[Line]:
    """Count what the quadratic equations leave open, if enough epochs determine them.

    One batch: n independent residuals, so n + 1 epochs. Batches in turn: with c batches the
    c e - 1 steps must fix 2 n c unknowns but for the n that one S leaves open.
    """
    least = max(n + 1, -(-(2 * n * c - n + 1) // c)) if c > 1 else n + 1
    told, unit = "the Gram matrix of the partner's columns", "epochs of the same batches"
    source, ends = "Li et al., Eq 3 (sign corrected)", [SHUFFLED, f"stop after {least - 1} epochs"]
    if shuffle:
        yield Line(told, 0, least, unit, source, so=ASIDE)
    else:
        yield Line(told, epochs, least, unit, source, ends)
    if epochs >= least and not shuffle:
        left, values = degrees_of_freedom(rows, n, queries), rows * n
        mirror = not left and (n == 2 or not queries)
        told = f"all {rows} x {n} values of the partner{', or their mirror image' * mirror}"
        ends += ["return scores only: it is Theorem 1 then"] * queries
        source = f"Li et al., Theorem {1 + queries}"
        yield Line(told, values - left, values, "values", source, ends, left)


def horizontal(partner: int, records: int, epochs: int = 20, parties: int = 2) -> Iterator[Line]:
    """Count what a client reads in regression with averaged weights (Li et al., section 4.2)."""
    n, two = partner, whole("parties", parties, 2) == 2
    values = whole("records", records, 1) * n
    told = "the other client's gradient in every round" if two else "one client's gradient"
    ends = ["three clients or more", "noise on the averaged weights"] if two else []
    yield Line(told, 1, parties - 1, "averages, of other clients", "Li et al., Eq 5", ends)
    if two:
        told, ends = "the Gram matrix X^T X of its columns", [f"stop before {n + 2} rounds"]
        yield Line(told, epochs, n + 2, "rounds", "Li et al., Eq 7", ends)
    if two and epochs >= n + 2:
        left, source = horizontal_freedom(records, n), "Li et al., section 6.2 (KDR_h)"
        told = f"all {records} x {n} values"
        yield Line(told, values - left, values, "values", source, known=left)


def boost(
    trees: int = 5,
    depth: int = 3,
    nodes: int = 0,
    per_query: int = 401,
    width: float = 1.0,
    epsilon: float = 1e-6,
) -> Iterator[Line]:
    """Count the partner's nodes in SecureBoost, and the queries that their thresholds cost."""
    most = trees * (int(2**depth) - 1)
    if nodes > most:
        refuse("nodes", f"{nodes} is more than the {most} that {trees} trees of depth {depth} have")
    each = queries_per_node(width, epsilon, per_query)
    count, at_most = nodes or most, "" if nodes else "at most "
    told, source = "which records lie left of each of the partner's nodes", "Li et al., section 2.3"
    yield Line(told, count, count, "nodes", source, ["fewer or shallower trees"])
    told = f"the thresholds of {at_most}{count} nodes, each within {epsilon:g}"
    unit = f"queries of {per_query} made-up records"
    source = "Li et al., section 5.2: n_v ceil(log_{m-1}((UB - LB) / eps))"
    ends = ["refuse records that the partner has not enrolled", "limit queries"]
    yield Line(told, 0, count * each, unit, source, ends, so=COSTS)


def scores(
    partner: int, classes: int, levels: tuple[int, ...] = (), digits: int = DOUBLES
) -> Iterator[Line]:
    """Apply equality solving's threshold, and the bits rule to columns of few values.

    ``levels``: how many values each of the partner's columns takes, 0 where it is free.
    """
    n, equations, rounded = partner, classes - 1, digits < DOUBLES
    if levels and (len(levels) != n or 1 in levels):
        refuse("levels", f"takes {n} numbers, one a column: 2 or more values, or 0 for a free one")
    told = f"{n} columns of every scored record, with scores in full precision"
    source = "Luo et al., section IV-A (Eqs 3-8): d <= c - 1"
    given, short = (0, 0) if rounded else (equations, max(0, n - equations))
    ends = ["round scores", "release the class only"]
    yield Line(told, given, n, "equations", source, [*ends, "bring more columns"], short)
    few = sum(level > 0 for level in levels)
    if few:
        grids = Grids(tuple(Grid(levels=one) if one else free() for one in levels))
        precision = decimals(digits) if rounded else Precision()
        released, hidden = simple_rule(classes, precision, grids)
        if n - few >= equations:  # free columns take every equation
            released = 0.0
        so = EXACT if released > hidden + ROOM else PARTLY if released > hidden else OPEN
        told = f"the {few} columns of few values, from one record's scores"
        source = "the bits rule (docs/attacks/lattice-decoding.md)"
        yield Line(told, round(released), round(hidden), "bits", source, ends, so=so)


# Linear and logistic regression differ by the slope of their residual alone.
PROTOCOLS: Mapping[str, Callable[..., Iterator[Line]]] = {
    "linear": regression,
    "logistic": regression,
    "horizontal": horizontal,
    "boost": boost,
    "scores": scores,
}
LEAST = {"records": 0, "known": 0, "nodes": 0, "classes": 2, "per_query": 3}  # 1 of all others


def precheck(protocol: str, **setting: Any) -> list[Line]:
    """Return what ``protocol`` gives away at this setting; sizes that it does not have are refused."""
    if protocol not in PROTOCOLS:
        one_of = f"use one of {', '.join(PROTOCOLS)}.{nearest(str(protocol), PROTOCOLS)}"
        raise UsageError(f"protocol {protocol!r} is unknown: {one_of}")
    counted = PROTOCOLS[protocol]
    known = signature(counted).parameters
    for name in setting:
        if name not in known:
            takes = ", ".join(argument(n) for n in known)
            refuse(name, f"says nothing about {protocol}: leave it out (it takes {takes})")
    lacking = [
        argument(n) for n in known if known[n].default is known[n].empty and n not in setting
    ]
    if lacking:
        raise UsageError(f"{protocol} needs {' and '.join(lacking)}: give a number")
    given = {n: _checked(n, known[n].annotation, value) for n, value in setting.items()}
    return list(counted(**given))


def _checked(name: str, kind: str, value: Any) -> Any:
    """Refuse what is no value of an argument's kind."""
    if kind == "int":
        return whole(name, value, LEAST.get(name, 1))
    if kind == "float":
        return positive(name, value)
    if kind == "bool" and not isinstance(value, bool):
        refuse(name, f"must be True or False, got {value!r}")
    if not kind.startswith("tuple"):
        return value
    if not isinstance(value, list | tuple):
        refuse(name, f"must be a list of whole numbers, got {value!r}")
    return tuple(whole(name, one, 0) for one in value)
