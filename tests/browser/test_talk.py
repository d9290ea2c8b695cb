"""The trained model completes a text in its page of the site, token by token, as it does natively."""

import json

import pytest

from docs.programs.hooks.tab import SHOWN_FIRST
from rushlight.course.talk import Conversation
from rushlight.course.trained import PROMPTS

APPEND = """@exercise(rl.course.sampling)
def append(cache, keys, values):
    start, stop = cache.length, cache.length + keys.shape[2]
    cache.keys[:, :, start:stop] = keys
    cache.values[:, :, start:stop] = values
    cache.length = stop
    return cache.keys[:, :, :stop], cache.values[:, :, :stop]
"""
SHOWN = SHOWN_FIRST[""]
LONG = "Math.random = () => 6 / 2 ** 31"  # the seed of a text that uses all positions, at temperature 2


@pytest.fixture
def talk(page, below):
    page.goto(f"{below}talk.html")
    return page


def status(page, text):
    page.locator(".talk .status").get_by_text(text).wait_for()


def logits(page):
    return [row.split()[-1] for row in page.locator(".talk .top tbody tr").all_inner_texts()]


def weights(page, row):
    return page.locator(".talk .weights tbody tr").nth(row).locator("td").all_text_contents()


@pytest.mark.sweep
def test_each_step_of_a_recorded_conversation_is_shown_before_python_is_loaded(talk):
    native = Conversation(SHOWN)
    steps = [native.step() for _ in range(4)]
    assert talk.locator(".talk .text").inner_text() == f"{SHOWN} glorked it."
    assert talk.locator(".talk section").count() == 3
    talk.set_viewport_size({"width": 390, "height": 844})  # attention is below the answer on a phone
    tops = talk.locator(".talk section").evaluate_all("all => all.map((each) => each.getBoundingClientRect().top)")
    assert min(tops) == tops[2]
    for name, step in (("step 1: g", steps[0]), ("step 4: k", steps[3])):
        talk.get_by_role("button", name=name).click()
        assert logits(talk) == [f"{each['logit']:.2f}" for each in step["top"]]
        assert weights(talk, 5) == [f"{weight:.2f}" for weight in step["weights"][1][1]]
    cache = talk.get_by_role("img", name="15 of 64 positions are in use")
    assert "This step wrote 1 position, 2,048 bytes, and read 14" in cache.get_attribute("aria-label")
    talk.locator(".talk .weights").focus()
    talk.keyboard.press("ArrowUp")
    assert "block 4, head 3 gives" in talk.locator(".talk output.note").inner_text()


def test_verb_tense_and_person_are_chosen_and_home_names_the_pieces_that_take_part(talk, below):
    text = talk.locator("#talk-text")
    boxes = "['verb', 'when', 'who'].map((id) => document.getElementById(`talk-${id}`))"
    chosen = f"{boxes}.map((box) => box.selectedOptions?.[0].text ?? box.value)"
    assert text.input_value() == SHOWN and talk.evaluate(chosen) == ["glork", "yesterday", "she"]
    assert not talk.locator(".talk .earlier").count()
    text.fill("she walked to the city")
    assert talk.locator(".talk .text.earlier").inner_text().startswith("An earlier conversation, until yours begins:")
    assert talk.evaluate(chosen) == ["", "—", "—"]
    text.fill("(walk) tomorrow you two will")
    assert talk.evaluate(chosen) == ["walk", "tomorrow", "you two"]
    talk.locator("#talk-when").select_option(label="now")
    talk.locator("#talk-who").select_option(label="they")
    talk.locator("#talk-verb").fill("wug")
    assert text.input_value() == "(wug) now they are"
    talk.locator("#talk-who").select_option(label="nosotros")
    assert text.input_value() == "(wug) hoy nosotros"
    talk.locator("#talk-when").select_option(label="yesterday")
    assert text.input_value() == "(wug) yesterday we"
    talk.locator("#talk-who").select_option(label="ellas")
    assert text.input_value() == "(wug) ayer ellas"
    talk.locator("#talk-who").select_option(label="she")
    assert text.input_value() == "(wug) yesterday she"
    text.fill("(日本) yesterday she")
    talk.get_by_role("button", name="Complete").click()
    status(talk, "The model finds no verb in this text. The model puts a verb into its form")
    text.fill(" ")
    talk.get_by_role("button", name="Complete").click()
    status(talk, "There is no sentence yet. The model puts a verb into its form")
    talk.locator("#talk-when").select_option(label="yesterday")  # and no verb
    talk.get_by_role("button", name="Complete").click()
    status(talk, "The model finds no verb in this text. The model puts a verb into its form")
    assert not talk.locator(".talk section, .talk .boxes *").count()
    for width, height in (390, 660), (1024, 660):
        talk.set_viewport_size({"width": width, "height": height})
        box = talk.locator(".talk .text").bounding_box()
        assert box["y"] + box["height"] < height
    passed = json.dumps({"answers": {}, "passed": {"course.sampling.append": APPEND}})
    talk.evaluate("(passed) => localStorage.setItem('rushlight/12c_training', passed)", passed)
    for page in "index", "talk":
        talk.goto(f"{below}{page}.html")
        said = "The model in your browser runs on pieces of your own: append."
        assert talk.locator("[data-pieces]").inner_text() == said
    talk.evaluate("localStorage.clear()")


