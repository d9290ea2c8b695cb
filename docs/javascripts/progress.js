// What this browser keeps of the labs and of the readings, beside the links to them; on home the way to where the reader stopped; and
// which sections of a reading the reader has scrolled through.
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

  // What stands beside a link: of a lab its points, with a tick if it is finished, and of a reading a tick if it was read to its end.
  const standing = (address) => {
    const reading = address.match(READING)?.[1];
    if (reading) return stored(`read ${reading}`).whole ? ["✓", words("read")] : [];
    const lab = address.match(LAB)?.[1];
    const { points, of, finished } = lab ? stored(lab) : {};
    if (!points) return [];
    const title = words("{0} of {1} points", points, of);
    return finished ? [`✓ ${points}/${of}`, `${title}, ${words("finished")}`] : [`${points}/${of}`, title];
  };

  const mark = () => {
    for (const link of document.querySelectorAll(":is(.md-nav__link, .card a, .md-typeset table a)[href]")) {
      const [text, title] = standing(link.href);
      link.querySelector(".kept:not(.section)")?.remove();
      if (text) (link.querySelector(".md-ellipsis") ?? link).append(ticked(text, title));
    }
    const { href, title, lab, exercise } = stored("last"); // an earlier version kept a title
    const place = document.querySelector("[data-continue]");
    if (place && href) {
      const said = lab ? (exercise ? words("lab {0}, exercise {1}", lab, exercise) : words("lab {}", lab)) : title;
      const link = Object.assign(document.createElement("a"), { href, textContent: said });
      place.replaceChildren(`${words("Go on where you stopped:")} `, link);
    }
  };

  // A section was read when all that is in it has been in sight.
  const follow = (reading) => {
    const key = `read ${reading}`;
    const read = new Set(stored(key).sections);
    const unseen = new Map(); // by the anchor of a section, its blocks
    const sectionOf = new Map(); // by a block
    let anchor;
    for (const block of document.querySelector("article").children) {
      if (block.matches("h2[id]")) unseen.set((anchor = block.id), new Set());
      if (!anchor || read.has(anchor)) continue;
      unseen.get(anchor).add(block);
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
    const isRead = (id) => [...unseen.get(id)].every((block) => !block.getClientRects().length); // what is hidden has not to be read
    const watch = new IntersectionObserver((entries) => {
      const changed = new Set();
      for (const { target, isIntersecting } of entries) {
        if (!isIntersecting) continue;
        watch.unobserve(target);
        changed.add(sectionOf.get(target));
        unseen.get(sectionOf.get(target)).delete(target);
      }
      const done = [...changed].filter((id) => !read.has(id) && isRead(id));
      if (!done.length) return;
      for (const id of done) read.add(id), tick(id);
      const whole = [...unseen.keys()].every((id) => read.has(id));
      try {
        localStorage.setItem(`rushlight/${key}`, JSON.stringify({ sections: [...read], whole }));
      } catch {
        return; // the browser keeps nothing
      }
      mark();
    });
    for (const id of unseen.keys()) if (read.has(id)) tick(id);
    for (const block of sectionOf.keys()) watch.observe(block);
  };

  mark();
  addEventListener("rushlight:kept", mark);
  const reading = location.pathname.match(READING)?.[1];
  if (reading) follow(reading);
}
