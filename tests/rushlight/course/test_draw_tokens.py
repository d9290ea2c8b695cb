"""The pictures of tokens fit on their paper, and show each byte."""

import pytest
from pictures import is_legible, is_whole
from sweep import sweep

import rushlight as rl
from rushlight.course import corpus, tokens

LINES = [line.text for line in corpus.split("train")[:300]]
TOKENIZER = tokens.Tokenizer(tokens.train("\n".join(LINES), 60))


def boxes(text):
    return [TOKENIZER.bytes[each] for each in TOKENIZER.encode(text)]


PICTURES = {
    "boxes": lambda: rl.draw.token_boxes([("English", boxes(LINES[0])), ("a long one", boxes(" ".join(LINES[:4])))]),
    "a row": lambda: rl.draw.token_rows([b"\n", b" she", b" now"], [b" she", b" now", None]),
    "compression": lambda: rl.draw.compression(
        [256, 300, 600], [("known", [1, 2, 3]), ("held out", [1, 2, 2.5])], [600]
    ),
}


@pytest.mark.parametrize("name", sweep([*PICTURES], every=6))
def test_nothing_is_cut_off(name):
    figure = PICTURES[name]()
    assert is_whole(figure) and is_legible(figure)


def test_a_box_shows_each_token():
    text = "¿ñ\x00 she\n"
    figure = rl.draw.token_boxes([("text", boxes(text))])
    said = [each.get_text() for axes in figure.axes for each in axes.texts]
    assert said == ["text", *map(rl.course.draw.tokens.written, boxes(text))]
    assert rl.course.draw.tokens.written(b"\xc3") == "C3"
