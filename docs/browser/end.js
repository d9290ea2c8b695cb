// The end of a lab: its points, the time, the pieces that are now the reader's, a picture of them to post, and the next lab.
//
// `ended` is kept with the answers, {points, seconds, on}, when the checks that this page can run have all passed. A prediction that
// was marked is done with the points that it has. (There are no seconds if all passed elsewhere, in a reading.) It is `finished` while they do: another answer may fail. The time is kept apart: it runs from the first press to the end, while the page is in front, and up to `IDLE` seconds after a key, a click or a scroll.

{
  const IDLE = 120, STEP = 5; // seconds
  const SIZE = [1200, 630];
  const COLOURS = { default: ["#ffffff", "#1c1e21", "#5c6470", "#1a7f37", "#b0430a"], slate: ["#1e2129", "#e6e9ee", "#a3abb8", "#4ac26b", "#ffab70"] };

  const checks = cells.filter(({ kind, points }) => kind === "check" && points);
  const sum = (found) => found.reduce((total, { points }) => total + points, 0);
  const reach = sum(checks.filter(({ lacks }) => !lacks));
  const pieces = cells.filter(({ piece, checked }) => piece && checked && !checked.lacks);
  const nameOf = ({ exercise }) => exercise.split(".").at(-1);

  // The time -------------------------------------------------------------------------------------------------------

  const time = {
    key: `${kept.key} time`,
    acted: -Infinity, // when
    // None before the first press, and none where the browser keeps nothing.
    get seconds() {
      return kept.works ? localStorage.getItem(this.key) : null;
    },
    begin() {
      if (kept.works && this.seconds === null) localStorage.setItem(this.key, 0);
    },
    count() {
      const isInUse = document.visibilityState === "visible" && performance.now() - this.acted < 1000 * IDLE;
      if (isInUse && !kept.ended && this.seconds !== null) localStorage.setItem(this.key, +this.seconds + STEP);
    },
  };

  function inWords(seconds) {
    const minutes = Math.max(1, Math.round(seconds / 60));
    return minutes < 60 ? words("{} min", minutes) : words("{0} h {1} min", Math.floor(minutes / 60), minutes % 60);
  }

  // The picture ----------------------------------------------------------------------------------------------------

  const svg = (tag, given, ...inside) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(given)) element.setAttribute(name, value);
    element.append(...inside);
    return element;
  };

  // A picture in the colours and the fonts of the page. All of it is in the file that is saved.
  function drawn({ points }) {
    const [ground, ink, faint, green, flame] = COLOURS[document.body.dataset.mdColorScheme] ?? COLOURS.default;
    const [width, height] = SIZE, style = getComputedStyle(document.body);
    const plain = style.getPropertyValue("--md-text-font-family"), mono = style.getPropertyValue("--md-code-font-family");
    const measure = document.createElement("canvas").getContext("2d");
    const text = (x, y, size, said, { fill = ink, font = plain, weight = 400, room = width - 2 * 72 } = {}) => {
      measure.font = `${weight} ${size}px ${font}`;
      const fits = Math.min(size, (size * room) / measure.measureText(said).width);
      return svg("text", { x, y, fill, "font-size": fits.toFixed(1), "font-family": font, "font-weight": weight }, said);
    };
    const names = pieces.map(nameOf);
    const columns = names.length > 18 ? 3 : 2, rows = Math.ceil(names.length / columns);
    const step = Math.min(42, 250 / rows), room = (width - 2 * 72) / columns, size = Math.min(25, 0.72 * step);
    const ticks = names.flatMap((name, index) => {
      const x = 72 + Math.floor(index / rows) * room, y = 276 + (index % rows) * step;
      return [text(x, y, size, "✓", { fill: green, weight: 700 }), text(x + 1.4 * size, y, size, name, { font: mono, room: room - 3 * size })];
    });
    const worth = points < reach ? words("{0} of {1} points that a page can give", points, reach) : words("{} points: every check that runs in a page", points);
    const judged = words("my code, judged by torch {}", page.torch);
    const how = words("compared in my own browser with recorded answers of torch");
    const address = document.querySelector("link[rel=canonical]")?.href.replace(/^https?:\/\//, "").replace(/phases\/.*/, "") ?? "";
    const icon = page.icon.map(([d, fill]) => svg("path", { d, fill, transform: "translate(72 50) scale(1.5)" }));
    const alt = `${page.title}. ${worth}: ${names.join(", ")}. ${judged}, ${how}.`;
    return svg(
      "svg",
      { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": alt },
      svg("title", {}, page.title),
      svg("rect", { width, height, fill: ground }),
      svg("rect", { y: height - 10, width, height: 10, fill: flame }),
      ...icon,
      text(130, 90, 34, "Rushlight", { fill: faint, weight: 600 }),
      text(72, 172, 60, page.title, { weight: 700 }),
      text(72, 222, 30, worth, { fill: green, weight: 600 }),
      ...ticks,
      text(72, 558, 34, judged, { fill: flame, weight: 700 }),
      text(72, 594, 22, [how, address].filter(Boolean).join(" · "), { fill: faint }),
    );
  }

  const source = (picture) => new XMLSerializer().serializeToString(picture);
  const file = (kind) => `rushlight-${page.lab}.${kind}`;

  async function savePng(picture) {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(source(picture))}`;
    await image.decode();
    const [width, height] = SIZE.map((each) => 2 * each);
    const canvas = make("canvas", { width, height });
    canvas.getContext("2d").drawImage(image, 0, 0, width, height);
    canvas.toBlob((blob) => save(blob, file("png")), "image/png");
  }

  // What the page shows --------------------------------------------------------------------------------------------

  // The headings of what is not done, and gives no points in this page: the milestone, and the written answer.
  function left() {
    const isOpen = (cell) => (cell.kind === "written" ? cell.text === cell.own : cell.kind === "check" && !cell.points && !cell.lacks && !passes(cell));
    const headings = [...document.querySelectorAll("article h2[id]")];
    const above = ({ block }) => headings.findLast((each) => each.compareDocumentPosition(block) & Node.DOCUMENT_POSITION_FOLLOWING);
    return [...new Set(cells.filter(isOpen).map(above))].filter(Boolean);
  }

  function* lines({ points, seconds, on }) {
    const lacking = sum(checks.filter(({ lacks }) => lacks)), written = page.points - sum(checks);
    const rest = [
      written ? words("Your written answer, which your instructor marks, is worth {} more.", written) : "",
      lacking ? words("Checks that need an installation are worth {} more.", lacking) : "",
    ];
    const [of, all] = points < reach ? [reach, words("a first prediction that was wrong gives no points.")] : [page.points, words("all that this page can give.")];
    yield make("p", {}, make("b", { text: words("{0} of {1} points", points, of) }), [`: ${all}`, ...rest.filter(Boolean)].join(" "));
    const counted = words("Counted from your first press, while this page was in front, and up to two minutes after a key, a click or a scroll.");
    if (seconds !== null) yield make("p", {}, words("Finished on {0}, after {1} in this page.", on, inWords(seconds)), " ", make("small", { text: counted }));
    yield open;
    yield make("p", { text: words("These functions of the framework are now your code. Beside each is its counterpart in PyTorch:") });
    const item = (piece) => make("li", {}, make("code", { text: nameOf(piece) }), ...(piece.counterpart ? [" ", make("small", { text: piece.counterpart })] : []));
    yield make("ul", { class: "pieces" }, ...pieces.map(item));
    yield make("p", {}, make("a", { href: "../../review.html", text: words("Five questions a day") }), ` ${words("keep what you have read.")}`);
    const called = Object.entries(page.step);
    if (!called.length) return;
    const count = new Set(called.flatMap(([, names]) => names)).size;
    yield make("p", { text: words("A training step of the GPT of phase 12 calls {0} of these {1}, stage by stage:", count, pieces.length) });
    const stage = ([name, names]) => [make("dt", { text: name }), make("dd", {}, ...names.flatMap((each) => [make("code", { text: each }), " "]))];
    yield make("dl", { class: "stages" }, ...called.flatMap(stage));
  }

  let section;
  const open = make("p"); // what is left

  function tellLeft() {
    open.hidden = !left().length;
    const links = left().flatMap(({ id, firstChild }) => [make("a", { href: `#${id}`, text: firstChild.textContent }), " · "]);
    open.replaceChildren(words("Left on this page, without points here:"), " ", ...links.slice(0, -1));
  }

  function show(finished) {
    let picture = drawn(finished);
    const button = (text, click) => make("button", { text, type: "button", click });
    const saveSvg = () => save(new Blob([source(picture)], { type: "image/svg+xml" }), file("svg"));
    const buttons = [button(words("Save SVG"), saveSvg), button(words("Save PNG"), () => savePng(picture))];
    const after = following()?.before ?? following(); // the reading before the next lab, unless a path leads to the lab
    const next = after && make("p", {}, make("a", { class: "md-button md-button--primary", href: after.link, text: after.said }));
    section = make(
      "section",
      { id: "finished", class: "end", tabindex: -1, "aria-label": words("The end of the lab") },
      make("p", { class: "title", text: words("{}: finished", page.title) }),
      ...lines(finished),
      make("figure", {}, picture),
      make("div", { class: "buttons" }, ...buttons),
      next ?? "",
    );
    new MutationObserver(() => {
      const other = drawn(finished);
      picture.replaceWith(other);
      picture = other;
    }).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
  }

  // The end is below the last cell. Without `finished` there is none.
  function place() {
    if (kept.finished && !section) {
      show(kept.finished);
      const { outputs, buttons, block } = cells.at(-1);
      [outputs, buttons, block].find((each) => each?.isConnected).after(section);
    }
    if (!kept.finished) section?.remove(), (section = null);
    if (section) tellLeft();
    bar.finished(!!section);
  }

  // Whether the lab is finished now, and was not before, or with fewer points.
  function finish(cell) {
    const before = kept.finished?.points;
    if (before === earned() || !reach || !checks.every((check) => check.lacks || isDone(check))) return false;
    section?.remove(), (section = null);
    const on = new Date().toLocaleDateString(document.documentElement.lang, { dateStyle: "long" });
    kept.ended = { points: earned(), seconds: time.seconds && +time.seconds, on };
    place();
    kept.write();
    if (!cell) return true;
    const link = make("a", { href: "#finished", text: words("{}: finished", page.title) });
    cell.outputs.append(make("p", { class: "title" }, link));
    return true;
  }

  // On a path, the page's own last link leads where the end of the lab does.
  const footer = document.querySelector(".md-footer__link--next"), { link, title, said } = following() ?? {};
  if (footer && title) {
    Object.assign(footer, { href: link, ariaLabel: said });
    footer.querySelector(".md-ellipsis").textContent = title;
  }

  addEventListener("rushlight:pressed", () => time.begin());
  addEventListener("rushlight:judged", ({ detail: cell }) => {
    if (!finish(cell)) return;
    section.classList.add("fresh");
  });
  addEventListener("rushlight:kept", () => place());
  for (const kind of ["keydown", "pointerdown", "scroll"]) addEventListener(kind, () => (time.acted = performance.now()), { capture: true, passive: true });
  if (bar.element && page.notebook) setInterval(() => time.count(), 1000 * STEP), finish(), place(); // in a reading, perhaps
}
