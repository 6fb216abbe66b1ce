"""Descriptors of tcgen05: fields as Triton's kernels have them, what is refused, and who disagrees."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.ptx.matrix_descriptor import MatrixDescriptor
from mmaproof.spec.ptx.targets import TARGETS
from mmaproof.spec.ptx.tensor_memory import descriptor_rules, shared_descriptor
from mmaproof.spec.ptx.tensor_memory.descriptor_rules import Described
from mmaproof.spec.ptx.tensor_memory.instruction_descriptor import InstructionDescriptor, table
from mmaproof.spec.ptx.tensor_memory.kinds import KINDS, columns_of_d
from mmaproof.spec.ptx.tensor_memory.product_form import ProductForm

COMPILED = [
    ("f16", 0x08200010, {"m": 128, "n": 128, "d": "f32", "a": "f16", "b": "f16"}),
    ("f16", 0x08410490, {"m": 128, "n": 256, "d": "f32", "a": "bf16", "b": "bf16", "transpose_b": 1}),
    ("tf32", 0x08200910, {"m": 128, "n": 128, "d": "f32", "a": "tf32", "b": "tf32"}),
    ("f8f6f4", 0x08200410, {"m": 128, "n": 128, "d": "f32", "a": "e4m3", "b": "e5m2"}),
    ("i8", 0x082004A0, {"m": 128, "n": 128, "d": "s32", "a": "s8", "b": "s8"}),
    ("mxf8f6f4", 0x48A00020, {"m": 128, "n": 128, "scale": "ue8m0", "scale_a_id": 2, "scale_b_id": 2}),
    ("mxf4", 0x08A004A0, {"m": 128, "n": 128, "scale": "ue8m0", "a": "e2m1", "scale_b_id": 2}),
    ("mxf4nvf4", 0x08200480, {"m": 128, "n": 128, "scale": "ue4m3", "b": "e2m1"}),
]


@pytest.mark.parametrize(("kind", "word", "fields"), COMPILED)
def test_constants_of_compiled_kernels(kind: str, word: int, fields: dict[str, object]) -> None:
    found = InstructionDescriptor.decoded(kind, word)
    assert fields.items() <= found.values.items() and found.encoding == word
    text = " ".join(f"{name}={value}" for name, value in fields.items())
    assert InstructionDescriptor.read(kind, f"idesc={word}") == found
    assert InstructionDescriptor.read(kind, text).values.items() >= fields.items()


@pytest.mark.parametrize("kind", KINDS)
def test_fields_are_all_bits(kind: str) -> None:
    for fields in (table(kind), shared_descriptor.TABLE):
        covered = sum(((1 << field.width) - 1) << field.low for field in fields.fields)
        assert covered == (1 << fields.bits) - 1 == sum(1 << bit for bit in range(fields.bits))


@pytest.mark.parametrize(
    ("kind", "text", "message"),
    [
        ("f16", "m=100", "m can't be 100"),
        ("f16", "a=e4m3", "a can't be e4m3; there are f16: 0, bf16: 1"),
        ("i8", "negate_a=1", "'negate_a=1' is no field"),
        ("mxf4", "scale_a_id=1", "scale_a_id can't be 1"),
        ("f16", "idesc=0x10 m=64", "stand alone"),
        ("f16", "m=64 m=64", "given twice"),
        ("f16", "idesc=0x40", "bits 6 can't be 1"),
    ],
)
def test_fields_that_there_are_not(kind: str, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        InstructionDescriptor.read(kind, text)


def form(kind: str = "f16", **more: object) -> ProductForm:
    vector = KINDS[kind].vectors[0][1] if KINDS[kind].vectors else 0
    return ProductForm("tcgen05.mma", KINDS[kind], vector=vector, **more)  # type: ignore[arg-type]


def word(kind: str = "f16", **values: object) -> int:
    return InstructionDescriptor.of(kind, **{"m": 128, "n": 64, **values}).encoding  # type: ignore[arg-type]


BROKEN = [
    (form(), word() | 1 << 6, "sm_100a", "idesc-meaning"),
    (form(), word(m=256), "sm_100a", "idesc-shape"),
    (form(ctas=2), word(n=24), "sm_100a", "idesc-shape"),
    (form("i8"), word("i8", n=40), "sm_100a", "idesc-shape"),
    (form(ws=True), word(n=32), "sm_100a", "idesc-shape"),
    (form("f8f6f4"), word("f8f6f4", n=8, transpose_b=1), "sm_100a", "idesc-shape"),
    (form("mxf4", ctas=2, sparse=True), word("mxf4", sparse=1), "sm_100a", "idesc-shape"),
    (form(), word(a="bf16", b="bf16"), "sm_100a", "idesc-types"),
    (form(), word(sparse=1), "sm_100a", "idesc-sparse"),
    (form(sparse=True), word(sparse=1, selector=2), "sm_100a", "idesc-sparse"),
    (form(a_in_tensor_memory=True), word(transpose_a=1), "sm_100a", "idesc-major"),
    (form("f8f6f4"), word("f8f6f4", b="e2m1", transpose_b=1), "sm_100a", "idesc-major"),
    (ProductForm("x", KINDS["mxf4nvf4"], vector=4), word("mxf4nvf4", scale_a_id=2), "sm_100a", "idesc-scale"),
    (form(), word(max_shift=8), "sm_100a", "idesc-shift"),
    (form(ashift=True), word(m=64), "sm_100a", "idesc-shift"),
    (form("mxf4"), word("mxf4", k96=1), "sm_100a", "idesc-k96"),
]


@pytest.mark.parametrize(("form", "word", "target", "rule"), BROKEN)
def test_the_rule_that_is_violated(form: ProductForm, word: int, target: str, rule: str) -> None:
    found = descriptor_rules.violations(Described(form, word), TARGETS[target])
    assert [violation.rule.id for violation in found] == [rule]


def test_every_rule_is_tried() -> None:
    assert {rule.id for rule in descriptor_rules.RULES} == {rule for *_, rule in BROKEN}


def test_what_documents_disagree_on_is_no_violation() -> None:
    for asked, bits in ((form(), word(b="bf16", d="f32")), (form("i8"), word("i8", n=24))):
        described = Described(asked, bits)
        assert descriptor_rules.violations(described, TARGETS["sm_100a"]) == []
        assert len(descriptor_rules.doubts(described)) == 1
    assert 24 in columns_of_d(KINDS["i8"], ws=False, ctas=1, sparse=False)


def test_matrix_descriptors_of_compiled_kernels() -> None:
    for swizzle, high in ((128, 0x40004040), (64, 0x80004020), (32, 0xC0004010)):
        fields = MatrixDescriptor(0x400, 0, 8 * swizzle, swizzle)
        assert shared_descriptor.encoded(fields) == high << 32 | 0x40
        assert shared_descriptor.decoded(high << 32 | 0x40) == fields


def test_matrix_descriptors_that_are_refused() -> None:
    hopper = MatrixDescriptor(0x400).encoding
    for bits, message in (
        (hopper, "bits 48..46"),
        (1 << 46 | 3 << 61, "swizzle"),
        (1 << 46 | 1 << 14, "15..14"),
    ):
        with pytest.raises(InputError, match=message):
            shared_descriptor.decoded(bits)
        pointing = shared_descriptor.Pointing("b-desc", bits)
        assert shared_descriptor.violations(pointing, TARGETS["sm_100a"])[0].rule.id == "desc-meaning"
    absolute = shared_descriptor.Pointing("a-desc", 1 << 46 | 1 << 52)
    assert shared_descriptor.violations(absolute, TARGETS["sm_103a"])[0].rule.id == "desc-absolute"
    with pytest.raises(UnsupportedError, match="absolute"):
        shared_descriptor.decoded(absolute.word | 2 << 61)
    # Triton writes a base offset where nothing is swizzled, and so it says nothing.
    assert shared_descriptor.decoded(1 << 46 | 4 << 49) == MatrixDescriptor(0, 0, 0, 0)


def test_swizzling_that_leaves_32_bytes_together() -> None:
    fields, transposed = shared_descriptor.read("swizzle=128-atom32 leading=4096 stride=512 transposed")
    matrix = shared_descriptor.shared_matrix(fields, 64, 8, 32, transposed=transposed)
    x, k = np.indices((64, 8))
    plain = 4 * x % 128 + 4 * x // 128 * 4096 + k % 4 * 128 + k // 4 * 512
    assert (matrix.address(x, k)[0] == plain ^ (plain >> 7 & 3) << 5).all()
    assert matrix.cute == "Swizzle<2,3,2> o ((32,2),(4,2)):((1,1024),(32,128))"
    assert shared_descriptor.decoded(shared_descriptor.encoded(fields)) == fields
    for bits, message in ((16, "not with swizzling"), (32, "is for neighbours along M or N")):
        with pytest.raises(InputError, match=message):
            shared_descriptor.shared_matrix(fields, 64, 8, bits, transposed=bits == 16)


def test_bytes_and_nibbles_lie_as_halves_do() -> None:
    fields = MatrixDescriptor(0, 1024, 1024, 128)
    transposed = shared_descriptor.shared_matrix(fields, 128, 32, 8, transposed=True)
    assert transposed.address(3, 1)[0] == 128 + (3 ^ 16)
    packed = shared_descriptor.shared_matrix(fields, 8, 64, 4)
    assert packed.address(1, 33) == (128 + (16 ^ 16), 4)
