"""Wrong answers to lab 13c that a student might well give: each is refused.

A function's name is its exercise's, two underscores, and what is wrong.
"""

# ruff: noqa: F821 (a mend sees the names of the module in which it is planted)

import logging
import re
from unittest import mock

import torch
from torch._dynamo.testing import CompileCounter


def narrow_1__not_compiled(xp):
    def first(x, d):
        return x + [*d.values()][0]

    return first(xp.ones(1), {"a": 1, "b": 2}), first(xp.ones(1), {"b": 2, "a": 1})


def narrow_1__other_keys(xp):
    f = xp.compile(lambda x, d: x + len(d), backend="eager")
    return f(xp.ones(1), {"a": 1}), f(xp.ones(1), {"b": 1})


def name_1__lookup():
    return ["dynamo.cache.lookup"]


def name_1__build_check():
    return ["dynamo.guards.build_check", "dynamo.cache.recompile_reasons"]


def mend_1__only_the_class():
    def guards_for(value, source, scope):
        return [f"type({source}) is {bind(scope, type(value))}"]

    return "dynamo.guards.guards_for", guards_for


def mend_1__a_neighbour():
    def lookup(entries, L):
        return next((entry for entry in entries if entry.check(L)), None)

    return "dynamo.cache.lookup", lookup


def narrow_2__a_swap(xp):
    x = xp.ones(2, 2, 2)
    xp.compile(lambda x: x.permute(2, 1, 0)[0].zero_(), backend="aot_eager")(x)
    return x


def narrow_2__eager(xp):
    x = xp.ones(2, 2, 2)
    xp.compile(lambda x: x.permute(1, 2, 0)[0].zero_(), backend="eager")(x)
    return x


def name_2__epilogue():
    return ["aot.runtime.run_epilogue", "aot.functional.apply_update"]


def mend_2__without_an_operator():
    def view_inverse(base, view, new):
        return new.reshape(base.shape)

    return "aot.functional.view_inverse", view_inverse


def find_breaks__items_and_ifs(function, *args):
    import inspect

    try:
        lines = inspect.getsource(function).splitlines()
    except OSError:
        lines = []
    return [i for i, line in enumerate(lines) if ".item()" in line or "if " in line]


def find_breaks__the_first_one(function, *args):
    torch._dynamo.reset()
    reasons = torch._dynamo.explain(function)(*args).break_reasons
    return [reasons[0].user_stack[0].lineno - function.__code__.co_firstlineno] if reasons else []


def find_breaks__graphs_that_end(function, *args):
    """`explain` misses a break before the first operator, and one right after another."""
    torch._dynamo.reset()
    first = function.__code__.co_firstlineno
    return sorted({each.user_stack[0].lineno - first for each in torch._dynamo.explain(function)(*args).break_reasons})


def _logged(function, args, line_of, keep=True):
    """What `line_of` makes of the records of the log, without None. Without `keep`, the handler and the level stay."""
    log, found = logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks"), []
    collect = logging.Handler()
    collect.emit = lambda record: found.append(line_of(record.getMessage()))
    before = log.level, log.propagate
    log.addHandler(collect)
    log.setLevel(logging.DEBUG)
    log.propagate = False
    torch._dynamo.reset()
    try:
        torch.compile(function, backend="eager")(*args)
    finally:
        if keep:
            log.removeHandler(collect)
            log.setLevel(before[0])
            log.propagate = before[1]
    return [line for line in found if line is not None]


def _in_file(text):
    return int(re.search(r"in user code at .*:(\d+)", text)[1])


def find_breaks__not_after_an_error(function, *args):
    log, lines = logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks"), set()

    def collect(record):
        lines.add(_in_file(record.getMessage()) - function.__code__.co_firstlineno)

    log.addFilter(collect)
    log.setLevel(logging.DEBUG)
    torch._dynamo.reset()
    torch.compile(function, backend="eager")(*args)
    log.removeFilter(collect)
    log.setLevel(logging.NOTSET)
    return sorted(lines)


def find_breaks__each_break(function, *args):
    """Two breaks of one line are one line."""
    return [line - function.__code__.co_firstlineno for line in _logged(function, args, _in_file)]


def find_breaks__each_kind_of_break(function, *args):
    """The records of a line's later breaks have more words, unless the breaks are of different kinds."""

    def line_of(text):
        found = re.match(r"Graph break in user code at .*:(\d+)", text)
        return int(found[1]) if found else None

    with mock.patch.object(logging.root.manager, "_disable", 0):
        found = _logged(function, args, line_of)
    return sorted(line - function.__code__.co_firstlineno for line in found)


