"""From torch: a ``Sequential`` of ``Linear`` layers and activations; and its tensors in a file.

A file of safetensors holds numbers only, so its header says the rest: ``activation`` (relu,
tanh or sigmoid; not needed for one layer), and if you like ``columns`` and ``classes``, each a
JSON list of names. The format is a header of JSON and bare numbers: nothing else is needed to
read it.
"""

from __future__ import annotations

import json
import math
import re
import struct
from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from whatleaks.arrays import Floats
from whatleaks.errors import UsageError
from whatleaks.models.adapters.beside_original import People, refuse_another
from whatleaks.models.adapters.given import Core, Feature, GivenModel
from whatleaks.models.adapters.naming import matched
from whatleaks.models.adapters.scikit import dense
from whatleaks.models.network import ACTIVATIONS

_KNOWN = {"ReLU": "relu", "Tanh": "tanh", "Sigmoid": "sigmoid"}
_SKIPPED = ("Dropout", "Identity", "Flatten")  # they change nothing once a model is trained
_LINKS = ("Softmax", "LogSoftmax")
_PLAIN = ("Linear", "Sequential", *_KNOWN, *_SKIPPED, *_LINKS)
_TYPES = {"F64": np.float64, "F32": np.float32, "F16": np.float16}


def from_torch(module: Any, columns: Sequence[str]) -> GivenModel:
    """Write down a trained ``torch.nn.Sequential``."""
    parts = _flat(module)
    kinds = [type(part).__name__ for part in parts]
    linear = [i for i, kind in enumerate(kinds) if kind == "Linear"]
    for kind in kinds:
        if kind not in ("Linear", *_KNOWN, *_LINKS):
            raise UsageError(
                f"the module's layer {kind} is not supported yet: use Linear, {', '.join(_KNOWN)}"
            )
    if not linear or linear[0] != 0:
        raise UsageError("the module must begin with a Linear layer")
    between = [kinds[a + 1 : b] for a, b in pairwise(linear)]
    if any(len(one) > 1 or set(one) & set(_LINKS) for one in between):
        raise UsageError("the module needs one activation between two Linear layers")
    used = {_KNOWN[one[0]] if one else "identity" for one in between}
    if len(used) > 1:
        raise UsageError(
            f"the module uses several activations ({', '.join(sorted(used))}): use one"
        )
    for part in parts:
        if type(part).__name__ in _LINKS and part.dim not in (None, 1, -1):
            raise UsageError(
                f"the module's {type(part).__name__} runs over dim={part.dim}, across people: use 1"
            )
    layers = [parts[i] for i in linear]
    for layer in layers:
        if str(layer.weight.dtype) not in ("torch.float32", "torch.float64"):
            raise UsageError(
                f"the module computes in {layer.weight.dtype}, which an audit does not: give "
                "module.float()"
            )
    outputs = int(layers[-1].out_features)
    last = kinds[linear[-1] + 1 :]
    if last not in (
        [],
        ["Sigmoid"] if outputs == 1 else ["Softmax"],
        ["LogSoftmax"][outputs == 1 :],
    ):
        raise UsageError(
            f"the module ends with {' and '.join(last)} on {outputs} outputs: end with the scores' "
            "logits, with Sigmoid on one output or with Softmax on several"
        )
    weights = [_array(layer.weight).T for layer in layers]
    biases = [0.0 if layer.bias is None else _array(layer.bias) for layer in layers]
    core = dense(weights, biases, next(iter(used), "relu"))
    given = _written("torch Sequential", core, None, len(weights[0]), (), columns)
    refuse_another(given, lambda people: [_asked(module, given, people)])
    return given


def _asked(module: Any, given: GivenModel, people: People) -> Any:
    """Ask a copy of the module, as it is in prediction."""
    import torch

    asked = deepcopy(module).cpu().eval()
    table = np.stack([people[name] for name in given.columns], axis=1)
    with torch.no_grad():
        return asked(torch.tensor(table, dtype=next(asked.parameters()).dtype)).numpy()


