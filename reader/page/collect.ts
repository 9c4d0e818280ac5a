import type { ChildFrameFacts, FrameFacts } from '../facts.ts';
import { clickableFacts, isClickable } from './clickables.ts';
import { controlFacts, isControl } from './controls.ts';
import { checkboxFacts, createForms } from './forms.ts';
import { createSelectors } from './selectors.ts';
import { collectTexts } from './texts.ts';
import { boxOf, createVisibility } from './visibility.ts';
import { classNames, idOf, oneLine, walk, type Tree } from './composed-tree.ts';

const MAX_CONTROLS = 200;
const MAX_CLICKABLES = 500;
/** Clickables within this distance of a field, in document order, come first. */
const NEAR_FIELD = 150;
/** Sign-in and sign-out controls and providers, which matter even far from the fields. */
const RELEVANT = /sign|log-?\s?(in|out|on|off)|auth|account|sso|anmeld|abmeld|connexion|login|logout|session/i;
/** Time limit for optional clickables on a long page, in milliseconds. Required ones are always collected. */
const OPTIONAL_MS = 400;

/**
 * Reports what a visitor can see in this frame, without any side effects. Nothing in this folder calls `Array.from`: old
 * libraries replace it by versions without support for sets and maps.
 */
function collect(): FrameFacts {
  const began = performance.now();
  const tree = walk(document);
  const visibilityOf = createVisibility();
  const selectors = createSelectors(tree);
  const forms = createForms(tree);
  const order = (element: Element): number => tree.order.get(element) ?? 0;

  const controls = tree.elements
    .filter(isControl)
    .slice(0, MAX_CONTROLS)
    .map((element) => {
      const place = { order: order(element), form: forms.indexOf(element), selector: selectors.css(element) };
      return controlFacts(element, visibilityOf(element), place, selectors.css);
    });
  const anchors = controls.filter(({ visible }) => visible).map((each) => each.order);
  const clickables = selectClickables(tree, anchors)
    .filter(({ required }) => required || performance.now() - began < OPTIONAL_MS)
    .sort((a, b) => order(a.element) - order(b.element))
    .map(({ element }) => {
      const place = {
        order: order(element),
        form: forms.indexOf(element),
        selector: selectors.css(element),
        xpath: selectors.xpath(element),
      };
      return clickableFacts(element, visibilityOf(element), place);
    });

  return {
    url: location.href,
    title: oneLine(document.title, 200),
    language: (document.documentElement.lang || '').toLowerCase(),
    status: documentStatus(),
    viewport: { width: innerWidth, height: innerHeight },
    controls,
    clickables,
    texts: collectTexts(tree, visibilityOf, forms.indexOf),
    checkboxes: checkboxFacts(tree, visibilityOf, forms.indexOf, selectors.css),
    forms: forms.facts(),
    frames: childFrames(tree, selectors.css, (element) => visibilityOf(element).visible),
    busy: isBusy(tree, (element) => visibilityOf(element).visible),
    still: isStatic(),
  };
}

/** The facts as JSON, or as they are if an old library has added `toJSON` methods. */
export function collectAsText(): string | FrameFacts {
  const facts = collect();
  const isTampered = [Array.prototype, Object.prototype, String.prototype].some((each) => 'toJSON' in each);
  return isTampered ? facts : JSON.stringify(facts);
}

/** All clickables, or on long pages those near a field or about signing in, then as many others as fit. */
function selectClickables(tree: Tree, anchors: readonly number[]): { element: Element; required: boolean }[] {
  const all = tree.elements.filter(isClickable);
  if (all.length <= MAX_CLICKABLES) return all.map((element) => ({ element, required: true }));
  const rated = all.map((element, at) => {
    const place = tree.order.get(element) ?? 0;
    const near = anchors.some((anchor) => Math.abs(anchor - place) <= NEAR_FIELD);
    const words = `${element.getAttribute('href') ?? ''} ${idOf(element)} ${classNames(element)} ${element.getAttribute('aria-label') ?? ''} ${element.textContent.slice(0, 60)}`;
    return { element, at, rank: near ? 0 : RELEVANT.test(words) ? 1 : element.tagName === 'A' ? 3 : 2 };
  });
  const kept = rated.sort((a, b) => a.rank - b.rank || a.at - b.at).slice(0, MAX_CLICKABLES);
  return kept.map(({ element, rank }) => ({ element, required: rank < 2 }));
}

/** True for a complete document without scripts, which will not change anymore. */
function isStatic(): boolean {
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

/** Whether a loading indicator is visible. A progress bar that shows a number may be a gauge: of a disk, of a processor. */
function isBusy(tree: Tree, isVisible: (element: Element) => boolean): boolean {
  return tree.elements.some(
    (element) =>
      (element.getAttribute('aria-busy') === 'true' ||
        (element.getAttribute('role') === 'progressbar' && !element.hasAttribute('aria-valuenow')) ||
        /(^|[\s_-])(spinner|loading|loader|skeleton)([\s_-]|$)/i.test(classNames(element))) &&
      isVisible(element),
  );
}
