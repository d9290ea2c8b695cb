"""The four patterns in two sentences each: the words of a text, against the recorded traffic of a step."""

from __future__ import annotations

import re

from rushlight.course.predictions import PATTERNS

from ...engine.check import program
from ..cases import explained, predicted
from ..shared_09 import on_ranks

_COLLECTIVES = {
    "all_reduce": r"\ball[-_ ]?reduc(?!\w*[-_ ]?scatter)", "all_gather": r"\ball[-_ ]?gather",
    "reduce_scatter": r"reduc\w*[-_ ]?scatter", "all_to_all": r"\ball[-_ ]?to[-_ ]?all", "broadcast": r"\bbroadcast",
}  # fmt: skip
_MESSAGES = {"recv": r"\b(recv|receiv)", "send": r"\b(send|sent)"}
_PARAMETERS = r"\b(param|weight)"
_TENSORS = {"activations": r"\bactivation", "gradients": r"\bgrad(s?\b|ient)", "parameters": _PARAMETERS}
_PARTS = {"backward": r"\bbackward", "forward": r"\bforward"}
_GROWS = {"batch": r"batch|\bactivation", "parameters": _PARAMETERS}
_ITS_GRADIENT = re.compile(
    r"\b(grad\w*) (of|for) ((the|all|its|their|own|each|every) )*(param|weight|activation)\w*"
    r"|\b(param|weight|activation)\w*['’]?s? (?=grad)"
)


def _named(words, sentence):
    return sorted(name for name, pattern in words.items() if re.search(pattern, sentence))


@program(
    "course.predictions.traffic_in_two_sentences",
    **predicted(PATTERNS),
    hint=explained(
        sentences="two sentences, of 5 to 40 words each, and each with a full stop at its end",
        calls="sentence 1: all calls of this step, on both ranks, and no other call",
        tensors="sentence 1: all that this step sends, and nothing else",
        when="sentence 2: forward, backward, or both: where this step sends something, and only there",
        grows_with="sentence 2: does a larger batch change the number of bytes, or a larger layer? Name only that",
        bytes="sentence 2 has no word about bytes",
    ),
)
def traffic_in_two_sentences(rl, program):
    text = " ".join(rl.course.predictions.traffic_in_two_sentences(program).split()).lower()
    text = re.sub(r"\b(i\.e|e\.g)\.", "that is", re.sub("[‐‑–]", "-", text))
    sentences = re.split(r"(?<=[.!?]) ", text)
    first, second = (sentences + ["", ""])[:2]
    sent = _ITS_GRADIENT.sub(r"\1", first)
    return {
        "sentences": [5 <= len(each.split()) <= 40 and each.endswith(".") for each in sentences],
        "calls": _named(_COLLECTIVES, first) or _named(_MESSAGES, first),
        "tensors": _named(_TENSORS, sent),
        "when": _named(_PARTS, second),
        "grows with": _named(_GROWS, second),
        "bytes": bool(re.search(r"\bbytes?\b", second)),
    }


@traffic_in_two_sentences.oracle
def recorded_words(torch, program):
    """Words for what both ranks send. If the bytes grow with the batch, these are activations, or in backward their gradients. If
    not, these are parameters where the forward sends them too, and otherwise gradients."""

    @on_ranks
    def step(torch, group, text):
        import torch.distributed as dist
        from torch.distributed.device_mesh import init_device_mesh
        from torch.distributed.fsdp import fully_shard
        from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
        from torch.nn.parallel import DistributedDataParallel

        from rushlight.distributed import Traffic

        given = (
            DistributedDataParallel,
            ColwiseParallel,
            RowwiseParallel,
            fully_shard,
            init_device_mesh,
            parallelize_module,
        )
        names = {"torch": torch, "dist": dist, "nn": torch.nn} | {each.__name__: each for each in given}
        before, forward, backward = re.split("# (?:for|back)ward:\n", text)
        sent = {}  # for each part and kind of operation, the bytes with the smaller batch and with the larger one
        for batch in 8, 16:
            exec(before, space := names | {"batch": batch})
            for part, code in ("forward", forward), ("backward", backward):
                with Traffic() as traffic:
                    exec(code, space)
                for kind, nbytes in traffic.nbytes.items():
                    sent.setdefault((part, kind), []).append(nbytes)
        return sent

    ranks = step(torch, ranks=2, text=PATTERNS[program])
    sent = {key: [of_rank[key] for of_rank in ranks if key in of_rank] for of_rank in ranks for key in of_rank}
    # a receive passes no bytes of its own
    grows = {key: any(a != b for a, b in of_ranks) for key, of_ranks in sent.items() if any(map(sum, of_ranks))}
    tensors = set()
    for (part, kind), growing in grows.items():
        is_parameter = not growing and ("forward", kind) in sent
        tensors.add("parameters" if is_parameter else "activations" if part == "forward" and growing else "gradients")
    return {
        "sentences": [True, True],
        "calls": sorted({kind for _, kind in sent}),
        "tensors": sorted(tensors),
        "when": sorted({part for part, _ in sent}),
        "grows with": sorted({"batch" if growing else "parameters" for growing in grows.values()}),
        "bytes": True,
    }
