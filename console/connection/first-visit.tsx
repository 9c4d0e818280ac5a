import { type ReactNode, useState } from 'react';
import { useLocation } from 'wouter';
import type { ManagedAuth } from '../../contract/connections.ts';
import { call, CallError } from '../calls/call.ts';
import { serverSettings } from '../calls/settings.ts';
import { Button } from '../parts/button.tsx';
import { useCanAct } from '../parts/roles.tsx';
import { toastError } from '../parts/toasts.tsx';
import { overviewWords as words } from '../words/overview.ts';
import { AddSite } from './add-site.tsx';

/** What stands in the overview before the first site: a login on the practice site, or a site of one's own. */
export function FirstVisit(): ReactNode {
  const [, navigate] = useLocation();
  const canAct = useCanAct();
  const [isPending, setPending] = useState(false);
  const { sandbox } = serverSettings;
  const practise = async (loginUrl: string): Promise<void> => {
    setPending(true);
    try {
      navigate(`/connections/${await practiceConnection(loginUrl)}`);
    } catch (error) {
      toastError(error);
      setPending(false);
    }
  };
  return (
    <div className="empty">
      <h2>{words.firstTitle}</h2>
      <p>{words.firstText}</p>
      {sandbox === null || !canAct ? null : (
        <>
          <Button kind="primary" isPending={isPending} onPress={() => void practise(sandbox.loginUrl)}>
            {words.practise}
          </Button>
          <p>
            {words.practiseText} <br /> {words.or}
          </p>
        </>
      )}
      <AddSite />
    </div>
  );
}

async function practiceConnection(loginUrl: string): Promise<string> {
  const body = { profile_name: 'demo', domain: new URL(loginUrl).host, login_url: loginUrl };
  try {
    return (await call<ManagedAuth>('POST', '/auth/connections', body)).id;
  } catch (error) {
    if (error instanceof CallError && error.existingId !== undefined) return error.existingId;
    throw error;
  }
}
