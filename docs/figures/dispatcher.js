// One call, and the kernels that it runs: the bits of its key set, the highest key, the entry of the table, and what that calls.
(() => {
  const TOP = 66, ROW = 27, LINE = 20, LINES = 14, WIDE = 510, TABLE = 378, CALLS = 524;
  const COLUMNS = [["of the", "tensors", 174], ["plus", "included", 229], ["minus", "excluded", 287], ["gives", "the set", 343]];

  // picks: the call, grad mode, autocast, requires grad, device, mode. step -1: not yet called.
  const start = () => ({ picks: [1, 0, 0, 1, 0, 0], step: 0, playing: false, guess: null });
  const number = (state, data) => state.picks.reduce((sum, pick, i) => sum * data.choices[i] + pick, 0);
  const trace = (state, data) => data.traces[data.situations[number(state, data)]].map((each) => {
    const [depth, op, row, isCall, text, tensors, included, excluded, set] = data.steps[each];
    return { depth, op, row, isCall, text, sets: [tensors, included, excluded, set] };
  });
  const bit = (set, row) => (set >> row) & 1;
  const entry = (state, data, op, row) => data.tables[op][state.picks[4]][row].map((word) => data.words[word]);
  const falls = (state, data, op, row) => row < data.keys[0].length && entry(state, data, op, row)[0] === "fallthrough";
  const y = (row, data) => TOP + row * ROW + (row < data.keys[0].length ? 0 : 18);

  function code(state, data) {
    const [call, grad, autocast, , , mode] = state.picks;
    const around = [grad ? `${data.modes[grad]}()` : "", autocast ? 'autocast("cpu")' : "", mode ? "Mode()" : ""].filter(Boolean);
    return `${around.length ? `with ${around.join(", ")}: ` : ""}${data.calls[call]}`;
  }

  function draw(state, data, set) {
    const steps = trace(state, data), asked = state.step < 0, now = steps[Math.max(state.step, 0)];
    const guess = (row) => (asked ? { press: () => set(answer(state, data, row)), tabindex: 0, "aria-label": `guess ${data.rows[row]}` } : {});
    const passed = !now.isCall;
    const cell = (row, column) => {
      const on = bit(now.sets[column], row), x = COLUMNS[column][2];
      const skipped = on && column === 3 && falls(state, data, now.op, row);
      const kind = !on ? "ground" : column === 3 ? (skipped ? "" : "one") : column === 2 ? "bad" : "";
      return h("g", { key: `bit ${row} ${column}`, transform: `translate(${x - 13} ${y(row, data)})`, class: passed && column < 3 ? "faint" : "" },
        h("rect", { width: 26, height: 20, rx: 3, class: kind }),
        h("text", { x: 13, y: 15, class: `middle small code ${on ? "" : "quiet"}` }, skipped ? "↓" : on ? 1 : 0));
    };
    const rows = data.rows.map((name, row) => {
      const key = row < data.keys[0].length, here = !asked && row === now.row;
      return h("g", { key: name, ...(key ? guess(row) : {}) }, h("rect", { x: 0, y: y(row, data) - 3, width: WIDE, height: ROW - 1, rx: 4, class: "ground", opacity: asked && key ? 1 : 0 }),
        h("text", { x: 14, y: y(row, data) + 14, class: `small ${here ? "one" : ""}` }, name));
    });
    const reasons = data.keys[0].map((_, row) => {
      const here = !asked && row === now.row, [reason] = entry(state, data, now.op, row);
      return h("text", { key: `reason ${row}`, x: TABLE, y: y(row, data) + 14, class: `small ${here ? "one" : "quiet"}` }, reason);
    });
    const first = Math.max(0, Math.min(state.step - 8, steps.length - LINES));
    const lines = steps.map((step, i) => {
      const key = data.keys[state.picks[4]][step.row], out = i < first || i >= first + LINES;
      const name = step.isCall ? `${data.ops[step.op]} ` : "↳ ";
      return out ? null : h("g", { key: `line ${i}`, transform: `translate(${CALLS + step.depth * 11} ${TOP + 14 + (i - first) * LINE})`,
        press: () => set({ ...state, step: i, playing: false, guess: null }), tabindex: -1 },
      h("text", { class: `small code ${i === state.step ? "strong one" : i > state.step ? "quiet" : ""}` }, asked ? "" : `${name}${key}`));
    });
    const [reason, place] = entry(state, data, now.op, now.row);
    return [
      h("text", { key: "code", x: 0, y: 16, class: "code" }, code(state, data)),
      ...COLUMNS.map(([over, name, x], i) => h("g", { key: name, class: passed && i < 3 ? "faint" : "" },
        h("text", { x, y: 40, class: "middle small quiet" }, passed && i === 3 ? "passed on" : over), h("text", { x, y: 55, class: `middle small ${i === 3 ? "strong" : ""}` }, name))),
      h("text", { key: "bits", x: 14, y: 55, class: "small quiet" }, "bits of features"),
      h("text", { key: "backends", x: 14, y: y(data.keys[0].length, data) - 7, class: "small quiet" }, "bits of backends"),
      h("text", { key: "table", x: TABLE, y: 40, class: "small quiet" }, "table of"),
      h("text", { key: "op", x: TABLE, y: 55, class: "small strong code" }, data.ops[now.op]),
      h("text", { key: "legend", x: CALLS, y: 40, class: "small quiet" }, "↳ is a redispatch"),
      h("text", { key: "kernels", x: CALLS, y: 55, class: "small quiet" }, asked ? "kernels that run" : `kernels that run, ${state.step + 1} of ${steps.length}`),
      h("rect", { key: "here", x: 0, y: -3, width: WIDE, height: ROW - 1, rx: 4, class: asked ? "gone" : "ground", transform: `translate(0 ${y(now.row, data)})` }),
      ...rows,
      h("text", { key: "mark", x: 0, y: 14, class: asked ? "gone" : "small one", transform: `translate(0 ${y(now.row, data)})` }, "▶"),
      ...data.rows.flatMap((_, row) => COLUMNS.map((_, column) => cell(row, column))),
      ...reasons,
      h("text", { key: "place", x: 14, y: 342, class: "small" }, asked ? "" : `Runs: ${data.ops[now.op]} at ${data.keys[state.picks[4]][now.row]}, the ${reason}, registered in ${place}`),
      ...lines.filter(Boolean),
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
      ...player({ at: state.step, first: -1, last, playing: state.playing, play: "call", scrub: "kernel" }, go),
      one("operation", 0, data.calls), flip("requires grad", 3), flip("autocast", 2), flip("a mode", 5),
      one("grad mode", 1, data.modes), one("device", 4, data.devices),
    ];
  }

  function say(state, data) {
    const now = trace(state, data)[Math.max(state.step, 0)], key = data.rows[state.guess];
    if (state.step >= 0) return `${state.guess == null ? "" : "Right. "}${data.texts[now.text]}`;
    if (state.guess == null) return "At which key does this call begin? Press a row, or press call.";
    if (!bit(now.sets[3], state.guess)) return `Not ${key}: it is not in the set of this call.`;
    if (falls(state, data, now.op, state.guess)) return `Not ${key}: it is in the set, but its entry for ${data.ops[now.op]} falls through.`;
    return `Not ${key}: it is in the set, but a higher key of the set has a kernel, too.`;
  }

  const tick = (state, data) => (state.playing && state.step + 1 < trace(state, data).length ? [900, { ...state, step: state.step + 1 }] : []);

  figure("dispatcher", { start, draw, controls, say, tick });
})();
