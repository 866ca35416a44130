import { describe, expect, it } from "vitest";
import type { Stored } from "./events";
import { Model } from "./model";

let seq = 0;
const event = (type: string, data: object, more: object = {}): Stored =>
  ({ seq: ++seq, session: "s", turn: 1, time: new Date(1000 * seq).toISOString(), type, data, ...more }) as Stored;

function begun(): Model {
  seq = 0;
  const m = new Model("s");
  m.apply(event("prompt", { parts: [{ type: "text", text: "Go" }], profile: "p" }));
  m.apply(event("session.start", { profile: "p", title: "Go" }));
  m.apply(event("loop.start", { number: 1, profile: "p", model: "a/b", why: "prompt" }));
  m.apply(event("message", { id: "m1", role: "user", post: 1 }));
  m.apply(event("turn.start", {}));
  return m;
}

const live = (message: string, offset: number, text: string, attempt = 1) => ({
  session: "s",
  message,
  attempt,
  offset,
  text,
});
const shown = (m: Model) => m.thread("s").rows;

describe("a thread", () => {
  it("has what was said, with its message", () => {
    expect(shown(begun())).toMatchObject([{ kind: "said", how: "prompt", message: "m1", parts: [{ text: "Go" }] }]);
  });

  it("is the same when events come again", () => {
    const m = begun();
    const again = { ...event("steer", { parts: [] }), seq: 3 } as Stored;
    m.apply(again);
    expect(shown(m)).toHaveLength(1);
    expect(m.last).toBe(5);
  });

  it("grows by pieces, each once and in its place, until the message is there", () => {
    const m = begun();
    m.live("delta", live("m2", 0, "né"));
    m.live("delta", live("m2", 0, "né"));
    m.live("delta", live("m2", 9, "?"));
    m.live("delta", live("m2", 3, "w"));
    m.live("thinking", live("m2", 0, "hm"));
    expect(shown(m)[1]).toMatchObject({ kind: "answer", text: "néw", thinking: "hm", live: true });
    m.live("delta", live("m2", 0, "other", 2));
    expect(shown(m)[1]).toMatchObject({ text: "other", thinking: "" });
    m.live("message.partial", live("m2", 0, "other words", 2));
    m.live("delta", live("m2", 11, "!", 2));
    expect(shown(m)[1]).toMatchObject({ text: "other words!" });
    m.apply(event("message", { id: "m2", role: "assistant", parts: [{ type: "text", text: "other words!!" }] }));
    m.live("delta", live("m2", 12, "late", 2));
    expect(shown(m)[1]).toMatchObject({ text: "other words!!", live: false });
  });

  it("forgets what was being written when its writer died", () => {
    const m = begun();
    m.live("delta", live("m2", 0, "half"));
    m.apply(event("loop.resumed", { attempt: 2, why: "the worker before died" }));
    expect(shown(m)).toMatchObject([{ kind: "said" }, { kind: "note" }]);
    m.live("delta", live("m2", 0, "whole"));
    expect(shown(m)[2]).toMatchObject({ kind: "answer", text: "whole" });
  });

  it("follows a call from its question to its end", () => {
    const m = begun();
    const call = { call: "c1", tool: "bash", input: { command: "ls" } };
    m.apply(
      event("message", {
        id: "m2",
        role: "assistant",
        parts: [{ type: "tool_call", call: "c1", name: "bash", input: call.input }],
      }),
    );
    expect(shown(m)[2]).toMatchObject({ kind: "tool", tool: "bash", state: "called" });
    m.apply(event("permission.asked", { ask: "a1", reason: "not allowed by itself", ...call }));
    m.apply(event("loop.waiting", { asks: ["a1"] }));
    expect(m.thread("s").status).toBe("waiting");
    m.apply(event("permission.resolved", { ask: "a1", answer: "once", by: "me" }));
    m.apply(event("tool.before", { ...call, effect: "allow" }));
    m.apply(
      event("tool.after", { ...call, outcome: "ok", parts: [{ type: "text", text: "a.txt" }], duration_ns: 2e6 }),
    );
    expect(shown(m)[2]).toMatchObject({
      state: "ok",
      took: 2,
      question: { answer: "once", by: "me" },
      output: [{ text: "a.txt" }],
    });
  });

  it("begins with what was taken over from another session", () => {
    const m = new Model("s");
    const messages = [
      { id: "m1", role: "user", parts: [{ type: "text", text: "Go" }] },
      {
        id: "m2",
        role: "assistant",
        parts: [
          { type: "text", text: "I go" },
          { type: "tool_call", call: "c1", name: "read", input: {} },
        ],
      },
      {
        id: "m3",
        role: "tool",
        parts: [{ type: "tool_result", call: "c1", error: true, parts: [{ type: "text", text: "no" }] }],
      },
    ];
    m.apply(event("branch", { from: "other", why: "fork", profile: "p", title: "Go", messages }, { seq: 1 }));
    expect(m.thread("s")).toMatchObject({ profile: "p", title: "Go", turns: [] });
    expect(shown(m)).toMatchObject([
      { kind: "said", message: "m1" },
      { kind: "answer", text: "I go", live: false },
      { kind: "tool", tool: "read", state: "error", output: [{ text: "no" }] },
      { kind: "note", text: "Begins with what another session has said" },
    ]);
  });

  it("takes out what came after the message that it goes on from, also what was written before", () => {
    const m = new Model("s");
    const say = (seq: number, type: "prompt" | "followup", text: string) => {
      m.apply(event(type, { parts: [{ type: "text", text }] }, { seq }));
    };
    const hear = (seq: number, id: string, role: string, text: string, post?: number) => {
      m.apply(event("message", { id, role, parts: [{ type: "text", text }], post }, { seq }));
    };
    say(1, "prompt", "Go");
    hear(2, "m1", "user", "Go", 1);
    say(3, "followup", "And on");
    hear(4, "m2", "assistant", "I go");
    hear(5, "m3", "user", "And on", 3);
    hear(6, "m4", "assistant", "I go on");
    m.apply(event("branch", { from: "", why: "branch", cut: true, at: "m2" }, { seq: 7 }));
    expect(shown(m)).toMatchObject([
      { kind: "said", message: "m1" },
      { kind: "answer", text: "I go" },
      { kind: "note" },
    ]);
    hear(8, "m2", "assistant", "I go!");
    expect(shown(m)[1]).toMatchObject({ text: "I go!" });
    m.apply(event("branch", { from: "", why: "branch", cut: true, at: "no such" }, { seq: 9 }));
    expect(shown(m)).toHaveLength(4);
    m.apply(event("branch", { from: "", why: "branch", cut: true }, { seq: 10 }));
    expect(shown(m)).toMatchObject([{ kind: "note" }]);
  });

  it("counts turns, tokens and cost, those of a child apart", () => {
    const m = begun();
    const usage = { input_tokens: 10, output_tokens: 1, cache_read_tokens: 0, cache_write_tokens: 0, cost: 0.5 };
    m.apply(event("usage", { usage, model: "a/b" }));
    m.apply(event("session.start", { profile: "q", parent: "s", call: "c1" }, { session: "s_1" }));
    m.apply(event("loop.start", { number: 1, profile: "q", model: "a/b", why: "task" }, { session: "s_1" }));
    m.apply(event("turn.start", {}, { session: "s_1" }));
    m.apply(event("usage", { usage, model: "a/b" }, { session: "s_1" }));
    m.apply(event("loop.end", { reason: "error", error: { code: "X", error: "it failed" } }, { session: "s_1" }));
    m.apply(event("turn.start", {}, { turn: 2 }));
    m.apply(event("loop.end", { reason: "done" }));
    expect(m.thread("s")).toMatchObject({
      status: "idle",
      usage: { input_tokens: 10 },
      turns: [{ turn: 1, model: "a/b" }, { turn: 2 }],
    });
    expect(m.thread("s_1")).toMatchObject({
      status: "failed",
      profile: "q",
      rows: [{ tone: "error", detail: "it failed" }],
    });
  });
});
