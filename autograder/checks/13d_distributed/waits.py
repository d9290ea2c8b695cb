"""Checks of lab 13d: a job that waits, on real torch."""

from __future__ import annotations

import copy

from ...engine.check import program
from ..cases import drawing, field, first_apart, numbers, rows, several
from ..shared_09 import explained_by_rank, on_ranks, recorded_traffic
from ..shared_13 import state_left

# The first collective that waits -------------------------------------------------------------------------------------

CALLS = {  # what a rank calls, as the flight recorder writes it: name, sizes and dtypes of the inputs
    "sum": ("all_reduce", [[3]], ["Float"]),
    "long sum": ("all_reduce", [[4]], ["Float"]),
    "wide sum": ("all_reduce", [[3]], ["Double"]),
    "matrix": ("all_reduce", [[2, 5]], ["BFloat16"]),
    "turned": ("all_reduce", [[5, 2]], ["BFloat16"]),
    "number": ("all_reduce", [[]], ["Long"]),
    "gather": ("all_gather", [[3]], ["Float"]),
    "to one": ("gather", [[3]], ["Float"]),
    "buffers": ("broadcast", [[6], [1]], ["Float", "Long"]),
    "bytes": ("all_gather", [[16]], ["Byte"]),
    "flags": ("all_reduce", [[7]], ["Bool"]),
    "empty": ("broadcast", [[0, 3]], ["Half"]),
    "halves": ("all_gather", [[3]], ["Half"]),
    "ints": ("all_reduce", [[3]], ["Int"]),
    "longs": ("all_reduce", [[3]], ["Long"]),
    "brains": ("all_gather", [[3]], ["BFloat16"]),
    "bools": ("all_gather", [[16]], ["Bool"]),
    "other buffers": ("broadcast", [[6], [1]], ["Long", "Float"]),
    "counts": ("reduce_scatter", [[2, 2]], ["Int"]),
    "barrier": ("barrier", [], []),
}


def _records(calls, kept, backend):
    """What each rank's recorder has of the calls: the last ones."""
    records = []
    for names, most in zip(calls, kept):
        entries = []
        for number, name in enumerate(names, 1):
            kind, sizes, dtypes = CALLS[name]
            entry = {
                "collective_seq_id": number,
                "profiling_name": f"{backend}:{kind}",
                "state": "scheduled",
                "pg_id": 0,
            }
            more = {"process_group": ["0", "default_pg"], "record_id": number + 3, "retired": True, "is_p2p": False}
            entries.append(entry | more | {"input_sizes": copy.deepcopy(sizes), "input_dtypes": [*dtypes]})
        records.append(entries[max(0, len(entries) - most) :])
    return records


@drawing
def _jobs(draw, st):
    """Ranks that call the same, and then perhaps one that leaves one out, adds one, changes one, or stops."""
    ranks, common = draw(st.integers(1, 4)), draw(several(sorted(CALLS), 0, 7)(st))
    calls = [[*common] for _ in range(ranks)]
    for _ in range(draw(st.integers(0, 2))):
        names, i = calls[draw(st.integers(0, ranks - 1))], draw(st.integers(0, 7))
        change = draw(st.sampled_from(["without", "more", "other", "stop"]))
        if change == "more":
            names.insert(i, draw(st.sampled_from(sorted(CALLS))))
        elif change == "other" and i < len(names):
            names[i] = draw(st.sampled_from(sorted(CALLS)))
        else:
            del names[i : None if change == "stop" else i + 1]
    kept = [draw(st.sampled_from([*range(len(names) + 1), 9, 9])) for names in calls]
    return {"calls": calls, "kept": _possible(calls, kept), "backend": draw(st.sampled_from(["gloo", "nccl", "ucc"]))}


def _possible(calls, kept):
    """As many entries as a recorder could have lost: nothing that a rank still waits in is lost."""
    done = 0
    for names in zip(*calls):
        if len({*names}) > 1:
            break
        done += 1
    return [max(most, len(names) - done, bool(names)) for names, most in zip(calls, kept)]


