// The end of a lab: its points, the time, the pieces that are now the reader's, a picture of them to post, and the next lab.
//
// `ended` is kept with the answers, {points, seconds, on}, when the checks that this page can run have all passed. Written answers and
// checks that need an installation do not hold it up: the end says which are left. A prediction that
// was marked is done with the points that it has. (There are no seconds if all passed elsewhere, in a reading.) It is `finished` while they do: another answer may fail. The time is kept apart: it runs from the first press to the end, while the page is in front, and up to `IDLE` seconds after a key, a click or a scroll.

{
  const IDLE = 120, STEP = 5; // seconds
  const LAST = 3; // checks

  const checks = cells.filter(({ kind }) => kind === "check"), ofInstallation = checks.filter(({ lacks }) => lacks);
  const sum = (found) => found.reduce((total, { points }) => total + points, 0);
  const reach = sum(checks.filter(({ lacks }) => !lacks));
  const pieces = cells.filter(({ piece, checked }) => piece && checked && !checked.lacks);
  const isPart = 2 * page.here < page.points; // the page can check less than half of the lab
  const unwritten = () => cells.filter(({ kind, text, own }) => kind === "written" && text === own);
  const isWhole = () => !isPart && !unwritten().length;
  const said = () => (isWhole() ? words("{}: finished", page.title) : words("{}: all that this page can check is done", page.title));
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

  function drawn({ points }) {
    const worth = points < reach ? words("{0} of {1} points that a page can give", points, reach) : words("{} points: every check that runs in a page", points);
    return picture.drawn({ title: page.title, worth, names: pieces.map(nameOf), isCode: true, torch: page.torch, isExact: !!page.exact.length, icon: page.icon });
  }

  // What the page shows --------------------------------------------------------------------------------------------

  const headings = [...document.querySelectorAll("article h2[id]")];
  const headingOf = ({ block }) => headings.findLast((each) => each.compareDocumentPosition(block) & Node.DOCUMENT_POSITION_FOLLOWING);
  const ofMilestone = cells.filter((cell) => ["plain", "drawing"].includes(cell.kind) && headingOf(cell)?.id.startsWith("milestone"));

  // Links to the headings of these cells.
  function linksTo(given) {
    const found = [...new Set(given.map(headingOf))].filter(Boolean);
    return found.flatMap(({ id, firstChild }) => ["; ", make("a", { href: `#${id}`, text: firstChild.textContent })]).slice(1);
  }

  function* lines({ points, seconds, on }) {
    const lacking = sum(ofInstallation), written = page.points - sum(checks);
    const [of, all] = points < reach ? [reach, words("a first prediction that was wrong gives no points.")] : [page.points, words("all that this page can give.")];
    yield make("p", {}, make("b", { text: words("{0} of {1} points", points, of) }), `: ${all}`);
    if (lacking) yield make("p", {}, words("Checks that need an installation are worth {} more:", lacking), " ", ...linksTo(ofInstallation));
    if (written) yield make("p", {}, words("No check reads your written answer, which is worth {} more if an instructor marks it.", written), " ", open);
    const counted = words("Counted from your first press, while this page was in front, and up to two minutes after a key, a click or a scroll.");
    if (seconds !== null) yield make("p", {}, words("Finished on {0}, after {1} in this page.", on, inWords(seconds)), " ", make("small", { text: counted }));
    yield make("p", { text: words("These functions of the framework are now your code, with their counterparts in PyTorch:") });
    const item = (piece) => make("li", {}, make("code", { text: nameOf(piece) }), ...(piece.counterpart ? [" ", make("small", { text: piece.counterpart })] : []));
    yield make("ul", { class: "pieces" }, ...pieces.map(item));
    yield make("p", {}, make("a", { href: "../../review.html", text: words("Five questions a day") }), ` ${words("keep what you have read.")}`);
    if (afterOnPath()) {
      const { page: address, title, said } = farOnPath(), gives = page.paths[new URL(address).hash.slice(1)];
      yield make("p", {}, make("a", { href: address, text: title }), `: ${said}. ${gives ?? ""}`);
      return;
    }
    const called = Object.entries(page.step);
    if (!called.length) return;
    const count = new Set(called.flatMap(([, names]) => names)).size;
    yield make("p", { text: words("A training step of the GPT of phase 12 calls {0} of these {1}, stage by stage:", count, pieces.length) });
    const stage = ([name, names]) => [make("dt", { text: name }), make("dd", {}, ...names.flatMap((each) => [make("code", { text: each }), " "]))];
    yield make("dl", { class: "stages" }, ...called.flatMap(stage));
  }

  let section;
  const open = make("span"), title = make("p", { class: "title" }); // which change with what is written

  function tellLeft() {
    const links = linksTo(unwritten());
    open.replaceChildren(...(links.length ? [words("Not written yet:"), " ", ...links] : []));
    title.textContent = said();
  }

  function show(finished) {
    const after = following()?.before ?? following(); // the reading before the next lab, unless a path leads to the lab
    const next = after && make("p", {}, make("a", { class: "md-button md-button--primary", href: after.link, hreflang: after.hreflang ?? "", text: after.said }));
    section = make(
      "section",
      { id: "finished", class: "end", tabindex: -1, "aria-label": words("The end of the lab") },
      title,
      ...lines(finished),
      ...picture.shown(() => drawn(finished), `rushlight-${page.lab}`),
      next ?? "",
    );
  }

  // The end is below the last cell. Without `finished` there is none.
  function place() {
    if (kept.finished && !section) {
      show(kept.finished);
      const { outputs, buttons, model, block } = cells.at(-1);
      [outputs, buttons, model, block].find((each) => each?.isConnected).after(section);
    }
    if (!kept.finished) section?.remove(), (section = null);
    if (section) tellLeft();
    bar.finished(section && (isWhole() ? words("Finished") : words("All that this page can check is done")));
  }

  // Below a check that has passed, the last ones that have not.
  function tellNext(cell) {
    const next = checks.filter((check) => !check.lacks && !isDone(check));
    if (cell.ok && next.length && next.length <= LAST) cell.outputs.append(make("p", { class: "notes" }, words("Left to check in this page:"), " ", ...linksTo(next)));
  }

  // Whether the lab is finished now, and was not before, or with fewer points.
  function finish(cell) {
    const before = kept.finished?.points;
    if (before === earned() || !reach || !checks.every((check) => check.lacks || isDone(check))) return false;
    section?.remove(), (section = null);
    const on = new Date().toLocaleDateString(document.documentElement.lang, { dateStyle: "long" });
    kept.ended = { points: earned(), seconds: time.seconds && +time.seconds, on };
    kept.write(); // which places the end, and first, so that the path counts this lab
    place();
    if (cell) leadOn(cell);
    return true;
  }

  // From the last check to the milestone, as long as none of its cells has run, and from the milestone's last cell to the end.
  function leadOn(cell) {
    const isNext = cell.kind === "check" && ofMilestone.length && !ofMilestone.some(({ id }) => python.ran.has(id));
    const { id, firstChild } = isNext ? headingOf(ofMilestone[0]) : { id: "finished" };
    cell.outputs.append(make("p", { class: "title" }, make("a", { href: `#${id}`, text: isNext ? words("Next: {}", firstChild.textContent) : said() })));
  }

  addEventListener("rushlight:pressed", () => time.begin());
  addEventListener("rushlight:judged", ({ detail: cell }) => {
    if (finish(cell)) section.classList.add("fresh");
    else if (!kept.finished) tellNext(cell);
  });
  addEventListener("rushlight:ran", ({ detail: cell }) => kept.finished && cell === ofMilestone.at(-1) && leadOn(cell));
  addEventListener("rushlight:kept", () => place());
  for (const kind of ["keydown", "pointerdown", "scroll"]) addEventListener(kind, () => (time.acted = performance.now()), { capture: true, passive: true });
  if (bar.element && page.notebook) setInterval(() => time.count(), 1000 * STEP), finish(), place(); // in a reading, perhaps
}
