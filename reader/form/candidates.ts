import type { FrameSnapshot } from '../facts.ts';
import { controlWords } from './control-meaning.ts';
import type { KeyedCluster, LoginForm } from './login-form.ts';
import { redactPersonalData } from '../redact.ts';
import { pathWords } from '../text/normalize.ts';
import { headingsOf } from '../text/page-text.ts';

/** Forms between which the rules could not clearly decide, and their page: truncated words of the site, without any values. */
export interface Candidates {
  readonly page: {
    readonly title: string;
    readonly language: string;
    readonly path: string;
    readonly headings: string[];
  };
  readonly forms: readonly CandidateForm[];
}

/** One of the forms, identified by its `key`. */
interface CandidateForm {
  readonly key: string;
  readonly heading: string;
  readonly region: string;
  readonly fields: readonly { readonly asks: string; readonly words: string }[];
  readonly button: string;
}

const MAX_HEADINGS = 8;

/** Describes the forms of an ambiguous page for a model, without personal data. */
export function describeCandidates(
  frames: readonly FrameSnapshot[],
  contenders: readonly KeyedCluster<LoginForm>[],
): Candidates {
  const top = frames[0]?.facts;
  const headings = frames.flatMap(({ facts }) => headingsOf(facts));
  return {
    page: {
      title: sanitize(top?.title ?? ''),
      language: sanitize(top?.language ?? ''),
      path: pathOf(top?.url ?? ''),
      headings: headings.slice(0, MAX_HEADINGS).map(sanitize),
    },
    forms: contenders.map(({ key, cluster }) => ({
      key,
      heading: sanitize(cluster.heading),
      region: cluster.controls[0]?.control.region ?? 'main',
      fields: cluster.controls.map(({ control, meaning }) => ({
        asks: meaning,
        words: sanitize(controlWords(control).said),
      })),
      button: sanitize(cluster.submit?.button.text ?? ''),
    })),
  };
}

function sanitize(text: string): string {
  return redactPersonalData(text)
    .replaceAll(/( \|)+ *$/g, '')
    .slice(0, 120);
}

/** The words of the path, without host, query, ids and tokens. */
function pathOf(url: string): string {
  return URL.canParse(url) ? `/${pathWords(new URL(url).pathname).join('/')}` : '';
}