def find_breaks__of_the_file(function, *args):
    return sorted({line - 1 for line in _logged(function, args, _in_file)})


def find_breaks__known_reasons(function, *args):
    """The reasons of the lab's example are not all that there are."""

    def line_of(text):
        return _in_file(text) if "Data-dependent" in text or "item()" in text else None

    return sorted({line - function.__code__.co_firstlineno for line in _logged(function, args, line_of)})


def find_breaks__other_arguments(function, *args):
    args = [torch.ones_like(x) if isinstance(x, torch.Tensor) else x for x in args]
    return sorted({line - function.__code__.co_firstlineno for line in _logged(function, args, _in_file)})


def find_breaks__another_number(function, *args):
    args = [x if isinstance(x, torch.Tensor) else 1 for x in args]
    return sorted({line - function.__code__.co_firstlineno for line in _logged(function, args, _in_file)})


def find_breaks__after_a_trial(function, *args):
    function(*args)
    return sorted({line - function.__code__.co_firstlineno for line in _logged(function, args, _in_file)})


def find_breaks__explain_and_log(function, *args):
    """Each of them calls the function."""
    torch._dynamo.reset()
    lines = {reason.user_stack[0].lineno for reason in torch._dynamo.explain(function)(*args).break_reasons}
    lines.update(_logged(function, args, _in_file))
    return sorted(line - function.__code__.co_firstlineno for line in lines)


def find_breaks__the_log_stays_on(function, *args):
    found = _logged(function, args, _in_file, keep=False)
    return sorted({line - function.__code__.co_firstlineno for line in found})


def find_breaks__logs_off(function, *args):
    found = _logged(function, args, _in_file)
    torch._logging.set_logs(all=50)
    return sorted({line - function.__code__.co_firstlineno for line in found})


def find_breaks__a_setting(function, *args):
    torch._dynamo.config.verbose = True
    return sorted({line - function.__code__.co_firstlineno for line in _logged(function, args, _in_file)})


def find_breaks__scalars_are_captured(function, *args):
    with torch._dynamo.config.patch(capture_scalar_outputs=True):
        return sorted({line - function.__code__.co_firstlineno for line in _logged(function, args, _in_file)})


def find_breaks__until_the_graph_is_full(function, *args):
    """With `fullgraph=True`, torch compiles up to the first break only."""
    try:
        torch._dynamo.reset()
        torch.compile(function, backend="eager", fullgraph=True)(*args)
    except torch._dynamo.exc.Unsupported as error:
        return [error.real_stack[-1].lineno - function.__code__.co_firstlineno]
    return []


def find_breaks__both_branches(function, *args):
    """The bytecode has both branches of a condition, and calls that need no value."""
    import dis

    first, line, found = function.__code__.co_firstlineno, 0, set()
    for instruction in dis.get_instructions(function):
        line = instruction.starts_line or line
        if instruction.argval in ("item", "tolist", "graph_break", "print", "nonzero", "float", "bool"):
            found.add(line - first)
    return sorted(found)


def find_breaks__the_usual_level_afterwards(function, *args):
    log, found = logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks"), []
    try:
        found = _logged(function, args, _in_file)
    finally:
        log.setLevel(logging.NOTSET)
    return sorted({line - function.__code__.co_firstlineno for line in found})


def find_breaks__propagates_afterwards(function, *args):
    log, found = logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks"), []
    try:
        found = _logged(function, args, _in_file)
    finally:
        log.propagate = True
    return sorted({line - function.__code__.co_firstlineno for line in found})


def find_breaks__nothing_while_logs_are_disabled(function, *args):
    return sorted({line - function.__code__.co_firstlineno for line in _logged(function, args, _in_file)})


def find_breaks__logs_enabled_afterwards(function, *args):
    logging.disable(logging.NOTSET)
    return sorted({line - function.__code__.co_firstlineno for line in _logged(function, args, _in_file)})


def find_breaks__a_method_of_the_logger_stays(function, *args):
    log, found = logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks"), set()
    level, silent = log.level, logging.root.manager.disable
    log.handle = lambda record: found.add(_in_file(record.getMessage()) - function.__code__.co_firstlineno)
    log.setLevel(logging.DEBUG)
    logging.disable(logging.NOTSET)
    torch._dynamo.reset()
    try:
        torch.compile(function, backend="eager")(*args)
    finally:
        log.setLevel(level)
        logging.disable(silent)
        log.handle = type(log).handle.__get__(log)
    return sorted(found)


