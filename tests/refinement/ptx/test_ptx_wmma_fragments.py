"""Fragments of wmma: whatever treats all elements alike is followed, and nothing else is believed."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from ptx_machine import Bench, kernel, kinds, written

from mmaproof.refinement.findings.finding import Kind
from mmaproof.spec.formats import F32, FloatFormat, format_named
from mmaproof.spec.ptx.assembly import parse
from mmaproof.spec.ptx.choices import Choices
from mmaproof.spec.ptx.operand_arrays import multiply
from mmaproof.spec.ptx.resolution import multiplication
from mmaproof.spec.ptx.wmma import MemoryOperand
from mmaproof.spec.ptx.wmma_forms import WMMA_FORMS, WmmaForm
from mmaproof.spec.values import encodings_of_values, values_of_encodings

RANDOM = np.random.default_rng(2)
POINTERS = "".join(f"ld.param.u64 %d{index}, [p{index}];\n" for index in range(4))


def vector(form: WmmaForm, role: str, kind: str) -> str:
    """Return the registers of an operand; each role has its own."""
    prefix, base = {"f64": ("%d", 10), "f32": ("%f", 0)}.get(kind, ("%r", 0))
    start = base + {"a": 0, "b": 8, "c": 16, "d": 24}[role]
    if prefix == "%d":
        start = base + 4 * "abcd".index(role)
    return f"{{{', '.join(f'{prefix}{start + i}' for i in range(form.registers(role, kind)))}}}"


def stride(operand: MemoryOperand) -> int:
    """Return the least stride with which every line is aligned."""
    unit = operand.fragment_bytes * 8 // operand.format.bits
    return -(-operand.minimum_stride // unit) * unit


def whole(
    form: WmmaForm, pair: tuple[str, str], accumulators: tuple[str, str], layouts: tuple[str, str]
) -> Any:
    """Return a product's name; loads, product and store as text; and the element types by role."""
    (a, b), (d, c) = pair, accumulators
    types = f"{d}.{c}" if a == "f16" else f"{d}.{a}.{b}.{c}"
    operation = f".{form.bit_operations[0][0]}.popc" if form.bit_operations else ""
    mnemonic = f"wmma.mma{operation}.sync.aligned.{'.'.join(layouts)}.{form.shape}.{types}"
    kinds = {"a": a, "b": b, "c": c, "d": d}
    held = {role: vector(form, role, kind) for role, kind in kinds.items()}
    loads = "".join(
        f"wmma.load.{role}.sync.aligned.{layout}.{form.shape}.global.{kinds[role]} {held[role]}, "
        f"[%d{index}], {stride(MemoryOperand(form.shape, role, format_named(kinds[role]), layout))};\n"
        for index, (role, layout) in enumerate(zip("abc", (*layouts, "col"), strict=True))
    )
    product = f"{mnemonic} {held['d']}, {held['a']}, {held['b']}, {held['c']};\n"
    store = f"wmma.store.d.sync.aligned.row.{form.shape}.global.{d} [%d3], {held['d']};\n"
    return mnemonic, loads, product, store, kinds


def data(
    bench: Bench, form: WmmaForm, kinds_of: dict[str, str], layouts: dict[str, str]
) -> tuple[dict[str, Any], list[Any]]:
    matrices, pointers = {}, []
    for role in "abc":
        fmt = format_named(kinds_of[role])
        low = 0 if fmt.bits == 1 or str(fmt)[0] == "u" else -1
        numbers = RANDOM.integers(low, 2, form.role_shape(role))
        values = numbers.astype(np.float64 if isinstance(fmt, FloatFormat) else np.int64)
        matrices[role] = encodings_of_values(role, values, fmt)
        lines = matrices[role].T if layouts[role] == "col" else matrices[role]
        missing = stride(MemoryOperand(form.shape, role, fmt, layouts[role])) - lines.shape[1]
        pointers.append(bench.given(role, np.pad(lines, ((0, 0), (0, missing))), fmt))
    return matrices, pointers


