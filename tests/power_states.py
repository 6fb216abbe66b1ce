"""Instructions of Power run on random registers: by QEMU, in a program made here, and by the machine."""

from __future__ import annotations

import math
import random
import re
import struct
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from required_tools import required_tool

from mmaproof.refinement.contract.footprint import Footprint
from mmaproof.refinement.machine.memory import ABSENT, ByteLanes
from mmaproof.refinement.power.image.instruction_forms import Form, Instruction
from mmaproof.refinement.power.image.program import Image
from mmaproof.refinement.power.instruction_set import HANDLERS
from mmaproof.refinement.power.machine import Machine
from mmaproof.refinement.power.state.storage import Segment
from mmaproof.refinement.power.state.words import Data
from mmaproof.refinement.terms.store import CONSTANT, TermStore

GENERAL = (14, 15, 16, 17)
BASE, INDEX, LENGTH = 26, 27, 28
VECTORS = (10, 11, 12, 13, 40, 41, 42, 43)
MEMORY = 512
STATE = struct.Struct(f"<{len(GENERAL) + 6}Q{16 * len(VECTORS)}s")
"""r14 to r17, base, index, length, CR, XER, CTR, then the vector registers."""

BLOCK = 1024
"""Bytes of a test in the program's memory: memory that it uses, then the state."""

_STATE_AT = MEMORY
_CA = 1 << 29


@dataclass
class State:
    """What registers and memory hold; None is undefined.

    Attributes
    ----------
    general : list of int
        r14 to r17, base, index, length.
    conditions, carry, count : int
        CR, XER's CA, CTR.
    vectors : list of bytes
        Those of `VECTORS`, least significant byte first.
    memory : bytes
        What the base points into the middle of.
    """

    general: list[int | None]
    conditions: int | None
    carry: int | None
    count: int | None
    vectors: list[bytes | None]
    memory: bytes

    def packed(self) -> bytes:
        words = [*self.general, self.conditions, _CA if self.carry else 0, self.count]
        assert None not in words
        return STATE.pack(*words, b"".join(vector or b"" for vector in self.vectors))

    @classmethod
    def unpacked(cls, block: bytes, base: int) -> State:
        *words, vectors = STATE.unpack_from(block, _STATE_AT)
        words[4] = words[4] - base & (1 << 64) - 1
        split = [vectors[at : at + 16] for at in range(0, len(vectors), 16)]
        return cls(words[:7], words[7], int(bool(words[8] & _CA)), words[9], split, block[:MEMORY])


@dataclass(frozen=True)
class Case:
    """An instruction and what it starts from."""

    instruction: Instruction
    before: State


# -- random cases
_SINGLE = re.compile(r"f(n?m?(add|sub)|mul|div|sqrt)s|xs.*sp|.*stfs.*|.*stxss.*|xscvdpspn")
"""Instructions on doubles that are single precision."""

_SINGLES = re.compile(r"xv.*sp|xvcvsp.*|xscvsp.*")
_DOUBLES = re.compile(r"f.*|xs.*dp|xv.*dp|xvcvdp.*|stf.*|xscvdp.*")


def _vector(form: Form, rng: random.Random) -> bytes:
    name = form.mnemonic
    single = _SINGLE.fullmatch(name) is not None
    if name in ("vctsxs", "vctuxs"):
        return struct.pack("<4f", *(_clamped(rng) for _ in range(4)))
    if _SINGLES.fullmatch(name) and "hp" not in name:
        return struct.pack("<4f", *(_float(rng) for _ in range(4)))
    if single or _DOUBLES.fullmatch(name):
        picks = [_float(rng) for _ in range(2)]
        return struct.pack("<2d", *(float(np.float32(pick)) if single else pick for pick in picks))
    if "hp" in name or "bf16" in name:
        return np.array([rng.uniform(-99, 99) for _ in range(8)], dtype=np.float16).tobytes()
    return rng.randbytes(16)


def _float(rng: random.Random) -> float:
    return rng.choice([rng.uniform(-4, 4), rng.uniform(-1e9, 1e9), 0.0, -0.0, 1.0, 2.0**-140])


