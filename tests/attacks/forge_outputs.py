"""Sends cell outputs that the subject would never make: other types, HTML, pictures that are scripts, a million of them."""

from attacks import impersonate


def attack(notebook):
    for _ in range(5):
        impersonate(notebook, reply, to=("cell", "check"))


def reply(request):
    script = "<script>alert(1)</script>"
    data = {
        "text/html": script,
        "image/svg+xml": f"<svg onload=alert(1)>{script}</svg>",
        "application/javascript": "alert(1)",
        "text/markdown": script,
        "text/latex": script,
        "image/png": f'"/>{script}<img src="',
        "image/jpeg": f'"/>{script}',
        "text/plain": script * 1000,
    }
    size = len(request.get("cell", ""))
    kinds = [
        [{"output_type": "display_data", "data": data, "metadata": {"text/html": {"isolated": True}}}] * 50,
        [{"output_type": "stream", "name": script, "text": script}] * 5000,
        [{"output_type": "error", "ename": script, "evalue": [script], "traceback": [script, 1, None, {}]}],
        [{"output_type": script, "ename": 1, "evalue": {}, "traceback": 7}],
        [{"output_type": "execute_result", "data": {"text/plain": "2.0"}, "metadata": {}, "execution_count": 1}],
        [None, 1, "x"],
        {"a": script},
        script * 100_000,
        7,
    ]
    return {"outputs": kinds[size % len(kinds)], "observed": []}
