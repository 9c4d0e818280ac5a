import type { ReactNode } from 'react';
import type { BrowserPool } from '../../contract/browser-pools.ts';
import { call } from '../calls/call.ts';
import { ConfirmButton, useAction } from '../parts/actions.tsx';
import { FormButton, optionalField } from '../parts/form-button.tsx';
import { SwitchInput, TextInput } from '../parts/form.tsx';
import { SearchedTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { Badge, When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { formatDuration } from '../words/format.ts';
import { fill, inLanguage } from '../words/language.ts';

const words = inLanguage({
  en: {
    title: 'Browser pools',
    text: 'Browsers with the same settings, kept running so that programs get one immediately.',
    nameHint: 'Used by programs to request a browser',
    ready: 'Ready',
    readyOf: '{ready} of {size}',
    inUse: 'In use',
    headless: 'headless',
    window: 'with window',
    profile: 'Profile',
    profileHint: 'Name of a profile: the browsers are logged in wherever the profile is',
    size: 'Size',
    sizeHint: 'Number of browsers, including those in use',
    startUrl: 'Start page',
    timeout: 'Idle timeout in seconds',
    timeoutHint: 'An unused browser returns to the pool after this time; empty for {default}',
    create: 'Create a pool',
    created: 'The pool is being filled.',
    headlessHint: 'Saves memory and time',
    emptyTitle: 'No pools yet',
    emptyText: 'Create one if your programs should not have to wait for a browser to start.',
    flush: 'Replace',
    flushText: 'Idle browsers are closed and started again. Those in use are kept.',
    flushed: 'The browsers are being replaced.',
    removeText: 'Its browsers are closed.',
    removeUsedText: 'Its browsers are closed, including {used} in use: their programs are disconnected.',
    removed: 'The pool was deleted.',
  },
  de: {
    title: 'Browser-Pools',
    text: 'Browser einer Art, die gestartet bereitstehen, damit Programme sofort einen bekommen.',
    nameHint: 'Unter dem Programme nach einem Browser fragen',
    ready: 'Bereit',
    readyOf: '{ready} von {size}',
    inUse: 'In Gebrauch',
    headless: 'ohne Fenster',
    window: 'mit Fenster',
    profile: 'Profil',
    profileHint: 'Der Name eines Profils: Die Browser sind angemeldet, wo es das ist',
    size: 'Anzahl',
    sizeHint: 'Browser, die bereitgehalten werden, die benutzten mitgezählt',
    startUrl: 'Erste Seite',
    timeout: 'Leerlauf in Sekunden',
    timeoutHint: 'Ein Browser, den so lange niemand steuert, geht zurück; leer für {default}',
    create: 'Pool erstellen',
    created: 'Der Pool wird gefüllt.',
    headlessHint: 'Spart Speicher und Zeit',
    emptyTitle: 'Noch keine Pools',
    emptyText: 'Erstelle einen, wo ein Programm nicht auf den Start seines Browsers warten darf.',
    flush: 'Ersetzen',
    flushText: 'Wartende Browser werden geschlossen und neu gestartet. Benutzte bleiben.',
    flushed: 'Die Browser werden ersetzt.',
    removeText: 'Seine Browser werden geschlossen.',
    removeUsedText: 'Seine Browser werden geschlossen, auch die {used} in Gebrauch: Ihre Programme werden getrennt.',
    removed: 'Der Pool ist gelöscht.',
  },
});

const PATH = '/browser_pools';
/** Refetch interval in milliseconds. */
const REFRESH_MS = 5000;
/** Default idle timeout in seconds (contract/browser-pools.ts). */
const DEFAULT_TIMEOUT_S = 600;

/** Pools of browsers, with how many are ready. */
export default function BrowserPools(): ReactNode {
  return (
    <Page title={words.title} actions={<CreatePool />}>
      <p className="lead">{words.text}</p>
      <SearchedTable<BrowserPool>
        label={words.title}
        search={commonWords.name}
        path={PATH}
        refreshMs={REFRESH_MS}
        empty={{ title: words.emptyTitle, text: words.emptyText, action: <CreatePool /> }}
        columns={[
          { label: commonWords.name, cell: ({ name, id }) => name ?? <code>{id}</code> },
          { label: words.ready, cell: (pool) => <Ready pool={pool} /> },
          { label: words.inUse, cell: ({ acquired_count: used }) => used },
          {
            label: commonWords.type,
            cell: ({ browser_pool_config: { headless } }) => (headless === true ? words.headless : words.window),
          },
          { label: words.profile, cell: ({ browser_pool_config: { profile } }) => profile?.name ?? profile?.id ?? '–' },
          { label: commonWords.created, cell: ({ created_at: at }) => <When at={at} /> },
          { label: commonWords.actions, acts: true, cell: (pool) => <PoolActions pool={pool} /> },
        ]}
      />
    </Page>
  );
}

/** Ready browsers of a pool; it is full if the rest are in use. */
function Ready({
  pool: { available_count: ready, acquired_count: used, browser_pool_config: config },
}: {
  pool: BrowserPool;
}): ReactNode {
  const isFull = ready + used >= config.size;
  return <Badge tone={isFull ? 'good' : 'wait'}>{fill(words.readyOf, { ready, size: config.size })}</Badge>;
}

function PoolActions({ pool: { id, name = id, acquired_count: used } }: { pool: BrowserPool }): ReactNode {
  const perform = useAction([PATH]);
  const path = `${PATH}/${id}`;
  return (
    <div className="actions">
      <ConfirmButton
        kind="plain"
        label={words.flush}
        title={`${words.flush}: ${name}`}
        text={words.flushText}
        onConfirm={() => perform(words.flushed, () => call('POST', `${path}/flush`))}
      />
      <ConfirmButton
        title={`${commonWords.remove}: ${name}`}
        text={used === 0 ? words.removeText : fill(words.removeUsedText, { used })}
        onConfirm={() => perform(words.removed, () => call('DELETE', path, used === 0 ? undefined : { force: true }))}
      />
    </div>
  );
}

function CreatePool(): ReactNode {
  return (
    <FormButton
      kind="primary"
      label={words.create}
      done={words.created}
      invalidates={[PATH]}
      onSubmit={({ name, size, profile = '', start_url: startUrl, timeout_seconds: timeout = '', headless }) =>
        call('POST', PATH, {
          ...optionalField('name', name),
          size: Number(size),
          headless: headless === 'on',
          ...(profile === '' ? {} : { profile: { name: profile } }),
          ...optionalField('start_url', startUrl),
          ...(timeout === '' ? {} : { timeout_seconds: Number(timeout) }),
        })
      }
    >
      <TextInput name="name" label={commonWords.name} hint={words.nameHint} />
      <TextInput name="size" label={words.size} hint={words.sizeHint} inputMode="numeric" initial="1" required />
      <TextInput name="profile" label={words.profile} hint={words.profileHint} />
      <TextInput name="start_url" label={words.startUrl} type="url" />
      <TextInput
        name="timeout_seconds"
        label={words.timeout}
        hint={fill(words.timeoutHint, { default: formatDuration(DEFAULT_TIMEOUT_S) })}
        inputMode="numeric"
      />
      <SwitchInput name="headless" label={words.headless} hint={words.headlessHint} />
    </FormButton>
  );
}
