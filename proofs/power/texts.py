"""Texts, words and programs of Power are as the assemblers and the documents have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np

from ...spec.algebra import Array
from ...spec.errors import InputError
from ...spec.instruction_set import instruction_set
from ...spec.power.assembly import WORDS, first_word, parse
from ...spec.power.encoding import crosses_boundary, decode, disassemble, encode, to_bytes
from ...spec.power.float_exceptions import Exceptions, sticky_bits
from ...spec.power.memory import Endian
from ...spec.power.operand_arrays import rounding_named
from ...spec.power.priming import check_program
from ...spec.power.targets import TARGETS
from ..comparison import compared
from ..obligation import Case, Certificate, Method, theorem
from .stated import instructions as table
from .stated import texts

SOURCE = "Moreira et al. Figure 7; GNU as; llvm-mc; Power ISA 3.1 section 7.2"


def _refused(read: Callable[[], object]) -> bool:
    try:
        read()
    except InputError:
        return True
    return False


@theorem(
    "power/stated/texts",
    "texts and words are read as assemblers read them, and refused where they refuse them",
    "∀ listed spellings: the printed text; ∀ listed lines: the words, both ways, in memory of either byte "
    "order; a prefixed instruction crosses 64 bytes exactly at addresses 60 mod 64; what is listed as no "
    "text, word or code is refused",
    SOURCE,
)
def read_texts() -> Iterator[Case]:
    """Yield spellings, words, the listing, branches, boundaries, and what is refused."""
    goals = {
        "spellings": _spellings, "words": _words, "listing": _listing, "branches": _branches,
        "boundary": _boundary, "refused": _no_texts, "beginnings": _beginnings,
    }  # fmt: skip
    for name, goal in goals.items():
        yield Case(name, goal, method=Method.CERTIFICATE)


def _spellings() -> Certificate:
    expected = dict(texts.SPELLINGS)
    return compared(expected, lambda: {text: str(parse(text)) for text in expected})


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
    expected = {(text, address): distance for text, address, distance in texts.AT_ADDRESS}

    def distance(text: str, address: int) -> int | None:
        operands = parse(text, address=address).operands
        return None if operands is None else int(operands[0])

    return compared(expected, lambda: {at: distance(*at) for at in expected})


def _boundary() -> Certificate:
    lines = {"pmxvf32ger 0,34,35,15,15": True, "xvf32ger 0,34,35": False}
    expected = {
        (text, at): prefixed and at % 64 == 60 for text, prefixed in lines.items() for at in range(0, 192, 4)
    }
    return compared(
        expected, lambda: {(text, at): crosses_boundary(parse(text), at) for text, at in expected}
    )


def _no_texts() -> Certificate:
    def specified() -> Mapping[object, bool]:
        found: dict[object, bool] = {text: _refused(partial(parse, text)) for text in texts.REFUSED}
        found |= {words: _refused(partial(decode, *_numbers(words))) for words in texts.NO_WORDS}
        for code, at in texts.NO_CODE:
            found[code, at] = _refused(partial(_disassembled, bytes.fromhex(code), at))
        return found

    expected: dict[object, bool] = dict.fromkeys((*texts.REFUSED, *texts.NO_WORDS, *texts.NO_CODE), True)
    return compared(expected, specified)


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
@theorem(
    "power/stated/programs",
    "programs break the rules on priming that the documents say, and no other",
    "∀ listed programs: which instruction breaks which rule, on Power10 and where accumulators are registers "
    "of their own; an instruction without operands is refused",
    "OpenPOWER Power Vector Intrinsics, MMA; Moreira et al. section II-B1",
)
def programs() -> Iterator[Case]:
    """Yield both kinds of accumulators."""
    for target, column in (("power10", 1), ("future", 2)):
        yield Case(target, partial(_programs, target, column), method=Method.CERTIFICATE)


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
            "no operands": _refused(lambda: broken("xxsetaccz 1; xvf32ger")),
        },
    )


# -- execution
@theorem(
    "power/stated/executed",
    "named arrays are taken and refused as docs/command-line.md says, and status bits are the ISA's",
    "accumulator moves copy registers row by row; matrix and register views agree; missing, surplus and "
    "misshapen arrays, unknown roundings and moves without registers are refused; FX and VX summarise what "
    "sets a bit",
    "Power ISA 3.1 section 7.2",
)
def executed() -> Iterator[Case]:
    """Yield moves, views, roundings and status bits."""
    for name, goal in (("moves", _moves), ("views", _views), ("roundings", _roundings), ("status", _status)):
        yield Case(name, goal, method=Method.CERTIFICATE)


def _run(
    text: str, arrays: Mapping[str, Array], registers: bool = True, rounding: str | None = None
) -> Mapping[str, Array]:
    read = instruction_set("power").read(text)
    return read.execute(arrays, as_registers=registers, rounding=rounding, choices=[])


_BYTES = (np.arange(64) * 7 % 256).astype(np.uint8)


def _moves() -> Certificate:
    four = _BYTES.reshape(4, 16)
    expected: dict[object, object] = {
        "xxsetaccz a0": {"acc": [0] * 64},
        "xxmtacc a0": {"acc": _BYTES.tolist()},
        "xxmfacc a0": {"vsr": four.tolist()},
        "xxmtacc a0 twice": {"acc": [_BYTES.tolist()] * 2},
        "as matrices": True, "missing": True, "surplus": True, "shape": True, "type": True, "load": True,
    }  # fmt: skip

    def specified() -> Mapping[object, object]:
        runs: dict[str, dict[str, Array]] = {
            "xxsetaccz a0": {}, "xxmtacc a0": {"vsr": four}, "xxmfacc a0": {"acc": _BYTES},
            "xxmtacc a0 twice": {"vsr": np.stack([four, four])},
        }  # fmt: skip
        found: dict[object, object] = {
            text: {name: each.tolist() for name, each in _run(text.removesuffix(" twice"), arrays).items()}
            for text, arrays in runs.items()
        }
        return found | {
            "as matrices": _refused(lambda: _run("xxsetaccz a0", {}, False)),
            "missing": _refused(lambda: _run("xxmfacc a0", {})),
            "surplus": _refused(lambda: _run("xxsetaccz a0", {"x": _BYTES})),
            "shape": _refused(lambda: _run("xxmfacc a0", {"acc": four})),
            "type": _refused(lambda: _run("xxmfacc a0", {"acc": _BYTES.astype(int)})),
            "load": _refused(lambda: _run("lxv vs1,0(r3)", {})),
        }

    return compared(expected, specified)


_VIEWS = {
    "xvi8ger4": (">i1", ">u1", ">i4", 4, 4), "xvi16ger2": (">i2", ">i2", ">i4", 2, 4),
    "xvf16ger2": (">f2", ">f2", ">f4", 2, 4), "xvf32ger": (">f4", ">f4", ">f4", 1, 4),
    "xvf64ger": (">f8", ">f8", ">f8", 1, 2),
}  # fmt: skip
"""Types in the order of the ISA, whose bytes are big-endian; k and columns."""


def _views() -> Certificate:
    expected: dict[object, object] = {}
    given: dict[str, tuple[Array, Array, Array]] = {}
    for name, (_, _, _, rank, columns) in _VIEWS.items():
        x = (np.arange(2 * 4 * rank) * 37 % 11 - 5).reshape(2, 4, rank)
        y = (np.arange(columns * rank) * 29 % 7).reshape(columns, rank)
        acc = (np.arange(4 * columns) * 31 % 13 - 6).reshape(4, columns)
        given[name] = x, y, acc
        total = acc + x @ y.T
        expected[name] = expected[name, "registers"] = total.tolist()
        expected[name, "unprimed"] = True

    def specified() -> Mapping[object, object]:
        found: dict[object, object] = {}
        for name, (x_type, y_type, result, _, columns) in _VIEWS.items():
            x, y, acc = given[name]
            text = f"{name}pp a0,vs34,vs36"
            arrays: dict[str, Array] = {"x": x, "y": y, "acc": acc}
            found[name] = _run(text, arrays, registers=False)["acc"].astype(int).tolist()
            types = {"x": x_type, "y": y_type, "acc": result}
            words = {
                each: np.ascontiguousarray(array.astype(types[each])).view(np.uint8)
                for each, array in arrays.items()
            }
            flat = {each: array.reshape((2, -1) if each == "x" else -1) for each, array in words.items()}
            if name == "xvf64ger":  # a row of two doubles in each register of an accumulator
                assert flat["acc"].size == 64
            done = np.ascontiguousarray(_run(text, flat)["acc"]).view(result)
            found[name, "registers"] = done.astype(int).reshape(2, 4, columns).tolist()
            unprimed = {each: array for each, array in arrays.items() if each != "acc"}
            found[name, "unprimed"] = _refused(partial(_run, text, unprimed, False))
        return found

    return compared(expected, specified)


def _roundings() -> Certificate:
    names = ("nearest-even", "toward-zero", "upward", "downward")
    expected: dict[str, object] = {
        each: code for code, name in enumerate(names) for each in (name, str(code))
    }
    expected |= {"4": "refused", "up": "refused"}

    def code(name: str) -> object:
        try:
            return int(rounding_named(name).value)
        except InputError:
            return "refused"

    return compared(expected, lambda: {name: code(name) for name in expected})


def _status() -> Certificate:
    bits = {
        (False, False, False, False): 0,
        (True, False, False, False): 0x82000000,
        (False, True, False, False): 0xA1000000,
        (False, False, True, False): 0xA0800000,
        (False, False, False, True): 0xA0100000,
        (True, True, True, True): 0xA3900000,
        (True, False, False, True): 0xA2100000,
    }
    return compared(bits, lambda: {some: sticky_bits(Exceptions(*map(np.array, some))) for some in bits})


THEOREMS = (read_texts, programs, executed)
