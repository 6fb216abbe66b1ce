"""A fault in what may be spelled together is refuted, wherever among the combinations it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from mmaproof.proofs.obligation import Certificate
from mmaproof.proofs.ptx import combinations
from mmaproof.spec.ptx import legality, variant_rules
from mmaproof.spec.ptx.mma_forms import MmaForm
from mmaproof.spec.ptx.sparse_mma_forms import SPARSE_FORMS
from mmaproof.spec.ptx.variant import Family


def _sparse_rows(*, satfinite: bool) -> Callable[[Any], Any]:
    """Give the last sparse row, of mxf4nvf4, one more modifier: two away from every legal instruction."""

    def changed(old: Callable[[Family], Any]) -> Callable[[Family], Any]:
        row = replace(SPARSE_FORMS[-1], satfinite=satfinite, scale_vec_default=True)
        return lambda family: (*old(family), row) if family is Family.MMA_SP else old(family)

    return changed


def _without_kind(old: Any) -> Any:
    def allowed(self: MmaForm, variant: Any) -> Any:
        found = dict(old(self, variant))
        if self.scale_type == "ue4m3":
            found["kind"] = (self.kind, "mxf4")
        return found

    return allowed


MUTANTS: dict[str, tuple[str, object, str, Callable[[Any], Any]]] = {
    "a modifier more, and one less": (
        "mma.sp/accepted", variant_rules, "forms", _sparse_rows(satfinite=True),
    ),
    "a row wider in one kind": ("mma/accepted", MmaForm, "allowed", _without_kind),
    "nothing is missing": (
        "ldmatrix/accepted", combinations, "allowing",
        lambda old: lambda rows, name, value: rows if value is None else old(rows, name, value),
    ),
    "a rule that nothing breaks": (
        "wmma.load.a/refused", legality, "RULES",
        lambda old: tuple(rule for rule in old if rule.id != "state-space"),
    ),
    "another rule": (
        "stmatrix/refused", legality, "RULES",
        lambda old: tuple(replace(rule, id="shape") if rule.id == "layout" else rule for rule in old),
    ),
    "saturation for good": (
        "wmma.mma/saturated", legality, "RULES",
        lambda old: tuple(rule for rule in old if rule.id != "satfinite-removed"),
    ),
}  # fmt: skip
"""The obligation, and what is changed."""


def _defect(name: str) -> str | None:
    (obligation,) = (
        each for each in combinations.combinations.obligations() if each.id.endswith(f"/combinations/{name}")
    )
    goal = obligation.goal()
    assert isinstance(goal, Certificate)
    return goal.check()


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    variant_rules.narrow.cache_clear()
    yield
    variant_rules.narrow.cache_clear()


@pytest.mark.parametrize("what", MUTANTS)
def test_a_fault_is_refuted(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, owner, attribute, change = MUTANTS[what]
    assert _defect(name) is None
    variant_rules.narrow.cache_clear()
    monkeypatch.setattr(owner, attribute, change(getattr(owner, attribute)))
    assert _defect(name) is not None


def test_the_products_are_as_many_as_there_are_combinations() -> None:
    assert combinations.Combinations("mma").number > 10**15
