"""Generated sets: made with scikit-learn when asked for, never files (Luo et al., Table II).

The paper gives records, columns and classes; the other arguments of ``make_classification``
are not stated. Here half of the columns are informative, a quarter are linear mixtures of
them, the rest is noise, one cluster per class; columns are shuffled by the generator.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from whatleaks.errors import DataError, nearest

if TYPE_CHECKING:
    import pandas as pd

LABEL = "class"
GENERATED: dict[str, tuple[int, int, int]] = {  # records, columns, classes
    "synthetic-1": (100_000, 25, 10),
    "synthetic-2": (100_000, 50, 5),
}


def generated(name: str) -> pd.DataFrame:
    """Make a set by name; the same name gives the same table."""
    import pandas as pd
    from sklearn.datasets import make_classification

    if name not in GENERATED:
        raise DataError(f"no generated set is named {name!r}.{nearest(name, GENERATED)}")
    records, columns, classes = GENERATED[name]
    x, y = make_classification(
        records,
        columns,
        n_informative=columns // 2,
        n_redundant=columns // 4,
        n_classes=classes,
        n_clusters_per_class=1,
        random_state=0,
    )
    frame = pd.DataFrame(x, columns=[f"f{i + 1}" for i in range(columns)])
    return frame.assign(**{LABEL: y})
