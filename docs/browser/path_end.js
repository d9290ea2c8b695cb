// The end of a path, on the page of paths: what was built, a picture, the record that others can check, and the path that is nearest.
// If the path has labs that need an installation, it is the end of what a browser knows of it, and says so.
{
  const { torch, exact, icon } = JSON.parse(document.getElementById("path_end").textContent);
  const make = (tag, given, ...inside) => {
    const made = Object.assign(document.createElement(tag), given);
    made.append(...inside);
    return made;
  };
  const tables = [...document.querySelectorAll(".path[data-path]")];
  const titleOf = ({ dataset }) => document.getElementById(dataset.path).firstChild.textContent.trim();
  const labOf = (link) => link.pathname.match(/(\w+)\.html$/)[1];
  const kept = (link) => JSON.parse(localStorage.getItem(`rushlight/${labOf(link)}`));

  for (const table of tables.filter(({ dataset }) => dataset.leftHere === "0")) {
    const { path, left } = table.dataset, isWhole = left === "0";
    const all = [...table.querySelectorAll("td:first-child a")];
    const links = all.filter((link) => isWhole || link.closest("tr").querySelector("[data-runs=whole]")), labs = links.map(kept);
    const sum = (key) => labs.reduce((total, lab) => total + lab[key], 0);
    const title = titleOf(table), worth = words("{0} of {1} points", sum("points"), sum("of"));
    const names = links.map((link) => link.firstChild.textContent);
    const count = words("{0} of {1} labs", links.length, all.length);
    const said = isWhole ? words("{}: finished", title) : words("{0}: {1} finished here", title, count);
    const draw = () => picture.drawn({ title: isWhole ? title : `${title}: ${count}`, worth, names, torch, isExact: links.some((link) => exact.includes(labOf(link))), icon });
    const rest = make("p", {}, words("That is all that this browser knows of the path. Where the course is installed, this command counts all of it, and says when it is finished:"), " ", make("code", {}, `rushlight status --path ${path}`));
    const [next] = tables.filter(({ dataset }) => dataset.left > 0).sort((one, other) => one.dataset.left - other.dataset.left);
    const onward = next && make("a", { className: "md-button md-button--primary", href: `#${next.dataset.path}` }, words("Next path: {0}, about {1} hours left", titleOf(next), grouped(+next.dataset.left)));
    const record = make("a", { href: "#a-record-of-a-path" }, words("A record of this path"));
    const command = make("code", {}, `rushlight status --path ${path} --record ${path}.html`);
    const review = make("a", { href: "review.html" }, words("Five questions a day"));
    const end = make(
      "section",
      { className: "end", ariaLabel: isWhole ? words("The end of the path") : said },
      make("p", { className: "title" }, said),
      make("p", {}, make("b", {}, worth)),
      isWhole ? "" : rest,
      ...picture.shown(draw, `rushlight-${path}`),
      make("p", {}, record, " ", words("is a page that others can check. Where the course is installed, with your notebooks in its folder work/, this command writes it:"), " ", command),
      make("p", {}, review, ` ${words("keep what you have read.")}`),
      make("p", {}, (isWhole && onward) || ""),
    );
    table.querySelector(".buttons").after(end);
    if (!isWhole) continue;
    table.querySelector(".buttons b").remove(); // the end says it
    document.getElementById(path).nextElementSibling.querySelector("strong").textContent = words("You have built this:");
  }
}
