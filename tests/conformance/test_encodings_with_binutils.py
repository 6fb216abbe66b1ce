"""GNU as and objdump agree with the specification's encodings, spellings and legality rules."""

from __future__ import annotations

import re
import subprocess
from itertools import count as count_from
from pathlib import Path

import numpy as np
import pytest
from numpy.random import Generator
from required_tools import required_tool

from mmaproof.spec.power.assembly import parse
from mmaproof.spec.power.catalogue import RankKUpdate
from mmaproof.spec.power.encoding import encode, to_bytes
from mmaproof.spec.power.forms import FORMS, MASKS, FixedPoint, Form, Kind
from mmaproof.spec.power.instructions import Instruction
from mmaproof.spec.power.legality import violations
from mmaproof.spec.power.memory import Endian
from mmaproof.spec.power.targets import TARGETS

SAMPLES = 25
"""Instructions of each form, operands drawn from all that can be encoded."""

SLOT = 8
"""Bytes from one instruction to the next, so that none crosses a 64-byte boundary."""

ORIGIN = 0x10000
"""Address of the first instruction; no branch back from it wraps around address 0."""

NOP = 0x60000000
PACKAGE = "binutils-powerpc64le-linux-gnu"


def samples(form: Form, rng: Generator) -> list[Instruction]:
    """Draw legal instructions that objdump prints under the form's own name."""
    drawn: list[Instruction] = []
    while len(drawn) < SAMPLES:
        operands = []
        for operand in form.operands:
            values = operand.values
            if form.operation is FixedPoint.ADDI and operand.kind is Kind.BASE:
                values = values[1:]  # objdump prints addi with RA = 0 as li
            operands.append(values[int(rng.integers(len(values)))])
        instruction = Instruction(form, tuple(operands))
        if not violations(instruction, TARGETS["power10"]):
            drawn.append(instruction)
    return drawn


def doubtful_samples(form: Form, rng: Generator) -> list[Instruction]:
    """Draw instructions with an operand at the end of its range or beyond, or a mask too many or few."""
    drawn = []
    for _ in range(SAMPLES):
        operands = [int(rng.choice(operand.values)) for operand in form.operands]
        doubtful = int(rng.integers(len(operands)))
        least, most = form.operands[doubtful].values[0], form.operands[doubtful].values[-1]
        if form.operands[doubtful].kind is not Kind.TARGET:
            operands[doubtful] = int(rng.choice([least - 1, least, least + 1, most, most + 1, most + 2]))
        if isinstance(form.operation, RankKUpdate):
            count = len(operands) + int(rng.choice([-1, 0, 0, 0, 1]))
            operands = [*operands, 1][: min(max(count, 3), 3 + len(MASKS))]
        drawn.append(Instruction(form, tuple(operands)))
    return drawn


@pytest.fixture(scope="module")
def instructions() -> list[Instruction]:
    rng = np.random.default_rng(0)
    return [instruction for form in FORMS.values() for instruction in samples(form, rng)]


def assemble(lines: list[str], order: Endian, folder: Path) -> list[bytes]:
    """Assemble one instruction per line and return the bytes of each."""
    assembler = required_tool("powerpc64le-linux-gnu-as", package=PACKAGE)
    copier = required_tool("powerpc64le-linux-gnu-objcopy", package=PACKAGE)
    source, compiled, image = (folder / f"lines.{suffix}" for suffix in ("s", "o", "bin"))
    source.write_text("".join(f".balign {SLOT}\n{line}\n" for line in lines) + f".balign {SLOT}\n")
    subprocess.run([assembler, "-mpower10", "-mregnames", f"-m{order}", "-o", compiled, source], check=True)
    subprocess.run([copier, "-O", "binary", "-j", ".text", compiled, image], check=True)
    code = image.read_bytes()
    return [code[at : at + SLOT] for at in range(0, len(code), SLOT)]


def disassemble(code: bytes, order: Endian, folder: Path) -> dict[int, str]:
    """Return objdump's text of code at `ORIGIN`, by address."""
    image = folder / "image.bin"
    image.write_bytes(code)
    objdump = required_tool("powerpc64le-linux-gnu-objdump", package=PACKAGE)
    what = ("-D", "-b", "binary", "-m", "powerpc:common64", f"--endian={order}", f"--adjust-vma={ORIGIN}")
    how = ("-M", "power10", "--no-show-raw-insn")
    listing = subprocess.run([objdump, *what, *how, image], check=True, capture_output=True, text=True).stdout
    lines = re.finditer(r"^\s*([0-9a-f]+):\t(.*)$", listing, re.MULTILINE)
    return {int(line[1], 16): line[2].strip() for line in lines}


def in_slot(instruction: Instruction, order: Endian) -> bytes:
    words = encode(instruction)
    return to_bytes((*words, NOP)[: SLOT // 4], order)


def numbers_only(instruction: Instruction) -> str:
    """Spell an instruction without any of our register names."""
    assert instruction.operands is not None
    texts = [
        f".{value:+d}" if operand.kind is Kind.TARGET else str(value)
        for operand, value in instruction.given()
    ]
    surplus = map(str, instruction.operands[len(texts) :])
    return f"{instruction.mnemonic} {instruction.form.punctuate([*texts, *surplus])}"


@pytest.mark.parametrize("spell", [numbers_only, str])
@pytest.mark.parametrize("order", list(Endian))
def test_gnu_as_encodes_as_we_do(
    instructions: list[Instruction], order: Endian, spell: type[str], tmp_path: Path
) -> None:
    assembled = assemble([spell(instruction) for instruction in instructions], order, tmp_path)
    for instruction, code in zip(instructions, assembled, strict=True):
        assert code == in_slot(instruction, order), f"{instruction}: as gives {code.hex()}"


@pytest.mark.parametrize("order", list(Endian))
def test_what_objdump_prints_of_our_words_parses_back(
    instructions: list[Instruction], order: Endian, tmp_path: Path
) -> None:
    code = b"".join(in_slot(instruction, order) for instruction in instructions)
    texts = disassemble(code, order, tmp_path)
    for address, instruction in zip(count_from(ORIGIN, SLOT), instructions, strict=False):
        assert parse(texts[address], address=address) == instruction, texts[address]


# Not power8: there as takes lxvx and stxvx as other names of lxvd2x and stxvd2x.
@pytest.mark.parametrize("target", ["power9", "power10", "future"])
def test_gnu_as_rejects_exactly_what_the_rules_forbid(target: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    doubtful = [instruction for form in FORMS.values() for instruction in doubtful_samples(form, rng)]
    assembler = required_tool("powerpc64le-linux-gnu-as", package=PACKAGE)
    source = tmp_path / "doubtful.s"
    source.write_text("".join(f"{numbers_only(instruction)}\n" for instruction in doubtful))
    finished = subprocess.run(
        [assembler, f"-m{target}", "-o", tmp_path / "doubtful.o", source],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    complaints = re.finditer(r":(\d+): Error: (.*)", finished.stderr)
    rejected = {int(complaint[1]): complaint[2] for complaint in complaints}
    for line, instruction in enumerate(doubtful, start=1):
        violated = [str(violation) for violation in violations(instruction, TARGETS[target])]
        assert bool(violated) == (line in rejected), (
            f"{numbers_only(instruction)}: as says {rejected.get(line, 'nothing')!r}, the rules {violated}"
        )
    assert 0 < len(rejected) < len(doubtful)
