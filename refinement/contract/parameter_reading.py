"""Reads the parameters of contracts from TOML: scalars, arrays, structures, pointers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np

from ...spec.errors import InputError
from ...spec.float_encoding import encode
from ...spec.formats import FORMATS, Bits, FloatFormat, Format, IntegerFormat, format_named
from ...spec.ptx.asynchronous import tensor_map
from ...spec.rounding import Rounding
from ...spec.values import encodings_of_values
from ..formula.index_arithmetic import Expression
from ..formula.parser import KEYWORDS, parse_expression
from ..formula.tree import Source
from .parameters import (
    Access,
    ArrayParameter,
    BufferParameter,
    Covers,
    Gaps,
    Parameter,
    Parameters,
    Passed,
    PointerParameter,
    ScalarParameter,
    Structure,
    TensorFields,
)
from .toml_document import Table, is_integer, shown

SCALAR = ("name", "type", "value", "kernel")
STRUCTURE = ("name", "size", "fields", "kernel")
MOST_STRUCTURE = 1 << 15
"""Bytes: all parameters of a kernel have fewer."""
POINTER = 8
"""Bytes of an address."""
ARRAY = (
    "name", "type", "shape", "strides", "access", "alignment", "values", "element_bits", "low_bit",
    "gaps", "kernel", "within", "at", "covers", "variable",
)  # fmt: skip
BUFFER = ("name", "size", "alignment")
POINTER_TYPE = "pointer"
"""The type of a parameter that is an address, or that points to addresses."""
POINTER_KEYS = ("name", "type", "to", "at", "alignment", "kernel")
TENSOR_MAP_TYPE = "tensor_map"
"""The type of a parameter that is a tensor map."""
TENSOR_MAP_KEYS = (
    "name", "type", "to", "box", "element_strides", "swizzle", "interleave", "fill", "elements", "kernel"
)  # fmt: skip
WORDS_OF_MAPS = ("", "u8", "u16", "u32", "u64")
"""Types of elements of a map that are not the array's own."""
STRIDES = ("row-major", "column-major")
ALLOCATED = 256
"""Alignment in bytes of a pointer of which a contract says nothing: as `cudaMalloc` has it."""
ANY = "any"
"""The value of a scalar that may be anything."""
BLOCK_NUMBER = "block"
"""The value of a scalar that is the number of the block, of a PTO kernel."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_MOST_AXES = 8


def check_name(table: Table, key: str, name: Any, what: str) -> str:
    """Return the name of a size, a parameter or an array that formulas can use."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise table.error(
            key, f"{shown(name)} can't be the name of {what}: letters, digits and _ are allowed"
        )
    if name in KEYWORDS:
        raise table.error(key, f"{name} can't be the name of {what}: it is a word of formulas")
    return name


def expression(table: Table, key: str, value: Any, sizes: Mapping[str, int]) -> Expression:
    """Read an integer or an expression in sizes, and see that its names are known."""
    if not is_integer(value) and not isinstance(value, str):
        raise table.error(
            key, f'{key} must be an integer or an expression such as "(M + 31) // 32", not {shown(value)}'
        )
    source = Source(str(value), key, table.where(key))
    found = Expression(source, parse_expression(source))
    found.value(sizes)
    return found


def expressions(table: Table, key: str, value: Any, sizes: Mapping[str, int]) -> tuple[Expression, ...]:
    """Read a list of integers and expressions; see `expression`."""
    if not isinstance(value, list):
        raise table.error(key, f"{key} must be a list of integers and expressions, not {shown(value)}")
    return tuple(expression(table, key, each, sizes) for each in value)


