import type { CdpCommandData, CdpCommandMethod } from '../../contract/telemetry-commands.ts';
import {
  AUTOFILL_MODES,
  DRAG_PHASES,
  GESTURE_SOURCES,
  KEY_PHASES,
  MIME_CATEGORIES,
  MOUSE_BUTTONS,
  MOUSE_PHASES,
  POINTER_TYPES,
  REFERRER_POLICIES,
  SCREENSHOT_FORMATS,
  SNAPSHOT_FORMATS,
  TOUCH_PHASES,
  TRANSITION_TYPES,
  WINDOW_STATES,
} from '../../contract/telemetry-commands.ts';
import { TELEMETRY_ID_LENGTH, URL_SCHEME_LENGTH } from '../../contract/telemetry.ts';
import type { ClientCommand } from '../cdp/guard.ts';
import { NAMED_KEYS } from './named-keys.ts';

type Params = Record<string, unknown>;
/** Reads one field from what a client sent; undefined when it is not there, or not what it should be. */
type Reader = (params: Params) => unknown;
/** Fields of one command's summary. */
interface Summary {
  required: Record<string, Reader>;
  optional: Record<string, Reader>;
}

const at = (params: Params, name: string): unknown => (Object.hasOwn(params, name) ? params[name] : undefined);
const int =
  (name: string): Reader =>
  (params) => {
    const value = at(params, name);
    return Number.isSafeInteger(value) ? value : undefined;
  };
const real =
  (name: string): Reader =>
  (params) => {
    const value = at(params, name);
    return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
  };
const flag =
  (name: string): Reader =>
  (params) => {
    const value = at(params, name);
    return typeof value === 'boolean' ? value : undefined;
  };
/** A defined value as it is, any other as `other`. */
const word =
  (name: string, words: readonly string[]): Reader =>
  (params) => {
    const value = at(params, name);
    if (value === undefined) return undefined;
    return typeof value === 'string' && words.includes(value) ? value : 'other';
  };
/** The same where there must be one. */
const phase =
  (words: readonly string[]): Reader =>
  (params) =>
    word('type', words)(params) ?? 'other';
/** How many characters a text has; the text stays out. */
const lengthOf =
  (name: string): Reader =>
  (params) => {
    const value = at(params, name);
    return typeof value === 'string' ? countCharacters(value) : undefined;
  };
const countOf =
  (name: string): Reader =>
  (params) => {
    const value = at(params, name);
    return Array.isArray(value) ? value.length : undefined;
  };
/** Whether a text was given at all. */
const present =
  (name: string): Reader =>
  (params) => {
    const value = at(params, name);
    return value === undefined ? undefined : typeof value === 'string' && value !== '';
  };
const id =
  (name: string): Reader =>
  (params) =>
    identifier(at(params, name));
/** Fields of an object among the parameters. */
const within =
  (name: string, reader: Reader): Reader =>
  (params) =>
    reader(record(at(params, name)));
/** Fields of the first finger on the screen. */
const firstTouch =
  (reader: Reader): Reader =>
  (params) => {
    const points = at(params, 'touchPoints');
    return reader(record(Array.isArray(points) ? points[0] : undefined));
  };

const point = { x: real('x'), y: real('y') };
const delta = { delta_x: real('deltaX'), delta_y: real('deltaY') };
const tilt = { tilt_x: real('tiltX'), tilt_y: real('tiltY'), twist: real('twist') };
const modifiers = { modifiers: int('modifiers') };
const gestureSource = { gesture_source_type: word('gestureSourceType', GESTURE_SOURCES) };

/**
 * What may be told of each command. Whatever is not named here is never looked at: texts, URLs, paths, templates and
 * values cannot come into an event by mistake.
 */
