"""Every row of scalar instructions, and its forms by spelling."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from typing import NamedTuple

from . import bits, floats, functions, integers
from .rows import Form, Row

ROWS: tuple[Row, ...] = (*integers.ROWS, *bits.ROWS, *floats.ROWS, *functions.ROWS)
"""All rows."""

_TYPE = re.compile(r"pred|(b|u|s|f|bf|tf|u?e\d+m)\d+(x\d+)?")


class Spelling(NamedTuple):
    """The modifiers of a mnemonic.

    Attributes
    ----------
    head : str
        The opcode, with the words that follow it in the heads of its rows.
    flags : frozenset of str
        Words that are no types; they may stand in any order, and be repeated.
    types : tuple of str
        In the order written.
    """

    head: str
    flags: frozenset[str]
    types: tuple[str, ...]


@cache
def by_opcode() -> Mapping[str, tuple[Row, ...]]:
    """Return the rows of each opcode."""
    return {opcode: tuple(row for row in ROWS if row.opcode == opcode) for opcode in _opcodes()}


def _opcodes() -> tuple[str, ...]:
    return tuple(dict.fromkeys(row.opcode for row in ROWS))


@cache
def _forms() -> Mapping[Spelling, tuple[Form, ...]]:
    forms: dict[Spelling, tuple[Form, ...]] = {}
    for form in every_form():
        key = Spelling(form.row.head, frozenset(form.flags), tuple(map(str, form.types)))
        forms[key] = (*forms.get(key, ()), form)
    return forms


def every_form() -> tuple[Form, ...]:
    """Return the forms of all rows."""
    return tuple(form for row in ROWS for form in row.forms())


def spelling(opcode: str, modifiers: Sequence[str]) -> Spelling:
    """Return the modifiers by what they are, whether some row has them or not."""
    heads = [row.head for row in by_opcode().get(opcode, ())]
    head, rest = opcode, list(modifiers)
    while rest and any(f"{name}.".startswith(f"{head}.{rest[0]}.") for name in heads):
        head = f"{head}.{rest.pop(0)}"
    types = tuple(word for word in rest if _TYPE.fullmatch(word))
    return Spelling(head, frozenset(rest).difference(types), types)


def form_of(opcode: str, modifiers: Sequence[str], count: int | None = None) -> Form | None:
    """Return the form that a mnemonic spells, None where PTX has none.

    Some mnemonics are of two forms, which the count of operands tells apart.
    """
    forms = _forms().get(spelling(opcode, modifiers), ())
    return next((form for form in forms if form.operand_count == count), forms[0] if forms else None)
