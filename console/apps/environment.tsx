import { useQuery } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { sessionQuery } from '../calls/session.ts';
import { Button } from '../parts/button.tsx';
import { RowTable } from '../parts/list.tsx';
import { Section } from '../parts/page.tsx';
import { commonWords } from '../words/common.ts';
import { appWords as words } from '../words/apps.ts';

/** The environment variables of a program. Values are hidden until operators and owners ask to see them. */
export function Environment({ variables }: { variables: Readonly<Record<string, string>> }): ReactNode {
  const session = useQuery(sessionQuery);
  const [isShown, setShown] = useState(false);
  const rows = Object.entries(variables).map(([id, value]) => ({ id, value }));
  const maySee = session.data?.role === 'operator' || session.data?.role === 'owner';
  const button =
    maySee && rows.length > 0 ? (
      <Button onPress={() => setShown(!isShown)}>{isShown ? words.hide : words.show}</Button>
    ) : null;
  return (
    <Section title={words.environment} actions={button}>
      {rows.length === 0 ? (
        <p className="muted">{words.noEnvironment}</p>
      ) : (
        <RowTable
          label={words.environment}
          rows={rows}
          columns={[
            { label: commonWords.name, cell: ({ id }) => <code>{id}</code> },
            {
              label: words.value,
              cell: ({ value }) =>
                isShown ? <code>{value === '' ? words.empty : value}</code> : <span aria-hidden="true">••••••</span>,
            },
          ]}
        />
      )}
      {maySee || rows.length === 0 ? null : <p className="muted">{words.forOperators}</p>}
    </Section>
  );
}
