"""Parameter groups, SGD and Adam, a learning rate schedule, and gradient clipping."""

from __future__ import annotations

import math
from collections import OrderedDict, UserDict
from functools import partial
from itertools import accumulate, chain
from operator import or_
from types import SimpleNamespace

import numpy as np

from ...engine.check import program
from ...engine.observe import difference, show, values
from ..cases import (
    attempt,
    breaking,
    defaults,
    drawing,
    drawn,
    entries,
    field,
    first_apart,
    no_cases,
    numbers,
    several,
)
from ..listing import expression, literal
from ..shared_05 import mostly, plain, user_warnings

# Parameter groups ----------------------------------------------------------------------------------------------------


class Names(set):
    """A set of a subclass."""


_PARAMS = {
    "one": lambda some, pool: some[0], "list": lambda some, pool: some, "tuple": lambda some, pool: tuple(some),
    "generator": lambda some, pool: (parameter for parameter in some), "set": lambda some, pool: {some[0]},
    "own set": lambda some, pool: Names(some[:1]),
    "number": lambda some, pool: [*some, 3], "none in it": lambda some, pool: [some[0], None],
    "no leaf": lambda some, pool: [some[0], some[1] * 2],
    "retains": lambda some, pool: [_retaining(some[1] * 2)],
    "twice": lambda some, pool: [some[0], some[1], some[0]], "empty": lambda some, pool: [],
    "known": lambda some, pool: [some[0], pool[1]],
}  # fmt: skip
_MORE_PARAMS = {
    "frozen set": lambda some, pool: frozenset(some[:1]), "keys": lambda some, pool: dict.fromkeys(some).keys(),
    "one number": lambda some, pool: [3], "half known": lambda some, pool: [pool[2], some[1]],
    "views": lambda some, pool: [x.detach() for x in (some[0], some[0], pool[0])],
    "names": lambda some, pool: {"weight": some[0]},
    "alike": lambda some, pool: [some[0].detach().clone(), some[0].detach().clone()],
}  # fmt: skip


def _settings(st):
    names, values = st.sampled_from(["lr", "momentum", "note"]), st.sampled_from([0.5, 0.0, 2.0, None])
    return st.dictionaries(names, values, max_size=2)


def _grouping(*groups, kind="SGD", first="list"):
    groups = [{"params": params, "start": start, "settings": settings} for params, start, settings in groups]
    return {"kind": kind, "first": first, "groups": groups}


_IN_ONE_GROUP = "a parameter belongs to one group: is it in any of the groups that the optimizer has?"
_REFUSED = {  # hints by the params that torch refuses
    "set": "a set has no order, and it is refused, also one of a subclass; any other iterable is accepted",
    "known": _IN_ONE_GROUP,
    "no leaf": "a parameter is a leaf, or it retains its gradient",
    "number": "each of the params is a tensor",
    "no dict": "the group itself is a dict, or of a subclass of dict",
}  # fmt: skip
_OF_KIND = {"own set": "set", "half known": "known", "none in it": "number", "one number": "number", "names": "number"}
_OF_KIND |= {"no true dict": "no dict"}


def _about_groups(case, mine, theirs):
    wrong = first_apart(mine, theirs)
    if wrong == "groups":
        return "settings that the group leaves out come from optimizer.defaults; its own settings stay"
    if wrong != "results":
        return "optimizer.defaults are only read" if wrong == "defaults" else None
    yours, wanted = field(mine, wrong), field(theirs, wrong)
    i = next(i for i, pair in enumerate(zip(yours, wanted)) if first_apart(*pair))
    name, refused = first_apart(yours[i], wanted[i]), field(wanted[i], "result")
    kind = case["groups"][i]["params"]
    if name == "result" and refused:
        return _REFUSED.get(_OF_KIND.get(kind, kind), _IN_ONE_GROUP)
    if name in ("result", "warned"):
        return "only the same object is a repeated parameter: two tensors may have equal elements, or the same memory"
    if refused:
        return "a refused group is not added: look for all errors first"
    return {
        "the dict itself is added": "the dict itself becomes the group: change it, and append it",
        "params is a new list": "the params become a new list, also those that are a list already",
    }.get(name)


