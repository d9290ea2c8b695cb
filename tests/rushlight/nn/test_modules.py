"""Modules register, list, call, convert, save and load as torch's do: the same programs run on both."""

import copy
import pickle
from collections import OrderedDict

import pytest
import torch
from both import FRAMEWORKS, agree, outcome
from sweep import in_one_test

import rushlight as rl


def scale(xp):
    """A class of modules with a parameter, two buffers, one that is not saved, and a plain attribute."""

    class Scale(xp.nn.Module):
        def __init__(self, n=2):
            super().__init__()
            self.weight = xp.nn.Parameter(xp.arange(float(n)))
            self.register_buffer("offset", xp.ones(n))
            self.register_buffer("cache", xp.zeros(n), persistent=False)
            self.register_parameter("nothing", None)
            self.plain = xp.ones(n)

        def forward(self, x, factor=1.0):
            return x * self.weight * factor + self.offset

    return Scale


def tree(xp):
    """A module of modules. One parameter and one module are in it twice."""

    class Tree(xp.nn.Module):
        def __init__(self):
            super().__init__()
            self.a = scale(xp)()
            self.b = scale(xp)()
            self.b.weight = self.a.weight
            self.again = self.a
            self.empty = None
            self.add_module("missing", None)

        def forward(self, x):
            return self.b(self.a(x))

    return Tree()


def names(pairs):
    return [name for name, _ in pairs]


def kept(module):
    return (
        list(module._parameters),
        list(module._buffers),
        list(module._modules),
        sorted(module._non_persistent_buffers_set),
        sorted(name for name in module.__dict__ if not name.startswith("_")),
    )


VALUES = {
    "parameter": lambda xp: xp.nn.Parameter(xp.ones(1)),
    "tensor": lambda xp: xp.ones(1),
    "module": lambda xp: xp.nn.Module(),
    "buffer": lambda xp: xp.nn.Buffer(xp.ones(1), persistent=False),
    "none": lambda xp: None,
    "number": lambda xp: 3,
    "computed": lambda xp: xp.nn.Parameter(xp.ones(1)) * 2,
}


# ------------------------------------------------------------------------------------------------------------
# Parameters


@pytest.mark.parametrize(
    "program",
    [
        lambda xp, p: [
            type(x).__name__ for x in (p, p * 2, 2 * p, p.detach(), p.data, p.clone(), p[0], p.sum(), p.float())
        ],
        lambda xp, p: repr(p),
        lambda xp, p: repr(xp.nn.Parameter()),
        lambda xp, p: repr(xp.nn.Parameter(xp.ones(2), requires_grad=False)),
        lambda xp, p: xp.nn.Parameter(xp.tensor([1, 2])),
        lambda xp, p: xp.nn.Parameter(xp.tensor([1, 2]), requires_grad=False),
        lambda xp, p: [p.is_leaf, p.requires_grad, p.grad],
        lambda xp, p: [(p * p).sum().backward(), p.grad],
        lambda xp, p: [type(copy.deepcopy(p)).__name__, copy.deepcopy(p)],
        lambda xp, p: [type(pickle.loads(pickle.dumps(p))).__name__, pickle.loads(pickle.dumps(p))],
        lambda xp, p: isinstance(xp.nn.Buffer(xp.ones(2)), xp.nn.Buffer),
        lambda xp, p: [isinstance(xp.ones(2), xp.nn.Buffer), type(xp.nn.Buffer(xp.ones(2))).__name__],
        lambda xp, p: xp.nn.parameter.is_lazy(p),
    ],
)
def test_a_parameter_is_a_leaf_and_operators_on_it_give_plain_tensors(program):
    agree(lambda xp: program(xp, xp.nn.Parameter(xp.tensor([1.0, 2.0]))))


def test_a_parameter_shares_the_memory_it_is_made_of():
    def program(xp):
        data = xp.zeros(3)
        parameter = xp.nn.Parameter(data)
        data[0] = 5.0
        return parameter, parameter.data_ptr() == data.data_ptr()

    agree(program)


