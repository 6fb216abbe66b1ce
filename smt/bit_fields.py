"""Cutting and joining bit-vector terms so that what is taken apart and put together is the same term.

A joined term is in a normal form: a balanced tree of concatenations whose leaves are no concatenations,
and where no two neighbouring leaves are constants, or cuts of one term that fit together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import z3


def cut(high: int, low: int, term: Any) -> Any:
    """Return bits `high` to `low` of a term; concatenations, constants and nested cuts are looked through."""
    if high - low + 1 == term.size():
        return term
    kind = term.decl().kind()
    if kind == z3.Z3_OP_EXTRACT:
        offset = term.params()[1]
        return cut(high + offset, low + offset, term.arg(0))
    if kind == z3.Z3_OP_CONCAT:
        return _cut_parts(high, low, term)
    if kind == z3.Z3_OP_BNUM:
        return z3.BitVecVal(term.as_long() >> low, high - low + 1)
    return z3.Extract(high, low, term)


def _cut_parts(high: int, low: int, term: Any) -> Any:
    """Cut a concatenation; one can hold many fields, so the way down is in Z3's C interface."""
    context, node = term.ctx.ref(), term.as_ast()
    while z3.Z3_get_decl_kind(context, z3.Z3_get_app_decl(context, node)) == z3.Z3_OP_CONCAT:
        index = z3.Z3_get_app_num_args(context, node)
        width = 0
        while low >= width:  # go up to the part that holds the lowest bit
            high, low, index = high - width, low - width, index - 1
            part = z3.Z3_get_app_arg(context, node, index)
            width = z3.Z3_get_bv_sort_size(context, z3.Z3_get_sort(context, part))
        if high >= width:
            above = (_expression(z3.Z3_get_app_arg(context, node, i), term.ctx) for i in range(index))
            upper, lower = join(*above), _expression(part, term.ctx)
            return join(cut(high - width, 0, upper), cut(width - 1, low, lower))
        node = part
    return cut(high, low, _expression(node, term.ctx))


def _expression(node: Any, context: Any) -> Any:
    """Return a bit-vector of the C interface as a term."""
    kind = z3.BitVecNumRef if z3.Z3_is_numeral_ast(context.ref(), node) else z3.BitVecRef
    return kind(node, context)


def join(*parts: Any) -> Any:
    """Return the concatenation of terms, most significant first, in normal form."""
    fields: list[_Field] = []
    for leaf in _leaves(parts):
        field = _field(leaf)
        merged = fields[-1].extended(field) if fields else None
        if merged is None:
            fields.append(field)
        else:
            fields[-1] = merged
    return _balanced([field.term() for field in fields])


class _Field(NamedTuple):
    """Bits `high` to `low` of a term, or of a Python int."""

    base: Any
    high: int
    low: int

    def extended(self, lower: _Field) -> _Field | None:
        """Return this and the field below it as one, None where they are two."""
        if isinstance(self.base, int) and isinstance(lower.base, int):
            width = lower.high + 1
            return _Field(self.base << width | lower.base, self.high + width, 0)
        if isinstance(self.base, int) or isinstance(lower.base, int):
            return None
        fits = self.low == lower.high + 1 and self.base.eq(lower.base)
        return _Field(self.base, self.high, lower.low) if fits else None

    def term(self) -> Any:
        """Return the bits as a term."""
        if isinstance(self.base, int):
            return z3.BitVecVal(self.base, self.high + 1)
        return cut(self.high, self.low, self.base)


def _field(leaf: Any) -> _Field:
    kind = leaf.decl().kind()
    if kind == z3.Z3_OP_BNUM:
        return _Field(leaf.as_long(), leaf.size() - 1, 0)
    if kind == z3.Z3_OP_EXTRACT:
        high, low = leaf.params()
        return _Field(leaf.arg(0), high, low)
    return _Field(leaf, leaf.size() - 1, 0)


def _leaves(parts: Sequence[Any]) -> Iterator[Any]:
    """Yield the parts of concatenations instead of them."""
    for part in parts:
        if z3.is_app_of(part, z3.Z3_OP_CONCAT):
            yield from _leaves(part.children())
        else:
            yield part


def _balanced(terms: Sequence[Any]) -> Any:
    if len(terms) == 1:
        return terms[0]
    middle = len(terms) // 2
    return z3.Concat(_balanced(terms[:middle]), _balanced(terms[middle:]))
