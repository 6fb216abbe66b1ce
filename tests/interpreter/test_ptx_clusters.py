"""Clusters, bulk copies and boxes of tensor maps: the interpreter in several orders and the machine."""

from pathlib import Path

import pytest
from cluster_kernels import EXCHANGE, MULTICAST, PRODUCT, RING, ClusterKernel, Edit
from interpreter.ptx_interpreter import SCHEDULES
from interpreter.ptx_launched_kernels import Outcome, compare
from paired_copies import PAIRED, PAIRED_BYTES
from remote_sums import SUMS
from sweep_parameters import few

ROOT = Path(__file__).parents[1] / "kernels"

KERNELS = {
    "exchange": EXCHANGE,
    "ring": RING,
    "multicast": MULTICAST,
    "product": PRODUCT,
    "paired copies": PAIRED,
    "paired copies of words of bytes": PAIRED_BYTES,
    "sums": SUMS,
}


def outcome(kernel: ClusterKernel, folder: Path, seed: int, *edits: Edit) -> Outcome:
    """Run an edited kernel both ways; the seed says in which order, and whether copies are made early."""
    text, contract = kernel.text, kernel.contract
    for old, new in edits:
        assert old in text, old
        text = text.replace(old, new, 1)
    path, described = folder / "k.ptx", folder / "k.toml"
    path.write_text(text)
    described.write_text(contract)
    return compare(path, described, SCHEDULES[seed // 2 % len(SCHEDULES)], seed)


@pytest.mark.parametrize("seed", range(2 * len(SCHEDULES)))
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_of_two_blocks(name: str, seed: int, tmp_path: Path) -> None:
    found = outcome(KERNELS[name], tmp_path, seed)
    assert (found.findings, found.fault, found.left_out, found.differing) == ([], "", "", [])
    assert found.compared > 0


STOPPING: dict[str, tuple[ClusterKernel, Edit]] = {
    "nobody arrives": (EXCHANGE, ("barrier.cluster.arrive;", "")),
    "a rank too far": (EXCHANGE, ("xor.b32 %r10, %r1, 1;", "add.u32 %r10, %r1, 1;")),
    "no bytes are expected of the second copy": (PAIRED, ("[full], 512", "[full], 384")),
    "a phase that does not come": (PAIRED, ("[full], 0;", "[full], 1;\n@!%p2 bra WAIT;\nAGAIN:\n"
                                            "mbarrier.try_wait.parity.shared::cta.b64 %p2, [full], 0;\n"
                                            "@%p2 bra AGAIN;")),
    "an arrival less": (RING, ("[full], 64", "[full], 65")),
    "a barrier of the peer that is none": (RING, ("mov.u32 %r4, full;", "mov.u32 %r4, stage;")),
}  # fmt: skip


@pytest.mark.parametrize("fault", STOPPING)
def test_what_stops_the_machine_stops_the_interpreter(fault: str, tmp_path: Path) -> None:
    kernel, edit = STOPPING[fault]
    found = outcome(kernel, tmp_path, 2, edit)
    assert found.findings and found.fault


HARMLESS: dict[str, tuple[ClusterKernel, Edit]] = {
    "the own rank": (EXCHANGE, ("xor.b32 %r10, %r1, 1;", "mov.u32 %r10, %r1;")),
    "rows exchanged": (PAIRED, ("{%r5, %r1}", "{%r5, %r6}")),
    "a corner outside": (PAIRED, ("mov.u32 %r5, 0;", "mov.u32 %r5, -8;")),
}
"""Edits that leave other values, and no other fault."""


@pytest.mark.parametrize("edit", HARMLESS)
@pytest.mark.parametrize("seed", (0, 1))
def test_other_values_are_the_same_on_both_sides(edit: str, seed: int, tmp_path: Path) -> None:
    kernel, change = HARMLESS[edit]
    edits = [change]
    if "%r6}" in change[1]:
        edits.append(("mov.u32 %r5, 0;", "mov.u32 %r5, 0;\nxor.b32 %r6, %r1, 1;"))
    found = outcome(kernel, tmp_path, seed, *edits)
    assert (found.findings, found.fault, found.left_out, found.differing) == ([], "", "", [])
    assert found.compared > 0


COMPILED = (
    "triton_warpgroup/attention",
    "triton_warpgroup/by_made_maps",
    "triton_warpgroup/by_maps",
    "triton_warpgroup/by_pointers",
    "triton_warpgroup/by_roles",
    "triton_warpgroup/persistent",
    "triton_tensor_memory/attention",
    "triton_tensor_memory/by_pointers",
    "triton_tensor_memory/by_roles",
    "triton_tensor_memory/pairs",
    "triton_tensor_memory/persistent",
    "triton_tensor_memory/scaled",
)


@pytest.mark.parametrize("name", few(COMPILED, "triton_warpgroup/by_maps", "triton_tensor_memory/by_roles"))
@pytest.mark.parametrize("seed", (1, 4))
def test_pipelines_that_triton_compiles(name: str, seed: int) -> None:
    path = ROOT / f"{name}.ptx"
    found = compare(path, path.with_suffix(".toml"), SCHEDULES[seed % len(SCHEDULES)], seed)
    assert (found.findings, found.fault, found.left_out, found.differing) == ([], "", "", [])
    assert found.compared > 0
