"""Storages, typed and untyped, and `set_` do what they do on torch."""

import pytest
from both import agree
from sweep import in_one_test

TEXTS = """
s = xp.FloatStorage([1, 2]); s.type(), s.pickle_storage_type(), str(s.device), [*s], s.element_size(), s.size(), s.nbytes(), len(s)
s = xp.FloatStorage([1, 2]); s[0:1] = 5; s[1], s.tolist(), s.fill_(3).tolist(), s.copy_(xp.FloatStorage([7, 8])).tolist()
xp.FloatStorage(3)[0:1]
isinstance(s(), xp.FloatStorage), isinstance(s(), xp.LongStorage), a.storage_type() is xp.FloatStorage, xp.BoolStorage().dtype
s().long().tolist(), s().bfloat16().float().tolist(), s().bool().tolist(), xp.BFloat16Storage([1, 2.5]).tolist()
xp.ByteStorage.from_buffer(bytearray([1, 2, 3, 4])).tolist(), xp.ShortStorage.from_buffer(bytearray([1, 2, 3, 4]), "big").tolist()
u = s().untyped(); u[0:4].tolist(), u[3], u.size(), u.tolist() == s().untyped().tolist(), u.clone().tolist() == u.tolist()
u = xp.UntypedStorage([1, 2, 3, 4]); u.byteswap(xp.int16); u.tolist()
xp.UntypedStorage(3, device="meta")[0]
xp.TypedStorage([1, 2], dtype=xp.int64, device="meta").tolist()
xp.TypedStorage(1, 2, dtype=xp.int64)
xp.TypedStorage(xp.UntypedStorage(4))
sizes = [xp.ones(n).storage().__sizeof__() for n in (0, 10, 100)]; sizes[2] - sizes[0] == 10 * (sizes[1] - sizes[0])
v = copy.deepcopy([a, a.storage(), a.view(6)]); v[0].add_(1); v[1].tolist(), v[2]
x.set_(a), x.is_set_to(a), a.is_set_to(a[0]), x._version
x.set_(a.storage(), 1, (2, 2), (2, 1)), x.is_set_to(a)
x.set_(a.untyped_storage()), x.storage_offset(), x.stride()
x.set_(source=a.storage(), storage_offset=2, size=(3,))
x.set_()
x.set_(a.double())
x.set_(a.double().storage())
x.set_(x.untyped_storage(), 100, (2,))
y = x.set_(x.untyped_storage(), 100, (3,)); y.untyped_storage().nbytes(), y.shape
xp.zeros(2, requires_grad=True).set_(a)
w = xp.zeros(2, requires_grad=True); xp.no_grad()(w.set_)(xp.ones(3)); (w * 2).sum().backward(); w.grad
p, q = xp.ones(2), xp.zeros(2); r = p.view(2, 1); p.untyped_storage()._swap_data_ptr_(q.untyped_storage()); p, q, r
p, q = xp.ones(2), xp.zeros(3); p.untyped_storage()._swap_data_ptr_(q.untyped_storage())
p, q = xp.ones(2), xp.zeros(3); p.untyped_storage().resize_(0); p.untyped_storage()._swap_data_ptr_(q.untyped_storage()); q.shape
xp.tensor(a.storage()), xp.tensor(a.untyped_storage(), dtype=xp.float32)
xp.empty([0, 4, 2305843009213693952])
xp.empty([0, 3, 2]).stride()
x.resize_([0, 4, 2305843009213693952])
"""


@in_one_test
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", TEXTS.strip().splitlines())
def test_it_is_as_in_torch(text):
    def program(xp):
        names = {"xp": xp, "copy": __import__("copy"), "x": xp.zeros(2), "a": xp.arange(6.0).view(2, 3)}
        names["s"] = lambda: xp.FloatStorage([1, 2])
        *statements, last = text.split("; ")
        exec("\n".join(statements), names)
        return eval(last, names)

    agree(program)
