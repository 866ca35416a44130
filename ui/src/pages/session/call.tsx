import { useState } from "react";
import { Link } from "wouter";
import { Changes } from "../../parts/diff";
import { count, took } from "../../parts/format";
import { Badge, Code, State } from "../../parts/parts";
import type { Model } from "../../session/model";
import { textOf, type ToolCall } from "../../session/thread";
import { OneRow } from "./rows";
import styles from "./call.module.css";

// Call is a tool's call: a line, and behind it what went in and what came out.
export function Call({
  row,
  model,
  session,
  version,
}: {
  row: ToolCall;
  model: Model;
  session: string;
  version: number;
}) {
  const [open, setOpen] = useState(false);
  return (
    <details className={styles.call} open={open} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <code className={styles.tool}>{row.tool}</code> <span className={styles.brief}>{brief(row.input)}</span>{" "}
        <State of={row.question && row.question.answer === undefined ? "waiting" : row.state} />{" "}
        {row.took !== undefined && row.took > 0 && <span className="muted">{took(row.took)}</span>}
      </summary>
      {open && <Inside row={row} model={model} session={session} version={version} />}
    </details>
  );
}

function Inside({ row, model, version }: { row: ToolCall; model: Model; session: string; version: number }) {
  const output = textOf(row.output) || row.update;
  return (
    <div className={styles.inside}>
      {row.effect && row.effect !== "allow" && (
        <p className="muted">
          {row.effect}: {row.reason}{" "}
          {row.rule && `(rule ${row.rule.tool} “${row.rule.subject}”, ${row.rule.file ?? row.rule.layer ?? ""})`}
        </p>
      )}
      {row.question?.answer && (
        <p className="muted">
          Answered “{row.question.answer}”{row.question.by && ` by ${row.question.by}`}
        </p>
      )}
      {row.hooks.map((h, i) => (
        <p key={i} className="muted">
          Hook {h}
        </p>
      ))}
      <Input tool={row.tool} input={row.input} />
      {output !== "" && <Code label={`Output of ${row.tool}`}>{output}</Code>}
      {row.output.some((p) => p.type === "image") && <Badge>image</Badge>}
      {row.artifact && <p className="muted">There is more of it: artifact {row.artifact.slice(0, 12)}</p>}
      {row.child && <Child id={row.child} model={model} version={version} />}
    </div>
  );
}

// Input is what a tool is called with: of a change to a file, the change.
export function Input({ tool, input }: { tool: string; input: unknown }) {
  if (typeof input !== "object" || input === null) return <Code label={`Input of ${tool}`}>{String(input)}</Code>;
  const { path, old, new: fresh, content } = input as Record<string, unknown>;
  if (tool === "edit" && typeof old === "string" && typeof fresh === "string") {
    return (
      <>
        <p>
          <code>{String(path)}</code>
        </p>
        <Changes before={old} after={fresh} />
      </>
    );
  }
  if (tool === "write" && typeof content === "string") {
    return (
      <>
        <p>
          <code>{String(path)}</code>
        </p>
        <Changes before="" after={content} />
      </>
    );
  }
  return <Code label={`Input of ${tool}`}>{JSON.stringify(input, null, 1)}</Code>;
}

const most = 200; // rows of a child that are shown in place

function Child({ id, model, version }: { id: string; model: Model; version: number }) {
  const thread = model.thread(id);
  return (
    <section className={styles.child} aria-label={`Session of ${thread.profile}`}>
      <p className="muted">
        <Link href={`/sessions/${encodeURIComponent(id)}`}>Session of {thread.profile}</Link>{" "}
        <State of={thread.status} />
        {thread.rows.length > most && ` the last ${most} of ${count(thread.rows.length)} rows`}
      </p>
      {thread.rows.slice(-most).map((row) => (
        <OneRow
          key={row.key}
          row={row}
          model={model}
          session={id}
          version={row.kind === "tool" && row.child ? version : 0}
        />
      ))}
    </section>
  );
}

// brief is a call's input in a few words: what it is about.
function brief(input: unknown): string {
  if (typeof input === "string") return input.slice(0, 120);
  if (typeof input !== "object" || input === null) return "";
  const it = input as Record<string, unknown>;
  for (const key of ["command", "path", "pattern", "url", "query", "description", "name", "profile"]) {
    const value = it[key];
    if (typeof value === "string" && value !== "") return (value.split("\n")[0] ?? "").slice(0, 120);
  }
  return "";
}
