import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useLayoutEffect, useRef } from "react";
import { Markdown } from "../../parts/markdown";
import { Badge } from "../../parts/parts";
import type { Model } from "../../session/model";
import { textOf, type Answer, type Note, type Row, type Said, type Thread } from "../../session/thread";
import styles from "./rows.module.css";
import { Call } from "./call";

const near = 60; // px from the end that count as being there

// Rows shows a thread, of which only what is seen is in the page. Who looks at its end
// stays there while it grows.
export function Rows({ model, thread, version }: { model: Model; thread: Thread; version: number }) {
  const box = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  const { rows } = thread;
  const shown = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    getItemKey: (i) => rows[i]?.key ?? i,
    estimateSize: () => 80,
    overscan: 6,
  });
  useLayoutEffect(() => {
    if (follows.current && rows.length > 0) shown.scrollToIndex(rows.length - 1, { align: "end" });
  }, [shown, rows.length, version]);
  return (
    <div
      ref={box}
      className={styles.rows}
      tabIndex={0}
      role="log"
      aria-label="Conversation"
      onScroll={(e) => {
        const { scrollHeight, scrollTop, clientHeight } = e.currentTarget;
        follows.current = scrollHeight - scrollTop - clientHeight < near;
      }}
    >
      <div style={{ height: shown.getTotalSize(), position: "relative" }}>
        {shown.getVirtualItems().map((at) => {
          const row = rows[at.index];
          return (
            row && (
              <div
                key={at.key}
                ref={shown.measureElement}
                data-index={at.index}
                className={styles.place}
                style={{ transform: `translateY(${at.start}px)` }}
              >
                <OneRow
                  row={row}
                  model={model}
                  session={thread.id}
                  version={row.kind === "tool" && row.child ? version : 0}
                />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}

// OneRow is drawn again where the row is another one; version changes with what is in a
// child's thread.
export const OneRow = memo(function OneRow({
  row,
  model,
  session,
  version,
}: {
  row: Row;
  model: Model;
  session: string;
  version: number;
}) {
  switch (row.kind) {
    case "said":
      return <SaidRow row={row} />;
    case "answer":
      return <AnswerRow row={row} />;
    case "tool":
      return <Call row={row} model={model} session={session} version={version} />;
    case "note":
      return <NoteRow row={row} />;
  }
});

const how = { prompt: "", steer: "steering", followup: "follow-up" };

function SaidRow({ row }: { row: Said }) {
  const files = row.parts.filter((p) => p.type !== "text");
  return (
    <article className={styles.said} aria-label="Prompt">
      <p className="muted">
        {row.user ?? "You"} {how[row.how] && <Badge>{how[row.how]}</Badge>}{" "}
        {row.how !== "prompt" && row.message === undefined && <Badge>not yet seen</Badge>}
      </p>
      <div className={styles.text}>{textOf(row.parts)}</div>
      {files.map((p, i) => (
        <Badge key={i}>{p.media_type ?? p.type}</Badge>
      ))}
    </article>
  );
}

function AnswerRow({ row }: { row: Answer }) {
  if (row.text === "" && row.thinking === "") return null;
  return (
    <article className={styles.answer} aria-label="Answer" aria-busy={row.live}>
      {row.thinking !== "" && (
        <details className={styles.thinking} open={row.live && row.text === ""}>
          <summary>Thinking</summary>
          <Markdown text={row.thinking} />
        </details>
      )}
      <Markdown text={row.text} />
      {row.partial && <Badge tone="warn">cut off</Badge>}
    </article>
  );
}

function NoteRow({ row }: { row: Note }) {
  const text = <span className={styles[row.tone]}>{row.text}</span>;
  if (!row.detail) return <p className={styles.note}>{text}</p>;
  if (row.detail.length < 200) {
    return (
      <p className={styles.note}>
        {text}: {row.detail}
      </p>
    );
  }
  return (
    <details className={styles.note}>
      <summary>{text}</summary>
      <div className={styles.text}>{row.detail}</div>
    </details>
  );
}
