"""How obligations name the instruction that they are about, wholly or in part."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ...spec.formats import F32
from ...spec.ptx.architectures import ARCHITECTURES
from ...spec.ptx.assembly import parse
from ...spec.ptx.asynchronous.catalogue import form_of as asynchronous_form
from ...spec.ptx.asynchronous.rows import Form
from ...spec.ptx.matrix_move_forms import MatrixMoveForm
from ...spec.ptx.matrix_moves import matrix_move
from ...spec.ptx.mma_forms import MmaForm
from ...spec.ptx.resolution import Multiplication, multiplication
from ...spec.ptx.scalar.catalogue import form_of as scalar_form
from ...spec.ptx.tensor_memory.copies import shape_named
from ...spec.ptx.tensor_memory.register_shapes import SHAPES
from ...spec.ptx.variant import Family, Variant
from ...spec.ptx.variant_rules import form_of
from ...spec.ptx.wgmma_forms import WarpgroupOrderForm, WgmmaForm
from ...spec.ptx.wmma import memory_operand
from .accumulations import ModelAccumulation, accumulation
from .alignment import operand_name
from .blocked import arithmetic_name


def patterns(mnemonic: str) -> tuple[str, ...]:
    """Return regular expressions for the parts of ids that name an instruction, whole segments each.

    Raises
    ------
    InputError
        If it is no legal variant.
    """
    opcode, *modifiers = mnemonic.split(".")
    if (scalar := scalar_form(opcode, modifiers)) is not None:
        return (re.escape(scalar.mnemonic),)
    if (asynchronous := asynchronous_form(mnemonic)) is not None:
        return (re.escape(asynchronous.row.head), *_of_tensor_memory(asynchronous))
    return tuple(_patterns(parse(mnemonic).variant))


def _of_tensor_memory(form: Form) -> Iterator[str]:
    """Yield the parts of ids that name the kind of a product, and the shape of a load, store or copy."""
    words = form.modifiers
    if kind := next((word.removeprefix("kind::") for word in words if word.startswith("kind::")), None):
        yield r"tensor-memory/[a-z-]+/d/[A-G]/n\d+(/\w+)?"
        yield rf"tensor-product/modifiers/{kind}/(sparse/)?[a-z-]+"
        yield rf"tensor-descriptor/[a-z-]+/instruction/{kind}"
    for shape in filter(SHAPES.__contains__, words):
        yield rf"{shape}/({'|'.join(word for word in words if word[0] == 'x')})(/packed)?"
    if form.row.head == "tcgen05.cp":
        yield rf"cp/{re.escape(shape_named(words).name)}"


def _patterns(variant: Variant) -> Iterator[str]:
    form = form_of(variant)
    match variant.family:
        case Family.WMMA_LOAD | Family.WMMA_STORE:
            yield f"wmma/[a-z-]+(/one-less)?/{operand_name(memory_operand(variant))}"
        case Family.WMMA_MMA:
            product = multiplication(variant)
            yield f"load-mma-store/{product.shape}/{product.d}.{product.a}.{product.c}"
            yield from _of_models(product)
        case _ if isinstance(form, MatrixMoveForm):
            move = str(matrix_move(variant))
            yield re.escape(move)
            if variant.family is Family.LDMATRIX:
                yield f"sees-tile/.+/{re.escape(move.partition('.')[2])}"
        case _ if isinstance(form, WarpgroupOrderForm):
            yield re.escape(str(variant.family))
        case _ if isinstance(form, WgmmaForm):
            yield from _of_warpgroup(form, multiplication(variant))
        case _:
            assert isinstance(form, MmaForm)
            yield from _product(form, multiplication(variant))


def _of_warpgroup(form: WgmmaForm, product: Multiplication) -> Iterator[str]:
    d, a = product.d, product.a
    yield rf"warpgroup/(layout|warps|chained)/(a/)?{form.bits}-bit"
    yield rf"warpgroup/(layout|warps)/d/n{product.shape.n}"
    yield rf"warpgroup/executed/(a/{a}|d/{d}/n{product.shape.n})"
    sparse = "sparse-" * form.sparse
    yield rf"warpgroup/(arithmetic|scales)/{sparse}k{form.k}/{'-'.join(product.variant.types)}"
    if form.sparse:
        yield rf"warpgroup/(layout|warps)/metadata/{form.bits}-bit"
    yield rf"descriptor/[a-z-]+/[a-z0-9-]+/{form.bits}-bit"
    yield from _of_models(product)


def _product(form: MmaForm, product: Multiplication) -> Iterator[str]:
    variant, shape = product.variant, str(product.shape)
    a, b, d = product.a, product.b, product.d
    yield re.escape(str(variant).replace(".sync.aligned", ""))
    for role in "abcd":
        fmt = product.format(role)
        container = form.container_bits(role, fmt.name)
        yield rf"{variant.family}.{shape}/({fmt}(-in-{container})?|{container}-bit)/{role}"
        yield rf"sees-tile/{'sp-' * form.sparse}{shape}/{fmt}(-in-{container})?/{role}/.+"
    if not variant.satfinite:
        yield re.escape(arithmetic_name(form, variant))
    satfinite = "-satfinite" if variant.satfinite else ""
    order = "ordered" if variant.ordered_metadata else "plain"
    extras = "".join(f"-{part}" for part in (variant.rounding, variant.bit_operation) if part)
    sparse = f"-{order}" if form.sparse else ""
    yield rf"{shape}-from-\w+/{a}-{b}-{d}{extras}{satfinite}{sparse}"
    yield rf"\w+-from-{shape}/{a}-{b}-{d}{extras}{satfinite}{sparse}"
    if form.sparse:
        yield rf"sparsity/[a-z-]+/{shape}/{a}(/{order})?"
        yield rf"sparsity/product/{a}-{b}/{order}"
    scale = ""
    if product.block_scale is not None:
        vector, scale_type = product.block_scale.vector, product.block_scale.format
        scale = f"-{scale_type}-{vector}X"
        yield rf"{variant.family}/{variant.kind}/{vector}X/{scale_type}/{a}-{b}"
    if product.is_quad_pairs:
        yield "fragment/quad-pairs"
    yield from _of_models(product, scale)


def _of_models(product: Multiplication, scale: str = "") -> Iterator[str]:
    """Yield the parts of ids that name how the architectures' models sum a product's terms."""
    types = "-".join(str(product.format(role)) for role in "abcd") + scale
    if not (product.is_integer or product.is_double):
        for architecture in filter(product.is_executable_on, ARCHITECTURES):
            yield from _sums(accumulation(architecture, product), types)


def _sums(each: ModelAccumulation, types: str) -> Iterator[str]:
    """Yield the parts of ids that name a model's accumulation, and what it depends on."""
    sums, rounds = re.escape(each.sums) + r"(?!/\d+X)", re.escape(each.rounds)
    name = f"{each.architecture.name}/{types}/k{each.products}"
    yield rf"dot-add-(integers|bound|step-order)/{name}"
    yield rf"dot-add-order/{sums}"
    if each.accumulator == F32:
        yield rf"dot-add-monotone/{sums}/{each.a}-{each.b}"
    yield rf"dot-add-split-k/{rounds}/{each.a}"
    yield rf"dot-add-overflow/{rounds}/{each.a}-{each.b}"
