"""What is illegal, on which profile, by which rule, and who would find out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pto_products import FACTORS, PRODUCTS, element_types, product_tiles
from pto_texts import INSTRUCTIONS, PAGE_LISTINGS

from mmaproof.spec.errors import InputError
from mmaproof.spec.pto.assembly import parse, parse_module
from mmaproof.spec.pto.catalogue import OPERATIONS, ROLE_LOCATIONS, Operation, OperationKind
from mmaproof.spec.pto.element_types import ELEMENT_TYPES, element_type_named
from mmaproof.spec.pto.instruction_set import INSTRUCTION_SET
from mmaproof.spec.pto.legality import RULES, address_violations, judge
from mmaproof.spec.pto.module_legality import judged_statements
from mmaproof.spec.pto.placement import mover_placement, unit_placement
from mmaproof.spec.pto.resolution import applied, resolve_known
from mmaproof.spec.pto.rules.enforcement import RuleKind
from mmaproof.spec.pto.sizes import operand_extents
from mmaproof.spec.pto.targets import A2A3, A5, CPU, PROFILES, Profile, alias
from mmaproof.spec.pto.tile import DYNAMIC, Compact, Location, Order, Tile

F16, F32, I8 = (ELEMENT_TYPES[name] for name in ("f16", "f32", "i8"))


def broken(operation: str, tiles: Mapping[str, Tile], profile: Profile) -> dict[str, str]:
    """Return the messages of the violated rules by id."""
    return _by_rule(judge(applied(OPERATIONS[operation], tiles, profile)).violations)


def broken_by(text: str, profile: Profile) -> dict[str, str]:
    return _by_rule(judge(resolve_known(parse(text), profile)).violations)


def _by_rule(violations: Any) -> dict[str, str]:
    return {violation.rule.id: violation.message for violation in violations}


def matmul_tiles(
    operation: str = "tmatmul",
    profile: Profile = A5,
    sizes: tuple[int, int, int] = (32, 64, 48),
    **options: Any,
) -> dict[str, Tile]:
    """Return legal tiles of a product on f16 (microscaled: e4m3), as the profile's aliases."""
    op = OPERATIONS[operation]
    factor = "f8E4M3FN" if op.microscaled else "f16"
    return product_tiles(op, profile, sizes, element_types(op, factor, factor, "f32"), **options)


# -- the examples of the reference, and of the pages that the project started from
ILLEGAL_EXAMPLES = {
    ("E14", "CPU"): {"static-shape"},
    ("E16", "A2A3"): {"profile", "capacity"},
}


@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
@pytest.mark.parametrize("name", [name for name in INSTRUCTIONS if name.startswith("E")])
def test_examples_of_the_reference(name: str, profile: Profile) -> None:
    assert broken_by(INSTRUCTIONS[name], profile).keys() == ILLEGAL_EXAMPLES.get((name, profile.name), set())


@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
@pytest.mark.parametrize("text", PAGE_LISTINGS)
def test_opaque_types_are_undecided(text: str, profile: Profile) -> None:
    findings = judge(resolve_known(parse(text), profile))
    assert not findings.violations
    assert any("a: !pto.tile<...> says nothing" in note for note in map(str, findings.notes))


def seed_tiles(rows: int, bias: str, profile: Profile) -> dict[str, Tile]:
    """Return ``TileLeft<half, rows, 16>``, ``TileRight<half, 16, 16>``, …, as the seeds declare them."""
    return {
        "a": alias(profile, Location.LEFT, F16, (rows, 16)),
        "b": alias(profile, Location.RIGHT, F16, (16, 16)),
        "bias": alias(profile, Location.BIAS, element_type_named(bias), (1, 16)),
        "d": alias(profile, Location.ACC, F32, (rows, 16)),
    }


@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
@pytest.mark.parametrize(("operation", "rows"), [("tmatmul.bias", 16), ("tgemv.bias", 1)])
def test_half_bias_of_the_seeds_is_illegal_and_a_float_bias_is_not(
    operation: str, rows: int, profile: Profile
) -> None:
    wrong = broken(operation, seed_tiles(rows, "half", profile), profile)
    assert wrong.keys() == {"bias-type"}
    assert wrong["bias-type"] == "the bias is f16, the accumulator f32 (static: it does not compile)"
    assert not broken(operation, seed_tiles(rows, "float", profile), profile)


