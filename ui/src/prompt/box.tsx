import { useId, useRef, useState, type ClipboardEvent, type KeyboardEvent } from "react";
import { Badge } from "../parts/parts";
import styles from "./box.module.css";
import { completed, partAt, type Draft, type Part } from "./draft";
import { readFile } from "./files";
import { useSuggestions } from "./suggest";

interface Props {
  draft: Draft;
  change: (d: Draft) => void;
  label: string;
  placeholder: string;
  rows?: number;
  textOnly?: boolean; // nothing can be attached, and no command be called
}

// PromptBox is where somebody writes what is to be said: with files, and with the names of
// commands and of the workspace's files completed. Ctrl+Enter sends the form it stands in.
export function PromptBox({ draft, change, label, placeholder, rows = 4, textOnly = false }: Props) {
  const id = useId();
  const box = useRef<HTMLTextAreaElement>(null);
  const [part, setPart] = useState<Part>();
  const [at, setAt] = useState(0);
  const [wrong, setWrong] = useState("");
  const found = useSuggestions(textOnly && part?.kind === "command" ? undefined : part);
  const chosen = found[Math.min(at, found.length - 1)];

  const look = (el: HTMLTextAreaElement) => {
    const next = el.selectionStart === el.selectionEnd ? partAt(el.value, el.selectionStart) : undefined;
    if (next?.from !== part?.from || next?.part !== part?.part) setAt(0);
    setPart(next);
  };
  const take = (word: string) => {
    if (!part) return;
    const next = completed(draft.text, part, word);
    change({ ...draft, text: next.text });
    setPart(undefined);
    requestAnimationFrame(() => {
      box.current?.focus();
      box.current?.setSelectionRange(next.at, next.at);
    });
  };
  const attach = async (files: Iterable<globalThis.File>) => {
    const read = await Promise.allSettled([...files].map(readFile));
    const good = read.flatMap((r) => (r.status === "fulfilled" ? [r.value] : []));
    const bad = read.flatMap((r) => (r.status === "rejected" ? [(r.reason as Error).message] : []));
    setWrong(bad.join(" "));
    if (good.length > 0) change({ ...draft, files: [...draft.files, ...good] });
  };
  const keys = (e: KeyboardEvent<HTMLTextAreaElement>) => {
    if (e.key === "Enter" && (e.ctrlKey || e.metaKey)) {
      e.preventDefault();
      e.currentTarget.form?.requestSubmit();
      return;
    }
    if (chosen === undefined || e.nativeEvent.isComposing) return;
    switch (e.key) {
      case "ArrowDown":
        setAt((at + 1) % found.length);
        break;
      case "ArrowUp":
        setAt((at + found.length - 1) % found.length);
        break;
      case "Enter":
      case "Tab":
        take(chosen.word);
        break;
      case "Escape":
        setPart(undefined);
        break;
      default:
        return;
    }
    e.preventDefault();
  };
  const paste = (e: ClipboardEvent) => {
    if (textOnly || e.clipboardData.files.length === 0) return;
    e.preventDefault();
    void attach(e.clipboardData.files);
  };

  return (
    <div
      className={styles.box}
      onDragOver={(e) => !textOnly && e.preventDefault()}
      onDrop={(e) => {
        if (textOnly) return;
        e.preventDefault();
        void attach(e.dataTransfer.files);
      }}
    >
      <label htmlFor={id} className="hidden">
        {label}
      </label>
      <textarea
        id={id}
        ref={box}
        rows={rows}
        value={draft.text}
        placeholder={placeholder}
        aria-autocomplete="list"
        aria-controls={found.length > 0 ? id + "-list" : undefined}
        aria-activedescendant={chosen ? `${id}-${found.indexOf(chosen)}` : undefined}
        onChange={(e) => {
          change({ ...draft, text: e.target.value });
          look(e.target);
        }}
        onSelect={(e) => look(e.currentTarget)}
        onBlur={() => setPart(undefined)}
        onKeyDown={keys}
        onPaste={paste}
      />
      {found.length > 0 && (
        <ul id={id + "-list"} role="listbox" aria-label="Suggestions" className={styles.list}>
          {found.map((s, i) => (
            <li
              key={s.word}
              id={`${id}-${i}`}
              role="option"
              aria-selected={s === chosen}
              // The box keeps the focus: what is pressed here would take it first.
              onMouseDown={(e) => {
                e.preventDefault();
                take(s.word);
              }}
            >
              <code>{(part?.kind === "file" ? "@" : "/") + s.word}</code> <span className="muted">{s.about}</span>
            </li>
          ))}
        </ul>
      )}
      <span role="status" className="hidden">
        {found.length > 0 && `${found.length} suggestions`}
      </span>
      {wrong !== "" && (
        <p role="alert" className={styles.wrong}>
          {wrong}
        </p>
      )}
      {!textOnly && (
        <div className={styles.files}>
          <label className={styles.choose}>
            Attach files
            <input
              type="file"
              multiple
              onChange={(e) => {
                void attach(e.target.files ?? []);
                e.target.value = "";
              }}
            />
          </label>
          {draft.files.map((f, i) => (
            <Badge key={i}>
              {f.name}{" "}
              <button
                type="button"
                className="plain"
                aria-label={`Leave out ${f.name}`}
                onClick={() => change({ ...draft, files: draft.files.filter((_, j) => j !== i) })}
              >
                ×
              </button>
            </Badge>
          ))}
        </div>
      )}
    </div>
  );
}
