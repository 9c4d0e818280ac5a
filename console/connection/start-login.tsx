import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { LoginResponse, ManagedAuth } from '../../contract/connections.ts';
import { call, CallError } from '../calls/call.ts';
import { serverSettings } from '../calls/settings.ts';
import { ActionButton, CopyButton } from '../parts/actions.tsx';
import { DialogBox } from '../parts/dialog.tsx';
import { connectionWords as words } from '../words/connections.ts';
import { fill } from '../words/language.ts';

/** Starts a login, or joins the running one, and shows the link to its page. */
export function LoginButton({
  connection,
  isFirst = false,
}: {
  connection: ManagedAuth;
  isFirst?: boolean;
}): ReactNode {
  const client = useQueryClient();
  const [link, setLink] = useState<string | null>(null);
  const path = `/auth/connections/${connection.id}`;
  const start = async (): Promise<void> => {
    setLink(await createLink(path));
    await client.invalidateQueries({ queryKey: [path] });
  };
  return (
    <>
      <ActionButton
        kind={isFirst ? 'primary' : 'plain'}
        label={connection.flow_status === 'IN_PROGRESS' ? words.linkToLogin : words.login}
        onAct={start}
      />
      <DialogBox
        title={fill(words.loginTitle, { domain: connection.domain })}
        isOpen={link !== null}
        onClose={() => setLink(null)}
      >
        {link === null ? null : <LoginLink link={link} connection={connection} onClose={() => setLink(null)} />}
      </DialogBox>
    </>
  );
}

/** The link of a new login, or a fresh one to the login that is already running. */
async function createLink(path: string): Promise<string> {
  try {
    return (await call<LoginResponse>('POST', `${path}/login`)).hosted_url;
  } catch (error) {
    if (!(error instanceof CallError) || error.code !== 'flow_in_progress') throw error;
    const { hosted_url: link } = await call<ManagedAuth>('GET', path);
    if (typeof link !== 'string') throw error;
    return link;
  }
}

function LoginLink({
  link,
  connection,
  onClose,
}: {
  link: string;
  connection: ManagedAuth;
  onClose: () => void;
}): ReactNode {
  const { sandbox } = serverSettings;
  return (
    <>
      <p>{words.loginText}</p>
      {sandbox !== null && connection.domain === new URL(sandbox.loginUrl).host ? (
        <p className="note">{fill(words.loginUser, sandbox)}</p>
      ) : null}
      <label className="field">
        <span>{words.link}</span>
        <input className="input" readOnly value={link} onFocus={(event) => event.target.select()} />
      </label>
      <div className="actions">
        <CopyButton text={link} label={words.copy} done={words.copied} />
        <a className="button button-primary" href={link} target="_blank" rel="noopener noreferrer" onClick={onClose}>
          {words.open}
        </a>
      </div>
    </>
  );
}
