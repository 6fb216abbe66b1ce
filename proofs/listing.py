"""The catalogue and the instructions as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from ..spec.errors import InputError
from ..spec.instruction_set import NAMES, instruction_set
from .catalogue import matches, matching, near, remember
from .obligation import Obligation
from .recorded_methods import recorded_method
from .remembered import remembered

Row = dict[str, str]


def listing(patterns: Sequence[str], directory: Path | None = None) -> dict[str, list[Row]]:
    """Return the obligations and the instructions that any of the patterns selects (all for no pattern).

    A pattern is a prefix or glob of an obligation's id or of a mnemonic, or the name of an ISA.

    Parameters
    ----------
    patterns : sequence of str
        The patterns.
    directory : Path, optional
        Of a cache, which is used and filled.

    Raises
    ------
    InputError
        If a pattern selects nothing.
    """
    if directory is None:
        instructions = list(_instructions())
    else:
        remember(directory, patterns)
        instructions = remembered(directory, f"instructions {' '.join(NAMES)}", lambda: list(_instructions()))
    for pattern in patterns:
        if not (matching((pattern,)) or any(_selects(pattern, row) for row in instructions)):
            raise InputError(f"no obligation or instruction matches {pattern!r}; {near(pattern)}")
    return {
        "obligations": [_obligation(obligation) for obligation in matching(patterns)],
        "instructions": [
            row for row in instructions if not patterns or any(_selects(pattern, row) for pattern in patterns)
        ],
    }


def _instructions() -> Iterator[Row]:
    for isa in map(instruction_set, NAMES):
        for row in isa.instructions():
            yield {"isa": isa.name, **row}


def _selects(pattern: str, instruction: Row) -> bool:
    return pattern == instruction["isa"] or matches(instruction["mnemonic"], pattern)


def _obligation(obligation: Obligation) -> Row:
    return {
        "id": obligation.id,
        "expect": obligation.expect.value,
        "equality": obligation.equality.value,
        "method": recorded_method(obligation.id),
        "choices": obligation.choices,
        "statement": obligation.statement,
        "source": obligation.source,
    }
