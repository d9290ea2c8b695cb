"""Cases that break wrong bodies of a function: for exercises that grade what a student tests, and not what a student writes.

PyTorch tests its operators on sample inputs too. A case is data: a dict of numbers, words and lists, of which a program
makes the arguments of the function.
"""

from __future__ import annotations


def breaks_is_contiguous() -> list[dict[str, list[int]]]:
    """Cases on which wrong bodies of `strided.is_contiguous` give another result than torch.

    A case counts if torch makes a tensor of it and the right body agrees with torch. It catches each body that does not agree.
    Sizes and strides are less than 2**31, and a tensor has at most 8 dimensions.

    Returns:
        at most 5 cases, each a dict such as `{"sizes": [2, 3], "strides": [3, 1]}`.

    Source: `test/test_torch.py`, `test_contiguous`.
    """
    return [
        {"sizes": [], "strides": []},
        {"sizes": [2, 0], "strides": [7, 9]},
        {"sizes": [2, 3], "strides": [4, 1]},
        {"sizes": [2, 2, 3], "strides": [0, 3, 1]},
        {"sizes": [2, 1, 2, 3], "strides": [6, 0, 3, 1]},
    ]


def breaks_has_internal_overlap() -> list[dict[str, list[int]]]:
    """Cases on which wrong bodies of `strided.has_internal_overlap` give another result than torch.

    A case counts if torch makes a tensor of it and the right body agrees with torch. It catches each body that does not agree.
    Sizes and strides are less than 2**31, and a tensor has at most 8 dimensions.

    Returns:
        at most 5 cases, each a dict such as `{"sizes": [2, 3], "strides": [0, 1]}`.

    Source: `test/test_torch.py`, `check_internal_mem_overlap`.
    """
    return [
        {"sizes": [0, 2], "strides": [1, 0]},
        {"sizes": [1, 3], "strides": [0, 2]},
        {"sizes": [3], "strides": [2]},
        {"sizes": [1, 2, 2], "strides": [3, 0, 0]},
        {"sizes": [2, 2, 3], "strides": [0, 3, 1]},
    ]


def breaks_compute_table_entry() -> list[dict[str, str | list[str]]]:
    """Cases on which wrong bodies of `dispatch.compute_table_entry` give another kernel, or another reason, than torch.

    A case is an operator and a key. Its values are names of keys:

    - `kernels`: the operator has a kernel for each of these runtime keys and alias keys;
    - `fallthroughs`: those of the kernels that are `FALLTHROUGH`;
    - `key`: the key whose entry is computed, one of `RUNTIME_KEYS`, or `Undefined`.

    A fallthrough counts as a kernel. The fallbacks are `rl.dispatch.fallbacks`. A case catches each body that does not agree with
    torch. A list has at most 8 names.

    Returns:
        at most 6 cases, each a dict such as `{"kernels": ["CPU", "Autograd"], "fallthroughs": [], "key": "AutogradCPU"}`.

    Source: `test/test_dispatch.py`, `TestPythonDispatcher`.
    """
    implicit, explicit = "CompositeImplicitAutograd", "CompositeExplicitAutograd"
    not_functional = "CompositeExplicitAutogradNonFunctional"
    return [
        {"kernels": [not_functional, explicit, implicit], "fallthroughs": [], "key": "Undefined"},
        {"kernels": [explicit], "fallthroughs": [], "key": "Meta"},
        {"kernels": [explicit, implicit], "fallthroughs": [], "key": "AutogradCPU"},
        {"kernels": [not_functional, implicit], "fallthroughs": [], "key": "AutogradCPU"},
        {"kernels": ["CPU", implicit], "fallthroughs": ["CPU"], "key": "AutogradCPU"},
        {"kernels": [implicit, "Autograd"], "fallthroughs": [], "key": "AutocastCPU"},
    ]


