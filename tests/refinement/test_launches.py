"""Several launches in one contract, as of split-K with its reduction; workspaces, counters, start values."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.kernel_replay import document_of_kernel, replay
from mmaproof.refinement.verification import Verification, verify
from mmaproof.spec.errors import InputError

SPLIT = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry partial(.param .u64 A, .param .u64 B, .param .u64 W)
{
    .reg .pred %p; .reg .b32 %r<12>; .reg .b64 %d<12>; .reg .f32 %f<4>;
    ld.param.u64 %d1, [A]; ld.param.u64 %d2, [B]; ld.param.u64 %d3, [W];
    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; shr.u32 %r3, %r1, 2; and.b32 %r4, %r1, 3;
    mad.lo.u32 %r5, %r3, 12, 0; mul.lo.u32 %r6, %r2, 4; add.u32 %r7, %r6, 4; mov.f32 %f1, 0f00000000;
NEXT:
    add.u32 %r8, %r5, %r6; mul.wide.u32 %d4, %r8, 4; add.s64 %d4, %d1, %d4; ld.global.f32 %f2, [%d4];
    mad.lo.u32 %r9, %r6, 4, %r4; mul.wide.u32 %d5, %r9, 4; add.s64 %d5, %d2, %d5; ld.global.f32 %f3, [%d5];
    fma.rn.f32 %f1, %f2, %f3, %f1; add.u32 %r6, %r6, 1; setp.lt.u32 %p, %r6, %r7; @%p bra NEXT;
    mad.lo.u32 %r10, %r2, 16, %r1; mul.wide.u32 %d6, %r10, 4; add.s64 %d6, %d3, %d6;
    st.global.f32 [%d6], %f1;
    ret;
}
.visible .entry reduce(.param .u64 W, .param .u64 C)
{
    .reg .b32 %r; .reg .b64 %d<4>; .reg .f32 %f<6>;
    ld.param.u64 %d1, [W]; ld.param.u64 %d2, [C]; mov.u32 %r, %tid.x; mul.wide.u32 %d3, %r, 4;
    add.s64 %d1, %d1, %d3; add.s64 %d2, %d2, %d3;
    ld.global.f32 %f1, [%d1]; ld.global.f32 %f2, [%d1+64]; ld.global.f32 %f3, [%d1+128];
    add.rn.f32 %f4, %f1, %f2; add.rn.f32 %f5, %f4, %f3;
    st.global.f32 [%d2], %f5;
    ret;
}
"""

SPLIT_CONTRACT = """
[kernel]
isa = "ptx"
[sizes]
S = 3
[[launch]]
entry = "partial"
grid = "S"
block = 16
params = ["A", "B", "W"]
[[launch]]
entry = "reduce"
block = 16
params = ["W", "C"]
[[param]]
name = "A"
type = "f32"
shape = [4, "4 * S"]
[[param]]
name = "B"
type = "f32"
shape = ["4 * S", 4]
[[param]]
name = "W"
type = "f32"
shape = ["S", 4, 4]
access = "scratch"
[[param]]
name = "C"
type = "f32"
shape = [4, 4]
access = "out"
[ensures]
formula = "C[i, j] = sum(k, A[i, k] * B[k, j])"
"""

