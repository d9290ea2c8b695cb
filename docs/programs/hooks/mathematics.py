"""Formulas, written as TeX between dollars, become MathML while the site is built, which browsers show by themselves.

`pymdownx.arithmatex` finds them; it leaves code alone.
"""

import html
import re

from latex2mathml.converter import convert

FORMULA = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
NAME = re.compile(r"<m[io]>([a-z]{2,})</m[io]>")  # of a function: set upright, and close to its parenthesis
APART = re.compile(r"(<mo class=\"name\"[^>]*>\w+</mo>)(?!<mo)")
BAR = '<mo stretchy="false">&#x0007C;</mo>'


def on_page_content(content: str, **_) -> str:
    return FORMULA.sub(_mathml, content)


def _mathml(match: re.Match) -> str:
    tag, tex = match.groups()
    if tag == "span":
        return mathml(html.unescape(tex))
    return f'<div class="formula" tabindex="0">{mathml(html.unescape(tex), "block")}</div>'


def mathml(tex: str, display: str = "inline") -> str:
    formula = convert(tex.strip(), display=display)
    formula = NAME.sub(r'<mo class="name" lspace="0" rspace="0">\1</mo>', formula)
    formula = formula.replace("&#x000A0;", " ")  # within a text, which is not broken; the font has no other space
    formula = APART.sub(r'\1<mspace width="0.17em"/>', formula)
    return formula.replace(BAR, '<mo stretchy="false" lspace="0" rspace="0">|</mo>')
