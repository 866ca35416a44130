import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { useProfiles, useWhoami } from "../../api/queries";
import { Columns, Rows, type Bar } from "../../parts/bars";
import { cost, count } from "../../parts/format";
import { Badge, Empty, Facts, Loaded, Wide } from "../../parts/parts";
import { everyDay } from "./days";
import styles from "./usage.module.css";

type Row = Schemas["UsageRow"];
type By = "day" | "profile" | "model" | "user";

const spans = { "7d": "7 days", "30d": "30 days", "90d": "90 days", "": "all time" };
const measures = { cost: "Cost", tokens: "Tokens", loops: "Runs" };
type Measure = keyof typeof measures;

const tokens = (r: Row) => r.usage.input_tokens + r.usage.output_tokens + r.usage.cache_read_tokens;

const valueOf: Record<Measure, (r: Row) => number> = {
  cost: (r) => r.usage.cost,
  tokens,
  loops: (r) => r.loops,
};

function useUsage(by: By, since: string) {
  return useQuery({
    queryKey: ["usage", by, since],
    queryFn: () => data(api.GET("/usage", { params: { query: { by, ...(since === "" ? {} : { since }) } } })),
  });
}

// Usage is what was used and what it cost, by day, profile, model and user.
export function Usage() {
  const [since, setSince] = useState<keyof typeof spans>("30d");
  const [measure, setMeasure] = useState<Measure>("cost");
  const days = useUsage("day", since);
  return (
    <>
      <h1>Usage</h1>
      <div className={styles.filter}>
        <label>
          Of{" "}
          <select value={since} onChange={(e) => setSince(e.target.value as typeof since)}>
            {Object.entries(spans).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <label>
          Show{" "}
          <select value={measure} onChange={(e) => setMeasure(e.target.value as Measure)}>
            {Object.entries(measures).map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
      </div>
      <Loaded of={days}>
        {(u) =>
          u.rows.length === 0 ? (
            <Empty>Nothing was used in that time. It is counted with every run.</Empty>
          ) : (
            <>
              <Facts
                of={[
                  [
                    "Cost",
                    <span key="c">
                      {cost(u.total.usage.cost)} {u.total.usage.estimated && <Badge>estimated in part</Badge>}
                    </span>,
                  ],
                  [
                    "Tokens",
                    `${count(u.total.usage.input_tokens)} in, ${count(u.total.usage.output_tokens)} out, ${count(u.total.usage.cache_read_tokens)} from caches`,
                  ],
                  ["Runs", `${count(u.total.loops)}, of which ${count(u.total.errors)} failed`],
                  ["Turns", count(u.total.turns)],
                ]}
              />
              <h2 className="hidden">Plots</h2>
              <Columns
                title={`${measures[measure]} by day`}
                heads={headsOf("Day", measure)}
                bars={everyDay(u.rows).map((r) => bar(r.day ?? "", r, measure))}
                write={measure === "cost" ? cost : count}
              />
              <Apart by="profile" since={since} measure={measure} />
              <Apart by="model" since={since} measure={measure} />
              <Apart by="user" since={since} measure={measure} />
            </>
          )
        }
      </Loaded>
      <Budgets />
    </>
  );
}

function Apart({ by, since, measure }: { by: "profile" | "model" | "user"; since: string; measure: Measure }) {
  const usage = useUsage(by, since);
  return (
    <Loaded of={usage}>
      {(u) => (
        <Rows
          title={`${measures[measure]} by ${by}`}
          heads={headsOf(by.charAt(0).toUpperCase() + by.slice(1), measure)}
          bars={u.rows
            .map((r) => bar(r[by] || "not known", r, measure))
            .sort((a, b) => b.value - a.value)
            .slice(0, 40)}
          write={measure === "cost" ? cost : count}
        />
      )}
    </Loaded>
  );
}

const headsOf = (name: string, m: Measure): [string, string, ...string[]] => [
  name,
  measures[m],
  ...Object.entries(measures).flatMap(([key, text]) => (key === m ? [] : [text])),
  "Failed",
];

const bar = (name: string, r: Row, m: Measure): Bar => ({
  name,
  value: valueOf[m](r),
  more: [
    ...(m === "cost" ? [] : [cost(r.usage.cost)]),
    ...(m === "tokens" ? [] : [count(tokens(r))]),
    ...(m === "loops" ? [] : [count(r.loops)]),
    count(r.errors),
  ],
});

// Budgets are what callers may spend in a time, and what a run of a profile may cost.
// Those of rigs stand in roster.yaml, which the page does not read.
function Budgets() {
  const who = useWhoami();
  const profiles = useProfiles();
  const own = (who.data?.budgets ?? []).map((b) => ({
    name: `${b.of === "tenant" ? "Your tenant" : "You"}, ${b.what} a ${b.per}`,
    say: b.what === "cost" ? cost : count,
    most: b.most,
    used: b.used,
  }));
  const runs = (profiles.data ?? []).flatMap((p) => {
    const most = p.limits?.cost;
    return typeof most === "number" ? [{ name: `A run of ${p.name}`, say: cost, most, used: undefined }] : [];
  });
  const all = [...own, ...runs];
  return (
    <>
      <h2>Budgets</h2>
      {all.length === 0 ? (
        <Empty>
          There is none. What a run may cost stands in its profile, as <code>limits: {"{cost: 2}"}</code>; what callers
          may spend on a day or in a month under <code>server.limits</code> in <code>roster.yaml</code>.
        </Empty>
      ) : (
        <Wide label="Budgets">
          <table>
            <thead>
              <tr>
                <th scope="col">Whose</th>
                <th scope="col" className="number">
                  At most
                </th>
                <th scope="col" className="number">
                  Spent
                </th>
              </tr>
            </thead>
            <tbody>
              {all.map((b) => (
                <tr key={b.name}>
                  <th scope="row">{b.name}</th>
                  <td className="number">{b.say(b.most)}</td>
                  <td className="number">{b.used !== undefined && b.say(b.used)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </Wide>
      )}
    </>
  );
}
