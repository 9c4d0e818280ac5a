import { z } from 'zod';
import { ReadCdpCommandData, TELEMETRY_ID_LENGTH, type CdpCommandData } from './telemetry-commands.ts';

/** The producer of an event (BrowserEventSource). */
export const EventSource = z.object({
  kind: z.enum(['cdp', 'kernel_api', 'extension', 'local_process']),
  event: z.string().optional(),
  metadata: z.record(z.string(), z.string()).optional(),
});
export type EventSource = z.infer<typeof EventSource>;

const text = z.string().optional();
const real = z.number().optional();
const int = z.int().optional();
const flag = z.boolean().optional();
const duration = z.number().min(0);
const connectionId = z.string().max(TELEMETRY_ID_LENGTH).optional();
const headers = z.record(z.string(), z.unknown()).optional();

export const TARGET_TYPES = [
  'page',
  'iframe',
  'worker',
  'background_page',
  'service_worker',
  'shared_worker',
  'other',
] as const;
export const CAPTCHA_TYPES = [
  'hcaptcha',
  'recaptcha_v2',
  'recaptcha_v3',
  'turnstile',
  'geetest',
  'press_and_hold',
  'other',
] as const;
export type CaptchaType = (typeof CAPTCHA_TYPES)[number];

const place = {
  frame_id: text,
  loader_id: text,
  session_id: text,
  target_id: text,
  target_type: z.enum(TARGET_TYPES).optional(),
  url: text,
};
/** Where in the browser an event occurred (BrowserEventContext). */
const context = { ...place, nav_seq: int };
const website = { website_host: text, website_path: text };
const apiCall = z.object({
  request_id: z.string(),
  operation_id: z.string(),
  status: z.int(),
  duration_ms: duration,
  code: text,
});

const captchaTask = { captcha_type: z.enum(CAPTCHA_TYPES), challenge_id: text, task_id: text, ...website };
const layoutShift = z.object({ had_recent_input: flag, value: real });
const lcp = z.object({ element_id: text, load_time: real, node_id: int, render_time: real, size: real, url: text });

