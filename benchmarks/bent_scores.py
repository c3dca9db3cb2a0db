"""One unknown column that candidate search does not read: how many values give each person's score?

    python benchmarks/bent_scores.py

The three of 72 networks of ``study_candidates.py`` whose one column leaks less than 0.999. Scores of 20,001 even
values are followed along the range; wherever they cross the released one, a value gives it.
"""

from __future__ import annotations

import numpy as np
from staged import stage_for
from study_candidates import OPTIONS, ROWS

from whatleaks.attacks.candidate_search import CandidateSearch
from whatleaks.models.scored_candidates import ScoredByNetwork
from whatleaks.trial.scenario import Scenario
from whatleaks.trial.settings import Settings

CASES = (
    ("grid-stability", "network", 92),
    ("credit-card-default", "network", 91),
    ("credit-card-default", "joint-network", 91),
)
OFF = 0.01


def main() -> None:
    """Print how many values give the score, and whose guesses are off."""
    for dataset, model, seed in CASES:
        stage = stage_for(
            Scenario(
                dataset,
                unknown=1,
                model=model,
                model_options=Settings(OPTIONS.get(model, {})),
                data=Settings({"rows": ROWS[dataset]}),
                targets=150,
                seed=seed,
            )
        )
        view, truth = stage.view(stage.rows.targets), stage.truth
        scoring, rows = ScoredByNetwork(view.model, view.own), np.arange(len(truth))
        along = scoring.shared(rows, np.linspace(0.0, 1.0, 20_001)[:, None])[..., -1:]
        side = np.sign(along - scoring.each(rows, truth[:, None, :])[..., -1:])[..., 0]
        values = (side[:, 1:] * side[:, :-1] < 0).sum(axis=1)
        guess = CandidateSearch().infer(view, stage.streams.rng("bent")).values
        off = np.abs(guess - truth)[:, 0] > OFF
        print(
            f"{dataset}, {model}, seed {seed}: {(values > 1).sum()} of {len(truth)} have more than one value "
            f"that gives their score; {off.sum()} guesses are off by more than {OFF}, "
            f"{(off & (values > 1)).sum()} of them theirs",
            flush=True,
        )


if __name__ == "__main__":
    main()
