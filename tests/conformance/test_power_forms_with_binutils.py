"""Every form that the reader of Power object code knows, against GNU as and objdump."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from required_tools import required_tool

from mmaproof.refinement.power.image.instruction_forms import (
    Form,
    Instruction,
    decode_prefixed,
    decode_word,
    forms,
)
from mmaproof.spec.power.assembly import ALIASES

BINUTILS = "binutils-powerpc64le-linux-gnu"
_CHOSEN = {"R": (0,), "BO": (4, 12, 16, 20), "SPR": (1, 8, 9, 256), "L3": (0, 1), "SC": (0,)}


def random_values(form: Form, rng: random.Random) -> tuple[int, ...]:
    """Return operands that GNU as takes: an update needs another base, a move of a field one field."""
    found = []
    for index, operand in enumerate(form.operands):
        width = form.width(index)
        value = rng.getrandbits(width)
        if operand.name in _CHOSEN:
            value = rng.choice(_CHOSEN[operand.name])
            if form.mnemonic.startswith("bcctr"):  # it can't count
                value |= 4
        elif operand.name == "FXM" and "o" in form.mnemonic:
            value = 1 << rng.randrange(8)
        elif operand.name == "FXM":  # of one field GNU as makes mtocrf
            value |= 0x81
        elif operand.name == "RA" and "u" in form.mnemonic:
            value = rng.randrange(20, 32)
        elif operand.name == "RT" and "u" in form.mnemonic:
            value = rng.randrange(2, 20)
        elif form.specified is not None and operand.register == "a":
            value = rng.randrange(4)
        elif form.specified is not None and operand.register == "vs":
            value = rng.randrange(16, 32) if operand.scale == 2 else rng.randrange(32, 64)
        if operand.signed and value >> (width - 1):
            value -= 1 << width
        found.append(value * operand.scale)
    return tuple(found)


def instructions() -> Iterator[tuple[Instruction, int]]:
    rng = random.Random(6)
    for form in forms().values():
        for _ in range(6):
            values = random_values(form, rng)
            yield Instruction(form, values), form.encode(values)


INSTRUCTIONS = list(instructions())


def test_decoding_inverts_encoding() -> None:
    for instruction, word in INSTRUCTIONS:
        found = decode_prefixed(word >> 32, word & 0xFFFFFFFF) if instruction.size == 8 else decode_word(word)
        assert found == instruction


def test_no_two_forms_have_a_word_in_common() -> None:
    every = list(forms().values())
    for number, one in enumerate(every):
        for other in every[:number]:
            common = one.mask & other.mask
            assert one.size != other.size or (one.match ^ other.match) & common, (
                one.mnemonic,
                other.mnemonic,
            )


def test_gnu_as_makes_the_same_words_of_the_text(tmp_path: Path) -> None:
    assembler = required_tool("powerpc64le-linux-gnu-as", package=BINUTILS)
    lines = [f".p2align 3\n{instruction}" for instruction, _ in INSTRUCTIONS]
    (tmp_path / "text.s").write_text("\n".join(lines) + "\n")
    command = [assembler, "-mpower10", "-mregnames", "-o", "text.o", "text.s"]
    subprocess.run(command, cwd=tmp_path, check=True)
    objcopy = required_tool("powerpc64le-linux-gnu-objcopy", package=BINUTILS)
    subprocess.run([objcopy, "-O", "binary", "-j", ".text", "text.o", "text.bin"], cwd=tmp_path, check=True)
    data = (tmp_path / "text.bin").read_bytes()
    for number, (instruction, word) in enumerate(INSTRUCTIONS):
        first, second = (int.from_bytes(data[at : at + 4], "little") for at in (8 * number, 8 * number + 4))
        found = first << 32 | second if instruction.size == 8 else first
        assert found == word, str(instruction)


def test_objdump_names_the_words_alike(tmp_path: Path) -> None:
    assembler = required_tool("powerpc64le-linux-gnu-as", package=BINUTILS)
    objdump = required_tool("powerpc64le-linux-gnu-objdump", package=BINUTILS)
    lines = []
    for instruction, word in INSTRUCTIONS:
        words = (word >> 32, word & 0xFFFFFFFF) if instruction.size == 8 else (word, 0x60000000)
        lines += [f".long {each:#x}" for each in words]
    (tmp_path / "words.s").write_text("\n".join(lines) + "\n")
    subprocess.run([assembler, "-mpower10", "-o", "words.o", "words.s"], cwd=tmp_path, check=True)
    printed = subprocess.run(
        [objdump, "-d", "-Mpower10,raw", "words.o"], cwd=tmp_path, check=True, capture_output=True, text=True
    ).stdout
    names = dict(re.findall(r"^\s*([0-9a-f]+):\t(?:[0-9a-f]{2} )+\s*\t(\S+)", printed, re.MULTILINE))
    for number, (instruction, _) in enumerate(INSTRUCTIONS):
        name = names[f"{8 * number:x}"]
        assert (ALIASES[name].mnemonic if name in ALIASES else name) == instruction.mnemonic


@pytest.mark.parametrize(("word", "reserved"), [(0x7C0002A6, 0x1), (0x4E800020, 0xE000)])
def test_a_word_with_a_reserved_bit_is_no_instruction(word: int, reserved: int) -> None:
    assert decode_word(word) is not None and decode_word(word | reserved) is None
