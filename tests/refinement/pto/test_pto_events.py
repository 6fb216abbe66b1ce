"""Events between pipes: which there are, and pipes that run ahead of waits."""

from __future__ import annotations

from pathlib import Path

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.findings.result import Result
from tests.pto_kernels import contract_of, text_of, verified

_BACK = "[<PIPE_M>, <PIPE_MTE2>, <EVENT_ID0>]"


def outcome(tmp_path: Path, *replacements: tuple[str, str]) -> Result:
    text = text_of("split_k_bias_f16", *replacements)
    contract = contract_of("split_k_bias_f16", "A5", first_sizes=True)
    return verified(tmp_path, text, contract[: contract.index("[ensures]")]).result


def test_an_event_that_no_pair_of_pipes_has(tmp_path: Path) -> None:
    found = outcome(tmp_path, (_BACK, _BACK.replace("ID0", "ID8")))
    assert (found.verdict, found.findings[0].kind) == ("refuted", Kind.ILLEGAL)
    assert "EVENT_ID8" in found.findings[0].message


def test_a_pipe_that_may_set_a_flag_again_before_it_is_awaited(tmp_path: Path) -> None:
    assert not any("counts" in assumption for assumption in outcome(tmp_path).assumptions)
    bare = "pto.alloc_tile : !{}\n"
    ahead = [
        (f"%{name} = {bare.format(kind)}", "")
        for name, kind in (("a_mat", "a_l1"), ("b_mat", "b_l1"), ("bias_mat", "bias_l1"))
    ]
    here = "".join(f"      {old}" for old, _ in ahead)
    ahead[0] = (f"    {ahead[0][0]}", "")
    found = outcome(
        tmp_path,
        *ahead,
        ("      %at = arith", f"{here}      %at = arith"),
        (
            f"pto.set_flag{_BACK}\n      pto.wait_flag{_BACK}",
            "pto.set_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]"
            "\n      pto.wait_flag[<PIPE_M>, <PIPE_MTE1>, <EVENT_ID0>]",
        ),
    )
    assert found.verdict == "safe"
    (counted,) = (assumption for assumption in found.assumptions if "counts" in assumption)
    assert counted.startswith("EVENT_ID0 from MTE2 to MTE1")
