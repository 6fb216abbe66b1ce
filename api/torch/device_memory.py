"""Memory of the device that is no tensor's: that of ``cudaMalloc``, and variables of modules."""

from __future__ import annotations

from typing import Any

import torch

from .recorder import Recorder
from .recording import Passed, Pointer, Storage, Word


def allocated(recorder: Recorder, count: int) -> int:
    """Return the address of some bytes that no tensor has."""
    with recorder.fake:
        base = torch.empty(count, dtype=torch.uint8, device="cuda")
    recorder.add(base, Storage("uint8", count, "empty", "cudaMalloc", None, (count,)))
    return recorder.address(base)


def free(recorder: Recorder, address: int) -> None:
    """Note that memory must not be used any more."""
    if not address:
        return
    found = recorder.pointer(address)
    if found is None or found.at or recorder.recording.storages[found.storage].name != "cudaMalloc":
        recorder.refuse("cudaFree of a pointer that cudaMalloc did not return")
    recorder.held.freed.add(found.storage)


def variable(recorder: Recorder, key: tuple[str, str], size: int, dtype: Any, part: tuple[int, int]) -> Any:
    """Return a variable of a module as a tensor, of which the host writes a part.

    It must write no more and no less of it at another time, nor elements of another type: what a call does
    not write itself, it would find as another call left it.

    Parameters
    ----------
    recorder : Recorder
        Of the call.
    key : (str, str)
        The PTX file, and the variable's name.
    size : int
        Its bytes.
    dtype : dtype
        Of what is written.
    part : (int, int)
        The bytes that are written: from, to.
    """
    storages, kind = recorder.recording.storages, str(dtype).removeprefix("torch.")
    number = next((place for place, each in enumerate(storages) if each.variable == key), None)
    if number is None:
        with recorder.fake:
            base = torch.empty(size // dtype.itemsize, dtype=dtype, device="cuda")
        what = f"the variable {key[1]}"
        storage = Storage(kind, base.numel(), "constant", what, (0,), (base.numel(),), key)
        number = recorder.add(base, storage)
    if storages[number].dtype != kind:
        recorder.refuse(f"{key[1]} is written as {storages[number].dtype}, and as {kind}")
    if recorder.written_parts.setdefault(key, part) != part:
        recorder.refuse(f"{key[1]} is written in several parts")
    return recorder.base(number)


def passed(recorder: Recorder, content: bytes, *, structure: bool) -> Passed:
    """Return a parameter of a kernel by its bytes."""
    size = len(content)
    if not structure:
        bits = int.from_bytes(content, "little")
        part = recorder.pointer(bits) if size == 8 else None
        return Passed(size, ((0, part or Word(size, bits)),))
    parts: list[tuple[int, Pointer | Word]] = []
    at = 0
    while at < size:
        eight = int.from_bytes(content[at : at + 8], "little")
        if size - at >= 8 and at % 8 == 0 and (found := recorder.pointer(eight)) is not None:
            parts.append((at, found))
            at += 8
            continue
        wide = 4 if size - at >= 4 and at % 4 == 0 else 1
        parts.append((at, Word(wide, int.from_bytes(content[at : at + wide], "little"))))
        at += wide
    return Passed(size, tuple(parts), is_structure=True)