def _shown_groups(torch, kind, first, groups):
    given = {"list": "pool[:2]", "generator": "iter(pool[:2])"}
    given["groups"] = '[{"params": pool[:1], "lr": 0.75}, {"params": pool[1]}]'
    lines = ["pool = [torch.nn.Parameter(torch.zeros(2)) for _ in range(10)]"]
    lines.append(f"optimizer = torch.optim.{kind}({given[first]}, lr=0.25)")
    for group in groups:
        name, start = group["params"], 2 * group["start"]
        made = {"no dict": "[pool[5]]", "no true dict": "UserDict", "ordered": "OrderedDict", "no params": "{}"}.get(
            name, ""
        )
        settings = {f'"{name}"': value for name, value in group["settings"].items()}
        if name in _PARAMS | _MORE_PARAMS:
            settings = {
                '"params"': expression(__name__, "_PARAMS" if name in _PARAMS else "_MORE_PARAMS", name)
            } | settings
            if "some" in settings['"params"']:
                lines.append(
                    f"some = pool[{start}:{start + 2}]" + "  # Names is a subclass of set" * (name == "own set")
                )
        elif made.endswith("Dict"):
            settings = {'"params"': "[pool[5]]"} | settings
        text = ", ".join(f"{name}: {value}" for name, value in settings.items())
        made = (
            made
            if made == "[pool[5]]"
            else f"collections.{made}({{{text}}})"
            if made.endswith("Dict")
            else f"{{{text}}}"
        )
        lines.append(f"optimizer.add_param_group({made})")
    return "\n".join(lines)


@program(
    "optim.optimizer.add_param_group",
    cases=drawn(
        kind=["SGD", "Adam"], first=["list", "generator", "groups"],
        groups=several(drawn(params=list(_PARAMS), start=(0, 3), settings=_settings), 0, 3),
    ),
    edges=[
        _grouping(), _grouping(first="generator"), _grouping(first="groups", kind="Adam"),
        *[_grouping((params, 1, {}))
          for params in (*_PARAMS, *_MORE_PARAMS, "no dict", "no true dict", "ordered", "no params")],
        *[_grouping((params, 1, {"lr": 0.5, "note": 1.0}), kind="Adam") for params in _PARAMS],
        _grouping(("list", 1, {"lr": 0.5}), ("list", 2, {}), ("list", 1, {})),
        _grouping(("one", 1, {"momentum": 0.5}), ("one", 3, {"lr": 2.0})),
        _grouping(("one", 2, {})), _grouping(("list", 2, {})), _grouping(("twice", 1, {}), ("twice", 1, {})),
        _grouping(("list", 1, {}), ("half known", 2, {"lr": 0.25}), ("list", 3, {})),
        _grouping(("empty", 1, {}), ("empty", 1, {"lr": 0.0})), _grouping(("list", 1, {"momentum": None, "note": None})),
    ],
    show=_shown_groups,
    hint=_about_groups,
)  # fmt: skip
def groupings(xp, kind, first, groups):
    pool = [xp.zeros(2).requires_grad_() if i % 4 < 2 else xp.nn.Parameter(xp.zeros(2)) for i in range(10)]
    labels = {id(parameter): f"parameter {number}" for number, parameter in enumerate(pool)}

    given = {
        "list": pool[:2],
        "generator": (parameter for parameter in pool[:2]),
        "groups": [{"params": pool[:1], "lr": 0.75}, {"params": pool[1]}],
    }
    optimizer, results = getattr(xp.optim, kind)(given[first], lr=0.25), []
    known = optimizer.param_groups
    for group in groups:
        made = _group(group["params"], group["start"], group["settings"], pool)
        source = made["params"] if isinstance(made, dict) and "params" in made else None
        with user_warnings() as warned:
            result = attempt(optimizer.add_param_group, made)
        added = optimizer.param_groups[-1]
        report = {
            "result": result,
            "warned": bool(warned) if result is None else None,  # an error makes the warning irrelevant
            "the dict itself is added": added is made,
            "params is a new list": isinstance(added["params"], list) and added["params"] is not source,
            "number of groups": len(optimizer.param_groups),
        }
        results.append(report)
    held = [dict(sorted(group.items())) for group in optimizer.param_groups]
    held = [group | {"params": [labels.get(id(p), "another") for p in group["params"]]} for group in held]
    return {
        "results": results,
        "groups": held,
        "the same list": optimizer.param_groups is known,
        "defaults": sorted(optimizer.defaults),
    }


def _group(params, start, settings, pool):
    """The argument of `add_param_group`: a dict with these params and settings, or something else."""
    some = pool[2 * start : 2 * start + 2]
    match params:
        case "no dict":
            return [pool[5]]
        case "no true dict":
            return UserDict({"params": [pool[5]]} | settings)
        case "ordered":
            return OrderedDict({"params": [pool[5]]} | settings)
        case "no params":
            return dict(settings)
    return {"params": (_PARAMS | _MORE_PARAMS)[params](some, pool)} | settings


def _retaining(x):
    x.retain_grad()
    return x


# Steps ---------------------------------------------------------------------------------------------------------------

_SIZES = ([3], [2, 2], [], [2])


@drawing
def _stepping(draw, st, kinds, settings):
    """An optimiser, the settings of a second group, the gradients of each step, and the changes before it."""
    one, two, four = (drawn_settings(st, settings, most) for most in (1, 2, 4))
    change = mostly(st, st.just({}), one, 2)
    count = draw(st.integers(1, 3))
    gradient = mostly(st, st.integers(0, 9), st.none())
    gradients = st.lists(st.lists(gradient, min_size=count, max_size=count), min_size=1, max_size=4)
    return {
        "kind": draw(st.sampled_from(kinds)),
        "settings": draw(four),
        "second": draw(st.one_of(st.none(), two)),
        "gradients": (steps := draw(gradients)),
        "changes": [draw(change) if i else {} for i in range(len(steps))],
        "digits": draw(st.sampled_from(["float64", "float64", "float32"])),
        "infinite": False,  # the edges have infinite parameters, and gradients that are not numbers
    }


