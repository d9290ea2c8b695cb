// A page of the API, filtered by name, and the overview, filtered by the names of all pages.
// Without this script a page has all its names, and no filter.
{
  const form = document.querySelector("form.names"), field = form.querySelector("input"), said = form.querySelector("output");
  const all = JSON.parse(document.getElementById("names")?.textContent ?? "null"); // for each page, its names
  const wanted = () => field.value.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

  // A name with what the page says of it, and the headings of the file above.
  function ofPage() {
    const heads = [...document.querySelectorAll("article :is(h2, h3)[id]")];
    const level = (head) => +head.tagName[1];
    const entries = heads.map((head, i) => {
      const next = heads[i + 1], parts = [head];
      while (parts.at(-1).nextElementSibling && parts.at(-1).nextElementSibling !== next) parts.push(parts.at(-1).nextElementSibling);
      const above = heads.slice(0, i).findLast((each) => level(each) < level(head));
      return { name: head.querySelector("code") && head.id.toLowerCase(), head, above, parts };
    });
    const named = entries.filter(({ name }) => name);
    return () => {
      const fits = new Set(named.filter(({ name }) => wanted().every((word) => name.includes(word))));
      const heading = new Set([...fits].map(({ above }) => above));
      for (const entry of entries)
        for (const part of entry.parts) part.hidden = wanted().length && !fits.has(entry) && !heading.has(entry.head);
      return fits.size && `${fits.size} of ${count(named.length, "name")}`;
    };
  }

  // A module of the overview, with those of its names that contain what is typed. A word with a dot is looked for in the whole name.
  function ofAll() {
    const modules = [...document.querySelectorAll("article dt")].map((term) => {
      const link = term.querySelector("a"), list = document.createElement("dd"), module = link.textContent;
      list.className = "found";
      term.nextElementSibling.after(list);
      const names = (all[link.getAttribute("href")] ?? "").split(" ").filter(Boolean);
      return { parts: [term, term.nextElementSibling, list], list, link, module: module.toLowerCase(), names: names.map((id) => [id, id.replace(/^op_/, "").replace("-", ".")]) };
    });
    const total = modules.reduce((sum, { names }) => sum + names.length, 0);
    const heads = [...document.querySelectorAll("article h2")];
    return () => {
      const words = wanted();
      let found = 0, shown = 0;
      for (const { parts, list, link, module, names } of modules) {
        const fits = names.filter(([, name]) => words.length && words.every((word) => (word.includes(".") ? `${module}.${name}` : name).toLowerCase().includes(word)));
        const visible = !words.length || fits.length || words.every((word) => module.includes(word));
        found += fits.length;
        shown += visible ? 1 : 0;
        for (const part of parts) part.hidden = !visible;
        list.hidden = !fits.length;
        list.replaceChildren(...fits.flatMap(([id, name]) => [Object.assign(document.createElement("a"), { href: `${link.href}#${id}`, innerHTML: `<code>${name}</code>` }), " "]));
      }
      for (const [i, head] of heads.entries()) {
        let next = head.nextElementSibling, some = false;
        for (; next && next !== heads[i + 1]; next = next.nextElementSibling) some ||= !!next.querySelector("dt:not([hidden])");
        head.hidden = !some;
      }
      return shown && `${found} of ${count(total, "name")}, ${count(shown, "module")}`;
    };
  }

  const narrow = all ? ofAll() : ofPage();
  const missed = () => (all ? `No name contains “${field.value}”.` : `No name on this page contains “${field.value}”. The overview finds the names of all pages.`);
  const show = () => {
    const fits = narrow();
    said.textContent = wanted().length ? fits || missed() : "";
  };

  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const links = [...document.querySelectorAll("article dd.found a")];
    const exact = links.find((link) => link.textContent.toLowerCase() === field.value.trim().toLowerCase());
    if (all && links.length) location.assign((exact ?? links[0]).href);
  });
  addEventListener("hashchange", () => ((field.value = ""), show(), document.getElementById(location.hash.slice(1))?.scrollIntoView()));
  if (field.value) show(); // that the browser kept
}
