"""What is rewritten before the workers start is what pytest would have made."""

import importlib.util

import pytest
import rewriting
from _pytest.assertion import rewrite


def test_pytest_reads_a_file_that_was_rewritten_before(tmp_path, pytestconfig, monkeypatch):
    path = tmp_path / "test_lists.py"
    path.write_text("def differ():\n    assert [1, 2] == [1, 3]\n")
    rewriting.keep(path)
    monkeypatch.setattr(rewrite, "_rewrite_test", None)
    hook = pytestconfig.stash[rewrite.assertstate_key].hook
    module = importlib.util.module_from_spec(importlib.util.spec_from_file_location("test_lists", path, loader=hook))
    hook.exec_module(module)
    with pytest.raises(AssertionError, match="At index 1 diff: 2 != 3"):
        module.differ()
