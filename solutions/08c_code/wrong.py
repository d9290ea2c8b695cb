"""Wrong answers to lab 08c that a student might well give and that no mutant of the reference is: each fails on an edge.

A function's name is its exercise's, two underscores, and what is wrong.
"""

import hashlib
import unicodedata
import zlib

from rushlight.course import breaks, predictions
from rushlight.inductor import memory, triton_code
from rushlight.inductor.cpp import TYPES, emit, literal
from rushlight.inductor.ir import Constant, Load

from ..shared import copied, edited

# ---- loops ---------------------------------------------------------------------------------------------------------


emit__everything_is_a_float = edited(
    emit, ('f"const {TYPES[value.dtype]} {name} = {text};"', 'f"const float {name} = {text};"')
)


def emit__one_place_for_a_whole_buffer(code, value):
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    places = {buffer: place for (buffer, _), place in code.store_cache.items()}
    if isinstance(value, Load) and value.buffer in places:
        return places[value.buffer]
    if code.hoist is not None and not value.symbols & code.varying:
        name = emit(code.hoist, value)
    else:
        text = code.text(value)
        name = code.new_name()
        code.lines.append(f"const {TYPES[value.dtype]} {name} = {text};")
    code.names[id(value)] = name
    return name


def emit__forgets_the_names(code, value):
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if isinstance(value, Load) and (value.buffer, value.index) in code.store_cache:
        return code.store_cache[value.buffer, value.index]
    if code.hoist is not None and not value.symbols & code.varying:
        return emit(code.hoist, value)
    text = code.text(value)
    name = code.new_name()
    code.lines.append(f"const {TYPES[value.dtype]} {name} = {text};")
    return name


def emit__hoists_nothing(code, value):
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if isinstance(value, Load) and (value.buffer, value.index) in code.store_cache:
        return code.store_cache[value.buffer, value.index]
    text = code.text(value)
    name = code.names[id(value)] = code.new_name()
    code.lines.append(f"const {TYPES[value.dtype]} {name} = {text};")
    return name


def emit__hoists_what_varies_too(code, value):
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if isinstance(value, Load) and (value.buffer, value.index) in code.store_cache:
        return code.store_cache[value.buffer, value.index]
    home = code.hoist or code
    text = home.text(value)
    name = code.names[id(value)] = home.new_name()
    home.lines.append(f"const {TYPES[value.dtype]} {name} = {text};")
    return name


emit__does_not_know_what_has_a_name = edited(
    emit,
    (
        "    if isinstance(value, Load) and (value.buffer, value.index) in code.store_cache:\n"
        "        return code.store_cache[value.buffer, value.index]\n",
        "",
    ),
)
emit__writes_the_statement_first = edited(
    emit,
    (
        "text = code.text(value)\n"
        "        name = code.new_name()\n"
        '        code.lines.append(f"const {TYPES[value.dtype]} {name} = {text};")',
        "name, place = code.new_name(), len(code.lines)\n"
        '        code.lines.insert(place, f"const {TYPES[value.dtype]} {name} = {code.text(value)};")',
    ),
)


def emit__hoists_before_it_looks_for_stored_elements(code, value):
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if code.hoist is not None and not (value.symbols & code.varying):
        code.names[id(value)] = emit__hoists_before_it_looks_for_stored_elements(code.hoist, value)
        return code.names[id(value)]
    if isinstance(value, Load):
        stored = code.store_cache.get((value.buffer, value.index))
        if stored is not None:
            return stored
    text = code.text(value)
    code.names[id(value)] = name = code.new_name()
    code.lines.append(f"const {TYPES[value.dtype]} {name} = {text};")
    return name


