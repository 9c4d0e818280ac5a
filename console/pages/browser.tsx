import { type ReactNode, useState } from 'react';
import { Link, useLocation } from 'wouter';
import type { Browser } from '../../contract/browsers.ts';
import type { FileInfo } from '../../contract/files.ts';
import type { SupervisedPart } from '../../contract/logs.ts';
import type { Replay } from '../../contract/replays.ts';
import type { TelemetryEnvelope } from '../../contract/telemetry-events.ts';
import { call, withQuery } from '../calls/call.ts';
import { ActionButton, ConfirmButton, useAction } from '../parts/actions.tsx';
import { Button } from '../parts/button.tsx';
import { Loaded, Facts, useResource } from '../parts/resource.tsx';
import { EventLog } from '../parts/event-log.tsx';
import { Filter, ListTable, RowTable } from '../parts/list.tsx';
import { Page, Section } from '../parts/page.tsx';
import { When } from '../parts/when.tsx';
import { commonWords } from '../words/common.ts';
import { browserWords as words } from '../words/browsers.ts';
import { formatNumber, formatTime } from '../words/format.ts';
import { BrowserKind } from './browsers.tsx';

/** Refetch interval in milliseconds. */
const REFRESH_MS = 5000;

/** One browser: its live view, its recordings, files, logs and telemetry. */
export default function BrowserPage({ id }: { id: string }): ReactNode {
  const query = useResource<Browser>(`/browsers/${id}`);
  return <Loaded query={query}>{(browser) => <BrowserDetail browser={browser} />}</Loaded>;
}

function BrowserDetail({ browser }: { browser: Browser }): ReactNode {
  const [, navigate] = useLocation();
  const path = `/browsers/${browser.session_id}`;
  const perform = useAction(['/browsers']);
  const close = (): Promise<void> =>
    perform(words.closed, async () => {
      await call('DELETE', path);
      navigate('/browsers');
    });
  const view = browser.browser_live_view_url;
  return (
    <Page
      title={browser.name ?? browser.session_id}
      back={{ href: '/browsers', label: words.title }}
      actions={
        <>
          {view === undefined ? null : (
            <a className="button button-primary" href={view} target="_blank" rel="noreferrer">
              {words.liveView}
            </a>
          )}
          <ConfirmButton label={words.close} title={words.closeTitle} text={words.closeText} onConfirm={close} />
        </>
      }
    >
      <Section title={words.facts} actions={<BrowserKind browser={browser} />}>
        <Facts
          facts={[
            [commonWords.id, <code key="id">{browser.session_id}</code>],
            [
              words.profile,
              browser.profile === undefined ? null : (
                <Link href={`/profiles/${browser.profile.id}`}>{browser.profile.name ?? browser.profile.id}</Link>
              ),
            ],
            [words.opened, <When key="opened" at={browser.created_at} />],
            [words.size, `${browser.viewport.width} × ${browser.viewport.height}`],
            [words.startUrl, browser.start_url],
          ]}
        />
      </Section>
      <Recordings path={`${path}/replays`} />
      <Files path={path} />
      <Log path={path} />
      <Section title={words.telemetry}>
        {browser.telemetry === null ? (
          <p>{words.noTelemetry}</p>
        ) : (
          <ListTable<TelemetryEnvelope>
            label={words.telemetry}
            path={`${path}/telemetry/events`}
            within={{ order: 'desc' }}
            rowId={({ seq }) => String(seq)}
            refreshMs={REFRESH_MS}
            empty={{ title: words.noEvents, text: words.noEventsText }}
            columns={[
              { label: commonWords.when, cell: ({ event }) => formatTime(new Date(event.ts / 1000).toISOString()) },
              { label: words.event, cell: ({ event }) => <code>{event.type}</code> },
              { label: words.category, cell: ({ event }) => event.category },
            ]}
          />
        )}
      </Section>
    </Page>
  );
}

function Recordings({ path }: { path: string }): ReactNode {
  const query = useResource<Replay[]>(path, REFRESH_MS);
  const perform = useAction([path]);
  const post = (operation: string): Promise<void> => perform(null, () => call('POST', operation));
  return (
    <Section title={words.recordings} actions={<ActionButton label={words.record} onAct={() => post(path)} />}>
      <Loaded query={query}>
        {(replays) =>
          replays.length === 0 ? (
            <p>{words.noRecordings}</p>
          ) : (
            <RowTable
              label={words.recordings}
              rows={replays.map((replay) => ({ ...replay, id: replay.replay_id }))}
              columns={[
                { label: commonWords.when, cell: ({ started_at: at }) => <When at={at} /> },
                {
                  label: words.video,
                  cell: ({ id, finished_at: finished, replay_view_url: url }) =>
                    finished === null ? (
                      <ActionButton label={words.stop} onAct={() => post(`${path}/${id}/stop`)} />
                    ) : (
                      <a href={url ?? `${path}/${id}`} target="_blank" rel="noreferrer">
                        {words.watch}
                      </a>
                    ),
                },
              ]}
            />
          )
        }
      </Loaded>
    </Section>
  );
}

function Files({ path }: { path: string }): ReactNode {
  const [folder, setFolder] = useState('/');
  const query = useResource<FileInfo[]>(withQuery(`${path}/fs/list_files`, { path: folder }));
  return (
    <Section
      title={`${words.files}: ${folder}`}
      actions={
        folder === '/' ? null : (
          <Button onPress={() => setFolder(folder.replace(/\/[^/]+$/, '') || '/')}>{words.up}</Button>
        )
      }
    >
      <Loaded query={query}>
        {(files) =>
          files.length === 0 ? (
            <p>{words.noFiles}</p>
          ) : (
            <RowTable
              label={words.files}
              rows={files.map((file) => ({ ...file, id: file.path }))}
              columns={[
                {
                  label: commonWords.name,
                  cell: (file) =>
                    file.is_dir ? (
                      <Button kind="quiet" onPress={() => setFolder(file.path)}>
                        {file.name}/
                      </Button>
                    ) : (
                      <a href={withQuery(`${path}/fs/read_file`, { path: file.path })} download={file.name}>
                        {file.name}
                      </a>
                    ),
                },
                { label: words.bytes, cell: (file) => (file.is_dir ? '' : formatNumber(file.size_bytes)) },
                { label: commonWords.when, cell: ({ mod_time: at }) => <When at={at} /> },
              ]}
            />
          )
        }
      </Loaded>
    </Section>
  );
}

/** Processes of a browser session that write their own log. */
const WRITERS: readonly { value: SupervisedPart; label: string }[] = [
  { value: 'service', label: words.logOfService },
  { value: 'chromium', label: words.logOfChromium },
  { value: 'display', label: words.logOfDisplay },
  { value: 'recorder', label: words.logOfRecorder },
];

function Log({ path }: { path: string }): ReactNode {
  const [writer, setWriter] = useState<string>('service');
  const query = { source: 'supervisor', supervisor_process: writer };
  return (
    <EventLog
      title={words.log}
      stream={withQuery(`${path}/logs/stream`, query)}
      empty={words.noLog}
      actions={<Filter label={words.logOf} value={writer} options={WRITERS} onChange={setWriter} />}
    />
  );
}
