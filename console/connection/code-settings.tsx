import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { CodeSettings as Codes, ManagedAuth } from '../../contract/connections.ts';
import { optionalField } from '../parts/form-button.tsx';
import { type FormValues, SwitchInput, TextInput } from '../parts/form.tsx';
import { settingsWords as words } from '../words/connection-settings.ts';
import { isOn, SettingsSection } from './settings.tsx';

const CHANNELS = ['sms', 'email', 'call'] as const;

/** How one-time codes for a connection reach Holdfast. */
export function CodeSettings({ connection }: { connection: ManagedAuth }): ReactNode {
  const { codes } = connection;
  return (
    <SettingsSection
      title={words.codes}
      text={words.codesText}
      connection={connection}
      changesOf={(values) => ({ codes: codesOf(values) })}
      below={
        <p className="muted">
          {words.sourcesText} <Link href="/code-sources">{words.sources}</Link>
        </p>
      }
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

/** Null (clears the setting) if nothing is entered. */
function codesOf(values: FormValues): Codes | null {
  const api = CHANNELS.filter((channel) => isOn(values, `codes.api.${channel}`));
  const codes: Codes = {
    ...optionalField('phone_number', values['codes.phone_number']),
    ...optionalField('email_address', values['codes.email_address']),
    ...(api.length === 0 ? {} : { api }),
  };
  return Object.keys(codes).length === 0 ? null : codes;
}
