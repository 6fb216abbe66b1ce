"""PTX kernels for the verification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from ...spec.errors import InputError
from ...spec.ptx.operands import Integer
from ...spec.ptx.targets import target_named
from ..contract import arguments
from ..contract.arguments import Array, Pointers, SharedBuffer
from ..contract.contract import Contract, Instance
from ..contract.element_places import place_of
from ..contract.parameters import Access
from ..contract.size_domains import ResidueClass, SizeDomain
from ..findings.candidate import Candidate
from ..findings.demangling import demangled, spellings
from ..findings.guard_outcomes import GuardOutcome
from ..machine.array_memory import ArrayMemory, initial_bytes, memories, results_of
from ..machine.front_end import FinalArray, Outcome, Progress, only_entry
from ..machine.kernel_outline import KernelOutline
from ..machine.memory import ByteLanes
from ..machine.shared_buffers import Joined, put_together, taken_apart
from ..terms.interning import Ids
from ..terms.store import CONSTANT, TermStore
from .outline.outline import outline
from .registers.threads import Indices, Launch
from .run import machine
from .run.arrivals import in_every_order
from .run.guards import conditions_on_sizes
from .run.launching import (
    POINTER_BYTES,
    Argument,
    Number,
    Pointer,
    Scalar,
    Structure,
    check_size,
    entry_named,
)
from .state.address_spaces import Buffer
from .text.module import Function, InstructionStatement, Module
from .text.parser import read

if TYPE_CHECKING:
    from .any_size.block_proofs import BlockProver
    from .any_size.size_proofs import SizeProof


_TURNING = frozenset({"setp", "set", "and", "rem", "min", "max", "bfe", "slct"})
"""Opcodes by whose constants something turns."""

_ENDS = MappingProxyType({"u8": 1 << 8, "s8": 1 << 7, "u16": 1 << 16, "s16": 1 << 15})
"""Where integers of narrow types end."""


@dataclass(frozen=True)
class PtxKernel:
    """A kernel of a PTX module; see `mmaproof.refinement.machine.front_end.Kernel`.

    Attributes
    ----------
    module : Module
        The file.
    entry : str
        The kernel's name.
    """

    module: Module
    entry: str

    @property
    def path(self) -> str:
        """The file."""
        return self.module.path

    @property
    def target(self) -> str:
        """The processor that it is for."""
        return self.module.target

    def source(self, line: int) -> str:
        """Return where ``.loc`` says that a line comes from."""
        return self._sources.get(line, "")

    def place(self, _: int) -> str:
        """Return nothing: PTX is text."""
        return ""

    @cached_property
    def turning_numbers(self) -> frozenset[int]:
        """Integers at which the kernel's counters, masks and comparisons turn, as its text has them."""
        body = entry_named(self.module, self.entry).body
        literals = {
            operand.value
            for each in body
            if each.opcode in _TURNING
            for operand in each.operands
            if isinstance(operand, Integer)
        }
        types = {name for each in body for name in each.types}
        return frozenset(literals | {number for name, number in _ENDS.items() if name in types})

    @cached_property
    def _sources(self) -> Mapping[int, str]:
        bodies = (function.body for function in self.module.functions.values())
        return {each.line: str(each.source) for body in bodies for each in body if each.source is not None}

    @cached_property
    def _conditions_on_sizes(self) -> Mapping[str, frozenset[str]]:
        return conditions_on_sizes(entry_named(self.module, self.entry))

    def run(
        self,
        instance: Instance,
        store: TermStore,
        inputs: Mapping[str, Ids],
        progress: Progress | None = None,
        blocks: Indices | None = None,
        before: Mapping[str, ByteLanes] | None = None,
        *,
        traced: bool = False,
    ) -> Outcome:
        """Run the kernel, or some of its blocks, on terms."""
        self._check_sizes(instance)
        memory, held = memories(instance), before or {}
        later = bool(instance.contract.launches)
        shared = {
            each.name: _buffer(instance, each, put_together(each, memory, store, inputs, held))
            for each in instance.buffers
        }
        given: dict[str, Number | Scalar | Pointer] = {name: Pointer(each) for name, each in shared.items()}
        for each in instance.arguments:
            if isinstance(each, Array) and each.within is not None:
                given[each.name] = Pointer(shared[each.within], each.at)
            else:
                given[each.name] = _argument(each, memory, store, inputs, held, later=later)
        given |= {each.name: _address(each, given) for each in instance.pointers}
        taken = self.packed(instance, given)
        launch = Launch(instance.grid, instance.block, instance.dynamic_shared)
        once = partial(
            machine.run,
            self.module,
            self.entry,
            launch,
            taken,
            store,
            accumulation=str(instance.contract.accumulate),
            progress=progress,
            blocks=blocks,
            traced=traced,
        )
        arrays_given = [each for each in instance.arguments if isinstance(each, Array)]
        workspaces = {each.name for each in arrays_given if each.access is Access.SCRATCH}
        if traced or blocks is not None or _on_numbers(arrays_given, store, inputs):
            done = machine.run_apart_from_races(once)
        else:
            done = in_every_order(
                store, lambda turns: machine.run_apart_from_races(partial(once, turns=turns)), workspaces
            )
        arrays = {name: _final(found) for name, found in done.contents.items()}
        for buffer in instance.buffers:
            if buffer.name in arrays:
                arrays |= taken_apart(buffer, arrays[buffer.name])
        for name in memory.keys() - arrays.keys():  # nothing that the kernel takes leads there
            lanes = held[name] if name in held else initial_bytes(store, memory[name], inputs)
            arrays[name] = FinalArray(lanes, np.zeros(len(lanes), dtype=np.int32), np.full(len(lanes), -1))
        return Outcome(
            arrays,
            done.findings,
            done.loads,
            done.shared_loads,
            done.block_threads,
            done.complete,
            done.unordered,
            done.reordered,
            done.alignments,
            done.depends,
            asdict(done.statistics),
            done.thread_name,
            guards=tuple(self._guards(instance, done.guards)),
            assumptions=done.assumptions,
            notes=done.notes,
        )

    def _guards(self, instance: Instance, guards: Sequence[GuardOutcome]) -> Iterator[GuardOutcome]:
        """Yield the guards that depend on numbers that are passed, and on which."""
        parameters = entry_named(self.module, self.entry).parameters
        names: dict[str, list[str]] = {}
        for parameter, passed in zip(parameters, instance.passed, strict=False):
            of_structure = [] if isinstance(passed, str) else [name for _, name in passed.fields]
            names[parameter.name] = [passed] if isinstance(passed, str) else of_structure
        for each in guards:
            if (found := self._conditions_on_sizes.get(each.condition)) is not None:
                within = [name for one in found for name in names.get(one.partition("+")[0], ())]
                yield replace(each, behind=frozenset(within))

    def packed(self, instance: Instance, given: Mapping[str, Number | Scalar | Pointer]) -> list[Argument]:
        """Return the kernel's arguments, in its order, of what parameters are by name."""
        widths = {each.name: _bytes(each) for each in (*instance.arguments, *instance.pointers)}
        return [
            given[each]
            if isinstance(each, str)
            else Structure(each.size, tuple((at, widths[name], given[name]) for at, name in each.fields))
            for each in instance.passed
        ]

    def argument(
        self,
        given: arguments.Scalar | Array,
        memory: Mapping[str, ArrayMemory],
        store: TermStore,
        inputs: Mapping[str, Ids],
    ) -> Number | Scalar | Pointer:
        """Return one argument: a number, data, or an array's address."""
        return _argument(given, memory, store, inputs, {}, later=True)

    def for_every(
        self,
        contract: Contract,
        known: Mapping[str, int],
        domain: SizeDomain,
        told: Callable[[str], None],
    ) -> SizeProof:
        """Prove that the kernel is right for every number of a size, the others being known.

        Raises
        ------
        UnsupportedError
            If that is not shown.
        """
        from .any_size.residue_classes import factors_of, prove
        from .any_size.symbolic_launch import SymbolicLaunch

        def launched(numbers: ResidueClass) -> SymbolicLaunch:
            return SymbolicLaunch(self, contract, known, numbers)

        return prove(launched, domain, told, factors_of(contract))

    def every_block(self, contract: Contract, told: Callable[[str], None]) -> BlockProver:
        """Return what proves the kernel right for every number of the sizes by which its grid grows.

        Raises
        ------
        UnsupportedError
            If the grid does not grow with sizes in a way that is modelled.
        """
        from .any_size.block_proofs import BlockProver

        return BlockProver(self, contract, told)

    def _check_sizes(self, instance: Instance) -> None:
        """Check that every parameter has the bytes of what the contract passes."""
        parameters = entry_named(self.module, self.entry).parameters
        described = {each.name: each for each in (*instance.arguments, *instance.pointers)}
        for parameter, passed in zip(parameters, instance.passed, strict=False):
            if not isinstance(passed, str):
                check_size(self.module, parameter, passed.name, "a structure", passed.size)
                continue
            given = described[passed]
            what = str(given.format) if isinstance(given, arguments.Scalar) else "a pointer"
            check_size(self.module, parameter, given.name, what, _bytes(given))


