"""Storages that get another size: every tensor on them sees the new memory, as in torch."""

import pytest
from both import agree, written

PROGRAMS = [
    "z = xp.arange(4.0); v = z[2:]; n = v.sum(); z.resize_(8); z[2] = 9; v",
    "z = xp.arange(4.0); v = z[2:]; n = v.sum(); z.resize_(8); v.add_(1); z[:4]",
    "z = xp.arange(4.0); v = z[2:]; n = v.sum(); s = z.untyped_storage().resize_(32); v.add_(1); [z, v, s.nbytes()]",
    "z = xp.arange(4.0); v = z.view(2, 2); n = v.sum(); z.untyped_storage().resize_(32); z.add_(1); v",
    "z = xp.ones(2); z.untyped_storage().resize_(4); [z.untyped_storage().nbytes(), z[:1]]",
    "z = xp.ones(2); z.untyped_storage().resize_(0); [z.shape, z._version, z.data_ptr(), z.view(1, 2).shape]",
    "z = xp.ones(2); z.untyped_storage().resize_(0).resize_(8); n = z.copy_(y); z",
    "z = xp.ones(2); z.untyped_storage().resize_(0); z.resize_(0)",
    "y.untyped_storage().resize_(-1)",
    "z = xp.ones(2, device='meta'); z.untyped_storage().resize_(32); z.untyped_storage().nbytes()",
    # A saved tensor whose memory was freed and filled again is the new one: no version has changed.
    "z = (x * y).sum(); y.untyped_storage().resize_(0).resize_(8); n = y.data.copy_(m[1]); z.backward(); x.grad",
    "z = (x * y).sum(); y.resize_(4); z.backward()",
    "z = (x * m[0]).sum(); m.resize_(8); z.backward()",
]


@pytest.mark.parametrize("text", PROGRAMS)
def test_tensors_see_the_new_memory(text):
    agree(written(text))


@pytest.mark.parametrize("text", ["y + 1", "y.tolist()", "y.add_(1)", "str(y)"])
def test_memory_that_was_freed_cannot_be_read(text):  # torch's process dies
    import rushlight as rl

    y = rl.ones(2)
    y.sum()
    y.untyped_storage().resize_(0)
    with pytest.raises(ValueError, match="buffer"):
        eval(text, {"y": y})
