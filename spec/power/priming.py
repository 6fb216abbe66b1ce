"""The priming automaton: when an accumulator, or a VSR associated with one, may be used.

An accumulator is unprimed at first. While ACC[k] is primed it alone holds defined data: what
VSR[4k..4k+3] hold is undefined. A program that the rules accept computes the same whether or not an
accumulator and its VSRs are one storage (``proofs.power.state``).

Conditions are arrays (…, 8), one truth value for each accumulator. An instruction's register numbers may
be Python ints, integer arrays or bit-vectors of at least 7 bits: the same formulas hold for all of them.

Source: OpenPOWER "Power Vector Intrinsics" chapter on MMA; Moreira et al. section II-B1; Power ISA 3.1
section 7.2. The two OpenPOWER versions word a write to a VSR in use differently; that the contents are
lost is what both allow.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from operator import or_
from types import MappingProxyType
from typing import Any

import numpy as np

from .. import legality
from ..algebra import Algebra, Array
from ..errors import InputError
from ..legality import Violation
from ..numpy_algebra import NumpyAlgebra
from .catalogue import Move, RankKUpdate
from .contradictions import ALIASING
from .forms import Operation
from .instructions import VSRS_PER_ACCUMULATOR, Instruction
from .targets import TARGETS, Target

ACCUMULATORS = 8

_OWNER_SHIFT = VSRS_PER_ACCUMULATOR.bit_length() - 1

SOURCE = "OpenPOWER Power Vector Intrinsics, MMA; Moreira et al. section II-B1"
"""Where the rules are stated."""


class Priming(Enum):
    """What an operation asks of its accumulator, and how it leaves it."""

    PRIMES = "primes"
    NEEDS_PRIMED = "needs primed"
    UNPRIMES = "needs primed, unprimes"

    @property
    def needs_primed(self) -> bool:
        """Whether the old contents are read."""
        return self is not Priming.PRIMES

    @property
    def leaves_primed(self) -> bool:
        """Whether the accumulator is primed afterwards."""
        return self is not Priming.UNPRIMES


def priming(operation: Operation) -> Priming | None:
    """Return what an operation does to its accumulator; None if it has none."""
    match operation:
        case RankKUpdate(accumulates=accumulates):
            return Priming.NEEDS_PRIMED if accumulates else Priming.PRIMES
        case Move.XXMFACC:
            return Priming.UNPRIMES
        case Move():
            return Priming.PRIMES
        case _:
            return None


def one_of(alg: Algebra, number: Any, count: int) -> Array:
    """Return the conditions (…, count) that a register number is 0, 1, and so on."""
    return alg.same(np.asarray(number)[..., None], np.arange(count))


def own(alg: Algebra, instruction: Instruction) -> Array:
    """Tell which accumulator is the instruction's operand."""
    number = instruction.accumulator
    return one_of(alg, -1 if number is None else number, ACCUMULATORS)


def owners(alg: Algebra, vsrs: Sequence[Any]) -> Array:
    """Tell which accumulators are associated with any of some VSRs; VSR[32..63] have none."""
    if not vsrs:
        return np.zeros(ACCUMULATORS, dtype=bool)
    return reduce(or_, (one_of(alg, np.asarray(vsr) >> _OWNER_SHIFT, ACCUMULATORS) for vsr in vsrs))


# -- the automaton
def _own_primed(alg: Algebra, primed: Array, instruction: Instruction) -> Array:
    """Return what is primed once the instruction has used its own accumulator."""
    effect = priming(instruction.operation)
    if effect is None:
        return primed
    return alg.where(own(alg, instruction), np.array(effect.leaves_primed), primed)


def unprimed(alg: Algebra, primed: Array, instruction: Instruction) -> Array:
    """Tell which accumulator is read although it is not primed."""
    effect = priming(instruction.operation)
    return ~primed & own(alg, instruction) & (effect is not None and effect.needs_primed)


def in_use(alg: Algebra, primed: Array, instruction: Instruction) -> Array:
    """Tell which primed accumulators have a VSR that the instruction reads."""
    moved = instruction.operation is Move.XXMTACC
    read = own(alg, instruction) if moved else owners(alg, instruction.vsrs_read)
    return primed & read


def clobbered(alg: Algebra, primed: Array, instruction: Instruction) -> Array:
    """Tell which accumulators have a VSR that the instruction writes, and are primed all the same.

    ``xxmfacc`` unprimes its own before it writes.
    """
    moved = instruction.operation is Move.XXMFACC
    written = own(alg, instruction) if moved else owners(alg, instruction.vsrs_written)
    return _own_primed(alg, primed, instruction) & written


Condition = Callable[[Algebra, Array, Instruction], Array]

CONDITIONS: Mapping[str, Condition] = MappingProxyType(
    {"unprimed": unprimed, "vsr-in-use": in_use, "vsr-clobber": clobbered}
)
"""What breaks each rule: which accumulators are misused by an instruction, given which are primed."""


