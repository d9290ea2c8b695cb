"""Shared by the checks of labs 07b, 07c and 08b: functions as text for Dynamo, records of their captures, and who writes a log.

Both frameworks define the function of a case and capture it. A check compares the graphs of each call, and the results.
"""

from __future__ import annotations

import contextlib
import io
import logging
import os
from collections.abc import Iterator

from .cases import define, dynamo_of


def shown(gm):
    """Each operation of a graph: its name, and its arguments, with nodes by their indices."""
    indices, calls = {}, []

    def argument(value):
        if value in indices if type(value).__hash__ and type(value).__name__ == "Node" else False:
            return f"%{indices[value]}"
        if isinstance(value, (list, tuple)):
            return [argument(item) for item in value]
        return str(value).replace("torch.", "").replace("rushlight.", "")

    for node in gm.graph.nodes:
        indices[node] = len(indices)
        target = node.target if isinstance(node.target, str) else node.target.__name__
        if node.op == "placeholder":
            calls.append([target, []])
        elif node.op != "output":
            named = [f"{key}={argument(value)}" for key, value in node.kwargs.items()]
            calls.append([target, [*argument(node.args), *named]])
    return calls


def captured(xp, function, calls):
    """Call a compiled function several times: for each call its result, and the graphs that are new."""
    graphs, runs = [], []

    def collect(gm, example_inputs):
        graphs.append(shown(gm))
        return gm.forward

    dynamo_of(xp).reset()
    compiled = xp.compile(function, backend=collect, dynamic=False)
    for args in calls:
        result = result_or_raises(compiled, args)
        graphs_shown = [] if isinstance(result, str) else list(graphs)  # torch runs a function that raises in Python
        runs.append({"result": result, "graphs": graphs_shown})
        graphs.clear()
    dynamo_of(xp).reset()
    return runs


def result_or_raises(function, args):
    """The result of a call, or "raises": the type of the error depends on the step that finds it first."""
    try:
        return function(*args)
    except (RuntimeError, ValueError, TypeError, LookupError, AttributeError) as error:
        if isinstance(error, RecursionError) or isinstance(error, NotImplementedError) and not error.args:
            raise  # a piece that is not written yet
        return "raises"


def calls_of(xp, text, calls):
    """Calls of a compiled function of two tensors, a number and a list, each with a size and a number."""
    log, arguments = [], []
    for size, k in calls:
        arguments.append([xp.arange(float(size)), xp.ones(size), k, log])
    return {"calls": captured(xp, define(xp, text), arguments), "log": log}


# Texts ---------------------------------------------------------------------------------------------------------------


LINES = [  # x and y are tensors of the same size n, k is a number, log a list
    "x = x * {c} + y", "x = xp.relu(x - {c})", "y = (x + y).sin()", "x = -x if k > {c} else x.abs()", "k = k + {c}",
    "x = x + k", "log.append(k)", "s = f'{{k}}-{{x.dim()}}'\nx = x * len(s)", "for i in range({c}):\n    x = x * i + y",
    "for i, v in enumerate([x, y]):\n    if i == {c}:\n        continue\n    x = x + v * i",
    "items = [v * {c} for v in (x, y)]\nx = items[0] + items[-1]",
    "parts = {{'a': x, 'b': y}}\nparts['c'] = parts.pop('a') + {c}\nx = parts['b'] * parts['c']",
    "def inner(v, w=y):\n    return v * w + k\nx = inner(x) + inner(y, x)", "x = (lambda v: v + {c})(x)",
    "if x.shape[0] > {c}:\n    x = x[1:].sum() + x\nelse:\n    x = x * 2",
    "n = 0\nwhile n < {c}:\n    n += 1\n    x = x - n", "z = x.clone()\nz[0] = {c}\nz += 1\nx = z",
    "a, *b = (x, y, k)\nx = a + b[0] * b[1]", "x = x + isinstance(k, int) + len((x, k))",
    "try:\n    x = x + [1, 2][k]\nexcept IndexError:\n    x = x * {c}\nfinally:\n    y = y + 1",
    "x = xp.cat([x[:1], y[1:]])", "with xp.no_grad():\n    y = x * {c}\nx = x + y", "x = helper(x, {c})",
]  # fmt: skip
BREAKING_LINES = [
    "graph_break()", "print(end='')", "if x.sum() > {c}:\n    x = x - 1\nelse:\n    x = x + 1",
    "k = k + int(x[0].item() * 0)", "x = breaks(x, {c})", "if (y > 100).any():\n    return y",
]  # fmt: skip
BREAKS = """def breaks(v, n):
    v = v * n
    graph_break()
    return v + n

"""
HELPERS = f"""def helper(v, n):
    if n > 1:
        return v * n
    return v - 1

{BREAKS}"""


