"""Lab 06, a device: allocating, copies and the fallback to the CPU.

The device exists in a child process only (`backend.run_on_device`), unless the notebook has registered it. One child sees several
tensors, because starting a child takes a tenth of a second.
"""

from __future__ import annotations

from functools import partial

from ...engine.check import program
from ...engine.observe import difference
from ..cases import (
    drawing,
    drawn,
    error_name,
    explained,
    field,
    listed,
    numbers,
    rows,
    several,
    tensor,
    tensors,
    with_layout,
)


def _on_device(module, x):
    """A copy of a tensor of the CPU on the device, with the same strides and offset. `empty_strided` makes its memory."""
    elements = x.untyped_storage().nbytes() // x.itemsize
    there = module.empty_strided([elements], [1], dtype=x.dtype)
    module.array_of(there)[...] = x.as_strided([elements], [1], 0).numpy()
    return module.torch.ops.inductor._reinterpret_tensor(there, x.shape, x.stride(), x.storage_offset())


def _seen(module, t):
    """The device, the metadata and the numbers of a tensor; without a module, of a tensor on the CPU."""
    what = [t.device.type, list(t.shape), list(t.stride()), t.storage_offset(), str(t.dtype)]
    return [*what, module.array_of(t).tolist() if module else t.tolist()]


def _entries_apart(mine, theirs, name):
    """The first entries that differ of two lists of this name, or None twice."""
    pairs = zip(field(mine, name) or [], field(theirs, name) or [], strict=False)
    return next((pair for pair in pairs if difference(*pair)), (None, None))


def _about_allocations(case, mine, theirs):
    ours, real = _entries_apart(mine, theirs, "result")
    if ours and ours[:4] == real[:4] and ours[4] != real[4]:
        return "without a dtype, the tensor has torch's default dtype"
    return explained(
        result="memory reaches just as far as the last element, in bytes; a tensor without elements needs none",
        apart="two tensors never share memory",
        refused="only strided layouts, and no pinned memory",
    )(case, mine, theirs)


def _allocated(st):
    kinds = st.sampled_from([None, "float32", "float64", "int64", "uint8", "bool", "float16"])
    x = tensors(st, (0, 4), 3)
    return st.builds(lambda x, kind: [x["tensor"]["sizes"], x["tensor"]["strides"], kind], x, kinds)


@program(
    "on_torch.backend.empty_strided",
    cases=drawn(several=several(_allocated, 1, 6), default=["float32", "float64"]),
    edges=rows(
        "several default",
        ([
            [[2, 3], [3, 1], "float32"], [[2, 3], [1, 2], "float64"], [[2, 3], [4, 1], "uint8"], [[3], [2], "int64"],
            [[3, 2], [0, 1], "float16"], [[2, 2, 3], [6, 3, 1], "bool"], [[2, 2, 3], [12, 6, 2], "int32"],
            [[2], [1], "complex64"],
        ], "float32"),
        ([[[], [], "float32"], [[0], [1], "float64"], [[2, 0, 3], [3, 3, 1], None], [[1], [5], None]], "float64"),
        ([[[2, 3], [3, 1], None], [[4], [1], None]], "float32"),
    ),
    hint=_about_allocations,
    draws=8,
)  # fmt: skip
def allocations(xp, several, default):
    module, torch = xp.backend, xp.backend.torch

    def allocate():
        torch.set_default_dtype(getattr(torch, default))
        try:
            made = [allocated(size, stride, kind) for size, stride, kind in several]
            second = module.empty_strided([3], [1])
            known = [tensor for tensor, _ in made if tensor.numel()]
            shared = [module.np.shares_memory(module.array_of(tensor), module.array_of(second)) for tensor in known]
            shown = {"result": [what for _, what in made], "apart": not any(shared)}
            return shown | {
                "refused": [
                    refused(layout=torch.sparse_csr),
                    refused(layout=torch.sparse_coo),
                    refused(pin_memory=True),
                ]
            }
        finally:
            torch.set_default_dtype(torch.float32)

    def allocated(size, stride, kind):
        dtype = {} if kind is None else {"dtype": getattr(torch, kind)}
        more = {"layout": torch.strided, "device": torch.device("rush"), "pin_memory": False} if len(size) == 2 else {}
        kind = list if len(size) < 3 else tuple
        t = module.empty_strided(kind(size), kind(stride), **dtype, **more)
        memory = t.untyped_storage().memory
        module.array_of(t)[...] = 1  # it must be possible to write there
        what = [t.device.type, list(t.shape), list(t.stride()), t.storage_offset(), str(t.dtype)]
        return t, [*what, memory.nbytes, str(memory.dtype), memory.ndim, type(t).__name__]

    def refused(**options):
        try:
            return str(type(module.empty_strided([2], [1], **options)))
        except Exception as error:
            return error_name(error)

    return module.run_on_device(allocate)


