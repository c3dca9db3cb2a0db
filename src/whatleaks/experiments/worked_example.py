"""The papers' worked examples as runs, so that their claims are judged like all others."""

from __future__ import annotations

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.errors import SpecError
from whatleaks.experiments.outcome import Outcome
from whatleaks.experiments.spec import Spec
from whatleaks.experiments.tasks import task
from whatleaks.seeds import Streams

EXAMPLES = ("luo-1",)


def check(spec: Spec) -> None:
    """Refuse an example that does not exist."""
    if spec.options.text("example") not in EXAMPLES:
        raise SpecError(f"options.example must be one of {', '.join(EXAMPLES)}")


@task("worked-example", version=1, options={"example": "luo-1"}, check=check)
def worked_example(spec: Spec, streams: Streams) -> Outcome:
    """Solve Luo et al.'s Example 1 with its printed, rounded logarithms and with exact scores."""
    from whatleaks.attacks.equality_solving import EqualitySolving
    from whatleaks.attacks.equations import equations
    from whatleaks.models.additive import Additive
    from whatleaks.models.linear import Linear
    from whatleaks.threat.views.prediction import WhiteBoxPredictionView

    theta = np.array(
        [[0.08, 0.0002, 0.0005, 0.09], [0.06, 0.0005, 0.0002, 0.08], [0.01, 0.0001, 0.0004, 0.05]]
    ).T
    nothing = sealed(np.zeros(3))
    model = Additive(Linear(sealed(theta[:2]), nothing), Linear(sealed(theta[2:]), nothing))
    own = sealed([[25.0, 2000.0]])
    system = equations(own, sealed([[-2.334, -0.539]]), model)
    printed = (system.right @ np.linalg.pinv(system.matrix).T)[0]
    scores = sealed(model.scores(own, sealed([[8000.0, 3.0]])))
    view = WhiteBoxPredictionView(own, scores, 2, model)
    exact = EqualitySolving().infer(view, streams.rng("attack")).values[0]
    return Outcome(
        {
            "deposit": float(printed[0]),
            "shopping": float(printed[1]),
            "deposit from exact scores": float(exact[0]),
            "shopping from exact scores": float(exact[1]),
        },
        notes=(
            f"{spec.options.text('example')}: ln v1/v2 = 2.334 and ln v2/v3 = 0.539 as printed",
        ),
    )