@drawing
def drawn_settings(draw, st, settings, most):
    """At most so many of these settings, each with one of its values."""
    names = draw(st.lists(st.sampled_from(sorted(settings)), max_size=most, unique=True))
    return {name: draw(st.sampled_from(settings[name])) for name in names}


def _steps(kind="SGD", gradients=((1, 2), (3, 4), (0, 5)), second=None, changes=None, infinite=False, **settings):
    gradients, digits = [list(row) for row in gradients], settings.pop("digits", "float64")
    case = {"kind": kind, "settings": settings, "second": second, "gradients": gradients, "digits": digits}
    return case | {"changes": changes or [{}] * len(gradients), "infinite": infinite}


def stepped(xp, kind, settings, second, gradients, changes, digits, infinite):
    """The parameters and the state after each step. Then the gradients are overwritten, and the state must stay."""
    params = [numbers(xp, _SIZES[i], i, digits) for i in range(len(gradients[0]))]
    if infinite is True:
        params[0][0] = math.inf
    params = [parameter.requires_grad_() for parameter in params]
    memory = [parameter.detach() for parameter in params]
    groups = [{"params": params}] if second is None else [{"params": params[:1]}, {"params": params[1:], **second}]
    optimizer, shown = getattr(xp.optim, kind)(groups, **settings), []
    for row, change in zip(gradients, changes):
        optimizer.param_groups[0].update(change)
        for parameter, number in zip(params, row):
            parameter.grad = None if number is None else numbers(xp, list(parameter.shape), number, digits) + 0.125
        if infinite == "nan in the gradient":
            params[0].grad[0] = math.nan
        if infinite == "nan in w" and optimizer.state:
            optimizer.state[params[0]]["max_exp_avg_sq"][0] = math.nan
        before = [plain(parameter.grad) for parameter in params]
        kept = [dict(optimizer.state.get(parameter, {})) for parameter in params]
        optimizer.step()
        same = [parameter.grad is None or equal_elements(parameter.grad, old) for parameter, old in zip(params, before)]
        state = state_of(optimizer, params)
        for parameter in params:
            if parameter.grad is not None:
                parameter.grad.fill_(9)
        later = state_of(optimizer, params)
        separate = [equal_elements(x, y) for a, b in zip(state, later) for (_, x), (_, y) in zip(a, b) if x is not None]
        stays = [[name for name, x in old.items() if optimizer.state[p][name] is not x] for p, old in zip(params, kept)]
        now = {"params": [plain(parameter) for parameter in params], "state": state, "gradients as they were": same}
        shown.append(now | {"replaced in the state": stays, "not on the gradients' memory": separate})
    in_place = [equal_elements(parameter.detach(), old) for parameter, old in zip(params, memory)]
    return {
        "steps": shown,
        "in place": in_place,
        "leaves": [parameter.is_leaf and parameter.requires_grad for parameter in params],
    }


def shown_steps(torch, kind, settings, second, gradients, changes, digits, infinite):
    """The same steps as code."""
    names = "abcd"[: len(gradients[0])]
    made = [numbers(torch, _SIZES[i], i, digits) for i in range(len(names))]
    if infinite is True:
        made[0][0] = math.inf
    lines = [f"{name} = {literal(x)}.requires_grad_()" for name, x in zip(names, made)]
    groups = f"[{', '.join(names)}]"
    if second is not None:
        more = "".join(f", {key!r}: {value!r}" for key, value in second.items())
        groups = f"[{{'params': [a]}}, {{'params': [{', '.join(names[1:])}]{more}}}]"
    given = "".join(f", {key}={value!r}" for key, value in settings.items())
    lines += [f"optimizer = torch.optim.{kind}({groups}{given})"]
    for number, (row, change) in enumerate(zip(gradients, changes)):
        lines += [f"optimizer.param_groups[0][{key!r}] = {value!r}" for key, value in change.items()]
        for i, (name, start) in enumerate(zip(names, row)):
            gradient = None if start is None else numbers(torch, _SIZES[i], start, digits) + 0.125
            if i == 0 and infinite == "nan in the gradient":
                gradient[0] = math.nan
            lines.append(f"{name}.grad = {None if gradient is None else literal(gradient)}")
        if infinite == "nan in w" and number:
            lines.append("optimizer.state[a]['max_exp_avg_sq'][0] = torch.nan")
        lines.append("optimizer.step()")
    return "\n".join(lines)


def state_of(optimizer, params):
    """The optimiser's state of each parameter, copied."""
    known = [optimizer.state[parameter] for parameter in params if parameter in optimizer.state]
    return [sorted((name, plain(value)) for name, value in state.items()) for state in known]


