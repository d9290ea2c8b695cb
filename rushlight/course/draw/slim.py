"""Pictures as notebooks keep them. They look the same as matplotlib's, and take a quarter of the bytes.

matplotlib writes coordinates to a millionth of a point, a point for each sample of a curve, the style of each shape, and a group
with a name around it. Its PNG has all colours that antialiasing makes.
"""

import base64
import hashlib
import io
import re
from collections import Counter
from math import hypot

import numpy as np
from PIL import Image

OFF, OFF_LARGE = 16, 3  # levels of 256 that a colour may differ from matplotlib's
LARGE = 1 / 2000  # of the pixels
CLOSE = 0.1  # points between a line and a point that it leaves out: a sixth of a pixel
TAG, DECIMALS = re.compile(r"<[^>]*>"), re.compile(r"-?\d+\.\d{3,}")
WITHOUT_EFFECT = re.compile(r' transform="rotate\(-0 [^"]*"| text-anchor: start;')
SHAPE_END = re.compile(r"(?<=/>)\n(?=<)|(?<=</text>)\n(?=<)")  # an end of line is fifteen bytes of a notebook
SAME_LINE = re.compile(r'(?<=[\dz])(" style="fill: none;(?![^"]*opacity)[^"]*"/>)<path d="(?=[^"]*\1)')
NO_LENGTH = re.compile(r"([\d.]+ [\d.]+)L\1(?=[CQ])")  # alone, a line without length is a dot
IMAGE = re.compile(r"(?<=base64,)[^\"]*")
COLOURED = 32  # levels between the parts of a colour that is no grey
LINES = re.compile(r"(?:L-?[\d.]+ -?[\d.]+){2,}")

Point = tuple[float, float]


def slim_png(picture: bytes) -> bytes:
    """Return the picture with a palette: from the most frequent colour on, each colour that differs from those before.

    A colour of a large part differs by three levels, because a gradient must stay smooth. A colour of few pixels, from the
    antialiasing of an edge, differs by more.
    """
    with Image.open(io.BytesIO(picture)) as image:
        pixels, size, dpi = np.asarray(image.convert("RGB"), np.int32), image.size, image.info.get("dpi")
    numbers, positions, counts = np.unique(pixels @ [1 << 16, 1 << 8, 1], return_inverse=True, return_counts=True)
    colours = np.stack([numbers >> 16, numbers >> 8 & 255, numbers & 255], axis=1)
    palette = np.empty((0, 3), int)
    for colour, count in zip(colours[np.argsort(-counts, kind="stable")], sorted(counts, reverse=True)):
        most = OFF_LARGE if count > LARGE * positions.size else OFF
        if len(palette) < 256 and np.abs(palette - colour).max(1).min(initial=256) > most:
            palette = np.vstack([palette, colour])
    nearest = np.abs(colours[:, None] - palette).max(2).argmin(1).astype(np.uint8)
    slim, few = io.BytesIO(), Image.frombytes("P", size, nearest[positions].tobytes())
    few.putpalette(palette.astype(np.uint8).tobytes())
    few.save(slim, format="PNG", optimize=True, dpi=dpi)
    return slim.getvalue()


def slim_svg(picture: str) -> str:
    """Return the drawing to a hundredth of a point, with a class for each style and a palette for each image in it.

    Neighbouring paths that are lines of the same style become one path. Names of shapes, defaults, clips to the
    whole picture, and points that a line passes anyway are left out. A drawing that has an image with colours gets the class
    `photo`, because its colours must not follow the scheme of a page.
    """
    picture = WITHOUT_EFFECT.sub("", _without_names(_without_clips(picture)))
    picture = IMAGE.sub(lambda image: _slim_image(image[0]), picture)
    picture = TAG.sub(lambda tag: DECIMALS.sub(lambda number: _rounded(float(number[0])), tag[0]), picture)
    picture = re.sub(r'(?<= d=")[^"]*', lambda path: _slim_path(path[0]), picture)
    picture = _with_classes(SAME_LINE.sub("", SHAPE_END.sub("", picture)))
    return (
        picture.replace("<svg ", '<svg class="photo" ', 1)
        if any(map(_has_colours, IMAGE.findall(picture)))
        else picture
    )


