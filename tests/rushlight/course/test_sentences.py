"""A text in a reader's own words is read as a sentence that the model knows, and each difference is said."""

import pytest
from sweep import in_one_test

from rushlight.course import trained
from rushlight.course.sentences import Reading, read, right_form


@in_one_test
@pytest.mark.parametrize(
    ("text", "begins"),
    [
        ("She walked to the city", "(walk) yesterday she"),
        ("he will open the doors", "(open) tomorrow she will"),
        ("they are cooking", "(cook) now they are"),
        ("The teacher opened the door", "(open) yesterday she"),
        ("yesterday she wug", ""),
        ("mañana nosotros comer", "(comer) mañana nosotros"),
        ("ayer yo abrí la puerta", "(abrir) ayer yo"),
        ("What is torch?", ""),
        ("hello how are you", ""),
        ("I opened it yesterday", "(open) yesterday I"),
        ("We won’t walk", "(walk) tomorrow we will not"),
        ("I did not walk", "(walk) yesterday I did not"),
        ("she isn't walking", "(walk) now she is not"),
        ("he doesn't skateboard", "(skateboard) every day she does not"),
        ("yo no caminé", "(caminar) ayer yo no"),
        ("she was walking", "(walk) yesterday she"),
        ("they're going to walk", "(walk) tomorrow they will"),
        ("I'm going to the city", "(go) now I am"),
        ("vamos a abrir la puerta", "(abrir) mañana nosotros"),
        ("comí con ella", "(comer) ayer yo"),
        ("ayer yo come", "(comer) ayer yo"),
        ("tú y yo caminamos", "(caminar) hoy nosotros"),
        ("él caminó", "(caminar) ayer ella"),
        ("tomorrow the mailman will skateboard", "(skateboard) tomorrow she will"),
        ("yesterday he blogged", ""),
        ("she tweets every day", ""),
        ("walk", "(walk) every day you"),
        ("(walk) the dog eats meat", ""),
        ("(walk) ayer ella", ""),
        ("(walk) yesterday he", "(walk) yesterday she"),
        ("(wug) tomorrow It will", "(wug) tomorrow she will"),
        ("(caminar) ayer él", "(caminar) ayer ella"),
        ("(caminar) hoy ustedes", "(caminar) hoy ellas"),
        ("(open) the door? yes, yesterday I opened it", "(open) the door? yes, yesterday I opened it"),
        ("(comer) yesterday she", ""),
        ("(wug) yesterday ellas", ""),
        ("🙂", ""),
        ("(WALK)  Yesterday i", "(walk) yesterday I"),
        ("I think therefore I am", "(think) every day I"),
        ("¿qué comes?", "(comer) hoy tú"),
        ("the girls walk", "(walk) every day they"),
        ("My friends and I walked", "(walk) yesterday we"),
        ("does the boy read?", "(read) every day she"),
        ("nobody called", "(call) yesterday she did not"),
        ("she never walks", "(walk) every day she does not"),
        ("Let's dance", "(dance) every day we"),
        ("Don't worry!", "(worry) every day you do not"),
        ("he's sung", "(sing) yesterday she"),
        ("I'd dance", "(dance) tomorrow I will"),
        ("They goed home", "(go) yesterday they"),
        ("she hit it", "(hit) yesterday she"),
        ("I used to smoke", "(smoke) yesterday I"),
        ("I quickly jumped over", "(jump) yesterday I"),
        ("she will fly", "(fly) tomorrow she will"),
        ("did the boys play football?", "(play) yesterday they"),
        ("how does attention work?", "(work) every day she"),
        ("They would've won", "(win) yesterday they"),
        ("She's never danced", "(dance) yesterday she did not"),
        ("Don't touch John", "(touch) every day you do not"),
        ("Stop it now", "(stop) every day you"),
        ("it was opened", ""),
        ("to walk", "(walk) every day she"),
        ("love is all you need", ""),
        ("Writing code is fun", ""),
        ("I wrote to a friend who never walks", "(write) yesterday I"),
        ("no dogs walk", "(walk) every day they do not"),
        ("no I walked", "(walk) yesterday I"),
        ("I want to walk", ""),
        ("I like walking", ""),
        ("je mange une pomme", ""),
        ("manana caminare", "(caminar) mañana yo"),
        ("tu caminas", "(caminar) hoy tú"),
        ("el camina", "(caminar) hoy ella"),
        ("el camino es largo", ""),
        ("los niños comen", "(comer) hoy ellas"),
        ("nadie llamó", "(llamar) ayer ella no"),
        ("esta comiendo", "(comer) hoy ella"),
        ("he comido", "(comer) ayer yo"),
        ("yo caminaba", "(caminar) ayer yo"),
        ("¡Bailemos!", "(bailar) hoy nosotros"),
        ("hoy caminaré", "(caminar) mañana yo"),
        ("ella nada", "(nadar) hoy ella"),
        ("no hay nada", ""),
        ("me gusta cantar", ""),
        *((prompt, prompt) for prompt in trained.PROMPTS),
    ],
)
def test_a_text_in_own_words_is_read_as_a_sentence_that_the_model_knows(text, begins):
    assert read(text).beginning == begins


