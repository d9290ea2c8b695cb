"""Models as data: a model is a list of lines, and each line computes one more value. Their graphs as plain data."""

from __future__ import annotations

import logging
import re
import warnings
from functools import cache
from importlib import import_module

from ..cases import entries, is_torch

LINES = {  # m is the model, i the number of the line, F is nn.functional; x and y are earlier values, 2 by 4
    "linear": "m.linears[i](x)", "linear relu": "m.relu(m.linears[i](x))", "linear F.relu": "F.relu(m.linears[i](x))",
    "linear bn": "m.norms[i](m.linears[i](x))",
    "conv": "m.convs[i](x.view(1, 1, 2, 4)).view(2, 4)", "conv bn": "m.norms2d[i](m.convs[i](x.view(1, 1, 2, 4))).view(2, 4)",
    "conv bn relu": "F.relu(m.norms2d[i](m.convs[i](x.view(1, 1, 2, 4)))).view(2, 4)", "x + y": "x + y", "x + 1": "x + 1",
    "2 * x": "2 * x", "x * y": "x * y", "xp.add": "xp.add(input=x, other=y)", "relu of x + y": "F.relu(x + y)",
    "relu of x * y": "m.relu(x * y)", "xp.relu of x + y": "xp.relu(xp.add(x, y))", "relu of x + 1": "F.relu(x + 1)",
    "relu": "m.relu(x)", "F.relu": "F.relu(x)", "x.relu()": "x.relu()", "xp.relu": "xp.relu(x)", "cat": "xp.cat([x, y, x])[:2]",
    "transpose": "x.transpose(0, 1).transpose(0, 1)", "flatten": "xp.flatten(x).reshape(2, 4)", "view": "x.view(x.size(0), -1)",
    "shape": "x.reshape(x.shape[0], 4)", "mean": "x.mean(0, keepdim=True) + y", "clamp": "xp.clamp(x, -0.5, 0.5)", "neg": "-x",
    "x - y": "x - y", "abs": "xp.abs(x)", "identity": "m.identity(x)", "dropout": "m.dropout(x)", "bias": "x + m.linears[i].bias",
    "unused": "(xp.abs(x), x)[1]",
    "sum of itself": "x + x", "bn": "m.norms2d[i](x.view(1, 1, 2, 4)).view(2, 4)",
    "bn relu": "m.relu(m.norms2d[i](x.view(1, 1, 2, 4))).view(2, 4)",
    "conv of two users, bn F.relu": "(lambda c: F.relu(m.norms2d[i](c)) + c)(m.convs[i](x.view(1, 1, 2, 4))).view(2, 4)",
    "linear of two users, bn relu": "(lambda c: m.relu(m.norms[i](c)) + c)(m.linears[i](x))",
}  # fmt: skip
FIRST_AND_SECOND = [0, 1]


def model_of(xp, lines, returned=None):
    """The model in evaluation mode. Its numbers are multiples of 1/8, so that sums are exact in any order."""
    count, functional = max(1, len(lines)), xp.nn.functional

    class Model(xp.nn.Module):
        def __init__(self):
            super().__init__()
            several = lambda make: xp.nn.ModuleList([make() for _ in range(count)])  # noqa: E731
            self.linears, self.norms = several(lambda: xp.nn.Linear(4, 4)), several(lambda: xp.nn.BatchNorm1d(4, 0.0))
            self.convs, self.norms2d = (
                several(lambda: xp.nn.Conv2d(1, 1, 1)),
                several(lambda: xp.nn.BatchNorm2d(1, 0.0)),
            )
            self.relu, self.identity, self.dropout = xp.nn.ReLU(), xp.nn.Identity(), xp.nn.Dropout()

        def forward(self, x, y):
            values, names = [x, y], {"m": self, "xp": xp, "F": functional}
            for i, (name, left, right) in enumerate(lines):
                inputs = {"x": values[left % len(values)], "y": values[right % len(values)], "i": i}
                values.append(eval(LINES[name], names | inputs))
            return values[-1] if returned is None else [values[index % len(values)] for index in returned]

    model = Model().eval()
    with xp.no_grad():
        for i, parameter in enumerate(model.parameters()):
            parameter.copy_(((xp.arange(parameter.numel()) * 7 + 3 * i) % 11).reshape(parameter.shape) * 0.125 - 0.5)
        for i, (name, buffer) in enumerate(model.named_buffers()):
            if name.endswith("var"):
                buffer.copy_(4.0 ** ((xp.arange(buffer.numel()) + i) % 3 - 1).reshape(buffer.shape))
            elif name.endswith("mean"):
                buffer.copy_(((xp.arange(buffer.numel()) * 5 + i) % 7).reshape(buffer.shape) * 0.25 - 0.5)
    return model


def inputs_of(xp):
    x = ((xp.arange(8) * 5) % 8).reshape(2, 4).to(xp.float32) * 0.25 - 1
    return x, ((xp.arange(8) * 3) % 8).reshape(2, 4).to(xp.float32) * -0.125 + 0.75


