import { type KeyboardEvent, useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { ModuleType } from "../api/shapes";
import { addModule, addNote } from "../document/adding";
import { closeDrawer } from "../shell/drawers";
import { useRefusal } from "../store/readOnly";
import { useStudio } from "../store/studio";
import { t } from "../words/t";
import { Items, itemOf, NOTE, NOTE_ITEM, type Section } from "./Items";
import { LandingHint } from "./Landing";
import { Preview } from "./Preview";
import { recent, remember } from "./recent";
import { grouped, offered, ranked } from "./search";
import { onSearchWanted } from "./wanted";
import "./palette.css";

/** The modules that can be added to the workflow, by category, with a search. */
export function Palette() {
  const types = useStudio((state) => state.types);
  const refusal = useRefusal();
  const [query, setQuery] = useState("");
  const [used, setUsed] = useState(recent);
  const [shown, setShown] = useState<string | null>(null);
  const root = useRef<HTMLElement>(null);
  const search = useRef<HTMLInputElement>(null);
  const sections = useMemo(
    () => sectionsOf([...types.values()], query, used),
    [types, query, used],
  );
  useEffect(() => onSearchWanted(() => search.current?.focus()), []);
  const add = useCallback((value: string) => {
    if (value === NOTE) addNote();
    else if (addModule(value)) setUsed(remember(value));
    closeDrawer();
  }, []);
  const first = sections[0]?.items[0]?.value;
  const pressed = (event: KeyboardEvent): void => {
    if (event.key === "Enter" && query && first && refusal === undefined) add(first);
    else if (event.key === "ArrowDown")
      root.current?.querySelector<HTMLElement>(".palette-item")?.focus();
    else if (event.key === "Escape" && query) setQuery("");
    else return;
    event.preventDefault();
  };
  return (
    <aside ref={root} className="palette" aria-label={t("palette.modules")}>
      <div className="palette-head">
        <input
          ref={search}
          type="search"
          placeholder={t("palette.searchModulesByKey")}
          aria-label={t("palette.searchModules")}
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={pressed}
        />
        {refusal === undefined ? <LandingHint /> : <p className="palette-landing">{refusal}</p>}
      </div>
      <Items
        sections={sections}
        query={query}
        disabled={refusal !== undefined}
        onAdd={add}
        onShow={setShown}
        onLeave={() => search.current?.focus()}
        onClear={() => setQuery("")}
      />
      <Preview type={shown === null ? undefined : types.get(shown)} />
    </aside>
  );
}

/**
 * Return the listed items: matches, best first, or the recently used modules and all categories.
 */
function sectionsOf(all: readonly ModuleType[], query: string, used: readonly string[]): Section[] {
  const types = offered(all);
  if (query.trim()) {
    const found = ranked(types, query);
    return found.length > 0 ? [{ title: t("palette.found"), items: found.map(itemOf) }] : [];
  }
  const last = used.flatMap((name) => types.find((type) => type.type === name) ?? []);
  return [
    ...(last.length > 0 ? [{ title: t("palette.lastUsed"), items: last.map(itemOf) }] : []),
    ...grouped(types).map((group) => ({
      title: group.category,
      items: group.types.map(itemOf),
    })),
    { title: t("palette.notes"), items: [NOTE_ITEM] },
  ];
}
