"""The clinic: what is known about frameworks in which one function is wrong.

Each function here is an exercise of the clinic's labs: a program that shows a patient's fault, the name of the function at fault,
its mend. None of it is a part of PyTorch.
"""

from . import compilers as compilers
from . import distributed as distributed
from . import memory as memory
from . import tensors as tensors
from . import training as training
