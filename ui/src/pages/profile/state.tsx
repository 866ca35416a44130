import { useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "../../api/client";
import { useApprovals, useSessions } from "../../api/queries";
import { cost, count } from "../../parts/format";
import { Badge, Code, Empty, Facts, Loaded, State } from "../../parts/parts";
import { textOf, type Answer, type Said, type Thread } from "../../session/thread";
import { useSession } from "../../session/use";
import { SessionList } from "../sessions";

const most = 100;

// StateTab is what the profile does now. One session is followed at a time: a browser has
// but six connections to a server.
export function StateTab({ profile: { name } }: { profile: Schemas["Profile"] }) {
  const running = useSessions({ profile: name, status: "running", limit: most });
  const waiting = useSessions({ profile: name, status: "waiting", limit: most });
  const [chosen, choose] = useState("");
  return (
    <Loaded of={running}>
      {(runs) => (
        <Loaded of={waiting}>
          {(waits) => {
            const all = [...runs, ...waits];
            if (all.length === 0) {
              return (
                <Empty>
                  None of its sessions runs or waits. <Link href={`/new/${encodeURIComponent(name)}`}>Begin one</Link>.
                </Empty>
              );
            }
            const shown = all.find((s) => s.id === chosen) ?? all[0];
            return (
              <>
                <p>
                  <State of="running" /> {count(runs.length)} <State of="waiting" /> {count(waits.length)}
                </p>
                {all.length > 1 && (
                  <label>
                    Shown{" "}
                    <select value={shown?.id} onChange={(e) => choose(e.target.value)}>
                      {all.map((s) => (
                        <option key={s.id} value={s.id}>
                          {s.title || s.id}
                        </option>
                      ))}
                    </select>
                  </label>
                )}
                {shown && <Live key={shown.id} id={shown.id} title={shown.title} />}
                <h2>All that run or wait</h2>
                <SessionList list={all} />
              </>
            );
          }}
        </Loaded>
      )}
    </Loaded>
  );
}

// Live is one session as it is this moment.
function Live({ id, title }: { id: string; title: string }) {
  const store = useSession(id);
  const approvals = useApprovals();
  const thread = store.model.thread(id);
  const steering = unseen(thread, "steer");
  const after = unseen(thread, "followup");
  const asks = (approvals.data ?? []).filter((a) => a.sessionId === id);
  const said = thread.rows.findLast((r): r is Answer => r.kind === "answer" && r.live);
  const calls = thread.rows.filter((r) => r.kind === "tool");
  const busy = calls.filter((c) => c.state === "running" || c.state === "called");
  return (
    <section aria-label={title || id}>
      <h2>
        <Link href={`/sessions/${encodeURIComponent(id)}`}>{title || id}</Link> <State of={thread.status} />{" "}
        {store.connection === "lost" && <Badge tone="warn">connection lost, trying again</Badge>}
      </h2>
      <Facts
        of={[
          ["Streaming", said ? `yes: ${count(said.text.length + said.thinking.length)} characters so far` : "no"],
          ["Tools at work", busy.length === 0 ? "none" : busy.map((c) => c.tool).join(", ")],
          ["Steering queue", queue(steering)],
          ["Follow-up queue", queue(after)],
          [
            "Waits for",
            asks.length === 0 ? "nobody" : asks.map((a) => a.question ?? `leave to call ${a.tool}`).join("; "),
          ],
          ["Loops", count(thread.loops)],
          ["Turns", count(thread.turns.length)],
          ["Tool calls", count(calls.length)],
          ["Tokens", `${count(thread.usage.input_tokens)} in, ${count(thread.usage.output_tokens)} out`],
          ["Cost", cost(thread.usage.cost)],
        ]}
      />
      {said && <Code label="What it says">{(said.text || said.thinking).slice(-2000)}</Code>}
    </section>
  );
}

// unseen are the words to a session that its model has not been given yet.
const unseen = (t: Thread, how: Said["how"]) =>
  t.rows.filter((r): r is Said => r.kind === "said" && r.how === how && r.message === undefined);

const queue = (of: Said[]) =>
  of.length === 0 ? "empty" : `${count(of.length)}: ${of.map((s) => textOf(s.parts)).join(" · ")}`;
