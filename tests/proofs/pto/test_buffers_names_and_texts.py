"""What PTO's documents say of buffers, names and texts agrees; a fault in what is stated is refuted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from theorem_checks import unexpected
from theorem_mutants import Mutant, Patch, entry_changed, refutation_of

from mmaproof.proofs.pto import buffers, documented, given_arrays, texts
from mmaproof.proofs.pto.stated import buffers as stated_buffers
from mmaproof.proofs.pto.stated import names as stated_names
from mmaproof.proofs.pto.stated.buffers import extents
from mmaproof.proofs.pto.stated.product_runs import PRODUCTS
from mmaproof.spec.errors import InputError
from mmaproof.spec.formats import BF16, F16, F32
from mmaproof.spec.operand_arrays import Matrix, common_batch
from mmaproof.spec.pto import global_memory, move_arrays, movers, operand_arrays, products
from mmaproof.spec.pto.global_memory import ViewOrder


@pytest.mark.parametrize(
    "module",
    [buffers, given_arrays, documented, texts],
    ids=lambda module: module.__name__.rpartition(".")[2],
)
def test_the_specification_agrees(module: Any) -> None:
    assert unexpected(module.THEOREMS) == {}


def another_element(place: int) -> Patch:
    """Return the fault that one element of a run's result is another."""

    def changed(patch: pytest.MonkeyPatch) -> None:
        run = PRODUCTS[place]

        def result(profile: str) -> Any:
            found = np.array(run.result(profile))
            found[-1] ^= 1
            return found

        wrong = replace(run, result=result)
        patch.setattr(buffers, "PRODUCTS", (*PRODUCTS[:place], wrong, *PRODUCTS[place + 1 :]))

    return changed


def rows_in_the_columns_order(patch: pytest.MonkeyPatch) -> None:
    axes = {**global_memory._AXES, ViewOrder.NZ: ((3, 2), (4, 0, 1))}
    patch.setattr(global_memory, "_AXES", axes)


def signed_pads(patch: pytest.MonkeyPatch) -> None:
    found = movers.pad_encoding
    patch.setattr(movers, "pad_encoding", lambda pad, fmt: found(pad, fmt) | (pad == 3) << (fmt.bits - 1))


def text_elsewhere(kind: str) -> Patch:
    """Return the fault that the first text of a kind is said to be something else."""
    listed = texts._listed

    def changed(patch: pytest.MonkeyPatch) -> None:
        def wrong(of: str) -> list[tuple[str, str]]:
            (text, said), *rest = listed(of)
            return [(text, said + "0"), *rest] if of == kind else [(text, said), *rest]

        patch.setattr(texts, "_listed", wrong)

    return changed


def no_batches(patch: pytest.MonkeyPatch) -> None:
    def refuse(arrays: Mapping[str, Any], axes: Mapping[str, int]) -> tuple[int, ...]:
        if batch := common_batch(arrays, axes):
            raise InputError(f"a batch {batch}")
        return batch

    patch.setattr(move_arrays, "common_batch", refuse)


def blocks_anywhere(patch: pytest.MonkeyPatch) -> None:
    """Take what is there of blocks that leave the matrix."""
    patch.setattr(
        movers, "block", lambda held, row, column, size: held[row : row + size[0], column : column + size[1]]
    )


def turned(patch: pytest.MonkeyPatch) -> None:
    def columns_first(profile: str) -> dict[str, tuple[int, int]]:
        return {text: (columns, rows) for text, (rows, columns) in extents(profile).items()}

    patch.setattr(given_arrays, "extents", columns_first)


def other_rows_refused(patch: pytest.MonkeyPatch) -> None:
    def refuse(valid: Any, used: Any) -> None:
        if valid["b"].rows != used["b"].rows:
            raise InputError("other rows than are read")

    patch.setattr(operand_arrays, "_require_inside", refuse)


def other_numbers(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(move_arrays, "Matrix", lambda shape, fmt: Matrix(shape, BF16 if fmt == F16 else fmt))


def sums_in_f32(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(products, "F64", F32)


def rows_of_scales_in_boxes(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(operand_arrays, "is_row_of_scales", lambda tile: False)


MUTANTS: tuple[Mutant, ...] = (
    (blocks_anywhere, given_arrays.given, "blocks"),
    (another_element(0), buffers.executed, "runs/A5"),
    (another_element(10), buffers.executed, "runs/CPU"),
    (rows_of_scales_in_boxes, buffers.executed, "refused"),
    (rows_in_the_columns_order, buffers.executed, "views"),
    (signed_pads, buffers.executed, "pads"),
    (entry_changed(stated_buffers, "PADS", ("i8", "MIN"), 0x81), buffers.executed, "pads"),
    (entry_changed(stated_names, "SPELLED", "tload.fp", "tload"), documented.names, "operations"),
    (entry_changed(stated_names, "ROUNDED", "e8m11", (8, 12)), documented.names, "element-types"),
    (entry_changed(stated_names, "FIRST_WORDS", "module {", "modul"), documented.names, "words"),
    (no_batches, given_arrays.given, "batches/A5"),
    (turned, given_arrays.given, "drawn/CPU"),
    (other_rows_refused, given_arrays.given, "open/A5"),
    (other_numbers, given_arrays.given, "numbers"),
    (sums_in_f32, given_arrays.scaled_sums, "f64"),
    (text_elsewhere("OUTLINE"), texts.read_texts, "outlines"),
    (text_elsewhere("REFUSED"), texts.read_texts, "refused"),
)


test_a_fault_is_refuted = refutation_of(MUTANTS)
