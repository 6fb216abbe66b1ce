"""Every kernel of every corpus, with the contract that was written for it and the verdict it has to have."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import cuda_contracts
import cutlass_kernels
import operator_kernels
import power_kernels
import pto_kernels
import row_contracts
import scaled_triton_contracts
import triton_contracts


@dataclass(frozen=True)
class Known:
    """A kernel of a corpus.

    Attributes
    ----------
    corpus, name : str
        Where it is from, and which it is.
    place : callable
        Takes a folder to compile or write in, and returns the kernel's file.
    contract : str
        The text of its contract.
    verdict : str
        ``verified``, or ``refuted`` where a fault was planted.
    """

    corpus: str
    name: str
    place: Callable[[Path], Path]
    contract: str
    verdict: str

    @property
    def of(self) -> str:
        """The name without what tells variants, targets and faults apart."""
        return re.split(r"_(?:fault|edit|sm\d)|\.", self.name)[0]


def _stored(path: Path) -> Callable[[Path], Path]:
    return lambda folder: path


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _verdict(fault: object) -> str:
    return "refuted" if fault else "verified"


def kernels() -> Iterator[Known]:
    """Yield them all, PTX first."""
    examples = cuda_contracts.CORPUS
    for name in cuda_contracts.KERNELS:
        contract = _text(cuda_contracts.contract_of(name))
        yield Known("CUDA", name, _stored(examples / name), contract, "verified")
    triton = examples.parent / "triton"
    product = _text(triton / "product.toml")
    yield Known("Triton products", "product", _stored(triton / "product.ptx"), product, "verified")
    for name, facts in operator_kernels.KERNELS.items():
        contract, place = _text(operator_kernels.contract_of(name)), _stored(operator_kernels.CORPUS / name)
        yield Known("CUDA operators", name, place, contract, _verdict(facts["fault"]))
    for name, facts in triton_contracts.KERNELS.items():
        contract, place = triton_contracts.contract(facts), _stored(triton_contracts.CORPUS / name)
        yield Known("Triton products", name, place, contract, _verdict(facts["fault"]))
    for name, facts in row_contracts.KERNELS.items():
        contract, place = row_contracts.contract(name), _stored(row_contracts.CORPUS / name)
        yield Known("Triton rows", name, place, contract, _verdict(facts["fault"]))
    for name, facts in scaled_triton_contracts.KERNELS.items():
        contract, place = (
            scaled_triton_contracts.contract(facts),
            _stored(scaled_triton_contracts.CORPUS / name),
        )
        yield Known("Triton scaled", name, place, contract, "verified")
    yield from _cutlass()
    yield from _power()
    yield from _pto()


def _cutlass() -> Iterator[Known]:
    from tests.refinement.test_verify_cutlass_kernels import CASES

    for case in CASES:
        built = cutlass_kernels.stored(case.source)
        contract = cutlass_kernels.contract(
            built, case.parameters(built), case.sizes, case.formula, case.requires
        )
        place = _stored(cutlass_kernels.SOURCES / f"{case.source}_sm80.ptx")
        yield Known("CUTLASS", case.source, place, contract, "verified")


def _power() -> Iterator[Known]:
    from tests.refinement.power.test_verify_power_kernels import SIZES

    def compiled(name: str, flags: str) -> Callable[[Path], Path]:
        return lambda folder: power_kernels.compiled(power_kernels.source(name), folder, flags)

    def copied(folder: Path) -> Path:
        return Path(shutil.copy(power_kernels.SOURCES / "dgemm.s", folder))

    for name, contract in power_kernels.CONTRACTS.items():
        filled = power_kernels.filled(contract, SIZES[name][-1])
        for flags in ("-O2", "-O3"):
            yield Known("Power", f"{name}.{flags}", compiled(name, flags), filled, "verified")
    yield Known("Power", "dgemm.s", copied, power_kernels.filled(power_kernels.DGEMM, {"N": 3}), "verified")


def _pto() -> Iterator[Known]:
    from tests.refinement.pto.test_verify_pto_kernels import EXAMPLE, ILLEGAL

    for name in pto_kernels.KERNELS:
        for profile in pto_kernels.PROFILES:
            verdict = _verdict((name, profile) in ILLEGAL)
            contract = pto_kernels.contract_of(name, profile)
            yield Known(
                "PTO", f"{name}.{profile}", _stored(pto_kernels.CORPUS / f"{name}.pto"), contract, verdict
            )
    yield Known("PTO", "gemm", _stored(EXAMPLE / "gemm.pto"), _text(EXAMPLE / "gemm.toml"), "verified")
