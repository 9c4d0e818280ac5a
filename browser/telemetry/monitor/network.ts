import type { Protocol } from 'devtools-protocol';
import type { CdpConnection } from '../../cdp/connection.ts';
import { truncateText } from '../truncate.ts';
import { placeOf, type EmitFromBrowser, type WatchedTarget } from './target.ts';

/** A page is idle after this long without requests, in milliseconds. */
const IDLE_MS = 500;
/** Maximum requests tracked at a time, all pages together. */
const MAX_PENDING = 2000;
/** Largest body to read, in bytes as transferred. */
const MAX_BODY_READ = 1024 * 1024;
/** How much of a body an event contains, in bytes: of structured data, and of other text. */
const BODY_BYTES = { structured: 8192, text: 4096 } as const;
/** How much body data Chromium buffers, in bytes. */
export const NETWORK_BUFFERS = {
  maxTotalBufferSize: 8 * 1024 * 1024,
  maxResourceBufferSize: MAX_BODY_READ,
  maxPostDataSize: 16 * 1024,
} as const;

/** A pending request. */
interface PendingRequest {
  target: WatchedTarget;
  method: string;
  url: string;
  frameId: string | undefined;
  type: string | undefined;
  response: Protocol.Network.Response | null;
}

/** Tracks requests and emits their events. */
interface NetworkWatch {
  requested(target: WatchedTarget, event: Protocol.Network.RequestWillBeSentEvent): void;
  responded(target: WatchedTarget, event: Protocol.Network.ResponseReceivedEvent): void;
  finished(target: WatchedTarget, event: Protocol.Network.LoadingFinishedEvent): void;
  failed(target: WatchedTarget, event: Protocol.Network.LoadingFailedEvent): void;
  /** Drops the requests of a target that is gone. */
  detached(target: WatchedTarget): void;
  stop(): void;
}

/** Creates the network watch of a monitor. `readBodies` is false if bodies may contain what a person typed. */
export function createNetworkWatch(cdp: CdpConnection, emit: EmitFromBrowser, readBodies: boolean): NetworkWatch {
  const pending = new Map<string, PendingRequest>();
  /** Pending requests by page, and the timers of pages without any. */
  const counts = new Map<string, number>();
  const idleTimers = new Map<string, NodeJS.Timeout>();
  const keyOf = (target: WatchedTarget, requestId: string): string => `${target.sessionId} ${requestId}`;

  const begin = (key: string, request: PendingRequest): void => {
    const { targetId } = request.target;
    const oldest = pending.size < MAX_PENDING ? undefined : pending.keys().next().value;
    if (oldest !== undefined) end(oldest);
    pending.set(key, request);
    counts.set(targetId, (counts.get(targetId) ?? 0) + 1);
    clearTimeout(idleTimers.get(targetId));
  };
  const end = (key: string): PendingRequest | undefined => {
    const request = pending.get(key);
    if (request === undefined) return undefined;
    pending.delete(key);
    const { target } = request;
    const left = (counts.get(target.targetId) ?? 1) - 1;
    counts.set(target.targetId, left);
    if (left > 0) return request;
    clearTimeout(idleTimers.get(target.targetId));
    const timer = setTimeout(() => emit('network_idle', 'Network.loadingFinished', placeOf(target)), IDLE_MS);
    timer.unref();
    idleTimers.set(target.targetId, timer);
    return request;
  };
  const emitResponse = (
    request: PendingRequest,
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
  const finish = async (request: PendingRequest, requestId: string, size: number): Promise<void> => {
    const { response, target } = request;
    if (response === null) return;
    const wanted = readBodies && size <= MAX_BODY_READ && isText(response.mimeType);
    // A body that is no longer available (the page has navigated) is omitted.
    const read = wanted
      ? await cdp.send('Network.getResponseBody', { requestId }, target.sessionId).catch(() => null)
      : null;
    emitResponse(request, requestId, response, read === null || read.base64Encoded ? undefined : read.body);
  };

  return {
    requested: (target, { requestId, request, redirectResponse, frameId, type, initiator, documentURL }) => {
      const key = keyOf(target, requestId);
      const before = redirectResponse === undefined ? undefined : end(key);
      if (before !== undefined && redirectResponse !== undefined) emitResponse(before, requestId, redirectResponse);
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
      const request = pending.get(keyOf(target, requestId));
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
    detached: (target) => {
      for (const [key, request] of pending) if (request.target === target) end(key);
      if (!target.top) return;
      clearTimeout(idleTimers.get(target.targetId));
      idleTimers.delete(target.targetId);
      counts.delete(target.targetId);
    },
    stop: () => {
      for (const timer of idleTimers.values()) clearTimeout(timer);
      pending.clear();
    },
  };
}

/** A request's post data as text; undefined if Chromium does not provide it (files, large bodies). */
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
