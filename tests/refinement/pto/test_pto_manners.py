"""PTO kernels on the command line: bad files, counterexamples, reports, drafts, and never a traceback."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mmaproof.refinement.contract.reading import parse_contract
from mmaproof.refinement.drafts.contracts import draft
from mmaproof.refinement.kernel_replay import document_of_kernel, replay
from mmaproof.refinement.machine.front_end import read_outline
from mmaproof.refinement.verification import verify
from mmaproof.spec.errors import InputError, MmaproofError
from tests.command_line import mmaproof
from tests.pto_kernels import CORPUS, KERNELS, contract_of, text_of, verified

SMALL = ("transposed_s8", "gemv_f16", "ragged_f32", "split_k_bias_f16")


@pytest.mark.parametrize("name", KERNELS)
def test_a_drafted_contract_can_be_read_and_run(tmp_path: Path, name: str) -> None:
    entry = parse_contract(contract_of(name)).entry
    text = draft(read_outline(CORPUS / f"{name}.pto", entry))
    found = parse_contract(text)
    assert (found.isa, found.entry is not None) == ("pto", True)
    assert len(found.passing) == len(parse_contract(contract_of(name)).passing)
    taken = text.replace("fill in", "taken as drafted")
    assert verified(tmp_path, text_of(name), taken).result.verdict in ("refuted", "safe")


def test_a_counterexample_is_saved_and_replayed(tmp_path: Path) -> None:
    text = text_of("transposed_s8", ("ins(%b_mat, %half, %c0", "ins(%b_mat, %c0, %c0"))
    kernel, contract = tmp_path / "k.pto", tmp_path / "c.toml"
    kernel.write_text(text, encoding="utf-8")
    contract.write_text(contract_of("transposed_s8", "A5"), encoding="utf-8")
    found = verify(kernel, contract)
    assert found.result.verdict == "refuted"
    assert found.counterexample is not None
    saved = tmp_path / "cex.json"
    saved.write_text(json.dumps(found.counterexample.document()), encoding="utf-8")
    document = document_of_kernel(saved)
    assert document is not None
    assert replay(saved, document).difference is not None
    kernel.write_text(text_of("transposed_s8"), encoding="utf-8")
    assert replay(saved, document).difference is None


def test_reports_of_every_kind_are_written(tmp_path: Path) -> None:
    kernel, contract = tmp_path / "k.pto", tmp_path / "c.toml"
    kernel.write_text(text_of("transposed_s8", ("<TMATMUL>, <TSTORE_ACC>", "<TLOAD>, <TSTORE_ACC>")), "utf-8")
    contract.write_text(contract_of("transposed_s8", "A5"), encoding="utf-8")
    files = {kind: tmp_path / f"r.{kind}" for kind in ("json", "html", "sarif", "junit")}
    options = [word for kind, path in files.items() for word in (f"--{kind}", path)]
    done = mmaproof("verify", kernel, "--contract", contract, *options, "--counterexamples", tmp_path)
    assert done.status == 1
    assert all(path.read_text(encoding="utf-8") for path in files.values())
    document = json.loads(files["json"].read_text(encoding="utf-8"))
    assert {each["kind"] for each in document["findings"]} == {"race"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("module {\n  func.func @k() {\n    pto.tload ins(%a\n  }\n}\n", "line"),
        ("\x7fELF\x00\x01", "line 1"),
        ("", "0 kernels"),
        ("module { func.func @a() { return } func.func @b() { return } }", "2 kernels"),
        ("module { func.func @k(%a: index) { return } }", "parameters"),
    ],
)
def test_a_bad_file_is_one_line(tmp_path: Path, text: str, message: str) -> None:
    kernel, contract = tmp_path / "k.pto", tmp_path / "c.toml"
    kernel.write_text(text, encoding="utf-8")
    contract.write_text('[kernel]\nisa = "pto"\nprofile = "A5"\n', encoding="utf-8")
    done = mmaproof("verify", kernel, "--contract", contract)
    assert done.wrong_use
    assert message in done.err


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ('isa = "pto"\nprofile = "A9"', "unknown profile"),
        ('isa = "pto"\nprofile = "A5"\ntarget = "A5"', "the same"),
        ('isa = "pto"\nprofile = "A5"\nsync = "never"', "sync"),
        ('isa = "ptx"\nsync = "explicit"', "sync"),
        ('isa = "pto"', "names no profile"),
    ],
)
def test_a_bad_contract_is_refused(tmp_path: Path, kernel: str, message: str) -> None:
    contract = contract_of("transposed_s8").replace('isa = "pto"', kernel)
    with pytest.raises(InputError, match=message):
        verified(tmp_path, text_of("transposed_s8"), contract)


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(SMALL), st.data())
def test_damaged_text_never_ends_in_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    lines = text_of(name).splitlines()
    at = data.draw(st.integers(8, len(lines) - 1))
    words = lines[at].split(" ")
    place = data.draw(st.integers(0, len(words) - 1))
    damage = data.draw(st.sampled_from(("drop line", "drop word", "number", "name", "cut", "twice")))
    match damage:
        case "drop line":
            del lines[at]
        case "drop word":
            lines[at] = " ".join(words[:place] + words[place + 1 :])
        case "number":
            number = data.draw(
                st.sampled_from(("0", "-1", "7", "4096", "99999999999", "18446744073709551616"))
            )
            lines[at] = "".join(number if piece.isdecimal() else piece for piece in _pieces(lines[at]))
        case "name":
            other = data.draw(st.sampled_from(("%c0", "%m", "%a_mat", "%c", "%a_view", "%x", "%none")))
            lines[at] = " ".join([*words[:place], other, *words[place + 1 :]])
        case "cut":
            lines = lines[:at]
        case "twice":
            lines.insert(at, lines[at])
    folder = tmp_path_factory.mktemp("fuzz")
    try:
        found = verified(folder, "\n".join(lines), contract_of(name, "A5", first_sizes=True)).result
    except MmaproofError as error:
        assert isinstance(error, InputError), error
        return
    assert found.verdict in ("verified", "refuted", "undecided", "unsupported")


def _pieces(text: str) -> list[str]:
    found: list[str] = [""]
    for letter in text:
        if found[-1] and letter.isdecimal() is found[-1].isdecimal():
            found[-1] += letter
        else:
            found.append(letter)
    return found
