"""PTO kernels with one fault each are refuted for that fault."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest
from frozen_table import cheapest, frozen

from mmaproof.refinement.findings.finding import Kind
from tests.pto_kernels import contract_of, line_of, text_of, verified


class Fault(NamedTuple):
    """A fault of a kernel.

    Attributes
    ----------
    kernel : str
        Its name.
    replacements : tuple of (str, str)
        What is wrong in its text.
    kind : Kind
        What is to be found.
    message : str
        A part of the message.
    at : str
        A piece of the line at fault; empty where the line is not looked at.
    """

    kernel: str
    replacements: tuple[tuple[str, str], ...]
    kind: Kind
    message: str = ""
    at: str = ""


_ACC = "pto.tmatmul.acc ins(%c, %a, %b : !acc, !left, !right)"
_WAIT = "pto.wait_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID2>]"
_C4 = "%c4 = arith.constant 4 : index"
_FIRST = "[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]"
_NZ = "rows=64, cols=32, v_row=?, v_col=?, blayout=col_major, slayout=row_major"
_B = "%b = pto.alloc_tile valid_row = %k"
_STEPS = "%steps = arith.divsi %k, %step : index"

FAULTS = {
    "tmatmul in place of tmatmul.acc": Fault(
        "blocks_f16", ((_ACC, "pto.tmatmul ins(%a, %b : !left, !right)"),), Kind.WRONG_VALUE, "lacks A[0,0]"
    ),
    "bias at every step": Fault(
        "split_k_bias_f16",
        ((_ACC, "pto.tmatmul.bias ins(%a, %b, %bias : !left, !right, !bias)"),),
        Kind.WRONG_VALUE,
        "if has_bias = 1",
    ),
    "bias of the step before": Fault(
        "split_k_bias_f16",
        (("scf.if %first {\n        scf.if %has_bias", "scf.if %has_bias {\n        scf.if %first"),),
        Kind.WRONG_VALUE,
    ),
    "textract of another slice": Fault(
        "panels_bf16",
        (("pto.textract ins(%b_l1, %k_slice, %c0", "pto.textract ins(%b_l1, %c0, %c0"),),
        Kind.WRONG_VALUE,
        "B[0,0]",
    ),
    "textract between blocks": Fault(
        "panels_bf16",
        (
            (_C4, f"{_C4}\n    %c24 = arith.constant 24 : index"),
            ("pto.textract ins(%b_l1, %k_slice, %c0", "pto.textract ins(%b_l1, %c24, %c0"),
        ),
        Kind.ILLEGAL,
        "extract-alignment",
        "pto.textract ins(%b_l1",
    ),
    "no wait for L0": Fault(
        "panels_bf16", ((_WAIT, ""),), Kind.RACE, "nothing makes M wait for MTE1", "pto.tmatmul ins"
    ),
    "no wait for the slot of L1": Fault(
        "panels_bf16",
        (("        pto.wait_flag[<PIPE_MTE1>, <PIPE_MTE2>, <EVENT_ID1>]\n", ""),),
        Kind.UNDEFINED,
        "set already",
    ),
    "no set": Fault(
        "panels_bf16",
        (("pto.set_flag[<PIPE_MTE1>, <PIPE_M>, <EVENT_ID2>]", ""),),
        Kind.DEADLOCK,
        "M waits for EVENT_ID2 of MTE1",
        _WAIT,
    ),
    "flags not primed": Fault(
        "panels_bf16",
        ((f"    pto.set_flag{_FIRST}\n    pto.set_flag[<PIPE_M>", "    pto.set_flag[<PIPE_M>"),),
        Kind.DEADLOCK,
        "MTE1 waits for EVENT_ID0 of M",
    ),
    "flags not drained": Fault(
        "panels_bf16",
        ((f"    pto.wait_flag{_FIRST}\n    pto.wait_flag[<PIPE_M>", "    pto.wait_flag[<PIPE_M>"),),
        Kind.UNDEFINED,
        "still set at the end",
    ),
    "one slot for two": Fault(
        "panels_bf16",
        (("%left_at = arith.select %second, %at4k, %at0", "%left_at = arith.select %second, %at0, %at0"),),
        Kind.RACE,
        "textract writes",
    ),
    "events of the wrong operation": Fault(
        "transposed_s8",
        (("<TMATMUL>, <TSTORE_ACC>", "<TLOAD>, <TSTORE_ACC>"),),
        Kind.RACE,
        "tstore reads",
        "pto.tstore",
    ),
    "too many valid rows": Fault(
        "ragged_f32",
        (("%height = arith.minsi %rows_left, %step", "%height = arith.maxsi %step, %step"),),
        Kind.OUT_OF_BOUNDS,
    ),
    "too few valid columns": Fault(
        "ragged_f32",
        ((f"{_B} valid_col = %width", f"{_B} valid_col = %c1"),),
        Kind.UNINITIALISED,
    ),
    "K loop one short": Fault(
        "split_k_bias_f16",
        ((_STEPS, f"{_STEPS.replace('steps', 'all')}\n    %steps = arith.subi %all, %c1 : index"),),
        Kind.WRONG_VALUE,
        "lacks A[0,96]*B[96,0]",
    ),
    "offset of a partition": Fault(
        "blocks_f16",
        (("offsets = [%t, %column]", "offsets = [%t, %row]"),),
        Kind.WRONG_VALUE,
    ),
    "partition beyond the array": Fault(
        "split_k_bias_f16",
        (("offsets = [%at, %c0], sizes = [%step, %n]", "offsets = [%at, %c1], sizes = [%step, %n]"),),
        Kind.OUT_OF_BOUNDS,
        "B[128,0]",
    ),
    "pitch of a partial tile": Fault(
        "ragged_f32",
        (("fractal=1024, compact=1>", "fractal=1024>"),),
        Kind.ILLEGAL,
        "pitch",
        "pto.tmatmul",
    ),
    "blocks that write one place": Fault(
        "blocks_f16",
        (("%c_view, offsets = [%row, %column]", "%c_view, offsets = [%c0, %column]"),),
        Kind.RACE,
        "nothing orders the blocks",
    ),
    "blocks that take the same rows": Fault(
        "blocks_f16",
        (("%row = arith.muli %row_block, %step", "%row = arith.muli %c0, %step"),),
        Kind.MISSING_OUTPUT,
        "is never written",
    ),
    "accumulator too large": Fault(
        "blocks_f16",
        (("!acc = !pto.tile_buf<acc, 64x64xf32", "!acc = !pto.tile_buf<acc, 512x256xf32, valid=64x64"),),
        Kind.ILLEGAL,
        "capacity",
    ),
    "gain of rows": Fault(
        "gated_f32", (("pto.tcolexpandmul", "pto.trowexpandmul"),), Kind.OUT_OF_BOUNDS, "of %gain_vec"
    ),
    "insertion at the first row": Fault(
        "chained_f16",
        (("pto.tinsert ins(%part, %i, %c0", "pto.tinsert ins(%part, %c0, %c0"),),
        Kind.UNINITIALISED,
        "buffer of %mid",
        "pto.tmov ins(%mid",
    ),
    "bytes in another order": Fault(
        "aliased_s8",
        (("rows=64, cols=32, v_row=?, v_col=?, blayout=row_major, slayout=col_major", _NZ),),
        Kind.WRONG_VALUE,
    ),
    "a tile too many taken": Fault(
        "two_cores_bf16",
        (("%c3 = arith.constant 3 : index", "%c3 = arith.constant 4 : index"),),
        Kind.DEADLOCK,
        "the other core never pushes",
    ),
    "a tile never taken": Fault(
        "two_cores_bf16",
        (("%c3 = arith.constant 3 : index", "%c3 = arith.constant 2 : index"),),
        Kind.UNDEFINED,
        "never takes it",
        "pto.tpush_to_aiv",
    ),
    "a tile among those pushed": Fault(
        "two_cores_bf16",
        (("%c10240_i64 = arith.constant 10240", "%c10240_i64 = arith.constant 6144"),),
        Kind.ILLEGAL,
        "reserves",
        "%sum = pto.alloc_tile",
    ),
    "scale factors of the first step": Fault(
        "mx_e4m3", (("%sa_view, offsets = [%c0, %g]", "%sa_view, offsets = [%c0, %c0]"),), Kind.WRONG_VALUE
    ),
}


def test_the_frozen_verdicts_are_those_of_the_faults() -> None:
    """``tests/tools/test_frozen_verdicts.py`` verifies the kernels."""
    for name, fault in FAULTS.items():
        verdict, _, kinds = frozen("PTO faults", name)
        assert verdict == "refuted" and fault.kind in kinds, name


@pytest.mark.parametrize(
    "name", cheapest("PTO faults", FAULTS, lambda name: (FAULTS[name].kind, bool(FAULTS[name].at)))
)
def test_a_fault_is_found(tmp_path: Path, name: str) -> None:
    fault = FAULTS[name]
    text = text_of(fault.kernel, *fault.replacements)
    found = verified(tmp_path, text, contract_of(fault.kernel, "A5", first_sizes=True)).result
    assert found.verdict == "refuted"
    alike = [
        finding
        for finding in found.findings
        if finding.kind is fault.kind and fault.message in finding.message
    ]
    assert alike, found.findings
    if fault.at:
        assert alike[0].line == line_of(text, fault.at)
