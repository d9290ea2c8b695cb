"""Correct answers to lab 13c in other styles than the reference's: every check must accept them.

A function's name is its exercise's, two underscores, and the style.
"""

# ruff: noqa: F821 (a mend sees the names of the module in which it is planted)

import contextlib
import io
import logging
import re
from unittest import mock

import torch
from torch._dynamo.testing import CompileCounter

# A score that belongs to another table


def narrow_1__the_first_turn_of_a_loop(xp):
    def first(x, table):
        for value in table.values():
            return x + value

    compiled = xp.compile(first, backend="eager")
    return [compiled(xp.zeros(1), table) for table in ({"a": 1, "b": 0}, {"b": 0, "a": 1})]


def narrow_1__the_first_key(xp):
    f = xp.compile(lambda x, d: x * (1 if list(d) == [1, 2] else 2), backend="aot_eager")
    return f(xp.ones(1), {1: 1, 2: 2}), f(xp.ones(1), {2: 2, 1: 1})


def name_1__below_rl():
    return ["rl.dynamo.guards.guards_for"]


def name_1__whole_path():
    return ["rushlight.dynamo.guards.guards_for", "rl.dynamo.cache.lookup"]


def mend_1__pairs_of_keys():
    """The keys and their classes are one list."""

    def guards_for(value, source, scope):
        same_type = f"type({source}) is {bind(scope, type(value))}"
        if isinstance(value, (type, ModuleType, BuiltinFunctionType, enum.Enum, rl.dtype)):
            return [f"{source} is {bind(scope, value)}"]
        if isinstance(value, FunctionType):
            return [f"{source}.__code__ is {bind(scope, value.__code__)}"]
        if isinstance(value, Tensor):
            facts = [f"{source}._key_set == {value._key_set}", f"{source}.dtype is {bind(scope, value.dtype)}"]
            facts += [f"bool({source}.requires_grad) is {bool(value.requires_grad)}"]
            facts += [f"tuple({source}.{name}) == {tuple(getattr(value, name))}" for name in ("_sizes", "_strides")]
            return [same_type, *facts]
        if isinstance(value, MethodType):
            return [same_type, *guards_for(value.__func__, f"{source}.__func__", scope)]
        if type(value) in CONSTANTS and type(value) not in WRITTEN:
            return [f"{source} is {bind(scope, value, 'constant')}"]
        if isinstance(value, slice):
            parts = [(type(part), part) for part in (value.start, value.stop, value.step)]
            now = f"[(type(part), part) for part in ({source}.start, {source}.stop, {source}.step)]"
            return [same_type, f"{now} == {bind(scope, parts, 'parts')}"]
        if type(value) in WRITTEN or isinstance(value, rl.device):
            return [same_type, f"{source} != {source}" if value != value else f"{source} == {bind(scope, value, 'v')}"]
        if isinstance(value, range):
            parts = (value.start, value.stop, value.step)
            return [same_type, f"({source}.start, {source}.stop, {source}.step) == {parts}"]
        if isinstance(value, (set, frozenset)):
            return [same_type, f"{source} == {bind(scope, value.copy(), 'elements')}"]
        if isinstance(value, dict):
            if all(type(key) in CONSTANTS for key in value):
                pairs = [(type(key), key) for key in value]
                return [same_type, f"[(type(key), key) for key in {source}] == {bind(scope, pairs, 'pairs')}"]
            return [same_type, f"[id(key) for key in {source}] == {[id(key) for key in value]}"]
        if isinstance(value, (list, tuple)):
            return [same_type, f"len({source}) == {len(value)}"]
        return [same_type]

    return "rl.dynamo.guards.guards_for", guards_for


