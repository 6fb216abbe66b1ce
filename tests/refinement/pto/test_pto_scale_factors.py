"""Scale factors of microscaled products: their buffers, their addresses, and the pipe that moves them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result
from tests.pto_kernels import contract_of, text_of, verified

_TILES = ("a", "left"), ("b", "right"), ("sa", "sa"), ("sb", "sb")
_EACH = (
    ("pto.tmov ins(%a_mat", "pto.set_flag{0}\n      pto.wait_flag{0}\n      pto.tmov ins(%a_mat"),
    ("%first = ", "pto.set_flag{1}\n      pto.wait_flag{1}\n      %first = "),
    ("      }\n    }\n", "      }}\n      pto.set_flag{2}\n      pto.wait_flag{2}\n    }}\n"),
    ("    pto.tstore", "    pto.set_flag{3}\n    pto.wait_flag{3}\n    pto.tstore"),
)


def outcome(tmp_path: Path, *replacements: tuple[str, str], formula: bool = False) -> Result:
    contract = contract_of("mx_e4m3", "A5")
    if not formula:
        contract = contract[: contract.index("[ensures]")]
    return verified(tmp_path, text_of("mx_e4m3", *replacements), contract).result


def placed(**addresses: int) -> list[tuple[str, str]]:
    constants = "".join(f"    %at_{name} = arith.constant {at} : i64\n" for name, at in addresses.items())
    given = [
        (f"%{name} = pto.alloc_tile : !{kind}\n", f"%{name} = pto.alloc_tile addr = %at_{name} : !{kind}\n")
        for name, kind in _TILES
    ]
    return [("    %c0 = ", f"{constants}    %c0 = "), *given]


def test_scale_factors_of_both_sides_have_buffers_of_their_own(tmp_path: Path) -> None:
    assert outcome(tmp_path, *placed(a=0, b=0, sa=0, sb=0), formula=True).verdict == "verified"


def test_scale_factors_lie_where_the_matrix_says(tmp_path: Path) -> None:
    assert outcome(tmp_path, *placed(a=4096, b=8192, sa=256, sb=512)).verdict == "safe"
    found = outcome(tmp_path, *placed(a=4096, b=0, sa=0, sb=0))
    (finding,) = found.findings
    assert (found.verdict, finding.kind) == ("refuted", Kind.ILLEGAL)
    assert "%a at 4096 are taken from byte 256" in finding.message


@pytest.mark.parametrize(("pipe", "verdict"), [("MTE1", "safe"), ("FIX", "refuted")])
def test_scale_factors_are_moved_as_their_matrices_are(tmp_path: Path, pipe: str, verdict: str) -> None:
    pairs = ("MTE2", "MTE1"), (pipe, "M"), ("M", "MTE2"), ("M", "FIX")
    flags = [f"[<PIPE_{source}>, <PIPE_{target}>, <EVENT_ID0>]" for source, target in pairs]
    found = outcome(tmp_path, *((old, new.format(*flags)) for old, new in _EACH))
    assert found.verdict == verdict
