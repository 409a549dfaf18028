/** Compares two texts line by line. Pure. */

/** A line of both texts, or only of the old (`-`) or the new (`+`) text. */
export interface Line {
  mark: " " | "-" | "+";
  text: string;
}

/**
 * Maximum number of pairs of lines to compare. Above it, the texts are split at lines that are
 * unique in both of them.
 */
const MOST_PAIRS = 4_000_000;

/** Return all lines in order, with the fewest marked lines that can be found quickly. */
export function lineDiff(before: string, after: string): Line[] {
  return between(before.split("\n"), after.split("\n"));
}

function between(old: string[], now: string[]): Line[] {
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start += 1;
  let end = 0;
  const most = Math.min(old.length, now.length) - start;
  while (end < most && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const same = old.slice(old.length - end);
  const middle = changed(old.slice(start, old.length - end), now.slice(start, now.length - end));
  return [...marked(" ", old.slice(0, start)), ...middle, ...marked(" ", same)];
}

const marked = (mark: Line["mark"], lines: readonly string[]): Line[] =>
  lines.map((text) => ({ mark, text }));

function changed(old: string[], now: string[]): Line[] {
  if (old.length === 0) return marked("+", now);
  if (now.length === 0) return marked("-", old);
  if (old.length * now.length <= MOST_PAIRS) return byTable(old, now);
  const anchor = middleAnchor(old, now);
  if (!anchor) return [...marked("-", old), ...marked("+", now)];
  const [at, to] = anchor;
  return [
    ...between(old.slice(0, at), now.slice(0, to)),
    { mark: " ", text: old[at] ?? "" },
    ...between(old.slice(at + 1), now.slice(to + 1)),
  ];
}

/** Find the longest common subsequence, with a table of its lengths from the end. */
function byTable(old: string[], now: string[]): Line[] {
  const width = now.length + 1;
  const lengths = new Uint32Array((old.length + 1) * width);
  const length = (at: number, to: number): number => lengths[at * width + to] ?? 0;
  for (let at = old.length - 1; at >= 0; at -= 1) {
    for (let to = now.length - 1; to >= 0; to -= 1) {
      lengths[at * width + to] =
        old[at] === now[to]
          ? length(at + 1, to + 1) + 1
          : Math.max(length(at + 1, to), length(at, to + 1));
    }
  }
  return alongTable(old, now, length);
}

function alongTable(
  old: string[],
  now: string[],
  length: (at: number, to: number) => number,
): Line[] {
  const lines: Line[] = [];
  let [at, to] = [0, 0];
  while (at < old.length || to < now.length) {
    if (at < old.length && to < now.length && old[at] === now[to]) {
      lines.push({ mark: " ", text: old[at] ?? "" });
      at += 1;
      to += 1;
    } else if (to >= now.length || (at < old.length && length(at + 1, to) >= length(at, to + 1))) {
      lines.push({ mark: "-", text: old[at] ?? "" });
      at += 1;
    } else {
      lines.push({ mark: "+", text: now[to] ?? "" });
      to += 1;
    }
  }
  return lines;
}

/** Return the positions of the line nearest to the middle that is unique in both texts. */
function middleAnchor(old: string[], now: string[]): [number, number] | null {
  const places = onlyPlaces(now);
  const middle = old.length / 2;
  const common = [...onlyPlaces(old)].filter(([text]) => places.has(text));
  common.sort(([, one], [, other]) => Math.abs(one - middle) - Math.abs(other - middle));
  const [first] = common;
  return first ? [first[1], places.get(first[0]) ?? 0] : null;
}

function onlyPlaces(lines: readonly string[]): Map<string, number> {
  const places = new Map<string, number>();
  const doubled = new Set<string>();
  lines.forEach((text, at) => {
    if (places.has(text)) doubled.add(text);
    places.set(text, at);
  });
  for (const text of doubled) places.delete(text);
  return places;
}

/** Replace unchanged lines that are not near a change by their number. */
export function withContext(lines: readonly Line[], around = 3): (Line | number)[] {
  const near = new Uint8Array(lines.length);
  lines.forEach((line, at) => {
    if (line.mark !== " ") near.fill(1, Math.max(0, at - around), at + around + 1);
  });
  const shown: (Line | number)[] = [];
  lines.forEach((line, at) => {
    const last = shown.at(-1);
    if (near[at]) shown.push(line);
    else if (typeof last === "number") shown[shown.length - 1] = last + 1;
    else shown.push(1);
  });
  return shown;
}
