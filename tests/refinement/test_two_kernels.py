"""Two kernels compared: equal for all data, to the bit or over the reals, or a difference with numbers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from document_schemas import validate

from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.kernel_replay import replay
from mmaproof.refinement.verification import Verification, verify
from mmaproof.spec.errors import InputError

from ..command_line import mmaproof
from ..contract_texts import contract_text
from ..cuda_contracts import CORPUS as CUDA
from ..cuda_contracts import contract_of
from ..elementwise_kernels import THREADS, kernel_text

ARRAYS = {"A": "f32", "B": "f32", "C": "f32 out"}
KINDS = {name: (words.split()[0], words.endswith("out")) for name, words in ARRAYS.items()}


def compared(folder: Path, new: str, old: str, *, more: str = "", **extents: str) -> Verification:
    """Compare kernels of one thread for each element, written as `elementwise_kernels.kernel_text` has it."""
    for name, body in (("new", new), ("old", old)):
        (folder / f"{name}.ptx").write_text(kernel_text(body, KINDS, "sm_90"), encoding="utf-8")
    arrays = {name: f"{kind} {THREADS} {'out' if out else 'in'}" for name, (kind, out) in KINDS.items()}
    text = contract_text("x", arrays).split("[ensures]")[0]
    launch = f"[launch]\ngrid = 1\nblock = {THREADS}\n"
    (folder / "pair.toml").write_text(f"{launch}{more}\n{text}", encoding="utf-8")
    found = verify(folder / "new.ptx", folder / "pair.toml", against=folder / "old.ptx")
    validate("verify", json.loads(json.dumps(found.result.document())))
    return found


SUM = "add.rn.f32 %C, %A, %B;"


def test_the_same_operations_are_the_same_bits(tmp_path: Path) -> None:
    result = compared(tmp_path, "add.rn.f32 %f0, %B, %A; mov.b32 %C, %f0;", SUM).result
    assert (result.verdict, result.equality, result.findings) == ("verified", "bits", ())
    (coverage,) = result.outputs
    assert coverage.covered == THREADS
    assert result.stats["runs"]["elements"] >= 5 * THREADS


def test_another_order_is_equal_over_the_reals_with_both_bounds(tmp_path: Path) -> None:
    new = "mul.rn.f32 %f0, %A, %A; mul.rn.f32 %f1, %B, %A; add.rn.f32 %C, %f0, %f1;"
    old = "add.rn.f32 %f0, %A, %B; mul.rn.f32 %C, %f0, %A;"
    result = compared(tmp_path, new, old).result
    assert (result.verdict, result.equality) == ("verified", "value")
    assert result.bound is not None and f"of {tmp_path / 'old.ptx'}: |computed" in result.bound
    demanded = compared(tmp_path, new, old, more='[against]\nequality = "bits"').result
    assert demanded.verdict == "refuted" and demanded.findings[0].kind is Kind.WRONG_VALUE
    assert (
        "equal over the reals only, but the contract demands bits: on inputs" in demanded.findings[0].message
    )


TAKE = "mov.b32 %r1, %f0; {}; mov.b32 %C, %r1;"
ORDERS = [
    "mul.rn.f32 %f0, %A, %A; fma.rn.f32 %f0, %B, %A, %f0;",
    "add.rn.f32 %f0, %A, %B; mul.rn.f32 %f0, %f0, %A;",
]


@pytest.mark.parametrize(
    "taken",
    ["and.b32 %r1, %r1, 1", "shl.b32 %r1, %r1, 9", "mul.lo.s32 %r1, %r1, 77", "bfe.u32 %r1, %r1, 3, 22"],
)
def test_what_rounding_leaves_of_the_lowest_bits_is_not_the_same_in_another_order(
    taken: str, tmp_path: Path
) -> None:
    new, old = (f"{order} {TAKE.format(taken)}" for order in ORDERS)
    assert compared(tmp_path, new, old).result.verdict != "verified"
    assert compared(tmp_path, new, new).result.equality == "bits"


@pytest.mark.parametrize("taken", ["and.b32 %r1, %r1, 0xFFFF0000", "shr.u32 %r1, %r1, 23"])
def test_that_no_rounding_turns_the_highest_bits_is_a_hypothesis(taken: str, tmp_path: Path) -> None:
    new, old = (f"{order} {TAKE.format(taken)}" for order in ORDERS)
    result = compared(tmp_path, new, old).result
    assert result.verdict == "verified"
    assert any(
        "no rounding changes the outcome of an operation on the bits of a number" in hypothesis.statement
        for hypothesis in result.hypotheses
    )


def test_a_difference_names_both_lines_and_replays(tmp_path: Path) -> None:
    found = compared(tmp_path, "sub.rn.f32 %C, %A, %B;", SUM)
    assert found.result.verdict == "refuted"
    first = found.result.findings[0]
    assert first.kind is Kind.WRONG_VALUE and "old.ptx:" in first.message and first.file.endswith("new.ptx")
    assert found.counterexample is not None
    document = json.loads(json.dumps(found.counterexample.document()))
    validate("kernel-counterexample", document)
    again = replay(tmp_path / "saved.json", document)
    assert again.difference == found.counterexample.difference


@pytest.mark.parametrize(
    ("new", "old", "kind"),
    [
        (SUM, f"setp.lt.u32 %p0, %t, 7; @%p0 ret; {SUM}", Kind.CLOBBERED),
        (f"setp.lt.u32 %p0, %t, 7; @%p0 ret; {SUM}", SUM, Kind.MISSING_OUTPUT),
    ],
)
def test_what_only_one_of_them_writes(new: str, old: str, kind: Kind, tmp_path: Path) -> None:
    result = compared(tmp_path, new, old).result
    assert result.verdict == "refuted"
    assert kind in {finding.kind for finding in result.findings}


def test_what_both_leave_is_not_compared(tmp_path: Path) -> None:
    some = f"setp.lt.u32 %p0, %t, 7; @%p0 ret; {SUM}"
    result = compared(tmp_path, some, some.replace("%A, %B", "%B, %A")).result
    assert result.verdict == "verified"
    assert result.outputs[0].covered == THREADS - 7


def test_a_faulty_kernel_to_compare_with_decides_nothing(tmp_path: Path) -> None:
    result = compared(tmp_path, SUM, f"ld.global.b32 %A, [%at0+4]; {SUM}").result
    assert result.verdict == "undecided"
    assert "a finding of its own" in result.findings[0].message


def test_kernels_of_other_launches_and_parameters(tmp_path: Path) -> None:
    """A tiled product of Tensor Cores against one thread for each element of the result."""
    naive = """
