"""Faults that a kernel has only for some sizes, or in some blocks: planted behind random instructions."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

Sizes = Mapping[str, int]

_DEFINING = re.compile(
    r"^\t(?:(?:add|sub|mul|mad|shl|shr|or|and|xor|fma|min|max|div|rem|selp|cvt|bfe|mov|cvta|setp|ld\.shared|ld\.global)"
    r"[.\w:]*)\s+(%(?:r|rd|f|p)\d+), "
)
"""An instruction without a guard that gives one register a value."""

_CHANGES = {
    "r": ("add.s32 {0}, {0}, 1;", "add.s32 {0}, {0}, 16;", "xor.b32 {0}, {0}, 32;", "mov.u32 {0}, 0;"),
    "rd": ("add.s64 {0}, {0}, 4;", "add.s64 {0}, {0}, 64;", "mov.u64 {0}, 0;"),
    "f": ("mov.f32 {0}, 0f00000000;", "add.f32 {0}, {0}, {0};", "mov.f32 {0}, 0f3F800000;"),
    "p": ("not.pred {0}, {0};", "setp.eq.u32 {0}, %fault0, %fault0;", "setp.ne.u32 {0}, %fault0, %fault0;"),
}
"""What is done to a register, by what it holds."""


@dataclass(frozen=True)
class Condition:
    """When a fault shows.

    Attributes
    ----------
    name : str
        In words.
    text : str
        PTX that puts it into ``%fault``, with names of sizes in braces where their registers stand.
    example : callable
        Returns sizes, multiples of some steps within some ends and not below some, at which some block meets
        it; None if there are none.
    """

    name: str
    text: str
    example: Callable[[Sizes, Sizes, Sizes], Sizes | None]


def condition(random: np.random.Generator, axes: Mapping[str, str], names: tuple[str, ...]) -> Condition:
    """Return a random condition on sizes, and blocks by the size whose tiles each axis of the grid counts."""
    size = str(random.choice(names))
    other = str(random.choice([name for name in names if name != size] or [size]))
    kind = random.integers(0, 7 if axes else 5)
    if kind == 0:
        modulus = int(2 ** random.integers(5, 13))
        rest = int(random.integers(0, modulus // 16)) * 16
        return Condition(
            f"{size} % {modulus} == {rest}",
            f"and.b32 %fault1, {{{size}}}, {modulus - 1};\n\tsetp.eq.s32 %fault, %fault1, {rest};",
            lambda steps, ends, start: _first(
                (steps, ends, start), size, lambda number: number % modulus == rest, 2 * modulus
            ),
        )
    if kind in (1, 2):
        least = int(2 ** random.uniform(5, 15.4))
        relation = "ge" if kind == 1 else "eq"
        least = least if kind == 1 else least // 64 * 64 or 64
        return Condition(
            f"{size} {relation} {least}",
            f"setp.{relation}.s32 %fault, {{{size}}}, {least};",
            lambda steps, ends, start: _first(
                (steps, ends, start),
                size,
                lambda number: number >= least if kind == 1 else number == least,
                least + 64,
            ),
        )
    if kind == 3:
        return Condition(
            f"{size} > {other} + 4000",
            f"add.s32 %fault1, {{{other}}}, 4000;\n\tsetp.gt.s32 %fault, {{{size}}}, %fault1;",
            lambda steps, ends, start: (
                None
                if size == other
                else _first((steps, ends, start), size, lambda number: number > 4000 + steps[other], 5000)
            ),
        )
    if kind == 4:
        divisor = int(random.choice([3, 5, 7, 11, 48, 96, 224]))
        rest = int(random.integers(0, divisor))
        return Condition(
            f"{size} % {divisor} == {rest}",
            f"rem.u32 %fault1, {{{size}}}, {divisor};\n\tsetp.eq.s32 %fault, %fault1, {rest};",
            lambda steps, ends, start: _first(
                (steps, ends, start), size, lambda number: number % divisor == rest, 64 * divisor
            ),
        )
    axis = str(random.choice(list(axes)))
    if kind == 5:
        block = int(2 ** random.uniform(0, 9))
        return Condition(
            f"block {block} along {axis}",
            f"mov.u32 %fault1, %ctaid.{axis};\n\tsetp.eq.s32 %fault, %fault1, {block};",
            lambda steps, ends, start: _grown(steps, ends, axes[axis], 64 * (block + 1)),
        )
    blocks = int(random.integers(2, 40))
    return Condition(
        f"a grid of {blocks} along {axis}",
        f"mov.u32 %fault1, %nctaid.{axis};\n\tsetp.eq.s32 %fault, %fault1, {blocks};",
        lambda steps, ends, start: _grown(steps, ends, axes[axis], 64 * blocks),
    )


def _first(
    of: tuple[Sizes, Sizes, Sizes], size: str, holds: Callable[[int], bool], reach: int
) -> Sizes | None:
    steps, ends, start = of
    least = -(-start.get(size, 1) // steps[size]) * steps[size]
    numbers = range(least, min(ends[size], least + reach) + 1, steps[size])
    found = next((number for number in numbers if holds(number)), None)
    return None if found is None else {**steps, **start, size: found}


def _grown(steps: Sizes, ends: Sizes, size: str, least: int) -> Sizes | None:
    number = -(-least // steps[size]) * steps[size]
    return None if number > ends[size] else {**steps, size: number}


ALWAYS = Condition("always", "setp.eq.u32 %fault, %fault0, %fault0;", lambda steps, ends, start: steps)


@dataclass(frozen=True)
class Fault:
    """A change of a register behind an instruction.

    Attributes
    ----------
    line : int
        Of the kernel's text, from 0.
    change : str
        The instruction.
    """

    line: int
    change: str


def fault(random: np.random.Generator, text: str) -> Fault:
    """Return a random fault of a kernel."""
    lines = text.splitlines()
    begin = next(place for place, line in enumerate(lines) if "ld.param" in line)
    places = [place for place in range(begin, len(lines)) if _DEFINING.match(lines[place])]
    place = int(random.choice(places))
    found = _DEFINING.match(lines[place])
    assert found is not None
    register = found[1]
    kind = re.sub(r"[%\d]", "", register)
    return Fault(place, str(random.choice(_CHANGES[kind])).format(register))


def planted(text: str, wrong: Fault, when: Condition, parameters: Mapping[str, str]) -> str:
    """Return a kernel with a fault that shows under a condition.

    Parameters
    ----------
    text : str
        The kernel.
    wrong, when : Fault, Condition
        The fault, and the condition.
    parameters : mapping of str to str
        The kernel's parameter of each size.
    """
    lines = text.splitlines()
    registers = {size: f"%fault_{size}" for size in parameters}
    loads = "".join(f"\tld.param.u32 {registers[size]}, [{name}];\n" for size, name in parameters.items())
    begin = next(place for place, line in enumerate(lines) if "ld.param" in line)
    lines[wrong.line] += f"\n\t@%fault {wrong.change}"
    declared = ", ".join(["%fault0", "%fault1", *registers.values()])
    lines[begin] = (
        f"\t.reg .pred %fault;\n\t.reg .b32 {declared};\n\tmov.u32 %fault0, 0;\n{loads}\t"
        f"{when.text.format_map(registers)}\n{lines[begin]}"
    )
    return "\n".join(lines) + "\n"
