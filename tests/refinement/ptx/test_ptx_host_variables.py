"""Variables in constant memory that the host writes before a launch."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings.result import Result
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import InputError

KERNEL = """
.version 8.8
.target sm_80
.address_size 64
.const .align 4 .b8 factors[16];
.const .align 4 .u32 table[2] = {3, 4};
.global .align 4 .b8 everywhere[16];
.visible .entry k(.param .u64 x, .param .u64 y)
{
    .reg .b32 %r<8>; .reg .b64 %rd<8>; .reg .f32 %f<4>; .reg .pred %p<2>;
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %p1, %r1, 3;
    @%p1 ret;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    mul.wide.u32 %rd3, %r1, 4;
    add.u64 %rd1, %rd1, %rd3;
    add.u64 %rd2, %rd2, %rd3;
    mov.u64 %rd4, factors;
    add.u64 %rd4, %rd4, %rd3;
    ld.const.f32 %f1, [%rd4];
    ld.global.f32 %f2, [%rd1];
    mul.f32 %f3, %f1, %f2;
    st.global.f32 [%rd2], %f3;
    ret;
}
"""

CONTRACT = """
[kernel]
isa = "ptx"
[launch]
block = 32
[[param]]
name = "x"
type = "f32"
shape = [4]
[[param]]
name = "y"
type = "f32"
shape = [4]
access = "out"
[[array]]
name = "f"
type = "f32"
shape = [4]
variable = "factors"
[ensures]
formula = "y[i] = x[i] * f[i]"
"""

STEPS = """
[kernel]
isa = "ptx"
[[launch]]
host = "steps.py:copied"
params = ["weight", "f"]
[[launch]]
entry = "k"
block = 32
params = ["x", "y"]
[[param]]
name = "x"
type = "f32"
shape = [4]
[[param]]
name = "weight"
type = "f32"
shape = [4]
[[param]]
name = "f"
type = "f32"
shape = [4]
access = "scratch"
values = [0]
variable = "factors"
[[param]]
name = "y"
type = "f32"
shape = [4]
access = "out"
[ensures]
formula = "y[i] = x[i] * weight[i]"
"""


def verified(folder: Path, contract: str = CONTRACT, kernel: str = KERNEL, copied: str = "weight") -> Result:
    (folder / "k.ptx").write_text(kernel, encoding="utf-8")
    (folder / "k.toml").write_text(contract, encoding="utf-8")
    (folder / "steps.py").write_text(f"def copied(weight):\n    return {{'f': {copied}}}\n", encoding="utf-8")
    return verify(folder / "k.ptx", folder / "k.toml").result


def test_a_variable_holds_what_the_contract_says(tmp_path: Path) -> None:
    assert verified(tmp_path).verdict == "verified"
    shifted = KERNEL.replace("ld.const.f32 %f1, [%rd4]", "ld.const.f32 %f1, [factors]")
    assert verified(tmp_path, kernel=shifted).verdict == "refuted"


def test_what_the_host_does_not_write_is_zero(tmp_path: Path) -> None:
    part = CONTRACT.replace("shape = [4]\nvariable", "shape = [2]\nvariable")
    formula = 'formula = "y[i] = x[i] * where(i < 2, f[min(i, 1)], 0)"'
    zeros = part.replace('formula = "y[i] = x[i] * f[i]"', formula)
    assert verified(tmp_path, zeros).verdict == "verified"
    ones = zeros.replace(", 0)", ", 1)")
    assert verified(tmp_path, ones).verdict == "refuted"


def test_a_step_of_the_host_writes_a_variable(tmp_path: Path) -> None:
    assert verified(tmp_path, STEPS).verdict == "verified"
    assert verified(tmp_path, STEPS, copied="weight[::-1]").verdict == "refuted"
    first = STEPS.index("[[launch]]\nhost")
    second = STEPS.index('[[launch]]\nentry = "k"')
    end = STEPS.index('[[param]]\nname = "x"')
    late = STEPS[:first] + STEPS[second:end] + STEPS[first:second] + STEPS[end:]
    assert verified(tmp_path, late).verdict == "refuted"


@pytest.mark.parametrize(
    ("text", "becomes", "message"),
    [
        ('"factors"', '"factor"', "not a variable in constant memory; there are: factors, table"),
        ('"factors"', '"everywhere"', "everywhere, which is in .global"),
        ("shape = [4]\nvariable", "shape = [5]\nvariable", "f has 20 bytes, the variable factors 16"),
        ('shape = [4]\nvariable = "factors"', 'shape = [1]\nvariable = "table"', "table has initial values"),
        ('variable = "factors"', 'variable = "factors"\naccess = "out"', 'access = "in"'),
        ('variable = "factors"', 'variable = "factors"\nstrides = [2]', "row-major"),
    ],
)
def test_variables_that_do_not_suit_are_named(text: str, becomes: str, message: str, tmp_path: Path) -> None:
    assert CONTRACT.count(text) == 1
    with pytest.raises(InputError, match=message.replace("[", r"\[")):
        verified(tmp_path, CONTRACT.replace(text, becomes))


def test_variables_are_of_ptx_and_of_one_size(tmp_path: Path) -> None:
    with pytest.raises(InputError, match='for isa = "ptx" only'):
        verified(tmp_path, CONTRACT.replace('isa = "ptx"', 'isa = "pto"'))
    sizes = CONTRACT.replace("[launch]", '[sizes]\nN = "any multiple of 32"\n[launch]\ngrid = "N // 32"')
    with pytest.raises(InputError, match="may be any number"):
        verified(tmp_path, sizes.replace("shape = [4]\n[[param]]", 'shape = ["N"]\n[[param]]'))