def read_parameters(document: Table, sizes: Mapping[str, int]) -> Parameters:
    """Read the parameters, in which structures they lie, and the arrays that only pointers lead to."""
    found: dict[str, Parameter | PointerParameter] = {}
    passing: list[Structure | str] = []
    for table in document.tables("param"):
        if "fields" in table.values:
            passing.append(_structure(table, found, sizes))
        else:
            passing.append(
                _parameter(table, found, sizes, Passed(table.choice("kernel", list(Passed), "both")))
            )
    pointers = [each for each in found.values() if isinstance(each, PointerParameter)]
    buffers: dict[str, BufferParameter] = {}
    for table in document.tables("buffer"):
        table.check_keys(BUFFER)
        name = check_name(table, "name", table.require("name", "a name for contracts"), "a buffer")
        if name in found or name in buffers:
            raise table.error("name", f"there are two parameters {name}")
        size = expression(table, "size", table.require("size", "its bytes"), sizes)
        buffers[name] = BufferParameter(name, size, _alignment(table), table.where())
    for table in document.tables("array"):
        table.check_keys([key for key in ARRAY if key != "kernel"])
        table.require("shape", 'its extents, such as ["M", "K"]')
        name = _parameter(table, found, sizes, Passed.BOTH)
        leading = {
            pointer.passed for pointer in pointers if any(name == target for target, _ in pointer.targets)
        }
        given = "values" in table.values and table.values.get("access", "in") == "in"
        if not leading and not table.values.keys() & {"within", "variable"} and not given:
            message = f'no pointer leads to {name}: a parameter with type = "pointer" and to = "{name}"'
            raise table.error("name", message)
        found[name] = replace(found[name], passed=leading.pop() if len(leading) == 1 else Passed.BOTH)
    _check_buffers(found, buffers)
    for pointer in pointers:
        for target, _ in pointer.targets:
            if not isinstance(found.get(target), ArrayParameter) and target not in buffers:
                known = [name for name, one in found.items() if isinstance(one, ArrayParameter)]
                known += buffers
                raise InputError(
                    f"{pointer.name} points to {shown(target)}, which is not an array; there are: "
                    f"{', '.join(known) or 'none'}",
                    pointer.where,
                )
    rest = tuple(each for each in found.values() if not isinstance(each, PointerParameter))
    return Parameters(rest, tuple(pointers), tuple(buffers.values()), tuple(passing))


def _check_buffers(
    found: Mapping[str, Parameter | PointerParameter], buffers: Mapping[str, BufferParameter]
) -> None:
    """See that the buffers that arrays lie in are described, and none has two meanings."""
    for each in found.values():
        if each.name in buffers:
            raise InputError(f"there are two parameters {each.name}", each.where)
        if not isinstance(each, ArrayParameter) or each.within is None:
            continue
        if each.within not in buffers:
            known = ", ".join(buffers) or "none"
            raise InputError(
                f"{each.name} lies within {shown(each.within)}, which is not a buffer; there are: {known}",
                each.where,
            )


def _parameter(
    table: Table,
    found: dict[str, Parameter | PointerParameter],
    sizes: Mapping[str, int],
    passed: Passed,
) -> str:
    """Read a parameter, and return its name."""
    name = check_name(table, "name", table.require("name", "a name for formulas"), "a parameter")
    if name in found:
        raise table.error("name", f"there are two parameters {name}")
    if table.values.get("type") == TENSOR_MAP_TYPE:
        found[name] = replace(_tensor_map(table, name, sizes), passed=passed)
        return name
    if table.values.get("type") == POINTER_TYPE:
        found[name] = replace(_pointer(table, name, sizes), passed=passed)
        return name
    fmt = _format(table)
    read = _array if "shape" in table.values else _scalar
    parameter = replace(read(table, name, fmt, sizes), passed=passed)
    same = isinstance(parameter, ScalarParameter) and _is_size(parameter, name)
    if name in sizes and not same:
        raise table.error("name", f'{name} is a size too; a parameter that passes it has value = "{name}"')
    if passed is not Passed.BOTH and not _is_one_kernels(parameter):
        raise table.error(
            "kernel",
            f"{name} is passed to the {passed} kernel only: two kernels are compared on the same data, so it "
            'must be a value that is given, or an array with access = "scratch"',
        )
    found[name] = parameter
    return name


