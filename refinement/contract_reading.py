"""Reads contracts from TOML (`docs/contracts.md` describes every key)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from ..spec.errors import InputError
from ..spec.float_encoding import encode
from ..spec.formats import FORMATS, Bits, FloatFormat, Format, IntegerFormat, format_named
from ..spec.rounding import Rounding
from ..spec.values import encodings_of_values
from .contract import Accumulate, Contract, FormerKernel, LaunchExtents
from .definitions import Definition
from .formula import Formula, Source
from .formula_checking import check_formula
from .formula_parser import KEYWORDS, parse_definition, parse_expression, parse_formula
from .index_arithmetic import Expression
from .parameters import Access, ArrayParameter, Gaps, Parameter, Passed, ScalarParameter, Structure
from .result import Equality
from .toml_document import Table, is_integer, parse_document, read_document, shown

ISAS = ("ptx", "power", "pto")
SECTIONS = ("kernel", "launch", "sizes", "param", "ensures", "against")
KERNEL = ("isa", "entry", "target")
LAUNCH = ("grid", "block", "dynamic_shared")
AGAINST = ("entry", *LAUNCH, "equality")
SCALAR = ("name", "type", "value", "kernel")
STRUCTURE = ("name", "size", "fields", "kernel")
MOST_STRUCTURE = 1 << 15
"""Bytes: all parameters of a kernel have fewer."""
POINTER = 8
"""Bytes of an address."""
ARRAY = (
    "name", "type", "shape", "strides", "access", "alignment", "values", "element_bits", "low_bit",
    "gaps", "kernel",
)  # fmt: skip
ENSURES = ("formula", "let", "reference", "accumulate", "equality")
STRIDES = ("row-major", "column-major")
ALLOCATED = 256
"""Alignment in bytes of a pointer of which a contract says nothing: as `cudaMalloc` has it."""
ANY = "any"
"""The value of a scalar that may be anything."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
_MOST_AXES = 8


def read_contract(path: Path) -> Contract:
    """Read a contract.

    Raises
    ------
    InputError
        If it is no contract; the message names the line, the value and what is allowed.
    """
    return _contract(read_document(path))


def parse_contract(text: str, file: str = "contract") -> Contract:
    """Read a contract from text; raises as `read_contract`."""
    return _contract(parse_document(text, file))


def _contract(document: Table) -> Contract:
    document.check_keys(SECTIONS)
    kernel, launch, ensures = (document.table(name) for name in ("kernel", "launch", "ensures"))
    kernel.check_keys(KERNEL)
    launch.check_keys(LAUNCH)
    against = document.table("against")
    against.check_keys(AGAINST)
    ensures.check_keys(ENSURES)
    kernel.require("isa", f"one of {', '.join(ISAS)}")
    sizes = _sizes(document)
    parameters, passing = _parameters(document, sizes[0])
    reference = ensures.text("reference")
    if reference is not None and "formula" in ensures.values:
        raise ensures.error("reference", "a contract has formulas or a reference, not both")
    if reference is not None and "let" in ensures.values:
        raise ensures.error("let", "let names parts of formulas; a reference has variables of its own")
    taken = {*sizes[0], *(each.name for each in parameters)}
    contract = Contract(
        document.file,
        kernel.choice("isa", ISAS, ""),
        kernel.text("entry"),
        kernel.text("target"),
        _launch(launch, sizes[0]),
        FormerKernel(
            against.text("entry"),
            _launch(against if against.values.keys() & set(LAUNCH) else launch, sizes[0]),
            Equality(against.choice("equality", list(Equality), Equality.VALUE)),
        ),
        tuple(sizes),
        parameters,
        passing,
        _formulas(ensures, taken) if "ensures" in document.values and reference is None else (),
        Accumulate(ensures.choice("accumulate", list(Accumulate), Accumulate.UNSPECIFIED)),
        Equality(ensures.choice("equality", list(Equality), Equality.VALUE)),
        None if reference is None else Source(reference, "reference", ensures.where("reference")),
    )
    for formula in contract.formulas:
        check_formula(contract, formula)
    outputs = {formula.output for formula in contract.formulas}
    for parameter in parameters:
        written = isinstance(parameter, ArrayParameter) and parameter.access.is_output
        if written and contract.formulas and parameter.name not in outputs:
            raise ensures.error("formula", f"{parameter.name} is an output, but has no formula")
    return contract


# -- sizes and expressions in them


