import { useQuery } from "@tanstack/react-query";
import { useDeferredValue, useState, type ReactNode } from "react";
import { Link } from "wouter";
import { api, data, type Schemas } from "../../api/client";
import { useProfiles } from "../../api/queries";
import { groupBy } from "../../parts/group";
import { Badge, Empty, Loaded, Loading, Wide } from "../../parts/parts";
import styles from "./delegation.module.css";
import { Drawing } from "./drawing";
import type { Edge } from "./layout";

const most = 60; // profiles that are drawn, and asked for at once

// Delegation is who may delegate to whom, by the rules of the profiles.
export function Delegation() {
  const profiles = useProfiles();
  return (
    <>
      <p className="muted">
        <Link href="/profiles">Profiles</Link> /
      </p>
      <h1>Who may delegate to whom</h1>
      <Loaded of={profiles}>
        {(all) =>
          all.length > most ? <Many names={all.map((p) => p.name)} /> : <Few names={all.map((p) => p.name)} />
        }
      </Loaded>
    </>
  );
}

function Few({ names }: { names: string[] }) {
  return (
    <Targets names={names}>
      {(edges) => (
        <>
          <Drawing edges={edges} />
          <h2>In words</h2>
          <Table edges={edges} />
        </>
      )}
    </Targets>
  );
}

// Many shows the first ones that are looked for: more could not be told apart in a drawing.
function Many({ names }: { names: string[] }) {
  const [text, setText] = useState("");
  const wanted = useDeferredValue(text.trim().toLowerCase());
  const found = names.filter((n) => n.toLowerCase().includes(wanted));
  return (
    <>
      <input
        type="search"
        aria-label="Profile that delegates"
        placeholder="Profile that delegates"
        value={text}
        onChange={(e) => setText(e.target.value)}
      />
      <p className="muted" role="status">
        {found.length > most ? `The first ${most} of ${found.length}` : `${found.length} profiles`}
      </p>
      <Targets names={found.slice(0, most)}>{(edges) => <Table edges={edges} />}</Targets>
    </>
  );
}

function Targets({ names, children }: { names: string[]; children: (edges: Edge[]) => ReactNode }) {
  const targets = useQuery({
    queryKey: ["profiles", "targets", names],
    staleTime: 30_000,
    queryFn: () => Promise.allSettled(names.map(targetsOf)),
  });
  if (targets.data === undefined) return <Loading />;
  const edges = targets.data.flatMap((t, i) => (t.status === "fulfilled" ? edgesOf(names[i] ?? "", t.value) : []));
  const failed = names.filter((_, i) => targets.data[i]?.status === "rejected");
  return (
    <>
      {failed.length > 0 && <p role="alert">Not known of {failed.join(", ")}: they cannot be resolved.</p>}
      {edges.length === 0 ? (
        <Empty>
          Nobody may. A profile delegates with the tool <code>task</code>, and its rules for it say to whom.
        </Empty>
      ) : (
        children(edges)
      )}
    </>
  );
}

const targetsOf = (name: string) => data(api.GET("/profiles/{name}/targets", { params: { path: { name } } }));

const edgesOf = (from: string, targets: Schemas["Target"][]): Edge[] =>
  targets
    .filter((t) => t.effect !== "deny")
    .map((t) => ({
      from,
      to: t.name,
      asks: t.effect === "ask",
      by: t.rule?.subject ?? "*",
    }));

function Table({ edges }: { edges: Edge[] }) {
  const of = groupBy(edges, (e) => e.from);
  return (
    <Wide label="Who may delegate to whom">
      <table>
        <thead>
          <tr>
            <th scope="col">Profile</th>
            <th scope="col">May delegate to</th>
          </tr>
        </thead>
        <tbody>
          {[...of].map(([from, list]) => (
            <tr key={from}>
              <th scope="row">
                <Link href={`/profiles/${encodeURIComponent(from)}/capabilities`}>{from}</Link>
              </th>
              <td>
                <ul className={styles.list}>
                  {list.map((e) => (
                    <li key={e.to}>
                      <Link href={`/profiles/${encodeURIComponent(e.to)}`}>{e.to}</Link>{" "}
                      {e.asks && <Badge tone="warn">ask</Badge>}
                    </li>
                  ))}
                </ul>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
