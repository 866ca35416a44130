import { useDoctor } from "../api/queries";
import { Loaded, State, Wide } from "../parts/parts";

export function Doctor() {
  const findings = useDoctor();
  return (
    <>
      <h1>Doctor</h1>
      <Loaded of={findings}>
        {(list) => (
          <Wide label="Findings">
            <table>
              <thead>
                <tr>
                  <th scope="col">What</th>
                  <th scope="col">State</th>
                  <th scope="col">Detail</th>
                </tr>
              </thead>
              <tbody>
                {list.map((f, i) => (
                  <tr key={i}>
                    <th scope="row">
                      {f.name} <div className="muted">{f.area}</div>
                    </th>
                    <td>
                      <State of={f.status} />
                    </td>
                    <td>
                      {f.detail}
                      {f.hint && <div className="muted">{f.hint}</div>}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Wide>
        )}
      </Loaded>
    </>
  );
}
