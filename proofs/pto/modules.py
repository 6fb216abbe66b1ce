"""Whole texts of PTO are judged line by line, and short types stand for what the headers' aliases are."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ...spec.instruction_set import Judgement
from ...spec.legality import Note, NoteKind
from ...spec.pto.assembly import parse, parse_module
from ...spec.pto.module_legality import judge_module, judged_statements
from ...spec.pto.resolution import resolve_known
from ...spec.pto.targets import PROFILES
from ...spec.pto.text.statements import ConstantDefinition
from ...spec.pto.tile import Compact, Pad, Tile
from ..broken_rules import broken_rules
from ..comparison import compared
from ..obligation import Certificate
from ..table_theorem import answered, table_theorem
from .stated import modules as stated

SOURCE = "pto-isa headers at 3186c381: TASSIGN, TMATMUL_ACC, aliases of tiles; PTO IR manual"


modules = table_theorem(
    "pto/legal/modules",
    "statements, declarations and addresses of a text are judged where they stand",
    "∀ lines of the listed text, ∀ profiles: what is judged there and the rules that it breaks; which "
    "statements leave something undecided; the tiles that short types stand for, and remarks on them; moves "
    "of tiles whose place is not known leave others where their extents say; the "
    "integers that constants are; the processor that a text names, and that it is the same from any file",
    SOURCE,
    lambda: {
        "lines": _lines,
        "undecided": _undecided,
        "tiles": _tiles,
        "remarks": _remarks,
        "integers": _integers,
        "targets": _targets,
        "short": _short,
    },
)


def _lines() -> Certificate:
    expected: dict[str, object] = dict(stated.WRONG)
    expected |= {f"{profile}, whole": (_broken(lines), True) for profile, lines in stated.WRONG.items()}
    expected |= {"two": stated.PLACES, "one": ("",)}

    def specified() -> Mapping[str, object]:
        found: dict[str, object] = {}
        module = parse_module(stated.TEXT)
        for name, text in (("two", stated.TWO), ("one", stated.TWO[: stated.TWO.rindex("%a")])):
            judgement = judge_module(parse_module(text), PROFILES["A5"])
            found[name] = tuple(_place(violation.message) for violation in judgement.violations)
        for profile in stated.WRONG:
            lines = []
            for line, name, judgement in judged_statements(module.body, PROFILES[profile]):
                rules = sorted(violation.rule.id for violation in judgement.violations)
                lines.append(" ".join((str(line), name, *rules)))
            found[profile] = tuple(lines)
            whole = judge_module(module, PROFILES[profile])
            said = [str(violation) for violation in whole.violations]
            places = all(text.partition(": ")[2].startswith("line ") for text in said)
            notes = any(stated.UNKNOWN in str(note) for note in whole.notes)
            found[f"{profile}, whole"] = sorted(each.rule.id for each in whole.violations), places and notes
        return found

    return compared(expected, specified)


def _targets() -> Certificate:

    def specified(text: str) -> tuple[str | None, bool]:
        module = parse_module(text)
        return module.target, module == parse_module(text, "a.pto")

    return answered({text: (target, True) for text, target in stated.TARGETS.items()}, specified)


def _place(message: str) -> str:
    """Return what a message begins with: the line and the statement, or nothing."""
    before, colon, _ = message.partition(": ")
    return before + colon if before.startswith("line ") else ""


def _broken(lines: tuple[str, ...]) -> list[str]:
    named = (word for line in lines for word in line.split()[2:] if not word.startswith("%"))
    return sorted(named)


def _undecided() -> Certificate:
    def profiles(judged: Mapping[str, Judgement], is_undecided: Callable[[Note], bool]) -> str:
        return " ".join(name for name, found in judged.items() if any(map(is_undecided, found.notes)))

    def specified() -> Mapping[str, tuple[str, str]]:
        found = {}
        for text in stated.UNDECIDED:
            module = parse_module(text)
            judged = {name: judge_module(module, profile) for name, profile in PROFILES.items()}
            found[text] = (
                profiles(judged, lambda note: note.kind is NoteKind.UNDECIDED),
                profiles(judged, lambda note: "undecided" in str(note)),
            )
        return found

    return compared({text: (names, names) for text, names in stated.UNDECIDED.items()}, specified)


def _short() -> Certificate:
    expected = {(text, name): rules for text, rules in stated.SHORT_MOVES.items() for name in PROFILES}
    unplaced = "%t = pto.tmov %s : (!pto.tile<loc=mat, {}, 1, 32>) -> !pto.tile<1x32x{}>"
    for types, refusing in stated.UNPLACED.items():
        for name in PROFILES:
            wrong = "move-types" if name in refusing.split() else ""
            expected[unplaced.format(*types), name] = wrong
    return answered(expected, lambda *at: " ".join(sorted(broken_rules("pto", *at))))


def _spelled(tile: Tile) -> str:
    text = (
        f"{tile.location} {tile.element} {tile.rows}x{tile.columns} valid {tile.valid_rows}x"
        f"{tile.valid_columns} {tile.blocks} {tile.inner} {tile.fractal}"
    )
    pad = f" pad {tile.pad.value}" if tile.pad is not Pad.NULL else ""
    return text + pad + (f" compact {tile.compact.value}" if tile.compact is not Compact.NULL else "")


def _tiles() -> Certificate:
    return answered(
        stated.TILES,
        lambda text, role, profile: _spelled(resolve_known(parse(text), PROFILES[profile]).tiles[role]),
    )


def _remarks() -> Certificate:
    return answered(
        stated.REPLACED, lambda text, profile: len(resolve_known(parse(text), PROFILES[profile]).notes)
    )


def _integers() -> Certificate:
    def integer(text: str) -> int | None:
        (statement,) = parse_module(f"%a = arith.constant {text}").body
        assert isinstance(statement, ConstantDefinition)
        return statement.integer

    def specified() -> Mapping[str, object]:
        here, there = (parse_module(text).body for text in ("x.y %a", "x.z\n\n   x.y %a"))
        same = here.statements[0] == there.statements[1]
        return {**{text: integer(text) for text in stated.INTEGERS}, "the same elsewhere": same}

    return compared({**stated.INTEGERS, "the same elsewhere": True}, specified)


THEOREMS = (modules,)
