// An editor for the Python of a cell: CodeMirror, in the colours of the page.

import { defaultKeymap, history, historyKeymap, indentWithTab } from "./codemirror/commands.js";
import { python } from "./codemirror/lang-python.js";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "./codemirror/language.js";
import { tags } from "./codemirror/lezer-highlight.js";
import { EditorState } from "./codemirror/state.js";
import { drawSelection, EditorView, keymap } from "./codemirror/view.js";

const colour = (name) => `var(--md-code-hl-${name}-color)`;
const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword, tags.moduleKeyword], color: colour("keyword") },
  { tag: [tags.string, tags.special(tags.string)], color: colour("string") },
  { tag: tags.number, color: colour("number") },
  { tag: [tags.bool, tags.null], color: colour("constant") },
  { tag: tags.comment, color: colour("comment") },
  { tag: [tags.function(tags.definition(tags.variableName)), tags.className, tags.meta], color: colour("function") },
]);
const COVERED = 110; // pixels of a window's top that its header and the bar of points cover
const THEME = EditorView.theme({
  "&": { background: "var(--md-code-bg-color)", color: "var(--md-code-fg-color)" },
  "&.cm-focused": { outline: "0.1rem solid var(--focus)" },
  ".cm-scroller": { fontFamily: "var(--md-code-font-family)", fontSize: "0.68rem", lineHeight: "1.5" },
  ".cm-content": { padding: "0.6rem 0", caretColor: "var(--md-code-fg-color)" },
  ".cm-line": { padding: "0 1rem" },
  ".cm-cursor": { borderLeftColor: "var(--md-code-fg-color)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--md-accent-fg-color) 30%, transparent)",
  },
  ".cm-matchingBracket": { background: "none !important", outline: "0.05rem solid currentColor" },
});

// Put an editor in the place of an element. `changed(text)` is called after each change, and `run()` for Shift+Enter.
export function edit(element, { text, label, changed, run }) {
  const act = () => (run(), true);
  const view = new EditorView({
    state: EditorState.create({
      doc: text,
      extensions: [
        history(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of("    "),
        bracketMatching(),
        python(),
        syntaxHighlighting(COLOURS),
        THEME,
        EditorView.scrollMargins.of(() => ({ top: COVERED })),
        EditorView.contentAttributes.of({ "aria-label": label }),
        EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
        keymap.of([
          { key: "Shift-Enter", run: act },
          { key: "Mod-Enter", run: act },
          ...defaultKeymap,
          ...historyKeymap,
          indentWithTab,
        ]),
      ],
    }),
  });
  element.replaceWith(view.dom);
  const unwritten = text.match(/# YOUR CODE HERE\n +raise NotImplementedError\(\)/); // selected, to type over it
  if (unwritten) view.dispatch({ selection: { anchor: unwritten.index, head: unwritten.index + unwritten[0].length } });
  return {
    focus: () => view.focus(),
    replace: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
  };
}
