import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { Link } from "wouter";
import { useApprovals, useSessionView } from "../../api/queries";
import { cost, count } from "../../parts/format";
import { Badge, Facts, Loading, Problem, State } from "../../parts/parts";
import { useSession } from "../../session/use";
import { Asks } from "../approvals";
import { Composer } from "./composer";
import { Rows } from "./rows";
import styles from "./session.module.css";
import { Timeline } from "./timeline";

// SessionPage shows a session as it goes on, and lets people take part in it.
export function SessionPage({ id }: { id: string }) {
  const root = id.split("_")[0] ?? id;
  const store = useSession(id);
  const thread = store.model.thread(id);
  const view = useSessionView(id);
  const approvals = useApprovals();
  const queries = useQueryClient();
  const { status } = thread;
  useEffect(() => {
    void queries.invalidateQueries({ queryKey: ["sessions", id] });
  }, [queries, id, status]);
  if (thread.rows.length === 0 && view.error) return <Problem error={view.error} />;
  const asks = (approvals.data ?? []).filter((a) => a.sessionId === root && (id === root || a.child === id));
  return (
    <div className={styles.page}>
      <header>
        <p className="muted">
          <Link href="/sessions">Sessions</Link> /{" "}
          {id !== root && <Link href={`/sessions/${encodeURIComponent(root)}`}>the session it works for</Link>}
        </p>
        <h1>
          {thread.title || view.data?.title || "Session"} <State of={status} />{" "}
          {store.connection === "lost" && <Badge tone="warn">connection lost, trying again</Badge>}
        </h1>
        <Facts
          of={[
            [
              "Profile",
              thread.profile && (
                <Link key="p" href={`/profiles/${encodeURIComponent(thread.profile)}`}>
                  {thread.profile}
                </Link>
              ),
            ],
            ["Model", view.data?.settings?.model ?? thread.turns.at(-1)?.model],
            [
              "Used",
              `${count(thread.usage.input_tokens)} tokens in, ${count(thread.usage.output_tokens)} out, ${cost(thread.usage.cost)}`,
            ],
            [
              "Branch of",
              view.data?.origin && (
                <Link key="o" href={`/sessions/${encodeURIComponent(view.data.origin)}`}>
                  {view.data.origin}
                </Link>
              ),
            ],
          ]}
        />
        <Timeline turns={thread.turns} session={id} />
        {thread.steps.length > 0 && <Steps of={thread.steps} />}
      </header>
      {store.model.last === 0 && store.connection !== "lost" ? (
        <Loading />
      ) : (
        <Rows model={store.model} thread={thread} version={store.snapshot()} />
      )}
      <Asks of={asks} />
      {id === root && <Composer key={id} thread={thread} />}
    </div>
  );
}

function Steps({ of }: { of: { text: string; status: string }[] }) {
  const done = of.filter((s) => s.status === "completed" || s.status === "done").length;
  return (
    <details>
      <summary>
        Plan: {done} of {of.length} done
      </summary>
      <ol>
        {of.map((s, i) => (
          <li key={i}>
            {s.text} <State of={s.status} />
          </li>
        ))}
      </ol>
    </details>
  );
}
