import { useInfiniteQuery, useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, data, type Schemas } from "../../api/client";
import { ago, cost, took } from "../../parts/format";
import { Badge, Empty, Loaded, Problem, State, Wide } from "../../parts/parts";
import styles from "./rig.module.css";

type Job = Schemas["RigJob"];

const states = ["queued", "running", "writing", "done", "dead"];
const page = 50;

// Jobs are those of the rig, the newest first; with only, those in one state.
export function Jobs({ rig, only }: { rig: string; only?: string }) {
  const [state, setState] = useState("");
  const [knot, setKnot] = useState("");
  const [path, setPath] = useState("");
  const q = { state: only ?? state, knot: knot.trim(), path: path.trim() };
  const jobs = useInfiniteQuery({
    queryKey: ["rigs", rig, "jobs", q],
    initialPageParam: 0,
    refetchInterval: 5_000,
    queryFn: ({ pageParam }) =>
      data(
        api.GET("/rigs/{rig}/jobs", {
          params: { path: { rig }, query: { ...q, limit: page, ...(pageParam > 0 ? { before: pageParam } : {}) } },
        }),
      ),
    getNextPageParam: (last) => last.before,
  });
  return (
    <>
      <div className={styles.filter} role="search">
        {only === undefined && (
          <select aria-label="State" value={state} onChange={(e) => setState(e.target.value)}>
            <option value="">any state</option>
            {states.map((s) => (
              <option key={s}>{s}</option>
            ))}
          </select>
        )}
        <input aria-label="Knot" placeholder="Knot: LOOM/NAME" value={knot} onChange={(e) => setKnot(e.target.value)} />
        <input aria-label="File" placeholder="File" value={path} onChange={(e) => setPath(e.target.value)} />
      </div>
      <Loaded of={jobs}>
        {({ pages }) => {
          const list = pages.flatMap((p) => p.jobs);
          if (list.length === 0) {
            return (
              <Empty>
                {only === "dead"
                  ? "There are none: no job has failed for good."
                  : "There are no such jobs. They come with what comes into the folders that knots watch."}
              </Empty>
            );
          }
          return (
            <>
              <Wide label="Jobs">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">Job</th>
                      <th scope="col">State</th>
                      <th scope="col">Queued</th>
                      <th scope="col" className="number">
                        Took
                      </th>
                      <th scope="col" className="number">
                        Cost
                      </th>
                      <th scope="col">Action</th>
                    </tr>
                  </thead>
                  <tbody>
                    {list.map((j) => (
                      <Row key={j.id} rig={rig} job={j} />
                    ))}
                  </tbody>
                </table>
              </Wide>
              {jobs.hasNextPage && (
                <p>
                  <button disabled={jobs.isFetchingNextPage} onClick={() => void jobs.fetchNextPage()}>
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

function Row({ rig, job: j }: { rig: string; job: Job }) {
  return (
    <tr>
      <th scope="row" className={styles.job}>
        <code>{j.knot}</code>
        <div className="muted">
          {j.event} {j.path && <code>{j.path}</code>}
        </div>
      </th>
      <td className={styles.state}>
        <State of={j.state} /> {j.attempt > 1 && <Badge>attempt {j.attempt}</Badge>}
        {j.error && (
          <div className={styles.error}>
            {j.error} {j.code && <span className="muted">{j.code}</span>}
          </div>
        )}
      </td>
      <td title={j.queued}>{ago(j.queued)}</td>
      <td className="number">{j.began && j.ended && took(Date.parse(j.ended) - Date.parse(j.began))}</td>
      <td className="number">{cost(j.cost)}</td>
      <td>
        {j.session && <Link href={`/sessions/${encodeURIComponent(j.session)}`}>Session</Link>}
        <Actions rig={rig} job={j} />
      </td>
    </tr>
  );
}

function Actions({ rig, job }: { rig: string; job: Job }) {
  const [drops, setDrops] = useState(false);
  const queries = useQueryClient();
  const params = { path: { rig, id: job.id } };
  const act = useMutation({
    mutationFn: (what: "replay" | "drop"): Promise<unknown> =>
      what === "replay"
        ? data(api.POST("/rigs/{rig}/jobs/{id}/replay", { params }))
        : api.DELETE("/rigs/{rig}/jobs/{id}", { params }),
    onSettled: () => queries.invalidateQueries({ queryKey: ["rigs"] }),
  });
  if (job.state !== "dead" && job.state !== "queued") return null;
  return (
    <div className={styles.actions}>
      {job.state === "dead" && (
        <button disabled={act.isPending} onClick={() => act.mutate("replay")}>
          Replay
        </button>
      )}
      {drops ? (
        <>
          <button className="danger" disabled={act.isPending} onClick={() => act.mutate("drop")}>
            Drop it
          </button>
          <button onClick={() => setDrops(false)}>Keep it</button>
        </>
      ) : (
        <button className="danger" onClick={() => setDrops(true)}>
          Drop
        </button>
      )}
      {act.error && <Problem error={act.error} />}
    </div>
  );
}
