// Views of one storage: what each operation changes in the record, and which storage cell an element is.
(() => {
  const SHOWN = [".t()", "[:, ::2]", "[1:]"]; // what a calm figure does by itself, and has buttons for

  // show: how many steps it has gone by itself, until a reader touches it.
  function start(data, { calm }) {
    const still = calm == null || matchMedia("(prefers-reduced-motion: reduce)").matches;
    return { chain: [], at: [0], index: [1, 2], refused: null, walking: false, calm: calm != null, show: still ? null : 0 };
  }
  const tensor = (state, data) => data.tensors[state.at.at(-1)];
  const position = (x, index) => index.reduce((sum, i, dim) => sum + i * x.strides[dim], x.offset);
  const within = (index, sizes) => sizes.map((size, dim) => Math.max(0, Math.min(index[dim] ?? 0, size - 1)));
  const full = (x) => x.sizes.every((size) => size > 0);

  function indices(sizes) {
    return sizes.reduce((all, size) => all.flatMap((one) => [...Array(size).keys()].map((i) => [...one, i])), [[]]);
  }

  function apply(state, data, operation) {
    const lead = tensor(state, data).next[operation];
    if (lead == null) return state;
    if (lead < 0) return { ...state, walking: false, refused: { operation, error: data.errors[-1 - lead] } };
    return { ...state, chain: [...state.chain, operation], at: [...state.at, lead], index: follow(tensor(state, data), data.tensors[lead], state.index), refused: null, walking: false };
  }

  function undo(state, data) {
    const back = { ...state, chain: state.chain.slice(0, -1), at: state.at.slice(0, -1), refused: null, walking: false };
    return { ...back, index: follow(tensor(state, data), tensor(back, data), state.index) };
  }

  // The index in another tensor of the same element, if it has it.
  function follow(from, to, index) {
    const same = full(from) && from.storage === to.storage && indices(to.sizes).find((each) => position(to, each) === position(from, index));
    return same || within(index, to.sizes);
  }

  // Where the cell of an element is drawn: rows and columns, and a block for each index of a third dimension.
  function places(sizes) {
    const [blocks, rows, columns] = [...Array(3 - sizes.length).fill(1), ...sizes];
    const width = Math.min(46, (390 - 14 * (blocks - 1)) / (blocks * columns || 1));
    const height = Math.min(38, 170 / (rows || 1));
    const place = (index) => {
      const [block, row, column] = [...Array(3 - index.length).fill(0), ...index];
      return [block * (columns * width + 14) + column * width, 42 + row * height];
    };
    return { place, width, height, end: blocks * (columns * width + 14) + 28 };
  }

  const cell = (key, x, y, width, height, kind, text, more = {}) =>
    h("g", { key, transform: `translate(${x} ${y})`, ...more },
      h("rect", { width: width - 3, height: height - 3, rx: 3, class: kind }),
      h("text", { x: (width - 3) / 2, y: height / 2 + 4, class: "middle code" }, text));

  function draw(state, data, set) {
    const x = tensor(state, data), values = data.storages[x.storage];
    const { place, width, height, end } = places(x.sizes), wide = 640 / values.length;
    const all = indices(x.sizes), reached = new Set(all.map((index) => position(x, index)));
    const here = full(x) ? position(x, state.index) : null;
    const kind = (index) => (String(index) === String(state.index) ? "one" : position(x, index) === here ? "two" : "");
    const row = (y, name, value, was) => [
      h("text", { key: name, y, class: "quiet" }, name),
      h("text", { key: `${name}=`, x: 90, y, class: `code ${value === was ? "" : "strong"}` }, value),
      h("text", { key: `${name} was`, x: 236, y, class: "small quiet end" }, value === was ? "" : `was ${was}`)];
    const before = state.at.length > 1 ? data.tensors[state.at.at(-2)] : x;
    const copies = {}, copy = (value) => (copies[value] = (copies[value] ?? -1) + 1);
    const [left, top] = full(x) ? place(state.index) : [];
    const tuple = (numbers) => `(${numbers.join(", ")}${numbers.length === 1 ? "," : ""})`;
    const sum = full(x) ? [x.offset, ...state.index.map((i, dim) => `${i}·${x.strides[dim]}`)].join(" + ") : "";
    return [
      h("text", { key: "code", x: 0, y: 18, class: "code" }, `x = ${data.base}${state.chain.map((each) => data.operations[each]).join("")}`),
      full(x) ? h("path", { key: "way", class: "one", "stroke-dasharray": "3 3",
        d: `M${left + (width - 3) / 2} ${top + height - 3}V${Math.max(232, top + height)}H${(here + 0.5) * wide - 1.5}V256` }) : null,
      ...all.map((index) => { const value = values[position(x, index)]; return [index, value, copy(value)]; }).map(([index, value, nth]) =>
        cell(`${value} copy ${nth}`, ...place(index), width, height, kind(index), value, {
          press: () => set({ ...state, index, refused: null, walking: false }), tabindex: -1,
          onpointerenter: (event) => { if (event.movementX || event.movementY) set({ ...state, index, walking: false }); } })),
      full(x) ? null : h("text", { key: "none", x: 0, y: 70, class: "quiet" }, "no elements"),
      h("g", { key: "record", transform: `translate(${Math.min(404, Math.max(226, end))} 0)` }, [
      ...row(60, "sizes", tuple(x.sizes), tuple(before.sizes)),
      ...row(84, "strides", tuple(x.strides), tuple(before.strides)),
      ...row(108, "offset", x.offset, before.offset),
      ...row(132, "contiguous", x.contiguous ? "yes" : "no", before.contiguous ? "yes" : "no"),
      h("text", { key: "element", y: 172, class: "code one" }, full(x) ? `x[${state.index.join(", ")}] = ${values[here]}` : ""),
      h("text", { key: "sum", y: 194, class: "code" }, full(x) ? `${sum} = ${here}` : "")]),
      h("text", { key: "storage", x: 0, y: 246, class: "quiet" }, x.storage === 0 ? "storage" : "a storage of its own: the elements were copied"),
      ...values.map((value, i) => cell(`cell ${i}`, i * wide, 256, wide, 42, i === here ? "one" : reached.has(i) ? "" : "ground", value)),
      ...values.map((_, i) => h("text", { key: `number ${i}`, x: i * wide + (wide - 3) / 2, y: 314, class: `middle small ${i === here ? "one" : "quiet"}` }, i)),
    ].filter(Boolean);
  }

  function controls(state, data, set) {
    const x = tensor(state, data);
    const operations = data.operations.map((name, operation) =>
      button(h("code", {}, name), () => set(apply(state, data, operation)), { key: name, disabled: x.next[operation] == null ? "" : null }));
    const back = button("undo", () => set(undo(state, data)), { key: "undo", disabled: state.chain.length ? null : "" });
    if (state.calm) {
      const plays = state.show != null;
      return [button(plays ? "pause" : "play", () => set({ ...state, show: plays ? null : 0 }), { key: "play", class: "first" }),
        ...operations.filter((each) => SHOWN.includes(each.attributes.key)), back, button("all operations", () => set({ ...state, calm: false }), { key: "all" })];
    }
    const sliders = full(x)
      ? x.sizes.map((size, dim) => slider(`index ${dim}:`, 0, size - 1, state.index[dim], (i) =>
        set({ ...state, refused: null, walking: false, index: state.index.map((old, each) => (each === dim ? i : old)) })))
      : [];
    const walk = () => set({ ...state, refused: null, walking: !state.walking, index: state.walking ? state.index : x.sizes.map(() => 0) });
    return [...operations, back,
      button(state.walking ? "stop" : "read in order", walk, { key: "walk", disabled: full(x) ? null : "" }),
      ...sliders.map((each, dim) => ({ ...each, attributes: { key: `index ${dim}` } }))];
  }

  function say(state, data) {
    const x = tensor(state, data);
    if (state.refused) return `${data.operations[state.refused.operation]} is refused, and x stays: ${state.refused.error}`;
    if (state.walking) return `One step in the last dimension is ${x.strides.at(-1)} ${x.strides.at(-1) === 1 ? "cell" : "cells"} in the storage: that is its stride.`;
    const count = x.sizes.reduce((product, size) => product * size, 1);
    const reached = new Set(indices(x.sizes).map((index) => position(x, index))).size;
    const last = data.operations[state.chain.at(-1)];
    const copied = last === data.copying && data.tensors[state.at.at(-2)].copies;
    if (copied) return "No sizes and strides read these elements in this order, so reshape copied them. The new tensor has a storage of its own.";
    if (!count) return "The tensor has no elements. Its record still has strides and an offset.";
    if (reached < count) return `The ${count} elements are ${reached} cells of the storage: some have several names. The same cell is orange in the tensor.`;
    if (!last && state.show != null) return "A tensor is a record: sizes, strides and an offset. They say where in the storage each element is.";
    if (!last) return "Press .t(), for example. An operation makes a new record on the same storage: watch the sizes, the strides and the offset.";
    return `${last} changed the record and copied nothing. ${x.contiguous ? "In order, the elements are neighbours in the storage." : "In order, the elements are not neighbours in the storage, so the tensor is not contiguous."}`;
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

  // A touch ends what it does by itself. Only the button "play" begins it again.
  const touched = (state, set) => (next) => set(next.show === state.show ? { ...next, show: null } : next);
  figure("strides", {
    start, say, tick,
    draw: (state, data, set) => draw(state, data, touched(state, set)), controls: (state, data, set) => controls(state, data, touched(state, set)),
  });
})();
