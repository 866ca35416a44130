import { autocompletion, completionKeymap, type CompletionContext } from "@codemirror/autocomplete";
import { history, historyKeymap, standardKeymap } from "@codemirror/commands";
import { HighlightStyle, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";
import type { Schemas } from "../api/client";
import { complete, type Node } from "./complete";
import { checking } from "./marks";
import { profileText } from "./tokens";

type Diagnostic = Schemas["Diagnostic"];

// Editing says what an editor shows, and whom it asks and tells.
export interface Editing {
  path: string;
  text: string;
  schema: Node | undefined; // of the keys; none: nothing is completed
  readOnly: boolean;
  changed: (text: string) => void;
  check: (text: string) => Promise<Diagnostic[]>;
  save: () => void;
}

// open puts an editor into a box, until it is closed. The page allows no styles but those
// of its files. An editor makes its own, and in a shadow root it makes them by script.
export function open(box: HTMLElement, e: Editing): () => void {
  const root = box.shadowRoot ?? box.attachShadow({ mode: "open" });
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({ doc: e.text, extensions: extensions(e) }),
  });
  return () => view.destroy();
}

function extensions(e: Editing): Extension[] {
  return [
    look,
    lineNumbers(),
    highlightActiveLine(),
    history(),
    StreamLanguage.define(profileText(e.path)),
    syntaxHighlighting(colours),
    EditorView.lineWrapping,
    overwriting,
    EditorState.readOnly.of(e.readOnly),
    EditorView.contentAttributes.of({ "aria-label": `Text of ${e.path}` }),
    EditorView.updateListener.of((u) => {
      if (u.docChanged) e.changed(u.state.doc.toString());
    }),
    checking(e.check),
    autocompletion({ override: [suggest(e.schema)] }),
    // Tab leaves the editor, as it leaves each other field.
    keymap.of([
      { key: "Mod-s", run: () => (e.save(), true) },
      ...completionKeymap,
      ...historyKeymap,
      ...standardKeymap,
    ]),
  ];
}

// overwriting types over what is selected by script. Browsers give such a text the style of
// what it replaces, as an attribute, which the page's policy refuses.
const overwriting = EditorView.domEventHandlers({
  beforeinput(e, view) {
    if (e.inputType !== "insertText" || e.data === null || e.isComposing || view.state.selection.main.empty)
      return false;
    if (!view.state.readOnly)
      view.dispatch(view.state.replaceSelection(e.data), { userEvent: "input.type", scrollIntoView: true });
    e.preventDefault();
    return true;
  },
});

const suggest = (schema: Node | undefined) => (context: CompletionContext) => {
  if (schema === undefined) return null;
  const found = complete(schema, context.state.doc.toString(), context.pos);
  if (found === null || (found.from === context.pos && !context.explicit && !/: $/.test(before(context)))) return null;
  return { from: found.from, options: found.choices, validFor: /^[\w+./-]*$/ };
};

const before = (c: CompletionContext) => c.state.sliceDoc(Math.max(0, c.pos - 2), c.pos);

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: "var(--accent)" },
  { tag: tags.string, color: "var(--good)" },
  { tag: [tags.comment, tags.meta], color: "var(--muted)" },
]);

const look = EditorView.theme({
  "&": {
    backgroundColor: "var(--ground)",
    color: "var(--text)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "1px" },
  ".cm-scroller": {
    fontFamily: "var(--mono)",
    fontSize: "0.88rem",
    lineHeight: "1.55",
    maxHeight: "60vh",
    minHeight: "14em",
  },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--muted)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--accent-ground) 45%, transparent)" },
  ".cm-tooltip": {
    backgroundColor: "var(--raised)",
    color: "var(--text)",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
    maxWidth: "min(30em, 90vw)",
  },
  ".cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]": {
    backgroundColor: "var(--accent)",
    color: "var(--on-accent)",
  },
  ".cm-mark": {
    textDecoration: "underline wavy var(--warn)",
    textUnderlineOffset: "3px",
    textDecorationSkipInk: "none",
  },
  ".cm-mark-error": { textDecorationColor: "var(--bad)", backgroundColor: "var(--bad-ground)" },
});
