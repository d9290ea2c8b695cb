"""Lab 12d, what a step costs: operations, memory and bytes that ranks exchange, each against what torch counts."""

from __future__ import annotations

import weakref
from importlib import import_module

from rushlight.course.costs import saved_bytes
from rushlight.course.gpt import gpt

from ...engine.check import program
from ..cases import attempt, drawn, explained, field, first_apart, first_of, listed, rows, when

SIZES = listed((1, 30), [2, 4, 6, 8, 12], [1, 2], (1, 3), [4, 6, 9])  # vocabulary, width, heads, layers, length


def _config(rl, config):
    return rl.course.costs.Config(*config)


def _torch_model(torch, config):
    return gpt(torch, *config)


def _tokens(torch, config, batch, n):
    return torch.zeros(batch, n, dtype=torch.int64), torch.arange(batch * n).reshape(batch, n) % config[0]


# Operations ----------------------------------------------------------------------------------------------------------


@program(
    "course.costs.gpt_flops",
    cases=drawn(config=SIZES, batch=(1, 3), n=(1, 4), fused=bool),
    edges=rows("config batch n fused", *(
        ([11, 4, 1, 1, 4], 1, 1, True), ([11, 4, 2, 1, 4], 1, 3, False), ([20, 6, 2, 2, 9], 2, 4, True),
        ([20, 6, 2, 2, 9], 2, 4, False),
        ([3, 12, 1, 3, 6], 3, 2, True), ([1, 2, 1, 1, 4], 1, 2, False),
    )),
    draws=6,
    hint=explained(
        projections="the Linear before attention has 3 times as many outputs as the one behind it",
        attention="fused attention has five products in its backward pass, and the mask saves nothing",
        mlp="the two Linears of the MLP have 4 times the width inside", embedding="an embedding looks up rows: there is no product",
        head="the head has a Linear's three products",
    ),
)  # fmt: skip
def flops(rl, config, batch, n, fused):
    function, config = rl.course.costs.gpt_flops, _config(rl, config)
    flops = function(config, batch=batch, n=n, fused=fused)
    if fused:
        assert function(config, batch, n) == flops, "fused is True by default"
    return dict(sorted(flops.items()))


@flops.oracle
def _(torch, config, batch, n, fused):
    counters, aten, model = import_module("torch.utils.flop_counter"), torch.ops.aten, _torch_model(torch, config)
    attention = import_module("torch.nn.attention")
    tokens, targets = _tokens(torch, config, batch, n)
    mapping = {  # the fused operator of a GPU has these formulas, that of a CPU has none
        aten._scaled_dot_product_flash_attention_for_cpu: lambda q, k, v, *_, **__: counters.sdpa_flop_count(q, k, v),
        aten._scaled_dot_product_flash_attention_for_cpu_backward: lambda grad, q, k, v, *_, **__: (
            counters.sdpa_backward_flop_count(grad, q, k, v)
        ),
    }
    kind = attention.SDPBackend.FLASH_ATTENTION if fused else attention.SDPBackend.MATH
    with attention.sdpa_kernel(kind), counters.FlopCounterMode(display=False, custom_mapping=mapping) as counter:
        loss = torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())
        forward = _by_part(counter, config)
        loss.backward()
        both = _by_part(counter, config)
    return {name: (forward[name], both[name] - forward[name]) for name in sorted(both)}


def _by_part(counter, config):
    counts = {
        name.partition(".")[2]: sum(by_operator.values()) for name, by_operator in counter.get_flop_counts().items()
    }
    blocks = [f"blocks.{i}" for i in range(config[3])]
    part = {
        name: sum(counts.get(f"{block}.{part}", 0) for block in blocks for part in parts)
        for name, parts in {"projections": ("attention", "projection"), "mlp": ("up", "down")}.items()
    }
    part["attention"] = sum(counts.get(block, 0) for block in blocks) - part["projections"] - part["mlp"]
    return {"embedding": counts.get("token", 0) + counts.get("position", 0), **part, "head": counts.get("head", 0)}


# Memory --------------------------------------------------------------------------------------------------------------

LARGE = listed((49, 70), [2, 4, 6, 8, 12], [1, 2], (1, 3), [4, 6, 9])  # the embedding is the largest parameter


def _peak_is_too_low(case, mine, theirs):
    return first_apart(mine, theirs) == "peak" and field(mine, "peak") < field(theirs, "peak")


@program(
    "course.costs.step_memory",
    cases=drawn(config=LARGE, batch=(1, 6), n=(1, 4)),
    edges=rows("config batch n", *(
        ([49, 4, 1, 1, 4], 1, 1), ([60, 4, 2, 1, 4], 1, 3), ([64, 8, 2, 2, 9], 2, 4),
        ([70, 2, 1, 3, 6], 6, 4), ([55, 12, 2, 1, 4], 5, 2),
    )),
    draws=6,
    hint=first_of(when(_peak_is_too_low, "what is alive at both moments? The peak is too low"), explained(
        gradients="each parameter has a gradient of its size, and the head has no weight of its own, but a bias",
        optimizer="two tensors of each parameter's size, and one number for each parameter",
        activations="q, k and v together are one Linear's output, and a view of a tensor costs nothing",
        peak="at the first moment there are no gradients of parameters yet; at the second one there are no activations any more",
    )),
)  # fmt: skip
def memory(rl, config, batch, n):
    return dict(sorted(rl.course.costs.step_memory(_config(rl, config), batch=batch, n=n).items()))


