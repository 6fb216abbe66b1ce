"""What a guess says of memory, numbers, masks, fragments and copies under way is checked, and refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import triton_contracts
from cuda_contracts import CORPUS, for_every_k
from quantified_kernels import RAGGED, TRITON, prove_size
from sweep_parameters import few

from mmaproof.refinement.ptx.any_size import residue_classes, size_induction
from mmaproof.refinement.ptx.any_size.loop_states import Cells, LoopBatch, alike
from mmaproof.refinement.ptx.synchronisation.asynchronous import Copies
from mmaproof.refinement.terms.store import CONSTANT
from mmaproof.spec.errors import UnsupportedError

BOUND = " up to 65536"


def _shared(store: Any, found: Cells) -> bool:
    """Say of a byte of shared memory, of which something is said, that it is 0."""
    return _at_lane(found, lambda lanes, lane: lanes.terms.__setitem__(lane, store.constants(0, 8)))


def _moved(store: Any, found: Cells) -> bool:
    """Say of a byte of shared memory that it lies elsewhere in what it is part of."""
    return _at_lane(found, lambda lanes, lane: lanes.lows.__setitem__(lane, lanes.lows[lane] + 8))


def _never_written(store: Any, found: Cells) -> bool:
    """Say of a byte of shared memory that nobody wrote it."""
    return _at_lane(found, lambda lanes, lane: lanes.terms.__setitem__(lane, -1))


def _at_lane(found: Cells, change: Callable[[Any, int], None]) -> bool:
    lanes = found.lanes[0]
    (there,) = np.nonzero(lanes.terms >= 0)
    if len(there):
        change(lanes, int(there[len(there) // 2]))
    return bool(len(there))


def _mask(store: Any, found: Cells) -> bool:
    """Say the opposite of a predicate in a thread, of those that stay the same."""
    masks = {name: terms for name, terms in found.registers.items() if (store.widths(terms) == 1).all()}
    changed = Cells(masks, ())
    there = _number(store, changed)
    found.registers.update(changed.registers)
    return there


def _number(store: Any, found: Cells) -> bool:
    """Say of a number that stays the same that it is another one in a thread."""
    for name, terms in found.registers.items():
        if store.are(CONSTANT, terms).all():
            values = store.constant_values(terms).copy()
            values[-1] ^= np.uint64(1)
            found.registers[name] = store.constants(values, int(store.widths(terms[:1])[0]))
            return True
    return False


def _fragment(store: Any, found: Cells) -> bool:
    """Say of a register of data that it holds what another one does."""
    first, second, *_ = [name for name, terms in found.registers.items() if not store.rows_of(terms)[1].any()]
    different = bool((found.registers[first] != found.registers[second]).any())
    found.registers[first] = found.registers[second]
    return different


Change = Callable[[Any, Cells], bool]
STAGES = triton_contracts.CORPUS / "gemm_f16_f32_f32_64x64x32_s3_sm80.ptx"
TILES = CORPUS / "wmma_f16_sm80.ptx"
WRONG: dict[str, tuple[Path, Change]] = {
    "a byte of shared memory": (TRITON, _shared),
    "where a byte lies": (TRITON, _moved),
    "a byte that is not written": (TRITON, _never_written),
    "a number": (TRITON, _number),
    "a mask": (RAGGED, _mask),
    "registers of fragments": (TRITON, _fragment),
    "fragments of wmma": (TILES, _fragment),
}


def _prove(kernel: Path) -> None:
    if kernel.parent == CORPUS:
        prove_size(for_every_k(kernel.stem.removesuffix("_sm80"), BOUND), kernel)
    else:
        prove_size(triton_contracts.for_every_k(kernel.name, f"any multiple of 32{BOUND}"), kernel)


@pytest.mark.parametrize("what", few(WRONG, "a byte of shared memory", "registers of fragments"))
def test_a_guess_that_is_wrong_of_one_thing_is_refused(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, change = WRONG[what]
    original, changed = size_induction.guessed, []

    def wrong(*given: Any) -> tuple[Cells, int]:
        found, odd = original(*given)
        if not odd:
            changed.append(change(given[0], found))
        return found, odd

    monkeypatch.setattr(size_induction, "guessed", wrong)
    monkeypatch.setattr(residue_classes, "_SEARCH", 1)
    with pytest.raises(UnsupportedError):
        _prove(kernel)
    assert changed and all(changed)


@pytest.mark.sweep
@pytest.mark.parametrize("change", ["ended", "one more"])
def test_copies_that_are_not_those_under_way_are_refused(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original, seen = Cells.put, []

    def put(cells: Cells, batch: LoopBatch) -> None:
        original(cells, batch)
        execution, copies = batch.execution, Copies.of(batch.execution)
        threads, before = np.arange(len(execution.threads)), copies.outstanding()
        if change == "ended":
            copies.wait(execution, threads, 0)
        else:
            copies.commit(threads)
        seen.append(not alike(before, copies.outstanding()))

    monkeypatch.setattr(Cells, "put", put)
    monkeypatch.setattr(residue_classes, "_SEARCH", 1)
    with pytest.raises(UnsupportedError):
        _prove(STAGES)
    assert any(seen)
