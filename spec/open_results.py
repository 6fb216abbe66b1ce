"""What an instruction set leaves open about results: values that exist, but that no document states.

A verifier must allow for every value that such a result may have. Machines make their unknown values of
these rows, and the documents list the same rows.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OpenResult:
    """A result, or bits of one, that the documents do not state.

    Attributes
    ----------
    name : str
        What it is the value of, for a message: ``%warpid``, ``a quotient by zero``.
    instructions : tuple of str
        What gives it: opcodes, special registers, or a class of instructions in words.
    bits : str
        What is open, and what is not.
    source : str
        Where the documents say so, or are silent.
    undefined : bool
        Whether it is no value at all: who stores it stores what nobody has computed.
    """

    name: str
    instructions: tuple[str, ...]
    bits: str
    source: str
    undefined: bool = False

    def __str__(self) -> str:
        return self.name


COMPUTED_NAN = OpenResult(
    "the bits of a computed NaN",
    ("floating-point arithmetic", "min", "max", "neg", "abs", "cvt", "approximations"),
    "sign and fraction; that it is a NaN is known, so that comparisons as floats are",
    "PTX ISA 9.1 sections 9.7.3 and 9.7.4: single precision returns an unspecified NaN, on which programs "
    "should not rely",
)
"""Of instruction sets that do not say which NaN arithmetic returns. The Power ISA does."""


PLACEMENT = OpenResult(
    "where arrays and variables lie",
    ("integer arithmetic on addresses", "comparisons of addresses", "stores of addresses as data"),
    "all bits of an address above its alignment, the order and the difference of two arrays or variables; "
    "both ways of a branch on them are judged",
    "PTX ISA 9.1 section 5.1 and the ELFv2 ABI say of no array at which address it is",
)
"""Of addresses that a kernel is given: known are their alignment, and that they are not null."""
