import type { Stored } from "./events";
import type { Note } from "./thread";

type Told = Pick<Note, "tone" | "text" | "detail">;

// noteOf is what a row says of an event that is no message and no call of a tool;
// undefined: it is not shown.
export function noteOf(e: Stored): Told | undefined {
  switch (e.type) {
    case "loop.end":
      return ended(e.data);
    case "loop.resumed":
      return { tone: "plain", text: "Taken up again", detail: e.data.why };
    case "cancel":
      return { tone: "warning", text: "Cancelled", detail: e.data.reason };
    case "branch":
      return e.data.cut
        ? { tone: "plain", text: "What came after this was taken back" }
        : { tone: "plain", text: "Begins with what another session has said", detail: e.data.why };
    case "session.set":
      return {
        tone: "plain",
        text:
          "Settings: " +
          Object.entries(e.data.set)
            .map(([k, v]) => `${k} = ${v || "the profile's"}`)
            .join(", "),
      };
    case "compaction":
      return {
        tone: e.data.kind === "failed" ? "warning" : "plain",
        text: `Conversation made smaller (${e.data.kind})`,
        detail: e.data.text,
      };
    case "model.fallback":
      return { tone: "warning", text: `${e.data.to} is asked in place of ${e.data.from}`, detail: e.data.error };
    case "retry":
      return {
        tone: "warning",
        text: `Attempt ${e.data.attempt} after ${(e.data.delay_ns / 1e9).toFixed(1)} s`,
        detail: e.data.error,
      };
    case "limit":
      return { tone: "warning", text: `Limit of ${e.data.limit}: ${e.data.used} of ${e.data.max}` };
    case "error":
      return { tone: "error", text: e.data.code, detail: e.data.error };
    case "revert":
      return {
        tone: "warning",
        text: "The model has gone back" + (e.data.category ? ` (${e.data.category})` : ""),
        detail: e.data.text,
      };
    case "profile.switched":
      return { tone: "plain", text: `Goes on as ${e.data.to}`, detail: e.data.reason };
    case "tools.changed":
      return {
        tone: "plain",
        text:
          "Tools have changed: " +
          [...(e.data.added ?? []), ...(e.data.removed ?? []), ...(e.data.changed ?? [])].join(", "),
        detail: e.data.notes?.join("\n"),
      };
    case "plan":
      return {
        tone: e.data.failed ? "warning" : "plain",
        text: `Plan: ${e.data.phase}`,
        detail: e.data.failed ?? e.data.text,
      };
    case "hook":
      return {
        tone: e.data.failed ? "error" : "plain",
        text: `Hook ${e.data.on}: ${e.data.decision ?? ""}`,
        detail: e.data.reason,
      };
    case "worktree":
      return { tone: "plain", text: `Works in a worktree on ${e.data.branch}`, detail: e.data.dir };
    case "worktree.ended":
      return { tone: "plain", text: `The worktree is ${e.data.how}`, detail: e.data.into };
    case "files.undone":
      return { tone: "plain", text: "Changes of files were taken back", detail: e.data.left?.join("\n") };
    default:
      return undefined;
  }
}

function ended(d: Extract<Stored, { type: "loop.end" }>["data"]): Told | undefined {
  const error = typeof d.error === "string" ? d.error : d.error?.error;
  switch (d.reason) {
    case "done":
    case "waiting":
      return undefined;
    case "cancelled":
      return { tone: "warning", text: "Ended: cancelled" };
    case "limit":
      return { tone: "warning", text: `Ended by the limit of ${d.limit ?? "its profile"}` };
    default:
      return { tone: "error", text: `Ended: ${d.reason}`, detail: error };
  }
}
