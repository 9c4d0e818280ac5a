import { z } from 'zod';
import * as enums from './telemetry-command-enums.ts';

/** Longest identifier of a connection, session, frame, download or context, in characters. */
export const TELEMETRY_ID_LENGTH = 128;
/** Longest scheme of a URL, in characters. */
export const URL_SCHEME_LENGTH = 32;

const id = z.string().max(TELEMETRY_ID_LENGTH);
const int = z.int();
const real = z.number();
const flag = z.boolean();
const length = z.int().min(0);

/** Members of every command event: the command, its connection and the browser session it addresses. */
const common = { command_id: int.optional(), connection_id: id.optional(), session_id: id.optional() };
const point = { x: real.optional(), y: real.optional() };
const node = { node_id: int.optional(), backend_node_id: int.optional(), object_id: id.optional() };
const tilt = { tilt_x: real.optional(), tilt_y: real.optional(), twist: int.optional() };

function command<M extends string, S extends z.ZodRawShape>(method: M, shape: S) {
  return z.strictObject({ method: z.literal(method), ...common, ...shape });
}

/** The data of a `cdp_command` event, by `method`: a summary without any text, URL or other value from a client. */
export const CdpCommandData = z.discriminatedUnion('method', [
  command('Autofill.trigger', {
    field_id: int,
    frame_id: id.optional(),
    mode: z.enum(enums.AUTOFILL_MODES).optional(),
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
    window_state: z.enum(enums.WINDOW_STATES).optional(),
  }),
  command('Input.dispatchDragEvent', {
    event_type: z.enum(enums.DRAG_PHASES),
    ...point,
    modifiers: int.optional(),
    drag_operations_mask: int.optional(),
    drag_item_count: length.optional(),
    drag_file_count: length.optional(),
    drag_mime_categories: z.array(z.enum(enums.MIME_CATEGORIES)).optional(),
  }),
  command('Input.dispatchKeyEvent', {
    event_type: z.enum(enums.KEY_PHASES),
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
    event_type: z.enum(enums.MOUSE_PHASES),
    button: z.enum(enums.MOUSE_BUTTONS).optional(),
    buttons: int.optional(),
    click_count: int.optional(),
    ...point,
    delta_x: real.optional(),
    delta_y: real.optional(),
    force: real.optional(),
    tangential_pressure: real.optional(),
    ...tilt,
    modifiers: int.optional(),
    pointer_type: z.enum(enums.POINTER_TYPES).optional(),
  }),
  command('Input.dispatchTouchEvent', {
    event_type: z.enum(enums.TOUCH_PHASES),
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
    event_type: z.enum(enums.MOUSE_PHASES),
    button: z.enum(enums.MOUSE_BUTTONS).optional(),
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
    gesture_source_type: z.enum(enums.GESTURE_SOURCES).optional(),
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
    gesture_source_type: z.enum(enums.GESTURE_SOURCES).optional(),
  }),
  command('Input.synthesizeTapGesture', {
    ...point,
    duration: int.optional(),
    tap_count: int.optional(),
    gesture_source_type: z.enum(enums.GESTURE_SOURCES).optional(),
  }),
  command('Page.bringToFront', {}),
  command('Page.captureScreenshot', {
    format: z.enum(enums.SCREENSHOT_FORMATS).optional(),
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
  command('Page.captureSnapshot', { format: z.enum(enums.SNAPSHOT_FORMATS).optional() }),
  command('Page.close', {}),
  command('Page.handleJavaScriptDialog', { accept: flag, prompt_text_length: length.optional() }),
  command('Page.navigate', {
    frame_id: id.optional(),
    url_scheme: z.string().max(URL_SCHEME_LENGTH).optional(),
    referrer_present: flag.optional(),
    referrer_policy: z.enum(enums.REFERRER_POLICIES).optional(),
    transition_type: z.enum(enums.TRANSITION_TYPES).optional(),
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
    transfer_mode: z.enum(enums.TRANSFER_MODES).optional(),
    scale: real.optional(),
    paper_width: real.optional(),
    paper_height: real.optional(),
    margin_top: real.optional(),
    margin_bottom: real.optional(),
    margin_left: real.optional(),
    margin_right: real.optional(),
  }),
  command('Input.cancelDragging', {}),
  command('DOM.setFileInputFiles', { file_count: length, ...node }),
  command('DOM.focus', node),
  command('DOM.scrollIntoViewIfNeeded', {
    ...node,
    rect_x: real.optional(),
    rect_y: real.optional(),
    rect_width: real.optional(),
    rect_height: real.optional(),
  }),
  command('Page.reload', {
    ignore_cache: flag.optional(),
    loader_id: id.optional(),
    script_length: length.optional(),
  }),
  command('Page.startScreencast', {
    format: z.enum(enums.SCREENCAST_FORMATS).optional(),
    quality: int.optional(),
    max_width: int.optional(),
    max_height: int.optional(),
    every_nth_frame: int.optional(),
  }),
  command('Page.stopScreencast', {}),
  command('Page.stopLoading', {}),
  command('Page.setWebLifecycleState', { state: z.enum(enums.LIFECYCLE_STATES) }),
  command('Target.activateTarget', { target_id: id }),
  command('Target.closeTarget', { target_id: id }),
  command('Target.createTarget', {
    url_scheme: z.string().max(URL_SCHEME_LENGTH).optional(),
    browser_context_id: id.optional(),
    left: int.optional(),
    top: int.optional(),
    width: int.optional(),
    height: int.optional(),
    window_state: z.enum(enums.WINDOW_STATES).optional(),
    background: flag.optional(),
    enable_begin_frame_control: flag.optional(),
    focus: flag.optional(),
    for_tab: flag.optional(),
    hidden: flag.optional(),
    new_window: flag.optional(),
  }),
  command('Target.createBrowserContext', {
    dispose_on_detach: flag.optional(),
    proxy_server_present: flag.optional(),
    proxy_bypass_list_present: flag.optional(),
    universal_network_access_origin_count: length.optional(),
  }),
  command('Target.disposeBrowserContext', { browser_context_id: id }),
  command('Target.openDevTools', { target_id: id, panel_id: id.optional() }),
]);
export type CdpCommandData = z.infer<typeof CdpCommandData>;

/** A command that has an event. */
export type CdpCommandMethod = CdpCommandData['method'];

/** Every command that has an event, in alphabetical order. */
export const COMMAND_METHODS: readonly CdpCommandMethod[] = CdpCommandData.options
  .map(({ shape }) => shape.method.value)
  .sort();

/** The same as read from a peer; some of them name the property `y` as YAML reads it: `true`. */
export const ReadCdpCommandData = z.preprocess((value) => {
  if (typeof value !== 'object' || value === null || !('true' in value)) return value;
  const { true: y, ...rest } = value;
  return { y, ...rest };
}, CdpCommandData);
