"""Clusters: which blocks they are of, their barrier, and addresses of each other's shared memory.

Source: PTX ISA 9.1 sections 9.7.9.23, 9.7.9.24 (mapa, getctarank) and 9.7.13.4 (barrier.cluster).
"""

from __future__ import annotations

from itertools import product
from math import prod

from interpreter.ptx_accesses import space_named
from interpreter.ptx_memory import WINDOWS
from interpreter.ptx_threads import RANK, STAY, Cluster, Code, Decoder, Run, State, Thread

from mmaproof.refinement.ptx.text.module import InstructionStatement

Extents = tuple[int, int, int]


def clusters(grid: Extents, cluster: Extents) -> list[list[int]]:
    """Return the numbers of the blocks of each cluster, by rank.

    Raises
    ------
    ValueError
        If the grid is no whole number of clusters.
    """
    if any(whole % part for whole, part in zip(grid, cluster, strict=True)):
        raise ValueError(f"a grid of {grid} in clusters of {cluster}")
    x, y, z = cluster
    firsts = product(range(0, grid[2], z), range(0, grid[1], y), range(0, grid[0], x))
    inside = [(c, b, a) for c in range(z) for b in range(y) for a in range(x)]
    return [[((f + c) * grid[1] + e + b) * grid[0] + d + a for c, b, a in inside] for f, e, d in firsts]


def special_registers(block: Extents, grid: Extents, cluster: Extents) -> dict[str, int]:
    """Return what the special registers of clusters say in a block."""
    inside = [place % extent for place, extent in zip(block, cluster, strict=True)]
    found = {
        "%cluster_ctarank": (inside[2] * cluster[1] + inside[1]) * cluster[0] + inside[0],
        "%cluster_nctarank": prod(cluster),
    }
    for axis, place, own, extent, whole in zip("xyz", block, inside, cluster, grid, strict=True):
        found |= {f"%clusterid.{axis}": place // extent, f"%nclusterid.{axis}": whole // extent}
        found |= {f"%cluster_ctaid.{axis}": own, f"%cluster_nctaid.{axis}": extent}
    return found


def _mapa(code: Code, i: InstructionStatement) -> Run:
    """Decode ``mapa``: the address of the same variable in the block of a rank."""
    destination, source, rank = i.operands
    width = 64 if i.types[-1] == "u64" else 32
    write, read, of = code.writer(destination, width), code.reader(source, width), code.reader(rank, 32)
    window = WINDOWS["shared"] if space_named(i) == "generic" else 0

    def run(thread: Thread) -> None:
        own = read(thread) - window - thread.block.window
        write(thread, own + (of(thread) << RANK) + window)

    return run


def _getctarank(code: Code, i: InstructionStatement) -> Run:
    destination, source = i.operands
    width = 64 if i.types[-1] == "u64" else 32
    write, read = code.writer(destination, 32), code.reader(source, width)
    window = WINDOWS["shared"] if space_named(i) == "generic" else 0
    return lambda thread: write(thread, read(thread) - window >> RANK)


def open_cluster_barrier(cluster: Cluster) -> None:
    """Begin the next turn of a cluster's barrier, if all threads that have not ended have arrived."""
    threads = [thread for block in cluster.blocks for thread in block.threads]
    if not cluster.arrived or any(
        each.state is not State.DONE and each not in cluster.arrived for each in threads
    ):
        return
    cluster.turn += 1
    cluster.arrived.clear()
    for each in threads:
        if each.waits_for_cluster and each.came is not None:
            each.waits_for_cluster, each.came = False, None
            each.state, each.pc = State.READY, each.pc + 1


def cluster_barrier(code: Code, i: InstructionStatement) -> Run:
    """Decode ``barrier.cluster.arrive`` and ``.wait``."""

    def arrive(thread: Thread) -> None:
        thread.came = thread.block.cluster.turn + 1
        thread.block.cluster.arrived.add(thread)
        open_cluster_barrier(thread.block.cluster)

    def wait(thread: Thread) -> int | None:
        if thread.came is not None and thread.came <= thread.block.cluster.turn:
            thread.came = None
            return None
        thread.state, thread.waits_for_cluster = State.WAITING, True
        return STAY

    return arrive if i.has("arrive") else wait


CLUSTERS: dict[str, Decoder] = {"mapa": _mapa, "getctarank": _getctarank}
"""How each instruction is decoded."""
