"""What disabled elements do not raise: the theorem holds, and notices faults of the specification."""

from __future__ import annotations

from typing import Any

import pytest
from theorem_checks import decided, unexpected

from mmaproof.proofs.catalogue import obligations
from mmaproof.proofs.obligation import Status
from mmaproof.proofs.power import masking
from mmaproof.spec.power import float_exceptions
from mmaproof.spec.power.rank_k_update import Live


def test_every_obligation_is_proved() -> None:
    assert unexpected([masking.exceptions]) == {}


@pytest.mark.parametrize("mnemonic", ["pmxvf32gerpp", "pmxvf16ger2nn"])
@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda m: Live(m.rows | ~m.rows, m.columns, m.products), id="rows never disabled"),
        pytest.param(lambda m: Live(m.rows[..., ::-1], m.columns, m.products), id="rows backwards"),
        pytest.param(lambda m: Live(m.columns, m.rows, m.products), id="rows for columns"),
    ],
)
def test_masks_that_are_read_otherwise_are_noticed(
    mnemonic: str, read: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = float_exceptions.raised

    def misread(alg: Any, update: Any, x: Any, y: Any, acc: Any, live: Live, *rest: Any) -> Any:
        return right(alg, update, x, y, acc, read(live), *rest)

    monkeypatch.setattr(masking, "raised", misread)
    verdict = decided(obligations()[f"power/masking/exceptions/{mnemonic}"])
    assert verdict.status is Status.REFUTED
    assert verdict.counterexample is not None and verdict.counterexample.replays
