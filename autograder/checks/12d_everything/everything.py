"""All pieces together: one MiniGPT that is inspected, counted, trained on two ranks, captured, quantised and exported."""

from __future__ import annotations

import io
from importlib import import_module

import numpy as np

from rushlight.course.anatomy import fused_operators
from rushlight.course.costs import saved_bytes
from rushlight.course.gpt import gpt

from ...engine.check import program
from ..cases import copied, drawn, rows

SIZES = {"vocabulary": 49, "width": 8, "heads": 2, "layers": 2, "length": 6}
END, STRATEGIES = 48, ("one", "ddp", "fsdp", "tp")


@program(
    "together.everything",
    cases=drawn(start=(1, 3311)),
    edges=rows("start", (0,)),
    draws=1,
)
def everything(rl, start):
    course = rl.course
    model, data = _model(rl, start), _data(start)
    tokens, targets = (rl.from_numpy(array) for array in data[0])
    config = course.costs.Config(*SIZES.values())
    with fused_operators():
        loss = _loss(rl, model, tokens, targets)
    labels, edges = course.anatomy.backward_graph(loss, dict(model.named_parameters()))
    predicted = course.costs.step_memory(config, *tokens.shape)
    measured = saved_bytes(rl, model, lambda: _loss(rl, model, tokens, targets), tokens, targets)
    shown = {
        "lens": [copied(tensor) for tensor in course.anatomy.logit_lens(model, tokens)],
        "graph": [labels, edges],
        "operations": sum(sum(counts) for counts in course.costs.gpt_flops(config, *tokens.shape).values()),
        "memory": [predicted["parameters"], predicted["gradients"], predicted["optimizer"], predicted["activations"]],
        "measured": measured,
        "graphs": _graphs(rl, model, tokens),
        "tokens": _generated(rl, model, data[0][0][0, :2].tolist()),
    }
    sent = {}
    for strategy in STRATEGIES:
        losses, nbytes = course.sharding.train_on_ranks(rl, _model(rl, start), SIZES["heads"], data, strategy, lr=0.01)
        sent |= {strategy: dict(sorted(nbytes.items()))} if nbytes else {}
        shown |= {strategy: losses}
    shown["sent"] = sent
    shown["predicted"] = {
        strategy: dict(
            sorted(course.costs.step_traffic(config, strategy, len(tokens) if strategy == "tp" else 2, 6).items())
        )
        for strategy in sent
    }
    for bits, group in ((8, 0), (4, 4)):
        model = _model(rl, start)
        shown[f"bytes in {bits} bits"] = course.serving.quantize_model(model, bits, group)
        batches = [tuple(map(rl.from_numpy, batch)) for batch in data]
        shown[f"perplexity in {bits} bits"] = course.serving.perplexity(model, batches)
    return shown


@everything.oracle
def _(torch, start):
    """The same model on torch, and torch's own counts."""
    model, data = _model(torch, start), _data(start)
    tokens, targets = (torch.from_numpy(array) for array in data[0])
    loss = _loss(torch, model, tokens, targets)
    checks = "autograder.checks.12d_everything"
    anatomy, costs = import_module(f"{checks}.anatomy"), import_module(f"{checks}.costs")
    case = {"config": [*SIZES.values()], "batch": len(tokens), "n": 6}
    memory = costs.memory.torch_program(torch, **case)
    lens, x = [], model.token.weight[tokens] + model.position.weight
    for block in [None, *model.blocks]:
        x = block(x) if block is not None else x
        lens.append(copied(model.head(model.norm(x))))
    plain = _trained(torch, start, data)
    sent = {strategy: costs.traffic.torch_program(torch, strategy=strategy, **case) for strategy in STRATEGIES[1:]}
    shown = {
        "lens": lens,
        "graph": anatomy.graph_of(torch, loss, dict(model.named_parameters())),
        "operations": sum(sum(counts) for counts in costs.flops.torch_program(torch, fused=True, **case).values()),
        "memory": [memory[name] for name in ("parameters", "gradients", "optimizer", "activations")],
        "measured": memory["activations"],
        "graphs": _graphs(torch, model, tokens),
        "tokens": _greedy(torch, model, data[0][0][0, :2].tolist()),
    }
    shown |= dict.fromkeys(STRATEGIES, plain) | {"sent": sent, "predicted": sent}
    for bits, group in ((8, 0), (4, 4)):
        model = _model(torch, start)
        shown[f"bytes in {bits} bits"] = _quantised(torch, model, bits, group)
        inputs, targets = (torch.from_numpy(np.concatenate(arrays)) for arrays in zip(*data))
        loss = _loss(torch, model, inputs, targets)
        shown[f"perplexity in {bits} bits"] = loss.exp().item()
    return shown


