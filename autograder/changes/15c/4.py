"""Embedding with scale_grad_by_freq: the compiled gradient differs from the eager one

I train a small table of embeddings with `scale_grad_by_freq=True`, which divides the gradient of a row by the number of
times that the row was looked up. In eager each row of the program below gets a gradient of ones, as it should. The same
program, compiled with the backend "aot_eager_decomp_partition", gives a row twice as much in one column as in another,
although all columns are treated alike. No error and no warning. The program returns both gradients: I expected them to
be the same.

What I tried: with `scale_grad_by_freq=False` the two agree. With a batch that is one-dimensional they agree as well. If
the sequences have another length than the embedding has columns, the compiled backward does not run at all and
complains about sizes that do not broadcast. The forward is right in all cases.

2.13.0, Linux, CPU
"""

ABOUT = (
    "The frequencies have the shape of the indices and get their last dimension at the place 1, where it is right for "
    "one-dimensional indices only. Modelled on pytorch issue 95182 (scale_grad_by_freq causes a broadcast error under "
    "torch.compile) and pull request 95499 (the dimension belongs at the end). The proposed patch is right: it divides "
    "the rows of the result, where a row that was never looked up is divided by one."
)
AT = ("torch/_decomp/decompositions.py", "embedding_dense_backward")
FAULT = [
    (
        "torch/_decomp/decompositions.py",
        "        grad_output = grad_output / grad_weights_scale.unsqueeze(-1)\n",
        "        grad_output = grad_output / grad_weights_scale.unsqueeze(1)\n",
    )
]
NEEDS = {"torch/_decomp/decompositions.py"}
STATEMENTS = 5
LINES = 36
LINK = (
    "torch.nn.functional.embedding -> aten.embedding, whose backward is aten.embedding_dense_backward -> its "
    "decomposition. Dead end: embedding in the same file, the forward, which is right."
)


def symptom(torch):
    def train(weight, words):
        rows = torch.nn.functional.embedding(words, weight, scale_grad_by_freq=True)
        return rows.sum()

    words = torch.tensor([[0, 1], [0, 2]])
    results = []
    for run in (train, torch.compile(train, backend="aot_eager_decomp_partition")):
        weight = torch.ones(3, 2, requires_grad=True)
        run(weight, words).backward()
        results.append(weight.grad)
    return results


def reproduced(torch):
    weight = torch.ones(3, 2, requires_grad=True)
    look_up = torch.compile(torch.nn.functional.embedding, backend="aot_eager_decomp_partition")
    look_up(torch.tensor([[0, 1], [0, 2]]), weight, scale_grad_by_freq=True).sum().backward()
    return weight.grad


def hidden__rows_that_are_not_used(torch):
    def look_up(words, weight):
        return torch.nn.functional.embedding(words, weight, padding_idx=3, scale_grad_by_freq=True)

    words = torch.tensor([[1, 1, 3], [6, 1, 1]])
    weight = torch.ones(8, 3, requires_grad=True)
    rows = torch.compile(look_up, backend="aot_eager_decomp_partition")(words, weight)
    (rows * torch.tensor([1.0, 2.0, 4.0])).sum().backward()
    return weight.grad


def hidden__length_is_not_the_width(torch):
    def look_up(words, weight):
        return torch.nn.functional.embedding(words, weight, scale_grad_by_freq=True)

    results = []
    for words in (torch.tensor([[0, 1, 0, 2], [3, 3, 0, 0]]), torch.tensor([[4], [4], [1]])):
        weight = torch.ones(5, 2, requires_grad=True)
        torch.compile(look_up, backend="aot_eager_decomp_partition")(words, weight).sum().backward()
        results.append(weight.grad)
    return results


