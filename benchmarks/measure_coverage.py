"""Whether the measure keeps its word on tables of which the truth is known: intervals, false alarms, time.

    python benchmarks/measure_coverage.py coverage   # how often 95 % intervals hold, in many settings
    python benchmarks/measure_coverage.py alarms     # how often something is found where nothing is told
    python benchmarks/measure_coverage.py speed      # 2,000 people x 50 columns x 100 ways

Arrays only: what an attack guesses is drawn, no model is trained. The population's leak is that of
100,000 people. "alarms" also counts how often "join as planned" is recommended (docs/decisions/0016-the-measure.md).

95 % intervals, 300 tables each: the share that holds row by row, for the worst question and on average, and for
the headline:

| setting | people | least | mean | headline |
|---|---|---|---|---|
| normal | 150 | 0.947 | 0.965 | 0.997 |
| normal, 30 people | 30 | 0.943 | 0.979 | 0.990 |
| normal, 600 people | 600 | 0.940 | 0.962 | 0.993 |
| normal, exact for some | 300 | 0.943 | 0.969 | 0.987 |
| whole numbers | 150 | 0.950 | 0.972 | 0.997 |
| lognormal | 150 | 0.947 | 0.967 | 0.997 |
| lognormal, sigma 2 | 300 | 0.947 | 0.970 | 1.000 |
| Cauchy | 300 | 0.947 | 0.972 | 1.000 |
| no gain | 150 | 0.947 | 0.974 | 0.993 |
| yes of 1 % | 600 | 0.962 | 0.966 | 0.971 |
| yes of 2 % | 300 | 0.990 | 0.990 | 0.995 |
| yes of 5 % | 300 | 0.973 | 0.980 | 0.983 |
| six levels | 200 | 0.963 | 0.983 | 0.990 |
| known to most | 300 | 0.957 | 0.974 | 0.983 |
| panel, stays | 80 | 0.947 | 0.977 | 1.000 |
| panel, changes | 60 | 0.943 | 0.975 | 1.000 |
| three trials of 150 | 150 | 0.943 | 0.962 | 1.000 |

Tables whose messages say nothing, 200 of 150 people:

| nothing told to | alarms | join, 150 people | 600 | 3,000 |
|---|---|---|---|---|
| stranger, linear | 0 of 200 | 6 | 0 of 40 | 11 of 12 |
| stranger, ties | 0 of 200 | 5 | 0 of 40 | 12 of 12 |
| stranger, class only | 6 of 200 | 5 | 0 of 40 | 11 of 12 |
| stranger, columns follow own ones | 0 of 200 | 31 | 13 of 40 | 11 of 12 |
| panel, changes | 0 of 200 | 0 | 1 of 40 | 0 of 12 |
| panel, stays | 0 of 200 | 0 | 0 of 40 | 0 of 12 |
| insider, linear | 0 of 200 | 3 | 0 of 40 | 9 of 12 |
| insider, columns follow own ones | 2 of 200 | 2 | 1 of 40 | 9 of 12 |
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from scipy.stats import binomtest

from whatleaks.arrays import Floats, Ints
from whatleaks.stats.columns import CATEGORY, Column, describe
from whatleaks.stats.learners import Records, learn, learn_alone
from whatleaks.stats.pool import pool
from whatleaks.stats.questions import Answer, Key, answers, shuffle
from whatleaks.stats.rows import rows
from whatleaks.stats.verdict import headline, recommend
from whatleaks.stats.ways import WITH, WITHOUT, Way, one_value, own_columns

Drawn = tuple[Floats, list[Way], Ints]  # the column, ways to guess it, whose row it is
World = Callable[[np.random.Generator, int], Drawn]
POPULATION = 100_000


def numbers(
    rng: np.random.Generator, people: int, *, change: Callable[[Floats], Floats], error: float = 0.3
) -> Drawn:
    """Draw a column, an own one that follows it somewhat, and an attack that comes closer."""
    score = rng.normal(size=people)
    own = 0.6 * score + 0.8 * rng.normal(size=people)
    guess = score + error * rng.normal(size=people) * (rng.random(people) < 0.8)
    ways = [
        Way("own", WITHOUT, change(own)),
        Way("middle", WITHOUT, np.full(people, change(np.zeros(1))[0])),
        Way("attack", WITHOUT, change(rng.permutation(guess))),
        Way("attack", WITH, change(guess)),
    ]
    return change(score), ways, np.arange(people)


def rare(rng: np.random.Generator, people: int, *, share: float) -> Drawn:
    """Draw a rare yes, of which the attack finds half, and an own column with some of it."""
    truth = (rng.random(people) < share).astype(float)
    hit = truth * (rng.random(people) < 0.5)
    own = truth + rng.normal(size=people)
    ways = [
        Way("no for all", WITHOUT, np.zeros(people)),
        Way("own", WITHOUT, own),
        Way("attack", WITHOUT, rng.permutation(hit)),
        Way("attack", WITH, hit),
    ]
    return truth, ways, np.arange(people)


def levels(rng: np.random.Generator, people: int) -> Drawn:
    """Draw a category of six, which the attack knows of every third person, the own column of every sixth."""
    truth = rng.choice(6, people, p=[0.3, 0.25, 0.2, 0.12, 0.08, 0.05]).astype(float)
    attack = np.where(rng.random(people) < 1 / 3, truth, rng.permutation(truth))
    own = np.where(rng.random(people) < 1 / 6, truth, rng.permutation(truth))
    ways = [Way("commonest", WITHOUT, np.zeros(people)), Way("own", WITHOUT, own)]
    return truth, [*ways, Way("attack", WITH, attack)], np.arange(people)


def panel(rng: np.random.Generator, people: int, *, stays: bool, each: int = 10) -> Drawn:
    """Draw ten rows for each person, whose errors have most in common."""
    persons = np.repeat(np.arange(people), each)
    of_person, of_row = rng.normal(size=(3, people))[:, persons], rng.normal(size=(3, persons.size))
    truth = of_person[0] if stays else of_person[0] + 0.3 * of_row[0]
    sharp = (rng.random(people) < 0.4)[persons]
    guess = np.where(sharp, truth, 0.0) + np.where(sharp, 0.05, 1.0) * (
        of_person[1] + 0.2 * of_row[1]
    )
    own = 0.6 * truth + 0.8 * of_person[2]
    ways = [
        Way("own", WITHOUT, own),
        Way("middle", WITHOUT, np.zeros(persons.size)),
        Way("attack", WITH, guess),
    ]
    return truth, ways, persons


def known_to_most(rng: np.random.Generator, people: int) -> Drawn:
    """Draw what people declare truly nineteen times of twenty; the attack finds two in three of the others."""
    truth = rng.normal(size=people).round(1)
    own = np.where(rng.random(people) < 0.95, truth, rng.normal(size=people).round(1))
    guess = np.where(rng.random(people) < 2 / 3, truth, own)
    return truth, [Way("own", WITHOUT, own), Way("attack", WITH, guess)], np.arange(people)


SETTINGS: dict[str, tuple[World, int, dict[str, str | int]]] = {
    "normal": (partial(numbers, change=lambda v: v), 150, {}),
    "normal, 30 people": (partial(numbers, change=lambda v: v), 30, {}),
    "normal, 600 people": (partial(numbers, change=lambda v: v), 600, {}),
    "normal, exact for some": (partial(numbers, change=lambda v: v, error=3.0), 300, {}),
    "whole numbers": (partial(numbers, change=lambda v: np.round(2 * v)), 150, {"digits": 0}),
    "lognormal": (partial(numbers, change=np.exp), 150, {}),
    "lognormal, sigma 2": (partial(numbers, change=lambda v: np.exp(2 * v)), 300, {}),
    "Cauchy": (partial(numbers, change=lambda v: np.sinh(1.5 * v) ** 3), 300, {}),
    "no gain": (partial(numbers, change=lambda v: v, error=1000.0), 150, {}),
    "yes of 1 %": (partial(rare, share=0.01), 600, {"kind": CATEGORY}),
    "yes of 2 %": (partial(rare, share=0.02), 300, {"kind": CATEGORY}),
    "yes of 5 %": (partial(rare, share=0.05), 300, {"kind": CATEGORY}),
    "six levels": (levels, 200, {"kind": CATEGORY}),
    "known to most": (known_to_most, 300, {"digits": 1}),
    "panel, stays": (partial(panel, stays=True), 80, {}),
    "panel, changes": (partial(panel, stays=False), 60, {}),
    "three trials of 150": (partial(numbers, change=lambda v: v), 150, {"trials": 3}),
}


def _answers(column: Column, drawn: Drawn, rng: np.random.Generator) -> tuple[Answer, ...]:
    truth, ways, persons = drawn
    return answers(column, truth, ways, shuffle(persons, rng))


def coverage(name: str, tables: int) -> str:
    """Draw many tables of one setting and compare their intervals with the truth.

    The truth: of the ways that are best in the population, what they come to on average in tables
    of this size (a rank among few people is read less well than one among many). Rows count where
    five unknown people are expected.
    """
    world, people, said = SETTINGS[name]
    trials = int(said.get("trials", 1))
    described = {k: v for k, v in said.items() if k != "trials"}
    rng = np.random.default_rng(17)
    truth, ways, persons = world(rng, POPULATION // (10 if "panel" in name else 1))
    repeats = persons if len(np.unique(persons)) < len(persons) else None
    column = describe("column", truth, persons=repeats, **described)  # type: ignore[arg-type]
    best = {a.question: _best(a) for a in _answers(column, (truth, ways, persons), rng)}
    shares: dict[str, list[tuple[float, float, float]]] = {}
    held: dict[str, list[tuple[float, float]]] = {}
    heads = []
    for _ in range(tables):
        drawn = world(rng, people)
        whole = _answers(column, drawn, rng)
        for answer in whole:
            o, w = (_share(answer, key) for key in best[answer.question])
            asked = len(np.unique(answer.persons))
            shares.setdefault(answer.question, []).append((o, w, asked * (1 - o)))
        parts = [whole]
        if trials > 1:  # somebody is asked about in some of the trials
            parts = []
            for _ in range(trials):
                part = rng.choice(people, people // 2, replace=False)
                again = [Way(w.name, w.side, w.guess[part]) for w in drawn[1]]
                parts.append(_answers(column, (drawn[0][part], again, part), rng))
        table = rows(pool(parts), rng, partner="")
        for row in table:
            if row.counts:
                held.setdefault(row.question, []).append((row.low, row.high))
        head = headline(table)
        if head:
            heads.append((head.row.question, head.low, head.high))
    leaks = {}
    for question, found in shares.items():
        o, w, unknown = np.mean(found, axis=0)
        if unknown >= 5:
            leaks[question] = max(0.0, (w - o) / (1 - o))
    over = {q: np.mean([low > leak + 1e-9 for low, _ in held[q]]) for q, leak in leaks.items()}
    under = {q: np.mean([high < leak - 1e-9 for _, high in held[q]]) for q, leak in leaks.items()}
    each = [1 - over[q] - under[q] for q in leaks]
    first = [low <= leaks[q] + 1e-9 and leaks[q] <= high for q, low, high in heads if q in leaks]
    return (
        f"| {name} | {people} | {len(each)} | {min(each):.3f} | {np.mean(each):.3f} | "
        f"{np.mean(list(over.values())):.3f} | {np.mean(list(under.values())):.3f} | {np.mean(first):.3f} |"
    )


def _share(answer: Answer, key: Key) -> float:
    right = answer.right[answer.keys.index(key)]
    _, place = np.unique(answer.persons, return_inverse=True)
    return float(np.mean(np.bincount(place, right) / np.bincount(place)))


def _best(answer: Answer) -> tuple[Key, Key]:
    """Return the ways that are right most often in a population, without and with joining."""
    without, with_ = (
        max((key for key in answer.keys if key.side == side), key=lambda key: _share(answer, key))
        for side in (WITHOUT, WITH)
    )
    better = _share(answer, with_) > _share(answer, without)
    return without, with_ if better else without


def nothing(cell: str, seed: int, people: int = 150) -> tuple[float, float, str]:
    """Draw a table whose messages say nothing; return the chance, the lower end, and the recommendation."""
    rng = np.random.default_rng([seed, people])
    each = 8 if "panel" in cell else 1
    persons = np.repeat(np.arange(people // each), each)
    size = 3 * persons.size if "insider" in cell else persons.size  # two of three are records

    def drawn(many: int) -> Floats:
        found = rng.normal(size=(many, size))
        if each > 1:
            found = 0.3 * found + rng.normal(size=(many, people // each))[:, persons]
        return found

    own, passive, rest = drawn(3), drawn(3), drawn(1)[0]
    if "follow" in cell:
        passive += 0.7 * own
    if "stays" in cell:
        passive = rng.normal(size=(3, people // each))[:, persons]
    passive[1] = np.round(2 * passive[1])
    passive[2] = np.exp(1.5 * passive[2])
    yes = (drawn(1)[0] > 1.8 if each == 1 else rng.random(size) < 0.05).astype(float)
    score = own.sum(axis=0) * 0.5 + rest
    if "ties" in cell:
        rest, score = np.round(rest), np.round(score)
    if "class" in cell:
        rest = score = (score > 0).astype(float)
    asked, known = np.arange(persons.size), np.arange(persons.size, size)
    control = rng.permutation(asked)
    columns, values = [], [*passive, yes]
    for i, truth in enumerate(values):
        kind = CATEGORY if i == 3 else "number"
        columns.append(
            describe(
                f"column {i}",
                truth,
                kind=kind,
                digits=0 if i == 1 else None,
                persons=persons if each > 1 else None,
            )
        )
    learners: list[tuple[Way, ...]] = [()] * len(columns)
    if "insider" in cell:
        messages = np.c_[rest, score]
        records = Records(own[:, known].T, messages[known], np.stack(values, axis=1)[known])
        alone = learn_alone(columns, records, own[:, asked].T, rng)
        seen = learn(columns, records, own[:, asked].T, messages[asked], messages[control], rng)
        learners = [a + b for a, b in zip(alone, seen, strict=True)]
    order, found = shuffle(persons, rng), []
    held = {f"own {i}": v[asked] for i, v in enumerate(own)} | {"own score": own.sum(0)[asked]}
    for column, truth, learnt in zip(columns, values, learners, strict=True):
        ways = [*one_value(column, len(asked)), *own_columns(column, held), *learnt]
        width = column.high - column.low
        for side, who in ((WITH, asked), (WITHOUT, control)):
            for name, message in (("rest", rest), ("score", score)):
                ways.append(Way(name, side, message[who]))
                for slope in (-0.3, -0.1, 0.1, 0.3):
                    guess = column.low + width * np.clip(0.5 + slope * message[who], 0, 1)
                    ways.append(Way(f"{name} times {slope}", side, guess))
            mixed = column.low + width * np.clip(0.5 + 0.2 * (rest[who] - own[0][asked]), 0, 1)
            ways.append(Way("rest less own", side, mixed, ranking=None))
        found.extend(answers(column, truth[asked], ways, order))
    table = rows(pool([found]), rng, partner="somebody")
    head = headline(table)
    outcome = recommend(table).outcome
    return (head.chance, head.low, outcome) if head else (1.0, 0.0, outcome)


CELLS = (
    "stranger, linear",
    "stranger, ties",
    "stranger, class only",
    "stranger, columns follow own ones",
    "panel, changes",
    "panel, stays",
    "insider, linear",
    "insider, columns follow own ones",
)


def speed(people: int = 2000, columns: int = 50, ways: int = 100) -> None:
    """Time the whole way from guesses to the recommendation."""
    rng = np.random.default_rng(0)
    order, comparisons, start = shuffle(np.arange(people), rng), [], time.process_time()
    questions = 0
    for i in range(columns):
        if i % 3:
            truth, guesses = rng.normal(size=people), rng.normal(size=(ways, people))
            column = describe(str(i), truth)
        else:  # thirty levels, all but one rare
            shares = [0.4, *[0.6 / 29] * 29]
            truth = rng.choice(30, people, p=shares).astype(float)
            guesses = rng.choice(30, (ways, people)).astype(float)
            column = describe(str(i), truth, kind=CATEGORY)
        sides = (WITHOUT, WITH)
        every = [Way(str(k // 2), sides[k % 2], guesses[k]) for k in range(ways)]
        comparisons += pool([answers(column, truth, every, order)])
    table = rows(comparisons, rng, partner="somebody")
    recommend(table)
    questions = len(table)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(f"{people} people x {columns} columns x {ways} ways, {questions} rows: ", end="")
    print(f"{time.process_time() - start:.1f} s of a processor, {peak:.2f} GiB at most")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("part", choices=("coverage", "alarms", "speed"))
    parser.add_argument("--tables", type=int, default=200)
    parser.add_argument("--people", type=int, default=150)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    if options.part == "speed":
        speed()
        return
    with ProcessPoolExecutor(options.processes) as processes:
        if options.part == "coverage":
            print("| setting | people | rows | least | mean | too high | too low | headline |")
            print("|---|---|---|---|---|---|---|---|")
            for line in processes.map(partial(coverage, tables=options.tables), SETTINGS):
                print(line, flush=True)
            return
        print("| nothing told to | alarms | 95 % | largest lower end | join at 10 % |")
        print("|---|---|---|---|---|")
        total = 0
        for cell in CELLS:
            run = partial(nothing, cell, people=options.people)
            found = list(processes.map(run, range(options.tables), chunksize=5))
            alarms = sum(chance <= 0.05 for chance, _, _ in found)
            total += alarms
            ends = binomtest(alarms, len(found)).proportion_ci(method="wilson")
            joins = sum(outcome == "join" for _, _, outcome in found)
            lower = max(low for _, low, _ in found)
            print(
                f"| {cell} | {alarms} of {len(found)} | {ends.low:.3f}-{ends.high:.3f} | {lower:.2f} | {joins} |",
                flush=True,
            )
        print(f"all together: {total} of {len(CELLS) * options.tables}")


if __name__ == "__main__":
    main()
