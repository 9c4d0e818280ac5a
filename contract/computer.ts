import { z } from 'zod';

/** Longest pause of a batch's `sleep`, in milliseconds. */
const MAX_SLEEP_MS = 30_000;
/** Longest hold of a key or button, and longest pause between two keystrokes or drag steps, in milliseconds. */
export const MAX_HOLD_MS = 30_000;
/** Longest clipboard text, in characters. */
export const MAX_CLIPBOARD_TEXT = 1_000_000;

const Coordinate = z.number().min(0).max(100_000);
const HoldKeys = z.array(z.string().min(1).max(64)).max(8).optional();

/** Body of `click_mouse`: coordinates are CSS pixels of the viewport. */
export const ClickMouse = z.strictObject({
  x: Coordinate,
  y: Coordinate,
  button: z.enum(['left', 'right', 'middle', 'back', 'forward']).default('left'),
  click_type: z.enum(['down', 'up', 'click']).default('click'),
  num_clicks: z.int().min(1).max(10).default(1),
  hold_keys: HoldKeys,
});
export type ClickMouse = z.infer<typeof ClickMouse>;

/** Body of `move_mouse`. Without `duration_ms` a smooth move takes as long as its distance suggests. */
export const MoveMouse = z.strictObject({
  x: Coordinate,
  y: Coordinate,
  smooth: z.boolean().default(true),
  duration_ms: z.int().min(50).max(5000).optional(),
  hold_keys: HoldKeys,
});
export type MoveMouse = z.infer<typeof MoveMouse>;

/** Header with the target id of the page that the input is for: it is rejected if another page is in front. */
export const PAGE_HEADER = 'x-holdfast-page';

/** Body of `type`: `delay` is the pause between keystrokes in milliseconds. */
export const TypeText = z.strictObject({
  text: z.string().max(100_000),
  delay: z.int().min(0).max(MAX_HOLD_MS).default(0),
});
export type TypeText = z.infer<typeof TypeText>;

/** Body of `press_key`: each entry is a key symbol (`Return`, `a`) or a combination (`Ctrl+Shift+Tab`). */
export const PressKey = z.strictObject({
  keys: z.array(z.string().min(1).max(64)).min(1).max(100),
  duration: z.int().min(0).max(MAX_HOLD_MS).default(0),
  hold_keys: HoldKeys,
});
export type PressKey = z.infer<typeof PressKey>;

/** Body of `scroll`: deltas are notches of a wheel; positive scrolls right and down. */
export const Scroll = z.strictObject({
  x: Coordinate,
  y: Coordinate,
  delta_x: z.number().min(-1000).max(1000).default(0),
  delta_y: z.number().min(-1000).max(1000).default(0),
  hold_keys: HoldKeys,
});
export type Scroll = z.infer<typeof Scroll>;

/** Body of `drag_mouse`. `smooth` overrides `steps_per_segment` and `step_delay_ms` (at most {@link MAX_HOLD_MS}). */
export const DragMouse = z.strictObject({
  path: z
    .array(z.tuple([Coordinate, Coordinate]))
    .min(2)
    .max(1000),
  button: z.enum(['left', 'middle', 'right']).default('left'),
  delay: z.int().min(0).max(MAX_HOLD_MS).default(0),
  duration_ms: z.int().min(50).max(10_000).optional(),
  hold_keys: HoldKeys,
  smooth: z.boolean().default(true),
  step_delay_ms: z.int().min(0).default(50),
  steps_per_segment: z.int().min(1).max(1000).default(10),
});
export type DragMouse = z.infer<typeof DragMouse>;

/** Body of `cursor`. */
export const SetCursor = z.strictObject({ hidden: z.boolean() });

/** Body of `screenshot`; the answer is a PNG. */
export const Screenshot = z.strictObject({
  region: z
    .strictObject({
      x: Coordinate,
      y: Coordinate,
      width: z.number().min(1).max(16_384),
      height: z.number().min(1).max(16_384),
    })
    .optional(),
});
export type Screenshot = z.infer<typeof Screenshot>;

/** A pause inside a batch, in milliseconds. */
const Sleep = z.strictObject({ duration_ms: z.int().min(0).max(MAX_SLEEP_MS) });

/** One action of a batch: `type` names the property that holds its body. */
export const ComputerAction = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('click_mouse'), click_mouse: ClickMouse }),
  z.strictObject({ type: z.literal('move_mouse'), move_mouse: MoveMouse }),
  z.strictObject({ type: z.literal('type_text'), type_text: TypeText }),
  z.strictObject({ type: z.literal('press_key'), press_key: PressKey }),
  z.strictObject({ type: z.literal('scroll'), scroll: Scroll }),
  z.strictObject({ type: z.literal('drag_mouse'), drag_mouse: DragMouse }),
  z.strictObject({ type: z.literal('set_cursor'), set_cursor: SetCursor }),
  z.strictObject({ type: z.literal('sleep'), sleep: Sleep }),
]);
export type ComputerAction = z.infer<typeof ComputerAction>;

/** Body of `batch`: executed in order until the first failure. */
export const Batch = z.strictObject({ actions: z.array(ComputerAction).min(1).max(100) });
export type Batch = z.infer<typeof Batch>;

/** Answer of `get_mouse_position`. */
export const MousePosition = z.object({ x: z.number(), y: z.number() });
export type MousePosition = z.infer<typeof MousePosition>;

/** Body of `clipboard/write` and response of `clipboard/read`: plain text. */
export const ClipboardText = z.strictObject({ text: z.string().max(MAX_CLIPBOARD_TEXT) });
