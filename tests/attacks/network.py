"""Calls home: by name, by address, to this machine, by Unix sockets in the file system and in the abstract space."""


def cell():
    import socket
    import urllib.request

    for family, address in (
        (socket.AF_INET, ("127.0.0.1", 22)),
        (socket.AF_INET, ("1.1.1.1", 53)),
        (socket.AF_INET6, ("::1", 22)),
        (socket.AF_UNIX, "/var/run/docker.sock"),
        (socket.AF_UNIX, "\0/tmp/.X11-unix/X0"),
    ):
        try:
            with socket.socket(family) as one:
                one.settimeout(0.1)
                one.connect(address)
                print("REACHED", address)
        except OSError as error:
            print(error)
    try:
        urllib.request.urlopen("http://169.254.169.254/latest", timeout=0.1)
        print("REACHED metadata")
    except OSError as error:
        print(error)


def answer():
    import urllib.request

    return urllib.request.urlopen("http://answers.example/", timeout=0.2).read()
