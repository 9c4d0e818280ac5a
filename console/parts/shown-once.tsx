import { type ReactNode, useState } from 'react';
import { inLanguage } from '../words/language.ts';
import { Button } from './button.tsx';

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

/** A secret that an answer has held this once, to be copied. */
export function ShownOnce({ secret, onClose }: { secret: string; onClose: () => void }): ReactNode {
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
