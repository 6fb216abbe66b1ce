"""ELF files: entries, constants, calls, what registers and accumulators must be; and damaged files."""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

import pytest
from power_kernels import CONTRACTS, compiled, compiler, messages, source, verified

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.machine.front_end import list_candidates, read_kernel, read_outline
from mmaproof.refinement.power.front_end import read_image
from mmaproof.spec.errors import InputError

VECTOR = """
[kernel]
isa = "power"
entry = "f"

[sizes]
N = 8

[[param]]
name = "y"
type = "f64"
shape = ["N"]
access = "{access}"

[[param]]
name = "x"
type = "f64"
shape = ["N"]
{more}
"""


def contract(formula: str = "", access: str = "out", more: str = "") -> str:
    ensures = f'\n[ensures]\nformula = "{formula}"\n' if formula else ""
    return VECTOR.replace("{access}", access).replace("{more}", more) + ensures


def finding_kinds(text: str, folder: Path, of: str) -> tuple[set[Kind], str]:
    path = folder / "kernel.s"
    path.write_text(f"\t.globl f\n\t.type f, @function\nf:\n{text}\tblr\n")
    found = verified(path, of)
    return {finding.kind for finding in found.result.findings}, messages(found)


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("\tli 14,5\n", Kind.REGISTER, "returns without restoring r14"),
        ("\taddi 14,14,1\n", Kind.REGISTER, "returns without restoring r14"),
        ("\taddi 13,13,1\n\taddi 14,14,-8\n\taddi 13,13,-1\n\taddi 14,14,8\n", None, ""),
        ("\tli 0,0\n\tmtlr 0\n", Kind.UNSUPPORTED, "is not behind a call"),
        ("\tli 2,5\n", Kind.REGISTER, "returns without restoring r2"),
        ("\tstd 2,24(1)\n\tli 2,5\n\tld 2,24(1)\n", Kind.REGISTER, "caller's stack frame overwritten"),
        ("\tstd 2,-8(1)\n\tli 2,5\n\tld 2,-8(1)\n", None, ""),
        ("\t.localentry f,1\n\tli 2,5\n", None, ""),
        ("\t.localentry f,.-f\n\tli 2,5\n", Kind.REGISTER, "returns without restoring r2"),
        ("\tlfd 20,0(4)\n", Kind.REGISTER, "returns without restoring f20"),
        ("\tlxv 60,0(4)\n", Kind.REGISTER, "returns without restoring v28"),
        ("\tlfd 13,0(4)\n", None, ""),
        ("\tlxv 51,0(4)\n", None, ""),
        ("\tcmpdi 3,3,0\n", Kind.REGISTER, "returns without restoring cr3"),
        ("\tcmpdi 5,3,0\n", None, ""),
        ("\taddi 1,1,-64\n", Kind.REGISTER, "returns without restoring the stack pointer"),
        ("\tli 0,1\n\tstd 0,0(1)\n", Kind.REGISTER, "caller's stack frame overwritten"),
        ("\tstd 5,32(1)\n", Kind.OUT_OF_BOUNDS, "32 bytes above its top"),
        ("\tmflr 0\n\tstd 0,16(1)\n", None, ""),
        ("\tstd 3,-288(1)\n", None, ""),
        ("\tstd 3,-296(1)\n", Kind.OUT_OF_BOUNDS, "below the stack pointer"),
        ("\txxsetaccz 3\n", Kind.ACCUMULATOR, "returns while a3 is primed"),
        ("\txxsetaccz 2\n", None, ""),
        ("\txxmfacc 0\n", Kind.ACCUMULATOR, "xxmfacc a0 needs a0 primed"),
        ("\txvf64gerpp 0,32,34\n", Kind.ACCUMULATOR, "needs a0 primed"),
        (
            "\txxsetaccz 0\n\tlxv 2,0(4)\n\txxmfacc 0\n",
            Kind.ACCUMULATOR,
            "needs a0 primed, which it is not; lxv vs2,0(r4) at line 5 overwrites it by writing vs2",
        ),
        ("\txxsetaccz 0\n\tstxv 2,0(3)\n\txxmfacc 0\n", Kind.ACCUMULATOR, "reads vs2 while a0 is primed"),
        ("\txxsetaccz 1\n\tfadd 5,1,1\n\txxmfacc 1\n", Kind.ACCUMULATOR, "writing vs5"),
        ("\txxsetaccz 1\n\tfadd 5,1,1\n\txvf32gerpp 1,34,35\n\txxmfacc 1\n", Kind.ACCUMULATOR, "writing vs5"),
        ("\txxsetaccz 1\n\tfadd 5,1,1\n", None, ""),
        ("\txxsetaccz 1\n\tlxv 4,0(4)\n\tstxv 5,0(3)\n", Kind.UNINITIALISED, ""),
        ("\txxsetaccz 1\n\tfadd 5,1,1\n\txxsetaccz 1\n\txxmfacc 1\n", None, ""),
        ("\t.long 0xec0011d2\n", Kind.ILLEGAL, "vs0"),
        ("\tlxv 40,64(4)\n", Kind.OUT_OF_BOUNDS, "would be x[8]"),
        ("\tstxv 40,0(4)\n", Kind.OUT_OF_BOUNDS, "which is read-only"),
        ("\tld 9,0(15)\n", Kind.UNINITIALISED, "depends on r15, which was never written"),
        ("\tld 9,0(3)\n", None, ""),
        ("\tld 9,0(3)\n\tstd 9,8(3)\n", Kind.UNINITIALISED, "was never written"),
        ("\tld 9,0(3)\n\tldx 9,4,9\n", Kind.UNINITIALISED, "was never written"),
        ("\tld 9,0(3)\n\tcmpdi 9,0\n\tbeqlr\n", Kind.UNINITIALISED, "was never written"),
        ("\tcmpd 0,14,15\n\tbeqlr 0\n", Kind.UNINITIALISED, "a branch depends on r1"),
        ("\tld 9,0(4)\n\tldx 9,4,9\n", Kind.UNSUPPORTED, "an address depends on data"),
        ("\tmtspr 3,4\n", Kind.UNSUPPORTED, "special-purpose register 3"),
        ("\tbl exp\n", Kind.UNSUPPORTED, "a call of exp, which is not in the file"),
    ],
)
def test_what_is_wrong_with_a_function_is_found(
    text: str, kind: Kind | None, message: str, tmp_path: Path
) -> None:
    part = contract().replace('access = "out"', 'access = "out"\ncovers = "part"')
    kinds, told = finding_kinds(text, tmp_path, part)
    if kind is None:
        assert kinds == set(), told
    else:
        assert kind in kinds and message in told, told


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("xxmtacc 0", "reads vs0 while a0 is primed"),
        ("xxmtacc 0\n\tlxv 1,16(4)\n\txxmfacc 0", "needs a0 primed"),
        ("xxmtacc 0\n\txxmfacc 0\n\txxmfacc 0", "xxmfacc a0 at line 9 took it (it stays only where"),
    ],
)
def test_an_accumulator_may_be_the_storage_of_its_registers(text: str, message: str, tmp_path: Path) -> None:
    """As GCC 15 compiles OpenBLAS's products of complex numbers, the first of them."""
    loads = "".join(f"\tlxv {number},{16 * number}(4)\n" for number in range(4))
    path = tmp_path / "kernel.s"
    stores = loads.replace("lxv", "stxv").replace("(4)", "(3)")
    path.write_text(f"\t.globl f\n\t.type f, @function\nf:\n{loads}\t{text}\n{stores}\tblr\n")
    of = contract("y[i] = x[i]")
    apart = verified(path, of)
    assert apart.result.verdict == "refuted" and message in messages(apart)
    one = verified(path, of.replace('isa = "power"', 'isa = "power"\naliasing = "shared"'))
    assert one.result.verdict == "verified", messages(one)
    assert any("ACC[k] is the storage of VSR" in assumption for assumption in one.result.assumptions)
    path.write_text(path.read_text().replace("lxv 2,32(4)", "lxv 2,16(4)"))
    wrong = verified(path, of.replace('isa = "power"', 'isa = "power"\naliasing = "shared"'))
    assert wrong.result.verdict == "refuted"


