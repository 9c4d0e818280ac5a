import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { ManagedAuth } from '../../contract/connections.ts';
import { call, CallError } from '../calls/call.ts';
import { serverSettings } from '../calls/settings.ts';
import { ActionButton } from '../parts/actions.tsx';
import { useCanAct } from '../parts/roles.tsx';
import { overviewWords as words } from '../words/overview.ts';
import { AddSite } from './add-site.tsx';

/** The overview before there is a site: offers a login on the practice site, or adding a site. */
export function FirstVisit(): ReactNode {
  const [, navigate] = useLocation();
  const canAct = useCanAct();
  const { sandbox } = serverSettings;
  return (
    <div className="empty">
      <h2>{words.firstTitle}</h2>
      <p>{words.firstText}</p>
      {sandbox === null || !canAct ? null : (
        <>
          <ActionButton
            kind="primary"
            label={words.tryDemo}
            onAct={async () => navigate(`/connections/${await demoConnectionId(sandbox.loginUrl)}`)}
          />
          <p>
            {words.demoText} <br /> {words.or}
          </p>
        </>
      )}
      <AddSite />
    </div>
  );
}

async function demoConnectionId(loginUrl: string): Promise<string> {
  const body = { profile_name: 'demo', domain: new URL(loginUrl).host, login_url: loginUrl };
  try {
    return (await call<ManagedAuth>('POST', '/auth/connections', body)).id;
  } catch (error) {
    if (error instanceof CallError && error.existingId !== undefined) return error.existingId;
    throw error;
  }
}
