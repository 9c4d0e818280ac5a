import type { FrameSnapshot } from '../facts.ts';
import type { Cluster } from './clusters.ts';
import { controlWords } from './control-meaning.ts';
import type { KeyedCluster, LoginForm } from './login-form.ts';
import { redactPersonalData } from '../redact.ts';
import { pathWords } from '../text/normalize.ts';

/** Forms between which little decided, and the page around them: words of the site alone, cut short. No value is in here. */
export interface Candidates {
  readonly page: {
    readonly title: string;
    readonly language: string;
    readonly path: string;
    readonly headings: string[];
  };
  readonly forms: readonly CandidateForm[];
}

/** One of them. `key` names it to the reader. */
export interface CandidateForm {
  readonly key: string;
  readonly heading: string;
  readonly region: string;
  readonly fields: readonly { readonly asks: string; readonly words: string }[];
  readonly button: string;
}

const MAX_HEADINGS = 8;

/** What a stranger may be shown of a choice between forms. */
export function describeCandidates(
  frames: readonly FrameSnapshot[],
  close: readonly KeyedCluster<LoginForm>[],
): Candidates {
  const top = frames[0]?.facts;
  const headings = frames
    .flatMap(({ facts }) => facts.texts)
    .filter(({ heading, within }) => heading && within === 'none');
  return {
    page: {
      title: cut(top?.title ?? ''),
      language: cut(top?.language ?? ''),
      path: pathOf(top?.url ?? ''),
      headings: headings.slice(0, MAX_HEADINGS).map(({ text }) => cut(text)),
    },
    forms: close.map(({ key, cluster }) => ({
      key,
      heading: cut(cluster.heading),
      region: regionOf(cluster),
      fields: cluster.controls.map(({ control, meaning }) => ({
        asks: meaning,
        words: cut(controlWords(control).said),
      })),
      button: cut(cluster.submit?.button.text ?? ''),
    })),
  };
}

function regionOf({ controls }: Cluster): string {
  return controls[0]?.control.region ?? 'main';
}

function cut(text: string): string {
  return redactPersonalData(text)
    .replaceAll(/( \|)+ *$/g, '')
    .slice(0, 120);
}

/** The words of a path: no host, no query, and nothing that looks like a token. */
function pathOf(url: string): string {
  return URL.canParse(url) ? `/${pathWords(new URL(url).pathname).join('/')}` : '';
}
