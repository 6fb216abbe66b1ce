"""Texts, words and programs of Power are as the assemblers and the documents have them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from ...spec.errors import InputError
from ...spec.power.assembly import WORDS, first_word, parse
from ...spec.power.encoding import crosses_boundary, decode, disassemble, encode, to_bytes
from ...spec.power.memory import Endian
from ...spec.power.priming import check_program
from ...spec.power.targets import TARGETS
from ..comparison import compared
from ..obligation import Certificate
from ..refusals import refused
from ..table_theorem import answered, table_theorem
from .stated import instructions as table
from .stated import texts

SOURCE = "Moreira et al. Figure 7; GNU as; llvm-mc; Power ISA 3.1 section 7.2"


read_texts = table_theorem(
    "power/stated/texts",
    "texts and words are read as assemblers read them, and refused where they refuse them",
    "∀ listed spellings: the printed text; ∀ listed lines: the words, both ways, in memory of either byte "
    "order; a prefixed instruction crosses 64 bytes exactly at addresses 60 mod 64; what is listed as no "
    "text, word or code is refused, and which mnemonics there are is told to who writes another",
    SOURCE,
    lambda: {
        "spellings": _spellings,
        "words": _words,
        "listing": _listing,
        "branches": _branches,
        "boundary": _boundary,
        "refused": _no_texts,
        "beginnings": _beginnings,
    },
)


def _spellings() -> Certificate:
    return answered(dict(texts.SPELLINGS), lambda text: str(parse(text)))


def _hexadecimal(words: tuple[int, ...]) -> str:
    return " ".join(f"{word:08x}" for word in words)


def _numbers(words: str) -> tuple[int, ...]:
    return tuple(int(word, 16) for word in words.split())


def _words() -> Certificate:
    expected = {text: (words, text) for text, words in texts.WORDS}
    return compared(
        expected,
        lambda: {
            text: (_hexadecimal(encode(parse(text))), str(decode(*_numbers(words))))
            for text, (words, _) in expected.items()
        },
    )


def _listing() -> Certificate:
    lines = [line.split(" ", 5) for line in texts.LISTING.strip().splitlines()]
    bare = {address.rstrip(":"): (" ".join(code), text) for address, *code, text in lines}
    start = int(lines[0][0].rstrip(":"), 16)
    code = bytes.fromhex("".join(code for code, _ in bare.values()))
    big = b"".join(code[at : at + 4][::-1] for at in range(0, len(code), 4))
    expected: dict[object, object] = {(order, at): each for order in ("<", ">") for at, each in bare.items()}

    def specified() -> Mapping[object, object]:
        found: dict[object, object] = {}
        for sign, order, image in (("<", Endian.LITTLE, code), (">", Endian.BIG, big)):
            for at, instruction in disassemble(image, order, start):
                text = instruction.text(at)
                again = to_bytes(encode(parse(text, address=at)), order)
                shown = again if order is Endian.LITTLE else again[::-1]
                found[sign, f"{at:x}"] = shown.hex(" "), text
        return found

    return compared(expected, specified)


def _branches() -> Certificate:

    def distance(text: str, address: int) -> int | None:
        operands = parse(text, address=address).operands
        return None if operands is None else int(operands[0])

    return answered({(text, address): distance for text, address, distance in texts.AT_ADDRESS}, distance)


def _boundary() -> Certificate:
    lines = {"pmxvf32ger 0,34,35,15,15": True, "xvf32ger 0,34,35": False}
    return answered(
        {
            (text, at): prefixed and at % 64 == 60
            for text, prefixed in lines.items()
            for at in range(0, 192, 4)
        },
        lambda text, at: crosses_boundary(parse(text), at),
    )


def _told() -> tuple[set[str], set[str]]:
    """Return which mnemonics are told to who asks for one that there is not, and which updates stars mean."""
    try:
        parse("qwerty 1,2")
    except InputError as error:
        names = set(str(error).partition("known are ")[2].split(", "))
        stems = {name.removeprefix("[pm]").removesuffix("*") for name in names if name.endswith("*")}
        meant = {name for name in table.UPDATES if any(name.startswith(stem) for stem in stems)}
        return {name for name in names if not name.endswith("*")}, meant
    return set(), set()


def _no_texts() -> Certificate:
    def specified() -> Mapping[object, object]:
        found: dict[object, object] = {text: refused(partial(parse, text)) for text in texts.REFUSED}
        found["told"] = _told()
        found |= {words: refused(partial(decode, *_numbers(words))) for words in texts.NO_WORDS}
        for code, at in texts.NO_CODE:
            found[code, at] = refused(partial(_disassembled, bytes.fromhex(code), at))
        return found

    expected: dict[object, object] = dict.fromkeys((*texts.REFUSED, *texts.NO_WORDS, *texts.NO_CODE), True)
    return compared({**expected, "told": (set(table.OTHERS), set(table.UPDATES))}, specified)


def _disassembled(code: bytes, at: int) -> list[object]:
    return list(disassemble(code, Endian.BIG, at))


def _beginnings() -> Certificate:
    updates = [name for name in table.MNEMONICS if "ger" in name]
    aliases = [f"pmdm{name[2:]}" if name.startswith("pm") else f"dm{name}" for name in updates]
    known = {*table.MNEMONICS, *aliases, "dmsetaccz", "dmxxmfacc", "dmxxmtacc"}
    beginnings = {"  XVF32ger 0": "xvf32ger", "": "", "%r": "", "lxv\t1": "lxv"}
    return compared(
        {**beginnings, "all": sorted(known)},
        lambda: {**{text: first_word(text) for text in beginnings}, "all": sorted(WORDS)},
    )


# -- programs
programs = table_theorem(
    "power/stated/programs",
    "programs break the rules on priming that the documents say, and no other",
    "∀ listed programs: which instruction breaks which rule, on Power10 and where accumulators are registers "
    "of their own; an instruction without operands is refused",
    "OpenPOWER Power Vector Intrinsics, MMA; Moreira et al. section II-B1",
    lambda: {
        target: partial(_programs, target, column) for target, column in (("power10", 1), ("future", 2))
    },
)


def _programs(target: str, column: int) -> Certificate:
    expected = {row[0]: row[column] for row in texts.PROGRAMS}
    if target == "future":  # a lost accumulator is none there: only what reads an unprimed one is wrong
        expected = {
            text: ", ".join(p for p in row.split(", ") if "unprimed" in p) for text, row in expected.items()
        }

    def broken(text: str) -> str:
        found = check_program([parse(line) for line in text.split(";")], TARGETS[target])
        return ", ".join(f"{misuse.position} {misuse.violation.rule.id}" for misuse in found)

    return compared(
        {**expected, "no operands": True},
        lambda: {
            **{text: broken(text) for text in expected},
            "no operands": refused(lambda: broken("xxsetaccz 1; xvf32ger")),
        },
    )


THEOREMS = (read_texts, programs)
