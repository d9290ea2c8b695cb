// What the theme leaves out for those who do not use a mouse.

// A label that is pressed is a button, which a keyboard reaches. The theme does the same for Enter, but only for some of them.
function pressed(label, name) {
  label.tabIndex = 0;
  label.setAttribute("role", "button");
  if (name) label.setAttribute("aria-label", name);
  label.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    event.stopPropagation();
    label.click();
  });
}

// The menu of a narrow screen.
for (const label of document.querySelectorAll("label.md-header__button[for='__drawer']")) pressed(label, words("Menu"));

// Open, it is a dialog: the focus goes into it and stays there, and Escape closes it. What a panel covers is hidden (extra.css), so the
// focus goes along from panel to panel, and a panel's title, which leads back, is a button.
const drawer = document.getElementById("__drawer"), isNarrow = matchMedia("(max-width: 76.2344em)");
if (drawer) {
  const menu = document.querySelector(".md-sidebar--primary"), isSeen = (each) => each.checkVisibility({ visibilityProperty: true });
  const behind = document.querySelectorAll("[data-md-component=skip], .md-header, .md-tabs, .md-content, .md-sidebar--secondary, .md-footer");
  const isOpen = () => drawer.checked && isNarrow.matches;
  const enter = (labels = []) => (labels.find(isSeen) ?? [...menu.querySelectorAll("a, button, [tabindex='0']")].find(isSeen))?.focus({ preventScroll: true });
  const say = () => behind.forEach((each) => (each.inert = isOpen()));
  drawer.addEventListener("change", () => {
    for (const title of menu.querySelectorAll("label:not([for=__drawer], [role])")) pressed(title);
    say();
    if (isOpen()) enter();
  });
  isNarrow.addEventListener("change", say);
  menu.addEventListener("change", ({ target }) => isOpen() && enter([...target.labels].reverse()));
  menu.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !isOpen()) return;
    drawer.click();
    document.querySelector("label.md-header__button[for='__drawer']").focus();
  });
}

// The parts of the menu that fold.
for (const label of document.querySelectorAll("label.md-nav__link[tabindex='0']")) {
  const say = () => label.setAttribute("aria-expanded", label.control.checked);
  pressed(label);
  label.control.addEventListener("change", say);
  say();
}

// The colours: one button, whose name says what a press does. The radios behind it would say what is, by names of what is next.
for (const label of document.querySelectorAll("[data-md-component=palette] label")) {
  pressed(label, label.title);
  label.control.hidden = true;
  label.addEventListener("click", () =>
    setTimeout(() => label.hidden && document.querySelector("[data-md-component=palette] label:not([hidden])").focus()));
}

// The search is a dialog, and a dialog has a name. So has each landmark, and no two have the same one. What is inside of another
// navigation is a part of it, and what only clears the search is none.
for (const search of document.querySelectorAll(".md-search")) {
  const open = document.getElementById("__search"), say = () => {
    search.setAttribute("role", open.checked ? "dialog" : "group");
    search.setAttribute("aria-label", words("Search"));
  };
  open.addEventListener("change", say);
  say();
}
document.querySelector(".md-header__title")?.setAttribute("aria-hidden", "true"); // the logo and the page's title say it
const site = document.querySelector(".md-nav__title > .md-logo")?.nextSibling; // in the menu, too
site?.replaceWith(Object.assign(document.createElement("span"), { textContent: site.data.trim(), ariaHidden: "true" }));
document.querySelector(".md-path")?.setAttribute("aria-label", words("You are here"));
document.querySelector("form[data-md-component=palette]")?.setAttribute("aria-label", words("Colours"));
document.querySelector(".md-search__options")?.removeAttribute("aria-label");
document.querySelector(".md-search__options")?.setAttribute("role", "none");
document.querySelector(".md-search-result__meta")?.setAttribute("role", "status"); // how many pages are found
const hits = document.querySelector(".md-search-result__list"); // a link takes no name from an article in it
if (hits) new MutationObserver(() => hits.querySelectorAll("a > article").forEach((each) => (each.role = "none"))).observe(hits, { childList: true, subtree: true });
for (const part of document.querySelectorAll(".md-nav .md-nav")) {
  part.setAttribute("role", "group");
  part.removeAttribute("aria-expanded"); // the label that folds it says so
}

