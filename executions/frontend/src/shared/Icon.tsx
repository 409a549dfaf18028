/** A symbol of the Material Symbols font; decoration, so the words beside it must say the same. */
export const Icon = ({ name }: { name: string }) => (
  <span className="material-symbols-outlined icon" aria-hidden="true">
    {name}
  </span>
);
