import type { ModuleType } from "../src/api/shapes";

/** Return a module type with this name, and with properties that a test needs. */
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
