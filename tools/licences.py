"""Write docs/licences.md: the licences of all that whatleaks installs, by extra.

What counts is what is installed here, with everything it needs in turn. Ends with 1 if something
is under the GPL, or if the page is another one (``--check``).

    python tools/licences.py [--check]
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = "whatleaks"
FOR_DEVELOPERS = "dev"  # not shipped
PAGE = Path(__file__).parent.parent / "docs" / "licences.md"
NOT_HERE = "not installed here"
BEFORE = """# Licences

whatleaks is under Apache-2.0. `pip install whatleaks` installs the packages of the first table, each extra those of its own table beside
them. By what they declare nothing is under the GPL. python-flint comes with FLINT, GMP and MPFR, which are under the LGPL: libraries of
their own files, that can be replaced. Read from the installed packages (Linux, CPython) and written by `make licences`.
"""


def licence_of(name: str) -> str:
    """Say what a package declares: an expression, else classifiers, else words or its file."""
    try:
        found = metadata.distribution(name)
    except metadata.PackageNotFoundError:
        return NOT_HERE
    if expression := found.metadata.get("License-Expression"):
        return str(expression)
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in found.metadata.get_all("Classifier") or []
        if line.startswith("License :: ") and line.rpartition(" :: ")[2] != "OSI Approved"
    ]
    if classifiers:
        return ", ".join(sorted(classifiers))
    words = str(found.metadata.get("License") or "").strip()
    if words and len(words) <= 60:
        return words
    for file in found.files or []:
        if re.match(r"licen[cs]e", file.name, re.IGNORECASE):
            return file.read_text().strip().splitlines()[0].strip()
    return "says nothing"


def is_gpl(licence: str) -> bool:
    """Tell whether every choice that a licence leaves has the GPL or AGPL in it.

    The LGPL is neither, nor is the GPL with an exception for those who link, such as GCC's.
    """
    choices = re.split(r"\bOR\b", re.sub(r"\S+ WITH \S+", "", licence))
    return all(
        re.search(r"\bA?GPL|(General|Affero) Public", c) and "Lesser" not in c for c in choices
    )


def requirements(name: str, extra: str) -> Iterator[Requirement]:
    """Yield what a package needs on this machine for one extra; "" is the package itself."""
    try:
        lines = metadata.requires(name) or []
    except metadata.PackageNotFoundError:
        return
    for requirement in map(Requirement, lines):
        with_extra = requirement.marker is None or requirement.marker.evaluate({"extra": extra})
        without = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
        if with_extra and (not extra or not without):
            yield requirement


def packages(extra: str) -> set[str]:
    """Return the names of all that one extra of whatleaks needs, in turn."""
    found: set[str] = set()
    waiting = list(requirements(PROJECT, extra))
    while waiting:
        requirement = waiting.pop()
        name = canonicalize_name(requirement.name)
        if name != PROJECT and name not in found:
            found.add(name)
            for part in ("", *requirement.extras):
                waiting += requirements(name, part)
    return found


def tables() -> dict[str, dict[str, str]]:
    """Return the licences by package, for the core ("") and for what each extra adds."""
    extras = metadata.metadata(PROJECT).get_all("Provides-Extra") or []
    core = packages("")
    return {
        extra: {
            name: licence_of(name) for name in sorted(packages(extra) - (core if extra else set()))
        }
        for extra in ["", *sorted(extras)]
        if extra != FOR_DEVELOPERS
    }


def page(found: dict[str, dict[str, str]]) -> str:
    """Return the page."""
    parts = [BEFORE]
    for extra, licences in found.items():
        rows = "".join(f"| {name} | {licence} |\n" for name, licence in licences.items())
        title = f"Extra `{extra}`" if extra else "Core"
        parts.append(f"## {title}\n\n| package | licence |\n|---|---|\n{rows}")
    return "\n".join(parts)


def main() -> None:
    """Print every package under the GPL; write the page, or compare it."""
    found = tables()
    rows = {name: licence for table in found.values() for name, licence in table.items()}
    gpl = [f"{name}: {licence}" for name, licence in rows.items() if is_gpl(licence)]
    absent = [name for name, licence in rows.items() if licence == NOT_HERE]
    if gpl:
        sys.exit("under the GPL, which whatleaks cannot ship: " + "; ".join(gpl))
    if absent:
        sys.exit(f"install every extra first: {', '.join(absent)} not installed here")
    if "--check" not in sys.argv[1:]:
        PAGE.write_text(page(found))
    elif PAGE.read_text() != page(found):
        sys.exit(f"{PAGE.name} is another one than what is installed: call make licences")
    print(f"{len(rows)} packages, none under the GPL")


if __name__ == "__main__":
    main()
