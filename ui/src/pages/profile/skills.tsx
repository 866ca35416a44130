import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, data, type Schemas } from "../../api/client";
import { useSkills } from "../../api/queries";
import { Markdown } from "../../parts/markdown";
import { Badge, Code, Diagnostics, Empty, Facts, Loaded, Problem } from "../../parts/parts";
import styles from "./skills.module.css";

type Skill = Schemas["Skill"];

// Skills are those that the profile may use. Their texts are read when one is opened.
export function Skills({ profile: { name } }: { profile: Schemas["Profile"] }) {
  const skills = useSkills(name);
  return (
    <>
      <h2>Skills that it may use</h2>
      <Loaded of={skills}>
        {(list) =>
          list.length === 0 ? (
            <Empty>
              None. A profile uses skills where it may call the tool <code>skill</code>; they are folders with a{" "}
              <code>SKILL.md</code> in <code>skills/</code>.
            </Empty>
          ) : (
            list.map((s) => <One key={s.name} skill={s} />)
          )
        }
      </Loaded>
    </>
  );
}

function One({ skill }: { skill: Skill }) {
  const [open, setOpen] = useState(false);
  return (
    <details className={styles.skill} onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <strong>{skill.name}</strong> <Badge>{skill.source}</Badge> {skill.only_user && <Badge>people only</Badge>}{" "}
        {skill.only_model && <Badge>models only</Badge>} <span className="muted">{skill.description}</span>
      </summary>
      {open && <Whole name={skill.name} />}
    </details>
  );
}

function Whole({ name }: { name: string }) {
  const [edited, setEdited] = useState(false);
  const skill = useQuery({
    queryKey: ["skills", name],
    queryFn: () => data(api.GET("/skills/{name}", { params: { path: { name } } })),
  });
  return (
    <Loaded of={skill}>
      {(s) =>
        edited ? (
          <Editor skill={s} done={() => setEdited(false)} />
        ) : (
          <>
            {s.diagnostics && s.diagnostics.length > 0 && <Diagnostics list={s.diagnostics} />}
            <Facts
              of={[
                ["File", <code key="file">{s.file}</code>],
                [
                  "Allows",
                  s.allowed_tools && s.allowed_tools.join(", ") + (s.inert ? " (not trusted: no effect)" : ""),
                ],
                ["Arguments", s.argument_hint],
                ["License", s.license],
                ["Other files", s.files?.join(", ")],
              ]}
            />
            <Markdown text={s.body ?? ""} />
            {s.source === "workspace" && s.text !== undefined ? (
              <button onClick={() => setEdited(true)}>Edit</button>
            ) : (
              <p className="muted">Only the skills of the workspace are edited here.</p>
            )}
          </>
        )
      }
    </Loaded>
  );
}

// Editor changes the whole file, where it is still the one that was read: the revision
// stays that of the text which the editor began with.
function Editor({ skill, done }: { skill: Skill; done: () => void }) {
  const [began] = useState(skill);
  const [text, setText] = useState(began.text ?? "");
  const queries = useQueryClient();
  const save = useMutation({
    mutationFn: () =>
      data(
        api.PUT("/skills/{name}", {
          params: { path: { name: began.name }, header: { "If-Match": `"${began.revision ?? ""}"` } },
          body: { text },
        }),
      ),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: ["skills"] });
      done();
    },
  });
  return (
    <form
      className={styles.editor}
      onSubmit={(e) => {
        e.preventDefault();
        save.mutate();
      }}
    >
      {save.error && <Problem error={save.error} />}
      {skill.revision !== began.revision && (
        <>
          <p role="alert">The file has changed meanwhile. It says now:</p>
          <Code label="The file as it is now">{skill.text ?? ""}</Code>
        </>
      )}
      <label>
        <code>{began.file}</code>
        <textarea rows={14} spellCheck={false} value={text} onChange={(e) => setText(e.target.value)} required />
      </label>
      <div className={styles.buttons}>
        <button className="primary" disabled={save.isPending || text === began.text}>
          Save
        </button>
        <button type="button" onClick={done}>
          Leave it
        </button>
      </div>
    </form>
  );
}
