import { z } from 'zod';

const Coordinate = z.number().min(0).max(100_000);
const Modifiers = z.int().min(0).max(15);
const ButtonName = z.enum(['left', 'middle', 'right', 'back', 'forward']);

/** What the viewer sends. Points are CSS pixels of the page; modifiers are CDP's bits (1 Alt, 2 Ctrl, 4 Meta, 8 Shift). */
export const ViewerMessage = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('move'), x: Coordinate, y: Coordinate, modifiers: Modifiers }),
  z.strictObject({
    type: z.enum(['press', 'release']),
    x: Coordinate,
    y: Coordinate,
    button: ButtonName,
    clicks: z.int().min(1).max(3),
    modifiers: Modifiers,
  }),
  z.strictObject({
    type: z.literal('wheel'),
    x: Coordinate,
    y: Coordinate,
    /** Pixels to scroll. */
    deltaX: z.number().min(-10_000).max(10_000),
    deltaY: z.number().min(-10_000).max(10_000),
    modifiers: Modifiers,
  }),
  z.strictObject({
    type: z.enum(['keydown', 'keyup']),
    key: z.string().min(1).max(32),
    modifiers: Modifiers,
  }),
  z.strictObject({ type: z.literal('text'), text: z.string().min(1).max(10_000) }),
  z.strictObject({ type: z.literal('dialog'), accept: z.boolean(), text: z.string().max(10_000).optional() }),
]);
export type ViewerMessage = z.infer<typeof ViewerMessage>;

/** What the viewer is sent, besides frames (binary messages, JPEG). */
export type ViewMessage =
  | { type: 'page'; title: string; url: string; width: number; height: number; dialog: ViewDialog | null }
  /** All pages are closed. */
  | { type: 'blank' }
  | { type: 'ended' };

/** An open JavaScript dialog. */
interface ViewDialog {
  kind: string;
  message: string;
  defaultPrompt: string;
}