@memory.oracle
def _(torch, config, batch, n):
    """A step runs, and what is alive is counted at the two moments."""
    model, nbytes = _torch_model(torch, config), lambda tensors: sum(tensor.nbytes for tensor in tensors)
    optimizer = torch.optim.AdamW(model.parameters(), foreach=False)
    tokens, targets = _tokens(torch, config, batch, n)
    run = lambda: torch.nn.functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten())  # noqa: E731
    run().backward()
    optimizer.step()
    gradients = nbytes(parameter.grad for parameter in model.parameters())
    state = [value for one in optimizer.state.values() for value in one.values()]
    optimizer.zero_grad()
    activations = saved_bytes(torch, model, run, tokens, targets)
    with _alive_mode(torch, [*model.parameters(), *state, tokens, targets]) as mode:
        scores = model(tokens)
        loss = torch.nn.functional.cross_entropy(scores.flatten(0, 1), targets.flatten())
        loss.backward()
        mode.updating = True
        optimizer.step()
    del scores
    return {
        "activations": activations, "gradients": gradients, "optimizer": nbytes(state), "parameters": nbytes(model.parameters()),
        "peak": mode.peak,
    }  # fmt: skip


def _alive_mode(torch, tensors):
    """A mode with the largest number of bytes that are alive when the gradient of the scores is there, and later in `updating`."""
    base = import_module("torch.utils._python_dispatch").TorchDispatchMode
    leaves = import_module("torch.utils._pytree").tree_leaves

    class Alive(base):
        def __init__(self):
            super().__init__()
            self.sizes, self.peak, self.updating = {}, 0, False
            for tensor in tensors:
                self.note(tensor)

        def note(self, tensor):
            storage = tensor.untyped_storage()
            if storage._cdata not in self.sizes:
                self.sizes[storage._cdata] = storage.nbytes()
                weakref.finalize(storage, self.sizes.pop, storage._cdata, None)

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            result = func(*args, **(kwargs or {}))
            for tensor in leaves(result):
                if isinstance(tensor, torch.Tensor):
                    self.note(tensor)
            if self.updating or "_log_softmax_backward_data" in str(func):
                self.peak = max(self.peak, sum(self.sizes.values()))
            return result

    return Alive()


# Bytes between ranks -------------------------------------------------------------------------------------------------


@program(
    "course.costs.step_traffic",
    cases=drawn(config=SIZES, strategy=["ddp", "fsdp", "tp", "tp", "pp", "FSDP"], batch=(1, 3), n=(1, 4)),
    edges=rows("config strategy batch n", *(
        *(([11, 4, 2, 2, 4], strategy, 2, 3) for strategy in ("ddp", "fsdp", "tp")),
        ([30, 8, 2, 3, 9], "fsdp", 1, 1), ([5, 6, 1, 1, 6], "tp", 3, 4),
        ([5, 6, 1, 1, 6], "ddp", 1, 4), *(([5, 6, 1, 1, 6], name, 1, 4) for name in ("zero", "pp", "ep", "cp", "", "TP", "fsdp2")),
    )),
    draws=6,
    hint=explained(
        all_reduce="a gradient is summed once; in a tensor parallel block four tensors of the residual stream's size are summed",
        all_gather="a block is gathered twice, and the rest of the model once",
        reduce_scatter="each gradient goes through it once",
    ),
)  # fmt: skip
def traffic(rl, config, strategy, batch, n):
    traffic = attempt(rl.course.costs.step_traffic, _config(rl, config), strategy, batch, n)
    return traffic if isinstance(traffic, str) else dict(sorted(traffic.items()))


@traffic.oracle
def _(torch, config, strategy, batch, n):
    """A step runs, and hooks count the tensors that would be sent."""
    if strategy not in ("ddp", "fsdp", "tp"):
        return "raises ValueError"
    model, sent = _torch_model(torch, config), {"all_reduce": 0, "all_gather": 0, "reduce_scatter": 0}

    def count(kind, *tensors):
        sent[kind] += sum(tensor.nbytes for tensor in tensors)

    for block in model.blocks if strategy == "tp" else ():
        for linear in (block.projection, block.down):
            linear.register_forward_hook(lambda module, args, y: count("all_reduce", y))
        for linear in (block.attention, block.up):
            linear.register_full_backward_hook(lambda module, grads, _: count("all_reduce", grads[0]))
    for block in model.blocks if strategy == "fsdp" else ():
        gather = lambda module, _: count("all_gather", *module.parameters())  # noqa: E731
        block.register_forward_pre_hook(gather)
        block.register_full_backward_pre_hook(gather)
    tokens, _ = _tokens(torch, config, batch, n)
    model(tokens).sum().backward()
    inside = {id(parameter) for parameter in model.blocks.parameters()}
    for parameter in model.parameters() if strategy != "tp" else ():
        count("all_reduce" if strategy == "ddp" else "reduce_scatter", parameter.grad)
        if strategy == "fsdp" and id(parameter) not in inside:
            count("all_gather", parameter)
    return {kind: nbytes for kind, nbytes in sorted(sent.items()) if nbytes}
