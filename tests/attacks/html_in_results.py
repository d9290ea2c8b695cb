"""Returns strings and names of types with markup in them, for the table of the verdict to show."""


def answer():
    return "</pre></td><script>alert(1)</script>", type("<img src=x onerror=alert(1)>", (), {})()
