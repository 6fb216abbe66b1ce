"""PTX kernels for the verification."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...spec.errors import InputError
from ...spec.ptx.targets import target_named
from ..contract import arguments
from ..contract.arguments import Array, Pointers
from ..contract.contract import Contract, Instance
from ..contract.parameters import Access
from ..contract.size_domains import ResidueClass, SizeDomain
from ..findings.candidate import Candidate
from ..findings.demangling import demangled, spellings
from ..findings.guard_outcomes import GuardOutcome
from ..machine.array_memory import initial_bytes, memories
from ..machine.front_end import FinalArray, Outcome, Progress, only_entry
from ..machine.kernel_outline import KernelOutline
from ..machine.memory import ByteLanes
from ..machine.shared_buffers import put_together, taken_apart
from ..terms.interning import Ids
from ..terms.store import CONSTANT, TermStore
from .compared_runs import are_same_numbers
from .every_order import in_every_order, with_every_takeover
from .instruction_set import is_arithmetic
from .outline.control_part import control_part
from .outline.outline import outline
from .registers.threads import Indices, Launch
from .run import machine
from .run.entry import PtxEntry, address_of, argument_of, buffer_of, bytes_of
from .run.guards import conditions_on_sizes
from .run.host_variables import variables_held
from .run.launching import Pointer, Simple, check_size, cluster_of, entry_named
from .run.results import Contents, Run
from .state.cluster_launches import Takeovers
from .text.module import Function, InstructionStatement, Module
from .text.parser import read
from .text.plain_text import with_halved_registers, with_plain_branches

if TYPE_CHECKING:
    from .any_size.block_proofs import BlockProver
    from .any_size.size_proofs import SizeProof


@dataclass(frozen=True)
class PtxKernel(PtxEntry):
    """A kernel of a PTX module that can be run; see `mmaproof.refinement.machine.front_end.Kernel`."""

    @cached_property
    def _conditions_on_sizes(self) -> Mapping[str, frozenset[str]]:
        return conditions_on_sizes(entry_named(self.module, self.entry))

    def control_part(self) -> PtxKernel:
        """Return what the control flow depends on, if that is arithmetic on registers; else itself."""
        function = entry_named(self.module, self.entry)
        part = control_part(function, self._conditions_on_sizes.keys(), is_arithmetic)
        if part is None:
            return self
        functions = {**self.module.functions, self.entry: part}
        return PtxKernel(replace(self.module, functions=functions), self.entry)

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
            each.name: buffer_of(instance, each, put_together(each, memory, store, inputs, held))
            for each in instance.buffers
        }
        given: dict[str, Simple] = {name: Pointer(each) for name, each in shared.items()}
        for argument in instance.arguments:
            if isinstance(argument, Array) and argument.within is not None:
                given[argument.name] = Pointer(shared[argument.within], argument.at)
            else:
                given[argument.name] = argument_of(argument, memory, store, inputs, held, later=later)
        given |= {pointer.name: address_of(pointer, given) for pointer in instance.pointers}
        taken = self.packed(instance, given)
        function = entry_named(self.module, self.entry)
        cluster = cluster_of(function, instance.cluster)
        held_by = variables_held(self.module, instance, given)
        launch = Launch(instance.grid, instance.block, instance.dynamic_shared, cluster, held_by)
        once = partial(
            machine.run,
            self.module,
            self.entry,
            launch,
            taken,
            store,
            accumulation=str(instance.contract.accumulate),
            mended=instance.contract.mended,
            same_numbers=are_same_numbers,
            progress=progress,
            blocks=blocks,
            traced=traced,
        )
        arrays_given = [argument for argument in instance.arguments if isinstance(argument, Array)]
        workspaces = {each.name for each in arrays_given if each.access is Access.SCRATCH}
        if traced or blocks is not None or _on_numbers(arrays_given, store, inputs):
            done = machine.run_apart_from_races(once)
        else:
            done = with_every_takeover(store, partial(_in_every_order, once, store, workspaces), workspaces)
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
        for guard in guards:
            if (found := self._conditions_on_sizes.get(guard.condition)) is not None:
                within = [name for one in found for name in names.get(one.partition("+")[0], ())]
                yield replace(guard, behind=frozenset(within))

    def for_every(
        self,
        contract: Contract,
        known: Mapping[str, int],
        domain: SizeDomain,
        told: Callable[[str], None],
        probe: Callable[[str], None] = lambda _: None,
    ) -> SizeProof:
        """Prove that the kernel is right for every number of a size, the others being known.

        Raises
        ------
        UnsupportedError
            If that is not shown.
        """
        from .any_size.capped_grids import parts, prove_parts
        from .any_size.residue_classes import factors_of, prove
        from .any_size.symbolic_launch import SymbolicLaunch
        from .any_size.thread_steps import prove_steps
        from .any_size.thread_stores import ThreadStores
        from .any_size.thread_sums import ThreadSums

        if (capped := parts(contract, domain)) is not None:
            below, beyond = capped
            block = self.every_block(below.contract, told, probe)
            return prove_parts(
                partial(block.proof, {}, None),
                below.domain,
                partial(self.for_every, beyond.contract, known, beyond.domain, told, probe),
            )

        def launched(numbers: ResidueClass) -> SymbolicLaunch:
            return SymbolicLaunch(self, contract, known, numbers)

        of = self, contract, known, domain, told
        otherwise = partial(prove, launched, domain, told, factors_of(contract))
        sums = ThreadSums(*of)
        return prove_steps(sums, ThreadStores(*of), otherwise, partial(sums.proof, falls=True), probe)

    def every_block(
        self,
        contract: Contract,
        told: Callable[[str], None],
        probe: Callable[[str], None] = lambda _: None,
    ) -> BlockProver:
        """Return what proves the kernel right for every number of the sizes by which its grid grows.

        Raises
        ------
        UnsupportedError
            If the grid does not grow with sizes in a way that is modelled.
        """
        from .any_size.block_proofs import BlockProver

        return BlockProver(self, contract, told, probe)

    def _check_sizes(self, instance: Instance) -> None:
        """Check that every parameter has the bytes of what the contract passes."""
        parameters = entry_named(self.module, self.entry).parameters
        described = {argument.name: argument for argument in (*instance.arguments, *instance.pointers)}
        for parameter, passed in zip(parameters, instance.passed, strict=False):
            if not isinstance(passed, str):
                check_size(self.module, parameter, passed.name, "a structure", passed.size)
                continue
            given = described[passed]
            what = str(given.format) if isinstance(given, arguments.Scalar) else "a pointer"
            if isinstance(given, Pointers) and given.tensor is not None:
                what = "a tensor map"
            check_size(self.module, parameter, given.name, what, bytes_of(given))


def _in_every_order(
    once: Callable[..., Run], store: TermStore, workspaces: Collection[str], takeovers: Takeovers | None
) -> Run:
    """Run a kernel in every order in which its threads may come, its clusters taking over others."""

    def again(turns: Mapping[int, int]) -> Run:
        return machine.run_apart_from_races(partial(once, turns=turns, takeovers=takeovers))

    return in_every_order(store, again, workspaces)


def _on_numbers(arrays: Sequence[Array], store: TermStore, inputs: Mapping[str, Ids]) -> bool:
    """Tell whether numbers stand for data, of which a float's sum is another one in another order."""
    data = [array for array in arrays if array.access in (Access.IN, Access.INOUT) and array.contents is None]
    return bool(data) and all(store.are(CONSTANT, inputs[each.name]).all() for each in data)


def _final(found: Contents) -> FinalArray:
    before = None if found.overwritten is None else _final(found.overwritten)
    return FinalArray(found.lanes, found.lines, found.threads, before)


def read_kernel(path: Path, entry: str | None, target: str | None) -> PtxKernel:
    """Read a kernel of a PTX file; a target takes the place of the file's."""
    module = with_halved_registers(with_plain_branches(read(path)))
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
    defined = {entry.name: entry for entry in module.entries if entry.defined}
    if name in defined:
        return defined[name]
    meant = [each for each in defined if name is None or name in spellings(each)]
    if name is not None and not meant:
        known = ", ".join(map(demangled, defined)) or "none"
        raise InputError(f"{path} has no kernel {name!r}; there are: {known}")
    return defined[only_entry(meant, path)]
