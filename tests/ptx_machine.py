"""Kernels in PTX run on terms, and what they leave in memory as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mmaproof.refinement.findings.finding import Kind
from mmaproof.refinement.machine.memory import ByteLanes
from mmaproof.refinement.ptx.compared_runs import are_same_numbers
from mmaproof.refinement.ptx.registers.threads import Launch
from mmaproof.refinement.ptx.run import machine
from mmaproof.refinement.ptx.run.launching import Argument, Number, Pointer
from mmaproof.refinement.ptx.state.address_spaces import Buffer
from mmaproof.refinement.ptx.text.module import Module
from mmaproof.refinement.ptx.text.parser import parse
from mmaproof.refinement.terms import bit_slices
from mmaproof.refinement.terms.assignments import Assignment
from mmaproof.refinement.terms.store import TermStore
from mmaproof.spec.formats import Format

BODY = 12
"""The line on which the body of a `kernel` begins."""


@dataclass
class Bench:
    """A store, and the inputs that kernels are given in it.

    Attributes
    ----------
    store : TermStore
        The terms.
    inputs : dict of str to array
        Encodings of every input's elements.
    """

    store: TermStore = field(default_factory=TermStore)
    inputs: dict[str, Any] = field(default_factory=dict)

    def given(
        self, name: str, encodings: Any, fmt: Format, alignment: int = 32, *, writable: bool = False
    ) -> Pointer:
        """Return a pointer to an input, sub-byte elements packed low first."""
        flat = np.asarray(encodings).reshape(-1)
        self.inputs[name] = flat
        terms = self.store.inputs(name, fmt, np.arange(len(flat)))
        lanes = ByteLanes(self.store, len(flat) * fmt.bits // 8)
        _fill(lanes, terms, fmt)
        return Pointer(Buffer(name, len(lanes), alignment, (lanes.terms, lanes.lows), writable))

    def run(self, module: Module | str, arguments: Sequence[Argument | int], **how: Any) -> machine.Run:
        """Run a module's only kernel; ``grid``, ``block`` and ``dynamic_shared`` say how it is launched."""
        if isinstance(module, str):
            module = parse(module, "kernel.ptx")
        (entry,) = module.entries
        launch = Launch(
            _three(how.pop("grid", 1)),
            _three(how.pop("block", 32)),
            how.pop("dynamic_shared", 0),
            _three(how.pop("cluster")) if "cluster" in how else None,
        )
        given = [Number(argument) if isinstance(argument, int) else argument for argument in arguments]
        return machine.run(
            module, entry.name, launch, given, self.store, same_numbers=are_same_numbers, **how
        )

    def left(self, done: machine.Run, name: str, fmt: Format) -> Any:
        """Return the encodings that a buffer holds in the end; each element must have been written."""
        lanes = done.contents[name].lanes
        size = fmt.bits // 8
        places = np.arange(0, len(lanes), size)
        unwritten = np.flatnonzero(~lanes.written(places, size)).tolist()
        assert not unwritten, f"elements {unwritten[:4]} of {name} are never written"
        words = lanes.read(places, size)
        return Assignment(self.store, self.inputs).values(words)


def _fill(lanes: ByteLanes, terms: Any, fmt: Format) -> None:
    if fmt.bits < 8:
        per_byte = 8 // fmt.bits
        terms = bit_slices.concatenate(lanes.store, list(terms.reshape(-1, per_byte).T))
    width = max(8, fmt.bits) // 8
    lanes.write(np.arange(0, len(lanes), width), terms)


def _three(extents: int | tuple[int, int, int]) -> tuple[int, int, int]:
    return extents if isinstance(extents, tuple) else (extents, 1, 1)


def written(name: str, size: int, alignment: int = 32) -> Pointer:
    """Return a pointer to a buffer that the kernel writes, in which there is nothing at first."""
    return Pointer(Buffer(name, size, alignment, None, writable=True))


def kinds(done: machine.Run) -> Mapping[Kind, list[int]]:
    """Return the lines of the findings of each kind."""
    found: dict[Kind, list[int]] = {}
    for finding in done.findings:
        lines = found.setdefault(finding.kind, [])
        if finding.line not in lines:
            lines.append(finding.line)
    return found


def kernel(body: str, parameters: int = 1, declared: str = "", target: str = "sm_80") -> str:
    """Return a module with one kernel of parameters ``p0``, ``p1``, …; the body begins at line `BODY`.

    ``%p``, ``%h``, ``%r``, ``%d`` and ``%f`` are registers of 1, 16, 32, 64 and (f32) 32 bits.
    """
    listed = ", ".join(f".param .u64 p{index}" for index in range(parameters))
    return "\n".join(
        [
            ".version 8.8", f".target {target}", ".address_size 64", f".visible .entry k({listed})", "{",
            ".reg .pred %p<8>;", ".reg .b16 %h<32>;", ".reg .b32 %r<64>;",
            ".reg .b64 %d<32>; .reg .f32 %f<32>;",
            declared, "// the body", *(line.strip() for line in body.strip().splitlines()), "ret;", "}",
        ]
    )  # fmt: skip
