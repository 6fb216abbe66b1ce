"""Instructions of kernels that are no matrix instructions: whether `verify` executes them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..refinement.machine.languages import LANGUAGES, opcode_rows
from ..spec.errors import UnsupportedError
from ..spec.instruction_set import Description

_FIRST_WORD = re.compile(r"\s*(?:@!?[\w%$]+\s+)?([\w.]+)")


def found(text: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the languages that have an instruction, with its row of their opcodes."""
    if (word := _FIRST_WORD.match(text)) is None:
        return
    for isa in LANGUAGES:
        for row in opcode_rows(isa):
            if row["opcode"] in (word[1], word[1].partition(".")[0]):
                yield isa, row


def explained(text: str) -> Iterator[Description]:
    """Yield what becomes of an instruction in kernels, once for each language that has it."""
    for isa, row in found(text):
        cells = (f"{title}: {cell}" for title, cell in row.items() if title != "opcode" and cell)
        yield Description(
            f"{row['opcode']} of {isa}, which is not a matrix instruction",
            (
                ("In kernels that are verified", tuple(cells)),
                ("All", (f"mmaproof tables {isa} --table opcodes",)),
            ),
        )


def require_unknown(text: str, isa: str | None) -> None:
    """Refuse an instruction of kernels that no rule judges; of one instruction set, or of any.

    Raises
    ------
    UnsupportedError
        If there is such an instruction.
    """
    for language, row in found(text):
        if isa in (None, language):
            raise UnsupportedError(f"{row['opcode']} of {language}: known, no matrix instruction, not judged")
