import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { z } from 'zod';
import type { Webhook, WebhookDelivery, WebhookWithSecret } from '../../contract/webhooks.ts';
import { call } from '../calls/call.ts';
import { ActionButton, RemoveButton, useAction } from '../parts/actions.tsx';
import { Facts, Loaded, useResource } from '../parts/resource.tsx';
import { FormButton, optionalField } from '../parts/form-button.tsx';
import { TextInput } from '../parts/form.tsx';
import { ListTable } from '../parts/list.tsx';
import { Page, Section } from '../parts/page.tsx';
import { Badge, When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { webhookWords as words } from '../words/webhooks.ts';

const PATH = '/webhooks';

/** Webhooks that receive connection events. */
export default function Webhooks(): ReactNode {
  return (
    <Page title={words.title} actions={<CreateWebhook />}>
      <p className="lead">{words.text}</p>
      <ListTable<Webhook>
        label={words.title}
        path={PATH}
        empty={{ title: words.emptyTitle, text: words.emptyText, action: <CreateWebhook /> }}
        columns={[
          { label: words.url, cell: ({ id, url }) => <Link href={`/webhooks/${id}`}>{url}</Link> },
          { label: words.description, cell: ({ description }) => description },
          { label: commonWords.state, cell: (webhook) => <WebhookState webhook={webhook} /> },
          { label: words.lastSuccess, cell: ({ last_success_at: at }) => <When at={at} /> },
        ]}
      />
    </Page>
  );
}

function CreateWebhook(): ReactNode {
  return (
    <FormButton
      kind="primary"
      label={words.create}
      done={words.created}
      invalidates={[PATH]}
      onSubmit={async ({ url, description }) => {
        const body = { url, ...optionalField('description', description) };
        return (await call<z.infer<typeof WebhookWithSecret>>('POST', PATH, body)).secret;
      }}
    >
      <TextInput name="url" label={words.url} hint={words.urlHint} type="url" required />
      <TextInput name="description" label={words.description} />
    </FormButton>
  );
}

/** Whether events are sent, or why they are paused. */
function WebhookState({ webhook }: { webhook: Webhook }): ReactNode {
  if (webhook.status === 'active') return <Badge tone="good">{words.active}</Badge>;
  const reason = webhook.paused_reason ?? 'requested';
  return <Badge tone={reason === 'requested' ? 'idle' : 'bad'}>{words[reason]}</Badge>;
}

const TONES = { delivered: 'good', failed: 'bad', pending: 'wait' } as const;
/** Refetch interval in milliseconds. */
const REFRESH_MS = 5000;

/** One webhook and its deliveries. */
export function WebhookPage({ id }: { id: string }): ReactNode {
  return (
    <Loaded query={useResource<Webhook>(`/webhooks/${id}`)}>{(webhook) => <WebhookDetail webhook={webhook} />}</Loaded>
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
