import type { Schemas } from "../api/client";

// What somebody is about to say: a text, and files that go with it.

export interface Image {
  kind: "image";
  name: string;
  mediaType: Schemas["Attachment"]["mediaType"];
  data: string; // in base64
}

export interface TextFile {
  kind: "text";
  name: string;
  text: string;
}

export type File = Image | TextFile;

export interface Draft {
  text: string;
  files: File[];
}

export const nothing: Draft = { text: "", files: [] };

export const isEmpty = (d: Draft): boolean => d.text.trim() === "" && d.files.length === 0;

type Said = Pick<Schemas["AskBody"], "message" | "command" | "attachments">;

// said is what the server is told of a draft. A text that begins with the name of a command
// calls it; the texts of files stand below what was written, in fences that nothing in
// them can end.
export function said(d: Draft, commands: readonly string[]): Said {
  const images = d.files.filter((f) => f.kind === "image").map(({ mediaType, data }) => ({ mediaType, data }));
  const texts = d.files.filter((f) => f.kind === "text").map(fenced);
  const attachments = images.length === 0 ? {} : { attachments: images };
  const called = /^\/(\S+)\s*([\s\S]*)$/.exec(d.text.trim());
  const name = called?.[1] ?? "";
  if (commands.includes(name)) {
    return { command: { name, arguments: [called?.[2] ?? "", ...texts].join("\n\n").trim() }, ...attachments };
  }
  return { message: [d.text.trim(), ...texts].filter((t) => t !== "").join("\n\n"), ...attachments };
}

function fenced(f: TextFile): string {
  const longest = (f.text.match(/`{3,}/g) ?? []).reduce((n, run) => Math.max(n, run.length), 2);
  const fence = "`".repeat(longest + 1);
  return `${f.name}:\n${fence}\n${f.text.replace(/\n$/, "")}\n${fence}`;
}

export interface Part {
  kind: "command" | "file";
  from: number; // where it begins, its sign included
  to: number;
  part: string; // without the sign
}

// partAt is what is being written at a place of a text that could be completed: a command
// at its beginning, or a file behind an @ that begins a word.
export function partAt(text: string, at: number): Part | undefined {
  const before = text.slice(0, at);
  const word = /(?:^|\s)([/@])(\S*)$/.exec(before);
  if (!word) return undefined;
  const [, sign = "", part = ""] = word;
  const from = at - part.length - 1;
  if (sign === "@") return { kind: "file", from, to: at, part };
  return before.slice(0, from).trim() === "" ? { kind: "command", from, to: at, part } : undefined;
}

// completed puts a word in the place of a part, with a blank behind it. A path in which a
// name would end stands in quotes.
export function completed(text: string, p: Part, word: string): { text: string; at: number } {
  const put = p.kind === "command" ? "/" + word : /[\s<>|]/.test(word) ? `@"${word}"` : "@" + word;
  const after = text.slice(p.to);
  const gap = /^\s/.test(after) ? "" : " ";
  return { text: text.slice(0, p.from) + put + gap + after, at: p.from + put.length + 1 };
}
