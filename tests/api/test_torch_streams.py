"""Which work of several streams comes one after the other."""

from __future__ import annotations

from mmaproof.api.torch.streams import DEFAULT, Streams


def test_work_in_one_stream_is_in_order() -> None:
    streams = Streams()
    own = streams.made(non_blocking=True)
    assert own != streams.made(non_blocking=True) and not streams.given(own)  # inputs may not be there
    streams = Streams()
    assert all(streams.given(DEFAULT) for _ in range(3))
    streams.waited_for_all()
    assert streams.given(own) and streams.given(own)


def test_the_default_stream_and_blocking_ones_wait_for_each_other() -> None:
    streams = Streams()
    own, other = streams.made(non_blocking=False), streams.made(non_blocking=False)
    assert streams.given(DEFAULT) and streams.given(own) and streams.given(1) and streams.given(other)
    assert not streams.given(own)


def test_others_wait_only_where_the_host_does() -> None:
    streams = Streams()
    own = streams.made(non_blocking=True)
    assert streams.given(DEFAULT) and not streams.given(own)
    streams = Streams()
    own, other = streams.made(non_blocking=True), streams.made(non_blocking=False)
    streams.waited_for(DEFAULT)
    assert streams.given(own)
    streams.waited_for(own)
    assert streams.given(other) and not streams.given(own)
    streams.waited_for_all()
    assert streams.given(own) and not streams.given(DEFAULT)
