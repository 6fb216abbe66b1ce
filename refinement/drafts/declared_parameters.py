"""Parameters as a source declares them: their names and C types, by what the compiled kernel calls them.

Of CUDA the text of the source is read, of object code what debuggers read (DWARF), of Triton the signature
that the kernel was compiled with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...spec.text_files import read_text
from ..findings.demangling import spellings
from ..machine.kernel_outline import KernelOutline

_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_KERNEL = re.compile(r"\b__global__\b")
_CALLED = re.compile(r"\b(\w+)\s*(?:<[^<>;{}]*>\s*)?\(")
_ATTRIBUTES = {
    "__launch_bounds__",
    "__cluster_dims__",
    "__block_size__",
    "__maxnreg__",
    "__attribute__",
    "alignas",
}
_QUALIFIERS = re.compile(r"\b(?:__restrict__|__restrict|restrict|__grid_constant__|volatile|register)\b")

_TRITON_TYPES = {
    "i1": "bool", "i8": "signed char", "u8": "unsigned char", "i16": "short", "u16": "unsigned short",
    "i32": "int", "u32": "unsigned int", "i64": "long", "u64": "unsigned long",
    "fp16": "__half", "bf16": "__nv_bfloat16", "fp32": "float", "f32": "float", "fp64": "double",
    "fp8e4nv": "__nv_fp8_e4m3", "fp8e5": "__nv_fp8_e5m2",
}  # fmt: skip
"""Triton's names of types, as C++ has them."""

_GENERAL, _FLOATING = 3, 1
"""The first registers in which the ELFv2 calling convention passes integers and pointers, and floats."""

_DEBUGGER_TYPES = {
    "long int": "long", "long unsigned int": "unsigned long", "long long int": "long long",
    "long long unsigned int": "unsigned long long", "short int": "short",
    "short unsigned int": "unsigned short", "_Bool": "bool", "__bf16": "__nv_bfloat16", "_Float16": "__half",
}  # fmt: skip
"""Types as gcc names them to debuggers, as C++ has them; clang does as C++."""

_NEST = 16
"""Types that a type of DWARF may be made of."""


@dataclass(frozen=True)
class Declared:
    """A parameter of a source.

    Attributes
    ----------
    name : str
        As it is written.
    type : str
        Its C type, empty where it is not known.
    """

    name: str
    type: str = ""


def declared_parameters(outline: KernelOutline, path: Path, source: Path) -> dict[str, Declared]:
    """Return what a source declares, or else the object file that was made of it.

    Parameters
    ----------
    outline : KernelOutline
        What the kernel's code tells.
    path, source : Path
        The compiled file, and the source; the same file where the source is not at hand.
    """
    if outline.isa == "ptx":
        return of_cuda(read_text(source), outline) if source != path else {}
    return of_object(path, outline)


def of_cuda(text: str, outline: KernelOutline) -> dict[str, Declared]:
    """Return what a CUDA source declares of a kernel's parameters; nothing where it has no such kernel."""
    plain = _COMMENT.sub(" ", text)
    named = spellings(outline.entry)
    for start in _KERNEL.finditer(plain):
        name, arguments = _signature(plain, start.end())
        parameters = tuple(filter(None, map(_parameter, arguments)))
        if name in named and len(parameters) == len(arguments) == len(outline.parameters):
            return _in_order(outline, parameters)
    return {}


def of_triton(signature: Mapping[str, str], outline: KernelOutline) -> dict[str, Declared]:
    """Return what the signature of a kernel of Triton says of its first parameters."""
    parameters = []
    for name, kind in signature.items():
        if kind != "constexpr":
            plain = kind.lstrip("*")
            of = _TRITON_TYPES.get(plain, "")
            parameters.append(Declared(name, of and of + "*" * (len(kind) - len(plain))))
    return _in_order(outline, parameters) if len(parameters) <= len(outline.parameters) else {}


