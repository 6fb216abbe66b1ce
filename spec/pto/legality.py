"""When a PTO statement is legal on a profile: every rule, with its kind, and what can't be decided.

Source: pto-isa headers and pages at 3186c381; ptoas at a56b18c3. Who checks a rule is said by its kind
(`enforcement.RuleKind`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..instruction_set import Judgement
from ..legality import Note, NoteKind, Subject, Violation
from .catalogue import OPERATIONS, OperationKind
from .resolution import Resolved
from .rules.bias_and_scales import BIAS_RULES
from .rules.enforcement import PtoRule, findings
from .rules.memory import MEMORY_RULES
from .rules.move_types import MOVE_TYPE_RULES
from .rules.moves import MOVE_RULES
from .rules.operand_order import ORDER_RULES
from .rules.products import PRODUCT_RULES, product_sizes
from .rules.tiles import ADDRESS_RULES, TILE_RULES, PlacedTile
from .targets import Profile
from .text.statements import InstructionStatement, TextualForm
from .tile import DYNAMIC, Tile

StatementRule = PtoRule[Resolved]

RULES: tuple[StatementRule, ...] = (
    *TILE_RULES, *PRODUCT_RULES, *ORDER_RULES, *BIAS_RULES, *MOVE_RULES, *MOVE_TYPE_RULES, *MEMORY_RULES,
)  # fmt: skip
"""Every rule on one statement; those on an address are `ADDRESS_RULES`."""


def judge(resolved: Resolved) -> Judgement:
    """Judge a statement as far as its tiles are known; notes say what only ptoas or only pages object to."""
    wrong: list[Violation] = []
    notes: list[Note] = []
    for kind, violation in findings(RULES, resolved, resolved.profile, resolved.operation):
        if kind.forbids:
            wrong.append(violation)
        else:
            notes.append(Note(NoteKind.OBJECTION, str(violation)))
    if not wrong:
        notes += (Note(NoteKind.UNDECIDED, reason) for reason in _undecided(resolved))
    return Judgement(resolved.profile.name, tuple(wrong), (*resolved.notes, *notes))


def _undecided(resolved: Resolved) -> Iterator[str]:
    if resolved.open:
        reasons = "; ".join(f"{role}: {reason}" for role, reason in resolved.open.items())
        yield reasons
    unknown = [
        f"{name} ({source})" for name, (size, source) in product_sizes(resolved).items() if size is DYNAMIC
    ]
    if unknown:
        yield f"{', '.join(unknown)}: known at run time only, so are sizes and pitches"
    written, operation = resolved.instruction, resolved.operation
    if operation.kind is not OperationKind.MOVE and operation.accumulates and written.form is TextualForm.F3:
        operands = written.operands()
        if resolved.profile.cube and {"c", "d"} <= operands.keys():
            c, d = operands["c"].name, operands["d"].name
            if c != d:
                yield (
                    f"{resolved.profile} accumulates in place and never reads {c}: "
                    f"it must be the storage of {d} (contradiction 18)"
                )


def tile_violations(name: str, tile: Tile, profile: Profile) -> tuple[Violation, ...]:
    """Judge a tile by itself, as it is declared; `name` is what messages call it."""
    statement = InstructionStatement(OPERATIONS["tload"], TextualForm.F3, (), ())
    return _forbidden(TILE_RULES, Resolved(statement, profile, {name: tile}), profile)


def address_violations(tile: Tile, address: int, profile: Profile) -> tuple[Violation, ...]:
    """Judge where a tile is placed.

    Parameters
    ----------
    tile : Tile
        The tile.
    address : int
        Its offset in its buffer, in bytes, as in ``TASSIGN(tile, address)``.
    profile : Profile
        On which profile.

    Returns
    -------
    tuple of Violation
        None means that it may be there. Tiles that overlap alias; nothing forbids it.
    """
    return _forbidden(ADDRESS_RULES, PlacedTile(tile, address), profile)


def _forbidden(
    rules: Iterable[PtoRule[Subject]], subject: Subject, profile: Profile
) -> tuple[Violation, ...]:
    """Return what rules that are the same for every operation forbid."""
    operation = OPERATIONS["tload"]
    return tuple(
        violation for kind, violation in findings(rules, subject, profile, operation) if kind.forbids
    )
