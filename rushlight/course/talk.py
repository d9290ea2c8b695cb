"""A conversation with the trained MiniGPT: each step as plain data, with the lines of code that computed it.

A page of the site shows these steps (`docs/talk.md`). All numbers are from the framework's own functions, and a student's piece
takes part where it is plugged in. One token is one call of `sampling.generate`, with the cache of the call before. The fused kernel
of attention never has all weights in memory. So `attention.attention_weights` computes them again, from the query that the block
computed and the keys that the cache has. The lines are those that ran: `sys.settrace` sees them.
"""

import difflib
import inspect
import re
import sys
import time
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from itertools import groupby, pairwise, product
from types import CodeType, FrameType, FunctionType, SimpleNamespace
from typing import Any, NamedTuple

import rushlight as rl
from rushlight.course import attention, corpus, gpt, grammar, sampling, trained
from rushlight.course.grammar import BE, PRONOUNS, TENSES, TIMES, WORDS
from rushlight.course.tokens import Tokenizer

MOST = 10  # of the next token's candidates


@cache
def loaded() -> tuple[Any, Tokenizer]:
    """The trained model on rushlight, and its tokenizer."""
    return trained.trained(rl), trained.tokenizer()


class Conversation:
    """A text, which the model continues by one token in each `step`.

    >>> talk = Conversation("(climb) every day she")
    >>> "".join(talk.step()["token"]["text"] for _ in range(6))
    ' climbs.'

    Attributes:
        tokens: those that the model has read or will read next. The first one is the tokenizer's `end`, as in training.
        ended: "" as long as there can be a next step. Then "end", because the model ended the text, or "full", because the model
            has no further position.

    Raises:
        ValueError: the model has too few positions for the text.
    """

    def __init__(self, text: str, temperature: float = 0.0, seed: int = 0):
        self.model, self.tokenizer = loaded()
        self.temperature, self.generator = temperature, rl.Generator().manual_seed(seed)
        self.ended = ""
        self.lines: dict[str, dict] = {}
        with self._noting({"tokens": Tokenizer.encode}):
            self.tokens = [self.tokenizer.end, *self.tokenizer.encode(text)]
        whole = "".join(self.tokenizer.decode([token]) for token in self.tokens)
        self.unknown = [each for each in dict.fromkeys(text) if each not in whole]
        self.cache = sampling.new_cache(self.model)
        self.new, self.positions = len(self.tokens), self.cache[0].keys.shape[2]  # new: not in the cache yet
        if self.new > self.positions:
            most = f"the model has {self.positions} positions"
            raise ValueError(f"This text has {self.new} tokens, and {most}. Shorten the text.")

    def begin(self) -> dict[str, Any]:
        """Return the tokens of the text, and the characters that no token has whole: the model reads their bytes."""
        return {"tokens": [*map(self._token, self.tokens)], "unknown": self.unknown, "lines": self.lines}

    def step(self) -> dict[str, Any]:
        """Let the model choose the next token. Returns what it computed for this, as a dict with the keys

        - `token`: the new token, with `id` and `text`;
        - `top`: the most probable next tokens, each with `id`, `text`, `logit` and `probability`, at this temperature;
        - `weights`: by layer and head, how much attention the last position gave to each position;
        - `cache`: its sizes, the positions that are in use, and how many of them are new. Bytes are those of all layers;
        - `lines`: by what they compute, the lines of code that ran, each with `module`, `function`, `number`, `text`;
        - `ended`, and the `seconds` that the step took.
        """
        begun = time.perf_counter()
        projected: list[Any] = []  # by layer, queries, keys and values of the new tokens
        choices: list[Any] = []
        handles = [
            block.attention.register_forward_hook(lambda module, args, x: projected.append(x))
            for block in self.model.blocks
        ]
        watched = {
            "logits": type(self.model).forward,
            "choice": sampling.choose,
            "cache": sampling.append,
            "attention": attention.attention_weights,
        }

        def choose_next(scores: Any) -> int:
            choices.append(scores)
            return sampling.choose(scores, self.temperature, generator=self.generator)

        try:
            with self._noting(watched), rl.no_grad():
                new = self.tokens[-self.new :]
                [chosen] = sampling.generate(rl, _Continued(self.model, self.cache), new, 1, choose_next)
                weights = [*map(self._weights, projected, self.cache)]
        finally:
            for handle in handles:
                handle.remove()
        known = len(self.tokens)
        described = self._cache(known)
        self.tokens.append(chosen)
        self.new = 1
        self.ended = "end" if chosen == self.tokenizer.end else "full" if known == self.positions else ""
        return {
            "token": self._token(chosen),
            "top": self._top(choices[0]),
            "weights": weights,
            "cache": described,
            "lines": self.lines,
            "ended": self.ended,
            "seconds": round(time.perf_counter() - begun, 4),
        }

    def _token(self, token: int) -> dict[str, Any]:
        """A token's number and its text, or its bytes if they are not whole characters."""
        text = self.tokenizer.decode([token])
        return {"id": token, "text": self.tokenizer.bytes[token].hex(" ") if "\ufffd" in text else text}

    def _top(self, scores: Any) -> list[dict[str, Any]]:
        probabilities = (scores / (self.temperature or 1.0)).softmax(0)
        best = scores.topk(MOST)
        return [
            self._token(token) | {"logit": round(logit, 3), "probability": round(probabilities[token].item(), 5)}
            for logit, token in zip(best.values.tolist(), best.indices.tolist())
        ]

    def _weights(self, projected: Any, known: sampling.KeyValues) -> list[list[float]]:
        """By head, the weights of the last position for all positions."""
        query, _, _ = gpt.split_heads(projected, known.keys.shape[1])
        weights = attention.attention_weights(query[:, :, -1:], known.keys[:, :, : known.length])
        return [[round(weight, 4) for weight in row] for row in weights[0, :, 0].tolist()]

    def _cache(self, length: int) -> dict[str, int]:
        _, heads, positions, width = self.cache[0].keys.shape
        memory = [tensor for each in self.cache for tensor in (each.keys, each.values)]
        return {
            "layers": len(self.cache),
            "heads": heads,
            "width": width,
            "positions": positions,
            "length": length,
            "appended": self.new,
            "bytes": sum(tensor[:, :, :length].nbytes for tensor in memory),
            "allocated": sum(tensor.nbytes for tensor in memory),
        }

    def _written(self) -> int:
        """How often the cache was written to."""
        return sum(each.keys._version + each.values._version for each in self.cache)

    @contextmanager
    def _noting(self, watched: dict[str, Callable]) -> Iterator[None]:
        """Within: write down the last line that runs in each of these functions, or the last one that writes to the cache."""
        # Of a student's piece that is plugged in, the piece itself.
        functions = {name: inspect.unwrap(function) for name, function in watched.items()}
        names = {function.__code__: name for name, function in functions.items()}
        ran: dict[str, int] = {}

        def enter(frame: FrameType, event: str, _: Any) -> Callable | None:
            return _follow(frame.f_code, ran, names, self._written) if frame.f_code in names else None

        before = sys.gettrace()
        sys.settrace(enter)
        try:
            yield
        finally:
            sys.settrace(before)
            self.lines |= {name: _line(functions[name], number) for name, number in ran.items()}


