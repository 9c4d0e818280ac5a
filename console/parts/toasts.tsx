import { type ReactNode, useSyncExternalStore } from 'react';
import { inLanguage } from '../words/language.ts';
import { errorMessage } from './states.tsx';

const words = inLanguage({ en: { close: 'Dismiss' }, de: { close: 'Schließen' } });

/** How long success toasts stay, in milliseconds. Error toasts stay until dismissed. */
const SHOWN_MS = 6000;

interface Toast {
  id: number;
  kind: 'good' | 'bad';
  text: string;
}

let toasts: readonly Toast[] = [];
let lastId = 0;
const listeners = new Set<() => void>();

/** Shows a success toast; screen readers announce it politely. */
export function toastSuccess(text: string): void {
  const id = add('good', text);
  setTimeout(() => dismiss(id), SHOWN_MS);
}

/** Shows an error toast until it is dismissed. */
export function toastError(error: unknown): void {
  add('bad', errorMessage(error));
}

function add(kind: Toast['kind'], text: string): number {
  const id = ++lastId;
  set([...toasts, { id, kind, text }].slice(-3));
  return id;
}

function dismiss(id: number): void {
  set(toasts.filter((toast) => toast.id !== id));
}

function set(next: readonly Toast[]): void {
  toasts = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Container for the toasts; rendered once. */
export function Toasts(): ReactNode {
  const shown = useSyncExternalStore(subscribe, () => toasts);
  return (
    <div className="toasts" role="status" aria-live="polite">
      {shown.map(({ id, kind, text }) => (
        <div key={id} className={`toast toast-${kind}`}>
          <span>{text}</span>
          <button type="button" aria-label={words.close} onClick={() => dismiss(id)}>
            ×
          </button>
        </div>
      ))}
    </div>
  );
}
