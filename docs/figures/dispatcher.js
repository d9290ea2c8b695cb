// One call, and the kernels that it runs: the bits of its key set, the highest key, the entry of the table, and what that calls.
(() => {
  const TOP = 66, LINE = 23;
  const COLUMNS = [[words("of the"), words("tensors")], [words("plus"), words("included")], [words("minus"), words("excluded")], [words("gives"), words("the set")]];
  // The table and the kernels are beside the bits, or each entry is below its bit's name, and the kernels are below it all.
  const BESIDE = { wide: 510, high: 36, columns: [174, 229, 287, 343], table: [378, 0], calls: [524, 0], count: 15, line: 700 };
  const BELOW = { wide: 358, high: 41, columns: [166, 220, 276, 329], table: [10, 15], calls: [0, 468], count: 10, line: 340 };

  // picks: the call, grad mode, autocast, requires grad, device, mode. step -1: not yet called.
  const start = () => ({ picks: [1, 0, 0, 1, 0, 0], step: 0, playing: false, guess: null });
  const number = (state, data) => state.picks.reduce((sum, pick, i) => sum * data.choices[i] + pick, 0);
  const trace = (state, data) => data.traces[data.situations[number(state, data)]].map((each) => {
    const [depth, op, row, isCall, text, tensors, included, excluded, set] = data.steps[each];
    return { depth, op, row, isCall, text, sets: [tensors, included, excluded, set] };
  });
  const tall = (state, data) => 532 + Math.min(trace(state, data).length, BELOW.count) * LINE;
  const bit = (set, row) => (set >> row) & 1;
  const entry = (state, data, op, row) => data.tables[op][state.picks[4]][row].map((word) => data.words[word]);
  const falls = (state, data, op, row) => row < data.keys[0].length && entry(state, data, op, row)[0] === "fallthrough";

  function code(state, data) {
    const [call, grad, autocast, , , mode] = state.picks;
    const around = [grad ? `${data.modes[grad]}()` : "", autocast ? 'autocast("cpu")' : "", mode ? "Mode()" : ""].filter(Boolean);
    return `${around.length ? `with ${around.join(", ")}: ` : ""}${data.calls[call]}`;
  }

  function draw(state, data, set, narrow) {
    const { wide, high, columns, table, calls, count, line } = narrow ? BELOW : BESIDE, y = (row) => TOP + row * high + (row < data.keys[0].length ? 0 : 18);
    const steps = trace(state, data), asked = state.step < 0, now = steps[Math.max(state.step, 0)];
    const guess = (row) => (asked ? { press: () => set(answer(state, data, row)), tabindex: 0, "aria-label": words("guess {}", data.rows[row]) } : {});
    const passed = !now.isCall, through = asked ? "pointer-events: none" : null; // a press of a row is for the row
    const cell = (row, column) => {
      const on = bit(now.sets[column], row), skipped = on && column === 3 && falls(state, data, now.op, row);
      const says = skipped ? words("falls through") : null;
      const kind = !on ? "ground" : column === 3 ? (skipped ? "" : "one") : column === 2 ? "bad" : "";
      return moved(`bit ${row} ${column}`, columns[column] - 13, y(row) + 3, { class: passed && column < 3 ? "faint" : "", style: through, role: "cell", "aria-label": says },
        rect(0, 0, 26, 22, kind, { rx: 3 }), small("bit", 13, 15, `middle code ${on ? "" : "quiet"}`, skipped ? "↓" : on ? 1 : 0));
    };
    const text = narrow ? 11 : 18;
    const rows = data.rows.map((name, row) => {
      const key = row < data.keys[0].length, here = !asked && row === now.row;
      const header = h("g", key ? guess(row) : {}, rect(0, y(row) - 3, wide, high - 1, "ground", { rx: 4, opacity: asked && key ? 1 : 0 }),
        small("name", narrow ? 10 : 14, y(row) + (key ? text : 18), here ? "one" : "", name));
      const reason = key ? small("reason", table[0], y(row) + text + table[1], here ? "one" : "quiet", entry(state, data, now.op, row)[0], { style: through, role: "cell" }) : null;
      return h("g", { key: name, role: "row", "aria-current": here || null }, h("g", { role: "rowheader" }, header), COLUMNS.map((_, column) => cell(row, column)), reason);
    });
    const first = Math.max(0, Math.min(state.step - 8, steps.length - count)), [left, down] = calls;
    const lines = steps.map((step, i) => {
      if (asked || i < first || i >= first + count) return null;
      const kernel = `${step.isCall ? `${data.ops[step.op]} ` : "↳ "}${data.keys[state.picks[4]][step.row]}`;
      return moved(`line ${i}`, left + step.depth * 11, down + TOP + 14 + (i - first) * LINE, { class: "kernel", role: "listitem", "aria-current": i === state.step || null, onclick: () => set({ ...state, step: i, playing: false, guess: null }) },
        rect(0, -16, 208 - step.depth * 11, LINE, "", { opacity: 0 }),
        small("kernel", 0, 0, `code ${i === state.step ? "strong one" : i > state.step ? "quiet" : ""}`, kernel));
    });
    const [reason, place] = entry(state, data, now.op, now.row);
    const runs = asked ? "" : words("Runs: {0} at {1}, the {2}, registered in {3}", data.ops[now.op], data.keys[state.picks[4]][now.row], reason, place);
    return [
      ...paragraph("code", 0, narrow ? 9 : 16, `code ${narrow ? "small" : ""}`, code(state, data), narrow ? 358 : 700, 7.3),
      rect(0, -3, wide, high - 1, asked ? "gone" : "ground", { key: "here", rx: 4, transform: `translate(0 ${y(now.row)})` }),
      h("g", { key: "table", role: "table", "aria-label": data.ops[now.op] },
        h("g", { key: "head", role: "row" },
          small("bits", narrow ? 10 : 14, 55, "quiet", narrow ? words("features") : words("bits of features"), { role: "columnheader" }),
          COLUMNS.map(([over, name], i) => h("g", { key: name, role: "columnheader", class: passed && i < 3 ? "faint" : "" },
            small("over", columns[i], 40, "middle quiet", passed && i === 3 ? words("passed on") : over), small("name", columns[i], 55, `middle ${i === 3 ? "strong" : ""}`, name))),
          h("g", { key: "entries", role: "columnheader" }, small("table", table[0], 40, "quiet", narrow ? "" : words("table of")), small("op", table[0], narrow ? 40 : 55, "strong code", data.ops[now.op]))),
        rows),
      small("backends", 14, y(data.keys[0].length) - 8, "quiet", words("bits of backends")),
      label("mark", 0, text, asked ? "gone" : "small one", "▶", { transform: `translate(0 ${y(now.row)})`, "aria-hidden": true }),
      ...paragraph("place", 14, y(data.rows.length) + 16, "small", runs, line),
      small("kernels", left, down + 55, "quiet", asked ? words("kernels that run") : words("kernels that run, {0} of {1}", state.step + 1, steps.length)),
      small("legend", left + (narrow && 238), down + (narrow ? 55 : 40), "quiet", words("↳ is a redispatch")),
      ...(asked ? [] : [h("g", { key: "lines", role: "list" }, lines)]),
    ];
  }

  function answer(state, data, row) {
    const [first] = trace(state, data);
    return row === first.row ? { ...state, step: 0, guess: row } : { ...state, guess: row };
  }

  function controls(state, data, set) {
    const last = trace(state, data).length - 1;
    const pick = (place, value) => set({ picks: state.picks.map((old, i) => (i === place ? value : old)), step: -1, playing: false, guess: null });
    const go = (step, playing) => set({ ...state, step, playing, guess: null });
    const one = (label, place, names) => keyed(label, choice(label, names, names[state.picks[place]], (name) => pick(place, names.indexOf(name))));
    const flip = (label, place) => keyed(label, toggle(label, state.picks[place] === 1, () => pick(place, 1 - state.picks[place])));
    return [
      player({ at: state.step, first: -1, last, playing: state.playing, play: words("call"), scrub: words("kernel") }, go),
      one(words("operation"), 0, data.calls), flip(words("requires grad"), 3), flip("autocast", 2), flip(words("a mode"), 5),
      one(words("grad mode"), 1, data.modes), one(words("device"), 4, data.devices),
    ];
  }

  function say(state, data) {
    const now = trace(state, data)[Math.max(state.step, 0)], key = data.rows[state.guess];
    if (state.step >= 0) return `${praise(state.guess != null)}${words(data.texts[now.text])}${state.step || state.playing ? "" : ` ${words("Press step.")}`}`;
    if (state.guess == null) return words("At which key does this call begin? Press a row, or press call.");
    if (!bit(now.sets[3], state.guess)) return words("Not {}: it is not in the set of this call.", key);
    if (falls(state, data, now.op, state.guess)) return words("Not {0}: it is in the set, but its entry for {1} falls through.", key, data.ops[now.op]);
    return words("Not {}: it is in the set, but a higher key of the set has a kernel, too.", key);
  }

  const tick = (state, data) => (state.playing && state.step + 1 < trace(state, data).length ? [900, { ...state, step: state.step + 1 }] : []);

  // In an address: the six choices, and the step.
  const address = fields((state, data) => [["picks", indices(data.choices)], ["step", [-1, ...trace(state, data).keys()]]]);

  figure("dispatcher", { start, draw, tall, controls, say, tick, ...address });
})();
