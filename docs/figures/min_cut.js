// The min-cut: which tensors cross from the forward graph to the backward graph, and which the backward computes instead.
(() => {
  const TOP = 52, ROWS = 336, BOX = [30, 118], NEAR = 160, FAR = 312, COPY = 178, LATE = 404, WIDE = 620, CHART = 424;

  // cut: the number of a legal cut. pressed: the row that was pressed last, if that changed nothing.
  const start = () => ({ program: null, cut: null, pressed: null });
  const shown = (state, data) => data[state.program ?? Object.keys(data)[0]];
  const number = (state, data) => state.cut ?? shown(state, data).default;
  const bytes = (count) => `${count.toLocaleString("en")} bytes`;

  // What happens to a row: it crosses the border, the backward computes it, or the backward does not need it.
  const fate = (cut, row) => (cut.saved.includes(row) ? "saved" : cut.computed.includes(row) ? "computed" : "");

  function press(state, data, row) {
    const next = shown(state, data).cuts[number(state, data)].moves[row];
    return next == null || next < 0 ? { ...state, pressed: row } : { ...state, cut: next, pressed: null };
  }

  function draw(state, data, set) {
    const program = shown(state, data), at = number(state, data), cut = program.cuts[at], { rows, late } = program, name = state.program;
    const pitch = ROWS / rows.length, y = (row) => TOP + (row + 0.5) * pitch;
    const lateY = (i) => y(rows.length - 1) - (i * (rows.length - 1) * pitch) / (late.length - 1);
    const inside = (row) => fate(cut, row) === "computed";
    const bands = rows.map((_, row) =>
      h("g", { key: `${name} band ${row}`, transform: `translate(${inside(row) ? NEAR : FAR} ${TOP + row * pitch})` },
        h("rect", { width: FAR - NEAR, height: pitch, class: "ground" }), h("path", { d: `M0 0v${pitch}`, class: "two" })));
    const steps = rows.slice(1).map((_, row) =>
      h("path", { key: `${name} step ${row}`, d: `M${NEAR} ${TOP + (row + 1) * pitch}H${FAR}`, class: inside(row) === inside(row + 1) ? "gone" : "two" }));

    const edges = program.edges.flatMap(([from, to], place) => {
      const key = `${name} edge ${place}`, a = rows[from], b = rows[to], far = to - from - 1, made = [];
      const line = (part, d, kind, more = "") => made.push(h("path", { key: `${key} ${part}`, d, class: `${kind} ${more}` }));
      if (a && b) {
        const [x, up, down] = [BOX[0] + BOX[1] / 2, y(to) - 20, y(from) + 20];
        const early = b[3] || fate(cut, to) === "saved";
        const bulge = (left, width, end = left) => `M${left} ${y(from)}C${left + width} ${y(from)} ${left + width} ${y(to)} ${end} ${y(to)}`;
        if (early) line("early", far ? bulge(BOX[0], -Math.min(36, 12 + 8 * far)) : `M${x} ${down}V${up}`, "");
        if (inside(to)) line("again", far ? bulge(inside(from) ? COPY + BOX[1] : FAR, 10 + 10 * far, COPY + BOX[1]) : `M${COPY + 8} ${inside(from) ? down : y(from)}V${up}`, inside(from) ? "" : "one");
      } else if (a) {
        const [left, end] = [inside(from) ? COPY + BOX[1] : FAR, lateY(to - rows.length)];
        line("late", `M${left} ${y(from)}C${left + 50} ${y(from)} ${LATE - 50} ${end} ${LATE} ${end}`, fate(cut, from) === "saved" ? "one" : inside(from) ? "two" : "gone");
      } else {
        const [one, two] = [from, to].map((end) => lateY(end - rows.length)), right = LATE + 140;
        line("back", far ? `M${right} ${one}C${right + 12 + 8 * far} ${one} ${right + 12 + 8 * far} ${two} ${right} ${two}` : `M${LATE + 70} ${one - 14}V${two + 14}`, "");
      }
      return made;
    });

    const tensors = rows.map(([title, call, size, forward], row) => {
      const does = fate(cut, row), refused = state.pressed === row && cut.moves[row] != null, here = forward || does === "saved";
      const box = (key, x, kind, words, more = "") => h("g", { key, transform: `translate(${x} ${y(row) - 20})`, class: more },
        h("rect", { width: BOX[1], height: 40, rx: 5, class: kind, ...(kind === "ground" ? { "stroke-dasharray": "3 3" } : {}) }),
        h("text", { x: 8, y: 17, class: "strong" }, title), h("text", { x: 8, y: 33, class: "small code quiet" }, words));
      const word = refused ? "✗ refused" : does === "saved" ? (forward ? "recompute" : "compute") : does ? "save" : "not needed there";
      const half = word.length < 5 ? 19 : 38, middle = does === "computed" && !refused ? [COPY + 96, -7] : does ? [228, 13] : [228, 0];
      return h("g", { key: `${name} row ${row}` },
        here ? box("forward", BOX[0], "", call) : null,
        h("path", { key: "arrow", d: `M${BOX[0] + BOX[1]} ${y(row)}H${FAR + 10}`, class: does === "saved" ? "one" : "gone" }),
        h("path", { key: "tip", d: `M${FAR + 14} ${y(row)}l-9 -5v10z`, class: `shape ${does === "saved" ? "one" : "gone"}` }),
        h("text", { key: "bytes", x: 228, y: y(row) - 6, class: `middle small strong ${does === "saved" ? "one" : "gone"}` }, bytes(size)),
        box("copy", inside(row) ? COPY : BOX[0], "two", forward ? "again" : "only here", inside(row) ? "" : "gone"),
        h("g", { key: "press", press: () => set(press(state, data, row)), "aria-label": `${word} ${title}` },
          h("rect", { x: BOX[0], y: TOP + row * pitch + 3, width: FAR - BOX[0] - 4, height: pitch - 6, opacity: 0 }),
          h("g", { transform: `translate(${middle[0]} ${y(row) + middle[1]})` },
            does ? h("rect", { x: -half, y: -9, width: 2 * half, height: 18, rx: 9, class: refused ? "bad" : "" }) : null,
            h("text", { y: 4, class: `middle small ${refused ? "bad" : does ? "" : "quiet"}` }, word))));
    });
    const grads = late.map((title, i) => h("g", { key: `${name} late ${i}`, transform: `translate(${LATE} ${lateY(i) - 14})` },
      h("rect", { width: 140, height: 28, rx: 5 }), h("text", { x: 70, y: 18, class: "middle small" }, title)));

    const most = Math.max(...program.cuts.map((each) => each.bytes)), wide = Math.min(46, 310 / program.cuts.length);
    const bars = program.cuts.map((each, i) => {
      const tall = (52 * each.bytes) / most, mark = i === program.best ? "min-cut" : i === program.default ? "default" : "";
      return h("g", { key: `${name} bar ${i}`, transform: `translate(${i * wide} ${CHART})`, press: () => set({ ...state, cut: i, pressed: null }), tabindex: -1, "aria-label": `${i === at ? "▲" : ""} ${mark} cut ${i + 1}` },
        h("rect", { width: wide, height: 72, opacity: 0 }),
        h("rect", { x: 2, y: 52 - tall, width: wide - 4, height: tall, class: i === at ? "one" : i === program.best ? "good" : "" }),
        h("text", { x: wide / 2, y: 68, class: `middle small ${i === at ? "strong one" : "quiet"}` }, i === at ? "▲" : ""),
        h("text", { x: i === program.best ? 4 : wide - 4, y: 84, class: `small ${i === program.best ? "good strong" : "end"}` }, mark));
    });
    const line = (place, title, each) => [title, each.bytes.toLocaleString("en"), each.weight.toLocaleString("en")].map((text, i) =>
      h("text", { key: `line ${place} ${i}`, x: [330, 520, 610][i], y: CHART + 6 + place * 20, class: `small ${i ? "code end" : ""} ${place === 1 ? "one strong" : place ? "" : "quiet"}` }, text));
    return [
      h("text", { key: "code", x: 0, y: 12, class: "small code" }, program.code),
      h("text", { key: "forward", x: BOX[0], y: 40, class: "small strong" }, "forward graph"),
      h("text", { key: "border", x: 228, y: 40, class: "middle small two strong" }, "the border"),
      h("text", { key: "backward", x: LATE, y: 40, class: "small strong" }, "backward graph, runs upwards"),
      h("rect", { key: "ground", x: FAR, y: TOP, width: WIDE - FAR, height: ROWS, class: "ground" }),
      ...bands, ...steps, ...edges, ...tensors, ...grads,
      h("text", { key: "cuts", x: 0, y: CHART - 10, class: "small quiet" }, "bytes of each legal cut"), ...bars,
      ...["", "bytes", "weight"].map((text, i) => h("text", { key: `head ${i}`, x: [330, 520, 610][i], y: CHART - 14, class: "small quiet end" }, text)),
      ...line(0, "default_partition", program.cuts[program.default]), ...line(1, "your cut", cut), ...line(2, "torch's min-cut", program.cuts[program.best]),
    ];
  }

  function controls(state, data, set) {
    const program = shown(state, data), names = Object.keys(data), go = (cut) => set({ ...state, cut, pressed: null });
    return [
      button("min-cut", () => go(program.best), { key: "best" }), button("default", () => go(program.default), { key: "default" }),
      keyed("cut", slider("border:", 1, program.cuts.length, number(state, data) + 1, (place) => go(place - 1))),
      keyed("program", choice("function", names, state.program ?? names[0], (name) => set({ ...start(), program: name }))),
    ];
  }

  function say(state, data) {
    const program = shown(state, data), at = number(state, data), cut = program.cuts[at], row = program.rows[state.pressed];
    if (row) return cut.moves[state.pressed] == null ? `The backward does not need ${row[0]} in this cut.` : `Refused. ${row[4]}`;
    const who = at === program.best ? "The min-cut. " : at === program.default ? "The default. " : "";
    return `${who}${cut.say}${at === program.default ? ' Press "recompute": then a tensor need not cross.' : ""}`;
  }

  figure("min_cut", { start, draw, controls, say });
})();