def emit__hoists_by_one_loop(code, value):
    if id(value) in code.names:
        return code.names[id(value)]
    if isinstance(value, Constant):
        return literal(value.value, value.dtype)
    if isinstance(value, Load) and (value.buffer, value.index) in code.store_cache:
        return code.store_cache[value.buffer, value.index]
    place = code.hoist if code.hoist is not None and value.symbols.isdisjoint(code.varying) else code
    if id(value) not in place.names:
        text = place.text(value)
        place.names[id(value)] = place.new_name()
        place.lines.append(f"const {TYPES[value.dtype]} {place.names[id(value)]} = {text};")
    code.names[id(value)] = place.names[id(value)]
    return code.names[id(value)]


emit__hoists_what_does_not_depend_on_every_variable = edited(
    emit, ("not value.symbols & code.varying", "not code.varying <= value.symbols")
)

# ---- memory --------------------------------------------------------------------------------------------------------


def last_uses__of_what_is_read_alone(steps, outputs):
    needed, found = set(outputs), []
    for reads, _ in reversed(steps):
        found.append(sorted(set(reads) - needed))
        needed |= set(reads)
    return found[::-1]


def last_uses__in_the_order_of_numbers(steps, outputs):
    return [sorted(names, key=lambda name: (len(name), name)) for names in last_uses_of(steps, outputs)]


def last_uses_of(steps, outputs):
    last = {name: i for i, step in enumerate(steps) for names in step for name in names}
    return [[name for name in last if last[name] == i and name not in outputs] for i in range(len(steps))]


def bytes_alive__frees_before_it_allocates(steps, nbytes, outputs):
    alive, found = set(), []
    for (_, writes), ending in zip(steps, last_uses_of(steps, outputs)):
        alive -= set(ending)
        alive |= {name for name in writes if name in nbytes and name not in ending}
        found.append(sum(nbytes[name] for name in alive))
    return found


def bytes_alive__outputs_end_too(steps, nbytes, outputs):
    ends = last_uses_of(steps, ())
    alive, found = set(), []
    for (_, writes), ending in zip(steps, ends):
        alive |= {name for name in writes if name in nbytes}
        found.append(sum(nbytes[name] for name in alive))
        alive -= set(ending)
    return found


def bytes_alive__from_the_last_write(steps, nbytes, outputs):
    begin = {name: number for number, (_, writes) in enumerate(steps) for name in writes}
    last = {name: number for number, step in enumerate(steps) for names in step for name in names}
    last |= dict.fromkeys(outputs, len(steps))
    return [sum(nbytes[n] for n in nbytes if n in begin and begin[n] <= i <= last[n]) for i in range(len(steps))]


def bytes_alive__to_the_last_read(steps, nbytes, outputs):
    first, last = {}, {}
    for i, (reads, writes) in enumerate(steps):
        for name in writes:
            first.setdefault(name, i)
        last |= dict.fromkeys(reads, i)
    last |= dict.fromkeys(outputs, len(steps))
    return [
        sum(nbytes[n] for n in nbytes if n in first and first[n] <= i <= last.get(n, first[n]))
        for i in range(len(steps))
    ]


def call_lines__frees_before_the_call(steps, kept, outputs, updates):
    known, lines = set(kept), []
    for i, (_, writes) in enumerate(steps):
        for name in writes:
            if name not in known:
                known.add(name)
                lines.append(("reuse", updates[i][name], name) if name in updates[i] else ("allocate", name))
        ending = sorted(last_uses_of(steps, outputs)[i])
        if i + 1 < len(steps):
            lines += [("free", name) for name in ending if name not in kept and name not in updates[i].values()]
        lines.append(("call", i))
    return lines


def call_lines__frees_what_was_passed_on(steps, kept, outputs, updates):
    known, lines = set(kept), []
    for i, (_, writes) in enumerate(steps):
        for name in writes:
            if name not in known:
                known.add(name)
                lines.append(("reuse", updates[i][name], name) if name in updates[i] else ("allocate", name))
        lines.append(("call", i))
        if i + 1 < len(steps):
            lines += [("free", name) for name in sorted(last_uses_of(steps, outputs)[i]) if name not in kept]
    return lines


