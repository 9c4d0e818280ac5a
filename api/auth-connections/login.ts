import { ConnectionLogin, LoginResponse } from '../../contract/connections.ts';
import { HoldfastError } from '../../contract/errors.ts';
import { IdParams, refusals } from '../answer-schemas.ts';
import { keyCallerOf } from '../caller.ts';
import type { ApiServer } from '../context.ts';
import { defined } from '../defined.ts';
import type { ApiParts } from '../parts.ts';
import { chosenProxy } from '../proxies/reference.ts';
import { withProxy } from './settings-rules.ts';

/** `POST /auth/connections/{id}/login`: starts a login flow. While one runs that has not expired: 409. */
export function registerLogin(app: ApiServer, { store, connections, answers }: ApiParts): void {
  app.route({
    method: 'POST',
    url: '/auth/connections/:id/login',
    config: { answersSecret: true },
    schema: {
      operationId: 'loginAuthConnection',
      tags: ['auth connections'],
      params: IdParams,
      body: ConnectionLogin,
      response: { 200: LoginResponse, ...refusals(400, 401, 403, 404, 409) },
    },
    handler: async (request) => {
      const row = await answers.find(keyCallerOf(request), request.params.id);
      const options = request.body ?? {};
      const project = { organizationId: row.organizationId, projectId: row.projectId };
      const proxy = await chosenProxy({ store }, project, options);
      const accepted = await connections.login(
        row.id,
        defined({
          browser: withProxy(options.browser, proxy),
          browserTelemetry: options.browser_telemetry,
          recordSession: options.record_session,
        }),
      );
      // The accepted document, not a newer one: the caller asked for this flow.
      const { flow } = accepted.document;
      await answers.settled(accepted);
      if (flow === null) throw new HoldfastError('operation_failed', 'the login did not start; try again');
      const link = answers.hostedLink(row.id, flow.flow_id);
      return {
        id: row.id,
        flow_type: flow.flow_type,
        hosted_url: link.url,
        flow_expires_at: flow.flow_expires_at,
        handoff_code: link.code,
        ...(flow.live_view_url === null ? {} : { live_view_url: flow.live_view_url }),
      };
    },
  });
}
