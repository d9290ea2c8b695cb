"""Programs for predictions, drawn from a grammar for each student, so that no two students have the same ones.

A grammar is a function that makes a program from a source of random numbers. It makes `POOL` programs, each by its number. They are
the same on every machine. A student's name draws the numbers.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Sequence

POOL = 200  # programs of a grammar
FIRST, SECOND = "abcd", "efgh"  # the letters of a student's programs: of the first draw and of the second one

Grammar = Callable[[random.Random, str], str]  # from random numbers and a kind
GRAMMARS: dict[str, tuple[Grammar, tuple[str, ...]]] = {}


def grammar(*kinds: str) -> Callable[[Grammar], Grammar]:
    """Decorator: the grammar of the programs of the prediction with this name. A student's programs are of all kinds in turn."""

    def register(made: Grammar) -> Grammar:
        GRAMMARS[made.__name__] = made, kinds
        return made

    return register


def program(prediction: str, number: int) -> str:
    """The program of this number, from 0 to `POOL - 1`, for a prediction such as `"backward_order"`."""
    made, kinds = GRAMMARS[prediction]
    return made(random.Random(f"{prediction} {number}"), kinds[number % len(kinds)])


def numbers(prediction: str, name: str) -> dict[str, int]:
    """The numbers of a student's programs by their letters."""
    draw, kinds = random.Random(f"{prediction} for {name}"), len(GRAMMARS[prediction][1])
    first, shuffled = draw.randrange(kinds), draw.sample(range(POOL), POOL)
    drawn, texts = dict[str, int](), set[str]()
    for kind, letter in enumerate(FIRST + SECOND, start=first):
        of_kind = (number for number in shuffled if number % kinds == kind % kinds)
        drawn[letter] = next(number for number in of_kind if program(prediction, number) not in texts)
        texts.add(program(prediction, drawn[letter]))
    return drawn


def programs(prediction: str, name: str, letters: str = FIRST) -> dict[str, str]:
    """A student's programs by their letters: those of the first draw, or with `draws.SECOND` those of the second one.

    Args:
        prediction: the name of an exercise, such as `"backward_order"`.
        name: the student's name, as in the answer.
    """
    return {letter: program(prediction, numbers(prediction, name)[letter]) for letter in letters}


# The strided tensor --------------------------------------------------------------------------------------------------

Step = tuple[str, list[int]]  # what follows the name of a tensor, and the sizes of the result


@grammar("view", "reshape", "copy", "expand", "as_strided")
def view_or_copy(draw: random.Random, kind: str) -> str:
    """A chain of views with a step that may copy or raise: other sizes, a copy, an expanded dimension, or any strides."""
    large = [(2, 3, 4), (2, 4, 3), (3, 2, 4), (3, 4, 2), (4, 2, 3), (4, 3, 2), (4, 6), (3, 8), (6, 4)]
    small = [(2, 3), (3, 2), (2, 4), (4, 2), (3, 4), (4, 3)]
    sizes = [*draw.choice(small if kind in ("expand", "as_strided") else large)]
    lines = [f"x = xp.arange({math.prod(sizes)}).view({_listed(sizes)})"]
    if kind == "expand":
        steps = [_moved] * (draw.random() < 0.7) + [
            _expanded,
            draw.choice([_viewed, _reshaped, _reshaped, _contiguous]),
        ]
    elif kind == "as_strided":
        copied = [[_rows, _cloned], [_rows, _contiguous], [_part, _contiguous], [_moved, _contiguous]]
        steps = [*draw.choice([*copied, [_part, _moved], [_moved, _part]]), _any_strides]
    elif kind == "copy":  # `clone` of a tensor with gaps follows another rule
        steps = draw.choice([[_moved, _cloned], [_moved, _contiguous], [_rows, _contiguous], [_range, _contiguous]])
        steps.insert(draw.choice([0, 2]), _moved)
    else:
        steps = draw.choice([[_moved], [_range], [_rows, _moved], [_moved, _range], [_range, _moved]])
        steps = [*steps, _viewed if kind == "view" else _reshaped]
    steps += [] if kind == "as_strided" else [_part]
    for name, step in zip("abcd"[: len(steps) - 1] + "y", steps, strict=True):
        text, sizes = step(draw, sizes)
        lines.append(f"{name} = {lines[-1][0]}{text}")
    return "\n".join(lines)


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes))


def _moved(draw: random.Random, sizes: list[int]) -> Step:
    if len(sizes) == 1:
        return _range(draw, sizes)
    dims = draw.choice([*itertools.permutations(range(len(sizes)))][1:])
    return ".t()" if len(dims) == 2 else f".permute({_listed(dims)})", [sizes[dim] for dim in dims]


def _rows(draw: random.Random, sizes: list[int]) -> Step:
    """A part of the first dimension, so its elements fill a block of memory."""
    last = sizes[0] - 1
    one, more = (f"[{last}]", sizes[1:]), [("[1:]", [last, *sizes[1:]]), (f"[:{last}]", [last, *sizes[1:]])]
    return draw.choice([one, *more] if last > 1 else [one])


def _range(draw: random.Random, sizes: list[int]) -> Step:
    """A slice of a dimension, which keeps two indices or more if there are three."""
    dim = draw.choice([dim for dim, size in enumerate(sizes) if size > 2] or [len(sizes) - 1])
    size = sizes[dim]
    start, step = draw.choice([(1, 1), (0, 2), (1, 2 if size > 3 else 1), (max(size - 2, 1), 1)])
    text = f"{start or ''}:" + f":{step}" * (step > 1)
    return f"[{':, ' * dim}{text}]", [*sizes[:dim], len(range(start, size, step)), *sizes[dim + 1 :]]


def _part(draw: random.Random, sizes: list[int]) -> Step:
    """An index of a dimension, or a slice."""
    if len(sizes) == 1 or draw.random() < 0.5:
        return _range(draw, sizes)
    dim = draw.randrange(len(sizes))
    return f"[{':, ' * dim}{draw.choice([sizes[dim] - 1, 1, -1])}]", [*sizes[:dim], *sizes[dim + 1 :]]


def _expanded(draw: random.Random, sizes: list[int]) -> Step:
    dim, count = draw.randrange(len(sizes) + 1), draw.choice([2, 3])
    new = [*sizes[:dim], count, *sizes[dim:]]
    return (f".unsqueeze({dim})" if dim else "") + f".expand({_listed(new)})", new


