import { useQuery } from "@tanstack/react-query";
import type { ComponentType } from "react";
import { Link } from "wouter";
import { api, data } from "../../api/client";
import { Badge, Empty, Loaded, Tabs } from "../../parts/parts";
import { Graph } from "./graph";
import { Jobs } from "./jobs";
import { Knots } from "./knots";
import { TieOffs } from "./tieoffs";

const tabs: Record<string, [title: string, tab: ComponentType<{ rig: string }>]> = {
  knots: ["Knots", Knots],
  graph: ["Graph", Graph],
  jobs: ["Jobs", Jobs],
  dead: ["Dead letters", Dead],
  "tie-offs": ["Tie-offs", TieOffs],
};

function Dead({ rig }: { rig: string }) {
  return <Jobs rig={rig} only="dead" />;
}

// RigPage is one of the workspace's rigs; without a name, the first.
export function RigPage({ name, tab }: { name?: string; tab: string }) {
  const rigs = useQuery({ queryKey: ["rigs"], queryFn: () => data(api.GET("/rigs")) });
  return (
    <>
      <h1>Rig</h1>
      <Loaded of={rigs}>
        {(all) => {
          const rig = name === undefined ? all[0] : all.find((r) => r.name === name);
          if (rig === undefined) {
            return (
              <Empty>
                {name === undefined ? "The workspace has no rig. " : "There is no such rig. "}A folder <code>rig/</code>{" "}
                with knots in <code>NAME-loom/</code> is one: what comes into a folder then starts work.
              </Empty>
            );
          }
          const here = `/rig/${encodeURIComponent(rig.name)}`;
          const [, Tab] = tabs[tab] ?? ["Knots", Knots];
          return (
            <>
              {all.length > 1 && (
                <nav aria-label="Rigs">
                  {all.map((r) => (
                    <span key={r.name}>
                      <Link
                        href={`/rig/${encodeURIComponent(r.name)}`}
                        aria-current={r.name === rig.name ? "true" : undefined}
                      >
                        {r.name}
                      </Link>{" "}
                    </span>
                  ))}
                </nav>
              )}
              {rig.problems !== undefined && (
                <p>
                  <Badge tone="warn">{rig.problems === 1 ? "1 problem" : `${rig.problems} problems`}</Badge>{" "}
                  <span className="muted">
                    in its files: <code>roster rig check</code> names them.
                  </span>
                </p>
              )}
              <Tabs
                label={`Parts of ${rig.name}`}
                tabs={Object.entries(tabs).map(([word, [text]]) => ({
                  href: word === "knots" ? here : `${here}/${word}`,
                  text,
                }))}
              />
              <Tab key={rig.name + tab} rig={rig.name} />
            </>
          );
        }}
      </Loaded>
    </>
  );
}
