// Views of one storage: what each operation changes in the record, and each element's cell.
(() => {
  const SHOWN = [".t()", "[:, ::2]", "[1:]"]; // by a calm figure, with buttons

  // show: steps that it has gone by itself.
  function start(data, { calm }) {
    const still = calm == null || matchMedia("(prefers-reduced-motion: reduce)").matches;
    return { chain: [], at: [0], index: [1, 2], refused: null, walking: false, calm: calm != null, show: still ? null : 0 };
  }
  const tensor = (state, data) => data.tensors[state.at.at(-1)];
  const position = (x, index) => index.reduce((sum, i, dim) => sum + i * x.strides[dim], x.offset);
  const within = (index, sizes) => sizes.map((size, dim) => Math.max(0, Math.min(index[dim] ?? 0, size - 1)));
  const full = (x) => x.sizes.every((size) => size > 0);
  const cells = (x) => new Set(indices(x.sizes).map((index) => position(x, index)));
  const still = (state, more) => ({ ...state, refused: null, walking: false, ...more });
  const named = ({ index }, x) => ({
    element: `x[${index.join(", ")}]`, strides: tuple(x.strides),
    sum: `${[x.offset, ...index.map((i, dim) => `${i}·${x.strides[dim]}`)].join(" + ")} = ${position(x, index)}` });

  function apply(state, data, operation) {
    const x = tensor(state, data), lead = x.next[operation];
    if (lead == null) return state;
    if (lead < 0) return still(state, { refused: { operation, error: data.errors[-1 - lead] } });
    return still(state, { chain: [...state.chain, operation], at: [...state.at, lead], index: follow(x, data.tensors[lead], state.index) });
  }

  function undo(state, data) {
    const chain = state.chain.slice(0, -1), at = state.at.slice(0, -1);
    return still(state, { chain, at, index: follow(tensor(state, data), tensor({ at }, data), state.index) });
  }

  // The same element's index in another tensor, if any.
  function follow(from, to, index) {
    return full(from) && from.storage === to.storage && indices(to.sizes).find((each) => position(to, each) === position(from, index)) || within(index, to.sizes);
  }

  // An element's row and column, in a block for each index of a third.
  function places(sizes, { room, gap, cell, high }) {
    const [blocks, rows, columns] = [...Array(3 - sizes.length).fill(1), ...sizes];
    const width = Math.min(cell[0], (room - gap * (blocks - 1)) / (blocks * columns || 1));
    const height = Math.min(cell[1], high / (rows || 1));
    const place = (index) => {
      const [block, row, column] = [...Array(3 - index.length).fill(0), ...index];
      return [block * (columns * width + gap) + column * width, 42 + row * height];
    };
    return { place, width, height, end: blocks * (columns * width + gap) + 28 };
  }

  const cell = (key, x, y, width, height, kind, text, pick, more = {}) =>
    moved(key, x, y, { ...picked(pick), ...more }, rect(0, 0, width - 3, height - 3, kind, { rx: 3 }),
      label("text", (width - 3) / 2, height / 2 + 4, `middle code ${width < 20 ? "small" : ""}`, text));

  // The record is beside the elements, or below.
  const BESIDE = { room: 390, gap: 14, cell: [46, 38], high: 170, line: 640 }, BELOW = { room: 357, gap: 8, cell: [44, 44], high: 176, line: 360, record: [0, 288] }, STORAGE = 246;
  const tall = () => 492;

  function draw(state, data, set, narrow) {
    const look = narrow ? BELOW : BESIDE, x = tensor(state, data), values = data.storages[x.storage];
    const { place, width, height, end } = places(x.sizes, look), wide = look.line / values.length, before = data.tensors[state.at.at(-2) ?? state.at[0]];
    const all = indices(x.sizes), reached = cells(x), here = full(x) ? position(x, state.index) : null;
    const kind = (index) => (String(index) === String(state.index) ? "one" : position(x, index) === here ? "two" : "");
    const row = (y, name, field) => {
      const [value, was] = [field(x), field(before)], same = value === was;
      return [label(name, 0, y, "quiet", name), label(`${name}=`, 90, y, `code ${same ? "" : "strong"}`, value), small(`${name} was`, 236, y, "quiet end", same ? "" : words("was {}", was))];
    };
    const go = (index) => set(still(state, { index })), copies = {}, copy = (value) => (copies[value] = (copies[value] ?? -1) + 1);
    const [left, top] = full(x) ? place(state.index) : [], { element, sum } = named(state, x);
    const [aside, down] = look.record ?? [Math.min(404, Math.max(226, end)), 0];
    return [
      ...paragraph("code", 0, narrow ? 12 : 16, `code ${narrow ? "small" : ""}`, `x = ${state.chain[5] == null ? data.base : "…"}${state.chain.slice(-5).map((each) => data.operations[each]).join("")}`, look.line, narrow ? 7.3 : 8.5),
      full(x) ? h("path", { key: "way", class: "one", "stroke-dasharray": "3 3",
        d: `M${left + (width - 3) / 2} ${top + height - 3}V${Math.max(STORAGE - 14, top + height)}H${(here + 0.5) * wide - 1.5}V${STORAGE + 10}` }) : null,
      ...all.map((index) => {
        const value = values[position(x, index)], pick = () => go(index);
        return cell(`${value} copy ${copy(value)}`, ...place(index), width, height, kind(index), value, pick, {
          class: "cell", onpointerenter: (event) => (event.movementX || event.movementY) && pick() });
      }),
      full(x) ? null : label("none", 0, 70, "quiet", words("no elements")),
      moved("record", aside, down, {},
        row(60, words("sizes"), (x) => tuple(x.sizes)), row(84, words("strides"), (x) => tuple(x.strides)),
        row(108, words("offset"), (x) => x.offset), row(132, words("contiguous"), (x) => (x.contiguous ? words("yes") : words("no"))),
        full(x) ? [label("element", 0, 172, "code one", `${element} = ${values[here]}`), label("sum", 0, 194, "code", sum)] : []),
      label("storage", 0, STORAGE, "quiet", x.storage === 0 ? words("storage") : words("a storage of its own: the elements were copied")),
      ...values.map((value, i) => cell(`cell ${i}`, i * wide, STORAGE + 10, wide, 42, i === here ? "one" : reached.has(i) ? "" : "ground", value, () => {
        const index = all.find((each) => position(x, each) === i);
        if (index && i !== here) go(index);
      })),
      ...values.map((_, i) => small(`number ${i}`, i * wide + (wide - 3) / 2, STORAGE + 68, `middle ${i === here ? "one" : "quiet"}`, i)),
    ].filter(Boolean);
  }

  function controls(state, data, set) {
    const x = tensor(state, data);
    const operations = data.operations.map((name, operation) =>
      button(h("code", {}, name), () => set(apply(state, data, operation)), { key: name, off: x.next[operation] == null }));
    const back = button(words("undo"), () => set(undo(state, data)), { key: "undo", off: !state.chain.length });
    if (state.calm) {
      const plays = state.show != null;
      return [[button(plays ? words("pause") : words("play"), () => set({ ...state, show: plays ? null : 0 }), { key: "play", class: "first" }),
        ...operations.filter((each) => SHOWN.includes(each.attributes.key)), back, button(words("all operations"), () => set({ ...state, calm: false }), { key: "all" })]];
    }
    const walk = () => set(still(state, { walking: !state.walking, index: state.walking ? state.index : x.sizes.map(() => 0) }));
    return [[...operations, back], button(state.walking ? words("stop") : words("read in order"), walk, { key: "walk", off: !full(x) }),
      ...(full(x) ? x.sizes : []).map((size, dim) => keyed(`index ${dim}`, slider(words("index {}:", dim), 0, size - 1, state.index[dim], (i) =>
        set(still(state, { index: state.index.with(dim, i) })))))];
  }

  function say(state, data) {
    const x = tensor(state, data);
    if (state.refused) return words("{0} is refused, and x stays: {1}", data.operations[state.refused.operation], state.refused.error);
    if (state.walking) return x.strides.at(-1) === 1 ? words("One step in the last dimension is 1 cell in the storage: that is its stride.") : words("One step in the last dimension is {} cells in the storage: that is its stride.", x.strides.at(-1));
    const count = indices(x.sizes).length, reached = cells(x).size;
    const last = data.operations[state.chain.at(-1)];
    const copied = last === data.copying && data.tensors[state.at.at(-2)].copies;
    if (copied) return words(data.copied);
    if (!count) return words(data.empty);
    if (reached < count) return words("The {0} elements are {1} cells of the storage: some have several names. The same cell is orange in the tensor.", count, reached);
    if (!last && state.show != null) return words(data.record);
    if (!last) return words("Press .t(), for example. An operation makes a new record on the same storage: watch the sizes, the strides and the offset.");
    return `${words("{} changed the record and copied nothing.", last)} ${x.contiguous ? words("In order, the elements are neighbours in the storage.") : words("In order, the elements are not neighbours in the storage, so the tensor is not contiguous.")}`;
  }

  function tick(state, data) {
    if (state.show != null) {
      const next = state.chain.length ? undo(state, data) : apply(state, data, data.operations.indexOf(SHOWN[(state.show >> 1) % SHOWN.length]));
      return [state.chain.length ? 3500 : 2500, { ...next, show: state.show + 1 }];
    }
    if (!state.walking) return [];
    const all = indices(tensor(state, data).sizes), next = all[all.findIndex((index) => String(index) === String(state.index)) + 1];
    return [600, next ? { ...state, index: next } : { ...state, walking: false }];
  }

  // In an address: the operations, and the index. `t,slice,0.1`.
  const write = (state, data) => [...state.chain.map((each) => data.names[each]), state.index.join(".")];
  const read = (words, data, first) => words.reduce((state, word) => (/^\d/.test(word)
    ? { ...state, index: chosen(indices(tensor(state, data).sizes), word.replaceAll(".", "-")) }
    : apply(state, data, data.names.indexOf(chosen(data.names, word)))), { ...first, show: null });

  // A touch ends what it does by itself.
  const touched = (next, state) => (next.show === state.show ? { ...next, show: null } : next);

  figure("strides", { start, draw, tall, controls, say, tick, write, read, touched, numbers: (state, data) => named(state, tensor(state, data)) });
})();
