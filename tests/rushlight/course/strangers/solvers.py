"""Systems of equations, decompositions and their gradients, and images that a map moves."""

import torch
import torch.nn.functional as F
from torch.testing import assert_close

torch.manual_seed(0)
x = torch.randn(2, 4, 4, dtype=torch.float64, requires_grad=True)
a = x @ x.mT + torch.eye(4)
b = torch.randn(2, 4, 3, dtype=torch.float64)
results = {
    "inverse": torch.inverse(a),
    "solve": torch.linalg.solve(a, b),
    "vector": torch.linalg.solve(a[0], b[0, :, 0]),
    "right": torch.linalg.solve(a, b.mT, left=False),
    "det": torch.det(a),
    "logdet": torch.logdet(a),
    "slogdet": torch.linalg.slogdet(a).logabsdet,
    "cholesky": torch.linalg.cholesky(a),
    "upper": torch.linalg.cholesky(a, upper=True),
    "eigenvalues": torch.linalg.eigh(a).eigenvalues,
    "eigenvectors": torch.linalg.eigh(a).eigenvectors.abs(),
    "eigenvalues alone": torch.linalg.eigvalsh(a),
    "lower": torch.linalg.solve_triangular(x, b, upper=False),
    "unit": torch.linalg.solve_triangular(x, b, upper=True, unitriangular=True),
    "from cholesky": torch.cholesky_solve(b, torch.linalg.cholesky(a)),
    "q": torch.linalg.qr(x).Q,
    "r": torch.linalg.qr(x).R,
    "singular values": torch.svd(x)[1],
    "pseudoinverse": torch.pinverse(x[:, :3]),
    "trace": torch.trace(x[0, :3]),
    "kron": torch.kron(x[0], b),
}
for name, result in results.items():
    (gradient,) = torch.autograd.grad((result.sin() * torch.linspace(0, 1, 4).sum()).sum(), x, retain_graph=True)
    print(name, tuple(result.shape), result.stride(), f"{result.sum().item():.5f} {gradient.pow(2).sum().item():.4f}")
print(*(type(make(torch.eye(2))) for make in (torch.linalg.svd, torch.linalg.eigh, torch.slogdet, torch.qr)))
for statement in "torch.inverse(b)", "torch.inverse(b[0, 0])":
    try:
        eval(statement)
    except RuntimeError as error:
        print(error)
for make in torch.inverse, torch.linalg.cholesky, lambda a: torch.linalg.solve(a, a):
    try:
        make(-torch.zeros(2, 2))
    except torch.linalg.LinAlgError as error:
        print(type(error).__name__)

theta = torch.tensor([[[0.5, 0.3, 0.1], [-0.2, 1.5, 0.4]]], requires_grad=True)
image = torch.randn(1, 2, 5, 6, requires_grad=True)
for align in True, False:
    grid = F.affine_grid(theta, [1, 2, 4, 3], align_corners=align)
    for mode in "bilinear", "nearest":
        for padding in "zeros", "border", "reflection":
            moved = F.grid_sample(image, grid, mode, padding, align)
            print(align, mode, padding, [f"{float(one.sum()):.3f}" for one in (moved, *torch.autograd.grad(moved.sum(), image))])
print(F.grid_sample(torch.randn(1, 1, 2, 3, 4), torch.zeros(1, 1, 1, 2, 3), align_corners=False).shape)

CLOSE = [(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0])), (1, 2), (torch.ones(2), torch.ones(2).double())]
CLOSE += [([torch.ones(2)], [torch.zeros(2)]), (torch.ones(2), torch.ones(3)), ({"a": 1.0}, {"a": 1.0 + 1e-9})]
for actual, expected in CLOSE:
    try:
        assert_close(actual, expected)
        print("close")
    except AssertionError as error:
        print(error)
