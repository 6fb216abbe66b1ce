"""Published tables of PTO: what they say is what the documents say, and what `legal` decides."""

from __future__ import annotations

from fnmatch import filter as matching

import pytest
from pto_products import element_types, product_tiles

from mmaproof.spec.pto import tables
from mmaproof.spec.pto.catalogue import OPERATIONS, Operation, OperationKind
from mmaproof.spec.pto.contradictions import CONTRADICTIONS, cited
from mmaproof.spec.pto.element_types import ELEMENT_TYPES
from mmaproof.spec.pto.legality import judge
from mmaproof.spec.pto.resolution import applied
from mmaproof.spec.pto.targets import PROFILES, Profile

FP8, FP4 = ("f8E4M3FN", "f8E5M2"), ("f4E1M2x2", "f4E2M1x2")
COMMON = {("i32", "i8", "i8"), *(("f32", name, name) for name in ("f16", "bf16", "f32"))}
MIXED_FP8 = {("f32", a, b) for a in FP8 for b in FP8}
MIXED_FP4 = {("f32", a, b) for a in FP4 for b in FP4}
TRIPLES = {
    ("A2A3", False): COMMON,
    ("A5", False): COMMON | MIXED_FP8 | {("f32", "hif8", "hif8")},
    ("CPU", False): COMMON,
    ("A2A3", True): set(),
    ("A5", True): MIXED_FP8 | MIXED_FP4,
    ("CPU", True): MIXED_FP8 | MIXED_FP4,
}
"""Reference C.1: accumulator, A and B by profile, and whether there are scale factors."""


@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
@pytest.mark.parametrize("operation", [OPERATIONS["tmatmul"], OPERATIONS["tgemv.mx"]], ids=str)
def test_type_triples_are_those_of_the_documents(operation: Operation, profile: Profile) -> None:
    legal = {
        (d, a, b)
        for d in ("i32", "f32", "f16", "i8")
        for a in ELEMENT_TYPES
        for b in ELEMENT_TYPES
        if not _violations(operation, profile, a, b, d) & {"type-triple", "profile"}
    }
    assert legal == TRIPLES[profile.name, operation.microscaled]


def _violations(operation: Operation, profile: Profile, a: str, b: str, d: str) -> set[str]:
    tiles = product_tiles(operation, profile, (16, 64, 64), element_types(operation, a, b, d))
    return {violation.rule.id for violation in judge(applied(operation, tiles, profile)).violations}


def test_buffers_are_those_of_the_headers() -> None:
    sizes = {row["location"]: (int(row["A2A3"]) >> 10, int(row["A5"]) >> 10) for row in tables.buffer_rows()}
    assert sizes == {
        "vec": (192, 256), "mat": (512, 512), "left": (64, 64), "right": (64, 64), "acc": (128, 256),
        "bias": (1, 4), "scaling": (2, 4), "scale_left": (0, 4), "scale_right": (0, 4),
    }  # fmt: skip


def test_tile_left_is_zz_on_a2a3_and_nz_elsewhere() -> None:
    rows = {(row["tile"], row["layout"]): row["profiles"] for row in tables.alias_rows()}
    assert rows["TileLeft", "Zz"] == "A2A3"
    assert rows["TileLeft", "Nz"] == "A5, CPU"
    assert rows["TileRight", "Zn"] == rows["TileAcc", "Nz"] == "A2A3, A5, CPU"


def test_blocks_have_the_bytes_of_their_fractal() -> None:
    for row in tables.block_rows():
        if row["fractal bytes"] == "512":
            for width, size in (("4 bytes", 4), ("2 bytes", 2), ("1 byte", 1)):
                rows, columns = map(int, row[width].split("x"))
                assert rows * columns * size == 512


def test_every_operation_and_rule_has_a_row() -> None:
    assert [row["operation"] for row in tables.rows()] == list(OPERATIONS)
    assert [row["rule"] for row in tables.rule_rows()] == [rule.id for rule in tables.ALL_RULES]
    assert all(row["kind"] and row["reason"] and row["source"] for row in tables.rule_rows())
    sizes = {row["operation"]: row["sizes"] for row in tables.rows()}
    assert "A2A3, A5: m = 1, k = valid rows of b" in sizes["tgemv"]
    assert "A5: m = 1, k = valid columns of a" in sizes["tgemv.mx"]


def test_contradictions_are_numbered_as_in_the_reference_and_take_a_side() -> None:
    assert [int(point.id[:2]) for point in CONTRADICTIONS] == list(range(1, 36))
    for point in CONTRADICTIONS:
        assert len(point.claims) >= 2
        assert point.side
        assert point.source
    assert [point.id for point in cited(1, 35)] == ["01-bias-type", "35-scale-address"]


def test_rules_and_contradictions_name_each_other() -> None:
    by_contradiction = {row["contradiction"]: row["rules"] for row in tables.contradiction_rows()}
    for row in tables.rule_rows():
        for point in filter(None, row["contradictions"].split(", ")):
            assert row["rule"] in by_contradiction[point].split(", ")
    assert by_contradiction["01-bias-type"] == "bias-type"
    assert by_contradiction["05-bias-address"] == "address-range"


def test_operations_of_a_rule_are_spelled_so_that_they_can_be_told() -> None:
    products = {name for name, each in OPERATIONS.items() if each.kind is not OperationKind.MOVE}
    words = {
        "everything": {*OPERATIONS},
        "products": products,
        "without mx": {name for name in products if ".mx" not in name},
    }
    groups = {
        *tables._GROUPS.values(),
        *(enforcement.operations for rule in tables.ALL_RULES for enforcement in rule.enforcements),
    }
    for group in groups:
        text = tables._spell_operations(group)
        told = words.get(text) or {
            name
            for each in text.split(", ")
            for name in matching(products if "*" in each else OPERATIONS, each)
        }
        assert told == group, text
