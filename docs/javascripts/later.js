// The index of the search is large. It is asked for when a reader turns to the search, not with every page.
{
  const { open, send } = XMLHttpRequest.prototype;
  const turned = new Promise((ready) => {
    for (const kind of ["change", "focusin", "pointerover"])
      document.addEventListener(kind, ({ target }) => target.matches?.("#__search, .md-search, .md-search *") && ready());
  });
  XMLHttpRequest.prototype.open = function (method, url, ...more) {
    this.waits = String(url).endsWith("search/search_index.json");
    return open.call(this, method, url, ...more);
  };
  XMLHttpRequest.prototype.send = function (body) {
    if (this.waits) turned.then(() => send.call(this, body));
    else send.call(this, body);
  };
}
