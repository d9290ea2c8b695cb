"""Read a module of Triton code that was written by hand."""

from rushlight.inductor import triton_code

KERNEL = """triton_red_fused_sum_0 = async_compile.triton('triton_red_fused_sum_0', '''
@triton_heuristics.reduction(
    triton_meta={'signature': {'in_ptr0': '*fp32', 'in_ptr1': '*bf16', 'out_ptr0': '*fp64', 'xnumel': 'i32', 'r0_numel': 'i32'}},
)
@triton.jit
def triton_red_fused_sum_0(in_ptr0, in_ptr1, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    xnumel = 6
    r0_numel = 100
    x0 = xindex
    x1 = xindex // 2
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_2 = r0_index
        tmp0 = tl.load(in_ptr0 + (r0_2 + 100*x1), r0_mask & xmask, eviction_policy='evict_last', other=0.0)
        tmp1 = tl.load(in_ptr1 + (0)).to(tl.float32)
    for r0_offset in tl.range(0, r0_numel, R0_BLOCK):
        r0_2 = r0_index
        tmp2 = tl.load(in_ptr0 + (r0_2 + 100*x1), r0_mask & xmask, eviction_policy='evict_first', other=0.0)
        tl.store(out_ptr0 + (x0), tmp4, xmask)
''', device_str='cuda')
"""
CALL = "        triton_red_fused_sum_0.run(arg0_1, arg1_1, buf0, 6, 100, stream=raw_stream0)\n"


def test_a_kernel_that_is_called_twice_is_launched_twice():
    launches = triton_code.kernel_launches(
        KERNEL + CALL * 2, {"triton_red_fused_sum_0": {"XBLOCK": 4, "R0_BLOCK": 64, "num_warps": 8}}
    )
    assert launches == [("triton_red_fused_sum_0", "reduction", (2, 1, 1), 4, 8 * 128 - 600)] * 2


def test_each_line_moves_every_element_that_it_touches_once():
    assert triton_code.kernel_traffic(KERNEL) == {
        "in_ptr0": (2 * 3 * 100 * 4, 0),
        "in_ptr1": (2, 0),
        "out_ptr0": (0, 6 * 8),
    }
