"""What orders elements of one instruction, and an accumulator's products and stores: overlaps, unit flags."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings.finding import Kind
from tests.pto_kernels import contract_of, text_of, verified
from tests.refinement.pto.test_pto_statements import (
    COLUMN,
    CONTRACT,
    ROW,
    TURNED,
    TWO,
    VEC,
    copying,
    op,
)

_PLACED = (
    "%one = arith.constant 1.0 : f32",
    "%a0 = arith.constant 0 : i64",
    "%a1 = arith.constant 128 : i64",
    f"%p = pto.alloc_tile addr = %a0 : {VEC}",
    f"%s = pto.alloc_tile addr = %a1 : {VEC}",
    f"%z = pto.alloc_tile addr = %a0 : {VEC}",
)


@pytest.mark.parametrize(
    ("statements", "instruction"),
    [
        ([op("ttrans", "%t", TURNED, "%t", TURNED)], "ttrans"),
        ([op("trowsum", "%x", VEC, "%x")], "trowsum"),
        ([op("tcolexpandmul", "%x, %g", f"{VEC}, {ROW}", "%g", ROW)], "tcolexpandmul"),
        ([*_PLACED, op("tneg", "%p", VEC, "%s")], "tneg"),
        ([*_PLACED, op("tadd", "%x, %s", f"{VEC}, {VEC}", "%p")], "tadd"),
        ([*_PLACED, op("tadds", "%p, %one", f"{VEC}, f32", "%s")], "tadds"),
        ([*_PLACED, op("tmov", "%p", VEC, "%s")], "tmov"),
        ([op("trowsum", "%x, %x", TWO, "%r", COLUMN)], "trowsum"),
        ([*_PLACED, op("texp", "%p, %s", TWO)], "texp"),
        ([op("tabs", "%x, %y", TWO)], "tabs"),
    ],
)
def test_elements_that_are_written_before_they_are_read(
    tmp_path: Path, statements: list[str], instruction: str
) -> None:
    text = copying(*statements)
    found = verified(tmp_path, text, CONTRACT.replace("{formula}", "Y[i, j] = X[i, j]")).result
    assert found.verdict == "unsupported"
    assert instruction in found.findings[0].message and "overlap" in found.findings[0].message


def test_elements_in_their_own_place(tmp_path: Path) -> None:
    contract = CONTRACT.replace("{formula}", "Y[i, j] = X[i, j] + 1")
    add = op("tadds", "%x, %one", f"{VEC}, f32", "%x")
    found = verified(tmp_path, copying(_PLACED[0], add, op("tmov", "%x", VEC)), contract).result
    assert found.verdict == "verified", found.findings
    again = op("tadds", "%p, %one", f"{VEC}, f32", "%z")
    found = verified(tmp_path, copying(*_PLACED, again, op("tmov", "%x", VEC)), contract).result
    assert not any("overlap" in finding.message for finding in found.findings)


_FIRST = "pto.tmatmul ins(%a, %b : !left, !right) outs(%c : !acc)"
_STORE = "outs(%c_block : !pto.partition_tensor_view<32x48xf32>)\n    return"
_WAIT = "    pto.{}_flag[<PIPE_M>, <PIPE_FIX>, <EVENT_ID0>]\n"


def _phased(product: str, store: str, *, flags: bool = True) -> str:
    """Return a kernel of one step of K with phases; by one flag less, if only phases order the store."""
    text = text_of("split_k_bias_f16", (_FIRST, f"{_FIRST} {product}"))
    text = text.replace(_STORE, _STORE.replace("\n", f" {store}\n"))
    for each in ("set", "wait") if not flags else ():
        assert _WAIT.format(each) in text
        text = text.replace(_WAIT.format(each), "")
    return text


_PRODUCT, _PARTIAL, _STORED = (
    f"{{{name} = #pto<{kind} {phase}>}}"
    for name, kind, phase in (
        ("accPhase", "acc_phase", "final"),
        ("accPhase", "acc_phase", "partial"),
        ("stPhase", "st_phase", "final"),
    )
)


@pytest.mark.parametrize(
    ("product", "store", "flags", "kind"),
    [
        (_PRODUCT, _STORED, True, None),
        (_PRODUCT, _STORED, False, None),
        (_PARTIAL, "", True, None),
        (_PARTIAL, "", False, Kind.RACE),
        (_PRODUCT, "", True, Kind.UNDEFINED),
        ("", _STORED, True, Kind.DEADLOCK),
        (_PARTIAL, _STORED, True, Kind.DEADLOCK),
    ],
)
@pytest.mark.parametrize("sync", ["explicit", "inserted"])
def test_phases_of_products_and_stores(
    tmp_path: Path, product: str, store: str, flags: bool, kind: Kind | None, sync: str
) -> None:
    contract = contract_of("split_k_bias_f16", "A5", first_sizes=True)
    contract = contract.replace('value = "any"', "value = 0").replace(
        "[kernel]", f'[kernel]\nsync = "{sync}"'
    )
    contract = contract.replace("K = 128", "K = 32")
    found = verified(tmp_path, _phased(product, store, flags=flags), contract).result
    kinds = {finding.kind for finding in found.findings}
    assert kinds == ({kind} - {Kind.RACE if sync == "inserted" else None} - {None}), found.findings


def test_phases_on_the_simulator(tmp_path: Path) -> None:
    contract = contract_of("split_k_bias_f16", "CPU", first_sizes=True)
    found = verified(tmp_path, _phased(_PRODUCT, ""), contract).result
    assert found.verdict == "verified"
