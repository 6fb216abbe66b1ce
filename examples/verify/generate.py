"""Compile the CUDA sources to the PTX files beside them: ``python generate.py``, with nvcc 13.0 on the path.

``kernels.json`` says of each file its source, entry, target and block; each source says the rest.
"""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

HERE = Path(__file__).parent

TARGETS = {
    "dequantised_s4_f16": ("sm_80",),
    "grouped_f32": ("sm_80",),
    "mma_f16": ("sm_80", "sm_89", "sm_120a"),
    "mma_f64": ("sm_80",),
    "mma_mxf4": ("sm_120a",),
    "mma_mxf8f6f4": ("sm_120a",),
    "mma_s4": ("sm_80",),
    "mma_sparse_f16": ("sm_80",),
    "nf4_f32": ("sm_80",),
    "shuffled_gemv_f32": ("sm_80",),
    "simt_f32": ("sm_80", "sm_89"),
    "wmma_f16": ("sm_80",),
    "wmma_f16_scaled": ("sm_80",),
    "wmma_s4": ("sm_80",),
    "wmma_s8": ("sm_80",),
}
BLOCKS = {
    "grouped_f32": [16, 16, 1],
    "nf4_f32": [32, 1, 1],
    "simt_f32": [16, 16, 1],
    "wmma_f16_scaled": [32, 1, 1],
}
"""Blocks that are not 128 threads."""

OPTIONS = {"mma_f16 sm_89": ["-lineinfo"], "simt_f32 sm_89": ["-G"]}
"""Builds with debug information."""


def compile_kernel(name: str, target: str) -> str:
    """Return the PTX of a kernel, without DWARF and the directories of this machine."""
    options = OPTIONS.get(f"{name} {target}", [])
    command = ["nvcc", "-std=c++17", f"-arch={target}", "-ptx", *options, "-o", "-", f"{name}.cu"]
    ptx = subprocess.run(command, cwd=HERE, check=True, capture_output=True, text=True).stdout
    ptx = re.sub(r'(\.file\s+\d+ )"[^"]*/([^"/]+)"', r'\1"\2"', ptx)
    ptx = re.sub(r", function_name [^/\n]*", " ", ptx).replace(", debug\n", "\n")
    return re.sub(r"^\s*\.section\s[^{]*\{.*?\}\n?", "", ptx, flags=re.DOTALL | re.MULTILINE)


if __name__ == "__main__":
    table = {}
    for stale in HERE.glob("*.ptx"):
        stale.unlink()
    for name, targets in TARGETS.items():
        for target in targets:
            file = f"{name}_{target.replace('_', '')}.ptx"
            (HERE / file).write_text(compile_kernel(name, target))
            block = BLOCKS.get(name, [128, 1, 1])
            table[file] = {"source": f"{name}.cu", "entry": name, "target": target, "block": block}
    rows = ",\n".join(f"{json.dumps(file)}: {json.dumps(row)}" for file, row in table.items())
    (HERE / "kernels.json").write_text(f"{{\n{rows}\n}}\n")