def _regrouped(draw: random.Random, sizes: list[int]) -> Step:
    """Sizes that hold as many elements: two dimensions joined, or all, or one split."""
    joined = [[*sizes[:dim], sizes[dim] * sizes[dim + 1], *sizes[dim + 2 :]] for dim in range(len(sizes) - 1)]
    split = [[*sizes[:dim], 2, size // 2, *sizes[dim + 1 :]] for dim, size in enumerate(sizes) if size in (4, 6, 8)]
    new = draw.choice([*joined, *split, *split, [math.prod(sizes)]])
    return ("-1" if len(new) == 1 else _listed(new)), new


def _viewed(draw: random.Random, sizes: list[int]) -> Step:
    text, new = _regrouped(draw, sizes)
    return f".view({text})", new


def _reshaped(draw: random.Random, sizes: list[int]) -> Step:
    text, new = _regrouped(draw, sizes)
    return f".reshape({text})", new


def _contiguous(draw: random.Random, sizes: list[int]) -> Step:
    return ".contiguous()", sizes


def _cloned(draw: random.Random, sizes: list[int]) -> Step:
    return ".clone()", sizes


def _any_strides(draw: random.Random, sizes: list[int]) -> Step:
    new, strides = draw.choice(
        [((2, 3), (3, 1)), ((3, 2), (1, 1)), ((2, 2), (1, 2)), ((3, 3), (0, 1)), ((2, 2), (0, 2))]
    )
    offset = draw.choice(["", "", ", 1", ", 2"])
    return f".as_strided({new}, {strides}{offset})", [*new]


# The dispatcher ------------------------------------------------------------------------------------------------------

MODES = {
    "": "",
    "no_grad": "with xp.no_grad():",
    "inference": "with xp.inference_mode():",
    "autocast": 'with xp.autocast("cpu", dtype=xp.bfloat16):',
}


@grammar("no_grad", "inference", "", "autocast")
def kernels_run(draw: random.Random, mode: str) -> str:
    """Two calls on a tensor, with a mode, another device, or a factory function."""
    meta = draw.random() < (0 if mode == "autocast" else 0.4)
    x = "xp.ones(3, 3" + (', device="meta")' if meta else ")")
    if mode == "autocast":
        x += ".to(xp.bfloat16)"
    elif mode != "no_grad" or draw.random() < 0.5:
        x += draw.choice(["", ".requires_grad_()"])
    in_place = mode == "no_grad" or "requires_grad" not in x
    firsts = ["y = x.matmul(x)", "y = x.exp()", "y = x.t()", "y = x * x"]
    if in_place:
        firsts.append("y = x.add_(x)")
    if not meta and mode != "autocast":
        firsts.append("y = xp.ones(3, 3)")
    seconds = ["z = y.matmul(x)", "z = y.exp()", "z = y.t()", "z = y * x", "z = y.matmul(y)"]
    first, second = draw.choice(firsts), draw.choice(seconds)
    indent = "    " if mode else ""
    calls = [f"{indent}{first}", f"{indent}{second}"]
    return "\n".join([f"x = {x}", "# the calls:", *filter(None, [MODES[mode]]), *calls])


# Kernels -------------------------------------------------------------------------------------------------------------

DTYPES = {"bool": 0, "int32": 1, "int64": 1, "float16": 2, "float32": 2, "float64": 2}  # with the categories
NUMBERS = {"True": 0, "2": 1, "2.5": 2}
SHAPES = [(2, 3), (3, 2), (3, 4), (4, 3), (2, 3, 4), (4, 2, 3), (3, 4, 2)]
SIGNS = ["*", "+", "*", "+", "/", ">"]


@grammar("promoted", "in place", "order", "out", "broadcast")
def metadata_of_results(draw: random.Random, kind: str) -> str:
    """One or two elementwise operators: mixed dtypes, operands in other orders of memory or sizes, in place, or with `out`."""
    sizes = draw.choice(SHAPES)
    dtypes = draw.sample([*DTYPES], 2)
    if kind == "in place":
        return _in_place(draw, sizes, dtypes[0])
    if kind == "out":
        return _with_out(draw, sizes, dtypes[0])
    x, z = _operand(draw, sizes, dtypes[0]), _operand(draw, sizes, dtypes[1])
    if kind == "promoted":
        z = draw.choice([_number(draw), _zero_dim(dtypes[1]), f"xp.ones(1{_dtype(dtypes[1])})"])
        last = draw.choice([z, _number(draw), _zero_dim(draw.choice([*DTYPES]))])
        return f"x = {x}\na = x {draw.choice('*+')} {z}\ny = a {draw.choice(SIGNS)} {last}"
    if kind == "broadcast":
        smaller, larger = _broadcast(draw, sizes)
        x, z = _operand(draw, larger, dtypes[0]), _new(smaller, dtypes[1])
    first, second = draw.choice([("x", "z"), ("z", "x")])
    return f"x = {x}\nz = {z}\ny = {first} {draw.choice(SIGNS)} {second}"


def _dtype(dtype: str) -> str:
    return "" if dtype == "float32" else f", dtype=xp.{dtype}"


def _new(sizes: Sequence[int], dtype: str) -> str:
    return f"xp.ones({_listed(sizes)}{_dtype(dtype)})"


def _zero_dim(dtype: str) -> str:
    return f"xp.tensor(1{_dtype(dtype)})" if dtype != "float32" else "xp.tensor(1.0)"


def _number(draw: random.Random) -> str:
    return draw.choice([*NUMBERS])


def _operand(draw: random.Random, sizes: Sequence[int], dtype: str, gaps: bool = True) -> str:
    """A tensor of these sizes: new, with its dimensions in another order of memory, or with gaps."""
    how = draw.choice(["new", "moved", "moved", "gaps"] if gaps else ["new", "moved", "moved"])
    if how == "gaps":
        return f"{_new([*sizes[:-1], 2 * sizes[-1]], dtype)}[{':, ' * (len(sizes) - 1)}::2]"
    if how == "new":
        return _new(sizes, dtype)
    dims = draw.choice([*itertools.permutations(range(len(sizes)))][1:])
    base = [sizes[dims.index(dim)] for dim in range(len(sizes))]
    return _new(base, dtype) + (".t()" if len(dims) == 2 else f".permute({_listed(dims)})")


def _broadcast(draw: random.Random, sizes: tuple[int, ...]) -> tuple[list[int], list[int]]:
    """Sizes that broadcast to these, and others that give these with them, or do not fit."""
    if draw.random() < 0.15:
        return [sizes[-1] + 1], [*sizes]
    dim = draw.randrange(len(sizes))
    smaller = [1 if at == dim else size for at, size in enumerate(sizes)]
    if dim == 0 and draw.random() < 0.7:
        smaller = smaller[1:]
    ones = [len(sizes) == 2 and at != dim and draw.random() < 0.3 for at in range(len(sizes))]
    return smaller, [1 if one else size for one, size in zip(ones, sizes, strict=True)]


def _in_place(draw: random.Random, sizes: tuple[int, ...], dtype: str) -> str:
    """An operator that writes to its first operand: it fits, or its sizes, its dtype or its memory do not."""
    case, category = draw.choice(["fits", "fits", "fits", "fits", "sizes", "dtype", "dtype", "memory"]), DTYPES[dtype]
    name = draw.choice(["mul_", "add_"])
    lower = [other for other in DTYPES if DTYPES[other] <= category]
    higher = [other for other in DTYPES if DTYPES[other] > category]
    if case == "memory":
        rows, columns = sizes[0], sizes[1]
        front = f"x[:{rows - 1}]"
        if draw.random() < 0.4:
            number = _zero_dim(draw.choice(lower))
            return f"x = {_new([rows, 1], dtype)}.expand({rows}, {columns})\ny = x.{name}({number})"
        target, source = draw.choice(
            [("x[1:]", front), (front, "x[1:]"), ("x", "x"), ("x[:1]", "x[1:2]"), ("x[0]", "x[1]")]
        )
        return f"x = {_new([rows, columns], dtype)}\ny = {target}.{name}({source})"
    z = _new(draw.choice([sizes, sizes[1:], [*sizes[:-1], 1]]), draw.choice(lower))
    if case == "sizes":
        z = _new([2, *sizes], draw.choice(lower))
    elif case == "dtype" and higher:
        z = draw.choice([_operand(draw, sizes, draw.choice(higher)), _zero_dim(draw.choice(higher))])
    elif draw.random() < 0.3:
        z = draw.choice([text for text, of_number in NUMBERS.items() if of_number <= category])
    return f"x = {_operand(draw, sizes, dtype)}\nz = {z}\ny = x.{name}(z)"


def _with_out(draw: random.Random, sizes: tuple[int, ...], dtype: str) -> str:
    """An operator with `out`, of the same sizes or of others, and of any dtype."""
    result = draw.choice(["mul", "add", "add"])
    other = draw.choice([name for name in DTYPES if DTYPES[name] >= DTYPES[dtype] or draw.random() < 0.4])
    out = draw.choice(
        [_operand(draw, sizes, other, gaps=False), _new([sizes[-1]], other), _new([0], other), _new(sizes[::-1], other)]
    ).replace("ones", "empty")
    operands = f"{_operand(draw, sizes, dtype)}", draw.choice(["2", "True", _new([sizes[-1]], dtype)])
    return f"x = {operands[0]}\nz = {operands[1]}\nout = {out}\ny = xp.{result}(x, z, out=out)"


# The backward pass ---------------------------------------------------------------------------------------------------


@grammar("detach", "in place", "view", "no_grad")
def backward_order(draw: random.Random, special: str) -> str:
    """A loss of one or two leaves with results that are used twice, in-place operators, views, and paths that end."""
    lines = _leaves("w" if draw.random() < 0.4 else "")
    values = ["x", "w"][: len(lines)]
    steps = ["unary", "binary", draw.choice(["unary", "binary"])]
    draw.shuffle(steps)
    steps.insert(draw.randrange(1, 4), special)
    for step, name in zip(steps, "abcd", strict=True):
        newest, ended = values[-1], step in ("detach", "no_grad")
        if step == "in place":
            # Only on a result that no node has saved
            lines.append(f"{name} = {newest} {draw.choice('+-')} {draw.choice(values)}")
            lines.append(f"{name}.{draw.choice(['mul_(2)', 'sin_()', 'add_(1)'])}")
        elif step == "no_grad":
            lines += ["with xp.no_grad():", f"    {name} = {_unary(draw, newest)}"]
        else:
            lines.append(f"{name} = {_step(draw, step, newest, values)}")
        values.insert(len(values) - 1 if ended else len(values), name)
    return "\n".join(
        [
            *lines,
            f"loss = ({values[-1]} {draw.choice('*/+')} {draw.choice(values[:-1])}).{draw.choice(['sum', 'mean'])}()",
        ]
    )


@grammar("c", "w", "cw")
def saved_tensors(draw: random.Random, others: str) -> str:
    """A loss of leaves and constants, with products and functions of one argument."""
    lines = _leaves(others)
    values = [line.partition(" ")[0] for line in lines]
    first = draw.choice(["unary", "binary"])
    for step, name in zip([first, "unary", "binary", "binary"], "abde", strict=True):
        lines.append(f"{name} = {_step(draw, step, values[-1] if name != 'a' else 'x', values, '***//+-')}")
        values.append(name)
    return "\n".join([*lines, "loss = e.sum()"])


def _leaves(others: str) -> list[str]:
    lines = ["x = xp.ones(4).requires_grad_()"]
    for name in others:
        lines.append(f"{name} = xp.full((4,), 2.0)" + ("" if name == "c" else ".requires_grad_()"))
    return lines


def _unary(draw: random.Random, operand: str) -> str:
    return f"{operand}.{draw.choice(['exp', 'sin', 'cos', 'tanh', 'sigmoid', 'relu', 'neg', 'sqrt'])}()"


def _step(draw: random.Random, step: str, newest: str, values: list[str], signs: str = "**/+-") -> str:
    if step == "unary":
        return _unary(draw, newest)
    if step == "detach":
        return f"{newest}.detach()"
    if step == "view":
        return f"{newest}.{draw.choice(['t()', 'view(4)', 'unsqueeze(0)'])}"
    pair = [newest, draw.choice(values)]
    draw.shuffle(pair)
    return f"{pair[0]} {draw.choice(signs)} {pair[1]}"


# Training ------------------------------------------------------------------------------------------------------------


@grammar("absent", "kept", "outside", "groups", "frozen")
def parameters_after(draw: random.Random, kind: str) -> str:
    """Two steps of SGD: a parameter without a gradient, gradients that are not cleared, a parameter that the optimiser does not
    have, groups, or a parameter that is frozen between the steps. All numbers are whole."""
    setting = draw.choice(["momentum=0.5", "weight_decay=0.5"])
    special, other = draw.choice(["wb", "bw"])
    own = draw.choice([f'"{setting[:-4]}": 0.0', '"lr": 2.0'])
    groups = f'[{{"params": [{other}]}}, {{"params": [{special}], {own}}}]'
    params = {"outside": f"[{other}]", "groups": groups}.get(kind, "[w, b]")
    w, b = draw.choices([-8, -4, 4, 8], k=2)
    start = [
        f"w, b = xp.nn.Parameter(xp.tensor({w}.0)), xp.nn.Parameter(xp.tensor({b}.0))",
        f"optimizer = xp.optim.SGD({params}, lr=1.0, {setting})",
        f"({draw.choice([2, 4, 6])} * w {draw.choice('+-')} {draw.choice([2, 4, 6])} * b).backward()",
    ]
    step, clear = "optimizer.step()", f"optimizer.zero_grad({draw.choice(['', 'set_to_none=False'])})"
    both = f"({draw.choice(['w * b', 'w * b + 2 * w', 'w * b - 2 * b'])}).backward()"
    alone = f"({other} * {draw.choice(['3', special + '.detach()'])}).backward()"
    rest = {
        "absent": [step, clear, alone],
        "groups": [step, clear, draw.choice([alone, both])],
        "kept": draw.choice([[step, both], [step, both, clear], [both, step]]),
        "frozen": [step, *draw.choice([[], [clear], [clear]]), f"{special}.requires_grad_(False)", both],
    }.get(kind, [step, clear, both])
    return "\n".join([*start, *rest, step])


# Modes and wrappers --------------------------------------------------------------------------------------------------


@grammar("mode", "modes", "inner", "new")
def calls_received(draw: random.Random, kind: str) -> str:
    """Four calls on a wrapper and on plain tensors, some of them in one mode or in two. One may be on the tensor in a wrapper, or
    make a new tensor."""
    wrappers, others, calls = ["w"], ["x"], list[str]()
    steps = ["linear", "product", *draw.choices(["method", "product"], k=2)]
    draw.shuffle(steps)
    if kind in ("inner", "new"):
        steps[draw.choice([place for place in (1, 2, 3) if steps[place] != "linear"])] = kind
    for name, step in zip("abcd", steps, strict=True):
        left, right = draw.sample(wrappers[-2:] + others[-2:], 2)
        call = {
            "linear": f"F.linear({left}, {right}{draw.choice(['', ', bias'])})",
            "method": f"{left}.{draw.choice(['t()', 'relu()', 'exp()', 'add_(1)'])}",
            "product": f"{left} {draw.choice('@*+')} {right}",
            "inner": f"{wrappers[-1]}.inner.{draw.choice(['relu()', 'exp()'])}",
            "new": "torch.ones(3, 3)",
        }[step]
        is_wrapper = step in ("linear", "method", "product") and (
            left in wrappers or step != "method" and right in wrappers
        )
        (wrappers if is_wrapper else others).append(name)
        calls.append(f"{name} = {call}")
    begin, end = draw.choice([(0, 2), (0, 3), (1, 3), (1, 4), (2, 4)] if kind != "modes" else [(0, 3), (1, 4)])
    within = [f"    {call}" for call in calls[begin:end]]
    if kind == "modes":
        place = draw.randrange(3)
        last = draw.choice([place + 1, 3])
        within[place:last] = ['    with Mode("two"):', *(f"    {call}" for call in within[place:last])]
    start = "w, x, bias = Noted(torch.ones(3, 3)), torch.ones(3, 3), torch.ones(3)"
    return "\n".join([start, *calls[:begin], 'with Mode("one"):', *within, *calls[end:]])


# What is captured ----------------------------------------------------------------------------------------------------

CALLS = {
    "values": ["(xp.ones(3),), (-xp.ones(3),), (xp.ones(3),)", "(-xp.ones(3),), (xp.ones(3),), (-xp.ones(3),)"],
    "sizes": [
        "(xp.ones(3),), (xp.ones(3),), (xp.ones(4),), (xp.ones(5),)",
        "(xp.ones(3),), (xp.ones(4),), (xp.ones(3),), (xp.ones(6),)",
        "(xp.ones(3),), (xp.ones(3),), (xp.ones(2, 3),), (xp.ones(2, 3),)",
    ],
    "numbers": ["(2, 2, 3, 4)", "(3, 4, 4, 5)", "(2, 5, 2, 6)"],
    "lists": ["([1], [2], [], [1, 2], [3])", "([], [1], [1, 2], [3])", "([1, 2], [3], [4, 5], [])"],
}


@grammar(*CALLS)
def captured_graphs(draw: random.Random, what: str) -> str:
    """A function with a graph break, a branch or a helper, and calls with other values, sizes, numbers or lists."""
    drawn = draw.choice(CALLS[what])
    names = {"numbers": "x, k", "lists": "x, items"}.get(what, "x")
    calls = f"[(xp.ones(3), {names[3:]}) for {names[3:]} in {drawn}]" if what in ("numbers", "lists") else f"[{drawn}]"
    methods = draw.sample(["sin", "cos", "exp", "relu", "tanh"], 3)
    function = "" if what == "values" else f".{methods[0]}()"
    first = f"y = x{function} {draw.choice('*+')} {draw.choice(['2', 'k' if what == 'numbers' else '3'])}"
    if what == "lists":
        test, then = f"len(items) > {draw.choice([0, 1])}", f"y = y.{methods[1]}()"
        middle = [f"if {test}:", f"    {then}"]
    elif what == "values" or draw.random() < 0.3:
        least = draw.choice([0, 1]) if what == "values" else 0
        middle = [f"if y.{draw.choice(['sum', 'mean'])}() > {least}:", f"    return y.{methods[1]}()"]
    else:
        middle = ['print(end="")', f"y = y.{methods[1]}()"]
    last = draw.choice(["return y", f"return y.{methods[2]}()", "return y + 1"])
    body = [first, *middle, last]
    if what != "values" and draw.random() < 0.5:
        rest = ['print(end="")'] if draw.random() < 0.5 and "print" not in body[1] else []
        body = [f"y = helper(x).{methods[1]}()", *rest, "return y * 2" if what != "numbers" else "return y * k"]
        if what == "lists":
            body.insert(1, f"if {test}:")
            body.insert(2, "    y = y + 1")
        inner = draw.choice([['print(end="")'], [], ["x = x + 1"]])
        helper = [
            "def helper(x):",
            *(f"    {line}" for line in [f"x = x.{methods[0]}()", *inner, f"return x.{methods[2]}()"]),
            "",
        ]
    else:
        helper = []
    return "\n".join([*helper, f"def f({names}):", *(f"    {line}" for line in body), f"calls = {calls}"])


# Inductor ------------------------------------------------------------------------------------------------------------


@grammar("one", "two", "sum")
def kernels_and_buffers(draw: random.Random, results: str) -> str:
    """A function of two matrices: products, functions of single elements between them, and one or two results."""
    rows = draw.choice([20, 30, 40])
    lines, values = [], ["x"]
    for name in "abcd"[: draw.choice([3, 3, 4])]:
        newest, is_product = values[-1], "@" in "".join(lines[-1:])
        if draw.random() < 0.4 and not is_product:
            lines.append(f"{name} = {newest} @ w")
        elif len(values) > 2 and draw.random() < 0.35:
            sign = "*" if is_product else draw.choice("*+")  # a product and a sum become one call
            lines.append(f"{name} = {newest} {sign} {draw.choice(values[1:-1])}")
        else:
            after = draw.choice([".sin()", ".relu() + 1", " * 2", ".neg()", ".exp()", ".cos()"])
            lines.append(f"{name} = {newest}{after}")
        values.append(name)
    last, earlier = values[-1], draw.choice(values[1:-1])
    result = {"one": last, "two": f"{last}, {earlier}", "sum": f"{last}.sum(1)"}[results]
    body = [f"    {line}" for line in [*lines, f"return {result}"]]
    return "\n".join(["def f(x, w):", *body, f"sizes = [({rows}, 30), (30, 30)]"])


# Distributed training ------------------------------------------------------------------------------------------------

ACCUMULATIONS = [
    ["for _ in range(2):", "    model(x).sum().backward()"],
    ["with model.no_sync():", "    model(x).sum().backward()", "model(x).sum().backward()"],
    ["loss = model(x).sum()", "with model.no_sync():", "    loss.backward()"],
    ["with model.no_sync():", "    loss = model(x).sum()", "loss.backward()", "model(x).sum().backward()"],
]


@grammar("buckets", "units", "accumulated", "hybrid")
def collectives_of_a_step(draw: random.Random, kind: str) -> str:
    """A step of three layers with buckets or units, which may be accumulated, or sharded within machines."""
    sizes = [100, *draw.sample([20, 40, 50, 60, 80, 100], 3)]
    layers = ", ".join(f"linear({before}, {after})" for before, after in zip(sizes, sizes[1:], strict=False))
    lines, step = ["x = torch.ones(4, 100)", f"model = nn.Sequential({layers})"], ["model(x).sum().backward()"]
    if kind in ("buckets", "accumulated"):
        if kind == "buckets" and draw.random() < 0.3:
            lines.append(f"model[{draw.randrange(3)}].requires_grad_(False)")
        lines.append(f"model = DistributedDataParallel(model, bucket_cap_mb={draw.choice([9_000, 15_000]):_} / 2**20)")
        if kind == "accumulated" or draw.random() < 0.7:
            lines += ACCUMULATIONS[0]
        if kind == "accumulated":
            step = draw.choice(ACCUMULATIONS)
        return "\n".join([*lines, "# the step:", *step])
    mesh = ", mesh=machines" if kind == "hybrid" else ""
    if mesh:
        lines.append('machines = init_device_mesh("cpu", (2, 2), mesh_dim_names=("between", "within"))')
    units = sorted(draw.sample(range(3), draw.choice([1, 2] if mesh else [1, 2, 2, 3])))
    whole = draw.choice(units) if draw.random() < 0.4 else None
    for unit in units:
        lines.append(f"fully_shard(model[{unit}]{mesh}{', reshard_after_forward=False' if unit == whole else ''})")
    return "\n".join([*lines, f"fully_shard(model{mesh})", "# the step:", *step])


# Quantisation --------------------------------------------------------------------------------------------------------


@grammar("halves", "older", "observed", "symmetric", "gradient")
def quantized_values(draw: random.Random, kind: str) -> str:
    """Numbers that are quantised: between two steps, outside of the range, by an observer, or with a gradient."""
    scale = draw.choice([0.5, 0.25, 0.125])
    zero, low, high = draw.choice([(0, -8, 7), (1, 0, 15), (3, 0, 255), (-2, -8, 7), (10, 0, 15)])
    dtype = "int8" if low < 0 else "uint8"
    between = [(draw.randrange(-9, 9) + 0.5) * scale for _ in range(3)]
    outside = [draw.choice([-1, 1]) * scale * draw.choice([40, 300])]
    numbers = [*between, *outside, draw.randrange(-6, 7) * scale + draw.choice([-1, 1]) * scale / 4]
    draw.shuffle(numbers)
    if kind == "halves":
        return f"x = torch.tensor({numbers})\ny = quantize_per_tensor(x, {scale}, {zero}, {low}, {high}, torch.{dtype})"
    if kind == "older":
        zero = max(zero, 0)
        return f"x = torch.tensor({numbers[:4]})\ny = torch.quantize_per_tensor(x, {scale}, {zero}, torch.quint8).int_repr()"
    if kind == "gradient":
        limits = draw.choice(["-4, 3", "0, 7", "-8, 7"])
        return (
            f"x = torch.tensor({numbers}, requires_grad=True)\n"
            f"torch.fake_quantize_per_tensor_affine(x, {scale}, {draw.choice([0, 1, 2])}, {limits}).sum().backward()\n"
            "y = x.grad"
        )
    steps = draw.choice([0.25, 0.5, 1.0])
    if kind == "symmetric":
        seen = [draw.choice([0.0, -1.0, 2.0]), 7.5 * steps * draw.choice([-1, 1])]
        values = [draw.choice([-1, 1]) * 7.5 * steps, draw.randrange(1, 7) * steps, -draw.randrange(1, 7) * steps]
        return (
            "observer = MinMaxObserver(dtype=torch.qint8, qscheme=torch.per_tensor_symmetric, quant_min=-8, quant_max=7)\n"
            f"observer(torch.tensor({seen}))\nscale, y = observer.calculate_qparams()\nx = torch.tensor({values})\n"
            "y = torch.cat([y, quantize_per_tensor(x, scale, y, -8, 7, torch.int8)])"
        )
    low = draw.choice([-5, -3, 0, 2]) * steps
    seen = [[low, low + draw.randrange(3) * steps], [low + steps, min(low, 0.0) + 15 * steps]]
    values = [0.0, draw.randrange(1, 9) * steps, draw.choice([-20, 20]) * steps]
    return (
        "observer = MinMaxObserver(quant_min=0, quant_max=15)\n"
        f"observer(torch.tensor({seen}))\ny = observer.calculate_qparams()[1]\nx = torch.tensor({values})\n"
        "y = torch.cat([y, quantize_per_tensor(x, *observer.calculate_qparams(), 0, 15, torch.uint8)])"
    )


STATEMENTS = {  # of the newest value, of an earlier one, and the signs of an operator of two tensors and of one with a number
    "layer": ["self.first({0})"],
    "another": ["self.second({0})"],
    "relu": ["F.relu({0})"],
    "two": ["{0} {2} {1}"],
    "number": ["{0} {3} 2"],
    "moved": ["{0}.reshape(-1, 4)"],
    "float": ["xp.exp({0})", "xp.sin({0})", "{0} - {1}"],
    "joined": ["xp.cat([{0}, {1}])", "xp.cat([{1}, {0}])"],
}


@grammar("joined", "number", "two", "float")
def observed_nodes(draw: random.Random, special: str) -> str:
    """The `forward` of a model: a layer, a relu, and operators that have an observer of their own, share one, or have none."""
    others = [step for step in ("another", "moved", "float", "two") if step != special]
    steps = ["layer", "relu", special, *draw.sample(others, 2)]
    draw.shuffle(steps)
    signs = draw.sample("+*", 2)
    rows, lines = {"x": 4}, list[str]()
    for step, name in zip(steps, "abcde", strict=True):
        *earlier, newest = (value for value in rows if step == "joined" or rows[value] == rows[[*rows][-1]])
        other = draw.choice(earlier or [newest])
        rows[name] = rows[newest] + (rows[other] if step == "joined" else 0)
        lines.append(f"{name} = {draw.choice(STATEMENTS[step]).format(newest, other, *signs)}")
    lines.append("return e" if draw.random() < 0.3 else f"return e, {draw.choice('abcd')}")
    return "\n".join(["def forward(self, x):", *(f"    {line}" for line in lines)])


# Export --------------------------------------------------------------------------------------------------------------


@grammar("compared", "equal", "fixed", "named", "not run")
def exported_sizes(draw: random.Random, kind: str) -> str:
    """A function that compares the sizes of two or three tensors, joins the tensors or loops over a size, and a hint for each."""
    names = "xyz"[: draw.choice([2, 3])] if kind in ("equal", "fixed") else "xy"
    number = draw.randrange(5, 10)
    sizes = {name: number if kind == "equal" else draw.randrange(5, 12) for name in names}
    dims = {name: draw.choice(["Dim.AUTO", "Dim.AUTO", "Dim.DYNAMIC"]) for name in names}
    one, other, *rest = draw.sample(names, len(names))
    results = [*names]
    if kind == "compared":  # never two symbols: torch narrows the range of one by that of the other
        test = f"{other}.shape[0] % {draw.choice([2, 3])} == {draw.randrange(2)}"
        doubled = [f"if {test}:", f"    {other} = {other} * 2"]
        lines = [*_if_size(draw, one, sizes), *doubled, *_if_size(draw, other, sizes)]
    elif kind == "equal":
        pair = draw.choice(["{} + {}", "{}.t() @ {}", "{} * {}"]).format(one, other)
        lines = [f"a = {pair}", *_if_size(draw, one, sizes), *_if_size(draw, other, sizes)]
        results.insert(0, "a")
    elif kind == "fixed":
        fixed = [
            [f"for _ in range({one}.shape[0]):", f"    {one} = {one} + 1"],
            [f"{one} = {one} * len({one})"],
            [f"{one} = {one} + xp.ones({sizes[one]}, 3)"],
            [f"if {one}.shape[0] == {sizes[one]}:", f"    {one} = {one}.relu()"],
            [f"{one} = {one} + {other}"],
        ]
        chosen = draw.choice(fixed)
        if chosen == fixed[-1]:
            sizes[one] = 1  # a constant, and no error: it is broadcast
        dims[one] = "Dim.AUTO" if draw.random() < 0.9 else "Dim.DYNAMIC"
        lines = [*chosen, *_if_size(draw, other, sizes)]
        lines += [
            f"{name} = {draw.choice([f'{name}.reshape({name}.shape[0] * 3)', f'{name} + {other}[:1]'])}"
            for name in rest
        ]
    elif kind == "named":
        least, most = draw.choice([0, 2, 3, 4]), draw.choice([16, 32, 64])
        limits = f"min={least}, max={most}" if least else f"max={most}"
        dims[one] = f'Dim("{draw.choice(["batch", "rows"])}", {limits})'
        least = max(least, 2)
        comparisons = f"< {least}", f">= {least}", f"<= {most}", f"> {most}", f"!= {most + 1}", f"> {least}"
        tests = [f"{one}.shape[0] {each}" for each in (*comparisons, f"% 2 == {sizes[one] % 2}")]
        test = draw.choice([*tests, f"{one}.mean() > 0"])
        lines = [*_if_size(draw, other, sizes), f"if {test}:", f"    {one} = {one}.exp()"]
    else:
        more, least = sizes[one] + draw.randrange(1, 20), draw.randrange(2, 12)
        skipped = draw.choice([f"{one} + {other}", f"{one} * len({one})", f"{one} * len({other})"])
        lines = [f"if {one}.shape[0] > {more} and {other}.shape[0] > {least}:", f"    {one} = {skipped}"]
        if draw.random() < 0.5:
            test = f"if {one}.shape[0] <= {more} or {other}.shape[0] > {least}:"
            lines = [test, f"    {one} = {one}.relu()", "else:", f"    {one} = {skipped}"]
        lines += _if_size(draw, other, sizes)
    args = ", ".join(f"xp.ones({sizes[name]}, 3)" for name in names)
    body = "".join(f"    {line}\n" for line in [*lines, f"return {', '.join(results)}"])
    return f"def forward({', '.join(names)}):\n{body}args = {args}\ndims = [{', '.join(dims.values())}]"


def _if_size(draw: random.Random, name: str, sizes: dict[str, int]) -> list[str]:
    size = sizes[name]
    number = draw.choice([draw.randrange(3, size), size + draw.randrange(1, 30)])
    tests = [f"{name}.shape[0] {draw.choice(['<', '<=', '>', '>='])} {number}"] * 4
    tests += [f"{name}.shape[0] * 2 > {2 * draw.randrange(2, size)}", f"{name}.shape[0] != {number}"]
    return [f"if {draw.choice(tests)}:", f"    {name} = {name}.{draw.choice(['relu', 'exp', 'sin'])}()"]


# Profiles ------------------------------------------------------------------------------------------------------------

ROWS, COLUMNS, GAPS = "rows", "columns", "gaps"  # how a tensor is in memory: contiguous, transposed, or with gaps


@grammar("products", "types", "layouts", "numbers")
def recorded_operators(draw: random.Random, kind: str) -> str:
    """Four lines with products, conversions of types, transposed tensors, copies, and numbers that Python gets."""
    steps = {
        "products": ["product", draw.choice(["layout", "pointwise"]), "product", draw.choice(["type", "pointwise"])],
        "types": ["type", draw.choice(["layout", "product"]), "type", draw.choice(["pointwise", "number"])],
        "layouts": ["strided", draw.choice(["pointwise", "copy"]), draw.choice(["strided", "pointwise"]), "copy"],
        "numbers": [*draw.sample(["product", "layout", "type", "pointwise"], 3), "number"],
    }[kind]
    three = kind in ("products", "numbers") and draw.random() < 0.5
    newest, sizes = draw.choice([("x", (4, 8)), ("w", (6, 8)), ("v", (8, 6))]) if not three else ("batch", (2, 4, 8))
    layout = ROWS
    lines = list[str]()
    for step, name in zip(steps, "abcd", strict=True):
        call, sizes, layout = _recorded_step(draw, step, sizes, layout)
        lines.append(f"{name} = {call.format(newest)}")
        newest = name
    return "\n".join(lines)


def _recorded_step(
    draw: random.Random, step: str, sizes: tuple[int, ...], layout: str
) -> tuple[str, tuple[int, ...], str]:
    """A call on a tensor with these sizes, and the sizes and the layout of its result."""
    *rows, last = sizes
    if step == "product":
        calls = {
            8: ["F.linear({}, w, bias)", "F.linear({}, w)", "{} @ v"],
            6: ["F.linear({}, v)", "{} @ w"],
            4: ["{} @ x"],
        }
        return draw.choice(calls[last]), (*rows, 6 if last == 8 else 8), ROWS
    if step == "type":
        same = draw.random() < 0.4
        call = draw.choice(
            ["{}.float()", "{}.to(xp.float32)"] if same else ["{}.double().float()", "{}.half().float()"]
        )
        return call, sizes, COLUMNS if layout == COLUMNS else layout if same else ROWS
    if step == "number":
        return draw.choice(["{}.sum().item()", "float({}.sum())", "{}.sum(-1)"]), (), ROWS
    if step == "pointwise":
        ones = ["{}.relu()", "{}.exp()", "{}.sin()"] + ["{}.softmax(-1)"] * (layout == ROWS)
        return draw.choice(ones), sizes, COLUMNS if layout == COLUMNS else ROWS
    if len(sizes) == 3:
        return draw.choice(["{}.flatten(0, 1)", f"{{}}.reshape(8, {last})"]), (8, last), ROWS
    copies, strided = [("{}.contiguous()", sizes, ROWS)], list[tuple[str, tuple[int, ...], str]]()
    if last != rows[0]:
        copies += [(f"{{}}.reshape({last}, {rows[0]})", (last, *rows), ROWS)] * 2
    if layout != GAPS:
        strided += [("{}.t()", (last, *rows), COLUMNS if layout == ROWS else ROWS)] * 2
    if layout == ROWS and last > 4:
        strided += [("{}[:, :4]", (*rows, 4), GAPS)] * 2
    return draw.choice({"copy": copies, "strided": strided or copies}.get(step, copies + strided))


# A language model ----------------------------------------------------------------------------------------------------


@grammar("values", "in place", "gradients", "outside")
def autocast_dtypes(draw: random.Random, kind: str) -> str:
    """Values under autocast, with in-place operators, with a loss and its gradients, or with lines that are outside of autocast."""
    names = "abcde" if kind in ("values", "outside") else "abcd"
    others = draw.sample(["product", "product", "pointwise", "two", "to"], len(names) - 2)
    later = ["two", *others] if kind != "values" else ["two", "pointwise", *others[1:]]
    steps = ["product" if draw.random() < 0.6 else "to", *draw.sample(later, len(later))]
    inside = draw.choice([2, 3]) if kind == "outside" else len(names)
    lines, values, doubles = list[str](), ["x"], set[str]()
    for step, name in zip(steps, names, strict=True):
        value, is_double = _cast_step(draw, step, values, doubles, len(lines) < inside)
        lines.append(f"{name} = {value}")
        values.append(name)
        doubles |= {name} if is_double else set()
    listed, newest = [*values[1:]], values[-1]
    if kind == "in place":
        for place in (draw.choice([2, 3]), draw.choice([0, 0, 1])):
            pair = [values[place + 1], draw.choice(["x", *values[: place + 1]])]
            lines.insert(place + 1, draw.choice(["{} += {}", "{}.mul_({})"]).format(*pair))
        listed.insert(0, "x")
    else:
        losses = [f"F.cross_entropy({newest}, tokens)", f"F.mse_loss({newest}, {draw.choice(values[:-1])})"]
        lines.append(f"loss = {losses[0] if kind == 'outside' else draw.choice(losses)}")
        listed.append("loss")
    if kind == "gradients":
        weight = [", linear.weight"] if any("linear" in line for line in lines) else [""]
        lines.insert(0, "x.requires_grad_()")
        listed = ["loss", f"*xp.autograd.grad(loss, [x, {', '.join(values[1:])}{weight[0]}])"]
    inside = inside if kind == "outside" else len(lines)
    block = ['with xp.autocast("cpu", dtype=xp.bfloat16):', *(f"    {line}" for line in lines[:inside])]
    rest = lines[inside:]
    if kind == "outside" and draw.random() < 0.5:
        rest = ['    with xp.autocast("cpu", enabled=False):', *(f"        {line}" for line in rest)]
    return "\n".join([*block, *rest, f"y = [{', '.join(listed)}]"])


def _cast_step(draw: random.Random, step: str, values: list[str], doubles: set[str], is_cast: bool) -> tuple[str, bool]:
    """A value of the newest one, and whether it is of float64. A product has no operands of two dtypes, which would be an error."""
    newest, other = values[-1], draw.choice(values)
    is_double = newest in doubles
    if step == "to":
        to = draw.choice(["double", "bfloat16"] if newest == "x" or draw.random() < 0.6 else ["float"])
        return f"{newest}.{to}()", to == "double"
    if step == "two" and len(values) > 1:
        other = draw.choice(values[:-1])
        value = draw.choice(["{0} + {1}", "{1} * {0}", "xp.where({1} > 0, {0}, {1})"]).format(newest, other)
        return value, is_double or other in doubles
    if step in ("pointwise", "two"):
        ones = ["F.gelu({})", "{}.softmax(-1)", "{}.softmax(-1)", "{} * 0.5"]
        return draw.choice(ones if is_double else [*ones, "norm({})", "norm({})"]).format(newest), is_double
    if is_double and draw.random() < 0.5:
        return f"{newest} @ {newest}", True
    if is_double or not is_cast:
        return draw.choice([f"linear({newest}.float())", f"{newest}.bfloat16() @ {other}.bfloat16()"]), False
    other = newest if other in doubles else other
    product = ["linear({0})", "linear({0})", "{0} @ {1}", "{1} @ {0}", "F.scaled_dot_product_attention({0}, {0}, {1})"]
    return draw.choice(product).format(newest, other), False


# Triton --------------------------------------------------------------------------------------------------------------


@grammar("block", "steps", "row", "tile", "shared")
def block_load(draw: random.Random, kind: str) -> str:
    """Two loads of an instance: of a block with an end, with steps, of a row, of a tile, or of elements that the block shares."""
    of_x, of_y = draw.sample(["float32", "float32", "float16", "float64"], 2)
    instance = draw.randrange(1, 6)
    loads = {
        "block": _block_loads, "steps": _step_loads, "row": _row_loads, "tile": _tile_loads, "shared": _shared_loads,
    }[kind](draw, instance)  # fmt: skip
    return f"# x: {of_x}, y: {of_y}, instance: {instance}\n{loads}"


def _block_loads(draw: random.Random, instance: int) -> str:
    block, shift = draw.choice([32, 64, 128]), draw.randrange(1, 12)
    end = instance * block + draw.randrange(block // 4, block)
    second = draw.choice(
        [
            f"y + {end - 1} - at, mask=at < {end}",
            f"y + at, mask=at >= {end}",
            f"y + at, mask=(at < {end}) & (at % 2 == {draw.randrange(2)})",
            f"y + at % {draw.choice([8, 12, 20])}, mask=at < {end}",
        ]
    )
    at = f"at = tl.program_id(0) * {block} + tl.arange(0, {block})"
    return f"{at}\na = tl.load(x + at + {shift}, mask=at < {end})\nb = tl.load({second})"


def _step_loads(draw: random.Random, _: int) -> str:
    block, step, width = draw.choice([16, 32, 64]), draw.choice([2, 3, 4, 6]), draw.choice([100, 250, 270])
    there = draw.randrange(block // 2 + 1, block)
    second = draw.choice(
        [
            f"y + at * {width} + row, mask=at < {there}",
            f"y + {draw.choice([5, 8, 20])} * at + {draw.randrange(1, 5)}",
            f"y + {step} * at + row, mask=at >= {there}",
        ]
    )
    at = f"row, at = tl.program_id(0), tl.arange(0, {block})"
    return f"{at}\na = tl.load(x + row * {width} + {step} * at, mask=at < {there})\nb = tl.load({second})"


def _row_loads(draw: random.Random, _: int) -> str:
    width, height = draw.choice([50, 75, 90, 100, 110]), draw.randrange(9, 31)
    second = draw.choice(
        [
            "y + row",
            f"y + at, mask=at < {width}",
            f"y + at * {width} + row, mask=at < {height}",
            f"y + row * {width + 1} + at, mask=at < row",
        ]
    )
    at = f"row, at = tl.program_id(0), tl.arange(0, {128 if width > 64 else 64})"
    return f"{at}\na = tl.load(x + row * {width} + at, mask=at < {width})\nb = tl.load({second})"


def _tile_loads(draw: random.Random, instance: int) -> str:
    rows, columns = draw.choice([(4, 16), (8, 8), (8, 16)])
    height, width = draw.randrange(rows // 2 + 1, rows), instance * columns + draw.randrange(columns // 4, columns)
    second = draw.choice(
        [
            f"y + i, mask=i < {height}",
            f"y + j, mask=j < {width}",
            f"y + j * {height} + i, mask=(i < {height}) & (j < {width})",
            f"y + i + j, mask=i < {height}",
        ]
    )
    i = f"i, j = tl.arange(0, {rows})[:, None], tl.program_id(0) * {columns} + tl.arange(0, {columns})[None, :]"
    return f"{i}\na = tl.load(x + i * {width} + j, mask=(i < {height}) & (j < {width}))\nb = tl.load({second})"


def _shared_loads(draw: random.Random, _: int) -> str:
    block, by, end = draw.choice([32, 64, 128]), draw.choice([2, 3, 4, 6]), draw.randrange(10, 31)
    first, width = draw.randrange(1, 8), draw.choice([12, 20, 28])
    second = draw.choice(
        [
            f"y + at % {width} + {first}",
            f"y + at // {by} * {width}, mask=at < {end}",
            f"y + 0 * at + {first}, mask=at < {end}",
            f"y + at % {by} * {width}",
        ]
    )
    at = f"row, at = tl.program_id(0), tl.arange(0, {block})"
    return f"{at}\na = tl.load(x + row * {width} + at // {by}, mask=at < {block - first})\nb = tl.load({second})"
