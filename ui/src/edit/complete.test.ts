import { expect, test } from "vitest";
import { complete, type Node } from "./complete";

const schema: Node = {
  properties: {
    mode: { description: "Who starts it.", anyOf: [{ enum: ["all", "primary"] }, { type: "null" }] },
    model: { $ref: "#/$defs/text" },
    hidden: { $ref: "#/$defs/flag" },
    permission: {
      anyOf: [
        { enum: ["allow", "deny"] },
        { additionalProperties: { anyOf: [{ enum: ["ask", "deny"] }, { additionalProperties: { enum: ["once"] } }] } },
      ],
    },
    limits: { properties: { turns: { type: "integer" }, cost: { type: "number" } } },
    kinds: { items: { enum: ["small", "large"] } },
    loop: { $ref: "#/properties/loop" },
  },
  $defs: { text: { type: "string" }, flag: { anyOf: [{ type: "boolean" }, { enum: ["yes", "no"] }] } },
} as Node;

// at completes where the bar stands.
function at(text: string): string[] {
  const found = complete(schema, text.replace("|", ""), text.indexOf("|"));
  return found === null ? [] : [text.slice(found.from, text.indexOf("|")), ...found.choices.map((c) => c.label)];
}

test.each([
  ["keys", "---\nmo|", ["mo", "mode", "model", "hidden", "permission", "limits", "kinds", "loop"]],
  ["keys of a key", "---\nname: a\nlimits:\n  turns: 3\n  |", ["", "turns", "cost"]],
  ["a value", "---\nmode: pr|\n---\n", ["pr", "all", "primary"]],
  ["a flag", "---\nhidden: |", ["", "true", "false", "yes", "no"]],
  ["a value of a name", "---\npermission:\n  bash: |", ["", "ask", "deny"]],
  ["a value below a name", '---\npermission:\n  bash:\n    "ls *": allow\n    cat: o|', ["o", "once"]],
  ["a list", "---\nkinds: [small, l|", ["l", "small", "large"]],
  ["free text", "---\nmodel: a|", []],
  ["a key that refers to itself", "---\nloop: |", []],
  ["below the keys", "---\nmode: all\n---\nmo|", []],
  ["without keys", "mo|", []],
])("%s", (_, text, want) => expect(at(text)).toEqual(want));

test("a key comes with what it is for, and with its colon", () => {
  expect(complete(schema, "---\n", 4)?.choices[0]).toEqual({ label: "mode", apply: "mode: ", info: "Who starts it." });
  expect(complete(schema, "---\n", 4)?.choices[4]?.apply).toBe("limits:");
});
