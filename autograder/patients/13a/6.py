"""The normaliser of a row is minus infinity if another row of the batch is much larger.

One maximum is subtracted from all rows, so the sum of a small row underflows to 0. Modelled on torch-autograd issue 166 (a maximum
of the whole batch in logSumExp) and the long thread of pytorch issue 31829 on infinities in `logsumexp`.
"""

import numpy as np

AT = "aten.native.reductions.logsumexp"


def symptom(xp):
    """The log-probability per word of the best word in three sentences, one with large scores. Do probabilities sum to 1?"""
    scores = xp.tensor([[1.0, 2.0, 0.5], [310.0, 305.0, 90.0], [-2.0, 0.0, 4.0]])
    lengths = xp.tensor([3.0, 3.0, 2.0])
    normaliser = scores.logsumexp(1, keepdim=True)
    per_word = (scores - normaliser).amax(1) / lengths
    return per_word, (scores.softmax(1).sum(1) - 1).abs() < 1e-5


def logsumexp(array, dims, keepdim):
    largest = array.max(axis=None if array.size else dims, keepdims=True, initial=-np.inf)
    largest = np.where(np.isinf(largest), 0, largest)
    total = np.log(np.exp(array - largest).sum(axis=dims, keepdims=True)) + largest
    return total if keepdim else total.squeeze(axis=dims)