def mend_1__a_table_of_kinds():
    """The conditions that only look at the value are in a table."""
    import enum
    from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

    import rushlight as rl
    from rushlight.aten.strided import Tensor
    from rushlight.dynamo.guards import CONSTANTS, WRITTEN, bind

    def of_tensor(value, source, scope):
        yield f"{source}._key_set == {value._key_set}"
        yield f"{source}.dtype is {bind(scope, value.dtype)}"
        yield f"{source}.requires_grad == {value.requires_grad}"
        yield f"{source}._sizes == {tuple(value._sizes)}"
        yield f"{source}._strides == {tuple(value._strides)}"

    def of_dict(value, source, scope):
        if any(type(key) not in CONSTANTS for key in value):
            yield f"[*map(id, {source})] == {[*map(id, value)]}"
        else:
            yield f"[*{source}] == {bind(scope, [*value], 'keys')}"
            yield f"[*map(type, {source})] == {bind(scope, [*map(type, value)], 'types')}"

    def of_slice(value, source, scope):
        for name in "start", "stop", "step":
            yield from guards_for(getattr(value, name), f"{source}.{name}", scope)

    kinds = {
        Tensor: of_tensor,
        slice: of_slice,
        MethodType: lambda value, source, scope: (
            [f"{source}.__func__.__code__ is {bind(scope, value.__func__.__code__)}"]
            if isinstance(value.__func__, FunctionType)
            else [f"{source}.__func__ is {bind(scope, value.__func__)}"]
        ),
        rl.device: lambda value, source, scope: [f"{source} == {bind(scope, value)}"],
        range: lambda value, source, scope: [f"{source}.__reduce__() == {bind(scope, value.__reduce__(), 'parts')}"],
        (set, frozenset): lambda value, source, scope: [f"{source} == {bind(scope, value.copy(), 'elements')}"],
        dict: of_dict,
        (list, tuple): lambda value, source, scope: [f"len({source}) == {len(value)}"],
    }

    def guards_for(value, source, scope):
        if isinstance(value, (type, ModuleType, BuiltinFunctionType, enum.Enum, rl.dtype)):
            return [f"{source} is {bind(scope, value)}"]
        if isinstance(value, FunctionType):
            return [f"{source}.__code__ is {bind(scope, value.__code__)}"]
        guards = [f"type({source}) is {bind(scope, type(value))}"]
        if type(value) in WRITTEN:
            return [
                *guards,
                f"{source} == {bind(scope, value, 'constant')}" if value == value else f"{source} != {source}",
            ]
        if type(value) in CONSTANTS:
            return [f"{source} is {bind(scope, value, 'constant')}"]
        for kind, conditions in kinds.items():
            if isinstance(value, kind):
                return [*guards, *conditions(value, source, scope)]
        return guards

    return "dynamo.guards.guards_for", guards_for


# A picture whose channels are mixed


def narrow_2__numbers(xp):
    x = xp.arange(27.0).view(3, 3, 3)
    f = xp.compile(lambda x: x.permute(2, 0, 1).mul_(2.0) + 0, backend="aot_eager")
    return f(x).sum(0), x


def narrow_2__negative_dimensions(xp):
    def write(x):
        x.permute(-1, -3, -2)[1].fill_(7)

    x = xp.zeros(2, 2, 2)
    xp.compile(write, backend="aot_eager")(x)
    return x.tolist()


def narrow_2__an_error(xp):
    """With different sizes, the patient finds out itself."""
    return xp.compile(lambda x: x.permute(1, 2, 0).zero_(), backend="aot_eager")(xp.ones(1, 2, 3)).sum()


def name_2__whole_path():
    return ["rushlight.aot.functional.view_inverse"]


def name_2__with_a_second():
    return ("rl.aot.functional.view_inverse", "rl.aot.functional.apply_update")


def mend_2__sorted_dimensions():
    def view_inverse(base, view, new):
        name, given = view.operator.schema.name, arguments_of(view)
        dim, place, ndim = given.get("dim"), view.place, base.dim()
        if name in ("alias", "detach"):
            return new
        if name in ("view", "_reshape_alias"):
            return new.view(base.shape)
        if name == "t":
            return new.t()
        if name == "transpose":
            return new.transpose(given["dim0"], given["dim1"])
        if name == "permute":
            dims = [d % ndim for d in given["dims"]]
            return new.permute(sorted(range(ndim), key=dims.__getitem__))
        if name == "squeeze":
            chosen = [*range(ndim)] if dim is None else [dim] if isinstance(dim, int) else dim
            for d in sorted(wrap_dim(d, ndim) for d in chosen):
                if ndim and base.shape[d] == 1:
                    new = new.unsqueeze(d)
            return new
        if name == "unsqueeze":
            return new.squeeze(dim)
        if name == "expand":
            return base + sum_to(new - base, base.shape)
        if name == "unbind":
            return functions.select_scatter(base, new, dim, place)
        if name.startswith("split"):
            lengths = given.get("split_sizes") or [given["split_size"]] * (place + 1)
            start = sum(lengths[:place])
            return aten.slice_scatter.default(base, new, dim, start, min(start + lengths[place], base.shape[dim]), 1)
        return getattr(aten, f"{name}_scatter").default(base, new, *view.args)

    return "aot.functional.view_inverse", view_inverse


