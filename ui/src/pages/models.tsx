import { useModels } from "../api/queries";
import { count } from "../parts/format";
import { Badge, Empty, Loaded, Wide } from "../parts/parts";

export function Models() {
  const models = useModels();
  return (
    <>
      <h1>Models</h1>
      <Loaded of={models}>
        {(list) =>
          list.length === 0 ? (
            <Empty>The catalog has no models.</Empty>
          ) : (
            <Wide label="Models">
              <table>
                <thead>
                  <tr>
                    <th scope="col">Model</th>
                    <th scope="col">State</th>
                    <th scope="col" className="number">
                      Window
                    </th>
                    <th scope="col" className="number">
                      Output
                    </th>
                    <th scope="col" className="number">
                      $ / M in
                    </th>
                    <th scope="col" className="number">
                      $ / M out
                    </th>
                    <th scope="col">From</th>
                  </tr>
                </thead>
                <tbody>
                  {list.map((m) => (
                    <tr key={m.provider + "/" + m.id}>
                      <th scope="row">
                        <code>
                          {m.provider}/{m.id}
                        </code>
                        {m.note && <div className="muted">{m.note}</div>}
                      </th>
                      <td>{m.configured ? <Badge tone="good">key is there</Badge> : <Badge>no key</Badge>}</td>
                      <td className="number">{m.context_window > 0 && count(m.context_window)}</td>
                      <td className="number">{m.max_output > 0 && count(m.max_output)}</td>
                      <td className="number">{m.input_price}</td>
                      <td className="number">{m.output_price}</td>
                      <td className="muted">
                        {m.source.file ? `${m.source.file}:${m.source.line ?? 0}` : m.source.layer}
                      </td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Wide>
          )
        }
      </Loaded>
    </>
  );
}
