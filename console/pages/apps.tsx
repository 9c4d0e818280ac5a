import type { ReactNode } from 'react';
import { Link } from 'wouter';
import type { AppAction, AppVersion } from '../../contract/apps.ts';
import { Environment } from '../apps/environment.tsx';
import { RunAction } from '../apps/run-action.tsx';
import { JsonText } from '../apps/states.tsx';
import { withQuery } from '../calls/call.ts';
import { LinkButton } from '../parts/button.tsx';
import { Loaded, useResource } from '../parts/resource.tsx';
import { SearchedTable } from '../parts/list.tsx';
import { Page, Section } from '../parts/page.tsx';
import { Empty } from '../parts/states.tsx';
import { appWords as words } from '../words/apps.ts';
import { commonWords } from '../words/common.ts';

/** Versions of apps, newest first. */
export default function Apps(): ReactNode {
  return (
    <Page title={words.apps} actions={<LinkButton href="/deployments">{words.toDeployments}</LinkButton>}>
      <p className="lead">{words.appsText}</p>
      <SearchedTable<AppVersion>
        label={words.apps}
        search={commonWords.name}
        path="/apps"
        empty={{
          title: words.noApps,
          text: words.noAppsText,
          action: (
            <LinkButton href="/deployments" kind="primary">
              {words.toDeployments}
            </LinkButton>
          ),
        }}
        columns={[
          {
            label: words.app,
            cell: ({ app_name: name }) => <Link href={`/apps/${encodeURIComponent(name)}`}>{name}</Link>,
          },
          { label: words.version, cell: ({ version }) => version },
          { label: words.actions, cell: ({ actions }) => actions.map(({ name }) => name).join(', ') || '–' },
          {
            label: words.deployment,
            cell: ({ deployment }) => (
              <Link href={`/deployments/${deployment}`}>
                <code>{deployment}</code>
              </Link>
            ),
          },
        ]}
      />
    </Page>
  );
}

/** Number of versions shown; older ones are listed under deployments. */
const VERSIONS = 20;

/** One app: its versions with their actions, schemas and environment. */
export function AppPage({ id }: { id: string }): ReactNode {
  const name = decodedOnce(id);
  const query = useResource<AppVersion[]>(withQuery('/apps', { app_name: name, limit: VERSIONS }));
  return (
    <Page title={name} back={{ href: '/apps', label: words.apps }}>
      <Loaded query={query}>
        {(versions) =>
          versions.length === 0 ? (
            <Empty
              title={words.noSuchApp}
              text={words.noSuchAppText}
              action={<LinkButton href="/deployments">{words.toDeployments}</LinkButton>}
            />
          ) : (
            versions.map((version) => <Version key={version.id} version={version} />)
          )
        }
      </Loaded>
    </Page>
  );
}

function Version({
  version: { app_name: app, version, actions, deployment, env_vars: variables },
}: {
  version: AppVersion;
}): ReactNode {
  return (
    <>
      <Section
        title={`${words.version} ${version}`}
        actions={<Link href={`/deployments/${deployment}`}>{words.deployment}</Link>}
      >
        <ul className="entries">
          {actions.map((action) => (
            <li key={action.name}>
              <div className="entry-head">
                <h3>{action.name}</h3>
                <RunAction app={app} version={version} action={action} />
              </div>
              <Schema label={words.input} schema={action.input_schema} />
              <Schema label={words.output} schema={action.output_schema} />
            </li>
          ))}
        </ul>
      </Section>
      <Environment variables={variables} />
    </>
  );
}

function Schema({ label, schema }: { label: string; schema: AppAction['input_schema'] }): ReactNode {
  if (schema === undefined || schema === null) return null;
  return (
    <details>
      <summary>{label}</summary>
      <JsonText label={label} text={JSON.stringify(schema)} />
    </details>
  );
}

/** Names are URL-encoded in addresses; the router may have decoded them already. */
function decodedOnce(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
