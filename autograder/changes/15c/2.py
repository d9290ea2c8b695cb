"""SequentialLR: the second training phase has other learning rates when the rate is a tensor

I train in two phases with one optimizer, on 2.13.0, Linux, CPU. Each phase builds its own schedule, a warm-up with
LinearLR and then StepLR, joined by SequentialLR. With `lr=0.5` both phases have the same rates, as they should: a
schedule starts from the optimizer's initial rate. Since we pass the rate as a tensor, so that a compiled step does not
compile again, the second phase starts from a rate that is far too small. The program below prints the rates of both
phases, for a float and for a tensor of the same value: I expected two equal lists. The second half of the second list
is wrong.

What I tried: the first phase is right. If each phase has only LinearLR or only StepLR, without SequentialLR, the
tensor behaves like the float. With another optimizer (Adagrad, RMSprop) the rates are the same wrong ones.
"""

ABOUT = (
    "When the rates are put back, the group's rate becomes the very tensor that is stored as its initial rate, and all "
    "schedulers write in place afterwards. Modelled on pytorch issue 162359 (SequentialLR aliases lr with initial_lr "
    "and corrupts the base rates) and pull request 162360 (fills the tensor instead). The proposed patch is right: it "
    "writes into the user's tensor, as every scheduler does."
)
AT = ("torch/optim/lr_scheduler.py", "SequentialLR.__init__")
FAULT = [
    (
        "torch/optim/lr_scheduler.py",
        """            _update_param_group_val(group, "lr", group["initial_lr"])

        # "Undo" the step performed by other schedulers
        self.recursive_undo()
""",
        """            group["lr"] = group["initial_lr"]

        # "Undo" the step performed by other schedulers
        self.recursive_undo()
""",
    )
]
NEEDS = {"torch/optim/lr_scheduler.py"}
STATEMENTS = 6
LINES = 14
LINK = (
    "SequentialLR.__init__ puts the initial rates back, then LRScheduler._initial_step -> _update_lr -> "
    "_update_param_group_val fills the group's tensor. Dead end: LRScheduler.__init__, which copies the rate when it "
    "stores the initial one."
)


def symptom(torch):
    schedulers = torch.optim.lr_scheduler

    def rates(lr):
        optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(2))], lr=lr)
        seen = []
        for _ in range(2):
            warmup = schedulers.LinearLR(optimizer, start_factor=0.25, total_iters=2)
            decay = schedulers.StepLR(optimizer, step_size=1, gamma=0.5)
            schedule = schedulers.SequentialLR(optimizer, [warmup, decay], milestones=[2])
            for _ in range(4):
                seen.append(float(optimizer.param_groups[0]["lr"]))
                optimizer.step()
                schedule.step()
        return seen

    return [rates(0.5), rates(torch.tensor(0.5))]


def reproduced(torch):
    optimizer = torch.optim.SGD([torch.ones(1)], lr=torch.tensor(0.5))
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 0.25)
    torch.optim.lr_scheduler.SequentialLR(optimizer, [schedule], [])
    return optimizer.param_groups[0]["initial_lr"]


def hidden__the_users_tensor(torch):
    schedulers = torch.optim.lr_scheduler
    lr = torch.tensor(0.5)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=lr)
    parts = [schedulers.ConstantLR(optimizer, 0.5, 2), schedulers.ExponentialLR(optimizer, 0.5)]
    schedule = schedulers.SequentialLR(optimizer, parts, [2])
    seen = [float(lr)]
    for _ in range(4):
        optimizer.step()
        schedule.step()
        seen.append(float(lr))
    return [seen, optimizer.param_groups[0]["lr"] is lr]


def hidden__groups_with_rates_of_their_own(torch):
    schedulers = torch.optim.lr_scheduler
    groups = [
        {"params": [torch.nn.Parameter(torch.ones(1))], "lr": torch.tensor(1.0)},
        {"params": [torch.nn.Parameter(torch.ones(1))], "lr": torch.tensor(0.25, dtype=torch.float64)},
        {"params": [torch.nn.Parameter(torch.ones(1))]},
    ]
    optimizer = torch.optim.SGD(groups, lr=2.0)
    parts = [schedulers.LinearLR(optimizer, 0.5, total_iters=2), schedulers.StepLR(optimizer, 1, 0.5)]
    schedule = schedulers.SequentialLR(optimizer, parts, [2])
    seen = []
    for _ in range(4):
        optimizer.step()
        schedule.step()
        seen.append(schedule.get_last_lr())
    return [seen, [group["initial_lr"] for group in optimizer.param_groups]]