def _about_first_waits(case, mine, theirs):
    if first_apart(mine, theirs) == "records":
        return "the records do not change"
    yours, wanted = field(mine, "first"), field(theirs, "first")
    if yours is None or wanted is not None and yours[0] > wanted[0]:
        return (
            "a collective needs all ranks, with the same name, sizes and dtypes: compare the entries of equal numbers"
        )
    if wanted is None or yours[0] < wanted[0]:
        return "a collective that is older than the oldest entry of some rank has been completed; match entries by their numbers"
    if [rank for rank, *_ in yours[1]] != [rank for rank, *_ in wanted[1]]:
        return "the dict has each rank that has called this collective, in order"
    if [name for _, name, _ in yours[1]] != [name for _, name, _ in wanted[1]]:
        return "the name is what follows the first colon of `profiling_name`: the backend comes before it"
    return "the bytes are those of all inputs together: the elements of each, times the bytes of its dtype"


@program(
    "clinic.distributed.first_wait",
    cases=_jobs,
    edges=rows(
        "calls kept",
        ([["sum"], []], [9, 9]), ([[], ["barrier"]], [9, 9]), ([["sum"], ["sum"]], [9, 9]), ([[], []], [9, 9]),
        ([["sum", "gather"], ["gather", "sum"]], [9, 9]), ([["sum"], ["long sum"], ["sum"]], [9, 9, 9]),
        ([["sum"], ["wide sum"]], [9, 9]), ([["matrix"], ["turned"]], [9, 9]), ([["sum"], ["gather"]], [9, 9]),
        ([["sum"] * 5, ["sum"] * 4], [3, 4]), ([["sum"] * 5, ["sum"] * 5], [2, 4]),
        ([["sum"] * 6 + ["buffers"], ["sum"] * 6, ["sum"] * 6 + ["buffers"]], [2, 5, 1]),
        ([["buffers", "flags"], ["buffers", "bytes"], ["buffers"]], [9, 9, 9]),
        ([["sum", "sum", "number"], ["sum", "number"]], [9, 9]), ([["counts", "empty"]], [9]),
        ([["empty"], []], [9, 9]), ([["number"], [], []], [9, 9, 9]), ([["sum"], ["sum", "barrier"], []], [9, 9, 9]),
        ([["sum", "gather", "sum"], ["sum", "sum"]], [9, 9]), ([["gather"] * 3, ["gather"] * 12], [1, 10]),
        ([["counts"], []], [9, 9]), ([["halves"], []], [9, 9]), ([["sum"] * 6 + ["gather"] * 2, ["sum"] * 8], [3, 3]),
        ([["sum"], ["sum"], ["ints"]], [9, 9, 9]), ([["wide sum"], ["longs"]], [9, 9]), ([["halves"], ["brains"]], [9, 9]),
        ([["bytes"], ["bools"]], [9, 9]), ([["buffers"], ["other buffers"]], [9, 9]),
    ) + [{"calls": [[name, "sum"], [name]], "kept": [9, 9], "backend": backend}
         for name, backend in (("gather", "nccl"), ("gather", "ucc"), ("to one", "gloo"))]
    + [{"calls": [["to one"], []], "kept": [9, 9], "backend": backend} for backend in ("gloo", "nccl", "ucc")],
    hint=_about_first_waits,
)  # fmt: skip
def first_wait(rl, calls, kept, backend="gloo"):
    records = _records(calls, kept, backend)
    before = copy.deepcopy(records)
    found = rl.clinic.distributed.first_wait(records)
    return {"first": _plain(found), "records": records == before}


def _plain(found):
    if found is None:
        return None
    number, waiting = found
    return [number, [[rank, *called] for rank, called in waiting.items()]]


@first_wait.oracle
def matched_from_the_start(torch, calls, kept, backend="gloo"):
    names = {
        "Float": "float32",
        "Double": "float64",
        "Long": "int64",
        "Int": "int32",
        "Half": "float16",
        "Bool": "bool",
    }
    names |= {"BFloat16": "bfloat16", "Byte": "uint8"}

    def nbytes(sizes, dtypes):
        tensors = (torch.empty(size, dtype=getattr(torch, names[kind])) for size, kind in zip(sizes, dtypes))
        return sum(tensor.nbytes for tensor in tensors)

    for i in range(max(map(len, calls))):
        now = [CALLS[names[i]] if i < len(names) else None for names in calls]
        if any(call != now[0] for call in now):
            waiting = [[rank, call[0], nbytes(*call[1:])] for rank, call in enumerate(now) if call]
            return {"first": [i + 1, waiting], "records": True}
    return {"first": None, "records": True}


# The loop that does not wait -----------------------------------------------------------------------------------------


