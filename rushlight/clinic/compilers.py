"""Diagnoses of lab 13c: operators and compilation.

For each patient of the framework there are three answers: a small program that shows the fault, the name of the function at fault,
and a sound function in its place. For each script on torch there are two: a function that finds the cause in any script of its
kind, and the script as it should be. `check_eliminate_dead_code` is a check for a function of the framework, and `dump_test` is one
for the code that a compiler writes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def narrow_1(xp: Any) -> Any:
    """A program that shows the fault of patient 13c.1.

    `xp` is the patient's framework, the sound one, or torch. The result differs on the patient, and is the same on the other two.

    The program has at most 7 statements (a lambda is one) and calls at most 7 operators. It uses `xp`, its own variables, and no
    import. `xp.compile` counts as one call, and each function that it runs counts as in eager mode.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """
    x = xp.ones(1)
    f = xp.compile(lambda x, d: x + [*d.values()][0], backend="eager")
    f(x, {"a": 1, "b": 2})
    return f(x, {"b": 2, "a": 1})


def name_1() -> list[str]:
    """The function at fault in patient 13c.1.

    Returns:
        a list with one name, or with two if your first guess was wrong: the first guess stays first. A string counts as a list with
        one name. A name is the path of the function below `rl`, such as `"aten.strided.permute"`.
    """
    return ["dynamo.guards.guards_for"]


def mend_1() -> tuple[str, Callable]:
    """A sound function for patient 13c.1.

    Define the function inside this one. It sees the names of the module in which it is planted. Imports stand in its body.

    Returns:
        two values: the name of the function at fault, as in `name_1`, and your function with the contract of that one.
    """
    import enum
    from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType

    import rushlight as rl
    from rushlight.aten.strided import Tensor
    from rushlight.dynamo.guards import CONSTANTS, WRITTEN, bind

    def guards_for(value, source, scope):
        if isinstance(value, (type, ModuleType, BuiltinFunctionType, enum.Enum, rl.dtype)):
            return [f"{source} is {bind(scope, value)}"]
        if isinstance(value, FunctionType):
            return [f"{source}.__code__ is {bind(scope, value.__code__, f'{value.__name__}_code')}"]
        same_type = f"type({source}) is {bind(scope, type(value))}"
        if isinstance(value, Tensor):
            required = f"({source}._autograd is None or not {source}.requires_grad)"
            return [
                same_type,
                f"{source}._key_set == {value._key_set:#x}",
                f"{source}.dtype is {bind(scope, value.dtype)}",
                f"{source}.requires_grad" if value.requires_grad else required,
                f"{source}._sizes == {tuple(value._sizes)}",
                f"{source}._strides == {value._strides}",
            ]
        if isinstance(value, MethodType):
            return [same_type, *guards_for(value.__func__, f"{source}.__func__", scope)]
        if type(value) in WRITTEN:
            if value != value:
                return [same_type, f"{source} != {source}"]
            return [same_type, f"{source} == {bind(scope, value, 'constant')}"]
        if type(value) in CONSTANTS:
            return [f"{source} is {value}"]
        if isinstance(value, slice):
            parts = ((name, getattr(value, name)) for name in ("start", "stop", "step"))
            return [same_type, *(text for name, part in parts for text in guards_for(part, f"{source}.{name}", scope))]
        if isinstance(value, rl.device):
            return [same_type, f"{source} == {bind(scope, value)}"]
        if isinstance(value, range):
            return [same_type, f"{source}.__reduce__() == {bind(scope, value.__reduce__(), 'range_parts')}"]
        if isinstance(value, (set, frozenset)):
            return [same_type, f"{source} == {bind(scope, value.copy(), 'elements')}"]
        if isinstance(value, dict) and all(type(key) in CONSTANTS for key in value):
            keys, types = bind(scope, list(value), "keys"), bind(scope, list(map(type, value)), "types")
            return [same_type, f"list({source}) == {keys}", f"list(map(type, {source})) == {types}"]
        if isinstance(value, dict):
            return [same_type, f"list(map(id, {source})) == {list(map(id, value))}"]
        if isinstance(value, (list, tuple)):
            return [same_type, f"len({source}) == {len(value)}"]
        return [same_type]

    return "dynamo.guards.guards_for", guards_for


def narrow_2(xp: Any) -> Any:
    """A program that shows the fault of patient 13c.2.

    It has at most 5 statements (a lambda is one) and calls at most 8 operators. The rules are those of `narrow_1`.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """
    x = xp.ones(2, 2, 2)
    xp.compile(lambda x: x.permute(1, 2, 0)[0].zero_(), backend="aot_eager")(x)
    return x


def name_2() -> list[str]:
    """The function at fault in patient 13c.2.

    Returns:
        a list with one name, or with two if your first guess was wrong: the first guess stays first. A string counts as a list with
        one name. A name is the path of the function below `rl`, such as `"aten.strided.permute"`.
    """
    return ["aot.functional.view_inverse"]


def mend_2() -> tuple[str, Callable]:
    """A sound function for patient 13c.2.

    Returns:
        two values: the name of the function at fault, and your function, which is defined inside this one.
    """
    from collections.abc import Sequence

    from rushlight.aot.functional import arguments_of, aten, functions, sum_to, wrap_dim

    def view_inverse(base, view, new):
        given = arguments_of(view)
        dim = given.get("dim")
        match view.operator.schema.name:
            case "alias" | "detach":
                return new
            case "view" | "_reshape_alias":
                return new.view(base.shape)
            case "t":
                return new.t()
            case "transpose":
                return new.transpose(given["dim0"], given["dim1"])
            case "permute":
                inverse = [0] * base.dim()
                for i, d in enumerate(given["dims"]):
                    inverse[wrap_dim(d, base.dim())] = i
                return new.permute(inverse)
            case "squeeze":
                wanted = range(base.dim()) if dim is None else dim if isinstance(dim, Sequence) else (dim,)
                for d in sorted(wrap_dim(d, base.dim()) for d in wanted):
                    new = new.unsqueeze(d) if base.dim() and base.shape[d] == 1 else new
                return new
            case "unsqueeze":
                return new.squeeze(dim)
            case "expand":
                return base + sum_to(new - base, base.shape)
            case "unbind":
                return functions.select_scatter(base, new, dim, view.place)
            case "split" | "split_with_sizes" as name:
                size = given["split_size"] if name == "split" else given["split_sizes"][view.place]
                start = view.place * size if name == "split" else sum(given["split_sizes"][: view.place])
                return aten.slice_scatter.default(base, new, dim, start, min(start + size, base.shape[dim]), 1)
            case name:
                return getattr(aten, f"{name}_scatter").default(base, new, *view.args)

    return "aot.functional.view_inverse", view_inverse


# Scripts on torch ----------------------------------------------------------------------------------------------------


def find_breaks(function: Callable, *args: Any) -> list[int]:
    """The lines of a function at which `torch.compile` breaks its graph, in one call `function(*args)`.

    Every break counts, also one before the first operator, and one right after another. A line is counted from the line with `def`,
    which is line 0. Dynamo starts anew: nothing that was compiled before is used.

    The function runs once, with these arguments. If it raises an error, so does `find_breaks`. A caller may have set the level and
    `propagate` of any logger, and may have called `logging.disable(logging.CRITICAL)`: the lines are the same. Afterwards, also
    after an error, the settings of Dynamo and of Python's loggers are what they were.

        >>> def script(x):
        ...     print(x)
        ...     if x.sum() > 0:
        ...         x = x - x.max().item() * x.min().item()
        ...     return x + 1
        >>> find_breaks(script, torch.ones(3))
        tensor([1., 1., 1.])
        [1, 2, 3]

    Args:
        function: a Python function without decorators, loops, `with` and `try`. It calls no other Python function. Each of its
            statements begins a line and ends in it, but for the branches of an `if`. `exec` may have made it, so its source may be
            in no file.
        args: tensors and numbers. The function does not write to them.

    Returns:
        the lines in order, each once.
    """
    import logging
    import re

    first, log = function.__code__.co_firstlineno, logging.getLogger("torch._dynamo.symbolic_convert.__graph_breaks")
    lines = set[int]()

    def collect(record: logging.LogRecord) -> bool:
        told = re.findall(r"in user code at .*:(\d+)$", record.getMessage(), re.MULTILINE)
        lines.update(int(line) - first for line in told)
        return False  # the record is written nowhere

    level, silent = log.level, logging.root.manager.disable
    log.addFilter(collect)
    log.setLevel(logging.DEBUG)
    logging.disable(logging.NOTSET)
    try:
        torch._dynamo.explain(function)(*args)  # it resets Dynamo
    finally:
        log.removeFilter(collect)
        log.setLevel(level)
        logging.disable(silent)
    return sorted(lines)


def clean(signal: torch.Tensor) -> torch.Tensor:
    """A signal within -1 and 1, without the mean of its strong elements.

    The signal is divided by its largest absolute value if that is larger than 1. Then the mean of the elements whose absolute value
    is larger than 0.25 is subtracted from all elements. If there are none, nothing is subtracted.

    `torch.compile(clean, fullgraph=True)` captures one graph, and uses it for all signals of the same size and dtype. No setting of
    Dynamo is changed. Python reads no value of a tensor in eager mode either, so `clean` also takes a fake tensor.

    The result is as exact as the dtype of `signal`. No sum and no count overflows, also with 100,000 elements of float16, whose
    largest number is 65504.

    The gradient flows through the division, the mean and the difference to `signal`. A division that is not made has no part in it:
    not at a largest absolute value of exactly 1, and not for a signal of zeros, whose gradient is finite.

    Args:
        signal: floating, (length,), at least one element, all of them finite. It is only read.

    Returns:
        (length,), of the dtype of `signal`.
    """
    peak = signal.abs().max()
    signal = signal / torch.where(peak > 1, peak, 1)
    strong = signal.abs() > 0.25
    total = (signal * strong).double().sum()
    return signal - total / strong.sum().clamp(min=1)


def untrue(op: Any, *args: torch.Tensor) -> list[str]:
    """The clauses of an operator's registration that a call `op(*args)` breaks, sorted.

    - "aliases": the result shares memory with an argument, and the schema does not declare that. A schema declares it by a letter
      that the argument and the result have in common, as in `(Tensor(a!) self, Tensor other) -> Tensor(a!)`.
    - "dtype", "sizes": without data, in a `FakeTensorMode`, the result has another dtype, or other sizes.
    - "strides": without data, the result has the same sizes and other strides.
    - "writes": the call changes an element of an argument whose write (`!`) the schema does not declare. A nan that stays a nan is
      no change. The element `[i, j]` may also change because the strides do.

    The arguments are not changed: the operator gets copies of them, with the same sizes and strides.

        >>> untrue(torch.ops.aten.add_.Tensor, torch.ones(2), torch.ones(2))
        []

    Args:
        op: an `OpOverload` that takes tensors and returns one tensor, such as `torch.ops.aten.add_.Tensor`. Each argument in
            `op._schema.arguments` and the result `op._schema.returns[0]` have an `alias_info`, or None. It has the letters, in
            `before_set`, and `is_write`.
        args: contiguous tensors with an element at least, each with memory of its own. The operator leaves their sizes as they are.
            Arguments of `op` that have a default may be missing.
    """
    from torch._subclasses.fake_tensor import FakeTensorMode

    given, copies = ([x.clone() for x in args] for _ in range(2))
    result = op(*given)
    with FakeTensorMode() as mode:
        said = op(*map(mode.from_tensor, copies))
    declared = [argument.alias_info for argument in op._schema.arguments]
    returned = op._schema.returns[0].alias_info

    def aliases(x, info):
        shared = result.untyped_storage().data_ptr() == x.untyped_storage().data_ptr()
        return shared and not (info and returned and info.before_set & returned.before_set)

    def writes(x, now, info):
        same = now.isclose(x, rtol=0, atol=0, equal_nan=True).all()
        return not same and not (info and info.is_write)

    clauses = {
        "aliases": any(map(aliases, given, declared)),
        "dtype": said.dtype != result.dtype,
        "sizes": said.shape != result.shape,
        "strides": said.shape == result.shape and said.stride() != result.stride(),
        "writes": any(map(writes, args, given, declared)),
    }
    return [name for name, broken in clauses.items() if broken]


def register_whiten(namespace: str) -> None:
    """Register the operator `whiten(x, mean, momentum)` in a namespace, with a schema and a fake kernel that are true.

    The kernel first moves the running mean towards the mean over the rows: `mean.lerp_(x.mean(0), momentum)`. Its result is
    `(x - mean).t()`, in new memory: the sizes are (columns, rows), and the strides are those of `t()`. `x` is only read. Without
    data, the strides are the same, except in dimensions of size 1.

    A compiled program gives the same results as the operator alone, and leaves the same `mean`, also if it does not use the result.

    The fake kernel writes to no argument. A kernel that also runs on tensors without data needs no fake kernel.

    Args:
        namespace: a name in which no operator is registered yet. Afterwards, `torch.ops.<namespace>.whiten` is the operator. `x`
            is floating, (rows, columns), with any strides, also of 0, and has at least one element. `mean` is (columns,), of the
            same dtype. `momentum` is a float.
    """

    def kernel(x, mean, momentum):
        mean.lerp_(x.mean(0), momentum)
        return (x - mean).t()

    schema = "(Tensor x, Tensor(a!) mean, float momentum) -> Tensor"
    op = torch.library.custom_op(f"{namespace}::whiten", kernel, mutates_args=("mean",), schema=schema)
    op.register_fake(lambda x, mean, momentum: (x - mean).t())


# A check for a function of the framework -----------------------------------------------------------------------------


def check_eliminate_dead_code() -> tuple[Callable, list[dict]]:
    """A check for `rl.fx.passes.eliminate_dead_code`: a program, and the cases to run it on.

    `program(xp, **case)` runs on rushlight and on torch, where the function is a method of graphs, `graph.eliminate_dead_code`, as
    in rushlight. If the results differ on a case, the function is wrong.

    Define the program inside this function. It uses `xp`, its parameters, its own variables, and no import. For all bodies together
    it may take a minute.
    Of Python's functions it may use `abs`, `all`, `any`, `bool`, `dict`, `enumerate`, `float`, `int`, `len`, `list`, `map`, `max`,
    `min`, `range`, `reversed`, `round`, `set`, `slice`, `sorted`, `str`, `sum`, `tuple` and `zip`, and it may catch errors. In a
    case a dtype is a name, and the program looks it up: `{"float64": xp.float64}[dtype]`.

    Returns:
        two values: the program, and a list of at most 40 cases. A case is a dict of plain data (numbers, strings, bools,
        None, lists, dicts), with the arguments of the program by their names.
    """

    def program(xp, calls, returned, keep=None, swapped=False):
        graph = xp.fx.Graph()
        nodes = [graph.placeholder("x"), graph.placeholder("y")]
        targets = {"neg": xp.neg, "rand_like": xp.rand_like, "add_": xp.ops.aten.add_.Tensor}
        for name, *used in calls:
            if name == "weight":
                nodes.append(graph.get_attr("weight"))
            else:
                nodes.append(graph.call_function(targets[name], tuple(nodes[i] for i in used)))
        graph.output(nodes[returned])
        if swapped:
            nodes[2].append(nodes[1])
            nodes[3].append(nodes[2])
        decide = None if keep is None else lambda node: node.op in keep
        changed = [graph.eliminate_dead_code(decide) for i in range(2)]
        return changed, [node.op + " " + str(node) for node in graph.nodes]

    chain = [["neg", 0], ["neg", 2], ["neg", 0]]
    effects = [["add_", 0, 1], ["rand_like", 0], ["weight"], ["neg", 1]]
    ways = [
        {"calls": calls, "returned": 2, "keep": keep} for calls in (chain, effects) for keep in (None, [], ["output"])
    ]
    return program, [*ways, {"calls": chain, "returned": 4}, {"calls": chain, "returned": 3, "swapped": True}]


# Further cases -------------------------------------------------------------------------------------------------------


def narrow_3(xp: Any) -> Any:
    """A program that shows the fault of patient 13c.3.

    It has at most 4 statements (a lambda is one) and calls at most 6 operators. The rules are those of `narrow_1`. Without a
    backend, `xp.compile` uses Inductor.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """
    x = xp.arange(4.0)
    xp.compile(lambda x: x.copy_(x.flip(0)))(x)
    return x


def mend_3() -> tuple[str, Callable]:
    """A sound function for patient 13c.3.

    Returns:
        two values: the name of the function at fault, and your function, which is defined inside this one.
    """
    from rushlight.inductor.dependencies import extract_read_writes

    def can_fuse(first, second):
        first_reads, first_write = extract_read_writes(first)
        second_reads, second_write = extract_read_writes(second)
        if first_write.buffer == second_write.buffer:
            return False
        forth = all(read == first_write for read in second_reads if read.buffer == first_write.buffer)
        return forth and all(read == second_write for read in first_reads if read.buffer == second_write.buffer)

    return "inductor.scheduler.can_fuse", can_fuse


def narrow_5(xp: Any) -> Any:
    """A program that shows the fault of patient 13c.5.

    It has at most 5 statements (a lambda is one) and calls at most 8 operators. `xp` is torch, and
    `xp.fused_linear(x, weight, bias=None, activation="none")` is the operator of the framework. On torch it is made of torch's
    operators, which count. `autograd.grad` and `backward` count as one operator each, and what they run does not count. The other
    rules are those of `narrow_1`.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """
    x = xp.ones(1, 1, requires_grad=True)
    (slope,) = xp.autograd.grad(xp.fused_linear(x, x, None, "tanh"), x, create_graph=True)
    return xp.autograd.grad(slope, x)


def name_5() -> list[str]:
    """The function at fault in patient 13c.5.

    Returns:
        a list with one name, or with two if your first guess was wrong: the first guess stays first. A string counts as a list with
        one name. A name is the path of the function below `rl`, such as `"on_torch.custom_ops.schema_type"`.
    """
    return ["on_torch.custom_ops.fused_linear_setup_context"]


def mend_5() -> tuple[str, Callable]:
    """A sound function for patient 13c.5.

    Returns:
        two values: the name of the function at fault, and your function, which is defined inside this one.
    """

    def fused_linear_setup_context(ctx, inputs, output):
        x, weight, bias, activation = inputs
        needs_x, needs_weight, *_ = ctx.needs_input_grad
        again = activation == "gelu"
        ctx.save_for_backward(
            x if needs_weight or again else None,
            weight if needs_x or again else None,
            bias if again else None,
            output if activation in ("relu", "tanh") else None,
        )
        ctx.activation = activation

    return "on_torch.custom_ops.fused_linear_setup_context", fused_linear_setup_context


def guarded(function: Callable, first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    """The arguments that make `torch.compile` compile a function again.

    An argument is one of them if this happens: Dynamo starts anew and compiles `function(**first)`. Then a second call, in which
    only this argument has its value from `second`, compiles again. The values are the objects of the dicts, not copies: two
    arguments may be one list. Dynamo's settings are the usual ones, and stay so.

        >>> guarded(lambda x, n, note: x * n, dict(x=torch.ones(2), n=3, note="a"), dict(x=torch.zeros(2), n=4, note="b"))
        ['n']

    Args:
        function: a Python function whose graph does not break. Each call of it calls an operator, because Dynamo gives a backend no
            graph without operators. Its parameters may be in another order than in `first`, or be keyword-only. It may have any
            number of them.
        first, second: the arguments by name, the same names in both. Both dicts and what they hold are only read, so nothing is
            written to them, also not for a time.

    Returns:
        the names, in the order of `first`.
    """
    compilations = []

    def backend(module, inputs):
        compilations.append(module)
        return module.forward

    names = []
    for name in first:
        torch._dynamo.reset()
        compiled = torch.compile(function, backend=backend)
        compiled(**first)
        before = len(compilations)
        compiled(**first | {name: second[name]})
        if len(compilations) > before:
            names.append(name)
    torch._dynamo.reset()
    return names


def warmup(steps: int) -> torch.nn.Module:
    """A module that multiplies its input by a factor that grows from call to call, and that is compiled once.

    The n-th call of a module, counted from 1, returns `x * min(1, n / steps)`, of the dtype of `x`. All calls count, also in eval
    mode and beyond `steps`. The state dict has one entry, a tensor whose only element is the number of calls. A module that loads
    it goes on counting, also one with other `steps`. The count is exact up to 2**53. The module has no parameters. The gradient
    flows through the product to `x`.

    `torch.compile(module, fullgraph=True)` compiles once for all calls with inputs of one size. No setting of Dynamo is changed.

    Args:
        steps: at least 1.

    Returns:
        a new module, which counts its own calls. `module(x)` takes a floating tensor of any sizes, which is only read. The factor
        is as exact as the dtype of `x`.
    """

    class Warmup(torch.nn.Module):
        calls: torch.Tensor

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.calls += 1
            return (x * (self.calls / steps).clamp(max=1)).to(x.dtype)

    module = Warmup()
    module.register_buffer("calls", torch.zeros((), dtype=torch.float64))
    return module


# A test of what a compiler writes ------------------------------------------------------------------------------------


def dump_test(FileCheck: Any) -> Any:
    """A FileCheck test of the code that Inductor writes for `chain`:

        def chain(x, w, b, v, u):
            h = softmax(linear(x, w, b), -1)
            return relu((h @ v) @ u) * 2

    The test accepts the dump of a right compiler, for all sizes and dtypes. The graph may also do other work, in a kernel
    `cpp_fused_exp_sum_…` that runs before the softmax or after the second product. So the numbers of kernels and buffers differ.
    The test refuses the dumps of compilers that break one of these rules:

    - The bias and the softmax are one kernel, `cpp_fused__softmax_addmm_…`, and relu and the doubling are another one,
        `cpp_fused_mul_relu_…`. No further kernel does this work, and Python computes nothing.
    - The first of these kernels stores one result and nothing else, and nothing is cast in it.
    - Each of these kernels writes in place: its result reuses the memory that it reads.
    - The products read what the operators before them have written, without a copy in between.
    - The second product reuses the memory of the softmax, which is free then.

    A dump has the definitions of the kernels, then the function `segment_0`, which calls them, and then `call`. The test uses its
    parameter and its own variables. The class has the methods `check`, `check_not`, `check_next`, `check_same`, `check_dag`,
    `check_count` and `check_regex`.

    Args:
        FileCheck: the class `torch.testing.FileCheck`.

    Returns:
        a `FileCheck()` with checks. It is run on many dumps.
    """
    test = FileCheck()
    test.check("static int64_t cpp_fused__softmax_addmm_").check_not("out_ptr1").check_not("static_cast")
    test.check_not("cpp_fused__softmax_").check_not("cpp_fused_relu_")
    test.check("// reuse").check_next("cpp_fused__softmax_addmm_")
    test.check("blas(").check_next("// reuse").check_next("blas(")
    return test.check("// reuse").check_next("cpp_fused_mul_relu_")
