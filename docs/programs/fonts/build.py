"""Make the font of the formulas, `maths.woff2`: STIX Math with the characters that formulas of a course need, and no others.

    apt-get download fonts-stix && dpkg -x fonts-stix_*.deb stix
    pip install fonttools brotli
    python docs/programs/fonts/build.py stix/usr/share/fonts/opentype/stix-word/STIXMath-Regular.otf

Browsers set the single letters of a formula in mathematical italics, which have code points of their own. The license of STIX,
in `docs/fonts/LICENSE.txt`, asks that a changed font has another name.
"""

import sys
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

from docs.programs import DOCS

NAME = "Rushlight Math"
CHARACTERS = [
    *range(0x20, 0x7F),  # names of functions, digits
    *map(ord, "¬¯±·×÷ˆˉ˘˙˜ˇ‖′″…―"),
    *range(0x391, 0x3CA),  # Greek
    *map(ord, "ϕϵ"),
    *range(0x1D434, 0x1D468),  # italic
    0x210E,  # its h
    *range(0x1D6E2, 0x1D71C),  # italic Greek
    *map(ord, "ℓℝℕℤ𝟏←↑→↓↦⇐⇒⇔∀∂∃∅∆∇∈∉∏∑−∓∗∘√∝∞∥∧∨∩∪∫∼≃≈≠≡≤≥≪≫⊂⊆⊕⊗⊙⊤⊥⋅⋮⋯⋱⌈⌉⌊⌋⟨⟩"),
]
FONT = DOCS / "fonts" / "maths.woff2"


def build(source: Path) -> None:
    font = TTFont(source, recalcTimestamp=False)
    options = Options(name_IDs=[0, 1, 2, 4, 6, 7, 13, 14], hinting=False, drop_tables=["FFTM", "GDEF", "GPOS", "GSUB"])
    subsetter = Subsetter(options)
    subsetter.populate(unicodes=CHARACTERS)
    subsetter.subset(font)
    full = {1: NAME, 4: f"{NAME} Regular", 6: NAME.replace(" ", "")}
    for record in font["name"].names:
        if record.nameID in full:
            record.string = full[record.nameID]
    outlines = font["CFF "].cff
    outlines.fontNames = [full[6]]
    outlines.topDictIndex[0].FamilyName = NAME
    outlines.topDictIndex[0].FullName = full[4]
    font.flavor = "woff2"
    font.save(FONT)


if __name__ == "__main__":
    build(Path(sys.argv[1]))
    print(f"{FONT}: {FONT.stat().st_size} bytes")
