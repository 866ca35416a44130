import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../api/client";
import { ago } from "../parts/format";
import { Badge, Empty, Loaded, Problem, Wide } from "../parts/parts";
import styles from "./keys.module.css";

type Key = Schemas["Key"];
type Role = Schemas["CreateKeyBody"]["roles"][number];

const roles: [Role, string][] = [
  ["viewer", "sees everything"],
  ["runner", "gives prompts"],
  ["approver", "answers what is asked"],
  ["editor", "changes profiles and skills"],
  ["admin", "all of it, keys too"],
];

// Keys are those of the tenant, for its administrators. The text of a key is known only
// where it was just made: it is shown that once.
export function Keys() {
  const [made, setMade] = useState<Key>();
  const keys = useQuery({ queryKey: ["keys"], queryFn: () => data(api.GET("/keys")) });
  return (
    <>
      <h1>Keys</h1>
      {made?.key && <Shown of={made} done={() => setMade(undefined)} />}
      <Loaded of={keys}>
        {({ keys: list }) => (
          <>
            {list.length === 0 ? (
              <Empty>
                There is no key yet. A server asks for one where it is started with <code>--auth keys</code>.
              </Empty>
            ) : (
              <List list={list} made={setMade} />
            )}
            <Create made={setMade} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Shown({ of, done }: { of: Key; done: () => void }) {
  const [copied, setCopied] = useState("");
  const text = of.key ?? "";
  return (
    <section className={styles.shown} aria-label="The new key">
      <p>
        This is the key <strong>{of.name}</strong>. It is shown this once: keep it where secrets are kept.
      </p>
      <div className={styles.line}>
        <input aria-label="Key" readOnly value={text} onFocus={(e) => e.target.select()} />
        <button
          className="primary"
          onClick={() =>
            void navigator.clipboard
              .writeText(text)
              .then(() => setCopied("Copied."))
              .catch(() => setCopied("The browser does not let it be copied: mark it and copy it by hand."))
          }
        >
          Copy
        </button>
        <button onClick={done}>I have it</button>
      </div>
      <p role="status">{copied}</p>
    </section>
  );
}

function List({ list, made }: { list: Key[]; made: (k: Key) => void }) {
  return (
    <Wide label="Keys">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col">Roles</th>
            <th scope="col">Of</th>
            <th scope="col">Made</th>
            <th scope="col">Used</th>
            <th scope="col">Action</th>
          </tr>
        </thead>
        <tbody>
          {list.map((k) => (
            <tr key={k.id}>
              <th scope="row">
                {k.name}
                <div className="muted">
                  <code>{k.id}</code>
                </div>
              </th>
              <td>
                {k.alive ? (
                  <Badge tone="good">taken</Badge>
                ) : (
                  <Badge tone="bad">{k.revoked ? "revoked" : "ended"}</Badge>
                )}
                {k.expires && <div className="muted">until {new Date(k.expires).toLocaleString()}</div>}
              </td>
              <td>{k.roles.join(", ")}</td>
              <td>{k.userId}</td>
              <td title={k.created}>{ago(k.created)}</td>
              <td title={k.used}>{k.used ? ago(k.used) : "never"}</td>
              <td>{k.alive && <Actions of={k} made={made} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

const graces: [seconds: number, text: string][] = [
  [0, "at once"],
  [3_600, "in an hour"],
  [86_400, "in a day"],
  [604_800, "in a week"],
];

function Actions({ of: k, made }: { of: Key; made: (k: Key) => void }) {
  const [mode, setMode] = useState<"" | "rotate" | "revoke">("");
  const [grace, setGrace] = useState(86_400);
  const queries = useQueryClient();
  const params = { path: { id: k.id } };
  const done = async () => {
    setMode("");
    await queries.invalidateQueries({ queryKey: ["keys"] });
  };
  const rotate = useMutation({
    mutationFn: () => data(api.POST("/keys/{id}/rotate", { params, body: { grace } })),
    onSuccess: async (next) => {
      made(next);
      await done();
    },
  });
  const revoke = useMutation({ mutationFn: () => api.DELETE("/keys/{id}", { params }), onSuccess: done });
  const error = rotate.error ?? revoke.error;
  return (
    <div className={styles.line}>
      {error && <Problem error={error} />}
      {mode === "" && (
        <>
          <button onClick={() => setMode("rotate")}>Rotate</button>
          <button className="danger" onClick={() => setMode("revoke")}>
            Revoke
          </button>
        </>
      )}
      {mode === "rotate" && (
        <>
          <label>
            The old one ends{" "}
            <select value={grace} onChange={(e) => setGrace(Number(e.target.value))}>
              {graces.map(([s, text]) => (
                <option key={s} value={s}>
                  {text}
                </option>
              ))}
            </select>
          </label>
          <button className="primary" disabled={rotate.isPending} onClick={() => rotate.mutate()}>
            Make the new one
          </button>
        </>
      )}
      {mode === "revoke" && (
        <button className="danger" disabled={revoke.isPending} onClick={() => revoke.mutate()}>
          Revoke {k.name} for good
        </button>
      )}
      {mode !== "" && <button onClick={() => setMode("")}>Leave it</button>}
    </div>
  );
}

function Create({ made }: { made: (k: Key) => void }) {
  const [name, setName] = useState("");
  const [user, setUser] = useState("");
  const [days, setDays] = useState("");
  const [chosen, setChosen] = useState<Role[]>(["viewer", "runner"]);
  const queries = useQueryClient();
  const create = useMutation({
    mutationFn: () =>
      data(
        api.POST("/keys", {
          body: {
            name: name.trim(),
            roles: chosen,
            ...(user.trim() === "" ? {} : { userId: user.trim() }),
            ...(days === "" ? {} : { expires: new Date(Date.now() + Number(days) * 86_400_000).toISOString() }),
          },
        }),
      ),
    onSuccess: async (k) => {
      made(k);
      setName("");
      await queries.invalidateQueries({ queryKey: ["keys"] });
    },
  });
  return (
    <>
      <h2>Make a key</h2>
      <form
        className={styles.form}
        onSubmit={(e) => {
          e.preventDefault();
          create.mutate();
        }}
      >
        {create.error && <Problem error={create.error} />}
        <label>
          Name
          <input value={name} onChange={(e) => setName(e.target.value)} placeholder="what it is for" required />
        </label>
        <label>
          User
          <input
            value={user}
            onChange={(e) => setUser(e.target.value)}
            placeholder="whose it is; else that of its name"
          />
        </label>
        <label>
          Ends after days
          <input
            type="number"
            min={1}
            max={3650}
            value={days}
            onChange={(e) => setDays(e.target.value)}
            placeholder="never"
          />
        </label>
        <fieldset>
          <legend>Roles</legend>
          {roles.map(([role, about]) => (
            <label key={role} className={styles.role}>
              <input
                type="checkbox"
                checked={chosen.includes(role)}
                onChange={(e) => setChosen(e.target.checked ? [...chosen, role] : chosen.filter((r) => r !== role))}
              />
              {role} <span className="muted">{about}</span>
            </label>
          ))}
        </fieldset>
        <div>
          <button className="primary" disabled={create.isPending || chosen.length === 0}>
            Make it
          </button>
        </div>
      </form>
    </>
  );
}
