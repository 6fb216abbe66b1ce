"""Weights of modules: which weight of a reference each weight of a candidate is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from .recording import NotRecordedError


def weights(model: Any) -> dict[str, Any]:
    """Return the parameters and buffers of a module by their names."""
    if not isinstance(model, torch.nn.Module):
        return {}
    found = {name: each.detach() for name, each in model.named_parameters()}
    found |= {name: each for name, each in model.named_buffers() if each is not None}
    for prefix, module in model.named_modules():
        for name, value in vars(module).items():
            if isinstance(value, torch.Tensor):
                found[f"{prefix}.{name}" if prefix else name] = value.detach()
    return found


def replace_weights(model: Any, made: Mapping[str, Any]) -> None:
    """Put other tensors in place of a module's parameters, buffers and other tensors."""
    if not isinstance(model, torch.nn.Module):
        return
    for prefix, module in model.named_modules():
        start = f"{prefix}." if prefix else ""
        for held in (module._parameters, module._buffers, vars(module)):
            for name, value in list(held.items()):
                if isinstance(value, torch.Tensor) and start + name in made:
                    held[name] = made[start + name]


def copied(weight: Any) -> Any:
    """Return a copy of a weight, and of all of its storage: whatever a candidate does, it stays as it is."""
    storage = weight.untyped_storage().clone()
    made = torch.empty(0, dtype=weight.dtype)
    return made.set_(storage, weight.storage_offset(), weight.shape, weight.stride())


def whole(tensor: Any) -> Any:
    """Return all numbers of a tensor's storage, in the order of its memory."""
    plain = tensor.detach().cpu()
    return torch.empty(0, dtype=plain.dtype).set_(plain.untyped_storage())


def _layout(weight: Any) -> tuple[Any, ...]:
    """Return where the elements of a weight are in its storage."""
    strides = [stride for stride, extent in zip(weight.stride(), weight.shape, strict=True) if extent > 1]
    return strides, weight.storage_offset(), weight.untyped_storage().nbytes()


def matched(own: Mapping[str, Any], known: Mapping[str, Any]) -> dict[str, str]:
    """Return which weight of the reference each weight of a candidate is: the same numbers from one seed.

    The same name goes first, then the only one with the same numbers that no other weight is, or the only
    such one with the same last part of its name.

    Raises
    ------
    NotRecordedError
        If one is none of the reference's, may be several, or lies in memory in another way: kernels see that.
    """

    def same(a: Any, b: Any) -> bool:
        return bool(a.shape == b.shape and a.dtype == b.dtype and torch.equal(a.cpu(), b.cpu()))

    found = {name: name for name, each in own.items() if name in known and same(each, known[name])}
    for name, each in own.items():
        if name in found:
            continue
        shared = [o for o in found if own[o].data_ptr() == each.data_ptr() and same(own[o], each)]
        if shared:
            found[name] = found[shared[0]]
            continue
        free = [other for other in known if other not in found.values() and same(each, known[other])]
        alike = [other for other in free if other.rpartition(".")[2] == name.rpartition(".")[2]]
        if len(free) != 1 and len(alike) != 1:
            numbers = f"the candidate's {name} {list(each.shape)} has the numbers of"
            if free:
                raise NotRecordedError(f"{numbers} {', '.join(free)}, and may be any of them: name it as one")
            computed = "it is computed from them, or made in another order"
            raise NotRecordedError(f"{numbers} none of the reference's weights: {computed}")
        found[name] = alike[0] if len(alike) == 1 else free[0]
    for name, other in found.items():
        if _layout(own[name]) != _layout(known[other]):
            where = f"the candidate's {name} lies in memory in another way than the reference's {other}"
            raise NotRecordedError(
                f"{where}: strides {own[name].stride()} from element {own[name].storage_offset()}, "
                f"not {known[other].stride()} from element {known[other].storage_offset()}"
            )
    return found
