// The theme writes the section that is read into the address, but never over what an address brings: the state of a figure, `#strides=t`,
// or an answer, `#a=…` (share.js).
if (document.querySelector("[data-figure], [data-tab-bar]")) {
  const { replaceState } = history, brings = ({ hash }) => /^#\w+=/.test(hash), page = ({ pathname, search }) => pathname + search;
  history.replaceState = function (state, title, url = location.href) {
    const next = new URL(url, location.href);
    if (!brings(location) || brings(next) || page(next) !== page(location)) replaceState.call(this, state, title, url);
  };
}