@pytest.mark.parametrize("name", ["bf16", "f16"])
def test_narrow_floats_are_passed_as_c_has_them(name: str, tmp_path: Path) -> None:
    """As ``bgemm_kernel`` of OpenBLAS gets its factor."""
    text = "void f(unsigned short *y, const unsigned short *x, unsigned short a) { y[0] = x[0]; y[1] = a; }"
    of = VECTOR.replace("f64", name).replace("N = 8", "N = 2").replace("{access}", "out")
    of = of.replace("{more}", f'\n[[param]]\nname = "a"\ntype = "{name}"\n')
    formula = "y[i] = where(i == 0, x[i], a)"
    found = verified(compiled(text, tmp_path, "-O2"), f'{of}\n[ensures]\nformula = "{formula}"\n')
    assert found.result.verdict == "verified", messages(found)


def test_callees_constants_and_library_functions_are_part_of_the_program(tmp_path: Path) -> None:
    text = """
    #include <string.h>
    static const double weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    __attribute__((noinline)) static void scale(double *t) { for (int i = 0; i < 8; i++) t[i] *= weights[i]; }
    void f(double *y, const double *x, long bytes)
    { double t[8]; memcpy(t, x, bytes); scale(t); memcpy(y, t, bytes); }
    """
    more = '\n[[param]]\nname = "bytes"\ntype = "s64"\nvalue = 64\n'
    for flags in ("-O2", "-O1", "-mcmodel=medium -mno-pcrel -O2"):
        kernel = compiled(text, tmp_path, *flags.split())
        found = verified(kernel, contract("y[i] = (i + 1) * x[i]", more=more))
        assert found.result.verdict == "verified", messages(found)
    library = tmp_path / "library.so"
    subprocess.run(
        [compiler(), "-mcpu=power10", "-O2", "-fPIC", "-shared", "-o", library, tmp_path / "kernel.c"],
        check=True,
    )
    found = verified(library, contract("y[i] = (i + 1) * x[i]", more=more))
    assert found.result.verdict == "verified", messages(found)


