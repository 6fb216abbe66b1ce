"""What a launch can have, by compute capability and PTX version.

Sources: NVIDIA's CCCL at 004ad198, ``cuda/__device/arch_traits.h``; messages of ptxas 13.0 for parameters.
"""

from __future__ import annotations

from ...text_tables import table

SHARED = {
    target: 1024 * int(row["KiB"])
    for row in table(__package__, "shared")
    for target in row["targets"].split()
}
"""Bytes of shared memory that a block can have; unknown targets have what the most capable one has."""

CLUSTERS = frozenset({"sm_90", "sm_90a", "sm_100", "sm_100a", "sm_101", "sm_103", "sm_110", "sm_120",
                      "sm_120a", "sm_121", "sm_121a", "sm_999", "future"})  # fmt: skip
"""Targets with clusters, of up to 16 blocks."""

SMALL_PARAMETERS = frozenset({"sm_50", "sm_52", "sm_53", "sm_60", "sm_61", "sm_62"})
"""Targets whose kernels have 4352 bytes of parameters in every version; others 32764 from PTX 8.1 on."""

EVERYWHERE = {
    "grid": (2147483647, 65535, 65535), "block": (1024, 1024, 64), "threads": 1024, "static_shared": 49152,
    "local": 524288, "constant": 65536,
}  # fmt: skip
"""What is the same for all."""
