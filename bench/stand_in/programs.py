"""The programs of allocations that `record.py` records: by hand, of a training step, and drawn from seeds.

A program has a device of `total` bytes, the allocator's `settings` (as in PYTORCH_CUDA_ALLOC_CONF) and steps:

    ["alloc", name, bytes, stream]     a tensor of so many bytes, made while this stream is current (0: the default stream)
    ["free", name]                     the tensor is deleted; nothing if its allocation failed
    ["record_stream", name, stream]    `tensor.record_stream(stream)`; nothing if its allocation failed
    ["finish", stream]                 the device has done all work on this stream
    ["synchronize"]                    `torch.cuda.synchronize()`
    ["empty_cache"]                    `torch.cuda.empty_cache()`
    ["fraction", share]                `torch.cuda.set_per_process_memory_fraction(share)`
    ["reset_peak"]                     `torch.cuda.reset_peak_memory_stats()`
"""

from __future__ import annotations

import random
from itertools import chain
from typing import Any

KiB, MiB, GiB = 1 << 10, 1 << 20, 1 << 30
Step = list[Any]


def program(name: str, why: str, steps: str | list[Step], total: int = GiB, settings: str = "") -> dict[str, Any]:
    steps = parse(steps) if isinstance(steps, str) else steps
    return {"name": name, "why": why, "total": total, "settings": settings, "steps": steps}


def parse(text: str) -> list[Step]:
    """Steps from a short form: `a=3M` allocates, `b=512@1` on stream 1, `-a` frees, `a>1` records stream 1, `!1` finishes stream 1,
    and `synchronize`, `empty_cache`, `reset_peak`, `fraction=0.5` are written out."""
    units = {"K": KiB, "M": MiB, "G": GiB}
    steps: list[Step] = []
    for word in text.split():
        if word.startswith("fraction="):
            steps.append(["fraction", float(word.partition("=")[2])])
        elif "=" in word:
            name, _, rest = word.partition("=")
            size, _, stream = rest.partition("@")
            count = sum(
                int(float(part[:-1]) * units[part[-1]]) if part[-1] in units else int(part) for part in size.split("+")
            )
            steps.append(["alloc", name, count, int(stream or 0)])
        elif word.startswith("-"):
            steps.append(["free", word[1:]])
        elif word.startswith("!"):
            steps.append(["finish", int(word[1:])])
        elif ">" in word:
            name, _, stream = word.partition(">")
            steps.append(["record_stream", name, int(stream)])
        else:
            steps.append([word])
    return steps


# By hand -------------------------------------------------------------------------------------------------------------


