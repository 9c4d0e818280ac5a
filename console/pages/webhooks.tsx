import { type ReactNode } from 'react';
import { Link } from 'wouter';
import type { Webhook, WebhookWithSecret } from '../../contract/webhooks.ts';
import type { z } from 'zod';
import { call } from '../calls/call.ts';
import { FormButton, optionalField } from '../parts/form-button.tsx';
import { TextInput } from '../parts/form.tsx';
import { ListTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { Badge, When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { webhookWords as words } from '../words/webhooks.ts';

const PATH = '/webhooks';

/** Where events of connections are posted to. */
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

/** Whether events are sent, and why not. */
export function WebhookState({ webhook }: { webhook: Webhook }): ReactNode {
  if (webhook.status === 'active') return <Badge tone="good">{words.active}</Badge>;
  const reason = webhook.paused_reason ?? 'requested';
  return <Badge tone={reason === 'requested' ? 'idle' : 'bad'}>{words[reason]}</Badge>;
}
