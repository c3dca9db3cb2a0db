"""Torch forms of the plain models, to differentiate through them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from whatleaks.arrays import Floats
from whatleaks.models.joint_network import JointNetwork
from whatleaks.models.linear import Linear
from whatleaks.models.network import Network

if TYPE_CHECKING:
    import torch

    from whatleaks.models.additive import Additive, Bottom


def logits(model: Bottom, x: torch.Tensor) -> torch.Tensor:
    """Return the model's outputs as a differentiable function of ``x``."""
    return TorchForm(model, x.dtype)(x)


def log_scores(z: torch.Tensor) -> torch.Tensor:
    """Return the logarithms of the class scores: sigmoid for one output, softmax for several."""
    import torch

    if z.shape[1] == 1:
        return torch.nn.functional.logsigmoid(torch.cat([-z, z], dim=1))
    return torch.log_softmax(z, dim=1)


def activate(h: torch.Tensor, activation: str) -> torch.Tensor:
    """Apply an activation by name to every value."""
    import torch

    act = {"sigmoid": torch.sigmoid, "tanh": torch.tanh, "relu": torch.relu}[activation]
    return act(h)


class TorchForm:
    """A plain model's numbers as tensors, copied once, to call as often as one likes."""

    def __init__(self, model: Bottom, dtype: torch.dtype) -> None:
        import torch

        if isinstance(model, Linear):
            model = Network((model.weights,), (model.bias,), "sigmoid")  # no layer to activate
        self._weights = [torch.tensor(w, dtype=dtype) for w in model.weights]
        self._biases = [torch.tensor(b, dtype=dtype) for b in model.biases]
        self._activation = model.activation

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Return the outputs for every record."""
        import torch

        h = x
        for i, (w, b) in enumerate(zip(self._weights, self._biases, strict=True)):
            h = torch.addmm(b, h if i == 0 else activate(h, self._activation), w)
        return h


class GivenOwn:
    """A granted joint model with the adversary's own columns filled in.

    What remains is a differentiable function of the unknown columns. The own columns' part
    of the model is computed once, in double precision.
    """

    def __init__(
        self, model: Additive | JointNetwork, own: Floats, dtype: torch.dtype | None = None
    ) -> None:
        import torch

        dtype = dtype if dtype is not None else torch.float64
        self._known = torch.tensor(model.active.logits(own), dtype=dtype)
        self._passive = TorchForm(model.passive, dtype)
        joint = model if isinstance(model, JointNetwork) else None
        self._rest = None if joint is None else TorchForm(joint.rest, dtype)
        self._activation = "" if joint is None else joint.activation

    def outputs(self, unknown: torch.Tensor, rows: torch.Tensor | None = None) -> torch.Tensor:
        """Return the joint outputs of ``rows`` (all records by default) with these unknown values."""
        known = self._known if rows is None else self._known[rows]
        z = known + self._passive(unknown)
        return z if self._rest is None else self._rest(activate(z, self._activation))