def _slim_image(text: str) -> str:
    return base64.b64encode(slim_png(base64.b64decode(text))).decode()


def _has_colours(text: str) -> bool:
    with Image.open(io.BytesIO(base64.b64decode(text))) as image:
        return bool(np.ptp(np.asarray(image.convert("RGB")), axis=-1).max() > COLOURED)


def _rounded(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".")


def _without_names(picture: str) -> str:
    """Unwrap the groups that have only a name, and remove those that are empty."""
    unwrapped: list[bool] = []

    def rewrite(tag: re.Match) -> str:
        if "/>" in tag[0]:
            return ""
        if tag[0].startswith("</"):
            return "" if unwrapped.pop() else tag[0]
        unwrapped.append(bool(re.fullmatch(r'<g id="[^"]*">\n?', tag[0])))
        return "" if unwrapped[-1] else tag[0]

    return re.sub(r"</?g\b[^>]*>\n?", rewrite, picture)


def _without_clips(picture: str) -> str:
    sizes = re.search(r'viewBox="0 0 (\S+) (\S+)"', picture)
    whole = rf'<clipPath id="(\w+)">\s*<rect x="0" y="0" width="{sizes[1]}" height="{sizes[2]}"/>\s*</clipPath>\s*'
    for clip in re.findall(whole, picture):
        picture = picture.replace(f' clip-path="url(#{clip})"', "")
    return re.sub(whole, "", picture).replace("<defs>\n</defs>\n", "")


def _with_classes(picture: str) -> str:
    """Give each style that occurs twice a class. The rules hold below the id of this picture, because a page can have several."""
    styles = Counter(re.findall(r' style="([^"]*)"', picture))
    names = {style: f"c{i}" for i, (style, count) in enumerate(styles.items()) if count > 1}
    key = "p" + hashlib.sha256(picture.encode()).hexdigest()[:8]
    rules = "".join(f"\n#{key} .{name}{{{style}}}" for style, name in names.items())
    for style, name in names.items():
        picture = picture.replace(f' style="{style}"', f' class="{name}"')
    return picture.replace("<svg ", f'<svg id="{key}" ', 1).replace("</style>", f"{rules}</style>", 1)


def _slim_path(path: str) -> str:
    """Let each run of lines (`L x y L x y`) go straight where it stays close to the points that it leaves out."""
    path = re.sub(r"\s*([A-Za-z])\s*", r"\1", " ".join(path.split()))
    return LINES.sub(
        lambda run: "".join(f"L{_rounded(x)} {_rounded(y)}" for x, y in _straightened(_points(run[0]))),
        NO_LENGTH.sub(r"\1", path),
    )


def _points(run: str) -> list[Point]:
    numbers = [float(number) for number in re.findall(r"-?[\d.]+", run)]
    return list(zip(numbers[::2], numbers[1::2], strict=True))


def _straightened(points: list[Point]) -> list[Point]:
    """Return the ends of a line and the points between that it needs: the algorithm of Ramer, Douglas and Peucker.

    Either a line from the first to the last point stays close to all of them, or it is cut at the farthest.
    """
    if len(points) < 3:
        return points
    distances = [_distance(point, points[0], points[-1]) for point in points]
    farthest = distances.index(max(distances))
    if distances[farthest] < CLOSE:
        return [points[0], points[-1]]
    return _straightened(points[: farthest + 1])[:-1] + _straightened(points[farthest:])


def _distance(point: Point, start: Point, end: Point) -> float:
    """Return the distance of a point from the line between two points."""
    across, down = end[0] - start[0], end[1] - start[1]
    x, y = point[0] - start[0], point[1] - start[1]
    along = min(max((x * across + y * down) / ((across**2 + down**2) or 1), 0), 1)
    return hypot(x - along * across, y - along * down)
