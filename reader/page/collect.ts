import type { ChildFrameFacts, FrameFacts } from '../facts.ts';
import { clickableFacts, isClickable } from './clickables.ts';
import { controlFacts, isControl } from './controls.ts';
import { checkboxFacts, createForms } from './forms.ts';
import { createSelectors } from './selectors.ts';
import { collectTexts } from './texts.ts';
import { boxOf, createSight } from './visible.ts';
import { classNames, idOf, oneLine, walk, type Tree } from './walk.ts';

const MAX_CONTROLS = 200;
const MAX_CLICKABLES = 500;
/** Clickables as near as this to a field, in elements of the page's order, come before all others. */
const NEAR = 150;
/** What else is pressed on a long page and tells something: a way in or out, a provider. */
const TELLING = /sign|log-?\s?(in|out|on|off)|auth|account|sso|anmeld|abmeld|connexion|login|logout|session/i;
/** Time for what is nice to know of a long page, in milliseconds. What is needed is collected whatever it takes. */
const SPARE_MS = 400;

/**
 * Reports what a visitor can see in this frame. It changes nothing and leaves nothing behind. Nothing in this folder calls
 * `Array.from`: older libraries put their own in its place, which knows no sets and maps.
 */
export function collect(): FrameFacts {
  const began = performance.now();
  const tree = walk(document);
  const look = createSight();
  const selectors = createSelectors(tree);
  const forms = createForms(tree);
  const order = (element: Element): number => tree.order.get(element) ?? 0;

  const controls = tree.elements
    .filter(isControl)
    .slice(0, MAX_CONTROLS)
    .map((element) => {
      const place = { order: order(element), form: forms.indexOf(element), selector: selectors.css(element) };
      return controlFacts(element, look(element), place);
    });
  const anchors = controls.filter(({ visible }) => visible).map((each) => each.order);
  const clickables = mostTelling(tree, anchors)
    .filter(({ needed }) => needed || performance.now() - began < SPARE_MS)
    .sort((a, b) => order(a.element) - order(b.element))
    .map(({ element }) => {
      const place = {
        order: order(element),
        form: forms.indexOf(element),
        selector: selectors.css(element),
        xpath: selectors.xpath(element),
      };
      return clickableFacts(element, look(element), place);
    });

  return {
    url: location.href,
    title: oneLine(document.title, 200),
    language: (document.documentElement.lang || '').toLowerCase(),
    status: documentStatus(),
    viewport: { width: innerWidth, height: innerHeight },
    controls,
    clickables,
    texts: collectTexts(tree, look, forms.indexOf),
    checkboxes: checkboxFacts(tree, look, forms.indexOf, selectors.css),
    forms: forms.facts(),
    frames: childFrames(tree, selectors.css, (element) => look(element).visible),
    busy: isBusy(tree, (element) => look(element).visible),
    still: isStill(),
  };
}

/** The facts as JSON; as they are where an old library has spoiled what browsers make of lists. */
export function collectAsText(): string | FrameFacts {
  const facts = collect();
  const spoiled = [Array.prototype, Object.prototype, String.prototype].some((each) => 'toJSON' in each);
  return spoiled ? facts : JSON.stringify(facts);
}

/** Clickables, those first that stand near a field or speak of signing in; the rest as far as there is room. */
function mostTelling(tree: Tree, anchors: readonly number[]): { element: Element; needed: boolean }[] {
  const all = tree.elements.filter(isClickable);
  if (all.length <= MAX_CLICKABLES) return all.map((element) => ({ element, needed: true }));
  const rated = all.map((element, at) => {
    const place = tree.order.get(element) ?? 0;
    const near = anchors.some((anchor) => Math.abs(anchor - place) <= NEAR);
    const words = `${element.getAttribute('href') ?? ''} ${idOf(element)} ${classNames(element)} ${element.getAttribute('aria-label') ?? ''} ${element.textContent.slice(0, 60)}`;
    return { element, at, rank: near ? 0 : TELLING.test(words) ? 1 : element.tagName === 'A' ? 3 : 2 };
  });
  const kept = rated.sort((a, b) => a.rank - b.rank || a.at - b.at).slice(0, MAX_CLICKABLES);
  return kept.map(({ element, rank }) => ({ element, needed: rank < 2 }));
}

/** True for a document that is complete and has no script in it: it will not change any more. */
function isStill(): boolean {
  if (document.readyState !== 'complete') return false;
  for (const script of document.scripts) {
    if (/^$|javascript|module/i.test(script.type)) return false;
  }
  return document.querySelector('meta[http-equiv=refresh i]') === null;
}

function documentStatus(): number {
  const [navigation] = performance.getEntriesByType('navigation');
  return navigation instanceof PerformanceNavigationTiming ? navigation.responseStatus : 0;
}

function childFrames(
  tree: Tree,
  css: (element: Element) => string,
  isVisible: (element: Element) => boolean,
): ChildFrameFacts[] {
  return tree.elements
    .filter((element) => element instanceof HTMLIFrameElement || element.tagName === 'FRAME')
    .filter(isVisible)
    .map((element) => ({
      selector: css(element),
      src: element.getAttribute('src') ?? '',
      title: element.getAttribute('title') ?? '',
      name: element.getAttribute('name') ?? '',
      box: boxOf(element),
    }));
}

function isBusy(tree: Tree, isVisible: (element: Element) => boolean): boolean {
  return tree.elements.some(
    (element) =>
      (element.getAttribute('aria-busy') === 'true' ||
        element.getAttribute('role') === 'progressbar' ||
        /(^|[\s_-])(spinner|loading|loader|skeleton)([\s_-]|$)/i.test(classNames(element))) &&
      isVisible(element),
  );
}
