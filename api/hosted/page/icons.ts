import { svg } from './dom.ts';

const ICONS = {
  brand: ['M7 5v14', 'M17 5v14', 'M7 12h10'],
  lock: ['M7 11V8a5 5 0 0 1 10 0v3', 'M6 11h12a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1H6a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1Z'],
  check: ['M5 12.5 10 17.5 19 7'],
  cross: ['M7 7l10 10', 'M17 7 7 17'],
  alert: ['M12 8v5', 'M12 16.5v.01', 'M12 3 2.5 20h19L12 3Z'],
  clock: ['M12 7v5l3 2', 'M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z'],
  chevron: ['M9 6l6 6-6 6'],
  eye: ['M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12Z', 'M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6Z'],
  eyeOff: [
    'M4 4l16 16',
    'M9.5 5.9A9.6 9.6 0 0 1 12 5.5c6 0 9.5 6.5 9.5 6.5a17 17 0 0 1-3 3.7M6.3 7.6A16.600 16.600 0 0 0 2.500 12S6 18.500 12 18.500c1.500 0 2.900-.4 4.100-1',
    'M10 10a3 3 0 0 0 4 4',
  ],
  message: ['M4 5h16v11H9l-5 4V5Z', 'M8 10.500h.01M12 10.500h.01M16 10.500h.01'],
  phone: ['M6 3h3l1.500 5-2 1.500a12 12 0 0 0 6 6l1.500-2 5 1.500v3a2 2 0 0 1-2 2A16 16 0 0 1 4 5a2 2 0 0 1 2-2Z'],
  mail: ['M3 6h18v12H3V6Z', 'm3.500 7 8.500 6 8.500-6'],
  device: ['M8 2.500h8a1 1 0 0 1 1 1v17a1 1 0 0 1-1 1H8a1 1 0 0 1-1-1v-17a1 1 0 0 1 1-1Z', 'M11 18.500h2'],
  key: ['M15 14a5 5 0 1 0-4.600-3L3 18.400V21h3v-2h2v-2h2l1.400-1.400A5 5 0 0 0 15 14Z', 'M16 8h.01'],
  person: ['M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8Z', 'M4.500 20.500a7.500 7.500 0 0 1 15 0'],
  swap: ['M4 8h14l-3-3', 'M20 16H6l3 3'],
  door: ['M13 4h6v16h-6', 'M4 12h11', 'm11 8 4 4-4 4'],
  offline: [
    'M4 4l16 16',
    'M8.500 16a5 5 0 0 1 7 0',
    'M5 12.500a10 10 0 0 1 5-2.700M19 12.500a10 10 0 0 0-4-2.500',
    'M12 19.500v.01',
  ],
} as const;

export type IconName = keyof typeof ICONS;

/** A line icon in the text's color. Decoration only: its meaning is also given in words. */
export function icon(name: IconName, className = 'icon'): SVGSVGElement {
  return svg({ class: className }, ...ICONS[name]);
}
