"""Bit-vector terms by Z3's C interface: functions of them; cut and joined so that it is the same term again.

A joined term is in a normal form: a balanced tree of concatenations whose leaves are no concatenations,
and where no two neighbouring leaves are constants, or cuts of one term that fit together.

Nodes are read through Z3's C interface, which takes a third of the time; what they are part of keeps them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import z3


@cache
def function(name: str, *widths: int) -> Any:
    """Return an uninterpreted function of bit-vectors of widths, of which the last is the result's."""
    return z3.Function(name, *map(z3.BitVecSort, widths))


def applied(function: Any, *arguments: Any) -> Any:
    """Apply a function of known sorts to bit-vectors: through the C interface, several times faster."""
    context, count = z3.main_ctx(), len(arguments)
    pointers = (z3.Ast * count)(*(argument.as_ast() for argument in arguments))
    return z3.BitVecRef(z3.Z3_mk_app(context.ref(), function.ast, count, pointers), context)


def cut(high: int, low: int, term: Any) -> Any:
    """Return bits `high` to `low` of a term; concatenations, constants and nested cuts are looked through."""
    context, node = term.ctx.ref(), term.as_ast()
    while high - low + 1 != _width(context, node):
        declaration = z3.Z3_get_app_decl(context, node)
        kind = z3.Z3_get_decl_kind(context, declaration)
        if kind == z3.Z3_OP_BNUM:
            return z3.BitVecVal(_number(context, node) >> low, high - low + 1)
        if kind == z3.Z3_OP_EXTRACT:
            offset, part = z3.Z3_get_decl_int_parameter(context, declaration, 1), 0
            high, low = high + offset, low + offset
        elif kind == z3.Z3_OP_CONCAT:
            part, below, width = _lowest_part(context, node, low)
            high, low = high - below, low - below
            if high >= width:
                arguments = [
                    _expression(z3.Z3_get_app_arg(context, node, i), term.ctx) for i in range(part + 1)
                ]
                lowest = arguments.pop()
                return join(cut(high - width, 0, join(*arguments)), cut(width - 1, low, lowest))
        else:
            return z3.BitVecRef(z3.Z3_mk_extract(context, high, low, node), term.ctx)
        node = z3.Z3_get_app_arg(context, node, part)
    return _expression(node, term.ctx)


def _lowest_part(context: Any, node: Any, low: int) -> tuple[int, int, int]:
    """Return which part of a concatenation holds bit `low`, the bits below that part, and its width."""
    part, below, width = z3.Z3_get_app_num_args(context, node), 0, 0
    while low >= below + width:
        part, below = part - 1, below + width
        width = _width(context, z3.Z3_get_app_arg(context, node, part))
    return part, below, width


def _width(context: Any, node: Any) -> int:
    return int(z3.Z3_get_bv_sort_size(context, z3.Z3_get_sort(context, node)))


def _number(context: Any, node: Any) -> int:
    return int(z3.Z3_get_numeral_string(context, node))


def _expression(node: Any, context: Any) -> Any:
    """Return a bit-vector of the C interface as a term."""
    kind = z3.BitVecNumRef if z3.Z3_is_numeral_ast(context.ref(), node) else z3.BitVecRef
    return kind(node, context)


def join(*parts: Any) -> Any:
    """Return the concatenation of terms, most significant first, in normal form."""
    fields: list[_Field] = []
    context = parts[0].ctx
    for part in parts:
        for field in _fields(context.ref(), part.as_ast()):
            merged = fields[-1].extended(field) if fields else None
            if merged is None:
                fields.append(field)
            else:
                fields[-1] = merged
    return _balanced([field.term(context) for field in fields])


class _Field(NamedTuple):
    """Bits `high` to `low` of a node, or of a Python int."""

    base: Any
    high: int
    low: int

    def extended(self, lower: _Field) -> _Field | None:
        """Return this and the field below it as one, None where they are two."""
        if isinstance(self.base, int) and isinstance(lower.base, int):
            width = lower.high + 1
            return _Field(self.base << width | lower.base, self.high + width, 0)
        if isinstance(self.base, int) or isinstance(lower.base, int) or self.low != lower.high + 1:
            return None
        return _Field(self.base, self.high, lower.low) if self.base.value == lower.base.value else None

    def term(self, context: Any) -> Any:
        """Return the bits as a term."""
        if isinstance(self.base, int):
            return z3.BitVecVal(self.base, self.high + 1)
        return cut(self.high, self.low, _expression(self.base, context))


def _fields(context: Any, node: Any) -> Iterator[_Field]:
    """Yield the parts of concatenations instead of them, as what they are cut out of."""
    declaration = z3.Z3_get_app_decl(context, node)
    kind = z3.Z3_get_decl_kind(context, declaration)
    if kind == z3.Z3_OP_CONCAT:
        for i in range(z3.Z3_get_app_num_args(context, node)):
            yield from _fields(context, z3.Z3_get_app_arg(context, node, i))
    elif kind == z3.Z3_OP_EXTRACT:
        high, low = (z3.Z3_get_decl_int_parameter(context, declaration, i) for i in range(2))
        yield _Field(z3.Z3_get_app_arg(context, node, 0), high, low)
    else:
        base = _number(context, node) if kind == z3.Z3_OP_BNUM else node
        yield _Field(base, _width(context, node) - 1, 0)


def _balanced(terms: Sequence[Any]) -> Any:
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    upper, lower = _balanced(terms[:middle]), _balanced(terms[middle:])
    return z3.BitVecRef(z3.Z3_mk_concat(upper.ctx.ref(), upper.as_ast(), lower.as_ast()), upper.ctx)