class _Continued:
    """A model with the cache of an earlier call, which `new_cache` returns again."""

    def __init__(self, model: Any, cache: list[sampling.KeyValues]):
        self.model = model
        self.blocks = [SimpleNamespace(new_cache=lambda batch, known=known: known) for known in cache]

    def __call__(self, tokens: Any, cache: list[sampling.KeyValues]) -> Any:
        return self.model(tokens, cache)


def _follow(code: CodeType, ran: dict[str, int], names: dict[CodeType, str], written: Callable[[], int]) -> Callable:
    """A trace function for one call."""
    name, last, count = names[code], 0, written() if names[code] == "cache" else 0

    def follow(frame: FrameType, event: str, _: Any) -> Callable:
        nonlocal last, count
        if name != "cache":
            ran[name] = frame.f_lineno
        elif (now := written()) != count:
            ran[name], count = last, now
        last = frame.f_lineno
        return follow

    return follow


def _line(function: FunctionType, number: int) -> dict[str, Any]:
    try:
        source, first = inspect.getsourcelines(function)
    except OSError:
        source, first = [], 0
    text = source[number - first].strip() if 0 <= number - first < len(source) else ""
    name = function.__qualname__.removeprefix("gpt.<locals>.")
    return {"module": function.__module__, "function": name, "number": number, "text": text}


