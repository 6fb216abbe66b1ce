"""Legality of the matrix and asynchronous instructions of a PTX text: a module, functions, or a bare body.

Of other instructions only the opcode is looked at: PTX must have it, and the target.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ...spec.errors import InputError
from ...spec.instruction_set import Judgement
from ...spec.legality import Note, NoteKind, Rule, Violation, listed_lines
from ...spec.ptx.asynchronous import cluster_directives
from ...spec.ptx.asynchronous.catalogue import is_judged, later_words
from ...spec.ptx.legality import Module as JudgedModule
from ...spec.ptx.opcode_table import form_of
from ...spec.ptx.other_instructions import lacking, not_judged
from ...spec.ptx.targets import NEWEST, VERSIONS, spell_version, target_named, version_named
from .text import asynchronous_legality
from .text.module import Function, InstructionStatement, Module
from .text.parser import parse
from .text.variables import variable_spaces
from .warp.matrix import illegal

_HIDING = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""Strings and comments: what stands in them is no directive."""

_MODULE = re.compile(r"\s*\.version\b")
_FUNCTION = re.compile(r"\.(?:entry|func)\b")

_TARGET = "sm_120a"
"""The target that has every form that is specified."""

_SYNTAX = Rule[InstructionStatement, Module](
    "syntax", "a matrix instruction has modifiers that PTX has", "PTX ISA 9.7.14", lambda *_: ()
)


def judge_text(text: str, name: str, target: str | None, version: str | None) -> Judgement:
    """Judge a text's matrix and asynchronous instructions, and whether the target has the opcodes of others.

    A matrix instruction that is not modelled, and a text without any, leave the text undecided.

    Parameters
    ----------
    text : str
        A module; functions; or what stands in a function, with the declarations.
    name : str
        What errors call the text.
    target, version : str, optional
        What it is judged for; by default what it says itself, or else the newest.

    Raises
    ------
    InputError
        If the text can't be read, a name in it is not declared, or PTX has no such opcode; it names the line.
    """
    bare = _HIDING.sub(lambda hiding: re.sub(r"[^\n]", " ", hiding[0]), text)
    if not bare.strip():
        raise InputError("a module, a function or an instruction is expected, not an empty text", name)
    if (unclosed := bare.find("/*")) >= 0:
        raise InputError("the comment is not closed", f"{name}:{bare.count(chr(10), 0, unclosed) + 1}")
    if _MODULE.match(bare) is None:
        head = f".version {version or spell_version(NEWEST)} .target {target or _TARGET} .address_size 64"
        text = f"{head} {text}" if _FUNCTION.search(bare) else f"{head} .entry body() {{ {text}\n}}"
    module = parse(text, name)
    module = replace(
        module,
        target=target_named(target or module.target).name,
        version=module.version if version is None else version_named(version),
    )
    found: list[Violation] = []
    judged: list[InstructionStatement] = []
    asynchronous: list[InstructionStatement] = []
    others: list[InstructionStatement] = []
    for function in module.functions.values():
        spaces = variable_spaces(module, function)
        found += _directives(module, function)
        for index, wrong in asynchronous_legality.mixed_groups(function):
            found.append(replace(wrong, message=_placed(function.body[index], wrong.message)))
        for instruction in function.body:
            if instruction.is_matrix_instruction:
                judged.append(instruction)
                found += _judged(module, instruction, spaces)
            elif is_judged(instruction.mnemonic):
                asynchronous.append(instruction)
                found += _judged_asynchronous(module, instruction, spaces)
            else:
                others.append(instruction)
                found += _of_opcode(module, instruction, name)
    count = "1 matrix instruction is" if len(judged) == 1 else f"{len(judged)} matrix instructions are"
    if asynchronous:
        count = f"{count.rpartition(' ')[0]} and {len(asynchronous)} asynchronous ones are"
    scope = Note(NoteKind.SCOPE, f"{count} judged; of the other {len(others)} instructions only the opcode")
    points = [*_unknown_version(module), *_open_points([*judged, *asynchronous], others)]
    points += _later_forms(module, asynchronous)
    return Judgement(module.target, tuple(found), (scope, *points))


def _unknown_version(module: Module) -> list[Note]:
    """Return what keeps a text of a version of PTX that is not known from being legal."""
    if module.version in VERSIONS:
        return []
    known = f"{spell_version(VERSIONS[0])} to {spell_version(NEWEST)}"
    return [
        Note(
            NoteKind.NOT_JUDGED,
            f".version {spell_version(module.version)} is not a version of PTX; known: {known}",
        )
    ]


def _of_opcode(module: Module, instruction: InstructionStatement, name: str) -> list[Violation]:
    """Judge whether the target has the opcode of an instruction that is not specified."""
    opcode = form_of(instruction.mnemonic)
    if opcode is None:
        raise InputError(f"PTX has no opcode {instruction.opcode!r}", f"{name}:{instruction.line}")
    place = f"line {instruction.line}, {instruction.mnemonic}"
    return [
        Violation(each.rule, f"{place}: {each.message}")
        for each in lacking(opcode, target_named(module.target))
    ]


def _open_points(
    judged: Sequence[InstructionStatement], others: Sequence[InstructionStatement]
) -> list[Note]:
    """Return what keeps a text from being legal though no rule is broken."""
    lines: dict[str, list[int]] = {}
    for other in others:
        opcode = form_of(other.mnemonic)
        if opcode is not None and opcode.is_matrix_product:
            lines.setdefault(not_judged(opcode, other.mnemonic), []).append(other.line)
    if not judged and not lines:
        return [Note(NoteKind.NOT_JUDGED, "the text has no matrix instruction: nothing is judged")]
    return [Note(NoteKind.NOT_JUDGED, text, f"{listed_lines(places)}: ") for text, places in lines.items()]


def _directives(module: Module, function: Function) -> list[Violation]:
    """Judge what a kernel says of clusters."""
    judging = JudgedModule(target_named(module.target), module.version)
    wrong = cluster_directives.violations(function.limits.keys(), judging)
    return [Violation(each.rule, f"{function.name}: {each.message}") for each in wrong]


def _later_forms(module: Module, asynchronous: Sequence[InstructionStatement]) -> list[Note]:
    """Return what keeps a text from being legal that has forms of which the rules say nothing."""
    later = [instruction for instruction in asynchronous if later_words(instruction.mnemonic)]
    return [
        Note(
            NoteKind.NOT_JUDGED,
            f"{each.mnemonic}: forms with .{later_words(each.mnemonic)[0]} are not specified",
            f"line {each.line}: ",
        )
        for each in later
    ]


def _judged_asynchronous(
    module: Module, instruction: InstructionStatement, spaces: Mapping[str, str]
) -> list[Violation]:
    try:
        wrong = asynchronous_legality.illegal(module, instruction, spaces)
    except InputError as reason:
        return [Violation(_SYNTAX, _placed(instruction, str(reason)))]
    return [Violation(each.rule, _placed(instruction, each.message)) for each in wrong]


def _judged(module: Module, instruction: InstructionStatement, spaces: Mapping[str, str]) -> list[Violation]:
    try:
        wrong = illegal(module, instruction, spaces)
    except InputError as reason:
        return [Violation(_SYNTAX, _placed(instruction, str(reason)))]
    return [Violation(each.rule, _placed(instruction, each.message)) for each in wrong]


def _placed(instruction: InstructionStatement, message: str) -> str:
    """Return a message with where its instruction is."""
    return f"line {instruction.line}, {instruction.mnemonic}: {message}"
