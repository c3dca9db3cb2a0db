"""Who reads which columns exactly, at which digits: the numbers behind docs/attacks/lattice-decoding.md.

    python benchmarks/study_lattice.py [--records 100] [--out docs/attacks/lattice-decoding.json]

A logistic regression on satellite, credit, adult, bank and drive; unknown columns drawn at
random; scores released as doubles, 32-bit floats, or with 6, 4, 3 or 2 decimals. Beside lattice
decoding: equality solving, half*, gradient inversion and a supervised limit on the same records.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from lattice_tables import TRAINING, Table, knowing, released, table
from sklearn.ensemble import ExtraTreesRegressor, RandomForestClassifier
from sklearn.linear_model import LinearRegression

from whatleaks.arrays import Bools, Floats, Ints, sealed
from whatleaks.attacks.equality_solving import EqualitySolving
from whatleaks.attacks.gradient_inversion import GradientInversion
from whatleaks.attacks.half_star import HalfStar
from whatleaks.attacks.lattice_decoding import LatticeDecoding
from whatleaks.models.additive import Additive, log_ratios
from whatleaks.models.bits_rule import bits_of
from whatleaks.models.grids import Grids
from whatleaks.models.lattice import STATUS, UNIQUE, LatticeSettings, decode
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network
from whatleaks.models.precision import Precision, seen_precision
from whatleaks.models.readings import score_readings, sum_readings
from whatleaks.threat.views.prediction import WhiteBoxLinearView

PRECISIONS = ("64", "32", "6", "4", "3", "2")
COUNTS = {
    "satellite": (6, 12, 18, 24, 30, 34),
    "credit": (3, 6, 10, 14),
    "adult": (3, 6, 9, 12),
    "bank": (4, 8, 12, 16),
    "drive": (4, 8, 12, 16, 24),
}
SMALL_CREDIT = tuple(range(1, 11))  # sex, education, marriage, age, six payment states
KNOWN = 300
LIMIT_RECORDS = 2000
SETTINGS = LatticeSettings()  # as the attack itself searches


def right(values: Floats, truth: Floats, grids: Grids) -> Bools:
    """Say which records have every cell right (free cells to a millionth of their range)."""
    tolerance = [1e-6 * (grid.high - grid.low) if grid.free else 1e-9 for grid in grids.columns]
    return np.asarray((np.abs(values - truth) <= np.array(tolerance)).all(axis=1))


def exact(values: Floats, truth: Floats, grids: Grids) -> float:
    """Return the share of records with every cell right."""
    return float(right(values, truth, grids).mean())


def error(values: Floats, truth: Floats) -> float:
    """Return the mean squared error of a cell."""
    return float(((values - truth) ** 2).mean())


def limit(evidence: Floats, truth: Floats, cut: int, seed: int) -> float:
    """Return the error of a supervised regressor from all that is seen to the truth."""
    x, y, new, real = evidence[cut:], truth[cut:], evidence[:cut], truth[:cut]
    forest = ExtraTreesRegressor(50, min_samples_leaf=2, random_state=seed, n_jobs=1)
    guesses = [
        np.clip(model.fit(x, y).predict(new).reshape(real.shape), y.min(axis=0), y.max(axis=0))
        for model in (LinearRegression(), forest)
    ]
    return min(error(guess, real) for guess in guesses)


def run(data: Table, hidden: Ints, precision: str, records: int, slow: bool) -> dict[str, Any]:
    """Measure one choice of columns at one precision."""
    own, theirs, active, passive = data.split(hidden)
    grids = data.grids.pick(tuple(theirs.tolist()))
    model = Additive(active, passive)
    targets = data.x[TRAINING : TRAINING + records]
    mine, truth = sealed(targets[:, own]), targets[:, theirs]
    scores = sealed(released(model.scores(mine, truth), precision))
    view = knowing(
        mine, scores, len(theirs), model, grids,
        sealed(data.x[:KNOWN][:, own]), sealed(data.x[:KNOWN][:, theirs]),
    )  # fmt: skip
    plain = WhiteBoxLinearView(mine, scores, len(theirs), model)
    rng = np.random.default_rng(0)
    readings = score_readings(mine, scores, active, passive, grids, seen_precision(scores))
    start = time.process_time()
    found = decode(readings, grids, SETTINGS)
    seconds = time.process_time() - start
    gridded = [j for j in range(len(grids)) if j not in grids.free]
    certain = found.status == UNIQUE
    some = range(0, len(truth), max(1, len(truth) // 20))
    bits = [bits_of(readings, grids, i).released for i in some]
    row: dict[str, Any] = {
        "columns": len(hidden),
        "encoded": len(theirs),
        "free": len(grids.free),
        "precision": precision,
        "records": len(truth),
        "hidden_bits": round(grids.bits(), 2),
        "released_bits": round(float(np.median(bits)), 2),
        "luck": round(float(np.median(found.luck)), 2) if gridded else None,
        "exact_share": exact(found.values, truth, grids),
        "unique_share": float(certain.mean()),
        "false_unique": int((certain & ~right(found.values, truth, grids)).sum()),
        "status": {word: int((found.status == s).sum()) for s, word in enumerate(STATUS)},
        "seconds": round(seconds, 4),
        "reductions": found.reductions,
    }
    for prior, answer in (("none", "mean"), ("auxiliary", "mean"), ("auxiliary", "mode")):
        guess = LatticeDecoding(prior, answer, settings=SETTINGS).infer(view, rng).values
        row[f"lattice_{prior}_{answer}"] = {
            "mse": error(guess, truth),
            "exact": exact(guess, truth, grids),
        }
    others: list[tuple[str, Any]] = [
        ("equality_solving", EqualitySolving(clip=True)),
        ("half_star", HalfStar()),
    ]
    if slow:
        others.append(
            (
                "inversion",
                GradientInversion(steps=1500, learning_rate=0.01, start="half", clip=True),
            )
        )
    for name, attack in others:
        guess = attack.infer(plain, rng).values
        row[name] = {"mse": error(guess, truth), "exact": exact(guess, truth, grids)}
    if slow:
        more = data.x[TRAINING : TRAINING + records + LIMIT_RECORDS]
        seen = released(model.scores(more[:, own], more[:, theirs]), precision)
        evidence = np.concatenate([more[:, own], seen, log_ratios(seen)], axis=1)
        row["supervised_limit"] = {"mse": limit(evidence, more[:, theirs], records, 0)}
    return row


def price(data: Table) -> dict[str, dict[str, float]]:
    """Return the model's accuracy and log loss when its scores are rounded."""
    x, y = data.x[TRAINING:], data.labels[TRAINING:]
    weights = data.model
    scores = Additive(weights, Linear(np.zeros((0, weights.weights.shape[1])), np.zeros_like(weights.bias))).scores(x, np.zeros((len(x), 0)))  # fmt: skip
    told = {}
    for precision in (*PRECISIONS, "1"):
        seen = released(scores, precision)
        tied = (seen == seen.max(axis=1, keepdims=True)).sum(axis=1)
        hit = seen[np.arange(len(y)), y] == seen.max(axis=1)
        floor = 1e-16 if precision in ("64", "32") else 0.5 * 10.0 ** -int(precision)
        loss = -np.log(np.maximum(seen[np.arange(len(y)), y], floor)).mean()
        told[precision] = {
            "accuracy": float((hit / tied).mean()),  # ties broken at random
            "log_loss": float(loss),
        }
    return told


