"""Libraries are compiled once for a text, a compiler and a machine."""

import subprocess
import sys

import numpy as np
import pytest

from rushlight.inductor import codecache
from rushlight.utils import cpp_extension as cpp

TEXT = 'extern "C" int answer() { return %d; }'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(cpp, "build_folder", lambda: tmp_path)
    return tmp_path


def test_a_text_is_compiled_once(folder, monkeypatch):
    assert codecache.load({"graph.cpp": TEXT % 42}).answer() == 42
    assert len(list(folder.iterdir())) == 1

    def no_more(*args, **kwargs):
        raise AssertionError("it is in the cache")

    codecache.machine()
    monkeypatch.setattr(subprocess, "run", no_more)
    assert codecache.load({"graph.cpp": TEXT % 42}).answer() == 42


def test_other_texts_have_other_libraries(folder):
    assert [codecache.load({"graph.cpp": TEXT % number}).answer() for number in (1, 2, 1)] == [1, 2, 1]
    assert len(list(folder.iterdir())) == 2


def test_what_does_not_compile_is_refused_with_the_compilers_words(folder):
    with pytest.raises(RuntimeError, match="error"):
        codecache.load({"graph.cpp": "int f() { return"})
    assert not list(folder.iterdir())


@pytest.mark.sweep
def test_a_key_is_the_same_in_every_process():
    arguments = {"texts": {"b": "1", "a": "2"}, "command": ["g++", "-O3"], "machine": "x"}
    program = f"from rushlight.inductor.codecache import cache_key; print(cache_key(**{arguments!r}))"
    keys = {subprocess.check_output([sys.executable, "-c", program], text=True).strip() for _ in range(2)}
    assert keys == {codecache.cache_key(**arguments)}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_loop_of_matmul_is_numpys(dtype):
    import ctypes

    loop = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 4)(codecache.matmul_loop(dtype))
    a, b, out = np.ones((2, 3), dtype), np.ones((3, 4), dtype), np.zeros((2, 4), dtype)
    places = (ctypes.c_void_p * 3)(*(each.ctypes.data for each in (a, b, out)))
    sizes = (ctypes.c_ssize_t * 4)(1, 2, 3, 4)
    steps = (ctypes.c_ssize_t * 9)(0, 0, 0, *a.strides, *b.strides, *out.strides)
    loop(places, sizes, steps, None)
    assert (out == 3).all()


def test_processes_that_compile_the_same_at_once_all_get_it(tmp_path):
    program = (
        f"from rushlight.inductor.codecache import load; print(load({dict([('graph.cpp', TEXT % 7)])!r}).answer())"
    )
    environment = {"XDG_CACHE_HOME": str(tmp_path), "PATH": "/usr/local/bin:/usr/bin:/bin"}
    running = [
        subprocess.Popen([sys.executable, "-c", program], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    assert [process.communicate()[0].strip() for process in running] == ["7", "7", "7"]
