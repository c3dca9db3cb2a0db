"""The documentation's code runs, and its claims are shown."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import numpy as np

from whatleaks.arrays import sealed
from whatleaks.attacks.registry import AttackCard
from whatleaks.threat.registry import THREATS
from whatleaks.threat.views.prediction import PredictionView

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_example_attack_runs_and_is_short() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (DOCS / "adding-an-attack.md").read_text(), re.S)
    assert len(blocks[0].splitlines()) < 60
    module = ModuleType("example_attack")
    module.__dict__["__name__"] = "example_attack"
    import sys

    sys.modules["example_attack"] = module
    exec(compile(blocks[0], "example_attack", "exec"), module.__dict__)
    view = PredictionView(sealed([[0.2, 0.4], [1.0, 0.0]]), sealed([[0.5, 0.5]] * 2), 3)
    guess = module.OwnMean().infer(view, np.random.default_rng(0))
    assert np.allclose(guess.values, [[0.3] * 3, [0.5] * 3])
    card = eval(blocks[1], {"AttackCard": AttackCard, "OwnMean": module.OwnMean})
    assert card.build().name == card.name


def test_every_threat_is_explained() -> None:
    text = (DOCS / "threat-models.md").read_text()
    for name in THREATS:
        assert f"`{name}`" in text


def test_documents_name_no_place_of_the_authors_machine() -> None:
    root = DOCS.parent
    for path in [root / "README.md", *DOCS.rglob("*.md"), *root.glob("examples/*")]:
        text = path.read_text()
        assert "/work/" not in text, path
        assert "/tmp/" not in text, path
