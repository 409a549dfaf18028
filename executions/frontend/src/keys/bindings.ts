/** All keys of the editor, in one table: what the page listens to and what the list of keys says. */

import { askConnection } from "../canvas/asking";
import { duplicate, removeSelected, selectAll, tidy, writeNote } from "../canvas/commands";
import { fit, zoomIn, zoomOut, zoomTo } from "../canvas/viewport";
import { wantSearch } from "../palette/wanted";
import { save } from "../saving/useSaving";
import { useStudio } from "../store/studio";

export interface Binding {
  /** As written in the list, alternatives apart: `Ctrl+Z`, `t`. `Ctrl` is Command on a Mac. */
  keys: readonly string[];
  words: string;
  group: "Tasks" | "View" | "Document" | "Canvas";
  /** Holds while one writes in a field, too. */
  always?: boolean;
  /** Only where the focus is on the canvas, or nowhere. */
  onCanvas?: boolean;
  /** Left out where the browser or the canvas itself minds the key. */
  run?: () => void;
}

const dialog = (name: "keys" | "find") => () => useStudio.getState().set({ dialog: name });

export const BINDINGS: readonly Binding[] = [
  {
    group: "Document",
    keys: ["Ctrl+S"],
    words: "Save the draft",
    always: true,
    run: () => void save(),
  },
  { group: "Document", keys: ["Ctrl+Z"], words: "Undo", run: () => useStudio.getState().undo() },
  {
    group: "Document",
    keys: ["Ctrl+Shift+Z", "Ctrl+Y"],
    words: "Redo",
    run: () => useStudio.getState().redo(),
  },
  { group: "Tasks", keys: ["/"], words: "Search a module to add", run: wantSearch },
  { group: "Tasks", keys: ["c"], words: "Connect the selected task", run: askConnection },
  { group: "Tasks", keys: ["n"], words: "Write a note", run: writeNote },
  {
    group: "Tasks",
    keys: ["Delete", "Backspace"],
    words: "Delete what is selected",
    onCanvas: true,
    run: removeSelected,
  },
  { group: "Tasks", keys: ["Ctrl+D"], words: "Duplicate", run: duplicate },
  { group: "Tasks", keys: ["Ctrl+C"], words: "Copy, also to another workflow" },
  { group: "Tasks", keys: ["Ctrl+X"], words: "Cut" },
  { group: "Tasks", keys: ["Ctrl+V"], words: "Paste, into the selected container" },
  { group: "Canvas", keys: ["Tab"], words: "Go to the next task" },
  { group: "Canvas", keys: ["Enter"], words: "Select the task; again: its details" },
  { group: "Canvas", keys: ["Arrows"], words: "Move what is selected; with Shift faster" },
  { group: "Canvas", keys: ["Ctrl+A"], words: "Select all", onCanvas: true, run: selectAll },
  { group: "Canvas", keys: ["Shift+drag"], words: "Select with a box" },
  { group: "Canvas", keys: ["Ctrl+click", "Shift+click"], words: "Select one more" },
  { group: "Canvas", keys: ["Escape"], words: "Leave a field, then deselect" },
  {
    group: "View",
    keys: ["Ctrl+F"],
    words: "Find a task",
    always: true,
    run: dialog("find"),
  },
  { group: "View", keys: ["f"], words: "Show all", run: fit },
  {
    group: "View",
    keys: ["z"],
    words: "Zoom to what is selected",
    run: () => zoomTo(useStudio.getState().selection.tasks),
  },
  { group: "View", keys: ["+"], words: "Zoom in", run: zoomIn },
  { group: "View", keys: ["-"], words: "Zoom out", run: zoomOut },
  { group: "View", keys: ["t"], words: "Tidy the layout", run: () => tidy() },
  { group: "View", keys: ["?"], words: "This list of keys", run: dialog("keys") },
];

/** What was pressed, as the table writes it. */
export function chordOf(
  event: Pick<KeyboardEvent, "key" | "ctrlKey" | "metaKey" | "shiftKey" | "altKey">,
): string {
  const { key } = event;
  const command = event.ctrlKey || event.metaKey;
  if (event.altKey) return "";
  if (!command) return key;
  return ["Ctrl", event.shiftKey ? "Shift" : "", key.length === 1 ? key.toUpperCase() : key]
    .filter(Boolean)
    .join("+");
}

/** What a key does; undefined where it does nothing. */
export const bindingOf = (chord: string): Binding | undefined =>
  BINDINGS.find((binding) => binding.run && binding.keys.includes(chord));
