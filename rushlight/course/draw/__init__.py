"""Pictures for notebooks, such as `rl.draw.strides(x)`: a module for each subject, all drawn with `paper`.

A module is imported when one of its pictures is first used, because some modules need large parts of the framework.
"""

import logging
from importlib import import_module

logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # in a browser each first picture looks for fonts

from matplotlib.patches import Rectangle  # noqa: E402

from rushlight.course.draw.paper import Picture, show  # noqa: E402
from rushlight.course.draw.table import Table  # noqa: E402

_PICTURES = {
    "call": ("LAYERS", "halves", "layers", "queues", "spans"),
    "strided": ("strides", "compare", "walks", "chunks", "loop_nests", "blocks", "ratios"),
    "dispatcher": ("key_sets", "ladder", "tables", "trace", "REASONS"),
    "backward": ("graph", "graphs", "engine", "nodes"),
    "training": ("lockstep", "module_tree", "panels", "path", "paths", "spreads", "stacks", "timeline"),
    "custom_ops": ("captured", "device_trace", "outcomes", "quantised"),
    "capture": ("breaks", "bytecode", "flow", "fx_graph", "fx_graphs", "fx_nodes", "guards"),
    "distributed": ("rank_timeline", "ring_steps", "shards", "pipeline", "cost"),
    "quantization": ("histogram", "masks", "sizes_and_scores", "steps", "trade_off"),
    "profiles": ("device_timeline", "flame", "linked_timeline", "roofline"),
    "streams": ("capture_graph", "graph_replay", "stream_timeline", "wave_steps"),
    "attention": ("attention_map", "online_softmax", "residual_stream", "score_tiles"),
    "memory": ("batch_timeline", "memory_map", "memory_timeline", "memory_trade"),
    "tokens": ("compression", "token_boxes", "token_rows"),
    "everything": ("lens", "part_shares", "slower"),
    "inductor": ("annotated_lines", "fused", "lifetimes", "loops_in", "nests", "times"),
}
_MODULE = {name: module for module, names in _PICTURES.items() for name in names}

__all__ = ["Picture", "Rectangle", "Table", "show", *_MODULE]


def __getattr__(name: str):
    if name not in _MODULE:
        raise AttributeError(f"module 'rushlight.course.draw' has no {name!r}")
    return getattr(import_module(f"rushlight.course.draw.{_MODULE[name]}"), name)