@pytest.mark.parametrize("profile", [A2A3, A5], ids=str)
def test_addresses_of_the_seeds(profile: Profile) -> None:
    tiles = seed_tiles(16, "half", profile)
    addresses = {"a": 0x1000, "b": 0x2000, "bias": 0x3000, "d": 0x4000}
    wrong = {
        role: _by_rule(address_violations(tiles[role], address, profile)).keys()
        for role, address in addresses.items()
    }
    assert wrong == {"a": set(), "b": set(), "bias": {"address-range"}, "d": set()}


@given(
    st.sampled_from(list(PROFILES.values())),
    st.sampled_from([Location.LEFT, Location.ACC, Location.BIAS, Location.VEC]),
    st.integers(-64, 1 << 20),
)
def test_an_address_is_legal_exactly_if_the_tile_is_inside_and_aligned(
    profile: Profile, location: Location, address: int
) -> None:
    tile = alias(profile, location, F32, (1 if location is Location.BIAS else 16, 16))
    wrong = _by_rule(address_violations(tile, address, profile))
    inside = 0 <= address <= profile.capacities[location] - tile.size
    assert ("address-range" in wrong) is not inside
    assert ("address-alignment" in wrong) is (profile.cube and address % 32 != 0)


# -- every rule of a product, broken alone
def _with(role: str, **changes: Any) -> Any:
    return lambda tiles: {**tiles, role: replace(tiles[role], **changes)}


def _both(*roles: str, **changes: Any) -> Any:
    return lambda tiles: tiles | {role: replace(tiles[role], **changes) for role in roles}


