/** Small components that look like those of the admin. */
import type { ReactNode } from "react";
import type { Mark } from "../live/states";
import { Icon } from "../shared/Icon";
import { ago, stamp } from "./times";

/** The name, icon and colour of a state. */
export const StateMark = ({ mark: { word, icon, colour } }: { mark: Mark }) => (
  <span className={`vk-state vk-state-${colour}`}>
    <Icon name={icon} />
    {word}
  </span>
);

export const Link = ({ href, children }: { href: string; children: ReactNode }) => (
  <a className="vk-link" href={href}>
    {children}
  </a>
);

interface IconButtonProps {
  icon: string;
  label: string;
  title?: string;
  disabled?: boolean;
  onClick: () => void;
}

/** An icon button; its name is the accessible name and the tooltip. */
export const IconButton = ({ icon, label, title, disabled, onClick }: IconButtonProps) => (
  <button
    type="button"
    className="vm-button"
    aria-label={label}
    title={title ?? label}
    disabled={disabled}
    onClick={onClick}
  >
    <Icon name={icon} />
  </button>
);

/** How long ago a time was, with the exact time as tooltip. */
export const Moment = ({ time, now }: { time: number; now: number }) => (
  <time dateTime={new Date(time).toISOString()} title={stamp(time)}>
    {ago(time, now)}
  </time>
);

/** A list of labels and values, without empty values. */
export function Facts({ pairs }: { pairs: readonly (readonly [string, ReactNode])[] }) {
  const told = pairs.filter(([, value]) => value !== null && value !== undefined && value !== "");
  return (
    <dl className="vm-facts">
      {told.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** A short text in place of missing content. */
export const Note = ({ children }: { children: ReactNode }) => (
  <p className="vm-note">{children}</p>
);

export const ErrorNote = ({ children }: { children: ReactNode }) => (
  <p className="vm-error" role="alert">
    {children}
  </p>
);
