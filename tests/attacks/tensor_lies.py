"""Sends tensors that are none: objects, strings of a million letters, records, negative and endless shapes, bytes that lack."""

from attacks import impersonate


def attack(notebook):
    impersonate(notebook, reply)


def reply(request):
    import json
    import struct

    kinds = [("O", [2]), ("U1000000", [1]), ("S64000000", [1]), ("i4,i4", [2]), ("(2,3)f8", [2]), ("((f8", [2])]
    kinds += [("M8[s]", [2]), ("V8", [2]), ("int64", [-1]), ("int64", [10**9]), ("int64", [10**9, 0]), ("int64", "23")]
    kinds += [("int64", [2.0]), ("int64", [True]), ("int64", [1] * 200), ("int64", [2**62, 2**62]), (["a", "O"], [1])]
    count = len(request.get("cases", ()))
    tensors = []
    for i in range(count):
        dtype, shape = kinds[(i + len(request["check"])) % len(kinds)]
        fields = {"dtype": dtype, "shape": shape, "stride": [1], "offset": 0, "data": {"bytes": 8}}
        tensors.append({"tensor": fields})
    text = json.dumps({"outputs": [], "observed": tensors}).encode()
    return struct.pack(">II", len(text), 8 * count) + text + bytes(8 * count)