def breaks_unbind() -> list[dict[str, list[str]]]:
    """Cases on which wrong bodies of `schema.unbind` give other args or kwargs than torch.

    A case is a call of an operator without results, as two lists of at most 8 words:

    - `arguments`: the arguments of the schema: `int a`, `int b=2`, `int c=2`, `int? m`, `int? n=None`, `Scalar s=1`,
      `bool flag=False`, `int[] dims=[0, 1]`, `str mode='sum'`, and `*`, after which they are keyword-only. None occurs twice;
    - `stack`: the value of each argument: `1`, `2`, `3`, `True`, `False`, `None`, `1.0`, `[0, 1]` or `'sum'`.

    A case counts if torch accepts the schema and the values, and if the right body agrees with torch. It catches each body that
    gives other args or kwargs, or the kwargs in another order.

    Returns:
        at most 4 cases, each a dict such as `{"arguments": ["int a", "*", "int b=2"], "stack": ["1", "2"]}`.

    Source: `torch/csrc/autograd/python_variable.cpp`, `parseIValuesToPyArgsKwargs`.
    """
    return [
        {
            "arguments": ["Scalar s=1", "bool flag=False", "int[] dims=[0, 1]", "*", "int? m"],
            "stack": ["1", "False", "[0, 1]", "1"],
        },
        {
            "arguments": ["str mode='sum'", "bool flag=False", "*", "int b=2", "Scalar s=1"],
            "stack": ["'sum'", "True", "2", "1.0"],
        },
        {"arguments": ["int? m", "*", "int b=2", "int a"], "stack": ["None", "3", "1"]},
    ]


def breaks_coalesce_dimensions() -> list[dict[str, list]]:
    """Cases on which wrong bodies of `iterator.coalesce_dimensions` give another loop than torch.

    A case is a loop: its sizes, the innermost first, and a list of strides for each operand. Torch joins two dimensions if it has a
    view of every operand with the two flattened. A case counts if it has operands and no size of 0, if torch makes tensors of it,
    and if the right body agrees with torch. It catches each body that does not agree. Strides of dimensions of size 1 are not
    compared. Strides are not negative, and elements may overlap. Sizes and strides are less than 2**31, and a list has at most 8
    items.

    Returns:
        at most 5 cases, each a dict such as `{"sizes": [3, 2], "operand_strides": [[1, 3], [0, 1]]}`.

    Source: `aten/src/ATen/TensorIterator.cpp`, `coalesce_dimensions`.
    """
    return [
        {"sizes": [], "operand_strides": [[]]},
        {"sizes": [3, 1, 3], "operand_strides": [[1, 0, 0], [0, 0, 0]]},
        {"sizes": [2, 1, 2], "operand_strides": [[1, 0, 2]]},
        {"sizes": [1, 2, 2], "operand_strides": [[0, 0, 0], [0, 1, 2]]},
    ]


def breaks_check_inplace() -> list[dict[str, bool | list[str]]]:
    """Cases on which wrong bodies of `history.check_inplace` refuse other writes than torch.

    A case is a program. It begins with a leaf of sizes (3, 3), which requires grad or not. Each step goes on from the result of the
    step before. At the end the last result is written to: `x.add_(weight)`, where `weight` requires grad. The steps are:

    - `"clone"`, `"detach"`, `"view"`, `"first"` (`x[0]`), and `"unbind"`, of whose views the first is kept;
    - `"view in no_grad"`, `"view in inference mode"` and `"view in a Function"`: a view with the flag of such a view;
    - `"write"` and `"write in no_grad"`: `x.add_(weight)`, where `weight` has no dimensions;
    - `"write to the base"`: the same for `x._base`, or for x if x is no view. The view is kept.

    The program ends at the first write that is refused. A case catches each body with another end than torch.

    Returns:
        at most 6 cases, each with at most 8 steps, for example `{"requires_grad": True, "steps": ["clone", "first"]}`.

    Source: `test/test_autograd.py`, the tests of in-place writes to views.
    """
    return [
        {"requires_grad": True, "steps": []},
        {"requires_grad": True, "steps": ["view"]},
        {"requires_grad": True, "steps": ["clone", "view", "write to the base"]},
        {"requires_grad": False, "steps": ["view"]},
        {"requires_grad": False, "steps": ["view in a Function"]},
        {"requires_grad": False, "steps": ["view", "write to the base"]},
    ]


def breaks_reduced_sizes() -> list[dict[str, list[int] | bool]]:
    """Cases on which wrong bodies of `reductions.reduced_sizes` give another result than torch.

    A case counts if torch makes a tensor of its sizes and the right body agrees with torch, also about the class of an error. It
    catches each body that does not agree. Sizes and dims are less than 2**31, and at most 8 each.

    Returns:
        at most 5 cases, each a dict such as `{"sizes": [2, 3], "dims": [-1], "keepdim": False}`.

    Source: `test/test_reductions.py`, `test_dim_multi_unsorted`.
    """
    return [
        {"sizes": [], "dims": [0, -1], "keepdim": False},
        {"sizes": [2, 0], "dims": [], "keepdim": True},
        {"sizes": [2, 3, 1], "dims": [1, 0], "keepdim": False},
        {"sizes": [2, 3], "dims": [0, 0, 2], "keepdim": False},
    ]


