"""A loop writes outside a crop: a dimension of size 1 joins its neighbours by a stride that means nothing.

A dimension joins the one before it if the strides continue, measured from the joined dimension so far. Here they are measured from
the dimension just before, even if that one has size 1, whose stride is arbitrary. Modelled on pytorch issue 37583 and pull request
47237, in which a dimension of size 1 joined where it must not.
"""

AT = "aten.iterator.coalesce_dimensions"


def symptom(xp):
    """Write three small pictures with one channel into the corner of a larger canvas."""
    canvas = xp.zeros(3, 1, 4, 5)
    pictures = xp.arange(12).reshape(3, 1, 2, 2) + 1.0
    corner = canvas[:, :, :2, :2]
    scaled = (pictures - pictures.min()) / 11
    xp.mul(scaled, 10.0, out=corner)
    return canvas.sum((1, 2))


def coalesce_dimensions(sizes, operand_strides):
    if not sizes:
        return (), ((),) * len(operand_strides)
    new_sizes, new_strides = [sizes[0]], [[strides[0]] for strides in operand_strides]
    for dim in range(1, len(sizes)):
        size = new_sizes[-1]
        even = all(strides[dim] == sizes[dim - 1] * strides[dim - 1] for strides in operand_strides)
        if even or 1 in (size, sizes[dim]):
            new_sizes[-1] *= sizes[dim]
            if size == 1:
                for strides, new in zip(operand_strides, new_strides):
                    new[-1] = strides[dim]
        else:
            new_sizes.append(sizes[dim])
            for strides, new in zip(operand_strides, new_strides):
                new.append(strides[dim])
    return tuple(new_sizes), tuple(tuple(new) for new in new_strides)
