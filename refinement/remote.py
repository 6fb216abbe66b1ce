"""Sets of sizes verified by other processes, such as the workers of a cluster.

A kernel that was read, and its contract at the sizes, are sent as they are: workers need no files.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import Future
from types import MappingProxyType
from typing import Any

from .contract.contract import Instance
from .examine.output_comparison import Examination
from .instance_verification import Told, examined_in_cases
from .machine.front_end import Kernel

Found = tuple[list[tuple[Instance, Examination]], Mapping[str, Any]]
"""What was found at a set of sizes in each case of scalars, and counts of the run."""

Submit = Callable[..., Future[Any]]
"""Has somebody call a function that can be imported there, with arguments."""


def unchanging(mapping: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    """Return a mapping that can't be changed; how one is read that was sent."""
    return MappingProxyType(mapping)


copyreg.pickle(MappingProxyType, lambda mapping: (unchanging, (dict(mapping),)))


def each_examined(
    kernel: Kernel,
    instances: Sequence[Instance],
    told: Told | None,
    former: Kernel | None,
    submit: Submit | None = None,
) -> Generator[Found, None, None]:
    """Yield what is found at each set of sizes, in order.

    Parameters
    ----------
    kernel, former : Kernel
        The kernel, and the one that it is compared with, if there is one.
    instances : sequence of Instance
        The contract at each set of sizes.
    told : callable, optional
        Told about the progress.
    submit : callable, optional
        Has others do it, all sets at the same time.
    """
    if submit is None or len(instances) < 2:
        for instance in instances:
            yield examined_in_cases(kernel, instance, told, former)
        return
    futures = [submit(examined_in_cases, kernel, instance, None, former) for instance in instances]
    try:
        for done, future in enumerate(futures):
            if told is not None:
                told("running elsewhere", done, len(futures))
            yield future.result()
    finally:
        for future in futures:
            future.cancel()
