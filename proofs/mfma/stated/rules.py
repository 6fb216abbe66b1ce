"""Which rules lines of MFMA break, decided from the operands and not from the text.

Sources: CDNA4 ISA, chapter 7; llvm-mc 14 to 22, compared on 68,976 lines of legal and near-legal operands;
LLVM's AMDGPU backend. Only the manual limits cbsz and abid to the blocks there are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from typing import Any

from .instructions import CONSTANTS, INSTRUCTIONS, word


@dataclass(frozen=True)
class Line:
    """A line on a target: a mnemonic, operands (file, first register, registers) or C's text, modifiers."""

    target: str
    mnemonic: str
    d: tuple[str, int, int]
    a: tuple[str, int, int]
    b: tuple[str, int, int]
    c: tuple[str, int, int] | str
    modifiers: tuple[tuple[str, int], ...] = ()

    def tuples(self) -> dict[str, tuple[str, int, int]]:
        """Return the operands that are registers."""
        found = {"D": self.d, "A": self.a, "B": self.b}
        return {**found, "C": self.c} if isinstance(self.c, tuple) else found

    def text(self) -> str:
        """Return it as it is written."""
        operands = ", ".join(map(_spelled, (self.d, self.a, self.b, self.c)))
        given = (
            f" neg:[{value % 2},{value // 2 % 2},{value // 4}]" if name == "neg" else f" {name}:{value}"
            for name, value in self.modifiers
        )
        return f"{self.mnemonic} {operands}" + "".join(given)


def _spelled(operand: tuple[str, int, int] | str) -> str:
    if isinstance(operand, str):
        return operand
    file, first, count = operand
    return f"{file}{first}" if count == 1 else f"{file}[{first}:{first + count - 1}]"


def broken(line: Line) -> frozenset[str]:
    """Return the rules that a line breaks."""
    row = INSTRUCTIONS.get((line.target, line.mnemonic))
    given = dict(line.modifiers)
    found = {"target"} if row is None else set(_broken_of(line, row, given))
    first_generation = line.target == "gfx908"
    vectors = [held for held in line.tuples().values() if held[0] in "va"]
    if len(vectors) < len(line.tuples()):
        found.add("vector-operands")
    if any(first + count > 256 for _, first, count in vectors):
        found.add("register-range")
    if not first_generation and any(first % 2 == 1 and count >= 2 for _, first, count in vectors):
        found.add("even-registers")
    files = {line.d[0], line.c[0] if isinstance(line.c, tuple) else line.d[0]}
    if files >= ({"v"} if first_generation else {"v", "a"}):
        found.add("result-file")
    if given.get("cbsz", 0) > 7 or given.get("abid", 0) > 15 or given.get("blgp", 0) > 7:
        found.add("modifier-range")
    return frozenset(found)


def _broken_of(line: Line, row: dict[str, str], given: Mapping[str, int]) -> Iterator[str]:
    """Yield the rules that depend on the instruction."""
    sizes = {"A": int(row["A, B"]), "B": int(row["A, B"]), "C": int(row["C, D"]), "D": int(row["C, D"])}
    cbsz, double = given.get("cbsz", 0), row["name"].startswith("f64")
    later = line.target not in ("gfx908", "gfx90a")
    if any(count != sizes[name] for name, (file, _, count) in line.tuples().items() if file in "va"):
        yield "register-count"
    if isinstance(line.c, str) and (line.target == "gfx908" or line.c not in CONSTANTS):
        yield "constant"
    if sizes["D"] in (8, 16, 32) and _overlap(line.d, line.c):
        yield "overlap"
    if not double and cbsz <= 7 and (2**cbsz > int(row["blocks"]) or given.get("abid", 0) >= 2**cbsz):
        yield "broadcast"
    if ("neg" in given and not (double and later)) or ("blgp" in given and double and later):
        yield "negation"


def _overlap(d: tuple[str, int, int], c: tuple[str, int, int] | str) -> bool:
    if isinstance(c, str) or c == d or c[0] != d[0]:
        return False
    return bool(set(range(d[1], d[1] + d[2])) & set(range(c[1], c[1] + c[2])))


def encoded(line: Line) -> int:
    """Return the word of a line that breaks no rule."""
    given = dict(line.modifiers)
    fields = {"D": line.d[1], "A": 256 + line.a[1], "B": 256 + line.b[1]}
    fields["C"] = CONSTANTS[line.c] if isinstance(line.c, str) else 256 + line.c[1]
    fields["AGPRs of C and D"] = int(line.d[0] == "a" and line.target != "gfx908")
    fields |= {f"AGPRs of {name}": int(file == "a") for name, (file, _, _) in (("A", line.a), ("B", line.b))}
    fields |= {name: given.get(name, 0) for name in ("cbsz", "abid")}
    fields["blgp"] = given.get("blgp", 0) | given.get("neg", 0)
    return word(INSTRUCTIONS[line.target, line.mnemonic], fields)


@cache
def lines() -> tuple[Line, ...]:
    """Return every instruction as it is usual and at its own limits, around some all that is nearly legal."""
    return tuple(_lines())