def equal_elements(x, y):
    """Whether two tensors have the same elements, nan too."""
    return bool(((x == y) | ((x != x) & (y != y))).all())


def _first_wrong(mine, theirs):
    """The number of the first wrong step, and both observations of it. None if there is none."""
    both = entries(mine, theirs)
    pairs = zip(both[0].get("steps", []), both[1]["steps"]) if both else ()
    steps = ((number, entries(*pair)) for number, pair in enumerate(pairs) if difference(*pair))
    return next((found for found in steps if found[1]), None)


def _wrong_in_steps(mine, theirs):
    """The entries in which the first wrong step differs, and the names of state tensors that do."""
    found = _first_wrong(mine, theirs)
    if found is None:
        return set()
    mine, theirs = found[1]
    wrong = {key for key in theirs if difference(mine.get(key), theirs[key])}
    states = zip(chain(*mine["state"]), chain(*theirs["state"]))
    return wrong | {theirs[0] for mine, theirs in states if difference(mine, theirs)}


_NUMPY = SimpleNamespace(tensor=np.array, float64=np.float64, float32=np.float32)


def _before(case, theirs, number):
    """The parameters before a step, as torch has them."""
    if number:
        return [values(x) for x in field(field(theirs, "steps")[number - 1], "params")]
    first = [numbers(_NUMPY, sizes, i, case["digits"]) for i, sizes in enumerate(_SIZES)]
    if case["infinite"] is True:
        first[0][0] = math.inf
    return first


def _stays(case, mine, theirs):
    """Whether a parameter that differs in the first wrong step is as it was before."""
    number, both = _first_wrong(mine, theirs) or (0, None)
    if both is None or case["infinite"] is True or difference(*(side["state"] for side in both)):
        return False
    apart = (
        pair for pair in zip(*(side["params"] for side in both), _before(case, theirs, number)) if difference(*pair[:2])
    )
    return any(values(own).shape == old.shape and np.array_equal(values(own), old) for own, real, old in apart)


def _about_steps(case, mine, theirs):
    """A hint for any optimiser."""
    wrong = _wrong_in_steps(mine, theirs)
    if "gradients as they were" in wrong:
        return "the gradients are only read: no `add_` and no `neg_` writes to them"
    if case["infinite"] is True and show(mine).count("nan") > show(theirs).count("nan"):
        return "a term with the setting 0 is left out, because 0 times infinity is nan"
    if _stays(case, mine, theirs):
        return (
            "the parameter has not changed. Either `p = p - ...` made a new tensor, and `p.sub_(...)` or `p.add_(...)` changes p. "
            "Or the loop did not reach p: `zip` ends with its shortest list, and a list that is not used may be empty"
        )
    return None


_OF_SGD = {
    "lr": [0.0, 0.1, 0.5, 1.0], "momentum": [0.0, 0.5, 0.9], "dampening": [0.0, 0.25, 1.0],
    "weight_decay": [0.0, 0.1, 0.5], "nesterov": [True, False], "maximize": [True, False],
}  # fmt: skip


def _about_sgd(case, mine, theirs):
    if said := _about_steps(case, mine, theirs):
        return said
    wrong = _wrong_in_steps(mine, theirs)
    if "not on the gradients' memory" in wrong:
        return "the state has memory of its own: after the step each gradient is overwritten"
    if wrong == {"replaced in the state"}:
        return "the tensors of the state are changed in place, not replaced"
    if "state" not in wrong:
        return None
    number, (mine, theirs) = _first_wrong(mine, theirs)
    apart = [i for i, pair in enumerate(zip(mine["params"], theirs["params"])) if difference(*pair)]
    if any(row[i] is not None for row in case["gradients"][:number] for i in apart):
        return "after the first step of a parameter: b := momentum b + (1 - dampening) g, with the buffer b of the step before"
    if (dampening := case["settings"].get("dampening")) and _are_parts(mine["state"], theirs["state"], 1 - dampening):
        return "the first step is not damped: the buffer begins as the gradient itself, not as 1 - dampening times it"
    return "the buffer takes the gradient, with its sign and the weight decay, and without lr"


def _are_parts(mine, theirs, factor):
    """Whether the tensors of a state are this factor times torch's."""
    pairs = [(own[1], other[1]) for state, real in zip(mine, theirs) for own, other in zip(state, real)]
    pairs = [pair for pair in pairs if all(isinstance(each, dict) and "tensor" in each for each in pair)]
    return bool(pairs) and all(np.allclose(values(own), factor * values(other)) for own, other in pairs)


