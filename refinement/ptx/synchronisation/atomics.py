"""``atom`` and ``red``: atomic updates by threads in an unknown order.

Modelled is what leaves the same in every order: sums, extrema, bits, counts (``inc``, ``dec`` with one
limit), and the exchange for one value, each alone at its place, or in order after all others. A float's sum
does depend on the order; it is summed in that of the threads, and the run is marked as unordered. What
``atom`` returns is undefined, as it depends on who came first, unless one thread alone changes the word of
global memory (`Atomics`); but see `tickets`. What ``.release`` and
``.acquire`` put in order matters for who learns from a word of others, see `semaphores`; elsewhere it is left
out: there are more races without it, never fewer. Source:
PTX ISA 9.1 sections 9.7.13.5 and 9.7.13.7.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType

import numpy as np

from ....spec.errors import InputError
from ....spec.formats import BF16, F16, F32, F64, FloatFormat
from ....spec.ptx.open_results import ATOMIC_RESULT
from ....spec.ptx.operands import Sink, Vector
from ....spec.ptx.scalar.bits import BOOLEANS
from ...findings.finding import Kind
from ...machine.memory import Offsets
from ...terms import bit_slices, operations
from ...terms.choices import chosen
from ...terms.chosen_words import equal_to, word_at
from ...terms.evaluation import apply
from ...terms.interning import Ids
from ...terms.store import Operation, TermStore
from ..memory.addressing import NARROW_SCOPES, Addresses, addresses, located, space_of
from ..memory.memory_access import read, write
from ..memory.table_lookups import each_value, is_found_by_data, on_value, places_by_data
from ..registers.threads import Indices
from ..registers.values import known
from ..state.execution import Decoders, Execution, undecoded
from ..state.state_space import Space
from ..text.module import TYPE_BITS, InstructionStatement
from ..text.operands import Operand

_FLOATS = MappingProxyType({fmt.name: fmt for fmt in (F16, BF16, F32, F64)})
_INTEGERS = ("u32", "s32", "u64", "s64")
_PACKED = MappingProxyType({"f16x2": "f16", "bf16x2": "bf16"})
_LANES = MappingProxyType({"v2": 2, "v4": 4, "v8": 8})
_WORDS = ("b32", "b64")
MODELLED: Mapping[str, Collection[str]] = MappingProxyType(
    {
        "add": (*_FLOATS, *_INTEGERS),
        "min": _INTEGERS,
        "max": _INTEGERS,
        "and": _WORDS,
        "or": _WORDS,
        "xor": _WORDS,
        "inc": ("u32",),
        "dec": ("u32",),
        "exch": _WORDS,
    }
)
"""The types of each operation that is modelled."""

_NEUTRAL: Mapping[str, int] = MappingProxyType({"add": 0, "or": 0, "xor": 0, "and": -1})
"""What changes no word, for each operation, besides extrema, of which data may decide if and where it is."""

_OF_ONE_OPERAND = frozenset({"inc", "dec", "exch"})
"""Operations that leave the same in every order only if all have one operand."""

_ORDERS = ("relaxed", "acquire", "release", "acq_rel")
_SCOPES = (*NARROW_SCOPES, "gpu", "sys")
_TAKEN = frozenset(
    {
        *_FLOATS,
        *_INTEGERS,
        *_PACKED,
        *_WORDS,
        *_LANES,
        *_ORDERS,
        *_SCOPES,
        *MODELLED,
        "noftz",
        "global",
        "shared",
        "shared::cta",
        "shared::cluster",
    }
)


def _atom(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    if instruction.has("cas"):
        _take_lock(execution, instruction, active)
        return
    destination, *given = instruction.taking(3, 5)
    width, results = _sum(execution, instruction, given, active)
    elements = () if isinstance(destination, Sink) else _elements(destination, results.shape[1])
    for element, terms in zip(elements, results.T, strict=False):
        execution.write_terms(element, terms, width, active)


def _take_lock(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    """Take a lock, which is free: see `locks`."""
    destination, place, compared, new = instruction.taking(4, 4)
    words = execution.semaphores
    refusal = "" if words is None else words.locks.get(instruction.line, "it is outside any loop")
    if words is None or refusal or instruction.types != ("b32",) or execution.path is not None:
        execution.unsupported(f"{instruction.mnemonic}: {refusal or 'only locks of 32 bits are modelled'}")
    at = addresses(execution, place, active)
    wanted = execution.numbers(compared, 32, active, "what is compared by")
    given = execution.terms(new, 32, active)
    space = space_of(execution, instruction, ordering=True)
    found = np.zeros(len(active), dtype=np.uint64)
    for part, members, offsets in located(execution, space, at, 4, active, 4, stores=True):
        check_scope(execution, instruction, part)
        if part.name != "global":
            execution.unsupported(f"{instruction.mnemonic} in {part.name} memory")
        for index, offset in zip(members.tolist(), offsets.tolist(), strict=True):
            one, where = active[index : index + 1], np.array([offset])
            held = words.held(part, offset, int(one[0]))
            if held is not None and held != wanted[index]:
                found[index] = held
                continue
            found[index] = words.take_lock(part, offset, int(one[0]), instruction)
            if found[index] != wanted[index]:
                holder = execution.threads.name_in_grid(words.last_writer(offset))
                message = f"{part.place(offset)} is {int(found[index])}, not {int(wanted[index])}"
                if not words.is_of_other_block(offset, int(one[0])):
                    execution.unsupported(f"{message}, and no other block took it before")
                execution.report(
                    Kind.DEADLOCK, f"waits for ever: {message}, since {holder} wrote it last", one
                )
                execution.unsupported(f"{message} for ever, so the kernel does not end")
            some = given[index : index + 1]
            _check_order(execution, part, where, "cas", "b32", some, one)
            execution.note_semaphores(part, where, some, 4, one)
            write(execution, part, where, some[:, None], 4, one, atomic=True)
    execution.write(destination, known(found, 32), active)


def _red(execution: Execution, instruction: InstructionStatement, active: Indices) -> None:
    _sum(execution, instruction, list(instruction.taking(2, 4)), active)


def _elements(operand: Operand, lanes: int) -> tuple[Operand, ...]:
    elements = operand.elements if isinstance(operand, Vector) else (operand,)
    if len(elements) != lanes:
        raise InputError(f"{operand} must have {lanes} elements")
    return elements


def _sum(
    execution: Execution, instruction: InstructionStatement, given: list[Operand], active: Indices
) -> tuple[int, Ids]:
    """Add to memory; return the width of the registers added, and what is returned (n active, registers)."""
    place, source, *rest = given
    (named,) = instruction.types or ("",)
    kind = _PACKED.get(named, named)
    unknown = not _TAKEN.issuperset(instruction.modifiers)
    name = instruction.one_of(MODELLED) or ""
    if rest or unknown or kind not in MODELLED.get(name, ()):
        modelled = ", ".join(MODELLED)
        execution.unsupported(f"{instruction.mnemonic}; of atomics, {modelled} of one type are modelled")
    width, bits = TYPE_BITS[named], TYPE_BITS[kind]
    vector = instruction.one_of(_LANES)
    lanes = 1 if vector is None else _LANES[vector]
    space = space_of(execution, instruction, ordering=True)
    registers = [execution.terms(element, width, active) for element in _elements(source, lanes)]
    added = [
        bit_slices.extract(execution.store, terms, low, bits)
        for terms in registers
        for low in range(0, width, bits)
    ]
    if execution.on_data(active):
        added = _where_taken(execution, name, kind, added, active)
    execution.unordered |= kind in _FLOATS
    if is_found_by_data(execution, place, active):
        parts = _update_by_data(execution, space, place, name, kind, np.stack(added), active)
    else:
        at = addresses(execution, place, active)
        parts = update_words(execution, space, at, added, name, kind, active)
    words = parts.reshape(-1, width // bits)
    return width, bit_slices.concatenate(execution.store, list(words.T)).reshape(-1, lanes)


def update_words(
    execution: Execution,
    space: str,
    at: Addresses,
    added: Sequence[Ids],
    name: str,
    kind: str,
    threads: Indices,
) -> Ids:
    """Change words at addresses, and return what that returns (n, lanes)."""
    size, turns = TYPE_BITS[kind] // 8, execution.turns_of(threads)
    returned = execution.store.undefined(len(threads) * len(added), 8 * size, ATOMIC_RESULT)
    returned = returned.reshape(-1, len(added))
    total = len(added) * size
    for part, members, offsets in located(execution, space, at, total, threads, total, stores=True):
        check_scope(execution, execution.instruction, part)
        for some in rounds(offsets, turns[members]):
            own = members[some]
            for index, terms in enumerate(added):
                places = offsets[some] + index * size
                _check_order(execution, part, places, name, kind, terms[own], threads[own])
                returned[own, index] = _update(execution, part, places, terms[own], name, kind, threads[own])
    return returned


def _update_by_data(
    execution: Execution, space: str, place: Operand, name: str, kind: str, added: Ids, active: Indices
) -> Ids:
    """Change words (lanes, n) at every place that data may lead to; return what that returns (n, lanes).

    Where data do not lead, what is added changes nothing: 0 for a sum.
    """
    store = execution.store
    nothing = _nothing(execution, name, kind, "at a data-dependent address")
    total = len(added) * TYPE_BITS[kind] // 8
    returned = np.empty((len(active), len(added)), dtype=np.int32)
    known, told = places_by_data(execution, place, active)
    if len(known.places):
        words = list(added[:, known.places])
        returned[known.places] = update_words(
            execution, space, known.words[:, 0], words, name, kind, active[known.places]
        )
    for found in told:
        threads = active[found.places]
        choices = [
            chosen(store, equal_to(store, found.integers, code), added[:, found.places], nothing)
            for code in found.codes
        ]
        everyone, at = np.repeat(threads, len(found.codes)), found.words.reshape(-1)
        with on_value(execution, found, threads):
            places = located(execution, space, at, total, everyone, total, stores=True)
            if execution.tried(partial(list, places)) is not None:
                words = list(np.stack(choices, axis=-1).reshape(len(added), -1))
                each = update_words(execution, space, at, words, name, kind, everyone)
                before = each.reshape(*found.words.shape, len(added))
                returned[found.places] = word_at(store, found.integers, found.codes, before)
                continue
        columns = []
        for choice, (at, one) in zip(choices, each_value(execution, found, threads), strict=True):
            with one:
                columns.append(update_words(execution, space, at, list(choice), name, kind, threads))
        returned[found.places] = word_at(store, found.integers, found.codes, np.stack(columns, axis=1))
    return returned


def _where_taken(execution: Execution, name: str, kind: str, added: list[Ids], active: Indices) -> list[Ids]:
    """Return what threads add (lanes, n) where data lead them here, else what changes nothing."""
    assert execution.path is not None
    conditions = execution.path.at(active).as_terms(execution.store)
    nothing = _nothing(execution, name, kind, "under a condition on data")
    return [chosen(execution.store, conditions, terms, nothing) for terms in added]


def _nothing(execution: Execution, name: str, kind: str, about: str) -> Ids:
    """Return an operand with which an operation changes no word."""
    width, signed = TYPE_BITS[kind], kind[0] == "s"
    least, greatest = (1 << width - 1, (1 << width - 1) - 1) if signed else (0, (1 << width) - 1)
    code = {**_NEUTRAL, "min": greatest, "max": least}.get(name)
    if code is None:
        allowed = ", ".join((*_NEUTRAL, "min", "max"))
        execution.unsupported(f"{execution.instruction.mnemonic} {about}; allowed: {allowed}")
    return execution.store.constants(code & (1 << width) - 1, width)


def depends_on_operand(name: str) -> bool:
    """Tell whether operations leave the same in every order only if all have one operand."""
    return name in _OF_ONE_OPERAND


def check_scope(execution: Execution, instruction: InstructionStatement, part: Space) -> None:
    """Refuse what is atomic only within a block where other blocks may take part.

    Raises
    ------
    UnsupportedError
        If it is.
    """
    narrow = instruction.one_of(NARROW_SCOPES)
    if narrow is not None and part.name == "global" and execution.threads.launch.blocks > 1:
        execution.unsupported(f"{instruction.mnemonic}: .{narrow} in global memory, for more than one block")
    if narrow == "cta" and part.peers is not None:
        execution.unsupported(f"{instruction.mnemonic}: .cta in shared memory that a cluster shares")


def rounds(offsets: Offsets, turns: Indices) -> list[Indices]:
    """Return indices of the accesses in groups, none of which has one place twice, in the order of turns."""
    order = np.lexsort((turns, offsets))
    ordered = offsets[order]
    first = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
    lengths = np.diff(np.concatenate([first, [len(ordered)]]))
    rank = np.arange(len(ordered)) - np.repeat(first, lengths)
    return [np.sort(order[rank == each]) for each in range(int(rank.max(initial=-1)) + 1)]


def _check_order(
    execution: Execution,
    part: Space,
    offsets: Offsets,
    name: str,
    kind: str,
    given: Ids,
    threads: Indices,
) -> None:
    size = TYPE_BITS[kind] // 8
    sort = kind if kind in _FLOATS or name in ("min", "max") else str(8 * size)
    check_alike(
        execution, part, offsets, f"{name}.{sort}", given if depends_on_operand(name) else None, size, threads
    )


def check_alike(
    execution: Execution,
    part: Space,
    offsets: Offsets,
    name: str,
    given: Ids | None,
    size: int,
    threads: Indices,
) -> None:
    """Refuse operations on places where there was another one, in no order: their order matters.

    Parameters
    ----------
    execution : Execution
        What runs.
    part : Space
        Where.
    offsets, threads : array (n,)
        The places, and who changes them.
    name : str
        Operations of one name are the same in every order.
    given : array (n,), optional
        The operands, if they are so only with one operand.
    size : int
        Bytes of a place.

    Raises
    ------
    UnsupportedError
        If there was another one.
    """
    numbers = part.atomics.numbers(name, np.zeros(len(offsets), dtype=np.int32) if given is None else given)
    lanes = offsets[:, None] + np.arange(size)
    before = part.atomics.at(lanes, len(part.lanes))
    other = (before != 0) & (before != numbers[:, None])
    if other.any():
        other &= ~execution.in_order_after_all(part, offsets, threads)[:, None]
    if other.any():
        place = part.place(int(lanes[other][0]))
        what = "another operation" if given is None else "another operand"
        execution.unsupported(
            f"{execution.instruction.mnemonic} on {place}, after an atomic with {what}: their order matters"
        )
    part.atomics.put(lanes, numbers)
    part.atomics.note_users(lanes, len(part.lanes), execution.ordering.names[threads])


def _update(
    execution: Execution,
    part: Space,
    offsets: Offsets,
    given: Ids,
    name: str,
    kind: str,
    threads: Indices,
) -> Ids:
    """Change what is there, and return what the operation returns."""
    size = TYPE_BITS[kind] // 8
    before = read(execution, part, offsets, size, 1, threads, atomic=True)[:, 0]
    lost = before < 0
    if lost.any():
        before = before.copy()
        before[lost] = execution.store.undefined(int(lost.sum()), 8 * size)
    new = after(execution, part, name, kind, before, given)
    operands = given if kind in _INTEGERS and name in ("add", "inc", "dec") else None
    execution.note_semaphores(part, offsets, new, size, threads, operands)
    returned = execution.returned(part, offsets, before, threads)
    write(execution, part, offsets, new[:, None], size, threads, atomic=True)
    return returned


def after(execution: Execution, part: Space, name: str, kind: str, before: Ids, given: Ids) -> Ids:
    """Return what an operation leaves of what was there."""
    store, width = execution.store, TYPE_BITS[kind]
    match name:
        case "add":
            return apply(store, _sum_of(kind, part), before, given)
        case "min" | "max":
            fmt = operations.signed(width) if kind[0] == "s" else operations.unsigned(width)
            return apply(store, operations.extremum(fmt, name), before, given)
        case "exch":
            return given
        case "inc" | "dec":
            return _counted(store, name, before, given)
    return bit_slices.bitwise(store, BOOLEANS[name], before, given, given)


def _counted(store: TermStore, name: str, before: Ids, limit: Ids) -> Ids:
    """Return the next number of a count from 0 to a limit and around, or from the limit to 0."""
    unsigned = operations.unsigned(32)
    zero = store.constants(0, 32)
    step = store.constants(1 if name == "inc" else 0xFFFFFFFF, 32)
    moved = apply(store, operations.ring(32, 0, 2), before, step)
    beyond = apply(store, operations.compare(unsigned, "ge" if name == "inc" else "gt"), before, limit)
    around = zero if name == "inc" else limit
    found = apply(store, operations.select(32), beyond, around, moved)
    if name == "inc":
        return found
    is_zero = apply(store, operations.compare(unsigned, "eq"), before, zero)
    return apply(store, operations.select(32), is_zero, limit, found)


def _sum_of(kind: str, part: Space) -> Operation:
    fmt = _FLOATS.get(kind)
    if fmt is None:
        return operations.ring(TYPE_BITS[kind], 0, 2)
    assert isinstance(fmt, FloatFormat)
    return operations.fused(fmt, addends=(fmt, fmt), flush=kind == "f32" and part.name == "global")


HANDLERS: Decoders = MappingProxyType({"atom": undecoded(_atom), "red": undecoded(_red)})
"""The instructions of this module."""