def _sizes(document: Table) -> list[Mapping[str, int]]:
    found: list[Mapping[str, int]] = [_size_set(table) for table in document.tables("sizes")] or [{}]
    for number, sizes in enumerate(found):
        if sizes.keys() != found[0].keys():
            odd = ", ".join(sorted(sizes.keys() ^ found[0].keys()))
            table = document.tables("sizes")[number]
            raise table.error(None, f"every [[sizes]] names the same sizes; not all of them have {odd}")
    return found


def _size_set(table: Table) -> dict[str, int]:
    """Read one set of sizes, each an integer or an expression in those above it."""
    sizes: dict[str, int] = {}
    for name, value in table.values.items():
        _check_name(table, name, name, "a size")
        sizes[name] = _expression(table, name, value, sizes).value(sizes, -(2**31), 2**31)
    return sizes


def _check_name(table: Table, key: str, name: Any, what: str) -> str:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise table.error(
            key, f"{shown(name)} can't be the name of {what}: letters, digits and _ are allowed"
        )
    if name in KEYWORDS:
        raise table.error(key, f"{name} can't be the name of {what}: it is a word of formulas")
    return name


def _expression(table: Table, key: str, value: Any, sizes: Mapping[str, int]) -> Expression:
    """Read an integer or an expression in sizes, and see that its names are known."""
    if not is_integer(value) and not isinstance(value, str):
        raise table.error(
            key, f'{key} must be an integer or an expression such as "(M + 31) // 32", not {shown(value)}'
        )
    source = Source(str(value), key, table.where(key))
    expression = Expression(source, parse_expression(source))
    expression.value(sizes)
    return expression


def _expressions(table: Table, key: str, value: Any, sizes: Mapping[str, int]) -> tuple[Expression, ...]:
    if not isinstance(value, list):
        raise table.error(key, f"{key} must be a list of integers and expressions, not {shown(value)}")
    return tuple(_expression(table, key, each, sizes) for each in value)


def _launch(launch: Table, sizes: Mapping[str, int]) -> LaunchExtents:
    shared = launch.values.get("dynamic_shared")
    return LaunchExtents(
        _extents(launch, "grid", sizes),
        _extents(launch, "block", sizes),
        None if shared is None else _expression(launch, "dynamic_shared", shared, sizes),
    )


def _extents(launch: Table, key: str, sizes: Mapping[str, int]) -> tuple[Expression, ...]:
    value = launch.values.get(key, 1)
    values = value if isinstance(value, list) else [value]
    if not 1 <= len(values) <= 3:
        raise launch.error(key, f"{key} has one to three extents [x, y, z], not {len(values)}")
    return _expressions(launch, key, values, sizes)


# -- parameters


def _parameters(
    document: Table, sizes: Mapping[str, int]
) -> tuple[tuple[Parameter, ...], tuple[Structure | str, ...]]:
    """Read the parameters, and in which structures they lie."""
    found: dict[str, Parameter] = {}
    passing: list[Structure | str] = []
    for table in document.tables("param"):
        if "fields" in table.values:
            passing.append(_structure(table, found, sizes))
        else:
            passing.append(
                _parameter(table, found, sizes, Passed(table.choice("kernel", list(Passed), "both")))
            )
    return tuple(found.values()), tuple(passing)


def _parameter(table: Table, found: dict[str, Parameter], sizes: Mapping[str, int], passed: Passed) -> str:
    """Read a parameter, and return its name."""
    name = _check_name(table, "name", table.require("name", "a name for formulas"), "a parameter")
    if name in found:
        raise table.error("name", f"there are two parameters {name}")
    fmt = _format(table)
    read = _array if "shape" in table.values else _scalar
    parameter = replace(read(table, name, fmt, sizes), passed=passed)
    same = isinstance(parameter, ScalarParameter) and _is_size(parameter, name)
    if name in sizes and not same:
        raise table.error("name", f'{name} is a size too; a parameter that passes it has value = "{name}"')
    found[name] = parameter
    return name


