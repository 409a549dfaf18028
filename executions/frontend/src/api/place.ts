/** Where the API is, and how its requests carry Django's CSRF token; the page's root says both. */

const told = (): DOMStringMap =>
  document.querySelector<HTMLElement>("[data-api]")?.dataset ?? ({} as DOMStringMap);

/** The address of `path`, such as `v1/Workflow`, below the API's root; a whole address stays. */
export const addressOf = (path: string): string =>
  new URL(path, new URL(told().api ?? "/", location.origin)).href;

/** The header with the token: the cookie's, which changes with each sign-in, else the page's. */
export function csrfHeader(): Record<string, string> {
  const { csrfHeader: name, csrfCookie, csrfToken } = told();
  return { [name ?? "X-CSRFToken"]: cookie(csrfCookie ?? "csrftoken") || (csrfToken ?? "") };
}

function cookie(name: string): string {
  const found = document.cookie.split("; ").find((one) => one.startsWith(`${name}=`));
  return found ? decodeURIComponent(found.slice(name.length + 1)) : "";
}
