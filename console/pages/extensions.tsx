import type { ReactNode } from 'react';
import type { z } from 'zod';
import type { Extension } from '../../contract/extensions.ts';
import { call } from '../calls/call.ts';
import { ConfirmButton, useAction } from '../parts/actions.tsx';
import { FormButton } from '../parts/form-button.tsx';
import { FileInput, TextInput } from '../parts/form.tsx';
import { SearchedTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { formatNumber } from '../words/format.ts';
import { inLanguage } from '../words/language.ts';

const words = inLanguage({
  en: {
    title: 'Extensions',
    text: 'Extensions that browsers and pools can be opened with, by name or ID.',
    nameHint: 'Unique in its project; leave empty to use only the ID',
    unnamed: 'unnamed',
    size: 'Size',
    kilobytes: 'kB',
    made: 'Uploaded',
    upload: 'Upload an extension',
    uploaded: 'The extension was uploaded.',
    file: 'File',
    fileHint: 'A ZIP file with its manifest.json at the top, or a .crx',
    emptyTitle: 'No extensions yet',
    emptyText: 'Upload one, then reference it in `extensions` when creating a browser or pool.',
    download: 'Download',
    removeText: 'Running browsers keep it; new ones cannot use it.',
    removed: 'The extension was deleted.',
  },
  de: {
    title: 'Erweiterungen',
    text: 'Browser-Erweiterungen, mit denen Browser und Pools geöffnet werden können, nach Name oder Id.',
    nameHint: 'Einmalig in ihrem Projekt; leer, wenn die Id genügt',
    unnamed: 'ohne Namen',
    size: 'Größe',
    kilobytes: 'kB',
    made: 'Hochgeladen',
    upload: 'Erweiterung hochladen',
    uploaded: 'Die Erweiterung ist hochgeladen.',
    file: 'Datei',
    fileHint: 'Eine ZIP-Datei mit der manifest.json auf oberster Ebene, oder eine .crx',
    emptyTitle: 'Noch keine Erweiterungen',
    emptyText: 'Lade eine hoch und nenne sie in `extensions`, wenn ein Browser oder ein Pool entsteht.',
    download: 'Herunterladen',
    removeText: 'Laufende Browser behalten sie; neue lassen sich nicht mehr mit ihr öffnen.',
    removed: 'Die Erweiterung ist gelöscht.',
  },
});

const PATH = '/extensions';

/** Uploaded browser extensions. */
export default function Extensions(): ReactNode {
  const perform = useAction([PATH]);
  return (
    <Page title={words.title} actions={<Upload />}>
      <p className="lead">{words.text}</p>
      <SearchedTable<z.infer<typeof Extension>>
        label={words.title}
        search={commonWords.name}
        path={PATH}
        empty={{ title: words.emptyTitle, text: words.emptyText, action: <Upload /> }}
        columns={[
          { label: commonWords.name, cell: ({ name }) => name ?? <span className="muted">{words.unnamed}</span> },
          { label: commonWords.id, cell: ({ id }) => <code>{id}</code> },
          {
            label: words.size,
            cell: ({ size_bytes: bytes }) => `${formatNumber(Math.ceil(bytes / 1000))} ${words.kilobytes}`,
          },
          { label: commonWords.lastUsed, cell: ({ last_used_at: at }) => <When at={at} /> },
          { label: words.made, cell: ({ created_at: at }) => <When at={at} /> },
          {
            label: commonWords.actions,
            cell: ({ id, name }) => (
              <div className="actions">
                <a className="button button-plain" href={`${PATH}/${id}`} download={`${name ?? id}.zip`}>
                  {words.download}
                </a>
                <ConfirmButton
                  title={`${commonWords.remove}: ${name ?? id}`}
                  text={words.removeText}
                  onConfirm={() => perform(words.removed, () => call('DELETE', `${PATH}/${id}`))}
                />
              </div>
            ),
          },
        ]}
      />
    </Page>
  );
}

function Upload(): ReactNode {
  return (
    <FormButton
      kind="primary"
      label={words.upload}
      done={words.uploaded}
      invalidates={[PATH]}
      onSubmit={({ name = '' }, { file }) => {
        const form = new FormData();
        if (name !== '') form.set('name', name);
        if (file !== undefined) form.set('file', file);
        return call('POST', PATH, form).then(() => undefined);
      }}
    >
      <FileInput name="file" label={words.file} hint={words.fileHint} accept=".zip,.crx" />
      <TextInput name="name" label={commonWords.name} hint={words.nameHint} />
    </FormButton>
  );
}
