"""What the host's half of a file of CUDA becomes where nvcc's front end is not asked."""

from __future__ import annotations

import pytest

from mmaproof.api.torch.host_text import DECLARED, host_text

DEVICE, GLOBAL, HOST = (f"__attribute__(({kind}))" for kind in ("device", "global", "host"))

CASES = [
    ("int f(int a) { return a; }", "int f(int a) { return a; }"),
    (
        f"{GLOBAL} void k(float* x, const int n = 3) {{ x[n] = 1; }}",
        f"{GLOBAL} void k(float* x, const int n = 3) "
        "{ void* mmaproof_given[] = {(void*)&x, (void*)&n}; ::mmaproof::stub(mmaproof_given); }",
    ),
    ("k<<<a<<1, b>>>(x, y);", "k((::mmaproof::configured(a<<1, b), x), y);"),
    ('const char* s = "k<<<1, 2>>>(x)";', 'const char* s = "k<<<1, 2>>>(x)";'),
    (f"{DEVICE} float f(float a) {{ return a; }}", f"{DEVICE} float f(float a) = delete;"),
    (
        f"{HOST} {DEVICE} float f(float a) {{ return a; }}",
        f"{HOST} {DEVICE} float f(float a) {{ return a; }}",
    ),
    (f"{DEVICE} constexpr int f() {{ return 2; }}", f"{DEVICE} constexpr int f() {{ return 2; }}"),
    (
        f"{DEVICE} int f(int);\n{DEVICE} int f(int a) {{ return a; }}",
        f"{DEVICE} int f(int);\n{DEVICE} int f(int a) ;",
    ),
    (
        "#pragma pack(push, 1)\nstruct S { char a; int b; };\n#pragma pack(pop)\n",
        "#pragma pack(push, 1)\nstruct S { char a; int b; };\n#pragma pack(pop)\n",
    ),
    ('const char* s = "ERROR";', 'const char* s = "ERROR";'),
]


@pytest.mark.parametrize(("text", "becomes"), CASES)
def test_what_a_text_becomes(text: str, becomes: str) -> None:
    assert host_text(text) == DECLARED + becomes


LEFT = [
    'const char* s = R"(k<<<1, 2>>>(x))";',
    'const wchar_t* s = LR"(")";',
    f"{DEVICE} auto f(float a) {{ return a; }}",
    f"{DEVICE} float x = 2;",
    f"{DEVICE} float x(2.0f);",
    f"{DEVICE} float x(TWO);",
    f"{DEVICE} __attribute__((aligned(16))) float x[4] = {{1, 2, 3, 4}};",
    f"auto f = [=] {DEVICE} (int i) {{ return i; }};",
    "k<<<1, 2>>>();",
    f"{GLOBAL} void k(float* x) {{",
]


@pytest.mark.parametrize("text", LEFT)
def test_what_is_left_to_nvcc(text: str) -> None:
    assert host_text(text) is None