def breaks_accumulate() -> list[dict[str, str | list[str]]]:
    """Cases on which wrong bodies of `graph.accumulate` leave another gradient than torch in the field `grad` of a leaf.

    A case is a leaf of sizes (2, 3), without a gradient at first, and at most 4 steps. Its values are words:

    - `leaf`: the layout of the leaf: `"rows"`, `"columns"`, `"rows with gaps"` or `"columns with gaps"`. Their strides are
      (3, 1), (1, 2), (6, 2) and (2, 4);
    - `steps`: `"rows"` and `"columns"` are new gradients with this layout, which arrive at the leaf. `"rows with history"` and
      `"columns with history"` require grad too. `"grad mode on"` and `"grad mode off"` hold from there on. At first it is off.

    A case counts if a gradient arrives. It catches each body with which the field `grad` differs from torch's after the last
    step: its values and strides, whether it requires grad, the edges of its node, whether it shares memory with a gradient that
    arrived, and whether the last gradient was added in place, with a new version.

    Returns:
        at most 4 cases, each a dict such as `{"leaf": "rows", "steps": ["rows", "grad mode on", "rows"]}`.

    Source: `test/test_autograd.py`, `test_accumulate_grad`.
    """
    return [
        {"leaf": "columns", "steps": ["columns", "rows"]},
        {"leaf": "columns", "steps": ["grad mode on", "rows", "rows"]},
        {"leaf": "columns with gaps", "steps": ["grad mode on", "columns with history", "rows"]},
    ]


def breaks_recording() -> list[dict[str, list[str]]]:
    """Cases on which wrong bodies of `grad_mode.recording` leave another grad mode than torch.

    A case is a program of at most 4 steps. It begins with grad mode on. The steps are:

    - `"no_grad"`, `"enable_grad"` and `"inference_mode"`: a block begins;
    - `"end"`: the block that began last ends. `"end of the first"`: of the blocks that have not ended, the first one ends;
    - `"end by KeyError"` and `"end by KeyboardInterrupt"`: this error ends the block that began last, and is caught outside;
    - `"set_grad_enabled(True)"` and `"set_grad_enabled(False)"`: the mode is set, without a block.

    A case catches each body with which `is_grad_enabled()` differs from torch's after the last step.

    Returns:
        at most 4 cases, for example `{"steps": ["no_grad", "enable_grad", "end"]}`.

    Source: `test/test_autograd.py`, `test_set_grad_enabled`.
    """
    return [
        {"steps": ["inference_mode", "enable_grad"]},
        {"steps": ["enable_grad", "set_grad_enabled(False)", "end by KeyboardInterrupt"]},
        {"steps": ["no_grad", "no_grad", "end of the first", "end"]},
    ]


def breaks_cosine_annealing() -> list[dict[str, float]]:
    """Cases on which wrong bodies of `schedules.cosine_annealing` give another result than torch.

    A case counts if the right body agrees with torch. It catches each body that does not agree, which means by more than one
    millionth of the larger result and by more than 1e-7. The rates are floats, also negative ones, and the two counts are ints from
    1 to 2**31 - 1.

    Returns:
        at most 4 cases, each a dict such as `{"lr": 0.5, "base_lr": 1.0, "last_epoch": 3, "T_max": 4, "eta_min": 0.0}`.

    Source: `test/optim/test_lrscheduler.py`, `test_closed_form_cos_anneal_lr`.
    """
    return [
        {"lr": 0.25, "base_lr": 1.0, "last_epoch": 100_002, "T_max": 100_000, "eta_min": 0.5},
        {"lr": 2.0, "base_lr": 1.0, "last_epoch": 9, "T_max": 4, "eta_min": 0.0},
        {"lr": 1.0, "base_lr": 0.25, "last_epoch": 13, "T_max": 4, "eta_min": 0.5},
    ]