# A text as the model knows it ----------------------------------------------------------------------------------------

_ALSO = {"he": 2, "it": 2, "él": 2, "usted": 2, "nosotras": 3, "vosotras": 4, "ellos": 5, "ustedes": 5}
_HELPERS = {"will": "future", "do": "present", "does": "present"} | dict.fromkeys(("did", "was", "were"), "past")
_HELPERS |= dict.fromkeys(BE, "progressive")
_BE_ES = "soy eres es somos sois son estoy estás está estamos estáis están"
_FORMS_OF_BE = {*BE, "was", "were", *_BE_ES.split()}
_AND = {"en": "and", "es": "y"}
_NOT = {"en": "not", "es": "no"}
_SHORT = {
    "won't": "will not",
    "can't": "can not",
    "n't": " not",
    "'ll": " will",
    "'m": " am",
    "'re": " are",
    "'ve": " have",
    "manana": "mañana",
}
_GOING = {"en": r"\b(?:am|is|s|are) (?:not )?going to (\w+)", "es": r"\bv(?:oy|as|a|amos|ais|an) a (\w+)"}
_SMALL = {  # of the corpus
    "en": "the of to in with on for about at from not yes do does there him her it them",
    "es": "el la los las lo de a al del en con no sí allí",
}
_COMMON = {  # of other texts, and no verbs
    "en": "a an and or but my your his our their this that hello hi hey good morning thanks bye",
    "es": "un una y o e u pero mi tu su me te se nos os le les qué que muy hola buenos buenas días gracias adiós",
}
_INFLECTED = {"en": r"(ed|ing|[^s]s)$", "es": r"([aei]r|[aeóé]|[aei]n|mos)$"}


class Reading(NamedTuple):
    """What the model reads of a text, and in what this is not the text.

    Attributes:
        beginning: of a sentence that the model knows: a verb in parentheses, when, and who. "" if the text has no such verb.
        left_out: the words of the text that have no part in it.
        person: a person of the text, and the one that is read, which has the same forms.
        assumed: the words for when and who that the text does not say.
        reduced: a form of which the verb alone is read, because the text says another tense or person.
    """

    beginning: str = ""
    left_out: tuple[str, ...] = ()
    person: tuple[str, ...] = ()
    assumed: tuple[str, ...] = ()
    reduced: str = ""


def read(text: str) -> Reading:
    """Return a text as the beginning of a sentence that the model knows.

    It is the text itself if all its words are of such sentences, but in small letters and with a person that the model knows.
    Otherwise the verb, its tense, its person and a "not" are looked for. A Spanish form says its person itself. A verb that the
    model has not read has to be an infinitive, after who or `will`, or in Spanish with -ar, -er or -ir.

    >>> read("She walked to the city")
    Reading(beginning='(walk) yesterday she', left_out=('to the city',), person=(), assumed=(), reduced='')
    >>> read("mañana nosotros comer").beginning
    '(comer) mañana nosotros'
    """
    words = _words(text)
    if re.fullmatch(r"\((\w+)\) (.+)", text):
        return Reading() if mixed(text) or _new(text) else _with_known_person(text, words)
    for language in sorted(PRONOUNS, key=lambda code: -_spoken(code, text)):
        if (found := _sentence(language, words)).beginning:
            return found._replace(left_out=_as_written(found.left_out, text), person=_as_written(found.person, text))
    return Reading()


