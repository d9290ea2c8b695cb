"""Changes to `adamw_step`, for the review of lab 09c."""

AT = "distributed.fsdp.adamw_step"
CASE = {"grads": ("steps", 2)}


def adamw_step(parameters, states, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
    with torch.no_grad():
        for p in parameters:
            if p.grad is None:
                continue
            if p not in states:
                states[p] = {"step": 0, "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}
            state, (beta1, beta2) = states[p], betas
            state["step"] += 1
            state["exp_avg"].mul_(beta1).add_(p.grad, alpha=1 - beta1)
            state["exp_avg_sq"].mul_(beta2).addcmul_(p.grad, p.grad, value=1 - beta2)
            mean = state["exp_avg"] / (1 - beta1 ** state["step"])
            square = state["exp_avg_sq"] / (1 - beta2 ** state["step"])
            p.mul_(1 - lr * weight_decay).addcdiv_(mean, square.sqrt().add_(eps), value=-lr)


RIGHT = {
    # no moment reads the parameter
    "a": [
        (
            "            if p not in states:\n",
            "            p.mul_(1 - lr * weight_decay)\n            if p not in states:\n",
        ),
        ("p.mul_(1 - lr * weight_decay).addcdiv_", "p.addcdiv_"),
    ],
    # a quotient may be divided in another order, and eps is added after the correction
    "d": [
        (
            '            mean = state["exp_avg"] / (1 - beta1 ** state["step"])\n'
            '            square = state["exp_avg_sq"] / (1 - beta2 ** state["step"])\n',
            '            size = lr / (1 - beta1 ** state["step"])\n'
            '            root = state["exp_avg_sq"].sqrt() / (1 - beta2 ** state["step"]) ** 0.5\n',
        ),
        (
            "addcdiv_(mean, square.sqrt().add_(eps), value=-lr)",
            'addcdiv_(state["exp_avg"], root.add_(eps), value=-size)',
        ),
    ],
}
WRONG = {
    # a parameter without a gradient gets no state, which would be twice its bytes
    "b": [
        (
            "            if p not in states:\n"
            '                states[p] = {"step": 0, "exp_avg": torch.zeros_like(p), "exp_avg_sq": torch.zeros_like(p)}\n',
            "            for each in parameters if not states else ():\n"
            '                states[each] = {"step": 0, "exp_avg": torch.zeros_like(each), "exp_avg_sq": torch.zeros_like(each)}\n',
        )
    ],
    # a parameter without a gradient does not change
    "c": [
        (
            "            if p.grad is None:\n                continue\n",
            "            p.mul_(1 - lr * weight_decay)\n            if p.grad is None:\n                continue\n",
        ),
        ("p.mul_(1 - lr * weight_decay).addcdiv_", "p.addcdiv_"),
    ],
    # every parameter counts its own steps
    "e": [
        (
            '            mean = state["exp_avg"] / (1 - beta1 ** state["step"])\n'
            '            square = state["exp_avg_sq"] / (1 - beta2 ** state["step"])\n',
            '            step = max(each["step"] for each in states.values())\n'
            '            mean = state["exp_avg"] / (1 - beta1**step)\n'
            '            square = state["exp_avg_sq"] / (1 - beta2**step)\n',
        )
    ],
}