const SUMMARIES: { [M in CdpCommandMethod]: Partial<Summary> } = {
  'Autofill.trigger': {
    required: { field_id: int('fieldId') },
    optional: {
      frame_id: id('frameId'),
      mode: (params) => AUTOFILL_MODES.find((mode) => at(params, mode) !== undefined),
      address_field_count: within('address', countOf('fields')),
    },
  },
  'Browser.cancelDownload': {
    required: { download_guid: id('guid') },
    optional: { browser_context_id: id('browserContextId') },
  },
  'Browser.close': {},
  'Browser.setContentsSize': {
    required: { window_id: int('windowId') },
    optional: { width: int('width'), height: int('height') },
  },
  'Browser.setWindowBounds': {
    required: { window_id: int('windowId') },
    optional: {
      left: within('bounds', int('left')),
      top: within('bounds', int('top')),
      width: within('bounds', int('width')),
      height: within('bounds', int('height')),
      window_state: within('bounds', word('windowState', WINDOW_STATES)),
    },
  },
  'Input.dispatchDragEvent': {
    required: { event_type: phase(DRAG_PHASES) },
    optional: {
      ...point,
      ...modifiers,
      drag_operations_mask: within('data', int('dragOperationsMask')),
      drag_mime_categories: within('data', mimeCategories),
    },
  },
  'Input.dispatchKeyEvent': {
    required: { event_type: phase(KEY_PHASES) },
    optional: {
      auto_repeat: flag('autoRepeat'),
      is_keypad: flag('isKeypad'),
      is_system_key: flag('isSystemKey'),
      command_count: countOf('commands'),
      location: int('location'),
      ...modifiers,
      named_key: (params) => {
        const key = at(params, 'key');
        return typeof key === 'string' && NAMED_KEYS.has(key) ? key : undefined;
      },
      text_length: lengthOf('text'),
    },
  },
  'Input.dispatchMouseEvent': {
    required: { event_type: phase(MOUSE_PHASES) },
    optional: {
      button: word('button', MOUSE_BUTTONS),
      buttons: int('buttons'),
      click_count: int('clickCount'),
      ...point,
      ...delta,
      force: real('force'),
      tangential_pressure: real('tangentialPressure'),
      ...tilt,
      ...modifiers,
      pointer_type: word('pointerType', POINTER_TYPES),
    },
  },
  'Input.dispatchTouchEvent': {
    required: { event_type: phase(TOUCH_PHASES), touch_point_count: countOf('touchPoints') },
    optional: {
      x: firstTouch(real('x')),
      y: firstTouch(real('y')),
      force: firstTouch(real('force')),
      radius_x: firstTouch(real('radiusX')),
      radius_y: firstTouch(real('radiusY')),
      rotation_angle: firstTouch(real('rotationAngle')),
      tangential_pressure: firstTouch(real('tangentialPressure')),
      tilt_x: firstTouch(real('tiltX')),
      tilt_y: firstTouch(real('tiltY')),
      twist: firstTouch(real('twist')),
      ...modifiers,
    },
  },
  'Input.emulateTouchFromMouseEvent': {
    required: { event_type: phase(MOUSE_PHASES) },
    optional: {
      button: word('button', MOUSE_BUTTONS),
      click_count: int('clickCount'),
      ...point,
      ...delta,
      ...modifiers,
    },
  },
  'Input.imeSetComposition': {
    required: { text_length: lengthOf('text') },
    optional: {
      replacement_start: int('replacementStart'),
      replacement_end: int('replacementEnd'),
      selection_start: int('selectionStart'),
      selection_end: int('selectionEnd'),
    },
  },
  'Input.insertText': { required: { text_length: lengthOf('text') } },
  'Input.synthesizePinchGesture': {
    optional: {
      ...point,
      scale_factor: real('scaleFactor'),
      relative_speed: int('relativeSpeed'),
      ...gestureSource,
    },
  },
  'Input.synthesizeScrollGesture': {
    optional: {
      ...point,
      x_distance: real('xDistance'),
      y_distance: real('yDistance'),
      x_overscroll: real('xOverscroll'),
      y_overscroll: real('yOverscroll'),
      prevent_fling: flag('preventFling'),
      speed: int('speed'),
      repeat_count: int('repeatCount'),
      repeat_delay_ms: int('repeatDelayMs'),
      ...gestureSource,
    },
  },
  'Input.synthesizeTapGesture': {
    optional: { ...point, duration: int('duration'), tap_count: int('tapCount'), ...gestureSource },
  },
  'Page.bringToFront': {},
  'Page.captureScreenshot': {
    optional: {
      format: word('format', SCREENSHOT_FORMATS),
      quality: int('quality'),
      clip_x: within('clip', real('x')),
      clip_y: within('clip', real('y')),
      clip_width: within('clip', real('width')),
      clip_height: within('clip', real('height')),
      clip_scale: within('clip', real('scale')),
      from_surface: flag('fromSurface'),
      capture_beyond_viewport: flag('captureBeyondViewport'),
      optimize_for_speed: flag('optimizeForSpeed'),
    },
  },
  'Page.captureSnapshot': { optional: { format: word('format', SNAPSHOT_FORMATS) } },
  'Page.close': {},
  'Page.handleJavaScriptDialog': {
    required: { accept: flag('accept') },
    optional: { prompt_text_length: lengthOf('promptText') },
  },
  'Page.navigate': {
    optional: {
      frame_id: id('frameId'),
      url_scheme: (params) => schemeOf(at(params, 'url')),
      referrer_present: present('referrer'),
      referrer_policy: word('referrerPolicy', REFERRER_POLICIES),
      transition_type: word('transitionType', TRANSITION_TYPES),
    },
  },
  'Page.navigateToHistoryEntry': { required: { entry_id: int('entryId') } },
  'Page.printToPDF': {
    optional: {
      landscape: flag('landscape'),
      display_header_footer: flag('displayHeaderFooter'),
      print_background: flag('printBackground'),
      prefer_css_page_size: flag('preferCSSPageSize'),
      generate_tagged_pdf: flag('generateTaggedPDF'),
      generate_document_outline: flag('generateDocumentOutline'),
      header_template_present: present('headerTemplate'),
      footer_template_present: present('footerTemplate'),
      page_ranges_present: present('pageRanges'),
      scale: real('scale'),
      paper_width: real('paperWidth'),
      paper_height: real('paperHeight'),
      margin_top: real('marginTop'),
      margin_bottom: real('marginBottom'),
      margin_left: real('marginLeft'),
      margin_right: real('marginRight'),
    },
  },
};
const BY_METHOD = new Map<string, Partial<Summary>>(Object.entries(SUMMARIES));

