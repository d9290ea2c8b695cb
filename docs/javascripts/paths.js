// A path through the course in the list of pages: the reader chooses it on the page of the paths, and this browser keeps it.
let afterOnPath; // what the path of the reader has after this page, or null. The path ends on its own page.
{
  const KEY = "rushlight/path";
  const NARROW = matchMedia("(max-width: 76.1875em)"); // where the theme has a drawer
  const root = new URL(JSON.parse(document.getElementById("__config").textContent).base + "/", location.href).href;

  const stored = () => {
    try {
      const { title, page, labs } = JSON.parse(localStorage.getItem(KEY));
      return labs.every(Array.isArray) ? { title, page, labs } : null;
    } catch {
      return null; // no path, or a browser that keeps nothing
    }
  };

  const make = (tag, className, ...inside) => {
    const made = Object.assign(document.createElement(tag), { className });
    made.append(...inside);
    return made;
  };

  // A link of the list. Addresses are kept below the site's own, and one that leads elsewhere is none of this script's.
  const entry = ([text, address]) => {
    const link = make("a", "md-nav__link", make("span", "md-ellipsis", text));
    link.href = new URL(address, root).href;
    const here = link.href.startsWith(root) && link.pathname === location.pathname;
    if (here) link.ariaCurrent = "page";
    return link.href.startsWith(root) ? make("li", "md-nav__item", link) : "";
  };

  function choose(path) {
    try {
      if (path) localStorage.setItem(KEY, JSON.stringify(path));
      else localStorage.removeItem(KEY);
    } catch {
      // the list is changed on this page all the same
    }
    show(path);
    dispatchEvent(new Event("rushlight:kept")); // so that the points are at the new links
  }

  function show(path = stored()) {
    const nav = document.querySelector(".md-nav--primary");
    if (!nav) return;
    nav.querySelector(".on-path")?.remove();
    nav.classList.toggle("follows-path", Boolean(path));
    if (path) {
      // a narrow screen shows one level of the list alone: that of the page
      const here = [...nav.querySelectorAll(":scope .md-nav__item--active")].at(-1);
      const list = (NARROW.matches && here?.parentElement) || nav.querySelector(".md-nav__list");
      const all = Object.assign(make("button", "", words("Show all pages")), { type: "button" });
      all.addEventListener("click", () => choose(null));
      const labs = make("ul", "md-nav__list", entry([path.title, path.page]), ...path.labs.map(entry));
      list.prepend(make("li", "on-path", labs, all));
    }
    for (const button of document.querySelectorAll("button[data-choose]")) {
      button.textContent = path?.page === button.dataset.choose ? words("Show all pages in the list of pages") : words("Show this path in the list of pages");
      button.ariaLabel = `${button.textContent}: ${sectionOf(button)}`;
    }
  }

  afterOnPath = () => {
    const { title, page, labs } = stored() ?? { labs: [] }, here = location.href.split(/[?#]/)[0];
    const place = labs.findIndex(([, address]) => here === new URL(address, root).href.split("#")[0]);
    if (place < 0) return null;
    const [text, address] = labs[place + 1] ?? [title, page], number = text.match(/^\d\d\w?\b/)?.[0];
    const said = labs[place + 1] ? words("Next: {}", text) : words("The end of the path: {}", title);
    return { link: new URL(address, root).href, number, said, title: text };
  };

  const keptOf = (key) => {
    try {
      return JSON.parse(localStorage.getItem(`rushlight/${key}`)) ?? {};
    } catch {
      return {}; // not begun, or a browser that keeps nothing
    }
  };

  // A lab is done with all of its points, and a section of a reading when it was read.
  const standing = (link) => {
    const [, reading, name] = link.pathname.match(/(\w+\/(\w+))\.html$/), { sections, finished, points, of } = keptOf(link.hash ? `read ${reading}` : name);
    if (link.hash) return { isDone: Boolean(sections?.includes(decodeURIComponent(link.hash.slice(1)))) };
    return { isDone: Boolean(finished || (of && points === of)), isBegun: points > 0 };
  };
  const isDone = (link) => standing(link).isDone;

  for (const table of document.querySelectorAll(".path[data-path]")) {
    const below = (link) => link.href.slice(root.length);
    const page = `${location.href.split("#")[0].slice(root.length)}#${table.dataset.path}`;
    const links = [...table.querySelectorAll("td:first-child a")];
    const named = (link) => {
      if (!link.hash) return link.textContent.split(" ")[0];
      const [, number] = link.pathname.match(/reading_(\d\d\w)\.html$/) ?? link.pathname.match(/phases\/(\d\d)/);
      return words("Reading {}", number);
    };
    const labs = []; // each after the readings that its row names
    for (const row of table.querySelectorAll("tbody tr")) {
      const lab = row.querySelector("td:first-child a");
      for (const link of lab ? row.querySelectorAll("td:nth-child(2) a") : []) {
        const page = (address) => address.split("#")[0];
        if (!labs.some(([, address]) => page(address) === page(below(link)))) labs.push([named(link), below(link)]);
      }
      if (lab) labs.push([lab.firstChild.textContent, below(lab)]);
    }
    const title = document.getElementById(table.dataset.path).firstChild.textContent.trim();
    const button = Object.assign(make("button", ""), { type: "button" });
    button.dataset.choose = page;
    button.addEventListener("click", () => choose(stored()?.page === page ? null : { title, page, labs }));
    // A lab that is begun no longer needs what is read before it.
    const lab = links.find((link) => !isDone(link));
    const before = lab && !standing(lab).isBegun ? [...lab.closest("tr").querySelectorAll("td:nth-child(2) a")] : [];
    const next = before.find((link) => !isDone(link)) ?? lab;
    const isNew = ![...table.querySelectorAll("td a")].some((link) => isDone(link) || standing(link).isBegun);
    const said = isNew ? words("Start with {}", named(next)) : next ? words("Go on with {}", named(next)) : words("All labs of this path are finished");
    const start = next ? Object.assign(make("a", "md-button md-button--primary", said), { href: next.href }) : make("b", "", said);
    start.addEventListener("click", () => next && choose({ title, page, labs }));
    const done = links.filter(isDone), left = links.reduce((sum, link) => sum + !isDone(link) * link.closest("tr").querySelector("[data-hours]").dataset.hours, 0);
    table.dataset.left = left; // hours
    const far = done.length ? [" ", make("small", "", words("{0} of {1} labs finished", done.length, links.length))] : [];
    const fold = Object.assign(make("button", "fold", words("Labs and readings")), { type: "button", ariaExpanded: false }); // on a phone
    fold.addEventListener("click", () => (fold.ariaExpanded = table.classList.toggle("open")));
    table.querySelector(".buttons").append(start, " ", fold, " ", button, ...far);
  }

  show();

  // The page's own last link leads along the path, too.
  const footer = document.querySelector(".md-footer__link--next"), next = afterOnPath();
  if (footer && next) {
    Object.assign(footer, { href: next.link, ariaLabel: next.said });
    footer.querySelector(".md-ellipsis").textContent = next.title;
  }
}