def text_of(lines):
    body = "\n".join([*lines, "return x, y, k"])
    return f"{HELPERS}def f(x, y, k, log):\n{indented(body)}\n"


def indented(text):
    return "\n".join(f"    {line}" for line in text.splitlines())


def drawn_texts(lines, most):
    def texts(st):
        statement = st.builds(lambda line, c: line.format(c=c), st.sampled_from(lines), st.integers(0, 3))
        return st.lists(statement, min_size=1, max_size=most).map(text_of)

    return texts


# Texts ---------------------------------------------------------------------------------------------------------------


LONG_FUNCTION = (
    "def f(x):\n"
    + "".join(f"    v{i} = x.a{i} + {1000 + i}\n" for i in range(300))
    + "    while v1:\n        v1 = v299\n    return v0\n"
)


BYTECODE = [
    "def f(x):\n    return x\n", LONG_FUNCTION,
    "def f(x):\n    while x:\n" + "        x = x.a + 1\n" * 40 + "    return x\n",  # jumps of more than 255 units
    "def f(x, a, b, c, d):\n    g = (lambda: b, lambda: c)\n    if x:\n        del b, d\n        return c\n    return lambda: a\n",
    "def f(x, y):\n    del x\n    return y\n",
    "def f(a, b=1, *c, d=2, **e):\n    return g(a, *c, d=d, **e)[1:b] if a is None else not b\n",
    "def f(x):\n    with x as y, y:\n        return [z for z in y if z not in x]\n",
    "def f(x):\n    n = 1\n    def g():\n        nonlocal n\n        n += x\n        return n\n    del x\n    return g, n\n",
    "def f(x):\n    try:\n        y = x.z\n    except (ValueError, g) as e:\n        raise h from e\n"
    "    else:\n        z = y\n    finally:\n        w = x\n    return z, w\n",
    "def f(x):\n    for i in x:\n        if i:\n            break\n        y = i\n    else:\n        y = 2\n    return y\n",
    "def f(x):\n    yield x\n    z = yield from g(x)\n    return z\n",
    "def f(x, y):\n    if x:\n        z = y\n    return z\n",
    "def f(x):\n    y = 1\n    try:\n        y = g(x)\n        z = h(y)\n    except E:\n        return y\n    return z\n",
    "def f(x, a, b, c, d, e):\n    if x:\n        if a:\n            y = b\n        else:\n            y = c\n        return y\n    return (lambda: 1) if x.y else (d if x.z else e)\n",  # noqa: E501
    "def f(x, y):\n    try:\n        (a,\n         y) = x\n    except E:\n        return y\n    return a\n",
    "def f(x, y):\n    z = x.y\n    w = x.z\n    return y, z\n",
    "def f(x, y, z):\n    a = x and y or z\n    b = x < y < z\n    return a is not None, b\n",
]  # fmt: skip


# Who writes a line of a log -----------------------------------------------------------------------------------------


def place(torch, path: str, function: str) -> str:
    """A file from `torch/` on, and the name of a function in it."""
    return f"{os.path.relpath(path, os.path.dirname(os.path.dirname(torch.__file__))).replace(os.sep, '/')} {function}"


@contextlib.contextmanager
def messages(torch, *artifacts: str, **levels: int) -> Iterator[list[tuple[str, str, str]]]:
    """For each message that torch logs within: the log, the text, and the file and the function that logged it."""
    found = []

    class Keep(logging.Handler):
        def emit(self, record):
            log = record.name.rpartition(".__")[2] if ".__" in record.name else "dynamic"
            found.append((log, record.getMessage().lstrip(), place(torch, record.pathname, record.funcName)))

    torch._dynamo.reset()
    torch._logging.set_logs(**levels, **dict.fromkeys(artifacts, True))
    names = [name for name in logging.root.manager.loggerDict if name.startswith("torch")]
    kept = [(logger, logger.handlers, logger.propagate) for logger in map(logging.getLogger, names)]
    try:
        for logger, _, _ in kept:
            logger.handlers, logger.propagate = [Keep()], False
        with contextlib.redirect_stdout(io.StringIO()):
            yield found
    finally:
        for logger, handlers, propagates in kept:
            logger.handlers, logger.propagate = handlers, propagates
        torch._logging.set_logs()
        torch._dynamo.reset()
