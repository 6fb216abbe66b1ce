"""Assembler text: what gcc -S writes is assembled as GNU as does, listings are read by their machine code."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
from power_kernels import CONTRACTS, SOURCES, compiled, messages, source, verified
from required_tools import required_tool

from mmaproof.refinement.power import machine
from mmaproof.refinement.power.image.assembler_text import read_text_program
from mmaproof.refinement.power.image.object_file import read_object
from mmaproof.spec.errors import InputError

BINUTILS = "binutils-powerpc64le-linux-gnu"

SCALAR = """
static const double table[4] = {1.5, 2.5, 3.5, 4.5};
double sum(double *x, int n) { double s = 0; for (int i = 0; i < n; i++) s += x[i] * table[i & 3]; return s; }
int cases(int x, int y) {
    switch (x) { case 0: return y; case 1: return y * 3; case 2: return y / 7; case 3: return y << 3;
                 case 4: return y >> 2; case 5: return ~y; default: return -y; } }
unsigned long bits(unsigned long a, unsigned b, short c, unsigned char d) {
    return (a / 10) % 17 + (b << c) + (d > b ? a : c) + __builtin_popcountl(a) + __builtin_clz(b); }
void bytes(unsigned char *o, const unsigned char *i, int n) {
    for (int k = 0; k < n; k++) o[k] = i[n - 1 - k] ^ 0x5a; }
"""


@pytest.mark.parametrize("flags", ["-O1", "-O3"])
@pytest.mark.parametrize("text", [*(path.stem for path in sorted(SOURCES.glob("*.c"))), "scalar"])
def test_text_is_assembled_as_gnu_as_does(text: str, flags: str, tmp_path: Path) -> None:
    code = SCALAR if text == "scalar" else source(text)
    written = compiled(code, tmp_path, flags, "-S", output="kernel.s")
    assembler = required_tool("powerpc64le-linux-gnu-as", package=BINUTILS)
    subprocess.run([assembler, "-mpower10", "-o", "kernel.o", "kernel.s"], cwd=tmp_path, check=True)
    mine, theirs = read_text_program(written), read_object(tmp_path / "kernel.o")
    assert not mine.texts
    for name in {function.name for function in theirs.functions if function.is_function}:
        starts = [
            next(function.address for function in image.functions if function.name == name)
            for image in (mine, theirs)
        ]
        size = next(function.size for function in theirs.functions if function.name == name)
        for offset in range(0, size - 32, 4):  # behind the code is a table for tracing
            words = [image.word(start + offset) for image, start in zip((mine, theirs), starts, strict=True)]
            relative = words[0] is not None and words[0] >> 26 in (1, 18, 14, 58, 16)
            assert relative or words[0] == words[1], f"{name}+{offset:#x}"


def test_text_and_listings_are_verified(tmp_path: Path) -> None:
    text = compiled(source("dgemm"), tmp_path, "-O2", "-S", output="kernel.s")
    assert verified(text, CONTRACTS["dgemm"], N=2).result.verdict == "verified"
    compiled(source("dgemm"), tmp_path, "-O2")
    objdump = required_tool("powerpc64le-linux-gnu-objdump", package=BINUTILS)
    listing = tmp_path / "kernel.dis"
    printed = subprocess.run(
        [objdump, "-dr", "kernel.o"], cwd=tmp_path, check=True, capture_output=True
    ).stdout
    listing.write_bytes(printed)
    assert verified(listing, CONTRACTS["dgemm"], N=2).result.verdict == "verified"
    wrong = verified(listing, CONTRACTS["dgemm"].replace("4*p + r", "4*p"), N=1)
    line = wrong.result.findings[0].line
    assert wrong.result.verdict == "refuted" and "lxv" in printed.decode().splitlines()[line - 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("hello there\n", "is neither an ELF file nor"),
        ("\tli 3,70000\n", "SI must be -32768 to 32767, not 70000"),
        ("\tadd 3,4\n", "add takes 3 operands"),
        ("\tlxv 32,7(3)\n", "DQ must be"),
        ("\tli 3,(4\n", "a parenthesis is not closed"),
        ("\tnop\n\t.incbin \"x\"\n", ".incbin: the directive is not supported"),
        ("\tnop\n\t.space -5\n", "-5 bytes"),
        ("\tnop\n\t.p2align\n", ".p2align"),
        ("   0:\t01 02 03 \t.long\n   4:\t00 00 00 60 \tnop\n", "no words of 4 bytes"),
    ],
)  # fmt: skip
def test_wrong_text_is_refused_in_one_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "wrong.s"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(message)) as error:
        read_text_program(path)
    assert "\n" not in str(error.value)


def test_an_instruction_that_is_not_known_is_unsupported_where_it_runs(tmp_path: Path) -> None:
    path = tmp_path / "kernel.s"
    path.write_text("\t.globl f\n\t.type f, @function\nf:\n\tstqcx. 4,0,3\n\tblr\n")
    contract = '[kernel]\nisa = "power"\n[[param]]\nname = "x"\ntype = "f32"\nshape = [4]\naccess = "out"\n'
    found = verified(path, contract)
    assert found.result.verdict == "unsupported" and "kernel.s:4: " in messages(found)
    assert "stqcx. 4,0,3" in messages(found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lwzu 4,0(0)", "lwzu r4,0(r0), whose form is invalid: RA, which is updated, is 0"),
        ("ldux 4,4,5", "r4 is both loaded and updated"),
        ("stfsux 1,0,5", "RA, which is updated, is 0"),
        ("plwz 4,0(3),1", "R is 1, and RA is r3, not 0"),
        ("bcctr 16,0", "CTR can't be both decremented and where to branch"),
        ("mtocrf 6,4", "FXM is 6, not one bit"),
        ("lfdu 1,8(3)", None),
        ("mtvsrd 1,0", None),
    ],
)
def test_an_invalid_form_is_unsupported_where_it_runs(text: str, message: str | None, tmp_path: Path) -> None:
    path = tmp_path / "kernel.s"
    path.write_text(f"\t.globl f\n\t.type f, @function\nf:\n\tli 0,0\n\tli 4,0\n\tli 5,0\n\t{text}\n\tblr\n")
    contract = '[kernel]\nisa = "power"\n[[param]]\nname = "x"\ntype = "f32"\nshape = [4]\n'
    found = verified(path, contract)
    assert found.result.verdict == ("unsupported" if message else "safe")
    assert message is None or message in messages(found)


ENDLESS = "\t.globl f\n\t.type f, @function\nf:\n{before}.L1:\n{body}\tb .L1\n"


@pytest.mark.parametrize(
    ("limit", "before", "body", "verdict"),
    [
        ("steps", "", "", "unsupported"),
        ("terms", "", "\tadd 4,4,4\n", "unsupported"),
        ("steps_after_fault", "\tlfs 1,64(3)\n", "", "refuted"),
        ("terms_after_fault", "\tlfs 1,64(3)\n", "\txsaddsp 1,1,1\n", "refuted"),
    ],
)
def test_functions_that_do_not_end_are_stopped(
    limit: str, before: str, body: str, verdict: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "LIMITS", replace(machine.LIMITS, **{limit: 3000}))
    path = tmp_path / "kernel.s"
    path.write_text(ENDLESS.format(before=before, body=body))
    contract = '[kernel]\nisa = "power"\n[[param]]\nname = "x"\ntype = "f32"\nshape = [4]\naccess = "inout"\n'
    found = verified(path, contract)
    assert found.result.verdict == verdict and "has not ended after" in messages(found)