def breaks_named_members() -> list[dict[str, list[list[int]] | str | bool]]:
    """Cases on which wrong bodies of `modules.named_members` list other parameters, or other names, than torch.

    A case counts if it describes modules and the right body agrees with torch. It catches each body that does not agree. There are
    1 to 8 modules. `members` has the parameters of each, at most 8 numbers less than 2**31. An equal number is the same parameter,
    and a negative one is None. `children` has the numbers of the modules in each, which are larger than its own number. A
    module may occur several times, and there are at most 8 children in all.

    Returns:
        at most 4 cases, each a dict such as `{"members": [[], [0]], "children": [[1], []], "prefix": "model", "recurse": True,
        "remove_duplicate": True}`. The other prefix is "".

    Source: `test/test_nn.py`, `test_named_parameters_remove_duplicate`.
    """
    return [
        {
            "members": [[0], [], [1, 2, 2, -1], [1]],
            "children": [[1, 3], [2], [], []],
            "prefix": "model",
            "recurse": True,
            "remove_duplicate": True,
        },
        {
            "members": [[], [0]],
            "children": [[1, 1], []],
            "prefix": "",
            "recurse": True,
            "remove_duplicate": False,
        },
        {
            "members": [[0, 0], [1]],
            "children": [[1], []],
            "prefix": "model",
            "recurse": False,
            "remove_duplicate": True,
        },
    ]


def breaks_create_arg() -> list[dict[str, str]]:
    """Cases on which wrong bodies of `fx.proxy.create_arg` give another argument, or another error, than torch.

    A case is a call, `tracer.create_arg(a)`, described in words. All values count, and a case catches each body that does not agree
    with torch.

    - `value` is a part of `a`: "x", "x.shape", "the node of x", "3", "'dim'", "None", "[x]", "Colour.RED", "Status.OK",
      "Word('dim')", "Own()", "OwnNumber(3)", "range(3)" or "{3}". Here `x` is a proxy, `Colour` is an Enum, and `Status` an
      IntEnum. `Word` is derived from str. `Own` has a method `__fx_create_arg__`, and `OwnNumber` is derived from `Own` and int.
    - `within` says what `a` is: "nothing" (the value itself), "tuple", "named tuple", "list", "list of a derived class", "dict",
      "dict of a derived class", "key" (a dict that has the value as a key), "start of a slice" or "step of a slice".
    - `tracer` is "usual", or "doubles": then its class overrides `create_arg`, and doubles ints and words.

    Returns:
        at most 6 cases, each a dict such as `{"value": "x", "within": "list", "tracer": "usual"}`.

    Source: `test/test_fx.py`, `test_fx_create_arg`.
    """
    return [
        {"value": "x.shape", "within": "key", "tracer": "usual"},
        {"value": "the node of x", "within": "step of a slice", "tracer": "usual"},
        {"value": "Colour.RED", "within": "list of a derived class", "tracer": "usual"},
        {"value": "OwnNumber(3)", "within": "named tuple", "tracer": "usual"},
        {"value": "3", "within": "dict", "tracer": "doubles"},
    ]


def breaks_binary_op() -> list[dict[str, str]]:
    """Cases on which wrong bodies of `dynamo.symbolic.binary_op` capture another program than torch.

    A case is an operation in a compiled function, `left symbol right`. The operands are words:

    - "x" is a tensor, "2" is the number, and "word" is `'ab'`;
    - "list" is `[x, 1]`, "list of numbers" is `[1, 2]`, and "argument list" is such a list of the caller;
    - "tuple" is `(x, 1)`, and "pair" is a named tuple of the caller.

    `left` is one of them, but not "word". `right` is "x", "2", "word", "list", "tuple" or "pair". `symbol` is "+", "*", "<", "=="
    or "+=". Of the comparisons, only those of "x" and "2" count. A case counts if the right body agrees with torch. It catches each
    body that does not agree about the graphs, the result and its class, whether the result is the left operand itself, or the list
    of the caller.

    Returns:
        at most 7 cases, each a dict such as `{"left": "x", "symbol": "+", "right": "2"}`.

    Source: `test/dynamo/test_misc.py`.
    """
    return [
        {"left": "2", "symbol": "==", "right": "x"},
        {"left": "2", "symbol": "+=", "right": "x"},
        {"left": "list of numbers", "symbol": "+=", "right": "list"},
        {"left": "argument list", "symbol": "+=", "right": "word"},
        {"left": "pair", "symbol": "+=", "right": "tuple"},
        {"left": "2", "symbol": "*", "right": "tuple"},
        {"left": "list", "symbol": "+", "right": "tuple"},
    ]


