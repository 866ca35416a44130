import { useQuery } from "@tanstack/react-query";
import { Link } from "wouter";
import { api, data, type Schemas } from "../../api/client";
import { ago, cost, count } from "../../parts/format";
import { Empty, Loaded, State, Wide } from "../../parts/parts";

// Knots are what the rig consists of, with their queues, as they are now.
export function Knots({ rig }: { rig: string }) {
  const shown = useQuery({
    queryKey: ["rigs", rig],
    refetchInterval: 5_000,
    queryFn: () => data(api.GET("/rigs/{rig}", { params: { path: { rig } } })),
  });
  return (
    <Loaded of={shown}>
      {({ knots, budget }) =>
        knots.length === 0 ? (
          <Empty>
            The rig has no knot yet. One is a Markdown file in a folder <code>NAME-loom/</code> of it.
          </Empty>
        ) : (
          <Wide label="Knots">
            <Spent of={budget} />
            <table>
              <thead>
                <tr>
                  <th scope="col">Knot</th>
                  <th scope="col">Status</th>
                  <th scope="col">Starts with</th>
                  <th scope="col" className="number">
                    Queued
                  </th>
                  <th scope="col" className="number">
                    Running
                  </th>
                  <th scope="col" className="number">
                    Done
                  </th>
                  <th scope="col" className="number">
                    Dead
                  </th>
                </tr>
              </thead>
              <tbody>
                {knots.map((k) => (
                  <Row key={k.id} of={k} />
                ))}
              </tbody>
            </table>
          </Wide>
        )
      }
    </Loaded>
  );
}

function Row({ of: k }: { of: Schemas["Knot"] }) {
  return (
    <tr>
      <th scope="row">
        <code>{k.id}</code>
        <div className="muted">
          {k.profile ? (
            <>
              by <Link href={`/profiles/${encodeURIComponent(k.profile)}`}>{k.profile}</Link>
            </>
          ) : (
            k.file
          )}
        </div>
      </th>
      <td>
        <State of={k.status} />
        {k.problems !== undefined && (
          <div className="muted">{k.problems === 1 ? "1 problem" : `${k.problems} problems`}</div>
        )}
        {k.waits && <div>waits: {k.waits}</div>}
        <Spent of={k.budget} />
      </td>
      <td>
        {k.input && <code>{k.input}</code>} <span className="muted">{k.on.join(", ")}</span>
        {k.schedule && (
          <div>
            {k.schedule} {k.next_run && <span className="muted">next {ago(k.next_run)}</span>}
          </div>
        )}
      </td>
      <td className="number">{count(k.queued)}</td>
      <td className="number">{count(k.running)}</td>
      <td className="number">{count(k.done)}</td>
      <td className="number">{count(k.dead)}</td>
    </tr>
  );
}

function Spent({ of: b }: { of?: Schemas["DayBudget"] }) {
  return (
    b && (
      <div className={b.spent < b.cost_per_day ? "muted" : undefined}>
        {cost(b.spent)} of {cost(b.cost_per_day)} spent today
      </div>
    )
  );
}
