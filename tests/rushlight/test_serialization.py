"""Each framework loads the other's files. A file's pickle calls nothing but what builds tensors and containers."""

import io
import os
import pickle
import zipfile
from collections import Counter, OrderedDict

import numpy as np
import pytest
import torch
from both import FRAMEWORKS, observe

import rushlight as rl

NAMES = {rl: "rushlight", torch: "torch"}
BOTH_WAYS = pytest.mark.parametrize("writer, reader", [(rl, rl), (rl, torch), (torch, rl)], ids=lambda xp: NAMES[xp])


def through(writer, reader, value, **options):
    file = io.BytesIO()
    writer.save(value, file)
    file.seek(0)
    return reader.load(file, **options)


def tensors(xp):
    base = xp.arange(12, dtype=xp.float32).reshape(3, 4)
    return {
        "base": base, "column": base[:, 1], "t": base.t(), "expanded": xp.ones(1).expand(3), "scalar": xp.tensor(2.5),
        "none": xp.zeros(0, 3), "leaf": xp.ones(2, requires_grad=True), "meta": xp.empty(2, 3, device="meta").shape,
        "parameter": xp.nn.Parameter(xp.ones(2, 1)), "frozen": xp.nn.Parameter(xp.ones(2), requires_grad=False),
        "gap": xp.zeros(9, dtype=xp.int32).as_strided((2, 2), (4, 2), 1),
        **{str(kind): xp.tensor([0, 1, 1]).to(kind) for kind in (getattr(xp, each.name) for each in rl.dtypes.ALL)},
    }  # fmt: skip


def plain(xp):
    return [
        (1, -1, 2**70, 2.5, True, None, "text", "é\n", b"bytes\xff", bytearray(b"more"), 1j),
        {"a": [1, (2, ())], 3: {4}, (5,): {}}, OrderedDict(b=1, a=2), Counter("aab"), [xp.Size([2, 3]), xp.float32, xp.bool],
        xp.device("cpu"),
    ]  # fmt: skip


def seen(value):
    if isinstance(value, (rl.Tensor, torch.Tensor)):
        return [type(value).__name__, observe(value), value.requires_grad, str(value.device)]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__.replace("Size", "tuple"), *map(seen, value)]
    if isinstance(value, dict):
        return [type(value).__name__, [[seen(key), seen(each)] for key, each in value.items()]]
    return repr(value).replace("rushlight.", "torch.")


@BOTH_WAYS
@pytest.mark.parametrize("values", [tensors, plain])
def test_what_one_saves_the_other_loads(writer, reader, values):
    found, wanted = through(writer, reader, values(writer)), values(reader)
    if values is plain:
        assert type(found[4][0]) is reader.Size and found[4][1] is reader.float32
    assert seen(found) == seen(wanted)


def test_tensors_without_memory():
    for reader in FRAMEWORKS:
        found = through(rl, reader, rl.empty_strided((2, 3), (1, 2), device="meta", dtype=rl.float16))
        assert (found.device.type, found.stride(), found.dtype) == ("meta", (1, 2), reader.float16)


@BOTH_WAYS
def test_memory_that_was_shared_is_shared(writer, reader):
    x = writer.zeros(4)
    found = through(writer, reader, [x, x[1:], x.data, writer.nn.Parameter(x), writer.zeros(4)])
    found[0].fill_(1)
    assert [each.tolist()[0] for each in found] == [1, 1, 1, 1, 0]


@BOTH_WAYS
def test_a_model_and_its_optimizer_go_on_where_they_were(writer, reader, tmp_path):
    def program(xp):
        model = xp.nn.Sequential(xp.nn.BatchNorm1d(3), xp.nn.Linear(3, 2))
        with xp.no_grad():
            for number, each in enumerate(model.parameters()):
                each.copy_(xp.arange(each.numel(), dtype=xp.float32).reshape(each.shape) / 7 + number)
        return model, xp.optim.Adam(model.parameters(), lr=0.1)

    def step(xp, model, optimizer):
        optimizer.zero_grad()
        (model(xp.arange(12.0).reshape(4, 3) ** 2) * xp.arange(8.0).reshape(4, 2)).square().sum().backward()
        optimizer.step()
        return [each.detach().numpy().round(4).tolist() for each in [*model.parameters(), *model.buffers()]]

    first = program(writer)
    step(writer, *first)
    writer.save({"model": first[0].state_dict(), "optimizer": first[1].state_dict()}, tmp_path / "step 1.pt")
    loaded = reader.load(tmp_path / "step 1.pt")
    assert dict(loaded["model"]._metadata) == dict(first[0].state_dict()._metadata)
    second = program(reader)
    second[0].load_state_dict(loaded["model"])
    second[1].load_state_dict(loaded["optimizer"])
    assert step(reader, *second) == step(writer, *first)


def archive_of(data, **entries):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in {"data.pkl": data, "byteorder": b"little", "version": b"3\n", **entries}.items():
            if content is not None:
                archive.writestr(f"archive/{name}", content)
    file.seek(0)
    return file


class Calls:
    def __init__(self, *call):
        self.call = call

    def __reduce__(self):
        return self.call


def changed(old, new):
    """A tensor of 4 floats in a file in which a part of the pickle is another."""
    file = io.BytesIO()
    rl.save(rl.arange(4.0), file)
    with zipfile.ZipFile(file) as archive:
        data = archive.read("archive/data.pkl")
    assert data.count(old) == 1
    return archive_of(data.replace(old, new), **{"data/0": b"\0" * 16})


