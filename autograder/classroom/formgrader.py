"""Pages that this course adds to nbgrader's formgrader: the written answers to a question, and a list of the questions.

nbgrader has no place for further pages. So the course's configuration, which the formgrader reads before it opens, puts them
before nbgrader's own in the list of what it serves. The formgrader itself gets links to them, and keeps what was entered
elsewhere while one of its own pages was open.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable
from functools import cached_property, wraps
from pathlib import Path
from typing import Any
from urllib.parse import quote

from nbgrader.api import Comment, Grade, MissingEntry
from nbgrader.server_extensions.formgrader import apihandlers, handlers
from nbgrader.server_extensions.formgrader.base import BaseApiHandler, BaseHandler, check_notebook_dir, check_xsrf
from sqlalchemy import text
from sqlalchemy.exc import SQLAlchemyError
from tornado import web

from ..model import Course
from .gradebook import unusable
from .pages import SCHEMES, escaped
from .written import Conflict, enter, question_of, state

_PAGE = Path(__file__).with_name("written.html")
_QUESTIONS = """
SELECT assignment.name, base_cell.name, count(*), sum(grade.needs_manual_grade) FROM grade
JOIN grade_cells ON grade_cells.id = grade.cell_id
JOIN base_cell ON base_cell.id = grade_cells.id
JOIN submitted_notebook ON submitted_notebook.id = grade.notebook_id
JOIN submitted_assignment ON submitted_assignment.id = submitted_notebook.assignment_id
JOIN assignment ON assignment.id = submitted_assignment.assignment_id
WHERE grade_cells.cell_type = 'markdown' AND (grade.auto_score IS NULL OR grade.manual_score IS NOT NULL)
GROUP BY assignment.name, base_cell.name ORDER BY assignment.name, base_cell.name
"""


def add_pages() -> None:
    """Let the formgrader serve the pages. A second call changes nothing."""
    handlers.default_handlers[:] = _PAGES + [entry for entry in handlers.default_handlers if entry not in _PAGES]


def _guarded(method: Callable) -> Callable:
    """A method of a handler behind nbgrader's own guards."""
    return web.authenticated(check_xsrf(check_notebook_dir(method)))


def page(title: str, body: str, base_url: str, nonce: str) -> str:
    """The page of a question. With a `body` it shows this alone."""
    text = _PAGE.read_text(encoding="utf-8")
    given = {"TITLE": escaped(title), "NONCE": nonce, "SCHEMES": SCHEMES, "BASE": escaped(base_url), "BODY": body}
    for name, value in given.items():
        text = text.replace(f"{{{name}}}", value)
    return text


class _Page(BaseHandler):
    """A page that runs its own script alone, and asks nobody but this server."""

    @cached_property
    def nonce(self) -> str:
        return secrets.token_urlsafe(16)

    @property
    def content_security_policy(self) -> str:
        only = "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'"
        own = f"style-src 'nonce-{self.nonce}'; script-src 'nonce-{self.nonce}'"
        return f"{super().content_security_policy}; {only}; {own}"

    def show(self, title: str, body: str = "") -> None:
        self.finish(page(title, body, self.base_url, self.nonce))


class Questions(_Page):
    """The written questions that students have answered."""

    @_guarded
    def get(self) -> None:
        self.gradebook.db.rollback()
        rows = "".join(
            f'<tr><td>{escaped(lab)}</td><td><a href="{self.base_url}/formgrader/written/{quote(lab)}/{quote(key)}">'
            f"{escaped(key.removeprefix('question-').replace('-', ' '))}</a></td><td>{count}</td><td>{waiting}</td></tr>"
            for lab, key, count, waiting in self.gradebook.db.execute(text(_QUESTIONS))
        )
        heads = "".join(f'<th scope="col">{head}</th>' for head in ("lab", "question", "answers", "to be marked"))
        table = (
            f"<table><tr>{heads}</tr>{rows}</table>" if rows else "<p>No student has answered a written question.</p>"
        )
        self.show("Written answers", f'<main class="list"><h1>Written answers</h1>{table}</main>')


class Question(_Page):
    """The page of a question. Its script asks for the answers."""

    @_guarded
    def get(self, lab: str, key: str) -> None:
        self.show(f"{lab}: written answers")


class _Data(BaseApiHandler):
    """Answers with JSON, which no browser takes for a page: there is text of students in it."""

    def show(self, data: Any) -> None:
        self.set_header("Content-Type", "application/json")
        self.finish(json.dumps(data))


