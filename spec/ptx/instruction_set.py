"""The PTX warp-level matrix instructions as an `InstructionSet`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..algebra import Array
from ..element_table import ElementTable
from ..errors import InputError
from ..instruction_set import Description, Judgement
from ..legality import Contradiction
from . import legality, tables
from .assembly import parse
from .catalogue import ALL_FORMS, variants
from .choices import OPEN_POINTS, PRESETS, choices_named
from .declarations import Declarations
from .leniency import may_be_taken
from .operands import Instruction
from .signatures import signature
from .targets import NEWEST, TARGETS, spell_version, target_named, version_named


class WarpMatrixInstructions:
    """wmma, mma, mma.sp, ldmatrix, stmatrix and movmatrix; see `InstructionSet`."""

    name = "ptx"
    targets = tuple(TARGETS)
    default_target = "sm_120a"
    open_points = OPEN_POINTS
    presets = PRESETS
    tables = {  # noqa: RUF012 - the protocol's attribute is read only
        "instructions": tables.rows,
        "rules": tables.rule_rows,
        "contradictions": tables.contradiction_rows,
        "machine-code": tables.machine_code_rows,
    }

    def instructions(self) -> list[dict[str, str]]:
        """Return one row for each legal variant."""
        return [
            {"mnemonic": str(variant), "operands": ", ".join(map(str, signature(form, variant)))}
            for form in ALL_FORMS
            for variant in variants(form)
        ]

    def describe(self, text: str) -> Description:
        """Describe a legal variant."""
        from .formula import semantics

        variant = parse(text).variant
        form = legality.form_of(variant)
        row = tables.rows()[ALL_FORMS.index(form)]
        rules = (f"{rule.id}: {rule.reason} ({rule.source})" for rule in legality.RULES)
        return Description(
            str(variant),
            (
                ("Operands", tuple(map(str, signature(form, variant)))),
                ("Table row", tuple(f"{title}: {cell}" for title, cell in row.items() if cell)),
                ("Semantics", tuple(semantics(variant))),
                ("Legality rules", tuple(rules)),
            ),
        )

    def judge(self, text: str, target: str | None, version: str | None) -> Judgement:
        """Judge an instruction in a module of a target and version (by default the newest)."""
        return self.judge_declared(text, None, target, version)

    def judge_declared(
        self, text: str, declarations: Declarations | None, target: str | None, version: str | None
    ) -> Judgement:
        """Judge an instruction whose names were declared, where declarations are given.

        Raises
        ------
        InputError
            If the text is no instruction, or the target or version is unknown.
        """
        chosen = target_named(target or self.default_target)
        ptx = NEWEST if version is None else version_named(version)
        instruction = parse(text, declarations)
        wrong = legality.violations(instruction, chosen, ptx)
        doubts = may_be_taken(instruction, legality.Module(chosen, ptx), wrong) if wrong else ()
        return Judgement(chosen.name, tuple(wrong), tuple(map(_doubted, doubts)))

    def execute(
        self,
        text: str,
        arrays: Mapping[str, Array],
        *,
        as_registers: bool,
        rounding: str | None,
        choices: Sequence[str],
        target: str | None = None,
    ) -> dict[str, Array]:
        """Execute a product, or a matrix move, on arrays."""
        from .execution import execute

        if rounding is not None:
            raise InputError(
                "PTX spells the rounding as a modifier (.rn, .rz, .rm, .rp): --rounding is not for it"
            )
        instruction = parse(text)
        self._require_legal(instruction)
        return execute(instruction, arrays, choices_named(list(choices)), as_registers=as_registers)

    def _require_legal(self, instruction: Instruction) -> None:
        """Refuse what no module may contain: the newest target that has everything judges."""
        wrong = legality.violations(instruction, target_named(self.default_target), NEWEST)
        if wrong:
            where = f"{self.default_target} (PTX {spell_version(NEWEST)})"
            raise InputError(f"{instruction.variant} is illegal on {where}: {'; '.join(map(str, wrong))}")

    def layout(self, text: str, operand: str, target: str | None = None) -> ElementTable:
        """Return the layout of an operand of a legal variant."""
        from .layouts import operand_table

        return operand_table(parse(text).variant, operand)


def _doubted(contradiction: Contradiction) -> str:
    claims = "; ".join(f"{who}: {what}" for who, what in contradiction.claims)
    return f"the assembler may take it all the same, contradiction {contradiction.id} ({claims})"


INSTRUCTION_SET = WarpMatrixInstructions()
