export { arranged, tidied } from "../document/layout";
export type { Direction } from "../document/sizes";
