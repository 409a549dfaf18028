import { beforeEach, describe, expect, it } from "vitest";
import type { ModuleType } from "../src/api/shapes";
import { addModule, landingOf } from "../src/document/adding";
import { withNewTask } from "../src/document/newtask";
import { emptyDocument } from "../src/document/reading";
import type { Definition, JsonObject } from "../src/document/types";
import { useStudio } from "../src/store/studio";
import { moduleType as type } from "./moduleType";

const schema: JsonObject = {
  properties: {
    url: { type: "string" },
    headers: { type: "object" },
    method: { type: "string", default: "GET" },
    rows: { type: "array" },
    cases: { type: "array", minItems: 1 },
    note: { type: "string", default: "x" },
  },
  required: ["url", "headers", "method", "rows", "cases"],
};
const types = new Map(
  [
    type("http.request", { inputsSchema: schema }),
    type("flow.if", { outcomes: ["true", "false"] }),
    type("flow.loop"),
    type("data.set"),
  ].map((one) => [one.type, one]),
);
const of = (name: string): ModuleType => types.get(name) ?? type(name);

describe("a task from a module type", () => {
  it("is called by the type's last word, its id made free", () => {
    const once = withNewTask(emptyDocument("w"), of("data.set"), {}, types);
    const twice = withNewTask(once.document, of("data.set"), {}, types);
    expect([once.path, twice.path]).toEqual(["set", "set_2"]);
  });

  it("starts with the required inputs that can be known", () => {
    const { document } = withNewTask(emptyDocument("w"), of("http.request"), {}, types);
    expect(document.tasks[0]?.with).toEqual({ headers: {}, method: "GET", rows: [] });
  });

  it("has an empty body where it is a container", () => {
    const { document } = withNewTask(emptyDocument("w"), of("flow.loop"), {}, types);
    expect(document.tasks[0]?.body).toEqual({ tasks: [], edges: [] });
  });

  it("comes after a task by its first outcome that nothing waits for", () => {
    let document = withNewTask(emptyDocument("w"), of("flow.if"), {}, types).document;
    for (let turn = 0; turn < 3; turn += 1) {
      document = withNewTask(document, of("data.set"), { after: "if" }, types).document;
    }
    expect(document.edges?.map((edge) => edge.on)).toEqual(["true", "false", "true"]);
  });

  it("stands where it was dropped", () => {
    const { document } = withNewTask(
      emptyDocument("w"),
      of("data.set"),
      { at: { x: 7, y: 9 } },
      types,
    );
    expect(document.tasks[0]?.ui).toEqual({ x: 7, y: 9 });
  });

  it("never stands on another", () => {
    let document: Definition = emptyDocument("w");
    document = withNewTask(document, of("data.set"), {}, types).document;
    for (let turn = 0; turn < 4; turn += 1) {
      document = withNewTask(document, of("data.set"), { after: "set" }, types).document;
    }
    const places = document.tasks.map((task) => `${task.ui?.x},${task.ui?.y}`);
    expect(new Set(places).size).toBe(5);
  });
});

describe("where a new task lands", () => {
  const looped: Definition = {
    ...emptyDocument("w"),
    tasks: [
      { id: "first", use: "data.set" },
      {
        id: "loop",
        use: "flow.loop",
        body: { tasks: [{ id: "a" }, { id: "b" }], edges: [{ from: "a", to: "b" }] },
      },
    ],
  };

  it("is after the one selected task", () => {
    expect(landingOf(looped, ["first"])).toEqual({ body: [], after: "first" });
    expect(landingOf(looped, ["loop.a"])).toEqual({ body: ["loop"], after: "loop.a" });
  });

  it("is at the end of the selected container's body", () => {
    expect(landingOf(looped, ["loop"])).toEqual({ body: ["loop"], after: "loop.b" });
  });

  it("is nowhere in particular without a selection, or with several", () => {
    expect(landingOf(looped, [])).toEqual({ body: [], after: null });
    expect(landingOf(looped, ["first", "loop"])).toEqual({ body: [], after: null });
  });
});

describe("adding a module", () => {
  beforeEach(() => {
    const page = { ...useStudio.getState().page, canEdit: true };
    useStudio.setState({ types, page });
    useStudio.getState().load({} as never, emptyDocument("w"), "");
  });

  it("chains what is added one after another", () => {
    addModule("data.set");
    addModule("http.request");
    const { present } = useStudio.getState().history;
    expect(present.edges).toEqual([{ from: "set", to: "request" }]);
    expect(useStudio.getState().selection.tasks).toEqual(["request"]);
  });

  it("changes nothing for who may not edit", () => {
    useStudio.setState({ page: { ...useStudio.getState().page, canEdit: false } });
    expect(addModule("data.set")).toBeNull();
    expect(useStudio.getState().history.present.tasks).toEqual([]);
  });
});
