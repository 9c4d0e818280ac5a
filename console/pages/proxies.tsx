import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { Proxy } from '../../contract/proxies.ts';
import { call } from '../calls/call.ts';
import { ActionButton, RemoveButton, useAction } from '../parts/actions.tsx';
import { Facts, Loaded, useResource } from '../parts/resource.tsx';
import { FormButton, optionalField } from '../parts/form-button.tsx';
import { SelectInput, TextInput } from '../parts/form.tsx';
import { SearchedTable } from '../parts/list.tsx';
import { Page, Section } from '../parts/page.tsx';
import { Badge, When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { proxyWords as words } from '../words/proxies.ts';

/** The caller's own proxies. */
export default function Proxies(): ReactNode {
  return (
    <Page title={words.title} actions={<AddProxy />}>
      <p className="lead">{words.text}</p>
      <SearchedTable<Proxy>
        label={words.title}
        search={words.search}
        path="/proxies"
        empty={{ title: words.emptyTitle, text: words.emptyText, action: <AddProxy /> }}
        columns={[
          {
            label: commonWords.name,
            cell: ({ id, name, config }) => <Link href={`/proxies/${id}`}>{name ?? config.host}</Link>,
          },
          { label: words.address, cell: proxyAddress },
          { label: commonWords.state, cell: ({ status }) => <ProxyState status={status} /> },
          { label: words.checked, cell: ({ last_checked: at }) => <When at={at} /> },
        ]}
      />
    </Page>
  );
}

function AddProxy(): ReactNode {
  return (
    <FormButton
      kind="primary"
      label={words.add}
      done={words.added}
      invalidates={['/proxies']}
      onSubmit={(values) =>
        call<Proxy>('POST', '/proxies', {
          type: 'custom',
          protocol: values['protocol'],
          ...optionalField('name', values['name']),
          config: {
            host: values['config.host'],
            port: Number(values['config.port']),
            ...optionalField('username', values['config.username']),
            ...optionalField('password', values['config.password']),
          },
        })
      }
    >
      <TextInput name="name" label={commonWords.name} />
      <SelectInput
        name="protocol"
        label={words.protocol}
        options={['http', 'https'].map((value) => ({ value, label: value }))}
      />
      <TextInput name="config.host" label={words.host} hint={words.hostHint} required />
      <TextInput name="config.port" label={words.port} inputMode="numeric" required />
      <TextInput name="config.username" label={words.username} />
      <TextInput
        name="config.password"
        label={commonWords.password}
        hint={words.passwordHint}
        type="password"
        autoComplete="new-password"
      />
    </FormButton>
  );
}

/** Address of a proxy. */
function proxyAddress({ protocol, config }: Proxy): string {
  return `${protocol}://${config.host}:${config.port}`;
}

/** Result of the last check. */
function ProxyState({ status }: Pick<Proxy, 'status'>): ReactNode {
  if (status === undefined) return <Badge tone="idle">{words.unchecked}</Badge>;
  return <Badge tone={status === 'available' ? 'good' : 'bad'}>{words[status]}</Badge>;
}

/** One proxy: address, status and actions. */
export function ProxyPage({ id }: { id: string }): ReactNode {
  return <Loaded query={useResource<Proxy>(`/proxies/${id}`)}>{(proxy) => <ProxyDetail proxy={proxy} />}</Loaded>;
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
