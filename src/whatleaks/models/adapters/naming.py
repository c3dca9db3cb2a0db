"""Which of the table's columns a model takes: by name where it has names, else by their order."""

from __future__ import annotations

import re
from collections.abc import Sequence

from whatleaks.errors import UsageError, nearest

BY_ORDER = "The model does not name its columns: it is taken to read the table's, in their order."
_NUMBERED = re.compile(r"(Column_|f|x)\d+")  # what libraries write where nobody gave a name


def matched(
    names: Sequence[str] | None, count: int, columns: Sequence[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the table's columns in the model's order, and what there is to say about it.

    LightGBM writes a blank in a name as an underscore: such a name is found all the same.
    """
    if names is None or (
        all(_NUMBERED.fullmatch(name) for name in names) and not set(names) & set(columns)
    ):
        if count != len(columns):
            raise UsageError(
                f"the model takes {count} columns, the table has {len(columns)} besides the label"
            )
        return tuple(columns), (BY_ORDER,)
    written = {name.replace(" ", "_"): name for name in columns}
    found = []
    for name in names:
        if name not in columns and name not in written:
            raise UsageError(
                f"the model takes column {name!r}, which the table does not have."
                f"{nearest(name, columns)}"
            )
        found.append(name if name in columns else written[name])
    return tuple(found), ()
