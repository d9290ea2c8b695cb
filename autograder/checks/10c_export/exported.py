"""Lab 10, all pieces of an export together: a module is exported, saved, loaded and run."""

from __future__ import annotations

import io

from ...engine.check import program
from ..cases import drawn, is_torch, numbers, several

LAYERS = ["linear", "relu", "shift", "count", "write", "constant", "flatten", "softmax"]


def module_of(xp, layers):
    class Exported(xp.nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = xp.nn.Linear(4, 4)
            with xp.no_grad():
                self.linear.weight.copy_(numbers(xp, [4, 4], 1, "float32"))
                self.linear.bias.copy_(numbers(xp, [4], 2, "float32"))
            self.register_buffer("x", xp.zeros(()))  # the calls: another tensor than the argument x
            self.register_buffer("mean", numbers(xp, [4], 3, "float32"), persistent=False)
            self.table = numbers(xp, [4], 4, "float32")

        def forward(self, x, options, scale):
            y = x
            for layer in layers:
                match layer:
                    case "linear":
                        y = self.linear(y)
                    case "relu":
                        y = y.relu()
                    case "shift":
                        y = y - self.mean + options["bias"]
                    case "count":
                        self.x.add_(1)
                    case "write":
                        options["bias"].mul_(2)
                    case "constant":
                        y = y * self.table * scale
                    case "flatten":
                        y = y.reshape(x.shape[0] * 2, 2).reshape(x.shape[0], 4)
                    case "softmax":
                        y = y.softmax(-1)
            return {"y": y, "calls": self.x * 1}, [scale, None]

    return Exported()


@program(
    "together.exported_program",
    cases=drawn(layers=several(LAYERS, 0, 5), dynamic=bool, decomposed=bool, size=(2, 6)),
    edges=[
        {"layers": layers, "dynamic": dynamic, "decomposed": False, "size": 3}
        for layers, dynamic in (
            ([], True), (["linear"], False), (["count", "write", "shift"], True), (["flatten", "constant"], True),
        )
    ],
    draws=8,
)  # fmt: skip
def exported_program(xp, layers, dynamic, decomposed, size):
    """The results of an exported program, and of the same one after it was in a file. Torch's file is of another form."""
    module = module_of(xp, layers)
    dims = (
        {"x": {0: xp.export.Dim("batch", min=2, max=64)}, "options": {"bias": None}, "scale": None} if dynamic else None
    )
    example = 5 if dynamic else size
    args = (numbers(xp, [example, 4], 5, "float32"), {"bias": numbers(xp, [4], 6, "float32")}, 0.5)
    exported = quiet_export(xp, module, args, dims)
    if decomposed and not is_torch(xp):
        exported = exported.run_decompositions()
    file = io.BytesIO()
    xp.export.save(exported, file)
    file.seek(0)
    seen = {}
    for kind, form in (("exported", exported), ("loaded", xp.export.load(file))):
        run, x, bias = form.module(), numbers(xp, [size, 4], 7, "float32"), numbers(xp, [4], 6, "float32")
        results = [run(x, {"bias": bias}, 0.5) for _ in range(2)]
        for i, (first, rest) in enumerate(results, start=1):
            seen[f"{kind}, call {i}"] = {"y": first["y"].detach(), "calls": first["calls"].detach(), "rest": rest}
        seen[f"{kind}, after both calls"] = {"bias": bias, "calls": run.x}
        seen[f"{kind}, wrong inputs"] = _refused(run, xp, size)
    return seen


def _refused(run, xp, size):
    """The messages of the program for inputs that do not fit its export."""
    wrong = {}
    for name, x, scale in (
        ("3 columns", xp.ones(size, 3), 0.5),
        ("65 rows", xp.ones(65, 4), 0.5),
        ("another scale", xp.ones(size, 4), 0.25),
    ):
        try:
            run(x, {"bias": xp.ones(4)}, scale)
            wrong[name] = "runs"
        except AssertionError:
            wrong[name] = "refused"
    return wrong


def quiet_export(xp, module, args, dims):
    import warnings

    if is_torch(xp):
        xp._logging.set_logs(all=50)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return xp.export.export(module, args, dynamic_shapes=dims)
