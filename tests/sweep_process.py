"""Run a sweep file in a process of its own, to be killed: FILE STORE [ON [ADDRESS]]."""

from __future__ import annotations

import sys
from pathlib import Path

import experiment_doubles
from whatleaks.errors import WhatleaksError
from whatleaks.experiments.executors import choose
from whatleaks.experiments.live import PlainView
from whatleaks.experiments.runner import run
from whatleaks.experiments.store import Store
from whatleaks.experiments.sweep import load
from whatleaks.experiments.tasks import provide


def main() -> int:
    provide(experiment_doubles.MODULE)
    on = sys.argv[3] if len(sys.argv) > 3 else "local"
    address = sys.argv[4] if len(sys.argv) > 4 else ""
    executor = choose(on, 2, address)
    try:
        with Store(Path(sys.argv[2])) as store:
            done = run(load(Path(sys.argv[1])).specs, store, executor, PlainView(True))
    except WhatleaksError as error:
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    return 130 if done.interrupted else int(done.failed > 0)


if __name__ == "__main__":
    sys.exit(main())
