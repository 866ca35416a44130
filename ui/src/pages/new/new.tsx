import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useLocation } from "wouter";
import { api, data } from "../../api/client";
import { useCommands, useModels, useProfile } from "../../api/queries";
import { Badge, Facts, Loaded, Problem } from "../../parts/parts";
import { PromptBox } from "../../prompt/box";
import { isEmpty, nothing, said } from "../../prompt/draft";
import { useDraft } from "../../prompt/kept";
import styles from "./new.module.css";

// NewSession begins a session with a profile, and goes to it.
export function NewSession({ profile: name }: { profile: string }) {
  const profile = useProfile(name);
  return (
    <>
      <p className="muted">
        <Link href={`/profiles/${encodeURIComponent(name)}`}>{name}</Link> /
      </p>
      <h1>New session</h1>
      <Loaded of={profile}>
        {(p) => (
          <>
            {p.description && <p>{p.description}</p>}
            <Facts
              of={[
                ["Profile", p.name],
                ["Default model", [p.provider, p.model].filter(Boolean).join(" / ")],
              ]}
            />
            <Begin profile={p.name} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Begin({ profile }: { profile: string }) {
  const [draft, setDraft] = useDraft("new " + profile);
  const [model, setModel] = useState("");
  const [waits, setWaits] = useState(true);
  const [, go] = useLocation();
  const commands = useCommands();
  const names = (commands.data?.commands ?? []).map((c) => c.name);
  const begin = useMutation({
    mutationFn: () =>
      data(
        api.POST("/sessions", {
          body: {
            agentId: profile,
            ...said(draft, names),
            ...(model.trim() === "" ? {} : { model: model.trim() }),
            approvals: waits ? "wait" : "deny",
          },
        }),
      ),
    onSuccess: (s) => {
      setDraft(nothing);
      go(`/sessions/${encodeURIComponent(s.sessionId)}`);
    },
  });
  const body = said(draft, names);
  return (
    <form
      className={styles.form}
      onSubmit={(e) => {
        e.preventDefault();
        if (!isEmpty(draft) && !begin.isPending) begin.mutate();
      }}
    >
      {begin.error && <Problem error={begin.error} />}
      <PromptBox
        draft={draft}
        change={setDraft}
        label="Prompt"
        placeholder="What is to be done? / calls a command, @ names a file"
        rows={8}
      />
      {body.command && (
        <p>
          <Badge tone="accent">/{body.command.name}</Badge> <span className="muted">is called</span>
        </p>
      )}
      <Model value={model} change={setModel} />
      <label className={styles.check}>
        <input type="checkbox" checked={waits} onChange={(e) => setWaits(e.target.checked)} />
        Wait for a person where one has to be asked; else such calls are denied
      </label>
      <div>
        <button className="primary" disabled={isEmpty(draft) || begin.isPending}>
          {begin.isPending ? "Beginning…" : "Begin"}
        </button>
      </div>
    </form>
  );
}

// Model takes any reference, as the command line does; the models with a key are proposed.
function Model({ value, change }: { value: string; change: (model: string) => void }) {
  const models = useModels();
  return (
    <label className={styles.model}>
      Model
      <input
        list="models"
        placeholder="the profile's"
        value={value}
        onChange={(e) => change(e.target.value)}
        autoComplete="off"
      />
      <datalist id="models">
        {(models.data ?? [])
          .filter((m) => m.configured)
          .map((m) => (
            <option key={m.provider + "/" + m.id}>{`${m.provider}/${m.id}`}</option>
          ))}
      </datalist>
    </label>
  );
}