@pytest.mark.parametrize(
    "program",
    [
        lambda xp, p: [setattr(p, "data", xp.zeros(2, 2, dtype=xp.float64)), p, (p * p).sum().backward(), p.grad],
        lambda xp, p: [p.data.add_(1), p, p._version],
        lambda xp, p: [p.data.requires_grad, p.data.is_leaf],
        lambda xp, p: setattr(p, "data", xp.tensor([1])),
        lambda xp, p: [(p * 2).sum().backward(), setattr(p, "data", xp.ones(3)), (p * 2).sum(), p.grad],
        lambda xp, p: [y := p * p, p.data.mul_(2), y.sum().backward(), p.grad],
    ],
)
def test_data_is_the_memory_without_what_autograd_knows(program):
    agree(lambda xp: program(xp, xp.nn.Parameter(xp.tensor([1.0, 2.0]))))


# ------------------------------------------------------------------------------------------------------------
# Registration


@in_one_test
@pytest.mark.parametrize("second", VALUES)
@pytest.mark.parametrize("first", [*VALUES, "registered"])
@pytest.mark.parametrize("how", ["setattr", "register_buffer", "register_parameter", "add_module"])
def test_what_is_assigned_over_what_is_sorted_as_torch_sorts_it(how, first, second):
    def program(xp):
        module = xp.nn.Module()
        if first == "registered":
            module.register_buffer("x", xp.ones(1), persistent=False)
        else:
            module.x = VALUES[first](xp)
        if how == "setattr":
            module.x = VALUES[second](xp)
        else:
            getattr(module, how)("x", VALUES[second](xp))
        return kept(module)

    agree(program)


@in_one_test
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("how", ["setattr", "register_buffer", "register_parameter", "add_module"])
def test_nothing_is_registered_before_init_has_run(how, value):
    def program(xp):
        module = xp.nn.Module.__new__(xp.nn.Module)
        setattr(module, "x", VALUES[value](xp)) if how == "setattr" else getattr(module, how)("x", VALUES[value](xp))
        return sorted(module.__dict__)

    agree(program)


@in_one_test
@pytest.mark.parametrize("name", ["", "a.b", 3, "forward", "x"])
@pytest.mark.parametrize(
    "how, value", [("register_buffer", "tensor"), ("register_parameter", "parameter"), ("add_module", "module")]
)
def test_a_name_is_refused_where_torch_refuses_it(how, value, name):
    agree(lambda xp: kept([module := xp.nn.Module(), getattr(module, how)(name, VALUES[value](xp))][0]))


@pytest.mark.parametrize(
    "program",
    [
        lambda xp, m: delattr(m, "weight") or kept(m),
        lambda xp, m: delattr(m, "cache") or kept(m),
        lambda xp, m: delattr(m, "plain") or kept(m),
        lambda xp, m: delattr(m, "nosuch"),
        lambda xp, m: m.nosuch,
        lambda xp, m: [m.nothing, m.weight, m.offset, hasattr(m, "nosuch")],
        lambda xp, m: [name for name in dir(m) if name in ("weight", "cache", "forward", "plain")],
        lambda xp, m: setattr(m, "cache", xp.nn.Buffer(xp.ones(1))) or kept(m),
        lambda xp, m: setattr(m, "offset", None) or [kept(m), list(m.state_dict())],
    ],
)
def test_attributes_are_found_and_deleted_as_torchs(program):
    agree(lambda xp: program(xp, scale(xp)()))


def test_the_message_for_an_attribute_that_is_missing_is_torchs():
    for xp in FRAMEWORKS:
        with pytest.raises(AttributeError, match="'Identity' object has no attribute 'x'"):
            _ = xp.nn.Identity().x