@program(
    "optim.optimizer.sgd",
    cases=lambda st: _stepping(st, ["SGD"], _OF_SGD),
    edges=[
        _steps(), _steps(lr=0.5), _steps(digits="float32", lr=0.5, momentum=0.9, weight_decay=0.1),
        _steps(weight_decay=0.5, lr=0.5), _steps(maximize=True, lr=0.5),
        _steps(maximize=True, weight_decay=0.5, lr=0.5),
        *[_steps(momentum=0.9, lr=0.5, **{name: value}) for name, value in (("dampening", 0.25), ("dampening", 1.0))],
        *[_steps(momentum=0.9, lr=0.5, nesterov=nesterov, maximize=m)
          for nesterov in (True, False) for m in (True, False)],
        *[_steps(momentum=0.9, lr=0.5, nesterov=nesterov, weight_decay=0.25) for nesterov in (True, False)],
        _steps(momentum=0.9, lr=0.5, weight_decay=0.25, maximize=True, nesterov=True),
        _steps(momentum=0.5, lr=0.5, weight_decay=0.25, dampening=0.5, maximize=True),
        _steps(gradients=[[1, None], [None, 2], [3, 4]], momentum=0.9, lr=0.5),
        _steps(gradients=[[1, None, 2], [1, None, 2], [3, 4, 5]], momentum=0.9, lr=0.5, dampening=0.5),
        _steps(gradients=[[None, None]], momentum=0.9), _steps(second={"lr": 0.25, "momentum": 0.5}, lr=0.5),
        _steps(second={"weight_decay": 0.25, "maximize": True}, lr=0.5, momentum=0.5),
        _steps(changes=[{}, {"momentum": 0.5}, {"momentum": 0.0}], lr=0.5),
        _steps(changes=[{}, {"lr": 0.1}, {"weight_decay": 0.5}], lr=0.5, momentum=0.5),
        _steps(changes=[{}, {"dampening": 0.5}, {"nesterov": True}], lr=0.5, momentum=0.5),
        _steps(lr=0.0, momentum=0.5), _steps(nesterov=True),
        *[_steps(lr=0.5, weight_decay=0.1, momentum=m, changes=[{"weight_decay": -0.5}, {}, {}]) for m in (0.0, 0.5)],
        _steps(lr=0.5, changes=[{"momentum": -0.5}, {}, {}]),
        _steps(gradients=[[1]], lr=0.5), _steps(gradients=[[1]], lr=0.5, weight_decay=0.0, infinite=True),
        _steps(lr=0.5, weight_decay=1.0),
        _steps(lr=0.5, changes=[{"weight_decay": -1.0}, {"momentum": -1.0}, {"momentum": 1.0}]),
        _steps(lr=0.5, momentum=1.0, infinite=True),
    ],
    hint=_about_sgd,
    show=shown_steps,
)  # fmt: skip
def sgd_steps(xp, **case):
    return stepped(xp, **case)


_BOTH = ("Adam", "AdamW")
_OF_ADAM = {
    "lr": [0.0, 0.1, 0.5, 1.0], "betas": [[0.9, 0.999], [0.5, 0.75], [0.0, 0.5], [0.5, 0.0]], "eps": [1e-8, 0.1, 1.0],
    "weight_decay": [0.0, 0.1, 0.5], "amsgrad": [True, False], "maximize": [True, False],
}  # fmt: skip


def _about_adam(case, mine, theirs):
    if said := _about_steps(case, mine, theirs):
        return said
    wrong, settings = _wrong_in_steps(mine, theirs), case["settings"]
    if "state" in wrong:
        if "exp_avg" in wrong and (settings.get("weight_decay") or case["kind"] == "AdamW"):
            return "AdamW makes the parameter smaller before anything else, Adam adds to the gradient"
        if wrong & {"exp_avg", "exp_avg_sq"} or not settings.get("amsgrad"):
            return None
        if show(mine).count("nan") < show(theirs).count("nan"):
            return "w is nan if it was, or if v is"
        return "w is the largest v so far, element by element; it is not corrected before the comparison"
    if wrong == {"params"} and not settings.get("weight_decay") and case["kind"] == "Adam":
        return _about_update(case, mine, theirs)
    return None


def _about_update(case, mine, theirs):
    """A hint for parameters that are wrong although the state is right, by what other formulas give for the step."""
    number, (own, real) = _first_wrong(mine, theirs)
    settings = {"lr": 1e-3, "betas": [0.9, 0.999], "eps": 1e-8} | case["settings"]
    if case["second"] or any(case["changes"][: number + 1]):
        return None
    fitting, known = set(), [i for i, column in enumerate(zip(*case["gradients"][: number + 1])) if {*column} != {None}]
    before = _before(case, theirs, number)
    for i, state in zip(known, real["state"]):
        if not difference(own["params"][i], real["params"][i]):
            continue
        state = {name: values(x) for name, x in state}
        t, m, v = state["step"], state["exp_avg"], state.get("max_exp_avg_sq", state["exp_avg_sq"])
        first, second = (1 - beta**t for beta in settings["betas"])
        moved = {
            "corrections": m / (np.sqrt(v) + settings["eps"]),
            "eps": m / first / np.sqrt(v / second + settings["eps"]),
        }
        update = (before[i] - values(own["params"][i])) / (settings["lr"] or np.nan)
        known_part = np.isfinite(update)  # an infinite parameter does not show by how much it has moved
        fitting |= {
            name for name, other in moved.items() if np.allclose(update[known_part], other[known_part], rtol=1e-3)
        }
    if fitting == {"eps"}:
        return "the state is right, the parameters are not: sqrt(v) is divided by the root of its correction, then eps is added"
    if fitting == {"corrections"}:
        return "the state is right, the parameters are not: t in 1 - beta ** t counts this step, so t starts at 1"
    return None


