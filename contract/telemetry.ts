import { z } from 'zod';
import { COMMAND_METHODS } from './telemetry-command-words.ts';

/** Categories of telemetry, in the interface's words; the first four are captured whenever telemetry is on. */
export const OPERATIONAL_CATEGORIES = ['control', 'connection', 'system', 'captcha'] as const;
export const PROTOCOL_CATEGORIES = ['console', 'network', 'page', 'interaction', 'screenshot', 'platform'] as const;
export const TELEMETRY_CATEGORIES = [...OPERATIONAL_CATEGORIES, ...PROTOCOL_CATEGORIES] as const;
export type TelemetryCategory = (typeof TELEMETRY_CATEGORIES)[number];

/** Categories as events carry them: `monitor` says how capturing itself fares, and cannot be chosen. */
export const EVENT_CATEGORIES = [...TELEMETRY_CATEGORIES, 'monitor'] as const;
export type EventCategory = (typeof EVENT_CATEGORIES)[number];

/** Longest string in an event's data, in bytes, the marker at its end included (interface.md, "Limits"). */
export const TELEMETRY_STRING_BYTES = 8192;
/** What a string that was cut ends with. */
export const TRUNCATION_MARKER = '...[truncated]';
/** Longest identifier of a connection, session, frame, download or context, in characters. */
export const TELEMETRY_ID_LENGTH = 128;
/** Longest scheme of a URL, in characters. */
export const URL_SCHEME_LENGTH = 32;

const CategoryFlag = z.strictObject({ enabled: z.boolean().optional() });

/** `excluded_methods` are commands of clients that are not told; absent leaves the list as it is, empty clears it. */
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

/** What a session captures, as it shows it (BrowserTelemetryConfig). */
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