def clean__clamped(signal):
    """`clamp` has a gradient at its limit: the peak takes part in it without a division."""
    signal = signal / signal.abs().max().clamp(min=1)
    strong = signal.abs() > 0.25
    return signal - (signal * strong).sum(dtype=_wide(signal)) / strong.sum().clamp(min=1)


def _wide(signal):
    return torch.promote_types(signal.dtype, torch.float32)


def clean__the_larger_of_two(signal):
    """At equality `maximum` gives each of the two half of the gradient."""
    signal = signal / torch.maximum(signal.abs().max(), torch.ones((), dtype=signal.dtype))
    strong = signal.abs() > 0.25
    return signal - (signal * strong).sum(dtype=_wide(signal)) / strong.sum().clamp(min=1)


def clean__one_of_two_quotients(signal):
    """`where` computes both: the gradient of the quotient that is not taken is 0 times inf."""
    peak = signal.abs().max()
    signal = torch.where(peak > 1, signal / peak, signal)
    strong = signal.abs() > 0.25
    return signal - (signal * strong).sum(dtype=_wide(signal)) / strong.sum().clamp(min=1)


def clean__a_mean_of_nothing(signal):
    peak = signal.abs().max()
    signal = signal / torch.where(peak > 1, peak, 1)
    return signal - signal.masked_fill(signal.abs() <= 0.25, float("nan")).nanmean().nan_to_num(0.0)


def clean__counts_in_its_dtype(signal):
    peak = signal.abs().max()
    signal = signal / torch.where(peak > 1, peak, 1)
    strong = (signal.abs() > 0.25).to(signal.dtype)
    return signal - (signal * strong).sum(dtype=_wide(signal)) / strong.sum().clamp(min=1)


def clean__adds_in_its_dtype(signal):
    peak = signal.abs().max()
    signal = signal / torch.where(peak > 1, peak, 1)
    strong = signal.abs() > 0.25
    return signal - (signal * strong).sum() / strong.sum().clamp(min=1)


def clean__into_the_signal(signal):
    with torch.no_grad():
        signal /= signal.abs().max().clamp(min=1)
    strong = signal.abs() > 0.25
    return signal - (signal * strong).sum(dtype=_wide(signal)) / strong.sum().clamp(min=1)


_CALLS = 0


def clean__counts_its_calls(signal):
    global _CALLS
    _CALLS += 1
    peak = signal.abs().max()
    signal = signal / torch.where(peak > 1, peak, 1)
    strong = signal.abs() > 0.25
    return signal - (signal * strong).double().sum() / strong.sum().clamp(min=1)


def clean__disabled(signal):
    @torch.compiler.disable
    def run(signal):
        peak = signal.abs().max().item()
        signal = signal / peak if peak > 1 else signal
        strong = signal[signal.abs() > 0.25]
        return signal - strong.mean() if len(strong) else signal

    return run(signal)


def clean__a_setting(signal):
    torch._dynamo.config.capture_scalar_outputs = True
    signal = signal / max(signal.abs().max().item(), 1.0)
    strong = signal.abs() > 0.25
    return signal - (signal * strong).sum() / strong.sum().clamp(min=1)


def clean__nothing_strong(signal):
    signal = signal / signal.abs().max().clamp(min=1)
    strong = signal.abs() > 0.25
    return signal - (signal * strong).sum() / strong.sum()


def clean__always_scaled(signal):
    signal = signal / signal.abs().max().clamp(min=1e-30)
    strong = signal.abs() > 0.25
    return signal - (signal * strong).sum() / strong.sum().clamp(min=1)


def _cleaned(signal):
    peak = signal.abs().max()
    signal = signal / torch.where(peak > 1, peak, 1)
    strong = signal.abs() > 0.25
    return signal - (signal * strong).sum(dtype=_wide(signal)) / strong.sum().clamp(min=1)


def clean__without_a_gradient(signal):
    return _cleaned(signal.detach())


def clean__no_grad_within(signal):
    with torch.no_grad():
        return _cleaned(signal)


def clean__a_gradient_past_the_mean(signal):
    peak = signal.abs().max()
    signal = signal / torch.where(peak > 1, peak, 1)
    return signal - (signal - _cleaned(signal)).detach()


def clean__in_float32(signal):
    return _cleaned(signal.float()).to(signal.dtype)


