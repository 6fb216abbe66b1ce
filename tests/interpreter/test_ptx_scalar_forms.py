"""Scalar instructions of PTX: the interpreter and the machine, on numbers and on terms, bit for bit."""

import random
import re
from pathlib import Path

import pytest
from interpreter.ptx_comparison import differences, interpreted, run_machine
from interpreter.ptx_interpreter import DECODERS
from interpreter.ptx_scalar_forms import Form, arrays_of, forms, kernel_of
from interpreter.ptx_scalars import SCALARS
from ptx_machine import kernel

from mmaproof.refinement.ptx.instruction_set import DECODERS as MODELLED
from mmaproof.refinement.ptx.run.program import SORTS

ROOT = Path(__file__).parents[2]
THREADS = 96
REFUSED = re.compile(r"unsupported: .*(of data|depends on data|of a 128-bit product)")
"""What the machine says of forms that it has on numbers only."""


def compared(form: Form, seed: int) -> list[str]:
    """Return how the machine differs from the interpreter."""
    text = kernel(kernel_of(form), 1 + len(form.sources), target="sm_100a")
    arrays, block = arrays_of(form, THREADS, seed), (THREADS, 1, 1)
    wanted = interpreted(text, arrays, block=block, seed=seed)
    found = []
    for on_terms in (False, True):
        got, done = run_machine(text, arrays, block=block, on_terms=on_terms)
        said = [str(finding) for finding in done.findings]
        if not (on_terms and said and all(REFUSED.search(each) for each in said)):
            found += [*said, *differences(arrays, wanted, got)]
    return found


def _sample(count: int) -> list[Form]:
    return random.Random("scalar forms").sample(forms(), count)


@pytest.mark.parametrize("form", _sample(120), ids=lambda form: form.text.split("{")[0].strip())
def test_a_sample_of_forms(form: Form) -> None:
    assert compared(form, 0) == []


@pytest.mark.sweep
@pytest.mark.parametrize("seed", range(1, 4))
@pytest.mark.parametrize("form", forms(), ids=lambda form: form.text.split("{")[0].strip())
def test_every_form(form: Form, seed: int) -> None:
    assert compared(form, seed) == []


@pytest.mark.parametrize(
    "text",
    ["div.rz.f32", "rcp.rm.f64", "sqrt.rp.f32", "sqrt.rn.ftz.f32", "div.rn.ftz.f32", "fns.b32"],
)
def test_forms_that_once_differed(text: str) -> None:
    """Roots, quotients were rounded to nearest on numbers, and kept subnormals."""
    (form,) = (each for each in forms() if each.text.startswith(text + " "))
    for seed in range(3):
        assert compared(form, seed) == []


LACKING = {"clusterlaunchcontrol"}
"""What the interpreter does not have: clusters that are taken over."""


def test_the_interpreter_has_every_opcode_of_the_machine() -> None:
    assert {*MODELLED, *SORTS} - DECODERS.keys() == LACKING


def test_no_form_has_an_opcode_that_the_machine_lacks() -> None:
    opcodes = {form.text.split(".")[0].split()[0] for form in forms()}
    assert opcodes <= MODELLED.keys()


def test_no_scalar_opcode_is_without_a_form() -> None:
    words = {
        word.partition(".")[0] for form in forms() for word in re.findall(r"[a-z]\w*\.[\w.:]+", form.text)
    }
    assert SCALARS.keys() - words == set()


def test_the_interpreter_has_every_opcode_of_the_corpora() -> None:
    pattern = re.compile(r"^\s*(?:@!?%\w+\s+)?([a-z]\w*)\.[\w.:]+\s+[^;]*;", re.MULTILINE)
    found: dict[str, str] = {}
    for folder in ("tests/kernels", "examples"):
        for path in sorted((ROOT / folder).rglob("*.ptx")):
            for opcode in pattern.findall(path.read_text(encoding="utf-8")):
                found.setdefault(opcode, path.name)
    assert len(found) > 50
    assert {opcode: where for opcode, where in found.items() if opcode not in DECODERS.keys() | LACKING} == {}
