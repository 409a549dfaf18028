import type { ModuleType } from "../src/api/shapes";

/** A module type of this name, with what a test has to say of it. */
export const moduleType = (name: string, more: Partial<ModuleType> = {}): ModuleType => ({
  type: name,
  title: name,
  category: "data",
  description: "",
  queue: "default",
  inline: false,
  effect: "none",
  outcomes: [],
  writesVariables: false,
  retry: "standard",
  timeoutSeconds: 60,
  credential: [],
  takesSecrets: false,
  circuitTarget: "",
  example: {},
  inputsSchema: {},
  outputsSchema: null,
  ...more,
});