def _flat(module: Any) -> list[Any]:
    """Return the layers one after another, without those that do nothing in prediction."""
    kind = type(module).__name__
    hooks = ("_forward_hooks", "_forward_pre_hooks")
    own = not type(module).__module__.startswith("torch.nn.modules.")
    if any(getattr(module, name, None) for name in hooks) or (own and kind in _PLAIN):
        raise UsageError(f"a {kind} with hooks, or of your own, may compute anything: leave it out")
    if kind == "Sequential":
        return [part for child in module for part in _flat(child)]
    if kind in _SKIPPED:
        return []
    if len(list(module.children())):
        raise UsageError(
            f"a {kind} may compute anything: give the torch.nn.Sequential of its layers"
        )
    return [module]


def _array(tensor: Any) -> Floats:
    return np.asarray(tensor.detach().cpu().numpy(), dtype=np.float64)


def _written(
    source: str,
    core: Core,
    names: Sequence[str] | None,
    inputs: int,
    classes: Sequence[str],
    columns: Sequence[str],
) -> GivenModel:
    taken, notes = matched(names, inputs, columns)
    features = tuple(Feature(name) for name in taken)
    return GivenModel(source, taken, features, core, classes=tuple(classes), notes=notes)


def is_safetensors(data: bytes) -> bool:
    """Say whether bytes begin like a file of safetensors: a length, then JSON."""
    return len(data) > 9 and data[8:9] == b"{" and struct.unpack("<Q", data[:8])[0] <= len(data) - 8


def from_safetensors(data: bytes, columns: Sequence[str]) -> GivenModel:
    """Write down the layers ``NAME.weight`` and ``NAME.bias`` of a file, in the order of names."""
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    said: Mapping[str, str] = header.pop("__metadata__", {})
    tensors = {name: _tensor(name, one, data[8 + length :]) for name, one in header.items()}
    layers = sorted({name.rpartition(".")[0] for name in tensors}, key=_natural)
    weights, biases = [], []
    for layer in layers:
        weight = tensors.pop(f"{layer}.weight", None)
        if weight is None or weight.ndim != 2:
            raise UsageError(f"the file's layer {layer!r} has no weights of a Linear layer")
        weights.append(weight.T)
        biases.append(tensors.pop(f"{layer}.bias", np.zeros(len(weight))))
    if tensors or not weights:
        raise UsageError(f"the file holds tensors that are no Linear layer: {sorted(tensors)[:3]}")
    for i, (a, b) in enumerate(pairwise(weights)):
        if a.shape[1] != b.shape[0]:
            raise UsageError(f"the file's layers {layers[i]!r} and {layers[i + 1]!r} do not fit")
    activation = said.get("activation", "")
    if len(weights) > 1 and activation not in ACTIVATIONS:
        raise UsageError(
            f"the file's header must name the activation ({', '.join(ACTIVATIONS)}), got "
            f"{activation!r}: save_file(tensors, path, metadata={{'activation': 'relu'}})"
        )
    names, classes = (
        json.loads(said[key]) if key in said else None for key in ("columns", "classes")
    )
    core = dense(weights, biases, activation or "relu")
    source = "torch layers (safetensors)"
    found = _written(source, core, names, len(weights[0]), classes or (), columns)
    order = f"The file's layers are taken in the order of their names: {', '.join(layers)}."
    return replace(found, notes=(*found.notes, order)) if len(layers) > 1 else found


def _tensor(name: str, told: Mapping[str, Any], body: bytes) -> Floats:
    if told["dtype"] not in _TYPES:
        raise UsageError(f"the file's tensor {name!r} is of type {told['dtype']}: use F32 or F64")
    kind, (start, end) = np.dtype(_TYPES[told["dtype"]]), told["data_offsets"]
    if (
        not 0 <= start <= end <= len(body)
        or end - start != math.prod(told["shape"]) * kind.itemsize
    ):
        raise ValueError("a tensor lies outside of the file")
    numbers = np.frombuffer(body[start:end], dtype=kind.newbyteorder("<"))
    return numbers.reshape(told["shape"]).astype(np.float64)


def _natural(name: str) -> list[Any]:
    """Sort 2 before 10."""
    return [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)]
