"""What the C++ stand-ins ask Python for; see ``stand_in/mmaproof_python.cpp``."""

from __future__ import annotations

import ctypes
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch
from torch.utils._python_dispatch import _disable_current_modes

from . import device_memory
from .devices import STATIC, device_for
from .recorder import current, place
from .recording import NotRecordedError, Passed

_SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}

target = ["sm_80"]
"""What kernels are compiled for."""

modules: dict[str, str] = {}
"""The PTX file of every kernel, by the kernel's name."""

variables: dict[str, list[str]] = {}
"""The PTX files that have a variable in constant memory, by the variable's name."""

TO_DEVICE, WITHIN, ANYWHERE = 1, 3, 4
"""What CUDA calls the ways of a copy: ``cudaMemcpyHostToDevice``, ``DeviceToDevice``, ``Default``."""


def register(ptx: Path) -> None:
    """Remember which kernels a file has."""
    text = ptx.read_text(encoding="utf-8")
    for name in _CONSTANT.findall(text):
        if str(ptx) not in variables.setdefault(name, []):
            variables[name].append(str(ptx))
    for name in re.findall(r"\.entry\s+([\w$]+)", text):
        if modules.setdefault(name, str(ptx)) != str(ptx):
            raise NotRecordedError(f"two extensions have a kernel {name}")


_CONSTANT = re.compile(r"^\s*(?:\.visible\s+)?\.const\b[^;=]*?([\w$]+)(?:\[\d*\])*\s*[;=]", re.MULTILINE)


def parameters(ptx: str, entry: str) -> list[tuple[int, bool]]:
    """Return the bytes of each parameter of a kernel, and whether it is passed as bytes."""
    text = Path(ptx).read_text(encoding="utf-8")
    found = re.search(rf"\.entry\s+{re.escape(entry)}\s*\((.*?)\)", text, re.DOTALL)
    if found is None:
        return []
    sizes = []
    for each in filter(None, (part.strip() for part in found.group(1).split(","))):
        array = re.search(r"\[(\d+)\]\s*$", each)
        kind = re.search(r"\.[busf](8|16|32|64)\b", each)
        if kind is None:
            raise NotRecordedError(f"a parameter {each} of {entry}")
        sizes.append((int(array.group(1)), True) if array else (_SIZES[kind.group(1)], False))
    return sizes


