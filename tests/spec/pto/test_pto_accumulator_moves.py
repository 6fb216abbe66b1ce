"""What an accumulator becomes, by profile: the static assertions of the headers as a table, for every type.

Source: pto-isa, CheckTMovAccToMat (a2a3/common.hpp), CheckTMovAccValid (a5/common.hpp), CheckTExtract and
TEXTRACT_TILE_IMPL (TExtract.hpp of both), TINSERT_IMPL (TInsert.hpp of both), CheckAcc2gm (TStore.hpp of
A2A3), CheckStaticAcc (TStore.hpp of A5).
"""

from __future__ import annotations

import re
from itertools import product

import pytest

from mmaproof.spec.errors import InputError
from mmaproof.spec.pto.assembly import parse
from mmaproof.spec.pto.element_types import ELEMENT_TYPES
from mmaproof.spec.pto.legality import judge
from mmaproof.spec.pto.resolution import resolve_known
from mmaproof.spec.pto.targets import profile_named

SOURCES = ("f32", "i32", "f16", "i8")

# profile, operations, targets: source types and what they may become
TABLE = """
A2A3 tmov,tinsert   mat     plain:     f32 -> f16 bf16
A2A3 tmov,tinsert   mat     quantised: f32 -> i8                                  ; i32 -> i8 ui8 f16 i16
A2A3 textract       mat     plain:     f32 -> f16 bf16
A2A3 textract       mat     quantised: f32 -> i8                                  ; i32 -> i8 ui8 f16 i16
A2A3 tmov,textract  vec     plain:
A2A3 tmov,textract  vec     quantised:
A2A3 tstore         memory  plain:     f32 -> i32 f32 f16 bf16                    ; i32 -> i32 f32 f16 bf16
A2A3 tstore         memory  quantised: f32 -> i8 ui8                              ; i32 -> i8 ui8 f16
A5   tmov,tinsert   mat,vec plain:     f32 -> f16 bf16 f32                        ; i32 -> i32
A5   tmov,tinsert   mat,vec quantised: f32 -> i8 ui8 hif8 f16 bf16 f8E4M3FN f32   ; i32 -> i8 ui8 f16 bf16
A5   textract       mat,vec plain:     f32 -> f16 bf16 f32
A5   textract       mat,vec quantised: f32 -> i8 ui8 hif8 f16 bf16 f8E4M3FN f32   ; i32 -> i8 ui8 f16 bf16
A5   tstore         memory  plain:     f32 -> i32 f32 f16 bf16                    ; i32 -> i32 f32 f16 bf16
A5   tstore         memory  quantised: f32 -> i8 ui8 hif8 f16 bf16 f8E4M3FN f32   ; i32 -> i8 ui8 f16 bf16
"""

JUDGED = {"move-types", "extract-types", "move-places"}


def _rows():
    for line in TABLE.strip().splitlines():
        head, _, pairs = line.partition(":")
        profile, operations, places, mode = head.split()
        allowed = {}
        for pair in filter(str.strip, pairs.split(";")):
            source, _, targets = pair.partition("->")
            allowed[source.strip()] = set(targets.split())
        for operation, place in product(operations.split(","), places.split(",")):
            yield profile, operation, place, mode, allowed


def statement(operation: str, place: str, source: str, target: str, quantisation: str) -> str:
    """Return a move out of an accumulator of 64x64 with a quantisation: none, a scalar, a tile or a name."""
    acc = f"!pto.tile_buf<acc, 64x64x{source}, blayout=col_major, slayout=row_major, fractal=1024>"
    to = {
        "mat": f"!pto.tile_buf<mat, 64x64x{target}, blayout=col_major, slayout=row_major>",
        "vec": f"!pto.tile_buf<vec, 64x64x{target}>",
        "memory": f"!pto.partition_tensor_view<64x64x{target}>",
    }[place]
    values, types = ["%a"], [acc]
    if operation in ("textract", "tinsert"):
        values, types = [*values, "0", "0"], [*types, "index", "index"]
    if quantisation in ("scalar", "tile"):
        values.append("%q")
        types.append("i64" if quantisation == "scalar" else "!pto.tile_buf<scaling, 1x64xui64>")
    attribute = " {preQuantScalar = 1 : i64}" if quantisation == "attribute" else ""
    return f"pto.{operation} ins({', '.join(values)} : {', '.join(types)}) outs(%t : {to}){attribute}"


@pytest.mark.parametrize(("profile", "operation", "place", "mode", "allowed"), [*_rows()])
def test_an_accumulator_becomes_what_the_headers_assert(
    profile: str, operation: str, place: str, mode: str, allowed: dict[str, set[str]]
) -> None:
    forms = ("scalar", "tile", "attribute") if mode == "quantised" else ("none",)
    for source, target, form in product(SOURCES, ELEMENT_TYPES, forms):
        text = statement(operation, place, source, target, form)
        found = judge(resolve_known(parse(text), profile_named(profile)))
        wrong = {violation.rule.id for violation in found.violations}
        assert (wrong & JUDGED) is not (target in allowed.get(source, set())), text
        if target in allowed.get(source, set()):
            assert wrong <= {"capacity"}, (text, wrong)


@pytest.mark.parametrize("form", ["none", "scalar", "tile", "attribute"])
@pytest.mark.parametrize("operation", ["tmov", "textract", "tinsert", "tstore"])
def test_the_simulator_assigns_any_type_to_any(operation: str, form: str) -> None:
    for source, target in product(SOURCES, ELEMENT_TYPES):
        text = statement(operation, "memory" if operation == "tstore" else "mat", source, target, form)
        found = judge(resolve_known(parse(text), profile_named("CPU")))
        assert found.violations == ()
        assigned = operation == "tmov" or form == "none"
        noted = any("as C++ converts them" in note for note in map(str, found.notes))
        assert noted is (assigned and source != target)


@pytest.mark.parametrize("operation", ["tmov", "textract", "tinsert", "tstore"])
@pytest.mark.parametrize("suffix", [".fp", "_fp"])
def test_fp_names_a_move_with_a_tile_of_scale_factors(operation: str, suffix: str) -> None:
    text = statement(operation, "memory" if operation == "tstore" else "mat", "i32", "f16", "tile")
    named = text.replace(f"pto.{operation}", f"pto.{operation}{suffix}")
    assert parse(named) == parse(text)
    with_factors_first = re.sub(
        r"%a, 0, 0, %q : (.*>), index, index, (.*)\) outs",
        r"%a, %q, 0, 0 : \1, \2, index, index) outs",
        named,
    )
    assert parse(with_factors_first) == parse(text)
    bare = statement(operation, "memory" if operation == "tstore" else "mat", "i32", "f16", "none")
    with pytest.raises(InputError, match="one a tile of factors"):
        parse(bare.replace(f"pto.{operation}", f"pto.{operation}{suffix}"))
