"""The modelled instructions: handlers of all modules, by mnemonic."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .image.instruction_forms import forms
from .machine import Handler
from .rows import (
    accumulators,
    control_flow,
    fixed_point,
    floating_point,
    loads_and_stores,
    permutations,
    vector_elements,
    vector_integers,
    vector_masks,
    vector_widening,
)


def _merged() -> Mapping[str, Handler]:
    """Return all handlers, of forms that there are."""
    modules = (
        control_flow,
        fixed_point,
        loads_and_stores,
        floating_point,
        permutations,
        vector_elements,
        vector_integers,
        vector_masks,
        vector_widening,
        accumulators,
    )
    found: dict[str, Handler] = {}
    for module in modules:
        for name, handler in module.HANDLERS.items():
            if name in found:
                raise AssertionError(f"{name} has two handlers")
            if name in forms():
                found[name] = handler
    return MappingProxyType(found)


HANDLERS = _merged()
"""What carries out an instruction, by its mnemonic."""
