/** The colours of notes, with their names in the language of the page. */
import type { Note } from "../document/types";
import { t } from "../words/t";
import type { Key } from "../words/types";

export type Colour = NonNullable<Note["color"]>;

const NAMES = {
  yellow: "inspector.yellow",
  blue: "inspector.blue",
  green: "inspector.green",
  pink: "inspector.pink",
  grey: "inspector.grey",
} as const satisfies Record<Colour, Key>;

export const COLOURS = Object.keys(NAMES) as readonly Colour[];

export const colourName = (colour: Colour): string => t(NAMES[colour]);