def _lines() -> Iterator[Line]:
    for (target, mnemonic), row in INSTRUCTIONS.items():
        yield _usual(target, mnemonic, row)
        yield from _at_limits(_usual(target, mnemonic, row), int(row["blocks"]).bit_length() - 1)
    for target, mnemonic in _EXAMPLES:
        usual = _usual(target, mnemonic, INSTRUCTIONS[target, mnemonic])
        yield from _near(usual)
    for target, mnemonic in _EXAMPLES[::3]:
        yield from _products(_usual(target, mnemonic, INSTRUCTIONS[target, mnemonic]))
    for target, mnemonic in product(("gfx908", "gfx90a", "gfx942", "gfx950"), _UNKNOWN_SOMEWHERE):
        if (target, mnemonic) not in INSTRUCTIONS:
            elsewhere = next(where for where in INSTRUCTIONS if where[1] == mnemonic)
            yield replace(_usual(*elsewhere, INSTRUCTIONS[elsewhere]), target=target)


CITED = {
    "even-registers": ("alignment",),
    "constant": ("lenient-assembler",),
    "broadcast": ("broadcast", "lenient-assembler"),
}
"""On what the manual, llvm-mc and the calculator do not agree, by the rule that decides it."""

_EXAMPLES = (
    ("gfx908", "v_mfma_f32_32x32x8f16"),
    ("gfx908", "v_mfma_f32_4x4x1f32"),
    ("gfx90a", "v_mfma_f64_16x16x4f64"),
    ("gfx90a", "v_mfma_f32_16x16x4f16"),
    ("gfx942", "v_mfma_f32_32x32x8_f16"),
    ("gfx942", "v_mfma_f32_4x4x4_16b_f16"),
    ("gfx942", "v_mfma_f64_16x16x4_f64"),
    ("gfx942", "v_mfma_f32_32x32x1_2b_f32"),
    ("gfx950", "v_mfma_i32_16x16x64_i8"),
    ("gfx950", "v_mfma_f64_4x4x4_4b_f64"),
)
_UNKNOWN_SOMEWHERE = (
    "v_mfma_f32_32x32x8f16",
    "v_mfma_f32_32x32x8_f16",
    "v_mfma_f32_16x16x8_xf32",
    "v_mfma_i32_16x16x64_i8",
    "v_mfma_f64_4x4x4f64",
)


def _usual(target: str, mnemonic: str, row: dict[str, str]) -> Line:
    factors, results = int(row["A, B"]), int(row["C, D"])
    return Line(
        target, mnemonic, ("a", 32, results), ("v", 2, factors), ("a", 8, factors), ("a", 64, results)
    )


def _with(line: Line, name: str, held: tuple[str, int, int]) -> Line:
    changes: dict[str, Any] = {name: held}
    return replace(line, **changes)


def _at_limits(usual: Line, blocks: int) -> Iterator[Line]:
    """Yield changes of one line that its own sizes, blocks and types decide on, legal ones and others."""
    for name in "dabc":
        file, first, count = getattr(usual, name)
        for place, size in ((first, count + 1), (first, count - 1), (257 - count, count)):
            yield _with(usual, name, (file, place, size or 2))
    for between in (0, 1, usual.d[2] - 1, usual.d[2]):
        yield replace(usual, c=("a", usual.d[1] + between, usual.d[2]))
    yield replace(usual, c="1.0")
    for cbsz in (blocks, blocks + 1):
        for abid in (2**cbsz - 1, 2**cbsz):
            yield replace(usual, modifiers=(("cbsz", cbsz), ("abid", min(abid, 16))))
    yield replace(usual, modifiers=(("blgp", 1),))
    yield replace(usual, modifiers=(("neg", 1),))


def _products(usual: Line) -> Iterator[Line]:
    """Yield all products of changes of D, A, B, C and modifiers."""
    changed = [
        [
            (file, first, count),
            (file, first + 1, count),
            (file, 257 - count, count),
            ("s", first, count),
            (file, first, count + 1),
        ]
        for file, first, count in (getattr(usual, name) for name in "dab")
    ]
    file, first, count = usual.d
    constants: tuple[tuple[str, int, int] | str, ...] = ("0", "65", (file, first, count), ("v", 64, count))
    modifiers: tuple[tuple[tuple[str, int], ...], ...] = (
        (), (("cbsz", 1), ("abid", 2)), (("cbsz", 8),), (("blgp", 1),), (("neg", 1),),
    )  # fmt: skip
    for (d, a, b), c, given in product(product(*changed), constants, modifiers):
        yield replace(usual, d=d, a=a, b=b, c=c, modifiers=given)


def _near(usual: Line) -> Iterator[Line]:
    for name in "dabc":
        file, first, count = getattr(usual, name)
        for place in (0, 1, 3, 255, 256 - count, 257 - count, 258 - count):
            yield _with(usual, name, (file, place, count))
        for size in {1, count - 1, count + 1, 2 * count} - {0}:
            yield _with(usual, name, (file, first, size))
        for other in "vs":
            yield _with(usual, name, (other, first, count))
    results = usual.d[2]
    for files, between in product(
        ("aa", "vv", "va"), (-results, 1 - results, -1, 0, 1, results - 1, results)
    ):
        moved = (files[1], usual.d[1] + between, results)
        yield replace(usual, d=(files[0], *usual.d[1:]), c=moved)
    for text in (*CONSTANTS, "65", "-17", "0.25", "8.0", "3.0", "1000"):
        yield replace(usual, c=text)
        yield replace(usual, d=("v", *usual.d[1:]), c=text)
    for cbsz, abid in product((0, 1, 2, 3, 4, 5, 7, 8), (0, 1, 2, 3, 4, 7, 8, 15, 16)):
        yield replace(usual, modifiers=(("cbsz", cbsz), ("abid", abid)))
    for blgp in range(9):
        yield replace(usual, modifiers=(("blgp", blgp),))
    for neg in range(8):
        yield replace(usual, modifiers=(("neg", neg),))
