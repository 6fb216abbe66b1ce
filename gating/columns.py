"""The columns of a table: what they may be called, and what their cells may say.

A cell states one value, a list of values (the row is about each of them), or a pattern with ``*`` or ``?``
(about each value that matches). A blank cell, or a column that is not there, states nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from ..spec.errors import InputError
from ..spec.instruction_set import NAMES

Values = tuple[str, ...]
"""The values that a cell lists; never empty."""


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
        Its name in JSON reports and messages.
    meaning : str
        What its cells state.
    aliases : tuple of str
        What else it may be called.
    """

    name: str
    meaning: str
    aliases: tuple[str, ...] = ()


INSTRUCTION, ISA, TARGET, PTX, LEGAL = "instruction", "isa", "target", "ptx", "legal"
SHAPE, TYPES, LAYOUT, OPERAND, SPARSE = "shape", "types", "layout", "operand", "sparse"

COLUMNS = (
    Column(
        INSTRUCTION, "an instruction's text, or only its name",
        ("instr", "instruction_text", "mnemonic", "op", "opcode", "operation", "asm", "family"),
    ),
    Column(ISA, f"{', '.join(NAMES[:-1])} or {NAMES[-1]}; recognised by the instruction and the target"),
    Column(
        TARGET, "processor or profile: sm_90a, sm_80+, power10, A5",
        ("targets", "arch", "architecture", "sm", "profile", "processor", "cpu", "mcpu",
         "compute_capability"),
    ),
    Column(
        PTX, "PTX version: 8.7, 7.0+; by default the newest",
        ("ptx_version", "ptx_isa", "ptx_isa_version", "isa_version", "version"),
    ),
    Column(LEGAL, "yes or no; by default yes", ("supported", "allowed", "valid", "is_legal", "expected")),
    Column(SHAPE, "m16n8k16, 16x8x16, or the columns m, n and k", ("mnk", "instruction_shape", "tile_shape")),
    Column("m", "rows of the product"),
    Column("n", "columns of the product"),
    Column("k", "length of the sums"),
    Column("blocks", "products that one instruction computes, each of its own matrices"),
    Column(TYPES, "element types of D, A, B and C, as PTX orders them: f32.f16.f16.f32"),
    Column("a", "element type of A (X of Power)", ("a_type", "type_a", "atype", "x", "lhs", "a_dtype")),
    Column("b", "element type of B (Y of Power)", ("b_type", "type_b", "btype", "y", "rhs", "b_dtype")),
    Column("c", "element type of C", ("c_type", "type_c", "ctype", "c_dtype", "acc", "accumulator")),
    Column("d", "element type of D", ("d_type", "type_d", "dtype_d", "d_dtype", "result", "output")),
    Column("type", "element type of what is moved", ("dtype", "element_type", "elem")),
    Column("scale_type", "element type of scale factors", ("stype", "sf_type", "scale_dtype")),
    Column(LAYOUT, "layouts of A and B: row.col; in a layout row, a layout", ("layouts",)),
    Column("a_layout", "layout of A: row or col", ("layout_a", "alayout")),
    Column("b_layout", "layout of B: row or col", ("layout_b", "blayout")),
    Column("kind", "f8f6f4, mxf8f6f4, mxf4, mxf4nvf4 or none"),
    Column("block_scale", "yes or no", ("block_scaled", "block_scaling")),
    Column("scale_vec", "1X, 2X, 4X or none", ("scale_vec_size", "scale_vector", "scale_vector_size")),
    Column(SPARSE, "yes or no: whether A is stored without half of its elements", ("sparsity",)),
    Column("metadata", "sp or sp::ordered_metadata"),
    Column("satfinite", "yes or no", ("saturate", "saturates", "overflow")),
    Column("rounding", "rn, rz, rm, rp or none"),
    Column("bit_operation", "xor, and or none", ("bit_op", "b1_op", "b1op")),
    Column("count", "x1, x2 or x4", ("num", "num_matrices")),
    Column("trans", "yes or no", ("transpose", "transposed")),
    Column("space", "global, shared, shared::cta or none", ("state_space",)),
    Column(OPERAND, "makes it a layout row: the operand that is laid out"),
)  # fmt: skip
"""Every column."""

LOWEST = MappingProxyType(
    {
        **dict.fromkeys(("min_target", "min_arch", "min_sm", "minimum_target", "minimum_arch"), TARGET),
        **dict.fromkeys(("min_ptx", "min_ptx_version", "minimum_ptx", "ptx_since"), PTX),
    }
)
"""Columns that name the oldest target or version: ``sm_80`` there is ``sm_80+``."""

REMARKS = frozenset(
    {
        "note",
        "notes",
        "comment",
        "comments",
        "remark",
        "source",
        "description",
        "reason",
        "name",
        "id",
        "file",
    }
)
"""Columns that are not looked at; nor is one that begins with an underscore, ``x-`` or ``$``."""


def _plain(title: str) -> str:
    return re.sub(r"[\s\-./]+", "_", title.strip().lower()).strip("_")


_NAMES: Mapping[str, str] = MappingProxyType(
    {name: column.name for column in COLUMNS for name in (column.name, *column.aliases)}
)


@lru_cache(maxsize=1024)
def column_named(title: str) -> str | None:
    """Return the column that a title means; None where it is a remark.

    Raises
    ------
    InputError
        If no column is called so.
    """
    plain = _plain(title)
    if plain in REMARKS or title.startswith(("_", "x-", "$", "#")):
        return None
    if plain in _NAMES or plain in LOWEST:
        return _NAMES.get(plain) or LOWEST[plain]
    known = ", ".join(column.name for column in COLUMNS)
    raise InputError(
        f"unknown column {title!r}; known: {known}. Rename it with --column {title}=NAME, or ignore it with "
        f"--column {title}="
    )


