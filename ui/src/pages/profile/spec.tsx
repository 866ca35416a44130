import { useQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { Badge, Diagnostics, Empty, Loaded, Wide } from "../../parts/parts";

type Place = Schemas["Place"];

// Spec is what the profile comes to: each field, where its value is from, and what it
// has overridden.
export function Spec({ profile }: { profile: Schemas["Profile"] }) {
  const { name } = profile;
  const spec = useQuery({
    queryKey: ["profiles", name, "spec"],
    queryFn: () => data(api.GET("/profiles/{name}/spec", { params: { path: { name } } })),
  });
  const said = [...profile.diagnostics, ...(spec.data?.diagnostics ?? [])];
  return (
    <>
      {said.length > 0 && <Diagnostics list={said} />}
      <Loaded of={spec}>
        {(s) => {
          const fields = (Object.entries(s.fields) as [string, Schemas["Field"]][]).sort(bySaid);
          if (fields.length === 0) return <Empty>Nothing is set.</Empty>;
          return (
            <Wide label="Fields">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Key</th>
                    <th scope="col">Value</th>
                    <th scope="col">From</th>
                    <th scope="col">Instead of</th>
                  </tr>
                </thead>
                <tbody>
                  {fields.map(([key, f]) => (
                    <tr key={key}>
                      <th scope="row">
                        <code>{key}</code>
                      </th>
                      <td>
                        <Value of={f.value} />
                      </td>
                      <td>
                        <From place={f.origin} />
                      </td>
                      <td>
                        {f.overrides.map((o, i) => (
                          <div key={i}>
                            <From place={o} />
                          </div>
                        ))}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Wide>
          );
        }}
      </Loaded>
    </>
  );
}

// bySaid puts what somebody has said before what is built in, each by name.
function bySaid([a, x]: [string, Schemas["Field"]], [b, y]: [string, Schemas["Field"]]): number {
  return Number(x.origin.layer === "builtin") - Number(y.origin.layer === "builtin") || (a < b ? -1 : 1);
}

function Value({ of }: { of: unknown }) {
  const text = typeof of === "string" ? of : JSON.stringify(of, null, 1);
  if (text.length < 160 && !text.includes("\n")) return <code>{text}</code>;
  return (
    <details>
      <summary>
        <code>{text.slice(0, 80)}…</code>
      </summary>
      <pre style={{ whiteSpace: "pre-wrap" }}>{text}</pre>
    </details>
  );
}

export function From({ place }: { place: Place }) {
  return (
    <>
      <Badge>{place.layer}</Badge> {place.file && <code>{place.file + (place.line > 0 ? `:${place.line}` : "")}</code>}
    </>
  );
}
