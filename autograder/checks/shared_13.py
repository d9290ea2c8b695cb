"""Helpers for the checks of the clinic."""

import inspect
from contextlib import contextmanager
from operator import attrgetter

from ..engine.check import program


def text_of(slot):
    """The text of the function that a student wrote for an exercise."""
    return inspect.getsource(inspect.unwrap(slot))


def examined(how, *about, **limits):
    """An examination of `autograder.engine`, by its name. A subject has none of them, so they are imported here."""
    from ..engine import patients, student_checks

    return getattr(student_checks if how == "caught" else patients, how)(*about, **limits)


def no_cases(st):
    """Nothing is drawn: an answer is examined as it is."""
    return st.nothing()


def patient(topic, index, statements, operators, is_named=True):
    """Register the checks of a patient, which are those of three exercises: a program of at most so many statements and operators
    that shows the fault, the name of the function at fault, and a sound function in its place. `topic` is the module of the checks.
    """
    lab, _, module = topic.split(".")[-2].partition("_")
    number, place = f"{lab}.{index}", f"clinic.{module}"
    narrow, name, mend = (attrgetter(f"{place}.{exercise}_{index}") for exercise in ("narrow", "name", "mend"))
    limits = {"statements": statements, "operators": operators}

    @program(f"{place}.narrow_{index}", cases=no_cases, edges=[{}], examine=examined("narrowed", number, **limits))
    def narrowed(rl):
        return text_of(narrow(rl))

    if is_named:

        @program(
            f"{place}.name_{index}.first", cases=no_cases, edges=[{}], examine=examined("named", number, guesses=1)
        )
        def named_at_once(rl):
            return name(rl)()

        @program(f"{place}.name_{index}", cases=no_cases, edges=[{}], examine=examined("named", number, guesses=2))
        def named(rl):
            return name(rl)()

    @program(f"{place}.mend_{index}", cases=no_cases, edges=[{}], examine=examined("mended", number))
    def mended(rl):
        return text_of(mend(rl))

    checks = [narrowed, mended, *([named_at_once, named] if is_named else [])]
    for check in checks:
        check.program.__module__ = topic  # whose lab has the check


def tested(how, *about):
    """An examination of a test that a student wrote, by its name."""
    from ..engine import student_checks

    return getattr(student_checks, how)(*about)


def names_changed(before, after):
    """The names of what differs between two dicts of the same names. A verdict shows them."""
    return [name for name in before if name not in after or before[name] != after[name]]


def settings_changed(torch, before):
    """The names of Dynamo's settings that are others than before. They get their values back."""
    names = names_changed(before, torch._dynamo.config.get_config_copy())
    for name in names:
        setattr(torch._dynamo.config, name, before[name])
    return names


@contextmanager
def state_left(torch, *modules, trained=False):
    """Within, on a rank: a list that is filled at the end with what has another state than before.

    The state is that of torch, and of the modules, of their parameters and of their buffers. Without `trained` it includes
    gradients, hooks and memory. It never includes values.
    """
    changed, before = [], _state(torch, modules, trained)
    yield changed
    after = _state(torch, modules, trained)
    changed += [name for name in before if before[name] != after[name]]


def _state(torch, modules, trained):
    inner = [each for module in modules for each in module.modules()]
    parameters = [parameter for module in modules for parameter in module.parameters()]
    tensors = parameters + [buffer for module in modules for buffer in module.buffers()]
    state = {"process group": id(torch.distributed.group.WORLD), "grad mode": torch.is_grad_enabled()}
    state |= {"default dtype": torch.get_default_dtype(), "random generator": torch.get_rng_state().tolist()}
    state |= {"modes": [each.training for each in inner], "requires_grad": [each.requires_grad for each in tensors]}
    if trained:
        return state
    state["gradients"] = [None if each.grad is None else each.grad.tolist() for each in parameters]
    state["memory"] = [(id(each), each.data_ptr(), each.stride(), each.dtype) for each in tensors]
    hooks = [value for each in inner for name, value in vars(each).items() if name.endswith("_hooks")]
    hooks += [getattr(each, name) for each in parameters for name in ("_backward_hooks", "_post_accumulate_grad_hooks")]
    return state | {"hooks": [len(each or ()) for each in hooks]}
