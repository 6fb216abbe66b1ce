"""Whether the matrix instructions of a PTX text are legal: of a module, of functions, or of a body alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from ...spec.errors import InputError
from ...spec.instruction_set import Judgement
from ...spec.legality import Note, NoteKind, Rule, Violation
from ...spec.ptx.targets import NEWEST, spell_version, target_named, version_named
from .matrix import illegal
from .module import InstructionStatement, Module
from .parser import parse
from .variable_spaces import variable_spaces

_HIDING = re.compile(r'"[^"\n]*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
"""Strings and comments: what stands in them is no directive."""

_MODULE = re.compile(r"\s*\.version\b")
_FUNCTION = re.compile(r"\.(?:entry|func)\b")

_TARGET = "sm_120a"
"""The target that has every form."""

_SYNTAX = Rule[InstructionStatement, Module](
    "syntax", "a matrix instruction has modifiers that PTX has", "PTX ISA 9.7.14", lambda *_: ()
)


def judge_text(text: str, name: str, target: str | None, version: str | None) -> Judgement:
    """Judge every matrix instruction of a text.

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
        If the text can't be read, or a name in it is not declared; it names the line.
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
    count = 0
    for function in module.functions.values():
        spaces = variable_spaces(module, function)
        for instruction in function.body:
            if instruction.is_matrix_instruction:
                count += 1
                found += _judged(module, instruction, spaces)
    scope = Note(NoteKind.SCOPE, f"{count} matrix instructions are judged, no others")
    return Judgement(module.target, tuple(found), (scope,))


def _judged(module: Module, instruction: InstructionStatement, spaces: Mapping[str, str]) -> list[Violation]:
    place = f"line {instruction.line}, {instruction.mnemonic}"
    try:
        return [
            Violation(each.rule, f"{place}: {each.message}") for each in illegal(module, instruction, spaces)
        ]
    except InputError as reason:
        return [Violation(_SYNTAX, f"{place}: {reason}")]
