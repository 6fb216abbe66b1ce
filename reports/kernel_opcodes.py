"""Instructions of kernels that are no matrix instructions: whether `verify` executes them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..refinement.machine.languages import LANGUAGES, opcode_rows
from ..spec.instruction_set import Description

_FIRST_WORD = re.compile(r"\s*(?:@!?[\w%$]+\s+)?([\w.]+)")


def explained(text: str) -> Iterator[Description]:
    """Yield what becomes of an instruction in kernels, once for each language that has it."""
    if (word := _FIRST_WORD.match(text)) is None:
        return
    for isa in LANGUAGES:
        for row in opcode_rows(isa):
            if row["opcode"] in (word[1], word[1].partition(".")[0]):
                cells = (f"{title}: {cell}" for title, cell in row.items() if title != "opcode" and cell)
                yield Description(
                    f"{row['opcode']} of {isa}, which is not a matrix instruction",
                    (
                        ("In kernels that are verified", tuple(cells)),
                        ("All", (f"mmaproof tables {isa} --table opcodes",)),
                    ),
                )