COUNTED = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry counted(.param .u64 A, .param .u64 C, .param .u64 lock)
{
    .reg .b32 %r<4>; .reg .b64 %d<6>; .reg .f32 %f<4>;
    ld.param.u64 %d1, [A]; ld.param.u64 %d2, [C]; ld.param.u64 %d3, [lock];
    mov.u32 %r1, %tid.x; mul.wide.u32 %d4, %r1, 4; add.s64 %d1, %d1, %d4; add.s64 %d2, %d2, %d4;
    ld.global.f32 %f1, [%d1]; ld.global.f32 %f2, [%d2]; add.rn.f32 %f3, %f1, %f2; st.global.f32 [%d2], %f3;
    mov.u32 %r2, 1; red.global.add.u32 [%d3], %r2;
    ret;
}
"""

COUNTED_CONTRACT = """
[kernel]
isa = "ptx"
[launch]
block = 32
[[param]]
name = "A"
type = "f32"
shape = [32]
[[param]]
name = "C"
type = "f32"
shape = [32]
access = "inout"
values = [0]
[[param]]
name = "lock"
type = "u32"
shape = [1]
access = "inout"
values = [5]
[ensures]
formula = ["C[i] = A[i]", "lock[i] = 37"]
"""


def verification(folder: Path, kernel: str, contract: str) -> Verification:
    (folder / "kernel.ptx").write_text(kernel, encoding="utf-8")
    (folder / "kernel.toml").write_text(contract, encoding="utf-8")
    return verify(folder / "kernel.ptx", folder / "kernel.toml")


def test_split_k_with_its_reduction(tmp_path: Path) -> None:
    result = verification(tmp_path, SPLIT, SPLIT_CONTRACT).result
    assert (result.verdict, result.equality) == ("verified", "value")
    assert [output.name for output in result.outputs] == ["C"]
    assert result.stats["threads"] == 64


@pytest.mark.parametrize(
    ("there", "instead", "kind", "launch"),
    [
        (
            "ld.global.f32 %f3, [%d1+128]",
            "ld.global.f32 %f3, [%d1+192]",
            Kind.OUT_OF_BOUNDS,
            "launch 2 of 2, reduce",
        ),
        ("ld.global.f32 %f3, [%d1+128]", "ld.global.f32 %f3, [%d1+64]", Kind.WRONG_VALUE, ""),
        (
            "mad.lo.u32 %r10, %r2, 16, %r1",
            "mad.lo.u32 %r10, %r2, 0, %r1",
            Kind.RACE,
            "launch 1 of 2, partial",
        ),
        ("@%p bra NEXT;", "", Kind.WRONG_VALUE, ""),
        ("st.global.f32 [%d6], %f1;", "", Kind.UNINITIALISED, "launch 2 of 2, reduce"),
        ("st.global.f32 [%d2], %f5;", "st.global.f32 [%d1], %f5;", Kind.MISSING_OUTPUT, ""),
    ],
)
def test_faults_of_a_launch_are_refuted(
    there: str, instead: str, kind: Kind, launch: str, tmp_path: Path
) -> None:
    assert there in SPLIT
    result = verification(tmp_path, SPLIT.replace(there, instead), SPLIT_CONTRACT).result
    assert result.verdict == "refuted"
    found = [finding for finding in result.findings if finding.kind is kind]
    assert found and found[0].message.startswith(launch)


@pytest.mark.parametrize(
    ("there", "instead", "says"),
    [
        (
            "st.global.f32 [%d2], %f5;",
            "st.global.f32 [%d1], %f5;",
            "none of it is written, though launch 2 of 2, reduce takes it",
        ),
        (
            "st.global.f32 [%d2], %f5;",
            "mov.u32 %r, %ctaid.x; setp.eq.u32 %p, %r, 1; @!%p st.global.f32 [%d2], %f5;",
            "in launch 2 of 2, reduce, by the pattern of the written elements, block 1 should write them",
        ),
    ],
)
def test_a_missing_output_says_which_launch_should_have_written_it(
    there: str, instead: str, says: str, tmp_path: Path
) -> None:
    split = SPLIT.replace(there, instead).replace(".reg .b32 %r;", ".reg .pred %p; .reg .b32 %r;")
    contract = SPLIT_CONTRACT
    if "ctaid" in instead:  # four blocks of a row each
        split = split.replace(
            "mov.u32 %r, %tid.x; mul",
            "mov.u32 %r, %ctaid.x; mov.u32 %q, %tid.x; mad.lo.u32 %r, %r, 4, %q; mul",
        )
        split = split.replace(".reg .pred %p; .reg .b32 %r;", ".reg .pred %p; .reg .b32 %r, %q;")
        contract = contract.replace('entry = "reduce"\nblock = 16', 'entry = "reduce"\ngrid = 4\nblock = 4')
    found = verification(tmp_path, split, contract).result.findings
    (missing,) = [each for each in found if each.kind is Kind.MISSING_OUTPUT]
    assert missing.message.endswith(says)


def test_launches_in_the_wrong_order_are_refuted(tmp_path: Path) -> None:
    first, second = (
        SPLIT_CONTRACT.index('[[launch]]\nentry = "p'),
        SPLIT_CONTRACT.index('[[launch]]\nentry = "r'),
    )
    end = SPLIT_CONTRACT.index("[[param]]")
    swapped = "".join(
        SPLIT_CONTRACT[a:b] for a, b in ((0, first), (second, end), (first, second), (end, None))
    )
    result = verification(tmp_path, SPLIT, swapped).result
    assert Kind.UNINITIALISED in {finding.kind for finding in result.findings}


def test_a_counterexample_runs_every_launch(tmp_path: Path) -> None:
    found = verification(tmp_path, SPLIT.replace("[%d1+128]", "[%d1+64]"), SPLIT_CONTRACT)
    assert found.counterexample is not None
    saved = tmp_path / "counterexample.json"
    found.counterexample.save(saved)
    document = document_of_kernel(saved)
    assert document is not None and replay(saved, document).difference is not None


def test_memory_alone_of_every_launch(tmp_path: Path) -> None:
    alone = SPLIT_CONTRACT[: SPLIT_CONTRACT.index("[ensures]")]
    assert verification(tmp_path, SPLIT, alone).result.verdict == "safe"


def test_arrays_with_start_values(tmp_path: Path) -> None:
    assert verification(tmp_path, COUNTED, COUNTED_CONTRACT).result.verdict == "verified"


@pytest.mark.parametrize(
    ("there", "instead"),
    [
        ("values = [0]", "values = [1]"),
        ("values = [5]", "values = [0]"),
        ("values = [5]", "values = [7]"),
        ("values = [0]\n", ""),
    ],
)
def test_other_start_values_are_refuted(there: str, instead: str, tmp_path: Path) -> None:
    assert there in COUNTED_CONTRACT
    result = verification(tmp_path, COUNTED, COUNTED_CONTRACT.replace(there, instead)).result
    assert result.verdict == "refuted"


def test_a_workspace_may_be_zeroed(tmp_path: Path) -> None:
    scratch = COUNTED_CONTRACT.replace('"inout"\nvalues = [5]', '"scratch"\nvalues = [0]')
    scratch = scratch.replace('["C[i] = A[i]", "lock[i] = 37"]', '"C[i] = A[i]"')
    assert verification(tmp_path, COUNTED, scratch).result.verdict == "verified"
    result = verification(tmp_path, COUNTED, scratch.replace("values = [0]\n[ens", "[ens")).result
    assert {finding.kind for finding in result.findings} == {Kind.UNINITIALISED}


@pytest.mark.parametrize(
    ("there", "instead", "message"),
    [
        ('params = ["W", "C"]', 'params = ["W", "D"]', "there is no parameter 'D'; there are: A, B, W, C"),
        ('params = ["W", "C"]', 'params = ["W"]', "no launch takes C"),
        ('params = ["W", "C"]', "params = 3", "params must be a list of names"),
        ('entry = "reduce"', 'entry = "reduce"\nwarps = 2', "unknown key 'warps'"),
        ('isa = "ptx"', 'isa = "ptx"\nentry = "partial"', "every \\[\\[launch\\]\\] of several has an entry"),
        ("A[i, k] * B", "W[i, k, 0] * B", 'W has access "scratch"'),
        ('access = "out"', 'access = "out"\nvalues = [1]', 'access = "out" has no given values'),
        ("C[i, j] =", "W[i, j, 0] =", "W"),
    ],
)
def test_descriptions_that_do_not_suit(there: str, instead: str, message: str) -> None:
    assert there in SPLIT_CONTRACT
    with pytest.raises(InputError, match=message) as raised:
        parse_contract(SPLIT_CONTRACT.replace(there, instead), "c.toml")
    assert str(raised.value).startswith("c.toml:")


def test_no_launch_at_all() -> None:
    text = SPLIT_CONTRACT[SPLIT_CONTRACT.index("[[param]]") :]
    with pytest.raises(InputError, match="launch is an empty list"):
        parse_contract('launch = []\n[kernel]\nisa = "ptx"\n[sizes]\nS = 3\n' + text, "c.toml")


NAIVE = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry product(.param .u64 A, .param .u64 B, .param .u64 C)
{
    .reg .pred %p; .reg .b32 %r<12>; .reg .b64 %d<12>; .reg .f32 %f<4>;
    ld.param.u64 %d1, [A]; ld.param.u64 %d2, [B]; ld.param.u64 %d3, [C];
    mov.u32 %r1, %tid.x; shr.u32 %r3, %r1, 2; and.b32 %r4, %r1, 3; mul.lo.u32 %r5, %r3, 12;
    mov.u32 %r6, 0; mov.f32 %f1, 0f00000000;
NEXT:
    add.u32 %r8, %r5, %r6; mul.wide.u32 %d4, %r8, 4; add.s64 %d4, %d1, %d4; ld.global.f32 %f2, [%d4];
    mad.lo.u32 %r9, %r6, 4, %r4; mul.wide.u32 %d5, %r9, 4; add.s64 %d5, %d2, %d5; ld.global.f32 %f3, [%d5];
    fma.rn.f32 %f1, %f2, %f3, %f1; add.u32 %r6, %r6, 1; setp.lt.u32 %p, %r6, 12; @%p bra NEXT;
    mul.wide.u32 %d6, %r1, 4; add.s64 %d6, %d3, %d6; st.global.f32 [%d6], %f1;
    ret;
}
"""

