"""PTO as an `InstructionSet`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..algebra import Array
from ..element_table import ElementTable
from ..errors import InputError
from ..instruction_set import Description, Judgement, described, refuse_declarations
from . import legality, tables
from .assembly import only_instruction, parse_module
from .catalogue import OPERATIONS, Operation, operation_named
from .choices import OPEN_POINTS, PRESETS, choices_named
from .formula import semantics
from .module_legality import judge_module
from .resolution import resolve, resolve_known
from .targets import A5, PROFILES, TARGETS, Profile, profile_named
from .text.module import Module
from .text.statements import InstructionStatement, TextualForm
from .text.syntax import Region

_BARE = re.compile(r"\s*((?:pto\.)?[A-Za-z][\w.]*)\s*;?\s*", re.ASCII)
"""An operation without operands."""

if TYPE_CHECKING:
    from ..operand_arrays import Observer


@dataclass(frozen=True)
class TileInstruction:
    """A statement, or a text of some, which only `legal` takes; see `Instruction`.

    Attributes
    ----------
    text : Module
        What was written.
    """

    text: Module

    @cached_property
    def statement(self) -> InstructionStatement:
        """The instruction, which stands alone.

        Raises
        ------
        InputError
            If it does not.
        """
        return only_instruction(self.text)

    @property
    def mnemonic(self) -> str:
        """The operation's name."""
        return self.statement.operation.name

    def legal(self, target: str | None = None, version: str | None = None) -> Judgement:
        """Judge every statement; the version is of no concern."""
        return judge_module(self.text, _profile(self.text, target))

    def laid_out(self, target: str | None = None) -> tuple[str, ...]:
        """Return the operands whose extents and types are known."""
        from .operand_tables import known_tiles

        return known_tiles(self.statement, _profile_or_default(target))

    def layout(self, operand: str, target: str | None = None) -> ElementTable:
        """Return where each element of an operand lies in its buffer."""
        from .operand_tables import operand_table

        return operand_table(self.statement, operand, _profile_or_default(target))

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
        """Execute a product, or a move, on arrays."""
        from .operand_arrays import execute

        if rounding is not None:
            raise InputError("PTO has no rounding modes: --rounding is not for it")
        profile = _profile_or_default(target)
        resolved = resolve(self.statement, profile)
        if wrong := legality.judge(resolved).violations:
            reasons = "; ".join(map(str, wrong))
            raise InputError(f"{resolved.operation} is illegal on {profile}: {reasons}")
        return execute(
            resolved, arrays, choices_named(choices, profile), as_registers=as_registers, observer=observer
        )

    def formula(self, target: str | None = None) -> tuple[str, ...]:
        """Return what the operation means on a profile."""
        return tuple(semantics(resolve_known(self.statement, _profile_or_default(target))))

    def row(self) -> dict[str, str]:
        """Return the operation's row."""
        return tables.row(self.statement.operation)

    def describe(self) -> Description:
        """Describe the operation, and what it means on each profile."""
        from .error_bounds import CONDITIONS, error_bounds

        operation = self.statement.operation
        rules = [
            f"{rule.id} ({_kinds(rule, operation)}): {rule.reason} ({rule.source})"
            for rule in legality.RULES
            if _kinds(rule, operation)
        ]
        profiles = [each for each in PROFILES.values() if each.microscaling or not operation.microscaled]
        meanings = {f"Semantics on {profile}": self.formula(profile.name) for profile in profiles}
        bounds = [line for each in profiles for line in error_bounds(resolve_known(self.statement, each))]
        meanings["Error bounds"] = (*bounds, CONDITIONS) if bounds else ()
        return described(f"{operation} {_operands(operation)}", self.row(), meanings, rules)


class TileInstructions:
    """Matrix and matrix-vector products of PTO tiles, and the moves of a GEMM; see `InstructionSet`."""

    name = "pto"
    title = "Ascend PTO, tile products"
    targets = TARGETS
    default_target = A5.name
    open_points = OPEN_POINTS
    presets = PRESETS
    tables = {  # noqa: RUF012 - the protocol's attribute is read only
        "instructions": tables.rows,
        "rules": tables.rule_rows,
        "contradictions": tables.contradiction_rows,
        "types": tables.type_rows,
        "buffers": tables.buffer_rows,
        "tiles": tables.alias_rows,
        "blocks": tables.block_rows,
    }

    def instructions(self) -> list[dict[str, str]]:
        """Return one row for each operation."""
        return [{"mnemonic": op.name, "operands": _operands(op)} for op in OPERATIONS.values()]

    def read(self, text: str, declarations: str | None = None) -> TileInstruction:
        """Read a statement, a text of some, or the bare name of an operation."""
        refuse_declarations(self.name, declarations)
        if (bare := _BARE.fullmatch(text)) is None:
            return TileInstruction(parse_module(text))
        named = InstructionStatement(operation_named(bare[1]), TextualForm.F2, (), ())
        return TileInstruction(Module(Region((named,)), explicit=False))


def _profile_or_default(target: str | None) -> Profile:
    return profile_named(target or TileInstructions.default_target)


def _profile(module: Module, target: str | None) -> Profile:
    """Return the profile that is asked for, or that a module says it is for."""
    if target is not None or (written := module.target) is None:
        return _profile_or_default(target)
    if written not in TileInstructions.targets:
        known = ", ".join(PROFILES)
        raise InputError(
            f"the module is for {written!r} (pto.target_arch), which is no target: name one of {known}"
        )
    return profile_named(written)


def _operands(operation: Operation) -> str:
    return f"ins({', '.join(operation.inputs)}) outs({operation.output})"


def _kinds(rule: legality.StatementRule, operation: Operation) -> str:
    kinds: dict[str, list[str]] = {}
    for profile in PROFILES.values():
        if (kind := rule.kind(profile, operation)) is not None:
            kinds.setdefault(kind, []).append(profile.name)
    if len(kinds) == 1 and len(next(iter(kinds.values()))) == len(PROFILES):
        return next(iter(kinds))
    return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in kinds.items())


INSTRUCTION_SET = TileInstructions()
