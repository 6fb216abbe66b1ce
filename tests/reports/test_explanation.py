"""What ``explain`` says of names, and which theorems it finds about an instruction."""

from __future__ import annotations

import re
from functools import cache

import pytest

from mmaproof.proofs.listing import about
from mmaproof.refinement.findings.finding import Kind
from mmaproof.reports import glossary
from mmaproof.reports.explanation import explain
from mmaproof.reports.foreign_spellings import own_spelling
from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.formats import FORMATS, format_named
from mmaproof.spec.instruction_set import NAMES, instruction_set, read
from mmaproof.spec.ptx.catalogue import ALL_FORMS
from mmaproof.spec.ptx.variant import MULTIPLYING, WARPGROUP, WARPGROUP_ORDER, Family
from mmaproof.spec.unmodelled import refuse_unmodelled

GLOSSARY = list(dict.fromkeys(glossary.names()))
VARIANTS = {str(v): v for number, f in enumerate(ALL_FORMS) for v in list(f.variants())[number % 2 :: 37]}


@cache
def said(name: str) -> str:
    description = explain(name)
    return "\n".join([description.title, *(line for _, lines in description.sections for line in lines)])


@pytest.mark.parametrize("name", GLOSSARY)
def test_every_name_of_the_glossary_is_explained(name: str) -> None:
    found = list(glossary.explained(name))
    assert found and all(line for each in found for _, lines in each.sections for line in lines)


def test_names_mean_what_they_mean_where_they_are_defined() -> None:
    assert Kind.RACE.meaning in said("race")
    for isa in map(instruction_set, NAMES):
        for row in isa.tables["rules"]():
            assert row["reason"] in said(f"{isa.name}/{row['rule']}")
            assert row["source"] in said(f"{isa.name}/{row['rule']}")
        for point in isa.open_points:
            for option, meaning in point.options:
                assert meaning in said(point.name) and meaning in said(option)
                assert point.source in said(f"{point.name}={option}")
        for row in isa.tables["contradictions"]():
            assert f"{row['who']}: {row['says']}" in said(row["contradiction"])


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("ldmatrx.sync.aligned.m8n8.x4.shared.b16", "ldmatrix.sync.aligned.m8n8.x4.shared.b16"),
        ("tmatmul.ac", "tmatmul.acc"),
        ("xvf32gerp", "xvf32gerpp"),
        ("ptx/targe", "ptx/target"),
        ("rase", "race"),
    ],
)
def test_near_names_are_of_the_same_kind(name: str, near: str) -> None:
    with pytest.raises(InputError, match=rf"^nothing is called '{name}'; did you mean .*{near}\b"):
        explain(name)


@pytest.mark.parametrize(
    "name",
    ["dp4a",
     "HMMA.16816.F32", "v_wmma_f32_16x16x16_f16", "tdpbssd", "smmla"],
)  # fmt: skip
def test_what_is_known_but_not_modelled_is_said_to_be(name: str) -> None:
    for ask in (explain, lambda text: read(text).describe()):
        with pytest.raises(UnsupportedError, match=rf"^{name}: known, (not modelled|no matrix instruction)"):
            ask(name)


def test_no_word_of_an_instruction_set_is_taken_for_what_is_not_modelled() -> None:
    for isa in map(instruction_set, NAMES):
        for row in isa.instructions():
            refuse_unmodelled(row["mnemonic"])


def test_a_name_that_nothing_is_like_is_refused_in_a_line() -> None:
    with pytest.raises(InputError, match=r"^nothing is called 'é'; mmaproof list and tables show"):
        explain("é")
    with pytest.raises(InputError, match=r"^a name is expected"):
        explain(" ")


def test_a_finding_is_explained_by_the_rule_that_reports_name() -> None:
    for kind in Kind:
        assert kind.meaning in said(f"verify/{kind}")


@pytest.mark.parametrize("mnemonic", VARIANTS)
def test_theorems_are_found_by_the_instructions_they_name(mnemonic: str) -> None:
    variant, found = VARIANTS[mnemonic], about("ptx", mnemonic)
    ids = {theorem.id: members for theorem, members in found.items()}
    assert ids or variant.family in (Family.MOVMATRIX, Family.WMMA_MMA, *WARPGROUP_ORDER)
    if variant.family in WARPGROUP:
        assert ids.keys() >= {"ptx/warpgroup/layout", "ptx/warpgroup/scales", "ptx/descriptor/injective"}
        assert len(ids["ptx/warpgroup/layout"]) == 2 + (variant.family is Family.WGMMA_SP)
    if variant.family in (Family.MMA, Family.MMA_SP):
        assert ids.keys() >= {"ptx/fragment/executed", "ptx/fragment/registers"}
        assert len(ids["ptx/fragment/registers"]) >= 4
        assert ("ptx/blocked/step" in ids) != variant.satfinite
        assert len(ids.get("ptx/blocked/step", [""])) == 1
    elif variant.family not in MULTIPLYING and str(variant.family).startswith("wmma"):
        assert len(ids["ptx/wmma/transfer"]) == 1
    for members in found.values():
        types = {"f16", "bf16", "tf32", "f64", "e4m3", "e5m2", "s8", "u8", "s4", "u4", "b1"}
        parts = {part for member in members for segment in member.split("/") for part in segment.split("-")}
        if variant.family in (Family.MMA, Family.MMA_SP) and not any(
            "sees-tile" in member for member in members
        ):
            widened = {"f16"} if {"e4m3", "e5m2"} & set(variant.types) else set()  # where it is emulated
            assert parts & types <= {*variant.types, *widened}


