"""The host's half of a file of CUDA as plain C++: what replaces its extensions, and what is left to nvcc."""

from __future__ import annotations

import pytest

from mmaproof.api.torch.host_text import DECLARED, host_text

GLOBAL, DEVICE, HOST = (f"__attribute__(({name}))" for name in ("global", "device", "host"))
STUB = "{ void* mmaproof_given[] = {GIVEN}; ::mmaproof::stub(mmaproof_given); }"


def plain(text: str) -> str:
    found = host_text(text)
    assert found is not None and found.startswith(DECLARED)
    return found.removeprefix(DECLARED)


@pytest.mark.parametrize(
    ("parameters", "given"),
    [
        ("const float* __restrict__ x, int n", "(void*)&x, (void*)&n"),
        ("Pair<int, float> pair, float (&sizes)[2], dim3 at = dim3(1, 2)", None),
        ("", "nullptr"),
        (
            "Pair<int, float> pair, int sizes[2], dim3 at = dim3(1, 2)",
            "(void*)&pair, (void*)&sizes, (void*)&at",
        ),
    ],
)
def test_kernels_are_stubs(parameters: str, given: str | None) -> None:
    head = f"template <int K = 3> {GLOBAL} void __attribute__((launch_bounds(256, 2))) k({parameters}) "
    text = head + '{ if (n) { asm("{ }"); } y[0] = 1; } int after;'
    if given is None:
        assert host_text(text) is None
    else:
        assert plain(text) == head + STUB.replace("GIVEN", given) + " int after;"


@pytest.mark.parametrize(
    ("text", "becomes"),
    [
        (
            "k<<<grid, 256>>>(x.data<float>(), n);",
            "k((::mmaproof::configured(grid, 256), x.data<float>()), n);",
        ),
        ("k<2, 3><<<1, 2, 3 >> 1, s>>>(x);", "k<2, 3>((::mmaproof::configured(1, 2, 3 >> 1, s), x));"),
        (
            "k<<<f('>', \">>>\"), 1>>>(g(a, b), c);",
            "k((::mmaproof::configured(f('>', \">>>\"), 1), g(a, b)), c);",
        ),
        ('int x = 1 << 3;\n# 3 "k.cu"\n;', None),
    ],
)
def test_launches_are_calls(text: str, becomes: str | None) -> None:
    kept = text if becomes is None else becomes
    assert plain(f"void host() {{ {text} }}").split("\n")[0] == f"void host() {{ {kept} }}".split("\n")[0]


def test_functions_of_devices_have_no_body() -> None:
    both = f"{HOST} {DEVICE} int ceil(int a) {{ return a; }}"
    alone = f"struct F {{ {DEVICE} float operator()(float v) const {{ return __shfl(v); }} int n; }};"
    declared = f"{DEVICE} float late(float); {DEVICE} F& operator=(const F&); {HOST} int f() {{ return 1; }}"
    deleted = alone.replace("{ return __shfl(v); }", "= delete;")
    assert plain(both + alone + declared) == both + deleted + declared


@pytest.mark.parametrize(
    "text",
    [
        f"{DEVICE} int counter;",
        f"{DEVICE} float table[2] = {{1, 2}};",
        "__attribute__((constant)) float weights[9];",
        f"auto f = [=] {DEVICE} (float v) {{ return v; }};",
        "k<<<1, 2>>>();",
        'const char* text = R"(k<<<1, 2>>>(x))";',
        "void host() { k<<<1, 2>>>(x;",
        "__attribute__",
        f"{GLOBAL} void k",
    ],
)
def test_what_is_left_to_nvcc(text: str) -> None:
    assert host_text(text) is None
