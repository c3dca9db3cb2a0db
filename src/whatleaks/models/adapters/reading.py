"""Any fitted model, whatever library it comes from, as a ``GivenModel``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whatleaks.errors import UsageError
from whatleaks.models.adapters.files import read_file
from whatleaks.models.adapters.given import Boosted, GivenModel, Votes


def read_model(model: Any, columns: Sequence[str], foreign: bool = False) -> GivenModel:
    """Write a fitted model, or one in a file, down; ``columns`` are the table's, without the label.

    Which library it comes from is told by its class, so no library is loaded to find out.
    ``foreign``: a file held it.
    """
    if isinstance(model, Path):
        return read_file(model, columns)
    from whatleaks.models.adapters.scikit import from_scikit

    model = getattr(model, "best_estimator_", model)  # what a search over settings has found
    homes = {kind.__module__.partition(".")[0] for kind in type(_last(model)).__mro__}
    if "xgboost" in homes:
        from whatleaks.models.adapters.xgboost_json import from_xgboost

        return from_xgboost(model, columns)
    if "lightgbm" in homes:
        from whatleaks.models.adapters.lightgbm_text import from_lightgbm

        return from_lightgbm(model, columns)
    if "torch" in homes and not hasattr(model, "steps"):
        from whatleaks.models.adapters.torch_module import from_torch

        return from_torch(model, columns)
    if "sklearn" in homes:
        return from_scikit(model, columns, foreign=foreign)
    raise UsageError(
        f"a {type(model).__name__} is no model that can be audited: give a fitted classifier of "
        "scikit-learn, XGBoost or LightGBM, or a torch.nn.Sequential"
    )


def _last(model: Any) -> Any:
    """Return the classifier at the end of a pipeline."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


def about(given: GivenModel, marked: bool) -> tuple[str, ...]:
    """Say in sentences what a report should tell about a given model."""
    told = [
        f"The model was trained elsewhere ({given.source}); nothing was trained here.",
        *given.notes,
    ]
    if given.classes in ((), tuple(str(number) for number in range(given.core.classes))):
        told.append(
            "The model numbers its classes: they stand for the label's values in their order."
        )
    if not marked:
        told.append(
            "Which rows the model was trained on is not known: attacked records may be among them, "
            "and its accuracy may flatter it."
        )
    coded = [coding.column for coding in given.codings if not coding.one_hot]
    if coded:
        told.append(
            f"The model's encoder numbers the words of {', '.join(coded)}: so does the audit."
        )
    if isinstance(given.core, Votes):
        told.append(
            "The model releases the classes' shares in its leaves, as predict_proba does; the "
            "attacks on trees look at less."
        )
    if isinstance(given.core, Boosted):
        told.append(
            f"No attack looks inside this model yet: {given.source} adds up boosted trees, which no "
            "threat shows. Accuracy, what its scores let a regressor learn, and what they tell a "
            "partner who knows some people are reported."
        )
    return tuple(told)