def mend_2__a_table():
    from collections.abc import Sequence

    from rushlight.aot.functional import arguments_of, aten, functions, sum_to, wrap_dim

    def permuted(base, new, dims, **_):
        places = {wrap_dim(d, base.dim()): i for i, d in enumerate(dims)}
        return new.permute([places[d] for d in range(base.dim())])

    def squeezed(base, new, dim=None, **_):
        dims = range(base.dim()) if dim is None else dim if isinstance(dim, Sequence) else (dim,)
        for d in sorted({wrap_dim(d, base.dim()) for d in dims}):
            if base.dim() and base.shape[d] == 1:
                new = new.unsqueeze(d)
        return new

    def split(base, new, place, dim, split_size=None, split_sizes=None):
        sizes = split_sizes if split_sizes else [split_size] * (place + 1)
        start = sum(sizes[:place])
        return aten.slice_scatter.default(base, new, dim, start, min(start + sizes[place], base.shape[dim]), 1)

    table = {
        "alias": lambda base, new, **_: new,
        "view": lambda base, new, **_: new.view(base.shape),
        "t": lambda base, new, **_: new.t(),
        "transpose": lambda base, new, dim0, dim1, **_: new.transpose(dim0, dim1),
        "permute": permuted,
        "squeeze": squeezed,
        "unsqueeze": lambda base, new, dim, **_: new.squeeze(dim),
        "expand": lambda base, new, **_: base + sum_to(new - base, base.shape),
        "unbind": lambda base, new, dim, place, **_: functions.select_scatter(base, new, dim, place),
        "split": split,
    }
    same = {"detach": "alias", "_reshape_alias": "view", "split_with_sizes": "split"}

    def view_inverse(base, view, new):
        name = view.operator.schema.name
        inverse = table.get(same.get(name, name))
        if inverse is None:
            return getattr(aten, f"{name}_scatter").default(base, new, *view.args)
        return inverse(base, new, place=view.place, **arguments_of(view))

    return "aot.functional.view_inverse", view_inverse


# A function in many pieces


def find_breaks__from_the_screen(function, *args):
    """What the log writes for a user: a handler of the log writes to standard error."""
    logs, written = torch._logging._internal, io.StringIO()
    state, silent = logs._get_log_state(), logging.root.manager.disable
    loggers = [logging.getLogger(name) for name in logs.log_registry.get_log_qnames()]
    loggers += [logging.getLogger(name) for name in logs.log_registry.get_artifact_log_qnames()]
    before = [(log, log.level, log.propagate) for log in loggers]
    logs._set_log_state(logs.LogState())
    torch._dynamo.reset()
    try:
        logging.disable(logging.NOTSET)
        with contextlib.redirect_stderr(written):
            torch._logging.set_logs(graph_breaks=True)
            torch.compile(function, backend=CompileCounter())(*args)
    finally:
        logs._set_log_state(state)
        logs._init_logs()
        logging.disable(silent)
        for log, level, propagate in before:
            log.setLevel(level)
            log.propagate = propagate
    lines = [int(line) for line in re.findall(r"raph break.* in user code at .+:(\d+)\n", written.getvalue())]
    return sorted({line - function.__code__.co_firstlineno for line in lines})


def find_breaks__where_dynamo_logs(function, *args):
    """A function of Dynamo logs each break. For this call, another one is in its place."""
    translator, stacks = torch._dynamo.symbolic_convert.InstructionTranslatorBase, []

    def remember(self, code_options, reason, exc):
        stacks.append(exc.real_stack)

    torch._dynamo.reset()
    with mock.patch.object(translator, "log_graph_break", remember):
        torch.compile(function, backend=lambda module, inputs: module)(*args)
    return sorted({stack[-1].lineno - function.__code__.co_firstlineno for stack in stacks})