def _is_one_kernels(parameter: Parameter) -> bool:
    """Tell whether only one of two kernels that are compared may have a parameter."""
    if isinstance(parameter, ScalarParameter):
        return parameter.value is not None
    return parameter.access is Access.SCRATCH


def _pointer(table: Table, name: str, sizes: Mapping[str, int]) -> PointerParameter:
    table.check_keys(POINTER_KEYS)
    value = table.require("to", 'the array that it points to, such as "A", or a list of them')
    many = isinstance(value, list)
    names = value if many else [value]
    if not names or not all(isinstance(each, str) for each in names):
        raise table.error("to", f"to must be an array's name or a list of such names, not {shown(value)}")
    offsets = table.values.get("at", 0)
    listed = offsets if isinstance(offsets, list) else [offsets] * len(names)
    if len(listed) != len(names) or (isinstance(offsets, list) and not many):
        raise table.error("at", f"{name} points to {len(names)} places, but at has {len(listed)}")
    read = expressions(table, "at", listed, sizes)
    if not many and "alignment" in table.values:
        raise table.error("alignment", f"{name} is an address: the array has the alignment")
    return PointerParameter(
        name,
        tuple(zip(names, read, strict=True)),
        many,
        _alignment(table),
        table.where(),
    )


def _tensor_map(table: Table, name: str, sizes: Mapping[str, int]) -> PointerParameter:
    table.check_keys(TENSOR_MAP_KEYS)
    target = table.require("to", 'the array that it maps, such as "A"')
    if not isinstance(target, str):
        raise table.error("to", f"to must be an array's name, not {shown(target)}")
    box = table.require("box", "the elements of a box along each axis of the array, such as [64, 64]")
    strides = table.values.get("element_strides", [])
    zero = Source("0", "at", table.where())
    fields = TensorFields(
        expressions(table, "box", box, sizes),
        expressions(table, "element_strides", strides, sizes),
        _one_of(table, "swizzle", tensor_map.SWIZZLES),
        _one_of(table, "interleave", tensor_map.INTERLEAVES),
        table.choice("fill", tensor_map.FILLS, tensor_map.FILLS[0]),
        table.where(),
        table.choice("elements", WORDS_OF_MAPS, ""),
    )
    start = Expression(zero, parse_expression(zero))
    return PointerParameter(
        name, ((target, start),), False, tensor_map.MAP_ALIGNMENT, table.where(), tensor=fields
    )


def _one_of(table: Table, key: str, allowed: tuple[int, ...]) -> int:
    found = table.integer(key, 0, max(allowed), 0)
    if found not in allowed:
        raise table.error(key, f"{key} must be one of {', '.join(map(str, allowed))}, not {found}")
    return found


def _alignment(table: Table) -> int:
    alignment = table.integer("alignment", 1, 1 << 20, ALLOCATED)
    if alignment & (alignment - 1):
        raise table.error("alignment", f"alignment must be a power of two, not {alignment}")
    return alignment


def _structure(
    table: Table, found: dict[str, Parameter | PointerParameter], sizes: Mapping[str, int]
) -> Structure:
    """Read a structure that is passed by value, with its fields."""
    table.check_keys(STRUCTURE)
    name = str(table.require("name", "what messages call it"))
    table.require("size", "its bytes, as the kernel declares them")
    size = table.integer("size", 1, MOST_STRUCTURE, 0)
    passed = Passed(table.choice("kernel", list(Passed), Passed.BOTH))
    fields = sorted(_fields(table, 0, size, found, sizes, passed))
    for (start, width, one), (following, _, other) in pairwise(fields):
        if start + width > following:
            raise table.error(
                "fields", f"{one}, {width} bytes at {start}, and {other} at {following} overlap"
            )
    return Structure(name, size, tuple((start, each) for start, _, each in fields), passed)


