"""Lab 12d, the trained MiniGPT: weights in a few bits, perplexity, and text from a program of a fixed length."""

from __future__ import annotations

from importlib import import_module

from ...engine.check import program
from ..cases import (
    apart,
    attempt,
    defaults,
    drawing,
    drawn,
    explained,
    first_of,
    listed,
    rows,
    several,
    type_name,
    when,
)

# Groups --------------------------------------------------------------------------------------------------------------

_weight = defaults(outs=2, groups=2, group=4, rest=0, bits=4, start=0, special=None, is_transposed=False)


@drawing
def _weights(draw, st):
    rest = draw(st.sampled_from([0, 0, 0, 0, 1]))
    group = draw(st.integers(2, 5))
    return _weight(
        draw(st.integers(1, 3)), draw(st.integers(1, 3)), group, rest, draw(st.integers(2, 8)), draw(st.integers(0, 20)),
        draw(st.sampled_from([None, None, "zeros", "tiny", "small", "negative", "ties"])), draw(st.booleans()),
    )  # fmt: skip


@program(
    "course.serving.quantize_groups",
    cases=_weights,
    edges=[
        *[_weight(bits=bits) for bits in range(2, 9)], _weight(is_transposed=True),
        _weight(1, 1, 2), _weight(3, 1, 5, bits=8), _weight(2, 3, 2, start=7),
        *[_weight(special=kind) for kind in ("zeros", "tiny", "small", "negative")], _weight(rest=1), _weight(2, 1, 3, 2, bits=8),
        *[_weight(1, 1, 5, bits=bits, start=start, special="ties") for bits, start in ((4, 0), (8, 2), (5, 4))],
    ],
    draws=12,
    hint=explained(
        q="each group has its own scale, the integers are symmetric, and a half goes to the even integer",
        scales="the largest absolute value of the group, over the largest integer, but not less than the smallest scale",
        grad="the results do not require grad", changed="the weight has changed",
    ),
)  # fmt: skip
def groups(rl, **case):
    bits, group = case["bits"], case["group"]
    weight, before = _made(rl, **case).requires_grad_(), _made(rl, **case)
    result = attempt(rl.course.serving.quantize_groups, weight, bits, group)
    changed = not rl.equal(weight.detach(), before)
    if isinstance(result, str):
        return {"q": result, "scales": None, "grad": False, "changed": changed}
    q, scales = result
    return {
        "q": q.contiguous(), "scales": scales.detach().contiguous() * 2**23, "grad": q.requires_grad or scales.requires_grad,
        "changed": changed,
    }  # fmt: skip


@groups.oracle
def _(torch, **case):
    """An observer of torch finds the scales, and an operator of torch quantises."""
    import_module("torch.ao.quantization.fx._decomposed")
    bits, group, weight = case["bits"], case["group"], _made(torch, **case)
    if case["rest"] and weight.shape[1] % group:
        return {"q": "raises ValueError", "scales": None, "grad": False, "changed": False}
    most = 2 ** (bits - 1) - 1
    observer = torch.ao.quantization.PerChannelMinMaxObserver(
        dtype=torch.int8, qscheme=torch.per_channel_symmetric, quant_min=-most, quant_max=most
    )
    observer(weight.reshape(-1, group))
    scales = observer.calculate_qparams()[0].reshape(len(weight), -1)
    quantize = torch.ops.quantized_decomposed.quantize_per_channel_group
    q = quantize(weight, scales, torch.zeros_like(scales), -most, most, torch.int8, group)
    return {"q": q.contiguous(), "scales": scales * 2**23, "grad": False, "changed": False}


