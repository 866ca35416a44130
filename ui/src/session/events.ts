import type { Part, Rule, Step, Usage } from "./thread";

// The events of a session as the server sends them, those that a thread shows. See
// docs/reference/json.md for all of them.

interface Place {
  seq?: number; // none: it is live only
  session: string;
  loop?: string;
  turn?: number;
  time?: string;
}

// Copied is a message that was taken over from another session.
export interface Copied {
  id: string;
  role: string;
  parts?: Part[];
  partial?: boolean;
}

interface Data {
  prompt: { parts: Part[]; profile: string; user?: string };
  steer: { parts: Part[]; user?: string };
  followup: { parts: Part[]; user?: string };
  cancel: { reason?: string };
  "session.start": { profile: string; title?: string; parent?: string; call?: string };
  "session.set": { set: Record<string, string> };
  branch: {
    from: string;
    why: string;
    profile?: string;
    title?: string;
    cut?: boolean;
    at?: string;
    messages?: Copied[];
  };
  "loop.start": { number: number; profile: string; model: string; why: string };
  "loop.resumed": { attempt: number; why?: string };
  "loop.waiting": { asks: string[] };
  "loop.end": { reason: string; text?: string; limit?: string; error?: { code: string; error: string } | string };
  "turn.start": object;
  message: Copied & { stop?: string; post?: number; why?: string };
  "tool.before": {
    call: string;
    tool: string;
    input: unknown;
    effect?: string;
    rule?: Rule;
    reason?: string;
    child?: string;
  };
  "tool.update": { call: string; text: string };
  "tool.after": {
    call: string;
    tool: string;
    outcome: string;
    parts?: Part[];
    artifact?: string;
    duration_ns?: number;
  };
  hook: { on: string; decision?: string; by?: string; reason?: string; failed?: boolean; call?: string };
  "permission.asked": { ask: string; call: string; tool: string; input: unknown; reason?: string; rule?: Rule };
  "permission.resolved": { ask: string; answer: string; by?: string };
  "input.asked": { ask: string; call: string; question: string; options?: string[] };
  "input.answered": { ask: string; answer: string; text?: string; by?: string };
  usage: { usage: Usage; model: string };
  todo: { steps: Step[] };
  plan: { phase: string; text?: string; failed?: string };
  compaction: { kind: string; why: string; before_tokens?: number; after_tokens?: number; text?: string };
  "model.fallback": { from: string; to: string; error?: string };
  retry: { attempt: number; delay_ns: number; error?: string };
  limit: { limit: string; max: number; used: number };
  error: { code: string; error: string };
  revert: { category?: string; text?: string };
  "profile.switched": { from: string; to: string; reason?: string; model?: string };
  "tools.changed": { added?: string[]; removed?: string[]; changed?: string[]; notes?: string[] };
  worktree: { dir: string; branch: string };
  "worktree.ended": { how: string; into?: string };
  "files.undone": { left?: string[] };
}

export type Stored = { [T in keyof Data]: Place & { type: T; data: Data[T] } }[keyof Data];

// Live is what is shown while it happens, and not stored.
export interface Live {
  session: string;
  message: string;
  attempt: number;
  offset: number;
  text: string;
}
