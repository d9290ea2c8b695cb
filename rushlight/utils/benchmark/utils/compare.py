"""`Compare`: measurements as a table, a row for each task and a column for each description.

In PyTorch: `torch/utils/benchmark/utils/compare.py`. Left out: colours and environments.
"""

from collections.abc import Iterable

from rushlight.utils.benchmark.utils.common import Measurement, select_unit, trim_sigfig

__all__ = ["Compare"]


class Compare:
    """Show several measurements in one table. Source: `torch/utils/benchmark/utils/compare.py`, `Compare`."""

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results, self._trim = [*results], False

    def extend_results(self, results: Iterable[Measurement]) -> None:
        self._results += results

    def trim_significant_figures(self) -> None:
        self._trim = True

    def __str__(self) -> str:
        merged = Measurement.merge(self._results)
        unit, scale = select_unit(min(measurement.median for measurement in merged))
        cells = {}
        for measurement in merged:
            task, time = measurement.task_spec, measurement.median
            if self._trim:
                time = trim_sigfig(time, measurement.significant_figures)
            digits = 0 if self._trim and time / scale >= 100 else 1
            cells[task.sub_label or task.stmt, task.description or ""] = f"{time / scale:.{digits}f}"
        names, columns = (list(dict.fromkeys(keys)) for keys in zip(*cells))
        label = next((measurement.task_spec.label for measurement in merged if measurement.task_spec.label), "")
        width = max(map(len, names))
        widths = [max(len(column), *(len(cells.get((name, column), "")) for name in names)) for column in columns]
        head = " " * width + "".join(f"  |  {column:^{w}}" for column, w in zip(columns, widths))
        rows = [
            f"{name:{width}}"
            + "".join(f"  |  {cells.get((name, column), ''):>{w}}" for column, w in zip(columns, widths))
            for name in names
        ]
        return "\n".join([f"[{label:-^{len(head) - 2}}]", head, "-" * len(head), *rows, "", f"Times are in {unit}."])

    def print(self) -> None:
        print(self)
