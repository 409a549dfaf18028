/**
 * Assigns the vertices of an acyclic graph to layers, and orders each layer. Pure.
 *
 * The method is the layered drawing of Sugiyama, Tagawa and Toda (1981). Each vertex comes after
 * all its predecessors. Repeated sweeps move each vertex near the middle of its neighbours, so that
 * few edges cross. Edges that close a cycle are left out.
 */

export type Pair = readonly [source: number, target: number];

/** Vertices of each layer, in order; vertices from `count` on are bends of long edges. */
export interface Layers {
  count: number;
  rows: number[][];
  /** The neighbours of each vertex in the previous layer, and in the next layer. */
  before: number[][];
  after: number[][];
}

const SWEEPS = 6;
/**
 * Maximum number of bends of an edge. Each bend is a vertex in a layer that the edge crosses, so
 * longer edges have no bends.
 */
const LONGEST_BENT = 24;

/** Return the layers of `count` vertices. */
export function layered(count: number, pairs: readonly Pair[]): Layers {
  const [depth, kept] = depths(count, pairs);
  const layers: Layers = { count, rows: [], before: lists(count), after: lists(count) };
  depth.forEach((layer, vertex) => {
    put(layers.rows, layer, vertex);
  });
  for (const pair of kept) connect(layers, pair, depth);
  sweep(layers);
  return layers;
}

const lists = (count: number): number[][] => Array.from({ length: count }, () => []);

function put(rows: number[][], layer: number, vertex: number): void {
  while (rows.length <= layer) rows.push([]);
  rows[layer]?.push(vertex);
}

/** Return the length of the longest path to each vertex, and the edges that lead forwards. */
function depths(count: number, pairs: readonly Pair[]): [number[], Pair[]] {
  const after = lists(count);
  const open = new Array<number>(count).fill(0);
  for (const [source, target] of pairs) {
    after[source]?.push(target);
    open[target] = (open[target] ?? 0) + 1;
  }
  const depth = new Array<number>(count).fill(0);
  const order = new Array<number>(count).fill(count);
  const ready = [...depth.keys()].filter((vertex) => open[vertex] === 0);
  for (let at = 0; at < ready.length; at += 1) {
    const vertex = ready[at] as number;
    order[vertex] = at;
    for (const target of after[vertex] ?? []) {
      depth[target] = Math.max(depth[target] as number, (depth[vertex] as number) + 1);
      open[target] = (open[target] as number) - 1;
      if (open[target] === 0) ready.push(target);
    }
  }
  const forward = ([source, target]: Pair): boolean =>
    (order[source] as number) < (order[target] as number) &&
    (depth[source] as number) < (depth[target] as number);
  return [depth, pairs.filter(forward)];
}

/** Connect two vertices, with a bend in each layer between them. */
function connect(layers: Layers, [source, target]: Pair, depth: readonly number[]): void {
  const [first, last] = [(depth[source] as number) + 1, depth[target] as number];
  let left = source;
  if (last - first <= LONGEST_BENT) {
    for (let layer = first; layer < last; layer += 1) {
      const bend = layers.before.length;
      put(layers.rows, layer, bend);
      layers.before.push([]);
      layers.after.push([]);
      join(layers, left, bend);
      left = bend;
    }
  }
  join(layers, left, target);
}

function join(layers: Layers, left: number, right: number): void {
  layers.after[left]?.push(right);
  layers.before[right]?.push(left);
}

/** Order each layer by the middle of its neighbours, alternately forwards and backwards. */
function sweep(layers: Layers): void {
  const place = new Array<number>(layers.before.length).fill(0);
  for (const row of layers.rows) note(row, place);
  for (let turn = 0; turn < SWEEPS; turn += 1) {
    const forwards = turn % 2 === 0;
    const neighbours = forwards ? layers.before : layers.after;
    for (const row of forwards ? layers.rows : layers.rows.toReversed()) {
      const middles = new Map(row.map((one) => [one, middle(neighbours[one] ?? [], place, one)]));
      row.sort((one, other) => (middles.get(one) ?? 0) - (middles.get(other) ?? 0));
      note(row, place);
    }
  }
}

/**
 * Store each vertex's relative position in its layer, from 0 to 1, because layers differ in size.
 */
function note(row: readonly number[], place: number[]): void {
  row.forEach((vertex, at) => {
    place[vertex] = (at + 0.5) / row.length;
  });
}

function middle(neighbours: readonly number[], place: readonly number[], own: number): number {
  if (neighbours.length === 0) return place[own] as number;
  return neighbours.reduce((sum, one) => sum + (place[one] as number), 0) / neighbours.length;
}
