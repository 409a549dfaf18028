import { type KeyboardEvent, type ReactNode, useId, useRef } from "react";
import { t } from "../words/t";
import "./tabs.css";

export interface Tab<T extends string> {
  key: T;
  label: string;
  /** Number of problems in the tab. */
  problems?: number;
}

interface Props<T extends string> {
  label: string;
  tabs: readonly Tab<T>[];
  current: T;
  onChange: (key: T) => void;
  children: ReactNode;
  /** Whether the panel scrolls, so that it must be focusable. */
  scrolls?: boolean;
}

/** Tabs with one panel; the arrow keys switch tabs. */
export function Tabs<T extends string>(props: Props<T>) {
  const { label, tabs, current, onChange, children, scrolls } = props;
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const pressed = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const at = tabs.findIndex((tab) => tab.key === current);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (!next) return;
    event.preventDefault();
    onChange(next.key);
    list.current?.querySelector<HTMLElement>(`[data-tab="${next.key}"]`)?.focus();
  };
  return (
    <>
      <div ref={list} className="tabs" role="tablist" aria-label={label} onKeyDown={pressed}>
        {tabs.map((tab) => (
          <button
            key={tab.key}
            type="button"
            role="tab"
            id={`${id}-${tab.key}`}
            data-tab={tab.key}
            aria-selected={tab.key === current}
            aria-controls={`${id}-panel`}
            tabIndex={tab.key === current ? 0 : -1}
            onClick={() => onChange(tab.key)}
          >
            {tab.label}
            {tab.problems ? (
              <span className="tab-problems">
                {tab.problems}
                <span className="unseen"> {t("shared.tabProblems")}</span>
              </span>
            ) : null}
          </button>
        ))}
      </div>
      <div
        id={`${id}-panel`}
        className="tab-panel"
        role="tabpanel"
        tabIndex={scrolls ? 0 : undefined}
        aria-labelledby={`${id}-${current}`}
      >
        {children}
      </div>
    </>
  );
}
