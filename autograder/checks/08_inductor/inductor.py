"""Lab 08: Inductor."""

from __future__ import annotations

import re
from collections import Counter
from types import SimpleNamespace

from ...check import program

# ---- dumps ---------------------------------------------------------------------------------------------------------
#
# A case has a text that torch made, and the program of which it made it. What is true of the text the judge has from
# Inductor itself, which was asked while it wrote: see torch_dumps. A subject has neither.

_REAL = [
    *["_log_softmax", "_softmax", "_to", "_to_copy", "add", "add_", "addmm", "amax"],
    *["copy", "copy_", "gt", "index", "index_select", "layer_norm", "log", "log_sigmoid", "log_softmax"],
    *["max", "mean", "mul", "mul_", "native", "native_layer_norm", "norm", "relu"],
    *["relu_", "select", "softmax", "sub", "sum", "t", "to", "to_copy"],
    *["var", "var_mean", "where"],
]


def _torch_dumps():
    """Only the judge has it."""
    from ... import torch_dumps

    return torch_dumps


def _text_case(dump):
    given = {name: dump[name] for name in ("inputs", "isa", "threads", "calls") if name in dump}
    return {"function": dump["source"], "given": given, "text": _shown(dump)}


def _shown(dump):
    """Of a module the kernels and `call`, so that a report has no imports and nothing else that is in all of them; a log."""
    if "kernels" not in dump:
        return dump["text"]
    parts = re.findall(r"^(?:cpp_fused.*?^'{3}\)\n| {4}def call\(.*?\n(?=\n+runner = ))", dump["text"], re.M | re.S)
    return "".join(f"\n{part}" for part in parts)


def _kernel_cases(dumps):
    """A case for each kernel, the shortest first."""
    found = []
    for dump in dumps:
        case = _text_case(dump)
        del case["text"]
        kernels = dump["kernels"].items()
        found += [case | {"kernel": name, "source": each["source"]} for name, each in kernels]
    return sorted(found, key=lambda case: len(case["source"]))


def _name_cases(dumps):
    """The names of kernels, each with operators among which it has but one reading, in two orders."""
    found = {}
    for dump in dumps:
        for name, kernel in dump["kernels"].items():
            known = list(kernel["operations"])
            if _readings(name, known) != 1:
                continue
            for other in _REAL:
                if other not in known and _readings(name, [*known, other]) == 1:
                    known.append(other)
            for order in (sorted(known), sorted(known, reverse=True)):
                case = {**_text_case(dump), "name": name, "known": order}
                del case["text"]
                found.setdefault((name, tuple(order)), case)
    return sorted(found.values(), key=lambda case: len(case["name"]))


def _readings(name, known):
    """In how many ways a kernel's name is a sorted list of operators."""
    ways, count = [(name.removeprefix("cpp_fused_"), "")], 0
    while ways:
        rest, last = ways.pop()
        count += rest.isdigit()
        ways += [(rest[len(each) + 1 :], each) for each in known if each > last and rest.startswith(each + "_")]
    return count


def _from_texts(st):
    return st.sampled_from(_torch_dumps().pool()).map(_text_case)


def _from_texts_with_externs(st):
    """Every other one has a call that is not of its own kernels; of all texts few have."""
    dumps = _torch_dumps().pool()
    having = [dump for dump in dumps if any(event[0] == "outside" for event in dump["events"])]
    return st.one_of(st.sampled_from(having or dumps), st.sampled_from(dumps)).map(_text_case)


def _edge_texts():
    return [_text_case(dump) for dump in _torch_dumps().edges()]


def _known(function, given, text=None):
    """What Inductor said of the program, if this is its text."""
    dump = _torch_dumps().known(function, given)
    if text is not None and _shown(dump) != text:
        raise ValueError("this is not the text that the torch which is installed here makes of the program")
    return dump


def _known_kernel(function, given, kernel, source):
    found = _known(function, given)["kernels"][kernel]
    if found["source"] != source:
        raise ValueError("this is not the kernel that the torch which is installed here makes of the program")
    return found


def _about_calls(case, mine, theirs):
    return "a kernel's definition begins a line; a call is indented; a kernel may be called several times"


@program("inductor.output_code.kernel_calls", cases=_from_texts, edges=_edge_texts, hint=_about_calls, draws=12)
def kernel_calls(xp, function, given, text):
    return xp.inductor.output_code.kernel_calls(text)


@kernel_calls.oracle
def inductors_kernel_calls(torch, function, given, text):
    return dict(Counter(call[1] for call in _known(function, given, text)["events"] if call[0] == "kernel"))


def _about_externs(case, mine, theirs):
    if isinstance(mine, list) and isinstance(theirs, list) and len(mine) != len(theirs):
        return "the calls are those of extern_kernels.* and of torch.ops.*, with out= or with a result before them"
    return "an operand is any arg or buf inside the parentheses, also in reinterpret_tensor, but not the one after out="


@program(
    "inductor.output_code.extern_calls",
    cases=_from_texts_with_externs,
    edges=_edge_texts,
    hint=_about_externs,
    draws=12,
)
def extern_calls(xp, function, given, text):
    return xp.inductor.output_code.extern_calls(text)


@extern_calls.oracle
def inductors_extern_calls(torch, function, given, text):
    return [call[1:] for call in _known(function, given, text)["events"] if call[0] == "outside"]


def _about_memory(case, mine, theirs):
    if isinstance(mine, list) and isinstance(theirs, list) and mine[:1] == theirs[:1]:
        return "the reuse is right: bytes come with empty_strided_cpu, go with del, and move to the new name in a reuse"
    return "a reuse ends in '# reuse', also of what an operator returned; an alias, or a name for part of a result, has no memory"


@program("inductor.output_code.memory_use", cases=_from_texts, edges=_edge_texts, hint=_about_memory, draws=12)
def memory_use(xp, function, given, text):
    return xp.inductor.output_code.memory_use(text)


@memory_use.oracle
def inductors_memory(torch, function, given, text):
    live, reused, most = {}, {}, 0
    for what, name, *more in _known(function, given, text)["events"]:
        if what == "allocate":
            live[name] = more[0]
        elif what == "reuse":
            reused[name] = more[0]
            live[name] = live.pop(more[0], 0)
        elif what == "free":
            live.pop(name, None)
        most = max(most, sum(live.values()))
    return reused, most


def _about_operations(case, mine, theirs):
    if isinstance(mine, list) and isinstance(theirs, list) and all(each in theirs for each in mine):
        return "the name has more operators than these"
    return "an operator's name may begin or end with _, and one may begin with another: if a way leads nowhere, try the next"


@program(
    "inductor.output_code.fused_operations",
    cases=lambda st: st.sampled_from(_name_cases(_torch_dumps().pool())),
    edges=lambda: _name_cases(_torch_dumps().edges()),
    hint=_about_operations,
    draws=20,
)
def fused_operations(xp, function, given, name, known):
    return xp.inductor.output_code.fused_operations(name, known)


@fused_operations.oracle
def inductors_operations(torch, function, given, name, known):
    return _known(function, given)["kernels"][name]["operations"]


def _about_loops(case, mine, theirs):
    if not (isinstance(mine, list) and isinstance(theirs, list)):
        return None
    if len(mine) != len(theirs):
        return "a loop is a line that begins with 'for(int64_t', not with 'for ('"
    names = ("variable", "size", "step", "number of loops that threads share", "number of runs")
    for one, other in zip(mine, theirs):
        for name, mine_is, theirs_is in zip(names, one, other):
            if mine_is != theirs_is:
                return f"what differs first is the {name} of the loop over {other[0]}, {theirs.index(other) + 1} in the text"
    return None


@program(
    "inductor.output_code.kernel_loops",
    cases=lambda st: st.sampled_from(_kernel_cases(_torch_dumps().pool())),
    edges=lambda: _kernel_cases(_torch_dumps().edges()),
    hint=_about_loops,
    draws=20,
)
def kernel_loops(xp, function, given, kernel, source):
    return xp.inductor.output_code.kernel_loops(source)