def find_breaks__frames_of_the_text(function, *args):
    """The last frame of each record, or the words after "at" if torch leaves the frames out."""
    log, found, handler = logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks"), {}, logging.Handler()

    def emit(record):
        frames = re.findall(r'^  File ".*", line (\d+), in ', record.getMessage(), re.MULTILINE)
        found[(frames or re.findall(r"user code at \S+:(\d+)", record.getMessage()))[-1]] = True

    handler.emit = emit
    with (
        mock.patch.multiple(log, handlers=[handler], propagate=False, level=logging.DEBUG),
        mock.patch.object(logging.root.manager, "_disable", 0),
    ):
        log._cache.clear()
        torch.compiler.reset()
        torch.compile(function, backend="aot_eager")(*args)
    log._cache.clear()
    return [line - function.__code__.co_firstlineno for line in sorted(map(int, found))]


def find_breaks__when_a_record_is_made(function, *args):
    found, log = set(), logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks")
    before = log.level, log.propagate, logging.root.manager.disable
    make = logging.getLogRecordFactory()

    def factory(*args, **kwargs):
        record = make(*args, **kwargs)
        if record.name == log.name:
            found.add(int(re.search(r"in user code at .*:(\d+)", record.getMessage())[1]))
        return record

    logging.setLogRecordFactory(factory)
    logging.disable(logging.NOTSET)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    try:
        torch.compiler.reset()
        torch.compile(function, backend="eager")(*args)
    finally:
        logging.setLogRecordFactory(make)
        log.level, log.propagate = before[:2]
        log.manager._clear_cache()
        logging.disable(before[2])
    return [line - function.__code__.co_firstlineno for line in sorted(found)]


def clean__threshold(signal):
    signal = signal / torch.nn.functional.threshold(signal.abs().max(), 1.0, 1.0)
    strong = signal.abs() > 0.25
    return signal - torch.where(strong, signal, 0).double().sum() / strong.sum().clamp(min=1)


def clean__where(signal):
    largest = torch.amax(torch.abs(signal))
    signal = signal / torch.where(largest > 1, largest, torch.ones_like(largest))
    strong = signal.abs() > 0.25
    count = strong.sum()
    total = torch.where(strong, signal, 0).double().sum()
    return signal - torch.where(count > 0, total / torch.where(count > 0, count, 1), 0.0).to(signal.dtype)


def clean__a_condition(signal):
    """A branch that is an operator runs in eager mode, too."""
    peak = signal.abs().max()
    signal = torch.cond(peak > 1, lambda x, peak: x / peak, lambda x, peak: x.clone(), (signal, peak))
    strong = signal.abs() > 0.25
    return signal - torch.where(strong, signal, 0).double().sum() / strong.sum().clamp(min=1)


def clean__in_float64(signal):
    """Only the result is rounded to the dtype of the signal."""
    exact = signal.double()
    exact = exact / torch.where(exact.abs().max() > 1, exact.abs().max(), 1)
    strong = exact.abs() > 0.25
    return (exact - (exact * strong).sum() / strong.sum().clamp(min=1)).to(signal.dtype)


def clean__weights(signal):
    """The mean is a product with weights, whose sum is 1 or 0."""
    largest, smallest = signal.amax(), signal.amin()
    peak = torch.where(largest > -smallest, largest, -smallest)
    signal = signal / torch.where(peak > 1, peak, 1)
    weights = (signal.abs() > 0.25).to(torch.promote_types(signal.dtype, torch.float32))
    weights = weights / torch.where(weights.sum() > 0, weights.sum(), 1)
    return signal - torch.dot(weights, signal.to(weights.dtype)).to(signal.dtype)


def clean__masked(signal):
    """The mean of all elements, divided by the share of the strong ones."""
    peak = signal.abs().amax()
    signal = signal / peak.masked_fill(peak <= 1, 1)
    weak = signal.abs() <= 0.25
    share = 1 - weak.double().mean()
    mean = signal.double().masked_fill(weak, 0.0).mean() / share.masked_fill(weak.all(), 1.0)
    return signal.sub(mean)


# An operator that is not what it says


