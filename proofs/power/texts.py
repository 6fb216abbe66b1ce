"""Texts, words and programs of Power are as the assemblers and the documents have them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from ...spec.errors import InputError
from ...spec.power.assembly import WORDS, first_word, parse
from ...spec.power.encoding import crosses_boundary, decode, disassemble, encode, to_bytes
from ...spec.power.memory import Endian
from ...spec.power.priming import check_program
from ...spec.power.targets import TARGETS
from ..comparison import compared
from ..obligation import Certificate
from ..refusals import REFUSED, refusal_is, refused
from ..table_theorem import Table, answered, table_theorem
from ..text_tables import table as rows_of
from .documented import STATED
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
        "spellings": Table(STATED, "spellings", "text", lambda text: str(parse(text))),
        "words": Table(STATED, "words", "text", _words),
        "listing": _listing,
        "branches": Table(STATED, "branches", "text, address", _distance),
        "boundary": _boundary,
        "refused": Table(STATED, "refused", "kind, text, address", _is_taken),
        "told": _told,
        "beginnings": _beginnings,
    },
)


def _numbers(words: str) -> tuple[int, ...]:
    return tuple(int(word, 16) for word in words.split())


def _words(text: str) -> str:
    """Return the words of a text, if they are read as it again."""
    words = encode(parse(text))
    return " ".join(f"{word:08x}" for word in words) if str(decode(*words)) == text else "another text"


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


def _distance(text: str, address: str) -> object:
    operands = parse(text, address=int(address, 16)).operands
    return None if operands is None else operands[0]


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


def _is_taken(kind: str, text: str, address: str) -> bool:
    readers: Mapping[str, Callable[[], object]] = {
        "text": lambda: parse(text),
        "word": lambda: decode(*_numbers(text)),
        "code": lambda: list(disassemble(bytes.fromhex(text), Endian.BIG, int(address))),
    }
    return not refused(readers[kind])


def _told() -> Certificate:
    """Return the claim about which mnemonics are told to who asks for one that there is not."""

    def told() -> Mapping[str, object]:
        try:
            return {"mnemonics": str(parse("qwerty 1,2"))}
        except InputError as error:
            names = set(str(error).partition("known are ")[2].split(", "))
        stems = [name.removeprefix("[pm]").removesuffix("*") for name in names if name.endswith("*")]
        return {
            "mnemonics": {name for name in names if not name.endswith("*")},
            "updates": {name for name in table.UPDATES if name.startswith(tuple(stems))},
        }

    return compared({"mnemonics": set(table.OTHERS), "updates": set(table.UPDATES)}, told)


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
    lambda: {target: partial(_programs, target) for target in ("power10", "future")},
)


def _programs(target: str) -> Certificate:
    listed = {row["program"]: row[target] for row in rows_of(STATED, "programs")}

    @refusal_is(REFUSED)
    def broken(text: str) -> object:
        found = check_program([parse(line) for line in text.split(";")], TARGETS[target])
        return ", ".join(f"{misuse.position} {misuse.violation.rule.id}" for misuse in found)

    return answered({**listed, "xxsetaccz 1; xvf32ger": "refused"}, broken)


THEOREMS = (read_texts, programs)
