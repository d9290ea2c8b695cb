"""Questions that the tests of all pictures ask."""

import re

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def is_whole(figure: Figure) -> bool:
    """Whether nothing that is drawn goes over the edge of the paper."""
    figure.draw_without_rendering()  # where there is a layout, it is made now
    drawn = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())  # in inches, as the paper
    wide, tall = figure.get_size_inches()
    return drawn.x0 >= -0.01 and drawn.x1 <= wide + 0.01 and drawn.y0 >= -0.01 and drawn.y1 <= tall + 0.01


def is_legible(figure: Figure) -> bool:
    """Whether its SVG is at most 1,000 pixels wide, and has no label smaller than 12 pixels."""
    svg = figure._repr_svg_()
    width, shown = (float(re.search(pattern, svg)[1]) for pattern in (r'width="([\d.]+)pt"', r'viewBox="0 0 ([\d.]+)'))
    sizes = [float(size) * 4 / 3 * width / shown for size in re.findall(r"font-size: ([\d.]+)px", svg)]
    return width <= 750.1 and min(sizes, default=12) > 11.9
