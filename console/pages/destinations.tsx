import type { ReactNode } from 'react';
import type { AuditExportDestination, AuditExportTest } from '../../contract/audit-export.ts';
import { call, CallError } from '../calls/call.ts';
import { ActionButton, ConfirmButton, useAction } from '../parts/actions.tsx';
import { Facts, Loaded, useResource } from '../parts/resource.tsx';
import { FormButton, optionalField } from '../parts/form-button.tsx';
import { TextInput } from '../parts/form.tsx';
import { Page, Section } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';
import { Badge, When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { auditWords as words } from '../words/audit-log.ts';

const PATH = '/audit-logs/export/destinations';

/** Export destinations of the audit log. */
export default function Destinations(): ReactNode {
  const query = useResource<AuditExportDestination[]>(PATH);
  return (
    <Page title={words.destinations} back={{ href: '/audit-log', label: words.title }} actions={<AddDestination />}>
      <p className="lead">{words.destinationsText}</p>
      <Loaded query={query}>
        {(destinations) =>
          destinations.length === 0 ? (
            <Empty title={words.noDestinations} text={words.noDestinationsText} action={<AddDestination />} />
          ) : (
            destinations.map((destination) => <Destination key={destination.id} destination={destination} />)
          )
        }
      </Loaded>
    </Page>
  );
}

function AddDestination(): ReactNode {
  return (
    <FormButton
      kind="primary"
      label={words.add}
      done={words.added}
      invalidates={[PATH]}
      onSubmit={async ({ bucket, region, prefix = '', role_arn: role, kms_key_id: kms }) => {
        const body = {
          type: 's3',
          format: 'jsonl.gz',
          bucket,
          region,
          prefix,
          role_arn: role,
          ...optionalField('kms_key_id', kms),
        };
        await call('POST', PATH, body);
      }}
    >
      <TextInput name="bucket" label={words.bucket} required />
      <TextInput name="region" label={words.region} initial="us-east-1" required />
      <TextInput name="prefix" label={words.prefix} hint={words.prefixHint} />
      <TextInput name="role_arn" label={words.role} hint={words.roleHint} required />
      <TextInput name="kms_key_id" label={words.kms} hint={words.kmsHint} />
    </FormButton>
  );
}

function Destination({ destination }: { destination: AuditExportDestination }): ReactNode {
  const path = `${PATH}/${destination.id}`;
  const isActive = destination.status === 'active';
  const perform = useAction([PATH]);
  const test = async (): Promise<void> => {
    const { error } = await call<AuditExportTest>('POST', `${path}/test`);
    if (error !== undefined) throw new CallError(0, error);
  };
  return (
    <Section
      title={`${destination.bucket}/${destination.prefix}`}
      actions={
        <div className="actions">
          <ActionButton label={words.test} onAct={() => perform(words.testGood, test)} />
          <ActionButton
            label={isActive ? commonWords.pause : commonWords.resume}
            onAct={() => perform(words.changed, () => call('PATCH', path, { status: isActive ? 'paused' : 'active' }))}
          />
          <ConfirmButton
            title={words.removeTitle}
            text={words.removeText}
            onConfirm={() => perform(words.removed, () => call('DELETE', path))}
          />
        </div>
      }
    >
      <p className="lead">{words.trust}</p>
      <Facts
        facts={[
          [
            commonWords.state,
            <Badge key="s" tone={isActive ? 'good' : 'idle'}>
              {words[destination.status]}
            </Badge>,
          ],
          [words.region, destination.region],
          [words.role, destination.role_arn],
          [words.externalId, <code key="e">{destination.external_id}</code>],
          [words.principal, <code key="p">{destination.service_role_arn}</code>],
          [words.kms, destination.kms_key_id],
          [words.failures, destination.consecutive_failures],
          [words.lastError, destination.last_error],
          [words.lastSuccess, <When key="l" at={destination.last_success_at} />],
          [
            words.next,
            destination.next_attempt_at === undefined ? null : <When key="n" at={destination.next_attempt_at} />,
          ],
        ]}
      />
    </Section>
  );
}
