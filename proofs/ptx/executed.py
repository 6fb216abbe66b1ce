"""What PTX instructions give on arrays of whole numbers: products as of matrices, moves as of memory."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import product

import numpy as np

from ...spec.algebra import Array
from ...spec.instruction_set import instruction_set
from ...spec.operand_arrays import ALGEBRA
from ...spec.ptx.assembly import parse
from ...spec.ptx.matrix_moves import matrix_move
from ...spec.ptx.resolution import multiplication
from ...spec.ptx.shared_memory import ldmatrix
from ..comparison import REFUSED, compared, refusal_is, whole_numbers
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .stated import moves, products

SOURCE = "PTX ISA 9.1 section 9.7.14"

_LARGEST = 4
"""Whole numbers up to which all are in e2m1 and s4; sums of their products are exact in f16."""


def _executed(text: str, arrays: Mapping[str, Array], choices: tuple[str, ...] = ()) -> Mapping[str, Array]:
    read = instruction_set("ptx").read(text)
    return read.execute(arrays, as_registers=False, rounding=None, choices=list(choices))


def _listed(array: Array) -> object:
    return array.astype(int).tolist()


whole_products = table_theorem(
    "ptx/stated/products",
    "products of whole numbers are those of the matrices",
    "D = C + A·B on small whole numbers, where every sum is exact: dense, with A stored sparsely as "
    "metadata say, and expanded, and with scale factors 2^s for each row, column and block of K; batches "
    "broadcast; of f64, 1 + 2^-60 and -1 - 2^-60 rounded as each modifier says, and both readings of a NaN; "
    "with .satfinite the exact total is clamped, once, also where a part of it leaves s32",
    SOURCE,
    lambda: {
        "dense": _dense,
        "sparse": _sparse,
        "scaled": _scaled,
        "doubles": _doubles,
        "saturated": _saturated,
    },
)


def shape(text: str) -> tuple[int, int, int]:
    """Return M, N and K of a product's mnemonic."""
    (name,) = (part for part in text.split(".") if part[0] == "m" and part[1:2].isdigit())
    m, _, rest = name[1:].partition("n")
    n, _, k = rest.partition("k")
    return int(m), int(n), int(k)


def _operands(text: str) -> dict[str, Array]:
    m, n, k = shape(text)
    blocks = (4,) if "m8n8k4" in text and "f16" in text and text.startswith("mma") else ()
    return {
        "a": whole_numbers((2, *blocks, m, k), _LARGEST, 1),
        "b": whole_numbers((*blocks, k, n), _LARGEST, 2),
        "c": whole_numbers((2, *blocks, m, n), _LARGEST, 3),
    }


def _dense() -> Certificate:
    expected = {}
    for text in products.PRODUCTS:
        given = _operands(text)
        expected[text] = _listed(given["c"] + given["a"] @ given["b"])
    return answered(expected, lambda text: _listed(_executed(text, _operands(text))["d"]))


_SATURATED = (
    "mma.sync.aligned.m8n8k16.row.col.satfinite.s32.s8.s8.s32",
    "mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32",
    "mma.sync.aligned.m8n8k32.row.col.satfinite.s32.s4.s4.s32",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s4.s4.s32",
    "mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.s4.s32",
    "wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite",
    "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32.satfinite",
)


def _near_the_ends(text: str) -> dict[str, Array]:
    """Return operands whose sums leave s32, and come back, on the way through K."""
    given = _operands(text)
    ends = np.where(given["c"] < 0, -(2**31) - 4 * given["c"], 2**31 - 1 - 4 * given["c"])
    return {**given, "c": ends}


def _saturated() -> Certificate:
    expected = {}
    for text in _SATURATED:
        given = _near_the_ends(text)
        total = given["c"] + given["a"] @ given["b"]
        expected[text] = _listed(np.clip(total, -(2**31), 2**31 - 1))
    return answered(expected, lambda text: _listed(_executed(text, _near_the_ends(text))["d"]))


_DOUBLE, _WMMA_DOUBLE = "mma.sync.aligned.m16n8k8.row.col", "wmma.mma.sync.aligned.row.col.m8n8k4"
_ONE, _MINUS = 0x3FF0000000000000, 0xBFF0000000000000
_DIRECTED = {"": (0, 0), ".rn": (0, 0), ".rz": (0, 0), ".rm": (0, 1), ".rp": (1, 0)}
"""Units in the last place beyond 1 and -1 that their sums with ±2^-60 have, by the modifier."""
_NANS = {"positive": 0x7FF8000000000000, "negative": 0xFFF8000000000000}