@allocations.oracle
def torch_allocations(torch, several, default):
    def allocated(size, stride, kind):
        t = torch.empty_strided(size, stride, dtype=getattr(torch, kind or default))
        what = ["rush", list(t.shape), list(t.stride()), 0, str(t.dtype)]
        return [*what, t.untyped_storage().nbytes(), "uint8", 1, "Tensor"]

    shown = {"result": [allocated(*request) for request in several], "apart": True}
    return shown | {"refused": ["RuntimeError"] * 3}


_KINDS = ("float32", "float64", "int64", "int32", "uint8", "bool", "float16")


@drawing
def _copy(draw, st):
    to = draw(st.lists(st.integers(1, 3), max_size=3))
    shape = [1 if draw(st.integers(0, 3)) == 0 else size for size in to[draw(st.integers(0, len(to))) :]]
    if shape and draw(st.integers(0, 9)) == 0:
        shape[-1] += 1
    small, kinds = st.integers(0, 2), st.sampled_from(_KINDS)
    return [*(_strided(sizes, draw(small), draw(small), draw(kinds)) for sizes in (shape, to)), None]


def _strided(sizes, layout=0, offset=0, kind="float32"):
    """A tensor in rows (0), with gaps (1), or with the first dimension innermost (2)."""
    strides, step = [], 1
    for size in sizes if layout == 2 else reversed(sizes):
        strides.append(step * (2 if layout == 1 else 1))
        step *= max(size, 1)
    return tensor(sizes, strides if layout == 2 else strides[::-1], offset, kind, 1)


_CASTS = (
    *(("float32", "int64"), ("float64", "uint8"), ("int64", "float16"), ("float32", "bool"), ("bool", "float32")),
    *(("int64", "int64"), ("complex64", "complex64"), ("float32", "complex128")),
    *(("complex64", "float32"), ("complex64", "bool"), ("uint8", "float16"), ("int32", "bool")),
)
_OVERLAPS = [  # the target is a part of the source's own memory: sizes, strides, offset
    [_strided([5]), _strided([5]), [[5], [1], 1]],
    [tensor([5], [1], 1, "float32"), _strided([5]), [[5], [1], 0]],
    [_strided([3, 3]), _strided([3, 3]), [[3, 3], [1, 3], 0]],
    [_strided([3, 3]), _strided([3, 3]), [[3, 3], [3, 1], 0]],
    [_strided([1]), _strided([3]), [[2], [1], 0]],
]


@program(
    "on_torch.backend.copy_from",
    cases=drawn(several=several(_copy, 1, 5)),
    edges=[{"several": several} for several in (
        [[_strided([2, 3], a), _strided([2, 3], b, 1), None] for a in (0, 1, 2) for b in (0, 1, 2)],
        [[_strided(source, 0, 1), _strided(target, 2), None] for source, target in (
            ([3], [2, 3]), ([2, 1], [2, 3]), ([], [2, 3]), ([], []), ([1, 3], [3]), ([2], [3]), ([2, 3], [3]),
            ([3], [0]), ([0], [0]), ([1], [2, 0]),
        )],
        [[_strided([3], kind=source), _strided([3], kind=target), None] for source, target in _CASTS], _OVERLAPS,
    )],
    hint=lambda case, mine, theirs: (
        None
        if str in map(type, _entries_apart(mine, theirs, "result"))
        else explained(
            result="elements are converted and broadcast, whatever the strides; the target receives the source's old elements",
            returned="dst itself is returned",
        )(case, mine, theirs)
    ),
    draws=15,
)  # fmt: skip
def copies(xp, several):
    module = xp.backend

    def copy(start, end, source, target, view):
        src = source if view else _changed(source)
        src = _on_device(module, src) if start == "rush" else src
        dst = _on_device(module, target) if end == "rush" else _copy_of_memory(target)
        if view:
            dst = module.torch.ops.inductor._reinterpret_tensor(src, *view[:2], view[2] - src.storage_offset())
        result = module.copy_from(src, dst, *[True][: len(several) % 2])
        shown = {"result": _seen(module, dst), "returned": result is dst, "memory": _memory(module, dst)}
        return shown | {"source": None if view else _seen(module, src)}

    return module.run_on_device(lambda: _each_way(copy, several))


