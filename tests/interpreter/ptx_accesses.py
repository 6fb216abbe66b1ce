"""Instructions that access memory: loads, stores, atomics, asynchronous copies, barrier objects.

Source: PTX ISA 9.1 sections 9.7.9.8 to 9.7.9.25, 9.7.13.5, 9.7.13.7 and 9.7.13.15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from interpreter import ptx_floats as floats
from interpreter.ptx_floats import FORMATS
from interpreter.ptx_integers import Unknown, bits_of, mask, read
from interpreter.ptx_memory import WINDOW, WINDOWS, Fault
from interpreter.ptx_threads import RANK, YIELD, BarrierObject, Cluster, Code, Decoder, Reader, Run, Thread

from mmaproof.refinement.ptx.text.module import TYPE_BITS, InstructionStatement
from mmaproof.spec.ptx.operands import Address, Integer, Sink, Vector

_SPACES = {
    **{name: name for name in ("shared", "local", "param", "global")},
    **{"const": "global", "shared::cta": "shared", "shared::cluster": "cluster", "param::entry": "param"},
}


def space_named(i: InstructionStatement) -> str:
    """Return the state space that an instruction names; ``generic`` if none."""
    named = i.one_of(_SPACES)
    return "generic" if named is None else _SPACES[named]


def placed(space: str, address: int) -> tuple[str, int]:
    """Return where a generic address is."""
    if space != "generic":
        return space, address
    for name, window in WINDOWS.items():
        if window <= address < window + WINDOW:
            return "cluster" if name == "shared" else name, address - window
    return "global", address


def load(code: Code, thread: Thread, space: str, address: int, size: int, line: int) -> bytes:
    """Load bytes; those that nobody has written hold anything, and are noted."""
    space, address = placed(space, address)
    data, written = thread.spaces[space].load(address, size)
    if not written:
        code.undefined.add(f"uninitialised:{line}")
    return data


def store(thread: Thread, space: str, address: int, data: bytes) -> None:
    """Store bytes."""
    space, address = placed(space, address)
    thread.spaces[space].store(address, data)


def where(code: Code, place: Any) -> Reader:
    """Return what reads the address that an operand names."""
    if not isinstance(place, Address):
        raise Unknown(f"address {place}")
    base, offset = place.base, place.offset
    if isinstance(base, Integer):
        return lambda thread: base.value + offset
    width = TYPE_BITS.get(base.type or "", 64)
    read_base = code.reader(base, width)
    return lambda thread: (read_base(thread) + offset) & mask(width)


def elements_of(operand: Any) -> tuple[Any, ...]:
    """Return the elements of a vector, or a register alone."""
    return operand.elements if isinstance(operand, Vector) else (operand,)


def element_readers(code: Code, operand: Any, width: int) -> list[Reader]:
    """Return what reads the elements of a vector, or a register."""
    return [code.reader(each, width) for each in elements_of(operand)]


def _shape(i: InstructionStatement) -> tuple[int, int, str]:
    kind = i.types[-1]
    bits, count = TYPE_BITS[kind], int((i.one_of(("v2", "v4", "v8")) or "v1")[1:])
    if bits > 64:
        raise Unknown(i.mnemonic)
    return bits // 8, count, kind


def _check(address: int, unit: int, i: InstructionStatement) -> None:
    if address % unit:
        raise Fault("misaligned", f"{i.mnemonic} at {address:#x}")


_POLLS = ("volatile", "relaxed", "acquire")


def _ld(code: Code, i: InstructionStatement) -> Run:
    size, count, kind = _shape(i)
    destination, place = i.operands[:2]
    space, at = space_named(i), where(code, place)
    elements = destination.elements if isinstance(destination, Vector) else (destination,)
    writers = [code.writer(element, 8 * size, extend=kind[0] == "s") for element in elements]
    after = YIELD if i.one_of(_POLLS) else None

    def run(thread: Thread) -> int | None:
        address = at(thread)
        _check(address, size * count, i)
        data = load(code, thread, space, address, size * count, i.line)
        for index, write in enumerate(writers):
            write(thread, int.from_bytes(data[size * index : size * (index + 1)], "little"))
        return after

    return run


def _st(code: Code, i: InstructionStatement) -> Run:
    if i.one_of(("async", "bulk")):
        raise Unknown(i.mnemonic)
    size, count, _ = _shape(i)
    space, at = space_named(i), where(code, i.operands[0])
    readers = element_readers(code, i.operands[1], 8 * size)

    def run(thread: Thread) -> None:
        address = at(thread)
        _check(address, size * count, i)
        store(thread, space, address, b"".join(reader(thread).to_bytes(size, "little") for reader in readers))

    return run


def _cvta(code: Code, i: InstructionStatement) -> Run:
    destination, source = i.operands
    space = space_named(i)
    width, window = bits_of(i.types[-1]), WINDOWS.get("shared" if space == "cluster" else space, 0)
    from_operand, write = code.reader(source, width), code.writer(destination, width)
    sign = -1 if i.has("to") else 1
    return lambda thread: write(thread, from_operand(thread) + sign * window)


def _isspacep(code: Code, i: InstructionStatement) -> Run:
    destination, source = i.operands
    write, from_operand, name = code.writer(destination, 1), code.reader(source, 64), space_named(i)

    def run(thread: Thread) -> None:
        space, address = placed("generic", from_operand(thread))
        own = space == "cluster" and name == "shared" and address >> RANK == thread.block.rank
        write(thread, int(own or space == name))

    return run


# -- atomics


def updated(name: str, kind: str, old: int, new: int, other: int = 0) -> int:
    """Return what an atomic operation leaves of what was there."""
    if kind in FORMATS:
        fmt = FORMATS[kind]
        if name != "add":
            raise Unknown(f"atom.{name}.{kind}")
        return floats.encoded(floats.total(floats.decoded(old, fmt), floats.decoded(new, fmt)), fmt)
    x, y = read(old, kind), read(new, kind)
    match name:
        case "add":
            found = x + y
        case "min" | "max":
            found = (min if name == "min" else max)(x, y)
        case "and":
            found = x & y
        case "or":
            found = x | y
        case "xor":
            found = x ^ y
        case "exch":
            found = y
        case "inc":
            found = 0 if x >= y else x + 1
        case "dec":
            found = y if x == 0 or x > y else x - 1
        case "cas":
            found = other if x == y else x
        case _:
            raise Unknown(f"atom.{name}")
    return found & mask(bits_of(kind))


_OPERATIONS = ("add", "min", "max", "and", "or", "xor", "exch", "inc", "dec", "cas")


def _atomic(code: Code, i: InstructionStatement) -> Run:
    destination: Any = Sink()
    operands = list(i.operands)
    if i.opcode == "atom":
        destination = operands.pop(0)
    place, *sources = operands
    size, count, kind = _shape(i)
    name = i.one_of(_OPERATIONS)
    if name is None or len(sources) != (2 if name == "cas" else 1):
        raise Unknown(i.mnemonic)
    space, at = space_named(i), where(code, place)
    readers = [element_readers(code, source, 8 * size) for source in sources]
    elements = destination.elements if isinstance(destination, Vector) else (destination,) * count
    writers = [code.writer(element, 8 * size) for element in elements]
    lane = bits_of(kind.removesuffix("x2"))

    def run(thread: Thread) -> int | None:
        address = at(thread)
        _check(address, size * count, i)
        data = load(code, thread, space, address, size * count, i.line)
        left = b""
        for index, write in enumerate(writers):
            old = int.from_bytes(data[size * index : size * (index + 1)], "little")
            given = [reader[index](thread) for reader in readers]
            found = 0
            for low in range(0, 8 * size, lane):
                parts = [word >> low & mask(lane) for word in (old, *given)]
                found |= updated(name, kind.removesuffix("x2"), *parts) << low
            left += found.to_bytes(size, "little")
            write(thread, old)
        store(thread, space, address, left)
        return YIELD

    return run


# -- asynchronous copies


def _complete(thread: Thread, allowed: int) -> None:
    """Make all copies of a thread but those of its last groups."""
    while len(thread.groups) - 1 > allowed:
        for copy in thread.groups.pop(0):
            copy()


def complete_all(thread: Thread) -> None:
    """Make all copies that a thread has issued."""
    for group in thread.groups:
        for copy in group:
            copy()
    thread.groups = [[]]


def _cp(code: Code, i: InstructionStatement) -> Run:
    if not i.has("async") or i.has("bulk"):
        raise Unknown(i.mnemonic)
    if i.has("mbarrier"):
        return _cp_arrive(code, i)
    if i.has("commit_group"):
        return lambda thread: thread.groups.append([])
    if i.has("wait_all"):
        return complete_all
    if i.has("wait_group"):
        (count,) = i.operands
        assert isinstance(count, Integer)
        return lambda thread: _complete(thread, count.value)
    destination, source, *rest = i.operands
    if i.has("L2::cache_hint"):
        rest = rest[:-1]
    (amount, *more) = rest
    assert isinstance(amount, Integer)
    size, to, of = amount.value, where(code, destination), where(code, source)
    ignored = bool(more) and getattr(more[0], "type", None) == "pred"
    given: Callable[[Thread], int] = (
        code.reader(more[0], 1 if ignored else 32) if more else lambda thread: size
    )

    def run(thread: Thread) -> None:
        target, place, taken = to(thread), of(thread), given(thread)
        if ignored:
            taken = 0 if taken else size
        _check(target, size, i)
        if taken:
            _check(place, size, i)

        def copy() -> None:
            data = load(code, thread, "global", place, taken, i.line) if taken else b""
            store(thread, "cluster", target, data.ljust(size, b"\0"))

        if code.eager:
            copy()
        else:
            thread.groups[-1].append(copy)

    return run


# -- barrier objects


def barrier_object(thread: Thread, space: str, address: int, i: InstructionStatement) -> BarrierObject:
    space, address = placed(space, address)
    own = space == "cluster" or (space == "shared" and address >> RANK == thread.block.rank)
    if not own or address not in thread.block.objects:
        raise Fault("uninitialised", f"{i.mnemonic} where there is no barrier object")
    return thread.block.objects[address]


def _cp_arrive(code: Code, i: InstructionStatement) -> Run:
    space, at = space_named(i), where(code, i.operands[0])

    def run(thread: Thread) -> None:
        complete_all(thread)  # they may be over at any time
        barrier = barrier_object(thread, space, at(thread), i)
        if not i.has("noinc"):
            barrier.pending += 1
        barrier.arrive(1)

    return run


def _mbarrier(code: Code, i: InstructionStatement) -> Run:
    name, space = i.modifiers[0], space_named(i)
    if name in ("expect_tx", "complete_tx"):
        at, bytes_ = where(code, i.operands[0]), code.reader(i.operands[1], 32)
        sign = -1 if name == "expect_tx" else 1
        return lambda thread: barrier_object(thread, space, at(thread), i).complete(sign * bytes_(thread))
    if name == "pending_count":
        write, state = code.writer(i.operands[0], 32), code.reader(i.operands[1], 64)
        return lambda thread: write(thread, state(thread) & mask(32))
    if name in ("init", "inval"):
        return _made(code, i)
    destination, place, *rest = (
        i.operands
        if isinstance(i.operands[1:2] and i.operands[1], Address)
        else (
            Sink(),
            *i.operands,
        )
    )
    at = where(code, place)
    if name in ("arrive", "arrive_drop"):
        write, count = code.writer(destination, 64), code.reader(rest[0], 32) if rest else lambda thread: 1
        expects = i.has("expect_tx")

        def arrive(thread: Thread) -> int:
            barrier, number = barrier_object(thread, space, at(thread), i), count(thread)
            if expects:
                barrier.bytes += number
                number = 1
            write(thread, barrier.arrive(number, number if name == "arrive_drop" else 0))
            return YIELD

        return arrive
    if name not in ("test_wait", "try_wait"):
        raise Unknown(i.mnemonic)
    answer = code.writer(destination, 1)
    wanted = code.reader(rest[0], 32 if i.has("parity") else 64)

    def test(thread: Thread) -> int:
        barrier, phase = barrier_object(thread, space, at(thread), i), wanted(thread)
        over = barrier.phase & 1 != phase & 1 if i.has("parity") else barrier.phase != phase >> 32
        if not over:
            settle(thread.block.cluster)
        answer(thread, int(over))
        return YIELD

    return test


def settle(cluster: Cluster) -> None:
    """Make all that is under way to tensor memory and to barrier objects."""
    for block in cluster.blocks:
        if block.cells is not None:
            block.cells.settle()
    while cluster.under_way:
        cluster.under_way.pop(0)()


def _made(code: Code, i: InstructionStatement) -> Run:
    space, at = space_named(i), where(code, i.operands[0])
    count = code.reader(i.operands[1], 32) if i.has("init") else lambda thread: 0

    def run(thread: Thread) -> None:
        where_, address = placed(space, at(thread))
        _check(address, 8, i)
        if i.has("init"):
            thread.spaces[where_].store(address, code.noise.randbytes(8))
            thread.block.objects[address] = BarrierObject(count(thread), count(thread))
        else:
            barrier_object(thread, space, address if space != "generic" else at(thread), i)
            del thread.block.objects[address]

    return run


def _discard(code: Code, i: InstructionStatement) -> Run:
    """Decode ``discard``: what it leaves in a line of the cache is anything."""
    space, at = space_named(i), where(code, i.operands[0])
    return lambda thread: store(thread, space, at(thread), code.noise.randbytes(128))


ACCESSES: dict[str, Decoder] = {
    "discard": _discard,
    "ld": _ld,
    "ldu": _ld,
    "st": _st,
    "cvta": _cvta,
    "isspacep": _isspacep,
    "atom": _atomic,
    "red": _atomic,
    "cp": _cp,
    "mbarrier": _mbarrier,
}
"""How each instruction is decoded."""
