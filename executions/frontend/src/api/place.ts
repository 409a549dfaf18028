/** The address of the API and Django's CSRF token, which the page's root element contains. */

const told = (): DOMStringMap =>
  document.querySelector<HTMLElement>("[data-api]")?.dataset ?? ({} as DOMStringMap);

/** Resolve `path`, such as `v1/Workflow`, below the API's root; absolute URLs do not change. */
export const addressOf = (path: string): string =>
  new URL(path, new URL(told().api ?? "/", location.origin)).href;

/**
 * Return the CSRF header. The cookie's token is preferred, because Django changes it at each
 * sign-in; the page's token is the fallback.
 */
export function csrfHeader(): Record<string, string> {
  const { csrfHeader: name, csrfCookie, csrfToken } = told();
  return { [name ?? "X-CSRFToken"]: cookie(csrfCookie ?? "csrftoken") || (csrfToken ?? "") };
}

function cookie(name: string): string {
  const found = document.cookie.split("; ").find((one) => one.startsWith(`${name}=`));
  return found ? decodeURIComponent(found.slice(name.length + 1)) : "";
}
