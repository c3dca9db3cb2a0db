"""What the page on Yao et al. shows besides verdicts: pictures, embeddings, error against steps.

No claim is judged by these runs. ``python -m whatleaks_lab.papers.yao_gallery`` makes them (about ten
minutes of one core) and keeps what the figures need in ``results/gallery/yao.json``;
``whatleaks_lab.report.yao_figures`` draws from there. Named parts alone (``courses``, ``halts``) are made
anew with their names.

A training of few steps is the beginning of a longer one with the same seed: the same batches, the
same first weights, the same streams. So errors after 25 to 400 steps are the course of one run.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.files import write_atomically
from whatleaks.metrics.measurement import Measurement
from whatleaks.seeds import Streams
from whatleaks.trial.plan import plan
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.trial import run_trial, stage_of, train
from whatleaks_lab.papers.ledger import results_home
from whatleaks_lab.papers.yao_detectors import HONEST, NORMS
from whatleaks_lab.papers.yao_setup import (
    BAR,
    BREAKING,
    CREDIT,
    FIRST_SEED,
    FRAMES,
    HIJACKS,
    IOT,
    MNIST,
    hijacked,
    honest,
    pictures,
    table,
)

SHOWN = 8  # pictures of the grid
POINTS = 150  # records of each cloud
WATCHED = 400  # steps of Y06's trainings, where the detectors' halts come from
TIMES = (25, 50, 100, 200, WATCHED)
SEEDS = 3
GAME = (CREDIT, IOT)
GAME_SEEDS = range(FIRST_SEED, FIRST_SEED + SEEDS)
MORE_DETECTORS = (NORMS, "echo")
PERPLEXITY = 30.0


def gallery_path() -> Path:
    """Return where the numbers of the figures are kept."""
    return results_home() / "gallery" / "yao.json"


def picture_rows() -> dict[str, Any]:
    """Return whole pictures, 0 to 255, of the first targets: the originals and every hijack's."""
    rows: dict[str, Any] = {}
    for scenario in picture_runs():
        shown = dict(run_trial(replace(scenario, shown=SHOWN)).records.pictures)
        own = shown.pop("own")
        for name, half in shown.items():
            rows.setdefault(name, _whole(own, half))
    return rows


def picture_runs() -> list[Scenario]:
    """Return the runs of the grid: sizes of Y03, seed 10."""
    base = pictures("standard")
    return [run for name in HIJACKS for run in hijacked(base, name, seed=[FIRST_SEED])]


def _whole(own: Floats, half: Floats) -> Any:
    _, height, _ = FRAMES[MNIST]
    parts = [np.clip(part, 0.0, 1.0).reshape(len(part), height, -1) for part in (own, half)]
    return np.rint(255.0 * np.concatenate(parts, axis=2)).astype(int).tolist()


def clouds() -> dict[str, Any]:
    """Return t-SNE of the victim's and the encoder's embeddings of the same records (Figs 4, 5, 7).

    Both in one map, with the auxiliary classifier and with a plain discriminator.
    """
    from sklearn.manifold import TSNE

    found: dict[str, Any] = {}
    for labelled in (True, False):
        options = {} if labelled else {"attack_options": {"labelled": False}}
        (scenario,) = hijacked({**pictures("standard"), **options}, "urvfl", seed=[FIRST_SEED])
        parts = plan(scenario)
        training = train(scenario, parts, None)
        assert not isinstance(training, str)
        stage = stage_of(scenario, parts, training)
        rows = stage.rows.targets[:POINTS]
        got = stage.view(rows).embeddings
        wanted = stage.trained.reading.imitated(stage.holdings.joined(stage.victims, rows))
        seed = int(Streams(FIRST_SEED).rng("t-sne").integers(2**31))
        points = TSNE(perplexity=PERPLEXITY, random_state=seed).fit_transform(
            np.concatenate([wanted, got])
        )
        told = points.round(2).tolist()
        found["with the classifier" if labelled else "plain"] = {
            "the encoder's": told[: len(rows)],
            "the victim's": told[len(rows) :],
        }
    return found


def _watched(dataset: str) -> dict[str, Any]:
    """Return a training of Y06 on a table."""
    return {**table("standard", dataset), "model_options": {"steps": WATCHED}}


def course_runs() -> Iterator[tuple[str, str, int, Scenario]]:
    """Yield set, hijack, steps and run: trainings of Y06, ended early and watched by nobody."""
    for dataset in GAME:
        for name in BREAKING:
            for run in hijacked(_watched(dataset), name, seed=GAME_SEEDS):
                for steps in TIMES:
                    shorter = run.model_options.merged({"steps": steps})
                    ended = replace(run, model_options=shorter, measures=("standardised",))
                    yield dataset, name, steps, ended


def courses() -> dict[str, Any]:
    """Return errors by set, hijack and steps, seed by seed, and those of a regression without messages."""
    found: dict[str, Any] = {}
    for dataset, name, steps, scenario in course_runs():
        course = found.setdefault(dataset, {}).setdefault(name, {})
        at = course.setdefault(str(steps), {"error": [], "bar": []})
        _add_errors(at, scenario, name)
    return found


def halt_runs() -> Iterator[tuple[str, str, str, Scenario]]:
    """Yield set, detector, role and run: Y06's trainings under the detectors that Y06 does not have."""
    for dataset in GAME:
        for detector in MORE_DETECTORS:
            base = {**_watched(dataset), "detector": detector}
            for run in honest(base, seed=GAME_SEEDS):
                yield dataset, detector, HONEST, run
            for name in BREAKING:
                for run in hijacked(base, name, seed=GAME_SEEDS):
                    yield dataset, detector, name, replace(run, measures=("standardised",))


def halts() -> dict[str, Any]:
    """Return by set, detector and role, seed by seed, whether and when it was halted, and the errors then."""
    found: dict[str, Any] = {}
    for dataset, detector, role, scenario in halt_runs():
        roles = found.setdefault(dataset, {}).setdefault(detector, {})
        at = roles.setdefault(role, {"halted": [], "steps": [], "error": [], "bar": []})
        _add_errors(at, scenario, role)
    return found


def _add_errors(at: dict[str, list[Any]], scenario: Scenario, role: str) -> None:
    """Run a training and put its numbers behind those of the seeds before."""
    outcome = run_trial(scenario).outcome
    numbers = {**outcome.baselines, **outcome.measurements}
    for key in ("halted", "steps"):
        if key in at:
            at[key].append(outcome.measurements[key])
    for kind, guess in (("error", role), ("bar", BAR)) if scenario.attacks else ():
        value = numbers[f"{guess} standardised"]
        assert isinstance(value, Measurement)
        at[kind].append(value.value)


PARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "pictures": picture_rows,
    "clouds": clouds,
    "courses": courses,
    "halts": halts,
}


def main(arguments: Sequence[str] = ()) -> None:
    """Make all runs, or those of some parts, and keep what the figures need."""
    from whatleaks.runs.executors.inline import one_thread

    tree: dict[str, Any] = {}
    if arguments:
        tree = json.loads(gallery_path().read_text("utf-8"))
    with one_thread():
        for name in arguments or PARTS:
            tree[name] = PARTS[name]()
    sizes = {"seed": FIRST_SEED, "seeds": SEEDS, "points": POINTS, "perplexity": PERPLEXITY}
    text = json.dumps({**tree, "sizes": sizes}, allow_nan=False)
    write_atomically(gallery_path(), text.encode())


if __name__ == "__main__":
    main(sys.argv[1:])