@program(
    "optim.optimizer.adam",
    cases=lambda st: _stepping(st, ["Adam", "Adam", "AdamW"], _OF_ADAM),
    edges=[
        *[_steps(kind, lr=0.5) for kind in _BOTH], *[_steps(kind, lr=0.5, weight_decay=0.5) for kind in _BOTH],
        *[_steps(kind, lr=0.5, weight_decay=0.5, maximize=True, eps=0.1) for kind in _BOTH],
        *[_steps(kind, lr=0.5, amsgrad=True, betas=[0.5, 0.25], weight_decay=0.1) for kind in _BOTH],
        *[_steps(kind, lr=0.5, amsgrad=True, maximize=True, eps=0.1, gradients=[[9, 1], [2, 2], [2, 3]])
          for kind in _BOTH],
        *[_steps("Adam", lr=0.5, betas=betas, eps=eps) for betas in _OF_ADAM["betas"] for eps in (1e-8, 1.0)],
        _steps("Adam", lr=0.5, decoupled_weight_decay=True, weight_decay=0.5),
        _steps("Adam", digits="float32", lr=0.1, weight_decay=0.1, amsgrad=True),
        _steps("Adam", gradients=[[1, None], [None, 2], [3, 4]], lr=0.5, eps=0.1),
        _steps("AdamW", gradients=[[1, None, 2], [1, None, 2], [3, 4, 5], [1, 2, 3]], lr=0.5, betas=[0.5, 0.5]),
        _steps("Adam", gradients=[[None, None]]),
        _steps("Adam", second={"lr": 0.25, "betas": [0.5, 0.5], "amsgrad": True}, lr=0.5),
        _steps("AdamW", second={"weight_decay": 0.25, "maximize": True, "eps": 0.5}, lr=0.5),
        _steps("Adam", changes=[{}, {"lr": 0.1}, {"weight_decay": 0.5}], lr=0.5),
        _steps("Adam", changes=[{}, {"maximize": True}, {"eps": 0.5}], lr=0.5),
        _steps("AdamW", changes=[{"weight_decay": -0.5}, {}, {}], lr=0.5),
        _steps("Adam", changes=[{"weight_decay": -0.5}, {}, {}], lr=0.5), _steps("Adam", lr=0.0),
        *[_steps(kind, lr=0.5, weight_decay=w) for kind in _BOTH for w in (0.0, 1.0)],
        *[_steps(kind, lr=0.5, changes=[{"weight_decay": -1.0}, {}, {}]) for kind in _BOTH],
        *[_steps(kind, [[1]], lr=0.5) for kind in _BOTH],
        *[_steps(kind, [[1]], lr=0.5, weight_decay=0.0, infinite=True) for kind in _BOTH],
        *[_steps(kind, lr=0.5, amsgrad=True, infinite=nan) for kind in _BOTH for nan in ("nan in the gradient", "nan in w")],
    ],
    hint=_about_adam,
    show=shown_steps,
)  # fmt: skip
def adam_steps(xp, **case):
    return stepped(xp, **case)


_OF_RMSPROP = {
    "lr": [0.0, 0.1, 0.5], "alpha": [0.99, 0.5, 0.0, 1.0], "eps": [1e-8, 0.1, 1.0], "weight_decay": [0.0, 0.1, 0.5],
    "momentum": [0.0, 0.5, 0.9], "centered": [True, False], "maximize": [True, False],
}  # fmt: skip


def _has_an_average(case):
    """Whether no group is centered with alpha 0: its v - m^2 would be 0 but for rounding, and g is divided by the root of that."""
    first, second, changes = case["settings"], case["second"] or {}, case["changes"]
    groups = [first | second, *accumulate([first, *changes], or_)]
    return not any(group.get("centered") and group.get("alpha") == 0 for group in groups)


def _about_rmsprop(case, mine, theirs):
    if said := _about_steps(case, mine, theirs):
        return said
    wrong, settings = _wrong_in_steps(mine, theirs), case["settings"]
    if "square_avg" in wrong and settings.get("centered"):
        return "v is the average of g^2, also with `centered`: v - m^2 is a new tensor"
    if wrong >= {"state", "momentum_buffer"} and "square_avg" not in wrong and settings.get("momentum"):
        return "the buffer takes the quotient g / r, without lr, and r is the root plus eps, without a correction"
    if wrong == {"params"}:
        return "the state is right, the parameters are not: g is divided by the root plus eps, and nothing is corrected"
    return None


