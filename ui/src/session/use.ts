import { useEffect, useState, useSyncExternalStore } from "react";
import { useHeard } from "../api/queries";
import type { Message } from "../api/sse";
import { follow, type Connection } from "../api/stream";
import type { Live, Stored } from "./events";
import { Model } from "./model";

const lively = new Set(["delta", "thinking", "message.partial", "message.reset"]);

// Store keeps the threads of a session as its stream says, and tells who shows them: once
// a frame, however many events there were.
class Store {
  readonly model: Model;
  connection: Connection = "connecting";
  why: string | undefined;
  private version = 0;
  private frame = 0;
  private listeners = new Set<() => void>();

  constructor(
    readonly session: string,
    private heard: (type: string) => void,
  ) {
    this.model = new Model(session);
  }

  start(): () => void {
    const stop = follow({
      path: `/sessions/${encodeURIComponent(this.session)}/events`,
      after: this.model.last > 0 ? String(this.model.last) : undefined,
      take: (m) => this.take(m),
      again: () => this.heard(""),
      state: (c, why) => {
        this.connection = c;
        this.why = why;
        this.changed();
      },
    });
    return () => {
      cancelAnimationFrame(this.frame);
      this.frame = 0;
      stop();
    };
  }

  subscribe = (tell: () => void) => {
    this.listeners.add(tell);
    return () => void this.listeners.delete(tell);
  };

  snapshot = () => this.version;

  private take(m: Message) {
    if (lively.has(m.type)) this.model.live(m.type, JSON.parse(m.data) as Live);
    else this.model.apply(JSON.parse(m.data) as Stored);
    this.heard(m.type);
    this.changed();
  }

  private changed() {
    this.frame ||= requestAnimationFrame(() => {
      this.frame = 0;
      this.version++;
      for (const tell of this.listeners) tell();
    });
  }
}

// useSession follows a session for as long as it is shown.
export function useSession(id: string): Store {
  const heard = useHeard();
  const [store, setStore] = useState(() => new Store(id, heard));
  if (store.session !== id) setStore(new Store(id, heard));
  useEffect(() => store.start(), [store]);
  useSyncExternalStore(store.subscribe, store.snapshot);
  return store;
}
