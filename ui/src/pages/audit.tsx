import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data } from "../api/client";
import { ago } from "../parts/format";
import { Badge, Empty, Loaded, Wide } from "../parts/parts";
import styles from "./sessions.module.css";

const page = 100;

// Audit is who did what, and what was refused, the newest first.
export function Audit() {
  const [user, setUser] = useState("");
  const [action, setAction] = useState("");
  const [refused, setRefused] = useState(false);
  const q = {
    limit: page,
    ...(user.trim() === "" ? {} : { user: user.trim() }),
    ...(action.trim() === "" ? {} : { action: action.trim() }),
    ...(refused ? { refused: "true" as const } : {}),
  };
  const audit = useInfiniteQuery({
    queryKey: ["audit", q],
    initialPageParam: 0,
    queryFn: ({ pageParam }) =>
      data(api.GET("/audit", { params: { query: { ...q, ...(pageParam > 0 ? { before: pageParam } : {}) } } })),
    getNextPageParam: (last) => last.before,
  });
  return (
    <>
      <h1>Audit</h1>
      <div className={styles.filter} role="search">
        <input aria-label="User" placeholder="User" value={user} onChange={(e) => setUser(e.target.value)} />
        <input
          aria-label="Action"
          placeholder="Action, as createKey"
          value={action}
          onChange={(e) => setAction(e.target.value)}
        />
        <label>
          <input type="checkbox" checked={refused} onChange={(e) => setRefused(e.target.checked)} /> only what was
          refused
        </label>
      </div>
      <Loaded of={audit}>
        {({ pages }) => {
          const list = pages.flatMap((p) => p.entries);
          if (list.length === 0) {
            return <Empty>Nothing is noted. Calls that change something are, and those that were refused.</Empty>;
          }
          return (
            <>
              <Wide label="Entries">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">When</th>
                      <th scope="col">Who</th>
                      <th scope="col">What</th>
                      <th scope="col">Answer</th>
                      <th scope="col">From</th>
                    </tr>
                  </thead>
                  <tbody>
                    {list.map((e) => (
                      <tr key={e.id}>
                        <td title={e.time}>{ago(e.time)}</td>
                        <td>
                          {e.userId ?? <span className="muted">{e.tenantId || "nobody knows"}</span>}
                          {e.key && (
                            <div className="muted">
                              <code>{e.key}</code>
                            </div>
                          )}
                        </td>
                        <td>
                          {e.action}
                          <div className="muted">
                            <code>{e.target}</code>
                          </div>
                        </td>
                        <td>
                          <Badge tone={e.status < 400 ? "good" : "bad"}>{e.status}</Badge> {e.code}{" "}
                          {e.times > 1 && <Badge>{e.times} times</Badge>}
                        </td>
                        <td className="muted">{e.address}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </Wide>
              {audit.hasNextPage && (
                <p>
                  <button disabled={audit.isFetchingNextPage} onClick={() => void audit.fetchNextPage()}>
                    Older ones
                  </button>
                </p>
              )}
            </>
          );
        }}
      </Loaded>
    </>
  );
}
