"""Compile the instantiations of CUTLASS's and CuTe's kernels to the PTX files beside them.

``python generate.py [NAME…]``, with nvcc 13.0 on the path, and PyPI's nvidia-cutlass 4.2.0.0 installed.
``kernels.json`` says of each file how its program launches the kernel. `build` is for the tests, too. The
sources are ours; the PTX has code of CUTLASS in it, whose licence is in ``LICENSE.txt``.
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def headers() -> Path:
    """Return the folder of CUTLASS's headers.

    Raises
    ------
    FileNotFoundError
        If they, or nvcc, are not installed; the message says so.
    """
    found = importlib.util.find_spec("cutlass_library")
    if found is None or found.origin is None:
        raise FileNotFoundError("CUTLASS's headers are not installed (nvidia-cutlass)")
    if shutil.which("nvcc") is None:
        raise FileNotFoundError("nvcc is not installed (CUDA 13)")
    return Path(found.origin).parent / "source" / "include"


def build(name: str, folder: Path) -> tuple[str, dict[str, Any]]:
    """Return the PTX that a source is compiled to, and what its program prints of the launch.

    Parameters
    ----------
    name : str
        Of the source.
    folder : Path
        Where to compile.
    """
    options = ["-std=c++17", "-arch=sm_80", "--expt-relaxed-constexpr", "-I", str(headers())]
    kept = ["-keep", "-keep-dir", str(folder), "-o", str(folder / name)]
    subprocess.run(["nvcc", *options, *kept, str(HERE / f"{name}.cu")], cwd=folder, check=True)
    told = subprocess.run([folder / name], capture_output=True, text=True, check=True).stdout
    words, launch = ([int(word) for word in line.split()] for line in told.splitlines())
    facts = {"words": words, "grid": launch[:3], "block": launch[3:6], "dynamic_shared": launch[6]}
    return (folder / f"{name}.ptx").read_text(encoding="utf-8"), facts


def main(chosen: list[str]) -> None:
    listed = HERE / "kernels.json"
    table = json.loads(listed.read_text(encoding="utf-8")) if listed.exists() else {}
    for name in chosen or sorted(path.stem for path in HERE.glob("*.cu")):
        with tempfile.TemporaryDirectory() as folder:
            text, table[name] = build(name, Path(folder))
        (HERE / f"{name}_sm80.ptx").write_text(text, encoding="utf-8")
    rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(table[name])}" for name in sorted(table))
    listed.write_text(f"{{\n{rows}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
