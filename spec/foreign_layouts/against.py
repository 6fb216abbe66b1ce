"""The layout of an operand, as somebody writes it in any notation, against the instruction set's."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from ..element_table import ElementTable
from ..errors import InputError, UnsupportedError
from ..instruction_set import read
from . import rows
from .comparison import Comparison
from .cute_comparison import compare_cute, cute_layout
from .cute_text import is_cute, parse_layout
from .distribution import UNCOMPRESSED, Distribution, distributions, uncompressed
from .linear import is_linear, parse_linear
from .linear_comparison import compare_linear, linear_layout
from .shared_memory import compare_shared
from .transport import compare_transport, is_transport
from .triton_attributes import is_attribute, parse_attribute

NOTATIONS = (
    "CuTe's shape:stride such as ((4,8),2):((16,1),8), vectors such as {register: [[0, 1]], lane: [...]}, "
    "Triton's #ttg.nvidia_mma<{...}>, #ttg.dot_op<{...}> and #ttg.blocked<{...}>, "
    "rows (CSV or JSON) of lane, element, row, column, or LDMATRIX <- LAYOUT"
)
"""What is understood."""


class Notation(StrEnum):
    """How a layout is written for another tool."""

    CUTE = "cute"
    LINEAR = "linear"


def compare_layout(instruction: str, operand: str, layout: str, target: str | None = None) -> Comparison:
    """Compare a layout with that of an operand.

    A and the metadata of a sparse product may count what is stored, or all of K; a note says which.

    Parameters
    ----------
    instruction : str
        Any instruction that ``mmaproof layout`` takes.
    operand : str
        The operand's name.
    layout : str
        In one of `NOTATIONS`.
    target : str, optional
        The processor, where layouts depend on it.

    Raises
    ------
    InputError
        If there is no such instruction or operand, or the layout can't be read or is absurdly large.
    UnsupportedError
        If the instruction set does not specify the operand's layout.
    """
    table = read(instruction).layout(operand, target)
    text = layout.replace("\\n", "\n").strip()
    if is_transport(text):
        return compare_transport(text, instruction, operand)
    return compare_with_table(table, operand, text)


def compare_with_table(table: ElementTable, operand: str, text: str) -> Comparison:
    """Compare a layout with what a table says of an operand; see `compare_layout`."""
    if table.swizzled:
        return compare_shared(table.swizzled, table, text)
    candidates = _candidates(table, operand)
    if rows.is_rows(text):
        return rows.compare_rows(rows.parse_rows(text), table, _whole(candidates))
    if is_attribute(text):
        return compare_linear(parse_attribute(text), candidates)
    if is_linear(text):
        return compare_linear(parse_linear(text), candidates)
    if is_cute(text):
        return compare_cute(parse_layout(text), candidates)
    raise InputError(f"{text[:60]!r} is no layout; understood are {NOTATIONS}")


def written_layout(instruction: str, operand: str, notation: Notation, target: str | None = None) -> str:
    """Return the layout of an operand in CuTe's or Triton's notation: what `compare_layout` finds equal.

    Raises
    ------
    InputError
        If there is no such instruction or operand, or its layout is not linear.
    UnsupportedError
        If the instruction set does not specify the operand's layout.
    """
    table = read(instruction).layout(operand, target)
    if table.swizzled:
        if notation is Notation.LINEAR:
            raise UnsupportedError(
                f"{table.title} is written as CuTe's layout: lines may lie apart in memory"
            )
        return table.swizzled
    candidates = _candidates(table, operand)
    whole = _whole(candidates)
    if notation is Notation.CUTE:
        return str(cute_layout(candidates[0] if whole.holders[1] == "offset" else whole))
    if (linear := linear_layout(whole)) is None:
        extents = " x ".join(str(axis.extent) for axis in table.axes)
        raise InputError(f"{table.title}, {extents}, is not linear: the extents are not powers of two")
    return f"{{{linear}}}"


def _whole(candidates: Sequence[Distribution]) -> Distribution:
    """Return the reading of all that a table says: the last that counts what is stored."""
    return next(candidate for candidate in reversed(candidates) if candidate.convention != UNCOMPRESSED)


def _candidates(table: ElementTable, operand: str) -> list[Distribution]:
    """Return the maps that an operand's table can be read as."""
    by_columns = table.owners.name == "lane" and operand in ("b", "scale_b")
    convention = UNCOMPRESSED if operand == "metadata" else ""
    candidates = list(distributions(table, by_columns=by_columns, convention=convention))
    if operand == "a" and table.served > 1:
        candidates.append(uncompressed(candidates[-1]))
    return candidates