_ND = {"blocks": Order.ROW_MAJOR, "inner": Order.NONE_BOX}
_ZZ = {"blocks": Order.ROW_MAJOR, "inner": Order.ROW_MAJOR}
BROKEN: list[tuple[str, Any, str, dict[str, str]]] = [
    ("tmatmul", _with("a", rows=0, valid_rows=0), "tile-extent", {"A5": "static", "CPU": "static"}),
    ("tmatmul", _with("b", valid_columns=49), "valid-extent", {"A2A3": "static", "A5": "static"}),
    ("tmatmul", _with("d", fractal=64), "fractal-bytes", {"A2A3": "static", "CPU": "static"}),
    ("tmatmul", _with("a", rows=40, valid_rows=32), "whole-blocks", {"A2A3": "static", "A5": "static"}),
    ("tmatmul", _with("b", rows=1), "buffer-range", {"A2A3": "silent", "CPU": "silent"}),
    ("tmatmul.bias", _with("bias", columns=52), "line-alignment", {"A5": "static", "CPU": "static"}),
    ("tmatmul", _with("a", columns=2048), "capacity", {"A2A3": "static", "A5": "static", "CPU": "run-time"}),
    ("tmatmul", _with("a", location=Location.MAT), "location", {"A2A3": "static", "CPU": "static"}),
    ("tmatmul", _with("b", element=I8), "type-triple", {"A2A3": "static", "A5": "static", "CPU": "static"}),
    ("tmatmul", _with("d", rows=48), "static-shape", {"CPU": "static"}),
    ("tmatmul", _with("b", rows=128, valid_rows=128), "contraction", {"A2A3": "silent", "CPU": "silent"}),
    ("tmatmul", _with("d", valid_columns=32), "result-extent", {"A5": "silent", "CPU": "silent"}),
    ("tgemv", _with("a", rows=16, valid_rows=16), "gemv-row", {"A2A3": "silent", "CPU": "silent"}),
    ("tgemv", _with("a", rows=16), "gemv-left", {"A2A3": "silent", "A5": "silent"}),
    ("tmatmul.acc", _with("c", compact=Compact.NORMAL), "accumulator-type", {"A2A3": "static"}),
    ("tmatmul", _with("a", inner=Order.COL_MAJOR), "left-inner", {"A2A3": "silent", "A5": "static"}),
    ("tmatmul", _with("b", blocks=Order.COL_MAJOR), "right-layout", {"A2A3": "silent", "CPU": "static"}),
    ("tmatmul", _with("d", **_ZZ), "accumulator-layout", {"A2A3": "silent", "A5": "static", "CPU": "static"}),
    ("tmatmul", _with("d", fractal=512), "fractal-size", {"A2A3": "silent", "A5": "silent"}),
    ("tmatmul.mx", _with("scale_a", blocks=Order.COL_MAJOR), "scale-layout", {"A5": "silent"}),
    ("tmatmul", _with("b", columns=64), "right-pitch", {"A2A3": "silent", "A5": "silent"}),
    ("tmatmul", _with("d", rows=64), "accumulator-pitch", {"A2A3": "silent", "A5": "silent"}),
    ("tmatmul", _both("a", "d", rows=1, valid_rows=1), "matmul-left", {"A2A3": "silent", "A5": "silent"}),
    ("tmatmul", _both("a", "d", rows=1, valid_rows=1), "row-granule", {"A2A3": "silent"}),
    ("tmatmul.bias", _with("bias", element=F16), "bias-type", {"A2A3": "static", "CPU": "static"}),
    ("tmatmul.bias", _with("bias", rows=2), "bias-rows", {"A2A3": "static", "A5": "static"}),
    ("tmatmul.bias", _with("bias", blocks=Order.COL_MAJOR), "bias-row-major", {"A5": "static"}),
    ("tmatmul.bias", _with("bias", valid_columns=16), "bias-columns", {"A2A3": "silent", "CPU": "silent"}),
    ("tmatmul.mx", _with("scale_a", location=Location.MAT), "scale-location", {"A5": "silent"}),
    ("tmatmul.mx", _with("scale_b", element=F16), "scale-type", {"A5": "silent", "CPU": "silent"}),
    ("tmatmul.mx", _with("scale_b", valid_columns=16), "scale-extent", {"A5": "silent", "CPU": "silent"}),
    ("tmatmul.mx", _with("a", columns=96), "microscaled-columns", {"A5": "static", "CPU": "static"}),
]  # fmt: skip
"""Operation, what is changed of legal tiles, the rule it breaks, and its kind where it holds."""


@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
@pytest.mark.parametrize(("operation", "change", "rule", "kinds"), BROKEN, ids=[case[2] for case in BROKEN])
def test_a_rule_is_broken_and_says_who_finds_out(
    operation: str, change: Any, rule: str, kinds: dict[str, str], profile: Profile
) -> None:
    if OPERATIONS[operation].microscaled and not profile.microscaling:
        return
    sizes = (1, 256, 48) if OPERATIONS[operation].kind is OperationKind.GEMV else (32, 64, 48)
    tiles = matmul_tiles(operation, profile, sizes)
    if sizes[0] == 1 and profile.cube:
        tiles["d"] = replace(tiles["d"], rows=16)
    assert not broken(operation, tiles, profile)
    wrong = broken(operation, change(tiles), profile)
    if profile.name in kinds:
        assert f"({kinds[profile.name]}: " in wrong[rule]
    else:
        standing = next(r for r in RULES if r.id == rule).kind(profile, OPERATIONS[operation])
        assert (rule in wrong) is (standing is not None and standing.forbids)


def test_left_blocks_are_the_profiles() -> None:
    for profile, kind in ((A2A3, "silent"), (A5, "static")):
        tiles = matmul_tiles(profile=profile)
        other = Order.COL_MAJOR if profile is A2A3 else Order.ROW_MAJOR
        wrong = broken("tmatmul", _with("a", blocks=other)(tiles), profile)
        assert f"({kind}: " in wrong["left-blocks"]
    assert not broken("tmatmul", _with("a", blocks=Order.ROW_MAJOR)(matmul_tiles(profile=CPU)), CPU)


