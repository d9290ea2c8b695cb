// Compile, on Pyodide's Python, the modules that a first check loads:
//
//     node docs/programs/browser/compile.mjs PARTS FILES COMPILED
//
// PARTS is the folder of Pyodide, FILES a zip file that is unpacked at `/`, and COMPILED the zip file that is written: the bytecode of
// each module, under the path of its source.

import { readFileSync, writeFileSync } from "node:fs";

const [parts, files, compiled] = process.argv.slice(2);
const { loadPyodide } = await import(`${parts}/pyodide.mjs`);
const python = await loadPyodide({ indexURL: parts });
python.unpackArchive(new Uint8Array(readFileSync(files)), "zip", { extractDir: "/" });
python.runPython(`
import marshal, sys, zipfile
from importlib.machinery import SourceFileLoader
from importlib.util import MAGIC_NUMBER

sys.path.insert(0, "/course")
codes, compile_source = {}, SourceFileLoader.source_to_code  # what an import compiles is kept

def source_to_code(loader, data, path, **how):
    codes[path] = compile_source(loader, data, path, **how)
    return codes[path]

SourceFileLoader.source_to_code = source_to_code
import gzip  # which the recorded answers need

import autograder.engine.card, autograder.engine.recorder, autograder.notebook.tab
from autograder.engine.check import registry

registry()  # what labs share

def compiled(spec):
    if not spec.origin.startswith("/lib/python312.zip/") or "pyodide" in spec.name:
        return codes.get(spec.origin) or spec.loader.get_code(spec.name)
    return compile(spec.loader.get_source(spec.name), spec.origin, "exec", dont_inherit=True, optimize=2)  # smaller without docstrings

head = MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8)  # "unchecked", and no hash of the source
specs = [module.__spec__ for module in sys.modules.values() if getattr(module, "__spec__", None)]
with zipfile.ZipFile("/compiled.zip", "w") as file:
    for origin, spec in sorted({spec.origin: spec for spec in specs if (spec.origin or "").endswith(".py")}.items()):
        file.writestr(origin.lstrip("/"), head + marshal.dumps(compiled(spec)))
`);
writeFileSync(compiled, python.FS.readFile("/compiled.zip"));