def breaks_truth() -> list[dict[str, str | list[str]]]:
    """Cases on which wrong bodies of `dynamo.symbolic.truth` capture another branch than torch.

    A case is a branch in a compiled function, `if v:`, for a variable `v` of this value. All values count, and a case catches each
    body that does not agree with torch about the result or the graphs.

    - `value` is "0", "-1", "''", "'a'", "None", "[]", "[0]", "(0,)", "{0: 0}", "helper" (a function), "ValueError()" or "o", an
      object of the caller.
    - `methods` has methods for `o`, with what they return: "__bool__: True", "__bool__: False", "__len__: 0" and "__len__: 2" are
      in its class, "inherited __len__: 0" is in a base class, and "own __bool__: False" is an attribute of `o` itself. If two are
      in the same place under one name, the later one stays.

    Returns:
        at most 6 cases, each a dict such as `{"value": "o", "methods": ["__bool__: False"]}`.

    Source: `test/dynamo/test_misc.py`.
    """
    return [
        {"value": "''", "methods": []},
        {"value": "(0,)", "methods": []},
        {"value": "o", "methods": ["__bool__: True", "__len__: 0"]},
        {"value": "o", "methods": ["__len__: 2"]},
        {"value": "o", "methods": ["inherited __len__: 0"]},
        {"value": "o", "methods": ["own __bool__: False"]},
    ]


def breaks_rank_indices() -> list[dict[str, int | bool]]:
    """Cases on which wrong bodies of `utils.data.distributed.rank_indices` give a rank other samples than torch.

    A case counts if there are 0 to 100 samples, 1 to 100 ranks, and a rank that is one of them. It catches each body that
    does not agree with torch. With `shuffle` the order of the samples is torch's permutation, otherwise 0, 1, 2, ... The seed
    and the epoch are ints less than 2**31.

    Returns:
        at most 5 cases, each a dict such as `{"length": 8, "ranks": 2, "rank": 0, "shuffle": False, "seed": 0, "epoch": 0,
        "drop_last": False}`.

    Source: `torch/testing/_internal/distributed/distributed_test.py`, `test_DistributedSampler_padding`.
    """
    first = {"shuffle": False, "seed": 0, "epoch": 0}
    return [
        {"length": 4, "ranks": 2, "rank": 1, **first, "drop_last": True},
        {"length": 5, "ranks": 2, "rank": 0, **first, "drop_last": True},
        {"length": 2, "ranks": 3, "rank": 0, **first, "drop_last": True},
        {"length": 4, "ranks": 2, "rank": 1, **first, "drop_last": False},
        {"length": 3, "ranks": 7, "rank": 6, "shuffle": True, "seed": 4, "epoch": 2, "drop_last": False},
    ]


def breaks_order_of_work() -> list[dict[str, list[bool] | int]]:
    """Cases on which wrong bodies of `distributed.fsdp.order_of_work` work in another order than torch.

    A case is a chain of units. Its values are the arguments of the function:

    - `reshard`: a list of one to four bools, one for each unit: whether it is freed after its forward;
    - `forward_prefetch`, `backward_prefetch`: how many other units a unit prefetches in forward, and in backward, from 0 to 3.

    A case catches each body that does not agree with torch about a pair of the list, or about its place.

    Returns:
        at most 4 cases, each a dict such as `{"reshard": [True, True], "forward_prefetch": 0, "backward_prefetch": 1}`.

    Source: `test/distributed/_composable/fsdp/test_fully_shard_comm.py`, `TestFullyShardPrefetch`.
    """
    keys = ("reshard", "forward_prefetch", "backward_prefetch")
    rows = [
        ([False, True, True], 1, 0),
        ([True, True, True], 3, 3),
        ([True, False, False, True], 1, 2),
    ]
    return [dict(zip(keys, row)) for row in rows]


