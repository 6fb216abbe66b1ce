"""What is stated a second time agrees with the specification, and one-line faults there are refuted by it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import MappingProxyType

import pytest
from theorem_checks import decided, unexpected
from theorem_mutants import Mutant, Patch, each, of

import mmaproof.proofs.mfma.documented
import mmaproof.proofs.pto.tables
import mmaproof.proofs.pto.verdicts
import mmaproof.proofs.ptx.combinations
import mmaproof.proofs.ptx.documented
import mmaproof.proofs.ptx.supplied
import mmaproof.proofs.ptx.verdicts
from mmaproof.proofs.families import formats
from mmaproof.proofs.obligation import Certificate, Status, Theorem
from mmaproof.proofs.power import documented as power
from mmaproof.proofs.power import executed as power_executed
from mmaproof.proofs.power import texts as power_results
from mmaproof.proofs.pto import documented as pto
from mmaproof.proofs.ptx import texts as ptx_texts
from mmaproof.spec.formats import E4M3, E5M2, U8, FloatFormat, Special
from mmaproof.spec.layout import Layout
from mmaproof.spec.power import builtins, float_exceptions, kernels
from mmaproof.spec.power.catalogue import I8, UPDATES
from mmaproof.spec.power.encoding import LAYOUTS, fields
from mmaproof.spec.power.encoding import Layout as Encoding
from mmaproof.spec.power.forms import FORMS
from mmaproof.spec.pto import catalogue as pto_catalogue
from mmaproof.spec.pto.targets import A5, PROFILES
from mmaproof.spec.pto.tile import Location
from mmaproof.spec.ptx import catalogue, variant_rules
from mmaproof.spec.ptx.block_scaling import ScaleFactors
from mmaproof.spec.ptx.matrix_moves import MatrixMove
from mmaproof.spec.ptx.mma_forms import MmaForm
from mmaproof.spec.ptx.sparsity import Sparsity
from mmaproof.spec.ptx.variant import Family

ptx = mmaproof.proofs.ptx.documented
ptx_lanes = mmaproof.proofs.ptx.supplied
ptx_combinations = mmaproof.proofs.ptx.combinations
ptx_legal = mmaproof.proofs.ptx.verdicts
mfma = mmaproof.proofs.mfma.documented
pto_tables = mmaproof.proofs.pto.tables
pto_legal = mmaproof.proofs.pto.verdicts
MODULES = (
    power, power_results, ptx, ptx_lanes, ptx_legal, pto, pto_tables,
    ptx_combinations, pto_legal, mfma,
)  # fmt: skip


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__.partition("proofs.")[2])
def test_the_specification_agrees(module: object) -> None:
    theorems: tuple[Theorem, ...] = module.THEOREMS  # type: ignore[attr-defined]
    assert unexpected(theorems) == {}


def with_origin(owner: type, name: str, origin: Callable[[object], tuple[int, ...]]) -> Patch:
    """Return the fault that flips bits of all that a layout leads to."""
    found = getattr(owner, name).func

    def flipped(self: object) -> Layout:
        layout: Layout = found(self)
        return replace(layout, origin=origin(self))

    return lambda patch: patch.setattr(owner, name, property(flipped))


def reversed_address_groups(patch: pytest.MonkeyPatch) -> None:
    with_origin(MatrixMove, "address_lanes", lambda move: (move.addresses - move.rows,))(patch)  # type: ignore[attr-defined]


def exchanged_rows_of_scales(patch: pytest.MonkeyPatch) -> None:
    with_origin(ScaleFactors, "layout", lambda factors: (0, 0, 8, 0))(patch)


def scale_bytes_backwards(patch: pytest.MonkeyPatch) -> None:
    with_origin(ScaleFactors, "layout", lambda factors: (0, 0, 0, factors.size - 1))(patch)  # type: ignore[attr-defined]


def exchanged_rows_of_metadata(patch: pytest.MonkeyPatch) -> None:
    with_origin(Sparsity, "layout", lambda sparsity: (0, 8, 0))(patch)


def one_more_vector_size(patch: pytest.MonkeyPatch) -> None:
    """Give mxf4 a 4X."""
    forms = catalogue.forms(Family.MMA)
    (mxf4,) = (form for form in forms if isinstance(form, MmaForm) and form.kind == "mxf4")
    more = {**catalogue._FORMS, Family.MMA: (*forms, replace(mxf4, scale_vec="4X"))}
    patch.setattr(catalogue, "_FORMS", MappingProxyType(more))
    patch.setattr(ptx, "ALL_FORMS", (*catalogue.ALL_FORMS, more[Family.MMA][-1]))
    variant_rules.narrow.cache_clear()


def unsigned_bytes(patch: pytest.MonkeyPatch) -> None:
    """Read int8's X as unsigned."""
    wrong = {
        name: replace(update, family=replace(I8, x=U8)) if update.family == I8 else update
        for name, update in UPDATES.items()
    }
    patch.setattr(power, "UPDATES", wrong)


