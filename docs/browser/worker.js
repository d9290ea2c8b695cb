// The Python of a page: a worker that loads Pyodide and rushlight when it is first asked, and runs cells.
//
// Messages to it: {start: {labs, gpt, version}}, the labs as [name, notebook], and {run: {number, name, source, exercise, passed, too,
// given, apart}}. A cell finds `given`, if there is one, as a variable. `passed` are the checks that count, or nothing if the
// answer is another person's, and `too` those that count again if the check that runs passes.
// Cells with the same `apart` have names of their own.
// Messages from it: {loading: what} before each part that is loaded, {fetched: bytes} so far, {ready}, {number, output} for each
// output of a cell, {number, done: ok} at its end, with `unreached` if a package that it needs cannot be fetched, and {failed: message}
// if the parts cannot be loaded.

const HERE = new URL(".", self.location.href);
const PYTHON = new URL("pyodide/", HERE);
const DRAWS = /\b(draw|matplotlib|pyplot)\b/;

// What is fetched is counted, also what Pyodide fetches. Archives come compressed, whatever the host does.
const { fetch: plain } = self;
let fetched = 0;
const count = (size) => self.postMessage({ fetched: (fetched += size) });
const counted = ({ body }) => body.pipeThrough(new TransformStream({ transform: (part, onward) => (count(part.byteLength), onward.enqueue(part)) }));
const inflated = (response, headers) => new Response(counted(response).pipeThrough(new DecompressionStream("deflate")), { headers });
self.fetch = async (asked, ...how) => {
  const { pathname } = new URL(asked.url ?? asked, HERE);
  if (pathname.endsWith(".wasm")) return new Response(); // see below
  const response = await plain(asked, ...how);
  if (!response.body || !response.ok) return response;
  return pathname.endsWith(".zlib") ? inflated(response) : new Response(counted(response), response);
};

// Python's WebAssembly is compiled while the scripts that need it come, and not after them. It is compressed if the host does not compress
// it. If the host does, the browser keeps what it compiles for the next visit, and all of it counts at once.
const compiled = WebAssembly.compileStreaming(
  (async () => {
    const address = new URL("pyodide.asm.wasm", PYTHON), { ok, headers } = await plain(address, { method: "HEAD" });
    if (ok && headers.has("Content-Encoding")) return count(Number(headers.get("Content-Length"))), plain(address);
    const response = await plain(`${address}.zlib`);
    return response.ok ? inflated(response, { "Content-Type": "application/wasm" }) : response;
  })(),
);
compiled.catch((error) => self.postMessage({ failed: String(error.message ?? error) })); // Pyodide would wait
WebAssembly.instantiateStreaming = async (_, imports) => {
  const module = await compiled;
  return { module, instance: await WebAssembly.instantiate(module, imports) };
};

const apart = {}; // tabs
let python, tab, number, draws = false;
let queue = Promise.resolve(); // one message after another

self.onmessage = ({ data }) => {
  queue = queue.then(() => answer(data)).catch((error) => self.postMessage({ failed: String(error.message ?? error) }));
};

async function answer(message) {
  if (message.start) await start(message.start);
  else if (message.run) await run(message.run);
}

async function start({ labs = [], gpt, version, language }) {
  const numpy = bytes(`numpy.zlib?${version}`);
  const parts = ["course", ...labs.map(([lab]) => `labs/${lab}`)];
  if (language) parts.push(language); // what verdicts say, elsewhere than on an English page
  const course = parts.map((name) => bytes(`${name}.zlib?${version}`));
  const files = {}; // by place in the course
  for (const [lab, notebook] of labs) if (notebook) files[`labs/${lab}/${lab}.ipynb`] = bytes(notebook);
  if (gpt) files["rushlight/course/gpt.npz"] = bytes("gpt.npz");
  self.postMessage({ loading: "Python" });
  const [{ loadPyodide }] = await Promise.all(["pyodide.mjs", "pyodide.asm.js"].map((name) => import(new URL(name, PYTHON))));
  python = await loadPyodide({ indexURL: PYTHON.href, stdLibURL: new URL(`stdlib.zlib?${version}`, HERE).href });
  self.postMessage({ loading: "numpy" });
  unpack(await numpy);
  python.runPython("import importlib; importlib.invalidate_caches(); import numpy");
  self.postMessage({ loading: "rushlight" });
  for (const data of course) unpack(await data);
  for (const [name, data] of Object.entries(files)) write(`course/${name}`, new Uint8Array(await data));
  python.globals.set("show", (output) => {
    self.postMessage({ number, output: output.toJs({ dict_converter: Object.fromEntries }) });
  });
  tab = python.runPython(`
import os, sys
os.environ["LANGUAGE"] = "${language ?? "en"}"  # of the page, and not of the browser
sys.path.insert(0, "/course")
from autograder.notebook.tab import Tab
Tab(show)
`);
  self.postMessage({ ready: true });
}

// Write the files of an archive: the size of its directory, this directory, and one file after another.
function unpack(data) {
  let at = 4 + new DataView(data).getUint32(0, true);
  const directory = new TextDecoder().decode(new Uint8Array(data, 4, at - 4));
  for (const [path, size] of JSON.parse(directory)) write(path, new Uint8Array(data, at, size)), (at += size);
}

function write(path, data) {
  python.FS.mkdirTree(`/${path.slice(0, path.lastIndexOf("/"))}`);
  python.FS.writeFile(`/${path}`, data, { canOwn: true });
}

// Returns whether a package is there. Pyodide only logs that it cannot be fetched.
async function load(name) {
  await python.loadPackage(name, { messageCallback: () => {} }).catch(() => {});
  return name in python.loadedPackages;
}

async function bytes(name) {
  const response = await fetch(new URL(name, HERE));
  if (!response.ok) throw new Error(`${name} is not there (${response.status})`);
  return response.arrayBuffer();
}

async function run(cell) {
  if (!draws && DRAWS.test(cell.source)) {
    self.postMessage({ loading: "matplotlib" });
    if (!(await load("matplotlib"))) return self.postMessage({ ready: true, number: cell.number, done: false, unreached: true });
    python.runPython("import matplotlib.font_manager"); // looks for fonts, and says so
    draws = true;
    self.postMessage({ ready: true });
  }
  number = cell.number;
  if (cell.given) tab.namespace.given = python.toPy(cell.given);
  if (cell.apart) apart[cell.apart] ??= python.pyimport("autograder.notebook.tab").Tab(python.globals.get("show"));
  const here = cell.apart ? apart[cell.apart] : tab;
  const ok = here.run(cell.name, cell.source, cell.exercise, cell.passed, cell.too);
  self.postMessage({ number, done: ok });
}
