/** Problems. */
export function Problems() {
  return <section aria-label="Problems" className="problems" />;
}
