// Ten predictions: each is typed and compared with what torch prints. The first answers count, and stay in this browser.
{
  const KEY = "rushlight/placement";
  const asked = [...document.querySelectorAll("article details")].map((details) => {
    const phase = details.querySelector('a[href*="phases/"]');
    return { details, printed: details.querySelector("pre").textContent, link: phase.href, phase: phase.href.match(/phases\/(\d\d)/)[1] };
  });
  const place = document.querySelector("[data-score]");
  const tight = (text) => text.replace(/\s+/g, "");
  let given = {}; // by the number of the prediction

  try {
    given = JSON.parse(localStorage.getItem(KEY) ?? "{}");
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

  const isRight = (number) => tight(given[number]) === tight(asked[number].printed);

  function form(number) {
    const made = document.createElement("form");
    made.className = "predict";
    made.innerHTML =
      `<label for="predict-${number}"><b>${words("It prints")}</b></label> <textarea id="predict-${number}" rows="3" spellcheck="false"></textarea> ` +
      `<button type="submit">${words("Compare")}</button> <output aria-live="polite"></output>`;
    made.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = made.querySelector("textarea").value;
      if (!text.trim()) return void (made.querySelector("output").textContent = words("Write down what it prints."));
      given[number] = text;
      keep();
      show();
    });
    asked[number].details.before(made);
    return made;
  }

  const forms = asked.map((_, number) => form(number));

  function show() {
    forms.forEach((made, number) => {
      const done = number in given;
      const text = made.querySelector("textarea");
      if (done) text.value = given[number];
      text.readOnly = done;
      made.querySelector("button").hidden = done;
      made.querySelector("output").textContent = done ? (isRight(number) ? words("✓ That is what torch prints.") : words("✗ torch prints something else.")) : "";
      if (done) asked[number].details.open = true;
    });
    place.replaceChildren(...(Object.keys(given).length ? score() : []));
  }

  // The line that can be passed on, with what comes next.
  function score() {
    const numbers = Object.keys(given).map(Number);
    const lost = numbers.filter((number) => !isRight(number)).sort((a, b) => asked[a].phase - asked[b].phase);
    const phases = lost.map((number) => asked[number].phase);
    const right = words("{0} of {1} predictions about PyTorch right", numbers.length - lost.length, numbers.length);
    const line = document.createElement("p"), next = document.createElement("p"), buttons = document.createElement("p");
    line.innerHTML = `<b>${phases.length ? words("{0}: lost at {1}", right, phases.join(", ")) : right}</b>`;
    if (lost.length) next.innerHTML = `<a href="${asked[lost[0]].link}">${words("Begin with phase {}", phases[0])}</a>`;
    const button = (text, click) => {
      const made = Object.assign(document.createElement("button"), { type: "button", textContent: text });
      made.addEventListener("click", click);
      buttons.append(made, " ");
    };
    button(words("Copy"), ({ currentTarget }) => {
      const copied = () => (currentTarget.textContent = words("Copied"));
      navigator.clipboard?.writeText(`${line.textContent} · ${location.href.split("#")[0]}`).then(copied, () => {});
    });
    button(words("Start again"), () => {
      given = {};
      keep();
      for (const { details } of asked) details.open = false;
      for (const made of forms) made.reset();
      show();
    });
    return [line, next, buttons];
  }

  show();
}
