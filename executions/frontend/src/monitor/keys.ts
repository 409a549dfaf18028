/** The keys of the page, in one table: what it listens to and what the list of keys says. */
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
  /** Left out where a part of the page minds the key. */
  act?: (key: string) => void;
}

/** Go to the next run that failed, or to the previous one. */
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

/** Listen; gives what ends it. Keys act only where nothing is typed and no dialog is open. */
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

/** Whether a dialog is open: the page's own, or the admin's. */
export function dialogIsOpen(): boolean {
  if (document.querySelector("dialog[open]")) return true;
  const box = document.querySelector("#modal-content")?.parentElement;
  return Boolean(box?.checkVisibility() && box.querySelector("#dialog"));
}