def hidden__three_dimensions(torch):
    from torch._decomp.decompositions import embedding_dense_backward

    words = torch.tensor([[[0, 1], [1, 1]], [[2, 3], [3, 1]]])
    grad = torch.arange(16.0).reshape(2, 2, 2, 2)
    return [embedding_dense_backward(grad, words, 6, -1, True), embedding_dense_backward(grad, words, 6, 1, True)]


def hidden__a_single_word(torch):
    from torch._decomp.decompositions import embedding_dense_backward

    grad = torch.tensor([1.0, 2.0, 3.0])
    return embedding_dense_backward(grad, torch.tensor(1, dtype=torch.int32), 4, -1, True)


def hidden__half(torch):
    from torch._decomp.decompositions import embedding_dense_backward

    words = torch.tensor([[0, 1], [0, 2]])
    results = []
    for dtype in (torch.float16, torch.bfloat16, torch.float64):
        grad = torch.full((2, 2, 2), 60000.0, dtype=dtype)
        results.append(embedding_dense_backward(grad, words, 4, 2, True))
    return results


def kept__one_dimension(torch):
    from torch._decomp.decompositions import embedding_dense_backward

    words = torch.tensor([2, 0, 2, 5])
    grad = torch.arange(12.0).reshape(4, 3)
    results = [embedding_dense_backward(grad, words, 7, padding, True) for padding in (-1, 0, 2)]
    return [*results, embedding_dense_backward(grad.half(), words.int(), 7, -1, True)]


def kept__without_scale(torch):
    from torch._decomp.decompositions import embedding_dense_backward

    words = torch.tensor([[0, 1, 1], [1, 2, 2]])
    grad = torch.arange(18.0).reshape(2, 3, 3)
    return [embedding_dense_backward(grad, words, 5, padding, False) for padding in (-1, 1)]


def kept__no_words(torch):
    from torch._decomp.decompositions import embedding_dense_backward

    words = torch.empty(0, dtype=torch.long)
    return [embedding_dense_backward(torch.empty(0, 2), words, 3, -1, scale) for scale in (True, False)]


