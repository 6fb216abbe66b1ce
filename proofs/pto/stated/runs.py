"""An instruction of PTO on buffers, with what is there before and after."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from .buffer_orders import Buffer

NPU, ALL, SCALING = ("A2A3", "A5"), ("A2A3", "A5", "CPU"), ("A5", "CPU")

Arrays = Mapping[str, Buffer]


@dataclass(frozen=True)
class Run:
    """An instruction on buffers.

    Attributes
    ----------
    name : str
        What it is about.
    profiles : tuple of str
        Where it runs.
    text : callable of a profile
        The statement.
    arrays : callable of a profile
        What is given.
    result : callable of a profile
        The buffer that is written, afterwards.
    choices : tuple of str
        Readings of what documents leave open.
    matrices : bool
        Whether matrices are given and made instead of buffers.
    """

    name: str
    profiles: tuple[str, ...]
    text: Callable[[str], str]
    arrays: Callable[[str], Arrays]
    result: Callable[[str], Buffer]
    choices: tuple[str, ...] = ()
    matrices: bool = False
