// What the moving figures share: texts and boxes of a picture, numbers as a reader says them, and a state as words of an address.
const label = (key, x, y, kind, text, more = {}) => h("text", { key, x, y, class: kind, ...more }, text);
const small = (key, x, y, kind, text, more) => label(key, x, y, `small ${kind}`, text, more);
const rect = (x, y, width, height, kind, more = {}) => h("rect", { x, y, width, height, class: kind, ...more });
const moved = (key, x, y, more, ...children) => h("g", { key, transform: `translate(${x} ${y})`, ...more }, ...children);

// Buttons of one choice, with its name: a row of their own where they would break into two.
const oneOf = (name, buttons) => h("div", { class: "set", role: "group", "aria-label": name }, h("span", { "aria-hidden": true }, name), buttons);

const tuple = (numbers) => `(${numbers.join(", ")}${numbers.length === 1 ? "," : ""})`;

// A part of a picture that a press picks, and a pointer that is dragged to it.
const dragged = ({ buttons, clientX, clientY }) => buttons && document.elementFromPoint(clientX, clientY)?.closest("g")?.onpick?.();
const picked = (pick) => ({ onclick: pick, onpick: pick, onpointermove: dragged });

// The lines of a text, which may break after a word and before a further call or index, and a text in lines. A letter of a small text is
// 6.4 wide or less.
const folded = (text, width, letter = 6.4) =>
  text.split(/(?<= )|(?<=[)\]])(?=[.[])/).reduce((lines, word) => {
    const last = lines.at(-1);
    return last && (last + word).trimEnd().length * letter <= width ? [...lines.slice(0, -1), last + word] : [...lines, word];
  }, []).map((line) => line.trimEnd());
const paragraph = (key, x, y, kind, text, width, letter) =>
  folded(text, width, letter).map((line, i) => label(`${key} ${i}`, x, y + i * 16, kind, line));

const upTo = (last) => [...Array(last + 1).keys()];
const indices = (sizes) => sizes.reduce((all, size) => all.flatMap((one) => upTo(size - 1).map((i) => [...one, i])), [[]]);
const digits = (value) => String(+value.toPrecision(3));
const mebi = (value) => `${digits(value / 2 ** 20)} MiB`;
const time = (us) => (us < 1000 ? `${digits(us)} µs` : `${digits(us / 1000)} ms`);
function bytes(value) {
  const power = Math.min(3, Math.floor(Math.log10(value) / 3));
  return `${digits(value / 1000 ** power)} ${["bytes", "kB", "MB", "GB"][power]}`;
}
const guesses = ({ tried, right }) => (tried ? words("Your guesses: {0} of {1} right", right, tried) : "");
const praise = (right) => (right ? `${words("Right.")} ` : "");

// A state as words: of each field that `list` names, in this order, one of its values. The first value stands for null. A word
// that is no value raises an error, and the figure begins at its beginning.
const slug = (value) => (typeof value === "number" ? String(value) : String(value).toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, ""));
function chosen(values, word) {
  const value = values.find((each) => slug(each) === word);
  if (value === undefined) throw new RangeError(word);
  return value;
}
const fields = (list) => ({
  write: (state, data) => list(state, data).map(([field, values]) => slug(state[field] ?? values[0])),
  read: (words, data, first) =>
    words.reduce((state, word, i) => {
      const [field, values] = list(state, data)[i];
      return { ...state, [field]: chosen(values, word) };
    }, first),
});

// What a press has changed comes into sight: below the controls, and on a phone between the sentence, which
// stays below the page's header, and the controls at the foot of the screen. A control below the picture stays in sight, too. Nothing
// scrolls while a pointer is dragged. `low` is the figure if the screen is low: the figure begins at the screen's top, if the press was
// not in the picture.
function follow(changes, panel, said, low) {
  if (/^pointer(?!up)/.test(event?.type)) return;
  if (low) return low.scrollIntoView({ block: event?.target.closest?.("svg") ? "nearest" : "start" });
  const nodes = changes.flatMap(({ type, target, addedNodes }) => (type === "childList" ? [...addedNodes] : target.closest ? target : target.parentNode));
  const bar = panel.getBoundingClientRect(), narrow = bar.height === 0; // a phone's controls have boxes of their own
  const boxes = nodes.map((node) => node?.getBoundingClientRect?.()).filter((box) => box?.height);
  const roof = narrow ? 56 + said.offsetHeight : bar.bottom, floor = narrow ? panel.firstChild.getBoundingClientRect().top - 8 : Infinity;
  const above = Math.min(...boxes.map(({ top }) => top)) - roof, below = Math.max(...boxes.map(({ bottom }) => bottom)) - floor;
  const pressed = narrow && event?.target.closest?.(".more") ? event.target.getBoundingClientRect() : null;
  const least = pressed ? pressed.bottom + 8 - innerHeight : -Infinity;
  if (boxes.length) scrollBy(0, Math.max(Math.min(Math.max(below, 0), above), least));
}