def _clamped(rng: random.Random) -> float:
    """Return a number that times a power of two is an integer of 32 bits or not, an infinity or a NaN."""
    scaled = rng.uniform(-1, 1) * 2.0 ** rng.randint(-9, 36)
    return rng.choice([scaled, _float(rng), -0.5, 2.0**31, math.inf, -math.inf, math.nan])


_ADDRESSES = {"RA0": BASE, "RA": BASE, "RB": INDEX}
_NUMBERS = {"SPR": 9, "R": 0}


def _operand(form: Form, index: int, rng: random.Random) -> int:
    operand = form.operands[index]
    name = operand.name
    if _is_storage(form) and name in _ADDRESSES:
        with_length = re.fullmatch("st?xvll?|lxvll?", form.mnemonic) and name == "RB"
        return LENGTH if with_length else _ADDRESSES[name]
    if name in _NUMBERS:
        return _NUMBERS[name]
    if name in ("D", "DS", "DQ", "D34"):
        return rng.randrange(-64, 64, 16)
    if name == "FXM":
        return 1 << rng.randrange(8) if "o" in form.mnemonic else rng.randrange(256)
    if name == "UIM4" and "spl" not in form.mnemonic:  # what lies beyond a register is undefined
        return rng.randrange(9)
    if name == "UIM5" and form.mnemonic == "lxvkq":  # whose other numbers are reserved
        return rng.choice((1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17, 18, 19, 20, 21, 22, 23, 24))
    registers = {
        "r": [*GENERAL, *([0] if name == "RA0" else [])],
        "vs": VECTORS[:: operand.scale],
        "v": [vector - 32 for vector in VECTORS[4:]],
        "f": VECTORS[:4],
    }
    if operand.register in registers:
        return rng.choice(registers[operand.register])
    width = form.width(index)
    value = rng.getrandbits(width)
    if operand.signed and value >> (width - 1):
        value -= 1 << width
    return value * operand.scale


def _is_storage(form: Form) -> bool:
    names = [operand.name for operand in form.operands]
    if form.mnemonic.startswith(("mt", "mf", "lvs")):
        return False
    return form.mnemonic.lstrip("p").startswith(("l", "st")) and ("RA0" in names or "RA" in names)


