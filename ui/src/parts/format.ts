// How numbers and times are written.

const whole = new Intl.NumberFormat("en");

export const count = (n: number): string => whole.format(n);

export const cost = (usd: number): string =>
  usd === 0 ? "$0" : usd < 0.01 ? "$" + usd.toPrecision(2) : "$" + usd.toFixed(2);

export function took(ms: number): string {
  if (ms < 1) return "<1 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

const near = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const steps: [unit: Intl.RelativeTimeFormatUnit, seconds: number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

// ago is how long ago a time was, or its date where that was more than a month ago.
export function ago(time: string | number, now = Date.now()): string {
  const seconds = (new Date(time).getTime() - now) / 1000;
  if (Math.abs(seconds) > 30 * 86_400) return new Date(time).toISOString().slice(0, 10);
  for (const [unit, size] of steps) if (Math.abs(seconds) >= size) return near.format(Math.round(seconds / size), unit);
  return "just now";
}
