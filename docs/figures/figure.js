// The frame of a moving figure: a state, a picture of it, controls that make the next state, and a sentence on it.
//
//   figure("strides", {
//     start: (data, dataset) => state, // of the figure's dataset, too
//     draw: (state, data, set, narrow) => [svg nodes],
//     tall: (state, data) => the height if narrow (358 wide),
//     controls: (state, data, set) => [[html nodes in sight with a narrow picture], ...others],
//     say: (state, data) => "what is seen now",
//     tick: (state, data) => [milliseconds, next state] or nothing,
//     write: (state, data) => [words], read: (words, data, first) => state, // in the address: `#strides=t,1.2`
//     touched: (next, state) => next, // what a reader's press also does
//     numbers: (state, data) => ({ key: text }), // for `<b data-strides="key">` in the page
//   });
//
// `set(next)` shows another state. `h(tag, attributes, ...children)` makes a node; nodes with the same `key` are one element, so a
// style sheet can move it. `press` makes a node a button, and `off` one that does nothing now. A part smaller than a finger has
// `onclick`, and a control does the same. The picture is narrow where the wide one does not fit.

const h = (tag, attributes = {}, ...children) => ({ tag, attributes, children: children.flat().filter((each) => each != null) });

const button = (label, press, more = {}) => h("button", { type: "button", press, ...more }, label);
const toggle = (label, on, press) => button(label, press, { "aria-pressed": String(on) });
const choice = (label, options, value, choose) =>
  h("label", {}, label, h("select", { oninput: (event) => choose(event.target.value) },
    options.map((each) => h("option", { value: each, selected: each === value ? "" : null }, words(each)))));
const slider = (label, least, most, value, choose) =>
  h("label", {}, `${label} ${value}`,
    h("input", { type: "range", min: least, max: most, value, oninput: (event) => choose(+event.target.value) }));
const keyed = (key, node) => ({ ...node, attributes: { ...node.attributes, key } });

// Play or pause, step, back, and a slider, for the steps from `first` to `last`.
function player({ at, first = 0, last, playing, play = words("play"), scrub = words("steps:") }, go) {
  const running = playing && at < last;
  return [
    button(running ? words("pause") : play, () => go(running ? at : Math.max(at % last || 0, 0), !running), { key: "play", class: "first" }),
    button(words("step"), () => go(at + 1, false), { key: "step", off: at === last }),
    button(words("back"), () => go(at - 1, false), { key: "back", off: at === first }),
    keyed("scrub", slider(scrub, 0, last - first, at - first, (place) => go(place + first, false))),
  ];
}