CASES = [
    (form, pair, accumulators, layouts)
    for form in WMMA_FORMS
    for pair in form.multiplicands[:1]
    for accumulators in form.accumulators[:2]
    for layouts in form.layouts[-2:]
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].shape}-{'-'.join(sum(case[1:], ()))}")
def test_every_form_multiplies(case: tuple[WmmaForm, Any, Any, tuple[str, str]]) -> None:
    form, *types, layouts = case
    mnemonic, loads, product, store, kinds_of = whole(form, *types, layouts)
    bench = Bench()
    matrices, pointers = data(bench, form, kinds_of, dict(zip("abc", (*layouts, "col"), strict=True)))
    result = format_named(kinds_of["d"])
    size = matrices["c"].size * result.bits // 8
    done = bench.run(kernel(POINTERS + loads + product + store, 4), [*pointers, written("d", size)])
    assert done.findings == ()
    expected = multiply(
        multiplication(parse(mnemonic).variant),
        {f"{role}_bits": m for role, m in matrices.items()},
        Choices(),
    )["d_bits"]
    np.testing.assert_array_equal(bench.left(done, "d", result), expected.reshape(-1))


FORM = WMMA_FORMS[0]
_, LOADS, PRODUCT, STORE, KINDS = whole(FORM, ("f16", "f16"), ("f32", "f32"), ("row", "col"))


def finished(between: str, after: str = STORE, loads: str = LOADS) -> tuple[Bench, Any, dict[str, Any]]:
    bench = Bench()
    matrices, pointers = data(bench, FORM, KINDS, {"a": "row", "b": "col", "c": "col"})
    text = kernel(POINTERS + loads + PRODUCT + between + after, 4)
    return bench, bench.run(text, [*pointers, written("d", 1024)]), matrices


def on_each(text: str) -> str:
    """Return an instruction for each register of D and of C, ``D`` and ``C`` in it replaced."""
    return "".join(text.replace("D", f"%f{24 + i}").replace("C", f"%f{16 + i}") + ";\n" for i in range(8))


def test_elements_may_all_be_treated_alike() -> None:
    bench, done, matrices = finished(
        on_each("mul.f32 D, D, 0f40000000; add.f32 D, D, C; max.f32 D, D, 0f00000000")
    )
    assert done.findings == ()
    signed = {
        role: values_of_encodings(matrix, format_named(KINDS[role])) for role, matrix in matrices.items()
    }
    expected = np.maximum(2 * (signed["a"] @ signed["b"] + signed["c"]) + signed["c"], 0)
    np.testing.assert_array_equal(
        bench.left(done, "d", F32), encodings_of_values("d", expected.astype(np.float64), F32).reshape(-1)
    )


@pytest.mark.parametrize(
    ("usual", "exchanged"),
    [
        ("mul.f32 D, D, C", "mul.f32 D, C, D"),
        ("add.f32 D, C, D", "add.f32 D, D, C"),
        ("fma.rn.f32 D, D, C, D", "fma.rn.f32 D, C, D, D"),
        ("max.f32 D, D, C", "max.f32 D, C, D"),
    ],
)
@pytest.mark.parametrize("which", [0, 3, 7])
def test_operands_that_commute_may_be_exchanged_in_one_element(
    usual: str, exchanged: str, which: int
) -> None:
    lines = on_each(usual).splitlines()
    expected = finished(on_each(usual))
    lines[which] = on_each(exchanged).splitlines()[which]
    bench, done, _ = finished("\n".join(lines))
    assert done.findings == ()
    assert len(bench.left(done, "d", F32)) == len(expected[0].left(expected[1], "d", F32))


def spelled_otherwise(text: str, order: int) -> str:
    """Return instructions with their modifiers in another order, types and layouts in theirs."""
    kept = {"row", "col", "f16", "f32"}

    def other(match: re.Match[str]) -> str:
        modifiers = match[2][1:].split(".")
        free = [modifier for modifier in modifiers if modifier not in kept]
        fixed = [modifier for modifier in modifiers if modifier in kept]
        free = free[order:] + free[:order]
        return f"{match[1]}.{'.'.join([*fixed, *free] if order % 2 else [*free, *fixed])}"

    return re.sub(r"(wmma\.(?:load\.[abc]|store\.d|mma))((?:\.\w+)+)", other, text)


@pytest.mark.parametrize("order", range(4))
def test_modifiers_stand_in_any_order(order: int) -> None:
    bench = Bench()
    matrices, pointers = data(bench, FORM, KINDS, {"a": "row", "b": "col", "c": "col"})
    text = spelled_otherwise(kernel(POINTERS + LOADS + PRODUCT + STORE, 4), order)
    done = bench.run(text, [*pointers, written("d", 1024)])
    assert done.findings == ()
    a, b, c = (values_of_encodings(matrices[role], format_named(KINDS[role])) for role in "abc")
    expected = encodings_of_values("d", a @ b + c, F32)
    np.testing.assert_array_equal(bench.left(done, "d", F32), expected.reshape(-1))