# ------------------------------------------------------------------------------------------------------------
# Listing


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda m: names(m.named_modules()),
        lambda m: names(m.named_modules(prefix="p")),
        lambda m: names(m.named_modules(remove_duplicate=False)),
        lambda m: names(m.named_modules(memo={m.a})),
        lambda m: names(m.named_children()),
        lambda m: names(m.named_parameters()),
        lambda m: names(m.named_parameters(prefix="p", remove_duplicate=False)),
        lambda m: names(m.named_parameters(recurse=False)),
        lambda m: names(m.a.named_parameters("p", False)),
        lambda m: names(m.named_buffers()),
        lambda m: names(m.named_buffers(remove_duplicate=False)),
        lambda m: [len(list(m.modules())), len(list(m.children())), len(list(m.parameters())), len(list(m.buffers()))],
        lambda m: type(m.named_parameters()).__name__,
        lambda m: m.get_submodule("a") is m.a,
        lambda m: m.get_submodule("") is m,
        lambda m: m.get_submodule("a.b"),
        lambda m: m.get_submodule("a.weight"),
        lambda m: m.get_parameter("a.weight"),
        lambda m: m.get_parameter("a.offset"),
        lambda m: m.get_parameter("a.nosuch"),
        lambda m: [order := [], m.apply(lambda each: order.append(type(each).__name__)), order][2],
    ],
)
def test_lists_are_torchs(program):
    agree(lambda xp: program(tree(xp)))


@pytest.mark.parametrize("make", [tree, lambda xp: scale(xp)(), lambda xp: xp.nn.Sequential(tree(xp), scale(xp)())])
def test_what_is_shown_is_what_torch_shows(make):
    agree(make)


def test_lines_of_a_modules_own_are_shown_as_torch_shows_them():
    def program(xp):
        class Odd(xp.nn.Module):
            def extra_repr(self):
                return "one\n\n  two"

        odd = Odd()
        odd.part = Odd()
        return [repr(odd), repr(odd.part)]

    agree(program)


# ------------------------------------------------------------------------------------------------------------
# Calling


HOOKS = {
    "pre, looks": lambda m, log: m.register_forward_pre_hook(lambda module, args: log.append(("pre", args))),
    "pre, changes": lambda m, log: m.register_forward_pre_hook(lambda module, args: args[0] + 1),
    "pre, a tuple": lambda m, log: m.register_forward_pre_hook(lambda module, args: (args[0] * 3,)),
    "pre, kwargs": lambda m, log: m.register_forward_pre_hook(
        lambda module, args, kwargs: log.append((args, kwargs)) or (args, {"factor": 5.0}), with_kwargs=True
    ),
    "pre, kwargs, looks": lambda m, log: m.register_forward_pre_hook(
        lambda module, args, kwargs: log.append((args, kwargs)), with_kwargs=True
    ),
    "pre, kwargs, wrong": lambda m, log: m.register_forward_pre_hook(
        lambda module, args, kwargs: args[0], with_kwargs=True
    ),
    "pre, first": lambda m, log: m.register_forward_pre_hook(lambda module, args: log.append(1), prepend=True),
    "looks": lambda m, log: m.register_forward_hook(lambda module, args, result: log.append((args, result))),
    "changes": lambda m, log: m.register_forward_hook(lambda module, args, result: result * 2),
    "kwargs": lambda m, log: m.register_forward_hook(
        lambda module, args, kwargs, result: log.append((args, kwargs, result)), with_kwargs=True
    ),
    "first": lambda m, log: m.register_forward_hook(lambda module, args, result: result - 1, prepend=True),
    "removed": lambda m, log: m.register_forward_hook(lambda module, args, result: log.append(9)).remove(),
    "back, looks": lambda m, log: m.register_full_backward_hook(lambda module, into, out: log.append((into, out))),
    "back, changes": lambda m, log: m.register_full_backward_hook(lambda module, into, out: (into[0] * 2,)),
    "back, pre": lambda m, log: m.register_full_backward_pre_hook(lambda module, out: (out[0] * 10,)),
    "back, wrong": lambda m, log: m.register_full_backward_hook(lambda module, into, out: (into[0], into[0])),
}


@in_one_test
@pytest.mark.parametrize("second", [None, *HOOKS])
@pytest.mark.parametrize("first", HOOKS)
def test_hooks_run_around_forward_and_backward_as_torchs(first, second):
    def program(xp):
        module, log = scale(xp)(), []
        for name in (first, second):
            if name is not None:
                HOOKS[name](module, log)
        x = xp.tensor([1.0, 2.0], requires_grad=True)
        result = module(x, factor=2.0)
        result.sum().backward()
        return [result, x.grad, module.weight.grad, [list(each) if isinstance(each, tuple) else each for each in log]]

    agree(program)


