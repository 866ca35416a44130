import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useEffectEvent, useRef, useState } from "react";
import { api, ApiError, data, type Schemas } from "../../api/client";
import { open } from "../../edit/code";
import type { Node } from "../../edit/complete";
import { Changes } from "../../parts/diff";
import { Badge, Diagnostics, Problem, State } from "../../parts/parts";
import styles from "./edit.module.css";

type Source = Schemas["HostSource"];
type Checked = Schemas["Checked"];

// Texts that are not saved, by path, each with the file as it was when the text was like it.
// They are there again when their page is; the browser asks before they go with the tab.
const kept = new Map<string, { began: Source; text: string }>();
addEventListener("beforeunload", (e) => {
  if (kept.size > 0) e.preventDefault();
});

// Desk is where a file is edited. It stays the text of who edits when the file changes
// meanwhile; then there are two ways out. A text that nobody has touched goes with the file.
export function Desk({ source, schema }: { source: Source; schema: unknown }) {
  const [began, setBegan] = useState(kept.get(source.path)?.began ?? source);
  const [text, setText] = useState(kept.get(source.path)?.text ?? source.text);
  const [opened, setOpened] = useState(0); // changes when another text is put into the editor
  const [checked, setChecked] = useState<Pick<Checked, "status" | "diagnostics">>(source);
  const queries = useQueryClient();
  const again = () => queries.invalidateQueries({ queryKey: ["profiles"] });
  const save = useMutation({
    mutationFn: (force: boolean) =>
      data(
        api.PUT("/profiles/-/source", {
          params: {
            query: { path: began.path, ...(force ? { force: "true" as const } : {}) },
            header: { "If-Match": `"${began.revision}"` },
          },
          body: { text },
        }),
      ),
    onSuccess: (saved) => {
      setBegan(saved);
      queries.setQueryData(["profiles", "source", began.path], saved);
    },
    onSettled: again,
  });
  const changed = text !== began.text;
  useEffect(() => {
    if (changed) kept.set(began.path, { began, text });
    else kept.delete(began.path);
  }, [changed, began, text]);
  // while it is saved, the one is newer than the other for a moment
  const conflict = !save.isPending && source.revision !== began.revision;
  const take = () => {
    setBegan(source);
    setText(source.text);
    setOpened(opened + 1);
  };
  const drop = () => {
    save.reset();
    take();
  };
  if (conflict && (!changed || text === source.text)) take(); // also if it was saved when nobody looked
  return (
    <div className={styles.desk}>
      <p className={styles.state}>
        <State of={checked.status} /> {began.dialect && <Badge>{began.dialect}</Badge>}{" "}
        {changed && <Badge tone="warn">not saved</Badge>}
        {!began.writable && <span className="muted">This file is only read here.</span>}
      </p>
      <Editor
        key={opened}
        source={{ ...began, text }}
        schema={schema}
        changed={setText}
        checked={setChecked}
        save={() => save.mutate(false)}
      />
      {checked.diagnostics.length > 0 && <Diagnostics list={checked.diagnostics} />}
      {conflict ? (
        <Conflict
          theirs={source.text}
          mine={text}
          keep={() => {
            save.reset();
            setBegan(source);
          }}
          drop={drop}
        />
      ) : (
        changed && save.error && <Problem error={save.error} />
      )}
      {began.writable && !conflict && (
        <p className={styles.buttons}>
          <button className="primary" disabled={!changed || save.isPending} onClick={() => save.mutate(false)}>
            Save
          </button>
          {doesNotLoad(save.error) && changed && (
            <button disabled={save.isPending} onClick={() => save.mutate(true)}>
              Save it all the same
            </button>
          )}
          {changed && (
            <button disabled={save.isPending} onClick={drop}>
              Drop my changes
            </button>
          )}
          {save.data?.revision === began.revision && !changed && <span role="status">Saved.</span>}
        </p>
      )}
    </div>
  );
}

const doesNotLoad = (error: unknown) =>
  error instanceof ApiError && error.status === 400 && error.diagnostics.length > 0;

// Editor is CodeMirror, which asks the server what it makes of the text.
function Editor({
  source,
  schema,
  changed,
  checked,
  save,
}: {
  source: Source;
  schema: unknown;
  changed: (text: string) => void;
  checked: (c: Checked) => void;
  save: () => void;
}) {
  const box = useRef<HTMLDivElement>(null);
  const asked = useRef(0);
  const { path } = source;
  const check = useCallback(
    async (text: string) => {
      const mine = ++asked.current;
      try {
        const c = await data(api.POST("/profiles/-/check", { body: { path, text } }));
        if (mine === asked.current) checked(c); // not what is said of an older text
        return c.diagnostics;
      } catch {
        return []; // the server is away; saving says so
      }
    },
    [path, checked],
  );
  const saving = useRef(save); // what the keys of the editor do is that of the last text
  useEffect(() => {
    saving.current = save;
  });
  const begin = useEffectEvent((at: HTMLElement) =>
    open(at, {
      path,
      text: source.text,
      schema:
        path.endsWith(".md") && (source.dialect === "roster" || source.dialect === "") ? (schema as Node) : undefined,
      readOnly: !source.writable,
      changed,
      check,
      save: () => saving.current(),
    }),
  );
  useEffect(() => (box.current ? begin(box.current) : undefined), []);
  return <div ref={box} className={styles.editor} />;
}

// Conflict is shown when somebody else has saved the file meanwhile.
function Conflict({ theirs, mine, keep, drop }: { theirs: string; mine: string; keep: () => void; drop: () => void }) {
  return (
    <section role="alert" aria-label="Conflict">
      <h2>Somebody has changed the file meanwhile</h2>
      <p>This is what your text would make of it:</p>
      <Changes before={theirs} after={mine} />
      <p className={styles.buttons}>
        <button className="primary" onClick={keep}>
          Keep my text
        </button>
        <button onClick={drop}>Take the file as it is now</button>
      </p>
    </section>
  );
}