@pytest.mark.sweep  # Python in the browser, and 25 tokens
def test_a_text_is_completed_as_natively_on_a_piece_that_has_passed_and_stops(talk, folder):
    if not (folder / "browser/pyodide").exists():
        pytest.skip("the parts for the browser are not here (`python docs/programs/browser/parts.py` fetches them)")
    passed = json.dumps({"answers": {}, "passed": {"course.sampling.append": APPEND}})
    talk.evaluate("(passed) => localStorage.setItem('rushlight/12c_training', passed)", passed)
    native = Conversation(PROMPTS[1])
    steps = [native.step() for _ in range(7)]
    talk.fill("#talk-text", PROMPTS[1])
    talk.keyboard.press("Enter")
    status(talk, "The model ended the text.")
    assert native.ended and talk.locator(".talk .text").inner_text() == f"{PROMPTS[1]} climbs."
    talk.get_by_role("button", name="step 2: l").click()
    assert logits(talk)[:3] == [f"{each['logit']:.2f}" for each in steps[1]["top"][:3]]
    assert weights(talk, 5) == [f"{weight:.2f}" for weight in steps[1]["weights"][1][1]]
    lines = talk.locator(".talk section .line").all_inner_texts()
    assert lines[1].startswith("return scores.argmax().item()") and "choose, line" in lines[1]
    assert lines[2] == "cache.values[:, :, start:stop] = values your append, line 5"

    talk.fill("#talk-text", "(climb) yesterday he")
    talk.get_by_role("button", name="One token").click()
    status(talk, "The model read: (climb) yesterday she. It reads “he” as “she”, which has the same forms.")
    talk.fill("#talk-text", "The dog won't walk home")
    talk.get_by_role("button", name="Complete").click()
    talk.fill("#talk-text", "(glork) yesterday she")
    talk.get_by_role("button", name="Complete").click()  # the last press counts
    status(talk, "“glorked” is right, if this verb is regular.")
    assert talk.locator(".talk .text").inner_text().startswith("(glork)")
    talk.fill("#talk-text", "The dog won't walk home")
    talk.get_by_role("button", name="Complete").click()
    status(talk, "“walk” is the right form.")
    status(talk, "will not. It reads “The dog” as “she”, which has the same forms. Left out: “home”.")
    talk.fill("#talk-text", "she wlaked home")
    talk.get_by_role("button", name="Complete").click()
    status(talk, "“wlaked” is no verb that the model has read.")
    talk.get_by_role("button", name="(walk) yesterday she").click()
    status(talk, "“walked” is the right form.")
    assert not talk.get_by_role("button", name="(walk) yesterday she").count()
    talk.fill("#talk-text", "como una manzana")
    talk.get_by_role("button", name="Complete").click()
    status(talk, "Before it, the model wrote “no” of its own")
    talk.fill("#talk-text", "What is torch?")
    talk.get_by_role("button", name="One token").click()
    status(talk, "The model answers no questions. The model puts a verb into its form")
    talk.fill("#talk-text", "she is a torch")
    talk.get_by_role("button", name="One token").click()
    status(talk, "The verb of this text is “is”.")
    assert not talk.locator(".talk .text").inner_text() and not talk.locator(".talk section, .talk .boxes *").count()
    talk.fill("#talk-text", "(walk) the dog eats meat")
    talk.get_by_role("button", name="One token").click()
    status(talk, "The model does not know “dog” in such a sentence, so what follows is arbitrary.")
    talk.fill("#talk-text", "(comer) yesterday she")
    talk.get_by_role("button", name="One token").click()
    status(talk, "The verb is of one language and the rest of another")
    talk.fill("#talk-text", f"(walk) {'🙂' * 40}")
    talk.get_by_role("button", name="One token").click()
    status(talk, "tokens, and the model has 64 positions. Shorten the text.")
    assert not talk.locator(".talk .text").inner_text() and not talk.locator(".talk section, .talk .boxes *").count()

    talk.evaluate(LONG)
    talk.fill("#talk-text", "(y) z")
    talk.locator("#talk-heat").fill("2")
    talk.get_by_role("button", name="Complete").click()
    talk.get_by_role("button", name="step 9").wait_for()  # the text before had 7
    talk.get_by_role("button", name="Stop").click()
    status(talk, "tokens.")
    assert 9 <= talk.locator(".talk .boxes button").count() < 64
