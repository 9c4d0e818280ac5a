/** Texts whose color stands out too little from what is behind them. Runs in the page, so it uses nothing from here. */
export function lowContrast(): string[] {
  const parse = (color: string) => (color.match(/[\d.]+/g) ?? []).map(Number);
  const luminance = ([r = 0, g = 0, b = 0]: number[]) =>
    [r, g, b]
      .map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
      .reduce((sum, value, index) => sum + value * ([0.2126, 0.7152, 0.0722][index] ?? 0), 0);
  const ground = (element: Element | null): number[] => {
    for (let at = element; at !== null; at = at.parentElement) {
      const color = parse(getComputedStyle(at).backgroundColor);
      if (color.length === 3 || (color[3] ?? 0) === 1) return color;
    }
    return [255, 255, 255];
  };
  const found: string[] = [];
  for (const element of Array.from(document.querySelectorAll('body *'))) {
    const own = Array.from(element.childNodes).some(
      (node) => node.nodeType === 3 && (node.textContent ?? '').trim() !== '',
    );
    if (!own || element.closest('script, style, noscript, .visually-hidden') || !element.getClientRects().length)
      continue;
    const [high = 0, low = 0] = [parse(getComputedStyle(element).color), ground(element)]
      .map(luminance)
      .sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < 4.5) found.push(`${element.textContent.slice(0, 40)}: ${ratio.toFixed(2)}`);
  }
  return found;
}
