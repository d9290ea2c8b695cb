"""Activation checkpointing (use_reentrant=False) changes the training curve from the second step on

I wrap the two blocks of a small model in `torch.utils.checkpoint.checkpoint(..., use_reentrant=False)` to save
memory. With the same seed I expected the same loss in each step as without checkpointing: `preserve_rng_state` is
True by default. On 2.13.0 (Linux, CPU) only the first step agrees. The program below trains both ways from the same
weights and the same seed and compares the losses; it should say True three times, and says True, False, False.

What I tried: the gradients after the first step are equal bit for bit, so the recomputed activations must be right.
With dropout probability 0 all steps agree. With `use_reentrant=True` all steps agree. If I wrap only the second
block, all steps agree as well; if I wrap only the first, they do not. `set_checkpoint_early_stop(False)` does not
help, and neither does `debug=True`, which finds nothing to complain about.
"""

ABOUT = (
    "The recomputation of a non-reentrant checkpoint sets the CPU's random state to that of the forward pass, but "
    "puts the surrounding state back only if there are states of devices to restore. Modelled on pytorch pull "
    "request 14253 (checkpoints that advance the random state more than once make a run differ from the one without"
    " them; it stashes and restores the states)."
)
AT = ("torch/utils/checkpoint.py", "_checkpoint_without_reentrant_generator.recompute_fn")
FAULT = [
    (
        "torch/utils/checkpoint.py",
        "devices=rng_devices, enabled=preserve_rng_state, device_type=device_type",
        "devices=rng_devices, enabled=bool(rng_devices), device_type=device_type",
    )
]
NEEDS = {"torch/utils/checkpoint.py"}
STATEMENTS = 7
LINES = 8
LINK = (
    "checkpoint -> _checkpoint_without_reentrant_generator (recompute_fn); in the backward pass _checkpoint_hook's "
    "unpack_hook -> recompute_fn -> torch.random.fork_rng. Dead end: where the forward pass stashes fwd_cpu_state, "
    "which is right, as equal gradients show."
)


def symptom(torch):
    from torch.utils.checkpoint import checkpoint

    def losses(checkpointed):
        torch.manual_seed(7)
        blocks = [
            torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.Dropout(0.5), torch.nn.Tanh()) for _ in range(2)
        ]
        optimizer = torch.optim.SGD([p for block in blocks for p in block.parameters()], lr=0.1)
        result = []
        for _ in range(3):
            x = torch.ones(8, 16)
            for block in blocks:
                x = checkpoint(block, x, use_reentrant=False) if checkpointed else block(x)
            loss = (x - 1).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            result.append(loss.detach())
        return result

    return [torch.allclose(a, b) for a, b in zip(losses(True), losses(False))]


def reproduced(torch):
    y = torch.utils.checkpoint.checkpoint(
        torch.nn.functional.dropout, torch.ones(4, requires_grad=True), use_reentrant=False
    )
    torch.manual_seed(1)
    y.sum().backward()
    return torch.rand(1)


def hidden__early_stop_is_off(torch):
    from torch.utils.checkpoint import checkpoint, set_checkpoint_early_stop

    x = torch.ones(50, requires_grad=True)
    with set_checkpoint_early_stop(False):
        y = checkpoint(lambda x: torch.nn.functional.dropout(x.sin()).exp() + torch.rand(50), x, use_reentrant=False)
    noise = torch.rand(3)
    before = torch.get_rng_state()
    (y.sum() + noise.sum()).backward()
    return torch.equal(before, torch.get_rng_state())


def hidden__twice_through_one_graph(torch):
    from torch.utils.checkpoint import checkpoint

    x = torch.ones(50, requires_grad=True)
    y = checkpoint(lambda x: torch.nn.functional.dropout(x.sin()).exp(), x, use_reentrant=False)
    results = []
    for _ in range(3):
        torch.rand(3)
        before = torch.get_rng_state()
        y.sum().backward(retain_graph=True)
        results.append(torch.equal(before, torch.get_rng_state()))
    return results


def hidden__checkpoint_in_a_checkpoint(torch):
    from torch.utils.checkpoint import checkpoint

    def inner(x):
        return torch.nn.functional.dropout(x.cos())

    def outer(x):
        return checkpoint(inner, torch.nn.functional.dropout(x), use_reentrant=False) * torch.rand(50)

    x = torch.ones(50, requires_grad=True)
    y = checkpoint(outer, x, use_reentrant=False)
    before = torch.get_rng_state()
    (grad,) = torch.autograd.grad(y.sum(), x)
    return [torch.equal(before, torch.get_rng_state()), int((grad != 0).sum()) > 0]


def hidden__sequential_model(torch):
    from torch.utils.checkpoint import checkpoint_sequential

    model = torch.nn.Sequential(*[torch.nn.Dropout(0.5) for _ in range(4)])
    x = torch.ones(64, requires_grad=True)
    y = checkpoint_sequential(model, 4, x, use_reentrant=False)
    before = torch.get_rng_state()
    y.sum().backward()
    return torch.equal(before, torch.get_rng_state())


def hidden__recomputation_that_fails(torch):
    from torch.utils.checkpoint import checkpoint

    calls = []

    def function(x):
        calls.append(len(calls))
        y = torch.nn.functional.dropout(x)
        if len(calls) == 2:
            raise ValueError("only once")
        return y.exp()

    y = checkpoint(function, torch.ones(50, requires_grad=True), use_reentrant=False)
    torch.manual_seed(3)
    before = torch.get_rng_state()
    try:
        y.sum().backward()
    except ValueError as error:
        return [str(error), torch.equal(before, torch.get_rng_state())]


