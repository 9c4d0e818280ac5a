import { z } from 'zod';
import { TELEMETRY_ID_LENGTH, URL_SCHEME_LENGTH } from './telemetry.ts';

const id = z.string().max(TELEMETRY_ID_LENGTH);
const int = z.int();
const real = z.number();
const flag = z.boolean();
const length = z.int().min(0);

export const MOUSE_PHASES = ['mousePressed', 'mouseReleased', 'mouseMoved', 'mouseWheel', 'other'] as const;
export const KEY_PHASES = ['keyDown', 'keyUp', 'rawKeyDown', 'char', 'other'] as const;
export const TOUCH_PHASES = ['touchStart', 'touchEnd', 'touchMove', 'touchCancel', 'other'] as const;
export const DRAG_PHASES = ['dragEnter', 'dragOver', 'drop', 'dragCancel', 'other'] as const;
export const MOUSE_BUTTONS = ['none', 'left', 'middle', 'right', 'back', 'forward', 'other'] as const;
export const POINTER_TYPES = ['mouse', 'pen', 'other'] as const;
export const GESTURE_SOURCES = ['default', 'touch', 'mouse', 'other'] as const;
export const WINDOW_STATES = ['normal', 'minimized', 'maximized', 'fullscreen', 'other'] as const;
export const SCREENSHOT_FORMATS = ['jpeg', 'png', 'webp', 'other'] as const;
export const SNAPSHOT_FORMATS = ['mhtml', 'other'] as const;
export const AUTOFILL_MODES = ['card', 'address'] as const;
export const MIME_CATEGORIES = [
  'text',
  'image',
  'audio',
  'video',
  'application',
  'font',
  'model',
  'multipart',
  'message',
  'other',
] as const;
export const REFERRER_POLICIES = [
  'noReferrer',
  'noReferrerWhenDowngrade',
  'origin',
  'originWhenCrossOrigin',
  'sameOrigin',
  'strictOrigin',
  'strictOriginWhenCrossOrigin',
  'unsafeUrl',
  'other',
] as const;
export const TRANSITION_TYPES = [
  'link',
  'typed',
  'address_bar',
  'auto_bookmark',
  'auto_subframe',
  'manual_subframe',
  'generated',
  'auto_toplevel',
  'form_submit',
  'reload',
  'keyword',
  'keyword_generated',
  'other',
] as const;

/** What every command event says: which command, of which connection, to which of the browser's sessions. */
const common = { command_id: int.optional(), connection_id: id.optional(), session_id: id.optional() };
const point = { x: real.optional(), y: real.optional() };
const tilt = { tilt_x: real.optional(), tilt_y: real.optional(), twist: real.optional() };

function command<M extends string, S extends z.ZodRawShape>(method: M, shape: S) {
  return z.strictObject({ method: z.literal(method), ...common, ...shape });
}

/**
 * The data of a `cdp_command` event, by `method` (interface.md, "CDP command event data"). It is a summary: no text, URL
 * or other value that a client sent is ever in it.
 */
