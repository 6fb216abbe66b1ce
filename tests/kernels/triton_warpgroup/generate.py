"""Compile products.py for sm_90a to the PTX files beside it: ``python generate.py``, with triton 3.9.

Beside each lies the contract for it. The faults are edits of the text: ``tests/triton_warpgroup_faults.py``.
"""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
os.environ["TRITON_DEFAULT_FP_FUSION"] = "1"

import products
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

HERE = Path(__file__).parent
SWIZZLES = (0, 32, 64, 128)
TILE = {"TILE_M": 64, "TILE_N": 32, "TILE_K": 32}
SIZES = {"m_size": "M", "n_size": "N", "k_size": "K"}
SHAPES = {"a": ["M", "K"], "b": ["N", "K"], "c": ["M", "N"]}
BOXES = {"a": [64, 32], "b": [32, 32], "c": [64, 32]}

BUILDS = (
    ("by_pointers", "by_pointers", {}, 3),
    ("by_maps", "by_maps", {"ROLES": False}, 2),
    ("by_roles", "by_maps", {"ROLES": True}, 2),
    ("by_made_maps", "by_made_maps", {}, 2),
)
"""The file, the kernel, constants of its own, and how many stages of a pipeline."""


def build(name: str, kernel: str, constants: dict[str, bool], stages: int) -> None:
    """Write a kernel and its contract."""
    function = getattr(products, kernel)
    values = {**TILE, **constants}
    maps = kernel == "by_maps"
    of_c = "f16" if kernel != "by_pointers" else "f32"
    signature, attributes = {}, {}
    for number, parameter in enumerate(function.arg_names):
        if parameter in values:
            signature[parameter] = "constexpr"
            continue
        attributes[(number,)] = [["tt.divisibility", 16]]
        if parameter in SIZES:
            signature[parameter] = "i32"
        elif maps:
            signature[parameter] = f"tensordesc<fp16[{', '.join(map(str, BOXES[parameter]))}]>"
            del attributes[(number,)]
        else:
            signature[parameter] = "*fp32" if (parameter, of_c) == ("c", "f32") else "*fp16"
    source = ASTSource(function, signature, constexprs=values, attrs=attributes)
    built = triton.compile(
        source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4, "num_stages": stages}
    )
    text = clean(built.asm["ptx"])
    (HERE / f"{name}.ptx").write_text(text)
    threads = int(re.search(r"\.reqntid (\d+)", text)[1])
    shapes = SHAPES if kernel != "by_pointers" else {**SHAPES, "b": ["K", "N"]}
    lines = [
        "[kernel]", 'isa = "ptx"', "[launch]", 'grid = ["M // 64", "N // 32"]', f"block = {threads}",
        f"dynamic_shared = {built.metadata.shared}", "[sizes]", "M = 64", "N = 64", "K = 96",
    ]  # fmt: skip
    swizzles = [SWIZZLES[each["swizzle"]] for each in built.metadata.tensordesc_meta or ()]
    for parameter, kind in signature.items():
        array = [f'type = "{of_c if parameter == "c" else "f16"}"', f"shape = {shapes.get(parameter)}"]
        array += ['access = "out"'] if parameter == "c" else []
        if kind == "i32":
            lines += ["[[param]]", f'name = "{parameter}"', 'type = "s32"', f'value = "{SIZES[parameter]}"']
        elif maps and kind != "constexpr":
            lines += [
                "[[array]]", f'name = "{parameter}"', *array,
                "[[param]]", f'name = "{parameter}_map"', 'type = "tensor_map"', f'to = "{parameter}"',
                f"box = {BOXES[parameter]}", f"swizzle = {swizzles.pop(0)}",
            ]  # fmt: skip
            for place, integer in enumerate(("s32", "s32", "s64", "s64")):
                lines += ["[[param]]", f'name = "{parameter}_{place}"', f'type = "{integer}"', "value = 1"]
        elif kind != "constexpr":
            lines += ["[[param]]", f'name = "{parameter}"', *array]
    lines += ["[[param]]", 'name = "global_scratch"']
    if size := built.metadata.global_scratch_size:
        blocks = "(M // 64) * (N // 32)"
        lines += ['type = "u8"', f'shape = ["{size} * {blocks}"]', 'access = "scratch"']
    else:
        lines += ['type = "u64"', "value = 0"]
    lines += ["[[param]]", 'name = "profile_scratch"', 'type = "u64"', "value = 0"]
    product = "a[i, k] * b[k, j]" if kernel == "by_pointers" else "a[i, k] * b[j, k]"
    lines += ["[ensures]", f'formula = "c[i, j] = {of_c}(sum(k, {product}))"']
    (HERE / f"{name}.toml").write_text("\n".join(lines).replace("'", '"') + "\n")
    print(f"{len(text):8} {name}")


def clean(ptx: str) -> str:
    """Drop what names this machine, places in the source, and the DWARF sections."""
    ptx = re.sub(r"^\s*(\.loc\s|//|\$L__tmp|\$L__func).*\n", "", ptx, flags=re.MULTILINE)
    ptx = re.sub(r"^\s*\.file.*\n", "", ptx, flags=re.MULTILINE)
    return re.sub(r"^\s*\.section\s[^{]*\{.*?\}\n?", "", ptx, flags=re.DOTALL | re.MULTILINE)


if __name__ == "__main__":
    for each in BUILDS:
        build(*each)
