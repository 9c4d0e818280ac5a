import type { Protocol } from 'devtools-protocol';
import type { CdpConnection } from '../../cdp/connection.ts';
import { truncateText } from '../cut.ts';
import type { EmitFromBrowser, WatchedTarget } from './target.ts';
import { placeOf } from './target.ts';

/** A page counts as idle when nothing has been under way for this long, in milliseconds. */
const IDLE_MS = 500;
/** Requests that are followed at a time, all pages together. */
const MAX_FOLLOWED = 2000;
/** Bodies are read up to this size, in bytes as sent: reading costs the browser and us. */
const MAX_BODY_READ = 1024 * 1024;
/** How much of a body an event keeps, in bytes: of a structured one, and of other text. */
const BODY_BYTES = { structured: 8192, text: 4096 } as const;
/** What Chromium may keep of bodies for us, in bytes. */
export const NETWORK_BUFFERS = {
  maxTotalBufferSize: 8 * 1024 * 1024,
  maxResourceBufferSize: MAX_BODY_READ,
  maxPostDataSize: 16 * 1024,
} as const;

/** One request that is under way. */
interface Followed {
  target: WatchedTarget;
  method: string;
  url: string;
  frameId: string | undefined;
  type: string | undefined;
  response: Protocol.Network.Response | null;
}

/** Follows requests from their sending to their end. */
export interface NetworkWatch {
  requested(target: WatchedTarget, event: Protocol.Network.RequestWillBeSentEvent): void;
  responded(target: WatchedTarget, event: Protocol.Network.ResponseReceivedEvent): void;
  finished(target: WatchedTarget, event: Protocol.Network.LoadingFinishedEvent): void;
  failed(target: WatchedTarget, event: Protocol.Network.LoadingFailedEvent): void;
  /** What belongs to a target that is gone is forgotten. */
  gone(target: WatchedTarget): void;
  stop(): void;
}

/** `readBodies` is false where they may hold what a person has typed. */
export function createNetworkWatch(cdp: CdpConnection, emit: EmitFromBrowser, readBodies: boolean): NetworkWatch {
  const followed = new Map<string, Followed>();
  /** Requests under way of each page, and the timer that runs while there are none. */
  const busy = new Map<string, number>();
  const idle = new Map<string, NodeJS.Timeout>();
  const keyOf = (target: WatchedTarget, requestId: string): string => `${target.sessionId} ${requestId}`;

  const begin = (key: string, request: Followed): void => {
    const { targetId } = request.target;
    const oldest = followed.size < MAX_FOLLOWED ? undefined : followed.keys().next().value;
    if (oldest !== undefined) end(oldest);
    followed.set(key, request);
    busy.set(targetId, (busy.get(targetId) ?? 0) + 1);
    clearTimeout(idle.get(targetId));
  };
  const end = (key: string): Followed | undefined => {
    const request = followed.get(key);
    if (request === undefined) return undefined;
    followed.delete(key);
    const { target } = request;
    const left = (busy.get(target.targetId) ?? 1) - 1;
    busy.set(target.targetId, left);
    if (left > 0) return request;
    clearTimeout(idle.get(target.targetId));
    const timer = setTimeout(() => {
      emit('network_idle', 'Network.loadingFinished', placeOf(target));
    }, IDLE_MS);
    timer.unref();
    idle.set(target.targetId, timer);
    return request;
  };
  const tellResponse = (
    request: Followed,
    requestId: string,
    response: Protocol.Network.Response,
    body?: string,
  ): void => {
    const limit = isStructured(response.mimeType) ? BODY_BYTES.structured : BODY_BYTES.text;
    const kept = body === undefined ? undefined : truncateText(body, limit);
    const data = {
      ...placeOf(request.target, { frameId: request.frameId, url: response.url }),
      request_id: requestId,
      method: request.method,
      status: response.status,
      status_text: response.statusText,
      headers: response.headers,
      mime_type: response.mimeType,
      ...(request.type === undefined ? {} : { resource_type: request.type }),
      ...(kept === undefined ? {} : { body: kept }),
    };
    emit('network_response', 'Network.loadingFinished', data, kept !== body);
  };
  const finish = async (request: Followed, requestId: string, size: number): Promise<void> => {
    const { response, target } = request;
    if (response === null) return;
    const wanted = readBodies && size <= MAX_BODY_READ && isText(response.mimeType);
    // A body that is not kept any more (the page has gone on) is left out.
    const read = wanted
      ? await cdp.send('Network.getResponseBody', { requestId }, target.sessionId).catch(() => null)
      : null;
    tellResponse(request, requestId, response, read === null || read.base64Encoded ? undefined : read.body);
  };

  return {
    requested: (target, { requestId, request, redirectResponse, frameId, type, initiator, documentURL }) => {
      const key = keyOf(target, requestId);
      const before = redirectResponse === undefined ? undefined : end(key);
      if (before !== undefined && redirectResponse !== undefined) tellResponse(before, requestId, redirectResponse);
      const postData = readBodies ? postDataOf(request) : undefined;
      begin(key, { target, method: request.method, url: request.url, frameId, type, response: null });
      emit('network_request', 'Network.requestWillBeSent', {
        ...placeOf(target, { frameId, url: request.url }),
        request_id: requestId,
        method: request.method,
        document_url: documentURL,
        headers: request.headers,
        initiator_type: initiator.type,
        ...(type === undefined ? {} : { resource_type: type }),
        ...(postData === undefined ? {} : { post_data: postData }),
        ...(redirectResponse === undefined ? {} : { is_redirect: true, redirect_url: redirectResponse.url }),
      });
    },
    responded: (target, { requestId, response }) => {
      const request = followed.get(keyOf(target, requestId));
      if (request !== undefined) request.response = response;
    },
    finished: (target, { requestId, encodedDataLength }) => {
      const request = end(keyOf(target, requestId));
      if (request !== undefined) void finish(request, requestId, encodedDataLength);
    },
    failed: (target, { requestId, errorText, canceled, type }) => {
      const request = end(keyOf(target, requestId));
      emit('network_loading_failed', 'Network.loadingFailed', {
        ...placeOf(target, request === undefined ? {} : { frameId: request.frameId, url: request.url }),
        request_id: requestId,
        error_text: errorText,
        canceled: canceled ?? false,
        resource_type: type,
      });
    },
    gone: (target) => {
      for (const [key, request] of followed) if (request.target === target) end(key);
      if (!target.top) return;
      clearTimeout(idle.get(target.targetId));
      idle.delete(target.targetId);
      busy.delete(target.targetId);
    },
    stop: () => {
      for (const timer of idle.values()) clearTimeout(timer);
      followed.clear();
    },
  };
}

/** What a request carries, as text; nothing where Chromium does not hand it out (files, large bodies). */
function postDataOf({ postDataEntries }: Protocol.Network.Request): string | undefined {
  const parts = (postDataEntries ?? []).flatMap(({ bytes }) =>
    bytes === undefined ? [] : [Buffer.from(bytes, 'base64')],
  );
  return parts.length === 0 ? undefined : Buffer.concat(parts).toString('utf8');
}

function isStructured(mimeType: string): boolean {
  return /json|xml|x-www-form-urlencoded/i.test(mimeType);
}

function isText(mimeType: string): boolean {
  return /^text\//i.test(mimeType) || /javascript/i.test(mimeType) || isStructured(mimeType);
}
