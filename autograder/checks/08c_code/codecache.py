"""The check of lab 08 of the key under which a build is cached."""

from ...engine.check import program
from ..cases import drawn, several

BUILT = {"texts": {"graph.cpp": "int f();", "a.h": "#"}, "command": ["g++", "-O3", "-fopenmp"], "machine": "x86_64"}
REBUILT = [
    BUILT | {"texts": {"a.h": "#", "graph.cpp": "int f();"}}, BUILT | {"texts": {"graph.cpp": "int f(); ", "a.h": "#"}},
    BUILT | {"texts": {"graph.cpp": "int f();", "b.h": "#"}}, BUILT | {"texts": {"graph.cpp": "#", "a.h": "int f();"}},
    BUILT | {"texts": {"graph.cpp": "int f();"}}, BUILT | {"command": ["g++", "-O3-fopenmp"]},
    BUILT | {"command": ["g++", "-O3 -fopenmp"]}, BUILT | {"command": ["g++", "-fopenmp", "-O3"]},
    BUILT | {"command": ["clang++", "-O3", "-fopenmp"]}, BUILT | {"machine": "aarch64"},
    BUILT | {"command": ["g++", "-O3"], "machine": "-fopenmpx86_64"},
    BUILT | {"command": ["g++", "-O3", "-fopenmp", "-fopenmp"]}, BUILT | {"command": ["g++", "-O3", "-O3", "-fopenmp"]},
    BUILT | {"command": ["g++", "-o3", "-fopenmp"]}, BUILT | {"command": []}, BUILT | {"command": [""]},
    BUILT | {"command": ["", ""]}, BUILT | {"machine": "X86_64"}, BUILT | {"machine": ""}, BUILT | {"texts": {}},
    BUILT | {"texts": {"": ""}}, BUILT | {"texts": {"graph.cpp": "int F();", "a.h": "#"}},
    BUILT | {"texts": {"graph.cpp": "int f();", "A.h": "#"}}, BUILT | {"texts": {"graph.cpp": "int f();", "a.": "h#"}},
    BUILT | {"texts": {"graph.cpp": "int f();", "a.h#": ""}},
    *(BUILT | {"texts": {"a.h": letter}} for letter in ("", "é", "e\u0301", "ü", "е", "e", "日")),
    *(BUILT | {"texts": {letter + "a.h": "#"}} for letter in "éüе"),
    *(BUILT | {"command": [letter]} for letter in "éüе"), *(BUILT | {"machine": letter} for letter in "éüе"),
]  # fmt: skip
for _mark in ("\0", "\n", " ", ",", "\x1f", ", ", "', '", "|", ":", ";", "/"):  # separators that a key might use
    REBUILT += [
        BUILT | {"command": ["g++", "-O3" + _mark + "-fopenmp"]},
        BUILT | {"command": ["g++", "-O3"], "machine": "-fopenmp" + _mark + "x86_64"},
        BUILT | {"texts": {"graph.cpp": "int f();" + _mark}},
        BUILT | {"texts": {"a.h": _mark.join(["#", "graph.cpp", "int f();"])}},
    ]
_PARTS = [["a.h", "#", "graph.cpp", "int f();"], ["graph.cpp", "int f();", "a.h", "#"]]
_PARTS += [["a.h", "graph.cpp", "#", "int f();"], ["#", "int f();"], ["#", "int f();", "a.h", "graph.cpp"]]
_PARTS += [["int f();", "#"]]
REBUILT += [BUILT | {"texts": {}, "command": [*words, *BUILT["command"]]} for words in _PARTS]  # texts that are words


def builds(st):

    text = st.text("ab\n ", max_size=2)
    texts = st.dictionaries(st.sampled_from(["a", "b", "ab", "graph.cpp"]), text, max_size=2)
    build = drawn(texts=texts, command=several(["g++", "-O", "3", "-O3", "", " ", "é"], 0, 3), machine=text)
    return drawn(builds=several(build, 2, 6), versions=[0])(st)


class Word(str):
    """A str whose `hash` also depends on a number, just as the hash of any str depends on the process."""

    def __new__(cls, text, number):
        self = str.__new__(cls, text)
        self.number = number
        return self

    def __hash__(self):
        return hash((self.number, str(self)))


def versions_of(builds, versions):
    """These builds, and the first of them with as many other texts."""
    return [*builds, *(builds[0] | {"texts": {"graph.cpp": f"int f{number}();"}} for number in range(versions))]


def _about_keys(case, mine, theirs):
    """The first build with a wrong key."""
    mine, theirs = (dict(side["dict"])["the first that is equal"] for side in (mine, theirs))
    for number, (first, equal) in enumerate(zip(mine, theirs)):
        if first != equal:
            if equal == number:
                return f"builds {first} and {number} have one key, and differ"
            return f"builds {equal} and {number} are the same and must have one key (is it the same in every process?)"
    return None


@program(
    "inductor.codecache.cache_key",
    cases=builds,
    edges=[{"builds": [BUILT, BUILT, *REBUILT], "versions": 0}, {"builds": [BUILT], "versions": 1500}],
    hint=_about_keys,
)
def cache_key(xp, builds, versions):
    keys = []
    for number, build in enumerate(versions_of(builds, versions)):
        texts = {name: Word(text, number) for name, text in build["texts"].items()}
        command = [Word(word, number) for word in build["command"]]
        command = tuple(command) if number % 2 else command
        keys.append(xp.inductor.codecache.cache_key(texts, command, Word(build["machine"], number)))
    right = all(isinstance(key, str) and len(key) == 24 and set(key) <= set("0123456789abcdef") for key in keys)
    all_used = versions == 0 or all(len({*digits}) == 16 for digits in zip(*keys))  # a good hash uses every digit
    return {"24 hexadecimal digits": right and all_used, "the first that is equal": [*map(keys.index, keys)]}


@cache_key.oracle
def _(xp, builds, versions):
    from torch._inductor.codecache import code_hash

    keys = []
    for build in versions_of(builds, versions):  # Inductor hashes one text, and an extra one for the command
        extra = repr([build["command"], build["machine"]])
        keys.append(code_hash(repr(sorted(build["texts"].items())), extra))
    return {"24 hexadecimal digits": True, "the first that is equal": [*map(keys.index, keys)]}
