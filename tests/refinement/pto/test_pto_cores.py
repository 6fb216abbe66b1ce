"""Kernels whose one entry runs on two cores: by sections, or by calls of functions for either core."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings.finding import Kind
from tests.pto_kernels import contract_of, line_of, text_of, verified

_PARAMETERS = "%arg0: !pto.ptr<bf16>, %arg1: !pto.ptr<bf16>, %arg2: !pto.ptr<f32>, %arg3: !pto.ptr<bf16>"
_TYPES = "(!pto.ptr<bf16>, !pto.ptr<bf16>, !pto.ptr<f32>, !pto.ptr<bf16>) -> ()"
_GIVEN = "%arg0, %arg1, %arg2, %arg3"


def calls(*names: str) -> str:
    return "\n".join(f"    func.call @{name}({_GIVEN}) : {_TYPES}" for name in names)


def with_entry(body: str, attributes: str = " attributes {pto.entry}") -> str:
    """Return the kernel of two cores, called by an entry."""
    text = text_of("two_cores_bf16").rstrip()
    assert text.endswith("}")
    return f"{text[:-1]}  func.func @scaled({_PARAMETERS}){attributes} {{\n{body}\n    return\n  }}\n}}\n"


@pytest.mark.sample(1)
@pytest.mark.parametrize(
    "body",
    [
        calls("scaled_aic", "scaled_aiv"),
        calls("scaled_aiv", "scaled_aic"),
        f"    pto.section.cube {{\n{calls('scaled_aic')}\n    }}\n"
        f"    pto.section.vector {{\n{calls('scaled_aiv')}\n    }}",
    ],
)
def test_an_entry_that_calls_both_runs_on_both(tmp_path: Path, body: str) -> None:
    found = verified(tmp_path, with_entry(body), contract_of("two_cores_bf16", "A5", first_sizes=True)).result
    assert found.verdict == "verified", found.findings


@pytest.mark.parametrize(("name", "waits"), [("scaled_aiv", True), ("scaled_aic", False)])
def test_an_entry_that_calls_one_of_them(tmp_path: Path, name: str, waits: bool) -> None:
    found = verified(
        tmp_path, with_entry(calls(name)), contract_of("two_cores_bf16", "A5", first_sizes=True)
    ).result
    kinds = {finding.kind for finding in found.findings}
    assert found.verdict == "refuted"
    assert (Kind.DEADLOCK if waits else Kind.UNDEFINED) in kinds


def test_an_entry_that_calls_one_core_twice(tmp_path: Path) -> None:
    text = with_entry(calls("scaled_aic", "scaled_aiv", "scaled_aiv"))
    found = verified(tmp_path, text, contract_of("two_cores_bf16", "A5", first_sizes=True)).result
    assert found.verdict == "refuted" and Kind.DEADLOCK in {finding.kind for finding in found.findings}


def test_tiles_outside_of_code_for_one_core(tmp_path: Path) -> None:
    fill = (
        "    %zero = arith.constant 0.0 : f32\n    %t0 = pto.alloc_tile : !vec\n"
        "    pto.texpands ins(%zero : f32) outs(%t0 : !vec)\n"
    )
    text = with_entry(fill + calls("scaled_aic", "scaled_aiv"))
    (finding,) = verified(
        tmp_path, text, contract_of("two_cores_bf16", "A5", first_sizes=True)
    ).result.findings
    assert finding.kind is Kind.UNSUPPORTED and finding.line == line_of(text, fill.splitlines()[2])