def test_every_profile_reads_its_pitch_of_a_from_another_extent() -> None:
    wider, taller = _with("a", columns=128), _with("a", rows=64)
    assert "left-pitch" in broken("tmatmul", wider(matmul_tiles(profile=A2A3)), A2A3)
    assert "left-pitch" not in broken("tmatmul", taller(matmul_tiles(profile=A2A3)), A2A3)
    assert "left-pitch" in broken("tmatmul", taller(matmul_tiles(profile=A5)), A5)
    assert "left-pitch" not in broken("tmatmul", wider(matmul_tiles(profile=A5)), A5)


def test_sizes_beyond_the_range_are_illegal_where_a_header_asserts_it() -> None:
    tiles = {
        "a": Tile(Location.LEFT, I8, 16, 4096, 16, 4096, Order.COL_MAJOR, Order.ROW_MAJOR),
        "b": Tile(Location.RIGHT, I8, 4096, 16, 4096, 16, Order.ROW_MAJOR, Order.COL_MAJOR),
        "d": alias(A5, Location.ACC, ELEMENT_TYPES["i32"], (16, 16)),
    }
    assert broken("tmatmul", tiles, A5).keys() == {"size-range"}
    assert "(debug-only: " in broken("tmatmul", tiles, A5)["size-range"]
    cpu = judge(applied(OPERATIONS["tmatmul"], tiles, CPU))
    assert not cpu.violations
    assert any("size-range" in note and "page-only" in note for note in map(str, cpu.notes))


def test_a_size_that_wraps_to_a_legal_one_is_seen() -> None:
    tiles = matmul_tiles()
    tiles["b"] = replace(tiles["b"], columns=65552, valid_columns=65552)
    assert "16 bits of it are 16" in broken("tmatmul", tiles, A5)["size-range"]


def test_mixed_fp8_is_legal_on_a5_though_ptoas_objects() -> None:
    tiles = matmul_tiles()
    for role, name in (("a", "f8E4M3FN"), ("b", "f8E5M2")):
        tiles[role] = replace(tiles[role], element=ELEMENT_TYPES[name])
    found = judge(applied(OPERATIONS["tmatmul"], tiles, A5))
    assert not found.violations
    assert any(note.startswith("mixed-fp8: ") and "assembler-only" in note for note in map(str, found.notes))
    for profile in (A2A3, CPU):
        assert "type-triple" in broken("tmatmul", tiles, profile)


@pytest.mark.parametrize("profile", PROFILES.values(), ids=str)
@pytest.mark.parametrize("operation", PRODUCTS, ids=str)
def test_aliases_of_whole_blocks_are_legal(operation: Operation, profile: Profile) -> None:
    tiles = matmul_tiles(
        operation.name, profile, (1 if operation.kind is OperationKind.GEMV else 32, 128, 32)
    )
    if profile.cube and operation.kind is OperationKind.GEMV:
        tiles |= {role: replace(tiles[role], rows=16) for role in ("c", "d") if role in tiles}
    wrong = broken(operation.name, tiles, profile)
    assert bool(wrong) is (operation.microscaled and not profile.microscaling)


def test_accumulators_of_two_names_are_undecided_where_they_must_be_one() -> None:
    text = INSTRUCTIONS["E9"]
    two = text.replace("outs(%acc", "outs(%other")
    for profile in (A2A3, A5):
        assert not any(
            "in place" in note for note in map(str, judge(resolve_known(parse(text), profile)).notes)
        )
        assert any("in place" in note for note in map(str, judge(resolve_known(parse(two), profile)).notes))
    assert not any("in place" in note for note in map(str, judge(resolve_known(parse(two), CPU)).notes))


def test_phases() -> None:
    assert not broken_by(INSTRUCTIONS["E3"], A5)
    assert broken_by(INSTRUCTIONS["E3"].replace("final", "first"), A5).keys() == {"phase-value"}
    phased = INSTRUCTIONS["E9"] + " {accPhase = #pto<acc_phase partial>}"
    assert not broken_by(phased, A5)
    assert broken_by(phased, CPU).keys() == {"phase-on-cpu"}


def test_a_page_type_whose_name_is_of_other_orders() -> None:
    assert broken_by(
        INSTRUCTIONS["E6"].replace("RowMajor, ColMajor, ZN", "RowMajor, ColMajor, NZ"), A5
    ).keys() == {"fractal-name"}


