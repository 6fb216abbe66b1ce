"""The catalogue and the instructions as rows, and which theorems are about an instruction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Annotated, Final, Literal, TypedDict, cast

from ..spec.errors import InputError
from ..spec.instruction_set import NAMES, instruction_set
from ..spec.json_fields import Keyword, ObligationId
from .catalogue import matches, matching, near, remember, theorems
from .obligation import Equality, Expected, Obligation, Theorem
from .pinned import pinned
from .recorded_methods import recorded_method
from .remembered import remembered
from .verdict import PATTERN

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


def about(isa: str, mnemonic: str) -> dict[Theorem, list[str]]:
    """Return the ids of the obligations that name an instruction, by theorem.

    An id names it by a segment, or as the module `NAMING` of the instruction set's theorems says. The ids
    are the pinned ones: no obligation is built.
    """
    package = import_module(f".{isa}", __package__)
    named = (re.escape(mnemonic),)
    if (naming := getattr(package, "NAMING", None)) is not None:
        named = import_module(f".{naming}", package.__name__).patterns(mnemonic)
    pattern = re.compile(f"/(?:{'|'.join(named)})(?=/|$)")
    ids = [each for each in pinned() if each.startswith(f"{isa}/") and pattern.search(each)]
    found = {
        theorem: [identifier for identifier in ids if identifier.startswith(theorem.id + "/")]
        for theorem in theorems((f"{isa}/",))
    }
    return {theorem: members for theorem, members in found.items() if members}
