"""Instructions in which the threads of a warp take part together: exchanges, votes, matrix instructions.

Each waits until the lanes that it names are there. Which of several threads that nothing names are there
together, as for ``activemask``, PTX leaves open: here all those that wait at the same instruction when nobody
can go on.
Source: PTX ISA 9.1 sections 9.7.9.6, 9.7.13 and 9.7.14.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from interpreter import ptx_floats as floats
from interpreter.ptx_accesses import elements_of, load, space_named, store, where
from interpreter.ptx_integers import bits_of, mask, signed
from interpreter.ptx_memory import Fault
from interpreter.ptx_threads import STAY, WARP, Code, Decoder, Reader, Run, State, Thread, Wait, Writer
from numpy.typing import NDArray

from mmaproof.refinement.ptx.text.module import InstructionStatement
from mmaproof.refinement.ptx.text.operands import Pair
from mmaproof.spec.fragment import Packing
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.ptx import matrix_moves, warp
from mmaproof.spec.ptx.block_scaling import Selectors
from mmaproof.spec.ptx.choices import AS_TWICE_K, Choices
from mmaproof.spec.ptx.operands import Sink
from mmaproof.spec.ptx.product import Matrices, product
from mmaproof.spec.ptx.resolution import multiplication
from mmaproof.spec.ptx.signatures import signature
from mmaproof.spec.ptx.variant import Family
from mmaproof.spec.ptx.variant_rules import form_of
from mmaproof.spec.ptx.warp import Immediates, WarpRegisters
from mmaproof.spec.ptx.wmma import memory_operand

ALL = mask(WARP)
ALGEBRA = NumpyAlgebra()
CHOICES = Choices(half_k_metadata=AS_TWICE_K)

Finish = Callable[[list[Thread]], None]


def together(
    finish: Finish, i: InstructionStatement, members: Reader | None, *, converged: bool = False
) -> Run:
    """Return what lets a thread wait for others of its warp: those of a mask, or all."""

    def run(thread: Thread) -> int | None:
        lanes = ALL if members is None else members(thread)
        if members is not None and not lanes >> thread.lane & 1:
            raise Fault("undefined", f"{i.mnemonic} by a thread that its mask does not name")
        key = None if converged else (i.mnemonic, lanes) if members else thread.pc
        thread.wait, thread.state = Wait(thread.pc, key, lanes, finish), State.WAITING
        _release_those_of(thread)
        return STAY

    return run


def release(threads: Sequence[Thread]) -> None:
    """Let those threads of a warp go on who wait for others that are all there."""
    for thread in threads:
        _release_those_of(thread)


def _release_those_of(thread: Thread) -> None:
    wait = thread.wait
    if wait is None or wait.key is None:
        return
    needed = []
    for each in reversed(thread.warp):
        if wait.members >> each.lane & 1 and each.state is not State.DONE:
            if each.wait is None or each.wait.key != wait.key:
                return
            needed.append(each)
    go_on(needed[::-1], wait.finish)


def release_converged(threads: Sequence[Thread]) -> bool:
    """Let threads of a warp go on that wait for whoever happens to be there; say whether there are any."""
    waiting = [thread for thread in threads if thread.wait is not None and thread.wait.key is None]
    if not waiting:
        return False
    first = min(each.wait.index for each in waiting if each.wait)
    group = [each for each in waiting if each.wait and each.wait.index == first]
    wait = group[0].wait
    assert wait is not None
    go_on(group, wait.finish)
    return True


def go_on(threads: list[Thread], finish: Finish) -> None:
    """Do what threads have waited for."""
    finish(threads)
    for thread in threads:
        thread.wait, thread.state, thread.pc = None, State.READY, thread.pc + 1


def _results(operand: Any) -> tuple[Any, Any]:
    return (operand.first, operand.second) if isinstance(operand, Pair) else (operand, Sink())


# -- exchanges and votes


def _shfl(code: Code, i: InstructionStatement) -> Run:
    destination, given, b, c, *masks = i.operands
    first, second = _results(destination)
    write, tell = code.writer(first, 32), code.writer(second, 1)
    read, read_b, read_c = code.reader(given, 32), code.reader(b, 32), code.reader(c, 32)
    mode = i.one_of(("up", "down", "bfly", "idx"))

    def finish(threads: list[Thread]) -> None:
        held = {thread.lane: read(thread) for thread in threads}
        steering = {thread.lane: (read_b(thread), read_c(thread)) for thread in threads}
        for thread in threads:
            lane, (amount, limits) = thread.lane, steering[thread.lane]
            amount, limit, segment = amount & 31, limits & 31, limits >> 8 & 31
            least = lane & segment
            most = least | limit & ~segment & 31
            match mode:
                case "up":
                    source = lane - amount
                    inside = source >= most
                case "down":
                    source = lane + amount
                    inside = source <= most
                case "bfly":
                    source = lane ^ amount
                    inside = source <= most
                case _:
                    source = least | amount & ~segment & 31
                    inside = source <= most
            source = source if inside else lane
            write(thread, held[source] if source in held else code.noise.getrandbits(32))
            tell(thread, int(inside))

    return together(finish, i, code.reader(masks[0], 32) if masks else None, converged=not masks)


def _vote(code: Code, i: InstructionStatement) -> Run:
    destination, given, *masks = i.operands
    mode = i.one_of(("all", "any", "uni", "ballot"))
    write, read = code.writer(destination, 32 if mode == "ballot" else 1), code.reader(given, 1)

    def finish(threads: list[Thread]) -> None:
        answers = {thread.lane: read(thread) for thread in threads}
        yes, count = sum(answers.values()), len(answers)
        found = {
            "all": int(yes == count),
            "any": int(yes > 0),
            "uni": int(yes in (0, count)),
            "ballot": sum(answer << lane for lane, answer in answers.items()),
        }[mode or ""]
        for thread in threads:
            write(thread, found)

    return together(finish, i, code.reader(masks[0], 32) if masks else None, converged=not masks)


def _match(code: Code, i: InstructionStatement) -> Run:
    destination, given, masks = i.operands
    first, second = _results(destination)
    write, tell, read = (
        code.writer(first, 32),
        code.writer(second, 1),
        code.reader(given, bits_of(i.types[0])),
    )

    def finish(threads: list[Thread]) -> None:
        values = {thread.lane: read(thread) for thread in threads}
        everyone = sum(1 << lane for lane in values)
        alike = len(set(values.values())) == 1
        for thread in threads:
            if i.has("any"):
                write(
                    thread, sum(1 << lane for lane, value in values.items() if value == values[thread.lane])
                )
            else:
                write(thread, everyone if alike else 0)
                tell(thread, int(alike))

    return together(finish, i, code.reader(masks, 32))


def _activemask(code: Code, i: InstructionStatement) -> Run:
    write = code.writer(i.operands[0], 32)

    def finish(threads: list[Thread]) -> None:
        found = sum(1 << thread.lane for thread in threads)
        for thread in threads:
            write(thread, found)

    return together(finish, i, None, converged=True)


def _elect(code: Code, i: InstructionStatement) -> Run:
    """Elect the lowest lane, as verdicts say that they take for granted."""
    destination, masks = i.operands
    first, second = _results(destination)
    write, tell = code.writer(first, 32), code.writer(second, 1)

    def finish(threads: list[Thread]) -> None:
        elected = min(thread.lane for thread in threads)
        for thread in threads:
            write(thread, elected)
            tell(thread, int(thread.lane == elected))

    return together(finish, i, code.reader(masks, 32))


def _redux(code: Code, i: InstructionStatement) -> Run:
    destination, given, masks = i.operands
    write, read, kind = code.writer(destination, 32), code.reader(given, 32), i.types[0]
    name = i.one_of(("add", "min", "max", "and", "or", "xor"))

    def combined(values: list[int]) -> int:
        if kind == "f32":
            values = [value & mask(31) for value in values] if i.has("abs") else values
            numbers = [value for value in values if not floats.is_nan(value, floats.F32)]
            if not numbers or (i.has("NaN") and len(numbers) < len(values)):
                return floats.F32.nan
            choose = min if name == "min" else max
            return choose(numbers, key=lambda n: -(n & mask(31)) - 1 if n >> 31 else n)
        found, *others = [signed(value, 32) if kind == "s32" else value for value in values]
        for other in others:
            found = {
                "add": found + other,
                "min": min(found, other),
                "max": max(found, other),
                "and": found & other,
                "or": found | other,
                "xor": found ^ other,
            }[name or ""]
        return found

    def finish(threads: list[Thread]) -> None:
        found = combined([read(thread) for thread in threads])
        for thread in threads:
            write(thread, found)

    return together(finish, i, code.reader(masks, 32))


def warp_barrier(code: Code, i: InstructionStatement) -> Run:
    """Decode ``bar.warp.sync``."""
    return together(lambda threads: None, i, code.reader(i.operands[0], 32))


# -- matrices


def whole(threads: list[Thread], i: InstructionStatement) -> None:
    """Require all threads of a warp, and order them by lane."""
    if len(threads) != WARP:
        raise Fault("divergence", f"{i.mnemonic} by {len(threads)} threads of a warp")
    threads.sort(key=lambda each: each.lane)


def _registers(code: Code, operand: Any, width: int) -> Callable[[list[Thread]], NDArray[Any]]:
    """Return what reads the registers (32, r) of a warp."""
    readers = [code.reader(each, width) for each in elements_of(operand)]
    kind = np.uint64 if width == 64 else np.uint32
    return lambda threads: np.array([[read(thread) for read in readers] for thread in threads], dtype=kind)


def _writers(code: Code, operand: Any, width: int) -> list[Writer]:
    return [code.writer(each, width) for each in elements_of(operand)]


def _write(threads: list[Thread], writers: list[Writer], registers: NDArray[Any]) -> None:
    for thread, row in zip(threads, registers.reshape(WARP, -1).tolist(), strict=True):
        for write, value in zip(writers, row, strict=True):
            write(thread, int(value))


def _mma(code: Code, i: InstructionStatement) -> Run:
    form = multiplication(i.specified().variant)
    names = [each.name for each in signature(form.form, form.variant)]
    given = dict(zip(names, i.operands, strict=True))
    widths = {role: form.fragment(role).packing.word.bits for role in "abcd"}
    widths |= {name: 32 for name in ("scale_a", "scale_b", "metadata") if name in given}
    readers = {name: _registers(code, given[name], width) for name, width in widths.items() if name != "d"}
    writers = _writers(code, given["d"], widths["d"])

    def selectors(threads: list[Thread], name: str) -> Selectors | None:
        if name not in given:
            return None
        return Selectors(*(code.reader(element, 16)(threads[0]) for element in given[name].elements))

    def finish(threads: list[Thread]) -> None:
        whole(threads, i)
        held = {name: read(threads) for name, read in readers.items()}
        sparsity = code.reader(given["selector"], 32)(threads[0]) if "selector" in given else None
        selected = Immediates(selectors(threads, "selectors_a"), selectors(threads, "selectors_b"), sparsity)
        _write(threads, writers, warp.execute(ALGEBRA, form, WarpRegisters(**held), selected, CHOICES))

    return together(finish, i, None)


def _rows(
    threads: list[Thread], code: Code, place: Any, move: matrix_moves.MatrixMove
) -> list[tuple[Thread, int]]:
    """Return for each memory row of a matrix move who names it, and its address."""
    read = where(code, place)
    lanes = matrix_moves.row_addresses(move, np.arange(WARP)).reshape(-1)
    return [(threads[lane], read(threads[lane])) for lane in lanes.tolist()]


def _aligned(address: int, unit: int, i: InstructionStatement) -> None:
    if address % unit:
        raise Fault("misaligned", f"{i.mnemonic} at {address:#x}")


def _ldmatrix(code: Code, i: InstructionStatement) -> Run:
    move = matrix_moves.matrix_move(i.specified().variant)
    writers, space = _writers(code, i.operands[0], 32), space_named(i)

    def finish(threads: list[Thread]) -> None:
        whole(threads, i)
        rows = []
        for thread, address in _rows(threads, code, i.operands[1], move):
            _aligned(address, 16, i)
            rows.append(np.frombuffer(load(code, thread, space, address, 16, i.line), dtype=np.uint8))
        data = np.array(rows).reshape(move.count, move.rows, 16)
        _write(threads, writers, matrix_moves.load(ALGEBRA, move, data))

    return together(finish, i, None)


def _stmatrix(code: Code, i: InstructionStatement) -> Run:
    move = matrix_moves.matrix_move(i.specified().variant)
    read, space = _registers(code, i.operands[1], 32), space_named(i)

    def finish(threads: list[Thread]) -> None:
        whole(threads, i)
        data = np.asarray(matrix_moves.store(ALGEBRA, move, read(threads)), dtype=np.uint8).reshape(-1, 16)
        for (thread, address), row in zip(_rows(threads, code, i.operands[0], move), data, strict=True):
            _aligned(address, 16, i)
            store(thread, space, address, row.tobytes())

    return together(finish, i, None)


def _movmatrix(code: Code, i: InstructionStatement) -> Run:
    move = matrix_moves.matrix_move(i.specified().variant)
    read, writers = _registers(code, i.operands[1], 32), _writers(code, i.operands[0], 32)

    def finish(threads: list[Thread]) -> None:
        whole(threads, i)
        _write(threads, writers, matrix_moves.transpose(ALGEBRA, move, read(threads)))

    return together(finish, i, None)


class _Fragment:
    """Where the elements of a wmma fragment are: anywhere, but the same for all fragments of a kind."""

    def __init__(self, code: Code, variant: Any, role: str, layout: str, fmt: Any) -> None:
        form = form_of(variant)
        self.shape = form.role_shape(role)
        self.packing = Packing(fmt, fmt.bits)
        self.registers = form.registers(role, fmt.name)
        self.width = self.packing.word.bits
        elements = self.shape[0] * self.shape[1]
        kind = f"{form.shape} {'accumulator' if role in 'cd' else role + layout} {fmt.name} {code.seed}"
        places = np.arange(WARP * self.registers * self.packing.per_register)
        random.Random(kind).shuffle(places)
        self.element = places % elements
        self.place = np.empty(elements, dtype=np.int64)
        self.place[self.element] = np.arange(len(places))
        self.format = fmt

    def scatter(self, matrix: NDArray[Any]) -> NDArray[Any]:
        """Return the registers (32, r) of a matrix."""
        fields = np.asarray(matrix).reshape(-1)[self.element].reshape(WARP, -1)
        return np.asarray(self.packing.pack(ALGEBRA, fields))

    def gather(self, registers: NDArray[Any]) -> NDArray[Any]:
        """Return the matrix of registers (32, r)."""
        fields = [ALGEBRA.extract(registers, low, self.format) for low in self.packing.positions]
        flat = np.stack(fields, axis=-1).reshape(-1)
        return flat[self.place].reshape(self.shape)


def _wmma(code: Code, i: InstructionStatement) -> Run:
    variant = i.specified().variant
    if variant.family is Family.WMMA_LOAD:
        return _wmma_load(code, i, variant)
    if variant.family is Family.WMMA_STORE:
        return _wmma_store(code, i, variant)
    form = multiplication(variant)
    names = [each.name for each in signature(form.form, variant)]
    given = dict(zip(names, i.operands, strict=True))
    layouts = dict(zip("ab", variant.layouts, strict=True))
    kinds = {
        role: _Fragment(code, variant, role, layouts.get(role, ""), form.format(role)) for role in "abcd"
    }
    readers = {role: _registers(code, given[role], kinds[role].width) for role in "abc"}
    writers = _writers(code, given["d"], kinds["d"].width)

    def finish(threads: list[Thread]) -> None:
        whole(threads, i)
        held = {role: kinds[role].gather(read(threads)) for role, read in readers.items()}
        _write(threads, writers, kinds["d"].scatter(product(ALGEBRA, form, Matrices(**held), CHOICES)))

    return together(finish, i, None)


def _wmma_lines(code: Code, i: InstructionStatement, operand: Any, pointer: Any, stride: Any) -> Any:
    """Return what gives the addresses of a matrix's lines, the bytes of one, and the stride."""
    read = where(code, pointer)
    distance = code.reader(stride[0], 32) if stride else lambda thread: int(operand.minimum_stride)
    size = operand.minimum_stride * operand.format.bits // 8

    def lines(thread: Thread) -> list[int]:
        address = read(thread)
        _aligned(address, operand.fragment_bytes, i)
        step = distance(thread) * operand.format.bits // 8
        return [address + line * step for line in range(operand.lines)]

    return lines, size


