"""Changes to the decomposition of `_softmax`, for the review of lab 07d."""

AT = "aot.decompositions.softmax"
CASE = {
    "values": ("values", 4),
    "sizes": ("numbers", 2),
    "dim": ("number", 1),
    "dtype": ("dtype", ["float16", "float32", "float64"]),
}


def softmax(self, dim, half_to_float):
    x = self.to(float32) if self.dtype is float16 else self
    if x.numel():
        x = x - functions.amax(x, [dim], True)
    powers = functions.exp(x)
    return (powers / functions.sum(powers, [dim], True)).to(self.dtype)


RIGHT = {
    # a maximum rounds nothing, and the subtraction is in float32
    "a": [("functions.amax(x, [dim], True)", "functions.amax(self, [dim], True)")],
    # only a dimension without elements has no largest element
    "d": [("if x.numel():", "if not x.dim() or x.shape[dim]:")],
}
WRONG = {
    # without keepdim the sums are aligned with the last dimension
    "b": [("functions.sum(powers, [dim], True)", "functions.sum(powers, [dim])")],
    # the exponentials of a row whose elements are all much smaller than the largest of all are 0
    "c": [("functions.amax(x, [dim], True)", "functions.amax(x)")],
    # a large number without dimensions overflows
    "e": [("if x.numel():", "if x.dim() and x.shape[dim]:")],
}
