// The key with which the page asks a server that wants to know who asks. It is kept for
// this tab alone: a server of Roster takes no cookies.

const name = "roster-key";
const listeners = new Set<() => void>();
let refused = false;

function change(now: boolean) {
  refused = now;
  for (const tell of listeners) tell();
}

export const key = {
  get: (): string | null => sessionStorage.getItem(name),
  set(value: string | null) {
    if (value === null) sessionStorage.removeItem(name);
    else sessionStorage.setItem(name, value);
    change(false);
  },
  // refused says whether the server has not taken the key, as when it was revoked.
  refused: () => refused,
  refuse(value: string | null) {
    if (value === key.get()) change(true); // else another one was set meanwhile
  },
  subscribe: (tell: () => void) => {
    listeners.add(tell);
    return () => void listeners.delete(tell);
  },
};
