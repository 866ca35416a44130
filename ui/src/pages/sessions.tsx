import { useDeferredValue, useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { useSessions } from "../api/queries";
import { ago, cost, count } from "../parts/format";
import { Badge, Empty, Loaded, State, Wide } from "../parts/parts";
import styles from "./sessions.module.css";

const states = ["", "running", "waiting", "failed", "idle"] as const;

export function Sessions() {
  const [status, setStatus] = useState<(typeof states)[number]>("");
  const [words, setWords] = useState("");
  const q = useDeferredValue(words.trim());
  const sessions = useSessions({ status, limit: 200, ...(q === "" ? {} : { q, limit: 50 }) });
  return (
    <>
      <h1>Sessions</h1>
      <div className={styles.filter} role="search">
        <input
          type="search"
          aria-label="Search what was said"
          placeholder="Search what was said"
          value={words}
          onChange={(e) => setWords(e.target.value)}
        />
        <select aria-label="Status" value={status} onChange={(e) => setStatus(e.target.value as typeof status)}>
          {states.map((s) => (
            <option key={s} value={s}>
              {s || "any status"}
            </option>
          ))}
        </select>
      </div>
      <Loaded of={sessions}>{(list) => <SessionList list={list} />}</Loaded>
    </>
  );
}

export function SessionList({ list }: { list: Schemas["SessionView"][] }) {
  if (list.length === 0) return <Empty>There are no such sessions.</Empty>;
  return (
    <Wide label="Sessions">
      <table>
        <thead>
          <tr>
            <th scope="col">Session</th>
            <th scope="col">Profile</th>
            <th scope="col">Status</th>
            <th scope="col" className="number">
              Turns
            </th>
            <th scope="col" className="number">
              Cost
            </th>
            <th scope="col">Last active</th>
          </tr>
        </thead>
        <tbody>
          {list.map((s) => (
            <tr key={s.id}>
              <td className={styles.title}>
                <Link href={`/sessions/${encodeURIComponent(s.id)}`}>{s.title || s.id}</Link>
                {s.match && <div className="muted">{s.match}</div>}
              </td>
              <td>{s.profile}</td>
              <td>
                <State of={s.status} /> {s.origin && <Badge>{s.why ?? "branch"}</Badge>}
              </td>
              <td className="number">{count(s.turns)}</td>
              <td className="number">{cost(s.usage.cost)}</td>
              <td title={s.last_active}>{ago(s.last_active)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