def test_a_fragment_may_be_filled_with_one_value() -> None:
    bench, done, _ = finished(on_each("mov.f32 D, 0f40400000"))
    assert done.findings == ()
    np.testing.assert_array_equal(bench.left(done, "d", F32), [0x40400000] * 256)


def test_registers_may_be_spilled() -> None:
    spill = "".join(f"st.local.f32 [own+{4 * i}], %f{24 + i};\n" for i in range(8))
    fill = "".join(f"ld.local.f32 %f{24 + i}, [own+{4 * i}];\n" for i in range(8))
    bench = Bench()
    _, pointers = data(bench, FORM, KINDS, {"a": "row", "b": "col", "c": "col"})
    text = kernel(POINTERS + LOADS + PRODUCT + spill + on_each("mov.f32 D, 0f00000000") + fill + STORE, 4,
                  ".local .align 4 .b8 own[32];")  # fmt: skip
    assert bench.run(text, [*pointers, written("d", 1024)]).findings == ()


@pytest.mark.parametrize(
    "between",
    [
        "mul.f32 %f24, %f24, 0f40000000;",
        "mov.f32 %f24, %f25;",
        "mov.f32 %f1, %f24; mov.f32 %f24, %f25; mov.f32 %f25, %f1;",
        "mov.f32 %f24, 0f00000000;",
        "mov.u32 %r30, %laneid; cvt.rn.f32.u32 %f1, %r30;" + on_each("add.f32 D, D, %f1"),
        "shfl.sync.bfly.b32 %f24, %f24, 1, 31, 0xffffffff;",
        on_each("mov.b32 D, %r0"),
        on_each("ld.global.f32 D, [%d2]").replace("[%d2]", "[%d2+4]", 1),
    ],
)  # fmt: skip
def test_elements_treated_differently_are_reported(between: str) -> None:
    _, done, _ = finished(between)
    assert set(kinds(done)) == {Kind.UNDEFINED}


@pytest.mark.parametrize("load", ["wmma.load.b.sync.aligned.row", "wmma.load.b.sync.aligned.col"])
def test_a_fragment_is_read_as_it_was_loaded(load: str) -> None:
    _, done, _ = finished("", loads=LOADS.replace("wmma.load.b.sync.aligned.col", load))
    assert set(kinds(done)) == (set() if load.endswith("col") else {Kind.UNDEFINED})


def test_an_element_that_is_stored_by_its_place_is_reported() -> None:
    store = "mov.u32 %r30, %laneid; mad.wide.u32 %d9, %r30, 4, %d3; st.global.f32 [%d9], %f24;"
    _, done, _ = finished("", store)
    (finding,) = done.findings
    assert finding.kind is Kind.UNDEFINED
    assert "wmma fragment" in finding.message


def test_fragments_of_wmma_are_none_of_mma() -> None:
    mma = (
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%f24, %f25, %f26, %f27}, {%r0, %r1, %r2, %r3}, {%r8, %r9}, {%f24, %f25, %f26, %f27};"
        "mov.u32 %r30, %laneid; mad.wide.u32 %d9, %r30, 4, %d3; st.global.f32 [%d9], %f24;"
    )
    _, done, _ = finished("", on_each("mov.f32 D, 0f00000000") + mma)
    assert set(kinds(done)) == {Kind.UNDEFINED}


def test_a_short_stride_is_reported() -> None:
    _, done, _ = finished("mov.u32 %r30, 8;", STORE.replace(";", ", %r30;"))
    assert Kind.UNDEFINED in kinds(done)


def test_a_warp_has_one_pointer_and_one_stride() -> None:
    lane = "mov.u32 %r30, %laneid;"
    apart = "mad.wide.u32 %d9, %r30, 32, %d0;"
    for loads in (
        lane + apart + LOADS.replace("[%d0]", "[%d9]"),
        lane + "add.u32 %r30, %r30, 16;" + re.sub(r"\[%d0\], \d+;|\[%d0\];", "[%d0], %r30;", LOADS),
    ):
        _, done, _ = finished("", loads=loads)
        found = [finding for finding in done.findings if "the same in a whole warp" in finding.message]
        assert found and found[0].kind is Kind.UNDEFINED


def test_a_warp_of_which_a_thread_has_exited_loads_nothing() -> None:
    leave = "mov.u32 %r30, %laneid; setp.eq.u32 %p0, %r30, 31; @%p0 ret;\n"
    _, done, _ = finished("", loads=leave + LOADS)
    assert Kind.DIVERGENCE in kinds(done)
