"""Compile the CUDA sources, as they are and as ``variants.toml`` changes them, to the PTX files beside them.

``python generate.py [NAME…]``, with nvcc 13.0 on the path and the headers of PyPI's nvidia-cuda-cccl where it
looks for headers (``CPATH``); ``kernels.json`` says of each file what it is. Files of kernels that are not
among the variants stay as they are.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
VARIANTS = tomllib.loads((HERE / "variants.toml").read_text(encoding="utf-8"))


def rows(name: str, facts: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any], dict[str, Any], list[str]]]:
    """Yield each file of a kernel, what is said of it, what is replaced in the source, and nvcc's options."""
    options = facts.get("options", [])
    row = {"kernel": name, "kind": facts["kind"], "fault": None, "edit": None}
    for target, chosen in {"sm_80": options, **facts.get("builds", {})}.items():
        yield f"{name}_{target.replace('_', '')}.ptx", {**row, "target": target}, {}, chosen
    for sort in ("fault", "edit"):
        for label, change in facts.get(f"{sort}s", {}).items():
            said = {"says": change["says"]} if sort == "fault" else {}
            changed = {**row, "target": "sm_80", sort: label, **said}
            yield f"{name}_{sort}_{label}.ptx", changed, change, change.get("options", options)


def compile_kernel(name: str, target: str, change: dict[str, Any], options: list[str]) -> str:
    """Return the PTX of a kernel, with a text replaced wherever it stands."""
    source = (HERE / f"{name}.cu").read_text(encoding="utf-8")
    if change:
        assert change["old"] in source, f"{name}.cu has no {change['old']}"
        source = source.replace(change["old"], change["new"])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, f"{name}.cu")
        file.write_text(source, encoding="utf-8")
        command = ["nvcc", "-std=c++17", f"-arch={target}", "-ptx", *options, "-o", "-", str(file)]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def main(chosen: list[str]) -> None:
    before = json.loads((HERE / "kernels.json").read_text(encoding="utf-8"))
    table = {file: row for file, row in before.items() if row["kernel"] not in VARIANTS}
    for name, facts in VARIANTS.items():
        for file, row, change, options in rows(name, facts):
            if not chosen or name in chosen:
                text = compile_kernel(name, row["target"], change, options)
                (HERE / file).write_text(text, encoding="utf-8")
            table[file] = row
    for stale in {path.name for path in HERE.glob("*.ptx")} - set(table):
        (HERE / stale).unlink()
    lines = ",\n".join(f"{json.dumps(file)}: {json.dumps(row)}" for file, row in table.items())
    (HERE / "kernels.json").write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