const figure = (() => {
  const LOW = matchMedia("(max-height: 30em)");
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
    const { key, press, off, ...attributes } = node.attributes;
    element.onclick = off ? null : (press ?? null);
    if (off) attributes["aria-disabled"] = true;
    if (/\bgone\b/.test(attributes.class)) attributes["aria-hidden"] = true;
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

  function mount(place, { start, draw, tall, controls, say, tick, write, read, touched = (next) => next, numbers }) {
    const data = JSON.parse(place.querySelector("script").textContent), name = place.dataset.figure;
    const svg = place.querySelector("svg"), wide = svg.getAttribute("viewBox");
    const panel = document.createElement("div"), said = document.createElement("p");
    panel.className = "controls";
    said.className = "said";
    panel.setAttribute("role", "group");
    panel.setAttribute("aria-label", words("Controls of the figure"));
    svg.after(said);
    svg.replaceChildren(...svg.querySelectorAll(":scope > title"));
    svg.append(document.createElementNS(NAMESPACE, "g"));
    svg.setAttribute("role", "group");
    let shown, narrow, copied = "", waiting, writing;

    const hash = () => `#${name}=${write(shown, data).join(",")}`;
    const keep = () => { try { history.replaceState(history.state, "", hash()); } catch { /* a page that may not */ } };

    // The state that the address names. What no state is, is the beginning.
    function addressed() {
      const text = location.hash.startsWith(`#${name}=`) ? location.hash.slice(name.length + 2) : null;
      if (text == null) return null;
      try {
        const given = decodeURIComponent(text).split(",").filter(Boolean), state = read(given, data, start(data, place.dataset));
        draw(state, data, touch, false);
        return say(state, data) && given.length <= write(state, data).length ? state : start(data, place.dataset);
      } catch {
        return start(data, place.dataset);
      }
    }

    async function copy() {
      const link = new URL(hash(), new URL(place.dataset.page || location.href, location.href));
      copied = "";
      keep();
      paint();
      copied = await navigator.clipboard?.writeText(link.href).then(() => words("copied"), () => "") || words("The link is in the address bar.");
      paint();
      setTimeout(() => { copied = ""; paint(); }, 3000);
    }

    function paint() {
      const held = place.contains(document.activeElement) ? document.activeElement : null;
      svg.setAttribute("viewBox", narrow ? `0 0 358 ${tall(shown, data)}` : wide);
      update(svg.lastChild, draw(shown, data, touch, narrow));
      for (const [key, text] of Object.entries(numbers?.(shown, data) ?? {}))
        document.querySelectorAll(`[data-${name}=${key}]`).forEach((each) => (each.textContent = text));
      const link = [button(words("copy link"), copy, { key: "link" }), h("span", { key: "copied", role: "status" }, copied)];
      const [main, ...more] = controls(shown, data, touch);
      update(panel, [h("div", { class: "main" }, main), h("div", { class: "more" }, more, link)]);
      if (held && document.activeElement !== held) (held.isConnected ? held : panel.querySelector("button")).focus({ preventScroll: true });
    }

    function show(state) {
      clearTimeout(waiting);
      shown = state;
      paint();
      const sentence = say(state, data), [after, next] = tick?.(state, data) ?? [];
      said.setAttribute("aria-live", next ? "off" : "polite"); // not at each step
      if (said.textContent !== sentence) said.textContent = sentence;
      svg.ariaLabel = sentence;
      said.style.minHeight = `${said.offsetHeight}px`; // a shorter one moves no picture
      waiting = next && setTimeout(() => (tick(next, data)?.[1] ? show : set)(next), after);
      return next;
    }

    function set(state) {
      clearTimeout(writing);
      if (!show(state)) writing = setTimeout(keep, 300); // too many are refused
    }

    const reveal = () => place.scrollIntoView({ block: "nearest" });

    const news = new MutationObserver(() => {}); // of the picture
    news.observe(svg.lastChild, { subtree: true, attributes: true, childList: true, characterData: true });

    const slid = [] /* till it is released */, come = (changes) => follow(changes, panel, said, !narrow && LOW.matches && place);
    panel.onpointerup = panel.onkeyup = ({ target }) => target.type === "range" && come(slid.splice(0));

    function touch(next) {
      const rests = !waiting;
      news.takeRecords();
      set(touched(next, shown));
      const changes = news.takeRecords();
      if (event?.target.type === "range") return slid.push(...changes);
      if (narrow && rests && waiting) reveal();
      come(changes);
    }

    function fit() {
      const fits = place.clientWidth >= +wide.split(" ")[2];
      if (narrow === !fits) return;
      narrow = !fits;
      place.classList.toggle("narrow", narrow);
      said.style.minHeight = "";
      svg[narrow ? "after" : "before"](panel); // as the keyboard goes
      if (shown) paint();
    }

    function open() {
      const state = addressed();
      if (state) { show(state); reveal(); }
      return state;
    }

    place.classList.add("moves");
    fit();
    if (!open()) show(start(data, place.dataset));
    addEventListener("hashchange", open);
    document.addEventListener("DOMContentLoaded", paint); // what is below the figure is there
    new ResizeObserver(fit).observe(place);
  }

  return (name, parts) => {
    for (const place of document.querySelectorAll(`[data-figure="${name}"]:not(.moves)`)) mount(place, parts);
  };
})();
