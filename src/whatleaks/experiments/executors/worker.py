"""What happens inside a worker, the same under every executor: one thread, one job, one reply."""

from __future__ import annotations

import importlib
import os
import sys
import time
import traceback
from types import TracebackType

from whatleaks.errors import SpecError
from whatleaks.experiments.environment import environment
from whatleaks.experiments.executors.protocol import Reply
from whatleaks.experiments.outcome import Outcome
from whatleaks.experiments.tasks import Job, find
from whatleaks.seeds import Streams

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
    """Catches whatever a task raises: at this border a failure is a result, never lost."""

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


def perform(job: Job) -> Reply:
    """Run one job and reply; an exception of the task becomes a reply with its traceback."""
    limit_threads()
    outcome: Outcome | None = None
    start = time.perf_counter()
    with _Failure() as failure:
        importlib.import_module(job.module)
        result = find(job.spec.task).run(job.spec, Streams(job.spec.seed))
        if not isinstance(result, Outcome):
            raise SpecError(
                f"task {job.spec.task!r} returned {type(result).__name__}: return an Outcome"
            )
        # Through the stored form and back: what cannot be stored fails here, inside the run.
        outcome = Outcome.from_dict(result.to_dict())
    seconds = time.perf_counter() - start
    return Reply(outcome, failure.text, environment(), seconds)


def limit_threads() -> None:
    """Hold torch to one thread, if it is loaded; the variables hold it if it loads later."""
    os.environ.update(ONE_THREAD)
    torch = sys.modules.get("torch")
    if torch is not None and torch.get_num_threads() != 1:
        torch.set_num_threads(1)
