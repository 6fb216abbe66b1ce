"""Tensor memory: what warps and threads issue is made as early or as late as waits allow.

Of a pair of CTAs, lanes from 128 on are those of the odd one.

The cells of a block are numbers; columns that nobody has allocated, and cells that nobody has written, hold
anything. A product or a copy is made when it is issued, or when a thread asks a barrier in vain; a store when
it is issued, or when the warp waits for it. What they compute is the specification's run on numbers, and
where operands lie in cells is the specification's layouts. Source: PTX ISA 9.1 section 9.7.16.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from interpreter import ptx_shared_operands
from interpreter.ptx_accesses import barrier_object, elements_of, placed, where
from interpreter.ptx_integers import Unknown
from interpreter.ptx_memory import Fault
from interpreter.ptx_threads import RANK, WARP, YIELD, Block, Code, Decoder, Run, Thread
from interpreter.ptx_warps import ALGEBRA, CHOICES, together, whole
from numpy.typing import NDArray

from mmaproof.refinement.ptx.text.module import InstructionStatement
from mmaproof.spec.ptx.asynchronous.catalogue import form_of
from mmaproof.spec.ptx.operands import Address, Integer
from mmaproof.spec.ptx.product import Matrices
from mmaproof.spec.ptx.tensor_memory import moves
from mmaproof.spec.ptx.tensor_memory.copies import copied_rows, shape_named
from mmaproof.spec.ptx.tensor_memory.instruction_descriptor import InstructionDescriptor
from mmaproof.spec.ptx.tensor_memory.multiplication import TensorMultiplication, multiplication
from mmaproof.spec.ptx.tensor_memory.product import Modifiers, tensor_product
from mmaproof.spec.ptx.tensor_memory.product_arrays import held
from mmaproof.spec.ptx.tensor_memory.product_form import product_form
from mmaproof.spec.ptx.tensor_memory.register_shapes import SHAPES, RegisterTile
from mmaproof.spec.ptx.tensor_memory.shared_descriptor import decoded, shared_matrix
from mmaproof.spec.ptx.tensor_memory.shared_operands import operand_matrix

LANES, COLUMNS = 128, 512

_Words = NDArray[Any]


@dataclass
class Cells:
    """The tensor memory of a block.

    Attributes
    ----------
    words : array (128, 512)
        What the cells hold.
    owned : bool array (512,)
        Which columns are allocated.
    live : dict of int to int
        Columns of each allocation, by its first.
    issued : dict of Thread to list
        What threads have issued that may not have been made.
    stored : dict of int to list
        Stores of each warp that may not have been made.
    promised : list of int
        First columns that the other block of the pair has allocated for both.
    """

    words: _Words
    owned: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(COLUMNS, dtype=bool))
    live: dict[int, int] = field(default_factory=dict)
    issued: dict[Thread, list[Callable[[], None]]] = field(default_factory=dict)
    stored: dict[int, list[Callable[[], None]]] = field(default_factory=dict)
    promised: list[int] = field(default_factory=list)

    def settle(self) -> None:
        """Make all that threads have issued, of each in its order."""
        for queue in self.issued.values():
            while queue:
                queue.pop(0)()

    def places(self, lanes: _Words, columns: _Words) -> tuple[_Words, _Words]:
        """Return cells that may be used.

        Raises
        ------
        Fault
            If they are not allocated, or not there.
        """
        if lanes.max() >= LANES or columns.max() >= COLUMNS or not self.owned[columns].all():
            raise Fault("out of bounds", "cells of tensor memory that are not allocated")
        return lanes, columns


def _cells(code: Code, thread: Thread) -> Cells:
    return _cells_of(code, thread.block)


def _cells_of(code: Code, block: Block) -> Cells:
    if block.cells is None:
        noise = np.frombuffer(code.noise.randbytes(4 * LANES * COLUMNS), dtype=np.uint32)
        block.cells = Cells(noise.reshape(LANES, COLUMNS).copy())
    found = block.cells
    assert isinstance(found, Cells)
    return found


def _pair(thread: Thread, i: InstructionStatement) -> list[Block]:
    """Return the blocks whose tensor memory an instruction uses: its own, or those of its pair."""
    if not i.has("cta_group::2"):
        return [thread.block]
    first = thread.block.rank & ~1
    found = thread.block.cluster.blocks[first : first + 2]
    if len(found) < 2:
        raise Fault("undefined", f"{i.mnemonic} in a cluster without pairs")
    return found


@dataclass
class _Pair:
    """The cells of the blocks that a product is of."""

    blocks: list[Cells]

    def _of(
        self, lanes: _Words, columns: _Words
    ) -> list[tuple[Cells, NDArray[np.bool_], tuple[_Words, _Words]]]:
        lanes, columns = np.broadcast_arrays(lanes, columns)
        which = lanes // LANES
        if which.max() >= len(self.blocks):
            raise Fault("out of bounds", "lanes beyond those of the blocks of a product")
        found = []
        for number, cells in enumerate(self.blocks):
            own = which == number
            if own.any():
                found.append((cells, own, cells.places(lanes[own] % LANES, columns[own])))
        return found

    def read(self, lanes: _Words, columns: _Words) -> _Words:
        """Return words."""
        found = np.zeros(np.broadcast_shapes(lanes.shape, columns.shape), dtype=np.uint32)
        for cells, own, places in self._of(lanes, columns):
            found[own] = cells.words[places]
        return found

    def write(self, lanes: _Words, columns: _Words, words: _Words) -> None:
        """Write words."""
        for cells, own, places in self._of(lanes, columns):
            cells.words[places] = words[own]


def _named(i: InstructionStatement) -> tuple[Any, dict[str, Any]]:
    form = form_of(i.mnemonic)
    if form is None:
        raise Unknown(i.mnemonic)
    names = [place.name for place in form.places_of(i.operands)]
    return form, dict(zip(names, i.operands, strict=False))


def _address(code: Code, operand: Any) -> Callable[[Thread], int]:
    assert isinstance(operand, Address)
    read, offset = code.reader(operand.base, 32), operand.offset
    return lambda thread: read(thread) + offset & 0xFFFFFFFF


# -- columns
def _alloc(code: Code, i: InstructionStatement) -> Run:
    _, given = _named(i)
    place, count = where(code, given["dst"]), code.reader(given["nCols"], 32)

    def finish(threads: list[Thread]) -> None:
        whole(threads, i)
        cells, columns = _cells(code, threads[0]), count(threads[0])
        pair = [_cells_of(code, block) for block in _pair(threads[0], i)]
        if cells.promised:
            first = cells.promised.pop(0)  # the other block of the pair came before
        else:
            owned = np.any([each.owned for each in pair], axis=0)
            starts = [at for at in range(0, COLUMNS, 32) if not owned[at : at + columns].any()]
            first = code.noise.choice([at for at in starts if at + columns <= COLUMNS])
            for each in pair:
                each.owned[first : first + columns] = True
                if each is not cells:
                    each.promised.append(first)
        cells.live[first] = columns
        threads[0].spaces["shared"].store(place(threads[0]), first.to_bytes(4, "little"))

    return together(finish, i, None)


def _dealloc(code: Code, i: InstructionStatement) -> Run:
    _, given = _named(i)
    place, count = code.reader(given["taddr"], 32), code.reader(given["nCols"], 32)

    def finish(threads: list[Thread]) -> None:
        whole(threads, i)
        cells, first = _cells(code, threads[0]), place(threads[0])
        if cells.live.pop(first, 0) != count(threads[0]):
            raise Fault("undefined", i.mnemonic)
        cells.owned[first : first + count(threads[0])] = False

    return together(finish, i, None)


# -- registers
def _tile(words: tuple[str, ...]) -> RegisterTile:
    shape = next(SHAPES[word] for word in words if word in SHAPES)
    count = next(int(word[1:]) for word in words if word[0] == "x" and word[1:].isdigit())
    return RegisterTile(shape, count, not {"pack::16b", "unpack::16b"}.isdisjoint(words))


def _moved(code: Code, i: InstructionStatement) -> tuple[RegisterTile, Any, Callable[[Thread], _Words]]:
    """Return the shape of a load or store, its registers, and what gives the cells of a warp."""
    form, given = _named(i)
    tile, at = _tile(form.modifiers), _address(code, given["taddr"])
    second = given.get("immHalfSplitoff", Integer(0)).value

    def places(thread: Thread) -> _Words:
        lanes, columns = np.indices(tile.fragment.shape[-2:])
        found = []
        for part in range(tile.shape.parts):
            lane, column = divmod(at(thread) + second * part, 1 << 16)
            if lane // WARP != thread.number // WARP % 4:
                raise Fault("out of bounds", f"{i.mnemonic} of lanes of another warp")
            found.append(np.stack([lane + lanes, column + columns]))
        return np.stack(found)

    return tile, given["r"], places


def _load(code: Code, i: InstructionStatement) -> Run:
    tile, registers, places = _moved(code, i)
    writers = [code.writer(each, 32) for each in elements_of(registers)]

    def finish(threads: list[Thread]) -> None:
        whole(threads, i)
        cells = _cells(code, threads[0])
        parts = np.stack([cells.words[cells.places(*part)] for part in places(threads[0])])
        found = np.asarray(moves.load(ALGEBRA, tile, parts if tile.shape.parts > 1 else parts[0]))
        for thread, row in zip(threads, found.reshape(WARP, -1).tolist(), strict=True):
            for write, value in zip(writers, row, strict=True):
                write(thread, int(value))

    return together(finish, i, None)


def _store(code: Code, i: InstructionStatement) -> Run:
    tile, registers, places = _moved(code, i)
    readers = [code.reader(each, 32) for each in elements_of(registers)]

    def finish(threads: list[Thread]) -> None:
        whole(threads, i)
        cells, there = _cells(code, threads[0]), places(threads[0])
        words = np.array([[read(thread) for read in readers] for thread in threads], dtype=np.uint32)
        found = np.asarray(moves.store(ALGEBRA, tile, words)).astype(np.uint32)
        parts = found if tile.shape.parts > 1 else found[None]

        def make() -> None:
            for part, own in zip(there, parts, strict=True):
                high = code.noise.getrandbits(16) << 16 if tile.packed else 0
                cells.words[cells.places(*part)] = own | np.uint32(high)

        if code.eager:
            make()
        else:
            cells.stored.setdefault(threads[0].number // WARP, []).append(make)

    return together(finish, i, None)


def _wait(code: Code, i: InstructionStatement) -> Run:
    def finish(threads: list[Thread]) -> None:
        whole(threads, i)
        queue = _cells(code, threads[0]).stored.get(threads[0].number // WARP, [])
        while i.mnemonic.startswith("tcgen05.wait::st") and queue:
            queue.pop(0)()

    return together(finish, i, None)


# -- what threads issue
def _issue(code: Code, thread: Thread, make: Callable[[], None]) -> None:
    queue = _cells(code, thread).issued.setdefault(thread, [])
    queue.append(make)
    if code.eager:
        while queue:
            queue.pop(0)()


def _commit(code: Code, i: InstructionStatement) -> Run:
    _, given = _named(i)
    place = where(code, given["mbar"])
    mask = code.reader(given["ctaMask"], 16) if "ctaMask" in given else None

    def run(thread: Thread) -> int:
        space = "cluster" if i.has("shared::cluster") else "generic"
        address = placed(space, place(thread))[1]
        ranks = [address >> RANK]
        if mask is not None:
            ranks = [rank for rank in range(16) if mask(thread) >> rank & 1]
        low = address & (1 << RANK) - 1
        barriers = [barrier_object(thread, "cluster", rank << RANK | low, i) for rank in ranks]

        def arrive() -> None:
            for barrier in barriers:
                barrier.arrive(1)

        _issue(code, thread, arrive)
        return YIELD

    return run


def _copy(code: Code, i: InstructionStatement) -> Run:
    form, given = _named(i)
    shape = shape_named(form.modifiers)
    if "b8x16" in form.modifiers or shape.lanes < LANES:
        raise Unknown(i.mnemonic)
    at, described = _address(code, given["taddr"]), code.reader(given["s-desc"], 64)

    def run(thread: Thread) -> None:
        matrix = shared_matrix(decoded(described(thread)), shape.rows, shape.row_bytes, 8)
        lane, column = divmod(at(thread), 1 << 16)
        blocks = _pair(thread, i)

        def make() -> None:
            byte, _ = matrix.address(*np.indices((matrix.lines, matrix.length)))
            for block in blocks:
                cells, own = _cells_of(code, block), block.threads[0]
                rows = ptx_shared_operands.elements(code, own, 8 * byte, 8, i.line).astype(np.uint8)
                found = np.asarray(copied_rows(ALGEBRA, shape, rows))
                lanes, columns = np.indices(found.shape)
                cells.words[cells.places(lane + lanes, column + columns)] = found

        _issue(code, thread, make)

    return run


class _Multiplication:
    """A ``tcgen05.mma``, decoded once."""

    def __init__(self, code: Code, i: InstructionStatement) -> None:
        self._code, self._i = code, i
        form, given = _named(i)
        in_cells = isinstance(given["a"], Address)
        self._product = product_form(form.row.head, form.modifiers, a_in_tensor_memory=in_cells)
        if (
            self._product.sparse
            or {"scale-input-d", "zero-column-mask", "disable-output-lane"} & given.keys()
        ):
            raise Unknown(f"{i.mnemonic} with such operands")
        names = {"c": "d", "scale_a": "sfa", "scale_b": "sfb"} | ({"a": "a"} if in_cells else {})
        self._at = {
            role: _address(code, given[name])
            for role, name in names.items()
            if isinstance(given.get(name), Address)
        }
        descriptors = {"b": "b-desc"} | ({} if in_cells else {"a": "a"})
        self._described = {role: code.reader(given[name], 64) for role, name in descriptors.items()}
        self._idesc, self._counts = code.reader(given["idesc"], 32), code.reader(given["enable-input-d"], 1)

    def issue(self, thread: Thread) -> None:
        """Begin the product of a thread."""
        word, counts = self._idesc(thread), bool(self._counts(thread))
        at = {role: read(thread) for role, read in self._at.items()}
        said = {role: read(thread) for role, read in self._described.items()}
        form = multiplication(self._product, InstructionDescriptor.decoded(self._product.kind.name, word))
        blocks = _pair(thread, self._i)
        _issue(self._code, thread, lambda: self._compute(blocks, form, at, said, counts=counts))

    def _compute(
        self,
        blocks: list[Block],
        form: TensorMultiplication,
        at: dict[str, int],
        said: dict[str, int],
        *,
        counts: bool,
    ) -> None:
        cells = _Pair([_cells_of(self._code, block) for block in blocks])
        found = {role: self._in_shared(blocks, form, role, word) for role, word in said.items()}
        for role, address in at.items():
            place, low, fmt = self._lie(form, role, address)
            words = cells.read(*place)
            elements = words >> low.astype(np.uint32) & np.uint32((1 << fmt.bits) - 1)
            found[role] = elements.T if role == "scale_b" else elements
        typed = {}
        for role, each in found.items():
            kind = form.c if role == "c" else form.format(role) if role in "ab" else form.layouts.scale
            typed[role] = each.astype(kind.storage)
        if not counts:
            typed["c"] = np.zeros_like(typed["c"])
        d = np.asarray(tensor_product(ALGEBRA, form, Matrices(**typed), CHOICES, Modifiers()))
        place, _, _ = self._lie(form, "c", at["c"])
        high = self._code.noise.getrandbits(16) << 16 if form.d.bits == 16 else 0
        cells.write(*place, d.astype(np.uint32) | np.uint32(high))

    def _lie(self, form: TensorMultiplication, role: str, address: int) -> tuple[Any, _Words, Any]:
        """Return the cell of each element, of copies of the first, its lowest bit there, and its format."""
        fragment, leading = held(form, role)
        own = [axis.extent for axis in fragment.layout.target[len(leading) :]]
        if role == "scale_b":
            own[0] = form.shape.n
        at = np.indices(own)
        ahead = [np.full(own, 0 if isinstance(each, slice) else each) for each in leading]
        lane, number = fragment.layout.inverse(*ahead, *at)
        where_ = fragment.packing.places(np.asarray(number))
        first, column = divmod(address, 1 << 16)
        place = np.asarray(lane) + first, where_["register"] + column
        return place, where_["bit"], fragment.packing.format

    def _in_shared(self, blocks: list[Block], form: TensorMultiplication, role: str, word: int) -> _Words:
        matrix, fmt = operand_matrix(form, role, decoded(word)), form.format(role)
        if fmt.bits != form.container:
            raise Unknown(f"{fmt} with padding")
        byte, bit = matrix.address(*np.indices((matrix.lines, matrix.length)))
        parts = [
            ptx_shared_operands.elements(self._code, block.threads[0], 8 * byte + bit, fmt.bits, self._i.line)
            for block in blocks
        ]
        lines = np.concatenate(parts)
        return lines.T if role == "b" else lines


def _mma(code: Code, i: InstructionStatement) -> Run:
    product = _Multiplication(code, i)

    def run(thread: Thread) -> None:
        product.issue(thread)

    return run


def _nothing(code: Code, i: InstructionStatement) -> Run:
    return lambda thread: None


_DECODERS: dict[str, Callable[[Code, InstructionStatement], Run]] = {
    "alloc": _alloc,
    "dealloc": _dealloc,
    "relinquish_alloc_permit": _nothing,
    "ld": _load,
    "st": _store,
    "wait": _wait,
    "mma": _mma,
    "cp": _copy,
    "commit": _commit,
    "fence": _nothing,
}


def _tcgen05(code: Code, i: InstructionStatement) -> Run:
    name = i.modifiers[0].partition("::")[0]
    if name not in _DECODERS or "red" in i.modifiers:
        raise Unknown(i.mnemonic)
    return _DECODERS[name](code, i)


TENSOR_MEMORY: dict[str, Decoder] = {"tcgen05": _tcgen05}
"""How each instruction is decoded."""
