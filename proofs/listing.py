"""The catalogue and the instructions as rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Final, Literal, TypedDict, cast

from ..spec.errors import InputError
from ..spec.instruction_set import NAMES, instruction_set
from ..spec.json_fields import Keyword, ObligationId
from .catalogue import matches, matching, near, remember
from .methods import PATTERN
from .obligation import Equality, Expected, Obligation
from .recorded_methods import recorded_method
from .remembered import remembered

Row = dict[str, str]

SCHEMA: Final = 1


class ListedObligation(TypedDict):
    """An obligation.

    Attributes
    ----------
    id : str
        isa/family/theorem/variant.
    expect : Status
        The expected verdict.
    equality : Equality
        In which sense the sides are equal.
    method : str
        What decided when that was last recorded, with the second witness of an enumeration.
    choices : str
        What is chosen where the instruction set leaves it open.
    statement : str
        What is claimed.
    source : str
        Where it is stated.
    """

    id: ObligationId
    expect: Expected
    equality: Equality
    method: Annotated[str, Keyword("pattern", f"^({PATTERN}(, {PATTERN})?)?$")]
    choices: str
    statement: str
    source: str


class ListedInstruction(TypedDict):
    """An instruction.

    Attributes
    ----------
    isa : str
        Whose it is.
    mnemonic : str
        Its name.
    operands : str
        As they are written.
    """

    isa: str
    mnemonic: str
    operands: str


class Listing(TypedDict):
    """What `list --json` prints.

    Attributes
    ----------
    schema : int
        Version of the document.
    obligations : list of ListedObligation
        Those that are selected.
    instructions : list of ListedInstruction
        Those that are selected.
    """

    schema: Literal[1]
    obligations: list[ListedObligation]
    instructions: list[ListedInstruction]


def listing(patterns: Sequence[str], directory: Path | None = None) -> Listing:
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
        "schema": SCHEMA,
        "obligations": [_obligation(obligation) for obligation in matching(patterns)],
        "instructions": [
            cast(ListedInstruction, row)
            for row in instructions
            if not patterns or any(_selects(pattern, row) for pattern in patterns)
        ],
    }


def _instructions() -> Iterator[Row]:
    for isa in map(instruction_set, NAMES):
        for row in isa.instructions():
            yield {"isa": isa.name, **row}


def _selects(pattern: str, instruction: Row) -> bool:
    return pattern == instruction["isa"] or matches(instruction["mnemonic"], pattern)


def _obligation(obligation: Obligation) -> ListedObligation:
    return {
        "id": obligation.id,
        "expect": cast(Expected, obligation.expect),
        "equality": obligation.equality,
        "method": recorded_method(obligation.id),
        "choices": obligation.choices,
        "statement": obligation.statement,
        "source": obligation.source,
    }
