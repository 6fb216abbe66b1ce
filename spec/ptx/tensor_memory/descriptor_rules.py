"""When an instruction descriptor suits a ``tcgen05.mma``: ptxas does not look, whatever is written.

Source: PTX ISA 9.1 section 9.7.16 (tables of kinds and shapes, instruction descriptor).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from ... import legality
from ...legality import Note, NoteKind, Violation
from ..targets import Target
from .instruction_descriptor import InstructionDescriptor, table
from .kinds import columns_of_d, rows_of_d
from .product_form import ProductForm

LONGEST_K = "sm_103a"
"""The target whose 4-bit products may have 96 columns of A."""


@dataclass(frozen=True)
class Described:
    """An instruction with the bits of its descriptor.

    Attributes
    ----------
    form : ProductForm
        The instruction.
    word : int
        The descriptor.
    """

    form: ProductForm
    word: int

    @property
    def fields(self) -> InstructionDescriptor | None:
        """What it says, None where some of it has no meaning."""
        kind = self.form.kind.name
        defect = next(table(kind).defects(self.word), None)
        return InstructionDescriptor.decoded(kind, self.word) if defect is None else None


Rule = legality.Rule[Described, Target]


def _meaning(described: Described, _: Target) -> Iterator[str]:
    fields = table(described.form.kind.name)
    for defect in fields.defects(described.word):
        yield f"{fields.name} {described.word:#010x}: {defect}"


def listed(numbers: tuple[int, ...]) -> str:
    """Spell numbers, many with the same distance shortly."""
    steps = {after - before for before, after in pairwise(numbers)}
    if len(numbers) > 4 and len(steps) == 1:
        return f"{numbers[0]} to {numbers[-1]} by {steps.pop()}"
    return ", ".join(map(str, numbers))


def _shape(described: Described, _: Target) -> Iterator[str]:
    form, fields = described.form, described.fields
    if fields is None:
        return
    rows = rows_of_d(form.kind, ws=form.ws, ctas=form.ctas, sparse=form.sparse)
    columns = columns_of_d(form.kind, ws=form.ws, ctas=form.ctas, sparse=form.sparse)
    for name, number, allowed in (("M", fields.m, rows), ("N", fields.n, columns)):
        if number not in allowed:
            yield f"{name} of {form.mnemonic} can't be {number}; there are {listed(allowed)}"
    narrow = 16 * form.ctas
    if fields.number("transpose_b") and form.kind.container == 8 and fields.n % narrow:
        yield f"B with neighbours along N needs an N that is a multiple of {narrow}, not {fields.n}"


def _types(described: Described, _: Target) -> Iterator[str]:
    fields = described.fields
    if fields is not None and "bf16" in (fields.named("a"), fields.named("b")) and fields.d != "f32":
        yield f"D of bf16 is f32, not {fields.d}"


def _sparse(described: Described, _: Target) -> Iterator[str]:
    form, fields = described.form, described.fields
    if fields is None:
        return
    if bool(fields.number("sparse")) != form.sparse:
        yield f"the bit of sparse A is {fields.number('sparse')}, and {form.mnemonic} says otherwise"
    selector, most = fields.number("selector"), 2 if form.sparse and form.kind.container >= 16 else 1
    if selector >= most:
        yield f"the sparsity selector of {form.mnemonic} is below {most}, not {selector}"


def _major(described: Described, _: Target) -> Iterator[str]:
    form, fields = described.form, described.fields
    if fields is None:
        return
    for role in "ab":
        if fields.number(f"transpose_{role}"):
            if role == "a" and form.a_in_tensor_memory:
                yield "A in tensor memory can't be transposed"
            elif fields.named(role) in ("e2m1", "e2m3", "e3m2"):
                yield f"{role.upper()} of {fields.named(role)} can't be transposed"


def _scale(described: Described, _: Target) -> Iterator[str]:
    form, fields = described.form, described.fields
    if fields is None or not form.vector:
        return
    for role in "ab":
        number = fields.number(f"scale_{role}_id")
        if number % form.vector:
            allowed = ", ".join(str(each) for each in range(0, 4, form.vector))
            yield f"the scale factors of {role.upper()} begin at byte {allowed}, not {number}"


def _shift(described: Described, _: Target) -> Iterator[str]:
    form, fields = described.form, described.fields
    if fields is None:
        return
    if fields.number("max_shift") and not form.ws:
        yield f"only .ws shifts columns of B, not {form.mnemonic}"
    if form.ashift and fields.m not in (128, 256):
        yield f".ashift needs an M of 128 or 256, not {fields.m}"


def _longer(described: Described, target: Target) -> Iterator[str]:
    form, fields = described.form, described.fields
    if fields is None or not fields.number("k96"):
        return
    if target.name != LONGEST_K:
        yield f"K = 96 needs {LONGEST_K}, not {target}"
    if form.sparse:
        yield "A sparse A has no K of 96"


_SOURCE = "PTX ISA 9.1 section 9.7.16, instruction descriptor"

RULES: tuple[Rule, ...] = (
    Rule("idesc-meaning", "every field has a code with a meaning, other bits are 0", _SOURCE, _meaning),
    Rule("idesc-shape", "M and N are those of the kind, the CTAs and .ws", f"{_SOURCE}; shapes", _shape),
    Rule("idesc-types", "D suits the types of A and B", f"{_SOURCE}; kinds", _types),
    Rule("idesc-sparse", "A is sparse where .sp is spelled; selectors are in range", _SOURCE, _sparse),
    Rule("idesc-major", "neighbours along M or N have 8 bits or more", f"{_SOURCE}; CuTe", _major),
    Rule("idesc-scale", "scale factors begin where a vector of them does", _SOURCE, _scale),
    Rule("idesc-shift", "shifts are of .ws, and of .ashift with whole lanes", _SOURCE, _shift),
    Rule("idesc-k96", f"K = 96 is dense and of {LONGEST_K}", _SOURCE, _longer),
)
"""Every rule on the instruction descriptor."""


def violations(described: Described, target: Target) -> list[Violation]:
    """Return every violated rule; an empty list means that nothing is known to be wrong."""
    return legality.violations(RULES, described, target)


def doubts(described: Described) -> tuple[Note, ...]:
    """Return what documents disagree on, or no document says."""
    return tuple(Note(NoteKind.UNDECIDED, text) for text in _doubted(described))


def _doubted(described: Described) -> Iterator[str]:
    form, fields = described.form, described.fields
    if fields is None:
        return
    a, b, n = fields.named("a"), fields.named("b"), fields.n
    if form.kind.name == "f16" and a != b:
        yield f"{a} x {b}: the manual's table lists the types side by side, no producer mixes them"
    if form.kind.is_integer and form.ctas == 1 and n == 24:
        yield "N = 24 of kind::i8: the manual has it, CuTe refuses it"
    if not form.ws and not form.kind.is_scaled and not form.kind.is_integer:
        step = 16 * form.ctas
        in_memory = form.a_in_tensor_memory and (form.ctas == 2 or fields.m == 128)
        sparse_bytes = form.sparse and form.kind.container == 8 and form.ctas == 1 and fields.m == 128
        if (in_memory or sparse_bytes) and n % step:
            yield f"N = {n}: the manual has it, CuTe asks for multiples of {step} here"
    if fields.number("k96"):
        yield "K = 96: the manual has 256xNx96 of two CTAs alone, CuTe more; places of scale factors are open"
    if form.vector == 2 and fields.values.get("scale") == "ue4m3":
        yield "two scale factors of ue4m3: mma has two of ue8m0 alone, no source says it of tcgen05"
