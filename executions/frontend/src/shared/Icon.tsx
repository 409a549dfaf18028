/** A Material Symbol. It is decorative, so the text beside it must say the same. */
export const Icon = ({ name }: { name: string }) => (
  <span className="material-symbols-outlined icon" aria-hidden="true">
    {name}
  </span>
);