NEW = b"K\x04\x85q"  # the sizes, (4,)
MUST_NOT_RUN = {
    "a system call": pickle.dumps(Calls(os.system, ("true",)), 2),
    "eval": pickle.dumps(Calls(eval, ("1",)), 2),
    "of another protocol": pickle.dumps(Calls(eval, ("1",)), 4),
    "an attribute of an allowed class": b"\x80\x02ctorch\nSize\nN}X\x05\x00\x00\x00numelcollections\nCounter\ns\x86b.",
    "state of a class": b"\x80\x02ctorch\nSize\n}X\x05\x00\x00\x00numelK\x01sb.",
    "state of a function": b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\nN}X\x08\x00\x00\x00__code__K\x01s\x86b.",
    "a call of what is built": b"\x80\x02ccollections\nOrderedDict\n)R)R.",
    "an instance": b"\x80\x02(icollections\nCounter\n.",
    "nothing": b"",
    "half a pickle": pickle.dumps([1, 2, 3], 2)[:-3],
    "no pickle": b"hello",
}


@pytest.mark.parametrize("name", MUST_NOT_RUN)
def test_a_file_runs_nothing(name):
    with pytest.raises(pickle.UnpicklingError):
        rl.load(archive_of(MUST_NOT_RUN[name]))


@pytest.mark.parametrize("size", [b"K\x05", b"J\xff\xff\xff\xff", b"J\xff\xff\xff\x7f"])
def test_a_tensor_stays_within_its_storage(size):
    with pytest.raises(pickle.UnpicklingError, match="not within its storage of 16 bytes"):
        rl.load(changed(NEW, size + b"\x85q"))


def test_what_is_no_such_file(tmp_path):
    for content in (b"", b"hello", pickle.dumps(1)):
        with pytest.raises(pickle.UnpicklingError, match="not a file of torch.save"):
            rl.load(io.BytesIO(content))
    with pytest.raises(FileNotFoundError):
        rl.load(tmp_path / "nothing.pt")
    with pytest.raises(pickle.UnpicklingError, match="no entry data.pkl"):
        rl.load(archive_of(None))
    compressed = io.BytesIO()
    with zipfile.ZipFile(compressed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02N.")
    with pytest.raises(pickle.UnpicklingError, match="compressed"):
        rl.load(compressed)


def test_what_is_left_out_says_so(tmp_path):
    torch.save(torch.nn.ReLU(), tmp_path / "x")
    with pytest.raises(pickle.UnpicklingError, match="Unsupported global: GLOBAL torch.nn.modules.activation.ReLU"):
        rl.load(tmp_path / "x")
    with pytest.raises(RuntimeError, match="loads to the CPU"):
        rl.load(tmp_path / "x", map_location="meta")
    with pytest.raises(RuntimeError, match="map_location='cpu'"):
        rl.load(changed(b"X\x03\x00\x00\x00cpu", b"X\x04\x00\x00\x00cuda"))
    assert rl.load(changed(b"X\x03\x00\x00\x00cpu", b"X\x04\x00\x00\x00cuda"), map_location="cpu").tolist() == [0] * 4
    with pytest.raises(ValueError, match="order of bytes"):
        rl.load(archive_of(b"N.", byteorder=b"big"))


MODULES = {
    "layers": (lambda nn: nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten()), (2, 3, 4, 4)),
    "recurrent": (lambda nn: nn.LSTM(3, 4, bidirectional=True), (5, 2, 3)),
    "attention": (lambda nn: nn.TransformerEncoderLayer(4, 2, 8, activation=nn.functional.gelu), (5, 2, 4)),
}  # fmt: skip


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("writer,reader", [(torch, rl), (rl, torch), (rl, rl)])
def test_a_whole_module_is_read_by_the_other(writer, reader, name, tmp_path):
    make, sizes = MODULES[name]
    module = make(writer.nn).eval()
    writer.save(module, tmp_path / "x")
    with pytest.raises(pickle.UnpicklingError, match="Weights only load failed"):
        reader.load(tmp_path / "x")
    loaded = reader.load(tmp_path / "x", weights_only=False)
    assert type(loaded) is type(make(reader.nn)) and not loaded.training
    results = []
    for xp, one in ((writer, module), (reader, loaded)):
        found = one(xp.arange(float(np.prod(sizes))).reshape(sizes).cos())
        results.append((found[0] if isinstance(found, tuple) else found).detach().numpy())
    assert np.allclose(*results, 1e-4, 1e-5)


@pytest.mark.parametrize("writer", FRAMEWORKS)
def test_a_program_allows_classes(writer, tmp_path):
    writer.save(writer.nn.Linear(2, 3), tmp_path / "x")
    with rl.serialization.safe_globals([rl.nn.Linear, set]):
        assert isinstance(rl.load(tmp_path / "x"), rl.nn.Linear)
        assert rl.serialization.get_safe_globals() == [rl.nn.Linear, set]
    with pytest.raises(pickle.UnpicklingError):
        rl.load(tmp_path / "x")
    with rl.serialization.safe_globals([rl.nn.Conv2d]), pytest.raises(pickle.UnpicklingError):
        rl.load(tmp_path / "x")


def test_the_programs_own_classes_are_imported(tmp_path):
    rl.save({"call": Calls(eval, ("1 + 1",)), "tensor": rl.ones(2)}, tmp_path / "x")
    loaded = rl.load(tmp_path / "x", weights_only=False)
    assert loaded["call"] == 2 and loaded["tensor"].tolist() == [1, 1]


def test_an_older_file_outlives_an_error(tmp_path):
    path = tmp_path / "model.pt"
    rl.save(1, path)
    for xp in FRAMEWORKS:
        x = np.zeros(4)
        with pytest.raises(RuntimeError, match="view the same data as different types"):
            xp.save([xp.from_numpy(x), xp.from_numpy(x.view(np.int64))], tmp_path / xp.__name__)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        rl.save(lambda: 1, path)
    assert rl.load(path) == 1