def hidden__saved_in_the_middle(torch):
    schedulers = torch.optim.lr_scheduler
    optimizer = torch.optim.RMSprop([torch.nn.Parameter(torch.ones(1))], lr=torch.tensor(0.5))
    parts = [schedulers.ConstantLR(optimizer, 0.25, 9), schedulers.ConstantLR(optimizer, 0.5, 9)]
    schedulers.SequentialLR(optimizer, parts, [1])
    group = optimizer.state_dict()["param_groups"][0]
    return [group["lr"], group["initial_lr"], group["lr"] is group["initial_lr"]]


def hidden__one_inside_another(torch):
    schedulers = torch.optim.lr_scheduler
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=torch.tensor(1.0))
    inner = [schedulers.LinearLR(optimizer, 0.25, total_iters=2), schedulers.StepLR(optimizer, 1, 0.5)]
    outer = [schedulers.SequentialLR(optimizer, inner, [2]), schedulers.ConstantLR(optimizer, 0.5, 9)]
    schedule = schedulers.SequentialLR(optimizer, outer, [4])
    seen = [float(optimizer.param_groups[0]["lr"])]
    for _ in range(6):
        optimizer.step()
        schedule.step()
        seen.append(float(optimizer.param_groups[0]["lr"]))
    return [seen, optimizer.param_groups[0]["initial_lr"]]


def kept__floats(torch):
    schedulers = torch.optim.lr_scheduler
    groups = [{"params": [torch.ones(1)]}, {"params": [torch.ones(1)], "lr": 0.125}]
    optimizer = torch.optim.SGD(groups, lr=1.0)
    parts = [schedulers.LinearLR(optimizer, 0.5, total_iters=2), schedulers.StepLR(optimizer, 1, 0.5)]
    schedule = schedulers.SequentialLR(optimizer, parts, [2])
    seen = [schedule.get_last_lr()]
    for _ in range(4):
        optimizer.step()
        schedule.step()
        seen.append(schedule.get_last_lr())
    return [seen, [group["initial_lr"] for group in optimizer.param_groups]]


def kept__rates_of_the_first_phase(torch):
    schedulers = torch.optim.lr_scheduler
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=torch.tensor([1.0]))
    parts = [
        schedulers.LinearLR(optimizer, 0.25, total_iters=2),
        schedulers.ConstantLR(optimizer, 0.5, 2),
        schedulers.StepLR(optimizer, 2, 0.25),
    ]
    schedule = schedulers.SequentialLR(optimizer, parts, [2, 5])
    seen = [optimizer.param_groups[0]["lr"].clone()]
    for _ in range(8):
        optimizer.step()
        schedule.step()
        seen.append(optimizer.param_groups[0]["lr"].clone())
    return seen


def kept__chained(torch):
    schedulers = torch.optim.lr_scheduler
    lr = torch.tensor(1.0)
    optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=lr)
    schedule = schedulers.ChainedScheduler(
        [schedulers.ConstantLR(optimizer, 0.5, 2), schedulers.ExponentialLR(optimizer, 0.5)]
    )
    seen = [float(lr)]
    for _ in range(3):
        optimizer.step()
        schedule.step()
        seen.append(float(lr))
    return [seen, optimizer.param_groups[0]["initial_lr"]]


