import type { ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { Deployment } from '../../contract/apps.ts';
import { call, fieldError } from '../calls/call.ts';
import { FormButton, optionalField } from '../parts/form-button.tsx';
import { FileInput, type FormValues, SwitchInput, TextInput } from '../parts/form.tsx';
import { appWords as words } from '../words/apps.ts';
import { fill } from '../words/language.ts';

const PATH = '/deployments';
const REREADS = [PATH, '/apps'];

/** Buttons to deploy a program: from an uploaded archive, or from a GitHub repository. */
export function DeployButtons(): ReactNode {
  const [, navigate] = useLocation();
  const deploy = async (form: FormData): Promise<void> => {
    const made = await call<Deployment>('POST', PATH, form);
    navigate(`${PATH}/${made.id}`);
  };
  return (
    <div className="actions">
      <FormButton
        kind="primary"
        label={words.upload}
        done={words.deployed}
        invalidates={REREADS}
        onSubmit={(values, { file }) => {
          const form = formOf(values);
          if (file !== undefined) form.set('file', file);
          form.set('entrypoint_rel_path', values['entrypoint_rel_path'] ?? '');
          return deploy(form);
        }}
      >
        <FileInput name="file" label={words.archive} hint={words.archiveHint} accept=".zip,application/zip" />
        <TextInput name="entrypoint_rel_path" label={words.entrypoint} hint={words.entrypointHint} required />
        <CommonInputs />
      </FormButton>
      <FormButton
        label={words.fromGithub}
        done={words.deployed}
        invalidates={REREADS}
        onSubmit={(values) => {
          const form = formOf(values);
          const token = values['source.auth.token'] ?? '';
          const source = {
            type: 'github',
            url: values['source.url'],
            ref: values['source.ref'],
            entrypoint: values['source.entrypoint'],
            ...optionalField('path', values['source.path']),
            ...(token === '' ? {} : { auth: { method: 'github_token', token } }),
          };
          form.set('source', JSON.stringify(source));
          return deploy(form);
        }}
      >
        <TextInput
          name="source.url"
          label={words.repository}
          hint="https://github.com/owner/name"
          type="url"
          required
        />
        <TextInput name="source.ref" label={words.ref} initial="main" required />
        <TextInput name="source.entrypoint" label={words.entrypoint} hint={words.entrypointHint} required />
        <TextInput name="source.path" label={words.folder} hint={words.folderHint} />
        <TextInput
          name="source.auth.token"
          label={words.token}
          hint={words.tokenHint}
          type="password"
          autoComplete="new-password"
        />
        <CommonInputs />
      </FormButton>
    </div>
  );
}

function CommonInputs(): ReactNode {
  return (
    <>
      <TextInput name="version" label={words.version} hint={words.versionHint} />
      <TextInput name="env_vars" label={words.variables} hint={words.variablesHint} rows={4} />
      <SwitchInput name="force" label={words.force} hint={words.forceHint} />
    </>
  );
}

/** Form fields common to both kinds. Throws {@link CallError} for a line that is not NAME=value. */
function formOf({ version = '', force, env_vars: variables = '' }: FormValues): FormData {
  const form = new FormData();
  if (version !== '') form.set('version', version);
  if (force === 'on') form.set('force', 'true');
  for (const [index, line] of variables.split(/\r?\n/).entries()) {
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [, name, value] = /^([^=\s]+)=(.*)$/.exec(line) ?? [];
    if (name === undefined || value === undefined)
      throw fieldError('env_vars', fill(words.variablesFault, { line: index + 1 }));
    form.set(`env_vars[${name}]`, value);
  }
  return form;
}