/**
 * The data of a command's event; null for a command that has none, and for one that lacks what it cannot do without (the
 * browser will refuse it). Pure.
 */
export function summarizeCommand(command: ClientCommand, connectionId: string): CdpCommandData | null {
  const summary = BY_METHOD.get(command.method);
  if (summary === undefined) return null;
  const params = command.params ?? {};
  const data: Record<string, unknown> = { method: command.method };
  for (const [name, read] of Object.entries(summary.required ?? {})) {
    const value = read(params);
    if (value === undefined) return null;
    data[name] = value;
  }
  for (const [name, read] of Object.entries(summary.optional ?? {})) {
    const value = read(params);
    if (value !== undefined) data[name] = value;
  }
  if (Number.isSafeInteger(command.id)) data['command_id'] = command.id;
  data['connection_id'] = connectionId;
  const session = identifier(command.sessionId);
  if (session !== undefined) data['session_id'] = session;
  // The table above has a reader of the right kind for every field of the method; a test holds it to the schema.
  return data as CdpCommandData;
}

/** An identifier, cut to its length. What cannot be one (it would hold a value of some kind) is left out. */
function identifier(value: unknown): string | undefined {
  if (typeof value !== 'string' || !/^[\w.:{}-]+$/.test(value)) return undefined;
  return value.slice(0, TELEMETRY_ID_LENGTH);
}

function schemeOf(url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
  return new URL(url).protocol.slice(0, -1).slice(0, URL_SCHEME_LENGTH);
}

/** The kinds of what is dragged, each once: `text` of `text/plain`. */
function mimeCategories(params: Params): string[] | undefined {
  const items = at(params, 'items');
  if (!Array.isArray(items)) return undefined;
  const kinds = items.map((item) => {
    const kind = String(record(item)['mimeType']).split('/', 1)[0]?.toLowerCase();
    return MIME_CATEGORIES.find((known) => known === kind) ?? 'other';
  });
  return [...new Set(kinds)];
}

/** Characters as a reader counts them: a pair of surrogates is one. */
function countCharacters(text: string): number {
  let pairs = 0;
  for (let index = 0; index < text.length - 1; index += 1) {
    if ((text.charCodeAt(index) & 0xfc00) === 0xd800 && (text.charCodeAt(index + 1) & 0xfc00) === 0xdc00) pairs += 1;
  }
  return text.length - pairs;
}

function record(value: unknown): Params {
  return typeof value === 'object' && value !== null ? (value as Params) : {};
}