// A page that is not there offers the search, which in the header of a narrow screen is only an icon, and a filter that finds nothing
// does so with what is typed.
document.addEventListener("click", ({ target }) => {
  const button = target.closest("button[data-search]"), field = document.querySelector(".md-search__input");
  if (!button) return;
  document.getElementById("__search").click();
  field.focus();
  if (!button.dataset.search) return;
  field.value = button.dataset.search;
  field.dispatchEvent(new InputEvent("input", { bubbles: true }));
});

const searchFor = (text) => {
  const button = Object.assign(document.createElement("button"), { type: "button", className: "md-button", textContent: `Search the whole site for “${text}”` });
  button.dataset.search = text;
  return button;
};

// On a touch screen, the first tap on a term shows what it means, and the second follows the link.
let tapped;
document.addEventListener("click", (event) => {
  if (event.pointerType === "mouse" || !event.pointerType) return;
  const term = event.target.closest("a.term");
  if (term && term !== tapped) {
    event.preventDefault();
    term.focus();
  }
  tapped = term;
}, true);

// What scrolls sideways is a place to go to, and has a name. What does not scroll is no such place.
const named = {
  "pre > code": words("Code"), ".output pre": words("Output"), ".outputs .figure": words("Figure"), ".formula": words("Formula"),
  ".md-typeset__scrollwrap": words("Table"),
};
const watched = new WeakSet();
const sizes = new ResizeObserver((all) => {
  for (const { target } of all) {
    const scrolls = target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight;
    const name = Object.keys(named).find((each) => target.matches(each));
    for (const [attribute, value] of [["tabindex", 0], ["role", "group"], ["aria-label", named[name]]])
      if (scrolls) target.setAttribute(attribute, value);
      else target.removeAttribute(attribute);
  }
});
function watch() {
  for (const each of document.querySelectorAll(Object.keys(named).map((each) => `article ${each}`))) {
    if (!watched.has(each)) sizes.observe(each);
    watched.add(each);
  }
}
watch();

// The title of the section of an element, without the title's link to itself, and, from the second of those `alike` in the section on,
// which one it is. tab.js uses it too.
function sectionOf(element, alike = []) {
  const follows = (title) => (each) => title.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING;
  const title = [...document.querySelectorAll("article :is(h1, h2, h3)[id]")].findLast((title) => follows(title)(element));
  if (!title) return "";
  const number = [...alike].filter(follows(title)).indexOf(element);
  return title.textContent.replace(/¶$/, "").trim() + (number > 0 ? ` (${number + 1})` : "");
}

