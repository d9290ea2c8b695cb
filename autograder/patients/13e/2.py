"""A scaler makes a step with infinite gradients: what it finds in one gradient is forgotten at the next one.

A step is skipped if *any* gradient is infinite or NaN. Here only the last gradient decides. It is that of a bias, which overflows
last of all. Modelled on pull request 890 of `facebookresearch/fairscale`, where only the first tensor was checked, and on pytorch
pull request 97415, about a check of gradients that has been made too early.
"""

from rushlight.aten.generated import functions

AT = "amp.grad_scaler.unscale_grads"


def symptom(xp):
    """Train two layers with a scaled loss and clipped gradients. The third batch has an outlier, so its gradients overflow."""
    model = xp.nn.Sequential(xp.nn.Linear(2, 2), xp.nn.Linear(2, 1))
    for parameter in model.parameters():
        xp.nn.init.constant_(parameter, 0.25)
    optimizer = xp.optim.SGD(model.parameters(), lr=0.25)
    scaler = xp.amp.GradScaler("cpu", init_scale=2.0**119, growth_interval=2)
    losses, scales = [], []
    for size in (1.0, 2.0, 9000.0, 1.0, 2.0):
        loss = (model(xp.tensor([[1.0, size], [size, -1.0]])) - 1).abs().mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        xp.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(round(loss.item(), 3))
        scales.append(scaler.get_scale() / 2.0**119)
    return losses, scales, model[0].weight


def unscale_grads(grads, scale):
    inverse, found_inf = scale.double().reciprocal().float(), False
    for grad in grads:
        found_inf = not functions.isfinite(grad).all().item()
        grad.mul_(inverse)
    return found_inf
