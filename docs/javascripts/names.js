// A page of the API, filtered by name. Without this script the page has all its names, and no filter.
{
  const form = document.querySelector("form.names"), field = form.querySelector("input");
  const heads = [...document.querySelectorAll("article :is(h2, h3)[id]")];
  const level = (head) => +head.tagName[1];

  // A name with what the page says of it, and the headings of the file above.
  const entries = heads.map((head, i) => {
    const next = heads[i + 1], parts = [head];
    while (parts.at(-1).nextElementSibling && parts.at(-1).nextElementSibling !== next) parts.push(parts.at(-1).nextElementSibling);
    const above = heads.slice(0, i).findLast((each) => level(each) < level(head));
    return { name: head.querySelector("code") && head.id.toLowerCase(), head, above, parts };
  });
  const named = entries.filter(({ name }) => name);

  function show() {
    const wanted = field.value.trim().toLowerCase().split(/\s+/);
    const fits = new Set(named.filter(({ name }) => wanted.every((word) => name.includes(word))));
    const heading = new Set([...fits].map(({ above }) => above));
    for (const entry of entries)
      for (const part of entry.parts) part.hidden = field.value.trim() && !fits.has(entry) && !heading.has(entry.head);
    const missed = `No name on this page contains “${field.value}”. The search finds the names of all pages.`;
    form.querySelector("output").textContent = !field.value.trim() ? "" : fits.size ? `${fits.size} of ${named.length} names` : missed;
  }

  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  addEventListener("hashchange", () => ((field.value = ""), show(), document.getElementById(location.hash.slice(1))?.scrollIntoView()));
}