def _model(xp, start):
    """Weights that are odd multiples of 1/64 or 1/256: where they are rounded, no quotient is half of an odd number."""
    model = gpt(xp, **SIZES)
    with xp.no_grad():
        for i, parameter in enumerate(model.parameters()):
            k = np.arange(parameter.numel(), dtype=np.int64) + 13 * i + start
            values = (2 * ((k * k + 7 * k // 3) % 23) - 21) / (64 if parameter.dim() == 2 else 256)
            parameter.copy_(xp.tensor(values.astype(np.float32).tolist()).reshape(parameter.shape))
    return model


def _data(start):
    """Three batches of four rows. Two of the rows have fewer targets."""
    made = []
    for step in range(3):
        k = np.arange(24, dtype=np.int64).reshape(4, 6) + 5 * step + start
        inputs, targets = (k * k + k // 3) % 48, ((k + 1) * (k + 1) + (k + 1) // 3) % 48
        targets[0, 2:], targets[3, 5:] = -100, -100
        made.append((inputs, targets))
    return made


def _loss(xp, model, tokens, targets):
    return xp.nn.functional.cross_entropy(model(tokens).flatten(0, 1), targets.flatten(), ignore_index=-100)


def _graphs(xp, model, tokens):
    """How many graphs are captured for the model, and whether one more for the same sizes."""
    seen = []

    def keep(graph, inputs):
        seen.append(graph)
        return graph.forward

    dynamo = xp._dynamo if xp.__name__ == "torch" else xp.dynamo
    dynamo.reset()
    compiled = xp.compile(model, backend=keep)
    counts = []
    for _ in range(2):
        compiled(tokens)
        counts.append(len(seen))
    dynamo.reset()
    return counts


def _generated(rl, model, tokens):
    """The tokens that the exported model generates after a save and a load."""
    file, length = io.BytesIO(), SIZES["length"]
    with rl.no_grad():
        rl.export.save(rl.export.export(model, (rl.zeros(1, length, dtype=rl.int64),)), file)
    file.seek(0)
    return rl.course.serving.generate_padded(rl.export.load(file).module(), tokens, 8, length, END)


def _greedy(torch, model, tokens):
    generated = []
    for _ in range(8):
        generated.append(model(torch.tensor([[*tokens, *generated][-SIZES["length"] :]]))[0, -1].argmax().item())
        if generated[-1] == END:
            break
    return generated


def _trained(torch, start, data):
    model, losses = _model(torch, start), []
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for inputs, targets in data:
        loss = _loss(torch, model, torch.from_numpy(inputs), torch.from_numpy(targets))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def _quantised(torch, model, bits, group):
    """Quantise the weights of the Linears in place. Returns the bytes of the model."""
    import_module("torch.ao.quantization.fx._decomposed")
    nbytes, most = sum(parameter.nbytes for parameter in model.parameters()), 2 ** (bits - 1) - 1
    for weight in {
        id(layer.weight): layer.weight for layer in model.modules() if isinstance(layer, torch.nn.Linear)
    }.values():
        rows_of = weight.detach().reshape(-1, group or weight.shape[1])
        scales = (rows_of.abs().amax(1, keepdim=True) / most).clamp(min=2.0**-23)
        with torch.no_grad():
            weight.copy_(
                torch.fake_quantize_per_channel_affine(
                    rows_of, scales.flatten(), torch.zeros(len(rows_of), dtype=torch.int32), 0, -most, most
                ).reshape(weight.shape)
            )
        nbytes += weight.numel() * bits // 8 + 4 * scales.numel() - weight.nbytes
    return nbytes
