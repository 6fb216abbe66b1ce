"""The open points of an instruction set: names, readings, defaults, presets, and how arguments combine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...spec.instruction_set import instruction_set
from ..comparison import compared
from ..obligation import Certificate, Theorem
from ..refusals import REFUSED, refusal_is
from ..stated import choices as stated
from ..table_theorem import answered, table_theorem

SOURCES = {
    "power": "Power ISA 3.1 section 7.2; QEMU 7.2",
    "pto": "pto-isa headers and simulator at 3186c381",
    "ptx": "PTX ISA 9.7.14; MMA-Sim (arXiv 2511.10909)",
    "mfma": "CDNA4 ISA chapter 7; MMA-Sim (arXiv 2511.10909)",
}
"""What leaves the points open."""

Named = Callable[[list[str]], Any]
"""Reads ``--choice`` arguments."""


def choices(isa: str, named: Named) -> Theorem:
    """Return the theorem that the open points of an instruction set are the listed ones."""
    return table_theorem(
        f"{isa}/stated/choices",
        "open points have the listed readings, defaults and presets, and arguments choose among them",
        "∀ points: names, readings and the default are the listed ones; ∀ presets and ∀ point=reading: the "
        "choices are the listed ones; the last argument counts; what is not listed is refused",
        SOURCES[isa],
        lambda: {"points": lambda: _points(isa), "arguments": lambda: _arguments(isa, named)},
    )


def _points(isa: str) -> Certificate:
    def specified() -> Mapping[str, object]:
        return {
            point.name: (point.default, *(name for name in point.option_names if name != point.default))
            for point in instruction_set(isa).open_points
        } | {"presets": sorted(instruction_set(isa).presets)}

    return compared({**stated.points(isa), "presets": sorted(stated.presets(isa))}, specified)


def _arguments(isa: str, named: Named) -> Certificate:
    points, presets = stated.points(isa), stated.presets(isa)
    defaults = {point: readings[0] for point, readings in points.items()}
    expected: dict[tuple[str, ...], object] = {
        (): defaults,
        **{(name,): each for name, each in presets.items()},
    }
    for point, readings in points.items():
        for reading in readings:
            expected[f"{point}={reading}",] = {**defaults, point: reading}
            for name, each in presets.items():
                expected[name, f"{point}={reading}"] = {**each, point: reading}
                expected[f"{point}={reading}", name] = each
        expected[f"{point}={readings[0]}x",] = "refused"
        expected[point,] = presets.get(point, "refused")
    expected["nothing=default",] = expected["nothing",] = "refused"

    return answered(expected, lambda *arguments: _chosen(arguments, named, list(points)))


@refusal_is(REFUSED)
def _chosen(arguments: tuple[str, ...], named: Named, points: list[str]) -> object:
    found = named(list(arguments))
    return {point: getattr(found, point.replace("-", "_")) for point in points}
