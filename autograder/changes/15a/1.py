"""Adam: a resumed bfloat16 run drifts away from the run that was never stopped

I train a small model whose parameters are `torch.bfloat16` with Adam on 2.13.0 (Linux, CPU). After 300 steps I save
the optimizer's `state_dict()` and load it into a fresh Adam over a copy of the weights, then give both optimizers the
same gradients. I expected the two runs to stay equal, bit for bit. They do for a handful of steps, then they part for
good. The program below does it: it should say that the weights are equal after 200 more steps, and says that all four
of them differ, by about a tenth.

What I tried: the moments right after loading are equal to those that were saved, and so are `lr` and `betas`. With
float32 parameters there is no difference at all. A run that I resume after 100 steps goes well for a while too. With
`beta2=0.5` I could not see a difference, and SGD with momentum shows none. `foreach=True` and `foreach=False` behave
the same.
"""

ABOUT = (
    "Loading an optimizer's state casts the step count to the dtype of its parameter, in which bfloat16 cannot "
    "count beyond 256. Modelled on pytorch issue 74424 (the step count of Adam is cast like the moments when a "
    "state is loaded), pull request 75214 (leaves it alone) and pull request 102619 (except for fused and "
    "capturable optimizers)."
)
AT = ("torch/optim/optimizer.py", "Optimizer._process_value_according_to_param_policy")
FAULT = [
    (
        "torch/optim/optimizer.py",
        """        # Make sure state['step'] is not casted https://github.com/pytorch/pytorch/issues/74424
        # UNLESS fused or capturable, see note [special device hosting for step]
""",
        """        # Fused and capturable keep their own kind of step, see note [special device hosting for step]
""",
    ),
    (
        "torch/optim/optimizer.py",
        """        if key == "step":
            if capturable or fused:
                return value.to(dtype=torch.float32, device=param.device)
            else:
                return value
        else:
            if param.is_floating_point():
                return value.to(dtype=param.dtype, device=param.device)
            else:
                return value.to(device=param.device)
""",
        """        if key == "step" and (capturable or fused):
            return value.to(dtype=torch.float32, device=param.device)
        elif param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
        else:
            return value.to(device=param.device)
""",
    ),
]
NEEDS = {"torch/optim/adam.py", "torch/optim/optimizer.py"}
STATEMENTS = 6
LINES = 8
LINK = (
    "Optimizer.load_state_dict -> _cast -> _process_value_according_to_param_policy, then Adam.step -> "
    "_single_tensor_adam, which counts on in the step it was given and corrects the bias with it. Dead end: "
    "Adam.__setstate__, which also handles the dtype of step, but only for old states whose step is a number."
)


def symptom(torch):
    import copy

    def train(optimizer, weight, steps):
        for i in steps:
            sign = 1 if i // 10 % 2 else -1
            weight.grad = sign * torch.tensor([1.0, -1.0, 2.0, 0.5], dtype=weight.dtype)
            optimizer.step()

    weight = torch.nn.Parameter(torch.zeros(4, dtype=torch.bfloat16))
    optimizer = torch.optim.Adam([weight], lr=0.02)
    train(optimizer, weight, range(300))

    again = torch.nn.Parameter(weight.detach().clone())
    resumed = torch.optim.Adam([again], lr=0.02)
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    equal_at_first = torch.equal(weight, again)

    train(optimizer, weight, range(300, 500))
    train(resumed, again, range(300, 500))
    return [equal_at_first, torch.equal(weight, again), int((weight != again).sum())]


def reproduced(torch):
    optimizer = torch.optim.Adagrad([torch.zeros(1, dtype=torch.bfloat16)])
    optimizer.load_state_dict(optimizer.state_dict())
    return optimizer.state_dict()["state"][0]["step"]


def hidden__counts_on_beyond_256(torch):
    results = []
    for kind in (torch.optim.Adagrad, torch.optim.RAdam, torch.optim.NAdam, torch.optim.Adamax, torch.optim.Rprop):
        weight = torch.nn.Parameter(torch.ones(2, dtype=torch.bfloat16))
        weight.grad = torch.ones_like(weight)
        optimizer = kind([weight])
        optimizer.step()
        state = optimizer.state_dict()
        state["state"][0]["step"] = torch.tensor(256.0)
        optimizer.load_state_dict(state)
        for _ in range(5):
            optimizer.step()
        step = optimizer.state[weight]["step"]
        results.append([kind.__name__, float(step), str(step.dtype)])
    return results


