import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { z } from 'zod';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { SignInMethods } from '../contract/people.ts';
import { call, CallError } from './calls/call.ts';
import { linkCodeOf, sessionQuery, signInByLink, signInByPassword } from './calls/session.ts';
import { signInByPasskey } from './calls/passkeys.ts';
import { Form, TextInput } from './parts/form.tsx';
import { PasskeyButton } from './parts/passkeys.tsx';
import { Loading, errorMessage } from './parts/states.tsx';
import { commonWords } from './words/common.ts';
import { inLanguage } from './words/language.ts';

const words = inLanguage({
  en: {
    title: 'Sign in to Holdfast',
    signIn: 'Sign in',
    email: 'Email address',
    code: 'Code from your authenticator app',
    oidc: 'Sign in with your identity provider',
    or: 'Or use a link',
    open: 'Sign in with link',
    link: 'Sign-in link',
    linkHint: '`npm start` and `npm run sign-in` print one; it works once, within an hour.',
    noCode: 'This is not a sign-in link',
  },
  de: {
    title: 'Bei Holdfast anmelden',
    signIn: 'Anmelden',
    email: 'E-Mail-Adresse',
    code: 'Code aus deiner Authenticator-App',
    oidc: 'Über den Identitätsanbieter anmelden',
    or: 'Oder mit einem Link',
    open: 'Mit dem Link anmelden',
    link: 'Anmeldelink',
    linkHint: '`npm start` und `npm run sign-in` zeigen einen; er gilt einmal, eine Stunde lang.',
    noCode: 'Das ist kein Anmeldelink',
  },
});

const readMethods = (): Promise<z.infer<typeof SignInMethods>> => call('GET', '/session/methods');

/** Sign-in page: signs in with the opened link, else asks for a password, passkey, identity provider or pasted link. */
export function SignIn({ linkCode }: { linkCode: string | null }): ReactNode {
  const client = useQueryClient();
  const [linkError, setLinkError] = useState<unknown>(null);
  const [isByLink, setByLink] = useState(linkCode !== null);
  const methods = useQuery({ queryKey: ['/session/methods'], queryFn: readMethods });
  const tried = useRef(false);
  const refetchSession = (): Promise<void> => client.refetchQueries({ queryKey: sessionQuery.queryKey });
  useEffect(() => {
    document.title = `${words.title} · Holdfast`;
    // Codes are single-use, and effects may run twice.
    if (linkCode === null || tried.current) return;
    tried.current = true;
    signInByLink(linkCode)
      .then(() => client.refetchQueries({ queryKey: sessionQuery.queryKey }))
      .catch(setLinkError)
      .finally(() => setByLink(false));
  }, [client, linkCode]);
  if (isByLink) return <Loading />;
  return (
    <main className="sign-in card">
      <h1>{words.title}</h1>
      {linkError === null ? null : (
        <p className="form-error" role="alert">
          {errorMessage(linkError)}
        </p>
      )}
      <Form
        submit={words.signIn}
        onSubmit={async ({ email = '', password = '', code = '' }) => {
          await signInByPassword({ email, password, code });
          await refetchSession();
        }}
      >
        <TextInput name="email" label={words.email} type="email" required autoComplete="username" />
        <TextInput
          name="password"
          label={commonWords.password}
          type="password"
          required
          autoComplete="current-password"
        />
        <TextInput name="code" label={words.code} inputMode="numeric" required autoComplete="one-time-code" />
      </Form>
      <div className="or">
        <PasskeyButton
          prove={async () => {
            await signInByPasskey();
            await refetchSession();
          }}
        />
      </div>
      {methods.data?.oidc === true ? (
        <div className="or">
          <a className="button button-plain" href="/session/oidc">
            {words.oidc}
          </a>
        </div>
      ) : null}
      <h2>{words.or}</h2>
      <Form
        submit={words.open}
        onSubmit={async ({ link = '' }) => {
          const code = linkCodeOf(link);
          if (code === null) throw new CallError(400, { code: 'invalid_input', message: words.noCode });
          await signInByLink(code);
          await refetchSession();
        }}
      >
        <TextInput name="link" label={words.link} hint={words.linkHint} type="password" required />
      </Form>
    </main>
  );
}
