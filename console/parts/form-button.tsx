import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { commonWords } from '../words/common.ts';
import { inLanguage } from '../words/language.ts';
import { Button } from './button.tsx';
import { DialogBox } from './dialog.tsx';
import { Form, type FormValues } from './form.tsx';
import { useCanAct } from './roles.tsx';
import { toastSuccess } from './toasts.tsx';

const words = inLanguage({
  en: {
    text: 'Store it in a safe place now: it will not be shown again.',
    secret: 'Secret',
    copy: 'Copy',
    copied: 'Copied',
    kept: 'I have stored it',
  },
  de: {
    text: 'Bewahre es jetzt sicher auf: Es wird nicht noch einmal gezeigt.',
    secret: 'Geheimnis',
    copy: 'Kopieren',
    copied: 'Kopiert',
    kept: 'Ich habe es aufbewahrt',
  },
});

/**
 * A button that opens a form for one operation in a dialog. When `onSubmit` resolves, queries of the paths in `invalidates` are
 * refetched and `done` is toasted; a string it resolves to is a secret, shown only this once. Hidden from people who may not act here.
 */
export function FormButton({
  label,
  kind = 'plain',
  title = label,
  done,
  invalidates,
  onSubmit,
  children,
}: {
  label: string;
  kind?: 'plain' | 'primary' | 'quiet';
  title?: string;
  done: string;
  invalidates: readonly string[];
  onSubmit: (values: FormValues, files: Record<string, File>) => Promise<unknown>;
  children: ReactNode;
}): ReactNode {
  const client = useQueryClient();
  const canAct = useCanAct();
  const [isOpen, setOpen] = useState(false);
  const [secret, setSecret] = useState<string | null>(null);
  const close = (): void => {
    setOpen(false);
    setSecret(null);
  };
  if (!canAct) return null;
  return (
    <>
      <Button kind={kind} onPress={() => setOpen(true)}>
        {label}
      </Button>
      <DialogBox title={title} isOpen={isOpen} alert={secret !== null} onClose={close}>
        {secret === null ? (
          <Form
            submit={label}
            secondary={<Button onPress={close}>{commonWords.cancel}</Button>}
            onSubmit={async (values, files) => {
              const made = await onSubmit(values, files);
              await Promise.all(invalidates.map((path) => client.invalidateQueries({ queryKey: [path] })));
              toastSuccess(done);
              if (typeof made === 'string') setSecret(made);
              else close();
            }}
          >
            {children}
          </Form>
        ) : (
          <ShownOnce secret={secret} onClose={close} />
        )}
      </DialogBox>
    </>
  );
}

/** A secret that the API returns only once, to be copied. */
function ShownOnce({ secret, onClose }: { secret: string; onClose: () => void }): ReactNode {
  const [isCopied, setCopied] = useState(false);
  return (
    <div className="form">
      <p>{words.text}</p>
      <label className="field">
        <span>{words.secret}</span>
        <input className="input" readOnly value={secret} onFocus={(event) => event.target.select()} />
      </label>
      <div className="actions">
        <Button onPress={() => void navigator.clipboard.writeText(secret).then(() => setCopied(true))}>
          {isCopied ? words.copied : words.copy}
        </Button>
        <Button kind="primary" onPress={onClose}>
          {words.kept}
        </Button>
      </div>
    </div>
  );
}

/** A body property for an entered value; nothing for an empty one. */
export function optionalField(name: string, value: string | undefined): Record<string, string> {
  return value === undefined || value === '' ? {} : { [name]: value };
}
