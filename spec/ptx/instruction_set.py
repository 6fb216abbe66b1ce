"""The PTX matrix instructions of warps and warpgroups as an `InstructionSet`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from ..algebra import Array
from ..element_table import ElementTable
from ..errors import InputError
from ..instruction_set import Description, Judgement, described
from ..legality import Contradiction, Note, NoteKind
from . import legality, tables
from .assembly import parse
from .catalogue import ALL_FORMS
from .choices import OPEN_POINTS, PRESETS, choices_named
from .declarations import Declarations, read_declarations
from .instructions import Instruction
from .leniency import may_be_taken
from .opcode_table import OPCODES, opcode_of
from .other_instructions import OtherInstruction
from .signatures import signature, signatures
from .targets import NEWEST, TARGETS, spell_version, target_named, version_named
from .variant import Variant
from .variant_rules import form_of

if TYPE_CHECKING:
    from ..operand_arrays import Observer
    from .asynchronous.instruction import AsynchronousInstruction
    from .scalar.instruction import ScalarInstruction


@dataclass(frozen=True)
class PtxInstruction:
    """A matrix instruction of a warp or a warpgroup; see `Instruction`.

    Attributes
    ----------
    written : Instruction
        The variant, and the operands that were given.
    """

    written: Instruction

    @property
    def mnemonic(self) -> str:
        """The variant."""
        return str(self.written.variant)

    def legal(self, target: str | None = None, version: str | None = None) -> Judgement:
        """Judge it in a module of a target and version (by default the newest)."""
        chosen = target_named(target or self._newest_target)
        ptx = NEWEST if version is None else version_named(version)
        wrong = legality.violations(self.written, chosen, ptx)
        doubts = may_be_taken(self.written, legality.Module(chosen, ptx), wrong) if wrong else ()
        return Judgement(chosen.name, tuple(wrong), tuple(map(_doubted, doubts)))

    def laid_out(self, target: str | None = None) -> tuple[str, ...]:
        """Return the operands of a legal variant that have a layout."""
        from .operand_tables import operands_of

        return operands_of(self.written.variant)

    def layout(self, operand: str, target: str | None = None) -> ElementTable:
        """Return the layout of an operand of a legal variant."""
        from .operand_tables import operand_table

        return operand_table(self.written.variant, operand)

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
        """Execute a product, or a matrix move, on arrays."""
        from .operand_arrays import execute

        if rounding is not None:
            raise InputError(
                "PTX spells the rounding as a modifier (.rn, .rz, .rm, .rp): --rounding is not for it"
            )
        self._require_legal()
        return execute(
            self.written, arrays, choices_named(list(choices)), as_registers=as_registers, observer=observer
        )

    @property
    def _newest_target(self) -> str:
        """The newest target that has every form of the instruction."""
        opcode, newest = (
            OPCODES[self.written.variant.family.partition(".")[0]],
            MatrixInstructions.default_target,
        )
        return newest if opcode.on(target_named(newest)) else opcode.newest_target

    def _require_legal(self) -> None:
        """Refuse what no module may contain: the newest target that has every form judges."""
        newest = self._newest_target
        if wrong := legality.violations(self.written, target_named(newest), NEWEST):
            where = f"{newest} (PTX {spell_version(NEWEST)})"
            raise InputError(f"{self.mnemonic} is illegal on {where}: {'; '.join(map(str, wrong))}")

    def formula(self, target: str | None = None) -> tuple[str, ...]:
        """Return what a legal variant does, on every target that has it."""
        from .formula import semantics

        return tuple(semantics(self.written.variant))

    def row(self) -> dict[str, str]:
        """Return the row of a legal variant."""
        return tables.row(form_of(self.written.variant))

    def describe(self) -> Description:
        """Describe a legal variant."""
        from .accumulation_bound import error_bounds
        from .formula import roundings

        variant = self.written.variant
        sections = {
            "Operands": tuple(operand_lines(variant)),
            "Semantics": self.formula(),
            "Roundings": tuple(roundings(variant)),
            "Error bounds": tuple(error_bounds(variant)),
        }
        rules = (f"{rule.id}: {rule.reason} ({rule.source})" for rule in legality.RULES)
        return described(self.mnemonic, self.row(), sections, rules)


def _rows(module: str, name: str) -> list[dict[str, str]]:
    """Return a table of instructions that are imported where they are asked for."""
    rows: Callable[[], list[dict[str, str]]] = getattr(import_module(f".{module}", __package__), name)
    return rows()


def _read_other(
    text: str, declared: Declarations | None
) -> ScalarInstruction | AsynchronousInstruction | None:
    """Read an instruction that is no product of registers; None if its opcode is not modelled."""
    from .asynchronous import instruction as asynchronous
    from .scalar import instruction as scalar
    from .tensor_memory import instruction as tensor_memory

    return (
        scalar.read(text, declared) or tensor_memory.read(text, declared) or asynchronous.read(text, declared)
    )


class MatrixInstructions:
    """wmma, mma, mma.sp, ldmatrix, stmatrix, movmatrix and wgmma; see `InstructionSet`."""

    name = "ptx"
    title = "NVIDIA PTX, matrix instructions of warps and warpgroups"
    targets = tuple(TARGETS)
    default_target = "sm_120a"
    open_points = OPEN_POINTS
    presets = PRESETS
    tables = {  # noqa: RUF012 - the protocol's attribute is read only
        "instructions": tables.rows,
        "rules": tables.rule_rows,
        "contradictions": tables.contradiction_rows,
        "machine-code": tables.machine_code_rows,
        "scalar": partial(_rows, "scalar.instruction", "rows"),
        "asynchronous": partial(_rows, "asynchronous.instruction", "rows"),
        "tensor-products": partial(_rows, "tensor_memory.tables", "kind_rows"),
        "descriptor-fields": partial(_rows, "tensor_memory.tables", "field_rows"),
    }

    def instructions(self) -> list[dict[str, str]]:
        """Return one row for each legal variant."""
        return [
            {"mnemonic": str(variant), "operands": ", ".join(map(str, signature(form, variant)))}
            for form in ALL_FORMS
            for variant in form.variants()
        ]

    def read(
        self, text: str, declarations: str | None = None
    ) -> PtxInstruction | ScalarInstruction | AsynchronousInstruction | OtherInstruction:
        """Read an instruction whose names were declared, where declarations are given."""
        declared = None if declarations is None else read_declarations(declarations)
        if (known := opcode_of(text)) is not None and not known[0].is_specified:
            return _read_other(text, declared) or OtherInstruction(*known)
        return PtxInstruction(parse(text, declared))


def operand_lines(variant: Variant) -> Iterator[str]:
    """Yield the operands of a legal variant; of a product of a warpgroup those with A in registers, too."""
    first, *others = signatures(form_of(variant), variant)
    yield from map(str, first)
    for other in others:
        yield f"or, with A in registers: {', '.join(operand.name for operand in other)}"
        yield from (str(operand) for operand in other if operand.name == "a")


def _doubted(contradiction: Contradiction) -> Note:
    claims = "; ".join(f"{who}: {what}" for who, what in contradiction.claims)
    text = f"the assembler may take it all the same, contradiction {contradiction.id} ({claims})"
    return Note(NoteKind.OBJECTION, text)


INSTRUCTION_SET = MatrixInstructions()
