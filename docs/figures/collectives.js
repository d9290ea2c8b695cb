// One collective: chunks travel between ranks, sums grow, and what a rank has sent is held against what is least.
(() => {
  const BOX = [158, 120], TOP = 80, BELOW = 248, LABEL = 66, PANEL = 406;

  const start = () => ({ kind: null, ranks: 4, at: 2, size: 10, playing: false, guess: null, tried: 0, right: 0 });
  const kind = (state, data) => state.kind ?? Object.keys(data.kinds)[0];
  const shown = (state, data) => data.kinds[kind(state, data)][state.ranks];
  const last = (state, data) => shown(state, data).frames.length - 1;
  const digits = (value) => String(+value.toPrecision(3));
  const bytes = (value) => { const power = Math.min(3, Math.floor(Math.log10(value) / 3)); return `${digits(value / 1000 ** power)} ${["bytes", "kB", "MB", "GB"][power]}`; };
  const time = (us) => (us < 1000 ? `${digits(us)} µs` : `${digits(us / 1000)} ms`);
  const title = (pass, c) => (pass.full.length > 1 ? `chunk ${c}` : "tensor");

  // Where a rank's box is. The ring goes around; in a tree the second half is below the first one.
  function box(state, data, rank) {
    const columns = Math.max(2, state.ranks / 2), low = rank >= columns, ring = shown(state, data).way === "ring";
    const column = low ? (ring ? state.ranks - 1 - rank : rank - columns) : rank, pitch = columns === 2 ? 250 : 185;
    return [360 + (column - (columns - 1) / 2) * pitch - BOX[0] / 2, state.ranks === 2 ? (TOP + BELOW) / 2 : low ? BELOW : TOP];
  }

  function arrow(state, data, from, to) {
    const [x1, y1] = box(state, data, from), [x2, y2] = box(state, data, to), [wide, high] = BOX, side = Math.sign(x2 - x1);
    const off = state.ranks === 2 ? (from ? 14 : -14) : 0;
    if (side && Math.abs(x2 - x1) > 300) return [`M${x1 + wide / 2} ${y1 - 16}C${x1 + wide / 2} ${y1 - 40} ${x2 + wide / 2} ${y2 - 40} ${x2 + wide / 2} ${y2 - 20}`, [x2 + wide / 2, y2 - 15, 90]];
    if (side) return [`M${x1 + (side > 0 ? wide + 3 : -3)} ${y1 + high / 2 + off}H${x2 + (side > 0 ? -9 : wide + 9)}`, [x2 + (side > 0 ? -4 : wide + 4), y2 + high / 2 + off, side > 0 ? 0 : 180]];
    const down = y2 > y1;
    return [`M${x1 + wide / 2} ${y1 + (down ? high + 3 : -20)}V${y2 + (down ? -24 : high + 9)}`, [x2 + wide / 2, y2 + (down ? -19 : high + 4), down ? 90 : 270]];
  }

  const asked = (state, data) => { const senders = shown(state, data).frames[state.at + 1]?.sent ?? []; return senders[(state.at * 3 + 2) % senders.length]?.[0]; };
  const message = (state, data, rank, c) => shown(state, data).frames[state.at + 1]?.sent.find(([from, , chunk]) => from === rank && chunk === c);

  function guess(state, data, rank, c) {
    if (state.at === last(state, data)) return { ...state, guess: [rank, c] };
    const right = Boolean(message(state, data, rank, c));
    return { ...state, at: state.at + right, playing: false, guess: [rank, c, right], tried: state.tried + 1, right: state.right + right };
  }

  function draw(state, data, set) {
    const pass = shown(state, data), frame = pass.frames[state.at], chunks = pass.full.length, high = BOX[1] / chunks, ranks = [...Array(state.ranks).keys()];
    const name = `${kind(state, data)} ${state.ranks}`, wide = (BOX[0] - LABEL - 4) / state.ranks, tall = Math.min(high - 4, 26);
    const parts = (value, look) => ranks.filter((r) => (value >> r) & 1).map((r) => h("g", { key: r },
      h("rect", { x: LABEL + r * wide + 0.5, y: (high - tall) / 2, width: wide - 1, height: tall, class: look }),
      h("text", { x: LABEL + (r + 0.5) * wide, y: high / 2 + 4, class: "middle", style: "font-size: 10.5px" }, r)));
    const boxes = ranks.map((rank) => {
      const [x, y] = box(state, data, rank);
      const cells = frame.cells[rank].map((value, c) => {
        const [r, chunk, right] = state.guess ?? [], bad = r === rank && chunk === c && right === false, held = Math.abs(value);
        const whole = value === pass.full[c], look = whole ? "good" : "one";
        return h("g", { key: c, transform: `translate(0 ${c * high})`, press: () => set(guess(state, data, rank, c)), tabindex: chunks > 1 && rank !== asked(state, data) ? -1 : 0, "aria-label": `guess ${title(pass, c)} of rank ${rank}` },
          h("rect", { width: BOX[0], height: high, class: bad ? "bad" : "ground", style: bad ? null : "stroke: var(--line)" }),
          h("g", { class: value < 0 ? "faint" : "" }, parts(held, look)),
          h("text", { x: 4, y: high / 2 + 4, class: `small ${bad ? "bad" : whole ? "good" : "quiet"}` }, `${title(pass, c)}${bad ? " ✗" : whole ? " ✓" : ""}`));
      });
      return h("g", { key: `${name} rank ${rank}`, transform: `translate(${x} ${y})` }, h("text", { x: 0, y: -6, class: "small strong" }, `rank ${rank}`), ...cells);
    });
    const links = frame.sent.map(([from, to]) => {
      const [path, [x, y, turn]] = arrow(state, data, from, to);
      return h("g", { key: `${name} link ${from} ${to}` }, h("path", { d: path, class: "two" }), h("path", { d: "M0 0l-9 -5v10z", class: "shape two", transform: `translate(${x} ${y}) rotate(${turn})`, style: "fill: var(--two)" }));
    });
    // A message waits unseen at its sender, and is seen where it arrives.
    const packets = [state.at, state.at + 1].flatMap((step) => (pass.frames[step]?.sent ?? []).map(([from, to, c, value]) => {
      const here = step === state.at, [x, y] = box(state, data, here ? to : from);
      return h("g", { key: `${name} message ${step} ${from}`, transform: `translate(${x} ${y + c * high})`, class: here ? "" : "gone", style: "pointer-events: none" },
        h("rect", { width: BOX[0], height: high, class: "two", style: "fill: none; stroke-width: 2" }), parts(value, "two"));
    }));
    const sent = ranks.map((rank) => pass.frames.slice(0, state.at + 1).reduce((sum, each) => sum + each.sent.filter(([from]) => from === rank).length / chunks, 0));
    const unit = 190 / Math.max(2, Math.log2(state.ranks)), pitch = Math.min(24, 104 / state.ranks), n = data.nbytes[state.size];
    const bars = ranks.flatMap((rank) => [
      h("text", { key: `of ${rank}`, x: 0, y: PANEL + 13 + rank * pitch + pitch / 2, class: "small" }, `rank ${rank}`),
      h("rect", { key: `sent ${rank}`, x: 50, y: PANEL + 9 + rank * pitch, width: sent[rank] * unit, height: pitch - 3, class: "two" }),
      h("text", { key: `bytes ${rank}`, x: 54 + sent[rank] * unit, y: PANEL + 13 + rank * pitch + pitch / 2, class: "small", style: "paint-order: stroke; stroke: var(--paper); stroke-width: 3px" }, sent[rank] ? `${digits(sent[rank])} n = ${bytes(sent[rank] * n)}` : "0"),
    ]);
    const limit = 50 + pass.best * unit, ways = Object.values(data.kinds).map((each) => each[state.ranks]).filter((each) => each.name === pass.name);
    const scale = 175 / Math.max(...ways.map((each) => each.times[state.size]));
    const times = ways.flatMap((each, i) => {
      const y = PANEL + 18 + i * 40, all = each.times[state.size], waits = each.latency * scale, count = each.frames.length - 1;
      return [
        h("text", { key: `way ${i}`, x: 400, y: y + 13, class: `small ${each === pass ? "strong" : ""}` }, each.way),
        h("rect", { key: `waits ${i}`, x: 434, y, width: waits, height: 18, class: "ground", style: "stroke: var(--line)" }),
        h("rect", { key: `moves ${i}`, x: 434 + waits, y, width: (all - each.latency) * scale, height: 18, class: "two" }),
        h("text", { key: `all ${i}`, x: 440 + all * scale, y: y + 13, class: "small strong" }, time(all)),
        h("text", { key: `sum ${i}`, x: 434, y: y + 31, class: "small quiet" }, `${count} steps: ${time(each.latency)}, and bytes: ${time(all - each.latency)}`),
      ];
    });
    return [
      h("text", { key: "title", x: 0, y: 14, class: "strong" }, `${pass.name} of n = ${data.sizes[state.size]}, step ${state.at} of ${last(state, data)}${state.at ? `: ${frame.half}` : ""}`),
      h("text", { key: "score", x: 720, y: 14, class: "small end" }, guesses(state)),
      h("text", { key: "legend", x: 0, y: 33, class: "small quiet" }, data.legend),
      ...links, ...boxes, ...packets,
      h("text", { key: "bytes", x: 0, y: PANEL - 2, class: "small quiet" }, `sent so far; dashed: a ring's ${data.formulas[pass.name]} = ${digits(pass.best)} n`),
      h("line", { key: "limit", x1: limit, x2: limit, y1: PANEL + 4, y2: PANEL + 8 + pitch * state.ranks, style: "stroke-dasharray: 4 3; stroke: var(--ink)" }),
      ...bars,
      h("text", { key: "times", x: 400, y: PANEL - 2, class: "small quiet" }, `the time, at ${data.link}`), ...times,
      h("text", { key: "even", x: 400, y: PANEL + 112, class: "small" }, pass.even),
    ];
  }

  function controls(state, data, set) {
    const again = (change) => set({ ...state, at: 0, playing: false, guess: null, ...change });
    return [
      ...player({ at: state.at, last: last(state, data), playing: state.playing }, (at, playing) => set({ ...state, at, playing, guess: null })),
      keyed("kind", choice("collective", Object.keys(data.kinds), kind(state, data), (picked) => again({ kind: picked }))),
      keyed("ranks", choice("ranks", data.ranks.map(String), String(state.ranks), (ranks) => again({ ranks: +ranks }))),
      h("label", { key: "size" }, `n = ${data.sizes[state.size]}`, h("input", { type: "range", min: 0, max: data.sizes.length - 1, value: state.size, "aria-label": "n",
        "aria-valuetext": data.sizes[state.size], oninput: (event) => set({ ...state, size: +event.target.value }) })),
    ];
  }

  function say(state, data) {
    const pass = shown(state, data), frame = pass.frames[state.at], next = pass.frames[state.at + 1], [rank, c, right] = state.guess ?? [];
    const question = next ? (pass.full.length > 1 ? ` Which chunk does rank ${asked(state, data)} send next? Press it.` : " Which rank sends next? Press it.") : " It is done.";
    if (right === false) return `Not ${title(pass, c)} of rank ${rank}: ${frame.why}.${question}`;
    return `${right ? "Right. " : ""}${frame.say}${question}`;
  }

  const tick = (state, data) => (state.playing && state.at < last(state, data) ? [1300, { ...state, at: state.at + 1, guess: null }] : []);

  figure("collectives", { start, draw, controls, say, tick });
})();