def quantize_fx(xp):
    """The module `ao.quantization.quantize_fx` of a framework. torch's tells that it is deprecated."""
    if is_torch(xp):
        warnings.filterwarnings("ignore")
        logging.getLogger("torch.ao.quantization").setLevel(logging.ERROR)
    return import_module(f"{xp.__name__}.ao.quantization.quantize_fx")


@cache
def _backend_config():
    quantize_fx(import_module("torch"))
    return import_module("torch.ao.quantization.backend_config").get_native_backend_config()


def prepared(xp, model, settings):
    """The model with observers. `settings`: the least and the greatest integer, whether each row of a weight has a scale, the names
    of floating-point modules, and those of modules with a moving average."""
    fx, ao = quantize_fx(xp), import_module(f"{xp.__name__}.ao.quantization")
    least, most, channels, floating, moving = settings
    int8, observer = (xp.qint8 if is_torch(xp) else xp.int8), ao.MinMaxObserver
    by_row = {"dtype": int8, "qscheme": xp.per_channel_symmetric}
    of_weight = ao.PerChannelMinMaxObserver.with_args(**by_row)
    if not channels:
        of_weight = observer.with_args(dtype=int8, qscheme=xp.per_tensor_symmetric)
    of_values = observer.with_args(quant_min=least, quant_max=most)
    mapping = ao.QConfigMapping().set_global(ao.QConfig(activation=of_values, weight=of_weight))
    average = ao.MovingAverageMinMaxObserver.with_args(quant_min=least, quant_max=most)
    for name in moving:
        mapping.set_module_name(name, ao.QConfig(activation=average, weight=of_weight))
    for name in floating:
        mapping.set_module_name(name, None)
    options = {"backend_config": _backend_config()} if is_torch(xp) else {}
    return fx.prepare_fx(model, mapping, inputs_of(xp), **options)


def drawn_settings(st):
    floating = st.lists(st.sampled_from(["linears.0", "linears.1", "convs"]), max_size=1)
    moving = st.one_of(st.just([]), st.just([]), st.just(["linears.0"]), st.just(["linears.2"]))
    return st.tuples(st.just(0), st.sampled_from([127, 255]), st.booleans(), floating, moving).map(list)


def drawn_lines(st, most=5):
    index = st.integers(0, 9)
    return st.lists(st.tuples(st.sampled_from([*LINES]), index, index).map(list), min_size=1, max_size=most)


USUAL = [0, 127, False, [], []]


def graph_of(model):
    """The call and the inputs of each node of a graph, by its name. Observers that are one object have one number."""
    modules, numbers = dict(model.named_modules(remove_duplicate=False)), {}
    return {node.name: _described(node, modules, numbers) for node in model.graph.nodes}


def _described(node, modules, numbers):
    called = node.target if isinstance(node.target, str) else node.target.__name__
    what = f"{node.op} {called}"
    if node.op == "call_module":
        module = modules[node.target]
        classes = [type(child).__name__ for child in (module, *module.children())]
        what = f"{node.target}, {' of '.join([classes[0], ', '.join(classes[1:])][: len(classes)])}"
        if "Observer" in classes[0]:
            what = f"observer {numbers.setdefault(id(module), len(numbers))}, a {classes[0]}"
    kwargs = str(node.kwargs) if node.kwargs else ""
    return f"{what}, reads {_plain(node.args)} {kwargs}".rstrip().replace("rushlight", "torch")


def first_node_apart(case, mine, theirs):
    """A hint: the first two nodes that differ, in the order of the graphs."""
    if entries(mine, theirs) is None:
        return None
    both = [[f"{name}: {what}" for name, what in tree["dict"]] for tree in (mine, theirs)]
    at = next((i for i, (one, other) in enumerate(zip(*both)) if one != other), min(map(len, both)))
    one, other = (lines[at] if at < len(lines) else "no node" for lines in both)
    return f"the first node that differs is number {at + 1}. Yours is\n{one}\nand torch's is\n{other}"


def shown(torch, lines, settings, returned=None, signed=False):
    """A case as code: the model's `forward`, and the settings in words."""
    names, text = ["x", "y"], ["def forward(m, x, y):"]
    for i, (line, left, right) in enumerate(lines):
        inputs = {"x": names[left % len(names)], "y": names[right % len(names)], "i": str(i)}
        text.append(
            f"    v{i} = " + re.sub("[a-z0-9_]+", lambda word, inputs=inputs: inputs.get(word[0], word[0]), LINES[line])
        )
        names.append(f"v{i}")
    results = names[-1] if returned is None else f"[{', '.join(names[index % len(names)] for index in returned)}]"
    least, most, channels, floating, moving = settings
    text += [f"    return {results}", f"# activations are integers {least} ... {most}"]
    text += [f"# {'each row' if channels else 'all'} of a weight has one scale"]
    text += [f"# m.{name} has no qconfig" for name in floating] + [f"# m.{name} has moving averages" for name in moving]
    text += ["# activation_post_process_0 has int8, -100 ... 90"] if signed else []
    return "\n".join(text)


def _plain(arg):
    return arg if isinstance(arg, int | float) else str(arg).replace("rushlight", "torch").replace("qu", "")
