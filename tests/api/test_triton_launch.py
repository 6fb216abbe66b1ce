"""Grids are read from the calls that launch kernels, or not at all."""

import pytest

from mmaproof.api.triton_launch import launch_grid

PARAMETERS = ("x", "y", "n", "m", "BLOCK", "WIDTH")
CONSTANTS = {"BLOCK": 128, "WIDTH": 32}


def grid(text, constants=CONSTANTS):
    return launch_grid(text, "kernel", PARAMETERS, constants)


@pytest.mark.parametrize(
    ("text", "extents"),
    [
        (
            "def add(x, y):\n    n_elements = y.numel()\n"
            "    grid = lambda meta: (triton.cdiv(n_elements, meta['BLOCK']),)\n"
            "    kernel[grid](x, y, n_elements, 1)\n",
            ("cdiv(n, 128)",),
        ),
        (
            "def product(a, b):\n    M, K = a.shape\n    N = b.shape[1]\n"
            "    kernel[(triton.cdiv(M, 32) * triton.cdiv(N, 16), 2)](a, b, M, N, BLOCK=128)\n",
            ("cdiv(n, 32) * cdiv(m, 16)", "2"),
        ),
        (
            "BLOCK = 64\ndef run(x, y):\n    rows = (x.shape[0] + BLOCK - 1) // BLOCK\n"
            "    kernel[rows, y.shape[1]](x, y, x.shape[0], y.shape[1])\n",
            ("(n + 64 - 1) // 64", "m"),
        ),
        (
            "class Layer:\n    def forward(self, x, y, n):\n"
            "        def grid(META):\n            return (min(n, 4), 1, n % META['WIDTH'])\n"
            "        lib.kernel[grid](x, y, n=n, m=3)\n",
            ("min(n, 4)", "1", "n % 32"),
        ),
        ("kernel[(8,)](x, y, 1, 1)\nkernel[(8,)](x, y, 2, 2)\n", ("8",)),
    ],
)
def test_extents_are_expressions_in_parameters(text, extents):
    assert grid(text) == extents


@pytest.mark.parametrize(
    "text",
    [
        "",
        "other[(8,)](x, y, 1, 1)",
        "kernel[(8,)](x)\nkernel[(9,)](x)",
        "kernel[(unknown,)](x, y, n, m)",
        "kernel[lambda meta: (meta['MISSING'],)](x, y, n, m)",
        "kernel[lambda meta: (n / meta['BLOCK'],)](x, y, n, m)",
        "kernel[(f(n),)](x, y, n, m)",
        "kernel[(1, 2, 3, 4)](x)",
        "grid = (4,)\ngrid = (n,)\nkernel[grid](x, y, n, m)",
        "rows = 4\nrows += 1\nkernel[(rows,)](x, y, n, m)",
        "a = b\nb = a\nkernel[(a,)](x, y, n, m)",
        "kernel[(n,)](*arguments)",
        "def broken(:",
        "\0",
    ],
)
def test_what_is_not_said_is_not_guessed(text):
    assert grid(text) == ()


def test_constants_of_the_launch_are_those_that_were_compiled():
    text = "kernel[lambda meta: (n // meta['BLOCK'],)](x, y, n, 1, BLOCK=64)"
    assert grid(text, {}) == ("n // 64",)
    assert grid(text, {"BLOCK": 64}) == ("n // 64",)
    assert grid(text, {"BLOCK": 128}) == ()
