"""The functions and methods of the operators. Generated from `native_functions.yaml`. Do not edit.

If all tensors are arguments of their own, a function such as `rl.add(x, y)` computes the key set of the call inline and runs
the kernel that the operator's table has for it. Otherwise it calls `invoke` or `resolve`.
The operators are at the end of the file. `register_kernels.py` fills their tables.
"""

# ruff: noqa: A001, A002, E501
from numpy import ndarray

from rushlight import return_types
from rushlight.aten.strided import Tensor, int_list
from rushlight.c10.dispatch import local, numbers_of
from rushlight.c10.dtypes import as_dtype, int64
from rushlight.c10.memory_formats import contiguous_format
from rushlight.c10.schema import NUMBERS, PLAIN_NUMBERS, as_int_list
from rushlight.library import call_by_name, check_out_options, declare, invoke, leaf, resolve, unpack_out

__all__ = [
    "_adaptive_avg_pool2d", "_cdist_forward", "_ctc_loss", "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams",
    "_index_put_impl_", "_linalg_det", "_linalg_solve_ex", "_linalg_svd", "_local_scalar_dense", "_log_softmax",
    "_log_softmax_backward_data", "_prelu_kernel", "_reshape_alias", "_reshape_alias_copy", "_safe_softmax",
    "_scaled_dot_product_attention_math", "_scaled_dot_product_flash_attention_for_cpu", "_softmax",
    "_softmax_backward_data", "_thnn_fused_gru_cell", "_thnn_fused_lstm_cell", "_to_copy", "_unique2", "_unsafe_view",
    "abs", "abs_", "absolute", "acos", "acos_", "acosh", "acosh_", "adaptive_avg_pool1d", "add", "addbmm", "addcdiv",
    "addcmul", "addmm", "addmv", "addmv_", "addr", "affine_grid_generator", "alias_copy", "all", "allclose",
    "alpha_dropout", "alpha_dropout_", "amax", "amin", "aminmax", "any", "arange", "arccos", "arccos_", "arccosh",
    "arccosh_", "arcsin", "arcsin_", "arcsinh", "arcsinh_", "arctan", "arctan2", "arctan_", "arctanh", "arctanh_",
    "argmax", "argmin", "argsort", "argwhere", "as_strided", "as_strided_", "as_strided_copy", "as_strided_scatter",
    "asin", "asin_", "asinh", "asinh_", "atan", "atan2", "atan_", "atanh", "atanh_", "avg_pool1d", "baddbmm",
    "batch_norm", "bernoulli", "bilinear", "binary_cross_entropy_with_logits", "bincount", "bitwise_and",
    "bitwise_left_shift", "bitwise_not", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "bmm", "broadcast_to",
    "bucketize", "cat", "ceil", "ceil_", "celu", "celu_", "channel_shuffle", "chunk", "clamp", "clamp_", "clamp_max",
    "clamp_max_", "clamp_min", "clamp_min_", "clip", "clip_", "clone", "column_stack", "concat", "concatenate", "conj",
    "conj_physical", "constant_pad_nd", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d",
    "conv_transpose3d", "convolution", "copysign", "corrcoef", "cos", "cos_", "cosh", "cosh_", "cosine_embedding_loss",
    "cosine_similarity", "count_nonzero", "cov", "cross", "ctc_loss", "cummax", "cummin", "cumprod", "cumsum",
    "deg2rad", "deg2rad_", "det", "detach", "diag", "diag_embed", "diagflat", "diagonal", "diagonal_copy",
    "diagonal_scatter", "diff", "digamma", "dist", "div", "divide", "dot", "dropout", "dropout_", "dsplit", "dstack",
    "embedding", "embedding_renorm_", "empty", "empty_like", "empty_strided", "eq", "equal", "erf", "erf_", "erfc",
    "erfc_", "erfinv", "exp", "exp2", "exp2_", "exp_", "expand_copy", "expm1", "expm1_", "eye",
    "fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine", "feature_alpha_dropout",
    "feature_alpha_dropout_", "feature_dropout", "feature_dropout_", "fill", "fill_", "fix", "fix_", "flatten", "flip",
    "fliplr", "flipud", "float_power", "floor", "floor_", "floor_divide", "fmax", "fmin", "fmod", "frac", "frac_",
    "full", "full_like", "gather", "gcd", "gcd_", "ge", "ger", "greater", "greater_equal", "group_norm", "gru",
    "gru_cell", "gt", "hardshrink", "heaviside", "hinge_embedding_loss", "histc", "histogram", "hsplit", "hstack",
    "hypot", "index_add", "index_copy", "index_fill", "index_put", "index_put_", "index_reduce", "index_select",
    "inner", "instance_norm", "inverse", "is_nonzero", "is_same_size", "is_signed", "isclose", "isfinite", "isin",
    "isinf", "isnan", "isneginf", "isposinf", "isreal", "kl_div", "kron", "kthvalue", "layer_norm", "lcm", "lcm_",
    "ldexp", "ldexp_", "le", "lerp", "less", "less_equal", "lgamma", "linspace", "log", "log10", "log10_", "log1p",
    "log1p_", "log2", "log2_", "log_", "log_softmax", "logaddexp", "logaddexp2", "logcumsumexp", "logical_and",
    "logical_not", "logical_or", "logical_xor", "logit", "logit_", "logsumexp", "lstm", "lstm_cell", "lt",
    "margin_ranking_loss", "masked_fill", "masked_scatter", "masked_select", "matmul", "max", "max_pool1d",
    "max_pool1d_with_indices", "max_pool2d", "maximum", "mean", "median", "min", "minimum", "mm", "mode", "moveaxis",
    "movedim", "msort", "mul", "multinomial", "multiply", "mv", "mvlgamma", "nan_to_num", "nan_to_num_", "nanmean",
    "nanmedian", "nanquantile", "nansum", "narrow", "native_batch_norm", "native_channel_shuffle", "ne", "neg", "neg_",
    "negative", "negative_", "normal", "not_equal", "ones", "ones_like", "outer", "pairwise_distance", "pdist",
    "permute", "permute_copy", "pixel_shuffle", "pixel_unshuffle", "poisson_nll_loss", "polygamma", "positive", "pow",
    "prelu", "prod", "put", "quantile", "rad2deg", "rad2deg_", "rand", "rand_like", "randint", "randint_like", "randn",
    "randn_like", "randperm", "range", "ravel", "real", "reciprocal", "reciprocal_", "relu", "relu_", "remainder",
    "renorm", "repeat_interleave", "reshape", "resize_as_", "resolve_conj", "resolve_neg", "rms_norm", "rnn_relu",
    "rnn_relu_cell", "rnn_tanh", "rnn_tanh_cell", "roll", "rot90", "round", "round_", "row_stack", "rrelu", "rrelu_",
    "rsqrt", "rsqrt_", "rsub", "scalar_tensor", "scatter", "scatter_add", "scatter_reduce", "searchsorted", "select",
    "select_scatter", "selu", "selu_", "sgn", "sigmoid", "sigmoid_", "sign", "signbit", "sin", "sin_", "sinc", "sinc_",
    "sinh", "sinh_", "slice_scatter", "softmax", "sort", "split", "split_with_sizes", "split_with_sizes_copy", "sqrt",
    "sqrt_", "square", "square_", "squeeze", "squeeze_copy", "stack", "std", "std_mean", "sub", "subtract", "sum",
    "swapaxes", "swapdims", "t", "t_copy", "take", "take_along_dim", "tan", "tan_", "tanh", "tanh_", "tensor_split",
    "threshold", "threshold_", "tile", "topk", "transpose", "transpose_copy", "trapezoid", "trapz", "tril",
    "tril_indices", "triplet_margin_loss", "triu", "triu_indices", "true_divide", "trunc", "trunc_", "unbind",
    "unbind_copy", "unflatten", "unfold_copy", "unsqueeze", "unsqueeze_copy", "vander", "var", "var_mean", "vdot",
    "view_copy", "vsplit", "vstack", "where", "xlogy", "xlogy_", "zero_", "zeros", "zeros_like",
]  # fmt: skip


def alias(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([alias_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(alias_op, input)
    return alias_op.table[key_set](input)


def alias_copy(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([alias_copy_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(alias_copy_op, input)
    return alias_copy_op.table[key_set](input)


def as_strided(input=None, size=None, stride=None, storage_offset=None, **numpy_names):
    if numpy_names or size is None or stride is None:
        return call_by_name([as_strided_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(as_strided_op, input, size, stride, storage_offset)
    return as_strided_op.table[key_set](input, size, stride, storage_offset)


def as_strided_copy(input=None, size=None, stride=None, storage_offset=None, **numpy_names):
    if numpy_names or size is None or stride is None:
        return call_by_name([as_strided_copy_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(as_strided_copy_op, input, size, stride, storage_offset)
    return as_strided_copy_op.table[key_set](input, size, stride, storage_offset)


def as_strided_(input=None, size=None, stride=None, storage_offset=None, **numpy_names):
    if numpy_names or size is None or stride is None:
        return call_by_name([as_strided__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(as_strided__op, input, size, stride, storage_offset)
    return as_strided__op.table[key_set](input, size, stride, storage_offset)


def broadcast_tensors(tensors):
    return invoke(broadcast_tensors_op, tensors)


def broadcast_to(input=None, size=None, **numpy_names):
    if numpy_names or size is None:
        return call_by_name([broadcast_to_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(broadcast_to_op, input, size)
    return broadcast_to_op.table[key_set](input, size)


def chunk(input=None, chunks=None, dim=0, **numpy_names):
    if numpy_names or chunks is None:
        return call_by_name([chunk_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(chunk_op, input, chunks, dim)
    return chunk_op.table[key_set](input, chunks, dim)


def detach(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([detach_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(detach_op, input)
    return detach_op.table[key_set](input)


def diagonal(input=None, offset=0, dim1=0, dim2=1, **numpy_names):
    if numpy_names:
        return call_by_name([diagonal_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(diagonal_op, input, offset, dim1, dim2)
    return diagonal_op.table[key_set](input, offset, dim1, dim2)


def diagonal_copy(input=None, offset=0, dim1=0, dim2=1, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([diagonal_copy_op, diagonal_copy_out_op], locals())
    if out is not None:
        return invoke(diagonal_copy_out_op, input, offset, dim1, dim2, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(diagonal_copy_op, input, offset, dim1, dim2)
    return diagonal_copy_op.table[key_set](input, offset, dim1, dim2)


def expand_copy(input=None, size=None, **numpy_names):
    if numpy_names or size is None:
        return call_by_name([expand_copy_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(expand_copy_op, input, size)
    return expand_copy_op.table[key_set](input, size)


def flatten(input=None, start_dim=0, end_dim=-1, **numpy_names):
    if numpy_names:
        return call_by_name([flatten_using_ints_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(flatten_using_ints_op, input, start_dim, end_dim)
    return flatten_using_ints_op.table[key_set](input, start_dim, end_dim)


def lift_fresh(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([lift_fresh_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(lift_fresh_op, input)
    return lift_fresh_op.table[key_set](input)


def lift_fresh_copy(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([lift_fresh_copy_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(lift_fresh_copy_op, input)
    return lift_fresh_copy_op.table[key_set](input)


def movedim(*args, **kwargs):
    return resolve(
        (
            movedim_intlist_op,
            movedim_int_op,
        ),
        args,
        kwargs,
    )


def narrow(*args, **kwargs):
    return resolve(
        (
            narrow_op,
            narrow_Tensor_op,
        ),
        args,
        kwargs,
    )


def permute(input=None, dims=None, **numpy_names):
    if numpy_names or dims is None:
        return call_by_name([permute_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(permute_op, input, dims)
    return permute_op.table[key_set](input, dims)


def permute_copy(input=None, dims=None, **numpy_names):
    if numpy_names or dims is None:
        return call_by_name([permute_copy_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(permute_copy_op, input, dims)
    return permute_copy_op.table[key_set](input, dims)


def _reshape_alias(input=None, size=None, stride=None, **numpy_names):
    if numpy_names or size is None or stride is None:
        return call_by_name([_reshape_alias_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_reshape_alias_op, input, size, stride)
    return _reshape_alias_op.table[key_set](input, size, stride)


def _reshape_alias_copy(input=None, size=None, stride=None, **numpy_names):
    if numpy_names or size is None or stride is None:
        return call_by_name([_reshape_alias_copy_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_reshape_alias_copy_op, input, size, stride)
    return _reshape_alias_copy_op.table[key_set](input, size, stride)


def reshape(input=None, shape=None, **numpy_names):
    if numpy_names or shape is None:
        return call_by_name([reshape_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reshape_op, input, shape)
    return reshape_op.table[key_set](input, shape)


def select(input=None, dim=None, index=None, **numpy_names):
    if numpy_names or dim is None or index is None:
        return call_by_name([select_int_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(select_int_op, input, dim, index)
    return select_int_op.table[key_set](input, dim, index)


def slice(input=None, dim=0, start=None, end=None, step=1, **numpy_names):
    if numpy_names:
        return call_by_name([slice_Tensor_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(slice_Tensor_op, input, dim, start, end, step)
    return slice_Tensor_op.table[key_set](input, dim, start, end, step)


def split(*args, **kwargs):
    return resolve(
        (
            split_Tensor_op,
            split_sizes_op,
        ),
        args,
        kwargs,
    )


def split_with_sizes(input=None, split_sizes=None, dim=0, **numpy_names):
    if numpy_names or split_sizes is None:
        return call_by_name([split_with_sizes_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(split_with_sizes_op, input, split_sizes, dim)
    return split_with_sizes_op.table[key_set](input, split_sizes, dim)


def split_with_sizes_copy(input=None, split_sizes=None, dim=0, **numpy_names):
    if numpy_names or split_sizes is None:
        return call_by_name([split_with_sizes_copy_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(split_with_sizes_copy_op, input, split_sizes, dim)
    return split_with_sizes_copy_op.table[key_set](input, split_sizes, dim)


def squeeze(*args, **kwargs):
    return resolve(
        (
            squeeze_op,
            squeeze_dim_op,
            squeeze_dims_op,
        ),
        args,
        kwargs,
    )


def squeeze_copy(*args, **kwargs):
    return resolve(
        (
            squeeze_copy_op,
            squeeze_copy_dim_op,
            squeeze_copy_dims_op,
        ),
        args,
        kwargs,
    )


def t(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([t_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(t_op, input)
    return t_op.table[key_set](input)


def t_copy(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([t_copy_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(t_copy_op, input)
    return t_copy_op.table[key_set](input)


def transpose(input=None, dim0=None, dim1=None, **numpy_names):
    if numpy_names or dim0 is None or dim1 is None:
        return call_by_name([transpose_int_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(transpose_int_op, input, dim0, dim1)
    return transpose_int_op.table[key_set](input, dim0, dim1)


def transpose_copy(input=None, dim0=None, dim1=None, **numpy_names):
    if numpy_names or dim0 is None or dim1 is None:
        return call_by_name([transpose_copy_int_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(transpose_copy_int_op, input, dim0, dim1)
    return transpose_copy_int_op.table[key_set](input, dim0, dim1)


def swapaxes(input=None, axis0=None, axis1=None, **numpy_names):
    if numpy_names or axis0 is None or axis1 is None:
        return call_by_name([swapaxes_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(swapaxes_op, input, axis0, axis1)
    return swapaxes_op.table[key_set](input, axis0, axis1)


def swapdims(input=None, dim0=None, dim1=None, **numpy_names):
    if numpy_names or dim0 is None or dim1 is None:
        return call_by_name([swapdims_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(swapdims_op, input, dim0, dim1)
    return swapdims_op.table[key_set](input, dim0, dim1)


def unbind(input=None, dim=0, **numpy_names):
    if numpy_names:
        return call_by_name([unbind_int_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unbind_int_op, input, dim)
    return unbind_int_op.table[key_set](input, dim)


def unbind_copy(input=None, dim=0, **numpy_names):
    if numpy_names:
        return call_by_name([unbind_copy_int_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unbind_copy_int_op, input, dim)
    return unbind_copy_int_op.table[key_set](input, dim)


def unflatten(input=None, dim=None, sizes=None, **numpy_names):
    if numpy_names or dim is None or sizes is None:
        return call_by_name([unflatten_int_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unflatten_int_op, input, dim, sizes)
    return unflatten_int_op.table[key_set](input, dim, sizes)


def unfold_copy(input=None, dimension=None, size=None, step=None, **numpy_names):
    if numpy_names or dimension is None or size is None or step is None:
        return call_by_name([unfold_copy_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unfold_copy_op, input, dimension, size, step)
    return unfold_copy_op.table[key_set](input, dimension, size, step)


def unsqueeze(input=None, dim=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([unsqueeze_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unsqueeze_op, input, dim)
    return unsqueeze_op.table[key_set](input, dim)


def unsqueeze_copy(input=None, dim=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([unsqueeze_copy_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unsqueeze_copy_op, input, dim)
    return unsqueeze_copy_op.table[key_set](input, dim)


def view_copy(*args, **kwargs):
    return resolve(
        (
            view_copy_op,
            view_copy_dtype_op,
        ),
        args,
        kwargs,
    )


def _unsafe_view(input=None, size=None, **numpy_names):
    if numpy_names or size is None:
        return call_by_name([_unsafe_view_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_unsafe_view_op, input, size)
    return _unsafe_view_op.table[key_set](input, size)


def clone(input=None, *, memory_format=None, **numpy_names):
    if numpy_names:
        return call_by_name([clone_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(clone_op, input, memory_format)
    return clone_op.table[key_set](input, memory_format)


def _to_copy(
    input=None,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    non_blocking=False,
    memory_format=None,
    requires_grad=False,
    **numpy_names,
):
    if numpy_names:
        return call_by_name([_to_copy_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_to_copy_op, input, dtype, layout, device, pin_memory, non_blocking, memory_format)
    return leaf(
        _to_copy_op.table[key_set](input, dtype, layout, device, pin_memory, non_blocking, memory_format), requires_grad
    )


def arange(*args, **kwargs):
    requires_grad = kwargs.pop("requires_grad", False)
    if (out := kwargs.pop("out", None)) is not None:
        kwargs = check_out_options(out, kwargs)
    return leaf(
        resolve(
            (
                arange_op,
                arange_start_op,
                arange_start_step_op,
                arange_out_op,
                arange_start_out_op,
            ),
            args,
            kwargs,
        ),
        requires_grad,
    )


def empty(
    *size,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    memory_format=None,
    out=None,
    requires_grad=False,
    **named,
):
    size = int_list(size, "size", named)
    if dtype is not None:
        dtype = as_dtype(dtype)
    if out is not None:
        check_out_options(out, {"dtype": dtype, "device": device})
        return leaf(invoke(empty_out_op, size, memory_format, out), requires_grad)
    return leaf(invoke(empty_memory_format_op, size, dtype, layout, device, pin_memory, memory_format), requires_grad)


def empty_like(
    input=None,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    memory_format=None,
    requires_grad=False,
    **numpy_names,
):
    if numpy_names:
        return call_by_name([empty_like_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(empty_like_op, input, dtype, layout, device, pin_memory, memory_format)
    return leaf(empty_like_op.table[key_set](input, dtype, layout, device, pin_memory, memory_format), requires_grad)


def empty_strided(size, stride, *, dtype=None, layout=None, device=None, pin_memory=None, requires_grad=False):
    if dtype is not None:
        dtype = as_dtype(dtype)
    return leaf(invoke(empty_strided_op, size, stride, dtype, layout, device, pin_memory), requires_grad)


def eye(*args, **kwargs):
    requires_grad = kwargs.pop("requires_grad", False)
    if (out := kwargs.pop("out", None)) is not None:
        kwargs = check_out_options(out, kwargs)
    return leaf(
        resolve(
            (
                eye_op,
                eye_m_op,
                eye_out_op,
                eye_m_out_op,
            ),
            args,
            kwargs,
        ),
        requires_grad,
    )


def full(size, fill_value, *, dtype=None, layout=None, device=None, pin_memory=None, out=None, requires_grad=False):
    if dtype is not None:
        dtype = as_dtype(dtype)
    if fill_value.__class__ not in PLAIN_NUMBERS:
        (fill_value,) = numbers_of("full", fill_value=fill_value)
    if out is not None:
        check_out_options(out, {"dtype": dtype, "device": device})
        return leaf(invoke(full_out_op, size, fill_value, out), requires_grad)
    return leaf(invoke(full_op, size, fill_value, dtype, layout, device, pin_memory), requires_grad)


def full_like(
    input=None,
    fill_value=None,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    memory_format=None,
    requires_grad=False,
    **numpy_names,
):
    if numpy_names or fill_value is None:
        return call_by_name([full_like_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    if fill_value.__class__ not in PLAIN_NUMBERS:
        (fill_value,) = numbers_of("full_like", fill_value=fill_value)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(full_like_op, input, fill_value, dtype, layout, device, pin_memory, memory_format)
    return leaf(
        full_like_op.table[key_set](input, fill_value, dtype, layout, device, pin_memory, memory_format), requires_grad
    )


def scalar_tensor(s, *, dtype=None, layout=None, device=None, pin_memory=None, requires_grad=False):
    if dtype is not None:
        dtype = as_dtype(dtype)
    if s.__class__ not in PLAIN_NUMBERS:
        (s,) = numbers_of("scalar_tensor", s=s)
    return leaf(invoke(scalar_tensor_op, s, dtype, layout, device, pin_memory), requires_grad)


def linspace(*args, **kwargs):
    requires_grad = kwargs.pop("requires_grad", False)
    if (out := kwargs.pop("out", None)) is not None:
        kwargs = check_out_options(out, kwargs)
    return leaf(
        resolve(
            (
                linspace_op,
                linspace_Tensor_Tensor_op,
                linspace_Tensor_Scalar_op,
                linspace_Scalar_Tensor_op,
                linspace_out_op,
                linspace_Tensor_Tensor_out_op,
                linspace_Tensor_Scalar_out_op,
                linspace_Scalar_Tensor_out_op,
            ),
            args,
            kwargs,
        ),
        requires_grad,
    )


def ones(*size, dtype=None, layout=None, device=None, pin_memory=None, out=None, requires_grad=False, **named):
    size = int_list(size, "size", named)
    if dtype is not None:
        dtype = as_dtype(dtype)
    if out is not None:
        check_out_options(out, {"dtype": dtype, "device": device})
        return leaf(invoke(ones_out_op, size, out), requires_grad)
    return leaf(invoke(ones_op, size, dtype, layout, device, pin_memory), requires_grad)


def ones_like(
    input=None,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    memory_format=None,
    requires_grad=False,
    **numpy_names,
):
    if numpy_names:
        return call_by_name([ones_like_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ones_like_op, input, dtype, layout, device, pin_memory, memory_format)
    return leaf(ones_like_op.table[key_set](input, dtype, layout, device, pin_memory, memory_format), requires_grad)


def zeros(*size, dtype=None, layout=None, device=None, pin_memory=None, out=None, requires_grad=False, **named):
    size = int_list(size, "size", named)
    if dtype is not None:
        dtype = as_dtype(dtype)
    if out is not None:
        check_out_options(out, {"dtype": dtype, "device": device})
        return leaf(invoke(zeros_out_op, size, out), requires_grad)
    return leaf(invoke(zeros_op, size, dtype, layout, device, pin_memory), requires_grad)


def zeros_like(
    input=None,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    memory_format=None,
    requires_grad=False,
    **numpy_names,
):
    if numpy_names:
        return call_by_name([zeros_like_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(zeros_like_op, input, dtype, layout, device, pin_memory, memory_format)
    return leaf(zeros_like_op.table[key_set](input, dtype, layout, device, pin_memory, memory_format), requires_grad)


def tril_indices(row, col, offset=0, *, dtype=int64, layout=None, device=None, pin_memory=None, requires_grad=False):
    if dtype is not None:
        dtype = as_dtype(dtype)
    return leaf(invoke(tril_indices_op, row, col, offset, dtype, layout, device, pin_memory), requires_grad)


def triu_indices(row, col, offset=0, *, dtype=int64, layout=None, device=None, pin_memory=None, requires_grad=False):
    if dtype is not None:
        dtype = as_dtype(dtype)
    return leaf(invoke(triu_indices_op, row, col, offset, dtype, layout, device, pin_memory), requires_grad)


def range(*args, **kwargs):
    requires_grad = kwargs.pop("requires_grad", False)
    return leaf(
        resolve(
            (
                range_step_op,
                range_op,
            ),
            args,
            kwargs,
        ),
        requires_grad,
    )


def as_strided_scatter(input=None, src=None, size=None, stride=None, storage_offset=None, **numpy_names):
    if numpy_names or size is None or stride is None:
        return call_by_name([as_strided_scatter_op], locals())
    try:
        key_set = (input._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(as_strided_scatter_op, input, src, size, stride, storage_offset)
    return as_strided_scatter_op.table[key_set](input, src, size, stride, storage_offset)


def copy(input=None, src=None, non_blocking=False, **numpy_names):
    if numpy_names:
        return call_by_name([copy_op], locals())
    try:
        key_set = (input._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(copy_op, input, src, non_blocking)
    return copy_op.table[key_set](input, src, non_blocking)


def diagonal_scatter(input=None, src=None, offset=0, dim1=0, dim2=1, **numpy_names):
    if numpy_names:
        return call_by_name([diagonal_scatter_op], locals())
    try:
        key_set = (input._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(diagonal_scatter_op, input, src, offset, dim1, dim2)
    return diagonal_scatter_op.table[key_set](input, src, offset, dim1, dim2)


def select_scatter(input=None, src=None, dim=None, index=None, **numpy_names):
    if numpy_names or dim is None or index is None:
        return call_by_name([select_scatter_op], locals())
    try:
        key_set = (input._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(select_scatter_op, input, src, dim, index)
    return select_scatter_op.table[key_set](input, src, dim, index)


def slice_scatter(input=None, src=None, dim=0, start=None, end=None, step=1, **numpy_names):
    if numpy_names:
        return call_by_name([slice_scatter_op], locals())
    try:
        key_set = (input._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(slice_scatter_op, input, src, dim, start, end, step)
    return slice_scatter_op.table[key_set](input, src, dim, start, end, step)


def zero(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([zero_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(zero_op, input)
    return zero_op.table[key_set](input)


def fill(*args, **kwargs):
    return resolve(
        (
            fill_Tensor_op,
            fill_Scalar_op,
        ),
        args,
        kwargs,
    )


def fill_(*args, **kwargs):
    return resolve(
        (
            fill__Tensor_op,
            fill__Scalar_op,
        ),
        args,
        kwargs,
    )


def resize_as_(input=None, the_template=None, *, memory_format=None, **numpy_names):
    if numpy_names:
        return call_by_name([resize_as__op], locals())
    try:
        key_set = (input._key_set | the_template._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(resize_as__op, input, the_template, memory_format)
    return resize_as__op.table[key_set](input, the_template, memory_format)


def zero_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([zero__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(zero__op, input)
    return zero__op.table[key_set](input)


def abs(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([abs_op, abs_out_op], locals())
    if out is not None:
        return invoke(abs_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(abs_op, input)
    return abs_op.table[key_set](input)


def abs_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([abs__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(abs__op, input)
    return abs__op.table[key_set](input)


def add(input=None, other=None, *, alpha=1, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([add_Tensor_op, add_out_op], locals())
    if alpha.__class__ not in PLAIN_NUMBERS:
        (alpha,) = numbers_of("add", alpha=alpha)
    if out is not None:
        return invoke(add_out_op, input, other, alpha, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(add_Tensor_op, input, other, alpha)
    return add_Tensor_op.table[key_set](input, other, alpha)


def addcdiv(input=None, tensor1=None, tensor2=None, *, value=1, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([addcdiv_op, addcdiv_out_op], locals())
    if value.__class__ not in PLAIN_NUMBERS:
        (value,) = numbers_of("addcdiv", value=value)
    if out is not None:
        return invoke(addcdiv_out_op, input, tensor1, tensor2, value, out)
    try:
        key_set = (input._key_set | tensor1._key_set | tensor2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addcdiv_op, input, tensor1, tensor2, value)
    return addcdiv_op.table[key_set](input, tensor1, tensor2, value)


def addcmul(input=None, tensor1=None, tensor2=None, *, value=1, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([addcmul_op, addcmul_out_op], locals())
    if value.__class__ not in PLAIN_NUMBERS:
        (value,) = numbers_of("addcmul", value=value)
    if out is not None:
        return invoke(addcmul_out_op, input, tensor1, tensor2, value, out)
    try:
        key_set = (input._key_set | tensor1._key_set | tensor2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addcmul_op, input, tensor1, tensor2, value)
    return addcmul_op.table[key_set](input, tensor1, tensor2, value)


def allclose(input=None, other=None, rtol=1e-05, atol=1e-08, equal_nan=False, **numpy_names):
    if numpy_names:
        return call_by_name([allclose_op], locals())
    if rtol.__class__ not in PLAIN_NUMBERS or atol.__class__ not in PLAIN_NUMBERS:
        rtol, atol = numbers_of("allclose", rtol=rtol, atol=atol)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(allclose_op, input, other, rtol, atol, equal_nan)
    return allclose_op.table[key_set](input, other, rtol, atol, equal_nan)


def bitwise_and(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([bitwise_and_Tensor_op, bitwise_and_Tensor_out_op], locals())
    if out is not None:
        return invoke(bitwise_and_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_and_Tensor_op, input, other)
    return bitwise_and_Tensor_op.table[key_set](input, other)


def bitwise_left_shift(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([bitwise_left_shift_Tensor_op, bitwise_left_shift_Tensor_out_op], locals())
    if out is not None:
        return invoke(bitwise_left_shift_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_left_shift_Tensor_op, input, other)
    return bitwise_left_shift_Tensor_op.table[key_set](input, other)


def bitwise_not(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([bitwise_not_op, bitwise_not_out_op], locals())
    if out is not None:
        return invoke(bitwise_not_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_not_op, input)
    return bitwise_not_op.table[key_set](input)


def bitwise_or(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([bitwise_or_Tensor_op, bitwise_or_Tensor_out_op], locals())
    if out is not None:
        return invoke(bitwise_or_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_or_Tensor_op, input, other)
    return bitwise_or_Tensor_op.table[key_set](input, other)


def bitwise_right_shift(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([bitwise_right_shift_Tensor_op, bitwise_right_shift_Tensor_out_op], locals())
    if out is not None:
        return invoke(bitwise_right_shift_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_right_shift_Tensor_op, input, other)
    return bitwise_right_shift_Tensor_op.table[key_set](input, other)


def bitwise_xor(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([bitwise_xor_Tensor_op, bitwise_xor_Tensor_out_op], locals())
    if out is not None:
        return invoke(bitwise_xor_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_xor_Tensor_op, input, other)
    return bitwise_xor_Tensor_op.table[key_set](input, other)


def ceil(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([ceil_op, ceil_out_op], locals())
    if out is not None:
        return invoke(ceil_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ceil_op, input)
    return ceil_op.table[key_set](input)


def ceil_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([ceil__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ceil__op, input)
    return ceil__op.table[key_set](input)


def clamp(*args, **kwargs):
    return resolve(
        (
            clamp_Tensor_op,
            clamp_op,
            clamp_Tensor_out_op,
            clamp_out_op,
        ),
        args,
        kwargs,
    )


def clamp_(*args, **kwargs):
    return resolve(
        (
            clamp__Tensor_op,
            clamp__op,
        ),
        args,
        kwargs,
    )


def clamp_max(*args, **kwargs):
    return resolve(
        (
            clamp_max_Tensor_op,
            clamp_max_op,
            clamp_max_Tensor_out_op,
            clamp_max_out_op,
        ),
        args,
        kwargs,
    )


def clamp_max_(*args, **kwargs):
    return resolve(
        (
            clamp_max__Tensor_op,
            clamp_max__op,
        ),
        args,
        kwargs,
    )


def clamp_min(*args, **kwargs):
    return resolve(
        (
            clamp_min_Tensor_op,
            clamp_min_op,
            clamp_min_Tensor_out_op,
            clamp_min_out_op,
        ),
        args,
        kwargs,
    )


def clamp_min_(*args, **kwargs):
    return resolve(
        (
            clamp_min__Tensor_op,
            clamp_min__op,
        ),
        args,
        kwargs,
    )


def cos(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([cos_op, cos_out_op], locals())
    if out is not None:
        return invoke(cos_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cos_op, input)
    return cos_op.table[key_set](input)


def cos_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([cos__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cos__op, input)
    return cos__op.table[key_set](input)


def div(*args, **kwargs):
    return resolve(
        (
            div_Tensor_op,
            div_Tensor_mode_op,
            div_out_op,
            div_out_mode_op,
        ),
        args,
        kwargs,
    )


def elu(input=None, alpha=1, scale=1, input_scale=1, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([elu_op, elu_out_op], locals())
    if (
        alpha.__class__ not in PLAIN_NUMBERS
        or scale.__class__ not in PLAIN_NUMBERS
        or input_scale.__class__ not in PLAIN_NUMBERS
    ):
        alpha, scale, input_scale = numbers_of("elu", alpha=alpha, scale=scale, input_scale=input_scale)
    if out is not None:
        return invoke(elu_out_op, input, alpha, scale, input_scale, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(elu_op, input, alpha, scale, input_scale)
    return elu_op.table[key_set](input, alpha, scale, input_scale)


def elu_(input=None, alpha=1, scale=1, input_scale=1, **numpy_names):
    if numpy_names:
        return call_by_name([elu__op], locals())
    if (
        alpha.__class__ not in PLAIN_NUMBERS
        or scale.__class__ not in PLAIN_NUMBERS
        or input_scale.__class__ not in PLAIN_NUMBERS
    ):
        alpha, scale, input_scale = numbers_of("elu_", alpha=alpha, scale=scale, input_scale=input_scale)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(elu__op, input, alpha, scale, input_scale)
    return elu__op.table[key_set](input, alpha, scale, input_scale)


def eq(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([eq_Tensor_op, eq_Tensor_out_op], locals())
    if out is not None:
        return invoke(eq_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(eq_Tensor_op, input, other)
    return eq_Tensor_op.table[key_set](input, other)


def is_nonzero(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([is_nonzero_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(is_nonzero_op, input)
    return is_nonzero_op.table[key_set](input)


def is_same_size(input=None, other=None, **numpy_names):
    if numpy_names:
        return call_by_name([is_same_size_op], locals())
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(is_same_size_op, input, other)
    return is_same_size_op.table[key_set](input, other)


def is_signed(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([is_signed_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(is_signed_op, input)
    return is_signed_op.table[key_set](input)


def equal(input=None, other=None, **numpy_names):
    if numpy_names:
        return call_by_name([equal_op], locals())
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(equal_op, input, other)
    return equal_op.table[key_set](input, other)


def erf(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([erf_op, erf_out_op], locals())
    if out is not None:
        return invoke(erf_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(erf_op, input)
    return erf_op.table[key_set](input)


def erf_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([erf__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(erf__op, input)
    return erf__op.table[key_set](input)


def exp(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([exp_op, exp_out_op], locals())
    if out is not None:
        return invoke(exp_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(exp_op, input)
    return exp_op.table[key_set](input)


def exp_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([exp__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(exp__op, input)
    return exp__op.table[key_set](input)


def exp2(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([exp2_op, exp2_out_op], locals())
    if out is not None:
        return invoke(exp2_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(exp2_op, input)
    return exp2_op.table[key_set](input)


def exp2_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([exp2__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(exp2__op, input)
    return exp2__op.table[key_set](input)


def expm1(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([expm1_op, expm1_out_op], locals())
    if out is not None:
        return invoke(expm1_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(expm1_op, input)
    return expm1_op.table[key_set](input)


def expm1_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([expm1__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(expm1__op, input)
    return expm1__op.table[key_set](input)


def floor(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([floor_op, floor_out_op], locals())
    if out is not None:
        return invoke(floor_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(floor_op, input)
    return floor_op.table[key_set](input)


def floor_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([floor__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(floor__op, input)
    return floor__op.table[key_set](input)


def floor_divide(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([floor_divide_op, floor_divide_out_op], locals())
    if out is not None:
        return invoke(floor_divide_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(floor_divide_op, input, other)
    return floor_divide_op.table[key_set](input, other)


def fmod(*args, **kwargs):
    return resolve(
        (
            fmod_Tensor_op,
            fmod_Scalar_op,
            fmod_Tensor_out_op,
            fmod_Scalar_out_op,
        ),
        args,
        kwargs,
    )


def ge(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([ge_Tensor_op, ge_Tensor_out_op], locals())
    if out is not None:
        return invoke(ge_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ge_Tensor_op, input, other)
    return ge_Tensor_op.table[key_set](input, other)


def gelu(input=None, *, approximate="none", out=None, **numpy_names):
    if numpy_names:
        return call_by_name([gelu_op, gelu_out_op], locals())
    if out is not None:
        return invoke(gelu_out_op, input, approximate, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(gelu_op, input, approximate)
    return gelu_op.table[key_set](input, approximate)


def gelu_(input=None, *, approximate="none", **numpy_names):
    if numpy_names:
        return call_by_name([gelu__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(gelu__op, input, approximate)
    return gelu__op.table[key_set](input, approximate)


def gt(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([gt_Tensor_op, gt_Tensor_out_op], locals())
    if out is not None:
        return invoke(gt_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(gt_Tensor_op, input, other)
    return gt_Tensor_op.table[key_set](input, other)


def hardtanh(input=None, min_val=-1, max_val=1, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([hardtanh_op, hardtanh_out_op], locals())
    if min_val.__class__ not in PLAIN_NUMBERS or max_val.__class__ not in PLAIN_NUMBERS:
        min_val, max_val = numbers_of("hardtanh", min_val=min_val, max_val=max_val)
    if out is not None:
        return invoke(hardtanh_out_op, input, min_val, max_val, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(hardtanh_op, input, min_val, max_val)
    return hardtanh_op.table[key_set](input, min_val, max_val)


def hardtanh_(input=None, min_val=-1, max_val=1, **numpy_names):
    if numpy_names:
        return call_by_name([hardtanh__op], locals())
    if min_val.__class__ not in PLAIN_NUMBERS or max_val.__class__ not in PLAIN_NUMBERS:
        min_val, max_val = numbers_of("hardtanh_", min_val=min_val, max_val=max_val)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(hardtanh__op, input, min_val, max_val)
    return hardtanh__op.table[key_set](input, min_val, max_val)


def isclose(input=None, other=None, rtol=1e-05, atol=1e-08, equal_nan=False, **numpy_names):
    if numpy_names:
        return call_by_name([isclose_op], locals())
    if rtol.__class__ not in PLAIN_NUMBERS or atol.__class__ not in PLAIN_NUMBERS:
        rtol, atol = numbers_of("isclose", rtol=rtol, atol=atol)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(isclose_op, input, other, rtol, atol, equal_nan)
    return isclose_op.table[key_set](input, other, rtol, atol, equal_nan)


def isfinite(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([isfinite_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(isfinite_op, input)
    return isfinite_op.table[key_set](input)


def isinf(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([isinf_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(isinf_op, input)
    return isinf_op.table[key_set](input)


def isnan(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([isnan_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(isnan_op, input)
    return isnan_op.table[key_set](input)


def le(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([le_Tensor_op, le_Tensor_out_op], locals())
    if out is not None:
        return invoke(le_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(le_Tensor_op, input, other)
    return le_Tensor_op.table[key_set](input, other)


def leaky_relu(input=None, negative_slope=0.01, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([leaky_relu_op, leaky_relu_out_op], locals())
    if negative_slope.__class__ not in PLAIN_NUMBERS:
        (negative_slope,) = numbers_of("leaky_relu", negative_slope=negative_slope)
    if out is not None:
        return invoke(leaky_relu_out_op, input, negative_slope, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(leaky_relu_op, input, negative_slope)
    return leaky_relu_op.table[key_set](input, negative_slope)


def leaky_relu_(input=None, negative_slope=0.01, **numpy_names):
    if numpy_names:
        return call_by_name([leaky_relu__op], locals())
    if negative_slope.__class__ not in PLAIN_NUMBERS:
        (negative_slope,) = numbers_of("leaky_relu_", negative_slope=negative_slope)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(leaky_relu__op, input, negative_slope)
    return leaky_relu__op.table[key_set](input, negative_slope)


def lerp(*args, **kwargs):
    return resolve(
        (
            lerp_Tensor_op,
            lerp_Scalar_op,
            lerp_Tensor_out_op,
            lerp_Scalar_out_op,
        ),
        args,
        kwargs,
    )


def log(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([log_op, log_out_op], locals())
    if out is not None:
        return invoke(log_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log_op, input)
    return log_op.table[key_set](input)


def log_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([log__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log__op, input)
    return log__op.table[key_set](input)


def log10(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([log10_op, log10_out_op], locals())
    if out is not None:
        return invoke(log10_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log10_op, input)
    return log10_op.table[key_set](input)


def log10_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([log10__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log10__op, input)
    return log10__op.table[key_set](input)


def log1p(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([log1p_op, log1p_out_op], locals())
    if out is not None:
        return invoke(log1p_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log1p_op, input)
    return log1p_op.table[key_set](input)


def log1p_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([log1p__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log1p__op, input)
    return log1p__op.table[key_set](input)


def log2(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([log2_op, log2_out_op], locals())
    if out is not None:
        return invoke(log2_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log2_op, input)
    return log2_op.table[key_set](input)


def log2_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([log2__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log2__op, input)
    return log2__op.table[key_set](input)


def logical_and(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([logical_and_op, logical_and_out_op], locals())
    if out is not None:
        return invoke(logical_and_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logical_and_op, input, other)
    return logical_and_op.table[key_set](input, other)


def logical_not(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([logical_not_op, logical_not_out_op], locals())
    if out is not None:
        return invoke(logical_not_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logical_not_op, input)
    return logical_not_op.table[key_set](input)


def logical_or(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([logical_or_op, logical_or_out_op], locals())
    if out is not None:
        return invoke(logical_or_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logical_or_op, input, other)
    return logical_or_op.table[key_set](input, other)


def logical_xor(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([logical_xor_op, logical_xor_out_op], locals())
    if out is not None:
        return invoke(logical_xor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logical_xor_op, input, other)
    return logical_xor_op.table[key_set](input, other)


def lt(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([lt_Tensor_op, lt_Tensor_out_op], locals())
    if out is not None:
        return invoke(lt_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(lt_Tensor_op, input, other)
    return lt_Tensor_op.table[key_set](input, other)


def maximum(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([maximum_op, maximum_out_op], locals())
    if out is not None:
        return invoke(maximum_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(maximum_op, input, other)
    return maximum_op.table[key_set](input, other)


def minimum(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([minimum_op, minimum_out_op], locals())
    if out is not None:
        return invoke(minimum_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(minimum_op, input, other)
    return minimum_op.table[key_set](input, other)


def mul(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([mul_Tensor_op, mul_out_op], locals())
    if out is not None:
        return invoke(mul_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mul_Tensor_op, input, other)
    return mul_Tensor_op.table[key_set](input, other)


def ne(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([ne_Tensor_op, ne_Tensor_out_op], locals())
    if out is not None:
        return invoke(ne_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ne_Tensor_op, input, other)
    return ne_Tensor_op.table[key_set](input, other)


def neg(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([neg_op, neg_out_op], locals())
    if out is not None:
        return invoke(neg_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(neg_op, input)
    return neg_op.table[key_set](input)


def neg_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([neg__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(neg__op, input)
    return neg__op.table[key_set](input)


def positive(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([positive_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(positive_op, input)
    return positive_op.table[key_set](input)


def pow(*args, **kwargs):
    return resolve(
        (
            pow_Tensor_Tensor_op,
            pow_Tensor_Scalar_op,
            pow_Scalar_op,
            pow_Tensor_Tensor_out_op,
            pow_Tensor_Scalar_out_op,
            pow_Scalar_out_op,
        ),
        args,
        kwargs,
    )


def reciprocal(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([reciprocal_op, reciprocal_out_op], locals())
    if out is not None:
        return invoke(reciprocal_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reciprocal_op, input)
    return reciprocal_op.table[key_set](input)


def reciprocal_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([reciprocal__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reciprocal__op, input)
    return reciprocal__op.table[key_set](input)


def relu(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([relu_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(relu_op, input)
    return relu_op.table[key_set](input)


def relu_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([relu__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(relu__op, input)
    return relu__op.table[key_set](input)


def remainder(*args, **kwargs):
    return resolve(
        (
            remainder_Tensor_op,
            remainder_Scalar_op,
            remainder_Tensor_out_op,
            remainder_Scalar_out_op,
        ),
        args,
        kwargs,
    )


def round(*args, **kwargs):
    return resolve(
        (
            round_op,
            round_decimals_op,
            round_out_op,
            round_decimals_out_op,
        ),
        args,
        kwargs,
    )


def round_(*args, **kwargs):
    return resolve(
        (
            round__op,
            round__decimals_op,
        ),
        args,
        kwargs,
    )


def rsqrt(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([rsqrt_op, rsqrt_out_op], locals())
    if out is not None:
        return invoke(rsqrt_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rsqrt_op, input)
    return rsqrt_op.table[key_set](input)


def rsqrt_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([rsqrt__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rsqrt__op, input)
    return rsqrt__op.table[key_set](input)


def rsub(*args, **kwargs):
    return resolve(
        (
            rsub_Tensor_op,
            rsub_Scalar_op,
        ),
        args,
        kwargs,
    )


def sgn(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([sgn_op, sgn_out_op], locals())
    if out is not None:
        return invoke(sgn_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sgn_op, input)
    return sgn_op.table[key_set](input)


def sigmoid(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([sigmoid_op, sigmoid_out_op], locals())
    if out is not None:
        return invoke(sigmoid_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sigmoid_op, input)
    return sigmoid_op.table[key_set](input)


def sigmoid_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([sigmoid__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sigmoid__op, input)
    return sigmoid__op.table[key_set](input)


def sign(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([sign_op, sign_out_op], locals())
    if out is not None:
        return invoke(sign_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sign_op, input)
    return sign_op.table[key_set](input)


def silu(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([silu_op, silu_out_op], locals())
    if out is not None:
        return invoke(silu_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(silu_op, input)
    return silu_op.table[key_set](input)


def silu_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([silu__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(silu__op, input)
    return silu__op.table[key_set](input)


def sin(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([sin_op, sin_out_op], locals())
    if out is not None:
        return invoke(sin_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sin_op, input)
    return sin_op.table[key_set](input)


def sin_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([sin__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sin__op, input)
    return sin__op.table[key_set](input)


def softplus(input=None, beta=1, threshold=20, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([softplus_op, softplus_out_op], locals())
    if beta.__class__ not in PLAIN_NUMBERS or threshold.__class__ not in PLAIN_NUMBERS:
        beta, threshold = numbers_of("softplus", beta=beta, threshold=threshold)
    if out is not None:
        return invoke(softplus_out_op, input, beta, threshold, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(softplus_op, input, beta, threshold)
    return softplus_op.table[key_set](input, beta, threshold)


def sqrt(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([sqrt_op, sqrt_out_op], locals())
    if out is not None:
        return invoke(sqrt_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sqrt_op, input)
    return sqrt_op.table[key_set](input)


def sqrt_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([sqrt__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sqrt__op, input)
    return sqrt__op.table[key_set](input)


def square(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([square_op, square_out_op], locals())
    if out is not None:
        return invoke(square_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(square_op, input)
    return square_op.table[key_set](input)


def square_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([square__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(square__op, input)
    return square__op.table[key_set](input)


def sub(input=None, other=None, *, alpha=1, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([sub_Tensor_op, sub_out_op], locals())
    if alpha.__class__ not in PLAIN_NUMBERS:
        (alpha,) = numbers_of("sub", alpha=alpha)
    if out is not None:
        return invoke(sub_out_op, input, other, alpha, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sub_Tensor_op, input, other, alpha)
    return sub_Tensor_op.table[key_set](input, other, alpha)


def tan(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([tan_op, tan_out_op], locals())
    if out is not None:
        return invoke(tan_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(tan_op, input)
    return tan_op.table[key_set](input)


def tan_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([tan__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(tan__op, input)
    return tan__op.table[key_set](input)


def tanh(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([tanh_op, tanh_out_op], locals())
    if out is not None:
        return invoke(tanh_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(tanh_op, input)
    return tanh_op.table[key_set](input)


def tanh_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([tanh__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(tanh__op, input)
    return tanh__op.table[key_set](input)


def threshold(input=None, threshold=None, value=None, *, out=None, **numpy_names):
    if numpy_names or threshold is None or value is None:
        return call_by_name([threshold_op, threshold_out_op], locals())
    if threshold.__class__ not in PLAIN_NUMBERS or value.__class__ not in PLAIN_NUMBERS:
        threshold, value = numbers_of("threshold", threshold=threshold, value=value)
    if out is not None:
        return invoke(threshold_out_op, input, threshold, value, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(threshold_op, input, threshold, value)
    return threshold_op.table[key_set](input, threshold, value)


def threshold_(input=None, threshold=None, value=None, **numpy_names):
    if numpy_names or threshold is None or value is None:
        return call_by_name([threshold__op], locals())
    if threshold.__class__ not in PLAIN_NUMBERS or value.__class__ not in PLAIN_NUMBERS:
        threshold, value = numbers_of("threshold_", threshold=threshold, value=value)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(threshold__op, input, threshold, value)
    return threshold__op.table[key_set](input, threshold, value)


def trunc(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([trunc_op, trunc_out_op], locals())
    if out is not None:
        return invoke(trunc_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(trunc_op, input)
    return trunc_op.table[key_set](input)


def trunc_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([trunc__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(trunc__op, input)
    return trunc__op.table[key_set](input)


def where(*args, **kwargs):
    return resolve(
        (
            where_self_op,
            where_op,
            where_self_out_op,
        ),
        args,
        kwargs,
    )


def xlogy(*args, **kwargs):
    return resolve(
        (
            xlogy_Tensor_op,
            xlogy_Scalar_Other_op,
            xlogy_Scalar_Self_op,
            xlogy_OutTensor_op,
        ),
        args,
        kwargs,
    )


def xlogy_(*args, **kwargs):
    return resolve(
        (
            xlogy__Tensor_op,
            xlogy__Scalar_Other_op,
        ),
        args,
        kwargs,
    )


def acos(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([acos_op, acos_out_op], locals())
    if out is not None:
        return invoke(acos_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(acos_op, input)
    return acos_op.table[key_set](input)


def acos_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([acos__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(acos__op, input)
    return acos__op.table[key_set](input)


def acosh(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([acosh_op, acosh_out_op], locals())
    if out is not None:
        return invoke(acosh_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(acosh_op, input)
    return acosh_op.table[key_set](input)


def acosh_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([acosh__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(acosh__op, input)
    return acosh__op.table[key_set](input)


def asin(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([asin_op, asin_out_op], locals())
    if out is not None:
        return invoke(asin_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(asin_op, input)
    return asin_op.table[key_set](input)


def asin_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([asin__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(asin__op, input)
    return asin__op.table[key_set](input)


def asinh(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([asinh_op, asinh_out_op], locals())
    if out is not None:
        return invoke(asinh_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(asinh_op, input)
    return asinh_op.table[key_set](input)


def asinh_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([asinh__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(asinh__op, input)
    return asinh__op.table[key_set](input)


def atan(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([atan_op, atan_out_op], locals())
    if out is not None:
        return invoke(atan_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(atan_op, input)
    return atan_op.table[key_set](input)


def atan_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([atan__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(atan__op, input)
    return atan__op.table[key_set](input)


def atanh(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([atanh_op, atanh_out_op], locals())
    if out is not None:
        return invoke(atanh_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(atanh_op, input)
    return atanh_op.table[key_set](input)


def atanh_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([atanh__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(atanh__op, input)
    return atanh__op.table[key_set](input)


def cosh(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([cosh_op, cosh_out_op], locals())
    if out is not None:
        return invoke(cosh_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cosh_op, input)
    return cosh_op.table[key_set](input)


def cosh_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([cosh__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cosh__op, input)
    return cosh__op.table[key_set](input)


def sinh(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([sinh_op, sinh_out_op], locals())
    if out is not None:
        return invoke(sinh_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sinh_op, input)
    return sinh_op.table[key_set](input)


def sinh_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([sinh__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sinh__op, input)
    return sinh__op.table[key_set](input)


def erfc(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([erfc_op, erfc_out_op], locals())
    if out is not None:
        return invoke(erfc_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(erfc_op, input)
    return erfc_op.table[key_set](input)


def erfc_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([erfc__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(erfc__op, input)
    return erfc__op.table[key_set](input)


def sinc(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([sinc_op, sinc_out_op], locals())
    if out is not None:
        return invoke(sinc_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sinc_op, input)
    return sinc_op.table[key_set](input)


def sinc_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([sinc__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sinc__op, input)
    return sinc__op.table[key_set](input)


def lgamma(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([lgamma_op, lgamma_out_op], locals())
    if out is not None:
        return invoke(lgamma_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(lgamma_op, input)
    return lgamma_op.table[key_set](input)


def digamma(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([digamma_op, digamma_out_op], locals())
    if out is not None:
        return invoke(digamma_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(digamma_op, input)
    return digamma_op.table[key_set](input)


def erfinv(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([erfinv_op, erfinv_out_op], locals())
    if out is not None:
        return invoke(erfinv_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(erfinv_op, input)
    return erfinv_op.table[key_set](input)


def frac(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([frac_op, frac_out_op], locals())
    if out is not None:
        return invoke(frac_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(frac_op, input)
    return frac_op.table[key_set](input)


def frac_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([frac__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(frac__op, input)
    return frac__op.table[key_set](input)


def atan2(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([atan2_op, atan2_out_op], locals())
    if out is not None:
        return invoke(atan2_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(atan2_op, input, other)
    return atan2_op.table[key_set](input, other)


def hypot(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([hypot_op, hypot_out_op], locals())
    if out is not None:
        return invoke(hypot_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(hypot_op, input, other)
    return hypot_op.table[key_set](input, other)


def copysign(*args, **kwargs):
    return resolve(
        (
            copysign_Tensor_op,
            copysign_Scalar_op,
            copysign_Scalar_out_op,
            copysign_out_op,
        ),
        args,
        kwargs,
    )


def logaddexp(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([logaddexp_op, logaddexp_out_op], locals())
    if out is not None:
        return invoke(logaddexp_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logaddexp_op, input, other)
    return logaddexp_op.table[key_set](input, other)


def logaddexp2(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([logaddexp2_op, logaddexp2_out_op], locals())
    if out is not None:
        return invoke(logaddexp2_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logaddexp2_op, input, other)
    return logaddexp2_op.table[key_set](input, other)


def fmax(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([fmax_op, fmax_out_op], locals())
    if out is not None:
        return invoke(fmax_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(fmax_op, input, other)
    return fmax_op.table[key_set](input, other)


def fmin(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([fmin_op, fmin_out_op], locals())
    if out is not None:
        return invoke(fmin_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(fmin_op, input, other)
    return fmin_op.table[key_set](input, other)


def gcd(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([gcd_op, gcd_out_op], locals())
    if out is not None:
        return invoke(gcd_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(gcd_op, input, other)
    return gcd_op.table[key_set](input, other)


def gcd_(input=None, other=None, **numpy_names):
    if numpy_names:
        return call_by_name([gcd__op], locals())
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(gcd__op, input, other)
    return gcd__op.table[key_set](input, other)


def lcm(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([lcm_op, lcm_out_op], locals())
    if out is not None:
        return invoke(lcm_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(lcm_op, input, other)
    return lcm_op.table[key_set](input, other)


def lcm_(input=None, other=None, **numpy_names):
    if numpy_names:
        return call_by_name([lcm__op], locals())
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(lcm__op, input, other)
    return lcm__op.table[key_set](input, other)


def heaviside(input=None, values=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([heaviside_op, heaviside_out_op], locals())
    if out is not None:
        return invoke(heaviside_out_op, input, values, out)
    try:
        key_set = (input._key_set | values._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(heaviside_op, input, values)
    return heaviside_op.table[key_set](input, values)


def signbit(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([signbit_op, signbit_out_op], locals())
    if out is not None:
        return invoke(signbit_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(signbit_op, input)
    return signbit_op.table[key_set](input)


def isposinf(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([isposinf_op, isposinf_out_op], locals())
    if out is not None:
        return invoke(isposinf_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(isposinf_op, input)
    return isposinf_op.table[key_set](input)


def isneginf(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([isneginf_op, isneginf_out_op], locals())
    if out is not None:
        return invoke(isneginf_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(isneginf_op, input)
    return isneginf_op.table[key_set](input)


def nan_to_num(input=None, nan=None, posinf=None, neginf=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([nan_to_num_op, nan_to_num_out_op], locals())
    if (
        nan.__class__ not in PLAIN_NUMBERS
        or posinf.__class__ not in PLAIN_NUMBERS
        or neginf.__class__ not in PLAIN_NUMBERS
    ):
        nan, posinf, neginf = numbers_of("nan_to_num", nan=nan, posinf=posinf, neginf=neginf)
    if out is not None:
        return invoke(nan_to_num_out_op, input, nan, posinf, neginf, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(nan_to_num_op, input, nan, posinf, neginf)
    return nan_to_num_op.table[key_set](input, nan, posinf, neginf)


def nan_to_num_(input=None, nan=None, posinf=None, neginf=None, **numpy_names):
    if numpy_names:
        return call_by_name([nan_to_num__op], locals())
    if (
        nan.__class__ not in PLAIN_NUMBERS
        or posinf.__class__ not in PLAIN_NUMBERS
        or neginf.__class__ not in PLAIN_NUMBERS
    ):
        nan, posinf, neginf = numbers_of("nan_to_num_", nan=nan, posinf=posinf, neginf=neginf)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(nan_to_num__op, input, nan, posinf, neginf)
    return nan_to_num__op.table[key_set](input, nan, posinf, neginf)


def logit(input=None, eps=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([logit_op, logit_out_op], locals())
    if eps.__class__ not in PLAIN_NUMBERS:
        (eps,) = numbers_of("logit", eps=eps)
    if out is not None:
        return invoke(logit_out_op, input, eps, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logit_op, input, eps)
    return logit_op.table[key_set](input, eps)


def logit_(input=None, eps=None, **numpy_names):
    if numpy_names:
        return call_by_name([logit__op], locals())
    if eps.__class__ not in PLAIN_NUMBERS:
        (eps,) = numbers_of("logit_", eps=eps)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logit__op, input, eps)
    return logit__op.table[key_set](input, eps)


def polygamma(n=None, input=None, *, out=None, **numpy_names):
    if numpy_names or n is None:
        return call_by_name([polygamma_op, polygamma_out_op], locals())
    if out is not None:
        return invoke(polygamma_out_op, n, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(polygamma_op, n, input)
    return polygamma_op.table[key_set](n, input)


def deg2rad(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([deg2rad_op, deg2rad_out_op], locals())
    if out is not None:
        return invoke(deg2rad_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(deg2rad_op, input)
    return deg2rad_op.table[key_set](input)


def deg2rad_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([deg2rad__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(deg2rad__op, input)
    return deg2rad__op.table[key_set](input)


def rad2deg(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([rad2deg_op, rad2deg_out_op], locals())
    if out is not None:
        return invoke(rad2deg_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rad2deg_op, input)
    return rad2deg_op.table[key_set](input)


def rad2deg_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([rad2deg__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rad2deg__op, input)
    return rad2deg__op.table[key_set](input)


def float_power(*args, **kwargs):
    return resolve(
        (
            float_power_Tensor_Tensor_op,
            float_power_Tensor_Scalar_op,
            float_power_Scalar_op,
        ),
        args,
        kwargs,
    )


def ldexp(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([ldexp_Tensor_op, ldexp_out_op], locals())
    if out is not None:
        return invoke(ldexp_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ldexp_Tensor_op, input, other)
    return ldexp_Tensor_op.table[key_set](input, other)


def ldexp_(input=None, other=None, **numpy_names):
    if numpy_names:
        return call_by_name([ldexp__op], locals())
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ldexp__op, input, other)
    return ldexp__op.table[key_set](input, other)


def true_divide(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([true_divide_Tensor_op, true_divide_out_op], locals())
    if out is not None:
        return invoke(true_divide_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(true_divide_Tensor_op, input, other)
    return true_divide_Tensor_op.table[key_set](input, other)


def isreal(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([isreal_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(isreal_op, input)
    return isreal_op.table[key_set](input)


def real(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([real_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(real_op, input)
    return real_op.table[key_set](input)


def conj(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([conj_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(conj_op, input)
    return conj_op.table[key_set](input)


def resolve_conj(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([resolve_conj_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(resolve_conj_op, input)
    return resolve_conj_op.table[key_set](input)


def resolve_neg(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([resolve_neg_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(resolve_neg_op, input)
    return resolve_neg_op.table[key_set](input)


def conj_physical(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([conj_physical_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(conj_physical_op, input)
    return conj_physical_op.table[key_set](input)


def mvlgamma(input=None, p=None, **numpy_names):
    if numpy_names or p is None:
        return call_by_name([mvlgamma_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mvlgamma_op, input, p)
    return mvlgamma_op.table[key_set](input, p)


def celu(input=None, alpha=1.0, **numpy_names):
    if numpy_names:
        return call_by_name([celu_op], locals())
    if alpha.__class__ not in PLAIN_NUMBERS:
        (alpha,) = numbers_of("celu", alpha=alpha)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(celu_op, input, alpha)
    return celu_op.table[key_set](input, alpha)


def celu_(input=None, alpha=1.0, **numpy_names):
    if numpy_names:
        return call_by_name([celu__op], locals())
    if alpha.__class__ not in PLAIN_NUMBERS:
        (alpha,) = numbers_of("celu_", alpha=alpha)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(celu__op, input, alpha)
    return celu__op.table[key_set](input, alpha)


def selu(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([selu_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(selu_op, input)
    return selu_op.table[key_set](input)


def selu_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([selu__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(selu__op, input)
    return selu__op.table[key_set](input)


def hardsigmoid(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([hardsigmoid_op, hardsigmoid_out_op], locals())
    if out is not None:
        return invoke(hardsigmoid_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(hardsigmoid_op, input)
    return hardsigmoid_op.table[key_set](input)


def hardsigmoid_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([hardsigmoid__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(hardsigmoid__op, input)
    return hardsigmoid__op.table[key_set](input)


def hardswish(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([hardswish_op, hardswish_out_op], locals())
    if out is not None:
        return invoke(hardswish_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(hardswish_op, input)
    return hardswish_op.table[key_set](input)


def hardswish_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([hardswish__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(hardswish__op, input)
    return hardswish__op.table[key_set](input)


def mish(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([mish_op, mish_out_op], locals())
    if out is not None:
        return invoke(mish_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mish_op, input)
    return mish_op.table[key_set](input)


def mish_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([mish__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mish__op, input)
    return mish__op.table[key_set](input)


def hardshrink(input=None, lambd=0.5, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([hardshrink_op, hardshrink_out_op], locals())
    if lambd.__class__ not in PLAIN_NUMBERS:
        (lambd,) = numbers_of("hardshrink", lambd=lambd)
    if out is not None:
        return invoke(hardshrink_out_op, input, lambd, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(hardshrink_op, input, lambd)
    return hardshrink_op.table[key_set](input, lambd)


def softshrink(input=None, lambd=0.5, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([softshrink_op, softshrink_out_op], locals())
    if lambd.__class__ not in PLAIN_NUMBERS:
        (lambd,) = numbers_of("softshrink", lambd=lambd)
    if out is not None:
        return invoke(softshrink_out_op, input, lambd, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(softshrink_op, input, lambd)
    return softshrink_op.table[key_set](input, lambd)


def log_sigmoid_forward(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([log_sigmoid_forward_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log_sigmoid_forward_op, input)
    return log_sigmoid_forward_op.table[key_set](input)


def log_sigmoid(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([log_sigmoid_op, log_sigmoid_out_op], locals())
    if out is not None:
        return invoke(log_sigmoid_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log_sigmoid_op, input)
    return log_sigmoid_op.table[key_set](input)


def glu(input=None, dim=-1, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([glu_op, glu_out_op], locals())
    if out is not None:
        return invoke(glu_out_op, input, dim, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(glu_op, input, dim)
    return glu_op.table[key_set](input, dim)


def _prelu_kernel(input=None, weight=None, **numpy_names):
    if numpy_names:
        return call_by_name([_prelu_kernel_op], locals())
    try:
        key_set = (input._key_set | weight._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_prelu_kernel_op, input, weight)
    return _prelu_kernel_op.table[key_set](input, weight)


def prelu(input=None, weight=None, **numpy_names):
    if numpy_names:
        return call_by_name([prelu_op], locals())
    try:
        key_set = (input._key_set | weight._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(prelu_op, input, weight)
    return prelu_op.table[key_set](input, weight)


def rrelu_with_noise(
    input=None, noise=None, lower=0.125, upper=0.3333333333333333, training=False, generator=None, **numpy_names
):
    if numpy_names:
        return call_by_name([rrelu_with_noise_op], locals())
    if lower.__class__ not in PLAIN_NUMBERS or upper.__class__ not in PLAIN_NUMBERS:
        lower, upper = numbers_of("rrelu_with_noise", lower=lower, upper=upper)
    try:
        key_set = (input._key_set | noise._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rrelu_with_noise_op, input, noise, lower, upper, training, generator)
    return rrelu_with_noise_op.table[key_set](input, noise, lower, upper, training, generator)


def rrelu_with_noise_(
    input=None, noise=None, lower=0.125, upper=0.3333333333333333, training=False, generator=None, **numpy_names
):
    if numpy_names:
        return call_by_name([rrelu_with_noise__op], locals())
    if lower.__class__ not in PLAIN_NUMBERS or upper.__class__ not in PLAIN_NUMBERS:
        lower, upper = numbers_of("rrelu_with_noise_", lower=lower, upper=upper)
    try:
        key_set = (input._key_set | noise._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rrelu_with_noise__op, input, noise, lower, upper, training, generator)
    return rrelu_with_noise__op.table[key_set](input, noise, lower, upper, training, generator)


def rrelu_with_noise_backward(
    grad_output=None, input=None, noise=None, lower=None, upper=None, training=None, self_is_result=None, **numpy_names
):
    if numpy_names or lower is None or upper is None or training is None or self_is_result is None:
        return call_by_name([rrelu_with_noise_backward_op], locals())
    try:
        key_set = (grad_output._key_set | input._key_set | noise._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rrelu_with_noise_backward_op, grad_output, input, noise, lower, upper, training, self_is_result)
    return rrelu_with_noise_backward_op.table[key_set](
        grad_output, input, noise, lower, upper, training, self_is_result
    )


def rrelu(input=None, lower=0.125, upper=0.3333333333333333, training=False, generator=None, **numpy_names):
    if numpy_names:
        return call_by_name([rrelu_op], locals())
    if lower.__class__ not in PLAIN_NUMBERS or upper.__class__ not in PLAIN_NUMBERS:
        lower, upper = numbers_of("rrelu", lower=lower, upper=upper)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rrelu_op, input, lower, upper, training, generator)
    return rrelu_op.table[key_set](input, lower, upper, training, generator)


def rrelu_(input=None, lower=0.125, upper=0.3333333333333333, training=False, generator=None, **numpy_names):
    if numpy_names:
        return call_by_name([rrelu__op], locals())
    if lower.__class__ not in PLAIN_NUMBERS or upper.__class__ not in PLAIN_NUMBERS:
        lower, upper = numbers_of("rrelu_", lower=lower, upper=upper)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rrelu__op, input, lower, upper, training, generator)
    return rrelu__op.table[key_set](input, lower, upper, training, generator)


def cat(tensors=None, dim=0, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([cat_op, cat_out_op], locals())
    if out is not None:
        return invoke(cat_out_op, tensors, dim, out)
    return invoke(cat_op, tensors, dim)


def embedding(weight, indices, padding_idx=-1, scale_grad_by_freq=False, sparse=False):
    try:
        key_set = (weight._key_set | indices._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(embedding_op, weight, indices, padding_idx, scale_grad_by_freq, sparse)
    return embedding_op.table[key_set](weight, indices, padding_idx, scale_grad_by_freq, sparse)


def embedding_renorm_(input=None, indices=None, max_norm=None, norm_type=None, **numpy_names):
    if numpy_names or max_norm is None or norm_type is None:
        return call_by_name([embedding_renorm__op], locals())
    if max_norm.__class__ not in PLAIN_NUMBERS or norm_type.__class__ not in PLAIN_NUMBERS:
        max_norm, norm_type = numbers_of("embedding_renorm_", max_norm=max_norm, norm_type=norm_type)
    try:
        key_set = (input._key_set | indices._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(embedding_renorm__op, input, indices, max_norm, norm_type)
    return embedding_renorm__op.table[key_set](input, indices, max_norm, norm_type)


def flip(input=None, dims=None, **numpy_names):
    if numpy_names or dims is None:
        return call_by_name([flip_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(flip_op, input, dims)
    return flip_op.table[key_set](input, dims)


def gather(input=None, dim=None, index=None, *, sparse_grad=False, out=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([gather_op, gather_out_op], locals())
    if out is not None:
        return invoke(gather_out_op, input, dim, index, sparse_grad, out)
    try:
        key_set = (input._key_set | index._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(gather_op, input, dim, index, sparse_grad)
    return gather_op.table[key_set](input, dim, index, sparse_grad)


def index(input=None, indices=None, **numpy_names):
    if numpy_names:
        return call_by_name([index_Tensor_op], locals())
    return invoke(index_Tensor_op, input, indices)


def index_add(input=None, dim=None, index=None, source=None, *, alpha=1, out=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([index_add_op, index_add_out_op], locals())
    if alpha.__class__ not in PLAIN_NUMBERS:
        (alpha,) = numbers_of("index_add", alpha=alpha)
    if out is not None:
        return invoke(index_add_out_op, input, dim, index, source, alpha, out)
    try:
        key_set = (input._key_set | index._key_set | source._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(index_add_op, input, dim, index, source, alpha)
    return index_add_op.table[key_set](input, dim, index, source, alpha)


def index_put(input=None, indices=None, values=None, accumulate=False, **numpy_names):
    if numpy_names:
        return call_by_name([index_put_op], locals())
    return invoke(index_put_op, input, indices, values, accumulate)


def index_put_(input=None, indices=None, values=None, accumulate=False, **numpy_names):
    if numpy_names:
        return call_by_name([index_put__op], locals())
    return invoke(index_put__op, input, indices, values, accumulate)


def _index_put_impl_(input=None, indices=None, values=None, accumulate=False, unsafe=False, **numpy_names):
    if numpy_names:
        return call_by_name([_index_put_impl__op], locals())
    return invoke(_index_put_impl__op, input, indices, values, accumulate, unsafe)


def index_select(input=None, dim=None, index=None, *, out=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([index_select_op, index_select_out_op], locals())
    if out is not None:
        return invoke(index_select_out_op, input, dim, index, out)
    try:
        key_set = (input._key_set | index._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(index_select_op, input, dim, index)
    return index_select_op.table[key_set](input, dim, index)


def masked_fill(*args, **kwargs):
    return resolve(
        (
            masked_fill_Tensor_op,
            masked_fill_Scalar_op,
        ),
        args,
        kwargs,
    )


def one_hot(input=None, num_classes=-1, **numpy_names):
    if numpy_names:
        return call_by_name([one_hot_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(one_hot_op, input, num_classes)
    return one_hot_op.table[key_set](input, num_classes)


def roll(input=None, shifts=None, dims=(), **numpy_names):
    if numpy_names or shifts is None:
        return call_by_name([roll_op], locals())
    if shifts.__class__ is not tuple:
        shifts = (shifts,) if shifts.__class__ is int else as_int_list(shifts)
    if dims.__class__ is not tuple:
        dims = (dims,) if dims.__class__ is int else as_int_list(dims)
    dims = () if dims is None else dims
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(roll_op, input, shifts, dims)
    return roll_op.table[key_set](input, shifts, dims)


def scatter(*args, **kwargs):
    return resolve(
        (
            scatter_src_op,
            scatter_value_op,
            scatter_reduce_op,
            scatter_value_reduce_op,
            scatter_src_out_op,
            scatter_value_out_op,
            scatter_reduce_out_op,
            scatter_value_reduce_out_op,
        ),
        args,
        kwargs,
    )


def scatter_add(input=None, dim=None, index=None, src=None, *, out=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([scatter_add_op, scatter_add_out_op], locals())
    if out is not None:
        return invoke(scatter_add_out_op, input, dim, index, src, out)
    try:
        key_set = (input._key_set | index._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(scatter_add_op, input, dim, index, src)
    return scatter_add_op.table[key_set](input, dim, index, src)


def stack(tensors=None, dim=0, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([stack_op, stack_out_op], locals())
    if out is not None:
        return invoke(stack_out_op, tensors, dim, out)
    return invoke(stack_op, tensors, dim)


def tile(input=None, dims=None, **numpy_names):
    if numpy_names or dims is None:
        return call_by_name([tile_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(tile_op, input, dims)
    return tile_op.table[key_set](input, dims)


def tril(input=None, diagonal=0, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([tril_op, tril_out_op], locals())
    if out is not None:
        return invoke(tril_out_op, input, diagonal, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(tril_op, input, diagonal)
    return tril_op.table[key_set](input, diagonal)


def triu(input=None, diagonal=0, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([triu_op, triu_out_op], locals())
    if out is not None:
        return invoke(triu_out_op, input, diagonal, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(triu_op, input, diagonal)
    return triu_op.table[key_set](input, diagonal)


def _log_softmax(input=None, dim=None, half_to_float=None, *, out=None, **numpy_names):
    if numpy_names or dim is None or half_to_float is None:
        return call_by_name([_log_softmax_op, _log_softmax_out_op], locals())
    if out is not None:
        return invoke(_log_softmax_out_op, input, dim, half_to_float, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_log_softmax_op, input, dim, half_to_float)
    return _log_softmax_op.table[key_set](input, dim, half_to_float)


def _softmax(input=None, dim=None, half_to_float=None, *, out=None, **numpy_names):
    if numpy_names or dim is None or half_to_float is None:
        return call_by_name([_softmax_op, _softmax_out_op], locals())
    if out is not None:
        return invoke(_softmax_out_op, input, dim, half_to_float, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_softmax_op, input, dim, half_to_float)
    return _softmax_op.table[key_set](input, dim, half_to_float)


def all(*args, **kwargs):
    return resolve(
        (
            all_dim_op,
            all_dims_op,
            all_op,
            all_out_op,
            all_dims_out_op,
            all_all_out_op,
        ),
        args,
        kwargs,
    )


def amax(input=None, dim=(), keepdim=False, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([amax_op, amax_out_op], locals())
    if dim.__class__ is not tuple:
        dim = (dim,) if dim.__class__ is int else as_int_list(dim)
    dim = () if dim is None else dim
    if out is not None:
        return invoke(amax_out_op, input, dim, keepdim, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(amax_op, input, dim, keepdim)
    return amax_op.table[key_set](input, dim, keepdim)


def amin(input=None, dim=(), keepdim=False, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([amin_op, amin_out_op], locals())
    if dim.__class__ is not tuple:
        dim = (dim,) if dim.__class__ is int else as_int_list(dim)
    dim = () if dim is None else dim
    if out is not None:
        return invoke(amin_out_op, input, dim, keepdim, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(amin_op, input, dim, keepdim)
    return amin_op.table[key_set](input, dim, keepdim)


def any(*args, **kwargs):
    return resolve(
        (
            any_dim_op,
            any_dims_op,
            any_op,
            any_out_op,
            any_dims_out_op,
            any_all_out_op,
        ),
        args,
        kwargs,
    )


def argmax(input=None, dim=None, keepdim=False, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([argmax_op, argmax_out_op], locals())
    if out is not None:
        return invoke(argmax_out_op, input, dim, keepdim, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(argmax_op, input, dim, keepdim)
    return argmax_op.table[key_set](input, dim, keepdim)


def argmin(input=None, dim=None, keepdim=False, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([argmin_op, argmin_out_op], locals())
    if out is not None:
        return invoke(argmin_out_op, input, dim, keepdim, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(argmin_op, input, dim, keepdim)
    return argmin_op.table[key_set](input, dim, keepdim)


def cumsum(input=None, dim=None, *, dtype=None, out=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([cumsum_op, cumsum_out_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    if out is not None:
        return invoke(cumsum_out_op, input, dim, dtype, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cumsum_op, input, dim, dtype)
    return cumsum_op.table[key_set](input, dim, dtype)


def log_softmax(input=None, dim=None, dtype=None, *, out=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([log_softmax_int_op, log_softmax_int_out_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    if out is not None:
        return invoke(log_softmax_int_out_op, input, dim, dtype, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log_softmax_int_op, input, dim, dtype)
    return log_softmax_int_op.table[key_set](input, dim, dtype)


def logcumsumexp(input=None, dim=None, *, out=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([logcumsumexp_op, logcumsumexp_out_op], locals())
    if out is not None:
        return invoke(logcumsumexp_out_op, input, dim, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logcumsumexp_op, input, dim)
    return logcumsumexp_op.table[key_set](input, dim)


def logsumexp(input=None, dim=None, keepdim=False, *, out=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([logsumexp_op, logsumexp_out_op], locals())
    if dim.__class__ is not tuple:
        dim = (dim,) if dim.__class__ is int else as_int_list(dim)
    if out is not None:
        return invoke(logsumexp_out_op, input, dim, keepdim, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logsumexp_op, input, dim, keepdim)
    return logsumexp_op.table[key_set](input, dim, keepdim)


def max(*args, **kwargs):
    kwargs = unpack_out(kwargs, ("max", "max_values"))
    return return_types.named(
        return_types.max_out if "max" in kwargs else return_types.max,
        resolve(
            (
                max_op,
                max_other_op,
                max_dim_op,
                max_unary_out_op,
                max_out_op,
                max_dim_max_op,
            ),
            args,
            kwargs,
        ),
    )


def mean(*args, **kwargs):
    return resolve(
        (
            mean_op,
            mean_dim_op,
            mean_out_op,
            mean_dtype_out_op,
        ),
        args,
        kwargs,
    )


def min(*args, **kwargs):
    kwargs = unpack_out(kwargs, ("min", "min_indices"))
    return return_types.named(
        return_types.min_out if "min" in kwargs else return_types.min,
        resolve(
            (
                min_op,
                min_other_op,
                min_dim_op,
                min_unary_out_op,
                min_out_op,
                min_dim_min_op,
            ),
            args,
            kwargs,
        ),
    )


def prod(*args, **kwargs):
    return resolve(
        (
            prod_op,
            prod_dim_int_op,
            prod_int_out_op,
            prod_out_op,
        ),
        args,
        kwargs,
    )


def softmax(input=None, dim=None, dtype=None, *, out=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([softmax_int_op, softmax_int_out_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    if out is not None:
        return invoke(softmax_int_out_op, input, dim, dtype, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(softmax_int_op, input, dim, dtype)
    return softmax_int_op.table[key_set](input, dim, dtype)


def std(*args, **kwargs):
    return resolve(
        (
            std_op,
            std_dim_op,
            std_correction_op,
            std_out_op,
            std_correction_out_op,
        ),
        args,
        kwargs,
    )


def std_mean(*args, **kwargs):
    return resolve(
        (
            std_mean_op,
            std_mean_dim_op,
            std_mean_correction_op,
        ),
        args,
        kwargs,
    )


def var_mean(*args, **kwargs):
    return resolve(
        (
            var_mean_op,
            var_mean_dim_op,
            var_mean_correction_op,
        ),
        args,
        kwargs,
    )


def sum(*args, **kwargs):
    return resolve(
        (
            sum_op,
            sum_dim_IntList_op,
            sum_IntList_out_op,
            sum_out_op,
        ),
        args,
        kwargs,
    )


def var(*args, **kwargs):
    return resolve(
        (
            var_op,
            var_dim_op,
            var_correction_op,
            var_out_op,
            var_correction_out_op,
        ),
        args,
        kwargs,
    )


def bincount(input=None, weights=None, minlength=0, **numpy_names):
    if numpy_names:
        return call_by_name([bincount_op], locals())
    try:
        key_set = (input._key_set | (0 if weights is None else weights._key_set) | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bincount_op, input, weights, minlength)
    return bincount_op.table[key_set](input, weights, minlength)


def histc(input=None, bins=100, min=0, max=0, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([histc_op, histc_out_op], locals())
    if min.__class__ not in PLAIN_NUMBERS or max.__class__ not in PLAIN_NUMBERS:
        min, max = numbers_of("histc", min=min, max=max)
    if out is not None:
        return invoke(histc_out_op, input, bins, min, max, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(histc_op, input, bins, min, max)
    return histc_op.table[key_set](input, bins, min, max)


def histogram(*args, **kwargs):
    return return_types.named(
        return_types.histogram,
        resolve(
            (
                histogram_bin_ct_op,
                histogram_bins_tensor_op,
            ),
            args,
            kwargs,
        ),
    )


def cumprod(input=None, dim=None, *, dtype=None, out=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([cumprod_op, cumprod_out_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    if out is not None:
        return invoke(cumprod_out_op, input, dim, dtype, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cumprod_op, input, dim, dtype)
    return cumprod_op.table[key_set](input, dim, dtype)


def _local_scalar_dense(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([_local_scalar_dense_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_local_scalar_dense_op, input)
    return _local_scalar_dense_op.table[key_set](input)


def cummax(*args, **kwargs):
    kwargs = unpack_out(kwargs, ("values", "indices"))
    return return_types.named(
        return_types.cummax_out if "values" in kwargs else return_types.cummax,
        resolve(
            (
                cummax_op,
                cummax_out_op,
            ),
            args,
            kwargs,
        ),
    )


def cummin(*args, **kwargs):
    kwargs = unpack_out(kwargs, ("values", "indices"))
    return return_types.named(
        return_types.cummin_out if "values" in kwargs else return_types.cummin,
        resolve(
            (
                cummin_op,
                cummin_out_op,
            ),
            args,
            kwargs,
        ),
    )


def kthvalue(*args, **kwargs):
    kwargs = unpack_out(kwargs, ("values", "indices"))
    return return_types.named(
        return_types.kthvalue_out if "values" in kwargs else return_types.kthvalue,
        resolve(
            (
                kthvalue_op,
                kthvalue_values_op,
            ),
            args,
            kwargs,
        ),
    )


def mode(*args, **kwargs):
    kwargs = unpack_out(kwargs, ("values", "indices"))
    return return_types.named(
        return_types.mode_out if "values" in kwargs else return_types.mode,
        resolve(
            (
                mode_op,
                mode_values_op,
            ),
            args,
            kwargs,
        ),
    )


def nansum(input=None, dim=None, keepdim=False, *, dtype=None, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([nansum_op, nansum_out_op], locals())
    if dim.__class__ is not tuple:
        dim = (dim,) if dim.__class__ is int else as_int_list(dim)
    if dtype is not None:
        dtype = as_dtype(dtype)
    if out is not None:
        return invoke(nansum_out_op, input, dim, keepdim, dtype, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(nansum_op, input, dim, keepdim, dtype)
    return nansum_op.table[key_set](input, dim, keepdim, dtype)


def nanmean(input=None, dim=None, keepdim=False, *, dtype=None, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([nanmean_op, nanmean_out_op], locals())
    if dim.__class__ is not tuple:
        dim = (dim,) if dim.__class__ is int else as_int_list(dim)
    if dtype is not None:
        dtype = as_dtype(dtype)
    if out is not None:
        return invoke(nanmean_out_op, input, dim, keepdim, dtype, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(nanmean_op, input, dim, keepdim, dtype)
    return nanmean_op.table[key_set](input, dim, keepdim, dtype)


def count_nonzero(*args, **kwargs):
    return resolve(
        (
            count_nonzero_op,
            count_nonzero_dim_IntList_op,
        ),
        args,
        kwargs,
    )


def aminmax(*args, **kwargs):
    kwargs = unpack_out(kwargs, ("min", "max"))
    return return_types.named(
        return_types.aminmax_out if "min" in kwargs else return_types.aminmax,
        resolve(
            (
                aminmax_op,
                aminmax_out_op,
            ),
            args,
            kwargs,
        ),
    )


def trapezoid(*args, **kwargs):
    return resolve(
        (
            trapezoid_x_op,
            trapezoid_dx_op,
        ),
        args,
        kwargs,
    )


def trapz(*args, **kwargs):
    return resolve(
        (
            trapz_x_op,
            trapz_dx_op,
        ),
        args,
        kwargs,
    )


def diff(input=None, n=1, dim=-1, prepend=None, append=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([diff_op, diff_out_op], locals())
    if out is not None:
        return invoke(diff_out_op, input, n, dim, prepend, append, out)
    try:
        key_set = (
            input._key_set
            | (0 if prepend is None else prepend._key_set)
            | (0 if append is None else append._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(diff_op, input, n, dim, prepend, append)
    return diff_op.table[key_set](input, n, dim, prepend, append)


def searchsorted(*args, **kwargs):
    return resolve(
        (
            searchsorted_Tensor_op,
            searchsorted_Scalar_op,
        ),
        args,
        kwargs,
    )


def bucketize(*args, **kwargs):
    return resolve(
        (
            bucketize_Tensor_op,
            bucketize_Scalar_op,
            bucketize_Tensor_out_op,
        ),
        args,
        kwargs,
    )


def msort(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([msort_op, msort_out_op], locals())
    if out is not None:
        return invoke(msort_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(msort_op, input)
    return msort_op.table[key_set](input)


def isin(*args, **kwargs):
    return resolve(
        (
            isin_Tensor_Tensor_op,
            isin_Tensor_Scalar_op,
        ),
        args,
        kwargs,
    )


def atleast_1d(*args, **kwargs):
    return resolve(
        (
            atleast_1d_op,
            atleast_1d_Sequence_op,
        ),
        args,
        kwargs,
    )


def atleast_2d(*args, **kwargs):
    return resolve(
        (
            atleast_2d_op,
            atleast_2d_Sequence_op,
        ),
        args,
        kwargs,
    )


def atleast_3d(*args, **kwargs):
    return resolve(
        (
            atleast_3d_op,
            atleast_3d_Sequence_op,
        ),
        args,
        kwargs,
    )


def column_stack(tensors, *, out=None):
    if out is not None:
        return invoke(column_stack_out_op, tensors, out)
    return invoke(column_stack_op, tensors)


def dstack(tensors, *, out=None):
    if out is not None:
        return invoke(dstack_out_op, tensors, out)
    return invoke(dstack_op, tensors)


def hstack(tensors, *, out=None):
    if out is not None:
        return invoke(hstack_out_op, tensors, out)
    return invoke(hstack_op, tensors)


def meshgrid(*args, **kwargs):
    return resolve(
        (
            meshgrid_op,
            meshgrid_indexing_op,
        ),
        args,
        kwargs,
    )


def repeat_interleave(*args, **kwargs):
    return resolve(
        (
            repeat_interleave_Tensor_op,
            repeat_interleave_self_Tensor_op,
            repeat_interleave_self_int_op,
        ),
        args,
        kwargs,
    )


def vstack(tensors, *, out=None):
    if out is not None:
        return invoke(vstack_out_op, tensors, out)
    return invoke(vstack_op, tensors)


def pixel_shuffle(input=None, upscale_factor=None, *, out=None, **numpy_names):
    if numpy_names or upscale_factor is None:
        return call_by_name([pixel_shuffle_op, pixel_shuffle_out_op], locals())
    if out is not None:
        return invoke(pixel_shuffle_out_op, input, upscale_factor, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(pixel_shuffle_op, input, upscale_factor)
    return pixel_shuffle_op.table[key_set](input, upscale_factor)


def pixel_unshuffle(input=None, downscale_factor=None, *, out=None, **numpy_names):
    if numpy_names or downscale_factor is None:
        return call_by_name([pixel_unshuffle_op, pixel_unshuffle_out_op], locals())
    if out is not None:
        return invoke(pixel_unshuffle_out_op, input, downscale_factor, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(pixel_unshuffle_op, input, downscale_factor)
    return pixel_unshuffle_op.table[key_set](input, downscale_factor)


def channel_shuffle(input=None, groups=None, **numpy_names):
    if numpy_names or groups is None:
        return call_by_name([channel_shuffle_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(channel_shuffle_op, input, groups)
    return channel_shuffle_op.table[key_set](input, groups)


def native_channel_shuffle(input=None, groups=None, **numpy_names):
    if numpy_names or groups is None:
        return call_by_name([native_channel_shuffle_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(native_channel_shuffle_op, input, groups)
    return native_channel_shuffle_op.table[key_set](input, groups)


def bilinear(input1, input2, weight, bias=None):
    try:
        key_set = (
            input1._key_set
            | input2._key_set
            | weight._key_set
            | (0 if bias is None else bias._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(bilinear_op, input1, input2, weight, bias)
    return bilinear_op.table[key_set](input1, input2, weight, bias)


def diag_embed(input=None, offset=0, dim1=-2, dim2=-1, **numpy_names):
    if numpy_names:
        return call_by_name([diag_embed_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(diag_embed_op, input, offset, dim1, dim2)
    return diag_embed_op.table[key_set](input, offset, dim1, dim2)


def diag(input=None, diagonal=0, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([diag_op, diag_out_op], locals())
    if out is not None:
        return invoke(diag_out_op, input, diagonal, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(diag_op, input, diagonal)
    return diag_op.table[key_set](input, diagonal)


def diagflat(input=None, offset=0, **numpy_names):
    if numpy_names:
        return call_by_name([diagflat_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(diagflat_op, input, offset)
    return diagflat_op.table[key_set](input, offset)


def fliplr(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([fliplr_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(fliplr_op, input)
    return fliplr_op.table[key_set](input)


def flipud(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([flipud_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(flipud_op, input)
    return flipud_op.table[key_set](input)


def rot90(input=None, k=1, dims=(0, 1), **numpy_names):
    if numpy_names:
        return call_by_name([rot90_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rot90_op, input, k, dims)
    return rot90_op.table[key_set](input, k, dims)


def ravel(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([ravel_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ravel_op, input)
    return ravel_op.table[key_set](input)


def argwhere(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([argwhere_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(argwhere_op, input)
    return argwhere_op.table[key_set](input)


def take_along_dim(input=None, indices=None, dim=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([take_along_dim_op, take_along_dim_out_op], locals())
    if out is not None:
        return invoke(take_along_dim_out_op, input, indices, dim, out)
    try:
        key_set = (input._key_set | indices._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(take_along_dim_op, input, indices, dim)
    return take_along_dim_op.table[key_set](input, indices, dim)


def put(input=None, index=None, source=None, accumulate=False, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([put_op, put_out_op], locals())
    if out is not None:
        return invoke(put_out_op, input, index, source, accumulate, out)
    try:
        key_set = (input._key_set | index._key_set | source._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(put_op, input, index, source, accumulate)
    return put_op.table[key_set](input, index, source, accumulate)


def index_reduce(
    input=None, dim=None, index=None, source=None, reduce=None, *, include_self=True, out=None, **numpy_names
):
    if numpy_names or dim is None or reduce is None:
        return call_by_name([index_reduce_op, index_reduce_out_op], locals())
    if out is not None:
        return invoke(index_reduce_out_op, input, dim, index, source, reduce, include_self, out)
    try:
        key_set = (input._key_set | index._key_set | source._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(index_reduce_op, input, dim, index, source, reduce, include_self)
    return index_reduce_op.table[key_set](input, dim, index, source, reduce, include_self)


def take(input=None, index=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([take_op, take_out_op], locals())
    if out is not None:
        return invoke(take_out_op, input, index, out)
    try:
        key_set = (input._key_set | index._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(take_op, input, index)
    return take_op.table[key_set](input, index)


def tensor_split(*args, **kwargs):
    return resolve(
        (
            tensor_split_tensor_indices_or_sections_op,
            tensor_split_sections_op,
            tensor_split_indices_op,
        ),
        args,
        kwargs,
    )


def hsplit(*args, **kwargs):
    return resolve(
        (
            hsplit_int_op,
            hsplit_array_op,
        ),
        args,
        kwargs,
    )


def vsplit(*args, **kwargs):
    return resolve(
        (
            vsplit_int_op,
            vsplit_array_op,
        ),
        args,
        kwargs,
    )


def dsplit(*args, **kwargs):
    return resolve(
        (
            dsplit_int_op,
            dsplit_array_op,
        ),
        args,
        kwargs,
    )


def vander(x, N=None, increasing=False):
    try:
        key_set = (x._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(vander_op, x, N, increasing)
    return vander_op.table[key_set](x, N, increasing)


def index_copy(input=None, dim=None, index=None, source=None, *, out=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([index_copy_op, index_copy_out_op], locals())
    if out is not None:
        return invoke(index_copy_out_op, input, dim, index, source, out)
    try:
        key_set = (input._key_set | index._key_set | source._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(index_copy_op, input, dim, index, source)
    return index_copy_op.table[key_set](input, dim, index, source)


def index_fill(*args, **kwargs):
    return resolve(
        (
            index_fill_int_Tensor_op,
            index_fill_int_Scalar_op,
        ),
        args,
        kwargs,
    )


def masked_scatter(input=None, mask=None, source=None, **numpy_names):
    if numpy_names:
        return call_by_name([masked_scatter_op], locals())
    try:
        key_set = (input._key_set | mask._key_set | source._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(masked_scatter_op, input, mask, source)
    return masked_scatter_op.table[key_set](input, mask, source)


def masked_scatter_backward(grad_output, mask, sizes):
    try:
        key_set = (grad_output._key_set | mask._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(masked_scatter_backward_op, grad_output, mask, sizes)
    return masked_scatter_backward_op.table[key_set](grad_output, mask, sizes)


def masked_select(input=None, mask=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([masked_select_op, masked_select_out_op], locals())
    if out is not None:
        return invoke(masked_select_out_op, input, mask, out)
    try:
        key_set = (input._key_set | mask._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(masked_select_op, input, mask)
    return masked_select_op.table[key_set](input, mask)


def masked_select_backward(grad=None, input=None, mask=None, **numpy_names):
    if numpy_names:
        return call_by_name([masked_select_backward_op], locals())
    try:
        key_set = (grad._key_set | input._key_set | mask._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(masked_select_backward_op, grad, input, mask)
    return masked_select_backward_op.table[key_set](grad, input, mask)


def nonzero(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([nonzero_op, nonzero_out_op], locals())
    if out is not None:
        return invoke(nonzero_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(nonzero_op, input)
    return nonzero_op.table[key_set](input)


def nonzero_numpy(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([nonzero_numpy_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(nonzero_numpy_op, input)
    return nonzero_numpy_op.table[key_set](input)


def scatter_reduce(
    input=None, dim=None, index=None, src=None, reduce=None, *, include_self=True, out=None, **numpy_names
):
    if numpy_names or dim is None or reduce is None:
        return call_by_name([scatter_reduce_two_op, scatter_reduce_two_out_op], locals())
    if out is not None:
        return invoke(scatter_reduce_two_out_op, input, dim, index, src, reduce, include_self, out)
    try:
        key_set = (input._key_set | index._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(scatter_reduce_two_op, input, dim, index, src, reduce, include_self)
    return scatter_reduce_two_op.table[key_set](input, dim, index, src, reduce, include_self)


def linalg_matrix_norm(*args, **kwargs):
    return resolve(
        (
            linalg_matrix_norm_op,
            linalg_matrix_norm_str_ord_op,
            linalg_matrix_norm_out_op,
            linalg_matrix_norm_str_ord_out_op,
        ),
        args,
        kwargs,
    )


def _linalg_svd(A, full_matrices=False, compute_uv=True, *, driver=None):
    try:
        key_set = (A._key_set | local.included) & ~local.excluded
    except AttributeError:
        return return_types.named(
            return_types._linalg_svd, invoke(_linalg_svd_op, A, full_matrices, compute_uv, driver)
        )
    return return_types.named(
        return_types._linalg_svd, _linalg_svd_op.table[key_set](A, full_matrices, compute_uv, driver)
    )


def linalg_inv_ex(A, *, check_errors=False):
    try:
        key_set = (A._key_set | local.included) & ~local.excluded
    except AttributeError:
        return return_types.named(return_types.linalg_inv_ex, invoke(linalg_inv_ex_op, A, check_errors))
    return return_types.named(return_types.linalg_inv_ex, linalg_inv_ex_op.table[key_set](A, check_errors))


def linalg_inv(A):
    try:
        key_set = (A._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(linalg_inv_op, A)
    return linalg_inv_op.table[key_set](A)


def _linalg_det(A):
    try:
        key_set = (A._key_set | local.included) & ~local.excluded
    except AttributeError:
        return return_types.named(return_types._linalg_det, invoke(_linalg_det_op, A))
    return return_types.named(return_types._linalg_det, _linalg_det_op.table[key_set](A))


def linalg_det(A):
    try:
        key_set = (A._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(linalg_det_op, A)
    return linalg_det_op.table[key_set](A)


def det(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([det_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(det_op, input)
    return det_op.table[key_set](input)


def _linalg_solve_ex(A, B, *, left=True, check_errors=False):
    try:
        key_set = (A._key_set | B._key_set | local.included) & ~local.excluded
    except AttributeError:
        return return_types.named(return_types._linalg_solve_ex, invoke(_linalg_solve_ex_op, A, B, left, check_errors))
    return return_types.named(
        return_types._linalg_solve_ex, _linalg_solve_ex_op.table[key_set](A, B, left, check_errors)
    )


def linalg_solve(A, B, *, left=True):
    try:
        key_set = (A._key_set | B._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(linalg_solve_op, A, B, left)
    return linalg_solve_op.table[key_set](A, B, left)


def linalg_cholesky_ex(input=None, *, upper=False, check_errors=False, **numpy_names):
    if numpy_names:
        return return_types.named(return_types.linalg_cholesky_ex, call_by_name([linalg_cholesky_ex_op], locals()))
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return return_types.named(
            return_types.linalg_cholesky_ex, invoke(linalg_cholesky_ex_op, input, upper, check_errors)
        )
    return return_types.named(
        return_types.linalg_cholesky_ex, linalg_cholesky_ex_op.table[key_set](input, upper, check_errors)
    )


def linalg_cholesky(input=None, *, upper=False, **numpy_names):
    if numpy_names:
        return call_by_name([linalg_cholesky_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(linalg_cholesky_op, input, upper)
    return linalg_cholesky_op.table[key_set](input, upper)


def cov(input=None, *, correction=1, fweights=None, aweights=None, **numpy_names):
    if numpy_names:
        return call_by_name([cov_op], locals())
    try:
        key_set = (
            input._key_set
            | (0 if fweights is None else fweights._key_set)
            | (0 if aweights is None else aweights._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(cov_op, input, correction, fweights, aweights)
    return cov_op.table[key_set](input, correction, fweights, aweights)


def corrcoef(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([corrcoef_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(corrcoef_op, input)
    return corrcoef_op.table[key_set](input)


def inverse(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([inverse_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(inverse_op, input)
    return inverse_op.table[key_set](input)


def linalg_svdvals(A, *, driver=None, out=None):
    if out is not None:
        return invoke(linalg_svdvals_out_op, A, driver, out)
    try:
        key_set = (A._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(linalg_svdvals_op, A, driver)
    return linalg_svdvals_op.table[key_set](A, driver)


def linalg_vector_norm(input=None, ord=2, dim=None, keepdim=False, *, dtype=None, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([linalg_vector_norm_op, linalg_vector_norm_out_op], locals())
    if dim.__class__ is not tuple:
        dim = (dim,) if dim.__class__ is int else as_int_list(dim)
    if dtype is not None:
        dtype = as_dtype(dtype)
    if ord.__class__ not in PLAIN_NUMBERS:
        (ord,) = numbers_of("linalg_vector_norm", ord=ord)
    if out is not None:
        return invoke(linalg_vector_norm_out_op, input, ord, dim, keepdim, dtype, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(linalg_vector_norm_op, input, ord, dim, keepdim, dtype)
    return linalg_vector_norm_op.table[key_set](input, ord, dim, keepdim, dtype)


def argsort(*args, **kwargs):
    return resolve(
        (
            argsort_op,
            argsort_stable_op,
        ),
        args,
        kwargs,
    )


def median(*args, **kwargs):
    kwargs = unpack_out(kwargs, ("values", "indices"))
    return return_types.named(
        return_types.median_out if "values" in kwargs else return_types.median,
        resolve(
            (
                median_op,
                median_dim_op,
                median_dim_values_op,
            ),
            args,
            kwargs,
        ),
    )


def nanmedian(*args, **kwargs):
    kwargs = unpack_out(kwargs, ("values", "indices"))
    return return_types.named(
        return_types.nanmedian_out if "values" in kwargs else return_types.nanmedian,
        resolve(
            (
                nanmedian_op,
                nanmedian_dim_op,
                nanmedian_out_op,
                nanmedian_dim_values_op,
            ),
            args,
            kwargs,
        ),
    )


def quantile(*args, **kwargs):
    return resolve(
        (
            quantile_op,
            quantile_scalar_op,
            quantile_out_op,
            quantile_scalar_out_op,
        ),
        args,
        kwargs,
    )


def nanquantile(*args, **kwargs):
    return resolve(
        (
            nanquantile_op,
            nanquantile_scalar_op,
            nanquantile_out_op,
            nanquantile_scalar_out_op,
        ),
        args,
        kwargs,
    )


def sort(*args, **kwargs):
    kwargs = unpack_out(kwargs, ("values", "indices"))
    kwargs = unpack_out(kwargs, ("values", "indices"))
    return return_types.named(
        return_types.sort_out
        if "values" in kwargs
        else return_types.sort_out
        if "values" in kwargs
        else return_types.sort,
        resolve(
            (
                sort_op,
                sort_stable_op,
                sort_values_op,
                sort_values_stable_op,
            ),
            args,
            kwargs,
        ),
    )


def topk(*args, **kwargs):
    kwargs = unpack_out(kwargs, ("values", "indices"))
    return return_types.named(
        return_types.topk_out if "values" in kwargs else return_types.topk,
        resolve(
            (
                topk_op,
                topk_values_op,
            ),
            args,
            kwargs,
        ),
    )


def unique_consecutive(input=None, return_inverse=False, return_counts=False, dim=None, **numpy_names):
    if numpy_names:
        return call_by_name([unique_consecutive_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unique_consecutive_op, input, return_inverse, return_counts, dim)
    return unique_consecutive_op.table[key_set](input, return_inverse, return_counts, dim)


def unique_dim(input=None, dim=None, sorted=True, return_inverse=False, return_counts=False, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([unique_dim_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unique_dim_op, input, dim, sorted, return_inverse, return_counts)
    return unique_dim_op.table[key_set](input, dim, sorted, return_inverse, return_counts)


def _unique2(input=None, sorted=True, return_inverse=False, return_counts=False, **numpy_names):
    if numpy_names:
        return call_by_name([_unique2_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_unique2_op, input, sorted, return_inverse, return_counts)
    return _unique2_op.table[key_set](input, sorted, return_inverse, return_counts)


def einsum(equation, tensors, *, path=None):
    return invoke(einsum_op, equation, tensors, path)


def addmm(input=None, mat1=None, mat2=None, *, beta=1, alpha=1, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([addmm_op, addmm_out_op], locals())
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("addmm", beta=beta, alpha=alpha)
    if out is not None:
        return invoke(addmm_out_op, input, mat1, mat2, beta, alpha, out)
    try:
        key_set = (input._key_set | mat1._key_set | mat2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addmm_op, input, mat1, mat2, beta, alpha)
    return addmm_op.table[key_set](input, mat1, mat2, beta, alpha)


def baddbmm(input=None, batch1=None, batch2=None, *, beta=1, alpha=1, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([baddbmm_op, baddbmm_out_op], locals())
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("baddbmm", beta=beta, alpha=alpha)
    if out is not None:
        return invoke(baddbmm_out_op, input, batch1, batch2, beta, alpha, out)
    try:
        key_set = (input._key_set | batch1._key_set | batch2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(baddbmm_op, input, batch1, batch2, beta, alpha)
    return baddbmm_op.table[key_set](input, batch1, batch2, beta, alpha)


def addbmm(input=None, batch1=None, batch2=None, *, beta=1, alpha=1, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([addbmm_op, addbmm_out_op], locals())
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("addbmm", beta=beta, alpha=alpha)
    if out is not None:
        return invoke(addbmm_out_op, input, batch1, batch2, beta, alpha, out)
    try:
        key_set = (input._key_set | batch1._key_set | batch2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addbmm_op, input, batch1, batch2, beta, alpha)
    return addbmm_op.table[key_set](input, batch1, batch2, beta, alpha)


def addbmm_(input=None, batch1=None, batch2=None, *, beta=1, alpha=1, **numpy_names):
    if numpy_names:
        return call_by_name([addbmm__op], locals())
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("addbmm_", beta=beta, alpha=alpha)
    try:
        key_set = (input._key_set | batch1._key_set | batch2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addbmm__op, input, batch1, batch2, beta, alpha)
    return addbmm__op.table[key_set](input, batch1, batch2, beta, alpha)


def bmm(input=None, mat2=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([bmm_op, bmm_out_op], locals())
    if out is not None:
        return invoke(bmm_out_op, input, mat2, out)
    try:
        key_set = (input._key_set | mat2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bmm_op, input, mat2)
    return bmm_op.table[key_set](input, mat2)


def dot(input=None, tensor=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([dot_op, dot_out_op], locals())
    if out is not None:
        return invoke(dot_out_op, input, tensor, out)
    try:
        key_set = (input._key_set | tensor._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(dot_op, input, tensor)
    return dot_op.table[key_set](input, tensor)


def linear(input=None, weight=None, bias=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([linear_op, linear_out_op], locals())
    if out is not None:
        return invoke(linear_out_op, input, weight, bias, out)
    try:
        key_set = (
            input._key_set | weight._key_set | (0 if bias is None else bias._key_set) | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(linear_op, input, weight, bias)
    return linear_op.table[key_set](input, weight, bias)


def matmul(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([matmul_op, matmul_out_op], locals())
    if out is not None:
        return invoke(matmul_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(matmul_op, input, other)
    return matmul_op.table[key_set](input, other)


def mm(input=None, mat2=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([mm_op, mm_out_op], locals())
    if out is not None:
        return invoke(mm_out_op, input, mat2, out)
    try:
        key_set = (input._key_set | mat2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mm_op, input, mat2)
    return mm_op.table[key_set](input, mat2)


def mv(input=None, vec=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([mv_op, mv_out_op], locals())
    if out is not None:
        return invoke(mv_out_op, input, vec, out)
    try:
        key_set = (input._key_set | vec._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mv_op, input, vec)
    return mv_op.table[key_set](input, vec)


def outer(input=None, vec2=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([outer_op, outer_out_op], locals())
    if out is not None:
        return invoke(outer_out_op, input, vec2, out)
    try:
        key_set = (input._key_set | vec2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(outer_op, input, vec2)
    return outer_op.table[key_set](input, vec2)


def kron(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([kron_op, kron_out_op], locals())
    if out is not None:
        return invoke(kron_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(kron_op, input, other)
    return kron_op.table[key_set](input, other)


def inner(input=None, other=None, **numpy_names):
    if numpy_names:
        return call_by_name([inner_op], locals())
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(inner_op, input, other)
    return inner_op.table[key_set](input, other)


def tensordot(input=None, other=None, dims_self=None, dims_other=None, *, out=None, **numpy_names):
    if numpy_names or dims_self is None or dims_other is None:
        return call_by_name([tensordot_op, tensordot_out_op], locals())
    if out is not None:
        return invoke(tensordot_out_op, input, other, dims_self, dims_other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(tensordot_op, input, other, dims_self, dims_other)
    return tensordot_op.table[key_set](input, other, dims_self, dims_other)


def dist(input=None, other=None, p=2, **numpy_names):
    if numpy_names:
        return call_by_name([dist_op], locals())
    if p.__class__ not in PLAIN_NUMBERS:
        (p,) = numbers_of("dist", p=p)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(dist_op, input, other, p)
    return dist_op.table[key_set](input, other, p)


def vdot(input=None, other=None, **numpy_names):
    if numpy_names:
        return call_by_name([vdot_op], locals())
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(vdot_op, input, other)
    return vdot_op.table[key_set](input, other)


def addmv(input=None, mat=None, vec=None, *, beta=1, alpha=1, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([addmv_op, addmv_out_op], locals())
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("addmv", beta=beta, alpha=alpha)
    if out is not None:
        return invoke(addmv_out_op, input, mat, vec, beta, alpha, out)
    try:
        key_set = (input._key_set | mat._key_set | vec._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addmv_op, input, mat, vec, beta, alpha)
    return addmv_op.table[key_set](input, mat, vec, beta, alpha)


def addmv_(input=None, mat=None, vec=None, *, beta=1, alpha=1, **numpy_names):
    if numpy_names:
        return call_by_name([addmv__op], locals())
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("addmv_", beta=beta, alpha=alpha)
    try:
        key_set = (input._key_set | mat._key_set | vec._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addmv__op, input, mat, vec, beta, alpha)
    return addmv__op.table[key_set](input, mat, vec, beta, alpha)


def addr(input=None, vec1=None, vec2=None, *, beta=1, alpha=1, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([addr_op, addr_out_op], locals())
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("addr", beta=beta, alpha=alpha)
    if out is not None:
        return invoke(addr_out_op, input, vec1, vec2, beta, alpha, out)
    try:
        key_set = (input._key_set | vec1._key_set | vec2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addr_op, input, vec1, vec2, beta, alpha)
    return addr_op.table[key_set](input, vec1, vec2, beta, alpha)


def addr_(input=None, vec1=None, vec2=None, *, beta=1, alpha=1, **numpy_names):
    if numpy_names:
        return call_by_name([addr__op], locals())
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("addr_", beta=beta, alpha=alpha)
    try:
        key_set = (input._key_set | vec1._key_set | vec2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addr__op, input, vec1, vec2, beta, alpha)
    return addr__op.table[key_set](input, vec1, vec2, beta, alpha)


def renorm(input=None, p=None, dim=None, maxnorm=None, *, out=None, **numpy_names):
    if numpy_names or p is None or dim is None or maxnorm is None:
        return call_by_name([renorm_op, renorm_out_op], locals())
    if p.__class__ not in PLAIN_NUMBERS or maxnorm.__class__ not in PLAIN_NUMBERS:
        p, maxnorm = numbers_of("renorm", p=p, maxnorm=maxnorm)
    if out is not None:
        return invoke(renorm_out_op, input, p, dim, maxnorm, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(renorm_op, input, p, dim, maxnorm)
    return renorm_op.table[key_set](input, p, dim, maxnorm)


def renorm_(input=None, p=None, dim=None, maxnorm=None, **numpy_names):
    if numpy_names or p is None or dim is None or maxnorm is None:
        return call_by_name([renorm__op], locals())
    if p.__class__ not in PLAIN_NUMBERS or maxnorm.__class__ not in PLAIN_NUMBERS:
        p, maxnorm = numbers_of("renorm_", p=p, maxnorm=maxnorm)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(renorm__op, input, p, dim, maxnorm)
    return renorm__op.table[key_set](input, p, dim, maxnorm)


def linalg_cross(input=None, other=None, *, dim=-1, **numpy_names):
    if numpy_names:
        return call_by_name([linalg_cross_op], locals())
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(linalg_cross_op, input, other, dim)
    return linalg_cross_op.table[key_set](input, other, dim)


def cross(input=None, other=None, dim=None, **numpy_names):
    if numpy_names:
        return call_by_name([cross_op], locals())
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cross_op, input, other, dim)
    return cross_op.table[key_set](input, other, dim)


def batch_norm(
    input=None,
    weight=None,
    bias=None,
    running_mean=None,
    running_var=None,
    training=None,
    momentum=None,
    eps=None,
    cudnn_enabled=None,
    **numpy_names,
):
    if numpy_names or training is None or momentum is None or eps is None or cudnn_enabled is None:
        return call_by_name([batch_norm_op], locals())
    if momentum.__class__ not in PLAIN_NUMBERS or eps.__class__ not in PLAIN_NUMBERS:
        momentum, eps = numbers_of("batch_norm", momentum=momentum, eps=eps)
    try:
        key_set = (
            input._key_set
            | (0 if weight is None else weight._key_set)
            | (0 if bias is None else bias._key_set)
            | (0 if running_mean is None else running_mean._key_set)
            | (0 if running_var is None else running_var._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(
            batch_norm_op, input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled
        )
    return batch_norm_op.table[key_set](
        input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn_enabled
    )


def group_norm(input=None, num_groups=None, weight=None, bias=None, eps=1e-05, cudnn_enabled=True, **numpy_names):
    if numpy_names or num_groups is None:
        return call_by_name([group_norm_op], locals())
    if eps.__class__ not in PLAIN_NUMBERS:
        (eps,) = numbers_of("group_norm", eps=eps)
    try:
        key_set = (
            input._key_set
            | (0 if weight is None else weight._key_set)
            | (0 if bias is None else bias._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(group_norm_op, input, num_groups, weight, bias, eps, cudnn_enabled)
    return group_norm_op.table[key_set](input, num_groups, weight, bias, eps, cudnn_enabled)


def layer_norm(input=None, normalized_shape=None, weight=None, bias=None, eps=1e-05, cudnn_enable=True, **numpy_names):
    if numpy_names or normalized_shape is None:
        return call_by_name([layer_norm_op], locals())
    if eps.__class__ not in PLAIN_NUMBERS:
        (eps,) = numbers_of("layer_norm", eps=eps)
    try:
        key_set = (
            input._key_set
            | (0 if weight is None else weight._key_set)
            | (0 if bias is None else bias._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(layer_norm_op, input, normalized_shape, weight, bias, eps, cudnn_enable)
    return layer_norm_op.table[key_set](input, normalized_shape, weight, bias, eps, cudnn_enable)


def native_layer_norm(input=None, normalized_shape=None, weight=None, bias=None, eps=None, **numpy_names):
    if numpy_names or normalized_shape is None or eps is None:
        return call_by_name([native_layer_norm_op], locals())
    if eps.__class__ not in PLAIN_NUMBERS:
        (eps,) = numbers_of("native_layer_norm", eps=eps)
    try:
        key_set = (
            input._key_set
            | (0 if weight is None else weight._key_set)
            | (0 if bias is None else bias._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(native_layer_norm_op, input, normalized_shape, weight, bias, eps)
    return native_layer_norm_op.table[key_set](input, normalized_shape, weight, bias, eps)


def native_layer_norm_backward(
    grad_out=None,
    input=None,
    normalized_shape=None,
    mean=None,
    rstd=None,
    weight=None,
    bias=None,
    output_mask=None,
    **numpy_names,
):
    if numpy_names or normalized_shape is None or output_mask is None:
        return call_by_name([native_layer_norm_backward_op], locals())
    try:
        key_set = (
            grad_out._key_set
            | input._key_set
            | mean._key_set
            | rstd._key_set
            | (0 if weight is None else weight._key_set)
            | (0 if bias is None else bias._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(
            native_layer_norm_backward_op, grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask
        )
    return native_layer_norm_backward_op.table[key_set](
        grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask
    )


def native_batch_norm(
    input=None,
    weight=None,
    bias=None,
    running_mean=None,
    running_var=None,
    training=None,
    momentum=None,
    eps=None,
    **numpy_names,
):
    if numpy_names or training is None or momentum is None or eps is None:
        return call_by_name([native_batch_norm_op], locals())
    if momentum.__class__ not in PLAIN_NUMBERS or eps.__class__ not in PLAIN_NUMBERS:
        momentum, eps = numbers_of("native_batch_norm", momentum=momentum, eps=eps)
    try:
        key_set = (
            input._key_set
            | (0 if weight is None else weight._key_set)
            | (0 if bias is None else bias._key_set)
            | (0 if running_mean is None else running_mean._key_set)
            | (0 if running_var is None else running_var._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(native_batch_norm_op, input, weight, bias, running_mean, running_var, training, momentum, eps)
    return native_batch_norm_op.table[key_set](input, weight, bias, running_mean, running_var, training, momentum, eps)


def native_batch_norm_backward(
    grad_out=None,
    input=None,
    weight=None,
    running_mean=None,
    running_var=None,
    save_mean=None,
    save_invstd=None,
    train=None,
    eps=None,
    output_mask=None,
    **numpy_names,
):
    if numpy_names or train is None or eps is None or output_mask is None:
        return call_by_name([native_batch_norm_backward_op], locals())
    try:
        key_set = (
            grad_out._key_set
            | input._key_set
            | (0 if weight is None else weight._key_set)
            | (0 if running_mean is None else running_mean._key_set)
            | (0 if running_var is None else running_var._key_set)
            | (0 if save_mean is None else save_mean._key_set)
            | (0 if save_invstd is None else save_invstd._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(
            native_batch_norm_backward_op,
            grad_out,
            input,
            weight,
            running_mean,
            running_var,
            save_mean,
            save_invstd,
            train,
            eps,
            output_mask,
        )
    return native_batch_norm_backward_op.table[key_set](
        grad_out, input, weight, running_mean, running_var, save_mean, save_invstd, train, eps, output_mask
    )


def rms_norm(input=None, normalized_shape=None, weight=None, eps=None, **numpy_names):
    if numpy_names or normalized_shape is None:
        return call_by_name([rms_norm_op], locals())
    if eps.__class__ not in PLAIN_NUMBERS:
        (eps,) = numbers_of("rms_norm", eps=eps)
    try:
        key_set = (input._key_set | (0 if weight is None else weight._key_set) | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rms_norm_op, input, normalized_shape, weight, eps)
    return rms_norm_op.table[key_set](input, normalized_shape, weight, eps)


def instance_norm(
    input=None,
    weight=None,
    bias=None,
    running_mean=None,
    running_var=None,
    use_input_stats=None,
    momentum=None,
    eps=None,
    cudnn_enabled=None,
    **numpy_names,
):
    if numpy_names or use_input_stats is None or momentum is None or eps is None or cudnn_enabled is None:
        return call_by_name([instance_norm_op], locals())
    if momentum.__class__ not in PLAIN_NUMBERS or eps.__class__ not in PLAIN_NUMBERS:
        momentum, eps = numbers_of("instance_norm", momentum=momentum, eps=eps)
    try:
        key_set = (
            input._key_set
            | (0 if weight is None else weight._key_set)
            | (0 if bias is None else bias._key_set)
            | (0 if running_mean is None else running_mean._key_set)
            | (0 if running_var is None else running_var._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(
            instance_norm_op,
            input,
            weight,
            bias,
            running_mean,
            running_var,
            use_input_stats,
            momentum,
            eps,
            cudnn_enabled,
        )
    return instance_norm_op.table[key_set](
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn_enabled
    )


def conv1d(*args, **kwargs):
    return resolve(
        (
            conv1d_op,
            conv1d_padding_op,
        ),
        args,
        kwargs,
    )


def conv2d(*args, **kwargs):
    return resolve(
        (
            conv2d_op,
            conv2d_padding_op,
        ),
        args,
        kwargs,
    )


def conv3d(*args, **kwargs):
    return resolve(
        (
            conv3d_op,
            conv3d_padding_op,
        ),
        args,
        kwargs,
    )


def conv_transpose1d(
    input=None,
    weight=None,
    bias=None,
    stride=(1,),
    padding=(0,),
    output_padding=(0,),
    groups=1,
    dilation=(1,),
    **numpy_names,
):
    if numpy_names:
        return call_by_name([conv_transpose1d_op], locals())
    if stride.__class__ is not tuple:
        stride = (stride,) if stride.__class__ is int else as_int_list(stride)
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if output_padding.__class__ is not tuple:
        output_padding = (output_padding,) if output_padding.__class__ is int else as_int_list(output_padding)
    if dilation.__class__ is not tuple:
        dilation = (dilation,) if dilation.__class__ is int else as_int_list(dilation)
    try:
        key_set = (
            input._key_set | weight._key_set | (0 if bias is None else bias._key_set) | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(conv_transpose1d_op, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return conv_transpose1d_op.table[key_set](input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input=None,
    weight=None,
    bias=None,
    stride=(1, 1),
    padding=(0, 0),
    output_padding=(0, 0),
    groups=1,
    dilation=(1, 1),
    **numpy_names,
):
    if numpy_names:
        return call_by_name([conv_transpose2d_input_op], locals())
    if stride.__class__ is not tuple:
        stride = (stride,) if stride.__class__ is int else as_int_list(stride)
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if output_padding.__class__ is not tuple:
        output_padding = (output_padding,) if output_padding.__class__ is int else as_int_list(output_padding)
    if dilation.__class__ is not tuple:
        dilation = (dilation,) if dilation.__class__ is int else as_int_list(dilation)
    try:
        key_set = (
            input._key_set | weight._key_set | (0 if bias is None else bias._key_set) | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(conv_transpose2d_input_op, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return conv_transpose2d_input_op.table[key_set](
        input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def conv_transpose3d(
    input=None,
    weight=None,
    bias=None,
    stride=(1, 1, 1),
    padding=(0, 0, 0),
    output_padding=(0, 0, 0),
    groups=1,
    dilation=(1, 1, 1),
    **numpy_names,
):
    if numpy_names:
        return call_by_name([conv_transpose3d_input_op], locals())
    if stride.__class__ is not tuple:
        stride = (stride,) if stride.__class__ is int else as_int_list(stride)
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if output_padding.__class__ is not tuple:
        output_padding = (output_padding,) if output_padding.__class__ is int else as_int_list(output_padding)
    if dilation.__class__ is not tuple:
        dilation = (dilation,) if dilation.__class__ is int else as_int_list(dilation)
    try:
        key_set = (
            input._key_set | weight._key_set | (0 if bias is None else bias._key_set) | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(conv_transpose3d_input_op, input, weight, bias, stride, padding, output_padding, groups, dilation)
    return conv_transpose3d_input_op.table[key_set](
        input, weight, bias, stride, padding, output_padding, groups, dilation
    )


def convolution(
    input=None,
    weight=None,
    bias=None,
    stride=None,
    padding=None,
    dilation=None,
    transposed=None,
    output_padding=None,
    groups=None,
    **numpy_names,
):
    if (
        numpy_names
        or stride is None
        or padding is None
        or dilation is None
        or transposed is None
        or output_padding is None
        or groups is None
    ):
        return call_by_name([convolution_op], locals())
    try:
        key_set = (
            input._key_set | weight._key_set | (0 if bias is None else bias._key_set) | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(
            convolution_op, input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
        )
    return convolution_op.table[key_set](
        input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
    )


def convolution_backward(
    grad_output=None,
    input=None,
    weight=None,
    bias_sizes=None,
    stride=None,
    padding=None,
    dilation=None,
    transposed=None,
    output_padding=None,
    groups=None,
    output_mask=None,
    **numpy_names,
):
    if (
        numpy_names
        or stride is None
        or padding is None
        or dilation is None
        or transposed is None
        or output_padding is None
        or groups is None
        or output_mask is None
    ):
        return call_by_name([convolution_backward_op], locals())
    try:
        key_set = (grad_output._key_set | input._key_set | weight._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(
            convolution_backward_op,
            grad_output,
            input,
            weight,
            bias_sizes,
            stride,
            padding,
            dilation,
            transposed,
            output_padding,
            groups,
            output_mask,
        )
    return convolution_backward_op.table[key_set](
        grad_output,
        input,
        weight,
        bias_sizes,
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
        output_mask,
    )


def _adaptive_avg_pool2d(input=None, output_size=None, **numpy_names):
    if numpy_names or output_size is None:
        return call_by_name([_adaptive_avg_pool2d_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_adaptive_avg_pool2d_op, input, output_size)
    return _adaptive_avg_pool2d_op.table[key_set](input, output_size)


def _adaptive_avg_pool2d_backward(grad_output=None, input=None, **numpy_names):
    if numpy_names:
        return call_by_name([_adaptive_avg_pool2d_backward_op], locals())
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_adaptive_avg_pool2d_backward_op, grad_output, input)
    return _adaptive_avg_pool2d_backward_op.table[key_set](grad_output, input)


def adaptive_avg_pool2d(input=None, output_size=None, **numpy_names):
    if numpy_names or output_size is None:
        return call_by_name([adaptive_avg_pool2d_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(adaptive_avg_pool2d_op, input, output_size)
    return adaptive_avg_pool2d_op.table[key_set](input, output_size)


def avg_pool2d(
    input=None,
    kernel_size=None,
    stride=(),
    padding=(0, 0),
    ceil_mode=False,
    count_include_pad=True,
    divisor_override=None,
    *,
    out=None,
    **numpy_names,
):
    if numpy_names or kernel_size is None:
        return call_by_name([avg_pool2d_op, avg_pool2d_out_op], locals())
    if kernel_size.__class__ is not tuple:
        kernel_size = (kernel_size,) if kernel_size.__class__ is int else as_int_list(kernel_size)
    if stride.__class__ is not tuple:
        stride = (stride,) if stride.__class__ is int else as_int_list(stride)
    stride = () if stride is None else stride
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if out is not None:
        return invoke(
            avg_pool2d_out_op, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override, out
        )
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(
            avg_pool2d_op, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
    return avg_pool2d_op.table[key_set](
        input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def avg_pool2d_backward(
    grad_output=None,
    input=None,
    kernel_size=None,
    stride=None,
    padding=None,
    ceil_mode=None,
    count_include_pad=None,
    divisor_override=None,
    *,
    out=None,
    **numpy_names,
):
    if (
        numpy_names
        or kernel_size is None
        or stride is None
        or padding is None
        or ceil_mode is None
        or count_include_pad is None
    ):
        return call_by_name([avg_pool2d_backward_op, avg_pool2d_backward_grad_input_op], locals())
    if kernel_size.__class__ is not tuple:
        kernel_size = (kernel_size,) if kernel_size.__class__ is int else as_int_list(kernel_size)
    if stride.__class__ is not tuple:
        stride = (stride,) if stride.__class__ is int else as_int_list(stride)
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if out is not None:
        return invoke(
            avg_pool2d_backward_grad_input_op,
            grad_output,
            input,
            kernel_size,
            stride,
            padding,
            ceil_mode,
            count_include_pad,
            divisor_override,
            out,
        )
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(
            avg_pool2d_backward_op,
            grad_output,
            input,
            kernel_size,
            stride,
            padding,
            ceil_mode,
            count_include_pad,
            divisor_override,
        )
    return avg_pool2d_backward_op.table[key_set](
        grad_output, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


def max_pool2d(
    input=None, kernel_size=None, stride=(), padding=(0, 0), dilation=(1, 1), ceil_mode=False, **numpy_names
):
    if numpy_names or kernel_size is None:
        return call_by_name([max_pool2d_op], locals())
    if kernel_size.__class__ is not tuple:
        kernel_size = (kernel_size,) if kernel_size.__class__ is int else as_int_list(kernel_size)
    if stride.__class__ is not tuple:
        stride = (stride,) if stride.__class__ is int else as_int_list(stride)
    stride = () if stride is None else stride
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if dilation.__class__ is not tuple:
        dilation = (dilation,) if dilation.__class__ is int else as_int_list(dilation)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(max_pool2d_op, input, kernel_size, stride, padding, dilation, ceil_mode)
    return max_pool2d_op.table[key_set](input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d_with_indices(
    input=None, kernel_size=None, stride=(), padding=(0, 0), dilation=(1, 1), ceil_mode=False, **numpy_names
):
    if numpy_names or kernel_size is None:
        return call_by_name([max_pool2d_with_indices_op], locals())
    if kernel_size.__class__ is not tuple:
        kernel_size = (kernel_size,) if kernel_size.__class__ is int else as_int_list(kernel_size)
    if stride.__class__ is not tuple:
        stride = (stride,) if stride.__class__ is int else as_int_list(stride)
    stride = () if stride is None else stride
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if dilation.__class__ is not tuple:
        dilation = (dilation,) if dilation.__class__ is int else as_int_list(dilation)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(max_pool2d_with_indices_op, input, kernel_size, stride, padding, dilation, ceil_mode)
    return max_pool2d_with_indices_op.table[key_set](input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d_with_indices_backward(
    grad_output=None,
    input=None,
    kernel_size=None,
    stride=None,
    padding=None,
    dilation=None,
    ceil_mode=None,
    indices=None,
    *,
    out=None,
    **numpy_names,
):
    if numpy_names or kernel_size is None or stride is None or padding is None or dilation is None or ceil_mode is None:
        return call_by_name(
            [max_pool2d_with_indices_backward_op, max_pool2d_with_indices_backward_grad_input_op], locals()
        )
    if kernel_size.__class__ is not tuple:
        kernel_size = (kernel_size,) if kernel_size.__class__ is int else as_int_list(kernel_size)
    if stride.__class__ is not tuple:
        stride = (stride,) if stride.__class__ is int else as_int_list(stride)
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if dilation.__class__ is not tuple:
        dilation = (dilation,) if dilation.__class__ is int else as_int_list(dilation)
    if out is not None:
        return invoke(
            max_pool2d_with_indices_backward_grad_input_op,
            grad_output,
            input,
            kernel_size,
            stride,
            padding,
            dilation,
            ceil_mode,
            indices,
            out,
        )
    try:
        key_set = (grad_output._key_set | input._key_set | indices._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(
            max_pool2d_with_indices_backward_op,
            grad_output,
            input,
            kernel_size,
            stride,
            padding,
            dilation,
            ceil_mode,
            indices,
        )
    return max_pool2d_with_indices_backward_op.table[key_set](
        grad_output, input, kernel_size, stride, padding, dilation, ceil_mode, indices
    )


def adaptive_avg_pool1d(input=None, output_size=None, **numpy_names):
    if numpy_names or output_size is None:
        return call_by_name([adaptive_avg_pool1d_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(adaptive_avg_pool1d_op, input, output_size)
    return adaptive_avg_pool1d_op.table[key_set](input, output_size)


def avg_pool1d(
    input=None, kernel_size=None, stride=(), padding=(0,), ceil_mode=False, count_include_pad=True, **numpy_names
):
    if numpy_names or kernel_size is None:
        return call_by_name([avg_pool1d_op], locals())
    if kernel_size.__class__ is not tuple:
        kernel_size = (kernel_size,) if kernel_size.__class__ is int else as_int_list(kernel_size)
    if stride.__class__ is not tuple:
        stride = (stride,) if stride.__class__ is int else as_int_list(stride)
    stride = () if stride is None else stride
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(avg_pool1d_op, input, kernel_size, stride, padding, ceil_mode, count_include_pad)
    return avg_pool1d_op.table[key_set](input, kernel_size, stride, padding, ceil_mode, count_include_pad)


def max_pool1d_with_indices(
    input=None, kernel_size=None, stride=(), padding=(0,), dilation=(1,), ceil_mode=False, **numpy_names
):
    if numpy_names or kernel_size is None:
        return call_by_name([max_pool1d_with_indices_op], locals())
    if kernel_size.__class__ is not tuple:
        kernel_size = (kernel_size,) if kernel_size.__class__ is int else as_int_list(kernel_size)
    if stride.__class__ is not tuple:
        stride = (stride,) if stride.__class__ is int else as_int_list(stride)
    stride = () if stride is None else stride
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if dilation.__class__ is not tuple:
        dilation = (dilation,) if dilation.__class__ is int else as_int_list(dilation)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(max_pool1d_with_indices_op, input, kernel_size, stride, padding, dilation, ceil_mode)
    return max_pool1d_with_indices_op.table[key_set](input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool1d(input=None, kernel_size=None, stride=(), padding=(0,), dilation=(1,), ceil_mode=False, **numpy_names):
    if numpy_names or kernel_size is None:
        return call_by_name([max_pool1d_op], locals())
    if kernel_size.__class__ is not tuple:
        kernel_size = (kernel_size,) if kernel_size.__class__ is int else as_int_list(kernel_size)
    if stride.__class__ is not tuple:
        stride = (stride,) if stride.__class__ is int else as_int_list(stride)
    stride = () if stride is None else stride
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if dilation.__class__ is not tuple:
        dilation = (dilation,) if dilation.__class__ is int else as_int_list(dilation)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(max_pool1d_op, input, kernel_size, stride, padding, dilation, ceil_mode)
    return max_pool1d_op.table[key_set](input, kernel_size, stride, padding, dilation, ceil_mode)


def upsample_nearest1d(input=None, output_size=None, scales=None, *, out=None, **numpy_names):
    if numpy_names or output_size is None:
        return call_by_name([upsample_nearest1d_op, upsample_nearest1d_out_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if scales.__class__ not in PLAIN_NUMBERS:
        (scales,) = numbers_of("upsample_nearest1d", scales=scales)
    if out is not None:
        return invoke(upsample_nearest1d_out_op, input, output_size, scales, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(upsample_nearest1d_op, input, output_size, scales)
    return upsample_nearest1d_op.table[key_set](input, output_size, scales)


def upsample_nearest1d_backward(grad_output, output_size, input_size, scales=None):
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if input_size.__class__ is not tuple:
        input_size = (input_size,) if input_size.__class__ is int else as_int_list(input_size)
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(upsample_nearest1d_backward_op, grad_output, output_size, input_size, scales)
    return upsample_nearest1d_backward_op.table[key_set](grad_output, output_size, input_size, scales)


def upsample_nearest2d(input=None, output_size=None, scales_h=None, scales_w=None, *, out=None, **numpy_names):
    if numpy_names or output_size is None:
        return call_by_name([upsample_nearest2d_op, upsample_nearest2d_out_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if scales_h.__class__ not in PLAIN_NUMBERS or scales_w.__class__ not in PLAIN_NUMBERS:
        scales_h, scales_w = numbers_of("upsample_nearest2d", scales_h=scales_h, scales_w=scales_w)
    if out is not None:
        return invoke(upsample_nearest2d_out_op, input, output_size, scales_h, scales_w, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(upsample_nearest2d_op, input, output_size, scales_h, scales_w)
    return upsample_nearest2d_op.table[key_set](input, output_size, scales_h, scales_w)


def upsample_nearest2d_backward(grad_output, output_size, input_size, scales_h=None, scales_w=None):
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if input_size.__class__ is not tuple:
        input_size = (input_size,) if input_size.__class__ is int else as_int_list(input_size)
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(upsample_nearest2d_backward_op, grad_output, output_size, input_size, scales_h, scales_w)
    return upsample_nearest2d_backward_op.table[key_set](grad_output, output_size, input_size, scales_h, scales_w)


def upsample_nearest3d(
    input=None, output_size=None, scales_d=None, scales_h=None, scales_w=None, *, out=None, **numpy_names
):
    if numpy_names or output_size is None:
        return call_by_name([upsample_nearest3d_op, upsample_nearest3d_out_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if (
        scales_d.__class__ not in PLAIN_NUMBERS
        or scales_h.__class__ not in PLAIN_NUMBERS
        or scales_w.__class__ not in PLAIN_NUMBERS
    ):
        scales_d, scales_h, scales_w = numbers_of(
            "upsample_nearest3d", scales_d=scales_d, scales_h=scales_h, scales_w=scales_w
        )
    if out is not None:
        return invoke(upsample_nearest3d_out_op, input, output_size, scales_d, scales_h, scales_w, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(upsample_nearest3d_op, input, output_size, scales_d, scales_h, scales_w)
    return upsample_nearest3d_op.table[key_set](input, output_size, scales_d, scales_h, scales_w)


def upsample_nearest3d_backward(grad_output, output_size, input_size, scales_d=None, scales_h=None, scales_w=None):
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if input_size.__class__ is not tuple:
        input_size = (input_size,) if input_size.__class__ is int else as_int_list(input_size)
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(
            upsample_nearest3d_backward_op, grad_output, output_size, input_size, scales_d, scales_h, scales_w
        )
    return upsample_nearest3d_backward_op.table[key_set](
        grad_output, output_size, input_size, scales_d, scales_h, scales_w
    )


def _upsample_nearest_exact1d(input=None, output_size=None, scales=None, *, out=None, **numpy_names):
    if numpy_names or output_size is None:
        return call_by_name([_upsample_nearest_exact1d_op, _upsample_nearest_exact1d_out_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if out is not None:
        return invoke(_upsample_nearest_exact1d_out_op, input, output_size, scales, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_upsample_nearest_exact1d_op, input, output_size, scales)
    return _upsample_nearest_exact1d_op.table[key_set](input, output_size, scales)


def _upsample_nearest_exact1d_backward(grad_output, output_size, input_size, scales=None):
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if input_size.__class__ is not tuple:
        input_size = (input_size,) if input_size.__class__ is int else as_int_list(input_size)
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_upsample_nearest_exact1d_backward_op, grad_output, output_size, input_size, scales)
    return _upsample_nearest_exact1d_backward_op.table[key_set](grad_output, output_size, input_size, scales)


def _upsample_nearest_exact2d(input=None, output_size=None, scales_h=None, scales_w=None, *, out=None, **numpy_names):
    if numpy_names or output_size is None:
        return call_by_name([_upsample_nearest_exact2d_op, _upsample_nearest_exact2d_out_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if out is not None:
        return invoke(_upsample_nearest_exact2d_out_op, input, output_size, scales_h, scales_w, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_upsample_nearest_exact2d_op, input, output_size, scales_h, scales_w)
    return _upsample_nearest_exact2d_op.table[key_set](input, output_size, scales_h, scales_w)


def _upsample_nearest_exact2d_backward(grad_output, output_size, input_size, scales_h=None, scales_w=None):
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if input_size.__class__ is not tuple:
        input_size = (input_size,) if input_size.__class__ is int else as_int_list(input_size)
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_upsample_nearest_exact2d_backward_op, grad_output, output_size, input_size, scales_h, scales_w)
    return _upsample_nearest_exact2d_backward_op.table[key_set](
        grad_output, output_size, input_size, scales_h, scales_w
    )


def _upsample_nearest_exact3d(
    input=None, output_size=None, scales_d=None, scales_h=None, scales_w=None, *, out=None, **numpy_names
):
    if numpy_names or output_size is None:
        return call_by_name([_upsample_nearest_exact3d_op, _upsample_nearest_exact3d_out_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if out is not None:
        return invoke(_upsample_nearest_exact3d_out_op, input, output_size, scales_d, scales_h, scales_w, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_upsample_nearest_exact3d_op, input, output_size, scales_d, scales_h, scales_w)
    return _upsample_nearest_exact3d_op.table[key_set](input, output_size, scales_d, scales_h, scales_w)


def _upsample_nearest_exact3d_backward(
    grad_output, output_size, input_size, scales_d=None, scales_h=None, scales_w=None
):
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if input_size.__class__ is not tuple:
        input_size = (input_size,) if input_size.__class__ is int else as_int_list(input_size)
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(
            _upsample_nearest_exact3d_backward_op, grad_output, output_size, input_size, scales_d, scales_h, scales_w
        )
    return _upsample_nearest_exact3d_backward_op.table[key_set](
        grad_output, output_size, input_size, scales_d, scales_h, scales_w
    )


def upsample_linear1d(input=None, output_size=None, align_corners=None, scales=None, *, out=None, **numpy_names):
    if numpy_names or output_size is None or align_corners is None:
        return call_by_name([upsample_linear1d_op, upsample_linear1d_out_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if scales.__class__ not in PLAIN_NUMBERS:
        (scales,) = numbers_of("upsample_linear1d", scales=scales)
    if out is not None:
        return invoke(upsample_linear1d_out_op, input, output_size, align_corners, scales, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(upsample_linear1d_op, input, output_size, align_corners, scales)
    return upsample_linear1d_op.table[key_set](input, output_size, align_corners, scales)


def upsample_linear1d_backward(grad_output, output_size, input_size, align_corners, scales=None):
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if input_size.__class__ is not tuple:
        input_size = (input_size,) if input_size.__class__ is int else as_int_list(input_size)
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(upsample_linear1d_backward_op, grad_output, output_size, input_size, align_corners, scales)
    return upsample_linear1d_backward_op.table[key_set](grad_output, output_size, input_size, align_corners, scales)


def upsample_bilinear2d(
    input=None, output_size=None, align_corners=None, scales_h=None, scales_w=None, *, out=None, **numpy_names
):
    if numpy_names or output_size is None or align_corners is None:
        return call_by_name([upsample_bilinear2d_op, upsample_bilinear2d_out_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if scales_h.__class__ not in PLAIN_NUMBERS or scales_w.__class__ not in PLAIN_NUMBERS:
        scales_h, scales_w = numbers_of("upsample_bilinear2d", scales_h=scales_h, scales_w=scales_w)
    if out is not None:
        return invoke(upsample_bilinear2d_out_op, input, output_size, align_corners, scales_h, scales_w, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(upsample_bilinear2d_op, input, output_size, align_corners, scales_h, scales_w)
    return upsample_bilinear2d_op.table[key_set](input, output_size, align_corners, scales_h, scales_w)


def upsample_bilinear2d_backward(grad_output, output_size, input_size, align_corners, scales_h=None, scales_w=None):
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if input_size.__class__ is not tuple:
        input_size = (input_size,) if input_size.__class__ is int else as_int_list(input_size)
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(
            upsample_bilinear2d_backward_op, grad_output, output_size, input_size, align_corners, scales_h, scales_w
        )
    return upsample_bilinear2d_backward_op.table[key_set](
        grad_output, output_size, input_size, align_corners, scales_h, scales_w
    )


def upsample_trilinear3d(
    input=None,
    output_size=None,
    align_corners=None,
    scales_d=None,
    scales_h=None,
    scales_w=None,
    *,
    out=None,
    **numpy_names,
):
    if numpy_names or output_size is None or align_corners is None:
        return call_by_name([upsample_trilinear3d_op, upsample_trilinear3d_out_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if (
        scales_d.__class__ not in PLAIN_NUMBERS
        or scales_h.__class__ not in PLAIN_NUMBERS
        or scales_w.__class__ not in PLAIN_NUMBERS
    ):
        scales_d, scales_h, scales_w = numbers_of(
            "upsample_trilinear3d", scales_d=scales_d, scales_h=scales_h, scales_w=scales_w
        )
    if out is not None:
        return invoke(upsample_trilinear3d_out_op, input, output_size, align_corners, scales_d, scales_h, scales_w, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(upsample_trilinear3d_op, input, output_size, align_corners, scales_d, scales_h, scales_w)
    return upsample_trilinear3d_op.table[key_set](input, output_size, align_corners, scales_d, scales_h, scales_w)


def upsample_trilinear3d_backward(
    grad_output, output_size, input_size, align_corners, scales_d=None, scales_h=None, scales_w=None
):
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if input_size.__class__ is not tuple:
        input_size = (input_size,) if input_size.__class__ is int else as_int_list(input_size)
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(
            upsample_trilinear3d_backward_op,
            grad_output,
            output_size,
            input_size,
            align_corners,
            scales_d,
            scales_h,
            scales_w,
        )
    return upsample_trilinear3d_backward_op.table[key_set](
        grad_output, output_size, input_size, align_corners, scales_d, scales_h, scales_w
    )


def upsample_bicubic2d(
    input=None, output_size=None, align_corners=None, scales_h=None, scales_w=None, *, out=None, **numpy_names
):
    if numpy_names or output_size is None or align_corners is None:
        return call_by_name([upsample_bicubic2d_op, upsample_bicubic2d_out_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if scales_h.__class__ not in PLAIN_NUMBERS or scales_w.__class__ not in PLAIN_NUMBERS:
        scales_h, scales_w = numbers_of("upsample_bicubic2d", scales_h=scales_h, scales_w=scales_w)
    if out is not None:
        return invoke(upsample_bicubic2d_out_op, input, output_size, align_corners, scales_h, scales_w, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(upsample_bicubic2d_op, input, output_size, align_corners, scales_h, scales_w)
    return upsample_bicubic2d_op.table[key_set](input, output_size, align_corners, scales_h, scales_w)


def upsample_bicubic2d_backward(grad_output, output_size, input_size, align_corners, scales_h=None, scales_w=None):
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if input_size.__class__ is not tuple:
        input_size = (input_size,) if input_size.__class__ is int else as_int_list(input_size)
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(
            upsample_bicubic2d_backward_op, grad_output, output_size, input_size, align_corners, scales_h, scales_w
        )
    return upsample_bicubic2d_backward_op.table[key_set](
        grad_output, output_size, input_size, align_corners, scales_h, scales_w
    )


def _upsample_bilinear2d_aa(
    input=None, output_size=None, align_corners=None, scales_h=None, scales_w=None, *, out=None, **numpy_names
):
    if numpy_names or output_size is None or align_corners is None:
        return call_by_name([_upsample_bilinear2d_aa_op, _upsample_bilinear2d_aa_out_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if out is not None:
        return invoke(_upsample_bilinear2d_aa_out_op, input, output_size, align_corners, scales_h, scales_w, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_upsample_bilinear2d_aa_op, input, output_size, align_corners, scales_h, scales_w)
    return _upsample_bilinear2d_aa_op.table[key_set](input, output_size, align_corners, scales_h, scales_w)


def _upsample_bilinear2d_aa_backward(grad_output, output_size, input_size, align_corners, scales_h=None, scales_w=None):
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if input_size.__class__ is not tuple:
        input_size = (input_size,) if input_size.__class__ is int else as_int_list(input_size)
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(
            _upsample_bilinear2d_aa_backward_op, grad_output, output_size, input_size, align_corners, scales_h, scales_w
        )
    return _upsample_bilinear2d_aa_backward_op.table[key_set](
        grad_output, output_size, input_size, align_corners, scales_h, scales_w
    )


def _upsample_bicubic2d_aa(
    input=None, output_size=None, align_corners=None, scales_h=None, scales_w=None, *, out=None, **numpy_names
):
    if numpy_names or output_size is None or align_corners is None:
        return call_by_name([_upsample_bicubic2d_aa_op, _upsample_bicubic2d_aa_out_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if out is not None:
        return invoke(_upsample_bicubic2d_aa_out_op, input, output_size, align_corners, scales_h, scales_w, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_upsample_bicubic2d_aa_op, input, output_size, align_corners, scales_h, scales_w)
    return _upsample_bicubic2d_aa_op.table[key_set](input, output_size, align_corners, scales_h, scales_w)


def _upsample_bicubic2d_aa_backward(grad_output, output_size, input_size, align_corners, scales_h=None, scales_w=None):
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if input_size.__class__ is not tuple:
        input_size = (input_size,) if input_size.__class__ is int else as_int_list(input_size)
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(
            _upsample_bicubic2d_aa_backward_op, grad_output, output_size, input_size, align_corners, scales_h, scales_w
        )
    return _upsample_bicubic2d_aa_backward_op.table[key_set](
        grad_output, output_size, input_size, align_corners, scales_h, scales_w
    )


def _upsample_lanczos2d_aa(
    input=None, output_size=None, align_corners=None, scales_h=None, scales_w=None, *, out=None, **numpy_names
):
    if numpy_names or output_size is None or align_corners is None:
        return call_by_name([_upsample_lanczos2d_aa_op, _upsample_lanczos2d_aa_out_op], locals())
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if out is not None:
        return invoke(_upsample_lanczos2d_aa_out_op, input, output_size, align_corners, scales_h, scales_w, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_upsample_lanczos2d_aa_op, input, output_size, align_corners, scales_h, scales_w)
    return _upsample_lanczos2d_aa_op.table[key_set](input, output_size, align_corners, scales_h, scales_w)


def _upsample_lanczos2d_aa_backward(grad_output, output_size, input_size, align_corners, scales_h=None, scales_w=None):
    if output_size.__class__ is not tuple:
        output_size = (output_size,) if output_size.__class__ is int else as_int_list(output_size)
    if input_size.__class__ is not tuple:
        input_size = (input_size,) if input_size.__class__ is int else as_int_list(input_size)
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(
            _upsample_lanczos2d_aa_backward_op, grad_output, output_size, input_size, align_corners, scales_h, scales_w
        )
    return _upsample_lanczos2d_aa_backward_op.table[key_set](
        grad_output, output_size, input_size, align_corners, scales_h, scales_w
    )


def affine_grid_generator(theta, size, align_corners, *, out=None):
    if out is not None:
        return invoke(affine_grid_generator_out_op, theta, size, align_corners, out)
    try:
        key_set = (theta._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(affine_grid_generator_op, theta, size, align_corners)
    return affine_grid_generator_op.table[key_set](theta, size, align_corners)


def affine_grid_generator_backward(grad, size, align_corners):
    try:
        key_set = (grad._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(affine_grid_generator_backward_op, grad, size, align_corners)
    return affine_grid_generator_backward_op.table[key_set](grad, size, align_corners)


def constant_pad_nd(input=None, pad=None, value=0, **numpy_names):
    if numpy_names or pad is None:
        return call_by_name([constant_pad_nd_op], locals())
    if value.__class__ not in PLAIN_NUMBERS:
        (value,) = numbers_of("constant_pad_nd", value=value)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(constant_pad_nd_op, input, pad, value)
    return constant_pad_nd_op.table[key_set](input, pad, value)


def pad(input=None, pad=None, mode="constant", value=None, **numpy_names):
    if numpy_names or pad is None:
        return call_by_name([pad_op], locals())
    if value.__class__ not in PLAIN_NUMBERS:
        (value,) = numbers_of("pad", value=value)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(pad_op, input, pad, mode, value)
    return pad_op.table[key_set](input, pad, mode, value)


def _pad_circular(input=None, pad=None, **numpy_names):
    if numpy_names or pad is None:
        return call_by_name([_pad_circular_op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_pad_circular_op, input, pad)
    return _pad_circular_op.table[key_set](input, pad)


def reflection_pad1d(input=None, padding=None, *, out=None, **numpy_names):
    if numpy_names or padding is None:
        return call_by_name([reflection_pad1d_op, reflection_pad1d_out_op], locals())
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if out is not None:
        return invoke(reflection_pad1d_out_op, input, padding, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reflection_pad1d_op, input, padding)
    return reflection_pad1d_op.table[key_set](input, padding)


def reflection_pad1d_backward(grad_output=None, input=None, padding=None, *, out=None, **numpy_names):
    if numpy_names or padding is None:
        return call_by_name([reflection_pad1d_backward_op, reflection_pad1d_backward_grad_input_op], locals())
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if out is not None:
        return invoke(reflection_pad1d_backward_grad_input_op, grad_output, input, padding, out)
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reflection_pad1d_backward_op, grad_output, input, padding)
    return reflection_pad1d_backward_op.table[key_set](grad_output, input, padding)


def reflection_pad2d(input=None, padding=None, *, out=None, **numpy_names):
    if numpy_names or padding is None:
        return call_by_name([reflection_pad2d_op, reflection_pad2d_out_op], locals())
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if out is not None:
        return invoke(reflection_pad2d_out_op, input, padding, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reflection_pad2d_op, input, padding)
    return reflection_pad2d_op.table[key_set](input, padding)


def reflection_pad2d_backward(grad_output=None, input=None, padding=None, *, out=None, **numpy_names):
    if numpy_names or padding is None:
        return call_by_name([reflection_pad2d_backward_op, reflection_pad2d_backward_grad_input_op], locals())
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if out is not None:
        return invoke(reflection_pad2d_backward_grad_input_op, grad_output, input, padding, out)
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reflection_pad2d_backward_op, grad_output, input, padding)
    return reflection_pad2d_backward_op.table[key_set](grad_output, input, padding)


def reflection_pad3d(input=None, padding=None, *, out=None, **numpy_names):
    if numpy_names or padding is None:
        return call_by_name([reflection_pad3d_op, reflection_pad3d_out_op], locals())
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if out is not None:
        return invoke(reflection_pad3d_out_op, input, padding, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reflection_pad3d_op, input, padding)
    return reflection_pad3d_op.table[key_set](input, padding)


def reflection_pad3d_backward(grad_output=None, input=None, padding=None, *, out=None, **numpy_names):
    if numpy_names or padding is None:
        return call_by_name([reflection_pad3d_backward_op, reflection_pad3d_backward_grad_input_op], locals())
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if out is not None:
        return invoke(reflection_pad3d_backward_grad_input_op, grad_output, input, padding, out)
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reflection_pad3d_backward_op, grad_output, input, padding)
    return reflection_pad3d_backward_op.table[key_set](grad_output, input, padding)


def replication_pad1d(input=None, padding=None, *, out=None, **numpy_names):
    if numpy_names or padding is None:
        return call_by_name([replication_pad1d_op, replication_pad1d_out_op], locals())
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if out is not None:
        return invoke(replication_pad1d_out_op, input, padding, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(replication_pad1d_op, input, padding)
    return replication_pad1d_op.table[key_set](input, padding)


def replication_pad1d_backward(grad_output=None, input=None, padding=None, *, out=None, **numpy_names):
    if numpy_names or padding is None:
        return call_by_name([replication_pad1d_backward_op, replication_pad1d_backward_grad_input_op], locals())
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if out is not None:
        return invoke(replication_pad1d_backward_grad_input_op, grad_output, input, padding, out)
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(replication_pad1d_backward_op, grad_output, input, padding)
    return replication_pad1d_backward_op.table[key_set](grad_output, input, padding)


def replication_pad2d(input=None, padding=None, *, out=None, **numpy_names):
    if numpy_names or padding is None:
        return call_by_name([replication_pad2d_op, replication_pad2d_out_op], locals())
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if out is not None:
        return invoke(replication_pad2d_out_op, input, padding, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(replication_pad2d_op, input, padding)
    return replication_pad2d_op.table[key_set](input, padding)


def replication_pad2d_backward(grad_output=None, input=None, padding=None, *, out=None, **numpy_names):
    if numpy_names or padding is None:
        return call_by_name([replication_pad2d_backward_op, replication_pad2d_backward_grad_input_op], locals())
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if out is not None:
        return invoke(replication_pad2d_backward_grad_input_op, grad_output, input, padding, out)
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(replication_pad2d_backward_op, grad_output, input, padding)
    return replication_pad2d_backward_op.table[key_set](grad_output, input, padding)


def replication_pad3d(input=None, padding=None, *, out=None, **numpy_names):
    if numpy_names or padding is None:
        return call_by_name([replication_pad3d_op, replication_pad3d_out_op], locals())
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if out is not None:
        return invoke(replication_pad3d_out_op, input, padding, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(replication_pad3d_op, input, padding)
    return replication_pad3d_op.table[key_set](input, padding)


def replication_pad3d_backward(grad_output=None, input=None, padding=None, *, out=None, **numpy_names):
    if numpy_names or padding is None:
        return call_by_name([replication_pad3d_backward_op, replication_pad3d_backward_grad_input_op], locals())
    if padding.__class__ is not tuple:
        padding = (padding,) if padding.__class__ is int else as_int_list(padding)
    if out is not None:
        return invoke(replication_pad3d_backward_grad_input_op, grad_output, input, padding, out)
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(replication_pad3d_backward_op, grad_output, input, padding)
    return replication_pad3d_backward_op.table[key_set](grad_output, input, padding)


def _safe_softmax(input=None, dim=None, dtype=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([_safe_softmax_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_safe_softmax_op, input, dim, dtype)
    return _safe_softmax_op.table[key_set](input, dim, dtype)


def _scaled_dot_product_attention_math(
    query,
    key,
    value,
    attn_mask=None,
    dropout_p=0.0,
    is_causal=False,
    dropout_mask=None,
    *,
    scale=None,
    enable_gqa=False,
):
    try:
        key_set = (
            query._key_set
            | key._key_set
            | value._key_set
            | (0 if attn_mask is None else attn_mask._key_set)
            | (0 if dropout_mask is None else dropout_mask._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(
            _scaled_dot_product_attention_math_op,
            query,
            key,
            value,
            attn_mask,
            dropout_p,
            is_causal,
            dropout_mask,
            scale,
            enable_gqa,
        )
    return _scaled_dot_product_attention_math_op.table[key_set](
        query, key, value, attn_mask, dropout_p, is_causal, dropout_mask, scale, enable_gqa
    )


def _scaled_dot_product_flash_attention_for_cpu(
    query, key, value, dropout_p=0.0, is_causal=False, *, attn_mask=None, scale=None
):
    try:
        key_set = (
            query._key_set
            | key._key_set
            | value._key_set
            | (0 if attn_mask is None else attn_mask._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return return_types.named(
            return_types._scaled_dot_product_flash_attention_for_cpu,
            invoke(
                _scaled_dot_product_flash_attention_for_cpu_op,
                query,
                key,
                value,
                dropout_p,
                is_causal,
                attn_mask,
                scale,
            ),
        )
    return return_types.named(
        return_types._scaled_dot_product_flash_attention_for_cpu,
        _scaled_dot_product_flash_attention_for_cpu_op.table[key_set](
            query, key, value, dropout_p, is_causal, attn_mask, scale
        ),
    )


def _scaled_dot_product_flash_attention_for_cpu_backward(
    grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, *, attn_mask=None, scale=None
):
    try:
        key_set = (
            grad_out._key_set
            | query._key_set
            | key._key_set
            | value._key_set
            | out._key_set
            | logsumexp._key_set
            | (0 if attn_mask is None else attn_mask._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(
            _scaled_dot_product_flash_attention_for_cpu_backward_op,
            grad_out,
            query,
            key,
            value,
            out,
            logsumexp,
            dropout_p,
            is_causal,
            attn_mask,
            scale,
        )
    return _scaled_dot_product_flash_attention_for_cpu_backward_op.table[key_set](
        grad_out, query, key, value, out, logsumexp, dropout_p, is_causal, attn_mask, scale
    )


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False
):
    if dropout_p.__class__ not in PLAIN_NUMBERS or scale.__class__ not in PLAIN_NUMBERS:
        dropout_p, scale = numbers_of("scaled_dot_product_attention", dropout_p=dropout_p, scale=scale)
    try:
        key_set = (
            query._key_set
            | key._key_set
            | value._key_set
            | (0 if attn_mask is None else attn_mask._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(
            scaled_dot_product_attention_op, query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa
        )
    return scaled_dot_product_attention_op.table[key_set](
        query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa
    )


def gru(*args, **kwargs):
    return resolve(
        (
            gru_data_op,
            gru_input_op,
        ),
        args,
        kwargs,
    )


def lstm(*args, **kwargs):
    return resolve(
        (
            lstm_data_op,
            lstm_input_op,
        ),
        args,
        kwargs,
    )


def rnn_relu(*args, **kwargs):
    return resolve(
        (
            rnn_relu_data_op,
            rnn_relu_input_op,
        ),
        args,
        kwargs,
    )


def rnn_tanh(*args, **kwargs):
    return resolve(
        (
            rnn_tanh_data_op,
            rnn_tanh_input_op,
        ),
        args,
        kwargs,
    )


def _thnn_fused_lstm_cell(input_gates, hidden_gates, cx, input_bias=None, hidden_bias=None):
    try:
        key_set = (
            input_gates._key_set
            | hidden_gates._key_set
            | cx._key_set
            | (0 if input_bias is None else input_bias._key_set)
            | (0 if hidden_bias is None else hidden_bias._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(_thnn_fused_lstm_cell_op, input_gates, hidden_gates, cx, input_bias, hidden_bias)
    return _thnn_fused_lstm_cell_op.table[key_set](input_gates, hidden_gates, cx, input_bias, hidden_bias)


def _thnn_fused_lstm_cell_backward(grad_hy, grad_cy, cx, cy, workspace, has_bias):
    try:
        key_set = (
            cx._key_set
            | cy._key_set
            | workspace._key_set
            | (0 if grad_hy is None else grad_hy._key_set)
            | (0 if grad_cy is None else grad_cy._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(_thnn_fused_lstm_cell_backward_op, grad_hy, grad_cy, cx, cy, workspace, has_bias)
    return _thnn_fused_lstm_cell_backward_op.table[key_set](grad_hy, grad_cy, cx, cy, workspace, has_bias)


def _thnn_fused_gru_cell(input_gates, hidden_gates, hx, input_bias=None, hidden_bias=None):
    try:
        key_set = (
            input_gates._key_set
            | hidden_gates._key_set
            | hx._key_set
            | (0 if input_bias is None else input_bias._key_set)
            | (0 if hidden_bias is None else hidden_bias._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(_thnn_fused_gru_cell_op, input_gates, hidden_gates, hx, input_bias, hidden_bias)
    return _thnn_fused_gru_cell_op.table[key_set](input_gates, hidden_gates, hx, input_bias, hidden_bias)


def _thnn_fused_gru_cell_backward(grad_hy, workspace, has_bias):
    try:
        key_set = (grad_hy._key_set | workspace._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_thnn_fused_gru_cell_backward_op, grad_hy, workspace, has_bias)
    return _thnn_fused_gru_cell_backward_op.table[key_set](grad_hy, workspace, has_bias)


def gru_cell(input=None, hx=None, w_ih=None, w_hh=None, b_ih=None, b_hh=None, **numpy_names):
    if numpy_names:
        return call_by_name([gru_cell_op], locals())
    try:
        key_set = (
            input._key_set
            | hx._key_set
            | w_ih._key_set
            | w_hh._key_set
            | (0 if b_ih is None else b_ih._key_set)
            | (0 if b_hh is None else b_hh._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(gru_cell_op, input, hx, w_ih, w_hh, b_ih, b_hh)
    return gru_cell_op.table[key_set](input, hx, w_ih, w_hh, b_ih, b_hh)


def lstm_cell(input=None, hx=None, w_ih=None, w_hh=None, b_ih=None, b_hh=None, **numpy_names):
    if numpy_names:
        return call_by_name([lstm_cell_op], locals())
    return invoke(lstm_cell_op, input, hx, w_ih, w_hh, b_ih, b_hh)


def rnn_relu_cell(input=None, hx=None, w_ih=None, w_hh=None, b_ih=None, b_hh=None, **numpy_names):
    if numpy_names:
        return call_by_name([rnn_relu_cell_op], locals())
    try:
        key_set = (
            input._key_set
            | hx._key_set
            | w_ih._key_set
            | w_hh._key_set
            | (0 if b_ih is None else b_ih._key_set)
            | (0 if b_hh is None else b_hh._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(rnn_relu_cell_op, input, hx, w_ih, w_hh, b_ih, b_hh)
    return rnn_relu_cell_op.table[key_set](input, hx, w_ih, w_hh, b_ih, b_hh)


def rnn_tanh_cell(input=None, hx=None, w_ih=None, w_hh=None, b_ih=None, b_hh=None, **numpy_names):
    if numpy_names:
        return call_by_name([rnn_tanh_cell_op], locals())
    try:
        key_set = (
            input._key_set
            | hx._key_set
            | w_ih._key_set
            | w_hh._key_set
            | (0 if b_ih is None else b_ih._key_set)
            | (0 if b_hh is None else b_hh._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(rnn_tanh_cell_op, input, hx, w_ih, w_hh, b_ih, b_hh)
    return rnn_tanh_cell_op.table[key_set](input, hx, w_ih, w_hh, b_ih, b_hh)


def cosine_similarity(x1=None, x2=None, dim=1, eps=1e-08, **numpy_names):
    if numpy_names:
        return call_by_name([cosine_similarity_op], locals())
    if eps.__class__ not in PLAIN_NUMBERS:
        (eps,) = numbers_of("cosine_similarity", eps=eps)
    try:
        key_set = (x1._key_set | x2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cosine_similarity_op, x1, x2, dim, eps)
    return cosine_similarity_op.table[key_set](x1, x2, dim, eps)


def norm(input=None, p=None, dim=None, keepdim=False, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([norm_ScalarOpt_dim_op], locals())
    if dim.__class__ is not tuple:
        dim = (dim,) if dim.__class__ is int else as_int_list(dim)
    if p.__class__ not in PLAIN_NUMBERS:
        (p,) = numbers_of("norm", p=p)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(norm_ScalarOpt_dim_op, input, p, dim, keepdim)
    return norm_ScalarOpt_dim_op.table[key_set](input, p, dim, keepdim)


def pairwise_distance(x1=None, x2=None, p=2.0, eps=1e-06, keepdim=False, **numpy_names):
    if numpy_names:
        return call_by_name([pairwise_distance_op], locals())
    if p.__class__ not in PLAIN_NUMBERS or eps.__class__ not in PLAIN_NUMBERS:
        p, eps = numbers_of("pairwise_distance", p=p, eps=eps)
    try:
        key_set = (x1._key_set | x2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(pairwise_distance_op, x1, x2, p, eps, keepdim)
    return pairwise_distance_op.table[key_set](x1, x2, p, eps, keepdim)


def _cdist_forward(x1, x2, p, compute_mode):
    try:
        key_set = (x1._key_set | x2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_cdist_forward_op, x1, x2, p, compute_mode)
    return _cdist_forward_op.table[key_set](x1, x2, p, compute_mode)


def cdist(x1, x2, p=2.0, compute_mode=None):
    if p.__class__ not in PLAIN_NUMBERS:
        (p,) = numbers_of("cdist", p=p)
    try:
        key_set = (x1._key_set | x2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cdist_op, x1, x2, p, compute_mode)
    return cdist_op.table[key_set](x1, x2, p, compute_mode)


def pdist(input=None, p=2.0, **numpy_names):
    if numpy_names:
        return call_by_name([pdist_op], locals())
    if p.__class__ not in PLAIN_NUMBERS:
        (p,) = numbers_of("pdist", p=p)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(pdist_op, input, p)
    return pdist_op.table[key_set](input, p)


def binary_cross_entropy(input=None, target=None, weight=None, reduction=1, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([binary_cross_entropy_op, binary_cross_entropy_out_op], locals())
    if out is not None:
        return invoke(binary_cross_entropy_out_op, input, target, weight, reduction, out)
    try:
        key_set = (
            input._key_set | target._key_set | (0 if weight is None else weight._key_set) | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(binary_cross_entropy_op, input, target, weight, reduction)
    return binary_cross_entropy_op.table[key_set](input, target, weight, reduction)


def binary_cross_entropy_with_logits(input=None, target=None, weight=None, pos_weight=None, reduction=1, **numpy_names):
    if numpy_names:
        return call_by_name([binary_cross_entropy_with_logits_op], locals())
    try:
        key_set = (
            input._key_set
            | target._key_set
            | (0 if weight is None else weight._key_set)
            | (0 if pos_weight is None else pos_weight._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(binary_cross_entropy_with_logits_op, input, target, weight, pos_weight, reduction)
    return binary_cross_entropy_with_logits_op.table[key_set](input, target, weight, pos_weight, reduction)


def cross_entropy_loss(
    input=None, target=None, weight=None, reduction=1, ignore_index=-100, label_smoothing=0.0, **numpy_names
):
    if numpy_names:
        return call_by_name([cross_entropy_loss_op], locals())
    if label_smoothing.__class__ not in PLAIN_NUMBERS:
        (label_smoothing,) = numbers_of("cross_entropy_loss", label_smoothing=label_smoothing)
    try:
        key_set = (
            input._key_set | target._key_set | (0 if weight is None else weight._key_set) | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(cross_entropy_loss_op, input, target, weight, reduction, ignore_index, label_smoothing)
    return cross_entropy_loss_op.table[key_set](input, target, weight, reduction, ignore_index, label_smoothing)


def huber_loss(input=None, target=None, reduction=1, delta=1.0, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([huber_loss_op, huber_loss_out_op], locals())
    if delta.__class__ not in PLAIN_NUMBERS:
        (delta,) = numbers_of("huber_loss", delta=delta)
    if out is not None:
        return invoke(huber_loss_out_op, input, target, reduction, delta, out)
    try:
        key_set = (input._key_set | target._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(huber_loss_op, input, target, reduction, delta)
    return huber_loss_op.table[key_set](input, target, reduction, delta)


def kl_div(input=None, target=None, reduction=1, *, log_target=False, **numpy_names):
    if numpy_names:
        return call_by_name([kl_div_op], locals())
    try:
        key_set = (input._key_set | target._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(kl_div_op, input, target, reduction, log_target)
    return kl_div_op.table[key_set](input, target, reduction, log_target)


def l1_loss(input=None, target=None, reduction=1, **numpy_names):
    if numpy_names:
        return call_by_name([l1_loss_op], locals())
    try:
        key_set = (input._key_set | target._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(l1_loss_op, input, target, reduction)
    return l1_loss_op.table[key_set](input, target, reduction)


def mse_loss(input=None, target=None, reduction=1, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([mse_loss_op, mse_loss_out_op], locals())
    if out is not None:
        return invoke(mse_loss_out_op, input, target, reduction, out)
    try:
        key_set = (input._key_set | target._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mse_loss_op, input, target, reduction)
    return mse_loss_op.table[key_set](input, target, reduction)


def nll_loss(input=None, target=None, weight=None, reduction=1, ignore_index=-100, **numpy_names):
    if numpy_names:
        return call_by_name([nll_loss_op], locals())
    try:
        key_set = (
            input._key_set | target._key_set | (0 if weight is None else weight._key_set) | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(nll_loss_op, input, target, weight, reduction, ignore_index)
    return nll_loss_op.table[key_set](input, target, weight, reduction, ignore_index)


def nll_loss2d(input=None, target=None, weight=None, reduction=1, ignore_index=-100, **numpy_names):
    if numpy_names:
        return call_by_name([nll_loss2d_op], locals())
    try:
        key_set = (
            input._key_set | target._key_set | (0 if weight is None else weight._key_set) | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(nll_loss2d_op, input, target, weight, reduction, ignore_index)
    return nll_loss2d_op.table[key_set](input, target, weight, reduction, ignore_index)


def nll_loss2d_forward(input=None, target=None, weight=None, reduction=None, ignore_index=None, **numpy_names):
    if numpy_names or reduction is None or ignore_index is None:
        return call_by_name([nll_loss2d_forward_op], locals())
    try:
        key_set = (
            input._key_set | target._key_set | (0 if weight is None else weight._key_set) | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(nll_loss2d_forward_op, input, target, weight, reduction, ignore_index)
    return nll_loss2d_forward_op.table[key_set](input, target, weight, reduction, ignore_index)


def nll_loss_forward(input=None, target=None, weight=None, reduction=None, ignore_index=None, **numpy_names):
    if numpy_names or reduction is None or ignore_index is None:
        return call_by_name([nll_loss_forward_op], locals())
    try:
        key_set = (
            input._key_set | target._key_set | (0 if weight is None else weight._key_set) | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(nll_loss_forward_op, input, target, weight, reduction, ignore_index)
    return nll_loss_forward_op.table[key_set](input, target, weight, reduction, ignore_index)


def nll_loss_nd(input=None, target=None, weight=None, reduction=1, ignore_index=-100, **numpy_names):
    if numpy_names:
        return call_by_name([nll_loss_nd_op], locals())
    try:
        key_set = (
            input._key_set | target._key_set | (0 if weight is None else weight._key_set) | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(nll_loss_nd_op, input, target, weight, reduction, ignore_index)
    return nll_loss_nd_op.table[key_set](input, target, weight, reduction, ignore_index)


def smooth_l1_loss(input=None, target=None, reduction=1, beta=1.0, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([smooth_l1_loss_op, smooth_l1_loss_out_op], locals())
    if beta.__class__ not in PLAIN_NUMBERS:
        (beta,) = numbers_of("smooth_l1_loss", beta=beta)
    if out is not None:
        return invoke(smooth_l1_loss_out_op, input, target, reduction, beta, out)
    try:
        key_set = (input._key_set | target._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(smooth_l1_loss_op, input, target, reduction, beta)
    return smooth_l1_loss_op.table[key_set](input, target, reduction, beta)


def hinge_embedding_loss(input=None, target=None, margin=1.0, reduction=1, **numpy_names):
    if numpy_names:
        return call_by_name([hinge_embedding_loss_op], locals())
    if margin.__class__ not in PLAIN_NUMBERS:
        (margin,) = numbers_of("hinge_embedding_loss", margin=margin)
    try:
        key_set = (input._key_set | target._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(hinge_embedding_loss_op, input, target, margin, reduction)
    return hinge_embedding_loss_op.table[key_set](input, target, margin, reduction)


def cosine_embedding_loss(input1, input2, target, margin=0.0, reduction=1):
    if margin.__class__ not in PLAIN_NUMBERS:
        (margin,) = numbers_of("cosine_embedding_loss", margin=margin)
    try:
        key_set = (input1._key_set | input2._key_set | target._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cosine_embedding_loss_op, input1, input2, target, margin, reduction)
    return cosine_embedding_loss_op.table[key_set](input1, input2, target, margin, reduction)


def margin_ranking_loss(input1, input2, target, margin=0.0, reduction=1):
    if margin.__class__ not in PLAIN_NUMBERS:
        (margin,) = numbers_of("margin_ranking_loss", margin=margin)
    try:
        key_set = (input1._key_set | input2._key_set | target._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(margin_ranking_loss_op, input1, input2, target, margin, reduction)
    return margin_ranking_loss_op.table[key_set](input1, input2, target, margin, reduction)


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-06, swap=False, reduction=1):
    if margin.__class__ not in PLAIN_NUMBERS or p.__class__ not in PLAIN_NUMBERS or eps.__class__ not in PLAIN_NUMBERS:
        margin, p, eps = numbers_of("triplet_margin_loss", margin=margin, p=p, eps=eps)
    try:
        key_set = (anchor._key_set | positive._key_set | negative._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(triplet_margin_loss_op, anchor, positive, negative, margin, p, eps, swap, reduction)
    return triplet_margin_loss_op.table[key_set](anchor, positive, negative, margin, p, eps, swap, reduction)


def poisson_nll_loss(input=None, target=None, log_input=None, full=None, eps=None, reduction=None, **numpy_names):
    if numpy_names or log_input is None or full is None or eps is None or reduction is None:
        return call_by_name([poisson_nll_loss_op], locals())
    if eps.__class__ not in PLAIN_NUMBERS:
        (eps,) = numbers_of("poisson_nll_loss", eps=eps)
    try:
        key_set = (input._key_set | target._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(poisson_nll_loss_op, input, target, log_input, full, eps, reduction)
    return poisson_nll_loss_op.table[key_set](input, target, log_input, full, eps, reduction)


def soft_margin_loss(input=None, target=None, reduction=1, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([soft_margin_loss_op, soft_margin_loss_out_op], locals())
    if out is not None:
        return invoke(soft_margin_loss_out_op, input, target, reduction, out)
    try:
        key_set = (input._key_set | target._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(soft_margin_loss_op, input, target, reduction)
    return soft_margin_loss_op.table[key_set](input, target, reduction)


def multi_margin_loss(input=None, target=None, p=1, margin=1, weight=None, reduction=1, **numpy_names):
    if numpy_names:
        return call_by_name([multi_margin_loss_op], locals())
    if p.__class__ not in PLAIN_NUMBERS or margin.__class__ not in PLAIN_NUMBERS:
        p, margin = numbers_of("multi_margin_loss", p=p, margin=margin)
    try:
        key_set = (
            input._key_set | target._key_set | (0 if weight is None else weight._key_set) | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(multi_margin_loss_op, input, target, p, margin, weight, reduction)
    return multi_margin_loss_op.table[key_set](input, target, p, margin, weight, reduction)


def multilabel_margin_loss_forward(input=None, target=None, reduction=None, **numpy_names):
    if numpy_names or reduction is None:
        return call_by_name([multilabel_margin_loss_forward_op], locals())
    try:
        key_set = (input._key_set | target._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(multilabel_margin_loss_forward_op, input, target, reduction)
    return multilabel_margin_loss_forward_op.table[key_set](input, target, reduction)


def multilabel_margin_loss(input=None, target=None, reduction=1, **numpy_names):
    if numpy_names:
        return call_by_name([multilabel_margin_loss_op], locals())
    try:
        key_set = (input._key_set | target._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(multilabel_margin_loss_op, input, target, reduction)
    return multilabel_margin_loss_op.table[key_set](input, target, reduction)


def ctc_loss(*args, **kwargs):
    return resolve(
        (
            ctc_loss_IntList_op,
            ctc_loss_Tensor_op,
        ),
        args,
        kwargs,
    )


def _ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, zero_infinity=False):
    try:
        key_set = (log_probs._key_set | targets._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_ctc_loss_op, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)
    return _ctc_loss_op.table[key_set](log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)


def _ctc_loss_backward(
    grad, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha, blank, zero_infinity=False
):
    try:
        key_set = (
            grad._key_set
            | log_probs._key_set
            | targets._key_set
            | neg_log_likelihood._key_set
            | log_alpha._key_set
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(
            _ctc_loss_backward_op,
            grad,
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            neg_log_likelihood,
            log_alpha,
            blank,
            zero_infinity,
        )
    return _ctc_loss_backward_op.table[key_set](
        grad, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha, blank, zero_infinity
    )


def bernoulli(*args, **kwargs):
    return resolve(
        (
            bernoulli_op,
            bernoulli_p_op,
            bernoulli_out_op,
        ),
        args,
        kwargs,
    )


def dropout(input=None, p=None, train=None, **numpy_names):
    if numpy_names or p is None or train is None:
        return call_by_name([dropout_op], locals())
    if p.__class__ not in PLAIN_NUMBERS:
        (p,) = numbers_of("dropout", p=p)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(dropout_op, input, p, train)
    return dropout_op.table[key_set](input, p, train)


def dropout_(input=None, p=None, train=None, **numpy_names):
    if numpy_names or p is None or train is None:
        return call_by_name([dropout__op], locals())
    if p.__class__ not in PLAIN_NUMBERS:
        (p,) = numbers_of("dropout_", p=p)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(dropout__op, input, p, train)
    return dropout__op.table[key_set](input, p, train)


def multinomial(input=None, num_samples=None, replacement=False, *, generator=None, out=None, **numpy_names):
    if numpy_names or num_samples is None:
        return call_by_name([multinomial_op, multinomial_out_op], locals())
    if out is not None:
        return invoke(multinomial_out_op, input, num_samples, replacement, generator, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(multinomial_op, input, num_samples, replacement, generator)
    return multinomial_op.table[key_set](input, num_samples, replacement, generator)


def normal(*args, **kwargs):
    requires_grad = kwargs.pop("requires_grad", False)
    if (out := kwargs.pop("out", None)) is not None:
        kwargs = check_out_options(out, kwargs)
    return leaf(
        resolve(
            (
                normal_float_float_op,
                normal_Tensor_float_op,
                normal_float_Tensor_op,
                normal_Tensor_Tensor_op,
                normal_float_float_out_op,
                normal_Tensor_float_out_op,
                normal_float_Tensor_out_op,
                normal_Tensor_Tensor_out_op,
            ),
            args,
            kwargs,
        ),
        requires_grad,
    )


def rand(*args, **kwargs):
    requires_grad = kwargs.pop("requires_grad", False)
    if (out := kwargs.pop("out", None)) is not None:
        kwargs = check_out_options(out, kwargs)
    return leaf(
        resolve(
            (
                rand_op,
                rand_generator_op,
                rand_out_op,
                rand_generator_out_op,
            ),
            args,
            kwargs,
        ),
        requires_grad,
    )


def rand_like(
    input=None,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    memory_format=None,
    requires_grad=False,
    **numpy_names,
):
    if numpy_names:
        return call_by_name([rand_like_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rand_like_op, input, dtype, layout, device, pin_memory, memory_format)
    return leaf(rand_like_op.table[key_set](input, dtype, layout, device, pin_memory, memory_format), requires_grad)


def randint(*args, **kwargs):
    requires_grad = kwargs.pop("requires_grad", False)
    if (out := kwargs.pop("out", None)) is not None:
        kwargs = check_out_options(out, kwargs)
    return leaf(
        resolve(
            (
                randint_op,
                randint_generator_op,
                randint_low_op,
                randint_low_generator_op,
                randint_out_op,
                randint_generator_out_op,
                randint_low_out_op,
                randint_low_generator_out_op,
            ),
            args,
            kwargs,
        ),
        requires_grad,
    )


def randint_like(*args, **kwargs):
    requires_grad = kwargs.pop("requires_grad", False)
    return leaf(
        resolve(
            (
                randint_like_op,
                randint_like_low_dtype_op,
            ),
            args,
            kwargs,
        ),
        requires_grad,
    )


def randn(*args, **kwargs):
    requires_grad = kwargs.pop("requires_grad", False)
    if (out := kwargs.pop("out", None)) is not None:
        kwargs = check_out_options(out, kwargs)
    return leaf(
        resolve(
            (
                randn_op,
                randn_generator_op,
                randn_out_op,
                randn_generator_out_op,
            ),
            args,
            kwargs,
        ),
        requires_grad,
    )


def randn_like(
    input=None,
    *,
    dtype=None,
    layout=None,
    device=None,
    pin_memory=None,
    memory_format=None,
    requires_grad=False,
    **numpy_names,
):
    if numpy_names:
        return call_by_name([randn_like_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(randn_like_op, input, dtype, layout, device, pin_memory, memory_format)
    return leaf(randn_like_op.table[key_set](input, dtype, layout, device, pin_memory, memory_format), requires_grad)


def randperm(*args, **kwargs):
    requires_grad = kwargs.pop("requires_grad", False)
    if (out := kwargs.pop("out", None)) is not None:
        kwargs = check_out_options(out, kwargs)
    return leaf(
        resolve(
            (
                randperm_op,
                randperm_generator_op,
                randperm_out_op,
                randperm_generator_out_op,
            ),
            args,
            kwargs,
        ),
        requires_grad,
    )


def feature_dropout(input=None, p=None, train=None, **numpy_names):
    if numpy_names or p is None or train is None:
        return call_by_name([feature_dropout_op], locals())
    if p.__class__ not in PLAIN_NUMBERS:
        (p,) = numbers_of("feature_dropout", p=p)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(feature_dropout_op, input, p, train)
    return feature_dropout_op.table[key_set](input, p, train)


def feature_dropout_(input=None, p=None, train=None, **numpy_names):
    if numpy_names or p is None or train is None:
        return call_by_name([feature_dropout__op], locals())
    if p.__class__ not in PLAIN_NUMBERS:
        (p,) = numbers_of("feature_dropout_", p=p)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(feature_dropout__op, input, p, train)
    return feature_dropout__op.table[key_set](input, p, train)


def alpha_dropout(input=None, p=None, train=None, **numpy_names):
    if numpy_names or p is None or train is None:
        return call_by_name([alpha_dropout_op], locals())
    if p.__class__ not in PLAIN_NUMBERS:
        (p,) = numbers_of("alpha_dropout", p=p)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(alpha_dropout_op, input, p, train)
    return alpha_dropout_op.table[key_set](input, p, train)


def alpha_dropout_(input=None, p=None, train=None, **numpy_names):
    if numpy_names or p is None or train is None:
        return call_by_name([alpha_dropout__op], locals())
    if p.__class__ not in PLAIN_NUMBERS:
        (p,) = numbers_of("alpha_dropout_", p=p)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(alpha_dropout__op, input, p, train)
    return alpha_dropout__op.table[key_set](input, p, train)


def feature_alpha_dropout(input=None, p=None, train=None, **numpy_names):
    if numpy_names or p is None or train is None:
        return call_by_name([feature_alpha_dropout_op], locals())
    if p.__class__ not in PLAIN_NUMBERS:
        (p,) = numbers_of("feature_alpha_dropout", p=p)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(feature_alpha_dropout_op, input, p, train)
    return feature_alpha_dropout_op.table[key_set](input, p, train)


def feature_alpha_dropout_(input=None, p=None, train=None, **numpy_names):
    if numpy_names or p is None or train is None:
        return call_by_name([feature_alpha_dropout__op], locals())
    if p.__class__ not in PLAIN_NUMBERS:
        (p,) = numbers_of("feature_alpha_dropout_", p=p)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(feature_alpha_dropout__op, input, p, train)
    return feature_alpha_dropout__op.table[key_set](input, p, train)


def _log_softmax_backward_data(grad_output=None, output=None, dim=None, input_dtype=None, *, out=None, **numpy_names):
    if numpy_names or dim is None or input_dtype is None:
        return call_by_name([_log_softmax_backward_data_op, _log_softmax_backward_data_out_op], locals())
    if input_dtype is not None:
        input_dtype = as_dtype(input_dtype)
    if out is not None:
        return invoke(_log_softmax_backward_data_out_op, grad_output, output, dim, input_dtype, out)
    try:
        key_set = (grad_output._key_set | output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_log_softmax_backward_data_op, grad_output, output, dim, input_dtype)
    return _log_softmax_backward_data_op.table[key_set](grad_output, output, dim, input_dtype)


def _softmax_backward_data(grad_output=None, output=None, dim=None, input_dtype=None, *, out=None, **numpy_names):
    if numpy_names or dim is None or input_dtype is None:
        return call_by_name([_softmax_backward_data_op, _softmax_backward_data_out_op], locals())
    if input_dtype is not None:
        input_dtype = as_dtype(input_dtype)
    if out is not None:
        return invoke(_softmax_backward_data_out_op, grad_output, output, dim, input_dtype, out)
    try:
        key_set = (grad_output._key_set | output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(_softmax_backward_data_op, grad_output, output, dim, input_dtype)
    return _softmax_backward_data_op.table[key_set](grad_output, output, dim, input_dtype)


def binary_cross_entropy_backward(
    grad_output=None, input=None, target=None, weight=None, reduction=1, *, out=None, **numpy_names
):
    if numpy_names:
        return call_by_name([binary_cross_entropy_backward_op, binary_cross_entropy_backward_grad_input_op], locals())
    if out is not None:
        return invoke(binary_cross_entropy_backward_grad_input_op, grad_output, input, target, weight, reduction, out)
    try:
        key_set = (
            grad_output._key_set
            | input._key_set
            | target._key_set
            | (0 if weight is None else weight._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(binary_cross_entropy_backward_op, grad_output, input, target, weight, reduction)
    return binary_cross_entropy_backward_op.table[key_set](grad_output, input, target, weight, reduction)


def diagonal_backward(grad_output, input_sizes, offset, dim1, dim2):
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(diagonal_backward_op, grad_output, input_sizes, offset, dim1, dim2)
    return diagonal_backward_op.table[key_set](grad_output, input_sizes, offset, dim1, dim2)


def elu_backward(grad_output, alpha, scale, input_scale, is_result, self_or_result, *, out=None):
    if out is not None:
        return invoke(
            elu_backward_grad_input_op, grad_output, alpha, scale, input_scale, is_result, self_or_result, out
        )
    try:
        key_set = (grad_output._key_set | self_or_result._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(elu_backward_op, grad_output, alpha, scale, input_scale, is_result, self_or_result)
    return elu_backward_op.table[key_set](grad_output, alpha, scale, input_scale, is_result, self_or_result)


def embedding_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq, sparse):
    try:
        key_set = (grad._key_set | indices._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(embedding_backward_op, grad, indices, num_weights, padding_idx, scale_grad_by_freq, sparse)
    return embedding_backward_op.table[key_set](grad, indices, num_weights, padding_idx, scale_grad_by_freq, sparse)


def embedding_dense_backward(grad_output, indices, num_weights, padding_idx, scale_grad_by_freq):
    try:
        key_set = (grad_output._key_set | indices._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(embedding_dense_backward_op, grad_output, indices, num_weights, padding_idx, scale_grad_by_freq)
    return embedding_dense_backward_op.table[key_set](
        grad_output, indices, num_weights, padding_idx, scale_grad_by_freq
    )


def gelu_backward(grad_output=None, input=None, *, approximate="none", out=None, **numpy_names):
    if numpy_names:
        return call_by_name([gelu_backward_op, gelu_backward_grad_input_op], locals())
    if out is not None:
        return invoke(gelu_backward_grad_input_op, grad_output, input, approximate, out)
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(gelu_backward_op, grad_output, input, approximate)
    return gelu_backward_op.table[key_set](grad_output, input, approximate)


def hardtanh_backward(grad_output=None, input=None, min_val=None, max_val=None, *, out=None, **numpy_names):
    if numpy_names or min_val is None or max_val is None:
        return call_by_name([hardtanh_backward_op, hardtanh_backward_grad_input_op], locals())
    if out is not None:
        return invoke(hardtanh_backward_grad_input_op, grad_output, input, min_val, max_val, out)
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(hardtanh_backward_op, grad_output, input, min_val, max_val)
    return hardtanh_backward_op.table[key_set](grad_output, input, min_val, max_val)


def huber_loss_backward(
    grad_output=None, input=None, target=None, reduction=None, delta=None, *, out=None, **numpy_names
):
    if numpy_names or reduction is None or delta is None:
        return call_by_name([huber_loss_backward_op, huber_loss_backward_out_op], locals())
    if out is not None:
        return invoke(huber_loss_backward_out_op, grad_output, input, target, reduction, delta, out)
    try:
        key_set = (grad_output._key_set | input._key_set | target._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(huber_loss_backward_op, grad_output, input, target, reduction, delta)
    return huber_loss_backward_op.table[key_set](grad_output, input, target, reduction, delta)


def index_select_backward(grad=None, self_sizes=None, dim=None, index=None, **numpy_names):
    if numpy_names or self_sizes is None or dim is None:
        return call_by_name([index_select_backward_op], locals())
    try:
        key_set = (grad._key_set | index._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(index_select_backward_op, grad, self_sizes, dim, index)
    return index_select_backward_op.table[key_set](grad, self_sizes, dim, index)


def leaky_relu_backward(
    grad_output=None, input=None, negative_slope=None, self_is_result=None, *, out=None, **numpy_names
):
    if numpy_names or negative_slope is None or self_is_result is None:
        return call_by_name([leaky_relu_backward_op, leaky_relu_backward_grad_input_op], locals())
    if out is not None:
        return invoke(leaky_relu_backward_grad_input_op, grad_output, input, negative_slope, self_is_result, out)
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(leaky_relu_backward_op, grad_output, input, negative_slope, self_is_result)
    return leaky_relu_backward_op.table[key_set](grad_output, input, negative_slope, self_is_result)


def mse_loss_backward(grad_output=None, input=None, target=None, reduction=None, *, out=None, **numpy_names):
    if numpy_names or reduction is None:
        return call_by_name([mse_loss_backward_op, mse_loss_backward_grad_input_op], locals())
    if out is not None:
        return invoke(mse_loss_backward_grad_input_op, grad_output, input, target, reduction, out)
    try:
        key_set = (grad_output._key_set | input._key_set | target._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mse_loss_backward_op, grad_output, input, target, reduction)
    return mse_loss_backward_op.table[key_set](grad_output, input, target, reduction)


def nll_loss2d_backward(
    grad_output=None,
    input=None,
    target=None,
    weight=None,
    reduction=None,
    ignore_index=None,
    total_weight=None,
    **numpy_names,
):
    if numpy_names or reduction is None or ignore_index is None:
        return call_by_name([nll_loss2d_backward_op], locals())
    try:
        key_set = (
            grad_output._key_set
            | input._key_set
            | target._key_set
            | total_weight._key_set
            | (0 if weight is None else weight._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(nll_loss2d_backward_op, grad_output, input, target, weight, reduction, ignore_index, total_weight)
    return nll_loss2d_backward_op.table[key_set](
        grad_output, input, target, weight, reduction, ignore_index, total_weight
    )


def nll_loss_backward(
    grad_output=None,
    input=None,
    target=None,
    weight=None,
    reduction=None,
    ignore_index=None,
    total_weight=None,
    *,
    out=None,
    **numpy_names,
):
    if numpy_names or reduction is None or ignore_index is None:
        return call_by_name([nll_loss_backward_op, nll_loss_backward_grad_input_op], locals())
    if out is not None:
        return invoke(
            nll_loss_backward_grad_input_op,
            grad_output,
            input,
            target,
            weight,
            reduction,
            ignore_index,
            total_weight,
            out,
        )
    try:
        key_set = (
            grad_output._key_set
            | input._key_set
            | target._key_set
            | total_weight._key_set
            | (0 if weight is None else weight._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(nll_loss_backward_op, grad_output, input, target, weight, reduction, ignore_index, total_weight)
    return nll_loss_backward_op.table[key_set](
        grad_output, input, target, weight, reduction, ignore_index, total_weight
    )


def select_backward(grad_output=None, input_sizes=None, dim=None, index=None, **numpy_names):
    if numpy_names or input_sizes is None or dim is None or index is None:
        return call_by_name([select_backward_op], locals())
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(select_backward_op, grad_output, input_sizes, dim, index)
    return select_backward_op.table[key_set](grad_output, input_sizes, dim, index)


def sigmoid_backward(grad_output, output, *, out=None):
    if out is not None:
        return invoke(sigmoid_backward_grad_input_op, grad_output, output, out)
    try:
        key_set = (grad_output._key_set | output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sigmoid_backward_op, grad_output, output)
    return sigmoid_backward_op.table[key_set](grad_output, output)


def silu_backward(grad_output=None, input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([silu_backward_op, silu_backward_grad_input_op], locals())
    if out is not None:
        return invoke(silu_backward_grad_input_op, grad_output, input, out)
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(silu_backward_op, grad_output, input)
    return silu_backward_op.table[key_set](grad_output, input)


def slice_backward(grad_output=None, input_sizes=None, dim=None, start=None, end=None, step=None, **numpy_names):
    if numpy_names or input_sizes is None or dim is None or start is None or end is None or step is None:
        return call_by_name([slice_backward_op], locals())
    try:
        key_set = (grad_output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(slice_backward_op, grad_output, input_sizes, dim, start, end, step)
    return slice_backward_op.table[key_set](grad_output, input_sizes, dim, start, end, step)


def smooth_l1_loss_backward(
    grad_output=None, input=None, target=None, reduction=None, beta=None, *, out=None, **numpy_names
):
    if numpy_names or reduction is None or beta is None:
        return call_by_name([smooth_l1_loss_backward_op, smooth_l1_loss_backward_grad_input_op], locals())
    if out is not None:
        return invoke(smooth_l1_loss_backward_grad_input_op, grad_output, input, target, reduction, beta, out)
    try:
        key_set = (grad_output._key_set | input._key_set | target._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(smooth_l1_loss_backward_op, grad_output, input, target, reduction, beta)
    return smooth_l1_loss_backward_op.table[key_set](grad_output, input, target, reduction, beta)


def softplus_backward(grad_output=None, input=None, beta=None, threshold=None, *, out=None, **numpy_names):
    if numpy_names or beta is None or threshold is None:
        return call_by_name([softplus_backward_op, softplus_backward_grad_input_op], locals())
    if out is not None:
        return invoke(softplus_backward_grad_input_op, grad_output, input, beta, threshold, out)
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(softplus_backward_op, grad_output, input, beta, threshold)
    return softplus_backward_op.table[key_set](grad_output, input, beta, threshold)


def tanh_backward(grad_output, output, *, out=None):
    if out is not None:
        return invoke(tanh_backward_grad_input_op, grad_output, output, out)
    try:
        key_set = (grad_output._key_set | output._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(tanh_backward_op, grad_output, output)
    return tanh_backward_op.table[key_set](grad_output, output)


def threshold_backward(grad_output=None, input=None, threshold=None, *, out=None, **numpy_names):
    if numpy_names or threshold is None:
        return call_by_name([threshold_backward_op, threshold_backward_grad_input_op], locals())
    if out is not None:
        return invoke(threshold_backward_grad_input_op, grad_output, input, threshold, out)
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(threshold_backward_op, grad_output, input, threshold)
    return threshold_backward_op.table[key_set](grad_output, input, threshold)


def unfold_backward(grad_in=None, input_sizes=None, dim=None, size=None, step=None, **numpy_names):
    if numpy_names or input_sizes is None or dim is None or size is None or step is None:
        return call_by_name([unfold_backward_op], locals())
    try:
        key_set = (grad_in._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unfold_backward_op, grad_in, input_sizes, dim, size, step)
    return unfold_backward_op.table[key_set](grad_in, input_sizes, dim, size, step)


def value_selecting_reduction_backward(grad=None, dim=None, indices=None, sizes=None, keepdim=None, **numpy_names):
    if numpy_names or dim is None or sizes is None or keepdim is None:
        return call_by_name([value_selecting_reduction_backward_op], locals())
    try:
        key_set = (grad._key_set | indices._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(value_selecting_reduction_backward_op, grad, dim, indices, sizes, keepdim)
    return value_selecting_reduction_backward_op.table[key_set](grad, dim, indices, sizes, keepdim)


def hardshrink_backward(grad_out=None, input=None, lambd=None, **numpy_names):
    if numpy_names or lambd is None:
        return call_by_name([hardshrink_backward_op], locals())
    try:
        key_set = (grad_out._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(hardshrink_backward_op, grad_out, input, lambd)
    return hardshrink_backward_op.table[key_set](grad_out, input, lambd)


def softshrink_backward(grad_output=None, input=None, lambd=None, **numpy_names):
    if numpy_names or lambd is None:
        return call_by_name([softshrink_backward_op], locals())
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(softshrink_backward_op, grad_output, input, lambd)
    return softshrink_backward_op.table[key_set](grad_output, input, lambd)


def hardsigmoid_backward(grad_output=None, input=None, **numpy_names):
    if numpy_names:
        return call_by_name([hardsigmoid_backward_op], locals())
    try:
        key_set = (grad_output._key_set | input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(hardsigmoid_backward_op, grad_output, input)
    return hardsigmoid_backward_op.table[key_set](grad_output, input)


def log_sigmoid_backward(grad_output=None, input=None, buffer=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([log_sigmoid_backward_op, log_sigmoid_backward_grad_input_op], locals())
    if out is not None:
        return invoke(log_sigmoid_backward_grad_input_op, grad_output, input, buffer, out)
    try:
        key_set = (grad_output._key_set | input._key_set | buffer._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log_sigmoid_backward_op, grad_output, input, buffer)
    return log_sigmoid_backward_op.table[key_set](grad_output, input, buffer)


def fake_quantize_per_tensor_affine(*args, **kwargs):
    return resolve(
        (
            fake_quantize_per_tensor_affine_op,
            fake_quantize_per_tensor_affine_tensor_qparams_op,
        ),
        args,
        kwargs,
    )


def fake_quantize_per_tensor_affine_cachemask(
    input=None, scale=None, zero_point=None, quant_min=None, quant_max=None, **numpy_names
):
    if numpy_names or scale is None or zero_point is None or quant_min is None or quant_max is None:
        return call_by_name([fake_quantize_per_tensor_affine_cachemask_op], locals())
    if scale.__class__ not in PLAIN_NUMBERS:
        (scale,) = numbers_of("fake_quantize_per_tensor_affine_cachemask", scale=scale)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(fake_quantize_per_tensor_affine_cachemask_op, input, scale, zero_point, quant_min, quant_max)
    return fake_quantize_per_tensor_affine_cachemask_op.table[key_set](input, scale, zero_point, quant_min, quant_max)


def _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
    input=None, scale=None, zero_point=None, fake_quant_enabled=None, quant_min=None, quant_max=None, **numpy_names
):
    if numpy_names or quant_min is None or quant_max is None:
        return return_types.named(
            return_types._fake_quantize_per_tensor_affine_cachemask_tensor_qparams,
            call_by_name([_fake_quantize_per_tensor_affine_cachemask_tensor_qparams_op], locals()),
        )
    try:
        key_set = (
            input._key_set | scale._key_set | zero_point._key_set | fake_quant_enabled._key_set | local.included
        ) & ~local.excluded
    except AttributeError:
        return return_types.named(
            return_types._fake_quantize_per_tensor_affine_cachemask_tensor_qparams,
            invoke(
                _fake_quantize_per_tensor_affine_cachemask_tensor_qparams_op,
                input,
                scale,
                zero_point,
                fake_quant_enabled,
                quant_min,
                quant_max,
            ),
        )
    return return_types.named(
        return_types._fake_quantize_per_tensor_affine_cachemask_tensor_qparams,
        _fake_quantize_per_tensor_affine_cachemask_tensor_qparams_op.table[key_set](
            input, scale, zero_point, fake_quant_enabled, quant_min, quant_max
        ),
    )


def fake_quantize_per_tensor_affine_cachemask_backward(grad, mask):
    try:
        key_set = (grad._key_set | mask._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(fake_quantize_per_tensor_affine_cachemask_backward_op, grad, mask)
    return fake_quantize_per_tensor_affine_cachemask_backward_op.table[key_set](grad, mask)


def fake_quantize_per_channel_affine(
    input=None, scale=None, zero_point=None, axis=None, quant_min=None, quant_max=None, **numpy_names
):
    if numpy_names or axis is None or quant_min is None or quant_max is None:
        return call_by_name([fake_quantize_per_channel_affine_op], locals())
    try:
        key_set = (input._key_set | scale._key_set | zero_point._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(fake_quantize_per_channel_affine_op, input, scale, zero_point, axis, quant_min, quant_max)
    return fake_quantize_per_channel_affine_op.table[key_set](input, scale, zero_point, axis, quant_min, quant_max)


def fake_quantize_per_channel_affine_cachemask(
    input=None, scale=None, zero_point=None, axis=None, quant_min=None, quant_max=None, **numpy_names
):
    if numpy_names or axis is None or quant_min is None or quant_max is None:
        return call_by_name([fake_quantize_per_channel_affine_cachemask_op], locals())
    try:
        key_set = (input._key_set | scale._key_set | zero_point._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(
            fake_quantize_per_channel_affine_cachemask_op, input, scale, zero_point, axis, quant_min, quant_max
        )
    return fake_quantize_per_channel_affine_cachemask_op.table[key_set](
        input, scale, zero_point, axis, quant_min, quant_max
    )


def fake_quantize_per_channel_affine_cachemask_backward(grad, mask):
    try:
        key_set = (grad._key_set | mask._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(fake_quantize_per_channel_affine_cachemask_backward_op, grad, mask)
    return fake_quantize_per_channel_affine_cachemask_backward_op.table[key_set](grad, mask)


def absolute(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([absolute_op, absolute_out_op], locals())
    if out is not None:
        return invoke(absolute_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(absolute_op, input)
    return absolute_op.table[key_set](input)


def absolute_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([absolute__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(absolute__op, input)
    return absolute__op.table[key_set](input)


def arccos(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([arccos_op, arccos_out_op], locals())
    if out is not None:
        return invoke(arccos_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arccos_op, input)
    return arccos_op.table[key_set](input)


def arccos_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([arccos__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arccos__op, input)
    return arccos__op.table[key_set](input)


def arccosh(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([arccosh_op, arccosh_out_op], locals())
    if out is not None:
        return invoke(arccosh_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arccosh_op, input)
    return arccosh_op.table[key_set](input)


def arccosh_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([arccosh__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arccosh__op, input)
    return arccosh__op.table[key_set](input)


def arcsin(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([arcsin_op, arcsin_out_op], locals())
    if out is not None:
        return invoke(arcsin_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arcsin_op, input)
    return arcsin_op.table[key_set](input)


def arcsin_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([arcsin__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arcsin__op, input)
    return arcsin__op.table[key_set](input)


def arcsinh(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([arcsinh_op, arcsinh_out_op], locals())
    if out is not None:
        return invoke(arcsinh_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arcsinh_op, input)
    return arcsinh_op.table[key_set](input)


def arcsinh_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([arcsinh__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arcsinh__op, input)
    return arcsinh__op.table[key_set](input)


def arctan(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([arctan_op, arctan_out_op], locals())
    if out is not None:
        return invoke(arctan_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arctan_op, input)
    return arctan_op.table[key_set](input)


def arctan_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([arctan__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arctan__op, input)
    return arctan__op.table[key_set](input)


def arctan2(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([arctan2_op, arctan2_out_op], locals())
    if out is not None:
        return invoke(arctan2_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arctan2_op, input, other)
    return arctan2_op.table[key_set](input, other)


def arctanh(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([arctanh_op, arctanh_out_op], locals())
    if out is not None:
        return invoke(arctanh_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arctanh_op, input)
    return arctanh_op.table[key_set](input)


def arctanh_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([arctanh__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arctanh__op, input)
    return arctanh__op.table[key_set](input)


def clip(*args, **kwargs):
    return resolve(
        (
            clip_Tensor_op,
            clip_op,
            clip_Tensor_out_op,
            clip_out_op,
        ),
        args,
        kwargs,
    )


def clip_(*args, **kwargs):
    return resolve(
        (
            clip__Tensor_op,
            clip__op,
        ),
        args,
        kwargs,
    )


def concat(tensors=None, dim=0, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([concat_op, concat_out_op], locals())
    if out is not None:
        return invoke(concat_out_op, tensors, dim, out)
    return invoke(concat_op, tensors, dim)


def concatenate(tensors=None, dim=0, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([concatenate_op, concatenate_out_op], locals())
    if out is not None:
        return invoke(concatenate_out_op, tensors, dim, out)
    return invoke(concatenate_op, tensors, dim)


def divide(*args, **kwargs):
    return resolve(
        (
            divide_Tensor_op,
            divide_Tensor_mode_op,
            divide_out_op,
            divide_out_mode_op,
        ),
        args,
        kwargs,
    )


def fix(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([fix_op, fix_out_op], locals())
    if out is not None:
        return invoke(fix_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(fix_op, input)
    return fix_op.table[key_set](input)


def fix_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([fix__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(fix__op, input)
    return fix__op.table[key_set](input)


def ger(input=None, vec2=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([ger_op, ger_out_op], locals())
    if out is not None:
        return invoke(ger_out_op, input, vec2, out)
    try:
        key_set = (input._key_set | vec2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ger_op, input, vec2)
    return ger_op.table[key_set](input, vec2)


def greater(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([greater_Tensor_op, greater_Tensor_out_op], locals())
    if out is not None:
        return invoke(greater_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(greater_Tensor_op, input, other)
    return greater_Tensor_op.table[key_set](input, other)


def greater_equal(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([greater_equal_Tensor_op, greater_equal_Tensor_out_op], locals())
    if out is not None:
        return invoke(greater_equal_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(greater_equal_Tensor_op, input, other)
    return greater_equal_Tensor_op.table[key_set](input, other)


def less(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([less_Tensor_op, less_Tensor_out_op], locals())
    if out is not None:
        return invoke(less_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(less_Tensor_op, input, other)
    return less_Tensor_op.table[key_set](input, other)


def less_equal(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([less_equal_Tensor_op, less_equal_Tensor_out_op], locals())
    if out is not None:
        return invoke(less_equal_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(less_equal_Tensor_op, input, other)
    return less_equal_Tensor_op.table[key_set](input, other)


def moveaxis(*args, **kwargs):
    return resolve(
        (
            moveaxis_intlist_op,
            moveaxis_int_op,
        ),
        args,
        kwargs,
    )


def multiply(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([multiply_Tensor_op, multiply_out_op], locals())
    if out is not None:
        return invoke(multiply_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(multiply_Tensor_op, input, other)
    return multiply_Tensor_op.table[key_set](input, other)


def negative(input=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([negative_op, negative_out_op], locals())
    if out is not None:
        return invoke(negative_out_op, input, out)
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(negative_op, input)
    return negative_op.table[key_set](input)


def negative_(input=None, **numpy_names):
    if numpy_names:
        return call_by_name([negative__op], locals())
    try:
        key_set = (input._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(negative__op, input)
    return negative__op.table[key_set](input)


def not_equal(input=None, other=None, *, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([not_equal_Tensor_op, not_equal_Tensor_out_op], locals())
    if out is not None:
        return invoke(not_equal_Tensor_out_op, input, other, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(not_equal_Tensor_op, input, other)
    return not_equal_Tensor_op.table[key_set](input, other)


def row_stack(tensors, *, out=None):
    if out is not None:
        return invoke(row_stack_out_op, tensors, out)
    return invoke(row_stack_op, tensors)


def subtract(input=None, other=None, *, alpha=1, out=None, **numpy_names):
    if numpy_names:
        return call_by_name([subtract_Tensor_op, subtract_out_op], locals())
    if alpha.__class__ not in PLAIN_NUMBERS:
        (alpha,) = numbers_of("subtract", alpha=alpha)
    if out is not None:
        return invoke(subtract_out_op, input, other, alpha, out)
    try:
        key_set = (input._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(subtract_Tensor_op, input, other, alpha)
    return subtract_Tensor_op.table[key_set](input, other, alpha)


# ---- Methods


def tensor_as_strided(self, size, stride, storage_offset=None):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(as_strided_op, self, size, stride, storage_offset)
    return as_strided_op.table[key_set](self, size, stride, storage_offset)


Tensor.as_strided = tensor_as_strided


def tensor_as_strided_(self, size, stride, storage_offset=None):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(as_strided__op, self, size, stride, storage_offset)
    return as_strided__op.table[key_set](self, size, stride, storage_offset)


Tensor.as_strided_ = tensor_as_strided_


def tensor_broadcast_to(self, *size, **named):
    size = int_list(size, "size", named)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(broadcast_to_op, self, size)
    return broadcast_to_op.table[key_set](self, size)


Tensor.broadcast_to = tensor_broadcast_to


def tensor_chunk(self, chunks=None, dim=0, **numpy_names):
    if numpy_names or chunks is None:
        return call_by_name([chunk_op], locals())
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(chunk_op, self, chunks, dim)
    return chunk_op.table[key_set](self, chunks, dim)


Tensor.chunk = tensor_chunk


def tensor_detach(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(detach_op, self)
    return detach_op.table[key_set](self)


Tensor.detach = tensor_detach


def tensor_diagonal(self, offset=0, dim1=0, dim2=1):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(diagonal_op, self, offset, dim1, dim2)
    return diagonal_op.table[key_set](self, offset, dim1, dim2)


Tensor.diagonal = tensor_diagonal


def tensor_expand(self, *size, **named):
    size = int_list(size, "size", named)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(expand_op, self, size)
    return expand_op.table[key_set](self, size)


Tensor.expand = tensor_expand


def tensor_expand_as(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(expand_as_op, self, other)
    return expand_as_op.table[key_set](self, other)


Tensor.expand_as = tensor_expand_as


def tensor_flatten(self, start_dim=0, end_dim=-1):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(flatten_using_ints_op, self, start_dim, end_dim)
    return flatten_using_ints_op.table[key_set](self, start_dim, end_dim)


Tensor.flatten = tensor_flatten


def tensor_mT(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mT_op, self)
    return mT_op.table[key_set](self)


Tensor.mT = tensor_mT


def tensor_movedim(self, *args, **kwargs):
    return resolve(
        (
            movedim_intlist_op,
            movedim_int_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.movedim = tensor_movedim


def tensor_narrow(self, *args, **kwargs):
    return resolve(
        (
            narrow_op,
            narrow_Tensor_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.narrow = tensor_narrow


def tensor_numpy_T(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(numpy_T_op, self)
    return numpy_T_op.table[key_set](self)


Tensor.numpy_T = tensor_numpy_T


def tensor_permute(self, *dims, **named):
    dims = int_list(dims, "dims", named)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(permute_op, self, dims)
    return permute_op.table[key_set](self, dims)


Tensor.permute = tensor_permute


def tensor_reshape(self, *shape, **named):
    shape = int_list(shape, "shape", named)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reshape_op, self, shape)
    return reshape_op.table[key_set](self, shape)


Tensor.reshape = tensor_reshape


def tensor_reshape_as(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reshape_as_op, self, other)
    return reshape_as_op.table[key_set](self, other)


Tensor.reshape_as = tensor_reshape_as


def tensor_select(self, dim=None, index=None, **numpy_names):
    if numpy_names or dim is None or index is None:
        return call_by_name([select_int_op], locals())
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(select_int_op, self, dim, index)
    return select_int_op.table[key_set](self, dim, index)


Tensor.select = tensor_select


def _tensor_split(self, *args, **kwargs):
    return resolve(
        (
            split_Tensor_op,
            split_sizes_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.split = _tensor_split


def tensor_split_with_sizes(self, split_sizes=None, dim=0, **numpy_names):
    if numpy_names or split_sizes is None:
        return call_by_name([split_with_sizes_op], locals())
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(split_with_sizes_op, self, split_sizes, dim)
    return split_with_sizes_op.table[key_set](self, split_sizes, dim)


Tensor.split_with_sizes = tensor_split_with_sizes


def tensor_squeeze(self, *args, **kwargs):
    if not (args or kwargs):
        return squeeze_op.table[(self._key_set | local.included) & ~local.excluded](self)
    return resolve(
        (
            squeeze_op,
            squeeze_dim_op,
            squeeze_dims_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.squeeze = tensor_squeeze


def tensor_squeeze_(self, *args, **kwargs):
    if not (args or kwargs):
        return squeeze__op.table[(self._key_set | local.included) & ~local.excluded](self)
    return resolve(
        (
            squeeze__op,
            squeeze__dim_op,
            squeeze__dims_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.squeeze_ = tensor_squeeze_


def tensor_t(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(t_op, self)
    return t_op.table[key_set](self)


Tensor.t = tensor_t


def tensor_t_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(t__op, self)
    return t__op.table[key_set](self)


Tensor.t_ = tensor_t_


def tensor_transpose(self, dim0, dim1):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(transpose_int_op, self, dim0, dim1)
    return transpose_int_op.table[key_set](self, dim0, dim1)


Tensor.transpose = tensor_transpose


def tensor_swapaxes(self, axis0, axis1):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(swapaxes_op, self, axis0, axis1)
    return swapaxes_op.table[key_set](self, axis0, axis1)


Tensor.swapaxes = tensor_swapaxes


def tensor_swapdims(self, dim0, dim1):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(swapdims_op, self, dim0, dim1)
    return swapdims_op.table[key_set](self, dim0, dim1)


Tensor.swapdims = tensor_swapdims


def tensor_transpose_(self, dim0, dim1):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(transpose__op, self, dim0, dim1)
    return transpose__op.table[key_set](self, dim0, dim1)


Tensor.transpose_ = tensor_transpose_


def tensor_unbind(self, dim=0, **numpy_names):
    if numpy_names:
        return call_by_name([unbind_int_op], locals())
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unbind_int_op, self, dim)
    return unbind_int_op.table[key_set](self, dim)


Tensor.unbind = tensor_unbind


def tensor_unflatten(self, dim=None, sizes=None, **numpy_names):
    if numpy_names or dim is None or sizes is None:
        return call_by_name([unflatten_int_op], locals())
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unflatten_int_op, self, dim, sizes)
    return unflatten_int_op.table[key_set](self, dim, sizes)


Tensor.unflatten = tensor_unflatten


def tensor_unfold(self, dimension, size, step):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unfold_op, self, dimension, size, step)
    return unfold_op.table[key_set](self, dimension, size, step)


Tensor.unfold = tensor_unfold


def tensor_unsqueeze(self, dim=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([unsqueeze_op], locals())
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unsqueeze_op, self, dim)
    return unsqueeze_op.table[key_set](self, dim)


Tensor.unsqueeze = tensor_unsqueeze


def tensor_unsqueeze_(self, dim=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([unsqueeze__op], locals())
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(unsqueeze__op, self, dim)
    return unsqueeze__op.table[key_set](self, dim)


Tensor.unsqueeze_ = tensor_unsqueeze_


def tensor_view(self, *args, **kwargs):
    return resolve(
        (
            view_op,
            view_dtype_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.view = tensor_view


def tensor_view_as(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(view_as_op, self, other)
    return view_as_op.table[key_set](self, other)


Tensor.view_as = tensor_view_as


def tensor_clone(self, *, memory_format=None):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(clone_op, self, memory_format)
    return clone_op.table[key_set](self, memory_format)


Tensor.clone = tensor_clone


def tensor_contiguous(self, *, memory_format=contiguous_format):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(contiguous_op, self, memory_format)
    return contiguous_op.table[key_set](self, memory_format)


Tensor.contiguous = tensor_contiguous


def tensor_copy_(self, src, non_blocking=False):
    try:
        key_set = (self._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(copy__op, self, src, non_blocking)
    return copy__op.table[key_set](self, src, non_blocking)


Tensor.copy_ = tensor_copy_


def tensor_to(self, *args, **kwargs):
    requires_grad = kwargs.pop("requires_grad", False)
    return leaf(
        resolve(
            (
                to_dtype_layout_op,
                to_device_op,
                to_dtype_op,
                to_other_op,
            ),
            (self, *args),
            kwargs,
        ),
        requires_grad,
    )


Tensor.to = tensor_to


def tensor_type_as(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(type_as_op, self, other)
    return type_as_op.table[key_set](self, other)


Tensor.type_as = tensor_type_as


def tensor_new_empty(self, *size, dtype=None, layout=None, device=None, pin_memory=None, requires_grad=False, **named):
    size = int_list(size, "size", named)
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(new_empty_op, self, size, dtype, layout, device, pin_memory)
    return leaf(new_empty_op.table[key_set](self, size, dtype, layout, device, pin_memory), requires_grad)


Tensor.new_empty = tensor_new_empty


def tensor_new_empty_strided(
    self, size, stride, *, dtype=None, layout=None, device=None, pin_memory=None, requires_grad=False
):
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(new_empty_strided_op, self, size, stride, dtype, layout, device, pin_memory)
    return leaf(
        new_empty_strided_op.table[key_set](self, size, stride, dtype, layout, device, pin_memory), requires_grad
    )


Tensor.new_empty_strided = tensor_new_empty_strided


def tensor_new_full(
    self, size, fill_value, *, dtype=None, layout=None, device=None, pin_memory=None, requires_grad=False
):
    if dtype is not None:
        dtype = as_dtype(dtype)
    if fill_value.__class__ not in PLAIN_NUMBERS:
        (fill_value,) = numbers_of("new_full", fill_value=fill_value)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(new_full_op, self, size, fill_value, dtype, layout, device, pin_memory)
    return leaf(new_full_op.table[key_set](self, size, fill_value, dtype, layout, device, pin_memory), requires_grad)


Tensor.new_full = tensor_new_full


def tensor_new_ones(self, *size, dtype=None, layout=None, device=None, pin_memory=None, requires_grad=False, **named):
    size = int_list(size, "size", named)
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(new_ones_op, self, size, dtype, layout, device, pin_memory)
    return leaf(new_ones_op.table[key_set](self, size, dtype, layout, device, pin_memory), requires_grad)


Tensor.new_ones = tensor_new_ones


def tensor_new_zeros(self, *size, dtype=None, layout=None, device=None, pin_memory=None, requires_grad=False, **named):
    size = int_list(size, "size", named)
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(new_zeros_op, self, size, dtype, layout, device, pin_memory)
    return leaf(new_zeros_op.table[key_set](self, size, dtype, layout, device, pin_memory), requires_grad)


Tensor.new_zeros = tensor_new_zeros


def tensor_as_strided_scatter(self, src, size, stride, storage_offset=None):
    try:
        key_set = (self._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(as_strided_scatter_op, self, src, size, stride, storage_offset)
    return as_strided_scatter_op.table[key_set](self, src, size, stride, storage_offset)


Tensor.as_strided_scatter = tensor_as_strided_scatter


def tensor_diagonal_scatter(self, src, offset=0, dim1=0, dim2=1):
    try:
        key_set = (self._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(diagonal_scatter_op, self, src, offset, dim1, dim2)
    return diagonal_scatter_op.table[key_set](self, src, offset, dim1, dim2)


Tensor.diagonal_scatter = tensor_diagonal_scatter


def tensor_select_scatter(self, src=None, dim=None, index=None, **numpy_names):
    if numpy_names or dim is None or index is None:
        return call_by_name([select_scatter_op], locals())
    try:
        key_set = (self._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(select_scatter_op, self, src, dim, index)
    return select_scatter_op.table[key_set](self, src, dim, index)


Tensor.select_scatter = tensor_select_scatter


def tensor_slice_scatter(self, src=None, dim=0, start=None, end=None, step=1, **numpy_names):
    if numpy_names:
        return call_by_name([slice_scatter_op], locals())
    try:
        key_set = (self._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(slice_scatter_op, self, src, dim, start, end, step)
    return slice_scatter_op.table[key_set](self, src, dim, start, end, step)


Tensor.slice_scatter = tensor_slice_scatter


def tensor_fill_(self, *args, **kwargs):
    return resolve(
        (
            fill__Tensor_op,
            fill__Scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.fill_ = tensor_fill_


def tensor_resize_(self, *size, memory_format=None, **named):
    size = int_list(size, "size", named)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(resize__op, self, size, memory_format)
    return resize__op.table[key_set](self, size, memory_format)


Tensor.resize_ = tensor_resize_


def tensor_resize_as_(self, the_template, *, memory_format=None):
    try:
        key_set = (self._key_set | the_template._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(resize_as__op, self, the_template, memory_format)
    return resize_as__op.table[key_set](self, the_template, memory_format)


Tensor.resize_as_ = tensor_resize_as_


def tensor_zero_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(zero__op, self)
    return zero__op.table[key_set](self)


Tensor.zero_ = tensor_zero_


def tensor_abs(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(abs_op, self)
    return abs_op.table[key_set](self)


Tensor.abs = tensor_abs


def tensor_abs_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(abs__op, self)
    return abs__op.table[key_set](self)


Tensor.abs_ = tensor_abs_


def tensor_add(self, other, *, alpha=1):
    if alpha.__class__ not in PLAIN_NUMBERS:
        (alpha,) = numbers_of("add", alpha=alpha)
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(add_Tensor_op, self, other, alpha)
    return add_Tensor_op.table[key_set](self, other, alpha)


Tensor.add = tensor_add


def tensor_add_(self, other, *, alpha=1):
    if alpha.__class__ not in PLAIN_NUMBERS:
        (alpha,) = numbers_of("add_", alpha=alpha)
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(add__Tensor_op, self, other, alpha)
    return add__Tensor_op.table[key_set](self, other, alpha)


Tensor.add_ = tensor_add_


def tensor_addcdiv(self, tensor1, tensor2, *, value=1):
    if value.__class__ not in PLAIN_NUMBERS:
        (value,) = numbers_of("addcdiv", value=value)
    try:
        key_set = (self._key_set | tensor1._key_set | tensor2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addcdiv_op, self, tensor1, tensor2, value)
    return addcdiv_op.table[key_set](self, tensor1, tensor2, value)


Tensor.addcdiv = tensor_addcdiv


def tensor_addcdiv_(self, tensor1, tensor2, *, value=1):
    if value.__class__ not in PLAIN_NUMBERS:
        (value,) = numbers_of("addcdiv_", value=value)
    try:
        key_set = (self._key_set | tensor1._key_set | tensor2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addcdiv__op, self, tensor1, tensor2, value)
    return addcdiv__op.table[key_set](self, tensor1, tensor2, value)


Tensor.addcdiv_ = tensor_addcdiv_


def tensor_addcmul(self, tensor1, tensor2, *, value=1):
    if value.__class__ not in PLAIN_NUMBERS:
        (value,) = numbers_of("addcmul", value=value)
    try:
        key_set = (self._key_set | tensor1._key_set | tensor2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addcmul_op, self, tensor1, tensor2, value)
    return addcmul_op.table[key_set](self, tensor1, tensor2, value)


Tensor.addcmul = tensor_addcmul


def tensor_addcmul_(self, tensor1, tensor2, *, value=1):
    if value.__class__ not in PLAIN_NUMBERS:
        (value,) = numbers_of("addcmul_", value=value)
    try:
        key_set = (self._key_set | tensor1._key_set | tensor2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addcmul__op, self, tensor1, tensor2, value)
    return addcmul__op.table[key_set](self, tensor1, tensor2, value)


Tensor.addcmul_ = tensor_addcmul_


def tensor_allclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    if rtol.__class__ not in PLAIN_NUMBERS or atol.__class__ not in PLAIN_NUMBERS:
        rtol, atol = numbers_of("allclose", rtol=rtol, atol=atol)
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(allclose_op, self, other, rtol, atol, equal_nan)
    return allclose_op.table[key_set](self, other, rtol, atol, equal_nan)


Tensor.allclose = tensor_allclose


def tensor_bitwise_and(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_and_Tensor_op, self, other)
    return bitwise_and_Tensor_op.table[key_set](self, other)


Tensor.bitwise_and = tensor_bitwise_and


def tensor_bitwise_and_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_and__Tensor_op, self, other)
    return bitwise_and__Tensor_op.table[key_set](self, other)


Tensor.bitwise_and_ = tensor_bitwise_and_


def tensor_bitwise_left_shift(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_left_shift_Tensor_op, self, other)
    return bitwise_left_shift_Tensor_op.table[key_set](self, other)


Tensor.bitwise_left_shift = tensor_bitwise_left_shift


def tensor_bitwise_left_shift_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_left_shift__Tensor_op, self, other)
    return bitwise_left_shift__Tensor_op.table[key_set](self, other)


Tensor.bitwise_left_shift_ = tensor_bitwise_left_shift_


def tensor_bitwise_not(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_not_op, self)
    return bitwise_not_op.table[key_set](self)


Tensor.bitwise_not = tensor_bitwise_not


def tensor_bitwise_not_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_not__op, self)
    return bitwise_not__op.table[key_set](self)


Tensor.bitwise_not_ = tensor_bitwise_not_


def tensor_bitwise_or(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_or_Tensor_op, self, other)
    return bitwise_or_Tensor_op.table[key_set](self, other)


Tensor.bitwise_or = tensor_bitwise_or


def tensor_bitwise_or_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_or__Tensor_op, self, other)
    return bitwise_or__Tensor_op.table[key_set](self, other)


Tensor.bitwise_or_ = tensor_bitwise_or_


def tensor_bitwise_right_shift(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_right_shift_Tensor_op, self, other)
    return bitwise_right_shift_Tensor_op.table[key_set](self, other)


Tensor.bitwise_right_shift = tensor_bitwise_right_shift


def tensor_bitwise_right_shift_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_right_shift__Tensor_op, self, other)
    return bitwise_right_shift__Tensor_op.table[key_set](self, other)


Tensor.bitwise_right_shift_ = tensor_bitwise_right_shift_


def tensor_bitwise_xor(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_xor_Tensor_op, self, other)
    return bitwise_xor_Tensor_op.table[key_set](self, other)


Tensor.bitwise_xor = tensor_bitwise_xor


def tensor_bitwise_xor_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bitwise_xor__Tensor_op, self, other)
    return bitwise_xor__Tensor_op.table[key_set](self, other)


Tensor.bitwise_xor_ = tensor_bitwise_xor_


def tensor_ceil(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ceil_op, self)
    return ceil_op.table[key_set](self)


Tensor.ceil = tensor_ceil


def tensor_ceil_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ceil__op, self)
    return ceil__op.table[key_set](self)


Tensor.ceil_ = tensor_ceil_


def tensor_clamp(self, *args, **kwargs):
    if not (args or kwargs):
        return clamp_Tensor_op.table[(self._key_set | local.included) & ~local.excluded](self, None, None)
    return resolve(
        (
            clamp_Tensor_op,
            clamp_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.clamp = tensor_clamp


def tensor_clamp_(self, *args, **kwargs):
    if not (args or kwargs):
        return clamp__Tensor_op.table[(self._key_set | local.included) & ~local.excluded](self, None, None)
    return resolve(
        (
            clamp__Tensor_op,
            clamp__op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.clamp_ = tensor_clamp_


def tensor_clamp_max(self, *args, **kwargs):
    return resolve(
        (
            clamp_max_Tensor_op,
            clamp_max_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.clamp_max = tensor_clamp_max


def tensor_clamp_max_(self, *args, **kwargs):
    return resolve(
        (
            clamp_max__Tensor_op,
            clamp_max__op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.clamp_max_ = tensor_clamp_max_


def tensor_clamp_min(self, *args, **kwargs):
    return resolve(
        (
            clamp_min_Tensor_op,
            clamp_min_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.clamp_min = tensor_clamp_min


def tensor_clamp_min_(self, *args, **kwargs):
    return resolve(
        (
            clamp_min__Tensor_op,
            clamp_min__op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.clamp_min_ = tensor_clamp_min_


def tensor_cos(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cos_op, self)
    return cos_op.table[key_set](self)


Tensor.cos = tensor_cos


def tensor_cos_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cos__op, self)
    return cos__op.table[key_set](self)


Tensor.cos_ = tensor_cos_


def tensor_div(self, *args, **kwargs):
    return resolve(
        (
            div_Tensor_op,
            div_Tensor_mode_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.div = tensor_div


def tensor_div_(self, *args, **kwargs):
    return resolve(
        (
            div__Tensor_op,
            div__Tensor_mode_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.div_ = tensor_div_


def tensor_eq(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(eq_Tensor_op, self, other)
    return eq_Tensor_op.table[key_set](self, other)


Tensor.eq = tensor_eq


def tensor_eq_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(eq__Tensor_op, self, other)
    return eq__Tensor_op.table[key_set](self, other)


Tensor.eq_ = tensor_eq_


def tensor_is_nonzero(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(is_nonzero_op, self)
    return is_nonzero_op.table[key_set](self)


Tensor.is_nonzero = tensor_is_nonzero


def tensor_is_same_size(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(is_same_size_op, self, other)
    return is_same_size_op.table[key_set](self, other)


Tensor.is_same_size = tensor_is_same_size


def tensor_is_signed(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(is_signed_op, self)
    return is_signed_op.table[key_set](self)


Tensor.is_signed = tensor_is_signed


def tensor_equal(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(equal_op, self, other)
    return equal_op.table[key_set](self, other)


Tensor.equal = tensor_equal


def tensor_erf(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(erf_op, self)
    return erf_op.table[key_set](self)


Tensor.erf = tensor_erf


def tensor_erf_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(erf__op, self)
    return erf__op.table[key_set](self)


Tensor.erf_ = tensor_erf_


def tensor_exp(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(exp_op, self)
    return exp_op.table[key_set](self)


Tensor.exp = tensor_exp


def tensor_exp_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(exp__op, self)
    return exp__op.table[key_set](self)


Tensor.exp_ = tensor_exp_


def tensor_exp2(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(exp2_op, self)
    return exp2_op.table[key_set](self)


Tensor.exp2 = tensor_exp2


def tensor_exp2_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(exp2__op, self)
    return exp2__op.table[key_set](self)


Tensor.exp2_ = tensor_exp2_


def tensor_expm1(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(expm1_op, self)
    return expm1_op.table[key_set](self)


Tensor.expm1 = tensor_expm1


def tensor_expm1_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(expm1__op, self)
    return expm1__op.table[key_set](self)


Tensor.expm1_ = tensor_expm1_


def tensor_floor(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(floor_op, self)
    return floor_op.table[key_set](self)


Tensor.floor = tensor_floor


def tensor_floor_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(floor__op, self)
    return floor__op.table[key_set](self)


Tensor.floor_ = tensor_floor_


def tensor_floor_divide(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(floor_divide_op, self, other)
    return floor_divide_op.table[key_set](self, other)


Tensor.floor_divide = tensor_floor_divide


def tensor_floor_divide_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(floor_divide__Tensor_op, self, other)
    return floor_divide__Tensor_op.table[key_set](self, other)


Tensor.floor_divide_ = tensor_floor_divide_


def tensor_fmod(self, *args, **kwargs):
    return resolve(
        (
            fmod_Tensor_op,
            fmod_Scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.fmod = tensor_fmod


def tensor_fmod_(self, *args, **kwargs):
    return resolve(
        (
            fmod__Tensor_op,
            fmod__Scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.fmod_ = tensor_fmod_


def tensor_ge(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ge_Tensor_op, self, other)
    return ge_Tensor_op.table[key_set](self, other)


Tensor.ge = tensor_ge


def tensor_ge_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ge__Tensor_op, self, other)
    return ge__Tensor_op.table[key_set](self, other)


Tensor.ge_ = tensor_ge_


def tensor_gt(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(gt_Tensor_op, self, other)
    return gt_Tensor_op.table[key_set](self, other)


Tensor.gt = tensor_gt


def tensor_gt_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(gt__Tensor_op, self, other)
    return gt__Tensor_op.table[key_set](self, other)


Tensor.gt_ = tensor_gt_


def tensor_isclose(self, other, rtol=1e-05, atol=1e-08, equal_nan=False):
    if rtol.__class__ not in PLAIN_NUMBERS or atol.__class__ not in PLAIN_NUMBERS:
        rtol, atol = numbers_of("isclose", rtol=rtol, atol=atol)
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(isclose_op, self, other, rtol, atol, equal_nan)
    return isclose_op.table[key_set](self, other, rtol, atol, equal_nan)


Tensor.isclose = tensor_isclose


def tensor_isfinite(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(isfinite_op, self)
    return isfinite_op.table[key_set](self)


Tensor.isfinite = tensor_isfinite


def tensor_isinf(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(isinf_op, self)
    return isinf_op.table[key_set](self)


Tensor.isinf = tensor_isinf


def tensor_isnan(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(isnan_op, self)
    return isnan_op.table[key_set](self)


Tensor.isnan = tensor_isnan


def tensor_le(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(le_Tensor_op, self, other)
    return le_Tensor_op.table[key_set](self, other)


Tensor.le = tensor_le


def tensor_le_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(le__Tensor_op, self, other)
    return le__Tensor_op.table[key_set](self, other)


Tensor.le_ = tensor_le_


def tensor_lerp(self, *args, **kwargs):
    return resolve(
        (
            lerp_Tensor_op,
            lerp_Scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.lerp = tensor_lerp


def tensor_lerp_(self, *args, **kwargs):
    return resolve(
        (
            lerp__Tensor_op,
            lerp__Scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.lerp_ = tensor_lerp_


def tensor_log(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log_op, self)
    return log_op.table[key_set](self)


Tensor.log = tensor_log


def tensor_log_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log__op, self)
    return log__op.table[key_set](self)


Tensor.log_ = tensor_log_


def tensor_log10(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log10_op, self)
    return log10_op.table[key_set](self)


Tensor.log10 = tensor_log10


def tensor_log10_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log10__op, self)
    return log10__op.table[key_set](self)


Tensor.log10_ = tensor_log10_


def tensor_log1p(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log1p_op, self)
    return log1p_op.table[key_set](self)


Tensor.log1p = tensor_log1p


def tensor_log1p_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log1p__op, self)
    return log1p__op.table[key_set](self)


Tensor.log1p_ = tensor_log1p_


def tensor_log2(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log2_op, self)
    return log2_op.table[key_set](self)


Tensor.log2 = tensor_log2


def tensor_log2_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log2__op, self)
    return log2__op.table[key_set](self)


Tensor.log2_ = tensor_log2_


def tensor_logical_and(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logical_and_op, self, other)
    return logical_and_op.table[key_set](self, other)


Tensor.logical_and = tensor_logical_and


def tensor_logical_and_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logical_and__op, self, other)
    return logical_and__op.table[key_set](self, other)


Tensor.logical_and_ = tensor_logical_and_


def tensor_logical_not(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logical_not_op, self)
    return logical_not_op.table[key_set](self)


Tensor.logical_not = tensor_logical_not


def tensor_logical_not_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logical_not__op, self)
    return logical_not__op.table[key_set](self)


Tensor.logical_not_ = tensor_logical_not_


def tensor_logical_or(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logical_or_op, self, other)
    return logical_or_op.table[key_set](self, other)


Tensor.logical_or = tensor_logical_or


def tensor_logical_or_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logical_or__op, self, other)
    return logical_or__op.table[key_set](self, other)


Tensor.logical_or_ = tensor_logical_or_


def tensor_logical_xor(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logical_xor_op, self, other)
    return logical_xor_op.table[key_set](self, other)


Tensor.logical_xor = tensor_logical_xor


def tensor_logical_xor_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logical_xor__op, self, other)
    return logical_xor__op.table[key_set](self, other)


Tensor.logical_xor_ = tensor_logical_xor_


def tensor_lt(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(lt_Tensor_op, self, other)
    return lt_Tensor_op.table[key_set](self, other)


Tensor.lt = tensor_lt


def tensor_lt_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(lt__Tensor_op, self, other)
    return lt__Tensor_op.table[key_set](self, other)


Tensor.lt_ = tensor_lt_


def tensor_maximum(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(maximum_op, self, other)
    return maximum_op.table[key_set](self, other)


Tensor.maximum = tensor_maximum


def tensor_minimum(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(minimum_op, self, other)
    return minimum_op.table[key_set](self, other)


Tensor.minimum = tensor_minimum


def tensor_mul(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mul_Tensor_op, self, other)
    return mul_Tensor_op.table[key_set](self, other)


Tensor.mul = tensor_mul


def tensor_mul_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mul__Tensor_op, self, other)
    return mul__Tensor_op.table[key_set](self, other)


Tensor.mul_ = tensor_mul_


def tensor_ne(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ne_Tensor_op, self, other)
    return ne_Tensor_op.table[key_set](self, other)


Tensor.ne = tensor_ne


def tensor_ne_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ne__Tensor_op, self, other)
    return ne__Tensor_op.table[key_set](self, other)


Tensor.ne_ = tensor_ne_


def tensor_neg(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(neg_op, self)
    return neg_op.table[key_set](self)


Tensor.neg = tensor_neg


def tensor_neg_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(neg__op, self)
    return neg__op.table[key_set](self)


Tensor.neg_ = tensor_neg_


def tensor_positive(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(positive_op, self)
    return positive_op.table[key_set](self)


Tensor.positive = tensor_positive


def tensor_pow(self, *args, **kwargs):
    return resolve(
        (
            pow_Tensor_Tensor_op,
            pow_Tensor_Scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.pow = tensor_pow


def tensor_pow_(self, *args, **kwargs):
    return resolve(
        (
            pow__Tensor_op,
            pow__Scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.pow_ = tensor_pow_


def tensor_reciprocal(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reciprocal_op, self)
    return reciprocal_op.table[key_set](self)


Tensor.reciprocal = tensor_reciprocal


def tensor_reciprocal_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(reciprocal__op, self)
    return reciprocal__op.table[key_set](self)


Tensor.reciprocal_ = tensor_reciprocal_


def tensor_relu(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(relu_op, self)
    return relu_op.table[key_set](self)


Tensor.relu = tensor_relu


def tensor_relu_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(relu__op, self)
    return relu__op.table[key_set](self)


Tensor.relu_ = tensor_relu_


def tensor_remainder(self, *args, **kwargs):
    return resolve(
        (
            remainder_Tensor_op,
            remainder_Scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.remainder = tensor_remainder


def tensor_remainder_(self, *args, **kwargs):
    return resolve(
        (
            remainder__Tensor_op,
            remainder__Scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.remainder_ = tensor_remainder_


def tensor_round(self, *args, **kwargs):
    if not (args or kwargs):
        return round_op.table[(self._key_set | local.included) & ~local.excluded](self)
    return resolve(
        (
            round_op,
            round_decimals_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.round = tensor_round


def tensor_round_(self, *args, **kwargs):
    if not (args or kwargs):
        return round__op.table[(self._key_set | local.included) & ~local.excluded](self)
    return resolve(
        (
            round__op,
            round__decimals_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.round_ = tensor_round_


def tensor_rsqrt(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rsqrt_op, self)
    return rsqrt_op.table[key_set](self)


Tensor.rsqrt = tensor_rsqrt


def tensor_rsqrt_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rsqrt__op, self)
    return rsqrt__op.table[key_set](self)


Tensor.rsqrt_ = tensor_rsqrt_


def tensor_sgn(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sgn_op, self)
    return sgn_op.table[key_set](self)


Tensor.sgn = tensor_sgn


def tensor_sgn_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sgn__op, self)
    return sgn__op.table[key_set](self)


Tensor.sgn_ = tensor_sgn_


def tensor_sigmoid(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sigmoid_op, self)
    return sigmoid_op.table[key_set](self)


Tensor.sigmoid = tensor_sigmoid


def tensor_sigmoid_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sigmoid__op, self)
    return sigmoid__op.table[key_set](self)


Tensor.sigmoid_ = tensor_sigmoid_


def tensor_sign(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sign_op, self)
    return sign_op.table[key_set](self)


Tensor.sign = tensor_sign


def tensor_sign_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sign__op, self)
    return sign__op.table[key_set](self)


Tensor.sign_ = tensor_sign_


def tensor_sin(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sin_op, self)
    return sin_op.table[key_set](self)


Tensor.sin = tensor_sin


def tensor_sin_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sin__op, self)
    return sin__op.table[key_set](self)


Tensor.sin_ = tensor_sin_


def tensor_sqrt(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sqrt_op, self)
    return sqrt_op.table[key_set](self)


Tensor.sqrt = tensor_sqrt


def tensor_sqrt_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sqrt__op, self)
    return sqrt__op.table[key_set](self)


Tensor.sqrt_ = tensor_sqrt_


def tensor_square(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(square_op, self)
    return square_op.table[key_set](self)


Tensor.square = tensor_square


def tensor_square_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(square__op, self)
    return square__op.table[key_set](self)


Tensor.square_ = tensor_square_


def tensor_sub(self, other, *, alpha=1):
    if alpha.__class__ not in PLAIN_NUMBERS:
        (alpha,) = numbers_of("sub", alpha=alpha)
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sub_Tensor_op, self, other, alpha)
    return sub_Tensor_op.table[key_set](self, other, alpha)


Tensor.sub = tensor_sub


def tensor_sub_(self, other, *, alpha=1):
    if alpha.__class__ not in PLAIN_NUMBERS:
        (alpha,) = numbers_of("sub_", alpha=alpha)
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sub__Tensor_op, self, other, alpha)
    return sub__Tensor_op.table[key_set](self, other, alpha)


Tensor.sub_ = tensor_sub_


def tensor_tan(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(tan_op, self)
    return tan_op.table[key_set](self)


Tensor.tan = tensor_tan


def tensor_tan_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(tan__op, self)
    return tan__op.table[key_set](self)


Tensor.tan_ = tensor_tan_


def tensor_tanh(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(tanh_op, self)
    return tanh_op.table[key_set](self)


Tensor.tanh = tensor_tanh


def tensor_tanh_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(tanh__op, self)
    return tanh__op.table[key_set](self)


Tensor.tanh_ = tensor_tanh_


def tensor_trunc(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(trunc_op, self)
    return trunc_op.table[key_set](self)


Tensor.trunc = tensor_trunc


def tensor_trunc_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(trunc__op, self)
    return trunc__op.table[key_set](self)


Tensor.trunc_ = tensor_trunc_


def tensor_where(self, condition, other):
    try:
        key_set = (condition._key_set | self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(where_self_op, condition, self, other)
    return where_self_op.table[key_set](condition, self, other)


Tensor.where = tensor_where


def tensor_xlogy(self, *args, **kwargs):
    return resolve(
        (
            xlogy_Tensor_op,
            xlogy_Scalar_Other_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.xlogy = tensor_xlogy


def tensor_xlogy_(self, *args, **kwargs):
    return resolve(
        (
            xlogy__Tensor_op,
            xlogy__Scalar_Other_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.xlogy_ = tensor_xlogy_


def tensor_acos(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(acos_op, self)
    return acos_op.table[key_set](self)


Tensor.acos = tensor_acos


def tensor_acos_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(acos__op, self)
    return acos__op.table[key_set](self)


Tensor.acos_ = tensor_acos_


def tensor_acosh(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(acosh_op, self)
    return acosh_op.table[key_set](self)


Tensor.acosh = tensor_acosh


def tensor_acosh_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(acosh__op, self)
    return acosh__op.table[key_set](self)


Tensor.acosh_ = tensor_acosh_


def tensor_asin(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(asin_op, self)
    return asin_op.table[key_set](self)


Tensor.asin = tensor_asin


def tensor_asin_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(asin__op, self)
    return asin__op.table[key_set](self)


Tensor.asin_ = tensor_asin_


def tensor_asinh(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(asinh_op, self)
    return asinh_op.table[key_set](self)


Tensor.asinh = tensor_asinh


def tensor_asinh_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(asinh__op, self)
    return asinh__op.table[key_set](self)


Tensor.asinh_ = tensor_asinh_


def tensor_atan(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(atan_op, self)
    return atan_op.table[key_set](self)


Tensor.atan = tensor_atan


def tensor_atan_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(atan__op, self)
    return atan__op.table[key_set](self)


Tensor.atan_ = tensor_atan_


def tensor_atanh(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(atanh_op, self)
    return atanh_op.table[key_set](self)


Tensor.atanh = tensor_atanh


def tensor_atanh_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(atanh__op, self)
    return atanh__op.table[key_set](self)


Tensor.atanh_ = tensor_atanh_


def tensor_cosh(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cosh_op, self)
    return cosh_op.table[key_set](self)


Tensor.cosh = tensor_cosh


def tensor_cosh_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cosh__op, self)
    return cosh__op.table[key_set](self)


Tensor.cosh_ = tensor_cosh_


def tensor_sinh(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sinh_op, self)
    return sinh_op.table[key_set](self)


Tensor.sinh = tensor_sinh


def tensor_sinh_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sinh__op, self)
    return sinh__op.table[key_set](self)


Tensor.sinh_ = tensor_sinh_


def tensor_erfc(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(erfc_op, self)
    return erfc_op.table[key_set](self)


Tensor.erfc = tensor_erfc


def tensor_erfc_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(erfc__op, self)
    return erfc__op.table[key_set](self)


Tensor.erfc_ = tensor_erfc_


def tensor_sinc(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sinc_op, self)
    return sinc_op.table[key_set](self)


Tensor.sinc = tensor_sinc


def tensor_sinc_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sinc__op, self)
    return sinc__op.table[key_set](self)


Tensor.sinc_ = tensor_sinc_


def tensor_lgamma(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(lgamma_op, self)
    return lgamma_op.table[key_set](self)


Tensor.lgamma = tensor_lgamma


def tensor_lgamma_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(lgamma__op, self)
    return lgamma__op.table[key_set](self)


Tensor.lgamma_ = tensor_lgamma_


def tensor_digamma(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(digamma_op, self)
    return digamma_op.table[key_set](self)


Tensor.digamma = tensor_digamma


def tensor_digamma_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(digamma__op, self)
    return digamma__op.table[key_set](self)


Tensor.digamma_ = tensor_digamma_


def tensor_erfinv(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(erfinv_op, self)
    return erfinv_op.table[key_set](self)


Tensor.erfinv = tensor_erfinv


def tensor_erfinv_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(erfinv__op, self)
    return erfinv__op.table[key_set](self)


Tensor.erfinv_ = tensor_erfinv_


def tensor_frac(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(frac_op, self)
    return frac_op.table[key_set](self)


Tensor.frac = tensor_frac


def tensor_frac_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(frac__op, self)
    return frac__op.table[key_set](self)


Tensor.frac_ = tensor_frac_


def tensor_atan2(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(atan2_op, self, other)
    return atan2_op.table[key_set](self, other)


Tensor.atan2 = tensor_atan2


def tensor_atan2_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(atan2__op, self, other)
    return atan2__op.table[key_set](self, other)


Tensor.atan2_ = tensor_atan2_


def tensor_hypot(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(hypot_op, self, other)
    return hypot_op.table[key_set](self, other)


Tensor.hypot = tensor_hypot


def tensor_hypot_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(hypot__op, self, other)
    return hypot__op.table[key_set](self, other)


Tensor.hypot_ = tensor_hypot_


def tensor_copysign(self, *args, **kwargs):
    return resolve(
        (
            copysign_Tensor_op,
            copysign_Scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.copysign = tensor_copysign


def tensor_copysign_(self, *args, **kwargs):
    return resolve(
        (
            copysign__Scalar_op,
            copysign__Tensor_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.copysign_ = tensor_copysign_


def tensor_logaddexp(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logaddexp_op, self, other)
    return logaddexp_op.table[key_set](self, other)


Tensor.logaddexp = tensor_logaddexp


def tensor_logaddexp2(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logaddexp2_op, self, other)
    return logaddexp2_op.table[key_set](self, other)


Tensor.logaddexp2 = tensor_logaddexp2


def tensor_fmax(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(fmax_op, self, other)
    return fmax_op.table[key_set](self, other)


Tensor.fmax = tensor_fmax


def tensor_fmin(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(fmin_op, self, other)
    return fmin_op.table[key_set](self, other)


Tensor.fmin = tensor_fmin


def tensor_gcd(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(gcd_op, self, other)
    return gcd_op.table[key_set](self, other)


Tensor.gcd = tensor_gcd


def tensor_gcd_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(gcd__op, self, other)
    return gcd__op.table[key_set](self, other)


Tensor.gcd_ = tensor_gcd_


def tensor_lcm(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(lcm_op, self, other)
    return lcm_op.table[key_set](self, other)


Tensor.lcm = tensor_lcm


def tensor_lcm_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(lcm__op, self, other)
    return lcm__op.table[key_set](self, other)


Tensor.lcm_ = tensor_lcm_


def tensor_heaviside(self, values):
    try:
        key_set = (self._key_set | values._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(heaviside_op, self, values)
    return heaviside_op.table[key_set](self, values)


Tensor.heaviside = tensor_heaviside


def tensor_heaviside_(self, values):
    try:
        key_set = (self._key_set | values._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(heaviside__op, self, values)
    return heaviside__op.table[key_set](self, values)


Tensor.heaviside_ = tensor_heaviside_


def tensor_signbit(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(signbit_op, self)
    return signbit_op.table[key_set](self)


Tensor.signbit = tensor_signbit


def tensor_isposinf(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(isposinf_op, self)
    return isposinf_op.table[key_set](self)


Tensor.isposinf = tensor_isposinf


def tensor_isneginf(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(isneginf_op, self)
    return isneginf_op.table[key_set](self)


Tensor.isneginf = tensor_isneginf


def tensor_nan_to_num(self, nan=None, posinf=None, neginf=None):
    if (
        nan.__class__ not in PLAIN_NUMBERS
        or posinf.__class__ not in PLAIN_NUMBERS
        or neginf.__class__ not in PLAIN_NUMBERS
    ):
        nan, posinf, neginf = numbers_of("nan_to_num", nan=nan, posinf=posinf, neginf=neginf)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(nan_to_num_op, self, nan, posinf, neginf)
    return nan_to_num_op.table[key_set](self, nan, posinf, neginf)


Tensor.nan_to_num = tensor_nan_to_num


def tensor_nan_to_num_(self, nan=None, posinf=None, neginf=None):
    if (
        nan.__class__ not in PLAIN_NUMBERS
        or posinf.__class__ not in PLAIN_NUMBERS
        or neginf.__class__ not in PLAIN_NUMBERS
    ):
        nan, posinf, neginf = numbers_of("nan_to_num_", nan=nan, posinf=posinf, neginf=neginf)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(nan_to_num__op, self, nan, posinf, neginf)
    return nan_to_num__op.table[key_set](self, nan, posinf, neginf)


Tensor.nan_to_num_ = tensor_nan_to_num_


def tensor_logit(self, eps=None):
    if eps.__class__ not in PLAIN_NUMBERS:
        (eps,) = numbers_of("logit", eps=eps)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logit_op, self, eps)
    return logit_op.table[key_set](self, eps)


Tensor.logit = tensor_logit


def tensor_logit_(self, eps=None):
    if eps.__class__ not in PLAIN_NUMBERS:
        (eps,) = numbers_of("logit_", eps=eps)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logit__op, self, eps)
    return logit__op.table[key_set](self, eps)


Tensor.logit_ = tensor_logit_


def tensor_polygamma(self, n):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(polygamma_op, n, self)
    return polygamma_op.table[key_set](n, self)


Tensor.polygamma = tensor_polygamma


def tensor_polygamma_(self, n):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(polygamma__op, self, n)
    return polygamma__op.table[key_set](self, n)


Tensor.polygamma_ = tensor_polygamma_


def tensor_deg2rad(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(deg2rad_op, self)
    return deg2rad_op.table[key_set](self)


Tensor.deg2rad = tensor_deg2rad


def tensor_deg2rad_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(deg2rad__op, self)
    return deg2rad__op.table[key_set](self)


Tensor.deg2rad_ = tensor_deg2rad_


def tensor_rad2deg(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rad2deg_op, self)
    return rad2deg_op.table[key_set](self)


Tensor.rad2deg = tensor_rad2deg


def tensor_rad2deg_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rad2deg__op, self)
    return rad2deg__op.table[key_set](self)


Tensor.rad2deg_ = tensor_rad2deg_


def tensor_float_power(self, *args, **kwargs):
    return resolve(
        (
            float_power_Tensor_Tensor_op,
            float_power_Tensor_Scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.float_power = tensor_float_power


def tensor_ldexp(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ldexp_Tensor_op, self, other)
    return ldexp_Tensor_op.table[key_set](self, other)


Tensor.ldexp = tensor_ldexp


def tensor_ldexp_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ldexp__op, self, other)
    return ldexp__op.table[key_set](self, other)


Tensor.ldexp_ = tensor_ldexp_


def tensor_true_divide(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(true_divide_Tensor_op, self, other)
    return true_divide_Tensor_op.table[key_set](self, other)


Tensor.true_divide = tensor_true_divide


def tensor_true_divide_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(true_divide__Tensor_op, self, other)
    return true_divide__Tensor_op.table[key_set](self, other)


Tensor.true_divide_ = tensor_true_divide_


def tensor_isreal(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(isreal_op, self)
    return isreal_op.table[key_set](self)


Tensor.isreal = tensor_isreal


def tensor_conj(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(conj_op, self)
    return conj_op.table[key_set](self)


Tensor.conj = tensor_conj


def tensor_resolve_conj(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(resolve_conj_op, self)
    return resolve_conj_op.table[key_set](self)


Tensor.resolve_conj = tensor_resolve_conj


def tensor_resolve_neg(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(resolve_neg_op, self)
    return resolve_neg_op.table[key_set](self)


Tensor.resolve_neg = tensor_resolve_neg


def tensor_conj_physical(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(conj_physical_op, self)
    return conj_physical_op.table[key_set](self)


Tensor.conj_physical = tensor_conj_physical


def tensor_mvlgamma(self, p):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mvlgamma_op, self, p)
    return mvlgamma_op.table[key_set](self, p)


Tensor.mvlgamma = tensor_mvlgamma


def tensor_hardshrink(self, lambd=0.5):
    if lambd.__class__ not in PLAIN_NUMBERS:
        (lambd,) = numbers_of("hardshrink", lambd=lambd)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(hardshrink_op, self, lambd)
    return hardshrink_op.table[key_set](self, lambd)


Tensor.hardshrink = tensor_hardshrink


def tensor_prelu(self, weight):
    try:
        key_set = (self._key_set | weight._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(prelu_op, self, weight)
    return prelu_op.table[key_set](self, weight)


Tensor.prelu = tensor_prelu


def tensor_flip(self, *dims, **named):
    dims = int_list(dims, "dims", named)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(flip_op, self, dims)
    return flip_op.table[key_set](self, dims)


Tensor.flip = tensor_flip


def tensor_gather(self, dim=None, index=None, *, sparse_grad=False, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([gather_op], locals())
    try:
        key_set = (self._key_set | index._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(gather_op, self, dim, index, sparse_grad)
    return gather_op.table[key_set](self, dim, index, sparse_grad)


Tensor.gather = tensor_gather


def tensor_index_add(self, dim=None, index=None, source=None, *, alpha=1, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([index_add_op], locals())
    if alpha.__class__ not in PLAIN_NUMBERS:
        (alpha,) = numbers_of("index_add", alpha=alpha)
    try:
        key_set = (self._key_set | index._key_set | source._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(index_add_op, self, dim, index, source, alpha)
    return index_add_op.table[key_set](self, dim, index, source, alpha)


Tensor.index_add = tensor_index_add


def tensor_index_add_(self, dim=None, index=None, source=None, *, alpha=1, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([index_add__op], locals())
    if alpha.__class__ not in PLAIN_NUMBERS:
        (alpha,) = numbers_of("index_add_", alpha=alpha)
    try:
        key_set = (self._key_set | index._key_set | source._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(index_add__op, self, dim, index, source, alpha)
    return index_add__op.table[key_set](self, dim, index, source, alpha)


Tensor.index_add_ = tensor_index_add_


def tensor_index_put(self, indices, values, accumulate=False):
    return invoke(index_put_op, self, indices, values, accumulate)


Tensor.index_put = tensor_index_put


def tensor_index_put_(self, indices, values, accumulate=False):
    return invoke(index_put__op, self, indices, values, accumulate)


Tensor.index_put_ = tensor_index_put_


def tensor_index_select(self, dim=None, index=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([index_select_op], locals())
    try:
        key_set = (self._key_set | index._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(index_select_op, self, dim, index)
    return index_select_op.table[key_set](self, dim, index)


Tensor.index_select = tensor_index_select


def tensor_masked_fill(self, *args, **kwargs):
    return resolve(
        (
            masked_fill_Tensor_op,
            masked_fill_Scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.masked_fill = tensor_masked_fill


def tensor_masked_fill_(self, *args, **kwargs):
    return resolve(
        (
            masked_fill__Tensor_op,
            masked_fill__Scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.masked_fill_ = tensor_masked_fill_


def tensor_repeat(self, *repeats, **named):
    repeats = int_list(repeats, "repeats", named)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(repeat_op, self, repeats)
    return repeat_op.table[key_set](self, repeats)


Tensor.repeat = tensor_repeat


def tensor_roll(self, shifts, dims=()):
    if shifts.__class__ is not tuple:
        shifts = (shifts,) if shifts.__class__ is int else as_int_list(shifts)
    if dims.__class__ is not tuple:
        dims = (dims,) if dims.__class__ is int else as_int_list(dims)
    dims = () if dims is None else dims
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(roll_op, self, shifts, dims)
    return roll_op.table[key_set](self, shifts, dims)


Tensor.roll = tensor_roll


def tensor_scatter(self, *args, **kwargs):
    return resolve(
        (
            scatter_src_op,
            scatter_value_op,
            scatter_reduce_op,
            scatter_value_reduce_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.scatter = tensor_scatter


def tensor_scatter_(self, *args, **kwargs):
    return resolve(
        (
            scatter__src_op,
            scatter__value_op,
            scatter__reduce_op,
            scatter__value_reduce_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.scatter_ = tensor_scatter_


def tensor_scatter_add(self, dim=None, index=None, src=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([scatter_add_op], locals())
    try:
        key_set = (self._key_set | index._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(scatter_add_op, self, dim, index, src)
    return scatter_add_op.table[key_set](self, dim, index, src)


Tensor.scatter_add = tensor_scatter_add


def tensor_scatter_add_(self, dim=None, index=None, src=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([scatter_add__op], locals())
    try:
        key_set = (self._key_set | index._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(scatter_add__op, self, dim, index, src)
    return scatter_add__op.table[key_set](self, dim, index, src)


Tensor.scatter_add_ = tensor_scatter_add_


def tensor_tile(self, *dims, **named):
    dims = int_list(dims, "dims", named)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(tile_op, self, dims)
    return tile_op.table[key_set](self, dims)


Tensor.tile = tensor_tile


def tensor_tril(self, diagonal=0):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(tril_op, self, diagonal)
    return tril_op.table[key_set](self, diagonal)


Tensor.tril = tensor_tril


def tensor_tril_(self, diagonal=0):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(tril__op, self, diagonal)
    return tril__op.table[key_set](self, diagonal)


Tensor.tril_ = tensor_tril_


def tensor_triu(self, diagonal=0):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(triu_op, self, diagonal)
    return triu_op.table[key_set](self, diagonal)


Tensor.triu = tensor_triu


def tensor_triu_(self, diagonal=0):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(triu__op, self, diagonal)
    return triu__op.table[key_set](self, diagonal)


Tensor.triu_ = tensor_triu_


def tensor_all(self, *args, **kwargs):
    if not (args or kwargs):
        return all_dims_op.table[(self._key_set | local.included) & ~local.excluded](self, None, False)
    return resolve(
        (
            all_dim_op,
            all_dims_op,
            all_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.all = tensor_all


def tensor_amax(self, dim=(), keepdim=False, **numpy_names):
    if numpy_names:
        return call_by_name([amax_op], locals())
    if dim.__class__ is not tuple:
        dim = (dim,) if dim.__class__ is int else as_int_list(dim)
    dim = () if dim is None else dim
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(amax_op, self, dim, keepdim)
    return amax_op.table[key_set](self, dim, keepdim)


Tensor.amax = tensor_amax


def tensor_amin(self, dim=(), keepdim=False, **numpy_names):
    if numpy_names:
        return call_by_name([amin_op], locals())
    if dim.__class__ is not tuple:
        dim = (dim,) if dim.__class__ is int else as_int_list(dim)
    dim = () if dim is None else dim
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(amin_op, self, dim, keepdim)
    return amin_op.table[key_set](self, dim, keepdim)


Tensor.amin = tensor_amin


def tensor_any(self, *args, **kwargs):
    if not (args or kwargs):
        return any_dims_op.table[(self._key_set | local.included) & ~local.excluded](self, None, False)
    return resolve(
        (
            any_dim_op,
            any_dims_op,
            any_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.any = tensor_any


def tensor_argmax(self, dim=None, keepdim=False, **numpy_names):
    if numpy_names:
        return call_by_name([argmax_op], locals())
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(argmax_op, self, dim, keepdim)
    return argmax_op.table[key_set](self, dim, keepdim)


Tensor.argmax = tensor_argmax


def tensor_argmin(self, dim=None, keepdim=False, **numpy_names):
    if numpy_names:
        return call_by_name([argmin_op], locals())
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(argmin_op, self, dim, keepdim)
    return argmin_op.table[key_set](self, dim, keepdim)


Tensor.argmin = tensor_argmin


def tensor_cumsum(self, dim=None, *, dtype=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([cumsum_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cumsum_op, self, dim, dtype)
    return cumsum_op.table[key_set](self, dim, dtype)


Tensor.cumsum = tensor_cumsum


def tensor_cumsum_(self, dim=None, *, dtype=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([cumsum__op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cumsum__op, self, dim, dtype)
    return cumsum__op.table[key_set](self, dim, dtype)


Tensor.cumsum_ = tensor_cumsum_


def tensor_log_softmax(self, dim=None, dtype=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([log_softmax_int_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(log_softmax_int_op, self, dim, dtype)
    return log_softmax_int_op.table[key_set](self, dim, dtype)


Tensor.log_softmax = tensor_log_softmax


def tensor_logcumsumexp(self, dim=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([logcumsumexp_op], locals())
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logcumsumexp_op, self, dim)
    return logcumsumexp_op.table[key_set](self, dim)


Tensor.logcumsumexp = tensor_logcumsumexp


def tensor_logsumexp(self, dim=None, keepdim=False, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([logsumexp_op], locals())
    if dim.__class__ is not tuple:
        dim = (dim,) if dim.__class__ is int else as_int_list(dim)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(logsumexp_op, self, dim, keepdim)
    return logsumexp_op.table[key_set](self, dim, keepdim)


Tensor.logsumexp = tensor_logsumexp


def tensor_max(self, *args, **kwargs):
    if not (args or kwargs):
        return max_op.table[(self._key_set | local.included) & ~local.excluded](self)
    return return_types.named(
        return_types.max,
        resolve(
            (
                max_op,
                max_other_op,
                max_dim_op,
            ),
            (self, *args),
            kwargs,
        ),
    )


Tensor.max = tensor_max


def tensor_mean(self, *args, **kwargs):
    if not (args or kwargs):
        return mean_op.table[(self._key_set | local.included) & ~local.excluded](self, None)
    return resolve(
        (
            mean_op,
            mean_dim_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.mean = tensor_mean


def tensor_min(self, *args, **kwargs):
    if not (args or kwargs):
        return min_op.table[(self._key_set | local.included) & ~local.excluded](self)
    return return_types.named(
        return_types.min,
        resolve(
            (
                min_op,
                min_other_op,
                min_dim_op,
            ),
            (self, *args),
            kwargs,
        ),
    )


Tensor.min = tensor_min


def tensor_prod(self, *args, **kwargs):
    if not (args or kwargs):
        return prod_op.table[(self._key_set | local.included) & ~local.excluded](self, None)
    return resolve(
        (
            prod_op,
            prod_dim_int_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.prod = tensor_prod


def tensor_softmax(self, dim=None, dtype=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([softmax_int_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(softmax_int_op, self, dim, dtype)
    return softmax_int_op.table[key_set](self, dim, dtype)


Tensor.softmax = tensor_softmax


def tensor_std(self, *args, **kwargs):
    if not (args or kwargs):
        return std_op.table[(self._key_set | local.included) & ~local.excluded](self, True)
    return resolve(
        (
            std_op,
            std_dim_op,
            std_correction_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.std = tensor_std


def tensor_sum(self, *args, **kwargs):
    if not (args or kwargs):
        return sum_op.table[(self._key_set | local.included) & ~local.excluded](self, None)
    return resolve(
        (
            sum_op,
            sum_dim_IntList_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.sum = tensor_sum


def tensor_var(self, *args, **kwargs):
    if not (args or kwargs):
        return var_op.table[(self._key_set | local.included) & ~local.excluded](self, True)
    return resolve(
        (
            var_op,
            var_dim_op,
            var_correction_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.var = tensor_var


def tensor_bincount(self, weights=None, minlength=0):
    try:
        key_set = (self._key_set | (0 if weights is None else weights._key_set) | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bincount_op, self, weights, minlength)
    return bincount_op.table[key_set](self, weights, minlength)


Tensor.bincount = tensor_bincount


def tensor_histc(self, bins=100, min=0, max=0):
    if min.__class__ not in PLAIN_NUMBERS or max.__class__ not in PLAIN_NUMBERS:
        min, max = numbers_of("histc", min=min, max=max)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(histc_op, self, bins, min, max)
    return histc_op.table[key_set](self, bins, min, max)


Tensor.histc = tensor_histc


def tensor_histogram(self, *args, **kwargs):
    if not (args or kwargs):
        return return_types.named(
            return_types.histogram,
            histogram_bin_ct_op.table[(self._key_set | local.included) & ~local.excluded](self, 100, None, None, False),
        )
    return return_types.named(
        return_types.histogram,
        resolve(
            (
                histogram_bin_ct_op,
                histogram_bins_tensor_op,
            ),
            (self, *args),
            kwargs,
        ),
    )


Tensor.histogram = tensor_histogram


def tensor_cumprod(self, dim=None, *, dtype=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([cumprod_op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cumprod_op, self, dim, dtype)
    return cumprod_op.table[key_set](self, dim, dtype)


Tensor.cumprod = tensor_cumprod


def tensor_cumprod_(self, dim=None, *, dtype=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([cumprod__op], locals())
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cumprod__op, self, dim, dtype)
    return cumprod__op.table[key_set](self, dim, dtype)


Tensor.cumprod_ = tensor_cumprod_


def tensor_cummax(self, dim=None, **numpy_names):
    if numpy_names or dim is None:
        return return_types.named(return_types.cummax, call_by_name([cummax_op], locals()))
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return return_types.named(return_types.cummax, invoke(cummax_op, self, dim))
    return return_types.named(return_types.cummax, cummax_op.table[key_set](self, dim))


Tensor.cummax = tensor_cummax


def tensor_cummin(self, dim=None, **numpy_names):
    if numpy_names or dim is None:
        return return_types.named(return_types.cummin, call_by_name([cummin_op], locals()))
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return return_types.named(return_types.cummin, invoke(cummin_op, self, dim))
    return return_types.named(return_types.cummin, cummin_op.table[key_set](self, dim))


Tensor.cummin = tensor_cummin


def tensor_kthvalue(self, k=None, dim=-1, keepdim=False, **numpy_names):
    if numpy_names or k is None:
        return return_types.named(return_types.kthvalue, call_by_name([kthvalue_op], locals()))
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return return_types.named(return_types.kthvalue, invoke(kthvalue_op, self, k, dim, keepdim))
    return return_types.named(return_types.kthvalue, kthvalue_op.table[key_set](self, k, dim, keepdim))


Tensor.kthvalue = tensor_kthvalue


def tensor_mode(self, dim=-1, keepdim=False, **numpy_names):
    if numpy_names:
        return return_types.named(return_types.mode, call_by_name([mode_op], locals()))
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return return_types.named(return_types.mode, invoke(mode_op, self, dim, keepdim))
    return return_types.named(return_types.mode, mode_op.table[key_set](self, dim, keepdim))


Tensor.mode = tensor_mode


def tensor_nansum(self, dim=None, keepdim=False, *, dtype=None, **numpy_names):
    if numpy_names:
        return call_by_name([nansum_op], locals())
    if dim.__class__ is not tuple:
        dim = (dim,) if dim.__class__ is int else as_int_list(dim)
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(nansum_op, self, dim, keepdim, dtype)
    return nansum_op.table[key_set](self, dim, keepdim, dtype)


Tensor.nansum = tensor_nansum


def tensor_nanmean(self, dim=None, keepdim=False, *, dtype=None, **numpy_names):
    if numpy_names:
        return call_by_name([nanmean_op], locals())
    if dim.__class__ is not tuple:
        dim = (dim,) if dim.__class__ is int else as_int_list(dim)
    if dtype is not None:
        dtype = as_dtype(dtype)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(nanmean_op, self, dim, keepdim, dtype)
    return nanmean_op.table[key_set](self, dim, keepdim, dtype)


Tensor.nanmean = tensor_nanmean


def tensor_count_nonzero(self, *args, **kwargs):
    if not (args or kwargs):
        return count_nonzero_op.table[(self._key_set | local.included) & ~local.excluded](self, None)
    return resolve(
        (
            count_nonzero_op,
            count_nonzero_dim_IntList_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.count_nonzero = tensor_count_nonzero


def tensor_aminmax(self, *, dim=None, keepdim=False, **numpy_names):
    if numpy_names:
        return return_types.named(return_types.aminmax, call_by_name([aminmax_op], locals()))
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return return_types.named(return_types.aminmax, invoke(aminmax_op, self, dim, keepdim))
    return return_types.named(return_types.aminmax, aminmax_op.table[key_set](self, dim, keepdim))


Tensor.aminmax = tensor_aminmax


def tensor_diff(self, n=1, dim=-1, prepend=None, append=None, **numpy_names):
    if numpy_names:
        return call_by_name([diff_op], locals())
    try:
        key_set = (
            self._key_set
            | (0 if prepend is None else prepend._key_set)
            | (0 if append is None else append._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(diff_op, self, n, dim, prepend, append)
    return diff_op.table[key_set](self, n, dim, prepend, append)


Tensor.diff = tensor_diff


def tensor_msort(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(msort_op, self)
    return msort_op.table[key_set](self)


Tensor.msort = tensor_msort


def tensor_repeat_interleave(self, *args, **kwargs):
    return resolve(
        (
            repeat_interleave_self_Tensor_op,
            repeat_interleave_self_int_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.repeat_interleave = tensor_repeat_interleave


def tensor_diag_embed(self, offset=0, dim1=-2, dim2=-1):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(diag_embed_op, self, offset, dim1, dim2)
    return diag_embed_op.table[key_set](self, offset, dim1, dim2)


Tensor.diag_embed = tensor_diag_embed


def tensor_diag(self, diagonal=0):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(diag_op, self, diagonal)
    return diag_op.table[key_set](self, diagonal)


Tensor.diag = tensor_diag


def tensor_diagflat(self, offset=0):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(diagflat_op, self, offset)
    return diagflat_op.table[key_set](self, offset)


Tensor.diagflat = tensor_diagflat


def tensor_fliplr(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(fliplr_op, self)
    return fliplr_op.table[key_set](self)


Tensor.fliplr = tensor_fliplr


def tensor_flipud(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(flipud_op, self)
    return flipud_op.table[key_set](self)


Tensor.flipud = tensor_flipud


def tensor_rot90(self, k=1, dims=(0, 1)):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(rot90_op, self, k, dims)
    return rot90_op.table[key_set](self, k, dims)


Tensor.rot90 = tensor_rot90


def tensor_ravel(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ravel_op, self)
    return ravel_op.table[key_set](self)


Tensor.ravel = tensor_ravel


def tensor_argwhere(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(argwhere_op, self)
    return argwhere_op.table[key_set](self)


Tensor.argwhere = tensor_argwhere


def tensor_take_along_dim(self, indices=None, dim=None, **numpy_names):
    if numpy_names:
        return call_by_name([take_along_dim_op], locals())
    try:
        key_set = (self._key_set | indices._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(take_along_dim_op, self, indices, dim)
    return take_along_dim_op.table[key_set](self, indices, dim)


Tensor.take_along_dim = tensor_take_along_dim


def tensor_put_(self, index, source, accumulate=False):
    try:
        key_set = (self._key_set | index._key_set | source._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(put__op, self, index, source, accumulate)
    return put__op.table[key_set](self, index, source, accumulate)


Tensor.put_ = tensor_put_


def tensor_put(self, index, source, accumulate=False):
    try:
        key_set = (self._key_set | index._key_set | source._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(put_op, self, index, source, accumulate)
    return put_op.table[key_set](self, index, source, accumulate)


Tensor.put = tensor_put


def tensor_index_reduce(self, dim=None, index=None, source=None, reduce=None, *, include_self=True, **numpy_names):
    if numpy_names or dim is None or reduce is None:
        return call_by_name([index_reduce_op], locals())
    try:
        key_set = (self._key_set | index._key_set | source._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(index_reduce_op, self, dim, index, source, reduce, include_self)
    return index_reduce_op.table[key_set](self, dim, index, source, reduce, include_self)


Tensor.index_reduce = tensor_index_reduce


def tensor_index_reduce_(self, dim=None, index=None, source=None, reduce=None, *, include_self=True, **numpy_names):
    if numpy_names or dim is None or reduce is None:
        return call_by_name([index_reduce__op], locals())
    try:
        key_set = (self._key_set | index._key_set | source._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(index_reduce__op, self, dim, index, source, reduce, include_self)
    return index_reduce__op.table[key_set](self, dim, index, source, reduce, include_self)


Tensor.index_reduce_ = tensor_index_reduce_


def tensor_take(self, index):
    try:
        key_set = (self._key_set | index._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(take_op, self, index)
    return take_op.table[key_set](self, index)


Tensor.take = tensor_take


def tensor_tensor_split(self, *args, **kwargs):
    return resolve(
        (
            tensor_split_tensor_indices_or_sections_op,
            tensor_split_sections_op,
            tensor_split_indices_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.tensor_split = tensor_tensor_split


def tensor_hsplit(self, *args, **kwargs):
    return resolve(
        (
            hsplit_int_op,
            hsplit_array_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.hsplit = tensor_hsplit


def tensor_vsplit(self, *args, **kwargs):
    return resolve(
        (
            vsplit_int_op,
            vsplit_array_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.vsplit = tensor_vsplit


def tensor_dsplit(self, *args, **kwargs):
    return resolve(
        (
            dsplit_int_op,
            dsplit_array_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.dsplit = tensor_dsplit


def tensor_swapdims_(self, dim0, dim1):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(swapdims__op, self, dim0, dim1)
    return swapdims__op.table[key_set](self, dim0, dim1)


Tensor.swapdims_ = tensor_swapdims_


def tensor_swapaxes_(self, axis0, axis1):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(swapaxes__op, self, axis0, axis1)
    return swapaxes__op.table[key_set](self, axis0, axis1)


Tensor.swapaxes_ = tensor_swapaxes_


def tensor_sum_to_size(self, *size, **named):
    size = int_list(size, "size", named)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(sum_to_size_op, self, size)
    return sum_to_size_op.table[key_set](self, size)


Tensor.sum_to_size = tensor_sum_to_size


def tensor_index_copy(self, dim=None, index=None, source=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([index_copy_op], locals())
    try:
        key_set = (self._key_set | index._key_set | source._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(index_copy_op, self, dim, index, source)
    return index_copy_op.table[key_set](self, dim, index, source)


Tensor.index_copy = tensor_index_copy


def tensor_index_copy_(self, dim=None, index=None, source=None, **numpy_names):
    if numpy_names or dim is None:
        return call_by_name([index_copy__op], locals())
    try:
        key_set = (self._key_set | index._key_set | source._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(index_copy__op, self, dim, index, source)
    return index_copy__op.table[key_set](self, dim, index, source)


Tensor.index_copy_ = tensor_index_copy_


def tensor_index_fill(self, *args, **kwargs):
    return resolve(
        (
            index_fill_int_Tensor_op,
            index_fill_int_Scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.index_fill = tensor_index_fill


def tensor_index_fill_(self, *args, **kwargs):
    return resolve(
        (
            index_fill__int_Tensor_op,
            index_fill__int_Scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.index_fill_ = tensor_index_fill_


def tensor_masked_scatter(self, mask, source):
    try:
        key_set = (self._key_set | mask._key_set | source._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(masked_scatter_op, self, mask, source)
    return masked_scatter_op.table[key_set](self, mask, source)


Tensor.masked_scatter = tensor_masked_scatter


def tensor_masked_scatter_(self, mask, source):
    try:
        key_set = (self._key_set | mask._key_set | source._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(masked_scatter__op, self, mask, source)
    return masked_scatter__op.table[key_set](self, mask, source)


Tensor.masked_scatter_ = tensor_masked_scatter_


def tensor_masked_select(self, mask):
    try:
        key_set = (self._key_set | mask._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(masked_select_op, self, mask)
    return masked_select_op.table[key_set](self, mask)


Tensor.masked_select = tensor_masked_select


def tensor_scatter_reduce(self, dim=None, index=None, src=None, reduce=None, *, include_self=True, **numpy_names):
    if numpy_names or dim is None or reduce is None:
        return call_by_name([scatter_reduce_two_op], locals())
    try:
        key_set = (self._key_set | index._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(scatter_reduce_two_op, self, dim, index, src, reduce, include_self)
    return scatter_reduce_two_op.table[key_set](self, dim, index, src, reduce, include_self)


Tensor.scatter_reduce = tensor_scatter_reduce


def tensor_scatter_reduce_(self, dim=None, index=None, src=None, reduce=None, *, include_self=True, **numpy_names):
    if numpy_names or dim is None or reduce is None:
        return call_by_name([scatter_reduce__two_op], locals())
    try:
        key_set = (self._key_set | index._key_set | src._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(scatter_reduce__two_op, self, dim, index, src, reduce, include_self)
    return scatter_reduce__two_op.table[key_set](self, dim, index, src, reduce, include_self)


Tensor.scatter_reduce_ = tensor_scatter_reduce_


def tensor_det(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(det_op, self)
    return det_op.table[key_set](self)


Tensor.det = tensor_det


def tensor_cov(self, *, correction=1, fweights=None, aweights=None):
    try:
        key_set = (
            self._key_set
            | (0 if fweights is None else fweights._key_set)
            | (0 if aweights is None else aweights._key_set)
            | local.included
        ) & ~local.excluded
    except AttributeError:
        return invoke(cov_op, self, correction, fweights, aweights)
    return cov_op.table[key_set](self, correction, fweights, aweights)


Tensor.cov = tensor_cov


def tensor_corrcoef(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(corrcoef_op, self)
    return corrcoef_op.table[key_set](self)


Tensor.corrcoef = tensor_corrcoef


def tensor_inverse(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(inverse_op, self)
    return inverse_op.table[key_set](self)


Tensor.inverse = tensor_inverse


def tensor_trace(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(trace_op, self)
    return trace_op.table[key_set](self)


Tensor.trace = tensor_trace


def tensor_argsort(self, *args, **kwargs):
    if not (args or kwargs):
        return argsort_op.table[(self._key_set | local.included) & ~local.excluded](self, -1, False)
    return resolve(
        (
            argsort_op,
            argsort_stable_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.argsort = tensor_argsort


def tensor_median(self, *args, **kwargs):
    if not (args or kwargs):
        return median_op.table[(self._key_set | local.included) & ~local.excluded](self)
    return return_types.named(
        return_types.median,
        resolve(
            (
                median_op,
                median_dim_op,
            ),
            (self, *args),
            kwargs,
        ),
    )


Tensor.median = tensor_median


def tensor_nanmedian(self, *args, **kwargs):
    if not (args or kwargs):
        return nanmedian_op.table[(self._key_set | local.included) & ~local.excluded](self)
    return return_types.named(
        return_types.nanmedian,
        resolve(
            (
                nanmedian_op,
                nanmedian_dim_op,
            ),
            (self, *args),
            kwargs,
        ),
    )


Tensor.nanmedian = tensor_nanmedian


def tensor_quantile(self, *args, **kwargs):
    return resolve(
        (
            quantile_op,
            quantile_scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.quantile = tensor_quantile


def tensor_nanquantile(self, *args, **kwargs):
    return resolve(
        (
            nanquantile_op,
            nanquantile_scalar_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.nanquantile = tensor_nanquantile


def tensor_sort(self, *args, **kwargs):
    if not (args or kwargs):
        return return_types.named(
            return_types.sort, sort_op.table[(self._key_set | local.included) & ~local.excluded](self, -1, False)
        )
    return return_types.named(
        return_types.sort,
        resolve(
            (
                sort_op,
                sort_stable_op,
            ),
            (self, *args),
            kwargs,
        ),
    )


Tensor.sort = tensor_sort


def tensor_topk(self, k=None, dim=-1, largest=True, sorted=True, **numpy_names):
    if numpy_names or k is None:
        return return_types.named(return_types.topk, call_by_name([topk_op], locals()))
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return return_types.named(return_types.topk, invoke(topk_op, self, k, dim, largest, sorted))
    return return_types.named(return_types.topk, topk_op.table[key_set](self, k, dim, largest, sorted))


Tensor.topk = tensor_topk


def tensor_addmm(self, mat1, mat2, *, beta=1, alpha=1):
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("addmm", beta=beta, alpha=alpha)
    try:
        key_set = (self._key_set | mat1._key_set | mat2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addmm_op, self, mat1, mat2, beta, alpha)
    return addmm_op.table[key_set](self, mat1, mat2, beta, alpha)


Tensor.addmm = tensor_addmm


def tensor_addmm_(self, mat1, mat2, *, beta=1, alpha=1):
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("addmm_", beta=beta, alpha=alpha)
    try:
        key_set = (self._key_set | mat1._key_set | mat2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addmm__op, self, mat1, mat2, beta, alpha)
    return addmm__op.table[key_set](self, mat1, mat2, beta, alpha)


Tensor.addmm_ = tensor_addmm_


def tensor_baddbmm(self, batch1, batch2, *, beta=1, alpha=1):
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("baddbmm", beta=beta, alpha=alpha)
    try:
        key_set = (self._key_set | batch1._key_set | batch2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(baddbmm_op, self, batch1, batch2, beta, alpha)
    return baddbmm_op.table[key_set](self, batch1, batch2, beta, alpha)


Tensor.baddbmm = tensor_baddbmm


def tensor_baddbmm_(self, batch1, batch2, *, beta=1, alpha=1):
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("baddbmm_", beta=beta, alpha=alpha)
    try:
        key_set = (self._key_set | batch1._key_set | batch2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(baddbmm__op, self, batch1, batch2, beta, alpha)
    return baddbmm__op.table[key_set](self, batch1, batch2, beta, alpha)


Tensor.baddbmm_ = tensor_baddbmm_


def tensor_addbmm(self, batch1, batch2, *, beta=1, alpha=1):
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("addbmm", beta=beta, alpha=alpha)
    try:
        key_set = (self._key_set | batch1._key_set | batch2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addbmm_op, self, batch1, batch2, beta, alpha)
    return addbmm_op.table[key_set](self, batch1, batch2, beta, alpha)


Tensor.addbmm = tensor_addbmm


def tensor_addbmm_(self, batch1, batch2, *, beta=1, alpha=1):
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("addbmm_", beta=beta, alpha=alpha)
    try:
        key_set = (self._key_set | batch1._key_set | batch2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addbmm__op, self, batch1, batch2, beta, alpha)
    return addbmm__op.table[key_set](self, batch1, batch2, beta, alpha)


Tensor.addbmm_ = tensor_addbmm_


def tensor_bmm(self, mat2):
    try:
        key_set = (self._key_set | mat2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(bmm_op, self, mat2)
    return bmm_op.table[key_set](self, mat2)


Tensor.bmm = tensor_bmm


def tensor_dot(self, tensor):
    try:
        key_set = (self._key_set | tensor._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(dot_op, self, tensor)
    return dot_op.table[key_set](self, tensor)


Tensor.dot = tensor_dot


def tensor_matmul(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(matmul_op, self, other)
    return matmul_op.table[key_set](self, other)


Tensor.matmul = tensor_matmul


def tensor_mm(self, mat2):
    try:
        key_set = (self._key_set | mat2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mm_op, self, mat2)
    return mm_op.table[key_set](self, mat2)


Tensor.mm = tensor_mm


def tensor_mv(self, vec):
    try:
        key_set = (self._key_set | vec._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(mv_op, self, vec)
    return mv_op.table[key_set](self, vec)


Tensor.mv = tensor_mv


def tensor_outer(self, vec2):
    try:
        key_set = (self._key_set | vec2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(outer_op, self, vec2)
    return outer_op.table[key_set](self, vec2)


Tensor.outer = tensor_outer


def tensor_kron(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(kron_op, self, other)
    return kron_op.table[key_set](self, other)


Tensor.kron = tensor_kron


def tensor_inner(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(inner_op, self, other)
    return inner_op.table[key_set](self, other)


Tensor.inner = tensor_inner


def tensor_dist(self, other, p=2):
    if p.__class__ not in PLAIN_NUMBERS:
        (p,) = numbers_of("dist", p=p)
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(dist_op, self, other, p)
    return dist_op.table[key_set](self, other, p)


Tensor.dist = tensor_dist


def tensor_vdot(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(vdot_op, self, other)
    return vdot_op.table[key_set](self, other)


Tensor.vdot = tensor_vdot


def tensor_addmv(self, mat, vec, *, beta=1, alpha=1):
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("addmv", beta=beta, alpha=alpha)
    try:
        key_set = (self._key_set | mat._key_set | vec._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addmv_op, self, mat, vec, beta, alpha)
    return addmv_op.table[key_set](self, mat, vec, beta, alpha)


Tensor.addmv = tensor_addmv


def tensor_addmv_(self, mat, vec, *, beta=1, alpha=1):
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("addmv_", beta=beta, alpha=alpha)
    try:
        key_set = (self._key_set | mat._key_set | vec._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addmv__op, self, mat, vec, beta, alpha)
    return addmv__op.table[key_set](self, mat, vec, beta, alpha)


Tensor.addmv_ = tensor_addmv_


def tensor_addr(self, vec1, vec2, *, beta=1, alpha=1):
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("addr", beta=beta, alpha=alpha)
    try:
        key_set = (self._key_set | vec1._key_set | vec2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addr_op, self, vec1, vec2, beta, alpha)
    return addr_op.table[key_set](self, vec1, vec2, beta, alpha)


Tensor.addr = tensor_addr


def tensor_addr_(self, vec1, vec2, *, beta=1, alpha=1):
    if beta.__class__ not in PLAIN_NUMBERS or alpha.__class__ not in PLAIN_NUMBERS:
        beta, alpha = numbers_of("addr_", beta=beta, alpha=alpha)
    try:
        key_set = (self._key_set | vec1._key_set | vec2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(addr__op, self, vec1, vec2, beta, alpha)
    return addr__op.table[key_set](self, vec1, vec2, beta, alpha)


Tensor.addr_ = tensor_addr_


def tensor_renorm(self, p=None, dim=None, maxnorm=None, **numpy_names):
    if numpy_names or p is None or dim is None or maxnorm is None:
        return call_by_name([renorm_op], locals())
    if p.__class__ not in PLAIN_NUMBERS or maxnorm.__class__ not in PLAIN_NUMBERS:
        p, maxnorm = numbers_of("renorm", p=p, maxnorm=maxnorm)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(renorm_op, self, p, dim, maxnorm)
    return renorm_op.table[key_set](self, p, dim, maxnorm)


Tensor.renorm = tensor_renorm


def tensor_renorm_(self, p=None, dim=None, maxnorm=None, **numpy_names):
    if numpy_names or p is None or dim is None or maxnorm is None:
        return call_by_name([renorm__op], locals())
    if p.__class__ not in PLAIN_NUMBERS or maxnorm.__class__ not in PLAIN_NUMBERS:
        p, maxnorm = numbers_of("renorm_", p=p, maxnorm=maxnorm)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(renorm__op, self, p, dim, maxnorm)
    return renorm__op.table[key_set](self, p, dim, maxnorm)


Tensor.renorm_ = tensor_renorm_


def tensor_cross(self, other=None, dim=None, **numpy_names):
    if numpy_names:
        return call_by_name([cross_op], locals())
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(cross_op, self, other, dim)
    return cross_op.table[key_set](self, other, dim)


Tensor.cross = tensor_cross


def tensor_bernoulli(self, *args, **kwargs):
    if not (args or kwargs):
        return bernoulli_op.table[(self._key_set | local.included) & ~local.excluded](self, None)
    return resolve(
        (
            bernoulli_op,
            bernoulli_p_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.bernoulli = tensor_bernoulli


def tensor_bernoulli_(self, *args, **kwargs):
    if not (args or kwargs):
        return bernoulli__float_op.table[(self._key_set | local.included) & ~local.excluded](self, 0.5, None)
    return resolve(
        (
            bernoulli__Tensor_op,
            bernoulli__float_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.bernoulli_ = tensor_bernoulli_


def tensor_exponential_(self, lambd=1.0, *, generator=None):
    if lambd.__class__ not in PLAIN_NUMBERS:
        (lambd,) = numbers_of("exponential_", lambd=lambd)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(exponential__op, self, lambd, generator)
    return exponential__op.table[key_set](self, lambd, generator)


Tensor.exponential_ = tensor_exponential_


def tensor_multinomial(self, num_samples, replacement=False, *, generator=None):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(multinomial_op, self, num_samples, replacement, generator)
    return multinomial_op.table[key_set](self, num_samples, replacement, generator)


Tensor.multinomial = tensor_multinomial


def tensor_normal_(self, mean=0.0, std=1.0, *, generator=None):
    if mean.__class__ not in PLAIN_NUMBERS or std.__class__ not in PLAIN_NUMBERS:
        mean, std = numbers_of("normal_", mean=mean, std=std)
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(normal__op, self, mean, std, generator)
    return normal__op.table[key_set](self, mean, std, generator)


Tensor.normal_ = tensor_normal_


def tensor_random_(self, *args, **kwargs):
    if not (args or kwargs):
        return random__op.table[(self._key_set | local.included) & ~local.excluded](self, None)
    return resolve(
        (
            random__from_op,
            random__to_op,
            random__op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.random_ = tensor_random_


def tensor_uniform_(self, *args, **kwargs):
    if not (args or kwargs):
        return uniform__op.table[(self._key_set | local.included) & ~local.excluded](self, 0.0, 1.0, None)
    return resolve((uniform__op,), (self, *args), kwargs)


Tensor.uniform_ = tensor_uniform_


def tensor_absolute(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(absolute_op, self)
    return absolute_op.table[key_set](self)


Tensor.absolute = tensor_absolute


def tensor_absolute_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(absolute__op, self)
    return absolute__op.table[key_set](self)


Tensor.absolute_ = tensor_absolute_


def tensor_arccos(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arccos_op, self)
    return arccos_op.table[key_set](self)


Tensor.arccos = tensor_arccos


def tensor_arccos_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arccos__op, self)
    return arccos__op.table[key_set](self)


Tensor.arccos_ = tensor_arccos_


def tensor_arccosh(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arccosh_op, self)
    return arccosh_op.table[key_set](self)


Tensor.arccosh = tensor_arccosh


def tensor_arccosh_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arccosh__op, self)
    return arccosh__op.table[key_set](self)


Tensor.arccosh_ = tensor_arccosh_


def tensor_arcsin(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arcsin_op, self)
    return arcsin_op.table[key_set](self)


Tensor.arcsin = tensor_arcsin


def tensor_arcsin_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arcsin__op, self)
    return arcsin__op.table[key_set](self)


Tensor.arcsin_ = tensor_arcsin_


def tensor_arcsinh(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arcsinh_op, self)
    return arcsinh_op.table[key_set](self)


Tensor.arcsinh = tensor_arcsinh


def tensor_arcsinh_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arcsinh__op, self)
    return arcsinh__op.table[key_set](self)


Tensor.arcsinh_ = tensor_arcsinh_


def tensor_arctan(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arctan_op, self)
    return arctan_op.table[key_set](self)


Tensor.arctan = tensor_arctan


def tensor_arctan_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arctan__op, self)
    return arctan__op.table[key_set](self)


Tensor.arctan_ = tensor_arctan_


def tensor_arctan2(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arctan2_op, self, other)
    return arctan2_op.table[key_set](self, other)


Tensor.arctan2 = tensor_arctan2


def tensor_arctan2_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arctan2__op, self, other)
    return arctan2__op.table[key_set](self, other)


Tensor.arctan2_ = tensor_arctan2_


def tensor_arctanh(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arctanh_op, self)
    return arctanh_op.table[key_set](self)


Tensor.arctanh = tensor_arctanh


def tensor_arctanh_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(arctanh__op, self)
    return arctanh__op.table[key_set](self)


Tensor.arctanh_ = tensor_arctanh_


def tensor_clip(self, *args, **kwargs):
    if not (args or kwargs):
        return clip_Tensor_op.table[(self._key_set | local.included) & ~local.excluded](self, None, None)
    return resolve(
        (
            clip_Tensor_op,
            clip_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.clip = tensor_clip


def tensor_clip_(self, *args, **kwargs):
    if not (args or kwargs):
        return clip__Tensor_op.table[(self._key_set | local.included) & ~local.excluded](self, None, None)
    return resolve(
        (
            clip__Tensor_op,
            clip__op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.clip_ = tensor_clip_


def tensor_divide(self, *args, **kwargs):
    return resolve(
        (
            divide_Tensor_op,
            divide_Tensor_mode_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.divide = tensor_divide


def tensor_divide_(self, *args, **kwargs):
    return resolve(
        (
            divide__Tensor_op,
            divide__Tensor_mode_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.divide_ = tensor_divide_


def tensor_fix(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(fix_op, self)
    return fix_op.table[key_set](self)


Tensor.fix = tensor_fix


def tensor_fix_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(fix__op, self)
    return fix__op.table[key_set](self)


Tensor.fix_ = tensor_fix_


def tensor_ger(self, vec2):
    try:
        key_set = (self._key_set | vec2._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(ger_op, self, vec2)
    return ger_op.table[key_set](self, vec2)


Tensor.ger = tensor_ger


def tensor_greater(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(greater_Tensor_op, self, other)
    return greater_Tensor_op.table[key_set](self, other)


Tensor.greater = tensor_greater


def tensor_greater_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(greater__Tensor_op, self, other)
    return greater__Tensor_op.table[key_set](self, other)


Tensor.greater_ = tensor_greater_


def tensor_greater_equal(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(greater_equal_Tensor_op, self, other)
    return greater_equal_Tensor_op.table[key_set](self, other)


Tensor.greater_equal = tensor_greater_equal


def tensor_greater_equal_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(greater_equal__Tensor_op, self, other)
    return greater_equal__Tensor_op.table[key_set](self, other)


Tensor.greater_equal_ = tensor_greater_equal_


def tensor_less(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(less_Tensor_op, self, other)
    return less_Tensor_op.table[key_set](self, other)


Tensor.less = tensor_less


def tensor_less_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(less__Tensor_op, self, other)
    return less__Tensor_op.table[key_set](self, other)


Tensor.less_ = tensor_less_


def tensor_less_equal(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(less_equal_Tensor_op, self, other)
    return less_equal_Tensor_op.table[key_set](self, other)


Tensor.less_equal = tensor_less_equal


def tensor_less_equal_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(less_equal__Tensor_op, self, other)
    return less_equal__Tensor_op.table[key_set](self, other)


Tensor.less_equal_ = tensor_less_equal_


def tensor_moveaxis(self, *args, **kwargs):
    return resolve(
        (
            moveaxis_intlist_op,
            moveaxis_int_op,
        ),
        (self, *args),
        kwargs,
    )


Tensor.moveaxis = tensor_moveaxis


def tensor_multiply(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(multiply_Tensor_op, self, other)
    return multiply_Tensor_op.table[key_set](self, other)


Tensor.multiply = tensor_multiply


def tensor_multiply_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(multiply__Tensor_op, self, other)
    return multiply__Tensor_op.table[key_set](self, other)


Tensor.multiply_ = tensor_multiply_


def tensor_negative(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(negative_op, self)
    return negative_op.table[key_set](self)


Tensor.negative = tensor_negative


def tensor_negative_(self):
    try:
        key_set = (self._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(negative__op, self)
    return negative__op.table[key_set](self)


Tensor.negative_ = tensor_negative_


def tensor_not_equal(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(not_equal_Tensor_op, self, other)
    return not_equal_Tensor_op.table[key_set](self, other)


Tensor.not_equal = tensor_not_equal


def tensor_not_equal_(self, other):
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(not_equal__Tensor_op, self, other)
    return not_equal__Tensor_op.table[key_set](self, other)


Tensor.not_equal_ = tensor_not_equal_


def tensor_subtract(self, other, *, alpha=1):
    if alpha.__class__ not in PLAIN_NUMBERS:
        (alpha,) = numbers_of("subtract", alpha=alpha)
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(subtract_Tensor_op, self, other, alpha)
    return subtract_Tensor_op.table[key_set](self, other, alpha)


Tensor.subtract = tensor_subtract


def tensor_subtract_(self, other, *, alpha=1):
    if alpha.__class__ not in PLAIN_NUMBERS:
        (alpha,) = numbers_of("subtract_", alpha=alpha)
    try:
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
    except AttributeError:
        return invoke(subtract__Tensor_op, self, other, alpha)
    return subtract__Tensor_op.table[key_set](self, other, alpha)


Tensor.subtract_ = tensor_subtract_


def __add__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return add_Tensor_op.table[key_set](self, other, 1)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return add_Tensor_op.table[key_set](self, other, 1)
    return NotImplemented


Tensor.__add__ = __add__


def __radd__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return add_Tensor_op.table[key_set](self, other, 1)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return add_Tensor_op.table[key_set](self, other, 1)
    return NotImplemented


Tensor.__radd__ = __radd__


def __iadd__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return add__Tensor_op.table[key_set](self, other, 1)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return add__Tensor_op.table[key_set](self, other, 1)
    return NotImplemented


Tensor.__iadd__ = __iadd__


def __sub__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return sub_Tensor_op.table[key_set](self, other, 1)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return sub_Tensor_op.table[key_set](self, other, 1)
    return NotImplemented


Tensor.__sub__ = __sub__


def __rsub__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return rsub_Tensor_op.table[key_set](self, other, 1)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return rsub_Scalar_op.table[key_set](self, other, 1)
    return NotImplemented


Tensor.__rsub__ = __rsub__


def __isub__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return sub__Tensor_op.table[key_set](self, other, 1)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return sub__Tensor_op.table[key_set](self, other, 1)
    return NotImplemented


Tensor.__isub__ = __isub__


def __mul__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return mul_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return mul_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__mul__ = __mul__


def __rmul__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return mul_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return mul_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__rmul__ = __rmul__


def __imul__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return mul__Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return mul__Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__imul__ = __imul__


def __truediv__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return div_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return div_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__truediv__ = __truediv__


def __itruediv__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return div__Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return div__Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__itruediv__ = __itruediv__


def __floordiv__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return floor_divide_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return floor_divide_op.table[key_set](self, other)
    return NotImplemented


Tensor.__floordiv__ = __floordiv__


def __rfloordiv__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return floor_divide_op.table[key_set](other, self)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return floor_divide_op.table[key_set](other, self)
    return NotImplemented


Tensor.__rfloordiv__ = __rfloordiv__


def __ifloordiv__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return floor_divide__Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return floor_divide__Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__ifloordiv__ = __ifloordiv__


def __mod__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return remainder_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return remainder_Scalar_op.table[key_set](self, other)
    return NotImplemented


Tensor.__mod__ = __mod__


def __rmod__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return remainder_Tensor_op.table[key_set](other, self)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return remainder_Tensor_op.table[key_set](other, self)
    return NotImplemented


Tensor.__rmod__ = __rmod__


def __imod__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return remainder__Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return remainder__Scalar_op.table[key_set](self, other)
    return NotImplemented


Tensor.__imod__ = __imod__


def __pow__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return pow_Tensor_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return pow_Tensor_Scalar_op.table[key_set](self, other)
    return NotImplemented


Tensor.__pow__ = __pow__


def __rpow__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return pow_Tensor_Tensor_op.table[key_set](other, self)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return pow_Scalar_op.table[key_set](other, self)
    return NotImplemented


Tensor.__rpow__ = __rpow__


def __ipow__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return pow__Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return pow__Scalar_op.table[key_set](self, other)
    return NotImplemented


Tensor.__ipow__ = __ipow__


def __and__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return bitwise_and_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return bitwise_and_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__and__ = __and__


def __rand__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return bitwise_and_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return bitwise_and_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__rand__ = __rand__


def __iand__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return bitwise_and__Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return bitwise_and__Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__iand__ = __iand__


def __or__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return bitwise_or_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return bitwise_or_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__or__ = __or__


def __ror__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return bitwise_or_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return bitwise_or_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__ror__ = __ror__


def __ior__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return bitwise_or__Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return bitwise_or__Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__ior__ = __ior__


def __xor__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return bitwise_xor_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return bitwise_xor_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__xor__ = __xor__


def __rxor__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return bitwise_xor_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return bitwise_xor_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__rxor__ = __rxor__


def __ixor__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return bitwise_xor__Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return bitwise_xor__Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__ixor__ = __ixor__


def __lshift__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return bitwise_left_shift_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return bitwise_left_shift_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__lshift__ = __lshift__


def __rlshift__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return bitwise_left_shift_Tensor_op.table[key_set](other, self)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return bitwise_left_shift_Tensor_op.table[key_set](other, self)
    return NotImplemented


Tensor.__rlshift__ = __rlshift__


def __ilshift__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return bitwise_left_shift__Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return bitwise_left_shift__Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__ilshift__ = __ilshift__


def __rshift__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return bitwise_right_shift_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return bitwise_right_shift_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__rshift__ = __rshift__


def __rrshift__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return bitwise_right_shift_Tensor_op.table[key_set](other, self)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return bitwise_right_shift_Tensor_op.table[key_set](other, self)
    return NotImplemented


Tensor.__rrshift__ = __rrshift__


def __irshift__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return bitwise_right_shift__Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return bitwise_right_shift__Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__irshift__ = __irshift__


def __eq__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return eq_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return eq_Tensor_op.table[key_set](self, other)
    return compare_array(self, other)


Tensor.__eq__ = __eq__


def __ne__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return ne_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return ne_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__ne__ = __ne__


def __lt__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return lt_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return lt_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__lt__ = __lt__


def __le__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return le_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return le_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__le__ = __le__


def __gt__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return gt_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return gt_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__gt__ = __gt__


def __ge__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return ge_Tensor_op.table[key_set](self, other)
    if isinstance(other, NUMBERS):
        key_set = (self._key_set | local.included) & ~local.excluded
        return ge_Tensor_op.table[key_set](self, other)
    return NotImplemented


Tensor.__ge__ = __ge__


def __matmul__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return matmul_op.table[key_set](self, other)
    return NotImplemented


Tensor.__matmul__ = __matmul__


def __rmatmul__(self, other):
    if isinstance(other, Tensor):
        key_set = (self._key_set | other._key_set | local.included) & ~local.excluded
        return matmul_op.table[key_set](other, self)
    return NotImplemented


Tensor.__rmatmul__ = __rmatmul__


Tensor.__neg__ = Tensor.neg


Tensor.__pos__ = Tensor.positive


Tensor.__abs__ = Tensor.abs


def __invert__(self):
    if self.dtype.is_floating_point:
        raise TypeError("~ is for tensors of integers and bools")
    return self.bitwise_not()


def compare_array(self, other):  # of all operators, PyTorch's `==` alone accepts an array
    try:
        return self == self.__array_wrap__(other) if isinstance(other, ndarray) else NotImplemented
    except TypeError:  # an array of another dtype
        return NotImplemented


def __rtruediv__(self, other):  # in two steps, as in PyTorch
    try:
        return self.reciprocal() * other
    except TypeError:
        return NotImplemented


Tensor.__invert__, Tensor.__rtruediv__, Tensor.__rdiv__ = __invert__, __rtruediv__, __rtruediv__


# ---- Types of named results


return_types.define("max", ("values", "indices"))
return_types.define("max_out", ("values", "indices"))
return_types.define("min", ("values", "indices"))
return_types.define("min_out", ("values", "indices"))
return_types.define("histogram", ("hist", "bin_edges"))
return_types.define("cummax", ("values", "indices"))
return_types.define("cummax_out", ("values", "indices"))
return_types.define("cummin", ("values", "indices"))
return_types.define("cummin_out", ("values", "indices"))
return_types.define("kthvalue", ("values", "indices"))
return_types.define("kthvalue_out", ("values", "indices"))
return_types.define("mode", ("values", "indices"))
return_types.define("mode_out", ("values", "indices"))
return_types.define("aminmax", ("min", "max"))
return_types.define("aminmax_out", ("min", "max"))
return_types.define("_linalg_svd", ("U", "S", "Vh"))
return_types.define("linalg_inv_ex", ("inverse", "info"))
return_types.define("_linalg_det", ("result", "LU", "pivots"))
return_types.define("_linalg_solve_ex", ("result", "LU", "pivots", "info"))
return_types.define("linalg_cholesky_ex", ("L", "info"))
return_types.define("median", ("values", "indices"))
return_types.define("median_out", ("values", "indices"))
return_types.define("nanmedian", ("values", "indices"))
return_types.define("nanmedian_out", ("values", "indices"))
return_types.define("sort", ("values", "indices"))
return_types.define("sort_out", ("values", "indices"))
return_types.define("topk", ("values", "indices"))
return_types.define("topk_out", ("values", "indices"))
return_types.define("_scaled_dot_product_flash_attention_for_cpu", ("output", "logsumexp"))
return_types.define("_fake_quantize_per_tensor_affine_cachemask_tensor_qparams", ("output", "mask"))

# ---- Operators


alias_op = declare("alias(Tensor(a) self) -> Tensor(a)")
alias_copy_op = declare("alias_copy(Tensor self) -> Tensor")
as_strided_op = declare("as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a)")
as_strided_copy_op = declare(
    "as_strided_copy(Tensor self, int[] size, int[] stride, int? storage_offset=None) -> Tensor"
)
as_strided__op = declare(
    "as_strided_(Tensor(a!) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a!)"
)
broadcast_tensors_op = declare("broadcast_tensors(Tensor[] tensors) -> Tensor[]")
broadcast_to_op = declare("broadcast_to(Tensor(a) self, int[] size) -> Tensor(a)")
chunk_op = declare("chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]")
detach_op = declare("detach(Tensor(a) self) -> Tensor(a)")
diagonal_op = declare("diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)")
diagonal_copy_op = declare("diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor")
diagonal_copy_out_op = declare(
    "diagonal_copy.out(Tensor self, int offset=0, int dim1=0, int dim2=1, *, Tensor(a!) out) -> Tensor(a!)"
)
expand_op = declare("expand(Tensor(a) self, int[] size) -> Tensor(a)")
expand_copy_op = declare("expand_copy(Tensor self, int[] size) -> Tensor")
expand_as_op = declare("expand_as(Tensor(a) self, Tensor other) -> Tensor(a)")
flatten_using_ints_op = declare("flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)")
lift_fresh_op = declare("lift_fresh(Tensor(a) self) -> Tensor(a)")
lift_fresh_copy_op = declare("lift_fresh_copy(Tensor self) -> Tensor")
mT_op = declare("mT(Tensor(a) self) -> Tensor(a)")
movedim_intlist_op = declare("movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)")
movedim_int_op = declare("movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)")
narrow_op = declare("narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)")
narrow_Tensor_op = declare("narrow.Tensor(Tensor(a) self, int dim, Tensor start, int length) -> Tensor(a)")
numpy_T_op = declare("numpy_T(Tensor(a) self) -> Tensor(a)")
permute_op = declare("permute(Tensor(a) self, int[] dims) -> Tensor(a)")
permute_copy_op = declare("permute_copy(Tensor self, int[] dims) -> Tensor")
_reshape_alias_op = declare("_reshape_alias(Tensor(a) self, int[] size, int[] stride) -> Tensor(a)")
_reshape_alias_copy_op = declare("_reshape_alias_copy(Tensor self, int[] size, int[] stride) -> Tensor")
reshape_op = declare("reshape(Tensor(a) self, int[] shape) -> Tensor(a)")
reshape_as_op = declare("reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)")
select_int_op = declare("select.int(Tensor(a) self, int dim, int index) -> Tensor(a)")
slice_Tensor_op = declare(
    "slice.Tensor(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)"
)
split_Tensor_op = declare("split.Tensor(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[]")
split_sizes_op = declare("split.sizes(Tensor(a -> *) self, int[] split_size, int dim=0) -> Tensor(a)[]")
split_with_sizes_op = declare("split_with_sizes(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]")
split_with_sizes_copy_op = declare("split_with_sizes_copy(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]")
squeeze_op = declare("squeeze(Tensor(a) self) -> Tensor(a)")
squeeze_copy_op = declare("squeeze_copy(Tensor self) -> Tensor")
squeeze_dim_op = declare("squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)")
squeeze_copy_dim_op = declare("squeeze_copy.dim(Tensor self, int dim) -> Tensor")
squeeze_dims_op = declare("squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)")
squeeze_copy_dims_op = declare("squeeze_copy.dims(Tensor self, int[] dim) -> Tensor")
squeeze__op = declare("squeeze_(Tensor(a!) self) -> Tensor(a!)")
squeeze__dim_op = declare("squeeze_.dim(Tensor(a!) self, int dim) -> Tensor(a!)")
squeeze__dims_op = declare("squeeze_.dims(Tensor(a!) self, int[] dim) -> Tensor(a!)")
t_op = declare("t(Tensor(a) self) -> Tensor(a)")
t_copy_op = declare("t_copy(Tensor self) -> Tensor")
t__op = declare("t_(Tensor(a!) self) -> Tensor(a!)")
transpose_int_op = declare("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)")
transpose_copy_int_op = declare("transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor")
swapaxes_op = declare("swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)")
swapdims_op = declare("swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)")
transpose__op = declare("transpose_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)")
unbind_int_op = declare("unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]")
unbind_copy_int_op = declare("unbind_copy.int(Tensor self, int dim=0) -> Tensor[]")
unflatten_int_op = declare("unflatten.int(Tensor(a) self, int dim, int[] sizes) -> Tensor(a)")
unfold_op = declare("unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)")
unfold_copy_op = declare("unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor")
unsqueeze_op = declare("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)")
unsqueeze_copy_op = declare("unsqueeze_copy(Tensor self, int dim) -> Tensor")
unsqueeze__op = declare("unsqueeze_(Tensor(a!) self, int dim) -> Tensor(a!)")
view_op = declare("view(Tensor(a) self, int[] size) -> Tensor(a)")
view_copy_op = declare("view_copy(Tensor self, int[] size) -> Tensor")
view_dtype_op = declare("view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)")
view_copy_dtype_op = declare("view_copy.dtype(Tensor self, ScalarType dtype) -> Tensor")
_unsafe_view_op = declare("_unsafe_view(Tensor self, int[] size) -> Tensor")
view_as_op = declare("view_as(Tensor(a) self, Tensor other) -> Tensor(a)")
clone_op = declare("clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor")
contiguous_op = declare("contiguous(Tensor(a) self, *, MemoryFormat memory_format=contiguous_format) -> Tensor(a)")
copy__op = declare("copy_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)")
_to_copy_op = declare(
    "_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> Tensor"
)
to_dtype_layout_op = declare(
    "to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"
)
to_device_op = declare(
    "to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"
)
to_dtype_op = declare(
    "to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"
)
to_other_op = declare(
    "to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, MemoryFormat? memory_format=None) -> Tensor(a)"
)
type_as_op = declare("type_as(Tensor self, Tensor other) -> Tensor")
arange_op = declare(
    "arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
arange_out_op = declare("arange.out(Scalar end, *, Tensor(a!) out) -> Tensor(a!)")
arange_start_op = declare(
    "arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
arange_start_step_op = declare(
    "arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
arange_start_out_op = declare(
    "arange.start_out(Scalar start, Scalar end, Scalar step=1, *, Tensor(a!) out) -> Tensor(a!)"
)
empty_memory_format_op = declare(
    "empty.memory_format(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"
)
empty_out_op = declare("empty.out(int[] size, *, MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)")
empty_like_op = declare(
    "empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"
)
empty_strided_op = declare(
    "empty_strided(int[] size, int[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
eye_op = declare(
    "eye(int n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
eye_m_op = declare(
    "eye.m(int n, int m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
eye_out_op = declare("eye.out(int n, *, Tensor(a!) out) -> Tensor(a!)")
eye_m_out_op = declare("eye.m_out(int n, int m, *, Tensor(a!) out) -> Tensor(a!)")
full_op = declare(
    "full(int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
full_out_op = declare("full.out(int[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!)")
full_like_op = declare(
    "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"
)
scalar_tensor_op = declare(
    "scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
linspace_op = declare(
    "linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
linspace_out_op = declare("linspace.out(Scalar start, Scalar end, int steps, *, Tensor(a!) out) -> Tensor(a!)")
linspace_Tensor_Tensor_op = declare(
    "linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
linspace_Tensor_Tensor_out_op = declare(
    "linspace.Tensor_Tensor_out(Tensor start, Tensor end, int steps, *, Tensor(a!) out) -> Tensor(a!)"
)
linspace_Tensor_Scalar_op = declare(
    "linspace.Tensor_Scalar(Tensor start, Scalar end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
linspace_Tensor_Scalar_out_op = declare(
    "linspace.Tensor_Scalar_out(Tensor start, Scalar end, int steps, *, Tensor(a!) out) -> Tensor(a!)"
)
linspace_Scalar_Tensor_op = declare(
    "linspace.Scalar_Tensor(Scalar start, Tensor end, int steps, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
linspace_Scalar_Tensor_out_op = declare(
    "linspace.Scalar_Tensor_out(Scalar start, Tensor end, int steps, *, Tensor(a!) out) -> Tensor(a!)"
)
new_empty_op = declare(
    "new_empty(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
new_empty_strided_op = declare(
    "new_empty_strided(Tensor self, int[] size, int[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
new_full_op = declare(
    "new_full(Tensor self, int[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
new_ones_op = declare(
    "new_ones(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
new_zeros_op = declare(
    "new_zeros(Tensor self, int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
ones_op = declare(
    "ones(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
ones_out_op = declare("ones.out(int[] size, *, Tensor(a!) out) -> Tensor(a!)")
ones_like_op = declare(
    "ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"
)
zeros_op = declare(
    "zeros(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
zeros_out_op = declare("zeros.out(int[] size, *, Tensor(a!) out) -> Tensor(a!)")
zeros_like_op = declare(
    "zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"
)
tril_indices_op = declare(
    "tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
triu_indices_op = declare(
    "triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
range_step_op = declare(
    "range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
range_op = declare(
    "range(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
as_strided_scatter_op = declare(
    "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None) -> Tensor"
)
copy_op = declare("copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor")
diagonal_scatter_op = declare(
    "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor"
)
select_scatter_op = declare("select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor")
slice_scatter_op = declare(
    "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor"
)
zero_op = declare("zero(Tensor self) -> Tensor")
fill_Tensor_op = declare("fill.Tensor(Tensor self, Tensor value) -> Tensor")
fill_Scalar_op = declare("fill.Scalar(Tensor self, Scalar value) -> Tensor")
fill__Tensor_op = declare("fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)")
fill__Scalar_op = declare("fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)")
resize__op = declare("resize_(Tensor(a!) self, int[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)")
resize_as__op = declare(
    "resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!)"
)
zero__op = declare("zero_(Tensor(a!) self) -> Tensor(a!)")
abs_op = declare("abs(Tensor self) -> Tensor")
abs__op = declare("abs_(Tensor(a!) self) -> Tensor(a!)")
abs_out_op = declare("abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
add_Tensor_op = declare("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
add__Tensor_op = declare("add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)")
add_out_op = declare("add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)")
add_Scalar_op = declare("add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor")
addcdiv_op = declare("addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor")
addcdiv__op = declare("addcdiv_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)")
addcdiv_out_op = declare(
    "addcdiv.out(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor(a!) out) -> Tensor(a!)"
)
addcmul_op = declare("addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor")
addcmul__op = declare("addcmul_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, Scalar value=1) -> Tensor(a!)")
addcmul_out_op = declare(
    "addcmul.out(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor(a!) out) -> Tensor(a!)"
)
allclose_op = declare(
    "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool"
)
bitwise_and_Tensor_op = declare("bitwise_and.Tensor(Tensor self, Tensor other) -> Tensor")
bitwise_and__Tensor_op = declare("bitwise_and_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
bitwise_and_Tensor_out_op = declare(
    "bitwise_and.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)"
)
bitwise_left_shift_Tensor_op = declare("bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor")
bitwise_left_shift__Tensor_op = declare("bitwise_left_shift_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
bitwise_left_shift_Tensor_out_op = declare(
    "bitwise_left_shift.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)"
)
bitwise_not_op = declare("bitwise_not(Tensor self) -> Tensor")
bitwise_not__op = declare("bitwise_not_(Tensor(a!) self) -> Tensor(a!)")
bitwise_not_out_op = declare("bitwise_not.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
bitwise_or_Tensor_op = declare("bitwise_or.Tensor(Tensor self, Tensor other) -> Tensor")
bitwise_or__Tensor_op = declare("bitwise_or_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
bitwise_or_Tensor_out_op = declare("bitwise_or.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
bitwise_right_shift_Tensor_op = declare("bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor")
bitwise_right_shift__Tensor_op = declare("bitwise_right_shift_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
bitwise_right_shift_Tensor_out_op = declare(
    "bitwise_right_shift.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)"
)
bitwise_xor_Tensor_op = declare("bitwise_xor.Tensor(Tensor self, Tensor other) -> Tensor")
bitwise_xor__Tensor_op = declare("bitwise_xor_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
bitwise_xor_Tensor_out_op = declare(
    "bitwise_xor.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)"
)
ceil_op = declare("ceil(Tensor self) -> Tensor")
ceil__op = declare("ceil_(Tensor(a!) self) -> Tensor(a!)")
ceil_out_op = declare("ceil.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
clamp_Tensor_op = declare("clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor")
clamp__Tensor_op = declare("clamp_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)")
clamp_Tensor_out_op = declare(
    "clamp.Tensor_out(Tensor self, Tensor? min=None, Tensor? max=None, *, Tensor(a!) out) -> Tensor(a!)"
)
clamp_op = declare("clamp(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor")
clamp__op = declare("clamp_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)")
clamp_out_op = declare("clamp.out(Tensor self, Scalar? min=None, Scalar? max=None, *, Tensor(a!) out) -> Tensor(a!)")
clamp_max_Tensor_op = declare("clamp_max.Tensor(Tensor self, Tensor max) -> Tensor")
clamp_max__Tensor_op = declare("clamp_max_.Tensor(Tensor(a!) self, Tensor max) -> Tensor(a!)")
clamp_max_Tensor_out_op = declare("clamp_max.Tensor_out(Tensor self, Tensor max, *, Tensor(a!) out) -> Tensor(a!)")
clamp_max_op = declare("clamp_max(Tensor self, Scalar max) -> Tensor")
clamp_max__op = declare("clamp_max_(Tensor(a!) self, Scalar max) -> Tensor(a!)")
clamp_max_out_op = declare("clamp_max.out(Tensor self, Scalar max, *, Tensor(a!) out) -> Tensor(a!)")
clamp_min_Tensor_op = declare("clamp_min.Tensor(Tensor self, Tensor min) -> Tensor")
clamp_min__Tensor_op = declare("clamp_min_.Tensor(Tensor(a!) self, Tensor min) -> Tensor(a!)")
clamp_min_Tensor_out_op = declare("clamp_min.Tensor_out(Tensor self, Tensor min, *, Tensor(a!) out) -> Tensor(a!)")
clamp_min_op = declare("clamp_min(Tensor self, Scalar min) -> Tensor")
clamp_min__op = declare("clamp_min_(Tensor(a!) self, Scalar min) -> Tensor(a!)")
clamp_min_out_op = declare("clamp_min.out(Tensor self, Scalar min, *, Tensor(a!) out) -> Tensor(a!)")
cos_op = declare("cos(Tensor self) -> Tensor")
cos__op = declare("cos_(Tensor(a!) self) -> Tensor(a!)")
cos_out_op = declare("cos.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
div_Tensor_op = declare("div.Tensor(Tensor self, Tensor other) -> Tensor")
div__Tensor_op = declare("div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
div_out_op = declare("div.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
div_Scalar_op = declare("div.Scalar(Tensor self, Scalar other) -> Tensor")
div_Tensor_mode_op = declare("div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor")
div__Tensor_mode_op = declare("div_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)")
div_out_mode_op = declare(
    "div.out_mode(Tensor self, Tensor other, *, str? rounding_mode, Tensor(a!) out) -> Tensor(a!)"
)
elu_op = declare("elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor")
elu__op = declare("elu_(Tensor(a!) self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor(a!)")
elu_out_op = declare(
    "elu.out(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1, *, Tensor(a!) out) -> Tensor(a!)"
)
eq_Tensor_op = declare("eq.Tensor(Tensor self, Tensor other) -> Tensor")
eq__Tensor_op = declare("eq_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
eq_Tensor_out_op = declare("eq.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
eq_Scalar_op = declare("eq.Scalar(Tensor self, Scalar other) -> Tensor")
is_nonzero_op = declare("is_nonzero(Tensor self) -> bool")
is_same_size_op = declare("is_same_size(Tensor self, Tensor other) -> bool")
is_signed_op = declare("is_signed(Tensor self) -> bool")
equal_op = declare("equal(Tensor self, Tensor other) -> bool")
erf_op = declare("erf(Tensor self) -> Tensor")
erf__op = declare("erf_(Tensor(a!) self) -> Tensor(a!)")
erf_out_op = declare("erf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
exp_op = declare("exp(Tensor self) -> Tensor")
exp__op = declare("exp_(Tensor(a!) self) -> Tensor(a!)")
exp_out_op = declare("exp.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
exp2_op = declare("exp2(Tensor self) -> Tensor")
exp2__op = declare("exp2_(Tensor(a!) self) -> Tensor(a!)")
exp2_out_op = declare("exp2.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
expm1_op = declare("expm1(Tensor self) -> Tensor")
expm1__op = declare("expm1_(Tensor(a!) self) -> Tensor(a!)")
expm1_out_op = declare("expm1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
floor_op = declare("floor(Tensor self) -> Tensor")
floor__op = declare("floor_(Tensor(a!) self) -> Tensor(a!)")
floor_out_op = declare("floor.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
floor_divide_op = declare("floor_divide(Tensor self, Tensor other) -> Tensor")
floor_divide_out_op = declare("floor_divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
floor_divide__Tensor_op = declare("floor_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
fmod_Tensor_op = declare("fmod.Tensor(Tensor self, Tensor other) -> Tensor")
fmod__Tensor_op = declare("fmod_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
fmod_Tensor_out_op = declare("fmod.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
fmod_Scalar_op = declare("fmod.Scalar(Tensor self, Scalar other) -> Tensor")
fmod__Scalar_op = declare("fmod_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")
fmod_Scalar_out_op = declare("fmod.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)")
ge_Tensor_op = declare("ge.Tensor(Tensor self, Tensor other) -> Tensor")
ge__Tensor_op = declare("ge_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
ge_Tensor_out_op = declare("ge.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
gelu_op = declare("gelu(Tensor self, *, str approximate='none') -> Tensor")
gelu__op = declare("gelu_(Tensor(a!) self, *, str approximate='none') -> Tensor(a!)")
gelu_out_op = declare("gelu.out(Tensor self, *, str approximate='none', Tensor(a!) out) -> Tensor(a!)")
gt_Tensor_op = declare("gt.Tensor(Tensor self, Tensor other) -> Tensor")
gt__Tensor_op = declare("gt_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
gt_Tensor_out_op = declare("gt.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
hardtanh_op = declare("hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor")
hardtanh__op = declare("hardtanh_(Tensor(a!) self, Scalar min_val=-1, Scalar max_val=1) -> Tensor(a!)")
hardtanh_out_op = declare(
    "hardtanh.out(Tensor self, Scalar min_val=-1, Scalar max_val=1, *, Tensor(a!) out) -> Tensor(a!)"
)
isclose_op = declare(
    "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor"
)
isfinite_op = declare("isfinite(Tensor self) -> Tensor")
isinf_op = declare("isinf(Tensor self) -> Tensor")
isnan_op = declare("isnan(Tensor self) -> Tensor")
le_Tensor_op = declare("le.Tensor(Tensor self, Tensor other) -> Tensor")
le__Tensor_op = declare("le_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
le_Tensor_out_op = declare("le.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
leaky_relu_op = declare("leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor")
leaky_relu__op = declare("leaky_relu_(Tensor(a!) self, Scalar negative_slope=0.01) -> Tensor(a!)")
leaky_relu_out_op = declare("leaky_relu.out(Tensor self, Scalar negative_slope=0.01, *, Tensor(a!) out) -> Tensor(a!)")
lerp_Tensor_op = declare("lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor")
lerp__Tensor_op = declare("lerp_.Tensor(Tensor(a!) self, Tensor end, Tensor weight) -> Tensor(a!)")
lerp_Tensor_out_op = declare("lerp.Tensor_out(Tensor self, Tensor end, Tensor weight, *, Tensor(a!) out) -> Tensor(a!)")
lerp_Scalar_op = declare("lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor")
lerp__Scalar_op = declare("lerp_.Scalar(Tensor(a!) self, Tensor end, Scalar weight) -> Tensor(a!)")
lerp_Scalar_out_op = declare("lerp.Scalar_out(Tensor self, Tensor end, Scalar weight, *, Tensor(a!) out) -> Tensor(a!)")
log_op = declare("log(Tensor self) -> Tensor")
log__op = declare("log_(Tensor(a!) self) -> Tensor(a!)")
log_out_op = declare("log.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
log10_op = declare("log10(Tensor self) -> Tensor")
log10__op = declare("log10_(Tensor(a!) self) -> Tensor(a!)")
log10_out_op = declare("log10.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
log1p_op = declare("log1p(Tensor self) -> Tensor")
log1p__op = declare("log1p_(Tensor(a!) self) -> Tensor(a!)")
log1p_out_op = declare("log1p.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
log2_op = declare("log2(Tensor self) -> Tensor")
log2__op = declare("log2_(Tensor(a!) self) -> Tensor(a!)")
log2_out_op = declare("log2.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
logical_and_op = declare("logical_and(Tensor self, Tensor other) -> Tensor")
logical_and__op = declare("logical_and_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
logical_and_out_op = declare("logical_and.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
logical_not_op = declare("logical_not(Tensor self) -> Tensor")
logical_not__op = declare("logical_not_(Tensor(a!) self) -> Tensor(a!)")
logical_not_out_op = declare("logical_not.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
logical_or_op = declare("logical_or(Tensor self, Tensor other) -> Tensor")
logical_or__op = declare("logical_or_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
logical_or_out_op = declare("logical_or.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
logical_xor_op = declare("logical_xor(Tensor self, Tensor other) -> Tensor")
logical_xor__op = declare("logical_xor_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
logical_xor_out_op = declare("logical_xor.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
lt_Tensor_op = declare("lt.Tensor(Tensor self, Tensor other) -> Tensor")
lt__Tensor_op = declare("lt_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
lt_Tensor_out_op = declare("lt.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
maximum_op = declare("maximum(Tensor self, Tensor other) -> Tensor")
maximum_out_op = declare("maximum.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
minimum_op = declare("minimum(Tensor self, Tensor other) -> Tensor")
minimum_out_op = declare("minimum.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
mul_Tensor_op = declare("mul.Tensor(Tensor self, Tensor other) -> Tensor")
mul__Tensor_op = declare("mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
mul_out_op = declare("mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
mul_Scalar_op = declare("mul.Scalar(Tensor self, Scalar other) -> Tensor")
ne_Tensor_op = declare("ne.Tensor(Tensor self, Tensor other) -> Tensor")
ne__Tensor_op = declare("ne_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
ne_Tensor_out_op = declare("ne.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
neg_op = declare("neg(Tensor self) -> Tensor")
neg__op = declare("neg_(Tensor(a!) self) -> Tensor(a!)")
neg_out_op = declare("neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
positive_op = declare("positive(Tensor(a) self) -> Tensor(a)")
pow_Tensor_Tensor_op = declare("pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor")
pow__Tensor_op = declare("pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)")
pow_Tensor_Tensor_out_op = declare(
    "pow.Tensor_Tensor_out(Tensor self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)"
)
pow_Tensor_Scalar_op = declare("pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor")
pow__Scalar_op = declare("pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)")
pow_Tensor_Scalar_out_op = declare(
    "pow.Tensor_Scalar_out(Tensor self, Scalar exponent, *, Tensor(a!) out) -> Tensor(a!)"
)
pow_Scalar_op = declare("pow.Scalar(Scalar self, Tensor exponent) -> Tensor")
pow_Scalar_out_op = declare("pow.Scalar_out(Scalar self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)")
reciprocal_op = declare("reciprocal(Tensor self) -> Tensor")
reciprocal__op = declare("reciprocal_(Tensor(a!) self) -> Tensor(a!)")
reciprocal_out_op = declare("reciprocal.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
relu_op = declare("relu(Tensor self) -> Tensor")
relu__op = declare("relu_(Tensor(a!) self) -> Tensor(a!)")
remainder_Tensor_op = declare("remainder.Tensor(Tensor self, Tensor other) -> Tensor")
remainder__Tensor_op = declare("remainder_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
remainder_Tensor_out_op = declare("remainder.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
remainder_Scalar_op = declare("remainder.Scalar(Tensor self, Scalar other) -> Tensor")
remainder__Scalar_op = declare("remainder_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")
remainder_Scalar_out_op = declare("remainder.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)")
round_op = declare("round(Tensor self) -> Tensor")
round__op = declare("round_(Tensor(a!) self) -> Tensor(a!)")
round_out_op = declare("round.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
round_decimals_op = declare("round.decimals(Tensor self, *, int decimals) -> Tensor")
round__decimals_op = declare("round_.decimals(Tensor(a!) self, *, int decimals) -> Tensor(a!)")
round_decimals_out_op = declare("round.decimals_out(Tensor self, *, int decimals, Tensor(a!) out) -> Tensor(a!)")
rsqrt_op = declare("rsqrt(Tensor self) -> Tensor")
rsqrt__op = declare("rsqrt_(Tensor(a!) self) -> Tensor(a!)")
rsqrt_out_op = declare("rsqrt.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
rsub_Tensor_op = declare("rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
rsub_Scalar_op = declare("rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor")
sgn_op = declare("sgn(Tensor self) -> Tensor")
sgn__op = declare("sgn_(Tensor(a!) self) -> Tensor(a!)")
sgn_out_op = declare("sgn.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
sigmoid_op = declare("sigmoid(Tensor self) -> Tensor")
sigmoid__op = declare("sigmoid_(Tensor(a!) self) -> Tensor(a!)")
sigmoid_out_op = declare("sigmoid.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
sign_op = declare("sign(Tensor self) -> Tensor")
sign__op = declare("sign_(Tensor(a!) self) -> Tensor(a!)")
sign_out_op = declare("sign.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
silu_op = declare("silu(Tensor self) -> Tensor")
silu__op = declare("silu_(Tensor(a!) self) -> Tensor(a!)")
silu_out_op = declare("silu.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
sin_op = declare("sin(Tensor self) -> Tensor")
sin__op = declare("sin_(Tensor(a!) self) -> Tensor(a!)")
sin_out_op = declare("sin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
softplus_op = declare("softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor")
softplus_out_op = declare(
    "softplus.out(Tensor self, Scalar beta=1, Scalar threshold=20, *, Tensor(a!) out) -> Tensor(a!)"
)
sqrt_op = declare("sqrt(Tensor self) -> Tensor")
sqrt__op = declare("sqrt_(Tensor(a!) self) -> Tensor(a!)")
sqrt_out_op = declare("sqrt.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
square_op = declare("square(Tensor self) -> Tensor")
square__op = declare("square_(Tensor(a!) self) -> Tensor(a!)")
square_out_op = declare("square.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
sub_Tensor_op = declare("sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
sub__Tensor_op = declare("sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)")
sub_out_op = declare("sub.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)")
sub_Scalar_op = declare("sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor")
tan_op = declare("tan(Tensor self) -> Tensor")
tan__op = declare("tan_(Tensor(a!) self) -> Tensor(a!)")
tan_out_op = declare("tan.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
tanh_op = declare("tanh(Tensor self) -> Tensor")
tanh__op = declare("tanh_(Tensor(a!) self) -> Tensor(a!)")
tanh_out_op = declare("tanh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
threshold_op = declare("threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor")
threshold__op = declare("threshold_(Tensor(a!) self, Scalar threshold, Scalar value) -> Tensor(a!)")
threshold_out_op = declare(
    "threshold.out(Tensor self, Scalar threshold, Scalar value, *, Tensor(a!) out) -> Tensor(a!)"
)
trunc_op = declare("trunc(Tensor self) -> Tensor")
trunc__op = declare("trunc_(Tensor(a!) self) -> Tensor(a!)")
trunc_out_op = declare("trunc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
where_self_op = declare("where.self(Tensor condition, Tensor self, Tensor other) -> Tensor")
where_op = declare("where(Tensor condition) -> Tensor[]")
where_self_out_op = declare(
    "where.self_out(Tensor condition, Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)"
)
xlogy_Tensor_op = declare("xlogy.Tensor(Tensor self, Tensor other) -> Tensor")
xlogy__Tensor_op = declare("xlogy_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
xlogy_Scalar_Other_op = declare("xlogy.Scalar_Other(Tensor self, Scalar other) -> Tensor")
xlogy__Scalar_Other_op = declare("xlogy_.Scalar_Other(Tensor(a!) self, Scalar other) -> Tensor(a!)")
xlogy_Scalar_Self_op = declare("xlogy.Scalar_Self(Scalar self, Tensor other) -> Tensor")
xlogy_OutTensor_op = declare("xlogy.OutTensor(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
acos_op = declare("acos(Tensor self) -> Tensor")
acos__op = declare("acos_(Tensor(a!) self) -> Tensor(a!)")
acos_out_op = declare("acos.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
acosh_op = declare("acosh(Tensor self) -> Tensor")
acosh__op = declare("acosh_(Tensor(a!) self) -> Tensor(a!)")
acosh_out_op = declare("acosh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
asin_op = declare("asin(Tensor self) -> Tensor")
asin__op = declare("asin_(Tensor(a!) self) -> Tensor(a!)")
asin_out_op = declare("asin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
asinh_op = declare("asinh(Tensor self) -> Tensor")
asinh__op = declare("asinh_(Tensor(a!) self) -> Tensor(a!)")
asinh_out_op = declare("asinh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
atan_op = declare("atan(Tensor self) -> Tensor")
atan__op = declare("atan_(Tensor(a!) self) -> Tensor(a!)")
atan_out_op = declare("atan.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
atanh_op = declare("atanh(Tensor self) -> Tensor")
atanh__op = declare("atanh_(Tensor(a!) self) -> Tensor(a!)")
atanh_out_op = declare("atanh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
cosh_op = declare("cosh(Tensor self) -> Tensor")
cosh__op = declare("cosh_(Tensor(a!) self) -> Tensor(a!)")
cosh_out_op = declare("cosh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
sinh_op = declare("sinh(Tensor self) -> Tensor")
sinh__op = declare("sinh_(Tensor(a!) self) -> Tensor(a!)")
sinh_out_op = declare("sinh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
erfc_op = declare("erfc(Tensor self) -> Tensor")
erfc__op = declare("erfc_(Tensor(a!) self) -> Tensor(a!)")
erfc_out_op = declare("erfc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
sinc_op = declare("sinc(Tensor self) -> Tensor")
sinc__op = declare("sinc_(Tensor(a!) self) -> Tensor(a!)")
sinc_out_op = declare("sinc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
lgamma_op = declare("lgamma(Tensor self) -> Tensor")
lgamma__op = declare("lgamma_(Tensor(a!) self) -> Tensor(a!)")
lgamma_out_op = declare("lgamma.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
digamma_op = declare("digamma(Tensor self) -> Tensor")
digamma__op = declare("digamma_(Tensor(a!) self) -> Tensor(a!)")
digamma_out_op = declare("digamma.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
erfinv_op = declare("erfinv(Tensor self) -> Tensor")
erfinv__op = declare("erfinv_(Tensor(a!) self) -> Tensor(a!)")
erfinv_out_op = declare("erfinv.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
frac_op = declare("frac(Tensor self) -> Tensor")
frac__op = declare("frac_(Tensor(a!) self) -> Tensor(a!)")
frac_out_op = declare("frac.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
atan2_op = declare("atan2(Tensor self, Tensor other) -> Tensor")
atan2__op = declare("atan2_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
atan2_out_op = declare("atan2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
hypot_op = declare("hypot(Tensor self, Tensor other) -> Tensor")
hypot__op = declare("hypot_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
hypot_out_op = declare("hypot.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
copysign_Tensor_op = declare("copysign.Tensor(Tensor self, Tensor other) -> Tensor")
copysign_Scalar_op = declare("copysign.Scalar(Tensor self, Scalar other) -> Tensor")
copysign__Scalar_op = declare("copysign_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)")
copysign_Scalar_out_op = declare("copysign.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)")
copysign__Tensor_op = declare("copysign_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
copysign_out_op = declare("copysign.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
logaddexp_op = declare("logaddexp(Tensor self, Tensor other) -> Tensor")
logaddexp_out_op = declare("logaddexp.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
logaddexp2_op = declare("logaddexp2(Tensor self, Tensor other) -> Tensor")
logaddexp2_out_op = declare("logaddexp2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
fmax_op = declare("fmax(Tensor self, Tensor other) -> Tensor")
fmax_out_op = declare("fmax.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
fmin_op = declare("fmin(Tensor self, Tensor other) -> Tensor")
fmin_out_op = declare("fmin.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
gcd_op = declare("gcd(Tensor self, Tensor other) -> Tensor")
gcd__op = declare("gcd_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
gcd_out_op = declare("gcd.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
lcm_op = declare("lcm(Tensor self, Tensor other) -> Tensor")
lcm__op = declare("lcm_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
lcm_out_op = declare("lcm.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
heaviside_op = declare("heaviside(Tensor self, Tensor values) -> Tensor")
heaviside__op = declare("heaviside_(Tensor(a!) self, Tensor values) -> Tensor(a!)")
heaviside_out_op = declare("heaviside.out(Tensor self, Tensor values, *, Tensor(a!) out) -> Tensor(a!)")
signbit_op = declare("signbit(Tensor self) -> Tensor")
signbit_out_op = declare("signbit.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
isposinf_op = declare("isposinf(Tensor self) -> Tensor")
isposinf_out_op = declare("isposinf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
isneginf_op = declare("isneginf(Tensor self) -> Tensor")
isneginf_out_op = declare("isneginf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
nan_to_num_op = declare("nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor")
nan_to_num__op = declare(
    "nan_to_num_(Tensor(a!) self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor(a!)"
)
nan_to_num_out_op = declare(
    "nan_to_num.out(Tensor self, float? nan=None, float? posinf=None, float? neginf=None, *, Tensor(a!) out) -> Tensor(a!)"
)
logit_op = declare("logit(Tensor self, float? eps=None) -> Tensor")
logit__op = declare("logit_(Tensor(a!) self, float? eps=None) -> Tensor(a!)")
logit_out_op = declare("logit.out(Tensor self, float? eps=None, *, Tensor(a!) out) -> Tensor(a!)")
polygamma_op = declare("polygamma(int n, Tensor self) -> Tensor")
polygamma_out_op = declare("polygamma.out(int n, Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
polygamma__op = declare("polygamma_(Tensor(a!) self, int n) -> Tensor(a!)")
deg2rad_op = declare("deg2rad(Tensor self) -> Tensor")
deg2rad__op = declare("deg2rad_(Tensor(a!) self) -> Tensor(a!)")
deg2rad_out_op = declare("deg2rad.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
rad2deg_op = declare("rad2deg(Tensor self) -> Tensor")
rad2deg__op = declare("rad2deg_(Tensor(a!) self) -> Tensor(a!)")
rad2deg_out_op = declare("rad2deg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
float_power_Tensor_Tensor_op = declare("float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor")
float_power_Tensor_Scalar_op = declare("float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor")
float_power_Scalar_op = declare("float_power.Scalar(Scalar self, Tensor exponent) -> Tensor")
ldexp_Tensor_op = declare("ldexp.Tensor(Tensor self, Tensor other) -> Tensor")
ldexp__op = declare("ldexp_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
ldexp_out_op = declare("ldexp.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
true_divide_Tensor_op = declare("true_divide.Tensor(Tensor self, Tensor other) -> Tensor")
true_divide_out_op = declare("true_divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
true_divide__Tensor_op = declare("true_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
isreal_op = declare("isreal(Tensor self) -> Tensor")
real_op = declare("real(Tensor(a) self) -> Tensor(a)")
conj_op = declare("conj(Tensor(a) self) -> Tensor(a)")
resolve_conj_op = declare("resolve_conj(Tensor(a) self) -> Tensor(a)")
resolve_neg_op = declare("resolve_neg(Tensor(a) self) -> Tensor(a)")
conj_physical_op = declare("conj_physical(Tensor self) -> Tensor")
mvlgamma_op = declare("mvlgamma(Tensor self, int p) -> Tensor")
celu_op = declare("celu(Tensor self, Scalar alpha=1.0) -> Tensor")
celu__op = declare("celu_(Tensor(a!) self, Scalar alpha=1.0) -> Tensor(a!)")
selu_op = declare("selu(Tensor self) -> Tensor")
selu__op = declare("selu_(Tensor(a!) self) -> Tensor(a!)")
hardsigmoid_op = declare("hardsigmoid(Tensor self) -> Tensor")
hardsigmoid__op = declare("hardsigmoid_(Tensor(a!) self) -> Tensor(a!)")
hardsigmoid_out_op = declare("hardsigmoid.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
hardswish_op = declare("hardswish(Tensor self) -> Tensor")
hardswish__op = declare("hardswish_(Tensor(a!) self) -> Tensor(a!)")
hardswish_out_op = declare("hardswish.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
mish_op = declare("mish(Tensor self) -> Tensor")
mish__op = declare("mish_(Tensor(a!) self) -> Tensor(a!)")
mish_out_op = declare("mish.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
hardshrink_op = declare("hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor")
hardshrink_out_op = declare("hardshrink.out(Tensor self, Scalar lambd=0.5, *, Tensor(a!) out) -> Tensor(a!)")
softshrink_op = declare("softshrink(Tensor self, Scalar lambd=0.5) -> Tensor")
softshrink_out_op = declare("softshrink.out(Tensor self, Scalar lambd=0.5, *, Tensor(a!) out) -> Tensor(a!)")
log_sigmoid_forward_op = declare("log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)")
log_sigmoid_op = declare("log_sigmoid(Tensor self) -> Tensor")
log_sigmoid_out_op = declare("log_sigmoid.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
glu_op = declare("glu(Tensor self, int dim=-1) -> Tensor")
glu_out_op = declare("glu.out(Tensor self, int dim=-1, *, Tensor(a!) out) -> Tensor(a!)")
_prelu_kernel_op = declare("_prelu_kernel(Tensor self, Tensor weight) -> Tensor")
prelu_op = declare("prelu(Tensor self, Tensor weight) -> Tensor")
rrelu_with_noise_op = declare(
    "rrelu_with_noise(Tensor self, Tensor noise, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None) -> Tensor"
)
rrelu_with_noise__op = declare(
    "rrelu_with_noise_(Tensor(a!) self, Tensor noise, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None) -> Tensor(a!)"
)
rrelu_with_noise_backward_op = declare(
    "rrelu_with_noise_backward(Tensor grad_output, Tensor self, Tensor noise, Scalar lower, Scalar upper, bool training, bool self_is_result) -> Tensor"
)
rrelu_op = declare(
    "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None) -> Tensor"
)
rrelu__op = declare(
    "rrelu_(Tensor(a!) self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator? generator=None) -> Tensor(a!)"
)
cat_op = declare("cat(Tensor[] tensors, int dim=0) -> Tensor")
cat_out_op = declare("cat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)")
embedding_op = declare(
    "embedding(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor"
)
embedding_renorm__op = declare(
    "embedding_renorm_(Tensor(a!) self, Tensor indices, float max_norm, float norm_type) -> Tensor(a!)"
)
flip_op = declare("flip(Tensor self, int[] dims) -> Tensor")
gather_op = declare("gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor")
gather_out_op = declare(
    "gather.out(Tensor self, int dim, Tensor index, *, bool sparse_grad=False, Tensor(a!) out) -> Tensor(a!)"
)
index_Tensor_op = declare("index.Tensor(Tensor self, Tensor?[] indices) -> Tensor")
index_add_op = declare("index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor")
index_add__op = declare(
    "index_add_(Tensor(a!) self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor(a!)"
)
index_add_out_op = declare(
    "index_add.out(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
)
index_put_op = declare("index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor")
index_put__op = declare(
    "index_put_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor(a!)"
)
_index_put_impl__op = declare(
    "_index_put_impl_(Tensor(a!) self, Tensor?[] indices, Tensor values, bool accumulate=False, bool unsafe=False) -> Tensor(a!)"
)
index_select_op = declare("index_select(Tensor self, int dim, Tensor index) -> Tensor")
index_select_out_op = declare("index_select.out(Tensor self, int dim, Tensor index, *, Tensor(a!) out) -> Tensor(a!)")
masked_fill_Tensor_op = declare("masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor")
masked_fill_Scalar_op = declare("masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor")
masked_fill__Tensor_op = declare("masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)")
masked_fill__Scalar_op = declare("masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)")
one_hot_op = declare("one_hot(Tensor self, int num_classes=-1) -> Tensor")
repeat_op = declare("repeat(Tensor self, int[] repeats) -> Tensor")
roll_op = declare("roll(Tensor self, int[1] shifts, int[1] dims=[]) -> Tensor")
scatter_src_op = declare("scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor")
scatter__src_op = declare("scatter_.src(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)")
scatter_src_out_op = declare(
    "scatter.src_out(Tensor self, int dim, Tensor index, Tensor src, *, Tensor(a!) out) -> Tensor(a!)"
)
scatter_value_op = declare("scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor")
scatter__value_op = declare("scatter_.value(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)")
scatter_value_out_op = declare(
    "scatter.value_out(Tensor self, int dim, Tensor index, Scalar value, *, Tensor(a!) out) -> Tensor(a!)"
)
scatter_reduce_op = declare("scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor")
scatter__reduce_op = declare(
    "scatter_.reduce(Tensor(a!) self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor(a!)"
)
scatter_reduce_out_op = declare(
    "scatter.reduce_out(Tensor self, int dim, Tensor index, Tensor src, *, str reduce, Tensor(a!) out) -> Tensor(a!)"
)
scatter_value_reduce_op = declare(
    "scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor"
)
scatter__value_reduce_op = declare(
    "scatter_.value_reduce(Tensor(a!) self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor(a!)"
)
scatter_value_reduce_out_op = declare(
    "scatter.value_reduce_out(Tensor self, int dim, Tensor index, Scalar value, *, str reduce, Tensor(a!) out) -> Tensor(a!)"
)
scatter_add_op = declare("scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor")
scatter_add__op = declare("scatter_add_(Tensor(a!) self, int dim, Tensor index, Tensor src) -> Tensor(a!)")
scatter_add_out_op = declare(
    "scatter_add.out(Tensor self, int dim, Tensor index, Tensor src, *, Tensor(a!) out) -> Tensor(a!)"
)
stack_op = declare("stack(Tensor[] tensors, int dim=0) -> Tensor")
stack_out_op = declare("stack.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)")
tile_op = declare("tile(Tensor self, int[] dims) -> Tensor")
tril_op = declare("tril(Tensor self, int diagonal=0) -> Tensor")
tril__op = declare("tril_(Tensor(a!) self, int diagonal=0) -> Tensor(a!)")
tril_out_op = declare("tril.out(Tensor self, int diagonal=0, *, Tensor(a!) out) -> Tensor(a!)")
triu_op = declare("triu(Tensor self, int diagonal=0) -> Tensor")
triu__op = declare("triu_(Tensor(a!) self, int diagonal=0) -> Tensor(a!)")
triu_out_op = declare("triu.out(Tensor self, int diagonal=0, *, Tensor(a!) out) -> Tensor(a!)")
_log_softmax_op = declare("_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor")
_log_softmax_out_op = declare(
    "_log_softmax.out(Tensor self, int dim, bool half_to_float, *, Tensor(a!) out) -> Tensor(a!)"
)
_softmax_op = declare("_softmax(Tensor self, int dim, bool half_to_float) -> Tensor")
_softmax_out_op = declare("_softmax.out(Tensor self, int dim, bool half_to_float, *, Tensor(a!) out) -> Tensor(a!)")
all_dim_op = declare("all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor")
all_dims_op = declare("all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor")
all_op = declare("all(Tensor self) -> Tensor")
all_out_op = declare("all.out(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)")
all_dims_out_op = declare(
    "all.dims_out(Tensor self, int[]? dim=None, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)"
)
all_all_out_op = declare("all.all_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
amax_op = declare("amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor")
amax_out_op = declare("amax.out(Tensor self, int[1] dim=[], bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)")
amin_op = declare("amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor")
amin_out_op = declare("amin.out(Tensor self, int[1] dim=[], bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)")
any_dim_op = declare("any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor")
any_dims_op = declare("any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor")
any_op = declare("any(Tensor self) -> Tensor")
any_out_op = declare("any.out(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)")
any_dims_out_op = declare(
    "any.dims_out(Tensor self, int[]? dim=None, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)"
)
any_all_out_op = declare("any.all_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
argmax_op = declare("argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor")
argmax_out_op = declare("argmax.out(Tensor self, int? dim=None, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)")
argmin_op = declare("argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor")
argmin_out_op = declare("argmin.out(Tensor self, int? dim=None, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)")
cumsum_op = declare("cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor")
cumsum__op = declare("cumsum_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)")
cumsum_out_op = declare("cumsum.out(Tensor self, int dim, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)")
log_softmax_int_op = declare("log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor")
log_softmax_int_out_op = declare(
    "log_softmax.int_out(Tensor self, int dim, ScalarType? dtype=None, *, Tensor(a!) out) -> Tensor(a!)"
)
logcumsumexp_op = declare("logcumsumexp(Tensor self, int dim) -> Tensor")
logcumsumexp_out_op = declare("logcumsumexp.out(Tensor self, int dim, *, Tensor(a!) out) -> Tensor(a!)")
logsumexp_op = declare("logsumexp(Tensor self, int[1] dim, bool keepdim=False) -> Tensor")
logsumexp_out_op = declare(
    "logsumexp.out(Tensor self, int[1] dim, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)"
)
max_op = declare("max(Tensor self) -> Tensor")
max_unary_out_op = declare("max.unary_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
max_other_op = declare("max.other(Tensor self, Tensor other) -> Tensor")
max_out_op = declare("max.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
max_dim_op = declare("max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
max_dim_max_op = declare(
    "max.dim_max(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) max, Tensor(b!) max_values) -> (Tensor(a!) values, Tensor(b!) indices)"
)
mean_op = declare("mean(Tensor self, *, ScalarType? dtype=None) -> Tensor")
mean_dim_op = declare("mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
mean_out_op = declare(
    "mean.out(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)"
)
mean_dtype_out_op = declare("mean.dtype_out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)")
min_op = declare("min(Tensor self) -> Tensor")
min_unary_out_op = declare("min.unary_out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
min_other_op = declare("min.other(Tensor self, Tensor other) -> Tensor")
min_out_op = declare("min.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
min_dim_op = declare("min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
min_dim_min_op = declare(
    "min.dim_min(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) min, Tensor(b!) min_indices) -> (Tensor(a!) values, Tensor(b!) indices)"
)
prod_op = declare("prod(Tensor self, *, ScalarType? dtype=None) -> Tensor")
prod_dim_int_op = declare("prod.dim_int(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
prod_int_out_op = declare(
    "prod.int_out(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)"
)
prod_out_op = declare("prod.out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)")
softmax_int_op = declare("softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor")
softmax_int_out_op = declare(
    "softmax.int_out(Tensor self, int dim, ScalarType? dtype=None, *, Tensor(a!) out) -> Tensor(a!)"
)
std_op = declare("std(Tensor self, bool unbiased=True) -> Tensor")
std_dim_op = declare("std.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor")
std_out_op = declare(
    "std.out(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)"
)
std_correction_op = declare(
    "std.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor"
)
std_correction_out_op = declare(
    "std.correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor(a!) out) -> Tensor(a!)"
)
std_mean_op = declare("std_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)")
std_mean_dim_op = declare(
    "std_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)"
)
std_mean_correction_op = declare(
    "std_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)"
)
var_mean_op = declare("var_mean(Tensor self, bool unbiased=True) -> (Tensor, Tensor)")
var_mean_dim_op = declare(
    "var_mean.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> (Tensor, Tensor)"
)
var_mean_correction_op = declare(
    "var_mean.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)"
)
sum_op = declare("sum(Tensor self, *, ScalarType? dtype=None) -> Tensor")
sum_dim_IntList_op = declare(
    "sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"
)
sum_IntList_out_op = declare(
    "sum.IntList_out(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)"
)
sum_out_op = declare("sum.out(Tensor self, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)")
var_op = declare("var(Tensor self, bool unbiased=True) -> Tensor")
var_dim_op = declare("var.dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> Tensor")
var_out_op = declare(
    "var.out(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor(a!) out) -> Tensor(a!)"
)
var_correction_op = declare(
    "var.correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> Tensor"
)
var_correction_out_op = declare(
    "var.correction_out(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor(a!) out) -> Tensor(a!)"
)
bincount_op = declare("bincount(Tensor self, Tensor? weights=None, int minlength=0) -> Tensor")
histc_op = declare("histc(Tensor self, int bins=100, Scalar min=0, Scalar max=0) -> Tensor")
histc_out_op = declare(
    "histc.out(Tensor self, int bins=100, Scalar min=0, Scalar max=0, *, Tensor(a!) out) -> Tensor(a!)"
)
histogram_bin_ct_op = declare(
    "histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)"
)
histogram_bins_tensor_op = declare(
    "histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)"
)
cumprod_op = declare("cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor")
cumprod__op = declare("cumprod_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)")
cumprod_out_op = declare("cumprod.out(Tensor self, int dim, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)")
_local_scalar_dense_op = declare("_local_scalar_dense(Tensor self) -> Scalar")
cummax_op = declare("cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)")
cummax_out_op = declare(
    "cummax.out(Tensor self, int dim, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)"
)
cummin_op = declare("cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)")
cummin_out_op = declare(
    "cummin.out(Tensor self, int dim, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)"
)
kthvalue_op = declare("kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)")
kthvalue_values_op = declare(
    "kthvalue.values(Tensor self, int k, int dim=-1, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)"
)
mode_op = declare("mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)")
mode_values_op = declare(
    "mode.values(Tensor self, int dim=-1, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)"
)
nansum_op = declare("nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
nansum_out_op = declare(
    "nansum.out(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)"
)
nanmean_op = declare("nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor")
nanmean_out_op = declare(
    "nanmean.out(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)"
)
count_nonzero_op = declare("count_nonzero(Tensor self, int? dim=None) -> Tensor")
count_nonzero_dim_IntList_op = declare("count_nonzero.dim_IntList(Tensor self, int[] dim) -> Tensor")
aminmax_op = declare("aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)")
aminmax_out_op = declare(
    "aminmax.out(Tensor self, *, int? dim=None, bool keepdim=False, Tensor(a!) min, Tensor(b!) max) -> (Tensor(a!) min, Tensor(b!) max)"
)
trapezoid_x_op = declare("trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor")
trapezoid_dx_op = declare("trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor")
trapz_x_op = declare("trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor")
trapz_dx_op = declare("trapz.dx(Tensor y, *, float dx=1, int dim=-1) -> Tensor")
diff_op = declare("diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor")
diff_out_op = declare(
    "diff.out(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None, *, Tensor(a!) out) -> Tensor(a!)"
)
searchsorted_Tensor_op = declare(
    "searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor"
)
searchsorted_Scalar_op = declare(
    "searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor"
)
bucketize_Tensor_op = declare(
    "bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor"
)
bucketize_Tensor_out_op = declare(
    "bucketize.Tensor_out(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False, Tensor(a!) out) -> Tensor(a!)"
)
bucketize_Scalar_op = declare(
    "bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor"
)
msort_op = declare("msort(Tensor self) -> Tensor")
msort_out_op = declare("msort.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
isin_Tensor_Tensor_op = declare(
    "isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False) -> Tensor"
)
isin_Tensor_Scalar_op = declare(
    "isin.Tensor_Scalar(Tensor elements, Scalar test_element, *, bool assume_unique=False, bool invert=False) -> Tensor"
)
atleast_1d_op = declare("atleast_1d(Tensor self) -> Tensor")
atleast_1d_Sequence_op = declare("atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]")
atleast_2d_op = declare("atleast_2d(Tensor self) -> Tensor")
atleast_2d_Sequence_op = declare("atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]")
atleast_3d_op = declare("atleast_3d(Tensor self) -> Tensor")
atleast_3d_Sequence_op = declare("atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]")
column_stack_op = declare("column_stack(Tensor[] tensors) -> Tensor")
column_stack_out_op = declare("column_stack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)")
dstack_op = declare("dstack(Tensor[] tensors) -> Tensor")
dstack_out_op = declare("dstack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)")
hstack_op = declare("hstack(Tensor[] tensors) -> Tensor")
hstack_out_op = declare("hstack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)")
meshgrid_op = declare("meshgrid(Tensor[] tensors) -> Tensor[]")
meshgrid_indexing_op = declare("meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]")
repeat_interleave_Tensor_op = declare("repeat_interleave.Tensor(Tensor repeats, *, int? output_size=None) -> Tensor")
repeat_interleave_self_Tensor_op = declare(
    "repeat_interleave.self_Tensor(Tensor self, Tensor repeats, int? dim=None, *, int? output_size=None) -> Tensor"
)
repeat_interleave_self_int_op = declare(
    "repeat_interleave.self_int(Tensor self, int repeats, int? dim=None, *, int? output_size=None) -> Tensor"
)
vstack_op = declare("vstack(Tensor[] tensors) -> Tensor")
vstack_out_op = declare("vstack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)")
pixel_shuffle_op = declare("pixel_shuffle(Tensor self, int upscale_factor) -> Tensor")
pixel_shuffle_out_op = declare("pixel_shuffle.out(Tensor self, int upscale_factor, *, Tensor(a!) out) -> Tensor(a!)")
pixel_unshuffle_op = declare("pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor")
pixel_unshuffle_out_op = declare(
    "pixel_unshuffle.out(Tensor self, int downscale_factor, *, Tensor(a!) out) -> Tensor(a!)"
)
channel_shuffle_op = declare("channel_shuffle(Tensor self, int groups) -> Tensor")
native_channel_shuffle_op = declare("native_channel_shuffle(Tensor self, int groups) -> Tensor")
bilinear_op = declare("bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor")
diag_embed_op = declare("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor")
diag_op = declare("diag(Tensor self, int diagonal=0) -> Tensor")
diag_out_op = declare("diag.out(Tensor self, int diagonal=0, *, Tensor(a!) out) -> Tensor(a!)")
diagflat_op = declare("diagflat(Tensor self, int offset=0) -> Tensor")
fliplr_op = declare("fliplr(Tensor self) -> Tensor")
flipud_op = declare("flipud(Tensor self) -> Tensor")
rot90_op = declare("rot90(Tensor self, int k=1, int[] dims=[0,1]) -> Tensor")
ravel_op = declare("ravel(Tensor(a) self) -> Tensor(a)")
argwhere_op = declare("argwhere(Tensor self) -> Tensor")
take_along_dim_op = declare("take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor")
take_along_dim_out_op = declare(
    "take_along_dim.out(Tensor self, Tensor indices, int? dim=None, *, Tensor(a!) out) -> Tensor(a!)"
)
put__op = declare("put_(Tensor(a!) self, Tensor index, Tensor source, bool accumulate=False) -> Tensor(a!)")
put_op = declare("put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor")
put_out_op = declare(
    "put.out(Tensor self, Tensor index, Tensor source, bool accumulate=False, *, Tensor(a!) out) -> Tensor(a!)"
)
index_reduce_op = declare(
    "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor"
)
index_reduce_out_op = declare(
    "index_reduce.out(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True, Tensor(a!) out) -> Tensor(a!)"
)
index_reduce__op = declare(
    "index_reduce_(Tensor(a!) self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor(a!)"
)
take_op = declare("take(Tensor self, Tensor index) -> Tensor")
take_out_op = declare("take.out(Tensor self, Tensor index, *, Tensor(a!) out) -> Tensor(a!)")
tensor_split_tensor_indices_or_sections_op = declare(
    "tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor(a)[]"
)
tensor_split_sections_op = declare("tensor_split.sections(Tensor(a -> *) self, int sections, int dim=0) -> Tensor(a)[]")
tensor_split_indices_op = declare("tensor_split.indices(Tensor(a -> *) self, int[] indices, int dim=0) -> Tensor(a)[]")
hsplit_int_op = declare("hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")
hsplit_array_op = declare("hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")
vsplit_int_op = declare("vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")
vsplit_array_op = declare("vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")
dsplit_int_op = declare("dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]")
dsplit_array_op = declare("dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]")
vander_op = declare("vander(Tensor x, int? N=None, bool increasing=False) -> Tensor")
swapdims__op = declare("swapdims_(Tensor(a!) self, int dim0, int dim1) -> Tensor(a!)")
swapaxes__op = declare("swapaxes_(Tensor(a!) self, int axis0, int axis1) -> Tensor(a!)")
sum_to_size_op = declare("sum_to_size(Tensor self, int[] size) -> Tensor")
index_copy_op = declare("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor")
index_copy__op = declare("index_copy_(Tensor(a!) self, int dim, Tensor index, Tensor source) -> Tensor(a!)")
index_copy_out_op = declare(
    "index_copy.out(Tensor self, int dim, Tensor index, Tensor source, *, Tensor(a!) out) -> Tensor(a!)"
)
index_fill_int_Tensor_op = declare("index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor")
index_fill__int_Tensor_op = declare(
    "index_fill_.int_Tensor(Tensor(a!) self, int dim, Tensor index, Tensor value) -> Tensor(a!)"
)
index_fill_int_Scalar_op = declare("index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor")
index_fill__int_Scalar_op = declare(
    "index_fill_.int_Scalar(Tensor(a!) self, int dim, Tensor index, Scalar value) -> Tensor(a!)"
)
masked_scatter_op = declare("masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor")
masked_scatter__op = declare("masked_scatter_(Tensor(a!) self, Tensor mask, Tensor source) -> Tensor(a!)")
masked_scatter_backward_op = declare("masked_scatter_backward(Tensor grad_output, Tensor mask, int[] sizes) -> Tensor")
masked_select_op = declare("masked_select(Tensor self, Tensor mask) -> Tensor")
masked_select_out_op = declare("masked_select.out(Tensor self, Tensor mask, *, Tensor(a!) out) -> Tensor(a!)")
masked_select_backward_op = declare("masked_select_backward(Tensor grad, Tensor input, Tensor mask) -> Tensor")
nonzero_op = declare("nonzero(Tensor self) -> Tensor")
nonzero_out_op = declare("nonzero.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
nonzero_numpy_op = declare("nonzero_numpy(Tensor self) -> Tensor[]")
scatter_reduce_two_op = declare(
    "scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor"
)
scatter_reduce__two_op = declare(
    "scatter_reduce_.two(Tensor(a!) self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor(a!)"
)
scatter_reduce_two_out_op = declare(
    "scatter_reduce.two_out(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True, Tensor(a!) out) -> Tensor(a!)"
)
linalg_matrix_norm_op = declare(
    "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"
)
linalg_matrix_norm_out_op = declare(
    "linalg_matrix_norm.out(Tensor self, Scalar ord, int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)"
)
linalg_matrix_norm_str_ord_op = declare(
    "linalg_matrix_norm.str_ord(Tensor self, str ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"
)
linalg_matrix_norm_str_ord_out_op = declare(
    "linalg_matrix_norm.str_ord_out(Tensor self, str ord='fro', int[] dim=[-2,-1], bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)"
)
_linalg_svd_op = declare(
    "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) -> (Tensor U, Tensor S, Tensor Vh)"
)
linalg_inv_ex_op = declare("linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)")
linalg_inv_op = declare("linalg_inv(Tensor A) -> Tensor")
_linalg_det_op = declare("_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)")
linalg_det_op = declare("linalg_det(Tensor A) -> Tensor")
det_op = declare("det(Tensor self) -> Tensor")
_linalg_solve_ex_op = declare(
    "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info)"
)
linalg_solve_op = declare("linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor")
linalg_cholesky_ex_op = declare(
    "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)"
)
linalg_cholesky_op = declare("linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor")
cov_op = declare("cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor")
corrcoef_op = declare("corrcoef(Tensor self) -> Tensor")
inverse_op = declare("inverse(Tensor self) -> Tensor")
trace_op = declare("trace(Tensor self) -> Tensor")
linalg_svdvals_op = declare("linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor")
linalg_svdvals_out_op = declare("linalg_svdvals.out(Tensor A, *, str? driver=None, Tensor(a!) out) -> Tensor(a!)")
linalg_vector_norm_op = declare(
    "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor"
)
linalg_vector_norm_out_op = declare(
    "linalg_vector_norm.out(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)"
)
argsort_op = declare("argsort(Tensor self, int dim=-1, bool descending=False) -> Tensor")
argsort_stable_op = declare("argsort.stable(Tensor self, *, bool stable, int dim=-1, bool descending=False) -> Tensor")
median_op = declare("median(Tensor self) -> Tensor")
median_dim_op = declare("median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
median_dim_values_op = declare(
    "median.dim_values(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)"
)
nanmedian_op = declare("nanmedian(Tensor self) -> Tensor")
nanmedian_out_op = declare("nanmedian.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
nanmedian_dim_op = declare("nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)")
nanmedian_dim_values_op = declare(
    "nanmedian.dim_values(Tensor self, int dim, bool keepdim=False, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)"
)
quantile_op = declare(
    "quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor"
)
quantile_out_op = declare(
    "quantile.out(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear', Tensor(a!) out) -> Tensor(a!)"
)
quantile_scalar_op = declare(
    "quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor"
)
quantile_scalar_out_op = declare(
    "quantile.scalar_out(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear', Tensor(a!) out) -> Tensor(a!)"
)
nanquantile_op = declare(
    "nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor"
)
nanquantile_out_op = declare(
    "nanquantile.out(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear', Tensor(a!) out) -> Tensor(a!)"
)
nanquantile_scalar_op = declare(
    "nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear') -> Tensor"
)
nanquantile_scalar_out_op = declare(
    "nanquantile.scalar_out(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear', Tensor(a!) out) -> Tensor(a!)"
)
sort_op = declare("sort(Tensor self, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)")
sort_values_op = declare(
    "sort.values(Tensor self, int dim=-1, bool descending=False, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)"
)
sort_stable_op = declare(
    "sort.stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False) -> (Tensor values, Tensor indices)"
)
sort_values_stable_op = declare(
    "sort.values_stable(Tensor self, *, bool? stable, int dim=-1, bool descending=False, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)"
)
topk_op = declare(
    "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True) -> (Tensor values, Tensor indices)"
)
topk_values_op = declare(
    "topk.values(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True, *, Tensor(a!) values, Tensor(b!) indices) -> (Tensor(a!) values, Tensor(b!) indices)"
)
unique_consecutive_op = declare(
    "unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)"
)
unique_dim_op = declare(
    "unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)"
)
_unique2_op = declare(
    "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)"
)
einsum_op = declare("einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor")
addmm_op = declare("addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
addmm__op = declare("addmm_(Tensor(a!) self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)")
addmm_out_op = declare(
    "addmm.out(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
)
baddbmm_op = declare("baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
baddbmm__op = declare(
    "baddbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)"
)
baddbmm_out_op = declare(
    "baddbmm.out(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
)
addbmm_op = declare("addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
addbmm__op = declare(
    "addbmm_(Tensor(a!) self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)"
)
addbmm_out_op = declare(
    "addbmm.out(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
)
bmm_op = declare("bmm(Tensor self, Tensor mat2) -> Tensor")
bmm_out_op = declare("bmm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)")
dot_op = declare("dot(Tensor self, Tensor tensor) -> Tensor")
dot_out_op = declare("dot.out(Tensor self, Tensor tensor, *, Tensor(a!) out) -> Tensor(a!)")
linear_op = declare("linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor")
linear_out_op = declare("linear.out(Tensor input, Tensor weight, Tensor? bias=None, *, Tensor(a!) out) -> Tensor(a!)")
matmul_op = declare("matmul(Tensor self, Tensor other) -> Tensor")
matmul_out_op = declare("matmul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
mm_op = declare("mm(Tensor self, Tensor mat2) -> Tensor")
mm_out_op = declare("mm.out(Tensor self, Tensor mat2, *, Tensor(a!) out) -> Tensor(a!)")
mv_op = declare("mv(Tensor self, Tensor vec) -> Tensor")
mv_out_op = declare("mv.out(Tensor self, Tensor vec, *, Tensor(a!) out) -> Tensor(a!)")
outer_op = declare("outer(Tensor self, Tensor vec2) -> Tensor")
kron_op = declare("kron(Tensor self, Tensor other) -> Tensor")
kron_out_op = declare("kron.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
outer_out_op = declare("outer.out(Tensor self, Tensor vec2, *, Tensor(a!) out) -> Tensor(a!)")
inner_op = declare("inner(Tensor self, Tensor other) -> Tensor")
tensordot_op = declare("tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor")
tensordot_out_op = declare(
    "tensordot.out(Tensor self, Tensor other, int[] dims_self, int[] dims_other, *, Tensor(a!) out) -> Tensor(a!)"
)
dist_op = declare("dist(Tensor self, Tensor other, Scalar p=2) -> Tensor")
vdot_op = declare("vdot(Tensor self, Tensor other) -> Tensor")
addmv_op = declare("addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
addmv__op = declare("addmv_(Tensor(a!) self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)")
addmv_out_op = declare(
    "addmv.out(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
)
addr_op = declare("addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor")
addr__op = declare("addr_(Tensor(a!) self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor(a!)")
addr_out_op = declare(
    "addr.out(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"
)
renorm_op = declare("renorm(Tensor self, Scalar p, int dim, Scalar maxnorm) -> Tensor")
renorm__op = declare("renorm_(Tensor(a!) self, Scalar p, int dim, Scalar maxnorm) -> Tensor(a!)")
renorm_out_op = declare("renorm.out(Tensor self, Scalar p, int dim, Scalar maxnorm, *, Tensor(a!) out) -> Tensor(a!)")
linalg_cross_op = declare("linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor")
cross_op = declare("cross(Tensor self, Tensor other, int? dim=None) -> Tensor")
batch_norm_op = declare(
    "batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor"
)
group_norm_op = declare(
    "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enabled=True) -> Tensor"
)
layer_norm_op = declare(
    "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool cudnn_enable=True) -> Tensor"
)
native_layer_norm_op = declare(
    "native_layer_norm(Tensor input, int[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)"
)
native_layer_norm_backward_op = declare(
    "native_layer_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"
)
native_batch_norm_op = declare(
    "native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)"
)
native_batch_norm_backward_op = declare(
    "native_batch_norm_backward(Tensor grad_out, Tensor input, Tensor? weight, Tensor? running_mean, Tensor? running_var, Tensor? save_mean, Tensor? save_invstd, bool train, float eps, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"
)
rms_norm_op = declare("rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor")
instance_norm_op = declare(
    "instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor"
)
conv1d_op = declare(
    "conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] dilation=1, int groups=1) -> Tensor"
)
conv1d_padding_op = declare(
    'conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, str padding="valid", int[1] dilation=1, int groups=1) -> Tensor'
)
conv2d_op = declare(
    "conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] dilation=1, int groups=1) -> Tensor"
)
conv2d_padding_op = declare(
    'conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, str padding="valid", int[2] dilation=1, int groups=1) -> Tensor'
)
conv3d_op = declare(
    "conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] dilation=1, int groups=1) -> Tensor"
)
conv3d_padding_op = declare(
    'conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, str padding="valid", int[3] dilation=1, int groups=1) -> Tensor'
)
conv_transpose1d_op = declare(
    "conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=1, int[1] padding=0, int[1] output_padding=0, int groups=1, int[1] dilation=1) -> Tensor"
)
conv_transpose2d_input_op = declare(
    "conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, int[2] output_padding=0, int groups=1, int[2] dilation=1) -> Tensor"
)
conv_transpose3d_input_op = declare(
    "conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, int[3] padding=0, int[3] output_padding=0, int groups=1, int[3] dilation=1) -> Tensor"
)
convolution_op = declare(
    "convolution(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups) -> Tensor"
)
convolution_backward_op = declare(
    "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, int[]? bias_sizes, int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)"
)
_adaptive_avg_pool2d_op = declare("_adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor")
_adaptive_avg_pool2d_backward_op = declare("_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor")
adaptive_avg_pool2d_op = declare("adaptive_avg_pool2d(Tensor self, int[2] output_size) -> Tensor")
avg_pool2d_op = declare(
    "avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"
)
avg_pool2d_out_op = declare(
    "avg_pool2d.out(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None, *, Tensor(a!) out) -> Tensor(a!)"
)
avg_pool2d_backward_op = declare(
    "avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor"
)
avg_pool2d_backward_grad_input_op = declare(
    "avg_pool2d_backward.grad_input(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
max_pool2d_op = declare(
    "max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor"
)
max_pool2d_with_indices_op = declare(
    "max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"
)
max_pool2d_with_indices_backward_op = declare(
    "max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor"
)
max_pool2d_with_indices_backward_grad_input_op = declare(
    "max_pool2d_with_indices_backward.grad_input(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
adaptive_avg_pool1d_op = declare("adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor")
avg_pool1d_op = declare(
    "avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, bool ceil_mode=False, bool count_include_pad=True) -> Tensor"
)
max_pool1d_with_indices_op = declare(
    "max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"
)
max_pool1d_op = declare(
    "max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=0, int[1] dilation=1, bool ceil_mode=False) -> Tensor"
)
upsample_nearest1d_op = declare("upsample_nearest1d(Tensor self, int[1] output_size, float? scales=None) -> Tensor")
upsample_nearest1d_out_op = declare(
    "upsample_nearest1d.out(Tensor self, int[1] output_size, float? scales=None, *, Tensor(a!) out) -> Tensor(a!)"
)
upsample_nearest1d_backward_op = declare(
    "upsample_nearest1d_backward(Tensor grad_output, int[1] output_size, int[3] input_size, float? scales=None) -> Tensor"
)
upsample_nearest2d_op = declare(
    "upsample_nearest2d(Tensor self, int[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor"
)
upsample_nearest2d_out_op = declare(
    "upsample_nearest2d.out(Tensor self, int[2] output_size, float? scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)"
)
upsample_nearest2d_backward_op = declare(
    "upsample_nearest2d_backward(Tensor grad_output, int[2] output_size, int[4] input_size, float? scales_h=None, float? scales_w=None) -> Tensor"
)
upsample_nearest3d_op = declare(
    "upsample_nearest3d(Tensor self, int[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"
)
upsample_nearest3d_out_op = declare(
    "upsample_nearest3d.out(Tensor self, int[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)"
)
upsample_nearest3d_backward_op = declare(
    "upsample_nearest3d_backward(Tensor grad_output, int[3] output_size, int[5] input_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"
)
_upsample_nearest_exact1d_op = declare(
    "_upsample_nearest_exact1d(Tensor self, int[1] output_size, float? scales=None) -> Tensor"
)
_upsample_nearest_exact1d_out_op = declare(
    "_upsample_nearest_exact1d.out(Tensor self, int[1] output_size, float? scales=None, *, Tensor(a!) out) -> Tensor(a!)"
)
_upsample_nearest_exact1d_backward_op = declare(
    "_upsample_nearest_exact1d_backward(Tensor grad_output, int[1] output_size, int[3] input_size, float? scales=None) -> Tensor"
)
_upsample_nearest_exact2d_op = declare(
    "_upsample_nearest_exact2d(Tensor self, int[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor"
)
_upsample_nearest_exact2d_out_op = declare(
    "_upsample_nearest_exact2d.out(Tensor self, int[2] output_size, float? scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)"
)
_upsample_nearest_exact2d_backward_op = declare(
    "_upsample_nearest_exact2d_backward(Tensor grad_output, int[2] output_size, int[4] input_size, float? scales_h=None, float? scales_w=None) -> Tensor"
)
_upsample_nearest_exact3d_op = declare(
    "_upsample_nearest_exact3d(Tensor self, int[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"
)
_upsample_nearest_exact3d_out_op = declare(
    "_upsample_nearest_exact3d.out(Tensor self, int[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)"
)
_upsample_nearest_exact3d_backward_op = declare(
    "_upsample_nearest_exact3d_backward(Tensor grad_output, int[3] output_size, int[5] input_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"
)
upsample_linear1d_op = declare(
    "upsample_linear1d(Tensor self, int[1] output_size, bool align_corners, float? scales=None) -> Tensor"
)
upsample_linear1d_out_op = declare(
    "upsample_linear1d.out(Tensor self, int[1] output_size, bool align_corners, float? scales=None, *, Tensor(a!) out) -> Tensor(a!)"
)
upsample_linear1d_backward_op = declare(
    "upsample_linear1d_backward(Tensor grad_output, int[1] output_size, int[3] input_size, bool align_corners, float? scales=None) -> Tensor"
)
upsample_bilinear2d_op = declare(
    "upsample_bilinear2d(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"
)
upsample_bilinear2d_out_op = declare(
    "upsample_bilinear2d.out(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)"
)
upsample_bilinear2d_backward_op = declare(
    "upsample_bilinear2d_backward(Tensor grad_output, int[2] output_size, int[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"
)
upsample_trilinear3d_op = declare(
    "upsample_trilinear3d(Tensor self, int[3] output_size, bool align_corners, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"
)
upsample_trilinear3d_out_op = declare(
    "upsample_trilinear3d.out(Tensor self, int[3] output_size, bool align_corners, float? scales_d=None, float? scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)"
)
upsample_trilinear3d_backward_op = declare(
    "upsample_trilinear3d_backward(Tensor grad_output, int[3] output_size, int[5] input_size, bool align_corners, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor"
)
upsample_bicubic2d_op = declare(
    "upsample_bicubic2d(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"
)
upsample_bicubic2d_out_op = declare(
    "upsample_bicubic2d.out(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)"
)
upsample_bicubic2d_backward_op = declare(
    "upsample_bicubic2d_backward(Tensor grad_output, int[2] output_size, int[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"
)
_upsample_bilinear2d_aa_op = declare(
    "_upsample_bilinear2d_aa(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"
)
_upsample_bilinear2d_aa_out_op = declare(
    "_upsample_bilinear2d_aa.out(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)"
)
_upsample_bilinear2d_aa_backward_op = declare(
    "_upsample_bilinear2d_aa_backward(Tensor grad_output, int[2] output_size, int[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"
)
_upsample_bicubic2d_aa_op = declare(
    "_upsample_bicubic2d_aa(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"
)
_upsample_bicubic2d_aa_out_op = declare(
    "_upsample_bicubic2d_aa.out(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)"
)
_upsample_bicubic2d_aa_backward_op = declare(
    "_upsample_bicubic2d_aa_backward(Tensor grad_output, int[2] output_size, int[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"
)
_upsample_lanczos2d_aa_op = declare(
    "_upsample_lanczos2d_aa(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"
)
_upsample_lanczos2d_aa_out_op = declare(
    "_upsample_lanczos2d_aa.out(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None, *, Tensor(a!) out) -> Tensor(a!)"
)
_upsample_lanczos2d_aa_backward_op = declare(
    "_upsample_lanczos2d_aa_backward(Tensor grad_output, int[2] output_size, int[4] input_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor"
)
affine_grid_generator_op = declare("affine_grid_generator(Tensor theta, int[] size, bool align_corners) -> Tensor")
affine_grid_generator_out_op = declare(
    "affine_grid_generator.out(Tensor theta, int[] size, bool align_corners, *, Tensor(a!) out) -> Tensor(a!)"
)
affine_grid_generator_backward_op = declare(
    "affine_grid_generator_backward(Tensor grad, int[] size, bool align_corners) -> Tensor"
)
constant_pad_nd_op = declare("constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor")
pad_op = declare('pad(Tensor self, int[] pad, str mode="constant", float? value=None) -> Tensor')
_pad_circular_op = declare("_pad_circular(Tensor self, int[] pad) -> Tensor")
reflection_pad1d_op = declare("reflection_pad1d(Tensor self, int[2] padding) -> Tensor")
reflection_pad1d_out_op = declare("reflection_pad1d.out(Tensor self, int[2] padding, *, Tensor(a!) out) -> Tensor(a!)")
reflection_pad1d_backward_op = declare(
    "reflection_pad1d_backward(Tensor grad_output, Tensor self, int[2] padding) -> Tensor"
)
reflection_pad1d_backward_grad_input_op = declare(
    "reflection_pad1d_backward.grad_input(Tensor grad_output, Tensor self, int[2] padding, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
reflection_pad2d_op = declare("reflection_pad2d(Tensor self, int[4] padding) -> Tensor")
reflection_pad2d_out_op = declare("reflection_pad2d.out(Tensor self, int[4] padding, *, Tensor(a!) out) -> Tensor(a!)")
reflection_pad2d_backward_op = declare(
    "reflection_pad2d_backward(Tensor grad_output, Tensor self, int[4] padding) -> Tensor"
)
reflection_pad2d_backward_grad_input_op = declare(
    "reflection_pad2d_backward.grad_input(Tensor grad_output, Tensor self, int[4] padding, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
reflection_pad3d_op = declare("reflection_pad3d(Tensor self, int[6] padding) -> Tensor")
reflection_pad3d_out_op = declare("reflection_pad3d.out(Tensor self, int[6] padding, *, Tensor(a!) out) -> Tensor(a!)")
reflection_pad3d_backward_op = declare(
    "reflection_pad3d_backward(Tensor grad_output, Tensor self, int[6] padding) -> Tensor"
)
reflection_pad3d_backward_grad_input_op = declare(
    "reflection_pad3d_backward.grad_input(Tensor grad_output, Tensor self, int[6] padding, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
replication_pad1d_op = declare("replication_pad1d(Tensor self, int[2] padding) -> Tensor")
replication_pad1d_out_op = declare(
    "replication_pad1d.out(Tensor self, int[2] padding, *, Tensor(a!) out) -> Tensor(a!)"
)
replication_pad1d_backward_op = declare(
    "replication_pad1d_backward(Tensor grad_output, Tensor self, int[2] padding) -> Tensor"
)
replication_pad1d_backward_grad_input_op = declare(
    "replication_pad1d_backward.grad_input(Tensor grad_output, Tensor self, int[2] padding, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
replication_pad2d_op = declare("replication_pad2d(Tensor self, int[4] padding) -> Tensor")
replication_pad2d_out_op = declare(
    "replication_pad2d.out(Tensor self, int[4] padding, *, Tensor(a!) out) -> Tensor(a!)"
)
replication_pad2d_backward_op = declare(
    "replication_pad2d_backward(Tensor grad_output, Tensor self, int[4] padding) -> Tensor"
)
replication_pad2d_backward_grad_input_op = declare(
    "replication_pad2d_backward.grad_input(Tensor grad_output, Tensor self, int[4] padding, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
replication_pad3d_op = declare("replication_pad3d(Tensor self, int[6] padding) -> Tensor")
replication_pad3d_out_op = declare(
    "replication_pad3d.out(Tensor self, int[6] padding, *, Tensor(a!) out) -> Tensor(a!)"
)
replication_pad3d_backward_op = declare(
    "replication_pad3d_backward(Tensor grad_output, Tensor self, int[6] padding) -> Tensor"
)
replication_pad3d_backward_grad_input_op = declare(
    "replication_pad3d_backward.grad_input(Tensor grad_output, Tensor self, int[6] padding, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
_safe_softmax_op = declare("_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor")
_scaled_dot_product_attention_math_op = declare(
    "_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, Tensor? dropout_mask=None, *, float? scale=None, bool enable_gqa=False) -> (Tensor, Tensor)"
)
_scaled_dot_product_flash_attention_for_cpu_op = declare(
    "_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0.0, bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)"
)
_scaled_dot_product_flash_attention_for_cpu_backward_op = declare(
    "_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor logsumexp, float dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value)"
)
scaled_dot_product_attention_op = declare(
    "scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor"
)
gru_data_op = declare(
    "gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)"
)
gru_input_op = declare(
    "gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"
)
lstm_data_op = declare(
    "lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)"
)
lstm_input_op = declare(
    "lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)"
)
rnn_relu_data_op = declare(
    "rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)"
)
rnn_relu_input_op = declare(
    "rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"
)
rnn_tanh_data_op = declare(
    "rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)"
)
rnn_tanh_input_op = declare(
    "rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)"
)
_thnn_fused_lstm_cell_op = declare(
    "_thnn_fused_lstm_cell(Tensor input_gates, Tensor hidden_gates, Tensor cx, Tensor? input_bias=None, Tensor? hidden_bias=None) -> (Tensor, Tensor, Tensor)"
)
_thnn_fused_lstm_cell_backward_op = declare(
    "_thnn_fused_lstm_cell_backward(Tensor? grad_hy, Tensor? grad_cy, Tensor cx, Tensor cy, Tensor workspace, bool has_bias) -> (Tensor, Tensor, Tensor, Tensor, Tensor)"
)
_thnn_fused_gru_cell_op = declare(
    "_thnn_fused_gru_cell(Tensor input_gates, Tensor hidden_gates, Tensor hx, Tensor? input_bias=None, Tensor? hidden_bias=None) -> (Tensor, Tensor)"
)
_thnn_fused_gru_cell_backward_op = declare(
    "_thnn_fused_gru_cell_backward(Tensor grad_hy, Tensor workspace, bool has_bias) -> (Tensor, Tensor, Tensor, Tensor, Tensor)"
)
gru_cell_op = declare(
    "gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor"
)
lstm_cell_op = declare(
    "lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)"
)
rnn_relu_cell_op = declare(
    "rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor"
)
rnn_tanh_cell_op = declare(
    "rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor"
)
cosine_similarity_op = declare("cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor")
norm_ScalarOpt_dim_op = declare("norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor")
pairwise_distance_op = declare(
    "pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-06, bool keepdim=False) -> Tensor"
)
_cdist_forward_op = declare("_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor")
cdist_op = declare("cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor")
pdist_op = declare("pdist(Tensor self, float p=2) -> Tensor")
binary_cross_entropy_op = declare(
    "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor"
)
binary_cross_entropy_out_op = declare(
    "binary_cross_entropy.out(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, *, Tensor(a!) out) -> Tensor(a!)"
)
binary_cross_entropy_with_logits_op = declare(
    "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=Mean) -> Tensor"
)
cross_entropy_loss_op = declare(
    "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, int ignore_index=-100, float label_smoothing=0.0) -> Tensor"
)
huber_loss_op = declare("huber_loss(Tensor self, Tensor target, int reduction=Mean, float delta=1.0) -> Tensor")
huber_loss_out_op = declare(
    "huber_loss.out(Tensor self, Tensor target, int reduction=Mean, float delta=1.0, *, Tensor(a!) out) -> Tensor(a!)"
)
kl_div_op = declare("kl_div(Tensor self, Tensor target, int reduction=Mean, *, bool log_target=False) -> Tensor")
l1_loss_op = declare("l1_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor")
mse_loss_op = declare("mse_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor")
mse_loss_out_op = declare(
    "mse_loss.out(Tensor self, Tensor target, int reduction=Mean, *, Tensor(a!) out) -> Tensor(a!)"
)
nll_loss_op = declare(
    "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, int ignore_index=-100) -> Tensor"
)
nll_loss2d_op = declare(
    "nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, int ignore_index=-100) -> Tensor"
)
nll_loss2d_forward_op = declare(
    "nll_loss2d_forward(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) -> (Tensor output, Tensor total_weight)"
)
nll_loss_forward_op = declare(
    "nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index) -> (Tensor output, Tensor total_weight)"
)
nll_loss_nd_op = declare(
    "nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, int ignore_index=-100) -> Tensor"
)
smooth_l1_loss_op = declare("smooth_l1_loss(Tensor self, Tensor target, int reduction=Mean, float beta=1.0) -> Tensor")
smooth_l1_loss_out_op = declare(
    "smooth_l1_loss.out(Tensor self, Tensor target, int reduction=Mean, float beta=1.0, *, Tensor(a!) out) -> Tensor(a!)"
)
hinge_embedding_loss_op = declare(
    "hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, int reduction=Mean) -> Tensor"
)
cosine_embedding_loss_op = declare(
    "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=Mean) -> Tensor"
)
margin_ranking_loss_op = declare(
    "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, int reduction=Mean) -> Tensor"
)
triplet_margin_loss_op = declare(
    "triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1.0, float p=2, float eps=1e-06, bool swap=False, int reduction=Mean) -> Tensor"
)
poisson_nll_loss_op = declare(
    "poisson_nll_loss(Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction) -> Tensor"
)
soft_margin_loss_op = declare("soft_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor")
soft_margin_loss_out_op = declare(
    "soft_margin_loss.out(Tensor self, Tensor target, int reduction=Mean, *, Tensor(a!) out) -> Tensor(a!)"
)
multi_margin_loss_op = declare(
    "multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=Mean) -> Tensor"
)
multilabel_margin_loss_forward_op = declare(
    "multilabel_margin_loss_forward(Tensor self, Tensor target, int reduction) -> (Tensor output, Tensor is_target)"
)
multilabel_margin_loss_op = declare("multilabel_margin_loss(Tensor self, Tensor target, int reduction=Mean) -> Tensor")
ctc_loss_IntList_op = declare(
    "ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, int reduction=Mean, bool zero_infinity=False) -> Tensor"
)
ctc_loss_Tensor_op = declare(
    "ctc_loss.Tensor(Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths, int blank=0, int reduction=Mean, bool zero_infinity=False) -> Tensor"
)
_ctc_loss_op = declare(
    "_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, bool zero_infinity=False) -> (Tensor, Tensor)"
)
_ctc_loss_backward_op = declare(
    "_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor"
)
bernoulli_op = declare("bernoulli(Tensor self, *, Generator? generator=None) -> Tensor")
bernoulli_out_op = declare("bernoulli.out(Tensor self, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)")
bernoulli_p_op = declare("bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor")
bernoulli_Tensor_op = declare("bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor")
bernoulli__Tensor_op = declare(
    "bernoulli_.Tensor(Tensor(a!) self, Tensor p, *, Generator? generator=None) -> Tensor(a!)"
)
bernoulli__float_op = declare(
    "bernoulli_.float(Tensor(a!) self, float p=0.5, *, Generator? generator=None) -> Tensor(a!)"
)
dropout_op = declare("dropout(Tensor input, float p, bool train) -> Tensor")
dropout__op = declare("dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
exponential_op = declare("exponential(Tensor self, float lambd=1.0, *, Generator? generator=None) -> Tensor")
exponential__op = declare("exponential_(Tensor(a!) self, float lambd=1, *, Generator? generator=None) -> Tensor(a!)")
multinomial_op = declare(
    "multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor"
)
multinomial_out_op = declare(
    "multinomial.out(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)"
)
normal_float_float_op = declare(
    "normal.float_float(float mean, float std, int[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
normal_float_float_out_op = declare(
    "normal.float_float_out(float mean, float std, int[] size, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)"
)
normal_Tensor_float_op = declare(
    "normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor"
)
normal_Tensor_float_out_op = declare(
    "normal.Tensor_float_out(Tensor mean, float std=1, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)"
)
normal_float_Tensor_op = declare("normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor")
normal_float_Tensor_out_op = declare(
    "normal.float_Tensor_out(float mean, Tensor std, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)"
)
normal_Tensor_Tensor_op = declare(
    "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor"
)
normal_Tensor_Tensor_out_op = declare(
    "normal.Tensor_Tensor_out(Tensor mean, Tensor std, *, Generator? generator=None, Tensor(a!) out) -> Tensor(a!)"
)
normal_functional_op = declare(
    "normal_functional(Tensor self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor"
)
normal__op = declare("normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)")
rand_op = declare(
    "rand(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
rand_generator_op = declare(
    "rand.generator(int[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
rand_out_op = declare("rand.out(int[] size, *, Tensor(a!) out) -> Tensor(a!)")
rand_generator_out_op = declare("rand.generator_out(int[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)")
rand_like_op = declare(
    "rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"
)
randint_op = declare(
    "randint(int high, int[] size, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
randint_generator_op = declare(
    "randint.generator(int high, int[] size, *, Generator? generator, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
randint_low_op = declare(
    "randint.low(int low, int high, int[] size, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
randint_low_generator_op = declare(
    "randint.low_generator(int low, int high, int[] size, *, Generator? generator, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
randint_out_op = declare("randint.out(int high, int[] size, *, Tensor(a!) out) -> Tensor(a!)")
randint_generator_out_op = declare(
    "randint.generator_out(int high, int[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)"
)
randint_low_out_op = declare("randint.low_out(int low, int high, int[] size, *, Tensor(a!) out) -> Tensor(a!)")
randint_low_generator_out_op = declare(
    "randint.low_generator_out(int low, int high, int[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)"
)
randint_like_op = declare(
    "randint_like(Tensor self, int high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"
)
randint_like_low_dtype_op = declare(
    "randint_like.low_dtype(Tensor self, int low, int high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"
)
randn_op = declare(
    "randn(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
randn_generator_op = declare(
    "randn.generator(int[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
randn_out_op = declare("randn.out(int[] size, *, Tensor(a!) out) -> Tensor(a!)")
randn_generator_out_op = declare(
    "randn.generator_out(int[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)"
)
randn_like_op = declare(
    "randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"
)
random_from_op = declare("random.from(Tensor self, int from, int? to, *, Generator? generator=None) -> Tensor")
random__from_op = declare(
    "random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)"
)
random_to_op = declare("random.to(Tensor self, int to, *, Generator? generator=None) -> Tensor")
random__to_op = declare("random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)")
random_op = declare("random(Tensor self, *, Generator? generator=None) -> Tensor")
random__op = declare("random_(Tensor(a!) self, *, Generator? generator=None) -> Tensor(a!)")
randperm_op = declare(
    "randperm(int n, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
randperm_generator_op = declare(
    "randperm.generator(int n, *, Generator? generator, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
)
randperm_out_op = declare("randperm.out(int n, *, Tensor(a!) out) -> Tensor(a!)")
randperm_generator_out_op = declare(
    "randperm.generator_out(int n, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)"
)
uniform_op = declare("uniform(Tensor self, float from=0.0, float to=1.0, *, Generator? generator=None) -> Tensor")
uniform__op = declare("uniform_(Tensor(a!) self, float from=0, float to=1, *, Generator? generator=None) -> Tensor(a!)")
feature_dropout_op = declare("feature_dropout(Tensor input, float p, bool train) -> Tensor")
feature_dropout__op = declare("feature_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
alpha_dropout_op = declare("alpha_dropout(Tensor input, float p, bool train) -> Tensor")
alpha_dropout__op = declare("alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
feature_alpha_dropout_op = declare("feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor")
feature_alpha_dropout__op = declare("feature_alpha_dropout_(Tensor(a!) self, float p, bool train) -> Tensor(a!)")
_log_softmax_backward_data_op = declare(
    "_log_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor"
)
_log_softmax_backward_data_out_op = declare(
    "_log_softmax_backward_data.out(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype, *, Tensor(a!) out) -> Tensor(a!)"
)
_softmax_backward_data_op = declare(
    "_softmax_backward_data(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype) -> Tensor"
)
_softmax_backward_data_out_op = declare(
    "_softmax_backward_data.out(Tensor grad_output, Tensor output, int dim, ScalarType input_dtype, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
binary_cross_entropy_backward_op = declare(
    "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean) -> Tensor"
)
binary_cross_entropy_backward_grad_input_op = declare(
    "binary_cross_entropy_backward.grad_input(Tensor grad_output, Tensor self, Tensor target, Tensor? weight=None, int reduction=Mean, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
diagonal_backward_op = declare(
    "diagonal_backward(Tensor grad_output, int[] input_sizes, int offset, int dim1, int dim2) -> Tensor"
)
elu_backward_op = declare(
    "elu_backward(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor self_or_result) -> Tensor"
)
elu_backward_grad_input_op = declare(
    "elu_backward.grad_input(Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, Tensor self_or_result, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
embedding_backward_op = declare(
    "embedding_backward(Tensor grad, Tensor indices, int num_weights, int padding_idx, bool scale_grad_by_freq, bool sparse) -> Tensor"
)
embedding_dense_backward_op = declare(
    "embedding_dense_backward(Tensor grad_output, Tensor indices, int num_weights, int padding_idx, bool scale_grad_by_freq) -> Tensor"
)
gelu_backward_op = declare("gelu_backward(Tensor grad_output, Tensor self, *, str approximate='none') -> Tensor")
gelu_backward_grad_input_op = declare(
    "gelu_backward.grad_input(Tensor grad_output, Tensor self, *, str approximate='none', Tensor(a!) grad_input) -> Tensor(a!)"
)
hardtanh_backward_op = declare(
    "hardtanh_backward(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val) -> Tensor"
)
hardtanh_backward_grad_input_op = declare(
    "hardtanh_backward.grad_input(Tensor grad_output, Tensor self, Scalar min_val, Scalar max_val, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
huber_loss_backward_op = declare(
    "huber_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta) -> Tensor"
)
huber_loss_backward_out_op = declare(
    "huber_loss_backward.out(Tensor grad_output, Tensor self, Tensor target, int reduction, float delta, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
index_select_backward_op = declare(
    "index_select_backward(Tensor grad, int[] self_sizes, int dim, Tensor index) -> Tensor"
)
leaky_relu_backward_op = declare(
    "leaky_relu_backward(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result) -> Tensor"
)
leaky_relu_backward_grad_input_op = declare(
    "leaky_relu_backward.grad_input(Tensor grad_output, Tensor self, Scalar negative_slope, bool self_is_result, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
mse_loss_backward_op = declare(
    "mse_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction) -> Tensor"
)
mse_loss_backward_grad_input_op = declare(
    "mse_loss_backward.grad_input(Tensor grad_output, Tensor self, Tensor target, int reduction, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
nll_loss2d_backward_op = declare(
    "nll_loss2d_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index, Tensor total_weight) -> Tensor"
)
nll_loss_backward_op = declare(
    "nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index, Tensor total_weight) -> Tensor"
)
nll_loss_backward_grad_input_op = declare(
    "nll_loss_backward.grad_input(Tensor grad_output, Tensor self, Tensor target, Tensor? weight, int reduction, int ignore_index, Tensor total_weight, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
select_backward_op = declare("select_backward(Tensor grad_output, int[] input_sizes, int dim, int index) -> Tensor")
sigmoid_backward_op = declare("sigmoid_backward(Tensor grad_output, Tensor output) -> Tensor")
sigmoid_backward_grad_input_op = declare(
    "sigmoid_backward.grad_input(Tensor grad_output, Tensor output, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
silu_backward_op = declare("silu_backward(Tensor grad_output, Tensor self) -> Tensor")
silu_backward_grad_input_op = declare(
    "silu_backward.grad_input(Tensor grad_output, Tensor self, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
slice_backward_op = declare(
    "slice_backward(Tensor grad_output, int[] input_sizes, int dim, int start, int end, int step) -> Tensor"
)
smooth_l1_loss_backward_op = declare(
    "smooth_l1_loss_backward(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta) -> Tensor"
)
smooth_l1_loss_backward_grad_input_op = declare(
    "smooth_l1_loss_backward.grad_input(Tensor grad_output, Tensor self, Tensor target, int reduction, float beta, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
softplus_backward_op = declare(
    "softplus_backward(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold) -> Tensor"
)
softplus_backward_grad_input_op = declare(
    "softplus_backward.grad_input(Tensor grad_output, Tensor self, Scalar beta, Scalar threshold, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
tanh_backward_op = declare("tanh_backward(Tensor grad_output, Tensor output) -> Tensor")
tanh_backward_grad_input_op = declare(
    "tanh_backward.grad_input(Tensor grad_output, Tensor output, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
threshold_backward_op = declare("threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor")
threshold_backward_grad_input_op = declare(
    "threshold_backward.grad_input(Tensor grad_output, Tensor self, Scalar threshold, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
unfold_backward_op = declare(
    "unfold_backward(Tensor grad_in, int[] input_sizes, int dim, int size, int step) -> Tensor"
)
value_selecting_reduction_backward_op = declare(
    "value_selecting_reduction_backward(Tensor grad, int dim, Tensor indices, int[] sizes, bool keepdim) -> Tensor"
)
hardshrink_backward_op = declare("hardshrink_backward(Tensor grad_out, Tensor self, Scalar lambd) -> Tensor")
softshrink_backward_op = declare("softshrink_backward(Tensor grad_output, Tensor self, Scalar lambd) -> Tensor")
hardsigmoid_backward_op = declare("hardsigmoid_backward(Tensor grad_output, Tensor self) -> Tensor")
log_sigmoid_backward_op = declare("log_sigmoid_backward(Tensor grad_output, Tensor self, Tensor buffer) -> Tensor")
log_sigmoid_backward_grad_input_op = declare(
    "log_sigmoid_backward.grad_input(Tensor grad_output, Tensor self, Tensor buffer, *, Tensor(a!) grad_input) -> Tensor(a!)"
)
fake_quantize_per_tensor_affine_op = declare(
    "fake_quantize_per_tensor_affine(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> Tensor"
)
fake_quantize_per_tensor_affine_tensor_qparams_op = declare(
    "fake_quantize_per_tensor_affine.tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, int quant_min, int quant_max) -> Tensor"
)
fake_quantize_per_tensor_affine_cachemask_op = declare(
    "fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, int zero_point, int quant_min, int quant_max) -> (Tensor output, Tensor mask)"
)
_fake_quantize_per_tensor_affine_cachemask_tensor_qparams_op = declare(
    "_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, Tensor scale, Tensor zero_point, Tensor fake_quant_enabled, int quant_min, int quant_max) -> (Tensor output, Tensor mask)"
)
fake_quantize_per_tensor_affine_cachemask_backward_op = declare(
    "fake_quantize_per_tensor_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor"
)
fake_quantize_per_channel_affine_op = declare(
    "fake_quantize_per_channel_affine(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max) -> Tensor"
)
fake_quantize_per_channel_affine_cachemask_op = declare(
    "fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, Tensor zero_point, int axis, int quant_min, int quant_max) -> (Tensor output, Tensor mask)"
)
fake_quantize_per_channel_affine_cachemask_backward_op = declare(
    "fake_quantize_per_channel_affine_cachemask_backward(Tensor grad, Tensor mask) -> Tensor"
)
absolute_op = declare("absolute(Tensor self) -> Tensor")
absolute__op = declare("absolute_(Tensor(a!) self) -> Tensor(a!)")
absolute_out_op = declare("absolute.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
arccos_op = declare("arccos(Tensor self) -> Tensor")
arccos__op = declare("arccos_(Tensor(a!) self) -> Tensor(a!)")
arccos_out_op = declare("arccos.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
arccosh_op = declare("arccosh(Tensor self) -> Tensor")
arccosh__op = declare("arccosh_(Tensor(a!) self) -> Tensor(a!)")
arccosh_out_op = declare("arccosh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
arcsin_op = declare("arcsin(Tensor self) -> Tensor")
arcsin__op = declare("arcsin_(Tensor(a!) self) -> Tensor(a!)")
arcsin_out_op = declare("arcsin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
arcsinh_op = declare("arcsinh(Tensor self) -> Tensor")
arcsinh__op = declare("arcsinh_(Tensor(a!) self) -> Tensor(a!)")
arcsinh_out_op = declare("arcsinh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
arctan_op = declare("arctan(Tensor self) -> Tensor")
arctan__op = declare("arctan_(Tensor(a!) self) -> Tensor(a!)")
arctan_out_op = declare("arctan.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
arctan2_op = declare("arctan2(Tensor self, Tensor other) -> Tensor")
arctan2__op = declare("arctan2_(Tensor(a!) self, Tensor other) -> Tensor(a!)")
arctan2_out_op = declare("arctan2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
arctanh_op = declare("arctanh(Tensor self) -> Tensor")
arctanh__op = declare("arctanh_(Tensor(a!) self) -> Tensor(a!)")
arctanh_out_op = declare("arctanh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
clip_Tensor_op = declare("clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor")
clip__Tensor_op = declare("clip_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)")
clip_Tensor_out_op = declare(
    "clip.Tensor_out(Tensor self, Tensor? min=None, Tensor? max=None, *, Tensor(a!) out) -> Tensor(a!)"
)
clip_op = declare("clip(Tensor self, Scalar? min=None, Scalar? max=None) -> Tensor")
clip__op = declare("clip_(Tensor(a!) self, Scalar? min=None, Scalar? max=None) -> Tensor(a!)")
clip_out_op = declare("clip.out(Tensor self, Scalar? min=None, Scalar? max=None, *, Tensor(a!) out) -> Tensor(a!)")
concat_op = declare("concat(Tensor[] tensors, int dim=0) -> Tensor")
concat_out_op = declare("concat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)")
concatenate_op = declare("concatenate(Tensor[] tensors, int dim=0) -> Tensor")
concatenate_out_op = declare("concatenate.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)")
divide_Tensor_op = declare("divide.Tensor(Tensor self, Tensor other) -> Tensor")
divide__Tensor_op = declare("divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
divide_out_op = declare("divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
divide_Scalar_op = declare("divide.Scalar(Tensor self, Scalar other) -> Tensor")
divide_Tensor_mode_op = declare("divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor")
divide__Tensor_mode_op = declare(
    "divide_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> Tensor(a!)"
)
divide_out_mode_op = declare(
    "divide.out_mode(Tensor self, Tensor other, *, str? rounding_mode, Tensor(a!) out) -> Tensor(a!)"
)
fix_op = declare("fix(Tensor self) -> Tensor")
fix__op = declare("fix_(Tensor(a!) self) -> Tensor(a!)")
fix_out_op = declare("fix.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
ger_op = declare("ger(Tensor self, Tensor vec2) -> Tensor")
ger_out_op = declare("ger.out(Tensor self, Tensor vec2, *, Tensor(a!) out) -> Tensor(a!)")
greater_Tensor_op = declare("greater.Tensor(Tensor self, Tensor other) -> Tensor")
greater__Tensor_op = declare("greater_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
greater_Tensor_out_op = declare("greater.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
greater_equal_Tensor_op = declare("greater_equal.Tensor(Tensor self, Tensor other) -> Tensor")
greater_equal__Tensor_op = declare("greater_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
greater_equal_Tensor_out_op = declare(
    "greater_equal.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)"
)
less_Tensor_op = declare("less.Tensor(Tensor self, Tensor other) -> Tensor")
less__Tensor_op = declare("less_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
less_Tensor_out_op = declare("less.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
less_equal_Tensor_op = declare("less_equal.Tensor(Tensor self, Tensor other) -> Tensor")
less_equal__Tensor_op = declare("less_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
less_equal_Tensor_out_op = declare("less_equal.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
moveaxis_intlist_op = declare("moveaxis.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)")
moveaxis_int_op = declare("moveaxis.int(Tensor(a) self, int source, int destination) -> Tensor(a)")
multiply_Tensor_op = declare("multiply.Tensor(Tensor self, Tensor other) -> Tensor")
multiply__Tensor_op = declare("multiply_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
multiply_out_op = declare("multiply.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
multiply_Scalar_op = declare("multiply.Scalar(Tensor self, Scalar other) -> Tensor")
negative_op = declare("negative(Tensor self) -> Tensor")
negative__op = declare("negative_(Tensor(a!) self) -> Tensor(a!)")
negative_out_op = declare("negative.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
not_equal_Tensor_op = declare("not_equal.Tensor(Tensor self, Tensor other) -> Tensor")
not_equal__Tensor_op = declare("not_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)")
not_equal_Tensor_out_op = declare("not_equal.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)")
row_stack_op = declare("row_stack(Tensor[] tensors) -> Tensor")
row_stack_out_op = declare("row_stack.out(Tensor[] tensors, *, Tensor(a!) out) -> Tensor(a!)")
subtract_Tensor_op = declare("subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
subtract__Tensor_op = declare("subtract_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)")
subtract_out_op = declare("subtract.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)")
subtract_Scalar_op = declare("subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor")
