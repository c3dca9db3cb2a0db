"""The measure once more, slowly and plainly, one person and one way at a time: what the fast one is held against."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator

import numpy as np

from whatleaks.stats.columns import Column
from whatleaks.stats.ways import WITH, WITHOUT, Way

Right = dict[int, bool]  # of each person who is asked about


def places(scores: list[float]) -> list[int]:
    """Return everybody's place from the lowest score up; among equals the first comes first."""
    found = sorted(range(len(scores)), key=lambda i: (scores[i], i))
    return [found.index(i) for i in range(len(scores))]


def first(scores: list[float], count: int) -> set[int]:
    """Return the people of the highest scores."""
    return {i for i, place in enumerate(places([-s for s in scores])) if place < count}


def middle(values: list[float]) -> float:
    values, half = sorted(values), len(values) // 2
    return values[half] if len(values) % 2 else (values[half - 1] + values[half]) / 2


def fifth_of(value: float, cuts: tuple[float, ...]) -> int:
    return sum(value > cut for cut in cuts)


def which_fifth(truth: list[float], guess: list[float], column: Column) -> Iterator[Right]:
    fifths = [fifth_of(t, column.cuts) for t in truth]
    yield {i: fifth_of(g, column.cuts) == fifths[i] for i, g in enumerate(guess)}
    in_order = [fifth for fifth in range(5) for _ in range(fifths.count(fifth))]
    yield {i: in_order[place] == fifths[i] for i, place in enumerate(places(guess))}