def untrue__one_by_one(op, *args):
    from torch._subclasses.fake_tensor import FakeTensorMode

    mode = FakeTensorMode()
    fakes = [mode.from_tensor(x.clone()) for x in args]
    with mode:
        promised = op(*fakes)
    copies = [x.detach().clone() for x in args]
    result = op(*copies)
    broken = set()
    returned = op._schema.returns[0].alias_info
    letters = returned.before_set if returned else set()
    for x, y, argument in zip(args, copies, op._schema.arguments):
        if not bool(((x == y) | x.isnan() & y.isnan()).all()) and not (
            argument.alias_info and argument.alias_info.is_write
        ):
            broken.add("writes")
        declared = argument.alias_info is not None and letters & argument.alias_info.before_set
        if y.untyped_storage()._cdata == result.untyped_storage()._cdata and not declared:
            broken.add("aliases")
    if promised.dtype is not result.dtype:
        broken.add("dtype")
    if list(promised.size()) != list(result.size()):
        broken.add("sizes")
    elif promised.stride() != result.stride():
        broken.add("strides")
    return sorted(broken)


def untrue__on_meta(op, *args):
    """Tensors on the meta device have no data either, and a list as text shows each nan."""
    said = op(*[x.to("meta") for x in args])
    before = [str(x.tolist()) for x in args]
    copies = [x * 1 for x in args]
    result, schema = op(*copies), op._schema
    ends = result.untyped_storage().data_ptr(), result.untyped_storage().data_ptr() + result.untyped_storage().nbytes()
    names = set()
    for i, x in enumerate(copies):
        info, back = schema.arguments[i].alias_info, schema.returns[0].alias_info
        if str(x.tolist()) != before[i] and not getattr(info, "is_write", False):
            names.add("writes")
        declared = info is not None and back is not None and not info.before_set.isdisjoint(back.before_set)
        if ends[0] <= x.data_ptr() < ends[1] and not declared:
            names.add("aliases")
    names |= {"dtype"} if said.dtype != result.dtype else set()
    names |= {"sizes"} if said.shape != result.shape else {"strides"} if said.stride() != result.stride() else set()
    return sorted(names)


def register_whiten__inferred_schema(namespace):
    """The schema comes from the annotations."""

    @torch.library.custom_op(f"{namespace}::whiten", mutates_args={"mean"})
    def whiten(x: torch.Tensor, mean: torch.Tensor, momentum: float) -> torch.Tensor:
        mean.mul_(1 - momentum).add_(x.mean(0), alpha=momentum)
        return torch.sub(x, mean).transpose(0, 1)

    @whiten.register_fake
    def _(x, mean, momentum):
        return torch.empty_like(x).t()


_LIBRARIES = []  # an operator goes with its library


def register_whiten__a_library(namespace):
    library = torch.library.Library(namespace, "DEF")
    _LIBRARIES.append(library)
    library.define("whiten(Tensor x, Tensor(a!) mean, float momentum) -> Tensor")

    def kernel(x, mean, momentum):
        mean.lerp_(x.mean(0), momentum)
        return (x - mean).t()

    library.impl("whiten", kernel, "CPU")
    library.impl("whiten", lambda x, mean, momentum: (x - mean).t(), "Meta")


def register_whiten__composite(namespace):
    """The kernel is made of operators that know what to do without data."""
    torch.library.define(f"{namespace}::whiten", "(Tensor x, Tensor(a!) mean, float momentum) -> Tensor")

    @torch.library.impl(f"{namespace}::whiten", "CompositeImplicitAutograd")
    def whiten(x, mean, momentum):
        mean.lerp_(x.mean(0), momentum)
        return (x - mean).t()


# The check that was missing


def check_eliminate_dead_code__traced():
    """Most graphs are traced from functions."""

    def program(xp, kind):
        neg, rand_like, aten, results = xp.neg, xp.rand_like, xp.ops.aten, []

        def chain(x, y):
            neg(neg(neg(x)))
            return neg(x) + 1

        def effects(x, y):
            rand_like(x)
            aten.add_.Tensor(x, x)
            neg(y)
            return x

        def nothing(x, y):
            return x

        traced = xp.fx.symbolic_trace({"chain": chain, "effects": effects, "nothing": nothing}.get(kind, chain)).graph
        if kind == "attribute":
            traced = xp.fx.Graph()
            x = traced.placeholder("x")
            traced.get_attr("weight")
            traced.output(x)
        if kind == "order":
            first, *_, last = (node for node in traced.nodes if node.op == "call_function")
            last.append(first)
        ways = [None, lambda node: node.op == "output", lambda node: True]
        for way in ways if kind == "chain" else ways[:2]:
            results.append(traced.eliminate_dead_code(way))
            results.append([str(node) for node in traced.nodes])
        return results

    return program, [{"kind": kind} for kind in ("chain", "effects", "nothing", "attribute", "order")]


