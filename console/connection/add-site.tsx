import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import type { ManagedAuth } from '../../contract/connections.ts';
import { call } from '../calls/call.ts';
import { Button } from '../parts/button.tsx';
import { DialogBox } from '../parts/dialog.tsx';
import { Form, SelectInput, TextInput } from '../parts/form.tsx';
import { optionalField } from '../parts/form-button.tsx';
import { useCanAct } from '../parts/roles.tsx';
import { toastSuccess } from '../parts/toasts.tsx';
import { commonWords } from '../words/common.ts';
import { connectionWords as words } from '../words/connections.ts';
import { formatDuration } from '../words/format.ts';
import { fill } from '../words/language.ts';

const INTERVALS = [300, 1200, 3600, 21_600, 86_400];

/** A check interval in words; `seconds` in seconds. */
export function intervalText(seconds: number): string {
  if (seconds === 3600) return words.everyHour;
  return seconds === 86_400 ? words.everyDay : fill(words.every, { time: formatDuration(seconds) });
}

/** Check intervals to choose from. The API rejects those the plan does not allow. */
export function intervalOptions(current?: number | null): { value: string; label: string }[] {
  const known = current === undefined || current === null || INTERVALS.includes(current) ? [] : [current];
  return [...INTERVALS, ...known].map((seconds) => ({ value: String(seconds), label: intervalText(seconds) }));
}

/**
 * Splits what was entered into the site and its login page, if a full address was pasted. Invalid input is left to the API to
 * reject.
 */
function siteOf(entered: string): { domain: string; login_url?: string } {
  const text = entered.trim();
  const hasScheme = /^https?:\/\//i.test(text);
  const address = hasScheme ? text : `https://${text}`;
  if (!(hasScheme || text.includes('/')) || !URL.canParse(address)) return { domain: text };
  const { host, pathname, search, href } = new URL(address);
  return pathname === '/' && search === '' ? { domain: host } : { domain: host, login_url: href };
}

/** Button to add a site; navigates to its page. Hidden from people who may not act here. */
export function AddSite(): ReactNode {
  const client = useQueryClient();
  const [, navigate] = useLocation();
  const canAct = useCanAct();
  const [isOpen, setOpen] = useState(false);
  if (!canAct) return null;
  return (
    <>
      <Button kind="primary" onPress={() => setOpen(true)}>
        {words.add}
      </Button>
      <DialogBox title={words.add} isOpen={isOpen} onClose={() => setOpen(false)}>
        <Form
          submit={words.add}
          secondary={<Button onPress={() => setOpen(false)}>{commonWords.cancel}</Button>}
          onSubmit={async (values) => {
            const { domain = '', profile_name: profile, login_url: loginUrl, health_check_interval: interval } = values;
            const made = await call<ManagedAuth>('POST', '/auth/connections', {
              ...siteOf(domain),
              profile_name: profile,
              ...optionalField('login_url', loginUrl),
              ...(interval === '' ? {} : { health_check_interval: Number(interval) }),
            });
            setOpen(false);
            await client.invalidateQueries({ queryKey: ['/auth/connections'] });
            toastSuccess(words.added);
            navigate(`/connections/${made.id}`);
          }}
        >
          <TextInput name="domain" label={words.domain} hint={words.domainHint} required />
          <TextInput name="profile_name" label={words.profile} hint={words.profileHint} required />
          <TextInput name="login_url" label={words.loginUrl} hint={words.loginUrlHint} type="url" />
          <SelectInput
            name="health_check_interval"
            label={words.interval}
            options={[{ value: '', label: words.intervalDefault }, ...intervalOptions()]}
          />
        </Form>
      </DialogBox>
    </>
  );
}