def one_opcode_for_two_products(patch: pytest.MonkeyPatch) -> None:
    """Give an instruction the opcode of another, in both tables."""
    one, other, *_ = mfma.on(mfma.target_named("gfx942"))
    patch.setattr(mfma, "on", lambda target: (one, replace(other, opcodes=one.opcodes)))
    patch.setattr(mfma.stated, "INSTRUCTIONS", {("gfx942", name): {} for name in "abcd"})
    patch.setattr(mfma.stated, "TARGETS", ("gfx942",))


def another_opcode(patch: pytest.MonkeyPatch) -> None:
    form = FORMS["xvf32ger"]
    wrong = Encoding(form, fields("59:6 AT:3 /:2 A:5 B:5 29:8 AX:1 BX:1 /:1"))
    patch.setattr(power, "LAYOUTS", {**LAYOUTS, form: wrong})


def y_that_stays(patch: pytest.MonkeyPatch) -> None:
    advance = kernels.dgemm_iteration

    def iteration(b: object, acc: object, x: object, y: object) -> object:
        return (*advance(b, acc, x, y)[:2], y)  # type: ignore[arg-type]

    patch.setattr(kernels, "dgemm_iteration", iteration)


def masks_of_any_width(patch: pytest.MonkeyPatch) -> None:
    """Take whatever is given as masks."""
    products = builtins.live_products
    patch.setattr(builtins, "live_products", lambda alg, update, masks: products(alg, update, None))


def columns_backwards(patch: pytest.MonkeyPatch) -> None:
    """Exchange the vectors of a row of the image."""
    update = kernels.outer_product

    def shifted(b: object, acc: object, operation: str, xs: object, ys: list[object]) -> object:
        return update(b, acc, operation, xs, ys[::-1])  # type: ignore[arg-type]

    patch.setattr(kernels, "outer_product", shifted)


def underflow_after_rounding(patch: pytest.MonkeyPatch) -> None:
    """Tell underflow by the rounded result instead of the exact one."""
    patch.setattr(
        float_exceptions,
        "_has_exponent",
        lambda alg, x, field: alg.is_zero(x) if field == 0 else alg.is_nan(x),
    )


def no_mandatory_aligned(patch: pytest.MonkeyPatch) -> None:
    broken = ptx_texts.violations
    patch.setattr(
        ptx_texts, "violations", lambda *given: [v for v in broken(*given) if v.rule.id != "aligned"]
    )


def smaller_left_buffer(patch: pytest.MonkeyPatch) -> None:
    less = replace(A5, capacities=MappingProxyType({**A5.capacities, Location.LEFT: 32768}))
    patch.setattr(pto_tables, "PROFILES", {**PROFILES, "A5": less})


def no_mixed_fp8(patch: pytest.MonkeyPatch) -> None:
    triples = tuple(
        replace(triple, factors=triple.factors[:1]) if triple.factors[0].name == "f8E4M3FN" else triple
        for triple in pto_catalogue.TYPE_TRIPLES
    )
    patch.setattr(pto_catalogue, "TYPE_TRIPLES", triples)


X4 = "ldmatrix.sync.aligned.m8n8.x4.b16"

MUTANTS: tuple[Mutant, ...] = (
    (reversed_address_groups, ptx_lanes.addresses, X4),
    (exchanged_rows_of_scales, ptx_lanes.scale_factors, "a/1X"),
    (scale_bytes_backwards, ptx_lanes.scale_factors, "a/4X"),
    (scale_bytes_backwards, ptx_lanes.scale_factors, "b/2X"),
    (exchanged_rows_of_metadata, ptx_lanes.metadata, "m16n8k32/8-bit"),
    (one_more_vector_size, ptx.instructions, "mma"),
    (one_more_vector_size, ptx_combinations.combinations, "mma/accepted"),
    (unsigned_bytes, power.updates, "table"),
    (another_opcode, power.words, "xvf32ger"),
    (one_opcode_for_two_products, mfma.instructions, "names"),
    (y_that_stays, power_results.kernel_results, "dgemm/little"),
    (columns_backwards, power_results.kernel_results, "sconv/equation-25/little"),
    (masks_of_any_width, power.rank_k_built_ins, "table-2"),
    (underflow_after_rounding, power_executed.executed, "exceptions"),
    (no_mandatory_aligned, ptx_texts.read_texts, "examples"),
    (smaller_left_buffer, pto_tables.buffers, "A5"),
    (no_mixed_fp8, pto_legal.types, "tmatmul.mx/CPU"),
)


@each(MUTANTS)
def test_a_fault_in_the_specification_is_refuted(
    mutate: Patch,
    theorem: Theorem,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
    request: pytest.FixtureRequest,
) -> None:
    obligation = of(theorem, name)
    assert decided(obligation).status is Status.PROVED
    request.addfinalizer(variant_rules.narrow.cache_clear)
    mutate(monkeypatch)
    assert decided(obligation).status is Status.REFUTED


@pytest.mark.parametrize(
    "wrong",
    [
        replace(E4M3, bias=8),
        replace(E4M3, special=Special.IEEE),
        replace(E5M2, special=Special.ONE_NAN),
        replace(E5M2, fraction_bits=3, exponent_bits=4),
    ],
)
def test_another_constant_of_a_format_is_refuted(wrong: FloatFormat) -> None:
    case, *_ = formats.cases([wrong])
    goal = case.goal()
    assert isinstance(goal, Certificate) and goal.check() is not None
