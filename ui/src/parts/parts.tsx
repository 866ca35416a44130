import type { ReactNode } from "react";
import { Link, useRoute } from "wouter";
import { ApiError, type Schemas } from "../api/client";
import styles from "./parts.module.css";

export type Tone = "plain" | "good" | "warn" | "bad" | "accent";

export function Badge({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return <span className={`${styles.badge} ${tone === "plain" ? "" : styles[tone]}`}>{children}</span>;
}

const tones: Record<string, Tone> = {
  running: "accent",
  waiting: "warn",
  failed: "bad",
  ok: "good",
  error: "bad",
  denied: "bad",
  allow: "good",
  ask: "warn",
  deny: "bad",
  warning: "warn",
  dead: "bad",
  done: "good",
  refused: "bad",
  up: "good",
  down: "bad",
};

// State is a word of the server for how something stands, in its colour.
export function State({ of }: { of: string }) {
  return <Badge tone={tones[of] ?? "plain"}>{of}</Badge>;
}

// Problem says what went wrong, as the server has said it.
export function Problem({ error }: { error: unknown }) {
  const e = error instanceof ApiError ? error : undefined;
  return (
    <div className={`${styles.message} ${styles.error}`} role="alert">
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {e && e.code !== "" && <p className="muted">{e.code}</p>}
      {e && e.diagnostics.length > 0 && <Diagnostics list={e.diagnostics} />}
    </div>
  );
}

// Empty says that there is nothing, and what could be done about it.
export function Empty({ children }: { children: ReactNode }) {
  return <div className={`${styles.message} muted`}>{children}</div>;
}

export function Loading() {
  return (
    <p className="muted" role="status">
      Loading…
    </p>
  );
}

// Loaded shows what was asked for: that it is on its way, that it could not be had, or it.
export function Loaded<T>({
  of,
  children,
}: {
  of: { data: T | undefined; error: unknown };
  children: (data: T) => ReactNode;
}) {
  if (of.data !== undefined) return <>{children(of.data)}</>;
  return of.error ? <Problem error={of.error} /> : <Loading />;
}

// Diagnostics are what was found in files. With edit, each leads to where it can be mended.
export function Diagnostics({ list, edit = false }: { list: Schemas["Diagnostic"][]; edit?: boolean }) {
  return (
    <ul>
      {list.map((d, i) => (
        <li key={i}>
          <State of={d.severity} /> <code>{d.file + (d.line > 0 ? `:${d.line}:${d.column}` : "")}</code> {d.message}{" "}
          <span className="muted">{d.code}</span>{" "}
          {edit && (
            <Link href={`/edit/${encodeURIComponent(d.file)}`} aria-label={`Edit ${d.file}`}>
              Edit
            </Link>
          )}
          {d.hint && <div className="muted">{d.hint}</div>}
        </li>
      ))}
    </ul>
  );
}

export function Tabs({ label, tabs }: { label: string; tabs: { href: string; text: ReactNode }[] }) {
  return (
    <nav className={styles.tabs} aria-label={label}>
      {tabs.map((t) => (
        <Tab key={t.href} {...t} />
      ))}
    </nav>
  );
}

function Tab({ href, text }: { href: string; text: ReactNode }) {
  const [here] = useRoute(href);
  return (
    <Link href={href} aria-current={here ? "page" : undefined}>
      {text}
    </Link>
  );
}

// Wide lets what is wider than the page be scrolled by itself.
export function Wide({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div className={styles.scroll} role="region" aria-label={label} tabIndex={0}>
      {children}
    </div>
  );
}

export function Code({ children, label }: { children: string; label: string }) {
  return (
    <pre className={styles.code} tabIndex={0} role="region" aria-label={label}>
      {children}
    </pre>
  );
}

export function Facts({ of }: { of: [name: string, value: ReactNode][] }) {
  return (
    <dl className={styles.facts}>
      {of
        .filter(([, value]) => value !== undefined && value !== null && value !== "")
        .map(([name, value]) => (
          <div key={name} style={{ display: "contents" }}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
    </dl>
  );
}
