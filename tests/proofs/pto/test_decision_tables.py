"""PTO's decision tables agree with the specification; a fault in either of the two is refuted."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from theorem_checks import unexpected
from theorem_mutants import Mutant, Patch, entry_changed, refutation_of

from mmaproof.proofs.pto import moves, verdicts
from mmaproof.proofs.pto.stated import modules as stated_modules
from mmaproof.proofs.pto.stated import tables
from mmaproof.spec.pto.legality import RULES
from mmaproof.spec.pto.rules import move_types
from mmaproof.spec.pto.rules import moves as move_rules
from mmaproof.spec.pto.rules import tiles as tile_rules


@pytest.mark.parametrize(
    "module", [moves, moves, verdicts], ids=lambda module: module.__name__.rpartition(".")[2]
)
def test_the_specification_agrees(module: Any) -> None:
    assert unexpected(module.THEOREMS) == {}


def without(owner: Any, name: str, entry: object) -> Patch:
    """Return the fault that a table or set of entries lacks one of them."""

    def lacking(patch: pytest.MonkeyPatch) -> None:
        whole = getattr(owner, name)
        assert entry in whole
        less = (
            whole - {entry}
            if isinstance(whole, frozenset)
            else {k: v for k, v in whole.items() if k != entry}
        )
        patch.setattr(owner, name, less)

    return lacking


def another_cell(file: str, column: str, place: int) -> Patch:
    """Return the fault that one verdict of a table is another."""

    def changed(patch: pytest.MonkeyPatch) -> None:
        tables = verdicts.stated_table(file)
        row = tables[-1][place]
        row[column] = "capacity" if row[column] == "-" else "-"
        patch.setattr(moves, "stated_table", lambda name: tables)
        patch.setattr(verdicts, "stated_table", lambda name: tables)

    return changed


def one_more_route(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tables, "ROUTES", tables.ROUTES | {("tinsert", "mat", "acc", "A5")})


def another_kind(patch: pytest.MonkeyPatch) -> None:
    (rule,) = (rule for rule in RULES if rule.id == "location")
    wrong = replace(rule, enforcements=rule.enforcements[:0])
    patch.setattr(verdicts, "RULES", tuple(wrong if each is rule else each for each in RULES))


def no_route_to_bias(patch: pytest.MonkeyPatch) -> None:
    less = {route: on for route, on in move_rules.PLACES["tmov"].items() if str(route[1]) != "bias"}
    patch.setattr(move_rules, "PLACES", MappingProxyType({**move_rules.PLACES, "tmov": less}))


def every_named_fractal(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(tile_rules, "LAYOUT_NAMES", dict.fromkeys(tile_rules.LAYOUT_NAMES, "Nz"))


def no_stored_halves(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(move_types, "STORED", frozenset(each for each in move_types.STORED if each.name != "f16"))


MUTANTS: tuple[Mutant, ...] = (
    (entry_changed(stated_modules, "WRONG", "A5", stated_modules.WRONG["CPU"]), moves.modules, "lines"),
    (entry_changed(stated_modules, "UNDECIDED", "%d = tmatmul %a, %b", "A5"), moves.modules, "undecided"),
    (
        entry_changed(stated_modules, "TILES", next(iter(stated_modules.TILES)), "left"),
        moves.modules,
        "tiles",
    ),
    (
        entry_changed(stated_modules, "REPLACED", next(iter(stated_modules.REPLACED)), 2),
        moves.modules,
        "remarks",
    ),
    (entry_changed(tables, "PHASES", "#pto.acc_phase<first>", True), verdicts.phases, "A5"),
    (every_named_fractal, verdicts.fractal_names, "A5"),
    (without(tables, "KINDS", ("capacity", "tload", "CPU")), verdicts.kinds, "table"),
    (without(tables, "CITED", "capacity"), verdicts.kinds, "table"),
    (another_kind, verdicts.kinds, "table"),
    (another_cell("products.txt", "A5", 30), verdicts.products, "A5"),
    (another_cell("moves.txt", "CPU", 12), moves.moves, "CPU"),
    (one_more_route, moves.routes, "A5"),
    (no_route_to_bias, moves.routes, "A2A3"),
    (without(tables, "ROUTES", ("tmov", "vec", "vec", "A2A3")), moves.routes, "A2A3"),
    (
        without(tables, "FROM_ACCUMULATOR", ("memory", True, "i32", "f16", "A2A3")),
        moves.converted,
        "accumulator/A2A3",
    ),
    (no_stored_halves, moves.converted, "accumulator/A5"),
    (without(tables, "TO_BIAS", ("bf16", "f32", "A5")), moves.converted, "bias/A5"),
    (without(tables, "IN_VEC", "i32"), moves.converted, "extracted/A5"),
)


test_a_fault_is_refuted = refutation_of(MUTANTS)
