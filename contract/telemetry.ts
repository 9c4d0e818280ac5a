import { z } from 'zod';

/** Categories of telemetry, in the interface's words; the first four are captured whenever telemetry is on. */
export const OPERATIONAL_CATEGORIES = ['control', 'connection', 'system', 'captcha'] as const;
export const PROTOCOL_CATEGORIES = ['console', 'network', 'page', 'interaction', 'screenshot', 'platform'] as const;
export const TELEMETRY_CATEGORIES = [...OPERATIONAL_CATEGORIES, ...PROTOCOL_CATEGORIES] as const;
export type TelemetryCategory = (typeof TELEMETRY_CATEGORIES)[number];

const CategoryFlag = z.strictObject({ enabled: z.boolean().optional() });

/** Per-category flags (BrowserTelemetryCategoriesConfig). */
export const TelemetryCategories = z.strictObject({
  control: CategoryFlag.optional(),
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
