"""Arrays that PTO's instructions are executed on: batches of buffers, and arrays without a shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import combinations, product

import numpy as np

from ...spec.algebra import Array
from ...spec.drawn_arrays import DrawnArrays
from ...spec.errors import UnsupportedError
from ...spec.formats import BF16, F16, F32, S8, S32, format_named
from ...spec.instruction_set import Instruction, instruction_set
from ...spec.numpy_algebra import NumpyAlgebra
from ...spec.pto import movers
from ...spec.pto.catalogue import OPERATIONS
from ...spec.pto.choices import choices_of
from ...spec.pto.resolution import applied
from ...spec.pto.run_time_extents import of_arrays
from ...spec.pto.sizes import Extents
from ...spec.pto.targets import A5, PROFILES
from ...spec.pto.tile import Tile
from ..comparison import REFUSED, compared, refusal_is
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .stated import product_runs as sums
from .stated import tables
from .stated.buffers import OPEN_EXTENTS, OPEN_PRODUCT, OPEN_SCALED, SCALED_EXTENTS, extents, small_numbers
from .stated.move_runs import MATRICES, MOVES
from .stated.names import operand
from .stated.product_runs import PRODUCTS, SCALING, Arrays, Run
from .verdicts import spelled_tile

BATCHED = (
    "move a part",
    "extract a part",
    "load only",
    "store a part",
    "bias",
    "f16",
    "accumulate",
    "scaled",
)
"""The runs that are made in batches, of each kind."""


given = table_theorem(
    "pto/stated/given",
    "buffers and matrices come in batches that broadcast, and arrays without a shape get the tiles' extents",
    "∀ listed runs and two of their arrays, one in a batch of 3: the result is a batch of 3, each as "
    "without; the other in a batch of 3 too: the same; in one of 2: refused. ∀ listed statements and "
    "profiles: drawn arrays have the valid extents of the type, of the whole tile where these are open; "
    "∀ extents of A and B that are open: D has m rows of A and n columns of B, and is the product over "
    "the k columns of A, also of none on the CPU; a B with fewer rows is refused, and an extent of 0 of "
    "the NPU and of scaled factors. Encodings and numbers of a result are the same. ∀ blocks at the edges "
    "of a matrix: those inside are its rows and columns from the indices on, others are refused, as are "
    "those of textract at no multiple, also when it is executed; no move turns integers into floats, or "
    "back. Valid extents are two integers within the tile, also where nobody reads them; textract's formula "
    "is the block from its indices on; an accumulator that is not declared is the result",
    "docs/command-line.md, mmaproof run; PTO IR manual, valid extents",
    lambda: {
        **{
            name: goal
            for profile in tables.PROFILES
            for name, goal in (
                (f"batches/{profile}", partial(_batches, profile)),
                (f"drawn/{profile}", partial(_drawn, profile)),
                (f"open/{profile}", partial(_open, profile)),
            )
        },
        **{f"open-scaled/{profile}": partial(_open_scaled, profile) for profile in SCALING},
        "numbers": _numbers,
        "blocks": _blocks,
        "indices": _indices,
        "types": _types,
        "regions": _regions,
        "accumulator": _accumulator,
    },
)


scaled_sums = table_theorem(
    "pto/stated/scaled-sums",
    "the simulator's scaled sums are kept in f64 and rounded to f32 at the end, before a bias",
    "∀ listed sums of a large product and small ones, scale factors, accumulators and biases: D is the exact "
    "sum, with the accumulator, rounded to f64 and then to f32; with a bias the sum rounded, plus the bias, "
    "rounded again",
    "pto-isa headers at 3186c381: TMatmul.hpp of the simulator",
    lambda: {"f64": _scaled_sums},
)


@refusal_is(REFUSED)
def _executed(run: Run, profile: str, arrays: Arrays) -> object:
    """Return the shape of the batch, and whether every member is what the run gives alone."""
    found = instruction_set("pto").read(run.text(profile)).execute(
        arrays, as_registers=not run.matrices, rounding=None, choices=run.choices, target=profile
    )  # fmt: skip
    result = found["target_bits"] if run.matrices else next(iter(found.values()))
    alone = run.result(profile)
    return result.shape[: result.ndim - alone.ndim], bool((result == alone).all())


def _batches(profile: str) -> Certificate:
    runs = [
        run
        for run in (*PRODUCTS, *MOVES, *(matrix for matrix in MATRICES if matrix.name == "move"))
        if profile in run.profiles and (run.name in BATCHED or run.matrices)
    ]
    numbers = (None, 2, 3)
    expected: dict[tuple[str, ...], object] = {}
    batches: dict[tuple[str, ...], tuple[Run, Arrays]] = {}
    for run in runs:
        arrays = {name: each for name, each in run.arrays(profile).items() if not name.startswith("valid")}
        rest = {name: each for name, each in run.arrays(profile).items() if name not in arrays}
        for one, other in [*combinations(arrays, 2), *((array, "") for array in arrays)]:
            for number in numbers if other else numbers[:1]:
                key = (run.name, str(run.matrices), one, other, str(number))
                held = {**arrays, **rest, one: np.stack([arrays[one]] * 3)}
                if number is not None:
                    held[other] = np.stack([arrays[other]] * number)
                batches[key] = run, held
                expected[key] = REFUSED if number == 2 else ((3,), True)
    return compared(
        expected, lambda: {key: _executed(run, profile, held) for key, (run, held) in batches.items()}
    )


def _drawn(profile: str) -> Certificate:
    stated = extents(profile)

    def specified() -> Iterator[tuple[str, object]]:
        for text in stated:
            results = instruction_set("pto").read(text).execute(
                DrawnArrays({}, 7), as_registers=False, rounding=None, choices=(), target=profile
            )  # fmt: skip
            (shape,) = {results[name].shape for name in results}
            yield text, shape

    return compared(stated, specified)


def _open(profile: str) -> Certificate:
    """Multiply matrices whose extents the text leaves open."""
    types = (operand(text, profile) for text in OPEN_PRODUCT)
    a, b, d = types
    instruction = instruction_set("pto").read(f"pto.tmatmul ins(%a, %b : {a}, {b}) outs(%d : {d})")
    expected: dict[tuple[int, ...], object] = {}
    for m, k, rows, n in OPEN_EXTENTS:
        left, right = small_numbers(m, k, 1), small_numbers(rows, n, 2)
        nothing = 0 in (m, k, n) and profile != "CPU"
        expected[m, k, rows, n] = REFUSED if rows < k or nothing else _with_shape(left @ right[:k])

    @refusal_is(REFUSED)
    def multiplied(m: int, k: int, rows: int, n: int) -> object:
        arrays = {"a": small_numbers(m, k, 1).astype(float), "b": small_numbers(rows, n, 2).astype(float)}
        found = instruction.execute(
            arrays, as_registers=False, rounding=None, choices=(), target=profile
        )  # fmt: skip
        return _with_shape(found["d"])

    return answered(expected, multiplied)


def _with_shape(matrix: Array) -> object:
    """Return the elements and the extents, which lists of nothing do not tell."""
    return matrix.shape, matrix.tolist()


def _open_scaled(profile: str) -> Certificate:
    """Multiply scaled factors whose extents the text leaves open; none may be 0 on any profile."""
    types = {role: operand(text, profile) for role, _, text in OPEN_SCALED}
    values = ", ".join(f"%{role}" for role in types if role != "d")
    read = ", ".join(str(each) for role, each in types.items() if role != "d")
    instruction = instruction_set("pto").read(
        f"pto.tmatmul.mx ins({values} : {read}) outs(%d : {types['d']})"
    )

    def given(m: int, k: int, n: int) -> Arrays:
        extent = {"m": m, "k": k, "n": n, "s": k // 32}
        found = {}
        for start, (role, sides, _) in enumerate(OPEN_SCALED[:-1]):
            high, wide = (extent[side] for side in sides)
            numbers = small_numbers(high, wide, start).astype(float)
            found[role] = 2.0**numbers if role.startswith("scale") else numbers
        return found

    def product_of(m: int, k: int, n: int) -> object:
        if 0 in (m, k, n):
            return REFUSED
        a, scale_a, b, scale_b = (each.astype(float) for each in given(m, k, n).values())
        return _with_shape((a * scale_a.repeat(32, axis=1)) @ (b * scale_b.repeat(32, axis=0)))

    @refusal_is(REFUSED)
    def multiplied(m: int, k: int, n: int) -> object:
        found = instruction.execute(
            given(m, k, n), as_registers=False, rounding=None, choices=(), target=profile
        )  # fmt: skip
        return _with_shape(found["d"])

    return compared(
        {key: product_of(*key) for key in SCALED_EXTENTS},
        lambda: {key: multiplied(*key) for key in SCALED_EXTENTS},
    )


def _numbers() -> Certificate:
    """Return the claim that a move's encodings and numbers are the same, in the target's type."""
    runs = {(run.name, profile): run for run in MATRICES for profile in run.profiles[-1:]}
    floats = {2: np.float16, 4: np.float32}

    def stated_numbers(run: Run, profile: str) -> object:
        bits = run.result(profile)
        return bits.view(floats[bits.itemsize]).tolist()

    def specified() -> Iterator[tuple[tuple[str, str], object]]:
        for (name, profile), run in runs.items():
            results = instruction_set("pto").read(run.text(profile)).execute(
                run.arrays(profile), as_registers=False, rounding=None, choices=run.choices, target=profile
            )  # fmt: skip
            yield (name, profile), results["target"].tolist()

    return compared({key: stated_numbers(run, key[1]) for key, run in runs.items()}, specified)


def _blocks() -> Certificate:
    rows, columns = 4, 3
    matrix = [[10 * row + column for column in range(columns)] for row in range(rows)]
    windows = list(product((-1, 0, 1, 3, 4), (-1, 0, 2, 3), (1, 3, 4, 5), (1, 2, 3, 4)))
    expected: dict[object, object] = {
        (row, column, height, width): [line[column : column + width] for line in matrix[row : row + height]]
        if row >= 0 and column >= 0 and row + height <= rows and column + width <= columns
        else REFUSED
        for row, column, height, width in windows
    }

    @refusal_is(REFUSED)
    def taken(row: int, column: int, height: int, width: int) -> object:
        return movers.block(np.array(matrix), row, column, (height, width)).tolist()

    expected["formula"] = "target[i,j] = source[row + i, column + j]"

    def specified() -> Iterator[tuple[object, object]]:
        yield from ((at, taken(*at)) for at in windows)
        yield "formula", instruction_set("pto").read("textract").formula("A5")[0].partition(" for ")[0]

    return compared(expected, specified)


_TILES = (
    # source and target of textract, multiples that rows and columns begin at on the NPU, which takes the
    # physical extents; the CPU takes the valid ones
    ("mat 64x64xf16 Nz", "left 32x32xf16 L", 16, 16),
    ("mat 64x64xf16 Nz", "right 32x32xf16 Zn", 16, 16),
    ("mat 8x512xf16 ND", "left 1x256xf16 ND", 1, 256),
)  # fmt: skip


def _indices() -> Certificate:
    starts = (-16, -1, 0, 1, 8, 16, 32, 48, 64, 256)
    valid = (40, 60), (8, 12)
    expected: dict[tuple[str, str, str, int, int], bool] = {}
    for source, target, of_row, of_column in _TILES:
        held, moved = ([int(x) for x in text.split()[1].split("x")[:2]] for text in (source, target))
        for row, column in product(starts, starts):
            inside = 0 <= row <= held[0] - moved[0] and 0 <= column <= held[1] - moved[1]
            aligned = row % of_row == column % of_column == 0
            expected["A5", source, target, row, column] = inside and aligned
            within = 0 <= row <= valid[0][0] - valid[1][0] and 0 <= column <= valid[0][1] - valid[1][1]
            expected["CPU", source, target, row, column] = within

    @refusal_is(False)
    def is_taken(profile: str, source: str, target: str, row: int, column: int) -> object:
        tiles = spelled_tile(source, profile), spelled_tile(target, profile)
        held, moved = (Extents(*extent) for extent in valid)
        movers.require_block(PROFILES[profile], *tiles, row, column, (held, moved))
        return True

    moves = {f"executed from ({row}, {column})": (row, column) for row, column in product((0, 8, 16), (0, 8))}

    @refusal_is(False)
    def is_moved(row: int, column: int) -> object:
        source, target = (spelled_tile(text, "A5") for text in _TILES[0][:2])
        buffers = np.zeros(64 * 64, dtype=F16.storage), np.zeros(32 * 32, dtype=F16.storage)
        movers.move(
            NumpyAlgebra(), OPERATIONS["textract"], A5, (source, target), (F16, F16), buffers,
            (Extents(64, 64), Extents(32, 32)), choices_of(A5), row, column,
        )  # fmt: skip
        return True

    aligned_moves = {name: row % 16 == column % 16 == 0 for name, (row, column) in moves.items()}
    return compared(
        {**{str(at): taken for at, taken in expected.items()}, **aligned_moves},
        lambda: {
            **{str(at): is_taken(*at) for at in expected},
            **{name: is_moved(*at) for name, at in moves.items()},
        },
    )


def _types() -> Certificate:
    formats = (F16, F32, BF16, S8, S32)

    @refusal_is(False, UnsupportedError)
    def is_converted(source: str, target: str) -> object:
        fmt = format_named(source)
        movers.converted(
            NumpyAlgebra(), np.zeros(2, dtype=fmt.storage), fmt, format_named(target), choices_of(A5)
        )
        return True

    return answered(
        {
            (str(source), str(target)): source == target or {source, target} <= {F16, F32, BF16}
            for source, target in product(formats, formats)
        },
        is_converted,
    )


_REGIONS: dict[str, tuple[object, object]] = {
    "inside": ([20, 50], (20, 50)), "whole": ([32, 64], (32, 64)),
    "unsigned": (np.array([3, 4], dtype=np.uint8), (3, 4)),
    "too many rows": ([33, 64], REFUSED), "too many columns": ([32, 65], REFUSED),
    "below none": ([-1, 4], REFUSED), "real": ([20.0, 50.0], REFUSED), "truths": ([True, True], REFUSED),
    "one": (20, REFUSED), "three": ([20, 50, 1], REFUSED), "a batch": ([[20, 50], [20, 50]], REFUSED),
}  # fmt: skip
"""What is given as the valid extent of 32 rows and 64 columns, and what becomes of it."""


def _whole_product() -> Instruction:
    """Read a product of 16 x 16 x 16 whose extents the text gives."""
    types = (operand(text, "A5") for text in ("left 16x16xf16 L", "right 16x16xf16 Zn", "acc 16x16xf32 Nz"))
    a, b, d = map(str, types)
    return instruction_set("pto").read(f"pto.tmatmul ins(%a, %b : {a}, {b}) outs(%d : {d})")


def _regions() -> Certificate:
    tile = spelled_tile("left 32x64xf16 L valid=?x?", "A5")

    @refusal_is(REFUSED)
    def extent(given: object) -> object:
        found = of_arrays("a", tile, {"valid_a": np.array(given)}, "tmatmul")
        return found.rows, found.columns

    @refusal_is(False)
    def is_taken_unread(array: str, numbers: int) -> object:
        drawn, given = (
            _whole_product().execute(
                DrawnArrays(literals, 7), as_registers=True, rounding=None, choices=(), target="A5"
            )["d"]
            for literals in ({}, {array: np.array([16] * numbers)})
        )
        return bool((drawn == given).all())

    unread = list(product(("valid_a", "valid_b"), (2, 3)))
    return compared(
        {
            **{name: due for name, (_, due) in _REGIONS.items()},
            **{f"{array}, {numbers} numbers": numbers == 2 for array, numbers in unread},
        },
        lambda: {
            **{name: extent(given) for name, (given, _) in _REGIONS.items()},
            **{f"{array}, {numbers} numbers": is_taken_unread(array, numbers) for array, numbers in unread},
        },
    )


def _accumulator() -> Certificate:
    a, b, c, d = (
        spelled_tile(text, "A5")
        for text in ("left 32x64xf16 L", "right 64x48xf16 Zn", "acc 32x48xf32 Nz valid=20x48",
                     "acc 32x48xf32 Nz")
    )  # fmt: skip
    given = {"alone": {"d": d}, "both": {"c": c, "d": d}, "neither": {}}

    def tiles(operation: str, others: Mapping[str, Tile]) -> object:
        found = applied(OPERATIONS[operation], {"a": a, "b": b, **others}, A5)
        names = {role: value.name for role, value in found.instruction.operands().items()}
        return found.tiles.get("c"), found.tiles.get("d"), names

    plain = {"a": "%a", "b": "%b", "d": "%d"}
    in_place = {**plain, "c": "%d"}
    return answered(
        {
            ("tmatmul.acc", "alone"): (d, d, in_place),
            ("tmatmul.acc", "both"): (c, d, in_place),
            ("tmatmul.acc", "neither"): (None, None, in_place),
            ("tmatmul", "alone"): (None, d, plain),
            ("tmatmul", "neither"): (None, None, plain),
        },
        lambda name, some: tiles(name, given[some]),
    )


def _scaled_sums() -> Certificate:
    grid = list(product(range(len(sums.ROWS)), range(len(sums.COLUMNS))))
    expected = {(operation, *at): sums.result(operation, *at) for operation in sums.OPERATIONS for at in grid}

    def specified() -> Iterator[tuple[tuple[str, int, int], float]]:
        for operation in sums.OPERATIONS:
            results = instruction_set("pto").read(sums.text(operation)).execute(
                sums.arrays(operation), as_registers=False, rounding=None,
                choices=("microscaled-sum=f64",), target="CPU",
            )  # fmt: skip
            yield from {(operation, *at): float(results["d"][at]) for at in grid}.items()

    return compared(expected, specified)


THEOREMS = (given, scaled_sums)
