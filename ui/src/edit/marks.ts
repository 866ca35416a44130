import { StateEffect, StateField, type Extension, type Text } from "@codemirror/state";
import { Decoration, EditorView, ViewPlugin, type DecorationSet, type ViewUpdate } from "@codemirror/view";
import type { Schemas } from "../api/client";

type Diagnostic = Schemas["Diagnostic"];

const pause = 300; // ms after the last key before the text is checked

const found = StateEffect.define<Diagnostic[]>();

// marked shows what was found at its places. The texts stand below the editor.
const marked = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, tr) {
    marks = marks.map(tr.changes);
    for (const e of tr.effects) if (e.is(found)) marks = marksOf(e.value, tr.state.doc);
    return marks;
  },
  provide: (f) => EditorView.decorations.from(f),
});

// marksOf puts marks into a text. What is about a line that is not there is at the nearest.
function marksOf(list: Diagnostic[], text: Text): DecorationSet {
  return Decoration.set(
    list.flatMap((d) => {
      const line = text.line(Math.min(Math.max(d.line, 1), text.lines));
      const from = Math.min(line.from + Math.max(d.column - 1, 0), Math.max(line.from, line.to - 1));
      const mark = Decoration.mark({ class: `cm-mark cm-mark-${d.severity}`, attributes: { title: d.message } });
      return from < line.to ? [mark.range(from, line.to)] : [];
    }),
    true,
  );
}

// checking asks what there is to say of the text: at once, and when it has rested.
export function checking(check: (text: string) => Promise<Diagnostic[]>): Extension {
  const plugin = ViewPlugin.fromClass(
    class {
      timer: number;
      constructor(readonly view: EditorView) {
        this.timer = window.setTimeout(() => void this.ask(), 0);
      }
      update(u: ViewUpdate) {
        if (!u.docChanged) return;
        clearTimeout(this.timer);
        this.timer = window.setTimeout(() => void this.ask(), pause);
      }
      async ask() {
        const { doc } = this.view.state;
        const list = await check(doc.toString());
        if (this.timer !== 0 && doc.eq(this.view.state.doc)) this.view.dispatch({ effects: found.of(list) });
      }
      destroy() {
        clearTimeout(this.timer);
        this.timer = 0; // what is answered from now on comes too late
      }
    },
  );
  return [marked, plugin];
}
