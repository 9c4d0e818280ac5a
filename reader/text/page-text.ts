import type { FrameFacts, FrameSnapshot, TextFacts } from '../facts.ts';
import { normalize } from './normalize.ts';

/** Texts of all frames. */
export function textsOf(frames: readonly FrameSnapshot[]): TextFacts[] {
  return frames.flatMap(({ facts }) => facts.texts);
}

/** Body texts of a frame: outside links, buttons and labels, and outside navigation, footer and consent banner. */
export function bodyTexts({ texts }: Pick<FrameFacts, 'texts'>): TextFacts[] {
  return texts.filter(
    ({ within, region }) => within === 'none' && region !== 'footer' && region !== 'nav' && region !== 'consent',
  );
}

/** Headings of a frame that are not part of a link, button or label. */
export function headingsOf({ texts }: Pick<FrameFacts, 'texts'>): string[] {
  return texts.filter(({ heading, within }) => heading && within === 'none').map(({ text }) => text);
}

/** Title and headings of a frame, normalized. */
export function titleAndHeadings({ title, texts }: Pick<FrameFacts, 'title' | 'texts'>): string {
  return normalize([title, ...headingsOf({ texts })].join(' | '));
}

/** All visible text of the frames outside consent banners, normalized. */
export function visibleText(frames: readonly FrameSnapshot[]): string {
  const texts = textsOf(frames).filter(({ region }) => region !== 'consent');
  return normalize(
    texts
      .map(({ text }) => text)
      .join(' | ')
      .slice(0, 20_000),
  );
}

/** What the page is about, normalized: titles, headings and the first body texts, without link texts. */
export function pageTopic(frames: readonly FrameSnapshot[]): string {
  const parts = frames.flatMap(({ facts }) => [
    facts.title,
    ...bodyTexts(facts)
      .filter(({ heading }, index) => heading || index < 5)
      .map(({ plain }) => plain),
  ]);
  return normalize(parts.join(' | ').slice(0, 3_000));
}
