"""Theorems about tensor memory: mutants of layouts, moves, products and descriptors that must be refuted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from theorem_mutants import refutation_of

from mmaproof.proofs.ptx import tensor_descriptors, tensor_layouts, tensor_products, tensor_statements
from mmaproof.spec.formats import U16
from mmaproof.spec.ptx.tensor_memory import (
    copies,
    descriptor_rules,
    instruction_descriptor,
    kinds,
    register_shapes,
    shared_descriptor,
    shared_operands,
)
from mmaproof.spec.ptx.tensor_memory import layouts as layouts_of_cells
from mmaproof.spec.ptx.tensor_memory.product import Modifiers, tensor_product

Patch = pytest.MonkeyPatch
CACHED = (
    tensor_layouts.of_d, tensor_layouts._of_a, tensor_layouts.factors, tensor_layouts._metadata,
    tensor_layouts.tiles, tensor_products.products, tensor_products._some, instruction_descriptor.table,
)  # fmt: skip


@pytest.fixture(autouse=True)
def fresh_caches() -> Iterator[None]:
    for each in CACHED:
        each.cache_clear()
    yield
    for each in CACHED:
        each.cache_clear()


# -- where elements are
def reordered(owner: Any, before: str, after: str) -> Callable[[Patch], None]:
    """Return the fault that digits of layouts stand in another order."""
    rearranged = owner.rearranged

    def changed(patch: Patch) -> None:
        def other(name: Any, source: Any, target: Any, order: str, **digits: int) -> Any:
            return rearranged(name, source, target, order.replace(before, after), **digits)

        patch.setattr(owner, "rearranged", other)

    changed.__name__ = f"{before}_as_{after}".replace(" ", "-")
    return changed


def shape_changed(name: str, before: str, after: str) -> Callable[[Patch], None]:
    def changed(patch: Patch) -> None:
        shape = register_shapes.SHAPES[name]
        other = replace(shape, order=shape.order.replace(before, after))
        patch.setattr(tensor_layouts, "SHAPES", MappingProxyType({**register_shapes.SHAPES, name: other}))

    changed.__name__ = f"{name}_{after}".replace(" ", "-")
    return changed


def high_halves_are_packed(patch: Patch) -> None:
    patch.setattr(tensor_layouts, "load", lambda alg, tile, cells: tile.fragment.scatter(
        alg, alg.extract(cells, 16, U16) if tile.packed else cells))  # fmt: skip


def rows_are_copied_in_turn(patch: Patch) -> None:
    shape = copies.SHAPES["32x128b.warpx4"]
    other = replace(shape, order="row copy byte -> copy row byte")
    patch.setattr(tensor_products, "SHAPES", {**copies.SHAPES, shape.name: other})
    patch.setattr(tensor_statements, "COPIES", {**copies.SHAPES, shape.name: other})


# -- what is computed
def computing(change: Callable[..., Modifiers]) -> Callable[[Patch], None]:
    def changed(patch: Patch) -> None:
        patch.setattr(
            tensor_products,
            "tensor_product",
            lambda alg, form, v, choices, modifiers=Modifiers(): tensor_product(  # noqa: B008 - frozen
                alg, form, v, choices, change(modifiers)
            ),
        )

    changed.__name__ = change.__name__
    return changed


def old_d_always_counts(modifiers: Modifiers) -> Modifiers:
    return replace(modifiers, enable_d=True)


def masks_do_nothing(modifiers: Modifiers) -> Modifiers:
    return replace(modifiers, kept=None)


def no_column_is_zero(modifiers: Modifiers) -> Modifiers:
    return replace(modifiers, zero_columns=None)


def b_is_negated_for_a(patch: Patch) -> None:
    def other(alg: Any, form: Any, v: Any, choices: Any, modifiers: Any = Modifiers()) -> Any:  # noqa: B008
        values = dict(form.fields.values)
        values["negate_a"], values["negate_b"] = values.get("negate_b", 0), values.get("negate_a", 0)
        exchanged = instruction_descriptor.InstructionDescriptor.of(form.fields.kind, **values)
        return tensor_product(
            alg, tensor_products.multiplication(form.product_form, exchanged), v, choices, modifiers
        )

    patch.setattr(tensor_products, "tensor_product", other)


def lines_of_pairs_run_backwards(patch: Patch) -> None:
    lines = shared_operands._lines

    def other(alg: Any, form: Any, role: Any, matrix: Any, memory: Any) -> Any:
        found = lines(alg, form, role, matrix, memory)
        return found[..., ::-1, :] if form.product_form.ctas > 1 else found

    patch.setattr(shared_operands, "_lines", other)


def d_is_divided_by_one_more(patch: Patch) -> None:
    divided = tensor_products.divided
    patch.setattr(
        tensor_products, "divided", lambda alg, bits, fmt, power: divided(alg, bits, fmt, power + 1)
    )


# -- descriptors
def field_changed(kind: str, name: str, **change: Any) -> Callable[[Patch], None]:
    def changed(patch: Patch) -> None:
        found = instruction_descriptor.table
        words = found(kind)
        fields = tuple(replace(field, **change) if field.name == name else field for field in words.fields)
        other = replace(words, fields=fields)
        for owner in (instruction_descriptor, descriptor_rules):
            patch.setattr(owner, "table", lambda asked: other if asked == kind else found(asked))
        tables = {**tensor_descriptors.TABLES, f"instruction/{kind}": other}
        patch.setattr(tensor_descriptors, "TABLES", tables)

    changed.__name__ = f"{name}_of_{kind}"
    return changed


def swizzles_exchanged(patch: Patch) -> None:
    words = shared_descriptor.TABLE
    codes = ((0, 0), (shared_descriptor.ATOM32, 1), (128, 2), (64, 6), (32, 4))
    *others, last = words.fields
    patch.setattr(shared_descriptor, "TABLE", replace(words, fields=(*others, replace(last, codes=codes))))


def bit_46_may_be_0(patch: Patch) -> None:
    words = shared_descriptor.TABLE
    fields = tuple(replace(field, codes=(("", 0),)) if field.low == 46 else field for field in words.fields)
    patch.setattr(shared_descriptor, "TABLE", replace(words, fields=fields))


def without(rule: str) -> Callable[[Patch], None]:
    def changed(patch: Patch) -> None:
        patch.setattr(descriptor_rules, "RULES", tuple(r for r in descriptor_rules.RULES if r.id != rule))

    changed.__name__ = f"without_{rule}"
    return changed


def two_ctas_have_every_n(patch: Patch) -> None:
    def columns(kind: Any, *, ws: bool, ctas: int, sparse: bool) -> tuple[int, ...]:
        return kinds.columns_of_d(kind, ws=ws, ctas=1, sparse=sparse)

    patch.setattr(tensor_statements, "columns_of_d", columns)
    patch.setattr(descriptor_rules, "columns_of_d", columns)


CELLS, PLACES, WORDS = tensor_layouts, tensor_statements.places, tensor_statements.descriptors

test_a_fault_is_refuted = refutation_of(
    (
        (reordered(layouts_of_cells, "part low column", "low part column"), PLACES, "d/E"),
        (reordered(layouts_of_cells, "cta part low", "part cta low"), tensor_products.pair, "d/B/n32"),
        (reordered(layouts_of_cells, "quarter upper low column", "quarter low upper column"), PLACES, "d/F"),
        (
            reordered(layouts_of_cells, "quarter upper low column", "quarter low upper column"),
            CELLS.read_back, "d/F/n64/16x256b",
        ),
        (reordered(layouts_of_cells, "copy low high", "low copy high"), PLACES, "scale-factors"),
        (
            reordered(layouts_of_cells, "copy low high", "low copy high"),
            tensor_products.copied_scales, "2/a/128",
        ),
        (reordered(layouts_of_cells, "selector mid inner", "mid selector inner"), PLACES, "metadata"),
        (reordered(layouts_of_cells, "row k -> row k", "k row -> row k"), tensor_products.steps, "f16"),
        (shape_changed("16x64b", "low high mid count pair", "high mid low count pair"), PLACES, "r/16x64b"),
        (
            shape_changed("16x256b", "pair low run half", "low pair run half"),
            CELLS.fragment, "16x256b/x1",
        ),
        (high_halves_are_packed, CELLS.round_trip, "16x128b/x1/packed"),
        (rows_are_copied_in_turn, tensor_products.copied_scales, "1/a/128"),
        (rows_are_copied_in_turn, PLACES, "cp"),
        (computing(old_d_always_counts), tensor_products.modifiers, "f16/enable-input-d"),
        (computing(masks_do_nothing), tensor_products.modifiers, "i8/kept"),
        (computing(no_column_is_zero), tensor_products.modifiers, "tf32/zero-column"),
        (b_is_negated_for_a, tensor_products.modifiers, "mxf4/negate-a"),
        (lines_of_pairs_run_backwards, tensor_products.pair, "a/f16"),
        (d_is_divided_by_one_more, tensor_products.scaled_d, "8"),
        (field_changed("f16", "m", low=23), tensor_descriptors.fields, "instruction/f16"),
        (field_changed("f8f6f4", "a", codes=(("e4m3", 1), ("e5m2", 0))), WORDS, "constants"),
        (field_changed("tf32", "b", codes=(("tf32", 3),)), WORDS, "constants"),
        (swizzles_exchanged, WORDS, "matrices"),
        (bit_46_may_be_0, WORDS, "matrices"),
        (without("idesc-major"), WORDS, "witnesses/idesc-major"),
        (without("idesc-types"), WORDS, "witnesses/idesc-types"),
        (two_ctas_have_every_n, WORDS, "shapes"),
        (two_ctas_have_every_n, WORDS, "verdicts/f16"),
    )
)  # fmt: skip