@pytest.mark.parametrize("isa", ["mfma", "power"])
def test_obligations_name_the_products_that_they_are_about(isa: str) -> None:
    """Every product has layouts; loops are of those forms that loops are made of, and of their types."""
    layouts, loop = f"{isa}/layout/executed", f"{isa}/blocked/any-k"
    for row in instruction_set(isa).instructions():
        mnemonic = row["mnemonic"]
        found = {theorem.id: members for theorem, members in about(isa, mnemonic).items()}
        if isa == "mfma" or "ger" in mnemonic:
            assert layouts in found
            assert (loop in found) == (isa == "mfma" or bool(re.fullmatch(r"(pm)?xv.*ger\d?(pp)?", mnemonic)))
            if isa == "mfma":
                assert all(("s8-s8-s32" in each) == ("_i32_" in mnemonic) for each in found[loop])


def test_ids_name_instructions_of_power_and_pto() -> None:
    assert "power/blocked/ring" in {theorem.id for theorem in about("power", "xvf32gerpp")}
    (members,) = [o for t, o in about("power", "xvf32ger").items() if t.id == "power/encoding/round-trip"]
    assert members == ["power/encoding/round-trip/xvf32ger"]
    assert all("tgemv.mx" in o.split("/") for found in about("pto", "tgemv.mx").values() for o in found)
    assert "pto/numerics/narrowed" in {theorem.id for theorem in about("pto", "tstore")}


@pytest.mark.parametrize(
    ("word", "column", "isa"),
    [
        ("mma", "instruction", "ptx"),
        ("m16n8k16", "shape", "ptx"),
        ("LDMATRIX", "instruction", "ptx"),
        ("mxf4", "kind", "ptx"),
        ("xvi8", "mnemonic", "power"),
        ("v_mfma_i32", "mnemonic", "mfma"),
        ("32x32x1", "shape", "mfma"),
        ("gfx942", "targets", "mfma"),
    ],
)
def test_words_of_the_tables_are_explained_by_their_rows(word: str, column: str, isa: str) -> None:
    description = explain(word)
    rows = instruction_set(isa).tables["instructions"]()
    (lines,) = (lines for heading, lines in description.sections if heading.startswith(f"{column}: "))
    having = [row for row in rows if word.lower() in row[column].lower().replace(",", " ").split()]
    if column == next(iter(rows[0])):
        having = [row for row in rows if row[column].startswith(word.lower())]
    (heading,) = (heading for heading, _ in description.sections if heading.startswith(f"{column}: "))
    assert heading == f"{column}: {len(having)} of {len(rows)} rows of the table"
    assert {line.split(" | ")[0] for line in lines[:16]} <= {next(iter(row.values())) for row in having}


@pytest.mark.parametrize("fmt", FORMATS)
def test_element_types_are_explained(fmt: str) -> None:
    assert f"{format_named(fmt).bits} bits" in said(fmt)


def test_a_later_target_has_the_rows_of_earlier_ones() -> None:
    rows = instruction_set("ptx").tables["instructions"]()
    earlier = sum(any(each in row["targets"] for each in ("sm_70+", "sm_72+", "sm_75+")) for row in rows)
    assert f"targets: {earlier} of" in "\n".join(heading for heading, _ in explain("sm_75").sections)


def test_what_is_known_but_not_modelled_is_no_word_of_a_table() -> None:
    for name in ("v_smfmac_f32_16x16x32_f16", "v_wmma_f32_16x16x16_f16", "dp4a"):
        with pytest.raises(UnsupportedError, match=r"known, (but )?not modelled"):
            explain(name)


_MMA = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
_OPERANDS = "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"