def cases(forms: Sequence[Form], each: int, seed: int) -> Iterator[Case]:
    """Yield some random cases of each form."""
    rng = random.Random(seed)
    for form in forms:
        for _ in range(each):
            values = tuple(_operand(form, index, rng) for index in range(len(form.operands)))
            general = [_word(form, rng) for _ in GENERAL]
            before = State(
                [*general, MEMORY // 2, rng.randrange(-64, 64) & (1 << 64) - 1, rng.randrange(20) << 56],
                rng.getrandbits(32),
                rng.getrandbits(1),
                rng.getrandbits(64),
                [_vector(form, rng) for _ in VECTORS],
                _memory(form, rng),
            )
            yield Case(Instruction(form, values), before)


def _word(form: Form, rng: random.Random) -> int:
    if re.fullmatch(r"v(ins|ext)[a-z]+[lr]x", form.mnemonic):  # what lies beyond a register is undefined
        return rng.randrange(9) | rng.getrandbits(40) << 24
    if form.mnemonic.startswith(("div", "mod")):  # no quotient by zero
        return rng.getrandbits(40) | 1 | (rng.getrandbits(1) << 39)
    small = rng.randrange(-9, 70) & (1 << 64) - 1
    return rng.choice([rng.getrandbits(64), rng.getrandbits(32), small])


def _memory(form: Form, rng: random.Random) -> bytes:
    if any(part in form.mnemonic for part in ("lfs", "ssp")):
        return struct.pack(f"<{MEMORY // 4}f", *(rng.uniform(-9, 9) for _ in range(MEMORY // 4)))
    return rng.randbytes(MEMORY)


# -- QEMU
def on_qemu(some: Sequence[Case], folder: Path) -> list[State]:
    """Run cases under QEMU."""
    assembler = required_tool("powerpc64le-linux-gnu-as", package="binutils-powerpc64le-linux-gnu")
    linker = required_tool("powerpc64le-linux-gnu-ld", package="binutils-powerpc64le-linux-gnu")
    qemu = required_tool("qemu-ppc64le", package="qemu-user")
    lines = [".abiversion 2", ".globl _start", "_start:", *_address_of_blocks(31)]
    first = [*GENERAL, BASE, INDEX, LENGTH]
    for case in some:
        for at, register in enumerate(first):
            lines.append(f"ld {register},{_STATE_AT + 8 * at}(31)")
        lines.append(f"add {BASE},{BASE},31")
        at = _STATE_AT + 8 * len(first)
        for offset, move in ((0, "mtcr"), (8, "mtxer"), (16, "mtctr")):
            lines += [f"ld 3,{at + offset}(31)", f"{move} 3"]
        vectors = at + 24
        for index, register in enumerate(VECTORS):
            lines += [f"li 3,{vectors + 16 * index}", f"lxvx {register},31,3"]
        word = case.instruction.form.encode(case.instruction.values)
        if case.instruction.size == 8:
            lines += [".p2align 3", f".long {word >> 32}", f".long {word & 0xFFFFFFFF}"]
        else:
            lines.append(f".long {word}")
        for index, register in enumerate(first):
            lines.append(f"std {register},{_STATE_AT + 8 * index}(31)")
        for offset, move in ((0, "mfcr"), (8, "mfxer"), (16, "mfctr")):
            lines += [f"{move} 3", f"std 3,{at + offset}(31)"]
        for index, register in enumerate(VECTORS):
            lines += [f"li 3,{vectors + 16 * index}", f"stxvx {register},31,3"]
        lines += [f"addi 31,31,{BLOCK}"]
    size = BLOCK * len(some)
    write = [
        "li 0,4",
        "li 3,1",
        *_address_of_blocks(4),
        f"lis 5,{size >> 16}",
        f"ori 5,5,{size & 0xFFFF}",
        "sc",
    ]
    leave = ["li 0,1", "li 3,0", "sc"]
    lines += [*write, *leave, ".data", ".p2align 10", "blocks:", '.incbin "blocks.bin"']
    data = b"".join((case.before.memory + case.before.packed()).ljust(BLOCK, b"\0") for case in some)
    (folder / "blocks.bin").write_bytes(data)
    (folder / "program.s").write_text("\n".join(lines) + "\n")
    subprocess.run([assembler, "-mpower10", "-o", "program.o", "program.s"], cwd=folder, check=True)
    subprocess.run([linker, "-o", "program", "program.o"], cwd=folder, check=True)
    with (folder / "out.bin").open("wb") as out:
        subprocess.run([qemu, "-cpu", "power10", folder / "program"], stdout=out, check=True)
    found = (folder / "out.bin").read_bytes()
    assert len(found) == size
    start = _blocks_address(folder / "program")
    places = range(0, size, BLOCK)
    return [State.unpacked(found[at : at + BLOCK], start + at) for at in places]


def _address_of_blocks(register: int) -> list[str]:
    upper = ("lis {0},blocks@highest", "ori {0},{0},blocks@higher", "sldi {0},{0},32")
    lower = ("oris {0},{0},blocks@h", "ori {0},{0},blocks@l")
    return [each.format(register) for each in (*upper, *lower)]


def _blocks_address(program: Path) -> int:
    from elftools.elf.elffile import ELFFile

    with program.open("rb") as stream:
        table = ELFFile(stream).get_section_by_name(".symtab")
        return next(symbol["st_value"] for symbol in table.iter_symbols() if symbol.name == "blocks")


# -- the machine
_ADDRESS = 1 << 20


def on_machine(case: Case) -> State:
    """Run a case on the machine; bytes that it leaves undefined are None, as whole registers."""
    store = TermStore()
    before = case.before
    lanes = ByteLanes(store, MEMORY)
    lanes.write(np.arange(MEMORY), store.constants(np.frombuffer(before.memory, dtype=np.uint8), 8))
    segment = Segment("memory", _ADDRESS, Footprint.whole(MEMORY), MEMORY, True, (lanes.terms, lanes.lows))
    machine = Machine(store, Image("test", (), (), 0, {}), [segment], HANDLERS, {}, "test")
    registers = machine.registers
    assert before.conditions is not None and before.carry is not None and before.count is not None
    for register, value in zip((*GENERAL, BASE, INDEX, LENGTH), before.general, strict=True):
        assert value is not None
        registers.general[register] = value + _ADDRESS if register == BASE else value
    registers.conditions[:] = [before.conditions >> (31 - bit) & 1 for bit in range(32)]
    registers.carry, registers.count = before.carry, before.count
    for register, data in zip(VECTORS, before.vectors, strict=True):
        assert data is not None
        registers.set_elements(register, store.constants(np.frombuffer(data[::-1], dtype=np.uint8), 8))
    machine.address = 4096
    HANDLERS[case.instruction.mnemonic](machine, case.instruction)
    assert not machine.observations.findings, machine.observations.findings

    words = machine.words

    def number(word: int | Data, width: int = 32) -> int | None:
        """Return a word, of one whose upper half is undefined the lower half, negative."""
        low = words.cut(word, 0, width)
        return word if isinstance(word, int) else None if isinstance(low, Data) else ~low

    general = [number(registers.general[each]) for each in (*GENERAL, BASE, INDEX, LENGTH)]
    assert general[4] is not None
    general[4] = general[4] - _ADDRESS & (1 << 64) - 1
    bits = [number(bit, 1) for bit in registers.conditions]
    conditions = None if None in bits else sum((bit or 0) << (31 - index) for index, bit in enumerate(bits))
    return State(
        general,
        conditions,
        number(registers.carry, 1),
        number(registers.count),
        [_bytes(store, registers.vectors, 16 * vector) for vector in VECTORS],
        _memory_bytes(store, machine.storage.lanes),
    )


def differences(found: State, expected: State) -> list[str]:
    """Return in what a state differs from QEMU's, where it is defined."""
    told = []
    names = ("r14", "r15", "r16", "r17", "base", "index", "length")
    for name, one, other in zip(names, found.general, expected.general, strict=True):
        assert other is not None
        if one is not None and one != other and (one >= 0 or ~one != other & 0xFFFFFFFF):
            told.append(f"{name} is {one:#x}, not {other:#x}")
    told += [
        f"{name}: {getattr(found, name):#x}, not {getattr(expected, name):#x}"
        for name in ("conditions", "carry", "count")
        if getattr(found, name) not in (None, getattr(expected, name))
    ]
    for register, mine, theirs in zip(VECTORS, found.vectors, expected.vectors, strict=True):
        assert theirs is not None
        if mine is not None and mine != theirs and not (mine[:8] == mine[8:] == theirs[8:]):
            told.append(f"vs{register} is {mine[::-1].hex()}, not {theirs[::-1].hex()}")
    return told + ["memory differs"] * (found.memory != expected.memory)


def _numbers(store: TermStore, lanes: ByteLanes, at: slice) -> list[int | None]:
    found: list[int | None] = []
    for term, low in zip(lanes.terms[at], lanes.lows[at], strict=True):
        if term == ABSENT or store.operation(int(term)).name != CONSTANT:
            found.append(None)
        else:
            found.append(int(store.constant_values(int(term))) >> int(low) & 0xFF)
    return found


def _bytes(store: TermStore, lanes: ByteLanes, at: int) -> bytes | None:
    """Return a register; where its lower half is undefined, the upper one twice."""
    found = _numbers(store, lanes, slice(at, at + 16))
    if None in found[8:]:
        return None
    upper = bytes(each or 0 for each in found[8:])
    return bytes(each or 0 for each in found[:8]) + upper if None not in found[:8] else upper * 2


def _memory_bytes(store: TermStore, lanes: ByteLanes) -> bytes:
    return bytes(number or 0 for number in _numbers(store, lanes, slice(0, MEMORY)))
