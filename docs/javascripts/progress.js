// What this browser keeps of the labs and of the readings, beside the links to them; on home the way to where the reader stopped; and
// which sections of a reading were read.
{
  const LAB = /phases\/\w+\/(\w+)\.html$/;
  const READING = /phases\/(\w+\/reading\w*)\.html$/;

  const stored = (key) => {
    try {
      return JSON.parse(localStorage.getItem(`rushlight/${key}`)) ?? {};
    } catch {
      return {}; // the browser keeps nothing
    }
  };

  const ticked = (text, title) => Object.assign(document.createElement("small"), { className: "kept", textContent: text, title });

  // What is kept of a reading, and of the pages of its parts.
  const keptOf = (reading) => {
    try {
      const keys = Object.keys(localStorage).filter((key) => key === `rushlight/read ${reading}` || key.startsWith(`rushlight/read ${reading}_`));
      return keys.map((key) => JSON.parse(localStorage.getItem(key)));
    } catch {
      return []; // the browser keeps nothing
    }
  };

  // What stands beside a link: of a lab its points, with a tick if it is finished in a page that gives half of them, and of a reading how many of its sections were
  // read, or a tick alone if it was read to its end.
  const standing = (address) => {
    const reading = address.match(READING)?.[1];
    if (reading) {
      const parts = keptOf(reading), count = parts.reduce((sum, { sections = [] }) => sum + sections.length, 0);
      if (parts.length && parts.every(({ whole }) => whole)) return ["✓", words("read")];
      return count ? [`✓ ${count}`, count === 1 ? words("one section read") : words("{} sections read", count)] : [];
    }
    const lab = address.match(LAB)?.[1];
    const { points, of, here, finished } = lab ? stored(lab) : {};
    if (!points) return [];
    const title = [words("{0} of {1} points", points, of), ...(here < of ? [words("up to {} in its page", here)] : [])].join(", ");
    if (finished && 2 * here < of) return [`${points}/${of}`, `${title}, ${words("all that its page can check is done")}`];
    return finished ? [`✓ ${points}/${of}`, `${title}, ${words("finished")}`] : [`${points}/${of}`, title];
  };

  const mark = () => {
    for (const link of document.querySelectorAll(":is(.md-nav__link, .card a, .md-typeset table a)[href]")) {
      const [text, title] = standing(link.href);
      link.querySelector(".kept:not(.section)")?.remove();
      if (text) (link.querySelector(".md-ellipsis") ?? link).append(ticked(text, title));
    }
    const { href, title, lab, exercise } = stored("last"); // a reading has a title
    const place = document.querySelector("[data-continue]");
    if (place && href) {
      const said = lab ? (exercise ? words("lab {0}, exercise {1}", lab, exercise) : words("lab {}", lab)) : title;
      const link = Object.assign(document.createElement("a"), { href, textContent: said });
      place.replaceChildren(`${words("Go on where you stopped:")} `, link);
    }
  };

  // A section was read when most of its blocks have been in sight, and some of them for a tenth of the section's minutes. A long one
  // ends with lists and links, which a reader may leave out.
  const MOST = 0.8;
  const follow = (reading) => {
    const key = `read ${reading}`;
    const read = new Set(stored(key).sections);
    const blocksOf = new Map(); // by the anchor of a section
    const seen = new Set(); // blocks
    const sectionOf = new Map(); // by a block
    const inSight = new Set(); // blocks
    const seconds = new Map(); // that a section was in sight
    let anchor;
    for (const block of document.querySelector("article").children) {
      if (block.matches("h2[id]:not(:has(+ .parts))")) blocksOf.set((anchor = block.id), []);
      if (!anchor || read.has(anchor)) continue;
      blocksOf.get(anchor).push(block);
      sectionOf.set(block, anchor);
    }
    const tick = (id) => {
      for (const link of document.querySelectorAll(".md-nav--secondary a[href]")) {
        if (decodeURIComponent(link.hash) !== `#${id}`) continue;
        const small = ticked("✓", words("read"));
        small.classList.add("section");
        link.querySelector(".md-ellipsis").append(small);
      }
    };
    const enough = (id) => {
      const link = [...document.querySelectorAll(".md-nav--secondary a[href]")].find((each) => decodeURIComponent(each.hash) === `#${id}`);
      return 6 * (parseInt(link?.querySelector("small")?.textContent) || 1); // a tenth of its minutes, in seconds
    };
    const isSeen = (id) => {
      const blocks = blocksOf.get(id).filter((block) => block.getClientRects().length); // what is hidden has not to be read
      return blocks.filter((block) => seen.has(block)).length >= MOST * blocks.length;
    };
    const watch = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        if (isIntersecting) inSight.add(target), seen.add(target);
        else inSight.delete(target);
      }
    });
    setInterval(() => {
      const now = new Set([...inSight].map((block) => sectionOf.get(block)));
      if (document.hidden || !now.size) return;
      for (const id of now) seconds.set(id, (seconds.get(id) ?? 0) + 1);
      const done = [...seconds.keys()].filter((id) => !read.has(id) && seconds.get(id) >= enough(id) && isSeen(id));
      if (!done.length) return;
      for (const id of done) read.add(id), tick(id);
      const next = [...blocksOf.keys()].find((id) => !read.has(id)), title = document.title.replace(/ - \w+$/, "");
      try {
        localStorage.setItem(`rushlight/${key}`, JSON.stringify({ sections: [...read], whole: !next, at: Date.now() }));
        if (next) localStorage.setItem("rushlight/last", JSON.stringify({ href: new URL(`#${next}`, location.href).href, title }));
      } catch {
        return; // the browser keeps nothing
      }
      mark();
    }, 1000);
    for (const id of blocksOf.keys()) if (read.has(id)) tick(id);
    for (const block of sectionOf.keys()) watch.observe(block);
  };

  mark();
  addEventListener("rushlight:kept", mark);
  const reading = location.pathname.match(READING)?.[1];
  if (reading) follow(reading);
}
