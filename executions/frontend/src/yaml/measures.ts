/** The height of a line of code in pixels; yaml.css says the same. */
export const LINE_HEIGHT = 20;
