"""The sweep of scalar instructions that ptxas was asked about; answers in ``frozen/ptxas_scalar.tsv``.

For every head of a row: each type of `TYPES` (of two types the pairs of `PAIRS` and those of rows), with each
set of up to three of the modifiers that some row with the head has, and with each modifier of `FOREIGN`
alone. The operands are those of a row that has the types, else of any. The table has what ptxas of CUDA 13.0
takes on sm_100a with PTX 9.0; everything else of the sweep it refuses. ``python tests/ptx_scalar_sweep.py``
asks again and prints the table.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations, product
from pathlib import Path

from ptx_assembler import DECLARATIONS, Question, assembler

from mmaproof.spec.ptx.scalar.catalogue import by_opcode
from mmaproof.spec.ptx.scalar.rows import ElementType, Form, Row
from mmaproof.spec.ptx.targets import TARGETS

FROZEN = Path(__file__).parent / "frozen" / "ptxas_scalar.tsv"
TARGET, VERSION = TARGETS["sm_100a"], (9, 0)

TYPES = (
    *(f"{sort}{width}" for sort in "bus" for width in (16, 32, 64)), "u16x2", "s16x2", "f16", "bf16", "f32",
    "f64", "f16x2", "bf16x2", "f32x2", "pred", "s8", "b8",
)  # fmt: skip
PAIRS = tuple(product(("u32", "s32", "f32", "u16", "f16"), ("u32", "s32", "f16", "bf16", "f32")))
FOREIGN = (
    "sat", "relu", "cc", "rn", "rz", "ftz", "approx", "full", "NaN", "abs", "clamp", "wrap", "shiftamt",
    "and", "or", "xor", "f4e", "wide", "hi", "lo",
)  # fmt: skip
_REGISTERS = {
    "bf16": "b16", "bf16x2": "b32", "f32x2": "b64", "u16x2": "b32", "s16x2": "b32", "s8": "s16", "b8": "b16",
}  # fmt: skip


@dataclass(frozen=True)
class Asked:
    """An instruction of the sweep.

    Attributes
    ----------
    head, types, flags : str
        As the table has them: types and flags by dots.
    count : int
        Operands.
    text : str
        The instruction.
    """

    head: str
    types: str
    flags: str
    count: int
    text: str

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What the table tells apart."""
        return self.head, self.types, self.flags, self.count


def sweep() -> Iterator[Asked]:
    """Yield every instruction of the sweep."""
    for rows in by_opcode().values():
        for head in dict.fromkeys(row.head for row in rows):
            yield from _of_head(head, [row for row in rows if row.head == head])


def _of_head(head: str, rows: list[Row]) -> Iterator[Asked]:
    own = dict.fromkeys(flag for row in rows for slot in row.flag_slots for flag in slot if flag)
    sets = [flags for count in range(4) for flags in combinations(own, count)]
    sets += [(flag,) for flag in FOREIGN if flag not in own]
    two = [product(*row.type_slots) for row in rows if len(row.type_slots) == 2]
    pairs = dict.fromkeys(chain(PAIRS if two else (), *two))
    for types in (*((name,) for name in TYPES), *pairs):
        having = [row for row in rows if row.has_types(types)] or rows[:1]
        for operands in dict.fromkeys(row.operands for row in having):
            row = next(row for row in having if row.operands == operands)
            for flags in sets:
                text = instruction(row, types, flags)
                yield Asked(head, ".".join(types), ".".join(flags), text.count(",") + 1, text)


def instruction(row: Row, types: tuple[str, ...], flags: tuple[str, ...]) -> str:
    """Return an instruction with the operands of a row."""
    kinds = (
        tuple(map(ElementType, types)) if len(types) >= len(row.type_slots) else (ElementType(types[0]),) * 2
    )
    results, sources = Form(row, flags, kinds).written_places
    names = [
        "5" if place.immediate else _register(place.type.name, number)
        for number, place in enumerate((*results, *sources))
    ]
    operands = ["|".join(names[: len(results)]), *names[len(results) :]]
    return f"{'.'.join([row.head, *flags, *types])} {', '.join(operands)};"


def _register(kind: str, number: int) -> str:
    name = f"{_REGISTERS.get(kind, kind)}_{number}"
    return name if name in DECLARATIONS else f"b32_{number}"


def frozen() -> set[tuple[str, str, str, int]]:
    """Return what ptxas takes: head, types, flags and count of operands."""
    lines = FROZEN.read_text(encoding="utf-8").splitlines()[1:]
    taken = set()
    for line in lines:
        head, types, count, sets = line.split("\t")
        taken |= {(head, types, "" if flags == "-" else flags, int(count)) for flags in sets.split()}
    return taken


def table() -> str:
    """Ask ptxas, and return the table."""
    asked = list(sweep())
    answers = assembler().accepts([Question(each.text, TARGET, VERSION) for each in asked])
    taken: dict[tuple[str, str, int], list[str]] = {}
    for each, complaint in zip(asked, answers, strict=True):
        if complaint is None:
            taken.setdefault((each.head, each.types, each.count), []).append(each.flags or "-")
    lines = (
        f"{head}\t{types}\t{count}\t{' '.join(dict.fromkeys(sets))}"
        for (head, types, count), sets in taken.items()
    )
    return "\n".join(["head\ttypes\toperands\tmodifiers", *lines]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(table())
