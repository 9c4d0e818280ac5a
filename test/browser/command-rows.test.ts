import { describe, expect, it } from 'vitest';
import { summarizeCommand } from '../../browser/telemetry/commands/summarize.ts';
import { CdpCommandData, COMMAND_METHODS } from '../../contract/telemetry-commands.ts';

const mouse = { x: 1.5, y: 2.5, deltaX: 1, deltaY: 2, button: 'left', clickCount: 1, modifiers: 2 };
const pen = { force: 0.5, tangentialPressure: 0.1, tiltX: 1, tiltY: 2, twist: 3 };
const node = { nodeId: 1, backendNodeId: 2, objectId: '1.2.3' };

/** Each recorded command: parameters that yield every field, the required fields, and the optional ones. */
const ROWS: Record<string, [params: object, required: string, optional: string]> = {
  'Autofill.trigger': [
    { fieldId: 1, frameId: 'F', address: { fields: [] } },
    'field_id',
    'frame_id mode address_field_count',
  ],
  'Browser.cancelDownload': [{ guid: 'g', browserContextId: 'C' }, 'download_guid', 'browser_context_id'],
  'Browser.close': [{}, '', ''],
  'Browser.setContentsSize': [{ windowId: 1, width: 2, height: 3 }, 'window_id', 'width height'],
  'Browser.setWindowBounds': [
    { windowId: 1, bounds: { left: 1, top: 2, width: 3, height: 4, windowState: 'normal' } },
    'window_id',
    'left top width height window_state',
  ],
  'DOM.focus': [node, '', 'node_id backend_node_id object_id'],
  'DOM.scrollIntoViewIfNeeded': [
    { ...node, rect: { x: 1, y: 2, width: 3, height: 4 } },
    '',
    'node_id backend_node_id object_id rect_x rect_y rect_width rect_height',
  ],
  'DOM.setFileInputFiles': [{ ...node, files: [] }, 'file_count', 'node_id backend_node_id object_id'],
  'Input.cancelDragging': [{}, '', ''],
  'Input.dispatchDragEvent': [
    { type: 'drop', ...mouse, data: { items: [], files: [], dragOperationsMask: 1 } },
    'event_type',
    'x y modifiers drag_operations_mask drag_mime_categories drag_item_count drag_file_count',
  ],
  'Input.dispatchKeyEvent': [
    {
      ...{ type: 'keyDown', key: 'Enter', text: 'x', location: 1, modifiers: 1, commands: [] },
      ...{ autoRepeat: true, isKeypad: true, isSystemKey: true },
    },
    'event_type',
    'auto_repeat is_keypad is_system_key command_count location modifiers named_key text_length',
  ],
  'Input.dispatchMouseEvent': [
    { type: 'mouseMoved', ...mouse, ...pen, buttons: 1, pointerType: 'pen' },
    'event_type',
    'button buttons click_count x y delta_x delta_y force tangential_pressure tilt_x tilt_y twist modifiers pointer_type',
  ],
  'Input.dispatchTouchEvent': [
    {
      type: 'touchMove',
      modifiers: 1,
      touchPoints: [{ x: 1, y: 2, radiusX: 3, radiusY: 4, rotationAngle: 5, ...pen }],
    },
    'event_type touch_point_count',
    'x y force radius_x radius_y rotation_angle tangential_pressure tilt_x tilt_y twist modifiers',
  ],
  'Input.emulateTouchFromMouseEvent': [
    { type: 'mousePressed', ...mouse },
    'event_type',
    'button click_count x y delta_x delta_y modifiers',
  ],
  'Input.imeSetComposition': [
    { text: 'x', replacementStart: 0, replacementEnd: 1, selectionStart: 0, selectionEnd: 1 },
    'text_length',
    'replacement_start replacement_end selection_start selection_end',
  ],
  'Input.insertText': [{ text: 'x' }, 'text_length', ''],
  'Input.synthesizePinchGesture': [
    { x: 1, y: 2, scaleFactor: 1.5, relativeSpeed: 1, gestureSourceType: 'touch' },
    '',
    'x y scale_factor relative_speed gesture_source_type',
  ],
  'Input.synthesizeScrollGesture': [
    {
      ...{ x: 1, y: 2, xDistance: 1, yDistance: 2, xOverscroll: 1, yOverscroll: 2, preventFling: true },
      ...{ speed: 1, repeatCount: 2, repeatDelayMs: 3, gestureSourceType: 'mouse' },
    },
    '',
    'x y x_distance y_distance x_overscroll y_overscroll prevent_fling speed repeat_count repeat_delay_ms gesture_source_type',
  ],
  'Input.synthesizeTapGesture': [
    { x: 1, y: 2, duration: 3, tapCount: 1, gestureSourceType: 'default' },
    '',
    'x y duration tap_count gesture_source_type',
  ],
  'Page.bringToFront': [{}, '', ''],
  'Page.captureScreenshot': [
    {
      ...{ format: 'webp', quality: 80, clip: { x: 1, y: 2, width: 3, height: 4, scale: 1 } },
      ...{ fromSurface: true, captureBeyondViewport: true, optimizeForSpeed: true },
    },
    '',
    'format quality clip_x clip_y clip_width clip_height clip_scale from_surface capture_beyond_viewport optimize_for_speed',
  ],
  'Page.captureSnapshot': [{ format: 'mhtml' }, '', 'format'],
  'Page.close': [{}, '', ''],
  'Page.handleJavaScriptDialog': [{ accept: false, promptText: '' }, 'accept', 'prompt_text_length'],
  'Page.navigate': [
    {
      ...{ url: 'https://example.com/', frameId: 'F', referrer: '' },
      ...{ referrerPolicy: 'origin', transitionType: 'link' },
    },
    '',
    'frame_id url_scheme referrer_present referrer_policy transition_type',
  ],
  'Page.navigateToHistoryEntry': [{ entryId: 1 }, 'entry_id', ''],
  'Page.printToPDF': [
    {
      ...{ landscape: true, displayHeaderFooter: true, printBackground: true, preferCSSPageSize: true },
      ...{ generateTaggedPDF: true, generateDocumentOutline: true, headerTemplate: 'x', footerTemplate: '' },
      ...{ pageRanges: '1', scale: 1, paperWidth: 1, paperHeight: 1, transferMode: 'ReturnAsStream' },
      ...{ marginTop: 1, marginBottom: 1, marginLeft: 1, marginRight: 1 },
    },
    '',
    `landscape display_header_footer print_background prefer_css_page_size generate_tagged_pdf generate_document_outline
     header_template_present footer_template_present page_ranges_present scale paper_width paper_height
     margin_top margin_bottom margin_left margin_right transfer_mode`,
  ],
  'Page.reload': [
    { ignoreCache: true, loaderId: 'L', scriptToEvaluateOnLoad: 'x' },
    '',
    'ignore_cache loader_id script_length',
  ],
  'Page.setWebLifecycleState': [{ state: 'frozen' }, 'state', ''],
  'Page.startScreencast': [
    { format: 'png', quality: 1, maxWidth: 2, maxHeight: 3, everyNthFrame: 4 },
    '',
    'format quality max_width max_height every_nth_frame',
  ],
  'Page.stopLoading': [{}, '', ''],
  'Page.stopScreencast': [{}, '', ''],
  'Target.activateTarget': [{ targetId: 'T' }, 'target_id', ''],
  'Target.closeTarget': [{ targetId: 'T' }, 'target_id', ''],
  'Target.createBrowserContext': [
    {
      ...{ disposeOnDetach: true, proxyServer: '', proxyBypassList: '' },
      ...{ originsWithUniversalNetworkAccess: [] },
    },
    '',
    'dispose_on_detach proxy_server_present proxy_bypass_list_present universal_network_access_origin_count',
  ],
  'Target.createTarget': [
    {
      ...{ url: 'about:blank', browserContextId: 'C', left: 1, top: 2, width: 3, height: 4, windowState: 'maximized' },
      ...{ background: true, enableBeginFrameControl: false, focus: true, forTab: false, hidden: false },
      newWindow: true,
    },
    '',
    `url_scheme browser_context_id left top width height window_state background enable_begin_frame_control focus
     for_tab hidden new_window`,
  ],
  'Target.disposeBrowserContext': [{ browserContextId: 'C' }, 'browser_context_id', ''],
  'Target.openDevTools': [{ targetId: 'T', panelId: 'console' }, 'target_id', 'panel_id'],
};
const COMMON = ['method', 'command_id', 'connection_id', 'session_id'];
const namesOf = (fields: string): string[] => fields.split(/\s+/).filter((name) => name !== '');

