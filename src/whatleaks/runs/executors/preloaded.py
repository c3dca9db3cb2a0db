"""What every worker needs before its first job: imported once, by the process that workers are forked from.

Imports and nothing else: what runs here would be inherited by every worker.
"""

from __future__ import annotations

import sklearn.linear_model
import sklearn.tree
import torch

import whatleaks.trial.trial
from whatleaks.catalog import cards

cards("attack")  # reads the rooms of the catalog

__all__ = ["sklearn", "torch", "whatleaks"]
