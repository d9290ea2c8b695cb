// Warps and sectors: which sectors of memory the 32 lanes of a warp ask for, and how many bytes of them are used.
(() => {
  const LANES = upTo(31), SECTOR = 32, ROW = 512, ROWS = 16, PITCH = 19, HIGH = 15; // SECTOR and ROW in bytes
  const WIDE = { left: 44, byte: 38 / SECTOR, lanes: 32, top: 72, told: [652, 12] }, NARROW = { left: 38, byte: 20 / SECTOR, lanes: 16, top: 116, told: [358, 28] };

  const start = () => ({ dtype: "float32", stride: 32, offset: 0, lane: 5 });
  const element = ({ stride, offset }, lane) => offset + lane * stride;
  const measured = (state, data) => {
    const size = data.bytes[state.dtype], count = data.sectors[state.dtype][state.stride][state.offset];
    return { size, count, moved: count * SECTOR, used: size * new Set(LANES.map((lane) => element(state, lane))).size, least: data.sectors[state.dtype][1][0] };
  };
  const percent = (part, whole) => `${digits((100 * part) / whole)} %`;
  const tall = () => NARROW.top + ROWS * PITCH + 56;

  function draw(state, data, set, narrow) {
    const { left, byte, lanes, top, told } = narrow ? NARROW : WIDE, { size, count, moved: moves, used } = measured(state, data);
    const first = (lane) => size * element(state, lane), sector = (lane) => Math.floor(first(lane) / SECTOR);
    const place = (address) => [left + (address % ROW) * byte, top + Math.floor(address / ROW) * PITCH];
    const step = (ROW * byte) / lanes, box = (lane) => [left + (lane % lanes) * step, told[1] + 8 + Math.floor(lane / lanes) * 28];
    const below = box(31)[1] + 22; // the line of a lane above goes between the lanes below
    const [x, y] = box(state.lane), way = y + 22 < below ? `M${x + step - 1} ${y + 22}V${below}` : `M${x + step / 2 - 1} ${y + 22}`, [to, down] = place(first(state.lane)), wide = Math.max(size * byte, 1.5);
    const walls = upTo(ROWS - 1).flatMap((row) => upTo(ROW / SECTOR).map((i) => `M${left + i * SECTOR * byte} ${top + row * PITCH}v${HIGH}`));
    const scale = (narrow ? 94 : 340) / 1024, bar = (key, y, title, value, kind, text) => [
      small(`${key} title`, 0, y + 12, "", title), rect(left + 22, y, value * scale, HIGH, kind, { key }),
      small(`${key} bytes`, left + 28 + value * scale, y + 12, "code", text)];
    const end = top + ROWS * PITCH + 14;
    return [
      small("lanes", left, 12, "quiet", words("the 32 lanes of a warp")),
      ...LANES.map((lane) => {
        const pick = () => set({ ...state, lane });
        return moved(`lane ${lane}`, ...box(lane), { onclick: pick, onpointerenter: (event) => { if (event.movementX || event.movementY) pick(); } },
          rect(0, 0, step - 2, 22, lane === state.lane ? "two" : "one", { rx: 3 }), small("number", step / 2 - 1, 15, "middle", lane));
      }),
      small("address", ...told, "code two end", words("lane {0}: element {1}, sector {2}", state.lane, `${state.offset} + ${state.lane}·${state.stride} = ${element(state, state.lane)}`, sector(state.lane))),
      ...upTo(ROWS - 1).map((row) => rect(left, top + row * PITCH, ROW * byte, HIGH, "ground", { key: `row ${row}` })),
      ...[...new Set(LANES.map(sector))].map((each) =>
        rect(...place(each * SECTOR), SECTOR * byte, HIGH, each === sector(state.lane) ? "two" : "one", { key: `sector ${each}`, class: `asked ${each === sector(state.lane) ? "two" : "one"}` })),
      h("path", { key: "walls", d: walls.join("") }),
      small("byte", left - 6, top - 8, "quiet end", words("byte")),
      ...upTo(ROWS - 1).map((row) => small(`at ${row}`, left - 6, top + row * PITCH + 12, "quiet end", row * ROW)),
      h("path", { key: "way", class: "two", "stroke-dasharray": "3 3", d: `${way}L${to + wide / 2} ${down}` }),
      ...LANES.map((lane) => moved(`element ${lane}`, ...place(first(lane)), {},
        rect(0, 0, wide, HIGH, "", { style: `stroke: none; fill: var(--${lane === state.lane ? "two" : "one"})` }))),
      bar("moved", end, words("moved"), moves, "one", words("sectors: {0}, bytes: {1}", count, grouped(moves))),
      bar("used", end + 24, words("used"), used, "good", words("bytes: {0}, {1}", used, percent(used, moves))),
    ].flat();
  }

  const controls = (state, data, set) => [
    [["stride", words("stride:"), 32], ["offset", words("offset:"), 16], ["lane", words("lane:"), 31]].map(([field, title, most]) =>
      keyed(field, slider(title, 0, most, state[field], (value) => set({ ...state, [field]: value })))),
    oneOf(words("type:"), Object.keys(data.bytes).map((dtype) => toggle(h("code", {}, dtype), dtype === state.dtype, () => set({ ...state, dtype })))),
  ];

  function say(state, data) {
    const { count, moved: moves, used, least } = measured(state, data);
    if (state.stride === 0) return words("All lanes read one element: one sector moves, and {0} of its {1} bytes are used.", used, moves);
    if (count === least) return words("The lanes read neighbours: {0} sectors, the least for 32 elements of {1}. The request is coalesced.", count, state.dtype);
    if (state.stride === 1) return words("The lanes read neighbours, but the first is inside a sector. So the warp asks for {0} sectors instead of {1}.", count, least);
    if (count === 32) return words("Each lane asks for a sector of its own: {0} bytes move, and {1} of them are used.", grouped(moves), used);
    return words("The warp asks for {0} sectors, and {1} would hold its elements: {2} bytes move, and {3} are used.", count, least, moves, used);
  }

  const address = fields((_, data) => [["dtype", Object.keys(data.bytes)], ["stride", upTo(32)], ["offset", upTo(16)], ["lane", LANES]]);

  figure("warps", { start, draw, tall, controls, say, ...address });
})();