def mixed(text: str) -> bool:
    """Whether a text such as "(walk) ayer ella" has its verb in one language, and the person or the time in another."""
    words = _words(text)
    if not text.startswith("(") or not words:
        return False
    own = {code for code in PRONOUNS if words[0] in {verb for verb, *_ in _forms(code).values()}} or {*PRONOUNS}
    spoken = [{code for code in PRONOUNS if word in _markers(code)} for word in words[1:]]
    return not own.intersection(*filter(None, spoken))


def right_form(beginning: str) -> str:
    """Return the form that comes next in a sentence that begins so, if its verb is one of the corpus. Otherwise "".

    >>> right_form("(go) yesterday they")
    'went'
    """
    infinitive = beginning[1:].partition(")")[0]
    for language in PRONOUNS:
        for verb in (verb for verb in corpus.VERBS if verb.infinitive(language) == infinitive):
            for tense, person, negated in product(TENSES[language], range(6), (False, True)):
                if _beginning(language, infinitive, tense, person, negated) == beginning:
                    base = negated and language == "en" and tense != "progressive"  # "she did not walk"
                    return infinitive if base else verb.form(language, tense, person)
    return ""


def _beginning(language: str, verb: str, tense: str, person: int, negated: bool = False) -> str:
    helped = language == "en" and (negated or tense in ("future", "progressive"))
    auxiliary = f" {corpus.auxiliary(tense, person)}" if helped else ""
    negation = f" {_NOT[language]}" if negated else ""
    return f"({verb}) {TIMES[language][tense]} {PRONOUNS[language][person]}{auxiliary}{negation}"


def unknown(text: str) -> dict[str, str]:
    """Return why a text has no beginning: the `word` that the model does not know, and the `nearest` verb that it knows.

    The word is the one where the verb should be, or else the first one. Where a form of "be" is the verb, it is that form. Both are
    empty if it is no word that is at fault. Of a form that makes an irregular verb regular, that verb is the nearest.

    >>> unknown("she wlaked home")
    {'word': 'wlaked', 'nearest': 'walked'}
    >>> unknown("I goed home")
    {'word': 'goed', 'nearest': 'go'}
    """
    common = {word for texts in _COMMON.values() for word in texts.split()}
    new = [word for word in _new(text) if word not in common]
    words = [word for word in _words(text) if word not in _NOT.values()]
    most = max(_spoken(code, text) for code in PRONOUNS)
    languages = [code for code in PRONOUNS if _spoken(code, text) == most]
    be = [word for word, after in pairwise([*words, ""]) if word in _FORMS_OF_BE and not after.endswith("ing")]
    verbal = [word for before, word in pairwise(words) if word in new and before in _subjects() - _FORMS_OF_BE]
    inflected = [word for word in new if any(re.search(_INFLECTED[code], word) for code in languages)]
    word = next(iter([*be, *verbal, *inflected, *new]), "")
    if word in _FORMS_OF_BE:
        return {"word": word, "nearest": ""}
    forms = sorted({form for code in languages for form in _forms(code)}, key=lambda form: (not form.isascii(), form))
    plain = {_without_accents(form): form for form in forms}  # "caminó" and not "camino", which is known
    [nearest] = difflib.get_close_matches(_without_accents(word), plain, 1, cutoff=0.75) or [""]
    made = next((_made_regular(code)[word] for code in languages if word in _made_regular(code)), "")
    return {"word": word, "nearest": made or plain.get(nearest, "")}


def _spoken(language: str, text: str) -> int:
    """How much of a text is of a language."""
    known = _markers(language).union(_SMALL[language].split(), _COMMON[language].split())
    letters = "[¿¡ñáéíóú]" if language == "es" else r"'"
    return sum(word in known for word in _words(text)) + len(re.findall(letters, text.lower()))