def by_hand() -> list[dict[str, Any]]:
    return [
        # sizes
        program("rounding", "sizes are rounded up to 512 bytes", "a=1 b=511 c=512 d=513 e=1000 f=1024 g=1025"),
        program("zero", "an empty tensor allocates nothing", "a=0 b=1 c=0"),
        program("small limit", "up to 1 MiB is small", "a=1M b=1M c=1M+1 d=1048575 e=1048065"),
        program(
            "small segments", "small blocks share segments of 2 MiB", "a=600K b=600K c=600K d=600K e=600K f=600K g=600K"
        ),
        program("a full small segment", "a segment that is used up to the last byte", "a=1M b=512K c=512K d=512"),
        program("large segments", "below 10 MiB a segment has 20 MiB", "a=2M b=3M c=5M d=9M e=9M f=10485759"),
        program(
            "large limit",
            "from 10 MiB on a segment has its own size, in steps of 2 MiB",
            "a=10M b=10M+1 c=11M d=12M e=33M+7",
        ),
        program("two pools", "small and large never share", "a=512 b=2M -a -b c=2M d=512 e=1M f=1M+1"),
        # splits
        program("small remainder", "a remainder of 512 bytes is split off", "a=1M b=1048064 c=512 d=512 e=512"),
        program(
            "large remainder",
            "of a large block a remainder of 1 MiB or less is not split off",
            "a=19M -a b=18M -b c=20M -c d=19922944 -d e=19922432 f=2M",
        ),
        program(
            "the whole block",
            "a cached block that is at most 1 MiB too large is taken whole",
            "a=12M -a b=11M -b c=10M+512 -c d=11533824 -d",
        ),
        # merges
        program("merge left", "a freed block joins the free one before it", "a=1K b=1K c=1K d=1K -a -b e=2K"),
        program("merge right", "a freed block joins the free one behind it", "a=1K b=1K c=1K d=1K -b -a e=2K"),
        program("merge both", "a freed block joins both", "a=1K b=1K c=1K d=1K -a -c -b e=3K"),
        program(
            "merge all",
            "a segment whose last block is freed is one block again",
            "a=4M b=4M c=4M d=4M -b -d -a -c e=20M",
        ),
        program("no merge across segments", "segments never join", "a=10M b=10M -a -b c=20M"),
        program("the tail", "a freed last block joins the rest of the segment", "a=1K b=1K -b c=5K -a -c"),
        # best fit
        program(
            "best fit",
            "the smallest block that fits is taken",
            "a=3K x=512 b=2K y=512 c=4K z=512 -a -b -c d=2K e=1536 f=3K g=4K",
        ),
        program(
            "equal blocks",
            "of equal blocks the lowest address is taken",
            "a=1K x=512 b=1K y=512 c=1K z=512 -c -a -b d=1K e=1K f=1K",
        ),
        program(
            "best fit across segments",
            "the choice is over all segments of the pool",
            "a=30M b=20M c=12M -a -b -c d=11M e=15M f=21M g=4M",
        ),
        program("address order", "equal blocks of two segments", "a=12M b=12M -b -a c=12M d=12M"),
        # streams
        program(
            "streams do not share",
            "a block belongs to the stream of its allocation",
            "a=4M -a b=4M@1 -b c=4M d=4M@1 e=1K@2 f=1K",
        ),
        program(
            "three streams",
            "each stream has segments of its own",
            "a=1K@1 b=1K@2 c=1K@3 d=3M@2 -b e=1K@2 f=1K@1 -d g=3M@1",
        ),
        program(
            "own stream",
            "recording the stream of the allocation delays nothing",
            "a=4M a>0 -a b=4M c=1K@1 c>1 -c d=1K@1",
        ),
        program(
            "record_stream",
            "a block that another stream used is free when that stream's event has happened",
            "a=4M a>1 -a b=4M !1 c=4M d=4M",
        ),
        program("event in time", "an event is looked at when something is allocated", "a=4M a>1 -a !1 b=4M"),
        program("two uses", "all streams that used a block must be done", "a=4M a>1 a>2 -a !1 b=4M !2 c=4M"),
        program(
            "events in order",
            "the events of a stream are looked at in order",
            "a=4M b=4M a>1 b>2 -a -b !2 c=4M !1 d=4M e=4M",
        ),
        program("pending tail", "a block that waits is not merged", "a=4M b=4M a>1 -a -b c=8M !1 d=8M"),
        program("synchronize", "a synchronised device has no work left", "a=4M a>1 -a b=4M synchronize c=4M"),
        program(
            "waiting and full",
            "before memory is given back, events are waited for",
            "a=30M a>1 -a b=40M",
            total=60 * MiB,
        ),
        # giving back
        program(
            "empty_cache",
            "segments without a used block are given back",
            "a=4M b=30M c=1K -a empty_cache -b empty_cache -c empty_cache",
        ),
        program("empty_cache and events", "empty_cache waits for events", "a=4M a>1 -a empty_cache b=4M"),
        program(
            "a used block keeps its segment",
            "of a segment with one used block nothing is given back",
            "a=1M+512 b=3M c=8M -b -c empty_cache d=12M",
        ),
        program(
            "retry",
            "without memory, cached blocks are given back, and the allocation succeeds",
            "a=30M b=30M -a -b c=50M",
            total=64 * MiB,
        ),
        program(
            "all go",
            "without max_split_size all cached blocks are given back, even if one would do",
            "a=20M b=12M c=24M -a -b -c d=28M",
            total=64 * MiB,
        ),
        program(
            "all but the used go",
            "cached blocks are given back in the order of their sizes, and of equal ones by address",
            "a=14M b=24M c=12M d=12M -b -d -c e=40M",
            total=64 * MiB,
        ),
        program(
            "retry of a small one",
            "a small request gives back large segments",
            "a=62M b=1K -a c=1M c2=1M c3=1M",
            total=64 * MiB,
        ),
        program("out of memory", "nothing is left to give back", "a=40M b=30M c=20M d=2M", total=64 * MiB),
        program("too much", "a request above the whole device", "a=100M b=1K", total=64 * MiB),
        program(
            "fragmentation",
            "54 MiB are free in blocks of 9 MiB, and 10 MiB cannot be had",
            " ".join(f"a{i}=9M b{i}=2M c{i}=9M" for i in range(3))
            + " "
            + " ".join(f"-a{i} -c{i}" for i in range(3))
            + " d=10M e=9M",
            total=64 * MiB,
        ),
        program(
            "fragments",
            "32 MiB are free in blocks of 8 MiB that used ones separate, and 8 MiB on the device",
            " ".join(f"a{i}=8M b{i}=2M" for i in range(4)) + " " + " ".join(f"-a{i}" for i in range(4)) + " c=16M d=8M",
            total=48 * MiB,
        ),
        program(
            "holes",
            "every other block is freed",
            " ".join(f"a{i}=4M" for i in range(15))
            + " "
            + " ".join(f"-a{i}" for i in range(0, 15, 2))
            + " b=8M c=4M d=12M",
            total=64 * MiB,
        ),
        program(
            "fraction", "a share of the device is the limit", "fraction=0.5 a=20M b=14M -a c=30M d=12M", total=64 * MiB
        ),
        program("fraction and cache", "cached blocks count", "a=40M -a fraction=0.5 b=20M c=14M", total=64 * MiB),
        program(
            "peaks",
            "the peak of a pattern that repeats, and of the repeat alone",
            "a=4M b=6M -a c=8M -b -c reset_peak a=4M b=6M -a c=8M -b -c",
        ),
        # settings
        program(
            "max_split_size",
            "a block above 32 MiB is not split",
            "a=64M -a b=16M c=40M -b d=24M e=63M+512K -e f=20M",
            settings="max_split_size_mb:32",
        ),
        program(
            "oversize",
            "an oversize block serves only a request that is at most 20 MiB smaller",
            "a=100M -a b=79M -b c=80M -c d=81M -d e=99M",
            settings="max_split_size_mb:40",
        ),
        program(
            "oversize, one goes",
            "the smallest cached oversize block that is large enough is given back, and no other",
            "a=50M b=64M x=12M -a -b c=25M",
            total=128 * MiB,
            settings="max_split_size_mb:24",
        ),
        program(
            "oversize, the largest go",
            "if none is large enough, the largest are given back until they are enough together",
            "a=30M b=40M c=50M -a -b -c d=75M",
            total=128 * MiB,
            settings="max_split_size_mb:24",
        ),
        program(
            "small are split",
            "the limit of a split is for large blocks",
            "a=1K b=1M -a -b c=512",
            settings="max_split_size_mb:21",
        ),
        program(
            "power of two",
            "sizes are rounded up to quarters of powers of two",
            "a=1K b=1100 c=1300 d=1600 e=1800 f=5M g=5M+1 h=300K i=33M",
            settings="roundup_power2_divisions:4",
        ),
        program(
            "power of two by size",
            "divisions by size",
            "a=1100 b=200M c=300M d=600M e=3M f=70M g=5K",
            total=4 * GiB,
            settings="roundup_power2_divisions:[256:1,512:2,1024:4,>:8]",
        ),
        program(
            "garbage",
            "above 60 % of the limit, blocks that were not reused for long are given back",
            "fraction=0.5 a=30M b=12M c=14M -a -b d=16M e=18M f=22M -d -e g=24M h=30M",
            total=256 * MiB,
            settings="garbage_collection_threshold:0.6",
        ),
        program(
            "garbage without a limit",
            "without a fraction nothing is collected",
            "a=30M b=12M c=14M -a -b d=16M e=18M f=22M -d -e g=24M h=30M",
            total=128 * MiB,
            settings="garbage_collection_threshold:0.6",
        ),
        program(
            "garbage and age",
            "the oldest blocks go first",
            "fraction=0.5 a=12M b=14M c=16M d=18M -a x=2M -b y=2M -c z=2M -d p=40M q=40M r=20M",
            total=320 * MiB,
            settings="garbage_collection_threshold:0.5",
        ),
        # expandable segments
        program(
            "expandable",
            "one segment grows by pages: of 20 MiB for large blocks, of 2 MiB for small ones",
            "a=12M b=30M c=1K d=1M e=1M f=600K g=3M -b h=40M",
            settings="expandable_segments:True",
        ),
        program(
            "expandable tail",
            "a free tail is used, and only the rest is mapped",
            "a=30M -a b=50M -b c=70M d=8M",
            settings="expandable_segments:True",
        ),
        program(
            "expandable unmap",
            "empty_cache unmaps whole pages",
            "a=30M b=30M c=30M -b empty_cache d=12M e=30M -a -c -e empty_cache",
            settings="expandable_segments:True",
        ),
        program(
            "expandable hole",
            "a hole in the middle is mapped again",
            "a=40M b=40M c=40M -b empty_cache d=30M e=30M",
            settings="expandable_segments:True",
            total=200 * MiB,
        ),
        program(
            "expandable and full",
            "what fails in fixed segments succeeds: the free end of the segment grows by a page",
            "p=80M -p a=30M b=2M c=30M -a -c e=60M f=30M",
            total=120 * MiB,
            settings="expandable_segments:True",
        ),
        program(
            "fixed and full",
            "the same without: one used block of 2 MiB keeps a segment of 80 MiB",
            "p=80M -p a=30M b=2M c=30M -a -c e=60M f=30M",
            total=120 * MiB,
        ),
        program(
            "expandable streams",
            "a segment for each stream",
            "a=4M b=4M@1 c=4M -a d=4M@1 -b e=4M@1 f=1K@1",
            settings="expandable_segments:True",
        ),
        program(
            "expandable out of memory",
            "no page is left",
            "a=60M b=30M c=20M -a d=100M",
            total=128 * MiB,
            settings="expandable_segments:True",
        ),
        # patterns
        program(
            "growing batch",
            "a buffer that grows: each one needs a new segment",
            "a=20M -a b=24M -b c=28M -c d=32M -d e=36M -e",
        ),
        program(
            "growing batch, expandable",
            "the same in an expandable segment",
            "a=20M -a b=24M -b c=28M -c d=32M -d e=36M -e",
            settings="expandable_segments:True",
        ),
        program(
            "growing list",
            "a list of tensors that grows by concatenation",
            " ".join(f"n{i}={64 * i}K" + (f" -n{i - 1}" if i > 1 else "") for i in range(1, 25)),
        ),
    ]


