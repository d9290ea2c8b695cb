"""Answers of lab 15a: bugs of PyTorch that are reproduced, located and mended, and the tests that would have caught them.

For each case there are four answers: a small program that shows the fault, the place of the function at fault, a patch, and a
regression test. A program and a test get PyTorch as `torch`: with the fault, or as it is installed.
"""

from __future__ import annotations

from typing import Any


def reproduce_1(torch: Any) -> Any:
    """Show the fault of case 15a.1 by a small program.

    `torch` is PyTorch with the fault, or as it is installed, and the result differs. The program has at most 6 statements, and
    a lambda counts as one. It uses the public names of `torch`, its own variables, and a few of Python's functions that
    compute, such as `len` and `isinstance`. It has no import and no `try`. `torch.compile` has the backend `"aot_eager"` here
    if you name no other.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """
    optimizer = torch.optim.Adagrad([torch.zeros(1, dtype=torch.bfloat16)])
    optimizer.load_state_dict(optimizer.state_dict())
    return optimizer.state_dict()["state"][0]["step"]


def locate_1() -> list[str]:
    """Name the function at fault in case 15a.1.

    Returns:
        a list with one place, or with two if your first guess was wrong: the first guess stays first. A place is a file and a
        function or a method in it, such as `"torch/optim/sgd.py: sgd"` or `"torch/optim/sgd.py: SGD.step"`.
    """
    return ["torch/optim/optimizer.py: Optimizer._process_value_according_to_param_policy"]


def mend_1() -> str:
    """Return a patch that mends case 15a.1.

    With it, the program of the report and other programs give what PyTorch gives. It adds and removes at most 8 lines in all.

    Returns:
        the unified diff of your working copy, with paths that begin with `a/` and `b/`. If `%%patch 15a.1` is the first line
        of this cell and you run the cell, it is put here.
    """
    return """
--- a/torch/optim/optimizer.py
+++ b/torch/optim/optimizer.py
@@ -792,4 +792,7 @@
                 break
-        if key == "step" and (capturable or fused):
-            return value.to(dtype=torch.float32, device=param.device)
+        if key == "step":
+            if capturable or fused:
+                return value.to(dtype=torch.float32, device=param.device)
+            else:
+                return value
         elif param.is_floating_point():
"""


def test_1(self: Any, torch: Any) -> None:
    """Fail on the patient of case 15a.1, and pass on PyTorch.

    `self` is a `TestCase` of PyTorch's own tests. Of its methods, use the assertions, `subTest` and `fail`. The test passes on
    PyTorch as it is installed. It fails on the patient, and with each of two mends that are wrong, although with them the program
    of the report is right. All else is as in `reproduce_1`, with as many statements as you like.
    """
    for optim_cls in (torch.optim.Adagrad, torch.optim.Adam):
        for dtype in (torch.bfloat16, torch.float16, torch.float64):
            param = torch.nn.Parameter(torch.ones(2, dtype=dtype))
            param.grad = torch.ones_like(param)
            optim = optim_cls([param])
            optim.step()
            state_dict = optim.state_dict()
            state_dict["state"][0]["step"] = torch.tensor(2049.0)
            optim.load_state_dict(state_dict)
            self.assertEqual(optim.state[param]["step"].dtype, torch.float32)
            optim.step()
            self.assertEqual(optim.state[param]["step"].item(), 2050.0)


def reproduce_2(torch: Any) -> Any:
    """Show the fault of case 15a.2 by a small program.

    It has at most 5 statements. The rules are those of `reproduce_1`.
    """
    x = torch.ones(1, 2, 2, 2, 2).to(memory_format=torch.channels_last_3d)
    return torch.compile(lambda t: torch.nn.functional.interpolate(t, scale_factor=2))(x).stride()


def locate_2() -> list[str]:
    """Name the function at fault in case 15a.2.

    The form is that of `locate_1`.
    """
    return ["torch/_decomp/decompositions.py: _upsample_nearest"]


def mend_2() -> str:
    """Return a patch that mends case 15a.2.

    It adds and removes at most 10 lines in all. The rules are those of `mend_1`, with `%%patch 15a.2`.
    """
    return """
--- a/torch/_decomp/decompositions.py
+++ b/torch/_decomp/decompositions.py
@@ -3757,3 +3757,3 @@

-    if result.ndim == 4:
+    if result.ndim in (4, 5):
         # convert output to correct memory format, if necessary
@@ -3763,3 +3763,3 @@
         n_channels = input.shape[1]
-        if input.device.type == "cuda" and n_channels < 4:
+        if result.ndim == 4 and input.device.type == "cuda" and n_channels < 4:
             memory_format = torch.contiguous_format
"""


def test_2(self: Any, torch: Any) -> None:
    """Fail on the patient of case 15a.2, and pass on PyTorch.

    The rules are those of `test_1`.
    """
    x = torch.arange(48.0).reshape(2, 3, 2, 2, 2)
    for mode in ("nearest", "nearest-exact"):

        def f(t, mode=mode):
            return torch.nn.functional.interpolate(t, scale_factor=2, mode=mode)

        for t in (x, x.to(memory_format=torch.channels_last_3d), x.transpose(2, 4), x.transpose(0, 1)):
            expected = f(t)
            actual = torch.compile(f, backend="aot_eager")(t)
            self.assertEqual(actual, expected)
            self.assertEqual(actual.stride(), expected.stride())


