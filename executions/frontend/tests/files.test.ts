import { describe, expect, it } from "vitest";
import { emptyDocument } from "../src/document/reading";
import { relative } from "../src/home/times";
import { nextCursor } from "../src/home/workflows";
import { copyName, queryOf } from "../src/transfer/creating";
import { fileName, recognised, written } from "../src/transfer/files";
import { speak } from "../src/words/language";

const kinds = (text: string): string[] => recognised(text, "orders.json").map((one) => one.kind);
const N8N = { name: "Mine", nodes: [{ type: "n8n-nodes-base.set", name: "Set" }], connections: {} };

describe("a file", () => {
  it("is a workflow as YAML or JSON, whatever it is called", () => {
    expect(kinds("schema: valkyr/1\nname: a\ntasks: []")).toEqual(["workflow"]);
    expect(kinds('{"name": "a", "tasks": []}')).toEqual(["workflow"]);
  });

  it("is an n8n export by its nodes and connections", () => {
    expect(recognised(JSON.stringify(N8N), "x.json")[0]).toMatchObject({
      kind: "n8n",
      name: "Mine",
      nodes: 1,
    });
    expect(kinds(JSON.stringify({ nodes: N8N.nodes }))).toEqual(["n8n"]);
  });

  it("may hold several workflows", () => {
    expect(kinds(JSON.stringify([N8N, N8N]))).toEqual(["n8n", "n8n"]);
  });

  it("is said to be unknown with a reason otherwise", () => {
    expect(recognised("{", "x")[0]).toMatchObject({ kind: "unknown" });
    expect(recognised("a: [", "x")[0]).toMatchObject({ kind: "unknown" });
    expect(kinds("hello")).toEqual(["unknown"]);
    expect(kinds('{"nodes": "none"}')).toEqual(["unknown"]);
    expect(kinds("[]")).toEqual(["unknown"]);
    expect(kinds("null")).toEqual(["unknown"]);
    expect(kinds(`name: ${"x".repeat(1024 * 1024)}`)).toEqual(["unknown"]);
  });

  it("is called by the document, else by itself", () => {
    expect(recognised("tasks: []", "orders.yaml")[0]?.name).toBe("orders");
    expect(recognised("name: Orders\ntasks: []", "x.yaml")[0]?.name).toBe("Orders");
  });

  it("of a document is read back as the same", () => {
    const document = { ...emptyDocument("A: b"), tasks: [{ id: "a", use: "data.set", with: {} }] };
    for (const format of ["yaml", "json"] as const) {
      const [found] = recognised(written(document, format), "x");
      expect(found).toMatchObject({ kind: "workflow", name: "A: b", document, format });
    }
  });

  it("has a plain name", () => {
    expect(fileName("Order / fulfilment!", "yaml")).toBe("order-fulfilment.yaml");
    expect(fileName("…", "json")).toBe("workflow.json");
  });
});

describe("the list's addresses and times", () => {
  it("go on where the server says", () => {
    expect(nextCursor('<http://x/v1/Workflow?limit=5&cursor=abc>; rel="next"')).toBe("abc");
    expect(nextCursor(null)).toBeNull();
  });

  it("leave out what is not set", () => {
    expect(queryOf({ a: 1, b: undefined, c: "" })).toBe("?a=1");
    expect(queryOf({})).toBe("");
  });

  it("are told in words", () => {
    const now = Date.parse("2026-01-02T00:00:00Z");
    expect(relative("2026-01-01T23:59:50Z", now)).toBe("just now");
    expect(relative("2026-01-01T23:57:00Z", now)).toBe("3 minutes ago");
    expect(relative("2026-01-01T00:00:00Z", now)).toBe("yesterday");
  });
});

it("the name of a copy is short enough for the server, in every language", async () => {
  for (const tag of ["en", "de", "es"]) {
    await speak(tag);
    expect([...copyName("🚚".repeat(200))].length).toBeLessThanOrEqual(200);
  }
  await speak("en");
  expect(copyName("Orders")).toBe("Orders (copy)");
  expect(copyName("🚚".repeat(200))).toBe(`${"🚚".repeat(190)} (copy)`);
});
