"""AMSGrad forgets the largest average of squares: it is computed, used, and never stored.

The first steps are right, and so is every step in which the average grows. After a large gradient the average shrinks, and from
then on the steps are larger than they may be. Modelled on a finding in the review of pytorch pull request 4034, which added
AMSGrad: the maximum was assigned to a local variable only.
"""

from rushlight.aten.generated import functions

AT = "optim.optimizer.adam"


def symptom(xp):
    """Train a weight for twelve steps on targets of which the first is an outlier."""
    weight = xp.nn.Parameter(xp.zeros(2))
    bias = xp.nn.Parameter(xp.zeros(1))
    groups = [{"params": [weight], "amsgrad": True}, {"params": [bias], "weight_decay": 0.1}]
    optimizer = xp.optim.Adam(groups, lr=0.1, betas=(0.9, 0.5))
    scheduler = xp.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
    for target in [20.0] + 11 * [1.0]:
        optimizer.zero_grad()
        ((weight.sum() + bias - target) ** 2).backward()
        xp.nn.utils.clip_grad_norm_([weight, bias], 50.0)
        optimizer.step()
        scheduler.step()
    return weight.detach(), bias.detach()


def adam(
    params, grads, exp_avgs, exp_avg_sqs, max_exp_avg_sqs, state_steps, *,
    lr, beta1, beta2, eps, weight_decay, amsgrad, maximize, decoupled_weight_decay,
):  # fmt: skip
    for i, (param, grad, exp_avg, exp_avg_sq, step) in enumerate(
        zip(params, grads, exp_avgs, exp_avg_sqs, state_steps)
    ):
        step.add_(1)
        if maximize:
            grad = -grad
        if weight_decay != 0 and decoupled_weight_decay:
            param.mul_(1 - lr * weight_decay)
        elif weight_decay != 0:
            grad = grad.add(param, alpha=weight_decay)
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        if amsgrad:
            exp_avg_sq = functions.maximum(max_exp_avg_sqs[i], exp_avg_sq)
        steps = step.item()
        scale = (1 - beta2**steps) ** 0.5
        param.addcdiv_(exp_avg, exp_avg_sq.sqrt().div_(scale).add_(eps), value=-lr / (1 - beta1**steps))
