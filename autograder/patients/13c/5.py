"""A gradient penalty has the wrong gradient: an operator saves its output without the graph that leads to it.

A value that a backward reads and that no graph leads to is a constant in the second derivative. The first derivative is right.
Modelled on pytorch issue 58509, about values that a custom Function keeps for its backward, and on issue 76185.
"""

AT = "on_torch.custom_ops.fused_linear_setup_context"


def symptom(xp):
    """Train a critic, whose slope is kept near 1."""
    x = xp.tensor([[0.5, -1.0], [1.0, 0.25], [-0.5, 0.75]], requires_grad=True)
    weight = xp.tensor([[1.0, -0.5], [0.25, 0.75]], requires_grad=True)
    bias, head = xp.zeros(2, requires_grad=True), xp.tensor([[1.5, -1.0]], requires_grad=True)
    optimizer, seen = xp.optim.SGD([weight, bias, head], lr=0.5), []
    for _ in range(3):
        score = xp.fused_linear(xp.fused_linear(x, weight, bias, "tanh"), head)
        (slope,) = xp.autograd.grad(score.sum(), x, create_graph=True)
        penalty = ((slope.norm(dim=1) - 1) ** 2).mean()
        optimizer.zero_grad()
        (score.mean() + penalty).backward()
        optimizer.step()
        seen.append([round(number.item(), 3) for number in (score.mean(), penalty)])
    return seen


def fused_linear_setup_context(ctx, inputs, output):
    x, weight, bias, activation = inputs
    needs_x, needs_weight, *_ = ctx.needs_input_grad
    again = activation == "gelu"
    ctx.save_for_backward(
        x if needs_weight or again else None,
        weight if needs_x or again else None,
        bias if again else None,
        output.detach() if activation in ("relu", "tanh") else None,
    )
    ctx.activation = activation