def clean__adds_in_float32(signal):
    peak = signal.abs().max()
    signal = signal / torch.where(peak > 1, peak, 1)
    strong = signal.abs() > 0.25
    return signal - (signal * strong).float().sum() / strong.sum().clamp(min=1)


def clean__divides_in_float32(signal):
    peak = signal.abs().max().float()
    signal = signal / torch.where(peak > 1, peak, 1)
    strong = signal.abs() > 0.25
    return signal - (signal * strong).sum(dtype=_wide(signal)) / strong.sum().clamp(min=1)


def clean__two_functions(signal):
    if torch.compiler.is_compiling():
        return _cleaned(signal)
    if signal.abs().max() > 1:
        signal = signal / signal.abs().max().item()
    strong = signal[signal.abs() > 0.25]
    return signal - strong.mean() if len(strong) else signal.clone()


def untrue__opcheck(op, *args):
    """The names of the tests of opcheck are no clauses, and it raises errors of its own."""
    said = torch.library.opcheck(op, tuple(x.clone() for x in args), raise_exception=False)
    return ["writes"] * (said["test_schema"] != "SUCCESS") + ["sizes"] * (said["test_faketensor"] != "SUCCESS")


def untrue__the_first_argument(op, *args):
    from torch._subclasses.fake_tensor import FakeTensorMode

    given = [x.clone() for x in args]
    mode = FakeTensorMode()
    said, result = op(*[mode.from_tensor(x) for x in given]), op(*given)
    clauses = {
        "aliases": result.data_ptr() == given[0].data_ptr(),
        "dtype": said.dtype != result.dtype,
        "sizes": said.shape != result.shape,
        "strides": said.shape == result.shape and said.stride() != result.stride(),
        "writes": not torch.equal(given[0], args[0]),
    }
    return [name for name, broken in clauses.items() if broken]


