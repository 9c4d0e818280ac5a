import type { ReactNode } from 'react';
import type { Invitation, Member } from '../../contract/people.ts';
import { call } from '../calls/call.ts';
import { ConfirmButton, useAction } from '../parts/actions.tsx';
import { FormButton } from '../parts/form-button.tsx';
import { SelectInput, TextInput } from '../parts/form.tsx';
import { ListTable } from '../parts/list.tsx';
import { Page, Section } from '../parts/page.tsx';
import { Badge, When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { memberWords as words } from '../words/members.ts';

const MEMBERS = '/org/members';
const INVITATIONS = '/org/invitations';
const ROLES = (['viewer', 'operator', 'owner'] as const).map((value) => ({ value, label: words[`${value}Role`] }));

/** Members and pending invitations. */
export default function Members(): ReactNode {
  const perform = useAction([MEMBERS, INVITATIONS]);
  return (
    <Page title={words.title} actions={<Invite />}>
      <p className="lead">{words.text}</p>
      <ListTable<Member>
        label={words.title}
        path={MEMBERS}
        empty={{ title: words.none, text: words.text }}
        columns={[
          { label: commonWords.name, cell: ({ name, email }) => name ?? email },
          { label: words.email, cell: ({ email }) => email },
          { label: words.role, cell: ({ role }) => <Badge tone="idle">{words[role]}</Badge> },
          { label: words.since, cell: ({ created_at: at }) => <When at={at} /> },
          {
            label: commonWords.actions,
            acts: true,
            cell: ({ id, role, email }) => (
              <div className="actions">
                <FormButton
                  kind="quiet"
                  label={words.change}
                  title={`${words.change}: ${email}`}
                  done={words.changed}
                  invalidates={[MEMBERS]}
                  onSubmit={({ role: chosen }) => call('PATCH', `${MEMBERS}/${id}`, { role: chosen })}
                >
                  <SelectInput name="role" label={words.role} options={ROLES} initial={role} />
                </FormButton>
                <ConfirmButton
                  label={words.remove}
                  title={`${words.remove}: ${email}`}
                  text={words.removeText}
                  onConfirm={() => perform(words.removed, () => call('DELETE', `${MEMBERS}/${id}`))}
                />
              </div>
            ),
          },
        ]}
      />
      <Section title={words.invited}>
        <ListTable<Invitation>
          label={words.invited}
          path={INVITATIONS}
          empty={{ title: words.noneInvited, text: words.noneInvitedText }}
          columns={[
            { label: words.email, cell: ({ email }) => email },
            { label: words.role, cell: ({ role }) => words[role] },
            { label: words.until, cell: ({ expires_at: at }) => <When at={at} /> },
            {
              label: commonWords.actions,
              acts: true,
              cell: ({ id, email }) => (
                <ConfirmButton
                  label={words.withdraw}
                  title={`${words.withdraw}: ${email}`}
                  text={words.withdrawText}
                  onConfirm={() => perform(words.withdrawn, () => call('DELETE', `${INVITATIONS}/${id}`))}
                />
              ),
            },
          ]}
        />
      </Section>
    </Page>
  );
}

function Invite(): ReactNode {
  return (
    <FormButton
      kind="primary"
      label={words.invite}
      done={words.inviteDone}
      invalidates={[INVITATIONS]}
      onSubmit={async (values) => (await call<{ url: string }>('POST', INVITATIONS, values)).url}
    >
      <TextInput name="email" label={words.email} type="email" required />
      <SelectInput name="role" label={words.role} options={ROLES} initial="operator" />
    </FormButton>
  );
}
