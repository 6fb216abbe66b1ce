"""Which modules of the specification take faults, what each is about, and what depends on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from mmaproof import spec
from mmaproof.spec.instruction_set import NAMES


class Role(StrEnum):
    """What a module is about; the value is how reports name it."""

    SEMANTICS = "semantics"
    LAYOUT = "layout"
    LEGALITY = "legality"
    ENCODING = "encoding"
    READING = "reading"
    EXECUTION = "execution"
    PRESENTATION = "presentation"

    @property
    def meaning(self) -> str:
        """One line on it."""
        return {
            Role.SEMANTICS: "what instructions compute, and what is left open",
            Role.LAYOUT: "where elements are: in registers, lanes, buffers, memory",
            Role.LEGALITY: "which instructions there are, and which rules they break",
            Role.ENCODING: "bits of numbers and of instructions",
            Role.READING: "texts to instructions",
            Role.EXECUTION: "named arrays of a user, checked and executed",
            Role.PRESENTATION: "texts and tables for people; no part of the score",
        }[self]


_MODULES = {
    Role.SEMANTICS: """
        accumulation accumulation_bound algebra architectures binary_matrix block_scaling buffers choices cube
        dot_add dot_add_bound dot_add_model float_arithmetic float_exceptions kernels matrix_product memory
        movers numpy_algebra priming product products rank_k_update rounding rounding_bound row_expansion
        shared_memory sizes sparsity state step_sequences value_algebra warp wmma""",
    Role.LAYOUT: """
        fractal fragment fragments global_memory layout layout_terms layouts matrix_moves placement quad_pairs
        rearrangement registers tile foreign_layouts""",
    Role.LEGALITY: """
        catalogue forms instructions launch_limits legality leniency matrix_move_forms mma_forms
        module_legality operand_rules resolution rules run_time_extents signatures sparse_mma_forms targets
        variant_rules wmma_forms""",
    Role.ENCODING: """
        element_types elements encoding float_encoding formats machine_code values""",
    Role.READING: """
        assembly braces constant_expressions declarations operands text variant""",
    Role.EXECUTION: """
        batches builtins drawn_arrays move_arrays operand_arrays""",
    Role.PRESENTATION: """
        contradictions element_table errors expectations findings formula formula_algebra formula_contraction
        formula_text instruction_set json_text operand_tables shown_text tables text_files wording""",
}
"""Modules by their own names; what is in a folder of an instruction set, or in one of ``spec/``, by its name
unless it only speaks."""

_ROLES = {name: role for role, names in _MODULES.items() for name in names.split()}


@dataclass(frozen=True)
class SpecificationModule:
    """A module that takes faults.

    Attributes
    ----------
    name : str
        As it is imported.
    path : Path
        Its source.
    shown : str
        How reports name it.
    isa : str
        The instruction set that it belongs to, empty for all.
    role : Role
        What it is about.
    """

    name: str
    path: Path
    shown: str
    isa: str
    role: Role

    def concerns(self, identifier: str) -> bool:
        """Whether an obligation may depend on it: one of its instruction set, or any for a generic module."""
        return not self.isa or identifier.startswith(f"{self.isa}/")


def modules_of(isas: Iterable[str]) -> list[SpecificationModule]:
    """Return the modules of instruction sets, and those of none; what is not listed is of semantics."""
    package = Path(spec.__path__[0])
    chosen = set(isas)
    found = []
    for path in sorted(package.rglob("*.py")):
        inside = path.relative_to(package).with_suffix("").parts
        isa = inside[0] if inside[0] in NAMES else ""
        if path.stem != "__init__" and isa in {"", *chosen}:
            own = inside[1:] if isa else inside
            shown = "/".join(("spec", *inside)) + ".py"
            name = ".".join((spec.__name__, *inside))
            role = _ROLES.get(own[0], Role.SEMANTICS)
            if _ROLES.get(own[-1]) is Role.PRESENTATION:
                role = Role.PRESENTATION
            found.append(SpecificationModule(name, path, shown, isa, role))
    return found
