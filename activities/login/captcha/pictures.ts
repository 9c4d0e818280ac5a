import type { Page } from 'playwright-core';
import type { Observation } from '../../../contract/activities.ts';
import type { PageReading, ReadField } from '../../../contract/reading.ts';
import { resolveFrame } from '../entering/page-input.ts';

/** How long a picture may take to load and to be captured, in milliseconds. */
const CAPTURE_TIMEOUT_MS = 3_000;
/** A picture of characters takes about 10 kB; what is larger is no such picture, and too large for a workflow. In bytes. */
const MAX_PICTURE_BYTES = 64 * 1024;

/** Captures the pictures whose characters the fields ask for, so that a person sees them. One that cannot be captured is left out. */
export async function capturePictures(page: Page, { fields }: PageReading): Promise<Pick<Observation, 'pictures'>> {
  const pictures: [name: string, dataUrl: string][] = [];
  for (const field of fields) {
    const picture = await capturePicture(page, field).catch(() => null);
    if (picture !== null) pictures.push([field.name, picture]);
  }
  return pictures.length === 0 ? {} : { pictures: Object.fromEntries(pictures) };
}

async function capturePicture(page: Page, { picture, frame }: ReadField): Promise<string | null> {
  if (picture === undefined) return null;
  const image = (await resolveFrame(page, { selector: picture, frame })).locator(picture).first();
  await image.evaluate(hasLoaded, null, { timeout: CAPTURE_TIMEOUT_MS });
  const bytes = await image.screenshot({ type: 'png', timeout: CAPTURE_TIMEOUT_MS });
  return bytes.length > MAX_PICTURE_BYTES ? null : `data:image/png;base64,${bytes.toString('base64')}`;
}

/** Waits until an image can be drawn; rejects if it is broken. Runs in the page. */
function hasLoaded(element: Element): Promise<void> | undefined {
  return element instanceof HTMLImageElement ? element.decode() : undefined;
}