def breaks_plan_load() -> list[dict[str, list]]:
    """Cases on which wrong bodies of `distributed.checkpoint.plan_load` read other parts of shards than torch.

    A case has a list for each of one to eight pieces, and one for the region: first the offsets, then the sizes. So `[4, 0,
    2, 6]` is a box of two rows and six columns, which begins at row 4. All the lists have the same length, and their numbers
    are from 0 to 100. The pieces may be in any order, overlap, and leave parts of the tensor out. A case catches each body
    that does not agree with torch.

    Returns:
        at most 3 cases, each a dict such as `{"pieces": [[0, 4], [4, 4], [8, 2]], "region": [0, 5]}`.

    Source: `torch/distributed/checkpoint/planner_helpers.py`, `create_read_items_for_chunk_list`.
    """
    return [
        {"pieces": [[], []], "region": []},
        {"pieces": [[6, 0, 2, 8], [0, 7, 8, 1], [0, 0, 3, 8], [4, 0, 4, 8]], "region": [2, 2, 4, 4]},
    ]


def breaks_mesh_groups() -> list[dict[str, list[int] | int]]:
    """Cases on which wrong bodies of `distributed.mesh.mesh_groups` give other groups than torch.

    A case has the sizes of a mesh, its ranks row by row, and a dimension. It counts if there are one to eight ranks, 0, 1, 2,
    ... in any order, and as many as the sizes say. It catches each body that does not agree with torch, also about an
    IndexError.

    Returns:
        at most 4 cases, each a dict such as `{"sizes": [2, 2], "ranks": [0, 1, 2, 3], "dim": 0}`.

    Source: `torch/distributed/device_mesh.py`, `DeviceMesh`.
    """
    return [
        {"sizes": [2, 2, 2], "ranks": [7, 6, 5, 4, 3, 2, 1, 0], "dim": -3},
        {"sizes": [1, 2], "ranks": [0, 1], "dim": 0},
        {"sizes": [2], "ranks": [0, 1], "dim": 1},
    ]


def breaks_may_recompute() -> list[dict[str, str | list[str]]]:
    """Cases on which wrong bodies of `aot.partition.may_recompute` let the backward recompute other nodes than torch.

    A case is a program of two square matrices of float32, `x`, which requires grad, and `w`, which does not:

    - `columns`: how many columns they have, `8` or `4`;
    - `steps`: at most 8 words. Each step computes a value `y` from the last one, first from `x`: `cos`, `tanh`, `exp`, `t`,
      `mul x` (`y * x`), `mm x` (`y @ x`), `mm w`, `rows` (`y.sum(-1, True)`), `amax` (`y.amax(-1, True)`), `split`
      (`y.split(1)[-1]`), `cat` (`torch.cat([y, y])`), `masked` (`y * (y > x)`), and `noise` (`y * torch.rand_like(y).exp()`), which
      may only be the first one. The result is the last `y`.

    A case counts if the sizes fit. It catches each body that decides otherwise than torch about a node of the forward graph.

    Returns:
        at most 4 cases, each a dict such as `{"columns": "8", "steps": ["mm x", "tanh", "mul x"]}`.

    Source: `torch/_functorch/partitioners.py`, `should_ban_recomputation`.
    """
    return [
        {"columns": "8", "steps": ["cos", "t", "t", "mm x"]},
        {"columns": "8", "steps": ["noise", "masked", "split"]},
        {"columns": "4", "steps": ["cos", "mm w", "rows", "mul x"]},
    ]


def breaks_fused_operations() -> list[dict[str, list[str]]]:
    """Cases on which wrong bodies of `inductor.output_code.fused_operations` read other operators than torch has written.

    A case is a kernel:

    - `operations`: the operators that it computes. Torch makes its name of them;
    - `others`: other operators that may occur.

    The body gets the name, and as `known` the list `others + operations`, in the order of the case. A case counts if the name has
    only one reading. It catches each body that returns other operators, or in another order. A list has at most 8 operators. They
    are `_log_softmax`, `_softmax`, `_to_copy`, `add`, `add_`, `exp`, `index`, `index_select`, `log`, `log2`,
    `log_softmax`, `logit`, `mean`, `mul`, `relu`, `relu_`, `select_backward`, `softmax`, `t`, `var` and `var_mean`.

    Returns:
        at most 4 cases, each a dict such as `{"operations": ["add", "relu"], "others": ["mul"]}`.

    Source: `torch/_inductor/utils.py`, `get_fused_kernel_name`.
    """
    return [
        {"operations": [], "others": []},
        {"operations": ["logit", "add_", "add", "_softmax", "_log_softmax"], "others": ["log", "t"]},
        {"operations": ["index", "select_backward", "var_mean"], "others": ["index_select", "var", "mean"]},
    ]


