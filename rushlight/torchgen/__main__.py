"""`python rushlight/torchgen` writes the generated files that are out of date, like `rushlight build`.

It works without `rushlight/__init__`, which cannot be imported while a generated file is out of date.
"""

import sys
from pathlib import Path
from types import ModuleType

sys.modules["rushlight"] = ModuleType("rushlight")
sys.modules["rushlight"].__path__ = [str(Path(__file__).parents[1])]

from rushlight.torchgen import gen, gen_autograd, gen_pyi  # noqa: E402

for path in [*gen.write(gen), *gen.write(gen_autograd), *gen.write(gen_pyi)]:
    print(f"{path.name} updated")
