"""The ledger: run what is missing, judge by rule, keep the verdict with its numbers.

A stored verdict is one small JSON file: the rule, the verdict and, per run, the work, its
name and its measurements. Anyone can judge again from the file alone, and a test does.

Beside it stand the numbers of the claim's fast runs. A verdict whose fast runs no longer give
these numbers is stale: ``whatleaks claims check`` makes them again, and a test does for the
cheapest. Other libraries and processors add in other orders, and trainings carry that on: there the
fast verdict must come out again. Where no numbers are stored, the listing says "not checked".
"""

from __future__ import annotations

import json
import math
import os
import platform
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from whatleaks.errors import SpecError, StoreError, UsageError
from whatleaks.metrics.measurement import Measurement
from whatleaks.runs.executors.protocol import Executor
from whatleaks.runs.provenance import environment
from whatleaks.runs.record import Record
from whatleaks.runs.runner import Display, Summary, run
from whatleaks.runs.store import Store
from whatleaks.runs.work import name_of, work_from_dict, work_to_dict
from whatleaks.trial.outcome import Outcome
from whatleaks_lab.papers.check import PROFILES, Check, checks
from whatleaks_lab.papers.claim import Claim, Judgement, Verdict, claim, claims, papers

STORED = Path(__file__).resolve().parents[1] / "results"  # the laboratory's own


@dataclass(frozen=True)
class Entry:
    """One claim with its state: the verdict, how it was reached, and the runs behind it."""

    claim: Claim
    judgement: Judgement
    profile: str = ""
    rule: str = ""
    sizes: str = ""
    seconds: float = 0.0
    records: tuple[Record, ...] = ()
    libraries: Mapping[str, str] = field(default_factory=dict)  # of fast runs: what computed them
    unchecked: str = ""  # why nobody can say whether its numbers still come out

    def to_dict(self) -> dict[str, Any]:
        """Return plain values: what ``whatleaks claims --json`` prints."""
        value = self.judgement.value
        return {
            "id": self.claim.id,
            "verdict": self.judgement.verdict.value,
            "measured": self.judgement.measured,
            "reported": self.claim.reported,
            "interval": [value.low, value.high] if value else None,
            "value": value.value if value else None,
            "n": len(self.records),
            "seconds": round(self.seconds, 2),
            "profile": self.profile,
            "sizes": self.sizes,
            "rule": self.rule,
            "note": self.judgement.note,
            "unchecked": self.unchecked,
            "where": self.claim.where,
            "claim": self.claim.claim,
        }


def results_home(*, writing: bool = False) -> Path:
    """Return where verdicts are kept: WHATLEAKS_RESULTS, else ./results.

    Reading falls back to the laboratory's own; writing never goes there unasked.
    """
    named = os.environ.get("WHATLEAKS_RESULTS")
    if named:
        return Path(named)
    here = Path("results")
    return here if writing or here.is_dir() else STORED


def listing(home: Path) -> tuple[Entry, ...]:
    """Return every claim with its best stored verdict: full before standard before fast."""
    known = checks()
    entries = []
    for stated in claims().values():
        entry = None
        for profile in reversed(PROFILES):
            path = home / profile / f"{stated.id}.json"
            if stated.id in known and path.exists():
                entry = read(path, known[stated.id])
                if not (home / "fast" / path.name).exists():
                    entry = replace(entry, unchecked="not checked: no fast runs are stored")
                break
        waiting = "no check has been written yet"
        if stated.id in known:
            waiting = known[stated.id].awaits
        entries.append(entry or Entry(stated, Judgement(Verdict.NOT_RUN, "", note=waiting)))
    return tuple(entries)


def chosen(words: Sequence[str]) -> list[str]:
    """Turn ids, papers' letters and ``all`` into the ids of claims that have a check."""
    known = checks()
    names: list[str] = []
    for word in words:
        if word == "all":
            names += known
        elif word in papers():
            names += [name for name in known if name[0] == word]
        elif claim(word).id in known:
            names.append(word)
        else:
            raise UsageError(f"claim {word} has no check yet; checked so far: {', '.join(known)}")
    return list(dict.fromkeys(names))


def run_claims(
    names: Sequence[str],
    profile: str,
    store: Store,
    executor: Executor,
    view: Display | None = None,
) -> tuple[Summary, tuple[Entry, ...]]:
    """Run what the checks of some claims lack, then judge those whose runs are all there."""
    known = checks()
    picked = [known[name] for name in names]
    plans = [tuple(check.runs(profile)) for check in picked]
    works = list(dict.fromkeys(work for plan in plans for work in plan))
    summary = run(works, store, executor, view)
    done = dict(zip(works, summary.records, strict=True))
    entries = []
    for check, plan in zip(picked, plans, strict=True):
        records = [done[work] for work in plan]
        ready = tuple(record for record in records if record is not None and record.ok)
        entries.append(judge(check, profile, ready, len(records)))
    return summary, tuple(entries)


