import { useMemo } from "react";
import { Wide } from "../../parts/parts";
import styles from "./delegation.module.css";
import { box, drawn, layout, type Edge, type Place } from "./layout";

const margin = 24; // room for arrows that go around

// Drawing is a picture of a graph, with the same in words elsewhere.
export function Drawing({ edges: all }: { edges: Edge[] }) {
  const edges = useMemo(() => drawn(all), [all]);
  const { places, width, height } = useMemo(() => layout(edges), [edges]);
  const w = width + 2 * margin;
  const h = height + 2 * margin;
  return (
    <Wide label="Drawing">
      <svg
        width={w}
        height={h}
        viewBox={`${-margin} ${-margin} ${w} ${h}`}
        role="img"
        aria-label="The graph; in words below"
      >
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
            <path className={styles.head} d="M0 0 8 4 0 8Z" />
          </marker>
        </defs>
        {edges.map((e) => {
          const from = places.get(e.from);
          const to = places.get(e.to);
          if (!from || !to) return null;
          return (
            <path
              key={e.from + "\n" + e.to}
              className={`${styles.edge} ${e.asks ? styles.asks : ""}`}
              d={curve(from, to)}
              markerEnd="url(#arrow)"
            >
              <title>{`${e.from} → ${e.to}${e.asks ? ", after a person is asked" : ""}`}</title>
            </path>
          );
        })}
        {[...places.values()].map((p) => (
          <g key={p.name} transform={`translate(${p.x} ${p.y})`}>
            <title>{p.name}</title>
            <rect className={styles.node} width={box.width} height={box.height} rx={6} />
            <text className={styles.name} x={box.width / 2} y={box.height / 2 + 5} textAnchor="middle">
              {p.name.length > 19 ? p.name.slice(0, 18) + "…" : p.name}
            </text>
          </g>
        ))}
      </svg>
      <p className="muted">A dashed line: a person is asked first.</p>
    </Wide>
  );
}

// curve goes from the right side of a box to the left one of another; back to one that
// stands before it, it goes from top to top.
function curve(from: Place, to: Place): string {
  const half = box.height / 2;
  if (to.x > from.x) {
    const x = from.x + box.width;
    const bend = Math.max((to.x - x) / 2, 30);
    return `M${x} ${from.y + half}C${x + bend} ${from.y + half} ${to.x - bend} ${to.y + half} ${to.x} ${to.y + half}`;
  }
  const a = from.x + box.width / 2 + 12;
  const b = to.x + box.width / 2 - 12;
  const top = Math.min(from.y, to.y) - margin;
  return `M${a} ${from.y}C${a} ${top} ${b} ${top} ${b} ${to.y}`;
}