def test_an_older_backward_hook_gets_the_gradients_of_the_last_node():
    def program(xp):
        model, log = xp.nn.Sequential(xp.nn.Linear(3, 2), xp.nn.Tanh()), []
        for module in (model, model[0]):
            module.register_backward_hook(lambda module, into, out: log.append([type(module).__name__, *into, *out]))
        model[1].register_backward_hook(lambda module, into, out: (into[0] * 2,))
        with xp.no_grad():
            for parameter in model.parameters():
                parameter.fill_(0.5)
        x = xp.ones(1, 3).requires_grad_()
        model(x).sum().backward()
        return [log, x.grad, model[0].weight.grad]

    agree(program)


@pytest.mark.parametrize("needs", [True, False])
def test_backward_hooks_take_arguments_that_are_no_tensors_and_several_results(needs):
    def program(xp):
        class Two(xp.nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = xp.nn.Parameter(xp.ones(2))

            def forward(self, x, n, y):
                return x * self.weight * n, "text", (y * 2).detach()

        module, log = Two(), []
        module.register_full_backward_hook(lambda _, into, out: log.append([list(into), list(out)]))
        x = xp.ones(2).requires_grad_(needs)
        first, text, other = module(x, 3, xp.ones(1))
        first.sum().backward()
        return [log, text, other, x.grad, module.weight.grad]

    agree(program)


@pytest.mark.parametrize(
    "program",
    [
        lambda xp: xp.nn.Module()(1),
        lambda xp: xp.nn.Module(3),
        lambda xp: [xp.nn.Identity(3, a=4)(7), scale(xp)()(xp.ones(2))],
        lambda xp: [m := tree(xp), m.eval(), m.a.training, m.train().b.training][2:],
        lambda xp: tree(xp).train(1),
        lambda xp: [m := tree(xp), m.requires_grad_(False), m.a.weight.requires_grad][2],
    ],
)
def test_calls_and_modes_are_torchs(program):
    agree(program)


# ------------------------------------------------------------------------------------------------------------
# Converting


@pytest.mark.parametrize(
    "convert",
    [
        lambda xp, m: m.double(),
        lambda xp, m: m.half(),
        lambda xp, m: m.double().float(),
        lambda xp, m: m.to(xp.float64),
        lambda xp, m: m.to(dtype=xp.float16),
        lambda xp, m: m.to("cpu"),
        lambda xp, m: m.to("cpu", xp.float64),
        lambda xp, m: m.to(xp.ones(1, dtype=xp.float64)),
        lambda xp, m: m.to(xp.int64),
        lambda xp, m: m.to(3),
        lambda xp, m: m._apply(lambda t: t + 1),
        lambda xp, m: m._apply(lambda t: t + 1, recurse=False),
        lambda xp, m: m._apply(lambda t: t.long()),
    ],
)
def test_a_module_is_converted_in_place_with_its_gradients(convert):
    def program(xp):
        module = tree(xp)
        module.counter = xp.nn.Buffer(xp.tensor(3))
        module(xp.ones(2)).sum().backward()
        before = module.a.weight, module.a.weight.grad, module.a.offset
        result = convert(xp, module)
        after = module.a.weight, module.a.weight.grad, module.a.offset
        same = [a is b for a, b in zip(before, after)]
        tensors = [*module.parameters(), *module.buffers(), module.a.weight.grad]
        module.zero_grad()
        module(xp.ones(2, dtype=module.a.weight.dtype)).sum().backward()
        return [result is module, same, tensors, module.a.weight.grad, module.a.plain]

    agree(program)


def test_moved_to_meta_a_parameter_is_a_new_one():
    def program(xp):
        module = tree(xp)
        module(xp.ones(2)).sum().backward()
        before = module.a.weight
        module.to("meta")
        there = [
            module.a.weight.is_meta,
            module.a.weight is before,
            module.a.weight.requires_grad,
            module.a.weight.grad.is_meta,
        ]
        module.to_empty(device="cpu")
        return [there, module.a.weight.is_meta, module.a.weight.shape]

    agree(program)


@pytest.mark.parametrize("device, kept", [("cuda", True), ("xla", False), ("meta", False), ("privateuseone", False)])
def test_torch_exchanges_the_contents_of_tensors_on_cpu_and_cuda_but_not_of_others(device, kept):
    class There(torch.Tensor):  # a tensor without memory, so that no such device is needed
        __torch_dispatch__ = classmethod(lambda cls, func, types, args=(), kwargs=None: None)

    there = torch.Tensor._make_wrapper_subclass(There, (2,), device=device)
    assert torch._has_compatible_shallow_copy_type(torch.ones(2), there) == kept


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
def test_moved_to_cuda_a_parameter_of_torch_is_kept_with_its_gradient():
    module = torch.nn.Linear(2, 3)
    module(torch.ones(1, 2)).sum().backward()
    before = module.weight, module.weight.grad
    module.to("cuda")
    assert module.weight.is_cuda and module.weight.grad.is_cuda
    assert module.weight is before[0] and module.weight.grad is before[1]


@pytest.mark.parametrize("none", [True, False])
def test_gradients_are_zeroed_as_torch_zeroes_them(none):
    def program(xp):
        module = tree(xp)
        module.zero_grad(none)
        module(xp.ones(2)).sum().backward(create_graph=True)
        module.zero_grad(set_to_none=none)
        grad = module.a.weight.grad
        return [grad, grad is not None and grad.requires_grad]

    agree(program)


# ------------------------------------------------------------------------------------------------------------
# Saving and loading


@pytest.mark.parametrize(
    "program",
    [
        lambda xp, m: [list(m.state_dict()), list(m.state_dict().values())],
        lambda xp, m: list(m.state_dict(prefix="p.")),
        lambda xp, m: [type(m.state_dict()).__name__, m.state_dict()._metadata],
        lambda xp, m: [x.requires_grad for x in m.state_dict(keep_vars=True).values()],
        lambda xp, m: [x.requires_grad for x in m.state_dict().values()],
        lambda xp, m: m.state_dict()["a.weight"].data_ptr() == m.a.weight.data_ptr(),
        lambda xp, m: [kept := {}, m.state_dict(destination=kept) is kept, list(kept)][1:],
    ],
)
def test_a_state_dict_is_torchs(program):
    agree(lambda xp: program(xp, tree(xp)))


LOADS = {
    "as it is": lambda xp, s: s,
    "a plain dict": lambda xp, s: dict(s),
    "other numbers": lambda xp, s: {key: x + 1 for key, x in s.items()},
    "another dtype": lambda xp, s: {key: x.double() + 1 for key, x in s.items()},
    "missing": lambda xp, s: {key: x + 1 for key, x in s.items() if key != "b.offset"},
    "unexpected": lambda xp, s: {
        **s,
        "c": xp.ones(1),
        "a.weight.x": xp.ones(1),
        "nosuch.x": xp.ones(1),
        "a.plain": xp.ones(2),
    },
    "a buffer that is not saved": lambda xp, s: {**s, "a.cache": xp.ones(2)},
    "both, and a size": lambda xp, s: {"a.weight": xp.ones(3), "b.weight": xp.ones(2), "z": xp.ones(1)},
    "sizes": lambda xp, s: {**s, "a.weight": xp.ones(3), "a.offset": xp.ones(2, 1)},
    "no tensor": lambda xp, s: {**s, "a.weight": [1.0, 2.0]},
    "a parameter": lambda xp, s: {**s, "a.weight": xp.nn.Parameter(xp.ones(2), requires_grad=False)},
    "nothing": lambda xp, s: {},
    "no dict": lambda xp, s: list(s.items()),
}


@in_one_test
@pytest.mark.parametrize("assign", [False, True])
@pytest.mark.parametrize("strict", [True, False])
@pytest.mark.parametrize("change", LOADS)
def test_what_is_loaded_and_what_is_refused_are_torchs(change, strict, assign):
    def program(xp):
        module = tree(xp)
        before = module.a.weight
        try:
            result = [repr(module.load_state_dict(LOADS[change](xp, module.state_dict()), strict, assign))]
        except RuntimeError as error:
            result = [str(error) if change not in ("no tensor",) else str(error)[:60]]
        weight = module.a.weight
        return [
            result,
            before is weight,
            weight.requires_grad,
            type(weight).__name__,
            list(module.state_dict().values()),
        ]

    agree(program)


def test_a_tensor_of_one_element_is_loaded_into_one_without_dimensions():
    def program(xp):
        module = xp.nn.Module()
        module.x = xp.nn.Parameter(xp.tensor(1.0))
        return [module.load_state_dict({"x": xp.tensor([5.0])}), module.x]

    agree(program)


def test_a_class_may_save_and_load_in_its_own_way():
    def program(xp):
        class Own(scale(xp)):
            def _save_to_state_dict(self, destination, prefix, keep_vars):
                super()._save_to_state_dict(destination, prefix, keep_vars)
                destination[prefix + "twice"] = self.weight.detach() * 2

            def _load_from_state_dict(self, state_dict, prefix, local_metadata, *rest):
                state_dict[prefix + "weight"] = state_dict.pop(prefix + "twice") / 2
                super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

        module = xp.nn.Sequential(OrderedDict(first=Own(), second=scale(xp)()))
        state = module.state_dict()
        log = []
        module.first.register_load_state_dict_pre_hook(lambda *args: log.append([args[0] is module.first, *args[2:5]]))
        module.first.register_load_state_dict_post_hook(lambda each, keys: log.append(repr(keys)))
        return [list(state), repr(module.load_state_dict(state)), log]

    agree(program)


def test_a_module_is_copied_and_pickled_with_what_it_shares():
    def program(xp):
        module = tree(xp)
        module(xp.ones(2)).sum().backward()
        twin = copy.deepcopy(module)
        shared = twin.a.weight is twin.b.weight and twin.a is twin.again and twin.a.weight is not module.a.weight
        linear = pickle.loads(pickle.dumps(xp.nn.Linear(2, 3)))
        return [shared, list(twin.state_dict().values()), twin, linear, type(linear.weight).__name__]

    agree(program)


# ------------------------------------------------------------------------------------------------------------
# Containers


def numbered(xp, kind, n=3):
    modules = [xp.nn.ReLU(), xp.nn.Tanh(), xp.nn.Identity()][:n]
    return xp.nn.Sequential(*modules) if kind == "Sequential" else xp.nn.ModuleList(modules)


@in_one_test
@pytest.mark.parametrize("kind", ["Sequential", "ModuleList"])
@pytest.mark.parametrize(
    "program",
    [
        lambda xp, m: [m, len(m), [type(x).__name__ for x in m], list(m._modules)],
        lambda xp, m: [m[0], m[-1], m[1:], m[::2], m[:-1]],
        lambda xp, m: m[3],
        lambda xp, m: m[-4],
        lambda xp, m: m["0"],
        lambda xp, m: [m.append(xp.nn.GELU()) is m, m],
        lambda xp, m: [m.extend([xp.nn.GELU(), xp.nn.GELU()]) is m, m],
        lambda xp, m: m.extend(3),
        lambda xp, m: m.append(3),
        lambda xp, m: [m.insert(1, xp.nn.GELU()), m][1],
        lambda xp, m: [m.insert(0, xp.nn.GELU()), m][1],
        lambda xp, m: [m.insert(3, xp.nn.GELU()), m][1],
        lambda xp, m: [m.pop(1), m],
        lambda xp, m: [m.__delitem__(0), m, list(m._modules)],
        lambda xp, m: [m.__delitem__(slice(0, 2)), m, list(m._modules)],
        lambda xp, m: [m.__setitem__(-1, xp.nn.GELU()), m],
        lambda xp, m: m.__setitem__(0, 3),
        lambda xp, m: [m + m, type(m + m).__name__],
        lambda xp, m: m.__iadd__(m[:1]),
        lambda xp, m: m + 3,
        lambda xp, m: m(xp.tensor([-1.0, 2.0])),
        lambda xp, m: [name for name in dir(m) if name.isdigit()],
        lambda xp, m: type(m)(),
    ],
)
def test_a_container_by_number_is_torchs(kind, program):
    agree(lambda xp: program(xp, numbered(xp, kind)))


@in_one_test
@pytest.mark.parametrize(
    "program",
    [
        lambda xp: xp.nn.Sequential(OrderedDict(a=xp.nn.ReLU(), b=xp.nn.Tanh())),
        lambda xp: xp.nn.Sequential(OrderedDict(a=xp.nn.ReLU(), b=xp.nn.Tanh()))[1:],
        lambda xp: xp.nn.Sequential(OrderedDict(a=xp.nn.ReLU()))[0],
        lambda xp: numbered(xp, "Sequential") * 2,
        lambda xp: 2 * numbered(xp, "Sequential", 1),
        lambda xp: numbered(xp, "Sequential") * 0,
        lambda xp: numbered(xp, "Sequential") * "a",
        lambda xp: numbered(xp, "Sequential").__imul__(3),
        lambda xp: xp.nn.ModuleList([xp.nn.ReLU()] * 3 + [xp.nn.Tanh()] + [xp.nn.Sequential(xp.nn.ReLU())] * 2),
        lambda xp: xp.nn.Sequential(xp.nn.ModuleList([xp.nn.Sequential(xp.nn.ReLU())] * 2)),
        lambda xp: [m := xp.nn.ModuleDict({"b": xp.nn.ReLU(), "a": xp.nn.Tanh()}), list(m), len(m), "a" in m, m["a"]],
        lambda xp: xp.nn.ModuleDict([("x", xp.nn.ReLU()), ["y", xp.nn.Tanh()]]),
        lambda xp: xp.nn.ModuleDict([("x", xp.nn.ReLU(), 3)]),
        lambda xp: xp.nn.ModuleDict([3]),
        lambda xp: xp.nn.ModuleDict(3),
        lambda xp: xp.nn.ModuleDict({"keys": xp.nn.ReLU()}),
        lambda xp: xp.nn.ModuleDict({"a.b": xp.nn.ReLU()}),
        lambda xp: [m := xp.nn.ModuleDict({"b": xp.nn.ReLU()}), m.pop("b"), list(m.items())],
        lambda xp: xp.nn.ModuleDict()["a"],
        lambda xp: [m := xp.nn.ModuleDict({"b": xp.nn.ReLU()}), m.clear(), m][2],
        lambda xp: [m := xp.nn.ParameterList([xp.ones(2), 3]), len(m), names(m.named_parameters()), m[0], m[-1], m[5:]],
        lambda xp: [m := xp.nn.ParameterList([xp.ones(2)]), m.append(xp.zeros(1)), m.extend([4]), list(m)],
        lambda xp: xp.nn.ParameterList([xp.ones(2)])[1],
        lambda xp: xp.nn.ParameterList(xp.ones(2)),
        lambda xp: xp.nn.ParameterList()(3),
        lambda xp: [
            m := xp.nn.ParameterList([xp.ones(2)]),
            m.__setitem__(0, xp.zeros(1)),
            m[0],
            [type(p).__name__ for p in m],
        ],
        lambda xp: [m := xp.nn.ParameterDict({"b": xp.ones(2), "a": 3}), len(m), names(m.named_parameters()), list(m)][
            1:
        ],
        lambda xp: [
            m := xp.nn.ParameterDict(OrderedDict(b=xp.ones(2), a=xp.zeros(1))),
            list(m),
            m["b"],
            m.popitem(),
            list(m),
        ][1:],
        lambda xp: [
            m := xp.nn.ParameterDict({"b": xp.ones(2)}),
            m.get("x", 7),
            m.setdefault("y", xp.ones(1)),
            "y" in m,
        ][1:],
        lambda xp: [
            m := xp.nn.ParameterDict({"b": xp.ones(2)}),
            list(m | xp.nn.ParameterDict({"c": xp.ones(1)})),
            m.pop("b"),
        ][1:],
        lambda xp: xp.nn.ParameterDict({3: xp.ones(2)}),
        lambda xp: xp.nn.ParameterDict({})["a"],
        lambda xp: xp.nn.ParameterDict({})(3),
    ],
)
def test_containers_are_torchs(program):
    agree(program)


def test_both_frameworks_run_what_these_tests_run():
    """An error in a program would be the same error in both: none of these is meant to raise one."""
    for program in (tree, lambda xp: numbered(xp, "Sequential")):
        assert "Error" not in str(outcome(program, rl)) and "Error" not in str(outcome(program, torch))