def static_shared(ptx: str, entry: str) -> int:
    """Return the bytes of shared memory that a kernel's own variables take."""
    text = Path(ptx).read_text(encoding="utf-8")
    start = re.search(rf"\.entry\s+{re.escape(entry)}\s*\(", text)
    body = text[start.end() :].partition(".entry")[0] if start else ""
    used = text if re.search(r"\bcall\b", body) else body
    at = 0
    for align, bits, name, count in _SHARED.findall(text):
        if re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", used):
            at = -(-at // int(align or 1)) * int(align or 1) + int(bits) // 8 * int(count or 1)
    return at


_SHARED = re.compile(
    r"^\s*(?:\.visible\s+)?\.shared\s+(?:\.align\s+(\d+)\s+)?\.[busf](\d+)\s+([\w$]+)(?:\[(\d+)\])?\s*;",
    re.MULTILINE,
)


def _require_room(entry: str, shared: int, allowed: int) -> None:
    """Refuse a launch with more dynamic shared memory than CUDA lets it have; `allowed` by a call, or -1."""
    static = static_shared(modules[entry], entry)
    most = allowed if allowed >= 0 else max(STATIC - static, 0)
    if static > STATIC:
        refused(f"{entry} with {static} bytes of static shared memory, of {STATIC}")
    if shared > most:
        own = f" beside {static} bytes of its own" if static else ""
        refused(
            f"a launch of {entry} with {shared} bytes of dynamic shared memory{own}, where {most} are allowed"
        )
    if allowed >= 0 and allowed + static > (room := device_for(target[0]).shared):
        limit = f"{room} that a block of {target[0]} can have"
        refused(f"{allowed + static} bytes of shared memory for {entry}, of {limit}")


def device_fact(name: str) -> int:
    """Return what CUDA's runtime says of the device."""
    return int(getattr(device_for(target[0]), name))


def launched(
    entry: str,
    x: int,
    y: int,
    z: int,
    bx: int,
    by: int,
    bz: int,
    arguments: int,
    shared: int,
    allowed: int,
    stream: int,
) -> None:
    """Record a launch, of which `arguments` is the address of pointers to what is passed."""
    if entry not in modules:
        raise NotRecordedError(f"no compiled PTX contains the kernel {entry}")
    _require_room(entry, shared, allowed)
    recorder = current()
    passed: list[Passed] = []
    for number, (size, structure) in enumerate(parameters(modules[entry], entry)):
        pointer = ctypes.cast(arguments, ctypes.POINTER(ctypes.c_void_p))[number]
        content = ctypes.string_at(pointer, size)
        passed.append(device_memory.passed(recorder, content, structure=structure))
    recorder.launch(entry, modules[entry], (x, y, z), (bx, by, bz), shared, passed, stream)


def refused(what: str) -> None:
    """Refuse what can't be recorded."""
    reason = NotRecordedError(f"{what} is not recorded, in {place()}")
    with suppress(NotRecordedError):  # nothing is recorded while modules are made
        current().note_refused(reason)
    raise reason


def filled(address: int, value: int, count: int, stream: int) -> None:
    """Record that bytes of memory become zeros."""
    recorder = current()
    found = recorder.pointer(address)
    if found is None or value:
        return refused("cudaMemset of a value other than 0, or outside a tensor")
    recorder.write(_bytes_of(found.storage, found.at, count), 0, stream)
    return None


def copied(to: int, source: int, count: int, kind: int, stream: int) -> None:
    """Record that bytes of memory are copied to the device, or within it."""
    recorder = current()
    found = recorder.pointer(to)
    if found is None or not count:
        return refused("cudaMemcpy to other than device memory")
    target = _bytes_of(found.storage, found.at, count)
    recorder.write(target, _source(source, count, kind, target.dtype), stream)
    return None


def copied_to_variable(
    name: str, size: int, constant: bool, source: int, count: int, at: int, kind: int, stream: int
) -> None:
    """Record that the host writes a part of a variable of a module."""
    recorder = current()
    if not constant or not count or at + count > size:
        return refused(f"cudaMemcpyToSymbol outside a variable in constant memory: {name}")
    if len(places := variables.get(name, [])) != 1:
        return refused(f"cudaMemcpyToSymbol to {name}, which {len(places)} files have,")
    found = recorder.pointer(source)
    dtype = torch.uint8 if found is None else recorder.base(found.storage).dtype
    values = _source(source, count, kind, dtype)
    if any(each % dtype.itemsize for each in (size, at)):
        return refused(f"a part of an element of {name}, copied")
    whole = device_memory.variable(recorder, (places[0], name), size, dtype, (at, at + count))
    recorder.write(whole.narrow(0, at // dtype.itemsize, count // dtype.itemsize), values, stream)
    return None


def _source(address: int, count: int, kind: int, dtype: Any) -> Any:
    """Return what is copied from an address: a tensor's elements, or numbers that the host has."""
    recorder = current()
    found = recorder.pointer(address)
    if (kind == WITHIN) if found is None else (kind == TO_DEVICE):
        refused("a copy whose kind contradicts its addresses")
    if kind not in (TO_DEVICE, WITHIN, ANYWHERE):
        refused("a copy of data to the host")
    if found is not None:
        given = _bytes_of(found.storage, found.at, count)
        if given.dtype != dtype:
            refused(f"a copy of {given.dtype} to memory of {dtype}")
        return given
    content = ctypes.string_at(address, count)
    words = [int.from_bytes(content[at : at + 8], "little") for at in range(0, count - 7, 4)]
    if any(recorder.pointer(word) is not None for word in words):
        refused("a copy of addresses to the device")
    with _disable_current_modes():
        return torch.frombuffer(bytearray(content), dtype=dtype).clone()


def allocated(count: int) -> int:
    """Return the address of memory that no tensor has."""
    return device_memory.allocated(current(), count)


def freed(address: int) -> None:
    """Note that memory of `allocated` is used no more."""
    device_memory.free(current(), address)


def stream_made(non_blocking: bool) -> int:
    """Return a stream."""
    return current().streams.made(non_blocking=non_blocking)


def waited_for(stream: int) -> None:
    """Note that the host waited for a stream."""
    current().streams.waited_for(stream)


def waited_for_all() -> None:
    """Note that the host waited for the device."""
    with suppress(NotRecordedError):  # while modules are made there is no work
        current().streams.waited_for_all()


def _bytes_of(number: int, at: int, count: int) -> Any:
    tensor = current().base(number)
    size = tensor.element_size()
    if at % size or count % size:
        refused("a part of an element, copied or filled")
    return tensor.as_strided((count // size,), (1,), at // size)


def device_of(tensor: Any) -> str:
    """Return the name of a tensor's device."""
    return str(tensor.device.type)


def dtype_of(tensor: Any) -> str:
    """Return the name of a tensor's type."""
    return str(tensor.dtype).removeprefix("torch.")


def address_of(tensor: Any) -> int:
    """Return the made-up address of a tensor."""
    if tensor.device.type != "cuda":
        refused("data_ptr of a tensor on the CPU")
    return current().address(tensor)


def function_named(name: str) -> Any:
    """Return the function of PyTorch that C++ code calls by a name."""
    for module in (torch, torch._C._nn):
        if name in vars(module):
            return vars(module)[name]
    return current().refuse(f"torch::{name} is not recorded")


def dtype_named(name: str) -> Any:
    """Return PyTorch's type."""
    return getattr(torch, name)


def name_of_dtype(dtype: Any) -> str:
    """Return the name of PyTorch's type."""
    return str(dtype).removeprefix("torch.")


def as_tuple(values: list[Any]) -> tuple[Any, ...]:
    """Return a list as a tuple."""
    return tuple(values)
