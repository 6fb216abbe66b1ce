"""The environment of a process that imports ``tools``, which is not installed."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[2]
"""Of the checkout."""


def importing_tools(variables: Mapping[str, str] = os.environ, ahead: Sequence[Path] = ()) -> dict[str, str]:
    """Return an environment whose Python finds packages in folders, then those of the checkout."""
    paths = (*map(str, ahead), str(ROOT), *filter(None, [variables.get("PYTHONPATH")]))
    return {**variables, "PYTHONPATH": os.pathsep.join(paths)}