/** Category and data by type of event. */
const shapes = {
  api_call: ['control', apiCall],
  platform_api_call: ['platform', apiCall],
  cdp_command: ['control', ReadCdpCommandData],
  cdp_connect: ['connection', z.object({ connection_id: connectionId }).optional()],
  cdp_disconnect: [
    'connection',
    z.object({
      connection_id: connectionId,
      duration_ms: duration,
      message_count: z.int().min(0),
      /** Commands without events, because the session excludes their method. */
      telemetry_excluded: z.int().min(1).optional(),
      reason: z.enum(['client_close', 'upstream_changed', 'upstream_error', 'context_cancelled']),
    }),
  ],
  live_view_connect: ['connection', z.object({ session_id: z.string() })],
  live_view_disconnect: ['connection', z.object({ session_id: z.string(), duration_ms: duration })],
  service_crashed: [
    'system',
    z.object({ service_name: z.string(), pid: int, phase: z.enum(['startup', 'running', 'gave_up']) }),
  ],
  system_oom_kill: [
    'system',
    z.object({
      process_name: z.string(),
      pid: z.int(),
      rss_kb: z.number(),
      constraint: z.enum(['none', 'memcg', 'cpuset', 'memory_policy']).optional(),
      mem_free_kb: real,
      mem_total_kb: real,
      top_tasks: z.array(z.object({ name: z.string(), pid: z.int(), rss_kb: z.number() })).optional(),
      trigger_pid: int,
      trigger_process_name: text,
    }),
  ],
  captcha_solve_started: ['captcha', z.object(captchaTask)],
  captcha_solve_result: [
    'captcha',
    z.object({
      ...captchaTask,
      status: z.enum(['success', 'failure', 'timeout', 'abandoned']),
      duration_ms: duration,
      error_code: text,
    }),
  ],
  captcha_challenge_result: [
    'captcha',
    z.object({
      captcha_type: z.enum(CAPTCHA_TYPES),
      status: z.enum(['solved', 'failure', 'timeout', 'abandoned']),
      challenge_id: z.string(),
      duration_ms: duration,
      ...website,
    }),
  ],
  console_log: [
    'console',
    z.object({
      ...context,
      level: text,
      text,
      args: z.array(z.string()).optional(),
      stack_trace: z.unknown().optional(),
    }),
  ],
  console_error: [
    'console',
    z.object({
      ...context,
      text: z.string(),
      level: text,
      args: z.array(z.string()).optional(),
      line: int,
      column: int,
      source_url: text,
      stack_trace: z.unknown().optional(),
    }),
  ],
  network_request: [
    'network',
    z.object({
      ...context,
      request_id: text,
      method: text,
      document_url: text,
      headers,
      resource_type: text,
      initiator_type: text,
      post_data: text,
      is_redirect: flag,
      redirect_url: text,
    }),
  ],
  network_response: [
    'network',
    z.object({
      ...context,
      request_id: text,
      method: text,
      status: int,
      status_text: text,
      headers,
      mime_type: text,
      resource_type: text,
      body: text,
    }),
  ],
  network_loading_failed: [
    'network',
    z.object({ ...context, request_id: text, error_text: text, canceled: flag, resource_type: text }),
  ],
  network_idle: ['network', z.object(context)],
  page_navigation: ['page', z.object({ ...place, parent_frame_id: text })],
  page_dom_content_loaded: ['page', z.object({ ...context, cdp_timestamp: real })],
  page_load: ['page', z.object({ ...context, cdp_timestamp: real })],
  page_tab_opened: [
    'page',
    z.object({
      target_id: text,
      target_type: z.enum(TARGET_TYPES).optional(),
      url: text,
      title: text,
      opener_id: text,
    }),
  ],
  page_crashed: ['page', z.object({ target_id: z.string(), target_type: z.enum(TARGET_TYPES), url: z.string() })],
  page_layout_shift: [
    'page',
    z.object({
      ...context,
      source_frame_id: text,
      time: real,
      duration: real,
      layout_shift_details: layoutShift.optional(),
    }),
  ],
  page_lcp: ['page', z.object({ ...context, source_frame_id: text, time: real, lcp_details: lcp.optional() })],
  page_layout_settled: ['page', z.object(context)],
  page_navigation_settled: ['page', z.object(context)],
  interaction_click: ['interaction', z.object({ ...context, x: real, y: real, selector: text, tag: text, text })],
  interaction_key: ['interaction', z.object({ ...context, key: text, selector: text, tag: text })],
  interaction_scroll_settled: [
    'interaction',
    z.object({ ...context, from_x: real, from_y: real, to_x: real, to_y: real, target_selector: text }),
  ],
  monitor_screenshot: ['screenshot', z.object({ png: text })],
  monitor_disconnected: ['monitor', z.object({ reason: z.literal('chrome_restarted').optional() })],
  monitor_reconnected: ['monitor', z.object({ reconnect_duration_ms: real })],
  monitor_reconnect_failed: ['monitor', z.object({ reason: z.literal('reconnect_exhausted').optional() })],
  monitor_init_failed: ['monitor', z.object({ step: text })],
} as const satisfies Record<string, readonly [string, z.ZodType]>;

/** Every type of event. */
export type TelemetryEventType = keyof typeof shapes;
type CategoryOf<T extends TelemetryEventType> = (typeof shapes)[T][0];
/** The data of one type of event. */
export type TelemetryEventData<T extends TelemetryEventType> = T extends 'cdp_command'
  ? CdpCommandData
  : z.infer<(typeof shapes)[T][1]>;

/** The category that events of a type belong to. */
export function categoryOf<T extends TelemetryEventType>(type: T): CategoryOf<T> {
  return shapes[type][0];
}

/** One event with its sequence number in the session's stream (TelemetryStreamResponse). */
export const TelemetryEnvelope = z.object({
  seq: z.int().min(1),
  event: z
    .object({
      ts: z.int(),
      type: z.string(),
      category: z.string(),
      source: EventSource,
      data: z.unknown().optional(),
      truncated: z.boolean().optional(),
    })
    .superRefine((event, check) => {
      const shape = Object.hasOwn(shapes, event.type) ? shapes[event.type as TelemetryEventType] : null;
      // Types newer than this list are accepted as they are.
      if (shape === null) return;
      if (event.category !== shape[0]) check.addIssue({ code: 'custom', path: ['category'], message: 'not its own' });
      const parsed = shape[1].safeParse(event.data);
      for (const issue of parsed.error?.issues ?? []) {
        check.addIssue({ code: 'custom', path: ['data', ...issue.path], message: issue.message });
      }
    }),
});
export type TelemetryEnvelope = z.infer<typeof TelemetryEnvelope>;
