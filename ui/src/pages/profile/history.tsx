import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { Unified } from "../../parts/diff";
import { ago } from "../../parts/format";
import { Badge, Empty, Loaded, Problem, Wide } from "../../parts/parts";

// History is what the profile's file was, and the way back.
export function History({ profile: { name, revision, source } }: { profile: Schemas["Profile"] }) {
  const queries = useQueryClient();
  const history = useQuery({
    queryKey: ["profiles", name, "history"],
    queryFn: () => data(api.GET("/profiles/{name}/history", { params: { path: { name } } })),
  });
  const back = useMutation({
    mutationFn: (to: string) =>
      data(
        api.POST("/profiles/{name}/rollback", {
          params: { path: { name }, header: { "If-Match": `"${revision}"` } },
          body: { revision: to },
        }),
      ),
    onSuccess: () => queries.invalidateQueries({ queryKey: ["profiles"] }),
  });
  return (
    <>
      <p className="muted">
        What the file <code>{source.file}</code> was. A version is named by its commit, or by a digest of its text; the
        revision at the top of the page counts in all that the profile is made of.
      </p>
      {back.error && <Problem error={back.error} />}
      <Loaded of={history}>
        {(versions) =>
          versions.length === 0 ? (
            <Empty>There is no history: the file is in no repository, and was not saved here.</Empty>
          ) : (
            <Wide label="Versions">
              <table>
                <thead>
                  <tr>
                    <th scope="col">When</th>
                    <th scope="col">What</th>
                    <th scope="col">Who</th>
                    <th scope="col">Version</th>
                    <th scope="col">
                      <span className="hidden">Action</span>
                    </th>
                  </tr>
                </thead>
                <tbody>
                  {versions.map((v, i) => (
                    <tr key={v.revision + v.time}>
                      <td title={v.time}>{ago(v.time)}</td>
                      <td>
                        {v.message} <Badge>{v.source}</Badge>
                        {i + 1 < versions.length && <Difference name={name} to={v.revision} />}
                      </td>
                      <td>{v.author}</td>
                      <td>
                        <code>{v.revision.slice(0, 12)}</code>
                      </td>
                      <td>
                        {v.current ? (
                          <Badge tone="accent">current</Badge>
                        ) : (
                          <button disabled={back.isPending} onClick={() => back.mutate(v.revision)}>
                            Go back to this
                          </button>
                        )}
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

// Difference is what a version has changed of the one before it.
function Difference({ name, to }: { name: string; to: string }) {
  const [open, setOpen] = useState(false);
  const diff = useQuery({
    queryKey: ["profiles", name, "diff", to],
    queryFn: () => data(api.GET("/profiles/{name}/diff", { params: { path: { name }, query: { to } } })),
    enabled: open,
  });
  return (
    <details onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>What it changed</summary>
      {open && <Loaded of={diff}>{(d) => <Unified text={d.diff} />}</Loaded>}
    </details>
  );
}
