// Attention by blocks: which blocks an instance has loaded, what it keeps of a query, and what has moved, beside three kernels that
// write the scores.
(() => {
  const WIDE = { unit: 1.75, scores: [310, 36], span: 342, bars: [0, 330], bar: 652 }, NARROW = { unit: 1.4, scores: [0, 305], span: 358, bars: [0, 561], bar: 358 };
  const SIZES = [16, 32, 64], LEFT = 22, TOP = 64, HIGH = 84, KEPT = 34; // of the bars of a score and of a sum; a query has `unit` pixels
  const kiB = (value) => `${digits(value / 1024)} KiB`;

  // at: 0, then a step for the queries, one for each block of keys, and one for the result.
  const start = () => ({ size: 32, causal: true, block: 2, at: 4, playing: false });
  const across = ({ size }, data) => data.n / size, own = ({ size }, data) => data.blocks[size];
  const needed = (state, data) => (state.causal ? state.block + 1 : across(state, data)), last = (state, data) => needed(state, data) + 2;
  const tall = () => NARROW.bars[1] + 146, total = (parts) => parts.reduce((sum, part) => sum + part, 0);
  const fitted = (state, data) => {
    const block = Math.min(state.block, across(state, data) - 1), next = { ...state, block, playing: false };
    return { ...next, at: Math.min(state.at, last(next, data)) };
  };

  // What is known after this step: blocks of keys that are used, the query that is shown, its numbers now and a block before.
  function known(state, data) {
    const { size, block, at } = state, used = Math.max(0, Math.min(at - 1, needed(state, data))), rows = own(state, data).rows[block];
    const query = (block + 1) * size - 1, done = at === last(state, data), now = rows[used - 1], before = rows[used - 2];
    const factor = before ? Math.exp(before[0] - now[0]) : null;
    return { used, query, done, now, before, factor, fresh: done ? null : used - 1 };
  }

  function moved(state, data) {
    const { loaded, stored, naive } = own(state, data), { used, done } = known(state, data);
    return { mine: (state.at ? loaded[used] : 0) + (done ? stored : 0), theirs: done ? naive.at(-1) : naive[used], most: total(naive.at(-1)) };
  }

  function draw(state, data, set, narrow) {
    const { unit, scores: [x, y], span, bars: [left, under], bar } = narrow ? NARROW : WIDE, { size, causal, block, at } = state, side = data.n * unit, cell = size * unit, count = across(state, data);
    const { used, query, done, now, before, factor, fresh } = known(state, data), pick = (to) => () => set(fitted({ ...state, block: to }, data));
    const kind = (keys) => (keys === fresh ? "two" : keys < used ? "one" : ""), strip = (name, at, i, kind, shape) => rect(...shape, kind, { key: `${size} ${name} ${i}` });
    const base = y + HIGH, wide = span / data.n, high = (score) => Math.min(1, Math.exp(score - now[0])) * (HIGH - 10), middle = y + 204, widest = Math.max(1, ...own(state, data).rows[block].flatMap((row) => row[2].map(Math.abs)));
    const tall = (sum) => (sum / widest) * KEPT, { mine, theirs, most } = moved(state, data), scale = (bar - 4) / most, { whole, "whole naive": three } = own(state, data);
    const line = (i, title, value) => [small(`title ${i}`, x, base + 22 + i * 18, "", title), small(`value ${i}`, x + span, base + 22 + i * 18, "code end", value)];
    const length = (value) => Math.max(value * scale, 0.5), shares = theirs.map((part, i) => total(theirs.slice(0, i)));
    return [
      small("k", 0, TOP - 34, "strong", "k"), small("v", 0, TOP - 14, "strong", "v"), small("q", 8, TOP + side + 16, "strong", "q"), small("out", LEFT + side + 8, TOP - 14, "strong", words("out")),
      small("keys", LEFT, TOP - 50, "quiet", words("{0} keys", data.n)), small("queries", LEFT, TOP + side + 16, "quiet", words("{0} queries. A square is a block of scores.", data.n)),
      ...upTo(count - 1).flatMap((i) => [
        strip("k", at, i, kind(i), [LEFT + i * cell, TOP - 44, cell, 12]), strip("v", at, i, kind(i), [LEFT + i * cell, TOP - 24, cell, 12]),
        strip("q", at, i, i === block && at ? "good" : "", [LEFT - 14, TOP + i * cell, 10, cell]), strip("out", at, i, i === block && done ? "good" : "", [LEFT + side + 8, TOP + i * cell, 10, cell]),
      ]),
      ...upTo(count * count - 1).map((i) => {
        const row = Math.floor(i / count), keys = i % count, skipped = causal && keys > row, mine = row === block && !skipped ? kind(keys) : "";
        return rect(LEFT + keys * cell, TOP + row * cell, cell, cell, skipped ? "ground" : mine, { key: `${size} block ${i}`, class: `scores ${skipped ? "ground" : mine}`, onclick: pick(row) });
      }),
      ...(causal ? [h("path", { key: "diagonal", d: `M${LEFT} ${TOP}l${side} ${side}`, style: "stroke: var(--quiet)", "stroke-dasharray": "3 3" })] : []),
      rect(LEFT - 1, TOP + block * cell - 1, side + 2, cell + 2, "", { key: "row", style: "fill: none; stroke: var(--good); stroke-width: 2; pointer-events: none" }),
      small("query", x, y - 16, "strong", words("query {0}: exp(score − maximum)", query)),
      h("path", { key: "floor", d: `M${x} ${base}h${span}` }),
      ...data.scores[query].map((score, key) => {
        const seen = key < used * size, kind = Math.floor(key / size) === fresh ? "two" : "one", tall = seen ? high(score) : 0;
        return rect(x + key * wide, base - tall, wide, tall, seen ? kind : "gone", { key: `bar ${key}`, class: seen ? `${kind} score` : "gone", style: "stroke-width: 0.5" });
      }),
      ...(used > 1 && !done ? upTo((used - 1) * size - 1).map((key) => h("path", { key: `former ${key}`, class: "former", d: `M${x + key * wide} ${base - Math.exp(data.scores[query][key] - before[0]) * (HIGH - 10)}h${wide}`, style: "stroke: var(--quiet)" })) : []),
      ...line(0, words("maximum so far"), now ? now[0].toFixed(2) : "−∞"),
      ...line(1, words("factor of what was there"), factor == null || done ? "" : factor.toFixed(2)),
      ...line(2, words("sum so far"), now ? now[1].toFixed(2) : "0"),
      small("sums", x, middle - KEPT - 8, "strong", done ? words("row of out: each divided by {0}", now[1].toFixed(2)) : words("weighted sum of the values so far")),
      h("path", { key: "zero", d: `M${x} ${middle}h${span}` }),
      ...(now ? now[2].flatMap((sum, i) => {
        const step = span / data.width, tip = tall(sum), old = before && !done ? tall(before[2][i]) : null, at = x + i * step + 3;
        return [
          rect(at, middle - Math.max(tip, 0), step - 6, Math.abs(tip), done ? "good" : "one", { key: `sum ${i}` }),
          ...(old == null ? [] : [h("path", { key: `old ${i}`, class: "former", d: `M${at - 2} ${middle - old}h${step - 2}`, style: "stroke: var(--quiet); stroke-width: 2" })])];
      }) : []),
      small("moves", left, under, "strong", words("loaded and stored for these {0} queries", size)),
      small("naive title", left, under + 24, "", words("scores, softmax, product")), small("naive value", left + bar, under + 24, "code end", kiB(total(theirs))),
      rect(left, under + 30, bar, 12, "ground", { key: "naive whole" }), ...theirs.map((part, i) => rect(left + shares[i] * scale, under + 30, length(part), 12, "bad", { key: `naive ${i}`, class: "bad bar" })),
      small("own title", left, under + 64, "", words("one kernel")), small("own value", left + bar, under + 64, "code end", kiB(mine)),
      rect(left, under + 70, length(mine), 12, "one", { key: "own", class: "one bar" }),
      ...[[words("all queries, three kernels"), kiB(three)], [causal ? words("one kernel, causal") : words("one kernel"), kiB(whole[+causal])]].flatMap(([title, value], i) => {
        const at = narrow ? [0, under + 106 + i * 18, bar] : [i * (bar / 2 + 10), under + 104, bar / 2 - 10];
        return [small(`whole ${i}`, at[0], at[1], "quiet", title), small(`whole value ${i}`, at[0] + at[2], at[1], "code end", value)];
      }),
    ];
  }

  const controls = (state, data, set) => [
    player({ at: state.at, last: last(state, data), playing: state.playing }, (at, playing) => set({ ...state, at, playing })),
    oneOf(words("blocks of"), SIZES.map((size) => toggle(size, size === state.size, () => set(fitted({ ...state, size }, data))))),
    toggle(words("causal"), state.causal, () => set(fitted({ ...state, causal: !state.causal }, data))),
    keyed("block", slider(words("block of queries:"), 0, across(state, data) - 1, state.block, (block) => set(fitted({ ...state, block }, data)))),
  ];

  function say(state, data) {
    const { size, causal, block, at } = state, { used, done, before, factor } = known(state, data), { mine, most } = moved(state, data), count = across(state, data);
    if (at === 0) return words("{0} instances, one for each block of {1} queries. This is instance {2}, counted from 0.", count, size, block);
    if (at === 1) return words("The instance loads its {0} queries, and keeps them in registers.", size);
    if (done) {
      const skips = count - needed(state, data), saved = skips ? ` ${words("Blocks of keys that it never loads: {0}.", skips)}` : "";
      return words("The sums are divided and stored once. Three kernels move {0} times as many bytes for these queries.", digits(most / mine)) + saved;
    }
    const masked = causal && used === block + 1 ? ` ${words("In this block, keys after a query are masked.")}` : "";
    if (!before) return words("Block 0 of keys and values is loaded. Its largest score is the maximum so far.") + masked;
    const same = words("Block {0} of keys and values is loaded. The maximum of this query stays, so nothing is scaled.", used - 1);
    return (factor > 0.999 ? same : words("Block {0} of keys and values has a larger score. So the sum, and the weighted sum of values, are multiplied by {1} before the block is added.", used - 1, factor.toFixed(2))) + masked;
  }

  const tick = (state, data) => (state.playing && state.at < last(state, data) ? [1200, { ...state, at: state.at + 1 }] : []);
  const address = fields((state, data) => [["size", SIZES], ["causal", [false, true]], ["block", upTo(across(state, data) - 1)], ["at", upTo(last(state, data))]]);

  figure("attention", { start, draw, tall, controls, say, tick, ...address });
})();