@kernel_loops.oracle
def inductors_loops(torch, function, given, kernel, source):
    found, runs = [], {}
    for depth, variable, size, step, shared in _known_kernel(function, given, kernel, source)["loops"]:
        runs[depth] = runs.get(depth - 1, 1) * -(-size // step)
        found.append((variable, size, step, shared, runs[depth]))
    return found


def _about_reductions(case, mine, theirs):
    if isinstance(mine, list) and isinstance(theirs, list) and len(mine) != len(theirs):
        return "one for each declaration of tmp_acc, a number and nothing behind it; several loops may have the same number"
    return "look at the type first, bool, IndexValue or Welford, and then at the value that it starts with"


@program(
    "inductor.output_code.kernel_reductions",
    cases=lambda st: st.sampled_from(_kernel_cases(_torch_dumps().pool())),
    edges=lambda: _kernel_cases(_torch_dumps().edges()),
    hint=_about_reductions,
    draws=20,
)
def kernel_reductions(xp, function, given, kernel, source):
    return xp.inductor.output_code.kernel_reductions(source)


@kernel_reductions.oracle
def inductors_reductions(torch, function, given, kernel, source):
    return [each.removesuffix("_reduce") for each in _known_kernel(function, given, kernel, source)["reductions"]]


def _about_bytes(case, mine, theirs):
    if not (isinstance(mine, list) and isinstance(theirs, list)):
        return "the sizes of each argument are told above the call, in one of the docstring's forms"
    if len(mine) != len(theirs):
        return "one entry for each call of a kernel, also if it is called again"
    return "elements times bytes of an element, for every argument of the call; in_out_ptr twice"


@program("inductor.output_code.bytes_moved", cases=_from_texts, edges=_edge_texts, hint=_about_bytes, draws=12)
def bytes_moved(xp, function, given, text):
    return xp.inductor.output_code.bytes_moved(text)


@bytes_moved.oracle
def inductors_bytes(torch, function, given, text):
    dump = _known(function, given, text)
    names = [call[1] for call in dump["events"] if call[0] == "kernel"]
    return list(zip(names, dump["moved"], strict=True))


def _about_recompilations(case, mine, theirs):
    if isinstance(mine, list) and isinstance(theirs, list) and len(mine) != len(theirs):
        return "one entry for each line that says 'Recompiling function'"
    return "a reason is a line with a version such as 0/0; what was expected is text, and what the log does not say is None"


@program(
    "inductor.output_code.recompilations",
    cases=lambda st: st.sampled_from(_torch_dumps().logs()).map(_text_case),
    edges=lambda: [_text_case(log) for log in _torch_dumps().edge_logs()],
    hint=_about_recompilations,
    draws=12,
)
def recompilations(xp, function, given, text):
    return xp.inductor.output_code.recompilations(text)


@recompilations.oracle
def dynamos_recompilations(torch, function, given, text):
    return _known(function, given, text)["recompilations"]


# ---- loops ---------------------------------------------------------------------------------------------------------
#
# An index, a loop nest and a statement have no counterpart in torch's Python; what they compute has. So a subject is asked for
# the numbers that its answer stands for, over all iterations of the loops, and torch for the numbers of the tensors.


def _field(tree, name):
    """For hints: a field of what a program returned, None where it returned no fields."""
    return dict(tree["dict"]).get(name) if isinstance(tree, dict) and "dict" in tree else None


def _first_line(mine, theirs):
    """Where two lists of lines part."""
    if not isinstance(mine, list) or not isinstance(theirs, list) or mine == theirs:
        return None
    both = min(len(mine), len(theirs))
    number = next((n for n in range(both) if mine[n] != theirs[n]), both)
    right = theirs[number] if number < len(theirs) else "none"
    return f"line {number}, counted from 0, is the first that differs; torch has {right}"


def _symbols(xp, sizes, prefix="i"):
    return xp.inductor.index.symbols(prefix, sizes)


def _points(sizes):
    """The values of the loop variables in every iteration, the last going fastest."""
    found = [()]
    for size in sizes:
        found = [(*point, value) for point in found for value in range(size)]
    return found


def _numbers(xp, index, variables):
    """The number that an index is in every iteration; of what is no index, none."""
    if not _is_index(xp, index):
        return []
    sizes = [variable.size for variable in variables]
    evaluate = xp.inductor.index.evaluate
    return [evaluate(index, dict(zip(variables, point))) for point in _points(sizes)]


def _divisions(xp, index):
    """How many quotients and remainders are in an index, also in one another."""
    kinds = xp.inductor.index.Quotient, xp.inductor.index.Remainder
    return sum(1 + _divisions(xp, term.base) for term, _ in index.terms if isinstance(term, kinds))


def _is_index(xp, value):
    return type(value) is xp.inductor.index.Index


def _sizes(st, most=4, dims=3, least=1):
    return st.lists(st.integers(least, most), max_size=dims)


def _strided(st, most=4):
    """Sizes, strides and the offset of a tensor, and which of its dimensions are walked from their end."""

    @st.composite
    def draw(draw_from):
        sizes = draw_from(_sizes(st, most))
        count = len(sizes)
        strides = draw_from(st.lists(st.integers(0, 12), min_size=count, max_size=count))
        flips = draw_from(st.lists(st.booleans(), min_size=count, max_size=count))
        return {"sizes": sizes, "strides": strides, "offset": draw_from(st.integers(0, 5)), "flips": flips}

    return draw()


def _walked(xp, sizes, flips, prefix="i"):
    """Loop variables for these sizes, and an index for each dimension: the variable, or counted from the end."""
    Index, variables = xp.inductor.index.Index, _symbols(xp, sizes, prefix)
    indices = [Index.of(size - 1) - v if flip else Index.of(v) for v, size, flip in zip(variables, sizes, flips)]
    return variables, indices


@program(
    "inductor.index.element_index",
    cases=_strided,
    edges=[
        {"sizes": sizes, "strides": strides, "offset": offset, "flips": flips}
        for sizes, strides, offset, flips in (
            ([], [], 0, []),
            ([], [], 4, []),
            ([3], [1], 0, [False]),
            ([3], [2], 1, [True]),
            ([2, 3], [3, 1], 0, [False, False]),
            ([2, 3], [1, 2], 2, [True, False]),
            ([2, 3], [0, 1], 0, [False, False]),
            ([1, 3], [7, 1], 3, [False, True]),
        )
    ],
)
def where_elements_lie(xp, sizes, strides, offset, flips):
    variables, indices = _walked(xp, sizes, flips)
    index = xp.inductor.index.element_index(indices, strides, offset)
    return {"is an Index": _is_index(xp, index), "elements": _numbers(xp, index, variables)}


@where_elements_lie.oracle
def _(torch, sizes, strides, offset, flips):
    reach = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides)) + 1
    view = torch.arange(reach).as_strided(sizes, strides, offset)
    view = view.flip([dim for dim, flip in enumerate(flips) if flip])
    return {"is an Index": True, "elements": view.reshape(-1).tolist()}


# Quotients -----------------------------------------------------------------------------------------------------------


def _sums(st):
    """A sum of loop variables, each with its size and coefficient, and a divisor."""
    term = st.tuples(st.integers(1, 6), st.sampled_from([-4, -1, 1, 1, 2, 3, 4, 5, 6, 8, 12])).map(list)
    return st.fixed_dictionaries(
        {"terms": st.lists(term, max_size=3), "offset": st.integers(-5, 9), "divisor": st.sampled_from([1, 2, 3, 4, 6])}
    )


@program(
    "inductor.index.quotient",
    cases=_sums,
    edges=[
        {"terms": terms, "offset": offset, "divisor": divisor}
        for terms, offset, divisor in (
            ([], 0, 1),
            ([], 7, 2),
            ([], -7, 2),
            ([[4, 12], [4, 1]], 0, 4),
            ([[4, 12], [5, 1]], 0, 4),
            ([[4, 12], [3, 1]], 1, 4),
            ([[4, 12], [4, 1]], 1, 4),
            ([[4, 12], [4, 1]], 6, 4),
            ([[3, 4], [4, -1]], 3, 4),
            ([[3, 4], [4, -1]], 2, 4),
            ([[3, 4], [4, -1]], -1, 4),
            ([[3, 4], [4, 1]], -4, 4),
            ([[3, 4], [2, 2], [2, 1]], 0, 4),
            ([[3, 4], [2, 3], [2, 1]], 0, 4),
            ([[6, 1]], 0, 1),
            ([[6, 5]], 3, 1),
            ([[1, 3], [3, 1]], 0, 3),
            ([[3, -4], [2, 1]], 0, 4),
        )
    ],
    hint=lambda case, mine, theirs: (
        "a rest that may be below 0, or divisor or more, stays a Quotient"
        if _field(mine, "quotients") == 0 and _field(theirs, "quotients") == 1
        else "the bounds of the rest say that nothing of it is left"
        if _field(mine, "quotients") == 1 and _field(theirs, "quotients") == 0
        else None
    ),
)
def quotients(xp, terms, offset, divisor):
    variables, index = _symbols(xp, [size for size, _ in terms]), xp.inductor.index.Index.of(offset)
    for variable, (_, coefficient) in zip(variables, terms):
        index = index + xp.inductor.index.Index.of(variable) * coefficient
    found = xp.inductor.index.quotient(index, divisor)
    if not _is_index(xp, found):
        return {"is an Index": False}
    outside = [[str(term), number] for term, number in found.terms if type(term) is xp.inductor.index.Symbol]
    return {
        "is an Index": _is_index(xp, found),
        "values": _numbers(xp, found, variables),
        "quotients": _divisions(xp, found),
        "outside": sorted(outside),
        "offset": found.offset,
    }


