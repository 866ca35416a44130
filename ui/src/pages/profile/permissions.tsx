import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { Empty, Loaded, State, Wide } from "../../parts/parts";
import { Rule } from "./capabilities";
import styles from "./permissions.module.css";

type Rules = Schemas["Rule"][];

// Permissions are the rules as the file has them, the same by what they do, and what
// they say of a call.
export function Permissions({ profile }: { profile: Schemas["Profile"] }) {
  const rules = profile.permission ?? [];
  return (
    <>
      <Tester name={profile.name} />
      <h2>Rules, as they are written</h2>
      <p className="muted">
        The last rule that matches decides.
        {profile.default_permission && ` Without one: ${profile.default_permission}.`}
        {profile.permission_mode && ` Mode: ${profile.permission_mode}.`}
      </p>
      {rules.length === 0 ? (
        <Empty>The profile has no rules of its own; the built-in ones and roster.yaml decide.</Empty>
      ) : (
        <Written rules={rules} />
      )}
      <div className={styles.groups}>
        <Group title="Include (allow)" rules={rules.filter((r) => r.effect === "allow")} />
        <Group title="Ask" rules={rules.filter((r) => r.effect === "ask")} />
        <Group title="Exclude (deny)" rules={rules.filter((r) => r.effect === "deny")} />
      </div>
    </>
  );
}

function Written({ rules }: { rules: Rules }) {
  return (
    <Wide label="Rules">
      <table>
        <thead>
          <tr>
            <th scope="col">Tool</th>
            <th scope="col">Subject</th>
            <th scope="col">Effect</th>
            <th scope="col">Where</th>
          </tr>
        </thead>
        <tbody>
          {rules.map((r, i) => (
            <tr key={i}>
              <td>
                <code>{r.tool}</code>
              </td>
              <td>
                <code>{r.subject}</code>
              </td>
              <td>
                <State of={r.effect} />{" "}
                {r.untrusted && <span className="muted">counts as ask: nobody has trusted the workspace</span>}
              </td>
              <td className="muted">{r.at?.file && `${r.at.file}:${r.at.line ?? 0}`}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

function Group({ title, rules }: { title: string; rules: Rules }) {
  return (
    <section>
      <h3>{title}</h3>
      {rules.length === 0 ? (
        <p className="muted">None.</p>
      ) : (
        <ul>
          {rules.map((r, i) => (
            <li key={i}>
              <code>{r.tool}</code> <code>{r.subject}</code>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

// Tester says what would be decided of a call, and by which rule. Nothing is called.
function Tester({ name }: { name: string }) {
  const [tool, setTool] = useState("bash");
  const [subject, setSubject] = useState("");
  const [asked, setAsked] = useState({ tool: "", subject: "" });
  const permit = useQuery({
    queryKey: ["profiles", name, "permit", asked],
    enabled: asked.tool !== "",
    queryFn: () => data(api.GET("/profiles/{name}/permit", { params: { path: { name }, query: asked } })),
  });
  return (
    <section aria-label="Tester">
      <h2>What would happen?</h2>
      <form
        className={styles.tester}
        onSubmit={(e) => {
          e.preventDefault();
          setAsked({ tool, subject });
        }}
      >
        <input aria-label="Tool" value={tool} onChange={(e) => setTool(e.target.value)} required />
        <input
          aria-label="Subject"
          placeholder="a command, a path, an address"
          value={subject}
          onChange={(e) => setSubject(e.target.value)}
          required
        />
        <button className="primary">Ask</button>
      </form>
      {asked.tool !== "" && (
        <Loaded of={permit}>
          {(p) => (
            <div role="status">
              <p>
                <State of={p.effect} /> {p.reason} <span className="muted">({p.step})</span>
              </p>
              {p.rule && <Rule of={p.rule} />}
              {p.parts.length > 1 && (
                <ul>
                  {p.parts.map((part, i) => (
                    <li key={i}>
                      <State of={part.effect} /> <code>{part.tool}</code> <code>{part.subject}</code>
                      {part.rule && <Rule of={part.rule} />}
                    </li>
                  ))}
                </ul>
              )}
            </div>
          )}
        </Loaded>
      )}
    </section>
  );
}
