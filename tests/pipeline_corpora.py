"""Kernels for Hopper and Blackwell with their contracts, right and with faults, for the table of verdicts.

They are not among `contract_corpora`, each of which runs on numbers and gets a draft, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import tensor_memory_faults
import tensor_memory_kernels
import triton_tensor_memory_faults
import triton_warpgroup_faults
import warpgroup_faults
import warpgroup_kernels
from faulty_kernels import Faulty

TRITON = (
    (
        "Warpgroups",
        triton_warpgroup_faults.CORPUS,
        ("by_pointers", "by_maps", "by_roles", "persistent"),
    ),
    ("Tensor memory", triton_tensor_memory_faults.CORPUS, ("by_pointers", "by_roles")),
)
"""What Triton compiled, and takes less than five seconds of the processor, by its corpus."""


def pipelines() -> Iterator[Faulty]:
    """Yield them all, right kernels first, by their corpora."""
    for corpus, folder, names in TRITON:
        for name in names:
            yield Faulty(corpus, name, _stored(folder / name))
    for corpus, right in (
        ("Warpgroups", warpgroup_kernels.RIGHT),
        ("Tensor memory", tensor_memory_kernels.RIGHT),
    ):
        for kernel in right:
            yield Faulty(corpus, _named(kernel), _written(kernel.text, kernel.contract))
    for name, (of, *_) in warpgroup_faults.FAULTS.items():
        yield Faulty("Warpgroups", name, _written(warpgroup_faults.faulty(name), of.contract))
    for name, (hand, old, new, _) in tensor_memory_faults.FAULTS.items():
        text = tensor_memory_faults.edited(hand, old, new)
        yield Faulty("Tensor memory", name, _written(text, hand.contract))


def _named(kernel: object) -> str:
    """Return what a kernel has that is not the default."""
    plain, own = vars(type(kernel)()), vars(kernel)
    return ", ".join(f"{name} {own[name]}" for name in plain if own[name] != plain[name]) or "plain"


def _stored(path: Path) -> Callable[[Path], tuple[Path, Path]]:
    return lambda folder: (path.with_suffix(".ptx"), path.with_suffix(".toml"))


def _written(text: str, contract: str) -> Callable[[Path], tuple[Path, Path]]:
    def placed(folder: Path) -> tuple[Path, Path]:
        kernel, described = folder / "kernel.ptx", folder / "contract.toml"
        kernel.write_text(text, encoding="utf-8")
        described.write_text(contract, encoding="utf-8")
        return kernel, described

    return placed
