"""NumPy is imported where a name of it is used, and by then is what ``import numpy`` gives."""

import subprocess
import sys

import pytest

AFTER = """
import sys
from mmaproof.cli.entry import main
try:
    main({arguments!r})
except SystemExit as ending:
    print(ending.code, "numpy._core" in sys.modules)
"""


def said(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("legal", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"),
        ("tables", "ptx"),
        ("layout", "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "--operand", "a"),
        ("layout", "xvi8ger4pp", "--operand", "x"),
        ("--help",),
    ],
)
def test_a_small_question_imports_no_numpy(arguments):
    assert said(AFTER.format(arguments=list(arguments))).splitlines()[-1] == "0 False"


def test_what_computes_imports_it():
    layout = ["layout", "xvi8ger4pp", "--operand", "x", "--format", "cute"]
    assert said(AFTER.format(arguments=layout)).splitlines()[-1] == "0 True"


def test_the_module_is_the_one_that_is_imported_otherwise():
    program = """
from mmaproof.cli.deferred_numpy import defer_numpy
defer_numpy()
import numpy as before
import numpy.linalg
import numpy
from numpy.typing import NDArray
import sys, types
assert before is numpy is sys.modules["numpy"] and type(numpy) is types.ModuleType
print(numpy.arange(3).sum(), numpy.linalg.det(numpy.eye(2)), numpy.__path__ != [])
"""
    assert said(program).split() == ["3", "1.0", "True"]


def test_threads_that_use_it_first_find_it_whole():
    program = """
from concurrent.futures import ThreadPoolExecutor
from mmaproof.cli.deferred_numpy import defer_numpy
defer_numpy()
import numpy
with ThreadPoolExecutor(8) as threads:
    print(sum(int(each) for each in threads.map(lambda n: numpy.arange(n).sum(), range(8))))
"""
    assert said(program).split() == ["56"]
