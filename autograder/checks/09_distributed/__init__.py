"""The checks of lab 09, a module for each topic: distributed training, on torch itself.

A program shows what its ranks saw: numbers, the collectives that each rank called, how many bytes it sent, and which calls
the exercise does not allow. It never says whether a result is right. `ranks` runs a program's function on ranks.
"""

TOPICS = ("collectives", "ddp", "fsdp", "predictions", "checkpoint", "tensor_parallel", "pipeline", "mesh", "cost")
