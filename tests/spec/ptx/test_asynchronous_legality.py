"""The rules on asynchronous instructions: which one an instruction violates, and what is said of others."""

from __future__ import annotations

import pytest

from mmaproof.refinement.ptx.module_legality import judge_text
from mmaproof.spec.errors import InputError, UnsupportedError
from mmaproof.spec.instruction_set import instruction_set, read
from mmaproof.spec.ptx.asynchronous.catalogue import ROWS, every_form, form_of
from mmaproof.spec.ptx.asynchronous.instruction import AsynchronousInstruction
from mmaproof.spec.ptx.asynchronous.legality import RULES
from mmaproof.spec.ptx.opcode_table import FORMS

NAMES = "%r<9>:b32, %rd<9>:b64, %h<5>:b16, %f<5>:f32, %p<3>:pred, tile:shared, far:global"
LOAD = "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
ILLEGAL = [
    ("mbarrier.banana.shared.b64 [%r1];", "async-head"),
    ("barrier.cluster.sync;", "async-head"),
    ("cp.reduce.async.banana [%r1];", "async-head"),
    ("mbarrier.arrive.release.shared.b64 %rd1, [%r1];", "async-modifier"),
    ("mbarrier.arrive.shared.shared.b64 %rd1, [%r1];", "async-modifier"),
    ("mbarrier.arrive.shared.expect_tx.b64 %rd1, [%r1], 5;", "async-modifier"),
    (f"{LOAD}.L2::banana [%r1], [%rd1, {{%r2, %r3}}], [%r4];", "async-modifier"),
    ("cp.async.bulk.tensor.2d.global.shared::cluster.mbarrier::complete_tx::bytes [%r1];", "async-modifier"),
    ("mbarrier.arrive.shared::cluster.b64 %rd1, [%r1];", "async-operand"),
    ("mbarrier.test_wait.shared.b64 !%p1, [%r1], %rd1;", "async-operand"),
    ("elect.sync %p1, -1;", "async-operand"),
    (f"{LOAD} [%r1], [%rd1, {{%r2}}], [%r4];", "async-operand"),
    (f"{LOAD} [%r1], [%rd1+8, {{%r2, %r3}}], [%r4];", "async-operand"),
    (f"{LOAD} [%r1], [%rd1], [%r4];", "async-operand"),
    (f"{LOAD} [%r1], [%rd1, {{%r2, %r3}}];", "async-operand-count"),
    (f"{LOAD}.multicast::cluster [%r1], [%rd1, {{%r2, %r3}}], [%r4];", "async-operand-count"),
    ("mbarrier.arrive.noComplete.shared.b64 %rd1, [%r1];", "async-operand-count"),
    ("griddepcontrol.wait %r1;", "async-operand-count"),
    ("mbarrier.init.shared.b64 [%r1], 0;", "async-constant"),
    ("mbarrier.arrive.expect_tx.shared.b64 _, [%r1], 1048576;", "async-constant"),
    ("cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 24;", "async-constant"),
    ("setmaxnreg.inc.sync.aligned.u32 36;", "async-constant"),
    ("mbarrier.try_wait.parity.shared.b64 %p1, [%r1], 2;", "async-constant"),
    ("mbarrier.arrive.shared.b64 %r1, [%r1];", "async-register"),
    ("mbarrier.arrive.shared.b64 %rd1, [%r10];", "async-register"),
    (f"{LOAD} [%r1], [%rd1, {{%f2, %r3}}], [%r4];", "async-register"),
    ("mbarrier.init.shared.b64 [far], 1;", "async-space"),
    ("cp.async.bulk.global.shared::cta.bulk_group [tile], [%r1], 16;", "async-space"),
    ("@%r1 fence.proxy.async;", "async-guard"),
]


@pytest.mark.parametrize(("text", "rule"), ILLEGAL)
def test_the_rule_that_is_violated(text: str, rule: str) -> None:
    judgement = read(text, None, NAMES).legal("sm_90a")
    assert [violation.rule.id for violation in judgement.violations] == [rule]


@pytest.mark.parametrize(
    ("text", "target", "version", "rules"),
    [
        ("fence.proxy.async;", "sm_89", None, ["async-target"]),
        ("setmaxnreg.dec.sync.aligned.u32 40;", "sm_90", None, ["async-target"]),
        ("mbarrier.arrive.relaxed.cta.b64 _, [%rd1];", "sm_90", "8.5", ["async-version"]),
        ("fence.proxy.alias;", "sm_90a", "7.8", ["async-target-version"]),
        ("mbarrier.arrive.shared.b64 _, [%r1], 2;", "sm_80", None, ["async-operand-count"]),
        ("mbarrier.arrive.shared.b64 _, [%r1];", "sm_80", "7.0", []),
        ("cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4", "sm_90a", None, ["async-target"]),
    ],
)
def test_targets_and_versions(text: str, target: str, version: str | None, rules: list[str]) -> None:
    judgement = read(text, None, NAMES).legal(target, version)
    assert [violation.rule.id for violation in judgement.violations] == rules


