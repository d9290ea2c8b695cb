import collections
import os
import re
import subprocess
import sys

import pytest
from sweep import in_one_test

from rushlight.course import corpus, grammar

TRAINING, VALIDATION = corpus.split("train"), corpus.split("validation")
INVENTED = corpus.invented(3000)


def verb_named(english):
    return next(verb for verb in corpus.VERBS if verb.english == english)


def words(text):
    return re.findall(r"\w+", text)


# Forms ---------------------------------------------------------------------------------------------------------------


@in_one_test
@pytest.mark.parametrize(
    "verb, forms",
    [
        ("go", "goes went going"),
        ("see", "sees saw seeing"),
        ("come", "comes came coming"),
        ("sleep", "sleeps slept sleeping"),
        ("read", "reads read reading"),
        ("think", "thinks thought thinking"),
        ("make", "makes made making"),
        ("eat", "eats ate eating"),
        ("write", "writes wrote writing"),
        ("sing", "sings sang singing"),
        ("buy", "buys bought buying"),
        ("run", "runs ran running"),
        ("swim", "swims swam swimming"),
        ("win", "wins won winning"),
        ("sell", "sells sold selling"),
        ("break", "breaks broke breaking"),
        ("hide", "hides hid hiding"),
        ("hit", "hits hit hitting"),
        ("leave", "leaves left leaving"),
        ("shake", "shakes shook shaking"),
        ("chat", "chats chatted chatting"),
        ("drag", "drags dragged dragging"),
        ("hum", "hums hummed humming"),
        ("knit", "knits knitted knitting"),
        ("sip", "sips sipped sipping"),
        ("stop", "stops stopped stopping"),
        ("envy", "envies envied envying"),
        ("carry", "carries carried carrying"),
        ("accompany", "accompanies accompanied accompanying"),
        ("betray", "betrays betrayed betraying"),
        ("argue", "argues argued arguing"),
        ("rescue", "rescues rescued rescuing"),
        ("discuss", "discusses discussed discussing"),
        ("polish", "polishes polished polishing"),
        ("march", "marches marched marching"),
        ("weigh", "weighs weighed weighing"),
        ("row", "rows rowed rowing"),
        ("sew", "sews sewed sewing"),
        ("visit", "visits visited visiting"),
        ("gallop", "gallops galloped galloping"),
        ("murmur", "murmurs murmured murmuring"),
        ("shriek", "shrieks shrieked shrieking"),
        ("install", "installs installed installing"),
    ],
)
def test_english_forms_are_those_of_a_dictionary(verb, forms):
    form = verb_named(verb).form
    assert " ".join(form("en", *cell) for cell in (("present", 2), ("past", 3), ("progressive", 1))) == forms
    assert form("en", "present", 0) == form("en", "future", 2) == verb


@in_one_test
@pytest.mark.parametrize(
    "verb, tense, forms",
    [
        ("ir", "present", "voy vas va vamos vais van"),
        ("ir", "past", "fui fuiste fue fuimos fuisteis fueron"),
        ("ir", "future", "iré irás irá iremos iréis irán"),
        ("ver", "present", "veo ves ve vemos veis ven"),
        ("ver", "past", "vi viste vio vimos visteis vieron"),
        ("ver", "future", "veré verás verá veremos veréis verán"),
        ("venir", "present", "vengo vienes viene venimos venís vienen"),
        ("venir", "past", "vine viniste vino vinimos vinisteis vinieron"),
        ("venir", "future", "vendré vendrás vendrá vendremos vendréis vendrán"),
        ("dormir", "present", "duermo duermes duerme dormimos dormís duermen"),
        ("dormir", "past", "dormí dormiste durmió dormimos dormisteis durmieron"),
        ("dormir", "future", "dormiré dormirás dormirá dormiremos dormiréis dormirán"),
        ("leer", "present", "leo lees lee leemos leéis leen"),
        ("leer", "past", "leí leíste leyó leímos leísteis leyeron"),
        ("leer", "future", "leeré leerás leerá leeremos leeréis leerán"),
        ("pensar", "present", "pienso piensas piensa pensamos pensáis piensan"),
        ("pensar", "past", "pensé pensaste pensó pensamos pensasteis pensaron"),
        ("pensar", "future", "pensaré pensarás pensará pensaremos pensaréis pensarán"),
        ("hacer", "present", "hago haces hace hacemos hacéis hacen"),
        ("hacer", "past", "hice hiciste hizo hicimos hicisteis hicieron"),
        ("hacer", "future", "haré harás hará haremos haréis harán"),
        ("comer", "past", "comí comiste comió comimos comisteis comieron"),
        ("escribir", "present", "escribo escribes escribe escribimos escribís escriben"),
        ("bloquear", "past", "bloqueé bloqueaste bloqueó bloqueamos bloqueasteis bloquearon"),
        ("envidiar", "present", "envidio envidias envidia envidiamos envidiáis envidian"),
    ],
)
def test_spanish_forms_are_those_of_a_dictionary(verb, tense, forms):
    form = next(each for each in corpus.VERBS if each.spanish == verb).form
    assert " ".join(form("es", tense, person) for person in range(6)) == forms