def plan_reuse__without_looking_at_the_peak(lines, sizes, alive):
    waiting, planned, passed_on = {}, [], set()
    for line in lines:
        if line[0] == "free":
            waiting.setdefault(sizes[line[1]], []).append(line[1])
        elif line[0] == "allocate" and waiting.get(sizes[line[1]]):
            old = waiting[sizes[line[1]]].pop()
            passed_on.add(("free", old))
            line = ("reuse", old, line[1])
        planned.append(line)
    return [line for line in planned if line not in passed_on]


def plan_reuse__first_freed_first(lines, sizes, alive):
    waiting, planned, passed_on = {}, [], set()
    alive, peak, done = list(alive), max(alive), 0
    for line in lines:
        if line[0] == "call":
            done = line[1]
        elif line[0] == "free":
            waiting.setdefault(sizes[line[1]], []).append((line[1], done))
        elif line[0] == "allocate" and waiting.get(sizes[line[1]]):
            (old, before), (_, nbytes) = waiting[sizes[line[1]]][0], sizes[line[1]]
            between = range(before + 1, done + 1)
            if not between or max(alive[i] for i in between) + nbytes <= peak:
                waiting[sizes[line[1]]].pop(0)
                passed_on.add(("free", old))
                line = ("reuse", old, line[1])
                for i in between:
                    alive[i] += nbytes
        planned.append(line)
    return [line for line in planned if line not in passed_on]


def plan_reuse__any_size_that_is_large_enough(lines, sizes, alive):
    waiting, planned, passed_on = [], [], set()
    for line in lines:
        if line[0] == "free":
            waiting.append(line[1])
        elif line[0] == "allocate":
            fitting = [old for old in waiting if sizes[old][1] >= sizes[line[1]][1]]
            if fitting:
                waiting.remove(fitting[-1])
                passed_on.add(("free", fitting[-1]))
                line = ("reuse", fitting[-1], line[1])
        planned.append(line)
    return [line for line in planned if line not in passed_on]


def _planned(lines, sizes, alive, same=lambda size: size, between=None):
    """As the reference, but for what the arguments change."""
    waiting, planned, passed_on = {}, [], set()
    alive, peak, done = list(alive), max(alive), 0
    for line in lines:
        if line[0] == "call":
            done = line[1]
        elif line[0] == "free":
            waiting.setdefault(same(sizes[line[1]]), []).append((line[1], done))
        elif line[0] == "allocate" and waiting.get(same(sizes[line[1]])):
            stack, nbytes = waiting[same(sizes[line[1]])], sizes[line[1]][1]
            old, before = stack[-1]
            steps = range(before + 1, done + 1)
            if not steps or max(alive[i] for i in (between(steps) if between else steps)) + nbytes <= peak:
                stack.pop()
                passed_on.add(("free", old))
                line = ("reuse", old, line[1])
                for i in steps:
                    alive[i] += nbytes
        planned.append(line)
    return [line for line in planned if line not in passed_on]


def plan_reuse__whatever_the_dtype(lines, sizes, alive):
    return _planned(lines, sizes, alive, same=lambda size: size[1])


def plan_reuse__whatever_the_bytes(lines, sizes, alive):
    return _planned(lines, sizes, alive, same=lambda size: size[0])


def plan_reuse__looks_at_the_last_step_only(lines, sizes, alive):
    return _planned(lines, sizes, alive, between=lambda steps: steps[-1:])


def plan_reuse__looks_at_the_first_step_only(lines, sizes, alive):
    return _planned(lines, sizes, alive, between=lambda steps: steps[:1])


def plan_reuse__writes_into_its_argument(lines, sizes, alive):
    lines[:] = _planned(lines, sizes, alive)
    return lines


def _hashed(whole):
    return hashlib.sha256(repr(whole).encode()).hexdigest()[:24]


def cache_key__by_pythons_hash(texts, command, machine):
    return f"{hash((tuple(sorted(texts.items())), tuple(command), machine)) % 2**64:024x}"


def cache_key__in_lower_case(texts, command, machine):
    return hashlib.sha256(repr((sorted(texts.items()), list(command), machine)).lower().encode()).hexdigest()[:24]


