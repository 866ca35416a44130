import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { api, data, request, type Schemas } from "../../api/client";
import { Badge, Loaded, Wide } from "../../parts/parts";
import styles from "./rig.module.css";

// Graph is what starts which knot, and where it writes: the server's drawing, which as a
// picture can do nothing but be looked at, and the same in words.
export function Graph({ rig }: { rig: string }) {
  const drawing = useQuery({
    queryKey: ["rigs", rig, "svg"],
    queryFn: async () => (await request(`/rigs/${encodeURIComponent(rig)}/graph?format=svg`)).text(),
  });
  const graph = useQuery({
    queryKey: ["rigs", rig, "graph"],
    queryFn: () => data(api.GET("/rigs/{rig}/graph", { params: { path: { rig } } })),
  });
  return (
    <>
      <Loaded of={drawing}>{(svg) => <Picture svg={svg} alt={`What starts what in ${rig}; in words below`} />}</Loaded>
      <h2>In words</h2>
      <Loaded of={graph}>
        {({ nodes, edges }) => (
          <ul>
            {edges.map((e, i) => (
              <li key={i}>
                {name(nodes[e.from])} → {name(nodes[e.to])} {e.cycle && <Badge tone="warn">a cycle</Badge>}
              </li>
            ))}
          </ul>
        )}
      </Loaded>
    </>
  );
}

// name tells knots of one name in two looms apart.
function name(n?: Schemas["Node"]): string {
  return n?.kind === "knot" ? `${n.detail}/${n.label}` : (n?.label ?? "");
}

function Picture({ svg, alt }: { svg: string; alt: string }) {
  // The address is that of the page's own memory, and goes with the element.
  const show = useCallback(
    (img: HTMLImageElement) => {
      img.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
      return () => URL.revokeObjectURL(img.src);
    },
    [svg],
  );
  return (
    <Wide label="Drawing">
      <img ref={show} alt={alt} className={styles.drawing} />
    </Wide>
  );
}
