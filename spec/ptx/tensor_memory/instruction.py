"""An instruction of ``tcgen05`` as users ask about it: also its descriptors, its layouts and its numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...algebra import Array
from ...element_table import ElementTable
from ...errors import InputError, UnsupportedError
from ...instruction_set import Description, Judgement, described
from ...legality import Note, NoteKind, Violation
from ..asynchronous.instruction import AsynchronousInstruction
from ..asynchronous.instruction import read as read_asynchronous
from ..asynchronous.operands import Given
from ..asynchronous.rows import Form
from ..choices import choices_named
from ..operands import Address, Integer, Vector
from ..targets import target_named
from . import descriptor_rules, shared_descriptor
from .descriptor_rules import Described
from .instruction_descriptor import InstructionDescriptor, table
from .product_form import ProductForm, product_form
from .register_shapes import SHAPES, RegisterTile
from .shared_descriptor import Pointing

if TYPE_CHECKING:
    from ...operand_arrays import Observer
    from .product_arrays import WrittenProduct

_DESCRIPTORS = ("a", "b-desc", "s-desc")


def read(text: str, declarations: Mapping[str, str] | None = None) -> TensorMemoryInstruction | None:
    """Read an instruction of tensor memory; None where it is none.

    Raises
    ------
    InputError
        If what stands behind the mnemonic is no list of operands.
    """
    found = read_asynchronous(text, declarations)
    if found is None or found.mnemonic.partition(".")[0] != "tcgen05":
        return None
    return TensorMemoryInstruction(found.written)


@dataclass(frozen=True)
class TensorMemoryInstruction(AsynchronousInstruction):
    """An instruction of tensor memory; see `Instruction`."""

    def legal(self, target: str | None = None, version: str | None = None) -> Judgement:
        """Judge it, and the descriptors that are numbers."""
        judged = super().legal(target, version)
        if judged.violations:
            return judged
        more = tuple(self.wrong_descriptors(judged.target))
        return Judgement(judged.target, more, (*judged.notes, *self._notes()))

    def wrong_descriptors(self, target: str) -> Iterator[Violation]:
        """Yield what is wrong of descriptors that are numbers, where the mnemonic and operands are legal."""
        chosen = target_named(target)
        if (described := self._described) is not None:
            yield from descriptor_rules.violations(described, chosen)
        for name in _DESCRIPTORS:
            if isinstance(operand := self.operand(name), Integer):
                yield from shared_descriptor.violations(Pointing(name, operand.value % (1 << 64)), chosen)

    def _notes(self) -> Iterator[Note]:
        if self._described is not None:
            yield from descriptor_rules.doubts(self._described)
        elif self.written.operands is not None and self.mnemonic.startswith("tcgen05.mma"):
            text = "M, N and types are in idesc, a register here: what is legal of them is not judged"
            yield Note(NoteKind.SCOPE, text)

    def operand(self, name: str) -> Given | None:
        """Return an operand as it is written; None where it is not."""
        form, given = self.written.form, self.written.operands or ()
        if form is None:
            return None
        return dict(zip((place.name for place in form.places_of(given)), given, strict=False)).get(name)

    @cached_property
    def _described(self) -> Described | None:
        """The product with a descriptor that is a number."""
        idesc = self.operand("idesc")
        if not isinstance(idesc, Integer):
            return None
        return Described(self._product(self._form()), idesc.value % (1 << 32))

    def _product(self, form: Form) -> ProductForm:
        in_memory = isinstance(self.operand("a"), Address) or "ashift" in form.modifiers
        return product_form(form.row.head, form.modifiers, a_in_tensor_memory=in_memory)

    def _tile(self, form: Form) -> RegisterTile:
        shape = next(SHAPES[word] for word in form.modifiers if word in SHAPES)
        count = next(int(word[1:]) for word in form.modifiers if word[0] == "x" and word[1:].isdigit())
        return RegisterTile(shape, count, not {"pack::16b", "unpack::16b"}.isdisjoint(form.modifiers))

    # -- layouts
    def laid_out(self, target: str | None = None) -> tuple[str, ...]:
        """Return the operands that have a layout."""
        from .layout_tables import operands_of

        form = self._form()
        match _operation(form):
            case "mma":
                return operands_of(self._product(form))
            case "ld" | "st":
                return ("r",)
            case "cp":
                return ("taddr",)
        return ()

    def layout(self, operand: str, target: str | None = None) -> ElementTable:
        """Return where an operand of a product, a load, a store or a copy is; see `layout_tables`.

        A of a mnemonic alone is in shared memory, with ``cells`` (``a cells m=128 n=64``) in tensor memory.

        Raises
        ------
        InputError
            If there is no such operand, or a field is wrong.
        UnsupportedError
            If no source says where it is.
        """
        from .copies import shape_named
        from .layout_tables import copy_table, product_table, register_table

        form = self._form()
        if _operation(form) == "mma":
            product, words = self._product(form), operand.split()
            if "cells" in words[1:]:
                words.remove("cells")
                product = product_form(form.row.head, form.modifiers, a_in_tensor_memory=True)
            idesc = self._described
            return product_table(product, " ".join(words), None if idesc is None else idesc.word)
        if operand not in self.laid_out():
            known = ", ".join(self.laid_out()) or "none that has a layout"
            raise InputError(f"{form.mnemonic} has no operand {operand[:40]!r}; it has {known}")
        if _operation(form) == "cp":
            return copy_table(form.mnemonic, shape_named(form.modifiers))
        return register_table(form.mnemonic, self._tile(form))

    # -- numbers
    def execute(
        self,
        arrays: Mapping[str, Array],
        *,
        as_registers: bool,
        rounding: str | None,
        choices: Sequence[str],
        target: str | None = None,
        observer: Observer | None = None,
    ) -> dict[str, Array]:
        """Execute a product, a load, a store or a copy on arrays; see `product_arrays` and `moves`."""
        from . import moves, product_arrays
        from .copies import require_one_memory, shape_named

        if rounding is not None:
            raise InputError("tcgen05 spells no rounding: --rounding is not for it")
        form, chosen = self._form(), choices_named(list(choices))
        match _operation(form):
            case "mma":
                return product_arrays.execute(
                    self._written_product(form), arrays, chosen, as_registers=as_registers, observer=observer
                )
            case "ld":
                return moves.executed_load(form.mnemonic, self._tile(form), arrays)
            case "st":
                return moves.executed_store(form.mnemonic, self._tile(form), arrays)
            case "cp":
                require_one_memory(2 if "cta_group::2" in form.modifiers else 1)
                widened = next((word for word in form.modifiers if "_p" in word and word[0] == "b"), "")
                fields = shared_descriptor.decoded(self._number("s-desc") % (1 << 64))
                return moves.executed_copy(
                    form.mnemonic, shape_named(form.modifiers), fields, widened, arrays
                )
        if _operation(form) in ("shift", "red"):
            raise UnsupportedError(f"{form.mnemonic} is not executed: no source says enough of what it does")
        raise UnsupportedError(f"{form.mnemonic} acts together with other threads: it is not executed alone")

    def _number(self, name: str, default: int | None = None) -> int:
        """Return an operand that is a number.

        Raises
        ------
        InputError
            If it is none.
        """
        operand = self.operand(name)
        if operand is None and default is not None:
            return default
        if not isinstance(operand, Integer):
            raise InputError(f"{name} is {operand}: to execute the instruction, spell it as a number")
        return operand.value

    def _written_product(self, form: Form) -> WrittenProduct:
        """Return the product that the text says.

        Raises
        ------
        InputError
            If a descriptor is needed and no number, or does not suit the instruction.
        """
        from .multiplication import multiplication
        from .product import Modifiers
        from .product_arrays import WrittenProduct
        from .zero_columns import zero_columns

        described = self._described
        if described is None:
            raise InputError(f"idesc of {form.mnemonic} must be a number: it says M, N and types")
        if wrong := list(self.wrong_descriptors(self._newest_target)):
            raise InputError(f"{form.mnemonic} is illegal: {'; '.join(map(str, wrong))}")
        fields = InstructionDescriptor.decoded(described.form.kind.name, described.word)
        zeros = self.operand("zero-column-mask")
        columns = None
        if zeros is not None:
            columns = zero_columns(self._number("zero-column-mask") % (1 << 64), fields.m, fields.n)
        modifiers = Modifiers(
            bool(self._number("enable-input-d", 1)), self._number("scale-input-d", 0), columns
        )
        descriptors = {
            name[0]: shared_descriptor.decoded(operand.value % (1 << 64))
            for name in ("a", "b-desc")
            if isinstance(operand := self.operand(name), Integer)
        }
        masked = isinstance(self.operand("disable-output-lane"), Vector)
        return WrittenProduct(multiplication(described.form, fields), modifiers, descriptors, masked)

    # -- in words
    def formula(self, target: str | None = None) -> tuple[str, ...]:
        """Return what it does; of a product with a descriptor that is a number its formula."""
        form = self._form()
        if self._described is None or self._described.fields is None:
            return form.row.effect
        from ..choices import Choices
        from ..formula import product_formula
        from .multiplication import multiplication

        product = multiplication(self._described.form, self._described.fields)
        text = product_formula(product, Choices(), rounds=False)
        m, n, _ = product.shape
        over = "" if product.is_integer else " over the reals"
        return (f"{text}{over}", f"i = 0..{m - 1}, j = 0..{n - 1}", *form.row.effect)

    def describe(self) -> Description:
        """Say what it means and what constrains it."""
        form, found = self._form(), super().describe()
        if _operation(form) != "mma":
            return found
        asked = self._product(form)
        fields = (
            f"{row['bits']}: {row['field'] or 'reserved'}, {row['values']}"
            for row in table(asked.kind.name).rows()
        )
        sections = {
            "Operands": tuple(map(str, form.places)), "Semantics": self.formula(),
            "Instruction descriptor": tuple(fields),
        }  # fmt: skip
        rules = (f"{rule.id}: {rule.reason} ({rule.source})" for rule in descriptor_rules.RULES)
        more = (f"{rule.id}: {rule.reason} ({rule.source})" for rule in shared_descriptor.RULES)
        known = dict(found.sections)["Legality rules"]
        return described(form.mnemonic, self.row(), sections, (*known, *rules, *more))


def _operation(form: Form) -> str:
    """Return the word behind ``tcgen05.``, of reducing loads ``red``."""
    return "red" if form.row.head == "tcgen05.ld.red" else form.row.head.split(".")[1]
