import type { SeenFrame } from './clusters.ts';
import type { CheckboxFacts } from './facts.ts';
import { anyOf, normalize } from './normalize.ts';
import { TERMS } from './words.ts';

/** Boxes that sites would like to see ticked, and go on without. */
const PROMOTION = anyOf(
  'newsletter*, marketing, promotion*, promotional, offers, special offers, news and updates, product updates, tips, usage data, telemetry, analytics',
  'werbung, angebote, neuigkeiten, actualites, offres, promociones, ofertas, novedades, promozioni, offerte, novita, promocoes, novidades, aanbiedingen, nieuwsbrief, рассылк*, новост*',
);
const ASIDE = new Set(['consent', 'nav', 'footer', 'header']);

/** A box that an agreement rests on. */
export interface AgreementBox {
  /** Index into `forms` of its frame; -1 outside of every form. */
  readonly form: number;
  readonly text: string;
  readonly selector: string;
  readonly frame: readonly string[];
}

/**
 * What must be ticked on a page about terms before its button takes effect: boxes that their form is not sent without, or that
 * speak of terms. One that is ticked already, and one that only a seller would like to see ticked, is left as it is.
 */
export function boxesToAgree(frames: readonly SeenFrame[]): AgreementBox[] {
  return frames.flatMap(({ facts, path }) =>
    facts.checkboxes
      .filter(isWanted)
      .map(({ form, said, text, selector }) => ({ form, text: said || text, selector, frame: [...path] })),
  );
}

function isWanted({ visible, disabled, checked, required, region, said: all, text }: CheckboxFacts): boolean {
  if (!visible || disabled || checked || ASIDE.has(region)) return false;
  const said = normalize(all || text);
  return required || (TERMS.test(said) && !PROMOTION.test(said));
}
