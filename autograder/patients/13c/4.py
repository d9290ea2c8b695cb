"""A gradient belongs to other noise than the result: the backward graph draws the noise again.

An operator may be computed again if it can be fused. The two lists of operators differ by the random ones that are pointwise. Other
random operators, such as dropout, can neither be fused nor be computed again. Modelled on pytorch issues 190717 and 190758: the
partitioner computes a random operator again in the backward.
"""

import operator

from rushlight.aot.partition import FUSIBLE, Node, is_fusible, is_view_node, operator_name, size_of

AT = "aot.partition.may_recompute"


def symptom(xp):
    """Multiply features by a scale, dropout and noise: this is linear in the scale, so scale times gradient is the output."""
    dropout, rand_like = xp.nn.functional.dropout, xp.rand_like

    def noisy(x, scale):
        hidden = dropout(x * scale, 0.25)
        noise = rand_like(x) + 0.5
        return (hidden * noise).sum(0)

    x, scale = xp.arange(12.0).reshape(4, 3), xp.tensor([1.0, 2.0, 4.0], requires_grad=True)
    output = xp.compile(noisy, backend="aot_eager")(x, scale)
    output.sum().backward()
    return [round(value, 3) for value in (output - scale.grad * scale).tolist()]


def may_recompute(node, info):
    if node.target is operator.getitem or is_view_node(node):
        return True
    if operator_name(node) not in FUSIBLE:
        return False
    waiting = [node]
    while waiting:
        current = waiting.pop()
        for user in current.users:
            if user not in info.required_fw and (not is_fusible(current, user)):
                return False
            if is_view_node(user):
                waiting.append(user)
    return size_of(node) * 4 >= sum(size_of(arg) for arg in node.args if isinstance(arg, Node))