def check_eliminate_dead_code__many_small_graphs():
    def program(xp, ops, ends=None, moved=False):
        graph = xp.fx.Graph()
        x, _ = graph.placeholder("x"), graph.placeholder("unused")
        last = x
        for op in ops:
            if op == "attribute":
                graph.get_attr("w")
            elif op == "write":
                graph.call_function(xp.ops.aten.mul_.Tensor, (x, x))
            elif op == "random":
                graph.call_function(xp.randn_like, (x,))
            elif op == "dead":
                graph.call_method("exp", (graph.call_method("sin", (last,)),))
            else:
                last = graph.call_method("cos", (last,))
        graph.output(last)
        if moved:
            last.append(last.args[0])
        answer = graph.eliminate_dead_code(ends and (lambda node: node.op == ends))
        return answer, [node.op for node in graph.nodes], [str(node) for node in graph.nodes]

    cases = [
        ["dead", "live"],
        ["live"],
        ["attribute"],
        ["write"],
        ["random", "live"],
        ["live", "dead", "live", "dead"],
        [],
    ]
    extra = [{"ops": ["write", "random"], "ends": "output"}, {"ops": ["live", "live"], "moved": True}]
    return program, [{"ops": ops} for ops in cases] + extra


# An echo of what is already overwritten


def narrow_3__a_transpose(xp):
    x = xp.arange(4.0).reshape(2, 2)
    xp.compile(lambda x: x.copy_(x.t() * 1))(x)
    return x.tolist()


def narrow_3__a_sum(xp):
    x = xp.arange(3)
    xp.compile(lambda x: x.add_(x.flip(0)))(x)
    return x.tolist()


def mend_3__dependencies_as_sets():
    def can_fuse(first, second):
        (reads, write), (other_reads, other_write) = map(extract_read_writes, (first, second))  # noqa: F821
        passed = {read for read in other_reads if read.buffer == write.buffer} - {write}
        overwritten = {read for read in reads if read.buffer == other_write.buffer} - {other_write}
        return write.buffer != other_write.buffer and not passed and not overwritten

    return "rl.inductor.scheduler.can_fuse", can_fuse


def mend_3__a_function_for_each_direction():
    from rushlight.inductor.dependencies import extract_read_writes as accesses

    def can_fuse(first, second):
        def within_an_iteration(reader, writer):
            written = accesses(writer)[1]
            other = [
                read for read in accesses(reader)[0] if read.buffer == written.buffer and read.index != written.index
            ]
            return not other

        same = accesses(first)[1].buffer == accesses(second)[1].buffer
        return not same and within_an_iteration(first, second) and within_an_iteration(second, first)

    return "inductor.scheduler.can_fuse", can_fuse


# A penalty whose gradient is wrong


def narrow_5__the_first_derivative_has_no_graph(xp):
    x = xp.tensor([[0.5]], requires_grad=True)
    y = xp.fused_linear(x, xp.eye(1), None, "tanh").sum()
    return xp.autograd.grad(y, x, create_graph=True)[0].requires_grad


def narrow_5__by_backward(xp):
    w = xp.tensor([[2.0]], requires_grad=True)
    xp.fused_linear(xp.ones(1, 1), w, activation="tanh").sum().backward(create_graph=True)
    return str(w.grad.grad_fn is None), w.grad.detach()


def narrow_5__numbers(xp):
    w = xp.tensor([[0.25, 0.5]], requires_grad=True)

    def slope(w):
        return xp.autograd.grad(xp.fused_linear(w, w, None, "tanh").sum(), w, create_graph=True)[0].sum()

    return [round(number, 3) for number in xp.autograd.grad(slope(w), w)[0][0].tolist()]


def name_5__whole_path():
    return "rushlight.on_torch.custom_ops.fused_linear_setup_context"


def name_5__and_a_second():
    return ["rl.on_torch.custom_ops.fused_linear_setup_context", "on_torch.custom_ops.fused_linear_backward"]


