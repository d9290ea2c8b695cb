"""Logs of the compiler: `RUSHLIGHT_LOGS=dynamo,aot,inductor`, a list of names like `TORCH_LOGS`.

The names are torch's: `dynamo`, `aot`, `inductor` for all logs of a part, and `graph_code`, `graph_breaks`, `guards`, `recompiles`,
`bytecode`, `aot_graphs`, `output_code`, `cudagraphs` for one kind of log. In PyTorch: `torch/_logging`. Left out: levels, `+` and
`-`, files.
"""

import os
import sys

PARTS = {  # the name of a part enables these logs too
    "dynamo": ("graph_code", "graph_breaks", "guards", "recompiles", "bytecode"),
    "aot": ("aot_graphs", "aot_joint_graph"),
    "inductor": ("output_code", "fusion", "cudagraphs"),
}


def wanted(name: str) -> bool:
    """Whether logs of this name are enabled now. The environment is read at each call, so that a program may set it."""
    setting = os.environ.get("RUSHLIGHT_LOGS")
    if not setting:
        return False
    names = {enabled.strip().lstrip("+") for enabled in setting.split(",")}
    return name in names or any(part in names and name in finer for part, finer in PARTS.items())


def artifact(name: str, text: str, heading: str = "") -> None:
    """Write a log to stderr under a heading, if it is enabled."""
    if wanted(name):
        title = f"{name}: {heading}" if heading else name
        print(f"[{title}]\n{text.rstrip()}\n", file=sys.stderr)
