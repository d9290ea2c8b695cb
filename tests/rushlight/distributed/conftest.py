import pytest


@pytest.fixture(autouse=True)
def on_cpu(monkeypatch):
    """Keep ranks on the CPU, whatever the machine has, because gloo sends no tensors of a GPU."""
    monkeypatch.setenv("RUSHLIGHT_DEVICE", "cpu")
