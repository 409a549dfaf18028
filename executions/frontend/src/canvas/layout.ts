export { arranged, tidied } from "../document/layout";
