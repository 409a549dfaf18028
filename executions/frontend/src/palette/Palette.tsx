/** Modules. */
export function Palette() {
  return <aside aria-label="Modules" className="palette" />;
}
