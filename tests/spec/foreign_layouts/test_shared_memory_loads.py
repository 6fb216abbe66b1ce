"""Shared memory, then ldmatrix: which pairs deliver an operand, against the pairings that are proved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from mmaproof.proofs.ptx.loaded_tiles import LoadedOperand, loaded_operands, mistakes, operands
from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.foreign_layouts.against import compare_layout
from mmaproof.spec.foreign_layouts.comparison import Verdict
from mmaproof.spec.foreign_layouts.cute_text import parse_composed
from mmaproof.spec.ptx.catalogue import ALL_FORMS
from mmaproof.spec.ptx.mma_forms import MmaForm
from mmaproof.spec.ptx.resolution import multiplication

F16 = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"
X4 = "ldmatrix.sync.aligned.m8n8.x4.shared.b16"
X2 = "ldmatrix.sync.aligned.m8n8.x2.shared.b16"
SWIZZLED = "Swizzle<3,3,3> o (16,64):(64,1)"


def _instructions() -> dict[str, tuple[str, str]]:
    """Return an instruction and an operand for every fragment that `operands` names."""
    found = {}
    for form in ALL_FORMS:
        if isinstance(form, MmaForm):
            for variant in form.variants():
                resolved = multiplication(variant)
                for role in "ab":
                    found.setdefault((resolved.name, role), resolved.fragment(role))
    by_layout = {}
    for name, fragment in operands().items():
        matching = (key for key, other in found.items() if other == fragment and key[1] == name[-1])
        by_layout[name] = next(matching)
    return by_layout


INSTRUCTIONS = _instructions()
PAIRINGS = {name: one for name, one in loaded_operands().items() if one.move.expansion is None}
every_pairing = pytest.mark.parametrize("name", PAIRINGS)


def _memory(pairing: LoadedOperand) -> str:
    """Spell the tile's layout: its lines contiguous, or the places of its lines."""
    lines, length = pairing.lines
    step = f"({length},1)" if pairing.lines_in_memory else f"(1,{lines})"
    return f"({lines},{length}):{step}"


def _load(pairing: LoadedOperand, *, trans: bool | None = None) -> list[str]:
    """Spell the instruction, once for every part with the registers of that part."""
    move, count = pairing.move, pairing.move.registers
    transposed = ".trans" * (move.trans if trans is None else trans)
    text = f"ldmatrix.sync.aligned.{move.shape}.x{move.count}{transposed}.shared.b{move.element.bits}"
    if pairing.parts == 1:
        return [text]
    chosen = (range(part, count, pairing.parts) for part in range(pairing.parts))
    return [f"{text}[{','.join(map(str, registers))}]" for registers in chosen]


@every_pairing
def test_what_is_proved_to_see_its_tile_is_delivered(name: str) -> None:
    pairing = PAIRINGS[name]
    instruction = INSTRUCTIONS[pairing.operand]
    for load in _load(pairing):
        found = compare_layout(*instruction, f"{load} <- {_memory(pairing)}")
        assert found.equal, list(found.lines())


@every_pairing
def test_the_other_order_in_memory_is_not_delivered(name: str) -> None:
    pairing = PAIRINGS[name]
    lines, length = pairing.lines
    step = f"(1,{lines})" if pairing.lines_in_memory else f"({length},1)"
    for load in _load(pairing):
        found = compare_layout(*INSTRUCTIONS[pairing.operand], f"{load} <- ({lines},{length}):{step}")
        assert found.verdict is Verdict.UNDELIVERABLE


def test_missing_and_superfluous_transposition_is_found() -> None:
    tried = 0
    for mistake, pairing in mistakes(loaded_operands()):
        if mistake in ("missing-trans", "superfluous-trans"):
            (load,) = _load(pairing)
            found = compare_layout(*INSTRUCTIONS[pairing.operand], f"{load} <- {_memory(pairing)}")
            assert found.verdict is Verdict.UNDELIVERABLE
            tried += 1
    assert tried == 2


