"""Algorithm 1 record by record, in plain Python on a full binary tree: slow, to check the fast one."""

from __future__ import annotations

from collections import deque

from whatleaks.models.tree import Tree


def full_indices(tree: Tree) -> dict[int, int]:
    """Map indices of the full binary tree (children of i: 2i+1 and 2i+2) to our node numbers."""
    found, queue = {0: 0}, deque([0])
    while queue:
        i = queue.popleft()
        node = found[i]
        if tree.feature[node] >= 0:
            found[2 * i + 1], found[2 * i + 2] = int(tree.left[node]), int(tree.right[node])
            queue.extend((2 * i + 1, 2 * i + 2))
    return found


def beta_of(tree: Tree, own, nodes: dict[int, int] | None = None) -> dict[int, int]:
    """Lines 1 to 14 for one record: full index to indicator."""
    nodes = nodes if nodes is not None else full_indices(tree)
    beta, queue = dict.fromkeys(nodes, 0), deque([0])
    beta[0] = 1
    while queue:
        i = queue.popleft()
        node = nodes[i]
        feature = tree.feature[node]
        if feature < 0:
            continue
        if feature < tree.active_columns:
            if own[feature] <= tree.threshold[node]:
                beta[2 * i + 1], beta[2 * i + 2] = beta[i], 0
            else:
                beta[2 * i + 1], beta[2 * i + 2] = 0, beta[i]
        else:
            beta[2 * i + 1] = beta[2 * i + 2] = beta[i]
        queue.extend((2 * i + 1, 2 * i + 2))
    return beta


def alpha_of(tree: Tree, label: int, nodes: dict[int, int] | None = None) -> dict[int, int]:
    """Line 15: one at the leaves with this label."""
    nodes = nodes if nodes is not None else full_indices(tree)
    return {
        i: int(tree.feature[node] < 0 and int(tree.value[node].argmax()) == label)
        for i, node in nodes.items()
    }


def paths_of(tree: Tree, own, label: int, nodes: dict[int, int] | None = None) -> set[int]:
    """Lines 16 to 18: the full indices of the leaves that remain."""
    nodes = nodes if nodes is not None else full_indices(tree)
    beta, alpha = beta_of(tree, own, nodes), alpha_of(tree, label, nodes)
    return {i for i in nodes if alpha[i] * beta[i] == 1}


def bounds_of(tree: Tree, leaf: int, unknown: int) -> list[tuple[float, float]]:
    """Walk up from a full index and narrow the passive columns' public range 0 to 1."""
    nodes = full_indices(tree)
    bounds = [(0.0, 1.0)] * unknown
    while leaf > 0:
        parent = (leaf - 1) // 2
        node = nodes[parent]
        j = int(tree.feature[node]) - tree.active_columns
        if j >= 0:
            low, high = bounds[j]
            t = float(tree.threshold[node])
            bounds[j] = (low, min(high, t)) if leaf == 2 * parent + 1 else (max(low, t), high)
        leaf = parent
    return bounds
