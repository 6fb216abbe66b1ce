"""The table of an operand names the bits from which the executor reads each element."""

from __future__ import annotations

import numpy as np
import pytest

from mmaproof.spec.errors import InputError
from mmaproof.spec.numpy_algebra import NumpyAlgebra
from mmaproof.spec.power.assembly import parse
from mmaproof.spec.power.catalogue import FAMILIES, Family
from mmaproof.spec.power.operand_tables import OPERANDS, operand_table
from mmaproof.spec.power.registers import accumulator_fragment, x_fragment, y_fragment

families = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
operands = pytest.mark.parametrize("operand", OPERANDS)


@families
@operands
def test_the_executor_reads_each_element_where_the_table_says(family: Family, operand: str) -> None:
    table = operand_table(parse(family.name), operand)
    fragment = {
        "x": x_fragment(family), "y": y_fragment(family), "acc": accumulator_fragment(family.result)
    }[operand]  # fmt: skip
    registers = np.random.default_rng(0).integers(0, 256, (table.owners.extent, 16), dtype=np.uint8)
    elements = fragment.gather(NumpyAlgebra(), registers)
    bits = np.unpackbits(registers, axis=-1)  # bit 0 is the most significant
    assert len(table) == elements.size
    for row in table.rows():
        register, byte, bit, *place = (row[name] for name in ("register", "byte", "bit", *table.coordinates))
        digits = bits[register, bit : bit + table.bits]
        assert int("".join(map(str, digits)), 2) == elements[tuple(place)]
        assert byte == bit // 8


@families
@operands
def test_the_elements_of_all_registers_are_all_elements(family: Family, operand: str) -> None:
    table = operand_table(parse(family.name), operand)
    parts = [table.held_by("register", number).rows() for number in range(table.owners.extent)]
    assert [row for part in parts for row in part] == table.rows()
    assert all(len(part) * table.bits == 128 for part in parts)


def test_an_owner_of_another_kind_is_refused() -> None:
    table = operand_table(parse("xvf64ger"), "x")
    with pytest.raises(InputError, match="x of xvf64ger is held by registers; there is no lane 0"):
        table.held_by("lane", 0)
    with pytest.raises(InputError, match="there is no register 2; registers are 0 to 1"):
        table.held_by("register", 2)
