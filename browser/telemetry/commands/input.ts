import {
  DRAG_PHASES,
  GESTURE_SOURCES,
  KEY_PHASES,
  MIME_CATEGORIES,
  MOUSE_BUTTONS,
  MOUSE_PHASES,
  POINTER_TYPES,
  TOUCH_PHASES,
} from '../../../contract/telemetry-command-enums.ts';
import type { CommandTable, Params, Reader } from './readers.ts';
import { at, countOf, flag, id, int, lengthOf, oneOf, real, record, within, word } from './readers.ts';

/**
 * Control keys. Keys that produce or modify characters are not among them, so the names do not reveal what is typed.
 */
const NAMED_KEYS: ReadonlySet<string> = new Set([
  ...'Enter Tab Escape Backspace Delete Insert Clear Home End PageUp PageDown ContextMenu Control Alt Meta'.split(' '),
  ...'ArrowUp ArrowDown ArrowLeft ArrowRight Cancel Copy Cut Paste Undo Redo Find Help Pause PrintScreen'.split(' '),
  ...'BrowserBack BrowserForward BrowserHome BrowserRefresh BrowserSearch BrowserStop'.split(' '),
  ...Array.from({ length: 24 }, (_, index) => `F${String(index + 1)}`),
]);

const phase = (words: readonly string[]): Reader => oneOf('type', words);
/** Reads a field of the first touch point. */
const firstTouch =
  (reader: Reader): Reader =>
  (params) => {
    const points = at(params, 'touchPoints');
    return reader(record(Array.isArray(points) ? points[0] : undefined));
  };
const point = { x: real('x'), y: real('y') };
const delta = { delta_x: real('deltaX'), delta_y: real('deltaY') };
const tilt = { tilt_x: real('tiltX'), tilt_y: real('tiltY'), twist: int('twist') };
const modifiers = { modifiers: int('modifiers') };
const gestureSource = { gesture_source_type: word('gestureSourceType', GESTURE_SOURCES) };

const node = { node_id: int('nodeId'), backend_node_id: int('backendNodeId'), object_id: id('objectId') };

/** Fields recorded of input commands and their targets. */
export const INPUT_COMMANDS = {
  'DOM.focus': { optional: node },
  'DOM.scrollIntoViewIfNeeded': {
    optional: {
      ...node,
      rect_x: within('rect', real('x')),
      rect_y: within('rect', real('y')),
      rect_width: within('rect', real('width')),
      rect_height: within('rect', real('height')),
    },
  },
  'DOM.setFileInputFiles': { required: { file_count: countOf('files') }, optional: node },
  'Input.cancelDragging': {},
  'Input.dispatchDragEvent': {
    required: { event_type: phase(DRAG_PHASES) },
    optional: {
      ...point,
      ...modifiers,
      drag_operations_mask: within('data', int('dragOperationsMask')),
      drag_item_count: within('data', countOf('items')),
      drag_file_count: within('data', countOf('files')),
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
      twist: firstTouch(int('twist')),
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
} satisfies CommandTable;

/** The distinct MIME categories of dragged items, such as `text` for `text/plain`. */
function mimeCategories(params: Params): string[] | undefined {
  const items = at(params, 'items');
  if (!Array.isArray(items)) return undefined;
  const kinds = items.map((item) => {
    const kind = String(record(item)['mimeType']).split('/', 1)[0]?.toLowerCase();
    return MIME_CATEGORIES.find((known) => known === kind) ?? 'other';
  });
  return [...new Set(kinds)];
}
