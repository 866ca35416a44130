import { expect, test } from "vitest";
import { completed, partAt, said } from "./draft";

test("a text is a message", () => {
  expect(said({ text: " Review this. ", files: [] }, ["review"])).toEqual({ message: "Review this." });
});

test("a text that begins with a command's name calls it", () => {
  expect(said({ text: "/review src/a.go\nand b", files: [] }, ["review"])).toEqual({
    command: { name: "review", arguments: "src/a.go\nand b" },
  });
  expect(said({ text: "/review", files: [] }, ["review"])).toEqual({ command: { name: "review", arguments: "" } });
});

test("a name that is no command's is said as it stands", () => {
  expect(said({ text: "/etc/hosts is odd", files: [] }, ["review"])).toEqual({ message: "/etc/hosts is odd" });
});

test("files go with it, and nothing in them ends their fence", () => {
  const got = said(
    {
      text: "Look",
      files: [
        { kind: "text", name: "a.md", text: "x\n````\ny\n" },
        { kind: "image", name: "p.png", mediaType: "image/png", data: "AAAA" },
      ],
    },
    [],
  );
  expect(got).toEqual({
    message: "Look\n\na.md:\n`````\nx\n````\ny\n`````",
    attachments: [{ mediaType: "image/png", data: "AAAA" }],
  });
});

test.each([
  ["/re", 3, { kind: "command", from: 0, to: 3, part: "re" }],
  ["see @src/a", 10, { kind: "file", from: 4, to: 10, part: "src/a" }],
  ["@", 1, { kind: "file", from: 0, to: 1, part: "" }],
  ["see /re", 7, undefined],
  ["a@b", 3, undefined],
  ["@a b", 4, undefined],
])("what is completed in %s", (text, at, want) => {
  expect(partAt(text, at)).toEqual(want);
});

test("a word takes the place of its part, with one blank behind it", () => {
  const p = { kind: "file", from: 4, to: 8, part: "src" } as const;
  expect(completed("see @src", p, "src/a.go")).toEqual({ text: "see @src/a.go ", at: 14 });
  expect(completed("see @src now", p, "src/a.go")).toEqual({ text: "see @src/a.go now", at: 14 });
  expect(completed("see @src", p, "my src/a.go")).toEqual({ text: 'see @"my src/a.go" ', at: 19 });
});
