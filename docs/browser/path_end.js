// The end of a path, on the page of paths: what was built, a picture, the record that others can check, and the path that is nearest.
{
  const { torch, icon } = JSON.parse(document.getElementById("path_end").textContent);
  const make = (tag, given, ...inside) => {
    const made = Object.assign(document.createElement(tag), given);
    made.append(...inside);
    return made;
  };
  const tables = [...document.querySelectorAll(".path[data-path]")];
  const titleOf = ({ dataset }) => document.getElementById(dataset.path).firstChild.textContent.trim();
  const kept = (link) => JSON.parse(localStorage.getItem(`rushlight/${link.pathname.match(/(\w+)\.html$/)[1]}`));

  for (const table of tables.filter(({ dataset }) => dataset.left === "0")) {
    const { path } = table.dataset, links = [...table.querySelectorAll("td:first-child a")], labs = links.map(kept);
    const sum = (key) => labs.reduce((total, lab) => total + lab[key], 0);
    const title = titleOf(table), worth = words("{0} of {1} points", sum("points"), sum("of"));
    const names = links.map((link) => link.firstChild.textContent);
    const draw = () => picture.drawn({ title, worth, names, torch, icon });
    const [next] = tables.filter(({ dataset }) => dataset.left > 0).sort((one, other) => one.dataset.left - other.dataset.left);
    const onward = next && make("a", { className: "md-button md-button--primary", href: `#${next.dataset.path}` }, words("Next path: {0}, about {1} hours left", titleOf(next), grouped(+next.dataset.left)));
    const record = make("a", { href: "#a-record-of-a-path" }, words("A record of this path"));
    const command = make("code", {}, `rushlight status --path ${path} --record ${path}.html`);
    const review = make("a", { href: "review.html" }, words("Five questions a day"));
    const end = make(
      "section",
      { className: "end", ariaLabel: words("The end of the path") },
      make("p", { className: "title" }, words("{}: finished", title)),
      make("p", {}, make("b", {}, worth)),
      ...picture.shown(draw, `rushlight-${path}`),
      make("p", {}, record, " ", words("is a page that others can check. Where the course is installed, with your notebooks in its folder work/, this command writes it:"), " ", command),
      make("p", {}, review, ` ${words("keep what you have read.")}`),
      make("p", {}, onward ?? ""),
    );
    table.querySelector(".buttons").after(end);
    table.querySelector(".buttons b").remove(); // the end says it
    document.getElementById(path).nextElementSibling.querySelector("strong").textContent = words("You have built this:");
  }
}
