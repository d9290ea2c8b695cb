// The cells of a page as editors with Run and Check, over one Python in a worker (worker.js).
//
// The page has its cells as blocks with `data-cell`, and a script of JSON, `#tab`, with what a block does not say: {base, lab, number,
// notebook, points, here, bytes, before, cells: {id: {kind, binds, prints, check, points}}}. `here` are those of the `points` that the page can give, `bytes` is what is loaded at the first press, and `before` is
// run first in each Python. `after` is the next lab. A reading has exercises of labs, whose answers are those of the labs' own pages: such
// a cell names its `lab`, and `labs` has for each {imports, number, notebook, points, of, here}. `next` is the cell of a lab that takes over the
// answer of a page with one exercise, home. The kinds are exercise, check, plain, drawing, written (an answer in words), and torch, which
// does not run here: a part of it may, for the cells below. Nothing is loaded before the first press. Answers stay in this browser's
// storage, by lab.

const page = JSON.parse(document.getElementById("tab").textContent);
const base = new URL(page.base, document.baseURI);
const LIMIT = { exercise: 60, check: 60, plain: 600, drawing: 600, torch: 600 }; // seconds, then a cell is stopped
const LANGUAGE = document.documentElement.lang; // of a verdict that is kept
const HINT = words("Tab indents. Press Escape, then Tab, to leave the editor. Shift+Enter runs or checks.");
const LOST = words("This browser cannot keep your answers: download them before you leave.");
const TAKE_OUT = 'from autograder.engine import check, exercise\nexercise.unplug(check.function_of("{}"))'; // the cells of a reading run without pieces
const MARKED = 'import json\nfrom autograder.notebook.first_answers import marked\nprint(json.dumps(marked("{}")))';
const REMEMBER = "import json\nfrom autograder.notebook.first_answers import remember\nremember(json.loads({}))";
const ENOUGH = 40; // words of a written answer
const GREY = "#656d76"; // that of a card which does not judge
const UNREACHED = words("The site cannot be reached: try again when this computer is connected. Your answers stay.");

