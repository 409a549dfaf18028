/** Searches module types. Pure. */
import type { ModuleType } from "../api/shapes";
import { groupedBy } from "../document/grouping";

/** Modules that users do not add: the replacement of pinned steps, and placeholders of imports. */
const HIDDEN: ReadonlySet<string> = new Set(["flow.pinned"]);
const HIDDEN_CATEGORY = "import";

/** The display order of categories; other categories follow by name. */
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

/** Return the module types that users can add. */
export const offered = (types: Iterable<ModuleType>): ModuleType[] =>
  [...types].filter(
    (type) => !HIDDEN.has(type.type) && type.category.toLowerCase() !== HIDDEN_CATEGORY,
  );

/** Group types by category, both in display order. */
export function grouped(types: readonly ModuleType[]): Group[] {
  return [...groupedBy(types, (type) => type.category)]
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

/** Return the types that match every word of the query, best first; all types without a query. */
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

/** Rate how well a word matches: highest at the start of the title, lowest for letters in order. */
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

/** Whether the text has these letters in order, the first one at the start of a word: `htreq`. */
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
