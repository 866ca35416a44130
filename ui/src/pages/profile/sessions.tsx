import type { Schemas } from "../../api/client";
import { useSessions } from "../../api/queries";
import { Empty, Loaded } from "../../parts/parts";
import { SessionList } from "../sessions";

const most = 100;

// SessionsTab are the newest sessions of the profile.
export function SessionsTab({ profile: { name } }: { profile: Schemas["Profile"] }) {
  const sessions = useSessions({ profile: name, limit: most });
  return (
    <Loaded of={sessions}>
      {(list) => (
        <>
          {list.length === 0 ? <Empty>It has had no session yet.</Empty> : <SessionList list={list} />}
          {list.length === most && <p className="muted">These are the newest {most}.</p>}
        </>
      )}
    </Loaded>
  );
}