def reproduce_3(torch: Any) -> Any:
    """Show the fault of case 15a.3 by a small program.

    It has at most 10 statements. The rules are those of `reproduce_1`.
    """

    def f(x):
        items = [x]
        for y in items:
            if len(items) < 3:
                items.append(y + 1)
        return torch.stack(items)

    return torch.compile(f)(torch.zeros(2))


def locate_3() -> list[str]:
    """Name the function at fault in case 15a.3.

    The form is that of `locate_1`.
    """
    return ["torch/_dynamo/variables/lists.py: ListIteratorVariable.__init__"]


def mend_3() -> str:
    """Return a patch that mends case 15a.3.

    It adds and removes at most 12 lines in all. The rules are those of `mend_1`, with `%%patch 15a.3`.
    """
    return """
--- a/torch/_dynamo/variables/lists.py
+++ b/torch/_dynamo/variables/lists.py
@@ -2125,3 +2125,3 @@
         # assert all(isinstance(x, VariableTracker) for x in items)
-        self.items = [*items]
+        self.items = items
         self.index = index
"""


def test_3(self: Any, torch: Any) -> None:
    """Fail on the patient of case 15a.3, and pass on PyTorch.

    The rules are those of `test_1`.
    """

    def grow(x, parts):
        for y in parts:
            if len(parts) < 4:
                parts.append(y + x)
        return torch.stack(parts)

    def shrink(x, numbers):
        for n in numbers:
            if n % 2 == 0:
                numbers.remove(n)
        return x * len(numbers), numbers

    x = torch.ones(2)
    for f, items in ((grow, [x]), (shrink, [1, 2, 2, 3, 4])):
        compiled = torch.compile(f, backend="eager", fullgraph=True)
        self.assertEqual(compiled(x, items[:]), f(x, items[:]))


def reproduce_4(torch: Any) -> Any:
    """Show the fault of case 15a.4 by a small program.

    It has at most 6 statements. The rules are those of `reproduce_1`.
    """
    flow = torch.distributions.ComposeTransform(
        [torch.distributions.ReshapeTransform((2, 2), (4,)), torch.distributions.ExpTransform()]
    )
    x = torch.ones(3, 2, 2)
    return flow.log_abs_det_jacobian(x, flow(x))


def locate_4() -> list[str]:
    """Name the function at fault in case 15a.4.

    The form is that of `locate_1`.
    """
    return ["torch/distributions/transforms.py: ComposeTransform.log_abs_det_jacobian"]


def mend_4() -> str:
    """Return a patch that mends case 15a.4.

    It adds and removes at most 8 lines in all. The rules are those of `mend_1`, with `%%patch 15a.4`.
    """
    return """
--- a/torch/distributions/transforms.py
+++ b/torch/distributions/transforms.py
@@ -393,2 +393,3 @@
             )
+            event_dim += part.codomain.event_dim - part.domain.event_dim
         return functools.reduce(operator.add, terms)
"""


def test_4(self: Any, torch: Any) -> None:
    """Fail on the patient of case 15a.4, and pass on PyTorch.

    The rules are those of `test_1`.
    """
    d = torch.distributions
    for in_shape, out_shape in (((2, 3), (6,)), ((6,), (2, 3))):
        transform = d.ComposeTransform([d.ReshapeTransform(in_shape, out_shape), d.ExpTransform()])
        for batch_shape in ((), (4,), (5, 4)):
            x = torch.randn(batch_shape + in_shape)
            actual = transform.log_abs_det_jacobian(x, transform(x))
            self.assertEqual(actual, x.reshape(batch_shape + (6,)).sum(-1))


def reproduce_5(torch: Any) -> Any:
    """Show the fault of case 15a.5 by a small program.

    It has at most 6 statements. The rules are those of `reproduce_1`.
    """
    layer = torch.nn.TransformerEncoderLayer(4, 2, activation=torch.nn.Tanh())
    encoder = torch.nn.TransformerEncoder(layer, 1)
    return isinstance(encoder.layers[0].activation, torch.nn.Tanh)


def locate_5() -> list[str]:
    """Name the function at fault in case 15a.5.

    The form is that of `locate_1`.
    """
    return ["torch/nn/modules/transformer.py: TransformerEncoderLayer.__setstate__"]


def mend_5() -> str:
    """Return a patch that mends case 15a.5.

    It adds and removes at most 18 lines in all. The rules are those of `mend_1`, with `%%patch 15a.5`.
    """
    return """
--- a/torch/nn/modules/transformer.py
+++ b/torch/nn/modules/transformer.py
@@ -790,5 +790,5 @@
     def __setstate__(self, state):
-        if "activation" not in state:
-            state["activation"] = F.relu
         super().__setstate__(state)
+        if not hasattr(self, "activation"):
+            self.activation = F.relu

"""


def test_5(self: Any, torch: Any) -> None:
    """Fail on the patient of case 15a.5, and pass on PyTorch.

    The rules are those of `test_1`.
    """
    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, 0.0, activation=torch.nn.Tanh())
    encoder = torch.nn.TransformerEncoder(layer, 2)
    x = torch.randn(5, 3, 8)
    for copied in encoder.layers:
        self.assertIsInstance(copied.activation, torch.nn.Tanh)
        self.assertIsNot(copied.activation, layer.activation)
    self.assertEqual(encoder(x), layer(layer(x)))