def judge(check: Check, profile: str, records: tuple[Record, ...], planned: int) -> Entry:
    """Judge a claim from its runs; with a run missing or failed there is no verdict."""
    stated = claims()[check.claim]
    if len(records) < planned:
        missing = f"{planned - len(records)} of {planned} runs are missing or failed"
        return Entry(stated, Judgement(Verdict.NOT_RUN, "", note=missing), profile, check.rule)
    return Entry(
        stated,
        check.judge(records),
        profile,
        check.rule,
        check.sizes[profile],
        sum(record.seconds for record in records),
        records,
    )


def libraries() -> dict[str, str]:
    """Name what decides in which order sums are taken."""
    import numpy as np

    config: Any = np.show_config(mode="dicts")
    return {
        **environment()["packages"],
        "machine": platform.machine(),
        "blas": config["Build Dependencies"]["blas"]["version"],
        "simd": " ".join(config["SIMD Extensions"].get("found", [])),
    }


def moved(entry: Entry, check: Check, again: Sequence[Record]) -> str:
    """Say which numbers of stored runs no longer come out, or nothing."""
    if entry.libraries != libraries() and len(again) == len(entry.records):
        verdict = check.judge(again).verdict if all(record.ok for record in again) else "nothing"
        was = entry.judgement.verdict
        return "" if verdict == was else f"the fast verdict was {was.value}, is {verdict}"
    kept, made = (
        {
            f"{one.work.title()} ({one.hash[:12]}): {name}": value
            for one in records
            for part in ("measurements", "baselines")
            for name, value in (one.outcome.to_dict()[part] if one.outcome else {}).items()
        }
        for records in (entry.records, again)
    )
    for name in sorted({*kept, *made}):
        if not _near(kept.get(name), made.get(name)):
            return f"{name} was {kept.get(name)}, is {made.get(name)}"
    return ""


def _near(before: Any, after: Any) -> bool:
    """Say whether two numbers, words, lists or measurements agree."""
    if isinstance(before, dict) and isinstance(after, dict):
        return before.keys() == after.keys() and all(_near(before[k], after[k]) for k in before)
    if isinstance(before, list) and isinstance(after, list):
        return len(before) == len(after) and all(map(_near, before, after))
    numbers = isinstance(before, float) and isinstance(after, float | int)
    return math.isclose(before, after, rel_tol=1e-6, abs_tol=1e-9) if numbers else before == after


def write(home: Path, entry: Entry) -> Path:
    """Store a verdict as JSON, whole or not at all."""
    path = home / entry.profile / f"{entry.claim.id}.json"
    tree = {
        "claim": entry.claim.id,
        "profile": entry.profile,
        "verdict": entry.judgement.verdict.value,
        "measured": entry.judgement.measured,
        "value": asdict(entry.judgement.value) if entry.judgement.value else None,
        "note": entry.judgement.note,
        "rule": entry.rule,
        "sizes": entry.sizes,
        "seconds": round(entry.seconds, 2),
        **({"libraries": libraries()} if entry.profile == "fast" else {}),
        "runs": [
            {
                "hash": record.hash,
                "work": work_to_dict(record.work),
                "seconds": round(record.seconds, 2),
                "outcome": record.outcome.to_dict() if record.outcome else None,
            }
            for record in entry.records
        ],
    }
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(tree, file, indent=1, allow_nan=False, ensure_ascii=False)
            file.write("\n")
        os.chmod(name, 0o644)
        os.replace(name, path)
    except OSError as error:
        raise StoreError(
            f"the verdict of {entry.claim.id} cannot be written to {path}: {error.strerror}"
        ) from None
    return path


def read(path: Path, check: Check) -> Entry:
    """Read a stored verdict; what does not parse is refused by name."""
    try:
        tree = json.loads(path.read_text("utf-8"))
        value = Measurement(**tree["value"]) if tree["value"] else None
        records = tuple(_record(entry) for entry in tree["runs"])
        judgement = Judgement(Verdict(tree["verdict"]), tree["measured"], value, tree["note"])
    except (OSError, ValueError, KeyError, TypeError, SpecError) as error:
        raise StoreError(
            f"the verdict in {path} cannot be read ({error}): remove it and run the claim again"
        ) from None
    return Entry(
        claims()[check.claim],
        judgement,
        tree["profile"],
        tree["rule"],
        tree["sizes"],
        tree["seconds"],
        records,
        tree.get("libraries", {}),
    )


def stale(entry: Entry, check: Check) -> str:
    """Say why a stored verdict no longer stands, or nothing: other rule, runs, verdict or words."""
    if entry.rule != check.rule:
        return "it was reached under another rule"
    planned = {name_of(work) for work in check.runs(entry.profile)}
    named = all(record.hash == name_of(record.work) for record in entry.records)
    if not named or planned != {record.hash for record in entry.records}:
        return "its runs are no longer those that the check declares"
    again = check.judge(entry.records)
    if again.verdict != entry.judgement.verdict:
        return f"its numbers give {again.verdict.value}, not {entry.judgement.verdict.value}"
    if again != entry.judgement:
        return "its words or its interval are not those that its numbers give"
    return ""


def _record(entry: dict[str, Any]) -> Record:
    return Record(
        hash=entry["hash"],
        work=work_from_dict(entry["work"]),
        sources="",
        status="ok",
        outcome=Outcome.from_dict(entry["outcome"]),
        traceback="",
        environment={},
        seconds=entry["seconds"],
        attempts=1,
        created="",
    )
