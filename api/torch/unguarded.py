"""Methods of tensors that would select a GPU before they reach the recorder, by others that do not.

Runs in the process that runs host code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.overrides import TorchFunctionMode

from .attention import attention
from .recording import NotRecordedError

GPU = torch.device("cuda", 0)


class Unguarded(TorchFunctionMode):
    """Replaces what selects a GPU, or needs one, while it is active.

    Parameters
    ----------
    note_refused : callable
        Told what fails because there is no device, also where host code catches it.
    write : callable
        Told of a tensor whose elements become those of another one of its shape.
    """

    def __init__(self, note_refused: Callable[[Exception], None], write: Callable[[Any, Any], None]) -> None:
        super().__init__()
        self._note_refused, self._write = note_refused, write

    def __torch_function__(self, function: Any, types: Any, arguments: Any = (), options: Any = None) -> Any:
        """Call a function of PyTorch, or another one in its place."""
        arguments = tuple(map(_numbered, arguments))
        options = {name: _numbered(value) for name, value in (options or {}).items()}
        if function is torch.Tensor.contiguous:
            tensor = arguments[0]
            formats = [*arguments[1:], *options.values()]
            if formats and formats[0] is not torch.contiguous_format:
                raise NotRecordedError(f"contiguous in {formats[0]}")
            return tensor if tensor.is_contiguous() else tensor.clone(memory_format=torch.contiguous_format)
        if function is torch.Tensor.cuda:
            return arguments[0].to(GPU)
        if function is torch.Tensor.__getitem__:
            return indexed(*arguments)
        if function is torch.Tensor.__setitem__:
            tensor, index, value = arguments
            target, rest = viewed(tensor, index)
            if any(each is not None for each in rest):
                raise NotRecordedError("an assignment to elements indexed by tensors or lists")
            self._copy(target, value) if isinstance(value, torch.Tensor) else target.fill_(value)
            return None
        if function is torch.Tensor.__invert__:
            return torch.ops.aten.bitwise_not.default(arguments[0])
        if function is torch.nn.functional.scaled_dot_product_attention:
            return attention(*arguments, **options)
        if function in (torch.tensor, torch.as_tensor) and options.get("device") is not None:
            device = options.pop("device")
            return function(*arguments, **options).to(device)
        if function is torch.Tensor.copy_:
            given = [*arguments[1:], *options.values()]
            self._copy(arguments[0], given[0])
            return arguments[0]
        try:
            return function(*arguments, **options)
        except torch.AcceleratorError as reason:  # before the dispatcher: there is no device to read from
            self._note_refused(reason)
            raise

    def _copy(self, target: Any, value: Any) -> None:
        """Record a copy within the device."""
        if target.device.type != value.device.type:
            raise NotRecordedError(f"a copy from {value.device.type} to {target.device.type}")
        self._write(target, value.expand(target.shape))


def _numbered(value: Any) -> Any:
    """Return a device with its number, of which PyTorch would ask the driver; all else as it is."""
    return GPU if isinstance(value, str | torch.device) and str(value) == "cuda" else value


def indexed(tensor: Any, index: Any) -> Any:
    """Return ``tensor[index]``."""
    target, rest = viewed(tensor, index)
    if all(each is None for each in rest):
        return torch.ops.aten.alias.default(target) if target is tensor else target
    return torch.ops.aten.index.Tensor(target, list(rest))


def viewed(tensor: Any, index: Any) -> tuple[Any, Sequence[Any]]:
    """Return a tensor after what numbers, slices and new axes take of it, and tensors that index its axes."""
    parts = list(index) if isinstance(index, tuple) else [index]
    axes = sum(not (each is None or each is Ellipsis or isinstance(each, bool)) for each in parts)
    if any(isinstance(each, bool) for each in parts):
        raise NotRecordedError("an index that is a bool")
    if any(each is Ellipsis for each in parts):
        at = next(place for place, each in enumerate(parts) if each is Ellipsis)
        parts[at : at + 1] = [slice(None)] * (tensor.dim() - axes)
    rest: list[Any] = []
    axis = 0
    for part in parts:
        if part is None:
            tensor = tensor.unsqueeze(axis)
        elif isinstance(part, slice):
            if part != slice(None):
                step = 1 if part.step is None else part.step
                tensor = torch.ops.aten.slice.Tensor(tensor, axis, part.start, part.stop, step)
        elif isinstance(part, torch.Tensor | list | tuple):
            chosen = part if isinstance(part, torch.Tensor) else torch.tensor(part)
            if chosen.dtype in (torch.bool, torch.uint8):
                raise NotRecordedError("a mask as an index")
            rest += [None] * (axis - len(rest)) + [chosen]
        else:
            tensor = tensor.select(axis, part.__index__())
            continue
        axis += 1
    return tensor, rest