def _batches(torch, sizes, start):
    """Batches of these sizes. Of each, the targets are classes or -1; a negative size is a batch without a target that counts."""
    batches = []
    for i, size in enumerate(sizes):
        inputs = numbers(torch, [abs(size), 3], start + i, "float32")
        targets = torch.tensor([(5 * j + i + start) % 4 - 1 if size > 0 else -1 for j in range(abs(size))]).long()
        batches.append((inputs, targets))
    return batches


@drawing
def _evaluations(draw, st):
    ranks = draw(st.sampled_from([2, 2, 3]))
    return {
        "ranks": ranks,
        "sizes": [draw(several((-3, 4), 0, 4)(st)) for _ in range(ranks)],
        "start": draw(st.integers(0, 9)),
        "training": draw(st.booleans()),
        "grad": draw(st.booleans()),
        "scale": draw(st.sampled_from([1.0, 1.0, 2.0**-40])),
    }


@program(
    "clinic.distributed.accuracy",
    cases=_evaluations,
    edges=rows(
        "ranks sizes start training grad scale",
        (2, [[3, 4], [3, 4]], 0, False, True, 1.0), (2, [[3, 4], [2]], 1, True, True, 1.0),
        (2, [[], [4, 2, 4]], 2, False, False, 1.0), (2, [[-3, 4], [4, 4]], 0, True, True, 1.0),
        (2, [[], []], 0, False, True, 1.0), (2, [[-1], [-2, -1]], 3, False, False, 1.0),
        (3, [[1], [4, 4, 4, 4], []], 4, True, True, 1.0), (2, [[4, -2, 4], [1]], 5, False, True, 1.0),
        (2, [[0, 3], [4]], 6, False, False, 1.0), (2, [[1], []], 5, True, True, 1.0),
        (2, [[40001], [3, 40000]], 3, False, True, 1.0), (2, [[3, 4], [3, 4]], 0, False, True, 2.0**-40),
        (2, [[4, -2, 4], [1]], 5, True, False, 2.0**-40),
    ),
    hint=explained_by_rank(
        raised={"wait": "a rank with fewer batches calls fewer collectives", "died": "do all ranks call the same collectives?"},
        share="on each rank the share of all targets that count, in exact integers and in the model's own mode, where the class "
        "with the largest number is predicted; not the mean of the ranks' or the batches' shares",
        sent="one all-reduce, with any batches: add up on the rank first",
        batches="the inputs and the targets do not change",
        changed="all but the number that it returns is as it was before",
    ),
    draws=8,
)  # fmt: skip
@on_ranks
def accuracy(rl, torch, group, sizes, start, training, grad, scale):
    model = _model(torch, scale).train(training)
    batches = _batches(torch, sizes[torch.distributed.get_rank()], start)
    before = copy.deepcopy(batches)
    grad_mode = torch.set_grad_enabled(grad)
    with grad_mode, state_left(torch, model) as changed, recorded_traffic(["all_reduce"]) as seen:
        share = rl.clinic.distributed.accuracy(model, iter(batches))
    sent = {kind: count for kind, (count, _) in seen["sent"].items()}
    same = all(torch.equal(*pair) for old, new in zip(before, batches) for pair in zip(old, new))
    shown = {
        "share": round(float(share), 6),
        "number": isinstance(share, float),
        "sent": sent,
        "beyond": seen["beyond"],
    }
    return shown | {"batches": same, "changed": " and ".join(changed)}


def _model(torch, scale):
    """A model that predicts another class in training. No two classes have equal numbers, but with a small scale the distances are
    small."""

    class Model(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)
            self.layer.weight.data.copy_(numbers(torch, [3, 3], 4))
            self.layer.bias.data.copy_(torch.arange(3) / 64)

        def forward(self, inputs):
            return self.layer(inputs) * (-scale if self.training else scale)

    return Model()


@accuracy.oracle
def accuracy_of_all(torch, ranks, sizes, start, training, grad, scale):
    model, hits = _model(torch, scale).train(training), []
    for inputs, targets in [batch for own in sizes for batch in _batches(torch, own, start)]:
        pairs = zip(model(inputs).tolist(), targets.tolist())
        hits += [logits.index(max(logits)) == target for logits, target in pairs if target >= 0]
    share = {"share": round(sum(hits) / len(hits), 6) if hits else 0.0, "number": True, "sent": {"all_reduce": 1}}
    return [share | {"beyond": [], "batches": True, "changed": ""}] * ranks
