/** Orders a body's tasks by index; a pair [a, b] means that b follows a. Pure. */

export type Pair = readonly [number, number];

/**
 * Return the indexes in an order that satisfies every pair, without those on a cycle or after one.
 */
export function ordered(count: number, pairs: readonly Pair[]): number[] {
  const following = followers(count, pairs);
  const waiting = new Array<number>(count).fill(0);
  for (const [, target] of pairs) waiting[target] = (waiting[target] ?? 0) + 1;
  const order = Array.from({ length: count }, (_, index) => index).filter(
    (index) => waiting[index] === 0,
  );
  for (let next = 0; next < order.length; next += 1) {
    for (const target of following[order[next] as number] ?? []) {
      const left = (waiting[target] ?? 0) - 1;
      waiting[target] = left;
      if (left === 0) order.push(target);
    }
  }
  return order;
}

/** Return a function that says whether `other` precedes `index`, for the indexes in `order`. */
export function ancestry(
  count: number,
  pairs: readonly Pair[],
  order: readonly number[],
): (index: number, other: number) => boolean {
  const words = Math.ceil(count / 32);
  const bits = new Uint32Array(count * words);
  const preceding = followers(count, backwards(pairs));
  for (const index of order) {
    for (const source of preceding[index] ?? []) {
      for (let word = 0; word < words; word += 1) {
        bits[index * words + word] =
          (bits[index * words + word] ?? 0) | (bits[source * words + word] ?? 0);
      }
      const at = index * words + (source >> 5);
      bits[at] = (bits[at] ?? 0) | (1 << (source & 31));
    }
  }
  return (index, other) => (((bits[index * words + (other >> 5)] ?? 0) >>> (other & 31)) & 1) === 1;
}

/** Return a shortest cycle for each strongly connected group of tasks, from its lowest index. */
export function cycles(
  count: number,
  pairs: readonly Pair[],
  stuck: ReadonlySet<number>,
): number[][] {
  const following = followers(count, pairs);
  const preceding = followers(count, backwards(pairs));
  const found: number[][] = [];
  const done = new Set<number>();
  for (const start of [...stuck].sort((a, b) => a - b)) {
    if (done.has(start)) continue;
    const cycle = cycleFrom(start, following, stuck);
    if (cycle.length === 0) continue;
    found.push(cycle);
    const behind = reached(start, preceding, stuck);
    for (const index of reached(start, following, stuck)) if (behind.has(index)) done.add(index);
  }
  return found;
}

function reached(start: number, following: number[][], within: ReadonlySet<number>): Set<number> {
  const seen = new Set<number>([start]);
  for (const index of seen) {
    for (const next of following[index] ?? []) if (within.has(next)) seen.add(next);
  }
  return seen;
}

function cycleFrom(start: number, following: number[][], within: ReadonlySet<number>): number[] {
  const from = new Map<number, number>();
  const queue = [start];
  for (const index of queue) {
    for (const next of following[index] ?? []) {
      if (next === start) return wayTo(index, start, from);
      if (!within.has(next) || from.has(next)) continue;
      from.set(next, index);
      queue.push(next);
    }
  }
  return [];
}

function wayTo(end: number, start: number, from: ReadonlyMap<number, number>): number[] {
  const way = [end];
  while (way[0] !== start) way.unshift(from.get(way[0] as number) as number);
  return way;
}

export const backwards = (pairs: readonly Pair[]): Pair[] =>
  pairs.map(([source, target]) => [target, source]);

function followers(count: number, pairs: readonly Pair[]): number[][] {
  const lists = Array.from({ length: count }, (): number[] => []);
  for (const [source, target] of pairs) lists[source]?.push(target);
  return lists;
}
