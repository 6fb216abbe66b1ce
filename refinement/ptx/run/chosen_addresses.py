"""Addresses selected by bits of the data, as in one load of ``x > 0 ? a[i] : b[i]``."""

from __future__ import annotations

import numpy as np

from ....spec.ptx.operands import Address, Register
from ...analysis.origins import Origin, Origins
from ...conditions.ite_constants import Parted, parted
from ..idioms.branch_regions import LOADS
from ..memory.table_lookups import functions_of, is_of_small_element
from ..registers.threads import Indices
from ..registers.values import KNOWN
from ..state.execution import Execution
from ..text.module import InstructionStatement


def chosen_base(
    execution: Execution, instruction: InstructionStatement, threads: Indices, origins: Origins
) -> tuple[Register, Parted] | None:
    """Return the register that an address is made of, and the threads whose address bits choose.

    Returns None where there are none. Bits that depend on scalars alone are cases, and undefined ones are no
    choice; a load at a place that one small element tells is a look-up in a table.
    """
    place = next((operand for operand in instruction.operands if isinstance(operand, Address)), None)
    if place is None or not isinstance(place.base, Register):
        return None
    held = execution.registers.get(place.base.name)
    if held is None or held.terms is None:
        return None
    terms = held.terms[threads]
    data = np.flatnonzero(terms != KNOWN)
    if instruction.opcode in LOADS:
        data = data[~is_of_small_element(execution, terms[data])]
    if not len(data):
        return None
    found = parted(functions_of(execution), terms[data])
    of_bits = origins.values(found.bits)
    some = (of_bits & Origin.UNDEFINED == 0) & (of_bits != Origin.SCALAR)
    if not some.any():
        return None
    places, *others = (each[some] for each in found)
    return place.base, Parted(data[places], *others)
