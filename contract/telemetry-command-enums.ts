/** Enumerations of the browser's protocol in command events; any other value is reported as `other`. */
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
export const SCREENCAST_FORMATS = ['jpeg', 'png', 'other'] as const;
export const LIFECYCLE_STATES = ['frozen', 'active', 'other'] as const;
export const TRANSFER_MODES = ['ReturnAsBase64', 'ReturnAsStream', 'other'] as const;
