/** Tasks. */
export function NodeList() {
  return <section aria-label="Tasks" className="nodelist" />;
}
