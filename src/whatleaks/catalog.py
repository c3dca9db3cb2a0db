"""The catalog: attacks, hijacks, baselines, defenses, detectors, federations and threats by name.

A card sits on its class, put there by a decorator. The package's own parts are found by
walking their rooms, those of others by entry points (``whatleaks.attacks``, ``.defenses``,
``.detectors``, ``.federations``, ``.threats``: each names a module) or by ``load_plugin``.
Importing the module is all that it takes: nothing else has to be told about a new part.
"""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import inspect
import os
import pkgutil
import re
import sys
from collections import ChainMap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cached_property
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, TypeVar, get_type_hints

from whatleaks.errors import UsageError, nearest
from whatleaks.extras import absent

KINDS = ("attack", "hijack", "baseline", "defense", "detector", "federation", "threat")
_ROOMS = {  # where the package's own parts of each kind live
    "attacks": ("attack", "hijack", "baseline"),
    "defenses": ("defense",),
    "detectors": ("detector",),
    "federation": ("federation",),
    "threat": ("threat",),
}
FROM_FILE = "_whatleaks_file_"  # modules of plugin files are named so, with the file's name
PLUGINS = "WHATLEAKS_PLUGINS"  # files that workers load too, separated like PATH
_ENTRY_POINTS = ("attacks", "defenses", "detectors", "federations", "threats")

T = TypeVar("T")


@dataclass(frozen=True)
class Card:
    """How a part is listed and built. ``settings`` are what this name sets on its class.

    ``again``: an attack that is tried again under every defense; off for slow ones that a
    sibling with the same view does better. ``obeys``: a programme for the active party that
    answers as an honest one would. ``family``: other settings of a defense are asked
    for as FAMILY-VALUE.
    """

    kind: str
    name: str
    title: str
    paper: str
    part: Any
    needs: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    again: bool = True
    obeys: bool = False
    family: tuple[str, str] | None = None
    handed: bool = False  # somebody handed the part over with settings of its own: they stand
    home: str = ""  # the module that entered it, where the part itself does not say

    def build(self, **settings: Any) -> Any:
        """Make the part with its card's settings; a setting that it does not have is refused."""
        known = {f.name for f in fields(self.part)} if is_dataclass(self.part) else set(settings)
        for key in settings:
            if key not in known:
                raise UsageError(f"{self.name} has no setting {key!r}.{nearest(key, known)}")
        return self.part(**{**self.settings, **settings})

    def takes(self, setting: str) -> bool:
        """Say whether the part has a setting of this name."""
        return any(f.name == setting for f in fields(self.part))

    @cached_property
    def extra(self) -> str:
        """The extra of the package that the part cannot do without; empty: none."""
        found = getattr(self.part, "extra", "")
        return str(getattr(self.build(), "extra", "") if isinstance(found, property) else found)

    @property
    def here(self) -> bool:
        """Whether that is installed."""
        return not absent(self.extra)

    @property
    def module(self) -> str:
        """The module that holds the part: its sources stand behind every result."""
        return self.home or str(self.part.__module__)

    @cached_property
    def view(self) -> type[Any]:
        """The view that an attack or baseline takes: what it may be let loose on."""
        return view_of(self.part)


_CARDS: dict[str, dict[str, Card]] = {kind: {} for kind in KINDS}
_found = False


def register(card: Card) -> None:
    """Enter a card; a second part under the same name is refused."""
    held = _CARDS[card.kind].get(card.name)
    if held is not None and (held.module, _called(held.part)) != (card.module, _called(card.part)):
        raise UsageError(
            f"two parts are named {card.name!r}: in {held.module} and in {card.module}"
        )
    _CARDS[card.kind][card.name] = card


def _called(part: Any) -> str:
    return str(getattr(part, "__qualname__", getattr(part, "name", part)))


def _decorator(kind: str, name: str, **card: Any) -> Callable[[type[T]], type[T]]:
    def put(part: type[T]) -> type[T]:
        register(Card(kind, name, part=part, **card))
        return part

    return put


def attack(
    name: str,
    *,
    title: str,
    paper: str,
    needs: str,
    settings: Mapping[str, Any] | None = None,
    again: bool = True,
) -> Callable[[type[T]], type[T]]:
    """Enter an attack: a frozen dataclass with ``name`` and ``infer(view, rng) -> Guess``.

    The type of ``view`` says under which threats it runs. Put the decorator twice on a class
    that has two names, each with its settings.
    """
    return _decorator(
        "attack", name, title=title, paper=paper, needs=needs, settings=settings or {}, again=again
    )


