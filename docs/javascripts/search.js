// The search, for the words of a reader.
{
  // Its index is large. It is asked for when the page has nothing else to do, or when a reader turns to the search.
  const { open, send } = XMLHttpRequest.prototype;
  const idle = window.requestIdleCallback ?? setTimeout; // Safari
  const turned = new Promise((ready) => {
    for (const kind of ["change", "focusin", "pointerover"])
      document.addEventListener(kind, ({ target }) => target.matches?.("#__search, .md-search, .md-search *") && ready());
  });
  const due = new Promise((ready) => {
    turned.then(ready);
    if (!navigator.connection?.saveData) addEventListener("load", () => setTimeout(() => idle(ready), 500));
  });
  XMLHttpRequest.prototype.open = function (method, url, ...more) {
    this.waits = String(url).endsWith("search/search_index.json");
    return open.call(this, method, url, ...more);
  };
  XMLHttpRequest.prototype.send = function (body) {
    if (this.waits) due.then(() => send.call(this, body));
    else send.call(this, body);
  };

  // Each word of a question is searched, and more words that begin like the last one. For a word that no page has, the nearest word of
  // the index is searched, and the reader is told so. A question also has words that say nothing of what it is about. The theme asks
  // a worker, which this script answers in its place: the words of all sections are read once, in pieces, when a reader turns to it.
  const SETUP = 0, READY = 1, QUERY = 2, RESULT = 3; // kinds of messages, of the theme
  const SPANISH = document.documentElement.lang === "es";
  const bare = (word) => (SPANISH ? word.normalize("NFD").replace(/\p{M}/gu, "") : word);
  const EMPTY = new Set(
    (
      "a about after again am an and any are as at be been before but by can cannot could did do does doing for from get gets getting go goes got had " +
      "between compare compared difference differences happen happens has have how i if in instead into is it its just like make makes me mean meaning means much must my need needs new no not now of on " +
      "know known one or our pytorch really s should so some someone something t tell than that the their them then there these they thing things this to too torch " +
      "understand us use used uses using want wants was we well were versus vs what when where which while who why will with without work works would you your explain f rl " +
      "example examples tutorial guide introduction" +
      (SPANISH
        ? " al como con cual cuales cuando cuanta cuantas cuanto cuantos de debe debo del desde diferencia diferencias donde el ella en entre es esa ese eso esta este esto fue funciona funcionan ha hace " +
          "hacen hacer hago hay la las le lleva lo los mas mi mis muy necesito no nos o otra otro para pero por puede pueden puedo que quiero se sea ser si " +
          "sirve significa son su sus te tengo tiene trabajo tu un una unos usa usan usar uso y ya dentro"
        : "")
    ).split(" "),
  );
  const ALIKE = [
    ...["save saved store stored", "size big large huge giant massive", "answer solution", "exercise task assignment homework", "hand submit", "picture figure diagram", "gpu nvidia card graphics"],
    ...["grow grows growing increase", "share send", "friend classmate partner", "continue resume", "begin start", "delete remove erase", "memory ram vram", "freeze frozen unfreeze", "batch minibatch"],
    ...["slow slowly slower slowness fast faster speed speedup performance quick quickly ages forever", "error fail fails failed failure crash crashes exception segfault", "operator op ops operation"],
    ...["points score grade grades graded mark marks", "dimension dim axis axes", "gradient grad", "backward backprop backpropagation", "deploy deployment ship production", "phone mobile smartphone tablet"],
    ...(SPANISH ? ["corte ruptura rotura rompe romper cortar roto", "respuesta solución", "compartir enviar", "calificar evaluar corregir", "fallo error", "ejecutar correr", "borrar eliminar quitar", "guardar almacenar", "núcleo kernel", "lote batch"] : []),
  ];
  const once = (f, known = new Map()) => (word) => known.get(word) ?? (known.set(word, f(word)), known.get(word));
  const names = new Set(); // of one word, that a section has
  const chapters = new Map(); // those of whole readings
  const having = new Map(); // for a stem, the questions that have it
  const own = new Map(); // for a section, its questions
  const sections = new Map(); // by location
  const places = new Map(); // for a stem, the sections that have it, and how often beside their titles
  const readOf = new Map(); // for a section, the stems of its title, and the number of its other words
  const api = new Map(); // for a name of PyTorch's in small letters, its sections of the API
  const known = new Map(); // for a word, the number of sections that have it
  let index, separator, query, content, mended, last, reading, questions = 0;
  const split = (text) => text.toLowerCase().replace(/\bvs code\b/g, "vscode").split(separator).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const plain = (text) => text.replace(/<[^>]*>/g, " ");
  const ENDING = SPANISH
    ? /(?<=...)(?:[ai]ciones|[ai]cion|[ai]mientos?|iendo|ando|mente|[ai]d[ao]s?|a[bn]|en|[aei]r|[aeo]s?|ings?|ed|s)$/
    : /(?<=...)(?:ations?|ions?|ings?|ers?|ied|ed|ies|es|s|e|y|i)$/;
  const SHORT = /^([^aeiou]+[aeiouy][^aeiouwxy])(?:e[ds]?|ers?|ings?)$/; // its e counts: `grade` is not `grad`
  const root = once((word) => bare(word).replace(/iz/, "is").replace(SPANISH ? /^$/ : SHORT, "$1·").replace(ENDING, "").replace(SPANISH ? /(?<=...)ion$/ : "", "").replace(/(.)\1$/, "$1"));
  const alike = new Map(ALIKE.flatMap((group) => group.split(" ").map((word, _, all) => [root(word), all])));
  const stem = once((word) => root(alike.get(root(word))?.[0] ?? word));
  const meant = (text) => {
    const given = split(text), rest = given.filter((word) => !EMPTY.has(bare(word)));
    return rest.length ? rest : given;
  };

  const stems = (text) => meant(plain(text)).map(stem);
  const heading = ({ title, english = [""] }) => `${title.replace(/^\w+ \d+\w?: /, "")} ${english[0]}`.trim();

  // Before the first question, and not when the index comes: most pages are read without a search.
  function* read() {
    for (const doc of index.docs) {
      const { location, title, text, english = [], asked = [] } = doc;
      sections.set(location, doc);
      const name = /^api\/.+#/.test(location) && ownName(location);
      if (name) api.set(name.toLowerCase(), [...(api.get(name.toLowerCase()) ?? []), location]);
      const body = split([plain(text), ...asked, english[1] ?? ""].join(" ")), titled = new Set(stems(heading(doc))), count = new Map([...titled].map((each) => [each, 0]));
      for (const word of body) count.set(stem(word), (count.get(stem(word)) ?? 0) + 1);
      for (const word of split(`${title} ${english[0] ?? ""}`)) count.set(stem(word), count.get(stem(word)) ?? 0);
      for (const [each, often] of count) places.has(each) ? places.get(each).push([location, often]) : places.set(each, [[location, often]]);
      readOf.set(location, [titled, body.length]);
      for (const word of new Set([...body, ...split(title)])) known.set(word, (known.get(word) ?? 0) + 1);
      for (const each of name ? [] : new Set([heading(doc), ...asked, ...asked.map((each) => each.replaceAll("_", " "))])) {
        const question = { location, text: each, stems: new Set(stems(each)) };
        own.has(location) ? own.get(location).push(question) : own.set(location, [question]);
        for (const each of question.stems) having.has(each) ? having.get(each).push(question) : having.set(each, [question]);
        if (/^\S+$/.test(each)) BEGINNING.test(location) ? chapters.set(each.toLowerCase(), location) : names.add(each.toLowerCase());
        questions++;
      }
      yield;
    }
  }

  function learn(deadline) {
    reading ??= read();
    while (!reading.next().done) if (deadline?.timeRemaining() < 5) return void idle(learn);
  }

  // The section of the API for a question that is a name, as `torch.where` or `nn.Linear(2, 3)`: of several the one that programs use.
  const INNER = /^api\/(aten\/(?!strided|functional|native\/(?:creation|random))|aot|autograd\/(derivatives|fused_pairs|graph)|c10|contribute|dynamo|inductor|on_torch|torchgen|_)/;
  const FAR = /^api\/(cuda|distributed|masked|return_types|utils)/; // whose names are called with their namespace
  const ownName = (location) => location.replace(/.*#(op_)?/, (_, operator) => (operator ? "op_" : "")).replace(/^op_([^-]*).*/, "$1").split(".").at(-1);
  function entryOf(query) {
    const called = query.trim().replace(/\(.*$/s, ""), parts = called.split("."), name = parts.pop();
    if (/\s/.test(called) || /\)[,;:]?\s+\p{L}/u.test(query)) return null; // a sentence, though it may have a call in it
    const before = parts.filter((part) => !/^(torch|rl|rushlight)$/.test(part)).map((part) => (part === "F" ? "functional" : part.toLowerCase()));
    const at = api.get(name.toLowerCase()) ?? api.get(name.toLowerCase().replace(/_$/, "")) ?? [], method = (location) => /#op_|#.*\./.test(location);
    const missing = (location) => {
      const within = location.toLowerCase().replace("#op_", "#tensor.").split(/[/.#]/); // an operator is a method too
      return before.filter((part) => !within.some((each) => each.startsWith(part))).length;
    };
    const variable = before.length && at.every(missing); // as in `loss.backward`
    const distant = (location) => {
      return (
        (ownName(location) === name ? 0 : 1) + 8 * missing(location) + (variable && !method(location) ? 0.7 : 0) +
        (/[/#._]_/.test(location) ? 4 : 0) + (INNER.test(location) ? 1.5 : FAR.test(location) && !before.length ? 0.5 : 0) + (/#op_/.test(location) ? 0.4 : /#Tensor\./.test(location) ? 0.3 : /#Module\./.test(location) ? 0.35 : /#.*\./.test(location) ? 0.6 : 0)
      );
    };
    const [best] = at.map((location) => [distant(location), location]).sort(([one], [other]) => one - other);
    const word = /^[a-z]+$/.test(query.trim()); // which may be meant as a word
    if (chapters.has(called.toLowerCase())) return null;
    const namespace = /\(/.test(query) || (best && method(best[1])) || before.every((part) => [...sections.keys()].some((location) => location.startsWith("api/") && location.includes(`/${part}`)));
    return best && namespace && (!word || (best[0] < 0.5 && !/#.*\./.test(best[1]) && !names.has(name))) ? best[1] : null;
  }

  const item = (location, score) => ({ ...sections.get(location), score, terms: {} });

  // Put a section before all that is found.
  function putFirst(items, location) {
    const page = location.replace(/#.*/, ""), at = items.findIndex(([{ location }]) => location.replace(/#.*/, "") === page);
    const [group] = at < 0 ? [page === location ? [] : [item(page, 0)]] : items.splice(at, 1);
    items.unshift([item(location, 1 + (items[0]?.[0].score ?? 0) + (group[0]?.score ?? 0)), ...group.filter((each) => each.location !== location)]);
  }

  // For a question of words that say nothing by themselves, the sections whose titles have them.
  function titled(given) {
    const all = [...sections.keys()].filter((location) => !location.startsWith("api/"));
    return all.filter((location) => ((title) => given.every((word) => title.includes(word)))(split(plain(sections.get(location).title)))).slice(0, 8);
  }

  // For a word that no page has, the nearest one, and of several the one that most sections have.
  const nearest = (word) => {
    const most = word.length < 4 ? 0 : word.length < 8 ? 1 : 2;
    let [best, least] = [word, Infinity];
    for (const [each, count] of most ? known : []) {
      if (Math.abs(each.length - word.length) > most) continue;
      const steps = distance(word, bare(each)), far = steps + (each[0] === word[0] ? 0 : 0.5) + 0.4 / (1 + count);
      if (steps <= most && far < least) [best, least] = [each, far];
    }
    return best;
  };

  // The words of a question that say what it is about, as the index has them. A last word is taken for the beginning of another one,
  // if that is so much more frequent.
  const OFTEN = 20;
  function asked(given) {
    [query, mended, last] = [given, "", ""];
    last = /\S$/.test(query) ? split(query).at(-1) ?? "" : ""; // a word that may not be whole
    const whole = (word) => [...known.keys()].filter((each) => bare(each).startsWith(bare(word))).sort((one, other) => known.get(other) - known.get(one))[0];
    content = meant(query.replace(WITHOUT, " ").replace(/(^|\s)\+/g, "$1")).map((word) => {
      const begun = word === last && word.length > 1 && whole(word), often = known.get(word) ?? 0;
      if (places.has(stem(word)) && !(begun && known.get(begun) > OFTEN * (often + 1))) return word;
      if (begun) return begun;
      const right = nearest(bare(word));
      if (right !== bare(word)) mended = (mended || query.toLowerCase()).replace(word, right);
      return right;
    });
  }

  // What is found is put in the order of how much of the question it answers: a section by its words, the rare ones most, those of
  // its title more, and by the part of the question that it has; and by how alike what is typed is to its title, or to the question
  // of its own that is most alike, and to all of them together: the words of a long one are seldom in one alone. Not each word needs
  // to be there.
  const LONG = 150; // words of a usual section
  const SHOWN = [8, 20]; // pages that are shown, at least and at most: the others if they answer a part of the question as large as
  const LEAST = 0.03; // of what the first one answers
  const CLOSE = 0.6;
  const DEFINED = /^\W*(what(['’]?s| is| are| does)|meaning of|(?=.* meaning$)|qué (es|son|significa)|que (es|son|significa)|significado de)\b/i; // a definition is asked for
  const BROAD = /^\W*(how (does|do|is|are|can) .*\bwork|how .* works|what (does|do) .* do\b|explain |cómo funcionan? |qué hacen? |para qué sirven? |explica)/i; // a whole reading answers
  const BEGINNING = /^phases\/[^#]*\/reading(_\d\d\w)?\.html(#part-|$)/; // of a reading or of a part
  const KINDS = [[/^phases\/.*\/reading_for/, 1.1], [/^phases\/.*\/reading/, 1.4], [/^students/, 1.6], [/^phases/, 0.6], [/^(anywhere|map|instructors|gpu|lms)/, 1.2], [/^figures/, 0.5], [/^(api|index|why)/, 0.25]];
  const rarity = (each) => Math.sqrt(Math.log(1 + questions / (having.get(each)?.length ?? 0.5)));
  const sum = (all) => [...all].reduce((total, each) => total + rarity(each), 0);
  const length = (all) => Math.hypot(...[...all].map(rarity));

  const lengthOf = (question) => (question.length ??= length(question.stems));

  // How long the sum of a section's questions is, each of length 1.
  const span = once((location) => {
    const total = new Map();
    for (const question of own.get(location)) for (const each of question.stems) total.set(each, (total.get(each) ?? 0) + rarity(each) / lengthOf(question));
    return Math.hypot(...total.values());
  });

  // For each section, the cosine between the words of what is typed and those of its question that is most alike, and of the sum of all.
  function likeness(wanted) {
    const shared = new Map(), best = new Map(), together = new Map(), whole = length(wanted);
    for (const each of wanted) for (const question of having.get(each) ?? []) shared.set(question, (shared.get(question) ?? 0) + rarity(each) ** 2);
    for (const [question, product] of shared) {
      const { location } = question, cosine = product / whole / lengthOf(question);
      best.set(location, Math.max(best.get(location) ?? 0, cosine));
      together.set(location, (together.get(location) ?? 0) + cosine / span(location));
    }
    return [best, together];
  }

  // The sections that have a word of the question, by page, the best first.
  function found() {
    const wanted = new Set(content.map(stem).filter((each) => places.has(each))), counts = new Map();
    const [alikeness, together] = likeness(wanted), whole = sum(wanted), broad = BROAD.test(query), defined = DEFINED.test(query) || split(query).length < 2;
    for (const each of wanted) for (const [location, often] of places.get(each)) counts.has(location) ? counts.get(location).set(each, often) : counts.set(location, new Map([[each, often]]));
    const value = (location, count) => {
      const [titled, words] = readOf.get(location), like = alikeness.get(location) ?? 0;
      const often = (n) => n / (n + 0.5 + (0.4 * words) / LONG);
      const has = [...count].reduce((total, [each, n]) => total + rarity(each) * (often(n) + titled.has(each)), 0) / whole;
      const named = ({ stems }) => stems.size && [...stems].every((each) => wanted.has(each)); // `saved tensor` is no answer to `tensor`
      const term = location.startsWith("glossary") && defined && own.get(location)?.some(named) && (broad ? 1.2 : 1.8);
      const kind = term || (broad && BEGINNING.test(location) ? 2 : KINDS.find(([page]) => page.test(location))?.[1] ?? 0.9);
      return (has * (sum(count.keys()) / whole) ** 2 + 2 * like ** 3 + (together.get(location) ?? 0)) * kind * (sections.get(location).english ? 0.9 : 1);
    };
    const pages = new Map(), allowed = wants();
    for (const [location, count] of counts) {
      const page = location.replace(/#.*/, "");
      if (allowed(location)) pages.set(page, [...(pages.get(page) ?? []), item(location, value(location, count))]);
    }
    for (const [page, group] of pages) {
      if (!group.some(({ location }) => location === page)) group.push(item(page, 0)); // the theme shows each page
      const own = group.find(({ location }) => location === page), heading = group.findIndex((each) => each !== own && each.title === own.title);
      if (heading >= 0) own.score = Math.max(own.score, group.splice(heading, 1)[0].score); // which says the same
      group.sort((a, b) => b.score - a.score);
    }
    const items = [...pages.values()];
    items.sort(([a], [b]) => b.score - a.score);
    const last = items.findIndex(([first], i) => i === SHOWN[1] || (i >= SHOWN[0] && first.score < LEAST * items[0][0].score));
    return last >= 0 ? items.slice(0, last) : items;
  }

  // Which sections the reader wants: `-word`, `+word`, or a "phrase" that is the whole question.
  const WITHOUT = /(?:^|\s)-[a-z]\w*(?=\s|$)/gi, WITH = /(?:^|\s)\+[a-z]\w*(?=\s|$)/gi;
  function wants() {
    const having = (pattern) => (query.match(pattern) ?? []).map((word) => new Set(places.get(stem(word.trim().slice(1).toLowerCase()))?.map(([location]) => location)));
    const phrase = /^\s*"([^"]+)"\s*$/.exec(query)?.[1].toLowerCase(), needed = having(WITH), excluded = having(WITHOUT);
    const says = ({ title, text }) => `${title} ${plain(text)}`.toLowerCase().includes(phrase);
    return (location) => needed.every((each) => each.has(location)) && !excluded.some((each) => each.has(location)) && (!phrase || says(sections.get(location)));
  }

  // Of a block that is longer than some lines, the words around the first that the question has.
  const LINES = 30; // words
  function cut(block, hit) {
    const all = plain(block).split(/\s+/).filter(Boolean);
    if (all.length <= LINES || block.startsWith("<pre")) return block;
    const first = all.findIndex((word) => split(word).some(hit)), start = Math.max(0, Math.min(first - 10, all.length - LINES));
    return `<p>${start ? "… " : ""}${all.slice(start, start + LINES).join(" ")}${start + LINES < all.length ? " …" : ""}</p>`;
  }

  // The question of a section that is most alike, for one that has no word of what is typed: it was found by this. The first is its title.
  function reason(location, sought) {
    const like = (question) => sum([...question.stems].filter((each) => sought.has(each))) / lengthOf(question);
    const all = (own.get(location) ?? []).slice(1), likes = all.map(like), most = Math.max(0, ...likes), best = all[likes.indexOf(most)];
    return most ? best.text.replace(/[&<>]/g, (each) => `&#${each.charCodeAt()};`) : null;
  }

  // What is shown of a section: the two blocks that have most of the words, with the words marked, and others that say the same.
  function shown(group) {
    const sought = new Set(content.map(stem)), begun = last.length > 2 && !EMPTY.has(bare(last)) && !mended ? bare(last) : null;
    const hit = (word) => !EMPTY.has(bare(word)) && (sought.has(stem(word)) || (begun && bare(word).startsWith(begun)));
    const marked = (text) => text.replace(/<[^>]*>|&#?\w+;|[\p{L}\p{N}_]+(?:\+\+)?/gu, (word) => (/^[<&]/.test(word) || !hit(word.toLowerCase()) ? word : `<mark>${word}</mark>`));
    for (const each of group) {
      const { title, text, english } = sections.get(each.location);
      const blocks = text.split(/(?<=<\/(?:p|ul|ol|pre)>)\s*(?=<)/).map((block, at) => ({ block, at, hits: new Set(split(plain(block)).filter(hit).map(stem)).size }));
      const best = [...blocks].sort((one, other) => other.hits - one.hits).filter(({ hits }, i) => hits || !i).slice(0, 2);
      each.text = best.sort((one, other) => one.at - other.at).map(({ block }) => marked(cut(block, hit))).join("");
      const why = /<mark>/.test(marked(title) + each.text) || !each.score ? null : reason(each.location, sought);
      if (why) each.text = `<p>${words("In other words: “{0}”", marked(why))}</p>${each.text}`;
      each.title = marked(title) + (english && !each.location.includes("#") ? ` <small>(${words("in English")})</small>` : "");
    }
  }

  // The theme searches when a key is released. A text may also be pasted, spoken or chosen.
  document.addEventListener("input", ({ target }) => {
    if (target.matches?.(".md-search__input")) target.dispatchEvent(new KeyboardEvent("keyup", { bubbles: true }));
  });

  const said = Object.assign(document.createElement("p"), { className: "md-search-result__mended", role: "status" });

  class Search extends EventTarget {
    postMessage({ type, data }) {
      const answer = (type, data) => this.dispatchEvent(new MessageEvent("message", { data: { type, data } }));
      if (type === SETUP) {
        index = data;
        separator = new RegExp(index.config.separator);
        turned.then(() => idle(learn));
        setTimeout(answer, 0, READY);
      } else if (type === QUERY) setTimeout(() => answer(RESULT, { items: data ? results(data) : (said.replaceChildren(), []) }));
    }

    set onmessage(heard) {
      this.removeEventListener("message", this.heard);
      this.addEventListener("message", (this.heard = heard));
    }
  }

  function way(page, textContent) {
    const { base } = JSON.parse(document.getElementById("__config").textContent); // in another language it ends with a slash
    return Object.assign(document.createElement("a"), { href: `${base.replace(/\/$/, "")}/${page}.html`, textContent });
  }

  function results(given) {
    learn();
    asked(given);
    const entry = entryOf(query), items = found();
    if (content.length && !items.length && !entry) for (const each of titled(content).reverse()) putFirst(items, each);
    if (entry) putFirst(items, entry);
    const word = query.trim().toLowerCase(), [{ title, location, asked: called = [] }] = items[0] ?? [{}];
    if (chapters.has(word) && location?.startsWith("glossary") && ![title, ...called].some((each) => each.toLowerCase() === word)) putFirst(items, chapters.get(word));
    // The theme shows of a page the sections that answer as much as the first: here also a second one that is near to it.
    for (const [first, second] of items) if (second?.score > CLOSE * first.score) second.score = first.score;
    items.forEach(shown);
    said.textContent = mended && words("Searched for “{0}”.", mended);
    if (!items.length) said.append(words("Where the terms and the parts are:"), " ", way("glossary", words("Glossary")), ", ", way("map", words("Map")));
    document.querySelector(".md-search-result__list")?.before(said);
    return items;
  }

  window.Worker = new Proxy(window.Worker, {
    construct: (Built, [address, ...more]) => (/\/workers\/search\.\w+(\.min)?\.js$/.test(address) ? new Search() : new Built(address, ...more)),
  });
}
