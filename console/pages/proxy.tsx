import type { ReactNode } from 'react';
import type { Proxy } from '../../contract/proxies.ts';
import { call } from '../calls/call.ts';
import { ActionButton, RemoveButton, useAction } from '../parts/actions.tsx';
import { Loaded, Facts, useResource } from '../parts/detail.tsx';
import { FormButton } from '../parts/form-button.tsx';
import { TextInput } from '../parts/form.tsx';
import { Page, Section } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { proxyWords as words } from '../words/proxies.ts';
import { proxyAddress, ProxyState } from './proxies.tsx';

/** One proxy: where it is, whether it works, and what can be done with it. */
export default function ProxyPage({ id }: { id: string }): ReactNode {
  return <Loaded read={useResource<Proxy>(`/proxies/${id}`)}>{(proxy) => <ProxyDetail proxy={proxy} />}</Loaded>;
}

function ProxyDetail({ proxy }: { proxy: Proxy }): ReactNode {
  const path = `/proxies/${proxy.id}`;
  const invalidates = [path, '/proxies'];
  const perform = useAction(invalidates);
  return (
    <Page
      title={proxy.name ?? proxy.config.host}
      back={{ href: '/proxies', label: words.title }}
      actions={
        <>
          <ActionButton
            label={words.check}
            onAct={() => perform(words.checkedDone, () => call('POST', `${path}/check`))}
          />
          <FormButton
            label={commonWords.rename}
            done={words.renamed}
            invalidates={invalidates}
            onSubmit={({ name }) => call('PATCH', path, { name })}
          >
            <TextInput name="name" label={commonWords.name} initial={proxy.name ?? ''} required />
          </FormButton>
          <RemoveButton path={path} list="/proxies" words={words} />
        </>
      }
    >
      <Section title={commonWords.state} actions={<ProxyState status={proxy.status} />}>
        <Facts
          facts={[
            [words.address, proxyAddress(proxy)],
            [words.username, proxy.config.username],
            [commonWords.password, proxy.config.has_password ? words.hasPassword : null],
            [words.bypass, proxy.bypass_hosts?.join(', ')],
            [words.checked, <When key="checked" at={proxy.last_checked} />],
          ]}
        />
      </Section>
    </Page>
  );
}
