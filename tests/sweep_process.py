"""Run a sweep file in a process of its own, to be killed: FILE STORE [ON [ADDRESS]].

A store whose name begins with ``private`` keeps what is private, as an audit's does. The
executor ``inline`` is this process itself.
"""

from __future__ import annotations

import sys
from pathlib import Path

from run_doubles import Double
from whatleaks.errors import WhatleaksError
from whatleaks.runs.executors import choose
from whatleaks.runs.live import PlainDisplay
from whatleaks.runs.runner import run
from whatleaks.runs.store import Store
from whatleaks.runs.sweep import load


def main() -> int:
    on = sys.argv[3] if len(sys.argv) > 3 else "local"
    address = sys.argv[4] if len(sys.argv) > 4 else ""
    inline = on == "inline"
    executor = choose("local", 1, inline=True) if inline else choose(on, 2, address)
    path = Path(sys.argv[2])
    try:
        works = load(Path(sys.argv[1]), Double.from_dict).works
        with Store(path, private=path.name.startswith("private")) as store:
            done = run(works, store, executor, PlainDisplay(True))
    except WhatleaksError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 130 if done.interrupted else int(done.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
