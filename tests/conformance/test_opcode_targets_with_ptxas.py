"""ptxas takes an opcode on exactly the targets that the table of opcodes says have it."""

from __future__ import annotations

from ptx_assembler import Question, assembler

from mmaproof.spec.ptx.opcode_table import FORMS, OPCODES
from mmaproof.spec.ptx.targets import TARGETS

EXAMPLES = {
    "activemask": "activemask.b32 b32_0;",
    "applypriority": "applypriority.global.L2::evict_normal [b64_0], 128;",
    "bmsk": "bmsk.clamp.b32 b32_0, b32_1, b32_2;",
    "clusterlaunchcontrol": "clusterlaunchcontrol.try_cancel.async.shared::cta"
    ".mbarrier::complete_tx::bytes.b128 "
    "[b32_0], [b32_1];",
    "cp": "cp.async.wait_all;",
    "createpolicy": "createpolicy.fractional.L2::evict_last.b64 b64_0;",
    "discard": "discard.global.L2 [b64_0], 128;",
    "elect": "elect.sync b32_0|pred_0, 0xffffffff;",
    "getctarank": "getctarank.shared::cluster.u32 b32_0, b32_1;",
    "griddepcontrol": "griddepcontrol.wait;",
    "ldmatrix": "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {b32_0}, [b32_1];",
    "mapa": "mapa.u64 b64_0, b64_1, b32_0;",
    "match": "match.any.sync.b32 b32_0, b32_1, -1;",
    "mbarrier": "mbarrier.init.shared.b64 [b32_0], 1;",
    "movmatrix": "movmatrix.sync.aligned.m8n8.trans.b16 b32_0, b32_1;",
    "multimem": "multimem.ld_reduce.global.add.f32 f32_0, [b64_0];",
    "redux": "redux.sync.add.u32 b32_0, b32_1, 0xffffffff;",
    "setmaxnreg": "setmaxnreg.inc.sync.aligned.u32 64;",
    "stmatrix": "stmatrix.sync.aligned.m8n8.x1.shared.b16 [b32_0], {b32_1};",
    "szext": "szext.clamp.u32 b32_0, b32_1, b32_2;",
    "tanh": "tanh.approx.f32 f32_0, f32_1;",
    "tcgen05": "tcgen05.fence::before_thread_sync;",
    "tensormap": "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned "
    "[b64_0], [b32_0], 128;",
    "wgmma": "wgmma.fence.sync.aligned;",
}
"""An instruction of every opcode that some target lacks, and of some that all have."""

EXAMPLES_OF_FORMS = {
    "barrier.cluster": "barrier.cluster.arrive;",
    "cp.async.bulk": "cp.async.bulk.commit_group;",
    "cp.reduce.async.bulk": "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 "
    "[b64_0], [b32_0], 16;",
    "fence.mbarrier_init": "fence.mbarrier_init.release.cluster;",
    "fence.proxy.async": "fence.proxy.async;",
    "fence.proxy.tensormap::generic": "fence.proxy.tensormap::generic.release.gpu;",
    "mbarrier.arrive.expect_tx": "mbarrier.arrive.expect_tx.shared::cta.b64 _, [b32_0], 16;",
    "mbarrier.complete_tx": "mbarrier.complete_tx.shared::cta.b64 [b32_0], 16;",
    "mbarrier.expect_tx": "mbarrier.expect_tx.shared::cta.b64 [b32_0], 16;",
    "mbarrier.try_wait": "mbarrier.try_wait.parity.shared::cta.b64 pred_0, [b32_0], b32_1;",
    "prefetch.tensormap": "prefetch.tensormap [b64_0];",
    "red.async": "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
    "[b32_0], b32_1, [b32_2];",
    "st.async": "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [b32_0], b32_1, [b32_2];",
    "st.bulk": "st.bulk.shared::cta [b32_0], b64_0, 0;",
}
"""An instruction of every form that came after its opcode."""

VERSION = (9, 0)


def test_every_opcode_that_a_target_lacks_has_an_example() -> None:
    lacked = {name for name, opcode in OPCODES.items() if not all(map(opcode.on, TARGETS.values()))}
    assert lacked <= EXAMPLES.keys() <= OPCODES.keys()


def test_ptxas_has_the_opcodes_of_a_target() -> None:
    # ptxas 13.0 compiles sm_70 and sm_72 for later ones, and calls sm_101 sm_110.
    targets = [each for each in TARGETS.values() if each.number >= 75 and each.number != 101]
    assert EXAMPLES_OF_FORMS.keys() == FORMS.keys()
    examples = {**EXAMPLES, **EXAMPLES_OF_FORMS}.items()
    asked = [(name, Question(text, target, VERSION)) for target in targets for name, text in examples]
    complaints = assembler().accepts([question for _, question in asked])
    wrong = [
        f"{question}: {complaint or 'taken'}"
        for (name, question), complaint in zip(asked, complaints, strict=True)
        if {**OPCODES, **FORMS}[name].on(question.target) != (complaint is None)
    ]
    assert wrong == []
