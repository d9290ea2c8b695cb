// A backward pass: the engine's counters, its ready queue, its gradient buffers, and the saved tensors that it frees.
(() => {
  const BOX = [122, 70], PITCH = 154, PANEL = 304;

  const start = () => ({ program: null, frame: 2, playing: false, guess: null, tried: 0, right: 0 });
  const shown = (state, data) => data[state.program ?? Object.keys(data)[0]];
  const x = (node) => node[4] * PITCH;
  const y = (node) => 34 + node[5] * 142;
  const ranAt = (pass, i) => { const at = pass.frames.findIndex((frame) => frame.runs === i); return at < 0 ? Infinity : at; };
  const name = (node) => `${node[0]} ${node[1]}`;

  // What a node is doing: a class, and words.
  function condition(pass, state, i) {
    const frame = pass.frames[state.frame], waits = frame.waits[i], at = ranAt(pass, i);
    if (at === state.frame) return frame.error ? ["bad", "is refused"] : ["one", "runs"];
    if (at < state.frame) return ["ground", "has run"];
    return waits ? ["", `waits for ${waits}`] : ["two", "is ready"];
  }

  function guess(state, data, i) {
    const pass = shown(state, data), next = pass.frames[state.frame + 1], right = next?.runs === i;
    if (!next) return { ...state, guess: i };
    const counted = { ...state, playing: false, tried: state.tried + 1, right: state.right + right };
    return right ? { ...counted, frame: state.frame + 1, guess: i } : { ...counted, guess: i };
  }

  function draw(state, data, set) {
    const pass = shown(state, data), frame = pass.frames[state.frame];
    const edges = pass.edges.map(([from, to], place) => {
      const twins = pass.edges.map((edge, each) => (String(edge) === String([from, to]) ? each : -1)).filter((each) => each >= 0);
      const off = (twins.indexOf(place) - (twins.length - 1) / 2) * 22, a = pass.nodes[from], b = pass.nodes[to];
      const [x1, y1, x2, y2] = [x(a) + BOX[0], y(a) + BOX[1] / 2 + off, x(b) - 7, y(b) + BOX[1] / 2 + off], middle = (x1 + x2) / 2;
      const kind = from === frame.runs && !frame.error ? "one" : "";
      return h("g", { key: `${state.program} edge ${place}` }, h("path", { d: `M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`, class: kind }),
        h("path", { d: `M${x2 + 6} ${y2}l-8 -4v8z`, class: `shape ${kind}` }));
    });
    const nodes = pass.nodes.map((node, i) => {
      const [kind, words] = condition(pass, state, i), gone = ranAt(pass, i) <= state.frame && !(frame.error && ranAt(pass, i) === state.frame);
      const saved = node[3] ? (gone ? `freed ${node[3]}` : `saves ${node[3]}`) : "";
      const line = (place, text, more) => h("text", { x: BOX[0] / 2, y: place, class: `middle small ${more}` }, `${text} `); // the button's name is all its lines
      return h("g", { key: `${state.program} node ${i}`, transform: `translate(${x(node)} ${y(node)})`, press: () => set(guess(state, data, i)) },
        h("rect", { width: BOX[0], height: BOX[1], rx: 5, class: kind }),
        line(-7, words, kind === "ground" ? "quiet" : kind), line(17, node[0], "strong"), line(33, node[1], "code quiet"),
        line(48, node[2] < 0 ? "highest number" : `number ${node[2]}`, ""), line(63, saved, gone ? "quiet" : ""));
    });
    const count = {}, tokens = [], center = (node) => x(node) + BOX[0] / 2, below = (node, slot) => y(node) + BOX[1] + 16 + slot * 16;
    pass.frames.forEach((sender, at) => sender.tokens.forEach(([to, text, total], place) => {
      const slot = (count[to] = (count[to] ?? -1) + 1), from = pass.nodes[sender.runs ?? to], node = pass.nodes[to];
      const here = at <= state.frame && ranAt(pass, to) >= state.frame;
      const used = ranAt(pass, to) === state.frame ? "quiet" : "one";
      tokens.push(h("text", { key: `${state.program} token ${at} ${place}`, class: `middle small code ${here ? used : "gone"}`,
        transform: at <= state.frame ? `translate(${center(node)} ${below(node, slot)})` : `translate(${center(from)} ${below(from, 0)})` }, `${slot ? "+ " : ""}${text}`));
      if (total && here) tokens.push(h("text", { key: `sum ${at} ${place}`, x: center(node), y: below(node, slot + 1), class: `middle small code strong ${used}` }, `= ${total}`));
    }));
    const grads = pass.frames.slice(0, state.frame + 1).filter((each) => each.grad).map((each) => {
      const node = pass.nodes[each.runs];
      return h("text", { key: each.grad, x: center(node), y: below(node, each === frame ? 1 : 0), class: "middle small code good strong" }, each.grad);
    });
    const running = pass.nodes[frame.runs];
    const queue = frame.queue.map((i, place) =>
      h("text", { key: `queue ${place}`, x: 330, y: PANEL + 20 + place * 18, class: `small ${place ? "" : "strong one"}` },
        `${place ? "" : "▶ "}${name(pass.nodes[i])}, ${pass.nodes[i][2] < 0 ? "highest number" : `number ${pass.nodes[i][2]}`}`));
    return [
      ...edges, ...nodes, ...tokens, ...grads,
      ...pass.code.map((line, i) => h("text", { key: `code ${i}`, x: 0, y: PANEL + i * 17, class: `small code ${i ? (frame.runs === i - 1 ? "one strong" : "") : "quiet"}` }, line)),
      h("text", { key: "queue", x: 330, y: PANEL, class: "small quiet" }, running ? "The ready queue before this step. The highest number is taken:" : ""),
      ...queue,
      h("text", { key: "score", x: 330, y: PANEL + 85, class: "small" }, guesses(state)),
    ];
  }

  function controls(state, data, set) {
    const names = Object.keys(data), go = (frame, playing) => set({ ...state, frame, playing, guess: null });
    return [
      ...player({ at: state.frame, last: shown(state, data).frames.length - 1, playing: state.playing }, go),
      keyed("program", choice("program", names, state.program ?? names[0], (program) => set({ ...start(), program, frame: 0 }))),
    ];
  }

  function say(state, data) {
    const pass = shown(state, data), frame = pass.frames[state.frame], next = pass.frames[state.frame + 1];
    const question = next ? " Which node runs next? Press it, or press step." : "";
    if (state.guess == null || state.guess === frame.runs) return `${state.guess == null ? "" : "Right. "}${frame.say}${question}`;
    const [kind, words] = condition(pass, state, state.guess), asked = name(pass.nodes[state.guess]);
    if (kind === "two") return `Not ${asked}: it is ready, but another node that is ready has a higher number.${question}`;
    return `Not ${asked}: it ${words}${kind ? "" : frame.waits[state.guess] > 1 ? " more gradients" : " more gradient"}.${question}`;
  }

  const tick = (state, data) => (state.playing && state.frame + 1 < shown(state, data).frames.length ? [1300, { ...state, frame: state.frame + 1 }] : []);

  figure("backward", { start, draw, controls, say, tick });
})();