@quotients.oracle
def _(torch, terms, offset, divisor):
    total, rest, outside = torch.tensor(offset), torch.tensor(offset % divisor), []
    for number, (size, coefficient) in enumerate(terms):
        steps = torch.arange(size) * coefficient
        total = total.unsqueeze(-1) + steps
        rest = rest.unsqueeze(-1) + (steps if coefficient % divisor else steps * 0)
        if coefficient % divisor == 0 and size > 1:
            outside.append([f"i{number}", coefficient // divisor])
    values = torch.div(total, divisor, rounding_mode="floor")
    kept = bool((rest < 0).any() or (rest >= divisor).any())
    return {
        "is an Index": True,
        "values": values.reshape(-1).tolist(),
        "quotients": int(kept),
        "outside": sorted(outside),
        "offset": offset // divisor,
    }


# Reshapes ------------------------------------------------------------------------------------------------------------


def _reshapes(st):
    """Two lists of sizes with the same product: the same factors, put together in two ways."""

    @st.composite
    def draw(draw_from):
        factors = draw_from(st.lists(st.sampled_from([1, 2, 2, 3, 4, 5]), max_size=4))
        case = {}
        for name in ("sizes", "new_sizes"):
            order = draw_from(st.permutations(factors)) if name == "sizes" else factors
            sizes = []
            for factor in order:
                if sizes and draw_from(st.booleans()):
                    sizes[-1] *= factor
                else:
                    sizes.append(factor)
            case[name] = sizes
        return case

    return draw()


@program(
    "inductor.index.reshaped_indices",
    cases=_reshapes,
    edges=[
        {"sizes": sizes, "new_sizes": new_sizes}
        for sizes, new_sizes in (
            ([], []),
            ([], [1, 1]),
            ([1, 1], []),
            ([6], [6]),
            ([6], [2, 3]),
            ([2, 3], [6]),
            ([2, 3], [3, 2]),
            ([2, 3, 4], [6, 4]),
            ([2, 3, 4], [2, 12]),
            ([2, 12], [2, 3, 4]),
            ([6, 4], [4, 6]),
            ([1, 6], [2, 1, 3]),
            ([2, 1, 3], [3, 1, 2]),
            ([1, 5, 1], [5]),
            ([2, 2, 2], [4, 2]),
        )
    ],
    hint=lambda case, mine, theirs: (
        "an index that is a sum of loop variables has a division: see what `quotient` and `remainder` were asked"
        if _field(mine, "element") == _field(theirs, "element")
        else "the last dimension goes fastest, in both"
        if _field(mine, "element")
        else None
    ),
)
def reshaped(xp, sizes, new_sizes):
    variables = _symbols(xp, new_sizes)
    indices = [xp.inductor.index.Index.of(variable) for variable in variables]
    found = xp.inductor.index.reshaped_indices(indices, sizes, new_sizes)
    return {
        "each is an Index": [_is_index(xp, index) for index in found],
        "element": [_numbers(xp, index, variables) for index in found],
        "has a division": [_is_index(xp, index) and not index.is_affine for index in found],
    }


@reshaped.oracle
def _(torch, sizes, new_sizes):
    positions = torch.arange(torch.Size(new_sizes).numel())
    found = list(torch.unravel_index(positions, sizes)) if sizes else []
    return {
        "each is an Index": [True] * len(sizes),
        "element": [index.tolist() for index in found],
        "has a division": [not is_sum_of_variables(torch, index.reshape(new_sizes)) for index in found],
    }


def is_sum_of_variables(torch, index):
    """Whether an index goes on by the same number with every step of each loop variable."""
    return all(
        bool((steps == steps.reshape(-1)[:1]).all())
        for dim in range(index.dim())
        if (steps := index.diff(dim=dim)).numel()
    )


# Merging loops -------------------------------------------------------------------------------------------------------


def _nests(st):
    """Sizes of nested loops, and the strides of some accesses: contiguous, permuted, expanded, with gaps."""

    @st.composite
    def draw(draw_from):
        sizes = draw_from(st.lists(st.sampled_from([1, 2, 2, 3, 4]), max_size=4))
        accesses = []
        for _ in range(draw_from(st.integers(0, 3))):
            strides, step = [0] * len(sizes), draw_from(st.sampled_from([1, 1, 2]))
            order = draw_from(st.one_of(st.just(list(range(len(sizes)))), st.permutations(range(len(sizes)))))
            kinds = draw_from(st.lists(st.sampled_from("cccceg"), min_size=len(sizes), max_size=len(sizes)))
            for dim in reversed(order):
                if kinds[dim] == "e":
                    continue
                step += kinds[dim] == "g"
                strides[dim] = step
                step *= sizes[dim]
            backwards = draw_from(st.sampled_from([0, 0, 0, 0, 1, 2, 3, 15]))  # one bit for each loop
            accesses.append([-stride if backwards >> dim & 1 else stride for dim, stride in enumerate(strides)])
        return {"sizes": sizes, "strides": accesses}

    return draw()


@program(
    "inductor.index.merge_dims",
    cases=_nests,
    edges=[
        {"sizes": sizes, "strides": strides}
        for sizes, strides in (
            ([], []),
            ([1], [[5]]),
            ([1, 1], []),
            ([3], [[1]]),
            ([2, 3], []),
            ([2, 3], [[3, 1]]),
            ([2, 3], [[1, 2]]),
            ([2, 3], [[3, 1], [3, 1]]),
            ([2, 3], [[3, 1], [0, 1]]),
            ([2, 3], [[3, 1], [0, 0]]),
            ([2, 3], [[3, 1], [1, 0]]),
            ([2, 1, 3], [[3, 9, 1]]),
            ([2, 3, 1], [[3, 1, 7]]),
            ([2, 3, 4], [[12, 4, 1]]),
            ([2, 3, 4], [[12, 4, 1], [4, 0, 1]]),
            ([2, 3, 4], [[12, 4, 1], [0, 4, 1]]),
            ([2, 3, 4], [[12, 4, 1], [3, 1, 0]]),
            ([2, 1, 3, 4], [[24, 24, 8, 2]]),
            ([2, 2, 2], [[4, 2, 1], [2, 1, 1]]),
            ([4, 6], [[-6, -1]]),
            ([4, 6], [[6, -1]]),
            ([4, 6], [[-6, 1]]),
            ([4, 6], [[0, -1]]),
            ([2, 2, 2, 2], [[8, 4, 2, 1]]),
            ([2, 2, 2, 2, 2], [[16, 8, 4, 2, 1]]),
        )
    ],
    hint=lambda case, mine, theirs: (
        "an access may go backwards in one loop and forwards in the other"
        if isinstance(mine, list) and any(stride < 0 for each in case["strides"] for stride in each)
        else None
    ),
)
def merged_loops(xp, sizes, strides):
    return [list(dims) for dims in xp.inductor.index.merge_dims(sizes, strides)]


@merged_loops.oracle
def _(torch, sizes, strides):
    merged = []
    for dim, size in enumerate(sizes):
        if size == 1:
            continue
        if merged and all(is_one_dimension(torch, sizes, each, [merged[-1][-1], dim]) for each in strides):
            merged[-1].append(dim)
        else:
            merged.append([dim])
    return merged


def is_one_dimension(torch, sizes, strides, dims):
    """Whether torch can view these dimensions of a tensor as one. Where both go backwards, they go forwards from the end."""
    steps = [strides[dim] for dim in dims]
    if min(steps) < 0 < max(steps):
        return False
    view = torch.zeros(1000).as_strided([sizes[dim] for dim in dims], [abs(step) for step in steps])
    try:
        view.view(-1)
    except RuntimeError:
        return False
    return True


# Lowering ------------------------------------------------------------------------------------------------------------


class Stored:
    """A tensor in memory, as lowering rules see it: sizes, dtype, and the element at some indices."""

    def __init__(self, xp, name, tensor):
        self.xp, self.name, self.tensor = xp, name, tensor.contiguous()
        self.sizes, self.dtype = tuple(tensor.shape), tensor.dtype

    def dim(self):
        return len(self.sizes)

    def load(self, indices):
        assert len(indices) == len(self.sizes), "load takes one index for each dimension"
        where = self.xp.inductor.index.Index()
        for index, stride in zip(indices, self.tensor.stride()):
            where = where + index * stride
        return self.xp.inductor.ir.load(self.name, where, self.dtype)


def _computed(xp, loops, stored):
    """Run loops element by element: the tensor that they make, and the dtypes of the element and of what it is made of."""
    ir, Index = xp.inductor.ir, xp.inductor.index.Index
    variables, reduced = _symbols(xp, loops.sizes), []
    indices = [Index.of(variable) for variable in variables]
    if hasattr(loops, "kind"):
        reduced = _symbols(xp, loops.reduced_sizes, "r")
        value = loops.inner(indices, [Index.of(variable) for variable in reduced])
    else:
        value = loops.inner(indices)
    out = xp.zeros(list(loops.sizes), dtype=loops.dtype)
    where = Index()
    for index, stride in zip(indices, out.stride()):
        where = where + index * stride
    memory = {each.name: each.tensor.reshape(-1).numpy() for each in stored} | {"out": out.reshape(-1).numpy()}
    kind = loops.kind if reduced or hasattr(loops, "kind") else None
    if out.numel():
        ir.run(ir.ComputedBuffer("out", variables, where, value, loops.dtype, reduced, kind), memory)
    return out, value


def _numbers_of(xp, sizes, dtype, start):
    """A tensor of small numbers, some of them equal, some below zero where the dtype has such."""
    count = 1
    for size in sizes:
        count *= size
    numbers = (xp.arange(count) * 7 + start) % 11
    if dtype == "bool":
        return (numbers % 2).to(xp.bool).reshape(sizes)
    if dtype == "uint8":
        return (numbers * 20).to(xp.uint8).reshape(sizes)
    if dtype in ("int32", "int64"):
        return (numbers - 5).to(getattr(xp, dtype)).reshape(sizes)
    return ((numbers - 5).to(getattr(xp, dtype)) * 0.375).reshape(sizes)


BINARY_LOOPS = {"add": False, "mul": False, "maximum": False, "sub": False, "lt": True, "eq": True}
UNARY_LOOPS = {"neg": False, "abs": False, "exp": False, "isnan": True}
LOOP_KINDS = ("uint8", "int32", "int64", "float32", "float64")


def _pointwise_cases(st):
    @st.composite
    def draw(draw_from):
        sizes, operands = draw_from(_sizes(st, 3, 3, 0)), []
        for _ in range(2):
            own = [1 if draw_from(st.integers(0, 3)) == 0 else size for size in sizes]
            own = own[draw_from(st.integers(0, len(own))) :] if draw_from(st.booleans()) else own
            operands.append([draw_from(st.sampled_from(LOOP_KINDS)), own])
        number = st.sampled_from([2, -3, 0.5, 4])
        operands[1] = draw_from(st.one_of(st.just(operands[1]), st.just(operands[1]), number))
        if draw_from(st.integers(0, 4)) == 0:
            return {"name": draw_from(st.sampled_from(["neg", "abs"])), "operands": operands[:1]}
        if draw_from(st.integers(0, 4)) == 0:
            operands = operands[::-1]
        return {"name": draw_from(st.sampled_from(list(BINARY_LOOPS))), "operands": operands}

    return draw()


def _loop_operand(xp, operand, number):
    return _numbers_of(xp, operand[1], operand[0], 3 * number) if isinstance(operand, (list, tuple)) else operand


@program(
    "inductor.lowering.pointwise",
    cases=_pointwise_cases,
    edges=[
        {"name": name, "operands": operands}
        for name, operands in (
            ("add", [["float32", [2, 3]], ["float32", [2, 3]]]),
            ("add", [["float32", [2, 3]], ["float32", [3]]]),
            ("add", [["float32", [3]], ["float32", [2, 3]]]),
            ("mul", [["float32", [2, 1]], ["float32", [1, 3]]]),
            ("sub", [["float32", [2, 3]], ["float32", []]]),
            ("sub", [["int64", [2, 3]], 2]),
            ("sub", [["int64", [2, 3]], 0.5]),
            ("mul", [2, ["float64", [3]]]),
            ("add", [["uint8", [3, 4]], ["uint8", [3, 4]]]),
            ("add", [["uint8", [3]], ["int32", [3]]]),
            ("mul", [["int64", [3]], ["float32", [3]]]),
            ("mul", [["float32", [3]], ["float64", []]]),
            ("lt", [["int64", [3]], ["float32", [3]]]),
            ("lt", [["float32", [2, 3]], 0.5]),
            ("eq", [["int32", [2, 1]], ["int64", [3]]]),
            ("maximum", [["float32", [1]], ["float32", [0]]]),
            ("neg", [["float64", [2, 1, 3]]]),
            ("abs", [["int32", []]]),
            ("add", [["float64", [2, 3]], ["float64", [1, 2, 1]]]),
            ("eq", [["uint8", [3]], -3]),
            ("sub", [["float32", [1, 1]], ["int32", [2, 2]]]),
        )
    ],
)
def pointwise_loops(xp, name, operands):
    stored = [
        Stored(xp, f"in{number}", _loop_operand(xp, each, number)) if isinstance(each, (list, tuple)) else each
        for number, each in enumerate(operands)
    ]
    dtype = [xp.bool] if name in ("lt", "eq") else []
    loops = xp.inductor.lowering.pointwise(name, stored, *dtype)
    result, value = _computed(xp, loops, [each for each in stored if isinstance(each, Stored)])
    return {
        "sizes": list(loops.sizes),
        "result": result.reshape(-1),
        "dtype of the element": value.dtype,
        "operation": getattr(value, "name", None),
        "dtypes of the operands": [each.dtype for each in value.parts],
    }


@pointwise_loops.oracle
def _(torch, name, operands):
    values = [_loop_operand(torch, each, number) for number, each in enumerate(operands)]
    if not isinstance(operands[0], (list, tuple)):
        numbers = {"add": torch.add, "mul": torch.mul, "maximum": torch.maximum, "sub": torch.sub}
        values[0] = torch.tensor(values[0], dtype=torch.result_type(*values)) if name in numbers else values[0]
    if len(values) == 2 and not isinstance(operands[1], (list, tuple)) and name == "maximum":
        values[1] = torch.tensor(values[1], dtype=torch.result_type(*values))
    common = torch.result_type(*values) if len(values) == 2 else values[0].dtype
    values = [value.to(common) if isinstance(value, torch.Tensor) else value for value in values]
    if not isinstance(values[0], torch.Tensor):
        values[0] = torch.tensor(values[0], dtype=common)
    result = getattr(torch, name)(*values)
    return {
        "sizes": list(result.shape),
        "result": result.reshape(-1),
        "dtype of the element": result.dtype,
        "operation": name,
        "dtypes of the operands": [common] * len(values),
    }


def _reduction_cases(st):
    @st.composite
    def draw(draw_from):
        sizes = draw_from(st.lists(st.integers(1, 3), max_size=4))
        dims = [dim for dim in range(len(sizes)) if draw_from(st.booleans())]
        dims = draw_from(st.permutations([dim - len(sizes) if draw_from(st.booleans()) else dim for dim in dims]))
        kind = draw_from(st.sampled_from(["sum", "max", "min", "prod"]))
        dtype = draw_from(st.sampled_from([None, "int64", "float64"]))
        return {
            "kind": kind,
            "operand": [draw_from(st.sampled_from(["int32", "float32"])), sizes],
            "dims": dims,
            "keepdim": draw_from(st.booleans()),
            "into": dtype,
        }

    return draw()


@program(
    "inductor.lowering.reduction",
    cases=_reduction_cases,
    edges=[
        {"kind": kind, "operand": operand, "dims": dims, "keepdim": keepdim, "into": into}
        for kind, operand, dims, keepdim, into in (
            ("sum", ["float32", [2, 3]], [1], False, None),
            ("sum", ["float32", [2, 3]], [1], True, None),
            ("sum", ["float32", [2, 3]], [0], False, None),
            ("sum", ["float32", [2, 3]], [0], True, None),
            ("max", ["float32", [2, 3]], [-1], False, None),
            ("max", ["int32", [2, 3]], [1, 0], False, None),
            ("max", ["int32", [2, 3]], [0, 1], True, None),
            ("sum", ["int32", [2, 3, 2]], [2, 0], False, "int64"),
            ("sum", ["int32", [2, 3, 2]], [-1, 0], True, "float64"),
            ("min", ["float32", [2, 1, 3]], [1], False, None),
            ("prod", ["float32", [2, 3]], [1], False, "float64"),
            ("sum", ["float32", [2, 3]], [], False, None),
            ("sum", ["float32", []], [], True, None),
        )
    ],
)
def reduction_loops(xp, kind, operand, dims, keepdim, into):
    stored = Stored(xp, "in0", _loop_operand(xp, operand, 0))
    dtype = [] if into is None else [getattr(xp, into)]
    loops = xp.inductor.lowering.reduction(kind, stored, dims, keepdim, *dtype)
    result, value = _computed(xp, loops, [stored])
    return {
        "sizes": list(loops.sizes),
        "reduced sizes": list(loops.reduced_sizes),
        "kind": loops.kind,
        "result": result,
        "dtype of the element": value.dtype,
    }


@reduction_loops.oracle
def _(torch, kind, operand, dims, keepdim, into):
    x = _loop_operand(torch, operand, 0)
    x = x.to(getattr(torch, into)) if into else x
    dims = sorted(dim % len(operand[1]) for dim in dims)
    result = x
    for dim in reversed(dims):
        one = {"sum": torch.sum, "prod": torch.prod, "max": torch.amax, "min": torch.amin}[kind]
        result = one(result, dim, keepdim).to(x.dtype)
    return {
        "sizes": list(result.shape),
        "reduced sizes": [operand[1][dim] for dim in dims],
        "kind": kind,
        "result": result.contiguous(),
        "dtype of the element": x.dtype,
    }


# Fusion --------------------------------------------------------------------------------------------------------------

BUFFERS = ("a", "b", "c", "d")


def _pairs(st):
    """Two loop nests over the same loops: which elements of which buffers each reads and writes."""
    where = st.sampled_from([[[3, 1], 0], [[3, 1], 0], [[3, 1], 0], [[1, 2], 0], [[3, 1], 1], [[0, 1], 0], [[3, 0], 0]])
    access = st.tuples(st.sampled_from(BUFFERS), where).map(lambda pair: [pair[0], *pair[1]])
    reads, row = st.lists(access, max_size=3), st.sampled_from([[[3, 0], 0], [[3, 0], 0], [[1, 0], 0]])
    of_row = st.tuples(st.sampled_from(BUFFERS), row).map(lambda pair: [pair[0], *pair[1]])
    nest = st.fixed_dictionaries({"reads": reads, "writes": access, "kind": st.none()})
    reduction = {"reads": reads, "writes": of_row, "kind": st.sampled_from(["sum", "max"])}
    nest = st.one_of(nest, nest, st.fixed_dictionaries(reduction))
    return st.fixed_dictionaries({"first": nest, "second": nest})


def _nest(reads, writes, kind=None):
    """What it reads and writes; with a kind it reduces over the second loop."""
    return {"reads": [list(each) for each in reads], "writes": list(writes), "kind": kind}


_AT, _TURNED, _ROW, _NEXT = [[3, 1], 0], [[1, 2], 0], [[3, 0], 0], [[3, 1], 1]
_OTHER_ROW = [[1, 0], 0]


@program(
    "inductor.scheduler.can_fuse",
    cases=_pairs,
    edges=[
        {"first": first, "second": second}
        for first, second in (
            (_nest([], ["a", *_AT]), _nest([], ["b", *_AT])),
            (_nest([], ["b", *_AT]), _nest([], ["a", *_AT])),
            (_nest([], ["b", *_AT]), _nest([["a", *_NEXT]], ["c", *_AT])),
            (_nest([["a", *_NEXT]], ["c", *_AT]), _nest([], ["b", *_AT])),
            (_nest([["c", *_NEXT]], ["d", *_AT]), _nest([], ["b", *_AT])),
            (_nest([], ["a", *_AT]), _nest([], ["a", *_AT])),
            (_nest([], ["a", *_AT]), _nest([], ["a", *_NEXT])),
            (_nest([["c", *_AT]], ["a", *_AT]), _nest([["a", *_AT]], ["b", *_AT])),
            (_nest([["c", *_AT]], ["a", *_AT]), _nest([["a", *_TURNED]], ["b", *_AT])),
            (_nest([["c", *_AT]], ["a", *_AT]), _nest([["a", *_AT], ["a", *_TURNED]], ["b", *_AT])),
            (_nest([["c", *_AT]], ["a", *_AT]), _nest([["a", *_TURNED], ["a", *_AT]], ["b", *_AT])),
            (_nest([["c", *_AT]], ["a", *_TURNED]), _nest([["a", *_TURNED]], ["b", *_AT])),
            (_nest([["c", *_AT]], ["a", *_ROW]), _nest([["a", *_ROW]], ["b", *_AT])),
            (_nest([["c", *_AT]], ["a", *_ROW]), _nest([["a", *_AT]], ["b", *_AT])),
            (_nest([["c", *_AT]], ["a", *_AT]), _nest([["a", *_NEXT]], ["b", *_AT])),
            (_nest([["c", *_AT]], ["a", *_AT]), _nest([["c", *_TURNED]], ["b", *_AT])),
            (_nest([["c", *_AT]], ["a", *_AT]), _nest([], ["c", *_AT])),
            (_nest([["c", *_TURNED]], ["a", *_AT]), _nest([], ["c", *_AT])),
            (_nest([["c", *_AT], ["c", *_NEXT]], ["a", *_AT]), _nest([], ["c", *_AT])),
            (_nest([["c", *_NEXT], ["c", *_AT]], ["a", *_AT]), _nest([["d", *_AT]], ["c", *_AT])),
            (_nest([["a", *_AT]], ["a", *_AT]), _nest([["c", *_AT]], ["b", *_AT])),
            (_nest([["c", *_AT]], ["a", *_AT]), _nest([["b", *_TURNED]], ["b", *_AT])),
            (_nest([["c", *_AT]], ["a", *_AT]), _nest([["a", *_AT]], ["c", *_AT])),
            (_nest([["c", *_AT]], ["a", *_ROW], "sum"), _nest([["a", *_ROW], ["c", *_AT]], ["b", *_AT])),
            (_nest([["c", *_AT]], ["a", *_ROW], "sum"), _nest([["a", *_OTHER_ROW], ["c", *_AT]], ["b", *_AT])),
            (_nest([["c", *_AT]], ["a", *_AT]), _nest([["a", *_AT]], ["b", *_ROW], "sum")),
            (_nest([["c", *_AT]], ["a", *_AT]), _nest([["a", *_TURNED]], ["b", *_ROW], "sum")),
            (_nest([["c", *_AT]], ["a", *_ROW], "max"), _nest([["c", *_AT], ["a", *_ROW]], ["b", *_ROW], "sum")),
            (_nest([["c", *_AT]], ["a", *_ROW], "sum"), _nest([["c", *_AT]], ["b", *_ROW], "sum")),
            (_nest([["b", *_AT]], ["a", *_AT]), _nest([["c", *_AT]], ["b", *_ROW], "sum")),
            (_nest([["c", *_AT]], ["a", *_ROW], "sum"), _nest([["b", *_AT]], ["a", *_ROW], "sum")),
        )
    ],
    hint=lambda case, mine, theirs: (
        "what the first still reads must not be overwritten by an earlier iteration of the second"
        if mine is True and any(read[0] == case["second"]["writes"][0] for read in case["first"]["reads"])
        else None
    ),
)
def fusable(xp, first, second):
    ir, variables = xp.inductor.ir, _symbols(xp, [2, 3])

    def place(access):
        where = xp.inductor.index.Index.of(access[2])
        for variable, stride in zip(variables, access[1]):
            where = where + xp.inductor.index.Index.of(variable) * stride
        return where

    nests = []
    for nest in (first, second):
        value = ir.constant(1.0, xp.float32)
        for read in nest["reads"]:
            value = ir.op("add", value, ir.load(read[0], place(read), xp.float32))
        loops, reduced = (variables[:1], variables[1:]) if nest["kind"] else (variables, [])
        where = place(nest["writes"])
        nests.append(ir.ComputedBuffer(nest["writes"][0], loops, where, value, xp.float32, reduced, nest["kind"]))
    return xp.inductor.scheduler.can_fuse(*nests)


@fusable.oracle
def torch_fusable(torch, first, second):
    import sympy
    from torch._inductor import config
    from torch._inductor.dependencies import MemoryDep
    from torch._inductor.scheduler import Scheduler

    variables = sympy.symbols("i0 i1", integer=True)

    def dep(access, loops=2):
        index = sum(variable * stride for variable, stride in zip(variables, access[1])) + access[2]
        sizes = sympy.Integer(2), sympy.Integer(3)
        return MemoryDep(access[0], sympy.sympify(index), variables[:loops], sizes[:loops])

    def within_iterations(reads, writer):  # a reduction writes once for each row
        stub, write = Scheduler.__new__(Scheduler), dep(writer["writes"], 1 if writer["kind"] else 2)
        reads = [dep(read) for read in reads if read[0] == writer["writes"][0]]
        with config.patch(loop_ordering_after_fusion=False):  # these loops are common loops already
            return all(stub.fusable_read_and_write(read, write) for read in reads)

    if first["writes"][0] == second["writes"][0]:
        return False
    return within_iterations(second["reads"], first) and within_iterations(first["reads"], second)


# C++ -----------------------------------------------------------------------------------------------------------------
#
# Values are built from a list of steps. What is emitted for them is C++ that Python can run too, if the operations are few.

# an element, one number for each row, a constant, an element that has a name already, another of the same buffer that has none
LEAVES = ("x", "v", "one", "kept", "other")


def _values(st):
    leaf = st.sampled_from(LEAVES).map(lambda name: [name])
    place = st.integers(0, 8)
    binary = st.tuples(st.sampled_from(["add", "mul", "sub", "maximum"]), place, place).map(list)
    unary = st.tuples(st.sampled_from(["neg", "relu", "double"]), place).map(list)
    steps = st.lists(st.one_of(leaf, binary, binary, unary), max_size=7)
    return st.fixed_dictionaries(
        {
            "steps": steps.map(lambda some: [["x"], ["v"], *some]),
            "results": st.lists(place, min_size=1, max_size=3),
            "hoists": st.booleans(),
        }
    )


def _build(xp, steps, i, r):
    ir, Index = xp.inductor.ir, xp.inductor.index.Index
    leaves = {
        "x": ir.load("x", Index.of(i) * 3 + r, xp.float32),
        "v": ir.load("v", Index.of(i), xp.float32),
        "one": ir.constant(1.5, xp.float32),
        "kept": ir.load("k", Index.of(i) * 3 + r, xp.float32),
        "other": ir.load("k", Index.of(i) * 3, xp.float32),
    }
    values = []
    for name, *places in steps:
        if name in leaves:
            values.append(leaves[name])
        elif name == "double":
            values.append(ir.op("cast", values[places[0] % len(values)], dtype=xp.float64))
        else:
            values.append(ir.op(name, *(values[place % len(values)] for place in places)))
    return values


@program(
    "inductor.cpp.emit",
    cases=_values,
    edges=[
        {"steps": steps, "results": results, "hoists": hoists}
        for steps, results in (
            ([["x"]], [0]),
            ([["x"], ["v"]], [1]),
            ([["one"]], [0]),
            ([["kept"]], [0]),
            ([["x"], ["kept"], ["add", 0, 1]], [2]),
            ([["x"], ["add", 0, 0], ["mul", 1, 1]], [2]),
            ([["x"], ["add", 0, 0]], [1, 1]),
            ([["x"], ["neg", 0], ["neg", 0], ["add", 1, 2]], [3, 0]),
            ([["v"], ["neg", 0], ["x"], ["mul", 1, 2]], [3, 1]),
            ([["v"], ["one"], ["add", 0, 1], ["x"], ["sub", 2, 3], ["maximum", 4, 2]], [5, 2, 4]),
            ([["one"], ["neg", 0]], [1]),
            ([["x"], ["v"], ["sub", 0, 1], ["sub", 1, 0], ["relu", 2], ["add", 3, 4]], [5]),
            ([["x"], ["double", 0], ["neg", 1]], [2, 0]),
            ([["v"], ["double", 0], ["x"], ["add", 1, 2]], [3]),
            ([["kept"], ["other"], ["add", 0, 1]], [2]),
        )
        for hoists in (False, True)
    ],
)
def emitted(xp, steps, results, hoists):
    Statements = xp.inductor.cpp.Statements
    i, r = _symbols(xp, [2], "i")[0], _symbols(xp, [3], "r")[0]
    values = _build(xp, steps, i, r)
    pointers = {name: f"{name}_ptr" for name in "xvk"}
    places = {("k", values_index): "k" for values_index in [xp.inductor.index.Index.of(i) * 3 + r]}
    before = Statements(pointers, places)
    inside = Statements(
        pointers, places, number=before.number, hoist=before if hoists else None, varying=frozenset([r])
    )
    names = [xp.inductor.cpp.emit(inside, values[place % len(values)]) for place in results]
    numbers = []
    for row in range(2):
        for column in range(3):
            known = {"i0": row, "r0": column, "k": _kept(row, column)}
            known |= {"x_ptr": [_element(n) for n in range(6)], "v_ptr": [_of_row(n) for n in range(2)]}
            known |= {"k_ptr": [_element(5 - n) for n in range(6)]}
            for line in before.lines + inside.lines:
                _run_statement(line, known)
            numbers.append([_read_number(name, known) for name in names])
    again = [xp.inductor.cpp.emit(inside, values[place % len(values)]) for place in results]
    return {
        "numbers": numbers,
        "statements before the loop": len(before.lines),
        "statements in the loop": len(inside.lines),
        "types": sorted(line.split()[1] for line in before.lines + inside.lines),
        "the same again": again == names,
    }


def _element(n):
    return [0.5, -1.0, 2.0, 0.25, -0.75, 1.0][n]


def _of_row(n):
    return [2.0, -0.5][n]


def _kept(row, column):
    return 0.125 * (row + 1) * (column - 1)


def _run_statement(line, known):
    """One statement `const TYPE NAME = EXPRESSION;`, as Python."""
    words, _, text = line.rstrip(";").partition(" = ")
    const, _, name = words.split()
    assert const == "const", f"not const: {line}"
    assert name not in known, f"{name} has been declared before: {line}"
    known[name] = _read_number(text, known)


def _read_number(text, known):
    functions = {"maximum_": max, "relu_": lambda x: max(x, 0.0)}
    text = text.replace("1.5f", "1.5").replace("static_cast<double>", "")
    return float(eval(text, {"__builtins__": {}}, functions | known))


@emitted.oracle
def _(torch, steps, results, hoists):
    def numbers_of(values):
        return torch.tensor(values, dtype=torch.float64)

    elements = numbers_of([_element(n) for n in range(6)]).reshape(2, 3)
    of_rows = numbers_of([_of_row(n) for n in range(2)]).reshape(2, 1)
    kept = numbers_of([[_kept(row, column) for column in range(3)] for row in range(2)])
    other = numbers_of([_element(5), _element(2)]).reshape(2, 1)
    leaves = {"x": elements, "v": of_rows, "one": numbers_of(1.5), "kept": kept, "other": other}
    values, shown, needs, types = [], [], [], {}
    for name, *places in steps:
        chosen = [place % len(values) for place in places] if name not in leaves else []
        made = getattr(torch.Tensor, name, None)
        values.append(leaves[name] if name in leaves else made(*(values[place] for place in chosen)))
        needs.append(chosen)
        shown.append(name if name in leaves else (name, *(shown[place] for place in chosen)))
        types[shown[-1]] = "float" if name in leaves else "double" if name == "double" else types[shown[chosen[0]]]
    wanted, waiting = {}, [place % len(values) for place in results]
    while waiting:
        place = waiting.pop()
        if shown[place] not in ("one", "kept"):
            wanted[shown[place]] = values[place]
        waiting += needs[place]
    varies = [value.dim() == 2 and value.shape[1] == 3 for value in wanted.values()]
    numbers = torch.stack([values[place % len(values)].expand(2, 3) for place in results], -1)
    return {
        "numbers": numbers.reshape(6, -1).tolist(),
        "statements before the loop": varies.count(False) if hoists else 0,
        "statements in the loop": varies.count(True) if hoists else len(varies),
        "types": sorted(types[each] for each in wanted),
        "the same again": True,
    }


# Everything together -------------------------------------------------------------------------------------------------

STEPS = {
    "neg": lambda xp, x: -x,
    "relu": lambda xp, x: x.relu(),
    "exp": lambda xp, x: (x * 0.25).exp(),
    "tanh": lambda xp, x: x.tanh(),
    "shift": lambda xp, x: x * 2 + 1,
    "clip": lambda xp, x: x.clamp(-1, 1),
    "choose": lambda xp, x: xp.where(x > 0, x, x * 0.5),
    "whole": lambda xp, x: x.floor().to(xp.int64).to(x.dtype),
    "sum": lambda xp, x: x.sum(),
    "mean": lambda xp, x: x.mean(-1, True) if x.dim() else x,
    "most": lambda xp, x: x.amax(0) if x.dim() else x,
    "softmax": lambda xp, x: x.softmax(-1) if x.dim() else x,
    "t": lambda xp, x: x.t() if x.dim() < 3 else x,
    "last": lambda xp, x: x[-1:] if x.dim() else x,
    "column": lambda xp, x: x.select(-1, 0) if x.dim() else x,
    "flat": lambda xp, x: x.reshape(-1)[:3],
    "turned": lambda xp, x: x.flip(0) if x.dim() else x,
    "wide": lambda xp, x: x.expand(3, 3),
}
PAIRS = {
    "add": lambda xp, x, y: x + y,
    "mul": lambda xp, x, y: x * y,
    "sub": lambda xp, x, y: x - y,
    "larger": lambda xp, x, y: xp.maximum(x, y),
    "below": lambda xp, x, y: (x < y).to(xp.float32),
    "both": lambda xp, x, y: xp.cat([x.expand(3, 3), y.expand(3, 3)])[2:5],
    "product": lambda xp, x, y: x.expand(3, 3) @ y.expand(3, 3),
}


def run_steps(xp, inputs, steps, results):
    values = list(inputs)
    for name, *places in steps:
        operands = [values[place % len(values)] for place in places]
        values.append((STEPS | PAIRS)[name](xp, *operands))
    return [values[place % len(values)] for place in results]


def inputs_of(xp, shapes):
    found = []
    for number, sizes in enumerate(shapes):
        count = 3 ** sum(size == 3 for size in sizes)
        found.append(((xp.arange(count) * 5 + number) % 7).to(xp.float32).reshape(sizes) * 0.5 - 1.25)
    return found


def _whole_programs(st):
    place = st.integers(0, 9)
    one = st.tuples(st.sampled_from(list(STEPS)), place).map(list)
    two = st.tuples(st.sampled_from(list(PAIRS)), place, place).map(list)
    return st.fixed_dictionaries(
        {
            "shapes": st.lists(st.sampled_from([[3, 3], [3], [3, 1], [1, 3], []]), min_size=1, max_size=3),
            "steps": st.lists(st.one_of(one, two), min_size=1, max_size=9),
            "results": st.lists(place, min_size=1, max_size=2),
        }
    )


@program(
    "together.compiled",
    cases=_whole_programs,
    edges=[
        {"shapes": shapes, "steps": steps, "results": results}
        for shapes, steps, results in (
            ([[3, 3]], [["shift", 0], ["relu", 1], ["softmax", 2]], [3]),
            ([[3, 3], [3]], [["product", 0, 0], ["add", 2, 1], ["most", 3], ["t", 3], ["mul", 4, 5]], [6, 3]),
        )
    ],
    hint=lambda case, mine, theirs: (
        "there is no C++ compiler here, so nothing is said about your pieces"
        if "no C++ compiler" in str(mine)
        else None
    ),
    draws=4,
)
def compiled_programs(xp, shapes, steps, results):
    inputs = inputs_of(xp, shapes)
    graph = xp.aot.make_fx(lambda *inputs: run_steps(xp, inputs, steps, results))(*inputs)
    return [each.clone() for each in xp.inductor.compile_fx_inner(graph, inputs)(*inputs)]


@compiled_programs.oracle
def _(torch, shapes, steps, results):
    return [each.clone() for each in run_steps(torch, inputs_of(torch, shapes), steps, results)]


# ---- memory --------------------------------------------------------------------------------------------------------
#
# A schedule is a list of steps, each with the names that it reads and that it writes. Torch's answers come from Inductor's own
# scheduler and memory planner, which are given nodes and buffers that have names and sizes and nothing else.


class InductorBuffer:
    """A buffer as Inductor's planner sees it."""

    layout = None

    def __init__(self, xp, name, dtype_name="float32", nbytes=0):
        self.name, self.dtype, self.cpu = name, getattr(xp, dtype_name), xp.device("cpu")
        self.numel = nbytes // self.dtype.itemsize
        self.node, self.users, self.defining_op = self, [], None
        size = {"size_alloc": nbytes, "size_free": nbytes}
        self.mpi_buffer = SimpleNamespace(**size, succ_nodes=[])

    def get_name(self):
        return self.name

    def get_dtype(self):
        return self.dtype

    def get_size(self):
        return [self.numel]

    def get_device_or_error(self):
        return self.cpu

    def get_inputs_that_alias_output(self):
        return []

    get_mutation_names = get_inputs_that_alias_output

    def get_defining_op(self):
        return None

    get_output_spec = get_defining_op

    def should_allocate(self):
        return True

    can_free = should_allocate


class Inductor:
    """Inductor's scheduler and wrapper, for a schedule of names. Used as a context, it is the graph that Inductor works on."""

    def __init__(self, xp, steps, outputs=(), sizes=None):
        import torch._inductor.scheduler as scheduler
        from torch._inductor.codegen.wrapper import PythonWrapperCodegen
        from torch._inductor.dependencies import StarDep
        from torch._inductor.virtualized import V

        names = dict.fromkeys(name for reads, writes in steps for name in [*reads, *writes])
        sizes = {name: ["float32", 0] for name in names} if sizes is None else sizes
        self.buffers = {name: InductorBuffer(xp, name, *size) for name, size in sizes.items()}
        self.nodes = []
        for reads, writes in steps:
            node = object.__new__(scheduler.SchedulerNode)
            node.read_writes = SimpleNamespace(reads=[StarDep(n) for n in reads], writes=[StarDep(n) for n in writes])
            node.outputs = [self.buffers[name] for name in writes if name in self.buffers]
            for name in dict.fromkeys(reads):
                if name in self.buffers:
                    self.buffers[name].mpi_buffer.succ_nodes.append(node)
            self.nodes.append(node)
        self.scheduler = object.__new__(scheduler.Scheduler)
        vars(self.scheduler).update(
            nodes=self.nodes, mutation_real_name={}, name_to_buf=self.buffers, buffer_names_to_free=set()
        )
        vars(self.scheduler).update(get_buf_stream=lambda name: None, current_node=None, name_to_donated_buffer={})
        vars(self.scheduler).update(completed_operations=set(), has_cross_stream_hazard=lambda name, node: False)
        self.wrapper = object.__new__(PythonWrapperCodegen)
        vars(self.wrapper).update(lines=[], allocated=set(), freed=set(), reuses={})
        self.wrapper.get_graph_outputs = lambda: outputs
        variables = {"simplify": lambda size: size, "optimization_hint": lambda size, fallback: size}
        variables |= {"statically_known_geq": lambda a, b: a >= b, "statically_known_leq": lambda a, b: a <= b}
        empty = ("name_to_buffer", "graph_inputs", "constants", "torchbind_constants", "removed_buffers")
        empty += ("never_reuse_buffers", "unaligned_buffers", "removed_operations")
        graph = {name: {} if number < 4 else set() for number, name in enumerate(empty)}
        graph |= {"sizevars": SimpleNamespace(**variables), "scheduler": self.scheduler, "wrapper_code": self.wrapper}
        graph |= {"get_allocation_storage_size": lambda node: node.numel, "has_feature": lambda device, feature: True}
        graph |= {"get_output_names": lambda: list(outputs), "_get_output_names": lambda found: list(found)}
        self.handler = V.set_graph_handler(SimpleNamespace(**graph))

    def __enter__(self):
        self.handler.__enter__()
        return self

    def __exit__(self, *error):
        return self.handler.__exit__(*error)

    def shown(self):
        """The wrapper's lines, as the course writes them."""
        found = []
        for line in self.wrapper.lines:
            kind = type(line).__name__
            if kind == "AllocateLine":
                found.append(["allocate", line.node.name])
            elif kind == "ReuseLine":
                found.append(["reuse", line.node.name, line.reused_as.name])
            elif kind == "FreeIfNotReusedLine":
                found += [] if line.is_reused else [["free", line.node.name]]
            else:
                found.append(line)
        return found


# Schedules that cases are made of: `arg0_1` and the like are inputs, `buf0` and so on are made by one step each.


def schedules(st, most=7):
    """steps, outputs and sizes."""

    @st.composite
    def draw_schedule(draw):
        inputs = [f"arg{i}_1" for i in range(draw(st.integers(0, 2)))]
        made, steps = [], []
        kinds = draw(st.lists(st.sampled_from(BUFFER_SIZES), min_size=1, max_size=3))
        for _ in range(draw(st.integers(1, most))):
            known = inputs + made
            recent = made[-3:] or known
            reads = draw(st.lists(st.sampled_from(known), max_size=2)) if known else []
            reads += draw(st.lists(st.sampled_from(recent), max_size=2)) if recent else []
            writes = [f"buf{len(made) + i}" for i in range(draw(st.sampled_from([1, 1, 1, 1, 2, 0])))]
            if not writes:  # as `copy_` to an input does
                writes = [draw(st.sampled_from(inputs))] if inputs else [f"buf{len(made)}"]
            made += [name for name in writes if name.startswith("buf")]
            steps.append([list(dict.fromkeys(reads)), writes])
        outputs = draw(st.lists(st.sampled_from(made or ["buf0"]), max_size=2, unique=True))
        outputs += draw(st.lists(st.sampled_from(inputs), max_size=1)) if inputs else []
        sizes = {name: draw(st.sampled_from(kinds)) for name in made}
        return {"steps": steps, "outputs": outputs, "sizes": sizes}

    return draw_schedule()


BUFFER_SIZES = [["float32", 64], ["float32", 128], ["float32", 512], ["float64", 128], ["int64", 64], ["float32", 4096]]


def without(st, *names, most=7):
    """Schedules that leave these out."""
    return schedules(st, most).map(lambda case: {key: value for key, value in case.items() if key not in names})


def plain_schedule(*steps, outputs=(), sizes=None):
    """A case written down: each step as "reads -> writes"."""
    split = [[side.split() for side in step.split("->")] for step in steps]
    case = {"steps": split, "outputs": list(outputs)}
    if sizes is not None:
        made = dict.fromkeys(name for _, writes in split for name in writes if name.startswith("buf"))
        case["sizes"] = {name: sizes.get(name, ["float32", 64]) for name in made}
    return case


CHAIN = ("arg0_1 -> buf0", "buf0 -> buf1", "buf1 -> buf2", "buf2 -> buf3")


@program(
    "inductor.memory.last_uses",
    cases=lambda st: without(st, "sizes"),
    edges=[
        plain_schedule(*CHAIN, outputs=["buf3"]),
        plain_schedule("-> buf0", "-> buf1", "buf1 -> buf2", outputs=["buf2"]),  # nobody reads buf0
        plain_schedule("arg0_1 -> buf0", "buf0 -> arg0_1", outputs=[]),
        plain_schedule(
            *[f"-> buf{i}" for i in range(11)], " ".join(["buf10 buf9 buf2", "->", "buf11"]), outputs=["buf11"]
        ),
    ],
)
def last_uses(xp, steps, outputs):
    return [list(names) for names in xp.inductor.memory.last_uses(steps, outputs)]


@last_uses.oracle
def _(xp, steps, outputs):
    with Inductor(xp, steps, outputs) as inductor:
        inductor.scheduler.compute_last_usage()
    return [sorted(node.last_usage) for node in inductor.nodes]


@program(
    "inductor.memory.bytes_alive",
    cases=schedules,
    edges=[
        plain_schedule(*CHAIN, outputs=["buf3"], sizes={"buf1": ["float32", 512]}),
        plain_schedule("-> buf0", "-> buf1", "-> buf2", outputs=["buf0"], sizes={"buf1": ["float32", 512]}),
        plain_schedule("arg0_1 -> arg0_1", "-> buf0 buf1", "-> buf2", outputs=[], sizes={}),
        plain_schedule("-> buf0", "-> buf1", "buf1 -> buf0", "buf0 -> buf2", outputs=[], sizes={}),
        plain_schedule("-> buf0", "-> buf1", "-> buf0", "buf1 -> buf2", outputs=["buf0"], sizes={}),
    ],
)
def bytes_alive(xp, steps, outputs, sizes):
    nbytes = {name: size for name, (_, size) in sizes.items()}
    return {"alive": list(xp.inductor.memory.bytes_alive(steps, nbytes, outputs)), "nbytes": nbytes}


@bytes_alive.oracle
def _(xp, steps, outputs, sizes):
    from torch._inductor.memory import estimate_peak_memory

    made, once = set(), []  # Inductor knows an update as a step that uses the buffer
    for reads, writes in steps:
        once.append([[*reads, *(name for name in writes if name in made)], [n for n in writes if n not in made]])
        made |= {*writes}
    with Inductor(xp, once, outputs, sizes) as inductor:
        _, alive = estimate_peak_memory(inductor.nodes, {}, outputs)
    return {"alive": list(alive)[: len(steps)], "nbytes": {name: size for name, (_, size) in sizes.items()}}


def updates_in_place(st):
    """One step: what it writes and reads, with sizes; which of what it reads nobody needs after it; which are inputs."""

    @st.composite
    def draw_step(draw):
        kinds = draw(st.lists(st.sampled_from(BUFFER_SIZES[:4]), min_size=1, max_size=2))
        reads = {f"buf{i}": draw(st.sampled_from(kinds)) for i in draw(st.permutations(range(draw(st.integers(0, 4)))))}
        writes = {f"buf{i}": draw(st.sampled_from(kinds)) for i in range(5, 5 + draw(st.integers(1, 3)))}
        ending = sorted(name for name in reads if draw(st.sampled_from([True, True, False])))
        kept = sorted(name for name in reads if draw(st.sampled_from([True, False, False, False])))
        turned = {new: [old for old in reads if draw(st.integers(0, 3)) == 0] for new in writes}
        return {"reads": reads, "writes": writes, "ending": ending, "kept": kept, "turned": turned}

    return draw_step()


def _may_all_be_had(case, taken):
    return len({*taken}) == len(taken) and {*taken} <= {*case["ending"]} - {*case["kept"]}


def step_in_place(reads, writes, ending, kept=(), turned=None):
    """A case written down: all buffers of one size. What a result reads `turned` it reads in another order than it writes."""
    sizes = [{name: ["float32", 64] for name in names.split()} for names in (reads, writes)]
    return {"reads": sizes[0], "writes": sizes[1], "ending": ending, "kept": list(kept), "turned": turned or {}}


@program(
    "inductor.memory.take_over",
    cases=updates_in_place,
    edges=[
        step_in_place("buf0", "buf5", ending=["buf0"]),
        step_in_place("buf0", "buf5", ending=["buf0"], kept=["buf0"]),
        step_in_place("buf0", "buf5", ending=[]),
        step_in_place("buf1 buf0", "buf5 buf6 buf7", ending=["buf0", "buf1"]),
        step_in_place("buf0 buf1", "buf5 buf6", ending=["buf0", "buf1"], turned={"buf6": ["buf1"]}),
        step_in_place("buf0 buf1", "buf5 buf6", ending=["buf0", "buf1"], turned={"buf5": ["buf0"]}),
    ],
    hint=lambda case, mine, theirs: (
        "a result takes the first that it may have, whoever comes after it"
        if isinstance(mine, dict) and "dict" in mine and _may_all_be_had(case, dict(mine["dict"]).values())
        else None
    ),
)
def take_over(xp, reads, writes, ending, kept, turned):
    candidates = {
        new: [old for old in reads if reads[old] == writes[new] and old not in turned.get(new, ())] for new in writes
    }
    found = xp.inductor.memory.take_over(candidates, ending, kept)
    return {new: found[new] for new in writes if new in found}


@take_over.oracle
def _(xp, reads, writes, ending, kept, turned):
    import torch._inductor.codegen.simd  # noqa: F401  (asked for when a node decides)
    from torch._inductor.codegen.common import KernelArgs
    from torch._inductor.virtualized import V

    found = {}
    with Inductor(xp, [[list(reads), [new]] for new in writes], [], reads | writes) as inductor:
        V.graph.graph_inputs = V.graph.graph_inputs_original = dict.fromkeys(kept)
        inductor.scheduler.get_fused_node = lambda node: None
        inductor.scheduler.name_to_fused_node = {}
        for new, node in zip(writes, inductor.nodes):  # each result as a loop of its own in the kernel
            node.scheduler, node.ancestors = inductor.scheduler, set()
            inductor.scheduler.current_node, node.node = node, SimpleNamespace(get_operation_name=str)
            node.get_device, node.get_name = (lambda: xp.device("cpu")), (lambda: "this step")
            later = SimpleNamespace(get_name=lambda: "a later step")
            for old in reads:
                in_order = old not in turned.get(new, ())
                mine = SimpleNamespace(node=node, can_inplace=in_order, get_name=node.get_name)
                others = [] if old in ending else [SimpleNamespace(node=later, can_inplace=True)]
                inductor.buffers[old].users, inductor.buffers[old].scheduler = [mine, *others], inductor.scheduler
            kernel = SimpleNamespace(args=KernelArgs(), inplace_update_buffers={})
            with V.set_kernel_handler(kernel):
                node.decide_inplace_update()
            for name, old in kernel.inplace_update_buffers.items():
                inductor.wrapper.codegen_inplace_reuse(inductor.buffers[old], inductor.buffers[name])
                found[name] = old
    return found


def calls(st):
    """Schedules, and for each step what it may write in place."""

    @st.composite
    def draw_calls(draw):
        case = draw(schedules(st))
        later = set(case["outputs"])
        updates = []
        for reads, writes in reversed(case["steps"]):
            ending = [name for name in reads if name not in later and name.startswith("buf") and name not in writes]
            later |= {*reads, *writes}
            found = {}
            for new in writes:
                if ending and new.startswith("buf") and draw(st.booleans()):
                    found[new] = ending.pop(draw(st.integers(0, len(ending) - 1)))
            updates.insert(0, found)
        return {"steps": case["steps"], "outputs": case["outputs"], "updates": updates}

    return draw_calls()


@program(
    "inductor.memory.call_lines",
    cases=calls,
    edges=[
        plain_schedule(*CHAIN, outputs=["buf3"]) | {"updates": [{}, {}, {}, {}]},
        plain_schedule(*CHAIN, outputs=["buf3"]) | {"updates": [{}, {"buf1": "buf0"}, {"buf2": "buf1"}, {}]},
        plain_schedule("-> buf0", "-> buf1", "buf1 -> buf2", outputs=["buf2"]) | {"updates": [{}, {}, {}]},
        plain_schedule("-> buf0", "buf0 -> buf0", "buf0 -> buf1", outputs=["buf1"]) | {"updates": [{}, {}, {}]},
        plain_schedule("arg0_1 -> buf0", "buf0 -> arg0_1", "-> buf1", outputs=[]) | {"updates": [{}, {}, {}]},
        plain_schedule("-> buf0 buf1", "buf0 buf1 -> buf3 buf2", outputs=["buf2", "buf3"])
        | {"updates": [{}, {"buf2": "buf0"}]},
    ],
    hint=lambda case, mine, theirs: _first_line(mine, theirs),
)
def call_lines(xp, steps, outputs, updates):
    kept = sorted({name for step in steps for names in step for name in names if name.startswith("arg")})
    return [list(line) for line in xp.inductor.memory.call_lines(steps, kept, outputs, updates)]


@call_lines.oracle
def _(xp, steps, outputs, updates):
    from torch._inductor import config

    made = {name: ["float32", 64] for step in steps for names in step for name in names if name.startswith("buf")}
    with Inductor(xp, steps, outputs, made) as inductor, config.patch(allow_buffer_reuse=False):
        inductor.scheduler.compute_last_usage()
        for i, node in enumerate(inductor.nodes):
            inductor.scheduler.current_node = node
            for buffer in node.outputs:
                if buffer.name in updates[i]:
                    inductor.wrapper.codegen_inplace_reuse(inductor.buffers[updates[i][buffer.name]], buffer)
                else:
                    inductor.wrapper.codegen_allocation(buffer)
            inductor.wrapper.writeline(["call", i])
            inductor.scheduler.buffer_names_to_free.update(node.last_usage)
            inductor.scheduler.free_buffers()
        inductor.wrapper.memory_plan_reuse()
        return inductor.shown()


def planned(st):
    """The lines of a call before memory is reused, the sizes, and how much is alive during each step."""

    def lines_of(case):
        steps, outputs, sizes = case["steps"], case["outputs"], case["sizes"]
        last = {name: i for i, step in enumerate(steps) for names in step for name in names}
        lines, alive = [], []
        living = set()
        for i, (_, writes) in enumerate(steps):
            lines += [["allocate", name] for name in writes if name in sizes]
            lines.append(["call", i])
            living |= {name for name in writes if name in sizes}
            alive.append(sum(sizes[name][1] for name in living))
            ending = sorted(name for name in living if last[name] == i and name not in outputs)
            living -= set(ending)
            lines += [["free", name] for name in ending if i + 1 < len(steps)]
        return {"lines": lines, "sizes": sizes, "alive": alive}

    return schedules(st, 10).map(lines_of)


def written_lines(text, alive, **sizes):
    """A case written down: lines between semicolons."""
    lines = [line.split() for line in text.split(";")]
    lines = [["call", int(line[1])] if line[0] == "call" else line for line in lines]
    made = dict.fromkeys(name for line in lines if line[0] != "call" for name in line[1:])
    return {"lines": lines, "sizes": {name: ["float32", sizes.get(name, 64)] for name in made}, "alive": alive}


TWO_WAIT = "allocate buf0; allocate buf1; call 0; free buf0; free buf1; allocate buf2; call 1; allocate buf3; call 2"
OVERLAP = (
    "allocate old; allocate wide0; call 0; free old; call 1; free wide0; call 2; allocate new; allocate wide1; call 3"
)
LATE = "allocate buf0; call 0; free buf0; allocate buf1; call 1; free buf1; allocate buf2; call 2"


@program(
    "inductor.memory.plan_reuse",
    cases=planned,
    edges=[
        written_lines("allocate buf0; call 0; free buf0; allocate buf1; call 1", [64, 64]),
        written_lines("allocate buf0; call 0; free buf0; allocate buf1; call 1", [64, 128], buf1=128),
        written_lines("allocate buf0; call 0; reuse buf0 buf1; call 1; free buf1; allocate buf2; call 2", [64, 64, 64]),
        written_lines("allocate a; allocate b; call 0; free b; reuse a c; allocate d; call 1", [128, 128]),
        written_lines(TWO_WAIT, [128, 64, 128]),
        written_lines(LATE, [64, 512, 576], buf1=512),
        written_lines(LATE, [64, 512, 64], buf1=512),
        written_lines(LATE + "; free buf2; allocate buf3; call 3", [64, 512, 64, 512], buf1=512, buf3=512),
        written_lines(OVERLAP, [512, 100, 384, 64], old=64, new=64, wide0=128, wide1=128),
        written_lines(
            OVERLAP.replace("call 1; free wide0", "free wide0; call 1"),
            [512, 256, 16, 64],
            old=64,
            new=64,
            wide0=256,
            wide1=256,
        ),
        written_lines(OVERLAP, [512, 100, 480, 64], old=64, new=64, wide0=128, wide1=128),
        {"lines": [["call", 0]], "sizes": {}, "alive": [0]},
        written_lines("allocate buf0; call 0; free buf0; allocate buf1; call 1", [64, 64])
        | {"sizes": {"buf0": ["float32", 64], "buf1": ["int64", 64]}},
        written_lines(TWO_WAIT, [128, 64, 128])
        | {"sizes": dict(buf0=["float32", 64], buf1=["int32", 64], buf2=["float32", 64], buf3=["float32", 64])},
        written_lines(LATE.replace("call 1", "call 1; call 2").replace("2; call 2", "2; call 3"), [64, 512, 512, 64])
        | {"sizes": dict(buf0=["float32", 64], buf1=["float32", 512], buf2=["float32", 64])},
        written_lines(OVERLAP, [512, 500, 100, 64], old=64, new=64, wide0=128, wide1=128),
        written_lines(OVERLAP, [512, 100, 500, 64], old=64, new=64, wide0=128, wide1=128),
    ],
    hint=lambda case, mine, theirs: _first_line(_field(mine, "lines"), _field(theirs, "lines")),
)
def plan_reuse(xp, lines, sizes, alive):
    alive, before = list(alive), list(alive)
    sizes = {name: tuple(size) for name, size in sizes.items()}
    given = [tuple(line) for line in lines]
    found = xp.inductor.memory.plan_reuse(given, sizes, alive)
    stays = given == [tuple(line) for line in lines]
    return {"lines": [list(line) for line in found], "alive stays": alive == before, "lines stay": stays}


@plan_reuse.oracle
def _(xp, lines, sizes, alive):
    import operator

    from torch._inductor.codegen.segmented_tree import SegmentedTree
    from torch._inductor.codegen.wrapper import AllocateLine, EfficientPeakEstimate, FreeIfNotReusedLine, ReuseLine

    steps = [[[], []] for _ in alive]
    with Inductor(xp, steps, list(sizes), sizes) as inductor:
        wrapper, step = inductor.wrapper, 0
        for what, *names in lines:
            inductor.scheduler.current_node = inductor.nodes[step - (what == "free")]
            buffers = [inductor.buffers.get(name) for name in names]
            if what == "call":
                wrapper.writeline([what, *names])
                step = min(names[0] + 1, len(steps) - 1)
            else:
                kind = {"allocate": AllocateLine, "free": FreeIfNotReusedLine, "reuse": ReuseLine}[what]
                wrapper.writeline(kind(wrapper, *buffers))
        wrapper.estimate_peak = object.__new__(EfficientPeakEstimate)
        wrapper.estimate_peak.overall_peak_memory = max(alive)
        wrapper.estimate_peak.segmented_tree = SegmentedTree(list(alive), operator.add, max, 0)
        wrapper.memory_plan_reuse()
        return {"lines": inductor.shown(), "alive stays": True, "lines stay": True}


BUILT = {"texts": {"graph.cpp": "int f();", "a.h": "#"}, "command": ["g++", "-O3", "-fopenmp"], "machine": "x86_64"}
REBUILT = [
    BUILT | {"texts": {"a.h": "#", "graph.cpp": "int f();"}},
    BUILT | {"texts": {"graph.cpp": "int f(); ", "a.h": "#"}},
    BUILT | {"texts": {"graph.cpp": "int f();", "b.h": "#"}},
    BUILT | {"texts": {"graph.cpp": "#", "a.h": "int f();"}},
    BUILT | {"texts": {"graph.cpp": "int f();"}},
    BUILT | {"command": ["g++", "-O3-fopenmp"]},
    BUILT | {"command": ["g++", "-O3 -fopenmp"]},
    BUILT | {"command": ["g++", "-fopenmp", "-O3"]},
    BUILT | {"command": ["clang++", "-O3", "-fopenmp"]},
    BUILT | {"machine": "aarch64"},
    BUILT | {"command": ["g++", "-O3"], "machine": "-fopenmpx86_64"},
    BUILT | {"command": ["g++", "-O3", "-fopenmp", "-fopenmp"]},
    BUILT | {"command": ["g++", "-O3", "-O3", "-fopenmp"]},
    BUILT | {"command": ["g++", "-o3", "-fopenmp"]},
    BUILT | {"command": []},
    BUILT | {"command": [""]},
    BUILT | {"command": ["", ""]},
    BUILT | {"machine": "X86_64"},
    BUILT | {"machine": ""},
    BUILT | {"texts": {}},
    BUILT | {"texts": {"": ""}},
    BUILT | {"texts": {"graph.cpp": "int F();", "a.h": "#"}},
    BUILT | {"texts": {"graph.cpp": "int f();", "A.h": "#"}},
    BUILT | {"texts": {"graph.cpp": "int f();", "a.": "h#"}},
    BUILT | {"texts": {"graph.cpp": "int f();", "a.h#": ""}},
    *(BUILT | {"texts": {"a.h": letter}} for letter in ("", "é", "ü", "е", "e", "日")),
    *(BUILT | {"texts": {letter + "a.h": "#"}} for letter in "éüе"),
    *(BUILT | {"command": [letter]} for letter in "éüе"),
    *(BUILT | {"machine": letter} for letter in "éüе"),
]
for _mark in ("\0", "\n", " ", ",", "\x1f", ", ", "', '", "|", ":", ";", "/"):  # what might stand between two parts
    REBUILT += [
        BUILT | {"command": ["g++", "-O3" + _mark + "-fopenmp"]},
        BUILT | {"command": ["g++", "-O3"], "machine": "-fopenmp" + _mark + "x86_64"},
        BUILT | {"texts": {"graph.cpp": "int f();" + _mark}},
        BUILT | {"texts": {"a.h": _mark.join(["#", "graph.cpp", "int f();"])}},
    ]
_PARTS = [
    ["a.h", "#", "graph.cpp", "int f();"],
    ["graph.cpp", "int f();", "a.h", "#"],
    ["a.h", "graph.cpp", "#", "int f();"],
]
_PARTS += [["#", "int f();"], ["#", "int f();", "a.h", "graph.cpp"], ["int f();", "#"]]
REBUILT += [BUILT | {"texts": {}, "command": [*words, *BUILT["command"]]} for words in _PARTS]  # texts that are words


def builds(st):
    words = st.lists(st.sampled_from(["g++", "-O", "3", "-O3", "", " ", "é"]), max_size=3)
    text = st.text("ab\n ", max_size=2)
    texts = st.dictionaries(st.sampled_from(["a", "b", "ab", "graph.cpp"]), text, max_size=2)
    build = st.fixed_dictionaries({"texts": texts, "command": words, "machine": text})
    return st.fixed_dictionaries({"builds": st.lists(build, min_size=2, max_size=6), "versions": st.just(0)})


class Word(str):
    """A str whose `hash` depends on a number too, as that of any str depends on the process."""

    def __new__(cls, text, number):
        self = str.__new__(cls, text)
        self.number = number
        return self

    def __hash__(self):
        return hash((self.number, str(self)))


def versions_of(builds, versions):
    """These builds, and the first of them with as many other texts."""
    return [*builds, *(builds[0] | {"texts": {"graph.cpp": f"int f{number}();"}} for number in range(versions))]


def _about_keys(mine, theirs):
    """Which build got a key that it should not have."""
    for number, (first, equal) in enumerate(zip(mine or [], theirs or [])):
        if first != equal:
            if equal != number:
                return (
                    f"builds {equal} and {number} are the same and must have one key (is it the same in every process?)"
                )
            return f"builds {first} and {number} have one key, and differ"
    return None


def key_form(key):
    return isinstance(key, str) and len(key) == 24 and set(key) <= set("0123456789abcdef")


@program(
    "inductor.codecache.cache_key",
    cases=builds,
    edges=[{"builds": [BUILT, BUILT, *REBUILT], "versions": 0}, {"builds": [BUILT], "versions": 1500}],
    hint=lambda case, mine, theirs: _about_keys(
        _field(mine, "the first that is equal"), _field(theirs, "the first that is equal")
    ),
)
def cache_key(xp, builds, versions):
    keys = []
    for number, each in enumerate(versions_of(builds, versions)):
        texts = {name: Word(text, number) for name, text in each["texts"].items()}
        command = [Word(word, number) for word in each["command"]]
        keys.append(xp.inductor.codecache.cache_key(texts, command, Word(each["machine"], number)))
    all_used = versions == 0 or all(len({*digits}) == 16 for digits in zip(*keys))  # of a good hash each digit varies
    return {
        "24 hexadecimal digits": all(map(key_form, keys)) and all_used,
        "the first that is equal": [keys.index(key) for key in keys],
    }


@cache_key.oracle
def _(xp, builds, versions):
    from torch._inductor.codecache import code_hash

    keys = []
    for each in versions_of(
        builds, versions
    ):  # Inductor hashes one text, and an extra one for the command: here both spell everything out
        extra = repr([each["command"], each["machine"]])
        keys.append(code_hash(repr(sorted(each["texts"].items())), extra))
    return {"24 hexadecimal digits": True, "the first that is equal": [keys.index(key) for key in keys]}


# The pieces together, on products of matrices: Inductor generates no loops for them, and each needs the one before it.


def chains_of_products(st):
    @st.composite
    def draw_chain(draw):
        shapes = {"arg0_1": (4, 4), "arg1_1": (4, 6), "arg2_1": (6, 4)}
        products = []
        for number in range(draw(st.integers(2, 7))):
            last = f"buf{number - 1}" if products else "arg0_1"
            pairs = [(last, name) for name, (rows, _) in shapes.items() if rows == shapes[last][1]]
            pairs += [
                (name, last) for name, (_, columns) in shapes.items() if columns == shapes[last][0] and name != last
            ]
            a, b = draw(st.sampled_from(pairs))
            products.append([a, b])
            shapes[f"buf{number}"] = (shapes[a][0], shapes[b][1])
        return {"products": products}

    return draw_chain()


def sizes_of_products(products):
    shapes = {"arg0_1": (4, 4), "arg1_1": (4, 6), "arg2_1": (6, 4)}
    for number, (a, b) in enumerate(products):
        shapes[f"buf{number}"] = (shapes[a][0], shapes[b][1])
    return {name: ("float32", 4 * rows * columns) for name, (rows, columns) in shapes.items() if name.startswith("buf")}


@program(
    "together.memory",
    cases=chains_of_products,
    edges=[
        {"products": [["arg0_1", "arg0_1"], ["buf0", "arg1_1"], ["buf1", "arg2_1"], ["buf2", "arg0_1"]]},
        {"products": [["arg0_1", "arg0_1"], ["buf0", "buf0"], ["buf1", "buf0"], ["buf2", "arg0_1"], ["buf3", "buf2"]]},
    ],
    disposable=True,
    draws=6,
)
def memory_together(xp, products):
    memory = xp.inductor.memory
    steps = [([a, b], [f"buf{number}"]) for number, (a, b) in enumerate(products)]
    outputs, sizes = [f"buf{len(products) - 1}"], sizes_of_products(products)
    alive = memory.bytes_alive(steps, {name: nbytes for name, (_, nbytes) in sizes.items()}, outputs)
    lines = memory.call_lines(steps, ["arg0_1", "arg1_1", "arg2_1"], outputs, [{} for _ in steps])
    return [list(line) for line in memory.plan_reuse(lines, sizes, alive)]


@memory_together.oracle
def _(xp, products):
    import re

    import torch._inductor.config
    from torch._inductor.utils import run_and_get_code

    names = ("arg0_1", "arg1_1", "arg2_1")

    def chain(*inputs):
        values = dict(zip(names, inputs))
        for number, (a, b) in enumerate(products):
            values[f"buf{number}"] = values[a] @ values[b]
        return values[f"buf{len(products) - 1}"]

    inputs = xp.ones(4, 4), xp.ones(4, 6), xp.ones(6, 4)
    with torch._inductor.config.patch(compile_threads=1, force_disable_caches=True):
        _, (text, *_) = run_and_get_code(xp.compile(chain, fullgraph=True, dynamic=False), *inputs)
    found, calls = [], 0
    for line in text[text.index("def call(") :].splitlines():
        if made := re.match(r" +(buf\d+) = empty_strided", line):
            found.append(["allocate", made[1]])
        elif passed := re.match(r" +(buf\d+) = .*?(buf\d+)\b.*; del \2  # reuse", line):
            found.append(["reuse", passed[2], passed[1]])
        elif freed := re.match(r" +del (buf\d+)$", line):
            found.append(["free", freed[1]])
        elif "extern_kernels.mm(" in line:
            found.append(["call", calls])
            calls += 1
    return found