@dataclass(frozen=True)
class _Case:
    """A load with given addresses, and what becomes of it."""

    operand: str
    text: str
    verdict: Verdict
    said: str


@pytest.mark.parametrize(
    "case",
    [
        _Case(
            "a", f"{X4} at Swizzle<3,3,3> o (16,2):(64,8) <- {SWIZZLED}", Verdict.EQUAL, "no bank conflicts"
        ),
        _Case("a", f"{X4} at (16,2):(64,8) <- {SWIZZLED}", Verdict.OUT_OF_RANGE, "lane 8, element 0 holds"),
        _Case("a", f"{X4} at (16,2):(64,8) <- (16,64):(64,1)", Verdict.EQUAL, "8-way bank conflicts"),
        _Case(
            "a", f"{X4} at (8,2,2):(64,8,512) <- (16,64):(64,1)", Verdict.OTHER_BIJECTION, "registers (1 2)"
        ),
        _Case(
            "a", f"{X4} at (16,2):(64,4) <- (16,64):(64,1)", Verdict.UNDELIVERABLE, "lane 16 passes offset 4"
        ),
        _Case("a", f"{X4} at (16,2):(64,2048) <- (16,64):(64,1)", Verdict.OUT_OF_RANGE, "lane 16 points to"),
        _Case(
            "a",
            f"{X4} at (16,2):(0,8) <- (16,64):(64,1)",
            Verdict.COLLISION,
            "lane 0, element 0 and lane 0, element 2 hold",
        ),
        _Case("a", f"{X4} <- Swizzle<3,2,3> o (16,64):(64,1)", Verdict.UNDELIVERABLE, "-8 bytes apart"),
        _Case(
            "a", f"{X4} <- Sw<3,4,3> o smem_ptr[16b](unset) o (16,64):(64,1)", Verdict.EQUAL, "4 of 4 tiles"
        ),
        _Case("a", f"{X4} <- Sw<3,3,3> o _0 o (_16,_64):(_64,_1)", Verdict.EQUAL, "no bank conflicts"),
        _Case("a", f"{X4} <- (16,16):(17,1)", Verdict.UNDELIVERABLE, "row 1 of matrix 0 begins at byte 34"),
        _Case("a", f"{X4} <- (16,16):(24,1)", Verdict.EQUAL, "no bank conflicts"),
        _Case(
            "a",
            f"{X4} <- (16,16):(8,1)",
            Verdict.COLLISION,
            "(0, 8) and (1, 0) of the tile are both at offset 8",
        ),
        _Case("b", f"{X2} <- (8,64):(64,1)", Verdict.EQUAL, "4 of 4 tiles"),
        _Case("b", f"{X4}[0,1] <- (16,16):(16,1)", Verdict.EQUAL, "2 of 2 tiles"),
    ],
    ids=lambda case: case.text,
)
def test_a_load_has_its_verdict(case: _Case) -> None:
    found = compare_layout(F16, case.operand, case.text)
    assert found.verdict is case.verdict, list(found.lines())
    assert case.said in "\n".join(found.lines())


@given(st.integers(0, 3), st.integers(0, 5), st.integers(0, 4))
def test_a_swizzle_delivers_exactly_if_it_keeps_16_bytes_together(bits: int, base: int, extra: int) -> None:
    shift = bits + extra
    found = compare_layout(F16, "a", f"{X4} <- Swizzle<{bits},{base},{shift}> o (16,64):(64,1)")
    keeps = bits == 0 or base >= 3
    assert found.equal is keeps
    assert found.equal or found.verdict is Verdict.UNDELIVERABLE


@given(st.integers(0, 4), st.integers(0, 4), st.integers(-6, 6))
def test_a_swizzle_is_its_own_inverse(bits: int, base: int, shift: int) -> None:
    assume(bits <= abs(shift) and base + abs(shift) + bits <= 11)
    layout = parse_composed(f"Swizzle<{bits},{base},{shift}> o (1024,2):(1,1024)")
    assert layout.swizzle is not None
    index = layout.layout.image()
    assert np.array_equal(layout.swizzle(layout.swizzle(index)), index)
    assert sorted(layout(index)) == list(range(len(index)))


