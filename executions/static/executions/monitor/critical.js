// The critical path: the chain of runs that decided when the execution ended, or will end.
//
// From the run that ended last, back to the last of those it had to wait for, and so on (Kelley and
// Walker, 1959, on what happened rather than on estimates). Of a container, what is inside decides.
import { plainPath } from "./store.js";

/** The ids of the runs on the critical path; `graph` is `indexed`, a live run ends now. */
export function criticalPath(graph, runs, now) {
  const known = new Known(graph, runs.filter((run) => !run.superseded && run.state !== "SKIPPED"), now);
  const path = new Set();
  follow(known, known.last(""), path);
  return path;
}

class Known {
  constructor(graph, runs, now) {
    this.graph = graph;
    this.now = now;
    this.byPath = group(runs, (run) => run.stepPath);
    this.byPlace = group(runs, (run) => placeOf(run.stepPath));
    // What ran in any turn of a container, by how the paths begin ("a[1].b["), by when it ended.
    const inside = runs.filter((run) => placeOf(run.stepPath)).sort((a, b) => this.end(a) - this.end(b));
    this.byStem = group(inside, (run) => stemOf(placeOf(run.stepPath)));
    this.sources = group(graph.edges, (edge) => edge.to);
  }
  end(run) {
    return run.finishedAt ?? this.now;
  }
  // Of those that end at once, such as now, the one that began last is where it has come to.
  latest(runs) {
    const later = (run, best) => this.end(run) - this.end(best) || run.queuedAt - best.queuedAt;
    return runs.reduce((best, run) => (!best || later(run, best) > 0 ? run : best), null);
  }
  last(place) {
    return this.latest(this.byPlace.get(place) ?? []);
  }
  // The last that ended by a time; looked for by halves, since a map may have thousands of items.
  inside(stem, until = Infinity) {
    const runs = this.byStem.get(stem) ?? [];
    let [low, high] = [0, runs.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.end(runs[middle]) <= until) low = middle + 1;
      else high = middle;
    }
    return runs[low - 1] ?? null;
  }
}

function group(things, key) {
  const made = new Map();
  for (const thing of things) {
    const name = key(thing);
    if (!made.has(name)) made.set(name, []);
    made.get(name).push(thing);
  }
  return made;
}

function placeOf(path) {
  const cut = path.lastIndexOf("].");
  return cut < 0 ? "" : path.slice(0, cut + 2);
}
const stemOf = (place) => place.slice(0, place.lastIndexOf("[") + 1);

function follow(known, from, path) {
  for (let run = from; run && !path.has(run.id); run = before(known, run)) {
    path.add(run.id);
    // Into the body of a container, whose last turn decided when it ended.
    const inner = known.inside(`${run.stepPath.slice(0, run.stepPath.lastIndexOf("."))}[`);
    if (inner && !path.has(inner.id)) follow(known, inner, path);
  }
}

function before(known, run) {
  const earlier = (known.byPath.get(run.stepPath) ?? []).filter((other) => other !== run && other.queuedAt < run.queuedAt);
  if (earlier.length) return known.latest(earlier);
  const place = placeOf(run.stepPath);
  const node = known.graph.byPath.get(known.graph.ofStep.get(run.plain));
  if (!node) return null;
  const position = node.steps.findIndex((step) => step.path === run.plain);
  if (position > 0) return known.latest(stepsIn(known, place, [node.steps[position - 1].path]));
  const sources = (known.sources.get(node.path) ?? []).flatMap((edge) => known.graph.byPath.get(edge.from)?.steps.map((step) => step.path) ?? []);
  if (sources.length) return known.latest(stepsIn(known, place, sources));
  // The first step of a turn: a turn before it made room, or it began with its container.
  return place ? known.inside(stemOf(place), run.queuedAt) : null;
}

function stepsIn(known, place, plain) {
  const depth = plainPath(place);
  return plain.flatMap((path) => known.byPath.get(place + path.slice(depth.length)) ?? []);
}