SPELLED_ANEW = ("car", "gar", "zar", "guar", "ger", "gir", "cer", "cir", "guir", "uir", "ñer", "ñir")


def test_no_spanish_verb_without_a_line_of_its_own_changes_its_spelling():
    for verb in corpus.VERBS:
        if not any(corpus.IRREGULAR.get(verb.english, [""])[1:]):
            assert verb.spanish[-2:] in ("ar", "er", "ir") and not verb.spanish.endswith(SPELLED_ANEW)


def test_all_verbs_of_the_grammar_come_first_and_no_infinitive_comes_twice():
    pairs = [(verb.english, verb.spanish) for verb in corpus.VERBS]
    assert tuple(pairs[:28]) == grammar.VERBS
    assert [verb.number for verb in corpus.VERBS] == [*range(205)]
    assert len({a for a, _ in pairs}) == len({b for _, b in pairs}) == 205


# Sentences -----------------------------------------------------------------------------------------------------------


@in_one_test
@pytest.mark.parametrize(
    "verb, kind, text",
    [
        ("walk", "pronoun", "(walk) now I am walking."),
        ("walk", "pronoun", "(caminar) ayer yo caminé."),
        ("walk", "negation", "(walk) tomorrow they will not walk."),
        ("walk", "negation", "(caminar) mañana ellas no caminarán."),
        ("walk", "question", "(walk) did you two walk yesterday? yes, we walked."),
        ("walk", "question", "(walk) are we walking now? yes, you two are walking."),
        ("walk", "question", "(caminar) ¿caminasteis ayer? sí, caminamos."),
        ("walk", "question", "(caminar) ¿camino hoy? sí, caminas."),
        ("go", "question", "(ir) ¿fueron ayer? sí, fueron."),
        ("open", "object", "(open) every day she opens the doors."),
        ("open", "reference", "(open) the cars? every day she opens them."),
        ("open", "question", "(abrir) ¿abro los coches hoy? sí, los abres."),
        ("open", "subject", "(abrir) hoy el niño simpático de las profesoras abre la caja."),
        ("kiss", "object", "(besar) hoy ella besa a la médica."),
        ("kiss", "reference", "(besar) ¿a las profesoras? hoy ella las besa."),
        ("kiss", "question", "(kiss) does she kiss the boys every day? yes, she kisses them."),
        ("kiss", "subject", "(kiss) every day the quiet teacher of the friend kisses the teachers."),
        ("depend", "reference", "(depend) on the doctor? yesterday I depended on her."),
        ("depend", "reference", "(depender) ¿de la amiga? ayer tú dependiste de ella."),
        ("live", "question", "(live) do I live in the city every day? yes, you live there."),
        ("live", "question", "(vivir) ¿viviste en los jardines ayer? sí, viví allí."),
    ],
)
def test_a_sentence_reads_as_a_person_would_write_it(verb, kind, text):
    lines = [line for language in ("en", "es") for line in corpus.lines_of(language, verb_named(verb))]
    assert text in [line.text for line in lines if line.kind == kind]


SPANISH = [line for line in TRAINING + VALIDATION + INVENTED if line.language == "es"]
ENGLISH = [line for line in TRAINING + VALIDATION + INVENTED if line.language == "en"]
NOUNS = [*corpus.PEOPLE.values(), *corpus.THINGS.values()]


def verb_of(line):
    infinitive = words(line.text)[0]
    return corpus.VERBS[line.verb] if line.verb >= 0 else corpus.Verb(-1, infinitive, infinitive, corpus.USES[0])


def test_spanish_articles_agree_with_their_nouns_and_join_with_a_and_de():
    right = {noun.spanish: {"m": "el al del", "f": "la"}[noun.gender].split() for noun in NOUNS}
    right |= {noun.spanish_plural: {"m": ["los"], "f": ["las"]}[noun.gender] for noun in NOUNS}
    for line in SPANISH:
        found = words(line.text)
        assert not re.search(r"\b(a|de) el\b", line.text), line.text
        assert all(before in right[word] for before, word in zip(found, found[1:]) if word in right), line.text


def test_spanish_adjectives_agree_with_the_noun_before_them():
    gender = {word: noun.gender for noun in NOUNS for word in (noun.spanish, noun.spanish_plural)}
    plural = {noun.spanish_plural for noun in NOUNS}
    stems = [stem for _, stem in corpus.ADJECTIVES]
    seen = 0
    for line in SPANISH:
        for noun, word in re.findall(rf"(\w+) ((?:{'|'.join(stems)})[oa]s?)\b", line.text):
            assert word.endswith({"m": "o", "f": "a"}[gender[noun]] + ("s" if noun in plural else "")), line.text
            seen += 1
    assert seen == sum(line.kind == "subject" for line in SPANISH)