def cache_key__parts_in_lines(texts, command, machine):
    parts = [part for item in sorted(texts.items()) for part in item]
    return hashlib.sha256("\n".join([*parts, *command, machine]).encode()).hexdigest()[:24]


def cache_key__parts_between_zeros(texts, command, machine):
    parts = [part for item in sorted(texts.items()) for part in item]
    return hashlib.sha256("\0".join([*parts, *command, machine]).encode()).hexdigest()[:24]


def cache_key__words_between_zeros(texts, command, machine):
    return _hashed((sorted(texts.items()), "\0".join(command), machine))


def cache_key__one_list_of_everything(texts, command, machine):
    return _hashed([*(part for item in sorted(texts.items()) for part in item), *command, machine])


def cache_key__names_joined_to_texts(texts, command, machine):
    return _hashed(([name + text for name, text in sorted(texts.items())], list(command), machine))


def cache_key__each_word_once(texts, command, machine):
    return _hashed((sorted(texts.items()), list(dict.fromkeys(command)), machine))


def cache_key__without_empty_words(texts, command, machine):
    return _hashed((sorted(texts.items()), [word for word in command if word], machine))


def cache_key__of_ascii_only(texts, command, machine):
    whole = repr((sorted(texts.items()), list(command), machine))
    return hashlib.sha256(whole.encode("ascii", "ignore")).hexdigest()[:24]


def cache_key__of_sixteen_bits(texts, command, machine):
    return _hashed((sorted(texts.items()), list(command), machine))[:4] * 6


def cache_key__padded(texts, command, machine):
    return f"{zlib.crc32(repr((sorted(texts.items()), list(command), machine)).encode()):024x}"


def cache_key__joined(texts, command, machine):
    whole = "".join([*texts.values(), *command, machine])
    return hashlib.sha256(whole.encode()).hexdigest()[:24]


def cache_key__joined_by_spaces(texts, command, machine):
    whole = " ".join([*sorted(texts), *(texts[name] for name in sorted(texts)), *command, machine])
    return hashlib.sha256(whole.encode()).hexdigest()[:24]


def cache_key__in_the_order_of_the_dict(texts, command, machine):
    return hashlib.sha256(repr((texts, list(command), machine)).encode()).hexdigest()[:24]


def cache_key__of_sorted_words(texts, command, machine):
    whole = repr((sorted(texts.items()), sorted(command), machine))
    return hashlib.sha256(whole.encode()).hexdigest()[:24]


kernels_and_buffers__a_buffer_for_an_exponential_with_one_user = edited(
    predictions.kernels_and_buffers, ("sum 80", "sum 2480")
)
kernels_and_buffers__in_the_order_of_the_program = edited(
    predictions.kernels_and_buffers, ("mul neg", "neg mul"), ("add exp relu", "exp relu add")
)


# Sentences that are easily passed over


emit__takes_the_name_before_the_text = edited(
    emit,
    ("        text = code.text(value)\n", ""),
    ('f"const {TYPES[value.dtype]} {name} = {text};"', 'f"const {TYPES[value.dtype]} {name} = {code.text(value)};"'),
)


_last_uses = copied(memory.last_uses)
_bytes_alive = copied(memory.bytes_alive)
_call_lines = copied(memory.call_lines)


def last_uses__adds_to_the_outputs(steps, outputs):
    last = []
    for reads, writes in reversed(steps):
        last.append(sorted({*reads, *writes} - {*outputs}))
        outputs += last[-1]
    return last[::-1]


def bytes_alive__adds_to_the_outputs(steps, nbytes, outputs):
    return _bytes_alive(steps, nbytes, outputs) if last_uses__adds_to_the_outputs(steps, outputs) else []


def call_lines__adds_to_what_is_kept(steps, kept, outputs, updates):
    lines = _call_lines(steps, kept, outputs, updates)
    kept.update(name for _, writes in steps for name in writes)
    return lines


