"""A change to PyTorch: answers about the installed torch itself, of which nothing is a part of rushlight's framework.

Each function here is an exercise of the labs of phase 15: bugs of PyTorch's own that are reproduced, located, mended and tested,
patches that are reviewed, and additions such as a decomposition, a fake kernel or a pattern of the compiler.
"""

from . import add as add
from . import harder as harder
from . import mend as mend
from . import review as review
