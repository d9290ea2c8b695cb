// A verdict as a link or as a text for others, and an answer that such a link brings.
//
// A link has the answer after `#a=`: JSON, {lab, exercise, answer}, compressed, in the letters of an address. An answer that a link
// brings is lent: it is in the editor and in no storage, nothing of it runs before a press, and its verdict has no points.

const share = (() => {
  const LONGEST = 8000; // characters of a link's answer
  const MOST = 20; // links of one's own that are known again
  const LARGEST = 100_000; // bytes of an answer that is unpacked
  const UNREADABLE = words("The link's answer cannot be read: a part of the link is missing. Ask for the link again. Nothing has changed here.");

  // What a stream makes of bytes or of a text. Ends with an error beyond `most` bytes.
  async function through(stream, data, most) {
    const reader = new Blob([data]).stream().pipeThrough(stream).getReader();
    const parts = [];
    for (let size = 0, part; !(part = await reader.read()).done; parts.push(part.value)) {
      size += part.value.length;
      if (size > most) throw new RangeError(`more than ${most} bytes`);
    }
    return new Uint8Array(await new Blob(parts).arrayBuffer());
  }

  async function packed(given) {
    const bytes = await through(new CompressionStream("deflate-raw"), JSON.stringify(given), Infinity);
    const text = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
    return text.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  }

  async function unpacked(text) {
    const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
    const plain = await through(new DecompressionStream("deflate-raw"), bytes, LARGEST);
    const given = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(plain));
    if (![given.lab, given.exercise, given.answer].every((each) => typeof each === "string")) throw new TypeError("not an answer");
    return given;
  }

  async function copy(text, done, place) {
    place.textContent = "";
    try {
      await navigator.clipboard.writeText(text);
      place.textContent = done;
      setTimeout(() => place.textContent === done && (place.textContent = ""), 6000);
    } catch {
      prompt(words("This browser does not let a page copy. Copy it from here:"), text);
    }
  }

  // A text between fences that none of its lines ends.
  function fenced(text, language) {
    const fence = "`".repeat(Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
    return `${fence}${language}\n${text.trimEnd()}\n${fence}`;
  }

  // An answer without its docstring: the page that the text names has it.
  const withoutDocstring = (answer) => answer.replace(/^([ \t]+)[rR]?("""|''')[^]*?\2[ \t]*\n/m, "");

  // The buttons below the verdict of a check.
  function buttons(cell) {
    const { lab = page.lab } = cell, { number, notebook } = page.labs?.[lab] ?? page;
    const address = new URL(notebook.replace(/ipynb$/, "html"), document.baseURI).href;
    const place = make("span", { role: "status" });
    const asText = words("Copy as text");
    const link = async () => {
      const answer = await packed({ lab, exercise: cell.of, answer: cell.judged });
      if (answer.length > LONGEST) return void (place.textContent = words("This answer is too long for a link. Use {}.", asText));
      made(answer);
      await copy(`${address}#a=${answer}`, words("Copied. The link has this answer in it, and nothing else of yours."), place);
    };
    const text = () => {
      const where = `${address}#${cell.exercise.block.id}`;
      const head = words("Lab {0}, exercise {1}", number, "`" + cell.heading + "`"); // Babel reads no template within a template
      const parts = [`${head}\n${where}`, fenced(cell.said ?? `✓ ${cell.check}`, "text"), fenced(withoutDocstring(cell.judged), "python")];
      return copy(parts.join("\n\n"), words("Copied."), place);
    };
    const button = (label, click) => make("button", { text: label, type: "button", click, "aria-label": `${label}: ${cell.heading}` });
    const group = [button(words("Copy link"), link), button(asText, text), place];
    return make("div", { class: "buttons quiet sharing", role: "group", "aria-label": words("Show others") }, ...group);
  }

  let note; // about the answer that a link has brought

  function say(text, ...more) {
    note?.remove();
    note = make("div", { class: "lent", role: "status" }, make("p", { text }), ...more);
    return note;
  }

  // The answer of this page's link, also after a reload when the address no longer has it. `null` forgets it.
  function brought(text = location.hash.match(/^#a=(.*)$/)?.[1]) {
    const key = `${kept.key} link`;
    try {
      if (text === null) sessionStorage.removeItem(key);
      else if (text !== undefined) sessionStorage.setItem(key, text);
      return sessionStorage.getItem(key);
    } catch {
      return text ?? null; // the browser keeps nothing
    }
  }

  // The answers of the last links that were made in this browser. `text` joins them.
  function made(text) {
    const key = "rushlight/links";
    try {
      const known = JSON.parse(localStorage.getItem(key) ?? "[]");
      if (text) localStorage.setItem(key, JSON.stringify([text, ...known.filter((other) => other !== text)].slice(0, MOST)));
      return known;
    } catch {
      return []; // the browser keeps nothing
    }
  }

  // Take the answer out of the address, which `address.js` keeps there.
  function leave() {
    if (location.hash.startsWith("#a=")) History.prototype.replaceState.call(history, null, "", location.href.split("#")[0]);
  }

  // Put that answer into its editor.
  async function receive() {
    const text = brought();
    if (text === null) return;
    const forget = () => (brought(null), leave());
    const refuse = (why) => (forget(), bar.element.after(say(why)), note.scrollIntoView({ block: "center" }));
    if (text.length > LONGEST) return refuse(words("The link's answer is too long, so it was not read. Nothing has changed here."));
    const verdicts = cells.filter(({ kind }) => kind === "check").map(({ outputs }) => outputs);
    for (const { style } of verdicts) style.visibility = "hidden"; // they are about the reader's answers
    const given = await unpacked(text).catch(() => null);
    for (const { style } of verdicts) style.visibility = "";
    if (!given) return refuse(UNREADABLE);
    if (given.lab !== page.lab) return refuse(words("The link has an answer to the lab {0}, and this is {1}. Nothing has changed here.", given.lab.slice(0, 40), page.lab));
    const cell = cells.find(({ kind, exercise }) => kind === "exercise" && exercise === given.exercise);
    if (!cell) return refuse(words("The link has an answer to an exercise that this lab does not have. Nothing has changed here."));
    for (const other of cells) if (other.lent !== undefined) other.giveBack();
    const there = (...what) => (cell.block.before(say(...what)), note.scrollIntoView({ block: "center" }));
    if (given.answer === cell.mine) return forget(), there(words("The link has the answer that is here already."));
    cell.lend(given.answer);
    const back = () => {
      cell.giveBack();
      forget();
      note.remove();
      cell.buttons.querySelector("button").focus();
    };
    const told = made().includes(text)
      ? words("This answer is your own, from a link that was made here. What you have written since is kept. A verdict on this one gives you no points, and changes to it are not kept.")
      : words("This answer is another person's, from a link, and was not run. Read it before you press Check: it then runs in this page. Your own answer is kept. A verdict on this one gives you no points, and changes to it are not kept.");
    there(told, make("div", { class: "buttons" }, make("button", { text: words("Back to mine"), type: "button", click: back })));
  }

  return { buttons, leave, receive };
})();
