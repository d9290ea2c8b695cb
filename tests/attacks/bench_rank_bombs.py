"""Calls for hundreds of ranks. Each rank starts as many processes as it can and fills them with memory."""

LAB = "06a_operators"
EXERCISES = ("on_torch.custom_ops.fused_linear",)


def cell():
    import os

    from rushlight.distributed import run_ranks

    def bomb():
        kept = []
        for _ in range(1000):
            os.fork()
            kept.append(bytearray(1 << 26))

    try:
        run_ranks(bomb, 300)
    except BaseException as error:
        print(type(error), str(error)[:200])


def answer():
    return 1
