"""Writes a good many forged observations into every pipe and file that the process has inherited."""


def cell():
    import json
    import os
    import struct

    lineage = ["IndexError", "LookupError", "Exception", "BaseException"]
    kinds = [[], {"error": lineage, "type": "IndexError", "message": ""}]
    forged = json.dumps({"observed": kinds * 60}).encode()
    message = struct.pack(">II", len(forged), 0) + forged
    for fd in range(64):
        try:
            os.set_blocking(fd, False)
            for _ in range(20):
                os.write(fd, message)
        except OSError:
            pass
