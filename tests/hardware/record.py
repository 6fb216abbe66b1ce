"""Record what the machine's GPU does: ``python -m hardware.record`` in ``tests`` (docs/hardware.md)."""

from __future__ import annotations

import argparse
import itertools
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Protocol

import numpy as np

from mmaproof.spec.ptx.targets import Target, Version

from .cases import Case, cases
from .driver import DriverError, Gpu
from .kernels import entry, module
from .operands import draw
from .replay import report
from .vector_files import VECTORS, Array, Recording, VectorFile

UNWRITTEN = 0xA5
"""Every byte of a result before: what a kernel does not write is seen."""


class Device(Protocol):
    """What executes kernels."""

    name: str
    driver: str
    target: Target

    def run(self, source: str, entry: str, buffers: Mapping[str, Array], result: str) -> Array:
        """Run a kernel; see `Gpu.run`."""
        ...


def record(
    device: Device, wanted: Iterable[tuple[Case, Version]], vectors: int, generator: np.random.Generator
) -> Iterator[Recording]:
    """Execute cases on a device; those with many settings get a quarter of the vectors, two at least.

    Raises
    ------
    DriverError
        If one of them fails.
    """
    for number, (case, ptx) in enumerate(wanted):
        many = case.moves or case.selected.scale_a is not None
        count = max(2, vectors // 4) if many else vectors
        inputs = draw(case, count, device.target, number, generator)
        buffers = {name: inputs.get(name, _unwritten(case, name, count)) for name in case.buffers}
        result = device.run(module([case], device.target, ptx), entry(0), buffers, case.result)
        yield Recording(case, inputs, result)


def _unwritten(case: Case, name: str, count: int) -> Array:
    buffer = case.buffers[name]
    return (
        np.full((count, buffer.bytes), UNWRITTEN, np.uint8).view(buffer.dtype).reshape(count, *buffer.shape)
    )


def record_families(device: Device, folder: Path, vectors: int, seed: int) -> bool:
    """Write one file for each instruction family; return whether all was executed and is as specified."""
    good = True
    for family, wanted in itertools.groupby(cases(device.target), lambda pair: pair[0].variant.family):
        recordings: list[Recording] = []
        try:
            for recording in record(device, wanted, vectors, np.random.default_rng(seed)):
                recordings.append(recording)  # noqa: PERF402 - what came before a failure is kept
        except DriverError as error:
            print(f"{family}, after {len(recordings)} cases: {error}", file=sys.stderr)
            good = False
        if not recordings:
            continue
        file = VectorFile(str(device.target), device.name, device.driver, recordings)
        stem = re.sub(r"\W+", "-", f"{device.target}-{device.name}-{family}".lower())
        file.write(folder / f"{stem}.npz")
        different = report(file)
        print(f"{stem}: {len(recordings)} cases, {len(different)} not as specified")
        print("".join(f"  {line}\n" for line in different), end="")
        good = good and not different
    return good


def main() -> int:
    """Record on the first GPU."""
    parser = argparse.ArgumentParser(description="Record what this machine's GPU computes.")
    parser.add_argument("--folder", type=Path, default=VECTORS, help="where the files go")
    parser.add_argument("--vectors", type=int, default=8, help="vectors of each case")
    parser.add_argument("--seed", type=int, default=0, help="of the random operands")
    arguments = parser.parse_args()
    try:
        gpu = Gpu()
    except DriverError as error:
        print(error, file=sys.stderr)
        return 2
    return 0 if record_families(gpu, arguments.folder, arguments.vectors, arguments.seed) else 1


if __name__ == "__main__":
    sys.exit(main())
