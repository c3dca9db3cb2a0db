"""What a trial measures beside errors and accuracy, by name, where a scenario asks for it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.catalog import card, cards
from whatleaks.defenses.protocol import DataDefense
from whatleaks.errors import SpecError, UsageError, nearest
from whatleaks.metrics.branching import branching_advantage, branching_rate, pooled_branching_rate
from whatleaks.metrics.correlation import own_correlation, score_correlation
from whatleaks.metrics.intervals import mean_over_records, paired_difference, wilson
from whatleaks.metrics.least_norm import least_norm_bound
from whatleaks.metrics.picture import psnr, ssim
from whatleaks.seeds import Streams
from whatleaks.threat.guess import ValueGuess
from whatleaks.trial.control import SUFFIX
from whatleaks.trial.digits import named_by_digits
from whatleaks.trial.evaluator import AnyScored, Evaluator
from whatleaks.trial.isolation import commit, stream_of
from whatleaks.trial.outcome import Quantity
from whatleaks.trial.scorers.branches import BranchScored
from whatleaks.trial.scorers.intervals import IntervalScored
from whatleaks.trial.scorers.outputs import OutputScored
from whatleaks.trial.scorers.pictures import PictureScored
from whatleaks.trial.scorers.values import Scored
from whatleaks.trial.stage import Stage
from whatleaks.trial.truth import Committed

Found = dict[str, Quantity]


@dataclass(frozen=True)
class Done:
    """A trial whose guesses are in: what a measure may look at."""

    stage: Stage
    view: Any
    evaluator: Evaluator
    answers: Mapping[str, Committed]
    scored: Sequence[AnyScored]
    streams: Streams
    attacks: Sequence[Any] = ()


def numbers_of(scored: AnyScored, streams: Streams) -> tuple[Found, list[str]]:
    """Return the numbers that stand for one guess in a record; notes say which do not exist."""
    name = scored.name
    if isinstance(scored, Scored):
        errors = scored.squared.mean(axis=1)
        return {name: mean_over_records(errors, "mse", streams.rng(f"interval/{name}"))}, []
    if isinstance(scored, OutputScored):
        return {name: scored.relative}, []
    if isinstance(scored, IntervalScored):
        width, held = scored.width.mean(axis=1), scored.held.mean(axis=1)
        return {
            f"{name} width": mean_over_records(width, "width", streams.rng(f"interval/{name}")),
            f"{name} held": mean_over_records(held, "share", streams.rng(f"interval/{name} held")),
        }, []
    if isinstance(scored, PictureScored):
        rng, other = streams.rng(f"interval/{name}"), streams.rng(f"interval/{name} psnr")
        return {
            name: mean_over_records(scored.squared, "mse", rng),
            f"{name} psnr": mean_over_records(scored.psnr, "dB", other),
        }, []
    return _rates(scored, name, streams, (name, f"{name} pooled"))


def _rates(
    scored: BranchScored, name: str, streams: Streams, called: tuple[str, str]
) -> tuple[Found, list[str]]:
    """Return both branching rates, or why there is none."""
    rate, pooled = called
    try:
        return {
            rate: branching_rate(scored.nodes, scored.right, streams.rng(f"interval/{rate}")),
            pooled: pooled_branching_rate(
                scored.nodes, scored.right, streams.rng(f"interval/{name} pooled")
            ),
        }, []
    except UsageError as nothing:
        return {}, [f"{name}: {nothing}"]


def _by_column(done: Done) -> tuple[Found, list[str]]:
    """Return every attack's error column by column, beside the columns' variance."""
    found: Found = {"variance by column": done.stage.truth.var(axis=0).tolist()}
    for scored in done.scored:
        if isinstance(scored, Scored) and scored.role == "attack":
            found[f"{scored.name} by column"] = scored.squared.mean(axis=0).tolist()
    return found, []


def _correlations(done: Done) -> tuple[Found, list[str]]:
    """Return every column's correlations with what the adversary sees (U Eqs 16, 17)."""
    own, truth = done.view.own, done.stage.truth
    return {
        "own correlation by column": own_correlation(own, truth).tolist(),
        "score correlation by column": score_correlation(done.view.scores, truth).tolist(),
    }, []


