"""PTO kernels for the verification."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ...spec.errors import InputError
from ...spec.formats import FloatFormat
from ...spec.pto.assembly import parse_module
from ...spec.pto.targets import Profile, profile_named
from ...spec.pto.text.module import Function, Module
from ...spec.text_files import read_text
from ..contract.contract import Instance, Synchronisation
from ..machine.array_memory import memories
from ..machine.front_end import Outcome, Progress, only_entry
from ..machine.kernel_outline import KernelOutline
from ..machine.memory import ByteLanes
from ..terms.interning import Ids
from ..terms.store import TermStore
from .launching import arguments_of
from .outline import outline
from .pipes.synchronisation import is_explicit
from .run import machine
from .run.core_pairs import peer_of
from .text.cores import VECTOR, called_functions, cores_of, kind_of
from .tiles.global_arrays import global_arrays
from .tiles.values import Value


@dataclass(frozen=True)
class PtoKernel:
    """A kernel of a PTO file; see `mmaproof.refinement.machine.front_end.Kernel`.

    Attributes
    ----------
    module : Module
        The file.
    entry : str
        The function's name.
    profile : Profile
        Who runs it.
    """

    module: Module
    entry: str
    profile: Profile

    @property
    def path(self) -> str:
        """The file."""
        return str(self.module.path)

    @property
    def target(self) -> str:
        """The profile that it is for."""
        return self.profile.name

    def source(self, line: int) -> str:
        """Return nothing: the text is the source."""
        return ""

    def place(self, _: int) -> str:
        """Return nothing: PTO is text."""
        return ""

    @cached_property
    def functions(self) -> Mapping[str, Function]:
        """Every function of the file by name."""
        return functions_of(self.module)

    @property
    def peer(self) -> Function | None:
        """The function of the other core, of a kernel that is two functions."""
        return peer_of(self.functions[self.entry], self.functions)

    def control_part(self) -> PtoKernel:
        """Return itself; see `Kernel.control_part`."""
        return self

    def run(
        self,
        instance: Instance,
        store: TermStore,
        inputs: Mapping[str, Ids],
        progress: Progress | None = None,
        blocks: NDArray[np.intp] | None = None,
        before: Mapping[str, ByteLanes] | None = None,
        *,
        traced: bool = False,
    ) -> Outcome:
        """Run the kernel, or some of its blocks, on terms."""
        function, contract = self.functions[self.entry], instance.contract
        if instance.buffers:
            raise InputError("arrays of PTO kernels have memory of their own: no [[buffer]]", contract.path)
        arrays = global_arrays(memories(instance), store, inputs, before or {})
        fixed = arguments_of(function, instance, arrays, store, inputs)
        done = machine.run(
            self.path,
            self.functions,
            self._entries(function),
            self.profile,
            prod(instance.grid),
            lambda block: _of_block(fixed, block),
            arrays,
            store,
            machine.accumulation(self.profile, contract.accumulate),
            explicit=self._is_explicit(contract.synchronisation),
            some=None if blocks is None else [int(each) for each in blocks],
            progress=progress,
            traced=traced,
        )
        return Outcome(
            done.arrays,
            done.findings,
            done.loads,
            done.local_loads,
            1,
            done.complete,
            done.unordered,
            done.unordered,
            done.alignments,
            done.depends,
            done.counts,
            lambda block: f"block {block}",
            assumptions=(*self._assumptions(instance), *done.assumptions),
        )

    def _entries(self, function: Function) -> list[tuple[str, Function]]:
        """Return what each core of a block runs."""
        entries = [function] if self.peer is None else [function, self.peer]
        return [(core, entry) for entry in entries for core in cores_of(entry, self.functions)]

    def _assumptions(self, instance: Instance) -> tuple[str, ...]:
        if not any(isinstance(output.format, FloatFormat) for output in instance.outputs):
            return ()
        return machine.assumptions(self.profile, instance.contract.accumulate)

    def _is_explicit(self, said: Synchronisation | None) -> bool:
        """Tell whether the kernel puts its pipes in order itself; the CPU simulator has no pipes."""
        if said is not None:
            return said is Synchronisation.EXPLICIT
        return self.profile.cube and is_explicit(self.module)


def _of_block(given: Sequence[Value | None], block: int) -> list[Value]:
    """Return the arguments of a block; None stands for its number."""
    return [block if each is None else each for each in given]


def functions_of(module: Module) -> dict[str, Function]:
    """Return every function of a file by name.

    Raises
    ------
    InputError
        If there are two of one name.
    """
    found: dict[str, Function] = {}
    for node in module.walk():
        if isinstance(node, Function):
            if node.name in found and node.body is not None and found[node.name].body is not None:
                raise InputError(f"{node.name} is defined twice", f"{module.path}:{node.line}")
            if node.name not in found or node.body is not None:
                found[node.name] = node
    return found


def read_kernel(path: Path, entry: str | None, target: str | None) -> PtoKernel:
    """Read a kernel of a PTO file; a target takes the place of the file's."""
    module = parse_module(read_text(path), str(path))
    function = entry_of(module, entry, path)
    named = target or module.target
    if named is None:
        raise InputError(f"{path} names no profile (pto.target_arch): give one as profile in [kernel]")
    return PtoKernel(module, function.name, profile_named(named))


def read_outline(path: Path, entry: str | None) -> KernelOutline:
    """Read what a kernel of a PTO file does with its parameters."""
    module = parse_module(read_text(path), str(path))
    return outline(module, entry_of(module, entry, path), functions_of(module))


def entry_of(module: Module, name: str | None, path: Path) -> Function:
    """Return the function of a name, the only one marked ``pto.entry``, or the only one that no other calls.

    Raises
    ------
    InputError
        If there is no such, or there are several.
    """
    defined = {each.name: each for each in functions_of(module).values() if each.body is not None}
    if name is None:
        inner = called_functions(module) | {
            each.name for each in defined.values() if each.visibility == "private"
        }
        marked = [each.name for each in defined.values() if dict(each.attributes).keys() & {"pto.entry"}]
        outer = marked or [each for each in defined if each not in inner] or list(defined)
        name = only_entry(_without_peers(outer, defined), path)
    if name not in defined:
        known = ", ".join(defined) or "none"
        raise InputError(f"{path} has no function {name}; it has: {known}")
    return defined[name]


def _without_peers(names: Sequence[str], defined: Mapping[str, Function]) -> list[str]:
    """Leave out functions for the vector core where one for the other core is there."""
    return [
        name for name in names if kind_of(defined[name]) != VECTOR or peer_of(defined[name], defined) is None
    ]
