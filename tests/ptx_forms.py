"""Forms of every PTX instruction that is modelled: what to write, and how wide its operands are.

A mnemonic is spelled with alternatives, ``add.{u,s}{16,32}``. A signature lists the widths of the results
and of the sources: a number, ``w`` for the bits of the last type named, ``t`` for those of the first, ``W``
for twice the last, ``p`` for a predicate. An exclamation mark says that the source must be known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

from mmaproof.refinement.ptx.text.module import TYPE_BITS


class Form(NamedTuple):
    """Instructions to run.

    Attributes
    ----------
    name : str
        The mnemonic, or what is written in its place for several instructions.
    text : str
        Over sources ``s0``, ``s1``, … and results ``r0``, ….
    sources, results : dict of str to str
        The type of each register.
    known : frozenset of str
        Sources that must not depend on data; all of them where data are refused.
    nonzero : frozenset of str
        Sources that are not 0.
    """

    name: str
    text: str
    sources: dict[str, str]
    results: dict[str, str]
    known: frozenset[str] = frozenset()
    nonzero: frozenset[str] = frozenset()

    @property
    def opcodes(self) -> frozenset[str]:
        """Of the instructions."""
        return frozenset(re.findall(r"(?:^|;)\s*(\w+)\.", self.text))


def spelled(template: str) -> Iterator[str]:
    """Yield what a template with alternatives stands for."""
    pieces = re.split(r"\{([^}]*)\}", template)
    choices = [piece.split(",") if index % 2 else [piece] for index, piece in enumerate(pieces)]
    for chosen in product(*choices):
        yield "".join(chosen)


def forms(template: str, signature: str, text: str = "", *, nonzero: str = "") -> Iterator[Form]:
    """Yield the forms of a mnemonic; `text` says how it is written, ``M`` standing for the mnemonic."""
    for mnemonic in spelled(template):
        types = [part for part in mnemonic.split(".") if part in TYPE_BITS]
        widths = {"p": "pred"}
        if types:
            first, last = TYPE_BITS[types[0]], TYPE_BITS[types[-1]]
            widths |= {"t": _register(first), "w": _register(last), "W": _register(2 * last)}
        written, read = ([each.lstrip("!") for each in side.split()] for side in signature.split("="))
        results = {f"r{i}": widths.get(each, f"b{each}") for i, each in enumerate(written)}
        sources = {f"s{i}": widths.get(each, f"b{each}") for i, each in enumerate(read)}
        marks = signature.split("=")[1].split()
        known = frozenset(f"s{i}" for i, each in enumerate(marks) if each.startswith("!"))
        plain = f"M {', '.join([*results, *sources])};"
        written_out = (text or plain).replace("M ", f"{mnemonic} ")
        yield Form(mnemonic, written_out, sources, results, known, frozenset(nonzero.split()))


def _register(bits: int) -> str:
    return "pred" if bits == 1 else f"b{max(16, bits)}"


INTEGERS = "{u,s}{16,32,64}"
ROUNDINGS = "{rn,rz,rm,rp}"
BITS = "b{16,32,64}"

_SPECS: tuple[tuple[str, ...], ...] = (
    # -- integers
    (f"add.{INTEGERS}", "w = w w"),
    ("add.{u,s}16x2", "w = w w"),
    (f"sub.{INTEGERS}", "w = w w"),
    ("{add,sub}.sat.s32", "w = w w"),
    ("{u,s}{32,64}", "w w w = w w w", "add.cc.M r0, s0, s1; addc.cc.M r1, s1, s2; addc.M r2, s0, s2;"),
    ("{u,s}{32,64}", "w w w = w w w", "sub.cc.M r0, s0, s1; subc.cc.M r1, s1, s2; subc.M r2, s0, s2;"),
    ("{u,s}32", "w w w = w w w",
     "mad.lo.cc.M r0, s0, s1, s2; madc.hi.cc.M r1, s0, s1, s2; madc.lo.M r2, s0, s2, s1;"),
    (f"mul.lo.{INTEGERS}", "w = w w"),
    ("mul.hi.{u,s}{16,32}", "w = w w"),
    ("mul.hi.{u,s}64", "w = !w !w"),
    ("mul.wide.{u,s}{16,32}", "W = w w"),
    (f"mad.lo.{INTEGERS}", "w = w w w"),
    ("mad.hi.{u,s}{16,32}", "w = w w w"),
    ("mad.hi.sat.s32", "w = w w w"),
    ("mad.wide.{u,s}{16,32}", "W = w w W"),
    ("mul24.{lo,hi}.{u,s}32", "w = w w"),
    ("mad24.{lo,hi}.{u,s}32", "w = w w w"),
    ("mad24.hi.sat.s32", "w = w w w"),
    (f"sad.{INTEGERS}", "w = w w w"),
    (f"{{div,rem}}.{INTEGERS}", "w = w w", "M r0, s0, s1;", "s1"),
    (f"{{div,rem}}.{INTEGERS}", "w = w", "M r0, s0, 8;"),
    (f"mul.lo.{INTEGERS}", "w = w", "M r0, s0, 256;"),
    ("mul.wide.{u,s}{16,32}", "W = w", "M r0, s0, 256;"),
    ("{neg,abs}.s{16,32,64}", "w = w"),
    (f"{{min,max}}.{INTEGERS}", "w = w w"),
    ("{min,max}.{u,s}16x2", "w = w w"),
    ("{min,max}.relu.s{32,16x2}", "w = w w"),
    ("dp4a.{u,s}32.{u,s}32", "32 = 32 32 32"),
    ("dp2a.{lo,hi}.{u,s}32.{u,s}32", "32 = 32 32 32"),
    # -- bits
    ("{and,or,xor}.{pred,b16,b32,b64}", "w = w w"),
    ("not.{pred,b16,b32,b64}", "w = w"),
    (f"cnot.{BITS}", "w = w"),
    *(("lop3.b32", "32 = 32 32 32", f"M r0, s0, s1, s2, {table};") for table in (0x1B, 0x96, 0xCA, 0xE8)),
    ("lop3.{or,and}.b32", "32 p = 32 32 32 p", "M r0|r1, s0, s1, s2, 0x40, s3;"),
    (f"shl.{BITS}", "w = w 32"),
    ("shr.{b,u,s}{16,32,64}", "w = w 32"),
    ("shf.{l,r}.{clamp,wrap}.b32", "32 = 32 32 !32"),
    ("bfe.{u,s}{32,64}", "w = w !32 !32"),
    ("bfi.b{32,64}", "w = w w !32 !32"),
    ("bmsk.{clamp,wrap}.b32", "32 = !32 !32"),
    ("szext.{clamp,wrap}.{u,s}32", "32 = 32 !32"),
    ("brev.b{32,64}", "w = w"),
    ("prmt.b32{,.f4e,.b4e,.rc8,.ecl,.ecr,.rc16}", "32 = 32 32 32"),
    ("popc.b{32,64}", "32 = w"),
    ("clz.b{32,64}", "32 = !w"),
    ("bfind{,.shiftamt}.{u,s}{32,64}", "32 = !w"),
    ("fns.b32", "32 = !32 !32 !32"),
    # -- conversions
    ("cvt{,.sat}.{u,s}{8,16,32,64}.{u,s}{8,16,32,64}", "t = w"),
    (f"cvt.{ROUNDINGS}.{{f16,f32,f64}}.{{u,s}}{{8,16,32,64}}", "t = w"),
    ("cvt.rn.bf16.{u,s}{8,16,32,64}", "t = w"),
    ("cvt.{rni,rzi,rmi,rpi}.{u,s}{8,16,32,64}.{f16,bf16,f32,f64}", "t = w"),
    ("cvt.rzi{.ftz,.ftz.sat,.sat}.{u,s}{8,32}.f32", "t = w"),
    ("cvt{,.sat}.f32.{f16,bf16}", "t = w"),
    ("cvt.f64.{f16,f32,bf16}", "t = w"),
    (f"cvt.{ROUNDINGS}{{,.sat}}.{{f16.f32,f16.f64,f32.f64}}", "t = w"),
    ("cvt.{rn,rz}{,.relu,.satfinite,.relu.satfinite}.{f16,bf16}.f32", "t = w"),
    ("cvt.{rni,rzi,rmi,rpi}{.f16.f16,.f32.f32,.f64.f64,.ftz.f32.f32}", "t = w"),
    ("cvt.{rn,rz,rna,rna.satfinite,rn.relu}.tf32.f32", "t = w"),
    ("cvt.{rn,rz}{,.relu,.satfinite}.{f16x2,bf16x2}.f32", "32 = 32 32"),
    ("cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2,e2m3x2,e3m2x2}.f32", "16 = 32 32"),
    ("cvt.rn.satfinite{,.relu}.{e4m3x2,e5m2x2}.f16x2", "16 = 32"),
    ("cvt.rn{,.relu}.f16x2.{e4m3x2,e5m2x2,e2m3x2,e3m2x2}", "32 = 16"),
    ("cvt.rn.bf16x2.ue8m0x2", "32 = 16"),
    ("cvt.{rz,rp}{,.satfinite}.ue8m0x2.f32", "16 = 32 32"),
    ("cvt.{rz,rp}{,.satfinite}.ue8m0x2.bf16x2", "16 = 32"),
    ("cvt.pack.sat.{u,s}16.s32", "32 = 32 32"),
    ("cvt.pack.sat.{u,s}{4,8}.s32.b32", "32 = 32 32 32"),
    # -- floating point
    (f"{{add,sub,mul}}.{ROUNDINGS}{{,.ftz,.sat,.ftz.sat}}.f32", "w = w w"),
    (f"{{add,sub,mul}}.{ROUNDINGS}.{{f64,f32x2}}", "w = w w"),
    ("{add,sub,mul}{,.rn}{,.ftz,.sat}.{f16,f16x2}", "w = w w"),
    ("{add,sub,mul}.{bf16,bf16x2}", "w = w w"),
    (f"{{add,sub}}.{ROUNDINGS}.f32.{{f16,bf16}}", "32 = 16 32"),
    (f"fma.{ROUNDINGS}.f32.{{f16,bf16}}", "32 = 16 16 32"),
    (f"fma.{ROUNDINGS}{{,.ftz,.sat}}.f32", "w = w w w"),
    (f"fma.{ROUNDINGS}.{{f64,f32x2}}", "w = w w w"),
    ("fma.rn{,.ftz,.sat,.relu}.{f16,f16x2}", "w = w w w"),
    ("fma.rn{,.relu}.{bf16,bf16x2}", "w = w w w"),
    (f"mad.{ROUNDINGS}.f{{32,64}}", "w = w w w"),
    ("{neg,abs}.{f16,f16x2,bf16,bf16x2,f32,f64,ftz.f32,ftz.f16}", "w = w"),
    ("{min,max}{,.ftz,.NaN,.NaN.xorsign.abs}.{f16,f16x2,f32}", "w = w w"),
    ("{min,max}{,.NaN,.xorsign.abs}.{bf16,bf16x2}", "w = w w"),
    ("{min,max}.f64", "w = w w"),
    ("{min,max}{,.NaN,.abs}.f32", "w = w w w"),
    ("copysign.f{32,64}", "w = w w"),
    ("testp.{finite,infinite,number,notanumber,normal,subnormal}.f{32,64}", "p = w"),
    ("div.{rn,rz,rm,rp,approx,full,rn.ftz,full.ftz}.f32", "w = w w"),
    ("{rcp,sqrt}.{rn,rz,approx,approx.ftz}.f32", "w = w"),
    ("{rcp,sqrt}.rn.f64", "w = w"),
    ("div.rn.f64", "w = w w"),
    ("{rsqrt,sin,cos,lg2,ex2}.approx{,.ftz}.f32", "w = w"),
    ("rsqrt.approx.f64", "w = w"),
    ("ex2.approx.{f16,f16x2}", "w = w"),
    ("ex2.approx.ftz.{bf16,bf16x2}", "w = w"),
    ("tanh.approx.{f32,f16,f16x2,bf16,bf16x2}", "w = w"),
    # -- predicates
    ("setp.{eq,ne}.b{16,32,64}", "p p = w w", "M r0|r1, s0, s1;"),
    ("setp.{eq,ne,lt,le,gt,ge}.s{16,32,64}", "p = w w"),
    ("setp.{eq,lt,le,gt,ge,lo,ls,hi,hs}.u{16,32,64}", "p = w w"),
    ("setp.{eq,ne,lt,le,gt,ge,equ,neu,ltu,leu,gtu,geu,num,nan}.{f32,f64,f16,bf16}", "p = w w"),
    ("setp.{lt,gtu}.{f16x2,bf16x2}", "p p = w w", "M r0|r1, s0, s1;"),
    ("setp.{lt.and,ge.or,eq.xor}.{s32,f32}", "p p = w w p", "M r0|r1, s0, s1, s2;"),
    ("setp.lt.ftz.f32", "p = w w"),
    ("set.{lt,ge}.{u32,s32,f32,u16}.{s32,u64,f32,f16}", "t = w w"),
    ("set.{eq.xor,ne.and}.u32.{s32,f64}", "t = w w p"),
    ("set.lt{,.ftz}.f16x2.f16x2", "t = w w"),
    ("selp.{b,u,s}{16,32,64}", "w = w w p"),
    ("selp.f{32,64}", "w = w w p"),
    ("slct.{b,u,s}{16,32,64}.s32", "t = t t 32"),
    ("slct{,.ftz}.{b32,f32,f64}.f32", "t = t t 32"),
    # -- moves
    ("mov.{pred,b16,b32,b64,u16,s32,u64,f32,f64}", "w = w"),
    ("mov.b32", "32 16 16 = 16 16 32", "M r0, {s0, s1}; M {r1, r2}, s2;"),
    ("mov.b64", "64 32 32 = 32 32 64", "M r0, {s0, s1}; M {r1, r2}, s2;"),
    ("mov.b64", "64 16 16 16 16 = 16 16 16 16 64", "M r0, {s0, s1, s2, s3}; M {r1, r2, r3, r4}, s4;"),
    # -- what threads exchange
    ("shfl.sync.{up,down,bfly,idx}.b32", "32 = 32 !32", "M r0, s0, s1, 31, -1;"),
    ("shfl.{up,down,bfly,idx}.b32", "32 p = 32 !32", "M r0|r1, s0, s1, 0x1f;"),
    ("vote.sync.{all,any,uni}.pred", "p = !p", "M r0, s0, -1;"),
    ("vote.sync.ballot.b32", "32 = !p", "M r0, s0, -1;"),
    ("match.sync.any.b{32,64}", "32 = !w", "M r0, s0, -1;"),
    ("match.sync.all.b{32,64}", "32 p = !w", "M r0|r1, s0, -1;"),
    ("activemask.b32", "32 =", "M r0;"),
    ("redux.sync.{add,min,max}.{u,s}32", "32 = 32", "M r0, s0, -1;"),
    ("redux.sync.{and,or,xor}.b32", "32 = 32", "M r0, s0, -1;"),
    ("redux.sync.{min,max}{,.abs}{,.NaN}.f32", "32 = 32", "M r0, s0, -1;"),
)  # fmt: skip
"""Mnemonic, signature, how it is written, what is not 0."""

SHARED = ".shared .align 16 .b8 tile[4096]; .reg .u32 place; mad.lo.u32 place, me, 16, tile;"
"""16 bytes of shared memory for each thread."""

_KEPT = f"{SHARED} st.shared.b64 [place], s0; st.shared.b64 [place+8], s1; bar.sync 0;"

_IN_MEMORY: tuple[tuple[str, ...], ...] = (
    *((f"ld.shared.{kind}", "32 = 64 64", f"{_KEPT} M r0, [place+{at}];")
      for kind, at in (("u8", 3), ("s8", 5), ("u16", 6), ("s16", 8), ("b32", 4))),
    ("ld.shared.s32", "64 = 64 64", f"{_KEPT} M r0, [place+12];"),
    ("ld.shared.v4.b16", "16 16 16 16 = 64 64", f"{_KEPT} M {{r0, r1, r2, r3}}, [place+8];"),
    ("ld.shared.v2.b64", "64 64 = 64 64", f"{_KEPT} M {{r0, r1}}, [place];"),
    ("ld.shared.b8", "64 = 16 64",
     f"{_KEPT.replace('st.shared.b64 [place], s0', 'st.shared.b64 [place], s1')}"
     " st.shared.b8 [place+9], s0; M r0, [place+9];"),
    ("st.shared.v4.b16", "64 = 16 16 16 16",
     f"{SHARED} M [place], {{s0, s1, s2, s3}}; ld.shared.b64 r0, [place];"),
    ("st.shared.b{8,16}", "64 = 64 32",
     f"{SHARED} st.shared.b64 [place], s0; M [place+2], s1; ld.shared.b64 r0, [place];"),
    ("red.shared.add.{u32,s32,u64,f32,f64}", "w = w w",
     f"{SHARED} st.shared.TYPE [place], s0; M [place], s1; ld.shared.TYPE r0, [place];"),
    ("atom.shared.add.noftz.{f16x2,bf16x2}", "w = w w",
     f"{SHARED} st.shared.TYPE [place], s0; M _, [place], s1; ld.shared.TYPE r0, [place];"),
    ("ldmatrix.sync.aligned.m8n8.x4{,.trans}.shared.b16", "32 32 32 32 = 64 64",
     f"{_KEPT} M {{r0, r1, r2, r3}}, [place];"),
    ("stmatrix.sync.aligned.m8n8.x2{,.trans}.shared.b16", "64 64 = 32 32",
     f"{SHARED} st.shared.b64 [place], 0; st.shared.b64 [place+8], 0; bar.sync 0;"
     " M [place], {s0, s1}; bar.sync 0; ld.shared.v2.b64 {r0, r1}, [place];"),
    ("movmatrix.sync.aligned.m8n8.trans.b16", "32 = 32"),
    ("cp.async.ca.shared.global", "32 = 32",
     f"{SHARED} M [place], [at0], 4; cp.async.wait_all; ld.shared.b32 r0, [place];"),
)  # fmt: skip

_PRODUCTS = (
    ("m16n8k16.row.col.f32.f16.f16.f32", 4, 4, 2, 4),
    ("m16n8k8.row.col.f16.f16.f16.f16", 2, 2, 1, 2),
    ("m16n8k8.row.col.f32.bf16.bf16.f32", 4, 2, 1, 4),
    ("m16n8k4.row.col.f32.tf32.tf32.f32", 4, 2, 1, 4),
    ("m16n8k32.row.col.satfinite.s32.s8.u8.s32", 4, 4, 2, 4),
    ("m16n8k32.row.col.s32.u4.s4.s32", 4, 2, 1, 4),
    ("m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 2, 1, 1, 2),
    ("m16n8k32.row.col.f32.e4m3.e5m2.f32", 4, 4, 2, 4),
)
"""A multiplication, and the registers of d, a, b and c."""

WMMA = """
.shared .align 32 .b8 matrix[4096]; .reg .u32 warp, own, row; .reg .b32 a<8>, b<8>, c<8>, d<8>; .reg .u64 out;
shr.u32 warp, me, 5; mad.lo.u32 own, warp, 512, matrix; and.b32 row, me, 31; mad.lo.u32 row, row, 16, own;
st.shared.b64 [row], s0; st.shared.b64 [row+8], s1; bar.sync 0;
wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {a0, a1, a2, a3, a4, a5, a6, a7}, [own], 16;
wmma.load.b.sync.aligned.col.m16n16k16.shared.f16 {b0, b1, b2, b3, b4, b5, b6, b7}, [own], 16;
wmma.load.c.sync.aligned.row.m16n16k16.shared.f16 {c0, c1, c2, c3}, [own], 16;
wmma.mma.sync.aligned.row.col.m16n16k16.f16.f16
 {d0, d1, d2, d3}, {a0, a1, a2, a3, a4, a5, a6, a7}, {b0, b1, b2, b3, b4, b5, b6, b7}, {c0, c1, c2, c3};
