"""Tensor maps of contracts: which box of which array a tensor copy moves.

A contract gives extents in the order of the array's axes; a map has neighbours in memory first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ...spec.errors import InputError
from ...spec.formats import FORMATS, Format
from ...spec.ptx.asynchronous import tensor_map
from ...spec.ptx.asynchronous.tensor_map import TensorMap
from .arguments import Array, Pointers
from .parameters import PointerParameter, TensorFields


def element_of(fmt: Format, bits: int) -> str:
    """Return the type that a map has for elements of a format: that of as many bits, where it has not that.

    Raises
    ------
    InputError
        If there is none.
    """
    if str(fmt) in tensor_map.ELEMENTS and str(fmt) not in tensor_map.CONVERTED and bits == fmt.bits:
        return str(fmt)
    if f"u{bits}" not in tensor_map.ELEMENTS or f"u{bits}" not in FORMATS:
        raise InputError(f"tensor maps have no elements of {bits} bits")
    return f"u{bits}"


def map_of(fields: TensorFields, array: Array, sizes: Mapping[str, int]) -> TensorMap:
    """Return the map of an array at one set of sizes; its address is any with the array's alignment.

    Raises
    ------
    InputError
        If there is no such map.
    """
    if array.strides[-1] != 1:
        raise InputError(
            f"a tensor map of {array.name}: neighbours along its last axis must be neighbours in memory",
            fields.where,
        )
    if len(fields.box) != len(array.shape):
        raise InputError(f"{array.name} has {len(array.shape)} axes, its box {len(fields.box)}", fields.where)
    try:
        element = fields.elements or element_of(array.format, array.element_bits)
        box = tuple(each.value(sizes, 1) for each in reversed(fields.box))
        steps = tuple(element_stride.value(sizes, 1) for element_stride in reversed(fields.element_strides))
        together = _together(fields, array, (array.shape[-1], box[0], *steps[:1]))
        found = TensorMap(
            element,
            (array.shape[-1] // together, *reversed(array.shape[:-1])),
            tuple(stride * array.element_bits // 8 for stride in reversed(array.strides[:-1])),
            (box[0] // together, *box[1:]),
            steps,
            fields.swizzle,
            fields.interleave,
            fields.fill,
            array.alignment,
        )
        return tensor_map.require_legal(found)
    except InputError as error:
        raise InputError(f"a tensor map of {array.name}: {error}", fields.where) from None


def _together(fields: TensorFields, array: Array, along: tuple[int, ...]) -> int:
    """Return how many elements of an array one of the map is.

    Raises
    ------
    InputError
        If what there is along the last axis is no number of the map's elements.
    """
    if not fields.elements:
        return 1
    bits = FORMATS[fields.elements].bits
    together, rest = divmod(bits, array.element_bits)
    if rest or not together:
        raise InputError(f"elements of {bits} bits are not a whole number of {array.format}")
    extent, box, *steps = along
    if extent % together or box % together:
        raise InputError(
            f"{extent} elements along the last axis, {box} in a box: they must be multiples of {together}, "
            f"as one {fields.elements} is {together} of {array.format}"
        )
    if steps and together > 1:
        raise InputError(f"element_strides of a map whose elements are {together} of {array.format}")
    return together


def with_map(
    parameter: PointerParameter, pointers: Pointers, arrays: Mapping[str, Array], sizes: Mapping[str, int]
) -> Pointers:
    """Return addresses with the tensor map that they are, if they are one.

    Raises
    ------
    InputError
        If there is no such map.
    """
    if parameter.tensor is None:
        return pointers
    ((name, _),) = pointers.targets
    if name not in arrays:
        raise InputError(f"{parameter.name} maps {name}, which is not an array", parameter.where)
    return replace(pointers, tensor=map_of(parameter.tensor, arrays[name], sizes))