def hidden__half_and_foreach(torch):
    weight = torch.nn.Parameter(torch.ones(2, dtype=torch.float16))
    weight.grad = torch.ones_like(weight)
    optimizer = torch.optim.Adam([weight], foreach=True)
    optimizer.step()
    state = optimizer.state_dict()
    state["state"][0]["step"] = torch.tensor(4097.0)
    optimizer.load_state_dict(state)
    return optimizer.state[weight]["step"]


def hidden__step_in_double(torch):
    torch.set_default_dtype(torch.float64)
    weight = torch.nn.Parameter(torch.ones(2, dtype=torch.float32))
    weight.grad = torch.ones_like(weight)
    optimizer = torch.optim.AdamW([weight])
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    return [optimizer.state[weight]["step"], str(optimizer.state[weight]["exp_avg"].dtype)]


def hidden__step_of_integers(torch):
    class Counting(torch.optim.Optimizer):
        def __init__(self, params):
            super().__init__(params, {"lr": 1.0})

        def step(self):
            for group in self.param_groups:
                for weight in group["params"]:
                    state = self.state[weight]
                    state["step"] = state.get("step", torch.tensor(2**24)) + 1

    weight = torch.nn.Parameter(torch.ones(2))
    optimizer = Counting([weight])
    optimizer.step()
    optimizer.load_state_dict(optimizer.state_dict())
    optimizer.step()
    return optimizer.state[weight]["step"]


def hidden__step_stays_on_the_host(torch):
    old_weight = torch.nn.Parameter(torch.ones(2))
    old_weight.grad = torch.ones(2)
    old = torch.optim.Adam([old_weight])
    old.step()
    weight = torch.nn.Parameter(torch.ones(2, device="meta"))
    optimizer = torch.optim.Adam([weight])
    optimizer.load_state_dict(old.state_dict())
    state = optimizer.state[weight]
    return [str(state["step"].device), str(state["exp_avg"].device)]


def kept__moments_follow_the_parameter(torch):
    results = []
    for new in (torch.bfloat16, torch.float64):
        old_weight = torch.nn.Parameter(torch.ones(2))
        old_weight.grad = torch.ones(2)
        old = torch.optim.Adam([old_weight], amsgrad=True)
        old.step()
        weight = torch.nn.Parameter(torch.ones(2, dtype=new))
        optimizer = torch.optim.Adam([weight], amsgrad=True)
        optimizer.load_state_dict(old.state_dict())
        state = optimizer.state[weight]
        results.append([str(state[name].dtype) for name in ("exp_avg", "exp_avg_sq", "max_exp_avg_sq")])
    return results


def kept__moments_of_a_scalar(torch):
    old_weight = torch.nn.Parameter(torch.tensor(1.0))
    old_weight.grad = torch.tensor(1.0)
    old = torch.optim.NAdam([old_weight])
    old.step()
    weight = torch.nn.Parameter(torch.tensor(1.0, dtype=torch.bfloat16))
    optimizer = torch.optim.NAdam([weight])
    optimizer.load_state_dict(old.state_dict())
    return [str(optimizer.state[weight][name].dtype) for name in ("exp_avg", "exp_avg_sq", "mu_product")]


def kept__fused_step_is_float32(torch):
    weight = torch.nn.Parameter(torch.ones(2, dtype=torch.bfloat16))
    weight.grad = torch.ones_like(weight)
    optimizer = torch.optim.AdamW([weight], fused=True)
    optimizer.step()
    results = []
    for step in (torch.tensor(300, dtype=torch.int64), torch.tensor(301.0, dtype=torch.float64)):
        state = optimizer.state_dict()
        state["state"][0]["step"] = step
        optimizer.load_state_dict(state)
        optimizer.step()
        results.append(optimizer.state[weight]["step"].clone())
    return results


