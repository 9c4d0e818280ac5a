import type { ReactNode } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';

/** A modal dialog: it keeps the focus, and Escape closes it. */
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
