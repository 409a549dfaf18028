import { type KeyboardEvent, type RefObject, useId, useMemo, useRef } from "react";
import { t } from "../words/t";
import { LINE_HEIGHT } from "./measures";

interface Props {
  area: RefObject<HTMLTextAreaElement | null>;
  text: string;
  readOnly: boolean;
  /** Line of the first error, counted from 1. */
  mistake: number | null;
  onType: (text: string) => void;
}

/** A text area for code, with line numbers and a Tab key that indents. */
export function Editor({ area, text, readOnly, mistake, onType }: Props) {
  const gutter = useRef<HTMLDivElement>(null);
  const hint = useId();
  const onKeyDown = useTabKey();
  const numbers = useMemo(() => numbersOf(text), [text]);
  return (
    <div className="yaml-editor">
      <div className="yaml-gutter" ref={gutter} aria-hidden="true">
        {mistake !== null && (
          <div className="yaml-mark" style={{ top: (mistake - 1) * LINE_HEIGHT }} />
        )}
        <pre>{numbers}</pre>
      </div>
      <textarea
        ref={area}
        className="yaml-code"
        aria-label={t("yaml.workflowAsYaml")}
        aria-describedby={hint}
        aria-invalid={mistake !== null}
        wrap="off"
        spellCheck={false}
        autoCapitalize="off"
        autoComplete="off"
        readOnly={readOnly}
        value={text}
        onChange={(event) => onType(event.target.value)}
        onKeyDown={readOnly ? undefined : onKeyDown}
        onScroll={(event) => {
          if (gutter.current) gutter.current.scrollTop = event.currentTarget.scrollTop;
        }}
      />
      <p id={hint} className="unseen">
        {t("yaml.tabIndentsPressEscapeAndThen")}
      </p>
    </div>
  );
}

function numbersOf(text: string): string {
  const count = text.split("\n").length;
  return Array.from({ length: count }, (_, at) => at + 1).join("\n");
}

/** Tab indents by two spaces. After Escape, Tab leaves the field; Shift+Tab always does. */
function useTabKey(): (event: KeyboardEvent<HTMLTextAreaElement>) => void {
  const leaving = useRef(false);
  return (event) => {
    const indents = event.key === "Tab" && !event.shiftKey && !leaving.current;
    leaving.current = event.key === "Escape" || (leaving.current && event.key === "Shift");
    if (event.key === "Escape") event.stopPropagation();
    if (!indents || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    // The only way to insert text that the browser's own undo includes.
    document.execCommand("insertText", false, "  ");
  };
}
