import styles from "./bars.module.css";
import { Wide } from "./parts";

export interface Bar {
  name: string;
  value: number;
  more: string[]; // what else the table says of it, as heads has it
}

interface Props {
  title: string;
  bars: Bar[];
  heads: [name: string, value: string, ...more: string[]];
  write: (value: number) => string;
}

const height = 120;
const width = 26; // of a bar with its gap

// Columns shows values in their order as columns. The table below says the same exactly,
// and is what a screen reader is given.
export function Columns({ title, bars, heads, write }: Props) {
  const most = Math.max(...bars.map((b) => b.value), 0);
  const all = bars.length * width;
  return (
    <figure className={styles.figure}>
      <figcaption>{title}</figcaption>
      {most > 0 && (
        <div className={styles.scroll} role="group" aria-label={title} tabIndex={0}>
          <svg width={all + 12} height={height + 34} viewBox={`0 0 ${all + 12} ${height + 34}`} aria-hidden="true">
            {bars.map((b, i) => {
              const h = Math.max((b.value / most) * height, b.value > 0 ? 1 : 0);
              const x = i * width;
              return (
                <g key={b.name}>
                  <title>{`${b.name}: ${write(b.value)}`}</title>
                  <rect className={styles.bar} x={x + 3} y={height - h + 14} width={width - 6} height={h} rx={2} />
                  {(bars.length - 1 - i) % 3 === 0 && (
                    <text className={styles.text} x={x + width / 2} y={height + 30} textAnchor="middle">
                      {b.name.slice(5)}
                    </text>
                  )}
                </g>
              );
            })}
            <text className={styles.text} x={0} y={10}>
              {write(most)}
            </text>
            <line className={styles.line} x1={0} x2={all} y1={height + 14} y2={height + 14} />
          </svg>
        </div>
      )}
      <Exactly title={title} bars={bars} heads={heads} write={write} />
    </figure>
  );
}

// Rows shows values as bars beside their names, in the table itself.
export function Rows({ title, bars, heads, write }: Props) {
  return (
    <figure className={styles.figure}>
      <figcaption>{title}</figcaption>
      <Table title={title} bars={bars} heads={heads} write={write} drawn />
    </figure>
  );
}

function Exactly(props: Props) {
  return (
    <details>
      <summary>As a table</summary>
      <Table {...props} />
    </details>
  );
}

function Table({ title, bars, heads, write, drawn = false }: Props & { drawn?: boolean }) {
  const most = Math.max(...bars.map((b) => b.value), 0);
  const [name, value, ...more] = heads;
  return (
    <Wide label={title}>
      <table>
        <thead>
          <tr>
            <th scope="col">{name}</th>
            {drawn && (
              <th scope="col" aria-hidden="true">
                {""}
              </th>
            )}
            <th scope="col" className="number">
              {value}
            </th>
            {more.map((m) => (
              <th key={m} scope="col" className="number">
                {m}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {bars.map((b) => (
            <tr key={b.name}>
              <th scope="row">{b.name}</th>
              {drawn && (
                <td aria-hidden="true" className={styles.drawn}>
                  <svg width="100%" height="14" aria-hidden="true">
                    <rect
                      className={styles.bar}
                      width={`${most > 0 ? (100 * b.value) / most : 0}%`}
                      height="14"
                      rx={2}
                    />
                  </svg>
                </td>
              )}
              <td className="number">{write(b.value)}</td>
              {b.more.map((m, i) => (
                <td key={i} className="number">
                  {m}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