def kept__recomputed_with_the_same_mask(torch):
    from torch.utils.checkpoint import checkpoint

    x = torch.ones(200, requires_grad=True)
    y = checkpoint(lambda x: torch.nn.functional.dropout(x * 1.0), x, use_reentrant=False)
    torch.rand(11)
    y.sum().backward()
    return torch.equal(x.grad, y.detach())


def kept__state_is_not_preserved_if_not_asked_for(torch):
    from torch.utils.checkpoint import checkpoint

    x = torch.ones(200, requires_grad=True)
    y = checkpoint(lambda x: torch.nn.functional.dropout(x.exp()), x, use_reentrant=False, preserve_rng_state=False)
    torch.manual_seed(5)
    before = torch.get_rng_state()
    y.sum().backward()
    moved = not torch.equal(before, torch.get_rng_state())
    return [moved, torch.equal(x.grad, y.detach())]


def kept__reentrant(torch):
    from torch.utils.checkpoint import checkpoint

    x = torch.ones(200, requires_grad=True)
    y = checkpoint(lambda x: torch.nn.functional.dropout(x.exp()), x, use_reentrant=True)
    torch.manual_seed(5)
    before = torch.get_rng_state()
    y.sum().backward()
    return [torch.equal(before, torch.get_rng_state()), torch.equal(x.grad, y.detach())]


TEST = """
def test_checkpoint_leaves_the_surrounding_rng_state_alone(self, torch):
    checkpoint = torch.utils.checkpoint.checkpoint
    for use_reentrant in (True, False):
        for early_stop in (True, False):
            x = torch.ones(50, requires_grad=True)
            with torch.utils.checkpoint.set_checkpoint_early_stop(early_stop):
                y = checkpoint(lambda x: torch.nn.functional.dropout(x).exp(), x, use_reentrant=use_reentrant)
            torch.rand(3)
            before = torch.get_rng_state()
            y.sum().backward()
            self.assertEqual(torch.get_rng_state(), before)
"""
WRONG = {
    "always forks": [("torch/utils/checkpoint.py", "enabled=bool(rng_devices)", "enabled=True")],
    "*puts the state back if the recomputation stops early": [
        (
            "torch/utils/checkpoint.py",
            """                args = frame.get_inputs()

                try:
""",
            """                args = frame.get_inputs()
                surrounding_state = torch.get_rng_state()

                try:
""",
        ),
        (
            "torch/utils/checkpoint.py",
            """                except _StopRecomputationError:
                    pass
""",
            """                except _StopRecomputationError:
                    torch.set_rng_state(surrounding_state)
""",
        ),
    ],
    "forks for the first recomputation only": [
        (
            "torch/utils/checkpoint.py",
            "enabled=bool(rng_devices)",
            "enabled=preserve_rng_state and not any(new_frame.is_recomputed.values())",
        )
    ],
    "puts the state back after the recomputation, whoever asked": [
        (
            "torch/utils/checkpoint.py",
            """                args = frame.get_inputs()

                try:
""",
            """                args = frame.get_inputs()
                surrounding_state = torch.get_rng_state()

                try:
""",
        ),
        (
            "torch/utils/checkpoint.py",
            """                except _StopRecomputationError:
                    pass
""",
            """                except _StopRecomputationError:
                    pass
                torch.set_rng_state(surrounding_state)
""",
        ),
    ],
    "*does not touch the state without a device": [
        (
            "torch/utils/checkpoint.py",
            """            if preserve_rng_state:
                torch.set_rng_state(fwd_cpu_state)
                if had_device_in_fwd:
                    set_device_states(fwd""",
            """            if rng_devices:
                torch.set_rng_state(fwd_cpu_state)
                if had_device_in_fwd:
                    set_device_states(fwd""",
        )
    ],
}
RIGHT = {
    "as PyTorch has it": [("torch/utils/checkpoint.py", "enabled=bool(rng_devices)", "enabled=preserve_rng_state")],
    "forks the CPU's state and those of the devices one after the other": [
        (
            "torch/utils/checkpoint.py",
            """        with torch.random.fork_rng(
            devices=rng_devices, enabled=bool(rng_devices), device_type=device_type
        ):
""",
            """        with (
            torch.random.fork_rng(devices=[], enabled=preserve_rng_state),
            torch.random.fork_rng(devices=rng_devices, enabled=bool(rng_devices), device_type=device_type),
        ):
""",
        )
    ],
    "the hook that asks for the recomputation forks": [
        (
            "torch/utils/checkpoint.py",
            """                    with _recomputation_hook(
                        weakref.ref(frame), gid
                    ), torch""",
            """                    with torch.random.fork_rng(
                        devices=[], enabled=frame.preserve_rng_state
                    ), _recomputation_hook(
                        weakref.ref(frame), gid
                    ), torch""",
        ),
        (
            "torch/utils/checkpoint.py",
            """    if not torch.is_grad_enabled():
        yield
        return

    new_frame.save""",
            """    new_frame.preserve_rng_state = preserve_rng_state
    if not torch.is_grad_enabled():
        yield
        return

    new_frame.save""",
        ),
    ],
}
