"""Three tests in the form of PyTorch's own: rushlight passes one, misses a name in one, and does not skip what torch skips."""

import unittest

import torch


class TestSmall(unittest.TestCase):
    def test_a_sum(self):
        self.assertEqual(torch.ones(3).sum().item(), 3)

    def test_a_name_that_is_left_out(self):
        self.assertEqual(torch.fft.fft(torch.ones(2)).shape, (2,))

    @unittest.skipIf(not torch.cuda.is_available(), "needs a GPU")
    def test_a_device(self):
        self.assertEqual(torch.ones(3, device="cuda").sum().item(), 3)
