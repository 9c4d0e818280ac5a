import { invalidField } from '../../contract/errors.ts';
import type { BrowserProxyConfig, ProxyRef } from '../../contract/proxies.ts';
import type { ProjectScope } from '../../store/scope.ts';
import type { ApiDeps } from '../context.ts';

/** The two places of a body that may name a proxy: `browser.proxy`, and the deprecated `proxy`. */
export interface ProxyChoices {
  browser?: { proxy?: BrowserProxyConfig | undefined } | undefined;
  proxy?: ProxyRef | undefined;
}

/**
 * The proxy that a body chooses, by its id where it names one: names may change hands, ids do not. Undefined when it chooses
 * none. Refuses, by the field, what the project does not have, a name that several proxies have, and two choices at once.
 */
export async function chosenProxy(
  { store }: Pick<ApiDeps, 'store'>,
  scope: ProjectScope,
  { browser, proxy: deprecated }: ProxyChoices,
): Promise<BrowserProxyConfig | undefined> {
  if (browser?.proxy !== undefined && deprecated !== undefined) {
    throw invalidField('proxy', 'give `browser.proxy` alone; `proxy` is its deprecated form');
  }
  const field = deprecated === undefined ? 'browser.proxy' : 'proxy';
  const chosen = browser?.proxy ?? deprecated;
  if (chosen === undefined || !('id' in chosen || 'name' in chosen)) return chosen;
  const { id, name = '' } = chosen;
  const match = await store.proxies.match(scope.projectId, id === undefined ? { name } : { id });
  switch (match.outcome) {
    case 'found':
      return { id: match.proxy.id };
    case 'none':
      throw id === undefined
        ? invalidField(`${field}.name`, 'no proxy of that name in this project')
        : invalidField(`${field}.id`, 'no such proxy in this project');
    case 'ambiguous':
      throw invalidField(`${field}.name`, 'several proxies of this project have that name; give the id');
  }
}
