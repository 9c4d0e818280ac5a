import { z } from 'zod';
import type { EmitFromBrowser, WatchedTarget } from './target.ts';
import { placeOf } from './target.ts';

const Told = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('click'),
    x: z.number(),
    y: z.number(),
    selector: z.string(),
    tag: z.string(),
    text: z.string(),
  }),
  z.object({ kind: z.literal('key'), key: z.string().optional(), selector: z.string(), tag: z.string() }),
  z.object({
    kind: z.literal('scroll'),
    from_x: z.number(),
    from_y: z.number(),
    to_x: z.number(),
    to_y: z.number(),
    target_selector: z.string(),
  }),
]);

/** Tells what the script has said; what it cannot have said is dropped. */
export function reportInteraction(target: WatchedTarget, told: unknown, emit: EmitFromBrowser): void {
  const parsed = Told.safeParse(told);
  if (!parsed.success) return;
  const { kind, ...said } = parsed.data;
  const event = 'Runtime.bindingCalled';
  const data = { ...placeOf(target), ...said };
  if (kind === 'click') emit('interaction_click', event, data);
  else if (kind === 'key') emit('interaction_key', event, data);
  else emit('interaction_scroll_settled', event, data);
}
