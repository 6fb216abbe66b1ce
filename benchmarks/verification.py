"""How long it takes to verify the 128x128x32-tile f16 kernel that Triton compiles, as a whole process."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .figure import Figure, shortest_time

TESTS = Path(__file__).parent.parent / "tests"
KERNEL = "gemm_f16_f32_f32_128x128x32_s3_sm80.ptx"
TILE = 128


def figures() -> Iterator[Figure]:
    once, twice = (seconds(k) for k in (TILE, 2 * TILE))
    yield Figure("mmaproof verify, M = N = K = 128", once, "s", 5)
    yield Figure("millions of multiply-adds a second", TILE**3 / once / 1e6, "M/s", 1)
    yield Figure("how much less than 2.2 times K = 256 takes", 2.2 * once / twice, "fold", 1)
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    yield Figure("memory free of 2 GiB", 2 - largest, "GiB", 0)


def seconds(k: int) -> float:
    """Verify the kernel at one K; a kernel that is not verified is no measurement.

    Raises
    ------
    subprocess.CalledProcessError
        If it is not verified.
    """
    sys.path.insert(0, str(TESTS))
    from triton_contracts import CORPUS, KERNELS, contract

    with tempfile.TemporaryDirectory() as directory:
        written = Path(directory) / "gemm.toml"
        written.write_text(contract(KERNELS[KERNEL], {"M": TILE, "N": TILE, "K": k}), encoding="utf-8")
        command = [
            sys.executable,
            "-m",
            "mmaproof",
            "verify",
            str(CORPUS / KERNEL),
            "--contract",
            str(written),
        ]
        return shortest_time(
            lambda: subprocess.run(command, env=os.environ, stdout=subprocess.DEVNULL, check=True), 3
        )
