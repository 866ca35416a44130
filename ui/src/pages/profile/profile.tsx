import type { ComponentType } from "react";
import { Link } from "wouter";
import { useProfile } from "../../api/queries";
import { Badge, Facts, Loaded, Tabs } from "../../parts/parts";
import type { Schemas } from "../../api/client";
import { EditTab } from "../edit/edit";
import { Capabilities } from "./capabilities";
import { Connections } from "./connections";
import { History } from "./history";
import { Introspection } from "./introspection";
import { Permissions } from "./permissions";
import { PromptTab } from "./prompt";
import { SessionsTab } from "./sessions";
import { Skills } from "./skills";
import { Spec } from "./spec";
import { StateTab } from "./state";

type Profile = Schemas["Profile"];

// Tabs are those of a profile, in order, by the word in the address.
const tabs: Record<string, [title: string, tab: ComponentType<{ profile: Profile }>]> = {
  spec: ["Spec", Spec],
  prompt: ["Prompt", PromptTab],
  sessions: ["Sessions", SessionsTab],
  state: ["State", StateTab],
  capabilities: ["Capabilities", Capabilities],
  skills: ["Skills", Skills],
  connections: ["MCP connections", Connections],
  permissions: ["Permissions", Permissions],
  introspection: ["Introspection", Introspection],
  history: ["History", History],
  edit: ["Edit", EditTab],
};

export function ProfilePage({ name, tab }: { name: string; tab: string }) {
  const profile = useProfile(name);
  return (
    <>
      <p className="muted">
        <Link href="/profiles">Profiles</Link> /
      </p>
      <Loaded of={profile}>{(p) => <Shown profile={p} tab={tab} />}</Loaded>
    </>
  );
}

function Shown({ profile: p, tab }: { profile: Profile; tab: string }) {
  const here = `/profiles/${encodeURIComponent(p.name)}`;
  const [, Tab] = tabs[tab] ?? ["Spec", Spec];
  return (
    <>
      <header>
        <h1>
          {p.name} <Badge>{p.dialect}</Badge> {p.mode !== "all" && <Badge>{p.mode}</Badge>}
        </h1>
        {p.title && <p>{p.title}</p>}
        {p.description && <p>{p.description}</p>}
        <Facts
          of={[
            ["Default model", [p.provider, p.model].filter(Boolean).join(" / ")],
            ["Thinking", p.thinking],
            ["Temperature", p.temperature],
            ["Limits", limits(p.limits)],
            ["Extends", p.extends?.join(", ")],
            ["Workspace", p.workspace],
            ["File", <code key="file">{p.source.file}</code>],
            ["Revision", <code key="revision">{p.revision.slice(0, 12)}</code>],
          ]}
        />
        <p>
          <Link className="button primary" href={`/new/${encodeURIComponent(p.name)}`}>
            New session
          </Link>
        </p>
      </header>
      <Tabs
        label={`Parts of ${p.name}`}
        tabs={Object.entries(tabs).map(([word, [text]]) => ({
          href: word === "spec" ? here : `${here}/${word}`,
          text,
        }))}
      />
      <Tab profile={p} />
    </>
  );
}

function limits(of: unknown): string {
  if (typeof of !== "object" || of === null) return "";
  return Object.entries(of)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(", ");
}