def _bounds(done: Done) -> tuple[Found, list[str]]:
    """Return the paper's bound on the least-norm guess (U Eq 15), of the targets and of all data."""
    holdings = done.stage.holdings
    everything = holdings.joined(tuple(holdings.columns))
    rng = done.streams.rng("interval/bound")
    return {
        "bound": mean_over_records(least_norm_bound(done.stage.truth), "mse", rng),
        "bound of all columns": float(2 * np.mean(everything**2)),
    }, []


def _branches(done: Done) -> tuple[Found, list[str]]:
    """Return the branching rate of the paths that guessed values take (U Fig 8)."""
    found: Found = {}
    notes: list[str] = []
    for scored in done.scored:
        if not isinstance(scored, Scored) or scored.name not in done.answers:
            continue
        name = scored.name
        counted = done.evaluator.branches(done.answers[name], scored.role)
        rates, said = _rates(
            counted, name, done.streams, (f"{name} branches", f"{name} branches pooled")
        )
        found |= rates
        notes += said
    return found, notes


def _advantage(done: Done) -> tuple[Found, list[str]]:
    """Return how much the first guess of paths beats the second, record by record."""
    paths = [scored for scored in done.scored if isinstance(scored, BranchScored)]
    if len(paths) < 2:
        return {}, ["advantage: two guesses of paths are needed"]
    first, second = paths[:2]
    found: Found = {"candidates": float(first.candidates.mean())}
    rng = done.streams.rng("interval/advantage")
    try:
        found["advantage"] = branching_advantage(
            first.nodes, first.right, second.nodes, second.right, rng
        )
    except UsageError as nothing:
        return found, [f"advantage: {nothing}"]
    return found, []


def _relative(done: Done) -> tuple[Found, list[str]]:
    """Return mean error over mean size of guessed tables, and how many tables fit (L 6.2)."""
    found: Found = {}
    for scored in done.scored:
        if isinstance(scored, Scored) and scored.role == "attack":
            table, best = done.evaluator.relative_errors(done.answers[scored.name])
            found[f"{scored.name} relative"] = table
            found[f"{scored.name} best relative"] = best
            found[f"{scored.name} tables"] = 1 + scored.alternatives
    size = float(np.abs(done.stage.truth).mean())
    found["half relative"] = float(np.abs(0.5 - done.stage.truth).mean()) / size
    return found, []


def _digits(done: Done) -> tuple[Found, list[str]]:
    """Return how many digits of a score tell whole records."""
    return named_by_digits(done.view, done.evaluator, done.streams)


def _attack_accuracy(done: Done) -> tuple[Found, list[str]]:
    """Return how often a classifier takes guess and truth for the same class (J Eq 24).

    It is trained on the victims' columns of records that nobody attacks, with their labels.
    """
    stage, rng = done.stage, done.streams.rng("attack accuracy")
    rows = stage.rows.others if len(stage.rows.others) else stage.rows.training
    columns, labels = stage.holdings.joined(stage.victims, rows), stage.holdings.labels[rows]
    if len(np.unique(labels)) < 2:
        return {}, ["attack accuracy: the records to learn a classifier on have one class"]
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(random_state=int(rng.integers(2**31))).fit(columns, labels)
    found: Found = {}
    for scored in done.scored:
        if isinstance(scored, Scored) and scored.name in done.answers:
            same, count = done.evaluator.attack_accuracy(done.answers[scored.name], model.predict)
            found[f"{scored.name} accuracy"] = wilson(same, count, "attack accuracy")
    return found, []