PARAMETERS = SPLIT_CONTRACT[SPLIT_CONTRACT.index("[[param]]") : SPLIT_CONTRACT.index("[ensures]")]
ONE, TWO = ("[{}]\nblock = 16\n", SPLIT_CONTRACT.split("S = 3\n")[1].split("[[param]]", maxsplit=1)[0])


def compared(folder: Path, new: str, old: str, contract: str) -> Verification:
    (folder / "new.ptx").write_text(new, encoding="utf-8")
    (folder / "old.ptx").write_text(old, encoding="utf-8")
    (folder / "pair.toml").write_text(contract, encoding="utf-8")
    return verify(folder / "new.ptx", folder / "pair.toml", against=folder / "old.ptx")


@pytest.mark.parametrize("several_new", [True, False])
def test_several_launches_are_compared_with_one(several_new: bool, tmp_path: Path) -> None:
    """A product in slices of K and their sum, with a kernel of one launch, whichever is the new one."""
    new, old = (SPLIT, NAIVE) if several_new else (NAIVE, SPLIT)
    owner = "new" if several_new else "old"
    launches = TWO if several_new else ONE.format("launch")
    launches += ONE.format("against") if several_new else TWO.replace("[[launch]]", "[[against]]")
    workspace = PARAMETERS.replace('access = "scratch"', f'access = "scratch"\nkernel = "{owner}"')
    contract = f'[kernel]\nisa = "ptx"\n[sizes]\nS = 3\n{launches}{workspace}'
    result = compared(tmp_path, new, old, contract).result
    assert (result.verdict, result.equality, result.findings) == ("verified", "value", ())
    faulty = new.replace("fma.rn.f32 %f1, %f2, %f3", "fma.rn.f32 %f1, %f2, %f2")
    wrong = compared(tmp_path, faulty, old, contract)
    assert wrong.result.verdict == "refuted"
    assert wrong.counterexample is not None
    document = wrong.counterexample.document()
    assert replay(tmp_path / "saved.json", document).difference == wrong.counterexample.difference


