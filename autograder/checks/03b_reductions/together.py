"""The check that runs all pieces of the lab together."""

from ...engine.check import program
from ..cases import drawn, several, tensor


def _programs(st):
    number = st.integers(0, 5)
    dims = st.lists(st.integers(-2, 1), min_size=1, max_size=2)
    step = st.one_of(
        st.tuples(st.sampled_from(["add", "sub", "mul", "eq", "matmul"]), number, number),
        st.tuples(st.sampled_from(["add_", "mul_"]), number, number),
        st.tuples(st.sampled_from(["sum", "amax", "logsumexp"]), number, dims, st.booleans()),
        st.tuples(st.sampled_from(["softmax", "cumsum"]), number, st.integers(-2, 1)),
        st.tuples(st.just("addmm"), number, number, number),
        st.tuples(st.just("t"), number),
    ).map(list)
    matrix = st.builds(
        lambda shape, turned, dtype: tensor(shape, [1, shape[0]] if turned else None, 1, dtype),
        st.lists(st.integers(1, 3), min_size=2, max_size=2),
        st.booleans(),
        st.sampled_from(["float64", "int64"]),
    )
    return drawn(operands=several(matrix, 2, 3), steps=several(step, 0, 6))(st)


@program("together.kernels", cases=_programs)
def small_programs(xp, operands, steps):
    values, refused = list(operands), []
    for name, operand, *arguments in steps:
        if name in ("add", "sub", "mul", "eq", "matmul", "add_", "mul_", "addmm"):
            arguments = [values[other % len(values)] for other in arguments]
        try:
            values.append(getattr(values[operand % len(values)], name)(*arguments))
        except (IndexError, RuntimeError) as error:  # the program continues without this step
            refused.append(f"{name}: {'IndexError' if isinstance(error, IndexError) else 'RuntimeError'}")
    return {"values": values, "refused": refused}
