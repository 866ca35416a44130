import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { api, data, type Schemas } from "./client";
import { follow } from "./stream";

// What the pages ask the server for. The first word of a key says what it is about, by
// which it is asked for again when that has changed.

export const useProfiles = () =>
  useQuery({
    queryKey: ["profiles"],
    queryFn: () =>
      data(api.GET("/profiles", { params: { query: { verbose: "true" } } })) as Promise<Schemas["Profile"][]>,
  });

export const useProblems = () =>
  useQuery({ queryKey: ["profiles", "problems"], queryFn: () => data(api.GET("/profiles/-/diagnostics")) });

export const useProfile = (name: string) =>
  useQuery({
    queryKey: ["profiles", name],
    queryFn: () =>
      data(api.GET("/profiles/{name}", { params: { path: { name }, query: { verbose: "true" } } })) as Promise<
        Schemas["Profile"]
      >,
  });

export const useSessions = (
  q: {
    profile?: string;
    status?: "" | "idle" | "running" | "waiting" | "failed";
    q?: string;
    limit?: number;
  } = {},
) => useQuery({ queryKey: ["sessions", q], queryFn: () => data(api.GET("/sessions", { params: { query: q } })) });

export const useSessionView = (id: string) =>
  useQuery({
    queryKey: ["sessions", id],
    queryFn: () => data(api.GET("/sessions/{id}", { params: { path: { id } } })),
  });

// useApprovals asks now and then too: the page of a session hears of that session alone.
export const useApprovals = () =>
  useQuery({ queryKey: ["approvals"], queryFn: () => data(api.GET("/approvals")), refetchInterval: 15_000 });

export const useModels = () => useQuery({ queryKey: ["models"], queryFn: () => data(api.GET("/models")) });

export const useDoctor = () =>
  useQuery({ queryKey: ["doctor"], queryFn: () => data(api.GET("/doctor")), staleTime: 30_000 });

// useWhoami says what the caller may do. A key with other roles begins the page anew.
export const useWhoami = () =>
  useQuery({ queryKey: ["whoami"], queryFn: () => data(api.GET("/whoami")), staleTime: 60_000 });

export const useSkills = (profile: string) =>
  useQuery({
    queryKey: ["skills", { profile }],
    queryFn: () => data(api.GET("/skills", { params: { query: { profile } } })),
  });

export const useServers = (profile: string) =>
  useQuery({
    queryKey: ["servers", { profile }],
    queryFn: () => data(api.GET("/mcp-servers", { params: { query: { profile } } })),
  });

export const useTools = (name: string) =>
  useQuery({
    queryKey: ["profiles", name, "tools"],
    queryFn: () => data(api.GET("/profiles/{name}/tools", { params: { path: { name } } })),
  });

export const useCommands = () =>
  useQuery({ queryKey: ["commands"], queryFn: () => data(api.GET("/commands")), staleTime: 30_000 });

// What of the keys is asked for again when an event of the type comes.
const about: Record<string, string[]> = {
  "session.start": ["sessions"],
  "loop.start": ["sessions"],
  "loop.waiting": ["sessions", "approvals"],
  "loop.end": ["sessions", "usage", "approvals"],
  "permission.asked": ["approvals"],
  "permission.resolved": ["approvals"],
  "input.asked": ["approvals"],
  "input.answered": ["approvals"],
};

// useHeard gives whom to tell the types of events: what they are about is asked for
// again, a moment later. Of "" everything is.
export function useHeard(): (type: string) => void {
  const queries = useQueryClient();
  const [heard] = useState(() => {
    let waiting = new Set<string>();
    let timer = 0;
    const flush = () => {
      timer = 0;
      for (const key of waiting) void queries.invalidateQueries(key === "" ? {} : { queryKey: [key] });
      waiting = new Set();
    };
    return (type: string) => {
      for (const key of type === "" ? [""] : (about[type] ?? [])) waiting.add(key);
      if (waiting.size > 0) timer ||= window.setTimeout(flush, 300);
    };
  });
  return heard;
}

// useFeed has what is shown follow what happens. What happened while there was no
// connection is found by asking for everything again.
export function useFeed(on: boolean) {
  const heard = useHeard();
  useEffect(() => {
    if (!on) return;
    heard("permission.asked"); // which are always shown, and may be of before
    return follow({
      path: "/events?type=" + Object.keys(about).join(","),
      take: (m) => heard(m.type),
      again: () => heard(""),
    });
  }, [on, heard]);
}
