// What this browser keeps of the labs, beside the links to them, and on home the way to where the reader stopped.
{
  const LAB = /phases\/\w+\/(\w+)\.html$/;

  const stored = (key) => {
    try {
      return JSON.parse(localStorage.getItem(`rushlight/${key}`)) ?? {};
    } catch {
      return {}; // the browser keeps nothing
    }
  };

  const mark = () => {
    for (const link of document.querySelectorAll(":is(.md-nav__link, .card a)[href]")) {
      const lab = link.href.match(LAB)?.[1];
      const { points, of } = lab ? stored(lab) : {};
      link.querySelector(".kept")?.remove();
      if (!points) continue;
      const title = words("{0} of {1} points", points, of);
      const sum = Object.assign(document.createElement("small"), { className: "kept", textContent: `${points}/${of}`, title });
      (link.querySelector(".md-ellipsis") ?? link).append(sum);
    }
    const { href, title } = stored("last");
    const place = document.querySelector("[data-continue]");
    if (place && href) {
      const link = Object.assign(document.createElement("a"), { href, textContent: title });
      place.replaceChildren(`${words("Go on where you stopped:")} `, link);
    }
  };

  mark();
  addEventListener("rushlight:kept", mark);
}
