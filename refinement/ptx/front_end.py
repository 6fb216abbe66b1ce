"""PTX kernels for the verification."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from ...spec.errors import InputError
from ...spec.ptx.targets import target_named
from .. import contract
from ..array_memory import content
from ..contract import Array, Instance
from ..front_end import FinalArray, Outcome, Progress, only_entry
from ..interning import Ids
from ..terms import TermStore
from . import machine
from .address_spaces import Buffer
from .launching import Argument, Number, Pointer, Scalar
from .module import Module
from .parser import read
from .threads import Launch


@dataclass(frozen=True)
class PtxKernel:
    """A kernel of a PTX module; see `mmaproof.refinement.front_end.Kernel`.

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

    def run(
        self,
        instance: Instance,
        store: TermStore,
        inputs: Mapping[str, Ids],
        progress: Progress | None = None,
    ) -> Outcome:
        """Run the kernel on terms."""
        arguments = [self._argument(each, store, inputs) for each in instance.arguments]
        done = machine.run(
            self.module,
            self.entry,
            Launch(instance.grid, instance.block, instance.dynamic_shared),
            arguments,
            store,
            accumulation=str(instance.contract.accumulate),
            progress=progress,
        )
        arrays = {name: FinalArray(found.lanes, found.lines) for name, found in done.contents.items()}
        return Outcome(
            arrays,
            done.findings,
            done.loads,
            done.complete,
            done.unordered,
            done.reordered,
            asdict(done.statistics),
        )

    def _argument(
        self, given: Array | contract.Scalar, store: TermStore, inputs: Mapping[str, Ids]
    ) -> Argument:
        if isinstance(given, contract.Scalar):
            return Scalar(int(inputs[given.name].reshape(()))) if given.value is None else Number(given.value)
        held = None
        if given.name in inputs:
            lanes = content(store, given, inputs[given.name])
            held = (lanes.terms, lanes.lows)
        return Pointer(Buffer(given.name, given.size, given.alignment, held, given.access.is_output))


def read_kernel(path: Path, entry: str | None, target: str | None) -> PtxKernel:
    """Read a kernel of a PTX file; a target takes the place of the file's."""
    module = read(path)
    if target is not None:
        target_named(target)
        module = replace(module, target=target)
    defined = [each.name for each in module.entries if each.defined]
    if entry is None:
        entry = only_entry(defined, path)
    elif entry not in defined:
        raise InputError(f"{path} has no kernel {entry!r}; there are: {', '.join(defined) or 'none'}")
    return PtxKernel(module, entry)
