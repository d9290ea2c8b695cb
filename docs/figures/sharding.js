// One training step under DDP, FSDP or tensor parallelism: what each rank holds, what is sent when, and the memory of a rank.
(() => {
  const LEFT = 136, PITCH = 46, BAR = 11, HIGH = 84;
  const KINDS = [[words("weights"), "one"], [words("optimizer"), "dense"], [words("gradients"), "good"], [words("gathered"), "two"], [words("activations"), ""]];
  const LETTERS = { forward: "F", backward: "B", "all-gather": "G", "reduce-scatter": "R", "all-reduce": "A" };

  // at: a moment of the step. guess: the collective that was guessed last, and whether it is the next one.
  const start = (data) => ({ kind: "FSDP", ranks: 4, link: 0, at: data.start, playing: false, guess: null, tried: 0, right: 0 });
  const scene = (state, data, kind = state.kind) => data.scenes[`${kind} ${state.ranks} ${data.links[state.link]}`];
  // Ranks are beside each other; on a narrow picture four, and the others below. Times are beside their words, or below.
  function sized(state, narrow) {
    if (!narrow) return { room: 584, row: state.ranks, top: 62, line: 222, from: LEFT, span: 584, memory: 310, table: 424, ends: [240, 390, 540] };
    const row = Math.min(4, state.ranks), line = 132 + (158 * state.ranks) / row;
    return { room: 222, row, top: 96, line, from: 0, span: 357, memory: line + 122, table: line + 294, ends: [150, 245, 352] };
  }
  const tall = (state) => sized(state, true).table + 78;
  const last = (state, data) => scene(state, data).frames.length - 1;
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

  function draw(state, data, set, narrow) {
    const { spans, frames, curve } = scene(state, data), [now, letters, memory, sent] = frames[state.at], ranks = upTo(state.ranks - 1);
    const { room, row, top, line, from: left, span, memory: MEMORY, table: TABLE, ends: stops } = sized(state, narrow);
    const pitch = room / row, wide = pitch - 12, slice = wide / state.ranks, blocks = letters.split(" "), name = state.ranks;
    const place = (rank, part) => LEFT + (rank % row) * pitch + part * slice, high = (rank, block) => top + block * PITCH + 158 * Math.floor(rank / row);
    // A part of a block's weights or gradients on a rank: it comes from its owner's place and goes there.
    const part = (kind, block, rank, s, home, look, half, way) => moved(`${name} ${kind} ${block} ${rank} ${s}`, place(home ? s : rank, s), high(home ? s : rank, block) + kind * 14,
      { class: (home && s !== rank) || !look ? "gone" : "" },
      rect(0, half ? BAR / 2 : 0, slice, half ? BAR / 2 : BAR, look || "one", { style: way ? "stroke-dasharray: 2 2" : null }));
    const held = [0, 2, 4].map((kind) => KINDS[kind][0]);
    const rows = blocks.flatMap(([weights, gradients, kept], block) => [
      ...ranks.filter((rank) => rank % row === 0).flatMap((rank) => [
        small(`block ${block} ${rank}`, 0, high(rank, block) + 10, "strong", words("block {}", block)),
        ...held.map((word, i) => small(`${word} ${block} ${rank}`, LEFT - 8, high(rank, block) + 10 + i * 14, "quiet end", word))]),
      ...ranks.flatMap((rank) => [
        ...held.map((_, i) => rect(place(rank, 0), high(rank, block) + i * 14, wide, BAR, "ground", { key: `${name} box ${block} ${rank} ${i}` })),
        ...ranks.flatMap((s) => [
          part(0, block, rank, s, weights === "s", s !== rank && (weights === "g" || (weights === "w" && state.kind === "FSDP")) ? "two" : "one", false, weights === "g" && s !== rank),
          part(1, block, rank, s, gradients === "s" || (gradients === "r" && state.kind === "FSDP"), { "-": "", p: "good", r: "two" }[gradients] ?? "good", gradients === "p" || gradients === "r", gradients === "r"),
        ]),
        rect(place(rank, kept === "s" ? rank : 0), high(rank, block) + 28 + (kept === "p" ? BAR / 2 : 0), kept === "s" ? slice : wide, kept === "p" ? BAR / 2 : BAR, kept === "-" ? "gone" : "", { key: `${name} kept ${block} ${rank}` }),
      ]),
    ]);
    const all = data.kinds.map((kind) => scene(state, data, kind)), total = (each) => each.frames.at(-1)[0];
    const scale = (span - 42) / Math.max(...all.map(total)), x = (time) => left + time * scale, end = total(scene(state, data));
    const ends = [left - 9, left - 9]; // of the names above the boxes and below them: a short box has its name beside it
    const bars = spans.map((each, i) => {
      const [word, block, from, to] = each, sends = +!computes(each), on = from <= now && now < to, middle = x((from + to) / 2);
      const at = (ends[sends] = Math.max(middle, ends[sends] + 20));
      return h("g", { key: `${state.kind} ${name} ${state.link} ${i}`, class: from > now ? "faint" : "" },
        rect(x(from), line + sends * 18, (to - from) * scale, 14, sends ? "two" : "one", { style: on ? "stroke-width: 2.5" : null }),
        at > middle ? h("path", { d: `M${middle} ${line + sends * 32}L${at} ${line + (sends ? 35 : -3)}` }) : null,
        small("letter", at, line + (sends ? 45 : -4), `middle ${on ? "strong" : ""}`, LETTERS[word] + block));
    });
    const most = Math.max(...all.map((each) => each.peak)), gone = (kind) => (kind === state.kind ? "gone" : ""), level = (value) => MEMORY + HIGH - (value / most) * HIGH;
    const areas = KINDS.map(([word, look], k) => {
      const sum = (point) => level(point.slice(1, k + 2).reduce((a, b) => a + b, 0));
      const points = curve.flatMap((point, i) => [`${x(point[0])},${sum(point)}`, `${x(curve[i + 1]?.[0] ?? end)},${sum(point)}`]);
      return h("polygon", { key: word, points: `${x(0)},${MEMORY + HIGH} ${points.join(" ")} ${x(end)},${MEMORY + HIGH}`, class: look });
    }).reverse();
    const legend = KINDS.flatMap(([word, look], k) => {
      const [left, y] = narrow ? [(k % 2) * 190, MEMORY + HIGH + 26 + (k >> 1) * 18] : [0, MEMORY + HIGH - 1 - k * 16];
      return [rect(left, y - 9, 9, 9, look, { key: `mark ${word}` }),
        small(`of ${word}`, left + 14, y, "", word), small(`much ${word}`, left + (narrow ? 150 : LEFT - 6), y, "end", (memory[k] / 2 ** 20).toFixed(2))];
    });
    const table = [["", narrow ? words("most memory") : words("most memory of a rank"), words("a rank sends"), words("the step takes")], ...data.kinds.map((kind, i) => [kind, mebi(all[i].peak), mebi(all[i].frames.at(-1)[3]), `${grouped(total(all[i]))} µs`])];
    return [
      ...paragraph("title", 0, 12, "strong", words("{0} on {1} ranks: {2} of {3} µs, sent {4}", state.kind, state.ranks, grouped(now), grouped(end), mebi(sent)), left + span, 8.4),
      small("score", narrow ? 0 : 720, narrow ? TABLE + 72 : 12, narrow ? "" : "end", guesses(state)),
      ...paragraph("half", 0, narrow ? 46 : 31, "small quiet", words(data.legend), left + span),
      ...ranks.map((rank) => small(`${name} rank ${rank}`, place(rank, 0), high(rank, 0) - 6, "strong", words("rank {}", rank))),
      ...rows,
      ...(narrow ? [small("compute", 0, line - 20, "", words("each computes, and sends"))] : [small("compute", 0, line + 11, "", words("each computes")), small("send", 0, line + 29, "", words("and sends"))]), ...bars,
      small("memory", 0, MEMORY - (narrow ? 8 : 2), "quiet", words("{} on a rank:", mebi(memory.reduce((a, b) => a + b, 0)))), small("most", left + span, MEMORY - 10, "quiet end", words("dashed: most with")), ...areas, ...legend,
      ...data.kinds.flatMap((kind, i) => [
        h("path", { key: `most ${kind}`, d: `M${left} ${level(all[i].peak)}h${span - 36}`, style: "stroke: var(--quiet); stroke-dasharray: 3 4", class: gone(kind) }),
        small(`level ${kind}`, left + span, level(all[i].peak) + 4, `quiet end ${gone(kind)}`, kind)]),
      ...paragraph("letters", 0, line + 62, "small quiet", words(data.letters), left + span, 6.8),
      h("path", { key: "now", d: `M0 ${line - 2}v36M0 ${MEMORY}v${HIGH}`, transform: `translate(${x(now)} 0)`, style: "stroke: var(--ink); stroke-width: 1.5" }),
      ...table.flatMap((cells, i) => cells.map((cell, k) => small(`cell ${i} ${k}`, k && stops[k - 1], TABLE + i * 17, `${i ? "" : "quiet"} ${k ? "end" : ""} ${cells[0] === state.kind ? "strong" : ""}`, cell))),
    ];
  }

  function controls(state, data, set) {
    const again = (change) => set({ ...state, at: 0, playing: false, guess: null, ...change });
    return [
      player({ at: state.at, last: last(state, data), playing: state.playing, scrub: words("moments:") }, (at, playing) => set({ ...state, at, playing, guess: null })),
      oneOf(words("method:"), data.kinds.map((kind) => keyed(kind, toggle(kind, kind === state.kind, () => again({ kind }))))),
      keyed("ranks", choice(words("ranks"), data.ranks.map(String), String(state.ranks), (ranks) => again({ ranks: +ranks }))),
      keyed("links", choice(words("links of"), data.links, data.links[state.link], (link) => again({ link: data.links.indexOf(link) }))),
      oneOf(words("what is sent next?"), data.words.map((word) => button(word, () => set(guess(state, data, word)), { key: word, off: !next(state, data).length }))),
    ];
  }

  function say(state, data) {
    const sentence = data.sentences[scene(state, data).frames[state.at][4]], [word, right] = state.guess ?? [];
    if (right === false) return words("No {0} comes next: {1}.", word, words(data.not[state.kind][word]));
    return praise(right) + words(sentence);
  }

  const tick = (state, data) => (state.playing && state.at < last(state, data) ? [1300, { ...state, at: state.at + 1, guess: null }] : []);

  const address = fields((state, data) => [["kind", data.kinds], ["ranks", data.ranks], ["at", upTo(last(state, data))], ["link", [...data.links.keys()]]]);

  figure("sharding", { start, draw, tall, controls, say, tick, ...address });
})();
