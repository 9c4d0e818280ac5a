/** The canvas that shows the pictures, and where on it a point of the page is. */
export interface Picture {
  draw(jpeg: ArrayBuffer): Promise<void>;
  /** Size of the shown page, in its CSS pixels. */
  size(width: number, height: number): void;
  /** The page's point under a point of the screen; null before the first picture. */
  toPage(clientX: number, clientY: number): { x: number; y: number } | null;
}

export function createPicture(canvas: HTMLCanvasElement): Picture {
  const context = canvas.getContext('2d', { alpha: false });
  const page = { width: 0, height: 0 };
  let drawn = 0;
  let latest = 0;
  return {
    draw: async (jpeg) => {
      const number = (latest += 1);
      const bitmap = await createImageBitmap(new Blob([jpeg], { type: 'image/jpeg' }));
      // Pictures are decoded side by side: an older one that comes late is not shown any more.
      if (number < drawn) return;
      drawn = number;
      if (canvas.width !== bitmap.width || canvas.height !== bitmap.height) {
        canvas.width = bitmap.width;
        canvas.height = bitmap.height;
      }
      context?.drawImage(bitmap, 0, 0);
      bitmap.close();
    },
    size: (width, height) => {
      Object.assign(page, { width, height });
    },
    toPage: (clientX, clientY) => {
      if (page.width === 0) return null;
      const box = canvas.getBoundingClientRect();
      const within = (value: number, limit: number): number => Math.min(Math.max(value, 0), limit - 1);
      return {
        x: within(((clientX - box.left) / box.width) * page.width, page.width),
        y: within(((clientY - box.top) / box.height) * page.height, page.height),
      };
    },
  };
}
