"""The layout of an operand, as somebody writes it in any notation, against the instruction set's."""

from __future__ import annotations

from ..errors import InputError
from ..instruction_set import InstructionSet, of_instruction
from . import rows
from .comparison import Comparison
from .cute_comparison import compare_cute
from .cute_text import is_cute, parse_layout
from .distribution import distributions
from .linear import is_linear, parse_linear
from .linear_comparison import compare_linear
from .transport import compare_transport, is_transport

NOTATIONS = (
    "CuTe's shape:stride such as ((4,8),2):((16,1),8), vectors such as {register: [[0, 1]], lane: [...]}, "
    "rows (CSV or JSON) of lane, element, row, column, or LDMATRIX <- LAYOUT"
)
"""What is understood."""


def compare_layout(instruction: str, operand: str, layout: str, target: str | None = None) -> Comparison:
    """Compare a layout with that of an operand.

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
    isa = of_instruction(instruction)
    table = isa.layout(instruction, operand, target)
    text = layout.replace("\\n", "\n").strip()
    if is_transport(text):
        return compare_transport(text, instruction, operand)
    by_columns = isa.name == "ptx" and operand in ("b", "scale_b")
    candidates = list(distributions(table, by_columns=by_columns, k=_extent_k(isa, instruction)))
    if rows.is_rows(text):
        return rows.compare_rows(rows.parse_rows(text), table, candidates[-1])
    if is_linear(text):
        return compare_linear(parse_linear(text), candidates)
    if is_cute(text):
        return compare_cute(parse_layout(text), candidates)
    raise InputError(f"{text[:60]!r} is no layout; understood are {NOTATIONS}")


def _extent_k(isa: InstructionSet, instruction: str) -> int | None:
    """Return the K of an instruction whose text says it."""
    if isa.name != "ptx":
        return None
    from ..ptx.assembly import parse

    shape = parse(instruction).variant.shape
    return None if shape is None else shape.k or None