@pytest.mark.parametrize(
    ("load", "store", "kept"),
    [
        ("lxv 40,0(4)", "stxv 40,0(30)", False),
        ("lfd 13,0(4)", "stfd 13,0(30)", False),
        ("ld 9,0(4)", "std 9,0(30)", False),
        ("lxv 52,0(4)", "stxv 52,0(30)", True),
    ],
)
def test_a_call_loses_what_the_callee_may_change(load: str, store: str, kept: bool, tmp_path: Path) -> None:
    saves = "\tmflr 0\n\tstd 0,16(1)\n\tstd 30,-16(1)\n\tstxv 52,-48(1)\n\tstdu 1,-112(1)\n\tmr 30,3\n"
    call = "\tli 5,8\n\taddi 3,30,32\n\tbl memcpy\n"
    back = "\taddi 1,1,112\n\tlxv 52,-48(1)\n\tld 30,-16(1)\n\tld 0,16(1)\n\tmtlr 0\n"
    _, told = finding_kinds(f"{saves}\t{load}\n{call}\t{store}\n{back}", tmp_path, contract())
    assert ("stores to y[0] a value that was never computed" in told) is not kept, told


def test_arguments_beyond_registers_are_on_the_stack(tmp_path: Path) -> None:
    names = [f"a{number}" for number in range(9)]
    longs = ", ".join(f"long {name}" for name in names)
    text = f"void f(double *y, const double *x, {longs}, float s, double t)\n"
    text += "{ y[0] = x[0] * a6 + a8 * (double)s + t - a7; }"
    scalars = "".join(
        f'\n[[param]]\nname = "{each}"\ntype = "s64"\nvalue = {10 + number}\n'
        for number, each in enumerate(names)
    )
    scalars += '\n[[param]]\nname = "s"\ntype = "f32"\n\n[[param]]\nname = "t"\ntype = "f64"\n'
    formula = "y[i] = where(i < 1, x[0] * 16 + 18 * s + t - 17, old(y[i]))"
    found = verified(compiled(text, tmp_path), contract(formula, "inout", scalars))
    assert found.result.verdict == "verified", messages(found)


