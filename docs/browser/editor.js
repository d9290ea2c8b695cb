// An editor for the Python of a cell: CodeMirror, which looks as the block of code in whose place it is, with the numbers of the lines.

import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory, simplifySelection } from "./codemirror/commands.js";
import { python } from "./codemirror/lang-python.js";
import { bracketMatching, indentOnInput, indentUnit } from "./codemirror/language.js";
import { EditorState } from "./codemirror/state.js";
import { Decoration, drawSelection, EditorView, keymap, lineNumbers } from "./codemirror/view.js";

const COVERED = 110; // pixels of a window's top that its header and the bar of points cover
const THEME = EditorView.theme({
  "&": { fontSize: "0.8em", background: "var(--md-code-bg-color)", color: "var(--md-code-fg-color)" },
  "&.cm-focused": { outline: "0.1rem solid var(--focus)" },
  ".cm-scroller": { fontFamily: "var(--md-code-font-family)", lineHeight: "1.5" },
  ".cm-content": { padding: "0.772em 0", caretColor: "var(--md-code-fg-color)" },
  ".cm-line": { padding: "0 1.176em 0 0.6em" },
  ".cm-gutters": { border: "0", background: "none", color: "var(--md-default-fg-color--light)" },
  ".cm-lineNumbers .cm-gutterElement": { minWidth: "2.2em", padding: "0" },
  ".cm-cursor": { borderLeftColor: "var(--md-code-fg-color)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    background: "color-mix(in srgb, var(--md-accent-fg-color) 30%, transparent)",
  },
  ".cm-matchingBracket": { background: "none !important", outline: "0.05rem solid currentColor" },
});

// What a line that is broken goes on with begins below the line's own first letter.
function hanging({ doc }) {
  const lines = Array.from({ length: doc.lines }, (_, index) => doc.line(index + 1));
  const style = (depth) => `padding-left: calc(0.6em + ${depth}ch); text-indent: -${depth}ch`;
  return Decoration.set(lines.map(({ from, text }) => Decoration.line({ attributes: { style: style(text.search(/\S|$/)) } }).range(from)));
}

// Put an editor in the place of an element. `parts(text)` gives the classes of a text's parts, as [start, end, class]. `changed(text)` is
// called after each change, and `run()` for Shift+Enter.
export function edit(element, { text, label, parts, changed, run }) {
  const act = () => (run(), true);
  const leave = (view) => (simplifySelection(view), view.setTabFocusMode(5000), true); // also with a selection, the next Tab leaves
  const marks = ({ doc }) => Decoration.set(parts(doc.toString()).map(([start, end, kind]) => Decoration.mark({ class: kind }).range(start, end)));
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
        lineNumbers(),
        EditorView.decorations.compute(["doc"], marks),
        EditorView.lineWrapping,
        EditorView.decorations.compute(["doc"], hanging),
        THEME,
        EditorView.scrollMargins.of(() => ({ top: COVERED })),
        EditorView.contentAttributes.of({ "aria-label": label }),
        EditorView.updateListener.of((update) => update.docChanged && changed(update.state.doc.toString())),
        keymap.of([
          { key: "Shift-Enter", run: act },
          { key: "Mod-Enter", run: act },
          { key: "Escape", run: leave },
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
    replace: (text) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text }, annotations: isolateHistory.of("full") }), // undone alone
  };
}
