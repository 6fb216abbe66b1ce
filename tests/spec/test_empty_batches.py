"""Batches of nothing: every instruction executes them, in both views, and what it returns is as empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from pto_products import PRODUCTS, element_types, product_tiles

from mmaproof.spec import operand_arrays
from mmaproof.spec.drawn_arrays import DrawnArrays
from mmaproof.spec.errors import InputError
from mmaproof.spec.instruction_set import instruction_set
from mmaproof.spec.pto import operand_arrays as pto
from mmaproof.spec.pto.choices import choices_of
from mmaproof.spec.pto.resolution import applied
from mmaproof.spec.pto.targets import A5, CPU, Profile
from mmaproof.spec.ptx.architectures import ARCHITECTURES
from mmaproof.spec.ptx.catalogue import ALL_FORMS
from mmaproof.spec.ptx.choices import PRESETS, Choices
from mmaproof.spec.ptx.move_arrays import move
from mmaproof.spec.ptx.operand_arrays import multiply
from mmaproof.spec.ptx.resolution import multiplication
from mmaproof.spec.ptx.variant import MULTIPLYING, Family, Variant
from mmaproof.spec.ptx.warp import Immediates
from mmaproof.spec.ptx.wmma import memory_operands

DRAWN = DrawnArrays({}, seed=1)
"""Every operand is drawn, which says its shape."""

BATCHES = (0,), (2, 0)


@pytest.fixture(params=BATCHES, ids=str)
def batch(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[int, ...]:
    """Have all that is drawn be a batch, of the type and shape of what would have been drawn."""
    extents: tuple[int, ...] = request.param
    inner = operand_arrays._shaped

    def emptied(*arguments: Any) -> Mapping[str, np.ndarray[Any, Any]]:
        return {
            name: np.zeros((*extents, *array.shape), dtype=array.dtype)
            for name, array in inner(*arguments).items()
        }

    monkeypatch.setattr(operand_arrays, "_shaped", emptied)
    return extents


def require_empty(found: Mapping[str, np.ndarray[Any, Any]], batch: tuple[int, ...]) -> None:
    assert found
    for name, array in found.items():
        assert array.shape[: len(batch)] == batch, name
        assert array.ndim > len(batch), name


def variants(multiplying: bool) -> Iterator[Variant]:
    """Yield a variant with each shape, kind and other modifiers, and one with each of the types."""
    seen: set[object] = set()
    for form in ALL_FORMS:
        for variant in form.variants():
            keys = {replace(variant, layouts=(), types=()), variant.types}
            if (variant.family in MULTIPLYING) is multiplying and keys - seen:
                seen |= keys
                yield variant


@pytest.mark.parametrize("accumulation", ["sequential", *(each.name for each in ARCHITECTURES)])
def test_ptx_products(accumulation: str, batch: tuple[int, ...]) -> None:
    executed = 0
    architecture = next((each for each in ARCHITECTURES if each.name == accumulation), None)
    for variant in variants(multiplying=True):
        form = multiplication(variant)
        if architecture is not None and (form.is_integer or not form.is_executable_on(architecture)):
            continue
        require_empty(multiply(form, DRAWN, PRESETS[accumulation]), batch)
        if variant.family is Family.MMA and form.sparsity is None and form.block_scale is None:
            require_empty(multiply(form, DRAWN, PRESETS[accumulation], Immediates()), batch)
        executed += 1
    assert executed


def test_ptx_moves(batch: tuple[int, ...]) -> None:
    memory = np.zeros((*batch, 1 << 15), dtype=np.uint8)
    lanes = np.zeros((*batch, 32), dtype=np.int64)
    for variant in variants(multiplying=False):
        match variant.family:
            case Family.MOVMATRIX:
                found = move(variant, DRAWN, Choices())
            case Family.LDMATRIX:
                found = move(variant, {"memory": memory, "addresses": lanes}, Choices())
            case Family.STMATRIX:
                registers = int((variant.count or "x1")[1:])
                given = np.zeros((*batch, 32, registers), dtype=np.uint32)
                found = move(variant, {"memory": memory, "addresses": lanes, "r": given}, Choices())
            case _:
                continue
        require_empty(found, batch)
    for operand in memory_operands():
        matrix = operand.load(memory, 0, stride=256)
        assert matrix.shape == (*batch, *operand.extents)
        assert operand.store(memory, 0, matrix, stride=256).shape == memory.shape


def test_a_store_takes_a_batch_of_memories_or_none_that_fits() -> None:
    operand = next(operand for operand in memory_operands() if operand.role == "d")
    one = np.ones(operand.extents, dtype=operand.format.storage)
    memories = np.zeros((3, 1 << 15), dtype=np.uint8)
    assert operand.store(memories, 0, one).shape == memories.shape
    with pytest.raises(InputError, match="batch"):
        operand.store(memories, 0, np.broadcast_to(one, (2, *one.shape)))


@pytest.mark.parametrize("as_registers", [False, True])
def test_power_and_mfma(as_registers: bool, batch: tuple[int, ...]) -> None:
    operands = {"AT": 0, "AS": 0, "XA": 32, "XAp": 32, "XB": 34, "XMSK": 15, "YMSK": 3, "PMSK": 3}
    for isa in ("power", "mfma"):
        known = instruction_set(isa)
        for row in known.instructions():
            text, syntax = row["mnemonic"], row["operands"]
            if isa == "power":
                moves = text in ("xxmtacc", "xxmfacc")
                if not ("ger" in text or (moves and as_registers)):
                    continue
                text += " " + ",".join(str(operands[name]) for name in syntax.split(","))
            found = known.read(text).execute(DRAWN, as_registers=as_registers, rounding=None, choices=())
            require_empty(found, batch)


@pytest.mark.parametrize("profile", [A5, CPU], ids=str)
def test_pto(profile: Profile, batch: tuple[int, ...]) -> None:
    for operation in PRODUCTS:
        factor, result = ("f8E4M3FN" if operation.microscaled else "f16"), "f32"
        size = 1 if operation.name.startswith("tgemv") else 16, 64, 16
        if operation.microscaled and not profile.microscaling:
            continue
        tiles = product_tiles(operation, profile, size, element_types(operation, factor, factor, result))
        for as_registers in (False, True):
            of = applied(operation, tiles, profile)
            found = pto.execute(of, DRAWN, choices_of(profile), as_registers=as_registers)
            require_empty(found, batch)


MAT = "!pto.tile_buf<mat, 64x64xf16, blayout=col_major, slayout=row_major>"
PART = "!pto.tile_buf<left, 32x16xf16, blayout=col_major, slayout=row_major>"


@pytest.mark.parametrize("as_registers", [False, True])
def test_pto_moves(as_registers: bool) -> None:
    extract = instruction_set("pto").read(
        f"pto.textract ins(%s, %i, %j : {MAT}, index, index) outs(%t : {PART})"
    )
    extents = (0, 4096) if as_registers else (0, 64, 64)
    name = "source" if as_registers else "source_bits"
    given = {name: np.zeros(extents, dtype=np.uint16), "row": np.array(16), "column": np.array(48)}
    found = extract.execute(given, as_registers=as_registers, rounding=None, choices=())
    require_empty(found, (0,))