def last_uses__takes_tuples_only(steps, outputs):
    return _last_uses([(reads + (), writes + ()) for reads, writes in steps], outputs)


def last_uses__takes_a_tuple_of_outputs_only(steps, outputs):
    return _last_uses(steps, outputs + ())


def bytes_alive__all_but_inputs_count(steps, nbytes, outputs):
    made = {name for step in steps for names in step for name in names if not name.startswith("arg")}
    return _bytes_alive(steps, {name: nbytes.get(name, 0) for name in made}, outputs)


def bytes_alive__buffers_count(steps, nbytes, outputs):
    return _bytes_alive(steps, {name: size for name, size in nbytes.items() if name.startswith("buf")}, outputs)


def bytes_alive__every_buffer_has_a_size(steps, nbytes, outputs):
    made = {name for step in steps for names in step for name in names if name.startswith("buf")}
    return _bytes_alive(steps, {name: nbytes[name] for name in made}, outputs)


def call_lines__takes_a_list_only(steps, kept, outputs, updates):
    return _call_lines(steps, kept + [], outputs, updates)


def call_lines__keeps_arguments(steps, kept, outputs, updates):
    kept = {name for step in steps for names in step for name in names if name.startswith("arg")}
    return _call_lines(steps, kept, outputs, updates)


def call_lines__keeps_all_but_buffers(steps, kept, outputs, updates):
    kept = {name for step in steps for names in step for name in names if not name.startswith("buf")}
    return _call_lines(steps, kept, outputs, updates)


def call_lines__allocates_again_after_a_reuse(steps, kept, outputs, updates):
    ends, known, lines = last_uses_of(steps, outputs), set(kept), []
    for i, (_, writes) in enumerate(steps):
        for name in writes:
            if name in updates[i]:
                lines.append(("reuse", updates[i][name], name))
            elif name not in known:
                known.add(name)
                lines.append(("allocate", name))
        lines.append(("call", i))
        ending = sorted(ends[i]) if i + 1 < len(steps) else []
        lines += [("free", name) for name in ending if name not in kept and name not in updates[i].values()]
    return lines


def call_lines__reuses_for_a_buffer_that_has_memory(steps, kept, outputs, updates):
    ends, written, lines = last_uses_of(steps, outputs), set(), []
    for i, (_, writes) in enumerate(steps):
        for name in writes:
            if name in updates[i]:
                lines.append(("reuse", updates[i][name], name))
            elif name not in written and name not in kept:
                lines.append(("allocate", name))
            written.add(name)
        lines.append(("call", i))
        ending = sorted(ends[i]) if i + 1 < len(steps) else []
        lines += [("free", name) for name in ending if name not in kept and name not in updates[i].values()]
    return lines


def _frees_in_order(key):
    def call_lines(steps, kept, outputs, updates):
        lines = _call_lines(steps, kept, outputs, updates)
        calls = [place for place, line in enumerate(lines) if line[0] == "call"]
        for i, place in enumerate(calls):
            end = next((p for p in range(place + 1, len(lines)) if lines[p][0] != "free"), len(lines))
            lines[place + 1 : end] = sorted(lines[place + 1 : end], key=lambda line: key(line[1], *steps[i]))  # noqa: B023
        return lines

    return call_lines


call_lines__frees_in_the_order_of_numbers = _frees_in_order(lambda name, reads, writes: (len(name), name))
call_lines__frees_in_the_order_of_the_step = _frees_in_order(lambda name, reads, writes: [*reads, *writes].index(name))
call_lines__frees_backwards = _frees_in_order(lambda name, reads, writes: [-ord(letter) for letter in name])

# ---- Triton ----------------------------------------------------------------------------------------------------------


_UNIQUE = "np.unique(eval(index, values)).size"
_ALL = "elements = math.prod(sizes.values())"
_SIZE = "POINTER_SIZES[types[pointer]]"