def breaks_can_fuse() -> list[dict[str, str | list[str]]]:
    """Cases on which wrong bodies of `inductor.scheduler.can_fuse` fuse other loop nests than torch.

    A case is two loop nests over the same two loops, `for i in range(2): for j in range(3):`. It has for each of them

    - `first_reads` and `second_reads`: the elements that one iteration reads, at most 8;
    - `first_writes` and `second_writes`: the element that it writes.

    An element is a buffer, `a`, `b` or `c`, and an index: `[i, j]`, `[j, i]`, `[i, j + 1]` or `[i]`. A nest that writes an element
    `[i]` is a reduction: it sums over j.

    A case catches each body that allows what torch refuses, or refuses what torch allows.

    Returns:
        at most 6 cases, each a dict such as `{"first_reads": ["c[i, j]"], "first_writes": "a[i, j]", "second_reads": ["a[i, j]"],
        "second_writes": "b[i, j]"}`.

    Source: `torch/_inductor/scheduler.py`, `Scheduler.can_fuse_vertical`, `fusable_read_and_write`.
    """
    keys = ("first_reads", "first_writes", "second_reads", "second_writes")
    return [
        dict(zip(keys, row))
        for row in [
            ([], "a[i, j]", [], "a[i, j]"),
            ([], "a[i, j]", [], "a[j, i]"),
            (["c[i, j]"], "a[i]", ["a[i]", "b[i, j]", "c[j, i]"], "b[j, i]"),
            (["c[i, j]"], "a[i, j]", ["a[i, j + 1]", "a[i, j]"], "c[i, j]"),
            (["c[j, i]"], "a[i, j]", [], "c[i, j]"),
        ]
    ]


def breaks_take_over() -> list[dict[str, list]]:
    """Cases on which wrong bodies of `inductor.memory.take_over` reuse other buffers than torch.

    A case is one step. Its buffers are ints less than 2**31:

    - `candidates`: for each result, in order, the buffers that it can overwrite. At most three in all;
    - `ending`: the buffers that this step is the last to use;
    - `kept`: the buffers that must not be overwritten. For torch they are inputs of the graph.

    A case counts if the right body agrees with torch. It catches each body that does not agree.

    Returns:
        at most 4 cases, each a dict such as `{"candidates": [[0, 1], [1]], "ending": [0, 1], "kept": []}`.

    Source: `torch/_inductor/scheduler.py`, `SchedulerNode.decide_inplace_update`.
    """
    return [
        {"candidates": [[], [0, 1, 2]], "ending": [2, 1], "kept": []},
        {"candidates": [[], [0, 1], [1]], "ending": [0, 1], "kept": [0]},
        {"candidates": [[0], [1], [0]], "ending": [0, 1], "kept": []},
    ]


def breaks_fit() -> list[dict[str, list[list[int]]]]:
    """Cases on which wrong bodies of `distributed.cost.fit` find another link than torch, or another error.

    A case is a list of at most 8 measurements. Each is `[steps, bytes, microseconds]`, three ints from 1 to 2**31 - 1. Torch solves
    the problem of least squares with `torch.linalg.lstsq`. A case counts if the right body agrees with torch. It catches each body
    that does not agree.

    Returns:
        at most 4 cases, each a dict such as `{"rows": [[2, 1000, 3000], [2, 5000, 7000]]}`.

    Source: `torch/linalg/__init__.py`, `lstsq`.
    """
    return [
        {"rows": []},
        {"rows": [[2, 10, 30], [1, 5, 3]]},
        {"rows": [[1, 3, 30], [4, 100, 2], [1, 3, 30]]},
        {"rows": [[4, 3, 1], [1, 2, 3]]},
    ]


