import { z } from 'zod';
import { COMMAND_METHODS } from './telemetry-commands.ts';

/** Telemetry categories of the interface; the first four are captured whenever telemetry is on. */
export const OPERATIONAL_CATEGORIES = ['control', 'connection', 'system', 'captcha'] as const;
export const PROTOCOL_CATEGORIES = ['console', 'network', 'page', 'interaction', 'screenshot', 'platform'] as const;
export const TELEMETRY_CATEGORIES = [...OPERATIONAL_CATEGORIES, ...PROTOCOL_CATEGORIES] as const;
export type TelemetryCategory = (typeof TELEMETRY_CATEGORIES)[number];

/** Categories of events: `monitor` reports on capturing itself and cannot be selected. */
export const EVENT_CATEGORIES = [...TELEMETRY_CATEGORIES, 'monitor'] as const;
export type EventCategory = (typeof EVENT_CATEGORIES)[number];

/** Longest string in an event's data, in bytes, including the marker at its end (interface.md, "Limits"). */
export const TELEMETRY_STRING_BYTES = 8192;
/** The end of a truncated string. */
export const TRUNCATION_MARKER = '...[truncated]';

const CategoryFlag = z.strictObject({ enabled: z.boolean().optional() });

/** `excluded_methods` are client commands without events; absent keeps the list, empty clears it. */
const ControlFlag = CategoryFlag.extend({
  cdp: z.strictObject({ excluded_methods: z.array(z.enum(COMMAND_METHODS)).max(100).optional() }).optional(),
});

/** Per-category flags (BrowserTelemetryCategoriesConfig). */
export const TelemetryCategories = z.strictObject({
  control: ControlFlag.optional(),
  connection: CategoryFlag.optional(),
  system: CategoryFlag.optional(),
  captcha: CategoryFlag.optional(),
  console: CategoryFlag.optional(),
  network: CategoryFlag.optional(),
  page: CategoryFlag.optional(),
  interaction: CategoryFlag.optional(),
  screenshot: CategoryFlag.optional(),
  platform: CategoryFlag.optional(),
});

/** What a session captures (BrowserTelemetryConfig). */
export const TelemetryConfig = z.object({ browser: TelemetryCategories });

/** BrowserTelemetryRequestConfig of interface.md. */
export const TelemetryRequest = z
  .strictObject({
    enabled: z.boolean().optional(),
    browser: TelemetryCategories.optional(),
    export: z.record(z.string(), z.unknown()).optional(),
  })
  .refine((config) => config.enabled !== false || Object.keys(config.browser ?? {}).length === 0, {
    path: ['enabled'],
    message: 'false cannot be combined with category settings in `browser`',
  });
export type TelemetryRequest = z.infer<typeof TelemetryRequest>;