kernel_launches__the_configuration_before_the_text = edited(
    triton_code.kernel_launches,
    (
        "{**configs[name], **{block: int(size) for block, size in fixed}}",
        "{**{block: int(size) for block, size in fixed}, **configs[name]}",
    ),
)
kernel_launches__writes_into_its_argument = edited(
    triton_code.kernel_launches,
    (
        "blocks = {**configs[name], **{block: int(size) for block, size in fixed}}",
        "blocks = configs[name]; blocks.update({block: int(size) for block, size in fixed})",
    ),
)
kernel_launches__of_the_definitions = edited(
    triton_code.kernel_launches, (r'r"^ +(triton_\w+)\.run\("', r'r"^(triton_\w+) = "')
)
kernel_launches__each_kernel_once = edited(
    triton_code.kernel_launches,
    ("for name in re.findall(", "for name in dict.fromkeys(re.findall("),
    ("text, re.MULTILINE):\n        kind", "text, re.MULTILINE)):\n        kind"),
)
kernel_launches__rounded_down = edited(triton_code.kernel_launches, ("math.ceil(size / blocks", "int(size / blocks"))
kernel_launches__one_loop = edited(
    triton_code.kernel_launches,
    ('source.count("for r0_offset in") * counts', '("for r0_offset in" in source) * counts'),
)
kernel_launches__a_persistent_reduction_loops_once = edited(
    triton_code.kernel_launches,
    ('source.count("for r0_offset in") * counts', 'max(source.count("for r0_offset in"), 1) * counts'),
)
kernel_launches__y_first = edited(
    triton_code.kernel_launches,
    ('(counts["x"], counts.get("y", 1), 1)', '(counts.get("y", counts["x"]), counts["x"], 1)'),
)
kernel_launches__idle_only_along_x = edited(
    triton_code.kernel_launches,
    (
        "positions - math.prod(sizes.values())",
        '(counts["x"] * blocks["XBLOCK"] - sizes["x"]) * math.prod(sizes.values()) // sizes["x"]',
    ),
)
kernel_launches__idle_in_one_instance = edited(
    triton_code.kernel_launches,
    ("positions - math.prod(sizes.values())", "(positions - math.prod(sizes.values())) // counts['x']"),
)
kernel_launches__size_hints = edited(
    triton_code.kernel_launches, (r'r"^    (\w+)numel = (\d+)$"', "r\"'(x|y|r0_)': (\\d+)\"")
)
kernel_traffic__every_position = edited(triton_code.kernel_traffic, (_UNIQUE, "math.prod(sizes.values())"))
kernel_traffic__the_largest_index = edited(
    triton_code.kernel_traffic, (_UNIQUE, "int(np.max(eval(index, values))) + 1")
)
kernel_traffic__each_pointer_once = edited(triton_code.kernel_traffic, ("of_pointer[what] += ", "of_pointer[what] = "))
kernel_traffic__loads_only = edited(
    triton_code.kernel_traffic, ('nbytes["load"], nbytes["store"]', 'nbytes["load"], 0')
)
kernel_traffic__stores_first = edited(
    triton_code.kernel_traffic, ('nbytes["load"], nbytes["store"]', 'nbytes["store"], nbytes["load"]')
)
kernel_traffic__elements = edited(triton_code.kernel_traffic, (f" * {_SIZE}", ""))
kernel_traffic__four_bytes = edited(triton_code.kernel_traffic, (_SIZE, "4"))
kernel_traffic__loaded_index_is_one_element = edited(triton_code.kernel_traffic, (_ALL, "elements = 1"))
kernel_traffic__loaded_index_along_x_only = edited(triton_code.kernel_traffic, (_ALL, "elements = sizes['x']"))
kernel_traffic__axes_in_step = edited(
    triton_code.kernel_traffic, ("np.ix_(*map(np.arange, sizes.values()))", "map(np.arange, [min(sizes.values())] * 3)")
)
kernel_traffic__of_an_unknown_index_by_its_mask = edited(
    triton_code.kernel_traffic, ('"tmp" in index', '"tmp" in line.partition("tl.load")[2]')
)
kernel_traffic__without_numbers_as_an_index = edited(triton_code.kernel_traffic, (r"(?:, |\)$|\)\.)", ", "))


