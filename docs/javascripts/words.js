// What the scripts of a page say, in the language of the page: `words("{0} of {1} right", right, asked)`.
//
// A page in another language has the messages of its scripts as JSON, `#words`. Any other text stays as it is, in English.
const words = (() => {
  const known = JSON.parse(document.getElementById("words")?.textContent ?? "{}");
  return (text, ...values) => {
    const said = Object.hasOwn(known, text) ? known[text] : text;
    return values.length ? said.replace(/\{(\d*)\}/g, (_, place) => values[+place]) : said;
  };
})();

// A number in the language of the page: 243,160, or 243 160 where it is not English.
const english = (document.documentElement.lang || "en") === "en";
const grouped = (value) => value.toLocaleString("en").replaceAll(",", english ? "," : Math.abs(value) < 10000 ? "" : "\u202f");

// A number with so many digits after its point, which is a comma on a page in another language.
const fixed = (value, digits) => value.toFixed(digits).replace(".", english ? "." : ",");

// How many letters of a word are too many, missing, wrong, or exchanged with their neighbours.
function distance(a, b) {
  const rows = [[...Array(b.length + 1).keys()]];
  for (let i = 1; i <= a.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      rows[i][j] = Math.min(rows[i - 1][j] + 1, rows[i][j - 1] + 1, rows[i - 1][j - 1] + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) rows[i][j] = Math.min(rows[i][j], rows[i - 2][j - 2] + 1);
    }
  }
  return rows[a.length][b.length];
}