bar.sync 0; wmma.store.d.sync.aligned.row.m16n16k16.shared.f16 [own], {d0, d1, d2, d3}, 16; bar.sync 0;
ld.shared.v2.b64 {r0, r1}, [row];
"""


def _of_spec(spec: tuple[str, ...]) -> Iterator[Form]:
    template, signature, *rest = spec
    text, nonzero = [*rest, "", ""][:2]
    for form in forms(template, signature, text, nonzero=nonzero):
        kind = form.results.get("r0", "")
        yield form._replace(text=form.text.replace("TYPE", kind))


def _product(mnemonic: str, *counts: int) -> Form:
    d, a, b, c = counts
    names = [f"s{i}" for i in range(a + b + c)]
    groups = [names[:a], names[a : a + b], names[a + b :]]
    listed = ", ".join(f"{{{', '.join(group)}}}" for group in ([f"r{i}" for i in range(d)], *groups))
    text = f"mma.sync.aligned.{mnemonic} {listed};"
    return Form("mma", text, dict.fromkeys(names, "b32"), {f"r{i}": "b32" for i in range(d)})


FORMS: tuple[Form, ...] = (
    *(form for spec in (*_SPECS, *_IN_MEMORY) for form in _of_spec(spec)),
    *(_product(*each) for each in _PRODUCTS),
    Form("wmma", WMMA, {"s0": "b64", "s1": "b64"}, {"r0": "b64", "r1": "b64"}),
)
"""Everything."""

WITHOUT_RESULTS = frozenset(
    [
        "applypriority",
        "bar",
        "barrier",
        "brkpt",
        "createpolicy",
        "discard",
        "fence",
        "griddepcontrol",
        "membar",
        "nanosleep",
        "pmevent",
        "prefetch",
        "prefetchu",
        "setmaxnreg",
        "trap",
    ]
)
"""Opcodes that compute nothing."""

OF_ADDRESSES = frozenset(["cvta", "getctarank", "isspacep", "ldu", "mapa", "mbarrier"])
"""Opcodes on addresses, which are never data, or on opaque states, and ``ldu``: ``ld`` by another name."""
