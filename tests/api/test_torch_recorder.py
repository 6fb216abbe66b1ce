"""What the recorder knows of the memory of tensors."""

from __future__ import annotations

import pytest

from mmaproof.api.torch.recording import NotRecordedError, Pointer


def test_memory_is_used_while_some_tensor_is_in_it() -> None:
    torch = pytest.importorskip("torch")
    from mmaproof.api.torch.recorder import Recorder

    recorder = Recorder({"clone"})
    x = recorder.tensor(torch.zeros(2, 3), "input", "x")
    with recorder:
        copy = x.clone()
        address = recorder.address(copy)
        view = copy.view(3, 2)[1:]
        assert recorder.pointer(address) == Pointer(1, 0)
        del copy
        assert recorder.pointer(address) == Pointer(1, 0)
        del view
        with pytest.raises(NotRecordedError, match="after the host has dropped it"):
            recorder.pointer(address)
        assert recorder.pointer(recorder.address(x)) == Pointer(0, 0)