def test_a_swizzle_is_cutes() -> None:
    """Sw<3,3,3> of (8,64):(64,1): row r, chunk c of 8 elements lies in chunk c ^ r."""
    layout = parse_composed("Swizzle<3,3,3> o (8,64):(64,1)")
    offsets = layout(layout.layout.grid())
    rows, columns = np.indices((8, 64))
    assert np.array_equal(offsets, 64 * rows + 8 * (columns // 8 ^ rows) + columns % 8)


@pytest.mark.parametrize(
    ("operand", "text", "message"),
    [
        ("a", f"{X2} <- (16,16):(16,1)", "writes 2 registers"),
        ("b", f"{X4} <- (8,16):(16,1)", "the operand has 2"),
        ("b", f"{X4}[0,4] <- (8,16):(16,1)", "writes 4 registers"),
        ("a", f"{X4} <- (16,24):(24,1)", "no multiple"),
        ("a", f"{X4} <- (16,16,2):(16,1,256)", "two outermost coordinates"),
        ("a", f"{X4} <- ((4,4),16):(16,1)", "not nested alike"),
        ("a", f"{X4} <- (16,16):(-16,1)", "negative offset"),
        ("a", f"{X4} <- (16,16):(99999999,1)", "no shared memory is that large"),
        ("a", f"{X4} <- (100000,10000):(1,100000)", "is not looked at"),
        ("a", f"{X4} at (16,4):(16,1) <- (16,16):(16,1)", "has 64 lanes"),
        ("a", f"{X4} <- Swizzle<9,3,3> o (16,16):(16,1)", "does not have 0 <= B <= |S|"),
        ("a", f"{X4} <- Swizzle<3,3> o (16,16):(16,1)", "three numbers"),
        ("a", f"{X4}", "is no load"),
        ("a", "stmatrix <- (16,16):(16,1)", "is no load"),
        ("d", f"{X4} <- (16,16):(16,1)", "not d of"),
    ],
)
def test_what_is_no_load_of_the_operand_is_refused(operand: str, text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        compare_layout(F16, operand, text)
    assert message in str(refused.value)


@pytest.mark.parametrize(
    ("shape", "operand", "load"),
    [("m8n8k4", "a", "x1"), ("m16n8k4", "a", "x2"), ("m16n8k16", "b", "x4"), ("m16n8k8", "c", "x4.trans")],
)
def test_elements_of_64_bits_are_not_delivered(shape: str, operand: str, load: str) -> None:
    product = f"mma.sync.aligned.{shape}.row.col.f64.f64.f64.f64"
    text = f"ldmatrix.sync.aligned.m8n8.{load}.shared.b16 <- (16,16):(16,1)"
    found = compare_layout(product, operand, text)
    assert found.verdict is Verdict.UNDELIVERABLE and "8 neighbouring bytes" in found.witness


def test_an_expanding_load_is_unsupported() -> None:
    load = "ldmatrix.sync.aligned.m8n16.x4.shared.b8x16.b4x16_p64"
    narrow = "mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32"
    with pytest.raises(UnsupportedError, match="expands"):
        compare_layout(narrow, "a", f"{load} <- (16,32):(32,1)")


@pytest.mark.parametrize("offset", ["", "smem_ptr[16b](unset) o ", "4 o "])
def test_a_circle_composes_as_the_letter_does(offset: str) -> None:
    text = f"Sw<3,4,3> o {offset}(8,64):(64,1)"
    assert parse_composed(text.replace(" o ", " ∘ ")) == parse_composed(text)


@pytest.mark.parametrize(
    "text", ["(8,64):(64,1)", "Swizzle<3,4,3> o (8,64):(64,1)", "Swizzle<3,4,3> o 4 o (8,2):(2,1)"]
)
def test_compositions_are_printed_as_they_are_written(text: str) -> None:
    assert str(parse_composed(text)) == text