def _structure(table: Table, found: dict[str, Parameter], sizes: Mapping[str, int]) -> Structure:
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
    table: Table, at: int, size: int, found: dict[str, Parameter], sizes: Mapping[str, int], passed: Passed
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
        width = POINTER if isinstance(found[name], ArrayParameter) else -(-found[name].format.bits // 8)
        if offset + width > size:
            raise field.error("offset", f"{name}, {width} bytes at {offset}, does not fit {size} bytes")
        yield at + offset, width, name


def _is_size(parameter: ScalarParameter, name: str) -> bool:
    return isinstance(parameter.value, Expression) and parameter.value.source.text.strip() == name


def _format(table: Table) -> Format:
    name = table.require("type", f"one of {', '.join(FORMATS)}")
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
    expression = _expression(table, "value", value, sizes)
    return ScalarParameter(name, fmt, expression, table.where("value"))


def _encoding(table: Table, fmt: FloatFormat, value: Any) -> int:
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) <= 1e300:
        raise table.error("value", f"the value of a {fmt} must be a number, not {shown(value)}")
    return int(encode(np.array(float(value)), fmt, Rounding.NEAREST_EVEN))


def _array(table: Table, name: str, fmt: Format, sizes: Mapping[str, int]) -> ArrayParameter:
    if "value" in table.values:
        raise table.error("value", f"{name} has a shape: a pointer has values = [...], not a value")
    table.check_keys(ARRAY)
    shape = _expressions(table, "shape", table.values["shape"], sizes)
    if not 1 <= len(shape) <= _MOST_AXES:
        raise table.error("shape", f"{name} has {len(shape)} axes; allowed: 1 to {_MOST_AXES}")
    strides = _strides(table, name, len(shape), sizes)
    alignment = table.integer("alignment", 1, 1 << 20, ALLOCATED)
    if alignment & (alignment - 1):
        raise table.error("alignment", f"alignment must be a power of two, not {alignment}")
    element_bits = table.integer("element_bits", fmt.bits, 64, _memory_bits(fmt))
    if element_bits % 8 and 8 % element_bits:
        raise table.error("element_bits", f"element_bits must divide 8 or be whole bytes, not {element_bits}")
    return ArrayParameter(
        name,
        fmt,
        Access(table.choice("access", list(Access), Access.IN)),
        shape,
        strides,
        alignment,
        element_bits,
        table.integer("low_bit", 0, element_bits - fmt.bits, 0),
        _contents(table, fmt),
        Gaps(table.choice("gaps", list(Gaps), Gaps.KEPT)),
        table.where(),
    )


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
    return _expressions(table, "strides", value, sizes)


def _contents(table: Table, fmt: Format) -> Bits | None:
    if "values" not in table.values:
        return None
    if table.values.get("access", Access.IN) != Access.IN:
        raise table.error("values", 'only an array with access = "in" has given values')
    values = _flat(table.values["values"])
    numeric = all(isinstance(each, int | float) and not isinstance(each, bool) for each in values)
    if not values or not numeric:
        raise table.error("values", f"values must be a list of numbers, not {shown(table.values['values'])}")
    if isinstance(fmt, IntegerFormat):
        for each in values:
            if not is_integer(each) or not fmt.minimum <= each <= fmt.maximum:
                raise table.error("values", f"{shown(each)} is no {fmt}: {fmt.minimum} to {fmt.maximum}")
        words = [int(each) & ((1 << fmt.bits) - 1) for each in values]
        return np.array(words, dtype=np.uint64).astype(fmt.storage)
    try:
        reals = np.array([float(each) for each in values])
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


# -- formulas


def _texts(ensures: Table, key: str) -> list[str]:
    value = ensures.values[key]
    texts = value if isinstance(value, list) else [value]
    if not texts or not all(isinstance(text, str) for text in texts):
        raise ensures.error(key, f"{key} must be a string or a list of strings, not {shown(value)}")
    return texts


def _definitions(ensures: Table, taken: Collection[str]) -> dict[str, Definition]:
    """Read the names for parts of formulas, each of which may use those above it."""
    found: dict[str, Definition] = {}
    for text in _texts(ensures, "let") if "let" in ensures.values else ():
        source = Source(text, "let", ensures.where("let"))
        definition = parse_definition(source, found)
        if definition.name in taken:
            raise source.error(0, f"{definition.name} is a size or a parameter; name the part otherwise")
        found[definition.name] = definition
    return found


def _formulas(ensures: Table, taken: Collection[str]) -> tuple[Formula, ...]:
    ensures.require("formula", 'what is computed, such as "C[i, j] = sum(k, A[i, k] * B[k, j])"')
    where = ensures.where("formula")
    definitions = _definitions(ensures, taken)
    texts = _texts(ensures, "formula")
    formulas = tuple(parse_formula(Source(text, "formula", where), definitions) for text in texts)
    outputs = [formula.output for formula in formulas]
    for formula in formulas:
        if outputs.count(formula.output) > 1:
            raise formula.source.error(0, f"there are two formulas for {formula.output}")
    return formulas