const make = (tag, { text, ...given } = {}, ...inside) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(given)) {
    if (typeof value === "function") element.addEventListener(name, value);
    else if (value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  if (text) element.textContent = text;
  element.append(...inside);
  return element;
};

// As the card of a verdict says it.
const inPoints = (points, of) => (of === 1 ? words("{} of 1 point", points) : words("{0} of {1} points", points, of));

// A text of Python in the colours that the page gives to code: the classes are those of Pygments.
const COLOURED = new RegExp(
  [
    /(?<sd>(?<=^[ \t]*)(?:"""[^]*?"""|'''[^]*?'''))|(?<s1>"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')|(?<c1>#.*)/,
    /(?<nd>(?<=^[ \t]*)@[\w.]+)|(?<nf>(?<=\b(?:def|class)\s+)\w+)|(?<mi>\b\d(?:[eE][-+]\d|[\w.])*)|(?<kc>\b(?:False|None|True)\b)/,
    /(?<nn>(?<=^[ \t]*(?:from|import)[ \t]+)[\w.]+|(?<=^[ \t]*import[ \t]+[\w.]+[ \t]+as[ \t]+)\w+)|(?<ow>\b(?:and|in|is|not|or)\b)/,
    /(?<k>\b(?:as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|lambda|nonlocal|pass|raise|return|try|while|with|yield)\b)/,
    /(?<bp>(?<!\.)\b(?:self|cls|Ellipsis|NotImplemented)\b)|(?<ne>(?<!\.)\b(?:[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit)|Exception|StopIteration)\b)/,
    /(?<nb>(?<!\.)\b(?:abs|all|any|bin|bool|bytearray|bytes|callable|chr|classmethod|complex|dict|dir|divmod|enumerate|eval|filter|float|format|frozenset|getattr|globals|hasattr|hash|hex|id|input|int|isinstance|issubclass|iter|len|list|locals|map|max|min|next|object|oct|open|ord|pow|print|property|range|repr|reversed|round|set|setattr|slice|sorted|staticmethod|str|sum|super|tuple|type|vars|zip)\b)/,
    /(?<n>\w+)|(?<p>[()[\]{}:,;]+)|(?<o>[-!~+/*%=<>&^|.@]+)/,
  ].map(({ source }) => source).join("|"),
  "gm",
);

// The coloured parts of a text, as [start, end, class].
const parts = (text) => Array.from(text.matchAll(COLOURED), ({ 0: part, index, groups }) => [index, index + part.length, Object.keys(groups).find((kind) => groups[kind])]);

function* coloured(text) {
  let last = 0;
  for (const [start, end, kind] of parts(text)) {
    yield text.slice(last, start);
    if (kind === "sd") yield* hanging(text.slice(start, end), text.slice(last, start).match(/ *$/)[0].length);
    else yield make("span", { class: kind, text: text.slice(start, end) });
    last = end;
  }
  yield text.slice(last);
}

// The lines of a docstring. A long one goes on below its own first letter. The first line has an indent `before` it.
function* hanging(text, before) {
  for (const [index, line] of text.split("\n").entries()) {
    if (index) yield "\n";
    yield make("span", { class: "sd", style: index ? `--in: ${line.search(/\S|$/)}ch` : `--before: ${before}ch`, text: line });
  }
}

// What the browser keeps ----------------------------------------------------------------------------------------------

class Kept {
  works = true;
  answers = {}; // by cell, what differs from the page's own text
  passed = {}; // by check, the text of the exercise that passed it; by milestone, the reader's pieces that it passed with
  said = {}; // by check, what its last verdict is about, as `subject`, and the first line of this verdict: [text, line, language, sign]
  marked = {}; // by exercise whose predictions are marked, the first ones, which count, as Python's text (`true` in an earlier version)
  replaced = {}; // by cell, the reader's text before it was started again
  ended = undefined; // of a lab all of whose checks here passed once: see end.js

  // `points` gives {points, of, here}, for the links to a lab.
  constructor(key, points) {
    Object.assign(this, { key: `rushlight/${key}`, counted: points });
    this.read();
  }

  read() {
    try {
      const { answers = {}, passed = {}, said = {}, failed, marked = {}, replaced = {}, finished, ended = finished } = JSON.parse(localStorage.getItem(this.key) ?? "{}");
      Object.assign(this, { answers, passed, said: { ...said, ...failed }, marked, replaced, ended }); // an earlier version kept two kinds
    } catch {
      this.works = false;
    }
  }

  // The end of a lab that still has all the points of its end.
  get finished() {
    return this.ended && this.counted().points >= this.ended.points ? this.ended : undefined;
  }

  // Take what another tab of this page has written.
  follow() {
    const before = new Map(cells.map((cell) => [cell, cell.text]));
    this.read();
    for (const cell of cells) if (cell.text !== before.get(cell)) cell.display();
    dispatchEvent(new Event("rushlight:kept"));
    bar.show();
  }

  write() {
    try {
      const { answers, passed, said, marked, replaced, ended, finished } = this;
      localStorage.setItem(this.key, JSON.stringify({ answers, passed, said, marked, replaced, ended, finished, at: Date.now(), ...this.counted() }));
      this.works = true;
      dispatchEvent(new Event("rushlight:kept"));
    } catch {
      this.works = false;
    }
    bar.show();
  }
}

const kept = new Kept(page.key ?? page.lab, () => page.notebook && { points: earned(), of: page.points, here: page.here });
const ofLabs = Object.fromEntries(Object.entries(page.labs ?? {}).map(([lab, about]) => [lab, new Kept(lab, () => pointsOf(lab, about))]));

// The points of a lab some of whose cells are on this page.
function pointsOf(lab, { points, of, here }) {
  const found = passedIn(ofLabs[lab]).filter((check) => check in points);
  return { points: found.reduce((sum, check) => sum + points[check], 0), of, here };
}

// The checks that hold, or would if the check `given` passed.
const passedIn = (store, given) => Object.keys(store.passed).filter((check) => holds(check, store, given));

// Python --------------------------------------------------------------------------------------------------------------

const python = {
  worker: null,
  ready: null, // a promise
  giveUp: null, // rejects this promise
  loaded: false, // and the pieces that have passed are plugged in
  ran: new Map(), // by cell, the text that has run in this Python
  number: 0,
  limit: null, // seconds for a case, once a check has begun
  case: null, // of the check that runs, {case, of, said}, if it has several
  waiting: null, // for the cell that runs: {number, show, finish}

  start() {
    this.ready ??= new Promise((resolve, reject) => {
      this.giveUp = reject;
      bar.progress("Python");
      this.worker = new Worker(new URL("worker.js", base), { type: "module" });
      this.worker.onerror = (event) => this.fail(event.message || words("the site cannot be reached"));
      this.worker.onmessage = ({ data }) => {
        if (data.loading) bar.progress(data.loading);
        if (data.fetched) bar.fetched(data.fetched / page.bytes);
        if (data.ready) bar.progress(null), resolve();
        if (data.failed) this.fail(data.failed);
        if (data.case) this.case = data;
        if ("limit" in data) (this.limit = data.limit || this.limit), this.waiting?.within(2 * data.limit); // Python ends a case by itself, unless it is in C code
        if (data.number === this.waiting?.number) {
          if (data.output) this.waiting.show(data.output);
          if ("done" in data) this.waiting.finish(data.done, data.unreached && UNREACHED);
        }
      };
      const known = page.labs ?? (page.lab ? { [page.lab]: page } : {});
      const labs = Object.entries(known).map(([lab, { notebook }]) => [lab, notebook && new URL(notebook, document.baseURI).href]);
      const { gpt, version, language } = page;
      this.worker.postMessage({ start: { labs, gpt, version, language } });
    }).then(plugInAgain).then(() => (this.loaded = true));
    return this.ready;
  },

  // What is loading, or the cell that runs, has made this Python unusable.
  fail(why) {
    if (this.waiting) this.stop(words("Python has ended ({})", why));
    else this.end(words("Python could not be loaded: {}. Press again to try once more.", navigator.onLine ? why : words("the site cannot be reached")));
  },

  // Run a text as a cell. Resolves to whether it ended without an error.
  run(cell, text, show) {
    return new Promise((resolve) => {
      const number = ++this.number;
      this.case = null;
      const seconds = LIMIT[cell.kind];
      const judged = cell.kind === "exercise" || cell.kind === "check";
      const late = (left) => judged ? words("timed out: no answer within {} s: an endless loop, perhaps, or more work than this time allows", left) : words("Stopped after {} seconds", left);
      let limit;
      const within = (left) => {
        clearTimeout(limit);
        left ||= seconds;
        limit = setTimeout(() => ((cell.said = cell.check && `✗ ${cell.check}: ${late(left)}`), this.stop(late(left))), left * 1000);
      };
      within();
      const finish = (ok, why) => {
        clearTimeout(limit);
        this.waiting = null;
        if (why) show({ output_type: "error", traceback: [why] });
        resolve(ok);
      };
      this.waiting = { number, show, finish, within };
      const isCounted = cell.kept && !page.next; // so that both count the same points
      const passed = cell.kind === "check" && isLent(cell) ? undefined : isCounted ? passedIn(cell.kept) : [];
      const too = isCounted && passed ? passedIn(cell.kept, cell.check).filter((check) => !passed.includes(check)) : [];
      this.worker.postMessage({ run: { number, name: cell.name, source: text, passed, too, exercise: cell.kind === "exercise" ? cell.exercise : "", apart: cell.lab } });
    });
  },

  // End this Python, with what runs in it. The next press starts another, with the pieces that have passed. Only a Python that ends
  // a case by itself knows the line.
  stop(why) {
    const { waiting, loaded } = this, { case: number, of, said } = this.case ?? {};
    why = words("{}. The next press starts Python again, with the pieces that have passed.", why);
    this.end(loaded ? "" : why);
    waiting?.finish(false, of ? `${why}\n\n${words("It ran case {0} of {1}:", number, of)}\n${said}` : why);
  },

  end(why) {
    this.worker?.terminate();
    this.worker = this.ready = null;
    this.loaded = false;
    this.ran.clear();
    bar.progress(null);
    bar.say(why);
    this.giveUp?.();
  },
};

// Give a new Python the pieces that have passed, and the cells whose names they use.
async function plugInAgain() {
  if (page.before) await python.run({ kind: "plain", name: "before" }, page.before, () => {});
  for (const cell of cells) {
    const check = cell.checked?.check;
    if (check && !cell.lab && kept.passed[check] === cell.text) await runNeeded(cell), await runOne(cell, () => {});
  }
}

// A cell --------------------------------------------------------------------------------------------------------------

class Cell {
  constructor(block, id) {
    Object.assign(this, { binds: [] }, page.cells[id], { id, block });
    this.code = block.querySelector("pre > code");
    this.own ??= this.code.textContent.replace(/\n$/, "");
    this.title = block.querySelector(".filename, .admonition-title")?.textContent;
    this.name = `cell ${id}`;
    this.outside = block.closest("details.folded") ?? block; // code that only draws is folded away
    const isCheck = this.kind === "check";
    this.outputs = make("div", { class: "outputs", ...(isCheck && { role: "group", "aria-label": words("Verdict") }) });
    this.stored = []; // the outputs that the page came with
    this.waiting = make("p", { class: "notes", "aria-hidden": true }); // what the cell waits for, which the bar says too
    this.editor = null;
    this.judged = null; // of a check, what the verdict that is shown is about: `subject`
  }

  // What a check decides about: the text of its exercise, or of a milestone, the names of the reader's pieces.
  get subject() {
    if (this.kind !== "check") return undefined;
    return this.exercise ? this.exercise.text : pieces().filter((piece) => isOwn(piece)).map(({ exercise }) => exercise).join(" ");
  }

  // The name by which its heading calls a cell.
  get heading() {
    const name = this.of ?? this.check ?? this.exercise;
    return name ? name.split(".").at(-1) : sectionOf(this.block, document.querySelectorAll("[data-cell]"));
  }

  get kept() {
    return this.lab ? ofLabs[this.lab] : kept;
  }

  // The reader's text.
  get mine() {
    return this.kept.answers[this.id] ?? this.own;
  }

  // The text in the editor: the reader's, or one that is lent by a link and not kept (share.js).
  get text() {
    return this.lent ?? this.mine;
  }

  set text(text) {
    if (this.lent !== undefined) return void ((this.lent = text), share.leave()); // the address has another answer
    if (text === this.own) delete this.kept.answers[this.id];
    else this.kept.answers[this.id] = text;
    this.offerAgain();
    this.kept.write();
  }

  lend(text) {
    this.lent = text;
    this.display();
    bar.show();
  }

  giveBack() {
    this.lent = undefined;
    this.display();
    if (python.ran.has(this.id)) python.end(""); // the next one has the reader's pieces alone
    bar.show();
  }

  // Put the text into the page.
  display() {
    this.offerAgain();
    if (this.editor) this.editor.replace(this.text);
    else this.code.replaceChildren(...coloured(this.text));
  }

  // The place for an answer in words.
  offer() {
    const empty = this.block.querySelector("p:not(.admonition-title)");
    const input = () => (this.text = this.editor.value || this.own);
    this.editor = make("textarea", { rows: 5, "aria-label": this.title, placeholder: words("Your answer"), input });
    this.editor.value = this.text === this.own ? "" : this.text;
    this.editor.replace = (text) => (this.editor.value = text === this.own ? "" : text);
    empty.replaceWith(this.editor);
    this.model = document.querySelector(`[data-model="${this.id}"]`);
    this.ahead = make("p", { class: "notes", text: words("After {} words of your own you can compare them with a model answer.", ENOUGH) });
    if (this.model) this.block.after(this.ahead);
  }

  // A model answer is for a reader who has written an answer.
  showModel() {
    if (!this.model) return;
    this.model.hidden = this.text === this.own || this.text.trim().split(/\s+/).length < ENOUGH;
    this.ahead.hidden = !this.model.hidden;
  }

  // The buttons below the block, and its outputs below them: those that the page came with, at first.
  dress() {
    const last = this.kind === "exercise" ? this.checked : null;
    const buttons = [];
    const button = (text, action, more = {}) => buttons.push(make("button", { text, type: "button", click: action, ...more }));
    if (this.kind === "check" && !this.lacks) button(words("Check"), () => press(this), { class: "main" });
    if (last && !last.lacks) button(words("Check"), () => press(last), { class: "main" });
    const draws = page.notebook && this.kind === "drawing"; // its code is folded away
    if (page.notebook && this.prints) this.outside.open = true; // such as a cell with the reader's name
    if (draws) button(words("Draw with my functions"), () => press(this));
    if (this.kind !== "check") {
      if (!draws) button(words("Run"), () => press(this)), button(words("Edit"), () => this.edit(), { "data-edit": "" });
      button("", () => this.startAgain());
      this.again = buttons.at(-1);
      this.offerAgain();
    }
    for (const each of buttons) each.setAttribute("aria-label", `${each.textContent}: ${this.heading}`);
    this.buttons = make("div", { class: page.notebook || this.checked ? "buttons" : "buttons quiet" }, ...buttons);
    if (this.lacks && !saysAbove(this)) this.sayWhatItLacks();
    let next = this.outside.nextElementSibling;
    while (next?.matches(".output, .figure, .verdict")) {
      const stored = next;
      next = next.nextElementSibling;
      this.outputs.append(stored);
    }
    this.stored = [...this.outputs.children];
    this.alts = Array.from(this.outputs.querySelectorAll("img"), ({ alt }) => alt); // of the pictures that are drawn again
    if (this.outputs.childElementCount) this.judged = this.exercise?.own ?? ""; // the page came with it
    if (this.exercise?.text !== this.exercise?.own) for (const stored of this.outputs.children) stored.hidden = true;
    if (this.exercise?.checked === this) this.exercise.outputs.after(this.outside); // the verdict is below the button
    this.outside.after(this.outputs);
    const isSaid = this.lacks && saysAbove(this);
    const isPressed = this.exercise?.checked?.all.includes(this); // the button of its exercise is that of all its checks
    if (this.kind !== "check" || !(isPressed || isSaid)) (draws ? this.outside : this.block).after(this.buttons);
    else this.block.hidden = true;
    this.outputs.hidden = this.isShared && this.exercise.checked !== this; // the first check shows the verdict of all
    if (this.kind === "check") return;
    if (this.text !== this.own) this.code.replaceChildren(...coloured(this.text));
    this.block.querySelector("pre").addEventListener("click", ({ target }) => !target.closest("button") && getSelection().isCollapsed && this.edit());
    this.code.addEventListener("keydown", ({ key }) => key === "Enter" && this.edit()); // where the key E leads: keyboard.js
  }

  // If no check of an exercise runs here, a note above the exercise says so.
  sayWhatItLacks() {
    const note = make("p", { class: "notes", text: lacked(this) });
    const whole = this.exercise && cells.every(({ exercise, lacks }) => exercise !== this.exercise || lacks);
    if (whole) this.exercise.outside.before(note);
    else this.outputs.append(note);
  }

  async edit() {
    if (!navigator.connection?.saveData) python.start().catch(() => {}); // said already
    if (!this.editor) {
      const opens = this.buttons.querySelector("[data-edit]"), what = words("the editor"), loading = words("loading {}", what);
      opens?.setAttribute("aria-busy", true); // until the editor has the focus, keys do nothing: see keyboard.js
      opens?.focus({ preventScroll: true });
      this.wait(loading);
      bar.say(loading);
      const { edit } = await import(new URL("editor.js", base)).catch(() => ({}));
      opens?.removeAttribute("aria-busy");
      this.wait("");
      bar.say(edit ? bar.stage : UNREACHED);
      bar.show();
      if (!edit) return;
      this.editor ??= edit(this.block.querySelector("pre"), {
        text: this.text,
        label: `${this.exercise ?? this.name}. ${HINT}`,
        parts,
        changed: (text) => text !== this.text && (this.text = text),
        run: () => press(this.checked?.lacks ? this : (this.checked ?? this)),
      });
      if (opens) opens.hidden = true;
    }
    this.editor.focus();
  }

  // Put another text in the place of this one. What it showed when it ran goes with it.
  change(text) {
    this.lent = undefined;
    this.text = text;
    this.display();
    if (this.kind !== "check") this.outputs.replaceChildren(...this.stored);
  }

  // Put the page's own text in the place of the reader's, or the reader's back, also on a later visit.
  startAgain() {
    const { replaced } = this.kept;
    if (this.text !== this.own) replaced[this.id] = this.text;
    this.change(this.text === this.own ? replaced[this.id] : this.own);
    this.again.focus(); // not every browser gives it to a button that the mouse presses
  }

  // The button that starts again. As long as the page's own text is there, it brings back the text that this replaced.
  offerAgain() {
    if (!this.again) return;
    const isOwn = this.text === this.own;
    this.again.textContent = isOwn ? words("Undo") : words("Start again");
    this.again.setAttribute("aria-label", `${this.again.textContent}: ${this.heading}`);
    this.again.hidden = this.lent !== undefined || (isOwn && !this.kept.replaced[this.id]);
  }

  // Of the check of an exercise: all checks here that its button runs, itself first.
  get all() {
    const { exercise } = this;
    return exercise ? [this, ...cells.filter((cell) => cell !== this && cell.kind === "check" && cell.exercise === exercise && !cell.lacks)] : [this];
  }

  // Whether each check counts one more right prediction of the same exercise, so that they have one verdict.
  get isShared() {
    return !!this.of?.startsWith("course.predictions.") && this.all.length > 1;
  }

  // The points that this check has, with those of the checks that share its verdict, and how many there are.
  get worth() {
    const shared = this.isShared ? this.all : [this];
    return [shared.filter(passes), shared].map((checks) => checks.reduce((sum, { points }) => sum + points, 0));
  }

  // Show the points of all checks that share this verdict. Predictions that are marked are not to be mended.
  tellWorth(shown) {
    const card = this.outputs.querySelector(".rich > div"), [sign, ...others] = card?.querySelectorAll("b") ?? [];
    const chip = others.find(({ textContent }) => textContent === inPoints(shown, this.points));
    if (chip) chip.textContent = inPoints(...this.worth);
    if (this.ok || !sign || !this.kept.marked[this.of]) return;
    this.said = this.said.replace(sign.textContent, words("marked"));
    sign.textContent = words("marked");
    card.style.borderLeftColor = GREY;
    for (const each of [sign, chip]) if (each) each.style.backgroundColor = GREY;
  }

  // Of a check: say whether what is shown is the verdict on the text of now. On a later visit, show the first line of the last one.
  compare() {
    const text = this.subject, { passed, said } = this.kept;
    this.edited?.remove();
    this.block.closest("details.here")?.classList.toggle("done", passes(this));
    if (page.next) document.querySelector("[data-onward]")?.toggleAttribute("hidden", passes(this)); // the verdict leads on
    if (this.lacks) return;
    if (this.judged === text) {
      for (const verdict of this.outputs.children) verdict.hidden = false;
    } else if (this.exercise ? passed[this.check] === text : passes(this)) {
      this.judged = text;
      this.ok = true;
      this.outputs.replaceChildren(this.passed(), ...onward(this));
    } else if (text !== this.exercise?.own && (said[this.check]?.[0] === text || (said[this.check] && !this.outputs.childElementCount))) {
      this.judged = said[this.check][0];
      this.ok = passed[this.check] === this.judged;
      this.outputs.replaceChildren(this.failed());
    }
    if (this.judged === text || !this.outputs.childElementCount) return;
    this.outputs.querySelector(".more")?.remove(); // of other code
    // A tick is that of the code that earned it. What is wrong stays in sight of who mends it.
    if (this.ok || text === this.exercise?.own) for (const verdict of this.outputs.children) verdict.hidden = true;
    const again = this.exercise ? words("Press Check for the verdict on this code.") : words("Your pieces have changed: press Check again.");
    const isMine = !page.next && this.exercise && this.exercise.lent === undefined && said[this.check]?.[0] === this.judged;
    const before = !isMine ? "" : this.ok ? words("You have changed code that passed.") : words("You have changed the code since this verdict.");
    this.edited = make("p", { class: "notes", text: [before, again].filter(Boolean).join(" "), hidden: text === this.exercise?.own });
    this.outputs.prepend(this.edited);
  }

  // A verdict shows the total of the lab as long as it is right.
  tellTotal() {
    const { points, of } = this.kept.counted() || {}, total = (points) => `· ${words("{0} of {1} points", points, of)}`;
    const isTotal = new RegExp(`${total("[\\d.,]+")}$`);
    for (const line of this.outputs.querySelectorAll(".rich div:not(:has(*))")) if (isTotal.test(line.textContent)) line.hidden = !line.textContent.endsWith(total(points));
  }

  // What a later visit shows of a check that has passed.
  passed() {
    const points = this.points ? [make("b", { text: inPoints(...this.worth) })] : [];
    const [text, head, language] = this.kept.said[this.check] ?? [];
    const isRead = text === this.kept.passed[this.check] && language === LANGUAGE;
    const [own, whole] = this.exercise || isRead ? [] : counted(this.kept.passed[this.check]); // which the line says
    const incomplete = own < whole ? [`${words("with {0} of {1} pieces yours", own, whole)} `] : [];
    const when = make("small", { text: `· ${words("from before")}` });
    return make("div", { class: "rich passed" }, make("b", { text: "✓" }), ` ${isRead ? head : this.check} `, ...incomplete, ...points, " ", when);
  }

  // What a later visit shows of a check that has not passed.
  failed() {
    const [, head, language, mark = "✗"] = this.kept.said[this.check], isRead = language === LANGUAGE;
    const isMarked = this.isShared && this.kept.marked[this.of], isGrey = isMarked || mark !== "✗";
    const sign = make("b", { text: isMarked ? words("marked") : mark, style: isGrey && `background-color: ${GREY}` });
    const said = isMarked ? [this.check, inPoints(...this.worth)] : [isRead ? head : this.check];
    const when = make("small", { text: `· ${words("from before")}` }, isMarked ? "" : make("span", { class: "more", text: `: ${words("press Check for the whole verdict")}` }));
    return make("div", { class: "rich failed", style: isGrey && `border-left-color: ${GREY}` }, sign, ` ${said.join(" ")} `, when);
  }

  // Keep the first line of a check's verdict on a text for a later visit. A check that was stopped has none.
  keepVerdict(text) {
    if (this.said) this.kept.said[this.check] = [text, this.headline, LANGUAGE, this.said[0]];
    else delete this.kept.said[this.check];
  }

  // Remove what is shown of the cell. The page keeps the room until `settle`, so that it does not jump.
  clear() {
    this.outputs.style.minHeight = `${this.outputs.offsetHeight}px`;
    this.outputs.replaceChildren(...[this.waiting].filter((each) => each.isConnected));
    this.judged = this.said = this.raised = this.unjudged = null;
  }

  // Say in the place of the outputs what the cell waits for, or that it no longer waits.
  wait(text) {
    this.waiting.textContent = text;
    this.waiting.hidden = false; // `compare` hides what is old
    if (text) this.outputs.prepend(this.waiting);
    else this.waiting.remove();
  }

  settle() {
    this.outputs.style.minHeight = "";
  }

  // Of an exercise: whether it is still as the course gives it, without a body. Python is not needed to say so.
  get isUntouched() {
    return this.text === this.own && /^\s*raise NotImplementedError/m.test(this.own);
  }

  askForBody() {
    this.clear();
    this.judged = this.exercise.text;
    const said = words("not attempted: press Edit, and write the body in the place of {}.", "raise NotImplementedError");
    this.unjudged = `${this.heading}: ${said}`;
    this.outputs.append(make("p", { class: "notes", text: this.unjudged }));
    this.settle();
    bar.announce(this);
  }

  // The first line of the verdict, without its sign and without what announces the case below it, or why there is no verdict.
  get headline() {
    return this.said?.split("\n")[0].replace(/^\S+ /, "").replace(/;[^;]*:$/, "") ?? this.unjudged ?? "";
  }

  // The verdict of a check if this text of its exercise has raised an error, which is shown.
  fail(text) {
    const { raised, outputs, unjudged } = this.exercise;
    if (!raised) return void (this.unjudged = unjudged); // it was stopped
    const head = doesNotRun(raised);
    this.judged = text;
    this.said = [`✗ ${this.check}: ${head}`, ...raised.traceback].join("\n");
    if (!isLent(this)) this.keepVerdict(text), this.kept.write();
    this.outputs.append(make("div", { class: "rich failed" }, make("b", { text: "✗" }), ` ${this.check}: ${head}`), ...outputs.querySelectorAll(".output"), ...(page.next ? [] : onward(this)));
  }

  show(output) {
    if (output.ename) this.raised = output;
    else if (output.output_type === "error") this.unjudged = output.traceback.join("\n"); // it was stopped
    if (output.data?.["text/html"]) this.said = output.data["text/plain"]; // a verdict as text
    const alt = this.alts?.[this.outputs.querySelectorAll(".figure").length];
    this.outputs.append(shown(output, this.outputs.lastElementChild, alt) ?? "");
  }
}

const doesNotRun = ({ ename, evalue }) => words("your code does not run: {}", `${ename}: ${evalue}`.replace(/ \(<.*>, (line \d+)\)$/, ", $1"));

const lacked = ({ lacks }) => words("Checked in an installed course, not in this page: {}.", lacks);

// Whether another check of the same exercise, above, says already why it does not run here.
const saysAbove = (cell) => cells.slice(0, cells.indexOf(cell)).some(({ of, lacks }) => of && of === cell.of && lacks === cell.lacks);

// What a page shows of an output. A text that goes on goes into the `last` box. `alt` is a picture's text in the language of the page.
function shown(output, last, alt) {
  if (output.output_type === "stream") {
    if (last?.dataset.stream === output.name) return void last.firstChild.append(output.text);
    const box = boxed(make("pre", { text: output.text, tabindex: 0 }));
    box.dataset.stream = output.name;
    return box;
  }
  if (output.ename === "CheckFailed" && last?.matches(".rich")) return; // its card says so
  if (output.output_type === "error") {
    const box = boxed(make("pre", { text: output.traceback.join("\n"), tabindex: 0 }), words("Error"));
    box.classList.add("error");
    return box;
  }
  const data = output.data;
  const picture = data["image/svg+xml"] ? "image/svg+xml" : "image/png";
  if (data[picture]) {
    const address = picture === "image/png" ? `base64,${data[picture]}` : encodeURIComponent(data[picture]);
    const own = output.metadata[picture]?.alt, texts = english ? [own, alt] : [alt, own];
    const text = texts.find(Boolean) ?? words("Figure made by the cell above");
    const image = make("img", { src: `data:${picture}${picture === "image/png" ? ";" : ","}${address}`, alt: text });
    return make("div", { class: "figure", tabindex: 0 }, image);
  }
  if (data["text/html"]) return make("div", { class: "rich", role: "group", "aria-label": words("Output") }, harmless(data["text/html"]));
  return boxed(make("pre", { text: data["text/plain"], tabindex: 0 }));
}

// A text that is heard: in a line, and not all of a long one.
const shortened = (text) => text.trim().replace(/\s+/g, " ").replace(/^(.{120}).+/, "$1…");

const boxed = (content, label = words("Output")) => make("div", { class: "output", role: "group", "aria-label": label }, content);

// HTML that an object shows of itself, without anything that could act.
function harmless(html) {
  const inside = make("template");
  inside.innerHTML = html;
  for (const each of inside.content.querySelectorAll("script, style, iframe, object, embed, link, meta, base, form")) each.remove();
  for (const each of inside.content.querySelectorAll("*")) {
    for (const { name, value } of [...each.attributes]) {
      if (name.startsWith("on") || /^\s*(javascript|data):/i.test(value)) each.removeAttribute(name);
    }
  }
  for (const table of inside.content.querySelectorAll("table")) table.ariaLabel ??= words("Output");
  return inside.content;
}

// Running -------------------------------------------------------------------------------------------------------------

let running = null; // the cell
const queue = []; // the cells that were pressed since

// Run a cell, and then those that are pressed until it ends.
async function press(cell) {
  if (cell.kind === "check" && cell.exercise?.isUntouched) return cell.askForBody();
  if (!running) for (let next = cell; next; next = queue.shift()) await runPressed(next);
  else if (cell !== running && !queue.includes(cell)) queue.push(cell), tellQueue();
}

function tellQueue() {
  const said = words("waiting for {}", running.heading);
  for (const cell of queue) cell.wait(said), bar.say(said);
}

function emptyQueue() {
  for (const cell of queue.splice(0)) cell.wait("");
}

// Run a cell with what it needs. A check first runs its exercise.
async function runPressed(cell) {
  const isCheck = cell.kind === "check";
  const { buttons } = (isCheck && cell.exercise) || cell;
  const pressed = buttons.querySelector(isCheck ? ".main" : "button:not(.main)");
  running = cell;
  bar.listen(cell);
  dispatchEvent(new Event("rushlight:pressed"));
  if (bar.loading.hidden) bar.say("");
  bar.busy(true);
  tellQueue();
  const name = pressed.textContent;
  let begun = performance.now(), unsaid = "";
  const told = (seconds) => {
    if (!isCheck || !python.limit || seconds <= 2) return words("running, {} s", seconds);
    const { case: number, of } = python.case ?? {};
    return of ? words("running, {0} s: case {1} of {2}; a case may take {3} s", seconds, number, of, python.limit) : words("running, {0} s; a case may take {1} s", seconds, python.limit);
  };
  const loading = () => (page.next ? "" : bar.stage); // on home the bar, which says it, is beside the button
  const tell = () => cell.wait(bar.stage ? loading() : told(Math.round((performance.now() - begun) / 1000)));
  const clock = setInterval(tell, 500);
  pressed.style.minWidth = `${pressed.offsetWidth}px`;
  pressed.textContent = "…";
  const first = isCheck && cell.exercise;
  for (const each of isCheck ? cell.all : []) each.clear();
  try {
    const ready = python.start();
    tell();
    await ready;
    begun = performance.now();
    tell();
    if (first && !(await runFresh(first))) return cell.fail(first.text), bar.announce(cell), cell.outputs.scrollIntoView({ block: "nearest" });
    const text = first ? python.ran.get(first.id) : cell.subject;
    if (!isCheck) {
      const ok = await runFresh(cell);
      if (ok && page.notebook && cell.kind === "drawing") cell.outputs.append(make("p", { class: "notes", text: drawnBy(cell) }));
      if (ok) dispatchEvent(new CustomEvent("rushlight:ran", { detail: cell }));
    }
    else {
      const marked = cell.isShared && cell.kept.marked[cell.of];
      if (marked && marked !== true) await python.run({ kind: "plain", name: "remember" }, REMEMBER.replace("{}", () => JSON.stringify(marked)), () => {});
      for (const each of cell.all) {
        each.ok = await runFresh(each);
        each.judged = text;
        if (!isLent(cell)) {
          delete cell.kept.passed[each.check];
          if (each.ok) cell.kept.passed[each.check] = text;
          each.keepVerdict(text);
        }
        if (!python.loaded) break; // it was stopped
      }
      const { ok } = cell;
      if (cell.isShared && python.loaded && !isLent(cell)) {
        let printed = "";
        const isKnown = await python.run({ kind: "plain", name: "marked" }, MARKED.replace("{}", cell.of), ({ text }) => (printed += text));
        if (isKnown && printed.trim() !== "{}") cell.kept.marked[cell.of] = printed;
        cell.tellWorth(ok ? cell.points : 0);
      }
      if (!isLent(cell)) cell.kept.write();
      if (ok && page.next) carryOver(cell.check, text);
      if (ok || !page.next) for (const each of cell.all) if (each.said) each.outputs.append(...onward(each)); // and it was not stopped
      bar.announce(cell);
      dispatchEvent(new CustomEvent("rushlight:judged", { detail: cell }));
    }
    if (cell.lab) await python.run({ kind: "plain", name: "after", lab: cell.lab }, TAKE_OUT.replace("{}", cell.of ?? cell.exercise), () => {});
    cell.wait("");
    if (!cell.outputs.childElementCount) cell.outputs.append(make("p", { class: "notes", text: words("✓ The cell has run. It shows nothing.") }));
    if (page.notebook) remember(cell);
    cell.outputs.scrollIntoView({ block: "nearest" });
  } catch {
    emptyQueue();
    if (isCheck) cell.judged = cell.subject; // there is no other verdict to press for
    if (!page.next) unsaid = bar.said.textContent; // why there is no Python: the bar, which says it too, may be out of sight
  } finally {
    clearInterval(clock);
    cell.wait(unsaid);
    pressed.textContent = name;
    running = null;
    const hadFocus = document.activeElement === bar.end;
    bar.busy(false);
    if (hadFocus) pressed.focus(); // Stop is no longer there
    for (const each of cells) each.settle();
  }
}

// Whose functions a picture is of: it may look as the recorded one.
function drawnBy(cell) {
  const own = cells.slice(0, cells.indexOf(cell)).filter((other) => other.kind === "exercise" && !other.isUntouched && python.ran.has(other.id));
  if (!own.length) return words("Drawn by the framework's functions: none of those above is yours yet.");
  return words("Drawn by your functions: {}", own.map(({ heading }) => heading).join(", "));
}

// Whether a check decides about an answer that is not the reader's. A milestone decides about all pieces.
const isLent = ({ exercise }) => (exercise ? [exercise] : cells).some(({ lent }) => lent !== undefined);

// What comes after this lab: on the reader's path (`paths.js`), or in the course.
const following = () => afterOnPath() ?? page.after;

// Keep for home which exercise is next: that of the cell that has run or, if this has passed, the next one below it that has not, then
// one above it, and last the next lab.
function remember(cell) {
  const exercises = cells.filter(({ kind }) => kind === "exercise");
  const isLeft = (exercise) => cells.some((cell) => cell.exercise === exercise && !cell.lacks && !isDone(cell));
  const from = cells.indexOf((cell.kind === "check" && cell.exercise) || cell);
  const isBelow = (exercise) => cells.indexOf(exercise) >= from;
  const left = exercises.filter(isLeft), next = exercises.indexOf(left.find(isBelow) ?? left[0]);
  const after = following();
  const { link: href, number: lab, title } = next < 0 && after ? after : { link: `#${exercises[next]?.block.id ?? ""}`, number: page.number };
  try {
    localStorage.setItem("rushlight/last", JSON.stringify({ href: new URL(href, location.href).href, lab, title, exercise: next + 1 }));
  } catch {
    // the bar says it
  }
}

// The answer of home goes into its lab, below the docstring there, unless the lab has an answer.
function carryOver(check, text) {
  const { lab, cell, own } = page.next;
  const body = text.replace(/^[^]*?\bdef\b.*:[ \t]*\n/, "");
  const answer = own.replace(/^ *raise NotImplementedError.*$/m, () => body.trimEnd());
  try {
    const there = { answers: {}, passed: {}, ...JSON.parse(localStorage.getItem(`rushlight/${lab}`) ?? "{}") };
    if (cell in there.answers) return;
    there.answers[cell] = there.passed[check] = answer;
    Object.assign(there, { points: page.next.points, of: page.next.of, here: page.next.here });
    localStorage.setItem(`rushlight/${lab}`, JSON.stringify(there));
    const last = { href: new URL(page.next.link, location.href).href, lab: page.next.number, exercise: page.next.exercise };
    if (!localStorage.getItem("rushlight/last")) localStorage.setItem("rushlight/last", JSON.stringify(last));
    dispatchEvent(new Event("rushlight:kept")); // home and the paths say where to go on
  } catch {
    // the browser keeps nothing, which the bar says
  }
}

// What follows a verdict: on home the way on, and in a lab how to show it to others, or the piece that a milestone lacks.
const onward = (cell) => {
  if (page.next) return [make("p", {}, make("a", { href: page.next.link, text: page.next.said }))];
  if (!page.notebook && !cell.lab) return [];
  if (cell.exercise) return [share.buttons(cell)];
  const lacking = pieces().find((piece) => !isOwn(piece));
  return lacking ? [make("p", {}, make("a", { href: `#${lacking.block.id}`, text: words("Go to {}", lacking.exercise.split(".").at(-1)) }))] : [];
};

async function runFresh(cell) {
  const failed = await runNeeded(cell);
  if (!failed) return runOne(cell);
  cell.clear();
  const said = failed.raised ? doesNotRun(failed.raised) : words("Stopped");
  failed.block.id ||= `cell-${failed.id}`; // only exercises have one
  cell.outputs.append(make("p", { class: "notes" }, make("a", { href: `#${failed.block.id}`, text: failed.heading }), `: ${said}`));
  return false;
}

async function runOne(cell, show = (output) => cell.show(output)) {
  let isOld = cell.kind === "drawing"; // a picture stays until something takes its place
  const clear = () => (cell.clear(), (isOld = false));
  if (!isOld) clear();
  const text = cell.text;
  const ok = await python.run(cell, text, (output) => (isOld && clear(), show(output)));
  if (isOld) clear();
  python.ran.delete(cell.id); // the last one that ran is the last in the map
  python.ran.set(cell.id, ok ? text : undefined);
  return ok;
}

// Run the cells above that have not run, and that bind or change what the cell uses; for an exercise in a reading, its lab's imports.
// A drawing also needs the reader's functions, which cells above it call by their names in torch. So it runs the exercises that were
// edited, and a cell again that ran before one above it. Returns the cell that a drawing needs and that raises, if there is one.
async function runNeeded(cell) {
  const isDrawing = page.notebook && cell.kind === "drawing";
  const isMine = (other) => isDrawing && other.kind === "exercise" && (!other.isUntouched || python.ran.has(other.id));
  if (cell.lab) return void (await python.run({ kind: "plain", name: `imports of ${cell.lab}`, lab: cell.lab }, page.labs[cell.lab].imports, () => {}));
  const names = namesIn(cell.text);
  const needed = [];
  for (const other of cells.slice(0, cells.indexOf(cell)).reverse()) {
    if (other.kind === "check" || other.kind === "drawing" || other.lab || !(isMine(other) || other.binds.some((name) => names.has(name)))) continue;
    needed.unshift(other);
    for (const name of namesIn(other.text)) names.add(name);
  }
  let latest = -1; // of the needed cells so far, the place of the one that ran last
  for (const other of needed) {
    const ran = [...python.ran.keys()].indexOf(other.id);
    if (python.ran.get(other.id) === other.text && !(isDrawing && ran < latest)) latest = Math.max(latest, ran);
    else if (await runOne(other)) latest = python.ran.size - 1;
    else if (isDrawing) return other;
  }
}

// The names in a text of Python that may be those of variables.
function namesIn(text) {
  const code = text.replace(/("""|''')[^]*?\1|#.*/g, " ");
  return new Set(code.match(/(?<![.\w])[^\W\d]\w*/g));
}

// The bar: how far, and what to do with the answers -------------------------------------------------------------------

const bar = {
  dress() {
    this.tally = make("b");
    this.said = make("span", { role: "status" });
    this.heard = make("div", { role: "status", class: "heard", "aria-label": words("Verdict") });
    document.querySelector("article").append(this.heard); // the bar may be hidden
    this.loading = make("progress", { max: 1, hidden: true, "aria-label": words("Loading Python") });
    this.end = make("button", { text: words("Stop"), type: "button", hidden: true, click: () => (emptyQueue(), python.stop(words("Stopped"))) });
    const file = make("input", { type: "file", accept: ".ipynb", hidden: true, change: () => upload(file) });
    this.element = make(
      "div",
      { class: "tab-bar", role: "group", "aria-label": words("Your answers") },
      make("div", {}, this.end, this.tally, this.loading, this.said), // where Stop was, a second tap presses nothing
    );
    if (page.notebook) {
      const buttons = [
        make("button", { text: words("Download"), type: "button", click: download, title: words("The notebook with your answers") }),
        make("button", { text: words("Upload"), type: "button", click: () => file.click(), title: words("A notebook with your answers") }),
        make("button", { text: words("Delete"), type: "button", click: forget, title: words("Delete your answers in this browser") }),
      ];
      this.finish = make("a", { href: "#finished", hidden: true });
      const here = page.here < page.points && make("small", { text: words("up to {} in this page", page.here) });
      this.tally.after(" ", here || "", " ", this.finish);
      this.element.append(make("div", { class: "buttons" }, ...buttons, file));
    }
    const place = document.querySelector("[data-tab-bar]");
    const only = page.next && cells.find(({ checked }) => checked); // home has one exercise, and the bar beside its buttons
    if (only) only.buttons.append(this.element), this.say(words("The first press loads Python ({} MB).", Math.ceil(page.bytes / 1e6)));
    else if (place) place.replaceWith(this.element);
    else document.querySelector("article h1").after(this.element);
    this.show();
  },

  show() {
    if (!running) for (const cell of cells) if (cell.kind === "check") cell.compare();
    for (const cell of cells) cell.tellTotal(), cell.showModel();
    this.element.hidden = !page.notebook && !this.said.textContent && this.end.hidden;
    if (page.notebook) this.tally.textContent = words("{0} of {1} points", earned(), page.points);
    if (!kept.works) this.say(LOST);
    else if (this.said.textContent === LOST) this.say("");
  },

  // Lead to the end of the lab in these words, if it is there.
  finished(text) {
    if (this.finish) Object.assign(this.finish, { hidden: !text, textContent: text ?? "" });
  },

  busy(is) {
    this.end.hidden = !is;
    this.element.classList.toggle("busy", is);
    this.show();
  },

  progress(what) {
    this.what = what;
    this.loading.hidden = !what;
    this.element.classList.toggle("loading", !!what);
    this.say(this.stage);
  },

  // Of a check that runs, its verdict in short with its case is said to who hears the page, and of another cell what it shows. What the cells that it
  // needs show is not said.
  listen(cell) {
    this.heard.textContent = "";
    for (const each of cells) each.outputs.ariaLive = each === cell && cell.kind !== "check" ? "polite" : null;
  },

  announce(cell) {
    const said = [cell.headline, cell.said && cell.points ? inPoints(...cell.worth) : ""].filter(Boolean).join(", ");
    const results = cell.ok ? [] : [...cell.outputs.querySelectorAll(".rich div > b + pre")].slice(0, 3); // or why there are none
    const rows = results.map((pre) => `${pre.previousElementSibling.textContent}: ${shortened(pre.textContent)}`);
    this.heard.textContent = [said, ...rows].join(". ");
  },

  // What is loading. The bar beside it says how much of all is there.
  get stage() {
    return this.what ? words("loading {}", this.what) : "";
  },

  fetched(part) {
    if (part < 1) this.loading.value = part;
    else this.loading.removeAttribute("value");
  },

  say(text) {
    this.said.textContent = text;
    this.element.hidden &&= !text;
  },
};

// Whether a check has passed, with the reader's text of now, and a milestone with pieces that still pass. `given` counts as one that has.
// Of an exercise that is not on this page, its own page's text counts.
function holds(check, store, given) {
  if (check === given) return true;
  const passed = store.passed[check];
  if (passed === undefined) return false;
  if (check.startsWith("together.")) return passed.split(" ").every((name) => !name || isOwn({ exercise: name, kept: store }, given));
  return cells.filter((cell) => cell.check === check).every(({ exercise }) => passed === exercise?.mine);
}

const passes = ({ kept: store, check }) => holds(check, store);
const isDone = (cell) => passes(cell) || !!cell.kept.marked[cell.of];

// The pieces that a milestone should have of the reader: those of the core, and further ones that are written.
const pieces = () => cells.filter(({ piece, further, mine, own, checked }) => piece && checked && !checked.lacks && (!further || mine !== own));
function isOwn({ exercise, kept: store }, given) {
  const checks = cells.filter(({ of, lacks }) => of === exercise && !lacks).map(({ check }) => check);
  return (checks.length ? checks : [exercise]).every((check) => holds(check, store, given));
}

const counted = (names) => [pieces().filter(({ exercise }) => names.split(" ").includes(exercise)).length, pieces().length];

// The points of the checks that have passed.
function earned() {
  return cells.filter((cell) => cell.kind === "check" && cell.points && passes(cell)).reduce((sum, { points }) => sum + points, 0);
}

const answerable = () => cells.filter(({ kind }) => kind === "exercise" || kind === "written");

async function download() {
  const response = await fetch(page.notebook).catch(() => ({}));
  if (!response.ok) return bar.say(UNREACHED);
  const notebook = await response.json();
  for (const each of notebook.cells) {
    const cell = answerable().find(({ id }) => id === each.id);
    if (cell && cell.mine !== cell.own) each.source = cell.mine.split(/(?<=\n)/);
  }
  save(new Blob([JSON.stringify(notebook, null, 1)], { type: "application/x-ipynb+json" }), page.notebook);
}

function save(blob, name) {
  const link = make("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

async function upload(input) {
  const [file] = input.files;
  input.value = "";
  try {
    const given = JSON.parse(await file.text()).cells.map(({ id, source }) => [id, [source].flat().join("")]);
    const found = given.map(([id, text]) => [answerable().find((cell) => cell.id === id), text]).filter(([cell]) => cell);
    if (!found.length) throw new Error("no exercise of this lab");
    const own = found.filter(([cell, text]) => text !== cell.mine);
    const lost = own.filter(([cell]) => cell.mine !== cell.own).length;
    if (lost && !confirm(words("Replace {0} of your answers here by those in {1}?", lost, file.name))) return;
    for (const [cell, text] of own) cell.change(text);
    bar.say(own.length === 1 ? words("1 answer read from {}", file.name) : words("{0} answers read from {1}", own.length, file.name));
  } catch {
    bar.say(words("{} cannot be read as a notebook of this lab. Choose another file. Your answers are as before.", file.name));
  }
}

function forget() {
  if (!confirm(words("Delete your answers to this lab in this browser? A downloaded notebook stays."))) return;
  if (python.ready && Object.keys(kept.marked).length) python.stop(words("Stopped")); // this Python remembers them
  Object.assign(kept, { passed: {}, said: {}, marked: {}, replaced: {}, ended: undefined });
  const stored = [kept.key, `${kept.key} time`].map((key) => [key, kept.works && localStorage.getItem(key)]); // end.js keeps the time
  const count = Object.keys(kept.answers).length;
  if (kept.works) localStorage.removeItem(stored[1][0]);
  for (const cell of cells) {
    if (cell.kind === "check" && !cell.lacks) cell.clear(), cell.settle();
    cell.change(cell.own);
  }
  kept.write();
  const undo = () => {
    for (const [key, text] of stored) if (text) localStorage.setItem(key, text);
    kept.follow();
    kept.write();
    bar.say(words("Your answers are back."));
  };
  bar.say(count === 1 ? words("1 answer deleted, with its verdict.") : words("{} answers deleted, with their verdicts.", count));
  if (kept.works) bar.said.append(" ", make("button", { text: words("Undo"), type: "button", click: undo }));
  addEventListener("rushlight:kept", () => bar.say(""), { once: true }); // what is written after it would be lost
}

// The page ------------------------------------------------------------------------------------------------------------

const cells = [...document.querySelectorAll("[data-cell]")]
  .filter(({ dataset }) => dataset.cell in page.cells)
  .map((block) => new Cell(block, block.dataset.cell));
for (const cell of cells) {
  if (cell.kind !== "check") continue;
  cell.exercise = cells.find(({ kind, exercise }) => kind === "exercise" && exercise === cell.of);
  if (cell.exercise) cell.exercise.checked ??= cell;
}
if (location.protocol === "file:") {
  const how = words("A page that is opened from the disk cannot start Python. In the site's folder, run {}, and open http://localhost:8000/.");
  const [before, after] = how.split("{}");
  const told = make("span", { text: before }, make("code", { text: "python -m http.server" }), after);
  const place = make("p", { class: "tab-bar" }, told);
  document.querySelector("[data-tab-bar]")?.replaceWith(place);
} else {
  for (const cell of cells) {
    if (cell.kind === "written") cell.offer();
    else if (cell.kind !== "torch") cell.dress();
  }
  bar.dress();
  if (page.notebook) share.receive(), addEventListener("hashchange", () => location.hash.startsWith("#a=") && share.receive());
}
const stores = [kept, ...Object.values(ofLabs)];
addEventListener("storage", ({ key }) => stores.find((each) => each.key === key)?.follow());
addEventListener("pageshow", ({ persisted }) => persisted && stores.forEach((each) => each.follow())); // the page was away, and shows as it was
