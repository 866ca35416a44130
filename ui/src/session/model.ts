import { noteOf } from "./notes";
import type { Copied, Live, Stored } from "./events";
import {
  add,
  newThread,
  textOf,
  type Answer,
  type Row,
  type Said,
  type Thread,
  type ToolCall,
  type Turn,
} from "./thread";

// Model makes threads of the events of a session's stream, one after another. A row that
// changes is replaced, so whoever shows it knows; the lists are the same ones all the
// time. An event that it has had already changes nothing.
export class Model {
  readonly threads = new Map<string, Thread>();
  last = 0; // the number of the last event

  private places = new Map<string, number>(); // of rows, by session and key
  private posts = new Map<number, [session: string, key: string]>(); // of prompts, by number
  private ends = new Map<string, number>(); // by message: how many rows there were then
  private asks = new Map<string, [session: string, call: string]>();
  private pieces = new Map<string, Pieces>(); // of messages that are live

  constructor(readonly root: string) {
    this.threads.set(root, newThread(root));
  }

  thread(id: string): Thread {
    let t = this.threads.get(id);
    if (t === undefined) this.threads.set(id, (t = newThread(id)));
    return t;
  }

  // apply takes a stored event.
  apply(e: Stored): void {
    if (e.seq !== undefined) {
      if (e.seq <= this.last) return;
      this.last = e.seq;
    }
    const t = this.thread(e.session);
    const time = e.time === undefined ? 0 : Date.parse(e.time);
    switch (e.type) {
      case "prompt":
      case "steer":
      case "followup": {
        const key = "post-" + (e.seq ?? 0);
        this.put(t, { kind: "said", key, how: e.type, parts: e.data.parts, user: e.data.user });
        this.posts.set(e.seq ?? 0, [t.id, key]);
        break;
      }
      case "session.start":
        Object.assign(t, { profile: e.data.profile, title: e.data.title ?? "" });
        break;
      case "loop.start":
        Object.assign(t, { profile: e.data.profile, status: "running", loops: t.loops + 1 });
        break;
      case "loop.resumed":
        t.status = "running";
        this.dropLive(t);
        this.note(t, e);
        break;
      case "loop.waiting":
        t.status = "waiting";
        break;
      case "loop.end":
        t.status = e.data.reason === "waiting" ? "waiting" : e.data.reason === "error" ? "failed" : "idle";
        this.endTurn(t, time);
        this.note(t, e);
        break;
      case "turn.start":
        this.endTurn(t, time);
        t.turns.push({ key: `${t.loops}.${e.turn ?? 0}`, loop: t.loops, turn: e.turn ?? 0, began: time, tools: 0 });
        break;
      case "message":
        this.message(t, e);
        this.ends.set(e.data.id, t.rows.length);
        break;
      case "branch":
        if (e.data.cut) this.cut(t, e.data.at ?? "");
        for (const m of e.data.messages ?? []) this.copied(t, m);
        Object.assign(t, { profile: e.data.profile ?? t.profile, title: e.data.title ?? t.title });
        this.note(t, e);
        break;
      case "usage":
        t.usage = add(t.usage, e.data.usage);
        this.turn(t, (turn) => ({
          ...turn,
          model: e.data.model,
          usage: turn.usage ? add(turn.usage, e.data.usage) : e.data.usage,
          ended: time,
        }));
        break;
      case "todo":
        t.steps = e.data.steps;
        break;
      case "profile.switched":
        t.profile = e.data.to;
        this.note(t, e);
        break;
      default:
        if (!this.tool(t, e, time)) this.note(t, e);
    }
  }

  // live takes a piece of an answer that is being written. What it does not begin right
  // behind what is known is a piece that was shown before, or one too many: the message
  // that is stored at the end has it all.
  live(type: string, l: Live): void {
    const t = this.thread(l.session);
    const known = this.row<Answer>(t, l.message);
    if (known !== undefined && !known.live) return;
    let had = this.pieces.get(l.message);
    if (had === undefined || type === "message.reset" || had.attempt !== l.attempt) {
      had = { attempt: l.attempt, delta: 0, thinking: 0 };
      this.pieces.set(l.message, had);
    }
    const turn = t.turns.at(-1)?.turn ?? 1;
    const row: Answer = { kind: "answer", key: l.message, turn, text: "", thinking: "", live: true, partial: false };
    if (had.delta > 0) row.text = known?.text ?? "";
    if (had.thinking > 0) row.thinking = known?.thinking ?? "";
    if (type === "message.partial") {
      row.text = l.text;
      had.delta = encoder.encode(l.text).length;
    } else if ((type === "delta" || type === "thinking") && l.offset === had[type]) {
      had[type] += encoder.encode(l.text).length;
      if (type === "delta") row.text += l.text;
      else row.thinking += l.text;
    }
    this.put(t, row);
  }

  // dropLive forgets what was being written when its writer died: it is written anew.
  private dropLive(t: Thread): void {
    for (let row = t.rows.at(-1); row?.kind === "answer" && row.live; row = t.rows.at(-1)) {
      t.rows.pop();
      this.places.delete(t.id + " " + row.key);
      this.pieces.delete(row.key);
    }
  }

  private message(t: Thread, e: Extract<Stored, { type: "message" }>): void {
    const m = e.data;
    if (m.role === "user") {
      const post = this.posts.get(m.post ?? -1);
      const said = post && this.row<Said>(this.thread(post[0]), post[1]);
      if (post && said) this.put(this.thread(post[0]), { ...said, message: m.id, parts: m.parts ?? said.parts });
      else if (m.parts)
        this.put(t, { kind: "note", key: m.id, tone: "plain", text: "Roster asks the model", detail: textOf(m.parts) });
      return;
    }
    if (m.role !== "assistant") return;
    const calls = this.answer(t, m, e.turn ?? 0);
    this.turn(t, (turn) => ({ ...turn, tools: turn.tools + calls }));
  }

