"""Modules of PTX whose names are told apart."""

from __future__ import annotations

from mmaproof.api.torch.ptx_modules import with_name

ADD = """.version 8.8
.target sm_80
.visible .entry add(
	.param .u64 add_param_0
)
{
	.loc 1 12 0 // add.py:12
	ld.param.u64 %add, [add_param_0];
	add.s32 %r1, %r1, %r2;
	mov.u64 %d1, add;
	ret;
}
.file 1 "/home/add/add.py"
"""


def test_a_kernel_that_is_called_as_an_opcode_gets_another_name() -> None:
    text = with_name(ADD, "add", "add_1")
    changed = [line for line in text.splitlines() if line not in ADD.splitlines()]
    assert changed == [".visible .entry add_1(", "\tmov.u64 %d1, add_1;"]


def test_a_kernel_of_one_letter_leaves_all_other_names() -> None:
    text = ADD.replace(" add(", " d(").replace("add_param", "d_param")
    assert with_name(text, "d", "d_1") == text.replace(" d(", " d_1(")
