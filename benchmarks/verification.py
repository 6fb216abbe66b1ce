"""How long it takes to verify kernels, of Triton, in PTO text and for Power10, as a whole process."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from math import prod
from pathlib import Path

from .figure import Figure, shortest_time

TESTS = Path(__file__).parent.parent / "tests"
KERNEL = "gemm_f16_f32_f32_128x128x32_s3_sm80.ptx"
TILE = 128


SCALED = "mxfp8_128x128x64_sm120.ptx"
STEPS = 4

PTO = TESTS / "kernels" / "pto" / "blocks_f16.pto"
PTO_SIZES = {"M": 128, "N": 128, "K": 256}


POWER = TESTS / "kernels" / "power" / "dgemm.s"
POWER_PRODUCTS = 16 * 16 * 128


def figures() -> Iterator[Figure]:
    once, twice = (seconds(k) for k in (TILE, 2 * TILE))
    yield Figure("mmaproof verify, M = N = K = 128", once, "s", 5)
    yield Figure("mmaproof verify, M = N = 128, every K", every_k_seconds(), "s", 5)
    yield Figure("mmaproof verify, every M, N and K", every_size_seconds(), "s", 10)
    yield Figure("millions of multiply-adds a second", TILE**3 / once / 1e6, "M/s", 1)
    yield Figure("how much less than 2.2 times K = 256 takes", 2.2 * once / twice, "fold", 1)
    yield Figure("mmaproof verify, block-scaled, M = N = 128, K = 256", scaled_seconds(), "s", 10)
    yield Figure("mmaproof verify, attention, 128 queries and keys, head of 64", attention_seconds(), "s", 30)
    pto = pto_seconds()
    yield Figure("mmaproof verify, PTO text, 128 x 128 x 256", pto, "s", 5)
    yield Figure("its millions of multiply-adds a second", prod(PTO_SIZES.values()) / pto / 1e6, "M/s")
    power = power_seconds()
    yield Figure("mmaproof verify, Power10 dgemm, as many products as 16 x 16 x 128", power, "s", 10)
    yield Figure("its millions of multiply-adds a second", POWER_PRODUCTS / power / 1e6, "M/s")
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 2**20
    yield Figure("memory free of 1 GiB", 1 - largest, "GiB", 0)


def seconds(k: int) -> float:
    """Verify the f16 kernel at one K."""
    sys.path.insert(0, str(TESTS))
    from triton_contracts import CORPUS, KERNELS, contract

    return _seconds(CORPUS / KERNEL, contract(KERNELS[KERNEL], {"M": TILE, "N": TILE, "K": k}))


def every_k_seconds() -> float:
    """Verify the f16 kernel for every K that is a multiple of its tile's."""
    sys.path.insert(0, str(TESTS))
    from triton_contracts import CORPUS, for_every_k

    return _seconds(CORPUS / KERNEL, for_every_k(KERNEL, "any multiple of 32 up to 1048576"), "--every")


def every_size_seconds() -> float:
    """Verify the f16 kernel for every M, N and K that are multiples of its tile's."""
    sys.path.insert(0, str(TESTS))
    from triton_contracts import CORPUS, for_sizes

    domains = {"M": 128, "N": 128, "K": 32}
    wanted = {name: f"any multiple of {step} up to 16384" for name, step in domains.items()}
    return _seconds(CORPUS / KERNEL, for_sizes(KERNEL, wanted), "--every")


def scaled_seconds() -> float:
    """Verify the block-scaled kernel."""
    sys.path.insert(0, str(TESTS))
    from scaled_triton_contracts import CORPUS, KERNELS, contract

    return _seconds(CORPUS / SCALED, contract(KERNELS[SCALED], STEPS))


def attention_seconds() -> float:
    """Verify online attention of Triton over tiles of 16 keys."""
    sys.path.insert(0, str(TESTS))
    from row_contracts import CORPUS, contract

    sizes = {"N": 128, "H": 64}
    return _seconds(CORPUS / "ragged_attention.ptx", contract("ragged_attention.ptx", sizes))


def pto_seconds() -> float:
    """Verify the K-blocked product of PTO text, all of its blocks."""
    contract = PTO.with_suffix(".toml").read_text(encoding="utf-8")
    head, *sizes = contract.split("[[sizes]]\n")
    rest = sizes[-1].partition("\n\n")[2]
    stated = "".join(f"{name} = {value}\n" for name, value in PTO_SIZES.items())
    text = f"{head}[[sizes]]\n{stated}\n{rest}".replace('isa = "pto"', 'isa = "pto"\nprofile = "A5"')
    return _seconds(PTO, text)


def power_seconds() -> float:
    """Verify the paper's DGEMM kernel as gcc compiles it, of panels of 8 rows and columns."""
    sys.path.insert(0, str(TESTS))
    from power_kernels import DGEMM

    return _seconds(POWER, DGEMM.replace("{N}", str(POWER_PRODUCTS // 64)))


def _seconds(kernel: Path, contract: str, *options: str) -> float:
    """Verify a kernel; one that is not verified is no measurement.

    Raises
    ------
    subprocess.CalledProcessError
        If it is not verified.
    """
    with tempfile.TemporaryDirectory() as directory:
        written = Path(directory) / "gemm.toml"
        written.write_text(contract, encoding="utf-8")
        command = [sys.executable, "-m", "mmaproof", "verify", str(kernel), "--contract", str(written)]
        command += options
        return shortest_time(
            lambda: subprocess.run(command, env=os.environ, stdout=subprocess.DEVNULL, check=True), 3
        )
