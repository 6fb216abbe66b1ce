"""ptxas takes directives of clusters where the rules say that they are legal."""

from __future__ import annotations

from itertools import chain, combinations
from pathlib import Path

from ptx_assembler import assembler

from mmaproof.refinement.ptx.module_legality import judge_text

SPELLED = (
    ".explicitcluster",
    ".reqnctapercluster 2",
    ".maxclusterrank 8",
    ".blocksareclusters",
    ".reqntid 32",
)
MODULES = (("sm_80", "9.0"), ("sm_90", "7.8"), ("sm_90a", "8.8"), ("sm_90a", "9.0"), ("sm_100a", "9.0"))


def test_every_set_of_directives(tmp_path: Path) -> None:
    sets = chain.from_iterable(combinations(SPELLED, count) for count in range(1, len(SPELLED) + 1))
    source, wrong, legal = tmp_path / "k.ptx", [], 0
    for number, given in enumerate(sets):
        target, version = MODULES[number % len(MODULES)]
        for module in {MODULES[3], (target, version)}:
            text = (
                f".version {module[1]}\n.target {module[0]}\n.address_size 64\n"
                f".visible .entry k() {' '.join(given)} {{ griddepcontrol.wait; ret; }}\n"
            )
            if module[0] == "sm_80":
                text = text.replace("griddepcontrol.wait; ", "")
            source.write_text(text)
            taken = assembler().compile(source, f"compute_{module[0].removeprefix('sm_')}").returncode == 0
            found = judge_text(text, "k.ptx", None, None).violations
            legal += taken
            if bool(found) == taken:
                wrong.append((given, module, taken, list(map(str, found))))
    assert wrong == [] and legal > 5
