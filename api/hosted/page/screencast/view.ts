import type { ScreencastFrame } from '../../../../contract/screencast.ts';
import { h } from '../dom.ts';
import { words } from '../words.ts';

/** The canvas of a screencast, which can be zoomed to be larger than its visible part. */
export interface View {
  stage: HTMLElement;
  canvas: HTMLCanvasElement;
  draw(frame: ScreencastFrame): Promise<void>;
  /** Maps a point of the screen to the page, in CSS pixels. */
  toPage(clientX: number, clientY: number): { x: number; y: number };
  /** Pans by screen pixels; returns the rest that could not be panned, in CSS pixels of the page. */
  pan(x: number, y: number): { x: number; y: number };
  /** Toggles the zoom; returns whether it is on. */
  enlarge(): boolean;
}

export function createView(): View {
  const canvas = h('canvas', { class: 'picture', role: 'img', 'aria-label': words.pictureLabel });
  const pane = h('div', { class: 'picture-pane' }, canvas);
  const stage = h('div', { class: 'picture-stage' }, pane);
  const context = canvas.getContext('2d', { alpha: false });
  const page = { width: 1, height: 1 };
  let received = 0;
  let drawn = 0;
  return {
    stage,
    canvas,
    async draw({ width, height, jpeg }) {
      const number = (received += 1);
      const bytes = Uint8Array.from(atob(jpeg), (each) => each.charCodeAt(0));
      const picture = await createImageBitmap(new Blob([bytes], { type: 'image/jpeg' }));
      // Frames are decoded concurrently: drop those that were overtaken.
      if (number > drawn) {
        drawn = number;
        Object.assign(page, { width, height });
        if (canvas.width !== picture.width || canvas.height !== picture.height)
          Object.assign(canvas, { width: picture.width, height: picture.height });
        context?.drawImage(picture, 0, 0);
      }
      picture.close();
    },
    toPage(clientX, clientY) {
      const box = canvas.getBoundingClientRect();
      const within = (share: number, size: number): number => Math.round(Math.min(1, Math.max(0, share)) * (size - 1));
      return {
        x: within((clientX - box.left) / box.width, page.width),
        y: within((clientY - box.top) / box.height, page.height),
      };
    },
    pan(x, y) {
      const { scrollLeft, scrollTop } = pane;
      pane.scrollBy(x, y);
      const scale = page.width / Math.max(1, canvas.clientWidth);
      return { x: (x - pane.scrollLeft + scrollLeft) * scale, y: (y - pane.scrollTop + scrollTop) * scale };
    },
    enlarge() {
      const isLarger = pane.classList.toggle('larger');
      pane.scrollTo((pane.scrollWidth - pane.clientWidth) / 2, 0);
      return isLarger;
    },
  };
}
