from __future__ import annotations

from mmaproof.spec.ptx import tables
from mmaproof.spec.ptx.catalogue import ALL_FORMS
from mmaproof.spec.ptx.contradictions import CONTRADICTIONS
from mmaproof.spec.ptx.legality import RULES
from mmaproof.spec.ptx.targets import target_named, version_named


def test_there_is_a_row_for_every_form_rule_and_claim() -> None:
    rows = tables.rows()
    assert len(rows) == len(ALL_FORMS)
    assert len({tuple(row.values()) for row in rows}) == len(rows)
    assert len(tables.rule_rows()) == len(RULES)
    assert len(tables.contradiction_rows()) == sum(
        len(contradiction.claims) for contradiction in CONTRADICTIONS
    )


def test_rows_have_every_column_and_what_can_be_used() -> None:
    for row in tables.rows():
        assert tuple(row) == tables.COLUMNS
        of_no_matrix = row["instruction"] in ("wgmma.fence", "wgmma.commit_group", "wgmma.wait_group")
        assert bool(row["shape"]) is bool(row["registers"]) is not of_no_matrix and row["source"]
        for version in row["PTX"].split(", "):
            version_named(version.partition(" ")[0])
        for target in row["targets"].split(", "):
            target_named(target.partition(" ")[0].rstrip("+"))


def test_a_row_says_what_block_scaling_needs() -> None:
    (row,) = (row for row in tables.rows() if row["instruction"] == "mma" and row["kind"] == "mxf4")
    assert row["shape"] == "m16n8k64" and row["A x B"] == "e2m1 x e2m1" and row["D <- C"] == "f32 <- f32"
    assert row["scale factors"] == "scale_vec::2X, default, ue8m0"
    assert row["selectors"] == "selectors_a: {0,2} x {0,1}; selectors_b: {0,2} x {0,1,2,3}"
    assert row["registers"] == "A:4 B:2 C/D f32:4" and row["PTX"] == "8.7"
