import type { ReactNode } from 'react';
import type { z } from 'zod';
import type { OAuthGrant } from '../../contract/oauth.ts';
import { call } from '../calls/call.ts';
import { ConfirmButton, useAction } from '../parts/actions.tsx';
import { ListTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { inLanguage } from '../words/language.ts';

const words = inLanguage({
  en: {
    title: 'Authorized programs',
    text: 'Programs, such as MCP clients, that act for a person who has authorized them.',
    name: 'Program',
    person: 'Acts for',
    access: 'Access',
    read: 'read only',
    all: 'everything except administration',
    until: 'Expires',
    emptyTitle: 'No authorized programs',
    emptyText: 'Add this installation’s address followed by /mcp to an MCP client; it will ask for access here.',
    revoke: 'Revoke',
    revokeText: 'The program is rejected from its next call on.',
    revoked: 'Access was revoked.',
  },
  de: {
    title: 'Zugelassene Programme',
    text: 'Programme wie MCP-Clients, die für einen Menschen handeln, der es erlaubt hat.',
    name: 'Programm',
    person: 'Handelt für',
    access: 'Darf',
    read: 'lesen',
    all: 'alles außer verwalten',
    until: 'Bis',
    emptyTitle: 'Kein Programm ist zugelassen',
    emptyText: 'Trage die Adresse dieser Installation mit /mcp dahinter in einen MCP-Client ein: Er fragt hier.',
    revoke: 'Widerrufen',
    revokeText: 'Das Programm wird ab seinem nächsten Aufruf abgewiesen.',
    revoked: 'Das Programm ist draußen.',
  },
});

const PATH = '/oauth/grants';

/** Programs authorized to act for people, which can be revoked. */
export default function Programs(): ReactNode {
  const perform = useAction([PATH]);
  return (
    <Page title={words.title}>
      <p className="lead">{words.text}</p>
      <ListTable<z.infer<typeof OAuthGrant>>
        label={words.title}
        path={PATH}
        empty={{ title: words.emptyTitle, text: words.emptyText }}
        columns={[
          { label: words.name, cell: ({ client: { name } }) => name },
          { label: words.person, cell: ({ user }) => user.email },
          { label: words.access, cell: ({ access }) => words[access] },
          { label: commonWords.lastUsed, cell: ({ last_used_at: at }) => <When at={at} /> },
          { label: words.until, cell: ({ expires_at: at }) => <When at={at} /> },
          {
            label: commonWords.actions,
            acts: true,
            cell: ({ id, client: { name } }) => (
              <ConfirmButton
                label={words.revoke}
                title={`${words.revoke}: ${name}`}
                text={words.revokeText}
                onConfirm={() => perform(words.revoked, () => call('DELETE', `${PATH}/${id}`))}
              />
            ),
          },
        ]}
      />
    </Page>
  );
}
