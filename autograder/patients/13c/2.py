"""Channels are exchanged by a write to a view: the inverse of a permutation is the same permutation again.

That is right for each exchange of two dimensions. With a cycle of three dimensions of one size it moves the new elements to other
places, without an error. Modelled on pytorch issue 198102, in which the inverse of another view gives a wrong base to a write in
place, under `backend="aot_eager"` only.
"""

from collections.abc import Sequence

from rushlight.aot.functional import arguments_of, aten, functions, sum_to, wrap_dim

AT = "aot.functional.view_inverse"


def symptom(xp):
    """Normalise the channels of a small picture in place, through a view with the channels first."""

    def normalise(picture, weight):
        channels = picture.permute(2, 0, 1)
        channels.sub_(channels.amin(dim=(1, 2), keepdim=True))
        channels.div_(channels.amax(dim=(1, 2), keepdim=True))
        return (picture * weight).sum((0, 1))

    picture = xp.arange(27.0).reshape(3, 3, 3) ** 2
    compiled = xp.compile(normalise, backend="aot_eager")
    weighted = compiled(picture, xp.tensor([1.0, 2.0, 4.0]))
    return weighted, picture.amax((0, 1)), picture.amin((0, 1)), picture[0, 2]


def view_inverse(base, view, new):
    given = arguments_of(view)
    dim = given.get("dim")
    match view.operator.schema.name:
        case "alias" | "detach":
            return new
        case "view" | "_reshape_alias":
            return new.view(base.shape)
        case "t":
            return new.t()
        case "transpose":
            return new.transpose(given["dim0"], given["dim1"])
        case "permute":
            return new.permute([wrap_dim(d, base.dim()) for d in given["dims"]])
        case "squeeze":
            wanted = range(base.dim()) if dim is None else dim if isinstance(dim, Sequence) else (dim,)
            for d in sorted(wrap_dim(d, base.dim()) for d in wanted):
                new = new.unsqueeze(d) if base.dim() and base.shape[d] == 1 else new
            return new
        case "unsqueeze":
            return new.squeeze(dim)
        case "expand":
            return base + sum_to(new - base, base.shape)
        case "unbind":
            return functions.select_scatter(base, new, dim, view.place)
        case "split":
            start = view.place * given["split_size"]
            end = min(start + given["split_size"], base.shape[dim])
            return aten.slice_scatter.default(base, new, dim, start, end, 1)
        case "split_with_sizes":
            start = sum(given["split_sizes"][: view.place])
            return aten.slice_scatter.default(base, new, dim, start, start + given["split_sizes"][view.place], 1)
        case name:
            return getattr(aten, f"{name}_scatter").default(base, new, *view.args)
