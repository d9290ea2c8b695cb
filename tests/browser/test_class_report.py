"""The class report as an instructor sees it on a screen of ordinary width, and on a narrow one."""

import pytest

from autograder.classroom.grade import Row
from autograder.classroom.report import write_report
from autograder.model import Course, Lab

CASE = """x = torch.arange(6).to(torch.int64).as_strided((2, 1, 3), (3, 7, 1), 0)
observer = torch.ao.quantization.MovingAveragePerChannelMinMaxObserver(averaging_constant=0.0, ch_axis=0)"""


@pytest.mark.sweep
@pytest.mark.parametrize("lab", [lab.name for lab in Course().released_labs()])
def test_no_column_of_the_report_is_cut(page, tmp_path, monkeypatch, lab):
    monkeypatch.setenv("RUSHLIGHT_CLASSROOM", str(tmp_path))
    outcomes = ["passed", "disagreed", "not attempted", "timed out"]
    rows = []
    for number in range(12):
        verdicts = {
            check: {"outcome": outcomes[(number + i) % 4], "seconds": 12.3} for i, check in enumerate(Lab(lab).points)
        }
        for verdict in verdicts.values():
            if verdict["outcome"] == "disagreed":
                verdict |= {"message": "[0]", "case": CASE}
        rows.append(Row(f"student{number:02}", dict(Lab(lab).points), verdicts, penalty=2.8, mark=25.25))
    page.set_viewport_size({"width": 1200, "height": 900})
    page.goto(write_report(Lab(lab), rows).as_uri())
    boxes = "[...document.querySelectorAll('.box')].map(each => [each.ariaLabel, each.scrollWidth - each.clientWidth])"
    found = dict(page.evaluate(boxes))
    boxes = {"Exercises", "Who may need help", "Students and exercises", "Cases"}
    boxes |= {"Diagnoses"} if lab.startswith("13") else set()
    assert found == dict.fromkeys(boxes, 0)
    page.set_viewport_size({"width": 400, "height": 900})  # a box scrolls sideways there, and the page down
    boxes = "[...document.querySelectorAll('.box:not(:has(.map))')].map(each => each.scrollHeight - each.clientHeight)"
    assert not any(page.evaluate(boxes))
    page.emulate_media(media="print")  # nobody can open a fold on paper
    assert page.locator("details:not([open]) li").first.is_visible()