def mend_5__a_dict():
    def fused_linear_setup_context(ctx, inputs, output):
        x, weight, bias, kind = inputs
        needed = {
            "none": (ctx.needs_input_grad[1], ctx.needs_input_grad[0], False, False),
            "gelu": (True, True, True, False),
        }.get(kind, (ctx.needs_input_grad[1], ctx.needs_input_grad[0], False, True))
        ctx.activation = kind
        ctx.save_for_backward(*[value if keep else None for value, keep in zip((x, weight, bias, output), needed)])

    return "rl.on_torch.custom_ops.fused_linear_setup_context", fused_linear_setup_context


def mend_5__step_by_step():
    def fused_linear_setup_context(ctx, inputs, output):
        saved = [None] * 4
        if inputs[3] == "gelu":
            saved[:3] = inputs[:3]
        else:
            if ctx.needs_input_grad[1]:
                saved[0] = inputs[0]
            if ctx.needs_input_grad[0]:
                saved[1] = inputs[1]
            if inputs[3] != "none":
                saved[3] = output
        ctx.save_for_backward(*saved)
        ctx.activation = inputs[3]

    return "on_torch.custom_ops.fused_linear_setup_context", fused_linear_setup_context


# A module that is compiled at each call


def guarded__counter(function, first, second):
    names = []
    for name in first:
        torch._dynamo.reset()
        counter = CompileCounter()
        compiled = torch.compile(function, backend=counter)
        compiled(**first)
        arguments = dict(first)
        arguments[name] = second[name]
        compiled(**arguments)
        names += [name] * (counter.frame_count == 2)
    return names


def guarded__stance(function, first, second):
    """A compilation is an error in the second call."""

    def compiles(name):
        torch._dynamo.reset()
        compiled = torch.compile(function, backend="eager")
        compiled(**first)
        try:
            with torch.compiler.set_stance("fail_on_recompile"):
                compiled(**{**first, name: second[name]})
        except RuntimeError:
            return True
        return False

    return [name for name in first if compiles(name)]


def warmup__sum_of_steps(steps):
    class Growing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.tensor(0))

        def forward(self, x):
            self.count.add_(1)
            return (x * torch.clamp(self.count.double() / steps, max=1.0)).to(x.dtype)

    return Growing()


def warmup__minimum(steps):
    class Growing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("n", torch.zeros((), dtype=torch.float64))

        def forward(self, x):
            self.n = self.n + 1
            return (x * (torch.minimum(self.n, torch.tensor(float(steps), dtype=torch.float64)) / steps)).to(x.dtype)

    return Growing()


# What a compiler writes


def dump_test__line_by_line(FileCheck):
    """Each line of the call, without its numbers."""
    softmax, relu = "cpp_fused__softmax_addmm_", "cpp_fused_mul_relu_"
    lines = [softmax, "blas(", "// reuse", "blas("]
    chain = FileCheck().check_regex(softmax + "[0-9]+\\(const .*, const .*, [a-z]+\\* out_ptr0\\) ")
    chain = chain.check_not("cast<").check_not("static int64_t cpp_fused__softmax").check_not("fused_relu").check(relu)
    chain = chain.check('extern "C"').check("blas(").check("// reuse")
    for i in range(4):
        chain = chain.check(lines[i]) if i == 1 else chain.check_next(lines[i])
    return chain.check("// reuse").check_next(relu).check("def call").check_not("operator_").check("return")


def dump_test__without_kernels_of_others(FileCheck):
    """Names of kernels in the call come in an order, and no others of the chain are among them."""
    test = FileCheck().check("static int64_t cpp_fused__softmax_addmm_")
    for word in (
        "out_ptr1",
        "out_ptr2",
        "static_cast<",
        "static int64_t cpp_fused__softmax",
        "static int64_t cpp_fused_mm",
        "static int64_t cpp_fused_r",
    ):
        test.check_not(word)
    test.check("static int64_t cpp_fused_mul_relu_").check_not("static int64_t cpp_fused_m").check("segment_0")
    test.check("blas(").check_not("add_bias").check_not("blas(")
    test.check("reuse").check_next("if (cpp_fused__softmax_addmm_").check_not("reuse").check_not("fused_mm")
    test.check("blas(").check_not("cpp_fused").check_next("reuse").check_next("blas(").check_not("fused_mm").check_not(
        "blas"
    )
    return test.check("reuse").check_next("if (cpp_fused_mul_relu_").check_not("blas").check("return 0;")
