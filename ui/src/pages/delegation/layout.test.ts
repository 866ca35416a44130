import { expect, test } from "vitest";
import { drawn, layout, type Edge } from "./layout";

const edge = (from: string, to: string): Edge => ({ from, to, asks: false, by: to });
const columns = (edges: Edge[]) => {
  const { places } = layout(edges);
  const xs = [...new Set([...places.values()].map((p) => p.x))].sort((a, b) => a - b);
  return Object.fromEntries([...places.values()].map((p) => [p.name, xs.indexOf(p.x)]));
};

test("who is delegated to is right of all who delegate to it", () => {
  expect(columns([edge("a", "b"), edge("b", "c"), edge("a", "c")])).toEqual({ a: 0, b: 1, c: 2 });
});

test("circles end, and all of them have a place", () => {
  expect(Object.keys(columns([edge("a", "b"), edge("b", "a"), edge("c", "c")])).sort()).toEqual(["a", "b", "c"]);
  expect(columns([edge("x", "a"), edge("a", "b"), edge("b", "a")])).toEqual({ x: 0, a: 1, b: 2 });
});

test("no two stand on one place", () => {
  const { places } = layout([edge("a", "b"), edge("a", "c"), edge("d", "c")]);
  const at = [...places.values()].map((p) => `${p.x},${p.y}`);
  expect(new Set(at).size).toBe(at.length);
});

test("nothing has no size", () => {
  expect(layout([]).places.size).toBe(0);
});

test("a graph in which all lead to all is laid out in bounded time", () => {
  const names = Array.from({ length: 60 }, (_, i) => "p" + i);
  const all = names.flatMap((a) => names.flatMap((b) => (a === b ? [] : [edge(a, b)])));
  expect(layout(all).places.size).toBe(60);
});

test("what one rule allows of many is one line, and what names them is one each", () => {
  const many = Array.from({ length: 9 }, (_, i): Edge => ({ from: "a", to: "p" + i, asks: false, by: "*" }));
  expect(drawn([...many, edge("a", "b")]).map((e) => e.to)).toEqual(["any other profile", "b"]);
  expect(drawn(many.slice(0, 3))).toEqual(many.slice(0, 3));
});
