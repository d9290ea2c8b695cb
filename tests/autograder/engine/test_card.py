"""A verdict as HTML."""

import random
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import torch
from sweep import in_one_test

from autograder.checks.cases import tensor
from autograder.engine import card as cards
from autograder.engine.card import MAX_CELLS, PALE_GREEN, PALE_RED, RED, card
from autograder.engine.check import registry, shown_source
from autograder.engine.torch_side import TorchSide
from autograder.engine.verdict import DIED, DISAGREED, NOT_ATTEMPTED, PASSED, UNSTABLE, Verdict, describe
from autograder.language import speak, speaking

KEPT = {"div", "span", "b", "pre", "details", "summary"}  # by JupyterLab's sanitizer and nbconvert's
HOSTILE = '<script>alert(1)</script>" onclick="x" \x1b[31m'
FAILED = Verdict(
    "a.check", DISAGREED, 8, 6, message="m", case={"n": 1}, program="def p(): ...", mine="1", theirs="2", hint="h"
)


class Structure(HTMLParser):
    """The tags of a card, its attributes, its texts, those within `details`, and the tinted ones."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.styles, self.shown = [], set(), set(), [], []
        self.text, self.folded, self.tinted = "", "", []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.open.append((tag, dict(attributes).get("style", "")))
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attributes}
        self.styles += [part.split(":", 1) for part in self.open[-1][1].split(";") if part]

    def handle_endtag(self, tag):
        assert self.open.pop()[0] == tag

    def handle_data(self, data):
        self.text += data
        self.folded += data if "details" in [tag for tag, _ in self.open] else ""
        self.tinted += [data] if self.open[-1][0] == "b" and cards.TINT in self.open[-1][1] else []
        self.shown.append((data, [style for _, style in self.open]))


def failed(**more):
    return Verdict(**vars(FAILED) | more)


@in_one_test
@pytest.mark.parametrize("outcome", [PASSED, DISAGREED, NOT_ATTEMPTED, UNSTABLE, DIED])
@pytest.mark.parametrize("text", ["1", HOSTILE, HOSTILE * 100])
def test_a_card_is_made_of_tags_that_notebooks_keep_whatever_its_texts_are(outcome, text):
    names = dict.fromkeys(("message", "hint", "program", "oracle", "listing", "mine", "theirs", "raised"), text)
    marks = [[0, 9], [12, 20]]
    verdict = Verdict(
        "a.check",
        outcome,
        8,
        6,
        case={"n": text},
        notes=[text],
        frames=[[text, 3, text]],
        mine_marks=marks,
        theirs_marks=marks,
        layouts=[[[2], [1], 0], [[2], [2], 0]],
        **names,
    )
    found = Structure(card(verdict, 3, text))
    assert found.tags <= KEPT and found.attributes <= {"style"}
    if verdict.case is not None:
        assert text in found.text.replace("\n", "")


def test_the_hint_the_program_and_the_replay_are_folded_and_the_results_are_not(monkeypatch):
    found = Structure(card(FAILED))
    assert "def p(): ..." in found.folded and 'check("a.check"' in found.folded
    assert found.folded.startswith("hint")
    assert not re.search("yours|torch's|differs", found.folded) and "yours" in found.text
    program = failed(listing="x = f(x)\n" * 15, mine="1\n" * 40, theirs="2\n" * 40)
    assert "x = f(x)" not in Structure(card(program)).folded  # a case that is longer than what is shown of a result
    monkeypatch.setattr("autograder.engine.card.IN_BROWSER", True)
    assert 'check("a.check"' not in card(FAILED)  # a page has no cell for it


def test_the_bar_has_the_part_of_the_cases_that_agree():
    assert re.search(rf"width:75%;background-color:{re.escape(PALE_GREEN)}", card(FAILED))
    assert re.search(rf"width:25%;background-color:{re.escape(PALE_RED)}", card(FAILED))


def test_an_exercise_that_is_not_attempted_has_a_neutral_mark():
    verdict = Verdict("a.check", NOT_ATTEMPTED)
    shown = str(verdict) + card(verdict, 2, "tally")
    assert "✗" not in shown and RED not in shown and PALE_RED not in shown


def test_the_line_of_the_exception_does_not_repeat_the_card():
    assert FAILED.line() == "a.check: 6 of 8 cases agree with torch"


def test_a_check_of_one_case_does_not_count_it():
    assert Verdict("a.check", PASSED, 1, 1).headline() == "a.check: the one case agrees with torch"
    assert Verdict("a.check", PASSED, 2, 2).headline() == "a.check: all 2 cases agree with torch"


def test_the_points_are_all_or_none_and_are_said_only_for_a_check_that_has_some():
    assert "0 of 3 points" in Structure(card(FAILED, 3)).text
    assert "3 of 3 points" in Structure(card(Verdict("a.check", PASSED, 8, 8), 3)).text
    assert "points" not in Structure(card(FAILED)).text


def test_a_program_shows_the_call_and_not_the_helper_that_repeats_it():
    shown = {name: shown_source(check.program) for name, check in registry().items()}
    assert [name for name, text in shown.items() if re.search(r"\b(lists_too|mixed_too|viewed)\(", text)] == []
    for name, call in {
        "contiguous_strides": "xp.strided.contiguous_strides(sizes)  # and with lists for tuples",
        "permute": "x.permute(dims)",
        "slice": "xp.strided.slice(x, dim, start, end, step)",
    }.items():
        assert shown[f"aten.strided.{name}"].endswith(f"\n    return {call}")


@in_one_test
@pytest.mark.parametrize("seed", range(40))
def test_a_tensor_of_a_case_is_shown_as_calls_that_make_it(seed):
    draw = random.Random(seed)
    sizes = [draw.randint(0, 3) for _ in range(draw.randint(0, 4))]
    strides, step = [0] * len(sizes), 1
    for d in draw.sample(range(len(sizes)), len(sizes)):
        strides[d] = step * draw.choice([0, 1, 1, 1, 2])
        step = max(step, strides[d] * max(sizes[d], 1))
    x = tensor(sizes, strides, draw.randint(0, 2), draw.choice(["int64", "float32", "bool"]), draw.randint(0, 1))
    made, shown = TorchSide(torch).make(x["tensor"]), {}
    exec(describe({"x": x}, with_strides=True), {"torch": torch}, shown)
    torch.testing.assert_close(shown["x"], made, rtol=0, atol=0)
    assert (shown["x"].stride(), shown["x"].storage_offset()) == (made.stride(), made.storage_offset())


def test_a_tensor_of_a_case_is_made_by_slices_and_an_order_of_the_dimensions():
    shown = {
        "torch.arange(6).reshape(2, 3)": tensor([2, 3]),
        "torch.arange(6).reshape(3, 2).transpose(0, 1)  # stride (1, 2)": tensor([2, 3], [1, 2]),
        "torch.arange(8).reshape(2, 4)[:, :3]  # stride (4, 1)": tensor([2, 3], [4, 1]),
        "torch.arange(3).reshape(1, 3).expand(2, 3)  # stride (0, 1)": tensor([2, 3], [0, 1]),
        "torch.arange(3).as_strided((2, 2), (1, 1), 0)": tensor([2, 2], [1, 1]),
    }
    assert [describe({"x": x}, with_strides=True) for x in shown.values()] == [f"x = {text}" for text in shown]
    of_storage = {"x": tensor([2, 3], [4, 1]), "sizes": [2], "strides": [1]}
    assert describe(of_storage).startswith("x = torch.arange(7).as_strided((2, 3), (4, 1), 0)\n")


# What differs --------------------------------------------------------------------------------------------------------


def test_the_marked_parts_of_both_results_are_tinted_and_no_others():
    verdict = failed(mine="(<1>, 2, 3)", theirs="(1, 2, 4)", mine_marks=[[1, 4], [9, 10]], theirs_marks=[[7, 8]])
    found = Structure(card(verdict))
    assert found.tinted == ["<1>", "3", "4"] and "(<1>, 2, 3)" in found.text


def test_a_result_of_several_lines_that_differs_altogether_is_not_tinted():
    assert Structure(card(failed(mine="a\nb", mine_marks=[[0, 3]], theirs="c", theirs_marks=[[0, 1]]))).tinted == ["c"]


def words(verdict):
    """The texts of a card without its folded parts, in their order."""
    return [data for data, _ in Structure(card(verdict).partition("<details>")[0] + "</div>").shown]


def test_two_short_results_are_one_above_the_other_and_what_differs_is_not_said_twice():
    short = failed(
        mine="(0, 1)", theirs="(1, 1)", message="[0]: yours 0, torch's 1", mine_marks=[[1, 2]], theirs_marks=[[1, 2]]
    )
    assert words(short)[2:] == ["case", "n = 1", "yours", "(", "0", ", 1)", "torch's", "(", "1", ", 1)"]
    assert "<summary>hint</summary>" in card(short)
    assert card(short).count("flex:0 0 72px") == 2 and "flex:1 1 240px" not in card(short)
    assert "differs" in str(short)  # which has no tints


@pytest.mark.parametrize(
    "more",
    [
        {"message": "yours raises ValueError, torch does not"},
        {"message": "[0]: yours 0, torch's 2"},
        {"theirs_marks": []},
        {"mine": "(0,\n 1)" + " " * 100},
    ],
)
def test_what_differs_is_said_if_the_results_do_not_show_it(more):
    short = {"mine": "(0, 1)", "theirs": "(1, 1)", "message": "[0]: yours 0, torch's 1"}
    marks = {"mine_marks": [[1, 2]], "theirs_marks": [[1, 2]]}
    assert "differs" in words(failed(**short | marks | more))


def test_an_exception_is_told_once_and_with_the_line_that_raised():
    raising = failed(
        mine="ValueError: mine", message="yours raises ValueError (mine), torch does not", frames=[["f", 2, "g()"]]
    )
    for said in " ".join(words(raising)), str(raising):
        assert said.count("ValueError") == 1 and "f, line 2" in said and "differs" not in said
    both = failed(mine="ValueError: mine", message="yours raises ValueError, torch raises RuntimeError")
    assert "differs" in words(both) and "torch raises RuntimeError" in str(both)


@pytest.mark.parametrize("between", ["\n", " "])
def test_a_long_result_is_folded_except_where_it_differs(between):
    before, after = "before" + between, between + "after"
    long = before * 500 + "<here>" + after * 500
    found = Structure(card(failed(mine=long, mine_marks=[[len(before) * 500, len(before) * 500 + 6]])))
    assert found.tinted == ["<here>", "<here>"] and long in found.folded
    assert found.text.count("before") < 1000 and len(found.text) - len(found.folded) < 700


def test_of_a_long_result_the_lines_around_each_difference_are_shown_and_all_of_it_is_folded():
    lines = [f"line {number}\n" for number in range(90)]
    marks = [[start, start + 4] for start in (len("".join(lines[:10])), len("".join(lines[:70])))]
    text = "".join(lines)
    found = Structure(card(failed(mine=text, mine_marks=marks)))
    near = [*lines[8:13], *lines[68:73]]
    excerpt = "… 8 lines\n" + "".join(near[:5]) + "… 55 lines\n" + "".join(near[5:]) + "… 17 lines"
    assert excerpt in found.text and text in found.folded and found.tinted == ["line"] * 4
    assert [row for row in failed(mine=text, mine_marks=marks).rows() if row[0] == "yours"] == [("yours", excerpt)]


def test_a_verdict_as_text_has_ten_lines_of_a_long_result_and_twelve_of_a_long_program():
    program = (
        "def p(xp, n):\n"
        + "    other = n\n" * 20
        + "    result = xp.m.check(n)\n"
        + "    other = n\n" * 20
        + "    return 1"
    )
    rows = dict(failed(mine="line\n" * 1000, theirs="a\n" * 1000, theirs_marks=[[0, 2000]], program=program).rows())
    assert [rows[name].count("\n") for name in ("yours", "torch's")] == [10, 10]
    kept = [line for line in rows["program"].splitlines() if "other" not in line]
    assert kept == ["def p(xp, n):", "… 16 lines", "    result = xp.m.check(n)", "… 16 lines", "    return 1"]
    assert rows["program"].count("\n") < 14 and program in Structure(card(failed(program=program))).folded


def test_two_long_results_are_cut_at_the_same_lines():
    lines = [f"line {number}\n" for number in range(40)]
    mine, theirs = "".join(lines), "".join(lines).replace("line 30\n", "another\n")
    at = theirs.index("another")
    verdict = failed(mine=mine, theirs=theirs, theirs_marks=[[at, at + 7]])
    rows = dict(verdict.rows())
    assert rows["yours"].replace("line 30", "another") == rows["torch's"] and "… 28 lines" in rows["yours"]
    assert "line 29\nline 30\nline 31" in Structure(card(verdict)).text


def test_names_of_entries_are_spoken_and_what_differs_stays_marked(french):
    entry = "shares its storage"
    french(
        {
            entry: "partage sa mémoire avec x",
            "{a} and {b}": "{a} et {b}",
            "yours {own}, torch's {other}": "le tien {own}, torch {other}",
        }
    )
    mine, theirs = (f"view: 0\n  [0] {entry}: {value}\n{entry} too: 1" for value in (True, False))
    marks = [[(start := mine.index("True")), start + 4]], [[start, start + 5]]
    words = f"[0].{entry}: yours True, torch's False"
    verdict = failed(mine=mine, theirs=theirs, mine_marks=marks[0], theirs_marks=marks[1], message=words)
    with speaking("fr"):
        rows, found = dict(verdict.rows()), Structure(card(verdict))
        assert speak("this and that[0]: yours 1, torch's 2") == "this and that[0]: le tien 1, torch 2"
    assert rows["yours"] == mine.replace(f"{entry}: ", "partage sa mémoire avec x: ")
    assert found.tinted == ["True", "False"]
    assert rows["differs"] == "[0].partage sa mémoire avec x: le tien True, torch False"


def test_a_long_result_without_a_mark_is_folded():
    found = Structure(card(failed(mine="line\n" * 100, outcome=UNSTABLE)))
    assert "line\n" * 100 in found.folded and len(found.text) - len(found.folded) < 500


def test_the_students_own_lines_are_shown_the_innermost_last_and_with_a_mark():
    frames = [["outer", 10, "inner(1 < 2)"], ["inner", 3, "raise ValueError"]]
    found = Structure(card(failed(mine="ValueError: m", frames=frames)))
    lines = found.text.partition("your cell")[2].splitlines()[:4]
    assert [line.strip() for line in lines[:3]] == ["outer, line 10", "inner(1 < 2)", "→ inner, line 3"]
    assert lines[3].strip().startswith("raise ValueError") and found.text.count("raise ValueError") == 1


# The storage ---------------------------------------------------------------------------------------------------------


def rows(mine, theirs):
    """The texts of the drawn cells, by row, the tinted ones in brackets."""
    html = card(failed(layouts=[mine, theirs])).partition("storage, and the index")[2].partition("differs")[0]
    found = []
    for row in html.split("display:flex")[1:]:
        cells = re.findall(r'flex:0 0 \d+px;height[^>]*>(?:<b style="[^"]*">(.*?)</b>|(.*?))</span>', row)
        found.append([f"[{apart}]" if apart else same for apart, same in cells])
    return found


def test_the_storage_has_the_index_of_each_element_in_its_cell_and_what_differs_is_tinted():
    assert rows([[2, 2], [2, 1], 1], [[2, 2], [1, 2], 1]) == [
        ["0", "1", "2", "3", "4"],
        ["·", "0,0", "[0,1]", "[1,0]", "1,1"],
        ["·", "0,0", "[1,0]", "[0,1]", "1,1"],
    ]
    assert rows([[2], [1], 0], [[2], [2], 0])[1:] == [["0", "[1]", "[·]"], ["0", "[·]", "[1]"]]
    assert rows([[], [], 0], [[], [], 1])[1:] == [["[()]", "[·]"], ["[·]", "[()]"]]


def test_elements_that_share_a_cell_are_counted():
    assert rows([[3], [0], 0], [[3], [1], 0])[1:] == [["[0 +2]", "[·]", "[·]"], ["[0]", "[1]", "[2]"]]


@pytest.mark.parametrize("sizes", [[3], [2, 3], [2, 1, 2], [0], [4, 0]])
@pytest.mark.parametrize("offset", [0, 3])
def test_the_drawn_cells_are_those_that_numpy_would_take(sizes, offset):
    strides = [1 + 2 * i for i in range(len(sizes))]
    storage = np.arange(40)
    view = np.lib.stride_tricks.as_strided(storage[offset:], sizes, [8 * each for each in strides])
    assert {*cards._cells([sizes, strides, offset])} == {*view.flatten().tolist()}


@pytest.mark.parametrize(
    "layout",
    [
        [[MAX_CELLS + 1], [1], 0],
        [[2], [MAX_CELLS], 0],
        [[2], [1], MAX_CELLS - 1],
        [[2], [1], -1],
        [[2], [-1], 0],
        [[10**18], [0], 0],
        [[2, 2], [1], 0],
        [[1] * 60 + [10**9], [0] * 61, 0],
    ],
)
def test_a_storage_that_is_large_or_a_lie_is_not_drawn(layout):
    for pair in ([layout, [[2], [1], 0]], [[[2], [1], 0], layout]):
        assert "storage" not in card(failed(layouts=pair))


@pytest.mark.parametrize("layout", [[[0, 10**18], [1, 1], 0], [[0], [10**30], 10**30]])
def test_an_empty_tensor_uses_no_cell_however_large_its_other_sizes_are(layout):
    assert cards._cells(layout) == {} and rows(layout, [[2], [1], 0])[1] == ["[·]", "[·]"]


# Colours -------------------------------------------------------------------------------------------------------------

# text and ground of notebooks: JupyterLab, VS Code and Colab, light and dark
PAGES = {
    "jupyterlab light": ((33, 33, 33), (255, 255, 255)),
    "jupyterlab dark": ((224, 224, 224), (17, 17, 17)),
    "code light": ((59, 59, 59), (255, 255, 255)),
    "code dark": ((204, 204, 204), (30, 30, 30)),
    "code dark plus": ((212, 212, 212), (31, 31, 31)),
    "colab dark": ((213, 213, 213), (56, 56, 56)),
}


def over(colour, ground):
    """A colour of a style, painted on a ground."""
    if colour == "transparent":
        return ground
    if colour.startswith("#"):
        return tuple(int(colour[i : i + 2], 16) for i in (1, 3, 5))
    *parts, alpha = map(float, re.fullmatch(r"rgba\((.*)\)", colour)[1].split(","))
    return tuple(alpha * part + (1 - alpha) * below for part, below in zip(parts, ground))


def contrast(one, other):
    """The contrast ratio of WCAG 2."""

    def luminance(colour):
        parts = [c / 255 / 12.92 if c / 255 <= 0.04045 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
        return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), parts))

    high, low = sorted(map(luminance, (one, other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


EVERY = [
    card(failed(mine_marks=[[0, 1]], layouts=[[[2], [2], 1], [[2], [1], 1]], frames=[["f", 1, "t"]]), 2, "tally"),
    card(Verdict("a.check", PASSED, 8, 8), 2, "tally"),
    card(Verdict("a.check", NOT_ATTEMPTED, message="m"), 2, "tally"),
]


@pytest.mark.parametrize("page", PAGES)
def test_all_text_can_be_read_on_light_and_dark_pages(page):
    seen = 0
    for shown in EVERY:
        for _, styles in Structure(shown).shown:
            ink, ground = PAGES[page]
            for style in styles:
                parts = dict(part.split(":", 1) for part in style.split(";") if part)
                ground = over(parts.get("background-color", "transparent"), ground)
                ink = over(parts.get("color", "transparent"), ink)
            assert contrast(ink, ground) >= 4.5, styles
            seen += 1
    assert seen > 40


@pytest.mark.parametrize("page", PAGES)
def test_lines_and_bars_can_be_seen_on_light_and_dark_pages(page):
    ground = PAGES[page][1]
    for colour in (cards.PALE_GREEN, cards.PALE_GREY, cards.PALE_RED):
        assert contrast(over(colour, ground), ground) >= 2.5


def test_a_colour_of_text_is_never_without_its_ground():
    for _, styles in (each for shown in EVERY for each in Structure(shown).shown):
        assert all("background-color:#" in style for style in styles if re.search(r"(^|;)color:", style))


def test_what_is_tinted_is_underlined_too():
    tinted = [style for style in re.findall(r'<b style="([^"]*)"', EVERY[0]) if cards.TINT in style]
    assert len(tinted) > 3 and all("text-decoration:underline" in style for style in tinted)
