import type { Schemas } from "../../api/client";
import { useTools } from "../../api/queries";
import { Loaded, State, Wide } from "../../parts/parts";

// Capabilities are the tools that a run is offered, and why others are not; and whom it
// may delegate to.
export function Capabilities({ profile: { name } }: { profile: Schemas["Profile"] }) {
  const tools = useTools(name);
  return (
    <Loaded of={tools}>
      {(t) => (
        <>
          <h2>Offered</h2>
          <List of={t.tools.filter((one) => one.offered)} />
          <h2>Not offered</h2>
          <List of={t.tools.filter((one) => !one.offered)} />
          <h2>May delegate to</h2>
          <List of={t.targets} />
          <h2>May hand over to</h2>
          <List of={t.switches} />
        </>
      )}
    </Loaded>
  );
}

interface Row extends Pick<Schemas["Target"], "name" | "effect" | "rule" | "step" | "reason"> {
  summary?: string;
  capability?: string;
}

function List({ of }: { of: Row[] }) {
  if (of.length === 0) return <p className="muted">None.</p>;
  return (
    <Wide label="List">
      <table>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">Effect</th>
            <th scope="col">Why</th>
          </tr>
        </thead>
        <tbody>
          {of.map((t) => (
            <tr key={t.name}>
              <th scope="row">
                <code>{t.name}</code>
                {t.summary && <div className="muted">{t.summary}</div>}
              </th>
              <td>
                <State of={t.effect} />
              </td>
              <td>
                {t.reason || t.step}
                {t.rule && <Rule of={t.rule} />}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

export function Rule({ of }: { of: Schemas["PermitRule"] }) {
  return (
    <div className="muted">
      <code>
        {of.tool} “{of.subject}”: {of.effect}
      </code>{" "}
      {of.file ? `${of.file}:${of.line}` : of.layer}
    </div>
  );
}
