// The min-cut: which tensors cross from the forward graph to the backward graph, and which the backward computes instead.
(() => {
  const TOP = 52, ROWS = 336, CHART = 424;
  // Where boxes are, and how wide: of the forward graph, of the border between near and far, of what is computed there, of the backward graph.
  const ROOMY = { box: [30, 118], near: 160, far: 312, copy: 178, late: [404, 140], wide: 620, bend: 50, sizes: [12, 8, 10, 10], table: [330, 520, 610, 0] };
  const CLOSE = { box: [14, 86], near: 104, far: 226, copy: 108, late: [241, 117], wide: 358, bend: 10, sizes: [7, 2.2, 6, 3], table: [0, 240, 340, 124] };
  const tall = () => 604;

  // cut: the number of a legal cut. pressed: the row that was pressed last, if that changed nothing.
  const start = () => ({ program: null, cut: null, pressed: null });
  const shown = (state, data) => data[state.program ?? Object.keys(data)[0]];
  const number = (state, data) => state.cut ?? shown(state, data).default;
  const counted = (count) => words("{} bytes", grouped(count));

  // What happens to a row: it crosses the border, the backward computes it, or the backward does not need it.
  const fate = (cut, row) => (cut.saved.includes(row) ? "saved" : cut.computed.includes(row) ? "computed" : "");

  function press(state, data, row) {
    const next = shown(state, data).cuts[number(state, data)].moves[row];
    return next == null || next < 0 ? { ...state, pressed: row } : { ...state, cut: next, pressed: null };
  }

  function draw(state, data, set, narrow) {
    const { box: BOX, near: NEAR, far: FAR, copy: COPY, late: LATE, wide: WIDE, bend, sizes, table } = narrow ? CLOSE : ROOMY, END = COPY + 118, MIDDLE = narrow ? 165 : 228;
    const program = shown(state, data), at = number(state, data), cut = program.cuts[at], { rows, late } = program, name = state.program;
    const pitch = ROWS / rows.length, y = (row) => TOP + (row + 0.5) * pitch;
    const lateY = (i) => y(rows.length - 1) - (i * (rows.length - 1) * pitch) / (late.length - 1);
    const inside = (row) => fate(cut, row) === "computed";
    const bands = rows.map((_, row) => moved(`${name} band ${row}`, inside(row) ? NEAR : FAR, TOP + row * pitch, {},
      rect(0, 0, FAR - NEAR, pitch, "ground"), h("path", { d: `M0 0v${pitch}`, class: "two" })));
    const steps = rows.slice(1).map((_, row) =>
      h("path", { key: `${name} step ${row}`, d: `M${NEAR} ${TOP + (row + 1) * pitch}H${FAR}`, class: inside(row) === inside(row + 1) ? "gone" : "two" }));

    const edges = program.edges.flatMap(([from, to], place) => {
      const key = `${name} edge ${place}`, a = rows[from], b = rows[to], far = to - from - 1, made = [];
      const line = (part, d, kind) => made.push(h("path", { key: `${key} ${part}`, d, class: kind }));
      if (a && b) {
        const [x, up, down] = [BOX[0] + BOX[1] / 2, y(to) - 20, y(from) + 20];
        const early = b[3] || fate(cut, to) === "saved";
        const bulge = (left, width, end = left) => `M${left} ${y(from)}C${left + width} ${y(from)} ${left + width} ${y(to)} ${end} ${y(to)}`;
        if (early) line("early", far ? bulge(BOX[0], -Math.min(36, sizes[0] + sizes[1] * far)) : `M${x} ${down}V${up}`, "");
        if (inside(to)) line("again", far ? bulge(inside(from) ? END : FAR, sizes[2] + sizes[3] * far, END) : `M${COPY + 8} ${inside(from) ? down : y(from)}V${up}`, inside(from) ? "" : "one");
      } else if (a) {
        const [left, end] = [inside(from) ? END : FAR, lateY(to - rows.length)];
        line("late", `M${left} ${y(from)}C${left + bend} ${y(from)} ${LATE[0] - bend} ${end} ${LATE[0]} ${end}`, fate(cut, from) === "saved" ? "one" : inside(from) ? "two" : "gone");
      } else {
        const [one, two] = [from, to].map((end) => lateY(end - rows.length)), [side, out] = narrow ? [LATE[0], -8 - far] : [LATE[0] + LATE[1], 12 + 8 * far];
        line("back", far ? `M${side} ${one}C${side + out} ${one} ${side + out} ${two} ${side} ${two}` : `M${LATE[0] + LATE[1] / 2} ${one - 14}V${two + 14}`, "");
      }
      return made;
    });

    const tensors = rows.map(([title, call, size, forward], row) => {
      const does = fate(cut, row), refused = state.pressed === row && cut.moves[row] != null, here = forward || does === "saved", saved = does === "saved" ? "one" : "gone";
      const box = (key, x, wide, kind, second, more = "") => moved(key, x, y(row) - 20, { class: more },
        rect(0, 0, wide, 40, kind, { rx: 5 }), label("title", 8, second ? 17 : 25, "strong", title), small("words", 8, 33, "code quiet", second));
      const word = refused ? words("✗ refused") : does === "saved" ? (forward ? words("recompute") : words("compute")) : does ? words("save") : words("not needed there");
      const aside = does === "computed" && !refused, half = aside ? 3 * word.length + 7 : 38, middle = aside ? [END - 3 - half, -7] : [MIDDLE, does ? 13 : 0];
      return h("g", { key: `${name} row ${row}` },
        here ? box("forward", ...BOX, "", narrow ? "" : call) : null,
        h("path", { key: "arrow", d: `M${BOX[0] + BOX[1]} ${y(row)}H${FAR + 10}`, class: saved }),
        h("path", { key: "tip", d: `M${FAR + 14} ${y(row)}l-9 -5v10z`, class: `shape ${saved}` }),
        small("bytes", MIDDLE, y(row) - 6, `middle strong ${saved}`, counted(size)),
        box("copy", inside(row) ? COPY : BOX[0], 118, "two", forward ? words("again") : words("only here"), inside(row) ? "" : "gone"),
        h("g", { key: "press", class: does ? "control" : null, press: () => set(press(state, data, row)), "aria-label": `${word} ${title}` },
          rect(BOX[0], TOP + row * pitch + 3, FAR - BOX[0] - 4, pitch - 6, "", { opacity: 0 }),
          moved("word", middle[0], y(row) + middle[1], {}, does ? rect(-half, -9, 2 * half, 18, refused ? "bad" : "", { rx: 9 }) : null,
            small("text", 0, 4, `middle ${refused ? "bad" : does ? "" : "quiet"}`, word))));
    });
    const grads = late.map((title, i) => moved(`${name} late ${i}`, LATE[0], lateY(i) - 14, {}, rect(0, 0, LATE[1], 28, "", { rx: 5 }), small("title", LATE[1] / 2, 18, "middle", title)));

    const most = Math.max(...program.cuts.map((each) => each.bytes)), wide = Math.min(46, 310 / program.cuts.length);
    const lefter = (i) => i === Math.min(program.best, program.default); // the marks go apart
    const bars = program.cuts.map((each, i) => {
      const tall = (52 * each.bytes) / most, mark = i === program.best ? "min-cut" : i === program.default ? words("default") : "";
      return moved(`${name} bar ${i}`, i * wide, CHART, { onclick: () => set({ ...state, cut: i, pressed: null }) }, rect(0, 0, wide, 72, "", { opacity: 0 }),
        rect(2, 52 - tall, wide - 4, tall, i === at ? "one" : i === program.best ? "good" : "", { key: "bar" }),
        small("at", wide / 2, 68, `middle ${i === at ? "strong one" : "quiet"}`, i === at ? "▲" : ""),
        small("mark", lefter(i) ? wide - 4 : 4, 84, `${i === program.best ? "good strong" : ""} ${lefter(i) ? "end" : ""}`, mark));
    });
    const line = (place, texts, kind) => texts.map((text, i) => small(`line ${place} ${i}`, table[i], CHART + table[3] + 6 + place * 20, `${kind} ${i ? "end" : ""}`, text));
    const measured = (place, title, each, kind) => line(place, [title, grouped(each.bytes), grouped(each.weight)], kind);
    return [
      small("code", 0, 12, "code", program.code),
      small("forward", narrow ? 0 : BOX[0], 40, "strong", words("forward graph")), small("border", MIDDLE, 40, "middle two strong", words("the border")),
      ...paragraph("backward", LATE[0], narrow ? 28 : 40, "small strong", words("backward graph, runs upwards"), narrow ? 117 : 240, 7.2),
      rect(FAR, TOP, WIDE - FAR, ROWS, "ground", { key: "ground" }),
      ...bands, ...steps, ...edges, ...tensors, ...grads, small("cuts", 0, CHART - 10, "quiet", words("bytes of each legal cut")), ...bars,
      ...line(-1, ["", "bytes", words("weight")], "quiet"), ...measured(0, "default_partition", program.cuts[program.default], "quiet"),
      ...measured(1, words("your cut"), cut, "one strong"), ...measured(2, words("torch's min-cut"), program.cuts[program.best], ""),
    ];
  }

  function controls(state, data, set) {
    const program = shown(state, data), names = Object.keys(data), go = (cut) => set({ ...state, cut, pressed: null });
    return [
      [button("min-cut", () => go(program.best), { key: "best" }), button(words("default"), () => go(program.default), { key: "default" }),
      keyed("cut", slider(words("legal cut (of {0}):", program.cuts.length), 1, program.cuts.length, number(state, data) + 1, (place) => go(place - 1)))],
      keyed("program", choice(words("function"), names, state.program ?? names[0], (name) => set({ ...start(), program: name }))),
    ];
  }

  function say(state, data) {
    const program = shown(state, data), at = number(state, data), cut = program.cuts[at], row = program.rows[state.pressed];
    if (row) return cut.moves[state.pressed] == null ? words("The backward does not need {} in this cut.", row[0]) : `${words("Refused.")} ${words(row[4])}`;
    const who = at === program.best ? `${words("The min-cut.")} ` : at === program.default ? `${words("The default.")} ` : "";
    return `${who}${words(cut.say)}${at === program.default ? ` ${words('Press "recompute": then a tensor need not cross.')}` : ""}`;
  }

  const address = fields((state, data) => [["program", Object.keys(data)], ["cut", [shown(state, data).default, ...shown(state, data).cuts.keys()]]]);

  figure("min_cut", { start, draw, tall, controls, say, ...address });
})();
