import { ApiError, request } from "./client";
import { parser, type Message } from "./sse";

export type Connection = "connecting" | "live" | "lost";

export interface Follower {
  path: string; // of the stream
  after?: string; // the id of the last event that is known
  take: (m: Message) => void;
  state?: (c: Connection, why?: string) => void;
  again?: () => void; // there is a connection again
}

const soonest = 500; // ms
const latest = 10_000;

// follow reads a stream until it is stopped. Whenever the connection is lost it goes on
// behind the last event that it has had, so that none is missed and none comes twice. An
// answer that no new try can change ends it. While nobody looks at the tab there is no
// connection: browsers have but six for all tabs of a server.
export function follow(f: Follower): () => void {
  let last = f.after ?? "";
  let before = false; // there was a connection before
  let stop = new AbortController();
  const read = async (signal: AbortSignal) => {
    const over = () => signal.aborted;
    for (let wait = soonest; !over(); wait = Math.min(2 * wait, latest)) {
      try {
        f.state?.("connecting");
        const headers = new Headers({ Accept: "text/event-stream" });
        if (last !== "") headers.set("Last-Event-ID", last);
        const response = await request(f.path, { headers, signal });
        f.state?.("live");
        if (before) f.again?.();
        before = true;
        const parse = parser((m) => {
          if (m.id !== "") last = m.id;
          f.take(m);
          wait = soonest;
        });
        const reader = (response.body ?? new Blob().stream()).pipeThrough(new TextDecoderStream()).getReader();
        for (let r = await reader.read(); !r.done && !over(); r = await reader.read()) parse(r.value);
      } catch (e) {
        if (over()) return;
        const final = e instanceof ApiError && e.status >= 400 && e.status < 500 && e.status !== 429;
        f.state?.("lost", e instanceof Error ? e.message : String(e));
        if (final) return;
      }
      await pause(wait, signal);
    }
  };
  const look = () => {
    stop.abort();
    if (document.hidden) return;
    stop = new AbortController();
    void read(stop.signal);
  };
  document.addEventListener("visibilitychange", look);
  look();
  return () => {
    document.removeEventListener("visibilitychange", look);
    stop.abort();
  };
}

// pause waits, shorter where the tab is looked at again or the network is back.
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      removeEventListener("online", end);
      done();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end);
    addEventListener("online", end);
  });
}