def test_operands_that_are_no_tiles() -> None:
    view = "!pto.partition_tensor_view<16x32xf16>"
    text = INSTRUCTIONS["E1"].replace("!pto.tile<16x32xf16>", view)
    assert broken_by(text, A5)["operand-type"].startswith(f"a is {view}; it must be a tile")


# -- properties
extents_16 = st.integers(1, 4).map(lambda blocks: 16 * blocks)


@st.composite
def products(draw: Any) -> tuple[Operation, Profile, dict[str, Tile]]:
    operation = draw(
        st.sampled_from([op for op in PRODUCTS if op.kind is OperationKind.MATMUL and not op.microscaled])
    )
    profile = draw(st.sampled_from([A2A3, A5]))
    factor = draw(st.sampled_from([*FACTORS[:3], "i8"]))
    types = element_types(operation, factor, factor, "i32" if factor == "i8" else "f32")
    sizes = draw(extents_16), 2 * draw(extents_16), draw(extents_16)
    valid = tuple(draw(st.integers(1, size)) for size in sizes)
    compact = draw(st.sampled_from([Compact.NULL, Compact.NORMAL]))
    return operation, profile, product_tiles(operation, profile, sizes, types, valid, compact)


@given(products())
def test_pitch_rules_hold_exactly_if_unit_and_movers_agree_on_every_element(
    case: tuple[Operation, Profile, dict[str, Tile]],
) -> None:
    operation, profile, tiles = case
    m, k, n = tiles["a"].valid_rows, tiles["a"].valid_columns, tiles["b"].valid_columns
    wrong = broken(operation.name, tiles, profile)
    for role, rule in (("a", "left-pitch"), ("b", "right-pitch"), ("d", "accumulator-pitch")):
        tile = tiles[role]
        unit = unit_placement(operation, profile, role, tile.element, m, k, n)
        mover = mover_placement(profile, tile, (tile.valid_rows, tile.valid_columns))
        row, column = np.indices(operand_extents(m, k, n)[role])
        assert (rule in wrong) is not np.array_equal(unit.offset(row, column), mover.offset(row, column))


@given(products(), st.sampled_from(["a", "b", "d"]), st.sampled_from(["valid_rows", "valid_columns"]))
def test_what_is_known_at_run_time_only_is_no_violation(
    case: tuple[Operation, Profile, dict[str, Tile]], role: str, extent: str
) -> None:
    operation, profile, tiles = case
    static = broken(operation.name, tiles, profile)
    later = tiles | {role: replace(tiles[role], **{extent: DYNAMIC})}
    if "c" in later:
        later["c"] = later["d"]
    assert broken(operation.name, later, profile).keys() <= static.keys()


def test_dynamic_sizes_are_said_to_be_undecided() -> None:
    tiles = _with("a", valid_rows=DYNAMIC)(matmul_tiles())
    found = judge(applied(OPERATIONS["tmatmul"], tiles, A5))
    assert not found.violations
    assert [str(note) for note in found.notes] == [
        "undecided: m (valid rows of a): known at run time only, so are sizes and pitches"
    ]


@given(
    st.sampled_from(PRODUCTS),
    st.sampled_from(list(PROFILES.values())),
    st.dictionaries(
        st.sampled_from(["a", "b", "c", "d", "bias", "scale_a", "scale_b"]),
        st.builds(
            Tile,
            st.sampled_from(Location),
            st.sampled_from(list(ELEMENT_TYPES.values())),
            *[st.integers(-1, 130)] * 2,
            *[st.integers(-1, 130) | st.just(DYNAMIC)] * 2,
            blocks=st.sampled_from([Order.ROW_MAJOR, Order.COL_MAJOR]),
            inner=st.sampled_from(Order),
            fractal=st.sampled_from([512, 1024, 32, 7, 0]),
            compact=st.sampled_from(Compact),
        ),
    ),
)
def test_any_tiles_are_judged(operation: Operation, profile: Profile, tiles: dict[str, Tile]) -> None:
    for violation in judge(applied(operation, tiles, profile)).violations:
        assert "\n" not in str(violation)
        assert violation.rule.reason
        assert violation.rule.source


