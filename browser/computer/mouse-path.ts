/** A point of the viewport, in CSS pixels. */
export interface Point {
  x: number;
  y: number;
}

/** Points of a smooth path per 100 pixels, and at most in all. */
const POINTS_PER_100_PX = 6;
const MAX_POINTS = 200;
/** Speed of a hand: a fixed part, and one that grows with the square root of the distance; in milliseconds. */
const DURATION_BASE_MS = 80;
const DURATION_PER_ROOT_PX_MS = 14;

/** Duration of a human-like move, in milliseconds. */
export function moveDuration(from: Point, to: Point): number {
  return DURATION_BASE_MS + DURATION_PER_ROOT_PX_MS * Math.sqrt(Math.hypot(to.x - from.x, to.y - from.y));
}

/** Evenly spaced points of a straight line, without its start. */
export function linearPath(from: Point, to: Point, steps: number): Point[] {
  return Array.from({ length: steps }, (_, index) => {
    const share = (index + 1) / steps;
    return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
  });
}

/**
 * A cubic Bezier curve with a random bend and slow ends, like a hand's movement. Ends exactly at `to` and stays within
 * the positive quadrant. `random` returns numbers from 0 to 1.
 */
export function smoothPath(from: Point, to: Point, random: () => number = Math.random): Point[] {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const count = Math.min(MAX_POINTS, Math.max(4, Math.round((length / 100) * POINTS_PER_100_PX)));
  // The bend is perpendicular to the line, at most a tenth of its length.
  const bend = (random() - 0.5) * 0.2;
  const normal = { x: -(to.y - from.y) * bend, y: (to.x - from.x) * bend };
  const control = (share: number): Point => ({
    x: from.x + (to.x - from.x) * share + normal.x,
    y: from.y + (to.y - from.y) * share + normal.y,
  });
  const [first, second] = [control(0.25 + random() * 0.15), control(0.6 + random() * 0.15)];
  return Array.from({ length: count }, (_, index) => {
    if (index === count - 1) return { x: to.x, y: to.y };
    const t = easeInOut((index + 1) / count);
    return {
      x: Math.max(0, bezier(from.x, first.x, second.x, to.x, t)),
      y: Math.max(0, bezier(from.y, first.y, second.y, to.y, t)),
    };
  });
}

function easeInOut(t: number): number {
  return t < 0.5 ? 2 * t * t : 1 - 2 * (1 - t) * (1 - t);
}

function bezier(a: number, b: number, c: number, d: number, t: number): number {
  const u = 1 - t;
  return u * u * u * a + 3 * u * u * t * b + 3 * u * t * t * c + t * t * t * d;
}