  // cut takes out what came after a message; without one, all of it.
  private cut(t: Thread, at: string): void {
    const end = at === "" ? 0 : this.ends.get(at);
    if (end === undefined) return;
    const ids = [...this.ends.keys()];
    const later = new Set<string | undefined>(ids.slice(ids.indexOf(at) + 1)); // a follow-up is written before it is said
    const rows = t.rows.splice(0);
    for (const row of rows) this.places.delete(t.id + " " + row.key);
    rows.forEach((row, i) => {
      if (i < end && !(row.kind === "said" && later.has(row.message))) this.put(t, row);
    });
  }

  // copied takes a message that another session has had, with how its calls ended.
  private copied(t: Thread, m: Copied): void {
    const parts = m.parts ?? [];
    if (m.role === "user") this.put(t, { kind: "said", key: m.id, how: "prompt", parts, message: m.id });
    else if (m.role === "assistant") this.answer(t, m, 0);
    for (const p of parts) {
      if (p.type !== "tool_result" || p.call === undefined) continue;
      this.call(t, p.call, { state: p.error ? "error" : "ok", output: p.parts ?? [], artifact: p.artifact });
    }
    this.ends.set(m.id, t.rows.length);
  }

  // answer puts what a model has said, with the calls in it, and says how many those are.
  private answer(t: Thread, m: Copied, turn: number): number {
    const parts = m.parts ?? [];
    const thinking = parts.filter((p) => p.type === "thinking").map((p) => p.text ?? "");
    this.put(t, {
      kind: "answer",
      key: m.id,
      turn,
      text: textOf(parts),
      thinking: thinking.join("\n\n"),
      live: false,
      partial: m.partial ?? false,
    });
    let calls = 0;
    for (const p of parts) {
      if (p.type !== "tool_call" || p.call === undefined) continue;
      calls++;
      const input: unknown = p.input ?? p.invalid_input;
      const call = { key: p.call, turn, tool: p.name ?? "", input };
      this.put(t, { kind: "tool", ...call, state: "called", output: [], update: "", hooks: [] });
    }
    return calls;
  }

  // tool takes what happens to a tool's call, and says whether it was that.
  private tool(t: Thread, e: Stored, time: number): boolean {
    switch (e.type) {
      case "tool.before": {
        const { effect, rule, reason, child, input } = e.data;
        this.call(t, e.data.call, { state: "running", effect, rule, reason, child, input });
        return true;
      }
      case "tool.update":
        this.call(t, e.data.call, { update: e.data.text });
        return true;
      case "tool.after":
        this.call(t, e.data.call, {
          state: e.data.outcome as ToolCall["state"],
          output: e.data.parts ?? [],
          artifact: e.data.artifact,
          took: (e.data.duration_ns ?? 0) / 1e6,
          update: "",
        });
        this.turn(t, (turn) => ({ ...turn, ended: time }));
        return true;
      case "permission.asked":
        this.asks.set(e.data.ask, [t.id, e.data.call]);
        this.call(t, e.data.call, { question: { ask: e.data.ask, what: "permission", reason: e.data.reason } });
        return true;
      case "input.asked":
        this.asks.set(e.data.ask, [t.id, e.data.call]);
        this.call(t, e.data.call, {
          question: { ask: e.data.ask, what: "input", text: e.data.question, options: e.data.options },
        });
        return true;
      case "permission.resolved":
      case "input.answered":
        return this.answered(e.data.ask, e.data.answer, e.data.by);
      case "hook":
        if (e.data.call === undefined) return false;
        this.call(t, e.data.call, { hook: [e.data.on, e.data.decision, e.data.reason].filter(Boolean).join(": ") });
        return true;
      default:
        return false;
    }
  }

  private answered(ask: string, answer: string, by?: string): boolean {
    const [session, call] = this.asks.get(ask) ?? ["", ""];
    const row = this.row<ToolCall>(this.thread(session || this.root), call);
    if (row?.question) this.call(this.thread(session), call, { question: { ...row.question, answer, by } });
    return true;
  }

  private call(t: Thread, key: string, change: Partial<ToolCall> & { hook?: string }): void {
    const { hook, ...rest } = change;
    const row = this.row<ToolCall>(t, key);
    if (row === undefined) return;
    this.put(t, { ...row, ...rest, hooks: hook === undefined ? row.hooks : [...row.hooks, hook] });
  }

  private turn(t: Thread, change: (turn: Turn) => Turn): void {
    const turn = t.turns.at(-1);
    if (turn !== undefined) t.turns[t.turns.length - 1] = change(turn);
  }

  private endTurn(t: Thread, time: number): void {
    this.turn(t, (turn) => (turn.ended === undefined ? { ...turn, ended: time } : turn));
  }

  private note(t: Thread, e: Stored): void {
    const n = noteOf(e);
    if (n !== undefined) this.put(t, { kind: "note", key: "note-" + (e.seq ?? t.rows.length), ...n });
  }

  // row is the row of a key: whoever asks knows of which kind it is.
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters
  private row<R extends Row>(t: Thread, key: string): R | undefined {
    const i = this.places.get(t.id + " " + key);
    return i === undefined ? undefined : (t.rows[i] as R);
  }

  private put(t: Thread, row: Row): void {
    const place = t.id + " " + row.key;
    const i = this.places.get(place);
    if (i !== undefined) t.rows[i] = row;
    else this.places.set(place, t.rows.push(row) - 1);
  }
}

// Pieces are how much of a message has come, in bytes of UTF-8.
interface Pieces {
  attempt: number;
  delta: number;
  thinking: number;
}

const encoder = new TextEncoder();
