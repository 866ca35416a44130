import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "wouter";
import { api, data, type Schemas } from "../../api/client";
import { ago, cost } from "../../parts/format";
import { Markdown } from "../../parts/markdown";
import { Badge, Empty, Loaded } from "../../parts/parts";
import styles from "./rig.module.css";

const most = 50;

// TieOffs are the answers of the knots, as their files have them now.
export function TieOffs({ rig }: { rig: string }) {
  const [knot, setKnot] = useState("");
  const shown = useQuery({
    queryKey: ["rigs", rig, "tie-offs"],
    refetchInterval: 5_000,
    queryFn: () =>
      data(api.GET("/rigs/{rig}/tie-offs", { params: { path: { rig }, query: { answers: "true", limit: most } } })),
  });
  return (
    <Loaded of={shown}>
      {({ sections, problems }) => {
        const knots = [...new Set(sections.map((s) => s.knot))].sort();
        const list = sections.filter((s) => knot === "" || s.knot === knot);
        return (
          <>
            {problems.map((p) => (
              <p key={p} role="alert">
                {p}
              </p>
            ))}
            {sections.length === 0 ? (
              <Empty>Nothing has been answered yet.</Empty>
            ) : (
              <select aria-label="Knot" value={knot} onChange={(e) => setKnot(e.target.value)}>
                <option value="">of all knots</option>
                {knots.map((k) => (
                  <option key={k}>{k}</option>
                ))}
              </select>
            )}
            {list.map((s) => (
              <One key={s.file + ":" + s.line} of={s} />
            ))}
            {sections.length === most && <p className="muted">These are the newest {most}.</p>}
          </>
        );
      }}
    </Loaded>
  );
}

function One({ of: s }: { of: Schemas["TieOff"] }) {
  return (
    <article className={styles.tieoff} aria-label={`${s.knot} about ${s.path ?? s.event}`}>
      <h2>
        {s.path ?? s.event} {s.edited && <Badge tone="warn">edited since</Badge>}
      </h2>
      <p className="muted">
        <code>{s.knot}</code> {s.profile && `by ${s.profile}`} {s.model && `on ${s.model}`}
        {s.time && `, ${ago(s.time)}`}, {cost(s.cost)}, <code>{`${s.file}:${s.line}`}</code>{" "}
        {s.session && <Link href={`/sessions/${encodeURIComponent(s.session)}`}>Session</Link>}
      </p>
      <Markdown text={s.answer ?? ""} />
    </article>
  );
}
