// Ten predictions: each is typed and compared with what torch prints. A wrong one has a second try. All stay in this browser.
{
  const KEY = "rushlight/placement";
  const asked = [...document.querySelectorAll("article details")].map((details) => {
    const phase = details.querySelector('a[href*="phases/"]');
    const heading = [...document.querySelectorAll("article h2[id]")].findLast((each) => each.compareDocumentPosition(details) & Node.DOCUMENT_POSITION_FOLLOWING);
    return { details, heading, printed: details.querySelector("pre").textContent, link: phase, phase: phase.href.match(/phases\/(\d\d)/)[1] };
  });
  const place = document.querySelector("[data-score]");
  const far = document.querySelector("[data-so-far]"); // stays in sight
  const TRIES = 2;
  let given = {}; // by the number of the prediction, its tries

  // What is compared: the words and the numbers, as numbers, without brackets, commas, articles, the name of the module, the namespace
  // and the overload `default` of an operator, and what an error says.
  const atoms = (text) => {
    const plain = text.toLowerCase().replaceAll("torch.", "").replace(/\w*error\b(:.*)?/g, "error").replace(/\b(?:ops\.)?aten(?:\.|::)(\w+)(?:\.default\b)?/g, "$1");
    return (plain.match(/[\w.+-]+/g) ?? []).filter((word) => !/^(an?|the)$/.test(word)).map((word) => (isNaN(word) ? word : +word)).join(" ");
  };

  try {
    given = JSON.parse(localStorage.getItem(KEY) ?? "{}");
    for (const number in given) given[number] = [given[number]].flat(); // an earlier version kept one
  } catch {
    // the browser keeps nothing
  }

  function keep() {
    try {
      localStorage.setItem(KEY, JSON.stringify(given));
    } catch {
      // the score is shown all the same
    }
  }

  const isRight = (number) => given[number].some((text) => atoms(text) === atoms(asked[number].printed));
  // Whether all that is written is printed, in this order, and more.
  const isShort = (number, text) => {
    const left = atoms(asked[number].printed).split(" "), more = left.length;
    const typed = atoms(text).split(" ").filter(Boolean);
    return typed.length < more && typed.every((word) => left.includes(word) && left.splice(0, left.indexOf(word) + 1));
  };
  const isDone = (number) => number in given && (isRight(number) || given[number].length >= TRIES);

  function form(number) {
    const made = document.createElement("form");
    made.className = "predict";
    made.innerHTML =
      `<label for="predict-${number}"><b>${words("It prints")}</b></label> <textarea id="predict-${number}" rows="3" spellcheck="false"></textarea> ` +
      `<button type="submit">${words("Compare")}</button> <output aria-live="polite"></output>`;
    for (const [tag, text] of [["textarea", words("It prints")], ["button", words("Compare")]])
      made.querySelector(tag).ariaLabel = `${text}: ${sectionOf(asked[number].details)}`;
    made.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = made.querySelector("textarea").value;
      if (!text.trim()) return void (made.querySelector("output").textContent = words("Write down what it prints."));
      const [printed, typed] = [asked[number].printed, text].map((all) => all.trim().split("\n").length);
      const missing = typed < printed ? words("✗ Not yet: torch prints {0} lines, and you have {1}.", printed, typed) : words("✗ Not yet: values are missing.");
      const fewer = typed < printed && atoms(text).split(" ").length < atoms(asked[number].printed).split(" ").length; // right or wrong
      if (fewer || isShort(number, text)) return void verdict(made, missing);
      given[number] = [...(given[number] ?? []), text];
      keep();
      show();
      const { details } = asked[number], done = isDone(number);
      if (done) details.querySelector("summary").focus({ preventScroll: true }); // the button is no longer there
      else made.querySelector("textarea").select();
      (done ? details : made).scrollIntoView({ block: "nearest" });
    });
    asked[number].details.before(made);
    asked[number].details.addEventListener("toggle", ({ target }) => {
      if (!target.open || !(number in given) || isDone(number)) return;
      given[number].push(""); // there is no second try once the answer was seen
      keep();
      show();
    });
    return made;
  }

  // The mark has the colours of the verdict of a check.
  function verdict(made, text = "") {
    made.classList.toggle("passed", text.startsWith("✓"));
    made.classList.toggle("failed", text.startsWith("✗"));
    made.querySelector("output").replaceChildren(...(text ? [Object.assign(document.createElement("b"), { textContent: text[0] }), text.slice(1)] : []));
  }

  const forms = asked.map((_, number) => form(number));

  function show() {
    forms.forEach((made, number) => {
      const done = isDone(number), tried = given[number]?.filter(Boolean).at(-1);
      const text = made.querySelector("textarea");
      if (tried) text.value = tried;
      text.readOnly = done;
      made.querySelector("button").hidden = done;
      const wrong = done ? words("✗ torch prints something else.") : words("✗ torch prints something else. Try once more, or open the answer.");
      verdict(made, tried && (isRight(number) ? words("✓ That is what torch prints.") : wrong));
      if (!tried && !done) made.querySelector("output").textContent = words("You have two tries.");
      if (done) asked[number].details.open = true;
    });
    const numbers = Object.keys(given).map(Number).filter(isDone);
    far.textContent = words("{0} of {1} done, {2} right", numbers.length, asked.length, numbers.filter(isRight).length);
    const whole = numbers.length === asked.length;
    const next = asked.findIndex((_, number) => !isDone(number));
    const onward = whole ? { href: "#result", textContent: words("The result") } : { href: `#${asked[next].heading.id}`, textContent: words("Next: {}", next + 1) };
    if (numbers.length) far.append(" · ", Object.assign(document.createElement("a"), onward));
    place.replaceChildren(...(whole ? score(numbers) : numbers.length ? open(numbers) : []));
  }

  // The predictions that are open, each a link.
  function open(numbers) {
    const line = document.createElement("p");
    const links = asked.flatMap(({ heading }, number) => (numbers.includes(number) ? [] : [Object.assign(document.createElement("a"), { href: `#${heading.id}`, textContent: number + 1 })]));
    line.append(`${words("Open predictions:")} `, ...links.flatMap((link, i) => (i ? [", ", link] : [link])));
    return [line];
  }

  // The line that can be passed on, with what comes next.
  function score(numbers) {
    const wrong = numbers.filter((number) => !isRight(number));
    const first = asked[wrong.toSorted((a, b) => asked[a].phase - asked[b].phase)[0]];
    const places = wrong.map((number) => words("{0} (phase {1})", number + 1, asked[number].phase)).join(", ");
    const right = words("{0} of {1} predictions about PyTorch right", numbers.length - wrong.length, numbers.length);
    const line = document.createElement("p"), next = document.createElement("p"), buttons = document.createElement("p");
    line.innerHTML = `<b>${places ? words("{0}. Wrong: {1}", right, places) : right}</b>`;
    if (places) next.append(Object.assign(first.link.cloneNode(), { textContent: words("Begin with phase {}", first.phase) }));
    else {
      const links = [...document.querySelectorAll('article > p a[href*="phases/"]')]; // of the text above
      const parts = words("Phases 08, 09, 11 and 12 have the most for you.").split(/(\d\d)/);
      next.append(...parts.map((part) => links.find((link) => link.textContent === part)?.cloneNode(true) ?? part));
    }
    const button = (text, click) => {
      const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
      made.addEventListener("click", click);
      buttons.append(made, " ");
    };
    button(words("Copy"), ({ currentTarget }) => {
      const copied = () => {
        currentTarget.textContent = words("Copied");
        setTimeout(() => (currentTarget.textContent = words("Copy")), 2000);
      };
      navigator.clipboard?.writeText(`${line.textContent} · ${location.href.split("#")[0]}`).then(copied, () => {});
    });
    button(words("Start again"), () => {
      given = {};
      keep();
      for (const { details } of asked) details.open = false;
      for (const made of forms) made.reset();
      show();
      forms[0].querySelector("textarea").focus({ preventScroll: true }); // this button is no longer there
      asked[0].heading.scrollIntoView();
    });
    return [line, next, buttons];
  }

  show();
}
