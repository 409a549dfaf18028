/** YAML. */
export function YamlView() {
  return <section aria-label="YAML" className="yamlview" />;
}
