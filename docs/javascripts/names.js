// A page of the API, filtered by name, and the overview, filtered by the names of all pages.
// Without this script a page has all its names, and no filter.
{
  const form = document.querySelector("form.names"), field = form.querySelector("input"), said = form.querySelector("output");
  const all = JSON.parse(document.getElementById("names")?.textContent ?? "null"); // for each page, its names
  let listed = []; // the names of all pages
  const wanted = () => field.value.replace(/\(.*|=\s*(True|False|None|[\d.]+)\s*$/, "").trim().split(/\s+/).filter(Boolean); // of a call, what is called
  const count = (number, noun) => `${number} ${noun}${number === 1 ? "" : "s"}`;

  // What is typed may be a name as code has it. `nn.Linear` is a name, `Linear`, and what stands before it. A namespace that has all is left out.
  const FILE = /\.(cpp|h|hpp|cu|cuh|py|pyi|yaml)$/;
  const typed = (word) => {
    const parts = FILE.test(word) ? [word.split("/").at(-1)] : word.replaceAll("::", ".").split(".").filter(Boolean), all = /^(torch|rl|rushlight)$/i.test(parts[0]) && parts[1];
    const rest = all ? parts.slice(1) : parts, before = rest.slice(0, -1);
    return { whole: rest.join("."), last: rest.at(-1) ?? "", owner: before.join("."), top: all && !before.length, before: before.flatMap((part) => (part === "F" ? ["nn", "functional"] : part.toLowerCase())) };
  };

  // How well a name fits: as it is typed, but for its case and its underscores, by its beginning, by that of one of its words, or by a part of it.
  const bare = (name) => name.toLowerCase().replaceAll("_", "");
  const inner = (name) => (name.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+/g) ?? []).map((_, i, all) => all.slice(i).join("").toLowerCase());
  const WITHIN = 5;
  const fit = (name, part) => {
    const [known, given] = [bare(name), bare(part)];
    return name === part ? 0 : known === given ? 1 : known.startsWith(given) ? 2 : !known.includes(given) ? Infinity : inner(name).some((rest) => rest.startsWith(given)) ? 3 : WITHIN;
  };

  // A name of an inner part of the framework comes after the names that programs use, and a private name and a variant last.
  const INNER = /^(aten\.(?!strided|functional)|aot|autograd\.(derivatives|fused_pairs|graph)|c10|clinic|contribute|course|dynamo|inductor|nn\.modules\.state_dict|on_torch|torchgen|_)/;
  const LAST = 6;

  // How well the title of a page fits: as it is typed, or by the beginning of one of its words.
  const titled = (title, part) => (bare(title) === bare(part) ? 0.5 : title.split(/[^\w]+/).some((word) => bare(word).startsWith(bare(part))) ? 2.5 : Infinity);

  // A name with what the page says of it, and the headings of the file above.
  function ofPage() {
    const heads = [...document.querySelectorAll("article :is(h2, h3)[id]")];
    const level = (head) => +head.tagName[1];
    const entries = heads.map((head, i) => {
      const next = heads[i + 1], parts = [head];
      while (parts.at(-1).nextElementSibling && parts.at(-1).nextElementSibling !== next) parts.push(parts.at(-1).nextElementSibling);
      const above = heads.slice(0, i).findLast((each) => level(each) < level(head));
      const more = parts.flatMap((part) => [...part.querySelectorAll("span[id]:empty")].map(({ id }) => id)); // of the block of a class, and other names
      return { names: head.querySelector("code") ? [head.id, ...more] : [], head, above, parts };
    });
    const named = entries.flatMap(({ names, ...entry }) => names.map((name) => ({ ...entry, name })));
    const having = (part) => named.filter(({ name }) => fit(name, part) < Infinity);
    const ofModule = (part) => document.querySelector("article h1 code").textContent.split(".").some((each) => fit(each, part) < 3);
    return () => {
      const words = wanted().map(typed).filter(({ whole }, _, { length }) => length === 1 || having(whole).length || !ofModule(whole));
      const each = words.map(({ whole, last }) => (having(whole).length ? having(whole) : having(last)));
      const fits = named.filter((entry) => each.every((found) => found.includes(entry)));
      const shown = new Set(fits.flatMap(({ head, above }) => [head, above]));
      for (const { head, parts } of entries)
        for (const part of parts) part.hidden = wanted().length && !shown.has(head);
      return fits.length && `${fits.length} of ${count(named.length, "name")}`;
    };
  }

  // The modules of the overview that have what is typed, in any order, in a name, in their own or in their title, each with its names that have it: first those whose name is what is typed,
  // then those whose name begins so, then the others. A module with names of several kinds comes several times.
  function ofAll() {
    const modules = [...document.querySelectorAll("article dt")].map((term) => {
      const link = term.querySelector("a"), module = link.textContent;
      const [, heads, rest] = (all[link.getAttribute("href")] ?? "").match(/^(?:=(\S*) ?)?(.*)$/), listed = rest.split(" ").filter(Boolean);
      const methods = new Set(listed.filter((known) => /^\w+\./.test(known)).map((known) => known.match(/\.(\w+)/)[1])); // a function of the same name is a part of one
      const names = listed.map((known) => {
        const [, id, form, spaces, answers] = known.match(/^([^~!=]+)(~?)(?:!([^=]*))?(?:=(.*))?$/); // `form`: of a function that has an entry
        const homes = spaces?.split(",") ?? [], isPublic = homes.includes(""); // of `rushlight` itself
        const name = id.replace(/^op_/, "").replace("-", "."), parts = name.split(".");
        const operator = id.startsWith("op_"), own = operator ? parts[0] : parts.at(-1);
        const last = /(^|\.)_(?!_)/.test(`${module}.${own}`) || (operator && (own.endsWith("_") || /[._]out$/.test(name)));
        const far = operator ? 0.4 : /^Tensor\./.test(name) ? 0.3 : /^Module\./.test(name) ? 0.35 : parts[1] ? 0.6 : /^(aten\.|distributed|masked|return_types|utils)/.test(module) ? 0.5 : 0.1;
        const helper = !operator && !parts[1] && !isPublic && methods.has(name);
        const behind = last ? LAST : (helper ? 0.5 : 0) + (INNER.test(module) && !isPublic ? 1.5 : 0) + (isPublic ? (operator ? 0.2 : 0) : far);
        const called = [name, `${module}.${name}`, ...homes.map((home) => `${home && `${home}.`}${own}`)].map((each) => each.toLowerCase());
        return { id, name, own, behind, called, answers: answers?.split(",") ?? [], isPublic, form, operator, method: operator || parts[1], within: `${module}.${operator ? "tensor." : ""}${name}`.toLowerCase().split(".") };
      });
      return { term, said: term.nextElementSibling, href: link.href, module, names, answers: heads?.split(",") ?? [] };
    });
    const whole = [...form.parentElement.children].slice([...form.parentElement.children].indexOf(form) + 1).filter((each) => each.matches("h2, dl"));
    listed = modules.flatMap(({ names, href }) => names.map(({ own, id }) => ({ own, href: `${href}#${id}` })));
    const results = document.createElement("dl");
    form.after(results);

    // What stands before the name counts only where it leaves a name that fits as well. Otherwise it is a variable, as in `loss.backward`,
    // or a class that inherits the method. `aten.add.Tensor` is an operator.
    function found(word) {
      const { whole, last, before, owner, top } = word, [, called] = whole.match(/^(?:ops\.)?aten\.(\w+(?:\.\w+)?)$/) ?? [];
      const all = modules.flatMap(({ names }) => names), known = called ? all.filter(({ operator, own, name }) => operator && [own, name].includes(called)) : [];
      const named = known.length ? new Map(known.map((each) => [each, each.behind])) : narrowed(fitting(all, whole, last, before, owner, top), all, word);
      const others = top || known.length ? [] : all.filter((each) => !named.has(each) || named.get(each) > ANSWER);
      const itself = [...named].filter(([{ own }]) => bare(own) === bare(last)).map(([, value]) => value); // comes first
      const after = Math.max(ANSWER, itself.length && Math.min(...itself));
      return new Map([...named, ...others.filter(({ answers }) => answer(answers, whole)).map((each) => [each, after + each.behind / 10])]);
    }

    // What PyTorch calls a part that has another name here: a name of its source, or a file.
    const ANSWER = 2.2;
    const answer = (answers, whole) => answers.some((each) => (FILE.test(each) ? [each] : [each, ...each.split(".")]).some((known) => fit(known, whole) < 2));

    // A qualified name is one name. First comes what has this name in torch, then what has the last part as its name, of the same package if a class has
    // what stands before it, and otherwise what contains it.
    function narrowed(fits, all, { last, before, top, owner }) {
      if (!before.length && !top) return fits;
      const name = [...before, last.toLowerCase()].join("."), exact = all.filter(({ called, form, behind }) => called.includes(name) && !form && behind < LAST);
      const close = [...fits].filter(([{ own, method, operator, name }, value]) => value < 3 && (!top || !exact.length || !method || operator || name.startsWith("Tensor.")));
      const kind = close.find(([{ own }]) => bare(own) === bare(owner.split(".").at(-1)))?.[0], ofKind = kind ? close.filter(([{ within }]) => within[0] === kind.within[0]) : [];
      const kept = ofKind.length > 1 ? ofKind : close;
      return kept.length || exact.length ? new Map([...kept, ...exact.map((each) => [each, each.behind / 10 - 1])]) : fits;
    }

    function fitting(all, whole, last, before, owner, top) {
      const best = ({ own, name }) => Math.min(fit(own, last), fit(name, whole)), meant = ({ own }) => own === last && /^_|_$/.test(last);
      // A part of a word, as `eigh` of `weight`, is no match if a name, a page, or what is left out has what is typed.
      const words = all.filter((each) => best(each) < WITHIN), elsewhere = () => lacking({ whole, last }) || [...modules, ...all].some(({ answers }) => answer(answers, whole));
      const at = words.length || elsewhere() ? words : all.filter((each) => best(each) < Infinity);
      const near = at.filter(({ within }) => before.every((part) => within.slice(0, -1).some((each) => each.startsWith(part))));
      const least = (entries) => Math.min(...entries.map(best));
      const known = near.length && Math.max(1, least(at)) >= least(near), called = before.length && !known;
      const fits = (known ? near : at).map((each) => [each, best(each) + (meant(each) ? 0 : each.behind) + (called && !each.method ? 0.7 : 0) + (top && !each.isPublic ? 0.6 : 0)]);
      const shown = new Set(fits.filter(([{ form }]) => !form).map(([{ own }]) => own));
      const kinds = called && /(^|\.)[A-Z]\w+$/.test(owner) ? [...found(typed(owner))].filter(([, value]) => value < 1).map(([each]) => [each, 0]) : [];
      return new Map([...fits.filter(([{ form, own }]) => !form || !shown.has(own)), ...kinds]);
    }

    return () => {
      const joined = typed(wanted().join("_")), words = joined.last && found(joined).size ? [joined] : wanted().map(typed), each = words.map(found);
      const rows = modules.map(({ names, module, answers, ...row }) => {
        // Each of several words is in the name, or in what stands before it. One at least is in the name.
        const before = ({ within }, i) => words[1] && within.slice(0, -1).some((part) => fit(part, words[i].whole) < 3);
        const both = names.filter((name) => each.some((at) => at.has(name)) && each.every((at, i) => at.has(name) || before(name, i)));
        const fits = both.map((name) => [Math.max(...each.map((at) => at.get(name) ?? 4)), name]);
        fits.sort(([one], [other]) => one - other);
        const itself = Math.max(...words.map(({ whole }) => (bare(module).endsWith(`.${bare(whole)}`) ? 0 : Math.min(fit(module, whole), titled(row.said.textContent, whole), answer(answers, whole) ? 1.9 : Infinity)))) + (INNER.test(module) ? 1.5 : 0);
        const kinds = [[-Infinity, 2], [2, 3], [3, Infinity]].map(([from, to]) => fits.filter(([value]) => from <= value && value < to)).filter((kind) => kind.length);
        return (kinds.length ? kinds : [[]]).map((fits, i) => ({ ...row, fits, best: Math.min(i ? Infinity : itself, ...fits.map(([least]) => least)) }));
      });
      const shown = rows.flat().filter(({ best }) => words.length && best < Infinity).sort((one, other) => one.best - other.best);
      for (const part of whole) part.hidden = words.length;
      results.replaceChildren(
        ...shown.flatMap(({ term, said, href, fits }, i) => {
          const again = shown.findIndex((row) => row.href === href) < i;
          const list = Object.assign(document.createElement("dd"), { className: "found", hidden: !fits.length });
          list.append(...fits.flatMap(([, { id, name }]) => [Object.assign(document.createElement("a"), { href: `${href}#${id}`, innerHTML: `<code>${name}</code>` }), " "]));
          return [term.cloneNode(true), ...(again ? [] : [said.cloneNode(true)]), list];
        }),
      );
      const names = shown.reduce((sum, { fits }) => sum + fits.length, 0);
      const pages = count(new Set(shown.map(({ href }) => href)).size, "module");
      return shown.length && (names ? `${count(names, "name")}, ${pages}` : `${pages}: ${[...new Set(shown.map(({ term }) => term.textContent))].join(", ")}`);
    };
  }

  // The names that are nearest to what is typed, of which two letters at most are wrong.
  const NEAREST = 3;
  function nearest(typed) {
    const given = bare(typed), most = Math.min(2, Math.floor(given.length / 4));
    const close = listed.filter(({ own }) => Math.abs(bare(own).length - given.length) <= most).map((each) => ({ ...each, far: distance(given, bare(each.own)) }));
    const least = Math.min(most, ...close.map(({ far }) => far));
    return [...new Map(close.filter(({ far }) => far === least).map((each) => [each.own, each])).values()].slice(0, NEAREST);
  }

  // The name of PyTorch's that is left out and is what is typed, or what it is a part of. If no name and no module is called so, its last part may be typed.
  const outside = Object.entries(all ?? {}).filter(([page]) => page.startsWith("../")).flatMap(([href, names]) => names.split(" ").map((name) => ({ href, name })));
  function lacking({ whole, last }) {
    const known = () => listed.some(({ own }) => bare(own) === bare(last)) || Object.keys(all).some((page) => page.replace(/\.html$/, "").split("/").includes(last));
    return outside.find(({ name }) => name === whole || whole.startsWith(`${name}.`)) ?? outside.find(({ name }) => name.split(".").at(-1) === last && !known());
  }

  const narrow = all ? ofAll() : ofPage();
  const missed = () => (all ? `No name contains “${field.value}”.` : `No name on this page contains “${field.value}”. The overview finds the names of all pages.`);
  const show = () => {
    const fits = narrow();
    said.textContent = wanted().length ? fits || missed() : "";
    if (!wanted().length) return;
    const link = ([name, href]) => Object.assign(document.createElement("a"), { href, innerHTML: `<code>${name}</code>` });
    const name = typed(wanted().join("_")), lacks = lacking(name);
    if (lacks) said.append(fits ? ". " : " ", "rushlight leaves out ", link([`torch.${lacks.name}`, lacks.href]), ".");
    if (fits) return;
    const links = lacks ? [] : nearest(name.last).map(({ own, href }) => link([own, href]));
    said.append(...(links.length ? [" Perhaps ", ...links.flatMap((link, i) => (i ? [", ", link] : [link])), "?"] : []), " ", searchFor(field.value));
  };

  // The address keeps what is typed, for the way back from a result.
  form.addEventListener("input", () => {
    const query = new URLSearchParams(field.value && { name: field.value });
    history.replaceState(history.state, "", `${location.pathname}${`${query}` && `?${query}`}${location.hash}`);
    show();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const first = document.querySelector("article dd.found a") ?? document.querySelector("article form ~ dl dt a");
    if (all && first) location.assign(first.href);
  });
  addEventListener("hashchange", () => ((field.value = ""), show(), document.getElementById(location.hash.slice(1))?.scrollIntoView()));
  field.value = new URLSearchParams(location.search).get("name") ?? field.value; // or what the browser kept
  if (field.value) show();
}