# A training step -----------------------------------------------------------------------------------------------------


def for_the_course() -> list[dict[str, Any]]:
    """The programs of a prediction, `RESERVED` in `rushlight/course/predictions.py`, and of lab 11b's error, with its remedies."""
    predicted = {
        "example": "a=1536K b=4M -a",
        "small": "a=600K b=600K c=600K d=600K",
        "own": "a=9728K b=10752K",
        "again": "a=30M -a b=12M c=18M",
        "lost": "a=12M -a b=11776K c=256K",
        "holes": "a=5M b=5M c=5M d=5M -a -c e=8M",
        "neighbours": "a=5M b=5M c=5M d=5M -b -c e=8M",
        "emptied": "a=8M b=8M c=30M -a -c empty_cache",
        "streams": "a=16M -a b=16M@1",
    }
    batches = [(f"a{i}={300 + 40 * i}M", f"-a{i}", f"k{i}={150 + 20 * i}M") for i in range(9)]
    longest_first = [*reversed(batches)]
    kept, moved = (
        ["model=200M", *chain(*batch_of_steps)] for batch_of_steps in (batches, [batch[:2] for batch in batches])
    )
    evaluated = "batches of growing length, and half of each result is kept"
    large: dict[str, Any] = {"total": 4 * GiB}
    return [
        *(program(f"predicted: {name}", "a prediction of lab 11b", steps) for name, steps in predicted.items()),
        program("evaluation", evaluated, " ".join(kept), **large),
        program("evaluation, results on the CPU", "the same, and no result is kept", " ".join(moved), **large),
        program("evaluation, longest first", evaluated, " ".join(["model=200M", *chain(*longest_first)]), **large),
        program("evaluation, expandable", evaluated, " ".join(kept), **large, settings="expandable_segments:True"),
        *_validation(),
    ]


