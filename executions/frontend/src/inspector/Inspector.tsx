/** Details. */
export function Inspector() {
  return <aside aria-label="Details" className="inspector" />;
}
