import { useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Passkey } from '../../contract/people.ts';
import { call } from '../calls/call.ts';
import { addPasskey, canUsePasskeys } from '../calls/passkeys.ts';
import { commonWords } from '../words/common.ts';
import { inLanguage } from '../words/language.ts';
import { Loaded, useResource } from './resource.tsx';
import { ActionButton, ConfirmButton } from './actions.tsx';
import { FormButton } from './form-button.tsx';
import { TextInput } from './form.tsx';
import { RowTable } from './list.tsx';
import { Section } from './page.tsx';
import { When } from './when.tsx';

const PATH = '/session/account/passkeys';

const words = inLanguage({
  en: {
    title: 'Passkeys',
    text: 'A passkey on this device or a security key signs you in without a password or code.',
    add: 'Add a passkey',
    nameHint: 'To recognize it later, such as the name of this device',
    added: 'The passkey was added.',
    created: 'Added',
    removeTitle: 'Delete this passkey?',
    removeText: 'It can no longer be used to sign in. Remove it from the device as well.',
    useIt: 'Use a passkey',
  },
  de: {
    title: 'Passkeys',
    text: 'Ein Passkey dieses Geräts oder eines Sicherheitsschlüssels meldet dich ohne Passwort und Code an.',
    add: 'Passkey hinzufügen',
    nameHint: 'Woran du ihn wiedererkennst, etwa der Name dieses Geräts',
    added: 'Der Passkey ist hinzugefügt.',
    created: 'Hinzugefügt',
    removeTitle: 'Diesen Passkey löschen?',
    removeText: 'Er meldet niemanden mehr an. Entferne ihn auch vom Gerät.',
    useIt: 'Passkey benutzen',
  },
});

/** The signed-in person's passkeys. */
export function Passkeys(): ReactNode {
  const client = useQueryClient();
  const remove = async (id: string): Promise<void> => {
    await call('DELETE', `${PATH}/${encodeURIComponent(id)}`);
    await Promise.all([PATH, '/session'].map((path) => client.invalidateQueries({ queryKey: [path] })));
  };
  return (
    <Section
      title={words.title}
      actions={
        canUsePasskeys ? (
          <FormButton
            label={words.add}
            done={words.added}
            invalidates={[PATH, '/session']}
            // The response is not a secret to show.
            onSubmit={async ({ name = '' }) => void (await addPasskey(name))}
          >
            <TextInput name="name" label={commonWords.name} hint={words.nameHint} required />
          </FormButton>
        ) : null
      }
    >
      <p className="muted">{words.text}</p>
      <Loaded query={useResource<Passkey[]>(PATH)}>
        {(passkeys) =>
          passkeys.length === 0 ? null : (
            <RowTable
              label={words.title}
              rows={passkeys}
              columns={[
                { label: commonWords.name, cell: ({ name }) => name },
                { label: words.created, cell: ({ created_at: at }) => <When at={at} /> },
                { label: commonWords.lastUsed, cell: ({ last_used_at: at }) => <When at={at} /> },
                {
                  label: commonWords.actions,
                  acts: true,
                  cell: ({ id }) => (
                    <ConfirmButton title={words.removeTitle} text={words.removeText} onConfirm={() => remove(id)} />
                  ),
                },
              ]}
            />
          )
        }
      </Loaded>
    </Section>
  );
}

/** A button that authenticates with a passkey by `prove`. Hidden if the browser has no passkeys. */
export function PasskeyButton({ prove }: { prove: () => Promise<unknown> }): ReactNode {
  return canUsePasskeys ? <ActionButton label={words.useIt} onAct={prove} /> : null;
}
