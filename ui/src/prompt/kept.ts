import { useState } from "react";
import { nothing, type Draft } from "./draft";

const kept = new Map<string, Draft>();

// useDraft is a draft that is there again when its page is: somebody may have to log in
// anew, or look something up.
export function useDraft(name: string): [Draft, (d: Draft) => void] {
  const [draft, setDraft] = useState(() => kept.get(name) ?? nothing);
  const change = (d: Draft) => {
    kept.set(name, d);
    setDraft(d);
  };
  return [draft, change];
}