TEST = """
def test_decomposed_embedding_backward_scales_rows(self, torch):
    def look_up(words, weight):
        return torch.nn.functional.embedding(words, weight, padding_idx=4, scale_grad_by_freq=True)

    compiled = torch.compile(look_up, backend="aot_eager_decomp_partition")
    square = torch.tensor([[0, 1], [0, 4]])
    for words in (square, square.flatten(), square.reshape(2, 1, 2), torch.tensor([[0, 1, 1], [1, 1, 0]])):
        grads = []
        for run in (look_up, compiled):
            weight = torch.ones(6, 2, requires_grad=True)
            (run(words, weight) * torch.tensor([1.0, 4.0])).sum().backward()
            grads.append(weight.grad)
        self.assertEqual(grads[1], grads[0])
"""
PATCH = "divides the rows of the result"
PULL = """Scale the rows of the embedding's gradient after they are summed

`scale_grad_by_freq` divides the gradient of each row by the number of its look-ups. The decomposition divides
`grad_output`, which has one entry per look-up, and needs the counts in that shape. All look-ups of a row have the same
count, so I divide the summed rows instead: the counts already have one entry per row, and gathering them again is not
needed. `clamp(min=1)` is there for rows without look-ups; their gradient is zero. Sum and division happen in the
computation dtype, before the conversion to the result's.

Test plan: for indices `[[0, 1], [0, 2]]` and a table of 3 x 2, the compiled gradient is all ones, as in eager.
"""
WRONG = {
    "*puts the dimension behind the second one": [
        (
            "torch/_decomp/decompositions.py",
            "        grad_output = grad_output / grad_weights_scale.unsqueeze(1)\n",
            "        grad_output = grad_output / grad_weights_scale.unsqueeze(2)\n",
        )
    ],
    "*divides the rows of the result by their counts, whatever they are": [
        (
            "torch/_decomp/decompositions.py",
            """        grad_weights_scale = aten._unsafe_masked_index(
            counts, valid_indices, [indices], 1
        )
        grad_output = grad_output / grad_weights_scale.unsqueeze(1)

    mask""",
            """
    mask""",
        ),
        (
            "torch/_decomp/decompositions.py",
            """    return aten._unsafe_masked_index_put_accumulate(
        grad_weight, mask, [indices], grad_output
    ).to(result_dtype)


def prod(""",
            """    grad_weight = aten._unsafe_masked_index_put_accumulate(
        grad_weight, mask, [indices], grad_output
    )
    if scale_grad_by_freq:
        grad_weight = grad_weight / counts.unsqueeze(-1)
    return grad_weight.to(result_dtype)


def prod(""",
        ),
    ],
    "divides the rows after they are converted": [
        (
            "torch/_decomp/decompositions.py",
            """        grad_weights_scale = aten._unsafe_masked_index(
            counts, valid_indices, [indices], 1
        )
        grad_output = grad_output / grad_weights_scale.unsqueeze(1)

    mask""",
            """
    mask""",
        ),
        (
            "torch/_decomp/decompositions.py",
            """    return aten._unsafe_masked_index_put_accumulate(
        grad_weight, mask, [indices], grad_output
    ).to(result_dtype)


def prod(""",
            """    grad_weight = aten._unsafe_masked_index_put_accumulate(
        grad_weight, mask, [indices], grad_output
    ).to(result_dtype)
    if scale_grad_by_freq:
        grad_weight = grad_weight / counts.clamp(min=1).unsqueeze(-1)
    return grad_weight


def prod(""",
        ),
    ],
    "flattens the indices and not the gradient": [
        (
            "torch/_decomp/decompositions.py",
            "        grad_output = grad_output / grad_weights_scale.unsqueeze(1)\n",
            "        grad_output = grad_output / grad_weights_scale.reshape(-1, 1)\n",
        )
    ],
}
RIGHT = {
    "as PyTorch has it": [
        (
            "torch/_decomp/decompositions.py",
            "        grad_output = grad_output / grad_weights_scale.unsqueeze(1)\n",
            "        grad_output = grad_output / grad_weights_scale.unsqueeze(-1)\n",
        )
    ],
    "divides the rows of the result": [
        (
            "torch/_decomp/decompositions.py",
            """    if scale_grad_by_freq:
        counts = indices.new_zeros((num_weights,))
        ones = torch.ones_like(indices)
        counts = aten._unsafe_masked_index_put_accumulate(
            counts, valid_indices, [indices], ones
        )
        grad_weights_scale = aten._unsafe_masked_index(
            counts, valid_indices, [indices], 1
        )
        grad_output = grad_output / grad_weights_scale.unsqueeze(1)

    mask""",
            """    mask""",
        ),
        (
            "torch/_decomp/decompositions.py",
            """    return aten._unsafe_masked_index_put_accumulate(
        grad_weight, mask, [indices], grad_output
    ).to(result_dtype)


def prod(""",
            """    grad_weight = aten._unsafe_masked_index_put_accumulate(
        grad_weight, mask, [indices], grad_output
    )
    if scale_grad_by_freq:
        counts = aten._unsafe_masked_index_put_accumulate(
            indices.new_zeros((num_weights,)),
            valid_indices,
            [indices],
            torch.ones_like(indices),
        )
        counts = counts.clamp(min=1)
        grad_weight = grad_weight / _unsqueeze_to_dim(counts, grad_weight.ndim)
    return grad_weight.to(result_dtype)


def prod(""",
        ),
    ],
    "brings the frequencies to the gradient's number of dimensions": [
        (
            "torch/_decomp/decompositions.py",
            "        grad_output = grad_output / grad_weights_scale.unsqueeze(1)\n",
            "        grad_weights_scale = _unsqueeze_to_dim(grad_weights_scale, grad_output.ndim)\n"
            "        grad_output = grad_output / grad_weights_scale\n",
        )
    ],
}