def as_stated(name: str, title: str, cell: Any) -> Any:
    """Return what a cell of a column states; it may depend on what the file calls the column."""
    if name not in (TARGET, PTX):  # data frames with gaps write 16.0 for 16
        cell = _whole(cell)
    if name in (TARGET, PTX) and _plain(title) in LOWEST and not str(cell).rstrip().endswith("+"):
        return f"{cell}+"
    return cell


def _whole(cell: Any) -> Any:
    """Return a cell whose whole numbers are spelled without a fraction."""
    match cell:
        case str():
            return int(cell[:-2]) if _WHOLE.fullmatch(cell) else cell
        case list():
            return [_whole(each) for each in cell]
        case dict():
            return {name: _whole(each) for name, each in cell.items()}
    return cell


_WHOLE = re.compile(r"[0-9]{1,9}\.0")


_YES = ("yes", "true", "y", "1", "legal", "supported", "ok", "✓")
_NO = ("no", "false", "n", "0", "illegal", "unsupported", "✗")


def truth(cell: Any) -> bool:
    """Read a yes or a no.

    Raises
    ------
    InputError
        If it is neither.
    """
    word = str(cell).strip().lower() if isinstance(cell, str | bool | int) else ""
    if word in _YES:
        return True
    if word in _NO:
        return False
    raise InputError(f"{cell!r} is neither yes nor no; allowed: {', '.join((*_YES[:5], *_NO[:5]))}")


_BETWEEN = re.compile(r"\s*[|,;]\s*")


def listed(column: str, cell: Any) -> Values:
    """Return the values that a cell lists.

    Raises
    ------
    InputError
        If it is nested, or lists nothing.
    """
    if isinstance(cell, str):
        return _split(column, cell)
    if isinstance(cell, bool):
        return ("yes" if cell else "no",)
    if isinstance(cell, int):
        return (str(cell),)
    if isinstance(cell, list) and cell and all(isinstance(each, str | int) for each in cell):
        return tuple(value for each in cell for value in listed(column, each))
    raise InputError(f"column {column!r} is a value or a list of values, not {str(cell)[:60]}")


@lru_cache(maxsize=65536)
def _split(column: str, cell: str) -> Values:
    values = tuple(value for value in _BETWEEN.split(cell.strip().strip("{}")) if value)
    if not values:
        raise InputError(f"column {column!r} is empty: {cell!r}")
    return values


def is_pattern(value: str) -> bool:
    """Whether a value stands for those that match it."""
    return "*" in value or "?" in value


def shapes(cell: Any) -> Values:
    """Read shapes: ``m16n8k16``, ``16x8x16``, ``[16, 8, 16]``, or an object with m, n and k.

    Raises
    ------
    InputError
        If one is none.
    """
    if isinstance(cell, Mapping):
        if set(cell) - {"m", "n", "k"}:
            raise InputError(f"a shape has m, n and k, not {', '.join(sorted(cell))}")
        return (_shape("".join(f"{name}{cell[name]}" for name in "mnk" if name in cell)),)
    if isinstance(cell, list):
        if cell and all(type(each) is int for each in cell):
            return (_shape("x".join(map(str, cell))),)
        return tuple(shape for each in cell for shape in shapes(each))
    if isinstance(cell, str) and re.fullmatch(r"\s*[(\[]?\s*[0-9]+(\s*,\s*[0-9]+){1,2}\s*[)\]]?\s*", cell):
        return (_shape("x".join(re.findall(r"\d+", cell))),)
    return tuple(_shape(value) for value in listed(SHAPE, cell))


@lru_cache(maxsize=4096)
def _shape(text: str) -> str:
    if is_pattern(text):
        return text
    match = re.fullmatch(r"m?([0-9]{1,5})[xn_]([0-9]{1,5})(?:[xk_]([0-9]{1,5}))?", text.strip().lower())
    if match is None:
        raise InputError(f"{text!r} is not a shape; a shape looks like m16n8k16 or 16x8x16")
    m, n, k = match.groups()
    return f"m{int(m)}n{int(n)}" + (f"k{int(k)}" if k else "")


def type_columns(cell: Any) -> Mapping[str, Any]:
    """Return the columns that a cell with all element types stands for.

    Raises
    ------
    InputError
        If it is not D, A, B, C and perhaps the type of scale factors, nor an object of these.
    """
    if isinstance(cell, Mapping):
        return cell
    parts: Sequence[str] = cell if isinstance(cell, list) else re.split(r"[.,\s]+", str(cell).strip(". "))
    names = {1: ("type",), 2: ("d", "c"), 4: ("d", "a", "b", "c"), 5: ("d", "a", "b", "c", "scale_type")}
    if len(parts) not in names or not all(isinstance(part, str) for part in parts):
        raise InputError(f"types are D.A.B.C as in f32.f16.f16.f32, or an object of them, not {cell!r}")
    return dict(zip(names[len(parts)], parts, strict=True))


def renaming(pairs: Iterable[str]) -> dict[str, str]:
    """Read renamings of columns, ``OLD=NEW``; an empty NEW ignores the column.

    Raises
    ------
    InputError
        If one has no ``=``, or NEW is no column.
    """
    found = {}
    for pair in pairs:
        old, separator, new = pair.partition("=")
        if not separator or not old.strip():
            raise InputError(f"--column {pair!r} is not OLD=NEW")
        found[old.strip()] = renamed(new)
    return found


def renamed(name: str) -> str:
    """Return the column that a renaming leads to; "" ignores it.

    Raises
    ------
    InputError
        If there is none.
    """
    return name and (column_named(name) or "")
