/**
 * All keyboard shortcuts of the editor, for the page's key handler and for the list of shortcuts.
 */

import { askConnection } from "../canvas/asking";
import { duplicate, removeSelected, selectAll, tidy, writeNote } from "../canvas/commands";
import { fit, zoomIn, zoomOut, zoomTo } from "../canvas/viewport";
import { wantSearch } from "../palette/wanted";
import { save } from "../saving/useSaving";
import { useStudio } from "../store/studio";
import { t } from "../words/t";

export interface Binding {
  /** The keys as the list shows them, such as `Ctrl+Z` or `t`. On a Mac, `Ctrl` is Command. */
  keys: readonly string[];
  words: string;
  group: "Tasks" | "View" | "Document" | "Canvas";
  /** Whether the shortcut also works in text fields. */
  always?: boolean;
  /** Whether the shortcut only works if the focus is on the canvas, or nowhere. */
  onCanvas?: boolean;
  /** The action; omitted if the browser or the canvas handles the key. */
  run?: () => void;
}

const dialog = (name: "keys" | "find") => () => useStudio.getState().set({ dialog: name });

export const BINDINGS: readonly Binding[] = [
  {
    group: "Document",
    keys: ["Ctrl+S"],
    words: t("keys.saveTheDraft"),
    always: true,
    run: () => void save(),
  },
  {
    group: "Document",
    keys: ["Ctrl+Z"],
    words: t("keys.undo"),
    run: () => useStudio.getState().undo(),
  },
  {
    group: "Document",
    keys: ["Ctrl+Shift+Z", "Ctrl+Y"],
    words: t("keys.redo"),
    run: () => useStudio.getState().redo(),
  },
  { group: "Tasks", keys: ["/"], words: t("keys.searchAModuleToAdd"), run: wantSearch },
  { group: "Tasks", keys: ["c"], words: t("keys.connectTheSelectedTask"), run: askConnection },
  { group: "Tasks", keys: ["n"], words: t("keys.writeANote"), run: writeNote },
  {
    group: "Tasks",
    keys: ["Delete", "Backspace"],
    words: t("keys.deleteWhatIsSelected"),
    onCanvas: true,
    run: removeSelected,
  },
  { group: "Tasks", keys: ["Ctrl+D"], words: t("keys.duplicate"), run: duplicate },
  { group: "Tasks", keys: ["Ctrl+C"], words: t("keys.copyAlsoToAnotherWorkflow") },
  { group: "Tasks", keys: ["Ctrl+X"], words: t("keys.cut") },
  { group: "Tasks", keys: ["Ctrl+V"], words: t("keys.pasteIntoTheSelectedContainer") },
  { group: "Canvas", keys: ["Tab"], words: t("keys.goToTheNextTask") },
  { group: "Canvas", keys: ["Enter"], words: t("keys.selectTheTaskAgainIts") },
  { group: "Canvas", keys: [t("keys.arrows")], words: t("keys.moveWhatIsSelectedWith") },
  { group: "Canvas", keys: ["Ctrl+A"], words: t("keys.selectAll"), onCanvas: true, run: selectAll },
  { group: "Canvas", keys: [t("keys.shiftDrag")], words: t("keys.selectWithABox") },
  {
    group: "Canvas",
    keys: [t("keys.ctrlClick"), t("keys.shiftClick")],
    words: t("keys.selectOneMore"),
  },
  { group: "Canvas", keys: ["Escape"], words: t("keys.leaveAFieldThenDeselect") },
  {
    group: "View",
    keys: ["Ctrl+F"],
    words: t("keys.findATask"),
    always: true,
    run: dialog("find"),
  },
  { group: "View", keys: ["f"], words: t("keys.showAll"), run: fit },
  {
    group: "View",
    keys: ["z"],
    words: t("keys.zoomToWhatIsSelected"),
    run: () => zoomTo(useStudio.getState().selection.tasks),
  },
  { group: "View", keys: ["+"], words: t("keys.zoomIn"), run: zoomIn },
  { group: "View", keys: ["-"], words: t("keys.zoomOut"), run: zoomOut },
  { group: "View", keys: ["t"], words: t("keys.tidyTheLayout"), run: () => tidy() },
  { group: "View", keys: ["?"], words: t("keys.thisListOfKeys"), run: dialog("keys") },
];

/** Return the pressed keys as the table writes them. */
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

/** Return the shortcut of the pressed keys; undefined if there is none. */
export const bindingOf = (chord: string): Binding | undefined =>
  BINDINGS.find((binding) => binding.run && binding.keys.includes(chord));
