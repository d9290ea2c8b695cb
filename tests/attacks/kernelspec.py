"""Asks for another kernel, another language and other settings of the notebook."""


def attack(notebook):
    notebook.metadata.kernelspec = {"name": "bash", "display_name": "x", "language": "bash"}
    notebook.metadata.language_info = {"name": "python", "pygments_lexer": "<script>", "mimetype": "text/html"}
    notebook.metadata.widgets = {"application/vnd.jupyter.widget-state+json": {"state": {}, "x": "</script><script>"}}
    notebook.metadata.title = "<script>alert(1)</script>"
    notebook.metadata.celltoolbar = "Create Assignment"
