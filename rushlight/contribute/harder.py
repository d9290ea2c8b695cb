"""Answers of lab 15d: harder bugs of PyTorch, reproduced, located, mended and tested as in lab 15a.

For each case there are four answers: a small program that shows the fault, the place of the function at fault, a patch, and a
regression test. A program and a test get PyTorch as `torch`: with the fault, or as it is installed.
"""

from __future__ import annotations

from typing import Any


def reproduce_1(torch: Any) -> Any:
    """Show the fault of case 15d.1 by a small program.

    `torch` is PyTorch with the fault, or as it is installed, and the result differs. The program has at most 7 statements, and
    a lambda counts as one. It uses the public names of `torch`, its own variables, and a few of Python's functions that
    compute, such as `len` and `isinstance`. It has no import and no `try`. `torch.compile` has the backend `"aot_eager"` here
    if you name no other.

    Returns:
        a tensor, a number, a string, or a list or tuple of these. An exception is a result too.
    """
    y = torch.utils.checkpoint.checkpoint(
        torch.nn.functional.dropout, torch.ones(4, requires_grad=True), use_reentrant=False
    )
    torch.manual_seed(1)
    y.sum().backward()
    return torch.rand(1)


def locate_1() -> list[str]:
    """Name the function at fault in case 15d.1.

    Returns:
        a list with one place, or with two if your first guess was wrong: the first guess stays first. A place is a file and a
        function or a method in it, such as `"torch/optim/sgd.py: sgd"` or `"torch/optim/sgd.py: SGD.step"`.
    """
    return ["torch/utils/checkpoint.py: _checkpoint_without_reentrant_generator.recompute_fn"]


def mend_1() -> str:
    """Return a patch that mends case 15d.1.

    With it, the program of the report and other programs give what PyTorch gives. It adds and removes at most 8 lines in all.

    Returns:
        the unified diff of your working copy, with paths that begin with `a/` and `b/`. If `%%patch 15d.1` is the first line
        of this cell and you run the cell, it is put here.
    """
    return """
--- a/torch/utils/checkpoint.py
+++ b/torch/utils/checkpoint.py
@@ -1663,3 +1663,3 @@
         with torch.random.fork_rng(
-            devices=rng_devices, enabled=bool(rng_devices), device_type=device_type
+            devices=rng_devices, enabled=preserve_rng_state, device_type=device_type
         ):
"""


def test_1(self: Any, torch: Any) -> None:
    """Fail on the patient of case 15d.1, and pass on PyTorch.

    `self` is a `TestCase` of PyTorch's own tests. Of its methods, use the assertions, `subTest` and `fail`. The test passes on
    PyTorch as it is installed. It fails on the patient, and with each of two mends that are wrong, although with them the program
    of the report is right. All else is as in `reproduce_1`, with as many statements as you like.
    """
    checkpoint = torch.utils.checkpoint.checkpoint
    for use_reentrant in (True, False):
        for early_stop in (True, False):
            x = torch.ones(50, requires_grad=True)
            with torch.utils.checkpoint.set_checkpoint_early_stop(early_stop):
                y = checkpoint(lambda x: torch.nn.functional.dropout(x).exp(), x, use_reentrant=use_reentrant)
            torch.rand(3)
            before = torch.get_rng_state()
            y.sum().backward()
            self.assertEqual(torch.get_rng_state(), before)


def reproduce_2(torch: Any) -> Any:
    """Show the fault of case 15d.2 by a small program.

    It has at most 12 statements. The rules are those of `reproduce_1`.
    """

    class Mix(torch.nn.Module):
        def forward(self, x, weight):
            return torch.add(x, x, alpha=weight)

    class Net(torch.nn.Module):
        def forward(self, x):
            return self.mix(self.mix(x, 1) * 2, 5)

    net = Net()
    net.mix = Mix()
    return torch.export.unflatten(torch.export.export(net, (torch.ones(1),)))(torch.ones(1))


def locate_2() -> list[str]:
    """Name the function at fault in case 15d.2.

    The form is that of `locate_1`.
    """
    return ["torch/export/unflatten.py: _check_graph_equivalence"]


def mend_2() -> str:
    """Return a patch that mends case 15d.2.

    It adds and removes at most 16 lines in all. The rules are those of `mend_1`, with `%%patch 15d.2`.
    """
    return """
--- a/torch/export/unflatten.py
+++ b/torch/export/unflatten.py
@@ -991,2 +991,6 @@
             args_dump = [str(arg) for arg in pytree.tree_map(arg_dump, node.args)]
+            args_dump += [
+                f"{key}={value}"
+                for key, value in pytree.tree_map(arg_dump, node.kwargs).items()
+            ]
             target = node.target if node.op in ("call_function", "get_attr") else ""
"""


def test_2(self: Any, torch: Any) -> None:
    """Fail on the patient of case 15d.2, and pass on PyTorch.

    The rules are those of `test_1`.
    """

    class Half(torch.nn.Module):
        def forward(self, x, down):
            return torch.div(x, 2, rounding_mode="floor" if down else "trunc")

    class Net(torch.nn.Module):
        def forward(self, x):
            return self.halve(x, True), self.halve(x, False), self.halve(x + 1, True)

    net, x = Net(), torch.tensor([-3.0, 3.0])
    net.halve = Half()
    unflattened = torch.export.unflatten(torch.export.export(net, (x,)))
    self.assertEqual(unflattened(x), net(x))
    self.assertEqual(len([name for name, module in unflattened.named_modules() if name]), 2)