def _untrue(op, args, aliases, same, inherits=True):
    """The clauses, by how a student compares memory and elements."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    given, copies = ([x.clone() for x in args] for _ in range(2))
    result = op(*given)
    with FakeTensorMode() as mode:
        said = op(*map(mode.from_tensor, copies))
    returned, broken = op._schema.returns[0].alias_info, set()
    for x, now, argument in zip(args, given, op._schema.arguments):
        info = argument.alias_info
        if aliases(result, now) and not (inherits and returned and info and returned.before_set & info.before_set):
            broken.add("aliases")
        if not same(x, now) and not (info and info.is_write):
            broken.add("writes")
    broken |= {"dtype"} if said.dtype != result.dtype else set()
    broken |= {"sizes"} if said.shape != result.shape else {"strides"} if said.stride() != result.stride() else set()
    return sorted(broken)


def _share(x, y):
    return x.untyped_storage().data_ptr() == y.untyped_storage().data_ptr()


def _equal(x, y):
    return str(x.tolist()) == str(y.tolist())


def untrue__where_the_data_begins(op, *args):
    return _untrue(op, args, lambda x, y: x.data_ptr() == y.data_ptr(), _equal)


def untrue__views_by_their_base(op, *args):
    return _untrue(op, args, lambda x, y: x is y or x._base is y, _equal)


def untrue__a_nan_has_changed(op, *args):
    return _untrue(op, args, _share, torch.equal)


def untrue__small_writes_are_none(op, *args):
    return _untrue(op, args, _share, lambda x, y: torch.allclose(x, y, equal_nan=True))


def untrue__all_nan_are_equal_to_anything(op, *args):
    return _untrue(op, args, _share, lambda x, y: torch.equal(x.nan_to_num(), torch.where(x.isnan(), 0, y)))


def untrue__no_alias_is_allowed(op, *args):
    return _untrue(op, args, _share, _equal, inherits=False)


def untrue__any_letter_will_do(op, *args):
    def aliases(x, y):
        return _share(x, y) and op._schema.returns[0].alias_info is None

    return _untrue(op, args, aliases, _equal, inherits=False)


def untrue__fakes_of_what_the_call_left(op, *args):
    """The operator may have turned its argument in place."""
    from torch._subclasses.fake_tensor import FakeTensorMode

    given, mode = [x.clone() for x in args], FakeTensorMode()
    result = op(*given)
    said = op(*map(mode.from_tensor, given))
    names = {*_untrue(op, args, _share, _equal)} - {"strides"}
    return sorted(names | ({"strides"} if said.shape == result.shape and said.stride() != result.stride() else set()))


def register_whiten__not_declared(namespace):
    def kernel(x, mean, momentum):
        mean.lerp_(x.mean(0), momentum)
        return (x - mean).t()

    schema = "(Tensor x, Tensor mean, float momentum) -> Tensor"
    op = torch.library.custom_op(f"{namespace}::whiten", kernel, mutates_args=(), schema=schema)
    op.register_fake(lambda x, mean, momentum: (x - mean).t())


def register_whiten__dense_strides(namespace):
    def kernel(x, mean, momentum):
        mean.lerp_(x.mean(0), momentum)
        return (x - mean).t()

    schema = "(Tensor x, Tensor(a!) mean, float momentum) -> Tensor"
    op = torch.library.custom_op(f"{namespace}::whiten", kernel, mutates_args=("mean",), schema=schema)
    op.register_fake(lambda x, mean, momentum: x.new_empty(x.shape[1], x.shape[0]))


def register_whiten__a_copy(namespace):
    def kernel(x, mean, momentum):
        mean.lerp_(x.mean(0), momentum)
        return (x - mean).t().contiguous()

    schema = "(Tensor x, Tensor(a!) mean, float momentum) -> Tensor"
    op = torch.library.custom_op(f"{namespace}::whiten", kernel, mutates_args=("mean",), schema=schema)
    op.register_fake(lambda x, mean, momentum: x.new_empty(x.shape[1], x.shape[0]))


def _whiten(namespace, kernel, fake):
    schema = "(Tensor x, Tensor(a!) mean, float momentum) -> Tensor"
    op = torch.library.custom_op(f"{namespace}::whiten", kernel, mutates_args=("mean",), schema=schema)
    op.register_fake(fake)


def register_whiten__a_fake_kernel_that_writes(namespace):
    def kernel(x, mean, momentum):
        mean.lerp_(x.mean(0), momentum)
        return (x - mean).t()

    _whiten(namespace, kernel, kernel)


def register_whiten__without_nan(namespace):
    def kernel(x, mean, momentum):
        mean.lerp_(x.nanmean(0), momentum)
        return (x - mean).t()

    _whiten(namespace, kernel, lambda x, mean, momentum: (x - mean).t())


def register_whiten__a_fake_copy_of_the_transpose(namespace):
    """A copy has its own order of the dimensions if two elements of `x` share memory."""

    def kernel(x, mean, momentum):
        mean.lerp_(x.mean(0), momentum)
        return (x - mean).t()

    _whiten(namespace, kernel, lambda x, mean, momentum: x.t().clone())


def register_whiten__a_mean_that_stays(namespace):
    def kernel(x, mean, momentum):
        return (x - mean.lerp(x.mean(0), momentum)).t()

    _whiten(namespace, kernel, lambda x, mean, momentum: (x - mean).t())


def register_whiten__into_its_input(namespace):
    def kernel(x, mean, momentum):
        mean.lerp_(x.mean(0), momentum)
        return (x.contiguous().sub_(mean) * 1).t()  # a contiguous x is its own `contiguous()`

    _whiten(namespace, kernel, lambda x, mean, momentum: (x - mean).t())


def register_whiten__no_fake_kernel(namespace):
    def kernel(x, mean, momentum):
        mean.lerp_(x.mean(0), momentum)
        return (x - mean).t()

    schema = "(Tensor x, Tensor(a!) mean, float momentum) -> Tensor"
    torch.library.custom_op(f"{namespace}::whiten", kernel, mutates_args=("mean",), schema=schema)


def check_eliminate_dead_code__one_case():
    def program(xp, count):
        graph = xp.fx.Graph()
        x = graph.placeholder("x")
        for _ in range(count):
            graph.call_function(xp.neg, (x,))
        graph.output(x)
        graph.eliminate_dead_code()
        return [str(node) for node in graph.nodes]

    return program, [{"count": 2}]


def check_eliminate_dead_code__order_of_calls():
    """A right body may ask the given function in another order, or more often."""

    def program(xp, count):
        graph, asked = xp.fx.Graph(), []
        x = graph.placeholder("x")
        for _ in range(count):
            graph.call_function(xp.neg, (x,))
        graph.output(x)
        graph.eliminate_dead_code(lambda node: asked.append(str(node)) or node.op == "output")
        return asked

    return program, [{"count": 2}]


def narrow_3__another_backend(xp):
    x = xp.arange(4.0)
    xp.compile(lambda x: x.copy_(x.flip(0)), backend="aot_eager")(x)
    return x


def narrow_3__the_same_position(xp):
    x = xp.arange(4.0)
    xp.compile(lambda x: x.copy_(x * 2))(x)
    return x


def narrow_3__nothing_is_written(xp):
    return xp.compile(lambda x: x.flip(0) * 2)(xp.arange(4.0))


def mend_3__nothing_fused():
    def can_fuse(first, second):
        return False

    return "inductor.scheduler.can_fuse", can_fuse


def mend_3__only_the_buffers():
    def can_fuse(first, second):
        reads, write = extract_read_writes(first)
        other_reads, other_write = extract_read_writes(second)
        return other_write.buffer not in {write.buffer, *(read.buffer for read in reads)} and all(
            read == write for read in other_reads if read.buffer == write.buffer
        )

    return "inductor.scheduler.can_fuse", can_fuse


def narrow_5__the_first_derivative(xp):
    x = xp.ones(1, 1, requires_grad=True)
    return xp.autograd.grad(xp.fused_linear(x, x, None, "tanh"), x)


def narrow_5__the_second_derivative_of_gelu(xp):
    x = xp.ones(1, 1, requires_grad=True)
    (slope,) = xp.autograd.grad(xp.fused_linear(x, x, None, "gelu"), x, create_graph=True)
    return xp.autograd.grad(slope, x)


def narrow_5__torchs_operators(xp):
    x = xp.ones(1, 1, requires_grad=True)
    (slope,) = xp.autograd.grad(xp.tanh(x @ x.T), x, create_graph=True)
    return xp.autograd.grad(slope, x)


def narrow_5__what_the_name_says(xp):
    return str(xp.fused_linear)


def name_5__backward():
    return ["on_torch.custom_ops.fused_linear_backward", "on_torch.custom_ops.register_fused_linear"]


def name_5__the_operator():
    return ["on_torch.custom_ops.fused_linear", "on_torch.custom_ops.fused_linear_function"]


def mend_5__everything_saved():
    def fused_linear_setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:3], output)
        ctx.activation = inputs[3]

    return "on_torch.custom_ops.fused_linear_setup_context", fused_linear_setup_context


def mend_5__kept_on_the_context():
    def fused_linear_setup_context(ctx, inputs, output):
        ctx.x, ctx.weight, ctx.bias, ctx.activation = inputs
        ctx.output = output

    return "on_torch.custom_ops.fused_linear_setup_context", fused_linear_setup_context


def mend_5__a_new_leaf():
    def fused_linear_setup_context(ctx, inputs, output):
        x, weight, bias, activation = inputs
        needs_x, needs_weight, *_ = ctx.needs_input_grad
        again = activation == "gelu"
        kept = output.detach().requires_grad_() if activation in ("relu", "tanh") else None
        ctx.save_for_backward(
            x if needs_weight or again else None, weight if needs_x or again else None, bias if again else None, kept
        )
        ctx.activation = activation

    return "on_torch.custom_ops.fused_linear_setup_context", fused_linear_setup_context


def mend_5__the_neighbour():
    def fused_linear_backward(ctx, grad):
        x, weight, bias, output = ctx.saved_tensors
        return grad @ weight, grad.T @ x, None, None

    return "on_torch.custom_ops.fused_linear_backward", fused_linear_backward


def guarded__all_that_differ(function, first, second):
    return [
        name
        for name in first
        if not (
            torch.equal(first[name], second[name])
            if name == "x" and first[name].shape == second[name].shape
            else first[name] == second[name]
        )
    ]


def _guarded(function, first, second, changed, call=None, reset=True, **options):
    """The names for which a call after the first one compiles again: `changed(name, names)` are its arguments."""
    call = call or (lambda compiled, arguments: compiled(**arguments))
    counter, names = CompileCounter(), []
    torch._dynamo.reset()
    for name in first:
        if reset:
            torch._dynamo.reset()
        compiled = torch.compile(function, backend=counter, **options)
        call(compiled, first)
        before = counter.frame_count
        call(compiled, changed(name, names))
        names += [name] if counter.frame_count > before else []
    return names


def guarded__no_new_start(function, first, second):
    """After 8 compilations of a function, Dynamo compiles it no more."""
    return _guarded(function, first, second, lambda name, _: first | {name: second[name]}, reset=False)


def guarded__one_after_another(function, first, second):
    """What has changed stays changed."""
    now = dict(first)

    def changed(name, names):
        now[name] = second[name]
        return now

    return _guarded(function, first, second, changed)


def guarded__all_others(function, first, second):
    names = _guarded(function, first, second, lambda name, _: second | {name: first[name]})
    return [name for name in first if name not in names]


def guarded__by_position(function, first, second):
    def changed(name, _):
        return first | {name: second[name]}

    return _guarded(function, first, second, changed, lambda compiled, arguments: compiled(*arguments.values()))


def guarded__in_their_order(function, first, second):
    """The order of the parameters is not that of the names."""
    import inspect

    names = _guarded(function, first, second, lambda name, _: first | {name: second[name]})
    return [name for name in inspect.signature(function).parameters if name in names]


def guarded__into_the_first(function, first, second):
    def changed(name, _):
        first[name] = second[name]
        return first

    return _guarded(function, first, second, changed)


def guarded__none_that_are_printed_alike(function, first, second):
    names = _guarded(function, first, second, lambda name, _: first | {name: second[name]})
    return [name for name in names if repr(first[name]) != repr(second[name])]


def guarded__exchanged_and_put_back(function, first, second):
    names = []
    for name in [*first]:
        torch._dynamo.reset()
        counter = CompileCounter()
        compiled = torch.compile(function, backend=counter)
        compiled(**first)
        before, first[name] = first[name], second[name]
        compiled(**first)
        first[name] = before
        names += [name] * (counter.frame_count > 1)
    return names


def guarded__copies_of_each_value(function, first, second):
    import copy

    first, second = ({name: copy.deepcopy(value) for name, value in each.items()} for each in (first, second))
    return _guarded(function, first, second, lambda name, _: first | {name: second[name]})


def guarded__a_copy_of_the_second(function, first, second):
    import copy

    return _guarded(function, first, second, lambda name, _: first | {name: copy.deepcopy(second[name])})


def guarded__sizes_are_symbols(function, first, second):
    return _guarded(function, first, second, lambda name, _: first | {name: second[name]}, dynamic=True)


def guarded__nothing_is_dynamic(function, first, second):
    torch._dynamo.config.recompile_limit = 100
    return _guarded(function, first, second, lambda name, _: first | {name: second[name]}, reset=False)


def guarded__names_that_are_used(function, first, second):
    """An argument is read, and the value that it has now is not."""
    import dis

    used = {each.argval for each in dis.get_instructions(function) if each.opname == "LOAD_FAST"} - {"x"}
    return [name for name in first if name in used and repr(first[name]) != repr(second[name])]


def warmup__a_number(steps):
    class Growing(torch.nn.Module):
        calls = 0

        def forward(self, x):
            self.calls += 1
            return x * min(1, self.calls / steps)

    return Growing()


def warmup__not_saved(steps):
    class Growing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = torch.zeros(())

        def forward(self, x):
            self.calls += 1
            return (x * (self.calls / steps).clamp(max=1)).to(x.dtype)

    return Growing()


def warmup__a_setting(steps):
    torch._dynamo.config.allow_unspec_int_on_nn_module = True

    class Growing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.calls = 0

        def forward(self, x):
            self.calls += 1
            return x * min(1, self.calls / steps)

    return Growing()


def dump_test__numbers(FileCheck):
    """The dump of the lab has these numbers, and others have not."""
    test = FileCheck().check("cpp_fused__softmax_addmm_1").check("cpp_fused_mul_relu_4").check("blas(x_1")
    test.check("buf4 = buf0;  // reuse").check_next("cpp_fused__softmax_addmm_1(buf0, b_1, buf4)")
    return test.check("buf6 = buf4;  // reuse").check_next("blas(buf5").check("buf7 = buf6;  // reuse")


def dump_test__nothing_at_the_end(FileCheck):
    """`check_not` at the beginning says nothing about what follows."""
    test = FileCheck().check_not("static_cast").check_not("add_bias").check_not("out_ptr1").check_not("operator_")
    return test.check("cpp_fused__softmax").check("cpp_fused_mul_relu").check("// reuse")


def dump_test__no_word_about_the_second_kernel(FileCheck):
    test = FileCheck().check("static int64_t cpp_fused__softmax_addmm_").check_not("out_ptr1").check_not("static_cast")
    test.check_not("cpp_fused__softmax_").check("static int64_t cpp_fused_").check("segment_0(").check("blas(")
    test.check("// reuse").check_next("cpp_fused__softmax_addmm_").check("blas(").check_next("// reuse")
    return test.check_next("blas(").check("// reuse").check("return 0;").check_not("operator_")


def dump_test__the_second_kernel_is_somewhere(FileCheck):
    test = FileCheck().check("static int64_t cpp_fused__softmax_addmm_").check_not("out_ptr1").check_not("static_cast")
    test.check_not("cpp_fused__softmax_").check("static int64_t cpp_fused_mul_relu_").check("segment_0(").check("blas(")
    test.check("// reuse").check_next("cpp_fused__softmax_addmm_").check("blas(").check_next("// reuse")
    return test.check_next("blas(").check("// reuse").check_next("cpp_fused_mul_relu_")


def dump_test__counts(FileCheck):
    """Other work has a kernel too."""
    return FileCheck().check_count("static int64_t cpp_fused", 2, exactly=True)


def dump_test__runs_it(FileCheck):
    return FileCheck().check("cpp_fused__softmax_addmm_").run("cpp_fused__softmax_addmm_1")


def dump_test__is_torchs(FileCheck):
    """The words of torch's own Inductor."""
    test = FileCheck().check("async_compile.cpp_pybinding").check("extern_kernels.mm")
    return test.check("del buf0  # reuse")