def _on_numbers(arrays: Sequence[Array], store: TermStore, inputs: Mapping[str, Ids]) -> bool:
    """Tell whether numbers stand for data, of which a float's sum is another one in another order."""
    data = [each for each in arrays if each.access in (Access.IN, Access.INOUT) and each.contents is None]
    return bool(data) and all(store.are(CONSTANT, inputs[each.name]).all() for each in data)


def _final(found: machine.Contents) -> FinalArray:
    before = None if found.overwritten is None else _final(found.overwritten)
    return FinalArray(found.lanes, found.lines, found.threads, before)


def _bytes(given: arguments.Scalar | Array | Pointers) -> int:
    return -(-given.format.bits // 8) if isinstance(given, arguments.Scalar) else POINTER_BYTES


def _address(pointers: Pointers, given: Mapping[str, Number | Scalar | Pointer]) -> Pointer:
    """Return an address in an array, or the one of the memory in which such are."""
    found = []
    for name, offset in pointers.targets:
        target = given[name]
        assert isinstance(target, Pointer)
        found.append(Pointer(target.buffer, target.offset + offset))
    if not pointers.in_memory:
        return found[0]
    name = pointers.name
    return Pointer(
        Buffer(
            name,
            POINTER_BYTES * len(found),
            pointers.alignment,
            addresses=tuple((each.buffer, each.offset) for each in found),
            naming=lambda byte: f"{name}[{byte // POINTER_BYTES}]",
        )
    )


def _argument(
    given: arguments.Scalar | Array,
    memory: Mapping[str, ArrayMemory],
    store: TermStore,
    inputs: Mapping[str, Ids],
    before: Mapping[str, ByteLanes],
    *,
    later: bool,
) -> Number | Scalar | Pointer:
    if isinstance(given, arguments.Scalar):
        return _scalar(given, inputs)
    lanes = before.get(given.name)
    return _pointer(
        memory[given.name],
        initial_bytes(store, memory[given.name], inputs) if lanes is None else lanes,
        later=later,
    )


def _scalar(given: arguments.Scalar, inputs: Mapping[str, Ids]) -> Number | Scalar:
    return Scalar(int(inputs[given.name].reshape(()))) if given.value is None else Number(given.value)


def _buffer(instance: Instance, buffer: SharedBuffer, held: Joined) -> Buffer:
    return Buffer(
        buffer.name,
        buffer.size,
        buffer.alignment,
        (held.lanes.terms, held.lanes.lows),
        buffer.is_written,
        unowned=held.unowned,
        naming=held.naming,
        results=None if instance.contract.launches else held.results,
    )


def _pointer(memory: ArrayMemory, lanes: ByteLanes, *, later: bool) -> Pointer:
    array = memory.array
    return Pointer(
        Buffer(
            array.name,
            array.size,
            array.alignment,
            (lanes.terms, lanes.lows),
            array.access.is_written,
            array.footprint,
            memory.unowned,
            lambda byte: str(place_of(array, 8 * byte)),
            results=None if later else results_of(memory),
        )
    )


def read_kernel(path: Path, entry: str | None, target: str | None) -> PtxKernel:
    """Read a kernel of a PTX file; a target takes the place of the file's."""
    module = read(path)
    if target is not None:
        target_named(target)
        module = replace(module, target=target)
    return PtxKernel(module, _entry(module, entry, path).name)


def read_outline(path: Path, entry: str | None) -> KernelOutline:
    """Read what a kernel of a PTX file says of its launch, and does with its parameters."""
    module = read(path)
    return outline(module, _entry(module, entry, path))


def candidates_of(path: Path) -> list[Candidate]:
    """Return the kernels of a PTX file."""
    found = []
    for entry in read(path).entries:
        products = Counter(_listed(each) for each in entry.body if each.multiplies_matrices)
        if entry.defined:
            found.append(Candidate(entry.name, 0, 0, dict(products.most_common())))
    return found


def _listed(product: InstructionStatement) -> str:
    return product.mnemonic + ("" if product.is_matrix_instruction else " (not modelled)")


def _entry(module: Module, name: str | None, path: Path) -> Function:
    defined = {each.name: each for each in module.entries if each.defined}
    if name in defined:
        return defined[name]
    meant = [each for each in defined if name is None or name in spellings(each)]
    if name is not None and not meant:
        known = ", ".join(map(demangled, defined)) or "none"
        raise InputError(f"{path} has no kernel {name!r}; there are: {known}")
    return defined[only_entry(meant, path)]