def baseline(
    name: str,
    *,
    title: str,
    paper: str = "",
    needs: str = "nothing",
    settings: Mapping[str, Any] | None = None,
) -> Callable[[type[T]], type[T]]:
    """Enter a baseline: like an attack, run beside every attack whose view shows what it takes."""
    return _decorator(
        "baseline", name, title=title, paper=paper, needs=needs, settings=settings or {}
    )


def hijack(
    name: str, *, title: str, paper: str, needs: str, obeys: bool = False, again: bool = True
) -> Callable[[type[T]], type[T]]:
    """Enter a hijack: another programme for the active party (``federation.roles.Hijacker``).

    ``obeys``: it only watches, and all its answers are honest.
    """
    return _decorator(
        "hijack", name, title=title, paper=paper, needs=needs, obeys=obeys, again=again
    )


def defense(
    name: str,
    *,
    title: str,
    paper: str,
    needs: str,
    settings: Mapping[str, Any] | None = None,
    family: tuple[str, str] | None = None,
) -> Callable[[type[T]], type[T]]:
    """Enter a defense: a frozen dataclass that derives from a socket of ``defenses.protocol``.

    ``family=("rounding", "digits")`` lets ``rounding-2`` mean ``digits=2``.
    """
    return _decorator(
        "defense",
        name,
        title=title,
        paper=paper,
        needs=needs,
        settings=settings or {},
        family=family,
    )


def detector(name: str, *, title: str, paper: str) -> Callable[[type[T]], type[T]]:
    """Enter a detector: a frozen dataclass with ``grants`` and ``start() -> Watch``."""
    return _decorator("detector", name, title=title, paper=paper)


def federation(name: str, *, title: str, paper: str) -> Callable[[type[T]], type[T]]:
    """Enter a federation: a class that derives from ``federation.protocol.Federation``."""
    return _decorator("federation", name, title=title, paper=paper)


def threat(model: T) -> T:
    """Enter a threat model under its own name and return it."""
    name = str(getattr(model, "name", ""))
    home = str(sys._getframe(1).f_globals["__name__"])  # a threat is a record: it has no module
    register(Card("threat", name, repr(model), "", model, home=home))
    return model


def cards(kind: str) -> tuple[Card, ...]:
    """Return all cards of a kind, by name; threats and federations in the order of their files."""
    _find()
    found = tuple(_CARDS[kind].values())
    ordered = kind in ("threat", "federation")
    return in_order(found) if ordered else tuple(sorted(found, key=lambda one: one.name))


def in_order(found: Iterable[Card]) -> tuple[Card, ...]:
    """Sort by file, and those of a file as they stand there: whatever was imported first.

    Threats that know people come after those that do not, parts of others after the package's own.
    """

    def place(one: Card) -> tuple[bool, bool, str]:
        own = one.module.startswith(f"{__name__.partition('.')[0]}.")
        return not own, bool(getattr(one.part, "knows_people", False)), one.module

    return tuple(sorted(found, key=place))


def card(kind: str, name: str) -> Card:
    """Return one card; an unknown name is refused with the nearest one."""
    _find()
    found = _CARDS[kind].get(name)
    if found is None and kind == "defense":
        found = _family_member(name)
    if found is None:
        known = nearest(name, _CARDS[kind])
        raise UsageError(f"unknown {kind} {name!r}.{known} `whatleaks {_listing(kind)}` lists them")
    return found


def _listing(kind: str) -> str:
    """Name the command that lists a kind."""
    return "attacks" if kind in _ROOMS["attacks"] else f"{kind}s"


def guesser(name: str) -> Card:
    """Return the card of an attack, a hijack or a baseline: whatever guesses."""
    known = guessers()
    if name in known:
        return known[name]
    raise UsageError(
        f"unknown attack {name!r}.{nearest(name, list(known))} `whatleaks attacks` lists them"
    )


def guessers() -> Mapping[str, Card]:
    """Return the cards of all attacks, hijacks and baselines by their names."""
    _find()
    return ChainMap(*(_CARDS[kind] for kind in ("attack", "hijack", "baseline")))


def view_of(part: Any) -> type[Any]:
    """Return the type of the view that ``infer`` takes."""
    infer = inspect.getattr_static(part, "infer")
    names = list(inspect.signature(infer).parameters)
    try:
        found = get_type_hints(infer)[names[1]]
    except (IndexError, KeyError, NameError) as error:
        raise UsageError(
            f"{_called(part)}.infer must name the type of its view: infer(self, view: SomeView, rng)"
        ) from error
    if not isinstance(found, type):
        raise UsageError(f"{_called(part)}.infer takes {found}: one class of views is needed")
    return found


