import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { Empty, Problem } from "../../parts/parts";
import styles from "./connections.module.css";

interface Fields {
  name: string;
  command: string;
  args: string;
  env: string;
  dir: string;
  url: string;
  headers: string;
  timeout: string;
}

// ServerForm adds an MCP server, or changes one. The server takes the whole of it, so one
// that holds what the form has no field for is changed in the file.
export function ServerForm({ of, done }: { of?: Schemas["Server"]; done: () => void }) {
  const [f, setF] = useState<Fields>(() => fieldsOf(of));
  const [kind, setKind] = useState<"url" | "command">(of?.written?.command ? "command" : "url");
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: () => {
      const params = { path: { name: f.name.trim() } };
      const body = bodyOf(f, kind);
      return data<unknown>(
        of ? api.PUT("/mcp-servers/{name}", { params, body }) : api.POST("/mcp-servers/{name}", { params, body }),
      );
    },
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["servers"] });
      done();
    },
  });
  if (of && !of.written) {
    return (
      <Empty>
        It holds a secret, or what is written in a file alone: change it at{" "}
        <code>{`${of.at.file ?? "roster.yaml"}:${of.at.line ?? 0}`}</code>. <button onClick={done}>Leave it</button>
      </Empty>
    );
  }
  const field = (key: keyof Fields) => ({
    value: f[key],
    onChange: (e: { target: { value: string } }) => setF({ ...f, [key]: e.target.value }),
  });
  return (
    <form
      className={styles.form}
      onSubmit={(e) => {
        e.preventDefault();
        save.mutate();
      }}
    >
      {save.error && <Problem error={save.error} />}
      <label>
        Name
        <input {...field("name")} required readOnly={of !== undefined} />
      </label>
      <label>
        Kind
        <select value={kind} onChange={(e) => setKind(e.target.value as typeof kind)}>
          <option value="url">an address that is there</option>
          <option value="command">a command that is started</option>
        </select>
      </label>
      {kind === "url" ? (
        <>
          <label>
            Address
            <input type="url" placeholder="https://mcp.example.org/mcp" {...field("url")} required />
          </label>
          <label>
            Headers, one a line
            <textarea rows={2} placeholder={"Authorization: Bearer ${MCP_TOKEN}"} {...field("headers")} />
          </label>
        </>
      ) : (
        <>
          <label>
            Command
            <input {...field("command")} required />
          </label>
          <label>
            Arguments, one a line
            <textarea rows={3} {...field("args")} />
          </label>
          <label>
            Environment, one a line
            <textarea rows={2} placeholder={"TOKEN=${MCP_TOKEN}"} {...field("env")} />
          </label>
          <label>
            Folder
            <input placeholder="the workspace" {...field("dir")} />
          </label>
        </>
      )}
      <label>
        Timeout of a call
        <input placeholder="the usual one, or 30s" {...field("timeout")} />
      </label>
      <p className="muted">
        Secrets are written as <code>{"${VARIABLE}"}</code>, and taken from the server&apos;s environment.
      </p>
      <div className={styles.buttons}>
        <button className="primary" disabled={save.isPending}>
          {of ? "Save" : "Add"}
        </button>
        <button type="button" onClick={done}>
          Leave it
        </button>
      </div>
    </form>
  );
}

function fieldsOf(s: Schemas["Server"] | undefined): Fields {
  const w = s?.written;
  const lines = (of: Record<string, string> | undefined, sign: string) =>
    Object.entries(of ?? {})
      .map(([k, v]) => k + sign + v)
      .join("\n");
  return {
    name: s?.name ?? "",
    command: w?.command ?? "",
    args: (w?.args ?? []).join("\n"),
    env: lines(w?.env, "="),
    dir: w?.dir ?? "",
    url: w?.url ?? "",
    headers: lines(w?.headers, ": "),
    timeout: w?.timeout ?? "",
  };
}

function bodyOf(f: Fields, kind: "url" | "command"): Schemas["ServerBody"] {
  const timeout = f.timeout.trim() === "" ? {} : { timeout: f.timeout.trim() };
  if (kind === "url") return { url: f.url.trim(), headers: pairs(f.headers, ":"), ...timeout };
  return {
    command: f.command.trim(),
    args: f.args.split("\n").filter((a) => a !== ""),
    env: pairs(f.env, "="),
    ...(f.dir.trim() === "" ? {} : { dir: f.dir.trim() }),
    ...timeout,
  };
}

// pairs reads lines of a name and its value. A line without the sign is a name alone, of
// which the server says what is wrong.
export function pairs(text: string, sign: string): Record<string, string> {
  const out: Record<string, string> = {};
  for (const line of text.split("\n")) {
    if (line.trim() === "") continue;
    const at = line.indexOf(sign);
    const name = at < 0 ? line : line.slice(0, at);
    out[name.trim()] = at < 0 ? "" : line.slice(at + 1).trim();
  }
  return out;
}
