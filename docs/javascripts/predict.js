// A question about the strides of a view. torch's answers are those of the moving figure on the same page.
{
  const { base, operations, tensors } = JSON.parse(
    document.querySelector('figure[data-figure="strides"] script[type="application/json"]').textContent,
  );
  const FIRST = [
    [".t()"],
    ["[:, ::2]"],
    [".t()", "[1:]"],
    ["[:, :1]", ".expand(-1, 4)"],
    [".unfold(1, 2, 1)"],
    [".t()", ".reshape(-1)"],
  ];
  const place = document.querySelector("[data-predict]"), numbers = words("strides");
  const tuple = (numbers) => `(${numbers.join(", ")}${numbers.length === 1 ? "," : ""})`;
  let asked = 0, right = 0, view;

  // Ask about the next chain of operations: those above, and then chains by chance.
  function ask() {
    let chain = FIRST[asked];
    while (!chain || !(view = follow(chain))) {
      chain = Array.from({ length: 1 + Math.floor(Math.random() * 3) }, () => operations[Math.floor(Math.random() * operations.length)]);
    }
    place.querySelector("code").textContent = `torch.${base}${chain.join("")}.stride()`;
    place.querySelector("input").value = "";
    place.querySelector("output").textContent = "";
    place.querySelector("[type=button]").hidden = true;
    place.querySelector("[type=submit]").hidden = false;
  }

  const follow = (chain) => chain.reduce((at, name) => at && tensors[at.next?.[operations.indexOf(name)]], tensors[0]);

  function answer(event) {
    event.preventDefault();
    const given = place.querySelector("input").value.match(/-?\d+/g);
    if (!given) return void (place.querySelector("output").textContent = words("Write a number for each dimension, such as 4, 1."));
    const agrees = String(given.map(Number)) === String(view.strides);
    asked += 1;
    right += agrees;
    const torchs = words("torch says {0}, with sizes {1} and offset {2}.", tuple(view.strides), tuple(view.sizes), view.offset);
    const sum = words("{0} of {1} right.", right, asked);
    place.querySelector("output").textContent = `${agrees ? words("✓ Yes:") : words("✗ No:")} ${torchs} ${sum}`;
    place.querySelector("[type=button]").hidden = false;
    place.querySelector("[type=submit]").hidden = true;
    place.querySelector("[type=button]").focus();
  }

  place.innerHTML =
    `<form><label for="strides"><b>${words("Predict.")}</b> <code></code></label> ` +
    `<span><input id="strides" inputmode="text" autocomplete="off" placeholder="${numbers}"> ` +
    `<button type="submit">${words("Ask torch")}</button><button type="button" hidden>${words("Another")}</button></span> ` +
    '<output aria-live="polite"></output></form>';
  place.querySelector("form").addEventListener("submit", answer);
  place.querySelector("[type=button]").addEventListener("click", () => (ask(), place.querySelector("input").focus()));
  ask();
}
