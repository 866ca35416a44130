// What could be written at a place of a profile's frontmatter, by the schema of its keys.

// Node is what is used of a JSON Schema.
export interface Node {
  $ref?: string;
  anyOf?: Node[];
  properties?: Record<string, Node>;
  additionalProperties?: Node | boolean;
  items?: Node;
  enum?: unknown[];
  type?: string | string[];
  description?: string;
}

export interface Choice {
  label: string;
  info?: string;
  apply?: string; // what is written, where it is more than the label
}

export interface Choices {
  from: number; // where what is completed begins, in the text
  choices: Choice[];
}

// complete says what could stand at a position of the text; null: nothing that is known.
export function complete(schema: Node, text: string, at: number): Choices | null {
  const lines = text.slice(0, at).split("\n");
  const line = lines.pop() ?? "";
  if (lines[0]?.trimEnd() !== "---" || lines.slice(1).some((l) => l.trimEnd() === "---")) return null;
  const key = /^( *)([\w+-]*)$/.exec(line);
  if (key) {
    const [, indent = "", begun = ""] = key;
    return choicesOf(at - begun.length, keysOf(schema, reach(schema, above(lines, indent.length))));
  }
  const value = /^( *)([\w+*./-]+): +(?:.*[[,{] *)?([\w./-]*)$/.exec(line);
  if (!value) return null;
  const [, indent = "", name = "", begun = ""] = value;
  return choicesOf(at - begun.length, valuesOf(schema, reach(schema, [...above(lines, indent.length), name])));
}

const choicesOf = (from: number, choices: Choice[]): Choices | null => (choices.length > 0 ? { from, choices } : null);

// above are the keys that a line with an indentation is below of, the outermost first.
function above(lines: string[], indent: number): string[] {
  const keys: string[] = [];
  for (const line of lines.toReversed()) {
    const key = /^( *)([^\s:#-][^:]*):/.exec(line);
    const deep = key?.[1]?.length ?? indent;
    if (key && deep < indent) {
      keys.unshift(key[2]?.replace(/^["']|["']$/g, "") ?? "");
      indent = deep;
    }
  }
  return keys;
}

// variants are all that a node may be, without references.
function variants(schema: Node, node: Node, deep = 0): Node[] {
  if (deep > 8) return []; // it refers to itself
  if (node.$ref !== undefined) {
    let to: unknown = schema;
    for (const step of node.$ref.split("/").slice(1)) to = (to as Record<string, unknown> | undefined)?.[step];
    return to === undefined ? [] : variants(schema, to as Node, deep + 1);
  }
  return [node, ...(node.anyOf ?? []).flatMap((n) => variants(schema, n, deep + 1))];
}

// reach are the nodes below some keys.
function reach(schema: Node, keys: string[]): Node[] {
  let here = variants(schema, schema);
  for (const key of keys) {
    here = here.flatMap((n) => {
      const below = Object.hasOwn(n.properties ?? {}, key) ? n.properties?.[key] : n.additionalProperties;
      return typeof below === "object" ? variants(schema, below) : [];
    });
  }
  return here;
}

function keysOf(schema: Node, nodes: Node[]): Choice[] {
  const all = new Map<string, Choice>();
  for (const node of nodes) {
    for (const [label, below] of Object.entries(node.properties ?? {})) {
      const nested = variants(schema, below).every((n) => n.type !== "string" && !n.enum);
      all.set(label, { label, apply: label + (nested ? ":" : ": "), ...about(below) });
    }
  }
  return [...all.values()];
}

const about = (node: Node) => (node.description === undefined ? {} : { info: node.description });

function valuesOf(schema: Node, nodes: Node[]): Choice[] {
  const labels = new Set<string>();
  for (const node of nodes.flatMap((n) => (n.items ? [n, ...variants(schema, n.items)] : [n]))) {
    for (const value of node.enum ?? []) labels.add(String(value));
    if (node.type === "boolean") ["true", "false"].forEach((b) => labels.add(b));
  }
  return [...labels].map((label) => ({ label }));
}
