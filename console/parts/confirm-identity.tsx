import { type ReactNode, useEffect, useState } from 'react';
import { call, onConfirmationRequired } from '../calls/call.ts';
import { confirmWithProvider, consumeConfirmation, type Session } from '../calls/session.ts';
import { confirmByPasskey } from '../calls/passkeys.ts';
import { commonWords } from '../words/common.ts';
import { inLanguage } from '../words/language.ts';
import { ActionButton } from './actions.tsx';
import { Button } from './button.tsx';
import { DialogBox } from './dialog.tsx';
import { Form, TextInput } from './form.tsx';
import { PasskeyButton } from './passkeys.tsx';
import { toastSuccess } from './toasts.tsx';

const words = inLanguage({
  en: {
    title: 'Confirm that it’s you',
    text: 'The next step shows or replaces a secret.',
    code: 'Code from your authenticator app',
    byLink: 'Sign out, open a new sign-in link (`npm run sign-in` prints one), and try again within 15 minutes.',
    byProvider: 'Your identity provider asks you to sign in and sends you back here. Then try again.',
    toProvider: 'Confirm with the identity provider',
    confirmed: 'Identity confirmed. You can now repeat what you were doing.',
    close: 'Close',
    confirm: 'Confirm',
  },
  de: {
    title: 'Bestätige, dass du es bist',
    text: 'Was jetzt kommt, zeigt oder ersetzt ein Geheimnis.',
    code: 'Code aus deiner Authenticator-App',
    byLink:
      'Melde dich ab, öffne einen neuen Anmeldelink (`npm run sign-in` zeigt einen) und wiederhole es innerhalb einer Viertelstunde.',
    byProvider: 'Dein Identitätsanbieter fragt dich, wer du bist, und bringt dich hierher zurück. Dann wiederhole es.',
    toProvider: 'Beim Identitätsanbieter bestätigen',
    confirmed: 'Du hast bestätigt, dass du es bist. Tu jetzt, was du tun wolltest.',
    close: 'Schließen',
    confirm: 'Bestätigen',
  },
});

/** Dialog to confirm one's identity, shown whenever a call requires that; the call is then repeated. */
export function ConfirmIdentity({ session }: { session: Session }): ReactNode {
  const [settle, setSettle] = useState<((confirmed: boolean) => void) | null>(null);
  useEffect(() => {
    onConfirmationRequired(() => new Promise((resolve) => setSettle(() => resolve)));
    if (consumeConfirmation(session)) toastSuccess(words.confirmed);
  }, [session]);
  const end = (confirmed: boolean): void => {
    settle?.(confirmed);
    setSettle(null);
  };
  return (
    <DialogBox title={words.title} isOpen={settle !== null} onClose={() => end(false)}>
      <p>{words.text}</p>
      {session.has_password ? (
        <Form
          submit={words.confirm}
          secondary={<Button onPress={() => end(false)}>{commonWords.cancel}</Button>}
          onSubmit={async ({ password, code }) => {
            await call('POST', '/session/confirm', { password, ...(code === '' ? {} : { code }) });
            end(true);
          }}
        >
          <TextInput
            name="password"
            label={commonWords.password}
            type="password"
            required
            autoComplete="current-password"
          />
          <TextInput name="code" label={words.code} inputMode="numeric" autoComplete="one-time-code" />
        </Form>
      ) : (
        <>
          {session.has_oidc ? <p>{words.byProvider}</p> : session.passkeys > 0 ? null : <p>{words.byLink}</p>}
          <div className="actions">
            <Button onPress={() => end(false)}>{words.close}</Button>
            {session.has_oidc ? (
              <ActionButton kind="primary" label={words.toProvider} onAct={confirmWithProvider} />
            ) : null}
          </div>
        </>
      )}
      {session.passkeys > 0 ? (
        <PasskeyButton
          prove={async () => {
            await confirmByPasskey();
            end(true);
          }}
        />
      ) : null}
    </DialogBox>
  );
}