@pytest.mark.parametrize(
    ("text", "mnemonic"),
    [
        (f"$L__BB0_2: {_MMA} {_OPERANDS}", _MMA),
        (f"  {{ {_MMA} {_OPERANDS} }}", _MMA),
        (f'asm volatile("{_MMA} "\n "{_OPERANDS}\\n" : "+f"(c[0]))', _MMA),
        ("  1040:\t08 01 62 ec \txvf32gerpp a0,vs33,vs34", "xvf32gerpp"),
        ("__builtin_mma_xvf32gerpp (&acc, x, y)", "xvf32gerpp"),
        ("llvm.ppc.mma.xvi8ger4", "xvi8ger4"),
        ("__builtin_amdgcn_mfma_f32_32x32x8f16(a, b, c, 0, 0, 0)", "v_mfma_f32_32x32x8f16"),
        ("llvm.amdgcn.mfma.f32.32x32x8f16", "v_mfma_f32_32x32x8f16"),
        ("TMATMUL_ACC(c, c, a, b);", "tmatmul.acc"),
        ("SM80_16x8x16_F32F16F16F32_TN", _MMA),
        ("SM70_8x8x4_F32F16F16F32_NT", "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f32"),
        (
            "SM80_16x8x256_S32U1U1S32_TN_XORPOPC",
            "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
        ),
    ],
)
def test_an_instruction_is_known_in_what_others_write(text: str, mnemonic: str) -> None:
    assert read(own_spelling(text)).mnemonic == read(mnemonic).mnemonic
    assert explain(text).sections[0] == explain(mnemonic).sections[0]


@pytest.mark.parametrize(
    "text",
    [
        "TMATMUL %a, %b : (!pto.tile<16x32xf16>, !pto.tile<32x16xf16>) -> !pto.tile<16x16xf32>",
        '"pto.tmatmul"(%a, %b) : (!pto.tile<16x32xf16>, !pto.tile<32x16xf16>) -> !pto.tile<16x16xf32>',
        f"{_MMA} {_OPERANDS}",
        "xvf32gerpp a0,vs33,vs34",
    ],
)
def test_what_an_instruction_set_reads_by_itself_is_left_alone(text: str) -> None:
    assert own_spelling(text) == text


@pytest.mark.parametrize("text", [f"{{ {_MMA} {_OPERANDS}", f"# {_MMA}", f"{_MMA} {_OPERANDS} }}"])
def test_what_is_no_line_of_a_listing_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        read(own_spelling(text))


def test_an_illegal_instruction_is_explained_by_the_rules_that_it_violates() -> None:
    description = explain("mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32")
    (title, lines), (_, alike) = description.sections
    assert title.startswith("Illegal on sm_") and lines[0].startswith("layout: layout row.row is not allowed")
    assert _MMA in alike
    title, (wrong,) = explain("xvi8ger4 a9,vs34,vs35").sections[0]
    assert (title, wrong) == ("Illegal as it is written", "accumulator-range: AT must be 0..7, not 9")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ptx", "mmaproof tables ptx --rules"),
        ("mma m16n8k16 bf16", "mma | m16n8k16 | bf16 x bf16 | f32 <- f32 | row.col"),
        ("overflow", "power/integers/overflow: "),
        ("@%p1 cp.async.cg.shared.global [%r1], [%rd1], 16;", "status: modelled"),
        ("/*0090*/ HMMA.16816.F32 R4, R8, R12, R4 ;", "known, not modelled"),
        ("ldmatirx", "did you mean ldmatrix"),
        ("SM90_64x64x16_F16F16F16_SS", "known, not modelled: CuTe's names of products of a warpgroup"),
        ("SM100_MMA_F16BF16_SS", "known, not modelled: CuTe's names"),
        ("llvm.nvvm.mma.m16n8k16.row.col.f32.f32", "known, not modelled: LLVM's and MLIR's names"),
        (f"{_MMA} {{%r1", "expected '}'"),
        ("tcgen05.mma", "tcgen05.mma | cta_group::1|cta_group::2"),
        ("mbarrier", "modelled"),
    ],
)
def test_what_people_ask_has_an_answer(name: str, expected: str) -> None:
    try:
        assert expected in said(name)
    except (InputError, UnsupportedError) as refusal:
        assert expected in str(refusal)


def test_an_instruction_is_explained_with_its_layouts_and_contradictions() -> None:
    lines = said(_MMA)
    assert "a: row = (lane >> 2) + 8·((i >> 1) & 1); column = 2·(lane & 3) + (i & 1) + 8·(i >> 2)" in lines
    assert "c, d: row = (lane >> 2) + 8·(i >> 1); column = 2·(lane & 3) + (i & 1)" in lines
    assert "row 15  T28:2-3  T29:2-3  T30:2-3  T31:2-3" in lines
    assert "fp8-m16n8k16-b: " in lines and "m16n8k256-a-columns" not in lines
    disagreement = "GNU as and llvm-mc: an odd first operand of xvf64ger*"
    assert disagreement in said("xvf64ger") and disagreement not in said("xvf32ger")


def test_a_notebook_shows_what_is_explained() -> None:
    page = explain("mma m16n8k16 bf16")._repr_html_()
    assert "<h4>mma m16n8k16 bf16 in ptx</h4>" in page and "f32 &lt;- f32" in page
