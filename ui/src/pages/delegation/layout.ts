import { groupBy } from "../../parts/group";

// Where the profiles of a graph of delegation stand: who is delegated to is right of who
// delegates, as far as there are no circles.

export interface Edge {
  from: string;
  to: string;
  asks: boolean; // a person is asked first
  by: string; // what the rule says of whom, such as *
}

const several = 6;

// drawn puts one line in the place of those that one rule makes to many: they could not be
// told apart.
export function drawn(edges: readonly Edge[]): Edge[] {
  const rules = groupBy(edges, (e) => `${e.from}\n${e.by}\n${e.asks}`);
  return [...rules.values()].flatMap((list) => {
    const [first] = list;
    if (first === undefined || list.length <= several || !first.by.includes("*")) return list;
    return [{ ...first, to: first.by === "*" ? "any other profile" : first.by }];
  });
}

export interface Place {
  name: string;
  x: number;
  y: number;
}

export interface Layout {
  places: Map<string, Place>;
  width: number;
  height: number;
}

export const box = { width: 150, height: 28, gapX: 110, gapY: 12 };

// layout puts each name into the column behind all that lead to it. What leads back to
// where one came from does not count, so that circles end.
export function layout(edges: readonly Edge[]): Layout {
  const names = [...new Set(edges.flatMap((e) => [e.from, e.to]))].sort();
  const column = columnsOf(names, edges);
  const rows = new Map<number, number>();
  const places = new Map<string, Place>();
  for (const name of names) {
    const c = column.get(name) ?? 0;
    const r = rows.get(c) ?? 0;
    rows.set(c, r + 1);
    places.set(name, { name, x: c * (box.width + box.gapX), y: r * (box.height + box.gapY) });
  }
  const columns = Math.max(0, ...rows.keys()) + 1;
  return {
    places,
    width: columns * box.width + (columns - 1) * box.gapX,
    height: Math.max(0, ...rows.values()) * (box.height + box.gapY),
  };
}

function columnsOf(names: readonly string[], edges: readonly Edge[]): Map<string, number> {
  const next = new Map(names.map((n) => [n, edges.filter((e) => e.from === n).map((e) => e.to)]));
  const led = new Set(edges.filter((e) => e.from !== e.to).map((e) => e.to));
  const forward = new Map<string, string[]>(); // the edges that count
  const above = new Set<string>();
  const order: string[] = []; // each behind all that it leads to
  const visit = (name: string) => {
    if (forward.has(name)) return;
    above.add(name);
    const on = (next.get(name) ?? []).filter((to) => !above.has(to));
    forward.set(name, on);
    on.forEach(visit);
    above.delete(name);
    order.push(name);
  };
  names.filter((n) => !led.has(n)).forEach(visit);
  names.forEach(visit); // those of circles that nobody leads to
  const column = new Map(names.map((n) => [n, 0]));
  for (const name of order.reverse()) {
    const at = (column.get(name) ?? 0) + 1;
    for (const to of forward.get(name) ?? []) column.set(to, Math.max(column.get(to) ?? 0, at));
  }
  return column;
}
