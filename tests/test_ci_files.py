"""What other projects put into their CI, run as far as can be: the action, the hook, the workflow."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import yaml
from source_modules import REPOSITORY

EXAMPLES = REPOSITORY / "examples" / "gate"
KERNELS = REPOSITORY / "examples" / "verify"
INSTALL, GATE, VERIFY = range(3)
"""The steps of the action."""


def document(path: Path) -> Any:
    return yaml.safe_load(path.read_text(encoding="utf-8"))


@pytest.fixture
def runner(tmp_path: Path) -> Path:
    """A folder as RUNNER_TEMP, whose mmaproof is the one under test, with a project to work in."""
    programs = tmp_path / "mmaproof" / "bin"
    programs.mkdir(parents=True)
    shutil.copytree(EXAMPLES, tmp_path / "project")
    for name in ("mmaproof", "pip"):
        module = "mmaproof" if name == "mmaproof" else "pip"
        program = programs / name
        program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m {module} "$@"\n')
        program.chmod(0o755)
    return tmp_path


def step(
    runner: Path, number: int, inputs: dict[str, str], **environment: str
) -> subprocess.CompletedProcess:
    """Run a step of the action as the service would."""
    action = document(REPOSITORY / "action.yml")
    chosen = action["runs"]["steps"][number]
    assert chosen["shell"] == "bash"
    values = {name: inputs.get(name, str(each.get("default", ""))) for name, each in action["inputs"].items()}
    assert set(inputs) <= set(values)

    def filled(text: str) -> str:
        for name, value in values.items():
            text = text.replace(f"${{{{ inputs.{name} }}}}", value)
        assert "${{" not in text
        return text

    given = {name: filled(text) for name, text in chosen.get("env", {}).items()}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", filled(chosen["run"])],
        cwd=runner / "project",
        env={
            **os.environ,
            "RUNNER_TEMP": str(runner),
            "GITHUB_ACTION_PATH": str(REPOSITORY),
            **given,
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    ("inputs", "status"),
    [
        ({}, 0),
        ({"tables": "mma_verifier.csv\nint8_shapes.csv\n"}, 0),
        ({"tables": "int8_shapes.csv", "options": "--complete\n"}, 1),
        ({"tables": "dsl_targets_wrong.json"}, 1),
        ({"tables": "nothing here.csv"}, 2),
    ],
)
def test_the_action_ends_as_the_gate_does(runner: Path, inputs: dict[str, str], status: int) -> None:
    assert step(runner, GATE, inputs).returncode == status


def test_the_action_writes_reports_annotations_and_a_summary(runner: Path, tmp_path: Path) -> None:
    junit, sarif, summary = tmp_path / "with space.xml", tmp_path / "x.sarif", tmp_path / "summary.md"
    inputs = {"tables": "mma_verifier_wrong.csv", "junit": str(junit), "sarif": str(sarif)}
    service = {"GITHUB_ACTIONS": "true", "GITHUB_STEP_SUMMARY": str(summary)}
    ran = step(runner, GATE, inputs, **service)
    assert "::error file=mma_verifier_wrong.csv,line=4," in ran.stdout
    assert len(ET.parse(junit).findall(".//failure")) == 4
    assert sarif.exists() and "mma_verifier_wrong.csv:4" in summary.read_text()


def test_the_action_installs_itself_into_an_environment_of_its_own(runner: Path, tmp_path: Path) -> None:
    recorded = tmp_path / "commands"
    programs = tmp_path / "programs"
    programs.mkdir()
    for program in (programs / "python3", runner / "mmaproof" / "bin" / "pip"):
        program.write_text(f'#!/bin/sh\necho "{program.name} $*" >> {shlex.quote(str(recorded))}\n')
        program.chmod(0o755)
    path = f"{programs}{os.pathsep}{os.environ['PATH']}"
    assert step(runner, INSTALL, {}, PATH=path).returncode == 0
    assert recorded.read_text().splitlines() == [
        f"python3 -m venv {runner}/mmaproof",
        f"pip install --quiet {REPOSITORY}",
    ]


def test_the_hook_compares_what_the_settings_name(tmp_path: Path) -> None:
    hook, _ = document(REPOSITORY / ".pre-commit-hooks.yaml")
    assert (hook["language"], hook["pass_filenames"]) == ("python", False)
    program, *arguments = shlex.split(hook["entry"])
    command = [sys.executable, "-m", program, *arguments]
    assert subprocess.run(command, cwd=EXAMPLES, check=False, capture_output=True).returncode == 0
    (tmp_path / "mmaproof.toml").write_text('[gate]\n[[gate.table]]\nfile = "t.csv"\n')
    (tmp_path / "t.csv").write_text("shape,a,target\nm16n8k16,tf32,sm_80\n")
    ran = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert ran.returncode == 1 and ran.stdout.startswith("t.csv:2: drift")


def test_the_hook_passes_where_nothing_is_set(tmp_path: Path) -> None:
    hook, _ = document(REPOSITORY / ".pre-commit-hooks.yaml")
    command = [sys.executable, "-m", *shlex.split(hook["entry"])]
    ran = subprocess.run(command, cwd=tmp_path, check=False, capture_output=True, text=True)
    assert ran.returncode == 0 and "no mmaproof.toml in this directory" in ran.stderr


@pytest.fixture
def kernels(runner: Path) -> Path:
    """The folder of a project, with a right kernel and a wrong one."""
    project = runner / "project"
    for name in ("mma_s4_sm80.ptx", "mma_s4.toml"):
        shutil.copy(KERNELS / name, project)
    text = (KERNELS / "mma_s4_sm80.ptx").read_text(encoding="utf-8")
    wrong = text.replace("{%r96, %r97, %r98, %r99}", "{%r97, %r96, %r98, %r99}")
    assert wrong != text
    (project / "wrong.ptx").write_text(wrong, encoding="utf-8")
    return project


@pytest.mark.parametrize(("lines", "status"), [("mma_s4_sm80.ptx mma_s4.toml\n", 0), ("", 0)])
def test_the_action_verifies_kernels(runner: Path, kernels: Path, lines: str, status: int) -> None:
    assert step(runner, VERIFY, {"kernels": lines}).returncode == status


def test_the_action_fails_with_one_of_its_kernels(runner: Path, kernels: Path) -> None:
    lines = "\nwrong.ptx mma_s4.toml\nmma_s4_sm80.ptx mma_s4.toml\n"
    ran = step(runner, VERIFY, {"kernels": lines, "verify-reports": "out", "verify-options": "--timeout=100"})
    assert ran.returncode == 1
    assert "refuted: wrong.ptx" in ran.stdout and "verified (bits): mma_s4_sm80.ptx" in ran.stdout
    failures = [ET.parse(kernels / "out" / f"{number}.xml").findall(".//failure") for number in (1, 2)]
    assert failures[0] and not failures[1]
    assert (kernels / "out" / "1.sarif").exists()


def test_kernels_need_no_tables(runner: Path, kernels: Path) -> None:
    (kernels / "mmaproof.toml").unlink()
    assert step(runner, GATE, {"kernels": "mma_s4_sm80.ptx mma_s4.toml"}).returncode == 0
    assert step(runner, GATE, {}).returncode == 2


def test_the_hook_verifies_a_kernel(kernels: Path) -> None:
    _, hook = document(REPOSITORY / ".pre-commit-hooks.yaml")
    assert (hook["language"], hook["pass_filenames"]) == ("python", False)
    for kernel, status in (("mma_s4_sm80.ptx", 0), ("wrong.ptx", 1)):
        arguments = [*shlex.split(hook["entry"]), kernel, "--contract", "mma_s4.toml"]
        command = [sys.executable, "-m", *arguments]
        assert subprocess.run(command, cwd=kernels, check=False, capture_output=True).returncode == status


def test_the_example_workflow_uses_the_action_as_it_is(runner: Path) -> None:
    workflow = document(EXAMPLES / "workflow.yml")
    steps = workflow["jobs"]["gate"]["steps"]
    (used,) = (each["with"] for each in steps if "mmaproof" in each["uses"])
    assert step(runner, GATE, used).returncode == 0
    assert (runner / "project" / used["sarif"]).exists()
    assert steps[-1]["with"]["sarif_file"] == used["sarif"]


@pytest.mark.skipif(
    "MMAPROOF_ACTION_SOURCE" not in os.environ,
    reason="installs from the index; .ci/run sets MMAPROOF_ACTION_SOURCE",
)
def test_the_action_and_the_hook_work_as_they_install_themselves(tmp_path: Path) -> None:
    shutil.copytree(EXAMPLES, tmp_path / "project")
    installed = step(tmp_path, INSTALL, {}, GITHUB_ACTION_PATH=os.environ["MMAPROOF_ACTION_SOURCE"])
    assert installed.returncode == 0, installed.stderr
    assert step(tmp_path, GATE, {}).returncode == 0
    assert step(tmp_path, GATE, {"tables": "dsl_targets_wrong.json"}).returncode == 1
    hook, _ = document(REPOSITORY / ".pre-commit-hooks.yaml")
    path = f"{tmp_path / 'mmaproof' / 'bin'}{os.pathsep}/usr/bin{os.pathsep}/bin"
    ran = subprocess.run(
        shlex.split(hook["entry"]),
        cwd=tmp_path / "project",
        check=False,
        capture_output=True,
        env={"PATH": path},
    )
    assert ran.returncode == 0
