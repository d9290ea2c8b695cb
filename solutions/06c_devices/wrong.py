"""Wrong answers to lab 06c that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import functools
import math

import numpy as np
import torch
from torch.utils._python_dispatch import return_and_correct_aliasing
from torch.utils._pytree import tree_map_only

from rushlight.course import breaks, predictions
from rushlight.on_torch import backend, wrapper

from ..shared import copied, edited

# A wrapper


_dispatched = copied(wrapper.quantised_dispatch)


def map_quantised__makes_lists_of_everything(function, tree):
    if isinstance(tree, wrapper.QuantisedTensor):
        return function(tree)
    if isinstance(tree, (list, tuple)):
        return [map_quantised__makes_lists_of_everything(function, each) for each in tree]
    return tree


def map_quantised__knows_no_named_tuples(function, tree):
    if isinstance(tree, wrapper.QuantisedTensor):
        return function(tree)
    if isinstance(tree, dict):
        return {key: map_quantised__knows_no_named_tuples(function, each) for key, each in tree.items()}
    if isinstance(tree, (list, tuple)):
        kind = list if isinstance(tree, list) else tuple
        return kind(map_quantised__knows_no_named_tuples(function, each) for each in tree)
    return tree


def map_quantised__in_place(function, tree):
    if isinstance(tree, list):
        tree[:] = [map_quantised__in_place(function, each) for each in tree]
        return tree
    if isinstance(tree, dict):
        for key in tree:
            tree[key] = map_quantised__in_place(function, tree[key])
        return tree
    if isinstance(tree, tuple):
        items = [map_quantised__in_place(function, each) for each in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else tuple(items)
    return function(tree) if isinstance(tree, wrapper.QuantisedTensor) else tree


def map_quantised__keeps_lists_with_nothing_quantised(function, tree):
    if isinstance(tree, wrapper.QuantisedTensor):
        return function(tree)
    if isinstance(tree, dict):
        return {key: map_quantised__keeps_lists_with_nothing_quantised(function, each) for key, each in tree.items()}
    if isinstance(tree, (list, tuple)):
        items = [map_quantised__keeps_lists_with_nothing_quantised(function, each) for each in tree]
        if all(new is old for new, old in zip(items, tree)):
            return tree
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    return tree


def map_quantised__maps_all_tensors(function, tree):
    from torch.utils._pytree import tree_map_only

    return tree_map_only(torch.Tensor, function, tree)


def map_quantised__leaves_before_branches(function, tree):
    again = functools.partial(map_quantised__leaves_before_branches, function)
    if isinstance(tree, wrapper.QuantisedTensor):
        return function(tree)
    if not isinstance(tree, (dict, tuple, list)):
        return tree
    items = dict(tree) if isinstance(tree, dict) else dict(enumerate(tree))
    for key, item in list(items.items()):
        if isinstance(item, wrapper.QuantisedTensor):
            items[key] = function(item)
    for key, item in list(items.items()):
        if isinstance(item, (dict, tuple, list)) and item is (tree[key]):
            items[key] = again(item)
    if isinstance(tree, dict):
        return items
    return type(tree)(*items.values()) if hasattr(tree, "_fields") else type(tree)(items.values())


def map_quantised__with_paths(function, tree):
    from torch.utils._pytree import tree_map_with_path

    return tree_map_with_path(lambda path, each: map_quantised__in_place(function, each), tree)


def _one_level(again, function, tree):
    if isinstance(tree, wrapper.QuantisedTensor):
        return function(tree)
    if isinstance(tree, dict):
        return {key: again(item) for key, item in tree.items()}
    if isinstance(tree, (list, tuple)):
        items = [again(item) for item in tree]
        return type(tree)(*items) if hasattr(tree, "_fields") else type(tree)(items)
    return tree


def map_quantised__maps_the_keys_too(function, tree):
    again = functools.partial(map_quantised__maps_the_keys_too, function)
    if isinstance(tree, dict):
        return {again(key): again(item) for key, item in tree.items()}
    return _one_level(again, function, tree)


def map_quantised__maps_sets_too(function, tree):
    again = functools.partial(map_quantised__maps_sets_too, function)
    return set(map(again, tree)) if isinstance(tree, set) else _one_level(again, function, tree)


def map_quantised__keeps_what_becomes_None(function, tree):
    again = functools.partial(map_quantised__keeps_what_becomes_None, function)
    result = _one_level(again, function, tree)
    return tree if result is None else result


def map_quantised__maps_results_again(function, tree):
    again = functools.partial(map_quantised__maps_results_again, function)
    tree = function(tree) if isinstance(tree, wrapper.QuantisedTensor) else tree
    return tree if isinstance(tree, wrapper.QuantisedTensor) else _one_level(again, function, tree)


def map_quantised__tries_all_items_as_one_argument(function, tree):
    again = functools.partial(map_quantised__tries_all_items_as_one_argument, function)
    if isinstance(tree, tuple):
        items = [again(item) for item in tree]
        try:
            return type(tree)(items)
        except TypeError:
            return type(tree)(*items)
    return _one_level(again, function, tree)


def quantised_mm__dequantises(x, q):
    return x @ q.dequantise()


def quantised_mm__in_single_precision(x, q):
    factors, matrix = q.scale.float(), q.int_data.float()
    return ((x.float() @ matrix) * factors if q.axis else (x.float() * factors) @ matrix).to(x.dtype)


def quantised_mm__scales_the_result_whatever_the_axis(x, q):
    product = x @ q.int_data.to(x.dtype)
    return product * q.scale if q.scale.shape[0] == product.shape[1] else (x * q.scale) @ q.int_data.to(x.dtype)


def quantised_dispatch__dequantises_everything(func, types, args, kwargs):
    args, kwargs = wrapper.map_quantised(wrapper.QuantisedTensor.dequantise, (args, kwargs))
    return func(*args, **kwargs)


def quantised_dispatch__raises_a_TypeError(func, types, args, kwargs):
    result = _dispatched(func, types, args, kwargs)
    if result is NotImplemented:
        raise TypeError(f"{func} would write into a quantised tensor")
    return result


def quantised_dispatch__forgets_the_axis(func, types, args, kwargs):
    aten = torch.ops.aten
    if func in (aten.detach.default, aten.clone.default, aten.t.default, aten.transpose.int):
        q = args[0]
        out = wrapper.QuantisedTensor(func(q.int_data, *args[1:], **kwargs), q.scale, q.axis)
        return return_and_correct_aliasing(func, args, kwargs, out)
    if func is aten.mm.default and isinstance(args[1], wrapper.QuantisedTensor):
        return wrapper.quantised_mm(*args)
    args, kwargs = wrapper.map_quantised(wrapper.QuantisedTensor.dequantise, (args, kwargs))
    return func(*args, **kwargs)


def quantised_dispatch__multiplies_by_a_beta_of_0(func, types, args, kwargs):
    aten, quantised = torch.ops.aten, wrapper.QuantisedTensor
    if func is aten.addmm.default and isinstance(args[-1], quantised):
        bias = wrapper.map_quantised(quantised.dequantise, args[0])
        return kwargs.get("beta", 1) * bias + kwargs.get("alpha", 1) * wrapper.quantised_mm(*args[1:])
    return _dispatched(func, types, args, kwargs)


def quantised_dispatch__leaves_keywords_alone(func, types, args, kwargs):
    aten, quantised = torch.ops.aten, wrapper.QuantisedTensor
    kept = (aten.detach.default, aten.clone.default, aten.t.default, aten.transpose.int)
    if func in kept or func._schema.is_mutable or func in (aten.mm.default, aten.addmm.default):
        return _dispatched(func, types, args, kwargs)
    return func(*wrapper.map_quantised(quantised.dequantise, args), **kwargs)


def quantised_dispatch__multiplies_all_of_it_for_a_sum(func, types, args, kwargs):
    if func is torch.ops.aten.addmm.default:
        args = wrapper.map_quantised(wrapper.QuantisedTensor.dequantise, args)
        return func(*args, **kwargs)
    return _dispatched(func, types, args, kwargs)


def quantised_dispatch__scales_the_matrix_itself(func, types, args, kwargs):
    if kwargs.get("alpha", 1) != 1 and isinstance(args[-1], wrapper.QuantisedTensor):
        args[-1].scale.mul_(kwargs["alpha"])
        kwargs = kwargs | {"alpha": 1}
    return _dispatched(func, types, args, kwargs)


def quantised_dispatch__looks_for_a_scale_of_0(func, types, args, kwargs):
    if any(isinstance(arg, wrapper.QuantisedTensor) and (arg.scale == 0).any() for arg in args):
        raise ValueError("the scale of a row is never 0")
    return _dispatched(func, types, args, kwargs)


quantised_dispatch__takes_the_out_form_for_the_plain_one = edited(
    wrapper.quantised_dispatch,
    ("func in (aten.mm.default, aten.addmm.default) and", "func.overloadpacket in (aten.mm, aten.addmm) and"),
    ("if func is aten.mm.default", "if func.overloadpacket is aten.mm"),
)
quantised_dispatch__knows_writes_by_their_names = edited(
    wrapper.quantised_dispatch,
    ("if argument.is_write and", "if (place == 0 and func._schema.name[-1] == '_' or argument.name == 'out') and"),
)
quantised_dispatch__looks_for_writes_first_or_by_keyword = edited(
    wrapper.quantised_dispatch,
    ("if argument.is_write and", "if argument.is_write and (place == 0 or argument.kwarg_only) and"),
)
quantised_dispatch__takes_an_alpha_of_0_for_none = edited(
    wrapper.quantised_dispatch, ('kwargs.get("alpha", 1)', '(kwargs.get("alpha") or 1)')
)
quantised_dispatch__takes_whole_betas = edited(
    wrapper.quantised_dispatch, ('kwargs.get("beta", 1)', 'int(kwargs.get("beta", 1))')
)
quantised_dispatch__keeps_what_it_has_dequantised = edited(
    wrapper.quantised_dispatch,
    ("QuantisedTensor.dequantise,", 'lambda q: q.__dict__.setdefault("_plain", q.dequantise()),'),
)

# A device


def empty_strided__as_large_as_its_elements(size, stride, *, dtype=None, layout=None, device=None, pin_memory=None):
    if layout not in (None, torch.strided) or pin_memory:
        raise RuntimeError
    dtype = dtype or torch.get_default_dtype()
    tensor = torch._C._acc.create_empty_tensor((), dtype)
    tensor.untyped_storage().memory = np.empty(math.prod(size) * dtype.itemsize, np.uint8)
    return torch.ops.inductor._reinterpret_tensor(tensor, size, stride, 0)


_empty_strided = copied(backend.empty_strided)


def empty_strided__of_lists_only(size, stride, **options):
    return _empty_strided([] + size, [] + stride, **options)


def empty_strided__float32_by_default(size, stride, *, dtype=torch.float32, layout=None, device=None, pin_memory=None):
    if layout not in (None, torch.strided) or pin_memory:
        raise RuntimeError
    dtype = dtype or torch.float32
    reach = 0 if 0 in size else 1 + sum((n - 1) * step for n, step in zip(size, stride))
    tensor = torch._C._acc.create_empty_tensor((), dtype)
    tensor.untyped_storage().memory = np.empty(reach * dtype.itemsize, np.uint8)
    return torch.ops.inductor._reinterpret_tensor(tensor, size, stride, 0)


def copy_from__takes_the_memory_over(self, dst, non_blocking=False):
    if dst.device.type == "rush":
        dst.untyped_storage().memory = backend.array_of(self).copy().reshape(-1).view(np.uint8)
    else:
        np.copyto(backend.array_of(dst), backend.array_of(self), casting="unsafe")
    return dst


def copy_from__by_way_of_float64(self, dst, non_blocking=False):
    target = backend.array_of(dst)
    numbers = np.array(backend.array_of(self), np.float64).astype(target.dtype)
    try:
        target[...] = np.broadcast_to(numbers, target.shape)
    except ValueError:
        raise RuntimeError("sizes") from None
    return dst


def copy_from__returns_the_source(self, dst, non_blocking=False):
    np.copyto(backend.array_of(dst), np.broadcast_to(backend.array_of(self), dst.shape), casting="unsafe")
    return self


def copy_from__bytes(self, dst, non_blocking=False):
    if self.shape != dst.shape:
        raise RuntimeError
    target = backend.array_of(dst)
    target[...] = backend.array_of(self).view(target.dtype) if self.dtype != dst.dtype else backend.array_of(self)
    return dst


def cpu_fallback__forgets_what_was_written(op, *args, **kwargs):
    if any(each.alias_info is not None and not each.is_write for each in op._schema.returns):
        raise NotImplementedError
    args, kwargs = tree_map_only(torch.device, lambda device: torch.device("cpu"), (args, kwargs))
    args, kwargs = tree_map_only(torch.Tensor, lambda tensor: tensor.cpu().clone(), (args, kwargs))
    return tree_map_only(torch.Tensor, lambda tensor: tensor.to("rush"), op(*args, **kwargs))


def cpu_fallback__copies_views(op, *args, **kwargs):
    originals = {}

    def down(tensor):
        copy = tensor.cpu().clone() if tensor.device.type == "rush" else tensor
        originals[id(copy)] = tensor, copy
        return copy

    args, kwargs = tree_map_only(torch.device, lambda device: torch.device("cpu"), (args, kwargs))
    args, kwargs = tree_map_only(torch.Tensor, down, (args, kwargs))
    result = op(*args, **kwargs)
    for original, copy in originals.values():
        if original.shape == copy.shape:
            original.copy_(copy)
        else:
            original.data = copy.to("rush")
    return tree_map_only(
        torch.Tensor, lambda each: originals[id(each)][0] if id(each) in originals else each.to("rush"), result
    )


_fallback = copied(backend.cpu_fallback)


def cpu_fallback__of_lists_only(op, *args, **kwargs):
    if any(isinstance(each, tuple) for each in args):
        raise TypeError("a tuple of tensors")
    return _fallback(op, *args, **kwargs)


def cpu_fallback__takes_no_lists_by_name(op, *args, **kwargs):
    if any(isinstance(each, (list, tuple)) for each in kwargs.values()):
        raise TypeError("a list of tensors by name")
    return _fallback(op, *args, **kwargs)


cpu_fallback__one_copy_for_an_argument_given_twice = edited(
    backend.cpu_fallback,
    (
        "def to_cpu(tensor):\n",
        "copies = {}\n\n    def to_cpu(tensor):\n        if id(tensor) in copies:\n            return copies[id(tensor)]\n",
    ),
    ("copy = tensor.cpu().clone()", "copy = copies[id(tensor)] = tensor.cpu().clone()"),
)

cpu_fallback__new_memory_for_what_was_written = edited(
    backend.cpu_fallback,
    ("if original.shape == copy.shape:\n            original.copy_(copy)\n        else:\n    ", "if True:\n    "),
)
cpu_fallback__copies_what_is_on_the_CPU = edited(
    backend.cpu_fallback,
    ("copy = tensor.cpu().clone() if tensor.device.type == DEVICE else tensor", "copy = tensor.cpu().clone()"),
)

empty_strided__of_eight_bytes_each = edited(backend.empty_strided, ("elements * dtype.itemsize", "elements * 8"))
empty_strided__in_one_pool = edited(
    backend.empty_strided,
    (
        "np.empty(elements * dtype.itemsize, np.uint8)",
        'np.__dict__.setdefault("pool", np.empty(4096, np.uint8))[: elements * dtype.itemsize]',
    ),
)
empty_strided__takes_pinned_memory_for_other_memory = edited(
    backend.empty_strided, ("torch.strided) or pin_memory:", "torch.strided):")
)


empty_strided__refuses_coordinates_only = edited(
    backend.empty_strided, ("layout not in (None, torch.strided)", "layout is torch.sparse_coo")
)

empty_strided__of_the_bits_of_a_part_of_a_number = edited(
    backend.empty_strided,
    ("elements * dtype.itemsize", "elements * (torch.finfo(dtype).bits // 8 if dtype.is_complex else dtype.itemsize)"),
)
_copy = 'np.copyto(array_of(dst), source, casting="unsafe")'
copy_from__makes_integers_before_bools = edited(
    backend.copy_from,
    (
        _copy,
        "array_of(dst)[...] = source.astype(int) if dst.dtype == torch.bool else source.astype(array_of(dst).dtype)",
    ),
)
copy_from__takes_magnitudes_of_complex_numbers = edited(
    backend.copy_from,
    (_copy, "array_of(dst)[...] = source.astype(array_of(dst).dtype) if dst.dtype.is_complex else abs(source)"),
)
cpu_fallback__changes_devices_by_keyword_only = edited(
    backend.cpu_fallback,
    (
        "(args, kwargs))\n    args, kwargs = tree_map_only(torch.T",
        "((), kwargs))\n    args, kwargs = tree_map_only(torch.T",
    ),
    ("args, kwargs = tree_map_only(torch.device", "_, kwargs = tree_map_only(torch.device"),
)
cpu_fallback__knows_the_device_with_its_index_only = edited(
    backend.cpu_fallback,
    ('lambda device: torch.device("cpu")', 'lambda device: torch.device("cpu") if device.index == 0 else device'),
)


# Cases

_breaks = copied(breaks.breaks_as_strided)


def breaks_as_strided__of_the_first_elements():
    return [case | {"begin": 0} for case in _breaks()]


def breaks_as_strided__that_torch_accepts():
    return [case for case in _breaks() if case["begin"]]


def breaks_as_strided__without_negative_strides():
    return [case | {"stride": [*map(abs, case["stride"])]} for case in _breaks()]


def breaks_as_strided__far_outside_memory():
    return [case | {"elements": case["begin"]} for case in _breaks()]


def breaks_as_strided__of_single_bytes():
    return [case | {"dtype": "uint8"} for case in _breaks()]


def breaks_as_strided__without_an_offset():
    return [case | {"storage_offset": []} for case in _breaks()]


def breaks_as_strided__with_an_offset():
    return [case | {"storage_offset": case["storage_offset"] or [case["begin"]]} for case in _breaks()]


def breaks_as_strided__with_None_as_an_offset():
    return [case | {"storage_offset": None} for case in _breaks()]


def breaks_as_strided__of_one_dimension():
    return [case | {"size": case["size"][:1] or [1], "stride": case["stride"][:1] or [1]} for case in _breaks()]


# Predictions

calls_received__not_of_a_new_tensor = edited(predictions.calls_received, ('"one ones", ', ""))
calls_received__for_another_name = edited(predictions.calls_received, ('"Ada"', '"ada"'))
