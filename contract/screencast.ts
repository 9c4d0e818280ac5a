import { z } from 'zod';

/** Event `frame` of `GET /browsers/{id}/computer/screencast`: the page as it looks now. */
export const ScreencastFrame = z.object({
  /** Size of the page's viewport, in CSS pixels; the picture may be larger or smaller. */
  width: z.number(),
  height: z.number(),
  /** A JPEG in base64. */
  jpeg: z.string(),
});
export type ScreencastFrame = z.infer<typeof ScreencastFrame>;

/** Inputs that open a picker which is no part of the page, and so of no picture of it. */
export const PICKED_INPUTS = ['date', 'time', 'datetime-local', 'month', 'week', 'color'] as const;

const Label = z.string();

/** What has the keyboard in the page in use. A typed text is never told; what a picker holds is, for it is drawn from here. */
export const FocusedControl = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('none') }),
  z.object({
    kind: z.literal('text'),
    label: Label,
    /** Nobody is to see what is typed there. */
    secret: z.boolean(),
    /** The keyboard that fits, as the attribute `inputmode` names it. */
    keyboard: z.enum(['text', 'email', 'tel', 'url', 'numeric', 'decimal', 'search']),
  }),
  z.object({
    kind: z.literal('list'),
    label: Label,
    options: z.array(z.object({ label: Label, disabled: z.boolean() })),
    /** Index of the chosen option; -1 where there is none. */
    chosen: z.int(),
  }),
  z.object({
    kind: z.literal('picker'),
    label: Label,
    input: z.enum(PICKED_INPUTS),
    value: z.string(),
    min: z.string(),
    max: z.string(),
    step: z.string(),
  }),
]);
export type FocusedControl = z.infer<typeof FocusedControl>;

/** Body of `computer/pick`: an option's index for a list, else the value as the input writes it (`2026-12-24`, `#ff0000`). */
export const Pick = z.strictObject({ value: z.string().max(100) });
export type Pick = z.infer<typeof Pick>;