def _validation() -> list[dict[str, Any]]:
    """The same, but each result is made while the activations of its batch are alive. So it takes a part of an older segment."""
    rounds = [f"a{i}={240 + 48 * i}M k{i}={120 + 24 * i}M -a{i}" for i in range(10)]
    begin, why = (
        "model=300M",
        "batches of growing length, half of each result is kept, and it is made before the activations go",
    )
    programs = [
        program("validation", why, " ".join([begin, *rounds]), total=4 * GiB),
        program("validation, longest first", why, " ".join([begin, *reversed(rounds)]), total=4 * GiB),
        program("validation, emptied", why, " empty_cache ".join([begin, *rounds]), total=4 * GiB),
    ]
    moved = [f"{text} -k{i}" for i, text in enumerate(rounds)]
    programs.append(program("validation, results on the CPU", why, " ".join([begin, *moved]), total=4 * GiB))
    for setting in ("expandable_segments:True", "max_split_size_mb:128"):
        name = setting.partition(":")[0]
        programs.append(
            program(f"validation, {name}", why, " ".join([begin, *rounds]), total=4 * GiB, settings=setting)
        )
    return programs


def training_steps() -> list[dict[str, Any]]:
    """The allocations of training steps: sizes and lifetimes as CPU kernels make them, in two networks, with two optimizers."""
    programs = []
    for name, widths, batch, optimizer in (
        ("training: head, SGD", [64, 600], 32, "SGD"),
        ("training: head, Adam", [64, 600], 32, "Adam"),
        ("training: MLP, SGD", [256, 1024, 1024, 10], 256, "SGD"),
        ("training: MLP, Adam", [256, 1024, 1024, 10], 256, "Adam"),
    ):
        why = (
            f"three training steps of Linear layers {widths} with ReLU, batch {batch}, {optimizer}: "
            "sizes and lifetimes of a run on the CPU, replayed; no workspace of cuBLAS"
        )
        programs.append(program(name, why, _training(widths, batch, optimizer)))
    return programs


