import { useMutation } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { api, data } from "../../api/client";
import { useCommands } from "../../api/queries";
import { Problem } from "../../parts/parts";
import { PromptBox } from "../../prompt/box";
import { isEmpty, nothing, said } from "../../prompt/draft";
import { useDraft } from "../../prompt/kept";
import type { Thread } from "../../session/thread";
import styles from "./composer.module.css";

type What = "cancel" | "fork" | "revert" | "rerun";
type How = "prompt" | "steer" | "followup";

// Composer says something to a session: a prompt where it rests; where it runs, a word in
// between or what comes after.
export function Composer({ thread }: { thread: Thread }) {
  const [draft, setDraft] = useDraft(thread.id);
  const commands = useCommands();
  const [, go] = useLocation();
  const path = { id: thread.id };
  const busy = thread.status === "running" || thread.status === "waiting";
  const say = useMutation({
    mutationFn: (how: How): Promise<unknown> => {
      const params = { path };
      const names = (commands.data?.commands ?? []).map((c) => c.name);
      const message = draft.text.trim();
      switch (how) {
        case "prompt":
          return data(
            api.POST("/sessions/{id}/prompt", { params, body: { ...said(draft, names), approvals: "wait" } }),
          );
        case "steer":
          return data(api.POST("/sessions/{id}/steer", { params, body: { message } }));
        case "followup":
          return data(api.POST("/sessions/{id}/followup", { params, body: { message } }));
      }
    },
    onSuccess: (_, how) => setDraft(how === "prompt" ? nothing : { ...draft, text: "" }),
  });
  const act = useMutation({
    mutationFn: async (what: What) => {
      const params = { path };
      if (what === "cancel") return data(api.POST("/sessions/{id}/cancel", { params, body: {} }));
      if (what === "revert") return data(api.POST("/sessions/{id}/revert", { params, body: {} }));
      if (what === "rerun") return data(api.POST("/sessions/{id}/rerun", { params, body: { approvals: "wait" } }));
      const forked = await data(api.POST("/sessions/{id}/fork", { params, body: {} }));
      go(`/sessions/${encodeURIComponent(forked.sessionId)}`);
    },
  });
  const then = (what: What) => {
    say.reset(); // its error is not one of this
    act.mutate(what);
  };
  const how: How = busy ? "steer" : "prompt";
  // A word to a session that runs is text alone: its files wait for the next prompt.
  const empty = busy ? draft.text.trim() === "" : isEmpty(draft);
  return (
    <form
      className={styles.composer}
      onSubmit={(e) => {
        e.preventDefault();
        if (!empty && !say.isPending) say.mutate(how);
      }}
    >
      {(say.error ?? act.error) && <Problem error={say.error ?? act.error} />}
      <PromptBox
        draft={draft}
        change={setDraft}
        label="Message"
        placeholder={busy ? "Say something while it works" : "Prompt: / calls a command, @ names a file"}
        rows={3}
        textOnly={busy}
      />
      <div className={styles.buttons}>
        <button className="primary" disabled={say.isPending || empty}>
          {busy ? "Steer" : "Send"}
        </button>
        {busy && (
          <button type="button" disabled={say.isPending || empty} onClick={() => say.mutate("followup")}>
            Follow up
          </button>
        )}
        {busy && (
          <button type="button" className="danger" onClick={() => then("cancel")}>
            Cancel
          </button>
        )}
        <span className={styles.rest} />
        <button type="button" disabled={act.isPending} onClick={() => then("fork")}>
          Fork
        </button>
        {!busy && (
          <>
            <button type="button" disabled={act.isPending} onClick={() => then("revert")}>
              Revert
            </button>
            <button type="button" disabled={act.isPending} onClick={() => then("rerun")}>
              Answer anew
            </button>
          </>
        )}
      </div>
    </form>
  );
}
