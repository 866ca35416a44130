import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useDeferredValue } from "react";
import { api, data } from "../api/client";
import { useCommands } from "../api/queries";
import type { Part } from "./draft";

export interface Suggestion {
  word: string;
  about: string;
}

const most = 8;

// useSuggestions are the words that a part could become.
export function useSuggestions(part: Part | undefined): Suggestion[] {
  const commands = useCommands();
  const wanted = useDeferredValue(part?.kind === "file" ? part.part : undefined);
  const files = useQuery({
    queryKey: ["files", wanted],
    enabled: wanted !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 10_000,
    queryFn: () => data(api.GET("/files", { params: { query: { q: wanted ?? "", limit: most } } })),
  });
  if (part === undefined) return [];
  if (part.kind === "file") return (files.data?.files ?? []).slice(0, most).map((word) => ({ word, about: "" }));
  const typed = part.part.toLowerCase();
  return (commands.data?.commands ?? [])
    .filter((c) => c.name.toLowerCase().includes(typed))
    .sort((a, b) => Number(b.name.startsWith(typed)) - Number(a.name.startsWith(typed)))
    .slice(0, most)
    .map((c) => ({ word: c.name, about: [c.argument_hint, c.description].filter(Boolean).join(" — ") }));
}
