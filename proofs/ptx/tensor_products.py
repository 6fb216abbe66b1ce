"""Products of tensor memory: their elements are mma's, pairs of CTAs, scale factors that are copied in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache, partial
from itertools import product as every

import numpy as np

from ...spec.algebra import Algebra, Operand
from ...spec.formats import F16, U8, U32, IntegerFormat
from ...spec.fragment import Fragment, Packing
from ...spec.layout import Axis
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.ptx.choices import SEQUENTIAL, UNSPECIFIED, Choices
from ...spec.ptx.matrix_descriptor import MatrixDescriptor
from ...spec.ptx.product import Matrices, product
from ...spec.ptx.resolution import Multiplication
from ...spec.ptx.tensor_memory.bit_fields import Value
from ...spec.ptx.tensor_memory.copies import SHAPES, copied
from ...spec.ptx.tensor_memory.instruction_descriptor import InstructionDescriptor
from ...spec.ptx.tensor_memory.kinds import KINDS, ROW_BYTES
from ...spec.ptx.tensor_memory.multiplication import TensorMultiplication, multiplication
from ...spec.ptx.tensor_memory.product import Modifiers, divided, tensor_product
from ...spec.ptx.tensor_memory.product_form import ProductForm
from ...spec.ptx.tensor_memory.shared_operands import gathered
from ...spec.rearrangement import rearranged
from ..comparison import compared
from ..obligation import Case, Certificate, Equation, Inputs, Method, Property, Status, Variable, theorem
from ..table_theorem import table_theorem
from .blocked import instructions
from .operands import operands_of
from .tensor_layouts import layouts

SOURCE = "PTX ISA 9.1 section 9.7.16 (tcgen05.mma, tcgen05.mma.sp, tcgen05.cp)"

IN_ORDER, ANY = Choices(accumulation=SEQUENTIAL), Choices(accumulation=UNSPECIFIED)


def described(
    kind: str, fields: Mapping[str, Value], *, ctas: int = 1, sparse: bool = False, vector: int = 0
) -> TensorMultiplication:
    """Return a product with a descriptor."""
    form = ProductForm("tcgen05.mma", KINDS[kind], ctas, sparse=sparse, vector=vector)
    return multiplication(form, InstructionDescriptor.of(kind, **{**fields, "sparse": int(sparse)}))


@cache
def products() -> dict[str, TensorMultiplication]:
    """Return a product of every kind, dense and sparse, types and scale factors, with M = 128, N = 16."""
    found: dict[str, TensorMultiplication] = {}
    for kind, sparse in every(KINDS.values(), (False, True)):
        for vector in sorted({count for _, count in kind.vectors}) or [0]:
            for (a, b), d in every(every(kind.multiplicands, repeat=2), kind.accumulators):
                if "bf16" in (a, b) and (a != b or d != "f32"):
                    continue
                for scale in kind.scales or ("",):
                    if vector == 2 and scale == "ue4m3":
                        continue
                    types = {"a": a, "b": b} | ({"scale": scale} if scale else {"d": d})
                    fields: Mapping[str, Value] = {"m": 128, "n": 16, **types}
                    each = described(kind.name, fields, sparse=sparse, vector=vector)
                    parts = [a, b, d, *([kind.name] if "f4" in kind.name else [])]
                    parts += [f"{vector}X", scale] if scale else []
                    found[f"{'sparse-' * sparse}k{each.shape.k}/{'-'.join(parts)}"] = each
    return found


@cache
def _some() -> dict[str, TensorMultiplication]:
    """Return the first of each kind, dense and sparse."""
    found: dict[str, TensorMultiplication] = {}
    for each in products().values():
        found.setdefault(f"{each.product_form.kind.name}{'/sparse' * each.product_form.sparse}", each)
    return found


def _matrices(form: Multiplication) -> tuple[Variable, ...]:
    """Return one row of A and one column of B."""
    return tuple(Variable(name, each.format, each.shape(1, 1)) for name, each in operands_of(form).items())


def _given(v: Inputs) -> Matrices:
    return Matrices(v["a"], v["b"], v["c"], v.get("scale_a"), v.get("scale_b"), v.get("metadata"))


@theorem(
    "ptx/tensor-product/arithmetic",
    "an element of D of tcgen05.mma is computed as mma of the same K, types and scale factors computes it",
    "∀ rows of A, columns of B, scale factors, metadata, C: tcgen05's element is mma's, sums taken in order; "
    "so what ptx/blocked and ptx/block-scale say of loops over any K and of scale factors is true of it",
    SOURCE + "; 9.7.14.5.14",
)
def arithmetic() -> Iterator[Case]:
    """Yield one obligation for each K and types that mma has, too."""
    known = instructions()
    for name, form in products().items():
        if name in known:
            yield Case(name, partial(_as_mma, form, known[name]), method=Method.STRUCTURAL)


def _as_mma(form: TensorMultiplication, same: Multiplication) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        ours = tensor_product(alg, form, _given(v), IN_ORDER)
        yield Equation(ours, product(alg, same, _given(v), IN_ORDER), form.d, label="d")

    return Property(_matrices(form), claim)


_CONDITION = IntegerFormat("condition", 1, signed=False)


@theorem(
    "ptx/tensor-product/modifiers",
    "what the text and the descriptor say besides changes the factors, C or which elements stay, and no more",
    "∀ A, B, C: without enable-input-d D is A·B + 0; negate-a and negate-b are the products of -A and -B; a "
    "column that counts as zero is one of zeros; elements of masked lanes stay; in whatever order sums are",
    SOURCE,
)
def modifiers() -> Iterator[Case]:
    """Yield one obligation for each kind and modifier; without enable-input-d C does not matter (pinned)."""
    for name, form in _some().items():
        yield Case(f"{name}/enable-input-d", partial(_without_c, form), method=Method.STRUCTURAL)
        yield Case(f"{name}/kept", partial(_kept, form), method=Method.STRUCTURAL)
        if not form.is_integer:
            yield Case(f"{name}/negate-a", partial(_negated, form, "a"), method=Method.STRUCTURAL)
            yield Case(f"{name}/negate-b", partial(_negated, form, "b"), method=Method.STRUCTURAL)
        if not form.product_form.vector:
            yield Case(f"{name}/zero-column", partial(_zero_column, form), method=Method.STRUCTURAL)
    yield Case(
        "tf32/c-matters", partial(_with_c, _some()["tf32"]), Status.REFUTED,
        statement="D with enable-input-d is D without",
    )  # fmt: skip


def _without_c(form: TensorMultiplication) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        zero = np.broadcast_to(alg.constant(0, form.c), np.shape(v["c"]))
        enabled = alg.same(v["enable"], alg.constant(1, _CONDITION))
        found = tensor_product(alg, form, _given(v), ANY, Modifiers(enabled))
        wanted = product(alg, form, replace(_given(v), c=zero), ANY)
        yield Equation(found, wanted, form.d, ~enabled, "false")
        yield Equation(found, product(alg, form, _given(v), ANY), form.d, enabled, "true")
        literal = tensor_product(alg, form, _given(v), ANY, Modifiers(enable_d=False))
        yield Equation(literal, wanted, form.d, label="0")

    return Property((*_matrices(form), Variable("enable", _CONDITION)), claim)


def _kept(form: TensorMultiplication) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        kept = alg.same(v["kept"], alg.constant(1, _CONDITION))
        found = tensor_product(alg, form, _given(v), ANY, Modifiers(kept=kept))
        yield Equation(found, v["c"], form.d, kept, "kept")
        yield Equation(found, product(alg, form, _given(v), ANY), form.d, ~kept, "written")

    return Property((*_matrices(form), Variable("kept", _CONDITION, (1, 1))), claim)


def _negated(form: TensorMultiplication, role: str) -> Property:
    values = {**form.fields.values, f"negate_{role}": 1}
    negating = multiplication(form.product_form, InstructionDescriptor.of(form.fields.kind, **values))

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        changed = {**v, role: alg.negate(Operand(v[role], form.floats(form.format(role))))}
        wanted = product(alg, form, _given(changed), ANY)
        yield Equation(tensor_product(alg, negating, _given(v), ANY), wanted, form.d, label="negated")

    return Property(_matrices(form), claim)


def _zero_column(form: TensorMultiplication) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        zeros = np.broadcast_to(alg.constant(0, form.b), np.shape(v["b"]))
        for counts, b in ((False, v["b"]), (True, zeros)):
            found = tensor_product(alg, form, _given(v), ANY, Modifiers(zero_columns=np.array([counts])))
            yield Equation(found, product(alg, form, replace(_given(v), b=b), ANY), form.d, label=str(counts))

    return Property(_matrices(form), claim)


def _with_c(form: TensorMultiplication) -> Property:
    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        kept, dropped = (
            tensor_product(alg, form, _given(v), IN_ORDER, Modifiers(each)) for each in (True, False)
        )
        yield Equation(kept, dropped, form.d, label="d")

    return Property(_matrices(form), claim, pinned={"a": 0, "b": 0, "c": 0x3F800000})


scaled_d = table_theorem(
    "ptx/tensor-product/scaled-d",
    "scale-input-d divides the old D by a power of two, rounded to nearest",
    "∀ C of f16, ∀ s < 16: the C that is added is C / 2^s rounded to nearest even, NaNs are NaN",
    SOURCE,
    lambda: {str(power): partial(_divisions, power) for power in (0, 1, 8, 14, 15)},
)


def _divisions(power: int) -> Certificate:
    every_c = np.arange(1 << 16, dtype=np.uint16)
    with np.errstate(invalid="ignore"):
        numbers = (every_c.view(np.float16).astype(np.float32) / np.float32(2**power)).astype(np.float16)
    expected = np.where(np.isnan(numbers), 0, numbers.view(np.uint16)).tolist()

    def specified() -> dict[str, object]:
        found = divided(NumpyAlgebra(), every_c, F16, power)
        return {"c": np.where(np.isnan(found.view(np.float16)), 0, found).tolist()}

    return compared({"c": expected}, specified)


# -- pairs of CTAs
@theorem(
    "ptx/tensor-product/pair",
    "a product of two CTAs is two products of one, with the columns of B that both hold",
    "∀ D: the cells of CTA j after layout A are those of layout D with the rows of D from j·M/2 on, after "
    "layout B those of layout E, after C of F; ∀ memories: A and B of the pair are those of the two, one "
    "after the other, each read by the same descriptor from its own memory",
    SOURCE,
)
def pair() -> Iterator[Case]:
    """Yield one obligation for each layout and operand."""
    for letter, n in every("ABC", (32, 256)):
        yield Case(f"d/{letter}/n{n}", partial(_halves, letter, n), method=Method.STRUCTURAL)
    for role, kind in every("ab", ("f16", "f8f6f4")):
        yield Case(f"{role}/{kind}", partial(_own_memories, role, kind), method=Method.STRUCTURAL)


def _halves(letter: str, n: int) -> Property:
    m = 256 if letter == "A" else 128
    both = layouts("f16", m, n, ctas=2, sparse=letter == "C").d
    one = layouts("f16", m // 2, n, ws=letter == "B").d
    words = Packing(U32, U32.bits)

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        cells = Fragment(both.layout, words).scatter(alg, v["d"])
        for cta in (0, 1):
            rows = v["d"][..., cta * m // 2 : (cta + 1) * m // 2, :]
            alone = Fragment(one.layout, words).scatter(alg, rows)
            yield Equation(cells[..., 128 * cta : 128 * (cta + 1), :], alone, U32, label=f"CTA {cta}")

    return Property((Variable("d", U32, both.shape),), claim)


def _own_memories(role: str, kind: str) -> Property:
    types = {"b": "e2m1", "a": "e2m3"} if kind == "f8f6f4" else {}
    both = described(kind, {"m": 256, "n": 64, **types}, ctas=2)
    one = described(kind, {"m": 128, "n": 32, **types})
    fields = MatrixDescriptor(0, 0, 256, 32)
    lines = {"a": 128, "b": 32}[role]

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        whole = gathered(alg, both, role, fields, v["memory"])
        for cta in (0, 1):
            alone = gathered(alg, one, role, fields, v["memory"][..., cta, :])
            part = slice(cta * lines, (cta + 1) * lines)
            of_cta = whole[..., part, :] if role == "a" else whole[..., part]
            yield Equation(of_cta, alone, both.format(role), label=f"CTA {cta}")

    return Property((Variable("memory", U8, (2, lines * ROW_BYTES)),), claim)


# -- steps along K
@theorem(
    "ptx/tensor-product/steps",
    "A of a longer K in tensor memory is read in steps of 8 columns",
    "∀ cells: A at the address plus 8·s columns is the part of the longer A from column s·K on",
    SOURCE,
)
def steps() -> Iterator[Case]:
    """Yield one obligation for each width of elements."""
    for kind in ("tf32", "f16", "i8", "mxf4"):
        yield Case(kind, partial(_stepped, kind), method=Method.STRUCTURAL)


def _stepped(kind: str) -> Property:
    a, count = layouts(kind, 128, 64).a, 4
    length = a.shape[-1]
    wide = Fragment(
        rearranged(
            "a", (Axis("lane", 128), Axis("i", count * length)),
            (Axis("row", 128), Axis("k", count * length)),
            "row k -> row k", row=128, k=count * length,
        ),
        a.packing,
    )  # fmt: skip

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        whole = wide.gather(alg, v["cells"])
        for s in range(count):
            part = a.gather(alg, v["cells"][..., 8 * s : 8 * (s + 1)])
            fmt = a.packing.format
            yield Equation(part, whole[..., s * length : (s + 1) * length], fmt, label=f"step {s}")

    return Property((Variable("cells", U32, (128, 8 * count)),), claim)


# -- scale factors
BLOCK_BYTES = 512
"""Bytes of shared memory with the four scale factors of each of 128 rows, which one copy takes."""

_PACKED = MatrixDescriptor(0, 16, 128, 0)


@theorem(
    "ptx/tensor-product/copied-scales",
    "scale factors that tcgen05.cp copies from blocks of 512 bytes are what a product reads",
    "∀ memories: the scale factor s of row m, in each of its copies, for each id, is the byte 16·(m mod 32) "
    "+ 4·(m div 32) + id + s of the block that 32x128b.warpx4 copied; of B with 256 columns, of two blocks "
    "side by side; factors stored 4 bytes a row, one row after the other (pinned), are others",
    SOURCE + "; CuTe's layout of scale factors",
)
def copied_scales() -> Iterator[Case]:
    """Yield one obligation for each vector of factors and operand."""
    for (size, kind), (role, lines) in every(
        {1: "mxf8f6f4", 2: "mxf4", 4: "mxf4nvf4"}.items(), (("a", 128), ("b", 128), ("b", 256))
    ):
        goal = partial(_copied, kind, size, role, lines, by_quarters=True)
        yield Case(f"{size}/{role}/{lines}", goal, method=Method.STRUCTURAL)
    yield Case(
        "2/a/128/in-rows", partial(_copied, "mxf4", 2, "a", 128, by_quarters=False), Status.REFUTED,
        statement="the scale factor s of row m is the byte 4·m + id + s of the block",
    )  # fmt: skip


def _copied(kind: str, size: int, role: str, lines: int, *, by_quarters: bool) -> Property:
    held = layouts(kind, 128, lines if role == "b" else 128, vector=size).factors(role)
    shape, blocks = SHAPES["32x128b.warpx4"], lines // 128
    copies, vectors, *_ = held.shape

    def claim(alg: Algebra, v: Inputs) -> Iterator[Equation]:
        cells = np.concatenate(
            [copied(alg, shape, replace(_PACKED, start=BLOCK_BYTES * b), v["memory"]) for b in range(blocks)],
            axis=-1,
        )
        read = held.gather(alg, cells)
        line, s = np.indices((lines, size))
        of_block = line % 128
        for copy, vector in every(range(copies), range(vectors)):
            byte = 16 * (of_block % 32) + 4 * (of_block // 32) if by_quarters else 4 * of_block
            at = BLOCK_BYTES * (line // 128) + byte + vector * size + s
            label = f"copy {copy}, id {vector * size}"
            yield Equation(read[..., copy, vector, :, :], v["memory"][..., at], U8, label=label)

    pinned = None if by_quarters else {"memory": [1 if at == 4 else 0 for at in range(BLOCK_BYTES)]}
    return Property((Variable("memory", U8, (BLOCK_BYTES * blocks,)),), claim, pinned=pinned)


THEOREMS = (arithmetic, modifiers, scaled_d, pair, steps, copied_scales)