// What a block of code is: the name of its exercise, or the first line that does more than to import or to comment.
function codeOf(block) {
  const named = block.parentElement.querySelector(":scope > .filename[role=heading]");
  if (named) return named.textContent;
  const lines = (block.dataset.copy ?? block.textContent).split("\n").map((line) => line.trim()).filter(Boolean);
  const line = lines.find((line) => !/^(#|import |from )/.test(line)) ?? lines[0] ?? "";
  return line.length > 60 ? `${line.slice(0, 60)}…` : line;
}

// A control has a name, and what else it says of itself, its title or its text, is a part of this name: it is not read a second time.
function nameControl(control, name) {
  control.ariaLabel = name;
  control.ariaDescription = "";
}
for (const control of document.querySelectorAll("[aria-label][title]")) if (control.ariaLabel === control.title) nameControl(control, control.title);

// Controls that say the same have names of their own: what they are about. The buttons of a block of code come when the block does, and
// are no place to go to, as navigation would be.
function nameControls() {
  const blocks = [...document.querySelectorAll("article pre")], folds = [...document.querySelectorAll("article summary")];
  for (const buttons of document.querySelectorAll(".md-code__nav:not([role])")) {
    buttons.setAttribute("role", "none");
    const block = buttons.closest("pre"), code = codeOf(block);
    const number = blocks.filter((each) => codeOf(each) === code).indexOf(block);
    for (const button of buttons.children) nameControl(button, `${button.title}: ${code}${number ? ` (${number + 1})` : ""}`);
  }
  for (const fold of folds.filter((fold) => !fold.ariaLabel)) {
    const alike = folds.filter(({ textContent }) => textContent === fold.textContent);
    if (alike.length > 1) nameControl(fold, `${fold.textContent.trim()}: ${sectionOf(fold, alike)}`);
  }
}
nameControls();
new MutationObserver(() => (nameControls(), watch())).observe(document.querySelector("article"), { childList: true, subtree: true });

// In a lab, E leads to the next exercise, and Shift+E to the one before: to its code, or where an editor is open, to the heading, so that
// the next E is no text. So does a link at the top of the page.
function toExercise(step, from = document.activeElement) {
  const all = [...document.querySelectorAll("article .buttons > .main")].map(({ parentElement: buttons }) => buttons.previousElementSibling.querySelector("pre > code") ?? buttons.previousElementSibling.querySelector("[role=heading]") ?? buttons);
  const fromTop = (each) => from === document.body ? each.getBoundingClientRect().top > 0 : from.compareDocumentPosition(each) & Node.DOCUMENT_POSITION_FOLLOWING;
  const after = all.findIndex((each) => each !== from && fromTop(each));
  const next = step > 0 ? all[after] : all[(after < 0 ? all.length : after) - (all.includes(from) ? 2 : 1)];
  if (!next) return;
  next.tabIndex = -1;
  const name = next.closest("pre") && codeOf(next.closest("pre"));
  if (name) Object.assign(next, { role: "group", ariaLabel: name });
  next.focus({ preventScroll: true });
  (next.closest("[data-cell]") ?? next.previousElementSibling).scrollIntoView({ block: "start" });
}
const first = document.querySelector("[data-tab-bar]") && document.querySelector("article [id^=exercise-]");
if (first) {
  const link = Object.assign(document.createElement("a"), { className: "md-skip", href: `#${first.id}`, textContent: words("Skip to the first exercise (key E)") });
  link.addEventListener("click", (event) => {
    event.preventDefault();
    toExercise(1, document.querySelector("h1"));
  });
  document.querySelector("[data-md-component=skip]").append(link);
}

// Single keys: the theme's (N, P, F, S and others, at the window), that of exercises, and those of other scripts. A reader may turn them
// off, and on a control of the page no key leads to another page. On a button that is loading an editor no key acts.
const keys = { get off() { try { return localStorage.getItem("rushlight/keys") === "off"; } catch { return false; } } };
document.addEventListener("keydown", (event) => {
  const { key, target, ctrlKey, metaKey, altKey } = event;
  if (key.length > 1 || ctrlKey || metaKey || altKey) return;
  const isField = target.closest("input, textarea, select, [contenteditable]");
  if (keys.off || target.closest("[aria-busy]") || ("np,.".includes(key) && target.closest("article :is(summary, button, label, [tabindex='0'])"))) event.stopPropagation();
  else if (key.toLowerCase() === "e" && !isField && first) toExercise(key === "e" ? 1 : -1);
});
for (const place of document.querySelectorAll("[data-keys]")) {
  const field = Object.assign(document.createElement("input"), { type: "checkbox", checked: !keys.off });
  field.addEventListener("change", () => { try { localStorage.setItem("rushlight/keys", field.checked ? "on" : "off"); } catch { field.checked = true; } });
  const label = document.createElement("label");
  label.append(field, ` ${words("Single keys act")}`);
  place.append(label);
}

// The languages: a mouse opens them by being there, a press opens and closes them, and Escape closes them.
for (const menu of document.querySelectorAll(".md-select")) {
  const button = menu.querySelector("button"), isOpen = () => !menu.classList.contains("closed");
  const open = (value) => (menu.classList.toggle("closed", !value), button.setAttribute("aria-expanded", value));
  menu.addEventListener("pointerenter", ({ pointerType }) => pointerType === "mouse" && open(true));
  menu.addEventListener("pointerleave", ({ pointerType }) => pointerType === "mouse" && open(false));
  button.addEventListener("click", ({ pointerType }) => open(pointerType === "mouse" || !isOpen()));
  menu.addEventListener("focusout", ({ relatedTarget }) => menu.contains(relatedTarget) || menu.matches(":hover") || open(false));
  document.addEventListener("keydown", ({ key }) => {
    if (key !== "Escape" || !isOpen()) return;
    if (menu.contains(document.activeElement)) button.focus();
    open(false);
  });
  open(false);
}

// The switch of languages leads to the section that is read.
for (const link of document.querySelectorAll(".md-select__link[hreflang]"))
  link.addEventListener("click", () => (link.hash = location.hash));
