import { describe, expect, it } from "vitest";
import { bodiesFor, containersOf, moved } from "../src/document/moving";
import { emptyDocument } from "../src/document/reading";
import type { Definition } from "../src/document/types";
import { inOrder, rowsOf, sameRow } from "../src/nodelist/rows";

const of = (ids: string[], edges: [string, string][] = []): Definition => ({
  ...emptyDocument("w"),
  tasks: ids.map((id) => ({ id, use: "data.set" })),
  edges: edges.map(([from, to]) => ({ from, to })),
});
const ids = (document: Definition): string =>
  inOrder(document)
    .map((task) => task.id)
    .join("");

describe("the order of the list", () => {
  it("puts every task after all it waits for", () => {
    const edges: [string, string][] = [
      ["b", "a"],
      ["c", "a"],
      ["a", "d"],
    ];
    expect(ids(of(["d", "a", "b", "c"], edges))).toBe("bcad");
  });

  it("follows a branch before it begins the next", () => {
    expect(
      ids(
        of(
          ["a", "b", "x", "y"],
          [
            ["a", "x"],
            ["b", "y"],
          ],
        ),
      ),
    ).toBe("axby");
  });

  it("keeps those in a circle, at the end", () => {
    expect(
      ids(
        of(
          ["a", "b", "c"],
          [
            ["a", "b"],
            ["b", "a"],
          ],
        ),
      ),
    ).toBe("cab");
  });

  it("overlooks edges to nowhere", () => {
    expect(
      ids(
        of(
          ["a", "b"],
          [
            ["gone", "a"],
            ["a", "away"],
          ],
        ),
      ),
    ).toBe("ab");
  });

  it("puts a container's tasks under it", () => {
    const document = of(["a"]);
    document.tasks.push({ id: "loop", use: "flow.loop", body: of(["x", "y"], [["y", "x"]]) });
    expect(rowsOf(document).map((row) => row.path)).toEqual(["a", "loop", "loop.y", "loop.x"]);
  });

  it("takes ten thousand tasks in one chain", () => {
    const many = Array.from({ length: 10_000 }, (_, at) => `t${at}`);
    const chain = many.slice(1).map((id, at): [string, string] => [`t${at}`, id]);
    expect(rowsOf(of(many.toReversed(), chain)).at(-1)?.path).toBe("t9999");
  });

  it("draws again only the rows that changed", () => {
    const [document, before] = [of(["a", "b"]), rowsOf(of(["a", "b"]))];
    const rows = rowsOf(document);
    const again = rowsOf({ ...document, edges: [{ from: "a", to: "b" }] });
    expect(before).toHaveLength(2);
    expect(rows.map((row, at) => sameRow(row, again[at] ?? row))).toEqual([true, false]);
  });
});

describe("moving a task", () => {
  const document: Definition = {
    ...of(["a", "b"], [["a", "b"]]),
  };
  document.tasks.push({ id: "loop", use: "flow.loop", body: of(["b"]) });

  it("into a container makes its id free there and leaves its edges behind", () => {
    const result = moved(document, "b", ["loop"]);
    expect(result.path).toBe("loop.b_2");
    expect(result.document.edges).toEqual([]);
    expect(result.document.tasks.map((task) => task.id)).toEqual(["a", "loop"]);
  });

  it("out of a container is possible too", () => {
    expect(moved(document, "loop.b", []).path).toBe("b_2");
  });

  it("never leads into itself or where it is", () => {
    expect(bodiesFor(containersOf(document), "loop")).toEqual([]);
    expect(bodiesFor(containersOf(document), "loop.b")).toEqual([[]]);
    expect(bodiesFor(containersOf(document), "a")).toEqual([["loop"]]);
  });
});
