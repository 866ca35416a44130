import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, useDeferredValue, useMemo, useRef, useState } from "react";
import { Link } from "wouter";
import type { Schemas } from "../api/client";
import { useProblems, useProfiles } from "../api/queries";
import { count } from "../parts/format";
import { Badge, Diagnostics, Empty, Loaded, State } from "../parts/parts";
import styles from "./profiles.module.css";

type Profile = Schemas["Profile"];

interface Filter {
  text: string;
  dialect: string;
  mode: string;
  model: string;
  tool: string;
}

// Profiles are all that there are, with what did not load.
export function Profiles() {
  const profiles = useProfiles();
  return (
    <>
      <h1>Profiles</h1>
      <Refused />
      <p>
        <Link href="/delegation">Who may delegate to whom</Link> · <Link href="/diagnostics">Diagnostics by file</Link>
      </p>
      <Loaded of={profiles}>{(all) => <List all={all} />}</Loaded>
    </>
  );
}

function Refused() {
  const { data } = useProblems();
  const errors = (data ?? []).filter((d) => d.severity === "error");
  if (errors.length === 0) return null;
  const files = new Set(errors.map((d) => d.file)).size;
  return (
    <details className={styles.refused} open={files < 4}>
      <summary>
        <State of="refused" /> {count(files)} {files === 1 ? "file does" : "files do"} not load
      </summary>
      <Diagnostics list={errors} edit />
    </details>
  );
}

function List({ all }: { all: Profile[] }) {
  const [filter, setFilter] = useState<Filter>({ text: "", dialect: "", mode: "", model: "", tool: "" });
  const wanted = useDeferredValue(filter);
  const words = useMemo(() => all.map(wordsOf), [all]);
  const found = useMemo(() => all.filter((p, i) => fits(p, words[i] ?? "", wanted)), [all, words, wanted]);
  const choices = useMemo(
    () => ({
      dialect: some(all.map((p) => p.dialect)),
      mode: some(all.map((p) => p.mode)),
      model: some(all.map((p) => p.model)),
      tool: some(all.flatMap((p) => p.tools)),
    }),
    [all],
  );
  if (all.length === 0) {
    return (
      <Empty>
        There is no profile yet. <code>roster new NAME</code> makes one, and so does a Markdown file in{" "}
        <code>profiles/</code>.
      </Empty>
    );
  }
  return (
    <>
      <div className={styles.filter} role="search">
        <input
          type="search"
          placeholder="Search"
          aria-label="Search profiles"
          value={filter.text}
          onChange={(e) => setFilter({ ...filter, text: e.target.value })}
        />
        {(["dialect", "mode", "model", "tool"] as const).map((by) => (
          <select
            key={by}
            aria-label={by}
            value={filter[by]}
            onChange={(e) => setFilter({ ...filter, [by]: e.target.value })}
          >
            <option value="">any {by}</option>
            {choices[by].map((c) => (
              <option key={c}>{c}</option>
            ))}
          </select>
        ))}
        <span className="muted" role="status">
          {found.length === all.length ? count(all.length) : `${count(found.length)} of ${count(all.length)}`}
        </span>
      </div>
      <Rows found={found} />
    </>
  );
}

const wordsOf = (p: Profile) => [p.name, p.title, p.description, p.model, p.source.file].join("\n").toLowerCase();

function fits(p: Profile, words: string, f: Filter): boolean {
  return (
    (f.dialect === "" || p.dialect === f.dialect) &&
    (f.mode === "" || p.mode === f.mode) &&
    (f.model === "" || p.model === f.model) &&
    (f.tool === "" || p.tools.includes(f.tool)) &&
    f.text
      .toLowerCase()
      .split(/\s+/)
      .every((w) => words.includes(w))
  );
}

const some = (values: string[]) => [...new Set(values.filter((v) => v !== ""))].sort();

// Rows are in the page only where they are seen.
function Rows({ found }: { found: Profile[] }) {
  const box = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: found.length,
    getScrollElement: () => box.current,
    estimateSize: () => 64,
    overscan: 8,
  });
  return (
    <div ref={box} className={styles.rows} tabIndex={0} role="region" aria-label="Profiles">
      <ul style={{ height: rows.getTotalSize() }}>
        {rows.getVirtualItems().map((at) => {
          const p = found[at.index];
          return p && <Row key={p.name} p={p} top={at.start} />;
        })}
      </ul>
    </div>
  );
}

const Row = memo(function Row({ p, top }: { p: Profile; top: number }) {
  const warnings = p.diagnostics.length;
  return (
    <li className={styles.row} style={{ transform: `translateY(${top}px)` }}>
      <Link href={`/profiles/${encodeURIComponent(p.name)}`}>
        <span className={styles.name}>{p.name}</span>
        <span className={styles.tags}>
          {warnings > 0 && <Badge tone="warn">{warnings === 1 ? "1 warning" : `${warnings} warnings`}</Badge>}
          {p.mode !== "all" && <Badge>{p.mode}</Badge>}
          <Badge>{p.dialect}</Badge>
        </span>
        <span className={styles.what}>{p.description || p.title || p.source.file}</span>
        <span className={styles.model}>{p.model}</span>
      </Link>
    </li>
  );
});
