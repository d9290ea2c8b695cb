// The frame of a moving figure. A figure is a state, a picture that is drawn from it, controls that make the next state, and one
// sentence that says what is seen:
//
//   figure("strides", {
//     start: (data, dataset) => state, // the dataset of the figure element: where it stands may decide how it begins
//     draw: (state, data, set) => [svg nodes],
//     controls: (state, data, set) => [html nodes],
//     say: (state, data) => "what is seen now",
//     tick: (state, data) => [milliseconds, next state] or nothing,
//   });
//
// A state is never changed: `set(next)` shows another one. A node is made by `h(tag, attributes, ...children)`; nodes with the
// same `key` are the same element, so a style sheet can move it from place to place. `press` makes any node a button. A figure
// that plays has `player`'s controls, and its `tick` goes on while the state says so.

const h = (tag, attributes = {}, ...children) => ({ tag, attributes, children: children.flat().filter((each) => each != null) });

const button = (label, press, more = {}) => h("button", { type: "button", press, ...more }, label);
const toggle = (label, on, press) => button(label, press, { "aria-pressed": String(on) });
const choice = (label, options, value, choose) =>
  h("label", {}, label, h("select", { oninput: (event) => choose(event.target.value) },
    options.map((each) => h("option", { value: each, selected: each === value ? "" : null }, each))));
const slider = (label, least, most, value, choose) =>
  h("label", {}, `${label} ${value}`,
    h("input", { type: "range", min: least, max: most, value, "aria-label": label, oninput: (event) => choose(+event.target.value) }));
const guesses = ({ tried, right }) => (tried ? `Your guesses: ${right} of ${tried} right` : "");
const keyed = (key, node) => ({ ...node, attributes: { ...node.attributes, key } });

// Play or pause, step, back, and a slider, for the steps from `first` to `last`. It plays from 0 on. `go(step, playing)` shows one.
function player({ at, first = 0, last, playing, play = "play", scrub = "steps:" }, go) {
  const running = playing && at < last;
  return [
    button(running ? "pause" : play, () => go(running ? at : Math.max(at % last, 0), !running), { key: "play", class: "first" }),
    button("step", () => go(at + 1, false), { key: "step", disabled: at === last ? "" : null }),
    button("back", () => go(at - 1, false), { key: "back", disabled: at === first ? "" : null }),
    keyed("scrub", slider(scrub, 0, last - first, at - first, (place) => go(place + first, false))),
  ];
}

const figure = (() => {
  const NAMESPACE = "http://www.w3.org/2000/svg";

  function made(node, parent) {
    const inSvg = node.tag === "svg" || parent.namespaceURI === NAMESPACE;
    return inSvg ? document.createElementNS(NAMESPACE, node.tag) : document.createElement(node.tag);
  }

  function update(parent, nodes) {
    const old = new Map([...parent.childNodes].map((child) => [child.key, child]));
    nodes.forEach((node, place) => {
      const text = typeof node !== "object";
      const key = text ? `text${place}` : (node.attributes.key ?? `${node.tag}${place}`);
      let child = old.get(key);
      old.delete(key);
      if (!child) {
        child = text ? document.createTextNode("") : made(node, parent);
        child.key = key;
      }
      if (parent.childNodes[place] !== child) parent.insertBefore(child, parent.childNodes[place] ?? null);
      if (!text) dress(child, node);
      else if (child.data !== String(node)) child.data = node;
    });
    for (const child of [...parent.childNodes].slice(nodes.length)) child.remove();
  }

  function dress(element, node) {
    const { key, press, ...attributes } = node.attributes;
    element.onclick = press && !attributes.disabled ? press : null;
    if (press && node.tag !== "button") {
      attributes.role = "button";
      attributes.tabindex ??= 0;
      element.onkeydown = (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        press();
      };
    }
    for (const { name } of [...element.attributes]) if (attributes[name] == null) element.removeAttribute(name);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) element[name] = value;
      else if (value != null && element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
    }
    update(element, node.children);
    if (node.tag === "select") element.value = node.children.find((each) => each.attributes.selected != null)?.attributes.value;
    if (node.tag === "input") element.value = attributes.value;
  }

  function mount(place, { start, draw, controls, say, tick }) {
    const data = JSON.parse(place.querySelector("script").textContent);
    const svg = place.querySelector("svg");
    const panel = document.createElement("div");
    const said = document.createElement("p");
    panel.className = "controls";
    said.className = "said";
    panel.setAttribute("role", "group");
    panel.setAttribute("aria-label", "Controls of the figure");
    svg.before(panel);
    svg.after(said);
    svg.replaceChildren(...svg.querySelectorAll(":scope > title"));
    svg.append(document.createElementNS(NAMESPACE, "g"));
    svg.setAttribute("role", "group");
    let waiting;
    function set(state) {
      clearTimeout(waiting);
      update(svg.lastChild, draw(state, data, set));
      update(panel, controls(state, data, set));
      const words = say(state, data);
      const [after, next] = tick?.(state, data) ?? [];
      said.setAttribute("aria-live", next ? "off" : "polite"); // what plays is not read aloud at each step
      if (said.textContent !== words) said.textContent = words;
      if (next) waiting = setTimeout(() => set(next), after);
    }
    set(start(data, place.dataset));
    place.classList.add("moves");
  }

  return (name, parts) => {
    for (const place of document.querySelectorAll(`[data-figure="${name}"]:not(.moves)`)) mount(place, parts);
  };
})();
