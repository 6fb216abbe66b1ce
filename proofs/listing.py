"""The catalogue and the instructions as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..spec.errors import InputError
from ..spec.instruction_set import NAMES, instruction_set
from .catalogue import matches, obligations, theorems
from .obligation import Obligation

Row = dict[str, str]


def listing(patterns: Sequence[str]) -> dict[str, list[Row]]:
    """Return the obligations and the instructions that any of the patterns selects (all for no pattern).

    A pattern is a prefix or glob of an obligation's id or of a mnemonic, or the name of an ISA.

    Raises
    ------
    InputError
        If a pattern selects nothing.
    """
    everything: list[Obligation | Row] = [*obligations().values(), *_instructions()]
    for pattern in patterns:
        if not any(_selects(pattern, entry) for entry in everything):
            known = ", ".join(theorem.id for theorem in theorems())
            raise InputError(f"no obligation or instruction matches {pattern!r}; theorems: {known}")
    selected = [e for e in everything if not patterns or any(_selects(pattern, e) for pattern in patterns)]
    return {
        "obligations": [_obligation(entry) for entry in selected if isinstance(entry, Obligation)],
        "instructions": [entry for entry in selected if not isinstance(entry, Obligation)],
    }


def _instructions() -> Iterator[Row]:
    for isa in map(instruction_set, NAMES):
        for row in isa.instructions():
            yield {"isa": isa.name, **row}


def _selects(pattern: str, entry: Obligation | Row) -> bool:
    if isinstance(entry, Obligation):
        return matches(entry.id, pattern)
    return pattern == entry["isa"] or matches(entry["mnemonic"], pattern)


def _obligation(obligation: Obligation) -> Row:
    return {
        "id": obligation.id,
        "expect": obligation.expect.value,
        "equality": obligation.equality.value,
        "method": obligation.method.value,
        "choices": obligation.choices,
        "statement": obligation.statement,
        "source": obligation.source,
    }