def _each_way(copy, several):
    """Make several copies, each in every direction between two devices. Return the reports, entry by entry, or names of errors."""
    seen = []
    for source, target, view in several:
        for start, end in (("rush", "rush"), *(() if view else (("cpu", "rush"), ("rush", "cpu")))):
            try:
                seen.append(copy(start, end, source, target, view))
            except Exception as error:
                seen.append(dict.fromkeys(("result", "returned", "memory", "source"), error_name(error)))
    return {name: [report[name] for report in seen] for name in ("result", "returned", "memory", "source")}


def _whole(x):
    """All elements of a tensor's memory on the CPU, flat."""
    return x.as_strided([x.untyped_storage().nbytes() // x.itemsize], [1], 0)


def _copy_of_memory(x):
    """The same tensor in a copy of its memory."""
    return _whole(x).clone().as_strided(x.shape, x.stride(), x.storage_offset())


def _changed(x):
    """The same with other numbers, halves among them if the dtype has any."""
    x = _copy_of_memory(x)
    whole = _whole(x)
    if str(whole.dtype) == "torch.bool":
        whole.logical_not_()
    else:
        more = {
            "torch.int64": 2**53 + 3,
            "torch.complex64": 2.5 - 1j,
        }  # beyond the digits of float64; an imaginary part
        whole.add_(more.get(str(whole.dtype), 2.5 if whole.is_floating_point() else 3))
    if whole.is_floating_point():
        whole[2:3] = 0.5  # which is true, but 0 as an integer
    return x


def _memory(module, x):
    """All elements of a tensor's memory."""
    if x.device.type == "cpu":
        return _whole(x).tolist()
    return x.untyped_storage().memory.view(module.array_of(x).dtype).tolist()


@copies.oracle
def torch_copies(torch, several):
    def copy(start, end, source, target, view):
        src = _copy_of_memory(source) if view else _changed(source)
        dst = src.as_strided(*view) if view else _copy_of_memory(target)
        dst.copy_(src.clone())
        shown = {"result": [end, *_seen(None, dst)[1:]], "returned": True, "memory": _memory(None, dst)}
        return shown | {"source": None if view else [start, *_seen(None, src)[1:]]}

    return _each_way(copy, several)


def _fallen_back(torch, name, place, layout):
    """An operator and its arguments, on a device: `place` puts a tensor there."""
    aten = torch.ops.aten

    def made(shape, start, kind="float64"):
        return place(with_layout(torch, numbers(torch, shape, start, kind), layout))

    x, y, row, one = made([3, 2], 1), made([3, 2], 2), made([2], 3), made([], 4)
    ints, none = place(torch.tensor([2, 0])), place(torch.empty(0, dtype=torch.float64))
    there = place(torch.ones(1)).device
    more = place(torch.zeros(3, 2, dtype=torch.int32)), place(torch.zeros(2, dtype=torch.int64))
    means = [place(numbers(torch, [3, 1], i)) for i in (5, 6)]  # torch assumes that these are contiguous
    half = torch.tensor(3.0, dtype=torch.float16)  # on the CPU
    layer_norm, norm = (x, y, [2], *means, row, row, [True, False, True]), (True, 0.5, 1e-5)
    op, *rest = {
        "abs": lambda: (aten.abs.default, x), "add": lambda: (aten.add.Tensor, x, y, {"alpha": 2}),
        "add to itself": lambda: (aten.add.Tensor, x, x),
        "with a number of the CPU's": lambda: (aten.mul.Tensor, x, half),
        "into a number of the CPU's": lambda: (aten.add_.Tensor, half, one),
        "copy_ of sizes": lambda: (aten.copy_.default, x, row), "sort": lambda: (aten.sort.default, x),
        "cat": lambda: (aten.cat.default, [x, y, x], 1), "cat of a tuple": lambda: (aten.cat.default, (x, y), 1),
        "cat by name": lambda: (aten.cat.default, {"tensors": [y, x], "dim": 1}), "index": lambda: (aten.index.Tensor, x, [ints]),
        "clamp": lambda: (aten.clamp.Tensor, x, None, y), "number": lambda: (aten._local_scalar_dense.default, one),
        "equal": lambda: (aten.equal.default, x, y),
        "layer norm backward": lambda: (aten.native_layer_norm_backward.default, *layer_norm),
        "arange": lambda: (aten.arange.default, 5, {"device": there}),
        "zeros": lambda: (aten.zeros.default, [2], {"device": torch.device(there.type)}),  # without an index
        "_resize_output_": lambda: (aten._resize_output_.default, place(numbers(torch, [3, 2], 1)), [2], there),
        "full": lambda: (aten.full.default, [2], 3.0, {"device": there, "dtype": torch.float32}),
        "exp_": lambda: (aten.exp_.default, x), "add_": lambda: (aten.add_.Tensor, x, y),
        "add_ itself": lambda: (aten.add_.Tensor, x, x),
        "add_ a row": lambda: (aten.add_.Tensor, x, row, {"alpha": 3}),
        "index_put_": lambda: (aten.index_put_.default, x, [ints], row),
        "exp out": lambda: (aten.exp.out, x, {"out": y}), "exp out itself": lambda: (aten.exp.out, x, {"out": x}),
        "exp out of size 0": lambda: (aten.exp.out, x, {"out": none}),
        "min out": lambda: (aten.min.dim_min, x, 0, {"min": row, "min_indices": more[1]}),
        "frexp out": lambda: (aten.frexp.Tensor_out, x, {"mantissa": y, "exponent": more[0]}),
        "resize_": lambda: (aten.resize_.default, place(numbers(torch, [3, 2], 1)), [2]),  # without gaps, which it would show
        "resize_ to as many": lambda: (aten.resize_.default, place(numbers(torch, [3, 2], 1)), [2, 3]),
        "running averages": lambda: (aten._native_batch_norm_legit.default, x, None, None, row, made([2], 1), *norm),
        "foreach": lambda: (aten._foreach_mul.Scalar, [x, y], 2.0),
        "foreach into": lambda: (aten._foreach_add_.Scalar, [x, y], 1.0),
        "foreach into one twice": lambda: (aten._foreach_add_.Scalar, [x, y, x], 1.0),
        "foreach into the first": lambda: (aten._foreach_add_.List, [x, row], [y, row]),
        "unfold": lambda: (aten.unfold.default, x, 0, 2, 1),
        "t": lambda: (aten.t.default, x), "split": lambda: (aten.split.Tensor, x, 1),
        "mm of wrong sizes": lambda: (aten.mm.default, x, y), "no such dimension": lambda: (aten.cumsum.default, x, 5),
    }[name]()  # fmt: skip
    return (
        op,
        [argument for argument in rest if not isinstance(argument, dict)],
        next((e for e in rest if isinstance(e, dict)), {}),
    )


_FALLBACKS = """abs; add; add to itself; with a number of the CPU's; into a number of the CPU's; copy_ of sizes; sort; cat; cat of a
tuple; cat by name; index; clamp; number; equal; layer norm backward; arange; zeros; full; exp_; add_; add_ itself; add_ a
row; index_put_; exp out; exp out itself; exp out of size 0; min out; frexp out; resize_; resize_ to as many; _resize_output_;
running averages; foreach; foreach into; foreach into one twice; foreach into the first; unfold; t; split; mm of wrong sizes;
no such dimension""".replace("\n", " ").split("; ")


def _called(module, torch, names, layout, call, place):
    """Call some operators. Return their results, the contents of their arguments after the call, and if an argument is returned."""
    seen = [_called_once(module, *_fallen_back(torch, name, place, layout), call) for name in names]
    return {name: [report[name] for report in seen] for name in ("result", "arguments", "memory", "called with")}


class RecordedOperator:
    """An operator that records the devices of its arguments, and which of the caller's own tensors are among them."""

    def __init__(self, op, known):
        self._op, self._known, self.seen = op, known, []

    def __getattr__(self, name):
        return getattr(self._op, name)

    def __call__(self, *args, **kwargs):
        flat = _flattened(args, kwargs)
        devices = [getattr(argument, "device", argument) for argument in flat]
        self.seen = [str(device) for device in devices if type(device).__name__ in ("device", "str")]
        self.seen += [any(known is one for one in flat) for known in self._known]
        return self._op(*args, **kwargs)


def _flattened(args, kwargs):
    return [value for arg in [*args, *kwargs.values()] for value in (arg if isinstance(arg, list | tuple) else [arg])]


def _called_once(module, op, args, kwargs, call):
    known = [tensor for tensor in _flattened(args, kwargs) if hasattr(tensor, "untyped_storage")]
    before = [(tensor.untyped_storage()._cdata, tensor.shape) for tensor in known]
    # those of float16 stay on the CPU
    recorded = RecordedOperator(op, [tensor for tensor in known if str(tensor.dtype) == "torch.float16"])

    def described(value):
        if isinstance(value, list | tuple):
            return [described(item) for item in value]
        if not hasattr(value, "untyped_storage"):
            return value
        numbers = [number for number, tensor in enumerate(known) if tensor is value]
        seen = _seen(module, value)
        return [f"argument {numbers[0]}"] if numbers else [*seen[:2], *seen[4:]]

    try:
        result = described(call(recorded, *args, **kwargs))
    except Exception as error:
        result = error_name(error)
    shown = {"result": result, "arguments": [[list(tensor.shape), _seen(module, tensor)[-1]] for tensor in known]}
    same = [
        tensor.shape != shape or tensor.untyped_storage()._cdata == was for tensor, (was, shape) in zip(known, before)
    ]
    return shown | {"memory": same, "called with": recorded.seen}


@program(
    "on_torch.backend.cpu_fallback",
    cases=drawn(names=several([*_FALLBACKS], 1, 8), layout=["", "gaps", "backwards"]),
    edges=rows(
        "names layout",
        *[([name], "") for name in ("abs", "add_", "exp out")],
        *[([*_FALLBACKS], layout) for layout in ("", "gaps", "backwards")],  # all that can be drawn
    ),
    hint=lambda case, mine, theirs: (
        None
        if str in map(type, _entries_apart(mine, theirs, "result"))
        else explained(
            result="the operator's results come to the device; an argument that it writes into is itself returned",
            arguments="an argument that the schema says is written to holds afterwards what its copy holds",
            memory="an argument keeps its memory, unless the operator has given it other sizes",
            called_with="the operator is called with tensors on the CPU; tensors that are there already are passed as they are",
        )(case, mine, theirs)
    ),
    draws=6,
)
def fallbacks(xp, names, layout):
    module, place = xp.backend, partial(_on_device, xp.backend)
    return module.run_on_device(lambda: _called(module, module.torch, names, layout, module.cpu_fallback, place))


@fallbacks.oracle
def torch_fallbacks(torch, names, layout):
    def call(op, *args, **kwargs):
        if any(returned.alias_info is not None and not returned.alias_info.is_write for returned in op._schema.returns):
            raise NotImplementedError("a view")
        return op(*map(_copied_again, args), **kwargs)

    shown = _called(None, torch, names, layout, call, lambda x: x)
    return {key: value if key == "called with" else _renamed(value) for key, value in shown.items()}


def _copied_again(arg):
    """A list in which each tensor but the first of several that are one is a copy, as the fallback copies each."""
    if not (isinstance(arg, list) and hasattr(arg[0], "clone")):
        return arg
    return [x.clone() if any(x is earlier for earlier in arg[:i]) else x for i, x in enumerate(arg)]


def _renamed(told):
    """The same with "rush" in place of "cpu"."""
    if isinstance(told, list):
        return [_renamed(item) for item in told]
    return "rush" if told == "cpu" else told


# All pieces together -------------------------------------------------------------------------------------------------

_STEPS = {  # of two tensors of one size: a result, or a write
    "t": lambda torch, x, y: x.t(), "row": lambda torch, x, y: x[-1:], "add": lambda torch, x, y: x + y,
    "double": lambda torch, x, y: x * 2, "neg_": lambda torch, x, y: x.neg_(), "fill": lambda torch, x, y: x[0].fill_(7),
    "copy": lambda torch, x, y: x.copy_(y.clone()),
    "shift": lambda torch, x, y: x[:, 1:].copy_(x[:, :-1].clone()),
    "sort": lambda torch, x, y: x.sort()[0], "cat": lambda torch, x, y: torch.cat([x, y])[: len(x)],
    "int32": lambda torch, x, y: x.to(torch.int32), "mm": lambda torch, x, y: x.float() @ y.float().t(),
    "clone": lambda torch, x, y: x.clone(), "cumsum": lambda torch, x, y: x.cumsum(1).to(x.dtype),
}  # fmt: skip


def _ran(torch, device, steps):
    """The values of a program of some steps on a device."""
    values = [numbers(torch, [3, 3], i, "float32").to(device) for i in range(2)]
    for name, *indices in steps:
        x, y = (values[index % len(values)] for index in indices)
        made = _STEPS[name](torch, x, y if y.shape == x.shape else x)
        values += [made] if made.dim() == 2 else []
    return [[tensor.stride(), tensor.cpu().clone().contiguous()] for tensor in values]


@program(
    "together.device",
    cases=drawn(steps=several(listed([*_STEPS], (0, 8), (0, 8)), 1, 6)),
    edges=[{"steps": [[name, 0, 1], ["t", 0, 0], [name, -1, 1]]} for name in _STEPS],
    draws=20,
)
def on_device(xp, steps):
    module = xp.backend
    return module.run_on_device(lambda: _ran(module.torch, "rush", steps))


@on_device.oracle
def torch_on_device(torch, steps):
    return _ran(torch, "cpu", steps)
