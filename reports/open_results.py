"""The page on results that instruction sets leave open, of the rows that the machines use.

``python -m mmaproof.reports.open_results > docs/open-results.md`` writes it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from ..spec.open_results import OpenResult
from ..spec.power import open_results as power
from ..spec.ptx import open_results as ptx

_TITLE = """# Results that are left open

`verify` allows for every value of these results: an output that depends on one is never `verified`, and an
output that does not is unaffected. Definedness is tracked bit by bit, through registers, shared, local and
global memory, the stack and accumulators: an undefined bit propagates to values computed from it, and
masking with zeros ends it. It counts only where an output, an address or a branch depends on it. A read of
uninitialised memory on which nothing depends is a note. Where the manual leaves a point open that all
implementations decide alike, and kernels rely on it, `verify` does so too; a separate table lists these.

An address of PTX is a number where it is used as one. Where a kernel compares addresses of two arrays,
subtracts them, reads bits above the known alignment (`alignment` of the contract, 256 by default; `.align`
of variables), or stores an address as data, the address is a word of which only the bits below the
alignment are known. Both sides of a branch on it are judged, each as if arrays lay so. A path for better
aligned arrays alone is `undecided`; `alignment` in the contract settles it. This does not cover addresses
of shared and local variables that data choose between, and addresses that are read in parts from memory.

Functions of Power are called again with arrays in the opposite order and the bits of their addresses above
the alignment inverted, up to bit 15, and with arrays end to end, in both orders. The results must be the
same; otherwise the function is `undecided`.

The tables are printed from rows of the specification (`python -m mmaproof.reports.open_results`). The
machines produce such undefined values wherever they model the instruction.
"""

_HEAD = "| what | given by | what is open | source |\n|---|---|---|---|"


def _rows(results: Iterable[OpenResult]) -> Iterator[str]:
    for result in results:
        given = ", ".join(f"`{name}`" if " " not in name else name for name in result.instructions)
        yield f"| {result.name} | {given} | {result.bits} | {result.source} |"


def page() -> str:
    """Return the page."""
    parts = [_TITLE]
    for name, head, results in (
        ("PTX", _HEAD, ptx.OPEN_RESULTS),
        (
            "PTX: taken as all implementations give it",
            _HEAD.replace("is open", "is assumed"),
            ptx.TAKEN_ALIKE,
        ),
        ("Power", _HEAD, power.OPEN_RESULTS),
    ):
        parts.append("\n".join([f"## {name}", "", head, *_rows(results), ""]))
    return "\n".join(parts)


if __name__ == "__main__":
    sys.stdout.write(page())
