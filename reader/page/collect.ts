import type { ChildFrameFacts, FrameFacts } from '../facts.ts';
import { clickableFacts, isClickable } from './clickables.ts';
import { controlFacts, isControl } from './controls.ts';
import { createGroups } from './groups.ts';
import { createSelectors } from './selectors.ts';
import { collectTexts } from './texts.ts';
import { boxOf, createSight } from './visible.ts';
import { classNames, oneLine, walk, type Tree } from './walk.ts';

const MAX_CONTROLS = 200;
const MAX_CLICKABLES = 800;

/**
 * Reports what a visitor can see in this frame. It changes nothing and leaves nothing behind. Nothing in this folder calls
 * `Array.from`: older libraries put their own in its place, which knows no sets and maps.
 */
export function collect(): FrameFacts {
  const tree = walk(document);
  const look = createSight();
  const selectors = createSelectors(tree);
  const groups = createGroups(tree, selectors.css);
  const order = (element: Element): number => tree.order.get(element) ?? 0;

  const controls = tree.elements
    .filter(isControl)
    .slice(0, MAX_CONTROLS)
    .map((element) => {
      const place = { order: order(element), group: groups.ofControl(element), selector: selectors.css(element) };
      return controlFacts(element, look(element), place);
    });
  const clickables = tree.elements
    .filter(isClickable)
    .slice(0, MAX_CLICKABLES)
    .map((element) => {
      const place = {
        order: order(element),
        group: groups.ofOther(element),
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
    texts: collectTexts(tree, look, groups.ofOther),
    groups: groups.facts(),
    frames: childFrames(tree, selectors.css, (element) => look(element).visible),
    busy: isBusy(tree, (element) => look(element).visible),
  };
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