def _training(widths: list[int], batch: int, optimizer: str, repeats: int = 3) -> list[Step]:
    import torch
    from torch.profiler import ProfilerActivity, profile

    torch.manual_seed(0)
    torch.set_num_threads(1)

    def train() -> None:
        layers: list[torch.nn.Module] = []
        for i in range(len(widths) - 1):
            layers += [torch.nn.Linear(widths[i], widths[i + 1]), torch.nn.ReLU()]
        model = torch.nn.Sequential(*layers[:-1])
        update = getattr(torch.optim, optimizer)(model.parameters(), lr=1e-3)
        for _ in range(repeats):
            inputs, targets = torch.randn(batch, widths[0]), torch.randint(widths[-1], (batch,))
            loss = torch.nn.functional.cross_entropy(model(inputs), targets)
            update.zero_grad()
            loss.backward()
            update.step()
            del inputs, targets, loss

    train()  # what is allocated once in a process does not belong to the step
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiler:
        train()
    allocations = []
    roots = list(profiler.profiler.kineto_results.experimental_event_tree())
    while roots:
        event = roots.pop()
        roots += event.children
        if event.tag.name == "Allocation":
            allocations.append((event.start_time_ns, event.extra_fields.alloc_size, event.extra_fields.ptr))
    steps: list[Step] = []
    live: dict[int, str] = {}
    count = 0
    for _, size, address in sorted(allocations, key=lambda event: event[0]):
        if size > 0:
            live[address] = f"t{count}"
            count += 1
            steps.append(["alloc", live[address], size, 0])
        elif address in live:
            steps.append(["free", live.pop(address)])
    return steps