TEST = """
def test_sequential_lr_leaves_tensor_initial_lr_alone(self, torch):
    schedulers = torch.optim.lr_scheduler
    shared, own = torch.tensor(1.0), torch.tensor(0.5)
    groups = [{"params": [torch.ones(1)]}, {"params": [torch.ones(1)], "lr": own}]
    for default, used in ((shared, [shared, own]), (2.0, [2.0, own])):
        own.fill_(0.5)
        optimizer = torch.optim.SGD([dict(group) for group in groups], lr=default)
        initial = [float(lr) for lr in used]
        parts = [schedulers.LinearLR(optimizer, 0.25, total_iters=2), schedulers.StepLR(optimizer, 1, 0.5)]
        schedule = schedulers.SequentialLR(optimizer, parts, [2])
        for factor in (0.25, 0.625, 1.0, 0.5):
            self.assertEqual([float(group["lr"]) for group in optimizer.param_groups], [factor * lr for lr in initial])
            self.assertEqual([float(group["initial_lr"]) for group in optimizer.param_groups], initial)
            optimizer.step()
            schedule.step()
        self.assertIs(optimizer.param_groups[1]["lr"], own)
"""
PATCH = "writes into the tensor, after the steps are undone"
PULL = """SequentialLR: write the initial rate into the group's tensor

`SequentialLR` puts the rate of each group back to `initial_lr` by assignment. If the rate is a tensor, `lr` and
`initial_lr` are one object afterwards, and the first scheduler's in-place update changes both. With this patch a tensor
is filled with the value of `initial_lr`. Floats are assigned as before. I have moved the loop behind
`recursive_undo()`, next to the initial step that reads the rates; undoing only counts `last_epoch` down.

Test plan: for `lr=torch.tensor(0.5)` and LinearLR, then StepLR, `initial_lr` is 0.5 after four steps (before:
0.125), and a second SequentialLR over the same optimizer has the rates of the first.
"""
WRONG = {
    "*assigns a copy of the initial rate": [
        (
            "torch/optim/lr_scheduler.py",
            """            group["lr"] = group["initial_lr"]

""",
            """            initial_lr = group["initial_lr"]
            if isinstance(initial_lr, Tensor):
                initial_lr = initial_lr.clone()
            group["lr"] = initial_lr

""",
        )
    ],
    "*fills tensors if the optimizer's default is one": [
        (
            "torch/optim/lr_scheduler.py",
            """            group["lr"] = group["initial_lr"]

""",
            """            if isinstance(self.optimizer.defaults["lr"], Tensor):
                _update_param_group_val(group, "lr", group["initial_lr"])
            else:
                group["lr"] = group["initial_lr"]

""",
        )
    ],
    "stores a copy as the initial rate": [
        (
            "torch/optim/lr_scheduler.py",
            """            group["lr"] = group["initial_lr"]

""",
            """            group["lr"] = group["initial_lr"]
            if isinstance(group["lr"], Tensor):
                group["initial_lr"] = group["lr"].clone()

""",
        )
    ],
    "leaves tensors as the schedulers made them": [
        (
            "torch/optim/lr_scheduler.py",
            """            group["lr"] = group["initial_lr"]

""",
            """            if not isinstance(group["lr"], Tensor):
                group["lr"] = group["initial_lr"]

""",
        )
    ],
}
RIGHT = {
    "as PyTorch has it": [
        (
            "torch/optim/lr_scheduler.py",
            """            group["lr"] = group["initial_lr"]

""",
            """            _update_param_group_val(group, "lr", group["initial_lr"])

""",
        )
    ],
    "writes into the tensor, after the steps are undone": [
        (
            "torch/optim/lr_scheduler.py",
            """        # Reset learning rates back to initial values
        for group in self.optimizer.param_groups:
            group["lr"] = group["initial_lr"]

        # "Undo" the step performed by other schedulers
        self.recursive_undo()

""",
            """        # "Undo" the step performed by other schedulers
        self.recursive_undo()

        # Reset learning rates back to initial values
        for group in self.optimizer.param_groups:
            if isinstance(group["lr"], Tensor):
                group["lr"].fill_(_to_scalar(group["initial_lr"]))
            else:
                group["lr"] = group["initial_lr"]

""",
        )
    ],
    "copies from the initial tensor": [
        (
            "torch/optim/lr_scheduler.py",
            """            group["lr"] = group["initial_lr"]

""",
            """            lr, initial_lr = group["lr"], group["initial_lr"]
            if isinstance(lr, Tensor):
                initial_lr = lr.copy_(initial_lr) if isinstance(initial_lr, Tensor) else lr.fill_(initial_lr)
            group["lr"] = initial_lr

""",
        )
    ],
}
