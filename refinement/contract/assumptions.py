"""Assumptions of a verdict that come from the contract: how arrays lie in memory."""

from __future__ import annotations

from collections.abc import Mapping

from .contract import Instance


def assumptions_of(instance: Instance, alignments: Mapping[str, int]) -> list[str]:
    """Return what a kernel relies on, and only the contract promises.

    Parameters
    ----------
    instance : Instance
        Of the contract.
    alignments : mapping of str to int
        To how many bytes the kernel's accesses need each array to be aligned.
    """
    found = [
        f"{buffer.name} is aligned to {needed} bytes (the contract says {buffer.alignment})"
        for buffer in instance.buffers
        if (needed := alignments.get(buffer.name, 1)) > 1
    ]
    for name, array in instance.arrays.items():
        needed = alignments.get(name, 1)
        if 8 * needed > max(8, array.element_bits):
            found.append(f"{name} is aligned to {needed} bytes (the contract says {array.alignment})")
    if len(instance.arrays) > 1 and any(array.access.is_written for array in instance.arrays.values()):
        found.append("no two arrays overlap")
    return found
