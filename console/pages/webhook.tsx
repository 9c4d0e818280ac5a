import type { ReactNode } from 'react';
import type { Webhook, WebhookDelivery } from '../../contract/webhooks.ts';
import { call } from '../calls/call.ts';
import { ActionButton, RemoveButton, useAction } from '../parts/actions.tsx';
import { Loaded, Facts, useResource } from '../parts/detail.tsx';
import { FormButton } from '../parts/form-button.tsx';
import { ListTable } from '../parts/list.tsx';
import { Page, Section } from '../parts/page.tsx';
import { Badge, When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { webhookWords as words } from '../words/webhooks.ts';
import { WebhookState } from './webhooks.tsx';

const TONES = { delivered: 'good', failed: 'bad', pending: 'wait' } as const;
/** How often deliveries are read again, in milliseconds. */
const REFRESH_MS = 5000;

/** One webhook: whether it works, and what it was sent. */
export default function WebhookPage({ id }: { id: string }): ReactNode {
  return (
    <Loaded read={useResource<Webhook>(`/webhooks/${id}`)}>{(webhook) => <WebhookDetail webhook={webhook} />}</Loaded>
  );
}

function WebhookDetail({ webhook }: { webhook: Webhook }): ReactNode {
  const path = `/webhooks/${webhook.id}`;
  const deliveries = `${path}/deliveries`;
  const perform = useAction([path, deliveries, '/webhooks']);
  const isActive = webhook.status === 'active';
  const turn = (): Promise<unknown> => call('PATCH', path, { status: isActive ? 'paused' : 'active' });
  return (
    <Page
      title={webhook.url}
      back={{ href: '/webhooks', label: words.title }}
      actions={
        <>
          <ActionButton label={words.test} onAct={() => perform(words.tested, () => call('POST', `${path}/test`))} />
          <ActionButton
            label={isActive ? commonWords.pause : commonWords.resume}
            onAct={() => perform(words.changed, turn)}
          />
          <FormButton
            label={words.rotate}
            done={words.rotated}
            invalidates={[path]}
            onSubmit={async () => (await call<{ secret: string }>('POST', `${path}/rotate_secret`)).secret}
          >
            <p>{words.rotateText}</p>
          </FormButton>
          <RemoveButton path={path} list="/webhooks" words={words} />
        </>
      }
    >
      <Section title={commonWords.state} actions={<WebhookState webhook={webhook} />}>
        <Facts
          facts={[
            [words.description, webhook.description],
            [words.events, webhook.events.join(', ')],
            [
              words.failingSince,
              webhook.failing_since === undefined ? null : <When key="f" at={webhook.failing_since} />,
            ],
            [words.lastSuccess, <When key="s" at={webhook.last_success_at} />],
          ]}
        />
      </Section>
      <Section title={words.deliveries}>
        <ListTable<WebhookDelivery>
          label={words.deliveries}
          path={deliveries}
          refreshMs={REFRESH_MS}
          empty={{ title: words.noDeliveries, text: words.noDeliveriesText }}
          columns={[
            { label: words.event, cell: ({ event_type: type }) => type },
            { label: commonWords.state, cell: ({ status }) => <Badge tone={TONES[status]}>{words[status]}</Badge> },
            { label: words.answer, cell: ({ last_status_code: code, last_error: error }) => code ?? error ?? '–' },
            { label: words.attempts, cell: ({ attempts }) => attempts },
            { label: commonWords.when, cell: ({ created_at: at }) => <When at={at} /> },
            {
              label: commonWords.actions,
              acts: true,
              cell: ({ id }) => (
                <ActionButton
                  kind="quiet"
                  label={words.redeliver}
                  onAct={() => perform(words.redelivered, () => call('POST', `${deliveries}/${id}/redeliver`))}
                />
              ),
            },
          ]}
        />
      </Section>
    </Page>
  );
}
