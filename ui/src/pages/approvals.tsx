import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, data, type Schemas } from "../api/client";
import { useApprovals } from "../api/queries";
import { ago } from "../parts/format";
import { Badge, Code, Empty, Loaded, Problem, State } from "../parts/parts";
import { Input } from "./session/call";
import styles from "./approvals.module.css";

type Approval = Schemas["Approval"];

// Approvals are all questions that wait for somebody, the oldest first.
export function Approvals() {
  const approvals = useApprovals();
  return (
    <>
      <h1>Approvals</h1>
      <Loaded of={approvals}>
        {(list) => (
          <>
            {list.length === 0 && <Empty>Nothing waits for an answer.</Empty>}
            <Asks of={list} named />
          </>
        )}
      </Loaded>
    </>
  );
}

const labels: Record<string, string> = { once: "Once", session: "For this session", always: "Always", no: "Deny" };

const changes = ["edit", "write"]; // of which the name of the file says too little

// Asks are questions. One that is being answered stays until the answer is taken, and says
// why it is not: somebody else may have answered it.
export function Asks({ of: list, named = false }: { of: Approval[]; named?: boolean }) {
  const [late, setLate] = useState<Approval[]>([]);
  return [...list, ...late.filter((a) => !list.some((b) => a.id === b.id))].map((a) => (
    <Ask
      key={a.id}
      of={a}
      named={named}
      keep={(is) => setLate((l) => [...l.filter((b) => a.id !== b.id), ...(is ? [a] : [])])}
    />
  ));
}

interface Asked {
  of: Approval;
  named: boolean;
  keep: (is: boolean) => void;
}

// Ask is one question, with the ways to answer it.
function Ask({ of: a, named, keep }: Asked) {
  const [message, setMessage] = useState("");
  const queries = useQueryClient();
  const answer = useMutation({
    mutationFn: (body: { answer: string; message?: string }) =>
      data(api.POST("/approvals/{id}", { params: { path: { id: a.id } }, body: body as Schemas["ApprovalBody"] })),
    onMutate: () => keep(true),
    onSuccess: () => keep(false),
    onSettled: () => void queries.invalidateQueries({ queryKey: ["approvals"] }),
  });
  return (
    <article className={styles.ask} aria-label={a.question ?? `May ${a.tool} be called?`}>
      {named && (
        <p className="muted">
          <Link href={`/sessions/${encodeURIComponent(a.sessionId)}`}>Session of {a.agentId}</Link>, asked{" "}
          {ago(a.asked)}
          {a.expires && `, until ${new Date(a.expires).toLocaleString()}`}
        </p>
      )}
      {a.question === undefined ? (
        <>
          <p>
            <Badge tone="warn">{a.tool}</Badge> {a.reason}
          </p>
          {a.shown.length > 0 && <Code label="What it would do">{a.shown.join("\n")}</Code>}
          {(a.shown.length === 0 || changes.includes(a.tool)) && <Input tool={a.tool} input={a.arguments} />}
          {a.parts.length > 1 && (
            <ul>
              {a.parts.map((p, i) => (
                <li key={i}>
                  <State of={p.effect} /> <code>{p.tool}</code> <code>{p.subject}</code>
                </li>
              ))}
            </ul>
          )}
          {a.rule && (
            <p className="muted">
              By the rule <code>{a.rule.tool}</code> <code>{a.rule.subject}</code>
              {a.rule.file ? ` in ${a.rule.file}:${a.rule.line}` : a.rule.layer && ` of the ${a.rule.layer}`}
            </p>
          )}
          {a.again && <p className="muted">{a.again}</p>}
        </>
      ) : (
        <p className={styles.question}>{a.question}</p>
      )}
      {answer.error && <Problem error={answer.error} />}
      {a.question === undefined ? (
        <div className={styles.answers}>
          {a.answers.map((one) => (
            <button
              key={one}
              className={one === "no" ? "danger" : one === "once" ? "primary" : ""}
              disabled={answer.isPending}
              onClick={() => answer.mutate({ answer: one, ...(message === "" ? {} : { message }) })}
            >
              {labels[one] ?? one}
            </button>
          ))}
          <input
            aria-label="Message to the model"
            placeholder="with a message (optional)"
            value={message}
            onChange={(e) => setMessage(e.target.value)}
          />
        </div>
      ) : (
        <Reply to={a} keep={keep} />
      )}
    </article>
  );
}

// Reply answers a question that the model has asked a person.
function Reply({ to: a, keep }: { to: Approval; keep: Asked["keep"] }) {
  const [text, setText] = useState("");
  const queries = useQueryClient();
  const reply = useMutation({
    mutationFn: (answer: string) =>
      data(
        api.POST("/sessions/{id}/answers", {
          params: { path: { id: a.sessionId } },
          body: { id: a.id, answer: "text", text: answer },
        }),
      ),
    onMutate: () => keep(true),
    onSuccess: () => keep(false),
    onSettled: () => void queries.invalidateQueries({ queryKey: ["approvals"] }),
  });
  return (
    <form
      className={styles.answers}
      onSubmit={(e) => {
        e.preventDefault();
        reply.mutate(text);
      }}
    >
      {reply.error && <Problem error={reply.error} />}
      {(a.options ?? []).map((o) => (
        <button key={o} type="button" disabled={reply.isPending} onClick={() => reply.mutate(o)}>
          {o}
        </button>
      ))}
      <input aria-label="Answer" value={text} onChange={(e) => setText(e.target.value)} required />
      <button className="primary" disabled={reply.isPending}>
        Answer
      </button>
    </form>
  );
}
