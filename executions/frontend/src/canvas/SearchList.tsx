import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { Icon } from "../shared/Icon";
import { t } from "../words/t";

export interface Found {
  id: string;
  name: string;
  /** Further searchable text, shown below the name. */
  line: string;
  icon: string;
  /** The reason why the row cannot be chosen. */
  refusal?: string | null;
}

interface Props {
  label: string;
  rows: readonly Found[];
  onChoose: (id: string) => void;
}

const MOST = 100;

/** A search field and the matching rows; the arrow keys move, and Enter chooses. */
export function SearchList({ label, rows, onChoose }: Props) {
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const list = useId();
  const found = matching(rows, query).slice(0, MOST);
  const current = Math.min(at, found.length - 1);
  const choose = (row: Found | undefined): void => {
    if (row && !row.refusal) onChoose(row.id);
  };
  const pressed = (event: KeyboardEvent): void => {
    const to = { ArrowDown: current + 1, ArrowUp: current - 1, Home: 0, End: -1 }[event.key];
    if (to !== undefined && found.length > 0) setAt((to + found.length) % found.length);
    else if (event.key === "Enter") choose(found[current]);
    else return;
    event.preventDefault();
  };
  return (
    <div className="search-list">
      <input
        type="search"
        role="combobox"
        data-first
        aria-label={label}
        placeholder={label}
        aria-expanded="true"
        aria-controls={list}
        aria-activedescendant={found[current] ? `${list}-${current}` : undefined}
        value={query}
        onChange={(event) => {
          setQuery(event.target.value);
          setAt(0);
        }}
        onKeyDown={pressed}
      />
      <div role="listbox" id={list} aria-label={label} className="search-rows">
        {found.map((row, index) => (
          <Row
            key={row.id}
            id={`${list}-${index}`}
            row={row}
            current={index === current}
            onChoose={() => choose(row)}
          />
        ))}
      </div>
      {found.length === 0 && <p className="line">{t("canvas.nothingMatches")}</p>}
    </div>
  );
}

interface RowProps {
  id: string;
  row: Found;
  current: boolean;
  onChoose: () => void;
}

function Row({ id, row, current, onChoose }: RowProps) {
  const own = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (current) own.current?.scrollIntoView({ block: "nearest" });
  }, [current]);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the field before it minds the keys
    <div
      ref={own}
      id={id}
      role="option"
      tabIndex={-1}
      aria-selected={current}
      aria-disabled={row.refusal ? true : undefined}
      className="search-row"
      onClick={onChoose}
    >
      <Icon name={row.icon} />
      <span className="words">
        <b>{row.name}</b>
        <span className="line">{row.refusal ?? row.line}</span>
      </span>
    </div>
  );
}

/**
 * Return the rows that contain every word of the query; rows whose name starts with it come first.
 */
export function matching(rows: readonly Found[], query: string): Found[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const hits = rows.filter((row) => {
    const text = `${row.name} ${row.id} ${row.line}`.toLowerCase();
    return words.every((word) => text.includes(word));
  });
  const first = words[0] ?? "";
  const rank = (row: Found): number => (row.name.toLowerCase().startsWith(first) ? 0 : 1);
  return hits.sort((one, other) => rank(one) - rank(other));
}
