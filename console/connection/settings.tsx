import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { ConnectionUpdate, ManagedAuth } from '../../contract/connections.ts';
import type { Proxy } from '../../contract/proxies.ts';
import { call } from '../calls/call.ts';
import { Loaded, useResource } from '../parts/resource.tsx';
import { Form, type FormValues, SelectInput, SwitchInput, TextInput } from '../parts/form.tsx';
import { LinesInput, linesOf } from '../parts/lines-input.tsx';
import { Section } from '../parts/page.tsx';
import { toastSuccess } from '../parts/toasts.tsx';
import { connectionWords } from '../words/connections.ts';
import { settingsWords as words } from '../words/connection-settings.ts';
import { intervalOptions } from './add-site.tsx';

/** A form for settings that are saved together: `changesOf` maps its values to the `PATCH` body. */
export function SettingsSection({
  title,
  text,
  connection,
  changesOf,
  children,
  below,
}: {
  title: string;
  text?: string;
  connection: ManagedAuth;
  changesOf: (values: FormValues) => ConnectionUpdate;
  children: ReactNode;
  below?: ReactNode;
}): ReactNode {
  const client = useQueryClient();
  const path = `/auth/connections/${connection.id}`;
  return (
    <div role="group" aria-label={title}>
      <Section title={title}>
        {text === undefined ? null : <p className="lead">{text}</p>}
        <Form
          submit={connectionWords.save}
          onSubmit={async (values) => {
            await call('PATCH', path, changesOf(values));
            await client.invalidateQueries({ queryKey: [path] });
            toastSuccess(connectionWords.saved);
          }}
        >
          {children}
        </Form>
        {below}
      </Section>
    </div>
  );
}

/** Check interval and automation settings. */
export function CheckSettings({ connection }: { connection: ManagedAuth }): ReactNode {
  return (
    <SettingsSection
      title={words.checks}
      connection={connection}
      changesOf={(values) => ({
        health_check_interval: Number(values['health_check_interval']),
        health_checks: isOn(values, 'health_checks'),
        auto_reauth: isOn(values, 'auto_reauth'),
        save_credentials: isOn(values, 'save_credentials'),
        record_session: isOn(values, 'record_session'),
      })}
    >
      <SelectInput
        name="health_check_interval"
        label={connectionWords.interval}
        options={intervalOptions(connection.health_check_interval)}
        initial={String(connection.health_check_interval)}
      />
      <SwitchInput
        name="health_checks"
        label={connectionWords.healthChecks}
        initial={connection.health_checks ?? true}
      />
      <SwitchInput
        name="auto_reauth"
        label={connectionWords.autoReauth}
        hint={words.autoReauthHint}
        initial={connection.auto_reauth ?? true}
      />
      <SwitchInput
        name="save_credentials"
        label={connectionWords.saveCredentials}
        initial={connection.save_credentials}
      />
      <SwitchInput name="record_session" label={connectionWords.recordSession} initial={connection.record_session} />
    </SettingsSection>
  );
}

/** Login page and other domains where the password may be entered. */
export function SiteSettings({ connection }: { connection: ManagedAuth }): ReactNode {
  return (
    <SettingsSection
      title={words.site}
      connection={connection}
      changesOf={(values) => ({
        login_url: values['login_url'] ?? '',
        allowed_domains: linesOf(values['allowed_domains']),
      })}
    >
      <TextInput
        name="login_url"
        label={connectionWords.loginUrl}
        hint={connectionWords.loginUrlHint}
        type="url"
        initial={connection.login_url ?? ''}
      />
      <LinesInput
        name="allowed_domains"
        label={words.allowedDomains}
        hint={words.allowedDomainsHint}
        initial={connection.allowed_domains ?? []}
      />
    </SettingsSection>
  );
}

/** Proxy, stealth and telemetry settings. */
export function BrowserSettings({ connection }: { connection: ManagedAuth }): ReactNode {
  const { browser, browser_telemetry: deprecated } = connection;
  const telemetry = browser?.telemetry === undefined ? deprecated : browser.telemetry;
  const before = {
    proxy: browser?.proxy?.id ?? '',
    stealth: browser?.stealth ?? false,
    telemetry: telemetry !== undefined && telemetry !== null && telemetry.enabled !== false,
  };
  return (
    <SettingsSection
      title={words.browser}
      connection={connection}
      changesOf={(values) => {
        const proxy = values['browser.proxy'] ?? '';
        const stealth = isOn(values, 'browser.stealth');
        const captures = isOn(values, 'browser.telemetry');
        // Keep a choice of telemetry categories unless the switch is changed.
        return {
          browser: {
            proxy: proxy === '' ? { mode: 'direct' } : { id: proxy },
            ...(stealth === before.stealth ? {} : { stealth }),
            ...(captures === before.telemetry ? {} : { telemetry: { enabled: captures } }),
          },
        };
      }}
    >
      <Loaded query={useResource<Proxy[]>('/proxies?limit=100')}>
        {(proxies) => (
          <SelectInput
            name="browser.proxy"
            label={words.proxy}
            initial={before.proxy}
            options={[
              { value: '', label: words.proxyNone },
              ...proxies.map(({ id, name, config }) => ({ value: id, label: name ?? config.host })),
              ...(before.proxy === '' || proxies.some(({ id }) => id === before.proxy)
                ? []
                : [{ value: before.proxy, label: words.proxyGone }]),
            ]}
          />
        )}
      </Loaded>
      <SwitchInput name="browser.stealth" label={words.stealth} initial={before.stealth} />
      <SwitchInput
        name="browser.telemetry"
        label={words.telemetry}
        hint={words.telemetryHint}
        initial={before.telemetry}
      />
    </SettingsSection>
  );
}

/** True if a switch is on. */
export function isOn(values: FormValues, name: string): boolean {
  return values[name] === 'on';
}
