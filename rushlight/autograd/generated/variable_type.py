"""The nodes of backward graphs and the kernels that make them. Generated from `derivatives.yaml`. Do not edit.

If no gradient is needed, a kernel only calls the kernel below it (`operator.below`).
"""

# ruff: noqa: E501, F401, F403, F405, I001

import math

from rushlight.aten.generated.functions import (
    _adaptive_avg_pool2d_backward_op, _adaptive_avg_pool2d_op, _cdist_forward_op, _ctc_loss_backward_op, _ctc_loss_op,
    _fake_quantize_per_tensor_affine_cachemask_tensor_qparams_op, _index_put_impl__op, _linalg_det_op,
    _linalg_solve_ex_op, _linalg_svd_op, _log_softmax_backward_data_op, _log_softmax_backward_data_out_op,
    _log_softmax_op, _log_softmax_out_op, _prelu_kernel_op, _reshape_alias_copy_op, _reshape_alias_op, _safe_softmax_op,
    _scaled_dot_product_flash_attention_for_cpu_op, _softmax_backward_data_op, _softmax_backward_data_out_op,
    _softmax_op, _softmax_out_op, _thnn_fused_gru_cell_op, _thnn_fused_lstm_cell_op, _to_copy_op, _unique2_op,
    _unsafe_view_op, _upsample_bicubic2d_aa_backward_op, _upsample_bicubic2d_aa_op, _upsample_bicubic2d_aa_out_op,
    _upsample_bilinear2d_aa_backward_op, _upsample_bilinear2d_aa_op, _upsample_bilinear2d_aa_out_op,
    _upsample_lanczos2d_aa_backward_op, _upsample_lanczos2d_aa_op, _upsample_lanczos2d_aa_out_op,
    _upsample_nearest_exact1d_backward_op, _upsample_nearest_exact1d_op, _upsample_nearest_exact1d_out_op,
    _upsample_nearest_exact2d_backward_op, _upsample_nearest_exact2d_op, _upsample_nearest_exact2d_out_op,
    _upsample_nearest_exact3d_backward_op, _upsample_nearest_exact3d_op, _upsample_nearest_exact3d_out_op, abs__op,
    abs_op, abs_out_op, acos__op, acos_op, acos_out_op, acosh__op, acosh_op, acosh_out_op, add_Scalar_op, add_Tensor_op,
    add__Tensor_op, add_out_op, addcdiv__op, addcdiv_op, addcdiv_out_op, addcmul__op, addcmul_op, addcmul_out_op,
    addmm__op, addmm_op, addmm_out_op, addmv__op, addmv_op, addmv_out_op, addr__op, addr_op, addr_out_op,
    affine_grid_generator_op, affine_grid_generator_out_op, alias_copy_op, alias_op, all_all_out_op, all_dims_out_op,
    all_out_op, amax_op, amax_out_op, amin_op, amin_out_op, aminmax_op, aminmax_out_op, any_all_out_op, any_dims_out_op,
    any_out_op, arange_out_op, arange_start_out_op, argmax_out_op, argmin_out_op, as_strided__op, as_strided_copy_op,
    as_strided_op, as_strided_scatter_op, asin__op, asin_op, asin_out_op, asinh__op, asinh_op, asinh_out_op, atan2__op,
    atan2_op, atan2_out_op, atan__op, atan_op, atan_out_op, atanh__op, atanh_op, atanh_out_op,
    avg_pool2d_backward_grad_input_op, avg_pool2d_backward_op, avg_pool2d_op, avg_pool2d_out_op, baddbmm__op,
    baddbmm_op, baddbmm_out_op, bernoulli_Tensor_op, bernoulli__Tensor_op, bernoulli__float_op, bernoulli_op,
    bernoulli_out_op, bernoulli_p_op, binary_cross_entropy_backward_grad_input_op, binary_cross_entropy_backward_op,
    binary_cross_entropy_op, binary_cross_entropy_out_op, binary_cross_entropy_with_logits_op,
    bitwise_and_Tensor_out_op, bitwise_and__Tensor_op, bitwise_left_shift_Tensor_out_op, bitwise_left_shift__Tensor_op,
    bitwise_not__op, bitwise_not_out_op, bitwise_or_Tensor_out_op, bitwise_or__Tensor_op,
    bitwise_right_shift_Tensor_out_op, bitwise_right_shift__Tensor_op, bitwise_xor_Tensor_out_op,
    bitwise_xor__Tensor_op, bmm_op, bmm_out_op, bucketize_Tensor_out_op, cat_op, cat_out_op, ceil__op, ceil_op,
    ceil_out_op, celu__op, celu_op, clamp_Tensor_op, clamp_Tensor_out_op, clamp__Tensor_op, clamp__op,
    clamp_max_Tensor_op, clamp_max_Tensor_out_op, clamp_max__Tensor_op, clamp_max__op, clamp_max_op, clamp_max_out_op,
    clamp_min_Tensor_op, clamp_min_Tensor_out_op, clamp_min__Tensor_op, clamp_min__op, clamp_min_op, clamp_min_out_op,
    clamp_op, clamp_out_op, clone_op, constant_pad_nd_op, convolution_backward_op, convolution_op, copy__op, copy_op,
    copysign_Scalar_op, copysign_Scalar_out_op, copysign_Tensor_op, copysign__Scalar_op, copysign__Tensor_op,
    copysign_out_op, cos__op, cos_op, cos_out_op, cosh__op, cosh_op, cosh_out_op, cummax_op, cummax_out_op, cummin_op,
    cummin_out_op, cumprod__op, cumprod_op, cumprod_out_op, cumsum__op, cumsum_op, cumsum_out_op, deg2rad__op,
    deg2rad_op, deg2rad_out_op, diag_embed_op, diagonal_backward_op, diagonal_copy_op, diagonal_copy_out_op,
    diagonal_op, diagonal_scatter_op, digamma__op, digamma_op, digamma_out_op, dist_op, div_Scalar_op,
    div_Tensor_mode_op, div_Tensor_op, div__Tensor_mode_op, div__Tensor_op, div_out_mode_op, div_out_op, dot_op,
    dot_out_op, elu__op, elu_backward_grad_input_op, elu_backward_op, elu_op, elu_out_op, embedding_dense_backward_op,
    embedding_op, embedding_renorm__op, empty_out_op, eq_Tensor_out_op, eq__Tensor_op, erf__op, erf_op, erf_out_op,
    erfc__op, erfc_op, erfc_out_op, erfinv__op, erfinv_op, erfinv_out_op, exp2__op, exp2_op, exp2_out_op, exp__op,
    exp_op, exp_out_op, expand_copy_op, expand_op, expm1__op, expm1_op, expm1_out_op, exponential__op, exponential_op,
    eye_m_out_op, eye_out_op, fake_quantize_per_channel_affine_cachemask_op,
    fake_quantize_per_tensor_affine_cachemask_op, fill_Scalar_op, fill_Tensor_op, fill__Scalar_op, fill__Tensor_op,
    flip_op, floor__op, floor_divide__Tensor_op, floor_divide_op, floor_divide_out_op, floor_op, floor_out_op, fmax_op,
    fmax_out_op, fmin_op, fmin_out_op, fmod_Scalar_op, fmod_Scalar_out_op, fmod_Tensor_op, fmod_Tensor_out_op,
    fmod__Scalar_op, fmod__Tensor_op, frac__op, frac_op, frac_out_op, full_out_op, gather_op, gather_out_op, gcd__op,
    gcd_out_op, ge_Tensor_out_op, ge__Tensor_op, gelu__op, gelu_backward_grad_input_op, gelu_backward_op, gelu_op,
    gelu_out_op, glu_op, glu_out_op, gt_Tensor_out_op, gt__Tensor_op, hardshrink_backward_op, hardshrink_op,
    hardshrink_out_op, hardsigmoid__op, hardsigmoid_backward_op, hardsigmoid_op, hardsigmoid_out_op, hardswish__op,
    hardswish_op, hardswish_out_op, hardtanh__op, hardtanh_backward_grad_input_op, hardtanh_backward_op, hardtanh_op,
    hardtanh_out_op, heaviside__op, heaviside_out_op, histc_out_op, huber_loss_backward_op, huber_loss_backward_out_op,
    huber_loss_op, huber_loss_out_op, hypot__op, hypot_op, hypot_out_op, index_Tensor_op, index_add__op, index_add_op,
    index_add_out_op, index_copy__op, index_copy_op, index_copy_out_op, index_fill__int_Scalar_op,
    index_fill__int_Tensor_op, index_fill_int_Scalar_op, index_fill_int_Tensor_op, index_put__op, index_put_op,
    index_select_op, index_select_out_op, isneginf_out_op, isposinf_out_op, kthvalue_op, kthvalue_values_op, lcm__op,
    lcm_out_op, ldexp_Tensor_op, ldexp__op, ldexp_out_op, le_Tensor_out_op, le__Tensor_op, leaky_relu__op,
    leaky_relu_backward_grad_input_op, leaky_relu_backward_op, leaky_relu_op, leaky_relu_out_op, lerp_Scalar_op,
    lerp_Scalar_out_op, lerp_Tensor_op, lerp_Tensor_out_op, lerp__Scalar_op, lerp__Tensor_op, lgamma__op, lgamma_op,
    lgamma_out_op, lift_fresh_copy_op, lift_fresh_op, linalg_cholesky_ex_op, linalg_cross_op, linalg_inv_ex_op,
    linalg_vector_norm_op, linalg_vector_norm_out_op, linear_out_op, linspace_Scalar_Tensor_out_op,
    linspace_Tensor_Scalar_out_op, linspace_Tensor_Tensor_out_op, linspace_out_op, log10__op, log10_op, log10_out_op,
    log1p__op, log1p_op, log1p_out_op, log2__op, log2_op, log2_out_op, log__op, log_op, log_out_op,
    log_sigmoid_backward_grad_input_op, log_sigmoid_backward_op, log_sigmoid_forward_op, log_softmax_int_out_op,
    logaddexp2_op, logaddexp2_out_op, logaddexp_op, logaddexp_out_op, logcumsumexp_op, logcumsumexp_out_op,
    logical_and__op, logical_and_out_op, logical_not__op, logical_not_out_op, logical_or__op, logical_or_out_op,
    logical_xor__op, logical_xor_out_op, logit__op, logit_op, logit_out_op, logsumexp_op, logsumexp_out_op,
    lt_Tensor_out_op, lt__Tensor_op, masked_fill_Scalar_op, masked_fill_Tensor_op, masked_fill__Scalar_op,
    masked_fill__Tensor_op, masked_scatter__op, masked_scatter_backward_op, masked_scatter_op, masked_select_op,
    masked_select_out_op, max_dim_max_op, max_dim_op, max_op, max_pool2d_with_indices_backward_grad_input_op,
    max_pool2d_with_indices_backward_op, max_pool2d_with_indices_op, max_unary_out_op, maximum_op, maximum_out_op,
    mean_dim_op, mean_dtype_out_op, mean_op, mean_out_op, median_dim_op, median_dim_values_op, median_op,
    min_dim_min_op, min_dim_op, min_op, min_unary_out_op, minimum_op, minimum_out_op, mish__op, mish_op, mish_out_op,
    mm_op, mm_out_op, mode_op, mode_values_op, mse_loss_backward_grad_input_op, mse_loss_backward_op, mse_loss_op,
    mse_loss_out_op, mul_Scalar_op, mul_Tensor_op, mul__Tensor_op, mul_out_op, multi_margin_loss_op,
    multilabel_margin_loss_forward_op, multinomial_out_op, mv_op, mv_out_op, mvlgamma_op, nan_to_num__op, nan_to_num_op,
    nan_to_num_out_op, nanmedian_dim_op, nanmedian_dim_values_op, nanmedian_op, nanmedian_out_op, nansum_op,
    nansum_out_op, native_batch_norm_op, native_layer_norm_op, ne_Tensor_out_op, ne__Tensor_op, neg__op, neg_op,
    neg_out_op, nll_loss2d_backward_op, nll_loss2d_forward_op, nll_loss_backward_grad_input_op, nll_loss_backward_op,
    nll_loss_forward_op, nonzero_out_op, norm_ScalarOpt_dim_op, normal_Tensor_Tensor_op, normal_Tensor_Tensor_out_op,
    normal_Tensor_float_op, normal_Tensor_float_out_op, normal__op, normal_float_Tensor_op, normal_float_Tensor_out_op,
    normal_float_float_out_op, normal_functional_op, ones_out_op, permute_copy_op, permute_op, pixel_shuffle_op,
    pixel_shuffle_out_op, pixel_unshuffle_op, pixel_unshuffle_out_op, polygamma__op, polygamma_op, polygamma_out_op,
    pow_Scalar_op, pow_Scalar_out_op, pow_Tensor_Scalar_op, pow_Tensor_Scalar_out_op, pow_Tensor_Tensor_op,
    pow_Tensor_Tensor_out_op, pow__Scalar_op, pow__Tensor_op, prod_dim_int_op, prod_int_out_op, prod_op, prod_out_op,
    put__op, put_op, put_out_op, rad2deg__op, rad2deg_op, rad2deg_out_op, rand_out_op, randint_generator_out_op,
    randint_low_generator_out_op, randint_low_out_op, randint_out_op, random__from_op, random__op, random__to_op,
    random_from_op, random_op, random_to_op, randperm_generator_out_op, randperm_out_op, reciprocal__op, reciprocal_op,
    reciprocal_out_op, reflection_pad1d_backward_grad_input_op, reflection_pad1d_backward_op, reflection_pad1d_op,
    reflection_pad1d_out_op, reflection_pad2d_backward_grad_input_op, reflection_pad2d_backward_op, reflection_pad2d_op,
    reflection_pad2d_out_op, reflection_pad3d_backward_grad_input_op, reflection_pad3d_backward_op, reflection_pad3d_op,
    reflection_pad3d_out_op, relu__op, relu_op, remainder_Scalar_op, remainder_Scalar_out_op, remainder_Tensor_op,
    remainder_Tensor_out_op, remainder__Scalar_op, remainder__Tensor_op, renorm__op, renorm_op, renorm_out_op,
    repeat_interleave_Tensor_op, repeat_op, replication_pad1d_backward_grad_input_op, replication_pad1d_backward_op,
    replication_pad1d_op, replication_pad1d_out_op, replication_pad2d_backward_grad_input_op,
    replication_pad2d_backward_op, replication_pad2d_op, replication_pad2d_out_op,
    replication_pad3d_backward_grad_input_op, replication_pad3d_backward_op, replication_pad3d_op,
    replication_pad3d_out_op, resize__op, roll_op, rot90_op, round__decimals_op, round__op, round_decimals_op,
    round_decimals_out_op, round_op, round_out_op, rrelu_with_noise__op, rrelu_with_noise_backward_op,
    rrelu_with_noise_op, rsqrt__op, rsqrt_op, rsqrt_out_op, rsub_Scalar_op, rsub_Tensor_op, scatter__reduce_op,
    scatter__src_op, scatter__value_op, scatter__value_reduce_op, scatter_add__op, scatter_add_op, scatter_add_out_op,
    scatter_reduce__two_op, scatter_reduce_op, scatter_reduce_out_op, scatter_reduce_two_op, scatter_reduce_two_out_op,
    scatter_src_op, scatter_src_out_op, scatter_value_op, scatter_value_out_op, scatter_value_reduce_op,
    scatter_value_reduce_out_op, select_backward_op, select_int_op, select_scatter_op, sgn__op, sgn_op, sgn_out_op,
    sigmoid__op, sigmoid_backward_grad_input_op, sigmoid_backward_op, sigmoid_op, sigmoid_out_op, sign__op, sign_op,
    sign_out_op, signbit_out_op, silu__op, silu_backward_grad_input_op, silu_backward_op, silu_op, silu_out_op, sin__op,
    sin_op, sin_out_op, sinc__op, sinc_op, sinc_out_op, sinh__op, sinh_op, sinh_out_op, slice_Tensor_op,
    slice_backward_op, slice_scatter_op, smooth_l1_loss_backward_grad_input_op, smooth_l1_loss_backward_op,
    smooth_l1_loss_op, smooth_l1_loss_out_op, soft_margin_loss_op, soft_margin_loss_out_op, softmax_int_out_op,
    softplus_backward_grad_input_op, softplus_backward_op, softplus_op, softplus_out_op, softshrink_backward_op,
    softshrink_op, softshrink_out_op, sort_op, sort_stable_op, sort_values_op, sort_values_stable_op, split_Tensor_op,
    split_with_sizes_copy_op, split_with_sizes_op, sqrt__op, sqrt_op, sqrt_out_op, squeeze__dim_op, squeeze__dims_op,
    squeeze__op, squeeze_copy_dim_op, squeeze_copy_dims_op, squeeze_copy_op, squeeze_dim_op, squeeze_dims_op,
    squeeze_op, stack_op, stack_out_op, std_correction_op, std_correction_out_op, std_mean_correction_op, sub_Scalar_op,
    sub_Tensor_op, sub__Tensor_op, sub_out_op, sum_IntList_out_op, sum_dim_IntList_op, sum_op, sum_out_op, t__op,
    t_copy_op, t_op, take_op, take_out_op, tan__op, tan_op, tan_out_op, tanh__op, tanh_backward_grad_input_op,
    tanh_backward_op, tanh_op, tanh_out_op, threshold__op, threshold_backward_grad_input_op, threshold_backward_op,
    threshold_op, threshold_out_op, topk_op, topk_values_op, trace_op, transpose__op, transpose_copy_int_op,
    transpose_int_op, tril__op, tril_op, tril_out_op, triu__op, triu_op, triu_out_op, trunc__op, trunc_op, trunc_out_op,
    unbind_copy_int_op, unbind_int_op, unfold_backward_op, unfold_copy_op, unfold_op, uniform__op, uniform_op,
    unique_consecutive_op, unique_dim_op, unsqueeze__op, unsqueeze_copy_op, unsqueeze_op,
    upsample_bicubic2d_backward_op, upsample_bicubic2d_op, upsample_bicubic2d_out_op, upsample_bilinear2d_backward_op,
    upsample_bilinear2d_op, upsample_bilinear2d_out_op, upsample_linear1d_backward_op, upsample_linear1d_op,
    upsample_linear1d_out_op, upsample_nearest1d_backward_op, upsample_nearest1d_op, upsample_nearest1d_out_op,
    upsample_nearest2d_backward_op, upsample_nearest2d_op, upsample_nearest2d_out_op, upsample_nearest3d_backward_op,
    upsample_nearest3d_op, upsample_nearest3d_out_op, upsample_trilinear3d_backward_op, upsample_trilinear3d_op,
    upsample_trilinear3d_out_op, var_correction_op, var_correction_out_op, var_mean_correction_op, vdot_op,
    view_copy_dtype_op, view_copy_op, view_op, where_self_op, where_self_out_op, xlogy_OutTensor_op,
    xlogy_Scalar_Other_op, xlogy_Scalar_Self_op, xlogy_Tensor_op, xlogy__Scalar_Other_op, xlogy__Tensor_op, zero__op,
    zero_op, zeros_out_op,
)  # fmt: skip
from rushlight.aten.strided import Tensor
from rushlight.autograd.derivatives import *
from rushlight.autograd.engine import sum_to
from rushlight.autograd.graph import (
    Node,
    edges_to_compute,
    gradient_edge,
    int_getter,
    save,
    tensor_getters,
    unpack,
    value_getter,
)
from rushlight.autograd.history import (
    any_requires_grad,
    call_below,
    check_inplace,
    check_no_requires_grad,
    rebase_history,
    set_history,
    set_history_inplace,
)
from rushlight.c10.dispatch import local


# ---- Nodes


class AliasBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad,)


class AliasBackward0_copy(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad,)


class LiftFreshBackward0_copy(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad,)


class AsStridedBackward0(Node):
    _saved_size = int_getter("size")
    _saved_storage_offset = int_getter("storage_offset")
    _saved_stride = int_getter("stride")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (as_strided_backward(grad, *node.self_geometry, node.size, node.stride, node.storage_offset),)


class AsStridedBackward0_copy(Node):
    _saved_size = int_getter("size")
    _saved_storage_offset = int_getter("storage_offset")
    _saved_stride = int_getter("stride")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (as_strided_backward(grad, *node.self_geometry, node.size, node.stride, node.storage_offset),)


class AsStridedBackward1(Node):
    _saved_size = int_getter("size")
    _saved_storage_offset = int_getter("storage_offset")
    _saved_stride = int_getter("stride")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (as_strided_backward(grad, *node.self_geometry, node.size, node.stride, node.storage_offset),)


class AsStridedScatterBackward0(Node):
    _saved_size = int_getter("size")
    _saved_storage_offset = int_getter("storage_offset")
    _saved_stride = int_getter("stride")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            as_strided_scatter_backward(grad, *node.self_geometry[:2], node.size, node.stride, node.storage_offset)
            if edges[0].node
            else None,
            grad.contiguous().as_strided(node.size, node.stride, node.storage_offset) if edges[1].node else None,
        )


class DiagonalBackward0(Node):
    _saved_dim1 = int_getter("dim1")
    _saved_dim2 = int_getter("dim2")
    _saved_offset = int_getter("offset")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.diagonal_backward(grad, node.self_shape, node.offset, node.dim1, node.dim2),)


class DiagonalBackward0_copy(Node):
    _saved_dim1 = int_getter("dim1")
    _saved_dim2 = int_getter("dim2")
    _saved_offset = int_getter("offset")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.diagonal_backward(grad, node.self_shape, node.offset, node.dim1, node.dim2),)


class DiagonalScatterBackward0(Node):
    _saved_dim1 = int_getter("dim1")
    _saved_dim2 = int_getter("dim2")
    _saved_offset = int_getter("offset")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            grad.diagonal_scatter(grad.new_zeros(node.src_info), node.offset, node.dim1, node.dim2)
            if edges[0].node
            else None,
            grad.diagonal(node.offset, node.dim1, node.dim2) if edges[1].node else None,
        )


class ExpandBackward0(Node):
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (sum_to(grad, node.self_shape),)


class ExpandBackward0_copy(Node):
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (sum_to(grad, node.self_shape),)


class PermuteBackward0(Node):
    _saved_dims = int_getter("dims")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.permute(sorted(range(len(node.dims)), key=lambda d: node.dims[d] % len(node.dims))),)


class PermuteBackward0_copy(Node):
    _saved_dims = int_getter("dims")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.permute(sorted(range(len(node.dims)), key=lambda d: node.dims[d] % len(node.dims))),)


class SelectBackward0(Node):
    _saved_dim = int_getter("dim")
    _saved_index = int_getter("index")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.select_backward(grad, node.self_shape, node.dim, node.index),)


class SelectScatterBackward0(Node):
    _saved_dim = int_getter("dim")
    _saved_index = int_getter("index")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            grad.select_scatter(grad.new_zeros(node.src_info), node.dim, node.index) if edges[0].node else None,
            grad.select(node.dim, node.index) if edges[1].node else None,
        )


class SliceBackward0(Node):
    _saved_dim = int_getter("dim")
    _saved_end = int_getter("end")
    _saved_self_sym_sizes = value_getter("self_shape")
    _saved_start = int_getter("start")
    _saved_step = int_getter("step")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions.slice_backward(
                grad,
                node.self_shape,
                node.dim,
                0 if node.start is None else node.start,
                INT64_MAX if node.end is None else node.end,
                node.step,
            ),
        )


class SliceScatterBackward0(Node):
    _saved_dim = int_getter("dim")
    _saved_end = int_getter("end")
    _saved_start = int_getter("start")
    _saved_step = int_getter("step")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            grad.slice_scatter(grad.new_zeros(node.src_info), node.dim, node.start, node.end, node.step)
            if edges[0].node
            else None,
            functions.slice(grad, node.dim, node.start, node.end, node.step) if edges[1].node else None,
        )


class SplitBackward0(Node):
    _saved_dim = int_getter("dim")
    _saved_self_sym_sizes = value_getter("self_shape")
    _saved_split_size = int_getter("split_size")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            return (None,)
        return (split_backward(grads, node.split_size, node.dim, node.self_shape, node.self_dtype),)


class SplitWithSizesBackward0(Node):
    _saved_dim = int_getter("dim")
    _saved_self_sym_sizes = value_getter("self_shape")
    _saved_split_sizes = int_getter("split_sizes")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            return (None,)
        return (split_with_sizes_backward(grads, node.split_sizes, node.dim, node.self_shape, node.self_dtype),)


class SplitWithSizesBackward0_copy(Node):
    _saved_dim = int_getter("dim")
    _saved_self_sym_sizes = value_getter("self_shape")
    _saved_split_sizes = int_getter("split_sizes")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            return (None,)
        return (split_with_sizes_backward(grads, node.split_sizes, node.dim, node.self_shape, node.self_dtype),)


class SqueezeBackward0(Node):
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (unsqueeze_to(grad, None, node.self_shape),)


class SqueezeBackward0_copy(Node):
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (unsqueeze_to(grad, None, node.self_shape),)


class SqueezeBackward1(Node):
    _saved_dim = int_getter("dim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (unsqueeze_to(grad, node.dim, node.self_shape),)


class SqueezeBackward1_copy(Node):
    _saved_dim = int_getter("dim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (unsqueeze_to(grad, node.dim, node.self_shape),)


class SqueezeBackward2(Node):
    _saved_dim = int_getter("dim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (unsqueeze_to(grad, node.dim, node.self_shape),)


class SqueezeBackward2_copy(Node):
    _saved_dim = int_getter("dim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (unsqueeze_to(grad, node.dim, node.self_shape),)


class SqueezeBackward3(Node):
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (unsqueeze_to(grad, None, node.self_shape),)


class SqueezeBackward4(Node):
    _saved_dim = int_getter("dim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (unsqueeze_to(grad, node.dim, node.self_shape),)


class SqueezeBackward5(Node):
    _saved_dim = int_getter("dim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (unsqueeze_to(grad, node.dim, node.self_shape),)


class TBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.t(),)


class TBackward0_copy(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.t(),)


class TBackward1(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.t(),)


class TransposeBackward0(Node):
    _saved_dim0 = int_getter("dim0")
    _saved_dim1 = int_getter("dim1")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.transpose(node.dim0, node.dim1),)


class TransposeBackward0_copy(Node):
    _saved_dim0 = int_getter("dim0")
    _saved_dim1 = int_getter("dim1")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.transpose(node.dim0, node.dim1),)


class TransposeBackward1(Node):
    _saved_dim0 = int_getter("dim0")
    _saved_dim1 = int_getter("dim1")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.transpose(node.dim0, node.dim1),)


class UnbindBackward0(Node):
    _saved_dim = int_getter("dim")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            return (None,)
        return (functions.stack(replace_none_by_zeros(grads, node.result_shapes, node.self_dtype), node.dim),)


class UnbindBackward0_copy(Node):
    _saved_dim = int_getter("dim")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            return (None,)
        return (functions.stack(replace_none_by_zeros(grads, node.result_shapes, node.self_dtype), node.dim),)


class UnfoldBackward0(Node):
    _saved_dimension = int_getter("dimension")
    _saved_self_sym_sizes = value_getter("self_shape")
    _saved_size = int_getter("size")
    _saved_step = int_getter("step")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.unfold_backward(grad, node.self_shape, node.dimension, node.size, node.step),)


class UnfoldBackward0_copy(Node):
    _saved_dimension = int_getter("dimension")
    _saved_self_sym_sizes = value_getter("self_shape")
    _saved_size = int_getter("size")
    _saved_step = int_getter("step")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.unfold_backward(grad, node.self_shape, node.dimension, node.size, node.step),)


class UnsqueezeBackward0(Node):
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.squeeze(node.dim),)


class UnsqueezeBackward0_copy(Node):
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.squeeze(node.dim),)


class UnsqueezeBackward1(Node):
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.squeeze(node.dim),)


class ReshapeAliasBackward0(Node):
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.reshape(node.self_shape),)


class ReshapeAliasBackward0_copy(Node):
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.reshape(node.self_shape),)


class UnsafeViewBackward0(Node):
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.reshape(node.self_shape),)


class ViewBackward0(Node):
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.reshape(node.self_shape),)


class ViewBackward0_copy(Node):
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.reshape(node.self_shape),)


class CloneBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad,)


class CopyBackwards(Node):
    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            functions.zeros_like(grad, memory_format=contiguous_format) if edges[0].node else None,
            grad if edges[1].node else None,
        )


class ToCopyBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.to(node.self_dtype),)


class FillBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class FillBackward1(Node):
    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            zeros_like(grad) if edges[0].node else None,
            grad.sum() if edges[1].node else None,
        )


class FillBackward2(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class FillBackward3(Node):
    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            zeros_like(grad) if edges[0].node else None,
            grad.sum() if edges[1].node else None,
        )


class ZeroBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class NormalBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class NormalBackward1(Node):
    _saved_mean_sym_sizes = value_getter("mean_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.new_zeros(node.mean_shape),)


class NormalBackward2(Node):
    _saved_std_sym_sizes = value_getter("std_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.new_zeros(node.std_shape),)


class NormalBackward3(Node):
    _saved_mean_sym_sizes = value_getter("mean_shape")
    _saved_std_sym_sizes = value_getter("std_shape")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            grad.new_zeros(node.mean_shape) if edges[0].node else None,
            grad.new_zeros(node.std_shape) if edges[1].node else None,
        )


class ExponentialBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class UniformBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class BernoulliBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class BernoulliBackward1(Node):
    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        grad_p = grad.new_zeros(node.p_info) if edges[1].node else None
        grad_self = zeros_like(grad) if edges[0].node else None
        return (
            grad_self,
            grad_p,
        )


class BernoulliBackward2(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class RandomBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class RandomBackward1(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class RandomBackward2(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class AbsBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad * self.sgn(),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class AddBackward0(Node):
    _saved_alpha = value_getter("alpha")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        grad_other = maybe_multiply(grad, node.alpha) if edges[1].node else None
        grad_self = grad if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )


class AddBackward1(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad,)


class AddcdivBackward0(Node):
    saved_tensor2 = saved_tensor1 = None
    _saved_tensor2, _raw_saved_tensor2 = tensor_getters("saved_tensor2")
    _saved_tensor1, _raw_saved_tensor1 = tensor_getters("saved_tensor1")
    _saved_value = value_getter("value")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_tensor2, node.saved_tensor1])
            return (
                None,
                None,
                None,
            )
        edges = node.next_edges
        tensor2 = unpack(node, node.saved_tensor2) if edges[1].node or edges[2].node else None
        tensor1 = unpack(node, node.saved_tensor1) if edges[2].node else None
        edges = edges_to_compute(node)
        return (
            grad if edges[0].node else None,
            grad * (functions.full_like(tensor2, node.value) / tensor2) if edges[1].node else None,
            neg_mul(grad, mul_scalar(tensor1, node.value) / (tensor2 * tensor2)) if edges[2].node else None,
        )

    def release_variables(node):
        node.saved_tensor2 = node.saved_tensor1 = None
        node.released = True


class AddcmulBackward0(Node):
    saved_tensor2 = saved_tensor1 = None
    _saved_tensor2, _raw_saved_tensor2 = tensor_getters("saved_tensor2")
    _saved_tensor1, _raw_saved_tensor1 = tensor_getters("saved_tensor1")
    _saved_value = value_getter("value")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_tensor2, node.saved_tensor1])
            return (
                None,
                None,
                None,
            )
        edges = node.next_edges
        tensor2 = unpack(node, node.saved_tensor2) if edges[1].node else None
        tensor1 = unpack(node, node.saved_tensor1) if edges[2].node else None
        edges = edges_to_compute(node)
        return (
            grad if edges[0].node else None,
            grad * mul_scalar(tensor2, node.value) if edges[1].node else None,
            grad * mul_scalar(tensor1, node.value) if edges[2].node else None,
        )

    def release_variables(node):
        node.saved_tensor2 = node.saved_tensor1 = None
        node.released = True


class CeilBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class ClampBackward0(Node):
    saved_max = saved_min = saved_self = None
    _saved_max, _raw_saved_max = tensor_getters("saved_max")
    _saved_min, _raw_saved_min = tensor_getters("saved_min")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_max, node.saved_min, node.saved_self])
            return (
                None,
                None,
                None,
            )
        edges = node.next_edges
        max = unpack(node, node.saved_max) if edges[0].node or edges[1].node or edges[2].node else None
        min = unpack(node, node.saved_min) if edges[0].node or edges[1].node or edges[2].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node or edges[2].node else None
        edges = edges_to_compute(node)
        grad_max = (
            (where(self > max if min is None else (self > max).logical_or(max < min), grad, 0.0))
            if edges[2].node
            else None
        )
        grad_min = (
            (where(self < min if max is None else (self < min).logical_and(min < max), grad, 0.0))
            if edges[1].node
            else None
        )
        grad_self = where(clamp_mask(self, min, max), grad, 0.0) if edges[0].node else None
        return (
            grad_self,
            grad_min,
            grad_max,
        )

    def release_variables(node):
        node.saved_max = node.saved_min = node.saved_self = None
        node.released = True


class ClampBackward1(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_max = value_getter("max")
    _saved_min = value_getter("min")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (where(clamp_mask(self, node.min, node.max), grad, 0.0),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class ClampMaxBackward1(Node):
    saved_max = saved_self = None
    _saved_max, _raw_saved_max = tensor_getters("saved_max")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_max, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        max = unpack(node, node.saved_max) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        grad_max = where(self > max, grad, 0.0) if edges[1].node else None
        grad_self = where(self <= max, grad, 0.0) if edges[0].node else None
        return (
            grad_self,
            grad_max,
        )

    def release_variables(node):
        node.saved_max = node.saved_self = None
        node.released = True


class ClampMaxBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_max = value_getter("max")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (where(self <= node.max, grad, 0.0),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class ClampMinBackward1(Node):
    saved_min = saved_self = None
    _saved_min, _raw_saved_min = tensor_getters("saved_min")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_min, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        min = unpack(node, node.saved_min) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        grad_min = where(self < min, grad, 0.0) if edges[1].node else None
        grad_self = where(self >= min, grad, 0.0) if edges[0].node else None
        return (
            grad_self,
            grad_min,
        )

    def release_variables(node):
        node.saved_min = node.saved_self = None
        node.released = True


class ClampMinBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_min = value_getter("min")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (where(self >= node.min, grad, 0.0),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class CosBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad * -self.sin(),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class DivBackward0(Node):
    saved_other = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = neg_mul(grad, self / other / other) if edges[1].node else None
        grad_self = grad / other if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_self = None
        node.released = True


class DivBackward1(Node):
    _saved_other = value_getter("other")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (div_scalar(grad, node.other),)


class DivBackward2(Node):
    saved_other = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_rounding_mode = value_getter("rounding_mode")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = (
            (zeros_like(grad) if node.rounding_mode else neg_mul(grad, self / other / other)) if edges[1].node else None
        )
        grad_self = (zeros_like(grad) if node.rounding_mode else grad / other) if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_self = None
        node.released = True


class EluBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_alpha = value_getter("alpha")
    _saved_input_scale = value_getter("input_scale")
    _saved_scale = value_getter("scale")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.elu_backward(grad, node.alpha, node.scale, node.input_scale, False, self),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class EluBackward1(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_alpha = value_getter("alpha")
    _saved_input_scale = value_getter("input_scale")
    _saved_scale = value_getter("scale")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (functions.elu_backward(grad, node.alpha, node.scale, node.input_scale, True, result),)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class ErfBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (mul_scalar((-self.pow(2)).exp(), 2 / math.sqrt(math.pi)) * grad,)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class ExpBackward0(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (grad * result,)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class Exp2Backward0(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (mul_scalar(grad * result, math.log(2)),)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class Expm1Backward0(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (grad * add_scalar(result, 1),)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class FloorBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class FmodBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad,)


class FmodBackward1(Node):
    saved_other = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[1].node else None
        self = unpack(node, node.saved_self) if edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = neg_mul(grad, self.div(other, rounding_mode="trunc")) if edges[1].node else None
        grad_self = grad if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_self = None
        node.released = True


class GeluBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_approximate = value_getter("approximate")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.gelu_backward(grad, self, approximate=node.approximate),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class HardtanhBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_max_val = value_getter("max_val")
    _saved_min_val = value_getter("min_val")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.hardtanh_backward(grad, self, node.min_val, node.max_val),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class LeakyReluBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_negative_slope = value_getter("negative_slope")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.leaky_relu_backward(grad, self, node.negative_slope, False),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class LeakyReluBackward1(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_negative_slope = value_getter("negative_slope")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (functions.leaky_relu_backward(grad, result, node.negative_slope, True),)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class LerpBackward1(Node):
    saved_weight = saved_end = saved_self = None
    _saved_weight, _raw_saved_weight = tensor_getters("saved_weight")
    _saved_end, _raw_saved_end = tensor_getters("saved_end")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_weight, node.saved_end, node.saved_self])
            return (
                None,
                None,
                None,
            )
        edges = node.next_edges
        weight = unpack(node, node.saved_weight) if edges[0].node or edges[1].node else None
        end = unpack(node, node.saved_end) if edges[2].node else None
        self = unpack(node, node.saved_self) if edges[2].node else None
        edges = edges_to_compute(node)
        grad_end = grad * weight if edges[1].node else None
        grad_self = grad * rsub_scalar(1, weight) if edges[0].node else None
        grad_weight = grad * (end - self) if edges[2].node else None
        return (
            grad_self,
            grad_end,
            grad_weight,
        )

    def release_variables(node):
        node.saved_weight = node.saved_end = node.saved_self = None
        node.released = True


class LerpBackward0(Node):
    _saved_weight = value_getter("weight")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        grad_end = mul_scalar(grad, node.weight) if edges[1].node else None
        grad_self = mul_scalar(grad, 1 - node.weight) if edges[0].node else None
        return (
            grad_self,
            grad_end,
        )


class LogBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad / self,)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class Log10Backward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad / mul_scalar(self, math.log(10)),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class Log1PBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad / add_scalar(self, 1),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class Log2Backward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad / mul_scalar(self, math.log(2)),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class MaximumBackward0(Node):
    saved_other = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = halve_grad_of_ties(grad, self == other, self > other) if edges[1].node else None
        grad_self = halve_grad_of_ties(grad, self == other, self < other) if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_self = None
        node.released = True


class MinimumBackward0(Node):
    saved_other = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = halve_grad_of_ties(grad, self == other, self < other) if edges[1].node else None
        grad_self = halve_grad_of_ties(grad, self == other, self > other) if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_self = None
        node.released = True


class MulBackward0(Node):
    saved_other = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[0].node else None
        self = unpack(node, node.saved_self) if edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = grad * self if edges[1].node else None
        grad_self = grad * other if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_self = None
        node.released = True


class MulBackward1(Node):
    _saved_other = value_getter("other")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (mul_scalar(grad, node.other),)


class NegBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (-grad,)


class PowBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_exponent = value_getter("exponent")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (
            zeros_like(grad) if node.exponent == 0 else grad * mul_scalar(self.pow(node.exponent - 1), node.exponent),
        )

    def release_variables(node):
        node.saved_self = None
        node.released = True


class PowBackward1(Node):
    saved_exponent = saved_self = saved_result = None
    _saved_exponent, _raw_saved_exponent = tensor_getters("saved_exponent")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_result, _raw_saved_result = tensor_getters("saved_result")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_exponent, node.saved_self, node.saved_result])
            return (
                None,
                None,
            )
        edges = node.next_edges
        exponent = unpack(node, node.saved_exponent) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        result = unpack(node, node.saved_result) if edges[1].node else None
        edges = edges_to_compute(node)
        grad_exponent = pow_backward_exponent(grad, self, exponent, result) if edges[1].node else None
        grad_self = (
            where(exponent == 0.0, 0.0, grad * (exponent * self.pow(sub_scalar(exponent, 1))))
            if edges[0].node
            else None
        )
        return (
            grad_self,
            grad_exponent,
        )

    def release_variables(node):
        node.saved_exponent = node.saved_self = node.saved_result = None
        node.released = True


class PowBackward2(Node):
    saved_exponent = saved_result = None
    _saved_exponent, _raw_saved_exponent = tensor_getters("saved_exponent")
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self = value_getter("self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_exponent, node.saved_result])
            return (None,)
        exponent = unpack(node, node.saved_exponent)
        result = unpack(node, node.saved_result)
        return (pow_backward_exponent(grad, node.self, exponent, result),)

    def release_variables(node):
        node.saved_exponent = node.saved_result = None
        node.released = True


class ReciprocalBackward0(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (neg_mul(grad, result * result),)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class ReluBackward0(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (functions.threshold_backward(grad, result, 0),)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class RemainderBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad,)


class RemainderBackward1(Node):
    saved_other = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[1].node else None
        self = unpack(node, node.saved_self) if edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = neg_mul(grad, self.div(other, rounding_mode="floor")) if edges[1].node else None
        grad_self = grad if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_self = None
        node.released = True


class RoundBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class RoundBackward1(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class RsqrtBackward0(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (mul_scalar(grad, -0.5) * result.pow(3),)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class RsubBackward0(Node):
    _saved_alpha = value_getter("alpha")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        grad_other = grad if edges[1].node else None
        grad_self = maybe_multiply(-grad, node.alpha) if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )


class RsubBackward1(Node):
    _saved_alpha = value_getter("alpha")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (maybe_multiply(-grad, node.alpha),)


class SigmoidBackward0(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (functions.sigmoid_backward(grad, result),)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class SignBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class SgnBackward0(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (sgn_backward(self, grad, result),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class SiluBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (
            grad * (sigmoid := self.sigmoid()) * add_scalar(self * rsub_scalar(1.0, sigmoid), 1.0)
            if local.grad_enabled
            else functions.silu_backward(grad, self),
        )

    def release_variables(node):
        node.saved_self = None
        node.released = True


class SinBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad * self.cos(),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class SoftplusBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_beta = value_getter("beta")
    _saved_threshold = value_getter("threshold")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.softplus_backward(grad, self, node.beta, node.threshold),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class SqrtBackward0(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (grad / mul_scalar(result, 2),)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class SubBackward0(Node):
    _saved_alpha = value_getter("alpha")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        grad_other = maybe_multiply(-grad, node.alpha) if edges[1].node else None
        grad_self = grad if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )


class SubBackward1(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad,)


class TanBackward0(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (grad * add_scalar(result.pow(2), 1),)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class TanhBackward0(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (functions.tanh_backward(grad, result),)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class ThresholdBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_threshold = value_getter("threshold")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.threshold_backward(grad, self, node.threshold),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class ThresholdBackward1(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_threshold = value_getter("threshold")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.threshold_backward(grad, self, node.threshold),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class TruncBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (zeros_like(grad),)


class WhereBackward0(Node):
    saved_condition = None
    _saved_condition, _raw_saved_condition = tensor_getters("saved_condition")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_condition])
            return (
                None,
                None,
            )
        edges = node.next_edges
        condition = unpack(node, node.saved_condition) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = where(condition, 0.0, grad) if edges[1].node else None
        grad_self = where(condition, grad, 0.0) if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_condition = None
        node.released = True


class XlogyBackward0(Node):
    saved_other = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = grad * self / other if edges[1].node else None
        grad_self = functions.xlogy(grad, other).masked_fill((self == 0) & (other <= 0), 0) if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_self = None
        node.released = True


class XlogyBackward1(Node):
    saved_other = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self = value_getter("self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other])
            return (None,)
        other = unpack(node, node.saved_other)
        return (grad * node.self / other,)

    def release_variables(node):
        node.saved_other = None
        node.released = True


class XlogyBackward2(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_other = value_getter("other")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (
            functions.xlogy(grad, node.other)
            if node.other > 0
            else functions.xlogy(grad, node.other).masked_fill(self == 0, 0),
        )

    def release_variables(node):
        node.saved_self = None
        node.released = True


class AcosBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad * -add_scalar(-self * self, 1).rsqrt(),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class AcoshBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad * sub_scalar(self * self, 1).rsqrt(),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class AcoshBackward1(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (not_implemented("inplace version of acosh"),)


class AsinBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad * add_scalar(-self * self, 1).rsqrt(),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class AsinhBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad * add_scalar(self.pow(2), 1).rsqrt(),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class AsinhBackward1(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (not_implemented("inplace version of asinh"),)


class AtanBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad / add_scalar(self * self, 1),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class AtanhBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (mul_scalar(grad, 1) / rsub_scalar(1, self.pow(2)),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class AtanhBackward1(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (not_implemented("inplace version of atanh"),)


class CoshBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad * self.sinh(),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class SinhBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad * self.cosh(),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class ErfcBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (mul_scalar(functions.exp(-self.pow(2)), -2.0 / math.sqrt(math.pi)) * grad,)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class SincBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (
            where(
                (squared_pi := mul_scalar(self * self, math.pi)) == 0,
                grad.new_zeros(()),
                grad * (((pi := mul_scalar(self, math.pi)) * pi.cos() - pi.sin()) / squared_pi),
            ),
        )

    def release_variables(node):
        node.saved_self = None
        node.released = True


class LgammaBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad * self.digamma(),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class MvlgammaBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_p = int_getter("p")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (
            grad
            * (functions.arange((1 - node.p) / 2, 0.5, 0.5, dtype=node.self_dtype) + self.unsqueeze(-1))
            .digamma()
            .sum(-1),
        )

    def release_variables(node):
        node.saved_self = None
        node.released = True


class DigammaBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad * functions.polygamma(1, self),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class ErfinvBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (mul_scalar(self.erfinv().pow(2).exp(), 0.5 * math.sqrt(math.pi)) * grad,)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class FracBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad,)


class Atan2Backward0(Node):
    saved_other = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_self])
            return (
                None,
                None,
            )
        other = unpack(node, node.saved_other)
        self = unpack(node, node.saved_self)
        return atan2_backward(grad, self, other)

    def release_variables(node):
        node.saved_other = node.saved_self = None
        node.released = True


class LdexpBackward0(Node):
    saved_other = saved_result = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_result, _raw_saved_result = tensor_getters("saved_result")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_result])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[0].node else None
        result = unpack(node, node.saved_result) if edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = mul_scalar(grad * result, math.log(2)) if edges[1].node else None
        grad_self = grad * functions.pow(2.0, other) if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_result = None
        node.released = True


class HypotBackward0(Node):
    saved_result = saved_self = saved_other = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_other, _raw_saved_other = tensor_getters("saved_other")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self, node.saved_other])
            return (
                None,
                None,
            )
        edges = node.next_edges
        result = unpack(node, node.saved_result) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[0].node else None
        other = unpack(node, node.saved_other) if edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = grad * other / result if edges[1].node else None
        grad_self = grad * self / result if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_result = node.saved_self = node.saved_other = None
        node.released = True


class CopysignBackward0(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        result = unpack(node, node.saved_result) if edges[0].node else None
        self = unpack(node, node.saved_self) if edges[0].node else None
        edges = edges_to_compute(node)
        grad_other = grad.new_zeros(node.other_info) if edges[1].node else None
        grad_self = grad * (result / self).masked_fill(self == 0, 0) if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class CopysignBackward1(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (grad * (result / self).masked_fill(self == 0, 0),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class LogaddexpBackward0(Node):
    saved_other = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = grad / add_scalar(functions.exp(self - other), 1) if edges[1].node else None
        grad_self = grad / add_scalar(functions.exp(other - self), 1) if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_self = None
        node.released = True


class Logaddexp2Backward0(Node):
    saved_other = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = grad / add_scalar(functions.pow(2.0, self - other), 1) if edges[1].node else None
        grad_self = grad / add_scalar(functions.pow(2.0, other - self), 1) if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_self = None
        node.released = True


class FmaxBackward0(Node):
    saved_other = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = grad.masked_fill((self >= other).logical_or_(other.isnan()), 0) if edges[1].node else None
        grad_self = (
            grad.masked_fill((self >= other).logical_or_(other.isnan()).logical_not_(), 0) if edges[0].node else None
        )
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_self = None
        node.released = True


class FminBackward0(Node):
    saved_other = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = grad.masked_fill((self <= other).logical_or_(other.isnan()), 0) if edges[1].node else None
        grad_self = (
            grad.masked_fill((self <= other).logical_or_(other.isnan()).logical_not_(), 0) if edges[0].node else None
        )
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_self = None
        node.released = True


class NanToNumBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad * self.isfinite(),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class LogitBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_eps = value_getter("eps")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (
            where(
                (self >= (node.eps or 0)) & (self <= 1 - (node.eps or 0)),
                grad / (self * rsub_scalar(1.0, self)),
                grad.new_full((), math.nan if node.eps is None else 0),
            ),
        )

    def release_variables(node):
        node.saved_self = None
        node.released = True


class PolygammaBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_n = int_getter("n")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad * functions.polygamma(node.n + 1, self),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class PolygammaBackward1(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_n = int_getter("n")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (grad * functions.polygamma(node.n + 1, self),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class Deg2RadBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (mul_scalar(grad, math.pi / 180),)


class Rad2DegBackward0(Node):
    def apply(node, grad):
        if grad is None:
            return (None,)
        return (mul_scalar(grad, 180 / math.pi),)


class CeluBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_alpha = value_getter("alpha")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.elu_backward(grad, node.alpha, 1, 1.0 / node.alpha, False, self),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class CeluBackward1(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_alpha = value_getter("alpha")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (functions.elu_backward(grad, node.alpha, 1, 1.0 / node.alpha, True, result),)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class HardsigmoidBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.hardsigmoid_backward(grad, self),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class HardswishBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (in_float32(hardswish_backward, grad, self),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class MishBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (in_float32(mish_backward, grad, self),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class HardshrinkBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_lambd = value_getter("lambd")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.hardshrink_backward(grad, self, node.lambd),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class SoftshrinkBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_lambd = value_getter("lambd")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.softshrink_backward(grad, self, node.lambd),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class LogSigmoidBackward0(Node):
    saved_buffer = saved_self = None
    _saved_buffer, _raw_saved_buffer = tensor_getters("saved_buffer")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_buffer, node.saved_self])
            return (None,)
        grad = grads[0]
        buffer = unpack(node, node.saved_buffer)
        self = unpack(node, node.saved_self)
        return (functions.log_sigmoid_backward(grad, self, buffer),)

    def release_variables(node):
        node.saved_buffer = node.saved_self = None
        node.released = True


class GluBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (glu_backward(grad, self, node.dim),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class PreluKernelBackward0(Node):
    saved_self = saved_weight = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_weight, _raw_saved_weight = tensor_getters("saved_weight")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self, node.saved_weight])
            return (
                None,
                None,
            )
        edges = node.next_edges
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        weight = unpack(node, node.saved_weight) if edges[0].node else None
        edges = edges_to_compute(node)
        return (
            where(self > 0, grad, weight * grad) if edges[0].node else None,
            where(self > 0, 0.0, self * grad) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_self = node.saved_weight = None
        node.released = True


class RreluWithNoiseBackward0(Node):
    saved_noise = saved_self = None
    _saved_noise, _raw_saved_noise = tensor_getters("saved_noise")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_lower = value_getter("lower")
    _saved_training = value_getter("training")
    _saved_upper = value_getter("upper")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_noise, node.saved_self])
            return (None,)
        noise = unpack(node, node.saved_noise)
        self = unpack(node, node.saved_self)
        return (functions.rrelu_with_noise_backward(grad, self, noise, node.lower, node.upper, node.training, False),)

    def release_variables(node):
        node.saved_noise = node.saved_self = None
        node.released = True


class RreluWithNoiseBackward1(Node):
    saved_noise = saved_result = None
    _saved_noise, _raw_saved_noise = tensor_getters("saved_noise")
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_lower = value_getter("lower")
    _saved_training = value_getter("training")
    _saved_upper = value_getter("upper")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_noise, node.saved_result])
            return (None,)
        noise = unpack(node, node.saved_noise)
        result = unpack(node, node.saved_result)
        return (functions.rrelu_with_noise_backward(grad, result, noise, node.lower, node.upper, node.training, True),)

    def release_variables(node):
        node.saved_noise = node.saved_result = None
        node.released = True


class RreluWithNoiseBackwardBackward0(Node):
    saved_noise = saved_self = None
    _saved_noise, _raw_saved_noise = tensor_getters("saved_noise")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_lower = value_getter("lower")
    _saved_training = value_getter("training")
    _saved_upper = value_getter("upper")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_noise, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        noise = unpack(node, node.saved_noise) if edges[0].node else None
        self = unpack(node, node.saved_self) if edges[0].node else None
        edges = edges_to_compute(node)
        return (
            functions.rrelu_with_noise_backward(grad, self, noise, node.lower, node.upper, node.training, False)
            if edges[0].node
            else None,
            zeros_like(grad) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_noise = node.saved_self = None
        node.released = True


class CatBackward0(Node):
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            return [None] * len(node.next_edges)
        return cat_backward(grad, node.tensors_shapes, node.tensors_dtypes, node.dim)


class EmbeddingBackward0(Node):
    saved_indices = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_padding_idx = int_getter("padding_idx")
    _saved_scale_grad_by_freq = value_getter("scale_grad_by_freq")
    _saved_sparse = value_getter("sparse")
    _saved_weight_sym_argsize_0 = value_getter("weight_sym_argsize_0")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_indices])
            return (None,)
        indices = unpack(node, node.saved_indices)
        return (
            functions.embedding_backward(
                grad, indices, node.weight_sym_argsize_0, node.padding_idx, node.scale_grad_by_freq, node.sparse
            ),
        )

    def release_variables(node):
        node.saved_indices = None
        node.released = True


class FlipBackward0(Node):
    _saved_dims = int_getter("dims")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.flip(node.dims),)


class GatherBackward0(Node):
    saved_index = saved_self = None
    _saved_index, _raw_saved_index = tensor_getters("saved_index")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")
    _saved_sparse_grad = value_getter("sparse_grad")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_index, node.saved_self])
            return (None,)
        index = unpack(node, node.saved_index)
        self = unpack(node, node.saved_self)
        return (gather_backward(grad, self, node.dim, index, node.sparse_grad),)

    def release_variables(node):
        node.saved_index = node.saved_self = None
        node.released = True


class IndexBackward0(Node):
    saved_indices = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_indices])
            return (None,)
        indices = unpack(node, node.saved_indices)
        return (index_backward(grad, node.self_shape, indices),)

    def release_variables(node):
        node.saved_indices = None
        node.released = True


class IndexAddBackward0(Node):
    saved_index = saved_source = None
    _saved_index, _raw_saved_index = tensor_getters("saved_index")
    _saved_source, _raw_saved_source = tensor_getters("saved_source")
    _saved_alpha = value_getter("alpha")
    _saved_dim = int_getter("dim")
    _saved_source_dim = value_getter("source_dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_index, node.saved_source])
            return (
                None,
                None,
            )
        edges = node.next_edges
        index = unpack(node, node.saved_index) if edges[1].node else None
        source = unpack(node, node.saved_source) if edges[1].node else None
        edges = edges_to_compute(node)
        return (
            grad if edges[0].node else None,
            (
                maybe_multiply(
                    grad.index_select(node.dim, index).expand_as(source)
                    if node.source_dim > 0
                    else grad.index_select(node.dim, index.squeeze(0)),
                    node.alpha,
                )
            )
            if edges[1].node
            else None,
        )

    def release_variables(node):
        node.saved_index = node.saved_source = None
        node.released = True


class IndexPutBackward0(Node):
    saved_indices = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_accumulate = value_getter("accumulate")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_indices])
            return (
                None,
                None,
            )
        edges = node.next_edges
        indices = unpack(node, node.saved_indices) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        return (
            (grad if node.accumulate else functions.index_put_op(grad, indices, grad.new_zeros(())))
            if edges[0].node
            else None,
            functions.index_Tensor_op(grad, indices) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_indices = None
        node.released = True


class IndexPutImplBackward0(Node):
    saved_indices = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_accumulate = value_getter("accumulate")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_indices])
            return (
                None,
                None,
            )
        edges = node.next_edges
        indices = unpack(node, node.saved_indices) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        return (
            (grad if node.accumulate else functions.index_put_op(grad, indices, grad.new_zeros(())))
            if edges[0].node
            else None,
            functions.index_Tensor_op(grad, indices) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_indices = None
        node.released = True


class IndexSelectBackward0(Node):
    saved_index = None
    _saved_index, _raw_saved_index = tensor_getters("saved_index")
    _saved_dim = int_getter("dim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_index])
            return (None,)
        index = unpack(node, node.saved_index)
        return (functions.index_select_backward(grad, node.self_shape, node.dim, index),)

    def release_variables(node):
        node.saved_index = None
        node.released = True


class MaskedFillBackward0(Node):
    saved_mask = None
    _saved_mask, _raw_saved_mask = tensor_getters("saved_mask")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_mask])
            return (None,)
        mask = unpack(node, node.saved_mask)
        return (grad.masked_fill(mask, 0),)

    def release_variables(node):
        node.saved_mask = None
        node.released = True


class MaskedFillBackward1(Node):
    saved_mask = None
    _saved_mask, _raw_saved_mask = tensor_getters("saved_mask")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_mask])
            return (
                None,
                None,
            )
        edges = node.next_edges
        mask = unpack(node, node.saved_mask) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        return (
            grad.masked_fill(mask, 0) if edges[0].node else None,
            (where(mask, grad, 0.0).sum() if local.modes else grad.masked_select(mask).sum())
            if edges[1].node
            else None,
        )

    def release_variables(node):
        node.saved_mask = None
        node.released = True


class RepeatBackward0(Node):
    _saved_repeats = int_getter("repeats")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (repeat_backward(grad, node.repeats, node.self_shape),)


class RollBackward0(Node):
    _saved_dims = int_getter("dims")
    _saved_shifts = int_getter("shifts")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.roll([-shift for shift in node.shifts], node.dims),)


class ScatterBackward0(Node):
    saved_index = None
    _saved_index, _raw_saved_index = tensor_getters("saved_index")
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_index])
            return (
                None,
                None,
            )
        edges = node.next_edges
        index = unpack(node, node.saved_index) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        return (
            grad.scatter(node.dim, index, 0) if edges[0].node else None,
            grad.gather(node.dim, index) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_index = None
        node.released = True


class ScatterBackward1(Node):
    saved_index = None
    _saved_index, _raw_saved_index = tensor_getters("saved_index")
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_index])
            return (None,)
        index = unpack(node, node.saved_index)
        return (grad.scatter(node.dim, index, 0),)

    def release_variables(node):
        node.saved_index = None
        node.released = True


class ScatterAddBackward0(Node):
    saved_index = None
    _saved_index, _raw_saved_index = tensor_getters("saved_index")
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_index])
            return (
                None,
                None,
            )
        edges = node.next_edges
        index = unpack(node, node.saved_index) if edges[1].node else None
        edges = edges_to_compute(node)
        return (
            grad if edges[0].node else None,
            grad.gather(node.dim, index) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_index = None
        node.released = True


class StackBackward0(Node):
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            return [None] * len(node.next_edges)
        return stack_backward(grad, node.tensors_dtypes, node.dim)


class TrilBackward0(Node):
    _saved_diagonal = int_getter("diagonal")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.tril(node.diagonal),)


class TriuBackward0(Node):
    _saved_diagonal = int_getter("diagonal")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.triu(node.diagonal),)


class PixelShuffleBackward0(Node):
    _saved_upscale_factor = int_getter("upscale_factor")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.pixel_unshuffle(grad, node.upscale_factor),)


class PixelUnshuffleBackward0(Node):
    _saved_downscale_factor = int_getter("downscale_factor")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.pixel_shuffle(grad, node.downscale_factor),)


class LogSoftmaxBackward0(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (functions._log_softmax_backward_data(grad, result, node.dim, node.self_dtype),)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class SafeSoftmaxBackward0(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (functions._softmax_backward_data(grad, result, node.dim, node.self_dtype),)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class SoftmaxBackward0(Node):
    saved_result = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result])
            return (None,)
        result = unpack(node, node.saved_result)
        return (functions._softmax_backward_data(grad, result, node.dim, node.self_dtype),)

    def release_variables(node):
        node.saved_result = None
        node.released = True


class AmaxBackward0(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (scale_grad_by_count(grad, self, result, node.dim, node.keepdim),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class AminBackward0(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (scale_grad_by_count(grad, self, result, node.dim, node.keepdim),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class CumsumBackward0(Node):
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            grad if grad.dim() == 0 or grad.numel() <= 1 else grad.flip([node.dim]).cumsum(node.dim).flip([node.dim]),
        )


class PutBackward0(Node):
    saved_index = saved_source = None
    _saved_index, _raw_saved_index = tensor_getters("saved_index")
    _saved_source, _raw_saved_source = tensor_getters("saved_source")
    _saved_accumulate = value_getter("accumulate")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_index, node.saved_source])
            return (
                None,
                None,
            )
        edges = node.next_edges
        index = unpack(node, node.saved_index) if edges[0].node or edges[1].node else None
        source = unpack(node, node.saved_source) if edges[1].node else None
        edges = edges_to_compute(node)
        return (
            (grad if node.accumulate else grad.put(index, grad.new_zeros(node.source_info), False))
            if edges[0].node
            else None,
            grad.take(index).reshape_as(source) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_index = node.saved_source = None
        node.released = True


class LogcumsumexpBackward0(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (logcumsumexp_backward(grad, self, result, node.dim),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class LogsumexpBackward0(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (logsumexp_backward(grad, self, result, node.dim, node.keepdim),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class MaxBackward1(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (evenly_distribute_backward(grad, self, result),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class MaxBackward0(Node):
    saved_indices = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_indices])
            return (None,)
        grad = grads[0]
        indices = unpack(node, node.saved_indices)
        return (
            functions.value_selecting_reduction_backward(
                grad, node.dim, detach_result(indices), node.self_shape, node.keepdim
            ),
        )

    def release_variables(node):
        node.saved_indices = None
        node.released = True


class MeanBackward0(Node):
    _saved_self_sym_numel = value_getter("self_numel")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (div_scalar(grad.expand(node.self_shape), node.self_numel),)


class MeanBackward1(Node):
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")
    _saved_self_sym_numel = value_getter("self_numel")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (mean_backward(grad, node.self_shape, node.dim, node.self_numel, node.keepdim),)


class MinBackward1(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (evenly_distribute_backward(grad, self, result),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class MinBackward0(Node):
    saved_indices = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_indices])
            return (None,)
        grad = grads[0]
        indices = unpack(node, node.saved_indices)
        return (
            functions.value_selecting_reduction_backward(
                grad, node.dim, detach_result(indices), node.self_shape, node.keepdim
            ),
        )

    def release_variables(node):
        node.saved_indices = None
        node.released = True


class ProdBackward0(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (prod_backward(grad, self.to(grad.dtype), result),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class ProdBackward1(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (prod_backward(grad, self.to(grad.dtype), result, node.dim, node.keepdim),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class StdBackward0(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_correction = value_getter("correction")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (std_backward(grad, self, result, node.dim, node.correction, node.keepdim),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class StdMeanBackward0(Node):
    saved_result0 = saved_self = None
    _saved_result0, _raw_saved_result0 = tensor_getters("saved_result0")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_correction = value_getter("correction")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_result0, node.saved_self])
            return (None,)
        result0 = unpack(node, node.saved_result0)
        self = unpack(node, node.saved_self)
        return (
            add_gradient_of_mean(
                None
                if grads[0] is None
                else std_backward(grads[0], self, result0, node.dim, node.correction, node.keepdim),
                grads[1],
                self,
                node.dim,
                node.keepdim,
            ),
        )

    def release_variables(node):
        node.saved_result0 = node.saved_self = None
        node.released = True


class SumBackward0(Node):
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.expand(node.self_shape),)


class SumBackward1(Node):
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (sum_backward(grad, node.self_shape, node.dim, node.keepdim),)


class VarBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_correction = value_getter("correction")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (var_backward(grad, self, node.dim, node.correction, node.keepdim),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class VarMeanBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_correction = value_getter("correction")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (
            add_gradient_of_mean(
                None if grads[0] is None else var_backward(grads[0], self, node.dim, node.correction, node.keepdim),
                grads[1],
                self,
                node.dim,
                node.keepdim,
            ),
        )

    def release_variables(node):
        node.saved_self = None
        node.released = True


class CumprodBackward0(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (cumprod_backward(grad.to(node.self_dtype), self, node.dim, result),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class CummaxBackward0(Node):
    saved_indices = saved_self = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_indices, node.saved_self])
            return (None,)
        grad = grads[0]
        indices = unpack(node, node.saved_indices)
        self = unpack(node, node.saved_self)
        return (functions.empty_like(self).zero_().scatter_add_(node.dim, indices, grad) if grad.dim() else grad,)

    def release_variables(node):
        node.saved_indices = node.saved_self = None
        node.released = True


class CumminBackward0(Node):
    saved_indices = saved_self = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_indices, node.saved_self])
            return (None,)
        grad = grads[0]
        indices = unpack(node, node.saved_indices)
        self = unpack(node, node.saved_self)
        return (functions.empty_like(self).zero_().scatter_add_(node.dim, indices, grad) if grad.dim() else grad,)

    def release_variables(node):
        node.saved_indices = node.saved_self = None
        node.released = True


class KthvalueBackward0(Node):
    saved_indices = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_indices])
            return (None,)
        grad = grads[0]
        indices = unpack(node, node.saved_indices)
        return (
            functions.value_selecting_reduction_backward(
                grad, node.dim, detach_result(indices), node.self_shape, node.keepdim
            ),
        )

    def release_variables(node):
        node.saved_indices = None
        node.released = True


class ModeBackward0(Node):
    saved_indices = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_indices])
            return (None,)
        grad = grads[0]
        indices = unpack(node, node.saved_indices)
        return (
            functions.value_selecting_reduction_backward(
                grad, node.dim, detach_result(indices), node.self_shape, node.keepdim
            ),
        )

    def release_variables(node):
        node.saved_indices = None
        node.released = True


class NansumBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (
            sum_backward(grad, self.size(), node.dim, node.keepdim).to(node.self_dtype) * self.isnan().logical_not(),
        )

    def release_variables(node):
        node.saved_self = None
        node.released = True


class AminmaxBackward0(Node):
    saved_max = saved_min = saved_self = None
    _saved_max, _raw_saved_max = tensor_getters("saved_max")
    _saved_min, _raw_saved_min = tensor_getters("saved_min")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_max, node.saved_min, node.saved_self])
            return (None,)
        max = unpack(node, node.saved_max)
        min = unpack(node, node.saved_min)
        self = unpack(node, node.saved_self)
        return (
            scale_grad_by_count(
                functions.zeros_like(input=min) if grads[0] is None else grads[0],
                self,
                min,
                [] if node.dim is None else [node.dim],
                node.keepdim,
            )
            + scale_grad_by_count(
                functions.zeros_like(input=max) if grads[1] is None else grads[1],
                self,
                max,
                [] if node.dim is None else [node.dim],
                node.keepdim,
            ),
        )

    def release_variables(node):
        node.saved_max = node.saved_min = node.saved_self = None
        node.released = True


class DiagEmbedBackward0(Node):
    _saved_dim1 = int_getter("dim1")
    _saved_dim2 = int_getter("dim2")
    _saved_offset = int_getter("offset")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.diagonal(node.offset, node.dim1, node.dim2),)


class Rot90Backward0(Node):
    _saved_dims = int_getter("dims")
    _saved_k = int_getter("k")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.rot90(grad, -node.k, node.dims),)


class TakeBackward0(Node):
    saved_index = saved_self = None
    _saved_index, _raw_saved_index = tensor_getters("saved_index")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_index, node.saved_self])
            return (None,)
        index = unpack(node, node.saved_index)
        self = unpack(node, node.saved_self)
        return (backward_of(functions.take_op, grad, [self], self, index)[0],)

    def release_variables(node):
        node.saved_index = node.saved_self = None
        node.released = True


class VdotBackward0(Node):
    saved_other = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[0].node else None
        self = unpack(node, node.saved_self) if edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = grad * self if edges[1].node else None
        grad_self = grad * other if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_self = None
        node.released = True


class DistBackward0(Node):
    saved_other = saved_result = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_p = value_getter("p")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_result, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[0].node or edges[1].node else None
        result = unpack(node, node.saved_result) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = -norm_backward(grad, self - other, node.p, result, None, False) if edges[1].node else None
        grad_self = norm_backward(grad, self - other, node.p, result, None, False) if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_result = node.saved_self = None
        node.released = True


class AddmvBackward0(Node):
    saved_vec = saved_mat = None
    _saved_vec, _raw_saved_vec = tensor_getters("saved_vec")
    _saved_mat, _raw_saved_mat = tensor_getters("saved_mat")
    _saved_alpha = value_getter("alpha")
    _saved_beta = value_getter("beta")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_vec, node.saved_mat])
            return (
                None,
                None,
                None,
            )
        edges = node.next_edges
        vec = unpack(node, node.saved_vec) if edges[1].node else None
        mat = unpack(node, node.saved_mat) if edges[2].node else None
        edges = edges_to_compute(node)
        grad_mat = maybe_multiply(grad.ger(vec), node.alpha) if edges[1].node else None
        grad_self = maybe_multiply(grad, node.beta) if edges[0].node else None
        grad_vec = maybe_multiply(mat.t().mv(grad), node.alpha) if edges[2].node else None
        return (
            grad_self,
            grad_mat,
            grad_vec,
        )

    def release_variables(node):
        node.saved_vec = node.saved_mat = None
        node.released = True


class AddrBackward0(Node):
    saved_vec2 = saved_vec1 = None
    _saved_vec2, _raw_saved_vec2 = tensor_getters("saved_vec2")
    _saved_vec1, _raw_saved_vec1 = tensor_getters("saved_vec1")
    _saved_alpha = value_getter("alpha")
    _saved_beta = value_getter("beta")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_vec2, node.saved_vec1])
            return (
                None,
                None,
                None,
            )
        edges = node.next_edges
        vec2 = unpack(node, node.saved_vec2) if edges[1].node else None
        vec1 = unpack(node, node.saved_vec1) if edges[2].node else None
        edges = edges_to_compute(node)
        return (
            maybe_multiply(grad, node.beta) if edges[0].node else None,
            maybe_multiply(grad.mv(vec2), node.alpha) if edges[1].node else None,
            maybe_multiply(grad.t().mv(vec1), node.alpha) if edges[2].node else None,
        )

    def release_variables(node):
        node.saved_vec2 = node.saved_vec1 = None
        node.released = True


class RenormBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")
    _saved_maxnorm = value_getter("maxnorm")
    _saved_p = value_getter("p")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (renorm_backward(grad, self, node.p, node.dim, node.maxnorm),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class LinalgCrossBackward0(Node):
    saved_other = saved_self = None
    _saved_other, _raw_saved_other = tensor_getters("saved_other")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_other, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        other = unpack(node, node.saved_other) if edges[0].node else None
        self = unpack(node, node.saved_self) if edges[1].node else None
        edges = edges_to_compute(node)
        grad_other = functions.linalg_cross(grad, self, dim=node.dim) if edges[1].node else None
        grad_self = functions.linalg_cross(other, grad, dim=node.dim) if edges[0].node else None
        return (
            grad_self,
            grad_other,
        )

    def release_variables(node):
        node.saved_other = node.saved_self = None
        node.released = True


class IndexCopyBackward0(Node):
    saved_index = saved_source = None
    _saved_index, _raw_saved_index = tensor_getters("saved_index")
    _saved_source, _raw_saved_source = tensor_getters("saved_source")
    _saved_dim = int_getter("dim")
    _saved_source_dim = value_getter("source_dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_index, node.saved_source])
            return (
                None,
                None,
            )
        edges = node.next_edges
        index = unpack(node, node.saved_index) if edges[0].node or edges[1].node else None
        source = unpack(node, node.saved_source) if edges[1].node else None
        edges = edges_to_compute(node)
        return (
            grad.index_fill(node.dim, index, 0) if edges[0].node else None,
            (
                grad.index_select(node.dim, index).expand_as(source)
                if node.source_dim > 0
                else grad.index_select(node.dim, index.squeeze(0))
            )
            if edges[1].node
            else None,
        )

    def release_variables(node):
        node.saved_index = node.saved_source = None
        node.released = True


class IndexFillBackward0(Node):
    saved_index = None
    _saved_index, _raw_saved_index = tensor_getters("saved_index")
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_index])
            return (None,)
        index = unpack(node, node.saved_index)
        return (grad.index_fill(node.dim, index, 0),)

    def release_variables(node):
        node.saved_index = None
        node.released = True


class IndexFillBackward1(Node):
    saved_index = None
    _saved_index, _raw_saved_index = tensor_getters("saved_index")
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_index])
            return (
                None,
                None,
            )
        edges = node.next_edges
        index = unpack(node, node.saved_index) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        return (
            grad.index_fill(node.dim, index, 0) if edges[0].node else None,
            (
                (grad * zeros_like(grad).index_fill(node.dim, index, 1)).sum()
                if local.modes
                else grad.index_select(node.dim, functions._unique2(index, False)[0]).sum()
            )
            if edges[1].node
            else None,
        )

    def release_variables(node):
        node.saved_index = None
        node.released = True


class MaskedScatterBackward0(Node):
    saved_mask = None
    _saved_mask, _raw_saved_mask = tensor_getters("saved_mask")
    _saved_source_sym_sizes = value_getter("source_shape")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_mask])
            return (
                None,
                None,
            )
        edges = node.next_edges
        mask = unpack(node, node.saved_mask) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        return (
            grad.masked_fill(mask, 0) if edges[0].node else None,
            functions.masked_scatter_backward(grad, mask, node.source_shape) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_mask = None
        node.released = True


class MaskedScatterBackwardBackward0(Node):
    saved_mask = None
    _saved_mask, _raw_saved_mask = tensor_getters("saved_mask")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_mask])
            return (None,)
        mask = unpack(node, node.saved_mask)
        return (grad.new_zeros(node.grad_output_info).masked_scatter(mask, grad),)

    def release_variables(node):
        node.saved_mask = None
        node.released = True


class MaskedSelectBackward0(Node):
    saved_mask = saved_self = None
    _saved_mask, _raw_saved_mask = tensor_getters("saved_mask")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_mask, node.saved_self])
            return (None,)
        mask = unpack(node, node.saved_mask)
        self = unpack(node, node.saved_self)
        return (functions.masked_select_backward(grad, self, mask),)

    def release_variables(node):
        node.saved_mask = node.saved_self = None
        node.released = True


class ScatterReduceBackward0(Node):
    saved_index = saved_result = saved_self = saved_src = None
    _saved_index, _raw_saved_index = tensor_getters("saved_index")
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_src, _raw_saved_src = tensor_getters("saved_src")
    _saved_dim = int_getter("dim")
    _saved_include_self = value_getter("include_self")
    _saved_reduce = value_getter("reduce")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_index, node.saved_result, node.saved_self, node.saved_src])
            return (
                None,
                None,
            )
        edges = node.next_edges
        index = unpack(node, node.saved_index) if edges[0].node or edges[1].node else None
        result = unpack(node, node.saved_result) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        src = unpack(node, node.saved_src) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        return (
            scatter_reduce_backward_self(grad, self, node.dim, index, src, node.reduce, node.include_self, result)
            if edges[0].node
            else None,
            scatter_reduce_backward_src(grad, self, node.dim, index, src, node.reduce, node.include_self, result)
            if edges[1].node
            else None,
        )

    def release_variables(node):
        node.saved_index = node.saved_result = node.saved_self = node.saved_src = None
        node.released = True


class LinalgSvdBackward0(Node):
    saved_S = saved_U = saved_Vh = None
    _saved_S, _raw_saved_S = tensor_getters("saved_S")
    _saved_U, _raw_saved_U = tensor_getters("saved_U")
    _saved_Vh, _raw_saved_Vh = tensor_getters("saved_Vh")
    _saved_S_sym_argsize_minus_1 = value_getter("S_sym_argsize_minus_1")
    _saved_full_matrices = value_getter("full_matrices")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_S, node.saved_U, node.saved_Vh])
            return (None,)
        S = unpack(node, node.saved_S)
        U = unpack(node, node.saved_U)
        Vh = unpack(node, node.saved_Vh)
        return (svd_backward(grads, node.full_matrices, U, S, Vh, node.S_sym_argsize_minus_1),)

    def release_variables(node):
        node.saved_S = node.saved_U = node.saved_Vh = None
        node.released = True


class LinalgDetBackward0(Node):
    saved_A = saved_LU = saved_pivots = saved_result = None
    _saved_A, _raw_saved_A = tensor_getters("saved_A")
    _saved_LU, _raw_saved_LU = tensor_getters("saved_LU")
    _saved_pivots, _raw_saved_pivots = tensor_getters("saved_pivots")
    _saved_result, _raw_saved_result = tensor_getters("saved_result")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_A, node.saved_LU, node.saved_pivots, node.saved_result])
            return (None,)
        grad = grads[0]
        A = unpack(node, node.saved_A)
        LU = unpack(node, node.saved_LU)
        pivots = unpack(node, node.saved_pivots)
        result = unpack(node, node.saved_result)
        return (linalg_det_backward(grad, A, result[0], LU, pivots),)

    def release_variables(node):
        node.saved_A = node.saved_LU = node.saved_pivots = node.saved_result = None
        node.released = True


class LinalgSolveExBackward0(Node):
    saved_A = saved_LU = saved_pivots = saved_result = None
    _saved_A, _raw_saved_A = tensor_getters("saved_A")
    _saved_LU, _raw_saved_LU = tensor_getters("saved_LU")
    _saved_pivots, _raw_saved_pivots = tensor_getters("saved_pivots")
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_left = value_getter("left")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_A, node.saved_LU, node.saved_pivots, node.saved_result])
            return (
                None,
                None,
            )
        grad = grads[0]
        edges = node.next_edges
        A = unpack(node, node.saved_A) if edges[0].node or edges[1].node else None
        LU = unpack(node, node.saved_LU) if edges[0].node else None
        pivots = unpack(node, node.saved_pivots) if edges[0].node else None
        result = unpack(node, node.saved_result) if edges[0].node else None
        edges = edges_to_compute(node)
        return (
            linalg_solve_backward(grad, A, result[0], LU, pivots, node.left) if edges[0].node else None,
            functions.linalg_solve(A.mT, grad, left=node.left) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_A = node.saved_LU = node.saved_pivots = node.saved_result = None
        node.released = True


class LinalgCholeskyExBackward0(Node):
    saved_L = None
    _saved_L, _raw_saved_L = tensor_getters("saved_L")
    _saved_upper = value_getter("upper")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_L])
            return (None,)
        grad = grads[0]
        L = unpack(node, node.saved_L)
        return (cholesky_backward(grad, L, node.upper),)

    def release_variables(node):
        node.saved_L = None
        node.released = True


class LinalgInvExBackward0(Node):
    saved_inverse = None
    _saved_inverse, _raw_saved_inverse = tensor_getters("saved_inverse")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_inverse])
            return (None,)
        grad = grads[0]
        inverse = unpack(node, node.saved_inverse)
        return (-(inverse.mT @ (grad @ inverse.mT)),)

    def release_variables(node):
        node.saved_inverse = None
        node.released = True


class TraceBackward0(Node):
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            grad.new_zeros(math.prod(node.self_shape))
            .index_fill_(0, functions.arange(sorted(node.self_shape)[0]) * (node.self_shape[1] + 1), grad)
            .view(node.self_shape),
        )


class LinalgVectorNormBackward0(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")
    _saved_ord = value_getter("ord")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (norm_backward(grad, self, node.ord, result, node.dim, node.keepdim),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class NormBackward1(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")
    _saved_p = value_getter("p")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (norm_backward(grad, self, 2 if node.p is None else node.p, result, node.dim, node.keepdim),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class CdistBackward0(Node):
    saved_result = saved_x1 = saved_x2 = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_x1, _raw_saved_x1 = tensor_getters("saved_x1")
    _saved_x2, _raw_saved_x2 = tensor_getters("saved_x2")
    _saved_p = value_getter("p")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_x1, node.saved_x2])
            return (
                None,
                None,
            )
        edges = node.next_edges
        result = unpack(node, node.saved_result) if edges[0].node or edges[1].node else None
        x1 = unpack(node, node.saved_x1) if edges[0].node or edges[1].node else None
        x2 = unpack(node, node.saved_x2) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        return (
            (
                norm_backward(grad, x1.unsqueeze(-2) - x2.unsqueeze(-3), node.p, result, [-1], False).sum(-2)
                if node.p
                else grad.new_zeros(node.x1_info)
            )
            if edges[0].node
            else None,
            (
                -norm_backward(grad, x1.unsqueeze(-2) - x2.unsqueeze(-3), node.p, result, [-1], False).sum(-3)
                if node.p
                else grad.new_zeros(node.x2_info)
            )
            if edges[1].node
            else None,
        )

    def release_variables(node):
        node.saved_result = node.saved_x1 = node.saved_x2 = None
        node.released = True


class MedianBackward0(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (evenly_distribute_backward(grad, self, result),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class MedianBackward1(Node):
    saved_indices = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_indices])
            return (None,)
        grad = grads[0]
        indices = unpack(node, node.saved_indices)
        return (
            functions.value_selecting_reduction_backward(
                grad, node.dim, detach_result(indices), node.self_shape, node.keepdim
            ),
        )

    def release_variables(node):
        node.saved_indices = None
        node.released = True


class NanmedianBackward0(Node):
    saved_result = saved_self = None
    _saved_result, _raw_saved_result = tensor_getters("saved_result")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_result, node.saved_self])
            return (None,)
        result = unpack(node, node.saved_result)
        self = unpack(node, node.saved_self)
        return (evenly_distribute_backward(grad, self, result),)

    def release_variables(node):
        node.saved_result = node.saved_self = None
        node.released = True


class NanmedianBackward1(Node):
    saved_indices = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_dim = int_getter("dim")
    _saved_keepdim = value_getter("keepdim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_indices])
            return (None,)
        grad = grads[0]
        indices = unpack(node, node.saved_indices)
        return (
            functions.value_selecting_reduction_backward(
                grad, node.dim, detach_result(indices), node.self_shape, node.keepdim
            ),
        )

    def release_variables(node):
        node.saved_indices = None
        node.released = True


class SortBackward0(Node):
    saved_indices = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_dim = int_getter("dim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_indices])
            return (None,)
        grad = grads[0]
        indices = unpack(node, node.saved_indices)
        return (
            functions.value_selecting_reduction_backward(grad, node.dim, detach_result(indices), node.self_shape, True),
        )

    def release_variables(node):
        node.saved_indices = None
        node.released = True


class SortBackward1(Node):
    saved_indices = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_dim = int_getter("dim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_indices])
            return (None,)
        grad = grads[0]
        indices = unpack(node, node.saved_indices)
        return (
            functions.value_selecting_reduction_backward(grad, node.dim, detach_result(indices), node.self_shape, True),
        )

    def release_variables(node):
        node.saved_indices = None
        node.released = True


class TopkBackward0(Node):
    saved_indices = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_dim = int_getter("dim")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_indices])
            return (None,)
        grad = grads[0]
        indices = unpack(node, node.saved_indices)
        return (
            functions.value_selecting_reduction_backward(grad, node.dim, detach_result(indices), node.self_shape, True),
        )

    def release_variables(node):
        node.saved_indices = None
        node.released = True


class UniqueConsecutiveBackward0(Node):
    def apply(node, *grads):
        if all(grad is None for grad in grads):
            return (None,)
        return (not_implemented("unique_consecutive"),)


class UniqueDimBackward0(Node):
    def apply(node, *grads):
        if all(grad is None for grad in grads):
            return (None,)
        return (not_implemented("unique_dim"),)


class Unique2Backward0(Node):
    def apply(node, *grads):
        if all(grad is None for grad in grads):
            return (None,)
        return (not_implemented("_unique2"),)


class AddmmBackward0(Node):
    saved_mat2 = saved_mat1 = None
    _saved_mat2, _raw_saved_mat2 = tensor_getters("saved_mat2")
    _saved_mat1, _raw_saved_mat1 = tensor_getters("saved_mat1")
    _saved_alpha = value_getter("alpha")
    _saved_beta = value_getter("beta")
    _saved_mat1_sym_sizes = value_getter("mat1_shape")
    _saved_mat1_sym_strides = value_getter("mat1_stride")
    _saved_mat2_sym_sizes = value_getter("mat2_shape")
    _saved_mat2_sym_strides = value_getter("mat2_stride")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_mat2, node.saved_mat1])
            return (
                None,
                None,
                None,
            )
        edges = node.next_edges
        mat2 = unpack(node, node.saved_mat2) if edges[1].node else None
        mat1 = unpack(node, node.saved_mat1) if edges[2].node else None
        edges = edges_to_compute(node)
        grad_mat1 = (
            fastest[mm_backward_mat1](grad, mat2, node.mat1_shape, node.mat1_stride, node.alpha)
            if edges[1].node
            else None
        )
        grad_mat2 = (
            fastest[mm_backward_mat2](grad, mat1, node.mat2_shape, node.mat2_stride, node.alpha)
            if edges[2].node
            else None
        )
        grad_self = maybe_multiply(grad, node.beta) if edges[0].node else None
        return (
            grad_self,
            grad_mat1,
            grad_mat2,
        )

    def release_variables(node):
        node.saved_mat2 = node.saved_mat1 = None
        node.released = True


class BaddbmmBackward0(Node):
    saved_batch2 = saved_batch1 = None
    _saved_batch2, _raw_saved_batch2 = tensor_getters("saved_batch2")
    _saved_batch1, _raw_saved_batch1 = tensor_getters("saved_batch1")
    _saved_alpha = value_getter("alpha")
    _saved_beta = value_getter("beta")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_batch2, node.saved_batch1])
            return (
                None,
                None,
                None,
            )
        edges = node.next_edges
        batch2 = unpack(node, node.saved_batch2) if edges[1].node else None
        batch1 = unpack(node, node.saved_batch1) if edges[2].node else None
        edges = edges_to_compute(node)
        grad_batch1 = maybe_multiply(grad.bmm(batch2.transpose(1, 2)), node.alpha) if edges[1].node else None
        grad_batch2 = maybe_multiply(batch1.transpose(1, 2).bmm(grad), node.alpha) if edges[2].node else None
        grad_self = maybe_multiply(grad, node.beta) if edges[0].node else None
        return (
            grad_self,
            grad_batch1,
            grad_batch2,
        )

    def release_variables(node):
        node.saved_batch2 = node.saved_batch1 = None
        node.released = True


class BmmBackward0(Node):
    saved_mat2 = saved_self = None
    _saved_mat2, _raw_saved_mat2 = tensor_getters("saved_mat2")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_mat2, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        mat2 = unpack(node, node.saved_mat2) if edges[0].node else None
        self = unpack(node, node.saved_self) if edges[1].node else None
        edges = edges_to_compute(node)
        grad_mat2 = self.transpose(1, 2).bmm(grad) if edges[1].node else None
        grad_self = grad.bmm(mat2.transpose(1, 2)) if edges[0].node else None
        return (
            grad_self,
            grad_mat2,
        )

    def release_variables(node):
        node.saved_mat2 = node.saved_self = None
        node.released = True


class DotBackward0(Node):
    saved_tensor = saved_self = None
    _saved_tensor, _raw_saved_tensor = tensor_getters("saved_tensor")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_tensor, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        tensor = unpack(node, node.saved_tensor) if edges[0].node else None
        self = unpack(node, node.saved_self) if edges[1].node else None
        edges = edges_to_compute(node)
        return (
            grad * tensor if edges[0].node else None,
            grad * self if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_tensor = node.saved_self = None
        node.released = True


class MmBackward0(Node):
    saved_mat2 = saved_self = None
    _saved_mat2, _raw_saved_mat2 = tensor_getters("saved_mat2")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_mat2_sym_sizes = value_getter("mat2_shape")
    _saved_mat2_sym_strides = value_getter("mat2_stride")
    _saved_self_sym_sizes = value_getter("self_shape")
    _saved_self_sym_strides = value_getter("self_stride")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_mat2, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        mat2 = unpack(node, node.saved_mat2) if edges[0].node else None
        self = unpack(node, node.saved_self) if edges[1].node else None
        edges = edges_to_compute(node)
        grad_mat2 = (
            fastest[mm_backward_mat2](grad, self, node.mat2_shape, node.mat2_stride, 1) if edges[1].node else None
        )
        grad_self = (
            fastest[mm_backward_mat1](grad, mat2, node.self_shape, node.self_stride, 1) if edges[0].node else None
        )
        return (
            grad_self,
            grad_mat2,
        )

    def release_variables(node):
        node.saved_mat2 = node.saved_self = None
        node.released = True


class MvBackward0(Node):
    saved_vec = saved_self = None
    _saved_vec, _raw_saved_vec = tensor_getters("saved_vec")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_vec, node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        vec = unpack(node, node.saved_vec) if edges[0].node else None
        self = unpack(node, node.saved_self) if edges[1].node else None
        edges = edges_to_compute(node)
        return (
            grad.outer(vec) if edges[0].node else None,
            self.t().mv(grad) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_vec = node.saved_self = None
        node.released = True


class ConvolutionBackward0(Node):
    saved_input = saved_weight = None
    _saved_input, _raw_saved_input = tensor_getters("saved_input")
    _saved_weight, _raw_saved_weight = tensor_getters("saved_weight")
    _saved_bias_sym_sizes_opt = value_getter("bias_shape")
    _saved_dilation = int_getter("dilation")
    _saved_groups = int_getter("groups")
    _saved_output_padding = int_getter("output_padding")
    _saved_padding = int_getter("padding")
    _saved_stride = int_getter("stride")
    _saved_transposed = value_getter("transposed")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_input, node.saved_weight])
            return (
                None,
                None,
                None,
            )
        input = unpack(node, node.saved_input)
        weight = unpack(node, node.saved_weight)
        grad_input_mask = [edge.node is not None for edge in edges_to_compute(node)]
        return functions.convolution_backward(
            grad,
            input,
            weight,
            node.bias_shape,
            node.stride,
            node.padding,
            node.dilation,
            node.transposed,
            node.output_padding,
            node.groups,
            grad_input_mask,
        )

    def release_variables(node):
        node.saved_input = node.saved_weight = None
        node.released = True


class ConvolutionBackwardBackward0(Node):
    saved_grad_output = saved_input = saved_weight = None
    _saved_grad_output, _raw_saved_grad_output = tensor_getters("saved_grad_output")
    _saved_input, _raw_saved_input = tensor_getters("saved_input")
    _saved_weight, _raw_saved_weight = tensor_getters("saved_weight")
    _saved_dilation = int_getter("dilation")
    _saved_groups = int_getter("groups")
    _saved_output_padding = int_getter("output_padding")
    _saved_padding = int_getter("padding")
    _saved_stride = int_getter("stride")
    _saved_transposed = value_getter("transposed")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_grad_output, node.saved_input, node.saved_weight])
            return (
                None,
                None,
                None,
            )
        grad_output = unpack(node, node.saved_grad_output)
        input = unpack(node, node.saved_input)
        weight = unpack(node, node.saved_weight)
        grad_input_mask = [edge.node is not None for edge in edges_to_compute(node)]
        return convolution_double_backward(
            grads,
            node.output_mask,
            grad_output,
            input,
            weight,
            (node.stride, node.padding, node.dilation, node.transposed, node.output_padding, node.groups),
            grad_input_mask,
        )

    def release_variables(node):
        node.saved_grad_output = node.saved_input = node.saved_weight = None
        node.released = True


class ConstantPadNdBackward0(Node):
    _saved_pad = int_getter("pad")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.constant_pad_nd(grad, [-each for each in node.pad], 0),)


class ReflectionPad1DBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_padding = int_getter("padding")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.reflection_pad1d_backward(grad, self, node.padding),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class ReflectionPad1DBackwardBackward0(Node):
    _saved_padding = int_getter("padding")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            functions.reflection_pad1d(grad, node.padding) if edges[0].node else None,
            grad.new_zeros(node.self_info) if edges[1].node else None,
        )


class ReflectionPad2DBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_padding = int_getter("padding")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.reflection_pad2d_backward(grad, self, node.padding),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class ReflectionPad2DBackwardBackward0(Node):
    _saved_padding = int_getter("padding")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            functions.reflection_pad2d(grad, node.padding) if edges[0].node else None,
            grad.new_zeros(node.self_info) if edges[1].node else None,
        )


class ReflectionPad3DBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_padding = int_getter("padding")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.reflection_pad3d_backward(grad, self, node.padding),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class ReflectionPad3DBackwardBackward0(Node):
    _saved_padding = int_getter("padding")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            functions.reflection_pad3d(grad, node.padding) if edges[0].node else None,
            grad.new_zeros(node.self_info) if edges[1].node else None,
        )


class ReplicationPad1DBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_padding = int_getter("padding")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.replication_pad1d_backward(grad, self, node.padding),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class ReplicationPad1DBackwardBackward0(Node):
    _saved_padding = int_getter("padding")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            functions.replication_pad1d(grad, node.padding) if edges[0].node else None,
            grad.new_zeros(node.self_info) if edges[1].node else None,
        )


class ReplicationPad2DBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_padding = int_getter("padding")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.replication_pad2d_backward(grad, self, node.padding),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class ReplicationPad2DBackwardBackward0(Node):
    _saved_padding = int_getter("padding")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            functions.replication_pad2d(grad, node.padding) if edges[0].node else None,
            grad.new_zeros(node.self_info) if edges[1].node else None,
        )


class ReplicationPad3DBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_padding = int_getter("padding")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions.replication_pad3d_backward(grad, self, node.padding),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class ReplicationPad3DBackwardBackward0(Node):
    _saved_padding = int_getter("padding")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            functions.replication_pad3d(grad, node.padding) if edges[0].node else None,
            grad.new_zeros(node.self_info) if edges[1].node else None,
        )


class AdaptiveAvgPool2DBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (functions._adaptive_avg_pool2d_backward(grad, self),)

    def release_variables(node):
        node.saved_self = None
        node.released = True


class AdaptiveAvgPool2DBackwardBackward0(Node):
    _saved_grad_output_sym_argsize_minus_1 = value_getter("grad_output_sym_argsize_minus_1")
    _saved_grad_output_sym_argsize_minus_2 = value_getter("grad_output_sym_argsize_minus_2")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            functions._adaptive_avg_pool2d(
                grad, (node.grad_output_sym_argsize_minus_2, node.grad_output_sym_argsize_minus_1)
            )
            if edges[0].node
            else None,
            zeros_like(grad) if edges[1].node else None,
        )


class AvgPool2DBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_ceil_mode = value_getter("ceil_mode")
    _saved_count_include_pad = value_getter("count_include_pad")
    _saved_divisor_override = int_getter("divisor_override")
    _saved_kernel_size = int_getter("kernel_size")
    _saved_padding = int_getter("padding")
    _saved_stride = int_getter("stride")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (None,)
        self = unpack(node, node.saved_self)
        return (
            functions.avg_pool2d_backward(
                grad,
                self,
                node.kernel_size,
                node.stride,
                node.padding,
                node.ceil_mode,
                node.count_include_pad,
                node.divisor_override,
            ),
        )

    def release_variables(node):
        node.saved_self = None
        node.released = True


class AvgPool2DBackwardBackward0(Node):
    _saved_ceil_mode = value_getter("ceil_mode")
    _saved_count_include_pad = value_getter("count_include_pad")
    _saved_divisor_override = int_getter("divisor_override")
    _saved_kernel_size = int_getter("kernel_size")
    _saved_padding = int_getter("padding")
    _saved_stride = int_getter("stride")

    def apply(node, grad):
        if grad is None:
            return (
                None,
                None,
            )
        edges = edges_to_compute(node)
        return (
            functions.avg_pool2d(
                grad,
                node.kernel_size,
                node.stride,
                node.padding,
                node.ceil_mode,
                node.count_include_pad,
                node.divisor_override,
            )
            if edges[0].node
            else None,
            grad.new_zeros(node.self_info) if edges[1].node else None,
        )


class MaxPool2DWithIndicesBackward0(Node):
    saved_result1 = saved_self = None
    _saved_result1, _raw_saved_result1 = tensor_getters("saved_result1")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_ceil_mode = value_getter("ceil_mode")
    _saved_dilation = int_getter("dilation")
    _saved_kernel_size = int_getter("kernel_size")
    _saved_padding = int_getter("padding")
    _saved_stride = int_getter("stride")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_result1, node.saved_self])
            return (None,)
        grad = grads[0]
        result1 = unpack(node, node.saved_result1)
        self = unpack(node, node.saved_self)
        return (
            functions.max_pool2d_with_indices_backward(
                grad,
                self,
                node.kernel_size,
                node.stride,
                node.padding,
                node.dilation,
                node.ceil_mode,
                detach_result(result1),
            ),
        )

    def release_variables(node):
        node.saved_result1 = node.saved_self = None
        node.released = True


class MaxPool2DWithIndicesBackwardBackward0(Node):
    saved_indices = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_indices])
            return (
                None,
                None,
            )
        edges = node.next_edges
        indices = unpack(node, node.saved_indices) if edges[0].node else None
        edges = edges_to_compute(node)
        return (
            max_pool_double_backward(grad, indices, 2) if edges[0].node else None,
            grad.new_zeros(node.self_info) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_indices = None
        node.released = True


class UpsampleNearest1DBackward0(Node):
    _saved_output_size = int_getter("output_size")
    _saved_scales = value_getter("scales")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.upsample_nearest1d_backward(grad, node.output_size, node.self_shape, node.scales),)


class UpsampleNearest1DBackwardBackward0(Node):
    _saved_output_size = int_getter("output_size")
    _saved_scales = value_getter("scales")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.upsample_nearest1d(grad, node.output_size, node.scales),)


class UpsampleNearest2DBackward0(Node):
    _saved_output_size = int_getter("output_size")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions.upsample_nearest2d_backward(
                grad, node.output_size, node.self_shape, node.scales_h, node.scales_w
            ),
        )


class UpsampleNearest2DBackwardBackward0(Node):
    _saved_output_size = int_getter("output_size")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.upsample_nearest2d(grad, node.output_size, node.scales_h, node.scales_w),)


class UpsampleNearest3DBackward0(Node):
    _saved_output_size = int_getter("output_size")
    _saved_scales_d = value_getter("scales_d")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions.upsample_nearest3d_backward(
                grad, node.output_size, node.self_shape, node.scales_d, node.scales_h, node.scales_w
            ),
        )


class UpsampleNearest3DBackwardBackward0(Node):
    _saved_output_size = int_getter("output_size")
    _saved_scales_d = value_getter("scales_d")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.upsample_nearest3d(grad, node.output_size, node.scales_d, node.scales_h, node.scales_w),)


class UpsampleNearestExact1DBackward0(Node):
    _saved_output_size = int_getter("output_size")
    _saved_scales = value_getter("scales")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions._upsample_nearest_exact1d_backward(grad, node.output_size, node.self_shape, node.scales),)


class UpsampleNearestExact1DBackwardBackward0(Node):
    _saved_output_size = int_getter("output_size")
    _saved_scales = value_getter("scales")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions._upsample_nearest_exact1d(grad, node.output_size, node.scales),)


class UpsampleNearestExact2DBackward0(Node):
    _saved_output_size = int_getter("output_size")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions._upsample_nearest_exact2d_backward(
                grad, node.output_size, node.self_shape, node.scales_h, node.scales_w
            ),
        )


class UpsampleNearestExact2DBackwardBackward0(Node):
    _saved_output_size = int_getter("output_size")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions._upsample_nearest_exact2d(grad, node.output_size, node.scales_h, node.scales_w),)


class UpsampleNearestExact3DBackward0(Node):
    _saved_output_size = int_getter("output_size")
    _saved_scales_d = value_getter("scales_d")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions._upsample_nearest_exact3d_backward(
                grad, node.output_size, node.self_shape, node.scales_d, node.scales_h, node.scales_w
            ),
        )


class UpsampleNearestExact3DBackwardBackward0(Node):
    _saved_output_size = int_getter("output_size")
    _saved_scales_d = value_getter("scales_d")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions._upsample_nearest_exact3d(grad, node.output_size, node.scales_d, node.scales_h, node.scales_w),
        )


class UpsampleLinear1DBackward0(Node):
    _saved_align_corners = value_getter("align_corners")
    _saved_output_size = int_getter("output_size")
    _saved_scales = value_getter("scales")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions.upsample_linear1d_backward(
                grad, node.output_size, node.self_shape, node.align_corners, node.scales
            ),
        )


class UpsampleLinear1DBackwardBackward0(Node):
    _saved_align_corners = value_getter("align_corners")
    _saved_output_size = int_getter("output_size")
    _saved_scales = value_getter("scales")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.upsample_linear1d(grad, node.output_size, node.align_corners, node.scales),)


class UpsampleBilinear2DBackward0(Node):
    _saved_align_corners = value_getter("align_corners")
    _saved_output_size = int_getter("output_size")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions.upsample_bilinear2d_backward(
                grad, node.output_size, node.self_shape, node.align_corners, node.scales_h, node.scales_w
            ),
        )


class UpsampleBilinear2DBackwardBackward0(Node):
    _saved_align_corners = value_getter("align_corners")
    _saved_output_size = int_getter("output_size")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions.upsample_bilinear2d(grad, node.output_size, node.align_corners, node.scales_h, node.scales_w),
        )


class UpsampleTrilinear3DBackward0(Node):
    _saved_align_corners = value_getter("align_corners")
    _saved_output_size = int_getter("output_size")
    _saved_scales_d = value_getter("scales_d")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions.upsample_trilinear3d_backward(
                grad, node.output_size, node.self_shape, node.align_corners, node.scales_d, node.scales_h, node.scales_w
            ),
        )


class UpsampleTrilinear3DBackwardBackward0(Node):
    _saved_align_corners = value_getter("align_corners")
    _saved_output_size = int_getter("output_size")
    _saved_scales_d = value_getter("scales_d")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions.upsample_trilinear3d(
                grad, node.output_size, node.align_corners, node.scales_d, node.scales_h, node.scales_w
            ),
        )


class UpsampleBicubic2DBackward0(Node):
    _saved_align_corners = value_getter("align_corners")
    _saved_output_size = int_getter("output_size")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions.upsample_bicubic2d_backward(
                grad, node.output_size, node.self_shape, node.align_corners, node.scales_h, node.scales_w
            ),
        )


class UpsampleBicubic2DBackwardBackward0(Node):
    _saved_align_corners = value_getter("align_corners")
    _saved_output_size = int_getter("output_size")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.upsample_bicubic2d(grad, node.output_size, node.align_corners, node.scales_h, node.scales_w),)


class UpsampleBilinear2DAaBackward0(Node):
    _saved_align_corners = value_getter("align_corners")
    _saved_output_size = int_getter("output_size")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions._upsample_bilinear2d_aa_backward(
                grad, node.output_size, node.self_shape, node.align_corners, node.scales_h, node.scales_w
            ),
        )


class UpsampleBilinear2DAaBackwardBackward0(Node):
    _saved_align_corners = value_getter("align_corners")
    _saved_output_size = int_getter("output_size")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions._upsample_bilinear2d_aa(grad, node.output_size, node.align_corners, node.scales_h, node.scales_w),
        )


class UpsampleBicubic2DAaBackward0(Node):
    _saved_align_corners = value_getter("align_corners")
    _saved_output_size = int_getter("output_size")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions._upsample_bicubic2d_aa_backward(
                grad, node.output_size, node.self_shape, node.align_corners, node.scales_h, node.scales_w
            ),
        )


class UpsampleBicubic2DAaBackwardBackward0(Node):
    _saved_align_corners = value_getter("align_corners")
    _saved_output_size = int_getter("output_size")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions._upsample_bicubic2d_aa(grad, node.output_size, node.align_corners, node.scales_h, node.scales_w),
        )


class UpsampleLanczos2DAaBackward0(Node):
    _saved_align_corners = value_getter("align_corners")
    _saved_output_size = int_getter("output_size")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")
    _saved_self_sym_sizes = value_getter("self_shape")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions._upsample_lanczos2d_aa_backward(
                grad, node.output_size, node.self_shape, node.align_corners, node.scales_h, node.scales_w
            ),
        )


class UpsampleLanczos2DAaBackwardBackward0(Node):
    _saved_align_corners = value_getter("align_corners")
    _saved_output_size = int_getter("output_size")
    _saved_scales_h = value_getter("scales_h")
    _saved_scales_w = value_getter("scales_w")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (
            functions._upsample_lanczos2d_aa(grad, node.output_size, node.align_corners, node.scales_h, node.scales_w),
        )


class AffineGridGeneratorBackward0(Node):
    _saved_align_corners = value_getter("align_corners")
    _saved_size = int_getter("size")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.affine_grid_generator_backward(grad, node.size, node.align_corners),)


class BinaryCrossEntropyBackward0(Node):
    saved_self = saved_target = saved_weight = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_weight, _raw_saved_weight = tensor_getters("saved_weight")
    _saved_reduction = int_getter("reduction")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self, node.saved_target, node.saved_weight])
            return (
                None,
                None,
            )
        edges = node.next_edges
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        target = unpack(node, node.saved_target) if edges[0].node else None
        weight = unpack(node, node.saved_weight) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        return (
            functions.binary_cross_entropy_backward(grad, self, target, weight, node.reduction)
            if edges[0].node
            else None,
            apply_weight(-(self / (1 - self)).log() * grad, weight, self, node.reduction) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_self = node.saved_target = node.saved_weight = None
        node.released = True


class BinaryCrossEntropyWithLogitsBackward0(Node):
    saved_pos_weight = saved_self = saved_target = saved_weight = None
    _saved_pos_weight, _raw_saved_pos_weight = tensor_getters("saved_pos_weight")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_weight, _raw_saved_weight = tensor_getters("saved_weight")
    _saved_reduction = int_getter("reduction")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_pos_weight, node.saved_self, node.saved_target, node.saved_weight])
            return (
                None,
                None,
            )
        edges = node.next_edges
        pos_weight = unpack(node, node.saved_pos_weight) if edges[0].node or edges[1].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        target = unpack(node, node.saved_target) if edges[0].node else None
        weight = unpack(node, node.saved_weight) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        return (
            binary_cross_entropy_with_logits_backward(grad, self, target, weight, pos_weight, node.reduction)
            if edges[0].node
            else None,
            (
                apply_weight(
                    (-self if pos_weight is None else sub_scalar(pos_weight, 1) * functions.softplus(-self) - self)
                    * grad,
                    weight,
                    self,
                    node.reduction,
                )
            )
            if edges[1].node
            else None,
        )

    def release_variables(node):
        node.saved_pos_weight = node.saved_self = node.saved_target = node.saved_weight = None
        node.released = True


class HuberLossBackward0(Node):
    saved_self = saved_target = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_delta = value_getter("delta")
    _saved_reduction = int_getter("reduction")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self, node.saved_target])
            return (
                None,
                None,
            )
        edges = node.next_edges
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        target = unpack(node, node.saved_target) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        return (
            functions.huber_loss_backward(grad, self, target, node.reduction, node.delta) if edges[0].node else None,
            functions.huber_loss_backward(grad, target, self, node.reduction, node.delta) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_self = node.saved_target = None
        node.released = True


class MseLossBackward0(Node):
    saved_self = saved_target = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_reduction = int_getter("reduction")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self, node.saved_target])
            return (
                None,
                None,
            )
        edges = node.next_edges
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        target = unpack(node, node.saved_target) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        return (
            functions.mse_loss_backward(grad, self, target, node.reduction) if edges[0].node else None,
            functions.mse_loss_backward(grad, target, self, node.reduction) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_self = node.saved_target = None
        node.released = True


class ScaledDotProductFlashAttentionForCpuBackward0(Node):
    saved_attn_mask = saved_key = saved_logsumexp = saved_output = saved_query = saved_value = None
    _saved_attn_mask, _raw_saved_attn_mask = tensor_getters("saved_attn_mask")
    _saved_key, _raw_saved_key = tensor_getters("saved_key")
    _saved_logsumexp, _raw_saved_logsumexp = tensor_getters("saved_logsumexp")
    _saved_output, _raw_saved_output = tensor_getters("saved_output")
    _saved_query, _raw_saved_query = tensor_getters("saved_query")
    _saved_value, _raw_saved_value = tensor_getters("saved_value")
    _saved_dropout_p = value_getter("dropout_p")
    _saved_is_causal = value_getter("is_causal")
    _saved_scale = value_getter("scale")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(
                node,
                [
                    node.saved_attn_mask,
                    node.saved_key,
                    node.saved_logsumexp,
                    node.saved_output,
                    node.saved_query,
                    node.saved_value,
                ],
            )
            return (
                None,
                None,
                None,
            )
        grad = grads[0]
        attn_mask = unpack(node, node.saved_attn_mask)
        key = unpack(node, node.saved_key)
        logsumexp = unpack(node, node.saved_logsumexp)
        output = unpack(node, node.saved_output)
        query = unpack(node, node.saved_query)
        value = unpack(node, node.saved_value)
        return functions._scaled_dot_product_flash_attention_for_cpu_backward(
            grad,
            query,
            key,
            value,
            output,
            detach_result(logsumexp),
            node.dropout_p,
            node.is_causal,
            attn_mask=attn_mask,
            scale=node.scale,
        )

    def release_variables(node):
        node.saved_attn_mask = node.saved_key = node.saved_logsumexp = node.saved_output = node.saved_query = (
            node.saved_value
        ) = None
        node.released = True


class ThnnFusedLstmCellBackward0(Node):
    saved_cx = saved_hidden_bias = saved_hidden_gates = saved_input_bias = saved_input_gates = saved_result1 = (
        saved_result2
    ) = None
    _saved_cx, _raw_saved_cx = tensor_getters("saved_cx")
    _saved_hidden_bias, _raw_saved_hidden_bias = tensor_getters("saved_hidden_bias")
    _saved_hidden_gates, _raw_saved_hidden_gates = tensor_getters("saved_hidden_gates")
    _saved_input_bias, _raw_saved_input_bias = tensor_getters("saved_input_bias")
    _saved_input_gates, _raw_saved_input_gates = tensor_getters("saved_input_gates")
    _saved_result1, _raw_saved_result1 = tensor_getters("saved_result1")
    _saved_result2, _raw_saved_result2 = tensor_getters("saved_result2")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(
                node,
                [
                    node.saved_cx,
                    node.saved_hidden_bias,
                    node.saved_hidden_gates,
                    node.saved_input_bias,
                    node.saved_input_gates,
                    node.saved_result1,
                    node.saved_result2,
                ],
            )
            return (
                None,
                None,
                None,
                None,
                None,
            )
        cx = unpack(node, node.saved_cx)
        hidden_bias = unpack(node, node.saved_hidden_bias)
        hidden_gates = unpack(node, node.saved_hidden_gates)
        input_bias = unpack(node, node.saved_input_bias)
        input_gates = unpack(node, node.saved_input_gates)
        result1 = unpack(node, node.saved_result1)
        result2 = unpack(node, node.saved_result2)
        return lstm_cell_backward(
            grads[0], grads[1], input_gates, hidden_gates, cx, input_bias, hidden_bias, result1, result2
        )

    def release_variables(node):
        node.saved_cx = node.saved_hidden_bias = node.saved_hidden_gates = node.saved_input_bias = (
            node.saved_input_gates
        ) = node.saved_result1 = node.saved_result2 = None
        node.released = True


class ThnnFusedGruCellBackward0(Node):
    saved_hidden_bias = saved_hidden_gates = saved_hx = saved_input_bias = saved_input_gates = saved_result1 = None
    _saved_hidden_bias, _raw_saved_hidden_bias = tensor_getters("saved_hidden_bias")
    _saved_hidden_gates, _raw_saved_hidden_gates = tensor_getters("saved_hidden_gates")
    _saved_hx, _raw_saved_hx = tensor_getters("saved_hx")
    _saved_input_bias, _raw_saved_input_bias = tensor_getters("saved_input_bias")
    _saved_input_gates, _raw_saved_input_gates = tensor_getters("saved_input_gates")
    _saved_result1, _raw_saved_result1 = tensor_getters("saved_result1")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(
                node,
                [
                    node.saved_hidden_bias,
                    node.saved_hidden_gates,
                    node.saved_hx,
                    node.saved_input_bias,
                    node.saved_input_gates,
                    node.saved_result1,
                ],
            )
            return (
                None,
                None,
                None,
                None,
                None,
            )
        grad = grads[0]
        hidden_bias = unpack(node, node.saved_hidden_bias)
        hidden_gates = unpack(node, node.saved_hidden_gates)
        hx = unpack(node, node.saved_hx)
        input_bias = unpack(node, node.saved_input_bias)
        input_gates = unpack(node, node.saved_input_gates)
        result1 = unpack(node, node.saved_result1)
        return gru_cell_backward(grad, input_gates, hidden_gates, hx, input_bias, hidden_bias, detach_result(result1))

    def release_variables(node):
        node.saved_hidden_bias = node.saved_hidden_gates = node.saved_hx = node.saved_input_bias = (
            node.saved_input_gates
        ) = node.saved_result1 = None
        node.released = True


class NativeLayerNormBackward0(Node):
    saved_bias = saved_input = saved_result1 = saved_result2 = saved_weight = None
    _saved_bias, _raw_saved_bias = tensor_getters("saved_bias")
    _saved_input, _raw_saved_input = tensor_getters("saved_input")
    _saved_result1, _raw_saved_result1 = tensor_getters("saved_result1")
    _saved_result2, _raw_saved_result2 = tensor_getters("saved_result2")
    _saved_weight, _raw_saved_weight = tensor_getters("saved_weight")
    _saved_normalized_shape = int_getter("normalized_shape")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_bias, node.saved_input, node.saved_result1, node.saved_result2, node.saved_weight])
            return (
                None,
                None,
                None,
            )
        grad = grads[0]
        bias = unpack(node, node.saved_bias)
        input = unpack(node, node.saved_input)
        result1 = unpack(node, node.saved_result1)
        result2 = unpack(node, node.saved_result2)
        weight = unpack(node, node.saved_weight)
        grad_input_mask = [edge.node is not None for edge in edges_to_compute(node)]
        return layer_norm_backward(
            grad,
            input,
            node.normalized_shape,
            detach_result(result1),
            detach_result(result2),
            weight,
            bias,
            grad_input_mask,
        )

    def release_variables(node):
        node.saved_bias = node.saved_input = node.saved_result1 = node.saved_result2 = node.saved_weight = None
        node.released = True


class NativeBatchNormBackward0(Node):
    saved_input = saved_result1 = saved_result2 = saved_running_mean = saved_running_var = saved_weight = None
    _saved_input, _raw_saved_input = tensor_getters("saved_input")
    _saved_result1, _raw_saved_result1 = tensor_getters("saved_result1")
    _saved_result2, _raw_saved_result2 = tensor_getters("saved_result2")
    _saved_running_mean, _raw_saved_running_mean = tensor_getters("saved_running_mean")
    _saved_running_var, _raw_saved_running_var = tensor_getters("saved_running_var")
    _saved_weight, _raw_saved_weight = tensor_getters("saved_weight")
    _saved_eps = value_getter("eps")
    _saved_training = value_getter("training")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(
                node,
                [
                    node.saved_input,
                    node.saved_result1,
                    node.saved_result2,
                    node.saved_running_mean,
                    node.saved_running_var,
                    node.saved_weight,
                ],
            )
            return (
                None,
                None,
                None,
            )
        grad = grads[0]
        input = unpack(node, node.saved_input)
        result1 = unpack(node, node.saved_result1)
        result2 = unpack(node, node.saved_result2)
        running_mean = unpack(node, node.saved_running_mean)
        running_var = unpack(node, node.saved_running_var)
        weight = unpack(node, node.saved_weight)
        grad_input_mask = [edge.node is not None for edge in edges_to_compute(node)]
        return batch_norm_backward(
            grad,
            input,
            weight,
            running_mean,
            running_var,
            detach_result(result1),
            detach_result(result2),
            node.training,
            node.eps,
            grad_input_mask,
        )

    def release_variables(node):
        node.saved_input = node.saved_result1 = node.saved_result2 = node.saved_running_mean = (
            node.saved_running_var
        ) = node.saved_weight = None
        node.released = True


class NllLossBackward0(Node):
    saved_self = saved_target = saved_total_weight = saved_weight = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_total_weight, _raw_saved_total_weight = tensor_getters("saved_total_weight")
    _saved_weight, _raw_saved_weight = tensor_getters("saved_weight")
    _saved_ignore_index = int_getter("ignore_index")
    _saved_reduction = int_getter("reduction")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_self, node.saved_target, node.saved_total_weight, node.saved_weight])
            return (None,)
        grad = grads[0]
        self = unpack(node, node.saved_self)
        target = unpack(node, node.saved_target)
        total_weight = unpack(node, node.saved_total_weight)
        weight = unpack(node, node.saved_weight)
        return (
            functions.nll_loss_backward(
                grad, self, target, weight, node.reduction, node.ignore_index, detach_result(total_weight)
            ),
        )

    def release_variables(node):
        node.saved_self = node.saved_target = node.saved_total_weight = node.saved_weight = None
        node.released = True


class NllLoss2DBackward0(Node):
    saved_self = saved_target = saved_total_weight = saved_weight = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_total_weight, _raw_saved_total_weight = tensor_getters("saved_total_weight")
    _saved_weight, _raw_saved_weight = tensor_getters("saved_weight")
    _saved_ignore_index = int_getter("ignore_index")
    _saved_reduction = int_getter("reduction")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_self, node.saved_target, node.saved_total_weight, node.saved_weight])
            return (None,)
        grad = grads[0]
        self = unpack(node, node.saved_self)
        target = unpack(node, node.saved_target)
        total_weight = unpack(node, node.saved_total_weight)
        weight = unpack(node, node.saved_weight)
        return (
            functions.nll_loss2d_backward(
                grad, self, target, weight, node.reduction, node.ignore_index, detach_result(total_weight)
            ),
        )

    def release_variables(node):
        node.saved_self = node.saved_target = node.saved_total_weight = node.saved_weight = None
        node.released = True


class SmoothL1LossBackward0(Node):
    saved_self = saved_target = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_beta = value_getter("beta")
    _saved_reduction = int_getter("reduction")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self, node.saved_target])
            return (
                None,
                None,
            )
        edges = node.next_edges
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        target = unpack(node, node.saved_target) if edges[0].node or edges[1].node else None
        edges = edges_to_compute(node)
        return (
            functions.smooth_l1_loss_backward(grad, self, target, node.reduction, node.beta) if edges[0].node else None,
            functions.smooth_l1_loss_backward(grad, target, self, node.reduction, node.beta) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_self = node.saved_target = None
        node.released = True


class SoftMarginLossBackward0(Node):
    saved_self = saved_target = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_reduction = int_getter("reduction")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self, node.saved_target])
            return (None,)
        self = unpack(node, node.saved_self)
        target = unpack(node, node.saved_target)
        return (backward_of(functions.soft_margin_loss_op, grad, [self], self, target, node.reduction)[0],)

    def release_variables(node):
        node.saved_self = node.saved_target = None
        node.released = True


class MultiMarginLossBackward0(Node):
    saved_self = saved_target = saved_weight = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_weight, _raw_saved_weight = tensor_getters("saved_weight")
    _saved_margin = value_getter("margin")
    _saved_p = value_getter("p")
    _saved_reduction = int_getter("reduction")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self, node.saved_target, node.saved_weight])
            return (None,)
        self = unpack(node, node.saved_self)
        target = unpack(node, node.saved_target)
        weight = unpack(node, node.saved_weight)
        return (
            backward_of(
                functions.multi_margin_loss_op, grad, [self], self, target, node.p, node.margin, weight, node.reduction
            )[0],
        )

    def release_variables(node):
        node.saved_self = node.saved_target = node.saved_weight = None
        node.released = True


class MultilabelMarginLossBackward0(Node):
    saved_is_target = saved_self = saved_target = None
    _saved_is_target, _raw_saved_is_target = tensor_getters("saved_is_target")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_reduction = int_getter("reduction")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_is_target, node.saved_self, node.saved_target])
            return (None,)
        grad = grads[0]
        is_target = unpack(node, node.saved_is_target)
        self = unpack(node, node.saved_self)
        target = unpack(node, node.saved_target)
        return (multilabel_margin_loss_backward(grad, self, target, node.reduction, detach_result(is_target)),)

    def release_variables(node):
        node.saved_is_target = node.saved_self = node.saved_target = None
        node.released = True


class CtcLossBackward0(Node):
    saved_log_probs = saved_result0 = saved_result1 = saved_targets = None
    _saved_log_probs, _raw_saved_log_probs = tensor_getters("saved_log_probs")
    _saved_result0, _raw_saved_result0 = tensor_getters("saved_result0")
    _saved_result1, _raw_saved_result1 = tensor_getters("saved_result1")
    _saved_targets, _raw_saved_targets = tensor_getters("saved_targets")
    _saved_blank = int_getter("blank")
    _saved_input_lengths = int_getter("input_lengths")
    _saved_target_lengths = int_getter("target_lengths")
    _saved_zero_infinity = value_getter("zero_infinity")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_log_probs, node.saved_result0, node.saved_result1, node.saved_targets])
            return (None,)
        grad = grads[0]
        log_probs = unpack(node, node.saved_log_probs)
        result0 = unpack(node, node.saved_result0)
        result1 = unpack(node, node.saved_result1)
        targets = unpack(node, node.saved_targets)
        return (
            functions._ctc_loss_backward(
                grad,
                log_probs,
                targets,
                node.input_lengths,
                node.target_lengths,
                result0,
                result1,
                node.blank,
                node.zero_infinity,
            ),
        )

    def release_variables(node):
        node.saved_log_probs = node.saved_result0 = node.saved_result1 = node.saved_targets = None
        node.released = True


class LogSoftmaxBackwardDataBackward0(Node):
    saved_output = saved_grad_output = None
    _saved_output, _raw_saved_output = tensor_getters("saved_output")
    _saved_grad_output, _raw_saved_grad_output = tensor_getters("saved_grad_output")
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_output, node.saved_grad_output])
            return (
                None,
                None,
            )
        edges = node.next_edges
        output = unpack(node, node.saved_output) if edges[0].node or edges[1].node else None
        grad_output = unpack(node, node.saved_grad_output) if edges[1].node else None
        edges = edges_to_compute(node)
        return (
            grad.to(node.output_dtype) - (grad.to(node.output_dtype) * output.exp()).sum(node.dim, True)
            if edges[0].node
            else None,
            (-grad_output.sum(node.dim, True) * output.exp() * grad.to(node.output_dtype)).to(node.output_dtype)
            if edges[1].node
            else None,
        )

    def release_variables(node):
        node.saved_output = node.saved_grad_output = None
        node.released = True


class SoftmaxBackwardDataBackward0(Node):
    saved_output = saved_grad_output = None
    _saved_output, _raw_saved_output = tensor_getters("saved_output")
    _saved_grad_output, _raw_saved_grad_output = tensor_getters("saved_grad_output")
    _saved_dim = int_getter("dim")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_output, node.saved_grad_output])
            return (
                None,
                None,
            )
        edges = node.next_edges
        output = unpack(node, node.saved_output) if edges[0].node or edges[1].node else None
        grad_output = unpack(node, node.saved_grad_output) if edges[1].node else None
        edges = edges_to_compute(node)
        return (
            functions._softmax_backward_data(grad.to(node.output_dtype), output, node.dim, node.input_dtype)
            if edges[0].node
            else None,
            softmax_double_backward(grad.to(node.output_dtype), grad_output, node.dim, output).to(node.output_dtype)
            if edges[1].node
            else None,
        )

    def release_variables(node):
        node.saved_output = node.saved_grad_output = None
        node.released = True


class BinaryCrossEntropyBackwardBackward0(Node):
    saved_self = saved_target = saved_weight = saved_grad_output = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_weight, _raw_saved_weight = tensor_getters("saved_weight")
    _saved_grad_output, _raw_saved_grad_output = tensor_getters("saved_grad_output")
    _saved_reduction = int_getter("reduction")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self, node.saved_target, node.saved_weight, node.saved_grad_output])
            return (
                None,
                None,
                None,
            )
        edges = node.next_edges
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node or edges[2].node else None
        target = unpack(node, node.saved_target) if edges[0].node or edges[1].node else None
        weight = unpack(node, node.saved_weight) if edges[0].node or edges[1].node or edges[2].node else None
        grad_output = unpack(node, node.saved_grad_output) if edges[1].node or edges[2].node else None
        edges = edges_to_compute(node)
        return (
            apply_weight((self - target) / ((self + 1e-12) * (1 - self + 1e-12)) * grad, weight, self, node.reduction)
            if edges[0].node
            else None,
            apply_weight(
                (self * self - 2 * self * target + target)
                / ((self + 1e-12) ** 2 * (1 - self + 1e-12) ** 2)
                * (grad * grad_output),
                weight,
                self,
                node.reduction,
            )
            if edges[1].node
            else None,
            apply_weight(
                -1 / ((self + 1e-12) * (1 - self + 1e-12)) * (grad * grad_output), weight, self, node.reduction
            )
            if edges[2].node
            else None,
        )

    def release_variables(node):
        node.saved_self = node.saved_target = node.saved_weight = node.saved_grad_output = None
        node.released = True


class DiagonalBackwardBackward0(Node):
    _saved_dim1 = int_getter("dim1")
    _saved_dim2 = int_getter("dim2")
    _saved_offset = int_getter("offset")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.diagonal(node.offset, node.dim1, node.dim2),)


class EluBackwardBackward0(Node):
    saved_self_or_result = saved_grad_output = None
    _saved_self_or_result, _raw_saved_self_or_result = tensor_getters("saved_self_or_result")
    _saved_grad_output, _raw_saved_grad_output = tensor_getters("saved_grad_output")
    _saved_alpha = value_getter("alpha")
    _saved_input_scale = value_getter("input_scale")
    _saved_is_result = value_getter("is_result")
    _saved_scale = value_getter("scale")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self_or_result, node.saved_grad_output])
            return (
                None,
                None,
            )
        edges = node.next_edges
        self_or_result = unpack(node, node.saved_self_or_result) if edges[0].node or edges[1].node else None
        grad_output = unpack(node, node.saved_grad_output) if edges[1].node else None
        edges = edges_to_compute(node)
        return (
            functions.elu_backward(grad, node.alpha, node.scale, node.input_scale, node.is_result, self_or_result)
            if edges[0].node
            else None,
            (
                (
                    grad * grad_output * node.input_scale
                    if node.is_result
                    else functions.elu_backward(
                        grad * grad_output * node.input_scale,
                        node.alpha,
                        node.scale,
                        node.input_scale,
                        False,
                        self_or_result,
                    )
                )
                * (self_or_result < 0)
            )
            if edges[1].node
            else None,
        )

    def release_variables(node):
        node.saved_self_or_result = node.saved_grad_output = None
        node.released = True


class EmbeddingDenseBackwardBackward0(Node):
    saved_indices = None
    _saved_indices, _raw_saved_indices = tensor_getters("saved_indices")
    _saved_padding_idx = int_getter("padding_idx")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_indices])
            return (None,)
        indices = unpack(node, node.saved_indices)
        return (embedding_dense_double_backward(grad, indices, node.padding_idx),)

    def release_variables(node):
        node.saved_indices = None
        node.released = True


class GeluBackwardBackward0(Node):
    saved_self = saved_grad_output = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_grad_output, _raw_saved_grad_output = tensor_getters("saved_grad_output")
    _saved_approximate = value_getter("approximate")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self, node.saved_grad_output])
            return (
                None,
                None,
            )
        edges = node.next_edges
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        grad_output = unpack(node, node.saved_grad_output) if edges[1].node else None
        edges = edges_to_compute(node)
        return (
            functions.gelu_backward(grad, self, approximate=node.approximate) if edges[0].node else None,
            gelu_double_backward(grad, grad_output, self, node.approximate) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_self = node.saved_grad_output = None
        node.released = True


class HardtanhBackwardBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_max_val = value_getter("max_val")
    _saved_min_val = value_getter("min_val")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        self = unpack(node, node.saved_self) if edges[0].node else None
        edges = edges_to_compute(node)
        return (
            functions.hardtanh_backward(grad, self, node.min_val, node.max_val) if edges[0].node else None,
            zeros_like(grad) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_self = None
        node.released = True


class HuberLossBackwardBackward0(Node):
    saved_grad_output = saved_self = saved_target = None
    _saved_grad_output, _raw_saved_grad_output = tensor_getters("saved_grad_output")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_delta = value_getter("delta")
    _saved_reduction = int_getter("reduction")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_grad_output, node.saved_self, node.saved_target])
            return (
                None,
                None,
                None,
            )
        edges = node.next_edges
        grad_output = unpack(node, node.saved_grad_output) if edges[0].node or edges[1].node or edges[2].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node or edges[2].node else None
        target = unpack(node, node.saved_target) if edges[0].node or edges[1].node or edges[2].node else None
        edges = edges_to_compute(node)
        return (
            (
                functions.huber_loss_backward(grad, self, target, node.reduction, node.delta)
                if node.reduction == 0
                else (
                    functions.huber_loss_backward(
                        functions.ones_like(grad_output), self, target, node.reduction, node.delta
                    )
                    * grad
                ).sum()
            )
            if edges[0].node
            else None,
            divide_for_mean(grad * grad_output * ((self - target).abs() < node.delta), self, node.reduction)
            if edges[1].node
            else None,
            -divide_for_mean(grad * grad_output * ((self - target).abs() < node.delta), self, node.reduction)
            if edges[2].node
            else None,
        )

    def release_variables(node):
        node.saved_grad_output = node.saved_self = node.saved_target = None
        node.released = True


class LeakyReluBackwardBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_negative_slope = value_getter("negative_slope")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        self = unpack(node, node.saved_self) if edges[0].node else None
        edges = edges_to_compute(node)
        return (
            functions.leaky_relu_backward(grad, self, node.negative_slope, False) if edges[0].node else None,
            zeros_like(grad) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_self = None
        node.released = True


class MseLossBackwardBackward0(Node):
    saved_self = saved_target = saved_grad_output = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_grad_output, _raw_saved_grad_output = tensor_getters("saved_grad_output")
    _saved_reduction = int_getter("reduction")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self, node.saved_target, node.saved_grad_output])
            return (
                None,
                None,
                None,
            )
        edges = node.next_edges
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        target = unpack(node, node.saved_target) if edges[0].node or edges[2].node else None
        grad_output = unpack(node, node.saved_grad_output) if edges[1].node or edges[2].node else None
        edges = edges_to_compute(node)
        return (
            functions.mse_loss_backward(grad, self, target, node.reduction) if edges[0].node else None,
            divide_for_mean(mul_scalar(grad * grad_output, 2), self, node.reduction) if edges[1].node else None,
            -divide_for_mean(mul_scalar(grad * grad_output, 2), target, node.reduction) if edges[2].node else None,
        )

    def release_variables(node):
        node.saved_self = node.saved_target = node.saved_grad_output = None
        node.released = True


class NllLoss2DBackwardBackward0(Node):
    saved_target = saved_weight = None
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_weight, _raw_saved_weight = tensor_getters("saved_weight")
    _saved_ignore_index = int_getter("ignore_index")
    _saved_reduction = int_getter("reduction")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_target, node.saved_weight])
            return (
                None,
                None,
            )
        edges = node.next_edges
        target = unpack(node, node.saved_target) if edges[0].node else None
        weight = unpack(node, node.saved_weight) if edges[0].node else None
        edges = edges_to_compute(node)
        return (
            functions.nll_loss2d(grad, target, weight, node.reduction, node.ignore_index) if edges[0].node else None,
            zeros_like(grad) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_target = node.saved_weight = None
        node.released = True


class NllLossBackwardBackward0(Node):
    saved_target = saved_weight = None
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_weight, _raw_saved_weight = tensor_getters("saved_weight")
    _saved_ignore_index = int_getter("ignore_index")
    _saved_reduction = int_getter("reduction")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_target, node.saved_weight])
            return (
                None,
                None,
            )
        edges = node.next_edges
        target = unpack(node, node.saved_target) if edges[0].node else None
        weight = unpack(node, node.saved_weight) if edges[0].node else None
        edges = edges_to_compute(node)
        return (
            functions.nll_loss(grad, target, weight, node.reduction, node.ignore_index) if edges[0].node else None,
            zeros_like(grad) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_target = node.saved_weight = None
        node.released = True


class SelectBackwardBackward0(Node):
    _saved_dim = int_getter("dim")
    _saved_index = int_getter("index")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.select(node.dim, node.index),)


class SigmoidBackwardBackward0(Node):
    saved_output = saved_grad_output = None
    _saved_output, _raw_saved_output = tensor_getters("saved_output")
    _saved_grad_output, _raw_saved_grad_output = tensor_getters("saved_grad_output")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_output, node.saved_grad_output])
            return (
                None,
                None,
            )
        edges = node.next_edges
        output = unpack(node, node.saved_output) if edges[0].node or edges[1].node else None
        grad_output = unpack(node, node.saved_grad_output) if edges[1].node else None
        edges = edges_to_compute(node)
        return (
            functions.sigmoid_backward(grad, output) if edges[0].node else None,
            grad * grad_output * add_scalar(mul_scalar(output, -2), 1) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_output = node.saved_grad_output = None
        node.released = True


class SliceBackwardBackward0(Node):
    _saved_dim = int_getter("dim")
    _saved_end = int_getter("end")
    _saved_start = int_getter("start")
    _saved_step = int_getter("step")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (functions.slice(grad, node.dim, node.start, node.end, node.step),)


class SmoothL1LossBackwardBackward0(Node):
    saved_self = saved_target = saved_grad_output = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_target, _raw_saved_target = tensor_getters("saved_target")
    _saved_grad_output, _raw_saved_grad_output = tensor_getters("saved_grad_output")
    _saved_beta = value_getter("beta")
    _saved_reduction = int_getter("reduction")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self, node.saved_target, node.saved_grad_output])
            return (
                None,
                None,
                None,
            )
        edges = node.next_edges
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node or edges[2].node else None
        target = unpack(node, node.saved_target) if edges[0].node or edges[1].node or edges[2].node else None
        grad_output = unpack(node, node.saved_grad_output) if edges[1].node or edges[2].node else None
        edges = edges_to_compute(node)
        return (
            functions.smooth_l1_loss_backward(grad, self, target, node.reduction, node.beta) if edges[0].node else None,
            (
                zeros_like(grad)
                if node.beta == 0
                else divide_for_mean(
                    grad * grad_output * ((self - target).abs() < node.beta) / node.beta, self, node.reduction
                )
            )
            if edges[1].node
            else None,
            (
                -(
                    zeros_like(grad)
                    if node.beta == 0
                    else divide_for_mean(
                        grad * grad_output * ((self - target).abs() < node.beta) / node.beta, self, node.reduction
                    )
                )
            )
            if edges[2].node
            else None,
        )

    def release_variables(node):
        node.saved_self = node.saved_target = node.saved_grad_output = None
        node.released = True


class SoftplusBackwardBackward0(Node):
    saved_self = saved_grad_output = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_grad_output, _raw_saved_grad_output = tensor_getters("saved_grad_output")
    _saved_beta = value_getter("beta")
    _saved_threshold = value_getter("threshold")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self, node.saved_grad_output])
            return (
                None,
                None,
            )
        edges = node.next_edges
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        grad_output = unpack(node, node.saved_grad_output) if edges[1].node else None
        edges = edges_to_compute(node)
        return (
            functions.softplus_backward(grad, self, node.beta, node.threshold) if edges[0].node else None,
            functions.sigmoid_backward(grad * grad_output, (x := (self * node.beta)).sigmoid())
            * (x < node.threshold)
            * node.beta
            if edges[1].node
            else None,
        )

    def release_variables(node):
        node.saved_self = node.saved_grad_output = None
        node.released = True


class TanhBackwardBackward0(Node):
    saved_output = saved_grad_output = None
    _saved_output, _raw_saved_output = tensor_getters("saved_output")
    _saved_grad_output, _raw_saved_grad_output = tensor_getters("saved_grad_output")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_output, node.saved_grad_output])
            return (
                None,
                None,
            )
        edges = node.next_edges
        output = unpack(node, node.saved_output) if edges[0].node or edges[1].node else None
        grad_output = unpack(node, node.saved_grad_output) if edges[1].node else None
        edges = edges_to_compute(node)
        return (
            functions.tanh_backward(grad, output) if edges[0].node else None,
            grad * (mul_scalar(output, -2) * grad_output) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_output = node.saved_grad_output = None
        node.released = True


class ThresholdBackwardBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_threshold = value_getter("threshold")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        self = unpack(node, node.saved_self) if edges[0].node else None
        edges = edges_to_compute(node)
        return (
            functions.threshold_backward(grad, self, node.threshold) if edges[0].node else None,
            zeros_like(grad) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_self = None
        node.released = True


class UnfoldBackwardBackward0(Node):
    _saved_dim = int_getter("dim")
    _saved_size = int_getter("size")
    _saved_step = int_getter("step")

    def apply(node, grad):
        if grad is None:
            return (None,)
        return (grad.unfold(node.dim, node.size, node.step),)


class HardshrinkBackwardBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_lambd = value_getter("lambd")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        self = unpack(node, node.saved_self) if edges[0].node else None
        edges = edges_to_compute(node)
        return (
            functions.hardshrink_backward(grad, self, node.lambd) if edges[0].node else None,
            zeros_like(grad) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_self = None
        node.released = True


class SoftshrinkBackwardBackward0(Node):
    saved_self = None
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_lambd = value_getter("lambd")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_self])
            return (
                None,
                None,
            )
        edges = node.next_edges
        self = unpack(node, node.saved_self) if edges[0].node else None
        edges = edges_to_compute(node)
        return (
            functions.softshrink_backward(grad, self, node.lambd) if edges[0].node else None,
            zeros_like(grad) if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_self = None
        node.released = True


class LogSigmoidBackwardBackward0(Node):
    saved_buffer = saved_self = saved_grad_output = None
    _saved_buffer, _raw_saved_buffer = tensor_getters("saved_buffer")
    _saved_self, _raw_saved_self = tensor_getters("saved_self")
    _saved_grad_output, _raw_saved_grad_output = tensor_getters("saved_grad_output")

    def apply(node, grad):
        if grad is None:
            unpack(node, [node.saved_buffer, node.saved_self, node.saved_grad_output])
            return (
                None,
                None,
            )
        edges = node.next_edges
        buffer = unpack(node, node.saved_buffer) if edges[0].node else None
        self = unpack(node, node.saved_self) if edges[0].node or edges[1].node else None
        grad_output = unpack(node, node.saved_grad_output) if edges[1].node else None
        edges = edges_to_compute(node)
        return (
            functions.log_sigmoid_backward(grad, self, buffer) if edges[0].node else None,
            grad * grad_output * (self.sigmoid() - 1) * self.sigmoid() if edges[1].node else None,
        )

    def release_variables(node):
        node.saved_buffer = node.saved_self = node.saved_grad_output = None
        node.released = True


class FakeQuantizePerTensorAffineCachemaskBackward0(Node):
    saved_mask = None
    _saved_mask, _raw_saved_mask = tensor_getters("saved_mask")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_mask])
            return (None,)
        grad = grads[0]
        mask = unpack(node, node.saved_mask)
        return (functions.fake_quantize_per_tensor_affine_cachemask_backward(grad, mask),)

    def release_variables(node):
        node.saved_mask = None
        node.released = True


class FakeQuantizePerTensorAffineCachemaskTensorQparamsBackward0(Node):
    saved_mask = None
    _saved_mask, _raw_saved_mask = tensor_getters("saved_mask")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_mask])
            return (None,)
        grad = grads[0]
        mask = unpack(node, node.saved_mask)
        return (functions.fake_quantize_per_tensor_affine_cachemask_backward(grad, mask),)

    def release_variables(node):
        node.saved_mask = None
        node.released = True


class FakeQuantizePerChannelAffineCachemaskBackward0(Node):
    saved_mask = None
    _saved_mask, _raw_saved_mask = tensor_getters("saved_mask")

    def apply(node, *grads):
        if all(grad is None for grad in grads):
            unpack(node, [node.saved_mask])
            return (None,)
        grad = grads[0]
        mask = unpack(node, node.saved_mask)
        return (functions.fake_quantize_per_channel_affine_cachemask_backward(grad, mask),)

    def release_variables(node):
        node.saved_mask = None
        node.released = True


# ---- Kernels for the key Autograd


def alias(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return alias_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return alias_op.below[key_set](self)
    node = AliasBackward0()
    node.next_edges = edges
    result = call_below(alias_op.below[key_set], self)
    set_history(result, node)
    return result


def alias_copy(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return alias_copy_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return alias_copy_op.below[key_set](self)
    node = AliasBackward0_copy()
    node.next_edges = edges
    result = call_below(alias_copy_op.below[key_set], self)
    set_history(result, node)
    return result


def lift_fresh_copy(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return lift_fresh_copy_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return lift_fresh_copy_op.below[key_set](self)
    node = LiftFreshBackward0_copy()
    node.next_edges = edges
    result = call_below(lift_fresh_copy_op.below[key_set], self)
    set_history(result, node)
    return result


def as_strided(key_set, self, size, stride, storage_offset):
    if not local.grad_enabled or self._autograd is self._base is None:
        return as_strided_op.below[key_set](self, size, stride, storage_offset)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return as_strided_op.below[key_set](self, size, stride, storage_offset)
    node = AsStridedBackward0()
    node.next_edges = edges
    node.self_geometry = (self.shape, self.stride(), self.storage_offset())
    node.size = size
    node.storage_offset = storage_offset
    node.stride = stride
    result = call_below(as_strided_op.below[key_set], self, size, stride, storage_offset)
    set_history(result, node)
    return result


def as_strided_copy(key_set, self, size, stride, storage_offset):
    if not local.grad_enabled or self._autograd is self._base is None:
        return as_strided_copy_op.below[key_set](self, size, stride, storage_offset)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return as_strided_copy_op.below[key_set](self, size, stride, storage_offset)
    node = AsStridedBackward0_copy()
    node.next_edges = edges
    node.self_geometry = (self.shape, self.stride(), self.storage_offset())
    node.size = size
    node.storage_offset = storage_offset
    node.stride = stride
    result = call_below(as_strided_copy_op.below[key_set], self, size, stride, storage_offset)
    set_history(result, node)
    return result


def as_strided_(key_set, self, size, stride, storage_offset):
    if not local.grad_enabled or self._autograd is self._base is None:
        return as_strided__op.below[key_set](self, size, stride, storage_offset)
    if not any_requires_grad([self]):
        return as_strided__op.below[key_set](self, size, stride, storage_offset)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = AsStridedBackward1()
    node.next_edges = edges
    node.self_geometry = (self.shape, self.stride(), self.storage_offset())
    node.size = size
    node.storage_offset = storage_offset
    node.stride = stride
    result = call_below(as_strided__op.below[key_set], self, size, stride, storage_offset)
    set_history_inplace(self, node)
    return result


def as_strided_scatter(key_set, self, src, size, stride, storage_offset):
    if not local.grad_enabled or self._autograd is self._base is None and src._autograd is src._base is None:
        return as_strided_scatter_op.below[key_set](self, src, size, stride, storage_offset)
    edges = [gradient_edge(self), gradient_edge(src)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, src]):
        return as_strided_scatter_op.below[key_set](self, src, size, stride, storage_offset)
    node = AsStridedScatterBackward0()
    node.next_edges = edges
    node.self_geometry = (self.shape, self.stride(), self.storage_offset())
    node.size = size
    node.storage_offset = storage_offset
    node.stride = stride
    result = call_below(as_strided_scatter_op.below[key_set], self, src, size, stride, storage_offset)
    set_history(result, node)
    return result


def diagonal(key_set, self, offset, dim1, dim2):
    if not local.grad_enabled or self._autograd is self._base is None:
        return diagonal_op.below[key_set](self, offset, dim1, dim2)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return diagonal_op.below[key_set](self, offset, dim1, dim2)
    node = DiagonalBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim1 = dim1
    node.dim2 = dim2
    node.offset = offset
    result = call_below(diagonal_op.below[key_set], self, offset, dim1, dim2)
    set_history(result, node)
    return result


def diagonal_copy(key_set, self, offset, dim1, dim2):
    if not local.grad_enabled or self._autograd is self._base is None:
        return diagonal_copy_op.below[key_set](self, offset, dim1, dim2)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return diagonal_copy_op.below[key_set](self, offset, dim1, dim2)
    node = DiagonalBackward0_copy()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim1 = dim1
    node.dim2 = dim2
    node.offset = offset
    result = call_below(diagonal_copy_op.below[key_set], self, offset, dim1, dim2)
    set_history(result, node)
    return result


def diagonal_scatter(key_set, self, src, offset, dim1, dim2):
    if not local.grad_enabled or self._autograd is self._base is None and src._autograd is src._base is None:
        return diagonal_scatter_op.below[key_set](self, src, offset, dim1, dim2)
    edges = [gradient_edge(self), gradient_edge(src)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, src]):
        return diagonal_scatter_op.below[key_set](self, src, offset, dim1, dim2)
    node = DiagonalScatterBackward0()
    node.next_edges = edges
    node.src_info = src.shape
    node.dim1 = dim1
    node.dim2 = dim2
    node.offset = offset
    result = call_below(diagonal_scatter_op.below[key_set], self, src, offset, dim1, dim2)
    set_history(result, node)
    return result


def expand(key_set, self, size):
    if not local.grad_enabled or self._autograd is self._base is None:
        return expand_op.below[key_set](self, size)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return expand_op.below[key_set](self, size)
    node = ExpandBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    result = call_below(expand_op.below[key_set], self, size)
    set_history(result, node)
    return result


def expand_copy(key_set, self, size):
    if not local.grad_enabled or self._autograd is self._base is None:
        return expand_copy_op.below[key_set](self, size)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return expand_copy_op.below[key_set](self, size)
    node = ExpandBackward0_copy()
    node.next_edges = edges
    node.self_shape = self.shape
    result = call_below(expand_copy_op.below[key_set], self, size)
    set_history(result, node)
    return result


def permute(key_set, self, dims):
    if not local.grad_enabled or self._autograd is self._base is None:
        return permute_op.below[key_set](self, dims)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return permute_op.below[key_set](self, dims)
    node = PermuteBackward0()
    node.next_edges = edges
    node.dims = dims
    result = call_below(permute_op.below[key_set], self, dims)
    set_history(result, node)
    return result


def permute_copy(key_set, self, dims):
    if not local.grad_enabled or self._autograd is self._base is None:
        return permute_copy_op.below[key_set](self, dims)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return permute_copy_op.below[key_set](self, dims)
    node = PermuteBackward0_copy()
    node.next_edges = edges
    node.dims = dims
    result = call_below(permute_copy_op.below[key_set], self, dims)
    set_history(result, node)
    return result


def select_int(key_set, self, dim, index):
    if not local.grad_enabled or self._autograd is self._base is None:
        return select_int_op.below[key_set](self, dim, index)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return select_int_op.below[key_set](self, dim, index)
    node = SelectBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    node.index = index
    result = call_below(select_int_op.below[key_set], self, dim, index)
    set_history(result, node)
    return result


def select_scatter(key_set, self, src, dim, index):
    if not local.grad_enabled or self._autograd is self._base is None and src._autograd is src._base is None:
        return select_scatter_op.below[key_set](self, src, dim, index)
    edges = [gradient_edge(self), gradient_edge(src)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, src]):
        return select_scatter_op.below[key_set](self, src, dim, index)
    node = SelectScatterBackward0()
    node.next_edges = edges
    node.src_info = src.shape
    node.dim = dim
    node.index = index
    result = call_below(select_scatter_op.below[key_set], self, src, dim, index)
    set_history(result, node)
    return result


def slice_Tensor(key_set, self, dim, start, end, step):
    if not local.grad_enabled or self._autograd is self._base is None:
        return slice_Tensor_op.below[key_set](self, dim, start, end, step)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return slice_Tensor_op.below[key_set](self, dim, start, end, step)
    node = SliceBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    node.end = end
    node.start = start
    node.step = step
    result = call_below(slice_Tensor_op.below[key_set], self, dim, start, end, step)
    set_history(result, node)
    return result


def slice_scatter(key_set, self, src, dim, start, end, step):
    if not local.grad_enabled or self._autograd is self._base is None and src._autograd is src._base is None:
        return slice_scatter_op.below[key_set](self, src, dim, start, end, step)
    edges = [gradient_edge(self), gradient_edge(src)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, src]):
        return slice_scatter_op.below[key_set](self, src, dim, start, end, step)
    node = SliceScatterBackward0()
    node.next_edges = edges
    node.src_info = src.shape
    node.dim = dim
    node.end = end
    node.start = start
    node.step = step
    result = call_below(slice_scatter_op.below[key_set], self, src, dim, start, end, step)
    set_history(result, node)
    return result


def split_Tensor(key_set, self, split_size, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return split_Tensor_op.below[key_set](self, split_size, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return split_Tensor_op.below[key_set](self, split_size, dim)
    node = SplitBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.self_dtype = self.dtype
    node.dim = dim
    node.split_size = split_size
    result = call_below(split_Tensor_op.below[key_set], self, split_size, dim)
    set_history(result, node)
    return result


def split_with_sizes(key_set, self, split_sizes, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return split_with_sizes_op.below[key_set](self, split_sizes, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return split_with_sizes_op.below[key_set](self, split_sizes, dim)
    node = SplitWithSizesBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.self_dtype = self.dtype
    node.dim = dim
    node.split_sizes = split_sizes
    result = call_below(split_with_sizes_op.below[key_set], self, split_sizes, dim)
    set_history(result, node)
    return result


def split_with_sizes_copy(key_set, self, split_sizes, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return split_with_sizes_copy_op.below[key_set](self, split_sizes, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return split_with_sizes_copy_op.below[key_set](self, split_sizes, dim)
    node = SplitWithSizesBackward0_copy()
    node.next_edges = edges
    node.self_shape = self.shape
    node.self_dtype = self.dtype
    node.dim = dim
    node.split_sizes = split_sizes
    result = call_below(split_with_sizes_copy_op.below[key_set], self, split_sizes, dim)
    set_history(result, node)
    return result


def squeeze(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return squeeze_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return squeeze_op.below[key_set](self)
    node = SqueezeBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    result = call_below(squeeze_op.below[key_set], self)
    set_history(result, node)
    return result


def squeeze_copy(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return squeeze_copy_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return squeeze_copy_op.below[key_set](self)
    node = SqueezeBackward0_copy()
    node.next_edges = edges
    node.self_shape = self.shape
    result = call_below(squeeze_copy_op.below[key_set], self)
    set_history(result, node)
    return result


def squeeze_dim(key_set, self, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return squeeze_dim_op.below[key_set](self, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return squeeze_dim_op.below[key_set](self, dim)
    node = SqueezeBackward1()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    result = call_below(squeeze_dim_op.below[key_set], self, dim)
    set_history(result, node)
    return result


def squeeze_copy_dim(key_set, self, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return squeeze_copy_dim_op.below[key_set](self, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return squeeze_copy_dim_op.below[key_set](self, dim)
    node = SqueezeBackward1_copy()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    result = call_below(squeeze_copy_dim_op.below[key_set], self, dim)
    set_history(result, node)
    return result


def squeeze_dims(key_set, self, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return squeeze_dims_op.below[key_set](self, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return squeeze_dims_op.below[key_set](self, dim)
    node = SqueezeBackward2()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    result = call_below(squeeze_dims_op.below[key_set], self, dim)
    set_history(result, node)
    return result


def squeeze_copy_dims(key_set, self, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return squeeze_copy_dims_op.below[key_set](self, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return squeeze_copy_dims_op.below[key_set](self, dim)
    node = SqueezeBackward2_copy()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    result = call_below(squeeze_copy_dims_op.below[key_set], self, dim)
    set_history(result, node)
    return result


def squeeze_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return squeeze__op.below[key_set](self)
    if not any_requires_grad([self]):
        return squeeze__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = SqueezeBackward3()
    node.next_edges = edges
    node.self_shape = self.shape
    result = call_below(squeeze__op.below[key_set], self)
    set_history_inplace(self, node)
    return result


def squeeze__dim(key_set, self, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return squeeze__dim_op.below[key_set](self, dim)
    if not any_requires_grad([self]):
        return squeeze__dim_op.below[key_set](self, dim)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = SqueezeBackward4()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    result = call_below(squeeze__dim_op.below[key_set], self, dim)
    set_history_inplace(self, node)
    return result


def squeeze__dims(key_set, self, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return squeeze__dims_op.below[key_set](self, dim)
    if not any_requires_grad([self]):
        return squeeze__dims_op.below[key_set](self, dim)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = SqueezeBackward5()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    result = call_below(squeeze__dims_op.below[key_set], self, dim)
    set_history_inplace(self, node)
    return result


def t(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return t_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return t_op.below[key_set](self)
    node = TBackward0()
    node.next_edges = edges
    result = call_below(t_op.below[key_set], self)
    set_history(result, node)
    return result


def t_copy(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return t_copy_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return t_copy_op.below[key_set](self)
    node = TBackward0_copy()
    node.next_edges = edges
    result = call_below(t_copy_op.below[key_set], self)
    set_history(result, node)
    return result


def t_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return t__op.below[key_set](self)
    if not any_requires_grad([self]):
        return t__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = TBackward1()
    node.next_edges = edges
    result = call_below(t__op.below[key_set], self)
    set_history_inplace(self, node)
    return result


def transpose_int(key_set, self, dim0, dim1):
    if not local.grad_enabled or self._autograd is self._base is None:
        return transpose_int_op.below[key_set](self, dim0, dim1)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return transpose_int_op.below[key_set](self, dim0, dim1)
    node = TransposeBackward0()
    node.next_edges = edges
    node.dim0 = dim0
    node.dim1 = dim1
    result = call_below(transpose_int_op.below[key_set], self, dim0, dim1)
    set_history(result, node)
    return result


def transpose_copy_int(key_set, self, dim0, dim1):
    if not local.grad_enabled or self._autograd is self._base is None:
        return transpose_copy_int_op.below[key_set](self, dim0, dim1)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return transpose_copy_int_op.below[key_set](self, dim0, dim1)
    node = TransposeBackward0_copy()
    node.next_edges = edges
    node.dim0 = dim0
    node.dim1 = dim1
    result = call_below(transpose_copy_int_op.below[key_set], self, dim0, dim1)
    set_history(result, node)
    return result


def transpose_(key_set, self, dim0, dim1):
    if not local.grad_enabled or self._autograd is self._base is None:
        return transpose__op.below[key_set](self, dim0, dim1)
    if not any_requires_grad([self]):
        return transpose__op.below[key_set](self, dim0, dim1)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = TransposeBackward1()
    node.next_edges = edges
    node.dim0 = dim0
    node.dim1 = dim1
    result = call_below(transpose__op.below[key_set], self, dim0, dim1)
    set_history_inplace(self, node)
    return result


def unbind_int(key_set, self, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return unbind_int_op.below[key_set](self, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return unbind_int_op.below[key_set](self, dim)
    node = UnbindBackward0()
    node.next_edges = edges
    node.self_dtype = self.dtype
    node.dim = dim
    result = call_below(unbind_int_op.below[key_set], self, dim)
    set_history(result, node)
    node.result_shapes = [each.shape for each in result]
    return result


def unbind_copy_int(key_set, self, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return unbind_copy_int_op.below[key_set](self, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return unbind_copy_int_op.below[key_set](self, dim)
    node = UnbindBackward0_copy()
    node.next_edges = edges
    node.self_dtype = self.dtype
    node.dim = dim
    result = call_below(unbind_copy_int_op.below[key_set], self, dim)
    set_history(result, node)
    node.result_shapes = [each.shape for each in result]
    return result


def unfold(key_set, self, dimension, size, step):
    if not local.grad_enabled or self._autograd is self._base is None:
        return unfold_op.below[key_set](self, dimension, size, step)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return unfold_op.below[key_set](self, dimension, size, step)
    node = UnfoldBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dimension = dimension
    node.size = size
    node.step = step
    result = call_below(unfold_op.below[key_set], self, dimension, size, step)
    set_history(result, node)
    return result


def unfold_copy(key_set, self, dimension, size, step):
    if not local.grad_enabled or self._autograd is self._base is None:
        return unfold_copy_op.below[key_set](self, dimension, size, step)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return unfold_copy_op.below[key_set](self, dimension, size, step)
    node = UnfoldBackward0_copy()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dimension = dimension
    node.size = size
    node.step = step
    result = call_below(unfold_copy_op.below[key_set], self, dimension, size, step)
    set_history(result, node)
    return result


def unsqueeze(key_set, self, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return unsqueeze_op.below[key_set](self, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return unsqueeze_op.below[key_set](self, dim)
    node = UnsqueezeBackward0()
    node.next_edges = edges
    node.dim = dim
    result = call_below(unsqueeze_op.below[key_set], self, dim)
    set_history(result, node)
    return result


def unsqueeze_copy(key_set, self, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return unsqueeze_copy_op.below[key_set](self, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return unsqueeze_copy_op.below[key_set](self, dim)
    node = UnsqueezeBackward0_copy()
    node.next_edges = edges
    node.dim = dim
    result = call_below(unsqueeze_copy_op.below[key_set], self, dim)
    set_history(result, node)
    return result


def unsqueeze_(key_set, self, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return unsqueeze__op.below[key_set](self, dim)
    if not any_requires_grad([self]):
        return unsqueeze__op.below[key_set](self, dim)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = UnsqueezeBackward1()
    node.next_edges = edges
    node.dim = dim
    result = call_below(unsqueeze__op.below[key_set], self, dim)
    set_history_inplace(self, node)
    return result


def _reshape_alias(key_set, self, size, stride):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _reshape_alias_op.below[key_set](self, size, stride)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _reshape_alias_op.below[key_set](self, size, stride)
    node = ReshapeAliasBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    result = call_below(_reshape_alias_op.below[key_set], self, size, stride)
    set_history(result, node)
    return result


def _reshape_alias_copy(key_set, self, size, stride):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _reshape_alias_copy_op.below[key_set](self, size, stride)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _reshape_alias_copy_op.below[key_set](self, size, stride)
    node = ReshapeAliasBackward0_copy()
    node.next_edges = edges
    node.self_shape = self.shape
    result = call_below(_reshape_alias_copy_op.below[key_set], self, size, stride)
    set_history(result, node)
    return result


def _unsafe_view(key_set, self, size):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _unsafe_view_op.below[key_set](self, size)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _unsafe_view_op.below[key_set](self, size)
    node = UnsafeViewBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    result = call_below(_unsafe_view_op.below[key_set], self, size)
    set_history(result, node)
    return result


def view(key_set, self, size):
    if not local.grad_enabled or self._autograd is self._base is None:
        return view_op.below[key_set](self, size)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return view_op.below[key_set](self, size)
    node = ViewBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    result = call_below(view_op.below[key_set], self, size)
    set_history(result, node)
    return result


def view_copy(key_set, self, size):
    if not local.grad_enabled or self._autograd is self._base is None:
        return view_copy_op.below[key_set](self, size)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return view_copy_op.below[key_set](self, size)
    node = ViewBackward0_copy()
    node.next_edges = edges
    node.self_shape = self.shape
    result = call_below(view_copy_op.below[key_set], self, size)
    set_history(result, node)
    return result


def clone(key_set, self, memory_format):
    if not local.grad_enabled or self._autograd is self._base is None:
        return clone_op.below[key_set](self, memory_format)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return clone_op.below[key_set](self, memory_format)
    node = CloneBackward0()
    node.next_edges = edges
    result = call_below(clone_op.below[key_set], self, memory_format)
    set_history(result, node)
    return result


def copy_(key_set, self, src, non_blocking):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and (not isinstance(src, Tensor) or src._autograd is src._base is None)
    ):
        return copy__op.below[key_set](self, src, non_blocking)
    if not any_requires_grad([self, src]) or not self.dtype.is_floating_point:
        return copy__op.below[key_set](self, src, non_blocking)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(src)]
    node = CopyBackwards()
    node.next_edges = edges
    result = call_below(copy__op.below[key_set], self, src, non_blocking)
    rebase_history(self, node)
    return result


def _to_copy(key_set, self, dtype, layout, device, pin_memory, non_blocking, memory_format):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _to_copy_op.below[key_set](self, dtype, layout, device, pin_memory, non_blocking, memory_format)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _to_copy_op.below[key_set](self, dtype, layout, device, pin_memory, non_blocking, memory_format)
    node = ToCopyBackward0()
    node.next_edges = edges
    node.self_dtype = self.dtype
    result = call_below(
        _to_copy_op.below[key_set], self, dtype, layout, device, pin_memory, non_blocking, memory_format
    )
    set_history(result, node)
    return result


def fill_Scalar(key_set, self, value):
    if not local.grad_enabled or self._autograd is self._base is None:
        return fill_Scalar_op.below[key_set](self, value)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return fill_Scalar_op.below[key_set](self, value)
    node = FillBackward0()
    node.next_edges = edges
    result = call_below(fill_Scalar_op.below[key_set], self, value)
    set_history(result, node)
    return result


def fill_Tensor(key_set, self, value):
    if not local.grad_enabled or self._autograd is self._base is None and value._autograd is value._base is None:
        return fill_Tensor_op.below[key_set](self, value)
    edges = [gradient_edge(self), gradient_edge(value)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, value]):
        return fill_Tensor_op.below[key_set](self, value)
    node = FillBackward1()
    node.next_edges = edges
    result = call_below(fill_Tensor_op.below[key_set], self, value)
    set_history(result, node)
    return result


def fill__Scalar(key_set, self, value):
    if not local.grad_enabled or self._autograd is self._base is None:
        return fill__Scalar_op.below[key_set](self, value)
    if not any_requires_grad([self]):
        return fill__Scalar_op.below[key_set](self, value)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = FillBackward2()
    node.next_edges = edges
    result = call_below(fill__Scalar_op.below[key_set], self, value)
    rebase_history(self, node)
    return result


def fill__Tensor(key_set, self, value):
    if not local.grad_enabled or self._autograd is self._base is None and value._autograd is value._base is None:
        return fill__Tensor_op.below[key_set](self, value)
    if not any_requires_grad([self, value]):
        return fill__Tensor_op.below[key_set](self, value)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(value)]
    node = FillBackward3()
    node.next_edges = edges
    result = call_below(fill__Tensor_op.below[key_set], self, value)
    rebase_history(self, node)
    return result


def zero_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return zero__op.below[key_set](self)
    if not any_requires_grad([self]):
        return zero__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = ZeroBackward0()
    node.next_edges = edges
    result = call_below(zero__op.below[key_set], self)
    rebase_history(self, node)
    return result


def normal_(key_set, self, mean, std, generator):
    if not local.grad_enabled or self._autograd is self._base is None:
        return normal__op.below[key_set](self, mean, std, generator)
    if not any_requires_grad([self]):
        return normal__op.below[key_set](self, mean, std, generator)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = NormalBackward0()
    node.next_edges = edges
    result = call_below(normal__op.below[key_set], self, mean, std, generator)
    rebase_history(self, node)
    return result


def normal_Tensor_float(key_set, mean, std, generator):
    if not local.grad_enabled or mean._autograd is mean._base is None:
        return normal_Tensor_float_op.below[key_set](mean, std, generator)
    edges = [gradient_edge(mean)]
    if edges[0].node is None and not any_requires_grad([mean]):
        return normal_Tensor_float_op.below[key_set](mean, std, generator)
    node = NormalBackward1()
    node.next_edges = edges
    node.mean_shape = mean.shape
    result = call_below(normal_Tensor_float_op.below[key_set], mean, std, generator)
    set_history(result, node)
    return result


def normal_float_Tensor(key_set, mean, std, generator):
    if not local.grad_enabled or std._autograd is std._base is None:
        return normal_float_Tensor_op.below[key_set](mean, std, generator)
    edges = [gradient_edge(std)]
    if edges[0].node is None and not any_requires_grad([std]):
        return normal_float_Tensor_op.below[key_set](mean, std, generator)
    node = NormalBackward2()
    node.next_edges = edges
    node.std_shape = std.shape
    result = call_below(normal_float_Tensor_op.below[key_set], mean, std, generator)
    set_history(result, node)
    return result


def normal_Tensor_Tensor(key_set, mean, std, generator):
    if not local.grad_enabled or mean._autograd is mean._base is None and std._autograd is std._base is None:
        return normal_Tensor_Tensor_op.below[key_set](mean, std, generator)
    edges = [gradient_edge(mean), gradient_edge(std)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([mean, std]):
        return normal_Tensor_Tensor_op.below[key_set](mean, std, generator)
    node = NormalBackward3()
    node.next_edges = edges
    node.mean_shape = mean.shape
    node.std_shape = std.shape
    result = call_below(normal_Tensor_Tensor_op.below[key_set], mean, std, generator)
    set_history(result, node)
    return result


def exponential(key_set, self, lambd, generator):
    if not local.grad_enabled or self._autograd is self._base is None:
        return exponential_op.below[key_set](self, lambd, generator)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return exponential_op.below[key_set](self, lambd, generator)
    node = ExponentialBackward0()
    node.next_edges = edges
    result = call_below(exponential_op.below[key_set], self, lambd, generator)
    set_history(result, node)
    return result


def exponential_(key_set, self, lambd, generator):
    if not local.grad_enabled or self._autograd is self._base is None:
        return exponential__op.below[key_set](self, lambd, generator)
    if not any_requires_grad([self]):
        return exponential__op.below[key_set](self, lambd, generator)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = ExponentialBackward0()
    node.next_edges = edges
    result = call_below(exponential__op.below[key_set], self, lambd, generator)
    rebase_history(self, node)
    return result


def uniform(key_set, self, from_, to, generator):
    if not local.grad_enabled or self._autograd is self._base is None:
        return uniform_op.below[key_set](self, from_, to, generator)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return uniform_op.below[key_set](self, from_, to, generator)
    node = UniformBackward0()
    node.next_edges = edges
    result = call_below(uniform_op.below[key_set], self, from_, to, generator)
    set_history(result, node)
    return result


def uniform_(key_set, self, from_, to, generator):
    if not local.grad_enabled or self._autograd is self._base is None:
        return uniform__op.below[key_set](self, from_, to, generator)
    if not any_requires_grad([self]):
        return uniform__op.below[key_set](self, from_, to, generator)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = UniformBackward0()
    node.next_edges = edges
    result = call_below(uniform__op.below[key_set], self, from_, to, generator)
    rebase_history(self, node)
    return result


def bernoulli(key_set, self, generator):
    if not local.grad_enabled or self._autograd is self._base is None:
        return bernoulli_op.below[key_set](self, generator)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return bernoulli_op.below[key_set](self, generator)
    node = BernoulliBackward0()
    node.next_edges = edges
    result = call_below(bernoulli_op.below[key_set], self, generator)
    set_history(result, node)
    return result


def bernoulli_Tensor(key_set, self, p, generator):
    if not local.grad_enabled or self._autograd is self._base is None and p._autograd is p._base is None:
        return bernoulli_Tensor_op.below[key_set](self, p, generator)
    edges = [gradient_edge(self), gradient_edge(p)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, p]):
        return bernoulli_Tensor_op.below[key_set](self, p, generator)
    node = BernoulliBackward1()
    node.next_edges = edges
    node.p_info = p.shape
    result = call_below(bernoulli_Tensor_op.below[key_set], self, p, generator)
    set_history(result, node)
    return result


def bernoulli__Tensor(key_set, self, p, generator):
    if not local.grad_enabled or self._autograd is self._base is None and p._autograd is p._base is None:
        return bernoulli__Tensor_op.below[key_set](self, p, generator)
    if not any_requires_grad([self, p]):
        return bernoulli__Tensor_op.below[key_set](self, p, generator)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(p)]
    node = BernoulliBackward1()
    node.next_edges = edges
    node.p_info = p.shape
    result = call_below(bernoulli__Tensor_op.below[key_set], self, p, generator)
    rebase_history(self, node)
    return result


def bernoulli__float(key_set, self, p, generator):
    if not local.grad_enabled or self._autograd is self._base is None:
        return bernoulli__float_op.below[key_set](self, p, generator)
    if not any_requires_grad([self]):
        return bernoulli__float_op.below[key_set](self, p, generator)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = BernoulliBackward2()
    node.next_edges = edges
    result = call_below(bernoulli__float_op.below[key_set], self, p, generator)
    rebase_history(self, node)
    return result


def random_from(key_set, self, from_, to, generator):
    if not local.grad_enabled or self._autograd is self._base is None:
        return random_from_op.below[key_set](self, from_, to, generator)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return random_from_op.below[key_set](self, from_, to, generator)
    node = RandomBackward0()
    node.next_edges = edges
    result = call_below(random_from_op.below[key_set], self, from_, to, generator)
    set_history(result, node)
    return result


def random__from(key_set, self, from_, to, generator):
    if not local.grad_enabled or self._autograd is self._base is None:
        return random__from_op.below[key_set](self, from_, to, generator)
    if not any_requires_grad([self]):
        return random__from_op.below[key_set](self, from_, to, generator)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = RandomBackward0()
    node.next_edges = edges
    result = call_below(random__from_op.below[key_set], self, from_, to, generator)
    rebase_history(self, node)
    return result


def random_to(key_set, self, to, generator):
    if not local.grad_enabled or self._autograd is self._base is None:
        return random_to_op.below[key_set](self, to, generator)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return random_to_op.below[key_set](self, to, generator)
    node = RandomBackward1()
    node.next_edges = edges
    result = call_below(random_to_op.below[key_set], self, to, generator)
    set_history(result, node)
    return result


def random__to(key_set, self, to, generator):
    if not local.grad_enabled or self._autograd is self._base is None:
        return random__to_op.below[key_set](self, to, generator)
    if not any_requires_grad([self]):
        return random__to_op.below[key_set](self, to, generator)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = RandomBackward1()
    node.next_edges = edges
    result = call_below(random__to_op.below[key_set], self, to, generator)
    rebase_history(self, node)
    return result


def random(key_set, self, generator):
    if not local.grad_enabled or self._autograd is self._base is None:
        return random_op.below[key_set](self, generator)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return random_op.below[key_set](self, generator)
    node = RandomBackward2()
    node.next_edges = edges
    result = call_below(random_op.below[key_set], self, generator)
    set_history(result, node)
    return result


def random_(key_set, self, generator):
    if not local.grad_enabled or self._autograd is self._base is None:
        return random__op.below[key_set](self, generator)
    if not any_requires_grad([self]):
        return random__op.below[key_set](self, generator)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = RandomBackward2()
    node.next_edges = edges
    result = call_below(random__op.below[key_set], self, generator)
    rebase_history(self, node)
    return result


def abs(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return abs_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return abs_op.below[key_set](self)
    node = AbsBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(abs_op.below[key_set], self)
    set_history(result, node)
    return result


def abs_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return abs__op.below[key_set](self)
    if not any_requires_grad([self]):
        return abs__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = AbsBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(abs__op.below[key_set], self)
    rebase_history(self, node)
    return result


def add_Tensor(key_set, self, other, alpha):
    if (
        not local.grad_enabled
        or (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and (not isinstance(other, Tensor) or other._autograd is other._base is None)
    ):
        return add_Tensor_op.below[key_set](self, other, alpha)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return add_Tensor_op.below[key_set](self, other, alpha)
    node = AddBackward0()
    node.next_edges = edges
    node.alpha = alpha
    result = call_below(add_Tensor_op.below[key_set], self, other, alpha)
    set_history(result, node)
    return result


def add__Tensor(key_set, self, other, alpha):
    if (
        not local.grad_enabled
        or (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and (not isinstance(other, Tensor) or other._autograd is other._base is None)
    ):
        return add__Tensor_op.below[key_set](self, other, alpha)
    if not any_requires_grad([self, other]):
        return add__Tensor_op.below[key_set](self, other, alpha)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(other)]
    node = AddBackward0()
    node.next_edges = edges
    node.alpha = alpha
    result = call_below(add__Tensor_op.below[key_set], self, other, alpha)
    rebase_history(self, node)
    return result


def add_Scalar(key_set, self, other, alpha):
    if not local.grad_enabled or (not isinstance(self, Tensor) or self._autograd is self._base is None):
        return add_Scalar_op.below[key_set](self, other, alpha)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return add_Scalar_op.below[key_set](self, other, alpha)
    node = AddBackward1()
    node.next_edges = edges
    result = call_below(add_Scalar_op.below[key_set], self, other, alpha)
    set_history(result, node)
    return result


def addcdiv(key_set, self, tensor1, tensor2, value):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and tensor1._autograd is tensor1._base is None
        and tensor2._autograd is tensor2._base is None
    ):
        return addcdiv_op.below[key_set](self, tensor1, tensor2, value)
    edges = [gradient_edge(self), gradient_edge(tensor1), gradient_edge(tensor2)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([self, tensor1, tensor2]):
        return addcdiv_op.below[key_set](self, tensor1, tensor2, value)
    node = AddcdivBackward0()
    node.next_edges = edges
    node.value = value
    if edges[1].node or edges[2].node:
        node.saved_tensor2 = save(tensor2)
    if edges[2].node:
        node.saved_tensor1 = save(tensor1)
    result = call_below(addcdiv_op.below[key_set], self, tensor1, tensor2, value)
    set_history(result, node)
    return result


def addcdiv_(key_set, self, tensor1, tensor2, value):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and tensor1._autograd is tensor1._base is None
        and tensor2._autograd is tensor2._base is None
    ):
        return addcdiv__op.below[key_set](self, tensor1, tensor2, value)
    if not any_requires_grad([self, tensor1, tensor2]):
        return addcdiv__op.below[key_set](self, tensor1, tensor2, value)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(tensor1), gradient_edge(tensor2)]
    node = AddcdivBackward0()
    node.next_edges = edges
    node.value = value
    if edges[1].node or edges[2].node:
        node.saved_tensor2 = save(tensor2)
    if edges[2].node:
        node.saved_tensor1 = save(tensor1)
    result = call_below(addcdiv__op.below[key_set], self, tensor1, tensor2, value)
    rebase_history(self, node)
    return result


def addcmul(key_set, self, tensor1, tensor2, value):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and tensor1._autograd is tensor1._base is None
        and tensor2._autograd is tensor2._base is None
    ):
        return addcmul_op.below[key_set](self, tensor1, tensor2, value)
    edges = [gradient_edge(self), gradient_edge(tensor1), gradient_edge(tensor2)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([self, tensor1, tensor2]):
        return addcmul_op.below[key_set](self, tensor1, tensor2, value)
    node = AddcmulBackward0()
    node.next_edges = edges
    node.value = value
    if edges[1].node:
        node.saved_tensor2 = save(tensor2)
    if edges[2].node:
        node.saved_tensor1 = save(tensor1)
    result = call_below(addcmul_op.below[key_set], self, tensor1, tensor2, value)
    set_history(result, node)
    return result


def addcmul_(key_set, self, tensor1, tensor2, value):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and tensor1._autograd is tensor1._base is None
        and tensor2._autograd is tensor2._base is None
    ):
        return addcmul__op.below[key_set](self, tensor1, tensor2, value)
    if not any_requires_grad([self, tensor1, tensor2]):
        return addcmul__op.below[key_set](self, tensor1, tensor2, value)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(tensor1), gradient_edge(tensor2)]
    node = AddcmulBackward0()
    node.next_edges = edges
    node.value = value
    if edges[1].node:
        node.saved_tensor2 = save(tensor2)
    if edges[2].node:
        node.saved_tensor1 = save(tensor1)
    result = call_below(addcmul__op.below[key_set], self, tensor1, tensor2, value)
    rebase_history(self, node)
    return result


def ceil(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return ceil_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return ceil_op.below[key_set](self)
    node = CeilBackward0()
    node.next_edges = edges
    result = call_below(ceil_op.below[key_set], self)
    set_history(result, node)
    return result


def ceil_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return ceil__op.below[key_set](self)
    if not any_requires_grad([self]):
        return ceil__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = CeilBackward0()
    node.next_edges = edges
    result = call_below(ceil__op.below[key_set], self)
    rebase_history(self, node)
    return result


def clamp_Tensor(key_set, self, min, max):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and (not isinstance(min, Tensor) or min._autograd is min._base is None)
        and (not isinstance(max, Tensor) or max._autograd is max._base is None)
    ):
        return clamp_Tensor_op.below[key_set](self, min, max)
    edges = [gradient_edge(self), gradient_edge(min), gradient_edge(max)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([self, min, max]):
        return clamp_Tensor_op.below[key_set](self, min, max)
    node = ClampBackward0()
    node.next_edges = edges
    node.saved_max = save(max)
    node.saved_min = save(min)
    node.saved_self = save(self)
    result = call_below(clamp_Tensor_op.below[key_set], self, min, max)
    set_history(result, node)
    return result


def clamp__Tensor(key_set, self, min, max):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and (not isinstance(min, Tensor) or min._autograd is min._base is None)
        and (not isinstance(max, Tensor) or max._autograd is max._base is None)
    ):
        return clamp__Tensor_op.below[key_set](self, min, max)
    if not any_requires_grad([self, min, max]):
        return clamp__Tensor_op.below[key_set](self, min, max)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(min), gradient_edge(max)]
    node = ClampBackward0()
    node.next_edges = edges
    node.saved_max = save(max)
    node.saved_min = save(min)
    node.saved_self = save(self.clone())
    result = call_below(clamp__Tensor_op.below[key_set], self, min, max)
    rebase_history(self, node)
    return result


def clamp(key_set, self, min, max):
    if not local.grad_enabled or self._autograd is self._base is None:
        return clamp_op.below[key_set](self, min, max)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return clamp_op.below[key_set](self, min, max)
    node = ClampBackward1()
    node.next_edges = edges
    node.max = max
    node.min = min
    node.saved_self = save(self)
    result = call_below(clamp_op.below[key_set], self, min, max)
    set_history(result, node)
    return result


def clamp_(key_set, self, min, max):
    if not local.grad_enabled or self._autograd is self._base is None:
        return clamp__op.below[key_set](self, min, max)
    if not any_requires_grad([self]):
        return clamp__op.below[key_set](self, min, max)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = ClampBackward1()
    node.next_edges = edges
    node.max = max
    node.min = min
    node.saved_self = save(self.clone())
    result = call_below(clamp__op.below[key_set], self, min, max)
    rebase_history(self, node)
    return result


def clamp_max_Tensor(key_set, self, max):
    if not local.grad_enabled or self._autograd is self._base is None and max._autograd is max._base is None:
        return clamp_max_Tensor_op.below[key_set](self, max)
    edges = [gradient_edge(self), gradient_edge(max)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, max]):
        return clamp_max_Tensor_op.below[key_set](self, max)
    node = ClampMaxBackward1()
    node.next_edges = edges
    node.saved_max = save(max)
    node.saved_self = save(self)
    result = call_below(clamp_max_Tensor_op.below[key_set], self, max)
    set_history(result, node)
    return result


def clamp_max__Tensor(key_set, self, max):
    if not local.grad_enabled or self._autograd is self._base is None and max._autograd is max._base is None:
        return clamp_max__Tensor_op.below[key_set](self, max)
    if not any_requires_grad([self, max]):
        return clamp_max__Tensor_op.below[key_set](self, max)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(max)]
    node = ClampMaxBackward1()
    node.next_edges = edges
    node.saved_max = save(max)
    node.saved_self = save(self.clone())
    result = call_below(clamp_max__Tensor_op.below[key_set], self, max)
    rebase_history(self, node)
    return result


def clamp_max(key_set, self, max):
    if not local.grad_enabled or self._autograd is self._base is None:
        return clamp_max_op.below[key_set](self, max)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return clamp_max_op.below[key_set](self, max)
    node = ClampMaxBackward0()
    node.next_edges = edges
    node.max = max
    node.saved_self = save(self)
    result = call_below(clamp_max_op.below[key_set], self, max)
    set_history(result, node)
    return result


def clamp_max_(key_set, self, max):
    if not local.grad_enabled or self._autograd is self._base is None:
        return clamp_max__op.below[key_set](self, max)
    if not any_requires_grad([self]):
        return clamp_max__op.below[key_set](self, max)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = ClampMaxBackward0()
    node.next_edges = edges
    node.max = max
    node.saved_self = save(self.clone())
    result = call_below(clamp_max__op.below[key_set], self, max)
    rebase_history(self, node)
    return result


def clamp_min_Tensor(key_set, self, min):
    if not local.grad_enabled or self._autograd is self._base is None and min._autograd is min._base is None:
        return clamp_min_Tensor_op.below[key_set](self, min)
    edges = [gradient_edge(self), gradient_edge(min)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, min]):
        return clamp_min_Tensor_op.below[key_set](self, min)
    node = ClampMinBackward1()
    node.next_edges = edges
    node.saved_min = save(min)
    node.saved_self = save(self)
    result = call_below(clamp_min_Tensor_op.below[key_set], self, min)
    set_history(result, node)
    return result


def clamp_min__Tensor(key_set, self, min):
    if not local.grad_enabled or self._autograd is self._base is None and min._autograd is min._base is None:
        return clamp_min__Tensor_op.below[key_set](self, min)
    if not any_requires_grad([self, min]):
        return clamp_min__Tensor_op.below[key_set](self, min)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(min)]
    node = ClampMinBackward1()
    node.next_edges = edges
    node.saved_min = save(min)
    node.saved_self = save(self.clone())
    result = call_below(clamp_min__Tensor_op.below[key_set], self, min)
    rebase_history(self, node)
    return result


def clamp_min(key_set, self, min):
    if not local.grad_enabled or self._autograd is self._base is None:
        return clamp_min_op.below[key_set](self, min)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return clamp_min_op.below[key_set](self, min)
    node = ClampMinBackward0()
    node.next_edges = edges
    node.min = min
    node.saved_self = save(self)
    result = call_below(clamp_min_op.below[key_set], self, min)
    set_history(result, node)
    return result


def clamp_min_(key_set, self, min):
    if not local.grad_enabled or self._autograd is self._base is None:
        return clamp_min__op.below[key_set](self, min)
    if not any_requires_grad([self]):
        return clamp_min__op.below[key_set](self, min)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = ClampMinBackward0()
    node.next_edges = edges
    node.min = min
    node.saved_self = save(self.clone())
    result = call_below(clamp_min__op.below[key_set], self, min)
    rebase_history(self, node)
    return result


def cos(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return cos_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return cos_op.below[key_set](self)
    node = CosBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(cos_op.below[key_set], self)
    set_history(result, node)
    return result


def cos_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return cos__op.below[key_set](self)
    if not any_requires_grad([self]):
        return cos__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = CosBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(cos__op.below[key_set], self)
    rebase_history(self, node)
    return result


def div_Tensor(key_set, self, other):
    if (
        not local.grad_enabled
        or (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and (not isinstance(other, Tensor) or other._autograd is other._base is None)
    ):
        return div_Tensor_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return div_Tensor_op.below[key_set](self, other)
    node = DivBackward0()
    node.next_edges = edges
    node.saved_other = save(other)
    if edges[1].node:
        node.saved_self = save(self)
    result = call_below(div_Tensor_op.below[key_set], self, other)
    set_history(result, node)
    return result


def div__Tensor(key_set, self, other):
    if (
        not local.grad_enabled
        or (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and (not isinstance(other, Tensor) or other._autograd is other._base is None)
    ):
        return div__Tensor_op.below[key_set](self, other)
    if not any_requires_grad([self, other]):
        return div__Tensor_op.below[key_set](self, other)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(other)]
    node = DivBackward0()
    node.next_edges = edges
    node.saved_other = save(other)
    if edges[1].node:
        node.saved_self = save(self.clone())
    result = call_below(div__Tensor_op.below[key_set], self, other)
    rebase_history(self, node)
    return result


def div_Scalar(key_set, self, other):
    if not local.grad_enabled or (not isinstance(self, Tensor) or self._autograd is self._base is None):
        return div_Scalar_op.below[key_set](self, other)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return div_Scalar_op.below[key_set](self, other)
    node = DivBackward1()
    node.next_edges = edges
    node.other = other
    result = call_below(div_Scalar_op.below[key_set], self, other)
    set_history(result, node)
    return result


def div_Tensor_mode(key_set, self, other, rounding_mode):
    if (
        not local.grad_enabled
        or (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and (not isinstance(other, Tensor) or other._autograd is other._base is None)
    ):
        return div_Tensor_mode_op.below[key_set](self, other, rounding_mode)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return div_Tensor_mode_op.below[key_set](self, other, rounding_mode)
    node = DivBackward2()
    node.next_edges = edges
    node.rounding_mode = rounding_mode
    node.saved_other = save(other)
    if edges[1].node:
        node.saved_self = save(self)
    result = call_below(div_Tensor_mode_op.below[key_set], self, other, rounding_mode)
    set_history(result, node)
    return result


def div__Tensor_mode(key_set, self, other, rounding_mode):
    if (
        not local.grad_enabled
        or (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and (not isinstance(other, Tensor) or other._autograd is other._base is None)
    ):
        return div__Tensor_mode_op.below[key_set](self, other, rounding_mode)
    if not any_requires_grad([self, other]):
        return div__Tensor_mode_op.below[key_set](self, other, rounding_mode)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(other)]
    node = DivBackward2()
    node.next_edges = edges
    node.rounding_mode = rounding_mode
    node.saved_other = save(other)
    if edges[1].node:
        node.saved_self = save(self.clone())
    result = call_below(div__Tensor_mode_op.below[key_set], self, other, rounding_mode)
    rebase_history(self, node)
    return result


def elu(key_set, self, alpha, scale, input_scale):
    if not local.grad_enabled or self._autograd is self._base is None:
        return elu_op.below[key_set](self, alpha, scale, input_scale)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return elu_op.below[key_set](self, alpha, scale, input_scale)
    node = EluBackward0()
    node.next_edges = edges
    node.alpha = alpha
    node.input_scale = input_scale
    node.scale = scale
    node.saved_self = save(self)
    result = call_below(elu_op.below[key_set], self, alpha, scale, input_scale)
    set_history(result, node)
    return result


def elu_(key_set, self, alpha, scale, input_scale):
    if not local.grad_enabled or self._autograd is self._base is None:
        return elu__op.below[key_set](self, alpha, scale, input_scale)
    if not any_requires_grad([self]):
        return elu__op.below[key_set](self, alpha, scale, input_scale)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = EluBackward1()
    node.next_edges = edges
    node.alpha = alpha
    node.input_scale = input_scale
    node.scale = scale
    result = call_below(elu__op.below[key_set], self, alpha, scale, input_scale)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def erf(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return erf_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return erf_op.below[key_set](self)
    node = ErfBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(erf_op.below[key_set], self)
    set_history(result, node)
    return result


def erf_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return erf__op.below[key_set](self)
    if not any_requires_grad([self]):
        return erf__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = ErfBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(erf__op.below[key_set], self)
    rebase_history(self, node)
    return result


def exp(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return exp_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return exp_op.below[key_set](self)
    node = ExpBackward0()
    node.next_edges = edges
    result = call_below(exp_op.below[key_set], self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def exp_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return exp__op.below[key_set](self)
    if not any_requires_grad([self]):
        return exp__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = ExpBackward0()
    node.next_edges = edges
    result = call_below(exp__op.below[key_set], self)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def exp2(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return exp2_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return exp2_op.below[key_set](self)
    node = Exp2Backward0()
    node.next_edges = edges
    result = call_below(exp2_op.below[key_set], self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def exp2_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return exp2__op.below[key_set](self)
    if not any_requires_grad([self]):
        return exp2__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = Exp2Backward0()
    node.next_edges = edges
    result = call_below(exp2__op.below[key_set], self)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def expm1(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return expm1_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return expm1_op.below[key_set](self)
    node = Expm1Backward0()
    node.next_edges = edges
    result = call_below(expm1_op.below[key_set], self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def expm1_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return expm1__op.below[key_set](self)
    if not any_requires_grad([self]):
        return expm1__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = Expm1Backward0()
    node.next_edges = edges
    result = call_below(expm1__op.below[key_set], self)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def floor(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return floor_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return floor_op.below[key_set](self)
    node = FloorBackward0()
    node.next_edges = edges
    result = call_below(floor_op.below[key_set], self)
    set_history(result, node)
    return result


def floor_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return floor__op.below[key_set](self)
    if not any_requires_grad([self]):
        return floor__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = FloorBackward0()
    node.next_edges = edges
    result = call_below(floor__op.below[key_set], self)
    rebase_history(self, node)
    return result


def fmod_Scalar(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None:
        return fmod_Scalar_op.below[key_set](self, other)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return fmod_Scalar_op.below[key_set](self, other)
    node = FmodBackward0()
    node.next_edges = edges
    result = call_below(fmod_Scalar_op.below[key_set], self, other)
    set_history(result, node)
    return result


def fmod__Scalar(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None:
        return fmod__Scalar_op.below[key_set](self, other)
    if not any_requires_grad([self]):
        return fmod__Scalar_op.below[key_set](self, other)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = FmodBackward0()
    node.next_edges = edges
    result = call_below(fmod__Scalar_op.below[key_set], self, other)
    rebase_history(self, node)
    return result


def fmod_Tensor(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return fmod_Tensor_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return fmod_Tensor_op.below[key_set](self, other)
    node = FmodBackward1()
    node.next_edges = edges
    if edges[1].node:
        node.saved_other = save(other)
    if edges[1].node:
        node.saved_self = save(self)
    result = call_below(fmod_Tensor_op.below[key_set], self, other)
    set_history(result, node)
    return result


def fmod__Tensor(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return fmod__Tensor_op.below[key_set](self, other)
    if not any_requires_grad([self, other]):
        return fmod__Tensor_op.below[key_set](self, other)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(other)]
    node = FmodBackward1()
    node.next_edges = edges
    if edges[1].node:
        node.saved_other = save(other)
    if edges[1].node:
        node.saved_self = save(self.clone())
    result = call_below(fmod__Tensor_op.below[key_set], self, other)
    rebase_history(self, node)
    return result


def gelu(key_set, self, approximate):
    if not local.grad_enabled or self._autograd is self._base is None:
        return gelu_op.below[key_set](self, approximate)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return gelu_op.below[key_set](self, approximate)
    node = GeluBackward0()
    node.next_edges = edges
    node.approximate = approximate
    node.saved_self = save(self)
    result = call_below(gelu_op.below[key_set], self, approximate)
    set_history(result, node)
    return result


def gelu_(key_set, self, approximate):
    if not local.grad_enabled or self._autograd is self._base is None:
        return gelu__op.below[key_set](self, approximate)
    if not any_requires_grad([self]):
        return gelu__op.below[key_set](self, approximate)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = GeluBackward0()
    node.next_edges = edges
    node.approximate = approximate
    node.saved_self = save(self.clone())
    result = call_below(gelu__op.below[key_set], self, approximate)
    rebase_history(self, node)
    return result


def hardtanh(key_set, self, min_val, max_val):
    if not local.grad_enabled or self._autograd is self._base is None:
        return hardtanh_op.below[key_set](self, min_val, max_val)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return hardtanh_op.below[key_set](self, min_val, max_val)
    node = HardtanhBackward0()
    node.next_edges = edges
    node.max_val = max_val
    node.min_val = min_val
    node.saved_self = save(self)
    result = call_below(hardtanh_op.below[key_set], self, min_val, max_val)
    set_history(result, node)
    return result


def hardtanh_(key_set, self, min_val, max_val):
    if not local.grad_enabled or self._autograd is self._base is None:
        return hardtanh__op.below[key_set](self, min_val, max_val)
    if not any_requires_grad([self]):
        return hardtanh__op.below[key_set](self, min_val, max_val)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = HardtanhBackward0()
    node.next_edges = edges
    node.max_val = max_val
    node.min_val = min_val
    node.saved_self = save(self.clone())
    result = call_below(hardtanh__op.below[key_set], self, min_val, max_val)
    rebase_history(self, node)
    return result


def leaky_relu(key_set, self, negative_slope):
    if not local.grad_enabled or self._autograd is self._base is None:
        return leaky_relu_op.below[key_set](self, negative_slope)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return leaky_relu_op.below[key_set](self, negative_slope)
    node = LeakyReluBackward0()
    node.next_edges = edges
    node.negative_slope = negative_slope
    node.saved_self = save(self)
    result = call_below(leaky_relu_op.below[key_set], self, negative_slope)
    set_history(result, node)
    return result


def leaky_relu_(key_set, self, negative_slope):
    if not local.grad_enabled or self._autograd is self._base is None:
        return leaky_relu__op.below[key_set](self, negative_slope)
    if not any_requires_grad([self]):
        return leaky_relu__op.below[key_set](self, negative_slope)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = LeakyReluBackward1()
    node.next_edges = edges
    node.negative_slope = negative_slope
    result = call_below(leaky_relu__op.below[key_set], self, negative_slope)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def lerp_Tensor(key_set, self, end, weight):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and end._autograd is end._base is None
        and weight._autograd is weight._base is None
    ):
        return lerp_Tensor_op.below[key_set](self, end, weight)
    edges = [gradient_edge(self), gradient_edge(end), gradient_edge(weight)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([self, end, weight]):
        return lerp_Tensor_op.below[key_set](self, end, weight)
    node = LerpBackward1()
    node.next_edges = edges
    if edges[0].node or edges[1].node:
        node.saved_weight = save(weight)
    if edges[2].node:
        node.saved_end = save(end)
    if edges[2].node:
        node.saved_self = save(self)
    result = call_below(lerp_Tensor_op.below[key_set], self, end, weight)
    set_history(result, node)
    return result


def lerp__Tensor(key_set, self, end, weight):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and end._autograd is end._base is None
        and weight._autograd is weight._base is None
    ):
        return lerp__Tensor_op.below[key_set](self, end, weight)
    if not any_requires_grad([self, end, weight]):
        return lerp__Tensor_op.below[key_set](self, end, weight)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(end), gradient_edge(weight)]
    node = LerpBackward1()
    node.next_edges = edges
    if edges[0].node or edges[1].node:
        node.saved_weight = save(weight)
    if edges[2].node:
        node.saved_end = save(end)
    if edges[2].node:
        node.saved_self = save(self.clone())
    result = call_below(lerp__Tensor_op.below[key_set], self, end, weight)
    rebase_history(self, node)
    return result


def lerp_Scalar(key_set, self, end, weight):
    if not local.grad_enabled or self._autograd is self._base is None and end._autograd is end._base is None:
        return lerp_Scalar_op.below[key_set](self, end, weight)
    edges = [gradient_edge(self), gradient_edge(end)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, end]):
        return lerp_Scalar_op.below[key_set](self, end, weight)
    node = LerpBackward0()
    node.next_edges = edges
    node.weight = weight
    result = call_below(lerp_Scalar_op.below[key_set], self, end, weight)
    set_history(result, node)
    return result


def lerp__Scalar(key_set, self, end, weight):
    if not local.grad_enabled or self._autograd is self._base is None and end._autograd is end._base is None:
        return lerp__Scalar_op.below[key_set](self, end, weight)
    if not any_requires_grad([self, end]):
        return lerp__Scalar_op.below[key_set](self, end, weight)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(end)]
    node = LerpBackward0()
    node.next_edges = edges
    node.weight = weight
    result = call_below(lerp__Scalar_op.below[key_set], self, end, weight)
    rebase_history(self, node)
    return result


def log(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return log_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return log_op.below[key_set](self)
    node = LogBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(log_op.below[key_set], self)
    set_history(result, node)
    return result


def log_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return log__op.below[key_set](self)
    if not any_requires_grad([self]):
        return log__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = LogBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(log__op.below[key_set], self)
    rebase_history(self, node)
    return result


def log10(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return log10_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return log10_op.below[key_set](self)
    node = Log10Backward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(log10_op.below[key_set], self)
    set_history(result, node)
    return result


def log10_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return log10__op.below[key_set](self)
    if not any_requires_grad([self]):
        return log10__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = Log10Backward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(log10__op.below[key_set], self)
    rebase_history(self, node)
    return result


def log1p(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return log1p_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return log1p_op.below[key_set](self)
    node = Log1PBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(log1p_op.below[key_set], self)
    set_history(result, node)
    return result


def log1p_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return log1p__op.below[key_set](self)
    if not any_requires_grad([self]):
        return log1p__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = Log1PBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(log1p__op.below[key_set], self)
    rebase_history(self, node)
    return result


def log2(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return log2_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return log2_op.below[key_set](self)
    node = Log2Backward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(log2_op.below[key_set], self)
    set_history(result, node)
    return result


def log2_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return log2__op.below[key_set](self)
    if not any_requires_grad([self]):
        return log2__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = Log2Backward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(log2__op.below[key_set], self)
    rebase_history(self, node)
    return result


def maximum(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return maximum_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return maximum_op.below[key_set](self, other)
    node = MaximumBackward0()
    node.next_edges = edges
    node.saved_other = save(other)
    node.saved_self = save(self)
    result = call_below(maximum_op.below[key_set], self, other)
    set_history(result, node)
    return result


def minimum(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return minimum_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return minimum_op.below[key_set](self, other)
    node = MinimumBackward0()
    node.next_edges = edges
    node.saved_other = save(other)
    node.saved_self = save(self)
    result = call_below(minimum_op.below[key_set], self, other)
    set_history(result, node)
    return result


def mul_Tensor(key_set, self, other):
    if (
        not local.grad_enabled
        or (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and (not isinstance(other, Tensor) or other._autograd is other._base is None)
    ):
        return mul_Tensor_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return mul_Tensor_op.below[key_set](self, other)
    node = MulBackward0()
    node.next_edges = edges
    if edges[0].node:
        node.saved_other = save(other)
    if edges[1].node:
        node.saved_self = save(self)
    result = call_below(mul_Tensor_op.below[key_set], self, other)
    set_history(result, node)
    return result


def mul__Tensor(key_set, self, other):
    if (
        not local.grad_enabled
        or (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and (not isinstance(other, Tensor) or other._autograd is other._base is None)
    ):
        return mul__Tensor_op.below[key_set](self, other)
    if not any_requires_grad([self, other]):
        return mul__Tensor_op.below[key_set](self, other)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(other)]
    node = MulBackward0()
    node.next_edges = edges
    if edges[0].node:
        node.saved_other = save(other)
    if edges[1].node:
        node.saved_self = save(self.clone())
    result = call_below(mul__Tensor_op.below[key_set], self, other)
    rebase_history(self, node)
    return result


def mul_Scalar(key_set, self, other):
    if not local.grad_enabled or (not isinstance(self, Tensor) or self._autograd is self._base is None):
        return mul_Scalar_op.below[key_set](self, other)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return mul_Scalar_op.below[key_set](self, other)
    node = MulBackward1()
    node.next_edges = edges
    node.other = other
    result = call_below(mul_Scalar_op.below[key_set], self, other)
    set_history(result, node)
    return result


def neg(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return neg_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return neg_op.below[key_set](self)
    node = NegBackward0()
    node.next_edges = edges
    result = call_below(neg_op.below[key_set], self)
    set_history(result, node)
    return result


def neg_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return neg__op.below[key_set](self)
    if not any_requires_grad([self]):
        return neg__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = NegBackward0()
    node.next_edges = edges
    result = call_below(neg__op.below[key_set], self)
    rebase_history(self, node)
    return result


def pow_Tensor_Scalar(key_set, self, exponent):
    if not local.grad_enabled or self._autograd is self._base is None:
        return pow_Tensor_Scalar_op.below[key_set](self, exponent)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return pow_Tensor_Scalar_op.below[key_set](self, exponent)
    node = PowBackward0()
    node.next_edges = edges
    node.exponent = exponent
    node.saved_self = save(self)
    result = call_below(pow_Tensor_Scalar_op.below[key_set], self, exponent)
    set_history(result, node)
    return result


def pow__Scalar(key_set, self, exponent):
    if not local.grad_enabled or self._autograd is self._base is None:
        return pow__Scalar_op.below[key_set](self, exponent)
    if not any_requires_grad([self]):
        return pow__Scalar_op.below[key_set](self, exponent)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = PowBackward0()
    node.next_edges = edges
    node.exponent = exponent
    node.saved_self = save(self.clone())
    result = call_below(pow__Scalar_op.below[key_set], self, exponent)
    rebase_history(self, node)
    return result


def pow_Tensor_Tensor(key_set, self, exponent):
    if not local.grad_enabled or self._autograd is self._base is None and exponent._autograd is exponent._base is None:
        return pow_Tensor_Tensor_op.below[key_set](self, exponent)
    edges = [gradient_edge(self), gradient_edge(exponent)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, exponent]):
        return pow_Tensor_Tensor_op.below[key_set](self, exponent)
    node = PowBackward1()
    node.next_edges = edges
    node.saved_exponent = save(exponent)
    node.saved_self = save(self)
    result = call_below(pow_Tensor_Tensor_op.below[key_set], self, exponent)
    set_history(result, node)
    if edges[1].node:
        node.saved_result = save(result, True)
    return result


def pow__Tensor(key_set, self, exponent):
    if not local.grad_enabled or self._autograd is self._base is None and exponent._autograd is exponent._base is None:
        return pow__Tensor_op.below[key_set](self, exponent)
    if not any_requires_grad([self, exponent]):
        return pow__Tensor_op.below[key_set](self, exponent)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(exponent)]
    node = PowBackward1()
    node.next_edges = edges
    node.saved_exponent = save(exponent)
    node.saved_self = save(self.clone())
    result = call_below(pow__Tensor_op.below[key_set], self, exponent)
    rebase_history(self, node)
    if edges[1].node:
        node.saved_result = save(result, True)
    return result


def pow_Scalar(key_set, self, exponent):
    if not local.grad_enabled or exponent._autograd is exponent._base is None:
        return pow_Scalar_op.below[key_set](self, exponent)
    edges = [gradient_edge(exponent)]
    if edges[0].node is None and not any_requires_grad([exponent]):
        return pow_Scalar_op.below[key_set](self, exponent)
    node = PowBackward2()
    node.next_edges = edges
    node.self = self
    node.saved_exponent = save(exponent)
    result = call_below(pow_Scalar_op.below[key_set], self, exponent)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def reciprocal(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return reciprocal_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return reciprocal_op.below[key_set](self)
    node = ReciprocalBackward0()
    node.next_edges = edges
    result = call_below(reciprocal_op.below[key_set], self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def reciprocal_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return reciprocal__op.below[key_set](self)
    if not any_requires_grad([self]):
        return reciprocal__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = ReciprocalBackward0()
    node.next_edges = edges
    result = call_below(reciprocal__op.below[key_set], self)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def relu(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return relu_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return relu_op.below[key_set](self)
    node = ReluBackward0()
    node.next_edges = edges
    result = call_below(relu_op.below[key_set], self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def relu_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return relu__op.below[key_set](self)
    if not any_requires_grad([self]):
        return relu__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = ReluBackward0()
    node.next_edges = edges
    result = call_below(relu__op.below[key_set], self)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def remainder_Scalar(key_set, self, other):
    if not local.grad_enabled or (not isinstance(self, Tensor) or self._autograd is self._base is None):
        return remainder_Scalar_op.below[key_set](self, other)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return remainder_Scalar_op.below[key_set](self, other)
    node = RemainderBackward0()
    node.next_edges = edges
    result = call_below(remainder_Scalar_op.below[key_set], self, other)
    set_history(result, node)
    return result


def remainder__Scalar(key_set, self, other):
    if not local.grad_enabled or (not isinstance(self, Tensor) or self._autograd is self._base is None):
        return remainder__Scalar_op.below[key_set](self, other)
    if not any_requires_grad([self]):
        return remainder__Scalar_op.below[key_set](self, other)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = RemainderBackward0()
    node.next_edges = edges
    result = call_below(remainder__Scalar_op.below[key_set], self, other)
    rebase_history(self, node)
    return result


def remainder_Tensor(key_set, self, other):
    if (
        not local.grad_enabled
        or (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and other._autograd is other._base is None
    ):
        return remainder_Tensor_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return remainder_Tensor_op.below[key_set](self, other)
    node = RemainderBackward1()
    node.next_edges = edges
    if edges[1].node:
        node.saved_other = save(other)
    if edges[1].node:
        node.saved_self = save(self)
    result = call_below(remainder_Tensor_op.below[key_set], self, other)
    set_history(result, node)
    return result


def remainder__Tensor(key_set, self, other):
    if (
        not local.grad_enabled
        or (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and other._autograd is other._base is None
    ):
        return remainder__Tensor_op.below[key_set](self, other)
    if not any_requires_grad([self, other]):
        return remainder__Tensor_op.below[key_set](self, other)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(other)]
    node = RemainderBackward1()
    node.next_edges = edges
    if edges[1].node:
        node.saved_other = save(other)
    if edges[1].node:
        node.saved_self = save(self.clone())
    result = call_below(remainder__Tensor_op.below[key_set], self, other)
    rebase_history(self, node)
    return result


def round(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return round_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return round_op.below[key_set](self)
    node = RoundBackward0()
    node.next_edges = edges
    result = call_below(round_op.below[key_set], self)
    set_history(result, node)
    return result


def round_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return round__op.below[key_set](self)
    if not any_requires_grad([self]):
        return round__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = RoundBackward0()
    node.next_edges = edges
    result = call_below(round__op.below[key_set], self)
    rebase_history(self, node)
    return result


def round_decimals(key_set, self, decimals):
    if not local.grad_enabled or self._autograd is self._base is None:
        return round_decimals_op.below[key_set](self, decimals)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return round_decimals_op.below[key_set](self, decimals)
    node = RoundBackward1()
    node.next_edges = edges
    result = call_below(round_decimals_op.below[key_set], self, decimals)
    set_history(result, node)
    return result


def round__decimals(key_set, self, decimals):
    if not local.grad_enabled or self._autograd is self._base is None:
        return round__decimals_op.below[key_set](self, decimals)
    if not any_requires_grad([self]):
        return round__decimals_op.below[key_set](self, decimals)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = RoundBackward1()
    node.next_edges = edges
    result = call_below(round__decimals_op.below[key_set], self, decimals)
    rebase_history(self, node)
    return result


def rsqrt(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return rsqrt_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return rsqrt_op.below[key_set](self)
    node = RsqrtBackward0()
    node.next_edges = edges
    result = call_below(rsqrt_op.below[key_set], self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def rsqrt_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return rsqrt__op.below[key_set](self)
    if not any_requires_grad([self]):
        return rsqrt__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = RsqrtBackward0()
    node.next_edges = edges
    result = call_below(rsqrt__op.below[key_set], self)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def rsub_Tensor(key_set, self, other, alpha):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return rsub_Tensor_op.below[key_set](self, other, alpha)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return rsub_Tensor_op.below[key_set](self, other, alpha)
    node = RsubBackward0()
    node.next_edges = edges
    node.alpha = alpha
    result = call_below(rsub_Tensor_op.below[key_set], self, other, alpha)
    set_history(result, node)
    return result


def rsub_Scalar(key_set, self, other, alpha):
    if not local.grad_enabled or self._autograd is self._base is None:
        return rsub_Scalar_op.below[key_set](self, other, alpha)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return rsub_Scalar_op.below[key_set](self, other, alpha)
    node = RsubBackward1()
    node.next_edges = edges
    node.alpha = alpha
    result = call_below(rsub_Scalar_op.below[key_set], self, other, alpha)
    set_history(result, node)
    return result


def sigmoid(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sigmoid_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return sigmoid_op.below[key_set](self)
    node = SigmoidBackward0()
    node.next_edges = edges
    result = call_below(sigmoid_op.below[key_set], self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def sigmoid_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sigmoid__op.below[key_set](self)
    if not any_requires_grad([self]):
        return sigmoid__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = SigmoidBackward0()
    node.next_edges = edges
    result = call_below(sigmoid__op.below[key_set], self)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def sign(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sign_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return sign_op.below[key_set](self)
    node = SignBackward0()
    node.next_edges = edges
    result = call_below(sign_op.below[key_set], self)
    set_history(result, node)
    return result


def sign_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sign__op.below[key_set](self)
    if not any_requires_grad([self]):
        return sign__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = SignBackward0()
    node.next_edges = edges
    result = call_below(sign__op.below[key_set], self)
    rebase_history(self, node)
    return result


def sgn(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sgn_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return sgn_op.below[key_set](self)
    node = SgnBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(sgn_op.below[key_set], self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def sgn_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sgn__op.below[key_set](self)
    if not any_requires_grad([self]):
        return sgn__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = SgnBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(sgn__op.below[key_set], self)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def silu(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return silu_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return silu_op.below[key_set](self)
    node = SiluBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(silu_op.below[key_set], self)
    set_history(result, node)
    return result


def silu_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return silu__op.below[key_set](self)
    if not any_requires_grad([self]):
        return silu__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = SiluBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(silu__op.below[key_set], self)
    rebase_history(self, node)
    return result


def sin(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sin_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return sin_op.below[key_set](self)
    node = SinBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(sin_op.below[key_set], self)
    set_history(result, node)
    return result


def sin_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sin__op.below[key_set](self)
    if not any_requires_grad([self]):
        return sin__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = SinBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(sin__op.below[key_set], self)
    rebase_history(self, node)
    return result


def softplus(key_set, self, beta, threshold):
    if not local.grad_enabled or self._autograd is self._base is None:
        return softplus_op.below[key_set](self, beta, threshold)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return softplus_op.below[key_set](self, beta, threshold)
    node = SoftplusBackward0()
    node.next_edges = edges
    node.beta = beta
    node.threshold = threshold
    node.saved_self = save(self)
    result = call_below(softplus_op.below[key_set], self, beta, threshold)
    set_history(result, node)
    return result


def sqrt(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sqrt_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return sqrt_op.below[key_set](self)
    node = SqrtBackward0()
    node.next_edges = edges
    result = call_below(sqrt_op.below[key_set], self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def sqrt_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sqrt__op.below[key_set](self)
    if not any_requires_grad([self]):
        return sqrt__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = SqrtBackward0()
    node.next_edges = edges
    result = call_below(sqrt__op.below[key_set], self)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def sub_Tensor(key_set, self, other, alpha):
    if (
        not local.grad_enabled
        or (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and (not isinstance(other, Tensor) or other._autograd is other._base is None)
    ):
        return sub_Tensor_op.below[key_set](self, other, alpha)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return sub_Tensor_op.below[key_set](self, other, alpha)
    node = SubBackward0()
    node.next_edges = edges
    node.alpha = alpha
    result = call_below(sub_Tensor_op.below[key_set], self, other, alpha)
    set_history(result, node)
    return result


def sub__Tensor(key_set, self, other, alpha):
    if (
        not local.grad_enabled
        or (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and (not isinstance(other, Tensor) or other._autograd is other._base is None)
    ):
        return sub__Tensor_op.below[key_set](self, other, alpha)
    if not any_requires_grad([self, other]):
        return sub__Tensor_op.below[key_set](self, other, alpha)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(other)]
    node = SubBackward0()
    node.next_edges = edges
    node.alpha = alpha
    result = call_below(sub__Tensor_op.below[key_set], self, other, alpha)
    rebase_history(self, node)
    return result


def sub_Scalar(key_set, self, other, alpha):
    if not local.grad_enabled or (not isinstance(self, Tensor) or self._autograd is self._base is None):
        return sub_Scalar_op.below[key_set](self, other, alpha)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return sub_Scalar_op.below[key_set](self, other, alpha)
    node = SubBackward1()
    node.next_edges = edges
    result = call_below(sub_Scalar_op.below[key_set], self, other, alpha)
    set_history(result, node)
    return result


def tan(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return tan_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return tan_op.below[key_set](self)
    node = TanBackward0()
    node.next_edges = edges
    result = call_below(tan_op.below[key_set], self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def tan_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return tan__op.below[key_set](self)
    if not any_requires_grad([self]):
        return tan__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = TanBackward0()
    node.next_edges = edges
    result = call_below(tan__op.below[key_set], self)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def tanh(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return tanh_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return tanh_op.below[key_set](self)
    node = TanhBackward0()
    node.next_edges = edges
    result = call_below(tanh_op.below[key_set], self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def tanh_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return tanh__op.below[key_set](self)
    if not any_requires_grad([self]):
        return tanh__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = TanhBackward0()
    node.next_edges = edges
    result = call_below(tanh__op.below[key_set], self)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def threshold(key_set, self, threshold, value):
    if not local.grad_enabled or self._autograd is self._base is None:
        return threshold_op.below[key_set](self, threshold, value)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return threshold_op.below[key_set](self, threshold, value)
    node = ThresholdBackward0()
    node.next_edges = edges
    node.threshold = threshold
    node.saved_self = save(self)
    result = call_below(threshold_op.below[key_set], self, threshold, value)
    set_history(result, node)
    return result


def threshold_(key_set, self, threshold, value):
    if not local.grad_enabled or self._autograd is self._base is None:
        return threshold__op.below[key_set](self, threshold, value)
    if not any_requires_grad([self]):
        return threshold__op.below[key_set](self, threshold, value)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = ThresholdBackward1()
    node.next_edges = edges
    node.threshold = threshold
    node.saved_self = save(self.clone())
    result = call_below(threshold__op.below[key_set], self, threshold, value)
    rebase_history(self, node)
    return result


def trunc(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return trunc_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return trunc_op.below[key_set](self)
    node = TruncBackward0()
    node.next_edges = edges
    result = call_below(trunc_op.below[key_set], self)
    set_history(result, node)
    return result


def trunc_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return trunc__op.below[key_set](self)
    if not any_requires_grad([self]):
        return trunc__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = TruncBackward0()
    node.next_edges = edges
    result = call_below(trunc__op.below[key_set], self)
    rebase_history(self, node)
    return result


def where_self(key_set, condition, self, other):
    if (
        not local.grad_enabled
        or (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and (not isinstance(other, Tensor) or other._autograd is other._base is None)
    ):
        return where_self_op.below[key_set](condition, self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return where_self_op.below[key_set](condition, self, other)
    node = WhereBackward0()
    node.next_edges = edges
    node.saved_condition = save(condition)
    result = call_below(where_self_op.below[key_set], condition, self, other)
    set_history(result, node)
    return result


def xlogy_Tensor(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return xlogy_Tensor_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return xlogy_Tensor_op.below[key_set](self, other)
    node = XlogyBackward0()
    node.next_edges = edges
    node.saved_other = save(other)
    node.saved_self = save(self)
    result = call_below(xlogy_Tensor_op.below[key_set], self, other)
    set_history(result, node)
    return result


def xlogy__Tensor(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return xlogy__Tensor_op.below[key_set](self, other)
    if not any_requires_grad([self, other]):
        return xlogy__Tensor_op.below[key_set](self, other)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(other)]
    node = XlogyBackward0()
    node.next_edges = edges
    node.saved_other = save(other)
    node.saved_self = save(self.clone())
    result = call_below(xlogy__Tensor_op.below[key_set], self, other)
    rebase_history(self, node)
    return result


def xlogy_Scalar_Self(key_set, self, other):
    if not local.grad_enabled or other._autograd is other._base is None:
        return xlogy_Scalar_Self_op.below[key_set](self, other)
    edges = [gradient_edge(other)]
    if edges[0].node is None and not any_requires_grad([other]):
        return xlogy_Scalar_Self_op.below[key_set](self, other)
    node = XlogyBackward1()
    node.next_edges = edges
    node.self = self
    node.saved_other = save(other)
    result = call_below(xlogy_Scalar_Self_op.below[key_set], self, other)
    set_history(result, node)
    return result


def xlogy_Scalar_Other(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None:
        return xlogy_Scalar_Other_op.below[key_set](self, other)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return xlogy_Scalar_Other_op.below[key_set](self, other)
    node = XlogyBackward2()
    node.next_edges = edges
    node.other = other
    node.saved_self = save(self)
    result = call_below(xlogy_Scalar_Other_op.below[key_set], self, other)
    set_history(result, node)
    return result


def xlogy__Scalar_Other(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None:
        return xlogy__Scalar_Other_op.below[key_set](self, other)
    if not any_requires_grad([self]):
        return xlogy__Scalar_Other_op.below[key_set](self, other)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = XlogyBackward2()
    node.next_edges = edges
    node.other = other
    node.saved_self = save(self.clone())
    result = call_below(xlogy__Scalar_Other_op.below[key_set], self, other)
    rebase_history(self, node)
    return result


def acos(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return acos_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return acos_op.below[key_set](self)
    node = AcosBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(acos_op.below[key_set], self)
    set_history(result, node)
    return result


def acos_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return acos__op.below[key_set](self)
    if not any_requires_grad([self]):
        return acos__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = AcosBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(acos__op.below[key_set], self)
    rebase_history(self, node)
    return result


def acosh(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return acosh_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return acosh_op.below[key_set](self)
    node = AcoshBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(acosh_op.below[key_set], self)
    set_history(result, node)
    return result


def acosh_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return acosh__op.below[key_set](self)
    if not any_requires_grad([self]):
        return acosh__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = AcoshBackward1()
    node.next_edges = edges
    result = call_below(acosh__op.below[key_set], self)
    rebase_history(self, node)
    return result


def asin(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return asin_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return asin_op.below[key_set](self)
    node = AsinBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(asin_op.below[key_set], self)
    set_history(result, node)
    return result


def asin_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return asin__op.below[key_set](self)
    if not any_requires_grad([self]):
        return asin__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = AsinBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(asin__op.below[key_set], self)
    rebase_history(self, node)
    return result


def asinh(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return asinh_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return asinh_op.below[key_set](self)
    node = AsinhBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(asinh_op.below[key_set], self)
    set_history(result, node)
    return result


def asinh_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return asinh__op.below[key_set](self)
    if not any_requires_grad([self]):
        return asinh__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = AsinhBackward1()
    node.next_edges = edges
    result = call_below(asinh__op.below[key_set], self)
    rebase_history(self, node)
    return result


def atan(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return atan_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return atan_op.below[key_set](self)
    node = AtanBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(atan_op.below[key_set], self)
    set_history(result, node)
    return result


def atan_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return atan__op.below[key_set](self)
    if not any_requires_grad([self]):
        return atan__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = AtanBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(atan__op.below[key_set], self)
    rebase_history(self, node)
    return result


def atanh(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return atanh_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return atanh_op.below[key_set](self)
    node = AtanhBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(atanh_op.below[key_set], self)
    set_history(result, node)
    return result


def atanh_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return atanh__op.below[key_set](self)
    if not any_requires_grad([self]):
        return atanh__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = AtanhBackward1()
    node.next_edges = edges
    result = call_below(atanh__op.below[key_set], self)
    rebase_history(self, node)
    return result


def cosh(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return cosh_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return cosh_op.below[key_set](self)
    node = CoshBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(cosh_op.below[key_set], self)
    set_history(result, node)
    return result


def cosh_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return cosh__op.below[key_set](self)
    if not any_requires_grad([self]):
        return cosh__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = CoshBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(cosh__op.below[key_set], self)
    rebase_history(self, node)
    return result


def sinh(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sinh_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return sinh_op.below[key_set](self)
    node = SinhBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(sinh_op.below[key_set], self)
    set_history(result, node)
    return result


def sinh_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sinh__op.below[key_set](self)
    if not any_requires_grad([self]):
        return sinh__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = SinhBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(sinh__op.below[key_set], self)
    rebase_history(self, node)
    return result


def erfc(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return erfc_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return erfc_op.below[key_set](self)
    node = ErfcBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(erfc_op.below[key_set], self)
    set_history(result, node)
    return result


def erfc_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return erfc__op.below[key_set](self)
    if not any_requires_grad([self]):
        return erfc__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = ErfcBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(erfc__op.below[key_set], self)
    rebase_history(self, node)
    return result


def sinc(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sinc_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return sinc_op.below[key_set](self)
    node = SincBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(sinc_op.below[key_set], self)
    set_history(result, node)
    return result


def sinc_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sinc__op.below[key_set](self)
    if not any_requires_grad([self]):
        return sinc__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = SincBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(sinc__op.below[key_set], self)
    rebase_history(self, node)
    return result


def lgamma(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return lgamma_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return lgamma_op.below[key_set](self)
    node = LgammaBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(lgamma_op.below[key_set], self)
    set_history(result, node)
    return result


def lgamma_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return lgamma__op.below[key_set](self)
    if not any_requires_grad([self]):
        return lgamma__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = LgammaBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(lgamma__op.below[key_set], self)
    rebase_history(self, node)
    return result


def mvlgamma(key_set, self, p):
    if not local.grad_enabled or self._autograd is self._base is None:
        return mvlgamma_op.below[key_set](self, p)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return mvlgamma_op.below[key_set](self, p)
    node = MvlgammaBackward0()
    node.next_edges = edges
    node.self_dtype = self.dtype
    node.p = p
    node.saved_self = save(self)
    result = call_below(mvlgamma_op.below[key_set], self, p)
    set_history(result, node)
    return result


def digamma(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return digamma_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return digamma_op.below[key_set](self)
    node = DigammaBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(digamma_op.below[key_set], self)
    set_history(result, node)
    return result


def digamma_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return digamma__op.below[key_set](self)
    if not any_requires_grad([self]):
        return digamma__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = DigammaBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(digamma__op.below[key_set], self)
    rebase_history(self, node)
    return result


def erfinv(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return erfinv_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return erfinv_op.below[key_set](self)
    node = ErfinvBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(erfinv_op.below[key_set], self)
    set_history(result, node)
    return result


def erfinv_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return erfinv__op.below[key_set](self)
    if not any_requires_grad([self]):
        return erfinv__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = ErfinvBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(erfinv__op.below[key_set], self)
    rebase_history(self, node)
    return result


def frac(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return frac_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return frac_op.below[key_set](self)
    node = FracBackward0()
    node.next_edges = edges
    result = call_below(frac_op.below[key_set], self)
    set_history(result, node)
    return result


def frac_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return frac__op.below[key_set](self)
    if not any_requires_grad([self]):
        return frac__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = FracBackward0()
    node.next_edges = edges
    result = call_below(frac__op.below[key_set], self)
    rebase_history(self, node)
    return result


def atan2(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return atan2_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return atan2_op.below[key_set](self, other)
    node = Atan2Backward0()
    node.next_edges = edges
    node.saved_other = save(other)
    node.saved_self = save(self)
    result = call_below(atan2_op.below[key_set], self, other)
    set_history(result, node)
    return result


def atan2_(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return atan2__op.below[key_set](self, other)
    if not any_requires_grad([self, other]):
        return atan2__op.below[key_set](self, other)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(other)]
    node = Atan2Backward0()
    node.next_edges = edges
    node.saved_other = save(other)
    node.saved_self = save(self.clone())
    result = call_below(atan2__op.below[key_set], self, other)
    rebase_history(self, node)
    return result


def ldexp_Tensor(key_set, self, other):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and (not isinstance(other, Tensor) or other._autograd is other._base is None)
    ):
        return ldexp_Tensor_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return ldexp_Tensor_op.below[key_set](self, other)
    node = LdexpBackward0()
    node.next_edges = edges
    if edges[0].node:
        node.saved_other = save(other)
    result = call_below(ldexp_Tensor_op.below[key_set], self, other)
    set_history(result, node)
    if edges[1].node:
        node.saved_result = save(result, True)
    return result


def ldexp_(key_set, self, other):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and (not isinstance(other, Tensor) or other._autograd is other._base is None)
    ):
        return ldexp__op.below[key_set](self, other)
    if not any_requires_grad([self, other]):
        return ldexp__op.below[key_set](self, other)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(other)]
    node = LdexpBackward0()
    node.next_edges = edges
    if edges[0].node:
        node.saved_other = save(other)
    result = call_below(ldexp__op.below[key_set], self, other)
    rebase_history(self, node)
    if edges[1].node:
        node.saved_result = save(result, True)
    return result


def hypot(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return hypot_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return hypot_op.below[key_set](self, other)
    node = HypotBackward0()
    node.next_edges = edges
    if edges[0].node:
        node.saved_self = save(self)
    if edges[1].node:
        node.saved_other = save(other)
    result = call_below(hypot_op.below[key_set], self, other)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def hypot_(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return hypot__op.below[key_set](self, other)
    if not any_requires_grad([self, other]):
        return hypot__op.below[key_set](self, other)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(other)]
    node = HypotBackward0()
    node.next_edges = edges
    if edges[0].node:
        node.saved_self = save(self.clone())
    if edges[1].node:
        node.saved_other = save(other)
    result = call_below(hypot__op.below[key_set], self, other)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def copysign_Tensor(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return copysign_Tensor_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return copysign_Tensor_op.below[key_set](self, other)
    node = CopysignBackward0()
    node.next_edges = edges
    node.other_info = other.shape
    if edges[0].node:
        node.saved_self = save(self)
    result = call_below(copysign_Tensor_op.below[key_set], self, other)
    set_history(result, node)
    if edges[0].node:
        node.saved_result = save(result, True)
    return result


def copysign__Tensor(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return copysign__Tensor_op.below[key_set](self, other)
    if not any_requires_grad([self, other]):
        return copysign__Tensor_op.below[key_set](self, other)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(other)]
    node = CopysignBackward0()
    node.next_edges = edges
    node.other_info = other.shape
    if edges[0].node:
        node.saved_self = save(self.clone())
    result = call_below(copysign__Tensor_op.below[key_set], self, other)
    rebase_history(self, node)
    if edges[0].node:
        node.saved_result = save(result, True)
    return result


def copysign_Scalar(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None:
        return copysign_Scalar_op.below[key_set](self, other)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return copysign_Scalar_op.below[key_set](self, other)
    node = CopysignBackward1()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(copysign_Scalar_op.below[key_set], self, other)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def copysign__Scalar(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None:
        return copysign__Scalar_op.below[key_set](self, other)
    if not any_requires_grad([self]):
        return copysign__Scalar_op.below[key_set](self, other)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = CopysignBackward1()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(copysign__Scalar_op.below[key_set], self, other)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def logaddexp(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return logaddexp_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return logaddexp_op.below[key_set](self, other)
    node = LogaddexpBackward0()
    node.next_edges = edges
    node.saved_other = save(other)
    node.saved_self = save(self)
    result = call_below(logaddexp_op.below[key_set], self, other)
    set_history(result, node)
    return result


def logaddexp2(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return logaddexp2_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return logaddexp2_op.below[key_set](self, other)
    node = Logaddexp2Backward0()
    node.next_edges = edges
    node.saved_other = save(other)
    node.saved_self = save(self)
    result = call_below(logaddexp2_op.below[key_set], self, other)
    set_history(result, node)
    return result


def fmax(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return fmax_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return fmax_op.below[key_set](self, other)
    node = FmaxBackward0()
    node.next_edges = edges
    node.saved_other = save(other)
    node.saved_self = save(self)
    result = call_below(fmax_op.below[key_set], self, other)
    set_history(result, node)
    return result


def fmin(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return fmin_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return fmin_op.below[key_set](self, other)
    node = FminBackward0()
    node.next_edges = edges
    node.saved_other = save(other)
    node.saved_self = save(self)
    result = call_below(fmin_op.below[key_set], self, other)
    set_history(result, node)
    return result


def nan_to_num(key_set, self, nan, posinf, neginf):
    if not local.grad_enabled or self._autograd is self._base is None:
        return nan_to_num_op.below[key_set](self, nan, posinf, neginf)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return nan_to_num_op.below[key_set](self, nan, posinf, neginf)
    node = NanToNumBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(nan_to_num_op.below[key_set], self, nan, posinf, neginf)
    set_history(result, node)
    return result


def nan_to_num_(key_set, self, nan, posinf, neginf):
    if not local.grad_enabled or self._autograd is self._base is None:
        return nan_to_num__op.below[key_set](self, nan, posinf, neginf)
    if not any_requires_grad([self]):
        return nan_to_num__op.below[key_set](self, nan, posinf, neginf)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = NanToNumBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(nan_to_num__op.below[key_set], self, nan, posinf, neginf)
    rebase_history(self, node)
    return result


def logit(key_set, self, eps):
    if not local.grad_enabled or self._autograd is self._base is None:
        return logit_op.below[key_set](self, eps)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return logit_op.below[key_set](self, eps)
    node = LogitBackward0()
    node.next_edges = edges
    node.eps = eps
    node.saved_self = save(self)
    result = call_below(logit_op.below[key_set], self, eps)
    set_history(result, node)
    return result


def logit_(key_set, self, eps):
    if not local.grad_enabled or self._autograd is self._base is None:
        return logit__op.below[key_set](self, eps)
    if not any_requires_grad([self]):
        return logit__op.below[key_set](self, eps)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = LogitBackward0()
    node.next_edges = edges
    node.eps = eps
    node.saved_self = save(self.clone())
    result = call_below(logit__op.below[key_set], self, eps)
    rebase_history(self, node)
    return result


def polygamma(key_set, n, self):
    if not local.grad_enabled or (not isinstance(self, Tensor) or self._autograd is self._base is None):
        return polygamma_op.below[key_set](n, self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return polygamma_op.below[key_set](n, self)
    node = PolygammaBackward0()
    node.next_edges = edges
    node.n = n
    node.saved_self = save(self)
    result = call_below(polygamma_op.below[key_set], n, self)
    set_history(result, node)
    return result


def polygamma_(key_set, self, n):
    if not local.grad_enabled or self._autograd is self._base is None:
        return polygamma__op.below[key_set](self, n)
    if not any_requires_grad([self]):
        return polygamma__op.below[key_set](self, n)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = PolygammaBackward1()
    node.next_edges = edges
    node.n = n
    node.saved_self = save(self.clone())
    result = call_below(polygamma__op.below[key_set], self, n)
    rebase_history(self, node)
    return result


def deg2rad(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return deg2rad_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return deg2rad_op.below[key_set](self)
    node = Deg2RadBackward0()
    node.next_edges = edges
    result = call_below(deg2rad_op.below[key_set], self)
    set_history(result, node)
    return result


def deg2rad_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return deg2rad__op.below[key_set](self)
    if not any_requires_grad([self]):
        return deg2rad__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = Deg2RadBackward0()
    node.next_edges = edges
    result = call_below(deg2rad__op.below[key_set], self)
    rebase_history(self, node)
    return result


def rad2deg(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return rad2deg_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return rad2deg_op.below[key_set](self)
    node = Rad2DegBackward0()
    node.next_edges = edges
    result = call_below(rad2deg_op.below[key_set], self)
    set_history(result, node)
    return result


def rad2deg_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return rad2deg__op.below[key_set](self)
    if not any_requires_grad([self]):
        return rad2deg__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = Rad2DegBackward0()
    node.next_edges = edges
    result = call_below(rad2deg__op.below[key_set], self)
    rebase_history(self, node)
    return result


def celu(key_set, self, alpha):
    if not local.grad_enabled or self._autograd is self._base is None:
        return celu_op.below[key_set](self, alpha)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return celu_op.below[key_set](self, alpha)
    node = CeluBackward0()
    node.next_edges = edges
    node.alpha = alpha
    node.saved_self = save(self)
    result = call_below(celu_op.below[key_set], self, alpha)
    set_history(result, node)
    return result


def celu_(key_set, self, alpha):
    if not local.grad_enabled or self._autograd is self._base is None:
        return celu__op.below[key_set](self, alpha)
    if not any_requires_grad([self]):
        return celu__op.below[key_set](self, alpha)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = CeluBackward1()
    node.next_edges = edges
    node.alpha = alpha
    result = call_below(celu__op.below[key_set], self, alpha)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def hardsigmoid(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return hardsigmoid_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return hardsigmoid_op.below[key_set](self)
    node = HardsigmoidBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(hardsigmoid_op.below[key_set], self)
    set_history(result, node)
    return result


def hardsigmoid_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return hardsigmoid__op.below[key_set](self)
    if not any_requires_grad([self]):
        return hardsigmoid__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = HardsigmoidBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(hardsigmoid__op.below[key_set], self)
    rebase_history(self, node)
    return result


def hardswish(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return hardswish_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return hardswish_op.below[key_set](self)
    node = HardswishBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(hardswish_op.below[key_set], self)
    set_history(result, node)
    return result


def hardswish_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return hardswish__op.below[key_set](self)
    if not any_requires_grad([self]):
        return hardswish__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = HardswishBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(hardswish__op.below[key_set], self)
    rebase_history(self, node)
    return result


def mish(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return mish_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return mish_op.below[key_set](self)
    node = MishBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(mish_op.below[key_set], self)
    set_history(result, node)
    return result


def mish_(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return mish__op.below[key_set](self)
    if not any_requires_grad([self]):
        return mish__op.below[key_set](self)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = MishBackward0()
    node.next_edges = edges
    node.saved_self = save(self.clone())
    result = call_below(mish__op.below[key_set], self)
    rebase_history(self, node)
    return result


def hardshrink(key_set, self, lambd):
    if not local.grad_enabled or self._autograd is self._base is None:
        return hardshrink_op.below[key_set](self, lambd)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return hardshrink_op.below[key_set](self, lambd)
    node = HardshrinkBackward0()
    node.next_edges = edges
    node.lambd = lambd
    node.saved_self = save(self)
    result = call_below(hardshrink_op.below[key_set], self, lambd)
    set_history(result, node)
    return result


def softshrink(key_set, self, lambd):
    if not local.grad_enabled or self._autograd is self._base is None:
        return softshrink_op.below[key_set](self, lambd)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return softshrink_op.below[key_set](self, lambd)
    node = SoftshrinkBackward0()
    node.next_edges = edges
    node.lambd = lambd
    node.saved_self = save(self)
    result = call_below(softshrink_op.below[key_set], self, lambd)
    set_history(result, node)
    return result


def log_sigmoid_forward(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return log_sigmoid_forward_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return log_sigmoid_forward_op.below[key_set](self)
    node = LogSigmoidBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(log_sigmoid_forward_op.below[key_set], self)
    set_history(result, node, [True, False])
    node.saved_buffer = save(result[1], True)
    return result


def glu(key_set, self, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return glu_op.below[key_set](self, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return glu_op.below[key_set](self, dim)
    node = GluBackward0()
    node.next_edges = edges
    node.dim = dim
    node.saved_self = save(self)
    result = call_below(glu_op.below[key_set], self, dim)
    set_history(result, node)
    return result


def _prelu_kernel(key_set, self, weight):
    if not local.grad_enabled or self._autograd is self._base is None and weight._autograd is weight._base is None:
        return _prelu_kernel_op.below[key_set](self, weight)
    edges = [gradient_edge(self), gradient_edge(weight)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, weight]):
        return _prelu_kernel_op.below[key_set](self, weight)
    node = PreluKernelBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    if edges[0].node:
        node.saved_weight = save(weight)
    result = call_below(_prelu_kernel_op.below[key_set], self, weight)
    set_history(result, node)
    return result


def rrelu_with_noise(key_set, self, noise, lower, upper, training, generator):
    if not local.grad_enabled or self._autograd is self._base is None:
        return rrelu_with_noise_op.below[key_set](self, noise, lower, upper, training, generator)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return rrelu_with_noise_op.below[key_set](self, noise, lower, upper, training, generator)
    node = RreluWithNoiseBackward0()
    node.next_edges = edges
    node.lower = lower
    node.training = training
    node.upper = upper
    node.saved_noise = save(noise)
    node.saved_self = save(self)
    result = call_below(rrelu_with_noise_op.below[key_set], self, noise, lower, upper, training, generator)
    set_history(result, node)
    return result


def rrelu_with_noise_(key_set, self, noise, lower, upper, training, generator):
    if not local.grad_enabled or self._autograd is self._base is None:
        return rrelu_with_noise__op.below[key_set](self, noise, lower, upper, training, generator)
    if not any_requires_grad([self]):
        return rrelu_with_noise__op.below[key_set](self, noise, lower, upper, training, generator)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = RreluWithNoiseBackward1()
    node.next_edges = edges
    node.lower = lower
    node.training = training
    node.upper = upper
    node.saved_noise = save(noise)
    result = call_below(rrelu_with_noise__op.below[key_set], self, noise, lower, upper, training, generator)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def rrelu_with_noise_backward(key_set, grad_output, self, noise, lower, upper, training, self_is_result):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return rrelu_with_noise_backward_op.below[key_set](
            grad_output, self, noise, lower, upper, training, self_is_result
        )
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return rrelu_with_noise_backward_op.below[key_set](
            grad_output, self, noise, lower, upper, training, self_is_result
        )
    node = RreluWithNoiseBackwardBackward0()
    node.next_edges = edges
    node.lower = lower
    node.training = training
    node.upper = upper
    if edges[0].node:
        node.saved_noise = save(noise)
    if edges[0].node:
        node.saved_self = save(self)
    result = call_below(
        rrelu_with_noise_backward_op.below[key_set], grad_output, self, noise, lower, upper, training, self_is_result
    )
    set_history(result, node)
    return result


def cat(key_set, tensors, dim):
    if not any_requires_grad(tensors):
        return cat_op.below[key_set](tensors, dim)
    edges = [gradient_edge(each) for each in tensors]
    node = CatBackward0()
    node.next_edges = edges
    node.tensors_shapes = [each.shape for each in tensors]
    node.tensors_dtypes = [each.dtype for each in tensors]
    node.dim = dim
    result = call_below(cat_op.below[key_set], tensors, dim)
    set_history(result, node)
    return result


def embedding(key_set, weight, indices, padding_idx, scale_grad_by_freq, sparse):
    if not local.grad_enabled or weight._autograd is weight._base is None:
        return embedding_op.below[key_set](weight, indices, padding_idx, scale_grad_by_freq, sparse)
    edges = [gradient_edge(weight)]
    if edges[0].node is None and not any_requires_grad([weight]):
        return embedding_op.below[key_set](weight, indices, padding_idx, scale_grad_by_freq, sparse)
    node = EmbeddingBackward0()
    node.next_edges = edges
    node.weight_sym_argsize_0 = weight.size(0)
    node.padding_idx = padding_idx
    node.scale_grad_by_freq = scale_grad_by_freq
    node.sparse = sparse
    node.saved_indices = save(indices)
    result = call_below(embedding_op.below[key_set], weight, indices, padding_idx, scale_grad_by_freq, sparse)
    set_history(result, node)
    return result


def flip(key_set, self, dims):
    if not local.grad_enabled or self._autograd is self._base is None:
        return flip_op.below[key_set](self, dims)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return flip_op.below[key_set](self, dims)
    node = FlipBackward0()
    node.next_edges = edges
    node.dims = dims
    result = call_below(flip_op.below[key_set], self, dims)
    set_history(result, node)
    return result


def gather(key_set, self, dim, index, sparse_grad):
    if not local.grad_enabled or self._autograd is self._base is None:
        return gather_op.below[key_set](self, dim, index, sparse_grad)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return gather_op.below[key_set](self, dim, index, sparse_grad)
    node = GatherBackward0()
    node.next_edges = edges
    node.dim = dim
    node.sparse_grad = sparse_grad
    node.saved_index = save(index)
    node.saved_self = save(self)
    result = call_below(gather_op.below[key_set], self, dim, index, sparse_grad)
    set_history(result, node)
    return result


def index_Tensor(key_set, self, indices):
    if not local.grad_enabled or self._autograd is self._base is None:
        return index_Tensor_op.below[key_set](self, indices)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return index_Tensor_op.below[key_set](self, indices)
    node = IndexBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.saved_indices = save(indices)
    result = call_below(index_Tensor_op.below[key_set], self, indices)
    set_history(result, node)
    return result


def index_add(key_set, self, dim, index, source, alpha):
    if not local.grad_enabled or self._autograd is self._base is None and source._autograd is source._base is None:
        return index_add_op.below[key_set](self, dim, index, source, alpha)
    edges = [gradient_edge(self), gradient_edge(source)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, source]):
        return index_add_op.below[key_set](self, dim, index, source, alpha)
    node = IndexAddBackward0()
    node.next_edges = edges
    node.source_dim = source.dim()
    node.alpha = alpha
    node.dim = dim
    if edges[1].node:
        node.saved_index = save(index)
    if edges[1].node:
        node.saved_source = save(source)
    result = call_below(index_add_op.below[key_set], self, dim, index, source, alpha)
    set_history(result, node)
    return result


def index_add_(key_set, self, dim, index, source, alpha):
    if not local.grad_enabled or self._autograd is self._base is None and source._autograd is source._base is None:
        return index_add__op.below[key_set](self, dim, index, source, alpha)
    if not any_requires_grad([self, source]):
        return index_add__op.below[key_set](self, dim, index, source, alpha)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(source)]
    node = IndexAddBackward0()
    node.next_edges = edges
    node.source_dim = source.dim()
    node.alpha = alpha
    node.dim = dim
    if edges[1].node:
        node.saved_index = save(index)
    if edges[1].node:
        node.saved_source = save(source)
    result = call_below(index_add__op.below[key_set], self, dim, index, source, alpha)
    rebase_history(self, node)
    return result


def index_put(key_set, self, indices, values, accumulate):
    if not local.grad_enabled or self._autograd is self._base is None and values._autograd is values._base is None:
        return index_put_op.below[key_set](self, indices, values, accumulate)
    edges = [gradient_edge(self), gradient_edge(values)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, values]):
        return index_put_op.below[key_set](self, indices, values, accumulate)
    node = IndexPutBackward0()
    node.next_edges = edges
    node.accumulate = accumulate
    node.saved_indices = save(indices)
    result = call_below(index_put_op.below[key_set], self, indices, values, accumulate)
    set_history(result, node)
    return result


def index_put_(key_set, self, indices, values, accumulate):
    if not local.grad_enabled or self._autograd is self._base is None and values._autograd is values._base is None:
        return index_put__op.below[key_set](self, indices, values, accumulate)
    if not any_requires_grad([self, values]):
        return index_put__op.below[key_set](self, indices, values, accumulate)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(values)]
    node = IndexPutBackward0()
    node.next_edges = edges
    node.accumulate = accumulate
    node.saved_indices = save(indices)
    result = call_below(index_put__op.below[key_set], self, indices, values, accumulate)
    rebase_history(self, node)
    return result


def _index_put_impl_(key_set, self, indices, values, accumulate, unsafe):
    if not local.grad_enabled or self._autograd is self._base is None and values._autograd is values._base is None:
        return _index_put_impl__op.below[key_set](self, indices, values, accumulate, unsafe)
    if not any_requires_grad([self, values]):
        return _index_put_impl__op.below[key_set](self, indices, values, accumulate, unsafe)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(values)]
    node = IndexPutImplBackward0()
    node.next_edges = edges
    node.accumulate = accumulate
    node.saved_indices = save(indices)
    result = call_below(_index_put_impl__op.below[key_set], self, indices, values, accumulate, unsafe)
    rebase_history(self, node)
    return result


def index_select(key_set, self, dim, index):
    if not local.grad_enabled or self._autograd is self._base is None:
        return index_select_op.below[key_set](self, dim, index)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return index_select_op.below[key_set](self, dim, index)
    node = IndexSelectBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    node.saved_index = save(index)
    result = call_below(index_select_op.below[key_set], self, dim, index)
    set_history(result, node)
    return result


def masked_fill_Scalar(key_set, self, mask, value):
    if not local.grad_enabled or self._autograd is self._base is None:
        return masked_fill_Scalar_op.below[key_set](self, mask, value)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return masked_fill_Scalar_op.below[key_set](self, mask, value)
    node = MaskedFillBackward0()
    node.next_edges = edges
    node.saved_mask = save(mask)
    result = call_below(masked_fill_Scalar_op.below[key_set], self, mask, value)
    set_history(result, node)
    return result


def masked_fill__Scalar(key_set, self, mask, value):
    if not local.grad_enabled or self._autograd is self._base is None:
        return masked_fill__Scalar_op.below[key_set](self, mask, value)
    if not any_requires_grad([self]):
        return masked_fill__Scalar_op.below[key_set](self, mask, value)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = MaskedFillBackward0()
    node.next_edges = edges
    node.saved_mask = save(mask)
    result = call_below(masked_fill__Scalar_op.below[key_set], self, mask, value)
    rebase_history(self, node)
    return result


def masked_fill_Tensor(key_set, self, mask, value):
    if not local.grad_enabled or self._autograd is self._base is None and value._autograd is value._base is None:
        return masked_fill_Tensor_op.below[key_set](self, mask, value)
    edges = [gradient_edge(self), gradient_edge(value)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, value]):
        return masked_fill_Tensor_op.below[key_set](self, mask, value)
    node = MaskedFillBackward1()
    node.next_edges = edges
    node.saved_mask = save(mask)
    result = call_below(masked_fill_Tensor_op.below[key_set], self, mask, value)
    set_history(result, node)
    return result


def masked_fill__Tensor(key_set, self, mask, value):
    if not local.grad_enabled or self._autograd is self._base is None and value._autograd is value._base is None:
        return masked_fill__Tensor_op.below[key_set](self, mask, value)
    if not any_requires_grad([self, value]):
        return masked_fill__Tensor_op.below[key_set](self, mask, value)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(value)]
    node = MaskedFillBackward1()
    node.next_edges = edges
    node.saved_mask = save(mask)
    result = call_below(masked_fill__Tensor_op.below[key_set], self, mask, value)
    rebase_history(self, node)
    return result


def repeat(key_set, self, repeats):
    if not local.grad_enabled or self._autograd is self._base is None:
        return repeat_op.below[key_set](self, repeats)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return repeat_op.below[key_set](self, repeats)
    node = RepeatBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.repeats = repeats
    result = call_below(repeat_op.below[key_set], self, repeats)
    set_history(result, node)
    return result


def roll(key_set, self, shifts, dims):
    if not local.grad_enabled or self._autograd is self._base is None:
        return roll_op.below[key_set](self, shifts, dims)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return roll_op.below[key_set](self, shifts, dims)
    node = RollBackward0()
    node.next_edges = edges
    node.dims = dims
    node.shifts = shifts
    result = call_below(roll_op.below[key_set], self, shifts, dims)
    set_history(result, node)
    return result


def scatter_src(key_set, self, dim, index, src):
    if not local.grad_enabled or self._autograd is self._base is None and src._autograd is src._base is None:
        return scatter_src_op.below[key_set](self, dim, index, src)
    edges = [gradient_edge(self), gradient_edge(src)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, src]):
        return scatter_src_op.below[key_set](self, dim, index, src)
    node = ScatterBackward0()
    node.next_edges = edges
    node.dim = dim
    node.saved_index = save(index)
    result = call_below(scatter_src_op.below[key_set], self, dim, index, src)
    set_history(result, node)
    return result


def scatter__src(key_set, self, dim, index, src):
    if not local.grad_enabled or self._autograd is self._base is None and src._autograd is src._base is None:
        return scatter__src_op.below[key_set](self, dim, index, src)
    if not any_requires_grad([self, src]):
        return scatter__src_op.below[key_set](self, dim, index, src)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(src)]
    node = ScatterBackward0()
    node.next_edges = edges
    node.dim = dim
    node.saved_index = save(index)
    result = call_below(scatter__src_op.below[key_set], self, dim, index, src)
    rebase_history(self, node)
    return result


def scatter_value(key_set, self, dim, index, value):
    if not local.grad_enabled or self._autograd is self._base is None:
        return scatter_value_op.below[key_set](self, dim, index, value)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return scatter_value_op.below[key_set](self, dim, index, value)
    node = ScatterBackward1()
    node.next_edges = edges
    node.dim = dim
    node.saved_index = save(index)
    result = call_below(scatter_value_op.below[key_set], self, dim, index, value)
    set_history(result, node)
    return result


def scatter__value(key_set, self, dim, index, value):
    if not local.grad_enabled or self._autograd is self._base is None:
        return scatter__value_op.below[key_set](self, dim, index, value)
    if not any_requires_grad([self]):
        return scatter__value_op.below[key_set](self, dim, index, value)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = ScatterBackward1()
    node.next_edges = edges
    node.dim = dim
    node.saved_index = save(index)
    result = call_below(scatter__value_op.below[key_set], self, dim, index, value)
    rebase_history(self, node)
    return result


def scatter_add(key_set, self, dim, index, src):
    if not local.grad_enabled or self._autograd is self._base is None and src._autograd is src._base is None:
        return scatter_add_op.below[key_set](self, dim, index, src)
    edges = [gradient_edge(self), gradient_edge(src)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, src]):
        return scatter_add_op.below[key_set](self, dim, index, src)
    node = ScatterAddBackward0()
    node.next_edges = edges
    node.dim = dim
    if edges[1].node:
        node.saved_index = save(index)
    result = call_below(scatter_add_op.below[key_set], self, dim, index, src)
    set_history(result, node)
    return result


def scatter_add_(key_set, self, dim, index, src):
    if not local.grad_enabled or self._autograd is self._base is None and src._autograd is src._base is None:
        return scatter_add__op.below[key_set](self, dim, index, src)
    if not any_requires_grad([self, src]):
        return scatter_add__op.below[key_set](self, dim, index, src)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(src)]
    node = ScatterAddBackward0()
    node.next_edges = edges
    node.dim = dim
    if edges[1].node:
        node.saved_index = save(index)
    result = call_below(scatter_add__op.below[key_set], self, dim, index, src)
    rebase_history(self, node)
    return result


def stack(key_set, tensors, dim):
    if not any_requires_grad(tensors):
        return stack_op.below[key_set](tensors, dim)
    edges = [gradient_edge(each) for each in tensors]
    node = StackBackward0()
    node.next_edges = edges
    node.tensors_dtypes = [each.dtype for each in tensors]
    node.dim = dim
    result = call_below(stack_op.below[key_set], tensors, dim)
    set_history(result, node)
    return result


def tril(key_set, self, diagonal):
    if not local.grad_enabled or self._autograd is self._base is None:
        return tril_op.below[key_set](self, diagonal)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return tril_op.below[key_set](self, diagonal)
    node = TrilBackward0()
    node.next_edges = edges
    node.diagonal = diagonal
    result = call_below(tril_op.below[key_set], self, diagonal)
    set_history(result, node)
    return result


def tril_(key_set, self, diagonal):
    if not local.grad_enabled or self._autograd is self._base is None:
        return tril__op.below[key_set](self, diagonal)
    if not any_requires_grad([self]):
        return tril__op.below[key_set](self, diagonal)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = TrilBackward0()
    node.next_edges = edges
    node.diagonal = diagonal
    result = call_below(tril__op.below[key_set], self, diagonal)
    rebase_history(self, node)
    return result


def triu(key_set, self, diagonal):
    if not local.grad_enabled or self._autograd is self._base is None:
        return triu_op.below[key_set](self, diagonal)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return triu_op.below[key_set](self, diagonal)
    node = TriuBackward0()
    node.next_edges = edges
    node.diagonal = diagonal
    result = call_below(triu_op.below[key_set], self, diagonal)
    set_history(result, node)
    return result


def triu_(key_set, self, diagonal):
    if not local.grad_enabled or self._autograd is self._base is None:
        return triu__op.below[key_set](self, diagonal)
    if not any_requires_grad([self]):
        return triu__op.below[key_set](self, diagonal)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = TriuBackward0()
    node.next_edges = edges
    node.diagonal = diagonal
    result = call_below(triu__op.below[key_set], self, diagonal)
    rebase_history(self, node)
    return result


def pixel_shuffle(key_set, self, upscale_factor):
    if not local.grad_enabled or self._autograd is self._base is None:
        return pixel_shuffle_op.below[key_set](self, upscale_factor)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return pixel_shuffle_op.below[key_set](self, upscale_factor)
    node = PixelShuffleBackward0()
    node.next_edges = edges
    node.upscale_factor = upscale_factor
    result = call_below(pixel_shuffle_op.below[key_set], self, upscale_factor)
    set_history(result, node)
    return result


def pixel_unshuffle(key_set, self, downscale_factor):
    if not local.grad_enabled or self._autograd is self._base is None:
        return pixel_unshuffle_op.below[key_set](self, downscale_factor)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return pixel_unshuffle_op.below[key_set](self, downscale_factor)
    node = PixelUnshuffleBackward0()
    node.next_edges = edges
    node.downscale_factor = downscale_factor
    result = call_below(pixel_unshuffle_op.below[key_set], self, downscale_factor)
    set_history(result, node)
    return result


def _log_softmax(key_set, self, dim, half_to_float):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _log_softmax_op.below[key_set](self, dim, half_to_float)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _log_softmax_op.below[key_set](self, dim, half_to_float)
    node = LogSoftmaxBackward0()
    node.next_edges = edges
    node.self_dtype = self.dtype
    node.dim = dim
    result = call_below(_log_softmax_op.below[key_set], self, dim, half_to_float)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def _safe_softmax(key_set, self, dim, dtype):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _safe_softmax_op.below[key_set](self, dim, dtype)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _safe_softmax_op.below[key_set](self, dim, dtype)
    node = SafeSoftmaxBackward0()
    node.next_edges = edges
    node.self_dtype = self.dtype
    node.dim = dim
    result = call_below(_safe_softmax_op.below[key_set], self, dim, dtype)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def _softmax(key_set, self, dim, half_to_float):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _softmax_op.below[key_set](self, dim, half_to_float)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _softmax_op.below[key_set](self, dim, half_to_float)
    node = SoftmaxBackward0()
    node.next_edges = edges
    node.self_dtype = self.dtype
    node.dim = dim
    result = call_below(_softmax_op.below[key_set], self, dim, half_to_float)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def amax(key_set, self, dim, keepdim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return amax_op.below[key_set](self, dim, keepdim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return amax_op.below[key_set](self, dim, keepdim)
    node = AmaxBackward0()
    node.next_edges = edges
    node.dim = dim
    node.keepdim = keepdim
    node.saved_self = save(self)
    result = call_below(amax_op.below[key_set], self, dim, keepdim)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def amin(key_set, self, dim, keepdim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return amin_op.below[key_set](self, dim, keepdim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return amin_op.below[key_set](self, dim, keepdim)
    node = AminBackward0()
    node.next_edges = edges
    node.dim = dim
    node.keepdim = keepdim
    node.saved_self = save(self)
    result = call_below(amin_op.below[key_set], self, dim, keepdim)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def cumsum(key_set, self, dim, dtype):
    if not local.grad_enabled or self._autograd is self._base is None:
        return cumsum_op.below[key_set](self, dim, dtype)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return cumsum_op.below[key_set](self, dim, dtype)
    node = CumsumBackward0()
    node.next_edges = edges
    node.dim = dim
    result = call_below(cumsum_op.below[key_set], self, dim, dtype)
    set_history(result, node)
    return result


def cumsum_(key_set, self, dim, dtype):
    if not local.grad_enabled or self._autograd is self._base is None:
        return cumsum__op.below[key_set](self, dim, dtype)
    if not any_requires_grad([self]):
        return cumsum__op.below[key_set](self, dim, dtype)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = CumsumBackward0()
    node.next_edges = edges
    node.dim = dim
    result = call_below(cumsum__op.below[key_set], self, dim, dtype)
    rebase_history(self, node)
    return result


def put(key_set, self, index, source, accumulate):
    if not local.grad_enabled or self._autograd is self._base is None and source._autograd is source._base is None:
        return put_op.below[key_set](self, index, source, accumulate)
    edges = [gradient_edge(self), gradient_edge(source)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, source]):
        return put_op.below[key_set](self, index, source, accumulate)
    node = PutBackward0()
    node.next_edges = edges
    node.source_info = source.shape
    node.accumulate = accumulate
    node.saved_index = save(index)
    if edges[1].node:
        node.saved_source = save(source)
    result = call_below(put_op.below[key_set], self, index, source, accumulate)
    set_history(result, node)
    return result


def put_(key_set, self, index, source, accumulate):
    if not local.grad_enabled or self._autograd is self._base is None and source._autograd is source._base is None:
        return put__op.below[key_set](self, index, source, accumulate)
    if not any_requires_grad([self, source]):
        return put__op.below[key_set](self, index, source, accumulate)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(source)]
    node = PutBackward0()
    node.next_edges = edges
    node.source_info = source.shape
    node.accumulate = accumulate
    node.saved_index = save(index)
    if edges[1].node:
        node.saved_source = save(source)
    result = call_below(put__op.below[key_set], self, index, source, accumulate)
    rebase_history(self, node)
    return result


def logcumsumexp(key_set, self, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return logcumsumexp_op.below[key_set](self, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return logcumsumexp_op.below[key_set](self, dim)
    node = LogcumsumexpBackward0()
    node.next_edges = edges
    node.dim = dim
    node.saved_self = save(self)
    result = call_below(logcumsumexp_op.below[key_set], self, dim)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def logsumexp(key_set, self, dim, keepdim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return logsumexp_op.below[key_set](self, dim, keepdim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return logsumexp_op.below[key_set](self, dim, keepdim)
    node = LogsumexpBackward0()
    node.next_edges = edges
    node.dim = dim
    node.keepdim = keepdim
    node.saved_self = save(self)
    result = call_below(logsumexp_op.below[key_set], self, dim, keepdim)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def max(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return max_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return max_op.below[key_set](self)
    node = MaxBackward1()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(max_op.below[key_set], self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def max_dim(key_set, self, dim, keepdim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return max_dim_op.below[key_set](self, dim, keepdim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return max_dim_op.below[key_set](self, dim, keepdim)
    node = MaxBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    node.keepdim = keepdim
    result = call_below(max_dim_op.below[key_set], self, dim, keepdim)
    set_history(result, node)
    node.saved_indices = save(result[1], True)
    return result


def mean(key_set, self, dtype):
    if not local.grad_enabled or self._autograd is self._base is None:
        return mean_op.below[key_set](self, dtype)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return mean_op.below[key_set](self, dtype)
    node = MeanBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.self_numel = self.numel()
    result = call_below(mean_op.below[key_set], self, dtype)
    set_history(result, node)
    return result


def mean_dim(key_set, self, dim, keepdim, dtype):
    if not local.grad_enabled or self._autograd is self._base is None:
        return mean_dim_op.below[key_set](self, dim, keepdim, dtype)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return mean_dim_op.below[key_set](self, dim, keepdim, dtype)
    node = MeanBackward1()
    node.next_edges = edges
    node.self_shape = self.shape
    node.self_numel = self.numel()
    node.dim = dim
    node.keepdim = keepdim
    result = call_below(mean_dim_op.below[key_set], self, dim, keepdim, dtype)
    set_history(result, node)
    return result


def min(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return min_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return min_op.below[key_set](self)
    node = MinBackward1()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(min_op.below[key_set], self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def min_dim(key_set, self, dim, keepdim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return min_dim_op.below[key_set](self, dim, keepdim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return min_dim_op.below[key_set](self, dim, keepdim)
    node = MinBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    node.keepdim = keepdim
    result = call_below(min_dim_op.below[key_set], self, dim, keepdim)
    set_history(result, node)
    node.saved_indices = save(result[1], True)
    return result


def prod(key_set, self, dtype):
    if not local.grad_enabled or self._autograd is self._base is None:
        return prod_op.below[key_set](self, dtype)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return prod_op.below[key_set](self, dtype)
    node = ProdBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(prod_op.below[key_set], self, dtype)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def prod_dim_int(key_set, self, dim, keepdim, dtype):
    if not local.grad_enabled or self._autograd is self._base is None:
        return prod_dim_int_op.below[key_set](self, dim, keepdim, dtype)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return prod_dim_int_op.below[key_set](self, dim, keepdim, dtype)
    node = ProdBackward1()
    node.next_edges = edges
    node.dim = dim
    node.keepdim = keepdim
    node.saved_self = save(self)
    result = call_below(prod_dim_int_op.below[key_set], self, dim, keepdim, dtype)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def std_correction(key_set, self, dim, correction, keepdim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return std_correction_op.below[key_set](self, dim, correction, keepdim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return std_correction_op.below[key_set](self, dim, correction, keepdim)
    node = StdBackward0()
    node.next_edges = edges
    node.correction = correction
    node.dim = dim
    node.keepdim = keepdim
    node.saved_self = save(self)
    result = call_below(std_correction_op.below[key_set], self, dim, correction, keepdim)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def std_mean_correction(key_set, self, dim, correction, keepdim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return std_mean_correction_op.below[key_set](self, dim, correction, keepdim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return std_mean_correction_op.below[key_set](self, dim, correction, keepdim)
    node = StdMeanBackward0()
    node.next_edges = edges
    node.correction = correction
    node.dim = dim
    node.keepdim = keepdim
    node.saved_self = save(self)
    result = call_below(std_mean_correction_op.below[key_set], self, dim, correction, keepdim)
    set_history(result, node)
    node.saved_result0 = save(result[0], True)
    return result


def sum(key_set, self, dtype):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sum_op.below[key_set](self, dtype)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return sum_op.below[key_set](self, dtype)
    node = SumBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    result = call_below(sum_op.below[key_set], self, dtype)
    set_history(result, node)
    return result


def sum_dim_IntList(key_set, self, dim, keepdim, dtype):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sum_dim_IntList_op.below[key_set](self, dim, keepdim, dtype)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return sum_dim_IntList_op.below[key_set](self, dim, keepdim, dtype)
    node = SumBackward1()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    node.keepdim = keepdim
    result = call_below(sum_dim_IntList_op.below[key_set], self, dim, keepdim, dtype)
    set_history(result, node)
    return result


def var_correction(key_set, self, dim, correction, keepdim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return var_correction_op.below[key_set](self, dim, correction, keepdim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return var_correction_op.below[key_set](self, dim, correction, keepdim)
    node = VarBackward0()
    node.next_edges = edges
    node.correction = correction
    node.dim = dim
    node.keepdim = keepdim
    node.saved_self = save(self)
    result = call_below(var_correction_op.below[key_set], self, dim, correction, keepdim)
    set_history(result, node)
    return result


def var_mean_correction(key_set, self, dim, correction, keepdim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return var_mean_correction_op.below[key_set](self, dim, correction, keepdim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return var_mean_correction_op.below[key_set](self, dim, correction, keepdim)
    node = VarMeanBackward0()
    node.next_edges = edges
    node.correction = correction
    node.dim = dim
    node.keepdim = keepdim
    node.saved_self = save(self)
    result = call_below(var_mean_correction_op.below[key_set], self, dim, correction, keepdim)
    set_history(result, node)
    return result


def cumprod(key_set, self, dim, dtype):
    if not local.grad_enabled or self._autograd is self._base is None:
        return cumprod_op.below[key_set](self, dim, dtype)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return cumprod_op.below[key_set](self, dim, dtype)
    node = CumprodBackward0()
    node.next_edges = edges
    node.self_dtype = self.dtype
    node.dim = dim
    node.saved_self = save(self)
    result = call_below(cumprod_op.below[key_set], self, dim, dtype)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def cumprod_(key_set, self, dim, dtype):
    if not local.grad_enabled or self._autograd is self._base is None:
        return cumprod__op.below[key_set](self, dim, dtype)
    if not any_requires_grad([self]):
        return cumprod__op.below[key_set](self, dim, dtype)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = CumprodBackward0()
    node.next_edges = edges
    node.self_dtype = self.dtype
    node.dim = dim
    node.saved_self = save(self.clone())
    result = call_below(cumprod__op.below[key_set], self, dim, dtype)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def cummax(key_set, self, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return cummax_op.below[key_set](self, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return cummax_op.below[key_set](self, dim)
    node = CummaxBackward0()
    node.next_edges = edges
    node.dim = dim
    node.saved_self = save(self)
    result = call_below(cummax_op.below[key_set], self, dim)
    set_history(result, node, [True, False])
    node.saved_indices = save(result[1], True)
    return result


def cummin(key_set, self, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return cummin_op.below[key_set](self, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return cummin_op.below[key_set](self, dim)
    node = CumminBackward0()
    node.next_edges = edges
    node.dim = dim
    node.saved_self = save(self)
    result = call_below(cummin_op.below[key_set], self, dim)
    set_history(result, node, [True, False])
    node.saved_indices = save(result[1], True)
    return result


def kthvalue(key_set, self, k, dim, keepdim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return kthvalue_op.below[key_set](self, k, dim, keepdim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return kthvalue_op.below[key_set](self, k, dim, keepdim)
    node = KthvalueBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    node.keepdim = keepdim
    result = call_below(kthvalue_op.below[key_set], self, k, dim, keepdim)
    set_history(result, node, [True, False])
    node.saved_indices = save(result[1], True)
    return result


def mode(key_set, self, dim, keepdim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return mode_op.below[key_set](self, dim, keepdim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return mode_op.below[key_set](self, dim, keepdim)
    node = ModeBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    node.keepdim = keepdim
    result = call_below(mode_op.below[key_set], self, dim, keepdim)
    set_history(result, node, [True, False])
    node.saved_indices = save(result[1], True)
    return result


def nansum(key_set, self, dim, keepdim, dtype):
    if not local.grad_enabled or self._autograd is self._base is None:
        return nansum_op.below[key_set](self, dim, keepdim, dtype)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return nansum_op.below[key_set](self, dim, keepdim, dtype)
    node = NansumBackward0()
    node.next_edges = edges
    node.self_dtype = self.dtype
    node.dim = dim
    node.keepdim = keepdim
    node.saved_self = save(self)
    result = call_below(nansum_op.below[key_set], self, dim, keepdim, dtype)
    set_history(result, node)
    return result


def aminmax(key_set, self, dim, keepdim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return aminmax_op.below[key_set](self, dim, keepdim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return aminmax_op.below[key_set](self, dim, keepdim)
    node = AminmaxBackward0()
    node.next_edges = edges
    node.dim = dim
    node.keepdim = keepdim
    node.saved_self = save(self)
    result = call_below(aminmax_op.below[key_set], self, dim, keepdim)
    set_history(result, node)
    node.saved_max = save(result[1], True)
    node.saved_min = save(result[0], True)
    return result


def diag_embed(key_set, self, offset, dim1, dim2):
    if not local.grad_enabled or self._autograd is self._base is None:
        return diag_embed_op.below[key_set](self, offset, dim1, dim2)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return diag_embed_op.below[key_set](self, offset, dim1, dim2)
    node = DiagEmbedBackward0()
    node.next_edges = edges
    node.dim1 = dim1
    node.dim2 = dim2
    node.offset = offset
    result = call_below(diag_embed_op.below[key_set], self, offset, dim1, dim2)
    set_history(result, node)
    return result


def rot90(key_set, self, k, dims):
    if not local.grad_enabled or self._autograd is self._base is None:
        return rot90_op.below[key_set](self, k, dims)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return rot90_op.below[key_set](self, k, dims)
    node = Rot90Backward0()
    node.next_edges = edges
    node.dims = dims
    node.k = k
    result = call_below(rot90_op.below[key_set], self, k, dims)
    set_history(result, node)
    return result


def take(key_set, self, index):
    if not local.grad_enabled or self._autograd is self._base is None:
        return take_op.below[key_set](self, index)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return take_op.below[key_set](self, index)
    node = TakeBackward0()
    node.next_edges = edges
    node.saved_index = save(index)
    node.saved_self = save(self)
    result = call_below(take_op.below[key_set], self, index)
    set_history(result, node)
    return result


def vdot(key_set, self, other):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return vdot_op.below[key_set](self, other)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return vdot_op.below[key_set](self, other)
    node = VdotBackward0()
    node.next_edges = edges
    if edges[0].node:
        node.saved_other = save(other)
    if edges[1].node:
        node.saved_self = save(self)
    result = call_below(vdot_op.below[key_set], self, other)
    set_history(result, node)
    return result


def dist(key_set, self, other, p):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return dist_op.below[key_set](self, other, p)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return dist_op.below[key_set](self, other, p)
    node = DistBackward0()
    node.next_edges = edges
    node.p = p
    node.saved_other = save(other)
    node.saved_self = save(self)
    result = call_below(dist_op.below[key_set], self, other, p)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def addmv(key_set, self, mat, vec, beta, alpha):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and mat._autograd is mat._base is None
        and vec._autograd is vec._base is None
    ):
        return addmv_op.below[key_set](self, mat, vec, beta, alpha)
    edges = [gradient_edge(self), gradient_edge(mat), gradient_edge(vec)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([self, mat, vec]):
        return addmv_op.below[key_set](self, mat, vec, beta, alpha)
    node = AddmvBackward0()
    node.next_edges = edges
    node.beta = beta
    node.alpha = alpha
    if edges[1].node:
        node.saved_vec = save(vec)
    if edges[2].node:
        node.saved_mat = save(mat)
    result = call_below(addmv_op.below[key_set], self, mat, vec, beta, alpha)
    set_history(result, node)
    return result


def addmv_(key_set, self, mat, vec, beta, alpha):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and mat._autograd is mat._base is None
        and vec._autograd is vec._base is None
    ):
        return addmv__op.below[key_set](self, mat, vec, beta, alpha)
    if not any_requires_grad([self, mat, vec]):
        return addmv__op.below[key_set](self, mat, vec, beta, alpha)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(mat), gradient_edge(vec)]
    node = AddmvBackward0()
    node.next_edges = edges
    node.beta = beta
    node.alpha = alpha
    if edges[1].node:
        node.saved_vec = save(vec)
    if edges[2].node:
        node.saved_mat = save(mat)
    result = call_below(addmv__op.below[key_set], self, mat, vec, beta, alpha)
    rebase_history(self, node)
    return result


def addr(key_set, self, vec1, vec2, beta, alpha):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and vec1._autograd is vec1._base is None
        and vec2._autograd is vec2._base is None
    ):
        return addr_op.below[key_set](self, vec1, vec2, beta, alpha)
    edges = [gradient_edge(self), gradient_edge(vec1), gradient_edge(vec2)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([self, vec1, vec2]):
        return addr_op.below[key_set](self, vec1, vec2, beta, alpha)
    node = AddrBackward0()
    node.next_edges = edges
    node.beta = beta
    node.alpha = alpha
    if edges[1].node:
        node.saved_vec2 = save(vec2)
    if edges[2].node:
        node.saved_vec1 = save(vec1)
    result = call_below(addr_op.below[key_set], self, vec1, vec2, beta, alpha)
    set_history(result, node)
    return result


def addr_(key_set, self, vec1, vec2, beta, alpha):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and vec1._autograd is vec1._base is None
        and vec2._autograd is vec2._base is None
    ):
        return addr__op.below[key_set](self, vec1, vec2, beta, alpha)
    if not any_requires_grad([self, vec1, vec2]):
        return addr__op.below[key_set](self, vec1, vec2, beta, alpha)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(vec1), gradient_edge(vec2)]
    node = AddrBackward0()
    node.next_edges = edges
    node.beta = beta
    node.alpha = alpha
    if edges[1].node:
        node.saved_vec2 = save(vec2)
    if edges[2].node:
        node.saved_vec1 = save(vec1)
    result = call_below(addr__op.below[key_set], self, vec1, vec2, beta, alpha)
    rebase_history(self, node)
    return result


def renorm(key_set, self, p, dim, maxnorm):
    if not local.grad_enabled or self._autograd is self._base is None:
        return renorm_op.below[key_set](self, p, dim, maxnorm)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return renorm_op.below[key_set](self, p, dim, maxnorm)
    node = RenormBackward0()
    node.next_edges = edges
    node.dim = dim
    node.maxnorm = maxnorm
    node.p = p
    node.saved_self = save(self)
    result = call_below(renorm_op.below[key_set], self, p, dim, maxnorm)
    set_history(result, node)
    return result


def renorm_(key_set, self, p, dim, maxnorm):
    if not local.grad_enabled or self._autograd is self._base is None:
        return renorm__op.below[key_set](self, p, dim, maxnorm)
    if not any_requires_grad([self]):
        return renorm__op.below[key_set](self, p, dim, maxnorm)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = RenormBackward0()
    node.next_edges = edges
    node.dim = dim
    node.maxnorm = maxnorm
    node.p = p
    node.saved_self = save(self.clone())
    result = call_below(renorm__op.below[key_set], self, p, dim, maxnorm)
    rebase_history(self, node)
    return result


def linalg_cross(key_set, self, other, dim):
    if not local.grad_enabled or self._autograd is self._base is None and other._autograd is other._base is None:
        return linalg_cross_op.below[key_set](self, other, dim)
    edges = [gradient_edge(self), gradient_edge(other)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, other]):
        return linalg_cross_op.below[key_set](self, other, dim)
    node = LinalgCrossBackward0()
    node.next_edges = edges
    node.dim = dim
    if edges[0].node:
        node.saved_other = save(other)
    if edges[1].node:
        node.saved_self = save(self)
    result = call_below(linalg_cross_op.below[key_set], self, other, dim)
    set_history(result, node)
    return result


def index_copy(key_set, self, dim, index, source):
    if not local.grad_enabled or self._autograd is self._base is None and source._autograd is source._base is None:
        return index_copy_op.below[key_set](self, dim, index, source)
    edges = [gradient_edge(self), gradient_edge(source)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, source]):
        return index_copy_op.below[key_set](self, dim, index, source)
    node = IndexCopyBackward0()
    node.next_edges = edges
    node.dim = dim
    node.source_dim = source.dim()
    node.saved_index = save(index)
    if edges[1].node:
        node.saved_source = save(source)
    result = call_below(index_copy_op.below[key_set], self, dim, index, source)
    set_history(result, node)
    return result


def index_copy_(key_set, self, dim, index, source):
    if not local.grad_enabled or self._autograd is self._base is None and source._autograd is source._base is None:
        return index_copy__op.below[key_set](self, dim, index, source)
    if not any_requires_grad([self, source]):
        return index_copy__op.below[key_set](self, dim, index, source)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(source)]
    node = IndexCopyBackward0()
    node.next_edges = edges
    node.dim = dim
    node.source_dim = source.dim()
    node.saved_index = save(index)
    if edges[1].node:
        node.saved_source = save(source)
    result = call_below(index_copy__op.below[key_set], self, dim, index, source)
    rebase_history(self, node)
    return result


def index_fill_int_Scalar(key_set, self, dim, index, value):
    if not local.grad_enabled or self._autograd is self._base is None:
        return index_fill_int_Scalar_op.below[key_set](self, dim, index, value)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return index_fill_int_Scalar_op.below[key_set](self, dim, index, value)
    node = IndexFillBackward0()
    node.next_edges = edges
    node.dim = dim
    node.saved_index = save(index)
    result = call_below(index_fill_int_Scalar_op.below[key_set], self, dim, index, value)
    set_history(result, node)
    return result


def index_fill__int_Scalar(key_set, self, dim, index, value):
    if not local.grad_enabled or self._autograd is self._base is None:
        return index_fill__int_Scalar_op.below[key_set](self, dim, index, value)
    if not any_requires_grad([self]):
        return index_fill__int_Scalar_op.below[key_set](self, dim, index, value)
    check_inplace(self)
    edges = [gradient_edge(self)]
    node = IndexFillBackward0()
    node.next_edges = edges
    node.dim = dim
    node.saved_index = save(index)
    result = call_below(index_fill__int_Scalar_op.below[key_set], self, dim, index, value)
    rebase_history(self, node)
    return result


def index_fill_int_Tensor(key_set, self, dim, index, value):
    if not local.grad_enabled or self._autograd is self._base is None and value._autograd is value._base is None:
        return index_fill_int_Tensor_op.below[key_set](self, dim, index, value)
    edges = [gradient_edge(self), gradient_edge(value)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, value]):
        return index_fill_int_Tensor_op.below[key_set](self, dim, index, value)
    node = IndexFillBackward1()
    node.next_edges = edges
    node.dim = dim
    node.saved_index = save(index)
    result = call_below(index_fill_int_Tensor_op.below[key_set], self, dim, index, value)
    set_history(result, node)
    return result


def index_fill__int_Tensor(key_set, self, dim, index, value):
    if not local.grad_enabled or self._autograd is self._base is None and value._autograd is value._base is None:
        return index_fill__int_Tensor_op.below[key_set](self, dim, index, value)
    if not any_requires_grad([self, value]):
        return index_fill__int_Tensor_op.below[key_set](self, dim, index, value)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(value)]
    node = IndexFillBackward1()
    node.next_edges = edges
    node.dim = dim
    node.saved_index = save(index)
    result = call_below(index_fill__int_Tensor_op.below[key_set], self, dim, index, value)
    rebase_history(self, node)
    return result


def masked_scatter(key_set, self, mask, source):
    if not local.grad_enabled or self._autograd is self._base is None and source._autograd is source._base is None:
        return masked_scatter_op.below[key_set](self, mask, source)
    edges = [gradient_edge(self), gradient_edge(source)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, source]):
        return masked_scatter_op.below[key_set](self, mask, source)
    node = MaskedScatterBackward0()
    node.next_edges = edges
    node.source_shape = source.shape
    node.saved_mask = save(mask)
    result = call_below(masked_scatter_op.below[key_set], self, mask, source)
    set_history(result, node)
    return result


def masked_scatter_(key_set, self, mask, source):
    if not local.grad_enabled or self._autograd is self._base is None and source._autograd is source._base is None:
        return masked_scatter__op.below[key_set](self, mask, source)
    if not any_requires_grad([self, source]):
        return masked_scatter__op.below[key_set](self, mask, source)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(source)]
    node = MaskedScatterBackward0()
    node.next_edges = edges
    node.source_shape = source.shape
    node.saved_mask = save(mask)
    result = call_below(masked_scatter__op.below[key_set], self, mask, source)
    rebase_history(self, node)
    return result


def masked_scatter_backward(key_set, grad_output, mask, sizes):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return masked_scatter_backward_op.below[key_set](grad_output, mask, sizes)
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return masked_scatter_backward_op.below[key_set](grad_output, mask, sizes)
    node = MaskedScatterBackwardBackward0()
    node.next_edges = edges
    node.grad_output_info = grad_output.shape
    node.saved_mask = save(mask)
    result = call_below(masked_scatter_backward_op.below[key_set], grad_output, mask, sizes)
    set_history(result, node)
    return result


def masked_select(key_set, self, mask):
    if not local.grad_enabled or self._autograd is self._base is None:
        return masked_select_op.below[key_set](self, mask)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return masked_select_op.below[key_set](self, mask)
    node = MaskedSelectBackward0()
    node.next_edges = edges
    node.saved_mask = save(mask)
    node.saved_self = save(self)
    result = call_below(masked_select_op.below[key_set], self, mask)
    set_history(result, node)
    return result


def scatter_reduce_two(key_set, self, dim, index, src, reduce, include_self):
    if not local.grad_enabled or self._autograd is self._base is None and src._autograd is src._base is None:
        return scatter_reduce_two_op.below[key_set](self, dim, index, src, reduce, include_self)
    edges = [gradient_edge(self), gradient_edge(src)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, src]):
        return scatter_reduce_two_op.below[key_set](self, dim, index, src, reduce, include_self)
    node = ScatterReduceBackward0()
    node.next_edges = edges
    node.dim = dim
    node.include_self = include_self
    node.reduce = reduce
    node.saved_index = save(index)
    node.saved_self = save(self)
    node.saved_src = save(src)
    result = call_below(scatter_reduce_two_op.below[key_set], self, dim, index, src, reduce, include_self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def scatter_reduce__two(key_set, self, dim, index, src, reduce, include_self):
    if not local.grad_enabled or self._autograd is self._base is None and src._autograd is src._base is None:
        return scatter_reduce__two_op.below[key_set](self, dim, index, src, reduce, include_self)
    if not any_requires_grad([self, src]):
        return scatter_reduce__two_op.below[key_set](self, dim, index, src, reduce, include_self)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(src)]
    node = ScatterReduceBackward0()
    node.next_edges = edges
    node.dim = dim
    node.include_self = include_self
    node.reduce = reduce
    node.saved_index = save(index)
    node.saved_self = save(self.clone())
    node.saved_src = save(src)
    result = call_below(scatter_reduce__two_op.below[key_set], self, dim, index, src, reduce, include_self)
    rebase_history(self, node)
    node.saved_result = save(result, True)
    return result


def _linalg_svd(key_set, A, full_matrices, compute_uv, driver):
    if not local.grad_enabled or A._autograd is A._base is None:
        return _linalg_svd_op.below[key_set](A, full_matrices, compute_uv, driver)
    edges = [gradient_edge(A)]
    if edges[0].node is None and not any_requires_grad([A]):
        return _linalg_svd_op.below[key_set](A, full_matrices, compute_uv, driver)
    node = LinalgSvdBackward0()
    node.next_edges = edges
    node.full_matrices = full_matrices
    result = call_below(_linalg_svd_op.below[key_set], A, full_matrices, compute_uv, driver)
    set_history(result, node)
    node.S_sym_argsize_minus_1 = result[1].size(-1)
    node.saved_S = save(result[1], True)
    node.saved_U = save(result[0], True)
    node.saved_Vh = save(result[2], True)
    return result


def _linalg_det(key_set, A):
    if not local.grad_enabled or A._autograd is A._base is None:
        return _linalg_det_op.below[key_set](A)
    edges = [gradient_edge(A)]
    if edges[0].node is None and not any_requires_grad([A]):
        return _linalg_det_op.below[key_set](A)
    node = LinalgDetBackward0()
    node.next_edges = edges
    node.saved_A = save(A)
    result = call_below(_linalg_det_op.below[key_set], A)
    set_history(result, node)
    node.saved_LU = save(result[1], True)
    node.saved_pivots = save(result[2], True)
    node.saved_result = save(result, True)
    return result


def _linalg_solve_ex(key_set, A, B, left, check_errors):
    if not local.grad_enabled or A._autograd is A._base is None and B._autograd is B._base is None:
        return _linalg_solve_ex_op.below[key_set](A, B, left, check_errors)
    edges = [gradient_edge(A), gradient_edge(B)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([A, B]):
        return _linalg_solve_ex_op.below[key_set](A, B, left, check_errors)
    node = LinalgSolveExBackward0()
    node.next_edges = edges
    node.left = left
    node.saved_A = save(A)
    result = call_below(_linalg_solve_ex_op.below[key_set], A, B, left, check_errors)
    set_history(result, node)
    if edges[0].node:
        node.saved_LU = save(result[1], True)
    if edges[0].node:
        node.saved_pivots = save(result[2], True)
    if edges[0].node:
        node.saved_result = save(result, True)
    return result


def linalg_cholesky_ex(key_set, self, upper, check_errors):
    if not local.grad_enabled or self._autograd is self._base is None:
        return linalg_cholesky_ex_op.below[key_set](self, upper, check_errors)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return linalg_cholesky_ex_op.below[key_set](self, upper, check_errors)
    node = LinalgCholeskyExBackward0()
    node.next_edges = edges
    node.upper = upper
    result = call_below(linalg_cholesky_ex_op.below[key_set], self, upper, check_errors)
    set_history(result, node)
    node.saved_L = save(result[0], True)
    return result


def linalg_inv_ex(key_set, A, check_errors):
    if not local.grad_enabled or A._autograd is A._base is None:
        return linalg_inv_ex_op.below[key_set](A, check_errors)
    edges = [gradient_edge(A)]
    if edges[0].node is None and not any_requires_grad([A]):
        return linalg_inv_ex_op.below[key_set](A, check_errors)
    node = LinalgInvExBackward0()
    node.next_edges = edges
    result = call_below(linalg_inv_ex_op.below[key_set], A, check_errors)
    set_history(result, node, [True, False])
    node.saved_inverse = save(result[0], True)
    return result


def trace(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return trace_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return trace_op.below[key_set](self)
    node = TraceBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    result = call_below(trace_op.below[key_set], self)
    set_history(result, node)
    return result


def linalg_vector_norm(key_set, self, ord, dim, keepdim, dtype):
    if not local.grad_enabled or self._autograd is self._base is None:
        return linalg_vector_norm_op.below[key_set](self, ord, dim, keepdim, dtype)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return linalg_vector_norm_op.below[key_set](self, ord, dim, keepdim, dtype)
    node = LinalgVectorNormBackward0()
    node.next_edges = edges
    node.dim = dim
    node.keepdim = keepdim
    node.ord = ord
    node.saved_self = save(self)
    result = call_below(linalg_vector_norm_op.below[key_set], self, ord, dim, keepdim, dtype)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def norm_ScalarOpt_dim(key_set, self, p, dim, keepdim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return norm_ScalarOpt_dim_op.below[key_set](self, p, dim, keepdim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return norm_ScalarOpt_dim_op.below[key_set](self, p, dim, keepdim)
    node = NormBackward1()
    node.next_edges = edges
    node.dim = dim
    node.keepdim = keepdim
    node.p = p
    node.saved_self = save(self)
    result = call_below(norm_ScalarOpt_dim_op.below[key_set], self, p, dim, keepdim)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def _cdist_forward(key_set, x1, x2, p, compute_mode):
    if not local.grad_enabled or x1._autograd is x1._base is None and x2._autograd is x2._base is None:
        return _cdist_forward_op.below[key_set](x1, x2, p, compute_mode)
    edges = [gradient_edge(x1), gradient_edge(x2)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([x1, x2]):
        return _cdist_forward_op.below[key_set](x1, x2, p, compute_mode)
    node = CdistBackward0()
    node.next_edges = edges
    node.x1_info = x1.shape
    node.p = p
    node.x2_info = x2.shape
    node.saved_x1 = save(x1)
    node.saved_x2 = save(x2)
    result = call_below(_cdist_forward_op.below[key_set], x1, x2, p, compute_mode)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def median(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return median_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return median_op.below[key_set](self)
    node = MedianBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(median_op.below[key_set], self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def median_dim(key_set, self, dim, keepdim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return median_dim_op.below[key_set](self, dim, keepdim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return median_dim_op.below[key_set](self, dim, keepdim)
    node = MedianBackward1()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    node.keepdim = keepdim
    result = call_below(median_dim_op.below[key_set], self, dim, keepdim)
    set_history(result, node)
    node.saved_indices = save(result[1], True)
    return result


def nanmedian(key_set, self):
    if not local.grad_enabled or self._autograd is self._base is None:
        return nanmedian_op.below[key_set](self)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return nanmedian_op.below[key_set](self)
    node = NanmedianBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(nanmedian_op.below[key_set], self)
    set_history(result, node)
    node.saved_result = save(result, True)
    return result


def nanmedian_dim(key_set, self, dim, keepdim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return nanmedian_dim_op.below[key_set](self, dim, keepdim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return nanmedian_dim_op.below[key_set](self, dim, keepdim)
    node = NanmedianBackward1()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    node.keepdim = keepdim
    result = call_below(nanmedian_dim_op.below[key_set], self, dim, keepdim)
    set_history(result, node)
    node.saved_indices = save(result[1], True)
    return result


def sort(key_set, self, dim, descending):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sort_op.below[key_set](self, dim, descending)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return sort_op.below[key_set](self, dim, descending)
    node = SortBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    result = call_below(sort_op.below[key_set], self, dim, descending)
    set_history(result, node)
    node.saved_indices = save(result[1], True)
    return result


def sort_stable(key_set, self, stable, dim, descending):
    if not local.grad_enabled or self._autograd is self._base is None:
        return sort_stable_op.below[key_set](self, stable, dim, descending)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return sort_stable_op.below[key_set](self, stable, dim, descending)
    node = SortBackward1()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    result = call_below(sort_stable_op.below[key_set], self, stable, dim, descending)
    set_history(result, node)
    node.saved_indices = save(result[1], True)
    return result


def topk(key_set, self, k, dim, largest, sorted):
    if not local.grad_enabled or self._autograd is self._base is None:
        return topk_op.below[key_set](self, k, dim, largest, sorted)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return topk_op.below[key_set](self, k, dim, largest, sorted)
    node = TopkBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.dim = dim
    result = call_below(topk_op.below[key_set], self, k, dim, largest, sorted)
    set_history(result, node)
    node.saved_indices = save(result[1], True)
    return result


def unique_consecutive(key_set, self, return_inverse, return_counts, dim):
    if not local.grad_enabled or self._autograd is self._base is None:
        return unique_consecutive_op.below[key_set](self, return_inverse, return_counts, dim)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return unique_consecutive_op.below[key_set](self, return_inverse, return_counts, dim)
    node = UniqueConsecutiveBackward0()
    node.next_edges = edges
    result = call_below(unique_consecutive_op.below[key_set], self, return_inverse, return_counts, dim)
    set_history(result, node, [True, False, False])
    return result


def unique_dim(key_set, self, dim, sorted, return_inverse, return_counts):
    if not local.grad_enabled or self._autograd is self._base is None:
        return unique_dim_op.below[key_set](self, dim, sorted, return_inverse, return_counts)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return unique_dim_op.below[key_set](self, dim, sorted, return_inverse, return_counts)
    node = UniqueDimBackward0()
    node.next_edges = edges
    result = call_below(unique_dim_op.below[key_set], self, dim, sorted, return_inverse, return_counts)
    set_history(result, node, [True, False, False])
    return result


def _unique2(key_set, self, sorted, return_inverse, return_counts):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _unique2_op.below[key_set](self, sorted, return_inverse, return_counts)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _unique2_op.below[key_set](self, sorted, return_inverse, return_counts)
    node = Unique2Backward0()
    node.next_edges = edges
    result = call_below(_unique2_op.below[key_set], self, sorted, return_inverse, return_counts)
    set_history(result, node, [True, False, False])
    return result


def addmm(key_set, self, mat1, mat2, beta, alpha):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and mat1._autograd is mat1._base is None
        and mat2._autograd is mat2._base is None
    ):
        return addmm_op.below[key_set](self, mat1, mat2, beta, alpha)
    edges = [gradient_edge(self), gradient_edge(mat1), gradient_edge(mat2)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([self, mat1, mat2]):
        return addmm_op.below[key_set](self, mat1, mat2, beta, alpha)
    node = AddmmBackward0()
    node.next_edges = edges
    node.beta = beta
    node.mat1_shape = mat1.shape
    node.mat1_stride = mat1.stride()
    node.alpha = alpha
    node.mat2_shape = mat2.shape
    node.mat2_stride = mat2.stride()
    if edges[1].node:
        node.saved_mat2 = save(mat2)
    if edges[2].node:
        node.saved_mat1 = save(mat1)
    result = call_below(addmm_op.below[key_set], self, mat1, mat2, beta, alpha)
    set_history(result, node)
    return result


def addmm_(key_set, self, mat1, mat2, beta, alpha):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and mat1._autograd is mat1._base is None
        and mat2._autograd is mat2._base is None
    ):
        return addmm__op.below[key_set](self, mat1, mat2, beta, alpha)
    if not any_requires_grad([self, mat1, mat2]):
        return addmm__op.below[key_set](self, mat1, mat2, beta, alpha)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(mat1), gradient_edge(mat2)]
    node = AddmmBackward0()
    node.next_edges = edges
    node.beta = beta
    node.mat1_shape = mat1.shape
    node.mat1_stride = mat1.stride()
    node.alpha = alpha
    node.mat2_shape = mat2.shape
    node.mat2_stride = mat2.stride()
    if edges[1].node:
        node.saved_mat2 = save(mat2)
    if edges[2].node:
        node.saved_mat1 = save(mat1)
    result = call_below(addmm__op.below[key_set], self, mat1, mat2, beta, alpha)
    rebase_history(self, node)
    return result


def baddbmm(key_set, self, batch1, batch2, beta, alpha):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and batch1._autograd is batch1._base is None
        and batch2._autograd is batch2._base is None
    ):
        return baddbmm_op.below[key_set](self, batch1, batch2, beta, alpha)
    edges = [gradient_edge(self), gradient_edge(batch1), gradient_edge(batch2)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([self, batch1, batch2]):
        return baddbmm_op.below[key_set](self, batch1, batch2, beta, alpha)
    node = BaddbmmBackward0()
    node.next_edges = edges
    node.beta = beta
    node.alpha = alpha
    if edges[1].node:
        node.saved_batch2 = save(batch2)
    if edges[2].node:
        node.saved_batch1 = save(batch1)
    result = call_below(baddbmm_op.below[key_set], self, batch1, batch2, beta, alpha)
    set_history(result, node)
    return result


def baddbmm_(key_set, self, batch1, batch2, beta, alpha):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and batch1._autograd is batch1._base is None
        and batch2._autograd is batch2._base is None
    ):
        return baddbmm__op.below[key_set](self, batch1, batch2, beta, alpha)
    if not any_requires_grad([self, batch1, batch2]):
        return baddbmm__op.below[key_set](self, batch1, batch2, beta, alpha)
    check_inplace(self)
    edges = [gradient_edge(self), gradient_edge(batch1), gradient_edge(batch2)]
    node = BaddbmmBackward0()
    node.next_edges = edges
    node.beta = beta
    node.alpha = alpha
    if edges[1].node:
        node.saved_batch2 = save(batch2)
    if edges[2].node:
        node.saved_batch1 = save(batch1)
    result = call_below(baddbmm__op.below[key_set], self, batch1, batch2, beta, alpha)
    rebase_history(self, node)
    return result


def bmm(key_set, self, mat2):
    if not local.grad_enabled or self._autograd is self._base is None and mat2._autograd is mat2._base is None:
        return bmm_op.below[key_set](self, mat2)
    edges = [gradient_edge(self), gradient_edge(mat2)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, mat2]):
        return bmm_op.below[key_set](self, mat2)
    node = BmmBackward0()
    node.next_edges = edges
    if edges[0].node:
        node.saved_mat2 = save(mat2)
    if edges[1].node:
        node.saved_self = save(self)
    result = call_below(bmm_op.below[key_set], self, mat2)
    set_history(result, node)
    return result


def dot(key_set, self, tensor):
    if not local.grad_enabled or self._autograd is self._base is None and tensor._autograd is tensor._base is None:
        return dot_op.below[key_set](self, tensor)
    edges = [gradient_edge(self), gradient_edge(tensor)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, tensor]):
        return dot_op.below[key_set](self, tensor)
    node = DotBackward0()
    node.next_edges = edges
    if edges[0].node:
        node.saved_tensor = save(tensor)
    if edges[1].node:
        node.saved_self = save(self)
    result = call_below(dot_op.below[key_set], self, tensor)
    set_history(result, node)
    return result


def mm(key_set, self, mat2):
    if not local.grad_enabled or self._autograd is self._base is None and mat2._autograd is mat2._base is None:
        return mm_op.below[key_set](self, mat2)
    edges = [gradient_edge(self), gradient_edge(mat2)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, mat2]):
        return mm_op.below[key_set](self, mat2)
    node = MmBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.self_stride = self.stride()
    node.mat2_shape = mat2.shape
    node.mat2_stride = mat2.stride()
    if edges[0].node:
        node.saved_mat2 = save(mat2)
    if edges[1].node:
        node.saved_self = save(self)
    result = call_below(mm_op.below[key_set], self, mat2)
    set_history(result, node)
    return result


def mv(key_set, self, vec):
    if not local.grad_enabled or self._autograd is self._base is None and vec._autograd is vec._base is None:
        return mv_op.below[key_set](self, vec)
    edges = [gradient_edge(self), gradient_edge(vec)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, vec]):
        return mv_op.below[key_set](self, vec)
    node = MvBackward0()
    node.next_edges = edges
    if edges[0].node:
        node.saved_vec = save(vec)
    if edges[1].node:
        node.saved_self = save(self)
    result = call_below(mv_op.below[key_set], self, vec)
    set_history(result, node)
    return result


def convolution(key_set, input, weight, bias, stride, padding, dilation, transposed, output_padding, groups):
    if (
        not local.grad_enabled
        or input._autograd is input._base is None
        and weight._autograd is weight._base is None
        and (not isinstance(bias, Tensor) or bias._autograd is bias._base is None)
    ):
        return convolution_op.below[key_set](
            input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
        )
    edges = [gradient_edge(input), gradient_edge(weight), gradient_edge(bias)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([input, weight, bias]):
        return convolution_op.below[key_set](
            input, weight, bias, stride, padding, dilation, transposed, output_padding, groups
        )
    node = ConvolutionBackward0()
    node.next_edges = edges
    node.bias_shape = None if bias is None else bias.shape
    node.dilation = dilation
    node.groups = groups
    node.output_padding = output_padding
    node.padding = padding
    node.stride = stride
    node.transposed = transposed
    node.saved_input = save(input)
    node.saved_weight = save(weight)
    result = call_below(
        convolution_op.below[key_set],
        input,
        weight,
        bias,
        stride,
        padding,
        dilation,
        transposed,
        output_padding,
        groups,
    )
    set_history(result, node)
    return result


def convolution_backward(
    key_set,
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
):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and input._autograd is input._base is None
        and weight._autograd is weight._base is None
    ):
        return convolution_backward_op.below[key_set](
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
    edges = [gradient_edge(grad_output), gradient_edge(input), gradient_edge(weight)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([grad_output, input, weight]):
        return convolution_backward_op.below[key_set](
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
    node = ConvolutionBackwardBackward0()
    node.next_edges = edges
    node.dilation = dilation
    node.groups = groups
    node.output_mask = output_mask
    node.output_padding = output_padding
    node.padding = padding
    node.stride = stride
    node.transposed = transposed
    node.saved_grad_output = save(grad_output)
    node.saved_input = save(input)
    node.saved_weight = save(weight)
    result = call_below(
        convolution_backward_op.below[key_set],
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
    set_history([each for each in result if each is not None], node)
    return result


def constant_pad_nd(key_set, self, pad, value):
    if not local.grad_enabled or self._autograd is self._base is None:
        return constant_pad_nd_op.below[key_set](self, pad, value)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return constant_pad_nd_op.below[key_set](self, pad, value)
    node = ConstantPadNdBackward0()
    node.next_edges = edges
    node.pad = pad
    result = call_below(constant_pad_nd_op.below[key_set], self, pad, value)
    set_history(result, node)
    return result


def reflection_pad1d(key_set, self, padding):
    if not local.grad_enabled or self._autograd is self._base is None:
        return reflection_pad1d_op.below[key_set](self, padding)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return reflection_pad1d_op.below[key_set](self, padding)
    node = ReflectionPad1DBackward0()
    node.next_edges = edges
    node.padding = padding
    node.saved_self = save(self)
    result = call_below(reflection_pad1d_op.below[key_set], self, padding)
    set_history(result, node)
    return result


def reflection_pad1d_backward(key_set, grad_output, self, padding):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return reflection_pad1d_backward_op.below[key_set](grad_output, self, padding)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return reflection_pad1d_backward_op.below[key_set](grad_output, self, padding)
    node = ReflectionPad1DBackwardBackward0()
    node.next_edges = edges
    node.padding = padding
    node.self_info = self.shape
    result = call_below(reflection_pad1d_backward_op.below[key_set], grad_output, self, padding)
    set_history(result, node)
    return result


def reflection_pad2d(key_set, self, padding):
    if not local.grad_enabled or self._autograd is self._base is None:
        return reflection_pad2d_op.below[key_set](self, padding)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return reflection_pad2d_op.below[key_set](self, padding)
    node = ReflectionPad2DBackward0()
    node.next_edges = edges
    node.padding = padding
    node.saved_self = save(self)
    result = call_below(reflection_pad2d_op.below[key_set], self, padding)
    set_history(result, node)
    return result


def reflection_pad2d_backward(key_set, grad_output, self, padding):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return reflection_pad2d_backward_op.below[key_set](grad_output, self, padding)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return reflection_pad2d_backward_op.below[key_set](grad_output, self, padding)
    node = ReflectionPad2DBackwardBackward0()
    node.next_edges = edges
    node.padding = padding
    node.self_info = self.shape
    result = call_below(reflection_pad2d_backward_op.below[key_set], grad_output, self, padding)
    set_history(result, node)
    return result


def reflection_pad3d(key_set, self, padding):
    if not local.grad_enabled or self._autograd is self._base is None:
        return reflection_pad3d_op.below[key_set](self, padding)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return reflection_pad3d_op.below[key_set](self, padding)
    node = ReflectionPad3DBackward0()
    node.next_edges = edges
    node.padding = padding
    node.saved_self = save(self)
    result = call_below(reflection_pad3d_op.below[key_set], self, padding)
    set_history(result, node)
    return result


def reflection_pad3d_backward(key_set, grad_output, self, padding):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return reflection_pad3d_backward_op.below[key_set](grad_output, self, padding)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return reflection_pad3d_backward_op.below[key_set](grad_output, self, padding)
    node = ReflectionPad3DBackwardBackward0()
    node.next_edges = edges
    node.padding = padding
    node.self_info = self.shape
    result = call_below(reflection_pad3d_backward_op.below[key_set], grad_output, self, padding)
    set_history(result, node)
    return result


def replication_pad1d(key_set, self, padding):
    if not local.grad_enabled or self._autograd is self._base is None:
        return replication_pad1d_op.below[key_set](self, padding)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return replication_pad1d_op.below[key_set](self, padding)
    node = ReplicationPad1DBackward0()
    node.next_edges = edges
    node.padding = padding
    node.saved_self = save(self)
    result = call_below(replication_pad1d_op.below[key_set], self, padding)
    set_history(result, node)
    return result


def replication_pad1d_backward(key_set, grad_output, self, padding):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return replication_pad1d_backward_op.below[key_set](grad_output, self, padding)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return replication_pad1d_backward_op.below[key_set](grad_output, self, padding)
    node = ReplicationPad1DBackwardBackward0()
    node.next_edges = edges
    node.padding = padding
    node.self_info = self.shape
    result = call_below(replication_pad1d_backward_op.below[key_set], grad_output, self, padding)
    set_history(result, node)
    return result


def replication_pad2d(key_set, self, padding):
    if not local.grad_enabled or self._autograd is self._base is None:
        return replication_pad2d_op.below[key_set](self, padding)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return replication_pad2d_op.below[key_set](self, padding)
    node = ReplicationPad2DBackward0()
    node.next_edges = edges
    node.padding = padding
    node.saved_self = save(self)
    result = call_below(replication_pad2d_op.below[key_set], self, padding)
    set_history(result, node)
    return result


def replication_pad2d_backward(key_set, grad_output, self, padding):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return replication_pad2d_backward_op.below[key_set](grad_output, self, padding)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return replication_pad2d_backward_op.below[key_set](grad_output, self, padding)
    node = ReplicationPad2DBackwardBackward0()
    node.next_edges = edges
    node.padding = padding
    node.self_info = self.shape
    result = call_below(replication_pad2d_backward_op.below[key_set], grad_output, self, padding)
    set_history(result, node)
    return result


def replication_pad3d(key_set, self, padding):
    if not local.grad_enabled or self._autograd is self._base is None:
        return replication_pad3d_op.below[key_set](self, padding)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return replication_pad3d_op.below[key_set](self, padding)
    node = ReplicationPad3DBackward0()
    node.next_edges = edges
    node.padding = padding
    node.saved_self = save(self)
    result = call_below(replication_pad3d_op.below[key_set], self, padding)
    set_history(result, node)
    return result


def replication_pad3d_backward(key_set, grad_output, self, padding):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return replication_pad3d_backward_op.below[key_set](grad_output, self, padding)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return replication_pad3d_backward_op.below[key_set](grad_output, self, padding)
    node = ReplicationPad3DBackwardBackward0()
    node.next_edges = edges
    node.padding = padding
    node.self_info = self.shape
    result = call_below(replication_pad3d_backward_op.below[key_set], grad_output, self, padding)
    set_history(result, node)
    return result


def _adaptive_avg_pool2d(key_set, self, output_size):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _adaptive_avg_pool2d_op.below[key_set](self, output_size)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _adaptive_avg_pool2d_op.below[key_set](self, output_size)
    node = AdaptiveAvgPool2DBackward0()
    node.next_edges = edges
    node.saved_self = save(self)
    result = call_below(_adaptive_avg_pool2d_op.below[key_set], self, output_size)
    set_history(result, node)
    return result


def _adaptive_avg_pool2d_backward(key_set, grad_output, self):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return _adaptive_avg_pool2d_backward_op.below[key_set](grad_output, self)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return _adaptive_avg_pool2d_backward_op.below[key_set](grad_output, self)
    node = AdaptiveAvgPool2DBackwardBackward0()
    node.next_edges = edges
    node.grad_output_sym_argsize_minus_1 = grad_output.size(-1)
    node.grad_output_sym_argsize_minus_2 = grad_output.size(-2)
    result = call_below(_adaptive_avg_pool2d_backward_op.below[key_set], grad_output, self)
    set_history(result, node)
    return result


def avg_pool2d(key_set, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override):
    if not local.grad_enabled or self._autograd is self._base is None:
        return avg_pool2d_op.below[key_set](
            self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return avg_pool2d_op.below[key_set](
            self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
    node = AvgPool2DBackward0()
    node.next_edges = edges
    node.ceil_mode = ceil_mode
    node.count_include_pad = count_include_pad
    node.divisor_override = divisor_override
    node.kernel_size = kernel_size
    node.padding = padding
    node.stride = stride
    node.saved_self = save(self)
    result = call_below(
        avg_pool2d_op.below[key_set], self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )
    set_history(result, node)
    return result


def avg_pool2d_backward(
    key_set, grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return avg_pool2d_backward_op.below[key_set](
            grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return avg_pool2d_backward_op.below[key_set](
            grad_output, self, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
        )
    node = AvgPool2DBackwardBackward0()
    node.next_edges = edges
    node.ceil_mode = ceil_mode
    node.count_include_pad = count_include_pad
    node.divisor_override = divisor_override
    node.kernel_size = kernel_size
    node.padding = padding
    node.stride = stride
    node.self_info = self.shape
    result = call_below(
        avg_pool2d_backward_op.below[key_set],
        grad_output,
        self,
        kernel_size,
        stride,
        padding,
        ceil_mode,
        count_include_pad,
        divisor_override,
    )
    set_history(result, node)
    return result


def max_pool2d_with_indices(key_set, self, kernel_size, stride, padding, dilation, ceil_mode):
    if not local.grad_enabled or self._autograd is self._base is None:
        return max_pool2d_with_indices_op.below[key_set](self, kernel_size, stride, padding, dilation, ceil_mode)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return max_pool2d_with_indices_op.below[key_set](self, kernel_size, stride, padding, dilation, ceil_mode)
    node = MaxPool2DWithIndicesBackward0()
    node.next_edges = edges
    node.ceil_mode = ceil_mode
    node.dilation = dilation
    node.kernel_size = kernel_size
    node.padding = padding
    node.stride = stride
    node.saved_self = save(self)
    result = call_below(
        max_pool2d_with_indices_op.below[key_set], self, kernel_size, stride, padding, dilation, ceil_mode
    )
    set_history(result, node, [True, False])
    node.saved_result1 = save(result[1], True)
    return result


def max_pool2d_with_indices_backward(
    key_set, grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices
):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return max_pool2d_with_indices_backward_op.below[key_set](
            grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices
        )
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return max_pool2d_with_indices_backward_op.below[key_set](
            grad_output, self, kernel_size, stride, padding, dilation, ceil_mode, indices
        )
    node = MaxPool2DWithIndicesBackwardBackward0()
    node.next_edges = edges
    node.self_info = self.shape
    if edges[0].node:
        node.saved_indices = save(indices)
    result = call_below(
        max_pool2d_with_indices_backward_op.below[key_set],
        grad_output,
        self,
        kernel_size,
        stride,
        padding,
        dilation,
        ceil_mode,
        indices,
    )
    set_history(result, node)
    return result


def upsample_nearest1d(key_set, self, output_size, scales):
    if not local.grad_enabled or self._autograd is self._base is None:
        return upsample_nearest1d_op.below[key_set](self, output_size, scales)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return upsample_nearest1d_op.below[key_set](self, output_size, scales)
    node = UpsampleNearest1DBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.output_size = output_size
    node.scales = scales
    result = call_below(upsample_nearest1d_op.below[key_set], self, output_size, scales)
    set_history(result, node)
    return result


def upsample_nearest1d_backward(key_set, grad_output, output_size, input_size, scales):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return upsample_nearest1d_backward_op.below[key_set](grad_output, output_size, input_size, scales)
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return upsample_nearest1d_backward_op.below[key_set](grad_output, output_size, input_size, scales)
    node = UpsampleNearest1DBackwardBackward0()
    node.next_edges = edges
    node.output_size = output_size
    node.scales = scales
    result = call_below(upsample_nearest1d_backward_op.below[key_set], grad_output, output_size, input_size, scales)
    set_history(result, node)
    return result


def upsample_nearest2d(key_set, self, output_size, scales_h, scales_w):
    if not local.grad_enabled or self._autograd is self._base is None:
        return upsample_nearest2d_op.below[key_set](self, output_size, scales_h, scales_w)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return upsample_nearest2d_op.below[key_set](self, output_size, scales_h, scales_w)
    node = UpsampleNearest2DBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.output_size = output_size
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(upsample_nearest2d_op.below[key_set], self, output_size, scales_h, scales_w)
    set_history(result, node)
    return result


def upsample_nearest2d_backward(key_set, grad_output, output_size, input_size, scales_h, scales_w):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return upsample_nearest2d_backward_op.below[key_set](grad_output, output_size, input_size, scales_h, scales_w)
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return upsample_nearest2d_backward_op.below[key_set](grad_output, output_size, input_size, scales_h, scales_w)
    node = UpsampleNearest2DBackwardBackward0()
    node.next_edges = edges
    node.output_size = output_size
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(
        upsample_nearest2d_backward_op.below[key_set], grad_output, output_size, input_size, scales_h, scales_w
    )
    set_history(result, node)
    return result


def upsample_nearest3d(key_set, self, output_size, scales_d, scales_h, scales_w):
    if not local.grad_enabled or self._autograd is self._base is None:
        return upsample_nearest3d_op.below[key_set](self, output_size, scales_d, scales_h, scales_w)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return upsample_nearest3d_op.below[key_set](self, output_size, scales_d, scales_h, scales_w)
    node = UpsampleNearest3DBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.output_size = output_size
    node.scales_d = scales_d
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(upsample_nearest3d_op.below[key_set], self, output_size, scales_d, scales_h, scales_w)
    set_history(result, node)
    return result


def upsample_nearest3d_backward(key_set, grad_output, output_size, input_size, scales_d, scales_h, scales_w):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return upsample_nearest3d_backward_op.below[key_set](
            grad_output, output_size, input_size, scales_d, scales_h, scales_w
        )
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return upsample_nearest3d_backward_op.below[key_set](
            grad_output, output_size, input_size, scales_d, scales_h, scales_w
        )
    node = UpsampleNearest3DBackwardBackward0()
    node.next_edges = edges
    node.output_size = output_size
    node.scales_d = scales_d
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(
        upsample_nearest3d_backward_op.below[key_set],
        grad_output,
        output_size,
        input_size,
        scales_d,
        scales_h,
        scales_w,
    )
    set_history(result, node)
    return result


def _upsample_nearest_exact1d(key_set, self, output_size, scales):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _upsample_nearest_exact1d_op.below[key_set](self, output_size, scales)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _upsample_nearest_exact1d_op.below[key_set](self, output_size, scales)
    node = UpsampleNearestExact1DBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.output_size = output_size
    node.scales = scales
    result = call_below(_upsample_nearest_exact1d_op.below[key_set], self, output_size, scales)
    set_history(result, node)
    return result


def _upsample_nearest_exact1d_backward(key_set, grad_output, output_size, input_size, scales):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return _upsample_nearest_exact1d_backward_op.below[key_set](grad_output, output_size, input_size, scales)
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return _upsample_nearest_exact1d_backward_op.below[key_set](grad_output, output_size, input_size, scales)
    node = UpsampleNearestExact1DBackwardBackward0()
    node.next_edges = edges
    node.output_size = output_size
    node.scales = scales
    result = call_below(
        _upsample_nearest_exact1d_backward_op.below[key_set], grad_output, output_size, input_size, scales
    )
    set_history(result, node)
    return result


def _upsample_nearest_exact2d(key_set, self, output_size, scales_h, scales_w):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _upsample_nearest_exact2d_op.below[key_set](self, output_size, scales_h, scales_w)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _upsample_nearest_exact2d_op.below[key_set](self, output_size, scales_h, scales_w)
    node = UpsampleNearestExact2DBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.output_size = output_size
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(_upsample_nearest_exact2d_op.below[key_set], self, output_size, scales_h, scales_w)
    set_history(result, node)
    return result


def _upsample_nearest_exact2d_backward(key_set, grad_output, output_size, input_size, scales_h, scales_w):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return _upsample_nearest_exact2d_backward_op.below[key_set](
            grad_output, output_size, input_size, scales_h, scales_w
        )
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return _upsample_nearest_exact2d_backward_op.below[key_set](
            grad_output, output_size, input_size, scales_h, scales_w
        )
    node = UpsampleNearestExact2DBackwardBackward0()
    node.next_edges = edges
    node.output_size = output_size
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(
        _upsample_nearest_exact2d_backward_op.below[key_set], grad_output, output_size, input_size, scales_h, scales_w
    )
    set_history(result, node)
    return result


def _upsample_nearest_exact3d(key_set, self, output_size, scales_d, scales_h, scales_w):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _upsample_nearest_exact3d_op.below[key_set](self, output_size, scales_d, scales_h, scales_w)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _upsample_nearest_exact3d_op.below[key_set](self, output_size, scales_d, scales_h, scales_w)
    node = UpsampleNearestExact3DBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.output_size = output_size
    node.scales_d = scales_d
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(_upsample_nearest_exact3d_op.below[key_set], self, output_size, scales_d, scales_h, scales_w)
    set_history(result, node)
    return result


def _upsample_nearest_exact3d_backward(key_set, grad_output, output_size, input_size, scales_d, scales_h, scales_w):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return _upsample_nearest_exact3d_backward_op.below[key_set](
            grad_output, output_size, input_size, scales_d, scales_h, scales_w
        )
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return _upsample_nearest_exact3d_backward_op.below[key_set](
            grad_output, output_size, input_size, scales_d, scales_h, scales_w
        )
    node = UpsampleNearestExact3DBackwardBackward0()
    node.next_edges = edges
    node.output_size = output_size
    node.scales_d = scales_d
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(
        _upsample_nearest_exact3d_backward_op.below[key_set],
        grad_output,
        output_size,
        input_size,
        scales_d,
        scales_h,
        scales_w,
    )
    set_history(result, node)
    return result


def upsample_linear1d(key_set, self, output_size, align_corners, scales):
    if not local.grad_enabled or self._autograd is self._base is None:
        return upsample_linear1d_op.below[key_set](self, output_size, align_corners, scales)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return upsample_linear1d_op.below[key_set](self, output_size, align_corners, scales)
    node = UpsampleLinear1DBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.align_corners = align_corners
    node.output_size = output_size
    node.scales = scales
    result = call_below(upsample_linear1d_op.below[key_set], self, output_size, align_corners, scales)
    set_history(result, node)
    return result


def upsample_linear1d_backward(key_set, grad_output, output_size, input_size, align_corners, scales):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return upsample_linear1d_backward_op.below[key_set](grad_output, output_size, input_size, align_corners, scales)
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return upsample_linear1d_backward_op.below[key_set](grad_output, output_size, input_size, align_corners, scales)
    node = UpsampleLinear1DBackwardBackward0()
    node.next_edges = edges
    node.align_corners = align_corners
    node.output_size = output_size
    node.scales = scales
    result = call_below(
        upsample_linear1d_backward_op.below[key_set], grad_output, output_size, input_size, align_corners, scales
    )
    set_history(result, node)
    return result


def upsample_bilinear2d(key_set, self, output_size, align_corners, scales_h, scales_w):
    if not local.grad_enabled or self._autograd is self._base is None:
        return upsample_bilinear2d_op.below[key_set](self, output_size, align_corners, scales_h, scales_w)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return upsample_bilinear2d_op.below[key_set](self, output_size, align_corners, scales_h, scales_w)
    node = UpsampleBilinear2DBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.align_corners = align_corners
    node.output_size = output_size
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(upsample_bilinear2d_op.below[key_set], self, output_size, align_corners, scales_h, scales_w)
    set_history(result, node)
    return result


def upsample_bilinear2d_backward(key_set, grad_output, output_size, input_size, align_corners, scales_h, scales_w):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return upsample_bilinear2d_backward_op.below[key_set](
            grad_output, output_size, input_size, align_corners, scales_h, scales_w
        )
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return upsample_bilinear2d_backward_op.below[key_set](
            grad_output, output_size, input_size, align_corners, scales_h, scales_w
        )
    node = UpsampleBilinear2DBackwardBackward0()
    node.next_edges = edges
    node.align_corners = align_corners
    node.output_size = output_size
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(
        upsample_bilinear2d_backward_op.below[key_set],
        grad_output,
        output_size,
        input_size,
        align_corners,
        scales_h,
        scales_w,
    )
    set_history(result, node)
    return result


def upsample_trilinear3d(key_set, self, output_size, align_corners, scales_d, scales_h, scales_w):
    if not local.grad_enabled or self._autograd is self._base is None:
        return upsample_trilinear3d_op.below[key_set](self, output_size, align_corners, scales_d, scales_h, scales_w)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return upsample_trilinear3d_op.below[key_set](self, output_size, align_corners, scales_d, scales_h, scales_w)
    node = UpsampleTrilinear3DBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.align_corners = align_corners
    node.output_size = output_size
    node.scales_d = scales_d
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(
        upsample_trilinear3d_op.below[key_set], self, output_size, align_corners, scales_d, scales_h, scales_w
    )
    set_history(result, node)
    return result


def upsample_trilinear3d_backward(
    key_set, grad_output, output_size, input_size, align_corners, scales_d, scales_h, scales_w
):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return upsample_trilinear3d_backward_op.below[key_set](
            grad_output, output_size, input_size, align_corners, scales_d, scales_h, scales_w
        )
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return upsample_trilinear3d_backward_op.below[key_set](
            grad_output, output_size, input_size, align_corners, scales_d, scales_h, scales_w
        )
    node = UpsampleTrilinear3DBackwardBackward0()
    node.next_edges = edges
    node.align_corners = align_corners
    node.output_size = output_size
    node.scales_d = scales_d
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(
        upsample_trilinear3d_backward_op.below[key_set],
        grad_output,
        output_size,
        input_size,
        align_corners,
        scales_d,
        scales_h,
        scales_w,
    )
    set_history(result, node)
    return result


def upsample_bicubic2d(key_set, self, output_size, align_corners, scales_h, scales_w):
    if not local.grad_enabled or self._autograd is self._base is None:
        return upsample_bicubic2d_op.below[key_set](self, output_size, align_corners, scales_h, scales_w)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return upsample_bicubic2d_op.below[key_set](self, output_size, align_corners, scales_h, scales_w)
    node = UpsampleBicubic2DBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.align_corners = align_corners
    node.output_size = output_size
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(upsample_bicubic2d_op.below[key_set], self, output_size, align_corners, scales_h, scales_w)
    set_history(result, node)
    return result


def upsample_bicubic2d_backward(key_set, grad_output, output_size, input_size, align_corners, scales_h, scales_w):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return upsample_bicubic2d_backward_op.below[key_set](
            grad_output, output_size, input_size, align_corners, scales_h, scales_w
        )
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return upsample_bicubic2d_backward_op.below[key_set](
            grad_output, output_size, input_size, align_corners, scales_h, scales_w
        )
    node = UpsampleBicubic2DBackwardBackward0()
    node.next_edges = edges
    node.align_corners = align_corners
    node.output_size = output_size
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(
        upsample_bicubic2d_backward_op.below[key_set],
        grad_output,
        output_size,
        input_size,
        align_corners,
        scales_h,
        scales_w,
    )
    set_history(result, node)
    return result


def _upsample_bilinear2d_aa(key_set, self, output_size, align_corners, scales_h, scales_w):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _upsample_bilinear2d_aa_op.below[key_set](self, output_size, align_corners, scales_h, scales_w)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _upsample_bilinear2d_aa_op.below[key_set](self, output_size, align_corners, scales_h, scales_w)
    node = UpsampleBilinear2DAaBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.align_corners = align_corners
    node.output_size = output_size
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(_upsample_bilinear2d_aa_op.below[key_set], self, output_size, align_corners, scales_h, scales_w)
    set_history(result, node)
    return result


def _upsample_bilinear2d_aa_backward(key_set, grad_output, output_size, input_size, align_corners, scales_h, scales_w):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return _upsample_bilinear2d_aa_backward_op.below[key_set](
            grad_output, output_size, input_size, align_corners, scales_h, scales_w
        )
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return _upsample_bilinear2d_aa_backward_op.below[key_set](
            grad_output, output_size, input_size, align_corners, scales_h, scales_w
        )
    node = UpsampleBilinear2DAaBackwardBackward0()
    node.next_edges = edges
    node.align_corners = align_corners
    node.output_size = output_size
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(
        _upsample_bilinear2d_aa_backward_op.below[key_set],
        grad_output,
        output_size,
        input_size,
        align_corners,
        scales_h,
        scales_w,
    )
    set_history(result, node)
    return result


def _upsample_bicubic2d_aa(key_set, self, output_size, align_corners, scales_h, scales_w):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _upsample_bicubic2d_aa_op.below[key_set](self, output_size, align_corners, scales_h, scales_w)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _upsample_bicubic2d_aa_op.below[key_set](self, output_size, align_corners, scales_h, scales_w)
    node = UpsampleBicubic2DAaBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.align_corners = align_corners
    node.output_size = output_size
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(_upsample_bicubic2d_aa_op.below[key_set], self, output_size, align_corners, scales_h, scales_w)
    set_history(result, node)
    return result


def _upsample_bicubic2d_aa_backward(key_set, grad_output, output_size, input_size, align_corners, scales_h, scales_w):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return _upsample_bicubic2d_aa_backward_op.below[key_set](
            grad_output, output_size, input_size, align_corners, scales_h, scales_w
        )
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return _upsample_bicubic2d_aa_backward_op.below[key_set](
            grad_output, output_size, input_size, align_corners, scales_h, scales_w
        )
    node = UpsampleBicubic2DAaBackwardBackward0()
    node.next_edges = edges
    node.align_corners = align_corners
    node.output_size = output_size
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(
        _upsample_bicubic2d_aa_backward_op.below[key_set],
        grad_output,
        output_size,
        input_size,
        align_corners,
        scales_h,
        scales_w,
    )
    set_history(result, node)
    return result


def _upsample_lanczos2d_aa(key_set, self, output_size, align_corners, scales_h, scales_w):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _upsample_lanczos2d_aa_op.below[key_set](self, output_size, align_corners, scales_h, scales_w)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _upsample_lanczos2d_aa_op.below[key_set](self, output_size, align_corners, scales_h, scales_w)
    node = UpsampleLanczos2DAaBackward0()
    node.next_edges = edges
    node.self_shape = self.shape
    node.align_corners = align_corners
    node.output_size = output_size
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(_upsample_lanczos2d_aa_op.below[key_set], self, output_size, align_corners, scales_h, scales_w)
    set_history(result, node)
    return result


def _upsample_lanczos2d_aa_backward(key_set, grad_output, output_size, input_size, align_corners, scales_h, scales_w):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return _upsample_lanczos2d_aa_backward_op.below[key_set](
            grad_output, output_size, input_size, align_corners, scales_h, scales_w
        )
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return _upsample_lanczos2d_aa_backward_op.below[key_set](
            grad_output, output_size, input_size, align_corners, scales_h, scales_w
        )
    node = UpsampleLanczos2DAaBackwardBackward0()
    node.next_edges = edges
    node.align_corners = align_corners
    node.output_size = output_size
    node.scales_h = scales_h
    node.scales_w = scales_w
    result = call_below(
        _upsample_lanczos2d_aa_backward_op.below[key_set],
        grad_output,
        output_size,
        input_size,
        align_corners,
        scales_h,
        scales_w,
    )
    set_history(result, node)
    return result


def affine_grid_generator(key_set, theta, size, align_corners):
    if not local.grad_enabled or theta._autograd is theta._base is None:
        return affine_grid_generator_op.below[key_set](theta, size, align_corners)
    edges = [gradient_edge(theta)]
    if edges[0].node is None and not any_requires_grad([theta]):
        return affine_grid_generator_op.below[key_set](theta, size, align_corners)
    node = AffineGridGeneratorBackward0()
    node.next_edges = edges
    node.align_corners = align_corners
    node.size = size
    result = call_below(affine_grid_generator_op.below[key_set], theta, size, align_corners)
    set_history(result, node)
    return result


def binary_cross_entropy(key_set, self, target, weight, reduction):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and target._autograd is target._base is None
        and (not isinstance(weight, Tensor) or weight._autograd is weight._base is None)
    ):
        return binary_cross_entropy_op.below[key_set](self, target, weight, reduction)
    check_no_requires_grad("binary_cross_entropy", "weight", weight)
    edges = [gradient_edge(self), gradient_edge(target)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, target]):
        return binary_cross_entropy_op.below[key_set](self, target, weight, reduction)
    node = BinaryCrossEntropyBackward0()
    node.next_edges = edges
    node.reduction = reduction
    node.saved_self = save(self)
    if edges[0].node:
        node.saved_target = save(target)
    node.saved_weight = save(weight)
    result = call_below(binary_cross_entropy_op.below[key_set], self, target, weight, reduction)
    set_history(result, node)
    return result


def binary_cross_entropy_with_logits(key_set, self, target, weight, pos_weight, reduction):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and target._autograd is target._base is None
        and (not isinstance(weight, Tensor) or weight._autograd is weight._base is None)
        and (not isinstance(pos_weight, Tensor) or pos_weight._autograd is pos_weight._base is None)
    ):
        return binary_cross_entropy_with_logits_op.below[key_set](self, target, weight, pos_weight, reduction)
    check_no_requires_grad("binary_cross_entropy_with_logits", "weight", weight)
    check_no_requires_grad("binary_cross_entropy_with_logits", "pos_weight", pos_weight)
    edges = [gradient_edge(self), gradient_edge(target)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, target]):
        return binary_cross_entropy_with_logits_op.below[key_set](self, target, weight, pos_weight, reduction)
    node = BinaryCrossEntropyWithLogitsBackward0()
    node.next_edges = edges
    node.reduction = reduction
    node.saved_pos_weight = save(pos_weight)
    node.saved_self = save(self)
    if edges[0].node:
        node.saved_target = save(target)
    node.saved_weight = save(weight)
    result = call_below(binary_cross_entropy_with_logits_op.below[key_set], self, target, weight, pos_weight, reduction)
    set_history(result, node)
    return result


def huber_loss(key_set, self, target, reduction, delta):
    if not local.grad_enabled or self._autograd is self._base is None and target._autograd is target._base is None:
        return huber_loss_op.below[key_set](self, target, reduction, delta)
    edges = [gradient_edge(self), gradient_edge(target)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, target]):
        return huber_loss_op.below[key_set](self, target, reduction, delta)
    node = HuberLossBackward0()
    node.next_edges = edges
    node.delta = delta
    node.reduction = reduction
    node.saved_self = save(self)
    node.saved_target = save(target)
    result = call_below(huber_loss_op.below[key_set], self, target, reduction, delta)
    set_history(result, node)
    return result


def mse_loss(key_set, self, target, reduction):
    if not local.grad_enabled or self._autograd is self._base is None and target._autograd is target._base is None:
        return mse_loss_op.below[key_set](self, target, reduction)
    edges = [gradient_edge(self), gradient_edge(target)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, target]):
        return mse_loss_op.below[key_set](self, target, reduction)
    node = MseLossBackward0()
    node.next_edges = edges
    node.reduction = reduction
    node.saved_self = save(self)
    node.saved_target = save(target)
    result = call_below(mse_loss_op.below[key_set], self, target, reduction)
    set_history(result, node)
    return result


def _scaled_dot_product_flash_attention_for_cpu(key_set, query, key, value, dropout_p, is_causal, attn_mask, scale):
    if (
        not local.grad_enabled
        or query._autograd is query._base is None
        and key._autograd is key._base is None
        and value._autograd is value._base is None
        and (not isinstance(attn_mask, Tensor) or attn_mask._autograd is attn_mask._base is None)
    ):
        return _scaled_dot_product_flash_attention_for_cpu_op.below[key_set](
            query, key, value, dropout_p, is_causal, attn_mask, scale
        )
    check_no_requires_grad("_scaled_dot_product_flash_attention_for_cpu", "attn_mask", attn_mask)
    edges = [gradient_edge(query), gradient_edge(key), gradient_edge(value)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([query, key, value]):
        return _scaled_dot_product_flash_attention_for_cpu_op.below[key_set](
            query, key, value, dropout_p, is_causal, attn_mask, scale
        )
    node = ScaledDotProductFlashAttentionForCpuBackward0()
    node.next_edges = edges
    node.dropout_p = dropout_p
    node.is_causal = is_causal
    node.scale = scale
    node.saved_attn_mask = save(attn_mask)
    node.saved_key = save(key)
    node.saved_query = save(query)
    node.saved_value = save(value)
    result = call_below(
        _scaled_dot_product_flash_attention_for_cpu_op.below[key_set],
        query,
        key,
        value,
        dropout_p,
        is_causal,
        attn_mask,
        scale,
    )
    set_history(result, node, [True, False])
    node.saved_logsumexp = save(result[1], True)
    node.saved_output = save(result[0], True)
    return result


def _thnn_fused_lstm_cell(key_set, input_gates, hidden_gates, cx, input_bias, hidden_bias):
    if (
        not local.grad_enabled
        or input_gates._autograd is input_gates._base is None
        and hidden_gates._autograd is hidden_gates._base is None
        and cx._autograd is cx._base is None
        and (not isinstance(input_bias, Tensor) or input_bias._autograd is input_bias._base is None)
        and (not isinstance(hidden_bias, Tensor) or hidden_bias._autograd is hidden_bias._base is None)
    ):
        return _thnn_fused_lstm_cell_op.below[key_set](input_gates, hidden_gates, cx, input_bias, hidden_bias)
    edges = [
        gradient_edge(input_gates),
        gradient_edge(hidden_gates),
        gradient_edge(cx),
        gradient_edge(input_bias),
        gradient_edge(hidden_bias),
    ]
    if edges[0].node is edges[1].node is edges[2].node is edges[3].node is edges[
        4
    ].node is None and not any_requires_grad([input_gates, hidden_gates, cx, input_bias, hidden_bias]):
        return _thnn_fused_lstm_cell_op.below[key_set](input_gates, hidden_gates, cx, input_bias, hidden_bias)
    node = ThnnFusedLstmCellBackward0()
    node.next_edges = edges
    node.saved_cx = save(cx)
    node.saved_hidden_bias = save(hidden_bias)
    node.saved_hidden_gates = save(hidden_gates)
    node.saved_input_bias = save(input_bias)
    node.saved_input_gates = save(input_gates)
    result = call_below(_thnn_fused_lstm_cell_op.below[key_set], input_gates, hidden_gates, cx, input_bias, hidden_bias)
    set_history(result, node, [True, True, False])
    node.saved_result1 = save(result[1], True)
    node.saved_result2 = save(result[2], True)
    return result


def _thnn_fused_gru_cell(key_set, input_gates, hidden_gates, hx, input_bias, hidden_bias):
    if (
        not local.grad_enabled
        or input_gates._autograd is input_gates._base is None
        and hidden_gates._autograd is hidden_gates._base is None
        and hx._autograd is hx._base is None
        and (not isinstance(input_bias, Tensor) or input_bias._autograd is input_bias._base is None)
        and (not isinstance(hidden_bias, Tensor) or hidden_bias._autograd is hidden_bias._base is None)
    ):
        return _thnn_fused_gru_cell_op.below[key_set](input_gates, hidden_gates, hx, input_bias, hidden_bias)
    edges = [
        gradient_edge(input_gates),
        gradient_edge(hidden_gates),
        gradient_edge(hx),
        gradient_edge(input_bias),
        gradient_edge(hidden_bias),
    ]
    if edges[0].node is edges[1].node is edges[2].node is edges[3].node is edges[
        4
    ].node is None and not any_requires_grad([input_gates, hidden_gates, hx, input_bias, hidden_bias]):
        return _thnn_fused_gru_cell_op.below[key_set](input_gates, hidden_gates, hx, input_bias, hidden_bias)
    node = ThnnFusedGruCellBackward0()
    node.next_edges = edges
    node.saved_hidden_bias = save(hidden_bias)
    node.saved_hidden_gates = save(hidden_gates)
    node.saved_hx = save(hx)
    node.saved_input_bias = save(input_bias)
    node.saved_input_gates = save(input_gates)
    result = call_below(_thnn_fused_gru_cell_op.below[key_set], input_gates, hidden_gates, hx, input_bias, hidden_bias)
    set_history(result, node, [True, False])
    node.saved_result1 = save(result[1], True)
    return result


def native_layer_norm(key_set, input, normalized_shape, weight, bias, eps):
    if (
        not local.grad_enabled
        or input._autograd is input._base is None
        and (not isinstance(weight, Tensor) or weight._autograd is weight._base is None)
        and (not isinstance(bias, Tensor) or bias._autograd is bias._base is None)
    ):
        return native_layer_norm_op.below[key_set](input, normalized_shape, weight, bias, eps)
    edges = [gradient_edge(input), gradient_edge(weight), gradient_edge(bias)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([input, weight, bias]):
        return native_layer_norm_op.below[key_set](input, normalized_shape, weight, bias, eps)
    node = NativeLayerNormBackward0()
    node.next_edges = edges
    node.normalized_shape = normalized_shape
    node.saved_bias = save(bias)
    node.saved_input = save(input)
    node.saved_weight = save(weight)
    result = call_below(native_layer_norm_op.below[key_set], input, normalized_shape, weight, bias, eps)
    set_history(result, node, [True, False, False])
    node.saved_result1 = save(result[1], True)
    node.saved_result2 = save(result[2], True)
    return result


def native_batch_norm(key_set, input, weight, bias, running_mean, running_var, training, momentum, eps):
    if (
        not local.grad_enabled
        or input._autograd is input._base is None
        and (not isinstance(weight, Tensor) or weight._autograd is weight._base is None)
        and (not isinstance(bias, Tensor) or bias._autograd is bias._base is None)
        and (not isinstance(running_mean, Tensor) or running_mean._autograd is running_mean._base is None)
        and (not isinstance(running_var, Tensor) or running_var._autograd is running_var._base is None)
    ):
        return native_batch_norm_op.below[key_set](
            input, weight, bias, running_mean, running_var, training, momentum, eps
        )
    check_no_requires_grad("native_batch_norm", "running_mean", running_mean)
    check_no_requires_grad("native_batch_norm", "running_var", running_var)
    edges = [gradient_edge(input), gradient_edge(weight), gradient_edge(bias)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([input, weight, bias]):
        return native_batch_norm_op.below[key_set](
            input, weight, bias, running_mean, running_var, training, momentum, eps
        )
    node = NativeBatchNormBackward0()
    node.next_edges = edges
    node.eps = eps
    node.training = training
    node.saved_input = save(input)
    node.saved_running_mean = save(running_mean)
    node.saved_running_var = save(running_var)
    node.saved_weight = save(weight)
    result = call_below(
        native_batch_norm_op.below[key_set], input, weight, bias, running_mean, running_var, training, momentum, eps
    )
    set_history(result, node, [True, False, False])
    node.saved_result1 = save(result[1], True)
    node.saved_result2 = save(result[2], True)
    return result


def nll_loss_forward(key_set, self, target, weight, reduction, ignore_index):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and (not isinstance(weight, Tensor) or weight._autograd is weight._base is None)
    ):
        return nll_loss_forward_op.below[key_set](self, target, weight, reduction, ignore_index)
    check_no_requires_grad("nll_loss_forward", "weight", weight)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return nll_loss_forward_op.below[key_set](self, target, weight, reduction, ignore_index)
    node = NllLossBackward0()
    node.next_edges = edges
    node.ignore_index = ignore_index
    node.reduction = reduction
    node.saved_self = save(self)
    node.saved_target = save(target)
    node.saved_weight = save(weight)
    result = call_below(nll_loss_forward_op.below[key_set], self, target, weight, reduction, ignore_index)
    set_history(result, node, [True, False])
    node.saved_total_weight = save(result[1], True)
    return result


def nll_loss2d_forward(key_set, self, target, weight, reduction, ignore_index):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and (not isinstance(weight, Tensor) or weight._autograd is weight._base is None)
    ):
        return nll_loss2d_forward_op.below[key_set](self, target, weight, reduction, ignore_index)
    check_no_requires_grad("nll_loss2d_forward", "weight", weight)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return nll_loss2d_forward_op.below[key_set](self, target, weight, reduction, ignore_index)
    node = NllLoss2DBackward0()
    node.next_edges = edges
    node.ignore_index = ignore_index
    node.reduction = reduction
    node.saved_self = save(self)
    node.saved_target = save(target)
    node.saved_weight = save(weight)
    result = call_below(nll_loss2d_forward_op.below[key_set], self, target, weight, reduction, ignore_index)
    set_history(result, node, [True, False])
    node.saved_total_weight = save(result[1], True)
    return result


def smooth_l1_loss(key_set, self, target, reduction, beta):
    if not local.grad_enabled or self._autograd is self._base is None and target._autograd is target._base is None:
        return smooth_l1_loss_op.below[key_set](self, target, reduction, beta)
    edges = [gradient_edge(self), gradient_edge(target)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([self, target]):
        return smooth_l1_loss_op.below[key_set](self, target, reduction, beta)
    node = SmoothL1LossBackward0()
    node.next_edges = edges
    node.beta = beta
    node.reduction = reduction
    node.saved_self = save(self)
    node.saved_target = save(target)
    result = call_below(smooth_l1_loss_op.below[key_set], self, target, reduction, beta)
    set_history(result, node)
    return result


def soft_margin_loss(key_set, self, target, reduction):
    if not local.grad_enabled or self._autograd is self._base is None and target._autograd is target._base is None:
        return soft_margin_loss_op.below[key_set](self, target, reduction)
    check_no_requires_grad("soft_margin_loss", "target", target)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return soft_margin_loss_op.below[key_set](self, target, reduction)
    node = SoftMarginLossBackward0()
    node.next_edges = edges
    node.reduction = reduction
    node.saved_self = save(self)
    node.saved_target = save(target)
    result = call_below(soft_margin_loss_op.below[key_set], self, target, reduction)
    set_history(result, node)
    return result


def multi_margin_loss(key_set, self, target, p, margin, weight, reduction):
    if (
        not local.grad_enabled
        or self._autograd is self._base is None
        and (not isinstance(weight, Tensor) or weight._autograd is weight._base is None)
    ):
        return multi_margin_loss_op.below[key_set](self, target, p, margin, weight, reduction)
    check_no_requires_grad("multi_margin_loss", "weight", weight)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return multi_margin_loss_op.below[key_set](self, target, p, margin, weight, reduction)
    node = MultiMarginLossBackward0()
    node.next_edges = edges
    node.margin = margin
    node.p = p
    node.reduction = reduction
    node.saved_self = save(self)
    node.saved_target = save(target)
    node.saved_weight = save(weight)
    result = call_below(multi_margin_loss_op.below[key_set], self, target, p, margin, weight, reduction)
    set_history(result, node)
    return result


def multilabel_margin_loss_forward(key_set, self, target, reduction):
    if not local.grad_enabled or self._autograd is self._base is None:
        return multilabel_margin_loss_forward_op.below[key_set](self, target, reduction)
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return multilabel_margin_loss_forward_op.below[key_set](self, target, reduction)
    node = MultilabelMarginLossBackward0()
    node.next_edges = edges
    node.reduction = reduction
    node.saved_self = save(self)
    node.saved_target = save(target)
    result = call_below(multilabel_margin_loss_forward_op.below[key_set], self, target, reduction)
    set_history(result, node, [True, False])
    node.saved_is_target = save(result[1], True)
    return result


def _ctc_loss(key_set, log_probs, targets, input_lengths, target_lengths, blank, zero_infinity):
    if not local.grad_enabled or log_probs._autograd is log_probs._base is None:
        return _ctc_loss_op.below[key_set](log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)
    edges = [gradient_edge(log_probs)]
    if edges[0].node is None and not any_requires_grad([log_probs]):
        return _ctc_loss_op.below[key_set](log_probs, targets, input_lengths, target_lengths, blank, zero_infinity)
    node = CtcLossBackward0()
    node.next_edges = edges
    node.blank = blank
    node.input_lengths = input_lengths
    node.target_lengths = target_lengths
    node.zero_infinity = zero_infinity
    node.saved_log_probs = save(log_probs)
    node.saved_targets = save(targets)
    result = call_below(
        _ctc_loss_op.below[key_set], log_probs, targets, input_lengths, target_lengths, blank, zero_infinity
    )
    set_history(result, node, [True, False])
    node.saved_result0 = save(result[0], True)
    node.saved_result1 = save(result[1], True)
    return result


def _log_softmax_backward_data(key_set, grad_output, output, dim, input_dtype):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and output._autograd is output._base is None
    ):
        return _log_softmax_backward_data_op.below[key_set](grad_output, output, dim, input_dtype)
    edges = [gradient_edge(grad_output), gradient_edge(output)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, output]):
        return _log_softmax_backward_data_op.below[key_set](grad_output, output, dim, input_dtype)
    node = LogSoftmaxBackwardDataBackward0()
    node.next_edges = edges
    node.output_dtype = output.dtype
    node.dim = dim
    node.saved_output = save(output)
    if edges[1].node:
        node.saved_grad_output = save(grad_output)
    result = call_below(_log_softmax_backward_data_op.below[key_set], grad_output, output, dim, input_dtype)
    set_history(result, node)
    return result


def _softmax_backward_data(key_set, grad_output, output, dim, input_dtype):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and output._autograd is output._base is None
    ):
        return _softmax_backward_data_op.below[key_set](grad_output, output, dim, input_dtype)
    edges = [gradient_edge(grad_output), gradient_edge(output)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, output]):
        return _softmax_backward_data_op.below[key_set](grad_output, output, dim, input_dtype)
    node = SoftmaxBackwardDataBackward0()
    node.next_edges = edges
    node.output_dtype = output.dtype
    node.dim = dim
    node.input_dtype = input_dtype
    node.saved_output = save(output)
    if edges[1].node:
        node.saved_grad_output = save(grad_output)
    result = call_below(_softmax_backward_data_op.below[key_set], grad_output, output, dim, input_dtype)
    set_history(result, node)
    return result


def binary_cross_entropy_backward(key_set, grad_output, self, target, weight, reduction):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and target._autograd is target._base is None
        and (not isinstance(weight, Tensor) or weight._autograd is weight._base is None)
    ):
        return binary_cross_entropy_backward_op.below[key_set](grad_output, self, target, weight, reduction)
    check_no_requires_grad("binary_cross_entropy_backward", "weight", weight)
    edges = [gradient_edge(grad_output), gradient_edge(self), gradient_edge(target)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([grad_output, self, target]):
        return binary_cross_entropy_backward_op.below[key_set](grad_output, self, target, weight, reduction)
    node = BinaryCrossEntropyBackwardBackward0()
    node.next_edges = edges
    node.reduction = reduction
    node.saved_self = save(self)
    if edges[0].node or edges[1].node:
        node.saved_target = save(target)
    node.saved_weight = save(weight)
    if edges[1].node or edges[2].node:
        node.saved_grad_output = save(grad_output)
    result = call_below(binary_cross_entropy_backward_op.below[key_set], grad_output, self, target, weight, reduction)
    set_history(result, node)
    return result


def diagonal_backward(key_set, grad_output, input_sizes, offset, dim1, dim2):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return diagonal_backward_op.below[key_set](grad_output, input_sizes, offset, dim1, dim2)
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return diagonal_backward_op.below[key_set](grad_output, input_sizes, offset, dim1, dim2)
    node = DiagonalBackwardBackward0()
    node.next_edges = edges
    node.dim1 = dim1
    node.dim2 = dim2
    node.offset = offset
    result = call_below(diagonal_backward_op.below[key_set], grad_output, input_sizes, offset, dim1, dim2)
    set_history(result, node)
    return result


def elu_backward(key_set, grad_output, alpha, scale, input_scale, is_result, self_or_result):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and self_or_result._autograd is self_or_result._base is None
    ):
        return elu_backward_op.below[key_set](grad_output, alpha, scale, input_scale, is_result, self_or_result)
    edges = [gradient_edge(grad_output), gradient_edge(self_or_result)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self_or_result]):
        return elu_backward_op.below[key_set](grad_output, alpha, scale, input_scale, is_result, self_or_result)
    node = EluBackwardBackward0()
    node.next_edges = edges
    node.alpha = alpha
    node.input_scale = input_scale
    node.is_result = is_result
    node.scale = scale
    node.saved_self_or_result = save(self_or_result)
    if edges[1].node:
        node.saved_grad_output = save(grad_output)
    result = call_below(
        elu_backward_op.below[key_set], grad_output, alpha, scale, input_scale, is_result, self_or_result
    )
    set_history(result, node)
    return result


def embedding_dense_backward(key_set, grad_output, indices, num_weights, padding_idx, scale_grad_by_freq):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return embedding_dense_backward_op.below[key_set](
            grad_output, indices, num_weights, padding_idx, scale_grad_by_freq
        )
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return embedding_dense_backward_op.below[key_set](
            grad_output, indices, num_weights, padding_idx, scale_grad_by_freq
        )
    node = EmbeddingDenseBackwardBackward0()
    node.next_edges = edges
    node.padding_idx = padding_idx
    node.saved_indices = save(indices)
    result = call_below(
        embedding_dense_backward_op.below[key_set], grad_output, indices, num_weights, padding_idx, scale_grad_by_freq
    )
    set_history(result, node)
    return result


def gelu_backward(key_set, grad_output, self, approximate):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return gelu_backward_op.below[key_set](grad_output, self, approximate)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return gelu_backward_op.below[key_set](grad_output, self, approximate)
    node = GeluBackwardBackward0()
    node.next_edges = edges
    node.approximate = approximate
    node.saved_self = save(self)
    if edges[1].node:
        node.saved_grad_output = save(grad_output)
    result = call_below(gelu_backward_op.below[key_set], grad_output, self, approximate)
    set_history(result, node)
    return result


def hardtanh_backward(key_set, grad_output, self, min_val, max_val):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return hardtanh_backward_op.below[key_set](grad_output, self, min_val, max_val)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return hardtanh_backward_op.below[key_set](grad_output, self, min_val, max_val)
    node = HardtanhBackwardBackward0()
    node.next_edges = edges
    node.max_val = max_val
    node.min_val = min_val
    if edges[0].node:
        node.saved_self = save(self)
    result = call_below(hardtanh_backward_op.below[key_set], grad_output, self, min_val, max_val)
    set_history(result, node)
    return result


def huber_loss_backward(key_set, grad_output, self, target, reduction, delta):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and target._autograd is target._base is None
    ):
        return huber_loss_backward_op.below[key_set](grad_output, self, target, reduction, delta)
    edges = [gradient_edge(grad_output), gradient_edge(self), gradient_edge(target)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([grad_output, self, target]):
        return huber_loss_backward_op.below[key_set](grad_output, self, target, reduction, delta)
    node = HuberLossBackwardBackward0()
    node.next_edges = edges
    node.delta = delta
    node.reduction = reduction
    node.saved_grad_output = save(grad_output)
    node.saved_self = save(self)
    node.saved_target = save(target)
    result = call_below(huber_loss_backward_op.below[key_set], grad_output, self, target, reduction, delta)
    set_history(result, node)
    return result


def leaky_relu_backward(key_set, grad_output, self, negative_slope, self_is_result):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return leaky_relu_backward_op.below[key_set](grad_output, self, negative_slope, self_is_result)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return leaky_relu_backward_op.below[key_set](grad_output, self, negative_slope, self_is_result)
    node = LeakyReluBackwardBackward0()
    node.next_edges = edges
    node.negative_slope = negative_slope
    if edges[0].node:
        node.saved_self = save(self)
    result = call_below(leaky_relu_backward_op.below[key_set], grad_output, self, negative_slope, self_is_result)
    set_history(result, node)
    return result


def mse_loss_backward(key_set, grad_output, self, target, reduction):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and target._autograd is target._base is None
    ):
        return mse_loss_backward_op.below[key_set](grad_output, self, target, reduction)
    edges = [gradient_edge(grad_output), gradient_edge(self), gradient_edge(target)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([grad_output, self, target]):
        return mse_loss_backward_op.below[key_set](grad_output, self, target, reduction)
    node = MseLossBackwardBackward0()
    node.next_edges = edges
    node.reduction = reduction
    if edges[0].node or edges[1].node:
        node.saved_self = save(self)
    if edges[0].node or edges[2].node:
        node.saved_target = save(target)
    if edges[1].node or edges[2].node:
        node.saved_grad_output = save(grad_output)
    result = call_below(mse_loss_backward_op.below[key_set], grad_output, self, target, reduction)
    set_history(result, node)
    return result


def nll_loss2d_backward(key_set, grad_output, self, target, weight, reduction, ignore_index, total_weight):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and (not isinstance(weight, Tensor) or weight._autograd is weight._base is None)
        and total_weight._autograd is total_weight._base is None
    ):
        return nll_loss2d_backward_op.below[key_set](
            grad_output, self, target, weight, reduction, ignore_index, total_weight
        )
    check_no_requires_grad("nll_loss2d_backward", "weight", weight)
    check_no_requires_grad("nll_loss2d_backward", "total_weight", total_weight)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return nll_loss2d_backward_op.below[key_set](
            grad_output, self, target, weight, reduction, ignore_index, total_weight
        )
    node = NllLoss2DBackwardBackward0()
    node.next_edges = edges
    node.ignore_index = ignore_index
    node.reduction = reduction
    if edges[0].node:
        node.saved_target = save(target)
    if edges[0].node:
        node.saved_weight = save(weight)
    result = call_below(
        nll_loss2d_backward_op.below[key_set], grad_output, self, target, weight, reduction, ignore_index, total_weight
    )
    set_history(result, node)
    return result


def nll_loss_backward(key_set, grad_output, self, target, weight, reduction, ignore_index, total_weight):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and (not isinstance(weight, Tensor) or weight._autograd is weight._base is None)
        and total_weight._autograd is total_weight._base is None
    ):
        return nll_loss_backward_op.below[key_set](
            grad_output, self, target, weight, reduction, ignore_index, total_weight
        )
    check_no_requires_grad("nll_loss_backward", "weight", weight)
    check_no_requires_grad("nll_loss_backward", "total_weight", total_weight)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return nll_loss_backward_op.below[key_set](
            grad_output, self, target, weight, reduction, ignore_index, total_weight
        )
    node = NllLossBackwardBackward0()
    node.next_edges = edges
    node.ignore_index = ignore_index
    node.reduction = reduction
    if edges[0].node:
        node.saved_target = save(target)
    if edges[0].node:
        node.saved_weight = save(weight)
    result = call_below(
        nll_loss_backward_op.below[key_set], grad_output, self, target, weight, reduction, ignore_index, total_weight
    )
    set_history(result, node)
    return result


def select_backward(key_set, grad_output, input_sizes, dim, index):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return select_backward_op.below[key_set](grad_output, input_sizes, dim, index)
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return select_backward_op.below[key_set](grad_output, input_sizes, dim, index)
    node = SelectBackwardBackward0()
    node.next_edges = edges
    node.dim = dim
    node.index = index
    result = call_below(select_backward_op.below[key_set], grad_output, input_sizes, dim, index)
    set_history(result, node)
    return result


def sigmoid_backward(key_set, grad_output, output):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and output._autograd is output._base is None
    ):
        return sigmoid_backward_op.below[key_set](grad_output, output)
    edges = [gradient_edge(grad_output), gradient_edge(output)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, output]):
        return sigmoid_backward_op.below[key_set](grad_output, output)
    node = SigmoidBackwardBackward0()
    node.next_edges = edges
    node.saved_output = save(output)
    if edges[1].node:
        node.saved_grad_output = save(grad_output)
    result = call_below(sigmoid_backward_op.below[key_set], grad_output, output)
    set_history(result, node)
    return result


def slice_backward(key_set, grad_output, input_sizes, dim, start, end, step):
    if not local.grad_enabled or grad_output._autograd is grad_output._base is None:
        return slice_backward_op.below[key_set](grad_output, input_sizes, dim, start, end, step)
    edges = [gradient_edge(grad_output)]
    if edges[0].node is None and not any_requires_grad([grad_output]):
        return slice_backward_op.below[key_set](grad_output, input_sizes, dim, start, end, step)
    node = SliceBackwardBackward0()
    node.next_edges = edges
    node.dim = dim
    node.end = end
    node.start = start
    node.step = step
    result = call_below(slice_backward_op.below[key_set], grad_output, input_sizes, dim, start, end, step)
    set_history(result, node)
    return result


def smooth_l1_loss_backward(key_set, grad_output, self, target, reduction, beta):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
        and target._autograd is target._base is None
    ):
        return smooth_l1_loss_backward_op.below[key_set](grad_output, self, target, reduction, beta)
    edges = [gradient_edge(grad_output), gradient_edge(self), gradient_edge(target)]
    if edges[0].node is edges[1].node is edges[2].node is None and not any_requires_grad([grad_output, self, target]):
        return smooth_l1_loss_backward_op.below[key_set](grad_output, self, target, reduction, beta)
    node = SmoothL1LossBackwardBackward0()
    node.next_edges = edges
    node.beta = beta
    node.reduction = reduction
    node.saved_self = save(self)
    node.saved_target = save(target)
    if edges[1].node or edges[2].node:
        node.saved_grad_output = save(grad_output)
    result = call_below(smooth_l1_loss_backward_op.below[key_set], grad_output, self, target, reduction, beta)
    set_history(result, node)
    return result


def softplus_backward(key_set, grad_output, self, beta, threshold):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return softplus_backward_op.below[key_set](grad_output, self, beta, threshold)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return softplus_backward_op.below[key_set](grad_output, self, beta, threshold)
    node = SoftplusBackwardBackward0()
    node.next_edges = edges
    node.beta = beta
    node.threshold = threshold
    node.saved_self = save(self)
    if edges[1].node:
        node.saved_grad_output = save(grad_output)
    result = call_below(softplus_backward_op.below[key_set], grad_output, self, beta, threshold)
    set_history(result, node)
    return result


def tanh_backward(key_set, grad_output, output):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and output._autograd is output._base is None
    ):
        return tanh_backward_op.below[key_set](grad_output, output)
    edges = [gradient_edge(grad_output), gradient_edge(output)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, output]):
        return tanh_backward_op.below[key_set](grad_output, output)
    node = TanhBackwardBackward0()
    node.next_edges = edges
    node.saved_output = save(output)
    if edges[1].node:
        node.saved_grad_output = save(grad_output)
    result = call_below(tanh_backward_op.below[key_set], grad_output, output)
    set_history(result, node)
    return result


def threshold_backward(key_set, grad_output, self, threshold):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return threshold_backward_op.below[key_set](grad_output, self, threshold)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return threshold_backward_op.below[key_set](grad_output, self, threshold)
    node = ThresholdBackwardBackward0()
    node.next_edges = edges
    node.threshold = threshold
    if edges[0].node:
        node.saved_self = save(self)
    result = call_below(threshold_backward_op.below[key_set], grad_output, self, threshold)
    set_history(result, node)
    return result


def unfold_backward(key_set, grad_in, input_sizes, dim, size, step):
    if not local.grad_enabled or grad_in._autograd is grad_in._base is None:
        return unfold_backward_op.below[key_set](grad_in, input_sizes, dim, size, step)
    edges = [gradient_edge(grad_in)]
    if edges[0].node is None and not any_requires_grad([grad_in]):
        return unfold_backward_op.below[key_set](grad_in, input_sizes, dim, size, step)
    node = UnfoldBackwardBackward0()
    node.next_edges = edges
    node.dim = dim
    node.size = size
    node.step = step
    result = call_below(unfold_backward_op.below[key_set], grad_in, input_sizes, dim, size, step)
    set_history(result, node)
    return result


def hardshrink_backward(key_set, grad_out, self, lambd):
    if (
        not local.grad_enabled
        or grad_out._autograd is grad_out._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return hardshrink_backward_op.below[key_set](grad_out, self, lambd)
    edges = [gradient_edge(grad_out), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_out, self]):
        return hardshrink_backward_op.below[key_set](grad_out, self, lambd)
    node = HardshrinkBackwardBackward0()
    node.next_edges = edges
    node.lambd = lambd
    if edges[0].node:
        node.saved_self = save(self)
    result = call_below(hardshrink_backward_op.below[key_set], grad_out, self, lambd)
    set_history(result, node)
    return result


def softshrink_backward(key_set, grad_output, self, lambd):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return softshrink_backward_op.below[key_set](grad_output, self, lambd)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return softshrink_backward_op.below[key_set](grad_output, self, lambd)
    node = SoftshrinkBackwardBackward0()
    node.next_edges = edges
    node.lambd = lambd
    if edges[0].node:
        node.saved_self = save(self)
    result = call_below(softshrink_backward_op.below[key_set], grad_output, self, lambd)
    set_history(result, node)
    return result


def log_sigmoid_backward(key_set, grad_output, self, buffer):
    if (
        not local.grad_enabled
        or grad_output._autograd is grad_output._base is None
        and (not isinstance(self, Tensor) or self._autograd is self._base is None)
    ):
        return log_sigmoid_backward_op.below[key_set](grad_output, self, buffer)
    edges = [gradient_edge(grad_output), gradient_edge(self)]
    if edges[0].node is edges[1].node is None and not any_requires_grad([grad_output, self]):
        return log_sigmoid_backward_op.below[key_set](grad_output, self, buffer)
    node = LogSigmoidBackwardBackward0()
    node.next_edges = edges
    if edges[0].node:
        node.saved_buffer = save(buffer)
    node.saved_self = save(self)
    if edges[1].node:
        node.saved_grad_output = save(grad_output)
    result = call_below(log_sigmoid_backward_op.below[key_set], grad_output, self, buffer)
    set_history(result, node)
    return result


def fake_quantize_per_tensor_affine_cachemask(key_set, self, scale, zero_point, quant_min, quant_max):
    if not local.grad_enabled or self._autograd is self._base is None:
        return fake_quantize_per_tensor_affine_cachemask_op.below[key_set](
            self, scale, zero_point, quant_min, quant_max
        )
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return fake_quantize_per_tensor_affine_cachemask_op.below[key_set](
            self, scale, zero_point, quant_min, quant_max
        )
    node = FakeQuantizePerTensorAffineCachemaskBackward0()
    node.next_edges = edges
    result = call_below(
        fake_quantize_per_tensor_affine_cachemask_op.below[key_set], self, scale, zero_point, quant_min, quant_max
    )
    set_history(result, node, [True, False])
    node.saved_mask = save(result[1], True)
    return result


def _fake_quantize_per_tensor_affine_cachemask_tensor_qparams(
    key_set, self, scale, zero_point, fake_quant_enabled, quant_min, quant_max
):
    if not local.grad_enabled or self._autograd is self._base is None:
        return _fake_quantize_per_tensor_affine_cachemask_tensor_qparams_op.below[key_set](
            self, scale, zero_point, fake_quant_enabled, quant_min, quant_max
        )
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return _fake_quantize_per_tensor_affine_cachemask_tensor_qparams_op.below[key_set](
            self, scale, zero_point, fake_quant_enabled, quant_min, quant_max
        )
    node = FakeQuantizePerTensorAffineCachemaskTensorQparamsBackward0()
    node.next_edges = edges
    result = call_below(
        _fake_quantize_per_tensor_affine_cachemask_tensor_qparams_op.below[key_set],
        self,
        scale,
        zero_point,
        fake_quant_enabled,
        quant_min,
        quant_max,
    )
    set_history(result, node, [True, False])
    node.saved_mask = save(result[1], True)
    return result


def fake_quantize_per_channel_affine_cachemask(key_set, self, scale, zero_point, axis, quant_min, quant_max):
    if not local.grad_enabled or self._autograd is self._base is None:
        return fake_quantize_per_channel_affine_cachemask_op.below[key_set](
            self, scale, zero_point, axis, quant_min, quant_max
        )
    edges = [gradient_edge(self)]
    if edges[0].node is None and not any_requires_grad([self]):
        return fake_quantize_per_channel_affine_cachemask_op.below[key_set](
            self, scale, zero_point, axis, quant_min, quant_max
        )
    node = FakeQuantizePerChannelAffineCachemaskBackward0()
    node.next_edges = edges
    result = call_below(
        fake_quantize_per_channel_affine_cachemask_op.below[key_set],
        self,
        scale,
        zero_point,
        axis,
        quant_min,
        quant_max,
    )
    set_history(result, node, [True, False])
    node.saved_mask = save(result[1], True)
    return result


# ---- The groups of operators that `register` uses

AUTOGRAD = {
    alias_op: alias, alias_copy_op: alias_copy, lift_fresh_copy_op: lift_fresh_copy, as_strided_op: as_strided,
    as_strided_copy_op: as_strided_copy, as_strided__op: as_strided_, as_strided_scatter_op: as_strided_scatter,
    diagonal_op: diagonal, diagonal_copy_op: diagonal_copy, diagonal_scatter_op: diagonal_scatter, expand_op: expand,
    expand_copy_op: expand_copy, permute_op: permute, permute_copy_op: permute_copy, select_int_op: select_int,
    select_scatter_op: select_scatter, slice_Tensor_op: slice_Tensor, slice_scatter_op: slice_scatter, split_Tensor_op:
    split_Tensor, split_with_sizes_op: split_with_sizes, split_with_sizes_copy_op: split_with_sizes_copy, squeeze_op:
    squeeze, squeeze_copy_op: squeeze_copy, squeeze_dim_op: squeeze_dim, squeeze_copy_dim_op: squeeze_copy_dim,
    squeeze_dims_op: squeeze_dims, squeeze_copy_dims_op: squeeze_copy_dims, squeeze__op: squeeze_, squeeze__dim_op:
    squeeze__dim, squeeze__dims_op: squeeze__dims, t_op: t, t_copy_op: t_copy, t__op: t_, transpose_int_op:
    transpose_int, transpose_copy_int_op: transpose_copy_int, transpose__op: transpose_, unbind_int_op: unbind_int,
    unbind_copy_int_op: unbind_copy_int, unfold_op: unfold, unfold_copy_op: unfold_copy, unsqueeze_op: unsqueeze,
    unsqueeze_copy_op: unsqueeze_copy, unsqueeze__op: unsqueeze_, _reshape_alias_op: _reshape_alias,
    _reshape_alias_copy_op: _reshape_alias_copy, _unsafe_view_op: _unsafe_view, view_op: view, view_copy_op: view_copy,
    clone_op: clone, copy__op: copy_, _to_copy_op: _to_copy, fill_Scalar_op: fill_Scalar, fill_Tensor_op: fill_Tensor,
    fill__Scalar_op: fill__Scalar, fill__Tensor_op: fill__Tensor, zero__op: zero_, normal__op: normal_,
    normal_Tensor_float_op: normal_Tensor_float, normal_float_Tensor_op: normal_float_Tensor, normal_Tensor_Tensor_op:
    normal_Tensor_Tensor, exponential_op: exponential, exponential__op: exponential_, uniform_op: uniform, uniform__op:
    uniform_, bernoulli_op: bernoulli, bernoulli_Tensor_op: bernoulli_Tensor, bernoulli__Tensor_op: bernoulli__Tensor,
    bernoulli__float_op: bernoulli__float, random_from_op: random_from, random__from_op: random__from, random_to_op:
    random_to, random__to_op: random__to, random_op: random, random__op: random_, abs_op: abs, abs__op: abs_,
    add_Tensor_op: add_Tensor, add__Tensor_op: add__Tensor, add_Scalar_op: add_Scalar, addcdiv_op: addcdiv, addcdiv__op:
    addcdiv_, addcmul_op: addcmul, addcmul__op: addcmul_, ceil_op: ceil, ceil__op: ceil_, clamp_Tensor_op: clamp_Tensor,
    clamp__Tensor_op: clamp__Tensor, clamp_op: clamp, clamp__op: clamp_, clamp_max_Tensor_op: clamp_max_Tensor,
    clamp_max__Tensor_op: clamp_max__Tensor, clamp_max_op: clamp_max, clamp_max__op: clamp_max_, clamp_min_Tensor_op:
    clamp_min_Tensor, clamp_min__Tensor_op: clamp_min__Tensor, clamp_min_op: clamp_min, clamp_min__op: clamp_min_,
    cos_op: cos, cos__op: cos_, div_Tensor_op: div_Tensor, div__Tensor_op: div__Tensor, div_Scalar_op: div_Scalar,
    div_Tensor_mode_op: div_Tensor_mode, div__Tensor_mode_op: div__Tensor_mode, elu_op: elu, elu__op: elu_, erf_op: erf,
    erf__op: erf_, exp_op: exp, exp__op: exp_, exp2_op: exp2, exp2__op: exp2_, expm1_op: expm1, expm1__op: expm1_,
    floor_op: floor, floor__op: floor_, fmod_Scalar_op: fmod_Scalar, fmod__Scalar_op: fmod__Scalar, fmod_Tensor_op:
    fmod_Tensor, fmod__Tensor_op: fmod__Tensor, gelu_op: gelu, gelu__op: gelu_, hardtanh_op: hardtanh, hardtanh__op:
    hardtanh_, leaky_relu_op: leaky_relu, leaky_relu__op: leaky_relu_, lerp_Tensor_op: lerp_Tensor, lerp__Tensor_op:
    lerp__Tensor, lerp_Scalar_op: lerp_Scalar, lerp__Scalar_op: lerp__Scalar, log_op: log, log__op: log_, log10_op:
    log10, log10__op: log10_, log1p_op: log1p, log1p__op: log1p_, log2_op: log2, log2__op: log2_, maximum_op: maximum,
    minimum_op: minimum, mul_Tensor_op: mul_Tensor, mul__Tensor_op: mul__Tensor, mul_Scalar_op: mul_Scalar, neg_op: neg,
    neg__op: neg_, pow_Tensor_Scalar_op: pow_Tensor_Scalar, pow__Scalar_op: pow__Scalar, pow_Tensor_Tensor_op:
    pow_Tensor_Tensor, pow__Tensor_op: pow__Tensor, pow_Scalar_op: pow_Scalar, reciprocal_op: reciprocal,
    reciprocal__op: reciprocal_, relu_op: relu, relu__op: relu_, remainder_Scalar_op: remainder_Scalar,
    remainder__Scalar_op: remainder__Scalar, remainder_Tensor_op: remainder_Tensor, remainder__Tensor_op:
    remainder__Tensor, round_op: round, round__op: round_, round_decimals_op: round_decimals, round__decimals_op:
    round__decimals, rsqrt_op: rsqrt, rsqrt__op: rsqrt_, rsub_Tensor_op: rsub_Tensor, rsub_Scalar_op: rsub_Scalar,
    sigmoid_op: sigmoid, sigmoid__op: sigmoid_, sign_op: sign, sign__op: sign_, sgn_op: sgn, sgn__op: sgn_, silu_op:
    silu, silu__op: silu_, sin_op: sin, sin__op: sin_, softplus_op: softplus, sqrt_op: sqrt, sqrt__op: sqrt_,
    sub_Tensor_op: sub_Tensor, sub__Tensor_op: sub__Tensor, sub_Scalar_op: sub_Scalar, tan_op: tan, tan__op: tan_,
    tanh_op: tanh, tanh__op: tanh_, threshold_op: threshold, threshold__op: threshold_, trunc_op: trunc, trunc__op:
    trunc_, where_self_op: where_self, xlogy_Tensor_op: xlogy_Tensor, xlogy__Tensor_op: xlogy__Tensor,
    xlogy_Scalar_Self_op: xlogy_Scalar_Self, xlogy_Scalar_Other_op: xlogy_Scalar_Other, xlogy__Scalar_Other_op:
    xlogy__Scalar_Other, acos_op: acos, acos__op: acos_, acosh_op: acosh, acosh__op: acosh_, asin_op: asin, asin__op:
    asin_, asinh_op: asinh, asinh__op: asinh_, atan_op: atan, atan__op: atan_, atanh_op: atanh, atanh__op: atanh_,
    cosh_op: cosh, cosh__op: cosh_, sinh_op: sinh, sinh__op: sinh_, erfc_op: erfc, erfc__op: erfc_, sinc_op: sinc,
    sinc__op: sinc_, lgamma_op: lgamma, lgamma__op: lgamma_, mvlgamma_op: mvlgamma, digamma_op: digamma, digamma__op:
    digamma_, erfinv_op: erfinv, erfinv__op: erfinv_, frac_op: frac, frac__op: frac_, atan2_op: atan2, atan2__op:
    atan2_, ldexp_Tensor_op: ldexp_Tensor, ldexp__op: ldexp_, hypot_op: hypot, hypot__op: hypot_, copysign_Tensor_op:
    copysign_Tensor, copysign__Tensor_op: copysign__Tensor, copysign_Scalar_op: copysign_Scalar, copysign__Scalar_op:
    copysign__Scalar, logaddexp_op: logaddexp, logaddexp2_op: logaddexp2, fmax_op: fmax, fmin_op: fmin, nan_to_num_op:
    nan_to_num, nan_to_num__op: nan_to_num_, logit_op: logit, logit__op: logit_, polygamma_op: polygamma, polygamma__op:
    polygamma_, deg2rad_op: deg2rad, deg2rad__op: deg2rad_, rad2deg_op: rad2deg, rad2deg__op: rad2deg_, celu_op: celu,
    celu__op: celu_, hardsigmoid_op: hardsigmoid, hardsigmoid__op: hardsigmoid_, hardswish_op: hardswish, hardswish__op:
    hardswish_, mish_op: mish, mish__op: mish_, hardshrink_op: hardshrink, softshrink_op: softshrink,
    log_sigmoid_forward_op: log_sigmoid_forward, glu_op: glu, _prelu_kernel_op: _prelu_kernel, rrelu_with_noise_op:
    rrelu_with_noise, rrelu_with_noise__op: rrelu_with_noise_, rrelu_with_noise_backward_op: rrelu_with_noise_backward,
    cat_op: cat, embedding_op: embedding, flip_op: flip, gather_op: gather, index_Tensor_op: index_Tensor, index_add_op:
    index_add, index_add__op: index_add_, index_put_op: index_put, index_put__op: index_put_, _index_put_impl__op:
    _index_put_impl_, index_select_op: index_select, masked_fill_Scalar_op: masked_fill_Scalar, masked_fill__Scalar_op:
    masked_fill__Scalar, masked_fill_Tensor_op: masked_fill_Tensor, masked_fill__Tensor_op: masked_fill__Tensor,
    repeat_op: repeat, roll_op: roll, scatter_src_op: scatter_src, scatter__src_op: scatter__src, scatter_value_op:
    scatter_value, scatter__value_op: scatter__value, scatter_add_op: scatter_add, scatter_add__op: scatter_add_,
    stack_op: stack, tril_op: tril, tril__op: tril_, triu_op: triu, triu__op: triu_, pixel_shuffle_op: pixel_shuffle,
    pixel_unshuffle_op: pixel_unshuffle, _log_softmax_op: _log_softmax, _safe_softmax_op: _safe_softmax, _softmax_op:
    _softmax, amax_op: amax, amin_op: amin, cumsum_op: cumsum, cumsum__op: cumsum_, put_op: put, put__op: put_,
    logcumsumexp_op: logcumsumexp, logsumexp_op: logsumexp, max_op: max, max_dim_op: max_dim, mean_op: mean,
    mean_dim_op: mean_dim, min_op: min, min_dim_op: min_dim, prod_op: prod, prod_dim_int_op: prod_dim_int,
    std_correction_op: std_correction, std_mean_correction_op: std_mean_correction, sum_op: sum, sum_dim_IntList_op:
    sum_dim_IntList, var_correction_op: var_correction, var_mean_correction_op: var_mean_correction, cumprod_op:
    cumprod, cumprod__op: cumprod_, cummax_op: cummax, cummin_op: cummin, kthvalue_op: kthvalue, mode_op: mode,
    nansum_op: nansum, aminmax_op: aminmax, diag_embed_op: diag_embed, rot90_op: rot90, take_op: take, vdot_op: vdot,
    dist_op: dist, addmv_op: addmv, addmv__op: addmv_, addr_op: addr, addr__op: addr_, renorm_op: renorm, renorm__op:
    renorm_, linalg_cross_op: linalg_cross, index_copy_op: index_copy, index_copy__op: index_copy_,
    index_fill_int_Scalar_op: index_fill_int_Scalar, index_fill__int_Scalar_op: index_fill__int_Scalar,
    index_fill_int_Tensor_op: index_fill_int_Tensor, index_fill__int_Tensor_op: index_fill__int_Tensor,
    masked_scatter_op: masked_scatter, masked_scatter__op: masked_scatter_, masked_scatter_backward_op:
    masked_scatter_backward, masked_select_op: masked_select, scatter_reduce_two_op: scatter_reduce_two,
    scatter_reduce__two_op: scatter_reduce__two, _linalg_svd_op: _linalg_svd, _linalg_det_op: _linalg_det,
    _linalg_solve_ex_op: _linalg_solve_ex, linalg_cholesky_ex_op: linalg_cholesky_ex, linalg_inv_ex_op: linalg_inv_ex,
    trace_op: trace, linalg_vector_norm_op: linalg_vector_norm, norm_ScalarOpt_dim_op: norm_ScalarOpt_dim,
    _cdist_forward_op: _cdist_forward, median_op: median, median_dim_op: median_dim, nanmedian_op: nanmedian,
    nanmedian_dim_op: nanmedian_dim, sort_op: sort, sort_stable_op: sort_stable, topk_op: topk, unique_consecutive_op:
    unique_consecutive, unique_dim_op: unique_dim, _unique2_op: _unique2, addmm_op: addmm, addmm__op: addmm_,
    baddbmm_op: baddbmm, baddbmm__op: baddbmm_, bmm_op: bmm, dot_op: dot, mm_op: mm, mv_op: mv, convolution_op:
    convolution, convolution_backward_op: convolution_backward, constant_pad_nd_op: constant_pad_nd,
    reflection_pad1d_op: reflection_pad1d, reflection_pad1d_backward_op: reflection_pad1d_backward, reflection_pad2d_op:
    reflection_pad2d, reflection_pad2d_backward_op: reflection_pad2d_backward, reflection_pad3d_op: reflection_pad3d,
    reflection_pad3d_backward_op: reflection_pad3d_backward, replication_pad1d_op: replication_pad1d,
    replication_pad1d_backward_op: replication_pad1d_backward, replication_pad2d_op: replication_pad2d,
    replication_pad2d_backward_op: replication_pad2d_backward, replication_pad3d_op: replication_pad3d,
    replication_pad3d_backward_op: replication_pad3d_backward, _adaptive_avg_pool2d_op: _adaptive_avg_pool2d,
    _adaptive_avg_pool2d_backward_op: _adaptive_avg_pool2d_backward, avg_pool2d_op: avg_pool2d, avg_pool2d_backward_op:
    avg_pool2d_backward, max_pool2d_with_indices_op: max_pool2d_with_indices, max_pool2d_with_indices_backward_op:
    max_pool2d_with_indices_backward, upsample_nearest1d_op: upsample_nearest1d, upsample_nearest1d_backward_op:
    upsample_nearest1d_backward, upsample_nearest2d_op: upsample_nearest2d, upsample_nearest2d_backward_op:
    upsample_nearest2d_backward, upsample_nearest3d_op: upsample_nearest3d, upsample_nearest3d_backward_op:
    upsample_nearest3d_backward, _upsample_nearest_exact1d_op: _upsample_nearest_exact1d,
    _upsample_nearest_exact1d_backward_op: _upsample_nearest_exact1d_backward, _upsample_nearest_exact2d_op:
    _upsample_nearest_exact2d, _upsample_nearest_exact2d_backward_op: _upsample_nearest_exact2d_backward,
    _upsample_nearest_exact3d_op: _upsample_nearest_exact3d, _upsample_nearest_exact3d_backward_op:
    _upsample_nearest_exact3d_backward, upsample_linear1d_op: upsample_linear1d, upsample_linear1d_backward_op:
    upsample_linear1d_backward, upsample_bilinear2d_op: upsample_bilinear2d, upsample_bilinear2d_backward_op:
    upsample_bilinear2d_backward, upsample_trilinear3d_op: upsample_trilinear3d, upsample_trilinear3d_backward_op:
    upsample_trilinear3d_backward, upsample_bicubic2d_op: upsample_bicubic2d, upsample_bicubic2d_backward_op:
    upsample_bicubic2d_backward, _upsample_bilinear2d_aa_op: _upsample_bilinear2d_aa,
    _upsample_bilinear2d_aa_backward_op: _upsample_bilinear2d_aa_backward, _upsample_bicubic2d_aa_op:
    _upsample_bicubic2d_aa, _upsample_bicubic2d_aa_backward_op: _upsample_bicubic2d_aa_backward,
    _upsample_lanczos2d_aa_op: _upsample_lanczos2d_aa, _upsample_lanczos2d_aa_backward_op:
    _upsample_lanczos2d_aa_backward, affine_grid_generator_op: affine_grid_generator, binary_cross_entropy_op:
    binary_cross_entropy, binary_cross_entropy_with_logits_op: binary_cross_entropy_with_logits, huber_loss_op:
    huber_loss, mse_loss_op: mse_loss, _scaled_dot_product_flash_attention_for_cpu_op:
    _scaled_dot_product_flash_attention_for_cpu, _thnn_fused_lstm_cell_op: _thnn_fused_lstm_cell,
    _thnn_fused_gru_cell_op: _thnn_fused_gru_cell, native_layer_norm_op: native_layer_norm, native_batch_norm_op:
    native_batch_norm, nll_loss_forward_op: nll_loss_forward, nll_loss2d_forward_op: nll_loss2d_forward,
    smooth_l1_loss_op: smooth_l1_loss, soft_margin_loss_op: soft_margin_loss, multi_margin_loss_op: multi_margin_loss,
    multilabel_margin_loss_forward_op: multilabel_margin_loss_forward, _ctc_loss_op: _ctc_loss,
    _log_softmax_backward_data_op: _log_softmax_backward_data, _softmax_backward_data_op: _softmax_backward_data,
    binary_cross_entropy_backward_op: binary_cross_entropy_backward, diagonal_backward_op: diagonal_backward,
    elu_backward_op: elu_backward, embedding_dense_backward_op: embedding_dense_backward, gelu_backward_op:
    gelu_backward, hardtanh_backward_op: hardtanh_backward, huber_loss_backward_op: huber_loss_backward,
    leaky_relu_backward_op: leaky_relu_backward, mse_loss_backward_op: mse_loss_backward, nll_loss2d_backward_op:
    nll_loss2d_backward, nll_loss_backward_op: nll_loss_backward, select_backward_op: select_backward,
    sigmoid_backward_op: sigmoid_backward, slice_backward_op: slice_backward, smooth_l1_loss_backward_op:
    smooth_l1_loss_backward, softplus_backward_op: softplus_backward, tanh_backward_op: tanh_backward,
    threshold_backward_op: threshold_backward, unfold_backward_op: unfold_backward, hardshrink_backward_op:
    hardshrink_backward, softshrink_backward_op: softshrink_backward, log_sigmoid_backward_op: log_sigmoid_backward,
    fake_quantize_per_tensor_affine_cachemask_op: fake_quantize_per_tensor_affine_cachemask,
    _fake_quantize_per_tensor_affine_cachemask_tensor_qparams_op:
    _fake_quantize_per_tensor_affine_cachemask_tensor_qparams, fake_quantize_per_channel_affine_cachemask_op:
    fake_quantize_per_channel_affine_cachemask,
}  # fmt: skip

OUT = (
    diagonal_copy_out_op, arange_out_op, arange_start_out_op, empty_out_op, eye_out_op, eye_m_out_op, full_out_op,
    ones_out_op, zeros_out_op, abs_out_op, add_out_op, addcdiv_out_op, addcmul_out_op, ceil_out_op, clamp_Tensor_out_op,
    clamp_out_op, clamp_max_Tensor_out_op, clamp_max_out_op, clamp_min_Tensor_out_op, clamp_min_out_op, cos_out_op,
    div_out_op, div_out_mode_op, elu_out_op, erf_out_op, exp_out_op, exp2_out_op, expm1_out_op, floor_out_op,
    floor_divide_out_op, fmod_Tensor_out_op, fmod_Scalar_out_op, gelu_out_op, hardtanh_out_op, leaky_relu_out_op,
    lerp_Tensor_out_op, lerp_Scalar_out_op, log_out_op, log10_out_op, log1p_out_op, log2_out_op, maximum_out_op,
    minimum_out_op, mul_out_op, neg_out_op, pow_Tensor_Tensor_out_op, pow_Tensor_Scalar_out_op, pow_Scalar_out_op,
    reciprocal_out_op, remainder_Tensor_out_op, remainder_Scalar_out_op, round_out_op, round_decimals_out_op,
    rsqrt_out_op, sgn_out_op, sigmoid_out_op, sign_out_op, silu_out_op, sin_out_op, softplus_out_op, sqrt_out_op,
    sub_out_op, tan_out_op, tanh_out_op, threshold_out_op, trunc_out_op, where_self_out_op, xlogy_OutTensor_op,
    acos_out_op, acosh_out_op, asin_out_op, asinh_out_op, atan_out_op, atanh_out_op, cosh_out_op, sinh_out_op,
    erfc_out_op, sinc_out_op, lgamma_out_op, digamma_out_op, erfinv_out_op, frac_out_op, atan2_out_op, hypot_out_op,
    copysign_Scalar_out_op, copysign_out_op, logaddexp_out_op, logaddexp2_out_op, fmax_out_op, fmin_out_op,
    nan_to_num_out_op, logit_out_op, polygamma_out_op, deg2rad_out_op, rad2deg_out_op, ldexp_out_op, hardsigmoid_out_op,
    hardswish_out_op, mish_out_op, hardshrink_out_op, softshrink_out_op, glu_out_op, cat_out_op, gather_out_op,
    index_add_out_op, index_select_out_op, scatter_src_out_op, scatter_value_out_op, scatter_reduce_out_op,
    scatter_value_reduce_out_op, scatter_add_out_op, stack_out_op, tril_out_op, triu_out_op, _log_softmax_out_op,
    _softmax_out_op, amax_out_op, amin_out_op, cumsum_out_op, log_softmax_int_out_op, logcumsumexp_out_op,
    logsumexp_out_op, max_unary_out_op, max_dim_max_op, mean_out_op, mean_dtype_out_op, min_unary_out_op,
    min_dim_min_op, prod_int_out_op, prod_out_op, softmax_int_out_op, std_correction_out_op, sum_IntList_out_op,
    sum_out_op, var_correction_out_op, cumprod_out_op, cummax_out_op, cummin_out_op, kthvalue_values_op, mode_values_op,
    nansum_out_op, aminmax_out_op, pixel_shuffle_out_op, pixel_unshuffle_out_op, put_out_op, take_out_op,
    index_copy_out_op, masked_select_out_op, scatter_reduce_two_out_op, linalg_vector_norm_out_op, median_dim_values_op,
    nanmedian_out_op, nanmedian_dim_values_op, sort_values_op, sort_values_stable_op, topk_values_op, addmm_out_op,
    baddbmm_out_op, bmm_out_op, dot_out_op, linear_out_op, mm_out_op, mv_out_op, addmv_out_op, addr_out_op,
    renorm_out_op, avg_pool2d_out_op, avg_pool2d_backward_grad_input_op, max_pool2d_with_indices_backward_grad_input_op,
    upsample_nearest1d_out_op, upsample_nearest2d_out_op, upsample_nearest3d_out_op, _upsample_nearest_exact1d_out_op,
    _upsample_nearest_exact2d_out_op, _upsample_nearest_exact3d_out_op, upsample_linear1d_out_op,
    upsample_bilinear2d_out_op, upsample_trilinear3d_out_op, upsample_bicubic2d_out_op, _upsample_bilinear2d_aa_out_op,
    _upsample_bicubic2d_aa_out_op, _upsample_lanczos2d_aa_out_op, affine_grid_generator_out_op, reflection_pad1d_out_op,
    reflection_pad1d_backward_grad_input_op, reflection_pad2d_out_op, reflection_pad2d_backward_grad_input_op,
    reflection_pad3d_out_op, reflection_pad3d_backward_grad_input_op, replication_pad1d_out_op,
    replication_pad1d_backward_grad_input_op, replication_pad2d_out_op, replication_pad2d_backward_grad_input_op,
    replication_pad3d_out_op, replication_pad3d_backward_grad_input_op, binary_cross_entropy_out_op, huber_loss_out_op,
    mse_loss_out_op, smooth_l1_loss_out_op, soft_margin_loss_out_op, bernoulli_out_op, normal_float_float_out_op,
    normal_Tensor_float_out_op, normal_float_Tensor_out_op, normal_Tensor_Tensor_out_op, rand_out_op, randint_out_op,
    randint_generator_out_op, randint_low_out_op, randint_low_generator_out_op, randperm_out_op,
    randperm_generator_out_op, _log_softmax_backward_data_out_op, _softmax_backward_data_out_op,
    binary_cross_entropy_backward_grad_input_op, elu_backward_grad_input_op, gelu_backward_grad_input_op,
    hardtanh_backward_grad_input_op, huber_loss_backward_out_op, leaky_relu_backward_grad_input_op,
    mse_loss_backward_grad_input_op, nll_loss_backward_grad_input_op, sigmoid_backward_grad_input_op,
    silu_backward_grad_input_op, smooth_l1_loss_backward_grad_input_op, softplus_backward_grad_input_op,
    tanh_backward_grad_input_op, threshold_backward_grad_input_op, log_sigmoid_backward_grad_input_op,
)  # fmt: skip

WITHOUT_DERIVATIVE = (
    lift_fresh_op, view_copy_dtype_op, copy_op, zero_op, bitwise_and__Tensor_op, bitwise_left_shift__Tensor_op,
    bitwise_not__op, bitwise_or__Tensor_op, bitwise_right_shift__Tensor_op, bitwise_xor__Tensor_op, eq__Tensor_op,
    floor_divide_op, floor_divide__Tensor_op, ge__Tensor_op, gt__Tensor_op, le__Tensor_op, logical_and__op,
    logical_not__op, logical_or__op, logical_xor__op, lt__Tensor_op, ne__Tensor_op, gcd__op, lcm__op, heaviside__op,
    scatter_reduce_op, scatter__reduce_op, scatter_value_reduce_op, scatter__value_reduce_op,
    repeat_interleave_Tensor_op, _ctc_loss_backward_op, bernoulli_p_op, normal_functional_op, silu_backward_op,
    hardsigmoid_backward_op,
)  # fmt: skip

VIEWS = (
    alias_op, as_strided_op, diagonal_op, expand_op, lift_fresh_op, permute_op, _reshape_alias_op, select_int_op,
    slice_Tensor_op, split_Tensor_op, split_with_sizes_op, squeeze_op, squeeze_dim_op, squeeze_dims_op, t_op,
    transpose_int_op, unbind_int_op, unfold_op, unsqueeze_op, view_op,
)  # fmt: skip

WRITTEN = (
    as_strided__op, diagonal_copy_out_op, squeeze__op, squeeze__dim_op, squeeze__dims_op, t__op, transpose__op,
    unsqueeze__op, copy__op, arange_out_op, arange_start_out_op, empty_out_op, eye_out_op, eye_m_out_op, full_out_op,
    linspace_out_op, linspace_Tensor_Tensor_out_op, linspace_Tensor_Scalar_out_op, linspace_Scalar_Tensor_out_op,
    ones_out_op, zeros_out_op, fill__Tensor_op, fill__Scalar_op, resize__op, zero__op, abs__op, abs_out_op,
    add__Tensor_op, add_out_op, addcdiv__op, addcdiv_out_op, addcmul__op, addcmul_out_op, bitwise_and__Tensor_op,
    bitwise_and_Tensor_out_op, bitwise_left_shift__Tensor_op, bitwise_left_shift_Tensor_out_op, bitwise_not__op,
    bitwise_not_out_op, bitwise_or__Tensor_op, bitwise_or_Tensor_out_op, bitwise_right_shift__Tensor_op,
    bitwise_right_shift_Tensor_out_op, bitwise_xor__Tensor_op, bitwise_xor_Tensor_out_op, ceil__op, ceil_out_op,
    clamp__Tensor_op, clamp_Tensor_out_op, clamp__op, clamp_out_op, clamp_max__Tensor_op, clamp_max_Tensor_out_op,
    clamp_max__op, clamp_max_out_op, clamp_min__Tensor_op, clamp_min_Tensor_out_op, clamp_min__op, clamp_min_out_op,
    cos__op, cos_out_op, div__Tensor_op, div_out_op, div__Tensor_mode_op, div_out_mode_op, elu__op, elu_out_op,
    eq__Tensor_op, eq_Tensor_out_op, erf__op, erf_out_op, exp__op, exp_out_op, exp2__op, exp2_out_op, expm1__op,
    expm1_out_op, floor__op, floor_out_op, floor_divide_out_op, floor_divide__Tensor_op, fmod__Tensor_op,
    fmod_Tensor_out_op, fmod__Scalar_op, fmod_Scalar_out_op, ge__Tensor_op, ge_Tensor_out_op, gelu__op, gelu_out_op,
    gt__Tensor_op, gt_Tensor_out_op, hardtanh__op, hardtanh_out_op, le__Tensor_op, le_Tensor_out_op, leaky_relu__op,
    leaky_relu_out_op, lerp__Tensor_op, lerp_Tensor_out_op, lerp__Scalar_op, lerp_Scalar_out_op, log__op, log_out_op,
    log10__op, log10_out_op, log1p__op, log1p_out_op, log2__op, log2_out_op, logical_and__op, logical_and_out_op,
    logical_not__op, logical_not_out_op, logical_or__op, logical_or_out_op, logical_xor__op, logical_xor_out_op,
    lt__Tensor_op, lt_Tensor_out_op, maximum_out_op, minimum_out_op, mul__Tensor_op, mul_out_op, ne__Tensor_op,
    ne_Tensor_out_op, neg__op, neg_out_op, pow__Tensor_op, pow_Tensor_Tensor_out_op, pow__Scalar_op,
    pow_Tensor_Scalar_out_op, pow_Scalar_out_op, reciprocal__op, reciprocal_out_op, relu__op, remainder__Tensor_op,
    remainder_Tensor_out_op, remainder__Scalar_op, remainder_Scalar_out_op, round__op, round_out_op, round__decimals_op,
    round_decimals_out_op, rsqrt__op, rsqrt_out_op, sgn__op, sgn_out_op, sigmoid__op, sigmoid_out_op, sign__op,
    sign_out_op, silu__op, silu_out_op, sin__op, sin_out_op, softplus_out_op, sqrt__op, sqrt_out_op, sub__Tensor_op,
    sub_out_op, tan__op, tan_out_op, tanh__op, tanh_out_op, threshold__op, threshold_out_op, trunc__op, trunc_out_op,
    where_self_out_op, xlogy__Tensor_op, xlogy__Scalar_Other_op, xlogy_OutTensor_op, acos__op, acos_out_op, acosh__op,
    acosh_out_op, asin__op, asin_out_op, asinh__op, asinh_out_op, atan__op, atan_out_op, atanh__op, atanh_out_op,
    cosh__op, cosh_out_op, sinh__op, sinh_out_op, erfc__op, erfc_out_op, sinc__op, sinc_out_op, lgamma__op,
    lgamma_out_op, digamma__op, digamma_out_op, erfinv__op, erfinv_out_op, frac__op, frac_out_op, atan2__op,
    atan2_out_op, hypot__op, hypot_out_op, copysign__Scalar_op, copysign_Scalar_out_op, copysign__Tensor_op,
    copysign_out_op, logaddexp_out_op, logaddexp2_out_op, fmax_out_op, fmin_out_op, gcd__op, gcd_out_op, lcm__op,
    lcm_out_op, heaviside__op, heaviside_out_op, signbit_out_op, isposinf_out_op, isneginf_out_op, nan_to_num__op,
    nan_to_num_out_op, logit__op, logit_out_op, polygamma_out_op, polygamma__op, deg2rad__op, deg2rad_out_op,
    rad2deg__op, rad2deg_out_op, ldexp__op, ldexp_out_op, celu__op, hardsigmoid__op, hardsigmoid_out_op, hardswish__op,
    hardswish_out_op, mish__op, mish_out_op, hardshrink_out_op, softshrink_out_op, glu_out_op, rrelu_with_noise__op,
    cat_out_op, embedding_renorm__op, gather_out_op, index_add__op, index_add_out_op, index_put__op,
    _index_put_impl__op, index_select_out_op, masked_fill__Tensor_op, masked_fill__Scalar_op, scatter__src_op,
    scatter_src_out_op, scatter__value_op, scatter_value_out_op, scatter__reduce_op, scatter_reduce_out_op,
    scatter__value_reduce_op, scatter_value_reduce_out_op, scatter_add__op, scatter_add_out_op, stack_out_op, tril__op,
    tril_out_op, triu__op, triu_out_op, _log_softmax_out_op, _softmax_out_op, all_out_op, all_dims_out_op,
    all_all_out_op, amax_out_op, amin_out_op, any_out_op, any_dims_out_op, any_all_out_op, argmax_out_op, argmin_out_op,
    cumsum__op, cumsum_out_op, log_softmax_int_out_op, logcumsumexp_out_op, logsumexp_out_op, max_unary_out_op,
    max_dim_max_op, mean_out_op, mean_dtype_out_op, min_unary_out_op, min_dim_min_op, prod_int_out_op, prod_out_op,
    softmax_int_out_op, std_correction_out_op, sum_IntList_out_op, sum_out_op, var_correction_out_op, histc_out_op,
    cumprod__op, cumprod_out_op, cummax_out_op, cummin_out_op, kthvalue_values_op, mode_values_op, nansum_out_op,
    aminmax_out_op, bucketize_Tensor_out_op, pixel_shuffle_out_op, pixel_unshuffle_out_op, put__op, put_out_op,
    take_out_op, index_copy__op, index_copy_out_op, index_fill__int_Tensor_op, index_fill__int_Scalar_op,
    masked_scatter__op, masked_select_out_op, nonzero_out_op, scatter_reduce__two_op, scatter_reduce_two_out_op,
    linalg_vector_norm_out_op, median_dim_values_op, nanmedian_out_op, nanmedian_dim_values_op, sort_values_op,
    sort_values_stable_op, topk_values_op, addmm__op, addmm_out_op, baddbmm__op, baddbmm_out_op, bmm_out_op, dot_out_op,
    linear_out_op, mm_out_op, mv_out_op, addmv__op, addmv_out_op, addr__op, addr_out_op, renorm__op, renorm_out_op,
    avg_pool2d_out_op, avg_pool2d_backward_grad_input_op, max_pool2d_with_indices_backward_grad_input_op,
    upsample_nearest1d_out_op, upsample_nearest2d_out_op, upsample_nearest3d_out_op, _upsample_nearest_exact1d_out_op,
    _upsample_nearest_exact2d_out_op, _upsample_nearest_exact3d_out_op, upsample_linear1d_out_op,
    upsample_bilinear2d_out_op, upsample_trilinear3d_out_op, upsample_bicubic2d_out_op, _upsample_bilinear2d_aa_out_op,
    _upsample_bicubic2d_aa_out_op, _upsample_lanczos2d_aa_out_op, affine_grid_generator_out_op, reflection_pad1d_out_op,
    reflection_pad1d_backward_grad_input_op, reflection_pad2d_out_op, reflection_pad2d_backward_grad_input_op,
    reflection_pad3d_out_op, reflection_pad3d_backward_grad_input_op, replication_pad1d_out_op,
    replication_pad1d_backward_grad_input_op, replication_pad2d_out_op, replication_pad2d_backward_grad_input_op,
    replication_pad3d_out_op, replication_pad3d_backward_grad_input_op, binary_cross_entropy_out_op, huber_loss_out_op,
    mse_loss_out_op, smooth_l1_loss_out_op, soft_margin_loss_out_op, bernoulli_out_op, bernoulli__Tensor_op,
    bernoulli__float_op, exponential__op, multinomial_out_op, normal_float_float_out_op, normal_Tensor_float_out_op,
    normal_float_Tensor_out_op, normal_Tensor_Tensor_out_op, normal__op, rand_out_op, randint_out_op,
    randint_generator_out_op, randint_low_out_op, randint_low_generator_out_op, random__from_op, random__to_op,
    random__op, randperm_out_op, randperm_generator_out_op, uniform__op, _log_softmax_backward_data_out_op,
    _softmax_backward_data_out_op, binary_cross_entropy_backward_grad_input_op, elu_backward_grad_input_op,
    gelu_backward_grad_input_op, hardtanh_backward_grad_input_op, huber_loss_backward_out_op,
    leaky_relu_backward_grad_input_op, mse_loss_backward_grad_input_op, nll_loss_backward_grad_input_op,
    sigmoid_backward_grad_input_op, silu_backward_grad_input_op, smooth_l1_loss_backward_grad_input_op,
    softplus_backward_grad_input_op, tanh_backward_grad_input_op, threshold_backward_grad_input_op,
    log_sigmoid_backward_grad_input_op,
)  # fmt: skip
