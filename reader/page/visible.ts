import type { Box } from '../facts.ts';
import { composedParent, elementsIn } from './walk.ts';

/** What a visitor can see of an element. */
export interface Sight {
  readonly visible: boolean;
  /** In its place, but fully transparent. */
  readonly transparent: boolean;
}

const TOO_SMALL = 4;

/** Tells visible elements from hidden ones, honeypots included: no size, off the page, cut away, see-through. */
export function createSight(): (element: Element) => Sight {
  const seen = new Map<Element, Sight>();
  const opacities = new Map<Element, number>();

  /** Opacity multiplied down the tree: a see-through parent hides its children. */
  function opacity(element: Element): number {
    const known = opacities.get(element);
    if (known !== undefined) return known;
    const parent = composedParent(element);
    const own = Number(getComputedStyle(element).opacity);
    const value = (Number.isFinite(own) ? own : 1) * (parent ? opacity(parent) : 1);
    opacities.set(element, value);
    return value;
  }

  function look(element: Element): Sight {
    const known = seen.get(element);
    if (known) return known;
    const sight = { visible: isShown(element), transparent: opacity(element) < 0.05 };
    seen.set(element, sight);
    return sight;
  }

  return look;
}

/** Place of an element on the page, whole pixels. */
export function boxOf(element: Element): Box {
  const rect = element.getBoundingClientRect();
  return {
    x: Math.round(rect.left + scrollX),
    y: Math.round(rect.top + scrollY),
    width: Math.round(rect.width),
    height: Math.round(rect.height),
  };
}

function isShown(element: Element): boolean {
  if (!element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: false })) return false;
  const rect = element.getBoundingClientRect();
  if (rect.width < TOO_SMALL || rect.height < TOO_SMALL) return hasVisibleOverflow(element);
  if (rect.right + scrollX <= 0 || rect.bottom + scrollY <= 0) return false;
  if (rect.left >= Math.max(innerWidth, document.documentElement.scrollWidth)) return false;
  return !isCutAway(element, rect);
}

/** An inline wrapper (`display: contents`, a link around a block) has no size of its own, but its children do. */
function hasVisibleOverflow(element: Element): boolean {
  if (element instanceof HTMLInputElement) return false;
  for (const child of elementsIn(element)) {
    const rect = child.getBoundingClientRect();
    if (rect.width >= TOO_SMALL && rect.height >= TOO_SMALL && child.checkVisibility({ visibilityProperty: true })) {
      return !isCutAway(child, rect);
    }
  }
  return false;
}

/** A part of the page that lets nothing be seen beyond its own borders. */
interface Clip {
  readonly x: boolean;
  readonly y: boolean;
  readonly frame: DOMRect;
}

const clips = new WeakMap<Element, readonly Clip[] | 'hidden'>();

/** What an element cuts away from those inside it, and what stands above it does. */
function clipsOf(element: Element | null): readonly Clip[] | 'hidden' {
  if (element === null || element === document.body || element === document.documentElement) return [];
  const known = clips.get(element);
  if (known !== undefined) return known;
  const found = findClips(element);
  clips.set(element, found);
  return found;
}

function findClips(element: Element): readonly Clip[] | 'hidden' {
  const style = getComputedStyle(element);
  if (cutsItself(style)) return 'hidden';
  const above = style.position === 'fixed' ? [] : clipsOf(composedParent(element));
  if (above === 'hidden') return above;
  const x = style.overflowX === 'hidden' || style.overflowX === 'clip';
  const y = style.overflowY === 'hidden' || style.overflowY === 'clip';
  return x || y ? [...above, { x, y, frame: element.getBoundingClientRect() }] : above;
}

function cutsItself(style: CSSStyleDeclaration): boolean {
  if (style.clipPath.startsWith('inset(50%') || style.clipPath.startsWith('inset(100%')) return true;
  return /^rect\([01]px,? [01]px/.test(style.getPropertyValue('clip'));
}

/** True when an ancestor that hides its overflow, or a clip, leaves nothing of the element to see. */
function isCutAway(element: Element, rect: DOMRect): boolean {
  const style = getComputedStyle(element);
  if (cutsItself(style)) return true;
  const above = clipsOf(composedParent(element));
  if (above === 'hidden') return true;
  if (style.position === 'fixed') return false;
  // A scroll area can be scrolled by hand; one that hides its overflow in this direction cannot.
  return above.some(
    ({ x, y, frame }) =>
      (x && (rect.right <= frame.left + 1 || rect.left >= frame.right - 1)) ||
      (y && (rect.bottom <= frame.top + 1 || rect.top >= frame.bottom - 1)),
  );
}
