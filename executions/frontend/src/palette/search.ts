/** Finding module types by what one types. Pure. */
import type { ModuleType } from "../api/shapes";

/** Names nobody picks: what tests put in place of steps, and what imports leave behind. */
const HIDDEN: ReadonlySet<string> = new Set(["flow.pinned"]);
const HIDDEN_CATEGORY = "import";

/** Categories in the order in which they are shown; others follow by name. */
const ORDER = [
  "control",
  "data",
  "network",
  "language models",
  "code",
  "messages",
  "databases",
  "files",
  "payments",
  "remote",
];

export interface Group {
  category: string;
  types: ModuleType[];
}

/** The module types one may put into a workflow. */
export const offered = (types: Iterable<ModuleType>): ModuleType[] =>
  [...types].filter(
    (type) => !HIDDEN.has(type.type) && type.category.toLowerCase() !== HIDDEN_CATEGORY,
  );

/** Types by category, both in the order in which they are shown. */
export function grouped(types: readonly ModuleType[]): Group[] {
  const groups = new Map<string, ModuleType[]>();
  for (const type of types) groups.set(type.category, [...(groups.get(type.category) ?? []), type]);
  return [...groups]
    .map(([category, of]) => ({
      category,
      types: of.sort((a, b) => a.title.localeCompare(b.title)),
    }))
    .sort((a, b) => rank(a.category) - rank(b.category) || a.category.localeCompare(b.category));
}

const rank = (category: string): number => {
  const at = ORDER.indexOf(category);
  return at < 0 ? ORDER.length : at;
};

/** The types that have every word of the query, the best first; all where nothing is asked. */
export function ranked(types: readonly ModuleType[], query: string): ModuleType[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return types
    .map((type) => ({ type, score: scoreOf(type, words) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score || a.type.title.localeCompare(b.type.title))
    .map(({ type }) => type);
}

function scoreOf(type: ModuleType, words: readonly string[]): number {
  const scores = words.map((word) => wordScore(type, word));
  return scores.includes(0) ? 0 : scores.reduce((sum, score) => sum + score, 1);
}

/** How well one word fits: the beginning of the title best, letters in order anywhere least. */
function wordScore(type: ModuleType, word: string): number {
  const title = type.title.toLowerCase();
  const name = type.type.toLowerCase();
  if (title.startsWith(word)) return 100;
  if (name.startsWith(word) || name.split(".").some((part) => part.startsWith(word))) return 80;
  if (startsAWord(title, word)) return 70;
  if (title.includes(word) || name.includes(word)) return 50;
  if (type.category.toLowerCase().includes(word)) return 40;
  if (startsAWord(type.description.toLowerCase(), word)) return 20;
  if (word.length > 2 && (inOrder(title, word) || inOrder(name, word))) return 10;
  return 0;
}

const startsAWord = (text: string, word: string): boolean =>
  text.split(/[^\p{L}\p{N}]+/u).some((one) => one.startsWith(word));

/** Whether the letters stand in the text in this order, the first at a word's beginning: `htreq`. */
function inOrder(text: string, letters: string): boolean {
  let from = [...text].findIndex(
    (letter, at) => letter === letters[0] && !/\p{L}/u.test(text[at - 1] ?? " "),
  );
  if (from < 0) return false;
  for (const letter of letters) {
    from = text.indexOf(letter, from) + 1;
    if (from === 0) return false;
  }
  return true;
}
