"""Every kernel of every corpus with a fault in it, small or stored whole, with its contract."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import contract_corpora
import cuda_contracts
import cuda_faults
import power_kernels
import pto_kernels


class Faulty(NamedTuple):
    """A kernel with a fault.

    Attributes
    ----------
    corpus, name : str
        Where it is from, and which it is.
    placed : callable
        Writes it in a folder; returns the file, and that of its contract.
    """

    corpus: str
    name: str
    placed: Callable[[Path], tuple[Path, Path]]

    def __str__(self) -> str:
        return f"{self.corpus}: {self.name}"


def faulty_kernels() -> Iterator[Faulty]:
    """Yield them all, corpus by corpus."""
    for known in contract_corpora.kernels():
        if known.verdict == "refuted":
            yield Faulty(known.corpus, known.name, _stored(known))
    for fault in cuda_faults.FAULTS:
        yield Faulty("CUDA faults", fault.name, _edited(fault.edit))
    yield from _pto()
    yield from _power()


def _stored(known: contract_corpora.Known) -> Callable[[Path], tuple[Path, Path]]:
    def placed(folder: Path) -> tuple[Path, Path]:
        contract = folder / "contract.toml"
        contract.write_text(known.contract, encoding="utf-8")
        return known.place(folder), contract

    return placed


def _edited(edit: cuda_contracts.Edit) -> Callable[[Path], tuple[Path, Path]]:
    def placed(folder: Path) -> tuple[Path, Path]:
        kernel = folder / edit.kernel
        kernel.write_text(edit.applied(), encoding="utf-8")
        return kernel, cuda_contracts.contract_of(edit.kernel)

    return placed


def _pto() -> Iterator[Faulty]:
    from tests.refinement.pto.test_verify_pto_mutants import FAULTS, Fault

    def planted(fault: Fault) -> Callable[[Path], tuple[Path, Path]]:
        def placed(folder: Path) -> tuple[Path, Path]:
            kernel, contract = folder / "kernel.pto", folder / "contract.toml"
            kernel.write_text(pto_kernels.text_of(fault.kernel, *fault.replacements), encoding="utf-8")
            wanted = pto_kernels.contract_of(fault.kernel, "A5", first_sizes=True)
            contract.write_text(wanted, encoding="utf-8")
            return kernel, contract

        return placed

    for name, fault in FAULTS.items():
        yield Faulty("PTO faults", name, planted(fault))


def _power() -> Iterator[Faulty]:
    from tests.refinement.power.test_verify_power_kernels import MUTANTS, mutant

    def planted(number: int) -> Callable[[Path], tuple[Path, Path]]:
        def placed(folder: Path) -> tuple[Path, Path]:
            name, old, new, sizes, _ = MUTANTS[number]
            kernel = power_kernels.compiled(mutant(name, old, new), folder, "-O2")
            contract = folder / "contract.toml"
            filled = power_kernels.filled(power_kernels.CONTRACTS[name], sizes)
            contract.write_text(filled, encoding="utf-8")
            return kernel, contract

        return placed

    for number, (name, *_, reason) in enumerate(MUTANTS):
        if reason is not None:
            yield Faulty("Power faults", f"{name} {number}", planted(number))
