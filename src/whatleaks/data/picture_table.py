"""Pictures as a table of two columns: how they reach the processes that train on them.

Every cell of ``picture`` is one picture's pixels with its shape, ``label`` its class.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from whatleaks.arrays import Ints, sealed_ints

if TYPE_CHECKING:
    import pandas as pd

    from whatleaks.data.images import Pixels
    from whatleaks.data.picture_files import OwnPictures


def picture_table(pictures: OwnPictures) -> pd.DataFrame:
    """Write pictures as a table."""
    import pandas as pd

    return pd.DataFrame(
        {"picture": [_cell(one) for one in pictures.pixels], "label": np.array(pictures.labels)}
    )


def pictures_of(table: pd.DataFrame) -> tuple[Pixels, Ints]:
    """Read back what ``picture_table`` wrote: pixels and labels."""
    cells = [np.load(io.BytesIO(cell), allow_pickle=False) for cell in table["picture"]]
    return np.stack(cells), sealed_ints(table["label"].to_numpy())


def _cell(picture: Pixels) -> bytes:
    sink = io.BytesIO()
    np.save(sink, np.ascontiguousarray(picture), allow_pickle=False)
    return sink.getvalue()