@contextmanager
def adopted(parts: Iterable[Any]) -> Iterator[tuple[str, ...]]:
    """Enter parts that somebody hands over for as long as the block lasts; yield their names."""
    _find()
    names, added = [], []
    try:
        for part in parts:
            kind, name = _kind_of(part), str(part.name)
            settings = {f.name: getattr(part, f.name) for f in fields(part) if f.init}
            held = _CARDS[kind].get(name)
            if held is None or held.part is not type(part) or held.build() != part:
                added.append((kind, name, held))
                like = held if held is not None and held.part is type(part) else None
                card = like or Card(kind, name, name, "", type(part))
                _CARDS[kind][name] = replace(card, settings=settings, handed=True)
            names.append(name)
        yield tuple(names)
    finally:
        for kind, name, before in reversed(added):
            if before is None:
                del _CARDS[kind][name]
            else:
                _CARDS[kind][name] = before


def fingerprint(names: Iterable[str]) -> str:
    """Hash parts that were handed over, with their settings: they belong to a result's name."""
    handed = [found for found in map(guesser, names) if found.handed]
    told = "\0".join(
        f"{one.module}.{_called(one.part)} {sorted(one.settings.items())!r}" for one in handed
    )
    return hashlib.sha256(told.encode()).hexdigest() if told else ""


def _kind_of(part: Any) -> str:
    """Tell what a part is by what it can do."""
    if not is_dataclass(part) or isinstance(part, type):
        raise UsageError(f"{part!r} must be an instance of a frozen dataclass with its settings")
    for kind, method in (
        ("attack", "infer"),
        ("hijack", "programme"),
        ("defense", "socket"),
        ("detector", "start"),
    ):
        if hasattr(part, method):
            return kind
    raise UsageError(f"{type(part).__name__} is neither an attack nor a defense nor a detector")


def load_plugin(path: Path) -> str:
    """Import a file of somebody's own; what it decorates is in the catalog then."""
    name = f"{FROM_FILE}{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None or not path.is_file():
        raise UsageError(f"{path} is no Python file that could be loaded")
    if name in sys.modules:
        held = str(sys.modules[name].__file__)
        if Path(held).resolve() != path.resolve():
            raise UsageError(f"two plugins are named {path.name}: {held} and {path}. Rename one")
        return name
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (ImportError, SyntaxError, TypeError, ValueError, AttributeError, NameError) as error:
        del sys.modules[name]
        raise UsageError(f"{path} cannot be loaded: {type(error).__name__}: {error}") from error
    return name


def _family_member(name: str) -> Card | None:
    """Make the card of ``rounding-2`` from a sibling's."""
    stem, _, value = name.rpartition("-")
    for found in _CARDS["defense"].values():
        if found.family is None or found.family[0] != stem:
            continue
        setting = found.family[1]
        kind: Any = type(next(f.default for f in fields(found.part) if f.name == setting))
        try:
            number = kind(value)
        except ValueError:
            raise UsageError(f"defense {name!r}: {value!r} is not a number") from None
        title = _title_with(stem, setting, number) or name
        return replace(found, name=name, title=title, settings={**found.settings, setting: number})
    return None


def _title_with(family: str, setting: str, number: float) -> str:
    """Return the title of a sibling with another number in it; nothing where none says its own."""
    siblings = [one for one in _CARDS["defense"].values() if one.family == (family, setting)]
    # The largest, so that its words are of several: "2 digits".
    sibling = max(siblings, key=lambda one: float(getattr(one.build(), setting)))
    own = f"{getattr(sibling.build(), setting):g}"
    parts = re.split(rf"(?<![\d.]){re.escape(own)}(?![\d.])", sibling.title)
    return f"{number:g}".join(parts) if len(parts) == 2 else ""


def _find() -> None:
    """Import everything that registers parts, once."""
    global _found
    if _found:
        return
    _found = True  # before the walk: what it imports may look something up
    for room in _ROOMS:
        package = importlib.import_module(f"whatleaks.{room}")
        for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
            # A federation's parts load when it runs: they may need extras.
            if room != "federation" or module.name.endswith(".run"):
                importlib.import_module(module.name)
    for group in _ENTRY_POINTS:
        for entry in entry_points(group=f"whatleaks.{group}"):
            try:
                entry.load()
            except (ImportError, AttributeError, SyntaxError, TypeError, NameError) as error:
                _found = False
                raise UsageError(
                    f"the plugin {entry.name} ({entry.value}) cannot be loaded: "
                    f"{type(error).__name__}: {error}"
                ) from error
    for path in filter(None, os.environ.get(PLUGINS, "").split(os.pathsep)):
        load_plugin(Path(path))
