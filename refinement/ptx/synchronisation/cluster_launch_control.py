"""``clusterlaunchcontrol``: blocks ask for clusters that were not launched yet, to do their work.

The answer is written through the asynchronous proxy, where the request is made, and its bytes complete on a
barrier object, as those of bulk copies do; with ``.multicast::cluster::all`` in each block of the cluster.
Source: PTX ISA 9.1 section 9.7.13 (clusterlaunchcontrol.try_cancel, .query_cancel).
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from ....spec.errors import InputError
from ....spec.ptx.open_results import PLACE_OF_NONE
from ....spec.ptx.operands import Sink, Vector
from ...findings.finding import Kind
from ..memory.addressing import addresses
from ..memory.asynchronous_uses import check_proxy
from ..memory.memory_access import store_bytes
from ..registers.threads import Indices
from ..registers.values import known
from ..state.cluster_launches import REQUEST, Answer, ClusterLaunches
from ..state.execution import Decoders, Execution, Step
from ..state.handlers import Modifiers
from ..text.module import InstructionStatement
from ..text.operands import Operand
from ..text.plain_text import WIDE
from .bulk_copies import complete_copy, granules_of_bytes
from .bulk_stores import UNIT
from .mbarrier import REMOTE, barriers_at_addresses
from .multicast import in_blocks

_BYTES = 16
_ALL = "multicast::cluster::all"
_COMPLETION = "mbarrier::complete_tx::bytes"
_FIRST = "get_first_ctaid"
_AXES = tuple(f"{_FIRST}::{axis}" for axis in "xyz")


def _decoded(instruction: InstructionStatement) -> Step:
    modifiers = Modifiers(instruction)
    return _request(modifiers) if modifiers.flag(REQUEST) else _query(modifiers)


def _request(modifiers: Modifiers) -> Step:
    for each in ("async", _COMPLETION):
        if not modifiers.flag(each):
            raise modifiers.unsupported(f"lacks .{each}")
    everywhere = modifiers.flag(_ALL)
    own = "shared" if modifiers.flag("shared::cta") else "generic"
    space = REMOTE if everywhere and own == "shared" else own
    modifiers.type((WIDE,))
    modifiers.finish()
    to, place = modifiers.operands(2)

    def request(execution: Execution, active: Indices) -> None:
        launches, name = ClusterLaunches.of(execution), execution.instruction.mnemonic
        if execution.path is not None:
            execution.unsupported(f"{name} under a data-dependent branch")
        if launches is None or execution.semaphores is not None:
            execution.unsupported(
                f"{name} in a proof for every size, or in a kernel whose blocks wait for each other"
            )
        targets, places = addresses(execution, to, active), addresses(execution, place, active)
        ranks = tuple(range(execution.threads.launch.cluster_blocks))
        for member in range(len(active)):
            thread, at = active[member : member + 1], slice(member, member + 1)
            if line := launches.known_end(execution, int(thread[0])):
                message = f"{name} when it is known, from line {line}, that a request before it failed"
                execution.report(Kind.UNDEFINED, message, thread)
                execution.unsupported(f"{name}: the behaviour after that is undefined")
            answer = launches.answer(execution, int(thread[0]))
            words = np.repeat(launches.words(execution.store, answer), _BYTES // 2)[None, :]
            data = words, np.tile(np.arange(0, 64, 8, dtype=np.uint8), 2)[None, :]
            pairs = [(targets[at], places[at])]
            if everywhere:
                there = (in_blocks(execution, each[at], ranks, space) for each in (targets, places))
                pairs = [*zip(*there, strict=True)]
            for target, of in pairs:
                for barrier, _ in barriers_at_addresses(execution, space, of, thread):
                    if int(target[0]) % _BYTES:
                        message = f"{name} to an address that is no multiple of {_BYTES}"
                        execution.report(Kind.MISALIGNED, message, thread)
                        continue
                    granules = granules_of_bytes(execution, target, _BYTES, thread)
                    check_proxy(execution, granules, thread.tolist(), "writes")
                    store_bytes(execution, space, target, data, thread, UNIT)
                    complete_copy(execution, barrier, granules, thread, _BYTES)

    return request


def _query(modifiers: Modifiers) -> Step:
    if not modifiers.flag("query_cancel"):
        raise modifiers.unsupported("is neither try_cancel nor query_cancel")
    asks = modifiers.one_of(("is_canceled", _FIRST, *_AXES))
    modifiers.types(("pred",) if asks == "is_canceled" else ("b32",), (WIDE,))
    if asks == _FIRST:
        modifiers.one_of(("v4",))
    modifiers.finish()
    to, handle = modifiers.operands(2)
    if not isinstance(handle, Vector) or len(handle.elements) != 2:
        raise InputError(f"{modifiers.instruction.mnemonic} takes a register of 128 bits, not {handle}")
    if asks == _FIRST and not (isinstance(to, Vector) and len(to.elements) == 4):
        raise InputError(f"{modifiers.instruction.mnemonic} gives a vector of four, not {to}")
    wanted: tuple[tuple[Operand, int | None], ...]
    if isinstance(to, Vector):
        wanted = tuple(zip(to.elements, (0, 1, 2, None), strict=True))
    else:
        wanted = ((to, None if asks not in _AXES else _AXES.index(asks)),)

    def query(execution: Execution, active: Indices) -> None:
        answers = _answers(execution, handle, active)
        if asks == "is_canceled":
            found = np.array([answer.first is not None for answer in answers])
            execution.write(to, known(found.astype(np.uint64), 1), active)
            launches = ClusterLaunches.of(execution)
            if launches is not None and not found.all():
                launches.note_end(execution, active[~found])
            return
        taken = np.array([answer.first is not None for answer in answers])
        for element, axis in wanted:
            if isinstance(element, Sink):
                continue
            if axis is not None and taken.any():
                numbers = [answer.first[axis] for answer in answers if answer.first is not None]
                execution.write(element, known(np.array(numbers, dtype=np.uint64), 32), active[taken])
            rest = active if axis is None else active[~taken]
            if len(rest):
                nothing = execution.store.undefined(len(rest), 32, PLACE_OF_NONE)
                execution.write_terms(element, nothing, 32, rest)

    return query


def _answers(execution: Execution, handle: Vector, active: Indices) -> list[Answer]:
    """Return what each thread's 128 bits say."""
    launches, name = ClusterLaunches.of(execution), execution.instruction.mnemonic
    low, high = (execution.terms(element, 64, active).tolist() for element in handle.elements)
    found = []
    for pair in zip(low, high, strict=True):
        answer = None if launches is None else launches.told(*pair)
        if answer is None:
            execution.unsupported(f"{name} of a value that is not the answer to one request")
        found.append(answer)
    return found


HANDLERS: Decoders = MappingProxyType({"clusterlaunchcontrol": _decoded})
"""The instructions of this module."""
