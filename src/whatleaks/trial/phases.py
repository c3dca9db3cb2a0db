"""Where a trial's processor time goes, by phase."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Phases:
    """Seconds of processor time by name; a phase inside another counts in both."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Count what happens inside under ``name``."""
        start = time.process_time()
        try:
            yield
        finally:
            spent = time.process_time() - start
            self.seconds[name] = self.seconds.get(name, 0.0) + spent

    def told(self) -> tuple[tuple[str, float], ...]:
        """Return names and seconds, in the order in which they came."""
        return tuple(self.seconds.items())
