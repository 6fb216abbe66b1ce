"""A kernel's arguments: arrays behind pointers, numbers, and free scalars."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from ...spec.errors import InputError
from ...spec.formats import FloatFormat
from ...spec.pto.element_types import ElementType
from ...spec.pto.text.module import Function, Parameter
from ...spec.pto.text.types import OtherType
from ...spec.pto.view_layouts import orders
from ..contract.arguments import Array, Pointers, Scalar
from ..contract.contract import Instance
from ..contract.parameters import Access
from ..terms.interning import Ids
from ..terms.store import TermStore
from .text.errors import EndedError
from .tiles.global_arrays import GlobalArray
from .tiles.scalar_arithmetic import ScalarArithmetic, number_format
from .tiles.values import Data, Pointer, Value, View

POINTERS = ("!pto.ptr", "memref", "!llvm.ptr")
"""How the types of pointers begin."""


def arguments_of(
    function: Function,
    instance: Instance,
    arrays: Mapping[str, GlobalArray],
    store: TermStore,
    inputs: Mapping[str, Ids],
) -> list[Value | None]:
    """Return what a function is called with; None stands for the number of the block.

    Raises
    ------
    InputError
        If the contract does not fit the function's parameters.
    """
    passed = [each if isinstance(each, str) else each.name for each in instance.passed]
    where = instance.contract.path
    if len(passed) != len(function.parameters):
        raise InputError(
            f"{function.name} has {len(function.parameters)} parameters; the contract has {len(passed)}",
            where,
        )
    described = {argument.name: argument for argument in (*instance.arguments, *instance.pointers)}
    if any(pointer.tensor is not None for pointer in instance.pointers):
        raise InputError("tensor maps are parameters of PTX kernels", where)
    found: list[Value | None] = []
    for name, parameter in zip(passed, function.parameters, strict=True):
        if name not in described:
            raise InputError(f"{name} is a structure; PTO kernels take none", where)
        found.append(_argument(described[name], parameter, arrays, store, inputs, where))
    return found


def is_pointer(parameter: Parameter) -> bool:
    """Tell whether a parameter is declared as a pointer."""
    return str(parameter.type).startswith(POINTERS)


def pointed_to(parameter: Parameter) -> ElementType | None:
    """Return what a pointer is declared to point to, where that is known."""
    return parameter.type.element if isinstance(parameter.type, OtherType) else None


def _argument(
    given: Scalar | Array | Pointers,
    parameter: Parameter,
    arrays: Mapping[str, GlobalArray],
    store: TermStore,
    inputs: Mapping[str, Ids],
    where: str,
) -> Value | None:
    if not is_pointer(parameter) and not isinstance(given, Scalar):
        raise InputError(f"{given.name} is passed as {parameter.type}", where)
    if is_pointer(parameter) and isinstance(given, Scalar):
        if given.integer is None:
            raise InputError(f"{given.name} is passed as {parameter.type}", where)
        return given.integer  # a pointer that is never used
    if isinstance(given, Scalar):
        return _number(given, parameter, store, inputs, where)
    if isinstance(given, Pointers):
        if given.in_memory:
            raise InputError(f"{given.name} is a pointer to addresses; PTO kernels take none", where)
        ((name, offset),) = given.targets
    else:
        name, offset = given.name, 0
    array, element = arrays[name], pointed_to(parameter)
    if (
        element is not None
        and isinstance(given, Array)
        and given.access is not Access.SCRATCH
        and given.element_bits != element.bits
    ):
        raise InputError(
            f"elements of {given.name} take {given.element_bits} bits; the kernel points to {element}", where
        )
    return _view(Pointer(array, offset, element), parameter)


def _view(pointer: Pointer, parameter: Parameter) -> Value:
    """Return a pointer; of a ``memref`` with its extents, the view without gaps that movers take as it is."""
    type_ = parameter.type
    if not isinstance(type_, OtherType) or not type_.text.startswith("memref") or pointer.element is None:
        return pointer
    extents = tuple(extent for extent in type_.extents if isinstance(extent, int))
    if not extents or len(extents) < len(type_.extents) or "strided" in type_.text:
        return pointer
    strides = tuple(prod(extents[axis + 1 :]) for axis in range(len(extents)))
    return View(pointer, pointer.element, extents, strides, orders([(extents, strides)], pointer.element))


def _number(
    given: Scalar, parameter: Parameter, store: TermStore, inputs: Mapping[str, Ids], where: str
) -> Value | None:
    if given.of_launch:
        return None
    try:
        fmt = number_format(str(parameter.type))
    except EndedError as error:
        raise InputError(f"{given.name}: {error.message}", where) from None
    floating = isinstance(fmt, FloatFormat)
    fits = given.format.bits == fmt.bits or (
        not floating and (str(parameter.type) == "index" or fmt.bits == 1)
    )
    if floating is not isinstance(given.format, FloatFormat) or not fits:
        raise InputError(f"{given.name} is {given.format}; the kernel takes {parameter.type}", where)
    if given.integer is not None:
        return given.integer & 1 if fmt.bits == 1 else given.integer
    if given.value is not None:
        return Data(int(store.constants(given.value, given.format.bits)), given.format)
    term = int(inputs[given.name].reshape(()))
    if fmt.bits != given.format.bits:
        return _resized(store, Data(term, given.format), fmt.bits)
    return ScalarArithmetic(store).known(Data(term, fmt))


def _resized(store: TermStore, given: Data, bits: int) -> Value:
    unit = ScalarArithmetic(store)
    return unit.resized(given, given.format.bits, bits)
