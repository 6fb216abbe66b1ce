"""Theorems about what is legal of asynchronous instructions: mutants that must be refuted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import MappingProxyType

import pytest
from theorem_mutants import refutation_of

from mmaproof.proofs.ptx import asynchronous_forms
from mmaproof.spec.ptx.asynchronous import catalogue, legality
from mmaproof.spec.ptx.asynchronous.rows import Row
from mmaproof.spec.ptx.targets import Availability

Patch = pytest.MonkeyPatch
CACHED = (catalogue.by_head, catalogue._forms, catalogue.every_form, catalogue.form_of)


@pytest.fixture(autouse=True)
def fresh_caches() -> Iterator[None]:
    for each in CACHED:
        each.cache_clear()
    yield
    for each in CACHED:
        each.cache_clear()


def _rows(head: str, change: Callable[[Row], Row | None]) -> Callable[[Patch], None]:
    """Return the fault that the rows with a head are others."""

    def changed(patch: Patch) -> None:
        rows = [change(row) if row.head == head else row for row in catalogue.ROWS]
        patch.setattr(catalogue, "ROWS", tuple(row for row in rows if row is not None))
        for each in CACHED:
            each.cache_clear()

    changed.__name__ = f"other_{head}"
    return changed


def _without(rule: str) -> Callable[[Patch], None]:
    def changed(patch: Patch) -> None:
        patch.setattr(legality, "RULES", tuple(each for each in legality.RULES if each.id != rule))

    changed.__name__ = f"without_{rule}"
    return changed


def spaces_in_any_order(patch: Patch) -> None:
    found = catalogue.spelled
    patch.setattr(catalogue, "spelled", lambda words: found(tuple(sorted(words))))
    for each in CACHED:
        each.cache_clear()


def _with(old: str, new: str) -> Callable[[Row], Row]:
    return lambda row: replace(row, modifiers=row.modifiers.replace(old, new))


def _since(available: Availability) -> Callable[[Row], Row]:
    return lambda row: replace(row, available=available)


def _never_later(row: Row) -> Row:
    return replace(row, later=MappingProxyType({}))


forms = asynchronous_forms.forms
test_a_fault_is_refuted = refutation_of(
    (
        (_rows("mbarrier.inval", lambda _: None), forms, "mnemonics"),
        (_rows("mbarrier.arrive", _with("relaxed+cluster?", "relaxed+cluster")), forms, "mnemonics"),
        (_rows("cp.async.bulk.tensor", _with("tile?", "tile")), forms, "neighbours/cp.async.bulk"),
        (_rows("cp.async.bulk.tensor", _with("tile?", "tile|im2col?")), forms, "neighbours/cp.async.bulk"),
        (_rows("fence.proxy", _with("alias", "alias read?")), forms, "neighbours/fence"),
        (_rows("setmaxnreg.inc", _with("aligned", "aligned?")), forms, "neighbours/setmaxnreg"),
        (_rows("elect.sync", lambda row: replace(row, operands=row.operands[:1])), forms, "mnemonics"),
        (_rows("mapa", _since(Availability((7, 8), 80))), forms, "modules/mapa"),
        (_rows("tcgen05.ld", _with("|x64 pack", "|x64|x128 pack")), forms, "mnemonics"),
        (_rows("tcgen05.cp", _with(" warpx4", " warpx4?")), forms, "neighbours/tcgen05.cp"),
        (_rows("tcgen05.mma", _with("collector::a::use|", "")), forms, "neighbours/tcgen05.mma"),
        (_rows("tcgen05.mma.sp", _never_later), forms, "modules/tcgen05.mma.sp"),
        (_rows("tcgen05.shift", _since(Availability((8, 6), 100))), forms, "modules/tcgen05.shift"),
        (_rows("st.async", _since(Availability((8, 0), 90))), forms, "modules/st.async"),
        (_rows("mbarrier.arrive", _never_later), forms, "modules/mbarrier"),
        (spaces_in_any_order, forms, "neighbours/cp.async.bulk"),
        *((_without(rule.id), asynchronous_forms.rules, rule.id) for rule in legality.RULES),
    )
)  # fmt: skip
