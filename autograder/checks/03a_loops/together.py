"""The check that runs all pieces of the lab together."""

import warnings

from ...engine.check import program
from ..cases import drawn, several, tensor

_OUTS = {
    "empty": lambda xp: xp.empty(0, dtype=xp.float64),
    "whole numbers": lambda xp: xp.empty(0, dtype=xp.int64),
    "transposed": lambda xp: xp.zeros((3, 2), dtype=xp.float64).t(),
    "small": lambda xp: xp.zeros(2, dtype=xp.float64),
    "without memory to write to": lambda xp: xp.zeros((1, 1), dtype=xp.float64).expand(2, 3),
}
_VIEWS = {
    "t": lambda x: x.t(),
    "first column": lambda x: x[:, :1],
    "last row": lambda x: x[-1:],
    "every second column": lambda x: x[:, ::2],
}


def _forms(st):
    number, name = st.integers(0, 5), st.sampled_from(["add", "sub", "mul", "eq"])
    step = st.one_of(
        st.tuples(name, number, number),
        st.tuples(st.sampled_from(["add_", "sub_", "mul_"]), number, number),
        st.tuples(name, number, number, st.sampled_from(sorted(_OUTS))),
        st.tuples(st.sampled_from(sorted(_VIEWS)), number),
    ).map(list)
    matrix = st.builds(
        lambda turned, dtype: tensor([2, 3], [1, 2] if turned else None, 1, dtype),
        st.booleans(),
        st.sampled_from(["float64", "float64", "int64", "float32"]),
    )
    return drawn(operands=several(matrix, 2, 3), steps=several(step, 1, 6))(st)


@program("together.forms", cases=_forms)
def programs_in_all_forms(xp, operands, steps):
    values, refused = list(operands), []
    for name, operand, *others in steps:
        x = values[operand % len(values)]
        if name in _VIEWS:
            values.append(_VIEWS[name](x))
            continue
        y = values[others[0] % len(values)].clone()  # torch does not notice every partial overlap
        written = {"out": _OUTS[others[1]](xp)} if others[1:] else {}
        form = getattr(xp.Tensor if name.endswith("_") else xp, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an `out` of other sizes
            try:
                values.append(form(x, y, **written))
            except RuntimeError:  # the program continues without this step
                refused.append(name)
    return {"values": values, "refused": refused}
