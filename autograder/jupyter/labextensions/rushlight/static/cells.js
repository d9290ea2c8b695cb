// Before JupyterLab runs a cell of a lab, it tells the kernel what stands in the notebook's cells (`autograder/notebook/cells.py`):
// so a check can say that its exercise was edited and not run, and a missing name in which cell it is made. And a check that fails
// stops none of the cells that were to run after it, as in Run All: an exercise that is skipped must not stop the others.
// JupyterLab loads this file as it is: a container of webpack's module federation, written by hand.
{
  const PACKAGE = "@jupyterlab/notebook";
  const TELL = (text) => `__import__("autograder.notebook.cells", fromlist=["see"]).see(${JSON.stringify(text)})`;
  let shared;

  function tell(_, { notebook, cell }) {
    const about = notebook.model?.getMetadata("rushlight"), kernel = notebook.parent?.sessionContext?.session?.kernel;
    if (!about?.lab || !kernel) return;
    const code = [...notebook.model.cells].filter(({ type }) => type === "code").map(({ id, sharedModel }) => [id, sharedModel.getSource()]);
    const seen = { running: cell.model.id, language: about.language ?? "en", cells: code };
    goOnAfterChecks(kernel);
    kernel.requestExecute({ code: TELL(JSON.stringify(seen)), silent: true, store_history: false, stop_on_error: false });
  }

  const known = new WeakSet(); // kernels that go on

  function goOnAfterChecks(kernel) {
    if (known.has(kernel)) return;
    known.add(kernel);
    const request = kernel.requestExecute.bind(kernel);
    kernel.requestExecute = (content, dispose, metadata) => request(metadata?.rushlight?.check ? { ...content, stop_on_error: false } : content, dispose, metadata);
  }

  async function extension() {
    const [found] = Object.values(shared[PACKAGE]);
    const { NotebookActions } = (await found.get())();
    return { id: "rushlight:cells", autoStart: true, activate: () => void NotebookActions.executionScheduled.connect(tell) };
  }

  (window._JUPYTERLAB ??= {}).rushlight = {
    init: (scope) => void (shared = scope),
    get: async () => {
      const plugin = await extension();
      return () => ({ __esModule: true, default: plugin });
    },
  };
}
