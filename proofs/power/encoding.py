"""Encoding: words and operands determine each other, and no word is two instructions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial, reduce
from operator import or_
from typing import Any

from ...spec.algebra import Algebra, Array
from ...spec.formats import IntegerFormat
from ...spec.power.encoding import LAYOUTS, PREFIX_OPCODE, Layout
from ..obligation import (
    Case,
    Certificate,
    Equation,
    Inputs,
    Method,
    Property,
    Status,
    Theorem,
    Variable,
    holds,
    immediate,
    theorem,
)

SOURCE = "Power ISA 3.1 Book I, instruction formats; checked against GNU as and llvm-mc"


def _format(layout: Layout) -> IntegerFormat:
    return immediate(layout.size)


def _word(layout: Layout) -> Variable:
    return Variable("word", _format(layout))


def _has_opcode(layout: Layout, alg: Algebra, v: Inputs) -> Iterator[Array]:
    """Yield the condition that the word has the opcode bits of a form; reserved bits may be set."""
    yield alg.same(v["word"] & layout.opcode_mask, alg.constant(layout.match, _format(layout)))


def _values(layout: Layout, v: Inputs) -> dict[str, Any]:
    """Return the operand values: each variable cut to what has an encoding (modulo ``2**bits``)."""
    return {o.name: v[o.name] & (1 << o.bits) - o.multiple for o in layout.form.operands}


# -- round trip
round_trip = Theorem(
    "power/encoding/round-trip",
    "assembling and extracting are inverse to each other",
    "∀ operand values v, words w: matches(assemble(v)) ∧ extract(assemble(v)) = v; matches(w) ⇒ "
    "assemble(extract(w)) = w; values modulo 2^bits",
    SOURCE,
    lambda: (Case(form.mnemonic, partial(_round_trip, layout)) for form, layout in LAYOUTS.items()),
)


def _round_trip(layout: Layout) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        yield from _extracted(layout, alg, _values(layout, v))
        word = v["word"]
        again = layout.assemble(layout.extract(word))
        yield Equation(again, word, _format(layout), layout.matches(word), "assemble(extract(w)) = w")

    return Property((*_operands(layout), _word(layout)), claim, abstract=False)


def _operands(layout: Layout) -> tuple[Variable, ...]:
    return tuple(Variable(operand.name, _format(layout)) for operand in layout.form.operands)


def _extracted(layout: Layout, alg: Algebra, values: Mapping[str, Any]) -> Iterator[Equation]:
    word = layout.assemble(values)
    yield holds(alg, layout.matches(word), "matches(assemble(v))")
    for name, value in layout.extract(word).items():
        yield Equation(value, values[name], _format(layout), label=f"{name} of extract(assemble(v))")


ODD = "∀ operand values, XAp odd too: extract(assemble(v)) = v: false, there is no bit for it"


odd_pair = Theorem(
    "power/encoding/odd-pair",
    "an odd register pair has no encoding (pinned)",
    ODD,
    SOURCE,
    lambda: (
        Case(form.mnemonic, partial(_odd_pair, layout), Status.REFUTED)
        for form, layout in LAYOUTS.items()
        if any(operand.multiple == 2 for operand in form.operands)
    ),
)


def _odd_pair(layout: Layout) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        pairs = {o.name: v[o.name] & (1 << o.bits) - 1 for o in layout.form.operands if o.multiple == 2}
        yield from _extracted(layout, alg, {**_values(layout, v), **pairs})

    return Property(_operands(layout), claim, abstract=False)


# -- uniqueness
@theorem(
    "power/encoding/unique",
    "no word is two instructions, none has a reserved bit set, and a prefix is no instruction",
    "∀ words w with the opcode bits of the form: the form matches w ⇔ no reserved bit of w is set; no other "
    "form of the size matches w; w[0:5] = 1 ⇔ the form is prefixed",
    SOURCE,
)
def unique() -> Iterator[Case]:
    """Yield a claim about all words per form, and a comparison of the fixed bits of every pair of forms."""
    for form, layout in LAYOUTS.items():
        others = tuple(o for o in LAYOUTS.values() if o.size == layout.size and o.form != form)
        yield Case(form.mnemonic, partial(_unique, layout, others))
        yield Case(
            f"{form.mnemonic}/fixed-bits",
            partial(_distinct, layout, others),
            method=Method.CERTIFICATE,
            statement="every other form of the size fixes a bit of the form's opcode to the other value; "
            "the primary opcode is 1 ⇔ the form is prefixed",
        )


def _distinct(layout: Layout, others: tuple[Layout, ...]) -> Certificate:
    opcode_position = layout.size - 6

    def check() -> str | None:
        for other in others:
            if not (layout.match ^ other.match) & layout.opcode_mask & other.mask:
                return f"a word can be {layout.form.mnemonic} and {other.form.mnemonic}"
        if (layout.match >> opcode_position == PREFIX_OPCODE) != layout.form.prefixed:
            return f"{layout.form.mnemonic} has the primary opcode {layout.match >> opcode_position}"
        return None

    return Certificate(check, len(others) + 1)


def _unique(layout: Layout, others: tuple[Layout, ...]) -> Property:
    opcode_position = layout.size - 6

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        word = v["word"]
        clean = alg.same(word & layout.reserved_mask, alg.constant(0, _format(layout)))
        yield Equation(layout.matches(word), clean, label="matches if no reserved bit is set")
        yield holds(alg, ~reduce(or_, (other.matches(word) for other in others)), "is no other form")
        opcode = (word >> opcode_position) & 63
        prefix = alg.same(opcode, alg.constant(PREFIX_OPCODE, _format(layout)))
        yield holds(alg, prefix if layout.form.prefixed else ~prefix, "is a prefix only if prefixed")

    return Property((_word(layout),), claim, partial(_has_opcode, layout), abstract=False)


reserved_ignored = Theorem(
    "power/encoding/reserved-ignored",
    "a decoder that ignores reserved bits does not invert the encoding (pinned)",
    "∀ words w with the opcode bits of the form: assemble(extract(w)) = w: false where a reserved bit is set",
    "QEMU 7.2, measured: it executes accumulator instructions with reserved bits set",
    lambda: (
        Case(form.mnemonic, partial(_reserved_ignored, layout), Status.REFUTED)
        for form, layout in LAYOUTS.items()
        if form.update and not form.prefixed
    ),
)


def _reserved_ignored(layout: Layout) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        word = v["word"]
        again = layout.assemble(layout.extract(word))
        yield Equation(again, word, _format(layout), label="assemble(extract(w)) = w")

    return Property((_word(layout),), claim, partial(_has_opcode, layout), abstract=False)


THEOREMS = (round_trip, odd_pair, unique, reserved_ignored)
