import { useEffect, useRef } from "react";
import { Icon } from "../../shared/Icon";
import { t } from "../../words/t";
import { usePages } from "../store";

/** Open the link in Unfold's dialog; in Django's own admin, it opens as a page. */
const DIALOG = {
  "hx-target": "#modal-content",
  "hx-select": "#dialog",
  "x-on:htmx:after-on-load": "openModal = true",
};

/** Links that fork the execution from a step, without or with changes, if permitted. */
export function Forks({ path }: { path: string }) {
  const { fork, studio } = usePages();
  const link = useRef<HTMLAnchorElement>(null);
  useEffect(() => {
    if (link.current) window.htmx?.process(link.current);
  }, []);
  if (!fork) return null;
  const address = `${fork}?step=${encodeURIComponent(path)}`;
  return (
    <p className="vm-forks">
      <a ref={link} className="vk-button vm-small" href={address} hx-get={address} {...DIALOG}>
        <Icon name="fork_right" />
        {t("monitor.forkFromHere")}
      </a>
      {studio && (
        <a className="vk-button vm-small" href={withStep(studio, path)}>
          <Icon name="draw" />
          {t("monitor.forkWithChanges")}
        </a>
      )}
    </p>
  );
}

function withStep(address: string, path: string): string {
  const found = new URL(address, location.href);
  found.searchParams.set("fork", path);
  return found.href;
}
