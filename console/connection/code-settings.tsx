import type { ReactNode } from 'react';
import type { CodeSource } from '../../contract/code-sources.ts';
import type { CodeSettings as Codes, ManagedAuth } from '../../contract/connections.ts';
import { call } from '../calls/call.ts';
import { useAction } from '../parts/action.tsx';
import { Detail, useRead } from '../parts/detail.tsx';
import { ConfirmButton } from '../parts/dialog.tsx';
import { FormButton, given } from '../parts/form-button.tsx';
import { type FormValues, SelectInput, SwitchInput, TextInput } from '../parts/form.tsx';
import { RowTable } from '../parts/list.tsx';
import { Section } from '../parts/page.tsx';
import { settingsWords as words } from '../words/connection-settings.ts';
import { isOn, SettingsSection } from './settings.tsx';

const CHANNELS = ['sms', 'email', 'call'] as const;
const SOURCES = '/code_sources';
const TYPES = (['twilio', 'mailgun'] as const).map((value) => ({ value, label: words[value] }));

/** How one-time codes of a connection come to Holdfast by themselves. */
export function CodeSettings({ connection }: { connection: ManagedAuth }): ReactNode {
  const { codes } = connection;
  return (
    <SettingsSection
      title={words.codes}
      text={words.codesText}
      connection={connection}
      changesOf={(values) => ({ codes: codesOf(values) })}
    >
      <TextInput
        name="codes.phone_number"
        label={words.phone}
        hint={words.phoneHint}
        initial={codes?.phone_number ?? ''}
      />
      <TextInput name="codes.email_address" label={words.email} initial={codes?.email_address ?? ''} />
      {CHANNELS.map((channel) => (
        <SwitchInput
          key={channel}
          name={`codes.api.${channel}`}
          label={words.api[channel]}
          initial={codes?.api?.includes(channel) ?? false}
        />
      ))}
    </SettingsSection>
  );
}

/** Null, which clears them, where no way is left. */
function codesOf(values: FormValues): Codes | null {
  const api = CHANNELS.filter((channel) => isOn(values, `codes.api.${channel}`));
  const codes: Codes = {
    ...given('phone_number', values['codes.phone_number']),
    ...given('email_address', values['codes.email_address']),
    ...(api.length === 0 ? {} : { api }),
  };
  return Object.keys(codes).length === 0 ? null : codes;
}

/** Providers that pass texts and mails on, for every connection of the project. */
export function CodeSources(): ReactNode {
  const perform = useAction([SOURCES]);
  return (
    <Section
      title={words.sources}
      actions={
        <FormButton
          label={words.sourceAdd}
          done={words.sourceAdded}
          rereads={[SOURCES]}
          onSubmit={(values) => call<CodeSource>('POST', SOURCES, values)}
        >
          <SelectInput name="type" label={words.source} options={TYPES} />
          <TextInput
            name="secret"
            label={words.secret}
            hint={words.secretHint}
            type="password"
            autoComplete="new-password"
            required
          />
        </FormButton>
      }
    >
      <p className="lead">{words.sourcesText}</p>
      <Detail read={useRead<CodeSource[]>(SOURCES)}>
        {(sources) =>
          sources.length === 0 ? (
            <p className="muted">{words.sourcesNone}</p>
          ) : (
            <RowTable
              label={words.sources}
              rows={sources}
              columns={[
                { label: words.source, cell: ({ type }) => words[type] },
                { label: words.sourceUrl, cell: ({ url }) => <code>{url}</code> },
                {
                  label: words.actions,
                  cell: ({ id }) => (
                    <ConfirmButton
                      label={words.remove}
                      title={words.removeTitle}
                      text={words.removeText}
                      onConfirm={() => perform(words.removed, () => call('DELETE', `${SOURCES}/${id}`))}
                    />
                  ),
                },
              ]}
            />
          )
        }
      </Detail>
    </Section>
  );
}