# Drawn ---------------------------------------------------------------------------------------------------------------

_SETTINGS = ["", "", "", "", "max_split_size_mb:24", "max_split_size_mb:64", "roundup_power2_divisions:8",
             "garbage_collection_threshold:0.6", "expandable_segments:True", "expandable_segments:True",
             "max_split_size_mb:32,garbage_collection_threshold:0.7"]  # fmt: skip


def drawn(count: int = 300) -> list[dict[str, Any]]:
    return [_draw(seed) for seed in range(count)]


def _draw(seed: int) -> dict[str, Any]:
    random_ = random.Random(seed)
    settings = random_.choice(_SETTINGS)
    total = random_.choice([96, 128, 200, 512, 4096]) * MiB
    streams = random_.choice([1, 1, 2, 3])
    kinds = random_.choice([["small"], ["large"], ["small", "large"], ["small", "large", "huge"], ["large", "huge"]])
    pool = [
        _size(random_, random_.choice(kinds)) for _ in range(random_.randint(3, 8))
    ]  # sizes come again, as in training
    collects = "garbage" in settings  # nothing is collected without a limit
    steps: list[Step] = [["fraction", 0.5]] if collects else []
    live: list[str] = []
    made = 0
    for _ in range(random_.randint(6, 40)):
        chance = random_.random()
        if chance < 0.5 or not live:
            size = random_.choice(pool) if random_.random() < 0.7 else _size(random_, random_.choice(kinds))
            steps.append(["alloc", f"t{made}", size, random_.randrange(streams)])
            live.append(f"t{made}")
            made += 1
        elif chance < 0.85:
            steps.append(["free", live.pop(random_.choice([0, -1, random_.randrange(len(live))]))])
        elif chance < 0.92 and streams > 1:
            steps.append(["record_stream", random_.choice(live), random_.randrange(streams)])
        elif chance < 0.96 and streams > 1:
            steps.append(["finish", random_.randrange(streams)])
        elif chance < 0.98:
            steps.append(["empty_cache"])
        else:
            steps.append([random_.choice(["synchronize", "reset_peak"])])
    return program(f"drawn {seed}", "drawn", steps, 2 * total if collects else total, settings)


def _size(random_: random.Random, kind: str) -> int:
    low, high = {"small": (1, MiB), "large": (MiB + 1, 20 * MiB), "huge": (20 * MiB, 70 * MiB)}[kind]
    shape = random_.random()
    if shape < 0.4:  # a power of two, or a few of them
        step = {"small": 512, "large": MiB, "huge": 4 * MiB}[kind]
        return min(high, max(low, step * random_.choice([1, 2, 3, 4, 6, 8, 12, 16])))
    return int(low * (high / low) ** random_.random())
