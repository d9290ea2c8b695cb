// An address of a section, or of a figure's state, finds the page of a part of the reading that has it now.
{
  const moved = JSON.parse(document.currentScript.dataset.moved);
  const follow = () => {
    const [, anchor, state] = location.hash.match(/^#([\w-]+=?)(.*)$/) ?? [];
    if (anchor in moved) location.replace(moved[anchor] + state);
  };
  follow();
  addEventListener("hashchange", follow);
}
