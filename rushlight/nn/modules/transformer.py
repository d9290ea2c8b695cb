"""Multi-head attention, and the encoder and the decoder of a transformer.

The computation is in `multi_head_attention_forward` of `nn/functional.py`. In PyTorch: `torch/nn/modules/activation.py` and
`transformer.py`. Left out: the fused kernels for inference.
"""

import copy
import math
from collections.abc import Callable

from rushlight.aten.generated import functions
from rushlight.aten.strided import Tensor
from rushlight.autograd.grad_mode import is_grad_enabled
from rushlight.c10.exception import warn
from rushlight.nn import functional as F
from rushlight.nn import init
from rushlight.nn.modules.containers import ModuleList
from rushlight.nn.modules.layers import LayerNorm, Linear
from rushlight.nn.modules.module import Module
from rushlight.nn.modules.stateless import GELU, Dropout, ReLU
from rushlight.nn.parameter import Device, Dtype, Parameter

__all__ = [
    "MultiheadAttention", "Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder",
    "TransformerEncoderLayer",
]  # fmt: skip


class NonDynamicallyQuantizableLinear(Linear):
    """The output projection; PyTorch's name, which `repr` shows."""


class MultiheadAttention(Module):
    """Attention of (L, batch, embed_dim) queries on (S, batch, kdim) keys and (S, batch, vdim) values, or with the batch first.

    It returns the result and the weights, which are None if they are not needed. The weights of the three projections are one
    parameter, `in_proj_weight`, unless the numbers of features differ.

    Source: `torch/nn/modules/activation.py`, `MultiheadAttention`.
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Device = None, dtype: Dtype = None,
    ) -> None:  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(f"embed_dim and num_heads must be greater than 0, got {embed_dim} and {num_heads} instead")
        super().__init__()
        self.embed_dim, self.num_heads, self.dropout, self.batch_first = embed_dim, num_heads, dropout, batch_first
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.head_dim, self.add_zero_attn = embed_dim // num_heads, add_zero_attn
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        options = {"device": device, "dtype": dtype}
        sizes = dict.fromkeys(("q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_weight", "in_proj_bias"))
        if self._qkv_same_embed_dim:
            sizes["in_proj_weight"] = (3 * embed_dim, embed_dim)
        else:
            features = {"q_proj_weight": embed_dim, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
            sizes |= {name: (embed_dim, size) for name, size in features.items()}
        sizes["in_proj_bias"] = (3 * embed_dim,) if bias else None
        for name, size in sizes.items():
            self.register_parameter(name, None if size is None else Parameter(functions.empty(size, **options)))
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **options)
        for name in ("bias_k", "bias_v"):
            extra = Parameter(functions.empty((1, 1, embed_dim), **options)) if add_bias_kv else None
            setattr(self, name, extra)
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        for weight in (self.in_proj_weight, self.q_proj_weight, self.k_proj_weight, self.v_proj_weight):
            if weight is not None:
                init.xavier_uniform_(weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None, need_weights: bool = True,
        attn_mask: Tensor | None = None, average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        swap = self.batch_first and query.dim() == 3
        if swap:  # the same tensors stay the same
            keys = query.transpose(1, 0) if key is query else key.transpose(1, 0)
            values = keys if value is key else value.transpose(1, 0)
            query, key, value = keys if key is query else query.transpose(1, 0), keys, values
        weights = {f"{name}_proj_weight": getattr(self, f"{name}_proj_weight") for name in "qkv"}
        result, attn_weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
            self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, training=self.training,
            key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim, **weights, average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )  # fmt: skip
        return result.transpose(1, 0) if swap else result, attn_weights


class _Layer(Module):
    """Attentions, then two linear layers with an activation between them. Each is added to its input, and normalised: after
    the addition, or, with `norm_first`, before each of them."""

    attentions = ("self_attn",)

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: str | Callable[[Tensor], Tensor] = F.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Device = None, dtype: Dtype = None,
    ) -> None:  # fmt: skip
        super().__init__()
        options = {"bias": bias, "device": device, "dtype": dtype}
        for name in self.attentions:
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout, batch_first=batch_first, **options))
        self.linear1 = Linear(d_model, dim_feedforward, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, **options)
        self.norm_first, numbers = norm_first, range(1, len(self.attentions) + 2)
        for number in numbers:
            setattr(self, f"norm{number}", LayerNorm(d_model, eps=layer_norm_eps, **options))
        for number in numbers:
            setattr(self, f"dropout{number}", Dropout(dropout))
        if isinstance(activation, str):
            if activation not in ("relu", "gelu"):
                raise RuntimeError(f"activation should be relu/gelu, not {activation}")
            activation = getattr(F, activation)
        self.activation = activation

    def _blocks(self, x: Tensor, *blocks: Callable[[Tensor], Tensor]) -> Tensor:
        for number, block in enumerate((*blocks, self._feed_forward), 1):
            norm, dropout = getattr(self, f"norm{number}"), getattr(self, f"dropout{number}")
            x = x + dropout(block(norm(x))) if self.norm_first else norm(x + dropout(block(x)))
        return x

    def _feed_forward(self, x: Tensor) -> Tensor:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


def _attend(attention: MultiheadAttention, x: Tensor, memory: Tensor, mask, padding, is_causal: bool) -> Tensor:
    masks = {"attn_mask": mask, "key_padding_mask": padding, "is_causal": is_causal}
    return attention(x, memory, memory, need_weights=False, **masks)[0]


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward network, each with a residual connection and a norm.

    Source: `torch/nn/modules/transformer.py`, `TransformerEncoderLayer`.
    """

    def forward(
        self, src: Tensor, src_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        masks = src_mask, src_key_padding_mask, is_causal
        output = self._blocks(src, lambda x: _attend(self.self_attn, x, x, *masks))
        if _is_inference(self, src) and not _why_not_fused(self):  # PyTorch's fused kernel gives NaN without a key
            count, names = self.self_attn.num_heads, ("src_mask", "src_key_padding_mask")
            given = [F._canonical_mask(mask, name, None, "", src.dtype) for mask, name in zip(masks, names)]
            merged = F._merged_mask(
                F._check_attn_mask(given[0], (src.size(1),) * 2, src.size(0) * count),
                given[1],
                src.size(0),
                count,
                src.size(1),
            )
            if merged is not None:
                without = (
                    (merged == -math.inf).all(-1).unflatten(0, (-1, count) if merged.size(0) > 1 else (1, 1)).any(1)
                )
                output = output.masked_fill(without.unsqueeze(-1), math.nan)
        return output


class TransformerDecoderLayer(_Layer):
    """Attention to the input, and then to `memory`, the output of an encoder.
    Source: `torch/nn/modules/transformer.py`, `TransformerDecoderLayer`."""

    attentions = ("self_attn", "multihead_attn")

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool = False, memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        own, others = (tgt_mask, tgt_key_padding_mask, tgt_is_causal), (memory_mask, memory_key_padding_mask)
        return self._blocks(
            tgt,
            lambda x: _attend(self.self_attn, x, x, *own),
            lambda x: _attend(self.multihead_attn, x, memory, *others, memory_is_causal),
        )


class TransformerEncoder(Module):
    """Copies of a layer, one on the other, and a last normalisation. The copies begin with the same parameters.

    For inference PyTorch leaves padding out, if `enable_nested_tensor`: its result there is 0. Here padding is computed, and
    then set to 0 where PyTorch would leave it out.

    Source: `torch/nn/modules/transformer.py`, `TransformerEncoder`.
    """

    def __init__(
        self, encoder_layer: TransformerEncoderLayer, num_layers: int, norm: Module | None = None,
        enable_nested_tensor: bool = True, mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(encoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm, self.mask_check = num_layers, norm, mask_check
        self.enable_nested_tensor = enable_nested_tensor
        reason = _why_not_nested(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and not reason
        if enable_nested_tensor and reason:
            warn(f"enable_nested_tensor is True, but self.use_nested_tensor is False because {reason}")

    def forward(
        self, src: Tensor, mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        is_causal: bool | None = None,
    ) -> Tensor:  # fmt: skip
        padding, dtypes = src_key_padding_mask, (src.dtype,)
        padding = F._canonical_mask(padding, "src_key_padding_mask", F._none_or_dtype(mask), "mask", *dtypes)
        mask = F._canonical_mask(mask, "mask", None, "", *dtypes, check_other=False)
        if is_causal is None:
            is_causal = _is_causal_mask(mask, src.size(_steps_dim(self.layers[0].self_attn, src)))
        output = src
        for layer in self.layers:
            output = layer(output, src_mask=mask, is_causal=is_causal, src_key_padding_mask=padding)
        if self._leaves_padding_out(src, mask, padding):
            output = output.masked_fill((padding != 0).unsqueeze(-1), 0.0)
        return output if self.norm is None else self.norm(output)

    def _leaves_padding_out(self, src: Tensor, mask: Tensor | None, padding: Tensor | None) -> bool:
        is_fast = self.use_nested_tensor and _is_inference(self.layers[0], src)
        if not is_fast or padding is None or mask is not None:
            return False
        kept = (padding == 0).to(src.dtype)  # a row of padding must be at the end
        return not self.mask_check or bool((kept[:, 1:] <= kept[:, :-1]).all())


class TransformerDecoder(Module):
    """Copies of a layer, one on the other, and a last normalisation.
    Source: `torch/nn/modules/transformer.py`, `TransformerDecoder`."""

    def __init__(self, decoder_layer: TransformerDecoderLayer, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = ModuleList([copy.deepcopy(decoder_layer) for _ in range(num_layers)])
        self.num_layers, self.norm = num_layers, norm

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Tensor | None = None, memory_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
        tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        if tgt_is_causal is None:
            tgt_is_causal = _is_causal_mask(tgt_mask, tgt.size(_steps_dim(self.layers[0].self_attn, tgt)))
        masks = tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal, memory_is_causal
        for layer in self.layers:
            tgt = layer(tgt, memory, *masks)
        return tgt if self.norm is None else self.norm(tgt)


class Transformer(Module):
    """An encoder of `src`, and a decoder of `tgt`, which attends to the encoder's output.
    Source: `torch/nn/modules/transformer.py`, `Transformer`."""

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: str | Callable[[Tensor], Tensor] = F.relu,
        custom_encoder: Module | None = None, custom_decoder: Module | None = None, layer_norm_eps: float = 1e-5,
        batch_first: bool = False, norm_first: bool = False, bias: bool = True, device: Device = None, dtype: Dtype = None,
    ) -> None:  # fmt: skip
        super().__init__()
        options = {"bias": bias, "device": device, "dtype": dtype}
        sizes = d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first

        def stack(kind: type[Module], layer: type[Module], count: int) -> Module:
            return kind(layer(*sizes, **options), count, LayerNorm(d_model, eps=layer_norm_eps, **options))

        self.encoder, self.decoder = custom_encoder, custom_decoder
        if custom_encoder is None:
            self.encoder = stack(TransformerEncoder, TransformerEncoderLayer, num_encoder_layers)
        if custom_decoder is None:
            self.decoder = stack(TransformerDecoder, TransformerDecoderLayer, num_decoder_layers)
        self._reset_parameters()
        self.d_model, self.nhead, self.batch_first = d_model, nhead, batch_first

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Tensor | None = None, tgt_mask: Tensor | None = None,
        memory_mask: Tensor | None = None, src_key_padding_mask: Tensor | None = None,
        tgt_key_padding_mask: Tensor | None = None, memory_key_padding_mask: Tensor | None = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        batch_dim = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch_dim) != tgt.size(batch_dim):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if not src.size(-1) == tgt.size(-1) == self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        masks = tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal, memory_is_causal
        return self.decoder(tgt, memory, *masks)

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Device = None, dtype: Dtype = None) -> Tensor:
        """The mask of causal attention: minus infinity above the diagonal."""
        return functions.full((sz, sz), -math.inf, dtype=dtype, device=device).triu(1)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)


def _steps_dim(attention: MultiheadAttention, x: Tensor) -> int:
    return 1 if attention.batch_first and x.dim() == 3 else 0


def _is_inference(layer: Module, src: Tensor) -> bool:
    if layer.training or src.dim() != 3:
        return False
    return not (is_grad_enabled() and any(x.requires_grad for x in (src, *layer.parameters())))


def _why_not_nested(layer: Module) -> str:
    """Why PyTorch would not leave padding out; "" if it would."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    reason = "norm_first was True" if layer.norm_first else _why_not_fused(layer)
    return reason and f"encoder_layer.{reason}"


def _why_not_fused(layer: TransformerEncoderLayer) -> str:
    """Why PyTorch would not run a layer as one kernel; "" if it would."""
    attention = layer.self_attn
    reasons = {
        "self_attn.batch_first was not True(use batch_first for better inference performance)": not attention.batch_first,
        "self_attn was passed bias=False": attention.in_proj_bias is None,
        "activation_relu_or_gelu was not True": not _is_relu_or_gelu(layer.activation),
        "norm1.eps was not equal to norm2.eps": layer.norm1.eps != layer.norm2.eps,
        "self_attn.num_heads is odd": attention.num_heads % 2,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


def _is_relu_or_gelu(activation: Callable) -> bool:
    return activation in (F.relu, F.gelu) or isinstance(activation, (ReLU, GELU))


def _is_causal_mask(mask: Tensor | None, length: int) -> bool:
    """Whether the mask is that of causal attention: minus infinity above the diagonal. Source: `_detect_is_causal_mask`."""
    if mask is None or tuple(mask.shape) != (length, length):
        return False
    return bool((mask == functions.full_like(mask, -math.inf).triu(1)).all())
