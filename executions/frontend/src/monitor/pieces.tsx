/** Small pieces, with the looks of the admin's pages. */
import type { ReactNode } from "react";
import type { Mark } from "../live/states";
import { Icon } from "../shared/Icon";
import { ago, stamp } from "./times";

/** A state's mark. */
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

/** A button with an icon whose name is told and shown on hover. */
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

/** A moment: how long ago, with the whole time. */
export const Moment = ({ time, now }: { time: number; now: number }) => (
  <time dateTime={new Date(time).toISOString()} title={stamp(time)}>
    {ago(time, now)}
  </time>
);

/** Facts as label and value; empty ones are left out. */
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

/** Something said in place of what is not there. */
export const Note = ({ children }: { children: ReactNode }) => (
  <p className="vm-note">{children}</p>
);

export const ErrorNote = ({ children }: { children: ReactNode }) => (
  <p className="vm-error" role="alert">
    {children}
  </p>
);
