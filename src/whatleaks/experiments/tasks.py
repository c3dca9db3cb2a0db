"""Tasks: the functions that a spec can name, each with a version and its own checks.

A task is registered by ``@task``. Raise ``version`` whenever the code behind it changes
its numbers: results of the old version are then no longer found, and are run again.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from whatleaks.errors import GrantError, SpecError, nearest
from whatleaks.experiments.outcome import Outcome
from whatleaks.experiments.settings import Value
from whatleaks.experiments.spec import Spec
from whatleaks.seeds import Streams

if TYPE_CHECKING:
    from whatleaks.threat.grants import Grant
    from whatleaks.threat.model import ThreatModel

Run = Callable[[Spec, Streams], Outcome]
Check = Callable[[Spec], None]
Components = Callable[[Spec], Mapping[str, str | int]]

# Modules that register tasks when imported. A module of papers/ adds its name with `provide`.
_MODULES: list[str] = [
    "whatleaks.experiments.uniform_data",
    "whatleaks.experiments.score_attack",
    "whatleaks.experiments.encrypted_regression",
    "whatleaks.experiments.split_hijack",
    "whatleaks.experiments.worked_example",
    "whatleaks.experiments.tree_attack",
    "whatleaks.experiments.forest_attack",
    "whatleaks.experiments.feature_inference",
    "whatleaks.experiments.collaboration",
    "whatleaks.experiments.gated_release",
]
_TASKS: dict[str, Task] = {}


@dataclass(frozen=True)
class Task:
    """A registered task: how to run it and how to refuse what cannot be run."""

    name: str
    version: int
    module: str
    run: Run
    options: Mapping[str, Value]
    uses: frozenset[str]
    check: Check | None
    components: Components | None


@dataclass(frozen=True)
class Job:
    """One checked run, ready for a worker: all that another process needs, and its name."""

    spec: Spec
    versions: Mapping[str, str]
    module: str
    hash: str


def task(
    name: str,
    *,
    version: int,
    options: Mapping[str, Value] | None = None,
    uses: Iterable[str] = (),
    check: Check | None = None,
    components: Components | None = None,
) -> Callable[[Run], Run]:
    """Register a function ``(spec, streams) -> Outcome`` under ``name``.

    ``options``: the task's own settings with their defaults; others are refused, by name.
    ``uses``: the further spec fields that the task reads; setting another one is refused,
    because it would change nothing (seed, label and profile may always be set).
    ``check``: raises when this spec cannot run; called for all runs before the first starts.
    ``components``: versions of the data set, attack, ... that this spec uses.
    """

    def register(run: Run) -> Run:
        other = _TASKS.get(name)
        if other is not None and (other.module, other.run.__qualname__) != (
            run.__module__,
            run.__qualname__,
        ):
            raise ValueError(f"two tasks are named {name!r}: {other.module} and {run.__module__}")
        _TASKS[name] = Task(
            name,
            version,
            run.__module__,
            run,
            dict(options or {}),
            frozenset(uses),
            check,
            components,
        )
        return run

    return register


def provide(module: str) -> None:
    """Add a module whose import registers tasks; it is imported when a task is first looked up."""
    if module not in _MODULES:
        _MODULES.append(module)


def find(name: str) -> Task:
    """Return a task by name; an unknown one is refused with the nearest name."""
    if name not in _TASKS:
        for module in _MODULES:
            importlib.import_module(module)
    if name not in _TASKS:
        known = ", ".join(sorted(_TASKS))
        raise SpecError(f"unknown task {name!r}.{nearest(name, _TASKS)} Known: {known}.")
    return _TASKS[name]


def prepare(spec: Spec) -> Job:
    """Check one spec against its task, fill in the task's defaults and name its result."""
    found = find(spec.task)
    _refuse_unused(spec, found)
    spec = replace(spec, options=spec.options.filled(found.options, f"task {spec.task!r}"))
    if found.check is not None:
        found.check(spec)
    components: Mapping[str, Any] = found.components(spec) if found.components else {}
    versions = {f"task {found.name}": str(found.version)}
    versions.update({name: str(version) for name, version in components.items()})
    return Job(spec, versions, found.module, spec.hash(versions))


def require_grants(who: str, needs: Iterable[Grant], threat: ThreatModel[Any]) -> None:
    """Refuse an attack or detector whose threat model does not grant what it needs."""
    for grant in sorted(needs, key=lambda g: g.name):
        if grant not in threat.grants:
            raise GrantError(
                f"{who} needs {grant.value}, which threat {threat.name!r} does not grant"
            )


_ALWAYS = frozenset({"task", "seed", "options", "label", "profile"})


def _refuse_unused(spec: Spec, found: Task) -> None:
    blank = Spec(task=spec.task)
    for name in spec.to_dict():
        if name in _ALWAYS or name in found.uses:
            continue
        if getattr(spec, name) != getattr(blank, name):
            used = ", ".join(sorted(found.uses | {"seed", "options"}))
            raise SpecError(
                f"task {spec.task!r} does not use {name}: leave it out. It uses {used}."
            )