def _warmup(steps, forward, dtype=torch.float64, calls=None):
    class Growing(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("calls", torch.zeros((), dtype=dtype) if calls is None else calls)

        def forward(self, x):
            return forward(self, x)

    return Growing()


def _factor(module, steps):
    module.calls += 1
    return (module.calls.double() / steps).clamp(max=1)


def warmup__into_its_input(steps):
    return _warmup(steps, lambda module, x: x.mul_(_factor(module, steps)))


def warmup__scales_x_itself(steps):
    def forward(module, x):
        with torch.no_grad():
            return x.mul_(_factor(module, steps))

    return _warmup(steps, forward)


def warmup__counts_from_0(steps):
    return _warmup(steps, lambda module, x: (x * (_factor(module, steps) - 1 / steps)).to(x.dtype))


def warmup__notes_its_first_call(steps):
    def forward(module, x):
        if not getattr(module, "begun", False):
            module.begun = True
        return (x * _factor(module, steps)).to(x.dtype)

    return _warmup(steps, forward)


def warmup__not_in_eval_mode(steps):
    def forward(module, x):
        module.calls += int(module.training)
        return (x * (module.calls / steps).clamp(max=1)).to(x.dtype)

    return _warmup(steps, forward)


def warmup__a_small_number(steps):
    return _warmup(steps, lambda module, x: (x * _factor(module, steps)).to(x.dtype), torch.uint8)


def warmup__half_a_number(steps):
    return _warmup(steps, lambda module, x: (x * _factor(module, steps)).to(x.dtype), torch.bfloat16)


def warmup__counts_up_to_steps(steps):
    def forward(module, x):
        module.calls.add_(1).clamp_(max=steps)
        return (x * (module.calls / steps)).to(x.dtype)

    return _warmup(steps, forward)


def warmup__the_factor_is_saved(steps):
    def forward(module, x):
        module.calls += 1 / steps
        return (x * module.calls.clamp(max=1)).to(x.dtype)

    return _warmup(steps, forward)


def warmup__another_dtype(steps):
    return _warmup(steps, lambda module, x: x * _factor(module, steps))


def warmup__in_float32(steps):
    return _warmup(steps, lambda module, x: (x * _factor(module, steps).float()).to(x.dtype))


def warmup__without_a_gradient(steps):
    return _warmup(steps, lambda module, x: (x.detach() * _factor(module, steps)).to(x.dtype))


def warmup__counts_in_the_dtype_of_its_input(steps):
    def forward(module, x):
        module.calls += 1
        return x * (module.calls.to(x.dtype) / steps).clamp(max=1)

    return _warmup(steps, forward, torch.int64)


def warmup__counts_in_float32(steps):
    return _warmup(steps, lambda module, x: (x * _factor(module, steps)).to(x.dtype), torch.float32)


def warmup__counts_in_int32(steps):
    return _warmup(steps, lambda module, x: (x * _factor(module, steps)).to(x.dtype), torch.int32)


def warmup__two_entries(steps):
    module = _warmup(steps, lambda module, x: (x * _factor(module, steps)).to(x.dtype))
    module.register_buffer("steps", torch.tensor(float(steps), dtype=torch.float64))
    return module


_SHARED = torch.zeros((), dtype=torch.float64)


def warmup__one_number_for_all_modules(steps):
    return _warmup(steps, lambda module, x: (x * _factor(module, steps)).to(x.dtype), calls=_SHARED)
