import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { CaptchaSolve } from '../../contract/captcha-solves.ts';
import { readInput } from '../../http/errors.ts';
import type { BrowserDeps } from '../deps.ts';
import { createAuthorizer } from '../http/authentication.ts';
import { projectsOf } from '../http/caller.ts';
import type { Session } from '../session/session.ts';
import { createCaptchaSolves, type CaptchaSolves } from '../telemetry/captcha-solves.ts';

const Params = z.object({ id: z.string().min(1).max(255) });

/** `POST /captcha_solves/{session id}`: what a solver makes of a session's captcha, told by workers alone. Not below /browsers, which callers reach. */
export function captchaSolveRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  const admit = createAuthorizer(deps);
  const bySession = new WeakMap<Session, CaptchaSolves>();
  const solvesOf = (session: Session): CaptchaSolves => {
    const known = bySession.get(session);
    if (known !== undefined) return known;
    const made = createCaptchaSolves(session.record.telemetry);
    bySession.set(session, made);
    // While what is told still reaches the session's readers.
    session.onEnd.add(() => {
      made.stop();
    });
    return made;
  };
  void app.register((guarded, _, done) => {
    guarded.addHook('onRequest', (request) => admit('key', request));
    guarded.post('/captcha_solves/:id', async (request, reply) => {
      const { id } = readInput(Params, request.params);
      const said = readInput(CaptchaSolve, request.body);
      solvesOf(deps.registry.running(projectsOf(request), id)).note(said);
      return reply.code(204).send();
    });
    done();
  });
}
