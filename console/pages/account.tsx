import { useQueryClient } from '@tanstack/react-query';
import encodeQR from 'qr';
import { type ReactNode, useState } from 'react';
import { call } from '../calls/call.ts';
import { type Session, sessionQuery } from '../calls/session.ts';
import { Loaded, useResource } from '../parts/resource.tsx';
import { Form, TextInput } from '../parts/form.tsx';
import { Page, Section } from '../parts/page.tsx';
import { Passkeys } from '../parts/passkeys.tsx';
import { toastSuccess } from '../parts/toasts.tsx';
import { commonWords } from '../words/common.ts';
import { inLanguage } from '../words/language.ts';

const words = inLanguage({
  en: {
    title: 'Your account',
    who: 'Profile',
    email: 'Email address',
    save: 'Save',
    saved: 'Your account was saved.',
    password: 'Password and authenticator',
    has: 'You sign in with a password and an authenticator app. Setting them again replaces both.',
    hasNot: 'Set a password and an authenticator app to sign in without a link.',
    newPassword: 'New password',
    passwordHint: 'At least twelve characters',
    next: 'Continue',
    scan: 'Scan this with your authenticator app, or enter the key by hand. Then enter the code it shows.',
    qr: 'QR code of the key below',
    key: 'Key',
    code: 'Code',
    confirm: 'Set password',
    done: 'The password and the authenticator were set.',
  },
  de: {
    title: 'Dein Konto',
    who: 'Wer du bist',
    email: 'E-Mail-Adresse',
    save: 'Speichern',
    saved: 'Dein Konto ist gespeichert.',
    password: 'Passwort und Authenticator',
    has: 'Du meldest dich mit Passwort und Authenticator-App an. Neu gesetzt ersetzen sie die alten.',
    hasNot: 'Setze ein Passwort und eine Authenticator-App, um dich ohne Link anzumelden.',
    newPassword: 'Neues Passwort',
    passwordHint: 'Zwölf Zeichen oder mehr',
    next: 'Weiter',
    scan: 'Scanne dies mit deiner Authenticator-App oder gib den Schlüssel von Hand ein, dann den Code, den sie zeigt.',
    qr: 'QR-Code des Schlüssels darunter',
    key: 'Schlüssel',
    code: 'Code',
    confirm: 'Passwort setzen',
    done: 'Passwort und Authenticator sind gesetzt.',
  },
});

/** Response of `POST /session/account/password`: the new authenticator's secret and the address for its QR code. */
interface Enrolment {
  totp_secret: string;
  totp_url: string;
}

/** The signed-in person's account: name, address and sign-in methods. */
export default function AccountPage(): ReactNode {
  return (
    <Page title={words.title}>
      <Loaded query={useResource<Session>('/session')}>{(session) => <Account session={session} />}</Loaded>
    </Page>
  );
}

function Account({ session }: { session: Session }): ReactNode {
  const client = useQueryClient();
  const [enrolment, setEnrolment] = useState<Enrolment | null>(null);
  const reread = (): Promise<void> => client.invalidateQueries({ queryKey: sessionQuery.queryKey });
  return (
    <>
      <Section title={words.who}>
        <Form
          submit={words.save}
          onSubmit={async ({ name = '', email }) => {
            await call('PATCH', '/session/account', { email, ...(name === '' ? {} : { name }) });
            await reread();
            toastSuccess(words.saved);
          }}
        >
          <TextInput name="name" label={commonWords.name} initial={session.user.name ?? ''} autoComplete="name" />
          <TextInput name="email" label={words.email} type="email" initial={session.user.email} required />
        </Form>
      </Section>
      <Section title={words.password}>
        {enrolment === null ? (
          <Form
            key="password"
            submit={words.next}
            onSubmit={async ({ password }) =>
              setEnrolment(await call<Enrolment>('POST', '/session/account/password', { password }))
            }
          >
            <p className="muted">{session.has_password ? words.has : words.hasNot}</p>
            <TextInput
              name="password"
              label={words.newPassword}
              hint={words.passwordHint}
              type="password"
              autoComplete="new-password"
              required
            />
          </Form>
        ) : (
          <Form
            key="code"
            submit={words.confirm}
            onSubmit={async ({ code }) => {
              await call('POST', '/session/account/password/confirm', { code });
              setEnrolment(null);
              await reread();
              toastSuccess(words.done);
            }}
          >
            <p>{words.scan}</p>
            <QrCode text={enrolment.totp_url} />
            <p>
              {words.key}: <code>{enrolment.totp_secret}</code>
            </p>
            <TextInput name="code" label={words.code} inputMode="numeric" autoComplete="one-time-code" required />
          </Form>
        )}
      </Section>
      <Passkeys />
    </>
  );
}

/** A QR code, always dark on light: cameras need that. */
function QrCode({ text }: { text: string }): ReactNode {
  const rows = encodeQR(text, 'raw', { border: 2 });
  const path = rows.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : []))).join('');
  return (
    <svg className="qr" role="img" aria-label={words.qr} viewBox={`0 0 ${rows.length} ${rows.length}`}>
      <path d={path} />
    </svg>
  );
}
