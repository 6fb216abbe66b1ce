"""Targets and PTX versions: what a module's ``.target`` and ``.version`` let its instructions use.

Source: PTX ISA 9.1, the ``.target`` and ``.version`` directives and the release notes; the lowest
version of each target was read from ptxas of CUDA 13.0, that of sm_88 from CUDA 13.5
(`contradictions.SM_88_VERSION`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from ..errors import InputError

Version = tuple[int, int]
"""A PTX version, (major, minor); versions are ordered as tuples."""


@dataclass(frozen=True)
class Target:
    """A GPU architecture.

    Attributes
    ----------
    number : int
        Compute capability times ten: 90 is 9.0.
    suffix : {"", "a", "f"}
        ``a`` has the features of exactly this chip, ``f`` those of its family, in addition to what
        every later target has.
    since : Version
        The lowest ``.version`` that knows the target.
    """

    number: int
    suffix: Literal["", "a", "f"]
    since: Version

    @property
    def name(self) -> str:
        """As in ``.target``: ``sm_90a``."""
        return f"sm_{self.number}{self.suffix}"

    @property
    def multiplies_fp8(self) -> bool:
        """Whether its matrix unit takes e4m3 and e5m2 from ``mma``; else ptxas emulates them."""
        return not 90 <= self.number < 120

    def __str__(self) -> str:
        return self.name


_LOWEST_VERSIONS: tuple[tuple[str, Version], ...] = (
    ("70", (6, 0)), ("72", (6, 1)), ("75", (6, 3)), ("80", (7, 0)), ("86", (7, 1)), ("87", (7, 4)),
    ("88", (9, 0)), ("89", (7, 8)), ("90", (7, 8)), ("90a", (8, 0)), ("100", (8, 6)), ("100a", (8, 6)),
    ("100f", (8, 8)), ("101", (8, 6)), ("101a", (8, 6)), ("101f", (8, 8)), ("103", (8, 8)),
    ("103a", (8, 8)), ("103f", (8, 8)), ("110", (9, 0)), ("110a", (9, 0)), ("110f", (9, 0)),
    ("120", (8, 7)), ("120a", (8, 7)), ("120f", (8, 8)), ("121", (8, 8)), ("121a", (8, 8)),
    ("121f", (8, 8)),
)  # fmt: skip


def _target(name: str, since: Version) -> Target:
    last = name[-1]
    return Target(int(name.rstrip("af")), "a" if last == "a" else "f" if last == "f" else "", since)


TARGETS = MappingProxyType(
    {target.name: target for target in (_target(name, since) for name, since in _LOWEST_VERSIONS)}
)
"""Every target by name; sm_101 is what sm_110 was called before PTX 9.0."""

VERSIONS: tuple[Version, ...] = (
    *((6, minor) for minor in range(6)),
    *((7, minor) for minor in range(9)),
    *((8, minor) for minor in range(9)),
    (9, 0), (9, 1),
)  # fmt: skip
"""The PTX versions since ``wmma`` came, in ascending order."""

NEWEST = VERSIONS[-1]
"""The version judged for when none is named."""


def target_named(text: str) -> Target:
    """Look a target up by name.

    Raises
    ------
    InputError
        If there is no such target.
    """
    try:
        return TARGETS[text]
    except KeyError:
        raise InputError(f"unknown target {text!r}; known: {', '.join(TARGETS)}") from None


def version_named(text: str) -> Version:
    """Read a PTX version such as ``8.7``.

    Raises
    ------
    InputError
        If it is none, or one that is not known.
    """
    match = re.fullmatch(r"([0-9]{1,2})\.([0-9])", text)
    version = (int(match[1]), int(match[2])) if match else None
    if version not in VERSIONS:
        known = ", ".join(map(spell_version, VERSIONS))
        raise InputError(f"unknown PTX version {text!r}; known: {known}")
    return version


def spell_version(version: Version) -> str:
    """Spell a version as ``.version`` does: ``8.7``."""
    return f"{version[0]}.{version[1]}"


@dataclass(frozen=True)
class Availability:
    """Since when, and where, something can be used.

    Attributes
    ----------
    ptx : Version
        The lowest PTX version; a target that is younger needs its own.
    minimum : int
        The lowest target by number; its suffix does not matter.
    exactly : frozenset of str
        The only targets that have it, where it is not every target from ``minimum`` on.
    """

    ptx: Version
    minimum: int = 0
    exactly: frozenset[str] = frozenset()

    def on(self, target: Target) -> bool:
        """Say whether the target has it, in some version."""
        return target.name in self.exactly if self.exactly else target.number >= self.minimum

    def allows(self, target: Target, ptx: Version) -> bool:
        """Say whether it can be used in a module of this target and version."""
        return self.on(target) and ptx >= max(self.ptx, target.since)

    @property
    def targets(self) -> str:
        """The targets in words: ``sm_80+`` or a list."""
        if self.exactly:
            return ", ".join(name for name in TARGETS if name in self.exactly)
        return f"sm_{self.minimum}+"

    def __str__(self) -> str:
        return f"PTX {spell_version(self.ptx)}, {self.targets}"
