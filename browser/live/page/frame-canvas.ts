/** Draws frames on a canvas, and maps canvas points to page points. */
export interface FrameCanvas {
  draw(jpeg: ArrayBuffer): Promise<void>;
  /** Sets the size of the shown page, in CSS pixels. */
  setPageSize(width: number, height: number): void;
  /** The page point at a point of the viewer's window; null before the first frame. */
  toPage(clientX: number, clientY: number): { x: number; y: number } | null;
}

/** Creates the frame canvas on `canvas`. */
export function createFrameCanvas(canvas: HTMLCanvasElement): FrameCanvas {
  const context = canvas.getContext('2d', { alpha: false });
  const page = { width: 0, height: 0 };
  let drawn = 0;
  let latest = 0;
  return {
    draw: async (jpeg) => {
      const number = (latest += 1);
      const bitmap = await createImageBitmap(new Blob([jpeg], { type: 'image/jpeg' }));
      // Frames are decoded concurrently: drop an older one that finishes late.
      if (number < drawn) return;
      drawn = number;
      if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
        canvas.width = bitmap.width;
        canvas.height = bitmap.height;
      }
      context?.drawImage(bitmap, 0, 0);
      bitmap.close();
    },
    setPageSize: (width, height) => Object.assign(page, { width, height }),
    toPage: (clientX, clientY) => {
      if (page.width === 0) return null;
      const box = canvas.getBoundingClientRect();
      const clamp = (value: number, limit: number): number => Math.min(Math.max(value, 0), limit - 1);
      return {
        x: clamp(((clientX - box.left) / box.width) * page.width, page.width),
        y: clamp(((clientY - box.top) / box.height) * page.height, page.height),
      };
    },
  };
}