export const CdpCommandData = z.discriminatedUnion('method', [
  command('Autofill.trigger', {
    field_id: int,
    frame_id: id.optional(),
    mode: z.enum(AUTOFILL_MODES).optional(),
    address_field_count: length.optional(),
  }),
  command('Browser.cancelDownload', { download_guid: id, browser_context_id: id.optional() }),
  command('Browser.close', {}),
  command('Browser.setContentsSize', { window_id: int, width: int.optional(), height: int.optional() }),
  command('Browser.setWindowBounds', {
    window_id: int,
    left: int.optional(),
    top: int.optional(),
    width: int.optional(),
    height: int.optional(),
    window_state: z.enum(WINDOW_STATES).optional(),
  }),
  command('Input.dispatchDragEvent', {
    event_type: z.enum(DRAG_PHASES),
    ...point,
    modifiers: int.optional(),
    drag_operations_mask: int.optional(),
    drag_mime_categories: z.array(z.enum(MIME_CATEGORIES)).optional(),
  }),
  command('Input.dispatchKeyEvent', {
    event_type: z.enum(KEY_PHASES),
    auto_repeat: flag.optional(),
    is_keypad: flag.optional(),
    is_system_key: flag.optional(),
    command_count: length.optional(),
    location: int.optional(),
    modifiers: int.optional(),
    named_key: z.string().optional(),
    text_length: length.optional(),
  }),
  command('Input.dispatchMouseEvent', {
    event_type: z.enum(MOUSE_PHASES),
    button: z.enum(MOUSE_BUTTONS).optional(),
    buttons: int.optional(),
    click_count: int.optional(),
    ...point,
    delta_x: real.optional(),
    delta_y: real.optional(),
    force: real.optional(),
    tangential_pressure: real.optional(),
    ...tilt,
    modifiers: int.optional(),
    pointer_type: z.enum(POINTER_TYPES).optional(),
  }),
  command('Input.dispatchTouchEvent', {
    event_type: z.enum(TOUCH_PHASES),
    touch_point_count: length,
    ...point,
    force: real.optional(),
    radius_x: real.optional(),
    radius_y: real.optional(),
    rotation_angle: real.optional(),
    tangential_pressure: real.optional(),
    ...tilt,
    modifiers: int.optional(),
  }),
  command('Input.emulateTouchFromMouseEvent', {
    event_type: z.enum(MOUSE_PHASES),
    button: z.enum(MOUSE_BUTTONS).optional(),
    click_count: int.optional(),
    ...point,
    delta_x: real.optional(),
    delta_y: real.optional(),
    modifiers: int.optional(),
  }),
  command('Input.imeSetComposition', {
    text_length: length,
    replacement_start: int.optional(),
    replacement_end: int.optional(),
    selection_start: int.optional(),
    selection_end: int.optional(),
  }),
  command('Input.insertText', { text_length: length }),
  command('Input.synthesizePinchGesture', {
    ...point,
    scale_factor: real.optional(),
    relative_speed: int.optional(),
    gesture_source_type: z.enum(GESTURE_SOURCES).optional(),
  }),
  command('Input.synthesizeScrollGesture', {
    ...point,
    x_distance: real.optional(),
    y_distance: real.optional(),
    x_overscroll: real.optional(),
    y_overscroll: real.optional(),
    prevent_fling: flag.optional(),
    speed: int.optional(),
    repeat_count: int.optional(),
    repeat_delay_ms: int.optional(),
    gesture_source_type: z.enum(GESTURE_SOURCES).optional(),
  }),
  command('Input.synthesizeTapGesture', {
    ...point,
    duration: int.optional(),
    tap_count: int.optional(),
    gesture_source_type: z.enum(GESTURE_SOURCES).optional(),
  }),
  command('Page.bringToFront', {}),
  command('Page.captureScreenshot', {
    format: z.enum(SCREENSHOT_FORMATS).optional(),
    quality: int.optional(),
    clip_x: real.optional(),
    clip_y: real.optional(),
    clip_width: real.optional(),
    clip_height: real.optional(),
    clip_scale: real.optional(),
    from_surface: flag.optional(),
    capture_beyond_viewport: flag.optional(),
    optimize_for_speed: flag.optional(),
  }),
  command('Page.captureSnapshot', { format: z.enum(SNAPSHOT_FORMATS).optional() }),
  command('Page.close', {}),
  command('Page.handleJavaScriptDialog', { accept: flag, prompt_text_length: length.optional() }),
  command('Page.navigate', {
    frame_id: id.optional(),
    url_scheme: z.string().max(URL_SCHEME_LENGTH).optional(),
    referrer_present: flag.optional(),
    referrer_policy: z.enum(REFERRER_POLICIES).optional(),
    transition_type: z.enum(TRANSITION_TYPES).optional(),
  }),
  command('Page.navigateToHistoryEntry', { entry_id: int }),
  command('Page.printToPDF', {
    landscape: flag.optional(),
    display_header_footer: flag.optional(),
    print_background: flag.optional(),
    prefer_css_page_size: flag.optional(),
    generate_tagged_pdf: flag.optional(),
    generate_document_outline: flag.optional(),
    header_template_present: flag.optional(),
    footer_template_present: flag.optional(),
    page_ranges_present: flag.optional(),
    scale: real.optional(),
    paper_width: real.optional(),
    paper_height: real.optional(),
    margin_top: real.optional(),
    margin_bottom: real.optional(),
    margin_left: real.optional(),
    margin_right: real.optional(),
  }),
]);
export type CdpCommandData = z.infer<typeof CdpCommandData>;

/** A command that has its event. */
export type CdpCommandMethod = CdpCommandData['method'];

/** The same as read from a peer, of which some name the property `y` by what YAML makes of it: `true`. */
export const ReadCdpCommandData = z.preprocess((value) => {
  if (typeof value !== 'object' || value === null || !('true' in value)) return value;
  const { true: y, ...rest } = value;
  return { y, ...rest };
}, CdpCommandData);
