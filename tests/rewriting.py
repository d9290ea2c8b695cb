"""Rewrite the assertions of all tests, as pytest does before it imports them.

pytest keeps what it has rewritten in `__pycache__`. `make test` runs this first, so that in a new clone not each of its workers
rewrites all tests.
"""

from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from types import SimpleNamespace

from _pytest.assertion import rewrite


def keep(path: Path) -> None:
    """Rewrite a file, unless pytest's file of it is there and fresh."""
    kept = rewrite.get_cache_dir(path) / f"{path.stem}{rewrite.PYC_TAIL}"
    if rewrite._read_pyc(path, kept) is None:
        kept.parent.mkdir(exist_ok=True)
        stat, code = rewrite._rewrite_test(path, None)
        rewrite._write_pyc(SimpleNamespace(trace=print), code, stat, kept)


if __name__ == "__main__":
    tests = sorted(Path(__file__).parent.rglob("test_*.py"))
    with ProcessPoolExecutor() as pool:
        [*pool.map(keep, tests, chunksize=16)]
