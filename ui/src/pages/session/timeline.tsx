import { useState } from "react";
import { cost, count, took } from "../../parts/format";
import type { Turn } from "../../session/thread";
import { RequestOf } from "./request";
import styles from "./timeline.module.css";

// Timeline is a bar for each turn, as wide as it took long; the request of each can be
// looked at.
export function Timeline({ turns, session }: { turns: Turn[]; session: string }) {
  const [chosen, setChosen] = useState<number>();
  if (turns.length === 0) return null;
  return (
    <section className={styles.timeline} aria-label="Turns">
      <ol>
        {turns.map((t, i) => (
          <li key={t.key + "-" + i} style={{ flexGrow: Math.max(1, Math.sqrt((t.ended ?? t.began) - t.began)) }}>
            <button
              aria-label={`Turn ${i + 1}: ${about(t)}`}
              title={`Turn ${i + 1}: ${about(t)}`}
              aria-pressed={chosen === i}
              onClick={() => setChosen(chosen === i ? undefined : i)}
            >
              {turns.length <= 40 ? i + 1 : ""}
            </button>
          </li>
        ))}
      </ol>
      {chosen !== undefined && <Chosen turn={turns[chosen]} number={chosen + 1} session={session} />}
    </section>
  );
}

function Chosen({ turn, number, session }: { turn: Turn | undefined; number: number; session: string }) {
  return (
    <div className={styles.turn}>
      <p>
        Turn {number}: {turn && about(turn)}
      </p>
      <RequestOf session={session} turn={number} />
    </div>
  );
}

function about(t: Turn): string {
  return [
    t.ended === undefined ? "under way" : took(t.ended - t.began),
    t.usage && `${count(t.usage.input_tokens)} tokens in, ${count(t.usage.output_tokens)} out`,
    t.usage && t.usage.cost > 0 && cost(t.usage.cost),
    t.tools > 0 && (t.tools === 1 ? "1 tool call" : `${t.tools} tool calls`),
  ]
    .filter(Boolean)
    .join(", ");
}