def test_several_launches_are_compared_with_several(tmp_path: Path) -> None:
    both = (
        f'[kernel]\nisa = "ptx"\n[sizes]\nS = 3\n{TWO}{TWO.replace("[[launch]]", "[[against]]")}{PARAMETERS}'
    )
    reordered = SPLIT.replace("%f4, %f1, %f2", "%f4, %f3, %f2").replace("%f5, %f4, %f3", "%f5, %f4, %f1")
    result = compared(tmp_path, reordered, SPLIT, both).result
    assert (result.verdict, result.equality) == ("verified", "value")
    with pytest.raises(InputError, match="no launch takes B"):
        parse_contract(both.replace('params = ["A", "B", "W"]', 'params = ["A", "W"]', 2))
    lacking = both.split("[[against]]", maxsplit=1)[0] + '[against]\nentry = "reduce"\n' + PARAMETERS
    with pytest.raises(InputError, match="a grid and a block of its own"):
        parse_contract(lacking)


HOSTED_CONTRACT = """
[kernel]
isa = "ptx"
[sizes]
S = 3
[[launch]]
host = "steps.py:turned"
source = "module.py:7"
params = ["T", "A"]
[[launch]]
entry = "partial"
grid = "S"
block = 16
params = ["A", "B", "W"]
[[launch]]
host = "steps.py:summed"
params = ["W", "C"]
[[param]]
name = "T"
type = "f32"
shape = ["4 * S", 4]
[[param]]
name = "A"
type = "f32"
shape = [4, "4 * S"]
access = "scratch"
[[param]]
name = "B"
type = "f32"
shape = ["4 * S", 4]
[[param]]
name = "W"
type = "f32"
shape = ["S", 4, 4]
access = "scratch"
[[param]]
name = "C"
type = "f32"
shape = [4, 4]
access = "out"
[ensures]
formula = "C[i, j] = sum(k, T[k, i] * B[k, j])"
"""

