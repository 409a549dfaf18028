/** All keyboard shortcuts of the page, for its key handler and for the list of shortcuts. */
import { useLetters } from "../keys/letters";
import { typing } from "../keys/typing";
import { announce } from "../shared/announce";
import { t } from "../words/t";
import { tabsNow } from "./details/Details";
import { showAll } from "./Graph";
import { wrongOf } from "./runs";
import { choose } from "./selecting";
import { useMonitor } from "./store";
import { setMode, toggleFollowing, zoomTime } from "./timeline/viewing";

export interface PageKey {
  keys: readonly string[];
  words: string;
  /** The action; omitted if a part of the page handles the key. */
  act?: (key: string) => void;
}

/** Select the next or the previous failed run. */
function goWrong(step: 1 | -1): void {
  const { runs, run } = useMonitor.getState();
  const found = wrongOf(runs);
  const index = found.findIndex(({ id }) => id === run);
  const last = found.length - 1;
  const next = index < 0 ? (step > 0 ? 0 : last) : (index + step + found.length) % found.length;
  const to = found[next];
  if (to) choose({ run: to.id });
  else announce(t("monitor.nothingFailed"));
}

export const KEYS: readonly PageKey[] = [
  {
    keys: ["n", "p"],
    words: t("monitor.theNextThePreviousFailed"),
    act: (key) => goWrong(key === "n" ? 1 : -1),
  },
  { keys: ["↑", "↓"], words: t("monitor.inTheTimelineTheRun") },
  { keys: ["←", "→"], words: t("monitor.inTheTimelineEarlierLater") },
  {
    keys: ["+", "-"],
    words: t("monitor.zoomTheTimeInOut"),
    act: (key) => zoomTime(key === "+" ? 1.5 : 1 / 1.5),
  },
  {
    keys: ["f"],
    words: t("monitor.fitTheGraphAndThe"),
    act: () => {
      showAll();
      setMode("fit");
    },
  },
  { keys: ["l"], words: t("monitor.followNow"), act: toggleFollowing },
  {
    keys: ["/"],
    words: t("monitor.findATask"),
    act: () => document.getElementById("vm-search")?.focus(),
  },
  {
    keys: ["1", "2", "3", "4", "5", "6"],
    words: t("monitor.theTabsOfTheDetails"),
    act: (key) => {
      const tab = tabsNow()[Number(key) - 1];
      if (tab !== undefined) useMonitor.setState({ tab });
    },
  },
  { keys: ["Escape"], words: t("monitor.selectNothingShowTheExecution"), act: () => choose() },
  {
    keys: ["?"],
    words: t("monitor.thisListOfKeys"),
    act: () => useMonitor.setState({ help: true }),
  },
];

/** Listen for keys outside text fields and dialogs; return a function that stops this. */
export function listenToKeys(): () => void {
  document.addEventListener("keydown", pressed);
  return () => document.removeEventListener("keydown", pressed);
}

function pressed(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (typing(event) || dialogIsOpen()) return;
  if (event.key.length === 1 && !useLetters.getState().on) return;
  const found = KEYS.find(({ keys }) => keys.includes(event.key));
  if (!found?.act) return;
  event.preventDefault();
  found.act(event.key);
}

/** Whether a dialog of the monitor or of the admin is open. */
export function dialogIsOpen(): boolean {
  if (document.querySelector("dialog[open]")) return true;
  const box = document.querySelector("#modal-content")?.parentElement;
  return Boolean(box?.checkVisibility() && box.querySelector("#dialog"));
}
