// A picture of what is finished, to post: of a lab, or of a path. All of it is in the file that is saved.
const picture = (() => {
  const SIZE = [1200, 630];
  const COLOURS = { default: ["#ffffff", "#1c1e21", "#5c6470", "#1a7f37", "#b0430a"], slate: ["#1e2129", "#e6e9ee", "#a3abb8", "#4ac26b", "#ffab70"] };

  const svg = (tag, given, ...inside) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(given)) element.setAttribute(name, value);
    element.append(...inside);
    return element;
  };

  // In the colours and the fonts of the page. `isExact` if some checks compare with an exact calculation, and not with torch.
  function drawn({ title, worth, names, isCode, torch, isExact, icon: paths }) {
    const [ground, ink, faint, green, flame] = COLOURS[document.body.dataset.mdColorScheme] ?? COLOURS.default;
    const [width, height] = SIZE, style = getComputedStyle(document.body);
    const plain = style.getPropertyValue("--md-text-font-family"), mono = style.getPropertyValue("--md-code-font-family");
    const measure = document.createElement("canvas").getContext("2d");
    const text = (x, y, size, said, { fill = ink, font = plain, weight = 400, room = width - 2 * 72 } = {}) => {
      measure.font = `${weight} ${size}px ${font}`;
      const fits = Math.min(size, (size * room) / measure.measureText(said).width);
      return svg("text", { x, y, fill, "font-size": fits.toFixed(1), "font-family": font, "font-weight": weight }, said);
    };
    const columns = !isCode ? 1 : names.length > 18 ? 3 : 2, rows = Math.ceil(names.length / columns);
    const step = Math.min(42, 250 / rows), room = (width - 2 * 72) / columns, size = Math.min(25, 0.72 * step);
    const ticks = names.flatMap((name, index) => {
      const x = 72 + Math.floor(index / rows) * room, y = 276 + (index % rows) * step;
      return [text(x, y, size, "✓", { fill: green, weight: 700 }), text(x + 1.4 * size, y, size, name, { font: isCode ? mono : plain, room: room - 3 * size })];
    });
    const judged = isExact ? words("my code, judged by torch {} and exact calculations", torch) : words("my code, judged by torch {}", torch);
    const how = isExact ? words("compared in my own browser with recorded answers") : words("compared in my own browser with recorded answers of torch");
    const address = document.querySelector("link[rel=canonical]")?.href.replace(/^https?:\/\//, "").replace(/(phases\/|paths\.html).*/, "") ?? "";
    const icon = paths.map(([d, fill]) => svg("path", { d, fill, transform: "translate(72 50) scale(1.5)" }));
    const alt = `${title}. ${worth}: ${names.join(", ")}. ${judged}, ${how}.`;
    return svg(
      "svg",
      { xmlns: "http://www.w3.org/2000/svg", viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": alt },
      svg("title", {}, title),
      svg("rect", { width, height, fill: ground }),
      svg("rect", { y: height - 10, width, height: 10, fill: flame }),
      ...icon,
      text(130, 90, 34, "Rushlight", { fill: faint, weight: 600 }),
      text(72, 172, 60, title, { weight: 700 }),
      text(72, 222, 30, worth, { fill: green, weight: 600 }),
      ...ticks,
      text(72, 558, 34, judged, { fill: flame, weight: 700 }),
      text(72, 594, 22, [how, address].filter(Boolean).join(" · "), { fill: faint }),
    );
  }

  const source = (image) => new XMLSerializer().serializeToString(image);

  function save(blob, name) {
    const link = Object.assign(document.createElement("a"), { href: URL.createObjectURL(blob), download: name });
    link.click();
    URL.revokeObjectURL(link.href);
  }

  async function savePng(shown, name) {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(source(shown))}`;
    await image.decode();
    const [width, height] = SIZE.map((each) => 2 * each);
    const canvas = Object.assign(document.createElement("canvas"), { width, height });
    canvas.getContext("2d").drawImage(image, 0, 0, width, height);
    canvas.toBlob((blob) => save(blob, `${name}.png`), "image/png");
  }

  // The picture that `draw` returns, also when the reader changes the colours, and the buttons that save it.
  function shown(draw, name) {
    const figure = document.createElement("figure"), buttons = Object.assign(document.createElement("div"), { className: "buttons" });
    const button = (textContent, onclick) => Object.assign(document.createElement("button"), { textContent, type: "button", onclick });
    buttons.append(
      button(words("Save SVG"), () => save(new Blob([source(figure.firstChild)], { type: "image/svg+xml" }), `${name}.svg`)),
      button(words("Save PNG"), () => savePng(figure.firstChild, name)),
    );
    figure.append(draw());
    new MutationObserver(() => figure.replaceChildren(draw())).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
    return [figure, buttons];
  }

  return { drawn, shown };
})();