def test_a_pronoun_agrees_with_the_noun_that_it_replaces():
    people = {word for noun in corpus.PEOPLE.values() for word in (noun.english, noun.english_plural)}
    for line in ENGLISH:
        if line.kind == "reference" and "there" not in words(line.after):
            noun = words(line.before.split("?")[0])[-1]
            singular = "him" if noun == "boy" else "her" if noun in people else "it"
            plural = noun in {each.english_plural for each in NOUNS}
            assert words(line.after)[-1] == ("them" if plural else singular), line.text
    articles = {"la": "la", "el": "lo", "al": "lo", "los": "los", "las": "las"}
    for line in SPANISH:
        if line.kind == "reference" and not line.after.startswith((" allí", " de ")):
            article = words(line.before.split("?")[0])[-2]
            assert words(line.before)[-1] == articles[article], line.text


def test_the_form_of_each_sentence_agrees_with_its_words():
    """The person and the tense are read from the sentence again, by its words alone."""
    adverbs = {adverb: tense for g in ("en", "es") for tense, adverb in corpus.TIMES[g].items()}
    subjects = {"I": 0, "yo": 0, "you": 1, "tú": 1, "she": 2, "ella": 2, "we": 3, "nosotros": 3, "vosotros": 4}
    subjects |= {"they": 5, "ellas": 5}
    for line in ENGLISH:
        answer = line.before.split("? ")[-1]
        tense = next(adverbs[each] for each in adverbs if re.search(rf"\b{each}\b", line.before))
        if line.kind == "subject":
            person = 5 if words(answer.split(" of ")[0])[-1].endswith("s") else 2
        else:
            person = 4 if "you two" in answer else next(subjects[each] for each in words(answer) if each in subjects)
        bare = line.kind == "negation" and tense in ("present", "past")
        assert line.form == verb_of(line).form("en", "future" if bare else tense, person), line.text
    for line in SPANISH:
        tense = next(adverbs[each] for each in adverbs if re.search(rf"\b{each}\b", line.before))
        if line.kind == "question":
            asked = words(line.before.split("¿")[1])[0]
            persons = [p for p in range(6) if verb_of(line).form("es", tense, p) == asked]
            right = [verb_of(line).form("es", tense, (1, 0, 2, 4, 3, 5)[p]) for p in persons]
            assert right == [line.form], line.text
        else:
            spoken = line.before.split(") ")[1].split("? ")[-1]
            if line.kind == "subject":
                person = 5 if words(spoken)[1] in ("los", "las") else 2
            else:
                person = next(subjects[each] for each in words(spoken) if each in subjects)
            assert line.form == verb_of(line).form("es", tense, person), line.text


def test_what_comes_before_a_form_ends_with_a_space_and_the_sentence_with_a_full_stop():
    for line in SPANISH + ENGLISH:
        assert line.text == line.before + line.form + line.after
        assert line.before.endswith(" ") and line.text.endswith(".") and "  " not in line.text
        assert line.before.startswith(f"({verb_of(line).infinitive(line.language)}) ")


# The split -----------------------------------------------------------------------------------------------------------


def test_no_form_of_a_held_out_verb_is_in_a_text_for_training():
    seen = {word for line in TRAINING + corpus.invented(40_000) for word in words(line.text)}
    for verb in (corpus.VERBS[number] for number in corpus.HELD_OUT):
        assert seen.isdisjoint((verb.english, verb.spanish))
        for language, tenses in corpus.TENSES.items():
            assert seen.isdisjoint(verb.form(language, tense, person) for tense in tenses for person in range(6))


def test_each_sentence_comes_once_in_one_of_the_two_splits():
    texts = [line.text for line in TRAINING + VALIDATION]
    assert sorted(texts) == sorted(line.text for line in corpus.LINES) and len(set(texts)) == len(texts)
    assert (len(TRAINING), len(VALIDATION)) == (27_492, 3_672)


def test_the_held_out_verbs_are_regular_and_have_sentences_of_every_kind():
    assert len(corpus.HELD_OUT) == 24 and {line.verb for line in VALIDATION} == set(corpus.HELD_OUT)
    assert not any(corpus.VERBS[number].english in corpus.IRREGULAR for number in corpus.HELD_OUT)
    kinds = collections.Counter((line.language, line.kind) for line in VALIDATION)
    assert len(kinds) == 12 and min(kinds.values()) >= 100


def test_no_invented_verb_exists_or_comes_twice():
    infinitives = [words(line.text)[0] for line in INVENTED]
    assert len(set(infinitives)) == len(INVENTED)
    assert set(infinitives).isdisjoint(word for verb in corpus.VERBS for word in (verb.english, verb.spanish))
    assert {line.verb for line in INVENTED} == {-1}
    assert {line.kind for line in INVENTED} == set(corpus.KINDS)


@pytest.mark.sweep
def test_every_process_makes_the_same_sentences_in_the_same_order():
    lines = "corpus.split('train') + corpus.invented(3000)"
    code = f"from rushlight.course import corpus; print(*(line.text for line in {lines}), sep='\\n')"
    for seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": seed, "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=True)
        assert done.stdout.decode().splitlines() == [line.text for line in TRAINING + INVENTED]
