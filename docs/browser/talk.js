// A conversation with the trained model, over a Python in a worker (worker.js): its tokens, and what a step computed.
//
// The page has `[data-talk]`, and a script of JSON, `#talk`: {base, version, runs, prompts, forms, be, labs, recorded: {text, begun,
// steps}}. `begun` and the steps are those of `rushlight/course/talk.py`. `forms` has, by language, when and who a sentence that the
// model knows can be about, and `be` the English auxiliaries of a progressive. `labs` has the imports of each lab whose exercises the model
// may run on, if their checks have passed in this browser (tab.js). The recorded conversation is shown first, and nothing is loaded
// before the first press.

{
  const page = JSON.parse(document.getElementById("talk").textContent);
  const base = new URL(page.base, document.baseURI);
  const SECONDS = 60; // for a token, then Python is ended
  const PATIENCE = 2; // seconds from Stop to the end of a token
  const FROM_DISK = location.protocol === "file:";
  const LOADED = ["Python", "numpy", "rushlight"];

  const make = (tag, { text, ...given } = {}, ...inside) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(given)) {
      if (typeof value === "function") element.addEventListener(name, value);
      else if (value !== false) element.setAttribute(name, value === true ? "" : value);
    }
    if (text !== undefined) element.textContent = text;
    element.append(...inside);
    return element;
  };
  const button = (text, click, given = {}) => make("button", { text, click, type: "button", ...given });
  const named = ({ text }) => (text === "\n" ? words("end") : text.trim() ? text : words("space"));
  const number = grouped;

  // Python ------------------------------------------------------------------------------------------------------------

  const python = {
    worker: null,
    ready: null, // a promise
    waiting: null, // for the cell that runs: {number, output, resolve, reject}
    number: 0,

    start() {
      this.ready ??= new Promise((resolve, reject) => {
        this.fail = reject;
        this.worker = new Worker(new URL("worker.js", base), { type: "module" });
        this.worker.onerror = (event) => this.end(event.message || words("the worker could not be started"));
        this.worker.onmessage = ({ data }) => {
          if (data.loading) say(words("loading {}", data.loading), LOADED.indexOf(data.loading) + 1);
          if (data.ready) resolve();
          if (data.failed) this.end(data.failed);
          if (data.number !== this.waiting?.number) return;
          if (data.output) this.waiting.output = data.output;
          if ("done" in data) this.waiting.finish();
        };
        this.worker.postMessage({ start: { gpt: true, version: page.version, language: page.language } });
      }).then(() => this.plugIn());
      return this.ready;
    },

    // Plug in the exercises that have passed. One that does not run is left out.
    async plugIn() {
      for (const [lab, imports] of Object.entries(page.labs)) {
        const texts = Object.values(passed(lab)).filter((text) => text.includes("@exercise("));
        for (const text of texts.length ? [imports, ...texts] : []) await this.run(text).catch(() => {});
      }
    },

    // Run a cell. Resolves to the data that it displays, if any.
    run(source, given) {
      return new Promise((resolve, reject) => {
        const number = ++this.number;
        const limit = setTimeout(() => this.end(words("stopped after {} seconds", SECONDS)), SECONDS * 1000);
        const finish = (why) => {
          clearTimeout(limit);
          const { output } = this.waiting;
          this.waiting = null;
          if (why || output?.ename) reject(new Error(why ?? errorOf(output)));
          else resolve(output?.data["application/json"]);
        };
        this.waiting = { number, finish, output: null };
        this.worker.postMessage({ run: { number, name: `cell ${number}`, source, given } });
      });
    },

    // End this Python with what it does. The next press starts another.
    end(why) {
      this.worker?.terminate();
      this.worker = this.ready = null;
      this.fail?.(new Error(why));
      if (this.waiting) (this.waiting.output = null), this.waiting.finish(why);
    },
  };

  // The exercises of a lab whose checks have passed, by check.
  function passed(lab) {
    try {
      return JSON.parse(localStorage.getItem(`rushlight/${lab}`)).passed ?? {};
    } catch {
      return {};
    }
  }

  // What to say of a cell's error. All of it goes to the console, unless it is about the text.
  function errorOf({ ename, evalue, traceback }) {
    if (ename === "ValueError") return evalue;
    console.error(traceback.join("\n"));
    return `${ename}: ${evalue}`;
  }

  // The conversation --------------------------------------------------------------------------------------------------

  const state = {
    text: page.recorded.text, // of the conversation that is shown
    asked: page.recorded.text, // what the reader wrote for it
    temperature: 0,
    begun: page.recorded.begun,
    steps: page.recorded.steps,
    shown: 0,
    live: false, // not the recorded one
    busy: false,
    stopping: false,
    next: null, // the last press while one is busy: [count, text]
  };
  const last = () => state.steps.at(-1);
  const QUESTION = /\?$|^¿?(what|who|where|when|why|how|which|qué|quién|dónde|cuándo|por qué|cómo|cuál) /i;
  const asked = () => field.value.trimEnd().normalize("NFC");

  const can = () => words("The model puts a verb into its form, in a sentence of one language, such as “she walked to the city”.");

  async function press(count, given = asked()) {
    if (state.busy) return void (state.next = [count, given]);
    const lacks = given ? /^\([^)\p{Script=Latin}]*\)/u.test(given) && words("The model finds no verb in this text.") : words("There is no sentence yet.");
    if (lacks) return void (clear(), say(`${lacks} ${can()}`), (given ? verb : field).focus());
    Object.assign(state, { busy: true, stopping: false });
    meant.replaceChildren();
    show();
    try {
      await python.start();
      if (state.next) return; // instead of this one
      const begins = !state.live || last()?.ended || state.asked !== given || state.temperature !== heat.valueAsNumber;
      if (begins) await begin(given);
      for (let i = 0; i < count && !last()?.ended && !state.stopping && !state.next; i++) {
        state.steps.push(await python.run("display({'application/json': talk.step()}, raw=True)"));
        state.shown = state.steps.length - 1;
        show();
      }
      report();
    } catch (error) {
      say(error.message);
      if (!python.worker) Object.assign(state, { live: false, next: null });
    } finally {
      clearTimeout(state.patience);
      state.busy = false;
      if (document.activeElement === end) complete.focus(); // Stop goes
      show();
      const { next } = state;
      state.next = null;
      if (next) press(...next);
    }
  }

  async function begin(sentence) {
    const given = { text: sentence, temperature: heat.valueAsNumber, seed: Math.floor(Math.random() * 2 ** 31) };
    say(words("reading the text"), LOADED.length);
    const source =
      "from IPython.display import display\nfrom rushlight.course.sentences import mixed, read, right_form, unread\n" +
      "from rushlight.course.talk import Conversation\ntext = given['text']\nreading = read(text)\nknown = reading.beginning\n" +
      "begun = reading._asdict() | {'known': known, 'right': right_form(known)}\n" +
      "if known or text.startswith('('):\n    talk = Conversation(**given | {'text': known or text})\n" +
      "    begun |= talk.begin() | {'unread': '' if known else unread(text), 'mixed': mixed(text)}\n" +
      "display({'application/json': begun}, raw=True)";
    state.live = false;
    const begun = await python.run(source, given).catch((error) => {
      if (python.worker) clear(); // the sentence is at fault
      throw error;
    });
    if (!begun.tokens) clear(), view(field.value), refuse(sentence, begun);
    state.begun = begun;
    Object.assign(state, { ...given, text: state.begun.known || given.text, asked: given.text, steps: [], shown: -1, live: true });
    if (state.begun.known && asked() === sentence) view(state.begun.known); // nothing was typed meanwhile
    show();
    text.scrollIntoView({ block: "nearest" });
  }

  // Say why the model does not read a text, and propose what it could mean.
  function refuse(text, { word, proposals }) {
    const be = !proposals.length && word && words("The verb of this text is “{}”. The model has not learned to conjugate it.", word);
    const unread = word && words("“{}” is no verb that the model has read.", shortened(word));
    const asks = QUESTION.test(text) ? words("The model answers no questions.") : "";
    meant.replaceChildren(...proposals.map((each) => button(each, () => (write(each), press(Infinity)))));
    if (proposals.length) throw new Error(`${asks} ${unread} ${words("The model can try it. Do you mean:")}`.trim());
    throw new Error(`${asks || be || words("The model finds no verb in this text.")} ${can()}`);
  }
  const shortened = (part) => (part.length > 60 ? `${part.slice(0, 60)}…` : part);

  // Why the model continues a text that is no sentence that it knows.
  function amiss({ mixed, unread }) {
    if (unread) return words("The model does not know “{}” in such a sentence, so what follows is arbitrary.", shortened(unread));
    if (mixed) return words("The verb is of one language and the rest of another, so what follows is arbitrary.");
    return `${words("This is no sentence that the model knows, so what follows is arbitrary.")} ${can()}`;
  }

  // In what the sentence that the model read is not the text.
  function changes({ left_out, person, other, assumed, absent, reduced }) {
    return [
      QUESTION.test(state.asked) && words("The model answers no questions."),
      absent.length && words("The model has no form such as “{0}”. The nearest is that of “{1}”.", ...absent),
      person.length && words("It reads “{0}” as “{1}”, which has the same forms.", ...person.map(shortened)),
      ...other.map((pair) => words("It reads “{0}” as “{1}”.", ...pair)),
      left_out.length && words("Left out: “{}”.", shortened(left_out.join(", "))),
      assumed.length && words("Not in your text, and assumed: “{}”.", assumed.join(" ")),
      reduced && words("Of “{}”, it reads the verb alone.", reduced),
    ].filter(Boolean);
  }

  // Whether the model wrote the right form, where the page knows it, and what it wrote before. A temperature draws other forms too.
  function judged([form, sure]) {
    if (!form) return words("The page does not know the right form.");
    const wrote = written(state.steps.map(({ token }) => token)).match(/\p{L}+/gu) ?? [];
    const at = wrote.indexOf(form);
    const added = at > 0 ? ` ${words("Before it, the model wrote “{}” of its own, which changes the sense.", wrote.slice(0, at).join(" "))}` : "";
    if (at >= 0) return (sure ? words("“{}” is the right form.", form) : words("“{}” is right, if this verb is regular.", form)) + added;
    if (!sure) return words("The model is wrong, if this verb is regular: the right form is “{}”.", form);
    if (!state.temperature) return words("The model is wrong: the right form is “{}”.", form);
    return words("The right form is “{0}”. At temperature {1}, each token is drawn, also an improbable one.", form, fixed(state.temperature, 1));
  }

  // How it ended, or why it does not go on.
  function report() {
    const { length } = state.steps, { known, right } = state.begun;
    const read = !known ? amiss(state.begun) : known !== state.asked ? [words("The model read: {}.", known), ...changes(state.begun)].join(" ") : "";
    const seconds = state.steps.reduce((sum, step) => sum + step.seconds, 0) / length;
    const speed = length ? ` ${words("{} ms a token.", Math.round(seconds * 1000))}` : "";
    const how = { end: words("The model ended the text."), full: words("The model has no further position.") }[last()?.ended];
    const unknown = state.begun.unknown.length ? ` ${words("The model reads {} as bytes, so what follows is arbitrary.", state.begun.unknown.join(" "))}` : "";
    const done = how ?? (length === 1 ? words("1 token.") : words("{} tokens.", length));
    say(`${last()?.ended && known ? judged(right) : ""} ${read}${unknown} ${done}${speed}`.trim());
  }

  function stop() {
    Object.assign(state, { stopping: true, next: null });
    if (!python.waiting) return python.end(words("stopped"));
    state.patience = setTimeout(() => python.end(words("stopped, with Python. The next press starts it again.")), PATIENCE * 1000);
  }

  // Nothing of the sentence before stays with a message about another.
  function clear() {
    Object.assign(state, { text: "", begun: null, steps: [], shown: -1, live: false });
    show();
  }

  function startAgain() {
    Object.assign(state, { steps: [], shown: -1, live: false });
    if (!page.runs || FROM_DISK) Object.assign(state, { steps: page.recorded.steps, shown: 0 });
    say("");
    show();
    field.focus();
  }

  // The page ----------------------------------------------------------------------------------------------------------

  const field = make("input", { id: "talk-text", type: "text", maxlength: 2000, autocomplete: "off", spellcheck: "false", input: () => (view(field.value), age()) });
  const heat = make("input", { id: "talk-heat", type: "range", min: 0, max: 2, step: 0.1, value: 0, input: () => show() });
  const degree = make("output", { for: "talk-heat" });
  const complete = make("button", { text: words("Complete"), type: "submit", class: "main" });
  const one = button(words("One token"), () => press(1));
  const end = button(words("Stop"), stop);
  const again = button(words("Start again"), startAgain);
  const bar = make("progress", { max: LOADED.length + 1, hidden: true, "aria-label": words("Loading Python") });
  const said = make("span", { role: "status" });
  const meant = make("div", { class: "buttons" }); // sentences that a text could mean
  const begun = make("span");
  const continued = make("b", { "aria-live": "polite" });
  const earlier = make("small", { text: words("An earlier conversation, until yours begins:"), hidden: true });
  const text = make("p", { class: "text" }, earlier, begun, continued);
  const boxes = make("div", { class: "boxes", role: "group", "aria-label": words("Tokens") });
  const panels = make("div", { class: "panels" });

  function say(what, part) {
    said.textContent = what;
    bar.hidden = part === undefined;
    if (part !== undefined) bar.value = part;
  }

  // Mark an answer that is not to the sentence in the field.
  function age() {
    earlier.hidden = !state.begun || (!(state.busy && !state.live) && [state.asked, state.text].includes(asked()));
    for (const each of [text, boxes, panels]) each.classList.toggle("earlier", !earlier.hidden);
  }

  function show() {
    degree.textContent = heat.valueAsNumber ? fixed(heat.valueAsNumber, 1) : words("0: always the best token");
    end.hidden = !state.busy;
    age();
    again.hidden = state.busy || !state.live;
    const tokens = state.steps.map(({ token }) => token).filter((token) => token.text !== "\n");
    if (begun.textContent !== state.text) begun.textContent = state.text;
    continued.textContent = written(tokens);
    const prompt = (state.begun?.tokens ?? []).map((token) => make("span", { text: named(token), title: words("token {}", token.id) }));
    const chosen = state.steps.map(({ token }, i) =>
      button(named(token), () => ((state.shown = i), show(), boxes.querySelector("[aria-pressed=true]").focus()), {
        "aria-pressed": String(i === state.shown),
        "aria-label": words("step {0}: {1}", i + 1, named(token).trim()),
        title: words("token {}", token.id),
      }),
    );
    boxes.replaceChildren(...(state.begun ? [line(state.begun.lines.tokens)] : []), ...prompt, ...chosen);
    const step = state.steps[state.shown];
    panels.replaceChildren(...(step ? [nextPanel(step), cachePanel(step), attentionPanel(step)] : []));
    for (const at of panels.querySelectorAll(".at")) at.closest("div").scrollLeft = at.offsetLeft + at.offsetWidth - at.closest("div").clientWidth; // as far as it has to be
  }

  // The text of tokens. Some of them are the bytes of one character.
  function written(tokens) {
    const bytes = tokens.flatMap(({ id, text }) => (id >= 128 && id < 256 ? [id] : [...new TextEncoder().encode(text)]));
    return new TextDecoder().decode(new Uint8Array(bytes));
  }

  // The line of code that computed something, with a link to its function.
  function line({ module, function: name, number, text }) {
    const own = !module.startsWith("rushlight.");
    const place = own ? words("your {0}, line {1}", name, number) : words("{0}, line {1}", name, number);
    const address = new URL(`../api/${module.replace("rushlight.", "").replaceAll(".", "/")}.html#${anchor(name)}`, base);
    const where = own ? make("span", { text: place }) : make("a", { text: place, href: address, title: module });
    return make("p", { class: "line" }, make("code", { text }), " ", where);
  }
  const anchor = (name) => (name === "GPT.forward" ? "gpt" : name.split(".")[0]); // methods are on the page of their class

  function panel(title, lines, ...inside) {
    return make("section", { "aria-label": title }, make("h2", { text: title }), ...lines.map(line), ...inside);
  }

  function nextPanel({ token, top, lines }) {
    const rows = top.map((each) => {
      const percent = `${fixed(100 * each.probability, 1)} %`;
      const shown = make("td", { class: "bar" }, make("i", { style: `width: ${100 * each.probability}%` }), percent);
      const name = make("th", { scope: "row" }, make("code", { text: named(each) }), each.id === token.id ? " ✓" : "");
      return make("tr", { class: each.id === token.id && "chosen" }, name, shown, make("td", { text: fixed(each.logit, 2) }));
    });
    const head = make("tr", {}, ...[words("token"), words("probability"), "logit"].map((text) => make("th", { text, scope: "col" })));
    const table = make("table", { class: "top" }, make("thead", {}, head), make("tbody", {}, ...rows));
    const among = top.some(({ id }) => id === token.id);
    const note = among ? words("✓ is the token that was chosen.") : words("The chosen token, “{}”, is not among these ten.", named(token));
    return panel(words("The next token"), [lines.logits, lines.choice], table, make("p", { class: "note", text: note }));
  }

  function cachePanel({ cache, lines }) {
    const { layers, heads, width, positions, length, appended, bytes, allocated } = cache;
    const told =
      words("{0} of {1} positions are in use: {2} blocks × {3} heads × {4} numbers, for keys and for values.", length, positions, layers, heads, width) +
      ` ${words("These are {0} numbers, {1} of {2} bytes.", number(bytes / 4), number(bytes), number(allocated))}`;
    const wrote = number((bytes / length) * appended);
    const step =
      (appended === 1 ? words("This step wrote 1 position, {} bytes", wrote) : words("This step wrote {0} positions, {1} bytes", appended, wrote)) +
      (appended < length ? words(", and read {} that were there.", length - appended) : ".");
    const rows = Array.from({ length: layers }, () => {
      const cells = Array.from({ length: positions }, (_, i) => make("i", { class: i >= length ? "" : i >= length - appended ? "new" : "used" }));
      return make("div", {}, ...cells);
    });
    const picture = make("div", { class: "cache", role: "img", "aria-label": `${told} ${step}`, style: `--n: ${positions}` }, ...rows);
    return panel(words("The KV cache"), [lines.cache], picture, make("p", { class: "note", text: told }), make("p", { class: "note", text: step }));
  }

  let chosen = null; // the number of the attention that the reader looks at: [row, column]

  function attentionPanel({ weights, lines }) {
    const count = weights[0][0].length;
    const tokens = [...state.begun.tokens, ...state.steps.map(({ token }) => token)].slice(0, count);
    const names = tokens.map(named);
    const rows = weights.flatMap((heads, block) => heads.map((row, head) => ({ row, name: words("block {0}, head {1}", block + 1, head + 1) })));
    const out = make("output", { class: "note", "aria-live": "polite" });
    let at;
    const place = (row, column) => {
      at = [Math.max(0, Math.min(rows.length - 1, row)), Math.max(0, Math.min(count - 1, column))];
      const { row: values, name } = rows[at[0]];
      const percent = fixed(100 * values[at[1]], 1);
      out.textContent = words("{0} gives {1} % of its weight to “{2}”, position {3}", name, percent, names[at[1]].trim(), at[1]);
      table.querySelector(".at")?.classList.remove("at");
      table.tBodies[0].rows[at[0]].cells[at[1] + 1].classList.add("at");
      return at;
    };
    const cells = ({ row, name }) =>
      make("tr", {}, make("th", { scope: "row", text: name }), ...row.map((value) => make("td", { style: `--w: ${value}`, text: fixed(value, 2) })));
    const columns = names.map((text, i) => make("th", { scope: "col", title: words("position {}", i) }, make("span", { text })));
    const table = make(
      "table",
      { class: "weights", tabindex: 0, "aria-label": words("Attention of the last token read, “{}”. The arrow keys read out a number.", names.at(-1)) },
      make("thead", {}, make("tr", {}, make("td"), ...columns)),
      make("tbody", {}, ...rows.map(cells)),
    );
    const pointed = ({ target }) => {
      const cell = target.closest("tbody td");
      if (cell) chosen = place(cell.parentElement.sectionRowIndex, cell.cellIndex - 1);
    };
    table.addEventListener("pointerover", pointed);
    table.addEventListener("click", pointed);
    table.addEventListener("keydown", (event) => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (!step) return;
      event.preventDefault();
      chosen = place(at[0] + step[0], at[1] + step[1]);
      table.querySelector(".at").scrollIntoView({ block: "nearest", inline: "nearest" });
    });
    const strongest = rows.at(-1).row.indexOf(Math.max(...rows.at(-1).row));
    place(...(chosen && chosen[1] < count ? chosen : [rows.length - 1, strongest]));
    const what = make("p", { class: "note", text: words("The last token that the model read, “{}”, looks at all tokens up to itself.", names.at(-1).trim()) });
    return panel(words("Attention"), [lines.attention], what, make("div", { class: "attention" }, table), out);
  }

  // A sentence that the model knows, chosen: its verb, when, and who. The text is what counts. The choice writes it and shows what it
  // says, with a dash where it says nothing. Spanish is the second language.
  const verb = make("input", { id: "talk-verb", type: "text", maxlength: 30, autocomplete: "off", spellcheck: "false", input: () => pick(verb) });
  const option = (language) => ([value, text]) => make("option", { value: `${language} ${value}`, text });
  const chooser = (id, of) => make("select", { id, change: ({ target }) => pick(target) }, make("option", { value: "", text: "—" }), ...page.forms.map((form, i) => make("optgroup", { label: ["English", "Español"][i] }, ...of(form).map(option(i)))));
  const when = chooser("talk-when", ({ times }) => Object.entries(times).map(([tense, time]) => [tense, time]));
  const who = chooser("talk-who", (form) => form.who.map((pronoun, person) => [person, pronoun]));

  // Choose in a language what corresponds to the choice in the other one, or else `usual`: Spanish has no progressive.
  function speak(select, code, usual) {
    if (select.value.startsWith(code)) return;
    select.value = `${code} ${select.value.split(" ")[1]}`;
    select.value ||= `${code} ${usual}`;
  }

  function pick(changed) {
    const [code] = (changed === verb ? when.value || who.value || "0" : changed.value || "0").split(" ");
    speak(when, code, "present"); // both are of the language that was chosen last
    speak(who, code, "2");
    const person = who.value.split(" ")[1], form = page.forms[code], time = when.value.split(" ")[1];
    const helper = code === "0" ? { future: " will", progressive: ` ${page.be[person]}` }[time] ?? "" : "";
    field.value = `(${verb.value.trim()}) ${form.times[time]} ${form.who[person]}${helper}`;
    age();
  }

  function view(text) {
    const [, stem, rest] = text.match(/^\((.*?)\) (.*)/) ?? [null, "", ""];
    const said = (select) => [...select.options].filter(({ value, text }) => value && ` ${rest} `.includes(` ${text} `)).sort((a, b) => b.text.length - a.text.length);
    verb.value = stem;
    when.value = said(when)[0]?.value ?? "";
    who.value = said(who)[0]?.value ?? "";
  }

  function write(text) {
    field.value = text;
    view(text);
    age();
  }

  // The prompts of the course, as buttons.
  const examples = page.prompts.map((prompt) => button(prompt, () => (write(prompt), press(Infinity))));
  const form = make(
    "form",
    {},
    make(
      "div",
      { class: "pick" },
      make("div", {}, make("label", { for: "talk-verb", text: words("Verb") }), verb),
      make("div", {}, make("label", { for: "talk-when", text: words("Tense") }), when),
      make("div", {}, make("label", { for: "talk-who", text: words("Person") }), who),
    ),
    make("label", { for: "talk-text", text: words("The sentence: chosen, or your own") }),
    field,
    make("div", { class: "buttons" }, complete, one, end, again),
  );
  const more = make(
    "div",
    {},
    make("div", { class: "heat" }, make("label", { for: "talk-heat", text: words("Temperature") }), heat, degree),
    make("details", { class: "folded", open: matchMedia("(min-width: 45em)").matches }, make("summary", { text: words("Examples") }), make("div", { class: "buttons" }, ...examples)),
  );
  form.addEventListener("submit", (event) => (event.preventDefault(), press(Infinity)));
  const how = words("A page that is opened from the disk cannot start Python. In the site's folder, run {}, and open http://localhost:8000/.");
  const [before, after] = how.split("{}");
  const why = FROM_DISK
    ? [before, make("code", { text: "python -m http.server" }), after]
    : [words("This site was built without the parts that run Python in a browser. You see a recorded conversation.")];
  const top = page.runs && !FROM_DISK ? form : make("p", { class: "note" }, ...why);
  const conversation = [text, make("div", { class: "status" }, bar, said), meant, boxes];
  document.querySelector("[data-talk]").replaceChildren(top, ...conversation, ...(top === form ? [more] : []), panels);
  write(state.text);
  if (top === form) say(words("A recorded conversation. Press a token to see its step, or Complete to begin your own."));
  show();
}
