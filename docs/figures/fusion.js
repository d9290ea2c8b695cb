// Fusion: the reader fuses and splits the nodes of a small graph, and sees loops, memory and the bytes that move.
(() => {
  const LEFT = 80, WIDE = 124, HIGH = 44, PITCH = 88, NARROW_PITCH = 68, MEMORY = 214, LINE = 14;

  // grouping: the groups, each as the digits of its nodes. refused: the pair that was tried last. at: the nodes that were pressed last.
  const start = () => ({ program: null, grouping: null, refused: null, at: null, tries: 0, right: 0 });
  const shown = (state, data) => data[state.program ?? Object.keys(data)[0]];
  const now = (state, data) => state.grouping ?? shown(state, data).start;
  const of = (grouping, node) => grouping.split(" ").find((group) => group.includes(node));
  const bars = (state, data, pitch) => 44 + shown(state, data).nodes.length * pitch;

  // A wide picture has the code of all groups beside the nodes. A narrow one has it below them, of the groups of the nodes in `at`.
  function listed(state, data) {
    const grouping = now(state, data), [longest] = grouping.split(" ").sort((a, b) => b.length - a.length);
    return [...new Set([...(state.at ?? longest)].map((node) => of(grouping, node)))];
  }
  const length = (state, data) => listed(state, data).reduce((sum, group) => sum + shown(state, data).loops[group].length * LINE + 24, 0);
  const tall = (state, data) => bars(state, data, NARROW_PITCH) + 100 + length(state, data);
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
    const at = program.pairs[place].slice(0, 2), counted = together(now(state, data), at) ? state : { ...state, tries: state.tries + 1, right: state.right + right };
    return right ? { ...counted, at, grouping, refused: null } : { ...counted, at, refused: place };
  }

  function draw(state, data, set, narrow) {
    const program = shown(state, data), grouping = now(state, data), scene = program.states[grouping], name = state.program, pitch = narrow ? NARROW_PITCH : PITCH;
    const BARS = bars(state, data, pitch), [CODE, TOP] = narrow ? [0, BARS + 94] : [378, 12], y = (node) => 30 + node * pitch, groups = narrow ? listed(state, data) : grouping.split(" ");
    const boxes = grouping.split(" ").filter((group) => group.length > 1).map((group) => {
      const first = +group[0], last = +group.at(-1);
      return rect(LEFT - 7, y(first) - 7, WIDE + 14, y(last) - y(first) + HIGH + 14, "one", { key: `${name} group ${group}`, rx: 8 });
    });
    const nodes = program.nodes.flatMap(([title, kind, buffer, size], i) => {
      const reused = scene.fates[i].startsWith("reuses"), gone = !reused && !scene.fates[i].includes("memory");
      return [
        moved(`${name} node ${i}`, LEFT, y(i), { press: narrow && (() => set({ ...state, at: [i] })) }, rect(0, 0, WIDE, HIGH, "", { rx: 5 }),
          label("title", WIDE / 2, 19, `middle strong${narrow && groups.includes(of(grouping, i)) ? " one" : ""}`, title), small("kind", WIDE / 2, 36, "middle quiet", words(kind))),
        moved(`${name} buffer ${i}`, MEMORY, y(i), {}, rect(0, 0, 140, HIGH, gone ? "ground" : reused ? "good" : "two", { rx: 2 }),
          small("buffer", 7, 18, gone ? "quiet" : "", gone ? words("{}: no memory", buffer) : `${buffer}: ${words(size)}`), small("fate", 7, 35, "", words(scene.fates[i]))),
      ];
    });
    const pairs = program.pairs.flatMap((pair, place) => {
      const [a, b] = pair, next = b === a + 1, fused = together(grouping, pair), refused = state.refused === place;
      const [x, middle] = next ? [LEFT + WIDE / 2, (y(a) + HIGH + y(b)) / 2] : [34, (y(a) + y(b) + HIGH) / 2];
      const word = refused ? words("✗ refused") : fused ? words("split") : words("fuse");
      const edge = next ? `M${x} ${y(a) + HIGH}V${y(b)}` : `M${LEFT - 8} ${y(a) + HIGH / 2}H34V${y(b) + HIGH / 2}H${LEFT - 8}`;
      return [h("path", { key: `${name} edge ${a} ${b}`, d: edge }), h("g", { key: `${name} pair ${a} ${b}`, class: "control", press: () => set(pressed(state, data, place)), "aria-label": words("{0} {1} and {2}", word, program.nodes[a][0], program.nodes[b][0]) },
        rect(x - 34, middle - 20, 68, 40, "", { opacity: 0, key: "finger" }), // a finger needs more than the eye
        rect(x - 34, middle - 10, 68, 20, refused ? "bad" : fused ? "one" : "ground", { rx: 10, style: refused || fused ? null : "stroke: var(--line)" }),
        small("word", x, middle + 4, `middle ${refused ? "bad" : ""}`, word))];
    });
    let at = TOP + 18;
    const code = grouping.split(" ").flatMap((group, place) => {
      if (!groups.includes(group)) return [];
      const title = [...group].map((node) => program.nodes[node][0]).join(", "), top = at;
      const lines = program.loops[group].map((line, i) =>
        small(`${name} ${group} ${i}`, CODE + 8 + 7.2 * line.search(/\S/), top + 16 + i * LINE, `code ${/^ *for/.test(line) ? "one" : ""}`, line.trim()));
      at += lines.length * LINE + 24;
      return [small(`title ${place}`, CODE, top, "quiet", `${place + 1}. ${title}`), ...lines];
    });
    const bytes = (each) => program.states[each].bytes, alone = program.nodes.map((_, i) => i).join(" ");
    const measures = [[words("each alone"), alone, ""], [words("yours"), grouping, "one"], [words("Inductor's"), program.best, "good"]].flatMap(([title, each, kind], i) => [
      small(`label ${i}`, 0, BARS + 13 + i * 24, "", title),
      rect(72, BARS + i * 24, (200 * bytes(each)) / bytes(alone), 18, kind, { key: `bar ${i}` }),
      small(`bytes ${i}`, 282, BARS + 13 + i * 24, "code", grouped(bytes(each))),
    ]);
    return [
      narrow ? small("press", 0, 12, "quiet control", words("press a node for its code")) : small("nodes", LEFT - 7, 12, "quiet", words("nodes, kernels in blue")), small("memory", MEMORY, 12, "quiet", words("their results")),
      small("cpp", CODE, TOP, "quiet", words("what runs, in rushlight's C++")),
      ...boxes, ...nodes, ...pairs, ...code, small("bytes", 0, BARS - 8, "quiet", words("bytes that move")), ...measures,
      small("tries", narrow ? 358 : 0, BARS + (narrow ? -8 : 92), narrow ? "end" : "", state.tries ? words("Your tries: {0} of {1} allowed", state.right, state.tries) : ""),
    ];
  }

  function controls(state, data, set) {
    const program = shown(state, data), names = Object.keys(data), alone = program.nodes.map((_, i) => i).join(" ");
    return [
      [button(words("split all"), () => set({ ...state, grouping: alone, refused: null, at: null })),
        button(words("Inductor's choice"), () => set({ ...state, grouping: program.best, refused: null, at: null }))],
      choice(words("program"), names, state.program ?? names[0], (name) => set({ ...start(), program: name })),
    ];
  }

  function say(state, data) {
    const program = shown(state, data), grouping = now(state, data), scene = program.states[grouping];
    if (state.refused == null) return grouping === program.best ? words("Inductor's choice: {}", words(scene.say)) : `${words(scene.say)} ${words('Which neighbours may share a kernel? Press "fuse".')}`;
    const [, , reason] = program.pairs[state.refused], [, groups] = changed(state, data, state.refused);
    const why = groups.map((group) => program.why[group]).find(Boolean);
    return `${words("Refused.")} ${words(why)}${reason ? ` ${words('Torch\'s reason for the two nodes: "{}".', reason)}` : ""}`;
  }

  const address = fields((state, data) => [["program", Object.keys(data)], ["grouping", [shown(state, data).start, ...Object.keys(shown(state, data).states)]]]);

  figure("fusion", { start, draw, tall, controls, say, ...address });
})();
