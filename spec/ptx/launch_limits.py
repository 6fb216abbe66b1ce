"""What a launch can have: extents of grids and blocks, and memory, by compute capability.

Source: NVIDIA's CCCL at 004ad198, ``cuda/__device/arch_traits.h``: grids, blocks, shared and constant memory
of sm_60 on. The programming guide's table itself was not at hand, so the rows of sm_50 to sm_53, sm_72 and
sm_101, local memory and the 16 blocks of a cluster are unconfirmed. Parameters: the messages of ptxas 13.0.
Static shared memory over 48 KiB is refused for every target, although ptxas 13.0 takes it for sm_90a and
other targets with a suffix.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType

from .targets import Version

KIB = 1024

_OPT_IN_SHARED = MappingProxyType(
    {
        50: 48, 52: 48, 53: 48, 60: 48, 61: 48, 62: 48, 70: 96, 72: 96, 75: 64,
        80: 163, 86: 99, 87: 163, 88: 99, 89: 99, 90: 227,
        100: 227, 101: 227, 103: 227, 110: 227, 120: 99, 121: 99,
    }
)  # fmt: skip
"""KiB of shared memory that a block can have, by compute capability times ten."""

_CLUSTERS_SINCE = 90
_LARGE_PARAMETERS: Version = (8, 1)


@dataclass(frozen=True)
class LaunchLimits:
    """The largest launch of one target; sizes are in bytes.

    Attributes
    ----------
    grid, block : (int, int, int)
        Extents along x, y and z.
    threads : int
        Of a block.
    static_shared : int
        Shared memory that a kernel declares with its size.
    shared : int
        All shared memory of a block.
    local : int
        Of a thread.
    constant : int
        Constant variables of a module.
    parameters : int
        Of a kernel.
    cluster : int
        Blocks of a cluster; 0 where there are none.
    """

    shared: int
    parameters: int
    cluster: int
    grid: tuple[int, int, int] = (2**31 - 1, 65_535, 65_535)
    block: tuple[int, int, int] = (1024, 1024, 64)
    threads: int = 1024
    static_shared: int = 48 * KIB
    local: int = 512 * KIB
    constant: int = 64 * KIB


def launch_limits(target: str, version: Version) -> LaunchLimits:
    """Return the largest launch of a target (``sm_90a``) and PTX version.

    A target that is not in the table has what the most capable one has.
    """
    digits = re.match(r"sm_(\d{1,6})", target)
    number = int(digits[1]) if digits else max(_OPT_IN_SHARED) + 1
    large = version >= _LARGE_PARAMETERS and number >= 70
    return LaunchLimits(
        KIB * _OPT_IN_SHARED.get(number, max(_OPT_IN_SHARED.values())),
        32_764 if large else 4_352,
        16 if number >= _CLUSTERS_SINCE else 0,
    )
