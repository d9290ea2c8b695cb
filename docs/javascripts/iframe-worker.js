// Opened from the disk, a page may not start a Worker, and the search runs in one. There it runs in a hidden frame instead.
if (location.protocol === "file:") {
  window.Worker = window.IFrameWorker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "";
      this.inside = new Promise((ready) => {
        frame.onload = async () => {
          const inside = frame.contentWindow;
          const load = (source) =>
            new Promise((loaded, failed) => {
              const script = inside.document.createElement("script");
              Object.assign(script, { src: source, onload: loaded, onerror: failed });
              inside.document.head.append(script);
            });
          inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          inside.importScripts = async (...sources) => {
            for (const source of sources) await load(source);
          };
          await load(url);
          ready(inside);
        };
      });
      document.body.append(frame);
    }

    postMessage(data) {
      this.inside.then((inside) => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }
  };
}
