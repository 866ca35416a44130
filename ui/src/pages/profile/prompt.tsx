import { useQuery } from "@tanstack/react-query";
import { api, data, type Schemas } from "../../api/client";
import { count } from "../../parts/format";
import { Code, Diagnostics, Facts, Loaded } from "../../parts/parts";

// PromptTab is what a run would send before the conversation, layer by layer.
export function PromptTab({ profile: { name } }: { profile: Schemas["Profile"] }) {
  const prompt = useQuery({
    queryKey: ["profiles", name, "prompt"],
    queryFn: () => data(api.GET("/profiles/{name}/prompt", { params: { path: { name } } })),
  });
  return (
    <Loaded of={prompt}>
      {(p) => (
        <>
          {p.diagnostics.length > 0 && <Diagnostics list={p.diagnostics} />}
          <Facts
            of={[
              ["Model", p.model],
              ["Tokens", `${count(p.tokens)} (estimated)`],
              ["From the cache", p.reused > 0 ? `${count(p.reused)} of them, on the next turn` : p.cache],
            ]}
          />
          {p.layers.map((l, i) => (
            <section key={i}>
              <h2>
                {l.name} <small className="muted">{count(l.tokens)} tokens</small>
              </h2>
              <p className="muted">{l.source}</p>
              <Code label={`Layer ${l.name}`}>{l.text}</Code>
            </section>
          ))}
          <h2>Tools</h2>
          <ul>
            {p.tools.map((t) => (
              <li key={t.name}>
                <code>{t.name}</code> <span className="muted">{count(t.tokens)} tokens</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Loaded>
  );
}