STEPS = """
import numpy as np

def turned(T):
    return {"A": T.T}

def summed(W):
    return {"C": (np.arange(16), W.sum(axis=0).reshape(16))}
"""


def hosted(folder: Path, steps: str) -> Verification:
    (folder / "steps.py").write_text(steps, encoding="utf-8")
    return verification(folder, SPLIT, HOSTED_CONTRACT)


def test_steps_of_the_host_between_launches(tmp_path: Path) -> None:
    found = hosted(tmp_path, STEPS)
    assert (found.result.verdict, found.result.equality) == ("verified", "value")


@pytest.mark.parametrize(
    ("there", "instead", "verdict"),
    [
        ("W.sum(axis=0)", "(W[0] + W[1])", "refuted"),  # a part is left out
        ("T.T", "np.roll(T.T, 1, axis=1)", "refuted"),
        (
            "np.arange(16), W.sum(axis=0).reshape(16)",
            "np.arange(15), W.sum(axis=0).reshape(16)[:15]",
            "refuted",
        ),
        ("W.sum(axis=0)", "(2 * W.sum(axis=0) / 2)", "verified"),
    ],
)
def test_faults_of_steps_of_the_host_are_refuted(
    there: str, instead: str, verdict: str, tmp_path: Path
) -> None:
    assert there in STEPS
    assert hosted(tmp_path, STEPS.replace(there, instead)).result.verdict == verdict


def test_a_step_that_reads_what_nobody_wrote(tmp_path: Path) -> None:
    steps = STEPS.replace('"A": T.T', '"A": (np.arange(47), T.T.reshape(48)[:47])')
    assert hosted(tmp_path, steps).result.verdict == "refuted"


@pytest.mark.parametrize(
    ("there", "instead", "message"),
    [
        ('host = "steps.py:turned"', 'host = "steps.py:turned"\nblock = 16', "block is not allowed"),
        ('host = "steps.py:turned"\n', 'entry = "partial"\n', "is for host steps only"),
    ],
)
def test_steps_that_are_no_launches(there: str, instead: str, message: str) -> None:
    assert there in HOSTED_CONTRACT
    with pytest.raises(InputError, match=message):
        parse_contract(HOSTED_CONTRACT.replace(there, instead))


def test_a_step_may_write_only_what_it_takes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="writes B, which is not an array that it may write"):
        hosted(tmp_path, STEPS.replace('"A": T.T', '"B": T'))