class Answers(_Data):
    """The answers to a question with what the gradebook has for them, as JSON, and what is pressed for them."""

    @_guarded
    def get(self, lab: str, key: str) -> None:
        self._answer(lab, key, None)

    @_guarded
    def put(self, lab: str, key: str) -> None:
        self._answer(lab, key, self.get_json_body())

    def _answer(self, lab: str, key: str, wanted: Any) -> None:
        problem = ""
        try:
            question = question_of(Course().find_released(lab), key)
            self.gradebook.db.rollback()  # and what this process remembers of it
            if wanted is not None:
                try:
                    enter(question, self.gradebook, wanted)
                except Conflict as error:
                    self.set_status(409)
                    problem = str(error)
            self.show(state(question, self.gradebook) | {"problem": problem})
        except LookupError as error:
            raise web.HTTPError(404, str(error)) from None
        except (ValueError, TypeError) as error:  # no page of ours asks so
            raise web.HTTPError(400, str(error)) from None
        except SQLAlchemyError as error:
            self.set_status(503)
            self.show({"problem": str(unusable(getattr(error, "orig", error)))})


# nbgrader's own pages ------------------------------------------------------------------------------------------------

_LINK = """{% extends name %}{% block messages %}{{ super() }}
<p><a href="{{ base_url }}/formgrader/written">Written answers: all answers to a question, with its rubric</a></p>
{% endblock %}"""


class _Linked(BaseHandler):
    def render(self, name: str, **given: Any) -> str:
        return self.settings["nbgrader_jinja2_env"].from_string(_LINK).render(name=name, **given)


class Labs(_Linked, handlers.GradebookAssignmentsHandler):
    """nbgrader's list of labs, with a link."""


class Submissions(_Linked, handlers.GradebookNotebookSubmissionsHandler):
    """nbgrader's list of submissions, with a link."""


def _seen(entry: Grade | Comment) -> dict:
    """An entry as nbgrader's page gets it, with what its fields show. The page sends that back, with what has been typed."""
    data = entry.to_dict()
    return data | {"seen": {name: data[name] for name in _FIELDS if name in data}}


_FIELDS = "manual_score", "extra_credit", "manual_comment"


class _Collection(_Data):
    kind: str

    @_guarded
    def get(self) -> None:
        try:
            self.gradebook.db.rollback()
            notebook = self.gradebook.find_submission_notebook_by_id(self.get_argument("submission_id"))
        except MissingEntry:
            raise web.HTTPError(404) from None
        self.show([_seen(entry) for entry in getattr(notebook, self.kind)])


class Grades(_Collection):
    kind = "grades"


class Comments(_Collection):
    kind = "comments"


def _found(find: Callable) -> Callable:
    """A method that gets the entry of the gradebook in place of its id."""

    @wraps(find)
    def found(self: BaseApiHandler, key: str) -> None:
        self.gradebook.db.rollback()
        try:
            return find(self, key)
        except MissingEntry:
            raise web.HTTPError(404) from None

    return found


class GradeTyped(_Data, apihandlers.GradeHandler):
    """A score from a page that may have been open for long: a field in which nothing was typed changes nothing."""

    @_guarded
    @_found
    def put(self, key: str) -> None:
        grade, data = self.gradebook.find_grade_by_id(key), self.get_json_body()
        seen = data.get("seen") or {}
        for name in ("manual_score", "extra_credit"):
            typed = None if data.get(name) in (None, "") else float(data[name])  # the page sends text
            if name not in seen or typed != seen[name]:
                setattr(grade, name, typed)
        grade.needs_manual_grade = grade.manual_score is None and grade.auto_score is None
        self.gradebook.db.commit()
        self.show(_seen(grade))


class CommentTyped(_Data, apihandlers.CommentHandler):
    """A comment from a page that may have been open for long: a comment that was entered since stays, and the typed one follows."""

    @_guarded
    @_found
    def put(self, key: str) -> None:
        comment, data = self.gradebook.find_comment_by_id(key), self.get_json_body()
        seen, typed, now = data.get("seen") or {}, data.get("manual_comment"), comment.manual_comment
        is_new = now and "manual_comment" in seen and now != seen["manual_comment"] and now != typed
        comment.manual_comment = f"{now}\n\n{typed}" if is_new and typed else now if is_new else typed
        self.gradebook.db.commit()
        self.show(_seen(comment))


_PAGES: list[tuple] = [
    (r"/formgrader/written/?", Questions),
    (r"/formgrader/written/([^/]+)/([^/]+)/?", Question),
    (r"/formgrader/api/written/([^/]+)/([^/]+)", Answers),
    (r"/formgrader/gradebook/?", Labs),
    (r"/formgrader/gradebook/([^/]+)/([^/]+)/?", Submissions),
    (r"/formgrader/api/grades", Grades),
    (r"/formgrader/api/comments", Comments),
    (r"/formgrader/api/grade/([^/]+)", GradeTyped),
    (r"/formgrader/api/comment/([^/]+)", CommentTyped),
]
