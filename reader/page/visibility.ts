import type { Box } from '../facts.ts';
import { composedParent, childElements } from './composed-tree.ts';

/** Whether a visitor can see an element. */
export interface Visibility {
  readonly visible: boolean;
  /** Rendered, but fully transparent. */
  readonly transparent: boolean;
}

const TOO_SMALL = 4;

/** Detects hidden elements (including honeypots): no size, off the page, clipped, transparent. */
export function createVisibility(): (element: Element) => Visibility {
  const seen = new Map<Element, Visibility>();
  const opacities = new Map<Element, number>();

  /** Opacity including that of all ancestors. */
  function opacity(element: Element): number {
    const known = opacities.get(element);
    if (known !== undefined) return known;
    const parent = composedParent(element);
    const own = Number(getComputedStyle(element).opacity);
    const value = (Number.isFinite(own) ? own : 1) * (parent ? opacity(parent) : 1);
    opacities.set(element, value);
    return value;
  }

  function look(element: Element): Visibility {
    const known = seen.get(element);
    if (known) return known;
    const sight = { visible: isShown(element), transparent: opacity(element) < 0.05 };
    seen.set(element, sight);
    return sight;
  }

  return look;
}

/** Position and size of an element on the page, in whole pixels. */
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
  return !isClipped(element, rect);
}

/** A wrapper (`display: contents`, a link around a block) has no size, but its children do. */
function hasVisibleOverflow(element: Element): boolean {
  if (element instanceof HTMLInputElement) return false;
  for (const child of childElements(element)) {
    const rect = child.getBoundingClientRect();
    if (rect.width >= TOO_SMALL && rect.height >= TOO_SMALL && child.checkVisibility({ visibilityProperty: true })) {
      return !isClipped(child, rect);
    }
  }
  return false;
}

/** An element that hides its overflow. */
interface Clip {
  readonly x: boolean;
  readonly y: boolean;
  readonly frame: DOMRect;
}

const clips = new WeakMap<Element, readonly Clip[] | 'hidden'>();

/** The clips of an element and its ancestors that apply to its children. */
function clipsOf(element: Element | null): readonly Clip[] | 'hidden' {
  if (element === null || element === document.body || element === document.documentElement) return [];
  const known = clips.get(element);
  if (known !== undefined) return known;
  const found = computeClips(element);
  clips.set(element, found);
  return found;
}

function computeClips(element: Element): readonly Clip[] | 'hidden' {
  const style = getComputedStyle(element);
  if (isClippedByItself(style)) return 'hidden';
  const above = style.position === 'fixed' ? [] : clipsOf(composedParent(element));
  if (above === 'hidden') return above;
  const x = style.overflowX === 'hidden' || style.overflowX === 'clip';
  const y = style.overflowY === 'hidden' || style.overflowY === 'clip';
  return x || y ? [...above, { x, y, frame: element.getBoundingClientRect() }] : above;
}

function isClippedByItself(style: CSSStyleDeclaration): boolean {
  if (style.clipPath.startsWith('inset(50%') || style.clipPath.startsWith('inset(100%')) return true;
  return /^rect\([01]px,? [01]px/.test(style.getPropertyValue('clip'));
}

/** True if a clip, or an ancestor that hides its overflow, hides the element entirely. */
function isClipped(element: Element, rect: DOMRect): boolean {
  const style = getComputedStyle(element);
  if (isClippedByItself(style)) return true;
  const above = clipsOf(composedParent(element));
  if (above === 'hidden') return true;
  if (style.position === 'fixed') return false;
  // Only axes with hidden overflow are listed: a scroll area can be scrolled by the visitor.
  return above.some(
    ({ x, y, frame }) =>
      (x && (rect.right <= frame.left + 1 || rect.left >= frame.right - 1)) ||
      (y && (rect.bottom <= frame.top + 1 || rect.top >= frame.bottom - 1)),
  );
}
