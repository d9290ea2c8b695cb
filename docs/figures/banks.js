// Banks: which of the 32 banks of shared memory the lanes of a warp ask for, and in which wavefront each lane is served.
(() => {
  const LANES = upTo(31), BANKS = 32, HIGH = 288; // HIGH is that of a bank in the picture
  const WIDE = { left: 44, bank: 19, lanes: 32, top: 84, told: [652, 12] }, NARROW = { left: 38, bank: 10, lanes: 16, top: 128, told: [358, 28] };

  const start = () => ({ type: "float", stride: 8, offset: 0, lane: 5 });
  const element = ({ stride, offset }, lane) => offset + lane * stride;
  const measured = (state, data) => ({
    size: data.bytes[state.type], count: data.wavefronts[state.type][state.stride][state.offset], least: data.wavefronts[state.type][1][0] });

  // The first bank and the wavefront of each lane. 128 bytes go together, so that is 32, 16 or 8 lanes, and of one address twice
  // as many. A bank serves its words one after another, and a word once for all lanes that want it.
  function served(state, data) {
    const { size } = measured(state, data), together = Math.min(128 / size * (state.stride ? 1 : 2), 32), lanes = [];
    for (let first = 0, wavefronts = 0; first < 32; first += together) {
      const queues = upTo(BANKS - 1).map(() => []);
      for (const lane of LANES.slice(first, first + together)) {
        const bank = (element(state, lane) * size / 4) % BANKS, queue = queues[bank];
        if (!queue.includes(element(state, lane))) queue.push(element(state, lane));
        lanes.push({ bank, wavefront: wavefronts + queue.indexOf(element(state, lane)) });
      }
      wavefronts += Math.max(...queues.map((queue) => queue.length));
    }
    return lanes;
  }

  const tall = () => NARROW.top + HIGH + 30;

  function draw(state, data, set, narrow) {
    const { left, bank: width, lanes, top, told } = narrow ? NARROW : WIDE, { size, count, least } = measured(state, data);
    const all = served(state, data), chosen = all[state.lane], high = Math.min(36, HIGH / count), across = (size / 4) * width;
    const step = (BANKS * width) / lanes, box = (lane) => [left + (lane % lanes) * step, told[1] + 8 + Math.floor(lane / lanes) * 28];
    const place = ({ bank, wavefront }) => [left + bank * width, top + wavefront * high], same = (one, other) => `${place(one)}` === `${place(other)}`;
    const below = box(31)[1] + 22; // the line of a lane above goes between the lanes below
    const [x, y] = box(state.lane), way = y + 22 < below ? `M${x + step - 1} ${y + 22}V${below}` : `M${x + step / 2 - 1} ${y + 22}`, [to, down] = place(chosen), every = high < 12 ? 8 : 1;
    return [
      small("lanes", left, 12, "quiet", words("the 32 lanes of a warp")),
      ...LANES.map((lane) => {
        const pick = () => set({ ...state, lane });
        return moved(`lane ${lane}`, ...box(lane), { onclick: pick, onpointerenter: (event) => { if (event.movementX || event.movementY) pick(); } },
          rect(0, 0, step - 2, 22, lane === state.lane ? "two" : "one", { rx: 3 }), small("number", step / 2 - 1, 15, "middle", lane));
      }),
      small("address", ...told, "code two end", words("lane {0}: element {1}, bank {2}, wavefront {3}", state.lane, `${narrow ? "" : `${state.offset} + ${state.lane}·${state.stride} = `}${element(state, state.lane)}`, chosen.bank, chosen.wavefront)),
      small("banks", left - 6, top - 8, "quiet end", words("bank")),
      ...upTo(BANKS - 1).map((bank) => rect(left + bank * width, top, width - 1, HIGH, "ground", { key: `bank ${bank}` })),
      ...upTo(BANKS - 1).filter((bank) => !narrow || bank % 4 === 0).map((bank) => small(`number ${bank}`, left + bank * width + width / 2, top - 8, "quiet middle", bank)),
      ...upTo(count - 1).filter((row) => row % every === 0).map((row) => small(`wavefront ${row}`, left - 6, top + row * high + high / 2 + 4, "quiet end", row)),
      ...LANES.map((lane) => {
        const sharing = all.filter((other) => same(other, all[lane])).length, text = sharing === 32 ? words("all") : sharing > 1 ? `×${sharing}` : lane;
        const seen = all.findLastIndex((other) => same(other, all[lane])) === lane && high >= 12 && across >= 16;
        return moved(`served ${lane}`, ...place(all[lane]), { class: "served" },
          rect(0, 0, across - 1, high - 1, same(chosen, all[lane]) ? "two" : "one"), ...(seen ? [small("number", across / 2 - 0.5, high / 2 + 4, "middle", text)] : []));
      }),
      h("path", { key: "way", class: "two", "stroke-dasharray": "3 3", d: `${way}L${to + across / 2} ${down}` }),
      small("count", left, top + HIGH + 20, "", words("wavefronts: {0}, at the least: {1}", count, Math.min(least, count))),
    ];
  }

  const controls = (state, data, set) => [
    [["stride", words("stride:"), 33], ["offset", words("offset:"), 8], ["lane", words("lane:"), 31]].map(([field, title, most]) =>
      keyed(field, slider(title, 0, most, state[field], (value) => set({ ...state, [field]: value })))),
    oneOf(words("type:"), Object.keys(data.bytes).map((type) => toggle(h("code", {}, type), type === state.type, () => set({ ...state, type })))),
  ];

  function say(state, data) {
    const { size, count, least } = measured(state, data), asked = new Set(served(state, data).map(({ bank }) => bank)).size * (size / 4);
    if (state.stride === 0) return words("All lanes read one element. A bank sends a word to all lanes that want it, so there is no conflict.");
    if (count === 32 && size === 4) return words("All lanes ask for one bank, and it sends one element after another: 32 wavefronts. Try a stride that is one larger.");
    if (count > least) return words("The lanes ask for only {0} of the 32 banks, so lanes wait: {1} wavefronts instead of {2}.", asked, count, least);
    if (size === 4) return words("Each lane asks for a bank of its own: one wavefront, and no conflict.");
    return words("A wavefront carries 128 bytes, and the warp asks for {0}. So {1} wavefronts are the least, and there is no conflict.", 32 * size, least);
  }

  const address = fields((_, data) => [["type", Object.keys(data.bytes)], ["stride", upTo(33)], ["offset", upTo(8)], ["lane", LANES]]);

  figure("banks", { start, draw, tall, controls, say, ...address });
})();
