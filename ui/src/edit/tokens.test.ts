import { StringStream } from "@codemirror/language";
import { expect, test } from "vitest";
import { profileText } from "./tokens";

// tokens are the coloured parts of a file.
function tokens(path: string, text: string): string[] {
  const parser = profileText(path);
  const state = parser.startState?.(2);
  if (state === undefined) throw new Error("there is no state");
  return text.split("\n").flatMap((l) => {
    const line = new StringStream(l, 2, 2);
    const all = [];
    while (!line.eol()) {
      line.start = line.pos;
      const kind = parser.token(line, state);
      expect(line.pos, `${l} at ${line.pos}`).toBeGreaterThan(line.start);
      if (kind) all.push(`${kind} ${line.current()}`);
    }
    return all;
  });
}

test.each([
  [
    "a.md",
    '---\nname: a # who\nlimits: {turns: 3}\npermission:\n  "ls *": allow\n---\nnot: a key "or" # more\n---\n',
    ["meta ---", "propertyName name", "comment # who", "propertyName limits", "propertyName turns"].concat([
      "propertyName permission",
      'propertyName "ls *"',
      "meta ---",
      "meta ---",
    ]),
  ],
  ["a.md", "name: a", []],
  ["a.json", '{ "a": "b: c" }', ['propertyName "a"', 'string "b: c"']],
  ["a.toml", 'a = "b" # c', ["propertyName a", 'string "b"', "comment # c"]],
  ["a.yaml", "a: 'b\n- c: http://d", ["propertyName a", "string 'b", "propertyName c"]],
])("%s %s", (path, text, want) => expect(tokens(path, text)).toEqual(want));