@program(
    "optim.rules.rmsprop",
    cases=lambda st: _stepping(st, ["RMSprop"], _OF_RMSPROP).filter(_has_an_average),
    edges=[
        _steps("RMSprop"), _steps("RMSprop", lr=0.5), _steps("RMSprop", lr=0.5, maximize=True, weight_decay=0.5),
        *[_steps("RMSprop", lr=0.5, eps=0.1, momentum=momentum, centered=centered, maximize=maximize)
          for momentum in (0.0, 0.9) for centered in (True, False) for maximize in (True, False)],
        *[_steps("RMSprop", lr=0.5, alpha=alpha, eps=1.0, centered=centered)
          for alpha in _OF_RMSPROP["alpha"] for centered in (True, False)],
        _steps("RMSprop", digits="float32", lr=0.1, weight_decay=0.1, centered=True, momentum=0.5, eps=0.1),
        *[_steps("RMSprop", gradients=[[1, None, 2], [None, 3, 2], [3, 4, 5]], lr=0.5, eps=0.1, momentum=momentum)
          for momentum in (0.0, 0.5)],
        _steps("RMSprop", gradients=[[None, None]]), _steps("RMSprop", lr=0.0, momentum=0.5),
        _steps("RMSprop", second={"lr": 0.25, "momentum": 0.5, "centered": True}, lr=0.5, eps=0.1),
        _steps("RMSprop", second={"weight_decay": 0.25, "maximize": True, "eps": 0.5}, lr=0.5),
        _steps("RMSprop", changes=[{}, {"lr": 0.1}, {"weight_decay": 0.5}], lr=0.5),
        _steps("RMSprop", changes=[{}, {"maximize": True}, {"momentum": 0.0}], lr=0.5, momentum=0.5),
        _steps("RMSprop", changes=[{"weight_decay": -0.5}, {}, {}], lr=0.5),
        _steps("RMSprop", changes=[{"momentum": -0.5}, {}, {}], lr=0.5),
        _steps("RMSprop", [[1]], lr=0.5), _steps("RMSprop", [[1]], lr=0.5, weight_decay=0.0, infinite=True),
        _steps("RMSprop", lr=0.5, momentum=0.5, centered=True, infinite="nan in the gradient"),
    ],
    hint=_about_rmsprop,
    show=shown_steps,
)  # fmt: skip
def rmsprop_steps(xp, **case):
    return stepped(xp, **case)


# A schedule ----------------------------------------------------------------------------------------------------------

BREAKS, BODIES = "course.breaks.breaks_cosine_annealing", "05b.cosine_annealing"


@program(f"{BREAKS}.half", cases=no_cases, edges=[{}], examine=breaking(BODIES, "1/2"))
def breaks_half(xp):
    return xp.breaks.breaks_cosine_annealing()


@program(BREAKS, cases=no_cases, edges=[{}], examine=breaking(BODIES, "1"))
def breaks_cosine_annealing(xp, **case):
    """The cases, or what `cosine_annealing` gives on one of them."""
    return xp.schedules.cosine_annealing(**case) if case else xp.breaks.breaks_cosine_annealing()


@breaks_cosine_annealing.oracle
def _(torch, lr, base_lr, last_epoch, T_max, eta_min):
    if last_epoch < 1 or T_max < 1:
        raise ValueError("a schedule has at least one step")
    optimizer = torch.optim.SGD([{"params": [torch.zeros(1)], "lr": lr, "initial_lr": base_lr}])
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max, eta_min, last_epoch - 2)  # it makes a step
    optimizer.step()
    schedule.step()
    return optimizer.param_groups[0]["lr"]


# Clipping ------------------------------------------------------------------------------------------------------------

_clipping = defaults(gradients=[1, 2, 3], given="list", max_norm=1.0, norm_type=2.0, error=False, digits="float64")


def _about_clipping(case, mine, theirs):
    if first_apart(mine, theirs) == "warned":
        return "an empty generator is a UserWarning; make a list first, because a generator can be read only once"
    if first_apart(mine, theirs) == "in place":
        return "the gradients are changed in place"
    if any(number is not None and number < 0 for number in case["gradients"]):
        return "a norm that is not finite is refused on request, before any change"
    if first_apart(mine, theirs) == "norm":
        return "the result is the norm of all gradients as one vector, as they were before the change"
    return "all gradients are one vector; it is multiplied by max_norm / (norm + 1e-6) if that is less than 1"