def reproduce_3(torch: Any) -> Any:
    """Show the fault of case 15d.3 by a small program.

    It has at most 5 statements. The rules are those of `reproduce_1`.
    """
    f = torch.compile(lambda w, i: w * (i * 2) + w * (i * 2.0))
    return f(torch.ones(1, requires_grad=True), torch.tensor([200], dtype=torch.uint8))


def locate_3() -> list[str]:
    """Name the function at fault in case 15d.3.

    The form is that of `locate_1`.
    """
    return ["torch/_functorch/compile_utils.py: fx_graph_cse"]


def mend_3() -> str:
    """Return a patch that mends case 15d.3.

    It adds and removes at most 12 lines in all. The rules are those of `mend_1`, with `%%patch 15d.3`.
    """
    return """
--- a/torch/_functorch/compile_utils.py
+++ b/torch/_functorch/compile_utils.py
@@ -159,3 +159,5 @@
             # hash substituted args to a number, do not hash specs because specs are not hashable
-            hash_arg = hash((args, kwargs))
+            hash_arg = hash(
+                (tuple((a, type(a)) for a in args), tuple((a, type(a)) for a in kwargs))
+            )
             hash_val = (n.target, hash_arg)
"""


def test_3(self: Any, torch: Any) -> None:
    """Fail on the patient of case 15d.3, and pass on PyTorch.

    The rules are those of `test_1`.
    """

    def f(w, i, mask):
        count, flag = mask * 1, mask * True
        return w * (i * 2) + w * (i * 2.0), (w * count).sum(), torch.full_like(flag, 3) * 1

    w = torch.ones(2, requires_grad=True)
    i, mask = torch.tensor([3, 200], dtype=torch.uint8), torch.tensor([True, False])
    for actual, expected in zip(torch.compile(f, backend="aot_eager")(w, i, mask), f(w, i, mask)):
        self.assertEqual(actual, expected, exact_dtype=True)


def reproduce_4(torch: Any) -> Any:
    """Show the fault of case 15d.4 by a small program.

    It has at most 10 statements. The rules are those of `reproduce_1`.
    """
    f = torch.compile(lambda x: x + 1 if -len(x) % 4 > 0 else x, dynamic=True)
    return f(torch.zeros(3))


def locate_4() -> list[str]:
    """Name the function at fault in case 15d.4.

    The form is that of `locate_1`.
    """
    return ["torch/utils/_sympy/value_ranges.py: SymPyValueRangeAnalysis.python_mod"]


def mend_4() -> str:
    """Return a patch that mends case 15d.4.

    It adds and removes at most 14 lines in all. The rules are those of `mend_1`, with `%%patch 15d.4`.
    """
    return """
--- a/torch/utils/_sympy/value_ranges.py
+++ b/torch/utils/_sympy/value_ranges.py
@@ -780,3 +780,3 @@
         y = ValueRanges.wrap(y)
-        if y.lower >= 0:
+        if x.lower >= 0 and y.lower >= 0:
             return SymPyValueRangeAnalysis.mod(x, y)
"""


def test_4(self: Any, torch: Any) -> None:
    """Fail on the patient of case 15d.4, and pass on PyTorch.

    The rules are those of `test_1`.
    """

    def padded(x):
        return x + 1 if -x.shape[0] % 4 > 0 else x

    def behind(x):
        return x + 1 if (3 - x.shape[0]) % 8 > 1 else x

    def few(x):
        if x.shape[0] <= 3:
            return x + 1 if -x.shape[0] % 4 > 1 else x
        return x + 2

    for f in (padded, behind, few):
        compiled = torch.compile(f, dynamic=True, backend="eager")
        for n in (3, 2, 4, 5, 8, 10):
            x = torch.zeros(n)
            self.assertEqual(compiled(x), f(x))


def reproduce_5(torch: Any) -> Any:
    """Show the fault of case 15d.5 by a small program.

    It has at most 8 statements. The rules are those of `reproduce_1`.
    """
    i = torch.tensor([1, 7])
    return torch.compile(lambda i, j: (i / j).long(), dynamic=True)(i, i + 1)


def locate_5() -> list[str]:
    """Name the function at fault in case 15d.5.

    The form is that of `locate_1`.
    """
    return ["torch/_subclasses/fake_impls.py: make_fast_binary_impl.fast_binary_impl"]


def mend_5() -> str:
    """Return a patch that mends case 15d.5.

    It adds and removes at most 12 lines in all. The rules are those of `mend_1`, with `%%patch 15d.5`.
    """
    return """
--- a/torch/_subclasses/fake_impls.py
+++ b/torch/_subclasses/fake_impls.py
@@ -2034,3 +2034,6 @@
             if common_dtype is None:
-                common_dtype = op.dtype
+                if type_promotion_kind != ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT:
+                    has_different_input_dtypes = True
+                else:
+                    common_dtype = op.dtype
             elif common_dtype != op.dtype:
"""


def test_5(self: Any, torch: Any) -> None:
    """Fail on the patient of case 15d.5, and pass on PyTorch.

    The rules are those of `test_1`.
    """

    def f(a, b):
        q = a / b
        return q.to(a.dtype), q.float(), q.double()

    compiled = torch.compile(f, backend="aot_eager", dynamic=True)
    a = torch.tensor([1, 7, 12])
    for dtype in (torch.int64, torch.uint8, torch.bool, torch.float64, torch.bfloat16):
        pair = a.to(dtype), torch.tensor([2, 2, 5]).to(dtype)
        for actual, expected in zip(compiled(*pair), f(*pair)):
            self.assertEqual(actual, expected, exact_dtype=True)
