"""The parties of joint trees, each as a programme of its own.

A node belongs to the party whose column it tests, and only that party answers the test. A
party answers all its nodes for all asked records in one message per tree: so neither party
learns which way a record went at another's nodes, and no message's presence or size depends
on anybody's values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, sealed
from whatleaks.defenses.protocol import OPEN, Guard
from whatleaks.errors import UsageError, WireError
from whatleaks.federation.schedule import whole_rows
from whatleaks.federation.trees.settings import TreeSettings
from whatleaks.models.forest import Forest, forest_from_sklearn
from whatleaks.models.tree import Tree, tree_from_sklearn
from whatleaks.wire.expected import ANY, Expected, Post, Programme, read_plain
from whatleaks.wire.message import Plain
from whatleaks.wire.parties import ACTIVE, COORDINATOR

PACE = 32  # trees that a party answers before the coordinator asks for more


def trees_of(model: Tree | Forest) -> tuple[Tree, ...]:
    """Return the trees of a model: a tree is a forest of itself."""
    return model.trees if isinstance(model, Forest) else (model,)


def grow(
    x: Floats,
    labels: Ints,
    classes: int,
    own: int,
    settings: TreeSettings,
    rng: np.random.Generator,
) -> Tree | Forest:
    """Grow a model with scikit-learn's learners; the first ``own`` columns are the active party's.

    A constant column is never tested and a class that no leaf prefers is never predicted;
    both are allowed. Records of one class only are refused.
    """
    if classes < 2:
        raise UsageError(f"a federation needs at least 2 classes to predict, got {classes}")
    seen = np.unique(labels)
    if len(seen) < 2:
        raise UsageError(
            f"the training records are all of class {seen[0] if len(seen) else '(none)'}: "
            "a tree needs at least 2 classes to learn from"
        )
    limits = {
        "max_depth": settings.depth,
        "min_samples_leaf": settings.smallest_leaf,
        "min_impurity_decrease": settings.least_gain,
        "random_state": int(rng.integers(2**31)),
    }
    if settings.kind == "tree":
        from sklearn.tree import DecisionTreeClassifier

        tree = DecisionTreeClassifier(**limits).fit(x, labels)
        return tree_from_sklearn(tree, own, classes, tree.classes_)
    from sklearn.ensemble import RandomForestClassifier

    forest = RandomForestClassifier(settings.trees, **limits)
    return forest_from_sklearn(forest.fit(x, labels), own, classes)


def check_model(
    model: Tree | Forest, settings: TreeSettings, own: int, columns: int, classes: int
) -> None:
    """Refuse a model that breaks the declared limits."""
    if isinstance(model, Forest) != (settings.kind == "forest"):
        raise UsageError(f"this federation was declared as a {settings.kind}")
    if model.depth > settings.depth:
        raise UsageError(
            f"the model is {model.depth} tests deep, the declared limit is "
            f"{settings.depth}: declare depth={model.depth} or grow less deep"
        )
    if model.active_columns != own or any(
        tree.feature.max() >= columns for tree in trees_of(model)
    ):
        raise UsageError("the model was grown on other columns than these parties hold")
    if model.classes != classes:
        raise UsageError(f"the model has {model.classes} classes, the labels {classes}")


def owned_nodes(tree: Tree, first: int, width: int) -> Ints:
    """Return the nodes that test one of the ``width`` joined columns from ``first`` on."""
    return np.flatnonzero((tree.feature >= first) & (tree.feature < first + width))


def disclosed(model: Tree | Forest, first: int, width: int) -> Floats:
    """Return what one party is told of the model: tree, own column, threshold of its nodes."""
    parts = []
    for number, tree in enumerate(trees_of(model)):
        nodes = owned_nodes(tree, first, width)
        tests = (np.full(len(nodes), number), tree.feature[nodes] - first, tree.threshold[nodes])
        parts.append(np.stack(tests, axis=1).astype(np.float64))
    return sealed(np.concatenate(parts))


class NodeOwner:
    """A party with columns: it answers the tests of its own nodes and shares no value.

    ``nodes`` are rows of tree, own column and threshold.
    """

    def __init__(self, name: str, nodes: Floats) -> None:
        self.name = name
        self.nodes = nodes

    def answer(self, x: Floats, trees: int, step: int, post: Post) -> Programme[None]:
        """Send, tree by tree, records x nodes: one where the record goes left, zero if right."""
        columns = np.ascontiguousarray(x.T)
        for tree in range(trees):
            if tree and tree % PACE == 0:
                yield Expected(step + tree, COORDINATOR, "go-on", (0,), True)
            mine = self.nodes[self.nodes[:, 0] == tree]
            left = columns[mine[:, 1].astype(np.int64)] <= mine[:, 2][:, None]
            post.send(step + tree, self.name, COORDINATOR, "tests", Plain(sealed(left.T)))

    def serve(self, x: Floats, trees: int, step: int, post: Post) -> Programme[None]:
        """Be a passive party: answer for the records that the coordinator names."""
        asked = read_plain((yield Expected(step, COORDINATOR, "records", (ANY,), True)))
        yield from self.answer(x[whole_rows(asked, len(x))], trees, step, post)

    def ask(
        self, x: Floats, rows: Ints, trees: int, classes: int, step: int, post: Post
    ) -> Programme[Floats]:
        """Be the active party: ask for records by number, answer too, return the votes."""
        post.send(step, ACTIVE, COORDINATOR, "records", Plain(sealed(rows)))
        yield from self.answer(x[rows], trees, step, post)
        shape = (len(rows), classes)
        return read_plain((yield Expected(step, COORDINATOR, "votes", shape, True)))


def contribute(
    name: str, x: Floats, labels: Ints | None, width: int, post: Post
) -> Programme[NodeOwner]:
    """Hand the training records to the trusted coordinator; become the owner of some nodes."""
    post.send(0, name, COORDINATOR, "columns", Plain(sealed(x)))
    if labels is not None:
        post.send(0, name, COORDINATOR, "labels", Plain(sealed(labels)))
    nodes = read_plain((yield Expected(0, COORDINATOR, "own-nodes", (ANY, 3), True)))
    if (nodes[:, 1] < 0).any() or (nodes[:, 1] >= width).any():
        raise WireError(f"the coordinator named a column that {name!r} does not have")
    return NodeOwner(name, nodes)


class TreeCoordinator:
    """The trusted third role: it grows the model, walks records down and releases the result.

    ``widths``: how many columns each data party has, the active one first.
    """

    def __init__(self, widths: Mapping[str, int], classes: int, settings: TreeSettings) -> None:
        self._widths = dict(widths)
        self._classes = classes
        self._settings = settings
        self._model: Tree | Forest | None = None

    @property
    def model(self) -> Tree | Forest:
        """The joint model. Only the evaluator and the grants room may ask for it."""
        if self._model is None:
            raise UsageError("the joint trees are not trained yet")
        return self._model

    def firsts(self) -> dict[str, int]:
        """Return the joined number of every party's first column."""
        ends = np.cumsum([0, *self._widths.values()])
        return {name: int(end) for name, end in zip(self._widths, ends[:-1], strict=True)}

    def install(self, model: Tree | Forest) -> None:
        """Put a trained model in place; one that breaks the declared limits is refused."""
        columns = sum(self._widths.values())
        check_model(model, self._settings, self._widths[ACTIVE], columns, self._classes)
        self._model = model

    def train(self, records: int, rng: np.random.Generator, post: Post) -> Programme[None]:
        """Grow on all columns; tell every party its nodes, as a secure protocol would."""
        tables = []
        for name, width in self._widths.items():
            payload = yield Expected(0, name, "columns", (records, width), True)
            tables.append(read_plain(payload))
        labels = read_plain((yield Expected(0, ACTIVE, "labels", (records,), True)))
        x = np.concatenate(tables, axis=1)
        own = self._widths[ACTIVE]
        self.install(grow(x, labels.astype(np.int64), self._classes, own, self._settings, rng))
        for name, first in self.firsts().items():
            nodes = Plain(disclosed(self.model, first, self._widths[name]))
            post.send(0, COORDINATOR, name, "own-nodes", nodes)

    def release(self, records: int, step: int, post: Post, guard: Guard = OPEN) -> Programme[None]:
        """Pass the asked numbers on, walk the records down, release the votes.

        A tree releases a score of one for its class (U II-A), a forest its vote fractions.
        """
        asked = yield Expected(step, ACTIVE, "records", (records,), True)
        for name in self._widths:
            if name != ACTIVE:
                post.send(step, COORDINATOR, name, "records", asked)
        trees = trees_of(self.model)
        votes = np.zeros((records, self._classes))
        for number, tree in enumerate(trees):
            if number and number % PACE == 0:
                for name in self._widths:
                    more = Plain(sealed([]))
                    post.send(step + number, COORDINATOR, name, "go-on", more)
            voted = yield from self._classes_of(tree, records, step + number)
            votes[np.arange(records), voted] += 1.0
        scores = guard.apply(votes / len(trees))
        post.send(step, COORDINATOR, ACTIVE, "votes", Plain(sealed(scores)))

    def _classes_of(self, tree: Tree, records: int, step: int) -> Programme[Ints]:
        """Gather all parties' answers for one tree and walk every record to its class."""
        left: Bools = np.zeros((records, tree.nodes), dtype=np.bool_)
        for name, first in self.firsts().items():
            nodes = owned_nodes(tree, first, self._widths[name])
            shape = (records, len(nodes))
            left[:, nodes] = read_plain((yield Expected(step, name, "tests", shape, True))) > 0.5
        leaf = tree.walk(records, lambda going, node: np.asarray(left[going, node]))
        return np.asarray(tree.labels[leaf])


def refuse_gaps(tables: Mapping[str, Floats]) -> None:
    """Refuse columns with a value that is not finite: a test could not be answered."""
    for name, table in tables.items():
        if not np.isfinite(table).all():
            raise UsageError(f"the {name} party's columns hold a value that is not finite")


def renumbered(model: Tree | Forest, order: Sequence[int], own: int) -> Tree | Forest:
    """Return the same model over columns in another order: ``order[j]`` is column j's new number."""
    if isinstance(model, Forest):
        return replace(model, trees=tuple(_renumbered(tree, order, own) for tree in model.trees))
    return _renumbered(model, order, own)


def _renumbered(tree: Tree, order: Sequence[int], own: int) -> Tree:
    places = np.array([*order, -1], dtype=np.int64)  # a leaf's -1 stays
    feature = places[tree.feature]
    feature.setflags(write=False)
    return Tree(feature, tree.threshold, tree.left, tree.right, tree.value, own)
