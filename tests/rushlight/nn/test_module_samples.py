"""On torch's own samples of modules (`module_db`), a layer with torch's weights gives torch's numbers, gradients and state."""

import pytest
import torch
from sweep import hold_each, sweep

import rushlight as rl
from bench.gradients import results
from bench.parity import Carrier, attempt, difference

pytestmark = pytest.mark.usefixtures("database")
COUNT = 8  # samples of each module
PARTS = 4  # of the modules, of which `make test` takes the first
APART = {"TransformerEncoder"}  # for inference torch's gives 0 at padding, by nested tensors
FUNCTIONS = {torch.nn.functional.relu: rl.nn.functional.relu, torch.nn.functional.gelu: rl.nn.functional.gelu}


def own(xp, value):
    """The framework's function in the place of torch's."""
    return FUNCTIONS.get(value, value) if xp is rl and callable(value) else value


def run(xp, cls, sample, state, training):
    """The `repr` of a module with this state, its result, the gradients, and its state afterwards."""
    carry = Carrier(xp)
    made, called = sample.constructor_input, sample.forward_input
    made_of = [own(xp, each) for each in carry(made.args)], {k: own(xp, each) for k, each in carry(made.kwargs).items()}
    module = getattr(xp.nn, cls)(*made_of[0], **made_of[1]).double().train(training)
    module.load_state_dict(carry(dict(state)))
    args, kwargs = carry(tuple(called.args)), carry(called.kwargs)
    if args[0].dtype.is_floating_point:
        args[0].requires_grad = True
    result = module(*[each * 1 if i == 0 else each for i, each in enumerate(args)], **kwargs)
    found = results(result)
    sum(each.square().sum() for each in found).backward()
    grads = [args[0].grad, *(each.grad for each in module.parameters())]
    return [repr(module), *state, *(each.detach() for each in found), *grads, *module.state_dict().values()]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("part", sweep(range(PARTS), every=PARTS))
def test_a_module_agrees_with_torch_on_torchs_samples(part, training, seeded):
    from torch.testing._internal.common_modules import module_db

    def hold(info):
        cls = info.module_cls.__name__
        for sample in info.module_inputs_func(info, "cpu", torch.float64, requires_grad=False, training=training)[
            :COUNT
        ]:
            made = sample.constructor_input
            state = info.module_cls(*made.args, **made.kwargs).double().state_dict()
            ours, theirs = (attempt(lambda xp=xp: run(xp, cls, sample, state, training)) for xp in (rl, torch))
            assert isinstance(ours, Exception) == isinstance(theirs, Exception), f"{ours}, not {theirs}"
            if isinstance(theirs, Exception):
                assert type(ours) is type(theirs)
            else:
                assert not difference(ours, theirs, [], True), sample.desc

    names = [info.module_cls.__name__ for info in module_db]
    infos = [info for info, name in zip(module_db, names) if hasattr(rl.nn, name) and name not in APART]
    hold_each(hold, ((info.name, info) for info in infos[part::PARTS]), seeded)
