"""What happens inside a worker, the same under every executor: one thread, one reply per work."""

from __future__ import annotations

import importlib
import os
import sys
import time
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from whatleaks.catalog import load_plugin
from whatleaks.errors import SpecError
from whatleaks.runs.executors.protocol import Job, Reply
from whatleaks.runs.provenance import environment
from whatleaks.runs.work import Work
from whatleaks.trial.outcome import Outcome

# One thread for every library that would start its own: two workers on two cores must not
# fight, and sums must not depend on how many threads took part. Read by the libraries when
# they load, so a worker's environment is set before its interpreter starts.
ONE_THREAD = {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "NUMEXPR_NUM_THREADS": "1",
    "VECLIB_MAXIMUM_THREADS": "1",
}


class _Failure:
    """Catches whatever a work raises: at this border a failure is a result, never lost."""

    text = ""

    def __enter__(self) -> _Failure:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if error is None or not isinstance(error, Exception):
            return False
        self.text = "".join(traceback.format_exception(error))
        return True


def perform(job: Job) -> Iterator[Reply]:
    """Perform a job's works in order; yield one reply for each as it finishes.

    An exception becomes a reply with its traceback. It ends what the group had trained, so the
    works behind it begin anew.
    """
    done = 0
    while done < len(job.works):
        for reply in _until_failure(job, job.works[done:]):
            done += 1
            yield reply


def _until_failure(job: Job, works: Sequence[Work]) -> Iterator[Reply]:
    results: Iterator[tuple[Outcome, bytes]] | None = None
    for work in works:
        outcome: Outcome | None = None
        private = b""
        start = time.perf_counter()
        with _Failure() as failure:
            if results is None:
                _import(job.outsiders)
                limit_threads()
                results = iter(type(work).perform_group(works, job.table))
            result, private = next(results, (None, b""))
            if not isinstance(result, Outcome):
                raise SpecError(
                    f"{work.kind!r} gave {type(result).__name__} for {work.title()}: "
                    "perform_group yields an Outcome and bytes for every work"
                )
            # Through the stored form and back: what cannot be stored fails here, inside the run.
            outcome = Outcome.from_dict(result.to_dict())
        seconds = time.perf_counter() - start
        if outcome is None:
            yield Reply(None, b"", failure.text, environment(), seconds)
            return
        yield Reply(outcome, private, "", environment(), seconds)


def _import(outsiders: Sequence[str]) -> None:
    for name in outsiders:
        if name.endswith(".py"):
            load_plugin(Path(name))
        else:
            importlib.import_module(name)


def limit_threads() -> None:
    """Hold torch to one thread, if it is loaded; the variables hold it if it loads later."""
    os.environ.update(ONE_THREAD)
    torch = sys.modules.get("torch")
    if torch is not None and torch.get_num_threads() != 1:
        torch.set_num_threads(1)


@contextmanager
def one_thread_variables() -> Iterator[None]:
    """Set the variables for a library or a child that starts meanwhile, then put ours back."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