def elsewhere(data: Table, records: int) -> dict[str, Any]:
    """Measure where it ends: partial sums, blurred weights, a network beside, votes of a forest."""
    told: dict[str, Any] = {"partial_sums": {}, "blurred_weights": {}, "votes": {}}
    credit = table("credit")
    own, theirs, _, passive = credit.split(np.array(SMALL_CREDIT))
    grids = credit.grids.pick(tuple(theirs.tolist()))
    truth = credit.x[TRAINING : TRAINING + records][:, theirs]
    sums = truth @ passive.weights
    for places in (48, 44, 40, 36, 32, 28, 24, 16):
        fixed = np.round(np.ldexp(sums, places)) / 2.0**places
        readings = sum_readings(fixed, passive.weights, grids, 0.5 * 2.0**-places)
        found = decode(readings, grids)
        told["partial_sums"][str(places)] = {
            "exact": exact(found.values, truth, grids),
            "unique": float((found.status == UNIQUE).mean()),
        }
    rng = np.random.default_rng(1)
    for places in (48, 40, 32, 24, 16, 10):
        own, theirs, active, passive = data.split(np.arange(24, 36))
        grids = data.grids.pick(tuple(theirs.tolist()))
        rows = data.x[TRAINING : TRAINING + records]
        scores = Additive(active, passive).scores(rows[:, own], rows[:, theirs])
        blur = 2.0**-places
        wrong = [
            Linear(part.weights * (1.0 + blur * rng.uniform(-1, 1, part.weights.shape)), part.bias)
            for part in (active, passive)
        ]
        known = Precision(arithmetic=max(2.0**-53, blur))
        found = decode(
            score_readings(rows[:, own], scores, wrong[0], wrong[1], grids, known), grids
        )
        good = right(found.values, rows[:, theirs], grids)
        told["blurred_weights"][str(places)] = {
            "exact": float(good.mean()),
            "unique": float((found.status == UNIQUE).mean()),
            "false_unique": int(((found.status == UNIQUE) & ~good).sum()),
        }
    own, theirs, _, passive = data.split(np.arange(18, 36))
    hidden = (rng.normal(size=(len(own), 16)), rng.normal(size=(16, 6)))
    network = Network(hidden, (rng.normal(size=16), rng.normal(size=6)), "tanh")
    rows = data.x[TRAINING : TRAINING + records]
    mixed = Additive(network, passive)
    scores = mixed.scores(rows[:, own], rows[:, theirs])
    grids = data.grids.pick(tuple(theirs.tolist()))
    found = decode(
        score_readings(rows[:, own], scores, network, passive, grids, seen_precision(scores)), grids
    )
    told["network_beside_18_columns"] = {
        "exact": exact(found.values, rows[:, theirs], grids),
        "unique": float((found.status == UNIQUE).mean()),
    }
    told["votes"] = votes(credit, records)
    told["noise"] = noise(data, records)
    return told


