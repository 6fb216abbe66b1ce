"""Instructions, words, texts and element types of MFMA are those that manual and assembler have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import product

from ...spec.errors import InputError, UnsupportedError
from ...spec.formats import F16, F32, F64, FloatFormat, Format
from ...spec.mfma.assembly import WORDS, first_word, parse
from ...spec.mfma.catalogue import BY_NAME, MatrixMultiply, on
from ...spec.mfma.choices import choices_named
from ...spec.mfma.encoding import encode
from ...spec.mfma.instructions import Constant
from ...spec.mfma.legality import notes, violations
from ...spec.mfma.targets import TARGETS, Target, target_named
from ..comparison import REFUSED, compared, refusal_is, refused
from ..families.generic import generic_theorems
from ..obligation import Certificate
from ..table_theorem import Table, answered, table_theorem
from ..text_tables import table
from .stated import instructions as stated

STATED = f"{__package__}.stated"
"""The package of the tables."""

SOURCE = "AMD CDNA4 ISA, chapter 7 and VOP3P-MAI; llvm-mc 14 to 22"


instructions = table_theorem(
    "mfma/stated/instructions",
    "targets have the instructions of the manual, with its shapes, types, opcodes and registers",
    "∀ targets: the names that it knows, and for each M, N, K, blocks, the formats of A, B, C and D, the "
    "registers of each and the opcode, are the table written down from the manual and the assembler; each "
    "name is one instruction there, and each opcode",
    SOURCE,
    lambda: {
        **{target: partial(_instructions, target) for target in stated.TARGETS},
        "names": _unique_names,
        "targets": lambda: compared(
            dict.fromkeys(stated.TARGETS, True), lambda: dict.fromkeys(TARGETS, True)
        ),
    },
)


def _instructions(name: str) -> Certificate:
    expected = {}
    for (target, mnemonic), row in stated.INSTRUCTIONS.items():
        if target == name:
            m, n, k = stated.shape(mnemonic)
            factors, results = int(row["A, B"]), int(row["C, D"])
            types = (*stated.types(mnemonic), row["name"][:3], row["name"][:3])
            expected[mnemonic] = {
                "sizes": (m, n, k, int(row["blocks"])),
                "opcode": int(row["opcode"], 16),
                "formats": tuple(stated.FORMATS[type_, target] for type_ in types),
                "registers": (factors, factors, results, results),
            }

    def specified() -> Mapping[str, object]:
        target = target_named(name)
        return {
            mnemonic: {
                "sizes": (row.m, row.n, row.k, row.blocks),
                "opcode": row.opcode(target),
                "formats": tuple(str(target.format(row.types[each])) for each in "abcd"),
                "registers": tuple(map(row.registers, "abcd")),
            }
            for mnemonic, rows in BY_NAME.items()
            if (row := rows.get(name)) is not None
        }

    return compared(expected, specified)


def _unique_names() -> Certificate:
    """Return the claim that targets have as many names as stated, and one instruction for each opcode."""
    names: dict[str, int] = dict.fromkeys(stated.TARGETS, 0)
    for target, _ in stated.INSTRUCTIONS:
        names[target] += 1

    def specified() -> Mapping[str, object]:
        return {name: _names_and_shared(on(target_named(name)), target_named(name)) for name in names}

    return compared({name: (count, []) for name, count in names.items()}, specified)


def _names_and_shared(rows: Sequence[MatrixMultiply], target: Target) -> tuple[int, list[str]]:
    """Return how many names instructions have on a target, and which share an opcode there with others."""
    opcodes = Counter(row.opcode(target) for row in rows)
    shared = [row.name for row in rows if opcodes[row.opcode(target)] > 1]
    return sum(len(row.names(target)) for row in rows), shared


_STRICTER = {"broadcast"}
"""Rules that llvm-mc does not check (contradiction lenient-assembler)."""


@refusal_is(REFUSED)
def _word(text: str) -> object:
    target = target_named("gfx942")
    written = parse(text)
    wrong = {violation.rule.id for violation in violations(written, target)}
    return "refused" if wrong - _STRICTER else f"{encode(written, target):#018x}"


read_texts = table_theorem(
    "mfma/stated/texts",
    "texts are read as the assembler reads them",
    "the listed lines have the words that llvm-mc gives them on gfx942, or are refused where it does; "
    "an instruction that is read is written as a text that has the same word, as listed; what fills a field "
    "of the word has one on gfx908, and what is one more has none; listed constants have the listed codes",
    "llvm-mc 19",
    lambda: {
        "lines": Table(STATED, "lines", "text", _word),
        "written": _written,
        "printed": Table(STATED, "printed", "text", lambda text: str(parse(text))),
        "names": _names,
        "elsewhere": _elsewhere,
        "fields": _fields,
        "constants": _constants,
    },
)


def _written() -> Certificate:
    """Return the claim that lines that are taken are written as texts of the same word, as listed."""
    taken = {row["text"]: row["word"] for row in table(STATED, "lines") if row["word"] != "refused"}
    return answered(taken, lambda text: _word(str(parse(text))))


def _names() -> Certificate:
    expected = dict.fromkeys(stated.UNMODELLED, "unmodelled") | dict.fromkeys(stated.UNKNOWN, "unknown")
    expected |= {mnemonic: "known" for _, mnemonic in stated.INSTRUCTIONS}
    padding = 200 - len("a[0:15], v[0:1], v[2:3], a[0:15] blgp:1")
    line = "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15] " + " " * padding
    expected |= {f"{line}blgp:1": "known", f"{line} blgp:1": "unknown", "": "unknown", "// x": "unknown"}
    begins = {f"{name.upper()} // x": "_".join(name.split("_")[:2]) for name in stated.UNMODELLED}
    begins["all"] = " ".join(sorted(set(begins.values())))

    def specified() -> Mapping[str, str]:
        found = {name: _known(name) for name in expected}
        first = {text: first_word(text) for text in begins if text != "all"}
        return {**found, **first, "all": " ".join(sorted(WORDS))}

    return compared({**expected, **begins}, specified)


_OPERANDS = "a[0:31], v0, v1, a[0:31]"


def _elsewhere() -> Certificate:
    """Return the claim that a name without a target is CDNA3's, or the first that has it; others are told.

    So is a modifier that AMD's calculator does not have for the instruction.
    """
    expected: dict[tuple[str, str], object] = {}
    for target, mnemonic in stated.INSTRUCTIONS:
        having = [of for of in stated.TARGETS if (of, mnemonic) in stated.INSTRUCTIONS]
        opcode = {of: stated.INSTRUCTIONS[of, mnemonic]["opcode"] for of in having}
        sizes = {of: stated.INSTRUCTIONS[of, mnemonic]["A, B"] for of in having}
        others = [
            of
            for of in having
            if (stated.shape(mnemonic), sizes[of]) != (stated.shape(mnemonic), sizes[target])
        ]
        expected[mnemonic, target] = (
            "gfx942" if "gfx942" in having else having[0], int(opcode[having[0]], 16) > 0,
            ["scope"] * (len(others) > 0),
        )  # fmt: skip
        unknown = not stated.permutes_lanes(mnemonic, target)
        expected[f"{mnemonic} blgp:1", target] = ["objection"] * unknown + ["scope"] * (len(others) > 0)
    names = sorted({mnemonic for _, mnemonic in stated.INSTRUCTIONS})
    for target, mnemonic in product(stated.TARGETS, names):
        if (target, mnemonic) not in stated.INSTRUCTIONS:
            expected[mnemonic, target] = expected[f"{mnemonic} blgp:1", target] = []

    def specified() -> Iterator[tuple[tuple[str, str], object]]:
        for text, target in expected:
            mnemonic, _, modifiers = text.partition(" ")
            written = parse(f"{mnemonic} {_OPERANDS} {modifiers}" if modifiers else mnemonic)
            kinds = sorted({note.kind.name.lower() for note in notes(written, target_named(target))})
            row, chosen = written.somewhere
            yield (
                (text, target),
                (
                    (chosen.name, row.opcode(chosen) is not None, kinds)
                    if (target, text) in stated.INSTRUCTIONS
                    else kinds
                ),
            )

    return compared(expected, specified)


_FIELD_ENDS = {
    "{}, v0, v1, a[0:31]": ("a[224:255]", "a[256:287]"),
    "a[0:31], {}, v1, a[0:31]": ("v255", "v256"),
    "a[0:31], v0, {}, a[0:31]": ("a255", "a256"),
    "a[0:31], v0, v1, {}": ("64", "65"),
    "a[0:31], v0, v1, a[0:31] cbsz:{}": ("7", "8"),
    "a[0:31], v0, v1, a[0:31] abid:{}": ("15", "16"),
    "a[0:31], v0, v1, a[0:31] blgp:{}": ("7", "8"),
}
"""What still has a code in each field of the word, and what has none, on gfx908."""


def _fields() -> Certificate:
    """Return the claim that what fills a field has a word, which says so, and what is beyond it has none."""
    expected = {(line, text): text == ends[0] for line, ends in _FIELD_ENDS.items() for text in ends}

    def specified() -> Mapping[tuple[str, str], bool]:
        target = target_named("gfx908")
        lines = {at: parse(f"v_mfma_f32_32x32x1f32 {at[0].format(at[1])}") for at in expected}
        return {at: not refused(partial(encode, written, target)) for at, written in lines.items()}

    return compared(expected, specified)


_CONSTANTS: dict[tuple[str, int], tuple[int, int | None]] = {
    # spelled, bits of an element: first its bits, then its code; none where the bits are too few
    ("0", 32): (0, 128), ("64", 32): (64, 192), ("-1", 32): (0xFFFFFFFF, 193),
    ("-16", 32): (0xFFFFFFF0, 208), ("-16", 64): (0xFFFFFFFFFFFFFFF0, 208), ("-17", 32): (0xFFFFFFEF, None),
    ("65", 32): (65, None), ("-2147483648", 32): (0x80000000, None), ("4294967295", 32): (0xFFFFFFFF, 193),
    ("1.0", 32): (0x3F800000, 242), ("1.0", 64): (0x3FF0000000000000, 242),
    ("-4.0", 32): (0xC0800000, 247), ("0x3f800000", 32): (0x3F800000, 242),
}  # fmt: skip

_TOO_WIDE = (("-2147483649", 32), ("-4294967280", 32), ("-8589934576", 32), ("4294967296", 32))


def _constants() -> Certificate:
    """Return the claim that numbers in the place of C are the listed bits and codes."""
    expected: dict[tuple[str, int], object] = {**_CONSTANTS, **dict.fromkeys(_TOO_WIDE, (None, None))}

    def specified() -> Iterator[tuple[tuple[str, int], object]]:
        for text, bits in expected:
            constant = Constant(float(text) if "." in text else int(text, 0), text)
            yield (text, bits), (constant.pattern(bits), constant.code(bits))

    return compared(expected, specified)


def _known(name: str) -> str:
    try:
        parse(name)
    except UnsupportedError:
        return "unmodelled"
    except InputError:
        return "unknown"
    return "known"


def _formats() -> Iterator[Format]:
    for target in TARGETS.values():
        for row in BY_NAME.values():
            if (form := row.get(target.name)) is not None:
                yield from map(target.format, form.types.values())


def _steps() -> Iterator[tuple[FloatFormat, FloatFormat, FloatFormat]]:
    yield from ((F16, F16, F32), (F32, F32, F32), (F64, F64, F64))


THEOREMS = (instructions, read_texts, *generic_theorems("mfma", _formats, choices_named, _steps))
