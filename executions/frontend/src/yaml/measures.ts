/** Height of a line of code, in pixels; yaml.css has the same value. */
export const LINE_HEIGHT = 20;
