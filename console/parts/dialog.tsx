import { type ReactNode, useState } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { inLanguage } from '../words/language.ts';
import { Button } from './button.tsx';
import { useCanAct } from './roles.tsx';
import { toastError } from './toasts.tsx';

const words = inLanguage({ en: { cancel: 'Cancel' }, de: { cancel: 'Abbrechen' } });

/** A dialog above the page: keeps the focus, and Escape closes it. */
export function DialogBox({
  title,
  isOpen,
  onClose,
  alert = false,
  children,
}: {
  title: string;
  isOpen: boolean;
  onClose: () => void;
  alert?: boolean;
  children: ReactNode;
}): ReactNode {
  return (
    <ModalOverlay
      className="overlay"
      isOpen={isOpen}
      isDismissable={!alert}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
    >
      <Modal className="modal">
        <Dialog className="dialog" role={alert ? 'alertdialog' : 'dialog'}>
          <Heading slot="title">{title}</Heading>
          {children}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/** A button, for who may act here, for what cannot be undone: asks before it does it. `onConfirm` that rejects is told, and the dialog stays. */
export function ConfirmButton({
  label,
  title,
  text,
  kind = 'danger',
  onConfirm,
}: {
  label: string;
  title: string;
  text: string;
  kind?: 'danger' | 'plain';
  onConfirm: () => Promise<unknown>;
}): ReactNode {
  const canAct = useCanAct();
  const [isOpen, setOpen] = useState(false);
  const [isPending, setPending] = useState(false);
  const confirm = async (): Promise<void> => {
    setPending(true);
    try {
      await onConfirm();
      setOpen(false);
    } catch (error) {
      toastError(error);
    } finally {
      setPending(false);
    }
  };
  if (!canAct) return null;
  return (
    <>
      <Button kind={kind} onPress={() => setOpen(true)}>
        {label}
      </Button>
      <DialogBox alert title={title} isOpen={isOpen} onClose={() => setOpen(false)}>
        <p>{text}</p>
        <div className="actions">
          <Button onPress={() => setOpen(false)}>{words.cancel}</Button>
          <Button kind={kind === 'danger' ? 'danger' : 'primary'} isPending={isPending} onPress={() => void confirm()}>
            {label}
          </Button>
        </div>
      </DialogBox>
    </>
  );
}