def of_object(path: Path, outline: KernelOutline) -> dict[str, Declared]:
    """Return what the debugging information of an object file says of a function of Power."""
    from elftools.elf.elffile import ELFFile

    try:
        with path.open("rb") as stream:
            elf = ELFFile(stream)
            if not elf.has_dwarf_info():
                return {}
            units = elf.get_dwarf_info().iter_CUs()
            entries = (die for unit in units for die in unit.iter_DIEs() if _is_function(die, outline.entry))
            found = [_of_debugger(child) for die in entries for child in die.iter_children()]
    except Exception:  # names are no reason to fail
        return {}
    parameters = [each for each in found if each is not None]
    registers, floats = {}, _FLOATING
    for slot, parameter in enumerate(parameters):
        if parameter.type in ("float", "double"):
            registers[f"f{floats}"] = parameter
            floats += 1
        else:
            registers[f"r{_GENERAL + slot}"] = parameter
    return registers


def _in_order(outline: KernelOutline, parameters: Sequence[Declared]) -> dict[str, Declared]:
    return {of.name: each for of, each in zip(outline.parameters, parameters, strict=False)}


def _signature(text: str, start: int) -> tuple[str, list[str]]:
    """Return the name and arguments of the function that is declared from a place on."""
    while (called := _CALLED.search(text, start)) is not None:
        end = _closing(text, called.end() - 1)
        if called[1] not in _ATTRIBUTES:
            arguments = [part.strip() for part in _at_commas(text[called.end() : end])]
            return called[1], [argument for argument in arguments if argument and argument != "void"]
        start = end + 1
    return "", []


def _closing(text: str, opening: int) -> int:
    """Return where the bracket at a place is closed, the end of the text where it is not."""
    depth = 0
    for place in range(opening, len(text)):
        depth += {"(": 1, ")": -1}.get(text[place], 0)
        if depth == 0:
            return place
    return len(text)


def _at_commas(text: str) -> Iterator[str]:
    """Yield the parts between commas that are in no brackets."""
    depth, start = 0, 0
    for place, letter in enumerate(text):
        depth += {"(": 1, "<": 1, "[": 1, ")": -1, ">": -1, "]": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            yield text[start:place]
            start = place + 1
    yield text[start:]


def _parameter(written: str) -> Declared | None:
    """Return a parameter as it is declared; None where it has no name."""
    plain = _QUALIFIERS.sub(" ", written.partition("=")[0]).strip()
    plain, brackets, _ = plain.partition("[")
    if (found := re.fullmatch(r"(.*[\s*&>])(\w+)\s*", plain, re.DOTALL)) is None:
        return None
    return Declared(found[2], _spelled(found[1]) + ("*" if brackets else ""))


def _spelled(type_: str) -> str:
    """Return a type without ``const`` and superfluous blanks."""
    words = re.sub(r"\bconst\b", " ", type_).replace("*", " * ").split()
    return " ".join(words).replace(" *", "*")


def _is_function(die: Any, name: str) -> bool:
    named = die.attributes.get("DW_AT_linkage_name") or die.attributes.get("DW_AT_name")
    return die.tag == "DW_TAG_subprogram" and named is not None and named.value.decode() == name


def _of_debugger(die: Any) -> Declared | None:
    if die.tag != "DW_TAG_formal_parameter" or "DW_AT_name" not in die.attributes:
        return None
    return Declared(die.attributes["DW_AT_name"].value.decode(), _type_of(die, _NEST))


def _type_of(die: Any, depth: int) -> str:
    """Return the C type of an entry of DWARF, empty where it is no plain one."""
    if "DW_AT_type" not in die.attributes or not depth:
        return ""
    of = die.get_DIE_from_attribute("DW_AT_type")
    if of.tag == "DW_TAG_base_type":
        name = str(of.attributes["DW_AT_name"].value.decode())
        return _DEBUGGER_TYPES.get(name, name)
    inner = _type_of(of, depth - 1)
    return f"{inner}*" if inner and of.tag == "DW_TAG_pointer_type" else inner
