"""Print the figures of every suite, or of those named: ``python -m benchmarks [SUITE…]``.

``python -m benchmarks kernels DIR`` prints verdicts on a folder of modules of PyTorch; see `kernels`.
"""

from __future__ import annotations

import argparse
import os
import platform
from pathlib import Path

import numpy as np

from . import command_line, rank_k_updates, verification, warp_products

SUITES = {
    "rank-k-updates": rank_k_updates,
    "warp-products": warp_products,
    "verification": verification,
    "command-line": command_line,
}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument(
        "suites", nargs="*", metavar="SUITE", help=f"one of {', '.join(SUITES)} (default: all)"
    )
    chosen = parser.parse_args().suites or list(SUITES)
    if chosen[0] == "kernels" and len(chosen) > 1:
        from .kernels import print_table

        print_table(Path(chosen[1]), chosen[2:])
        return 0
    if unknown := [name for name in chosen if name not in SUITES]:
        parser.error(f"unknown suite {unknown[0]!r}; known: {', '.join(SUITES)}")
    print(f"Python {platform.python_version()}, numpy {np.__version__}, {os.cpu_count()} cores")
    missed = 0
    for name in chosen:
        for figure in SUITES[name].figures():
            print(figure, flush=True)
            missed += not figure.reached
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
