// Which part of the graph is seen: a scale and an offset, in CSS pixels. Pure.

export const LEAST = 0.02;
const MOST = 2.5;

export class Camera {
  scale = 1;
  x = 0;
  y = 0;
  width = 1;
  height = 1;

  /** All of a box of the graph, at most in its own size. */
  fit({ x = 0, y = 0, w, h }, air = 24) {
    const scale = Math.min((this.width - 2 * air) / w, (this.height - 2 * air) / h, 1);
    this.scale = Math.max(LEAST, scale);
    this.x = this.width / 2 - (x + w / 2) * this.scale;
    this.y = this.height / 2 - (y + h / 2) * this.scale;
  }

  /** Zoom by a factor around a point of the screen. */
  zoom(factor, x = this.width / 2, y = this.height / 2) {
    const scale = Math.min(MOST, Math.max(LEAST, this.scale * factor));
    const real = scale / this.scale;
    this.x = x - (x - this.x) * real;
    this.y = y - (y - this.y) * real;
    this.scale = scale;
  }

  pan(x, y) {
    this.x += x;
    this.y += y;
  }

  /** A point of the screen as one of the graph. */
  point(x, y) {
    return [(x - this.x) / this.scale, (y - this.y) / this.scale];
  }

  /** The part of the graph that is seen. */
  seen() {
    const [x, y] = this.point(0, 0);
    return { x, y, w: this.width / this.scale, h: this.height / this.scale };
  }

  /** Move, and zoom in where nothing could be read, until a box is well in sight. */
  show(box) {
    if (this.scale < 0.5) this.scale = 0.8;
    const seen = this.seen();
    const inside = box.x > seen.x && box.y > seen.y && box.x + box.w < seen.x + seen.w && box.y + box.h < seen.y + seen.h;
    if (inside) return;
    this.x = this.width / 2 - (box.x + Math.min(box.w, seen.w) / 2) * this.scale;
    this.y = this.height / 2 - (box.y + Math.min(box.h, seen.h) / 2) * this.scale;
  }
}

/** Whether two boxes meet. */
export const meet = (a, b) => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