@in_one_test
@pytest.mark.parametrize(
    ("text", "changes"),
    [
        ("she walked", {}),
        ("she isn't walking now", {}),
        ("she's walking", {}),
        ("they're going to walk", {}),
        ("caminaré", {}),
        ("She walked to the city", {"left_out": ("to the city",)}),
        ("she has walked", {"absent": ("has walked", "yesterday")}),
        ("she was walking", {"absent": ("was walking", "yesterday")}),
        ("Can you walk?", {"absent": ("can walk", "every day")}),
        ("estoy comiendo", {"absent": ("estoy comiendo", "hoy")}),
        ("she walked and talked", {"left_out": ("and talked",)}),
        ("ayer she walked", {"left_out": ("ayer",)}),
        ("The dog walked", {"person": ("The dog", "she")}),
        ("the dogs quickly walked", {"left_out": ("quickly",), "person": ("the dogs", "they")}),
        ("John and Mary walked", {"person": ("John and Mary", "they")}),
        ("nobody walked", {"person": ("nobody", "she"), "other": (("nobody", "not"),)}),
        ("nunca camino", {"other": (("nunca", "no"),)}),
        ("tu caminas", {"other": (("tu", "tú"),)}),
        ("caminare", {"other": (("caminare", "caminaré"),)}),
        ("walk", {"assumed": ("every day", "you")}),
        ("camina", {"assumed": ("ella",)}),
        ("he's walking", {"person": ("he", "she")}),
        ("(caminar) hoy ustedes", {"person": ("ustedes", "ellas")}),
        ("tú y yo caminamos", {"person": ("tú y yo", "nosotros")}),
        ("You and I walked", {"person": ("You and I", "we")}),
        ("yo y mi perro caminamos", {"person": ("yo y mi perro", "nosotros")}),
        ("tomorrow ella will caminar", {"left_out": ("tomorrow", "will"), "assumed": ("hoy",)}),
        ("I am walking tomorrow", {"reduced": "walking"}),
        ("ayer yo come", {"reduced": "come"}),
    ],
)
def test_where_what_is_read_is_not_the_text_is_said(text, changes):
    reading = read(text)
    assert reading == Reading(reading.beginning, **changes)


@in_one_test
@pytest.mark.parametrize(
    ("begins", "form"),
    [
        ("(go) yesterday they", ("went", True)),
        ("(caminar) mañana ellas", ("caminarán", True)),
        ("(open) now they are", ("opening", True)),
        ("(walk) yesterday I did not", ("walk", True)),
        ("(walk) now she is not", ("walking", True)),
        ("(caminar) ayer yo no", ("caminé", True)),
        ("(try) tomorrow she will", ("try", True)),
        ("(wug) yesterday I", ("wugged", False)),
        ("(tweet) every day she", ("tweets", False)),
        ("(prefer) yesterday I", ("", True)),
        ("(wugar) ¿la puerta? ayer ellas la", ("wugaron", False)),
        ("(climb) every day the kind doctor of the teacher", ("climbs", True)),
        ("(walk) the dog", ("", True)),
    ],
)
def test_the_right_form_is_known_of_a_verb_of_the_corpus_and_of_a_regular_verb(begins, form):
    assert right_form(begins) == form


@in_one_test
@pytest.mark.parametrize(
    ("text", "word", "proposals"),
    [
        ("yesterday the mailman wlaked to the city", "wlaked", ["(walk) yesterday she", "(wlake) yesterday she"]),
        ("they are vlogging", "vlogging", ["(vlog) now they are"]),
        ("ella googleó ayer", "googleó", ["(googlear) ayer ella"]),
        ("x" * 500, "x" * 500, [f"({'x' * 500}) every day you"]),
        ("she is", "is", []),
        ("I am happy", "am", []),
        ("that's great", "is", []),
        ("estoy en casa", "estoy", []),
        ("🙂", "", []),
        ("你好", "", []),
        ("tú y yo", "", []),
        ("hola", "", []),
        ("the dogs barked", "barked", ["(bark) yesterday they"]),
        ("he llegado tarde", "llegado", ["(llegar) ayer yo"]),
        ("dogs bark", "bark", ["(bark) every day they"]),
        ("time flies", "flies", ["(fly) every day she", "(live) every day she"]),
        ("yesterday I caught a fish", "caught", ["(catch) yesterday I"]),
        ("What are you taking?", "taking", ["(take) now you are", "(talk) now you are"]),
        ("Tell me a joke", "Tell", ["(tell) every day you"]),
        ("jugaron en el parque", "jugaron", ["(jugar) ayer ellas"]),
        ("no quiero dormir", "quiero", ["(querer) hoy yo no"]),
        ("no toques eso", "toques", ["(tocar) hoy tú no"]),
        ("no me toques", "toques", ["(tocar) hoy tú no"]),
        ("busqué", "busqué", ["(buscar) ayer yo"]),
        ("llegué tarde", "llegué", ["(llegar) ayer yo"]),
        ("crucé la calle", "crucé", ["(cruzar) ayer yo"]),
        ("she slowly tweeted", "tweeted", ["(tweet) yesterday she"]),
        ("ella rápidamente googleó", "googleó", ["(googlear) ayer ella"]),
    ],
)
def test_a_verb_that_the_model_has_not_read_is_named_with_what_the_text_could_mean(text, word, proposals):
    assert read(text) == Reading(word=word, proposals=tuple(proposals))