def test_conditions_on_scalars_make_cases(tmp_path: Path) -> None:
    text = """void f(double *y, const double *x, double beta)
    { for (int i = 0; i < 8; i++) y[i] = beta == 0 ? x[i] : x[i] + beta * y[i]; }"""
    more = '\n[[param]]\nname = "beta"\ntype = "f64"\n'
    found = verified(compiled(text, tmp_path), contract("y[i] = x[i] + beta * old(y[i])", "inout", more))
    assert found.result.verdict == "verified", messages(found)


def test_findings_name_address_function_and_source(tmp_path: Path) -> None:
    text = "void f(double *y, const double *x)\n{\n    y[9] = x[0];\n}\n"
    found = verified(compiled(text, tmp_path, "-O2", "-g"), contract())
    assert re.search(
        r"kernel\.c:3, 0x[0-9a-f]+ <f\+0x4> \(.*kernel\.o\): out-of-bounds: stfd", messages(found)
    )


def test_entries_are_names_or_addresses(tmp_path: Path) -> None:
    kernel = compiled(source("sgemm"), tmp_path)
    assert read_kernel("power", kernel, "sgemm", None).entry == "sgemm"
    assert read_kernel("power", kernel, "0x0", None).entry == "0x0"
    for entry, message in (
        ("dgemm", "has no function 'dgemm'; there are: .*sgemm"),
        ("0x2", "has no code at 0x2"),
        ("0x999999", "has no code at"),
        ("0xzz", "is no address"),
    ):
        with pytest.raises(InputError, match=message):
            read_kernel("power", kernel, entry, None)


def test_candidates_and_outlines(tmp_path: Path) -> None:
    kernel = compiled(source("dgemm"), tmp_path)
    (found,) = list_candidates(kernel)
    assert found.name == "dgemm_kernel_8xNx8" and found.products["xvf64gerpp"] == 8
    outline = read_outline(kernel, None)
    assert [parameter.name for parameter in outline.parameters] == ["r3", "r4", "r5", "r6"]
    assert [parameter.is_pointer for parameter in outline.parameters] == [True, True, True, False]
    assert outline.parameters[0].is_written and "xvf64gerpp" in outline.products


def test_other_machines_are_refused_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "x.c").write_text("int f(void) { return 1; }")
    big = tmp_path / "big.o"
    subprocess.run([compiler(), "-mbig", "-mabi=elfv2", "-c", "-o", big, tmp_path / "x.c"], check=True)
    kernel = compiled(source("dgemm"), tmp_path)
    other = tmp_path / "other.o"
    data = bytearray(kernel.read_bytes())
    data[18] = 62
    other.write_bytes(data)
    for path, message in (
        (big, "is big-endian"),
        (other, "is for X86_64"),
        (tmp_path / "none.o", "can't read"),
    ):
        with pytest.raises(InputError, match=message) as error:
            read_image(path)
        assert "\n" not in str(error.value)


def test_damaged_files_never_end_in_a_traceback(tmp_path: Path) -> None:
    data = compiled(source("igemm"), tmp_path, "-O2", "-g").read_bytes()
    rng, path = random.Random(11), tmp_path / "damaged.o"
    text = CONTRACTS["igemm"].replace("{K}", "4")
    for turn in range(40):
        damaged = bytearray(data)
        if turn % 3 == 0:
            damaged = damaged[: rng.randrange(len(damaged))]
        else:
            for _ in range(1 + turn % 4):
                part = (0, 64) if turn % 3 == 1 else (0, len(damaged))
                damaged[rng.randrange(*part)] ^= 1 << rng.randrange(8)
        path.write_bytes(damaged)
        try:
            verified(path, text)
        except InputError as error:
            assert "\n" not in str(error)