def test_every_rule_is_tried() -> None:
    tried = {rule for _, rule in ILLEGAL} | {"async-target", "async-version", "async-target-version"}
    assert {rule.id for rule in RULES} == tried


def test_forms_are_found_whatever_the_order_of_their_modifiers() -> None:
    for form in every_form():
        assert form_of(form.mnemonic) == form
        if len(form.key[1]) < 2:
            assert form_of(".".join([form.row.head, *reversed(form.modifiers)])) == form


def test_forms_of_the_opcode_table_are_judged_where_they_came_later() -> None:
    rowless = {"st.bulk"}
    judged = {name for name in FORMS if isinstance(read(name), AsynchronousInstruction)}
    assert judged == set(FORMS) - rowless


def test_later_forms_are_not_judged() -> None:
    text = "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes"
    judgement = read(text).legal("sm_100a")
    assert judgement.violations == () and not judgement.is_judged
    with pytest.raises(UnsupportedError, match="gather4"):
        read(text).describe()


def test_what_is_asked_besides() -> None:
    instruction = read("fence.proxy.async")
    assert instruction.laid_out() == () and "generic accesses" in str(instruction.describe())
    assert instruction.row()["instruction"] == "fence.proxy"
    with pytest.raises(UnsupportedError, match="not executed alone"):
        instruction.execute({}, as_registers=False, rounding=None, choices=())
    with pytest.raises(InputError, match="is illegal"):
        read("fence.banana").describe()
    with pytest.raises(UnsupportedError, match="not specified"):
        read("cp.async.bulk.tensor.3d.shared::cta.global.im2col.mbarrier::complete_tx::bytes").formula()
    table = instruction_set("ptx").tables["asynchronous"]()
    assert len(table) == len(ROWS) and all(row["effect"] and row["source"] for row in table)


MODULE = """.version 8.6
.target sm_90a
.address_size 64
.visible .entry k(.param .align 64 .b8 map[128]) {
  .reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<4>;
  .shared .align 8 .b64 bar; .shared .align 1024 .b8 tile[4096];
  mov.b64 %rd1, map;
  elect.sync %r1|%p1, -1;
  mapa.shared::cluster.u32 %r3, bar, 1;
  @%p1 mbarrier.arrive.expect_tx.shared.b64 _, [bar], BYTES;
  @%p1 cp.async.bulk.tensor.2d.shared::cta.global.MODE.mbarrier::complete_tx::bytes
    [tile], [%rd1, {%r1, 0}], [bar];
  ret;
}
"""


def test_a_module() -> None:
    legal = MODULE.replace("BYTES", "4096").replace("MODE", "tile")
    judgement = judge_text(legal, "k.ptx", None, None)
    assert judgement.violations == () and judgement.is_judged
    assert "4 asynchronous ones are judged; of the other 2" in str(judgement.notes[0])
    wrong = judge_text(legal.replace("4096;", "-4;"), "k.ptx", None, None).violations
    assert [str(each)[:24] for each in wrong] == ["async-constant: line 10,"]
    wrong = judge_text(legal, "k.ptx", "sm_80", "8.6").violations
    assert {each.rule.id for each in wrong} == {"async-target"} and len(wrong) == 4
    later = MODULE.replace("BYTES", "4096").replace("MODE", "tile::gather4")
    assert not judge_text(later, "k.ptx", "sm_100a", "8.6").is_judged
    assert {violation.rule.id for violation in judge_text(later, "k.ptx", None, None).violations} == {
        "async-target"
    }


@pytest.mark.parametrize(
    ("directives", "target", "version", "rules"),
    [
        ("", "sm_80", "8.0", []),
        (".reqnctapercluster 2, 1, 1", "sm_90", "7.8", []),
        (".reqnctapercluster 2", "sm_89", "8.0", ["cluster-target"]),
        (".reqnctapercluster 2 .maxclusterrank 4", "sm_90", "8.0", ["cluster-together"]),
        (".blocksareclusters .reqntid 32", "sm_90", "9.0", ["cluster-together"]),
        (".blocksareclusters .reqntid 32 .reqnctapercluster 2", "sm_90", "8.8", ["cluster-version"]),
        (".blocksareclusters .reqntid 32 .reqnctapercluster 2", "sm_90", "9.0", []),
    ],
)
def test_directives_of_clusters(directives: str, target: str, version: str, rules: list[str]) -> None:
    text = f".version {version}\n.target {target}\n.address_size 64\n.entry k() {directives} {{ ret; }}\n"
    assert [violation.rule.id for violation in judge_text(text, "k.ptx", None, None).violations] == rules
