"""How wide the interval of what joining adds is with three, four and five seeds, and how often it is right.

Audits of public sets with 15 seeds each, without defenses and without the slow generative attacks; then the same
trials summed up in groups of three, four and five seeds. Of every column the attack counts that adds most over all 15.
Where seeds decide, the interval should be 2.48 / 1.59 = 1.6 times as narrow with four and 2.0 with five (the 97.5 % point
of t over the root of the seeds); where records do, the root of 4 / 3 and of 5 / 3. Right: it holds the value over all 15 seeds, the group's own among them.
"""

from __future__ import annotations

import argparse
from dataclasses import replace

import numpy as np

from whatleaks.auditor.combine import Entry, combine_threats
from whatleaks.auditor.plan import scenarios
from whatleaks.auditor.result import ColumnFinding
from whatleaks.auditor.spec import AuditSpec
from whatleaks.data.sources import open_source
from whatleaks.metrics.intervals import wilson
from whatleaks.seeds import Streams
from whatleaks.trial.trial import run_group

SETS = ("wine", "breast-cancer")
SEEDS, GROUPS = 15, (3, 4, 5)
SLOW = "generative-regression"  # in their names

Found = dict[tuple[str, str, str], ColumnFinding]


def trials(name: str) -> list[Entry]:
    """Run every trial of all seeds."""
    source = open_source(name, None, (), [], None, False, None, (), None, None)
    spec = AuditSpec(
        source.label, source.passive, seeds=SEEDS, seed=200, targets=150, inversion_steps=300,
        defenses=False, threats=("white-box", "black-box"),
    )  # fmt: skip
    planned = [
        replace(
            scenario,
            attacks=tuple(a for a in scenario.attacks if SLOW not in a),
            references=("baselines", "alone", "control"),
            measures=(),
        )
        for scenario in scenarios(spec, "table", "none")
    ]
    done = run_group(planned, source.frame)
    return [Entry(s, d.outcome, d.records) for s, d in zip(planned, done, strict=True)]


def summed(entries: list[Entry], seeds: range) -> Found:
    """Sum up some seeds: every column under every attack."""
    held = [entry for entry in entries if entry.scenario.seed in seeds]
    return {
        (threat.name, guess.name, column.column): column
        for threat in combine_threats(held, "lr", Streams(0))
        for guess in threat.of("attack")
        for column in guess.columns
    }


def main() -> None:
    """Print widths and coverage by the number of seeds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", default=SETS)
    for name in parser.parse_args().sets:
        entries = trials(name)
        first = min(entry.scenario.seed for entry in entries)
        every = summed(entries, range(first, first + SEEDS))
        worst = {
            column: max((k for k in every if k[2] == column), key=lambda k: every[k].adds.value)
            for column in {key[2] for key in every}
        }
        for size in GROUPS:
            starts = range(first, first + SEEDS - size + 1, size)
            groups = [summed(entries, range(start, start + size)) for start in starts]
            pairs = [(g[k].adds, every[k].adds.value) for g in groups for k in worst.values()]
            widths = np.array([adds.high - adds.low for adds, _ in pairs])
            right = sum(adds.low <= value <= adds.high for adds, value in pairs)
            share = wilson(right, len(pairs), "share")
            print(
                f"{name}, {size} seeds, {len(groups)} audits of {len(worst)} columns: width "
                f"{np.median(widths):.3f} (median), {np.quantile(widths, 0.9):.3f} (nine of ten "
                f"below), right in {share.value:.1%}",
                flush=True,
            )


if __name__ == "__main__":
    main()
