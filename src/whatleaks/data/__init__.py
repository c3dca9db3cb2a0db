"""Data: named sets (registry, load), a user's own table, and its preparation for two parties."""

from __future__ import annotations

from whatleaks.data.loading import Dataset, load, load_images
from whatleaks.data.partition import passive_count, random_passive
from whatleaks.data.preparation import Prepared, PreparedColumn, prepare
from whatleaks.data.registry import Card, card, names
from whatleaks.data.schema import Column, infer
from whatleaks.data.table import Joined, Opened, from_frame, join, open_table, read_table

__all__ = [
    "Card",
    "Column",
    "Dataset",
    "Joined",
    "Opened",
    "Prepared",
    "PreparedColumn",
    "card",
    "from_frame",
    "infer",
    "join",
    "load",
    "load_images",
    "names",
    "open_table",
    "passive_count",
    "prepare",
    "random_passive",
    "read_table",
]