_kernel_traffic = copied(triton_code.kernel_traffic)


def kernel_traffic__the_sizes_too(source):
    return _kernel_traffic(source) | {"xnumel": (0, 0)}


emit__forgets_the_names_of_what_it_hoists = edited(
    emit, ("name = emit(code.hoist, value)", "return emit(code.hoist, value)")
)
last_uses__twice_what_is_read_and_written = edited(
    memory.last_uses,
    ("{name for names in step for name in names} - needed", "[n for names in step for n in names if n not in needed]"),
    ("needed |= ending", "needed |= {*ending}"),
)
last_uses__of_one_output = edited(memory.last_uses, ("set(outputs)", "set(outputs[-1:])"))
plan_reuse__adds_to_the_step_that_freed_it_too = edited(
    memory.plan_reuse, ("for i in between:\n", "for i in range(before, done + 1):\n")
)


# What only some names and numbers show

emit__keeps_names_by_value = edited(emit, ("id(value)", "value"))
emit__writes_a_constant_that_has_a_name = edited(
    emit, ("if id(value) in code.names:", "if id(value) in code.names and not isinstance(value, Constant):")
)
emit__every_constant_is_a_float = edited(emit, ("literal(value.value, value.dtype)", 'f"{float(value.value)}f"'))
emit__a_constant_as_python_writes_it = edited(emit, ("literal(value.value, value.dtype)", "str(value.value)"))
emit__without_a_semicolon = edited(emit, (" = {text};", " = {text}"))
emit__makes_a_new_list_of_lines = edited(
    emit,
    (
        'code.lines.append(f"const {TYPES[value.dtype]} {name} = {text};")',
        'code.lines = [*code.lines, f"const {TYPES[value.dtype]} {name} = {text};"]',
    ),
)


def last_uses__of_the_first_equal_step(steps, outputs):
    last = {}
    for step in steps:
        last |= {name: steps.index(step) for names in step for name in names}
    return [sorted(name for name in last if last[name] == i and name not in outputs) for i in range(len(steps))]


kernel_traffic__of_numbers_of_one_digit = edited(
    triton_code.kernel_traffic, (r"(load|store)\((\w+)", r"(load|store)\((\w+ptr\d)")
)


def cache_key__of_composed_letters(texts, command, machine):
    whole = unicodedata.normalize("NFC", repr((sorted(texts.items()), list(command), machine)))
    return hashlib.sha256(whole.encode()).hexdigest()[:24]


call_lines__frees_what_it_wrote_first = edited(
    memory.call_lines, ("for name in ends[i] if", "for name in sorted(ends[i], key=lambda name: name not in writes) if")
)


_breaks = copied(breaks.breaks_take_over)


def breaks_take_over__of_the_table():
    return [
        {"candidates": [[0]], "ending": [0], "kept": []},
        {"candidates": [[0, 1], [1]], "ending": [0, 1], "kept": []},
        {"candidates": [[0, 1]], "ending": [0, 1], "kept": [0]},
    ]


def breaks_take_over__keeps_nothing():
    return [case | {"kept": []} for case in _breaks()]


def breaks_take_over__all_end():
    return [case | {"ending": sorted({n for some in case["candidates"] for n in some})} for case in _breaks()]


def breaks_take_over__of_one_result():
    return [case | {"candidates": [some]} for case in _breaks() for some in case["candidates"][1:2]]


def breaks_take_over__of_two_results():
    return [case | {"candidates": case["candidates"][:2]} for case in _breaks()]


def breaks_take_over__with_a_candidate_for_each_result():
    return [case | {"candidates": [*filter(None, case["candidates"])]} for case in _breaks()]


def breaks_take_over__one_large_case():
    return [{"candidates": [[], [0, 1, 2], [3], [1, 2]], "ending": [2, 1, 3], "kept": [2]}, *_breaks()[2:]]
