// The Python of a page: a worker that loads Pyodide and rushlight when it is first asked, and runs cells.
//
// Messages to it: {start: {lab, notebook, gpt}} with addresses from here, {run: {number, name, source}} and {plug: {number, name, source, check}}.
// Messages from it: {loading: what} before each part that is loaded, {ready}, {number, output} for each output of a cell,
// {number, done: ok} at its end, and {failed: message} if the parts cannot be loaded.

const HERE = new URL(".", self.location.href);
const PYTHON = new URL("pyodide/", HERE);
const FIGURES = ["matplotlib"]; // loaded when a cell first draws
const DRAWS = /\b(draw|matplotlib|pyplot)\b/;

let python, tab, number, draws = false;
let queue = Promise.resolve(); // one message after another

self.onmessage = ({ data }) => {
  queue = queue.then(() => answer(data)).catch((error) => self.postMessage({ failed: String(error.message ?? error) }));
};

async function answer(message) {
  if (message.start) await start(message.start);
  else if (message.run || message.plug) await run(message.run ?? message.plug);
}

async function start({ lab, notebook, gpt }) {
  const course = bytes("course.zip");
  const files = { [`recordings/${lab}.zip`]: bytes(`recordings/${lab}.zip`) }; // by place in the course
  if (notebook) files[`labs/${lab}/${lab}.ipynb`] = bytes(notebook);
  if (gpt) files["rushlight/course/gpt.npz"] = bytes("gpt.npz");
  self.postMessage({ loading: "Python" });
  const { loadPyodide } = await import(new URL("pyodide.mjs", PYTHON));
  python = await loadPyodide({ indexURL: PYTHON.href });
  self.postMessage({ loading: "numpy" });
  await python.loadPackage("numpy", { messageCallback: () => {} });
  self.postMessage({ loading: "rushlight" });
  python.unpackArchive(await course, "zip", { extractDir: "/course" });
  for (const [name, data] of Object.entries(files)) {
    python.FS.mkdirTree(`/course/${name.slice(0, name.lastIndexOf("/"))}`);
    python.FS.writeFile(`/course/${name}`, new Uint8Array(await data));
  }
  python.globals.set("show", (output) => {
    self.postMessage({ number, output: output.toJs({ dict_converter: Object.fromEntries }) });
  });
  tab = python.runPython(`
import sys
sys.path.insert(0, "/course")
from autograder.notebook.tab import Tab
Tab(show)
`);
  self.postMessage({ ready: true });
}

async function bytes(name) {
  const response = await fetch(new URL(name, HERE));
  if (!response.ok) throw new Error(`${name} is not there (${response.status})`);
  return response.arrayBuffer();
}

async function run(cell) {
  if (!draws && DRAWS.test(cell.source)) {
    self.postMessage({ loading: "matplotlib" });
    await python.loadPackage(FIGURES, { messageCallback: () => {} });
    python.runPython("import matplotlib.font_manager"); // looks for fonts, and says so
    draws = true;
    self.postMessage({ ready: true });
  }
  number = cell.number;
  const ok = cell.check ? tab.plug_in(cell.name, cell.source, cell.check) : tab.run(cell.name, cell.source);
  self.postMessage({ number, done: ok });
}
