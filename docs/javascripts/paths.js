// A path through the course: the reader chooses it on the page of the paths, and this browser keeps it. The list of pages then has the
// path's pages alone, and a reading says which of its sections are on the path, and how the path goes on after them.
//
// It is kept as {title, page, labs}. `labs` has all that the path needs, in its order, as [text, address, name of the page, how much of
// a lab runs in a browser, "en" if only the page is in English, the hours of a lab]: labs, and sections of readings, whose addresses have
// an anchor.
let afterOnPath; // what the path of the reader has after this page, or null. The path ends on its own page.
let farOnPath; // how far the reader's path is: {page, title, said}
{
  const KEY = "rushlight/path";
  const NARROW = matchMedia("(max-width: 76.1875em)"); // where the theme has a drawer
  const { base } = JSON.parse(document.getElementById("__config").textContent); // in another language it ends with a slash
  const root = new URL(base.replace(/\/?$/, "/"), location.href).href;

  const urlOf = (address) => new URL(address, root);
  const isHere = ({ href, pathname }) => href.startsWith(root) && pathname === location.pathname;
  const isEntry = ([, address]) => typeof address === "string" && urlOf(address).href.startsWith(root); // one that leads elsewhere is none of this script's

  const stored = () => {
    try {
      const { title, page, labs } = JSON.parse(localStorage.getItem(KEY));
      return labs.every(isEntry) && isEntry([title, page]) ? { title, page, labs } : null;
    } catch {
      return null; // no path, or a browser that keeps nothing
    }
  };

  function keep(path) {
    try {
      if (path) localStorage.setItem(KEY, JSON.stringify(path));
      else localStorage.removeItem(KEY);
    } catch {
      // this page shows it all the same
    }
  }

  const make = (tag, className, ...inside) => {
    const made = Object.assign(document.createElement(tag), { className });
    made.append(...inside);
    return made;
  };

  const nameOf = ([text, , name = text]) => name; // of the page, as in the list of all pages

  // The pages of a path: its labs, and before each the readings. A reading opens at its top. A reading that comes twice, or for one
  // section alone, is named with this section, and opens at it.
  const pagesOf = ({ labs }) => {
    const page = ([, address]) => address.split("#")[0], isOf = (one) => (other) => page(one) === page(other);
    const pages = labs.filter((entry, at) => !at || !isOf(entry)(labs[at - 1]));
    const isNamed = (entry) => !isLab(entry) && (pages.filter(isOf(entry)).length > 1 || labs.filter(isOf(entry)).length === 1);
    return pages.map((entry) => [...(isNamed(entry) ? [`${nameOf(entry)}: ${entry[0]}`, entry[1]] : [nameOf(entry), page(entry)]), entry[4]]);
  };

  // A link of the list.
  const entry = ([text, address, hreflang = ""]) => {
    const link = make("a", "md-nav__link", make("span", "md-ellipsis", text));
    Object.assign(link, { href: urlOf(address).href, hreflang });
    if (isHere(link)) link.ariaCurrent = "page";
    return make("li", "md-nav__item", link);
  };

  function choose(path) {
    keep(path);
    show(path);
    dispatchEvent(new Event("rushlight:kept")); // so that the points are at the new links
  }

  function show(path = stored()) {
    const nav = document.querySelector(".md-nav--primary");
    if (!nav) return;
    nav.querySelector(".on-path")?.remove();
    nav.classList.toggle("follows-path", Boolean(path));
    if (path) {
      // a narrow screen shows one level of the list alone: that of the page. The page is first there: it leads to its sections
      const here = NARROW.matches && [...nav.querySelectorAll(":scope .md-nav__item--active")].at(-1);
      const list = here ? here.parentElement : nav.querySelector(".md-nav__list");
      const all = Object.assign(make("button", "", words("Show all pages")), { type: "button" });
      all.addEventListener("click", () => choose(null));
      const labs = make("ul", "md-nav__list", entry([path.title, path.page]), ...pagesOf(path).map(entry));
      const item = make("li", "on-path", labs);
      const place = [...labs.children].findIndex((each) => each.querySelector("[aria-current]"));
      if (place > 0) { // a wide screen shows the pages around this one, so that its sections are in sight
        for (const each of [...labs.children].slice(place - 1, place + 2)) each.classList.add("near");
        const whole = Object.assign(make("button", "whole", words("The whole path")), { type: "button", ariaExpanded: false });
        whole.addEventListener("click", () => (whole.ariaExpanded = item.classList.toggle("open")));
        item.append(whole);
      }
      item.append(all);
      if (here) here.after(item);
      else list.prepend(item);
      for (const scrolled of [list, nav.closest(".md-sidebar__scrollwrap")]) scrolled.scrollTop = 0; // to the page in the list of all
    }
    guide(path ?? { labs: [] });
    for (const button of document.querySelectorAll("button[data-choose]")) {
      button.textContent = path?.page === button.dataset.choose ? words("Show all pages in the list of pages") : words("Show this path in the list of pages");
      button.ariaLabel = `${button.textContent}: ${sectionOf(button)}`;
    }
  }

  // On a page of a reading: marks at the path's sections in the list of sections, and a line below each stretch of them.
  function guide({ title, page, labs }) {
    for (const old of document.querySelectorAll(".of-path")) old.remove();
    const links = [...document.querySelectorAll(".md-nav--secondary a[href]")];
    for (const [at, [, address]] of labs.entries()) {
      const url = urlOf(address), heading = url.hash && isHere(url) && document.getElementById(decodeURIComponent(url.hash.slice(1)));
      if (!heading) continue;
      for (const link of links.filter(({ hash }) => hash === url.hash)) {
        link.prepend(Object.assign(make("b", "of-path"), { role: "img", ariaLabel: words("on the path") }));
      }
      let last = heading; // block of the section
      while (last.nextElementSibling && !last.nextElementSibling.matches("h1, h2, script, aside, form")) last = last.nextElementSibling;
      const next = labs[at + 1] && urlOf(labs[at + 1][1]);
      if (next && !(isHere(next) && last.nextElementSibling?.id === decodeURIComponent(next.hash.slice(1)))) {
        last.after(lineTo(labs[at + 1], next, { title, page }));
      }
    }
    const list = document.querySelector(".md-nav--secondary:has(.of-path) .md-nav__list");
    if (list) list.prepend(make("li", "md-nav__item of-path", words("Needed for the path {}", title))), (list.scrollTop = 0);
  }

  const linkTo = (textContent, href, hreflang = "") => Object.assign(make("a", ""), { textContent, href, hreflang });

  // How the path goes on: at a lab, or at a section of this page or of another one.
  function lineTo([text, , name = text, , hreflang], { href, hash, pathname }, { title, page }) {
    const said = !hash ? name : pathname === location.pathname ? text : `${name}: ${text}`;
    const [before, between, after] = words("For the path {0}: go on with {1}.").split(/\{\d\}/);
    return make("p", "of-path", before, linkTo(title, urlOf(page).href), between, linkTo(said, href, hreflang), after);
  }

  // The page of the path that is `step` pages after this one. Around its pages is its own page.
  function onPath(step) {
    const path = stored(), pages = path ? pagesOf(path) : [];
    const place = pages.findIndex(([, address]) => isHere(urlOf(address)));
    if (place < 0) return null;
    const [title, address, hreflang = ""] = pages[place + step] ?? [path.title, path.page], number = address.match(/\/(\d\d\w?)_\w+\.html$/)?.[1];
    const isEnd = step > 0 && !pages[place + step];
    const said = isEnd ? words("The end of the path: {}", title) : step > 0 ? words("Next: {}", title) : words("Previous: {}", title);
    return { link: urlOf(address).href, hreflang, number, said, title, isEnd };
  }
  afterOnPath = () => onPath(1);

  const keptOf = (key) => {
    try {
      return JSON.parse(localStorage.getItem(`rushlight/${key}`)) ?? {};
    } catch {
      return {}; // not begun, or a browser that keeps nothing
    }
  };

  // A lab is done with all the points that a browser gives for it, or if the browser runs only a part of it, with all of its points.
  // A section of a reading is done when it was read. A lab is begun on its own page, which then keeps a time: an exercise that was done
  // in a reading gives points, too.
  const standing = ([, address, , runs]) => {
    const { pathname, hash } = urlOf(address);
    const [, reading, name] = pathname.match(/(\w+\/(\w+))\.html$/) ?? [], { sections, finished, points, of } = keptOf(hash ? `read ${reading}` : name);
    if (hash) return { isDone: Boolean(sections?.includes(decodeURIComponent(hash.slice(1)))) };
    const isDone = Boolean((finished && runs === "whole") || (of && points === of)), hasPoints = points > 0;
    return { isDone, hasPoints, isBegun: hasPoints && typeof keptOf(`${name} time`) === "number" };
  };
  const isDone = (entry) => standing(entry).isDone;
  const isLab = ([, address]) => !address.includes("#");

  farOnPath = () => {
    const { title, page, labs } = stored(), all = labs.filter(isLab), left = all.filter((lab) => !isDone(lab));
    const hours = left.reduce((sum, [, , , , , time]) => sum + time, 0);
    return { page: urlOf(page).href, title, said: finished(all.length - left.length, all.length, hours) };
  };

  // A path that an earlier version of this page keeps has no hours.
  const finished = (count, of, hours) => (hours ? words("{0} of {1} labs finished, about {2} hours left", count, of, grouped(hours)) : words("{0} of {1} labs finished", count, of));

  // What of a path is next, if anything is left, where a link to it leads, and how it is called. A page of which nothing is read opens at
  // its top, unless the path needs one section alone.
  function goingOn({ labs: all }) {
    const isBegun = (entry) => isDone(entry) || standing(entry).isBegun;
    // Of a lab that needs an installation the browser knows nothing. It is over when something after it has begun.
    const isOver = (lab) => isDone(lab) || (lab[3] !== "whole" && all.slice(all.indexOf(lab) + 1).some(isBegun));
    // A lab that is begun no longer needs what is read before it.
    const labs = all.filter(isLab), at = labs.findIndex((lab) => !isOver(lab)), lab = labs[at];
    const before = lab && !standing(lab).isBegun ? all.slice(at && all.indexOf(labs[at - 1]) + 1, all.indexOf(lab)) : [];
    const next = before.find((entry) => !isDone(entry)) ?? lab;
    if (!next) return {};
    const name = nameOf(next).split(" · ")[0], url = urlOf(next[1]);
    const page = all.filter((entry) => !isLab(entry) && urlOf(entry[1]).pathname === url.pathname);
    if (page.length > 1 && !page.some(isDone)) url.hash = "";
    const hasBegun = all.some((entry) => isDone(entry) || standing(entry).hasPoints);
    return { link: url.href, said: hasBegun ? words("Go on with {}", name) : words("Start with {}", name) };
  }

  for (const table of document.querySelectorAll(".path[data-path]")) {
    const below = (link) => link.href.slice(root.length);
    const page = `${location.href.split("#")[0].slice(root.length)}#${table.dataset.path}`;
    const links = [...table.querySelectorAll("td:first-child a")], aboutLab = (link) => link.closest("tr").querySelector("[data-hours]").dataset;
    const sections = (lab) => [...lab.closest("tr").querySelectorAll("td:nth-child(2) a")];
    const labs = links.flatMap((lab) => [...sections(lab), lab].map((link) => [link.textContent, below(link), link.dataset.page, aboutLab(link).runs, link.hreflang, link === lab && +aboutLab(lab).hours]));
    const title = document.getElementById(table.dataset.path).firstChild.textContent.trim();
    const button = Object.assign(make("button", ""), { type: "button" });
    button.dataset.choose = page;
    const path = { title, page, labs };
    if (stored()?.page === page) keep(path); // as the path is now, in the language of this page
    button.addEventListener("click", () => choose(stored()?.page === page ? null : path));
    const { link, said } = goingOn(path);
    const start = link ? Object.assign(make("a", "md-button md-button--primary", said), { href: link }) : make("b", "", words("All labs of this path are finished"));
    start.addEventListener("click", () => link && choose(path));
    const done = labs.filter(isLab).map(isDone);
    const hoursOf = (isCounted) => links.reduce((sum, link, at) => sum + (isCounted(aboutLab(link)) && !done[at]) * aboutLab(link).hours, 0);
    Object.assign(table.dataset, { left: hoursOf(() => true), leftHere: hoursOf(({ runs }) => runs === "whole") });
    for (const link of links.flatMap(sections)) {
      if (isDone([, below(link)])) link.after(Object.assign(make("small", "kept", "✓"), { title: words("read") }));
    }
    const count = done.filter(Boolean).length, far = count ? [" ", make("small", "", finished(count, links.length, +table.dataset.left))] : [];
    const fold = Object.assign(make("button", "fold", words("Labs and readings")), { type: "button", ariaExpanded: false }); // on a phone
    fold.addEventListener("click", () => (fold.ariaExpanded = table.classList.toggle("open")));
    table.querySelector(".buttons").append(start, " ", fold, " ", button, ...far);
  }

  show();

  // Home says which path it is, and its first button goes on with it.
  const home = document.querySelector(".hero .md-button"), chosen = stored();
  if (home && chosen) {
    home.parentElement.after(make("p", "", `${words("Your path:")} `, linkTo(chosen.title, urlOf(chosen.page).href)));
    const { link, said } = goingOn(chosen);
    if (link) Object.assign(home, { textContent: said, href: link });
  }

  // The page's own last links lead along the path, too.
  for (const [link, to] of [["prev", onPath(-1)], ["next", onPath(1)]]) {
    const footer = document.querySelector(`.md-footer__link--${link}`);
    if (!footer || !to) continue;
    Object.assign(footer, { href: to.link, hreflang: to.hreflang, ariaLabel: to.said });
    footer.querySelector(".md-ellipsis").textContent = to.title;
    if (to.isEnd) footer.querySelector(".md-footer__direction").textContent = words("The end of the path");
  }
}
