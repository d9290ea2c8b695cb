// Review: the questions of the readings, five a day, each again when it is due. The dates stay in this browser.

// Anki's variant of SM-2, as `autograder/cli/deck.py` has it. A card is {passed, ease, days, due}, and `due` a date such as 2027-03-15.
const spaced = (() => {
  const KEY = "rushlight/review", AGAIN = 1, FIRST = [0, 1, 2, 4], CHANGE_OF_EASE = [-20, -15, 0, 15], LEAST_EASE = 130;
  const later = (day, days) => new Date(Date.parse(day) + days * 864e5).toISOString().slice(0, 10);

  function scheduled({ passed, ease, days, due } = { passed: 0, ease: 250, days: 0 }, grade, today) {
    let next = FIRST[grade - 1];
    if (passed) {
      next = 0;
      for (const growth of [120, ease, Math.floor((ease * 13) / 10)].slice(0, grade - 1)) next = Math.max(Math.ceil((days * growth) / 100), next + 1);
    }
    if (passed || (grade === AGAIN && !due)) ease = Math.max(ease + CHANGE_OF_EASE[grade - 1], LEAST_EASE);
    return { passed: grade === AGAIN ? 0 : passed + 1, ease, days: next, due: later(today, next) };
  }

  const answeredOn = (cards, day) => Object.keys(cards).filter((name) => later(cards[name].due, -cards[name].days) === day);

  // What is left to ask today: first what is due, the longest due first, then what is new, and what was answered AGAIN today.
  function todays(names, cards, today, most) {
    const answered = new Set(answeredOn(cards, today));
    const due = names.filter((name) => cards[name]?.due <= today && !answered.has(name));
    due.sort((one, other) => (cards[one].due < cards[other].due ? -1 : cards[one].due > cards[other].due));
    const again = [...answered].filter((name) => cards[name].due === today && names.includes(name));
    return [...[...due, ...names.filter((name) => !cards[name])].slice(0, Math.max(most - answered.size, 0)), ...again];
  }

  function today() {
    const now = new Date();
    return new Date(now - now.getTimezoneOffset() * 6e4).toISOString().slice(0, 10);
  }

  // What was read, and what is written, each with its time if one is known: `01_strided/reading#strides`, `01a_views` and the cell
  // `01a_views/aten-strided-slice`.
  const touched = () =>
    Object.entries(localStorage).flatMap(([key, kept]) => {
      const place = key.match(/^rushlight\/(?:read )?(\d\d[a-z]?_\w*(?:\/\w+)?)$/)?.[1];
      const { sections = [], answers = {}, at = 0 } = place ? JSON.parse(kept) : {};
      const cells = Object.keys(answers);
      return [...sections.map((id) => `${place}#${id}`), ...(cells.length ? [place] : []), ...cells.map((id) => `${place}/${id}`)].map((what) => [what, at]);
    });

  // The questions about this, by name the last time, of `of`: by name, the ends of what a question is about.
  const begun = (of) => {
    const found = {}, all = touched();
    for (const [name, ends] of of) {
      const times = all.filter(([what]) => what.startsWith(name.slice(0, 2)) && [name.replace(/.*\//, "#"), ...ends].some((end) => what.endsWith(end)));
      if (times.length) found[name] = Math.max(...times.map(([, at]) => at));
    }
    return found;
  };

  let kept = {}; // in the page too, because a browser may keep nothing

  // What is asked about: of a phase that was begun, what the reader has read or written, and of another one that is chosen, all. The
  // phase read last is first, and those of which no time is known follow, the highest first.
  function read(of) {
    let about = {};
    try {
      kept = JSON.parse(localStorage.getItem(KEY)) ?? {};
      about = begun(of);
    } catch {
      // what the page knows
    }
    const times = {};
    for (const [name, at] of Object.entries(about)) times[name.slice(0, 2)] = Math.max(times[name.slice(0, 2)] ?? 0, at);
    const newest = Object.keys(times).sort((one, other) => times[other] - times[one] || other - one);
    const { cards = {}, phases = [...newest].sort() } = kept;
    const ofPhase = (phase) => [...of.keys()].filter((name) => name.slice(0, 2) === phase && (!(phase in times) || name in about || name in cards));
    return { cards, phases, names: [...new Set([...newest, ...phases])].filter((phase) => phases.includes(phase)).flatMap(ofPhase) };
  }

  function write(changed) {
    kept = { ...kept, ...changed };
    try {
      localStorage.setItem(KEY, JSON.stringify(kept));
    } catch {
      // it is asked all the same
    }
  }

  return { MOST: 5, answeredOn, later, read, scheduled, today, todays, write };
})();

// Home: how many are due, or how many new ones there are.
for (const place of document.querySelectorAll("[data-due]")) {
  const of = place.dataset.due.split(",").map((each) => each.split(" "));
  const { cards, names } = spaced.read(new Map(of.map(([name, ...ends]) => [name, ends])));
  const left = spaced.todays(names, cards, spaced.today(), spaced.MOST);
  if (!left.length) continue;
  const due = left.filter((name) => cards[name]).length;
  const fresh = left.length === 1 ? words("Review: one question about what you began") : words("Review: {} questions about what you began", left.length);
  const text = due ? words("Review: {} due today", due) : fresh;
  place.replaceChildren(Object.assign(document.createElement("a"), { href: "review.html", textContent: text }));
}

// The page.
for (const place of document.querySelectorAll("[data-review]")) {
  const phases = JSON.parse(document.getElementById("questions").textContent);
  const questions = new Map(phases.flatMap((phase) => phase.questions.map((each) => [each.name, each])));
  const of = new Map([...questions].map(([each, { of }]) => [each, of.split(" ").filter(Boolean)]));
  const grades = [words("again"), words("hard"), words("good"), words("easy")];
  let most = spaced.MOST, name;
  let choosing; // at the first visit, until the reader begins

  const make = (tag, given = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), given);
    made.append(...inside);
    return made;
  };
  const button = (className, ...inside) => make("button", { type: "button", className }, ...inside);
  const days = (count) => [words("today"), words("tomorrow")][count] ?? words("in {} days", count);

  const choice = make("details", { className: "folded" });
  const where = make("p", { className: "where" });
  const question = make("div", { className: "question", tabIndex: -1 });
  const answer = make("div", { className: "answer", tabIndex: -1 });
  const bar = make("div", { className: "thumb" });
  const waits = document.querySelector("[data-waits]"); // says when questions come
  place.replaceChildren(choice, waits, where, question, answer, bar); // `waits` goes when a phase is chosen, and moves no box

  function left(day = spaced.today(), atMost = most) {
    const { cards, names } = spaced.read(of);
    return spaced.todays(names, cards, day, atMost);
  }

  function choose() {
    const { phases: chosen } = spaced.read(of);
    const boxOf = (phase) => {
      const box = make("input", { type: "checkbox", value: phase.number, checked: chosen.includes(phase.number) });
      const english = phase.questions.every(({ lang }) => lang) ? [make("small", { textContent: "EN", title: words("in English") }), " "] : [];
      return make("label", {}, box, " ", ...english, phase.title);
    };
    const all = make("input", { type: "checkbox" });
    choice.replaceChildren(make("summary"), make("label", {}, all, ` ${words("All phases")}`), ...phases.map(boxOf));
    choice.open = choosing = !chosen.length;
    say();
  }

  function say() {
    const { phases: chosen } = spaced.read(of), all = choice.querySelector("input");
    all.checked = chosen.length === phases.length;
    all.indeterminate = chosen.length && !all.checked;
    const said = all.checked ? words("All phases") : words("Phases: {}", chosen.join(", "));
    choice.firstChild.textContent = chosen.length ? said : words("Choose the phases that you have read");
  }

  choice.addEventListener("change", ({ target }) => {
    const [all, ...boxes] = choice.querySelectorAll("input");
    if (target === all) for (const box of boxes) box.checked = all.checked;
    spaced.write({ phases: boxes.filter((box) => box.checked).map((box) => box.value) });
    say();
    begin();
  });

  function begin() {
    tellWhenNone();
    if (choosing) offer();
    else ask();
  }

  function tellWhenNone() {
    waits.hidden = left(spaced.today(), Infinity).length > 0;
  }

  // A button that begins. Until a phase is chosen it says what to do first.
  function offer() {
    const isChosen = spaced.read(of).phases.length > 0;
    const start = button("main", isChosen ? words("Begin") : words("Choose a phase, then begin"));
    start.disabled = !isChosen;
    start.addEventListener("click", () => {
      choice.open = choosing = false; // on a phone, the question would be below the list
      ask();
      question.focus({ preventScroll: true });
      place.scrollIntoView();
    });
    bar.replaceChildren(start);
  }

  function ask() {
    const names = left();
    [name] = names;
    answer.hidden = true;
    place.classList.toggle("sitting", !!name); // on a phone, what follows the question is folded
    if (!name) return end();
    const { place: section, question: text, lang = "" } = questions.get(name);
    const answered = spaced.answeredOn(spaced.read(of).cards, spaced.today());
    const first = names.filter((each) => !answered.includes(each)).length; // the others come again, and are counted apart
    const number = first ? words("{0} of {1}", answered.length + 1, answered.length + first) : words("once more: {} left", names.length);
    where.innerHTML = `${number} · ${name.slice(0, 2)} · ${section}`;
    question.innerHTML = text;
    question.lang = answer.lang = lang;
    const show = button("main", words("Show the answer"));
    show.addEventListener("click", reveal);
    bar.replaceChildren(show);
  }

  function reveal() {
    answer.innerHTML = questions.get(name).answer;
    answer.hidden = false;
    const card = spaced.read(of).cards[name];
    const gradeOf = (word, at) => {
      const made = button("", make("b", { textContent: word }), make("small", { textContent: days(spaced.scheduled(card, at + 1, spaced.today()).days) }));
      made.addEventListener("click", () => mark(at + 1));
      return made;
    };
    bar.replaceChildren(...grades.map(gradeOf));
    answer.focus({ preventScroll: true });
  }

  function mark(grade) {
    const { [name]: card, ...cards } = spaced.read(of).cards;
    spaced.write({ cards: { ...cards, [name]: spaced.scheduled(card, grade, spaced.today()) } }); // at the end
    tellWhenNone();
    ask();
    question.focus({ preventScroll: true });
  }

  function end() {
    const { phases: chosen } = spaced.read(of);
    const tomorrow = left(spaced.later(spaced.today(), 1)).length, hasMore = left(spaced.today(), Infinity).length;
    const { cards, names } = spaced.read(of), next = names.map((each) => cards[each]?.due).filter(Boolean).sort()[0];
    const later = next ? words("The next question comes {}.", days((Date.parse(next) - Date.parse(spaced.today())) / 864e5)) : "";
    const then = [later, words("Tomorrow: one question.")][tomorrow] ?? words("Tomorrow: {} questions.", tomorrow);
    const onward = hasMore ? "" : words("You have answered all questions about what you have read. New ones come as you read on, or choose another phase.");
    where.replaceChildren();
    question.textContent = chosen.length ? `${words("Nothing is left for today.")} ${then} ${onward}`.trim() : "";
    const more = button("", words("Five more"));
    more.addEventListener("click", () => {
      most += spaced.MOST;
      begin();
      question.focus({ preventScroll: true });
    });
    const way = make("p", {}, make("a", { href: "map.html", textContent: words("Choose what to read next") }));
    way.dataset.continue = ""; // progress.js leads to where the reader stopped, if that is known
    if (chosen.length) question.append(way);
    bar.replaceChildren(...(chosen.length && hasMore ? [more] : []));
    dispatchEvent(new Event("rushlight:kept"));
  }

  addEventListener("keydown", (event) => {
    if (!name || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input")) return;
    if (event.key === "Enter" && answer.hidden && !event.target.closest("a, button, label, summary")) reveal();
    else if (/^[1-4]$/.test(event.key) && !answer.hidden) mark(+event.key);
  });

  choose();
  begin();
}