def test_rules_are_named_once_and_hold_somewhere() -> None:
    names = [rule.id for rule in RULES]
    assert len(names) == len(set(names))
    for rule in RULES:
        assert any(
            rule.kind(profile, operation)
            for profile in PROFILES.values()
            for operation in OPERATIONS.values()
        )


def test_only_what_headers_take_with_a_defined_result_is_a_remark() -> None:
    remarks = [RuleKind.ASSEMBLER_ONLY, RuleKind.PAGE_ONLY, RuleKind.UNSPECIFIED]
    assert [kind for kind in RuleKind if not kind.forbids] == remarks


@given(
    st.sampled_from([*INSTRUCTIONS.values(), *PAGE_LISTINGS]),
    st.lists(
        st.tuples(st.integers(0, 400), st.text("%<>(),:=x?-0123456789 \n#;{}abcort", max_size=3)), max_size=3
    ),
    st.sampled_from(["A2A3", "A5", "CPU"]),
)
def test_any_text_is_judged_or_refused_in_one_line(
    text: str, edits: list[tuple[int, str]], target: str
) -> None:
    for place, replacement in edits:
        text = text[:place] + replacement + text[place + 1 :]
    try:
        judgement = INSTRUCTION_SET.read(text).legal(target)
    except InputError as refusal:
        assert "\n" not in str(refusal)
    else:
        assert judgement.target == target


# -- whole texts
MODULE = """
%off = arith.constant 12288 : i64
func.func @f() {
  %off = arith.constant 32 : i64
  %ok = pto.alloc_tile addr = %off : !pto.tile_buf<bias, 1x16xf32>
  scf.for %i = %a to %b step %c {
    %bad = pto.alloc_tile addr = %off : !pto.tile_buf<left, 17x16xf16, slayout=row_major>
  }
  return
}
%bias = pto.alloc_tile addr = %off : !pto.tile_buf<bias, 1x16xf16>
%c = tmatmul %a, %b : (!pto.tile<16x32xf16>, !pto.tile<64x16xf16>) -> !pto.tile<16x16xf32>
"""


def test_statements_of_a_text_are_judged_with_the_constants_in_scope() -> None:
    found = {
        judged_statement.name: [violation.rule.id for violation in judged_statement.judgement.violations]
        for judged_statement in judged_statements(parse_module(MODULE).body, A5)
    }
    assert found == {
        "alloc_tile %ok": [],
        "alloc_tile %bad": ["whole-blocks"],
        "alloc_tile %bias": ["address-range"],
        "tmatmul": ["contraction"],
    }


def test_roles_of_a_product_have_places() -> None:
    for operation in PRODUCTS:
        assert {*operation.inputs, operation.output} <= ROLE_LOCATIONS.keys()


def test_operations_without_rules_are_named_in_a_note() -> None:
    text = f"""module {{
      {INSTRUCTIONS["E8"]}
      pto.tadd ins(%a, %b : !pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>) outs(%c : \
!pto.tile_buf<vec, 16x16xf32>)
      "pto.tadd"(%a, %b, %c) : (!pto.tile_buf<vec, 16x16xf32>, !pto.tile_buf<vec, 16x16xf32>, \
!pto.tile_buf<vec, 16x16xf32>) -> ()
      pto.get_block_idx
    }}"""
    judgement = INSTRUCTION_SET.read(text).legal("A5")
    assert judgement.violations == ()
    assert list(map(str, judgement.notes)) == ["lines 3, 4: undecided: no rule is known on pto.tadd"]
    assert not judgement.is_judged


def test_what_is_undecided_of_one_statement_among_some_is_undecided() -> None:
    judgement = INSTRUCTION_SET.read(f"{PAGE_LISTINGS[0]}\n" * 2).legal("A5")
    assert not judgement.violations
    assert [note.where for note in judgement.undecided] == [f"line {line}, tmatmul.bias: " for line in (1, 2)]
    assert all(str(note).startswith(f"{note.where}undecided: ") for note in judgement.undecided)
