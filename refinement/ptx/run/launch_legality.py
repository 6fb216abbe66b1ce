"""Whether hardware can perform a launch."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ....spec.ptx.launch_limits import LaunchLimits, launch_limits
from ..registers.threads import Launch
from ..text.module import Function, Module
from ..text.variables import bytes_in, used_variables

_AXES = "xyz"


def violations(module: Module, function: Function, launch: Launch) -> list[str]:
    """Return what keeps a launch from being done, each in one line."""
    limits = launch_limits(module.target, module.version)
    return [
        *_extents(launch, limits),
        *_clusters(function, launch, limits),
        *_memory(module, function, launch, limits),
    ]


def _extents(launch: Launch, limits: LaunchLimits) -> Iterator[str]:
    for what, given, allowed in (("grid", launch.grid, limits.grid), ("block", launch.block, limits.block)):
        for axis, extent, most in zip(_AXES, given, allowed, strict=True):
            if extent > most:
                yield f"the {what} has {extent} along {axis}; at most {most}"
    if launch.threads > limits.threads:
        yield f"a block of {_spelled(launch.block)} has {launch.threads} threads; at most {limits.threads}"


def _clusters(function: Function, launch: Launch, limits: LaunchLimits) -> Iterator[str]:
    required = function.limits.get("reqnctapercluster")
    cluster = launch.cluster
    if cluster is None:
        if "explicitcluster" in function.limits:
            yield f"{function.name} is .explicitcluster, and the launch has no clusters"
        return
    if required is not None and cluster != _three(required):
        yield (
            f"a launch in clusters of {_spelled(cluster)}; .reqnctapercluster asks for "
            f"{_spelled(_three(required))}"
        )
    whose = ".reqnctapercluster" if required is not None else "the launch"
    most = min([limits.cluster, *function.limits.get("maxclusterrank", ())])
    if not prod(cluster):
        yield f"{whose} asks for clusters of {_spelled(cluster)} blocks; each extent is at least 1"
    elif prod(cluster) > most:
        most_blocks = f"at most {most}" if limits.cluster else "the target has no clusters"
        yield f"{whose} asks for clusters of {prod(cluster)} blocks; {most_blocks}"
    elif any(blocks % each for blocks, each in zip(launch.grid, cluster, strict=True)):
        yield f"a grid of {_spelled(launch.grid)} is not a whole number of clusters of {_spelled(cluster)}"


def _memory(module: Module, function: Function, launch: Launch, limits: LaunchLimits) -> Iterator[str]:
    used = used_variables(module, function)
    static = bytes_in(used, "shared")
    shared = static + (launch.dynamic_shared or 0)
    if static > limits.static_shared:
        yield f"{static} bytes of static shared memory; at most {limits.static_shared}"
    elif shared > limits.shared:
        yield (
            f"{shared} bytes of shared memory, {launch.dynamic_shared} of them dynamic; "
            f"{module.target} has at most {limits.shared}"
        )
    sizes = (
        ("local memory for each thread", bytes_in(used, "local"), limits.local),
        ("constant memory", bytes_in([*module.variables, *function.variables], "const"), limits.constant),
        ("parameters", sum(parameter.size or 0 for parameter in function.parameters), limits.parameters),
    )
    for what, size, most in sizes:
        if size > most:
            yield f"{size} bytes of {what}; at most {most}"


def _three(extents: tuple[int, ...]) -> tuple[int, int, int]:
    x, y, z = (*extents, 1, 1, 1)[:3]
    return x, y, z


def _spelled(extents: tuple[int, int, int]) -> str:
    return " × ".join(map(str, extents))
