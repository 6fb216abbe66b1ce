"""Contracts of corpora with numbers in place of inputs that may be anything."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
from contract_corpora import Known
from numpy.typing import NDArray

from mmaproof.refinement.contract.arguments import Array, Scalar
from mmaproof.refinement.contract.contract import Instance
from mmaproof.refinement.contract.parameters import ArrayParameter
from mmaproof.refinement.contract.reading import read_contract
from mmaproof.refinement.examine.trial_inputs import more_trial_inputs, trial_inputs
from mmaproof.refinement.expected.requirements import Requirements
from mmaproof.refinement.findings.finding import KernelFinding, Kind
from mmaproof.refinement.instance_verification import examined_in_cases
from mmaproof.refinement.machine.array_memory import inputs_of
from mmaproof.refinement.machine.front_end import Kernel
from mmaproof.refinement.machine.launch_sequence import kernel_of
from mmaproof.refinement.terms.store import TermStore

Words = NDArray[np.uint64]

SEED = 3

_BROKEN = "where the hypotheses of equality over the reals hold, but not on the values given"


def with_numbers(instance: Instance, inputs: Mapping[str, Words]) -> Instance:
    """Return a contract that gives the contents of arrays, and the values of scalars, that may be anything.

    Parameters
    ----------
    instance : Instance
        The contract.
    inputs : mapping of str to array
        Encodings of every input, by linear index.
    """

    def given(argument: Scalar | Array) -> Scalar | Array:
        if argument.name not in inputs:
            return argument
        words = inputs[argument.name]
        if isinstance(argument, Array):
            return replace(argument, contents=words)
        return replace(argument, value=int(words[0]))

    arguments = tuple(map(given, instance.arguments))
    parameters = tuple(
        replace(parameter, contents=inputs[parameter.name])
        if isinstance(parameter, ArrayParameter) and parameter.name in inputs
        else parameter
        for parameter in instance.contract.parameters
    )
    contract = replace(instance.contract, parameters=parameters)
    return replace(instance, contract=contract, arguments=arguments)


def numbers(kernel: Kernel, instance: Instance) -> Iterator[tuple[str, dict[str, Words]]]:
    """Yield sets of inputs, each with what it is made of."""
    yield "small numbers", trial_inputs(instance, SEED, finite=True)
    store = TermStore()
    kernel.run(instance, store, inputs_of(store, instance))
    names = ("near zero", "positive", "third", "fourth", "fifth", "sixth", "seventh", "eighth")
    further = more_trial_inputs(instance, store, Requirements(instance), SEED)
    yield from zip(names, further, strict=False)


def differences(known: Known, folder: Path, most: int) -> list[tuple[str, list[KernelFinding]]]:
    """Return what is found of a kernel, at its contract's first sizes, on sets of given numbers.

    That numbers break a hypothesis of the equality for all data is no fault.
    """
    wanted = folder / "contract.toml"
    wanted.write_text(known.contract, encoding="utf-8")
    path = known.place(folder)
    contract = read_contract(wanted)
    kernel = kernel_of(contract, path)
    instance = contract.instance(contract.sizes[0])
    found = []
    for name, inputs in islice(numbers(kernel, instance), most):
        examined, _ = examined_in_cases(kernel, with_numbers(instance, inputs), None, None)
        findings = [
            finding
            for _, examination in examined
            for finding in examination.findings
            if finding.kind is not Kind.UNDECIDED or _BROKEN not in finding.message
        ]
        found += [(name, findings)] if findings else []
    return found
