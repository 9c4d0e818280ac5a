import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import {
  Batch,
  ClickMouse,
  ClipboardText,
  DragMouse,
  MousePosition,
  MoveMouse,
  PressKey,
  Screenshot,
  Scroll,
  SetCursor,
  TypeText,
} from '../../contract/computer.ts';
import { runBatch } from '../computer/batch.ts';
import { readClipboard, writeClipboard } from '../computer/clipboard.ts';
import { pressKeys, typeText } from '../computer/keyboard.ts';
import { clickMouse, dragMouse, moveMouse, scroll } from '../computer/mouse.ts';
import { takeScreenshot } from '../computer/screenshot.ts';
import { settleInput } from '../computer/settle.ts';
import type { BrowserDeps } from '../deps.ts';
import { withSession } from '../http/with-session.ts';
import type { Session } from '../session/session.ts';
import { SessionParams } from './params.ts';

/** `POST /browsers/{id}/computer/…`: mouse, keyboard and screen. Actions of one session run one after the other. */
export function computerRoutes(app: FastifyInstance, deps: BrowserDeps): void {
  const typed = app.withTypeProvider<ZodTypeProvider>();

  /** An action whose success has nothing to say: 200 with an empty body. */
  const action = <S extends z.ZodType>(
    name: string,
    body: S,
    run: (session: Session, input: z.infer<S>) => Promise<void>,
  ): void => {
    typed.post(
      `/browsers/:id/computer/${name}`,
      { schema: { params: SessionParams, body } },
      async (request, reply) => {
        const { id } = request.params;
        await withSession(deps, request, id, (session) =>
          session.exclusively(async () => {
            await run(session, body.parse(request.body));
            await settleInput(session);
          }),
        );
        return reply.code(200).send();
      },
    );
  };

  action('click_mouse', ClickMouse, clickMouse);
  action('move_mouse', MoveMouse, moveMouse);
  action('type', TypeText, typeText);
  action('press_key', PressKey, pressKeys);
  action('scroll', Scroll, scroll);
  action('drag_mouse', DragMouse, dragMouse);
  action('batch', Batch, runBatch);
  action('clipboard/write', ClipboardText, writeClipboard);

  typed.post(
    '/browsers/:id/computer/clipboard/read',
    { schema: { params: SessionParams, response: { 200: ClipboardText } } },
    (request) =>
      withSession(deps, request, request.params.id, (session) =>
        session.exclusively(async () => ({ text: await readClipboard(session) })),
      ),
  );

  typed.post(
    '/browsers/:id/computer/screenshot',
    { schema: { params: SessionParams, body: Screenshot.nullish() } },
    async (request, reply) => {
      const png = await withSession(deps, request, request.params.id, (session) =>
        takeScreenshot(session, request.body ?? {}),
      );
      return reply.type('image/png').send(png);
    },
  );
  typed.post(
    '/browsers/:id/computer/get_mouse_position',
    { schema: { params: SessionParams, response: { 200: MousePosition } } },
    (request) =>
      withSession(deps, request, request.params.id, ({ input }) =>
        Promise.resolve({ x: Math.round(input.x), y: Math.round(input.y) }),
      ),
  );
  typed.post('/browsers/:id/computer/cursor', { schema: { params: SessionParams, body: SetCursor } }, (request) =>
    withSession(deps, request, request.params.id, (session) => {
      session.input.cursorHidden = request.body.hidden;
      return Promise.resolve({ ok: true });
    }),
  );
}
