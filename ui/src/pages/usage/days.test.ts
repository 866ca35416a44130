import { expect, test } from "vitest";
import { everyDay } from "./days";

const row = (day: string, loops: number) => ({
  day,
  loops,
  turns: 0,
  errors: 0,
  usage: { input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, cost: 0 },
});

test("days without use are there, in order", () => {
  const got = everyDay([row("2026-03-01", 2), row("2026-02-27", 1)]);
  expect(got.map((r) => [r.day, r.loops])).toEqual([
    ["2026-02-27", 1],
    ["2026-02-28", 0],
    ["2026-03-01", 2],
  ]);
});

test("without use there are no days", () => {
  expect(everyDay([])).toEqual([]);
});