def _doubles() -> Certificate:
    expected: dict[object, int] = {}
    for modifier, (above, below) in _DIRECTED.items():
        spelled = f"{_DOUBLE}{modifier}.f64.f64.f64.f64", f"{_WMMA_DOUBLE}{modifier}.f64.f64.f64.f64"
        for text in spelled:
            expected |= {(text, 1): _ONE + above, (text, -1): _MINUS + below}
    expected |= {(f"{_DOUBLE}.f64.f64.f64.f64", reading): nan for reading, nan in _NANS.items()}

    def specified(text: str, what: object) -> int:
        m, n, k = shape(text)
        a, b, c = np.zeros((m, k)), np.zeros((k, n)), np.zeros((m, n))
        if isinstance(what, int):
            a[0, 0], b[0, 0], c[0, 0] = what * 2.0**-30, 2.0**-30, what
            return int(_executed(text, {"a": a, "b": b, "c": c})["d_bits"][0, 0])
        a[0, 0] = np.nan
        found = _executed(text, {"a": a, "b": b, "c": c}, (f"f64-nan={what}",))["d_bits"]
        return int(found[0, 0])

    return answered(expected, specified)


def _sparse_operands(text: str, chunk: int, nibbles: tuple[int, int]) -> dict[str, Array]:
    given = _operands(text)
    _, _, k = shape(text)
    given["a"] = given["a"][..., : k // 2]
    chunks = k // chunk
    return {**given, "metadata_bits": np.resize(np.array(nibbles, dtype=np.uint8), (16, chunks))}


def _sparse() -> Certificate:
    expected = {}
    for text, chunk, *kept in products.SPARSE:
        given = _sparse_operands(text, chunk, (kept[0][0], kept[1][0]))
        stored = given["a"]
        dense = np.zeros((*stored.shape[:-1], 2 * stored.shape[-1]), dtype=int)
        half = chunk // 2
        for place in range(dense.shape[-1] // chunk):
            for slot, column in enumerate(kept[place % 2][1]):
                dense[..., chunk * place + column] = stored[..., half * place + slot]
        expected[text, "D"] = _listed(given["c"] + dense @ given["b"])
        expected[text, "A"] = _listed(dense)

    def specified() -> Iterator[tuple[tuple[str, str], object]]:
        for text, chunk, first, second in products.SPARSE:
            given = _sparse_operands(text, chunk, (first[0], second[0]))
            yield (text, "D"), _listed(_executed(text, given)["d"])
            sparsity = multiplication(parse(text).variant).sparsity
            assert sparsity is not None
            metadata = np.broadcast_to(given["metadata_bits"], (2, *given["metadata_bits"].shape))
            yield (text, "A"), _listed(sparsity.expand(ALGEBRA, given["a"], metadata, np.array(0)))

    return compared(expected, specified)


def _scaled_operands(text: str, factors: int) -> dict[str, Array]:
    given = _operands(text)
    m, n, _ = shape(text)
    return {
        **given,
        "scale_a": 2.0 ** whole_numbers((m, factors), 1, 1),
        "scale_b": 2.0 ** whole_numbers((factors, n), 1, 2),
    }


def _scaled() -> Certificate:
    expected = {}
    for text, factors, served in products.SCALED:
        given = _scaled_operands(text, factors)
        a = given["a"] * given["scale_a"].repeat(served, axis=-1)
        b = given["b"] * given["scale_b"].repeat(served, axis=-2)
        expected[text] = (given["c"] + a @ b).tolist()

    def specified() -> Mapping[str, object]:
        return {
            text: _executed(text, _scaled_operands(text, factors))["d"].astype(float).tolist()
            for text, factors, _ in products.SCALED
        }

    return compared(expected, specified)


# -- moves
executed_moves = table_theorem(
    "ptx/stated/executed-moves",
    "moves take the rows at the threads' addresses, and wmma matrices at their strides",
    "ldmatrix, stmatrix and movmatrix of 8 x 8 matrices on bytes of memory, for permuted addresses, by the "
    "tables of threads; wmma.load by row and column strides; an address that is no multiple of 16, or "
    "outside memory, of a lane that has a row (of any on sm_75), two rows for one address, addresses of "
    "other than 32 lanes, and pointers and strides of wmma that the list calls wrong are refused",
    "PTX ISA 9.1 sections 9.7.14.4.3, 9.7.14.4.4, 9.7.14.5.15 and 9.7.14.5.16",
    lambda: {
        "loads": _loads,
        "stores": _stores,
        "addresses": _addresses,
        "wmma": _wmma,
        "strides": _strides,
        "lanes": _lanes,
        "movmatrix": _transposed,
    },
)


_MEMORY = (np.arange(1024) * 73 % 251).astype(np.uint8)
_ADDRESSES = 16 * (np.arange(32) * 13 % 61)


def _registers(count: int, trans: bool, memory: Array) -> Array:
    """Return the registers of a load: element (r, c) of matrix q is 16 bits of the row at thread 8 q + r."""
    found = np.zeros((32, count), dtype=np.uint32)
    for q, r, c in np.ndindex(count, 8, 8):
        row, column = (c, r) if trans else (r, c)
        at = _ADDRESSES[8 * q + row] + 2 * column
        value = int(memory[at]) | int(memory[at + 1]) << 8
        found[moves.HOLDERS[r][c], q] |= np.uint32(value << 16 * (c % 2))
    return found


def _variants() -> Iterator[tuple[str, int, bool]]:
    for count, trans in product((1, 2, 4), (False, True)):
        yield f"sync.aligned.m8n8.x{count}{'.trans' * trans}.shared.b16", count, trans


def _loads() -> Certificate:
    expected = {name: _listed(_registers(count, trans, _MEMORY)) for name, count, trans in _variants()}
    arrays: dict[str, Array] = {"memory": _MEMORY, "addresses": _ADDRESSES}
    return answered(expected, lambda name: _listed(_executed(f"ldmatrix.{name}", arrays)["d"]))


def _stores() -> Certificate:
    expected: dict[object, object] = {}
    for name, count, _ in _variants():
        memory = np.zeros(1024, dtype=np.uint8)
        for thread in range(8 * count):
            at = _ADDRESSES[thread]
            memory[at : at + 16] = _MEMORY[at : at + 16]
        expected[name] = memory.tolist()
        kept = np.full(1024, 7, dtype=np.uint8)
        rows = np.concatenate([np.arange(at, at + 16) for at in _ADDRESSES[: 8 * count]])
        kept[rows] = memory[rows]
        expected[name, "in two memories"] = [memory.tolist(), kept.tolist()]
        expected[name, "twice"] = [kept.tolist(), np.where(np.isin(np.arange(1024), rows), 0, 7).tolist()]
    expected["two rows at one address"] = expected["two neighbours at one address"] = "refused"
    expected["threads without a row at one address"] = "taken"

    def specified() -> Iterator[tuple[object, object]]:
        for name, count, trans in _variants():
            registers = _registers(count, trans, _MEMORY)
            arrays: dict[str, Array] = {"addresses": _ADDRESSES, "r": registers}
            arrays["memory"] = np.zeros(1024, dtype=np.uint8)
            yield name, _executed(f"stmatrix.{name}", arrays)["memory"].tolist()
            full = np.full(1024, 7, dtype=np.uint8)
            two = {**arrays, "memory": np.stack([arrays["memory"], full])}
            stored = _executed(f"stmatrix.{name}", two)["memory"]
            yield (name, "in two memories"), stored.tolist()
            twice = {**arrays, "memory": full, "r": np.stack([registers, 0 * registers])}
            yield (name, "twice"), _executed(f"stmatrix.{name}", twice)["memory"].tolist()
        equal = {**arrays, "addresses": np.where(np.arange(32) == 31, _ADDRESSES[0], _ADDRESSES)}
        yield "two rows at one address", _refused(f"stmatrix.{name}", equal)
        neighbours = {**arrays, "addresses": np.where(np.arange(32) == 1, _ADDRESSES[0], _ADDRESSES)}
        yield "two neighbours at one address", _refused(f"stmatrix.{name}", neighbours)
        one, *_ = (each for each, count, _ in _variants() if count == 1)
        others = {"addresses": np.where(np.arange(32) < 8, _ADDRESSES, _ADDRESSES[8]),
                  "r": _registers(1, False, _MEMORY), "memory": arrays["memory"]}  # fmt: skip
        yield "threads without a row at one address", _refused(f"stmatrix.{one}", others)

    return compared(expected, specified)


@refusal_is(REFUSED)
def _refused(text: str, arrays: Mapping[str, Array]) -> object:
    _executed(text, arrays)
    return "taken"


def _addresses() -> Certificate:
    expected: dict[object, bool] = {}
    for lane, address, *wrong in products.WRONG_ADDRESSES:
        for count, is_wrong in zip((1, 2, 4), wrong, strict=True):
            expected[lane, address, count] = is_wrong
            expected[lane, address, count, "sm_75"] = address % 16 != 0 or not 0 <= address <= 1008

    def refuses(lane: int, address: int, count: int, target: str = "") -> object:
        return _no_addresses(np.where(np.arange(32) == lane, address, _ADDRESSES), count, target)

    return answered(expected, refuses)


@refusal_is(True)
def _no_addresses(addresses: Array, count: int, target: str = "") -> object:
    move = matrix_move(parse(f"ldmatrix.sync.aligned.m8n8.x{count}.shared.b16").variant)
    ldmatrix(move, _MEMORY, addresses, 75 if target else 80)
    return False


def _lanes() -> Certificate:
    """Return the claim that each of 32 lanes must give an address, also in batches."""
    shapes = ((), (1,), (8,), (16,), (31,), (32,), (33,), (64,), (2, 32), (32, 2))
    return answered(
        {(shape, count): shape[-1:] != (32,) for shape in shapes for count in (1, 2, 4)},
        lambda *at: _no_addresses(np.resize(_ADDRESSES, at[0]), at[1]),
    )


def _transposed() -> Certificate:
    number = np.arange(64).reshape(8, 8)
    registers = {name: np.zeros((32, 1), dtype=np.uint32) for name in ("a", "d")}
    for name, matrix in (("a", number), ("d", number.T)):
        for r, c in np.ndindex(8, 8):
            registers[name][moves.HOLDERS[r][c], 0] |= np.uint32(int(matrix[r, c]) << 16 * (c % 2))
    text = "movmatrix.sync.aligned.m8n8.trans.b16"
    return compared(
        {text: _listed(registers["d"])}, lambda: {text: _listed(_executed(text, {"a": registers["a"]})["d"])}
    )


def _wmma() -> Certificate:
    expected: dict[str, object] = {}
    arrays: dict[str, dict[str, Array]] = {}
    for role, layout, shape, kind, extents, dtype in products.WMMA_MEMORY:
        text = f"wmma.load.{role}.sync.aligned.{layout}.{shape}.shared.{kind}"
        rows, columns = extents if layout == "row" else extents[::-1]
        size = np.dtype(dtype).itemsize
        for extra in (0, 16):
            stride = columns + extra
            numbers = np.arange(rows * stride) % 100
            memory = np.concatenate([np.zeros(64, np.uint8), numbers.astype(dtype).view(np.uint8)])
            lines = numbers.reshape(rows, stride)[:, :columns]
            name = f"{text} stride {stride if extra else 'by default'}"
            expected[name] = _listed(lines if layout == "row" else lines.T)
            arrays[name] = {"memory": memory, "address": np.array(64)}
            if extra:
                arrays[name]["stride"] = np.array(stride)
            assert size * stride % 16 == 0
    return answered(expected, lambda name: _listed(_executed(name.split(" ")[0], arrays[name])["d"]))


def _strides() -> Certificate:
    """Return the claim about pointers and strides of loads and stores."""

    def said(text: str, pointer: int, stride: int, size: int) -> object:
        arrays: dict[str, Array] = {"memory": np.zeros(size, dtype=np.uint8), "address": np.array(pointer)}
        arrays["stride"] = np.array(stride)
        if text.startswith("wmma.store"):
            arrays["d"] = np.zeros((16, 16), dtype=np.float32)
        return _refused(text, arrays)

    return answered({row[:-1]: row[-1] for row in products.WMMA_STRIDES}, said)


THEOREMS = (whole_products, executed_moves)