.version 8.0
.target sm_80
.address_size 64
.visible .entry naive(
    .param .u64 a, .param .u64 b, .param .u64 c, .param .u32 n, .param .u32 k, .param .u32 ld)
{
    .reg .pred %p; .reg .b32 %r<16>; .reg .b64 %d<16>; .reg .b16 %h<4>; .reg .f32 %f<4>;
    ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [c];
    ld.param.u32 %r1, [n]; ld.param.u32 %r2, [k]; ld.param.u32 %r9, [ld];
    mov.u32 %r3, %ctaid.x; mov.u32 %r4, %tid.x;
    mov.f32 %f1, 0f00000000; mov.u32 %r5, 0;
LOOP:
    mad.lo.u32 %r6, %r3, %r2, %r5; mul.wide.u32 %d4, %r6, 2; add.u64 %d4, %d4, %d1; ld.global.b16 %h1, [%d4];
    mad.lo.u32 %r7, %r5, %r1, %r4; mul.wide.u32 %d5, %r7, 2; add.u64 %d5, %d5, %d2; ld.global.b16 %h2, [%d5];
    cvt.f32.f16 %f2, %h1; cvt.f32.f16 %f3, %h2; fma.rn.f32 %f1, %f2, %f3, %f1;
    add.u32 %r5, %r5, 1; setp.lt.u32 %p, %r5, %r2; @%p bra LOOP;
    mad.lo.u32 %r8, %r3, %r9, %r4; mul.wide.u32 %d6, %r8, 4; add.u64 %d6, %d6, %d3; st.global.f32 [%d6], %f1;
    ret;
}
"""
    (tmp_path / "naive.ptx").write_text(naive, encoding="utf-8")
    whole = contract_of("mma_f16_sm80.ptx").read_text(encoding="utf-8").split("[ensures]")[0]
    sizes = "[sizes]\nM = 64\nN = 64\nK = 32\n"
    head, _, rest = whole.partition("[[sizes]]")
    parameters = rest[rest.index("[[param]]") :] if rest else whole[whole.index("[[param]]") :]
    head = head if rest else whole[: whole.index("[sizes]")]
    more = '[against]\nentry = "naive"\ngrid = "M"\nblock = "N"\n'
    last = '[[param]]\nname = "ld"\ntype = "u32"\nvalue = "N"\nkernel = "old"\n'
    contract = tmp_path / "pair.toml"
    contract.write_text("\n".join([head, more, sizes, parameters, last]), encoding="utf-8")
    told = mmaproof(
        "verify", CUDA / "mma_f16_sm80.ptx", "--against", tmp_path / "naive.ptx", "--contract", contract
    )
    assert told.status == 0, told.out + told.err
    assert "verified (value)" in told.out
    contract.write_text(contract.read_text(encoding="utf-8").replace('block = "N"', 'block = "N - 1"'))
    told = mmaproof(
        "verify", CUDA / "mma_f16_sm80.ptx", "--against", tmp_path / "naive.ptx", "--contract", contract
    )
    assert told.status == 1 and "leaves" in told.out


def test_formulas_and_another_kernel_exclude_each_other(tmp_path: Path) -> None:
    contract = contract_of("mma_f16_sm80.ptx")
    with pytest.raises(InputError, match=r"has no \[ensures\]"):
        verify(CUDA / "mma_f16_sm80.ptx", contract, against=CUDA / "mma_f16_sm80.ptx")


ONE_SIDED = """
[kernel]
isa = "ptx"
[[param]]
name = "A"
type = "f32"
shape = [32]
[[param]]
name = "C"
type = "f32"
shape = [32]
access = "out"
{}
"""


@pytest.mark.parametrize(
    "parameter",
    [
        'name = "D"\ntype = "f32"\nshape = [32]\nkernel = "old"',
        'name = "D"\ntype = "f32"\nshape = [32]\naccess = "out"\nkernel = "new"',
        'name = "x"\ntype = "f32"\nkernel = "old"',
        'name = "n"\ntype = "s32"\nvalue = "any"\nkernel = "new"',
    ],
)
def test_data_of_one_kernel_only_can_not_be_compared(parameter: str) -> None:
    with pytest.raises(InputError, match="kernel only: two kernels are compared on the same data"):
        parse_contract(ONE_SIDED.format(f"[[param]]\n{parameter}"))


def test_a_workspace_may_be_one_kernels(tmp_path: Path) -> None:
    scratch = '[[param]]\nname = "W"\ntype = "f32"\nshape = [32]\naccess = "scratch"\nkernel = "new"'
    kinds = {"A": ("f32", False), "C": ("f32", True), "W": ("f32", True)}
    body = "mov.b32 %C, %A; mov.b32 %W, %A;"
    (tmp_path / "new.ptx").write_text(kernel_text(body, kinds, "sm_90"), encoding="utf-8")
    del kinds["W"]
    (tmp_path / "old.ptx").write_text(kernel_text("mov.b32 %C, %A;", kinds, "sm_90"), encoding="utf-8")
    text = ONE_SIDED.format(scratch).replace("[[param]]", "[launch]\nblock = 32\n[[param]]", 1)
    (tmp_path / "pair.toml").write_text(text, encoding="utf-8")
    found = verify(tmp_path / "new.ptx", tmp_path / "pair.toml", against=tmp_path / "old.ptx")
    assert found.result.verdict == "verified"
    assert [output.name for output in found.result.outputs] == ["C"]


def test_nothing_to_compare_is_wrong_use(tmp_path: Path) -> None:
    contract = tmp_path / "pair.toml"
    contract.write_text(ONE_SIDED.format("").replace('access = "out"', ""), encoding="utf-8")
    with pytest.raises(InputError, match="nothing can be compared"):
        verify(CUDA / "simt_f32_sm80.ptx", contract, against=CUDA / "simt_f32_sm80.ptx")


def test_a_key_that_the_other_launch_lacks_is_that_of_the_first() -> None:
    """The kernels have grids of their own, and one block."""
    launches = "[launch]\ngrid = 2\nblock = [8, 4]\ndynamic_shared = 64\n[against]\ngrid = 3\n"
    contract = parse_contract('[kernel]\nisa = "ptx"\n[sizes]\nN = 1\n' + launches, "contract.toml")
    former = contract.former.launch
    assert [[each.source.text for each in extents] for extents in (former.grid, former.block)] == [
        ["3"],
        ["8", "4"],
    ]
    assert former.dynamic_shared == contract.launch.dynamic_shared
