// One training step under DDP, FSDP or tensor parallelism: what each rank holds, what is sent when, and the memory of a rank.
(() => {
  const LEFT = 122, WIDE = 598, TOP = 62, PITCH = 52, BAR = 11, LINE = 236, MEMORY = 322, HIGH = 104, TABLE = 452;
  const KINDS = [["weights", "one"], ["optimizer", "ground"], ["gradients", "good"], ["gathered", "two"], ["activations", ""]];
  const LETTERS = { forward: "F", backward: "B", "all-gather": "G", "reduce-scatter": "R", "all-reduce": "A" };

  // at: a moment of the step. guess: the collective that was guessed last, and whether it is the next one.
  const start = (data) => ({ kind: "FSDP", ranks: 4, link: 0, at: data.start, playing: false, guess: null, tried: 0, right: 0 });
  const scene = (state, data, kind = state.kind) => data.scenes[`${kind} ${state.ranks} ${data.links[state.link]}`];
  const last = (state, data) => scene(state, data).frames.length - 1;
  const digits = (value) => String(+value.toPrecision(3));
  const mebi = (value) => `${digits(value / 2 ** 20)} MiB`;
  const computes = ([word]) => word === "forward" || word === "backward";

  // The next collective: the moment at which it begins, and its word.
  function next(state, data) {
    const { spans, frames } = scene(state, data), now = frames[state.at][0];
    const found = spans.filter((span) => !computes(span) && span[2] > now).sort((a, b) => a[2] - b[2])[0];
    return found ? [frames.findIndex(([at]) => at === found[2]), found[0]] : [];
  }

  function guess(state, data, word) {
    const [at, right] = next(state, data), ok = word === right;
    return { ...state, at: ok ? at : state.at, playing: false, guess: [word, ok], tried: state.tried + 1, right: state.right + ok };
  }

  function draw(state, data) {
    const { spans, frames, curve, peak } = scene(state, data), [now, letters, memory, sent] = frames[state.at], ranks = [...Array(state.ranks).keys()];
    const pitch = WIDE / state.ranks, wide = pitch - 12, slice = wide / state.ranks, blocks = letters.split(" "), name = state.ranks;
    const place = (rank, part) => LEFT + rank * pitch + part * slice;
    // A part of a block's weights or gradients on a rank: it comes from its owner's place and goes there.
    const part = (row, block, rank, s, home, look, half, way) => h("g", { key: `${name} ${row} ${block} ${rank} ${s}`, class: home && s !== rank ? "gone" : look ? "" : "gone",
      transform: `translate(${place(home ? s : rank, s)} ${TOP + block * PITCH + row * 14})` },
    h("rect", { y: half ? BAR / 2 : 0, width: slice, height: half ? BAR / 2 : BAR, class: look || "one", style: way ? "stroke-dasharray: 2 2" : null }));
    const rows = blocks.flatMap(([weights, gradients, kept], block) => {
      const y = TOP + block * PITCH, words = ["weights", "gradients", "activations"];
      return [
        h("text", { key: `block ${block}`, x: 0, y: y + 24, class: "small strong" }, `block ${block}`),
        ...words.map((word, row) => h("text", { key: `${word} ${block}`, x: LEFT - 8, y: y + 10 + row * 14, class: "small quiet end" }, word)),
        ...ranks.flatMap((rank) => [
          ...words.map((word, row) => h("rect", { key: `${name} box ${block} ${rank} ${row}`, x: place(rank, 0), y: y + row * 14, width: wide, height: BAR, class: "ground" })),
          ...ranks.flatMap((s) => [
            part(0, block, rank, s, weights === "s", weights === "g" && s !== rank ? "two" : weights === "w" && state.kind === "FSDP" && s !== rank ? "two" : "one", false, weights === "g" && s !== rank),
            part(1, block, rank, s, gradients === "s" || (gradients === "r" && state.kind === "FSDP"), { "-": "", p: "good", r: "two" }[gradients] ?? "good", gradients === "p" || gradients === "r", gradients === "r"),
          ]),
          h("rect", { key: `${name} kept ${block} ${rank}`, class: kept === "-" ? "gone" : "", x: kept === "s" ? place(rank, rank) : place(rank, 0), width: kept === "s" ? slice : wide,
            y: y + 28 + (kept === "p" ? BAR / 2 : 0), height: kept === "p" ? BAR / 2 : BAR }),
        ]),
      ];
    });
    const all = data.kinds.map((kind) => scene(state, data, kind)), total = (each) => each.frames.at(-1)[0];
    const scale = WIDE / Math.max(...all.map(total)), x = (time) => LEFT + time * scale, end = total(scene(state, data));
    const bars = spans.map((span, i) => {
      const [word, block, from, to] = span, y = LINE + (computes(span) ? 0 : 25), on = from <= now && now < to, room = (to - from) * scale;
      const text = `${LETTERS[word]}${block}`;
      return h("g", { key: `${state.kind} ${name} ${state.link} ${i}`, class: from > now ? "faint" : "" },
        h("rect", { x: x(from), y, width: room, height: 20, class: computes(span) ? "one" : "two", style: on ? "stroke-width: 2.5" : null }),
        h("text", { x: x((from + to) / 2), y: y + 14, class: `middle ${on ? "strong" : ""}`, style: `font-size: ${room < 20 ? 9.5 : 11}px` }, room > 13 ? text : ""));
    });
    const most = Math.max(...all.map((each) => each.peak)), high = (value) => MEMORY + HIGH - (value / most) * HIGH;
    const areas = KINDS.map(([word, look], k) => {
      const sum = (point) => high(point.slice(1, k + 2).reduce((a, b) => a + b, 0));
      const points = curve.flatMap((point, i) => [`${x(point[0])},${sum(point)}`, `${x(curve[i + 1]?.[0] ?? end)},${sum(point)}`]);
      return h("polygon", { key: word, points: `${x(0)},${MEMORY + HIGH} ${points.join(" ")} ${x(end)},${MEMORY + HIGH}`, class: look, style: look === "ground" ? "stroke: var(--line)" : null });
    }).reverse();
    const legend = KINDS.flatMap(([word, look], k) => [
      h("rect", { key: `mark ${word}`, x: 0, y: MEMORY + 94 - k * 18, width: 9, height: 9, class: look, style: look === "ground" ? "stroke: var(--line)" : null }),
      h("text", { key: `of ${word}`, x: 14, y: MEMORY + 103 - k * 18, class: "small" }, word),
      h("text", { key: `much ${word}`, x: LEFT - 6, y: MEMORY + 103 - k * 18, class: "small end" }, (memory[k] / 2 ** 20).toFixed(2)),
    ]);
    const table = [["", "most memory of a rank", "a rank sends", "the step takes"], ...data.kinds.map((kind, i) => [kind, mebi(all[i].peak), mebi(all[i].frames.at(-1)[3]), `${total(all[i]).toLocaleString("en")} µs`])];
    return [
      h("text", { key: "title", x: 0, y: 12, class: "strong" }, `${state.kind} on ${state.ranks} ranks: ${now.toLocaleString("en")} of ${end.toLocaleString("en")} µs, sent ${mebi(sent)}`),
      h("text", { key: "score", x: 720, y: 12, class: "small end" }, guesses(state)),
      h("text", { key: "half", x: 0, y: 31, class: "small quiet" }, data.legend),
      ...ranks.map((rank) => h("text", { key: `${name} rank ${rank}`, x: place(rank, 0), y: TOP - 6, class: "small strong" }, `rank ${rank}`)),
      ...rows,
      h("text", { key: "compute", x: 0, y: LINE + 14, class: "small" }, "each computes"), h("text", { key: "send", x: 0, y: LINE + 39, class: "small" }, "and sends"), ...bars,
      h("text", { key: "memory", x: 0, y: MEMORY + 8, class: "small quiet" }, `${mebi(memory.reduce((a, b) => a + b, 0))} on a rank:`), ...areas, ...legend,
      ...data.kinds.map((kind, i) => h("line", { key: `most ${kind}`, x1: LEFT, x2: LEFT + WIDE, y1: high(all[i].peak), y2: high(all[i].peak), style: "stroke-dasharray: 3 4", class: kind === state.kind ? "gone" : "" })),
      ...data.kinds.map((kind, i) => h("text", { key: `level ${kind}`, x: LEFT + WIDE, y: high(all[i].peak) - 3, class: `small quiet end ${kind === state.kind ? "gone" : ""}` }, `most with ${kind}`)),
      h("text", { key: "letters", x: LEFT, y: LINE + 60, class: "small quiet" }, data.letters),
      h("line", { key: "now", x1: 0, x2: 0, y1: LINE - 6, y2: MEMORY + HIGH, transform: `translate(${x(now)} 0)`, style: "stroke: var(--ink); stroke-width: 1.5" }),
      ...table.flatMap((cells, i) => cells.map((cell, k) => h("text", { key: `cell ${i} ${k}`, x: k ? 90 + k * 150 : 0, y: TABLE + i * 17, class: `small ${i ? "" : "quiet"} ${k ? "end" : ""} ${cells[0] === state.kind ? "strong" : ""}` }, cell))),
    ];
  }

  function controls(state, data, set) {
    const again = (change) => set({ ...state, at: 0, playing: false, guess: null, ...change });
    return [
      ...player({ at: state.at, last: last(state, data), playing: state.playing, scrub: "moments:" }, (at, playing) => set({ ...state, at, playing, guess: null })),
      ...data.kinds.map((kind) => keyed(kind, toggle(kind, kind === state.kind, () => again({ kind })))),
      keyed("ranks", choice("ranks", data.ranks.map(String), String(state.ranks), (ranks) => again({ ranks: +ranks }))),
      keyed("link", choice("links of", data.links, data.links[state.link], (link) => again({ link: data.links.indexOf(link) }))),
      h("span", { key: "ask" }, "what is sent next?"),
      ...data.words.map((word) => button(word, () => set(guess(state, data, word)), { key: word, disabled: next(state, data).length ? null : "" })),
    ];
  }

  function say(state, data) {
    const words = data.sentences[scene(state, data).frames[state.at][4]], [word, right] = state.guess ?? [];
    if (right === false) return `No ${word} comes next: ${data.not[state.kind][word]}.`;
    return `${right ? "Right. " : ""}${words}`;
  }

  const tick = (state, data) => (state.playing && state.at < last(state, data) ? [1300, { ...state, at: state.at + 1, guess: null }] : []);

  figure("sharding", { start, draw, controls, say, tick });
})();
