import type { Schemas } from "../api/client";

// What a session looks like: a thread of rows, in which each event has its place. A
// session that others were delegated in has a thread for each of them too.

export type Part = Schemas["Part"];
export type Usage = Schemas["Usage"];

export interface Rule {
  tool: string;
  subject: string;
  effect: string;
  layer?: string;
  file?: string;
  line?: number;
}

export interface Said {
  kind: "said";
  key: string;
  how: "prompt" | "steer" | "followup";
  parts: Part[];
  user?: string;
  message?: string; // the id of the message that it has become
}

export interface Answer {
  kind: "answer";
  key: string; // the message's id
  turn: number;
  text: string;
  thinking: string;
  live: boolean; // more of it may come
  partial: boolean; // it was cut off
}

export interface Question {
  ask: string; // its id
  what: "permission" | "input";
  text?: string; // of a question to a person
  options?: string[];
  reason?: string;
  answer?: string; // none: it is open
  by?: string;
}

export interface ToolCall {
  kind: "tool";
  key: string; // the call's id
  turn: number;
  tool: string;
  input: unknown;
  state: "called" | "running" | "ok" | "error" | "denied" | "skipped" | "unknown";
  effect?: string;
  rule?: Rule;
  reason?: string;
  output: Part[];
  update: string; // what it has said while it ran
  artifact?: string;
  took?: number; // ms
  child?: string; // the session that works for it
  question?: Question;
  hooks: string[];
}

export interface Note {
  kind: "note";
  key: string;
  tone: "plain" | "warning" | "error";
  text: string;
  detail?: string;
}

export type Row = Said | Answer | ToolCall | Note;

export interface Turn {
  key: string;
  loop: number; // of the session, from 1
  turn: number; // of the loop, from 1
  began: number; // ms since 1970
  ended?: number;
  model?: string;
  usage?: Usage;
  tools: number;
}

export interface Step {
  text: string;
  status: string;
}

export interface Thread {
  id: string;
  profile: string;
  title: string;
  status: "idle" | "running" | "waiting" | "failed";
  rows: Row[];
  turns: Turn[];
  steps: Step[]; // what is to be done
  loops: number;
  usage: Usage;
}

export const nothing: Usage = {
  input_tokens: 0,
  output_tokens: 0,
  cache_read_tokens: 0,
  cache_write_tokens: 0,
  cost: 0,
};

export function newThread(id: string): Thread {
  return {
    id,
    profile: "",
    title: "",
    status: "idle",
    rows: [],
    turns: [],
    steps: [],
    loops: 0,
    usage: { ...nothing },
  };
}

export function add(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    cache_read_tokens: a.cache_read_tokens + b.cache_read_tokens,
    cache_write_tokens: a.cache_write_tokens + b.cache_write_tokens,
    cost: a.cost + b.cost,
    estimated: a.estimated || b.estimated || undefined,
  };
}

// textOf joins the texts of parts.
export function textOf(parts: Part[] | undefined): string {
  return (parts ?? [])
    .filter((p) => p.type === "text")
    .map((p) => p.text ?? "")
    .join("\n\n");
}
