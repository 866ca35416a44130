import type { StringStream, StreamParser } from "@codemirror/language";

// State says where in a file a line is.
export interface State {
  part: "begin" | "keys" | "text";
}

// profileText colours a profile's file: keys, strings and comments, and nothing in the
// text below the keys. That is enough for YAML as profiles have it, and for JSON and TOML.
export function profileText(path: string): StreamParser<State> {
  const markdown = path.endsWith(".md");
  return {
    startState: () => ({ part: markdown ? "begin" : "keys" }),
    token(line, state) {
      if (markdown && line.sol()) {
        const fence = line.match(/^---\s*$/) !== null;
        if (fence && state.part !== "text") state.part = state.part === "begin" ? "keys" : "text";
        else if (state.part === "begin") state.part = "text";
        if (fence) return "meta";
      }
      if (state.part === "keys") return tokenOf(line);
      line.skipToEnd();
      return null;
    },
  };
}

function tokenOf(line: StringStream): string | null {
  if (line.eatSpace() || line.match(/^-\s/)) return null;
  const start = line.sol() || /^[\s{[,-]*$|[{,]\s*$/.test(line.string.slice(0, line.pos));
  if (start && line.match(/^("[^"]*"|'[^']*'|[^\s:="'#{}[\],][^:=#{}[\],]*?)(?=\s*(:(\s|$)|=))/)) return "propertyName";
  if (line.match(/^#.*/)) return "comment";
  if (line.match(/^"(\\.|[^"\\])*"?|^'[^']*'?/)) return "string";
  if (!line.match(/^[^\s"'#{}[\],]+/)) line.next();
  return null;
}