def _without_accents(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))


def _as_written(parts: tuple[str, ...], text: str) -> tuple[str, ...]:
    """These parts of a text, with its capital letters."""
    words = [r"\b" + r"\W+".join(map(re.escape, part.split())) + r"\b" for part in parts]
    found = [re.search(pattern, text, re.IGNORECASE) for pattern in words]
    return tuple(match[0] if match else part for match, part in zip(found, parts))


def _words(text: str) -> list[str]:
    """The words of a text, those of "won't" and "I'll" in full."""
    text = text.lower().replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")
    for short, full in _SHORT.items():
        text = text.replace(short, full)
    return re.findall(r"\w+", text)


def _new(text: str) -> list[str]:
    """The words of a text that are in no sentence of the corpus. A verb in parentheses is one, and beside it no other verb is."""
    words = _words(text)
    if text.startswith("(") and words:
        stem = words[0][: max(2, len(words[0]) - 2)]
        return [word for word in words[1:] if word not in _vocabulary() and not word.startswith(stem)]
    return [
        word for word in words if word not in _vocabulary() and word not in _forms("en") and word not in _forms("es")
    ]


@cache
def _subjects() -> set[str]:
    """The words before a verb."""
    return _persons() | {*_ALSO} | {*_HELPERS}


def _with_known_person(text: str, words: list[str]) -> Reading:
    """The text in small letters, with a person of the corpus, such as "she" for "he". An "it" beside a person is an object, and
    stays."""
    text = re.sub(r"\bi\b", "I", " ".join(text.lower().split()))
    also = [word for word in words if word in _ALSO]
    if not also or any(word in _persons() for word in words):
        return Reading(text)
    known = {word: PRONOUNS["en" if word in _markers("en") else "es"][_ALSO[word]] for word in also}
    changed = re.sub(rf"\b({'|'.join(also)})\b", lambda match: known[match[0].lower()], text, flags=re.IGNORECASE)
    return Reading(changed, person=(also[0], known[also[0]]))


def _sentence(language: str, words: list[str]) -> Reading:
    line = f" {' '.join(words)} "
    own = {name.lower(): person for person, name in enumerate(PRONOUNS[language])}
    persons = own | {name: person for name, person in _ALSO.items() if name in _markers(language)}
    named = [name for name in persons if f" {name} " in line]
    person = min(
        named, key=lambda name: (name == "it", line.index(f" {name} "), -len(name)), default=""
    )  # "it" is an object beside another
    together = re.search(rf" ({'|'.join(persons)}) {_AND[language]} ({'|'.join(persons)}) ", line)
    if together:
        person = together[0].strip()
        several = {persons[name] % 3 for name in together.groups()}  # "you and I" are "we"
        persons[person] = 3 + min(several)
    time = next((tense for tense, time in TIMES[language].items() if f" {time} " in line), "")
    helper = next((word for word in words if word in _HELPERS), "") if language == "en" else ""
    helped = _HELPERS.get(helper, "")
    forms = _forms(language)
    form = next((word for word in words if word in forms), "")
    verb, tense, spoken = forms.get(form, ("", "", ()))
    if helped == "progressive" != tense:
        helper = helped = ""  # "I think, therefore I am"
    going = re.search(_GOING[language], line)
    if going and forms.get(going[1], ("", "past"))[1] == "":  # an infinitive
        form, verb, tense, helper, helped = going[0], going[1], "future", "", ""
    if not verb and (time or helped not in ("", "progressive")):
        pairs = pairwise(["", *(word for word in words if word != _NOT[language])])
        form = verb = next(filter(partial(_is_infinitive, language), pairs), ("", ""))[1]  # one that does not exist
    if not verb:
        return Reading()
    read = time or helped or tense or "present"
    who = persons.get(person, 2)
    alone = named in (["yo"], ["tú"]) and " y " not in line  # these are no objects
    if language == "es" and spoken and who not in spoken and not alone:
        who, person = spoken[0], ""
    negated = _NOT[language] in words
    parts = [form, person, TIMES[language][time] if time else "", helper if helped == read else "", _NOT[language]]
    parts.append("s" if "s ".join(("", form)) in line and read == "progressive" else "")  # "she's walking"
    pronoun, implied = PRONOUNS[language][who], not (person or language == "es" and spoken)
    untold = not (time or helped or tense) and (implied or language == "es")
    return Reading(
        _beginning(language, verb, read, who, negated),
        _rest(words, parts),
        (person, pronoun) if together and person or person in _ALSO else (),
        (*[TIMES[language][read]] * untold, *[pronoun] * implied),
        form if spoken and not (tense == read and who in spoken) else "",
    )


