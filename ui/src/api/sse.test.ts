import { expect, it } from "vitest";
import { parser, type Message } from "./sse";

const text = 'event: a\nid: 1\ndata: {"x":\ndata: 1}\n\n: a comment\n\r\nevent: b\r\ndata:é\r\n\r\ndata: last\n\n';

it("reads events however the text is cut", () => {
  for (let size = 1; size <= text.length; size++) {
    const all: Message[] = [];
    const read = parser((m) => all.push(m));
    for (let i = 0; i < text.length; i += size) read(text.slice(i, i + size));
    expect(all).toEqual([
      { id: "1", type: "a", data: '{"x":\n1}' },
      { id: "1", type: "b", data: "é" },
      { id: "1", type: "message", data: "last" },
    ]);
  }
});
