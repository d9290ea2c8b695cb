// The search, for the words of a reader.
{
  // Its index is large. It is asked for when a reader turns to the search, not with every page.
  const { open, send } = XMLHttpRequest.prototype;
  const turned = new Promise((ready) => {
    for (const kind of ["change", "focusin", "pointerover"])
      document.addEventListener(kind, ({ target }) => target.matches?.("#__search, .md-search, .md-search *") && ready());
  });
  XMLHttpRequest.prototype.open = function (method, url, ...more) {
    this.waits = String(url).endsWith("search/search_index.json");
    return open.call(this, method, url, ...more);
  };
  XMLHttpRequest.prototype.send = function (body) {
    if (this.waits) turned.then(() => send.call(this, body));
    else send.call(this, body);
  };

  // What is asked goes to lunr as a query: each word, more than words that begin like the last one, and these more than near
  // spellings of a word that is nowhere. A name that the glossary knows for something also asks for the thing by its title.
  const SYNTAX = /"|(?:^|\s)[+-]\S|[*~^]/; // the reader's own query
  const SETUP = 0, QUERY = 2; // kinds of messages, of the theme
  const names = new Map();
  const known = new Set();
  let separator;
  const words = (text) => text.toLowerCase().split(separator).filter((word) => /[\p{L}\p{N}]/u.test(word));

  function learn({ config, docs }) {
    separator = new RegExp(config.separator);
    for (const { title, text, tags = [] } of docs) {
      for (const word of words(`${title} ${text.replace(/<[^>]*>/g, " ")}`)) known.add(word);
      for (const name of tags) names.set(name, [...(names.get(name) ?? []), ...words(title)]);
    }
  }

  function near(word) {
    const other = word.replace(/[sz](?=ation|e[drs]?$|ing$)/, (letter) => (letter === "s" ? "z" : "s"));
    if (other !== word && known.has(other)) return [`${other}^8`];
    return known.has(word) || word.length < 5 ? [] : [`${word}~${word.length < 9 ? 1 : 2}`];
  }

  function asked(query) {
    if (SYNTAX.test(query)) return query;
    const given = words(query);
    const last = given.at(-1) ?? "";
    const within = (text) => (name) => `_${text}_`.includes(`_${name}_`);
    const all = [...names.keys()].filter(within(given.join("_")));
    const called = all.filter((name) => !all.some((other) => other !== name && within(other)(name))); // the longest
    return [
      ...given.flatMap((word) => [`${word}^8`, ...near(word)]),
      ...(last.length > 2 && /\S$/.test(query) ? [`${last}*^1`] : []),
      ...called.flatMap((name) => [`${name}^8`, ...names.get(name).map((word) => `${word}^2`)]),
    ].join(" ");
  }

  // The theme searches when a key is released. A text may also be pasted, spoken or chosen.
  document.addEventListener("input", ({ target }) => {
    if (target.matches?.(".md-search__input")) target.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }));
  });

  window.Worker = class extends window.Worker {
    postMessage(message) {
      if (message.type === SETUP) learn(message.data);
      super.postMessage(message.type === QUERY ? { ...message, data: asked(message.data) } : message);
    }
  };
}
