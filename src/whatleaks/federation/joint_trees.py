"""Joint trees: a decision tree or a random forest over two parties' columns (U section VI-A).

Training is centralised, as in the paper: it stands for a secure protocol that discloses the
final model and nothing else, so no training message is recorded.

Prediction runs through the parties. Each inner node belongs to the party whose column it
tests, and only that party answers the test. The active party asks for records by number, the
coordinator passes the numbers on, and each party answers all its nodes for all these records
in one message per tree: so neither party learns which way a record went at the other's nodes,
and no message's presence or size depends on anybody's values. The coordinator walks the
records down and releases the class (a score of one) or the vote fractions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from whatleaks.arrays import Bools, Floats, Ints, sealed
from whatleaks.defenses.protocol import ReleaseDefense
from whatleaks.errors import UsageError
from whatleaks.models.forest import Forest, forest_from_sklearn
from whatleaks.models.tree import Tree, tree_from_sklearn
from whatleaks.seeds import Streams
from whatleaks.wire.channel import Channel

ACTIVE, PASSIVE, COORDINATOR = "active", "passive", "coordinator"


@dataclass(frozen=True)
class TreeSettings:
    """What to grow: U VI-A has one tree of depth 5, or 100 trees of depth 3.

    The paper names no other limit and none is set here. The authors' published program also
    asks for 5 records in a leaf and a gain of 1e-5 (``smallest_leaf``, ``least_gain``).
    """

    kind: Literal["tree", "forest"] = "tree"
    depth: int = 5
    trees: int = 1
    smallest_leaf: int = 1
    least_gain: float = 0.0

    def __post_init__(self) -> None:
        """Refuse settings that grow nothing."""
        if self.kind not in ("tree", "forest"):
            raise UsageError(f"a joint model of kind {self.kind!r} is unknown: use tree or forest")
        for name in ("depth", "trees", "smallest_leaf"):
            if getattr(self, name) < 1:
                raise UsageError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.least_gain < 0:
            raise UsageError(f"least_gain must not be negative, got {self.least_gain}")
        if self.kind == "tree" and self.trees != 1:
            raise UsageError(f"kind 'tree' is one tree, got trees={self.trees}: use kind 'forest'")


TREE = TreeSettings()
FOREST = TreeSettings("forest", depth=3, trees=100)


class NodeOwner:
    """A party with columns: it answers the tests of its own nodes and shares no value."""

    def __init__(self, name: str, features: Floats, first: int) -> None:
        self.name = name
        self._columns = sealed(features.T)
        self._first = first  # the joined number of its first column

    def answer(self, rows: Ints, tree: Tree, nodes: Ints) -> Floats:
        """Return records x nodes: one where the record goes left, zero where it goes right."""
        column = tree.feature[nodes] - self._first
        values = self._columns[np.ix_(column, rows)]
        return sealed((values <= tree.threshold[nodes][:, None]).T)


class JointTrees:
    """Two node owners and a coordinator on one channel."""

    def __init__(
        self,
        active: Floats,
        passive: Floats,
        labels: Ints,
        classes: int,
        settings: TreeSettings,
        streams: Streams,
        channel: Channel,
        defenses: Sequence[ReleaseDefense] = (),
    ) -> None:
        if classes < 2:
            raise UsageError(f"a federation needs at least 2 classes to predict, got {classes}")
        for name, table in ((ACTIVE, active), (PASSIVE, passive)):
            if not np.isfinite(table).all():
                raise UsageError(f"the {name} party's columns hold a value that is not finite")
        self._active, self._passive, self._labels = active, passive, labels
        self._classes = classes
        self._settings = settings
        self._streams = streams
        self._channel = channel
        self._defenses = defenses
        self._rng = streams.rng("release")
        self._owners = (
            NodeOwner(ACTIVE, active, 0),
            NodeOwner(PASSIVE, passive, active.shape[1]),
        )
        self._model: Tree | Forest | None = None

    def train(self, rows: Ints) -> None:
        """Grow the model on ``rows`` with scikit-learn's learners.

        A constant column is never tested and a class that no leaf prefers is never
        predicted; both are allowed. Records of one class only are refused.
        """
        seen = np.unique(self._labels[rows])
        if len(seen) < 2:
            raise UsageError(
                f"the training records are all of class {seen[0] if len(seen) else '(none)'}: "
                "a tree needs at least 2 classes to learn from"
            )
        x = np.concatenate([self._active[rows], self._passive[rows]], axis=1)
        y, own = self._labels[rows], self._active.shape[1]
        seed = int(self._streams.rng("trees").integers(2**31))
        limits = {
            "max_depth": self._settings.depth,
            "min_samples_leaf": self._settings.smallest_leaf,
            "min_impurity_decrease": self._settings.least_gain,
            "random_state": seed,
        }
        if self._settings.kind == "tree":
            from sklearn.tree import DecisionTreeClassifier

            tree = DecisionTreeClassifier(**limits)
            tree.fit(x, y)
            self.install(tree_from_sklearn(tree, own, self._classes, tree.classes_))
        else:
            from sklearn.ensemble import RandomForestClassifier

            forest = RandomForestClassifier(self._settings.trees, **limits)
            self.install(forest_from_sklearn(forest.fit(x, y), own, self._classes))

    def install(self, model: Tree | Forest) -> None:
        """Put a trained model in place; one that breaks the declared limits is refused."""
        trees = trees_of(model)
        if isinstance(model, Forest) != (self._settings.kind == "forest"):
            raise UsageError(f"this federation was declared as a {self._settings.kind}")
        if model.depth > self._settings.depth:
            raise UsageError(
                f"the model is {model.depth} tests deep, the declared limit is "
                f"{self._settings.depth}: declare depth={model.depth} or grow less deep"
            )
        columns = self._active.shape[1] + self._passive.shape[1]
        if model.active_columns != self._active.shape[1] or any(
            tree.feature.max() >= columns for tree in trees
        ):
            raise UsageError("the model was grown on other columns than these parties hold")
        if model.classes != self._classes:
            raise UsageError(f"the model has {model.classes} classes, the labels {self._classes}")
        self._model = model

    def predict(self, rows: Ints, channel: Channel | None = None) -> Floats:
        """Send the active party the release for ``rows`` and return it as the party holds it."""
        channel = channel if channel is not None else self._channel
        model = self.model()
        asked = channel.send_plain(0, ACTIVE, COORDINATOR, "records", rows)
        passed = channel.send_plain(0, COORDINATOR, PASSIVE, "records", asked)
        known = {ACTIVE: rows, PASSIVE: passed.astype(np.int64)}
        votes = (
            self._classes_of(tree, known, channel, step)
            for step, tree in enumerate(trees_of(model))
        )
        if isinstance(model, Forest):
            scores = model.share(len(rows), votes)
        else:
            scores = np.eye(self._classes)[next(votes)]  # U II-A: one for the class, else zero
        for defense in self._defenses:
            scores = defense.release(scores, self._rng)
        return channel.send_plain(0, COORDINATOR, ACTIVE, "scores", scores)

    def with_defenses(self, defenses: Sequence[ReleaseDefense]) -> None:
        """Put other release defenses in place; the trained model stays."""
        self._defenses = defenses

    def model(self) -> Tree | Forest:
        """Return the joint model. Only the evaluator and the grants room may call this."""
        if self._model is None:
            raise UsageError("the joint trees are not trained yet")
        return self._model

    def _classes_of(self, tree: Tree, rows: dict[str, Ints], channel: Channel, step: int) -> Ints:
        """Gather both parties' answers for one tree and walk every record to its class."""
        records = len(rows[ACTIVE])
        left: Bools = np.zeros((records, tree.nodes), dtype=np.bool_)
        for owner, theirs in zip(self._owners, (tree.active, tree.passive), strict=True):
            nodes = np.flatnonzero(theirs)
            bits = channel.send_plain(
                step, owner.name, COORDINATOR, "tests", owner.answer(rows[owner.name], tree, nodes)
            )
            left[:, nodes] = bits > 0.5
        leaf = tree.walk(records, lambda going, node: np.asarray(left[going, node]))
        return np.asarray(tree.labels[leaf])


def trees_of(model: Tree | Forest) -> tuple[Tree, ...]:
    """Return the trees of a model: a tree is a forest of itself."""
    return model.trees if isinstance(model, Forest) else (model,)
