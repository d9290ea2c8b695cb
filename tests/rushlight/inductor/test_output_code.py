"""Reading a small module of Inductor's; what real dumps hold, lab 08's checks have from torch itself."""

from rushlight.inductor import output_code

MODULE = """
cpp_fused_add_0 = async_compile.cpp_pybinding(['float*', 'const float*', 'double*'], r'''
#include <torch/csrc/inductor/cpp_prefix.h>
extern "C"  void  kernel(float* in_out_ptr0,
                       const float* in_ptr0,
                       double* out_ptr0)
{
}
''')

class Runner:
    def call(self, args):
        arg0_1, arg1_1 = args
        assert_size_stride(arg0_1, (2, 3), (3, 1), 'input')
        assert_size_stride(arg1_1, (3, ), (1, ), 'input')
        buf0 = empty_strided_cpu((2, 3), (3, 1), torch.float32)
        extern_kernels.mm(arg0_1, reinterpret_tensor(arg0_1, (3, 2), (1, 3), 0), out=buf0)
        buf1 = reinterpret_tensor(buf0, (6, ), (1, ), 0); del buf0  # reuse
        buf2 = empty_strided_cpu((), (), torch.float64)
        cpp_fused_add_0(buf1, arg0_1, buf2)
        del arg0_1
        del buf2
        buf3 = torch.ops.aten.sort.stable(buf1, stable=False, dim=0, descending=False)
        return (buf3, )
"""

KERNEL = """
{
    #pragma omp for collapse(2)
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(3L); x0+=static_cast<int64_t>(1L))
    {
        for(int64_t x1=static_cast<int64_t>(0L); x1<static_cast<int64_t>(4L); x1+=static_cast<int64_t>(1L))
        {
            float tmp_acc0 = 0;
            at::vec::Vectorized<float> tmp_acc0_vec = at::vec::Vectorized<float>(0);
            for(int64_t x2=static_cast<int64_t>(0L); x2<static_cast<int64_t>(50L); x2+=static_cast<int64_t>(16L))
            {
                for (long x2_inner = 0; x2_inner < static_cast<int64_t>(16); x2_inner++)
                {
                }
            }
        }
    }
    IndexValue<int64_t> tmp_acc0 = IndexValue<int64_t>{0, std::numeric_limits<int64_t>::min()};
    for(int64_t x0=static_cast<int64_t>(0L); x0<static_cast<int64_t>(9L); x0+=static_cast<int64_t>(1L))
    {
    }
}
"""


def test_kernels_and_operators_are_told_apart():
    assert output_code.kernel_calls(MODULE) == {"cpp_fused_add_0": 1}
    mm, sort = output_code.extern_calls(MODULE)
    assert mm == ("extern_kernels.mm", ["arg0_1", "arg0_1"], "buf0")
    assert sort == ("torch.ops.aten.sort.stable", ["buf1"], "buf3")
    own = "    buf2 = torch.ops.mine.scale.default(buf0, layout=torch.strided, by=buf1)\n"
    assert output_code.extern_calls(own) == [("torch.ops.mine.scale.default", ["buf0", "buf1"], "buf2")]


def test_memory_that_is_reused_is_counted_once():
    assert output_code.memory_use(MODULE) == ({"buf1": "buf0"}, 24 + 8)


def test_what_is_read_and_written_counts_twice():
    assert output_code.bytes_moved(MODULE) == [("cpp_fused_add_0", 2 * 24 + 24 + 8)]


def test_a_name_is_read_as_a_sorted_list_of_operators():
    known = ["var", "mean", "var_mean", "_softmax", "copy", "copy_", "gt"]
    assert output_code.fused_operations("cpp_fused__softmax_var_mean_12", known) == ["_softmax", "var_mean"]
    assert output_code.fused_operations("cpp_fused_copy__gt_0", known) == ["copy_", "gt"]
    assert output_code.fused_operations("cpp_fused_3", known) == []


def test_loops_know_who_shares_them_and_how_often_they_run():
    assert output_code.kernel_loops(KERNEL) == [
        *[("x0", 3, 1, 2, 3), ("x1", 4, 1, 0, 12), ("x2", 50, 16, 0, 48)],
        ("x0", 9, 1, 0, 9),
    ]


def test_a_reduction_is_known_by_what_it_starts_from():
    assert output_code.kernel_reductions(KERNEL) == ["sum", "argmax"]


def test_a_log_says_what_was_expected_and_what_came():
    log = """\
V0101 [0/1] [__recompiles] Recompiling function f in model.py:1
V0101 [0/1] [__recompiles]     triggered by the following guard failure(s):
V0101 [0/1] [__recompiles]     - 0/0: tensor 'x' stride mismatch at index 0. expected 4, actual 1
V0101 [0/2] [__recompiles] Recompiling function f in model.py:1
V0101 [0/2] [__recompiles]     triggered by the following guard failure(s):
V0101 [0/2] [__recompiles]     - 0/1: tensor 'x' requires_grad mismatch. expected requires_grad=0
V0101 [0/2] [__recompiles]     - 0/0: mode == 'sum'            # if mode == "mean":  # model.py:2 in f
V0101 [0/2] [__recompiles]     - User stack trace:
V0101 [0/2] [__recompiles]     -   File "model.py", line 2, in f
V0101 [1/1] [__recompiles] Recompiling function <lambda> in model.py:9
V0101 [1/1] [__recompiles]     triggered by the following guard failure(s):
V0101 [1/1] [__recompiles]     - 1/0: k == 1                   # g = lambda k: k  # model.py:9 in <lambda>
"""
    assert output_code.recompilations(log) == [
        ("f", [("0/0", "x", "stride", "4", "1")]),
        ("f", [("0/1", "x", "requires_grad", "0", None), ("0/0", "mode", "value", "'sum'", None)]),
        ("<lambda>", [("1/0", "k", "value", "1", None)]),
    ]
