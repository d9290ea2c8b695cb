// Guards and breaks: the reader calls a compiled function, and sees which cache entry runs and which guard fails.
(() => {
  const LEFT = 212, WIDE = 168, PITCH = 181, ROW = 15, LINE = 14, CACHES = { f: 62, resume: 244 };
  const GRAPHS = [words("0 graphs"), words("1 graph"), words("2 graphs")], DYNAMIC = ["None", "True", "False"], PRINTS = ["print", "no-print"];

  const empty = { order: "", made: "" };
  const fresh = { caches: { f: empty, resume: empty }, call: 0, done: null, guess: null, history: [] };
  const setting = (state, data) => data.settings[`${state.dynamic}${state.print ? " print" : ""}`];
  const entry = (state, data, part, letter) => setting(state, data)[part].entries[letter.charCodeAt() - 97];
  const verdict = (state, data, part, letter) => entry(state, data, part, letter)[3][state.call];
  const id = (state, part, letter) => `${+(part !== "f")}/${state.caches[part].made.indexOf(letter)}`;
  const graphs = (state) => state.caches.f.made.length + state.caches.resume.made.length;

  // The first entry whose guards hold runs, else a new one, up to the limit. What runs is first from now on.
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
    const next = { ...state, caches, done, guess, history: [...state.history, state.call] }, made = graphs(next) - graphs(state);
    return guess == null ? next : { ...next, tried: state.tried + 1, right: state.right + (guess === made), missed: made };
  }

  const played = (state, data, calls) => calls.reduce((state, call) => called({ ...state, call }, data), { ...state, ...fresh });
  const start = (data) => played({ dynamic: "None", print: true, tried: 0, right: 0 }, data, [0, 1, 3]);

  // Where each cache and entry is on a narrow picture.
  const half = (rows) => Math.ceil(rows.length / 2), high = ([rows, lines]) => 12 + ROW * Math.max(half(rows), 1 + lines.length);
  function stack(state, data) {
    const places = { end: 80 };
    for (const part of Object.keys(setting(state, data))) {
      places[part] = places.end += 46;
      for (const letter of state.caches[part].order) {
        places[part + letter] = places.end;
        places.end += high(entry(state, data, part, letter)) + 6;
      }
    }
    return places;
  }
  const code = (state, data) => data.code[state.print ? "print" : ""];
  const tall = (state, data) => stack(state, data).end + 90 + code(state, data).instructions.length * LINE;

  function box(state, data, part, letter, place, at) {
    const [rows, lines] = entry(state, data, part, letter), done = state.done?.[part], fails = verdict(state, data, part, letter);
    const status = !done ? "" : letter === done.runs ? (done.hit ? "runs" : "new") : !done.hit || done.before.indexOf(letter) < done.before.indexOf(done.hit) ? "fails" : "not tested";
    const mark = (i) => ({ runs: "✓", fails: "✓✗·"[Math.sign(i - fails?.[0]) + 1], "not tested": "·" })[status];
    const kind = { runs: "good", new: "one" }[status], [height, column, left, top] = at ? [high([rows, lines]), half(rows), 104, 17] : [30 + (rows.length + lines.length) * ROW, 9, 8, 32];
    return moved(`${state.dynamic} ${state.print} ${part} ${letter}`, at ? 1 : LEFT + place * PITCH, at ? at[part + letter] : CACHES[part], {},
      rect(0, 0, at ? 356 : WIDE, height, kind, { rx: 5 }),
      small("id", 8, 17, "strong", id(state, part, letter)),
      small("status", at ? 94 : WIDE - 8, 16, `end ${status === "fails" ? "bad" : "quiet"}`, words(status)),
      rows.flatMap((row, i) => [[14, "code", words(row)], [0, "", mark(i)]].map(([x, look, text]) => small(`row ${i} ${x}`, left + x + 112 * (i >= column), top + (i % column) * ROW, `${look} ${mark(i) === "✗" ? "bad strong" : ""}`, text ?? ""))),
      h("path", { d: at ? `M99 8V${height - 8}` : `M8 ${22 + rows.length * ROW}H${WIDE - 8}` }),
      lines.map((line, i) => small(`line ${i}`, at ? 8 : 22, at ? 32 + i * ROW : 37 + (rows.length + i) * ROW, "code", line)));
  }

  function draw(state, data, set, narrow) {
    const { lines, owners, instructions, takes } = code(state, data), at = narrow && stack(state, data), caches = at || CACHES, left = narrow ? 0 : LEFT;
    const source = lines.map((line, i) => small(`source ${i}`, 7.2 * line.search(/\S/), 12 + i * 14, `code ${owners[i] === 1 ? "two" : "one"}`, line.trim()));
    const top = narrow ? at.end + 80 : 116, bytes = instructions.map(([text, owner], i) =>
      small(`${state.print} code ${i}`, 8, top + i * LINE + owner * 8, "code", `${String(i).padStart(2, "\u00a0")} ${text}`));
    const blocks = [0, 1, 2].flatMap((owner) => {
      const own = (each) => each[1] === owner, count = instructions.filter(own).length, y = top - 11 + instructions.findIndex(own) * LINE + owner * 8;
      return count ? [rect(1, y, 191, count * LINE + 2, owner === 1 ? "two" : "one", { key: `block ${owner}`, rx: 3 }),
        small(`owner ${owner}`, 186, y + count * LINE - 3, "end", [words("graph of f"), "Python", "resume"][owner])] : [];
    });
    const entries = Object.keys(setting(state, data)).flatMap((part) => {
      const { order } = state.caches[part], done = state.done?.[part], full = done && !done.runs, place = done?.before.indexOf(done.hit), free = data.limit - order.length, more = full ? words(data.full) : state.done && !done ? words(data.skipped) : place > 0 ? words(data.moves[place - 1], id(state, part, done.hit)) : narrow ? words(data.down, free) : order ? words(data.across) : words("empty");
      return [
        small(`cache ${part}`, left, caches[part] - (narrow ? 24 : 8), "strong", [`${words("Cache of {}:", part === "f" ? "f" : takes)} `,
          h("tspan", { ...(narrow && { x: 0, dy: 16 }), style: `font-weight: 400; fill: var(${full ? "--bad" : "--quiet"})` }, more)]),
        ...upTo(free - 1).filter(() => !narrow).map((i) => moved(`free ${part} ${i}`, LEFT + (i + order.length) * PITCH, CACHES[part], {},
          rect(0, 0, WIDE, 90, "", { rx: 5, "stroke-dasharray": "4 4" }), small("free", WIDE / 2, 49, "quiet middle", words("free")))),
        ...[...order].sort().map((letter) => box(state, data, part, letter, order.indexOf(letter), at)),
      ];
    });
    const [name, args] = data.calls[state.call], aside = narrow ? 176 : 222;
    return [
      ...source, small("bytecode", 0, top - 16, "quiet", words("its bytecode")), ...blocks, ...bytes,
      rect(aside - 10, 0, narrow ? 191 : 532, narrow ? 84 : 32, "ground", { key: "call", rx: 5 }),
      label("name", aside, 21, "strong", state.done ? words("called: {}", words(name)) : words("next call: {}", words(name))),
      ...(narrow ? args.map((word, i) => small(`word ${i}`, aside, 42 + i * 16, "code", words(word))) : [small("words", 734, 20, "code end", args.map((word) => words(word)).join(", "))]),
      ...entries,
      small("none", left, narrow ? at.end + 34 : CACHES.resume - 8, "quiet", state.print ? "" : words(data.whole)),
      small("count", left, narrow ? at.end + 17 : 424, "", words(data.counts, state.history.length, graphs(state)) + (state.tried ? words(data.guesses, state.right, state.tried) : "")),
    ];
  }

  function controls(state, data, set) {
    const of = (changes) => set({ ...state, ...fresh, ...changes });
    return [
      [oneOf(words("call:"), data.calls.map(([name], call) => toggle(words(name), call === state.call, () => set({ ...state, call, done: null, guess: null })))),
      oneOf(words("it compiles:"), GRAPHS.map((label, guess) =>
        button(label, () => set(called(state, data, guess)), { key: label, off: state.done || (guess === 2 && !state.print) })))],
      keyed("dynamic", choice("dynamic", DYNAMIC, state.dynamic, (dynamic) => of({ dynamic }))),
      keyed("print", toggle("print", state.print, () => of({ print: !state.print }))),
      button(words("start again"), () => of({}), { key: "again" }),
    ];
  }

  function told(state, data, part) {
    const done = state.done[part], name = part === "f" ? "f" : words("The resume function"), made = state.caches[part].made;
    if (!done) return "";
    if (!done.runs) return words(data.limited, name, data.limit);
    const runs = id(state, part, done.runs);
    if (done.hit) return words(data.hit, name, runs);
    if (!done.before) return words(data.first, name);
    const last = done.before[0], why = data.reasons[verdict(state, data, part, last)[1]];
    const [known, news] = [made.at(-2), done.runs].map((letter) => entry(state, data, part, letter)[2]), symbols = Object.keys(news).filter((each) => !(each in known));
    return [words(data.again, name, id(state, part, last), why), ...symbols.map((each) => words(news[each]))].join(" ");
  }

  function say(state, data) {
    if (!state.done) return words(data.ask, words(data.calls[state.call][0]));
    const answer = state.guess == null ? "" : state.guess === state.missed ? praise(true) : `${words("No, {}.", GRAPHS[state.missed])} `;
    return `${answer}${["f", "resume"].map((part) => told(state, data, part)).filter(Boolean).join(" ")} ${words(data.next)}`;
  }

  // In an address: the two settings, and the calls since then. `none,print,013`.
  const write = (state) => [slug(state.dynamic), PRINTS[+!state.print], state.history.join("")];
  const read = ([dynamic, print, calls = ""], data, first) =>
    played({ ...first, dynamic: chosen(DYNAMIC, dynamic), print: chosen(PRINTS, print) === "print" }, data, [...calls].map((call) => chosen([...data.calls.keys()], call)));

  figure("guards", { start, draw, tall, controls, say, write, read });
})();
