// The Python of a page: a worker that loads Pyodide and rushlight when it is first asked, and runs cells.
//
// Messages to it: {start: {labs, gpt, version}}, the labs as [name, notebook], and {run: {number, name, source, exercise, passed, too,
// given, apart}}. A cell finds `given`, if there is one, as a variable. `passed` are the checks that count, or nothing if the
// answer is another person's, and `too` those that count again if the check that runs passes.
// Cells with the same `apart` have names of their own.
// Messages from it: {loading: what} before each part that is loaded, {fetched: bytes} so far, {ready}, {number, output} for each
// output of a cell, {number, done: ok} at its end, and {failed: message} if the parts cannot be loaded.

const HERE = new URL(".", self.location.href);
const PYTHON = new URL("pyodide/", HERE);
const QUIET = 3000; // milliseconds after the first cell
const DRAWS = /\b(draw|matplotlib|pyplot)\b/;

// What is fetched is counted, also what Pyodide fetches. Its WebAssembly comes compressed, and what it will ask for may be `ahead`.
const { fetch: plain } = self;
const ahead = {}; // by address, a response
let fetched = 0;
self.fetch = async (asked, ...how) => {
  const address = String(asked.url ?? asked);
  if (ahead[address]) return (await ahead[address]).clone();
  const isWasm = address.endsWith(".wasm");
  const response = await plain(isWasm ? `${address}.zlib` : asked, ...how);
  if (!response.body || !response.ok) return response;
  const count = (part, onward) => (self.postMessage({ fetched: (fetched += part.byteLength) }), onward.enqueue(part));
  const body = response.body.pipeThrough(new TransformStream({ transform: count }));
  if (!isWasm) return new Response(body, response);
  return new Response(body.pipeThrough(new DecompressionStream("deflate")), { headers: { "Content-Type": "application/wasm" } });
};

const early = (name) => (ahead[new URL(name, PYTHON).href] = self.fetch(new URL(name, PYTHON)));

const KEPT = "rushlight"; // the cache of what Python has compiled

const apart = {}; // tabs
let python, tab, number, keep, draws = false;
let queue = Promise.resolve(); // one message after another

self.onmessage = ({ data }) => {
  queue = queue.then(() => answer(data)).catch((error) => self.postMessage({ failed: String(error.message ?? error) }));
};

async function answer(message) {
  if (message.start) await start(message.start);
  else if (message.run) await run(message.run);
}

async function start({ labs = [], gpt, version, language }) {
  const course = bytes(`course.zip?${version}`);
  const spoken = language && bytes(`${language}.zip?${version}`); // what verdicts say, elsewhere than on an English page
  const own = labs.map(([lab]) => bytes(`labs/${lab}.zip?${version}`));
  const files = {}; // by place in the course
  for (const [lab, notebook] of labs) if (notebook) files[`labs/${lab}/${lab}.ipynb`] = bytes(notebook);
  if (gpt) files["rushlight/course/gpt.npz"] = bytes("gpt.npz");
  const before = compiled(version);
  Promise.all([early("pyodide-lock.json"), course])
    .then(async ([lock]) => early((await lock.clone().json()).packages.numpy.file_name)) // while Python starts
    .catch(() => {}); // Pyodide asks again, and says it
  self.postMessage({ loading: "Python" });
  const { loadPyodide } = await import(new URL("pyodide.mjs", PYTHON));
  python = await loadPyodide({ indexURL: PYTHON.href });
  self.postMessage({ loading: "numpy" });
  await load("numpy");
  self.postMessage({ loading: "rushlight" });
  for (const data of [course, ...own, spoken]) if (await data) python.unpackArchive(await data, "zip", { extractDir: "/course" });
  try {
    if (await before) python.unpackArchive(await before, "zip", { extractDir: "/" });
  } catch {
    await caches.delete(KEPT); // not whole: Python compiles again
  }
  for (const [name, data] of Object.entries(files)) {
    python.FS.mkdirTree(`/course/${name.slice(0, name.lastIndexOf("/"))}`);
    python.FS.writeFile(`/course/${name}`, new Uint8Array(await data));
  }
  python.globals.set("show", (output) => {
    self.postMessage({ number, output: output.toJs({ dict_converter: Object.fromEntries }) });
  });
  tab = python.runPython(`
import os, sys
os.environ["LANGUAGE"] = "${language ?? "en"}"  # of the page, and not of the browser
sys.dont_write_bytecode = False
sys.path[:0] = ["/bytecode", "/course"]
from autograder.notebook.tab import Tab
Tab(show)
`);
  self.postMessage({ ready: true });
  keep = async () => {
    const written = python.pyimport("autograder.notebook.tab").bytecode((await before)?.entries ?? 0);
    if (!written) return;
    await caches.delete(KEPT); // what another version of the course has left
    await (await caches.open(KEPT)).put(kept(version), new Response(written.toJs()));
  };
}

// What Python compiled on an earlier visit, as a zip file.
async function compiled(version) {
  const found = await self.caches?.match(kept(version)); // there are no caches where the page is not secure
  if (!found) return null;
  const data = await found.arrayBuffer();
  data.entries = new DataView(data).getUint16(data.byteLength - 12, true); // from the end of the file's directory
  return data;
}

const kept = (version) => new URL(`bytecode?${version}`, HERE).href;

async function load(name) {
  await python.loadPackage(name, { messageCallback: () => {} });
  if (!python.loadedPackages[name]) throw new Error(`${name} cannot be fetched`); // Pyodide only logs it
}

async function bytes(name) {
  const response = await fetch(new URL(name, HERE));
  if (!response.ok) throw new Error(`${name} is not there (${response.status})`);
  return response.arrayBuffer();
}

async function run(cell) {
  if (!draws && DRAWS.test(cell.source)) {
    self.postMessage({ loading: "matplotlib" });
    await load("matplotlib");
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
  if (keep && self.caches) {
    const now = keep;
    keep = null;
    setTimeout(() => (queue = queue.then(now).catch(() => {})), QUIET); // it is only for the next visit
  }
}