def readings(column: Column, truth: list[float], way: Way) -> Iterator[tuple[str, Right]]:
    """Answer every question by one way, in each of its readings; people stand in their drawn order."""
    guess, people = list(way.guess), range(len(truth))
    if column.kind == "category":
        rounded = [min(column.codes, key=lambda code: (abs(code - g), code)) for g in guess]
        yield "exactly", {i: rounded[i] == truth[i] for i in people}
        for which, code in enumerate(column.codes):
            rare = {i for i in people if truth[i] == code}
            if code not in column.rare or not rare:
                continue
            scores = [[float(g == code) for g in rounded], guess, [-g for g in guess]]
            if way.ranking is not None:
                scores.append(list(way.ranking[:, which]))
            for score in scores:
                named = first(score, len(rare))
                yield f"who is {code:g}", {i: i in named for i in rare}
        return
    half = max(column.step / 2, 1e-9 * column.spread)
    names = list(column.within())
    tolerances = [t for t in (column.spread / 2**k for k in range(3, 11)) if t > half]
    for name, tolerance in zip(names, [half, *tolerances], strict=True):
        yield name, {i: abs(truth[i] - guess[i]) <= tolerance for i in people}
    for right in which_fifth(truth, guess, column):
        yield "which fifth", right
    centre, centre_of_guess = middle(truth), middle(guess)
    for tenths, part in ((1, "tenth"), (2, "fifth"), (3, "three tenths")):
        count = max(5, tenths * len(truth) // 10)
        unusual = first([abs(t - centre) for t in truth], count)
        scores = [[abs(g - centre_of_guess) for g in guess], guess, [-g for g in guess]]
        if way.ranking is not None:
            scores.append(list(way.ranking))
        for score in scores:
            named = first(score, count)
            yield f"who is in the unusual {part}", {i: i in named for i in unusual}


def known_people(
    column: Column, trials: list[tuple[list[float], list[Way], list[int]]]
) -> dict[str, tuple[dict[int, float], dict[int, float], dict[int, float]]]:
    """Return for each question who is known without and with joining, by the best way on each side.

    Third, who is known by the best way with joining even where one without is as good or better.

    A trial: the column, the ways to guess it, whose row it is; rows in the order in which they
    are ranked. Rows and trials of one person count once, by their mean.
    """
    said: dict[str, dict[tuple[str, str, int], dict[int, list[bool]]]] = {}
    for truth, ways, persons in trials:
        for way in ways:
            turns: dict[str, int] = {}
            for question, right in readings(column, truth, way):
                turns[question] = turns.get(question, 0) + 1
                key = way.side, way.name, turns[question]
                of_way = said.setdefault(question, {}).setdefault(key, {})
                for row, is_right in right.items():
                    of_way.setdefault(persons[row], []).append(is_right)
    found = {}
    for question, ways_right in said.items():
        best: dict[str, tuple[float, dict[int, float]]] = {}
        for (side, _, _), of_way in sorted(ways_right.items()):
            means = {person: sum(v) / len(v) for person, v in of_way.items()}
            share = sum(means.values()) / len(means)
            if side not in best or share > best[side][0] + 1e-9:
                best[side] = share, means
        without, with_ = best[WITHOUT], best[WITH]
        better = with_ if with_[0] > without[0] + 1e-9 else without
        found[question] = without[1], better[1], with_[1]
    return found


def judge(
    found: dict[str, tuple[dict[int, float], ...]], rng: np.random.Generator
) -> dict[str, tuple[float, ...]]:
    """Return leak, low, high, chance, lowest and highest of every question with five unknown people."""
    found = {q: k for q, k in found.items() if sum(1 - o for o in k[0].values()) >= 5 - 1e-6}
    persons = sorted({person for without, *_ in found.values() for person in without})
    weights = rng.dirichlet(np.ones(len(persons) + 1), 1000) * (len(persons) + 1)
    signs = rng.choice([-1.0, 1.0], (999, len(persons)))
    ends: dict[str, tuple[float, float, float]] = {}
    lows, highs, drawn, largest = {}, {}, {}, [-np.inf] * 999
    for question, (without, with_, joined) in found.items():
        gain = [with_.get(p, 1) - without.get(p, 1) for p in persons]
        most = [joined.get(p, 1) - without.get(p, 1) for p in persons]
        unknown = [1 - without.get(p, 1) for p in persons]
        lows[question], highs[question] = [], []
        for draw in weights:
            gains = sum(w * g for w, g in zip(draw, gain, strict=False))
            open_ = sum(w * u for w, u in zip(draw, unknown, strict=False)) + draw[-1]
            lows[question].append(gains / open_)
            behind = sum(w * g for w, g in zip(draw, most, strict=False))
            highs[question].append((max(gains, behind) + draw[-1]) / open_)
        scale = (sum(g * g for g in gain) + 0.25) ** 0.5
        for flip, sign in enumerate(signs):
            t = sum(s * g for s, g in zip(sign, gain, strict=True)) / scale
            largest[flip] = max(largest[flip], t)
        drawn[question] = sum(gain) / scale
        total = sum(unknown)
        ends[question] = (sum(gain) / total, sum(gain), total)
    centres = {
        q: (gains / (total + 1), (gains + 1) / (total + 1)) for q, (_, gains, total) in ends.items()
    }
    lower = together(lows, {q: centre[0] for q, centre in centres.items()})
    turned = {q: [1 - high for high in v] for q, v in highs.items()}
    upper = together(turned, {q: 1 - centre[1] for q, centre in centres.items()})
    judged = {}
    for question, (leak, _, _) in ends.items():
        low = float(np.quantile(lows[question], 0.025))
        high = float(np.quantile(highs[question], 0.975))
        chance = (1 + sum(t >= drawn[question] - 1e-9 for t in largest)) / 1000
        lowest, highest = max(0.0, lower[question]), min(1.0, 1 - upper[question])
        judged[question] = leak, low, high, chance, lowest, highest
    return judged


def together(draws: dict[str, list[float]], centres: dict[str, float]) -> dict[str, float]:
    """Return lower ends for all questions: by standard errors or by shares of draws, the lower one."""
    errors = {q: float(np.std(v)) + 1e-12 for q, v in draws.items()}
    farthest = [max((v[i] - centres[q]) / errors[q] for q, v in draws.items()) for i in range(1000)]
    reach = float(np.quantile(farthest, 0.975))
    in_order = {q: sorted(v) for q, v in draws.items()}
    lowest = [min(bisect_right(in_order[q], v[i]) for q, v in draws.items()) for i in range(1000)]
    place = int(np.quantile(lowest, 0.025)) - 1
    return {q: min(centres[q] - reach * errors[q], in_order[q][place]) for q in draws}
