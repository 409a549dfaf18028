// Asks the API with the browser's session.

export class Refused extends Error {
  constructor(status, detail) {
    super(detail);
    this.status = status;
  }
}

/** The JSON at an address; raises Refused with the problem's sentence. */
export async function ask(address, signal) {
  let answer;
  try {
    answer = await fetch(address, { headers: { Accept: "application/json" }, signal });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Refused(0, "The server cannot be reached.");
  }
  if (answer.ok) return answer.json();
  const problem = await answer.json().catch(() => ({}));
  throw new Refused(answer.status, problem.detail ?? `The server answered ${answer.status}.`);
}

/** The status of an address, or 0 where nobody answers. */
export async function probe(address) {
  try {
    return (await fetch(address, { method: "HEAD", cache: "no-store" })).status;
  } catch {
    return 0;
  }
}
