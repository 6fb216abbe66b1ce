"""Functions of <math.h> that Power kernels call: what they are, and what is assumed of them."""

from __future__ import annotations

from pathlib import Path

import pytest
from power_kernels import messages, verified

CONTRACT = """
[kernel]
isa = "power"

[[param]]
name = "y"
type = "f32"
shape = [1]
access = "out"

[[param]]
name = "x"
type = "f32"
shape = [2]

[ensures]
formula = "y[i] = {}"
"""

KERNEL = """
	.abiversion 2
	.text
	.globl f
	.type f,@function
f:
	mflr 0
	std 0,16(1)
	stdu 1,-64(1)
	std 3,48(1)
	lfs 1,0(4)
	lfs 2,4(4)
	bl {}
	nop
	ld 3,48(1)
	stfs {},0(3)
	addi 1,1,64
	ld 0,16(1)
	mtlr 0
	blr
"""


def found(tmp_path: Path, name: str, formula: str, register: int = 1) -> tuple[str, str]:
    """Return the verdict of a kernel that calls a function, and all that it says."""
    kernel = tmp_path / "f.s"
    kernel.write_text(KERNEL.format(name, register))
    result = verified(kernel, CONTRACT.format(formula))
    return result.result.verdict, "; ".join([messages(result), *result.result.assumptions])


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("expf", "exp(x[0])"),
        ("expm1f", "exp(x[0]) - 1"),
        ("logf", "log(x[0])"),
        ("tanhf", "tanh(x[0])"),
        ("erff", "erf(x[0])"),
        ("cosf", "cos(x[0])"),
    ],
)
def test_approximations_are_functions_and_verdicts_say_so(tmp_path: Path, name: str, formula: str) -> None:
    verdict, said = found(tmp_path, name, formula)
    assert verdict == "verified", said
    assert f"{name} of the C library is {formula.replace('[0]', '')}, rounded to f32" in said


@pytest.mark.parametrize(
    ("name", "formula"),
    [
        ("sqrtf", "sqrt(x[0])"),
        ("nearbyintf", "rint(x[0])"),
        ("floorf", "floor(x[0])"),
        ("fmaxf", "max(x[0], x[1])"),
    ],
)
def test_functions_that_round_once_need_no_assumption(tmp_path: Path, name: str, formula: str) -> None:
    verdict, said = found(tmp_path, name, formula)
    assert verdict == "verified", said
    assert ("C library" in said) == (name == "fmaxf")  # which leaves open which of two zeros it is


@pytest.mark.parametrize(
    ("name", "formula"),
    [("expf", "exp(-x[0])"), ("expf", "exp2(x[0])"), ("rintf", "floor(x[0])"), ("fminf", "max(x[0], x[1])")],
)
def test_other_functions_are_refuted(tmp_path: Path, name: str, formula: str) -> None:
    assert found(tmp_path, name, formula)[0] == "refuted"


def test_a_call_leaves_no_other_register_as_it_was(tmp_path: Path) -> None:
    verdict, said = found(tmp_path, "expf", "x[1]", register=2)
    assert verdict != "verified", said


@pytest.mark.parametrize("name", ["exp", "lgammaf"])
def test_what_is_not_modelled_is_unsupported(tmp_path: Path, name: str) -> None:
    verdict, said = found(tmp_path, name, "x[0]")
    assert verdict == "unsupported", said
    assert f"a call of {name}" in said