def _made(xp, outs, groups, group, rest, bits, start, special, is_transposed):
    """A weight, which may be the transpose of a contiguous one.

    It has odd multiples of 1/64, so no quotient is half of an odd number. One group may be special: in "ties" all quotients but
    the largest are, and the scale is a power of two, whose reciprocal is exact. The smallest scale is 2**-23, and a check
    multiplies the scales by 2**23, so that small ones are compared, too.
    """
    features = groups * group + rest
    values = [[(2 * ((7 * i + 11 * row + start) % 23) - 21) / 64 for i in range(features)] for row in range(outs)]
    most = 2 ** (bits - 1) - 1
    for i in range(group):
        if special == "ties":
            quotient = most if i == 0 else (-1) ** (i // 2) * (min(i, most) - 0.5)
            values[-1][i] = quotient * 2.0 ** (start % 5 - 6)
        else:
            values[-1][i] *= {"zeros": 0.0, "tiny": 2.0**-40, "small": 2.0**-20, None: 1.0, "negative": -1.0}[special]
    weight = xp.tensor(values, dtype=xp.float32)
    return weight.t().contiguous().t() if is_transposed else weight


# Perplexity ----------------------------------------------------------------------------------------------------------

TARGET = [0, 1, 2, 3, 4, -100, -100]


@program(
    "course.serving.perplexity",
    cases=drawn(
        batches=several(several(listed((0, 4), TARGET), 1, 4), 1, 3), training=bool, generator=bool,
        fails=[False, False, False, True], height=(1, 2), recorded=[True, True, False],
    ),
    edges=rows(
        "batches training fails generator height recorded",
        *(([[*map(list, row)] for row in rows_], *more) for rows_, *more in (
            ([[(1, 2)]], True, False, False, 1, True), ([[(1, 2), (2, 3)]], False, False, False, 1, True),
            ([[(1, 2), (3, -100)]], True, False, False, 1, True),
            ([[(1, 2), (2, 3), (0, 1)], [(4, 4)]], True, False, True, 1, True),
            ([[(1, 2), (2, -100)], [(3, -100)], [(4, 0), (2, 2), (1, 1)]], False, False, True, 1, True),
            ([[(1, 2)]], True, True, False, 1, True), ([[(1, 2)], [(0, 4)]], False, True, True, 1, True),
            ([[(1, 2), (2, 3), (0, 1), (4, -100)], [(3, 0), (1, 4)]], True, False, False, 2, True),
            ([[(1, 2), (2, 3)]], True, False, False, 1, False), ([[(1, 2)]], False, True, True, 1, False),
        )),
    ),
    draws=10,
    hint=first_of(
        when(apart("modes"), "while it runs, the model is in evaluation mode"),
        explained(
            perplexity="add up over all tokens that have a target, and divide once",
            mode="the model's mode is that of before", recording="no graph is recorded while it runs",
        ),
    ),
)  # fmt: skip
def perplexities(rl, batches, training, fails, generator, height, recorded):
    model, given = _model(rl, fails), []
    model.train(training)
    for batch in _with_targets(batches):
        inputs, targets = zip(*batch)
        height_of = height if len(batch) % height == 0 else 1
        given.append(tuple(rl.tensor(rows).reshape(height_of, -1) for rows in (inputs, targets)))
    before = [[tensor.clone() for tensor in pair] for pair in given]
    with rl.set_grad_enabled(recorded):
        result = attempt(rl.course.serving.perplexity, model, (batch for batch in given) if generator else given)
        afterwards = rl.is_grad_enabled()
    same = all(rl.equal(x, y) for pair, other in zip(before, given) for x, y in zip(pair, other))
    assert same, "the tokens or the targets that were given have changed"
    return {
        "perplexity": result, "type": type_name(result), "mode": [module.training for module in model.modules()],
        "modes": sorted({*model.modes}), "recording": sorted({*model.recording}), "afterwards": afterwards,
    }  # fmt: skip


@perplexities.oracle
def _(torch, batches, training, fails, generator, height, recorded):
    """One cross-entropy of all tokens."""
    model = _model(torch, False)
    pairs = [pair for batch in _with_targets(batches) for pair in batch]
    inputs, targets = (torch.tensor(rows) for rows in zip(*pairs))
    loss = torch.nn.functional.cross_entropy(model.eval()(inputs), targets)
    result = "raises RuntimeError" if fails else loss.exp().item()
    mode = [training] * len([*model.modules()])
    never = {"modes": [False], "recording": [False], "afterwards": recorded}
    return {"perplexity": result, "type": type(result).__name__, "mode": mode, **never}


def _with_targets(batches):
    """The batches, of whose tokens at least one has a target."""
    if all(target == -100 for batch in batches for _, target in batch):
        return [[[batches[0][0][0], 3], *batches[0][1:]], *batches[1:]]
    return batches


def _model(xp, fails):
    """A model whose scores depend on the token. In training they are others."""

    class Model(xp.nn.Module):
        def __init__(self):
            super().__init__()
            table = [[((3 * i + 2 * j * j) % 7) * 0.5 for j in range(5)] for i in range(5)]
            self.inner, self.modes, self.recording = xp.nn.Embedding(5, 5, _weight=xp.tensor(table)), [], []

        def forward(self, tokens):
            self.modes.append(self.training)
            self.recording.append(xp.is_grad_enabled())
            if fails:
                raise RuntimeError("this model fails")
            return self.inner(tokens) * (3.0 if self.inner.training else 1.0)

    return Model()


# A fixed length ------------------------------------------------------------------------------------------------------

VOCABULARY, END = 311, 300


@program(
    "course.serving.generate_padded",
    cases=drawn(tokens=several((0, 310), 1, 6), count=(0, 5), length=(1, 6), step=(1, 4)),
    edges=rows("tokens count length step", *(
        ([2], 1, 4, 1), ([2, 3], 3, 5, 1), ([2, 3], 0, 4, 1), ([1, 4, 2], 4, 3, 2), ([1, 4, 2, 7, 5], 3, 3, 2), ([9], 4, 1, 3),
        ([3, 6], 5, 2, 1), ([4, 4, 4, 4], 2, 4, 3), ([1, 2], 3, 5, 4), ([300, 3], 2, 4, 1), ([299], 5, 6, 1), ([148, 1], 4, 6, 2),
        ([304], 3, 6, 1), ([74, 75], 5, 6, 1), ([40, 308], 2, 2, 1), ([300], 3, 4, 1), ([5, 300], 2, 3, 2),
    )),
    draws=15,
    hint=explained(
        tokens="the scores of the next token are at the last token of the text, not at the last position",
        calls="the program takes exactly `length` tokens, `end` behind the text, and is called once for each new one",
        changed="the list of tokens has changed",
    ),
)  # fmt: skip
def generated(rl, tokens, count, length, step):
    given, calls = [*tokens], []

    def program(x):
        """Scores from the sum of all tokens up to a position."""
        calls.append([str(x.dtype).rpartition(".")[2], x.tolist()])
        best = (x.cumsum(1) * step + rl.arange(x.shape[1]) + 1) % VOCABULARY
        return rl.nn.functional.one_hot(best, VOCABULARY).to(rl.float32) - 0.5

    row = rl.course.serving.generate_padded(program, given, count=count, length=length, end=END)
    return {"tokens": row, "calls": calls, "changed": given != [*tokens]}


@generated.oracle
def _(torch, tokens, count, length, step):
    """The same rule, from the text without anything behind it."""
    generated, calls = [], []
    for _ in range(count):
        seen = torch.tensor([*tokens, *generated][-length:])
        calls.append(["int64", [seen.tolist() + [END] * (length - len(seen))]])
        generated.append(int((seen.sum() * step + len(seen)) % VOCABULARY))
        if generated[-1] == END:
            break
    return {"tokens": generated, "calls": calls, "changed": False}
