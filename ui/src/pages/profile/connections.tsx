import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { useServers, useTools } from "../../api/queries";
import { ago } from "../../parts/format";
import { Code, Empty, Facts, Loaded, Problem, State } from "../../parts/parts";
import styles from "./connections.module.css";
import { ServerForm } from "./server";

type Server = Schemas["Server"];

// Connections are the MCP servers that the profile has.
export function Connections({ profile: { name } }: { profile: Schemas["Profile"] }) {
  const servers = useServers(name);
  const [adds, setAdds] = useState(false);
  return (
    <>
      <h2>MCP servers</h2>
      <Loaded of={servers}>
        {(list) =>
          list.length === 0 ? (
            <Empty>
              None. They stand under <code>mcp-servers</code> in the profile, for it alone, or in{" "}
              <code>roster.yaml</code>, for all.
            </Empty>
          ) : (
            list.map((s) => <One key={s.name} server={s} profile={name} />)
          )
        }
      </Loaded>
      {adds ? (
        <section aria-label="New MCP server">
          <h3>Add a server to roster.yaml</h3>
          <ServerForm done={() => setAdds(false)} />
        </section>
      ) : (
        <button onClick={() => setAdds(true)}>Add a server</button>
      )}
      <ToolsOfServers name={name} />
    </>
  );
}

// One is a server. What is written in roster.yaml is changed here; what a profile's own
// file says is changed there.
function One({ server: s, profile }: { server: Server; profile: string }) {
  const [mode, setMode] = useState<"" | "edit" | "remove">("");
  const queries = useQueryClient();
  const done = () => queries.invalidateQueries(); // the tools of profiles too
  const params = { path: { name: s.name } };
  const restart = useMutation({
    mutationFn: () => data(api.POST("/mcp-servers/{name}/restart", { params })),
    onSettled: done,
  });
  const remove = useMutation({
    mutationFn: () => api.DELETE("/mcp-servers/{name}", { params }),
    onSuccess: done,
  });
  const shared = s.at.layer !== "profile";
  return (
    <section className={styles.server} aria-label={s.name}>
      <h3>
        {s.name} <State of={s.state} />
      </h3>
      <Facts
        of={[
          ["Why", s.why],
          ["Tools", s.tools === null ? "not known: nobody has reached it yet" : s.tools],
          ["Seen", s.seen && ago(s.seen)],
          ["Written at", s.at.file && <code key="at">{`${s.at.file}:${s.at.line ?? 0}`}</code>],
        ]}
      />
      <Code label={`Definition of ${s.name}`}>{s.text}</Code>
      {(restart.error ?? remove.error) && <Problem error={restart.error ?? remove.error} />}
      {mode === "edit" && <ServerForm of={s} done={() => setMode("")} />}
      {!shared && (
        <p className="muted">It stands in the file of {profile}, and is started with its runs: it is changed there.</p>
      )}
      {shared && mode !== "edit" && (
        <div className={styles.buttons}>
          <button disabled={restart.isPending} onClick={() => restart.mutate()}>
            {restart.isPending ? "Starting…" : "Restart"}
          </button>
          <button onClick={() => setMode("edit")}>Edit</button>
          {mode === "remove" ? (
            <>
              <button className="danger" disabled={remove.isPending} onClick={() => remove.mutate()}>
                Take it out of {s.at.file ?? "roster.yaml"}
              </button>
              <button onClick={() => setMode("")}>Leave it</button>
            </>
          ) : (
            <button className="danger" onClick={() => setMode("remove")}>
              Remove
            </button>
          )}
        </div>
      )}
    </section>
  );
}

// ToolsOfServers are what the model is offered of them.
function ToolsOfServers({ name }: { name: string }) {
  const servers = useServers(name);
  const tools = useTools(name);
  return (
    <>
      <h2>Their tools</h2>
      <Loaded of={tools}>
        {({ tools: all }) => {
          const groups = ["mcp", ...(servers.data ?? []).map((s) => s.name + "_*")];
          const theirs = all.filter((t) => groups.includes(t.capability));
          if (theirs.length === 0) return <p className="muted">None is known.</p>;
          return (
            <ul>
              {theirs.map((t) => (
                <li key={t.name}>
                  <code>{t.name}</code> <State of={t.effect} />{" "}
                  <span className="muted">{t.offered ? "offered" : `not offered: ${t.reason}`}</span>
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
    </>
  );
}
