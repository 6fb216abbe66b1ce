"""Tensor maps in draft contracts: the parameter, and the array whose boxes it names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ...spec.formats import FORMATS
from ..machine.kernel_outline import KernelOutline, ParameterUse
from .comments import FILL_IN, described, listed

_SWIZZLES = (0, 32, 64, 128)
_ROW = 128
"""Bytes of a box's row where nothing tells more: as many as the widest swizzle takes."""

_TYPES = {4: "s32", 6: "f16", 7: "f32", 10: "bf16"}
"""Types of elements by Triton's numbers, but for those of which only the size is certain."""

_BY_SIZE = {1: "u8", 2: "u16", 4: "u32", 8: "u64"}


@dataclass(frozen=True)
class Described:
    """What metadata of Triton say of a tensor map.

    Attributes
    ----------
    box : tuple of int
        Elements of a copy, in the order of the array's axes.
    swizzle : int
        Bytes of a swizzled row.
    type : str
        Of the elements; of 8 bits, a guess.
    """

    box: tuple[int, ...]
    swizzle: int
    type: str


def described_maps(document: Any) -> tuple[Described, ...]:
    """Return what the list ``tensordesc_meta`` of Triton's metadata says; nothing where it is none."""
    entries = document if isinstance(document, list) else []
    return tuple(map(_described_map, entries)) if all(isinstance(entry, dict) for entry in entries) else ()


def _described_map(document: Mapping[str, Any]) -> Described:
    box, swizzle = document.get("block_size"), document.get("swizzle")
    extents = tuple(each for each in box if isinstance(each, int)) if isinstance(box, list) else ()
    by_size = _BY_SIZE.get(document.get("elem_size", 1), "u8")
    return Described(
        extents,
        _SWIZZLES[swizzle] if isinstance(swizzle, int) and 0 <= swizzle < len(_SWIZZLES) else 0,
        _TYPES.get(document.get("elem_type", -1), by_size),
    )


def array_name(name: str) -> str:
    """Return what the array of a map is called."""
    return f"{name}_tensor"


def map_lines(
    parameter: ParameterUse, name: str, outline: KernelOutline, told: Described | None
) -> Iterator[str]:
    """Yield the lines of a parameter that is a tensor map, behind its name."""
    yield 'type = "tensor_map"'
    yield f'to = "{array_name(name)}"'
    if told is not None and len(told.box) == parameter.map_rank:
        yield f"box = {list(told.box)}  # as Triton says"
        yield f"swizzle = {told.swizzle}  # as Triton says"
    else:
        expected = ", ".join(f"{count} in line {line}" for count, line in outline.expected)
        expected = expected if parameter.is_read else ""
        bytes_of_boxes = f"; bytes that are expected of all boxes of a stage: {expected}" if expected else ""
        yield (
            f"box = {_shape(parameter, outline, told)}  # {FILL_IN}: elements of one copy along each axis"
            f"{bytes_of_boxes}"
        )
        known = outline.swizzles if parameter.is_read else ()
        found = f"; descriptors of products say {', '.join(map(str, known))}" if known else ""
        yield f"swizzle = {known[0] if known else 0}  # {FILL_IN}: 0, 32, 64 or 128{found}"
    for what, some in (
        ("read", [access for access in parameter.accesses if access.reads]),
        ("written", [access for access in parameter.accesses if access.writes]),
    ):
        if some:
            yield f"# {what} by {described(some)}"


def array_lines(
    parameter: ParameterUse, name: str, outline: KernelOutline, told: Described | None
) -> Iterator[str]:
    """Yield the lines of the array that a map leads to."""
    yield from ("", "[[array]]", f'name = "{array_name(name)}"')
    certain = told is not None and FORMATS[told.type].bits > 8
    yield f'type = "{_type(parameter, outline, told)}"' + ("" if certain else f"  # {FILL_IN}: a guess")
    copies = listed([each.line for each in parameter.accesses])
    yield f"shape = {_shape(parameter, outline, told)}  # {FILL_IN}: extents; coordinates are in {copies}"
    access = {(True, True): "inout", (False, True): "out"}
    yield f'access = "{access.get((parameter.is_read, parameter.is_written), "in")}"'


def _type(parameter: ParameterUse, outline: KernelOutline, told: Described | None) -> str:
    """Return the type of elements: of what products multiply, where nothing else tells it."""
    products = outline.summed if parameter.is_written else outline.multiplied
    fitting = [product for product in products if product in FORMATS and FORMATS[product].bits >= 8]
    if told is None:
        return "f32" if fitting[:1] == ["tf32"] else fitting[0] if fitting else "f16"
    same = [each for each in outline.multiplied if each in FORMATS and FORMATS[each].bits == 8]
    return same[0] if told.type == "u8" and same else told.type


def _shape(parameter: ParameterUse, outline: KernelOutline, told: Described | None) -> list[int]:
    """Return extents of which there may be a map: rows of one swizzle."""
    if told is not None and len(told.box) == parameter.map_rank:
        return list(told.box)
    size = FORMATS[_type(parameter, outline, told)].bits // 8
    row = outline.swizzles[0] if parameter.is_read and outline.swizzles else _ROW
    return [1] * (parameter.map_rank - 1) + [row // size]
