import { diffLines } from "diff";
import { useMemo } from "react";
import styles from "./diff.module.css";

// Changes shows what becomes of a text, line by line.
export function Changes({ before, after }: { before: string; after: string }) {
  const lines = useMemo(
    () =>
      diffLines(before, after).flatMap((c) => {
        const sign = c.added ? "+" : c.removed ? "-" : " ";
        return c.value
          .replace(/\n$/, "")
          .split("\n")
          .map((text) => sign + text);
      }),
    [before, after],
  );
  return <Lines lines={lines} />;
}

// Unified shows a diff that is one already.
export function Unified({ text }: { text: string }) {
  return <Lines lines={text.replace(/\n$/, "").split("\n")} />;
}

const kinds: Record<string, string | undefined> = { "+": styles.added, "-": styles.removed, "@": styles.place };

function Lines({ lines }: { lines: string[] }) {
  return (
    <pre className={styles.diff} tabIndex={0} role="region" aria-label="Changes">
      {lines.map((line, i) => (
        <div key={i} className={kinds[line[0] ?? ""]}>
          {line || " "}
        </div>
      ))}
    </pre>
  );
}
