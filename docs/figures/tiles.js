// A tiled product: which tiles of a and b are in shared memory, which sums a thread has, and what the product has asked for so far.
(() => {
  const WIDE = { unit: 1.4, left: 204, top: 34, under: 234, bars: [436, 34], span: 216 }, NARROW = { unit: 1.1, left: 158, top: 34, under: 198, bars: [0, 402], span: 358 };
  const THREAD = [3, 2], TILES = [16, 32, 64], SUMS = [1, 2, 4, 8]; // THREAD: x and y of the thread whose sums are marked
  const kiB = (sectors) => `${grouped((sectors * 32) / 1024)} KiB`, many = grouped;

  // at: 0, then two steps for each tile of the sum: it is loaded, and it is used. sums: what the reader chose, of which a thread has
  // the nearest that the tile allows. refused: sums that the tile does not allow, if they were chosen last.
  const start = () => ({ tile: 32, sums: 4, block: 5, at: 4, playing: false, refused: null });
  const allowed = ({ tile }, data) => SUMS.filter((sums) => data.tiles[`${tile} ${sums}`]);
  const summed = (state, data) => { const fits = allowed(state, data); return Math.min(Math.max(state.sums, fits[0]), fits.at(-1)); };
  const counts = (state, data) => data.tiles[`${state.tile} ${summed(state, data)}`];
  const last = (data) => (2 * data.n) / data.depth, across = ({ tile }, data) => data.n / tile;
  const tall = () => NARROW.bars[1] + 252;

  // How many tiles of the sum are loaded, how many are used, and what the product has asked for.
  function measured(state, data) {
    const loaded = Math.ceil(state.at / 2), used = Math.floor(state.at / 2), { sectors, stored, loaded: read } = counts(state, data);
    return { loaded, used, bytes: sectors[loaded], naive: data.naive[used], waves: stored[loaded] + read[used], end: [sectors, stored, read].map((each) => each.at(-1)) };
  }

  // With other tiles, a block that is not there becomes one that is.
  const tiled = (state, data) => ({ ...state, block: Math.min(state.block, across(state, data) ** 2 - 1), refused: allowed(state, data).includes(state.sums) ? null : state.sums, playing: false });

  function draw(state, data, set, narrow) {
    const { unit, left, top, under, bars, span } = narrow ? NARROW : WIDE, { tile, at } = state, sums = summed(state, data), side = data.n * unit, size = tile * unit;
    const { loaded, bytes, naive, waves, end } = measured(state, data), blocks = across(state, data), row = Math.floor(state.block / blocks), column = state.block % blocks;
    const part = Math.max(loaded - 1, 0) * data.depth * unit, deep = data.depth * unit, look = at === 0 ? "gone" : at % 2 ? "two" : "one";
    const matrix = (name, x, y) => [rect(x, y, side, side, "ground", { key: `all ${name}`, style: "stroke: var(--line)" }), small(`name ${name}`, x, y - 6, "strong", name)];
    const cell = side / tile, width = tile / sums, marks = upTo(sums - 1).map((p) => p * width);
    const [rows, columns] = [THREAD[1], THREAD[0]].map((first) => marks.map((p) => (first + p) * cell)), seen = at ? "" : "gone";
    const [x, y] = bars, scale = (span - 4) / (data.naive.at(-1) * 32), wave = (span - 4) / data.tiles["16 1"].loaded.at(-1) / 1.1;
    const bar = (key, at, title, value, whole, kind, by, text) => [
      small(`${key} title`, x, at, "", title), small(`${key} value`, x + span, at, "code end", text),
      rect(x, at + 6, Math.max(whole * by, 2), 12, "ground", { key: `${key} whole` }), rect(x, at + 6, Math.max(value * by, 0.5), 12, kind, { key, class: `${kind} bar` })];
    const flops = (sectors) => (2 * data.n ** 3) / (32 * sectors), [allSectors, allStored, allRead] = end;
    return [
      ...matrix("a", 0, under), ...matrix("b", left, top), ...matrix("out", left, under),
      rect(0, under + row * size, side, size, "faint", { key: "rows", style: "stroke: var(--one)" }),
      rect(left + column * size, top, size, side, "faint", { key: "columns", style: "stroke: var(--one)" }),
      rect(part, under + row * size, deep, size, look, { key: "tile a", class: `held ${look}` }),
      rect(left + column * size, top + part, size, deep, look, { key: "tile b", class: `held ${look}` }),
      ...upTo(blocks * blocks - 1).map((block) => {
        const is = block === state.block, pick = () => set({ ...state, block, playing: false, refused: null });
        return rect(left + (block % blocks) * size, under + Math.floor(block / blocks) * size, size, size, is ? "good" : "", { key: `${tile} block ${block}`, onclick: pick, style: is ? null : "fill: var(--paper)" });
      }),
      small("inset", 0, top - 6, "strong", words("a block of out")),
      rect(0, top, side, side, "good", { key: "block", style: "fill: var(--paper)" }),
      ...rows.map((down, p) => h("path", { key: `${tile} ${sums} row ${p}`, class: `one ${seen}`, d: `M0 ${top + down + cell / 2}h${side}`, style: "stroke-width: 1", "stroke-dasharray": "3 3" })),
      ...columns.map((right, q) => h("path", { key: `${tile} ${sums} column ${q}`, class: `one ${seen}`, d: `M${right + cell / 2} ${top}v${side}`, style: "stroke-width: 1", "stroke-dasharray": "3 3" })),
      ...rows.flatMap((down, p) => columns.map((right, q) => rect(right, top + down, cell, cell, "good", { key: `${tile} ${sums} sum ${p} ${q}`, class: "sum good", style: "fill: var(--good)" }))),
      small("sums", 0, under + side + 16, "quiet", words("{0} threads, sums of one: {1}", (tile / sums) ** 2, sums * sums)),
      small("held", narrow ? 0 : left, under + side + (narrow ? 34 : 16), "quiet", words("in shared memory: {0} KiB", at ? (2 * tile * data.depth * 4) / 1024 : 0)),
      small("global", x, y, "strong", words("loads from global memory")),
      ...bar("naive", y + 24, words("naive"), naive * 32, data.naive.at(-1) * 32, "bad", scale, kiB(naive)),
      ...bar("tiled", y + 64, words("in tiles"), bytes * 32, allSectors * 32, "one", scale, kiB(bytes)),
      small("shared", x, y + 112, "strong", words("wavefronts of shared memory")),
      ...bar("waves", y + 134, words("in tiles"), waves, allStored + allRead, "two", wave, many(waves)),
      small("whole", x, y + 184, "strong", words("in the whole product")),
      ...[[words("FLOPs for each byte"), flops(allSectors)], [words("by the naive kernel"), flops(data.naive.at(-1))], [words("products for each wavefront"), data.n ** 3 / (allStored + allRead)]].flatMap(([title, value], i) => [
        small(`of ${i}`, x, y + 206 + i * 18, "", title), small(`is ${i}`, x + span, y + 206 + i * 18, "code end", digits(value))]),
    ];
  }

  const controls = (state, data, set) => [
    player({ at: state.at, last: last(data), playing: state.playing }, (at, playing) => set({ ...state, at, playing, refused: null })),
    oneOf(words("tile:"), TILES.map((tile) => toggle(tile, tile === state.tile, () => set(tiled({ ...state, tile }, data))))),
    oneOf(words("sums:"), SUMS.map((sums) => {
      const fits = allowed(state, data).includes(sums), press = () => set({ ...state, playing: false, ...(fits ? { sums, refused: null } : { refused: sums }) });
      return button(`${sums} × ${sums}`, press, { "aria-pressed": String(sums === summed(state, data)), "aria-disabled": fits ? null : true });
    })),
    keyed("block", slider(words("block:"), 0, across(state, data) ** 2 - 1, state.block, (block) => set({ ...state, block, playing: false, refused: null }))),
  ];

  function say(state, data) {
    const { tile, at, refused } = state, sums = summed(state, data), { loaded, used, end } = measured(state, data), tiles = last(data) / 2;
    if (refused > sums) return words("{0} × {0} sums of a thread leave {1} threads for a tile of {2} × {2}, fewer than the 32 of a warp. A thread has {3} × {3} sums.", refused, (tile / refused) ** 2, tile, sums);
    if (refused) return words("{0} × {0} sums of a thread need {1} threads for a tile of {2} × {2}, more than the 1,024 of a block. A thread has {3} × {3} sums.", refused, grouped((tile / refused) ** 2), tile, sums);
    if (at === 0) return words("A product of 128 × 128 matrices, in {0} blocks of {1} threads. Each block computes {2} × {2} elements.", across(state, data) ** 2, (tile / sums) ** 2, tile);
    if (at % 2) return words("Tile {0} of {1} is loaded: the block copies {2} × 32 numbers of a and 32 × {2} of b to shared memory. Every block does the same.", loaded, tiles, tile);
    const each = data.n ** 3 / (end[1] + end[2]);
    if (at === last(data)) return words("The sums are complete: {0} times fewer bytes than the naive kernel, and {1} products for each wavefront.", digits(data.naive.at(-1) / end[0]), digits(each));
    if (sums === 1) return words("Tile {0} of {1} is used: in each of 32 rounds, a thread reads 1 number of a and 1 of b, and adds 1 product to its sum.", used, tiles);
    return words("Tile {0} of {1} is used: in each of 32 rounds, a thread reads {2} numbers of a and {2} of b, and adds {3} products to its sums.", used, tiles, sums, sums * sums);
  }

  const tick = (state, data) => (state.playing && state.at < last(data) ? [900, { ...state, at: state.at + 1 }] : []);
  const address = fields((state, data) => [["tile", TILES], ["sums", SUMS], ["block", upTo(across(state, data) ** 2 - 1)], ["at", upTo(last(data))]]);

  figure("tiles", { start, draw, tall, controls, say, tick, ...address });
})();
