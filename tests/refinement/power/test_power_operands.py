"""Numbers in assembler text: taken where GNU as takes them, and encoded as it does."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

from required_tools import required_tool

from mmaproof.refinement.power.image.assembler_text import read_text_program
from mmaproof.refinement.power.image.instruction_forms import TARGETS, Form, Operand, forms
from mmaproof.refinement.power.image.object_file import read_object

BINUTILS = "binutils-powerpc64le-linux-gnu"

PCREL = """
    .section .rodata
.LC0: .quad 1, 2
    .text
    .globl f
    .type f, @function
f:
    plxv 34,.LC0@{modifier}(0),1
    pld 3,.LC0@{modifier}
    blr
"""


def _ends(form: Form) -> Iterator[tuple[int, ...]]:
    """Yield operands of a form: numbers at the ends of ranges with a sign and without, and beyond them."""
    for index, operand in enumerate(form.operands):
        width = form.width(index)
        if operand.register or operand.name in (*TARGETS, "RA0") or width < 2:
            continue
        half = 1 << width - 1
        for number in (-half - 1, -half, -1, 0, half - 1, half, 2 * half - 1, 2 * half):
            values = [_register(each) for each in form.operands]
            values[index] = number * operand.scale
            yield tuple(values)


def _register(operand: Operand) -> int:
    """Return a register that any operand may be, or a number."""
    return 0 if not operand.register else 4 if operand.register == "r" else 2


def _written(form: Form, values: tuple[int, ...]) -> str:
    words = map(str, values)
    return f"{form.mnemonic} " + re.sub(r"[A-Za-z]\w*", lambda _: next(words), form.syntax)


def _refused(lines: list[str], folder: Path) -> dict[int, str]:
    """Return why GNU as refuses lines, by their indices."""
    (folder / "ends.s").write_text("\n".join(lines) + "\n")
    assembler = required_tool("powerpc64le-linux-gnu-as", package=BINUTILS)
    command = [assembler, "-mpower10", "-o", "ends.o", "ends.s"]
    said = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stderr
    found = re.findall(r"^ends\.s:(\d+): (?:Error|Warning): (.*)$", said, flags=re.MULTILINE)
    return {int(line) - 1: why for line, why in found}


def _encoded(form: Form, values: tuple[int, ...]) -> int | None:
    try:
        return form.encode(values)
    except ValueError:
        return None


def test_numbers_are_taken_where_gnu_as_takes_them(tmp_path: Path) -> None:
    cases = [(form, values) for form in forms().values() for values in _ends(form)]
    lines = [_written(*case) for case in cases]
    refused = _refused(lines, tmp_path)
    for index, (form, values) in enumerate(cases):
        taken, why = _encoded(form, values) is not None, refused.get(index)
        if taken:  # an invalid form is judged where it runs
            assert why is None or "invalid" in why or "illegal" in why, (lines[index], why)
        elif why is None:  # GNU as cuts off what 32 bits do not hold
            assert form.mnemonic.startswith("xxsplti"), lines[index]
    both = [
        index for index in range(len(cases)) if index not in refused and _encoded(*cases[index]) is not None
    ]
    assert len(both) > 500
    assert not _refused([lines[index] for index in both], tmp_path)
    image, address = read_object(tmp_path / "ends.o"), 0
    for index in both:
        form, values = cases[index]
        if form.size == 64 and address % 64 == 60:
            address += 4  # a prefixed instruction does not cross 64 bytes: GNU as puts a nop before it
        words = [image.word(address + 4 * each) or 0 for each in range(form.size // 32)]
        encoded = _encoded(form, values)
        assert encoded is not None
        if form.mnemonic == "mtcrf":  # of one field GNU as makes mtocrf
            words[0] &= ~(1 << 20)
        assert words == [encoded >> form.size - 32 * (each + 1) & 0xFFFFFFFF for each in range(len(words))], (
            lines[index]
        )
        address += form.size // 8


def test_modifiers_are_read_in_capitals_as_llvm_writes_them(tmp_path: Path) -> None:
    images = []
    for modifier in ("pcrel", "PCREL"):
        path = tmp_path / f"{modifier}.s"
        path.write_text(PCREL.format(modifier=modifier))
        images.append(read_text_program(path))
    (start,) = {function.address for image in images for function in image.functions if function.name == "f"}
    words = [[image.word(start + 4 * each) for each in range(5)] for image in images]
    assert words[0] == words[1] and words[0][0] is not None