describe('the table of command events', () => {
  it('has a row for each recorded command, and no other', () => {
    const methods = CdpCommandData.options.map((option) => option.shape.method.value);
    expect(methods.toSorted()).toEqual(Object.keys(ROWS).toSorted());
    expect([...COMMAND_METHODS].toSorted()).toEqual(methods.toSorted());
  });

  it.each(Object.entries(ROWS))('%s: has each of its fields, and no other', (method, [params, must, may]) => {
    const sent = { id: 1, method, params: params as Record<string, unknown>, sessionId: 'S' };
    const fields = [...COMMON, ...namesOf(must), ...namesOf(may)].toSorted();
    const data = summarizeCommand(sent, 'connection');
    expect(Object.keys(data ?? {}).toSorted()).toEqual(fields);
    expect(CdpCommandData.parse(data)).toEqual(data);
    const shape = CdpCommandData.options.find((option) => option.shape.method.value === method)?.shape ?? {};
    expect(Object.keys(shape).toSorted()).toEqual(fields);
    const required = fields.filter((name) => !CdpCommandData.safeParse({ ...data, [name]: undefined }).success);
    expect(required).toEqual(['method', ...namesOf(must)].toSorted());
    expect(CdpCommandData.safeParse({ ...data, url: 'https://example.com/?q=1' }).success).toBe(false);
  });
});
