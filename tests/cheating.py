"""An attack that looks for the table everywhere but in its view: the eight cheats that were tried."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.baselines import ShapeView
from whatleaks.codec import travels
from whatleaks.threat.guess import ValueGuess


def _parents(about: str) -> bytes:
    """Read a file of the parent in /proc."""
    return Path(f"/proc/{os.getppid()}/{about}").read_bytes()


def _other_processes(table: str, port: int) -> bool:
    own = {"1", "2", str(os.getpid())}
    return any(p.name.isdigit() and p.name not in own for p in Path("/proc").iterdir())


def _network(table: str, port: int) -> bool:
    with socket.create_connection(("127.0.0.1", port), 2.0):
        return True


def _signals() -> bool:
    """Reach the process that started this one by its number."""
    parent = os.getppid()
    return parent > 0 and os.kill(parent, 0) is None


def _left_open(table: str) -> bool:
    """Reach the table from a folder that was left open from outside."""
    for number in range(3, 20):
        with suppress(OSError):
            os.close(os.open(table.lstrip("/"), os.O_RDONLY, dir_fd=number))
            return True
    return False


def _in_folder(folder: Path) -> bool:
    return any(folder.iterdir())


def _in_home() -> bool:
    """Find anything in the user's home that is not on the way to the interpreter."""
    home = Path(os.path.expanduser("~"))
    return any(not sys.base_prefix.startswith(str(path)) for path in home.iterdir())


def _runs_tests(command: bytes) -> bool:
    """Recognise the tests' own process, or a worker that it has started."""
    return b"pytest" in command or b"exec(eval(" in command


CHEATS: dict[str, Callable[[str, int], bool]] = {
    "command line": lambda table, port: _runs_tests(_parents("cmdline")),
    "table": lambda table, port: bool(Path(table).read_bytes()),
    "environment": lambda table, port: b"PATH=" in _parents("environ"),
    "processes": _other_processes,
    "network": _network,
    "home": lambda table, port: _in_home(),
    "temporary files": lambda table, port: _in_folder(Path(table).parent.parent),
    "store": lambda table, port: bool((Path(table).parent / "unfinished/trials.db").read_bytes()),
    # And beyond: what a namespace could leave open.
    "beside the plugin": lambda table, port: (Path(__file__).parent / "conftest.py").exists(),
    "writing": lambda table, port: bool(Path(np.__file__).with_name("x").write_text("x")),
    "parent's folder": lambda table, port: _in_folder(Path(f"/proc/{os.getppid()}/cwd/")),
    "root of the parent": lambda table, port: _in_folder(Path(f"/proc/{os.getppid()}/root/home")),
    "signals": lambda table, port: _signals(),
    "above the root": lambda table, port: bool(Path(f"/..{table}").read_bytes()),
    "below the root": lambda table, port: _left_open(table),
    "mounts": lambda table, port: table.rpartition("/")[0] in Path("/proc/mounts").read_text(),
}


@travels
@dataclass(frozen=True)
class Cheating:
    """Tries every cheat in one process: its guess has a column each, one where it works, else zero."""

    table: str
    port: int
    name: str = "cheating"

    def infer(self, view: ShapeView, rng: np.random.Generator) -> ValueGuess:
        """Try the cheats."""
        found = [float(self._works(cheat)) for cheat in CHEATS.values()]
        return ValueGuess(sealed(np.tile(found, (view.records, 1))))

    def _works(self, cheat: Callable[[str, int], bool]) -> bool:
        try:
            return cheat(self.table, self.port)
        except OSError:
            return False
