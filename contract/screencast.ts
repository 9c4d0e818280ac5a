import { z } from 'zod';

/** Event `frame` of `GET /browsers/{id}/computer/screencast`: a picture of the page. */
export const ScreencastFrame = z.object({
  /** Size of the viewport in CSS pixels; the picture may be larger or smaller. */
  width: z.number(),
  height: z.number(),
  /** A JPEG in base64. */
  jpeg: z.string(),
});
export type ScreencastFrame = z.infer<typeof ScreencastFrame>;

/** Inputs with a picker that is not part of the page, and so not in pictures of it. */
export const PICKER_INPUTS = ['date', 'time', 'datetime-local', 'month', 'week', 'color'] as const;

const Label = z.string();

/** The focused control of the current page. Never includes typed text, but the value of a picker, which is drawn from it. */
export const FocusedControl = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('none') }),
  z.object({
    kind: z.literal('text'),
    label: Label,
    /** True if the typed text must not be shown. */
    secret: z.boolean(),
    /** The keyboard, as in the attribute `inputmode`. */
    keyboard: z.enum(['text', 'email', 'tel', 'url', 'numeric', 'decimal', 'search']),
  }),
  z.object({
    kind: z.literal('list'),
    label: Label,
    options: z.array(z.object({ label: Label, disabled: z.boolean() })),
    /** Index of the selected option; -1 if there is none. */
    chosen: z.int(),
  }),
  z.object({
    kind: z.literal('picker'),
    label: Label,
    input: z.enum(PICKER_INPUTS),
    value: z.string(),
    min: z.string(),
    max: z.string(),
    step: z.string(),
  }),
]);
export type FocusedControl = z.infer<typeof FocusedControl>;

/** Body of `computer/pick`: an option's index for a list, else the input's value (`2026-12-24`, `#ff0000`). */
export const PickedValue = z.strictObject({ value: z.string().max(100) });
export type PickedValue = z.infer<typeof PickedValue>;
