import { describe, expect, it } from "vitest";
import { itemOf } from "../src/palette/Items";
import { grouped, offered, ranked } from "../src/palette/search";
import { moduleType as type } from "./moduleType";

const TYPES = [
  type("http.request", { title: "HTTP request", category: "network" }),
  type("http.paginate", { title: "HTTP pages", category: "network" }),
  type("graphql.query", { title: "GraphQL", category: "network", description: "Queries HTTP." }),
  type("data.set", { title: "Set values", category: "data" }),
  type("flow.set_variables", { title: "Set variables", category: "control" }),
  type("flow.if", { title: "If", category: "control", description: "Goes on along true." }),
  type("flow.pinned", { title: "Pinned", category: "control" }),
  type("n8n.placeholder", { title: "Left over", category: "Import" }),
  type("acme.rocket", { title: "Rocket", category: "acme" }),
];
const found = (query: string): string[] => ranked(offered(TYPES), query).map((one) => one.type);

describe("the search for modules", () => {
  it("puts titles that begin so before names, and descriptions last", () => {
    expect(found("http")).toEqual(["http.paginate", "http.request", "graphql.query"]);
  });

  it("wants every word", () => {
    expect(found("set var")).toEqual(["flow.set_variables"]);
  });

  it("takes letters left out", () => {
    expect(found("htreq")).toEqual(["http.request"]);
  });

  it("finds by category", () => {
    expect(found("network")).toHaveLength(3);
  });

  it("finds nothing where nothing fits, and all where nothing is asked", () => {
    expect(found("zzz")).toEqual([]);
    expect(found("  ")).toHaveLength(TYPES.length - 2);
  });
});

describe("the palette's groups", () => {
  it("come in a known order, unknown ones last, each by title", () => {
    const groups = grouped(offered(TYPES));
    expect(groups.map((group) => group.category)).toEqual(["control", "data", "network", "acme"]);
    expect(groups[0]?.types.map((one) => one.title)).toEqual(["If", "Set variables"]);
  });

  it("leave out what nobody picks", () => {
    const names = offered(TYPES).map((one) => one.type);
    expect(names).not.toContain("flow.pinned");
    expect(names).not.toContain("n8n.placeholder");
  });
});

it("an item says the first sentence of its module, with its abbreviations", () => {
  const described = type("data.set", { description: "Sets values, e.g. a total. Then goes on." });
  expect(itemOf(described).says).toBe("Sets values, e.g. a total.");
});
