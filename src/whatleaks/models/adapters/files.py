"""Model files, in formats that hold numbers and no programs.

What a file is shows from its first bytes. A pickle (also as joblib, or as torch writes it)
runs whatever its writer wanted when it is opened: it is refused, with a word on what to do.
"""

from __future__ import annotations

import io
import json
import lzma
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from whatleaks.errors import UsageError, WhatleaksError, argument
from whatleaks.extras import lacking
from whatleaks.models.adapters.given import GivenModel

_PICKLES = (".pkl", ".pickle", ".joblib", ".pt", ".pth", ".bin", ".sav", ".dill")

_DAMAGE = (  # what a reader stumbles over in a file that is not what it seems
    ArithmeticError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    StopIteration,
    SyntaxError,
    TypeError,
    ValueError,
    lzma.LZMAError,
    struct.error,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)
_DENSEST = 100  # how often a zip file's size its contents may have: more is made to fill memory


def read_file(path: Path, columns: Sequence[str]) -> GivenModel:
    """Read a model from a file; ``columns`` are the table's, without the label."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{argument('model_file')} {path} cannot be read: {error.strerror or error}"
        ) from None
    try:
        if not _pickled(path, data):
            return _read(path, data, columns)
    except WhatleaksError as error:
        raise type(error)(f"{argument('model_file')} {path}: {error}") from None
    except _DAMAGE as error:
        raise UsageError(
            f"{argument('model_file')} {path} is damaged, or of a version that is not known "
            f"({type(error).__name__})"
        ) from None
    raise UsageError(
        f"{argument('model_file')} {path} is a pickle, which may run any program when it is "
        "opened: save the model with skops.io.dump, as ONNX, or in its library's own format "
        "(XGBoost .json, LightGBM .txt, torch .safetensors)"
    )


def _pickled(path: Path, data: bytes) -> bool:
    from whatleaks.models.adapters.torch_module import is_safetensors

    begins = data[:1] == b"\x80" and data[1:2] in (b"\2", b"\3", b"\4", b"\5")
    if path.suffix.lower() in _PICKLES or (begins and not is_safetensors(data)):
        return True
    if data[:2] == b"PK" and zipfile.is_zipfile(io.BytesIO(data)):
        with zipfile.ZipFile(io.BytesIO(data)) as held:
            return any(name.endswith(".pkl") for name in held.namelist())
    return False


def _read(path: Path, data: bytes, columns: Sequence[str]) -> GivenModel:
    from whatleaks.models.adapters.torch_module import from_safetensors, is_safetensors

    if data[:2] == b"PK":
        return _skops(data, columns)
    if data[:5] in (b"tree\n", b"tree\r"):
        from whatleaks.models.adapters.lightgbm_text import from_text

        return from_text(data.decode().replace("\r\n", "\n"), columns)
    if data[:1] == b"{":
        from whatleaks.models.adapters.xgboost_json import from_json

        tree = _xgboost_tree(data)
        if not isinstance(tree, dict) or "learner" not in tree:
            raise UsageError("this is JSON, but no model of XGBoost's")
        return from_json(tree, columns)
    if is_safetensors(data):
        return from_safetensors(data, columns)
    if data[:1] == b"\x08" or path.suffix.lower() == ".onnx":
        from whatleaks.models.adapters.onnx_graph import from_onnx

        return from_onnx(data, columns)
    raise UsageError(
        "this is no model that can be read: use ONNX, skops, XGBoost's .json or .ubj, LightGBM's "
        ".txt or .safetensors"
    )


def _xgboost_tree(data: bytes) -> Any:
    """Return XGBoost's tree of plain values; in its binary form a length follows the bracket."""
    from whatleaks.models.adapters.ubjson import read_ubjson

    if data[1:2] in (b"L", b"l", b"I", b"i", b"U"):
        return read_ubjson(data)
    return json.loads(data)


def _skops(data: bytes, columns: Sequence[str]) -> GivenModel:
    try:
        import skops.io
    except ImportError:
        raise lacking("a skops file", "models") from None
    from whatleaks.models.adapters.reading import read_model
    from whatleaks.models.adapters.scikit import SUPPORTED

    with zipfile.ZipFile(io.BytesIO(data)) as held:
        if "schema.json" not in held.namelist():
            raise UsageError("this is a zip file, but none of skops")
        if sum(one.file_size for one in held.infolist()) > _DENSEST * len(data):
            raise UsageError("this zip file unpacks to more than a model could hold")
    strange = [kind for kind in skops.io.get_untrusted_types(data=data) if kind not in _TRUSTED]
    if strange and strange[0].startswith("sklearn."):
        raise UsageError(
            f"the skops file holds {strange[0]}, a part of scikit-learn that cannot be read yet: "
            f"use {', '.join(SUPPORTED)}"
        )
    if strange:
        raise UsageError(
            f"the skops file holds {strange[0]}, which is not part of scikit-learn: leave it out"
        )
    return read_model(skops.io.loads(data, trusted=list(_TRUSTED)), columns, foreign=True)


# What skops asks about: nodes of trees, and what is left of a training (the kind of number that an
# imputer saw, how columns were chosen). None of them runs anything when it is read.
_TRUSTED = (
    "numpy.dtype",
    "sklearn.compose._column_transformer.make_column_selector",
    "sklearn.tree._tree.Tree",
    "sklearn.neural_network._stochastic_optimizers.AdamOptimizer",
    "sklearn.neural_network._stochastic_optimizers.SGDOptimizer",
)
