"""Compile products.py to the PTX files beside it: ``python compile.py``, with triton 3.9 (no GPU, no torch).

``kernels.json`` says of each file what a contract must know.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent / "triton"))

import products  # noqa: E402
import triton  # noqa: E402
from generate import clean  # noqa: E402
from triton.backends.compiler import GPUTarget  # noqa: E402
from triton.compiler import ASTSource  # noqa: E402

SMALL, LARGE = (32, 32, 64), (128, 128, 64)
FORMATS = {
    "mxfp8": ("e4m3", "*fp8e4nv", 1, "ue8m0", "*u8", 32),
    "mxfp4": ("e2m1", "*u8", 2, "ue8m0", "*u8", 32),
    "nvfp4": ("e2m1", "*u8", 2, "ue4m3", "*fp8e4nv", 16),
}
"""Elements and scale factors as contracts and Triton call them, elements in a byte, elements of a scale."""


def block_scaled(kind: str, tile: tuple[int, int, int]) -> tuple[str, dict[str, object]]:
    element, pointer, packed, scale, scales, group = FORMATS[kind]
    types = {"a_pointer": pointer, "b_pointer": pointer, "a_scales": scales, "b_scales": scales}
    constants = {"PACKED": packed, "GROUP": group, "FORMAT": element}
    ptx, row = compiled(products.block_scaled, types, constants, tile, 120)
    return ptx, {**row, "element": element, "packed": packed, "scale": scale, "group": group}


def compiled(
    kernel: triton.JITFunction,
    types: dict[str, str],
    constants: dict[str, object],
    tile: tuple[int, int, int],
    target: int,
) -> tuple[str, dict[str, object]]:
    """Return the PTX of a kernel and its row of ``kernels.json``."""
    constants = {**constants, **dict(zip(("TILE_M", "TILE_N", "TILE_K"), tile, strict=True))}
    types = {**types, "c_pointer": "*fp32"}
    signature = {
        name: "constexpr" if name in constants else types.get(name, "i32") for name in kernel.arg_names
    }
    made = triton.compile(
        ASTSource(
            kernel,
            signature=signature,
            constexprs={(kernel.arg_names.index(name),): value for name, value in constants.items()},
            attrs={
                (index,): [["tt.divisibility", 16]]
                for index, kind in enumerate(signature.values())
                if kind != "constexpr"
            },
        ),
        target=GPUTarget("cuda", target, 32),
        options={"num_warps": 4, "num_stages": 2},
    )
    ptx = clean(made.asm["ptx"], debug=False)
    return ptx, {
        "entry": made.metadata.name,
        "target": re.search(r"^\.target (\w+)", ptx, re.MULTILINE)[1],
        "threads": 32 * made.metadata.num_warps,
        "shared_bytes": made.metadata.shared,
        "tile": tile,
    }


if __name__ == "__main__":
    builds = {f"{kind}_32x32x64_sm120": block_scaled(kind, SMALL) for kind in FORMATS}
    builds["mxfp8_128x128x64_sm120"] = block_scaled("mxfp8", LARGE)
    halves = {"a_pointer": "*fp16", "b_pointer": "*u8", "scales": "*fp16"}
    builds["w4a16_32x32x64_sm80"] = compiled(products.dequantised, halves, {"GROUP": 64}, SMALL, 80)
    singles = {"a_pointer": "*fp32", "b_pointer": "*fp32"}
    builds["tf32x3_32x32x32_sm80"] = compiled(products.split_tf32, singles, {}, (32, 32, 32), 80)
    for name, (ptx, _) in builds.items():
        (HERE / f"{name}.ptx").write_text(ptx)
    rows = ",\n".join(f"{json.dumps(f'{name}.ptx')}: {json.dumps(row)}" for name, (_, row) in builds.items())
    (HERE / "kernels.json").write_text(f"{{\n{rows}\n}}\n")