def _shown_clipping(torch, gradients, given, max_norm, norm_type, error, digits):
    names, lines = "abcd"[: len(gradients)], []
    for i, (name, number) in enumerate(zip(names, gradients)):
        made = literal(numbers(torch, _SIZES[i], i, digits))
        lines.append(f"{name} = torch.nn.Parameter({made})" if given == "one parameter" else f"{name} = {made}")
        lines[-1] += "" if given in ("one parameter", "frozen") else ".requires_grad_()"
        if number is not None:
            gradient = numbers(torch, _SIZES[i], abs(number), digits) + 0.125
            if number < 0:
                gradient.view(-1)[0] = {-1: math.inf, -2: math.nan, -3: -math.inf}[number]
            lines.append(f"{name}.grad = {literal(gradient)}")
    some = f"[{', '.join(names)}]"
    passed = {
        "twice": f"[{', '.join([*names, *names[:1]])}]",
        "generator": f"(p for p in {some})",
        "one": names[:1] or "[]",
        "one parameter": names[:1] or "[]",
        "dict": f"{{{', '.join(f'{i}: {name}' for i, name in enumerate(names))}}}.values()",
        "iterator": f"iter({some})",
    }.get(given, some)
    call = f"torch.nn.utils.clip_grad_norm_({passed}, {max_norm!r}, {norm_type!r}, error_if_nonfinite={error})"
    return "\n".join([*lines, *(["with torch.no_grad():", f"    {call}"] if given == "unrecorded" else [call])])


@program(
    "nn.utils.clip_grad.clip_grad_norm_",
    cases=drawn(
        gradients=several(lambda st: mostly(st, st.integers(0, 9), st.sampled_from([None, None, -1, -2, -3])), 0, 4),
        given=["list", "generator", "one", "one parameter", "dict", "iterator", "twice", "unrecorded"],
        max_norm=[0.5, 1, 1.0, 3.0, 100.0, 0.0],
        norm_type=[2.0, 2.0, 2, 1.0, 3.0, math.inf, -math.inf, 0.0, "inf", 0.5], error=bool,
        digits=["float64", "float64", "float32"],
    ),
    edges=[
        *[_clipping(norm_type=norm, max_norm=most)
          for norm in (2.0, 1.0, 3.0, math.inf, -math.inf, 0.0, "inf") for most in (0.5, 100.0)],
        *[_clipping(given=given, max_norm=most)
          for given in ("generator", "one", "one parameter", "dict", "twice", "unrecorded") for most in (0.5, 100.0)],
        *[_clipping([number, 1], norm_type=norm, error=error)
          for number in (-1, -2, -3) for norm in (2.0, math.inf) for error in (True, False)],
        *[_clipping([None, 1, None], error=error) for error in (True, False)],
        *[_clipping(some, given=given, error=error)
          for some in ([], [None]) for given in ("list", "generator", "iterator") for error in (True, False)],
        _clipping([None], given="one"), _clipping(given="frozen", max_norm=0.5),
        _clipping(max_norm=1e-6), _clipping(max_norm=0.0), _clipping(max_norm=1),
        _clipping(max_norm=-1.0), _clipping(digits="float32", max_norm=0.5), _clipping(norm_type=2, max_norm=0.5),
        _clipping([1], max_norm=math.inf), _clipping([1], max_norm=math.nan),
    ],
    hint=_about_clipping,
    show=_shown_clipping,
)  # fmt: skip
def clipped(xp, gradients, given, max_norm, norm_type, error, digits):
    params = [numbers(xp, _SIZES[i], i, digits).requires_grad_() for i in range(len(gradients))]
    params = [xp.nn.Parameter(tensor) for tensor in params] if given == "one parameter" else params
    for parameter, number in zip(params, gradients):
        if number is not None:
            parameter.grad = numbers(xp, list(parameter.shape), abs(number), digits) + 0.125
            if number < 0:
                parameter.grad.view(-1)[0] = {-1: math.inf, -2: math.nan, -3: -math.inf}[number]
    before = [parameter.grad for parameter in params]
    memory = [None if grad is None else grad.detach() for grad in before]
    passed = {
        "list": lambda: params,
        "unrecorded": lambda: params,
        "frozen": lambda: [parameter.requires_grad_(False) for parameter in params],
        "twice": lambda: [*params, *params[:1]],
        "generator": lambda: (parameter for parameter in params),
        "one": lambda: params[0] if params else [],
        "one parameter": lambda: params[0] if params else [],
        "dict": lambda: {f"p{i}": parameter for i, parameter in enumerate(params)}.values(),
        "iterator": lambda: iter(params),
    }[given]()
    clip = partial(xp.nn.utils.clip_grad_norm_, norm_type=norm_type, error_if_nonfinite=error)
    with user_warnings() as warned, xp.set_grad_enabled(given != "unrecorded"):
        total = attempt(clip, passed, max_norm)
    shown = {"norm": plain(total) if isinstance(total, xp.Tensor) else total, "warned": bool(warned)}
    shown["recorded"] = isinstance(total, xp.Tensor) and total.requires_grad
    shown["grads"] = [plain(parameter.grad) for parameter in params]
    shown["in place"] = [parameter.grad is grad for parameter, grad in zip(params, before)]
    return shown | {
        "on their memory": [plain(tensor) for tensor in memory],
        "params": [plain(parameter) for parameter in params],
    }
