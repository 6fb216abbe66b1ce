"""Whether the host has tensors in memory still that its operations made.

PyTorch's allocator gives memory of which no tensor is left to the next one, in order on a stream: a kernel
that is passed its address finds there what others have written since.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from .recording import Storage


class HeldMemory:
    """The storages of tensors without data, by their numbers.

    Parameters
    ----------
    fake : FakeTensorMode
        Of the tensors.

    Attributes
    ----------
    freed : set of int
        Those that ``cudaFree`` was called for.
    """

    def __init__(self, fake: FakeTensorMode) -> None:
        self.freed = set[int]()
        self._fake = fake
        self._references: dict[int, tuple[int, int]] = {}

    def note(self, add: Callable[[Any, Storage], int], tensor: Any, storage: Storage) -> None:
        """Add a storage by another tensor in it; `tensor` is the host's, and the only one yet."""
        with self._fake:
            alias = tensor.as_strided((storage.elements,), (1,), 0)
        number, held = add(alias, storage), alias.untyped_storage()._cdata
        self._references[number] = held, torch._C._storage_Use_Count(held) - 1

    def is_dropped(self, number: int) -> bool:
        """Tell whether the host has had tensors in a storage, and has none any more."""
        held, own = self._references.get(number, (0, 0))
        return bool(held) and torch._C._storage_Use_Count(held) <= own


def shape_in_memory(tensor: Any) -> tuple[int, ...]:
    """Return a tensor's extents in the order of its memory: those of ``x`` for ``x.t()``."""
    axes = sorted(zip(tensor.stride(), tensor.shape, strict=True), key=lambda each: -each[0])
    return tuple(extent for _, extent in axes)
