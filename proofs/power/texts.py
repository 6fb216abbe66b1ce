"""Texts, words and programs of Power, and what they give, are as assemblers and documents have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from ...spec.algebra import Array
from ...spec.errors import InputError
from ...spec.formats import F32, F64, Format
from ...spec.instruction_set import instruction_set
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.power import kernels, memory
from ...spec.power.assembly import WORDS, first_word, parse
from ...spec.power.builtins import Builtins
from ...spec.power.encoding import crosses_boundary, decode, disassemble, encode, to_bytes
from ...spec.power.memory import Endian
from ...spec.power.priming import check_program
from ...spec.power.targets import TARGETS
from ..comparison import REFUSED, compared, refusal_is, refused
from ..obligation import Certificate
from ..table_theorem import Table, answered, table_theorem
from ..text_tables import table as rows_of
from .documented import STATED
from .stated import instructions
from .stated import instructions as table

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


def _words_as_numbers(words: str) -> tuple[int, ...]:
    return tuple(int(word, 16) for word in words.split())


def _words(text: str) -> str:
    """Return the words of a text, if they are read as it again."""
    words = encode(parse(text))
    return " ".join(f"{word:08x}" for word in words) if str(decode(*words)) == text else "another text"


def _listing() -> Certificate:
    lines = [line.split(" ", 5) for line in instructions.LISTING.strip().splitlines()]
    bare = {address.rstrip(":"): (" ".join(code), text) for address, *code, text in lines}
    start = int(lines[0][0].rstrip(":"), 16)
    code = bytes.fromhex("".join(code for code, _ in bare.values()))
    big = b"".join(code[at : at + 4][::-1] for at in range(0, len(code), 4))
    expected: dict[object, object] = {(order, at): each for order in ("<", ">") for at, each in bare.items()}

    def specified() -> Iterator[tuple[object, object]]:
        for sign, order, image in (("<", Endian.LITTLE, code), (">", Endian.BIG, big)):
            for at, instruction in disassemble(image, order, start):
                text = instruction.text(at)
                again = to_bytes(encode(parse(text, address=at)), order)
                shown = again if order is Endian.LITTLE else again[::-1]
                yield (sign, f"{at:x}"), (shown.hex(" "), text)

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
        "word": lambda: decode(*_words_as_numbers(text)),
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


listed_results = table_theorem(
    "power/stated/results",
    "each instruction gives the listed results for the listed operands",
    "∀ rows of the list (two or more for each mnemonic's family): executing the text on registers that hold "
    "X, Y and ACC in every word gives the result in every word, and reports the clamped elements",
    "Power ISA 3.1 section 7.2, pseudocode; QEMU 7.2, measured; qemu-devel 2022-05-10",
    lambda: {
        **Table(STATED, "results", "mnemonic, masks, X, Y, ACC, RN", _result).by("mnemonic"),
        "disabled": Table(STATED, "disabled", "XMSK, YMSK", _enabled),
    },
)


def _executed(mnemonic: str, masks: str, x: str, y: str, acc: str, rounding: str) -> Mapping[str, Array]:
    """Execute an instruction on words that fill the registers."""
    pair = table.UPDATES[mnemonic.removeprefix("pm")]["X"] == "f64"
    operands = ",".join(filter(None, ["a0", "vs34", "vs36", masks]))
    arrays = {"x": _filled(x, 32 if pair else 16), "y": _filled(y, 16)}
    if acc:
        arrays["acc"] = _filled(acc, 64)
    instruction = instruction_set("power").read(f"{mnemonic} {operands}")
    return instruction.execute(arrays, as_registers=True, rounding=rounding, choices=[])


def _filled(word: str, size: int) -> Array:
    unit = bytes.fromhex(word)
    return np.frombuffer(unit * (size // len(unit)), dtype=np.uint8)


def _result(mnemonic: str, *given: str) -> tuple[str, object]:
    """Return the word that every element of the accumulator is, and whether all are clamped."""
    done = _executed(mnemonic, *given)
    whole = done["acc"].astype(np.uint8).tobytes().hex()
    word = whole[: 16 if "f64" in mnemonic else 8]
    every = word * (len(whole) // len(word)) == whole
    clamped = done.get("saturated")
    alike = clamped is None or np.all(clamped) == np.any(clamped)
    return word if every else whole, (None if clamped is None else bool(np.any(clamped))) if alike else "some"


def _enabled(xmsk: str, ymsk: str) -> list[str]:
    done = _executed("pmxvi4ger8pp", f"{xmsk},{ymsk},255", "10000000", "10000000", "00000007", "0")
    return [f"{row},{column}" for row, column in np.argwhere(done["acc"].reshape(4, 4, 4)[..., 3])]


# -- kernels
kernel_results = table_theorem(
    "power/stated/kernels",
    "the two kernels of the paper give the matrices that their equations say, on whole numbers",
    "DGEMM for n = 1, 2, 3: A[8b + 2r + c] = Σ_t X[8t + i] Y[8t + j], i = 4(b>>2) + r, j = 2(b&3) + c, and "
    "for n = 0 nothing is stored; "
    "SCONV: C[16b + 4r + c] = Σ_q H[8q + i] image[channel][row][shift + j], q = 9 channel + 3 row + shift, "
    "which is H times the matrix of equation (25), three rows of each channel, each shifted by 0, 1 and 2; "
    "X, Y, H and the image are different whole numbers, so that every sum is exact",
    "Moreira et al. sections V-A and V-B, equations (15) and (25), Figures 4 to 9",
    lambda: {
        name: goal
        for endian in Endian
        for name, goal in (
            (f"dgemm/{endian}", partial(_dgemm, endian)),
            (f"sconv/{endian}", partial(_sconv, endian)),
            (f"sconv/equation-25/{endian}", partial(_equation_25, endian)),
        )
    },
)


def _numbers(size: int, start: int) -> list[int]:
    return [(start + 37 * place) % 101 - 50 for place in range(size)]


def _in_memory(numbers: Sequence[int], fmt: Format, endian: Endian) -> Array:
    order = "<" if endian is Endian.LITTLE else ">"
    return np.frombuffer(np.array(numbers, dtype=f"{order}f{fmt.bits // 8}").tobytes(), dtype=np.uint8)


def _from_memory(data: Array, fmt: Format, endian: Endian) -> list[float]:
    order = "<" if endian is Endian.LITTLE else ">"
    values = np.frombuffer(np.ascontiguousarray(data, dtype=np.uint8).tobytes(), f"{order}f{fmt.bits // 8}")
    return [float(value) for value in values]


def _dgemm(endian: Endian) -> Certificate:
    x, y = _numbers(24, 3), _numbers(24, 58)
    expected = {
        n: [
            float(sum(x[8 * t + 4 * (b // 4) + r] * y[8 * t + 2 * (b % 4) + c] for t in range(n)))
            for b in range(8) for r in range(4) for c in range(2)
        ]
        for n in (1, 2, 3)
    } | {0: []}  # fmt: skip

    def specified() -> Mapping[int, object]:
        machine = Builtins(NumpyAlgebra(), endian)
        at_x, at_y = (_in_memory(numbers, F64, endian) for numbers in (x, y))
        stored = {n: kernels.dgemm_kernel(machine, at_x, at_y, n) for n in range(4)}
        return {n: _from_memory(data, F64, endian) for n, data in stored.items()}

    return compared(expected, specified)


def _sconv(endian: Endian) -> Certificate:
    h = _numbers(27 * 8, 7)
    image = [[_numbers(18, 11 * channel + 5 * row) for row in range(3)] for channel in range(3)]
    expected = {
        "C": [
            float(
                sum(
                    h[8 * (9 * channel + 3 * row + shift) + 4 * (b // 4) + r]
                    * image[channel][row][shift + 4 * (b % 4) + c]
                    for channel in range(3) for row in range(3) for shift in range(3)
                )
            )
            for b in range(8) for r in range(4) for c in range(4)
        ]
    }  # fmt: skip

    def specified() -> Mapping[str, object]:
        machine = Builtins(NumpyAlgebra(), endian)
        pixels = [[_in_memory(row, F32, endian) for row in channel] for channel in image]
        stored = kernels.sconv_kernel(machine, _in_memory(h, F32, endian), pixels)
        return {"C": _from_memory(stored, F32, endian)}

    return compared(expected, specified)


memory_order = table_theorem(
    "power/stated/memory",
    "loads and stores have the registers and bytes in the measured order",
    "little-endian: lxv reverses 16 bytes, lxvp has the upper half of 32 in the even register, reversed; "
    "big-endian: bytes and registers are in order; stores are the inverses",
    "Power ISA 3.1 section 7.6; measured with compiled code on both byte orders",
    lambda: {"order": _memory_order},
)


def _memory_order() -> Certificate:
    ascending = list(range(64))
    expected = {
        ("little", 1): [ascending[15::-1]],
        ("little", 2): [ascending[31:15:-1], ascending[15::-1]],
        ("big", 1): [ascending[:16]],
        ("big", 2): [ascending[:16], ascending[16:32]],
        ("big", 4): [ascending[16 * k : 16 * k + 16] for k in range(4)],
    }

    def specified() -> Iterator[tuple[tuple[str, int], object]]:
        for order, count in expected:
            data = np.arange(16 * count, dtype=np.uint8)
            loaded = memory.load(data, Endian(order))
            stored = memory.store(loaded, Endian(order))
            yield (order, count), loaded.tolist() if (stored == data).all() else None

    return compared(expected, specified)


def _equation_25(endian: Endian) -> Certificate:
    """Return the claim of the matrix product that the paper makes of the convolution."""
    n = 18
    h = np.array(_numbers(27 * 8, 5)).reshape(27, 8).T
    image = np.array(_numbers(9 * n, 17)).reshape(3, 3, n)
    rows = [image[channel, row] for channel in range(3) for row in range(3)]
    derived = np.stack([row[shift : n - 2 + shift] for row in rows for shift in (0, 1, 2)])
    expected = {"C": (h @ derived).tolist()}

    def specified() -> Mapping[str, object]:
        machine = Builtins(NumpyAlgebra(), endian)
        pixels = [[_in_memory(row.tolist(), F32, endian) for row in channel] for channel in image]
        taps = _in_memory(h.T.ravel().tolist(), F32, endian)
        blocks = np.array(_from_memory(kernels.sconv_kernel(machine, taps, pixels), F32, endian))
        found = blocks.astype(int).reshape(2, 4, 4, 4).transpose(0, 2, 1, 3).reshape(8, 16)
        return {"C": found.tolist()}

    return compared(expected, specified)


THEOREMS = (
    read_texts,
    programs,
    listed_results,
    kernel_results,
    memory_order,
)