def breaks_infer_schema() -> list[dict[str, str | list[str]]]:
    """Cases on which wrong bodies of `custom_ops.infer_schema` give another schema than torch.

    A case is a function's signature, and what the operator writes to:

    - `parameters`: what is between the parentheses of `def`, in pieces: `x: Tensor`, `y: 'Tensor'`, `z: Tensor | None`,
      `xs: list[Tensor]`, `n: int`, `flag: bool = False`, `kind: str = 'none'`, `w` (without an annotation), `*` and `/`;
    - `mutates_args`: names of these parameters;
    - `returns`: the annotation of the result, one of `Tensor`, `'Tensor'`, `int`, `None`, or `no annotation`.

    A case counts if Python accepts the parameters, of which there are at most three. It catches each body that gives another
    schema than torch, or that does not raise the ValueError of torch.

    Returns:
        at most 6 cases, each a dict such as `{"parameters": ["x: Tensor", "n: int"], "mutates_args": ["x"], "returns": "None"}`.

    Source: `test/test_custom_ops.py`, `test_infer_schema_supported`, `test_infer_schema_unsupported`.
    """
    return [
        {
            "parameters": ["y: 'Tensor'", "*", "x: Tensor", "xs: list[Tensor]"],
            "mutates_args": ["xs"],
            "returns": "Tensor",
        },
        {"parameters": [], "mutates_args": [], "returns": "None"},
        {"parameters": [], "mutates_args": [], "returns": "no annotation"},
        {"parameters": ["w"], "mutates_args": [], "returns": "Tensor"},
        {"parameters": ["x: Tensor", "/"], "mutates_args": [], "returns": "Tensor"},
        {"parameters": ["n: int"], "mutates_args": ["n"], "returns": "Tensor"},
    ]


def breaks_fused_linear_vmap() -> list[dict[str, list[int] | int | str]]:
    """Cases on which wrong bodies of `custom_ops.fused_linear_vmap` give another result than `torch.vmap`.

    A case is a batch of calls of `fused_linear`:

    - `lead`: the leading dimensions of an example's `x`, at most three sizes from 0 to 8;
    - `features`, `outs` and `batch_size`, from 1 to 8: an example's `x` has shape (*lead, features), its `weight` has shape
      (outs, features), and its `bias` (outs,);
    - `x`, `weight` and `bias`: where the argument has its batch dimension, `first` or `last`, or `no batch` if it is the same for
      every example; `bias` may also be `left out`;
    - `activation`, of which `none` is the default.

    An argument at its default is not passed, and has no entry in `in_dims`, unless an argument after it is passed. The numbers in
    the tensors are given, and no two examples are equal. A case counts if at least one of the three arguments has a batch. It
    catches each body that gives another result than torch, or an error.

    Returns:
        at most 5 cases, each a dict such as `{"lead": [3], "features": 4, "outs": 2, "batch_size": 5, "x": "first",
        "weight": "no batch", "bias": "no batch", "activation": "none"}`.

    Source: `test/functorch/test_vmap.py`, `TestVmapOperators`.
    """
    keys = ("lead", "features", "outs", "batch_size", "x", "weight", "bias", "activation")
    rows = [
        ([3, 2], 4, 2, 5, "last", "last", "last", "none"),
        ([3], 4, 2, 5, "no batch", "no batch", "first", "none"),
        ([], 4, 2, 5, "first", "first", "no batch", "none"),
        ([], 4, 2, 5, "last", "no batch", "left out", "none"),
        ([], 4, 2, 5, "first", "no batch", "no batch", "tanh"),
    ]
    return [dict(zip(keys, row)) for row in rows]


def breaks_as_strided() -> list[dict[str, int | str | list[int]]]:
    """Cases on which wrong bodies of `backend.as_strided` give another view than torch, or refuse other views.

    A case is a call `x[begin:].as_strided(size, stride, storage_offset)`:

    - `elements`: those of the contiguous `x`, from 0 to 100, and `dtype`: `uint8`, `float32` or `int64`;
    - `begin`: the position in `x` at which the view `x[begin:]` begins, from 0 to `elements`;
    - `size` and `stride`: those of the result, in elements, at most 8 numbers each;
    - `storage_offset`: a list with the offset, or an empty list if no offset is given.

    It catches each body that gives other sizes, strides or another offset than torch, that refuses what torch accepts, or that
    accepts what torch refuses. All bodies refuse negative sizes and lists of different lengths, as torch does.

    Returns:
        at most 5 cases, each a dict such as `{"elements": 6, "dtype": "float32", "begin": 0, "size": [2, 2], "stride": [3, 1],
        "storage_offset": [1]}`.

    Source: `test/test_tensor_creation_ops.py`, `test_as_strided_neg`.
    """
    keys = ("elements", "dtype", "begin", "size", "stride", "storage_offset")
    rows = [
        (6, "float32", 2, [4], [1], []),
        (6, "float32", 2, [2, 0], [9, 1], [0]),
        (5, "float32", 0, [2, 2], [3, 2], []),
        (5, "float32", 0, [], [], [5]),
        (6, "float32", 0, [1], [-1], []),
    ]
    return [dict(zip(keys, row)) for row in rows]
