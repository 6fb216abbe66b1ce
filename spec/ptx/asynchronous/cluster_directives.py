"""The directives of a kernel about clusters: which targets and versions have them, and which go together.

Source: PTX ISA 9.1 chapter 11 (directives of clusters); ptxas of CUDA 13.0. How large a cluster may be is
decided at launch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from types import MappingProxyType

from ... import legality
from ...legality import Violation
from ..legality import Module
from ..targets import Availability, spell_version

DIRECTIVES: Mapping[str, Availability] = MappingProxyType(
    {
        "explicitcluster": Availability((7, 8), 90),
        "reqnctapercluster": Availability((7, 8), 90),
        "maxclusterrank": Availability((7, 8), 90),
        "blocksareclusters": Availability((9, 0), 90),
    }
)
"""Every directive, without its dot."""

Rule = legality.Rule[Set[str], Module]


def _target(given: Set[str], module: Module) -> Iterator[str]:
    for name in sorted(given & DIRECTIVES.keys()):
        if not DIRECTIVES[name].on(module.target):
            yield f".{name} needs {DIRECTIVES[name].targets}, not {module.target}"


def _version(given: Set[str], module: Module) -> Iterator[str]:
    for name in sorted(given & DIRECTIVES.keys()):
        if module.ptx < DIRECTIVES[name].ptx:
            yield f".{name} needs PTX {spell_version(DIRECTIVES[name].ptx)}, not {spell_version(module.ptx)}"


def _together(given: Set[str], _: Module) -> Iterator[str]:
    if {"maxclusterrank", "reqnctapercluster"} <= given:
        yield ".maxclusterrank and .reqnctapercluster exclude each other"
    missing = sorted({"reqntid", "reqnctapercluster"} - given)
    if "blocksareclusters" in given and missing:
        yield f".blocksareclusters needs .{' and .'.join(missing)}, too"


_SOURCE = "PTX ISA 9.1 chapter 11 (directives of clusters); ptxas"

RULES: tuple[Rule, ...] = (
    Rule("cluster-target", "the target has the directive", _SOURCE, _target),
    Rule("cluster-version", "the module's PTX version has the directive", _SOURCE, _version),
    Rule("cluster-together", "directives of clusters go together", _SOURCE, _together),
)
"""Every rule on the directives of a kernel."""


def violations(given: Set[str], module: Module) -> list[Violation]:
    """Return the rules that a kernel's directives, without their dots, violate in a module."""
    return legality.violations(RULES, given, module)
