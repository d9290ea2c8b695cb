// Fusion: the reader fuses and splits the nodes of a small graph, and sees loops, memory and the bytes that move.
(() => {
  const LEFT = 86, WIDE = 124, HIGH = 44, PITCH = 88, MEMORY = 224, CODE = 378, LINE = 12.4, BARS = 476;

  // grouping: the groups, each as the digits of its nodes. refused: the pair that was tried last.
  const start = () => ({ program: null, grouping: null, refused: null, tries: 0, right: 0 });
  const shown = (state, data) => data[state.program ?? Object.keys(data)[0]];
  const now = (state, data) => state.grouping ?? shown(state, data).start;
  const of = (grouping, node) => grouping.split(" ").find((group) => group.includes(node));
  const y = (node) => 30 + node * PITCH;
  const together = (grouping, [a, b]) => of(grouping, a) === of(grouping, b);

  // A pair is fused: its groups become one. Or split: the later nodes of its group get a group of their own.
  function changed(state, data, place) {
    const [a, b] = shown(state, data).pairs[place], grouping = now(state, data), one = of(grouping, a), other = of(grouping, b);
    const rest = grouping.split(" ").filter((group) => group !== one && group !== other), nodes = [...one];
    const groups = one === other ? [nodes.filter((each) => each < b).join(""), nodes.filter((each) => each >= b).join("")] : [[...one, ...other].sort().join("")];
    return [[...rest, ...groups].sort().join(" "), groups];
  }

  function pressed(state, data, place) {
    const [grouping] = changed(state, data, place), program = shown(state, data), right = grouping in program.states;
    const counted = together(now(state, data), program.pairs[place]) ? state : { ...state, tries: state.tries + 1, right: state.right + right };
    return right ? { ...counted, grouping, refused: null } : { ...counted, refused: place };
  }

  function draw(state, data, set) {
    const program = shown(state, data), grouping = now(state, data), scene = program.states[grouping], name = state.program;
    const boxes = grouping.split(" ").filter((group) => group.length > 1).map((group) => {
      const first = +group[0], last = +group.at(-1);
      return h("rect", { key: `${name} group ${group}`, x: LEFT - 7, y: y(first) - 7, width: WIDE + 14, height: y(last) - y(first) + HIGH + 14, rx: 8, class: "one" });
    });
    const nodes = program.nodes.flatMap(([title, kind, buffer, size], i) => {
      const reused = scene.fates[i].startsWith("reuses"), gone = !reused && !scene.fates[i].includes("memory");
      return [
        h("g", { key: `${name} node ${i}`, transform: `translate(${LEFT} ${y(i)})` }, h("rect", { width: WIDE, height: HIGH, rx: 5 }),
          h("text", { x: WIDE / 2, y: 19, class: "middle strong" }, title), h("text", { x: WIDE / 2, y: 36, class: "middle small quiet" }, kind)),
        h("g", { key: `${name} buffer ${i}`, transform: `translate(${MEMORY} ${y(i)})` },
          h("rect", { width: 140, height: HIGH, rx: 2, class: gone ? "ground" : reused ? "good" : "two" }),
          h("text", { x: 7, y: 18, class: `small ${gone ? "quiet" : ""}` }, gone ? `${buffer}: no memory` : `${buffer}: ${size}`), h("text", { x: 7, y: 35, class: "small" }, scene.fates[i])),
      ];
    });
    const pairs = program.pairs.map((pair, place) => {
      const [a, b] = pair, next = b === a + 1, fused = together(grouping, pair), refused = state.refused === place;
      const [x, middle] = next ? [LEFT + WIDE / 2, (y(a) + HIGH + y(b)) / 2] : [34, (y(a) + y(b) + HIGH) / 2];
      const word = refused ? "✗ refused" : fused ? "split" : "fuse";
      return h("g", { key: `${name} pair ${a} ${b}`, press: () => set(pressed(state, data, place)), "aria-label": `${word} ${program.nodes[a][0]} and ${program.nodes[b][0]}` },
        next ? null : h("path", { d: `M${LEFT - 8} ${y(a) + HIGH / 2}H34V${y(b) + HIGH / 2}H${LEFT - 8}` }),
        h("rect", { x: x - 34, y: middle - 20, width: 68, height: 40, opacity: 0 }), // a finger needs more than the eye
        h("rect", { x: x - 34, y: middle - 10, width: 68, height: 20, rx: 10, class: refused ? "bad" : fused ? "one" : "ground", style: refused || fused ? null : "stroke: var(--line)" }),
        h("text", { x, y: middle + 4, class: `middle small ${refused ? "bad" : ""}` }, word));
    });
    let at = 30;
    const code = grouping.split(" ").flatMap((group, place) => {
      const title = [...group].map((node) => program.nodes[node][0]).join(", ");
      const lines = program.loops[group].map((line, i) =>
        h("text", { key: `${name} ${group} ${i}`, x: CODE + 8 + 6.2 * line.search(/\S/), y: at + 15 + i * LINE, class: `code ${/^ *for/.test(line) ? "one" : ""}`, style: "font-size: 10.2px" }, line.trim()));
      const top = at - 4;
      at += lines.length * LINE + 20;
      return [h("text", { key: `title ${place}`, x: CODE, y: top + 4, class: "small quiet" }, `${place + 1}. ${title}`), ...lines];
    });
    const bytes = (each) => program.states[each].bytes, alone = program.nodes.map((_, i) => i).join(" ");
    const bars = [["each alone", alone, ""], ["yours", grouping, "one"], ["Inductor's", program.best, "good"]].flatMap(([label, each, kind], i) => [
      h("text", { key: `label ${i}`, x: 0, y: BARS + 13 + i * 24, class: "small" }, label),
      h("rect", { key: `bar ${i}`, x: 72, y: BARS + i * 24, width: (200 * bytes(each)) / bytes(alone), height: 18, class: kind }),
      h("text", { key: `bytes ${i}`, x: 282, y: BARS + 13 + i * 24, class: "small code" }, bytes(each).toLocaleString("en")),
    ]);
    return [
      h("text", { key: "nodes", x: LEFT, y: 12, class: "small quiet" }, "nodes, kernels in blue"), h("text", { key: "memory", x: MEMORY, y: 12, class: "small quiet" }, "their results"),
      h("text", { key: "cpp", x: CODE, y: 12, class: "small quiet" }, "what runs, in rushlight's C++"),
      ...boxes, ...nodes, ...pairs, ...code, h("text", { key: "bytes", x: 0, y: BARS - 8, class: "small quiet" }, "bytes that move"), ...bars,
      h("text", { key: "tries", x: 0, y: BARS + 92, class: "small" }, state.tries ? `Your tries: ${state.right} of ${state.tries} allowed` : ""),
    ];
  }

  function controls(state, data, set) {
    const program = shown(state, data), names = Object.keys(data), alone = program.nodes.map((_, i) => i).join(" ");
    return [
      button("split all", () => set({ ...state, grouping: alone, refused: null })),
      button("Inductor's choice", () => set({ ...state, grouping: program.best, refused: null })),
      choice("program", names, state.program ?? names[0], (name) => set({ ...start(), program: name })),
    ];
  }

  function say(state, data) {
    const program = shown(state, data), grouping = now(state, data), scene = program.states[grouping];
    if (state.refused == null) return grouping === program.best ? `Inductor's choice: ${scene.say}` : `${scene.say} Which neighbours may share a kernel? Press "fuse".`;
    const [, , reason] = program.pairs[state.refused], [, groups] = changed(state, data, state.refused);
    const why = groups.map((group) => program.why[group]).find(Boolean);
    return `Refused. ${why}${reason ? ` Torch's reason for the two nodes: "${reason}".` : ""}`;
  }

  figure("fusion", { start, draw, controls, say });
})();
