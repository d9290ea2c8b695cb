"""Displays HTML, scripts, SVG, LaTeX and widgets, prints them, raises them and colours them by ANSI codes."""


def cell():
    from IPython.display import HTML, SVG, Javascript, Latex, Markdown, display

    script = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    display(HTML(script), SVG(f"<svg xmlns='http://www.w3.org/2000/svg'>{script}</svg>"), Javascript("alert(1)"))
    display(Latex(script), Markdown(script), {"text/html": script, "application/pdf": script}, raw=False)
    display({"text/html": script, "image/png": '"><script>alert(1)</script>', "text/plain": script}, raw=True)
    print(script, f"\x1b[31m{script}\x1b[0m \x1b]8;;javascript:alert(1)\x07link", "\x1b[0m" * 20_000)
    raise type("<script>alert(1)</script>", (Exception,), {})(script)


def answer():
    raise type("<img src=x onerror=alert(1)>", (ValueError,), {})("</pre><script>alert(1)</script>")