def _wmma_load(code: Code, i: InstructionStatement, variant: Any) -> Run:
    operand = memory_operand(variant)
    destination, pointer, *stride = i.operands
    kind = _Fragment(code, variant, operand.role, operand.layout, operand.format)
    lines, size = _wmma_lines(code, i, operand, pointer, stride)
    writers, space = _writers(code, destination, kind.width), space_named(i)

    def finish(threads: list[Thread]) -> None:
        whole(threads, i)
        data = b"".join(load(code, threads[0], space, line, size, i.line) for line in lines(threads[0]))
        matrix = operand.load(np.frombuffer(data, dtype=np.uint8), 0)
        _write(threads, writers, kind.scatter(matrix))

    return together(finish, i, None)


def _wmma_store(code: Code, i: InstructionStatement, variant: Any) -> Run:
    operand = memory_operand(variant)
    pointer, source, *stride = i.operands
    kind = _Fragment(code, variant, operand.role, operand.layout, operand.format)
    lines, size = _wmma_lines(code, i, operand, pointer, stride)
    read, space = _registers(code, source, kind.width), space_named(i)

    def finish(threads: list[Thread]) -> None:
        whole(threads, i)
        matrix = kind.gather(read(threads))
        by_line = matrix if operand.layout == "row" else matrix.T
        for address, line in zip(lines(threads[0]), by_line, strict=True):
            store(threads[0], space, address, np.ascontiguousarray(line).tobytes()[:size])

    return together(finish, i, None)


WARPS: dict[str, Decoder] = {
    "shfl": _shfl,
    "vote": _vote,
    "match": _match,
    "activemask": _activemask,
    "elect": _elect,
    "redux": _redux,
    "mma": _mma,
    "ldmatrix": _ldmatrix,
    "stmatrix": _stmatrix,
    "movmatrix": _movmatrix,
    "wmma": _wmma,
}
"""How each instruction is decoded."""
