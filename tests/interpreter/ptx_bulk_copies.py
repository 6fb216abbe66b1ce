"""Bulk copies, boxes of tensor maps, and stores whose bytes complete on a barrier object.

A copy that completes on a barrier object is made when it is issued, or when a thread asks such a barrier in
vain, as the seed says. One of a group is read, and written, when it is issued, or when it is waited for. What
threads have stored, and no ``fence.proxy.async`` has followed, these copies find as anything.
Source: PTX ISA 9.1 section 9.7.9.25.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from interpreter.ptx_accesses import ACCESSES, barrier_object, element_readers, placed, updated, where
from interpreter.ptx_integers import Unknown, bits_of, signed
from interpreter.ptx_memory import Fault
from interpreter.ptx_tensor_maps import Map, map_of
from interpreter.ptx_threads import RANK, Code, Decoder, Run, Thread

from mmaproof.refinement.ptx.text.module import TYPE_BITS, InstructionStatement
from mmaproof.refinement.ptx.text.operands import TensorAddress
from mmaproof.spec.ptx.operands import Integer

BOX_ALIGNMENT = 128

# -- memory as copies see it


def _read_shared(code: Code, thread: Thread, address: int, size: int, line: int) -> bytes:
    region = thread.spaces["cluster"].find(address, size)
    part = slice(address - region.base, address - region.base + size)
    if 0 in region.written[part]:
        code.undefined.add(f"uninitialised:{line}")
    data = bytearray(region.data[part])
    if region.stale is not None and any(region.stale[part]):
        code.undefined.add(f"proxy:{line}")
        for place, stale in enumerate(region.stale[part]):
            data[place] = code.noise.getrandbits(8) if stale else data[place]
    return bytes(data)


def _write_shared(thread: Thread, address: int, data: bytes) -> None:
    space = thread.spaces["cluster"]
    space.store(address, data)
    region = space.find(address, len(data))
    if region.stale is not None:
        region.stale[address - region.base : address - region.base + len(data)] = bytes(len(data))


def _read_global(code: Code, thread: Thread, address: int, size: int, line: int) -> bytes:
    data, written = thread.spaces["global"].load(address, size)
    if not written:
        code.undefined.add(f"uninitialised:{line}")
    return data


# -- copies to shared memory, which complete on a barrier object


def _complete(thread: Thread, address: int, count: int, i: InstructionStatement) -> None:
    barrier_object(thread, "cluster", address, i).complete(count)


def _issue(code: Code, thread: Thread, make: Callable[[], None]) -> None:
    if code.eager:
        make()
    else:
        thread.block.cluster.under_way.append(make)


def _targets(
    thread: Thread, target: int, barrier: int, mask: int | None, *, pairs: bool
) -> Iterator[tuple[int, int]]:
    """Yield the addresses of the data, and of the barrier object, in each block that gets a copy."""
    if mask is None:
        yield target, barrier
        return
    low = (1 << RANK) - 1
    for rank in range(len(thread.block.cluster.blocks)):
        if mask >> rank & 1:
            told = rank & ~1 | barrier >> RANK & 1 if pairs else rank
            yield rank << RANK | target & low, told << RANK | barrier & low
    if mask >> len(thread.block.cluster.blocks):
        raise Fault("out of bounds", "a mask of blocks that the cluster does not have")


def _to_shared(code: Code, i: InstructionStatement) -> Run:
    """Decode copies to shared memory of bytes, or of a box."""
    target, source, *rest = i.operands
    tensor = i.has("tensor")
    count = None if tensor else code.reader(rest.pop(0), 32)
    barrier, *rest = rest
    to, told = where(code, target), where(code, barrier)
    mask = code.reader(rest.pop(0), 16) if i.has("multicast::cluster") else None
    pairs = i.has("cta_group::2")
    if len(rest) != int(i.has("L2::cache_hint")):
        raise Unknown(i.mnemonic)
    box = _box(code, source) if tensor else None
    of = None if tensor else where(code, source)
    from_shared = not tensor and i.modifiers[3].startswith("shared")

    def run(thread: Thread) -> None:
        where_to, where_told = _own(to(thread)), _own(told(thread))
        masked = None if mask is None else mask(thread)
        begin = box(thread) if box is not None else None
        size = begin[0].bytes if begin is not None else count(thread)  # type: ignore[misc]
        place = 0 if of is None else of(thread)
        if where_to % (BOX_ALIGNMENT if tensor else 16) or size % 16 or (of is not None and place % 16):
            raise Fault("misaligned", i.mnemonic)

        def make() -> None:
            for at, told_at in _targets(thread, where_to, where_told, masked, pairs=pairs):
                if begin is not None:
                    _write_box(code, thread, *begin, at, i.line)
                elif from_shared:
                    _write_shared(thread, at, _read_shared(code, thread, _own(place), size, i.line))
                else:
                    _write_shared(thread, at, _read_global(code, thread, place, size, i.line))
                _complete(thread, told_at, size, i)

        _issue(code, thread, make)

    return run


def _own(address: int) -> int:
    """Return an address of shared memory, from a generic one too."""
    return placed("generic", address)[1]


def _box(code: Code, operand: Any) -> Callable[[Thread], tuple[Map, list[int]]]:
    """Return what reads a tensor map and the corner of a box."""
    if not isinstance(operand, TensorAddress) or len(operand.others) != 1:
        raise Unknown(str(operand))
    (corner,) = operand.others
    at, readers = where(code, operand.base), element_readers(code, corner, 32)

    def read(thread: Thread) -> tuple[Map, list[int]]:
        address = at(thread)
        if address not in code.maps:
            raise Fault("undefined", f"no tensor map at {address:#x}")
        found = map_of(code.maps[address]), [signed(reader(thread), 32) for reader in readers]
        if len(found[1]) != len(found[0].extents):
            raise Fault("undefined", "coordinates of another rank")
        return found

    return read


def _write_box(code: Code, thread: Thread, map_: Map, corner: list[int], target: int, line: int) -> None:
    addresses, inside, places = map_.elements(corner)
    lies = map_.swizzled(target + places)
    for address, there, at in zip(addresses.tolist(), inside.tolist(), lies.tolist(), strict=True):
        data = _read_global(code, thread, address, map_.size, line) if there else bytes(map_.size)
        _write_shared(thread, at, data)


# -- copies from shared memory, in groups


def _grouped(code: Code, thread: Thread, read: Callable[[], Any], write: Callable[[Any], None]) -> None:
    entry = [read, write]
    if code.eager:
        write(read())
    else:
        thread.bulk[-1].append(entry)


def _wait(thread: Thread, allowed: int, *, reads: bool) -> None:
    """Read, or read and write, all groups of a thread but the last ones."""
    for group in thread.bulk[: max(len(thread.bulk) - 1 - allowed, 0)]:
        for entry in group:
            if entry[0] is not None:
                data = entry[0]()
                write = entry[1]
                entry[:] = [None, lambda write=write, data=data: write(data)]
            if not reads:
                entry[1]()
        if not reads:
            group.clear()


def end_bulk_copies(thread: Thread) -> None:
    """Make all copies of a thread that ends."""
    thread.bulk.append([])
    _wait(thread, 0, reads=False)


def _from_shared(code: Code, i: InstructionStatement) -> Run:
    """Decode copies from shared memory to global memory, and reductions there, of bytes or of a box."""
    target, source, *rest = i.operands
    tensor = i.has("tensor")
    count = None if tensor else code.reader(rest.pop(0), 32)
    if len(rest) != int(i.has("L2::cache_hint")) or i.has("cp_mask"):
        raise Unknown(i.mnemonic)
    of = where(code, source)
    box, to = (_box(code, target), None) if tensor else (None, where(code, target))
    name = i.one_of(("add", "min", "max", "inc", "dec", "and", "or", "xor")) if i.has("reduce") else None

    def run(thread: Thread) -> None:
        place = _own(of(thread))
        begin = box(thread) if box is not None else None
        kind = i.types[-1] if begin is None and name else "b8" if begin is None else begin[0].kind
        size = begin[0].bytes if begin is not None else count(thread)  # type: ignore[misc]
        at = 0 if to is None else to(thread)
        if place % (BOX_ALIGNMENT if tensor else 16) or size % 16 or at % 16:
            raise Fault("misaligned", i.mnemonic)

        def read() -> list[tuple[int, bytes]]:
            if begin is None:
                width = max(bits_of(kind) // 8, 1)
                data = _read_shared(code, thread, place, size, i.line)
                return [(at + low, data[low : low + width]) for low in range(0, size, width)]
            addresses, inside, places = begin[0].elements(begin[1])
            lies = begin[0].swizzled(place + places)
            return [
                (address, _read_shared(code, thread, byte, begin[0].size, i.line))
                for address, there, byte in zip(
                    addresses.tolist(), inside.tolist(), lies.tolist(), strict=True
                )
                if there
            ]

        def write(pieces: list[tuple[int, bytes]]) -> None:
            for address, data in pieces:
                left = data if name is None else _updated(code, thread, name, kind, address, data, i.line)
                thread.spaces["global"].store(address, left)

        _grouped(code, thread, read, write)

    return run


def _updated(code: Code, thread: Thread, name: str, kind: str, address: int, data: bytes, line: int) -> bytes:
    old = int.from_bytes(_read_global(code, thread, address, len(data), line), "little")
    found = updated(name, kind, old, int.from_bytes(data, "little"))
    return found.to_bytes(len(data), "little")


def _cp(code: Code, i: InstructionStatement) -> Run:
    if not i.has("bulk"):
        return ACCESSES["cp"](code, i)
    if i.has("prefetch"):
        return lambda thread: None
    if i.has("commit_group"):
        return lambda thread: thread.bulk.append([])
    if i.has("wait_group"):
        (count,) = i.operands
        if not isinstance(count, Integer):
            raise Unknown(i.mnemonic)
        allowed, reads = count.value, i.has("read")
        return lambda thread: _wait(thread, allowed, reads=reads)
    if i.one_of(("im2col", "tile::gather4", "tile::scatter4", "im2col::w", "im2col::w::128")):
        raise Unknown(i.mnemonic)
    return _to_shared(code, i) if i.has("mbarrier::complete_tx::bytes") else _from_shared(code, i)


# -- stores and reductions in another block


def _asynchronous(code: Code, i: InstructionStatement) -> Run:
    """Decode ``st.async`` and ``red.async``."""
    place, value, barrier = i.operands
    kind = i.types[-1]
    size = TYPE_BITS[kind] // 8
    at, told, readers = where(code, place), where(code, barrier), element_readers(code, value, 8 * size)
    name = i.one_of(("inc", "dec", "min", "max", "add", "and", "or", "xor")) if i.opcode == "red" else None
    if not i.has("mbarrier::complete_tx::bytes"):
        raise Unknown(i.mnemonic)

    def run(thread: Thread) -> None:
        words = [reader(thread) for reader in readers]
        address, barrier_at = _own(at(thread)), _own(told(thread))
        if address % (size * len(words)):
            raise Fault("misaligned", i.mnemonic)

        def make() -> None:
            for index, word in enumerate(words):
                new = word
                if name is not None:
                    old, _ = thread.spaces["cluster"].load(address, size)
                    new = updated(name, kind, int.from_bytes(old, "little"), word)
                _write_shared(thread, address + size * index, new.to_bytes(size, "little"))
            _complete(thread, barrier_at, size * len(words), i)

        _issue(code, thread, make)

    return run


def _plain_or_asynchronous(code: Code, i: InstructionStatement) -> Run:
    return _asynchronous(code, i) if i.has("async") else ACCESSES[i.opcode](code, i)


BULK_COPIES: dict[str, Decoder] = {"cp": _cp, "st": _plain_or_asynchronous, "red": _plain_or_asynchronous}
"""How each instruction is decoded, by what `ACCESSES` has where it is none of these."""
