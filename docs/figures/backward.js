// A backward pass: the engine's counters, its ready queue, its gradient buffers, and the saved tensors that it frees.
(() => {
  const BOX = [122, 70];
  // The nodes go to the right, and gradients are below them. Or the nodes go down, and gradients are beside them.
  const ACROSS = { x: (node) => node[4] * 154, y: (node) => 34 + node[5] * 142, panel: 304, queue: [330, 304] };
  const DOWN = { x: (node) => [1, 88, 235][node[5] * 2], y: (node) => 18 + node[4] * 98, panel: 610, queue: [0, 504] };
  const tall = (state, data) => 600 + 17 * shown(state, data).code.length;

  // guess: true is the right node, which has run then, and a number is a node that was not right.
  const start = () => ({ program: null, frame: 2, playing: false, guess: null, tried: 0, right: 0 });
  const shown = (state, data) => data[state.program ?? Object.keys(data)[0]];
  const ranAt = (pass, i) => { const at = pass.frames.findIndex((frame) => frame.runs === i); return at < 0 ? Infinity : at; };
  const name = (node) => `${node[0]} ${words(node[1])}`;
  const height = (node) => (node[2] < 0 ? words("highest number") : words("number {}", node[2]));

  // What a node is doing: a class, and words.
  function condition(pass, state, i) {
    const frame = pass.frames[state.frame], waits = frame.waits[i], at = ranAt(pass, i);
    if (at === state.frame && frame.error) return ["bad", words("is refused")];
    if (at <= state.frame) return [at === state.frame ? "one" : "ground", words("has run")];
    return waits ? ["", words("waits for {}", waits)] : ["two", words("is ready")];
  }

  function guess(state, data, i) {
    const pass = shown(state, data), next = pass.frames[state.frame + 1], right = next?.runs === i;
    if (!next) return { ...state, guess: i };
    return { ...state, playing: false, tried: state.tried + 1, right: state.right + right, frame: state.frame + right, guess: right || i };
  }

  // An edge from a box to another one, and its tip. Two edges between the same nodes are `off` by a little.
  function edge({ x, y }, narrow, a, b, off) {
    if (narrow) {
      const [x1, y1, x2, y2] = [x(a) + 92 + off, y(a) + BOX[1], x(b) + 92 + off, y(b) - 7], middle = (y1 + y2) / 2;
      return [`M${x1} ${y1}C${x1} ${middle} ${x2} ${middle} ${x2} ${y2}`, `M${x2} ${y2 + 6}l-4 -8h8z`];
    }
    const [x1, y1, x2, y2] = [x(a) + BOX[0], y(a) + BOX[1] / 2 + off, x(b) - 7, y(b) + BOX[1] / 2 + off], middle = (x1 + x2) / 2;
    return [`M${x1} ${y1}C${middle} ${y1} ${middle} ${y2} ${x2} ${y2}`, `M${x2 + 6} ${y2}l-8 -4v8z`];
  }

  // Where a gradient of a node is. On the right there is no room beside a node but on its left.
  function gradient({ x, y }, narrow, node, slot) {
    if (!narrow) return [x(node) + BOX[0] / 2, y(node) + BOX[1] + 16 + slot * 16, "middle"];
    return node[5] === 1 ? [x(node) - 3, y(node) + 50 + slot * 16, "end"] : [x(node) + BOX[0] + 6, y(node) + 16 + slot * 16, ""];
  }

  function draw(state, data, set, narrow) {
    const pass = shown(state, data), frame = pass.frames[state.frame], look = narrow ? DOWN : ACROSS, { x, y, panel, queue: [left, top] } = look;
    const edges = pass.edges.map(([from, to], place) => {
      const twins = pass.edges.map((edge, each) => (String(edge) === String([from, to]) ? each : -1)).filter((each) => each >= 0);
      const [way, tip] = edge(look, narrow, pass.nodes[from], pass.nodes[to], (twins.indexOf(place) - (twins.length - 1) / 2) * 22);
      const kind = from === frame.runs && !frame.error ? "one" : "";
      return h("g", { key: `${state.program} edge ${place}` }, h("path", { d: way, class: kind }), h("path", { d: tip, class: `shape ${kind}` }));
    });
    const nodes = pass.nodes.map((node, i) => {
      const [kind, doing] = condition(pass, state, i), gone = ranAt(pass, i) <= state.frame && !(frame.error && ranAt(pass, i) === state.frame);
      const saved = node[3] ? (gone ? words("freed {}", node[3]) : words("saves {}", node[3])) : "";
      const line = (place, text, more) => small(`line ${place}`, BOX[0] / 2, place, `middle ${more}`, `${text} `); // the button's name is all its lines
      const status = narrow ? small("status", 2, -5, kind === "ground" ? "quiet" : kind, `${doing} `) : line(-7, doing, kind === "ground" ? "quiet" : kind);
      return moved(`${state.program} node ${i}`, x(node), y(node), { press: () => set(guess(state, data, i)) },
        rect(0, 0, BOX[0], BOX[1], kind, { rx: 5 }), status, line(17, node[0], "strong"), line(33, words(node[1]), "code quiet"),
        line(48, height(node), ""), line(63, saved, gone ? "quiet" : ""));
    });
    const count = {}, tokens = [], at = (node, slot) => gradient(look, narrow, node, slot);
    pass.frames.forEach((sender, step) => sender.tokens.forEach(([to, text, total], place) => {
      const slot = (count[to] = (count[to] ?? -1) + 1), node = pass.nodes[to], [left, top, anchor] = at(node, slot), [far, high] = at(pass.nodes[sender.runs ?? to], 0);
      const sent = step <= state.frame, here = sent && ranAt(pass, to) >= state.frame, used = ranAt(pass, to) === state.frame ? "quiet" : "one";
      tokens.push(small(`${state.program} token ${step} ${place}`, 0, 0, `${anchor} code ${here ? used : "gone"}`, `${slot ? "+ " : ""}${words(text)}`,
        { transform: sent ? `translate(${left} ${top})` : `translate(${far} ${high})` }));
      if (total && here) tokens.push(small(`sum ${step} ${place}`, left, top + 16, `${anchor} code strong ${used}`, `= ${words(total)}`));
    }));
    const grads = pass.frames.slice(0, state.frame + 1).filter((each) => each.grad).map((each) => {
      const [left, top, anchor] = at(pass.nodes[each.runs], each === frame ? 1 : 0);
      return small(each.grad, left, top, `${anchor} code good strong`, each.grad);
    });
    const queue = frame.queue.map((i, place) => small(`queue ${place}`, left, top + (narrow ? 36 : 20) + place * 18, place ? "" : "strong one",
      `${place ? "" : "▶ "}${name(pass.nodes[i])}, ${height(pass.nodes[i])}`));
    return [
      ...edges, ...nodes, ...tokens, ...grads,
      ...pass.code.map((line, i) => small(`code ${i}`, 0, panel + i * 17, `code ${i ? (frame.runs === i - 1 ? "one strong" : "") : "quiet"}`, words(line))),
      ...(pass.nodes[frame.runs] ? paragraph("ready", left, top, "small quiet", words("The ready queue before this step. The highest number is taken:"), narrow ? 357 : 420) : []),
      ...queue, small("score", left, top + 85, "", guesses(state)),
    ];
  }

  function controls(state, data, set) {
    const names = Object.keys(data), go = (frame, playing) => set({ ...state, frame, playing, guess: null });
    return [
      player({ at: state.frame, last: shown(state, data).frames.length - 1, playing: state.playing }, go),
      keyed("program", choice(words("program"), names, state.program ?? names[0], (program) => set({ ...start(), program, frame: 0 }))),
    ];
  }

  function say(state, data) {
    const pass = shown(state, data), frame = pass.frames[state.frame], next = pass.frames[state.frame + 1];
    const question = next ? ` ${words("Which node runs next? Press it, or press step.")}` : "";
    if (state.guess == null || state.guess === true) return `${praise(state.guess)}${words(frame.say)}${question}`;
    const [kind, doing] = condition(pass, state, state.guess), asked = name(pass.nodes[state.guess]), waits = frame.waits[state.guess];
    if (kind === "two") return words("Not {}: it is ready, but another node that is ready has a higher number.", asked) + question;
    if (kind) return words("Not {0}: it {1}.", asked, doing) + question;
    return (waits > 1 ? words("Not {0}: it waits for {1} more gradients.", asked, waits) : words("Not {}: it waits for 1 more gradient.", asked)) + question;
  }

  const tick = (state, data) => (state.playing && state.frame + 1 < shown(state, data).frames.length ? [1300, { ...state, frame: state.frame + 1 }] : []);

  const address = fields((state, data) => [["program", Object.keys(data)], ["frame", upTo(shown(state, data).frames.length - 1)]]);

  figure("backward", { start, draw, tall, controls, say, tick, ...address });
})();
