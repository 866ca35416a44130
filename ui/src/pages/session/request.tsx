import { useQuery } from "@tanstack/react-query";
import { api, data } from "../../api/client";
import { Code, Facts, Loaded } from "../../parts/parts";

// RequestOf is exactly what the model was sent for a turn.
export function RequestOf({ session, turn }: { session: string; turn: number }) {
  const request = useQuery({
    queryKey: ["sessions", session, "request", turn],
    queryFn: () => data(api.GET("/sessions/{id}/requests/{turn}", { params: { path: { id: session, turn } } })),
  });
  return (
    <Loaded of={request}>
      {(r) => (
        <>
          <Facts
            of={[
              ["Model", r.model],
              ["Renderer", r.renderer],
              ["Attempt", r.attempt > 1 ? r.attempt : undefined],
              ["Differs", r.differs],
            ]}
          />
          <Code label={`Request of turn ${turn}`}>{JSON.stringify(r.body, null, 2)}</Code>
        </>
      )}
    </Loaded>
  );
}