def _fields(
    table: Table,
    at: int,
    size: int,
    found: dict[str, Parameter | PointerParameter],
    sizes: Mapping[str, int],
    passed: Passed,
) -> Iterator[tuple[int, int, str]]:
    """Yield offset, bytes and name of each field of a structure, those of nested ones too."""
    if not isinstance(table.values["fields"], list):
        raise table.error("fields", f"fields must be a list of tables, not {shown(table.values['fields'])}")
    for field in table.tables("fields"):
        field.require("offset", "where it begins, in bytes")
        offset = field.integer("offset", 0, size - 1, 0)
        if "fields" in field.values:
            field.check_keys((*STRUCTURE, "offset"))
            inside = field.integer("size", 1, size - offset, size - offset)
            yield from _fields(field, at + offset, inside, found, sizes, passed)
            continue
        name = _parameter(field.without("offset"), found, sizes, passed)
        field_of = found[name]
        width = -(-field_of.format.bits // 8) if isinstance(field_of, ScalarParameter) else POINTER
        if isinstance(field_of, PointerParameter) and field_of.tensor is not None:
            width = tensor_map.MAP_BYTES
        if offset + width > size:
            raise field.error("offset", f"{name}, {width} bytes at {offset}, does not fit {size} bytes")
        yield at + offset, width, name


def _is_size(parameter: ScalarParameter, name: str) -> bool:
    return isinstance(parameter.value, Expression) and parameter.value.source.text.strip() == name


def _format(table: Table) -> Format:
    name = table.require("type", f"one of {', '.join(FORMATS)}, or {POINTER_TYPE}, {TENSOR_MAP_TYPE}")
    try:
        return format_named(str(name))
    except InputError as error:
        raise table.error("type", str(error)) from None


def _scalar(table: Table, name: str, fmt: Format, sizes: Mapping[str, int]) -> ScalarParameter:
    if extra := [key for key in ARRAY if key in table.values and key not in SCALAR]:
        raise table.error(
            extra[0], f"{name} has {extra[0]}, but no shape: a pointer has a shape, a scalar none"
        )
    table.check_keys(SCALAR)
    value = table.values.get("value")
    if isinstance(fmt, FloatFormat):
        encoding = None if value is None or value == ANY else _encoding(table, fmt, value)
        return ScalarParameter(name, fmt, encoding, table.where())
    if value is None:
        raise table.error(
            None,
            f'{name} needs a value: an integer, an expression in sizes, "{ANY}" for any data; '
            'or a shape = ["M", "K"], for a pointer',
        )
    if value == ANY:
        return ScalarParameter(name, fmt, None, table.where())
    if value == BLOCK_NUMBER and value not in sizes:
        return ScalarParameter(name, fmt, 0, table.where(), of_launch=True)
    return ScalarParameter(name, fmt, expression(table, "value", value, sizes), table.where("value"))


def _encoding(table: Table, fmt: FloatFormat, value: Any) -> int:
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= 1e300:
        raise table.error("value", f"the value of a {fmt} must be a number, not {shown(value)}")
    return int(encode(np.array(float(value)), fmt, Rounding.NEAREST_EVEN))


def _array(table: Table, name: str, fmt: Format, sizes: Mapping[str, int]) -> ArrayParameter:
    if "value" in table.values:
        raise table.error("value", f"{name} has a shape: a pointer has values = [...], not a value")
    table.check_keys(ARRAY)
    within = table.text("within")
    for key in ("alignment", "gaps") if within is not None else ("at",):
        if key in table.values:
            raise table.error(key, f"{key} is of {'a buffer' if within else 'an array within one'}")
    shape = expressions(table, "shape", table.values["shape"], sizes)
    if not 1 <= len(shape) <= _MOST_AXES:
        raise table.error("shape", f"{name} has {len(shape)} axes; allowed: 1 to {_MOST_AXES}")
    strides = _strides(table, name, len(shape), sizes)
    element_bits = table.integer("element_bits", fmt.bits, 64, _memory_bits(fmt))
    if element_bits % 8 and 8 % element_bits:
        raise table.error("element_bits", f"element_bits must divide 8 or be whole bytes, not {element_bits}")
    return ArrayParameter(
        name,
        fmt,
        Access(table.choice("access", list(Access), Access.IN)),
        shape,
        strides,
        _alignment(table),
        element_bits,
        table.integer("low_bit", 0, element_bits - fmt.bits, 0),
        _contents(table, fmt),
        Gaps(table.choice("gaps", list(Gaps), Gaps.KEPT)),
        table.where(),
        within=within,
        at=None if within is None else expression(table, "at", table.values.get("at", 0), sizes),
        covers=_covers(table),
        variable=_variable(table, within),
    )


def _variable(table: Table, within: str | None) -> str | None:
    """Read the variable of a module that an array is the beginning of: of these, kernels write none."""
    name = table.text("variable")
    if name is None:
        return None
    if within is not None:
        raise table.error("variable", "an array lies in a variable or within a buffer, not in both")
    if table.values.get("access", Access.IN) not in (Access.IN, Access.SCRATCH):
        raise table.error(
            "variable",
            'a variable in constant memory has access = "in", or "scratch" where the host writes it',
        )
    if table.values.get("strides", STRIDES[0]) != STRIDES[0]:
        raise table.error("strides", "the elements of a variable are contiguous, in row-major order")
    return name


def _covers(table: Table) -> Covers:
    """Read how much of an array must be written: something can be said of outputs alone."""
    if "covers" in table.values and table.values.get("access") != Access.OUT:
        raise table.error("covers", f'covers is of an array with access = "{Access.OUT}"')
    return Covers(table.choice("covers", list(Covers), Covers.WHOLE))


def _memory_bits(fmt: Format) -> int:
    """Return the memory an element takes: 1- and 4-bit ones are packed, 6-bit ones take a byte."""
    return fmt.bits if 8 % fmt.bits == 0 else -(-fmt.bits // 8) * 8


def _strides(table: Table, name: str, rank: int, sizes: Mapping[str, int]) -> tuple[Expression, ...] | str:
    value = table.values.get("strides", STRIDES[0])
    if isinstance(value, str) and value in STRIDES:
        return value
    if not isinstance(value, list):
        names = ", ".join(map(repr, STRIDES))
        raise table.error("strides", f"strides must be {names} or a list in elements, not {shown(value)}")
    if len(value) != rank:
        raise table.error("strides", f"{name} has {rank} axes, but {len(value)} strides")
    return expressions(table, "strides", value, sizes)


def _contents(table: Table, fmt: Format) -> Bits | None:
    if "values" not in table.values:
        return None
    if table.values.get("access", Access.IN) == Access.OUT:
        raise table.error("values", 'an array with access = "out" has no given values; one with "inout" may')
    values = _flat(table.values["values"])
    numeric = all(isinstance(value, int | float) and not isinstance(value, bool) for value in values)
    if not values or not numeric:
        raise table.error("values", f"values must be a list of numbers, not {shown(table.values['values'])}")
    if isinstance(fmt, IntegerFormat):
        for value in values:
            if not is_integer(value) or not fmt.minimum <= value <= fmt.maximum:
                raise table.error(
                    "values", f"{shown(value)} is not {fmt}; allowed: {fmt.minimum} to {fmt.maximum}"
                )
        words = [int(value) & ((1 << fmt.bits) - 1) for value in values]
        return np.array(words, dtype=np.uint64).astype(fmt.storage)
    try:
        reals = np.array([float(value) for value in values])
        return encodings_of_values("values", reals, fmt)
    except (InputError, OverflowError) as error:
        raise table.error("values", str(error)) from None


def _flat(values: Any) -> list[Any]:
    """Return the numbers of a list of lists, in order."""
    found, pending = [], [values]
    while pending:
        each = pending.pop()
        if isinstance(each, list):
            pending += reversed(each)
        else:
            found.append(each)
    return found if isinstance(values, list) else []
