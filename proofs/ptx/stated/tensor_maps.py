"""Places of elements of boxes, worked out by hand, and tensor maps that there are not.

Sources: PTX ISA 9.1 sections 5.5 (tensors, swizzling modes: the tables of 16-byte chunks) and 9.7.9.25; CUDA
driver API, cuTensorMapEncodeTiled (constraints of each parameter).
"""

from __future__ import annotations

from typing import NamedTuple

from ...text_tables import table


class Placed(NamedTuple):
    """An element of a box.

    Attributes
    ----------
    tensor : str
        The map.
    corner : tuple of int
        Coordinates of the box.
    element : tuple of int
        The element's place in the box.
    start : int
        Where the box begins in shared memory.
    box_bytes : int
        Bytes of the whole box.
    shared : int
        Where the element is in shared memory.
    memory : int, optional
        Where it is from the beginning of the tensor; None outside.
    """

    tensor: str
    corner: tuple[int, ...]
    element: tuple[int, ...]
    start: int
    box_bytes: int
    shared: int
    memory: int | None


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part, 0) for part in text.split())


PLACED = [
    Placed(
        row["map"],
        _numbers(row["corner"]),
        _numbers(row["index"]),
        int(row["start"], 0),
        int(row["bytes"]),
        int(row["shared"], 0),
        int(row["global"]) if row["global"] else None,
    )
    for row in table(__package__, "tensor_maps")
]
"""Every listed element."""

LEGAL: dict[str, object] = {
    "element": "f16", "sizes": (256, 64, 8), "strides": (512, 32768), "box": (64, 16, 2), "steps": (1, 1, 1),
    "swizzle": 128,
}  # fmt: skip
"""The fields of a map that there is."""

FAULTS: dict[tuple[tuple[str, object], ...], str] = {
    (): "",
    (("sizes", (256,)), ("strides", ()), ("box", (64,)), ("steps", ())): "",
    (("sizes", (8,) * 6), ("strides", (512,) * 5), ("box", (8,) * 6), ("steps", ())): "map-rank",
    (("sizes", ()), ("strides", ()), ("box", ()), ("steps", ())): "map-rank",
    (("strides", (512,)),): "map-rank",
    (("box", (64, 16)),): "map-rank",
    (
        ("sizes", (256, 64)),
        ("strides", (512,)),
        ("box", (8, 16)),
        ("steps", ()),
        ("interleave", 16),
    ): "map-rank",
    (("element", "s8"),): "map-value",
    (("swizzle", 96),): "map-value",
    (("interleave", 64),): "map-value",
    (("fill", "ones"),): "map-value",
    (("address", 8),): "map-address",
    (("address", 16),): "",
    (("sizes", (0, 64, 8)),): "map-size",
    (("sizes", (1 << 32, 64, 8)),): "",
    (("sizes", ((1 << 32) + 1, 64, 8)),): "map-size",
    (("strides", (520, 32768)),): "map-stride",
    (("strides", (512, 1 << 40)),): "map-stride",
    (("strides", (512, (1 << 40) - 16)),): "",
    (("box", (64, 257, 2)),): "map-box",
    (("box", (64, 256, 2)),): "",
    (("box", (64, 0, 2)),): "map-box",
    (("box", (72, 16, 2)),): "map-row",
    (("box", (4, 16, 2)), ("swizzle", 0)): "map-row",
    (("box", (128, 16, 2)), ("swizzle", 0)): "",
    (("steps", (1, 9, 1)),): "map-step",
    (("steps", (1, 0, 1)),): "map-step",
    (("steps", (1, 8, 1)),): "",
    (("interleave", 32),): "map-interleave",
    (("interleave", 32), ("swizzle", 32), ("box", (8, 16, 2))): "",
    (("interleave", 32), ("swizzle", 32), ("box", (8, 16, 2)), ("address", 16)): "map-address",
    (("interleave", 32), ("swizzle", 32), ("box", (8, 16, 2)), ("strides", (528, 32768))): "map-stride",
    (("fill", "nan"),): "",
    (("element", "u16"), ("fill", "nan")): "map-fill",
}
"""The rule that a map violates with some fields changed; nothing for a map that there is."""
