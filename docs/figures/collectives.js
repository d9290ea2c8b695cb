// One collective: chunks travel between ranks, sums grow, and what a rank has sent is held against what is least.
(() => {
  const BOX = [158, 120], LABEL = 68;

  const start = () => ({ kind: null, ranks: 4, at: 2, size: 10, playing: false, guess: null, tried: 0, right: 0 });
  const kind = (state, data) => state.kind ?? Object.keys(data.kinds)[0];
  const shown = (state, data) => data.kinds[kind(state, data)][state.ranks];
  const last = (state, data) => shown(state, data).frames.length - 1;
  const title = (pass, c) => (pass.full.length > 1 ? words("chunk {}", c) : words("tensor"));

  // Where a rank's box is. A ring goes around; in a tree the second half is opposite the first.
  function box(state, data, rank, narrow) {
    const half = state.ranks / 2, ring = shown(state, data).way === "ring";
    if (narrow) {
      const right = ring ? rank > 0 && rank <= half : rank >= half, row = !ring ? rank % half : right ? rank - 1 : (state.ranks - rank) % state.ranks;
      return [right ? 199 : 18, 98 + row * 150];
    }
    const columns = Math.max(2, half), low = rank >= columns, column = low ? (ring ? state.ranks - 1 - rank : rank - columns) : rank;
    return [360 + (column - (columns - 1) / 2) * (columns === 2 ? 250 : 185) - BOX[0] / 2, state.ranks === 2 ? 164 : low ? 248 : 80];
  }
  const panel = (state, narrow) => (narrow ? 108 + 150 * Math.max(1, state.ranks / 2) : 406);
  const tall = (state) => panel(state, true) + Math.min(24 * state.ranks, 128) + 171;

  function arrow([x1, y1], [x2, y2], off) {
    const [wide, high] = BOX, side = Math.sign(x2 - x1), middle = high / 2 + off, down = y2 > y1;
    if (side && Math.abs(x2 - x1) > 300) return [`M${x1 + wide / 2} ${y1 - 16}C${x1 + wide / 2} ${y1 - 40} ${x2 + wide / 2} ${y2 - 40} ${x2 + wide / 2} ${y2 - 20}`, [x2 + wide / 2, y2 - 15, 90]];
    if (side) return [`M${x1 + (side > 0 ? wide + 3 : -3)} ${y1 + middle}H${x2 + (side > 0 ? -9 : wide + 9)}`, [x2 + (side > 0 ? -4 : wide + 4), y2 + middle, side > 0 ? 0 : 180]];
    if (Math.abs(y2 - y1) > 300) return [`M${x1 - 3} ${y1 + middle}C${x1 - 22} ${y1 + middle} ${x2 - 22} ${y2 + middle} ${x2 - 8} ${y2 + middle}`, [x2 - 3, y2 + middle, 0]];
    return [`M${x1 + wide / 2} ${y1 + (down ? high + 3 : -20)}V${y2 + (down ? -24 : high + 9)}`, [x2 + wide / 2, y2 + (down ? -19 : high + 4), down ? 90 : 270]];
  }

  const asked = (state, data) => { const senders = shown(state, data).frames[state.at + 1]?.sent ?? []; return senders[(state.at * 3 + 2) % senders.length]?.[0]; };

  function guess(state, data, rank, c) {
    if (state.at === last(state, data)) return { ...state, guess: [rank, c] };
    const right = shown(state, data).frames[state.at + 1].sent.some(([from, , chunk]) => from === rank && chunk === c);
    return { ...state, at: state.at + right, playing: false, guess: [rank, c, right], tried: state.tried + 1, right: state.right + right };
  }

  function draw(state, data, set, narrow) {
    const pass = shown(state, data), frame = pass.frames[state.at], chunks = pass.full.length, high = BOX[1] / chunks, ranks = upTo(state.ranks - 1), at = ranks.map((rank) => box(state, data, rank, narrow));
    const name = `${kind(state, data)} ${state.ranks}`, wide = (BOX[0] - LABEL - 4) / state.ranks, tall = Math.min(high - 4, 26), PANEL = panel(state, narrow);
    const parts = (value, look) => ranks.filter((r) => (value >> r) & 1).map((r) => h("g", { key: r },
      rect(LABEL + r * wide + 0.5, (high - tall) / 2, wide - 1, tall, look), small("part", LABEL + (r + 0.5) * wide, high / 2 + 4, "middle", r)));
    const boxes = ranks.map((rank) => {
      const cells = frame.cells[rank].map((value, c) => {
        const [r, chunk, right] = state.guess ?? [], bad = r === rank && chunk === c && right === false, held = Math.abs(value), whole = value === pass.full[c];
        return moved(c, 0, c * high, { "data-cell": `${rank} ${c}`, onclick: () => set(guess(state, data, rank, c)) },
          rect(0, 0, BOX[0], high, bad ? "bad" : "ground", { style: bad ? null : "stroke: var(--line)" }),
          h("g", { class: value < 0 ? "faint" : "" }, parts(held, whole ? "good" : "one")),
          small("title", 4, high / 2 + 4, bad ? "bad" : whole ? "good" : "quiet", `${title(pass, c)}${bad ? " ✗" : whole ? " ✓" : ""}`));
      });
      return moved(`${name} rank ${rank}`, ...at[rank], {}, small("rank", 0, -6, "strong", words("rank {}", rank)), ...cells);
    });
    const links = frame.sent.map(([from, to]) => {
      const [path, [x, y, turn]] = arrow(at[from], at[to], state.ranks === 2 ? (from ? 14 : -14) : 0);
      return h("g", { key: `${name} link ${from} ${to}` }, h("path", { d: path, class: "two" }), h("path", { d: "M0 0l-9 -5v10z", class: "shape two", transform: `translate(${x} ${y}) rotate(${turn})`, style: "fill: var(--two)" }));
    });
    // A message waits unseen at its sender, and is seen where it arrives.
    const packets = [state.at, state.at + 1].flatMap((step) => (pass.frames[step]?.sent ?? []).map(([from, to, c, value]) => {
      const here = step === state.at, [x, y] = at[here ? to : from];
      return moved(`${name} message ${step} ${from}`, x, y + c * high, { class: here ? "" : "gone", style: "pointer-events: none" },
        rect(0, 0, BOX[0], high, "two", { style: "fill: none; stroke-width: 2" }), parts(value, "two"));
    }));
    const sent = ranks.map((rank) => pass.frames.slice(0, state.at + 1).reduce((sum, each) => sum + each.sent.filter(([from]) => from === rank).length / chunks, 0));
    const unit = 172 / Math.max(2, Math.log2(state.ranks)), pitch = Math.min(24, (narrow ? 128 : 104) / state.ranks), n = data.nbytes[state.size];
    const bars = ranks.flatMap((rank) => [
      small(`of ${rank}`, 0, PANEL + 13 + (rank + 0.5) * pitch, "", words("rank {}", rank)),
      rect(50, PANEL + 9 + rank * pitch, sent[rank] * unit, pitch - 3, "two", { key: `sent ${rank}` }),
      small(`bytes ${rank}`, 228, PANEL + 13 + (rank + 0.5) * pitch, "", sent[rank] ? `${digits(sent[rank])} n = ${bytes(sent[rank] * n)}` : "0"),
    ]);
    const limit = 50 + pass.best * unit, ways = Object.values(data.kinds).map((each) => each[state.ranks]).filter((each) => each.name === pass.name);
    const scale = 175 / Math.max(...ways.map((each) => each.times[state.size])), [left, top] = narrow ? [0, PANEL + pitch * state.ranks + 34] : [400, PANEL - 2], from = left + 5 * words("ring").length + 14;
    const times = ways.flatMap((each, i) => {
      const y = top + 20 + i * 40, all = each.times[state.size], waits = each.latency * scale, count = each.frames.length - 1;
      return [
        small(`way ${i}`, left, y + 13, each === pass ? "strong" : "", words(each.way)),
        rect(from, y, waits, 18, "ground", { key: `waits ${i}`, style: "stroke: var(--line)" }),
        rect(from + waits, y, (all - each.latency) * scale, 18, "two", { key: `moves ${i}` }),
        small(`all ${i}`, from + 6 + all * scale, y + 13, "strong", time(all)),
        small(`sum ${i}`, from, y + 31, "quiet", words(data.takes, count, time(each.latency), time(all - each.latency))),
      ];
    });
    const room = narrow ? 357 : 700;
    return [
      ...paragraph("title", 0, 14, "strong", words(data.title, pass.name, data.sizes[state.size], state.at, last(state, data)) + (state.at ? `: ${frame.half}` : ""), room, 8.4),
      narrow ? small("score", 0, top + 131, "", guesses(state)) : small("score", 720, 14, "end", guesses(state)),
      ...paragraph("legend", 0, narrow ? 48 : 33, "small quiet", words(data.legend), room),
      ...links, ...boxes, ...packets,
      ...paragraph("bytes", 0, PANEL - (narrow ? 12 : 2), "small quiet", words(data.sent, data.formulas[pass.name], digits(pass.best)), room, 6.2),
      h("line", { key: "limit", x1: limit, x2: limit, y1: PANEL + 4, y2: PANEL + 8 + pitch * state.ranks, style: "stroke-dasharray: 4 3; stroke: var(--ink)" }),
      ...bars, small("times", left, top, "quiet", words(data.link)), ...times, small("even", left, top + 114, "", words(pass.even)),
    ];
  }

  function controls(state, data, set) {
    const chunks = shown(state, data).full.length, again = (change) => set({ ...state, at: 0, playing: false, guess: null, ...change });
    return [
      player({ at: state.at, last: last(state, data), playing: state.playing }, (at, playing) => set({ ...state, at, playing, guess: null })),
      keyed("kind", choice(words("collective"), Object.keys(data.kinds), kind(state, data), (picked) => again({ kind: picked }))),
      keyed("ranks", choice(words("ranks"), data.ranks.map(String), String(state.ranks), (ranks) => again({ ranks: +ranks }))),
      h("label", { key: "size" }, `n = ${data.sizes[state.size]}`, h("input", { type: "range", min: 0, max: data.sizes.length - 1, value: state.size,
        "aria-valuetext": data.sizes[state.size], oninput: (event) => set({ ...state, size: +event.target.value }) })),
      oneOf(chunks > 1 ? words("rank {} sends next:", asked(state, data) ?? 0) : words("next sends:"), upTo(state.ranks - 1).map((i) => button(chunks > 1 ? words("chunk {}", i) : words("rank {}", i), () => set(chunks > 1 ? guess(state, data, asked(state, data), i) : guess(state, data, i, 0)), { off: state.at === last(state, data) }))),
    ];
  }

  function say(state, data) {
    const pass = shown(state, data), frame = pass.frames[state.at], next = pass.frames[state.at + 1], [rank, c, right] = state.guess ?? [];
    const question = !next ? words("It is done.") : words(data.ask[+(pass.full.length > 1)], asked(state, data));
    if (right === false) return `${words("Not {0} of rank {1}: {2}.", title(pass, c), rank, words(frame.why))} ${question}`;
    return `${praise(right)}${words(frame.say)} ${question}`;
  }

  const tick = (state, data) => (state.playing && state.at < last(state, data) ? [1300, { ...state, at: state.at + 1, guess: null }] : []);

  const address = fields((state, data) => [["kind", Object.keys(data.kinds)], ["ranks", data.ranks], ["at", upTo(last(state, data))], ["size", [...data.sizes.keys()]]]);

  figure("collectives", { start, draw, tall, controls, say, tick, ...address });
})();
