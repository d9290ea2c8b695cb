// The page of the operators, filtered by name, form, kernel and derivative. The address keeps the choice, to be shared.
// Without this script the page has all operators, and no filter.

const CHOICES = {
  form: { label: "Form", options: { functional: "functional", "in-place": "in place", out: "out=", view: "view" } },
  kernel: {
    label: "Kernel",
    options: {
      CPU: "CPU",
      Meta: "Meta",
      structured: "structured",
      CompositeImplicitAutograd: "CompositeImplicitAutograd",
      CompositeExplicitAutograd: "CompositeExplicitAutograd",
      CompositeExplicitAutogradNonFunctional: "CompositeExplicitAutogradNonFunctional",
    },
  },
  derivative: {
    label: "Derivative",
    options: { derivative: "has a formula", calls: "from the operators it calls", "no-derivative": "has none" },
  },
};

const operators = [...document.querySelectorAll("dt > code[data-is]")].map((code) => {
  const parts = [code.parentElement];
  while (parts.at(-1).nextElementSibling?.matches("dd")) parts.push(parts.at(-1).nextElementSibling);
  return { name: code.textContent.split("(")[0].toLowerCase(), is: code.dataset.is.split(" "), parts };
});

// Below each heading there is a list, or several.
const sections = [...document.querySelectorAll("article h2")].map((heading) => {
  const lists = [];
  for (let next = heading.nextElementSibling; next && !next.matches("h2"); next = next.nextElementSibling) {
    if (next.matches("dl")) lists.push(next);
  }
  return { heading, lists };
});

const form = document.querySelector("form.filter"); // empty, so that what is below does not move
form.setAttribute("aria-label", "Operators");
const options = (each) => Object.entries(each).map(([value, text]) => `<option value="${value}">${text}</option>`);
form.innerHTML = [
  '<div><label for="filter-name">Name contains</label>',
  '<input type="search" id="filter-name" name="name" placeholder="part of a name" autocomplete="off" spellcheck="false"></div>',
  ...Object.entries(CHOICES).map(
    ([name, each]) =>
      `<div><label for="filter-${name}">${each.label}</label>` +
      `<select id="filter-${name}" name="${name}"><option value="">any</option>${options(each.options).join("")}</select></div>`,
  ),
  '<button type="reset" class="md-button">Show all</button>',
  '<output aria-live="polite"></output>',
].join("");

function show() {
  const chosen = Object.fromEntries(new FormData(form));
  const called = chosen.name.toLowerCase().replace(/\(.*/, "").replace(/\baten::/g, ""); // of a schema, the name
  const written = called.trim().split(/\s+/).filter((word, _, { length }) => length === 1 || !/^(aten|rl|torch)$/.test(word));
  const words = written.map((word) => (operators.some(({ name }) => name.includes(word)) ? word : word.split(".").filter(Boolean).at(-1) ?? word)); // `torch.add`
  const wanted = Object.keys(CHOICES).map((name) => chosen[name]).filter(Boolean);
  let count = 0;
  for (const { name, is, parts } of operators) {
    const fits = words.every((word) => name.includes(word)) && wanted.every((each) => is.includes(each));
    for (const part of parts) part.hidden = !fits;
    count += fits;
  }
  for (const { heading, lists } of sections) {
    for (const list of lists) list.hidden = !list.querySelector("dt:not([hidden])");
    heading.hidden = lists.every((list) => list.hidden);
  }
  const said = form.querySelector("output");
  said.textContent = count ? `${count} of ${operators.length} operators` : "No operator is like this. Show all has them again.";
  if (!count && called.trim()) said.append(" ", searchFor(chosen.name));
}

// An address with the anchor of an operator shows this operator, and so all of them.
function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  for (const field of form.querySelectorAll("[name]")) {
    const value = given.get(field.name) ?? "";
    field.value = field.options && !CHOICES[field.name].options[value] ? "" : value;
  }
  show();
}

function write() {
  const chosen = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
  history.replaceState(history.state, "", `${location.pathname}${location.search}${`${chosen}` && `#${chosen}`}`);
  show();
}

form.addEventListener("input", write);
form.addEventListener("reset", () => setTimeout(write));
form.addEventListener("submit", (event) => event.preventDefault());
form.querySelector("input").addEventListener("keydown", (event) => {
  if (event.key !== "Escape" || !event.target.value) return;
  event.target.value = "";
  write();
});
addEventListener("hashchange", () => {
  read();
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
});
read();