def _by_steps(done: Done) -> tuple[Found, list[str]]:
    """Return every stepwise attack's error after a 64th, a 16th, a quarter and all of its steps.

    The attack is let loose again with fewer steps and the same luck; it never learns its error.
    """
    found: Found = {}
    for one in done.attacks:
        steps = getattr(one, "steps", 0)
        if not steps or one.name not in done.answers:
            continue
        places = sorted({max(1, steps // part) for part in (64, 16, 4, 1)})
        stream = stream_of(done.stage.threat.name, one)
        errors = []
        for place in places:
            answer = commit(replace(one, steps=place), done.view, done.streams.rng(stream))
            errors.append(done.evaluator.error(answer))
        found[f"{one.name} steps"] = [float(place) for place in places]
        found[f"{one.name} error by steps"] = errors
    return found, []


def _standardised(done: Done) -> tuple[Found, list[str]]:
    """Return every guess's error where each column has variance 1 (as after StandardScaler).

    Variances are those of the training records. Columns that do not vary there are left out.
    """
    stage = done.stage
    variance = stage.holdings.joined(stage.victims, stage.rows.training).var(axis=0)
    vary = variance > 0.0
    if not vary.any():
        return {}, ["standardised: no column of the training records varies"]
    found: Found = {}
    for scored in done.scored:
        if isinstance(scored, Scored):
            errors = (scored.squared[:, vary] / variance[vary]).mean(axis=1)
            name = f"{scored.name} standardised"
            rng = done.streams.rng(f"interval/{name}")
            found[name] = mean_over_records(errors, "mse, variance 1", rng)
    return found, []


def _imitation(done: Done) -> tuple[Found, list[str]]:
    """Return how far the victim's embeddings are from those that a hijacker's encoders give.

    Mean squared distance and mean cosine distance, record by record (Yao et al. VI-A).
    """
    reading = done.stage.trained.reading
    if not getattr(reading, "encoders", ()):
        return {}, ["imitation: there is no encoder that the victim was to become"]
    wanted, got = reading.imitated(done.stage.truth), done.view.embeddings
    lengths = np.linalg.norm(wanted, axis=1) * np.linalg.norm(got, axis=1)
    cosine = 1.0 - (wanted * got).sum(axis=1) / np.maximum(lengths, 1e-300)
    name = reading.name
    return {
        f"{name} embedding mse": mean_over_records(
            ((wanted - got) ** 2).mean(axis=1), "mse", done.streams.rng(f"interval/{name} mse")
        ),
        f"{name} embedding cosine": mean_over_records(
            cosine, "cosine distance", done.streams.rng(f"interval/{name} cosine")
        ),
    }, []


MEASURES: dict[str, Callable[[Done], tuple[Found, list[str]]]] = {
    "by-column": _by_column,
    "correlations": _correlations,
    "bounds": _bounds,
    "branches": _branches,
    "advantage": _advantage,
    "relative": _relative,
    "digits": _digits,
    "attack-accuracy": _attack_accuracy,
    "by-steps": _by_steps,
    "standardised": _standardised,
    "imitation": _imitation,
}
PICTURES = "pictures-"  # pictures-28: guesses as pictures 28 pixels high; pictures-32x3: in colours
BELOW = "below-"  # below-0.05: the share of records whose error is under 0.05
KEPT = "kept-"  # kept-correlation-max-0.7: the error on the columns that this defense would keep


def measure(name: str, done: Done) -> tuple[Found, list[str]]:
    """Measure one thing; the second part are notes on what could not be measured."""
    if name.startswith(BELOW):
        return _below(float(name.removeprefix(BELOW)), done), []
    if name.startswith(KEPT):
        return _kept(_filter(name), done)
    if name.startswith(PICTURES):
        return _pictures(*_shape(name), done), []
    return MEASURES[name](done)


def _shape(name: str) -> tuple[int, int]:
    """Read height and colours."""
    height, _, colours = name.removeprefix(PICTURES).partition("x")
    try:
        return int(height), int(colours or 1)
    except ValueError:
        raise SpecError(f"measure {name!r} needs a height, such as pictures-28") from None


def _pictures(height: int, colours: int, done: Done) -> Found:
    """Return errors on the scale -1 to 1 of the networks, PSNR and SSIM of guessed pictures."""
    shape = (-1, height, done.stage.truth.shape[1] // (height * colours), colours)
    truth, found = done.stage.truth.reshape(shape), Found()
    errors: dict[str, Floats] = {}
    for name, answer in done.answers.items():
        if not isinstance(answer.guess, ValueGuess):
            continue
        guess = np.clip(answer.guess.values, 0.0, 1.0)
        squared = ((guess - done.stage.truth) ** 2).mean(axis=1)
        for kind, values, unit in (
            ("pixels", 4.0 * squared, "mse, -1 to 1"),
            ("psnr", psnr(squared), "dB"),
            ("ssim", ssim(guess.reshape(shape), truth), "ssim"),
        ):
            rng = done.streams.rng(f"interval/{name} {kind}")
            found[f"{name} {kind}"] = mean_over_records(values, unit, rng)
        errors[name] = 4.0 * squared
    return found | _beyond(done, errors)


def _beyond(done: Done, errors: Mapping[str, Floats]) -> Found:
    """Return by how much every attack's error lies below the best guess without its messages.

    Record by record; rivals are the baselines, and the attack itself with messages of others. Of
    baselines that one of them weighs against each other only that one is a rival: it chose without
    the truth.
    """
    found = Found()
    weighed = {name for one in cards("baseline") for name in getattr(one.part, "weighs", ())}
    for one in done.scored:
        if not isinstance(one, Scored) or one.role != "attack" or one.name not in errors:
            continue
        rivals = {
            s.name: 4.0 * s.squared.mean(axis=1) if s.role == "control" else errors[s.name]
            for s in done.scored
            if isinstance(s, Scored)
            and (s.name == one.name + SUFFIX or (s.role == "baseline" and s.name in errors))
            and s.name not in weighed
        }
        if rivals:
            best = min(rivals, key=lambda name: float(rivals[name].mean()))
            rng = done.streams.rng(f"interval/{one.name} adds")
            adds = paired_difference(rivals[best], errors[one.name], "mse, -1 to 1", rng)
            found |= {f"{one.name} adds": adds, f"{one.name} rival": best}
    return found


def _below(border: float, done: Done) -> Found:
    return {
        f"{scored.name} below": float((scored.squared.mean(axis=1) < border).mean())
        for scored in done.scored
        if isinstance(scored, Scored)
    }


def _kept(rule: DataDefense, done: Done) -> tuple[Found, list[str]]:
    """Return every guess's error on the columns that would stay: what a filter leaves of the rest."""
    holdings = done.stage.holdings
    kept = rule.keep(holdings.joined(done.stage.members), holdings.joined(done.stage.victims))
    if not kept.any():
        return {}, [f"{rule.name} would keep no column"]
    return {
        f"{scored.name} kept": float(scored.squared[:, kept].mean())
        for scored in done.scored
        if isinstance(scored, Scored)
    }, []


def _filter(name: str) -> DataDefense:
    built = card("defense", name.removeprefix(KEPT)).build()
    if not isinstance(built, DataDefense):
        raise SpecError(f"measure {name!r}: {built.name} keeps no columns back")
    return built


def check_measures(names: Sequence[str]) -> None:
    """Refuse a measure that does not exist."""
    for name in names:
        if name.startswith(BELOW):
            try:
                float(name.removeprefix(BELOW))
            except ValueError:
                raise SpecError(f"measure {name!r} needs a number, such as below-0.05") from None
        elif name.startswith(KEPT):
            _filter(name)
        elif name.startswith(PICTURES):
            _shape(name)
        elif name not in MEASURES:
            raise SpecError(f"unknown measure {name!r}.{nearest(name, MEASURES)}")