def noise(data: Table, records: int) -> dict[str, Any]:
    """Measure normal noise of a public deviation on the scores; nothing is ever proven then."""
    told = {}
    own, theirs, active, passive = data.split(np.arange(24, 30))
    grids = data.grids.pick(tuple(theirs.tolist()))
    model = Additive(active, passive)
    rows, known = data.x[TRAINING : TRAINING + records], data.x[:KNOWN]
    mine, truth = sealed(rows[:, own]), rows[:, theirs]
    rng = np.random.default_rng(2)
    for deviation in (1e-10, 1e-8, 1e-6, 1e-4, 1e-2):
        drawn = model.scores(mine, truth) + deviation * rng.normal(size=(len(mine), 6))
        scores = sealed(np.clip(drawn, 0.0, 1.0))
        view = knowing(
            mine, scores, len(theirs), model, grids, sealed(known[:, own]), sealed(known[:, theirs])
        )
        half = HalfStar().infer(WhiteBoxLinearView(mine, scores, len(theirs), model), rng)
        row = {"half_star": error(half.values, truth)}
        for prior in ("none", "auxiliary"):
            for answer in ("mean", "mode"):
                attack = LatticeDecoding(prior, answer, noise=deviation, settings=SETTINGS)
                guess = attack.infer(view, rng).values
                row[f"{prior}_{answer}_mse"] = error(guess, truth)
                row[f"{prior}_{answer}_exact"] = exact(guess, truth, grids)
        told[str(deviation)] = row
    return told


def votes(credit: Table, records: int) -> dict[str, Any]:
    """Count the grid points that give the same vote fractions of a forest: no lattice, all tried."""
    chosen = [1, 2, 3, 5]  # sex, education, marriage, the last payment state
    grids = [credit.grids.columns[j] for j in chosen]
    points = np.stack(
        np.meshgrid(*[grid.low + grid.step * np.arange(grid.levels) for grid in grids], indexing="ij"),
        axis=-1,
    ).reshape(-1, len(chosen))  # fmt: skip
    told = {}
    for trees in (10, 100, 500):
        forest = RandomForestClassifier(trees, random_state=0, n_jobs=1)
        forest.fit(credit.x[:TRAINING], credit.labels[:TRAINING])
        alike = []
        for record in credit.x[TRAINING : TRAINING + records // 2]:
            tried = np.repeat(record[None, :], len(points) + 1, axis=0)
            tried[1:, chosen] = points
            answers = forest.predict_proba(tried)[:, 1]
            alike.append(int((np.abs(answers[1:] - answers[0]) < 1e-9).sum()))
        told[str(trees)] = {
            "points": len(points),
            "bits": float(np.log2(len(points))),
            "alone": float((np.array(alike) == 1).mean()),
            "median_alike": float(np.median(alike)),
        }
    return told


def written(told: dict[str, Any]) -> str:
    """Return the numbers as JSON, one case a line, to six places."""

    def short(tree: Any) -> Any:
        if isinstance(tree, float):
            return float(f"{tree:.6g}")
        if isinstance(tree, dict):
            return {key: short(value) for key, value in tree.items()}
        return [short(value) for value in tree] if isinstance(tree, list) else tree

    text = json.dumps(short(told), separators=(",", ":"))
    return text.replace('{"columns"', '\n{"columns"') + "\n"


def main() -> None:
    """Run the study and write its numbers."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--records", type=int, default=100)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--out", type=Path, default=Path("docs/attacks/lattice-decoding.json"))
    given = parser.parse_args()
    told: dict[str, Any] = {"records": given.records, "tables": {}}
    for name, one_hot in (
        ("satellite", False), ("credit", False), ("adult", False), ("adult", True),
        ("bank", False), ("bank", True), ("drive", False),
    ):  # fmt: skip
        data = table(name, one_hot, rows=6435 if name == "satellite" else 8000)
        title = name + (" one-hot" if one_hot else "")
        rows = []
        choices = [
            (draw, np.sort(np.random.default_rng([draw, count]).permutation(len(data.unknowns))[:count]))
            for count in COUNTS[name]
            for draw in range(given.draws)
        ]  # fmt: skip
        if name == "credit":
            choices.append((0, np.array(SMALL_CREDIT)))
        for draw, hidden in choices:
            for precision in PRECISIONS:
                slow = draw == 0 and precision in ("64", "4") and not one_hot
                row = run(data, hidden, precision, given.records, slow)
                row["draw"], row["names"] = draw, [data.names[h] for h in hidden]
                rows.append(row)
        told["tables"][title] = {"rows": rows, "price": price(data)}
        print(title, len(rows), f"{time.process_time():.0f} s", flush=True)
        if name == "satellite":
            told["elsewhere"] = elsewhere(data, given.records)
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(written(told))


if __name__ == "__main__":
    main()
