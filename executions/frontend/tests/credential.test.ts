import { expect, test } from "vitest";
import {
  hostOf,
  hostsOf,
  offeredTypes,
  valuesOf,
  wrongIn,
} from "../src/inspector/credential/asked";

const type = (name: string, modules: string[] = []) => ({
  name,
  title: name,
  fields: ["value"],
  optional: [],
  known: [],
  suggestsHosts: false,
  modules,
});

test("the types that a module names are offered first, then those that give any values", () => {
  const all = [type("vault", ["*"]), type("aws_sts", ["file.*"]), type("bearer"), type("smtp")];
  const offered = (module: string, credential: string[]) =>
    offeredTypes(all, { type: module, credential }).map((one) => one.name);
  expect(offered("http.request", ["bearer", "gone"])).toEqual(["bearer", "vault"]);
  expect(offered("file.read", ["s3"])).toEqual(["vault", "aws_sts"]);
  expect(offered("filed.read", ["smtp"])).toEqual(["smtp", "vault"]);
});

test("the host is the one of an address that is written out", () => {
  const host = (url: string) => hostOf({ with: { url } });
  expect(host("https://api.example.com/orders?a=1")).toBe("api.example.com");
  expect(host("https://user:word@api.example.com:8443")).toBe("api.example.com");
  expect(host("https://{{ variables.host }}/orders")).toBe("");
  expect(host("https://api.{{ variables.place }}.example.com/")).toBe("");
  expect(host("orders")).toBe("");
  expect(hostOf({})).toBe("");
});

test("empty values are not sent, and names of own fields are trimmed", () => {
  expect(valuesOf({ user: "ada", note: "" }, [{ name: " key ", value: "x y" }])).toEqual({
    user: "ada",
    key: "x y",
  });
  expect(valuesOf({}, [{ name: "", value: "x" }])).toEqual({});
});

test("hosts are apart by spaces, commas or lines", () => {
  expect(hostsOf(" a.example, b.example\n*.c.example ")).toEqual([
    "a.example",
    "b.example",
    "*.c.example",
  ]);
});

test("problems are told at their field", () => {
  const problems = [
    { path: "hosts[0]", code: "bad", message: "One." },
    { path: "fields.token", code: "short", message: "Two." },
  ];
  expect(wrongIn(problems, "hosts")).toEqual(["One."]);
  expect(wrongIn(problems, "fields.token")).toEqual(["Two."]);
  expect(wrongIn(problems, "name")).toEqual([]);
});
