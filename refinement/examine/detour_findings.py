"""Findings about a kernel's own hypotheses: undecided, or refuted where no input meets one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..contract.arguments import Array
from ..contract.contract import Instance
from ..equality.decided_comparisons import DecidedComparisons
from ..findings.finding import KernelFinding, Kind
from ..hypotheses.own_conditions import OwnConditions
from ..machine.front_end import Kernel
from ..normal_forms.forms import NormalForms
from ..terms.inputs import Inputs
from ..terms.instances import TermInstances
from ..terms.interning import Ids
from ..terms.traversal import within
from .counterexamples import KernelCounterexample
from .detour_messages import DetourMessages
from .detours import Detour, Detours
from .diagnosis import Namer
from .kernel_runs import confirmed
from .references import Reference

_PATTERNS = 256
"""Elements of which others are no instances, whose conditions are looked at."""


class DetourFindings:
    """Finds hypotheses of a kernel that its reference does not need.

    Parameters
    ----------
    kernel, instance, forms : Kernel, Instance, NormalForms
        What was run.
    reference : Reference
        What the outputs are to be.
    namer : Namer
        Of the terms.
    """

    def __init__(
        self, kernel: Kernel, instance: Instance, forms: NormalForms, reference: Reference, namer: Namer
    ) -> None:
        self._kernel, self._instance, self._forms, self._store = kernel, instance, forms, forms.store
        store = forms.store
        self._reference, self._namer = reference, namer
        self._messages = DetourMessages(instance, store, namer)

    def finding(
        self,
        output: Array,
        members: NDArray[np.intp],
        actual: Ids,
        expected: Ids,
        given: Inputs | None,
        line_of_store: Callable[[int], int],
    ) -> tuple[KernelFinding | None, KernelCounterexample | None]:
        """Return what rests on such a hypothesis, and inputs where none meet it.

        Parameters
        ----------
        output : Array
            The output.
        members : array (n,)
            Its elements that are equal over the reals only, by linear index.
        actual, expected : array (n,)
            Their terms.
        given : mapping of str to array, optional
            The only inputs that the contract is about.
        line_of_store : callable
            Returns the line that stores an element.
        """
        search = Detours(self._instance, self._store, actual, expected, output.format)
        if given is None:
            detour = search.found()
        else:
            real = self._reference.values(given)[output.name][members].astype(np.float64)
            detour = search.on_given(given, real)
        if detour is None:
            return (self._not_implied(output, members, actual, expected) if given is None else None), None
        element = int(members[detour.place])
        name = self._namer.element(output.name, element)
        hypothesis, line, condition = self._messages.explained(search, detour)
        line = line or line_of_store(element)
        only = f"{name} is right only if {hypothesis}"
        if detour.always and (shown := self._shown(output, element, detour)) is not None:
            message = f"{only}, which no inputs that were tried meet"
            return KernelFinding(Kind.WRONG_VALUE, message, self._kernel.path, line, output=name), shown
        ask = f'; [requires] can say that it holds: "{condition}"' if condition else ""
        message = (
            f"{only}, which the formula does not need: on inputs that it takes, "
            f"the kernel is {detour.got:.6g}, the formula {detour.wanted:.6g}{ask}"
        )
        return KernelFinding(Kind.UNDECIDED, message, self._kernel.path, line, output=name), None

    def _not_implied(
        self, output: Array, members: NDArray[np.intp], actual: Ids, expected: Ids
    ) -> KernelFinding | None:
        """Return a condition that neither the formula nor ``[requires]`` implies."""
        instances = TermInstances(self._store)
        places = instances.patterns(np.stack([actual, expected], axis=1), _PATTERNS)
        decided = DecidedComparisons(self._forms, of_inputs=True).values(actual[places])
        replaced = self._forms.software.replaced(decided)
        found = OwnConditions(self._forms, replaced, expected[places]).first()
        if found is None:
            return None
        made = (found.term in within(self._store, replaced[each : each + 1]) for each in range(len(places)))
        name = self._namer.element(output.name, int(members[places[list(made).index(True)]]))
        what, ask = self._messages.asked(found.argument, found.relation)
        message = f"{name} is right only if {found.hypothesis} ({what}), which the formula does not need{ask}"
        line = int(self._store.lines(found.term))
        return KernelFinding(Kind.UNDECIDED, message, self._kernel.path, line, output=name)

    def _shown(self, output: Array, element: int, detour: Detour) -> KernelCounterexample | None:
        """Return the inputs of a detour, if the kernel is wrong when it runs on them."""
        bound = abs(detour.wanted) / 4
        if np.isfinite(detour.got):
            bound = min(bound, abs(detour.got - detour.wanted) / 2)
        values, inputs = self._reference.values, detour.inputs
        shown = confirmed(self._kernel, self._instance, values, inputs, output, element, bound)
        if shown is None:
            return None
        former = self._reference.former
        return KernelCounterexample.found(self._kernel.path, former, self._instance, inputs, shown, bound)
