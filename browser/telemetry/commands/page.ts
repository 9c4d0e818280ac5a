import {
  LIFECYCLE_STATES,
  REFERRER_POLICIES,
  SCREENCAST_FORMATS,
  SCREENSHOT_FORMATS,
  SNAPSHOT_FORMATS,
  TRANSFER_MODES,
  TRANSITION_TYPES,
} from '../../../contract/telemetry-command-enums.ts';
import { flag, id, int, lengthOf, oneOf, present, real, scheme, within, word, type CommandTable } from './readers.ts';

/** Fields recorded of page commands. */
export const PAGE_COMMANDS = {
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
      url_scheme: scheme('url'),
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
      transfer_mode: word('transferMode', TRANSFER_MODES),
      scale: real('scale'),
      paper_width: real('paperWidth'),
      paper_height: real('paperHeight'),
      margin_top: real('marginTop'),
      margin_bottom: real('marginBottom'),
      margin_left: real('marginLeft'),
      margin_right: real('marginRight'),
    },
  },
  'Page.reload': {
    optional: {
      ignore_cache: flag('ignoreCache'),
      loader_id: id('loaderId'),
      script_length: lengthOf('scriptToEvaluateOnLoad'),
    },
  },
  'Page.setWebLifecycleState': { required: { state: oneOf('state', LIFECYCLE_STATES) } },
  'Page.startScreencast': {
    optional: {
      format: word('format', SCREENCAST_FORMATS),
      quality: int('quality'),
      max_width: int('maxWidth'),
      max_height: int('maxHeight'),
      every_nth_frame: int('everyNthFrame'),
    },
  },
  'Page.stopLoading': {},
  'Page.stopScreencast': {},
} satisfies CommandTable;
