import type { ReactNode } from 'react';
import type { CodeSource } from '../../contract/code-sources.ts';
import { call } from '../calls/call.ts';
import { ConfirmButton, CopyButton, useAction } from '../parts/actions.tsx';
import { FormButton } from '../parts/form-button.tsx';
import { SelectInput, TextInput } from '../parts/form.tsx';
import { ListTable } from '../parts/list.tsx';
import { Page } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { codeSourceWords as words } from '../words/code-sources.ts';

const PATH = '/code_sources';
const TYPES = (['twilio', 'mailgun'] as const).map((value) => ({ value, label: words[value] }));

/** Providers that forward texts and emails with one-time codes. */
export default function CodeSources(): ReactNode {
  return (
    <Page title={words.title} actions={<AddSource />}>
      <p className="lead">
        {words.text} {words.smtp}
      </p>
      <ListTable<CodeSource>
        label={words.title}
        path={PATH}
        empty={{ title: words.emptyTitle, text: words.emptyText, action: <AddSource /> }}
        columns={[
          { label: words.provider, cell: ({ type }) => words[type] },
          { label: words.url, cell: ({ url }) => <code>{url}</code> },
          { label: words.since, cell: ({ created_at: at }) => <When at={at} /> },
          { label: commonWords.actions, acts: true, cell: (source) => <SourceActions source={source} /> },
        ]}
      />
    </Page>
  );
}

function AddSource(): ReactNode {
  return (
    <FormButton
      kind="primary"
      label={words.add}
      done={words.added}
      invalidates={[PATH]}
      onSubmit={(values) => call<CodeSource>('POST', PATH, values)}
    >
      <SelectInput name="type" label={words.provider} options={TYPES} />
      <TextInput
        name="secret"
        label={words.secret}
        hint={words.secretHint}
        type="password"
        autoComplete="new-password"
        required
      />
    </FormButton>
  );
}

function SourceActions({ source: { id, url } }: { source: CodeSource }): ReactNode {
  const perform = useAction([PATH]);
  return (
    <div className="actions">
      <CopyButton kind="quiet" text={url} label={words.copy} done={words.copied} />
      <ConfirmButton
        title={words.removeTitle}
        text={words.removeText}
        onConfirm={() => perform(words.removed, () => call('DELETE', `${PATH}/${id}`))}
      />
    </div>
  );
}
