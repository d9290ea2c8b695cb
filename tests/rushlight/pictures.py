"""What the tests of all pictures ask."""

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure


def is_whole(figure: Figure) -> bool:
    """Whether nothing that is drawn goes over the edge of the paper."""
    figure.draw_without_rendering()  # where there is a layout, it is made now
    drawn = figure.get_tightbbox(FigureCanvasAgg(figure).get_renderer())  # in inches, as the paper
    wide, tall = figure.get_size_inches()
    return drawn.x0 >= -0.01 and drawn.x1 <= wide + 0.01 and drawn.y0 >= -0.01 and drawn.y1 <= tall + 0.01
