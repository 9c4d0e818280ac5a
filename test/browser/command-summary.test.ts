import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { summarizeCommand } from '../../browser/telemetry/commands/summarize.ts';
import { CdpCommandData } from '../../contract/telemetry-commands.ts';

const CONNECTION = 'connection-1';
const METHODS = CdpCommandData.options.map((option) => option.shape.method.value);
const SECRET = 'correct horse battery staple';

const summarize = (method: string, params?: Record<string, unknown>, sessionId?: string): unknown =>
  summarizeCommand(
    {
      id: 7,
      method,
      ...(params === undefined ? {} : { params }),
      ...(sessionId === undefined ? {} : { sessionId }),
    },
    CONNECTION,
  );
const common = { command_id: 7, connection_id: CONNECTION };

describe('the summary of a command', () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    [
      'Input.dispatchMouseEvent',
      { type: 'mousePressed', x: 10.5, y: 20, button: 'left', buttons: 1, clickCount: 2, pointerType: 'touch' },
      { event_type: 'mousePressed', x: 10.5, y: 20, button: 'left', buttons: 1, click_count: 2, pointer_type: 'other' },
    ],
    [
      'Input.dispatchMouseEvent',
      {
        type: 'mouseWheel',
        x: 1,
        y: 2,
        deltaX: 0,
        deltaY: -120,
        force: 0.5,
        tangentialPressure: -1,
        tiltX: 3,
        twist: 9,
      },
      {
        event_type: 'mouseWheel',
        x: 1,
        y: 2,
        delta_x: 0,
        delta_y: -120,
        force: 0.5,
        tangential_pressure: -1,
        tilt_x: 3,
        twist: 9,
      },
    ],
    ['Input.dispatchMouseEvent', { type: 'mouseJumped', button: 'nose' }, { event_type: 'other', button: 'other' }],
    [
      'Input.dispatchKeyEvent',
      { type: 'keyDown', key: 'Enter', text: '\r', modifiers: 8, location: 3, isKeypad: true, autoRepeat: false },
      {
        event_type: 'keyDown',
        named_key: 'Enter',
        text_length: 1,
        modifiers: 8,
        location: 3,
        is_keypad: true,
        auto_repeat: false,
      },
    ],
    [
      'Input.dispatchKeyEvent',
      { type: 'char', key: 'a', code: 'KeyA', text: 'a', unmodifiedText: 'a', windowsVirtualKeyCode: 65 },
      { event_type: 'char', text_length: 1 },
    ],
    [
      'Input.dispatchKeyEvent',
      { type: 'rawKeyDown', commands: ['selectAll', 'copy'] },
      { event_type: 'rawKeyDown', command_count: 2 },
    ],
    ['Input.insertText', { text: `${SECRET}😀` }, { text_length: SECRET.length + 1 }],
    [
      'Input.imeSetComposition',
      { text: 'ü', selectionStart: 0, selectionEnd: 1, replacementStart: 2, replacementEnd: 3 },
      { text_length: 1, selection_start: 0, selection_end: 1, replacement_start: 2, replacement_end: 3 },
    ],
    [
      'Input.dispatchTouchEvent',
      {
        type: 'touchStart',
        touchPoints: [{ x: 1, y: 2, radiusX: 3, rotationAngle: 4, force: 1 }, { x: 9 }],
        modifiers: 1,
      },
      {
        event_type: 'touchStart',
        touch_point_count: 2,
        x: 1,
        y: 2,
        radius_x: 3,
        rotation_angle: 4,
        force: 1,
        modifiers: 1,
      },
    ],
    [
      'Input.dispatchTouchEvent',
      { type: 'touchEnd', touchPoints: [] },
      { event_type: 'touchEnd', touch_point_count: 0 },
    ],
    [
      'Input.dispatchDragEvent',
      {
        type: 'drop',
        x: 1,
        y: 2,
        data: {
          items: [
            { mimeType: 'text/plain', data: SECRET },
            { mimeType: 'text/html', data: SECRET },
            { mimeType: SECRET, data: '' },
          ],
          dragOperationsMask: 16,
        },
      },
      {
        event_type: 'drop',
        x: 1,
        y: 2,
        drag_operations_mask: 16,
        drag_item_count: 3,
        drag_mime_categories: ['text', 'other'],
      },
    ],
    [
      'Input.emulateTouchFromMouseEvent',
      { type: 'mouseReleased', x: 1, y: 2, button: 'left', clickCount: 1, timestamp: 5 },
      { event_type: 'mouseReleased', x: 1, y: 2, button: 'left', click_count: 1 },
    ],
    [
      'Input.synthesizePinchGesture',
      { x: 1, y: 2, scaleFactor: 1.5, relativeSpeed: 800, gestureSourceType: 'stylus' },
      { x: 1, y: 2, scale_factor: 1.5, relative_speed: 800, gesture_source_type: 'other' },
    ],
    [
      'Input.synthesizeScrollGesture',
      {
        x: 1,
        y: 2,
        yDistance: -300,
        xOverscroll: 1,
        preventFling: false,
        speed: 800,
        repeatCount: 2,
        repeatDelayMs: 250,
        interactionMarkerName: SECRET,
      },
      {
        x: 1,
        y: 2,
        y_distance: -300,
        x_overscroll: 1,
        prevent_fling: false,
        speed: 800,
        repeat_count: 2,
        repeat_delay_ms: 250,
      },
    ],
    [
      'Input.synthesizeTapGesture',
      { x: 1, y: 2, duration: 50, tapCount: 2 },
      { x: 1, y: 2, duration: 50, tap_count: 2 },
    ],
    [
      'Page.navigate',
      {
        url: `https://example.com/?q=${SECRET}`,
        referrer: SECRET,
        transitionType: 'typed',
        referrerPolicy: 'odd',
        frameId: 'F'.repeat(200),
      },
      {
        url_scheme: 'https',
        referrer_present: true,
        transition_type: 'typed',
        referrer_policy: 'other',
        frame_id: 'F'.repeat(128),
      },
    ],
    ['Page.navigate', { url: SECRET, frameId: SECRET }, {}],
    [
      'Page.handleJavaScriptDialog',
      { accept: true, promptText: SECRET },
      { accept: true, prompt_text_length: SECRET.length },
    ],
    [
      'Page.captureScreenshot',
      {
        format: 'gif',
        quality: 80,
        clip: { x: 1, y: 2, width: 3, height: 4, scale: 1 },
        fromSurface: true,
        captureBeyondViewport: false,
      },
      {
        format: 'other',
        quality: 80,
        clip_x: 1,
        clip_y: 2,
        clip_width: 3,
        clip_height: 4,
        clip_scale: 1,
        from_surface: true,
        capture_beyond_viewport: false,
      },
    ],
    ['Page.captureSnapshot', { format: 'mhtml' }, { format: 'mhtml' }],
    [
      'Page.printToPDF',
      {
        landscape: true,
        headerTemplate: SECRET,
        footerTemplate: '',
        pageRanges: '1-2',
        paperWidth: 8.5,
        marginTop: 0.4,
        preferCSSPageSize: true,
        generateTaggedPDF: false,
      },
      {
        landscape: true,
        header_template_present: true,
        footer_template_present: false,
        page_ranges_present: true,
        paper_width: 8.5,
        margin_top: 0.4,
        prefer_css_page_size: true,
        generate_tagged_pdf: false,
      },
    ],
    ['Page.navigateToHistoryEntry', { entryId: 4 }, { entry_id: 4 }],
    [
      'Browser.setWindowBounds',
      { windowId: 1, bounds: { left: -5, windowState: 'hidden' } },
      { window_id: 1, left: -5, window_state: 'other' },
    ],
    ['Browser.setContentsSize', { windowId: 1, width: 800, height: 600 }, { window_id: 1, width: 800, height: 600 }],
    [
      'Browser.cancelDownload',
      { guid: 'a-b-c', browserContextId: 'C1' },
      { download_guid: 'a-b-c', browser_context_id: 'C1' },
    ],
    [
      'Autofill.trigger',
      { fieldId: 3, frameId: 'F1', card: { number: SECRET, name: SECRET } },
      { field_id: 3, frame_id: 'F1', mode: 'card' },
    ],
    [
      'Autofill.trigger',
      { fieldId: 3, address: { fields: [{ name: 'NAME_FULL', value: SECRET }] } },
      { field_id: 3, mode: 'address', address_field_count: 1 },
    ],
    ['Page.close', {}, {}],
    ['Page.bringToFront', {}, {}],
    ['Browser.close', {}, {}],
  ])('%s %j', (method, params, data) => {
    const summary = summarize(method, params, 'S1');
    expect(summary).toEqual({ method, ...common, session_id: 'S1', ...data });
    expect(CdpCommandData.parse(summary)).toEqual(summary);
    expect(JSON.stringify(summary)).not.toContain(SECRET);
  });

  it('is null for a command without its required parameters, and for other commands', () => {
    for (const method of [
      'Input.insertText',
      'Page.navigateToHistoryEntry',
      'Autofill.trigger',
      'Runtime.evaluate',
      'constructor',
    ]) {
      expect(summarize(method, { expression: SECRET })).toBeNull();
    }
  });

  it('matches its schema and reveals no parameter values, whatever was sent', () => {
    const names = [
      ...[
        'type',
        'text',
        'unmodifiedText',
        'key',
        'code',
        'url',
        'referrer',
        'frameId',
        'guid',
        'button',
        'data',
        'card',
      ],
      ...[
        'promptText',
        'headerTemplate',
        'fieldId',
        'windowId',
        'entryId',
        'accept',
        'touchPoints',
        'bounds',
        'format',
      ],
      ...['transitionType', 'address', 'clip', 'commands', 'modifiers', 'x', 'y', 'windowState', 'gestureSourceType'],
    ];
    const secret = fc.constantFrom(SECRET, `https://${SECRET}/`, `javascript:${SECRET}`, SECRET.repeat(50));
    const value = fc.letrec((tie) => ({
      any: fc.oneof({ maxDepth: 3 }, secret, fc.double(), fc.boolean(), fc.constant(null), tie('list'), tie('map')),
      list: fc.array(tie('any'), { maxLength: 3 }),
      map: fc.dictionary(fc.constantFrom(...names, '__proto__'), tie('any'), { maxKeys: 5 }),
    })).any;
    const params = fc.dictionary(fc.constantFrom(...names, '__proto__'), value);
    fc.assert(
      fc.property(
        fc.constantFrom(...METHODS),
        params,
        fc.option(secret, { nil: undefined }),
        (method, sent, session) => {
          const summary = summarize(method, sent, session);
          if (summary === null) return;
          expect(CdpCommandData.parse(summary)).toEqual(summary);
          expect(JSON.stringify(summary)).not.toContain('correct');
        },
      ),
      { numRuns: 3000 },
    );
  });
});
