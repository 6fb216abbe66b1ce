"""Names that are no registers, where instructions take registers or addresses: what ptxas 13.0 refuses."""

from __future__ import annotations

import pytest

from mmaproof.refinement.ptx.module_legality import judge_text
from mmaproof.spec.errors import InputError
from mmaproof.spec.instruction_set import read

MODULE = """.version 8.6
.target sm_90a
.address_size 64
.global .align 64 .b8 far[128];
.const .align 64 .b8 fixed[128];
.visible .entry k(.param .align 64 .b8 map[128]) {{
  .reg .b32 r<9>; .reg .f32 f<9>; .reg .b64 rd<4>; .reg .pred p;
  .shared .align 128 .b8 tile[4096]; .shared .align 8 .b64 bar;
here:
  {};
  ret;
}}
"""
LDMATRIX = "ldmatrix.sync.aligned.m8n8.x1"
MMA = "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32"
WGMMA = "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {f0, f1, f2, f3}"
COPY = "cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes"


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f"{MMA} {{r0, r1}}, {{tile}}, {{r2}}, {{r0, r1}}", "register-class"),
        (f"{MMA} {{r0, r1}}, {{r2}}, {{k}}, {{r0, r1}}", "register-class"),
        (f"{MMA} {{r0, here}}, {{r2}}, {{r3}}, {{r0, r1}}", "register-class"),
        ("movmatrix.sync.aligned.m8n8.trans.b16 r0, %laneid", "register-class"),
        ("wmma.load.a.sync.aligned.row.m16n16k16.shared.s8 {r0, r1}, [r2], tile", "register-class"),
        (f"{WGMMA}, tile, rd0, p, 1, 1, 0, 0", "register-class"),
        (f"{WGMMA}, rd0, rd1, %is_explicit_cluster, 1, 1, 0, 0", "register-class"),
        (f"{LDMATRIX}.shared.b16 {{r0}}, [%tid.x]", "register-class"),
        (f"{LDMATRIX}.b16 {{r0}}, [k]", "register-class"),
        (f"{LDMATRIX}.b16 {{r0}}, [here]", "register-class"),
        (f"{LDMATRIX}.b16 {{r0}}, [map]", "address-space"),
        (f"{LDMATRIX}.b16 {{r0}}, [fixed]", "address-space"),
        ("mbarrier.init.shared.b64 [bar], %laneid", "async-register"),
        ("mbarrier.init.shared.b64 [%laneid], 1", "async-register"),
        ("mbarrier.init.shared.b64 [bar], here", "async-register"),
        ("mbarrier.test_wait.shared.b64 tile, [bar], rd0", "async-register"),
        ("elect.sync _|tile, -1", "async-register"),
        ("elect.sync %laneid|p, -1", "async-register"),
        (f"{COPY} [tile], [rd0, {{far}}], [bar]", "async-register"),
        (f"{COPY} [tile], [map, {{r0}}], [bar]", "async-space"),
        (f"{COPY} [tile], [fixed, {{r0}}], [bar]", "async-space"),
        ("prefetch.tensormap [map]", "async-space"),
    ],
)
def test_what_is_no_register_and_no_generic_address_is_illegal(text: str, rule: str) -> None:
    judgement = judge_text(MODULE.format(text), "k.ptx", None, None)
    assert [each.rule.id for each in judgement.violations] == [rule]


@pytest.mark.parametrize(
    "text",
    [
        f"{MMA} {{r0, r1}}, {{%laneid}}, {{r2}}, {{%tid.x, r1}}",
        f"{LDMATRIX}.b16 {{r0}}, [tile+16]",
        f"{LDMATRIX}.b16 {{r0}}, [far]",
        f"{COPY} [tile], [far, {{%ctaid.x}}], [bar]",
        "prefetch.param.tensormap [map]",
        "prefetch.tensormap [far]",
        "mapa.shared::cluster.u32 r0, bar, 1",
        f"{{ .reg .b32 %laneid; {LDMATRIX}.b16 {{r0}}, [%laneid]; }} {LDMATRIX}.b16 {{r0}}, [rd0]",
    ],
)
def test_names_that_ptxas_takes_are_legal(text: str) -> None:
    judgement = judge_text(MODULE.format(text), "k.ptx", None, None)
    assert judgement.violations == () and judgement.is_judged


@pytest.mark.parametrize("registers", [None, "%r<9>:b32, tile:shared"])
@pytest.mark.parametrize("instruction", ["add.u32 %r1, %tid.x, 1", "mbarrier.init.shared.b64 [%r1], %laneid"])
def test_special_registers_in_one_instruction(instruction: str, registers: str | None) -> None:
    (wrong,) = read(instruction, None, registers).legal().violations
    assert wrong.rule.id.endswith("-register") and "of .special" in wrong.message


def test_scalar_instructions_take_no_variables() -> None:
    (wrong,) = read("add.u32 %r1, tile, 1", None, "%r<9>:b32, tile:shared").legal().violations
    assert wrong.message == "a is of .u32, not tile of .shared"


def test_there_are_no_empty_statements() -> None:
    with pytest.raises(InputError, match="not ';'"):
        judge_text(MODULE.format(f"{LDMATRIX}.b16 {{r0}}, [rd0];"), "k.ptx", None, None)