def accepted(
    alg: Algebra, primed: Array, instruction: Instruction, rules: Iterable[str] = CONDITIONS
) -> Array:
    """Tell whether an instruction breaks none of the named rules (…); at least one is named."""
    broken = reduce(or_, (CONDITIONS[rule](alg, primed, instruction) for rule in rules))
    fine: Array = ~np.bitwise_or.reduce(broken, axis=-1)
    return fine


def after(alg: Algebra, primed: Array, instruction: Instruction, *, associated: bool = True) -> Array:
    """Return which accumulators are primed after an instruction, accepted or not.

    Parameters
    ----------
    alg : Algebra
        What the conditions are.
    primed : array (…, 8)
        Which accumulators are primed before.
    instruction : Instruction
        What is executed.
    associated : bool
        Whether accumulators are associated with VSRs, so that a write to a VSR can lose one's contents.
    """
    still = _own_primed(alg, primed, instruction)
    return still & ~clobbered(alg, primed, instruction) if associated else still


# -- programs
@dataclass(frozen=True)
class Step:
    """An instruction in its place in a program.

    Attributes
    ----------
    instruction : Instruction
        What is executed, with concrete operands.
    primed : array (8,)
        Which accumulators are primed before it.
    """

    instruction: Instruction
    primed: Array


_ALGEBRA = NumpyAlgebra()


def _misused(rule: str, step: Step) -> list[int]:
    return [int(k) for k in np.flatnonzero(CONDITIONS[rule](_ALGEBRA, step.primed, step.instruction))]


def _listed(vsrs: Iterable[int], accumulator: int) -> str:
    return ", ".join(f"vs{vsr}" for vsr in vsrs if vsr >> _OWNER_SHIFT == accumulator)


def _unprimed(step: Step, _: Target) -> Iterable[str]:
    for accumulator in _misused("unprimed", step):
        yield f"{step.instruction} needs a{accumulator} primed, which it is not"


def _vsr_in_use(step: Step, target: Target) -> Iterable[str]:
    if not target.separate_accumulators:
        for accumulator in _misused("vsr-in-use", step):
            read = _listed(step.instruction.vsrs_read, accumulator)
            yield f"{step.instruction} reads {read} while a{accumulator} is primed"


def _vsr_clobber(step: Step, target: Target) -> Iterable[str]:
    if not target.separate_accumulators:
        for accumulator in _misused("vsr-clobber", step):
            written = _listed(step.instruction.vsrs_written, accumulator)
            yield f"{step.instruction} writes {written} and so loses what a{accumulator} holds"


RULES: tuple[legality.Rule[Step, Target], ...] = (
    legality.Rule(
        "unprimed",
        "an accumulator is primed before an accumulating rank-k update or xxmfacc reads it",
        SOURCE,
        _unprimed,
        (ALIASING,),
    ),
    legality.Rule(
        "vsr-in-use",
        "no VSR associated with a primed accumulator is read; its value is undefined",
        SOURCE,
        _vsr_in_use,
        (ALIASING,),
    ),
    legality.Rule(
        "vsr-clobber",
        "no VSR associated with a primed accumulator is written; the accumulator's contents are lost",
        SOURCE,
        _vsr_clobber,
        (ALIASING,),
    ),
)
"""Every rule on a sequence of instructions; those on VSRs bind where accumulators are associated with VSRs.

Where accumulators are registers of their own (GCC and LLVM for ``future``), the first rule still holds:
nothing but an instruction that primes gives an accumulator defined contents.
"""


@dataclass(frozen=True)
class Misuse:
    """A broken rule in a program.

    Attributes
    ----------
    position : int
        Index of the instruction.
    violation : Violation
        The rule, and what is wrong.
    """

    position: int
    violation: Violation

    def __str__(self) -> str:
        return f"instruction {self.position}: {self.violation}"


def check_program(instructions: Iterable[Instruction], target: Target = TARGETS["power10"]) -> list[Misuse]:
    """Return every broken rule of a program, in the order of execution; no accumulator is primed at first.

    Parameters
    ----------
    instructions : iterable of Instruction
        In the order they are executed, loops unrolled.
    target : Target
        The processor.

    Raises
    ------
    InputError
        If an instruction has no operands.
    """
    primed: Array = np.zeros(ACCUMULATORS, dtype=bool)
    found = []
    for position, instruction in enumerate(instructions):
        if instruction.operands is None:
            raise InputError(f"instruction {position} of the program, {instruction}, has no operands")
        step = Step(instruction, primed)
        found += [Misuse(position, violation) for violation in legality.violations(RULES, step, target)]
        primed = after(_ALGEBRA, primed, instruction, associated=not target.separate_accumulators)
    return found