def kept__integer_parameter(torch):
    weight = torch.zeros(2, dtype=torch.int64)
    optimizer = torch.optim.SGD([weight], momentum=0.9)
    state = optimizer.state_dict()
    state["state"][0] = {"momentum_buffer": torch.tensor([0.5, 1.5]), "pair": (torch.ones(1), 2)}
    optimizer.load_state_dict(state)
    return [optimizer.state[weight]["momentum_buffer"], optimizer.state[weight]["pair"]]


TEST = """
def test_loaded_step_keeps_its_dtype(self, torch):
    for optim_cls in (torch.optim.Adagrad, torch.optim.Adam):
        for dtype in (torch.bfloat16, torch.float16, torch.float64):
            param = torch.nn.Parameter(torch.ones(2, dtype=dtype))
            param.grad = torch.ones_like(param)
            optim = optim_cls([param])
            optim.step()
            state_dict = optim.state_dict()
            state_dict["state"][0]["step"] = torch.tensor(2049.0)
            optim.load_state_dict(state_dict)
            self.assertEqual(optim.state[param]["step"].dtype, torch.float32)
            optim.step()
            self.assertEqual(optim.state[param]["step"].item(), 2050.0)
"""
WRONG = {
    "keeps the dtype of a step, and moves it to the parameter's device": [
        (
            "torch/optim/optimizer.py",
            """        elif param.is_floating_point():
            return value.to(dtype=param.dtype""",
            """        elif key != "step" and param.is_floating_point():
            return value.to(dtype=param.dtype""",
        )
    ],
    "makes every step float32": [
        (
            "torch/optim/optimizer.py",
            """        if key == "step" and (capturable or fused):""",
            """        if key == "step":""",
        )
    ],
    "leaves every step as it is, fused too": [
        (
            "torch/optim/optimizer.py",
            """        if key == "step" and (capturable or fused):
            return value.to(dtype=torch.float32, device=param.device)
""",
            """        if key == "step":
            return value
""",
        )
    ],
    "leaves every tensor without dimensions as it is": [
        (
            "torch/optim/optimizer.py",
            """        elif param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
""",
            """        elif value.dim() == 0:
            return value
        elif param.is_floating_point():
            return value.to(dtype=param.dtype, device=param.device)
""",
        )
    ],
    "*does not cast for parameters of low precision": [
        (
            "torch/optim/optimizer.py",
            """        elif param.is_floating_point():
            return value.to(dtype=param.dtype""",
            """        elif param.is_floating_point() and param.dtype.itemsize >= 4:
            return value.to(dtype=param.dtype""",
        )
    ],
    "*Adam makes its step float32 again after a load": [
        (
            "torch/optim/adam.py",
            """                p_state = self.state.get(p, [])
                if len(p_state) != 0 and not torch.is_tensor(p_state["step"]):
                    step_val = float(p_state["step"])
""",
            """                p_state = self.state.get(p, [])
                if len(p_state) != 0 and torch.is_tensor(p_state["step"]):
                    p_state["step"] = p_state["step"].float()
                if len(p_state) != 0 and not torch.is_tensor(p_state["step"]):
                    step_val = float(p_state["step"])
""",
        )
    ],
}
RIGHT = {
    "as PyTorch has it": [
        (
            "torch/optim/optimizer.py",
            """        if key == "step" and (capturable or fused):
            return value.to(dtype=torch.float32, device=param.device)
        elif param""",
            """        if key == "step":
            if capturable or fused:
                return value.to(dtype=torch.float32, device=param.device)
            else:
                return value
        elif param""",
        )
    ],
    "one more branch": [
        (
            "torch/optim/optimizer.py",
            """        elif param.is_floating_point():
            return value.to(dtype=param.dtype""",
            """        elif key == "step":
            return value
        elif param.is_floating_point():
            return value.to(dtype=param.dtype""",
        )
    ],
    "the function that copies the state skips it": [
        (
            "torch/optim/optimizer.py",
            """            if isinstance(value, torch.Tensor):
                return Optimizer._process_value_according_to_param_policy(
""",
            """            if isinstance(value, torch.Tensor):
                own_step = any(
                    group.get("fused") or group.get("capturable")
                    for group in param_groups or ()
                    if param_id in group["params"]
                )
                if key == "step" and not own_step:
                    return value
                return Optimizer._process_value_according_to_param_policy(
""",
        )
    ],
}