def _rest(words: list[str], parts: list[str]) -> tuple[str, ...]:
    """The words without the first of each of these parts, those that follow one another together."""
    left = [*words]
    for part in filter(None, map(str.split, parts)):
        for start in range(len(words)):
            if left[start : start + len(part)] == part:
                left[start : start + len(part)] = [""] * len(part)
                break
    return tuple(" ".join(run) for some, run in groupby(left, bool) if some)


@cache
def _made_regular(language: str) -> dict[str, str]:
    """The verbs of the corpus, by the forms that the rule makes of them."""
    rule = grammar.english if language == "en" else grammar.spanish
    verbs = [verb.infinitive(language) for verb in corpus.VERBS]
    return {rule(verb, tense, person): verb for verb in verbs for tense in TENSES[language] for person in range(6)}


def _is_infinitive(language: str, pair: tuple[str, str]) -> bool:
    """Whether the second of two words can be an infinitive that the model has not read."""
    before, word = pair
    if word in _vocabulary() or any(word in _forms(other) for other in PRONOUNS if other != language):
        return False
    if language == "en":
        return before in _subjects() - _FORMS_OF_BE and not re.search(_INFLECTED[language], word)
    return word.endswith(("ar", "er", "ir"))


@cache
def _persons() -> set[str]:
    return {word for names in PRONOUNS.values() for name in names for word in name.lower().split()}


@cache
def _markers(language: str) -> set[str]:
    """The words that say who and when, in a language."""
    also = [name for name in _ALSO if (name in ("he", "it")) == (language == "en")]
    helpers = _HELPERS if language == "en" else ()
    return {
        word
        for text in (*PRONOUNS[language], *TIMES[language].values(), *also, *helpers)
        for word in text.lower().split()
    }


@cache
def _vocabulary() -> set[str]:
    """The words of the corpus besides its verbs."""
    nouns = [word for kind in ("people", "things") for row in WORDS[kind] for word in row[:4]]
    adjectives = [f"{stem}{end}" for _, stem in corpus.ADJECTIVES for end in ("o", "a", "os", "as")]
    names = [english for english, _ in corpus.ADJECTIVES]
    return {*nouns, *adjectives, *names, *" ".join(_SMALL.values()).split(), *_markers("en"), *_markers("es")}


@cache
def _forms(language: str) -> dict[str, tuple[str, str, tuple[int, ...]]]:
    """For a form of a verb of the corpus, the verb, the tense and the persons. Of equal forms, the infinitive and the present
    win."""
    forms: dict[str, tuple[str, str, tuple[int, ...]]] = {}
    for verb in corpus.VERBS:
        forms[verb.infinitive(language)] = verb.infinitive(language), "", ()
    for verb in corpus.VERBS:
        for tense in TENSES[language]:
            conjugated = [verb.form(language, tense, person) for person in range(6)]
            for form in conjugated:
                persons = tuple(person for person in range(6) if conjugated[person] == form)
                forms.setdefault(form, (verb.infinitive(language), tense, persons))
    return forms
