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
