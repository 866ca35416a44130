import { useState } from "react";
import { Link } from "wouter";
import { useProblems } from "../api/queries";
import { count } from "../parts/format";
import { groupBy } from "../parts/group";
import { Diagnostics, Empty, Loaded } from "../parts/parts";

const levels = ["", "error", "warning", "note"] as const;

// ByFile is what was found in the files of profiles, file by file, the worst first.
export function ByFile() {
  const [level, setLevel] = useState<(typeof levels)[number]>("");
  const problems = useProblems();
  return (
    <>
      <p className="muted">
        <Link href="/profiles">Profiles</Link> /
      </p>
      <h1>Diagnostics</h1>
      <Loaded of={problems}>
        {(all) => {
          const files = groupBy(
            all.filter((d) => level === "" || d.severity === level),
            (d) => d.file,
          );
          const worst = (file: string) => Math.min(...(files.get(file) ?? []).map((d) => levels.indexOf(d.severity)));
          const names = [...files.keys()].sort((a, b) => worst(a) - worst(b) || (a < b ? -1 : 1));
          return (
            <>
              <select aria-label="Severity" value={level} onChange={(e) => setLevel(e.target.value as typeof level)}>
                {levels.map((l) => (
                  <option key={l} value={l}>
                    {l || "any severity"}
                  </option>
                ))}
              </select>
              {names.length === 0 && (
                <Empty>Nothing of the kind was found: all files are read as they are meant.</Empty>
              )}
              {names.map((file) => (
                <section key={file} aria-label={file}>
                  <h2>
                    <code>{file}</code> <small className="muted">{count((files.get(file) ?? []).length)}</small>
                  </h2>
                  <Diagnostics list={files.get(file) ?? []} />
                </section>
              ))}
            </>
          );
        }}
      </Loaded>
    </>
  );
}
