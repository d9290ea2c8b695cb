// Guards and breaks: the reader calls a compiled function, and sees which cache entry runs, which guard fails, and what is compiled.
(() => {
  const LEFT = 212, WIDE = 168, PITCH = 181, ROW = 15, CACHES = { f: 62, resume: 244 }, LETTERS = "abcdefghijklmnopqrstuvwxyz";

  const empty = { order: "", made: "" };
  const fresh = { caches: { f: empty, resume: empty }, call: 0, done: null, guess: null, calls: 0 };
  const setting = (state, data) => data.settings[`${state.dynamic}${state.print ? " print" : ""}`];
  const entry = (state, data, part, letter) => setting(state, data)[part].entries[LETTERS.indexOf(letter)];
  const verdict = (state, data, part, letter) => entry(state, data, part, letter)[3][state.call];
  const id = (state, part, letter) => `${part === "f" ? 0 : 1}/${state.caches[part].made.indexOf(letter)}`;
  const graphs = (state) => state.caches.f.made.length + state.caches.resume.made.length;

  // Part by part, because all states together are too many. A part is called: the first entry whose guards hold runs, else a new one, if the limit allows it. What runs is first from now on.
  function asked(state, data, part) {
    const { order, made } = state.caches[part], table = setting(state, data)[part];
    const hit = [...order].find((letter) => !verdict(state, data, part, letter));
    const runs = hit ?? (made.length < data.limit ? table.compiles[made][state.call] : null);
    if (runs == null) return [state.caches[part], { before: order }];
    return [{ order: runs + order.replace(runs, ""), made: hit ? made : made + runs }, { before: order, runs, hit }];
  }

  function called(state, data, guess = null) {
    const done = {}, caches = { ...state.caches };
    for (const part of Object.keys(setting(state, data))) {
      [caches[part], done[part]] = asked(state, data, part);
      if (!done[part].runs) break;
    }
    const next = { ...state, caches, done, guess, calls: state.calls + 1 };
    if (guess == null) return next;
    return { ...next, tried: state.tried + 1, right: state.right + (guess === graphs(next) - graphs(state)), missed: graphs(next) - graphs(state) };
  }

  const start = (data) => [0, 1, 3].reduce((state, call) => called({ ...state, call }, data), { dynamic: "None", print: true, tried: 0, right: 0, ...fresh });

  function box(state, data, part, letter, place) {
    const [rows, lines] = entry(state, data, part, letter), done = state.done?.[part], fails = verdict(state, data, part, letter);
    const tested = done && (!done.hit || done.before.indexOf(letter) <= done.before.indexOf(done.hit));
    const status = !done ? "" : letter === done.runs ? (done.hit ? "runs" : "new") : tested ? "fails" : "not tested";
    const mark = (i) => (status === "runs" || (status === "fails" && i < fails[0]) ? "✓" : status === "fails" && i === fails[0] ? "✗" : status === "new" || !status ? "" : "·");
    const kind = { runs: "good", new: "one" }[status] ?? "", height = 30 + (rows.length + lines.length) * ROW;
    return h("g", { key: `${state.dynamic} ${state.print} ${part} ${letter}`, transform: `translate(${LEFT + place * PITCH} ${CACHES[part]})` },
      h("rect", { width: WIDE, height, rx: 5, class: kind }),
      h("text", { x: 8, y: 16, class: "small strong" }, id(state, part, letter)),
      h("text", { x: WIDE - 8, y: 16, class: `small end ${status === "fails" ? "bad" : "quiet"}` }, status),
      rows.map((row, i) => h("text", { key: `row ${i}`, x: 22, y: 32 + i * ROW, class: `small code ${mark(i) === "✗" ? "bad strong" : ""}` }, row)),
      rows.map((_, i) => h("text", { key: `mark ${i}`, x: 8, y: 32 + i * ROW, class: `small ${mark(i) === "✗" ? "bad strong" : ""}` }, mark(i))),
      h("line", { x1: 8, x2: WIDE - 8, y1: 22 + rows.length * ROW, y2: 22 + rows.length * ROW }),
      lines.map((line, i) => h("text", { key: `line ${i}`, x: 22, y: 37 + (rows.length + i) * ROW, class: "small code" }, line)));
  }

  function draw(state, data) {
    const { lines, owners, instructions, takes } = data.code[state.print ? "print" : ""], parts = setting(state, data);
    const source = lines.map((line, i) => h("text", { key: `source ${i}`, x: 6.4 * line.search(/\S/), y: 12 + i * 14, class: `code ${["one", "two", "one"][owners[i]]}`, style: "font-size: 11px" }, line.trim()));
    const top = 116, pitch = 12, code = instructions.map(([text, owner], i) =>
      h("text", { key: `${state.print} code ${i}`, x: 8, y: top + i * pitch + owner * 8, class: "code", style: "font-size: 10.2px" }, `${String(i).padStart(2, "\u00a0")} ${text}`));
    const blocks = [0, 1, 2].flatMap((owner) => {
      const count = instructions.filter((each) => each[1] === owner).length, y = top - 11 + instructions.findIndex((each) => each[1] === owner) * pitch + owner * 8;
      const words = ["graph of f", "Python", "resume"][owner];
      return count ? [h("rect", { key: `block ${owner}`, x: 0, y, width: 192, height: count * pitch + 4, rx: 3, class: owner === 1 ? "two" : "one" }),
        h("text", { key: `owner ${owner}`, x: 186, y: y + 12, class: "small end" }, words)] : [];
    });
    const caches = Object.keys(parts).flatMap((part) => {
      const { order } = state.caches[part], done = state.done?.[part], full = done && !done.runs;
      const at = done?.hit ? done.before.indexOf(done.hit) : 0, skipped = state.done && !done, name = part === "f" ? "f" : takes;
      const more = full ? `the limit is ${data.limit}: it runs uncompiled` : skipped ? "not asked, because f runs uncompiled" : at ? `${id(state, part, done.hit)} was tested ${["", "second", "third"][at]}, and moves to the front` : order ? "tested from left to right" : "empty";
      return [
        h("text", { key: `cache ${part}`, x: LEFT, y: CACHES[part] - 8, class: "small strong" }, `Cache of ${name}: `,
          h("tspan", { class: full ? "" : "quiet", style: `font-weight: 400${full ? "; fill: var(--bad)" : ""}` }, more)),
        ...Array.from({ length: data.limit - order.length }, (_, i) => h("g", { key: `free ${part} ${i}` },
          h("rect", { x: LEFT + (i + order.length) * PITCH, y: CACHES[part], width: WIDE, height: 90, rx: 5, "stroke-dasharray": "4 4" }),
          h("text", { x: LEFT + (i + order.length) * PITCH + WIDE / 2, y: CACHES[part] + 49, class: "small quiet middle" }, "free"))),
        ...[...order].sort().map((letter) => box(state, data, part, letter, order.indexOf(letter))),
      ];
    });
    const [name, words] = data.calls[state.call];
    return [
      ...source, h("text", { key: "bytecode", x: 0, y: top - 16, class: "small quiet" }, "its bytecode"), ...blocks, ...code,
      h("rect", { key: "call", x: LEFT, y: 0, width: 532, height: 32, rx: 5, class: "ground" }),
      h("text", { key: "name", x: LEFT + 10, y: 21, class: "strong" }, state.done ? `called: ${name}` : `next call: ${name}`),
      h("text", { key: "words", x: LEFT + 522, y: 20, class: "small code end" }, words.join(", ")),
      ...caches,
      h("text", { key: "none", x: LEFT, y: CACHES.resume - 8, class: "small quiet" }, state.print ? "" : "Nothing breaks the graph, so there is no resume function."),
      h("text", { key: "count", x: LEFT, y: 424, class: "small" },
        `calls: ${state.calls}, graphs compiled: ${graphs(state)}${state.tried ? `, your guesses: ${state.right} of ${state.tried} right` : ""}`),
    ];
  }

  function controls(state, data, set) {
    const of = (changes) => set({ ...state, ...fresh, ...changes });
    return [
      h("span", {}, "call:"),
      ...data.calls.map(([name], call) => toggle(name, call === state.call, () => set({ ...state, call, done: null, guess: null }))),
      h("span", { style: "width: 100%" }), h("span", {}, "it compiles:"),
      ...["0 graphs", "1 graph", "2 graphs"].map((label, guess) =>
        button(label, () => set(called(state, data, guess)), { key: label, disabled: state.done || (guess === 2 && !state.print) ? "" : null })),
      keyed("dynamic", choice("dynamic", ["None", "True", "False"], state.dynamic, (dynamic) => of({ dynamic }))),
      button("print", () => of({ print: !state.print }), { key: "print", "aria-pressed": String(state.print) }),
      button("start again", () => of({}), { key: "again" }),
    ];
  }

  function told(state, data, part) {
    const done = state.done[part], name = part === "f" ? "f" : "The resume function", made = state.caches[part].made;
    if (!done) return "";
    if (!done.runs) return `No entry fits. ${name} already has ${data.limit}, the limit, so it runs uncompiled.`;
    const runs = id(state, part, done.runs);
    if (done.hit) return `${name} runs ${runs}, because all its guards hold.`;
    if (!done.before) return `${name} is compiled for the first time.`;
    const last = done.before[0], why = data.reasons[verdict(state, data, part, last)[1]];
    const known = entry(state, data, part, made.at(-2))[2], news = Object.entries(entry(state, data, part, done.runs)[2]).filter(([symbol]) => !(symbol in known));
    return [`${name} is compiled again. Torch says of ${id(state, part, last)}: "${why}".`, ...news.map((each) => each[1])].join(" ");
  }

  function say(state, data) {
    const name = data.calls[state.call][0];
    if (!state.done) return `Next call: ${name}. Do the guards of an entry hold, or is it compiled? Press the number of graphs that this call compiles.`;
    const answer = state.guess == null ? "" : state.guess === state.missed ? "Right. " : `No, ${state.missed} ${state.missed === 1 ? "graph" : "graphs"}. `;
    return `${answer}${["f", "resume"].map((part) => told(state, data, part)).filter(Boolean).join(" ")} Press the next call.`;
  }

  figure("guards", { start, draw, controls, say });
})();
