import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import type { LoginResponse, ManagedAuth } from '../../contract/connections.ts';
import { call, CallError } from '../calls/call.ts';
import { serverSettings } from '../calls/settings.ts';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/copy-button.tsx';
import { DialogBox } from '../parts/dialog.tsx';
import { useCanAct } from '../parts/roles.tsx';
import { toastError } from '../parts/toasts.tsx';
import { connectionWords as words } from '../words/connections.ts';
import { fill } from '../words/language.ts';

/** For who may act here: begins a login, or finds the one that runs, and shows the link to its page. */
export function LoginButton({
  connection,
  isFirst = false,
}: {
  connection: ManagedAuth;
  isFirst?: boolean;
}): ReactNode {
  const client = useQueryClient();
  const canAct = useCanAct();
  const [link, setLink] = useState<string | null>(null);
  const [isPending, setPending] = useState(false);
  const path = `/auth/connections/${connection.id}`;
  const start = async (): Promise<void> => {
    setPending(true);
    try {
      setLink(await linkOf(path));
      await client.invalidateQueries({ queryKey: [path] });
    } catch (error) {
      toastError(error);
    } finally {
      setPending(false);
    }
  };
  if (!canAct) return null;
  return (
    <>
      <Button kind={isFirst ? 'primary' : 'plain'} isPending={isPending} onPress={() => void start()}>
        {connection.flow_status === 'IN_PROGRESS' ? words.loginGoesOn : words.login}
      </Button>
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

/** A new login's link; a login that runs is shown in its place, with a fresh link to it. */
async function linkOf(path: string): Promise<string> {
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
