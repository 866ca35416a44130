import type { Schemas } from "../../api/client";

type Row = Schemas["UsageRow"];

const most = 366;

// everyDay puts a row of nothing on each day without one, so that a plot is true in time.
// Of more than a year it is the newest part.
export function everyDay(rows: Row[]): Row[] {
  const of = new Map(rows.map((r) => [r.day ?? "", r]));
  const days = [...of.keys()].filter((d) => d !== "").sort();
  const first = days[0];
  const last = days.at(-1);
  if (first === undefined || last === undefined) return [];
  const out: Row[] = [];
  for (let t = Date.parse(first); t <= Date.parse(last); t += 86_400_000) {
    const day = new Date(t).toISOString().slice(0, 10);
    out.push(of.get(day) ?? { ...empty, day });
  }
  return out.slice(-most);
}

const empty: Row = {
  loops: 0,
  turns: 0,
  errors: 0,
  usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, cost: 0 },
};
