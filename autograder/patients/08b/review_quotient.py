"""Changes to `quotient`, for the review of lab 08b."""

AT = "inductor.index.quotient"
CASE = {
    "sizes": ("numbers", 2),
    "coefficients": ("values", 2),
    "offset": ("value", 9),
    "divisor": ("number", 9),
}


def quotient(index, divisor):
    whole, rest = divided(index, divisor)
    low, high = bounds(rest)
    if low >= 0 and high < divisor:
        return whole
    return whole + Quotient(rest, divisor)


RIGHT = {
    # floor division never falls as the rest grows, so equal ends mean one quotient everywhere
    "b": [
        ("    if low >= 0 and high < divisor:\n", "    if low // divisor == high // divisor:\n"),
        ("        return whole\n", "        return whole + low // divisor\n"),
    ],
    # by the contract of `divided`, an index is the divisor times the whole index, and the rest
    "e": [
        ("    whole, rest = divided(index, divisor)\n", "    whole, _ = divided(index, divisor)\n"),
        ("    low, high = bounds(rest)\n", "    rest = index - whole * divisor\n    low, high = bounds(rest)\n"),
    ],
}
WRONG = {
    # a short range of rests may cross a multiple of the divisor
    "a": [("low >= 0 and high < divisor", "high - low < divisor")],
    # a loop that runs backwards has a negative coefficient, and so may have the rest
    "c": [("low >= 0 and high < divisor", "high < divisor")],
    # an index with multiples of the divisor is large, and its rest may be small
    "d": [("bounds(rest)", "bounds(index)")],
}
