"""A result that was overwritten is used in backward as if it were the old one: its version is not compared.

A node saves tensors of two kinds. For a result of its own, the early return comes before the comparison of versions, so an
operator that computes its gradient from its result, such as `tanh`, differentiates at the overwritten values. Modelled on pytorch
issues 14571, a write that goes unnoticed and gives a wrong gradient, and 9391, the error that such a write must raise.
"""

from rushlight.autograd.graph import Edge, _describe_origin, with_edge

AT = "autograd.graph.unpack_saved"


def symptom(xp):
    """Draw the hidden units that stay, drop the others in place, and train the layer before them."""
    x = xp.arange(8.0).reshape(2, 4) / 8
    layer = xp.nn.Linear(4, 3)
    with xp.no_grad():
        layer.weight.fill_(0.25)
        layer.bias.zero_()
    hidden = xp.tanh(layer(x))
    kept = xp.tensor([2.0, 0.0, 2.0])
    hidden *= kept
    hidden.sum().backward()
    return layer.bias.grad


def unpack_saved(saved, node):
    if saved.unpack_hook is not None:
        tensor, edge = saved.unpack_hook(saved.packed), Edge(node, saved.output_nr) if saved.is_output else saved.edge
        return with_edge(tensor, edge) if edge.node is not None else tensor
    tensor = saved.tensor
    if saved.is_output:
        return with_edge(tensor, Edge(node, saved.output_nr))
    if tensor._storage.version != saved.version:
        raise RuntimeError(
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[{tensor.dtype.type_name}Tensor {list(tensor.shape)}], which is {_describe_origin(tensor, node, saved)}, is at "
            f"version {tensor._storage.version}; expected version {saved.version} instead. Hint: `clone` it before "
            "it is changed, or use the out-of-place form of the operation."
        )
    return tensor
