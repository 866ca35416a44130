// groupBy puts what has the same name together, in order.
export function groupBy<T>(list: readonly T[], name: (one: T) => string): Map<string, T[]> {
  const out = new Map<string, T[]>();
  for (const one of list) {
    const there = out.get(name(one));
    if (there) there.push(one);
    else out.set(name(one), [one]);
  }
  return out;
}
