"""Who supplies addresses, scale factors and metadata; the memory operand of ``wmma``; published models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

import numpy as np

from ...spec.algebra import Array
from ...spec.formats import UE8M0, format_named
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.ptx.architectures import ARCHITECTURES
from ...spec.ptx.assembly import parse
from ...spec.ptx.block_scaling import BlockScale, ScaleFactors, Selectors
from ...spec.ptx.matrix_moves import load, matrix_move, row_addresses, store
from ...spec.ptx.mma_forms import MmaForm
from ...spec.ptx.resolution import multiplication
from ...spec.ptx.sparse_mma_forms import SPARSE_FORMS
from ...spec.ptx.sparsity import Sparsity
from ...spec.ptx.variant import Shape
from ...spec.ptx.wmma import MemoryOperand
from ..comparison import compared
from ..obligation import Case, Certificate, Method, theorem
from ..table_theorem import answered, table_theorem
from .stated import moves

_ALGEBRA = NumpyAlgebra()


@theorem(
    "ptx/stated/addresses",
    "threads supply the addresses of rows in the order of the manual's table",
    "∀ matrix moves of memory, ∀ matrices q, rows r: the address of row r of matrix q is that of the thread "
    "that the table names: threads 0-7 have the first matrix of 8 rows, 0-15 the first one of 16",
    "PTX ISA 9.1 sections 9.7.14.5.15 and 9.7.14.5.16, tables of threads and addresses",
)
def addresses() -> Iterator[Case]:
    """Yield one certificate for each move."""
    for text, _, _ in moves.moves():
        opcode, shape, count = (text.split(".")[place] for place in (0, 3, 4))
        if (opcode, shape) in moves.MEMORY_ROWS and "shared" not in text:
            stated = moves.ADDRESSES[moves.MEMORY_ROWS[opcode, shape], count]
            yield Case(text, partial(_addresses, text, stated), method=Method.CERTIFICATE)


def _addresses(text: str, stated: tuple[tuple[int, ...], ...]) -> Certificate:
    def specified() -> Mapping[tuple[int, int], int]:
        threads = row_addresses(matrix_move(parse(text).variant), np.arange(32))
        return {(matrix, row): int(threads[matrix, row]) for matrix, row in np.ndindex(threads.shape)}

    expected = {(q, r): thread for q, threads in enumerate(stated) for r, thread in enumerate(threads)}
    return compared(expected, specified)


eight_by_eight = table_theorem(
    "ptx/stated/eight-by-eight",
    "threads hold the elements of 8 x 8 matrices that the manual's figure shows",
    "∀ q, r, c: element (r, c) of matrix q, of (c, r) with .trans, is in register q of the thread that the "
    "figure names, even c in the low half; stmatrix stores from there, movmatrix transposes",
    "PTX ISA 9.1 section 9.7.14.5.15, figure of the fragment of b16",
    lambda: {
        f"{count}{trans}": partial(_eight_by_eight, count, trans)
        for count in ("x1", "x2", "x4")
        for trans in ("", ".trans")
    },
)


def _eight_by_eight(count: str, trans: str) -> Certificate:
    matrices = int(count[1:])
    number = np.arange(matrices * 64).reshape(matrices, 8, 8)
    rows = np.stack([number & 255, number >> 8], axis=-1).reshape(matrices, 8, 16).astype(np.uint8)
    registers = np.zeros((32, matrices), dtype=np.uint32)
    for q, r, c in np.ndindex(matrices, 8, 8):
        held = number[q, c, r] if trans else number[q, r, c]
        registers[moves.HOLDERS[r][c], q] |= np.uint32(int(held) << 16 * (c % 2))

    def specified() -> Mapping[object, int]:
        variant = f"sync.aligned.m8n8.{count}{trans}.b16"
        loaded = load(_ALGEBRA, matrix_move(parse(f"ldmatrix.{variant}").variant), rows)
        stored = store(_ALGEBRA, matrix_move(parse(f"stmatrix.{variant}").variant), registers)
        return _entries(loaded, stored)

    return compared(_entries(registers, rows), specified)


def _entries(registers: Array, rows: Array) -> dict[object, int]:
    held: dict[object, int] = {("register", *at): int(registers[at]) for at in np.ndindex(registers.shape)}
    return {**held, **{("row", *at): int(rows[at]) for at in np.ndindex(rows.shape)}}


scale_factors = table_theorem(
    "ptx/stated/scale-factors",
    "scale factors come from the threads and bytes that the manual's figures show",
    "∀ vector sizes, legal byte-ids and thread-ids, ∀ lines and chunks of K: the factor is the byte of the "
    "thread's register that the tables name; gathering it from registers takes that byte",
    "PTX ISA 9.1 section 9.7.14.3, figures of the selectors; rows of a pair of threads from CuTe",
    lambda: {
        f"{operand}/{size}X": partial(_scale_factors, operand, size) for operand in "ab" for size in (1, 2, 4)
    },
)


def _scale_factors(operand: str, size: int) -> Certificate:
    expected: dict[object, object] = {}
    for (of_size, byte_id), places in moves.SCALE_BYTES.items():
        for (thread_id, line), thread in moves.scale_threads(operand).items() if of_size == size else ():
            for chunk, byte in enumerate(places):
                expected[byte_id, thread_id, line, chunk] = (thread, byte), 4 * thread + byte
    numbers = np.arange(128, dtype=np.uint32).reshape(32, 4)
    registers = (numbers << np.array([0, 8, 16, 24], dtype=np.uint32)).sum(axis=-1, dtype=np.uint32)[:, None]

    def specified() -> Iterator[tuple[object, object]]:
        factors = ScaleFactors(operand, size)
        scale = BlockScale(size, 64, UE8M0)
        for selectors in factors.selectors:
            held = scale.held(operand, selectors).gather(_ALGEBRA, registers)
            for line in range(factors.lines):
                for chunk in range(size):
                    slot = factors.slot(line, chunk, Selectors(*selectors))
                    byte = held[(line, chunk) if operand == "a" else (chunk, line)]
                    yield (*selectors, line, chunk), ((int(slot.lane), int(slot.byte)), int(byte))

    return compared(expected, specified)


@theorem(
    "ptx/stated/metadata",
    "metadata come from the threads that the manual names, the bits that CUTLASS has, and name columns",
    "∀ selectors, rows, chunks: the nibble is that of the thread's register that the tables name; the legal "
    "nibbles are the listed ones, and the stored columns of a chunk those of the figures; of the shapes of "
    "half a K, which is an open point, with half-k-metadata=as-twice-k",
    "PTX ISA 9.1 section 9.7.14.6, figures of metadata and of the sparsity of each type",
)
def metadata() -> Iterator[Case]:
    """Yield one certificate for each shape and width of elements."""
    for shape, bits in moves.SHAPES:
        choices = "half-k-metadata=as-twice-k" if (shape, bits) in moves.HALF_K else "all"
        yield Case(
            f"{shape}/{bits}-bit", partial(_metadata, shape, bits), method=Method.CERTIFICATE, choices=choices
        )


def _metadata(shape: str, bits: int) -> Certificate:
    chunk, unordered, ordered = moves.GRANULARITIES[bits]
    expected: dict[object, object] = {
        **{at: (place, place) for at, place in moves.metadata(shape, bits).items()},
        "elements of a chunk": {chunk},
        "nibbles of sp": unordered,
        "nibbles of sp::ordered_metadata": ordered,
        **{("columns", nibble): columns for nibble, columns in moves.STORED_COLUMNS[chunk].items()},
    }
    number = np.arange(256, dtype=np.uint32).reshape(32, 8)
    shifts = np.arange(0, 32, 4, dtype=np.uint32)
    low, high = (
        ((number >> place & 15) << shifts).sum(axis=-1, dtype=np.uint32)[:, None] for place in (0, 4)
    )

    def specified() -> Iterator[tuple[object, object]]:
        forms = [form for form in SPARSE_FORMS if (str(form.shape), form.container) == (shape, bits)]
        chunks = {form.chunk for form in forms}
        variants = {each: Sparsity(Shape.parse(shape), bits, min(chunks), each) for each in (False, True)}
        sparsity = variants[True]
        yield from {
            "elements of a chunk": chunks,
            "nibbles of sp": variants[False].legal_nibbles,
            "nibbles of sp::ordered_metadata": sparsity.legal_nibbles,
        }.items()
        for selector in range(_selectors(forms)):
            held = sparsity.held(selector)
            places = held.gather(_ALGEBRA, low) | held.gather(_ALGEBRA, high) << 4
            for row, at in np.ndindex(places.shape):
                slot = sparsity.slot(row, at, selector)
                taken = divmod(int(places[row, at]), 8)
                yield (selector, row, at), ((int(slot.lane), int(slot.nibble)), taken)
        for nibble in sparsity.legal_nibbles:
            columns = (sparsity.column(sparsity.kept + slot, nibble) for slot in range(sparsity.kept))
            yield ("columns", nibble), tuple(column - sparsity.chunk for column in columns)

    return compared(expected, specified)


def _selectors(forms: list[MmaForm]) -> int:
    (count,) = {form.selectors for form in forms}
    return count


wmma_memory = table_theorem(
    "ptx/stated/wmma-memory",
    "default strides and alignments of wmma are those of the manual's tables",
    "(shape, operand, layout) ↦ default stride in elements, (shape, type, operand) ↦ bytes that lines are "
    "aligned to; element (r, c) is r lines and c elements from the pointer with .row, c and r with .col",
    "PTX ISA 9.1 section 9.7.14.4: matrix storage, alignment",
    lambda: {"strides": _strides, "alignments": _alignments},
)


_ANY_TYPE = {"m8n8k32": "s4", "m8n8k128": "b1", "m16n16k8": "tf32", "m8n8k4": "f64"}


def _operand(shape: str, role: str, element: str, layout: str) -> MemoryOperand:
    return MemoryOperand(Shape.parse(shape), role, format_named(element), layout)


def _strides() -> Certificate:
    expected: dict[tuple[str, ...], tuple[int, int]] = {
        at: (stride, 3 * stride + 2 if at[2] == "row" else 2 * stride + 3)
        for at, stride in moves.STRIDES.items()
    }

    def specified() -> Iterator[tuple[tuple[str, ...], tuple[int, int]]]:
        for shape, role, layout in moves.STRIDES:
            operand = _operand(shape, role, _ANY_TYPE.get(shape, "f16"), layout)
            stride = operand.minimum_stride
            yield (shape, role, layout), (stride, operand.element(3, 2, stride))

    return compared(expected, specified)


def _alignments() -> Certificate:
    return answered(
        moves.ALIGNED, lambda shape, element, role: _operand(shape, role, element, "row").fragment_bytes
    )


models = table_theorem(
    "ptx/stated/models",
    "the models of the matrix units have the published parameters",
    "architecture ↦ (target, fraction bits of terms, bits of a row of A in one step, both for fp8 too) "
    "is the table written down from the publications; listed products ↦ architectures that execute them",
    "MMA-Sim, arXiv 2511.10909; Khattak and Mikaitis, arXiv 2512.07004; Valpey, arXiv 2502.15999",
    lambda: {"parameters": _models, "executed": _executed},
)


def _models() -> Certificate:
    def specified() -> Mapping[str, object]:
        return {
            unit.name: (
                unit.name, unit.target, unit.fraction_bits, unit.step_bits, unit.fp8_fraction_bits,
                unit.fp8_step_bits,
            )
            for unit in ARCHITECTURES
        }  # fmt: skip

    return compared(moves.MODELS, specified)


def _executed() -> Certificate:
    def units(text: str) -> set[str]:
        resolved = multiplication(parse(text).variant)
        return {
            architecture.name for architecture in ARCHITECTURES if resolved.is_executable_on(architecture)
        }

    return answered(moves.EXECUTED, units)


THEOREMS = (
    addresses,
    eight_by_eight,
    scale_factors,
    metadata,
    wmma_memory,
    models,
)
