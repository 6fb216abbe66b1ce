"""Texts, constant expressions, launches and leniencies of PTX are as tools and the manual have them."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import partial

from ...spec.errors import InputError
from ...spec.ptx.assembly import WORDS, first_word, parse
from ...spec.ptx.declarations import read_declarations
from ...spec.ptx.launch_limits import launch_limits
from ...spec.ptx.legality import Module, violations
from ...spec.ptx.leniency import may_be_taken
from ...spec.ptx.operands import (
    UNDECLARED,
    Address,
    Decimal,
    HexFloat,
    Integer,
    Negated,
    Operand,
    Register,
    Sink,
    Vector,
)
from ...spec.ptx.targets import target_named, version_named
from ...spec.ptx.variant import Family, Variant
from ...spec.ptx.variant_rules import form_of
from ..comparison import compared, refusal_is, refused
from ..obligation import Certificate
from ..table_theorem import Table, answered, table_theorem
from .documented import STATED, every_stated_instruction
from .stated import combinations, texts

read_texts = table_theorem(
    "ptx/stated/texts",
    "texts are read as listed, and written in the manual's order; what is listed as none is refused",
    "spellings, operands, modifiers, defaults, beginnings and declarations are what the lists say, which are "
    "of the manual's syntax, and of orders that ptxas takes; the manual's examples, as notes of 2023 print "
    "them, break no rule on sm_90 from PTX 7.8 on, but for the listed ones; in place of a modifier that is "
    "none, those are named that the manual's tables have of the instruction, or of the class that is meant; "
    "what is said of listed texts that are none names the token at which they go wrong",
    "PTX ISA 9.1 chapter 4 (syntax), section 9.7.14; ptxas of CUDA 13.0",
    lambda: {
        "spellings": Table(STATED, "spellings", "text", lambda text: str(parse(text))),
        "operands": Table(STATED, "operands", "operand", _read),
        "modifiers": _modifiers,
        "words": _words,
        "declarations": _declarations,
        "refused": _no_texts,
        "defaults": Table(STATED, "defaults", "mnemonic", _spelled_out),
        "examples": Table(STATED, "examples", "declared, text", _broken),
        "named": _named,
        "reasons": Table(STATED, "reasons", "text", _said),
    },
)


def _spelled_out(mnemonic: str) -> str:
    """Return a mnemonic with the vector size that is meant where it is left out."""
    variant = parse(mnemonic).variant
    return str(form_of(variant).canonical(variant))


def _broken(declared: str, text: str) -> frozenset[str]:
    """Return the rules that an example breaks from PTX 7.8 on."""
    instruction = parse(text, read_declarations(declared))
    found = [violations(instruction, target_named("sm_90"), version) for version in ((7, 8), (9, 1))]
    return frozenset(violation.rule.id for each in found for violation in each)


_DECLARED = {"a": "b32", "t": ".shared"}


def _read(text: str) -> str:
    (operand,) = parse(f"mma {text}", _DECLARED).operands or (Sink(),)
    return _kind(operand)


def _kind(operand: Operand) -> str:
    match operand:
        case Register(name, declared):
            return f"register {name}{'' if declared is None else f' of {declared}'}"
        case Sink():
            return "sink"
        case HexFloat(encoding, bits):
            return f"{bits} bits {encoding:0{bits // 4}x}"
        case Decimal(text):
            return f"number {text}"
        case Integer(value):
            return f"integer {value}"
        case Address(base, offset):
            space = base.space if isinstance(base, Register) else None
            return f"address {base} {offset}{'' if space is None else f' in {space}'}"
        case Vector(elements):
            return f"vector {len(elements)}"
        case Negated(register):
            return f"negated {register}"


def _modifiers() -> Certificate:
    plain = {field.name: field.default for field in fields(Variant)}
    plain |= {"family": Family.MMA, "sync": False, "aligned": False}
    expected = {name: {**plain, slot: value} for name, (slot, value) in texts.MODIFIERS.items()}

    def specified() -> Iterator[tuple[str, object]]:
        for name in expected:
            variant = parse(f"mma.{name}").variant
            yield name, {each: getattr(variant, each) for each in plain}

    return compared(expected, specified)


def _words() -> Certificate:
    expected: dict[str, object] = {**texts.FIRST_WORDS, "all": sorted(texts.WORDS)}
    return compared(
        expected, lambda: {**{text: first_word(text) for text in texts.FIRST_WORDS}, "all": sorted(WORDS)}
    )


def _declarations() -> Certificate:
    def specified() -> Mapping[str, object]:
        found = read_declarations(texts.DECLARED)
        named = {name: found[name] for name in texts.NAMES}
        kinds = {name: None if kind == UNDECLARED else kind for name, kind in named.items()}
        return {**kinds, "all": sorted(found)}

    return compared({**texts.NAMES, "all": ["%p", "%r0", "%r1", "%r2", "%v", "tile"]}, specified)


def _no_texts() -> Certificate:
    def specified() -> Mapping[str, bool]:
        instructions = {text: refused(partial(parse, text)) for text in texts.REFUSED}
        return instructions | {
            text: refused(partial(read_declarations, text)) for text in texts.NO_DECLARATIONS
        }

    return compared(dict.fromkeys((*texts.REFUSED, *texts.NO_DECLARATIONS), True), specified)


def _said(text: str) -> str:
    try:
        return str(parse(text))
    except InputError as error:
        return str(error)


def _named() -> Certificate:
    """Return the claim about what is named instead of a modifier that is none."""
    has = {name: {"sp", "sp::ordered_metadata"} for name in ("mma", "wgmma.mma_async")}
    for text in every_stated_instruction():
        opcode, modifiers = combinations.split(text)
        for name in texts.ALIKE.get(opcode, (opcode,)):
            has.setdefault(name, set()).update(modifiers)
    expected = {}
    for opcode, words in has.items():
        shapes = words & {*combinations.SHAPES, *combinations.WARPGROUP_SHAPES}
        for unknown, shown, close, begins in texts.UNKNOWN:
            similar = {word for word in words if begins and word.startswith(begins)}
            named = shapes if begins == "m" and shapes else similar or words - shapes
            expected[f"{opcode}.{unknown}", close] = shown, close in words, named

    def said(text: str, close: str) -> tuple[str, bool, set[str]]:
        try:
            parse(text)
        except InputError as error:
            before, _, allowed = str(error).partition("; ")[2].rpartition("allowed: ")
            meant = re.findall(r"\.([\w:]+)", before)
            is_meant = close in meant if close else bool(meant)
            return str(error).split("'")[1], is_meant, {each[1:] for each in allowed.split(", ")}
        return "", False, set()

    return answered(expected, said)


# -- constant expressions
constant_expressions = table_theorem(
    "ptx/stated/constants",
    "constant expressions have the values that ptxas gives them, and are refused where it refuses them",
    "∀ listed expressions: the value is that of the array which ptxas initialises with it; syntax is taken "
    "where ptxas accepts it as an element of C; nesting beyond 64 is refused",
    "PTX ISA 9.1 section 4.5; ptxas of CUDA 13.0, measured",
    lambda: {
        "integers": Table(STATED, "values", "expression", _integer),
        "floats": Table(STATED, "floats", "expression", _float),
        "taken": _taken,
    },
)


def _value(text: str) -> Operand:
    (operand,) = parse(f"mma {text}").operands or (Sink(),)
    return operand


def _integer(text: str) -> int:
    found = _value(text)
    assert isinstance(found, Integer)
    return (found.value + (1 << 63)) % (1 << 64) - (1 << 63)


def _float(text: str) -> str:
    found = _value(text)
    if isinstance(found, HexFloat) and found.bits == 64:
        return f"{found.encoding:016x}"
    assert isinstance(found, Decimal)
    return struct.pack(">d", float(found.text)).hex()


def _taken() -> Certificate:
    deep = {f"{'(' * depth}1{')' * depth}": depth <= 64 for depth in (10, 64, 65, 66)}
    deep |= {f"{'-' * depth}1": depth <= 64 for depth in (10, 64, 65, 66)}
    return answered(
        dict.fromkeys(texts.TAKEN, True) | dict.fromkeys(texts.REFUSED_CONSTANTS, False) | deep,
        lambda text: not refused(partial(parse, f"mma {{{text}, 0}}")),
    )


# -- launches, and what ptxas takes
launch_table = table_theorem(
    "ptx/stated/launches",
    "launches have the limits of the vendor's table",
    "∀ listed targets, PTX 8.0, 8.1 and 9.0: grids, blocks, threads, clusters, parameters and memories are "
    "the listed ones",
    "CCCL at 004ad198, arch_traits.h; ptxas of CUDA 13.0",
    lambda: {"limits": _limits},
)


def _limits() -> Certificate:

    return answered(
        {
            (target, version): {
                **texts.EVERYWHERE,
                "shared": shared,
                "cluster": 16 if target in texts.CLUSTERS else 0,
                "parameters": 32764 if version >= (8, 1) and target not in texts.SMALL_PARAMETERS else 4352,
            }
            for target, shared in texts.SHARED.items()
            for version in ((8, 0), (8, 1), (9, 0))
        },
        lambda *at: vars(launch_limits(*at)),
    )


@refusal_is("text")
def _taken_all_the_same(text: str, target: str, version: str) -> object:
    instruction = parse(text, read_declarations(_NAMES))
    on, since = target_named(target), version_named(version)
    found = may_be_taken(instruction, Module(on, since), violations(instruction, on, since))
    return " ".join(contradiction.id for contradiction in found)


taken_all_the_same = table_theorem(
    "ptx/stated/leniency",
    "of what is illegal, ptxas takes what is listed, and nothing like it besides",
    "∀ listed instructions: the contradictions that are named for what the rules exclude are as listed; "
    "none for their legal or refused neighbours",
    "PTX ISA 9.1 section 9.7.14; ptxas of CUDA 13.0, and of 13.5 where it says so",
    lambda: {"examples": Table(STATED, "leniency", "text, target, PTX", _taken_all_the_same)},
)


_NAMES = "b32_<20>: b32, f32_<20>: f32, b64_<20>: b64, b8_<20>: b8, pred_<20>: pred"


THEOREMS = (read_texts, constant_expressions, launch_table, taken_all_the_same)
