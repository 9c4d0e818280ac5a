import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import type { Browser } from '../../contract/browsers.ts';
import { call } from '../calls/call.ts';
import { FormButton, optionalField } from '../parts/form-button.tsx';
import { SwitchInput, TextInput } from '../parts/form.tsx';
import { ListTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { Badge, When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { browserWords as words } from '../words/browsers.ts';

const PATH = '/browsers';
/** Refetch interval in milliseconds. */
const REFRESH_MS = 5000;

/** Browsers that are open now. */
export default function Browsers(): ReactNode {
  return (
    <Page title={words.title} actions={<OpenBrowser />}>
      <p className="lead">{words.text}</p>
      <ListTable<Browser>
        label={words.title}
        path={PATH}
        rowId={({ session_id: id }) => id}
        refreshMs={REFRESH_MS}
        empty={{ title: words.emptyTitle, text: words.emptyText, action: <OpenBrowser /> }}
        columns={[
          {
            label: commonWords.name,
            cell: ({ session_id: id, name }) => <Link href={`/browsers/${id}`}>{name ?? id}</Link>,
          },
          { label: words.profile, cell: ({ profile }) => profile?.name ?? '–' },
          { label: commonWords.type, cell: (browser) => <BrowserKind browser={browser} /> },
          { label: words.opened, cell: ({ created_at: at }) => <When at={at} /> },
        ]}
      />
    </Page>
  );
}

function OpenBrowser(): ReactNode {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  return (
    <FormButton
      kind="primary"
      label={words.open}
      done={words.isOpen}
      invalidates={[PATH]}
      onSubmit={async ({ profile = '', start_url: startUrl, headless }) => {
        const made = await call<Browser>('POST', PATH, {
          ...(headless === 'on' ? { headless: true } : {}),
          ...(profile === '' ? {} : { profile: { name: profile } }),
          ...optionalField('start_url', startUrl),
        });
        client.setQueryData([`${PATH}/${made.session_id}`], made);
        navigate(`/browsers/${made.session_id}`);
      }}
    >
      <TextInput name="profile" label={words.profile} hint={words.profileHint} />
      <TextInput name="start_url" label={words.startUrl} type="url" />
      <SwitchInput name="headless" label={words.headless} hint={words.headlessHint} />
    </FormButton>
  );
}

/** Whether a browser runs a login or check, or is headless. */
export function BrowserKind({ browser }: { browser: Browser }): ReactNode {
  if (browser.managed_auth === true) return <Badge tone="wait">{words.login}</Badge>;
  return <Badge tone="idle">{browser.headless ? words.headless : words.window}</Badge>;
}
