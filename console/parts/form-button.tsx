import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { inLanguage } from '../words/language.ts';
import { Button } from './button.tsx';
import { DialogBox } from './dialog.tsx';
import { Form, type FormValues } from './form.tsx';
import { useCanAct } from './roles.tsx';
import { ShownOnce } from './shown-once.tsx';
import { toastSuccess } from './toasts.tsx';

const words = inLanguage({ en: { cancel: 'Cancel' }, de: { cancel: 'Abbrechen' } });

/**
 * A button, for who may act here, that opens a form over one operation in a dialog. When `onSubmit` resolves, reads of `invalidates` (paths) are made again
 * and `done` is told; a text that it resolves to is a secret that is shown this once.
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
            secondary={<Button onPress={close}>{words.cancel}</Button>}
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

/** A member of a body where something was entered, else nothing. */
export function optionalField(name: string, value: string | undefined): Record<string, string> {
  return value === undefined || value === '' ? {} : { [name]: value };
}
